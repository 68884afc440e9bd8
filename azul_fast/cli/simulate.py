"""``azul-fast simulate``: play many games and print what came of them."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import DONE, INTERRUPTED, announce_compilation
from azul_fast.cli.options import (
    POLICY_WORDS,
    FirstPlayer,
    PositionText,
    WholeNumber,
    record_count,
    record_options,
    seed_option,
    threads_option,
    variant_options,
)
from azul_fast.errors import AzulError
from azul_fast.rules import Rules

if TYPE_CHECKING:
    from azul_fast.batch import Progress, Run
    from azul_fast.stats import Statistics

RECORD_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
RULE_OPTIONS = ("players", "wall", "overflow", "max_rounds")  # the fields of Rules


@click.command("simulate", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--games", type=WholeNumber(), default=100_000, show_default=True, help="How many: 1_000_000 or 1e6.")
@click.option("--players", type=WholeNumber(), default=2, show_default=True, help="2, 3 or 4.")
@click.option("--policies", metavar="A,B,...", default="random", show_default=True,
              help=f"One a seat, or one for all: {POLICY_WORDS}.")  # fmt: skip
@variant_options
@click.option(
    "--first-player", type=FirstPlayer(), default=0, show_default=True, help="The seat that starts each game."
)
@seed_option
@click.option("--first-game", type=WholeNumber(), default=0, show_default=True, help="Number of the first game.")
@threads_option
@click.option("--rotate", is_flag=True, help="Play each deal once for every rotation of the policies over the seats.")
@click.option("--position", type=PositionText(), help="Start every game from a position.")
@click.option("--deal", metavar="BBRK,YYWW,...", help="The first deal of every game.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON.")
@click.option("--games-out", metavar="FILE", help="Write the table of all games: .parquet, .csv or .npz.")
@record_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Play many games and print what came of them, each figure with its standard error.

    The same seed gives the same figures, whatever the number of threads. Ctrl-C prints those of the games played so
    far.
    """
    return simulate(options, given={name for name in options if _is_given(ctx, name)})


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def simulate(options: dict[str, Any], given: set[str]) -> int:
    """Check all options, play, and write and print the results; returns the exit code."""
    from azul_fast import batch

    rules_given = {name: options[name] for name in RULE_OPTIONS if name in given}
    position = options["position"]
    games = options["games"]
    if options["rotate"] and "games" not in given:  # every deal from every seat: as many as the default at least
        games += -games % 12
    run = batch.describe(
        games,
        None if position is not None else _rules(rules_given),
        options["policies"],
        seed=options["seed"],
        rotate=options["rotate"],
        first_player=options["first_player"],
        first_game=options["first_game"],
        position=position,
        deal=options["deal"],
    )
    for name, value in rules_given.items():
        if getattr(run.rules, name) != value:
            own = getattr(run.rules, name)
            raise AzulError(f"--{name.replace('_', '-')} {value}: the position has {own}")
    threads = batch.thread_count(options["threads"])
    table, records = _outputs(options)
    record_games = record_count(options, given)

    announce_compilation()
    with contextlib.ExitStack() as stack:
        writer = None
        if table is not None:
            from azul_fast.tables import TableWriter

            writer = stack.enter_context(TableWriter(run, table, options["force"]))
        with progress_bar(run.games) as progress:
            stats = batch.play(run, threads=threads, progress=progress, on_chunk=None if writer is None else writer.add)
        try:
            _print_results(stats, options["as_json"], repeat_command(stats.run))
        finally:  # also when nobody reads what is printed
            if writer is not None:
                _say_in_terminal(f"finishing {table} ...")
                writer.finish()
            if records is not None:
                _say_in_terminal(f"writing {records} ...")
                write_records(run, records, min(record_games, stats.games))
    return INTERRUPTED if stats.interrupted else DONE


def _rules(given: dict[str, Any]) -> Rules:
    try:
        return Rules(**given)
    except ValueError as error:
        raise AzulError(str(error)) from None


def _outputs(options: dict[str, Any]) -> tuple[Path | None, Path | None]:
    """The files to be written, if that can be expected to work."""
    table = records = None
    if options["games_out"] is not None or options["records"] is not None:
        from azul_fast.files import check_output
        from azul_fast.tables import check_table

        if options["games_out"] is not None:
            table = check_table(options["games_out"], options["force"])
        if options["records"] is not None:
            records = check_output(options["records"], RECORD_SUFFIXES, options["force"])
    return table, records


def write_records(run: Run, path: Path, games: int) -> None:
    """Write records of the first `games` games of a run."""
    from azul_fast import records, trace

    with progress_bar(games) as progress, records.writer(path) as put:
        for done, record in enumerate(trace.records(run, run.first_game, games), 1):
            put(record)
            if progress is not None:
                progress(done, games)


# ------------------------------------------------------------------------------------------------------ what is shown
@contextlib.contextmanager
def progress_bar(total: int, unit: str = "games") -> Iterator[Progress | None]:
    """A bar with games (or another `unit`) per second and time left, on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.completed:,} " + unit),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=total, speed="")

    def show(done: int, _: int) -> None:
        if not bar.live.is_started:  # only now: before, kernels may be compiled, with a word about it
            bar.start()
        speed = bar.tasks[0].speed
        bar.update(task, completed=done, speed=f"{speed:,.0f} {unit}/s" if speed else "")

    try:
        yield show
    finally:
        bar.stop()


def _say_in_terminal(message: str) -> None:
    if sys.stderr.isatty():
        print(message, file=sys.stderr, flush=True)


def _print_results(stats: Statistics, as_json: bool, repeat: str) -> None:
    if as_json:
        import json

        print(json.dumps(stats.to_dict(), allow_nan=False), flush=True)
        return
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(stats)
    else:
        from azul_fast.display import as_text

        is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        print(as_text(stats, ascii_only=not is_unicode))
    print(f"To repeat: {repeat}", flush=True)
    about = stats.about
    speed = f"; {about['games_per_s']:,} games/s once it had begun" if about["games_per_s"] else ""
    text = f"{about['seconds']:.1f} s on {about['threads']} threads, {about['cpu_s']:.1f} s of processor time{speed}"
    print(text, file=sys.stderr, flush=True)


def repeat_command(run: Run) -> str:
    """The command that prints the same statistics again."""
    words = ["azul-fast", "simulate", "--games", str(run.games)]
    if run.position is None:
        defaults = Rules()
        for name in RULE_OPTIONS:
            value = getattr(run.rules, name)
            if value != getattr(defaults, name):
                words += [f"--{name.replace('_', '-')}", str(value)]
        if run.first_player != 0:
            words += ["--first-player", str(run.first_player)]
    else:
        words += ["--position", run.position]
    words += ["--policies", run.policies[0] if len(run.labels) == 1 else ",".join(run.policies)]
    if run.deal is not None:
        words += ["--deal", run.deal]
    if run.rotations > 1:
        words.append("--rotate")
    if run.first_game:
        words += ["--first-game", str(run.first_game)]
    return shlex.join([*words, "--seed", str(run.seed)])
