"""The studies: the same on any number of threads, and their estimators and positions are what they say."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import azul_fast as az
from azul_fast.position import Position, parse_position
from azul_fast.rules import COLORS

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "scripts" / "studies"
NAMES = sorted(path.stem for path in STUDIES.glob("*.py") if path.stem != "study")
README = (ROOT / "README.md").read_text()
SMALL = 0.0001  # of a sample

sys.path.insert(0, str(STUDIES))  # as it is for a script that is run there

import denied  # noqa: E402
import luck  # noqa: E402
import marker  # noqa: E402
from study import Options, Report, Table, is_clear, mean_by_game, play_on, self_play  # noqa: E402

from azul_fast.stats import Estimate  # noqa: E402


def run(*arguments, check=True):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=check)


# ---------------------------------------------------------------------------------------------------- what is printed
@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_the_same_on_any_number_of_threads(name):
    study = __import__(name).study
    one, two = (study(Options(name, seed=5, threads=threads, scale=SMALL)) for threads in (1, 2))
    assert str(one) == str(two)
    data = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert data == json.loads(json.dumps(two.to_dict()))
    assert (data["format"], data["study"], data["seed"]) == ("azul-study/1", name, 5)
    assert data["answers"] and data["tables"]
    text = " ".join(str(one).split())
    for sentence in data["answers"] + data["notes"]:
        assert " ".join(sentence.split()) in text
    for table in data["tables"]:
        assert table["rows"]
        assert table["title"] in str(one)
        assert any(isinstance(cell, dict) and cell["se"] is not None for row in table["rows"] for cell in row.values())


def test_a_seed_draws_other_games():
    first, second = (str(__import__("bonuses").study(Options("bonuses", seed, 2, SMALL))) for seed in (1, 2))
    assert first != second.replace("seed 2", "seed 1")


def test_a_study_as_a_program():
    script = STUDIES / "starting.py"
    options = ("--seed", 3, "--scale", SMALL)
    text, data = run(script, *options).stdout, json.loads(run(script, *options, "--json").stdout)
    assert text.startswith(data["question"] + "\nseed 3")
    assert text.endswith("To repeat: scripts/study starting --seed 3 --scale 0.0001\n")
    row = data["tables"][0]["rows"][0]
    assert row["win share, %"]["mean"] - row["worth, % points"]["mean"] == pytest.approx(50)
    assert sum(map(float, row["shares of all seats, %"].split())) == pytest.approx(100, abs=0.15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scale", "0"], "--scale must be above 0 and at most 10000, not 0"),
        (["--scale", "nan"], "--scale must be above 0 and at most 10000, not nan"),
        (["--seed", "-1"], "--seed must be 0 to 2^53 - 1, not -1"),
        (["--seed", "x"], "argument --seed: a whole number is needed, not 'x'"),
        (["--threads", "0"], "threads must be 1 to 1024, not 0"),
        (["--games", "5"], "unrecognized arguments: --games 5"),
    ],
)
def test_a_wrong_option_is_one_line_and_nothing_is_played(arguments, message):
    done = run(STUDIES / "luck.py", *arguments, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"study luck: {message}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["--scale", "0"]])
def test_help_and_wrong_options_do_not_load_the_kernels(arguments):
    code = (
        "import runpy, sys, atexit; atexit.register(lambda: print('numba' in sys.modules)); sys.argv = sys.argv[1:]; "
    )
    code += f"sys.path.insert(0, {str(STUDIES)!r}); runpy.run_path(sys.argv[0], run_name='__main__')"
    done = run("-c", code, STUDIES / "denied.py", *arguments, check=False)
    assert done.stdout.endswith("False\n")


def test_the_readme_shows_every_study():
    for name in NAMES:
        assert f"To repeat: scripts/study {name} --seed" in README, name
        question = re.search(r'Report\(options, "(.*?)"\)', (STUDIES / f"{name}.py").read_text())[1]
        assert question in README, name
    for command in re.findall(r"scripts/study (\w+)", README):
        assert command in NAMES


def test_a_table_shows_each_cell_below_its_head():
    table = Table("Title", ("name", "games", "worth"))
    table.add("a", 1200, Estimate(2.345, 0.02))
    table.add("bcdef", 7, Estimate(-1.0, None))
    rule = "─" * (5 + 2 + 5 + 2 + 10)
    expected = ["Title", "", "name   games       worth", rule, "a      1,200  2.35 ±0.02", "bcdef      7          -1"]
    assert str(table).splitlines() == expected


def test_a_report_of_another_scale_says_so():
    assert str(Report(Options("luck", 1, 1, 1.0), "?")).endswith("scripts/study luck --seed 1")
    assert str(Report(Options("luck", 1, 1, 0.5), "?")).endswith("scripts/study luck --seed 1 --scale 0.5")


# --------------------------------------------------------------------------------------------------------- estimators
def test_mean_by_game_is_a_ratio_of_the_sums_of_games():
    """Games of 2, 1 and 1 values, by hand: sums 3, 5, 4; mean 3, deviations -3, 2, 1, mean size 4/3."""
    found = mean_by_game(np.array([1, 2, 5, 4]), np.array([7, 7, 8, 9]))
    assert found.mean == pytest.approx(3)
    assert found.se == pytest.approx(np.sqrt((9 + 4 + 1) / (3 * 2)) / (4 / 3))
    weighted = mean_by_game(np.array([2.0, 6.0]), np.array([0, 1]), np.array([1, 3]))
    assert (weighted.mean, weighted.se) == (2, 0)


def test_mean_by_game_of_one_value_a_game_is_the_usual_mean():
    values = np.array([3.0, -1.0, 4.0, 1.0, 5.0])
    found = mean_by_game(values, np.arange(5))
    assert found.mean == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / np.sqrt(5))


def test_what_is_clear():
    assert is_clear(Estimate(2.0, 1.0)) and not is_clear(Estimate(1.9, 1.0))
    assert not is_clear(Estimate(-2.0, 1.0), tests=9) and is_clear(Estimate(-2.8, 1.0), tests=9)  # 2.77
    assert not is_clear(Estimate(9.0, None))


# Ratings of 6 subjects by 4 judges: Shrout and Fleiss, Psychological Bulletin 86 (1979), table 2
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


def test_mean_squares_of_a_published_table():
    """Their table 3: 11.24 between subjects, 32.49 between judges, 1.02 left; so ICC(3, 1) is .71."""
    found = luck.mean_squares(RATINGS)
    squares = [float(square[0]) for square in (found.rows, found.columns, found.rest)]
    assert squares == pytest.approx([11.24, 32.49, 1.02], abs=0.005)
    deal = (squares[0] - squares[2]) / 4
    assert deal / (deal + squares[2]) == pytest.approx(0.71, abs=0.005)


def test_leaving_one_out_is_the_table_without_that_row():
    found = luck.mean_squares(RATINGS, leave_one_out=True)
    for row in range(len(RATINGS)):
        without = luck.mean_squares(np.delete(RATINGS, row, axis=0))
        for name in ("rows", "columns", "rest"):
            assert getattr(found, name)[row] == pytest.approx(getattr(without, name)[0])


def test_variance_shares_of_known_parts():
    """Margins made of skill 3, starting 2, and normal deals and rest of variances 16 and 36: 9 + 4 + 16 + 36 = 65."""
    draw = np.random.default_rng(1)
    deals = draw.normal(0, 4, (20_000, 1))
    shares, sd = luck.variance_shares(2 + np.array([3, -3]) + deals + draw.normal(0, 6, (20_000, 2)))
    assert sd == pytest.approx(65**0.5, rel=0.02)
    for source, variance in {"skill": 9, "starting": 4, "deal": 16, "rest": 36}.items():
        assert 0 < shares[source].se < 0.01
        assert abs(shares[source].mean - variance / 65) < 4 * shares[source].se, source


def test_the_error_of_a_share_is_the_spread_over_samples():
    """400 samples of 100 deals: no skill, so the jackknife alone would say too little there."""
    draw = np.random.default_rng(2)
    means, errors = {}, {}
    for _ in range(400):
        table = draw.normal(0, 1, (100, 1)) + draw.normal(0, 1, (100, 2))
        for source, share in luck.variance_shares(table)[0].items():
            means.setdefault(source, []).append(share.mean)
            errors.setdefault(source, []).append(share.se)
    for source, shares in means.items():
        spread = np.std(shares)
        assert 0.9 * spread < np.sqrt(np.mean(np.square(errors[source]))) < 2 * spread, source
        expected = {"deal": 0.5, "rest": 0.5}.get(source, 0.0)
        assert abs(np.mean(shares) - expected) < 4 * spread / 20 + 0.005, source


def test_games_that_are_the_same_twice_are_all_deal():
    margins = np.repeat(np.arange(-5.0, 6.0)[:, None], 2, axis=1)
    shares, _ = luck.variance_shares(margins)
    assert shares["rest"].mean == 0 == shares["skill"].mean
    assert shares["deal"].mean + shares["starting"].mean == pytest.approx(1)


def test_between_random_players_there_is_no_skill():
    margins, _ = luck.play_pair(Options("luck", 1, 2, 1.0), "random", "random", 20_000)
    shares, _ = luck.variance_shares(margins)
    assert abs(shares["skill"].mean) < 0.002
    assert shares["rest"].mean > 0.9


# ---------------------------------------------------------------------------------------------------------- positions
@pytest.fixture(scope="module")
def games():
    """The positions of some games of plan before each ply."""
    options = Options("marker", seed=3, threads=1, scale=1.0)
    return [[game.copy() for game in plies] for plies in self_play(options, 6, ["plan", "greedy"])]


def test_self_play_is_the_batch(games):
    """The same games that `simulate` plays."""
    scores = []
    options = {"policies": ["plan", "greedy"], "seed": 3, "first_player": "rotate"}
    az.simulate(6, on_chunk=lambda first, count, results: scores.append(results[:, :count].copy()), **options)
    from azul_fast.engine.layout import OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS

    played = np.concatenate(scores, axis=1)
    for number, plies in enumerate(games):
        assert plies[-1].scores == [played[OUT_SEATS + s * OUT_SEAT_ROWS + OUT_SCORE, number] for s in range(2)]


def test_the_marker_is_all_that_differs(games):
    seen = set()
    for plies in games:
        for question, round_, turn, variants in marker.moments(iter(plies)):
            seen.add((question, round_))
            for position in variants:
                assert str(Position.from_state(parse_position(str(position)))) == str(position)  # legal
            first, second = variants
            assert first != second
            if question == "start":
                assert turn == 1
                assert first.marker and first.tiles_out() == second.tiles_out()
                assert (first.turn, first.starter, second.turn, second.starter) == (0, 0, 1, 1)
                assert replace(first, turn=1, starter=1) == second
            else:
                assert turn in marker.TURNS
                assert [board.marker for board in first.boards] == [True, False]
                assert [board.marker for board in second.boards] == [False, True]
                assert replace(first, boards=tuple(replace(board, marker=False) for board in first.boards)) == replace(
                    second, boards=tuple(replace(board, marker=False) for board in second.boards)
                )
    assert {("start", r) for r in range(1, 6)} | {("hold", r) for r in range(1, 6)} <= seen


def test_a_group_that_is_denied_is_in_the_lid(games):
    checked = 0
    for plies in games:
        for game in plies[:-1]:
            position = game.position
            sizes = denied.groups(position)
            assert sum(sizes.values()) == len(position.center) + sum(map(len, position.factories))
            for (source, color), tiles in sizes.items():
                if len(sizes) == 1:
                    continue
                after = denied.without(position, source, color)
                assert str(Position.from_state(parse_position(str(after)))) == str(after)  # legal
                lid = list(position.lid)
                lid[COLORS.index(color)] += tiles
                assert after.lid == tuple(lid)
                assert denied.groups(after) == {key: n for key, n in sizes.items() if key != (source, color)}
                assert (
                    replace(after, factories=position.factories, center=position.center, lid=position.lid) == position
                )
                checked += 1
    assert checked > 100


def test_both_groups_that_are_taken_away_are_of_one_size(games):
    from azul_fast.players import Players

    found = 0
    for number, plies in enumerate(games):
        for tiles, variants in denied.moments(iter(plies), number, 4, Players(["plan"]), 3):
            on_offer = [sum(denied.groups(position).values()) for position in variants]
            assert on_offer == [on_offer[0], on_offer[0] - tiles, on_offer[0] - tiles]
            assert variants[1] != variants[2]
            assert all(position.turn == 0 for position in variants)
            found += 1
    assert found > 6


# Seat 0 must take the last tile, blue, which fills line 1 and its row: 12 + 5 + 2 points, less the marker's 1.
LAST_PLY = (
    "azul1 c2 -,-,-,-,- *B 12:.YRKW/...../...../...../.....:-,-,-,-,-:-;"
    "9:...../...../...../...../.....:-,-,-,-,-:- b15.15.15.15.15 l4.4.4.4.4 t0 s0 r5 offer"
)


def test_play_on_is_from_seat_0_and_plays_to_the_end():
    first = Position.from_state(parse_position(LAST_PLY))
    second = replace(first, boards=first.boards[::-1], turn=1, starter=1)
    options = Options("marker", seed=1, threads=2, scale=1.0)
    wins, margins = play_on(options, [(first, second)] * 3, ["greedy", "greedy"], 2)
    assert wins.tolist() == [[1, 0]] * 3
    assert margins.tolist() == [[9, -9]] * 3


def test_variants_of_a_case_meet_the_same_deals_and_other_cases_others(games):
    position = games[0][5].position
    options = Options("marker", seed=1, threads=2, scale=1.0)
    _, margins = play_on(options, [(position, position)] * 4, ["plan", "plan"], 3)
    assert (margins[:, 0] == margins[:, 1]).all()
    assert len(set(margins[:, 0])) > 1
