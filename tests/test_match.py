"""Matches: Elo and its error, the sequential test against published values, a slow method and simulation; the play."""

from __future__ import annotations

import itertools
import json
import math
import signal
import statistics as python_statistics

import numpy as np
import pytest

import azul_fast as az
from azul_fast.batch import simulate
from azul_fast.cli import main
from azul_fast.elo import elo_difference, elo_of_share, share_of_elo, superiority
from azul_fast.engine.layout import OUT_ROWS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS, RESULT_ROWS
from azul_fast.errors import AzulError
from azul_fast.matches import _Decided, _Sheet, match, plan_match, play_match
from azul_fast.records import replay
from azul_fast.rules import Rules
from azul_fast.sprt import CAUTION, REGULARIZER, Sprt, SprtResult
from azul_fast.stats import Share

FIVE = np.array([0, 0.25, 0.5, 0.75, 1])  # scores of a block of two games, as shares


def share_of(counts):
    """Share of the wins, its standard error between blocks of two games, and their number, the plain way."""
    values = [score for score, count in zip(FIVE, counts, strict=True) for _ in range(count)]
    n = len(values)
    return Share(float(np.mean(values)), python_statistics.stdev(values) / math.sqrt(n), samples=n)


# ------------------------------------------------------------------------------------------------------------------ Elo
def test_elo_by_hand():
    assert elo_of_share(0.5) == 0
    assert elo_of_share(0.75) == pytest.approx(400 * math.log10(3))  # three wins for each loss
    assert share_of_elo(400) == pytest.approx(10 / 11)
    # a seat that wins as often as each of three others has a quarter; twice as often, two fifths
    assert elo_of_share(1 / 4, 1, 3) == pytest.approx(0)
    assert elo_of_share(2 / 5, 1, 3) == pytest.approx(400 * math.log10(2))
    assert elo_of_share(2 / 3, 2, 1) == pytest.approx(0)
    for own, others, elo in itertools.product((1, 2, 3), (1, 2, 3), (-300.0, 0.0, 50.0)):
        assert elo_of_share(share_of_elo(elo, own, others), own, others) == pytest.approx(elo, abs=1e-9)


# Elo, half of the 95% interval and likelihood of superiority as fastchess has them (its app/tests/elo_test.cpp); it
# counts blocks of one win and one loss apart from those of two draws.
@pytest.mark.parametrize(
    ("counts", "elo", "error", "los"),
    [
        ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 1.0000),
        ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 0.0505),
        ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95, 0.0000),
    ],
)
def test_elo_as_published(counts, elo, error, los):
    share = share_of(counts)
    found = elo_difference(share)
    assert found.mean == pytest.approx(elo, rel=0.01)
    assert (found.high - found.low) / 2 == pytest.approx(error, rel=0.01)
    assert superiority(share, 0.5) == pytest.approx(los, abs=2e-4)


def test_elo_without_bounds():
    # 20 blocks, all won: the lower end is 20 / (20 + 1.96^2); Clopper and Pearson's is 0.025^(1/20) = 0.832
    won = elo_difference(Share(1.0, 0.0, samples=20))
    assert (won.mean, won.high) == (None, None)
    assert won.low == pytest.approx(400 * math.log10(20 / 1.96**2), abs=0.01)
    assert "only a lower bound" in won.note
    lost = elo_difference(Share(0.0, 0.0, samples=20))
    assert (lost.mean, lost.low, lost.high) == (None, None, pytest.approx(-won.low))
    alike = elo_difference(Share(0.5, 0.0, samples=20))
    assert (alike.mean, alike.low, alike.high) == (0, None, None)
    assert elo_difference(Share(0.75, None, samples=1)).note == "one block has no standard error"
    assert (superiority(Share(1.0, 0.0), 0.5), superiority(Share(0.5, 0.0), 0.5)) == (1, 0.5)


