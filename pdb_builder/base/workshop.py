"""Workshops: the hidden folder beside a file that takes long to make, and one process at a time at work in it.

Whoever makes the file keeps ``lock`` in the workshop locked. The operating system releases a file lock when its holder
ends, for whatever reason, so what a killed process has left can be used by the next one. A second process waits.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .errors import WriteError

POLL = 0.1  # seconds between attempts to get the lock
ATTEMPTS = 100  # to create it, while other processes remove the workshop just then


@contextlib.contextmanager
def locked(workshop: Path, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the file lock of a workshop, after waiting for its present holder. Raises ``OSError``.

    A holder removes the workshop before it releases the lock. Whoever acquires it next may thus hold the lock of a
    file that is gone, and then starts over.
    """
    lock, told = workshop / "lock", False
    while True:
        handle = _open_lock(workshop, lock)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    on_wait()
                    told = True
                time.sleep(POLL)
                continue
            status = _status(lock)
            if status is None or not os.path.samestat(status, os.fstat(handle)):
                continue
            yield
            return
        finally:
            os.close(handle)


def _open_lock(workshop: Path, lock: Path) -> int:
    """Open the lock of a workshop, and create both if need be."""
    for attempt in range(ATTEMPTS):
        with contextlib.suppress(FileExistsError):
            workshop.mkdir()
        for path, is_right in (workshop, stat.S_ISDIR), (lock, stat.S_ISREG):
            status = _status(path)
            if status and not is_right(status.st_mode):  # not even a link: where it leads, we cannot rename files
                raise WriteError(f"{path} is in the way: remove it")
        try:
            return os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o644)
        except FileNotFoundError:  # a holder that finished has just removed the workshop
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt either opens the lock or fails")


def _status(path: Path) -> os.stat_result | None:
    """What is at a path, links not followed; None if nothing is."""
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def tidied(workshop: Path, parts: str) -> Iterator[None]:
    """Remove the workshop in the end, unless the work was stopped and has finished parts to keep, files like this."""
    done = False
    try:
        yield
        done = True
    except (OSError, WriteError):  # a full disk, for example: leave nothing on it
        done = True
        raise
    finally:
        if done or not any(workshop.glob(parts)):
            shutil.rmtree(workshop, ignore_errors=True)
