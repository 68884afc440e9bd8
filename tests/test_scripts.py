"""The commands of a fresh checkout: which Python they take, what they say when there is none, and the short way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
PROGRAMS = "cat cksum dirname readlink sh".split()  # all that the scripts call, besides a Python
NOTE_ARGUMENTS = '#!/bin/sh\nprintf "%s\\n" "$0" "$@"\n'


@pytest.fixture
def checkout(tmp_path):
    """A checkout with nothing but the scripts, and a `bin` with nothing but what they call."""
    root = tmp_path / "a checkout"
    shutil.copytree(SCRIPTS, root / "scripts")
    (root / "pyproject.toml").write_text("")
    (root / "bin").mkdir()
    for program in PROGRAMS:
        (root / "bin" / program).symlink_to(shutil.which(program))
    return root


def add_python(checkout, name, version, has_venv=True):
    """A `name` in bin that says it is `version`; asked to run make_venv.py it notes that and stops."""
    path = checkout / "bin" / name
    major, minor = map(int, version.split("."))
    path.write_text(f"""#!/bin/sh
case "$*" in
    -V) echo "Python {version}.0" ;;
    *version_info*) exec {sys.executable} -c "import sys; sys.version_info = ({major}, {minor}, 0)
$2" ;;
    *ensurepip*) exit {0 if has_venv else 1} ;;
    *make_venv.py*) echo "$0 $*" >&2; exit 7 ;;
