"""Statistics against numbers worked by hand, plain formulas over a slow twin's table, and simulation; their looks."""

from __future__ import annotations

import json
import math
import re
import statistics as python_statistics
from fractions import Fraction
from html import unescape

import numpy as np
import pytest
from twin import made_up, rows, samples

import azul_fast as az
from azul_fast.batch import describe, simulate
from azul_fast.display import as_text, number
from azul_fast.engine.layout import OUT_END, OUT_PLACED, OUT_ROWS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS, RESULT_ROWS
from azul_fast.matches import match
from azul_fast.rules import Rules
from azul_fast.stats import QUANTILES, Z95, Estimate, Share, Statistics
from azul_fast.tally import Tally

POSITION = (
    "azul1 c2 -,-,-,-,- * 12:B..../...../...../...../.....:-,-,-,-,-:-;"
    "7:...../...../...../...../.....:-,-,-,-,-:- b19.20.20.20.20 l0.0.0.0.0 t1 s0 r1 deal"
)


def statistics_of(results, games, policies=("random", "random"), **options):
    """Statistics of made-up results, as of a run of these games."""
    rules = Rules(players=len(policies))
    run = describe(games, None if "position" in options else rules, policies, seed=1, **options)
    return Statistics(run, Tally.of(results, games, run.seating(), run.first_game))


def table_of(results, stats):
    run = stats.run
    first = -1 if run.first_player == "rotate" else run.first_player
    return rows(results, run.games, run.policies, run.rotations, first, run.first_game, run.start_scores)


def scores_of(*games):
    """Results with these scores and nothing else: one tuple a game."""
    results = np.zeros((RESULT_ROWS, len(games)), np.int32)
    results[OUT_END] = 1
    for column, scores in enumerate(games):
        for seat, score in enumerate(scores):
            results[OUT_SEATS + seat * OUT_SEAT_ROWS + OUT_SCORE, column] = score
    return results


def test_four_games_by_hand():
    # seat 0: 2, 4, 6, 8: mean 5, sum of squared deviations 9 + 1 + 1 + 9 = 20
    # seat 1: 2, 5, 3, 0: wins game 1, shares game 0
    stats = statistics_of(scores_of((2, 2), (4, 5), (6, 3), (8, 0)), 4)
    seat = stats.seats[0]
    assert seat.score.mean == 5
    assert seat.score.sd == math.sqrt(20 / 3)
    assert seat.score.se == math.sqrt(20 / 3) / 2
    # fourth central moment 41, second 5: sqrt((41 - 25) / 3) = sd of the squared deviations; / sqrt(4) / (2 sd)
    assert seat.score.sd_se == pytest.approx(math.sqrt(4 * 16 / 3) / 2 / (2 * math.sqrt(20 / 3)))
    assert seat.win_share.mean == Fraction(5, 8)  # 1/2 + 0 + 1 + 1
    assert seat.win_share.se == pytest.approx(math.sqrt((1 / 64 + 25 / 64 + 9 / 64 + 9 / 64) / 3 / 4))
    assert (seat.outright.mean, seat.shared.mean) == (0.5, 0.25)
    assert seat.margin.mean == (0 - 1 + 3 + 8) / 4
    assert stats.shared_wins == 1
    assert stats.starting.advantage.mean == 0.125
    assert stats.starting.lead.mean == 2.5
    assert (seat.score.minimum, seat.score.maximum, seat.score.histogram) == (2, 8, (0, 0, 1, 0, 1, 0, 1, 0, 1))


def test_a_tie_is_broken_by_rows_then_shared():
    results = scores_of((5, 5), (5, 5))
    results[OUT_SEATS + OUT_SEAT_ROWS + OUT_ROWS, 1] = 1  # game 1: seat 1 has a complete row
    stats = statistics_of(results, 2)
    assert stats.seats[1].win_share.mean == 0.75
    assert (stats.seats[1].outright.mean, stats.seats[1].shared.mean) == (0.5, 0.5)


