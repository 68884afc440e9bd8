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

from azul_fast import checking, records, trace
from azul_fast.batch import describe
from azul_fast.checking import Checked, check
from azul_fast.engine.layout import PLIES, ROUND_PLIES
from azul_fast.errors import AzulError, InvalidRecordError, NoRecordError
from azul_fast.game import Game
from azul_fast.notation import ACTION_COUNT, format_move
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
    text = json.dumps(spelled, indent=None, separators=(",", ":"))
    assert checking.quick_check(spelled) == check(text) == facts(GRAY)
    game = replay(text)
    assert game.result() == record["result"]
    assert game.record()["site"] == {"name": "elsewhere", "id": 12}
    assert game.record()["rounds"] == record["rounds"]


def test_defaults_of_the_rules():
    record = copy.deepcopy(playouts.record(2, "fixed", "lid", seed=next(
        seed for seed in range(99) if playouts.record(2, "fixed", "lid", seed)["first_player"] == 0
    )))  # fmt: skip
    del record["rules"]["overflow"], record["rules"]["max_rounds"], record["first_player"]
    assert replay(record).rules == Rules()


# ------------------------------------------------------------------------------------------------------ the quick check
def facts(record):
    """What `check` says about a good record."""
    game = replay(record)
    state = game.state
    return Checked(int(state[PLIES] + state[ROUND_PLIES]), game.result()["end"])


def verdict(judge, record):
    """What is wrong with a record; empty when it is good."""
    try:
        judge(record)
    except InvalidRecordError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def assert_judged_alike(record):
    """`check` and `replay` say the same, and the quick check does not accept what `replay` refuses."""
    refused = verdict(replay, record)
    assert verdict(check, record) == refused
    parsed = checking.quick_loads(record) if isinstance(record, (str, bytes)) else record
    assert not refused or checking.quick_check(parsed) is None


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_good_records_are_checked_by_the_kernel_alone(players, wall, overflow, monkeypatch):
    """Those of the referee and of batches, with every end."""
    rules = Rules(players=players, wall=wall, overflow=overflow)
    found = [playouts.record(players, wall, overflow, seed, max_rounds=100 if seed else 4) for seed in range(3)]
    for policies in ("random", "greedy"):
        run = describe(12, rules, policies, seed=3, first_player="rotate")
        found += trace.records(run, 0, 4)
    expected = [facts(record) for record in found]
    monkeypatch.setattr(checking, "replay", None)
    for record, fact in zip(found, expected, strict=True):
        assert check(record) == check(dumps(record)) == check(dumps(record).encode()) == fact
        assert fact.plies == sum(len(played["moves"].split()) for played in record["rounds"])
        assert fact.end == record["result"]["end"]


def test_records_from_positions_are_checked_by_the_kernel_alone(monkeypatch):
    """In the middle of a round, of tiling, and at the very end."""
    whole = played(2, "free", "lid", 11)
    found = []
    for _ in range(len(whole.history) - whole.round):
        game = Game.from_text(whole.to_text(), seed=11, game=3)
        rng = random.Random(5)
        while not game.is_over:
            game.play(rng.choice(game.legal_moves()))
        found.append(game.record())
        whole.undo()
    waits = f"azul1 c4 {','.join('-' * 9)} * {playouts.exhausted_boards()} b? l0.0.0.0.0 t0 s0 r5 over-exhausted"
    found.append(Game.from_text(waits, seed=1).record())
    phases = {record["position"].split()[-1] for record in found if "position" in record}
    assert phases == {"offer", "tile", "over-row", "over-exhausted"}
    expected = [facts(record) for record in found]
    monkeypatch.setattr(checking, "replay", None)
    assert [check(record) for record in found] == expected


