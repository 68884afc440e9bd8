"""Which move is best here: every legal move ranked by rollouts, games that a policy plays on from it by the thousand.

Rollout i of every move meets the same deals and the same words for its policies (common random numbers), so that moves
are compared on what they do and not on what was drawn.

**Two halves.** Rollouts with an even number *choose*: they decide which moves are dropped, when to stop, and the order
of the moves. Those with an odd number *measure*: all figures are theirs alone. The choice knows nothing of the
measured half, so no figure is flattered by its move having been chosen, none is slighted by its having been dropped,
and an interval covers as often as it says, whatever was decided on the way. The price is that the standard errors are
sqrt(2) times what all the rollouts together would give.

**The budget** goes by sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
bandits", ICML 2013): ceil(log2 K) stages for K moves, each with an equal part of what is left; in a stage all moves
still in play the same number of further rollouts, and the better half (rounded up) goes on. What a stage cannot share
out evenly goes to the next; fewer than 4 rollouts are left at the end.

**Separation** (`until_separated`): instead of halving, a move is dropped when another is better than it with
confidence. D is the difference of the two in one rollout, scaled to X in [0, 1]; then for any predictable weights
lambda_i in (0, 1), with probability 1 - alpha, at all times at once,

    E X >= (sum lambda_i X_i - sum (X_i - m_i)^2 (-log(1 - lambda_i) - lambda_i) - log(1 / alpha)) / sum lambda_i,

where m_i is the mean before i: the predictable plug-in empirical Bernstein bound, theorem 2 of Waudby-Smith and Ramdas,
"Estimating means of bounded random variables by betting", JRSS B 86 (2024), one-sided. Weights and means are set anew
at each look, from what was seen before it. The best move is compared with K - 1 others, so with alpha = 0.05 / (K - 1)
it is dropped with probability 0.05 at most, however often one looks (the union bound).

**Precision** (`until_se`): a stop when the standard errors of all moves still in are small enough. Such a rule looks at
the spread and not at the mean; the intervals are those of fixed samples in the limit (Chow and Robbins, "On the
asymptotic theory of fixed-width sequential confidence intervals", Ann. Math. Statist. 36, 1965).
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from azul_fast.batch import MAX_GAMES, WAKE_SECONDS, seat_policies, sigint_to, thread_count, whole_number
from azul_fast.errors import AzulError, GameOverError, IllegalMoveError, PolicyError, shown
from azul_fast.notation import ACTION_COUNT, Move, format_position, objection, parse_move, parse_position
from azul_fast.position import Position
from azul_fast.rules import CENTER, MAX_SEED, MAX_WALL_SCORE
from azul_fast.stats import Estimate, Share

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console, ConsoleOptions, RenderableType

    from azul_fast.game import Game

FORMAT = "azul-evaluate/1"
# Who plays the rollouts. Choosing by 2,000 of them a move, 20 games against greedy itself were won, and 13 of 20 by
# 9,000 of random, which take as long: random players waste what a move prepares.
POLICY = "greedy"
ROLLOUTS = 100_000
STOP_ROLLOUTS = 1_000_000  # where a stop rule says when it is enough
MAX_ROLLOUTS = 10**9
MIN_ROLLOUTS = 4  # a move: two that choose and two that measure, for a standard error
CRITERIA = ("win", "margin")
ERROR = 0.05  # the probability that `until_separated` drops the best move
FIRST_ROLLOUT = 2 * MAX_GAMES  # as a game's number: no batch or `Game` has it, so no rollout meets their deals

FIRST_LOOK = 32  # pairs of rollouts (one chooses, one measures) a move before a stop rule looks first,
LOOK_GROWTH = 4  # and then whenever there is a quarter more
MIN_STOP_PAIRS = 128  # fewer say too little about the spread for `until_se`

STEP_SECONDS = 0.2  # between two looks at the clock, an interrupt or the progress bar
STEP_GROWTH = 8.0
STEP_PAIRS = 64  # in the first step: a fast policy's rollouts go side by side in lanes
SLOW_STEP_PAIRS = 2  # of a policy that is a function
STEP_VALUES = 1 << 19  # rollouts of all moves in one step, at most
STEP_MOVE_PAIRS = 1 << 14  # of one move
PART_ROLLOUTS = 4096  # of one call of a kernel, at most: their results stay in the processor's caches
TASKS_PER_THREAD = 4  # in a step, so that threads end it together

Progress = Callable[[int, int], None]  # (rollouts done, rollouts in all)


# ------------------------------------------------------------------------------------------------------ what is asked
@dataclass(frozen=True, kw_only=True)
class Question:
    """All that decides the answer; made by `describe`, which checks it.

    Attributes
    ----------
    position : str
        In phase offer or tile.
    moves : tuple of Move
        Those to be ranked.
    policies : tuple of str
        Who plays each seat in the rollouts.
    rollouts : int
        The most that are played, all moves together.
    by : {"win", "margin"}
    until_se : float or None
        Of the win share, or of the margin in points.
    """

    position: str
    moves: tuple[Move, ...]
    all_moves: bool
    policies: tuple[str, ...]
    rollouts: int
    seed: int
    by: str = "win"
    depth_cut: bool = False
    until_se: float | None = None
    until_separated: bool = False

    @property
    def policy(self) -> str:
        """The policies in one text."""
        return self.policies[0] if len(set(self.policies)) == 1 else ",".join(self.policies)


def describe(
    position: Game | str,
    policy: str | Sequence[str] = POLICY,
    *,
    rollouts: int | None = None,
    seed: int | None = None,
    by: str = "win",
    moves: str | Sequence[str] | None = None,
    depth_cut: bool = False,
    until_se: float | None = None,
    until_separated: bool = False,
) -> Question:
    """Check what `evaluate` is asked for; the parameters are the same. Numba is not imported.

    Raises
    ------
    AzulError
        One line that names the value and what is allowed.
    """
    text = position if isinstance(position, str) else getattr(position, "to_text", lambda: None)()
    if text is None:
        raise AzulError(f"position: a Game or the text of a position is needed, not {shown(position)}")
    state = parse_position(text)
    table = Position.from_state(state)
    if table.phase == "over":
        raise GameOverError("position: the game is over, there is no move to evaluate")
    if table.phase == "deal":
        raise IllegalMoveError("position: the round has not been dealt, there is no move to evaluate")
    highest = max(board.score for board in table.boards)
    if highest > MAX_WALL_SCORE:
        raise AzulError(f"position: a score must be at most {MAX_WALL_SCORE} to play on, not {highest}")
    policies = seat_policies(policy, table.rules.players)
    if by not in CRITERIA:
        raise AzulError(f"by must be {' or '.join(CRITERIA)}, not {shown(by)}")
    if until_se is not None and not (_is_number(until_se) and 0 < until_se < math.inf):
        raise AzulError(f"until se must be a number above 0, not {shown(until_se)}")
    listed = _legal_moves(table) if moves is None else _listed_moves(table, moves)
    if rollouts is None:
        rollouts = ROLLOUTS if until_se is None and not until_separated else STOP_ROLLOUTS
    rollouts = whole_number("rollouts", rollouts, 1, MAX_ROLLOUTS)
    if rollouts < MIN_ROLLOUTS * len(listed):
        raise AzulError(
            f"rollouts must be at least {MIN_ROLLOUTS * len(listed)}, {MIN_ROLLOUTS} for each of the {len(listed)} "
            f"moves, not {rollouts}"
        )
    seed = secrets.randbelow(MAX_SEED + 1) if seed is None else whole_number("seed", seed, 0, MAX_SEED)
    return Question(
        position=format_position(state),
        moves=listed,
        all_moves=moves is None,
        policies=policies,
        rollouts=rollouts,
        seed=seed,
        by=by,
        depth_cut=bool(depth_cut),
        until_se=None if until_se is None else float(until_se),
        until_separated=bool(until_separated),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _legal_moves(table: Position) -> tuple[Move, ...]:
    return tuple(move for move in map(Move, range(ACTION_COUNT)) if not objection(table, move))


def _listed_moves(table: Position, moves: str | Sequence[str]) -> tuple[Move, ...]:
    texts = moves.split(",") if isinstance(moves, str) else list(moves)
    listed = {Move(parse_move(text.strip()) if isinstance(text, str) else text) for text in texts}
    if not listed:
        raise AzulError("moves: at least one is needed")
    for move in sorted(listed):
        if reason := objection(table, move):
            raise IllegalMoveError(f"moves: {move}: {reason}")
    return tuple(sorted(listed))


def _kinds(table: Position, moves: Sequence[Move]) -> list[tuple[object, ...]]:
    """What each move is but for the number of its factory: moves of one kind are equally good."""
    kinds: list[tuple[object, ...]] = []
    for move in moves:
        if move.is_choice:
            kinds.append((int(move),))
        else:
            tiles = "" if move.source == CENTER else table.factories[move.source - 1]
            kinds.append((tiles, move.source == CENTER, move.color, move.line))
    return kinds


# -------------------------------------------------------------------------------------------------------- the answer
@dataclass(frozen=True)
class MoveValue:
    """A move and what rollouts say about it, for the player to move.

    Attributes
    ----------
    move : str
    rollouts, measured : int
        How many were played after it, and how many of them its figures are from.
    win_share, margin : Estimate
        A win shared by k counts 1/k; own score less the best other.
    behind : Estimate
        What it gives away against the first move, in the unit of the ranking: the mean of the paired differences.
    separated : bool
        Whether `until_separated` dropped it.
    """

    move: str
    rollouts: int
    measured: int
    win_share: Estimate
    margin: Estimate
    behind: Estimate
    separated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As in `azul-evaluate/1`."""
        return {
            "move": self.move,
            "rollouts": self.rollouts,
            "measured": self.measured,
            "win_share": self.win_share.to_dict(),
            "margin": self.margin.to_dict(),
            "behind": self.behind.to_dict(),
            "separated": self.separated,
        }


