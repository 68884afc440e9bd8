"""Azul, simulated by the million: ``import azul_fast as az``; ``az.simulate(games=1_000_000)``.

Importing this package costs nothing: each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all else here
if TYPE_CHECKING:
    from azul_fast.batch import simulate as simulate
    from azul_fast.errors import AzulError as AzulError
    from azul_fast.errors import GameOverError as GameOverError
    from azul_fast.errors import IllegalMoveError as IllegalMoveError
    from azul_fast.errors import InvalidDealError as InvalidDealError
    from azul_fast.errors import InvalidMoveError as InvalidMoveError
    from azul_fast.errors import InvalidPositionError as InvalidPositionError
    from azul_fast.errors import InvalidRecordError as InvalidRecordError
    from azul_fast.errors import NoRecordError as NoRecordError
    from azul_fast.evaluation import Evaluation as Evaluation
    from azul_fast.evaluation import evaluate as evaluate
    from azul_fast.game import Game as Game
    from azul_fast.matches import Match as Match
    from azul_fast.matches import match as match
    from azul_fast.notation import Move as Move
    from azul_fast.play import choose as choose
    from azul_fast.policies import policy as policy
    from azul_fast.records import replay as replay
    from azul_fast.reviews import Review as Review
    from azul_fast.reviews import review as review
    from azul_fast.rules import Rules as Rules
    from azul_fast.stats import Statistics as Statistics
    from azul_fast.tournaments import Tournament as Tournament
    from azul_fast.tournaments import tournament as tournament
    from azul_fast.tree import perft as perft
    from azul_fast.tuning import Tuning as Tuning
    from azul_fast.tuning import tune as tune

__version__ = "0.1.0"

_HOMES = {  # [name] -> module
    "simulate": "batch",
    "Statistics": "stats",
    "Rules": "rules",
    "Game": "game",
    "Move": "notation",
    "choose": "play",
    "evaluate": "evaluation",
    "Evaluation": "evaluation",
    "match": "matches",
    "Match": "matches",
    "tournament": "tournaments",
    "Tournament": "tournaments",
    "tune": "tuning",
    "Tuning": "tuning",
    "policy": "policies",
    "replay": "records",
    "review": "reviews",
    "Review": "reviews",
    "perft": "tree",
    "AzulError": "errors",
    "GameOverError": "errors",
    "IllegalMoveError": "errors",
    "InvalidDealError": "errors",
    "InvalidMoveError": "errors",
    "InvalidPositionError": "errors",
    "InvalidRecordError": "errors",
    "NoRecordError": "errors",
}

__all__ = [
    "AzulError",
    "Evaluation",
    "Game",
    "GameOverError",
    "IllegalMoveError",
    "InvalidDealError",
    "InvalidMoveError",
    "InvalidPositionError",
    "InvalidRecordError",
    "Match",
    "Move",
    "NoRecordError",
    "Review",
    "Rules",
    "Statistics",
    "Tournament",
    "Tuning",
    "__version__",
    "choose",
    "evaluate",
    "match",
    "perft",
    "policy",
    "replay",
    "review",
    "simulate",
    "tournament",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
