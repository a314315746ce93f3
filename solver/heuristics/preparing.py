"""From the name of a heuristic to the heuristic: its tables opened or built, ready to search with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from . import check_name, hamming, inversions, linear_conflict, manhattan, maximum, parts_of, walking_distance
from .contract import Heuristic
from .databases import best_database, database_heuristic, how_to_build, named_database

SIMPLE = {
    "manhattan": manhattan.prepare,
    "linear-conflict": linear_conflict.prepare,
    "hamming": hamming.prepare,
    "inversions": inversions.prepare,
}

Notify = Callable[[str], object]
OnPreparing = Callable[[str, float], object]  # told what is prepared, and which share of that is done


def ignore_remark(text: str) -> None:
    """Ignore a remark."""


def ignore_preparing(what: str, share: float) -> None:
    """Ignore progress."""


def prepare(
    spec: str,
    grid: Grid,
    blank: int,
    folder: Path,
    notify: Notify = ignore_remark,
    progress: OnPreparing = ignore_preparing,
) -> Heuristic:
    """The heuristic that ``spec`` names, for the canonical goal with its blank on the given cell."""
    check_name(spec)
    largest, *others = (_prepare_one(part, grid, blank, folder, notify, progress) for part in parts_of(spec))
    for other in others:
        largest = maximum.prepare(largest, other)
    return largest


def _prepare_one(spec: str, grid: Grid, blank: int, folder: Path, notify: Notify, progress: OnPreparing) -> Heuristic:
    """``prepare`` for what is not a maximum."""
    name, _, rest = spec.partition(":")
    if name in SIMPLE:
        return SIMPLE[name](grid, blank)
    if name == "walking-distance":
        return walking_distance.prepare(grid, blank, folder, notify, progress)
    database, unusable = (named_database(rest, folder), ()) if rest else best_database(grid, blank, folder)
    if database is None:
        raise InputError(
            f"no database in {folder} is for {grid} boards with this goal: {how_to_build(grid, blank, folder)}"
            + "".join(f"; {complaint}" for complaint in unusable)
        )
    return database_heuristic(grid, blank, database, reflection=name == "pdb")
