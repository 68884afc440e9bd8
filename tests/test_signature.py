"""The signature of the engine: `tests/signature.txt` says why it is what it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "processor",
    [{"AZUL_FAST_NO_PDEP": "1"}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}],
    ids=["without pdep", "any processor of this kind"],
)
def test_other_processors_play_the_same_games(processor: dict[str, str]) -> None:
    """A table in place of pdep, and no vector instructions beyond those that all have: the same signature."""
    code = "from azul_fast.benchmark import signature; print(signature())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | processor, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [recorded()]
