"""A game looked at again: what every move gave away, what every deal brought, and where the game turned.

**The judge.** With an engine that searches (`search`, `mcts`), every move of a position is first valued by a search of
the rest of the round; the few best, and the one that was played, are candidates. The engine plays each of them on to
the end of the round, once. If the game ends there, that is what the move was worth, exactly; if it goes on, `plan`
plays it on many times (rollouts). Any other engine plays the rollouts itself, from right after the move, and the
candidates are those that do best in the first few. Both seats are taken to play equally well.

**One value for one position.** Within a round nothing is drawn, so the win share after a move is that of the position
before the next one. It is taken back from there, from the end of the round on: a position is worth what the better is
of the move that was played (by the value of the next position) and the best other (by the best of the candidates that
answer it). So the curve jumps with moves and deals alone. What the judge itself overlooks is in no standard error.

Rollout i of every position meets the same random numbers (common random numbers), so the candidates of a move, and the
same round's end reached in several ways, are compared on what they do and not on what was drawn.

**No figure is flattered.** Rollouts with an even number choose the best candidate, those with an odd number measure:
win shares, margins and what a move gave away (the paired difference to the best) are theirs alone. So a loss is right
in the mean, and may come out a little below 0.

**Deals.** What the win share is at a round's end, before anyone knows the next deal, and what it is after that deal is
luck; what changes with a move is play. With an engine that searches, a deal is worth what the position after it is. So
the account of a game is whole: the win share at its start, what the deals brought, less what the own moves gave away,
and what the others' did, is the result.

**Sums** over a game (luck, what all moves gave away) are of rollouts that share their random numbers, so their standard
errors are those of the sum in each rollout, not of parts that are taken as independent.

**Accuracy** of a player is the mean over all moves with a choice of 103.1668 exp(-0.04354 x) - 3.1669, with x the loss
in percent of win share: the curve of lichess (https://lichess.org/page/accuracy), 100 for moves that lose nothing.
Noise would raise it, as the curve is bent: with a normal error of standard deviation s, the mean of exp(-c x) is too
large by the factor exp(c^2 s^2 / 2), which is divided out. Only the mean is held to 0 ... 100.
"""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from azul_fast.batch import WAKE_SECONDS, sigint_to, thread_count, versions, whole_number
from azul_fast.errors import AzulError
from azul_fast.evaluation import FIRST_ROLLOUT
from azul_fast.game import Game
from azul_fast.notation import Move, format_move
from azul_fast.policies import PolicySpec, parse_policy
from azul_fast.policies.defaults import SEARCH
from azul_fast.position import Position
from azul_fast.records import replay
from azul_fast.rules import CENTER, MAX_SEED
from azul_fast.stats import Estimate

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console, ConsoleOptions, RenderableType

FORMAT = "azul-review/1"
ENGINE = "search:nodes=20000"
SEARCHERS = ("search", "mcts")
ROLLER = "plan"  # plays the rollouts from a round's end
BUDGET = 12_000  # rollouts of a position
MIN_BUDGET, MAX_BUDGET = 40, 10**8
CANDIDATES = 4  # and the move that was played
CANDIDATE_RANGE = 0.2  # of a win share: a move that the search puts so far behind is none
RANKING_SHARE = 0.25  # of the budget finds the candidates where no search does
TURNING_LOSS, TURNING_ERRORS, TURNING_POINTS = 0.05, 2.0, 5  # a win share; standard errors; at most so many
CURVE = 4.354  # of the accuracy: 0.04354 for each percent of a win share
MISTAKE, BLUNDER = 0.05, 0.15  # of a win share, as in ``?`` and ``??``
LONG_NAME = 60  # characters of a player's name that are shown
ROLLOUT_PART = 500  # of one call of the kernel

Progress = Callable[[int, int], None]  # (positions judged, positions in all)


