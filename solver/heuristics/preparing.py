"""From the name of a heuristic to the heuristic: its tables opened or built, ready to search with."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce
from pathlib import Path

from pdb_builder.base.errors import InputError
from pdb_builder.base.huge_pages import why_no_huge_pages
from pdb_builder.base.machine import readable_size
from pdb_builder.database import Database
from pdb_builder.grid import Grid
from pdb_builder.pattern import MAX_SUMS, MAX_VIEWS

from . import check_name, hamming, inversions, linear_conflict, manhattan, maximum, parts_of, walking_distance
from .contract import Heuristic
from .databases import best_database, database_heuristic, how_to_build, named_database

SIMPLE = {
    "manhattan": manhattan.prepare,
    "linear-conflict": linear_conflict.prepare,
    "hamming": hamming.prepare,
    "inversions": inversions.prepare,
}

LONG = 0.5  # seconds of copying that are worth a remark

Notify = Callable[[str], object]
OnPreparing = Callable[[str, float], object]  # told what is prepared, and which share of that is done


def ignore_remark(text: str) -> None:
    """Ignore a remark."""


def ignore_preparing(what: str, share: float) -> None:
    """Ignore progress."""


def without_database(grid: Grid) -> str:
    """The best heuristic that needs no database."""
    return "manhattan" if grid.wrap else "linear-conflict"


def prepare(
    spec: str,
    grid: Grid,
    blank: int,
    folder: Path,
    notify: Notify = ignore_remark,
    progress: OnPreparing = ignore_preparing,
    huge_pages: bool = False,
) -> Heuristic:
    """The heuristic that ``spec`` names, for the canonical goal with its blank on the given cell.

    Several databases of a maximum are one heuristic, whose value is the largest of all their sums.
    """
    check_name(spec)
    heuristics: list[Heuristic] = []
    together: dict[tuple[Grid, str, bool], list[Database]] = {}  # looked up as one, by board, encoding and reflection
    for part in parts_of(spec):
        name, _, rest = part.partition(":")
        if name in SIMPLE:
            heuristics.append(SIMPLE[name](grid, blank))
        elif name == "walking-distance":
            heuristics.append(walking_distance.prepare(grid, blank, folder, notify, progress))
        else:
            database = _database(rest, grid, blank, folder)
            together.setdefault((database.grid, database.spec.encoding, name == "pdb"), []).append(database)
    for (*_, reflection), databases in together.items():
        different = tuple(dict.fromkeys(databases))
        heuristics.append(from_databases(grid, blank, different, reflection, huge_pages, notify))
    return reduce(maximum.prepare, heuristics)


def from_databases(
    grid: Grid, blank: int, databases: tuple[Database, ...], reflection: bool, huge_pages: bool, notify: Notify
) -> Heuristic:
    """``database_heuristic``; ``notify`` is told what is left out, and what huge pages cost or why there are none."""
    if huge_pages and (reason := why_no_huge_pages()):
        notify(f"the tables stay in small pages: {reason}")
        huge_pages = False
    began = time.perf_counter()
    heuristic = database_heuristic(grid, blank, databases, reflection, huge_pages)
    seconds = time.perf_counter() - began
    if heuristic.left_out:
        notify(
            f"{heuristic.name} has {heuristic.parts + heuristic.left_out} sums, of which only the first "
            f"{heuristic.parts} are used: a search has room for {MAX_SUMS} sums of {MAX_VIEWS} different patterns"
        )
    if huge_pages and seconds > LONG:
        size = readable_size(sum(database.file.status.st_size for database in databases))
        notify(f"copying {size} of tables into huge pages took {seconds:.1f} s")
    return heuristic


def _database(name: str, grid: Grid, blank: int, folder: Path) -> Database:
    """The database of a name, or without one the best for the goal."""
    database, unusable = (named_database(name, folder), ()) if name else best_database(grid, blank, folder)
    if database is None:
        raise InputError(
            f"no database in {folder} is for {grid} boards with this goal: {how_to_build(grid, blank, folder)}"
            + "".join(f"; {complaint}" for complaint in unusable)
        )
    return database
