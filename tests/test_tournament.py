"""Tournaments: ratings against published and hand-worked ones and a bootstrap, and that no order changes anything."""

from __future__ import annotations

import itertools
import json
import math
import signal
from collections import Counter

import numpy as np
import pytest

import azul_fast as az
from azul_fast.batch import simulate
from azul_fast.cli import main
from azul_fast.elo import ELO_PER_NAT
from azul_fast.engine.layout import OUT_ROWS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS, RESULT_ROWS
from azul_fast.errors import AzulError
from azul_fast.ratings import LOSS, TIE, WIN, Blocks, fit, is_connected
from azul_fast.rules import Rules
from azul_fast.stats import Share
from azul_fast.tournaments import (
    Tournament,
    _block_results,
    _games_before,
    plan_tournament,
    play_tournament,
    results_of,
    tournament,
)

# Home and away wins in the American League East, 1987: home, away, home wins, away wins. Agresti, Categorical Data
# Analysis, 2nd ed. (2002), page 438; the data set `baseball` of the R package BradleyTerry2.
TEAMS = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")
BASEBALL = """
43 4-3 46 4-2 45 4-3 41 6-1 42 4-2 40 6-0 34 3-3 36 4-2 35 4-3 31 6-0 32 6-1 30 4-3 64 2-5 63 4-3 65 2-4 61 4-3 62 4-2
60 6-0 54 3-3 53 5-1 56 2-5 51 4-3 52 4-2 50 6-1 14 5-1 13 2-5 16 3-3 15 4-2 12 5-2 10 6-0 24 2-5 23 3-3 26 3-4 25 4-3
21 4-2 20 2-4 04 2-5 03 1-5 06 1-6 05 2-4 01 1-6 02 3-4
"""


def group(cells, results, counts):
    """Blocks whose comparisons are (first, second, seat of the first, seat of the second)."""
    return Blocks(*np.array(cells).T, np.array(results), np.array(counts, float))


def baseball():
    words = BASEBALL.split()
    return [
        group([(int(teams[0]), int(teams[1]), 0, 1)], [[WIN], [LOSS]], [int(wins[0]), int(wins[2])])
        for teams, wins in zip(words[::2], words[1::2], strict=True)
    ]


# ------------------------------------------------------------------------------------------------------------ the model
def test_baseball_as_published():
    # BradleyTerry2's fit with a home effect, which its vignette shows to be that of Agresti: Baltimore is 0
    expected = (0, 1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271)
    found = fit(7, 2, baseball())
    assert found.ratings - found.ratings[0] == pytest.approx(expected, abs=5e-5)
    assert found.seats[0] - found.seats[1] == pytest.approx(0.3023, abs=5e-5)
    assert (found.nu, found.added) == (0, ())
    assert found.ratings.sum() == pytest.approx(0)
    assert found.seats.sum() == pytest.approx(0)


def test_two_policies_by_hand():
    # 12 wins, 4 ties, 3 losses, the seats alike: odds 12 / 3 and nu = 4 / sqrt(12 * 3) fit exactly
    cells = [(0, 1, 0, 1)], [(0, 1, 1, 0)]
    found = fit(2, 2, [group(cell, [[WIN], [TIE], [LOSS]], [12, 4, 3]) for cell in cells])
    assert found.ratings[0] - found.ratings[1] == pytest.approx(math.log(4))
    assert found.nu == pytest.approx(4 / 6)
    assert found.equal_ties == pytest.approx(1 / 4)  # (2 / 3) / (2 + 2 / 3)
    assert found.seats == pytest.approx((0, 0), abs=1e-9)
    # the first wins 8 : 1 where it starts and 2 : 1 where not: sqrt(16) : 1 in strength, and 2 : 1 for the start
    found = fit(2, 2, [group(cells[0], [[WIN], [LOSS]], [16, 2]), group(cells[1], [[WIN], [LOSS]], [12, 6])])
    assert found.ratings[0] - found.ratings[1] == pytest.approx(math.log(4))
    assert found.seats[0] - found.seats[1] == pytest.approx(math.log(2))


