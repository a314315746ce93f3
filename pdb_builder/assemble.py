"""Resumable builds: one builder per database at a time, and no finished table lost when it is stopped.

While a database is being built, a hidden folder ``.NAME.h5.building``, its *workshop*, stands beside it. It contains

- ``lock``, which the builder at work keeps locked (``base.workshop``). A second builder of the same file waits, and
  then finds the database in place.
- ``pattern_N.h5``, a finished table: a database file in which the other tables are missing, written and checked by the
  same code. When a stopped build is resumed, it uses these and builds the rest.
- temporary files, ``*.tmp``, which the next builder removes.

Tables are built from the smallest to the largest. The last one goes straight into the database, so most bytes of a
partition are written only once. A collection of many tables of the same size needs nearly twice its size on the disk
until it is done. The workshop is removed when the database is in place. It is also removed when writing fails, as on a
full disk, so that what fills the disk does not stay there.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from . import __version__
from .base.errors import DatabaseError, UnusableFile, WriteError
from .base.folders import make_folder
from .base.machine import description, readable_size
from .base.workers import check_threads
from .base.workshop import locked, tidied
from .build import BuiltTable, build_table
from .database import Database, Table
from .index import index_of
from .pattern import Pattern, Spec
from .store import check_tables, open_database, read_database, table_bytes, write_database


class Watcher:
    """What a build reports about itself. These methods do nothing; a user interface overrides them."""

    def waiting(self, path: Path) -> None:
        """Another builder is at work on the same file."""

    def started(self) -> None:
        """Nothing is in the way of the build, and its work begins."""

    def table_kept(self, number: int, count: int, earlier: bool) -> None:
        """Table ``number`` of ``count`` is safe on the disk: from an earlier build, or just now."""

    @contextlib.contextmanager
    def table(self, number: int, count: int, tiles: Sequence[int], states: int) -> Iterator[Callable[[int], object]]:
        """Surrounds the build of a table, and provides the ``progress`` to call with the states of each level."""
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
    """Build the database of ``spec`` at ``path``, or open it if it is already there, valid and of ``spec``.

    Any other file at ``path`` is an error unless ``overwrite`` is set, and then stays until the database takes its
    place. ``command`` is recorded in the file as what built it; by default, that of this process.
    """
    path, threads, watcher = Path(path), check_threads(threads), watcher or Watcher()
    workshop = path.parent / f".{path.name}.building"
    try:
        if path.is_dir():
            raise WriteError(f"cannot write {path}: it is a folder: choose the name of a file")
        if path.is_symlink() and not path.exists():
            raise WriteError(f"cannot write {path}: it is a link that leads nowhere: remove it, or choose another name")
        if path.exists() and not overwrite and not workshop.exists():
            return _existing(path, spec)
        make_folder(path.parent)
        with locked(workshop, lambda: watcher.waiting(path)), tidied(workshop, "pattern_*.h5"):
            if path.exists() and not overwrite:  # put there by the builder we waited for
                return _existing(path, spec)
            _build(spec, path, workshop, threads, watcher, _provenance(command))
    except OSError as error:
        remedy = "choose a shorter name" if error.errno == errno.ENAMETOOLONG else "choose another folder"
        raise WriteError(f"cannot write {path}: {error.strerror or error}: {remedy}") from error
    return open_database(path)


def _existing(path: Path, spec: Spec) -> Database:
    """The database that is already in place, which must be the one to build."""
    remedy = "choose another name, or replace it with `overwrite`"
    try:
        database = open_database(path)
        check_tables(database)
    except UnusableFile as error:
        raise error.with_remedy(remedy) from None
    if database.spec != spec:
        raise DatabaseError(f"{path} is another database ({database.spec.name}): {remedy}")
    return database


def _provenance(command: Sequence[str] | None) -> dict[str, str]:
    """What is recorded about how a database was built."""
    return {
        "by": f"slidepdb {__version__}",
        "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(command or [Path(sys.argv[0]).name, *sys.argv[1:]]),
        "machine": description(),
    }


def _build(spec: Spec, path: Path, workshop: Path, threads: int, watcher: Watcher, built: Mapping[str, object]) -> None:
    """Build the tables that are missing, and write the database."""
    for leftover in workshop.glob("*.tmp"):
        leftover.unlink()
    count = len(spec.patterns)
    order = sorted(spec.patterns, key=len)
    kept = {tiles: workshop / f"pattern_{number}.h5" for number, tiles in enumerate(spec.patterns, start=1)}
    earlier = {tiles: _kept_table(kept[tiles], spec, tiles) for tiles in order}
    tables: dict[Pattern, Table | BuiltTable] = {tiles: table for tiles, table in earlier.items() if table}
    _check_disk(path, spec, [tiles for tiles in order if tiles not in tables])
    watcher.started()
    for tiles in order:
        number = spec.patterns.index(tiles) + 1
        if tiles in tables:
            watcher.table_kept(number, count, earlier=True)
            continue
        with watcher.table(number, count, tiles, index_of(spec.grid, len(tiles)).states) as progress:
            new = build_table(
                spec.grid, tiles, blank=spec.blank, encoding=spec.encoding, threads=threads, progress=progress
            )
        if len(tables) == count - 1:
            tables[tiles] = new
        else:
            write_database(kept[tiles], spec, [new], built)
            tables[tiles] = read_database(kept[tiles]).tables[0]  # mapped, so memory is free for the next build
            del new
            watcher.table_kept(number, count, earlier=False)
    write_database(path, spec, tables.values(), built, folder=workshop)


def _kept_table(path: Path, spec: Spec, tiles: Pattern) -> Table | None:
    """The finished table of an earlier build, if there is one and it passes every check."""
    with contextlib.suppress(DatabaseError):
        database = read_database(path)
        check_tables(database)
        if database.spec == spec and [table.tiles for table in database.tables] == [tiles]:
            return database.tables[0]
    return None


def _check_disk(path: Path, spec: Spec, missing: Sequence[Pattern]) -> None:
    """Refuse a build that the disk cannot hold: the database, and a copy of the missing tables but the last."""
    indexes = [index_of(spec.grid, len(tiles)) for tiles in [*spec.patterns, *missing[:-1]]]
    size = sum(table_bytes(index, spec.encoding) + 4 * index.footprints + 2**16 for index in indexes)
    free = shutil.disk_usage(path.parent).free
    if size > free:
        raise DatabaseError(
            f"cannot write {path}: it takes {readable_size(size)} and the disk has {readable_size(free)} left: "
            "make room or choose another folder"
        )
