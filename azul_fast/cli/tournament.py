"""``azul-fast tournament``: many policies against each other, and their ratings."""

from __future__ import annotations

import shlex
from typing import Any

import click

from azul_fast.cli.main import DONE, INTERRUPTED, announce_compilation
from azul_fast.cli.match import print_result, rule_words, rules_of
from azul_fast.cli.options import WholeNumber, seed_option, threads_option, variant_options
from azul_fast.cli.simulate import progress_bar


@click.command("tournament", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("policies", nargs=-1, metavar="A B C ...")
@click.option("--games", type=WholeNumber(), default=1200, show_default=True,
              help="Of every two policies; with 3 and 4 seats of every set of so many.")  # fmt: skip
@click.option("--gauntlet", is_flag=True, help="Only games that the first policy takes part in.")
@click.option("--seats", "--players", "players", type=WholeNumber(), default=2, show_default=True, help="2, 3 or 4.")
@variant_options
@seed_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(**options: Any) -> int:
    """Play policies against each other, each deal in every rotation of the seats, and rate them.

    Ratings are in Elo and sum to 0. The order in which policies are named changes nothing, and a policy that is added
    changes no game of the others. Ctrl-C prints the ratings from the games played so far.
    """
    from azul_fast import batch
    from azul_fast.tournaments import plan_tournament, play_tournament

    plan = plan_tournament(
        *options["policies"],
        games=options["games"],
        rules=rules_of(options),
        gauntlet=options["gauntlet"],
        seed=options["seed"],
    )
    threads = batch.thread_count(options["threads"])
    announce_compilation()
    with progress_bar(sum(run.games for run in plan.tables)) as progress:
        result = play_tournament(plan, threads=threads, progress=progress)
    names = plan.policies if plan.hero is None else (plan.hero, *(p for p in plan.policies if p != plan.hero))
    words = ["azul-fast", "tournament", *names, *(["--gauntlet"] if plan.hero else []), "--games", str(plan.games)]
    words += [word.replace("--players", "--seats") for word in rule_words(plan.rules)]
    again = "To play all of it" if result.interrupted else "To repeat"
    print_result(result, options["as_json"], f"{again}: {shlex.join([*words, '--seed', str(plan.seed)])}")
    return INTERRUPTED if result.interrupted else DONE
