"""``azul-fast evaluate``: the legal moves of a position, best first."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import DONE, INTERRUPTED, announce_compilation
from azul_fast.cli.options import POLICY_WORDS, Choice, PositionText, WholeNumber, seed_option, threads_option
from azul_fast.cli.simulate import progress_bar
from azul_fast.errors import AzulError

if TYPE_CHECKING:
    from azul_fast.evaluation import Evaluation


@click.command("evaluate", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("position", type=PositionText())
@click.option("--policy", metavar="POLICY", default="greedy", show_default=True,
              help=f"Who plays the rollouts; A,B,... for one a seat: {POLICY_WORDS}.")  # fmt: skip
@click.option("--rollouts", type=WholeNumber(), show_default="1e5, 1e6 with --until-...",
              help="How many, all moves together.")  # fmt: skip
@click.option("--by", type=Choice({"win": "win", "margin": "margin"}), default="win", show_default=True,
              help="What moves are ranked by.")  # fmt: skip
@click.option("--moves", metavar="3B4,CRF,...", help="Only these moves.")
@click.option("--until-se", metavar="X", help="Stop at this standard error: 0.005 of a win share, 0.1 points.")
@click.option("--until-separated", is_flag=True, help="Stop when the best move is known with 95% confidence.")
@click.option("--depth-cut", is_flag=True, help="Play to the end of the round only, and judge the boards there.")
@seed_option
@threads_option
@click.option("--top", type=WholeNumber(), default=20, show_default=True, help="Moves to show; --json has all.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(**options: Any) -> int:
    """Rank the legal moves of a position by rollouts: games that a policy plays on from each.

    POSITION is the text of a position, - for standard input or @FILE. All moves meet the same deals; worse ones are
    dropped on the way (sequential halving). The same seed gives the same figures, whatever the number of threads.
    Ctrl-C prints what is known so far.
    """
    from azul_fast import batch, evaluation

    question = evaluation.describe(
        options["position"],
        options["policy"],
        rollouts=options["rollouts"],
        seed=options["seed"],
        by=options["by"],
        moves=options["moves"],
        depth_cut=options["depth_cut"],
        until_se=_number(options["until_se"]),
        until_separated=options["until_separated"],
    )
    threads = batch.thread_count(options["threads"])
    top = batch.whole_number("top", options["top"], 1, batch.MAX_GAMES)
    announce_compilation()
    with progress_bar(question.rollouts) as progress:
        found = evaluation.answer(question, threads=threads, progress=progress)
    if options["as_json"]:
        print(json.dumps(found.to_dict(), allow_nan=False), flush=True)
    else:
        _print(found, top, threads)
    return INTERRUPTED if found.interrupted else DONE


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise AzulError(f"--until-se must be a number such as 0.005, not {text!r}") from None


def _print(found: Evaluation, top: int, threads: int) -> None:
    from azul_fast import ranking

    if sys.stdout.isatty():
        from rich.console import Console

        console = Console()
        console.print(ranking.ranking(found, console.width, top))
    else:
        is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        print(ranking.as_text(found, ascii_only=not is_unicode, shown=top))
    print(f"To repeat: {repeat_command(found)}", flush=True)
    print(f"{found.seconds:.1f} s on {threads} threads", file=sys.stderr, flush=True)


def repeat_command(found: Evaluation) -> str:
    """The command that gives the same answer again."""
    question = found.question
    words = ["azul-fast", "evaluate", question.position, "--policy", question.policy]
    words += ["--rollouts", str(question.rollouts)]
    if question.by != "win":
        words += ["--by", question.by]
    if not question.all_moves:
        words += ["--moves", ",".join(map(str, question.moves))]
    if question.until_se is not None:
        words += ["--until-se", repr(question.until_se)]
    for name in ("until_separated", "depth_cut"):
        if getattr(question, name):
            words.append(f"--{name.replace('_', '-')}")
    return shlex.join([*words, "--seed", str(question.seed)])
