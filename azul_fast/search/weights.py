"""The weights of `azul_fast.search.evaluation`, in points: one line a term, one number a round (1, 2, 3, 4, later).

They were fitted to the margins at the end of games that searches played against each other, round by round: least
squares with a ridge towards the weights that those games were played with, twice over (see `scripts/fit_search.py`).
"""

from __future__ import annotations

import numpy as np

# fmt: off
_BY_TERM = np.array([
    (0.71, 0.86, 1.03, 2.24, 2.38),  # STARTS: it holds the marker
    (0.12, 0.48, 1.17, 1.04, 1.17),  # ROWS: rows with 1 to 4 tiles
    (0.40, 0.06, 0.93, 1.54, 1.49),
    (0.60, 0.50, 0.60, 1.60, 1.15),
    (0.80, 0.67, 0.53, 2.44, 0.60),
    (0.58, 0.42, 0.71, 0.41, 0.64),  # COLUMNS: columns with 1 to 4 tiles
    (1.33, 0.63, 1.00, 0.39, 0.80),
    (0.99, 0.44, 0.47, -0.20, 0.36),
    (5.02, 1.61, 1.34, 0.24, 0.75),
    (0.57, 0.81, 0.66, 0.53, -0.41),  # COLORS: colors with 1 to 4 tiles
    (0.95, 1.10, 1.02, 0.50, 1.42),
    (0.60, 1.48, 1.00, -0.20, 1.72),
    (5.12, 3.95, 2.71, 0.40, 2.01),
    (-3.91, -4.25, -6.11, -5.33, -3.33),  # LINES: line 2 with 1 tile
    (-1.94, -2.54, -4.06, -3.83, -4.11),  # line 3 with 1, 2
    (-0.42, -2.95, -5.46, -6.04, -4.31),
    (-3.09, -3.32, -3.83, -3.92, -3.94),  # line 4 with 1 to 3
    (-0.50, -2.09, -3.53, -4.97, -5.33),
    (0.06, -2.59, -4.59, -6.27, -5.91),
    (-3.17, -3.39, -3.91, -3.86, -3.79),  # line 5 with 1 to 4
    (-2.00, -3.66, -4.33, -4.41, -3.57),
    (-0.79, -2.90, -3.90, -5.39, -4.96),
    (1.73, -3.08, -4.47, -5.75, -5.16),
    (0.12, 0.70, 1.02, 0.95, 0.39),  # LINE_POINTS
    (0.915, 0.596, 0.479, 0.342, 0.246),  # LINE_COLUMN
    (-0.391, 0.241, 0.425, 0.475, 0.678),  # LINE_COLOR_TERM
    (0.83, 0.62, 0.38, 0.28, 0.39),  # NEIGHBORS
    (16.78, 15.53, 13.26, 10.03, 11.11),  # SPREAD
])
# fmt: on
WEIGHTS = np.ascontiguousarray(_BY_TERM.T).ravel()  # [round class, term]
