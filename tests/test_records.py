"""Game records: their replay, what is found wrong in them, and their files."""

import copy
import gzip
import io
import json
import random
import tracemalloc

import playouts
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st
from playouts import VARIANTS

from azul_fast import records
from azul_fast.errors import AzulError, InvalidRecordError
from azul_fast.game import Game
from azul_fast.records import dumps, lines, loads, read, replay, write, writer
from azul_fast.rules import Rules

COLORED = playouts.record(2, "fixed", "lid", seed=1)
GRAY = playouts.record(3, "free", "removed", seed=2)


def by_the_referee(record):
    """The referee's replay, to its end."""
    positions = referee.replay(record)
    while True:
        try:
            next(positions)
        except StopIteration as end:
            return end.value


def played(players, wall, overflow, seed, **options):
    """A finished game of ours, played by chance."""
    rng = random.Random(seed)
    game = Game(Rules(players=players, wall=wall, overflow=overflow), seed=seed, game=3, **options)
    while not game.is_over:
        game.play(rng.choice(game.legal_moves()))
    return game


# --------------------------------------------------------------------------------------------------------------- replay
@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_records_of_the_referee_replay(players, wall, overflow):
    for seed in range(3):
        record = playouts.record(players, wall, overflow, seed, max_rounds=100 if seed else 4)
        game = replay(record)
        assert game.result() == record["result"]
        assert game.record() == record
        assert replay(json.dumps(record)) == game == replay(json.dumps(record).encode())


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_our_records_replay_here_and_at_the_referee(players, wall, overflow):
    for seed in range(3):
        game = played(players, wall, overflow, seed, first_player="rotate")
        record = json.loads(dumps(game.record(policies=["random"] * players)))
        assert list(record) == ["format", "rules", "first_player", "seed", "game", "policies", "rounds", "result"]
        again = replay(record)
        assert again == game and again.record() == record
        assert by_the_referee(record).to_text() == game.to_text()
        # without a stream: the same tiles, although nothing but the record is there
        del record["seed"], record["game"]
        assert replay(record).history == game.history


def test_a_replayed_game_can_be_taken_back():
    game = replay(COLORED)
    while game.history:
        game.undo()
    assert game.to_text().endswith("r0 deal")


def test_a_game_from_a_position_has_its_start_in_the_record():
    for number in (3, 20, 35):
        whole = played(3, "free", "lid", 5)
        start = whole.copy()
        for _ in range(number):
            start.undo()
        game = Game.from_text(start.to_text(), seed=5, game=3)
        rng = random.Random(number)
        while not game.is_over:
            game.play(rng.choice(game.legal_moves()))
        record = json.loads(dumps(game.record()))
        assert record["position"] == start.to_text() and "first_player" not in record
        assert replay(record) == game and replay(record).record() == record


def test_only_a_finished_game_is_recorded():
    with pytest.raises(AzulError, match="record: the game is not over"):
        Game(seed=1).record()


def test_another_program_spells_it_otherwise():
    """Any order of keys and letters, other spaces, more keys, no optional ones."""
    record = copy.deepcopy(GRAY)
    spelled = {
        "site": {"name": "elsewhere", "id": 12},
        "result": {**dict(reversed(record["result"].items())), "elo": [1, 2, 3]},
        "rounds": [
            {
                "tiles": ["   ".join(choices.split()) + " " for choices in played["tiles"]],
                "moves": "  " + "\n".join(played["moves"].split()),
                "deal": ", ".join(tiles[::-1] for tiles in played["deal"].split(",")),
                "clock": 17,
            }
            for played in record["rounds"]
        ],
        "first_player": record["first_player"],
        "rules": {"overflow": "removed", "wall": "free", "players": 3, "house": True},
        "format": "azul-record/1",
    }
    game = replay(json.dumps(spelled, indent=None, separators=(",", ":")))
    assert game.result() == record["result"]
    assert game.record()["site"] == {"name": "elsewhere", "id": 12}
    assert game.record()["rounds"] == record["rounds"]


def test_defaults_of_the_rules():
    record = copy.deepcopy(playouts.record(2, "fixed", "lid", seed=next(
        seed for seed in range(99) if playouts.record(2, "fixed", "lid", seed)["first_player"] == 0
    )))  # fmt: skip
    del record["rules"]["overflow"], record["rules"]["max_rounds"], record["first_player"]
    assert replay(record).rules == Rules()


# ------------------------------------------------------------------------------------------------------- first offences
def _without(*path):
    def change(record):
        *outer, key = path
        for step in outer:
            record = record[step]
        del record[key]

    return change


def _with(value, *path):
    def change(record):
        *outer, key = path
        for step in outer:
            record = record[step]
        record[key] = value(record[key]) if callable(value) else value

    return change


def _drop_last(text):
    return " ".join(text.split()[:-1])


