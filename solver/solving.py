"""Solving a board: check it, turn it into the frame of its goal, search, turn the answer back, replay it.

Nothing a search returns is believed: the moves are made on the board that was given, one by one, and
must end at its goal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from pdb_builder.base.errors import InputError, Unsolvable, WrongAnswer
from pdb_builder.base.folders import databases_folder
from pdb_builder.base.interrupts import compiling
from pdb_builder.base.machine import default_threads
from pdb_builder.grid import Grid

from .board import Board, board_text, grid_of, parse_board
from .frame import Frame, frame_of
from .goals import goal_board
from .heuristics import prepare
from .heuristics.databases import best_database, how_to_build
from .search import SEARCHES, check_search, search_named
from .settings import DEFAULTS, PROVABLE, Settings, check_settings, default_algorithm
from .solution import Solution, _replayed
from .solvability import why_unsolvable

if TYPE_CHECKING:
    from .heuristics.contract import Heuristic
    from .search.outcome import Outcome, Problem, Progress


# ---- moves --------------------------------------------------------------------------------------


# ---- solve --------------------------------------------------------------------------------------


def solve(
    board: str | Sequence,
    goal: str | Sequence = "last",
    *,
    shape: str | tuple[int, int] | None = None,
    wrap: bool = False,
    heuristic: str | None = None,
    algorithm: str | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    every: bool = False,
    order: str | None = None,
    weight: float | None = None,
    width: int | None = None,
    depth: int | None = None,
    folder: str | Path | None = None,
    report: Callable[[Progress], None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Solution:
    """A solution of a board: a shortest one, unless the algorithm is one that promises less.

    ``board`` and ``goal`` are text as on the command line, or numbers, or rows of numbers; the goal may be
    ``last``, ``first`` or ``spiral``. ``wrap`` joins the edges: tiles slide across them. The other options are those
    of ``pdb-solver solve``: ``heuristic`` None is the best one available, ``algorithm`` None is ``ida-star``, or
    ``beam`` for boards too large for it. ``every`` asks for all shortest solutions. ``report`` is called with the
    progress of a long search, ``notify`` with remarks in words.

    Raises ``InputError`` for what makes no sense, and ``Unsolvable`` if no moves lead to the goal.
    """
    grid, start = parse_board(board_text(board), None if shape is None else grid_of(shape, wrap), wrap)
    target = goal_board(grid, board_text(goal))
    folder = Path(folder) if folder else None
    limits = (time_limit, node_limit, memory_limit)
    settings = Settings(heuristic, algorithm, threads, *limits, every, order, folder, weight, width, depth)
    return solve_board(grid, start, target, settings, report, notify)


def solve_board(
    grid: Grid,
    start: Board,
    goal: Board,
    settings: Settings = DEFAULTS,
    report: Callable[[Progress], None] | None = None,
    notify: Callable[[str], None] | None = None,
    interrupt: Event | None = None,
) -> Solution:
    """``solve`` for boards that are parsed and checked."""
    settings = check_settings(settings._replace(algorithm=settings.algorithm or default_algorithm(grid, settings)))
    if reason := why_unsolvable(grid, start, goal):
        raise Unsolvable(reason)
    search, known = search_named(settings.algorithm), check_search(settings.algorithm)
    frame = frame_of(grid, goal)
    from .heuristics.manhattan import prepare as prepare_manhattan
    from .search.outcome import Limits, Problem

    with compiling():
        heuristic = heuristic_for(frame, settings, notify)
        by_value = heuristic.by_value if settings.order is None else settings.order == "value"
        backward = cache(_backward(settings, notify))
        problem = Problem(grid, frame.blank, frame.enter(start), heuristic, by_value, backward)
        options = {name: getattr(settings, name) for name in known.options if name != "order"}
        _load(search, problem, heuristic, options)
        if known.both_ends:  # which board it begins with decides which heuristic leads back
            search(problem, threads=1, limits=Limits(nodes=10, memory=10**6), report=lambda progress: None)
    threads = settings.threads or default_threads()
    began = time.perf_counter()
    deadline = None if settings.time_limit is None else time.monotonic() + settings.time_limit
    limits = Limits(deadline, settings.node_limit, settings.memory_limit, interrupt)
    outcome: Outcome = search(
        problem, threads=threads, limits=limits, report=report or (lambda progress: None), **options
    )
    seconds = time.perf_counter() - began
    try:
        solutions = [_replayed(grid, start, goal, frame.leave(path)) for path in outcome.paths]
    except AssertionError as error:
        raise WrongAnswer(
            f"{settings.algorithm} with {heuristic.name} gave moves that solve nothing ({error}): if a database was "
            "used, see whether it is sound with 'pdb-builder verify'"
        ) from None
    # Whatever the search looked at, no solution is shorter than this.
    distance = prepare_manhattan(grid, frame.blank).measure(problem.start)[0]
    lower_bound = problem.at_least(max(outcome.lower_bound, distance))
    if solutions and lower_bound > len(solutions[0]):
        raise WrongAnswer(
            f"{settings.algorithm} with {heuristic.name} found {len(solutions[0])} moves where it had proven that "
            f"{lower_bound} are needed: if a database was used, see whether it is sound with 'pdb-builder verify'"
        )
    return Solution(
        grid=grid,
        board=start,
        goal=goal,
        algorithm=settings.algorithm,
        heuristic=heuristic.name,
        h_start=outcome.h_start,
        solved=bool(solutions),
        length=len(solutions[0]) if solutions else None,
        tiles=solutions[0] if solutions else (),
        lower_bound=lower_bound,
        expanded=outcome.expanded,
        generated=outcome.generated,
        seconds=seconds,
        iterations=outcome.iterations,
        stored=outcome.stored,
        stopped=outcome.stopped,
        within=outcome.within,
        improvements=tuple(outcome.improvements),
        solutions=tuple(solutions) if settings.every and solutions else None,
    )


def heuristic_for(frame: Frame, settings: Settings, notify: Callable[[str], None] | None = None) -> Heuristic:
    """The heuristic that was asked for, or the best one there is."""
    folder = settings.folder or databases_folder()
    grid, blank = frame.grid, frame.blank
    search = check_search(settings.algorithm or default_algorithm(grid, settings))
    if search.blind:
        from .heuristics.uninformed import prepare as prepare_blind

        return prepare_blind(grid, blank)
    spec = settings.heuristic
    if spec is None:
        if search is SEARCHES["beam"] and grid.cells > PROVABLE and not grid.wrap:
            # Measured: databases of large boards are no better guides than this, and slower.
            return prepare(_without_database(grid), grid, blank, folder)
        best, unusable = best_database(grid, blank, folder)
        for complaint in unusable if notify else ():
            notify(f"not used: {complaint}")
        spec = f"pdb:{best}" if best else _without_database(grid)
        if best is None and notify:
            notify(
                f"no database in {folder} is for {grid} boards with this goal, so {spec} is used: "
                f"{how_to_build(grid, blank, folder)}"
            )
    heuristic = prepare(spec, grid, blank, folder)
    if search.promises and not heuristic.admissible:
        raise InputError(
            f"{heuristic.name} can exceed the moves that are needed, so that {settings.algorithm} could not keep its "
            "promise of a shortest solution: take greedy, weighted-a-star or beam, or another heuristic"
        )
    return heuristic


def _without_database(grid: Grid) -> str:
    """The best heuristic that needs no database."""
    return "manhattan" if grid.wrap else "linear-conflict"


def _backward(settings: Settings, notify: Callable[[str], None] | None) -> Callable[[Grid, int], Heuristic]:
    """The heuristic for the way from the goal to the start, whose blank may have no database."""

    def prepared(grid: Grid, blank: int) -> Heuristic:
        folder, spec = settings.folder or databases_folder(), settings.heuristic or "pdb"
        try:
            return prepare(spec, grid, blank, folder)
        except InputError:
            if "pdb" not in spec:
                raise
        spec = _without_database(grid)
        if notify and settings.heuristic:
            notify(f"the way back, from the goal to the start, has no such database: {spec} is used for it")
        return prepare(spec, grid, blank, folder)

    return prepared


_loaded: set[tuple] = set()
EASY = {"width": 100, "depth": 2}  # enough for the board that shows whether code is compiled


def _load(search: Callable, problem: Problem, heuristic: Heuristic, options: dict) -> None:
    """Have the code of a search compiled, or read from the cache, before its time is taken."""
    asked = (search, heuristic.kind, *(name for name, value in options.items() if value is not None))
    if asked not in _loaded:
        from .heuristics.manhattan import prepare as prepare_manhattan
        from .search.outcome import Limits

        board, blank = list(problem.grid.goal(problem.blank)), problem.blank
        for _ in range(2):  # two moves from the goal, so that every part of a search gets something to do
            near = next(cell for cell in problem.grid.neighbours[blank] if cell != problem.blank)
            board[blank], board[near], blank = board[near], 0, near
        easy = problem._replace(start=tuple(board), backward=prepare_manhattan)
        options = {name: EASY.get(name, value) for name, value in options.items() if value is not None}
        limits = Limits(deadline=time.monotonic() + 3600, memory=10**6)
        search(easy, threads=1, limits=limits, report=lambda progress: None, **options)
        _loaded.add(asked)
