"""An evaluation drawn for the terminal: the position, and its moves in a table, best first."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from azul_fast.display import WIDTH, number
from azul_fast.drawing import rich_text
from azul_fast.evaluation import ERROR, Evaluation, MoveValue
from azul_fast.notation import parse_position
from azul_fast.position import Position

SHOWN = 20  # moves
BAR = 16  # characters
_ASCII = str.maketrans({"±": "~", "·": "-", "─": "-", "█": "#", "▌": " ", "✗": "x"})


def as_text(evaluation: Evaluation, width: int = WIDTH, ascii_only: bool = False, shown: int | None = SHOWN) -> str:
    """The drawing as plain text, without color."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, highlight=False)
    console.print(ranking(evaluation, width, shown))
    assert isinstance(console.file, io.StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    return text.translate(_ASCII) if ascii_only else text


def ranking(evaluation: Evaluation, width: int = WIDTH, shown: int | None = SHOWN) -> RenderableType:
    """The drawing for Rich: the position, and the first `shown` moves (None: all)."""
    position = Position.from_state(parse_position(evaluation.question.position))
    moves = evaluation.moves[:shown]
    return Group(
        rich_text(position, width),
        Text(),
        _headline(evaluation, position.turn),
        _table(evaluation, moves),
        _notes(evaluation, len(moves)),
    )


def _headline(evaluation: Evaluation, seat: int) -> Text:
    question = evaluation.question
    text = Text()
    count = len(evaluation.moves)
    text.append(f"{count:,} {'move' if count == 1 else 'moves'} for seat {seat}", "bold")
    text.append(f" · {evaluation.rollouts:,} rollouts")
    if evaluation.interrupted:
        text.append(f", interrupted (of {question.rollouts:,})", "bold red")
    by = "win share" if question.by == "win" else "margin"
    text.append(f" · by {question.policy} · ranked by {by} · seed {question.seed}")
    if question.depth_cut:
        text.append(
            "\nPlayed to the end of the round; the boards there say what may be expected. "
            "± leaves out what that gets wrong."
        )
    return text


def _table(evaluation: Evaluation, moves: tuple[MoveValue, ...]) -> Table:
    by_win = evaluation.question.by == "win"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("move", no_wrap=True)
    for head in ("win share, %", "margin", "behind, %" if by_win else "behind", "rollouts"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    lengths = _lengths(moves, by_win)
    for i, (value, length) in enumerate(zip(moves, lengths, strict=True)):
        table.add_row(
            Text(value.move, "bold" if i == 0 else ""),
            number(value.win_share, percent=True),
            number(value.margin),
            "" if i == 0 else number(value.behind, percent=by_win),
            f"{value.rollouts:,}{' ✗' if value.separated else ''}",
            Text("█" * (length // 2) + "▌" * (length % 2), "cyan"),
        )
    return table


def _lengths(moves: tuple[MoveValue, ...], by_win: bool) -> list[int]:
    """Half characters of each move's bar: win shares from 0 to 1, margins from the lowest (or 0) to the highest."""
    values = [(value.win_share if by_win else value.margin).mean for value in moves]
    low, high = (0.0, 1.0) if by_win else (min(0.0, *values), max(0.0, *values))
    return [round(2 * BAR * (value - low) / ((high - low) or 1.0)) for value in values]


def _notes(evaluation: Evaluation, shown: int) -> Text:
    question = evaluation.question
    notes = []
    if len(evaluation.moves) > shown:
        more = len(evaluation.moves) - shown
        notes.append(f"{more:,} more {'move is' if more == 1 else 'moves are'} not shown.")
    notes.append("± is one standard error. One half of the rollouts chose the order, the other half measured it.")
    if question.until_separated:
        left = sum(not value.separated for value in evaluation.moves)
        notes.append(f"✗ is worse than another move with {1 - ERROR:.0%} confidence, all moves together.")
        if evaluation.stopped == "separated" and left > 1:
            notes.append(f"The first {left} moves differ only in which of identical factories they take from.")
        elif evaluation.stopped != "separated":
            notes.append(f"The first {left} moves were not told apart.")
    return Text("\n".join(notes))
