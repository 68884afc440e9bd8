"""``azul-fast review``: what every move of a recorded game gave away, and what the deals brought."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import CHECK_FAILED, DONE, INTERRUPTED, PROGRAM, USAGE, announce_compilation
from azul_fast.cli.match import print_result
from azul_fast.cli.options import WholeNumber
from azul_fast.cli.replay import file_label, record_lines
from azul_fast.cli.simulate import progress_bar
from azul_fast.errors import AzulError, InvalidRecordError, NoRecordError

if TYPE_CHECKING:
    from azul_fast.reviews import Review

SUFFIXES = (".html", ".htm")


@click.command("review", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("record", metavar="RECORD")
@click.option("--game", type=WholeNumber(), default=1, show_default=True, help="Which game of the file, from 1.")
@click.option("--engine", metavar="POLICY", default="search:nodes=20000", show_default=True, help="The judge.")
@click.option("--budget", type=WholeNumber(), show_default="12000", help="Rollouts a position.")
@click.option("--seed", type=WholeNumber(), help="0 to 2^53 - 1; drawn and printed if not given.")
@click.option("--threads", type=WholeNumber(), show_default="all processors", help="Positions judged at once.")
@click.option("--html", "page", metavar="FILE", help="Write a page with the win-share curve: .html.")
@click.option("--force", is_flag=True, help="Write over a file that exists.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(record: str, page: str | None, **options: Any) -> int:
    """Judge every move of a recorded game: the win share before and after it, and what it gave away against the best.

    RECORD is a file of game records (JSON Lines, .gz or .zst), or - for standard input. An engine that searches
    (search, mcts) plays the few most promising moves, and the one that was played, on to the end of the round; from
    there plan plays the game on, many times. Any other engine plays the rollouts itself, from right after each move.
    The same seed gives the same figures, whatever the number of threads. Ctrl-C prints the last moves judged so far.
    """
    from azul_fast import batch
    from azul_fast.policies import parse_policy

    if options["game"] < 1:
        raise AzulError(f"--game must be 1 or more, not {options['game']}")
    parse_policy(options["engine"])
    threads = batch.thread_count(options["threads"])
    path = None
    if page is not None:
        from azul_fast.files import check_output

        path = check_output(page, SUFFIXES, options["force"])
        if path.exists() and Path(record).exists() and path.samefile(record):
            raise AzulError(f"--html {page} is the record that is to be reviewed")
    number, line = _wanted(record, options["game"])
    announce_compilation()
    from azul_fast.reviews import plan_review, run_review

    try:
        plan = plan_review(line, engine=options["engine"], budget=options["budget"], seed=options["seed"])
    except InvalidRecordError as error:
        print(f"{PROGRAM} review: {file_label(record)}: line {number}: {error}", file=sys.stderr)
        return USAGE if isinstance(error, NoRecordError) else CHECK_FAILED
    with progress_bar(len(plan.game.history), "positions") as progress:
        found = run_review(plan, threads=threads, progress=progress)
    if path is not None:
        _write(path, found.to_html(), options["force"])
    print_result(found, options["as_json"], f"To repeat: {repeat_command(found, record, options['game'])}")
    return INTERRUPTED if found.interrupted else DONE


def _write(path: Path, text: str, force: bool) -> None:
    from azul_fast.files import WholeFile

    whole = WholeFile(path, force)
    with whole.guard():
        whole.file.write(text.encode())
    whole.finish()


def _wanted(record: str, game: int) -> tuple[int, bytes]:
    """The line of game number `game` of a file, and its number."""
    games = 0
    for number, line in record_lines(record):
        games += 1
        if games == game:
            return number, line
    held = "no game" if games == 0 else f"{games} game{'s' if games > 1 else ''}"
    raise AzulError(f"{file_label(record)} has {held}, --game {game} was wanted")


def repeat_command(found: Review, record: str, game: int) -> str:
    """The command that gives the same figures again."""
    plan = found.plan
    words = [PROGRAM, "review", record]
    if game != 1:
        words += ["--game", str(game)]
    words += ["--engine", plan.engine.text, "--budget", str(plan.budget), "--seed", str(plan.seed)]
    return shlex.join(words)
