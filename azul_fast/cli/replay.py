"""``azul-fast replay``: check game records in full, draw a game, print its positions."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import CHECK_FAILED, DONE, INTERRUPTED, PROGRAM, USAGE, announce_compilation
from azul_fast.cli.options import WholeNumber
from azul_fast.errors import AzulError, InvalidRecordError, NoRecordError
from azul_fast.rules import END_REASONS

if TYPE_CHECKING:
    from azul_fast.checking import Checked
    from azul_fast.game import Game
    from azul_fast.position import Position

FORMAT = "azul-replay/1"
STDIN = "-"


@click.command("replay", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--keep-going", is_flag=True, help="Report every game that is not good, not the first alone.")
@click.option("--to-positions", is_flag=True, help="Print the position before every move, one a line.")
@click.option("--show", type=WholeNumber(), metavar="N", help="Draw the N-th game of the files, move by move.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(files: tuple[str, ...], keep_going: bool, to_positions: bool, show: int | None, as_json: bool) -> int:
    """Play recorded games again and check them in full: every deal, move and choice, the scores and the result.

    FILE is JSON Lines, compressed if its name ends in .gz or .zst; - is standard input. The first game that breaks a
    rule is reported with its line and the reason. The exit code is then 1, or 2 where the line is no game record at
    all; with --keep-going it is 1 for both.
    """
    if as_json + to_positions + (show is not None) > 1:
        raise AzulError("--json, --to-positions and --show do not go together")
    if show is not None and show < 1:
        raise AzulError(f"--show must be 1 or more, not {show}")
    announce_compilation()
    if show is not None:
        return _show(files, show)
    summary = _Summary()
    try:
        code = _check(files, keep_going, to_positions, summary)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if as_json:
        click.echo(json.dumps(summary.to_dict()))
    if code == INTERRUPTED:
        print(f"{PROGRAM} replay: interrupted after {summary}", file=sys.stderr)
    elif code == DONE or keep_going:
        print(summary, file=sys.stderr)
    return code


class _Summary:
    """What was found so far."""

    def __init__(self) -> None:
        self.started = 0.0  # when the first game was read
        self.games = self.plies = 0
        self.ends: Counter[str] = Counter()
        self.offences: list[dict[str, Any]] = []

    def add(self, found: Checked) -> None:
        self.games += 1
        self.plies += found.plies
        self.ends[found.end] += 1

    def refuse(self, name: str, line: int, reason: str) -> None:
        print(f"{PROGRAM} replay: {file_label(name)}: line {line}: {reason}", file=sys.stderr)
        self.offences.append({"file": name, "line": line, "reason": reason})

    @property
    def speed(self) -> float:
        """Games a second."""
        games = self.games + len(self.offences)
        return games / (time.perf_counter() - self.started) if games else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "games": self.games,
            "plies": self.plies,
            "ends": {end: self.ends[end] for end in END_REASONS},
            "offences": self.offences,
            "run": {"games_per_s": round(self.speed)},
        }

    def __str__(self) -> str:
        ends = ", ".join(f"{self.ends[end]:,} {end}" for end in END_REASONS)
        refused = f", {len(self.offences):,} refused" if self.offences else ""
        games = f"{self.games:,} good {'game' if self.games == 1 else 'games'}{refused}"
        return f"{games}; {self.plies:,} plies; ends: {ends}; {self.speed:,.0f} games/s"


def file_label(name: str) -> str:
    """A file, or standard input, as messages name it."""
    return "standard input" if name == STDIN else name


def record_lines(name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file and their numbers."""
    from azul_fast.records import lines

    try:
        yield from lines(sys.stdin.buffer if name == STDIN else name)
    except OSError as error:
        raise AzulError(f"{file_label(name)} could not be read: {error.strerror or error}") from None


def _check(files: tuple[str, ...], keep_going: bool, to_positions: bool, summary: _Summary) -> int:
    """Check all games, or all up to the first offence; returns the exit code."""
    from azul_fast.checking import check, load
    from azul_fast.records import replay

    code = DONE
    for name in files:
        try:
            for number, line in record_lines(name):
                if not summary.started:  # there is something to check: compile, if need be, and then take the time
                    load()
                    summary.started = time.perf_counter()
                try:
                    summary.add(check(line))
                except InvalidRecordError as error:
                    summary.refuse(name, number, str(error))
                    if not keep_going:
                        return USAGE if isinstance(error, NoRecordError) else CHECK_FAILED
                    code = code or CHECK_FAILED
                    continue
                if to_positions:
                    _print_positions(replay(line))
        except AzulError as error:  # of the file as a whole
            if not keep_going:
                raise
            print(f"{PROGRAM} replay: {error}", file=sys.stderr)
            code = USAGE
    return code


# ------------------------------------------------------------------------------------------------------ what is printed
def _is_deal(event: str) -> bool:
    return "," in event


def _print_positions(game: Game) -> None:
    from azul_fast.records import events

    for position, event in events(game):
        if not _is_deal(event):
            print(position)


def _show(files: tuple[str, ...], wanted: int) -> int:
    """Draw game number `wanted`, counted from 1 through all files."""
    from azul_fast.records import replay

    games = 0
    for name in files:
        for number, line in record_lines(name):
            games += 1
            if games < wanted:
                continue
            try:
                game = replay(line)
            except InvalidRecordError as error:
                _Summary().refuse(name, number, str(error))
                return USAGE if isinstance(error, NoRecordError) else CHECK_FAILED
            _draw(game)
            return DONE
    raise AzulError(f"--show {wanted}: there {'is 1 game' if games == 1 else f'are {games} games'}")


def _draw(game: Game) -> None:
    from azul_fast.records import events

    draw = _drawer()
    for position, event in events(game):
        if _is_deal(event):
            print(f"round {position.round + 1} is dealt: {event}\n")
        else:
            draw(position)
            print(f"\nseat {position.turn} plays {event}\n")
    draw(game.position)
    result = game.result()
    assert result is not None  # a record is of a finished game
    winners = " and ".join(f"seat {seat}" for seat in result["winners"])
    print(f"\n{' : '.join(map(str, result['scores']))}, won by {winners}")


def _drawer() -> Callable[[Position], None]:
    """What draws a position on standard output."""
    if sys.stdout.isatty():
        from rich.console import Console

        from azul_fast.drawing import rich_text

        console = Console()
        return lambda position: console.print(rich_text(position, console.width))
    from azul_fast.drawing import plain

    return lambda position: print(plain(position))
