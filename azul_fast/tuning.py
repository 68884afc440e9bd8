"""Better weights for a policy, found by playing: the cross-entropy method.

Each generation draws candidates from normal distributions, one a weight, and plays every candidate against the
opponents on the same deals, each in every rotation of the seats. Mean and deviation then move towards those of the best
candidates (the elite). Deals are new in every generation, so that no candidate is kept for the luck of a few; in the
end start and mean each play a match on deals of their own, and that is the result.

Candidates are ranked by score share plus margin / `MARGIN_SCALE`, the mean over the opponents: the margin tells more
of a few games than who won them, and the share is what counts. The opponent `SELF` is the mean of the generation
before, so that what is found is not good against one other policy alone; in the end the start stands for it.

Source: R. Rubinstein, "The cross-entropy method for combinatorial and continuous optimization", Methodology and
Computing in Applied Probability 1 (1999) 127-190; smoothing as in P.-T. de Boer et al., "A tutorial on the
cross-entropy method", Annals of Operations Research 134 (2005) 19-67, section 5; the deviations keep a share of their
start, after I. Szita and A. Lőrincz, "Learning Tetris using the noisy cross-entropy method", Neural Computation 18
(2006) 2936-2941.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
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
OPPONENT = "greedy"
GENERATIONS, CANDIDATES, GAMES, TEST_GAMES = 20, 24, 240, 4800
MAX_GENERATIONS, MAX_CANDIDATES, MAX_GAMES = 10_000, 10_000, 10_000_000
ELITE = 1 / 4  # of the candidates
SMOOTHING = 0.7  # how far mean and deviation move in a generation
SPREAD, LEAST_SPREAD = 0.5, 0.1  # first deviation: a share of a weight's size, and at least this
KEPT_SPREAD = 0.1  # of the first deviation: no weight stops moving
MARGIN_SCALE = 100  # points
SELF = "self"  # an opponent
DIGITS = 3  # of a weight, so that the name of a policy can be read


@dataclass(frozen=True)
class Generation:
    """What a generation came to.

    Attributes
    ----------
    number : int
        From 1.
    elite, everyone : float
        Score share against the opponents of the best candidates, which decide the next generation, and of all.
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
    opponents: tuple[str, ...]
    generations: int
    candidates: int
    games: int  # of a candidate against each opponent
    tests: tuple[MatchPlan, ...]  # of the start against each opponent in the end
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

    @property
    def rules(self) -> Rules:
        return self.tests[0].run.rules


@dataclass(frozen=True)
class Test:
    """The matches in the end against one opponent: of the start (None against itself), and of what was found."""

    opponent: str
    before: Match | None
    match: Match

    def to_dict(self) -> dict[str, Any]:
        matches = {"before": self.before, "match": self.match}
        return {"opponent": self.opponent} | {
            name: None if match is None else {k: v for k, v in match.to_dict().items() if k != "run"}
            for name, match in matches.items()
        }


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
    tests : tuple of Test
        Of the start and of what was found against each opponent, on deals not used before; none after Ctrl-C.
    interrupted : bool
    """

    plan: TunePlan
    policy: str
    weights: dict[str, float]
    generations: tuple[Generation, ...]
    tests: tuple[Test, ...] = ()
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        return self.plan.seed

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on how the games were played."""
        plan = self.plan
        return {
            "format": FORMAT,
            "start": plan.start.text,
            "opponents": list(plan.opponents),
            "policy": self.policy,
            "weights": self.weights,
            "seed": plan.seed,
            "rules": plan.rules.to_dict(),
            "candidates": plan.candidates,
            "games": plan.games,
            "interrupted": self.interrupted,
            "generations": [
                {"generation": each.number, "elite": each.elite, "all": each.everyone, "weights": each.weights}
                for each in self.generations
            ],
            "tests": [test.to_dict() for test in self.tests],
            "run": self.about,
        }

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        from azul_fast.display import html

        return html(self)


def plan_tuning(
    policy: str = "plan",
    opponents: str | Sequence[str] = OPPONENT,
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
            f"{shown(policy)} has no weights to tune; it takes plan, plan:column=1, or a policy of your own with the "
            "numbers to start from, mybots.py::careful:floor=2"
        )
    names = (opponents,) if isinstance(opponents, str) else tuple(opponents)
    if not names or len(set(names)) < len(names):
        raise AzulError(f"opponents: at least one, and each once, not {shown(list(names))}")
    if seed is None:
        seed = secrets.randbelow(MAX_SEED + 1)
    seed = whole_number("seed", seed, 0, MAX_SEED)
    test_games = whole_number("test games", _or(test_games, TEST_GAMES), 1, MAX_GAMES)
    plan = TunePlan(
        start,
        weights,
        names,
        generations=whole_number("generations", _or(generations, GENERATIONS), 1, MAX_GENERATIONS),
        candidates=whole_number("candidates", _or(candidates, CANDIDATES), 4, MAX_CANDIDATES),
        games=whole_number("games", _or(games, GAMES), 2, MAX_GAMES),
        tests=tuple(
            plan_match(
                policy,
                policy if name == SELF else name,
                games=test_games,
                rules=rules,
                seed=(seed + 1) % (MAX_SEED + 1),
            )
            for name in names
        ),
        seed=seed,
    )
    if plan.games % plan.rules.players:
        raise AzulError(f"games must be a multiple of the {plan.rules.players} players, not {plan.games}")
    return plan


