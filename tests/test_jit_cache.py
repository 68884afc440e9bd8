"""The cache of compiled kernels: never stale, never in the way.

The processes here run copies of the package with one small kernel added (`probe`, which calls into an inner file), so
that nothing takes long to compile and nobody's own cache is touched.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import azul_fast
from azul_fast import _jit

PACKAGE = Path(azul_fast.__file__).parent
PROBE = """
from azul_fast._jit import kernel
from azul_fast.engine.scoring import complete_rows

@kernel
def probe(wall):
    return complete_rows(wall)
"""
PROGRAM = """
from azul_fast import _jit
compiled = []
_jit.on_compile = compiled.append
from azul_fast.engine.probe import probe
print(probe(0b11111_00000_11111), len(compiled))
"""
ROWS_OF_PROBE = 2


@pytest.fixture
def copy(tmp_path):
    """A copy of the package with the probe, in a folder of its own."""
    package = tmp_path / "site" / "azul_fast"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "engine" / "probe.py").write_text(PROBE)
    return package


def start(package, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in ("AZUL_FAST_CACHE_DIR", "XDG_CACHE_HOME")}
    kept |= {"PYTHONPATH": str(package.parent), "HOME": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=kept | environment, cwd=package.parent,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(package, **environment):
    """(what the probe returned, how many kernels were compiled, standard error) of a process of its own."""
    process = start(package, **environment)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    value, compiled = map(int, out.split())
    return value, compiled, err


def blocked(path):
    """A place where no folder can be made, not even by root: beneath a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("not a folder")
    return path


def kernel_modules():
    """Every file that compiled code is made from: the rooms of kernels whole, and all others that have some."""
    paths = [path for room in ("engine", "policies", "search") for path in PACKAGE.glob(f"{room}/*.py")]
    paths += [PACKAGE / "rules.py", PACKAGE / "_jit.py"]
    compiled = re.compile(r"^@(kernel|inner|inline)$", re.MULTILINE)
    paths += [path for path in PACKAGE.rglob("*.py") if compiled.search(path.read_text())]
    return sorted({str(path.relative_to(PACKAGE)) for path in paths})


def test_all_kernel_files_are_found():
    assert {"rules.py", "_jit.py", "playout.py", "engine/layout.py", "engine/lanes.py"} <= set(kernel_modules())


@pytest.mark.parametrize("name", kernel_modules())
def test_an_edit_of_any_kernel_file_starts_another_cache_folder(copy, monkeypatch, name):
    monkeypatch.setattr(_jit, "PACKAGE", copy)
    before = _jit.source_hash()
    with open(copy / name, "a") as file:
        file.write("# a change\n")
    assert _jit.source_hash() != before


@pytest.mark.parametrize("switch", ["AZUL_FAST_NO_PDEP", "NUMBA_BOUNDSCHECK"])
def test_what_changes_the_compiled_code_starts_another_cache_folder(monkeypatch, switch):
    monkeypatch.delenv(switch, raising=False)
    before = _jit.source_hash()
    monkeypatch.setenv(switch, "1")
    assert _jit.source_hash() != before


def test_files_without_kernels_leave_the_cache_alone(copy, monkeypatch):
    monkeypatch.setattr(_jit, "PACKAGE", copy)
    before = _jit.source_hash()
    (copy / "cli" / "another.py").write_text("# no kernel\n")
    assert _jit.source_hash() == before


def test_an_edit_of_an_inner_file_is_seen(copy):
    assert run(copy)[:2] == (ROWS_OF_PROBE, 1)
    assert run(copy)[:2] == (ROWS_OF_PROBE, 0)
    scoring = copy / "engine" / "scoring.py"
    scoring.write_text(scoring.read_text() + "\n\n@inline\ndef complete_rows(wall):\n    return 7\n")
    assert run(copy)[:2] == (7, 1)
    assert run(copy)[:2] == (7, 0)


def test_the_cache_lies_beside_the_package(copy):
    run(copy)
    assert list((copy / "__pycache__" / "kernels").rglob("*.nbc"))


def test_the_environment_names_another_cache(copy, tmp_path):
    run(copy, AZUL_FAST_CACHE_DIR=str(tmp_path / "elsewhere"))
    assert list((tmp_path / "elsewhere").rglob("*.nbc"))
    assert not (copy / "__pycache__").exists()


def test_a_package_that_cannot_be_written_uses_the_users_cache(copy, tmp_path):
    blocked(copy / "__pycache__" / "kernels")
    user = tmp_path / "user"
    assert run(copy, XDG_CACHE_HOME=str(user))[:2] == (ROWS_OF_PROBE, 1)
    assert list((user / "azul_fast").rglob("*.nbc"))
    assert run(copy, XDG_CACHE_HOME=str(user)) == (ROWS_OF_PROBE, 0, "")


def test_without_any_cache_it_runs_and_warns_once(copy, tmp_path):
    blocked(copy / "__pycache__" / "kernels")
    nowhere = blocked(tmp_path / "file") / "cache"
    value, _, err = run(copy, XDG_CACHE_HOME=str(nowhere))
    assert value == ROWS_OF_PROBE
    assert err.count("RuntimeWarning") == 1
    assert "AZUL_FAST_CACHE_DIR" in err


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("kept", [0, 0.5])
def test_a_truncated_cache_file_is_survived_and_replaced(copy, suffix, kept):
    run(copy)
    files = list(copy.rglob(f"*.{suffix}"))
    assert files
    for path in files:
        data = path.read_bytes()
        path.write_bytes(data[: int(kept * len(data))])
    assert run(copy)[:2] == (ROWS_OF_PROBE, 1)
    assert run(copy)[:2] == (ROWS_OF_PROBE, 0)


def test_processes_that_compile_at_once_all_finish(copy):
    processes = [start(copy) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert out.split()[0] == str(ROWS_OF_PROBE)
    assert run(copy)[:2] == (ROWS_OF_PROBE, 0)
