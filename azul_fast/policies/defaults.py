"""The parameters of the built-in policies and their defaults, in the order in which kernels read them."""

from __future__ import annotations

# `plan`: points, or points for each unit named. Its own result: `azul-fast tune`.
PLAN = {
    "row": 1.0,
    "column": 1.0,
    "color": 1.0,
    "line": 1.0,
    "floor": 1.0,
    "marker": 1.0,
    "left": 1.0,
}
PARAMETERS: dict[str, dict[str, float]] = {"plan": PLAN}
