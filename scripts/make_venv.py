"""Make .venv, or add what is missing: called by venv.sh with a bare Python >= 3.11, so standard library only.

``make_venv.py PROGRAM LEVEL MADE_FROM``: PROGRAM is the name to speak by, LEVEL ``data`` or ``dev``, MADE_FROM what
venv.sh compares with the file ``.venv/made-LEVEL``. That file is written last, so an interrupted installation is
made again from nothing; it is replaced whole, so nobody reads half of it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = VENV / "lock"
LEVELS = {"data": ["data"], "dev": ["data", "dev"]}  # name of a level -> extras that it has
# What would make pip install elsewhere, or show it packages that are not in .venv.
FOREIGN = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME")


class SetupError(Exception):
    """Said in one line."""


def requirements(level: str) -> list[str]:
    """Core, extras and build backend, as pyproject.toml has them; constraints.txt has their versions."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    extras = project["project"]["optional-dependencies"]
    wanted = project["build-system"]["requires"] + project["project"]["dependencies"]
    return wanted + [requirement for extra in LEVELS[level] for requirement in extras[extra]]


def stamp(level: str) -> Path:
    return VENV / f"made-{level}"


def is_made(level: str, made_from: str) -> bool:
    try:
        return stamp(level).read_text() == f"{made_from}\n{os.path.realpath(PYTHON)}\n"
    except OSError:
        return False


def run(*command: str | Path) -> None:
    """Run a step; what it prints goes to standard error, so that standard output stays the program's own."""
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    # close_fds: a step that outlives this process, killed in the middle, goes on holding the lock.
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, close_fds=False)
    if done.returncode:
        raise SetupError(f"could not make {VENV} (the step that failed says why above); it is tried again next time")


def pip(*arguments: str | Path) -> None:
    options = ("--disable-pip-version-check", "--no-input", "--quiet")
    run(PYTHON, "-m", "pip", *options, "install", *arguments)


def make(level: str, made_from: str, say) -> None:
    """Bring .venv to `level`. A .venv that is whole but for `dev` is added to, any other is made from nothing."""
    started = time.monotonic()
    constraints = ROOT / "scripts" / "constraints.txt"
    adds_only = is_made("data", made_from)
    if adds_only:
        say("adding the packages for tests to .venv (once)")
    else:
        python = f"Python {sys.version.split()[0]}"
        say(f"first use: making .venv with {python} and the pinned packages (once, about a minute)")
        for made in VENV.glob("made-*"):  # first, so that nobody takes what is being removed for whole
            made.unlink()
        for entry in VENV.iterdir():
            if entry != LOCK:
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        run(sys.executable, "-m", "venv", VENV)
    pip("--prefer-binary", "--constraint", constraints, *requirements(level))
    if not adds_only:
        pip("--no-deps", "--no-build-isolation", "--editable", ROOT)
    for name in list(LEVELS)[: list(LEVELS).index(level) + 1]:
        part = VENV / "made.part"
        part.write_text(f"{made_from}\n{os.path.realpath(PYTHON)}\n")
        part.replace(stamp(name))
    say(f"ready in {time.monotonic() - started:.0f} s")


def main(program: str, level: str, made_from: str) -> int:
    def say(text: str) -> None:
        print(f"{program}: {text}", file=sys.stderr, flush=True)

    try:
        VENV.mkdir(exist_ok=True)
        with open(LOCK, "w") as lock:  # held until this process ends, however it ends
            os.set_inheritable(lock.fileno(), True)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("another process is making .venv: waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_made(level, made_from):
                make(level, made_from, say)
    except SetupError as error:
        say(str(error))
        return 2
    except OSError as error:
        say(f"could not make {VENV}: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
