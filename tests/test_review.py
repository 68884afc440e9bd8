"""``azul-fast review``: exact where a round ends the game, unbiased elsewhere, the same for any number of threads."""

import functools
import itertools
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import playouts
import pytest
from referee import Referee
from test_search import late_positions, minimax

import azul_fast as az
from azul_fast.cli.main import run
from azul_fast.evaluation import FIRST_ROLLOUT
from azul_fast.notation import parse_move, parse_position
from azul_fast.records import dumps
from azul_fast.reviews import BLUNDER, _Judge, _judged, accuracy_of, plan_review
from azul_fast.search.alphabeta import MEMORY
from azul_fast.search.evaluation import POINT_VALUE, WIN_VALUE
from azul_fast.search.judge import move_values
from azul_fast.stats import Estimate

QUICK = {"engine": "search:nodes=300", "budget": 40, "seed": 1}
COLORED = playouts.record(2, "fixed", "lid", seed=1)
GRAY = playouts.record(3, "free", "removed", seed=2)


@functools.cache
def reviewed(players):
    return az.review(dumps({2: COLORED, 3: GRAY}[players]), **QUICK)


def values_of_moves(referee):
    """[move] -> who wins and the margin, for the seat to act, by the rulebook alone."""
    known, values = {}, {}
    for move in referee.legal_moves():
        after = referee.copy()
        after.play(move)
        values[move] = minimax(after, referee.turn, known)
    return values


# ------------------------------------------------------------------------------------------ where the round is the last
def test_every_move_has_the_value_of_plain_minimax():
    for text in late_positions(25):
        referee = Referee.from_text(text)
        values = values_of_moves(referee)
        actions = np.array([parse_move(move) for move in values], np.int64)
        found = np.zeros(len(actions), np.int64)
        state = parse_position(text)
        before = state.copy()
        assert move_values(state, actions, 1_000_000, np.zeros(MEMORY, np.int64), found) < 0  # solved
        np.testing.assert_array_equal(state, before)
        expected = [win * WIN_VALUE + POINT_VALUE * margin if win else 0 for win, margin in values.values()]
        assert found.tolist() == expected, text


def test_losses_in_the_last_round_are_exact():
    """The worst move is played; what it gives away is known, and so is the better one."""
    blunders = 0
    for text in late_positions(25):
        referee = Referee.from_text(text)
        values = values_of_moves(referee)
        worst = min(values, key=values.get)
        game = az.Game.from_text(text, deals="given")
        game.play(worst)
        while not game.is_over:
            game.play(az.choose(game, "search:nodes=1000"))
        move = az.review(game, engine="search:nodes=20000", budget=40, seed=1).moves[0]
        (win, margin), (won, lost) = max(values.values()), values[worst]
        assert move.exact and move.move == worst
        assert values[move.best] == (win, margin)
        assert (move.loss.mean, move.loss.se) == ((win - won) / 2, 0)
        assert (move.points_lost.mean, move.points_lost.se) == (margin - lost, 0)
        blunders += move.mark == "??"
        assert (move.mark == "??") == (move.loss.mean >= BLUNDER)
    assert blunders > 1


# ------------------------------------------------------------------------------------------------------ what is counted
def test_no_loss_is_flattered_by_the_choice_of_the_best(monkeypatch):
    """Moves that are all alike: the best of them by the rollouts that choose loses nothing in the mean."""
    judge = _Judge(plan_review(dumps(COLORED), engine="search:nodes=10", budget=40, seed=1))
    rng = np.random.default_rng(5)

    def alike(state):
        return _judged(rng.integers(0, 60, (2, 40)), np.ones((2, 40), np.int64))

    monkeypatch.setattr(judge, "_carry_on", lambda state: state)
    monkeypatch.setattr(judge, "_outcome", alike)
    first = next(number for number, event in enumerate(judge.history) if event.action >= 0)
    losses = np.array([judge._judged_move(first, judge._look(first), None)[1].loss.mean for _ in range(300)])
    assert abs(losses.mean()) < 4 * losses.std() / 300**0.5
    assert losses.std() > 0


