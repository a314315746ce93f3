"""Which heuristic a search uses, from which end, and how far back it looks: as told, or what is best for the board.

The further the automaton looks back, the fewer boards are generated, and the larger it is: above some length, waiting
for memory costs more than the boards it saves. (docs/design.md)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pdb_builder.assemble import Watcher, build_database
from pdb_builder.base.errors import DatabaseError, InputError, MissingDatabase
from pdb_builder.base.folders import databases_folder
from pdb_builder.grid import Grid
from pdb_builder.memory import check_build_memory
from pdb_builder.pattern import Spec, default_collection, has_patterns

from .frame import Frame
from .heuristics import own, uninformed
from .heuristics.contract import Heuristic
from .heuristics.databases import best_database, how_to_build
from .heuristics.preparing import (
    Notify,
    OnPreparing,
    from_databases,
    ignore_preparing,
    ignore_remark,
    prepare,
    without_database,
)
from .search import AUTO, BACKWARD, CLASSIC, FORWARD, LEARNED, NEVER_UNDO, OFF, ON, SEARCHES, check_search
from .search.forbidden_words import count_walks
from .search.learned_rank import Weights, serves
from .search.outcome import Backward, Missing, Pruning
from .search.rank_files import packaged_rank, rank_path, read_rank
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
        if callable(settings.heuristic):
            heuristic = own.prepare(settings.heuristic, frame)
        else:
            heuristic = prepare(settings.heuristic, grid, blank, folder, notify, progress, settings.huge_pages)
        if search.optimal and not heuristic.admissible:
            fact, remedy = "inadmissible", "use another heuristic, or"
            if heuristic.fingerprint:
                fact, remedy = (
                    "not declared admissible",
                    "declare it with '@heuristic(admissible=True)' if it is, or use",
                )
            raise InputError(
                f"{heuristic.name} is {fact}, so {algorithm} cannot guarantee a shortest solution with it: {remedy} "
                "greedy, weighted-a-star or beam"
            )
        return heuristic
    fallback = without_database(grid)
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
    frame: Frame, settings: Settings, notify: Notify = ignore_remark, progress: OnPreparing = ignore_preparing
) -> Backward:
    """What makes the heuristic from the goal to the start, whose blank may have no database.

    That named serves if it fits, or else the best there is for the start's blank. If there is none it is built, or a
    heuristic without one does the work, or there is no heuristic. ``frame`` is that of the start, as the goal.
    """
    if callable(settings.heuristic):
        return _own_way_back(settings.heuristic, frame, settings, notify)
    named = settings.heuristic or "pdb"
    made: dict[tuple[Grid, int], Heuristic] = {}

    def prepared(grid: Grid, blank: int, missing: Missing, check: Callable[[], object]) -> Heuristic | None:
        folder = settings.folder or databases_folder()
        for spec in dict.fromkeys((named, "pdb") if "pdb" in named else (named,)):
            try:
                heuristic = prepare(spec, grid, blank, folder, notify, progress, settings.huge_pages)
                if heuristic.consistent or settings.heuristic or missing is not Missing.WEAKER:
                    return heuristic
            except InputError:
                if "pdb" not in named:
                    raise

        def report(what: str, share: float) -> None:
            progress(what, share)
            check()

        if missing is Missing.BUILD and _build_default(grid, blank, folder, settings, notify, report):
            return prepare("pdb", grid, blank, folder, notify, progress, settings.huge_pages)
        if missing is Missing.DO_WITHOUT:
            return None
        fallback = without_database(grid)
        if settings.heuristic:
            notify(f"no such database serves the search from the goal to the start: {fallback} is used there")
        return prepare(fallback, grid, blank, folder, notify, progress)

    def kept(grid: Grid, blank: int, missing: Missing, check: Callable[[], object]) -> Heuristic | None:
        if (grid, blank) not in made:
            heuristic = prepared(grid, blank, missing, check)
            if heuristic is None:
                return None
            made[grid, blank] = heuristic
        return made[grid, blank]

    return kept


def _own_way_back(function: Callable, frame: Frame, settings: Settings, notify: Notify) -> Backward:
    """A function of one's own on the way back, where it must do with another goal than the one that it was written for.

    A consistent one that is 0 for the start is admissible there, and that is watched. Any other one is used if it is
    asked for, and otherwise the search goes on without the way back.
    """

    @cache
    def unasked() -> Heuristic | None:
        try:
            heuristic = own.prepare(function, frame)
        except InputError as error:
            notify(f"the search begins from the start alone: {error}")
            return None
        return heuristic if heuristic.consistent else None

    asked = settings.direction == BACKWARD or settings.both_ends == ON
    return lambda grid, blank, missing, check: (
        own.prepare(function, frame) if asked or missing is Missing.WEAKER else unasked()
    )


def _build_default(
    grid: Grid, blank: int, folder: Path, settings: Settings, notify: Notify, progress: OnPreparing
) -> bool:
    """Build the default database of a goal, for this search and those to come; False if there is none, or no room."""
    collection = default_collection(grid, blank, "bits") if has_patterns(grid) else None
    if collection is None:
        return False
    try:
        spec = Spec(grid, collection, blank, "bits")  # of which there are none if an odd side is joined
        check_build_memory(grid, map(len, spec.patterns), spec.encoding, None, settings.threads, False)
        path = folder / f"{spec.name}.h5"
        notify(f"building {path}, once, to search from the goal to the start as well")
        build_database(spec, path, threads=settings.threads, watcher=_Telling(path.name, progress))
    except (InputError, DatabaseError, OSError) as error:
        notify(f"no database for the search from the goal to the start: {error}")
        return False
    return True


class _Telling(Watcher):
    """Reports a build as a preparation."""

    def __init__(self, name: str, progress: OnPreparing) -> None:
        self.what, self.progress = f"building {name}", progress

    @contextmanager
    def table(self, number: int, count: int, tiles: Sequence[int], states: int) -> Iterator[Callable[[int], object]]:
        done = 0

        def report(more: int) -> None:
            nonlocal done
            done += more
            self.progress(self.what, (number - 1 + min(1.0, done / states)) / count)

        yield report


SMALL = 16  # cells of a board whose searches are short if there is a database

# ---- ends -------------------------------------------------------------------------------------------


def ends_for(grid: Grid, heuristic: Heuristic, settings: Settings) -> dict[str, str]:
    """The end that IDA* begins from, and whether it does so from both: as told, or chosen while it searches.

    The fixed order of moves, which comes with published counts, and all solutions are those of a search from the start.
    With a database on a small board, searches are over before there would be anything to choose.
    """
    plain = settings.every or settings.order == "fixed" or (grid.cells <= SMALL and bool(heuristic.databases))
    direction = settings.direction or (FORWARD if plain and settings.both_ends in (None, OFF) else AUTO)
    both_ends = (settings.both_ends or AUTO) if direction == AUTO else OFF
    if not heuristic.consistent:
        if both_ends == ON:
            raise InputError(
                "a search from both ends needs a consistent heuristic, one that no move changes by more than one, and "
                f"{heuristic.name} is not known to be: use a bits database or another heuristic, or no `both_ends`"
            )
        both_ends = OFF
    return {"direction": direction, "both_ends": both_ends}


# ---- the rank of a beam -------------------------------------------------------------------------

LEARNED_WITH = "linear-conflict"  # the heuristic that ranks are learned with


class Rank(NamedTuple):
    """How a beam ranks boards."""

    name: str
    why: str  # this one: where it is from, or what speaks against a learned one
    weights: Weights | None = None


def rank_for(frame: Frame, heuristic: Heuristic, settings: Settings, notify: Notify = ignore_remark) -> Rank:
    """The rank that the settings name, or the best one available: that of the board's size, or that of the package.

    A file that is named must serve. One that is merely found and cannot be used is remarked on.
    """
    asked, grid = settings.rank or AUTO, frame.grid
    if asked == CLASSIC:
        return Rank(CLASSIC, "as told")
    if obstacle := _why_not_learned(frame, heuristic):
        if asked == AUTO:
            return Rank(CLASSIC, obstacle)
        raise InputError(f"no learned rank serves here, since {obstacle}: leave the rank out, or use {CLASSIC}")
    if asked not in (AUTO, LEARNED):
        return Rank(LEARNED, asked, read_rank(Path(asked)).weights)
    path = rank_path(settings.folder or databases_folder(), grid)
    try:
        with suppress(MissingDatabase):
            return Rank(LEARNED, str(path), read_rank(path).weights)
        return Rank(LEARNED, "the one that comes with the package", packaged_rank().weights)
    except DatabaseError as error:
        if asked == LEARNED:
            raise
        notify(f"not used: {error}")
        return Rank(CLASSIC, "the file of the learned one cannot be used")


def _why_not_learned(frame: Frame, heuristic: Heuristic) -> str | None:
    """What speaks against a learned rank, whichever it is."""
    if not serves(frame.grid):
        return "the edges are joined"
    if heuristic.name != LEARNED_WITH:
        return f"ranks are learned with {LEARNED_WITH}, and this is {heuristic.name}"
    return None


# ---- pruning ------------------------------------------------------------------------------------

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