def _add_move(text):
    return text + " CBF"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with("azul-record/2", "format"), r"format: 'azul-record/1' expected, not 'azul-record/2'"),
        (_without("format"), r"format: 'azul-record/1' expected, not None"),
        (_without("rules"), r"rules: missing"),
        (_without("rules", "wall"), r"rules: wall: missing"),
        (_with(5, "rules", "players"), r"players must be 2 to 4, not 5"),
        (_with("gray", "rules", "wall"), r"wall must be fixed or free, not 'gray'"),
        (_with("many", "rules", "max_rounds"), r"max_rounds must be a whole number, not 'many'"),
        (_with(9, "first_player"), r"first_player must be 0 to 1, not 9"),
        (_with("x", "seed"), r"seed must be a whole number from 0 to 9007199254740991, not 'x'"),
        (_without("rounds"), r"rounds: missing"),
        (_with({}, "rounds"), r"rounds: a list expected, not \{\}"),
        (_without("result"), r"result: missing"),
        (_with(None, "result"), r"result: an object expected, not None"),
        (_with("x", "rounds", 0), r"round 1: an object expected, not 'x'"),
        (_without("rounds", 1, "deal"), r"round 2: deal: missing"),
        (_with(7, "rounds", 1, "deal"), r"round 2: deal: a text expected, not 7"),
        (_with("BBBB,BBBB", "rounds", 1, "deal"), r"round 2: deal: 2 factories given, but 2 players have 5"),
        (_with("BBBB,BBBB,BBBB,BBBB,BBBG", "rounds", 1, "deal"), r"round 2: deal: factory 5: unknown letter 'G'; .*"),
        (_with("BBBB,BBBB,BBBB,BBBB,BBBB", "rounds", 1, "deal"), r"round 2: deal: factory .: 4 blue tiles, but .*"),
        (_with("BBBB,BBBB,BBBB,BBBB,BBB", "rounds", 0, "deal"), r"round 1: deal: factory 5: 3 tiles, but it is .*"),
        (_without("rounds", 2, "moves"), r"round 3: moves: missing"),
        (_with([], "rounds", 2, "moves"), r"round 3: moves: a text expected, not \[\]"),
        (_with("XX " + COLORED["rounds"][0]["moves"], "rounds", 0, "moves"), r"round 1: move 1: 'XX' is not .*"),
        (_with("C" + COLORED["rounds"][0]["deal"][0] + "F", "rounds", 0, "moves"),
         r"round 1: move 1: C.F: the center has no \w+"),
        (_with(_drop_last, "rounds", 2, "moves"), r"round 3: moves: they stop, but tiles are on offer"),
        (_with(_add_move, "rounds", 2, "moves"), r"round 3: move \d+ \('CBF'\): no tile is left on offer"),
        (_with([99, 0], "rounds", 1, "scores"), r"round 2: scores: \[99, 0\] recorded, but they are \[\d+, \d+\]"),
        (_with(["1=1", ""], "rounds", 1, "tiles"), r"round 2: seat 0, choice 1 \('1=1'\): it has no full line"),
        (_with(lambda rounds: rounds[:-1], "rounds"), r"rounds: they stop after \d+, but the game is not over"),
        (_with(lambda rounds: [*rounds, rounds[0]], "rounds"), r"rounds: \d+ given, but the game was over after .*"),
        (_without("result", "scores"), r"result: scores: missing"),
        (_with([0], "result", "winners"), r"result: winners: \[0\] recorded, but it is \[1\]"),
        (_with([1, 1], "result", "scores"), r"result: scores: \[1, 1\] recorded, but it is \[.*\]"),
        (_with("stalled", "result", "end"), r"result: end: 'stalled' recorded, but it is 'row'"),
    ],
)  # fmt: skip
def test_the_first_offence_is_named(change, message):
    record = copy.deepcopy(COLORED)
    assert record["result"]["winners"] == [1]
    change(record)
    with pytest.raises(InvalidRecordError, match=f"^record: {message}$"):
        replay(record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with("1=1", "rounds", 0, "tiles"), r"round 1: tiles: a list of texts expected, not '1=1'"),
        (_with(["", ""], "rounds", 0, "tiles"), r"round 1: tiles: 2 texts, but there are 3 seats"),
        (_without("rounds", 0, "tiles"), r"round 1: seat \d, tiles: they stop, but it has another full line"),
        (_with(["9=9", "", ""], "rounds", 0, "tiles"), r"round 1: seat 0, choice 1.*"),
    ],
)
def test_the_first_offence_of_a_gray_game(change, message):
    record = copy.deepcopy(GRAY)
    change(record)
    with pytest.raises(InvalidRecordError, match=f"^record: {message}$"):
        replay(record)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_damaged_record_raises_our_error_or_replays_at_the_referee_too(data):
    text = data.draw(st.sampled_from([dumps(COLORED), dumps(GRAY)]))
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(st.text(max_size=4)) + text[place + data.draw(st.integers(0, 4)) :]
    try:
        game = replay(text)
    except InvalidRecordError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 300
    else:
        assert game.is_over
        if loads(text)["result"].keys() >= COLORED["result"].keys():  # the referee wants them all
            assert by_the_referee(loads(text)).to_text() == game.to_text()


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner)
                    | st.dictionaries(st.text() | st.sampled_from(list(COLORED)), inner), max_leaves=9))  # fmt: skip
