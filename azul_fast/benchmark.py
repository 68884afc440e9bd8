"""One number that stands for how the engine behaves, and how fast it is on this machine."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from azul_fast.engine import layout
from azul_fast.playout import play_games, play_general
from azul_fast.policies import POLICIES
from azul_fast.rules import MAX_PLAYERS, MIN_PLAYERS, OVERFLOWS, WALLS, Rules

SIGNATURE_GAMES = 240  # of each variant and mix of policies; a multiple of every number of rotations
SIGNATURE_SEED = 2017  # the year of the game
MIXES = (*((policy,) * MAX_PLAYERS for policy in POLICIES), (*POLICIES, POLICIES[-1]))

Player = Callable[..., None]  # `play_games` or `play_general`


def variants() -> Iterator[Rules]:
    """Every players × wall × overflow combination."""
    for players, wall, overflow in itertools.product(range(MIN_PLAYERS, MAX_PLAYERS + 1), WALLS, OVERFLOWS):
        yield Rules(players=players, wall=wall, overflow=overflow)


def signature(play: Player = play_games) -> str:
    """A hash over fixed games of every variant and policy: it changes when, and only when, some game does.

    Parameters
    ----------
    play : callable
        The entry point that plays; the general kernel and lockstep give the same.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for rules, mix in itertools.product(variants(), MIXES):
        results = np.zeros((layout.RESULT_ROWS, SIGNATURE_GAMES), np.int32)
        policies = np.array([POLICIES.index(policy) for policy in mix[: rules.players]], np.int64)
        play(layout.new_state(rules), policies, rules.players, 1, SIGNATURE_SEED, 0, SIGNATURE_GAMES, results)
        digest.update(results.astype("<i4").tobytes())
    return digest.hexdigest()[:16]


class Speed(NamedTuple):
    """What one kind of games costs on one thread."""

    name: str
    players: int
    best: float  # CPU nanoseconds a ply
    median: float
    games_per_second: float  # of CPU time, from the best burst


def speeds(bursts: int = 9, seconds: float = 0.1) -> Iterator[Speed]:
    """Time the kernels on this machine: short bursts of whole games, one thread, CPU time of that thread.

    Parameters
    ----------
    bursts : int
        Bursts of each kind.
    seconds : float
        Aim for the length of a burst.
    """
    kinds = (
        ("random", "fixed", "random", play_games),
        ("random, general kernel", "fixed", "random", play_general),
        ("random, gray wall", "free", "random", play_general),
        ("tidy", "fixed", "tidy", play_games),
        ("greedy", "fixed", "greedy", play_games),
    )
    for (name, wall, policy, play), players in itertools.product(kinds, range(MIN_PLAYERS, MAX_PLAYERS + 1)):
        start = layout.new_state(Rules(players=players, wall=wall))
        policies = np.full(players, POLICIES.index(policy), np.int64)
        games = 1024
        times: list[float] = []
        while len(times) < bursts:
            results = np.zeros((layout.RESULT_ROWS, games + 24), np.int32)
            before = time.thread_time()
            play(start, policies, 1, 0, SIGNATURE_SEED, 0, games, results)
            spent = time.thread_time() - before
            if spent < seconds / 2 and not times:  # the first ones also compile and warm up
                games *= 2
                continue
            plies = int(results[layout.OUT_PLIES, :games].sum())
            times.append(spent / plies)
        times.sort()
        yield Speed(name, players, 1e9 * times[0], 1e9 * times[len(times) // 2], games / (times[0] * plies))