def test_the_likelihood_is_at_its_maximum():
    # five policies, ties, three seats: no step in any parameter raises the likelihood, which is written down anew here
    rng = np.random.default_rng(3)
    pairs = [(0, 1), (0, 2), (1, 2)]
    blocks = []
    for table in itertools.combinations(range(5), 3):
        cells = [(table[a], table[b], a, b) for a, b in pairs]
        blocks.append(group(cells, rng.integers(0, 3, (20, 3)), rng.integers(1, 4, 20)))
    found = fit(5, 3, blocks)

    def likelihood(ratings, seats, log_nu):
        total = 0.0
        for b in blocks:
            for cell, (i, j, p, q) in enumerate(zip(b.first, b.second, b.first_seat, b.second_seat, strict=True)):
                d = ratings[i] + seats[p] - ratings[j] - seats[q]
                weights = np.array([math.exp(-d / 2), math.exp(log_nu), math.exp(d / 2)])
                total += float(b.counts @ np.log(weights / weights.sum())[b.results[:, cell]])
        return total

    best = likelihood(found.ratings, found.seats, math.log(found.nu))
    for number, step in itertools.product(range(9), (-1e-3, 1e-3)):
        ratings, seats, log_nu = found.ratings.copy(), found.seats.copy(), math.log(found.nu)
        if number < 5:
            ratings[number] += step
        elif number < 8:
            seats[number - 5] += step
        else:
            log_nu += step
        assert likelihood(ratings, seats, log_nu) < best


def test_a_policy_that_never_lost_is_rated_all_the_same():
    cells = [(0, 1, 0, 1), (0, 1, 1, 0)]
    found = fit(2, 2, [group(cells, [[WIN, WIN]], [50])])
    assert found.added == ((0, 1),)
    # 100 wins, and half a win for each side: odds 100.5 : 0.5
    assert found.ratings[0] - found.ratings[1] == pytest.approx(math.log(201))
    assert math.sqrt(4 * found.covariance[0, 0]) > 1  # its distance is hardly known
    # the starter always wins: alike, but for the seat
    found = fit(2, 2, [group(cells, [[WIN, LOSS]], [50])])
    assert found.ratings == pytest.approx((0, 0), abs=1e-9)
    assert found.seats[0] - found.seats[1] == pytest.approx(math.log(201))
    # all is level
    found = fit(2, 2, [group(cells, [[TIE, TIE]], [50])])
    assert found.ratings == pytest.approx((0, 0), abs=1e-9)
    # a chain with distances that no two policies show: finite, so nothing is added
    chain = [group([(i, i + 1, 0, 1), (i, i + 1, 1, 0)], [[WIN, WIN], [LOSS, LOSS]], [999, 1]) for i in range(5)]
    found = fit(6, 2, chain)
    assert found.added == ()
    assert found.ratings[0] - found.ratings[5] == pytest.approx(5 * math.log(999))


def test_one_block_has_no_errors():
    found = fit(2, 2, [group([(0, 1, 0, 1), (0, 1, 1, 0)], [[WIN, LOSS]], [1])])
    assert np.isnan(found.covariance).all()
    assert np.isnan(found.seats_se).all()


def test_who_has_met_whom():
    meeting = [group([(a, b, 0, 1)], [[WIN]], [1]) for a, b in ((0, 1), (2, 3))]
    assert not is_connected(4, meeting)
    assert is_connected(4, [*meeting, group([(3, 1, 0, 1)], [[WIN]], [1])])


