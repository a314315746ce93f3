"""Which database serves a goal."""

from __future__ import annotations

import contextlib
import os
import shlex
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError
from pdb_builder.base.folders import databases_folder
from pdb_builder.grid import Grid
from pdb_builder.pattern import MAX_PATTERN_CELLS, has_patterns

if TYPE_CHECKING:
    from .contract import Heuristic


def _named(name: str, folder: Path) -> Path:
    return Path(name) if name.endswith(".h5") else folder / f"{name}.h5"


def how_to_build(grid: Grid, blank: int, folder: Path) -> str:
    """The command that builds a database where it is looked for; for boards that can have none, what there is."""
    if not has_patterns(grid):
        others = "manhattan" if grid.wrap else "manhattan or linear-conflict"
        return f"boards of more than {MAX_PATTERN_CELLS} cells do without, with {others}"
    words = ["pdb-builder", "build", grid.shape]
    words += ["--wrap"] if grid.wrap else []
    words += ["--blank", str(blank)] if blank else []
    words += ["--folder", shlex.quote(str(folder))] if folder != databases_folder() else []
    return f"build one with '{' '.join(words)}'"


def _opened(grid: Grid, blank: int, path: Path, reflection: bool) -> Heuristic:
    from pdb_builder.base.errors import DatabaseError

    try:
        status = path.stat() if path.exists() else None
        return _prepared(grid, blank, path, status and (status.st_mtime_ns, status.st_size), reflection)
    except (DatabaseError, OSError) as error:
        raise InputError(str(error)) from None


@lru_cache(maxsize=16)
def _prepared(grid: Grid, blank: int, path: Path, stamp: object, reflection: bool) -> Heuristic:
    """A database made ready once, and again if its file changes."""
    from pdb_builder.store import open_database

    from .pattern_database import prepare as prepare_pattern_database

    return prepare_pattern_database(grid, blank, open_database(path), reflection)


def best_database(grid: Grid, blank: int, folder: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The database in a folder that promises most for a goal: ``bits`` before ``bytes``, then the largest.

    Files are told by their names, which begin with the shape, lying or standing. Also returns what is
    wrong with those that cannot be used.
    """
    if not has_patterns(grid):
        return None, ()  # whatever the names of files say
    shapes = {grid.shape, f"{grid.cols}x{grid.rows}"}
    stamps = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".h5") and entry.name.removesuffix(".h5").split("-")[0] in shapes:
                status = entry.stat()
                stamps.append((entry.name, status.st_mtime_ns, status.st_size))
    return _best_database(grid, blank, folder, tuple(sorted(stamps)))


@lru_cache(maxsize=16)
def _best_database(grid: Grid, blank: int, folder: Path, stamps: tuple) -> tuple[Path | None, tuple[str, ...]]:
    """``best_database`` among certain files, looked at once."""
    from pdb_builder.base.errors import DatabaseError
    from pdb_builder.store import open_database

    from .pattern_database import fits

    fitting, unusable = [], []
    for name, *_ in stamps:
        try:
            database = open_database(folder / name)
        except DatabaseError as error:
            unusable.append(str(error))
            continue
        if fits(grid, blank, database):
            entries = sum(table.entries for table in database.tables)
            fitting.append((database.spec.encoding == "bits", entries, database.path))
    return max(fitting, default=(None,))[-1], tuple(unusable)
