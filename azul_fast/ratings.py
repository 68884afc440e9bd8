"""Ratings from games between many: Bradley and Terry's model with ties and an effect of the seat.

Every comparison of two policies has a difference of strength d = (rating + seat effect) - (rating + seat effect), and

    P(win) : P(tie) : P(loss) = exp(d / 2) : nu : exp(-d / 2)

which is the model of Davidson (JASA 65, 1970) with the order effect of Davidson and Beaver (Biometrics 33, 1977): a win
is exp(d) times as likely as a loss, and equals tie in the share nu / (2 + nu) of their games. The logarithm of the
likelihood is concave, and Newton's method finds its maximum. Ratings and seat effects are centred: their sums are 0.

A game of more than two is taken apart into the comparisons of all its pairs by their final ranks. These depend on each
other, as the games on one deal do, so the sum of their log-likelihoods is a composite one: its maximum is consistent,
but the inverse of its information is no variance. The variance is Godambe's sandwich H^-1 J H^-1 with the block of
games on one deal as the sample: H the information and J the sum over blocks of the outer products of their scores,
taken about the mean of the blocks that have the same seats (Varin, Reid and Firth, An overview of composite likelihood
methods, Statistica Sinica 21, 2011). It is what a bootstrap over blocks estimates, without its noise.

What is rated with three and four seats is who comes out ahead of whom, not who wins the game: a policy that is often
second and seldom first is rated for that. And the intervals hold for games of these policies: that ratings add up (A
ahead of B, B ahead of C, so A far ahead of C) is the model's assumption, and no interval covers its failure.

Where one side of some comparison never scored, the maximum may lie at infinity (Ford, American Mathematical Monthly 64,
1957). Only then is half a win for each side added to the games of two such policies, spread over the pairs of seats in
which one of them never won, and said so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LOSS, TIE, WIN = range(3)  # of the first of two
HALF = 0.5  # of a win is added for each side of a pair where there is no finite maximum
_NEWTON_STEPS = 100
_TOLERANCE = 1e-11
# At a finite maximum as many adverse results are expected as were seen, so that no direction has much less information
# than one result; on the way to an infinite one a step divides it by e.
_LEAST_INFORMATION = 1e-6

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Blocks:
    """Blocks of games with the same policies in the same seats, and how often each result was seen.

    Attributes
    ----------
    first, second : int array [comparisons]
        The policies of each comparison in a block.
    first_seat, second_seat : int array [comparisons]
        Their seats.
    results : int array [patterns, comparisons]
        LOSS, TIE or WIN of the first: every result of a whole block that was seen.
    counts : float array [patterns]
        How many blocks had it.
    """

    first: Ints
    second: Ints
    first_seat: Ints
    second_seat: Ints
    results: Ints
    counts: Floats


@dataclass(frozen=True)
class Ratings:
    """Maximum of the likelihood, in natural units: exp(difference) is the odds of a win.

    Attributes
    ----------
    ratings : array [policies]
    covariance : array [policies, policies]
        NaN where no two blocks have the same seats, as are the next.
    seats : array [seats]
    seats_se : array [seats]
    nu : float
    added : tuple of (int, int)
        The pairs of policies for which half wins had to be added.
    """

    ratings: Floats
    covariance: Floats
    seats: Floats
    seats_se: Floats
    nu: float
    added: tuple[tuple[int, int], ...] = ()

    @property
    def equal_ties(self) -> float:
        """Share of ties between equals."""
        return self.nu / (2 + self.nu)


def is_connected(policies: int, blocks: Sequence[Blocks]) -> bool:
    """Whether all policies have met, directly or through others, so that they can be rated on one scale."""
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        for group in blocks:
            for pair in zip(group.first.tolist(), group.second.tolist(), strict=True):
                if not reached.isdisjoint(pair):
                    reached.update(pair)
    return len(reached) == policies


def fit(policies: int, seats: int, blocks: Sequence[Blocks]) -> Ratings:
    """Rate `policies` that met in games of `seats`; they must be connected."""
    found = _maximum(policies, seats, blocks)
    added: list[tuple[int, int]] = []
    if found is None:
        halves = _half_wins(blocks)
        added = sorted(
            {(int(min(a, b)), int(max(a, b))) for h in halves for a, b in zip(h.first, h.second, strict=True)}
        )
        found = _maximum(policies, seats, [*blocks, *halves])
        assert found is not None, "both sides of every comparison have scored"
    else:
        halves = []
    theta, information = found
    model = _Model(policies, seats, len(theta) > policies + seats - 2)
    spread = np.zeros_like(information)
    for group, is_sample in [(group, True) for group in blocks] + [(group, False) for group in halves]:
        scores = model.scores(theta, group)
        n = float(group.counts.sum())
        if is_sample and n > 1:
            scores = scores - group.counts @ scores / n
        part = scores.T @ (group.counts[:, None] * scores)
        spread += part * n / (n - 1) if is_sample and n > 1 else part
    if all(group.counts.sum() <= 1 for group in blocks):
        spread[:] = math.nan
    inverse = np.linalg.inv(information)
    covariance = inverse @ spread @ inverse
    r, s = slice(0, policies - 1), slice(policies - 1, policies + seats - 2)
    seat_covariance = model.seat_basis @ covariance[s, s] @ model.seat_basis.T
    return Ratings(
        ratings=model.rating_basis @ theta[r],
        covariance=model.rating_basis @ covariance[r, r] @ model.rating_basis.T,
        seats=model.seat_basis @ theta[s],
        seats_se=np.sqrt(np.maximum(np.diag(seat_covariance), 0.0)),
        nu=math.exp(theta[-1]) if model.has_ties else 0.0,
        added=tuple(added),
    )


class _Model:
    """Log-likelihood of the coordinates of centred ratings and of centred seat effects, and of log nu if games tie."""

    def __init__(self, policies: int, seats: int, has_ties: bool) -> None:
        self.rating_basis, self.seat_basis = _centred(policies), _centred(seats)
        self.has_ties = has_ties
        self.size = policies + seats - 2 + has_ties

    def design(self, group: Blocks) -> Floats:
        """[comparisons, parameters but log nu]: what a difference is made of."""
        ratings = self.rating_basis[group.first] - self.rating_basis[group.second]
        seats = self.seat_basis[group.first_seat] - self.seat_basis[group.second_seat]
        return np.hstack([ratings, seats])

    def expected(self, theta: Floats, group: Blocks) -> tuple[Floats, Floats, Floats, Floats]:
        """For each comparison: difference, log of the sum of weights, P(win) - P(loss) halved, and P(tie)."""
        d = self.design(group) @ theta[: self.size - self.has_ties]
        nu = math.exp(theta[-1]) if self.has_ties else 0.0
        half = np.abs(d) / 2
        total = half + np.log1p(np.exp(-2 * half) + nu * np.exp(-half))
        lead = (np.exp(d / 2 - total) - np.exp(-d / 2 - total)) / 2
        return d, total, lead, nu * np.exp(-total)

    def value(self, theta: Floats, blocks: Sequence[Blocks]) -> float:
        """The log-likelihood."""
        value = 0.0
        for group in blocks:
            d, total, _, _ = self.expected(theta, group)
            leads = group.counts @ ((group.results - TIE) / 2)
            value += float(leads @ d - group.counts.sum() * total.sum())
            if self.has_ties:
                value += float(theta[-1] * (group.counts @ (group.results == TIE)).sum())
        return value

    def scores(self, theta: Floats, group: Blocks) -> Floats:
        """Gradient for each pattern: [patterns, parameters]."""
        _, _, lead, tie = self.expected(theta, group)
        scores = ((group.results - TIE) / 2 - lead) @ self.design(group)
        if self.has_ties:
            scores = np.column_stack([scores, ((group.results == TIE) - tie).sum(axis=1)])
        return scores

    def information(self, theta: Floats, blocks: Sequence[Blocks]) -> Floats:
        """Less the second derivative, [parameters, parameters]."""
        information = np.zeros((self.size, self.size))
        for group in blocks:
            _, _, lead, tie = self.expected(theta, group)
            design, n = self.design(group), group.counts.sum()
            last = self.size - self.has_ties
            weight = (1 - tie) / 4 - lead**2
            information[:last, :last] += n * design.T @ (weight[:, None] * design)
            if self.has_ties:
                mixed = n * design.T @ (-lead * tie)
                information[:last, last] += mixed
                information[last, :last] += mixed
                information[last, last] += n * (tie * (1 - tie)).sum()
        return information


def _maximum(policies: int, seats: int, blocks: Sequence[Blocks]) -> tuple[Floats, Floats] | None:
    """Parameters of the greatest likelihood and their information, or None where it is not reached."""
    comparisons = sum(float(group.counts.sum()) * group.results.shape[1] for group in blocks)
    ties = sum(float((group.counts @ (group.results == TIE)).sum()) for group in blocks)
    if ties == comparisons:
        return None
    model = _Model(policies, seats, ties > 0)
    theta = np.zeros(model.size)
    if model.has_ties:
        theta[-1] = math.log(2 * ties / (comparisons - ties))
    value, information = model.value(theta, blocks), model.information(theta, blocks)
    for _ in range(_NEWTON_STEPS):
        gradient = sum((group.counts @ model.scores(theta, group) for group in blocks), np.zeros(model.size))
        step = np.linalg.solve(information, gradient)
        while (after := model.value(theta + step, blocks)) < value - 1e-9 * abs(value):
            step = step / 2
        theta, value = theta + step, after
        information = model.information(theta, blocks)
        if np.linalg.eigvalsh(information)[0] < _LEAST_INFORMATION:
            return None
        if np.abs(step).max() < _TOLERANCE:
            break
    return theta, information


def _half_wins(blocks: Sequence[Blocks]) -> list[Blocks]:
    """Half a win for each side of every two policies, in the pairs of seats in which one side never won."""
    seen: dict[tuple[int, int, int, int], list[float]] = {}
    for group in blocks:
        wins, losses = (group.counts @ (group.results == result) for result in (WIN, LOSS))
        cells = zip(group.first, group.second, group.first_seat, group.second_seat, wins, losses, strict=True)
        for first, second, first_seat, second_seat, won, lost in cells:
            key, pair = (int(first), int(second), int(first_seat), int(second_seat)), [float(won), float(lost)]
            if first > second:
                key, pair = (key[1], key[0], key[3], key[2]), pair[::-1]
            total = seen.setdefault(key, [0.0, 0.0])
            total[0], total[1] = total[0] + pair[0], total[1] + pair[1]
    one_sided = sorted(key for key, pair in seen.items() if 0 in pair)
    cells_of = Counter(key[:2] for key in one_sided)
    halves = []
    for key in one_sided:
        first, second, first_seat, second_seat = (np.array([number]) for number in key)
        halves.append(
            Blocks(
                first, second, first_seat, second_seat, np.array([[WIN], [LOSS]]), np.full(2, HALF / cells_of[key[:2]])
            )
        )
    return halves


def _centred(n: int) -> Floats:
    """Orthonormal columns [n, n - 1] that are all orthogonal to (1, ..., 1): Helmert's."""
    basis = np.zeros((n, n - 1))
    for column in range(1, n):
        basis[:column, column - 1] = 1.0
        basis[column, column - 1] = -column
        basis[:, column - 1] /= math.sqrt(column * (column + 1))
    return basis
