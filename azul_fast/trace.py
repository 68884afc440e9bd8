"""Games of a batch, played again one at a time as records: the same moves that the kernels play by the million."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from azul_fast.batch import ROTATE, Run
from azul_fast.game import Game
from azul_fast.players import Players


def records(run: Run, first_game: int, games: int) -> Iterator[dict[str, Any]]:
    """Records of games `first_game` to `first_game` + `games` - 1 of `run`."""
    players = Players(run.policies)
    for number in range(first_game, first_game + games):
        record = trace(run, number, players).record(**labels(run, number))
        record["game"] = number  # with rotation the game itself only knows the number of its deal
        yield record


def labels(run: Run, number: int) -> dict[str, Any]:
    """What the record of a batch's game says beside the game itself."""
    policies = [run.policies[(seat + number % run.rotations) % run.players] for seat in range(run.players)]
    about: dict[str, Any] = {"seed": run.seed, "game": number, "policies": policies}
    if run.rotations > 1:
        about["deal"] = number // run.rotations
    return about


def trace(run: Run, number: int, players: Players | None = None) -> Game:
    """Game `number` of `run`, finished; `players` are those of its policies, if they are there already."""
    deal_number = number // run.rotations
    deals = "auto" if run.deal is None else "given"
    if run.position is not None:
        game = Game.from_text(run.position, seed=run.seed, game=deal_number, deals=deals)
    else:
        first_player = number % run.players if run.first_player == ROTATE else int(run.first_player)
        game = Game(run.rules, seed=run.seed, game=deal_number, deals=deals, first_player=first_player)
    if run.deal is not None:
        game.deal(run.deal)
        game.deal_the_rest()
    players = players or Players(run.policies)
    notes = [players.new_memory() for _ in range(run.players)]
    while not game.is_over:
        seat = game.turn
        place = (seat + number % run.rotations) % run.players
        game.play(players.choose(game.state, place, run.seed, number, notes[seat]))
    return game
