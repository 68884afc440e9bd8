"""Elo differences from win shares: the logistic curve, intervals, and what can be said when nobody lost.

A side that holds `own` of the seats and takes the share S of all wins is e Elo points stronger than the sides of the
`others` seats when each of its seats wins 10^(e/400) times as often as each of theirs:

    10^(e / 400) = (S / own) / ((1 - S) / others)

With two seats that is the usual S = 1 / (1 + 10^(-e / 400)) of Elo, The Rating of Chessplayers (1978), section 1.4.
The interval's ends are those of the share's, Wilson's with the effective number of games between blocks
(`azul_fast.stats.Share`). The standard error is by the delta method: se(e) = (400 / ln 10) se(S) / (S (1 - S)), as in
M. Van den Bergh's notes on the statistics of Fishtest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from azul_fast.stats import Estimate, Share

DECIMALS = 6  # of what is written
ONE_BLOCK = "one block has no standard error"
ELO_PER_NAT = 400 / math.log(10)  # Elo points that multiply the odds by e


@dataclass(frozen=True)
class Elo:
    """An Elo difference with its 95% interval; None where the games do not bound it, and `note` says why."""

    mean: float | None
    se: float | None
    low: float | None
    high: float | None
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: rounded(value) for name, value in vars(self).items()}


def rounded(value: Any) -> Any:
    """A number as it is written: logarithms and linear algebra differ between machines in digits beyond these."""
    return round(value, DECIMALS) + 0.0 if isinstance(value, float) else value


def share_of_elo(elo: float, own: int = 1, others: int = 1) -> float:
    """Share of all wins that a side expects for its `own` seats together."""
    return own / (own + others * 10 ** (-elo / 400))


def elo_of_share(share: float, own: int = 1, others: int = 1) -> float:
    """Inverse of `share_of_elo`; `share` lies between 0 and 1."""
    return 400 * math.log10(share * others / ((1 - share) * own))


def elo_difference(share: Share, own: int = 1, others: int = 1) -> Elo:
    """Elo difference of a side whose `own` seats together won `share` of the games.

    Where the side won or lost everything there is only a bound, the one end of the interval that is not 0 or 1.
    """
    mean, interval = share.mean, share.ci95
    if interval is None:
        return Elo(elo_of_share(mean, own, others) if 0 < mean < 1 else None, None, None, None, ONE_BLOCK)
    low, high = (elo_of_share(end, own, others) if 0 < end < 1 else None for end in interval)
    if high is None:
        return Elo(None, None, low, None, "every game was won: there is only a lower bound")
    if low is None:
        return Elo(None, None, None, high, "no game was won: there is only an upper bound")
    elo = elo_of_share(mean, own, others)
    if share.se == 0 or share.se is None:
        return Elo(
            elo, None, None, None, "all blocks have the same score, which leaves no spread to take an error from"
        )
    return Elo(elo, ELO_PER_NAT * share.se / (mean * (1 - mean)), low, high)


def superiority(share: Estimate, equal: float) -> float | None:
    """Likelihood that the true share is above `equal`: normal, from the share's standard error between blocks."""
    if share.se is None:
        return None
    if share.se == 0:
        return 0.5 if share.mean == equal else float(share.mean > equal)
    return 0.5 * math.erfc((equal - share.mean) / (share.se * math.sqrt(2)))
