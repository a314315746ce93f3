"""Databases in use: what a table says is believed once its bytes were compared with their checksum.

Opening a database checks everything but the entries of its tables. A bit that has flipped there would make a bound too
high, and a solution that is not a shortest one would be called proven. So a database is compared with its checksums
when it is used for the first time. That reads the whole file, a second per gigabyte or two, and happens in a thread of
its own while the search is already running: a ``Check``. Nothing may be called proven before it is done.

*It is remembered.* A note in the cache folder says which file was compared: its path, size, inode, and the times of its
last write and change. As long as all of them are the same the file is not read again. A file written only moments ago
is not remembered yet, since the clock of the file system may be too coarse to tell one write from the next.

*Changes meanwhile* are noticed by ``Check.look``, which costs next to nothing: a search calls it between slices.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from functools import lru_cache
from pathlib import Path
from threading import Event, Thread

from .base.errors import DatabaseError, WriteError
from .base.files import replaced
from .base.folders import cache_folder, make_folder
from .database import Database
from .store import check_tables, check_unchanged

COARSE = 2.0  # seconds: no file system has a coarser clock


class Check:
    """The comparison of a database with its checksums: begun when this is made, unless it is remembered."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.share = 0.0  # of the bytes that were read
        self._fault: str | None = None
        self._over = Event()
        if _remembered(database):
            self._over.set()
        else:
            Thread(target=self._compare, daemon=True).start()

    def _compare(self) -> None:
        def note(share: float) -> None:
            self.share = share

        try:
            check_tables(self.database, note)
            _remember(self.database)
        except Exception as error:  # whatever it is, the database has not passed
            self._fault = str(error) or type(error).__name__
        finally:
            self._over.set()

    def look(self) -> None:
        """Raise ``DatabaseError`` if a table is known to be damaged, or the file was changed since it was opened."""
        if self._fault:
            raise DatabaseError(self._fault)
        check_unchanged(self.database)

    def over(self, seconds: float | None = None) -> bool:
        """Whether the comparison is over, after waiting for it at most so long; ``look`` says how it ended."""
        return self._over.wait(seconds)


@lru_cache(maxsize=64)
def check_of(database: Database) -> Check:
    """The check of an open database, the same whoever asks."""
    return Check(database)


# ---- what is remembered -------------------------------------------------------------------------


def _identity(database: Database) -> dict:
    """What tells the file, as it was when it was opened, from any other and from itself after a change."""
    status = database.file.status
    return {
        "path": str(database.path.absolute()),
        "seal": database.seal,
        "size": status.st_size,
        "inode": status.st_ino,
        "written": status.st_mtime_ns,
        "changed": status.st_ctime_ns,
    }


def _note(database: Database) -> Path:
    """The file of the note about a database."""
    name = hashlib.sha256(os.fsencode(database.path.absolute())).hexdigest()
    return cache_folder() / "checked" / f"{name[:32]}.json"


def _remembered(database: Database) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return json.loads(_note(database).read_text(encoding="utf-8")) == _identity(database)
    return False


def _remember(database: Database) -> None:
    status = database.file.status
    if time.time() - max(status.st_mtime, status.st_ctime) < COARSE:
        return
    with contextlib.suppress(OSError, ValueError, KeyError, WriteError):
        note = _note(database)
        make_folder(note.parent)
        with replaced(note) as file:
            file.write(json.dumps(_identity(database)).encode())
        for other in note.parent.glob("*.json"):  # the rare moment to forget files that are gone
            if not os.path.exists(json.loads(other.read_text(encoding="utf-8"))["path"]):
                other.unlink()
