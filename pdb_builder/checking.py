"""Databases in use: what a table says is believed once its bytes were compared with their checksum.

Opening a database checks everything but the entries of its tables. A bit that has flipped there would make a bound too
high, and a solution that is not a shortest one would be called proven. So a database is compared with its checksums
when it is used for the first time. That reads the whole file, a second per gigabyte or two, and happens in a thread of
its own while the search is already running: a ``Check``. Nothing may be called proven before it is done.

*It is remembered.* A note in the cache folder says which file was compared: its path, size, inode, and when its
contents and its status last changed. As long as all of them are the same the file is not read again, for a week: disks
go bad without a word. A file that was written only moments before is not remembered, since the clock of the file system
may be too coarse to tell one write from the next. (What no time tells is a write through the memory of a program that
has had the file mapped, and written to it, since before it was compared.)

*Changes meanwhile* are noticed by ``Check.look``, which costs next to nothing: a search calls it between slices. A
write is an error. If only the status has changed, the file may have been renamed, or a program may have written to it
and set the time of the last write back: then it is compared again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock, Thread

from .base.errors import DatabaseError, WriteError
from .base.files import replaced
from .base.folders import cache_folder, make_folder
from .database import Database
from .store import check_tables

COARSE = 2.0  # seconds: no file system has a coarser clock
LASTING = 7 * 24 * 3600  # seconds that a note counts
LONGEST_NOTE = 100_000  # bytes


class Check:
    """The comparison of a database with its checksums: begun when this is made, unless it is remembered."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.share = 0.0  # of the bytes that were read
        self._fault: DatabaseError | None = None
        self._over = Event()
        self._lock = Lock()
        self._status = database.file.status  # of the file as it was, or is, compared
        if _remembered(database, self._status):
            self._over.set()
        else:
            self._begin()

    def _begin(self) -> None:
        self._over.clear()
        Thread(target=self._compare, args=(self._status,), daemon=True).start()

    def _compare(self, status: os.stat_result) -> None:
        def note(share: float) -> None:
            self.share = share

        began = time.time()
        try:
            check_tables(self.database, note)
        except DatabaseError as error:
            self._fault = error
        except Exception as error:  # whatever it is, the database has not passed
            self._fault = DatabaseError(f"{self.database.path} cannot be checked: {error}")
        else:
            if began - max(status.st_mtime, status.st_ctime) >= COARSE:
                _remember(self.database, status)
        finally:
            self._over.set()

    def look(self) -> None:
        """Raise ``DatabaseError`` if a table is known to be damaged, or the file was written to since it was opened."""
        if self._fault:
            raise self._fault.with_traceback(None)
        self.database.file.check_unchanged()
        now = os.fstat(self.database.file.handle)
        with self._lock:
            if now.st_ctime_ns != self._status.st_ctime_ns and self._over.is_set():
                self._status = now
                self._begin()

    def over(self, seconds: float = 0) -> bool:
        """Whether the comparison is over, after waiting for it at most so long; ``look`` says how it ended."""
        return self._over.wait(seconds)

    @property
    def passed(self) -> bool:
        """Whether the database has passed."""
        return self.over() and self._fault is None


_making = Lock()


def check_of(database: Database) -> Check:
    """The check of an open database, the same whoever asks."""
    with _making:
        return _check_of(database)


@lru_cache(maxsize=16)
def _check_of(database: Database) -> Check:
    return Check(database)


# ---- what is remembered -------------------------------------------------------------------------


def _text(database: Database, status: os.stat_result) -> bytes:
    """The note about a file: what tells it from any other, and from itself after a change."""
    identity = {
        "path": str(database.path.absolute()),
        "seal": database.seal,
        "size": status.st_size,
        "inode": status.st_ino,
        "written": status.st_mtime_ns,
        "status_changed": status.st_ctime_ns,
    }
    return json.dumps(identity).encode()


def _note(database: Database) -> Path:
    """The file of the note about a database."""
    name = hashlib.sha256(os.fsencode(database.path.absolute())).hexdigest()
    return cache_folder() / "checked" / f"{name[:32]}.json"


def _remembered(database: Database, status: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        note = _note(database)
        recent = note.is_file() and time.time() - note.stat().st_mtime < LASTING
        return recent and note.read_bytes() == _text(database, status)
    return False


def _remember(database: Database, status: os.stat_result) -> None:
    with contextlib.suppress(OSError, WriteError):
        note = _note(database)
        make_folder(note.parent)
        with replaced(note) as file:
            file.write(_text(database, status))
        for other in note.parent.glob("*.json"):  # the rare moment to forget files that are gone
            if not _is_about_a_file(other):
                other.unlink()


def _is_about_a_file(note: Path) -> bool:
    try:
        small = note.is_file() and note.stat().st_size < LONGEST_NOTE
        return small and os.path.exists(json.loads(note.read_bytes())["path"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # whatever it is, it is not a note of ours
        return False
