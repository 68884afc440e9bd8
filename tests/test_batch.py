"""The batch runner: the same figures for any threads and chunks, interrupts, failures, and what it refuses."""

from __future__ import annotations

import json
import signal
import threading

import numpy as np
import pytest

import azul_fast as az
from azul_fast import batch, players
from azul_fast.batch import describe, play, simulate
from azul_fast.engine.layout import OUT_SCORE, OUT_SEATS
from azul_fast.errors import AzulError
from azul_fast.rules import Rules

RICH = (
    "azul1 c2 -,-,-,-,- * 241:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b20.20.20.20.20 l0.0.0.0.0 t0 s0 r0 deal"
)
FIRST_TURN = (
    "azul1 c2 BBRK,YYWW,BYRK,RRRW,BKKW * 0:...../...../...../...../.....:-,-,-,-,-:-;"
    "0:...../...../...../...../.....:-,-,-,-,-:- b16.17.15.16.16 l0.0.0.0.0 t0 s0 r1 offer"
)
DEAL = "BBRK,YYWW,BYRK,RRRW,BKKW"


def figures(stats):
    """All that must not depend on how the games were played."""
    values = stats.to_dict()
    del values["run"]
    return json.dumps(values)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"policies": ["random", "greedy"], "rotate": True, "first_player": 1},
        {"rules": Rules(players=3, wall="free", overflow="removed", max_rounds=7), "first_player": "rotate"},
        {"rules": Rules(players=4), "policies": "random,tidy,random,greedy", "first_game": 24},
        {"position": FIRST_TURN},
        {"deal": DEAL, "policies": "tidy"},
    ],
    ids=["plain", "rotated", "gray", "mixed", "from a position", "from a deal"],
)
def test_threads_and_chunks_change_no_byte(options):
    run = describe(840, **{"seed": 5, **options})
    expected = figures(play(run, threads=1, chunk_games=840))
    assert figures(play(run, threads=1)) == expected
    assert figures(play(run, threads=3)) == expected
    assert figures(play(run, threads=2, chunk_games=12)) == expected
    assert figures(play(run, threads=5, chunk_games=132)) == expected


def test_a_run_can_be_split_and_joined():
    whole = simulate(2400, policies="random,tidy", seed=3, rotate=True)
    first = simulate(1000, policies="random,tidy", seed=3, rotate=True)
    second = simulate(1400, policies="random,tidy", seed=3, rotate=True, first_game=1000)
    assert (second.tally + first.tally).to_dict() == whole.tally.to_dict()


def test_a_given_deal_is_the_position_after_it():
    from_deal, from_position = (
        simulate(240, seed=2, **{name: value}) for name, value in (("deal", DEAL), ("position", FIRST_TURN))
    )
    assert from_deal.tally.to_dict() == from_position.tally.to_dict()
    assert from_deal.run.deal == DEAL
    assert simulate(240, seed=2, deal="KRBB,WWYY,BYRK,RRRW,BKKW".split(",")).run.deal == DEAL


def test_results_come_in_order_and_whole():
    seen, scores = [], []

    def on_chunk(first, games, results):
        seen.append((first, games))
        scores.append(results[OUT_SEATS + OUT_SCORE, :games].copy())

    stats = simulate(5000, seed=1, threads=3, on_chunk=on_chunk)
    assert [first for first, _ in seen] == list(np.cumsum([0] + [games for _, games in seen])[:-1])
    assert sum(games for _, games in seen) == 5000
    assert np.bincount(np.concatenate(scores)).tolist() == list(stats.seats[0].score.histogram)


def test_progress_ends_at_all_games():
    calls = []
    simulate(3000, seed=1, progress=lambda done, games: calls.append((done, games)))
    assert calls == sorted(calls)
    assert calls[-1] == (3000, 3000)


def test_chunks_grow_and_share_out_the_end():
    pool = batch._Pool(describe(100_000, seed=1), 2, None)
    sizes = []
    while (taken := pool.take())[1]:
        sizes.append(taken[1])
        pool.learn(taken[1], taken[1] * 1e-6)  # a million games a second
    assert sum(sizes) == 100_000
    assert sizes[:4] == [12, 96, 768, 6144]
    assert max(sizes) == batch.CHUNK_GAMES
    assert sizes[-2] < 2500
    assert all(size % 12 == 0 for size in sizes[:-1])
    slow = batch._Pool(describe(100_000, seed=1), 2, None)
    for _ in range(5):
        slow.learn(slow.take()[1], 60.0)
    assert slow.take()[1] == 12
    longest = batch._Pool(describe(100_000, Rules(max_rounds=1_000_000), seed=1), 1, None)
    assert longest.most_games < 200


# ---------------------------------------------------------------------------------------------------------- interrupts
@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_leaves_the_run_of_the_first_games(threads):
    run = describe(10**9, policies="random,tidy", seed=8, rotate=True)
    seen = []

    def on_chunk(first, games, results):
        seen.append(games)
        if len(seen) == 4:
            signal.raise_signal(signal.SIGINT)

    stats = play(run, threads=threads, on_chunk=on_chunk)
    assert stats.interrupted
    assert stats.games == sum(seen)
    assert stats.games % 2 == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    same = simulate(stats.games, policies="random,tidy", seed=8, rotate=True)
    assert not same.interrupted
    assert figures(stats).replace('"interrupted": true', '"interrupted": false') == figures(same)


