"""Matches: who is stronger, from games in which each deal is played in every rotation of the seats.

That block of games is the sample of every figure: luck of the deal and the worth of starting cancel inside it. The
first policy is one side, and all others together are the other. With 2 players a block is worth 0 to 2 to the first
side: a win 1, a shared win 1/2. With more players a win shared by k counts 1/k, and an equal share of the wins is that
of the side's seats.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azul_fast.batch import Progress, Run, describe, play, thread_count, versions
from azul_fast.elo import Elo, elo_difference, rounded, superiority
from azul_fast.errors import AzulError, shown
from azul_fast.rules import Rules
from azul_fast.sprt import Sprt, SprtResult
from azul_fast.stats import Estimate, Figures, Share, Starting, Statistics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azul_fast.tally import Seating

FORMAT = "azul-match/1"
GAMES = 1200  # a multiple of 2, 3 and 4
SPRT_GAMES = 120_000  # at most, where a test ends the match
WIN_UNITS = 12  # a won game in whole shares, however many share it
SIDE_FIGURES = (
    "score win_share outright shared margin placement_points floor_points clamp_points rows columns colors"
).split()


@dataclass(frozen=True)
class MatchPlan:
    """What is to be played; made by `plan_match`, which checks it."""

    run: Run
    sides: tuple[int, ...]  # 0 or 1 for each of the run's policies
    sprt: Sprt | None = None

    @property
    def own(self) -> int:
        """Seats of the first side."""
        return self.sides.count(0)

    @property
    def others(self) -> int:
        return self.sides.count(1)

    def seating(self) -> Seating:
        """The sides as a tally counts them."""
        from azul_fast.tally import Seating

        return Seating(policies=self.sides, rotations=self.run.rotations, first_player=int(self.run.first_player))

    def block_scores(self) -> tuple[int, ...]:
        """Every score of the first side that a block can have, in twelfths of a game."""
        winners = range(1, self.run.players + 1)
        game = {
            WIN_UNITS * own // k for k in winners for own in range(k + 1) if own <= self.own and k - own <= self.others
        }
        block = {0}
        for _ in range(self.run.rotations):
            block = {score + one for score in block for one in game}
        return tuple(sorted(block))


@dataclass(frozen=True)
class Match:
    """What came of a match; `str` draws it, `to_dict` is its JSON. All is seen from the first policy.

    Attributes
    ----------
    plan : MatchPlan
        What was played; ``plan.run.games`` games.
    stats : Statistics
        Of the two sides, and of the seat that starts.
    counts : tuple of int
        Blocks by each of `MatchPlan.block_scores`.
    test : SprtResult or None
    interrupted : bool
        Whether it was ended by Ctrl-C.
    """

    plan: MatchPlan
    stats: Statistics
    counts: tuple[int, ...]
    test: SprtResult | None = None
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def policies(self) -> tuple[str, ...]:
        """The first policy and the others, each once."""
        run = self.plan.run
        rest = [policy for policy, side in zip(run.policies, self.plan.sides, strict=True) if side]
        return (run.policies[0], *dict.fromkeys(rest))

    @property
    def games(self) -> int:
        return self.stats.games

    @property
    def blocks(self) -> int:
        """Blocks of games on one deal: the samples."""
        return self.stats.samples

    @property
    def seed(self) -> int:
        return self.plan.run.seed

    @cached_property
    def sides(self) -> tuple[Figures, Figures]:
        """Figures of the first policy and of all others, each per seat and game."""
        players = self.plan.run.players
        return self.stats._figures(players), self.stats._figures(players + 1)

    @property
    def score_share(self) -> Share:
        """Wins of one seat of the first policy; with 2 players a win counts 1 and a shared win 1/2."""
        return self.sides[0].win_share

    @property
    def equal_share(self) -> float:
        """What `score_share` is between equals."""
        return 1 / self.plan.run.players

    @property
    def margin(self) -> Estimate:
        """Points by which a seat of the first policy is ahead of the best other seat."""
        return self.sides[0].margin

    @cached_property
    def elo(self) -> Elo:
        own, others = self.plan.own, self.plan.others
        return elo_difference(self.score_share.scaled(own), own, others)

    @property
    def superiority(self) -> float | None:
        """Likelihood that the first policy is the stronger."""
        return superiority(self.score_share, self.equal_share)

    @property
    def shared_wins(self) -> Share:
        """Share of games with more than one winner."""
        return self.stats.share("shared_win")

    @property
    def starting(self) -> Starting:
        """Figures of the seat that starts, whoever holds it."""
        return self.stats.starting

    @property
    def pentanomial(self) -> tuple[int, ...] | None:
        """With 2 players: blocks in which the first policy scored 0, 1/2, 1, 3/2 and 2."""
        return self.counts if self.plan.run.players == 2 else None

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on how the games were played."""
        run = self.plan.run
        scores = (score / WIN_UNITS for score in self.plan.block_scores())
        counts = [[score, count] for score, count in zip(scores, self.counts, strict=True) if count]
        values: dict[str, Any] = {
            "format": FORMAT,
            "policies": list(self.policies),
            "seating": list(run.policies),
            "games": self.games,
            "blocks": self.blocks,
            "seed": run.seed,
            "rules": run.rules.to_dict(),
            "interrupted": self.interrupted,
            "score_share": self.score_share.to_dict(),
            "equal_share": self.equal_share,
            "margin": self.margin.to_dict(),
            "elo": self.elo.to_dict(),
            "superiority": rounded(self.superiority),
            "shared_win_share": self.shared_wins.to_dict(),
            "starting": self.starting.to_dict(),
            "block_scores": counts,
        }
        if self.pentanomial is not None:
            values["pentanomial"] = list(self.pentanomial)
        if self.test is not None:
            values["sprt"] = self.test.to_dict()
        values["sides"] = [
            {"policies": names, "seats": seats, **{name: _brief(getattr(side, name)) for name in SIDE_FIGURES}}
            for names, seats, side in zip(
                (list(self.policies[:1]), list(self.policies[1:])),
                (self.plan.own, self.plan.others),
                self.sides,
                strict=True,
            )
        ]
        return {**values, "run": self.about}

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        from azul_fast.display import html

        return html(self)


