"""From nothing to an answer, in a process of its own: `--help`, 10,000 games from a full cache and from an empty one.

What counts is `cpu_s` in the extra information (the benchmark's own column is the wall time, which depends on what
else the machine does). Compiling is timed here and nowhere else.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("azul_fast.cli.main")

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = [sys.executable, "-c", "from azul_fast.cli.main import main; main()"]
TEN_THOUSAND = ["simulate", "--games", "10_000", "--seed", "1", "--json"]


@pytest.fixture
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def run(cache, arguments):
    """(standard output, standard error, CPU seconds) of one call."""
    environment = os.environ | {"AZUL_FAST_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    before = os.times()
    done = subprocess.run(PROGRAM + arguments, env=environment, capture_output=True, text=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, done.stderr, cpu


def timed(benchmark, cache, arguments, rounds, warmup_rounds):
    seconds = []

    def call():
        out, err, cpu = run(cache, arguments)
        seconds.append(cpu)
        return out, err

    answer = benchmark.pedantic(call, rounds=rounds, warmup_rounds=warmup_rounds)
    benchmark.extra_info["cpu_s"] = round(min(seconds), 2)
    return answer


def statistics_of(text):
    found = json.loads(text)
    found.pop("run")
    return found


def test_help(benchmark, cache):
    out, _ = timed(benchmark, cache, ["--help"], rounds=5, warmup_rounds=1)
    assert "simulate" in out


def test_warm_and_cold_games(benchmark, cache):
    """The warm start is the one timed; the cold one that fills the cache for it is `cold_cpu_s`."""
    cold_out, cold_err, benchmark.extra_info["cold_cpu_s"] = run(cache, TEN_THOUSAND)
    assert "compil" in cold_err
    out, err = timed(benchmark, cache, TEN_THOUSAND, rounds=5, warmup_rounds=1)
    assert "compil" not in err
    assert statistics_of(out) == statistics_of(cold_out)
    assert statistics_of(out)["games"] == 10_000
