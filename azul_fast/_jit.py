"""The only decorators for compiled code, their flags, and the cache of what was compiled.

Numba's own cache looks at the file of the compiled function alone, so an edit in a file it calls into would run old
code. Here every kernel's cache lies in a folder named by a hash over *all* kernel sources: an edit anywhere starts a
new folder. The folder is beside the package where that can be written, else in the user's cache folder, else there is
no cache, with a warning. ``AZUL_FAST_CACHE_DIR`` names another place.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numba
from numba.core import caching

PACKAGE = Path(__file__).parent
KERNEL_PARTS = ("_jit.py", "rules.py", "engine", "policies", "search")  # compiled, or constants in what is compiled
SWITCHES = ("AZUL_FAST_NO_PDEP", "NUMBA_BOUNDSCHECK", "NUMBA_OPT", "NUMBA_DEBUGINFO")  # change what is compiled

UNUSED_SECONDS = 30 * 24 * 3600  # after which compiled kernels are forgotten

# No `parallel=True`: `nogil` kernels over chunks in a thread pool scale as well and have no threading layer to abort.
FLAGS = {"nogil": True, "error_model": "numpy"}

on_compile: Callable[[str], None] | None = None  # called with a kernel's name when it is not found in the cache


def source_hash() -> str:
    """Hash of all that decides what the kernels compile to, but for the processor (numba's own key has that)."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if path.relative_to(PACKAGE).parts[0] in KERNEL_PARTS or b"azul_fast._jit" in text:
            digest.update(f"{path.relative_to(PACKAGE)}\0{len(text)}\0".encode() + text)
    for name in SWITCHES:
        digest.update(f"{name}={os.environ.get(name, '')}\0".encode())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _forget_old(base: Path) -> None:
    """Remove the folders of kernels that nobody has used for long: each edit of a kernel starts a new one."""
    for folder in base.glob("*-py*"):
        try:
            if time.time() - folder.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # another process was faster
            continue


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where nothing can be written."""
    given = os.environ.get("AZUL_FAST_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    bases = [Path(given)] if given else [PACKAGE / "__pycache__" / "kernels", Path(home) / "azul_fast"]
    for base in bases:
        folder = base / f"{source_hash()}-py{sys.version_info[0]}{sys.version_info[1]}"
        if _writable(folder):
            os.utime(folder)
            _forget_old(base)
            return folder
    warnings.warn(
        f"azul_fast: no cache for compiled kernels (tried {', '.join(map(str, bases))}): "
        "they are compiled anew in every process; set AZUL_FAST_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


class _Locator(caching._CacheLocator):
    """Tells numba that a kernel's cache lies in `cache_folder()` and is as fresh as that folder's name."""

    def __init__(self, py_func, py_file):
        self._py_file = py_file
        self._module = py_func.__module__

    def get_cache_path(self):
        return str(cache_folder())

    def ensure_cache_path(self):
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_source_stamp(self):
        return cache_folder().name

    def get_disambiguator(self):
        return hashlib.sha256(self._module.encode()).hexdigest()[:8]

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)


class _FileLocator(_Locator):
    """The same for a function of a user's: as fresh as the text of its file."""

    text = b""

    def get_source_stamp(self):
        return f"{cache_folder().name}-{hashlib.sha256(self.text).hexdigest()}"

    def get_disambiguator(self):
        return hashlib.sha256(self._py_file.encode()).hexdigest()[:8]


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _KernelCache(caching.FunctionCache):
    """A cache that says when it has nothing, and that never stops a kernel from running."""

    _impl_class = _CacheImpl

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # a damaged or half-written file: compile again
            found = None
        if found is None and on_compile is not None:
            on_compile(self._py_func.__name__)
        return found

    def save_overload(self, sig, data):
        try:
            try:
                super().save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # a damaged index, which numba reads before it adds to it: begin it anew
                os.unlink(self._cache_file._index_path)
                super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(f"azul_fast: compiled kernel not cached: {error}", RuntimeWarning, stacklevel=2)


def kernel(function):
    """Compile `function` as an entry point from Python: without the GIL, C arithmetic, cached on disk."""
    compiled = numba.njit(**FLAGS)(function)
    if cache_folder() is not None:
        compiled._cache = _KernelCache(function)
    return compiled


def inner(function):
    """Compile `function` for kernels to call: a real call, for code that is rare or shared by several callers."""
    return numba.njit(**FLAGS)(function)


def inline(function):
    """Compile `function` into the kernels that use it, as part of their hot loops."""
    return numba.njit(forceinline=True, **FLAGS)(function)


def cache_beside_kernels(compiled, text: bytes) -> None:
    """Cache a user's compiled function as the kernels are, as long as its file has this `text`."""
    if cache_folder() is None or not isinstance(compiled._cache, caching.NullCache):
        return
    locator = type("_TextLocator", (_FileLocator,), {"text": text})
    implementation = type("_TextCacheImpl", (_CacheImpl,), {"_locator_classes": [locator]})
    cache = type("_TextCache", (_KernelCache,), {"_impl_class": implementation})
    compiled._cache = cache(compiled.py_func)