def test_quantiles_by_hand():
    # the values 1 to 100, once each
    stats = statistics_of(scores_of(*((v, 0) for v in range(1, 101))), 100)
    quantiles = {q.share: q for q in stats.seats[0].score.quantiles}
    assert [quantiles[p].value for p in QUANTILES] == [1, 5, 10, 25, 50, 75, 90, 95, 99, 100]
    # median: standard deviation of the rank sqrt(100 / 4) = 5; ranks 50 -+ 9.8, rounded up, and 50 -+ 5
    assert quantiles[0.5].ci95 == (41, 60)
    assert quantiles[0.5].se == 5
    # 5%: sqrt(100 * 0.05 * 0.95) = 2.179; 5 -+ 4.27 -> 0.73, 9.27; 5 -+ 2.18 -> 2.82, 7.18
    assert quantiles[0.05].ci95 == (1, 10)
    assert quantiles[0.05].se == (8 - 3) / 2


def test_a_quantile_has_that_share_at_or_below():
    stats = statistics_of(scores_of((1, 0), (1, 0), (2, 0), (3, 0)), 4)
    quantiles = {q.share: q.value for q in stats.seats[0].score.quantiles}
    assert (quantiles[0.25], quantiles[0.5], quantiles[0.75], quantiles[0.9]) == (1, 1, 2, 3)


def wilson(k, n):
    """The score interval of k of n independent games: where (k / n - p)^2 = z^2 p (1 - p) / n."""
    roots = np.roots([1 + Z95**2 / n, -(2 * k / n + Z95**2 / n), (k / n) ** 2])
    return min(roots), max(roots)


@pytest.mark.parametrize(("k", "n"), [(1, 2), (81, 263), (15, 148), (1, 29), (28, 29), (0, 20), (29, 29)])
def test_the_interval_of_a_share(k, n):
    """With independent games it is Wilson's; four of them as in Newcombe, Statistics in Medicine 17 (1998) 857-872."""
    known = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0, 0.1611), (1, 29): (0.0061, 0.1718)}
    found = Share(k / n, math.sqrt(k * (n - k) / n**3), samples=n).ci95
    assert found == pytest.approx(known.get((k, n), wilson(k, n)), abs=5e-5)
    assert found == pytest.approx(wilson(k, n))
    half = Share(k / n, math.sqrt(k * (n - k) / n**3), samples=n).scaled(0.5)
    assert half.ci95 == pytest.approx([end / 2 for end in found]) and half.high == 0.5


def test_shares_without_spread():
    assert Share(0.5, 0.0, samples=9).ci95 == (0.5, 0.5)  # a policy against itself
    assert Share(0.5, None, samples=1).ci95 is None
    stats = simulate(40, policies="random", seed=1)
    assert stats.policies["random"].win_share.ci95 == (0.5, 0.5)
    won = match("greedy", "random", games=8, seed=1)
    assert won.score_share.ci95[1] == 1 and won.elo.high is None and won.elo.low is not None


@pytest.mark.parametrize(
    "shape",
    [
        (0.20, 0.02, 0.54, 0.02, 0.22),
        (0.0, 0.0, 0.02, 0.005, 0.975),  # a share of 0.989
        (0.001, 0.0, 0.004, 0.001, 0.994),
        (0.96, 0.005, 0.03, 0.0, 0.005),
        (0.01, 0.0, 0.98, 0.0, 0.01),
    ],
    ids=["alike", "much stronger", "all but always won", "weaker", "decided by the deal"],
)
@pytest.mark.parametrize("blocks", [50, 200, 1000])
def test_intervals_of_blocks_cover(shape, blocks):
    """Of 2,000 matches of two players, games in pairs: 93% to 97%, and no interval reaches beyond 0 or 1.

    The mean less and more 1.96 standard errors covers 24% to 91% where a share is near 0 or 1 and blocks are few.
    """
    rng, runs = np.random.default_rng(11), 2000
    values = np.arange(5) / 4
    p = np.array(shape)
    counts = rng.multinomial(blocks, p, size=runs)
    covered, beyond = 0, 0
    for row in counts:
        mean = float(row @ values) / blocks
        se = math.sqrt(max(float(row @ (values - mean) ** 2), 0.0) / (blocks - 1) / blocks)
        low, high = Share(mean, se, samples=blocks).ci95
        covered += low <= p @ values <= high
        beyond += low < 0 or high > 1
    assert beyond == 0
    assert covered / runs > 0.925


