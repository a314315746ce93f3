"""Which database serves a goal.

A database is named by its file, or else the best one in the folder is used: ``bits`` before ``bytes``, then the one
with the most entries, be it of one partition or a collection of several. It must fit into the memory that is free now,
since a search that waits for the disk is slower than one with a weaker database; if none fits, the smallest is used.
What is named is used in any case.

Candidates are recognised by their file names, which begin with the shape of the board or with that of the board on its
side. A database is opened once, and again only if its file changes.
"""

from __future__ import annotations

import os
import shlex
from functools import lru_cache
from pathlib import Path

from pdb_builder.base.errors import DatabaseError, InputError
from pdb_builder.base.folders import database_path, databases_folder
from pdb_builder.base.machine import available_memory
from pdb_builder.database import Database
from pdb_builder.grid import Grid
from pdb_builder.pattern import MAX_PATTERN_CELLS, has_patterns
from pdb_builder.store import open_database

from . import pattern_database
from .contract import Heuristic

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
    shapes = {grid.shape, f"{grid.cols}x{grid.rows}"}
    candidates: list[tuple[str, Stamp]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".h5") and entry.name.removesuffix(".h5").split("-")[0] in shapes:
                    try:
                        candidates.append((entry.name, _stamp(entry.stat())))
                    except OSError:  # a link to nothing, for example: opening it says what is wrong
                        candidates.append((entry.name, ()))
    except FileNotFoundError:
        pass  # the folder is made when the first database is built
    except OSError as error:
        return None, (f"{folder} cannot be read: {error.strerror or error}: choose another folder",)
    databases, unusable = _best_first(grid, blank, folder, tuple(sorted(candidates)))
    if not databases:
        return None, unusable
    free = available_memory()
    for database in databases:
        if free is None or database.file.status.st_size <= free:
            return database, unusable
    return min(databases, key=lambda database: database.file.status.st_size), unusable


@lru_cache(maxsize=16)
def _best_first(
    grid: Grid, blank: int, folder: Path, candidates: tuple[tuple[str, Stamp], ...]
) -> tuple[list[Database], tuple[str, ...]]:
    """The databases for a goal among certain files, opened once, the best first; and what is wrong with the others."""
    fitting, unusable = [], []
    for name, stamp in candidates:
        try:
            database = _opened(folder / name, stamp)
        except DatabaseError as error:
            unusable.append(str(error))
            continue
        if pattern_database.fits(grid, blank, database):
            entries = sum(table.entries for table in database.tables)
            fitting.append((database.spec.encoding == "bits", entries, name, database))
    return [database for *_, database in sorted(fitting, reverse=True)], tuple(unusable)


@lru_cache(maxsize=16)
def database_heuristic(grid: Grid, blank: int, database: Database, reflection: bool = True) -> Heuristic:
    """The heuristic that looks boards up in a database, for the canonical goal with its blank on the given cell."""
    if not pattern_database.fits(grid, blank, database):
        raise InputError(
            f"{database.path} is for {database.grid} boards with the blank's home on cell {database.spec.blank}, not "
            f"for {grid} boards with this goal: {how_to_build(grid, blank, database.path.parent)}"
        )
    return pattern_database.prepare(grid, blank, database, reflection)


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
