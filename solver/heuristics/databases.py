"""Which database serves a goal.

A database is named by its file, or else the best one in the folder is used: ``bits`` before ``bytes``, then the one
with the largest values to expect. It must fit into the memory that is free, since a search that waits for the disk is
slower than one with a weaker database; if none fits, the smallest is used. What is named is used in any case. The
choice is made once, and again only if a file appears, changes or goes: all boards of a batch are solved with the same
database, however little memory their searches leave.

Candidates are recognised by their file names, which begin with the shape of the board or with that of the board on its
side. A database is opened once, and again only if its file changes.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from functools import lru_cache
from math import log2
from pathlib import Path
from threading import Lock

from pdb_builder.base.errors import DatabaseError, InputError
from pdb_builder.base.folders import database_path, databases_folder
from pdb_builder.base.machine import available_memory
from pdb_builder.database import Database
from pdb_builder.grid import Grid
from pdb_builder.memory import require_memory
from pdb_builder.pattern import MAX_PATTERN_CELLS, has_patterns
from pdb_builder.store import open_database

from . import pattern_database
from .contract import Heuristic

NAME = re.compile(r"\d+x\d+(-.*)?\.h5")  # other files in the folder are tables that searches keep
Stamp = tuple[int, ...]  # tells a file from itself after a change


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@lru_cache(maxsize=16)
def _opened(path: Path, stamp: Stamp) -> Database:
    return open_database(path)


def _open(path: Path) -> Database:
    """The database at a path; raises ``DatabaseError``."""
    try:
        return _opened(path, _stamp(path.stat()))
    except OSError:
        return open_database(path)  # which says what is wrong


def named_database(name: str, folder: Path) -> Database:
    """The database that a heuristic names: a path that ends in .h5, or the name of a file in the folder."""
    try:
        return _open(database_path(name, folder))
    except (DatabaseError, OSError) as error:
        raise InputError(str(error)) from None
    except ValueError:  # of the system, for text that no file can have as its name
        raise InputError(f"{name!r} is not the name of a database: 'pdb-builder list' shows those there are") from None


def best_database(grid: Grid, blank: int, folder: Path) -> tuple[Database | None, tuple[str, ...]]:
    """The best database in a folder for a goal, if any fits; and what is wrong with those that cannot be used."""
    if not has_patterns(grid):
        return None, ()  # whatever the names of files say
    try:
        candidates = _candidates(grid, folder)
    except OSError as error:
        return None, (f"{folder} cannot be read: {error.strerror or error}: choose another folder",)
    with _choosing:
        return _best(grid, blank, folder, candidates)


def fitting_databases(grid: Grid, blank: int, folder: Path) -> list[Database]:
    """The databases in a folder that serve a goal, by name."""
    databases = []
    with suppress(OSError):
        for name, stamp in _candidates(grid, folder) if has_patterns(grid) else ():
            with suppress(DatabaseError):
                databases.append(_opened(folder / name, stamp))
    return [database for database in databases if pattern_database.fits(grid, blank, database)]


def database_names(folder: Path) -> list[str]:
    """The names of the files in a folder that are called like databases, as a heuristic names them."""
    try:
        return sorted(name.removesuffix(".h5") for name in os.listdir(folder) if NAME.fullmatch(name))
    except OSError:
        return []


def _candidates(grid: Grid, folder: Path) -> tuple[tuple[str, Stamp], ...]:
    """The files in a folder whose names are those of databases for boards of a grid, each with its stamp."""
    shapes = {grid.shape, f"{grid.cols}x{grid.rows}"}
    candidates: list[tuple[str, Stamp]] = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:  # it is made when the first database is built
        for entry in entries:
            if entry.name.endswith(".h5") and entry.name.removesuffix(".h5").split("-")[0] in shapes:
                try:
                    candidates.append((entry.name, _stamp(entry.stat())))
                except OSError:  # a link to nothing, for example: opening it says what is wrong
                    candidates.append((entry.name, ()))
    return tuple(sorted(candidates))


_choosing = Lock()  # threads that need a database wait for the first of them to choose


@lru_cache(maxsize=64)
def _best(
    grid: Grid, blank: int, folder: Path, candidates: tuple[tuple[str, Stamp], ...]
) -> tuple[Database | None, tuple[str, ...]]:
    """The best database for a goal among certain files that fits into memory, and what is wrong with the others."""
    fitting, unusable = [], []
    for name, stamp in candidates:
        try:
            database = _opened(folder / name, stamp)
        except DatabaseError as error:
            unusable.append(str(error))
            continue
        if pattern_database.fits(grid, blank, database):
            fitting.append((database.spec.encoding == "bits", _expected_value(database), name, database))
    if not fitting:
        return None, tuple(unusable)
    databases = [database for *_, database in sorted(fitting, reverse=True)]
    smallest = min(databases, key=lambda database: database.file.status.st_size)
    free = available_memory()
    fits_memory = (one for one in databases if free is None or one.file.status.st_size <= free)
    return next(fits_memory, smallest), tuple(unusable)


def _expected_value(database: Database) -> float:
    """About the mean value of random boards: that of the best partition, and a move for each doubling of their number.

    The first is known from the tables. The second is a rule of thumb, from collections on 5x5.
    """
    spec, tables = database.spec, database.tables
    means = [sum(tables[spec.source(tiles)[0]].mean for tiles in partition) for partition in spec.partitions]
    return max(means) + log2(len(means))


Key = tuple[Grid, int, tuple[Database, ...], bool]
_copies: dict[Key, Heuristic] = {}  # those in huge pages, in the order of their last use
_copying = Lock()  # threads that need the same copy wait for the first of them


def database_heuristic(
    grid: Grid, blank: int, databases: tuple[Database, ...], reflection: bool = True, huge_pages: bool = False
) -> Heuristic:
    """The heuristic that looks boards up in databases of one encoding: the largest of all their sums.

    It is for the canonical goal with its blank on the given cell. With ``huge_pages`` it works on copies of the tables.
    Copies are kept for the next board, and given up if there is no memory for another one beside them. Raises
    ``InputError`` if there is none at all.
    """
    key = (grid, blank, databases, reflection)
    if not huge_pages:
        return _on_files(*key)
    with _copying:
        heuristic = _copies.pop(key, None)
        if heuristic is None:
            _make_room(sum(database.file.status.st_size for database in databases))
            heuristic = _prepared(*key, huge_pages=True)
        _copies[key] = heuristic
        return heuristic


def _make_room(size: int) -> None:
    """Give up copies, those first that were not used for longest, until there is memory for another one."""
    while True:
        try:
            remedy = "leave out `huge_pages`, or use a smaller database"
            return require_memory("a copy of the tables in huge pages", size, remedy)
        except InputError:
            if not _copies:
                raise
            del _copies[next(iter(_copies))]


def _prepared(
    grid: Grid, blank: int, databases: tuple[Database, ...], reflection: bool, huge_pages: bool = False
) -> Heuristic:
    for database in databases:
        if not pattern_database.fits(grid, blank, database):
            raise InputError(
                f"{database.path} is for {database.grid} boards with the blank's home on cell {database.spec.blank}, "
                f"not for {grid} boards with this goal: {how_to_build(grid, blank, database.path.parent)}"
            )
    return pattern_database.prepare(grid, blank, *databases, reflection=reflection, huge_pages=huge_pages)


_on_files = lru_cache(maxsize=16)(_prepared)


def how_to_build(grid: Grid, blank: int, folder: Path) -> str:
    """The command that builds a database where it is looked for; for boards too large for one, the alternatives."""
    if not has_patterns(grid):
        others = "manhattan" if grid.wrap else "manhattan or linear-conflict"
        return f"boards of more than {MAX_PATTERN_CELLS} cells have no databases, use {others}"
    words = ["pdb-builder", "build", grid.shape]
    words += ["--wrap"] if grid.wrap else []
    words += ["--blank", str(blank)] if blank else []
    words += ["--folder", shlex.quote(str(folder))] if folder.absolute() != databases_folder() else []
    return f"build one with '{' '.join(words)}'"
