"""Files that are there whole or not at all: written under another name, and put in their place when complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from azul_fast.errors import AzulError, OutputError, shown

LONG_NAME = 200  # characters; longer ones are cut in messages
_PARTS: set[Path] = set()  # of files that are being written


def discard_all() -> None:
    """Remove what was written of all files that are not whole; safe to call from a signal handler."""
    for part in list(_PARTS):
        with contextlib.suppress(OSError):
            part.unlink()


def check_output(path: str | Path, suffixes: Sequence[str], force: bool = False) -> Path:
    """The path of a file to be written, if that can be expected to work.

    Raises
    ------
    AzulError
        The suffix is unknown, the file exists (unless `force`), or its folder does not or cannot be written.
    """
    given, path = str(path), Path(path)
    name = given if 0 < len(given) <= LONG_NAME else shown(given)
    folder = path.parent
    if not any(path.name.endswith(suffix) and path.name != suffix for suffix in suffixes):
        raise AzulError(f"{name}: the name must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}")
    try:
        if not folder.is_dir():
            raise AzulError(f"{path}: there is no folder {folder}")
        if path.is_dir():
            raise AzulError(f"{path} is a folder")
        if (path.exists() or path.is_symlink()) and not force:
            raise AzulError(f"{path} exists (--force writes over it)")
    except OSError as error:  # a name that is too long
        raise AzulError(f"{name}: {error.strerror}") from None
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise AzulError(f"{path}: cannot write in folder {folder}: {error.strerror}") from None
    return path


class WholeFile:
    """A file that is written beside its place under another name, and put in its place when whole.

    Parameters
    ----------
    path : Path
        From `check_output`.
    force : bool
        Whether to replace a file that is there by then.
    """

    def __init__(self, path: Path, force: bool = False) -> None:
        self.path, self.force = path, force
        self.part = path.with_name(f".azul-{os.getpid()}-{secrets.token_hex(4)}.part")  # as short as any name allowed
        _PARTS.add(self.part)
        with self.guard():
            self.file: IO[bytes] = open(self.part, "wb")

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Turn a failure to write into an OutputError, and remove what was written on any failure."""
        try:
            yield
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError):
                raise OutputError(f"{self.path} could not be written: {error.strerror or error}") from error
            raise

    def finish(self) -> None:
        """Make sure that all is on the disk, and put the file in its place."""
        with self.guard():
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            if self.path.exists() and not self.force:
                raise OutputError(f"{self.path} has appeared meanwhile and is left as it is")
            os.replace(self.part, self.path)
        _PARTS.discard(self.part)

    def discard(self) -> None:
        """Remove what was written."""
        with contextlib.suppress(OSError, AttributeError):
            self.file.close()
        with contextlib.suppress(OSError):
            self.part.unlink()
        _PARTS.discard(self.part)
