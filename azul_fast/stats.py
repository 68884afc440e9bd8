"""Statistics of played games, each with its standard error, from the exact sums of a `Tally`.

Every figure is a quotient of whole numbers, rounded once, so that it is the same to the last bit whatever order the
games were added up in. The sample is the game or, with rotation, the block of games on one deal (`azul_fast.tally`);
with n samples of c values each, and T the sum of the values of a sample:

mean
    sum(T) / (c n); its standard error is s(T) / (c sqrt(n)), with s the sample standard deviation (divisor n - 1).
standard deviation of a value
    From all c n values (divisor c n - 1). Its standard error is by the delta method: the variance is, but for terms of
    higher order, the mean over samples of U = Q - 2 m T, with Q the sum of the squared values and m the mean; so
    se(variance) = s(U) / (c sqrt(n)) and se(sd) = se(variance) / (2 sd). For c = 1 this is the classic
    sqrt((mu4 - sigma^4) / n) / (2 sigma). Cramer, Mathematical Methods of Statistics (1946), sections 27.4 and 28.4.
quantile
    The smallest value v with at least the share p of all values at or below it (definition 1 of Hyndman and Fan, The
    American Statistician 50, 1996). Its interval runs between the order statistics n p -+ z sqrt(n p (1 - p)), rounded
    up (Conover, Practical Nonparametric Statistics, 3rd ed. 1999, section 3.2); the standard error is half the interval
    with z = 1 (Woodruff, JASA 47, 1952). Values of one sample depend on each other, so n counts samples: with c > 1
    that is on the safe side.
share of games in which a wall cell is filled
    k / (c n), with sqrt(p (1 - p) / n): exact for c = 1, on the safe side above.
95% intervals
    Value -+ 1.96 standard errors. With less than two samples there is no standard error: None. Of shares (`Share`)
    Wilson's score interval (JASA 22, 1927, 209-212), which stays within 0 and 1, with the effective number of
    independent games p (1 - p) / se^2 (Kish, Survey Sampling, 1965, section 8.2; its use for intervals: Korn and
    Graubard, Survey Methodology 24, 1998, 193-201), or with the number of samples where all of them are at one end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azul_fast.rules import COLOR_BONUS, COLUMN_BONUS, END_REASONS, ROW_BONUS, WALL_SIZE

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console, ConsoleOptions, RenderableType

    from azul_fast.batch import Run
    from azul_fast.tally import Tally

FORMAT = "azul-stats/1"
Z95 = 1.959963984540054  # 97.5% point of the normal distribution
_ROUNDING = 1e-12  # of a share: closer to 0 or 1 than games can bring it
QUANTILES = (0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 0.999)
BONUSES = {"rows": ROW_BONUS, "columns": COLUMN_BONUS, "colors": COLOR_BONUS}


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error; `sd` is the standard deviation of one value, where that is known."""

    mean: float
    se: float | None
    sd: float | None = None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% confidence interval."""
        return None if self.se is None else (self.mean - Z95 * self.se, self.mean + Z95 * self.se)

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in other units."""
        se, sd = (None if value is None else value * factor for value in (self.se, self.sd))
        return Estimate(self.mean * factor, se, sd)

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = {"mean": self.mean, "se": self.se}
        if self.sd is not None:
            values["sd"] = self.sd
        if self.ci95 is not None:
            values["ci95"] = list(self.ci95)
        return values


@dataclass(frozen=True)
class Share(Estimate):
    """A mean of values between `low` and `high`, known from `samples` samples; its interval stays between them too."""

    samples: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% confidence interval by Wilson's score; see the module."""
        if self.se is None:
            return None
        width = self.high - self.low
        p = min(max((self.mean - self.low) / width, 0.0), 1.0)
        variance = (self.se / width) ** 2
        is_at_end = min(p, 1 - p) < _ROUNDING
        if is_at_end:
            p = float(round(p))
        elif variance == 0:
            return self.mean, self.mean
        n = float(self.samples) if is_at_end else p * (1 - p) / variance
        z2 = Z95 * Z95 / n
        middle, half = (p + z2 / 2) / (1 + z2), math.sqrt(z2 * (p * (1 - p) + z2 / 4)) / (1 + z2)
        low = self.low if p == 0 else self.low + width * max(middle - half, 0.0)
        high = self.high if p == 1 else self.low + width * min(middle + half, 1.0)
        return low, high

    def scaled(self, factor: float) -> Share:
        """The same share in other units; `factor` is above 0."""
        plain = super().scaled(factor)
        return replace(self, mean=plain.mean, se=plain.se, sd=plain.sd, low=self.low * factor, high=self.high * factor)


