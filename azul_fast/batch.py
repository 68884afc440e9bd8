"""The batch runner: any number of games, in chunks over threads, in constant memory.

A chunk is a range of game numbers, and its results are a function of the run and that range alone. Chunks are played
and counted in worker threads (the kernels hold no GIL) and added up in order of their games, so that at any moment what
has been added up is games 0 to n - 1: that is what an interrupt leaves. Sizes and threads cannot change any figure.

Nothing here imports numba before all that was asked for has been checked.
"""

from __future__ import annotations

import contextlib
import operator
import os
import platform
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, SupportsIndex

from azul_fast.errors import AzulError, PolicyError, shown
from azul_fast.policies import parse_policy
from azul_fast.rules import COLORS, MAX_SEED, MAX_WALL_SCORE, Rules

if TYPE_CHECKING:
    import numpy as np

    from azul_fast.stats import Statistics
    from azul_fast.tally import Seating, Tally

ROTATE = "rotate"  # first_player: seat (game mod players)
MAX_GAMES = 2**53  # numbers of games, so that every reader of JSON keeps them
MAX_THREADS = 1024

UNIT = 12  # games; a chunk is a multiple, so that it holds whole rotations for 2, 3 and 4 players
CHUNK_GAMES = 1024 * UNIT  # of a fast kernel: its results stay in the processor's caches
CHUNK_SECONDS = 0.1  # a slower kernel gets fewer games at a time, so that an interrupt need not wait
TAIL_SECONDS = 0.002  # the shortest chunks that share out the last games among the threads
GROWTH = 8  # from one chunk to the next, while the kernel's speed is not known
WAKE_SECONDS = 0.05  # a signal that another thread was given is seen by the waiting one when it wakes
GRACE_SECONDS = 0.2  # for the chunks at work when an interrupt comes
ROW_PADDING = 48  # int32 after each row of results: rows a power of two apart would share cache lines

Progress = Callable[[int, int], None]  # (games done, games in all)
OnChunk = Callable[[int, int, "np.ndarray"], None]  # (first game of the run, games, results [RESULT_ROWS, >= games])


# ------------------------------------------------------------------------------------------------ what is to be played
@dataclass(frozen=True, kw_only=True)
class Run:
    """All that decides the results of a batch; made by `describe`, which checks it.

    Attributes
    ----------
    games, first_game : int
        Games `first_game` to `first_game` + `games` - 1 of the seed are played.
    policies : tuple of str
        Policy of each seat in rotation 0; in rotation ``r = game % rotations`` seat ``s`` is played by
        ``policies[(s + r) % players]``.
    rotations : int
        1, or the number of players: then ``rotations`` games in turn share one deal.
    first_player : int or "rotate"
        The seat that starts; in a run from a position the seat to act there.
    position, deal : str or None
        What every game starts from, instead of an empty table or a drawn first deal.
    """

    games: int
    rules: Rules
    policies: tuple[str, ...]
    seed: int
    rotations: int = 1
    first_player: int | str = 0
    first_game: int = 0
    position: str | None = None
    deal: str | None = None
    start_scores: tuple[int, ...] = ()

    @property
    def players(self) -> int:
        return self.rules.players

    @property
    def labels(self) -> tuple[str, ...]:
        """The policies, each once, in the order of the seats."""
        return tuple(dict.fromkeys(self.policies))

    def seating(self) -> Seating:
        """What a tally must know of this run; policies are numbered as in `labels`."""
        from azul_fast.tally import Seating

        return Seating(
            policies=tuple(self.labels.index(policy) for policy in self.policies),
            rotations=self.rotations,
            first_player=-1 if self.first_player == ROTATE else int(self.first_player),
            start_scores=self.start_scores,
        )

    def start_state(self) -> np.ndarray:
        """The state that every game starts from: int64 [STATE_WORDS]."""
        from azul_fast.engine.layout import new_state
        from azul_fast.notation import parse_deal, parse_position

        if self.position is not None:
            state = parse_position(self.position)
        else:
            state = new_state(self.rules, 0 if self.first_player == ROTATE else int(self.first_player))
        if self.deal is not None:
            from azul_fast.engine.step import give_deal

            give_deal(state, parse_deal(self.deal, self.rules))
        return state


