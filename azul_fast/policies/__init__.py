"""The built-in policies by name. Each has a file of its own; this one is free of numba."""

from __future__ import annotations

POLICIES = ("random", "tidy", "greedy")  # the index is the id that kernels use
RANDOM, TIDY, GREEDY = range(len(POLICIES))
