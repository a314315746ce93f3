"""Methods: an algorithm and a heuristic, made ready."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import default_threads
from pdb_builder.grid import Grid

from ..board import Board
from ..frame import frame_of
from ..search import check_search
from ..settings import DEFAULT_SECONDS, DEFAULT_WEIGHT, ORDERS, Settings
from ..solving import heuristic_for, solve_board

# What may stand behind the name of an algorithm and a colon, if its search takes it: how it is read, and an example.
PARAMETERS = {"order": (str, "fixed"), "weight": (float, "1.5"), "width": (int, "10000"), "depth": (int, "30")}


class Method(NamedTuple):
    """An algorithm and a heuristic, by the names they have in tables, and how to solve with them."""

    algorithm: str
    heuristic: str
    settings: Settings
    within: float | None = 1.0  # its solutions are at most so many times as long as shortest ones; None: no promise
    admissible: bool = True  # whether the heuristic is a lower bound

    def __str__(self) -> str:
        return self.algorithm if self.heuristic == "none" else f"{self.algorithm} with {self.heuristic}"

    @property
    def repeatable(self) -> bool:
        """Whether the same search does the same again: a beam without a width goes by the clock and by free memory."""
        return self.settings.algorithm != "beam" or self.settings.width is not None


def searches_at_a_time(threads: int) -> int:
    """How many searches of so many threads the cores can take."""
    return max(1, default_threads() // threads)


def prepare_methods(
    grid: Grid,
    goal: Board,
    algorithms: Sequence[str],
    heuristics: Sequence[str],
    settings: Settings,
    notify: Callable[[str], None] | None = None,
) -> list[Method]:
    """Every algorithm with every heuristic, each made ready: databases are in memory and code is compiled.

    An algorithm may name a parameter, as in ``ida-star:fixed``, ``weighted-a-star:1.5``, ``beam:10000`` and ``dfs:30``.
    One that looks at no heuristic makes one method, with the heuristic ``none``. Other heuristics are called by the
    name of the database that serves them.
    """
    frame = frame_of(grid, goal)
    methods: list[Method] = []
    for algorithm, chosen in [(one, _settings_of(one, settings)) for one in algorithms]:
        blind = check_search(chosen.algorithm).blind
        if not (heuristics or blind):
            raise InputError(f"{algorithm} needs a heuristic and there is none: name at least one")
        for heuristic in [None] if blind else heuristics:
            own = chosen._replace(heuristic=heuristic)
            solve_board(grid, goal, goal, own, notify=notify)
            found = heuristic_for(frame, own)
            for file in found.mapped:
                file[:: mmap.PAGESIZE].max()  # else the first boards would pay for reading it
            method = Method(algorithm, found.name, own, _promised(own, found.admissible), found.admissible)
            # However it is written: weighted-a-star is weighted-a-star:1.5, and pdb is one of the databases.
            same = [one for one in methods if one.settings._replace(heuristic=heuristic) == own]
            if any(one.heuristic == method.heuristic for one in same):
                raise InputError(f"{method} is to be compared with itself: name every method once")
            methods.append(method)
    if not methods:
        raise InputError("there is no algorithm to compare: name at least one")
    return methods


def _settings_of(algorithm: str, settings: Settings) -> Settings:
    """The settings for an algorithm with what stands behind its colon; whether that makes sense ``solve`` will say."""
    name, colon, word = algorithm.partition(":")
    search = check_search(name)
    own = settings._replace(algorithm=name)
    if colon:
        parameter = next((one for one in PARAMETERS if one in search.options), None)
        if parameter is None:
            if word in ORDERS:
                return own._replace(order=word)  # which is refused in better words
            raise InputError(f"{name} has no parameter, and {word[:60]!r} was given: leave it out, with the colon")
        kind, example = PARAMETERS[parameter]
        try:
            own = own._replace(**{parameter: kind(word)})
        except ValueError:
            number = "a number" if kind is float else "a whole number"
            raise InputError(
                f"the {parameter} of {name} cannot be {word[:60]!r}: give {number}, as in {name}:{example}"
            ) from None
    if "weight" in search.options and own.weight is None:
        own = own._replace(weight=DEFAULT_WEIGHT)
    if "width" in search.options and not (own.width or own.time_limit or own.node_limit):
        own = own._replace(time_limit=DEFAULT_SECONDS)
    return own


def _promised(settings: Settings, admissible: bool) -> float | None:
    """How many times as long as a shortest solution one may be at most, None if that is not known."""
    search = check_search(settings.algorithm)
    if search.promises:
        return 1.0 if settings.depth is None else None
    # The search counts in thousandths.
    return round(1000 * settings.weight) / 1000 if "weight" in search.options and admissible else None
