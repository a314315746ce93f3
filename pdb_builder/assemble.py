"""A whole database: one build of it at a time, nothing finished lost when it is stopped.

While a database is built, a hidden folder ``.NAME.h5.building`` stands beside its place. It holds

- ``lock``: the builder at work keeps it locked. The operating system lets go of it when the builder
  ends, however it ends. A second builder of the same file waits, and then finds the file there.
- ``pattern_N.h5``: a finished table, itself a database file with the other tables missing, so it is
  written and checked by the code that writes and checks databases. A build that was stopped takes
  these up and builds the rest.
- files ending in ``.tmp``: half-written, thrown away by the next builder.

Tables are built from the smallest to the largest. The last one goes straight into the database, so
the bulk of the bytes is written once. When the database is in place the folder is removed. It is
also removed when writing fails, as on a full disk: what fills the disk is not worth keeping on it.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import __version__
from .base.errors import DatabaseError, WriteError
from .base.machine import default_threads, description, readable_size
from .build import build_table
from .database import Database
from .index import index_of
from .memory import table_bytes
from .pattern import Spec
from .store import check_tables, open_database, read_database, write_database


class Watcher:
    """What a build tells about itself. The methods do nothing; a user interface overrides them."""

    def waiting(self, path: Path) -> None:
        """Another builder is at work on the same file."""

    def table_kept(self, number: int, count: int, earlier: bool) -> None:
        """Table ``number`` of ``count`` is safe on the disk, since an earlier build or from now on."""

    @contextlib.contextmanager
    def table(self, number: int, count: int, tiles: Sequence[int], states: int) -> Iterator[Callable[[int], object]]:
        """Surrounds the build of a table; what it gives is called with the states of each level."""
        yield lambda found: None


def build_database(
    spec: Spec,
    path: str | os.PathLike,
    *,
    threads: int | None = None,
    overwrite: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] | None = None,
) -> Database:
    """Build the database of ``spec`` at ``path``, or open it if it is there, whole and of ``spec``.

    A file in the way that is anything else is an error unless ``overwrite`` is set; it stays until
    the new one takes its place. ``command`` is recorded in the file as what built it.
    """
    path, watcher = Path(path), watcher or Watcher()
    workshop = path.parent / f".{path.name}.building"
    if path.is_dir():
        raise WriteError(f"cannot write {path}: it is a folder: name a file")
    if path.exists() and not overwrite and not workshop.exists():
        return _existing(path, spec)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(workshop, lambda: watcher.waiting(path)), _tidied(workshop):
            if path.exists() and not overwrite:  # put there by the builder we waited for
                return _existing(path, spec)
            _build(spec, path, workshop, threads or default_threads(), watcher, command)
    except OSError as error:
        raise WriteError(f"cannot write {path}: {error.strerror or error}: choose another folder") from error
    return open_database(path)


@contextlib.contextmanager
def _tidied(workshop: Path) -> Iterator[None]:
    """Remove the workshop at the end, unless the build was stopped and has finished tables to keep."""
    done = False
    try:
        yield
        done = True
    except (OSError, WriteError):  # the disk is full or the like: leave nothing on it
        done = True
        raise
    finally:
        if done or not any(workshop.glob("pattern_*.h5")):
            shutil.rmtree(workshop, ignore_errors=True)


def _existing(path: Path, spec: Spec) -> Database:
    database = open_database(path)
    check_tables(database)
    if database.spec != spec:
        raise DatabaseError(
            f"{path} is a database of something else ({database.spec.name}): "
            "choose another name, or replace it with --overwrite"
        )
    return database


def _build(
    spec: Spec, path: Path, workshop: Path, threads: int, watcher: Watcher, command: Sequence[str] | None
) -> None:
    for leftover in workshop.glob("*.tmp"):
        leftover.unlink()
    built = {
        "by": f"slidepdb {__version__}",
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(command or [Path(sys.argv[0]).name, *sys.argv[1:]]),
        "machine": description(),
    }
    count = len(spec.partition)
    order = sorted(spec.partition, key=len)
    kept = {tiles: workshop / f"pattern_{number}.h5" for number, tiles in enumerate(spec.partition, start=1)}
    tables = {tiles: table for tiles in order if (table := _kept_table(kept[tiles], spec, tiles))}
    _check_disk(path, spec, [tiles for tiles in order if tiles not in tables])
    for tiles in order:
        number = spec.partition.index(tiles) + 1
        if tiles in tables:
            watcher.table_kept(number, count, earlier=True)
            continue
        with watcher.table(number, count, tiles, index_of(spec.grid, len(tiles)).states) as progress:
            table = build_table(
                spec.grid, tiles, blank=spec.blank, encoding=spec.encoding, threads=threads, progress=progress
            )
        if len(tables) < count - 1:
            write_database(kept[tiles], spec, [table], built)
            table = read_database(kept[tiles]).tables[0]  # mapped, so that its memory is free for the next
            watcher.table_kept(number, count, earlier=False)
        tables[tiles] = table
    write_database(path, spec, tables.values(), built, folder=workshop)


def _kept_table(path: Path, spec: Spec, tiles: tuple[int, ...]):
    """The finished table of an earlier build, if there is one and it is beyond doubt."""
    with contextlib.suppress(DatabaseError):
        database = read_database(path)
        check_tables(database)
        if database.spec == spec and [table.tiles for table in database.tables] == [tiles]:
            return database.tables[0]
    return None


def _check_disk(path: Path, spec: Spec, missing: list[tuple[int, ...]]) -> None:
    """Refuse a build that the disk cannot hold: the database, and the missing tables but the last once more."""
    indexes = [index_of(spec.grid, len(tiles)) for tiles in [*spec.partition, *missing[:-1]]]
    size = sum(table_bytes(index, spec.encoding) + 4 * index.footprints + 2**16 for index in indexes)
    free = shutil.disk_usage(path.parent).free
    if size > free:
        raise DatabaseError(
            f"cannot write {path}: it takes {readable_size(size)} and the disk has {readable_size(free)} left: "
            "make room or choose another folder"
        )


@contextlib.contextmanager
def _locked(workshop: Path, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the lock of a workshop, waiting for its present holder.

    A holder removes the workshop before it lets go, so whoever gets the lock next may hold that of
    a folder that is gone; it starts over then.
    """
    lock, told = workshop / "lock", False
    while True:
        try:
            workshop.mkdir(exist_ok=True)
            handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o644)
        except (FileNotFoundError, FileExistsError):
            if os.path.lexists(workshop) and not workshop.is_dir():
                raise WriteError(f"{workshop} is in the way: remove it") from None
            continue  # removed in between by a holder that finished
        except IsADirectoryError:
            raise WriteError(f"{lock} is in the way: remove it") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    on_wait()
                    told = True
                time.sleep(0.1)
                continue
            if not (lock.exists() and os.path.samestat(os.fstat(handle), os.stat(lock))):
                continue
            yield
            return
        finally:
            os.close(handle)