@dataclass(frozen=True)
class Quantile:
    """A score that the share `share` of all games does not exceed."""

    share: float
    value: int
    se: float | None
    ci95: tuple[int, int] | None

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "se": self.se, "ci95": None if self.ci95 is None else list(self.ci95)}


@dataclass(frozen=True)
class Scores(Estimate):
    """Final scores: mean, spread, quantiles and the number of times each score was reached."""

    sd_se: float | None = None
    quantiles: tuple[Quantile, ...] = ()
    histogram: tuple[int, ...] = ()  # [score], up to the highest

    @property
    def minimum(self) -> int:
        return next(score for score, count in enumerate(self.histogram) if count)

    @property
    def maximum(self) -> int:
        return len(self.histogram) - 1

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "sd_se": self.sd_se,
            "min": self.minimum,
            "max": self.maximum,
            "quantiles": {f"{q.share:g}": q.to_dict() for q in self.quantiles},
            "histogram": list(self.histogram),
        }


@dataclass(frozen=True)
class Figures:
    """What one seat, or one policy over all its seats, did. Shares and points are per game.

    Attributes
    ----------
    win_share : Share
        A win shared by k counts 1/k.
    outright, shared : Share
        Share of games won alone, and won with others.
    margin : Estimate
        Score less the best other score.
    placement_points, floor_points, clamp_points : Estimate
        Points of tiles placed (the score of a position that games start from counts as placed), points lost to the
        floor before the clamp at 0, and points that the clamp gave back.
    rows, columns, colors : Estimate
        How many are complete at the end; `bonus` has what they bring.
    wall, wall_se : list of list of float
        [row][column] share of games that end with the cell filled, and its standard error.
    """

    score: Scores
    win_share: Share
    outright: Share
    shared: Share
    margin: Estimate
    placement_points: Estimate
    floor_points: Estimate
    clamp_points: Estimate
    rows: Estimate
    columns: Estimate
    colors: Estimate
    wall: list[list[float]]
    wall_se: list[list[float]]

    def bonus(self, name: str) -> Estimate:
        """Points that complete ``"rows"``, ``"columns"`` or ``"colors"`` bring."""
        estimate: Estimate = getattr(self, name)
        return estimate.scaled(BONUSES[name])

    def to_dict(self) -> dict[str, Any]:
        values = {name: v.to_dict() for name, v in vars(self).items() if isinstance(v, Estimate)}
        for name in BONUSES:
            values[name]["points"] = self.bonus(name).to_dict()
        return {**values, "wall": {"share": self.wall, "se": self.wall_se}}


@dataclass(frozen=True)
class Starting:
    """The seat that starts: what moving first is worth.

    Attributes
    ----------
    win_share, margin : Share, Estimate
        As in `Figures`.
    advantage : Share
        Win share less an equal share.
    lead : Estimate
        Score less the mean score of the others.
    """

    win_share: Share
    advantage: Share
    margin: Estimate
    lead: Estimate

    def to_dict(self) -> dict[str, Any]:
        return {name: value.to_dict() for name, value in vars(self).items()}


