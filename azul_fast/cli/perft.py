"""``azul-fast perft``: count the tree of legal moves within a round."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import DONE, announce_compilation
from azul_fast.cli.options import PositionText, WholeNumber

if TYPE_CHECKING:
    from azul_fast.tree import Count

FORMAT = "azul-perft/1"


@click.command("perft", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("position", type=PositionText())
@click.argument("depth", type=WholeNumber())
@click.option("--split", "is_split", is_flag=True, help="Also the leaves below each legal move.")
@click.option("--no-bulk", is_flag=True, help="Make the moves that lead to leaves too; slower, the same counts.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(position: str, depth: int, is_split: bool, no_bulk: bool, as_json: bool) -> int:
    """Count the leaves of the tree of legal moves, DEPTH moves deep, below POSITION: its text, - or @FILE.

    A line of play that ends the round before is one leaf. Two programs that count alike agree on the legal moves.
    """
    announce_compilation()
    from azul_fast.tree import count, split

    def parts(depth: int) -> Iterator[tuple[str, Count]]:
        if is_split:
            yield from split(position, depth, bulk=not no_bulk)
        else:
            yield "", count(position, depth, bulk=not no_bulk)

    for _ in parts(min(depth, 2)):  # kernels are compiled or loaded before the clock runs
        pass
    started = time.perf_counter()
    branches: dict[str, int] = {}
    leaves = moves = 0
    for move, found in parts(depth):
        branches[move] = found.leaves
        leaves, moves = leaves + found.leaves, moves + found.moves
        if is_split and not as_json:
            click.echo(f"{move} {found.leaves}")
    seconds = time.perf_counter() - started

    if as_json:
        result: dict[str, Any] = {"format": FORMAT, "position": position, "depth": depth, "leaves": leaves}
        if is_split:
            result["moves"] = branches
        result["run"] = {"seconds": seconds, "moves_made": moves, "bulk": not no_bulk}
        click.echo(json.dumps(result))
    else:
        click.echo(f"total {leaves}" if is_split else leaves)
    click.echo(
        f"{seconds:.3f} s: {leaves / seconds:,.0f} leaves/s; {moves:,} moves made, {moves / seconds:,.0f} moves/s",
        file=sys.stderr,
    )
    return DONE