def test_shared_wins_and_margins():
    outcome = _judged(np.array([[30, 30, 10], [30, 30, 40], [5, 30, 40]]), np.array([[1, 1, 1], [1, 1, 2], [1, 1, 1]]))
    np.testing.assert_allclose(outcome.wins, [[1 / 2, 1 / 3, 0], [1 / 2, 1 / 3, 1], [0, 1 / 3, 0]])
    np.testing.assert_array_equal(outcome.margins, [[0, 0, -30], [0, 0, 0], [-25, 0, 0]])


def test_accuracy_is_the_published_curve():
    """https://lichess.org/page/accuracy: 100 where nothing is lost, falling to about 0 where all is."""
    for loss, percent in ((0.0, 100), (0.1, 63.58), (0.2, 40.02)):
        assert accuracy_of(Estimate(loss, 0.0)).mean == pytest.approx(percent, abs=0.01)


def test_noise_does_not_change_the_accuracy():
    """Losses of 10% measured with any error: right in the mean, with the error that is told."""
    rng = np.random.default_rng(3)
    for error in (0.02, 0.2):
        found = [accuracy_of(Estimate(loss, error)) for loss in rng.normal(0.1, error, 20_000)]
        means = np.array([each.mean for each in found])
        assert abs(means.mean() - 63.58) < 4 * means.std() / 20_000**0.5
    assert np.mean([each.se for each in found]) == pytest.approx(means.std(), rel=0.5)


@pytest.mark.parametrize("players", [2, 3])
def test_every_event_is_there_once(players):
    found, record = reviewed(players), {2: COLORED, 3: GRAY}[players]
    moves = []
    for played in record["rounds"]:
        moves += [*played["moves"].split(), *(choice for text in played.get("tiles", []) for choice in text.split())]
    assert [move.move for move in found.moves] == moves
    assert [deal.round for deal in found.deals] == list(range(1, len(record["rounds"]) + 1))
    assert [deal.deal for deal in found.deals] == [played["deal"] for played in record["rounds"]]
    for move in found.moves:
        for shares in (move.before, move.after):
            assert sum(share.mean for share in shares) == pytest.approx(1)
        assert move.move in {candidate.move for candidate in move.candidates}
        if move.move == move.best:
            assert (move.loss.mean, move.loss.se) == (0, 0)
            assert move.before == move.after
    for move, following in itertools.pairwise(found.moves):  # nothing is drawn within a round
        assert move.round != following.round or move.after == following.before
    result = found.plan.game.result()
    for seat, share in enumerate(found.moves[-1].after):
        assert share.mean == (seat in result["winners"]) / len(result["winners"])
    for seat, player in enumerate(found.players):
        own = [move for move in found.moves if move.seat == seat and move.choices > 1]
        assert player.moves == len(own)
        assert player.given_away.mean == pytest.approx(sum(move.loss.mean for move in own))


def test_the_same_for_any_number_of_threads():
    one, two = (az.review(dumps(GRAY), **QUICK, threads=threads).to_dict() for threads in (1, 2))
    one.pop("run"), two.pop("run")
    assert json.dumps(one) == json.dumps(two)
    assert one == {key: value for key, value in reviewed(3).to_dict().items() if key != "run"}


@pytest.mark.parametrize("engine", ["greedy", "mcts:playouts=20", "search:depth=1"])
def test_other_judges(engine):
    position = next(move.position for move in reversed(reviewed(2).moves) if move.round == 2 and move.choices > 8)
    game = az.Game.from_text(position, seed=4)
    while not game.is_over:
        game.play(az.choose(game, "greedy"))
    found = az.review(game, engine=engine, budget=60, seed=2)
    assert [move.move for move in found.moves] == [event for event in game.history if "," not in event]
    assert found.plan.roller == ("greedy" if engine == "greedy" else "plan")


def test_an_interrupt_leaves_whole_moves_at_the_end(monkeypatch):
    """The judge begins at the end of the game; what it had not finished is left out."""
    looked = _Judge.look

    def few(self, number):
        if number < 50:
            self.interrupt()
        return looked(self, number)

    monkeypatch.setattr(_Judge, "look", few)
    found = az.review(dumps(COLORED), **QUICK, threads=1)
    assert found.interrupted
    assert [m.to_dict() for m in found.moves] == [m.to_dict() for m in reviewed(2).moves[-len(found.moves) :]]
    assert "interrupted" in str(found)


