"""The project as a package: the README's examples, how kernels are compiled, docstrings, pins, and what a wheel has."""

import ast
import importlib.metadata
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import azul_fast as az

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "azul_fast"
MODULES = sorted(PACKAGE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
README = (ROOT / "README.md").read_text()
GAMES = "200"  # what the README's commands play here


def names_of(paths):
    return [str(path.relative_to(PACKAGE)) for path in paths]


# -------------------------------------------------------------------------------------------------------------- README
def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands():
    """The README's lines that run the program."""
    lines = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
    return [line.split("#")[0].strip() for line in lines if line.startswith("scripts/azul-fast ")]


def test_readme_python(tmp_path, monkeypatch):
    """Each block runs after the one before; ``expression  # -> value`` is checked."""
    monkeypatch.chdir(tmp_path)
    space = {}
    found = blocks("python")
    assert found
    for block in found:
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            source = ast.get_source_segment(block, statement)
            expected = re.search(r"# -> (.*)$", lines[statement.end_lineno - 1])
            if expected:
                assert repr(eval(source, space)) == expected[1].strip(), source
            else:
                exec(source, space)


@pytest.mark.parametrize("command", commands())
def test_readme_commands(command, tmp_path):
    words = shlex.split(re.sub(r"--games [\d_e]+", f"--games {GAMES}", command))[1:]
    program = [sys.executable, "-c", "from azul_fast.cli.main import main; main()"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")  # some of them name a file there
    done = subprocess.run(program + words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_readme_names_files_that_exist():
    for name in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / name).exists(), name
    for block in blocks("text"):
        for name in re.findall(r"^(\S+/|\S+\.\w+)(?= {2,})", block, re.MULTILINE):
            assert (ROOT / name).exists(), name


# ------------------------------------------------------------------------------------------------------------- kernels
COMPILERS = ("_jit.py", "players.py")  # the second one compiles the functions of users, not our own
DECORATORS = ("jit", "njit", "vectorize", "guvectorize", "cfunc", "prange", "generated_jit", "jitclass")


@pytest.mark.parametrize("name", [name for name in names_of(MODULES) if name not in COMPILERS])
def test_only_jit_py_compiles(name):
    """Flags and cache are the same everywhere: no module calls numba's own decorators."""
    for node in ast.walk(ast.parse((PACKAGE / name).read_text())):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.alias(name=word):
                assert word not in DECORATORS
            case ast.keyword(arg=word):
                assert word not in ("parallel", "fastmath", "nopython")


def test_kernels_are_not_compiled_in_parallel():
    from azul_fast import _jit

    assert _jit.FLAGS == {"nogil": True, "error_model": "numpy"}


# ---------------------------------------------------------------------------------------------------------- docstrings
@pytest.mark.parametrize("name", names_of(MODULES))
def test_every_module_function_and_class_has_a_docstring(name):
    tree = ast.parse((PACKAGE / name).read_text())
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")]
    assert [node.name for node in found if not ast.get_docstring(node)] == []
    assert ast.get_docstring(tree) or not tree.body


def test_every_name_that_users_import_is_documented():
    for name in set(az.__all__) - {"__version__"}:
        value = getattr(az, name)
        assert value.__doc__, name
        if inspect.isclass(value):
            methods = [label for label, found in vars(value).items() if inspect.isfunction(found) and label[0] != "_"]
            assert [label for label in methods if not vars(value)[label].__doc__] == [], name


# --------------------------------------------------------------------------------------------------------------- files
def texts():
    """Every text file of the project that people read or run."""
    folders = ("azul_fast", "bench", "scripts", "tests", ".ci")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".yaml")]
    return [path for path in found if path.suffix not in (".pyc", ".nbi", ".nbc") and "cache" not in str(path.parent)]


def test_no_file_names_a_place_of_one_machine():
    place = re.compile(r"(?<![\w.$}~-])/(?:home|root|work|tmp|Users|opt|mnt)/\w", re.ASCII)
    for path in texts():
        try:
            text = path.read_text()
        except UnicodeDecodeError:  # a built program
            continue
        assert not place.search(text), f"{path}: {place.search(text)}"


def test_packages_come_from_wherever_the_machine_is_set_up_for():
    scripts = [path for path in (ROOT / "scripts").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for path in [*scripts, ROOT / "pyproject.toml"]:
        assert "://" not in path.read_text(), path


def test_everything_that_is_installed_is_pinned():
    lines = (ROOT / "scripts" / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {canonicalize_name(name): version for name, version in pins.items()}
    if importlib.metadata.version("numba") != pins["numba"] or importlib.metadata.version("pytest") != pins["pytest"]:
        pytest.skip("other versions are installed, with other requirements")
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = PROJECT["build-system"]["requires"] + PROJECT["project"]["dependencies"] + extras["data"] + extras["dev"]
    seen = set()
    while wanted:
        requirement = Requirement(wanted.pop())
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        assert name in pins, f"{name} is not in constraints.txt"
        assert pins[name] in requirement.specifier, requirement
        try:
            wanted += importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
    assert set(pins) == seen


def test_the_version_is_said_once():
    pytest.importorskip("azul_fast.cli.main")
    version = PROJECT["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    program = [sys.executable, "-c", "from azul_fast.cli.main import main; main()", "--version"]
    done = subprocess.run(program, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert version in done.stdout


def test_a_wheel_has_the_package_and_nothing_else(tmp_path):
    build = pytest.importorskip("hatchling.build")
    code = f"import hatchling.build; print(hatchling.build.build_wheel({str(tmp_path)!r}))"
    name = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert build
    with zipfile.ZipFile(tmp_path / name.split()[-1]) as wheel:
        files = {file for file in wheel.namelist() if ".dist-info/" not in file}
        metadata = next(wheel.read(file).decode() for file in wheel.namelist() if file.endswith("/METADATA"))
    assert files == {str(path.relative_to(ROOT)) for path in MODULES} | {"azul_fast/py.typed"}
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata
