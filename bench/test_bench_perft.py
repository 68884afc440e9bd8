"""The tree of legal moves counted with bulk counting and without, and records checked from their JSON."""

import pytest

from azul_fast.batch import describe
from azul_fast.checking import check
from azul_fast.records import dumps, replay
from azul_fast.trace import records
from azul_fast.tree import count

FIRST_TURN = (
    "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
)
GAMES = 100


@pytest.mark.parametrize(("depth", "bulk", "leaves"), [(4, True, 20_234_527), (3, False, 393_948)])
def test_perft(benchmark, depth, bulk, leaves):
    found = benchmark.pedantic(count, (FIRST_TURN, depth), {"bulk": bulk}, rounds=20, warmup_rounds=2)
    benchmark.extra_info["moves made"] = found.moves
    assert found.leaves == leaves


@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_check_of_records(benchmark, policy):
    lines = [dumps(record).encode() for record in records(describe(GAMES, policies=policy, seed=7), 0, GAMES)]
    found = benchmark.pedantic(lambda: [check(line) for line in lines], rounds=10, warmup_rounds=1)
    assert [game.end for game in found] == [replay(line).result()["end"] for line in lines]