@settings(deadline=None)
def test_anything_else_is_no_record(value):
    with pytest.raises(InvalidRecordError):
        replay(value if not isinstance(value, dict) else {"format": "azul-record/1", **value})


# ---------------------------------------------------------------------------------------------------------------- files
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_files_by_their_suffix(tmp_path, suffix):
    if suffix.endswith("zst"):
        pytest.importorskip("zstandard")
    path = tmp_path / f"games{suffix}"
    kept = [COLORED, GRAY, {**COLORED, "note": "Zürich"}]
    assert write(path, kept) == 3
    assert list(read(path)) == kept
    assert [number for number, _ in lines(path)] == [1, 2, 3]
    again = tmp_path / f"again{suffix}"
    write(again, read(path))
    assert again.read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([path.name, again.name])


def test_blank_lines_and_line_ends_do_not_matter(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\r\n" + dumps(COLORED).encode() + b"\r\n\n  \n" + dumps(GRAY).encode())
    assert [number for number, _ in lines(path)] == [2, 5]
    assert list(read(path)) == [COLORED, GRAY]


def test_an_open_file_is_read_too():
    assert list(read(io.BytesIO(dumps(COLORED).encode()))) == [COLORED]


def test_a_failed_writer_leaves_nothing(tmp_path):
    path = tmp_path / "games.jsonl"
    with pytest.raises(RuntimeError), writer(path) as put:
        put(COLORED)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_compressed_file_that_is_cut_off(tmp_path, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"games.jsonl{suffix}"
    write(path, [COLORED, GRAY] * 20)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InvalidRecordError, match=r"games\.jsonl\.\w+: line \d+: "):
        list(read(path))


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_is_not_compressed(tmp_path, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"games.jsonl{suffix}"
    path.write_text(dumps(COLORED))
    with pytest.raises(InvalidRecordError, match=r"games\.jsonl\.\w+: line 1: "):
        list(read(path))


def test_frames_one_after_the_other(tmp_path):
    """As `cat one.gz other.gz` makes them."""
    zstandard = pytest.importorskip("zstandard")
    line = dumps(COLORED).encode() + b"\n"
    for name, compress in (("g.gz", gzip.compress), ("g.zst", zstandard.ZstdCompressor().compress)):
        (tmp_path / name).write_bytes(compress(line) + compress(line))
        assert list(read(tmp_path / name)) == [COLORED, COLORED]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\x00\xff\xfe", "not JSON: not a text in UTF-8"),
        (b"\x00", "not JSON: Expecting value at character 1"),
        (b'{"format": "azul-re', "not JSON: Unterminated string starting at at character 12"),
        (b"[" * 100_000, "not JSON that can be a game: nested too deep"),
        (b"[1]", "a JSON object expected, not [1]"),
        (b"9" * 5000, "not JSON that can be a game: "),
    ],
)
def test_a_line_that_is_no_record(tmp_path, line, message):
    path = tmp_path / "games.jsonl"
    path.write_bytes(dumps(COLORED).encode() + b"\n" + line + b"\n")
    with pytest.raises(InvalidRecordError) as error:
        list(read(path))
    assert str(error.value).startswith(f"{path}: line 2: record: {message}")
    assert len(str(error.value).splitlines()) == 1


def test_a_line_of_100_megabytes(tmp_path):
    """It is refused without being held, and the lines after it are read."""
    path = tmp_path / "games.jsonl"
    with open(path, "wb") as file:
        for _ in range(100):
            file.write(b'{"a' + b"x" * 1_000_000)
        file.write(b"\n" + dumps(GRAY).encode())
    tracemalloc.start()
    found = list(lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [number for number, _ in found] == [1, 2] and peak < 60e6
    with pytest.raises(InvalidRecordError, match="more than 16,777,216 bytes, too long for a game"):
        loads(found[0][1])
    assert replay(found[1][1]).record() == GRAY


def test_without_zstandard_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    (tmp_path / "games.zst").write_bytes(b"x")
    for use in (lambda path: list(read(path)), lambda path: write(path, [])):
        with pytest.raises(InvalidRecordError, match="pip install zstandard"):
            use(tmp_path / "games.zst")


def test_there_are_no_random_numbers_in_a_replay(monkeypatch):
    """Not a word of a stream is drawn: the kernel that deals by itself is never called."""
    from azul_fast.engine import step

    monkeypatch.setattr(step, "deal_round", None)
    assert replay(COLORED).result() == COLORED["result"]
    assert records.replay(GRAY).result() == GRAY["result"]
