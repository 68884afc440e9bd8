"""Better weights for a policy, found by playing: the cross-entropy method.

Each generation draws candidates from normal distributions, one a weight, and plays every candidate against the
opponent on the same deals, each in every rotation of the seats. Mean and deviation then move towards those of the best
candidates (the elite). Deals are new in every generation, so that no candidate is kept for the luck of a few; in the
end start and mean each play a match on deals of their own, and that is the result.

Candidates are ranked by score share plus margin / `MARGIN_SCALE`: the margin tells more of a few games than who won
them, and the share is what counts.

Source: R. Rubinstein, "The cross-entropy method for combinatorial and continuous optimization", Methodology and
Computing in Applied Probability 1 (1999) 127-190; smoothing as in P.-T. de Boer et al., "A tutorial on the
cross-entropy method", Annals of Operations Research 134 (2005) 19-67, section 5; the deviations keep a share of their
start, after I. Szita and A. Lőrincz, "Learning Tetris using the noisy cross-entropy method", Neural Computation 18
(2006) 2936-2941.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from azul_fast.batch import thread_count, versions, whole_number
from azul_fast.errors import AzulError, shown
from azul_fast.matches import Match, MatchPlan, headline, plan_match, play_match
from azul_fast.policies import PolicySpec, parse_policy
from azul_fast.policies.defaults import LEAST, PARAMETERS
from azul_fast.rules import MAX_SEED, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = "azul-tune/1"
GENERATIONS, CANDIDATES, GAMES, TEST_GAMES = 20, 24, 240, 4800
MAX_GENERATIONS, MAX_CANDIDATES, MAX_GAMES = 10_000, 10_000, 10_000_000
ELITE = 1 / 4  # of the candidates
SMOOTHING = 0.7  # how far mean and deviation move in a generation
SPREAD, LEAST_SPREAD = 0.5, 0.1  # first deviation: a share of a weight's size, and at least this
KEPT_SPREAD = 0.1  # of the first deviation: no weight stops moving
MARGIN_SCALE = 100  # points
DIGITS = 3  # of a weight, so that the name of a policy can be read


@dataclass(frozen=True)
class Generation:
    """What a generation came to.

    Attributes
    ----------
    number : int
        From 1.
    elite, everyone : float
        Score share against the opponent of the best candidates, which decide the next generation, and of all.
    weights : dict of str to float
        The mean of the next generation.
    """

    number: int
    elite: float
    everyone: float
    weights: dict[str, float]


Progress = Callable[[Generation], None]


@dataclass(frozen=True)
class TunePlan:
    """What is to be tuned, and how; made by `plan_tuning`, which checks it."""

    start: PolicySpec
    weights: dict[str, float]  # to start from
    opponent: str
    generations: int
    candidates: int
    games: int  # of a candidate
    test: MatchPlan  # of the start against the opponent in the end
    seed: int

    @property
    def sizes(self) -> list[float]:
        """How large each weight is, at the start or by default."""
        default = PARAMETERS.get(self.start.name, {}) if self.start.file is None else {}
        return [max(abs(value), abs(default.get(name, 0.0))) for name, value in self.weights.items()]

    def named(self, weights: dict[str, float]) -> str:
        """The policy with these weights."""
        name = self.start.name if self.start.file is None else f"{self.start.file}::{self.start.name}"
        return ":".join([name, *(f"{key}={value:g}" for key, value in weights.items())])

    def match(self, policy: str) -> MatchPlan:
        """The match in the end, of `policy`."""
        run = self.test.run
        return replace(self.test, run=replace(run, policies=(policy, *run.policies[1:])))


@dataclass(frozen=True)
class Tuning:
    """What was found; `str` draws it, `to_dict` is its JSON.

    Attributes
    ----------
    policy : str
        The policy with the weights that were found.
    weights : dict of str to float
    generations : tuple of Generation
        Those that were finished.
    before, match : Match or None
        Of the start and of what was found against the opponent, on deals not used before; None after Ctrl-C.
    interrupted : bool
    """

    plan: TunePlan
    policy: str
    weights: dict[str, float]
    generations: tuple[Generation, ...]
    before: Match | None = None
    match: Match | None = None
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        return self.plan.seed

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on how the games were played."""
        plan = self.plan
        matches = {"before": self.before, "match": self.match}
        return {
            "format": FORMAT,
            "start": plan.start.text,
            "opponent": plan.opponent,
            "policy": self.policy,
            "weights": self.weights,
            "seed": plan.seed,
            "rules": plan.test.run.rules.to_dict(),
            "candidates": plan.candidates,
            "games": plan.games,
            "interrupted": self.interrupted,
            "generations": [
                {"generation": each.number, "elite": each.elite, "all": each.everyone, "weights": each.weights}
                for each in self.generations
            ],
            **{
                name: None if match is None else {k: v for k, v in match.to_dict().items() if k != "run"}
                for name, match in matches.items()
            },
            "run": self.about,
        }

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def plan_tuning(
    policy: str = "plan",
    opponent: str = "greedy",
    *,
    generations: int | None = None,
    candidates: int | None = None,
    games: int | None = None,
    test_games: int | None = None,
    rules: Rules | None = None,
    seed: int | None = None,
) -> TunePlan:
    """Check what `tune` is asked for; the parameters are the same."""
    start = parse_policy(policy)
    own = start.file is not None or start.name not in PARAMETERS
    weights = dict(start.given) if own else PARAMETERS[start.name] | dict(start.given)
    if start.is_kernel or start.name in LEAST or not weights:
        raise AzulError(
            f"tune: {shown(policy)} has no weights; it takes plan, plan:column=1, or a policy of your own with the "
            "numbers to start from, mybots.py::careful:floor=2"
        )
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    seed = whole_number("seed", seed, 0, MAX_SEED)
    plan = TunePlan(
        start,
        weights,
        opponent,
        generations=whole_number("generations", _or(generations, GENERATIONS), 1, MAX_GENERATIONS),
        candidates=whole_number("candidates", _or(candidates, CANDIDATES), 4, MAX_CANDIDATES),
        games=whole_number("games", _or(games, GAMES), 2, MAX_GAMES),
        test=plan_match(
            policy, opponent, games=_or(test_games, TEST_GAMES), rules=rules, seed=(seed + 1) % (MAX_SEED + 1)
        ),
        seed=seed,
    )
    if plan.games % plan.test.run.players:
        raise AzulError(f"games must be a multiple of the {plan.test.run.players} players, not {plan.games}")
    return plan


