"""The command line: finds the command, and turns every failure into one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from importlib import import_module
from typing import NoReturn

import click

from azul_fast import __version__
from azul_fast.errors import AzulError, OutputError

PROGRAM = "azul-fast"
DONE = 0
CHECK_FAILED = 1  # an illegal record, say
USAGE = 2  # also input that is malformed
NOT_WRITTEN = 3  # an output
INTERRUPTED = 130
ENDED = 128 + signal.SIGTERM  # by another program

# [command] -> what it does. The module of that name in this folder has it as `command`, and is imported only when it
# is called.
COMMANDS = {
    "simulate": "Play many games and print what came of them.",
    "play": "Play a game in the terminal, people and policies in any mix.",
    "evaluate": "Rank the legal moves of a position by rollouts.",
    "review": "Judge every move of a recorded game: what it gave away, where the game turned.",
    "match": "Play one policy against another: who is stronger?",
    "tournament": "Play many policies against each other and rate them.",
    "tune": "Improve the weights of a policy by playing.",
    "replay": "Check game records move by move, show a game, print its positions.",
    "perft": "Count the tree of legal moves within a round.",
    "bench": "Time the engine on this machine, and print its signature.",
}


class LazyGroup(click.Group):
    """A group of commands that are imported when called, not for the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"azul_fast.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM)
@click.pass_context
def program(ctx: click.Context) -> None:
    """The board game Azul, simulated by the million."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; a command returns one where it is not `DONE`."""
    name = f"{PROGRAM} {arguments[0]}" if arguments and arguments[0] in COMMANDS else PROGRAM
    try:
        try:
            with program.make_context(PROGRAM, list(arguments)) as context:
                code = program.invoke(context)
        except click.exceptions.Exit as end:  # after --help and --version
            code = end.exit_code
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.ClickException as error:
        return _complain(name, error.format_message(), USAGE)
    except AzulError as error:
        return _complain(name, str(error), USAGE)
    except OutputError as error:
        return _complain(name, str(error), NOT_WRITTEN)
    except BrokenPipeError:
        return DONE
    except OSError as error:
        return _complain(name, f"standard output could not be written: {error.strerror}", NOT_WRITTEN)
    except (KeyboardInterrupt, click.Abort):
        return _complain(name, "interrupted", INTERRUPTED)


def main() -> NoReturn:
    """Run the command line and end the process, at once: a thread may still be compiling after an interrupt."""
    if sys.stderr is None:  # closed by whoever called us, as are those below
        sys.stderr = open(os.devnull, "w")
    if sys.stdin is None:
        sys.stdin = open(os.devnull)
    if sys.stdout is None:
        os._exit(_complain(PROGRAM, "standard output is closed", NOT_WRITTEN))
    warnings.showwarning = _warn  # type: ignore[assignment]
    signal.signal(signal.SIGTERM, _end)
    code = run(sys.argv[1:])
    try:
        sys.stderr.flush()
        sys.stdout.flush()
    except OSError:  # said already, or a closed pipe
        pass
    finally:
        os._exit(code)


def _end(*_: object) -> NoReturn:
    """At a signal to end: leave at once, and no half-written file behind."""
    from azul_fast.files import discard_all

    discard_all()
    os._exit(ENDED)


def announce_compilation() -> None:
    """Say once on standard error when kernels are not found in the cache."""
    from azul_fast import _jit

    def announce(_: str) -> None:
        _jit.on_compile = None
        print(
            f"{PROGRAM}: compiling what this run needs, and keeping it for others (about 10 s) ...",
            file=sys.stderr,
            flush=True,
        )

    _jit.on_compile = announce


def _warn(message: Warning | str, *_: object) -> None:
    """A warning in one line, as an error is."""
    _complain(PROGRAM, str(message).removeprefix("azul_fast: "), DONE)


def _complain(name: str, message: str, code: int) -> int:
    """Say in one line what is wrong."""
    message = " ".join(message.split())
    try:
        print(f"{name}: {message}", file=sys.stderr)
    except OSError:
        pass
    return code
