"""Tuning: that it finds what is known to be better, repeats itself, and says what it may be asked."""

from __future__ import annotations

import json
import os
import shlex
import signal

import pytest

import azul_fast as az
from azul_fast.cli import main
from azul_fast.errors import AzulError
from azul_fast.tuning import plan_tuning, run_tuning, tune

SMALL = {"generations": 2, "candidates": 6, "games": 24, "test_games": 48, "seed": 5}
BOT = """
from numba import njit
from azul_fast.policies.view import ACTION, PENALTY, POINTS

@njit
def careful(view):
    best, answer = -1e9, -1
    for move in view.moves:
        value = move[POINTS] - view.parameters[0] * move[PENALTY]
        if value > best:
            best, answer = value, move[ACTION]
    return answer
"""


def test_it_finds_what_was_taken_away():
    """`plan` without the weights that matter most, and half of that of the floor, is far below what it can be."""
    found = tune("plan:reply=0:stuck=0:floor=0.5", generations=8, candidates=16, games=60, test_games=400, seed=1)
    (test,) = found.tests
    assert test.before.score_share.mean + 0.08 < test.match.score_share.mean
    assert [each.number for each in found.generations] == list(range(1, 9))


def test_a_policy_of_ones_own(tmp_path):
    (tmp_path / "mybots.py").write_text(BOT)
    found = tune(f"{tmp_path}/mybots.py::careful:floor=0.5", **SMALL)
    assert found.policy == f"{tmp_path}/mybots.py::careful:floor={found.weights['floor']:g}"
    with pytest.raises(AzulError, match="numbers to start from"):
        plan_tuning(f"{tmp_path}/mybots.py::careful")


def test_it_repeats_itself_whatever_the_threads():
    found = [az.tune(threads=threads, **SMALL) for threads in (1, 2)]
    one, two = ({**each.to_dict(), "run": None} for each in found)
    assert one == two
    assert one["format"] == "azul-tune/1" and one["tests"][0]["match"]["games"] == 48 and len(one["generations"]) == 2
    assert one["weights"] != az.tune(**SMALL | {"seed": 6}).weights
    json.dumps(one, allow_nan=False)


def test_the_weights_are_those_of_the_name():
    found = az.tune("plan:column=1", rules=az.Rules(players=3), **SMALL)
    assert found.plan.weights["column"] == 1
    again = az.match(found.policy, "greedy", games=48, rules=az.Rules(players=3), seed=6)
    assert again.score_share == found.tests[0].match.score_share
    assert plan_tuning(found.policy).weights == found.weights


def test_several_opponents_and_itself():
    """The start stands for the policy itself in the end, and does not play against itself."""
    found = az.tune("plan", ["self", "tidy"], **SMALL)
    assert [test.opponent for test in found.tests] == ["self", "tidy"]
    assert found.tests[0].before is None and found.tests[1].before is not None
    assert found.tests[0].match.policies == (found.policy, "plan")
    assert found.tests[1].match.policies == (found.policy, "tidy")
    assert "against the start" in str(found) and "against tidy" in str(found)


def test_the_mean_of_the_generation_before_is_played_against():
    """In the first generation that is the start, which has the weights of `plan`."""
    own, other = (az.tune("plan", opponent, **SMALL | {"games": 60}).generations for opponent in ("self", "plan"))
    assert own[0] == other[0]
    assert own[1].everyone != other[1].everyone


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"policy": "greedy"}, "'greedy' has no weights to tune"),
        ({"policy": "search"}, "'search' has no weights"),
        ({"policy": "plan:colum=1"}, "policy plan has the parameters row, "),
        ({"policy": "plan:column=x"}, "name=number, not 'column=x'"),
        ({"opponents": "gredy"}, "not 'gredy'"),
        ({"opponents": ()}, "at least one, and each once"),
        ({"opponents": ("greedy", "greedy")}, "each once"),
        ({"policy": "plan:nonsense=1"}, "policy plan has the parameters row, .*not 'nonsense'"),
        ({"generations": 0}, "generations must be 1 to 10000, not 0"),
        ({"candidates": 3}, "candidates must be 4 to 10000, not 3"),
        ({"games": 25}, "games must be a multiple of the 2 players, not 25"),
        ({"test_games": 25}, "games must be a multiple of the 2 rotations of the seats, not 25"),
        ({"seed": -1}, r"seed must be 0 to 2\^53 - 1, not -1"),
    ],
)
def test_bad_input(asked, message):
    with pytest.raises(AzulError, match=message) as error:
        tune(**SMALL | asked)
    assert "\n" not in str(error.value)


def test_the_command(capsys):
    options = "--generations 1 --candidates 4 --games 24 --test-games 48 --seed 5".split()
    assert main.run(["tune", *options]) == main.DONE
    out, err = capsys.readouterr()
    assert "generation 1 of 1: score share " in err
    use = shlex.split(out.splitlines()[-1].partition(": ")[2])
    assert use[:2] == ["azul-fast", "match"] and use[-4:] == ["--games", "48", "--seed", "6"]
    assert main.run(["tune", *options, "--json"]) == main.DONE
    found = json.loads(capsys.readouterr()[0])
    assert use[2] == found["policy"]
    assert main.run([*use[1:], "--json"]) == main.DONE
    assert json.loads(capsys.readouterr()[0])["score_share"] == found["tests"][0]["match"]["score_share"]
    assert main.run(["tune", "--policy", "tidy"]) == main.USAGE
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "has no weights" in err


def test_control_c_prints_the_best_so_far(capsys):
    plan = plan_tuning(**SMALL | {"generations": 1000})

    def press(generation):
        if generation.number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    found = run_tuning(plan, progress=press)
    assert found.interrupted and found.tests == ()
    assert found.weights == found.generations[-1].weights and len(found.generations) == 2
    assert "the best so far" in str(found)
    assert found.to_dict()["tests"] == []
