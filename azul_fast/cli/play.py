"""``azul-fast play``: one game in the terminal, by people and policies in any mix."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import DONE, announce_compilation
from azul_fast.cli.options import Choice, PositionText, WholeNumber, seed_option, variant_options
from azul_fast.cli.simulate import RECORD_SUFFIXES, RULE_OPTIONS
from azul_fast.errors import AzulError, OutputError, shown
from azul_fast.rules import (
    COLOR_BONUS,
    COLUMN_BONUS,
    ROW_BONUS,
    Rules,
)

if TYPE_CHECKING:
    import numpy as np

    from azul_fast.batch import Run
    from azul_fast.game import Game

HUMAN = "human"
DEALS = ("auto", "given")
ADVISER = "greedy"  # whose move is the hint
MAX_NUMBER_DIGITS = 4  # of a move in the numbered list
ENDS = {
    "row": "a row is complete",
    "exhausted": "no tile is left to deal",
    "stalled": "the last round has been played",
}
HELP = """\
3B4       the blue tiles of factory 3 to line 4; C is the center, the colors are BYRKW, F is the floor
3=2       on the gray wall: the tile of line 3 to column 2
17        move number 17 of the list
moves     all legal moves, numbered
hint      what greedy would play
undo      take back your last move, and what was played since
position  this position as one line of text
help      this
quit      leave the game"""
DEAL_HELP = "For a deal type the tiles of each factory: BBRK YYWW BYRK RRRW BKKW; - is an empty factory."


@click.command("play", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seats", "--policies", metavar="A,B,...", show_default="human, then greedy",
              help="Who plays: human or a policy; one a seat, or one for all.")  # fmt: skip
@click.option("--players", type=WholeNumber(), default=2, show_default=True, help="2, 3 or 4.")
@variant_options
@click.option("--first-player", type=WholeNumber(), default=0, show_default=True, help="The seat that starts.")
@seed_option
@click.option("--position", type=PositionText(), help="Start from a position, such as one from a real table.")
@click.option("--deals", type=Choice({d: d for d in DEALS}), default="auto", show_default=True,
              help="given: you type the tiles of each round, as they lie on a real table.")  # fmt: skip
@click.option("--record", metavar="FILE", help="Write a record of the game: .jsonl[.gz|.zst].")
@click.option("--force", is_flag=True, help="Write over files that exist.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Play a game, alone, against policies or with others at the same keyboard.

    Moves are typed as 3B4 (factory 3, blue, to line 4) or CRF (center, red, to the floor), or as their number in the
    list that the word moves prints; help tells the other words. When no seat is human the game is played out and shown.
    """
    given = {name for name in options if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    return play(options, given)


def play(options: dict[str, Any], given: set[str]) -> int:
    """Check all options, then play; returns the exit code."""
    run, seats = _describe(options, given)
    record, unfinished = _outputs(options)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # a letter that cannot be read or shown is no reason to end a game
            stream.reconfigure(errors="replace")
    announce_compilation()
    _Table(run, seats, options["deals"], record, unfinished).play()
    return DONE


# ---------------------------------------------------------------------------------------------------- what is asked for
def _describe(options: dict[str, Any], given: set[str]) -> tuple[Run, tuple[str, ...]]:
    """The game as a run of one game, and who sits where."""
    from azul_fast import batch

    rules_given = {name: options[name] for name in RULE_OPTIONS if name in given}
    position = options["position"]
    try:
        rules = None if position is not None else Rules(**rules_given)
    except ValueError as error:
        raise AzulError(str(error)) from None
    run = batch.describe(1, rules, seed=options["seed"], first_player=options["first_player"], position=position)
    for name, value in rules_given.items():
        if getattr(run.rules, name) != value:
            raise AzulError(f"--{name.replace('_', '-')} {value}: the position has {getattr(run.rules, name)}")
    return run, _seats(options["seats"], run.players)


def _seats(text: str | None, players: int) -> tuple[str, ...]:
    from azul_fast.policies import parse_policy

    if text is None:
        return (HUMAN, *(ADVISER,) * (players - 1))
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name != HUMAN:
            try:
                parse_policy(name)
            except AzulError as error:
                raise AzulError(f"--seats: {shown(name)} is not {HUMAN}; {error}") from None
    if len(names) == 1:
        names *= players
    if len(names) != players:
        raise AzulError(f"--seats: {len(names)} given, but {players} seats need 1 or {players}")
    return tuple(names)


def _outputs(options: dict[str, Any]) -> tuple[Path | None, Path | None]:
    """The file for the record, and the one that keeps the game until it is over."""
    if options["record"] is None:
        return None, None
    from azul_fast.files import check_output

    path = check_output(options["record"], RECORD_SUFFIXES, options["force"])
    if path.suffix == ".zst" and find_spec("zstandard") is None:
        raise AzulError(f"{path}: .zst files need the package zstandard: pip install zstandard")
    stem = next(path.name.removesuffix(suffix) for suffix in RECORD_SUFFIXES if path.name.endswith(suffix))
    return path, check_output(path.with_name(f"{stem}.unfinished.json"), (".json",), options["force"])


def _start(run: Run, deals: str) -> Game:
    """The game before its first event. A seed that deals nothing is not the game's."""
    from azul_fast.game import Game

    seed = run.seed if deals == "auto" else None
    if run.position is not None:
        return Game.from_text(run.position, seed=seed, deals=deals)
    return Game(run.rules, seed=seed, deals=deals, first_player=run.first_player)


def repeat_command(run: Run, seats: tuple[str, ...], deals: str) -> str:
    """The command that starts this game again."""
    words = ["azul-fast", "play"]
    if run.position is not None:
        words += ["--position", run.position]
    else:
        for name, default in Rules().to_dict().items():
            if getattr(run.rules, name) != default:
                words += [f"--{name.replace('_', '-')}", str(getattr(run.rules, name))]
        if run.first_player != 0:
            words += ["--first-player", str(run.first_player)]
    words += ["--seats", ",".join(seats)]
    if deals != "auto":
        words += ["--deals", deals]
    return shlex.join([*words, "--seed", str(run.seed)])


# ----------------------------------------------------------------------------------------------------------- the table
class _Quit(Exception):
    """The word quit."""


class _Table:
    """A game in the terminal: shows it, asks people what they do, and keeps what is to be kept.

    Everything is printed anew below what was there: it reads the same in a pipe, on paper and aloud.
    """

    def __init__(
        self, run: Run, seats: tuple[str, ...], deals: str, record: Path | None, unfinished: Path | None
    ) -> None:
        from azul_fast.players import Players

        self.run, self.seats, self.deals = run, seats, deals
        self.record, self.unfinished = record, unfinished
        self.game = _start(run, deals)
        self.players = Players([ADVISER if name == HUMAN else name for name in seats])
        self.notes = [self.players.new_memory() for _ in seats]  # of the policies, on this game
        self.past: list[tuple[Game, list[np.ndarray]]] = []  # game and notes before each move or deal of a person
        self.words: dict[str, Callable[[], None]] = {
            "moves": self.show_moves,
            "hint": self.show_hint,
            "undo": self.undo,
            "position": lambda: print(self.game.to_text()),
            "help": lambda: print(HELP if self.deals == "auto" else f"{HELP}\n{DEAL_HELP}"),
            "quit": self.quit,
        }

    def play(self) -> None:
        """Play the game to its end, or until somebody leaves."""
        names = ", ".join(self.name(seat) for seat in range(len(self.seats)))
        print(f"{names}; seed {self.run.seed}")
        if HUMAN in self.seats:
            print("Type a move such as 3B4, or help.")
        if self.deals == "given":
            print(DEAL_HELP)
        try:
            self.show()
            while not self.game.is_over:
                self.step()
        except _Quit:
            self.leave("The game is not over.")
        except EOFError:
            self.leave("\nEnd of input; the game is not over.")
        except (KeyboardInterrupt, AzulError, OutputError):  # a policy of one's own that fails, too
            self.leave("\nThe game is not over.")
            raise
        else:
            self.finish()

    def name(self, seat: int) -> str:
        return f"seat {seat} ({self.seats[seat]})"

    # ------------------------------------------------------------------------------------------------- what happens
    def step(self) -> None:
        """One deal that is typed, one move, or one word of a person."""
        game = self.game
        if game.phase != "deal" and self.seats[game.turn] != HUMAN:
            seat = game.turn
            self.move(self.players.choose(game.state, seat, self.run.seed, game.game, self.notes[seat]))
            return
        self.save()
        if game.phase == "tile":
            self.show_moves()
        said = self.ask(f"deal of round {game.round + 1}> " if game.phase == "deal" else f"{self.name(game.turn)}> ")
        before = game.copy(), [notes.copy() for notes in self.notes]
        try:
            if said.lower() in self.words:
                self.words[said.lower()]()
            elif game.phase == "deal":
                game.deal(said.upper().replace(",", " ").split())
                self.past.append(before)
                self.show()
            elif said:
                self.move(self.chosen("".join(said.upper().split())))
                self.past.append(before)
        except AzulError as error:
            print(str(error).removeprefix("move: "))

    def ask(self, prompt: str) -> str:
        """A line that is typed."""
        print(prompt, end="", flush=True)  # not input(): it writes to standard error where it can edit
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            print(line.rstrip())  # as a terminal shows it
        return line.strip()

    def chosen(self, text: str) -> str:
        """The move that is typed as itself or as its number in the list."""
        if not (text.isascii() and text.isdigit()):
            return text
        moves = self.game.legal_moves()
        if len(text) > MAX_NUMBER_DIGITS or not 1 <= int(text) <= len(moves):
            raise AzulError(f"{shown(text)} is not in the list of 1 to {len(moves)} that the word moves prints")
        return moves[int(text) - 1]

    def move(self, text: str | int) -> None:
        """Play a move and show what came of it."""
        from azul_fast.notation import Move, parse_move
        from azul_fast.play import in_words

        before, move = self.game.copy(), Move(parse_move(text) if isinstance(text, str) else text)
        self.game.play(move)
        print(f"{self.name(before.turn)} plays {move}: {in_words(before.position, move)}")
        if self.game.round != before.round or self.game.phase in ("deal", "over"):
            self.show_round(before)
        self.show()

    def undo(self) -> None:
        """Back to before the last move or deal that a person made."""
        if not self.past:
            raise AzulError("undo: you have played nothing yet")
        self.game, self.notes = self.past.pop()
        self.show()

    def quit(self) -> None:
        raise _Quit

    # ------------------------------------------------------------------------------------------------ what is shown
    def show(self) -> None:
        """The position, in color where that can be seen."""
        print()
        if sys.stdout.isatty():
            from rich.console import Console

            Console(highlight=False).print(self.game)
        else:
            print(self.game)
        print(flush=True)

    def show_moves(self) -> None:
        """The legal moves with their numbers: a line for each source and color, or for the row that is tiled."""
        from azul_fast.notation import Move
        from azul_fast.play import what_moves

        position = self.game.position
        moves = [Move.parse(text) for text in self.game.legal_moves()]
        if not moves:
            raise AzulError("no move: the round has not been dealt")
        for group, numbered in groupby(enumerate(moves, 1), key=lambda item: what_moves(position, item[1])):
            print(f"{group:<21}" + "".join(f"{number:>4} {move}" for number, move in numbered))

    def show_hint(self) -> None:
        """What greedy would play, and the points that it sees in it."""
        from azul_fast.notation import Move
        from azul_fast.play import choose, in_words, points_now

        position, move = self.game.position, Move.parse(choose(self.game, ADVISER, self.run.seed))
        gain, lost = points_now(position, move)
        points = [f"the tile scores {gain}"] * (gain > 0) + [f"the floor costs {lost} more"] * (lost > 0)
        print(f"{ADVISER} would play {move}: {in_words(position, move)}; {', '.join(points) or 'no points yet'}")

    def show_round(self, before: Game) -> None:
        """The points of the round that the last move ended; `before` is the game just before it."""
        from azul_fast.engine.layout import LOST, PLACED, seat_word
        from azul_fast.game import round_scores

        number, start = before.round, before
        with contextlib.suppress(AzulError):  # it began within the round
            while before.round == number and before.phase != "deal":
                start = before.copy()
                before.undo()
        old, new = start.state, self.game.state
        for seat, score in enumerate(round_scores(new)):
            word = seat_word(seat)
            tiles, floor = (int(new[word + field] - old[word + field]) for field in (PLACED, LOST))
            print(f"  round {number}, {self.name(seat)}: {tiles} for tiles, -{floor} for the floor, now {score}")

    # -------------------------------------------------------------------------------------------------- how it ends
    def finish(self) -> None:
        """The result, and the record."""
        result = self.game.result()
        assert result is not None
        print(f"The game is over: {ENDS[result['end']]}.")
        for seat, board in enumerate(self.game.boards):
            bonuses = ((ROW_BONUS, board.rows, "row"), (COLUMN_BONUS, board.columns, "column"),
                       (COLOR_BONUS, board.colors, "color"))  # fmt: skip
            parts = [str(board.score - board.bonus)]
            parts += [f"{points * n} ({n} {what}{'s' * (n > 1)})" for points, n, what in bonuses if n]
            print(f"  {self.name(seat)}: {' + '.join(parts)} = {board.score} points")
        winners = [self.name(seat) for seat in result["winners"]]
        by_rows = len(winners) == 1 and result["scores"].count(max(result["scores"])) > 1
        if len(winners) > 1:
            print(f"{' and '.join(winners)} share the win.")
        else:
            print(f"{winners[0]} wins{', with more complete rows' if by_rows else ''}.")
        if self.record is not None:
            self.save()  # in case the record cannot be written
            self.write_record(self.record)
            print(f"The record is in {self.record}.")
        print(f"To play it again: {repeat_command(self.run, self.seats, self.deals)}", flush=True)

    def write_record(self, path: Path) -> None:
        from azul_fast import records

        records.write(path, [self.game.record(policies=list(self.seats))])
        if self.unfinished is not None:
            self.unfinished.unlink(missing_ok=True)

    def save(self) -> None:
        """Keep a game that is to be recorded, as it is now, so that nothing is lost whatever happens next."""
        if self.unfinished is None:
            return
        from azul_fast.files import WholeFile

        data = self.game.to_dict() | {"seats": list(self.seats), "policy_seed": self.run.seed}
        whole = WholeFile(self.unfinished, force=True)
        with whole.guard():
            whole.file.write(json.dumps(data).encode() + b"\n")
        whole.finish()

    def leave(self, reason: str) -> None:
        """Say how to go on, and keep the game if it is to be recorded."""
        here = replace(self.run, position=self.game.to_text())
        print(f"{reason}\nTo go on: {repeat_command(here, self.seats, self.deals)}", flush=True)
        if self.unfinished is not None:
            self.save()
            print(f"All moves so far are in {self.unfinished}, for azul_fast.Game.from_dict.", flush=True)
