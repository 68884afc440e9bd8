"""Kinds of values that several commands take: whole numbers as people write them, positions from anywhere."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeVar

import click

from azul_fast.errors import AzulError, shown
from azul_fast.policies import BUILT_IN
from azul_fast.rules import DEFAULT_MAX_ROUNDS, OVERFLOWS, WALL_WORDS

Command = TypeVar("Command", bound=Callable[..., Any])

MAX_DIGITS = 30  # of a whole number; no option takes one near so long
MAX_POSITION_BYTES = 100_000


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions
    """A whole number: ``1000000``, ``1_000_000`` or ``1e6``."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            number = Decimal(value)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or number.adjusted() >= MAX_DIGITS or number != number.to_integral_value():
            raise AzulError(f"{_name(param)}: {shown(value)} is not a whole number such as 1000000, 1_000_000 or 1e6")
        return int(number)


class FirstPlayer(WholeNumber):
    """A seat, or ``rotate``."""

    name = "seat|rotate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == "rotate" else super().convert(value, param, ctx)


class Choice(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions
    """One of several words, some of which mean the same: [word] -> meaning."""

    def __init__(self, meanings: dict[str, str]) -> None:
        self.meanings = meanings
        self.name = "|".join(dict.fromkeys(meanings.values()))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.meanings:
            words = list(self.meanings)
            raise AzulError(f"{_name(param)} must be {', '.join(words[:-1])} or {words[-1]}, not {shown(value)}")
        return self.meanings[value]


class PositionText(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions
    """A position: its text, ``-`` for standard input or ``@FILE``."""

    name = "position|-|@file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "-":
            return _text("standard input", sys.stdin.buffer.read(MAX_POSITION_BYTES + 1))
        if not value.startswith("@"):
            return str(value)
        try:
            with Path(value[1:]).open("rb") as file:
                return _text(value[1:], file.read(MAX_POSITION_BYTES + 1))
        except OSError as error:
            raise AzulError(f"{value[1:]} could not be read: {error.strerror}") from None


def _text(name: str, contents: bytes) -> str:
    if len(contents) > MAX_POSITION_BYTES:
        raise AzulError(f"{name}: more than {MAX_POSITION_BYTES:,} bytes, too long for a position")
    try:
        text = contents.decode().strip()
    except UnicodeDecodeError:
        raise AzulError(f"{name}: not text") from None
    if not text:
        raise AzulError(f"{name}: empty, a position was expected")
    return text


def _name(param: click.Parameter | None) -> str:
    return param.opts[0] if param is not None else "value"


# ------------------------------------------------------------------------------------------- what several commands take
def options(*several: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in this order in the help."""
    return lambda command: functools.reduce(lambda decorated, option: option(decorated), reversed(several), command)


variant_options = options(
    click.option("--wall", type=Choice(WALL_WORDS), default="fixed", show_default=True, help="Also coloured, gray."),
    click.option("--overflow", type=Choice({o: o for o in OVERFLOWS}), default="lid", show_default=True,
                 help="Where tiles go that find the floor line full."),
    click.option("--max-rounds", type=WholeNumber(), default=DEFAULT_MAX_ROUNDS, show_default=True,
                 help="A game ends after so many rounds."),
)  # fmt: skip
seed_option = click.option("--seed", type=WholeNumber(), help="0 to 2^53 - 1; drawn and printed if not given.")
threads_option = click.option(
    "--threads", type=WholeNumber(), show_default="all processors", help="How many games are played at once."
)
record_options = options(
    click.option("--records", metavar="FILE", help="Write records of the first games, JSON Lines: .jsonl[.gz|.zst]."),
    click.option("--record-games", type=WholeNumber(), default=1000, show_default=True,
                 help="How many games to record."),
    click.option("--force", is_flag=True, help="Write over files that exist."),
)  # fmt: skip


def record_count(options: dict[str, Any], given: set[str]) -> int:
    """How many games to record; only with a file to record them in."""
    from azul_fast.batch import MAX_GAMES, whole_number

    games = whole_number("record games", options["record_games"], 1, MAX_GAMES)
    if "record_games" in given and options["records"] is None:
        raise AzulError("--record-games goes with --records FILE")
    return games


POLICY_WORDS = f"{', '.join(BUILT_IN)} or FILE.py::NAME, parameters after colons: plan:floor=2"
