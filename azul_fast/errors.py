"""What can be wrong with something a person or another program gave us."""

from __future__ import annotations


class AzulError(ValueError):
    """Base of all errors about input; the message is one line that names the input and what is allowed."""


class InvalidMoveError(AzulError):
    """A text or number that is no move at all."""


class IllegalMoveError(AzulError):
    """A move that cannot be played in this position; the message gives the rule."""


class GameOverError(AzulError):
    """A move or a deal for a finished game."""


class InvalidPositionError(AzulError):
    """A text that is no position, or a position that breaks a rule."""


class InvalidDealError(AzulError):
    """A text that is no deal, or tiles that bag and lid cannot give."""


class InvalidRecordError(AzulError):
    """A game record that cannot be read or does not follow the rules."""


class NoRecordError(InvalidRecordError):
    """Something that is no game record at all: no JSON, or JSON of another kind."""


class PolicyError(AzulError):
    """A policy of one's own that cannot be compiled or does not answer with a legal move, then in game `game`."""

    game: int | None = None


class OutputError(Exception):
    """An output could not be written; nothing is left of it."""


def shown(value: object, length: int = 40) -> str:
    """`value` as it appears in a message: its repr, on one line and never long."""
    if isinstance(value, int) and abs(value) >= 10**length:
        return "a number too long to show"
    text = repr(value[: length + 1]) if isinstance(value, (str, bytes)) else repr(value)
    return text if len(text) <= length + 2 else text[:length] + "…"
