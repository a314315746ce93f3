"""The heuristics by name. Their code, and with it numba, is imported when one is prepared.

A heuristic is written as one of the names below, ``pdb:NAME`` for a certain database (its file in the folder
of databases, without .h5, or any path that ends in .h5), or ``max:A+B`` for the largest of several. ``pdb`` looks
a board up in every way it can be turned and mirrored, ``pdb-unreflected`` in one, as if no other were known.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from .databases import _named, _opened, best_database, how_to_build

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