# ----------------------------------------------------------------------------------------------------- the test's ratio
@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "ratio"),
    [  # fastchess, app/tests/sprt_test.cpp, "logistic pentanomial" 1 and 2: to two decimals
        ((223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07),
        ((871, 26175, 55003 + 980, 26678, 821), 0.0, 2.0, -4.98),
    ],
)
def test_ratio_as_published(counts, elo0, elo1, ratio):
    assert Sprt(elo0, elo1).ratio(np.array(counts), FIVE) == pytest.approx(ratio, abs=0.005)


def slow_log_likelihood(counts, scores, mean):
    """Greatest log-likelihood of counts under distributions of a mean, by nothing but its definition.

    Probabilities are climbed to along directions that keep their sum and mean, by steps of shrinking size.
    """
    n = np.where(np.array(counts) == 0, REGULARIZER, counts).astype(float)
    scores = np.asarray(scores, float)
    p = (1 - mean) * (scores == 0) + mean * (scores == scores.max())  # a start with that mean, and inside:
    middle = np.full(len(scores), 1 / len(scores))
    tilt = middle @ scores
    edge = (scores == scores.max()).astype(float) if tilt < mean else (scores == 0).astype(float)
    weight = (mean - tilt) / (edge @ scores - tilt) if tilt != mean else 0.0
    p = 0.5 * p + 0.5 * ((1 - weight) * middle + weight * edge)
    directions = []
    for i, j, k in itertools.combinations(range(len(scores)), 3):  # move mass from j to i and k
        a = (scores[k] - scores[j]) / (scores[k] - scores[i])
        d = np.zeros(len(scores))
        d[i], d[j], d[k] = a, -1, 1 - a
        directions.append(d)
    value = n @ np.log(p)
    for _ in range(400):
        before = value
        for d in directions:
            low = max(-p[m] / d[m] for m in range(len(p)) if d[m] > 0)
            high = min(-p[m] / d[m] for m in range(len(p)) if d[m] < 0)
            for _ in range(80):  # the derivative along d falls: halve
                t = (low + high) / 2
                if (n * d / (p + t * d)).sum() > 0:
                    low = t
                else:
                    high = t
            p = p + (low + high) / 2 * d
        value = n @ np.log(p)
        if value - before < 1e-12:
            break
    assert p @ scores == pytest.approx(mean, abs=1e-9)
    return value


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1"),
    [((10, 20, 40, 25, 12), 0, 30), ((1, 0, 8, 0, 4), -10, 40), ((0, 0, 5, 0, 0), 0, 50), ((0, 0, 0, 1, 9), 0, 200)],
)
def test_ratio_by_a_slow_method(counts, elo0, elo1):
    slow0, slow1 = (slow_log_likelihood(counts, FIVE, share_of_elo(elo)) for elo in (elo0, elo1))
    assert Sprt(elo0, elo1).ratio(np.array(counts), FIVE) == pytest.approx(slow1 - slow0, abs=2e-5)


def test_ratio_with_three_players():
    plan = plan_match("greedy", "random", rules=Rules(players=3), games=3)
    scores = plan.block_scores()
    # one seat of three: a game gives it 0, 1/3, 1/2 or 1, in twelfths 0, 4, 6, 12
    assert set(scores) == {sum(games) for games in itertools.product((0, 4, 6, 12), repeat=3)}
    counts = np.array([{0: 9, 4: 1, 12: 14, 18: 2, 24: 6, 36: 1}.get(score, 0) for score in scores])
    shares = np.array(scores) / 36
    found = Sprt(0, 40).ratio(counts, shares, 1, 2)
    # with a fine grid of the tilt instead of a search
    expected = []
    for elo in (0, 40):
        d = shares - share_of_elo(elo, 1, 2)
        x = np.linspace(-1 / d.max(), -1 / d.min(), 200_001)[1:-1]
        expected.append((np.where(counts == 0, REGULARIZER, counts) @ np.log1p(x * d[:, None])).max())
    assert found == pytest.approx(expected[0] - expected[1], abs=1e-5)