@dataclass(frozen=True)
class Evaluation:
    """Moves, best first.

    Attributes
    ----------
    question : Question
    moves : tuple of MoveValue
    stopped : {"budget", "se", "separated", "interrupted"}
        Why no more rollouts were played.
    seconds : float
    """

    question: Question
    moves: tuple[MoveValue, ...]
    stopped: str
    seconds: float

    @property
    def best(self) -> MoveValue:
        """The first move."""
        return self.moves[0]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.stopped == "interrupted"

    @property
    def rollouts(self) -> int:
        """All that were played."""
        return sum(value.rollouts for value in self.moves)

    def to_dict(self) -> dict[str, Any]:
        """As in `azul-evaluate/1`: the same for one seed whatever the threads."""
        question = self.question
        return {
            "format": FORMAT,
            "position": question.position,
            "policy": question.policy,
            "rollouts": self.rollouts,
            "budget": question.rollouts,
            "seed": question.seed,
            "by": question.by,
            "depth_cut": question.depth_cut,
            "until_se": question.until_se,
            "until_separated": question.until_separated,
            "stopped": self.stopped,
            "interrupted": self.interrupted,
            "moves": [value.to_dict() for value in self.moves],
        }

    def __str__(self) -> str:
        from azul_fast.ranking import as_text

        return as_text(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from azul_fast.ranking import ranking

        yield ranking(self, options.max_width)

    def _repr_html_(self) -> str:
        from azul_fast.display import html

        return html(self)


def evaluate(
    position: Game | str,
    policy: str | Sequence[str] = POLICY,
    *,
    rollouts: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    by: str = "win",
    moves: str | Sequence[str] | None = None,
    depth_cut: bool = False,
    until_se: float | None = None,
    until_separated: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Rank the legal moves of a position by games played on from each of them.

    The figures are a function of the position and all parameters but `threads`; what is hidden in a `Game` (the tiles
    that its seed will deal) has no part in them.

    Parameters
    ----------
    position : Game or str
        In phase ``offer`` or ``tile``.
    policy : str or sequence of str
        Who plays the rollouts: one name for every seat, or one a seat.
    rollouts : int, optional
        How many are played, all moves together: 100,000, or at most 1,000,000 with a stop rule, if not given.
    seed : int, optional
        0 to 2^53 - 1; drawn if not given.
    threads : int, optional
        All processors that this process may use if not given.
    by : {"win", "margin"}
        What the moves are ranked by.
    moves : str or sequence of str, optional
        Only these: ``"3B4,CRF"``.
    depth_cut : bool
        Play to the end of the round only. Where the game goes on, the boards say what margin and what share of the win
        may be expected (`azul_fast.rollouts`).
    until_se : float, optional
        Stop when no move still in has a larger standard error, of its win share or, ``by="margin"``, of its margin.
    until_separated : bool
        Drop a move when it is worse than another with 95% confidence, all moves together; stop when only the best (or
        moves that are the same but for identical factories) are left.
    progress : callable, optional
        Called in this thread as ``progress(rollouts done, rollouts in all)``.

    Returns
    -------
    Evaluation
        After Ctrl-C from what is finished, with ``interrupted`` set.

    Raises
    ------
    AzulError
        One line that names the value and what is allowed, before anything is played.
    """
    question = describe(
        position,
        policy,
        rollouts=rollouts,
        seed=seed,
        by=by,
        moves=moves,
        depth_cut=depth_cut,
        until_se=until_se,
        until_separated=until_separated,
    )
    return answer(question, threads=threads, progress=progress)


def answer(
    question: Question, *, threads: int | None = None, progress: Progress | None = None, step_pairs: int | None = None
) -> Evaluation:
    """Play the rollouts of a question; see `evaluate`. Tests set `step_pairs`, which changes no figure.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before there was anything to show, or after another one.
    """
    begun = time.perf_counter()
    race = _Race(question, thread_count(threads), progress, step_pairs)
    try:
        with sigint_to(race.interrupt):
            stopped = race.run()
    finally:
        race.pool.shutdown(wait=not race.stopped, cancel_futures=True)
    return Evaluation(question, race.values(), stopped, time.perf_counter() - begun)


# ----------------------------------------------------------------------------------------------------------- the race
# Rollouts of one move: the state after it, the number of the first, and where their win shares and margins go.
_Part = tuple["np.ndarray", int, "np.ndarray", "np.ndarray"]


class _Interrupted(Exception):
    """Ctrl-C: what was being played is left out."""


class _Sums:
    """Whole-number sums over rollouts of K moves: of their values, and of those of pairs of moves.

    Entry [i, j] of a matrix is over the rollouts that were played after both i and j.
    """

    def __init__(self, moves: int) -> None:
        import numpy as np

        self.total = np.zeros((moves, moves), np.int64)  # of j's values
        self.square = np.zeros((moves, moves), np.int64)  # of j's values squared
        self.product = np.zeros((moves, moves), np.int64)

    def add(self, among: np.ndarray, values: np.ndarray) -> None:
        """Count `values` (whole, float64 [moves in `among`, rollouts])."""
        import numpy as np

        products = (values @ values.T).astype(np.int64)  # exact: below 2**53, see STEP_MOVE_PAIRS
        here = np.ix_(among, among)
        self.total[here] += values.sum(axis=1).astype(np.int64)
        self.square[here] += products.diagonal()
        self.product[here] += products

    def difference(self) -> tuple[np.ndarray, np.ndarray]:
        """[i, j]: the sums of i's value less j's, and of its square."""
        return self.total.T - self.total, self.square.T + self.square - 2 * self.product


class Separation:
    """Lower bounds, valid at all times at once, for what each of K moves is better by than each other.

    Parameters
    ----------
    moves : int
    largest : float
        Bound of a difference, either way.
    error : float
        The probability that the best move is ever found worse than another.
    """

    def __init__(self, moves: int, largest: float, error: float = ERROR) -> None:
        import numpy as np

        self.width = 2 * largest
        self.needed = math.log(max(moves - 1, 1) / error)
        self.pairs = 0
        zeros = np.zeros((moves, moves))
        self.sum, self.spread, self.weight, self.gain, self.cost = (zeros.copy() for _ in range(5))

    def add(self, pairs: int, differences: np.ndarray, squares: np.ndarray) -> None:
        """Count a look's rollouts: sums of differences [i, j] (i's value less j's), and of their squares."""
        import numpy as np

        differences, squares = differences / self.width, squares / self.width**2
        mean = self.sum / (self.pairs + 1)
        variance = (0.25 + self.spread) / (self.pairs + 1)
        after = self.pairs + pairs
        weight = np.minimum(np.sqrt(2 * self.needed / (variance * after * math.log(1 + after))), 0.5)
        spread = squares - 2 * mean * differences + pairs * mean**2
        self.weight += pairs * weight
        self.gain += weight * differences
        self.cost += spread * (-np.log1p(-weight) - weight)
        self.sum += differences
        self.spread += spread
        self.pairs = after

    def lower(self) -> np.ndarray:
        """[i, j]: i is better than j by at least this, in the mean."""
        bound: np.ndarray = self.width * (self.gain - self.cost - self.needed) / self.weight
        return bound


class _Race:
    """The moves, those that are still in, and what the rollouts of all have come to."""

    def __init__(
        self, question: Question, threads: int, progress: Progress | None, step_pairs: int | None = None
    ) -> None:
        import numpy as np

        from azul_fast.rollouts import MARGIN, POINT_UNIT, WIN, WIN_UNIT, Rollouts, successors

        self.question = question
        self.threads = threads
        self.progress = progress
        state = parse_position(question.position)
        self.table = Position.from_state(state)
        self.pool = ThreadPoolExecutor(threads, "azul")
        self.rollouts = Rollouts(question.policies, self.table.turn, question.seed, question.depth_cut)
        self.states = successors(state, [int(move) for move in question.moves])
        self.known = [self.rollouts.known(after) for after in self.states]
        self.units = (WIN_UNIT, POINT_UNIT)
        self.rank, self.other = (WIN, MARGIN) if question.by == "win" else (MARGIN, WIN)
        count = len(self.states)
        self.alive = np.arange(count)
        self.left = question.rollouts
        self.pairs = np.zeros(count, np.int64)  # [move] rollouts that choose, and as many that measure
        self.place = np.zeros(count, np.int64)  # [move] how many moves were in when it was dropped; 0 while it is in
        self.chosen = np.zeros((2, count), np.int64)  # [value, move] sums over the rollouts that choose
        self.chosen_squares = np.zeros(count, np.int64)  # of the value that ranks
        self.measured = np.zeros((2, 2, count), np.int64)  # [value, power - 1, move] sums over those that measure
        self.compared = _Sums(count)  # of the value that ranks, over those that measure
        self.separated = np.zeros(count, bool)
        self.choosing: _Sums | None = None  # those that choose, since the last look
        self.is_fixed = step_pairs is not None
        self.step_pairs = step_pairs or (SLOW_STEP_PAIRS if self.rollouts.players.is_open else STEP_PAIRS)
        self.stopped = False
        self.errors: list[tuple[int, int, PolicyError]] = []  # [rollout, move, ...] of a policy's answers

    def interrupt(self) -> None:
        """Play no more; safe to call from a signal handler."""
        self.stopped = True
        self.rollouts.stop[0] = 1

    def run(self) -> str:
        """Play until the budget or a rule says stop; returns why."""
        try:
            return self._separate() if self.question.until_separated else self._halve()
        except _Interrupted:
            if self.pairs.min() < MIN_ROLLOUTS // 2:
                raise KeyboardInterrupt from None
            return "interrupted"

    # ----------------------------------------------------------------------------------------------- who goes on
    def _halve(self) -> str:
        for stages in range(max(math.ceil(math.log2(len(self.states))), 1), 0, -1):
            count = len(self.alive)
            pairs = self.left // (2 * count * stages)
            if self.pairs[self.alive[0]] == 0:
                pairs = max(pairs, MIN_ROLLOUTS // 2)
            while pairs:
                look = min(pairs, self._look()) if self.question.until_se is not None else pairs
                self._play(look)
                pairs -= look
                if self._is_precise():
                    return "se"
            self._drop(self._order(self.alive)[-(-count // 2) :])
        return "budget"

    def _separate(self) -> str:
        from azul_fast.rollouts import POINT_UNIT, WIN_UNIT

        scores = [board.score for board in self.table.boards]
        own = scores.pop(self.table.turn)
        largest = WIN_UNIT if self.question.by == "win" else POINT_UNIT * self._margin_range(own, max(scores))
        separation = Separation(len(self.states), largest)
        kinds = _kinds(self.table, self.question.moves)
        while True:
            pairs = min(self._look(), self.left // (2 * len(self.alive)))
            if not pairs:
                return "budget"
            self.choosing = _Sums(len(self.states))
            self._play(pairs)
            separation.add(pairs, *self.choosing.difference())
            worse = (separation.lower()[:, self.alive][self.alive] > 0).any(axis=0)
            if worse.any():
                self.separated[self.alive[worse]] = True
                self._drop(self.alive[worse])
            if len({kinds[move] for move in self.alive}) == 1:
                return "separated"
            if self._is_precise():
                return "se"

    def _margin_range(self, own: int, other: int) -> int:
        """The largest margin that can come of these scores less the smallest."""
        from azul_fast.rollouts import MAX_OUTLOOK

        return own + other + 2 * MAX_WALL_SCORE + (4 * MAX_OUTLOOK if self.question.depth_cut else 0)

    def _look(self) -> int:
        """Pairs until the next look of a stop rule: a function of those played alone."""
        return max(FIRST_LOOK, int(self.pairs[self.alive[0]]) // LOOK_GROWTH)

    def _drop(self, moves: np.ndarray) -> None:
        self.place[moves] = len(self.alive)
        self.alive = self.alive[self.place[self.alive] == 0]

    def _order(self, moves: np.ndarray) -> np.ndarray:
        """Some moves that have played the same rollouts, best first."""
        import numpy as np

        chosen = self.chosen[:, moves]
        return moves[np.lexsort((moves, -chosen[self.other], -chosen[self.rank]))]

    def _is_precise(self) -> bool:
        """Whether `until_se` is reached, by both halves."""
        limit, pairs = self.question.until_se, int(self.pairs[self.alive[0]])
        if limit is None or pairs < MIN_STOP_PAIRS:
            return False
        unit, rank = self.units[self.rank], self.rank
        for move in self.alive.tolist():
            chosen = _estimate(pairs, self.chosen[rank, move], self.chosen_squares[move], unit)
            measured = self._measured(rank, move)
            if max(chosen.se or 0.0, measured.se or 0.0) > limit:
                return False
        return True

    # ------------------------------------------------------------------------------------------------ playing
    def _play(self, pairs: int) -> None:
        """Play so many more pairs of rollouts after each move that is still in."""
        while pairs:
            most = max(1, min(STEP_VALUES // (2 * len(self.alive)), STEP_MOVE_PAIRS))
            step = min(pairs, self.step_pairs, most)
            begun = time.perf_counter()
            self._count(self._step(step))
            if not self.is_fixed:
                faster = STEP_SECONDS / max(time.perf_counter() - begun, 1e-6)
                self.step_pairs = max(1, int(step * min(faster, STEP_GROWTH)))
            pairs -= step
            if self.progress is not None:
                self.progress(self.question.rollouts - self.left, self.question.rollouts)

    def _step(self, pairs: int) -> np.ndarray:
        """The values of the next rollouts after each move that is in: int32 [2, moves, rollouts]."""
        import numpy as np

        count, alive = 2 * pairs, self.alive.tolist()
        values = np.empty((2, len(alive), count), np.int32)
        first = 2 * int(self.pairs[alive[0]])
        tasks = TASKS_PER_THREAD * self.threads if self.threads > 1 else 1
        part = min(max(2, -(-len(alive) * count // tasks)), PART_ROLLOUTS)
        parts: list[_Part] = []
        for row, move in enumerate(alive):
            known = self.known[move]
            if known is not None:
                values[:, row, :] = known[:, None]
                continue
            for begin in range(0, count, part):
                wins, margins = values[:, row, begin : begin + part]
                parts.append((self.states[move], FIRST_ROLLOUT + first + begin, wins, margins))
        self._wait([self.pool.submit(self._work, parts[i::tasks]) for i in range(min(tasks, len(parts)))])
        return values

    def _work(self, parts: Sequence[_Part]) -> bool:
        """In a thread of the pool: play some parts of a step; returns whether all were finished."""
        finished = True
        for part in parts:
            try:
                finished = not self.stopped and self.rollouts.play(*part) and finished
            except PolicyError as error:  # of several, the first rollout's is told, whatever the threads
                finished = False
                self.errors.append((error.game or 0, next(i for i, s in enumerate(self.states) if s is part[0]), error))
        return finished

    def _wait(self, tasks: list[Future[bool]]) -> None:
        waiting = set(tasks)
        while waiting and not self.stopped:  # waking now and then, to see signals that another thread was given
            done, waiting = wait(waiting, WAKE_SECONDS, FIRST_EXCEPTION)
            failed = [task for task in tasks if task in done and task.exception() is not None]
            if failed:
                self.rollouts.stop[0] = 1
                failed[0].result()
        if self.errors and not self.stopped:
            raise min(self.errors, key=lambda found: found[:2])[2]
        if self.stopped or not all(task.result() for task in tasks):
            raise _Interrupted

    def _count(self, values: np.ndarray) -> None:
        import numpy as np

        alive, pairs = self.alive, values.shape[2] // 2
        exact = values.astype(np.float64)
        choosing, measuring = exact[:, :, ::2], exact[:, :, 1::2]
        self.chosen[:, alive] += choosing.sum(axis=2).astype(np.int64)
        self.chosen_squares[alive] += np.square(choosing[self.rank]).sum(axis=1).astype(np.int64)
        self.measured[:, 0, alive] += measuring.sum(axis=2).astype(np.int64)
        self.measured[:, 1, alive] += np.square(measuring).sum(axis=2).astype(np.int64)
        self.compared.add(alive, measuring[self.rank])
        if self.choosing is not None:
            self.choosing.add(alive, choosing[self.rank])
        self.pairs[alive] += pairs
        self.left -= 2 * pairs * len(alive)

    # ------------------------------------------------------------------------------------------------ the figures
    def values(self) -> tuple[MoveValue, ...]:
        """All moves, those that stayed in longest first."""
        import numpy as np

        from azul_fast.rollouts import MARGIN, WIN

        order = self._order(self.alive).tolist()
        for place in sorted(set(self.place.tolist()) - {0}):
            order += self._order(np.flatnonzero(self.place == place)).tolist()
        differences, squares = self.compared.difference()
        best = order[0]
        found = []
        for move in order:
            pairs = int(self.pairs[move])
            found.append(
                MoveValue(
                    move=str(self.question.moves[move]),
                    rollouts=2 * pairs,
                    measured=pairs,
                    win_share=self._measured(WIN, move),
                    margin=self._measured(MARGIN, move),
                    behind=_estimate(pairs, differences[best, move], squares[best, move], self.units[self.rank]),
                    separated=bool(self.separated[move]),
                )
            )
        return tuple(found)

    def _measured(self, value: int, move: int) -> Estimate:
        from azul_fast.rollouts import WIN

        total, squares = self.measured[value, :, move]
        pairs = int(self.pairs[move])
        found = _estimate(pairs, total, squares, self.units[value])
        if value != WIN or self.known[move] is not None:  # known: no estimate, so that no interval is needed
            return found
        return Share(found.mean, found.se, found.sd, samples=pairs)


def _estimate(n: int, total: Any, squares: Any, unit: int) -> Estimate:
    """Mean and standard error of n whole numbers, in their unit, from their sum and sum of squares."""
    total, squares = int(total), int(squares)
    variance = (n * squares - total * total) / (n * (n - 1) * unit * unit)  # of whole numbers, rounded once
    return Estimate(total / (n * unit), math.sqrt(variance / n), math.sqrt(variance))
