"""Which heuristic a search uses, and how far its automaton looks back: as told, or what is best for the board.

The further the automaton looks back, the fewer boards are generated, and the larger it is: above some length, waiting
for memory costs more than the boards it saves. (docs/design.md)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pdb_builder.base.errors import InputError
from pdb_builder.base.folders import databases_folder
from pdb_builder.grid import Grid

from .frame import Frame
from .heuristics import uninformed
from .heuristics.contract import Heuristic
from .heuristics.databases import best_database, how_to_build
from .heuristics.preparing import Notify, OnPreparing, from_databases, ignore_preparing, ignore_remark, prepare
from .search import NEVER_UNDO, SEARCHES, check_search
from .search.forbidden_words import count_walks
from .search.outcome import Pruning
from .settings import PROVABLE, Settings, default_algorithm


def heuristic_for(
    frame: Frame, settings: Settings, notify: Notify = ignore_remark, progress: OnPreparing = ignore_preparing
) -> Heuristic:
    """The heuristic that the settings name, or the best one available."""
    grid, blank, folder = frame.grid, frame.blank, settings.folder or databases_folder()
    algorithm = settings.algorithm or default_algorithm(grid, settings)
    search = check_search(algorithm)
    if search.uninformed:
        return uninformed.prepare(grid, blank)
    if settings.heuristic is not None:
        heuristic = prepare(settings.heuristic, grid, blank, folder, notify, progress, settings.huge_pages)
        if search.optimal and not heuristic.admissible:
            raise InputError(
                f"{heuristic.name} is inadmissible, so {algorithm} cannot guarantee a shortest solution with it: use "
                "another heuristic, or greedy, weighted-a-star or beam"
            )
        return heuristic
    fallback = _without_database(grid)
    if search is SEARCHES["beam"] and grid.cells > PROVABLE and not grid.wrap:
        # Measured: on large boards databases are no better guides than this, and slower.
        return prepare(fallback, grid, blank, folder, notify, progress)
    database, unusable = best_database(grid, blank, folder)
    for complaint in unusable:
        notify(f"not used: {complaint}")
    if database is not None:
        return from_databases(grid, blank, (database,), True, settings.huge_pages, notify)
    notify(
        f"no database in {folder} is for {grid} boards with this goal, so {fallback} is used: "
        f"{how_to_build(grid, blank, folder)}"
    )
    return prepare(fallback, grid, blank, folder, notify, progress)


def backward_heuristics(
    settings: Settings, notify: Notify = ignore_remark, progress: OnPreparing = ignore_preparing
) -> Callable[[Grid, int], Heuristic]:
    """What makes the heuristic from the goal to the start, whose blank may have no database."""

    @cache
    def prepared(grid: Grid, blank: int) -> Heuristic:
        folder, spec = settings.folder or databases_folder(), settings.heuristic or "pdb"
        try:
            return prepare(spec, grid, blank, folder, notify, progress, settings.huge_pages)
        except InputError:
            if "pdb" not in spec:
                raise
        fallback = _without_database(grid)
        if settings.heuristic:
            notify(f"no such database serves the search from the goal to the start: {fallback} is used there")
        return prepare(fallback, grid, blank, folder, notify, progress)

    return prepared


def _without_database(grid: Grid) -> str:
    """The best heuristic that needs no database."""
    return "manhattan" if grid.wrap else "linear-conflict"


# ---- pruning ------------------------------------------------------------------------------------

SMALL = 16  # cells of a board whose automaton is never the larger one
# How far the automaton looks back by default, at most, and how many words, of those that never undo a move, may have to
# be visited to find the forbidden ones: those of the first take a tenth of a second, those of the later some seconds.
FIRST, LATER = (14, 2_000_000), (16, 60_000_000)


def pruning_for(grid: Grid, heuristic: Heuristic, settings: Settings, notify: Notify = ignore_remark) -> Pruning:
    """How far the automaton of a search looks back: as many moves as the settings say, or what is fastest.

    The fixed order of moves is asked for to repeat published counts, so it comes with their rule, never to undo a move.
    Neither is anything gained with a database on a small board: few boards are left to generate.
    """
    if settings.pruning is not None:
        first = later = settings.pruning
    elif settings.order == "fixed" or (grid.cells <= SMALL and heuristic.databases):
        first = later = NEVER_UNDO
    else:
        first = _longest(grid, *FIRST)
        later = first if grid.cells <= SMALL else _longest(grid, *LATER)
    return Pruning(first, later, settings.folder or databases_folder(), notify)


@cache
def _longest(grid: Grid, moves: int, most: int) -> int:
    """The longest words, of an even number of at most ``moves``, that are found by visiting at most ``most``."""
    walks = count_walks(grid, moves).sum(axis=1).cumsum()
    return max(NEVER_UNDO, *(length for length in range(2, moves + 1, 2) if walks[length] <= most))