def _changes(record, rng):
    """Records that differ from a good one in one place, where most break a rule."""

    def changed(change):
        twin = copy.deepcopy(record)
        change(twin)
        return twin

    def in_words(text, change):
        words = text.split()
        change(words)
        return " ".join(words)

    number = rng.randrange(len(record["rounds"]))
    place = rng.randrange(len(record["rounds"][number]["moves"].split()))
    texts = [format_move(action) for action in rng.sample(range(ACTION_COUNT), 3)]
    edits = [
        lambda words: words.insert(place, texts[0]),
        lambda words: words.pop(place),
        lambda words: words.insert(place, words[place]),
        lambda words: words.reverse(),
        lambda words: words.__setitem__(place, texts[1]),
        lambda words: words.__setitem__(place, words[place][:2] + rng.choice("12345F")),
        lambda words: words.__setitem__(place, "C" + words[place][1:]),
        lambda words: words.append(texts[2]),
        lambda words: words.append("1=1"),
        lambda words: words.__setitem__(place, words[place].lower()),
    ]
    for edit in edits:
        yield changed(_with(lambda text, edit=edit: in_words(text, edit), "rounds", number, "moves"))
    deal = record["rounds"][number]["deal"]
    for new in (
        deal[1:] + deal[0],
        deal.replace(rng.choice("BYRKW"), rng.choice("BYRKW"), 1),
        deal.replace(",", "", 1),
        deal + ",",
        deal + ",BBBB",
        deal[:-1],
        deal[:-1] + "-",
        deal.lower(),
        deal.replace(",", " , "),
        deal.replace(",", ", ,"),
        "*" + deal,
        ",".join("-" for _ in deal.split(",")),
        deal.split(","),
        rng.choice(record["rounds"])["deal"],
    ):
        yield changed(_with(new, "rounds", number, "deal"))
    for key in ("deal", "moves", "scores"):
        yield changed(_without("rounds", number, key))
        for value in (None, 7, "", [], {}, True):
            yield changed(_with(value, "rounds", number, key))
    scores = record["rounds"][number]["scores"]
    for value in ([*scores[:-1], scores[-1] + 1], scores[:-1], [*scores, 0], [float(s) for s in scores], tuple(scores)):
        yield changed(_with(value, "rounds", number, "scores"))
    for value in (
        ["1=1"] * len(scores),
        ["1=F"] + [""] * (len(scores) - 1),
        [""] * len(scores),
        [""],
        None,
        "",
        [None],
    ):
        yield changed(_with(value, "rounds", number, "tiles"))
    if "tiles" in record["rounds"][number]:
        tiles = record["rounds"][number]["tiles"]
        yield changed(_with(tiles[1:] + tiles[:1], "rounds", number, "tiles"))
        yield changed(_with([_drop_last(text) for text in tiles], "rounds", number, "tiles"))
        yield changed(_with([" ".join(text.split()[::-1]) for text in tiles], "rounds", number, "tiles"))
        yield changed(_with([text[:-1] + "F" if text else text for text in tiles], "rounds", number, "tiles"))
        other = rng.choice("12345")
        yield changed(_with([text[:-1] + other if text else text for text in tiles], "rounds", number, "tiles"))
        yield changed(_with(record["rounds"][number]["moves"] + " " + " ".join(tiles), "rounds", number, "moves"))
    for rounds in (record["rounds"][:-1], record["rounds"] * 2, record["rounds"][1:], [], None, {}, [None], [[]], [""]):
        yield changed(_with(rounds, "rounds"))
    for key, value in record["result"].items():
        yield changed(_without("result", key))
        for new in (None, "x", [value], -1, True, value[:-1] if isinstance(value, (list, str)) else value + 1):
            yield changed(_with(new, "result", key))
    for value in (None, [], "", {}):
        yield changed(_with(value, "result"))
        yield changed(_with(value, "rules"))
    for key, values in {
        "players": (1, 5, 2.0, True, "2", None, [2]),
        "wall": ("gray", None, 0, ["free"], "fixed", "free"),
        "overflow": ("floor", None, "lid", "removed", {}),
        "max_rounds": (0, 1, True, 1.0, 10**7, 10**30, None, "9", len(record["rounds"]), len(record["rounds"]) - 1),
    }.items():
        yield changed(_without("rules", key))
        for value in values:
            yield changed(_with(value, "rules", key))
    for key, values in {
        "format": (None, "azul-record/2", 1, []),
        "first_player": (0, 1, 2, 9, -1, True, False, 1.0, None, "0", "rotate", [0]),
        "position": (None, "", "azul1", 7, []),
        "seed": (0, -1, 2**53, 1.0, True, None, "1"),
        "game": (0, -1, 2**53, 1.0, True, None, "1"),
        "note": (None, "Zürich", {"deep": [1, 2]}),
    }.items():
        for value in values:
            yield changed(_with(value, key))