def test_a_second_interrupt_is_not_waited_for():
    def on_chunk(first, games, results):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        simulate(10**9, seed=1, on_chunk=on_chunk)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_before_any_game_is_an_interrupt(monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(players, "play_games", lambda *_: never.wait())
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulate(1000, seed=1)
    never.set()


def test_it_runs_in_other_threads_too():
    stats = []
    thread = threading.Thread(target=lambda: stats.append(simulate(120, seed=1)))
    thread.start()
    thread.join()
    assert figures(stats[0]) == figures(simulate(120, seed=1))


# ------------------------------------------------------------------------------------------------------------ failures
def test_what_a_worker_raises_is_raised(monkeypatch):
    def broken(*_):
        raise RuntimeError("broken kernel")

    monkeypatch.setattr(players, "play_games", broken)
    with pytest.raises(RuntimeError, match="broken kernel"):
        simulate(1000, seed=1, threads=3)


def test_what_on_chunk_raises_is_raised_and_ends_the_workers():
    def on_chunk(first, games, results):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        simulate(10**9, seed=1, threads=2, on_chunk=on_chunk)
    workers = [thread for thread in threading.enumerate() if thread.name.startswith("azul-")]
    for thread in workers:
        thread.join(5)
    assert not any(thread.is_alive() for thread in workers)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 0}, "games must be 1 to 2^53, not 0"),
        ({"games": -5}, "games must be 1 to 2^53, not -5"),
        ({"games": 2.5}, "games must be a whole number, not 2.5"),
        ({"games": True}, "games must be a whole number, not True"),
        ({"games": 10, "rotate": True, "rules": Rules(players=3)}, "games must be a multiple of the 3 rotations of"),
        ({"first_game": 3, "rotate": True}, "first game must be a multiple of the 2 rotations of the seats, not 3"),
        ({"first_game": -1}, "first game must be 0 to 2^53, not -1"),
        ({"seed": -1}, "seed must be 0 to 2^53 - 1, not -1"),
        ({"seed": 2**53}, "seed must be 0 to 2^53 - 1, not 9007199254740992"),
        ({"seed": 10**60}, "seed must be 0 to 2^53 - 1, not a number too long to show"),
        ({"seed": "1"}, "seed must be a whole number, not '1'"),
        ({"threads": 0}, "threads must be 1 to 1024, not 0"),
        ({"policies": "best"}, "policy must be random, tidy, greedy"),
        ({"policies": ""}, "policy must be random, tidy, greedy"),
        ({"policies": "random:depth=3"}, "policy random has no parameters"),
        ({"policies": ["random"] * 3}, "policies: 3 given, but 2 seats need 1 or 2"),
        ({"policies": []}, "policies: 0 given, but 2 seats need 1 or 2"),
        ({"policies": 7}, "policies must be a name or one name a seat, not 7"),
        ({"rules": 2}, "rules must be a Rules, not 2"),
        ({"first_player": 2}, "first player must be 0 to 1, not 2"),
        ({"first_player": "last"}, "first player must be 0 to 1 or rotate, not 'last'"),
        ({"first_player": "rotate", "deal": DEAL}, "first player rotate does not go with a given deal"),
        ({"first_player": "rotate", "position": FIRST_TURN}, "first player 'rotate' was asked for, but in the"),
        ({"position": FIRST_TURN, "rules": Rules(players=3)}, "players 3 was asked for, but the position is for"),
        ({"position": "azul2"}, "position: format: azul1 expected, not 'azul2'"),
        ({"position": RICH}, "position: a score must be at most 240 to play on, not 241"),
        ({"deal": "BBRK"}, "deal: 1 factories given, but 2 players have 5"),
        ({"deal": "BBRK,YYWW,BYRK,RRRW,BKK"}, "deal: factory 5: 3 tiles"),
        ({"deal": DEAL, "position": FIRST_TURN}, "deal: the round has been dealt"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(map(str, value))[:40],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(options, message, monkeypatch):
    monkeypatch.setattr(players, "play_games", None)  # no game is played
    with pytest.raises(AzulError) as error:
        simulate(**{"games": 12, "seed": 1, **options})
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_numpy_integers_are_numbers():
    assert describe(np.int64(24), seed=np.int32(3)).seed == 3


def test_a_finished_game_cannot_be_played_on():
    # the coloured wall's first row is complete
    board = "10:BYRKW/...../...../...../.....:-,-,-,-,-:-"
    position = f"azul1 c2 -,-,-,-,- * {board};{board} b18.18.18.18.18 l0.0.0.0.0 t0 s0 r5 over-row"
    with pytest.raises(AzulError, match="the game is over"):
        simulate(12, position=position)


def test_a_seed_is_drawn_when_none_is_given():
    seeds = {describe(12).seed for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_the_package_offers_it():
    assert az.simulate is simulate
    assert az.Rules is Rules
    assert {"simulate", "Rules", "Statistics"} <= set(dir(az))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        az.nothing  # noqa: B018
