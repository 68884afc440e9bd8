"""Tournaments: ratings of many policies from games between them, each deal in every rotation of the seats.

With 2 seats every two policies play a match; with more, every set of as many policies as there are seats plays in each
order around the table. A gauntlet plays only the games that its first policy takes part in. What a table plays is
keyed by its policies' names, and all figures are sums over tables: nothing depends on the order in which policies are
named or tables are played, and a policy that joins changes no game of the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import secrets
import signal
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azul_fast.batch import (
    MAX_GAMES,
    Progress,
    Run,
    describe,
    play,
    seat_policies,
    thread_count,
    versions,
    whole_number,
)
from azul_fast.elo import ELO_PER_NAT, rounded
from azul_fast.errors import AzulError, shown
from azul_fast.matches import GAMES, WIN_UNITS, headline
from azul_fast.rules import MAX_SEED, Rules
from azul_fast.stats import Estimate, Share, standard_deviation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azul_fast.ratings import Blocks, Ratings

FORMAT = "azul-tournament/1"


@dataclass(frozen=True)
class TournamentPlan:
    """What is to be played; made by `plan_tournament`, which checks it.

    Attributes
    ----------
    policies : tuple of str
        In alphabetical order.
    rules : Rules
    games : int
        Of every set of policies that plays.
    seed : int
    hero : str or None
        The policy of a gauntlet that plays against all others.
    tables : tuple of Run
        A run for each order of each set around the table.
    """

    policies: tuple[str, ...]
    rules: Rules
    games: int
    seed: int
    hero: str | None
    tables: tuple[Run, ...]


@dataclass(frozen=True)
class Standing:
    """A policy's place.

    Attributes
    ----------
    rating : Estimate
        In Elo, centred: all ratings sum to 0.
    behind : Estimate
        Elo points behind the first, with the standard error of that difference.
    win_share : Share
        A win shared by k counts 1/k.
    games : int
    """

    policy: str
    rating: Estimate
    behind: Estimate
    win_share: Share
    games: int

    def to_dict(self) -> dict[str, Any]:
        estimates = {name: getattr(self, name).to_dict() for name in ("rating", "behind", "win_share")}
        return {"policy": self.policy, **estimates, "games": self.games}


@dataclass(frozen=True)
class Tournament:
    """What came of a tournament; `str` draws it, `to_dict` is its JSON.

    Attributes
    ----------
    plan : TournamentPlan
    results : tuple of dict
        For each table the number of blocks by their result, a number that `results_of` reads.
    interrupted : bool
        Whether it was ended by Ctrl-C.
    """

    plan: TournamentPlan
    results: tuple[dict[int, int], ...]
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def seats(self) -> int:
        return self.plan.rules.players

    @property
    def seed(self) -> int:
        return self.plan.seed

    @property
    def blocks(self) -> int:
        """Blocks of games on one deal: the samples."""
        return sum(sum(counts.values()) for counts in self.results)

    @property
    def games(self) -> int:
        return self.blocks * self.seats

    @cached_property
    def _blocks(self) -> list[Blocks]:
        return [_blocks_of(self.plan, run, counts) for run, counts in zip(self.plan.tables, self.results, strict=True)]

    @cached_property
    def fitted(self) -> Ratings:
        """The fitted model: `azul_fast.ratings`, in natural units; policies as in the plan."""
        from azul_fast.ratings import fit

        return fit(len(self.plan.policies), self.seats, [group for group in self._blocks if len(group.counts)])

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The policies, the strongest first."""
        policies, found = self.plan.policies, self.fitted
        order = sorted(range(len(policies)), key=lambda i: (-found.ratings[i], policies[i]))
        best = order[0]
        places = []
        for i in order:
            variance = float(found.covariance[i, i])
            behind = variance + float(found.covariance[best, best]) - 2 * float(found.covariance[i, best])
            games, share = self._win_share(i)
            places.append(
                Standing(
                    policies[i],
                    _elo(float(found.ratings[i]), variance),
                    _elo(float(found.ratings[best] - found.ratings[i]), 0.0 if i == best else behind),
                    share,
                    games,
                )
            )
        return tuple(places)

    @cached_property
    def seat_effects(self) -> tuple[Estimate, ...]:
        """What each seat is worth in Elo, from the one that starts; they sum to 0."""
        found = self.fitted
        return tuple(_elo(float(e), float(se) ** 2) for e, se in zip(found.seats, found.seats_se, strict=True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What else must be known to read the ratings."""
        pairs = [f"{self.plan.policies[a]} and {self.plan.policies[b]}" for a, b in self.fitted.added]
        if not pairs:
            return ()
        return (
            "ratings would be without bound, as in some seats one of two won every game; half a win for each side was "
            f"added, so that their distances are rough and low: {', '.join(pairs)}",
        )

    def cross(self, policy: str, opponent: str) -> tuple[int, Share] | None:
        """Games that both were in, and the share of them in which `policy` came out ahead; level counts 1/2."""
        i, j = self.plan.policies.index(policy), self.plan.policies.index(opponent)
        points: Counter[int] = Counter()  # [points in half games in a block] -> blocks
        for group in self._blocks:
            ahead = (group.first == i) & (group.second == j)
            behind = (group.first == j) & (group.second == i)
            if ahead.any() or behind.any():
                twice = group.results[:, ahead].sum(axis=1) + (2 - group.results[:, behind]).sum(axis=1)
                _count(points, twice, group.counts)
        if not points:
            return None
        return self.seats * sum(points.values()), _share(points, 2 * self.seats)

    def _win_share(self, policy: int) -> tuple[int, Share]:
        points: Counter[int] = Counter()  # [twelfths of a game in a block] -> blocks
        for run, counts, group in zip(self.plan.tables, self.results, self._blocks, strict=True):
            if self.plan.policies[policy] in run.policies and counts:
                _count(points, _wins(group, policy, self.seats), group.counts)
        return self.seats * sum(points.values()), _share(points, WIN_UNITS * self.seats)

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on how the games were played."""
        plan = self.plan
        cross = []
        for place, other in itertools.permutations(self.standings, 2):
            met = self.cross(place.policy, other.policy)
            if met is not None:
                games, share = met
                cross.append(
                    {"policy": place.policy, "opponent": other.policy, "games": games, "share": share.to_dict()}
                )
        tables = [
            {"seating": list(run.policies), "seed": run.seed, "games": self.seats * sum(counts.values())}
            for run, counts in zip(plan.tables, self.results, strict=True)
        ]
        return {
            "format": FORMAT,
            "policies": [place.policy for place in self.standings],
            "gauntlet": plan.hero,
            "games": self.games,
            "blocks": self.blocks,
            "seed": plan.seed,
            "rules": plan.rules.to_dict(),
            "interrupted": self.interrupted,
            "standings": [place.to_dict() for place in self.standings],
            "seat_effects": [{"seat": seat, "elo": effect.to_dict()} for seat, effect in enumerate(self.seat_effects)],
            "ties": {"nu": rounded(self.fitted.nu), "share_of_equals": rounded(self.fitted.equal_ties)},
            "cross": cross,
            "tables": tables,
            "notes": list(self.notes),
            "run": self.about,
        }

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        from azul_fast.display import html

        return html(self)


def plan_tournament(
    *policies: str,
    games: int | None = None,
    rules: Rules | None = None,
    gauntlet: bool = False,
    seed: int | None = None,
) -> TournamentPlan:
    """Check what `tournament` is asked for; the parameters are the same."""
    if rules is not None and not isinstance(rules, Rules):
        raise AzulError(f"rules must be a Rules, not {shown(rules)}")
    rules = rules or Rules()
    seats = rules.players
    names = [seat_policies([policy], 2)[0] for policy in policies]
    for name, count in Counter(names).items():
        if count > 1:
            raise AzulError(f"policy {name} is named {count} times: a tournament takes each once")
    if len(names) < seats:
        given = " ".join(names) or "none"
        raise AzulError(f"a tournament of {seats} seats needs at least {seats} policies, not {len(names)}: {given}")
    games = whole_number("games", GAMES if games is None else games, 1, MAX_GAMES)
    orders = math.factorial(seats - 1)
    if games % (seats * orders):
        what = f"each deal in {seats} rotations of the seats"
        what += f" for each of the {orders} orders around the table" if orders > 1 else ""
        raise AzulError(f"games must be a multiple of {seats * orders} ({what}), not {games}")
    seed = secrets.randbelow(MAX_SEED + 1) if seed is None else whole_number("seed", seed, 0, MAX_SEED)
    hero = names[0] if gauntlet else None
    tables = []
    for members in itertools.combinations(sorted(names), seats):
        if hero is not None and hero not in members:
            continue
        for order in itertools.permutations(members[1:]):  # around the table, so the first may stay
            seating = (members[0], *order)
            tables.append(describe(games // orders, rules, seating, seed=_table_seed(seed, seating), rotate=True))
    return TournamentPlan(tuple(sorted(names)), rules, games, seed, hero, tuple(tables))


def tournament(
    *policies: str,
    games: int | None = None,
    rules: Rules | None = None,
    gauntlet: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Play policies against each other and rate them.

    Parameters
    ----------
    *policies : str
        At least as many as there are seats, each once.
    games : int, optional
        Of every two policies or, with 3 and 4 seats, of every set of so many: a multiple of 2, 6 or 24; 1,200 if not
        given.
    rules : Rules, optional
        Two players on the coloured wall if not given.
    gauntlet : bool
        Play only the games that the first policy takes part in.
    seed : int, optional
        0 to 2^53 - 1; drawn if not given, see ``Tournament.seed``.
    threads : int, optional
        All processors that this process may use if not given.
    progress : callable, optional
        Called in this thread as ``progress(done, games)``.

    Returns
    -------
    Tournament
        After Ctrl-C that of the games played, with ``interrupted`` set.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C before all policies had met.
    AzulError
        (a ValueError) one line that names the value and what is allowed, before any game is played.
    """
    plan = plan_tournament(*policies, games=games, rules=rules, gauntlet=gauntlet, seed=seed)
    return play_tournament(plan, threads=threads, progress=progress)


def play_tournament(
    plan: TournamentPlan, *, threads: int | None = None, progress: Progress | None = None
) -> Tournament:
    """Play a tournament; see `tournament`."""
    from azul_fast.ratings import is_connected

    threads = thread_count(threads)
    wall_clock, cpu_clock = time.perf_counter(), time.process_time()
    results: list[Counter[int]] = [Counter() for _ in plan.tables]
    all_games = sum(run.games for run in plan.tables)
    parts = 1 + max(run.games // run.rotations for run in plan.tables).bit_length()
    done = 0
    interrupted = False
    with _Interrupts() as interrupts:
        try:
            for part, (run, counts) in itertools.product(range(parts), zip(plan.tables, results, strict=True)):
                begin, end = (_games_before(run, part) for part in (part, part + 1))
                if begin == end:
                    continue

                def add(_: int, games: int, played: NDArray[np.int32], counts: Counter[int] = counts) -> None:
                    with interrupts.held():
                        counts.update(_block_results(played, games, plan.rules.players))

                def report(games: int, _: int, before: int = done) -> None:
                    if progress is not None:
                        progress(before + games, all_games)

                piece = replace(run, first_game=run.first_game + begin, games=end - begin)
                play(piece, threads=threads, progress=report, on_chunk=add)
                done += end - begin
        except KeyboardInterrupt:
            interrupted = True
    found = Tournament(plan, tuple(dict(sorted(counts.items())) for counts in results), interrupted)
    if interrupted and not is_connected(len(plan.policies), [group for group in found._blocks if len(group.counts)]):
        raise KeyboardInterrupt
    seconds = time.perf_counter() - wall_clock
    about = {
        "games_per_s": round(found.games / seconds),
        "seconds": round(seconds, 3),
        "cpu_s": round(time.process_time() - cpu_clock, 3),
        "threads": threads,
        "games_asked": all_games,
        "versions": versions(),
    }
    return replace(found, about=about)


class _Interrupts:
    """Ctrl-C raises KeyboardInterrupt as usual, but not while results are being added up: then just after that.

    The batch runner's own way ends one run, and here one follows the other. Where Ctrl-C would not be raised in this
    thread, somebody else has a say.
    """

    def __init__(self) -> None:
        self.is_held = self.is_asked = False

    def __enter__(self) -> _Interrupts:
        is_main = threading.current_thread() is threading.main_thread()
        self.is_mine = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.is_mine:
            signal.signal(signal.SIGINT, self.handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def handle(self, *_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.is_asked = True
        if not self.is_held:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Put off the first interrupt to the end of the block."""
        self.is_held = True
        yield
        self.is_held = False
        if self.is_asked:
            raise KeyboardInterrupt


def _games_before(run: Run, part: int) -> int:
    """Games of a table that are played before a part of the tournament: a block in the first, then as many as before.

    So an interrupt leaves no table with less than half the games of another.
    """
    return run.rotations * min(run.games // run.rotations, (1 << part) // 2)


def _table_seed(seed: int, seating: Sequence[str]) -> int:
    """The seed of a table: another one for other policies, whatever else is played."""
    key = json.dumps([seed, *seating]).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big") % (MAX_SEED + 1)


def _elo(nats: float, variance: float) -> Estimate:
    se = None if math.isnan(variance) else rounded(ELO_PER_NAT * math.sqrt(max(variance, 0.0)))
    return Estimate(rounded(ELO_PER_NAT * nats), se)


def _share(points: Counter[int], unit: int) -> Share:
    """Mean of blocks' points over `unit`, with its standard error between blocks."""
    n = sum(points.values())
    total = sum(value * count for value, count in points.items())
    deviation = standard_deviation(n, total, sum(value * value * count for value, count in points.items()))
    return Share(total / (unit * n), None if deviation is None else deviation / (unit * math.sqrt(n)), samples=n)


def _count(points: Counter[int], values: NDArray[Any], counts: NDArray[Any]) -> None:
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        points[int(value)] += int(count)


# --------------------------------------------------------------------------------------- the result of a block of games
# A digit for each game and pair of seats a < b: 0 when a ends behind b, 1 when they are level, 2 when a is ahead; the
# first game's first pair is the last digit of the number, which fits into 64 bits: 3^24 with 4 seats.
def seat_pairs(seats: int) -> list[tuple[int, int]]:
    """The pairs of seats that are compared in a game."""
    return list(itertools.combinations(range(seats), 2))


def _block_results(played: NDArray[np.int32], games: int, seats: int) -> dict[int, int]:
    """Number of blocks by their result."""
    import numpy as np

    from azul_fast.engine.layout import OUT_ROWS, OUT_SCORE, OUT_SEAT_ROWS, OUT_SEATS

    table = played[OUT_SEATS : OUT_SEATS + seats * OUT_SEAT_ROWS, :games].reshape(seats, OUT_SEAT_ROWS, -1)
    rank = 8 * table[:, OUT_SCORE].astype(np.int64) + table[:, OUT_ROWS]  # rows: 0 to 5
    pairs = seat_pairs(seats)
    game = sum(3**i * (np.sign(rank[a] - rank[b]) + 1) for i, (a, b) in enumerate(pairs))
    block = np.asarray(game).reshape(-1, seats) @ (3 ** (len(pairs) * np.arange(seats)))
    numbers, counts = np.unique(block, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def results_of(numbers: Sequence[int], seats: int) -> NDArray[np.int64]:
    """The digits of results: [results, games of a block * pairs of seats]."""
    import numpy as np

    digits = seats * len(seat_pairs(seats))
    return np.array(list(numbers), np.int64).reshape(-1, 1) // 3 ** np.arange(digits) % 3


def _blocks_of(plan: TournamentPlan, run: Run, counts: dict[int, int]) -> Blocks:
    """A table's blocks for the fit."""
    import numpy as np

    from azul_fast.ratings import Blocks

    seats = run.players
    places = [plan.policies.index(policy) for policy in run.policies]
    cells = [(r, a, b) for r in range(seats) for a, b in seat_pairs(seats)]
    return Blocks(
        first=np.array([places[(a + r) % seats] for r, a, _ in cells]),
        second=np.array([places[(b + r) % seats] for r, _, b in cells]),
        first_seat=np.array([a for _, a, _ in cells]),
        second_seat=np.array([b for _, _, b in cells]),
        results=results_of(list(counts), seats),
        counts=np.array(list(counts.values()), np.float64),
    )


def _wins(group: Blocks, policy: int, seats: int) -> NDArray[np.int64]:
    """What a policy that plays wins in each block, in twelfths of a game."""
    import numpy as np

    pairs = seat_pairs(seats)
    games = group.results.reshape(-1, seats, len(pairs))  # [results, games, pairs]
    behind = np.zeros((*games.shape[:2], seats), bool)
    for i, (a, b) in enumerate(pairs):
        behind[:, :, a] |= games[:, :, i] == 0
        behind[:, :, b] |= games[:, :, i] == 2
    shares = WIN_UNITS * ~behind // (~behind).sum(axis=2, keepdims=True)  # [results, games, seats]
    # Who sits where: the first and second of each game's pairs.
    seated = np.zeros((seats, seats), bool)
    for cell, (first, second) in enumerate(zip(group.first.tolist(), group.second.tolist(), strict=True)):
        game, (a, b) = cell // len(pairs), pairs[cell % len(pairs)]
        seated[game, a] |= first == policy
        seated[game, b] |= second == policy
    total: NDArray[np.int64] = (shares * seated).sum(axis=(1, 2))
    return total


# ------------------------------------------------------------------------------------------------------- how it looks
def _lines(found: Tournament) -> list[str]:
    from azul_fast.display import number

    plan, places = found.plan, found.standings
    kind = "round robin" if plan.hero is None else f"gauntlet of {plan.hero}"
    lines = [f"Tournament of {len(places)} policies, {kind}"]
    lines += headline(plan.rules, found.games, found.blocks, plan.seed)
    if found.interrupted:
        lines.append(f"Interrupted: {found.about.get('games_asked', found.games):,} games were asked for.")
    width = max(len("policy"), *(len(place.policy) for place in places))
    head = f"{'':>3}  {'policy':<{width}}{'Elo':>12}{'95% interval':>18}{'behind':>12}{'win share, %':>14}{'games':>9}"
    lines += ["", head]
    for i, place in enumerate(places, 1):
        interval = "" if place.rating.ci95 is None else "{:+.0f} to {:+.0f}".format(*place.rating.ci95)
        behind = number(place.behind) if i > 1 else ""
        lines.append(
            f"{i:>3}  {place.policy:<{width}}{number(place.rating):>12}{interval:>18}{behind:>12}"
            f"{number(place.win_share, percent=True):>14}{place.games:>9,}"
        )
    seats = ", ".join(f"seat {seat} {number(effect)}" for seat, effect in enumerate(found.seat_effects))
    lines += [
        "",
        f"Worth of the seats in Elo: {seats}",
        f"Level results between equals, by the model: {100 * found.fitted.equal_ties:.2f}%",
        "",
        "How often the row's policy came out ahead of the column's, %" + (" (level counts 1/2)" * (len(places) < 5)),
        " " * (width + 5) + "".join(f"{i:>12}" for i in range(1, len(places) + 1)),
    ]
    for i, place in enumerate(places, 1):
        cells = []
        for other in places:
            met = None if other is place else found.cross(place.policy, other.policy)
            cells.append("-" if met is None else number(met[1], percent=True))
        lines.append(f"{i:>3}  {place.policy:<{width}}" + "".join(f"{cell:>12}" for cell in cells))
    if found.seats > 2:
        lines += ["", "The ratings say who ends ahead of whom, from all pairs of each game, not who wins it."]
    for note in found.notes:
        lines += ["", *textwrap.wrap(f"Note: {note}.", 100)]
    return lines
