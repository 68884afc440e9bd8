"""A review drawn for the terminal: the players' figures, the turning points, the deals, and every move in a table."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from azul_fast.display import WIDTH, number
from azul_fast.notation import Move, parse_move
from azul_fast.play import in_words
from azul_fast.position import Position
from azul_fast.reviews import Review, ReviewedDeal, ReviewedMove

_ASCII = str.maketrans({"±": "~", "·": "-", "─": "-", "→": ">"})
_STYLES = {"??": "bold red", "?": "yellow", "": ""}


def as_text(review: Review, width: int = WIDTH, ascii_only: bool = False) -> str:
    """The drawing as plain text, without color."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, highlight=False)
    console.print(drawing(review))
    assert isinstance(console.file, io.StringIO)
    text = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    return text.translate(_ASCII) if ascii_only else text


def drawing(review: Review) -> RenderableType:
    """The drawing for Rich."""
    return Group(
        headline(review),
        _title("Players: accuracy, and what their moves lost and the deals brought, in % of a win share"),
        _players(review),
        _title("Turning points"),
        _turning_points(review),
        _title("What each deal did, in % of a win share"),
        _deals(review),
        _title("Moves: win share of the player who moves, in %"),
        _moves(review),
        Text(NOTE),
    )


NOTE = (
    "± is one standard error. Before: with the best move found; after: with the move that was played. A loss is "
    "measured apart from the choice of the best move, so it may come out a little below 0. ?? gave away 15% or more, "
    "? 5%, both beyond two standard errors."
)


def headline(review: Review) -> Text:
    """What was reviewed, by which judge."""
    plan, text = review.plan, Text()
    result = plan.game.result()
    text.append(" · ".join(review.names), "bold")
    if result is not None:
        winners = " and ".join(f"seat {seat}" for seat in result["winners"])
        text.append(f"\n{' : '.join(map(str, result['scores']))} after {result['rounds']} rounds, won by {winners}")
    text.append(
        f"\njudged by {plan.engine.text}, {plan.rollouts:,} rollouts a candidate by {plan.roller} · seed {plan.seed}"
    )
    if review.interrupted:
        text.append(f"\ninterrupted: only the last {len(review.moves)} moves", "bold red")
    return text


def said(move: ReviewedMove, text: str) -> str:
    """A move as people say it: ``3B4 (factory 3, 2 blue to line 4)``."""
    return f"{text} ({in_words(Position.read(move.position), Move(parse_move(text)))})"


def turning_point(move: ReviewedMove) -> str:
    """A turning point in a sentence."""
    loss, before, after = move.loss, move.before[move.seat], move.after[move.seat]
    return (
        f"round {move.round}, ply {move.ply}, seat {move.seat}: {said(move, move.move)} gave away "
        f"{number(loss, percent=True)}% ({100 * before.mean:.0f} → {100 * after.mean:.0f}) and "
        f"{number(move.points_lost)} points. Better: {said(move, move.best)}"
    )


def _title(text: str) -> Text:
    return Text(f"\n{text}", "bold")


def _table(*heads: str, left: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, head in enumerate(heads):
        table.add_column(head, justify="left" if i < left else "right", no_wrap=True)
    return table


def _players(review: Review) -> RenderableType:
    table = _table("", "accuracy", "a move", "all moves", "deals", "moves")
    for name, player in zip(review.names, review.players, strict=True):
        accuracy = "" if player.accuracy is None else number(player.accuracy)
        figures = (number(each, percent=True) for each in (player.loss, player.given_away, player.luck))
        table.add_row(name, accuracy, *figures, f"{player.moves}")
    return table


def _turning_points(review: Review) -> RenderableType:
    lines = [turning_point(move) for move in review.turning_points]
    return Text("\n".join(lines or ["No move gave away 5% of a win share or more beyond two standard errors."]))


def _deals(review: Review) -> RenderableType:
    seats = range(review.plan.game.rules.players)
    table = _table("round", *(f"seat {seat}" for seat in seats))
    for deal in review.deals:
        table.add_row(str(deal.round), *(_change(deal, seat) for seat in seats))
    return table


def _change(deal: ReviewedDeal, seat: int) -> str:
    gain = deal.gain(seat)
    return f"{'+' if gain.mean >= 0 else ''}{number(gain, percent=True)}"


def _moves(review: Review) -> RenderableType:
    table = _table("round", "ply", "seat", "move", "before", "after", "loss", "", "better", left=4)
    last = 0
    for move in review.moves:
        if last and move.round != last:
            table.add_section()
        is_best = move.move == move.best
        table.add_row(
            str(move.round) if move.round != last else "",
            str(move.ply),
            str(move.seat),
            Text(move.move, _STYLES[move.mark]),
            f"{100 * move.before[move.seat].mean:.1f}",
            f"{100 * move.after[move.seat].mean:.1f}",
            "" if is_best else number(move.loss, percent=True),
            Text(move.mark, _STYLES[move.mark]),
            "" if is_best else move.best,
        )
        last = move.round
    return table