def tune(
    policy: str = "plan",
    opponent: str = "greedy",
    *,
    generations: int | None = None,
    candidates: int | None = None,
    games: int | None = None,
    test_games: int | None = None,
    rules: Rules | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Improve the weights of a policy by playing; see the module for the method.

    Parameters
    ----------
    policy : str
        What to start from: ``"plan"``, ``"plan:column=1"``, or a policy of one's own with all its numbers.
    opponent : str
        Whom to beat; with 3 and 4 players it has all other seats.
    generations, candidates : int, optional
        20 generations of 24 candidates if not given.
    games : int, optional
        Games of each candidate, a multiple of the players; 240 if not given.
    test_games : int, optional
        Games of the match in the end, on other deals; 4,800 if not given.
    rules : Rules, optional
        Two players on the coloured wall if not given.
    seed : int, optional
        0 to 2^53 - 1; drawn if not given, see ``Tuning.seed``. The match in the end has the next one.
    threads : int, optional
        All processors that this process may use if not given; no figure depends on it.
    progress : callable, optional
        Called in this thread with each `Generation` when it is over.

    Returns
    -------
    Tuning
        After Ctrl-C what the finished generations found, with ``interrupted`` set.

    Raises
    ------
    AzulError
        (a ValueError) one line that names the value and what is allowed, before any game is played.
    """
    plan = plan_tuning(
        policy,
        opponent,
        generations=generations,
        candidates=candidates,
        games=games,
        test_games=test_games,
        rules=rules,
        seed=seed,
    )
    return run_tuning(plan, threads=threads, progress=progress)


def run_tuning(plan: TunePlan, *, threads: int | None = None, progress: Progress | None = None) -> Tuning:
    """Tune as planned; see `tune`."""
    import numpy as np

    threads = thread_count(threads)
    wall_clock, cpu_clock = time.perf_counter(), time.process_time()
    random = np.random.Generator(np.random.PCG64(plan.seed))
    mean = np.array(list(plan.weights.values()))
    first_spread = np.maximum(SPREAD * np.array(plan.sizes), LEAST_SPREAD)
    spread = first_spread
    found: list[Generation] = []
    matches: list[Match] = []
    weights, interrupted = plan.weights, False
    try:
        for number in range(plan.generations):
            tried = mean + spread * random.standard_normal((plan.candidates, len(mean)))
            shares, worths = _play(plan, tried, number, threads)
            order = np.argsort(-worths, kind="stable")[: max(2, round(ELITE * plan.candidates))]
            elite = tried[order]
            mean = (1 - SMOOTHING) * mean + SMOOTHING * elite.mean(axis=0)
            spread = np.maximum((1 - SMOOTHING) * spread + SMOOTHING * elite.std(axis=0), KEPT_SPREAD * first_spread)
            weights = _weights(plan, mean)
            found.append(Generation(number + 1, float(shares[order].mean()), float(shares.mean()), weights))
            if progress is not None:
                progress(found[-1])
        for policy in (plan.start.text, plan.named(weights)):
            matches.append(_whole(play_match(plan.match(policy), threads=threads)))
    except KeyboardInterrupt:
        interrupted = True
    about = {
        "seconds": round(time.perf_counter() - wall_clock, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "versions": versions(),
    }
    before, match = (*matches, None, None)[:2]
    return Tuning(plan, plan.named(weights), weights, tuple(found), before, match, interrupted, about)


def _play(
    plan: TunePlan, tried: NDArray[np.float64], number: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score share of each candidate on the deals of a generation, and what it is ranked by."""
    import numpy as np

    deals = replace(plan.test.run, games=plan.games, first_game=number * plan.games, seed=plan.seed)
    figures = []
    for candidate in tried:
        policy = plan.named(_weights(plan, candidate))
        run = replace(deals, policies=(policy, *deals.policies[1:]))
        match = _whole(play_match(replace(plan.test, run=run), threads=threads))
        figures.append((match.score_share.mean, match.margin.mean))
    shares, margins = np.array(figures).T
    return shares, shares + margins / MARGIN_SCALE


def _whole(match: Match) -> Match:
    """A match that was played to its end."""
    if match.interrupted:
        raise KeyboardInterrupt
    return match


def _weights(plan: TunePlan, values: NDArray[np.float64]) -> dict[str, float]:
    """The weights with as many digits as a policy's name has."""
    rounded = (float(f"{value:.{DIGITS}g}") for value in values.tolist())
    return dict(zip(plan.weights, rounded, strict=True))


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


# ------------------------------------------------------------------------------------------------------- how it looks
def _lines(tuning: Tuning) -> list[str]:
    from azul_fast.display import number

    plan = tuning.plan
    run = plan.test.run
    lines = [
        f"{plan.start.text} tuned against {plan.opponent}",
        f"{len(tuning.generations)} of {plan.generations} generations, {plan.candidates} candidates in each, "
        f"{plan.games:,} games a candidate · {run.rules.players} players · seed {plan.seed}",
    ]
    if tuning.interrupted:
        lines.append("Interrupted: these weights are the best so far, and not measured.")
    lines += ["", f"{'weight':<20}{'start':>10}{'found':>10}"]
    for name, value in tuning.weights.items():
        lines.append(f"{name:<20}{plan.weights[name]:>10g}{value:>10g}")
    if tuning.match is not None and tuning.before is not None:
        match = tuning.match
        lines += ["", f"Against {plan.opponent}, on deals that were not used before:"]
        lines += headline(run.rules, match.games, match.blocks, match.seed)
        lines.append(f"{'':<20}{'score share, %':>18}{'margin':>18}")
        for label, each in (("start", tuning.before), ("found", match)):
            lines.append(f"{label:<20}{number(each.score_share, percent=True):>18}{number(each.margin):>18}")
    return lines