@pytest.mark.parametrize(
    ("policies", "options"),
    [
        (("random", "random"), {}),
        (("random", "greedy"), {"rotate": True}),
        (("random", "tidy", "random"), {"first_player": "rotate", "first_game": 3}),
        (("greedy", "tidy", "random", "tidy"), {"rotate": True, "first_player": 2}),
        (("random", "random"), {"position": POSITION}),
    ],
    ids=["two alike", "two rotated", "three in turn", "four rotated", "from a position"],
)
def test_every_figure_is_the_plain_formula_over_the_table(policies, options):
    games = 600
    results = made_up(games, len(policies), seed=3)
    stats = statistics_of(results, games, policies, **options)
    table = table_of(results, stats)
    groups = [(f"seat {s}", f, lambda row, s=s: row["seat"] == s) for s, f in enumerate(stats.seats)]
    groups += [(p, f, lambda row, p=p: row["policy"] == p) for p, f in stats.policies.items()]

    def expect(estimate, values, where):
        parts = samples(table, values)
        means = [float(sum(part)) / len(part) for part in parts]
        assert estimate.mean == pytest.approx(np.mean(means)), where
        assert estimate.se == pytest.approx(np.std(means, ddof=1) / math.sqrt(len(means)), abs=1e-12), where
        if estimate.sd is not None:
            assert estimate.sd == pytest.approx(np.std([float(v) for part in parts for v in part], ddof=1)), where
        if isinstance(estimate, Share):
            low, high = estimate.ci95
            assert estimate.low <= low <= estimate.mean <= high <= estimate.high, where
            assert estimate.samples == len(parts)
        else:
            assert estimate.ci95 == pytest.approx(
                (estimate.mean - Z95 * estimate.se, estimate.mean + Z95 * estimate.se)
            )
        return parts

    names = (
        "score win_share outright shared margin placement_points floor_points clamp_points rows columns colors".split()
    )
    for label, figures, member in groups:
        for name in names:
            parts = expect(
                getattr(figures, name),
                lambda row: row[name] if member(row) else None,  # noqa: B023
                (label, name),
            )
            if name == "score":  # standard error of the standard deviation, from the definition
                mean = np.mean([v for part in parts for v in part])
                squared = [np.mean([(v - mean) ** 2 for v in part]) for part in parts]
                se = np.std(squared, ddof=1) / math.sqrt(len(squared)) / (2 * figures.score.sd)
                assert figures.score.sd_se == pytest.approx(se)
                values = sorted(v for part in parts for v in part)
                for q in figures.score.quantiles:
                    assert q.value == values[math.ceil(Fraction(str(q.share)) * len(values)) - 1]
                assert list(figures.score.histogram) == np.bincount(values).tolist()
        assert figures.bonus("columns").mean == 7 * figures.columns.mean
        walls = [row["wall"] for row in table if member(row)]
        filled = np.array([[w >> cell & 1 for cell in range(25)] for w in walls]).mean(axis=0).reshape(5, 5)
        assert np.allclose(figures.wall, filled)
    for name in ("rounds", "plies"):
        expect(getattr(stats, name), lambda row: row[name] if row["seat"] == 0 else None, name)  # noqa: B023
    starts = lambda row, value: value if row["seat"] == row["first_player"] else None  # noqa: E731
    expect(stats.starting.win_share, lambda row: starts(row, row["win_share"]), "starting")
    expect(stats.starting.margin, lambda row: starts(row, row["margin"]), "starting")
    expect(stats.starting.lead, lambda row: starts(row, row["lead"]), "starting")
    assert stats.starting.advantage.mean == pytest.approx(stats.starting.win_share.mean - 1 / len(policies))
    assert sum(stats.ends.values()) == games
    assert stats.ends["exhausted"] == sum(row["end"] == "exhausted" for row in table if row["seat"] == 0)
    # what the score is made of
    for _, f, _ in groups:
        made = f.placement_points.mean - f.floor_points.mean + f.clamp_points.mean
        assert f.score.mean == pytest.approx(made + sum(f.bonus(name).mean for name in ("rows", "columns", "colors")))


