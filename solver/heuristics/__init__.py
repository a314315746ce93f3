"""The heuristics by name. Their code, and with it numba, is imported when one is prepared.

A heuristic is written as one of the names below, ``pdb:NAME`` for a certain database (its file in the folder
of databases, without .h5, or any path that ends in .h5), or ``max:A+B`` for the largest of several. ``pdb`` looks
a board up in every way it can be turned and mirrored, ``pdb-unreflected`` in one, as if no other were known.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.grid import Grid, InputError
from pdb_builder.pattern import MAX_PATTERN_CELLS, has_patterns
from pdb_builder.shell import default_folder

if TYPE_CHECKING:
    from .contract import Heuristic

HEURISTICS = {
    "manhattan": "each tile's distance to its home, added up",
    "linear-conflict": "the same, and two moves for each tile that must leave its line",
    "walking-distance": "vertical and horizontal moves if tiles knew no more than the row, or column, they belong to",
    "hamming": "how many tiles are not at home",
    "inversions": "pairs of tiles in the wrong order, and the blank's way home: no lower bound",
    "pdb": "pattern databases, the largest sum over the symmetries of the board",
    "pdb-unreflected": "the same, of one symmetry alone",
    "max": "max:A+B, the largest of several",
}


def prepare(spec: str, grid: Grid, blank: int, folder: Path) -> Heuristic:
    """The heuristic that ``spec`` names, for the canonical goal with its blank on the given cell."""
    check_name(spec)
    name, _, rest = spec.strip().partition(":")
    if name in ("manhattan", "linear-conflict", "hamming", "inversions"):  # a file each, which needs no other
        return import_module("." + name.replace("-", "_"), __name__).prepare(grid, blank)
    if name == "walking-distance":
        from .walking_distance import prepare as prepare_walking_distance

        return prepare_walking_distance(grid, blank, folder)
    if name == "max":
        from .maximum import prepare as prepare_maximum

        largest, *others = (prepare(part, grid, blank, folder) for part in rest.split("+"))
        for other in others:
            largest = prepare_maximum(largest, other)
        return largest
    path, unusable = (_named(rest, folder), ()) if rest else best_database(grid, blank, folder)
    if path is None:
        raise InputError(
            f"there is no database in {folder} for {grid} boards with this goal: {how_to_build(grid, blank, folder)}"
            + "".join(f"; {complaint}" for complaint in unusable)
        )
    return _opened(grid, blank, path, reflection=name == "pdb")


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
    words += ["--folder", shlex.quote(str(folder))] if folder != default_folder() else []
    return f"build one with '{' '.join(words)}'"


def _opened(grid: Grid, blank: int, path: Path, reflection: bool) -> Heuristic:
    from pdb_builder.store import DatabaseError

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
    from pdb_builder.store import DatabaseError, open_database

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


def check_name(spec: str) -> None:
    """Raise ``InputError`` unless ``spec`` is written as a heuristic is."""
    name, colon, rest = spec.strip().partition(":")
    if name == "max" and rest:
        parts = rest.split("+")
        if not all(part.strip() for part in parts):
            raise InputError(f"{spec[:60]!r} lacks a heuristic beside a plus sign: write it as max:A+B")
        for part in parts:
            check_name(part)
    elif name not in HEURISTICS or name == "max" or (colon and (not name.startswith("pdb") or not rest)):
        known = ", ".join(name for name in HEURISTICS if name != "max")
        raise InputError(f"there is no heuristic {spec[:60]!r}: take {known}, pdb:NAME or max:A+B")