@pytest.mark.parametrize("spelled", [lambda record: record, dumps], ids=["data", "text"])
@pytest.mark.parametrize("kept", [COLORED, GRAY], ids=["coloured", "gray"])
def test_every_change_is_judged_alike(kept, spelled):
    refused = 0
    found = [kept, *_changes(kept, random.Random(1))]
    for record in found:
        assert_judged_alike(spelled(record))
        refused += verdict(check, spelled(record)) != ""
    assert 0.6 * len(found) < refused < len(found) - 10


@pytest.mark.parametrize(("players", "wall", "overflow"), VARIANTS)
def test_another_move_somewhere_is_judged_alike(players, wall, overflow):
    rng = random.Random(players)
    record = playouts.record(players, wall, overflow, seed=7)
    for _ in range(15):
        twin = copy.deepcopy(record)
        played = rng.choice(twin["rounds"])
        words = played["moves"].split()
        words[rng.randrange(len(words))] = format_move(rng.randrange(ACTION_COUNT))
        played["moves"] = " ".join(words)
        assert_judged_alike(twin)


@pytest.mark.parametrize(
    "text",
    [
        dumps(COLORED)[:-1] + ', "note": NaN}',
        dumps(COLORED)[:-1] + ', "note": "\\ud800"}',
        dumps(COLORED)[:-1] + f', "note": {"9" * 30}}}',
        dumps(COLORED)[:-1] + f', "note": {"9" * 5000}}}',
        dumps(COLORED)[:-1] + f', "seed": {2**64}}}',
        dumps(COLORED)[:-1] + ', "note": ' + "[" * 2000 + "]" * 2000 + "}",
        dumps(COLORED)[:-1] + ', "format": "azul-record/2"}',
        dumps(COLORED)[:-1] + ', "result": {"scores": [0, 0]}}',
        "\ufeff" + dumps(COLORED),
        dumps(COLORED).encode("utf-16"),
        "null",
        '"text"',
        dumps(COLORED) + " " * records.MAX_LINE,
    ],
)
@pytest.mark.parametrize("library", ["orjson", "json"])
def test_json_of_every_kind_is_judged_alike(text, library, monkeypatch):
    """The two parsers do not take quite the same."""
    if library == "orjson":
        pytest.importorskip("orjson")
    else:
        monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    checking.fast_json.cache_clear()
    assert_judged_alike(text if isinstance(text, bytes) else text.encode())
    assert check(dumps(COLORED)) == facts(COLORED)
    checking.fast_json.cache_clear()


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
    for judge in (replay, check):
        with pytest.raises(InvalidRecordError, match=f"^record: {message}$"):
            judge(record)


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
    for judge in (replay, check):
        with pytest.raises(InvalidRecordError, match=f"^record: {message}$"):
            judge(record)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_a_damaged_record_raises_our_error_or_replays_at_the_referee_too(data):
    text = data.draw(st.sampled_from([dumps(COLORED), dumps(GRAY)]))
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(st.text(max_size=4)) + text[place + data.draw(st.integers(0, 4)) :]
    assert_judged_alike(text)
    try:
        game = replay(text)
    except InvalidRecordError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 300
    else:
        assert game.is_over
        if loads(text)["result"].keys() >= COLORED["result"].keys():  # the referee wants them all
            assert by_the_referee(loads(text)).to_text() == game.to_text()


@pytest.mark.parametrize("change", [_with("azul-record/2", "format"), _without("format")])
def test_another_format_is_no_record_at_all(change):
    record = copy.deepcopy(COLORED)
    change(record)
    for nothing in (record, dumps(record), [record], "[]", "", b"\x00"):
        with pytest.raises(NoRecordError):
            check(nothing)


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


def test_a_small_file_of_100_megabytes(tmp_path):
    """Compressed so well that a few bytes stand for all of it."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "games.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"x" * 100_000_000 + b"\n" + dumps(GRAY).encode()))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    found = list(lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [number for number, _ in found] == [1, 2] and peak < 80e6


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
