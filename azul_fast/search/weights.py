"""The weights of `azul_fast.search.evaluation`, in points: one line a term, one number a round (1, 2, 3, 4, later).

They were fitted to the margins at the end of games that searches played against each other, round by round: least
squares with a ridge towards the weights that those games were played with (see `scripts/fit_search.py`): twice over for
two players on the coloured wall, once more from there for two on the gray one, which wins 53.5 +-1.4% of games against
those it came from (1,200, at 2,000 nodes a move). With 3 and 4 players nothing that was fitted so has played better so
far: they have those of two.
"""

from __future__ import annotations

import numpy as np

# fmt: off
_TABLE = np.array([
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
_GRAY_OF_TWO = np.array([  # the same terms
    (0.44, 0.28, 0.41, 1.50, 1.39),
    (-0.65, 0.20, 0.08, 0.48, 0.58),
    (0.40, -0.57, -0.13, 0.67, 0.22),
    (0.60, 0.50, -0.99, 0.63, -0.46),
    (0.80, 0.67, 0.53, 0.68, -0.57),
    (0.78, -0.95, -0.39, -0.46, -0.30),
    (0.26, -2.28, -0.80, -1.28, -1.66),
    (1.40, -2.49, -1.62, -1.86, -1.97),
    (6.71, -1.37, -0.10, -0.58, -0.93),
    (-0.09, 0.22, 0.07, 0.31, 2.47),
    (1.82, 0.89, 0.06, -0.29, 2.37),
    (1.66, 2.09, 0.63, -1.23, 0.94),
    (5.12, 5.44, 3.30, -0.45, 0.46),
    (-2.63, -6.36, -5.15, -5.27, -1.92),
    (-2.02, -3.72, -3.99, -4.10, -2.36),
    (-0.59, -4.76, -5.80, -6.96, -5.39),
    (-2.35, -2.86, -4.08, -3.97, -4.70),
    (0.37, -2.15, -3.79, -5.54, -5.03),
    (1.58, -3.76, -5.42, -7.71, -8.55),
    (-1.71, -2.78, -4.19, -3.99, -1.82),
    (-1.26, -2.51, -4.63, -5.41, -6.44),
    (-0.41, -1.76, -3.87, -5.80, -5.27),
    (-1.57, -1.75, -4.69, -6.68, -7.24),
    (0.95, 0.85, 0.99, 1.06, 0.62),
    (0.125, 0.354, 0.484, 0.410, 0.434),
    (-0.028, 0.191, 0.227, 0.412, 0.680),
    (1.00, 0.76, 0.36, 0.13, 0.17),
    (19.62, 17.73, 15.16, 11.58, 14.90),
])
# fmt: on
_SETS = ((_TABLE, _GRAY_OF_TWO), (_TABLE, _TABLE), (_TABLE, _TABLE))  # [players - 2][gray wall]
WEIGHTS = np.stack([table.T for row in _SETS for table in row]).ravel()  # [players - 2, gray wall, round class, term]