def plan_match(
    *policies: str,
    games: int | None = None,
    rules: Rules | None = None,
    seed: int | None = None,
    sprt: tuple[float, float] | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> MatchPlan:
    """Check what `match` is asked for; the parameters are the same."""
    if rules is not None and not isinstance(rules, Rules):
        raise AzulError(f"rules must be a Rules, not {shown(rules)}")
    players = (rules or Rules()).players
    seats: Sequence[str] = policies
    if len(policies) == 2:
        seats = (policies[0], *(policies[1],) * (players - 1))
    if len(seats) != players:
        or_more = " or one a seat," if players > 2 else ""
        given = " ".join(map(str, policies)) or "none"
        raise AzulError(f"a match of {players} players needs two policies,{or_more} not {len(policies)}: {given}")
    if len(policies) > 2 and len(set(policies)) == 1:
        raise AzulError(f"a match needs a second policy: {policies[0]} holds all {players} seats")
    test = None
    if sprt is not None:
        if isinstance(sprt, str) or not isinstance(sprt, Sequence) or len(sprt) != 2:
            raise AzulError(f"sprt must be two numbers, elo0 and elo1, not {shown(sprt)}")
        test = Sprt(*sprt, alpha=alpha, beta=beta)
    if games is None:
        games = GAMES if test is None else SPRT_GAMES
    run = describe(games, rules, seats, seed=seed, rotate=True)
    # Two policies are two sides even when they are the same: a test of the match itself.
    sides = (0, *(1,) * (players - 1)) if len(policies) == 2 else tuple(int(name != policies[0]) for name in policies)
    return MatchPlan(run, sides, test)


def match(
    *policies: str,
    games: int | None = None,
    rules: Rules | None = None,
    seed: int | None = None,
    threads: int | None = None,
    sprt: tuple[float, float] | None = None,
    alpha: float = 0.05,
    beta: float = 0.05,
    progress: Progress | None = None,
) -> Match:
    """Play two policies against each other, each deal in every rotation of the seats.

    Parameters
    ----------
    *policies : str
        Two: the first takes one seat, the second all others. Or one a seat: the first against all others.
    games : int, optional
        How many, a multiple of the players; 1,200 if not given, with `sprt` at most 120,000.
    rules : Rules, optional
        Two players on the coloured wall if not given.
    seed : int, optional
        0 to 2^53 - 1; drawn if not given, see ``Match.seed``.
    threads : int, optional
        All processors that this process may use if not given.
    sprt : (float, float), optional
        Elo differences ``(elo0, elo1)``: the match ends as soon as one of them is accepted, at the same game whatever
        the number of threads.
    alpha, beta : float
        Greatest chance to accept `elo1` where `elo0` is true, and the other way round.
    progress : callable, optional
        Called in this thread as ``progress(done, games)``.

    Returns
    -------
    Match
        After Ctrl-C that of the first games, with ``interrupted`` set.

    Raises
    ------
    AzulError
        (a ValueError) one line that names the value and what is allowed, before any game is played.
    """
    plan = plan_match(*policies, games=games, rules=rules, seed=seed, sprt=sprt, alpha=alpha, beta=beta)
    return play_match(plan, threads=threads, progress=progress)


def play_match(
    plan: MatchPlan, *, threads: int | None = None, chunk_games: int | None = None, progress: Progress | None = None
) -> Match:
    """Play a match; see `match`. `chunk_games` is for tests: no figure depends on it."""
    threads = thread_count(threads)
    wall_clock, cpu_clock = time.perf_counter(), time.process_time()
    sheet = _Sheet(plan)
    interrupted = False
    try:
        interrupted = play(
            plan.run, threads=threads, chunk_games=chunk_games, progress=progress, on_chunk=sheet.add
        ).interrupted
    except _Decided:
        pass
    seconds = time.perf_counter() - wall_clock
    about = {
        "games_per_s": round(sheet.tally.games / seconds),
        "seconds": round(seconds, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "games_asked": plan.run.games,
        "versions": versions(),
    }
    plan = replace(plan, run=replace(plan.run, games=sheet.tally.games))
    counts = tuple(sheet.counts.tolist())
    return Match(plan, Statistics(plan.run, sheet.tally), counts, sheet.test, interrupted, about)


class _Decided(Exception):
    """The test has accepted a hypothesis: no more games are needed."""


class _Sheet:
    """Adds up the games as they come, in order, and ends the match at the block that decides its test."""

    def __init__(self, plan: MatchPlan) -> None:
        import numpy as np

        from azul_fast.tally import Tally

        self.plan = plan
        self.seating = plan.seating()
        self.tally = Tally.empty(self.seating)
        self.scores = np.array(plan.block_scores())
        self.counts = np.zeros(len(self.scores), np.int64)
        self.test = None if plan.sprt is None else SprtResult(plan.sprt, 0.0, None)

    def add(self, first: int, games: int, results: NDArray[np.int32]) -> None:
        """Count games `first` to `first` + `games` - 1."""
        import numpy as np

        from azul_fast.tally import Tally

        plan, rotations = self.plan, self.plan.run.rotations
        index = np.searchsorted(self.scores, self._totals(games, results))
        test = self.test
        if plan.sprt is not None:
            seen = self.counts + np.cumsum(index[:, None] == np.arange(len(self.scores)), axis=0)
            share = self.scores / (WIN_UNITS * rotations)
            decided = plan.sprt.accepted(seen, share, plan.own, plan.others)
            ends = np.flatnonzero(decided >= 0)
            last = int(ends[0]) if len(ends) else len(decided) - 1
            accepted = f"H{decided[last]}" if len(ends) else None
            ratio = float(plan.sprt.ratio(seen[last], share, plan.own, plan.others))
            test = SprtResult(plan.sprt, ratio, accepted)
            index, games = index[: last + 1], (last + 1) * rotations
        counts = self.counts + np.bincount(index, minlength=len(self.scores))
        tally = self.tally + Tally.of(results, games, self.seating, first)
        self.counts, self.tally, self.test = counts, tally, test
        if test is not None and test.accepted is not None:
            raise _Decided

    def _totals(self, games: int, results: NDArray[np.int32]) -> NDArray[np.int64]:
        """Score of the first side in each block, in twelfths of a game."""
        import numpy as np

        from azul_fast.engine.layout import OUT_ROWS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS

        players, rotations = self.plan.run.players, self.plan.run.rotations
        seats = results[OUT_SEATS : OUT_SEATS + players * OUT_SEAT_ROWS, :games].reshape(players, OUT_SEAT_ROWS, -1)
        rank = 8 * seats[:, OUT_SCORE].astype(np.int64) + seats[:, OUT_ROWS]  # rows: 0 to 5
        wins = rank == rank.max(axis=0)  # [players, games]
        own = np.array([[self.plan.sides[(s + r) % players] == 0 for r in range(rotations)] for s in range(players)])
        own = np.tile(own, games // rotations)
        total: NDArray[np.int64] = (
            (WIN_UNITS * (wins & own).sum(axis=0) // wins.sum(axis=0)).reshape(-1, rotations).sum(axis=1)
        )
        return total


def _brief(estimate: Estimate) -> dict[str, Any]:
    """A figure without quantiles and histogram."""
    return Estimate.to_dict(estimate)


# ------------------------------------------------------------------------------------------------------- how it looks
def headline(rules: Rules, games: int, blocks: int, seed: int) -> list[str]:
    """What was played, in two lines."""
    wall = "coloured wall" if rules.wall == "fixed" else "gray wall"
    overflow = "overflow to the lid" if rules.overflow == "lid" else "overflow removed from the game"
    variant = f"{rules.players} players · {wall} · {overflow} · {rules.max_rounds:,} rounds at most"
    return [
        f"{games:,} games · {variant} · seed {seed}",
        f"Each deal is played in all {rules.players} rotations of the seats: {blocks:,} samples. "
        "± is one standard error.",
    ]


def _lines(match: Match) -> list[str]:
    from azul_fast.display import number

    plan, players = match.plan, match.plan.run.players
    seats = "" if players == 2 else f" ({plan.own} of {players} seats)"
    lines = [f"{match.policies[0]}{seats} against {', '.join(match.policies[1:])}"]
    lines += headline(plan.run.rules, match.games, match.blocks, match.seed)
    if match.interrupted:
        lines.append(f"Interrupted: {match.about.get('games_asked', match.games):,} games were asked for.")
    lines.append("")

    def row(label: str, value: str, note: str = "") -> None:
        lines.append(f"{label:<31}{value:>15}   {note}".rstrip())

    interval = match.score_share.ci95
    between = "" if interval is None else f"95%: {100 * interval[0]:.2f} to {100 * interval[1]:.2f}"
    row("score share, %", number(match.score_share, percent=True), between)
    if players > 2:
        row("  equal share", f"{100 * match.equal_share:.2f}", "a win shared by k counts 1/k")
        row("  each seat of the others", number(match.sides[1].win_share, percent=True))
    row("margin", number(match.margin), "" if players == 2 else "to the best other seat")
    row("Elo difference", *_elo(match.elo))
    if match.superiority is not None:
        row("likelihood of superiority, %", f"{100 * match.superiority:.2f}")
    row("games with a shared win, %", number(match.shared_wins, percent=True))
    row("wins of the starting seat, %", number(match.starting.win_share, percent=True))
    if match.pentanomial is not None:
        counts = zip(("0", "1/2", "1", "3/2", "2"), match.pentanomial, strict=True)
        lines.append("blocks by score: " + ", ".join(f"{score} in {count:,}" for score, count in counts))
    if match.test is not None:
        test = match.test.test
        lines += [
            "",
            f"SPRT of Elo {test.elo0:g} (H0) against {test.elo1:g} (H1), alpha {test.alpha:g}, beta {test.beta:g}: "
            f"log-likelihood ratio {match.test.ratio:.2f}",
            f"{match.test.reason[0].upper()}{match.test.reason[1:]}, after {match.blocks:,} blocks.",
        ]
    return lines


def _elo(elo: Elo) -> tuple[str, str]:
    """The difference and its interval, or why there is none."""
    if elo.mean is None and elo.low is None and elo.high is None:
        return "unknown", elo.note or ""
    if elo.mean is None:
        return f"at least {elo.low:+.0f}" if elo.low is not None else f"at most {elo.high:+.0f}", elo.note or ""
    if elo.low is None or elo.high is None or elo.se is None:
        return f"{elo.mean:+.1f}", elo.note or ""
    return f"{elo.mean:+.1f} ±{elo.se:.1f}", f"95%: {elo.low:+.1f} to {elo.high:+.1f}"
