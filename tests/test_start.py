"""A start from nothing: an empty cache, and a package in a folder that cannot be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import azul_fast

PACKAGE = Path(azul_fast.__file__).parent


def simulate(site, cache):
    """(statistics, standard error) of a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("AZUL_FAST_CACHE_DIR", None)
    command = [sys.executable, "-m", "azul_fast", "simulate", "--games", "10_000", "--seed", "1", "--json"]
    done = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    found.pop("run")
    return found, done.stderr


def test_a_start_from_an_empty_cache_in_a_folder_that_cannot_be_written(tmp_path):
    site = tmp_path / "site"
    shutil.copytree(PACKAGE, site / "azul_fast", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "azul_fast" / "__pycache__").write_text("a file, so that not even root can write below it")
    cold, said = simulate(site, tmp_path / "cache")
    assert said.count("compiling") == 1
    assert cold["games"] == 10_000
    assert list((tmp_path / "cache" / "azul_fast").rglob("*.nbc"))
    warm, said = simulate(site, tmp_path / "cache")
    assert "compiling" not in said
    assert "warning" not in said.lower()
    assert warm == cold