@dataclass(frozen=True)
class Statistics:
    """What came of a run of games; `str` and Rich draw it, `to_dict` is its JSON.

    Attributes
    ----------
    run : azul_fast.batch.Run
        What was played.
    tally : azul_fast.tally.Tally
        The exact sums behind every figure; those of two runs can be added.
    interrupted : bool
        Whether more games were asked for.
    about : dict
        How it was played (speed, threads, versions): all that is not a function of the run.
    """

    run: Run
    tally: Tally
    interrupted: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def games(self) -> int:
        return self.tally.games

    @property
    def seed(self) -> int:
        return self.run.seed

    @property
    def samples(self) -> int:
        """Independent samples: games, or blocks of games on one deal."""
        return self.tally.samples

    @cached_property
    def seats(self) -> tuple[Figures, ...]:
        """Figures of each seat."""
        return tuple(self._figures(seat) for seat in range(self.run.players))

    @cached_property
    def policies(self) -> dict[str, Figures]:
        """Figures of each policy, all its seats together."""
        return {label: self._figures(self.run.players + i) for i, label in enumerate(self.run.labels)}

    @cached_property
    def starting(self) -> Starting:
        """Figures of the seat that starts."""
        cells, players = self.run.rotations, self.run.players
        share = self._share("starter", "win", cells, Fraction(1, 12))
        equal = 1 / players
        return Starting(
            win_share=share,
            advantage=replace(
                share,
                mean=self._estimate("starter", "win", cells, Fraction(1, 12), Fraction(-1, players)).mean,
                low=-equal,
                high=1 - equal,
            ),
            margin=self._estimate("starter", "margin", cells),
            lead=self._estimate("starter", "lead", cells, Fraction(1, players - 1)),
        )

    @cached_property
    def rounds(self) -> Estimate:
        return self._of_games("rounds", 0)

    @cached_property
    def plies(self) -> Estimate:
        return self._of_games("plies", 1)

    @cached_property
    def ends(self) -> dict[str, int]:
        """Games by the reason of their end."""
        return {reason: self._count(reason) for reason in END_REASONS}

    @property
    def shared_wins(self) -> int:
        """Games won by more than one seat."""
        return self._count("shared_win")

    @property
    def short_deals(self) -> int:
        """Games in which a factory was dealt fewer than 4 tiles."""
        return self._count("short_deal")

    def share(self, event: str) -> Share:
        """Share of games with an event: an end reason, ``"shared_win"`` or ``"short_deal"``."""
        return self._share("game", event, self.run.rotations)

    def policy_of(self, seat: int) -> str | None:
        """The policy of a seat, or None where several take turns in it."""
        if self.run.rotations > 1 and len(self.run.labels) > 1:
            return None
        return self.run.policies[seat]

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON takes them; nothing outside ``run`` depends on how the games were played."""
        run = self.run
        seats = [
            {"seat": seat, "policy": self.policy_of(seat), **figures.to_dict()}
            for seat, figures in enumerate(self.seats)
        ]
        return {
            "format": FORMAT,
            "games": self.games,
            "first_game": run.first_game,
            "samples": self.samples,
            "seed": run.seed,
            "rules": run.rules.to_dict(),
            "seating": list(run.policies),
            "rotate": run.rotations > 1,
            "first_player": run.first_player,
            "position": run.position,
            "deal": run.deal,
            "interrupted": self.interrupted,
            "seats": seats,
            "policies": {label: figures.to_dict() for label, figures in self.policies.items()},
            "starting": self.starting.to_dict(),
            "rounds": {**self.rounds.to_dict(), "histogram": self._rounds_histogram()},
            "plies": self.plies.to_dict(),
            "ends": self.ends,
            "end_shares": {reason: self.share(reason).to_dict() for reason in END_REASONS},
            "shared_wins": self.shared_wins,
            "shared_win_share": self.share("shared_win").to_dict(),
            "short_deals": self.short_deals,
            "short_deal_share": self.share("short_deal").to_dict(),
            "run": self.about,
        }

    def __str__(self) -> str:
        from azul_fast.display import as_text

        return as_text(self)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from azul_fast.display import statistics

        yield statistics(self, options.max_width)

    def _repr_html_(self) -> str:
        from azul_fast.display import html

        return html(self)

    # ------------------------------------------------------------------------------------------------- the formulas
    def _count(self, event: str) -> int:
        return self.tally.moment("game", event)[0]

    def _rounds_histogram(self) -> dict[str, int]:
        """Games by number of rounds; the last bin of the tally is for all longer games."""
        counts = self.tally.rounds.tolist()
        return {str(r) if r < len(counts) - 1 else f"{r}+": count for r, count in enumerate(counts) if count}

    def _estimate(
        self, group: int | str, metric: str, cells: int, unit: Fraction = Fraction(1), shift: Fraction = Fraction(0)
    ) -> Estimate:
        """Mean of a figure over the `cells` values of each sample, times `unit` plus `shift`."""
        n = self.samples
        total, squares = self.tally.moment(group, metric)
        deviation = standard_deviation(n, total, squares)
        se = None if deviation is None else float(unit) * deviation / (cells * math.sqrt(n))
        sd = None if deviation is None or cells > 1 else float(unit) * deviation
        return Estimate(float(Fraction(total, cells * n) * unit + shift), se, sd)

    def _share(
        self, group: int | str, metric: str, cells: int, unit: Fraction = Fraction(1), high: float = 1.0
    ) -> Share:
        """`_estimate` of a figure that is between 0 and `high`."""
        found = self._estimate(group, metric, cells, unit)
        return Share(found.mean, found.se, found.sd, samples=self.samples, high=high)

    def _of_games(self, metric: str, index: int) -> Estimate:
        estimate = self._estimate("game", metric, self.run.rotations)
        total, _ = self.tally.moment("game", metric)
        return Estimate(
            estimate.mean, estimate.se, standard_deviation(self.games, total, self.tally.game_squares[index])
        )

    def _figures(self, group: int) -> Figures:
        members = self.tally.seating.members()[group]  # [rotations, players]
        cells = int(members.sum())
        start = Fraction(int((members * self.tally.seating.start_scores).sum()), cells)
        counts = self.tally.walls[members].sum(axis=0)
        shares = [int(k) / (cells * self.samples) for k in counts]
        errors = [math.sqrt(p * (1 - p) / self.samples) for p in shares]
        high = self.run.rotations / cells  # one seat wins, so that all have this together at the most
        is_everyone = cells == self.run.rotations * self.run.players  # an equal share is no estimate then
        return Figures(
            score=self._scores(group, cells, self.tally.scores[members].sum(axis=0)),
            win_share=self._share(group, "win", cells, Fraction(1, 12), 1.0 if is_everyone else high),
            outright=self._share(group, "outright", cells, high=high),
            shared=self._share(group, "shared", cells),
            placement_points=self._estimate(group, "placement_points", cells, shift=start),
            **{
                name: self._estimate(group, name, cells)
                for name in ("margin", "floor_points", "clamp_points", *BONUSES)
            },
            wall=_square(shares),
            wall_se=_square(errors),
        )

    def _scores(self, group: int, cells: int, histogram: np.ndarray) -> Scores:
        n = self.samples
        estimate = self._estimate(group, "score", cells)
        total, total_squares = self.tally.moment(group, "score")
        squares, squares_squares = self.tally.moment(group, "score_square")
        sd = standard_deviation(cells * n, total, squares)
        sd_se = None
        if sd is not None and n > 1:
            # U = Q - 2 m T; times c n, so that all stays whole: c n Q - 2 sum(T) T
            values = cells * n
            sum_u = values * squares - 2 * total * total
            sum_uu = (
                values**2 * squares_squares
                - 4 * values * total * self.tally.cross[group]
                + 4 * total**2 * total_squares
            )
            deviation = standard_deviation(n, sum_u, sum_uu)
            assert deviation is not None
            sd_se = deviation / values / (cells * math.sqrt(n)) / (2 * sd) if sd > 0 else 0.0
        counts = histogram.tolist()
        while counts and counts[-1] == 0:
            counts.pop()
        return Scores(
            estimate.mean,
            estimate.se,
            sd,
            sd_se=sd_se,
            quantiles=tuple(_quantile(p, counts, n) for p in QUANTILES),
            histogram=tuple(counts),
        )


def standard_deviation(n: int, total: int, squares: int) -> float | None:
    """Sample standard deviation of n whole numbers from their sum and sum of squares."""
    return math.sqrt(Fraction(n * squares - total * total, n * (n - 1))) if n > 1 else None


def _square(values: list[float]) -> list[list[float]]:
    return [values[i : i + WALL_SIZE] for i in range(0, WALL_SIZE * WALL_SIZE, WALL_SIZE)]


def _quantile(share: float, counts: list[int], samples: int) -> Quantile:
    """A quantile of the histogram `counts`, with the interval of so many independent samples."""
    values = sum(counts)

    def at(rank: int, of: int) -> int:
        """The value whose rank is as high among all values as `rank` is of `of` (1 lowest)."""
        need = -(-min(max(rank, 1), of) * values // of)
        seen = 0
        for value, count in enumerate(counts):
            seen += count
            if seen >= need:
                return value
        raise AssertionError("more values than were counted")

    def interval(z: float) -> tuple[int, int]:
        spread = z * math.sqrt(samples * share * (1 - share))
        return at(math.ceil(samples * share - spread), samples), at(math.ceil(samples * share + spread), samples)

    value = at(math.ceil(Fraction(repr(share)) * values), values)
    if samples < 2:
        return Quantile(share, value, None, None)
    low, high = interval(1.0)
    return Quantile(share, value, (high - low) / 2, interval(Z95))