def accuracy_of(loss: Estimate) -> Estimate:
    """Accuracy, in percent, of a move that gave away so much of a win share; see the module."""
    error = CURVE * (loss.se or 0.0)
    height = 103.1668 * math.exp(-CURVE * loss.mean - error * error / 2)
    return Estimate(height - 3.1669, height * error)


# ------------------------------------------------------------------------------------------------------ what is asked
@dataclass(frozen=True)
class ReviewPlan:
    """What is to be reviewed, and how; made by `plan_review`, which checks it."""

    game: Game
    engine: PolicySpec
    budget: int
    seed: int

    @property
    def is_searched(self) -> bool:
        """Whether the engine plays the rest of the round, and `plan` what follows."""
        return self.engine.file is None and self.engine.name in SEARCHERS

    @property
    def roller(self) -> str:
        """Who plays the rollouts."""
        return ROLLER if self.is_searched else self.engine.text

    @property
    def rollouts(self) -> int:
        """Of each candidate, an even number."""
        share = 1.0 if self.is_searched else 1.0 - RANKING_SHARE
        return 2 * max(2, round(share * self.budget / (2 * (CANDIDATES + 1))))


def plan_review(
    record: Game | Mapping[str, Any] | str | bytes,
    *,
    engine: str = ENGINE,
    budget: int | None = None,
    seed: int | None = None,
) -> ReviewPlan:
    """Check what `review` is asked for; the parameters are the same."""
    spec = parse_policy(engine)
    if dict(spec.given).get("time", 0) > 0:
        raise AzulError(f"engine {spec.text}: a time limit cannot be repeated; a review needs nodes or playouts")
    budget = whole_number("budget", BUDGET if budget is None else budget, MIN_BUDGET, MAX_BUDGET)
    seed = secrets.randbelow(MAX_SEED + 1) if seed is None else whole_number("seed", seed, 0, MAX_SEED)
    game = record if isinstance(record, Game) else replay(record)
    if not any(event.action >= 0 for event in game._history):
        raise AzulError("review: no move was played in this game")
    return ReviewPlan(game, spec, budget, seed)


# -------------------------------------------------------------------------------------------------------- the answer
@dataclass(frozen=True)
class Candidate:
    """A move that was looked at: win share and margin (points) of the seat to act, as the engine carries it on."""

    move: str
    win_share: Estimate
    margin: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {"move": self.move, "win_share": self.win_share.to_dict(), "margin": self.margin.to_dict()}


@dataclass(frozen=True)
class ReviewedMove:
    """A move that was played, and what the judge says about it.

    Attributes
    ----------
    ply : int
        Of the game, from 1.
    round : int
    seat : int
    position : str
        Before it.
    move, best : str
        Played; and the best that was found, which may be the same.
    choices : int
        Legal moves, those that differ only in which of several equal factories they take from counted once.
    before, after : tuple of Estimate
        [seat] win shares if the best move is played, and after the one that was.
    loss, points_lost : Estimate
        Win share and margin (points) that it gave away against the best, of the seat that moved.
    exact : bool
        Whether both were played out to the end of the game, without chance.
    candidates : tuple of Candidate
        What there was to choose from, best first; the best and the played one were then looked at once more.
    """

    ply: int
    round: int
    seat: int
    position: str
    move: str
    best: str
    choices: int
    before: tuple[Estimate, ...]
    after: tuple[Estimate, ...]
    loss: Estimate
    points_lost: Estimate
    exact: bool
    candidates: tuple[Candidate, ...]
    _losses: tuple[np.ndarray, np.ndarray] = field(repr=False, compare=False)  # `loss`, `points_lost` in each rollout

    @property
    def accuracy(self) -> Estimate | None:
        """In percent; None where there was no choice."""
        return accuracy_of(self.loss) if self.choices > 1 else None

    @property
    def mark(self) -> str:
        """``??`` a blunder, ``?`` a mistake, both beyond two standard errors; else empty."""
        if self.loss.mean <= TURNING_ERRORS * (self.loss.se or 0.0):
            return ""
        return "??" if self.loss.mean >= BLUNDER else "?" if self.loss.mean >= MISTAKE else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "ply": self.ply,
            "round": self.round,
            "seat": self.seat,
            "position": self.position,
            "move": self.move,
            "best": self.best,
            "choices": self.choices,
            "before": [share.to_dict() for share in self.before],
            "after": [share.to_dict() for share in self.after],
            "loss": self.loss.to_dict(),
            "points_lost": self.points_lost.to_dict(),
            "exact": self.exact,
            "mark": self.mark,
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


