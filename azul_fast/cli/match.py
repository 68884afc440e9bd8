"""``azul-fast match``: two policies against each other, each deal from every seat."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from azul_fast.cli.main import CHECK_FAILED, DONE, INTERRUPTED, announce_compilation
from azul_fast.cli.options import (
    WholeNumber,
    record_count,
    record_options,
    seed_option,
    threads_option,
    variant_options,
)
from azul_fast.cli.simulate import RECORD_SUFFIXES, RULE_OPTIONS, progress_bar, write_records
from azul_fast.errors import AzulError, shown
from azul_fast.rules import Rules

if TYPE_CHECKING:
    from azul_fast.matches import Match, MatchPlan


class Number(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions
    """A number such as 0.05."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(value)
        except ValueError:
            name = "value" if param is None else param.opts[0]
            raise AzulError(f"{name}: {shown(value)} is not a number such as 0.05") from None


class Hypotheses(click.ParamType):  # type: ignore[type-arg]  # not generic in older versions
    """Two Elo differences: ``0,10``."""

    name = "elo0,elo1"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value
        try:
            elo0, elo1 = (float(part) for part in value.split(","))
        except ValueError:
            raise AzulError(f"--sprt: {shown(value)} is not two Elo differences such as 0,10") from None
        return elo0, elo1


@click.command("match", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("policies", nargs=-1, metavar="A B")
@click.option("--games", type=WholeNumber(), show_default="1200, with --sprt at most 120000",
              help="How many, a multiple of the players.")  # fmt: skip
@click.option("--players", type=WholeNumber(), default=2, show_default=True, help="2, 3 or 4: B has all other seats.")
@variant_options
@seed_option
@threads_option
@click.option("--sprt", type=Hypotheses(), help="End as soon as one of two Elo differences is accepted: 0,10.")
@click.option("--alpha", type=Number(), default=0.05, show_default=True, help="Chance to accept elo1 if elo0 is true.")
@click.option("--beta", type=Number(), default=0.05, show_default=True, help="Chance to accept elo0 if elo1 is true.")
@click.option("--strict", is_flag=True, help="Exit with 1 if elo0 is accepted.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@record_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Play policy A against policy B, each deal in every rotation of the seats.

    With 3 and 4 players B has all seats but one, and B A is the reverse; name a policy for each seat for other mixes
    (A A B), where the first plays against all others. The same seed gives the same result, whatever the number of
    threads. Ctrl-C prints that of the games played so far.
    """
    given = {name for name in options if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    return match(options, given)


def match(options: dict[str, Any], given: set[str]) -> int:
    """Check all options, play, and print the result; returns the exit code."""
    from azul_fast import batch
    from azul_fast.matches import plan_match, play_match

    for name in ("alpha", "beta", "strict"):
        if name in given and options["sprt"] is None:
            raise AzulError(f"--{name} goes with --sprt elo0,elo1")
    plan = plan_match(
        *options["policies"],
        games=options["games"],
        rules=rules_of(options),
        seed=options["seed"],
        sprt=options["sprt"],
        alpha=options["alpha"],
        beta=options["beta"],
    )
    threads = batch.thread_count(options["threads"])
    record_games = record_count(options, given)
    records = None
    if options["records"] is not None:
        from azul_fast.files import check_output

        records = check_output(options["records"], RECORD_SUFFIXES, options["force"])
    announce_compilation()
    with progress_bar(plan.run.games) as progress:
        result = play_match(plan, threads=threads, progress=progress)
    if records is not None:
        write_records(result.plan.run, records, min(record_games, result.games))
    print_result(result, options["as_json"], f"To repeat: {repeat_command(plan, result)}")
    if result.interrupted:
        return INTERRUPTED
    is_rejected = result.test is not None and result.test.accepted == "H0"
    return CHECK_FAILED if options["strict"] and is_rejected else DONE


def rules_of(options: dict[str, Any]) -> Rules:
    """The rules that the options give."""
    try:
        return Rules(**{name: options[name] for name in RULE_OPTIONS})
    except ValueError as error:
        raise AzulError(str(error)) from None


def print_result(result: Any, as_json: bool, repeat: str) -> None:
    """Print a result and the command that gets it again, and on standard error how long it took."""
    if as_json:
        print(json.dumps(result.to_dict(), allow_nan=False), flush=True)
        return
    text = str(result)
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        from azul_fast.display import _ASCII

        text = text.translate(_ASCII)
    print(f"{text}\n\n{repeat}", flush=True)
    about = result.about
    print(f"{about['seconds']:.1f} s on {about['threads']} threads, {about['cpu_s']:.1f} s of processor time",
          file=sys.stderr, flush=True)  # fmt: skip


def rule_words(rules: Rules, options: tuple[str, ...] = RULE_OPTIONS) -> list[str]:
    """The options of a command that give these rules."""
    defaults, words = Rules(), []
    for name in options:
        if (value := getattr(rules, name)) != getattr(defaults, name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def repeat_command(plan: MatchPlan, result: Match) -> str:
    """The command that prints the same result again."""
    run = plan.run
    names = result.policies if plan.own == 1 and len(result.policies) == 2 else run.policies
    games = result.games if result.interrupted else run.games
    words = ["azul-fast", "match", *names, "--games", str(games), *rule_words(run.rules)]
    if plan.sprt is not None:
        words += ["--sprt", ",".join(repr(elo).removesuffix(".0") for elo in (plan.sprt.elo0, plan.sprt.elo1))]
        for name in ("alpha", "beta"):
            if getattr(plan.sprt, name) != 0.05:
                words += [f"--{name}", repr(getattr(plan.sprt, name))]
    return shlex.join([*words, "--seed", str(run.seed)])
