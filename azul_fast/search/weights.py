"""The weights of `azul_fast.search.evaluation`, by round."""

from __future__ import annotations

import numpy as np

from azul_fast.search.evaluation import (
    COLORS,
    COLUMNS,
    LINE_POINTS,
    LINES,
    NEIGHBORS,
    ROUND_CLASSES,
    ROWS,
    STARTS,
    TERMS,
)

SPREAD = np.array([24.0, 21.0, 17.0, 13.0, 10.0])  # [round class] points
WEIGHTS = np.zeros((ROUND_CLASSES, TERMS))  # [round class, term] points
for _r in range(ROUND_CLASSES):
    _left = 1 - _r / 6
    WEIGHTS[_r, STARTS] = 1.0
    for _k in range(1, 5):
        WEIGHTS[_r, ROWS + _k - 1] = 0.2 * _k * _left
        WEIGHTS[_r, COLUMNS + _k - 1] = 7 * (_k / 5) ** 2 * _left
        WEIGHTS[_r, COLORS + _k - 1] = 8 * (_k / 5) ** 2 * _left
    for _i in range(1, 5):
        for _n in range(1, _i + 1):
            WEIGHTS[_r, LINES + _i * (_i - 1) // 2 + _n - 1] = 0.5 * _n / (_i + 1)
    WEIGHTS[_r, LINE_POINTS] = 0.7
    WEIGHTS[_r, NEIGHBORS] = 0.05