@dataclass(frozen=True)
class ReviewedDeal:
    """A deal, and what it did to the win share of each seat.

    Attributes
    ----------
    round : int
    deal : str
    before, after : tuple of Estimate
        [seat] win shares when the round before had ended, and with this deal on the table.
    """

    round: int
    deal: str
    before: tuple[Estimate, ...]
    after: tuple[Estimate, ...]
    _gains: np.ndarray = field(repr=False, compare=False)  # [player, rollout]

    def gain(self, seat: int) -> Estimate:
        """Win share that it brought to a seat."""
        return _estimate(self._gains[seat])

    def to_dict(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "deal": self.deal,
            "before": [share.to_dict() for share in self.before],
            "after": [share.to_dict() for share in self.after],
            "gain": [self.gain(seat).to_dict() for seat in range(len(self.after))],
        }


@dataclass(frozen=True)
class Player:
    """A seat's game in a few figures.

    Attributes
    ----------
    seat : int
    moves : int
        With a choice.
    accuracy : Estimate or None
        In percent; the errors of the moves are taken as independent.
    loss, points_lost : Estimate
        Mean of a move: win share and points.
    given_away, luck : Estimate
        In all moves and by all deals, of the win share.
    """

    seat: int
    moves: int
    accuracy: Estimate | None
    loss: Estimate
    points_lost: Estimate
    given_away: Estimate
    luck: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {
            "seat": self.seat,
            "moves": self.moves,
            "accuracy": None if self.accuracy is None else self.accuracy.to_dict(),
            "loss": self.loss.to_dict(),
            "points_lost": self.points_lost.to_dict(),
            "given_away": self.given_away.to_dict(),
            "luck": self.luck.to_dict(),
        }


