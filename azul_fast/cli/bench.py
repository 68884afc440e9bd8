"""``azul-fast bench``: how fast the engine is here, and the signature of what it plays."""

from __future__ import annotations

import json

import click

from azul_fast.cli.main import DONE, announce_compilation


@click.command("bench", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--signature", "only_signature", is_flag=True, help="Print only the signature.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(only_signature: bool, as_json: bool) -> int:
    """Time whole games on one thread, in CPU time a ply, and print the engine's signature.

    The signature is one number over fixed games of every variant and policy: two versions with the same signature play
    the same games.
    """
    announce_compilation()
    from azul_fast.benchmark import signature, speeds

    if only_signature:
        click.echo(json.dumps({"signature": signature()}) if as_json else signature())
        return DONE
    measured = []
    if not as_json:
        click.echo(f"{'kernel':<24}{'players':>8}{'best ns/ply':>13}{'median':>8}{'games/s':>11}")
    for speed in speeds():
        measured.append(speed._asdict())
        if not as_json:
            click.echo(
                f"{speed.name:<24}{speed.players:>8}{speed.best:>13.1f}{speed.median:>8.1f}{speed.games_per_second:>11,.0f}"
            )
    if as_json:
        click.echo(json.dumps({"signature": signature(), "speeds": measured}))
    else:
        click.echo(f"signature {signature()}")
    return DONE
