"""Methods: an algorithm with a heuristic, ready to be timed.

A method is prepared before the first search: its database is in memory and its code compiled, so that the first boards
do not pay for it. Preparing also finds out what the method guarantees. A *suboptimality bound* w means that its
solutions are at most w times as long as shortest ones; without one, nothing is guaranteed. An uninformed algorithm
makes one method, however many heuristics are compared.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import default_threads
from pdb_builder.base.workers import check_threads
from pdb_builder.grid import Grid

from ..board import Board
from ..choosing import heuristic_for
from ..frame import frame_of
from ..heuristics.preparing import Notify, ignore_remark
from ..search import AUTO, FORWARD, NEVER_UNDO, OFF, ON, Search, check_search
from ..search.outcome import OnProgress, unreported
from ..settings import ORDERS, Settings, check_settings
from ..solving import solve_board

# The options that can follow the name of an algorithm and a colon: how they are read, and an example. An algorithm's
# first one need not be named.
PARAMETERS = {
    "order": (str, "fixed"),
    "weight": (float, "1.5"),
    "width": (int, "10000"),
    "depth": (int, "30"),
    "pruning": (int, "14"),
    "direction": (str, "auto"),
    "both_ends": (str, "auto"),
    "rank": (str, "classic"),
}
# What depth-first searches do unless told otherwise: what those of the literature do.
AS_PUBLISHED: dict[str, Any] = {"pruning": NEVER_UNDO, "direction": FORWARD, "both_ends": OFF}


class Method(NamedTuple):
    """An algorithm and a heuristic, by their names in tables, and the settings to solve with them."""

    algorithm: str
    heuristic: str
    settings: Settings
    suboptimality_bound: float | None = 1.0  # of its solutions; None: no guarantee
    admissible: bool = True  # whether the heuristic is

    def __str__(self) -> str:
        return self.algorithm if self.heuristic == "none" else f"{self.algorithm} with {self.heuristic}"

    @property
    def repeatable(self) -> bool:
        """Whether a search repeats itself to the node.

        A beam without a width depends on time and free memory, and so does a search that chooses its end.
        """
        chooses = AUTO in (self.settings.direction, self.settings.both_ends) or self.settings.both_ends == ON
        return not chooses and (self.settings.algorithm != "beam" or self.settings.width is not None)


def parallel_searches(threads: int) -> int:
    """How many searches of ``threads`` threads each the cores can run at a time."""
    return max(1, default_threads() // check_threads(threads))


def prepare_methods(
    grid: Grid,
    goal: Board,
    algorithms: Sequence[str],
    heuristics: Sequence[str | Callable],
    settings: Settings,
    progress: OnProgress = unreported,
    notify: Notify = ignore_remark,
) -> list[Method]:
    """Every algorithm with every heuristic, each prepared.

    An algorithm may have parameters, as in ``ida-star:fixed``, ``weighted-a-star:1.5``, ``beam:10000``, ``dfs:30`` and
    ``ida-star:value:pruning=14``. Unless told otherwise, depth-first searches never undo a move, and no more, and begin
    from the start, as those of the literature. An uninformed algorithm makes one method, with the heuristic ``none``.
    ``pdb`` becomes the name of the database it finds. ``progress`` and ``notify`` are told of preparations that take
    long.
    """
    check_settings(settings)
    frame = frame_of(grid, goal)
    methods: list[Method] = []
    for algorithm, (search, chosen) in [(one, _search_and_settings(one, settings)) for one in algorithms]:
        if not (heuristics or search.uninformed):
            raise InputError(f"{algorithm} needs a heuristic, but none is given: name at least one")
        for heuristic in [None] if search.uninformed else heuristics:
            own = chosen._replace(heuristic=heuristic)
            solve_board(grid, goal, goal, own, progress, notify)
            found = heuristic_for(frame, own)
            for database in found.databases:
                database.memory[:: mmap.PAGESIZE].max()  # or the first boards would pay for reading it
            bound = _guaranteed_bound(search, own, found.admissible)
            method = Method(algorithm, found.name, own, bound, found.admissible)
            # Whatever it is called: weighted-a-star is weighted-a-star:1.5, and pdb is one of the databases.
            same = [one for one in methods if one.settings._replace(heuristic=heuristic) == own]
            if any(one.heuristic == method.heuristic for one in same):
                raise InputError(f"{method} is named twice: name every method once")
            methods.append(method)
    if not methods:
        raise InputError("no algorithm to compare is given: name at least one")
    return methods


def _search_and_settings(algorithm: str, settings: Settings) -> tuple[Search, Settings]:
    """The search of an algorithm, and its settings with the parameters after its colons."""
    name, *words = algorithm.split(":")
    search = check_search(name)
    own = settings._replace(algorithm=name)
    given = {option: value for option, value in AS_PUBLISHED.items() if option in search.options}
    named = set()
    for word in words:
        parameter, value = _parameter(name, search, word)
        if parameter in named:
            raise InputError(f"{algorithm[:60]} gives the {parameter} twice: give it once")
        named.add(parameter)
        given[parameter] = value
    if "direction" in named or "both_ends" in named:
        given |= {option: None for option in ("direction", "both_ends") if option not in named}
    try:
        return search, check_settings(own._replace(**given))
    except InputError as error:  # it names parameters of ``solve``, which ``compare`` does not have
        raise InputError(f"{algorithm[:60]}: {error}".replace("`", "")) from None


def _parameter(name: str, search: Search, text: str) -> tuple[str, Any]:
    """The option that a parameter of an algorithm sets, and its value."""
    own = [one for one in PARAMETERS if one in search.options]
    option, equals, word = text.partition("=")
    option = option.replace("-", "_")
    if not equals:
        # An order is refused later, with a better message.
        option, word = own[0] if own else "order" if text in ORDERS else "", text
    if not own and option != "order":
        raise InputError(f"{name} takes no parameter, got {text[:60]!r}: leave out the colon and the parameter")
    if option not in PARAMETERS or (equals and option not in own):
        examples = " or ".join(f"{name}:{one.replace('_', '-')}={PARAMETERS[one][1]}" for one in own)
        raise InputError(f"{name} has no parameter {option[:60]!r}: write it as {examples}")
    kind, example = PARAMETERS[option]
    try:
        return option, kind(word)
    except ValueError:
        number = "a number" if kind is float else "an integer"
        example = f"{option}={example}" if equals else example
        raise InputError(
            f"the {option} of {name} must be {number}, got {word[:60]!r}: write it as {name}:{example}"
        ) from None


def _guaranteed_bound(search: Search, settings: Settings, admissible: bool) -> float | None:
    """The suboptimality bound that a search guarantees; None if it guarantees nothing."""
    if search.optimal:
        return 1.0 if settings.depth is None else None
    # The search counts in thousandths.
    return round(1000 * settings.weight) / 1000 if settings.weight is not None and admissible else None
