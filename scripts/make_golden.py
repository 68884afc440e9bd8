"""Write the golden games: whole games of every number of players, wall and overflow, each step for people to read.

``.venv/bin/python scripts/make_golden.py`` writes them all to tests/golden/. They change only with a reason that is
written in the commit that changes them; tests/test_golden.py compares them and has the referee confirm every line.

A file begins with the game and who plays it. Then comes a line for each deal; two for each move, the position and
``legal moves > move``; and after each round the scores. Legal moves stand in the order of the action index, those that
take one color from one source together: ``3B124F`` is 3B1, 3B2, 3B4 and 3BF, ``2=135`` is 2=1, 2=3 and 2=5.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from azul_fast.batch import describe
from azul_fast.game import Game, round_scores
from azul_fast.rules import Rules
from azul_fast.trace import trace

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden"

# (rules, policies of the seats, seed): one game for each number of players, wall and overflow. Together they have what
# is rare: lines that go to the floor, tiles that leave the game, full floors, short deals, a shared win, a stalled end.
GAMES = (
    (Rules(players=2, wall="fixed", overflow="lid"), "greedy,tidy", 8),
    (Rules(players=2, wall="fixed", overflow="removed"), "random,tidy", 133),
    (Rules(players=2, wall="free", overflow="lid"), "random,greedy", 3),
    (Rules(players=2, wall="free", overflow="removed", max_rounds=4), "random,greedy", 1),
    (Rules(players=3, wall="fixed", overflow="lid"), "greedy,tidy,greedy", 5),
    (Rules(players=3, wall="fixed", overflow="removed"), "random,greedy,tidy", 2),
    (Rules(players=3, wall="free", overflow="lid"), "greedy,random,tidy", 4),
    (Rules(players=3, wall="free", overflow="removed"), "greedy,random,random", 6),
    (Rules(players=4, wall="fixed", overflow="lid"), "greedy,tidy,greedy,random", 7),
    (Rules(players=4, wall="fixed", overflow="removed"), "random,greedy,tidy,random", 3),
    (Rules(players=4, wall="free", overflow="lid"), "greedy,tidy,greedy,random", 2),
    (Rules(players=4, wall="free", overflow="removed"), "greedy,random,random,tidy", 2),
)


def golden(rules: Rules, policies: str, seed: int) -> str:
    """The text of one game."""
    return "\n".join(_lines(rules, policies, seed)) + "\n"


def name(rules: Rules) -> str:
    """The name of its file."""
    return f"{rules.players}-{rules.wall}-{rules.overflow}.txt"


def _lines(rules: Rules, policies: str, seed: int) -> Iterator[str]:
    first_player = seed % rules.players
    words = [f"{key}={value}" for key, value in rules.to_dict().items()]
    yield " ".join(["game", *words, f"first_player={first_player}", f"seed={seed}", f"policies={policies}"])
    game = Game(rules, deals="given", first_player=first_player)
    for event in trace(describe(1, rules, policies, seed=seed, first_player=first_player), 0).history:
        if game.phase == "deal":
            yield f"deal {event}"
            game.deal(event)
            continue
        yield game.to_text()
        yield f"{compact(game.legal_moves())} > {event}"
        game.play(event)
        if game.phase in ("deal", "over"):
            yield f"scores {_numbers(round_scores(game.state))}"
    yield game.to_text()
    result = game.result()
    assert result is not None
    yield "result " + " ".join(
        f"{key}={_numbers(value) if isinstance(value, list) else value}" for key, value in result.items()
    )


def compact(moves: list[str]) -> str:
    """Legal moves with those of one source and color, or of one row, together."""
    groups = groupby(moves, lambda move: move[:2])
    return " ".join(start + "".join(move[-1] for move in group) for start, group in groups)


def _numbers(values: list[int]) -> str:
    return ",".join(map(str, values))


def main() -> None:
    """Write all files, and remove those of no game."""
    FOLDER.mkdir(exist_ok=True)
    texts = {name(rules): golden(rules, policies, seed) for rules, policies, seed in GAMES}
    for path in FOLDER.glob("*.txt"):
        if path.name not in texts:
            path.unlink()
    for file, text in texts.items():
        (FOLDER / file).write_text(text)


if __name__ == "__main__":
    main()