def tune(
    policy: str = "plan",
    opponents: str | Sequence[str] = OPPONENT,
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
    opponents : str or sequence of str
        Whom to beat; with 3 and 4 players it has all other seats. ``"self"``: the weights found so far.
    generations, candidates : int, optional
        20 generations of 24 candidates if not given.
    games : int, optional
        Games of each candidate against each opponent, a multiple of the players; 240 if not given.
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
        opponents,
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
    tests: list[Test] = []
    weights, interrupted = plan.weights, False
    try:
        for number in range(plan.generations):
            tried = mean + spread * random.standard_normal((plan.candidates, len(mean)))
            shares, worths = _play(plan, tried, weights, number, threads)
            order = np.argsort(-worths, kind="stable")[: max(2, round(ELITE * plan.candidates))]
            elite = tried[order]
            mean = (1 - SMOOTHING) * mean + SMOOTHING * elite.mean(axis=0)
            spread = np.maximum((1 - SMOOTHING) * spread + SMOOTHING * elite.std(axis=0), KEPT_SPREAD * first_spread)
            weights = _weights(plan, mean)
            found.append(Generation(number + 1, float(shares[order].mean()), float(shares.mean()), weights))
            if progress is not None:
                progress(found[-1])
        for name, test in zip(plan.opponents, plan.tests, strict=True):
            before = None if name == SELF else _whole(play_match(test, threads=threads))
            tests.append(Test(name, before, _whole(play_match(_seated(test, plan.named(weights)), threads=threads))))
    except KeyboardInterrupt:
        interrupted = True
    about = {
        "seconds": round(time.perf_counter() - wall_clock, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "versions": versions(),
    }
    return Tuning(
        plan, plan.named(weights), weights, tuple(found), () if interrupted else tuple(tests), interrupted, about
    )


def _seated(match: MatchPlan, policy: str, opponent: str | None = None) -> MatchPlan:
    """The match with another first policy, and another opponent where one is given."""
    run = match.run
    others = run.policies[1:] if opponent is None else (opponent,) * (run.players - 1)
    return replace(match, run=replace(run, policies=(policy, *others)))


def _play(
    plan: TunePlan, tried: NDArray[np.float64], weights: dict[str, float], number: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score share of each candidate on the deals of a generation, and what it is ranked by."""
    import numpy as np

    figures = np.zeros((len(plan.opponents), len(tried), 2))
    for name, test, found in zip(plan.opponents, plan.tests, figures, strict=True):
        run = replace(test.run, games=plan.games, first_game=number * plan.games, seed=plan.seed)
        deals, opponent = replace(test, run=run), plan.named(weights) if name == SELF else None
        for i, candidate in enumerate(tried):
            match = _whole(play_match(_seated(deals, plan.named(_weights(plan, candidate)), opponent), threads=threads))
            found[i] = match.score_share.mean, match.margin.mean
    shares, margins = figures.mean(axis=0).T
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
    lines = [
        f"{plan.start.text} tuned against {', '.join(plan.opponents)}",
        f"{len(tuning.generations)} of {plan.generations} generations, {plan.candidates} candidates in each, "
        f"{plan.games:,} games a candidate{' and opponent' if len(plan.opponents) > 1 else ''} · "
        f"{plan.rules.players} players · seed {plan.seed}",
    ]
    if tuning.interrupted:
        lines.append("Interrupted: these weights are the best so far, and not measured.")
    lines += ["", f"{'weight':<20}{'start':>10}{'found':>10}"]
    for name, value in tuning.weights.items():
        lines.append(f"{name:<20}{plan.weights[name]:>10g}{value:>10g}")
    if tuning.tests:
        match = tuning.tests[0].match
        lines += ["", "On deals that were not used before:"]
        lines += headline(plan.rules, match.games, match.blocks, match.seed)
    for test in tuning.tests:
        opponent = "the start" if test.opponent == SELF else test.opponent
        lines.append(f"{f'against {opponent}':<20}{'score share, %':>18}{'margin':>18}")
        for label, each in (("start", test.before), ("found", test.match)):
            if each is not None:
                lines.append(f"{label:<20}{number(each.score_share, percent=True):>18}{number(each.margin):>18}")
    return lines
