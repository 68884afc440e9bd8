"""Compiled search over the moves of one round: `alphabeta` (the policy `search`), and what a board is worth in it."""