@dataclass(frozen=True)
class Review:
    """A reviewed game; `str` draws it, `to_dict` is its JSON, `to_html` a page.

    Attributes
    ----------
    plan : ReviewPlan
    moves : tuple of ReviewedMove
        All of them, in order.
    deals : tuple of ReviewedDeal
    interrupted : bool
        Whether Ctrl-C ended it: then only the last moves are there, the judge begins at the end.
    """

    plan: ReviewPlan
    moves: tuple[ReviewedMove, ...]
    deals: tuple[ReviewedDeal, ...]
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        return self.plan.seed

    @property
    def names(self) -> list[str]:
        """[seat] who played, as the record says, or ``seat 0``."""
        players = self.plan.game.rules.players
        given = self.plan.game._notes.get("policies")
        if isinstance(given, list) and len(given) == players and all(isinstance(name, str) for name in given):
            return [f"seat {seat} ({_printable(name)})" for seat, name in enumerate(given)]
        return [f"seat {seat}" for seat in range(players)]

    @property
    def turning_points(self) -> tuple[ReviewedMove, ...]:
        """The moves that gave away most, in the order of the game."""
        found = [
            move
            for move in self.moves
            if move.loss.mean >= TURNING_LOSS and move.loss.mean > TURNING_ERRORS * (move.loss.se or 0.0)
        ]
        worst = sorted(found, key=lambda move: (-move.loss.mean, move.ply))[:TURNING_POINTS]
        return tuple(sorted(worst, key=lambda move: move.ply))

    @property
    def players(self) -> tuple[Player, ...]:
        return tuple(self._player(seat) for seat in range(self.plan.game.rules.players))

    def _player(self, seat: int) -> Player:
        own = [move for move in self.moves if move.seat == seat and move.choices > 1]
        given_away = _total(move._losses[0] for move in own)
        share = 1 / len(own) if own else 0.0
        return Player(
            seat=seat,
            moves=len(own),
            accuracy=_mean_accuracy([accuracy_of(move.loss) for move in own]) if own else None,
            loss=given_away.scaled(share),
            points_lost=_total(move._losses[1] for move in own).scaled(share),
            given_away=given_away,
            luck=_total(deal._gains[seat] for deal in self.deals),
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on the threads."""
        plan = self.plan
        return {
            "format": FORMAT,
            "rules": plan.game.rules.to_dict(),
            "players": [{"name": name, **p.to_dict()} for name, p in zip(self.names, self.players, strict=True)],
            "engine": plan.engine.text,
            "rollouts_by": plan.roller,
            "budget": plan.budget,
            "seed": plan.seed,
            "interrupted": self.interrupted,
            "moves": [move.to_dict() for move in self.moves],
            "deals": [deal.to_dict() for deal in self.deals],
            "turning_points": [move.ply for move in self.turning_points],
            "result": plan.game.result(),
            "run": self.about,
        }

    def to_html(self) -> str:
        """One page that needs nothing else: the win-share curve, turning points, deals and all moves."""
        from azul_fast.review_page import page

        return page(self)

    def __str__(self) -> str:
        from azul_fast.review_drawing import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from azul_fast.review_page import figure

        return figure(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from azul_fast.review_drawing import drawing

        yield drawing(self)


def _printable(name: str) -> str:
    """A name from a record, fit for a terminal."""
    text = "".join(sign if sign.isprintable() else "?" for sign in name)
    return text if len(text) <= LONG_NAME else text[: LONG_NAME - 1] + "…"


def _mean_accuracy(moves: list[Estimate]) -> Estimate:
    mean = sum(each.mean for each in moves) / len(moves)
    return Estimate(min(100.0, max(0.0, mean)), math.hypot(*(each.se or 0.0 for each in moves)) / len(moves))


def review(
    record: Game | Mapping[str, Any] | str | bytes,
    *,
    engine: str = ENGINE,
    budget: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Review:
    """Judge every move and every deal of a game; see the module for how.

    Parameters
    ----------
    record : Game, mapping, str or bytes
        A game with its history, a record, or its JSON.
    engine : str
        The judge: ``"search:nodes=20000"``, ``"mcts"``, or any policy, which then plays rollouts from every move.
    budget : int, optional
        Rollouts a position, shared among its candidates; 12,000 if not given.
    seed : int, optional
        0 to 2^53 - 1; drawn if not given, see ``Review.seed``.
    threads : int, optional
        All processors that this process may use if not given; no figure depends on it.
    progress : callable, optional
        Called in this thread as ``progress(positions judged, positions in all)``.

    Returns
    -------
    Review
        After Ctrl-C of the last moves of the game, with ``interrupted`` set.

    Raises
    ------
    AzulError
        (a ValueError) one line that names what is wrong, before anything is judged.
    """
    return run_review(plan_review(record, engine=engine, budget=budget, seed=seed), threads=threads, progress=progress)


def run_review(plan: ReviewPlan, *, threads: int | None = None, progress: Progress | None = None) -> Review:
    """Review as planned; see `review`.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before a move was judged.
    """
    threads = thread_count(threads)
    wall_clock, cpu_clock = time.perf_counter(), time.process_time()
    judge = _Judge(plan)
    looks: dict[int, _Look] = {}
    deals: dict[int, tuple[_Outcome, _Outcome | None]] = {}
    pool = ThreadPoolExecutor(threads, "azul")
    try:
        with sigint_to(judge.interrupt):
            tasks: dict[Future[Any], int] = {}
            for number, event in reversed(list(enumerate(plan.game._history))):
                work = judge.deal if event.action < 0 else judge.look
                tasks[pool.submit(work, number)] = number
            waiting = set(tasks)
            while waiting and not judge.stopped:
                done, waiting = wait(waiting, WAKE_SECONDS, FIRST_EXCEPTION)
                for task in done:
                    number, found = tasks[task], task.result()
                    if isinstance(found, _Look):
                        looks[number] = found
                    elif found is not None:
                        deals[number] = found
                if progress is not None:
                    progress(len(tasks) - len(waiting), len(tasks))
    finally:
        interrupted = judge.stopped
        judge.interrupt()  # those that are still at work, after a failure
        pool.shutdown(wait=not interrupted, cancel_futures=True)
    judged = list(judge.moves(looks))
    if not judged:
        raise KeyboardInterrupt
    values = {number: value for number, value, _ in judged}
    about = {
        "seconds": round(time.perf_counter() - wall_clock, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "versions": versions(),
    }
    return Review(
        plan,
        tuple(move for _, _, move in reversed(judged)),
        tuple(judge.deals(deals, values)),
        interrupted,
        about,
    )


# ---------------------------------------------------------------------------------------------------------- the judge
class _Stopped(Exception):
    """Ctrl-C: what was being judged is left out."""


@dataclass(frozen=True)
class _Outcome:
    """What rollouts from a position came to: float64 [players, rollouts], or [players, 1] where the game is over."""

    wins: np.ndarray
    margins: np.ndarray

    @property
    def is_exact(self) -> bool:
        return bool(self.wins.shape[1] == 1)

    def chosen(self, seat: int) -> tuple[float, float]:
        """Mean win share and margin in the rollouts that choose."""
        return float(self.wins[seat, ::2].mean()), float(self.margins[seat, ::2].mean())

    def shares(self) -> tuple[Estimate, ...]:
        return tuple(_share(self._measured(wins)) for wins in self.wins)

    def margin(self, seat: int) -> Estimate:
        return _estimate(self._measured(self.margins[seat]))

    def _measured(self, values: np.ndarray) -> np.ndarray:
        return values if self.is_exact else values[..., 1::2]

    def less(self, other: _Outcome) -> tuple[np.ndarray, np.ndarray]:
        """Win shares and margins [player, rollout], less those of another outcome: paired where both have rollouts."""
        wins = self._measured(self.wins) - other._measured(other.wins)
        return wins, self._measured(self.margins) - other._measured(other.margins)


def _total(parts: Iterator[np.ndarray]) -> Estimate:
    """The sum of values of the same rollouts, [rollouts] or [1] where they are exact."""
    import numpy as np

    return _estimate(sum(parts, np.zeros(1)))


def _estimate(values: np.ndarray) -> Estimate:
    """Mean and standard error."""
    if len(values) == 1:
        return Estimate(float(values[0]), 0.0)
    return Estimate(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def _share(values: np.ndarray) -> Estimate:
    """A win share. Where all rollouts agree it is not certain: by the rule of succession the error is about 1 / n."""
    found = _estimate(values)
    if found.se == 0 and len(values) > 1:
        n = len(values)
        return Estimate(found.mean, math.sqrt((n + 1) / (n + 3)) / (n + 2))
    return found


class _Look(NamedTuple):
    """What was found in the position before a move."""

    table: Position
    choices: int  # kinds of legal moves
    wanted: list[int]  # the candidates' actions
    outcomes: list[_Outcome]
    played: int  # which of them was played
    other: int | None  # the best of the others
    answered: _Outcome | None  # what that one comes to when the best of the candidates answers it


class _Judge:
    """Judges the events of a game, in any order and from several threads."""

    def __init__(self, plan: ReviewPlan) -> None:
        import numpy as np

        from azul_fast.players import Players

        self.plan = plan
        self.history = plan.game._history
        players = plan.game.rules.players
        self.roller = Players([plan.roller] * players)
        self.engine = Players([plan.engine.text]) if plan.is_searched else self.roller
        self.stop = np.zeros(2, np.int64)  # [0] 1: stop
        self.stopped = False
        self._local = threading.local()
        self._lock = threading.Lock()
        self._outcomes: dict[bytes, Future[_Outcome]] = {}
        self._choices: dict[bytes, int] = {}

    def interrupt(self) -> None:
        """Judge no more; safe to call from a signal handler."""
        self.stopped = True
        self.stop[0] = 1

    # ------------------------------------------------------------------------------------------------------ events
    def deal(self, number: int) -> tuple[_Outcome, _Outcome | None] | None:
        """Rollouts from before a deal of the history, and from after it where no search says what that is worth."""
        try:
            dealt = None if self.plan.is_searched else self._outcome(self.plan.game._state_after(number))
            return self._outcome(self.history[number].before), dealt
        except _Stopped:
            return None

    def deals(
        self, found: dict[int, tuple[_Outcome, _Outcome | None]], values: dict[int, _Outcome]
    ) -> Iterator[ReviewedDeal]:
        """The deals whose first move is judged; `values` are those of the positions before moves."""
        for number, (before, dealt) in sorted(found.items()):
            if number + 1 in values:
                after = dealt or values[number + 1]
                yield ReviewedDeal(
                    Position.from_state(self.plan.game._state_after(number)).round,
                    self.plan.game._text_of(number),
                    before.shares(),
                    after.shares(),
                    after.less(before)[0],
                )

    def look(self, number: int) -> _Look | None:
        """The candidates in the position before a move of the history."""
        try:
            return self._look(number)
        except _Stopped:
            return None

    def _look(self, number: int) -> _Look:
        from azul_fast.rollouts import successors

        state, played = self.history[number].before, self.history[number].action
        table = Position.from_state(state)
        choices, wanted = self._candidates(state, table, played)
        afters = successors(state, wanted)
        outcomes = [self._outcome(self._carry_on(after)) for after in afters]
        others = [i for i in range(len(wanted)) if wanted[i] != played]
        other = max(others, key=lambda i: (outcomes[i].chosen(table.turn), -i)) if others else None
        answered = None if other is None else self._answered(afters[other], outcomes[other])
        return _Look(table, choices, wanted, outcomes, wanted.index(played), other, answered)

    def _answered(self, state: np.ndarray, outcome: _Outcome) -> _Outcome:
        """What a position comes to when the best of the candidates is played there; `outcome` if there is no move."""
        from azul_fast.engine.layout import PHASE, PHASE_OFFER, PHASE_TILE
        from azul_fast.rollouts import successors

        if not self.plan.is_searched or state[PHASE] not in (PHASE_OFFER, PHASE_TILE):
            return outcome
        table = Position.from_state(state)
        _, wanted = self._candidates(state, table)
        outcomes = [self._outcome(self._carry_on(after)) for after in successors(state, wanted)]
        return max(outcomes, key=lambda each: each.chosen(table.turn))

    def moves(self, looks: dict[int, _Look]) -> Iterator[tuple[int, _Outcome, ReviewedMove]]:
        """Moves, each with what the position before it is worth, from the last one to the first without a gap."""
        following: _Outcome | None = None  # what the position after a move is worth, by the next move
        for number in reversed(range(len(self.history))):
            if self.history[number].action < 0:
                following = None
            elif number not in looks:
                return
            else:
                following, move = self._judged_move(number, looks[number], following)
                yield number, following, move

    def _judged_move(self, number: int, look: _Look, following: _Outcome | None) -> tuple[_Outcome, ReviewedMove]:
        """What the position before a move is worth, and the move."""
        from azul_fast.engine.layout import PLIES, ROUND_PLIES

        state, seat = self.history[number].before, look.table.turn
        own = look.outcomes[look.played]
        if self.plan.is_searched and following is not None:
            own = following
        best, chosen = own, look.played
        if look.answered is not None and look.other is not None and look.answered.chosen(seat) > own.chosen(seat):
            best, chosen = look.answered, look.other
        wins, margins = best.less(own)
        order = sorted(range(len(look.wanted)), key=lambda i: (*(-x for x in look.outcomes[i].chosen(seat)), i))
        candidates = (
            Candidate(format_move(look.wanted[i]), look.outcomes[i].shares()[seat], look.outcomes[i].margin(seat))
            for i in order
        )
        is_best = chosen == look.played
        move = ReviewedMove(
            ply=int(state[PLIES] + state[ROUND_PLIES]) + 1,
            round=look.table.round,
            seat=seat,
            position=str(look.table),
            move=format_move(look.wanted[look.played]),
            best=format_move(look.wanted[chosen]),
            choices=look.choices,
            before=best.shares(),
            after=own.shares(),
            loss=Estimate(0.0, 0.0) if is_best else _share(wins[seat]),
            points_lost=_estimate(margins[seat]),
            exact=best.is_exact and own.is_exact,
            candidates=tuple(candidates),
            _losses=(wins[seat], margins[seat]),
        )
        return best if self.plan.is_searched else own, move

    # -------------------------------------------------------------------------------------------------- candidates
    def _kinds(self, state: np.ndarray, table: Position) -> list[list[int]]:
        """The legal actions, those that differ only in which of several equal factories they take from together."""
        import numpy as np

        from azul_fast.engine.step import ACTION_COUNT, legal_actions

        mask = np.zeros(ACTION_COUNT, np.uint8)
        legal_actions(state, mask)
        kinds: dict[tuple[object, ...], list[int]] = {}
        for action in np.flatnonzero(mask).tolist():
            move = Move(action)
            if move.is_choice or move.source == CENTER:
                kinds[(action,)] = [action]
            else:
                kinds.setdefault((table.factories[move.source - 1], move.color, move.line), []).append(action)
        return list(kinds.values())

    def _candidates(self, state: np.ndarray, table: Position, played: int | None = None) -> tuple[int, list[int]]:
        """How many kinds of moves there are, and the actions worth comparing, the best first, `played` among them."""
        kinds = self._kinds(state, table)
        actions = [played if played is not None and played in each else each[0] for each in kinds]
        if len(actions) <= CANDIDATES:
            return len(kinds), actions
        values = (
            self._search(state, actions)
            if self._has_values(state)
            else self._short_rollouts(state, table.turn, actions)
        )
        order = sorted(range(len(actions)), key=lambda i: (-values[i], i))
        best = values[order[0]]
        wanted = [actions[i] for i in order[:CANDIDATES] if values[i] >= best - 2 * CANDIDATE_RANGE]
        return len(kinds), wanted if played is None or played in wanted else [*wanted, played]

    def _has_values(self, state: np.ndarray) -> bool:
        from azul_fast.engine.layout import PHASE, PHASE_OFFER

        return bool(self.plan.is_searched and state[PHASE] == PHASE_OFFER)

    def _search(self, state: np.ndarray, actions: list[int]) -> list[float]:
        """Values from -1 to 1 (and a little for the margin) by a search of the rest of the round."""
        import numpy as np

        from azul_fast.search.evaluation import WIN_VALUE
        from azul_fast.search.judge import move_values

        values = np.zeros(len(actions), np.int64)
        nodes = round(dict(self.plan.engine.given).get("nodes", SEARCH["nodes"])) * len(actions) // 2
        move_values(state.copy(), np.array(actions, np.int64), nodes, self._memory(), values)
        return (values / WIN_VALUE).tolist()  # type: ignore[no-any-return]

    def _short_rollouts(self, state: np.ndarray, seat: int, actions: list[int]) -> list[float]:
        """Values from -1 to 1 by the roller's games; their numbers are not those of the rollouts that are counted."""
        from azul_fast.rollouts import successors

        count = max(4, round(RANKING_SHARE * self.plan.budget / len(actions)))
        first = FIRST_ROLLOUT + self.plan.rollouts
        outcomes = [self._roll(after, first, count) for after in successors(state, actions)]
        return [2 * float(each.wins[seat].mean()) - 1 + float(each.margins[seat].mean()) / 1000 for each in outcomes]

    # ------------------------------------------------------------------------------------------------------ playing
    def _memory(self) -> np.ndarray:
        """This thread's room for searches; what is in it has no part in their answers."""
        import numpy as np

        from azul_fast.search.alphabeta import MEMORY

        if not hasattr(self._local, "memory"):
            self._local.memory = np.zeros(max(MEMORY, self.engine.memory_words), np.int64)
        memory: np.ndarray = self._local.memory
        return memory

    def _carry_on(self, state: np.ndarray) -> np.ndarray:
        """The end of the round, as the engine plays it from here; with an engine that does not search, `state`."""
        from azul_fast.engine.layout import PHASE, PHASE_OFFER, PHASE_TILE
        from azul_fast.engine.step import step

        if not self.plan.is_searched:
            return state
        state = state.copy()
        while state[PHASE] in (PHASE_OFFER, PHASE_TILE):
            self._check()
            key = state.tobytes()
            action = self._choices.get(key)
            if action is None:
                action = self.engine.choose(state, 0, self.plan.seed, FIRST_ROLLOUT, self._engine_memory())
                self._choices[key] = action
            step(state, action)
        return state

    def _engine_memory(self) -> np.ndarray | None:
        """Searches forget what was before; a tree that is kept from move to move begins anew with every question."""
        return self._memory()[: self.engine.memory_words] if self.plan.engine.name == "search" else None

    def _outcome(self, state: np.ndarray) -> _Outcome:
        """Rollouts from a position, those of an earlier question where it was the same."""
        key = state.tobytes()
        with self._lock:
            known = self._outcomes.get(key)
            if known is None:
                mine = self._outcomes[key] = Future()
        if known is not None:
            return known.result()
        try:
            found = self._roll(state, FIRST_ROLLOUT, self.plan.rollouts)
        except BaseException as error:
            mine.set_exception(error)
            raise
        mine.set_result(found)
        return found

    def _check(self) -> None:
        if self.stopped:
            raise _Stopped

    def _roll(self, state: np.ndarray, first: int, count: int) -> _Outcome:
        """Win shares and margins of every seat in so many rollouts, or in the result of a game that is over."""
        import numpy as np

        from azul_fast.engine.layout import (
            OUT_ROWS,
            OUT_SCORE,
            OUT_SEAT_ROWS,
            OUT_SEATS,
            PHASE,
            PHASE_OVER,
            RESULT_ROWS,
        )

        players = self.plan.game.rules.players
        if state[PHASE] == PHASE_OVER:
            boards = Position.from_state(state).boards
            return _judged(np.array([[b.score] for b in boards]), np.array([[b.rows] for b in boards]))
        out = np.empty((RESULT_ROWS, count), np.int32)
        for begin in range(0, count, ROLLOUT_PART):
            self._check()
            part = np.empty((RESULT_ROWS, min(ROLLOUT_PART, count - begin)), np.int32)
            played = self.roller.play(state, 1, 0, self.plan.seed, first + begin, part.shape[1], part, self.stop)
            if played < part.shape[1]:
                raise _Stopped
            out[:, begin : begin + part.shape[1]] = part
        seats = out[OUT_SEATS : OUT_SEATS + players * OUT_SEAT_ROWS].reshape(players, OUT_SEAT_ROWS, count)
        return _judged(seats[:, OUT_SCORE], seats[:, OUT_ROWS])


def _judged(scores: np.ndarray, rows: np.ndarray) -> _Outcome:
    """Of final scores and complete rows, int [players, games]: a win shared by k is 1/k for each."""
    import numpy as np

    players = len(scores)
    standing = 8 * scores.astype(np.int64) + rows  # rows: 0 to 5
    is_winner = standing == standing.max(axis=0)
    wins = is_winner / is_winner.sum(axis=0)
    margins = np.empty(scores.shape)
    for seat in range(players):
        others = np.delete(scores, seat, axis=0)
        margins[seat] = scores[seat] - others.max(axis=0)
    return _Outcome(wins, margins)