def describe(
    games: int,
    rules: Rules | None = None,
    policies: str | Sequence[str] = "random",
    *,
    seed: int | None = None,
    rotate: bool = False,
    first_player: int | str = 0,
    first_game: int = 0,
    position: str | None = None,
    deal: str | Sequence[str] | None = None,
) -> Run:
    """Check what `simulate` is asked for; the parameters are the same.

    Raises
    ------
    AzulError
        One line that names the value and what is allowed.
    """
    if rules is not None and not isinstance(rules, Rules):
        raise AzulError(f"rules must be a Rules, not {shown(rules)}")
    start_scores: tuple[int, ...] = ()
    if position is not None:
        rules, first_player, start_scores, position = _read_position(position, rules, first_player)
    rules = rules or Rules()
    players = rules.players
    if isinstance(first_player, str) and first_player != ROTATE:
        raise AzulError(f"first player must be 0 to {players - 1} or {ROTATE}, not {shown(first_player)}")
    if not isinstance(first_player, str):
        first_player = whole_number("first player", first_player, 0, players - 1)
    if deal is not None:
        deal = _read_deal(deal, rules, position, first_player)
    names = seat_policies(policies, players)
    rotations = players if rotate else 1
    games = whole_number("games", games, 1, MAX_GAMES)
    first_game = whole_number("first game", first_game, 0, MAX_GAMES)
    if first_game + games > MAX_GAMES:
        raise AzulError(f"first game {first_game} and {games} games go beyond game 2^53 - 1")
    for name, number in (("games", games), ("first game", first_game)):
        if number % rotations:
            near = max(number // rotations, 1) * rotations
            raise AzulError(
                f"{name} must be a multiple of the {rotations} rotations of the seats, not {number} ({near} is one)"
            )
    if rotate and first_player == ROTATE:
        # both follow the number of the game: with 2 players the same policy would start every game
        raise AzulError("first player rotate does not go with rotate, which lets every policy start equally often")
    seed = secrets.randbelow(MAX_SEED + 1) if seed is None else whole_number("seed", seed, 0, MAX_SEED)
    return Run(
        games=games,
        rules=rules,
        policies=names,
        seed=seed,
        rotations=rotations,
        first_player=first_player,
        first_game=first_game,
        position=position,
        deal=deal,
        start_scores=start_scores or (0,) * players,
    )


def seat_policies(policies: str | Sequence[str], players: int) -> tuple[str, ...]:
    """The policy of each seat: names in a sequence or separated by commas; one name fills every seat."""
    names = policies.split(",") if isinstance(policies, str) else policies
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise AzulError(f"policies must be a name or one name a seat, not {shown(policies)}")
    names = [name.strip() for name in names]
    for name in names:
        parse_policy(name)
    if len(names) == 1:
        names *= players
    if len(names) != players:
        raise AzulError(f"policies: {len(names)} given, but {players} seats need 1 or {players}")
    return tuple(names)


def whole_number(name: str, value: SupportsIndex, low: int, high: int) -> int:
    """`value` as an int, if it is a whole number from `low` to `high`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise AzulError(f"{name} must be a whole number, not {shown(value)}") from None
    if not low <= number <= high:
        limit = {MAX_SEED: "2^53 - 1", MAX_GAMES: "2^53"}.get(high, str(high))
        raise AzulError(f"{name} must be {low} to {limit}, not {shown(number)}")
    return number


def _read_position(text: str, rules: Rules | None, first_player: int | str) -> tuple[Rules, int, tuple[int, ...], str]:
    """Rules, seat to act, scores and normal form of a position that games can start from."""
    from azul_fast.engine.layout import PHASE, PHASE_OVER, SCORE, TURN, rules_of, seat_word
    from azul_fast.notation import format_position, parse_position

    state = parse_position(text)
    if state[PHASE] == PHASE_OVER:
        raise AzulError("position: the game is over, there is nothing to play")
    own = rules_of(state)
    for name, value in own.to_dict().items():
        if rules is not None and getattr(rules, name) != value:
            raise AzulError(f"{name} {getattr(rules, name)} was asked for, but the position is for {name} {value}")
    turn = int(state[TURN])
    if first_player not in (0, turn):
        raise AzulError(
            f"first player {shown(first_player)} was asked for, but in the position it is seat {turn}'s turn"
        )
    scores = tuple(int(state[seat_word(seat) + SCORE]) for seat in range(own.players))
    if max(scores) > MAX_WALL_SCORE:
        raise AzulError(f"position: a score must be at most {MAX_WALL_SCORE} to play on, not {max(scores)}")
    return own, turn, scores, format_position(state)


def _read_deal(deal: str | Sequence[str], rules: Rules, position: str | None, first_player: int | str) -> str:
    """Normal form of a first deal that can be given."""
    from azul_fast.engine.layout import new_state
    from azul_fast.notation import check_deal, parse_deal, parse_position
    from azul_fast.position import write_tiles

    if first_player == ROTATE:
        raise AzulError(
            f"first player {ROTATE} does not go with a given deal, which one seat is the first to take from"
        )
    counts = parse_deal(deal, rules)
    check_deal(new_state(rules) if position is None else parse_position(position), counts)
    tiles = ("".join(map(operator.mul, COLORS, factory)) for factory in counts[1 : rules.factories + 1].tolist())
    return ",".join(map(write_tiles, tiles))


# --------------------------------------------------------------------------------------------------------- playing it
def simulate(
    games: int,
    rules: Rules | None = None,
    policies: str | Sequence[str] = "random",
    *,
    seed: int | None = None,
    threads: int | None = None,
    rotate: bool = False,
    first_player: int | str = 0,
    first_game: int = 0,
    position: str | None = None,
    deal: str | Sequence[str] | None = None,
    progress: Progress | None = None,
    on_chunk: OnChunk | None = None,
) -> Statistics:
    """Play games and return their statistics.

    The figures are a function of all parameters but `threads`, which only decides how long it takes.

    Parameters
    ----------
    games : int
        How many; with `rotate` a multiple of the number of players.
    rules : Rules, optional
        Two players on the coloured wall if not given, or those of `position`.
    policies : str or sequence of str
        One name for every seat, or one a seat (also in one text, separated by commas).
    seed : int, optional
        0 to 2^53 - 1; drawn if not given, see ``Statistics.seed``.
    threads : int, optional
        All processors that this process may use if not given.
    rotate : bool
        Play each deal once for every rotation of the policies over the seats: that block of games is then the sample.
    first_player : int or "rotate"
        The seat that starts each game; ``"rotate"`` is seat (game mod players).
    first_game : int
        Number of the first game, so that a run can be split and joined.
    position : str, optional
        A position that every game starts from.
    deal : str or sequence of str, optional
        The first deal of every game: ``"BBRK,YYWW,BYRK,RRRW,BKKW"``.
    progress : callable, optional
        Called in this thread as ``progress(done, games)``.
    on_chunk : callable, optional
        Called in this thread as ``on_chunk(first, count, results)`` with the results of games `first` to
        `first` + `count` - 1 of the run, in order, none left out: an int32 array [RESULT_ROWS, >= count]
        (`azul_fast.engine.layout`), which is used again when the call returns.

    Returns
    -------
    Statistics
        After Ctrl-C those of the first games, with ``interrupted`` set: what a run of so many games returns.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before the first game was over, or after another one.
    AzulError
        (a ValueError) one line that names the value and what is allowed, before any game is played.
    """
    run = describe(
        games,
        rules,
        policies,
        seed=seed,
        rotate=rotate,
        first_player=first_player,
        first_game=first_game,
        position=position,
        deal=deal,
    )
    return play(run, threads=threads, progress=progress, on_chunk=on_chunk)


def thread_count(threads: int | None = None) -> int:
    """`threads` if that is a number of threads, or else as many as this process has processors."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("threads", threads, 1, MAX_THREADS)


def play(
    run: Run,
    *,
    threads: int | None = None,
    chunk_games: int | None = None,
    progress: Progress | None = None,
    on_chunk: OnChunk | None = None,
) -> Statistics:
    """Play a run; see `simulate`. `chunk_games` fixes the size of the chunks, for tests: no figure depends on it."""
    threads = thread_count(threads)
    if chunk_games is not None and chunk_games % run.rotations:
        raise AzulError(f"chunk_games must be a multiple of {run.rotations}, not {chunk_games}")
    wall_clock, cpu_clock = time.perf_counter(), time.process_time()
    from azul_fast.stats import Statistics

    pool = _Pool(run, threads, chunk_games)
    with sigint_to(pool.interrupt):
        tally, speed = pool.merge(progress, on_chunk)
    if tally.games == 0:
        raise KeyboardInterrupt
    about = {
        "games_per_s": round(speed),
        "seconds": round(time.perf_counter() - wall_clock, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "games_asked": run.games,
        "versions": versions(),
    }
    return Statistics(replace(run, games=tally.games), tally, interrupted=tally.games < run.games, about=about)


def versions() -> dict[str, str]:
    """What played the games."""
    import numba
    import numpy

    import azul_fast

    return {
        "azul_fast": azul_fast.__version__,
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
    }


class _Pool:
    """Worker threads that play and count chunks, and the one thread that adds them up in order."""

    def __init__(self, run: Run, threads: int, chunk_games: int | None) -> None:
        import numpy as np

        from azul_fast.engine.layout import RESULT_ROWS
        from azul_fast.players import Players
        from azul_fast.tally import largest_chunk

        self.run = run
        self.seating = run.seating()
        self.start = run.start_state()
        self.players = Players(run.policies)
        # The games of one deal are never split. Those of slow policies are given out deal by deal.
        self.unit = run.rotations if self.players.is_open else UNIT
        self.threads = threads
        self.chunk_games = chunk_games
        limit = largest_chunk(run.rules.max_rounds) // UNIT * UNIT
        self.most_games = min(chunk_games or CHUNK_GAMES, limit, -(-run.games // UNIT) * UNIT)
        self.lock = threading.Lock()
        self.taken = 0  # games given to workers
        self.next_games = self.unit
        self.tail_games = self.unit
        self.stopped = False
        self.stop = np.zeros(1, np.int64)  # 1: games of slow policies end where they are
        # One entry a finished chunk: (first, games, tally or a policy's error, buffer); None is an interrupt, an
        # exception a failure of the program.
        self.done: SimpleQueue[Any] = SimpleQueue()
        # A chunk is taken only with a buffer for its results, and the buffer is free again when the chunk has been
        # added up: so workers cannot run far ahead, and the chunk that is next in order always has one.
        self.free: SimpleQueue[np.ndarray | None] = SimpleQueue()
        for _ in range(2 * threads + 2):
            self.free.put(np.empty((RESULT_ROWS, self.most_games + ROW_PADDING), np.int32))

    # ------------------------------------------------------------------------------------------------------ workers
    def take(self) -> tuple[int, int]:
        """First game and number of games of the next chunk; none when all are given out."""
        with self.lock:
            left = 0 if self.stopped else self.run.games - self.taken
            if self.chunk_games is not None:
                games = self.most_games
            else:
                fair = max(left // (2 * self.threads), self.tail_games) // self.unit * self.unit
                games = max(self.unit, min(self.next_games, fair))
            first, games = self.taken, min(games, left)
            self.taken += games
            return first, games

    def learn(self, games: int, seconds: float) -> None:
        """Size the next chunk by how long this one took."""
        speed = games / max(seconds, 1e-6)
        games = min(games * GROWTH, self.most_games, int(speed * CHUNK_SECONDS)) // self.unit * self.unit
        with self.lock:
            self.next_games, self.tail_games = max(games, self.unit), max(self.unit, int(speed * TAIL_SECONDS))

    def work(self) -> None:
        try:
            from azul_fast.tally import Tally

            run, seating = self.run, self.seating
            while (buffer := self.free.get()) is not None:
                first, games = self.take()
                if games == 0:
                    return
                begun = time.perf_counter()
                number = run.first_game + first
                first_rotates = int(run.first_player == ROTATE)
                try:
                    played = self.players.play(
                        self.start, run.rotations, first_rotates, run.seed, number, games, buffer, self.stop
                    )
                except PolicyError as error:  # told when its turn comes: of several, the first game's
                    self.stopped = True
                    self.done.put((first, 0, error, buffer))
                    return
                games = played // run.rotations * run.rotations
                if games == 0:  # stopped in its first game
                    return
                tally = Tally.of(buffer, games, seating, number)
                self.learn(games, time.perf_counter() - begun)
                self.done.put((first, games, tally, buffer))
        except BaseException as error:
            self.done.put(error)

    # --------------------------------------------------------------------------------------------------- the merger
    def interrupt(self) -> None:
        """Take no more chunks, and return what is there; safe to call from a signal handler."""
        self.stopped = True
        self.stop[0] = 1
        self.done.put(None)

    def merge(self, progress: Progress | None, on_chunk: OnChunk | None) -> tuple[Tally, float]:
        """Add up the chunks in order; returns the tally of games 0 to n - 1 and the games per second."""
        from azul_fast.tally import Tally

        workers = [threading.Thread(target=self.work, name=f"azul-{i}", daemon=True) for i in range(self.threads)]
        for worker in workers:
            worker.start()
        tally = Tally.empty(self.seating)
        waiting: dict[int, tuple[int, Tally | PolicyError, np.ndarray]] = {}
        first_done: tuple[float, int] | None = None  # when the kernels had been loaded, and games added up by then
        deadline = None
        try:
            while tally.games < self.run.games:
                if deadline is not None and (tally.games == self.taken or time.perf_counter() > deadline):
                    break
                try:
                    chunk = self.done.get(timeout=WAKE_SECONDS)
                except Empty:
                    continue
                if isinstance(chunk, BaseException):
                    raise chunk
                if chunk is None:
                    deadline = time.perf_counter() + GRACE_SECONDS
                    continue
                waiting[chunk[0]] = chunk[1:]
                while tally.games in waiting:
                    first = tally.games
                    games, counted, buffer = waiting.pop(first)
                    if isinstance(counted, PolicyError):
                        raise counted
                    if on_chunk is not None:
                        on_chunk(first, games, buffer)
                    self.free.put(buffer)
                    tally += counted
                    if first_done is None:
                        first_done = time.perf_counter(), games
                    if progress is not None:
                        progress(tally.games, self.run.games)
        finally:
            self.stopped = True
            self.stop[0] = 1
            for _ in workers:
                self.free.put(None)
            for worker in workers:
                worker.join(CHUNK_SECONDS if deadline is None else max(0.0, deadline - time.perf_counter()))
        seconds, games = 0.0, 0
        if first_done is not None:
            seconds, games = time.perf_counter() - first_done[0], tally.games - first_done[1]
        return tally, games / seconds if seconds > 0 else 0.0


@contextlib.contextmanager
def sigint_to(interrupt: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `interrupt`, the second raises KeyboardInterrupt as usual.

    Only where Ctrl-C would raise it in this thread: otherwise somebody else has a say.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
