"""``azul-fast tune``: better weights for a policy."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import DONE, INTERRUPTED, announce_compilation
from azul_fast.cli.match import print_result, repeat_command, rule_words, rules_of
from azul_fast.cli.options import WholeNumber, seed_option, threads_option, variant_options

if TYPE_CHECKING:
    from azul_fast.tuning import Generation


@click.command("tune", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--policy", "--start", "policy", default="plan", show_default=True, metavar="POLICY",
              help="What to start from: plan:column=1, mybots.py::careful:floor=2.")  # fmt: skip
@click.option("--opponent", "opponents", multiple=True, metavar="POLICY",
              help="Whom to beat (greedy); self: the weights found so far. May be given again.")  # fmt: skip
@click.option("--generations", type=WholeNumber(), show_default="20", help="How often candidates are drawn.")
@click.option("--candidates", type=WholeNumber(), show_default="24", help="How many in a generation.")
@click.option(
    "--games",
    type=WholeNumber(),
    show_default="240",
    help="Of a candidate against each opponent, a multiple of the players.",
)
@click.option("--test-games", type=WholeNumber(), show_default="4800", help="Of the match in the end, on other deals.")
@click.option("--players", type=WholeNumber(), default=2, show_default=True,
              help="2, 3 or 4: the opponent has all other seats.")  # fmt: skip
@variant_options
@seed_option
@threads_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(**options: Any) -> int:
    """Improve the weights of a policy by playing against others (the cross-entropy method).

    All candidates of a generation play the same deals, from every seat. In the end the weights that were found play a
    match on deals of their own, beside the weights of the start. The same seed gives the same weights, whatever the
    number of threads. Ctrl-C prints the best so far.
    """
    from azul_fast import batch
    from azul_fast.tuning import OPPONENT, plan_tuning, run_tuning

    plan = plan_tuning(
        options["policy"],
        options["opponents"] or OPPONENT,
        **{name: options[name] for name in ("generations", "candidates", "games", "test_games", "seed")},
        rules=rules_of(options),
    )
    threads = batch.thread_count(options["threads"])
    announce_compilation()

    def show(generation: Generation) -> None:
        print(
            f"generation {generation.number} of {plan.generations}: score share {100 * generation.elite:.1f}% of the "
            f"best, {100 * generation.everyone:.1f}% of all",
            file=sys.stderr,
            flush=True,
        )

    result = run_tuning(plan, threads=threads, progress=show)
    if result.tests:
        match = result.tests[0].match
        use = f"To use and measure them: {repeat_command(match.plan, match)}"
    else:
        words = [result.policy, plan.tests[0].run.policies[1], *rule_words(plan.rules)]
        use = f"To use them: {shlex.join(['azul-fast', 'match', *words])}"
    print_result(result, options["as_json"], use)
    return INTERRUPTED if result.interrupted else DONE
