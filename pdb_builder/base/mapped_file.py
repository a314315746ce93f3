"""A file mapped into memory, which other programs may change while it is in use.

A page that someone overwrites simply reads differently. A page beyond the end of a file that someone has truncated
cannot be read at all: the system sends SIGBUS, which kills the process without a word. Neither must go unnoticed:

- ``changed`` compares the size and the time of the last write with those from when the file was opened. Whoever uses a
  file for long asks now and then, and in any case before believing what it got out of it.
- A bus error ends a command with a message. The handler must be one of the C library: those of Python run later, when
  the interpreter is back in charge, which after a bus error it never is. ``ctypes`` makes one that takes the
  interpreter lock, wherever the error happened. A program that uses the library keeps its own handler.

A file that is replaced by renaming, as ours are, stays what it was for those who have it mapped.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import ending

_open: weakref.WeakSet[MappedFile] = weakref.WeakSet()


class MappedFile:
    """A file that was opened, mapped read-only.

    ``status`` is that of the file before anything was read from it, and ``changed_error`` makes the error that says
    what has happened to it since.
    """

    def __init__(
        self, path: Path, file: BinaryIO, status: os.stat_result, changed_error: Callable[[str], Exception]
    ) -> None:
        self.path, self.status, self.changed_error = path, status, changed_error
        self.handle = os.dup(file.fileno())  # of this file, whatever its name stands for later
        weakref.finalize(self, os.close, self.handle)
        self.memory = np.memmap(file, np.uint8, "r")
        _open.add(self)
        if ending.end_command:
            _handle_bus_errors()

    def changed(self) -> str | None:
        """What has happened to the file since it was opened, in words; None if nothing has."""
        try:
            now = os.fstat(self.handle)
        except OSError as error:
            return f"it cannot be read any more ({error.strerror or error})"
        if now.st_size != self.status.st_size:
            return f"it has {now.st_size:,} bytes instead of {self.status.st_size:,}"
        return None if now.st_mtime_ns == self.status.st_mtime_ns else "another program has written to it"

    def check_unchanged(self) -> None:
        """Raise an error if the file was written to or truncated since it was opened."""
        if what := self.changed():
            raise self.changed_error(what)


def let_go(array: np.ndarray) -> None:
    """Take the pages of the file that an array is mapped from, read-only, out of the memory of this process.

    They are mapped again when they are next looked at, mostly without the disk. Nothing happens to other arrays: what
    is in memory alone would be lost.
    """
    owner: object = array
    from_file = False
    while isinstance(owner, np.ndarray):
        from_file = isinstance(owner, np.memmap) and not owner.flags.writeable
        owner = owner.base
    if from_file and isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)


_set_handler = ctypes.CDLL(None).signal  # unlike Python's, in any thread
_set_handler.argtypes = (ctypes.c_int, ctypes.c_void_p)


@ctypes.CFUNCTYPE(None, ctypes.c_int)
def _on_bus_error(number: int) -> None:
    for file in list(_open):
        if ending.end_command and (what := file.changed()):
            ending.end_command(str(file.changed_error(what)), ending.BAD_INPUT)
    _set_handler(number, signal.SIG_DFL)  # no file of ours is to blame: the error comes again, and ends the process


@cache
def _handle_bus_errors() -> None:
    """Install the handler, once."""
    _set_handler(signal.SIGBUS, ctypes.cast(_on_bus_error, ctypes.c_void_p))