esac
""")
    path.chmod(0o755)


def run(checkout, *arguments, program="azul-fast", **environment):
    command = [checkout / "scripts" / program, *arguments]
    return subprocess.run(
        command, env={"PATH": str(checkout / "bin")} | environment, cwd=checkout, capture_output=True, text=True
    )


def pretend_it_is_made(checkout, level="data"):
    """A .venv whose stamp holds, with programs that print their arguments."""
    venv = checkout / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    for name in ("azul-fast", "pytest"):
        (venv / "bin" / name).write_text(NOTE_ARGUMENTS)
        (venv / "bin" / name).chmod(0o755)
    files = [checkout / "pyproject.toml", checkout / "scripts/constraints.txt", checkout / "scripts/make_venv.py"]
    sums = subprocess.run(["cksum", *files], capture_output=True, text=True, check=True).stdout
    (venv / f"made-{level}").write_text(f"{sums}{os.path.realpath(sys.executable)}\n")


@pytest.mark.parametrize("program", ["azul-fast", "test"])
def test_no_python_is_said_in_one_line(checkout, program):
    done = run(checkout, program=program)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"{program}: Python 3.11 or newer is needed, and there is no python3 on the PATH\n"
    assert not (checkout / ".venv").exists()


def test_an_old_python_is_named(checkout):
    add_python(checkout, "python3", "3.10")
    done = run(checkout)
    assert done.returncode == 2
    assert done.stderr.startswith("azul-fast: Python 3.11 or newer is needed, and ")
    assert done.stderr.endswith("/bin/python3 is Python 3.10.0\n")


def test_a_python_without_venv_is_named(checkout):
    add_python(checkout, "python3", "3.12", has_venv=False)
    done = run(checkout)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "python3 has no venv module" in done.stderr


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3": "3.11"}, "python3"),
        ({"python3": "3.10", "python3.12": "3.12", "python3.13": "3.13"}, "python3.13"),
        ({"python3": "3.15", "python3.11": "3.11"}, "python3.11"),  # pinned versions have wheels for it
        ({"python3": "3.15"}, "python3"),  # better than none
    ],
)
def test_which_python_is_taken(checkout, pythons, taken):
    for name, version in pythons.items():
        add_python(checkout, name, version)
    done = run(checkout, "simulate")
    assert done.returncode == 7  # what make_venv.py ended with
    assert f"/bin/{taken} -I " in done.stderr
    assert "make_venv.py azul-fast data " in done.stderr


def test_a_python_without_venv_is_passed_over(checkout):
    add_python(checkout, "python3", "3.11", has_venv=False)
    add_python(checkout, "python3.12", "3.12")
    assert "/bin/python3.12 -I " in run(checkout).stderr


def test_what_is_made_is_used_without_looking_for_a_python(checkout):
    pretend_it_is_made(checkout)
    done = run(checkout, "simulate", "--games", "10 000", "")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{checkout}/.venv/bin/azul-fast", "simulate", "--games", "10 000", ""]


def test_it_works_through_a_link_and_from_anywhere(checkout, tmp_path):
    pretend_it_is_made(checkout)
    (tmp_path / "first").symlink_to(checkout / "scripts" / "azul-fast")
    (tmp_path / "second").symlink_to("first")
    for command in (["./second"], ["sh", "first"]):
        done = subprocess.run(
            command, env={"PATH": str(checkout / "bin")}, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stdout == f"{checkout}/.venv/bin/azul-fast\n"


@pytest.mark.parametrize("name", ["pyproject.toml", "scripts/constraints.txt"])
def test_another_pin_is_noticed(checkout, name):
    pretend_it_is_made(checkout)
    add_python(checkout, "python3", "3.11")
    with open(checkout / name, "a") as file:
        file.write("\n")
    assert run(checkout).returncode == 7


def test_a_moved_checkout_is_noticed(checkout, tmp_path):
    pretend_it_is_made(checkout)
    add_python(checkout, "python3", "3.11")
    checkout.rename(tmp_path / "moved")
    assert run(tmp_path / "moved").returncode == 7


def test_another_interpreter_is_noticed(checkout, tmp_path):
    pretend_it_is_made(checkout)
    add_python(checkout, "python3", "3.11")
    (tmp_path / "python").write_bytes(b"")
    (checkout / ".venv" / "bin" / "python").unlink()
    (checkout / ".venv" / "bin" / "python").symlink_to(tmp_path / "python")
    assert run(checkout).returncode == 7


def test_studies_are_listed_without_a_python(checkout):
    done = run(checkout, program="study")
    assert (done.returncode, done.stderr) == (0, "")
    names = [path.stem for path in (SCRIPTS / "studies").glob("*.py") if path.stem != "study"]
    assert [line.split()[0] for line in done.stdout.splitlines()] == sorted(names)
    assert all(len(line.split()) > 4 and '"' not in line for line in done.stdout.splitlines())
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("name", ["nothing", "study", "../fit_search", "luck.py", "--seed"])
def test_an_unknown_study_is_said_in_one_line(checkout, name):
    done = run(checkout, name, program="study")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"study: there is no study {name}: bonuses, denied, ")
    assert done.stderr.count("\n") == 1


def test_a_study_is_run_by_the_python_that_was_made(checkout):
    pretend_it_is_made(checkout)
    python = checkout / ".venv" / "bin" / "python"
    python.unlink()
    python.write_text(NOTE_ARGUMENTS)
    python.chmod(0o755)
    stamp = checkout / ".venv" / "made-data"
    stamp.write_text(stamp.read_text().replace(os.path.realpath(sys.executable), str(python)))
    done = run(checkout, "luck", "--seed", "4", program="study")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(python), f"{checkout}/scripts/studies/luck.py", "--seed", "4"]


def test_packages_for_tests_are_asked_for_when_they_are_missing(checkout):
    pretend_it_is_made(checkout, "data")
    add_python(checkout, "python3", "3.11")
    assert "make_venv.py test dev " in run(checkout, program="test").stderr


def test_a_folder_that_cannot_be_written_is_named(checkout):
    (checkout / ".venv").write_text("a file")
    (checkout / "bin" / "python3").symlink_to(sys.executable)
    done = run(checkout)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"azul-fast: could not make {checkout}/.venv: " in done.stderr


def test_an_installation_that_fails_leaves_no_stamp(checkout):
    """A requirement that nothing can satisfy: the next call starts anew."""
    (checkout / "pyproject.toml").write_text(
        'build-system.requires = []\nproject.dependencies = ["pip==0"]\nproject.optional-dependencies.data = []\n'
    )
    (checkout / "bin" / "python3").symlink_to(sys.executable)
    done = run(checkout, PIP_NO_INDEX="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "azul-fast: first use: making .venv" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"azul-fast: could not make {checkout}/.venv ")
    assert not list((checkout / ".venv").glob("made-*"))