# ----------------------------------------------------------------------------------- errors: a bootstrap and simulation
def made_up(names, seats, blocks, seed, effect=0.3, luck=0.6, spread=0.5):
    """A tournament with made-up results: of strength, the seat's worth, what the deal gives a seat, and noise."""
    rng = np.random.default_rng(seed)
    plan = plan_tournament(*names, games=seats * blocks * math.factorial(seats - 1), rules=Rules(players=seats), seed=1)
    results = []
    for run in plan.tables:
        counts = Counter()
        for _ in range(run.games // seats):
            deal = luck * rng.normal(size=seats)
            played = np.zeros((RESULT_ROWS, seats), np.int32)
            for r, s in itertools.product(range(seats), repeat=2):
                strength = spread * plan.policies.index(run.policies[(s + r) % seats])
                score = strength + effect * (s == 0) + deal[s] + rng.normal()
                played[OUT_SEATS + s * OUT_SEAT_ROWS + OUT_SCORE, r] = max(0, round(20 + 5 * score))
            counts.update(_block_results(played, seats, seats))
        results.append(dict(sorted(counts.items())))
    return Tournament(plan, tuple(results))


@pytest.mark.parametrize("seats", [2, 3])
def test_errors_are_those_of_a_bootstrap_over_blocks(seats):
    found = made_up(("greedy", "random", "tidy"), seats, 150, seed=4)
    rng = np.random.default_rng(1)
    ratings, effects = [], []
    for _ in range(200):
        again = []
        for counts in found.results:
            numbers, weights = list(counts), np.array(list(counts.values()))
            drawn = rng.multinomial(weights.sum(), weights / weights.sum())
            again.append({k: int(v) for k, v in zip(numbers, drawn, strict=True) if v})
        fitted = Tournament(found.plan, tuple(again)).fitted
        ratings.append(fitted.ratings)
        effects.append(fitted.seats)
    # 200 draws give a standard deviation to 5%
    assert np.sqrt(np.diag(found.fitted.covariance)) == pytest.approx(np.std(ratings, axis=0), rel=0.16)
    assert found.fitted.seats_se == pytest.approx(np.std(effects, axis=0), rel=0.16)


def test_intervals_cover():
    # two policies and what they differ by in the long run, from far more blocks
    def difference(blocks, seed):
        found = made_up(("greedy", "random"), 2, blocks, seed).fitted
        return found.ratings[0] - found.ratings[1], 2 * math.sqrt(found.covariance[0, 0])

    truth, _ = difference(4000, 0)
    runs = [difference(50, seed) for seed in range(1, 151)]
    covered = np.mean([abs(mean - truth) < 1.96 * se for mean, se in runs])
    assert 0.90 <= covered <= 0.99


# ----------------------------------------------------------------------------------------------------- the games played
def test_a_block_by_hand():
    # 3 seats, the scores of 3 games: the last is level between seats 0 and 2 but for a complete row
    played = np.zeros((RESULT_ROWS, 3), np.int32)
    for seat, scores in enumerate(((9, 4, 7), (5, 4, 1), (6, 8, 7))):
        played[OUT_SEATS + seat * OUT_SEAT_ROWS + OUT_SCORE] = scores
    played[OUT_SEATS + 2 * OUT_SEAT_ROWS + OUT_ROWS, 2] = 1
    ((number, count),) = _block_results(played, 3, 3).items()
    assert count == 1
    # pairs of seats 01, 02, 12
    assert results_of([number], 3).tolist() == [[WIN, WIN, LOSS, TIE, LOSS, LOSS, WIN, LOSS, LOSS]]
    plan = plan_tournament("greedy", "random", "tidy", games=6, rules=Rules(players=3), seed=1)
    assert plan.tables[0].policies == ("greedy", "random", "tidy")
    found = Tournament(plan, ({number: 1}, {}))
    # in rotation r seat s is played by number s + r: greedy sits in seats 0, 2, 1
    assert found.cross("greedy", "random") == (3, Share((1 + 1 + 0) / 3, None, samples=1))
    assert found.cross("random", "tidy")[1].mean == pytest.approx((0 + 0.5 + 1) / 3)
    shares = {name: found._win_share(i)[1].mean for i, name in enumerate(plan.policies)}
    assert shares == {"greedy": pytest.approx(2 / 3), "random": pytest.approx(1 / 3), "tidy": 0}


def test_cross_table_and_shares_are_those_of_simulate():
    found = tournament("tidy", "random", "greedy", games=24, seed=3, rules=Rules(players=3))
    wins, games = Counter(), Counter()
    for run in found.plan.tables:
        stats = simulate(run.games, run.rules, run.policies, seed=run.seed, rotate=True)
        for name, figures in stats.policies.items():
            wins[name] += figures.win_share.mean * run.games
            games[name] += run.games
    assert {place.policy: place.games for place in found.standings} == dict(games)
    for place in found.standings:
        assert place.win_share.mean == pytest.approx(wins[place.policy] / games[place.policy])
    two = tournament("tidy", "random", games=60, seed=3)
    met = az.match("random", "tidy", games=60, seed=two.plan.tables[0].seed)
    assert two.cross("random", "tidy")[1].mean == met.score_share.mean
    assert two.cross("random", "tidy")[1].se == pytest.approx(met.score_share.se)
    assert two.cross("tidy", "random")[1].mean == 1 - met.score_share.mean


def figures(found):
    values = found.to_dict()
    del values["run"]
    return json.dumps(values, allow_nan=False)


@pytest.mark.parametrize("players", [2, 3])
def test_no_order_and_no_threads_change_a_byte(players):
    options = {"games": 36, "seed": 8, "rules": Rules(players=players)}
    expected = figures(tournament("greedy", "random", "tidy", threads=1, **options))
    assert figures(tournament("tidy", "greedy", "random", threads=3, **options)) == expected
    plan = plan_tournament("random", "tidy", "greedy", **options)
    backward = play_tournament(type(plan)(**{**vars(plan), "tables": plan.tables[::-1]}))
    values, other = json.loads(expected), json.loads(figures(backward))
    other["tables"].reverse()
    for place, again in zip(values.pop("standings"), other.pop("standings"), strict=True):
        assert place["rating"]["mean"] == pytest.approx(again["rating"]["mean"], abs=2e-6)  # added up in another order
    keys = values.keys() - {"seat_effects", "ties"}
    assert {key: values[key] for key in keys} == {key: other[key] for key in keys}


def test_a_policy_that_joins_changes_no_game_of_the_others():
    small = tournament("tidy", "random", games=60, seed=2)
    large = tournament("greedy", "random", "tidy", games=60, seed=2)
    assert small.cross("tidy", "random") == large.cross("tidy", "random")
    tables = {run.policies: run.seed for run in large.plan.tables}
    assert len(set(tables.values())) == 3


def test_a_gauntlet():
    found = tournament("tidy", "random", "greedy", games=60, seed=2, gauntlet=True)
    assert found.games == 120
    assert found.cross("greedy", "random") is None
    assert found.cross("tidy", "greedy") is not None
    values = found.to_dict()
    assert values["gauntlet"] == "tidy"
    assert len(values["cross"]) == 4
    assert "gauntlet of tidy" in str(found)


def test_seatings():
    four = plan_tournament("greedy", "plan", "random", "tidy",
                           rules=Rules(players=4), seed=1, games=48)  # fmt: skip
    assert len(four.tables) == 6
    assert all(run.games == 8 for run in four.tables)
    assert all(run.policies[0] == "greedy" for run in four.tables)
    assert len({run.policies for run in four.tables}) == 6
    three = plan_tournament("greedy", "plan", "random", "tidy", rules=Rules(players=3), seed=1, gauntlet=True)
    assert len(three.tables) == 2 * 3
    assert all("greedy" in run.policies for run in three.tables)


def test_parts_of_a_table():
    run = plan_tournament("greedy", "random", seed=1, games=1200).tables[0]
    assert [_games_before(run, part) for part in range(5)] == [0, 2, 4, 8, 16]
    assert [_games_before(run, part) for part in (9, 10, 11, 12)] == [512, 1024, 1200, 1200]


def test_an_interrupt_leaves_whole_blocks():
    calls = [0]

    def progress(done, games):
        calls.append(done)
        if done > 2000 >= calls[-2]:
            signal.raise_signal(signal.SIGINT)

    found = tournament("greedy", "random", "tidy", games=10**7, seed=6, threads=1, progress=progress)
    assert found.interrupted
    assert found.games == 2 * found.blocks
    assert 2000 < found.games < 10**7
    counts = [sum(counts.values()) for counts in found.results]
    assert max(counts) <= 2 * min(counts)

    def at_once(done, games):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        tournament("greedy", "random", "tidy", games=10**7, seed=6, threads=1, progress=at_once)


def test_json_and_text():
    found = tournament("greedy", "random", "tidy", games=120, seed=2)
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["format"] == "azul-tournament/1"
    assert values["policies"] == ["greedy", "tidy", "random"]
    assert (values["games"], values["blocks"]) == (360, 180)
    promised = "standings seat_effects ties cross tables notes seed rules interrupted gauntlet run"
    assert set(promised.split()) <= set(values)
    for place in values["standings"]:
        assert {"policy", "rating", "behind", "win_share", "games"} == set(place)
        assert {"mean", "se", "ci95"} <= set(place["rating"])
    assert sum(place["rating"]["mean"] for place in values["standings"]) == pytest.approx(0, abs=1e-5)
    assert len(values["cross"]) == 6
    text = str(found)
    for words in ("round robin", "95% interval", "win share, %", "Worth of the seats in Elo", "came out ahead"):
        assert words in text
    assert az.tournament is tournament


def test_a_match_and_a_tournament_of_two_agree():
    # without ties and with seats that count little the rating difference is the match's Elo
    found = made_up(("greedy", "random"), 2, 3000, seed=2, effect=0.0)
    share = found.cross("random", "greedy")[1].mean
    difference = ELO_PER_NAT * (found.fitted.ratings[1] - found.fitted.ratings[0])
    wins = share - found.fitted.equal_ties / 2  # ties are halves of both
    assert difference == pytest.approx(400 * math.log10(wins / (1 - found.fitted.equal_ties - wins)), rel=0.03)


# ----------------------------------------------------------------------------------------------------- the command line
def test_the_command(capsys):
    code = main.run(["tournament", "random", "greedy", "--games", "20", "--seed", "4", "--seats", "2", "--gauntlet"])
    out, _ = capsys.readouterr()
    assert code == 0
    assert "To repeat: azul-fast tournament random greedy --gauntlet --games 20 --seed 4" in out
    assert main.run(["tournament", "random", "greedy", "tidy", "--games", "6", "--seed", "4", "--seats", "3",
                     "--json"]) == 0  # fmt: skip
    assert json.loads(capsys.readouterr()[0])["rules"]["players"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "a tournament of 2 seats needs at least 2 policies, not 0: none"),
        ("greedy", "a tournament of 2 seats needs at least 2 policies, not 1: greedy"),
        ("greedy tidy --seats 3", "a tournament of 3 seats needs at least 3 policies, not 2: greedy tidy"),
        ("greedy tidy greedy", "policy greedy is named 2 times: a tournament takes each once"),
        ("greedy best", "policy must be random, tidy, greedy"),
        ("greedy tidy --games 0", "games must be 1 to 2^53, not 0"),
        ("greedy tidy --games 7", "games must be a multiple of 2 (each deal in 2 rotations of the seats), not 7"),
        ("greedy tidy random --games 8 --seats 3", "games must be a multiple of 6 (each deal in 3 rotations of the "
         "seats for each of the 2 orders around the table), not 8"),
        ("greedy tidy --seats 5", "players must be 2 to 4, not 5"),
        ("greedy tidy --games x", "--games: 'x' is not a whole number"),
        ("greedy tidy --seed 1.5", "--seed: '1.5' is not a whole number"),
        ("greedy tidy --threads 0", "threads must be 1 to 1024, not 0"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr("azul_fast.tournaments.play", None)  # no game is played
    assert main.run(["tournament", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"azul-fast tournament: {message}")
    assert err.count("\n") == 1


def test_bad_arguments_in_python():
    with pytest.raises(AzulError, match="rules must be a Rules"):
        tournament("greedy", "tidy", rules=2)
