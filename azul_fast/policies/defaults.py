"""The parameters of the built-in policies and their defaults, in the order in which kernels read them."""

from __future__ import annotations

# `plan`: what each term of `azul_fast.policies.plan` is multiplied with. Its own result: `azul-fast tune`.
PLAN = {
    "row": 0.1,  # share of a row's bonus that its tiles are worth before it is complete
    "column": 0.1,  # the same of a column
    "color": 0.3,  # the same of a color
    "neighbor": 1.15,  # points for each empty cell beside a tile
    "carry": 0.55,  # share of its tile's value that a line filled in part takes into the next round
    "stuck": 3.3,  # points that such a line costs
    "tile": 0.22,  # points of a tile that finds room
    "floor": 1.35,  # points for each point that the floor line costs
    "marker": 0.6,  # points of starting the next round
    "reply": 1.62,  # points for each point of the next player's best move, among all other players
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
