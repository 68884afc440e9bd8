"""The field table: every word of every state met in play is within its range and agrees with all the others."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azul_fast.engine import layout
from azul_fast.engine.layout import (
    GAME_FIELDS,
    GAME_OFFSETS,
    PHASE,
    PHASE_DEAL,
    PHASE_OVER,
    PLAYER_FIELDS,
    PLAYER_OFFSETS,
    STATE_WORDS,
    Field,
    new_state,
    rules_of,
    seat_word,
)
from azul_fast.engine.step import ACTION_COUNT, deal_round, legal_actions, seed_state, step
from azul_fast.notation import format_position, parse_position
from azul_fast.rules import COLOR_COUNT, SOURCE_COUNT, TILES_PER_COLOR, Rules

VARIANTS = list(itertools.product((2, 3, 4), ("fixed", "free"), ("lid", "removed")))
BYTE_FIELDS = {"OFFER", "BAG", "REMOVED", "ROOM", "LINE_COLOR", "FLOOR_TILES", "CELLS"}  # five bytes, each in its range
BYTE_LIMIT = 0x80  # the kernels add 0x7F to a byte and look at its top bit
FREE_BITS = {"DEAL_KEY", "POLICY_KEY", "STREAM"}
# What a position in text does not say: streams, and what was counted since the state was set up.
NOT_IN_TEXT = {"DEAL_KEY", "POLICY_KEY", "STREAM", "PLIES", "ROUND_PLIES", "CHOICES", "SHORT", "PLACED", "LOST"}


def test_fields_fill_the_state_without_gaps() -> None:
    offsets = [GAME_OFFSETS[field.name] for field in GAME_FIELDS]
    lengths = [field.words for field in GAME_FIELDS]
    assert offsets == list(itertools.accumulate([0, *lengths[:-1]]))
    assert layout.SEATS == sum(lengths)
    assert [PLAYER_OFFSETS[f.name] for f in PLAYER_FIELDS] == list(
        itertools.accumulate([0, *(f.words for f in PLAYER_FIELDS[:-1])])
    )
    assert layout.STATE_WORDS == layout.SEATS + 4 * sum(field.words for field in PLAYER_FIELDS)
    for field, offset in zip(GAME_FIELDS, offsets, strict=True):
        assert getattr(layout, field.name) == offset
    for field in PLAYER_FIELDS:
        assert getattr(layout, field.name) == PLAYER_OFFSETS[field.name]


@pytest.mark.parametrize(
    "field", [f for f in (*GAME_FIELDS, *PLAYER_FIELDS) if f.name in BYTE_FIELDS], ids=lambda f: f.name
)
def test_bytes_leave_their_top_bit_free(field: Field) -> None:
    """Counts are added and compared five at a time: a byte must not reach the next, nor 0x80."""
    assert field.maximum < BYTE_LIMIT
    assert field.maximum <= max(TILES_PER_COLOR * COLOR_COUNT, SOURCE_COUNT)


def check_ranges(state: np.ndarray) -> None:
    """Every word, and every byte of a packed word, is within the range that the table gives it."""
    places = [(field, GAME_OFFSETS[field.name]) for field in GAME_FIELDS]
    for seat in range(int(state[layout.PLAYERS])):
        places += [(field, seat_word(seat) + PLAYER_OFFSETS[field.name]) for field in PLAYER_FIELDS]
    for field, offset in places:
        if field.name in FREE_BITS:
            continue
        for word in state[offset : offset + field.words].tolist():
            assert word >= 0, field.name
            if field.name in BYTE_FIELDS:
                parts = list(word.to_bytes(8, "little"))
                assert max(parts[:COLOR_COUNT]) <= field.maximum, (field.name, parts)
                assert not any(parts[COLOR_COUNT:]), (field.name, parts)
            else:
                assert word <= field.maximum, (field.name, word)


def check_agreement(state: np.ndarray) -> None:
    """The state is the one that its own position sets up: derived fields, the census and all."""
    again = parse_position(format_position(state))
    different = np.flatnonzero(again != state)
    allowed = {GAME_OFFSETS[name] for name in NOT_IN_TEXT if name in GAME_OFFSETS}
    for seat in range(int(state[layout.PLAYERS])):
        allowed |= {seat_word(seat) + PLAYER_OFFSETS[name] for name in NOT_IN_TEXT if name in PLAYER_OFFSETS}
    assert set(different.tolist()) <= allowed, different


def play_through(rules: Rules, seed: int, prefer_floor: float) -> list[int]:
    """A whole game of random actions, checked on the way; returns its states' phases."""
    choice = random.Random(seed)
    state = new_state(rules, seed % rules.players)
    seed_state(state, seed, 0, 0)
    mask = np.zeros(ACTION_COUNT, np.uint8)
    phases = []
    while state[PHASE] != PHASE_OVER:
        if state[PHASE] == PHASE_DEAL:
            deal_round(state)
        else:
            assert legal_actions(state, mask) == mask.sum() > 0
            actions = np.flatnonzero(mask).tolist()
            floor = [a for a in actions if a < 300 and a % 6 == 5]
            step(state, choice.choice(floor if floor and choice.random() < prefer_floor else actions))
        phases.append(int(state[PHASE]))
        check_ranges(state)
        check_agreement(state)
    return phases


@settings(max_examples=40, deadline=None)
@given(
    variant=st.sampled_from(VARIANTS),
    seed=st.integers(0, 2**53 - 1),
    max_rounds=st.integers(1, 12),
    prefer_floor=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_every_state_is_in_range_and_agrees_with_itself(
    variant: tuple[int, str, str], seed: int, max_rounds: int, prefer_floor: float
) -> None:
    """Tiles are conserved, derived fields are true, no packed field overflows: in every state of any game."""
    players, wall, overflow = variant
    rules = Rules(players=players, wall=wall, overflow=overflow, max_rounds=max_rounds)
    assert rules_of(new_state(rules)) == rules
    phases = play_through(rules, seed, prefer_floor)
    assert phases[-1] == PHASE_OVER


def test_a_state_is_copied_as_bytes() -> None:
    state = new_state(Rules())
    seed_state(state, 1, 2, 3)
    deal_round(state)
    copy = np.frombuffer(state.tobytes(), np.int64)
    assert len(state.tobytes()) == layout.STATE_BYTES == 8 * STATE_WORDS
    assert (copy == state).all()