def test_a_policy_against_itself_wins_exactly_half():
    results = made_up(400, 2)
    for options in ({}, {"rotate": True}):
        win_share = statistics_of(results, 400, **options).policies["random"].win_share
        assert (win_share.mean, win_share.se) == (0.5, 0.0)


@pytest.mark.parametrize("rotate", [False, True])
def test_errors_by_simulation(rotate):
    # 400 runs of 300 deals: the estimates scatter as their standard errors say, and the intervals cover
    rng = np.random.default_rng(5)
    runs, games = 400, 600 if rotate else 300
    means, sds, ses, sd_ses, covered = [], [], [], [], []
    for _ in range(runs):
        base = np.repeat(rng.poisson(20, 300), games // 300)  # what the games on one deal have in common
        results = scores_of(*zip(base + rng.poisson(20, games), base + rng.poisson(20, games), strict=True))
        score = statistics_of(results, games, rotate=rotate).policies["random"].score
        means.append(score.mean)
        sds.append(score.sd)
        ses.append(score.se)
        sd_ses.append(score.sd_se)
        low, high = next(q.ci95 for q in score.quantiles if q.share == 0.5)
        covered.append(low <= 40 <= high)  # median of Poisson(40)
    # a standard deviation from 400 values is known to 1 / sqrt(800) = 3.5%
    assert np.std(means) == pytest.approx(np.mean(ses), rel=0.13)
    assert np.std(sds) == pytest.approx(np.mean(sd_ses), rel=0.13)
    assert np.mean(covered) > 0.93  # more than 95% where values of a sample are correlated or discrete


def test_errors_of_the_published_reference_follow_from_its_deviations():
    # 20 million games, seat 0: score 2.99149 +- 0.00097, sd 4.33250; win share 0.507146 +- 0.000109, shared 0.055080
    n = 20_000_000
    assert 4.33250 / math.sqrt(n) == pytest.approx(0.00097, abs=5e-6)
    p, ties = 0.507146, 0.055080
    assert math.sqrt((p - ties / 2 + ties / 4 - p**2) / n) == pytest.approx(0.000109, abs=5e-7)


def test_one_game_has_no_errors():
    stats = statistics_of(scores_of((3, 1)), 1)
    assert stats.seats[0].score.to_dict()["se"] is None
    assert stats.seats[0].score.quantiles[4].ci95 is None
    json.dumps(stats.to_dict(), allow_nan=False)
    assert "3" in str(stats)


def test_no_spread_is_no_failure():
    stats = statistics_of(scores_of(*[(3, 1)] * 50), 50)
    assert (stats.seats[0].score.sd, stats.seats[0].score.sd_se, stats.seats[0].score.se) == (0, 0, 0)
    assert "±0" in str(stats)


def test_the_order_of_adding_changes_no_byte():
    results = made_up(1200, 3, seed=9)
    run = describe(1200, Rules(players=3), seed=1, rotate=True)
    seating = run.seating()
    parts = [Tally.of(np.ascontiguousarray(results[:, i : i + 60]), 60, seating, i) for i in range(0, 1200, 60)]
    forward, backward = Tally.empty(seating), Tally.empty(seating)
    for part in parts:
        forward += part
    for part in reversed(parts):
        backward += part
    assert json.dumps(Statistics(run, forward).to_dict()) == json.dumps(Statistics(run, backward).to_dict())


def test_json_has_the_promised_keys():
    values = json.loads(json.dumps(statistics_of(made_up(60, 2), 60, ("random", "greedy")).to_dict(), allow_nan=False))
    assert values["format"] == "azul-stats/1"
    promised = "format games seed rules interrupted seats policies rounds plies ends shared_wins short_deals run"
    assert set(promised.split()) <= set(values)
    assert values["rules"] == {"players": 2, "wall": "fixed", "overflow": "lid", "max_rounds": 100}
    assert [seat["seat"] for seat in values["seats"]] == [0, 1]
    assert [seat["policy"] for seat in values["seats"]] == ["random", "greedy"]
    assert list(values["policies"]) == ["random", "greedy"]
    for group in (*values["seats"], *values["policies"].values()):
        for name in ("score", "win_share"):
            assert {"mean", "se", "sd", "ci95"} <= set(group[name])
    assert {"mean", "se"} <= set(values["rounds"]) & set(values["plies"])
    assert set(values["ends"]) == {"row", "exhausted", "stalled"}


# -------------------------------------------------------------------------------------------------------- how it looks
@pytest.mark.parametrize(
    "policies",
    [("random",) * 2, ("random", "greedy"), ("tidy",) * 3, ("random", "greedy", "tidy", "random")],
    ids=",".join,
)
@pytest.mark.parametrize("rotate", [False, True])
def test_the_drawing_fits_80_columns_and_ascii(policies, rotate):
    players = len(policies)
    stats = statistics_of(made_up(1200, players), 1200, policies, rotate=rotate)
    text = as_text(stats, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text  # nothing was cut
    for words in (
        "win share",
        "won alone",
        "margin",
        "median",
        "lost to the floor",
        "complete colors",
        "starting is worth",
    ):
        assert words in text
    assert all(policy in text for policy in policies)
    assert as_text(stats) == str(stats)
    plain = as_text(stats, 80, ascii_only=True)
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line.rstrip()) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("mean", "se", "text"),
    [
        (2.99149, 0.00097, "2.9915 ±0.0010"),
        (50.71, 0.04, "50.71 ±0.04"),
        (50.71, 0.12, "50.71 ±0.12"),
        (1234.5, 30.0, "1234 ±30"),
        (0.5, 0.0, "0.5 ±0"),
        (0.5, None, "0.5"),
    ],
)
def test_numbers_have_the_digits_that_their_errors_leave(mean, se, text):
    assert number(Estimate(mean, se)) == text


