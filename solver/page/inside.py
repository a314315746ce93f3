"""Look inside a pattern database: what each pattern says of a board, and how that becomes a lower bound.

A value is taken apart the way it is put together (``solver.heuristics.views``): each pattern has a distance, the
patterns of a partition are added up, the same is done with the board reflected, and the largest sum counts. Tiles are
called what they are called on the board, not in the frame of the goal.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.database import Database
from pdb_builder.grid import Grid

from ..frame import Frame, frame_of
from ..heuristics.databases import best_database, fitting_databases, how_to_build
from ..heuristics.pattern_database import view_distances
from ..heuristics.preparing import SIMPLE
from ..heuristics.views import View, views_and_sums
from ..solvability import why_unsolvable
from .fields import Fields
from .puzzles import puzzle_of
from .telling import without_folder

BESIDE = ("manhattan", "linear-conflict")  # the heuristics that are shown for comparison


def inside(fields: Fields, folder: Path) -> dict[str, Any]:
    """What heuristics say of a board, and a database pattern by pattern: the one named ``database``, or the best."""
    grid, board, goal = puzzle_of(fields)
    if reason := why_unsolvable(grid, board, goal):
        raise Unsolvable(reason)
    frame = frame_of(grid, goal)
    inner = frame.enter(board)
    beside = {}
    for name in BESIDE:
        if name == "manhattan" or not grid.wrap:
            (beside[name],) = SIMPLE[name](grid, frame.blank).measure(inner)
    names = [database.path.stem for database in fitting_databases(grid, frame.blank, folder)]
    answer: dict[str, Any] = {"beside": beside, "databases": names, "database": None}
    database = _database(fields, frame, folder)
    if database is None:
        return answer | {"advice": without_folder(how_to_build(grid, frame.blank, folder), folder)}
    views, sums, plain = _views(grid, frame.blank, database)
    distances = view_distances(views, inner, (database,))
    values = [sum(distances[number] for number in together) for together in sums]
    return answer | {
        "database": database.path.stem,
        "patterns": [
            {"tiles": _tiles(frame, view), "distance": distance}
            for view, distance in zip(views, distances, strict=True)
        ],
        "sums": [
            {"patterns": together, "value": value, "mirrored": number >= plain}
            for number, (together, value) in enumerate(zip(sums, values, strict=True))
        ],
        "value": max(values),
    }


def histogram(fields: Fields, folder: Path) -> dict[str, Any]:
    """How many entries of a pattern's table have each distance; ``pattern`` is its number in ``inside``."""
    grid, _, goal = puzzle_of(fields)
    frame = frame_of(grid, goal)
    database = _database(fields, frame, folder)
    if database is None:
        raise InputError(f"there is no database for this goal: {how_to_build(grid, frame.blank, folder)}")
    views = _views(grid, frame.blank, database)[0]
    view = views[fields.whole("pattern", 0, 0, len(views) - 1)]
    table = view.table
    return {
        "tiles": _tiles(frame, view),
        "counts": table.counts.tolist(),
        "entries": table.entries,
        "mean": table.mean,
        "maximum": table.maximum,
    }


def _database(fields: Fields, frame: Frame, folder: Path) -> Database | None:
    """The database that a request names, or the best one; None if there is none."""
    if fields.raw("database") is None:
        return best_database(frame.grid, frame.blank, folder)[0]
    name, known = fields.text("database"), fitting_databases(frame.grid, frame.blank, folder)
    for database in known:
        if database.path.stem == name:
            return database
    some = ", ".join(database.path.stem for database in known) or "none yet"
    raise InputError(f"the page has no database {name[:60]!r} for this goal: those in its folder are {some}")


@lru_cache(maxsize=16)
def _views(grid: Grid, blank: int, database: Database) -> tuple[list[View], list[list[int]], int]:
    """The views and the sums of a database, and how many of the sums are those of the board as it is."""
    views, sums, _ = views_and_sums(grid, blank, (database,), reflection=True)
    return views, sums, len(views_and_sums(grid, blank, (database,), reflection=False)[1])


def _tiles(frame: Frame, view: View) -> list[int]:
    """The tiles of a view, as they are called on the board."""
    return sorted(frame.tiles.index(tile) for tile in view.tiles)
