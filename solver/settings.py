"""How to solve: the settings, and the only place where they are validated.

Every setting has a default, so a caller names only what matters. ``check_settings`` refuses what makes no sense, for
the algorithm that is named or else the default one, and fills in what follows from the rest. Whatever
comes after it can rely on them.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.numeric import as_flag, as_integer, as_real
from pdb_builder.base.workers import check_threads
from pdb_builder.grid import Grid

from .search import (
    AUTO,
    BACKWARD,
    CLASSIC,
    FORWARD,
    LEARNED,
    MOST_PRUNING,
    NEVER_UNDO,
    OFF,
    ON,
    SEARCHES,
    check_search,
)

# The order in which IDA* tries moves: blank up, left, right, down, as seen in the frame; or most promising first.
ORDERS = ("fixed", "value")
PROVABLE = 25  # cells of a board for which a shortest solution can be proven, with patience
DEFAULT_WEIGHT, MOST_WEIGHT = 1.5, 1000
RANGES = {
    "width": (1, 100_000_000),
    "depth": (1, 10_000),
    "pruning": (NEVER_UNDO, MOST_PRUNING),
    "upper_bound": (1, 10_000),
    "prove_at_least": (1, 10_000),
}
CHOICES = {"order": ORDERS, "direction": (AUTO, FORWARD, BACKWARD), "both_ends": (AUTO, ON, OFF)}
RANKS = (AUTO, LEARNED, CLASSIC)  # or the name of a file
DEFAULT_SECONDS = 10.0  # for a beam that grows until it is told to stop

# What a refusal says if an option is given to a search that does not have it.
_REFUSALS = {
    "every": "finds a single solution: use ida-star to find all",
    "order": "has no choice of order: leave out `order`, or use ida-star",
    "weight": "has no weight: leave out `weight`, or use weighted-a-star",
    "width": "has no width: leave out `width`, or use beam",
    "rank": "ranks no boards: leave out `rank`, or use beam",
    "depth": "has no depth limit: leave out `depth`, or use dfs",
    "pruning": "has no automaton to look back with: leave out `pruning`, or use ida-star or dfs",
    "direction": "has no choice of direction: leave out `direction`, or use ida-star",
    "both_ends": "has no choice of ends: leave out `both_ends`, or use ida-star",
    "upper_bound": "has no upper bound: leave out `upper_bound`, or use ida-star",
    "prove_at_least": "has no bound to prove: leave out `prove_at_least`, or use ida-star",
    "journal": "keeps no journal: leave out `journal`, or use ida-star",
}


class Settings(NamedTuple):
    """How to solve: the options of ``solve``."""

    heuristic: str | Callable | None = None  # a name, or a function of one's own
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
    pruning: int | None = None
    huge_pages: bool = False
    direction: str | None = None
    both_ends: str | None = None
    upper_bound: int | None = None
    prove_at_least: int | None = None
    journal: Path | None = None
    rank: str | None = None  # one of RANKS, or the path of a file


DEFAULTS = Settings()


def path_of(name: str, given: object) -> Path | None:
    """The path that a Python caller has given for a setting; None, or an empty path, for the default."""
    if not isinstance(given, str | os.PathLike | None):
        raise InputError(f"`{name}` must be a path, got {given!r}: give the name of a file or folder")
    return Path(given) if given else None


def default_algorithm(grid: Grid, settings: Settings) -> str:
    """The search to use when none is named: one that proves a shortest solution, if there is hope for that."""
    for option in ("weight", "width", "rank", "depth"):
        if getattr(settings, option) is not None:
            return next(name for name, search in SEARCHES.items() if option in search.options)
    own = SEARCHES["ida-star"].options
    return "ida-star" if grid.cells <= PROVABLE or any(getattr(settings, name) for name in own) else "beam"


def check_settings(settings: Settings, grid: Grid | None = None) -> Settings:
    """The settings for boards of a grid, or ``InputError`` for those that make no sense.

    Without a grid the algorithm must be named, or what depends on it is left for later.
    """
    if not isinstance(settings.algorithm, str | None):
        raise InputError(f"`algorithm` must be a name, got {settings.algorithm!r}: give it as text")
    if not isinstance(settings.heuristic, str | None) and not callable(settings.heuristic):
        raise InputError(f"`heuristic` must be a name or a function, got {settings.heuristic!r}: give it as text")
    check_threads(settings.threads)
    as_flag("every", settings.every)
    as_flag("huge_pages", settings.huge_pages)
    for name, choices in CHOICES.items():
        if getattr(settings, name) not in (None, *choices):
            raise InputError(f"unknown `{name}` {getattr(settings, name)!r}: use {' or '.join(choices)}")
    if settings.rank is not None and not re.fullmatch(rf"{'|'.join(RANKS)}|[^\0]+\.h5", str(settings.rank)):
        raise InputError(
            f"unknown `rank` {str(settings.rank)[:60]!r}: use {', '.join(RANKS)} or a file that ends in .h5"
        )
    _check_ends(settings)
    checked: dict[str, Any] = {}
    for name in ("time_limit", "node_limit", "memory_limit"):
        value = getattr(settings, name)
        if value is not None:
            limit = as_real(value)
            if limit is None or limit <= 0:
                raise InputError(f"`{name}` must be above 0, got {value!r}: give a positive number, or leave it out")
            checked[name] = None if limit == math.inf else limit if name == "time_limit" else math.ceil(limit)
    for name, (least, most) in RANGES.items():
        value = getattr(settings, name)
        if value is not None:
            number = as_integer(value)
            if number is None or not least <= number <= most:
                raise InputError(f"`{name}` must be an integer between {least} and {most:,}, got {value!r}")
            checked[name] = number
    if settings.algorithm is None and grid is not None:
        settings = settings._replace(algorithm=default_algorithm(grid, settings))
    if settings.algorithm is not None:
        checked |= _checked_for(settings.algorithm, settings)
    return settings._replace(**checked)


def _check_ends(settings: Settings) -> None:
    """Refuse ends to begin from that exclude each other."""
    if settings.both_ends == ON and settings.direction in (FORWARD, BACKWARD):
        raise InputError(
            f"`both_ends` {ON} and `direction` {settings.direction} exclude each other: leave out one of them"
        )
    for name in ("direction", "both_ends", "upper_bound"):
        if settings.every and getattr(settings, name) not in (None, FORWARD, OFF):
            raise InputError(f"all solutions are found from the start alone, one by one: leave out `{name}`")


def _checked_for(algorithm: str, settings: Settings) -> dict[str, Any]:
    """Refuse what does not go with an algorithm; the settings that it needs and that were not given."""
    search = check_search(algorithm)
    checked: dict[str, Any] = {}
    for name, refusal in _REFUSALS.items():
        if getattr(settings, name) not in (None, False) and name not in search.options:
            raise InputError(f"{algorithm} {refusal}")
    if search.uninformed and settings.heuristic is not None:
        raise InputError(f"{algorithm} is uninformed: leave out `heuristic`, or use another algorithm")
    if "weight" in search.options:
        weight = DEFAULT_WEIGHT if settings.weight is None else as_real(settings.weight)
        if weight is None or not 1 <= weight <= MOST_WEIGHT:
            raise InputError(f"`weight` must be between 1 and {MOST_WEIGHT}, got {settings.weight!r}")
        checked["weight"] = weight
    if "width" in search.options and not (settings.width or settings.time_limit or settings.node_limit):
        checked["time_limit"] = DEFAULT_SECONDS
    if "rank" in search.options:
        checked["rank"] = settings.rank or AUTO
    return checked
