"""Azul, simulated by the million: ``import azul_fast as az``; ``az.simulate(games=1_000_000)``.

Importing this package costs nothing: each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azul_fast.batch import simulate as simulate
    from azul_fast.errors import AzulError as AzulError
    from azul_fast.rules import Rules as Rules
    from azul_fast.stats import Statistics as Statistics

__version__ = "0.1.0"

_HOMES = {"simulate": "batch", "Statistics": "stats", "Rules": "rules", "AzulError": "errors"}  # [name] -> module

__all__ = ["AzulError", "Rules", "Statistics", "__version__", "simulate"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