def test_a_planted_blunder_is_a_turning_point():
    """In a game of two good players, one of them drops the most tiles there are, in the round before the last."""
    game = az.Game(seed=7)
    while game.round < 4 or len(game.legal_moves()) > 40:
        game.play(az.choose(game, "plan"))
    center = game.position.center
    dropped = max((move for move in game.legal_moves() if move[0] == "C" and move[2] == "F"),
                  key=lambda move: center.count(move[1]))  # fmt: skip
    planted = sum("," not in event for event in game.history) + 1
    game.play(dropped)
    while not game.is_over:
        game.play(az.choose(game, "plan"))
    found = az.review(game, engine="search:nodes=2000", budget=4000, seed=1)
    move = found.moves[planted - 1]
    assert move.move == dropped and move.best != dropped
    assert move in found.turning_points


def test_standard_errors_of_sums_are_the_spread_over_seeds():
    """Rollouts of all positions share their random numbers: errors that are added as independent are not these."""
    found = [az.review(dumps(COLORED), engine="greedy", budget=100, seed=seed).players for seed in range(40)]
    for seat in (0, 1):
        luck = [players[seat].luck for players in found]
        spread = np.std([each.mean for each in luck], ddof=1)
        assert 0.7 < spread / np.mean([each.se for each in luck]) < 1.4


@pytest.mark.parametrize("players", [2, 3])
def test_the_account_of_a_game_is_whole(players):
    """Start, deals, own losses and those of the others make the result, for every seat."""
    found = reviewed(players)
    result = found.plan.game.result()
    for seat in range(players):
        share = found.deals[0].before[seat].mean + sum(deal.gain(seat).mean for deal in found.deals)
        share += sum(move.after[seat].mean - move.before[seat].mean for move in found.moves)
        assert share == pytest.approx((seat in result["winners"]) / len(result["winners"]))
    if players == 2:
        own, other = found.players
        share = found.deals[0].before[0].mean + own.luck.mean - own.given_away.mean + other.given_away.mean
        assert share == pytest.approx((0 in result["winners"]) / len(result["winners"]))


def test_deals_with_a_judge_that_does_not_search():
    """Rollouts from before and from after them."""
    found = az.review(dumps(COLORED), engine="greedy", budget=60, seed=2)
    judge = _Judge(found.plan)
    for deal in found.deals:
        number = found.plan.game.history.index(deal.deal)
        dealt = judge._roll(found.plan.game._state_after(number), FIRST_ROLLOUT, judge.plan.rollouts)
        assert deal.after == dealt.shares()
        assert deal.gain(0).mean == pytest.approx(deal.after[0].mean - deal.before[0].mean)


# --------------------------------------------------------------------------------------------------------- how it looks
class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "line", "circle", "polygon", "polyline"):
            self.open.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag not in ("line", "circle", "polygon", "polyline"):
            assert self.open.pop() == tag


@pytest.mark.parametrize("players", [2, 3])
def test_the_page_is_whole_and_needs_nothing_else(players):
    found = reviewed(players)
    text = found.to_html()
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert all(link.startswith("#ply") and f'id="{link[1:]}"' in text for link in page.links)
    svg = ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    assert len(svg.findall(".//circle")) == len(found.moves)
    assert len(svg.findall(".//polyline")) == players
    assert text.count("<details>") == len(found.turning_points)


def test_names_in_a_record_cannot_break_the_page():
    found = az.review(dumps(COLORED | {"policies": ["<b>", "a&b"]}), **QUICK)
    assert "<b>" not in found.to_html() and "seat 0 (&lt;b&gt;)" in found.to_html()


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("games.jsonl").write_text(dumps(GRAY) + "\n" + dumps(COLORED) + "\n")
    return "games.jsonl"


QUICKLY = ["--engine", "search:nodes=300", "--budget", "40", "--seed", "1"]


