"""The heuristics by name. Their code, and with it numba, is imported when one is prepared.

A heuristic is written as one of the names below, ``pdb:NAME`` for a certain database (its file in the folder
of databases, without .h5, or any path that ends in .h5), or ``max:A+B`` for the largest of several.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.grid import Grid, InputError
from pdb_builder.shell import default_folder

if TYPE_CHECKING:
    from pdb_builder.store import Database

    from .contract import Heuristic

HEURISTICS = {
    "manhattan": "each tile's distance to its home, added up",
    "linear-conflict": "the same, and two moves for each tile that must leave its line",
    "pdb": "pattern databases, the largest sum over the symmetries of the board",
    "max": "max:A+B, the largest of several",
}


def prepare(spec: str, grid: Grid, blank: int, folder: Path, reflection: bool = True) -> Heuristic:
    """The heuristic that ``spec`` names, for the canonical goal with its blank on the given cell."""
    name, _, rest = spec.strip().partition(":")
    if name == "manhattan" and not rest:
        from .manhattan import prepare as prepare_manhattan

        return prepare_manhattan(grid, blank)
    if name == "linear-conflict" and not rest:
        from .linear_conflict import prepare as prepare_linear_conflict

        return prepare_linear_conflict(grid, blank)
    if name == "pdb":
        path = _named(rest, folder) if rest else best_database(grid, blank, folder)
        if path is None:
            raise InputError(
                f"there is no database in {folder} for {grid} boards with this goal: "
                f"{how_to_build(grid, blank, folder)}"
            )
        return _opened(grid, blank, path, reflection)
    if name == "max" and rest:
        from .maximum import prepare as prepare_maximum

        largest, *others = (prepare(part, grid, blank, folder, reflection) for part in rest.split("+"))
        for other in others:
            largest = prepare_maximum(largest, other)
        return largest
    known = [name for name in HEURISTICS if name != "max"]
    raise InputError(f"there is no heuristic {spec[:60]!r}: take {', '.join(known)}, pdb:NAME or max:A+B")


def _named(name: str, folder: Path) -> Path:
    return Path(name) if name.endswith(".h5") else folder / f"{name}.h5"


def how_to_build(grid: Grid, blank: int, folder: Path) -> str:
    """The command that builds a database where it is looked for."""
    words = ["pdb-builder", "build", grid.shape]
    words += ["--wrap"] if grid.wrap else []
    words += ["--blank", str(blank)] if blank else []
    words += ["--folder", shlex.quote(str(folder))] if folder != default_folder() else []
    return f"build one with '{' '.join(words)}'"


def _opened(grid: Grid, blank: int, path: Path, reflection: bool) -> Heuristic:
    from pdb_builder.store import DatabaseError

    try:
        status = path.stat() if path.exists() else None
        return _prepared(grid, blank, path, status and (status.st_mtime_ns, status.st_size), reflection)
    except (DatabaseError, OSError) as error:
        raise InputError(str(error)) from None


@lru_cache(maxsize=4)
def _prepared(grid: Grid, blank: int, path: Path, stamp: object, reflection: bool) -> Heuristic:
    """A database made ready once, and again if its file changes."""
    from pdb_builder.store import open_database

    from .pattern_database import prepare as prepare_pattern_database

    return prepare_pattern_database(grid, blank, open_database(path), reflection)


def best_database(grid: Grid, blank: int, folder: Path) -> Path | None:
    """The database in a folder that promises most for a goal: ``bits`` before ``bytes``, then the largest."""
    from .pattern_database import fits

    fitting = [database for database in _databases(grid, folder) if fits(grid, blank, database)]
    best = max(fitting, key=lambda database: (database.spec.encoding == "bits", _entries(database)), default=None)
    return best and best.path


def _entries(database: Database) -> int:
    return sum(table.entries for table in database.tables)


def _databases(grid: Grid, folder: Path) -> Iterator[Database]:
    """The sound databases of a board's shape, lying or standing. Others are none of a search's business."""
    from pdb_builder.store import DatabaseError, open_database

    shapes = {grid.shape, f"{grid.cols}x{grid.rows}"}
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        if name.endswith(".h5") and name.removesuffix(".h5").split("-")[0] in shapes:
            try:
                yield open_database(folder / name)
            except DatabaseError:
                continue
