"""Files of compiled code, which are believed only if nothing about them has changed.

Numba's own cache trusts what it finds: after a power cut, a truncated file ends every later program with a traceback,
and a bit that flips in machine code crashes it or, worse, changes its answers. So kernels are kept in files of our own.
Each has the code of one kernel for arguments of certain types, behind the SHA-256 of everything that follows. A file
that does not match, or cannot be understood, is as good as none: the kernel is compiled again and the file replaced.
``compile_cache.notify`` is told so, once.

*No failure to read or to write is an error.* A cache that is full, read-only, unreadable or deleted while it is in use
costs the time to compile, and nothing else.

*What a file is named after* is whatever the code depends on, beyond the sources that the folder is named after
(``compile_cache``): the types of the arguments, the values that a closure holds, the processor, the version of Python,
and the file that defines the kernel. Code for heuristics that are defined elsewhere is not kept at all, because nobody
knows what such a heuristic depends on.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import shutil
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from numba import types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from . import compile_cache
from .compile_cache import PACKAGES
from .files import replaced
from .folders import make_folder

ENDING = ".kernel"
LEAST_FREE = 100_000_000  # bytes of free disk space without which nothing is written
DIGEST = 32  # bytes of a SHA-256

_damage_told = False


class CodeFiles(NullCache):
    """The cache of one kernel: the dispatcher asks it for compiled code, and hands over what it has compiled."""

    def __init__(self, function: Callable, folder: Path) -> None:
        self._function, self._folder = function, folder

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: tuple, target_context):
        """The compiled code for arguments of some types, or None."""
        target_context.refresh()
        try:
            key = self._key(sig, target_context.codegen())
            path = self._path(key)
            if not path.is_file():  # reading a pipe may never end
                return None
            content = memoryview(path.read_bytes())
        except OSError:
            return None
        try:
            if hashlib.sha256(content[DIGEST:]).digest() != content[:DIGEST]:
                raise ValueError("the file was changed")
            saved_key, parts = pickle.loads(content[DIGEST:])
            return CompileResult._rebuild(target_context, *parts) if saved_key == key else None
        except Exception:  # whatever comes of a file that is not as it was written
            self._tell_damage()
            return None

    def save_overload(self, sig: tuple, data) -> None:
        """Keep the compiled code for arguments of some types, if that is possible."""
        if not _are_ours(sig) or data.library.has_dynamic_globals or any(not one.can_cache for one in data.lifted):
            return
        with contextlib.suppress(Exception):  # nothing is lost but time
            make_folder(self._folder)
            if shutil.disk_usage(self._folder).free < LEAST_FREE:
                return
            key = self._key(sig, data.codegen)
            content = dumps((key, data._reduce()))
            with replaced(self._path(key)) as file:
                file.write(hashlib.sha256(content).digest())
                file.write(content)

    def _key(self, sig: tuple, codegen) -> tuple:
        """What the code depends on."""
        cells = tuple(cell.cell_contents for cell in self._function.__closure__ or ())
        stamp = _file_hash(self._function.__code__.co_filename)
        return sig, codegen.magic_tuple(), sys.implementation.cache_tag, dumps(cells), stamp

    def _path(self, key: tuple) -> Path:
        name = f"{self._function.__module__}.{self._function.__name__}-{self._function.__code__.co_firstlineno}"
        return self._folder / f"{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}{ENDING}"

    def _tell_damage(self) -> None:
        global _damage_told
        if compile_cache.notify and not _damage_told:
            _damage_told = True
            compile_cache.notify(f"compiled code in {self._folder} was damaged: compiling it again")


@lru_cache
def _file_hash(path: str) -> str:
    """The hash of a source file; raises ``OSError`` for code that comes from none."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _are_ours(arguments: Iterable) -> bool:
    """Whether all classes among the types of arguments, which are NamedTuples, are defined in our packages."""
    for one in arguments:
        if isinstance(one, types.BaseNamedTuple) and one.instance_class.__module__.split(".")[0] not in PACKAGES:
            return False
        if isinstance(one, types.BaseTuple) and not _are_ours(one.types):
            return False
    return True
