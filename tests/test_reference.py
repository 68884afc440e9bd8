"""A million games of each kind agree with the C++ programs' figures in bench/native/reference.txt."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import azul_fast as az

REFERENCE = Path(__file__).parents[1] / "bench" / "native" / "reference.txt"
GAMES = 1_000_000
LIMIT = 4.5  # combined standard errors


class Figure(NamedTuple):
    mean: float
    se: float


def share(count: float, games: float) -> Figure:
    """A share of games; where none was seen, as if three had been (the 95% rule of three)."""
    p = max(count, 3) / games
    return Figure(count / games, (p * (1 - p) / games) ** 0.5)


def reference(policy: str, players: int) -> dict[str, Figure]:
    """The figures of the `tuned` program for games of one policy in every seat."""
    blocks = re.split(r"\n(?=\w+ np=)", REFERENCE.read_text())
    text = next(block for block in blocks if block.startswith(f"tuned np={players} {policy} "))
    games = int(re.search(r"games (\d+)  rounds", text)[1])
    number = r"([\d.e+-]+)"
    figures = {}
    for name in ("rounds", "moves"):
        mean, se = map(float, re.search(rf"{name} {number} \+- {number} \(min", text).groups())
        figures[name] = Figure(mean, max(se, 0.5e-5))  # printed with five decimals
    for seat in range(players):
        found = re.search(
            rf"seat {seat}: score {number} \+- {number}  sd {number}  win share {number} \+- {number}", text
        )
        score, score_se, sd, win, win_se = map(float, found.groups())
        figures[f"score {seat}"] = Figure(score, score_se)
        figures[f"win share {seat}"] = Figure(win, win_se)
        figures[f"sd {seat}"] = Figure(sd, sd / (2 * games) ** 0.5 * 2)  # scores are not normal: twice that error
    figures["shared wins"] = share(float(re.search(rf"shared wins {number}", text)[1]) * games, games)
    figures["short deals"] = share(int(re.search(r"short deals \S+ \((\d+)\)", text)[1]), games)
    figures["exhausted"] = share(int(re.search(r"no-deal ends (\d+)", text)[1]), games)
    figures["stalled"] = share(int(re.search(r"round-cap ends (\d+)", text)[1]), games)
    return figures


def ours(policy: str, players: int) -> dict[str, Figure]:
    found = az.simulate(GAMES, az.Rules(players=players), policy, seed=20).to_dict()
    figures = {"rounds": Figure(**{k: found["rounds"][k] for k in ("mean", "se")})}
    figures["moves"] = Figure(found["plies"]["mean"], found["plies"]["se"])
    for seat in found["seats"]:
        score, win = seat["score"], seat["win_share"]
        figures[f"score {seat['seat']}"] = Figure(score["mean"], score["se"])
        figures[f"sd {seat['seat']}"] = Figure(score["sd"], score["sd"] / (2 * GAMES) ** 0.5 * 2)
        figures[f"win share {seat['seat']}"] = Figure(win["mean"], win["se"])
    figures["shared wins"] = share(found["shared_wins"], GAMES)
    figures["short deals"] = share(found["short_deals"], GAMES)
    for end in ("exhausted", "stalled"):
        figures[end] = share(found["ends"][end], GAMES)
    assert sum(found["ends"].values()) == GAMES
    return figures


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_statistics_agree_with_the_native_programs(policy: str, players: int) -> None:
    expected, found = reference(policy, players), ours(policy, players)
    assert expected.keys() == found.keys()
    distances = {
        name: (found[name].mean - expected[name].mean) / (found[name].se ** 2 + expected[name].se ** 2) ** 0.5
        for name in expected
    }
    assert max(map(abs, distances.values())) < LIMIT, distances
