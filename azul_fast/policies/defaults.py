"""The parameters of the built-in policies and their defaults, in the order in which kernels read them."""

from __future__ import annotations

# `plan`: what each term of `azul_fast.policies.plan` is multiplied with. Its own result: `azul-fast tune`.
PLAN = {
    "row": 0.34,  # points of a row in progress
    "column": -0.12,  # points of a column in progress
    "color": 0.19,  # points of a color in progress
    "line": 0.15,  # points that a line in progress will score
    "fill": 0.33,  # points of a line in progress, whatever it will score
    "floor": 1.13,  # points that the floor line costs
    "marker": -0.17,  # points of starting the next round
    "left": -0.15,  # points for each tile that the move leaves in the center
}
# `search`: see `azul_fast.search.alphabeta`.
SEARCH = {
    "nodes": 20_000,  # positions it looks at for a move
    "depth": 0,  # plies; above 0 it looks exactly so far, whatever the nodes
}
# `mcts`: see `azul_fast.search.mcts`.
MCTS = {
    "playouts": 2_000,  # for a move
    "policy": 2,  # who plays them: random, tidy or greedy, by number or by name
    "rounds": 1,  # played out, then the boards are valued; 0: to the end of the game
}
PARAMETERS: dict[str, dict[str, float]] = {"plan": PLAN, "search": SEARCH, "mcts": MCTS}
# The least that a budget may be.
LEAST = {"search": {"nodes": 1, "depth": 0}, "mcts": {"playouts": 1, "policy": 0, "rounds": 0}}