def test_the_command(file, capsys):
    assert run(["review", file, "--game", "2", *QUICKLY, "--html", "page.html"]) == 0
    out = capsys.readouterr().out
    assert str(reviewed(2)) in out
    assert "azul-fast review games.jsonl --game 2 --engine search:nodes=300 --budget 40 --seed 1" in out
    assert Path("page.html").read_text() == reviewed(2).to_html()
    assert run(["review", file, *QUICKLY, "--json"]) == 0
    given = json.loads(capsys.readouterr().out)
    assert given["format"] == "azul-review/1"
    assert {key: value for key, value in given.items() if key != "run"} == {
        key: value for key, value in json.loads(json.dumps(reviewed(3).to_dict())).items() if key != "run"
    }
    assert all(len(line) <= 80 for line in str(reviewed(2)).splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.jsonl"], 2, "missing.jsonl could not be read: No such file"),
        (["games.jsonl", "--game", "3"], 2, "games.jsonl has 2 games, --game 3 was wanted"),
        (["games.jsonl", "--game", "0"], 2, "--game must be 1 or more, not 0"),
        (["games.jsonl", "--budget", "0"], 2, "budget must be 40 to 100000000, not 0"),
        (["games.jsonl", "--engine", "stockfish"], 2, "policy must be random,"),
        (["games.jsonl", "--engine", "search:nodes=0"], 2, "nodes"),
        (["games.jsonl", "--engine", "search:time=1"], 2, "a time limit cannot be repeated"),
        (["games.jsonl", "--html", "page.txt"], 2, "page.txt: the name must end in .html or .htm"),
        (["games.jsonl", "--html", "none/page.html"], 2, "there is no folder none"),
        (["games.jsonl", "--html", "old.html"], 2, "old.html exists (--force writes over it)"),
        (["empty.jsonl"], 2, "empty.jsonl has no game"),
        (["text.jsonl"], 2, "text.jsonl: line 1: record: not JSON"),
        (["illegal.jsonl"], 1, "illegal.jsonl: line 1: record: round 1: move 1: CRF: the center has no red"),
    ],
)
def test_bad_input_is_one_line(file, capsys, arguments, code, said):
    Path("empty.jsonl").write_text("\n")
    Path("text.jsonl").write_text("a game\n")
    Path("old.html").write_text("old")
    broken = json.loads(dumps(COLORED))
    broken["rounds"][0]["moves"] = "CRF" + broken["rounds"][0]["moves"][3:]
    Path("illegal.jsonl").write_text(dumps(broken))
    assert run(["review", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [line for line in captured.err.splitlines() if "compiling" not in line]
    assert len(lines) == 1 and said in lines[0] and lines[0].startswith("azul-fast review: ")
    assert Path("old.html").read_text() == "old"


def test_a_game_without_moves_is_refused():
    with pytest.raises(az.AzulError, match="no move was played"):
        az.review(az.Game(seed=1))


def test_many_threads_share_what_was_rolled(monkeypatch):
    """A round's end that several moves lead to is rolled out once."""
    rolled = []
    roll = _Judge._roll

    def counted(self, state, first, count):
        rolled.append(state.tobytes())
        return roll(self, state, first, count)

    monkeypatch.setattr(_Judge, "_roll", counted)
    az.review(dumps(COLORED), **QUICK, threads=4)
    assert len(rolled) == len(set(rolled))


def test_a_page_never_takes_the_place_of_its_record(file, capsys):
    Path("games.html").write_text(Path("games.jsonl").read_text())
    before = Path("games.html").read_text()
    assert run(["review", "games.html", "--html", "games.html", "--force", *QUICKLY]) == 2
    assert "is the record that is to be reviewed" in capsys.readouterr().err
    assert Path("games.html").read_text() == before


def test_names_are_fit_for_a_terminal():
    found = az.review(dumps(COLORED | {"policies": ["a\x1b[31mred\nnew", "x" * 5000]}), **QUICK)
    assert found.names == ["seat 0 (a?[31mred?new)", f"seat 1 ({'x' * 59}…)"]


def test_every_sign_is_there_in_ascii():
    from azul_fast.display import _ASCII

    assert str(reviewed(2)).translate(_ASCII).isascii()
