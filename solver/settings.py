"""How to solve: the settings, and the only place where they are validated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.workers import check_threads
from pdb_builder.grid import Grid

from .search import SEARCHES, check_search

# In which IDA* tries moves: blank up, left, right, down, seen in the frame; or most promising first.
ORDERS = ("fixed", "value")


PROVABLE = 25  # cells of a board that a shortest solution can be proven for, with patience


DEFAULT_WEIGHT, MOST_WEIGHT = 1.5, 1000


MOST = {"width": 100_000_000, "depth": 10_000}


DEFAULT_SECONDS = 10.0  # for a beam that grows until it is told to stop


class Settings(NamedTuple):
    """How to solve: the options of ``solve``, checked."""

    heuristic: str | None = None
    algorithm: str | None = None
    threads: int | None = None
    time_limit: float | None = None
    node_limit: int | None = None
    memory_limit: int | None = None
    every: bool = False
    order: str | None = None
    folder: Path | None = None
    weight: float | None = None
    width: int | None = None
    depth: int | None = None


DEFAULTS = Settings()


def check_settings(settings: Settings) -> Settings:
    """The settings, or an ``InputError`` for those that make no sense."""
    limits = {}
    for name in ("time_limit", "node_limit", "memory_limit"):
        value = getattr(settings, name)
        if value is not None:
            if not (isinstance(value, int | float) and value > 0):
                raise InputError(f"a {name.replace('_', ' ')} of {value!r} makes no sense: give a number above 0")
            whole = name != "time_limit"
            limits[name] = None if value == math.inf else math.ceil(value) if whole else value
    check_threads(settings.threads)
    for name in ("heuristic", "algorithm"):
        if not isinstance(getattr(settings, name), str | None):
            raise InputError(f"{getattr(settings, name)!r} is not the name of a {name}: give it as text")
    if settings.order not in (None, *ORDERS):
        raise InputError(f"there is no order of moves {settings.order!r}: take {' or '.join(ORDERS)}")
    search = check_search(settings.algorithm)
    for name, refusal in _OPTIONS.items():
        if getattr(settings, name) not in (None, False) and name not in search.options:
            raise InputError(f"{settings.algorithm} {refusal}")
    if search.blind and settings.heuristic is not None:
        raise InputError(f"{settings.algorithm} looks at no heuristic: leave it out, or take another search")
    if "weight" in search.options:
        weight = DEFAULT_WEIGHT if settings.weight is None else settings.weight
        if not (isinstance(weight, int | float) and 1 <= weight <= MOST_WEIGHT):
            raise InputError(f"a weight of {weight!r} makes no sense: give a number from 1 to {MOST_WEIGHT}")
        limits["weight"] = weight
    for name in ("width", "depth"):
        number = getattr(settings, name)
        if number is not None and not (isinstance(number, int) and 0 < number <= MOST[name]):
            raise InputError(f"a {name} of {number!r} makes no sense: give a whole number from 1 to {MOST[name]:,}")
    if "width" in search.options and not (settings.width or settings.time_limit or settings.node_limit):
        limits["time_limit"] = DEFAULT_SECONDS
    return settings._replace(**limits)


# What is said if a setting is given to a search that has no use for it.
_OPTIONS = {
    "every": "finds one solution: take ida-star for all of them",
    "order": "has an order of its own: leave out the order, or take ida-star",
    "weight": "weighs nothing: leave out the weight, or take weighted-a-star",
    "width": "has no width: leave it out, or take beam",
    "depth": "has no depth limit: leave it out, or take dfs",
}


def default_algorithm(grid: Grid, settings: Settings) -> str:
    """The search to use when none is named: one that proves a shortest solution, if there is hope for that."""
    fits = [name for name in ("weight", "width", "depth") if getattr(settings, name) is not None]
    if fits:
        return next(name for name, search in SEARCHES.items() if fits[0] in search.options)
    return "ida-star" if grid.cells <= PROVABLE or settings.every or settings.order else "beam"