def test_python_agrees_on_deviations():
    values = [1, 4, 4, 9, 12]
    stats = statistics_of(scores_of(*((v, 0) for v in values)), 5)
    assert stats.seats[0].score.sd == python_statistics.stdev(values)
    assert stats.seats[0].score.se == pytest.approx(python_statistics.stdev(values) / math.sqrt(5))


def test_points_of_the_start_count_as_placed():
    results = scores_of((12, 7), (15, 9))
    results[OUT_SEATS + OUT_PLACED] = [0, 3]
    stats = statistics_of(results, 2, position=POSITION)
    assert stats.run.first_player == 1
    assert stats.run.start_scores == (12, 7)
    assert stats.seats[0].placement_points.mean == 13.5
    assert stats.seats[0].clamp_points.mean == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Only random starts"),
        ({"first_player": 1}, "Only greedy starts"),
        ({"first_player": "rotate"}, None),
        ({"rotate": True}, None),
    ],
)
def test_a_policy_that_always_starts_is_named(options, words):
    text = str(statistics_of(made_up(120, 2), 120, ("random", "greedy"), **options))
    assert words in text if words else "Only" not in text


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_cell_is_split(players, width):
    """Each figure stands whole on its line, with its standard error, however narrow the terminal."""
    stats = statistics_of(made_up(400, players, seed=1), 400, ("random", "tidy", "greedy", "plan")[:players])
    lines = as_text(stats, width).splitlines()
    assert max(map(len, lines[5:])) <= max(width, 80)
    for name in ("score", "standard dev.", "win share, %", "margin", "points placed", "complete rows"):
        row = re.compile(rf" *{re.escape(name)}( +-?[\d.]+ ±[\d.]+)+")
        assert sum(line.count("±") for line in lines if row.fullmatch(line)) >= players, name


def test_results_draw_themselves_in_a_notebook():
    results = [
        simulate(40, policies="greedy", seed=1),
        match("greedy", "random", games=8, seed=1),
        az.tournament("greedy", "random", games=8, seed=1),
        az.evaluate(az.Game(seed=1), rollouts=1000, seed=1),
        az.tune("plan", generations=1, candidates=4, games=4, test_games=4, seed=1),
    ]
    for result in results:
        html = result._repr_html_()
        assert html.startswith("<pre") and html.endswith("</pre>")
        text = unescape(re.sub("<[^>]*>", "", html))
        first, *_, last = (line.strip() for line in str(result).splitlines() if line.strip())
        assert first in text and last in text
