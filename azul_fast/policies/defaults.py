"""The parameters of the built-in policies and their defaults, in the order in which kernels read them.

The weights of `plan` are its own result: from numbers set by hand it played against itself, each generation against the
mean of the one before, for 8 minutes of one processor. The same command prints the same weights::

    azul-fast tune --opponent self --generations 40 --candidates 48 --games 1200 --test-games 20000 --seed 1 --policy \
        plan:row=0:column=0.25:color=0.25:neighbor=1:carry=0.5:stuck=3:tile=0.25:floor=1:marker=1:reply=1:again=0.5:hope=0.25

Rows, columns and colors are worth next to nothing before they are complete, whatever the shape or the size of the term:
without it the score share differs by less than its standard error. The points of tiles beside each other lead to the
same places, and in the five rounds of a game between two a seat completes 0.3 columns and 0.03 colors.
"""

from __future__ import annotations

# `plan`: what each term of `azul_fast.policies.plan` is multiplied with.
PLAN = {
    "row": 0.0902,  # share of a row's bonus that its tiles are worth before it is complete
    "column": 0.189,  # the same of a column
    "color": 0.215,  # the same of a color
    "neighbor": 1.5,  # points for each empty cell beside a tile
    "carry": 0.768,  # share of its tile's value that a line filled in part takes into the next round
    "stuck": 4.82,  # points that such a line costs
    "tile": 0.395,  # points of a tile that finds room
    "floor": 1.3,  # points for each point that the floor line costs
    "marker": 1.23,  # points of starting the next round
    "reply": 1.25,  # points for each point of the next player's best move, among all other players
    "again": 0.605,  # points for each point of the best move that is left after that; see there for 3 and 4 players
    "hope": 0.109,  # share of its tile's value that a line has by being filled later in the round, if it can be
}
# `search`: see `azul_fast.search.alphabeta`.
SEARCH = {
    "nodes": 20_000,  # positions it looks at for a move
    "depth": 0,  # plies; above 0 it looks exactly so far, whatever the nodes
    "time": 0,  # seconds for a move, 0: no limit; such moves depend on the machine and cannot be repeated
}
# `mcts`: see `azul_fast.search.mcts`.
MCTS = {
    "playouts": 2_000,  # for a move
    "policy": 2,  # who plays them: random, tidy or greedy, by number or by name
    "rounds": 1,  # played out, then the boards are valued; 0: to the end of the game
    "time": 0,  # seconds for a move, as for `search`
    "reuse": 1,  # 0: each move starts with an empty tree, so that it depends on the position and the random word alone
}
PARAMETERS: dict[str, dict[str, float]] = {"plan": PLAN, "search": SEARCH, "mcts": MCTS}
# The least that whole numbers may be.
LEAST = {"search": {"nodes": 1, "depth": 0}, "mcts": {"playouts": 1, "policy": 0, "rounds": 0, "reuse": 0}}
# What does not limit a move when its time is given, and this is not.
BUDGETS = {"search": "nodes", "mcts": "playouts"}
