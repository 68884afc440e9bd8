"""The signature of the engine: `tests/signature.txt` says why it is what it is."""

from __future__ import annotations

from pathlib import Path

from azul_fast.benchmark import signature
from azul_fast.playout import play_general

FILE = Path(__file__).parent / "signature.txt"


def recorded() -> str:
    """The newest signature: the first word of the last line."""
    return FILE.read_text().splitlines()[-1].split()[0]


def test_signature_is_the_recorded_one() -> None:
    """A change of any game of any variant and policy shows here: if it is meant, add a line with its reason."""
    assert signature() == recorded()


def test_both_kernels_have_one_signature() -> None:
    """Where lockstep plays, the general kernel plays the same games."""
    assert signature(play_general) == recorded()
