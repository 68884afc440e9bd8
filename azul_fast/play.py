"""What a policy plays in one game, and why: the move as people say it, and the points that it brings now."""

from __future__ import annotations

from azul_fast.batch import policy_id, whole_number
from azul_fast.errors import GameOverError, IllegalMoveError, shown
from azul_fast.game import Game
from azul_fast.notation import format_move
from azul_fast.rules import MAX_SEED


def choose(game: Game, policy: str = "greedy", seed: int = 1) -> str:
    """The move that a policy plays here.

    Parameters
    ----------
    game : Game
        In phase ``offer`` or ``tile``; it is not changed.
    policy : str
        Its name, as in `azul_fast.simulate`.
    seed : int
        What the policy draws from, together with the number of the game. With the seed of the game itself it plays as
        in a batch.

    Returns
    -------
    str
        The text of a legal move; the same for the same game and seed.

    Raises
    ------
    GameOverError
        The game has ended.
    IllegalMoveError
        The round has not been dealt.
    AzulError
        There is no such policy or seed.
    """
    if not isinstance(game, Game):
        raise TypeError(f"game must be a Game, not {shown(game)}")
    number = policy_id(policy)
    seed = whole_number("seed", seed, 0, MAX_SEED)
    if game.is_over:
        raise GameOverError("choose: the game is over")
    if game.phase == "deal":
        raise IllegalMoveError("choose: the round has not been dealt")
    from azul_fast.playout import choose as chosen

    return format_move(chosen(game.state, number, seed, game.game))
