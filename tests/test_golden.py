"""The golden games in tests/golden: as the engine plays them now, and as the referee plays them line by line."""

import importlib.util
import itertools
import re
from pathlib import Path

import pytest
from referee import Referee

TESTS = Path(__file__).resolve().parent
GOLDEN = TESTS / "golden"
VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
NAMES = [f"{players}-{wall}-{overflow}.txt" for players, wall, overflow in VARIANTS]

spec = importlib.util.spec_from_file_location("make_golden", TESTS.parent / "scripts" / "make_golden.py")
make_golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_golden)
WRITTEN_ANEW = {make_golden.name(rules): (rules, policies, seed) for rules, policies, seed in make_golden.GAMES}


def test_none_is_missing_and_none_is_left_over():
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(NAMES) == sorted(WRITTEN_ANEW)


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_plays_them_to_the_letter(name):
    """When they differ for a good reason, scripts/make_golden.py writes them anew."""
    assert make_golden.golden(*WRITTEN_ANEW[name]) == (GOLDEN / name).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_referee_confirms_every_line(name):
    head, *lines = (GOLDEN / name).read_text().splitlines()
    about = dict(word.split("=") for word in head.removeprefix("game ").split())
    referee = Referee(
        int(about["players"]), about["wall"], about["overflow"], int(about["max_rounds"]), int(about["first_player"])
    )
    assert name == f"{referee.players}-{referee.wall}-{referee.overflow}.txt"
    policies = about["policies"].split(",")
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "deal":
            referee.deal(rest)
            assert [factory or "-" for factory in map("".join, referee.factories)] == rest.split(",")
        elif word == "azul1":
            assert referee.to_text() == line
        elif word == "scores":
            assert referee.phase in ("deal", "over") and referee.round_scores == numbers(rest)
        elif word == "result":
            result = dict(part.split("=") for part in rest.split())
            assert {key: numbers(value) if key != "end" else value for key, value in result.items()} == {
                key: [value] if isinstance(value, int) else value for key, value in referee.result().items()
            }
        else:
            legal, move = line.split(" > ")
            assert expanded(legal) == referee.legal_moves()
            assert move in referee.choices(policies[referee.turn])
            referee.play(move)
    assert lines[-1].startswith("result ") and lines[-2] == referee.to_text()


def numbers(text):
    return list(map(int, text.split(",")))


def expanded(legal):
    """``3B12F`` as 3B1, 3B2, 3BF."""
    return [word[:2] + end for word in legal.split() for end in word[2:]]


def test_they_have_what_is_rare():
    """All of these are easily got wrong, and few games have them."""
    texts = [(GOLDEN / name).read_text() for name in NAMES]
    for what, pattern in {
        "a line that goes to the floor": "=F$",
        "tiles that leave the game": r"^azul1 .* x\d",
        "seven tiles on a floor": r":\*?[BYRKW]{7}[; ]",
        "a factory with fewer than four tiles": r"^deal .*\b([BYRKW]{1,3}(,|$)|-)",
        "a shared win": r"^result .* winners=\d,\d",
        "a stalled game": "end=stalled$",
        "more than five rounds": " rounds=6 ",
    }.items():
        assert any(re.search(pattern, text, re.MULTILINE) for text in texts), what