def test_bounds_and_order():
    test = Sprt(0, 10, alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == (pytest.approx(math.log(0.1 / 0.95)), pytest.approx(math.log(0.9 / 0.05)))
    counts = np.array([[3, 1, 9, 2, 4], [4, 2, 9, 1, 3]])
    assert test.ratio(counts, FIVE)[0] > test.ratio(counts, FIVE)[1]
    mirrored = Sprt(-10, 0).ratio(counts[:, ::-1], FIVE)
    assert test.ratio(counts, FIVE) == pytest.approx(-mirrored)


def test_few_blocks_that_differ_decide_nothing_yet():
    """All blocks level: the ratio is for H0 from some number on; it is accepted when one more could not turn it."""
    test = Sprt(0, 30)
    level = np.arange(1, 100)[:, None] * (FIVE == 0.5)
    by_ratio, decided = test.ratio(level, FIVE) <= test.lower, test.accepted(level, FIVE)
    assert set(decided.tolist()) == {-1, 0}
    assert 5 < by_ratio.argmax() < decided.argmax()
    between = level[by_ratio.argmax()]
    assert "the next one could turn it" in SprtResult(test, float(test.ratio(between, FIVE)), None).reason


# ----------------------------------------------------------------------------------------------- error rates, simulated
def tilted(p, mean):
    """A distribution like `p` with another mean."""
    low, high = -50.0, 50.0
    for _ in range(100):
        tilt = (low + high) / 2
        q = p * np.exp(tilt * FIVE)
        q = q / q.sum()
        low, high = (tilt, high) if q @ FIVE < mean else (low, tilt)
    return q


def accepted(test, p, runs, rng, most=6000):
    """How many of the runs accept H0, and H1; and blocks on average."""
    counts = np.zeros((runs, 5))
    ends, blocks = {"H0": 0, "H1": 0}, 0
    for _ in range(most // 100):
        seen = counts[:, None] + np.cumsum(rng.multinomial(1, p, size=(len(counts), 100)), axis=1)
        decided = test.accepted(seen, FIVE)
        first = np.where((decided >= 0).any(axis=1), (decided >= 0).argmax(axis=1), -1)
        for hypothesis in decided[np.arange(len(first)), first][first >= 0]:
            ends[f"H{hypothesis}"] += 1
        blocks += int(np.where(first >= 0, first + 1, 100).sum())
        counts = seen[first < 0, -1]
        if not len(counts):
            break
    assert not len(counts), "a test did not end"
    return ends["H0"] / runs, ends["H1"] / runs, blocks / runs


@pytest.mark.parametrize(
    ("shape", "elo0", "elo1"),
    [
        ((0.20, 0.02, 0.54, 0.02, 0.22), 0, 40),  # two like policies
        ((0.02, 0.01, 0.20, 0.05, 0.72), 250, 320),  # one much stronger
        ((0.02, 0.0, 0.96, 0.0, 0.02), 0, 30),  # where the deal decides nearly all
        ((0.005, 0.0, 0.99, 0.0, 0.005), 0, 20),
        ((0.0, 0.0, 0.04, 0.0, 0.96), 600, 700),  # where nearly all is won
    ],
    ids=["alike", "stronger", "decided by the deal", "the more so", "all but won"],
)
def test_error_rates(shape, elo0, elo1):
    test, rng, runs = Sprt(elo0, elo1), np.random.default_rng(7), 600
    room = 2.5 * math.sqrt(0.05 * 0.95 / runs)  # of a share known from so many runs
    _, false_h1, _ = accepted(test, tilted(np.array(shape), share_of_elo(elo0)), runs, rng)
    false_h0, _, _ = accepted(test, tilted(np.array(shape), share_of_elo(elo1)), runs, rng)
    assert false_h1 <= test.alpha + room
    assert false_h0 <= test.beta + room
    above, _, _ = accepted(test, tilted(np.array(shape), share_of_elo(elo1 + (elo1 - elo0) / 2)), runs // 3, rng)
    assert above <= false_h0


# ----------------------------------------------------------------------------------------------------- the games played
def results_of(*games):
    """Results with these (score, complete rows) by seat, and nothing else."""
    results = np.zeros((RESULT_ROWS, len(games)), np.int32)
    for column, seats in enumerate(games):
        for seat, (score, rows) in enumerate(seats):
            results[OUT_SEATS + seat * OUT_SEAT_ROWS + OUT_SCORE, column] = score
            results[OUT_SEATS + seat * OUT_SEAT_ROWS + OUT_ROWS, column] = rows
    return results


def test_three_blocks_by_hand():
    # A B | B A: A wins both; A loses and shares; each wins as the one who starts, by rows
    results = results_of(
        ((9, 0), (5, 0)), ((1, 0), (7, 0)),
        ((3, 0), (4, 0)), ((6, 1), (6, 1)),
        ((5, 1), (5, 0)), ((8, 2), (8, 1)),
    )  # fmt: skip
    plan = plan_match("greedy", "random", games=6, seed=1)
    sheet = _Sheet(plan)
    sheet.add(0, 2, results[:, :2])
    sheet.add(2, 4, np.ascontiguousarray(results[:, 2:]))
    assert sheet.counts.tolist() == [0, 1, 1, 0, 1]
    found = az.Match(plan, az.Statistics(plan.run, sheet.tally), tuple(sheet.counts.tolist()))
    assert found.score_share.mean == pytest.approx((2 + 0.5 + 1) / 6)
    assert found.score_share.se == pytest.approx(python_statistics.stdev([1, 0.25, 0.5]) / math.sqrt(3))
    assert found.margin.mean == pytest.approx((4 + 6 - 1 + 0 + 0 + 0) / 6)
    assert found.shared_wins.mean == pytest.approx(1 / 6)
    assert found.starting.win_share.mean == pytest.approx((1 + 0 + 0 + 0.5 + 1 + 1) / 6)
    assert found.elo.mean == pytest.approx(400 * math.log10(3.5 / 2.5))


def test_it_ends_at_the_block_that_decides_whatever_the_chunks():
    plan = plan_match("greedy", "random", games=2000, seed=1, sprt=(0, 100))
    won = results_of(*[((9, 0), (5, 0)), ((5, 0), (9, 0))] * 1000)
    ends = set()
    for chunk in (2, 6, 14, 2000):
        sheet = _Sheet(plan)
        with pytest.raises(_Decided):
            for first in range(0, 2000, chunk):
                sheet.add(first, chunk, np.ascontiguousarray(won[:, first : first + chunk]))
        assert sheet.test.accepted == "H1"
        ends.add((sheet.tally.games, sheet.test.ratio, tuple(sheet.counts)))
    assert len(ends) == 1
    games, ratio, counts = ends.pop()
    assert counts == (0, 0, 0, 0, games // 2)
    blocks = np.arange(1, 200)
    ratios = Sprt(0, 100).ratio(blocks[:, None] * (FIVE == 1), FIVE)
    cautious = Sprt(0, 100).ratio(blocks[:, None] * (FIVE == 1) + CAUTION * np.isin(FIVE, (0, 1)), FIVE)
    assert games // 2 == int(blocks[np.minimum(ratios, cautious) >= math.log(19)][0])
    assert ratio == ratios[games // 2 - 1]


@pytest.mark.parametrize(
    ("policies", "options"),
    [
        (("greedy", "tidy"), {"games": 480}),
        (("tidy", "random"), {"sprt": (0.0, 400.0)}),
        (("greedy", "tidy"), {"games": 480, "rules": Rules(players=3, wall="free")}),
        (("tidy", "random", "tidy", "greedy"), {"games": 240, "rules": Rules(players=4), "sprt": (-30.0, 30.0)}),
    ],
    ids=["two", "tested", "three", "a policy a seat"],
)
def test_threads_and_chunks_change_no_byte(policies, options):
    def figures(**how):
        values = play_match(plan_match(*policies, seed=5, **options), **how).to_dict()
        del values["run"]
        return json.dumps(values, allow_nan=False)

    expected = figures(threads=1)
    players = options.get("rules", Rules()).players
    assert figures(threads=3) == figures(threads=2, chunk_games=players) == expected


def test_it_is_what_simulate_says_with_rotation():
    found = match("greedy", "tidy", games=240, seed=9, rules=Rules(players=3))
    stats = simulate(240, Rules(players=3), "greedy,tidy,tidy", seed=9, rotate=True)
    assert found.score_share == stats.policies["greedy"].win_share
    assert found.margin == stats.policies["greedy"].margin
    assert found.sides[1].win_share == stats.policies["tidy"].win_share
    assert found.starting == stats.starting
    assert found.score_share.mean + 2 * found.sides[1].win_share.mean == pytest.approx(1)
    assert found.blocks == 80


def test_a_policy_against_itself_is_a_test_of_the_match():
    found = match("tidy", "tidy", games=600, seed=4)
    low, high = found.score_share.ci95
    assert low < 0.5 < high
    assert found.policies == ("tidy", "tidy")
    assert found.elo.low < 0 < found.elo.high


def test_all_seats_named_is_the_same_as_two_names():
    rules = Rules(players=3)
    short, long = (
        match("tidy", "random", games=60, seed=1, rules=rules),
        match("tidy", "random", "random", games=60, seed=1, rules=rules),
    )
    assert short.score_share == long.score_share
    two = match("tidy", "tidy", "random", games=60, seed=1, rules=rules)
    assert (two.plan.own, two.plan.others) == (2, 1)
    assert 2 * two.score_share.mean + two.sides[1].win_share.mean == pytest.approx(1)


def test_an_interrupt_leaves_whole_blocks():
    calls = [0]

    def progress(done, games):
        calls.append(done)
        if done >= 100 > calls[-2]:
            signal.raise_signal(signal.SIGINT)

    found = match("greedy", "tidy", games=10**7, seed=6, threads=1, progress=progress)
    assert found.interrupted
    assert 100 <= found.games < 10**7
    same = match("greedy", "tidy", games=found.games, seed=6).to_dict()
    values = found.to_dict() | {"interrupted": False, "run": same["run"]}
    assert values == same


def test_json_has_the_promised_keys():
    values = json.loads(json.dumps(match("greedy", "tidy", games=120, seed=2, sprt=(-9, 9)).to_dict(), allow_nan=False))
    promised = "format policies games blocks score_share margin elo sprt pentanomial interrupted seed rules run"
    assert set(promised.split()) <= set(values)
    assert (values["format"], values["policies"]) == ("azul-match/1", ["greedy", "tidy"])
    assert {"mean", "se"} <= set(values["score_share"]) & set(values["margin"])
    assert {"mean", "low", "high"} <= set(values["elo"])
    assert sum(values["pentanomial"]) == values["blocks"] == values["games"] / 2
    assert {"elo0", "elo1", "alpha", "beta", "llr", "lower", "upper", "accepted", "reason"} == set(values["sprt"])
    assert "pentanomial" not in match("greedy", "tidy", games=12, seed=2, rules=Rules(players=3)).to_dict()


def test_the_package_offers_it():
    assert az.match is match
    assert {"match", "Match"} <= set(dir(az))


# ----------------------------------------------------------------------------------------------------- the command line
def run(capsys, *arguments):
    code = main.run(["match", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_what_it_prints(capsys):
    code, out, _ = run(capsys, "tidy", "random", "--games", "200", "--seed", "3", "--wall", "gray")
    assert code == 0
    for words in ("score share, %", "margin", "Elo difference", "likelihood of superiority", "shared win",
                  "starting seat", "blocks by score: 0 in", "gray wall", "seed 3"):  # fmt: skip
        assert words in out
    assert max(map(len, out.splitlines())) <= 120
    assert "To repeat: azul-fast match tidy random --games 200 --wall free --seed 3" in out


def test_strict(capsys):
    arguments = ["random", "tidy", "--sprt", "-5,5", "--seed", "1"]
    code, out, _ = run(capsys, *arguments)
    assert (code, "H0 is accepted (Elo -5): the ratio fell to its bound -2.94" in out) == (0, True)
    assert run(capsys, *arguments, "--strict")[0] == 1
    assert run(capsys, "tidy", "random", *arguments[2:], "--strict")[0] == 0
    code, out, _ = run(capsys, "tidy", "tidy", "--games", "4", *arguments[2:], "--strict")
    assert (code, "Neither is accepted" in out) == (0, True)


def test_records(capsys, tmp_path):
    path = tmp_path / "games.jsonl"
    code, out, _ = run(capsys, "tidy", "random", "--games", "8", "--seed", "2", "--records", str(path), "--json")
    assert code == 0
    games = [replay(line) for line in path.read_text().splitlines()]
    assert len(games) == 8
    won = sum(record["policies"].index("tidy") in record["result"]["winners"]
              for record in map(json.loads, path.read_text().splitlines()))  # fmt: skip
    assert won / 8 == json.loads(out)["score_share"]["mean"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "a match of 2 players needs two policies, not 0: none"),
        ("greedy", "a match of 2 players needs two policies, not 1: greedy"),
        ("greedy tidy random", "a match of 2 players needs two policies, not 3: greedy tidy random"),
        ("greedy tidy random --players 4", "a match of 4 players needs two policies, or one a seat, not 3: greedy"),
        ("greedy --players 3", "a match of 3 players needs two policies, or one a seat, not 1: greedy"),
        ("greedy greedy greedy --players 3", "a match needs a second policy: greedy holds all 3 seats"),
        ("greedy best", "policy must be random, tidy, greedy"),
        ("greedy tidy --games 0", "games must be 1 to 2^53, not 0"),
        ("greedy tidy --games 7", "games must be a multiple of the 2 rotations of the seats, not 7"),
        ("greedy tidy --games ten", "--games: 'ten' is not a whole number"),
        ("greedy tidy --players 5", "players must be 2 to 4, not 5"),
        ("greedy tidy --seed -1", "seed must be 0 to 2^53 - 1, not -1"),
        ("greedy tidy --sprt 5,5", "sprt: elo0 must be below elo1, as in 0,10; not 5,5"),
        ("greedy tidy --sprt 9,2", "sprt: elo0 must be below elo1"),
        ("greedy tidy --sprt 5", "--sprt: '5' is not two Elo differences such as 0,10"),
        ("greedy tidy --sprt 1,2,3", "--sprt: '1,2,3' is not two Elo differences"),
        ("greedy tidy --sprt 0,nan", "sprt: elo1 must be a number, not nan"),
        ("greedy tidy --sprt 0,1e5", "sprt: elo1 must be -2000 to 2000, not 100000"),
        ("greedy tidy --sprt 0,9 --alpha 0", "sprt: alpha must be between 0 and 0.5, not 0"),
        ("greedy tidy --sprt 0,9 --beta half", "--beta: 'half' is not a number such as 0.05"),
        ("greedy tidy --strict", "--strict goes with --sprt elo0,elo1"),
        ("greedy tidy --alpha 0.1", "--alpha goes with --sprt elo0,elo1"),
        ("greedy tidy --threads 0", "threads must be 1 to 1024, not 0"),
        ("greedy tidy --records games.txt", "games.txt: the name must end in .jsonl"),
        ("greedy tidy --bogus", "No such option"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr("azul_fast.matches.play", None)  # no game is played
    code, out, err = run(capsys, *arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith("azul-fast match: ")
    assert message.replace("'", "") in err.replace("'", "")
    assert err.count("\n") == 1


def test_bad_arguments_in_python():
    for options, message in (
        ({"sprt": "0,5"}, "sprt must be two numbers"),
        ({"sprt": (0, 5, 9)}, "sprt must be two numbers"),
        ({"sprt": (0, "5")}, "sprt: elo1 must be a number"),
        ({"rules": 3}, "rules must be a Rules"),
    ):
        with pytest.raises(AzulError, match=message):
            match("greedy", "tidy", **options)


@pytest.mark.parametrize("policies", [("greedy", "random"), ("random", "greedy"), ("random", "random")])
def test_one_block_is_shown(policies):
    """There is no spread to tell an error from, and so no Elo difference."""
    for players in (2, 3):
        found = az.match(*policies, games=players, rules=az.Rules(players=players), seed=1)
        assert found.blocks == 1
        assert "score share, %" in str(found)
