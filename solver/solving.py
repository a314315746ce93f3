"""Solving a board: check it, turn it into the frame of its goal, search, turn the answer back, replay it.

Nothing that a search returns is trusted: the moves are made on the board that was given, one by one, and must end at
its goal. What it has proven counts once the databases behind it were compared with their checksums (``watch``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

from pdb_builder import __version__
from pdb_builder.base.errors import ClusterLost, InputError, Unsolvable, WrongAnswer
from pdb_builder.base.interrupts import compiling
from pdb_builder.base.wording import counted
from pdb_builder.base.workers import check_threads
from pdb_builder.grid import Grid

from .board import Board, board_text, format_board, grid_of, parse_board
from .choosing import Rank, backward_heuristics, ends_for, heuristic_for, pruning_for, rank_for
from .cluster.bundles import ClusterSearch
from .cluster.connection import Connection, connected_if_given
from .frame import Frame, frame_of
from .goals import goal_board
from .heuristics import manhattan
from .heuristics.contract import Heuristic
from .heuristics.preparing import Notify, OnPreparing, ignore_remark
from .search import BEAM, check_search, search_named
from .search.journal import open_journal
from .search.outcome import INTERRUPT, Limits, Missing, OnProgress, Outcome, Problem, Progress, Stopped, unreported
from .search.warm_up import warm_up
from .search.word_files import AUTOMATON, made_automaton
from .settings import DEFAULTS, Settings, check_settings, path_of
from .solution import Solution, boards_along, replay
from .solvability import why_unsolvable
from .watch import Watch

PROBLEM_OPTIONS = ("order", "pruning", "journal", "rank")  # of a search that are part of its problem


def solve(
    board: str | Sequence,
    goal: str | Sequence = "last",
    *,
    shape: str | tuple[int, int] | None = None,
    wrap: bool = False,
    heuristic: str | Callable | None = None,
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
    pruning: int | None = None,
    huge_pages: bool = False,
    direction: str | None = None,
    both_ends: str | None = None,
    upper_bound: int | None = None,
    prove_at_least: int | None = None,
    journal: str | Path | None = None,
    rank: str | Path | None = None,
    cluster: Any = None,
    folder: str | Path | None = None,
    progress: OnProgress = unreported,
    notify: Notify = ignore_remark,
) -> Solution:
    """A solution of a board: a shortest one, unless the algorithm guarantees less.

    ``board`` and ``goal`` are text as on the command line, or numbers, or rows of numbers; the goal may be ``last``,
    ``first`` or ``spiral``. ``wrap`` joins the edges, so that tiles slide across them. The other options are those of
    ``pdb-solver solve``: ``heuristic`` is a name, or a function of one's own (see ``solver.heuristic``), None is the
    best one available; ``algorithm`` None is ``ida-star``, or ``beam`` for boards too large for it. ``every`` asks for
    all shortest solutions. ``pruning`` is how many moves ``ida-star`` and ``dfs`` look back, 2 for the counts of the
    literature, None for what is fastest. ``huge_pages`` copies databases into memory that is faster to look up in.
    ``direction`` is ``forward``, ``backward`` or ``auto``, ``both_ends`` ``on``, ``off`` or ``auto``: where
    ``ida-star`` begins. With an ``upper_bound`` it looks for shorter solutions only. It is over when no solution can be
    shorter than ``prove_at_least``. In a ``journal`` it keeps what is finished, and goes on with that of the same
    search. ``rank`` is how a beam ranks boards: ``learned``, ``classic``, ``auto``, or the file of a learned rank.
    ``cluster`` is the address of a Dask scheduler, or a ``distributed.Client``, whose workers search large iterations.
    ``progress`` is called with the progress of a long search, ``notify`` with remarks in words.

    Raises ``InputError`` for what makes no sense, and ``Unsolvable`` if no moves lead to the goal.
    """
    grid, start = parse_board(board_text(board), None if shape is None else grid_of(shape, wrap), wrap)
    target = goal_board(grid, board_text(goal))
    limits = (time_limit, node_limit, memory_limit)
    where = path_of("folder", folder)
    settings = Settings(
        *(heuristic, algorithm, threads, *limits, every, order, where, weight, width, depth, pruning, huge_pages),
        *(direction, both_ends, upper_bound, prove_at_least, path_of("journal", journal)),
        rank=str(rank) if isinstance(rank, Path) else rank,
    )
    with connected_if_given(cluster, where) as connection:
        return solve_board(grid, start, target, settings, progress, notify, cluster=connection)


def solve_board(
    grid: Grid,
    start: Board,
    goal: Board,
    settings: Settings = DEFAULTS,
    progress: OnProgress = unreported,
    notify: Notify = ignore_remark,
    interrupt: Event | None = None,
    cluster: Connection | None = None,
) -> Solution:
    """``solve`` for boards that are parsed; ``interrupt`` stops the search when it is set."""
    settings = check_settings(settings, grid)
    assert settings.algorithm is not None
    if reason := why_unsolvable(grid, start, goal):
        raise Unsolvable(reason)
    search, entry = search_named(settings.algorithm), check_search(settings.algorithm)
    frame, watch, preparing = frame_of(grid, goal), Watch(), _preparing(progress)
    with compiling():
        heuristic = watch.over(heuristic_for(frame, settings, notify, preparing))
        by_value = heuristic.by_value if settings.order is None else settings.order == "value"
        made_backward = backward_heuristics(frame.then(frame_of(grid, frame.enter(start))), settings, notify, preparing)

        def backward(grid: Grid, blank: int, missing: Missing, check: Callable[[], object]) -> Heuristic | None:
            found = made_backward(grid, blank, missing, check)
            return found and watch.over(found)

        problem = Problem(grid, frame.blank, frame.enter(start), heuristic, by_value, backward)
        if "pruning" in entry.options:
            problem = problem._replace(pruning=pruning_for(grid, heuristic, settings, notify))
        rank: Rank | None = None
        if "rank" in entry.options:
            rank = rank_for(frame, heuristic, settings, notify)
            problem = problem._replace(weights=rank.weights)
        options = {name: getattr(settings, name) for name in entry.options if name not in PROBLEM_OPTIONS}
        if "direction" in entry.options:
            options |= ends_for(grid, heuristic, settings)
        warm_up(search, problem, options, entry.both_ends)
    threads = check_threads(settings.threads)
    limits = Limits(None, settings.node_limit, settings.memory_limit, interrupt, watch.look, heuristic.at_once)
    if cluster is not None:
        problem = problem._replace(cluster=_workers(cluster, problem, settings, notify, preparing))
    limits = _make_automaton(problem, settings, threads, limits, preparing)
    if settings.journal is not None:
        of = _facts(grid, start, goal, problem, settings.algorithm, options)
        journal = open_journal(settings.journal, of, watch.trusted)
        problem, limits = problem._replace(journal=journal), limits._replace(intact=_both(watch.look, journal.look))
    began = time.perf_counter()
    try:
        outcome: Outcome = search(problem, threads=threads, limits=limits, progress=progress, **options)
        seconds = time.perf_counter() - began - outcome.preparing + outcome.earlier
        if not watch.finish(interrupt, preparing):
            # Then nothing is proven. The moves are what they are.
            outcome.stopped, outcome.lower_bound, outcome.suboptimality_bound = INTERRUPT, 0, None
    finally:
        problem.journal.close()
    if problem.journal.failure is not None:
        notify(problem.journal.failure)

    method = f"{settings.algorithm} with {heuristic.name}"
    try:
        solutions = [replay(grid, start, goal, frame.leave(path)) for path in outcome.paths]
    except AssertionError as error:
        fact = f"{method} returned moves that do not solve the board ({error})"
        raise _wrong(fact, heuristic, settings.journal) from None
    if heuristic.fingerprint and heuristic.admissible and solutions:
        _check_along(heuristic, frame, start, solutions[0])
    # Whatever the search looked at, no solution is shorter than this.
    distance = manhattan.prepare(grid, frame.blank).measure(problem.start)[0]
    lower_bound = problem.at_least(max(outcome.lower_bound, distance))
    if solutions and lower_bound > len(solutions[0]):
        fact = f"{method} found {len(solutions[0])} moves after it had proven that {lower_bound} are needed"
        raise _wrong(fact, heuristic, settings.journal)
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
        pruning=max((one.pruning or 0 for one in outcome.iterations), default=0) or None,
        stored=outcome.stored,
        stopped=outcome.stopped,
        suboptimality_bound=outcome.suboptimality_bound,
        incumbents=tuple(outcome.incumbents),
        direction=_direction(outcome),
        rank=rank and rank.name,
        why=rank.why if rank else outcome.why,
        solutions=tuple(solutions) if settings.every and outcome.suboptimality_bound == 1 else None,
        databases=watch.databases(),
    )


def _workers(
    cluster: Connection, problem: Problem, settings: Settings, notify: Notify, preparing: OnPreparing
) -> ClusterSearch:
    """The workers of a cluster, all of which can take part in a search."""
    if "journal" not in check_search(settings.algorithm or "").options:  # the others have no bundles to share out
        raise InputError(f"{settings.algorithm} searches on one machine: leave out `cluster`, or use ida-star")
    workers = ClusterSearch(cluster, notify)
    deadline = inf if settings.time_limit is None else time.monotonic() + settings.time_limit

    def report() -> None:
        preparing("the workers open their databases", 0.0)
        if time.monotonic() >= deadline:
            fact = f"some workers of {cluster.name} have not answered within `time_limit`"
            raise ClusterLost(f"{fact}: look at their logs, or give them more time")

    workers.check_workers(problem, report)
    return workers


def _facts(grid: Grid, start: Board, goal: Board, problem: Problem, algorithm: str, options: dict) -> dict:
    """What a journal is of: all that decides what a search does."""
    heuristic, pruning = problem.heuristic, problem.pruning
    return {
        "version": __version__,
        "shape": grid.shape,
        "wrap": grid.wrap,
        "board": list(start),
        "goal": list(goal),
        "algorithm": algorithm,
        "heuristic": f"{heuristic.name} {heuristic.fingerprint}".strip(),
        "databases": [database.seal for database in heuristic.databases],
        "order": "value" if problem.by_value else "fixed",
        "pruning": [pruning.first, pruning.later],
        **{name: value for name, value in options.items() if name != "prove_at_least"},
    }


def _both(first: Callable[[], object], second: Callable[[], object]) -> Callable[[], object]:
    return lambda: (first(), second())


def _direction(outcome: Outcome) -> str | None:
    """Where a depth-first search has begun at the last bound: forward, backward or both."""
    *_, last = None, *(one for one in outcome.iterations if one.side != BEAM and not one.given_up)
    return last and ("both" if last.meets else last.side)


def _make_automaton(
    problem: Problem, settings: Settings, threads: int, limits: Limits, preparing: OnPreparing
) -> Limits:
    """Make the automaton that a search begins with before its clock starts; returns the limits with the deadline.

    The automaton may take as long as the search. If it takes longer, that was all the time there was.
    """
    if settings.time_limit is not None:
        limits = limits._replace(deadline=time.monotonic() + settings.time_limit)

    def report(share: float) -> None:
        preparing(AUTOMATON, share)
        limits.check(0)

    with suppress(Stopped):  # the search comes to the same end, and says so
        made_automaton(problem, problem.pruning.first, settings.every, threads, report)
        if settings.time_limit is not None:
            return limits._replace(deadline=time.monotonic() + settings.time_limit)
    return limits


def _preparing(progress: OnProgress) -> OnPreparing:
    """The progress of preparations, reported as progress of the search."""
    return lambda what, share: progress(Progress(0, 0, 0, share, preparing=what))


def _check_along(heuristic: Heuristic, frame: Frame, start: Board, tiles: Sequence[int]) -> None:
    """Raise ``WrongAnswer`` if a heuristic of one's own exceeds the moves that are left somewhere on a solution."""
    for left, board in zip(range(len(tiles), -1, -1), boards_along(frame.grid, start, tiles), strict=True):
        if (value := heuristic.measure(frame.enter(board))[0]) > left:
            raise _wrong(
                f"{heuristic.name} is declared admissible, but it is {value} for {format_board(frame.grid, board)}, "
                f"from where the goal is reached in {counted(left, 'move')}",
                heuristic,
            )


def _wrong(fact: str, heuristic: Heuristic, journal: Path | None = None) -> WrongAnswer:
    remedy = "if a database was used, check it with 'pdb-builder verify'"
    if heuristic.fingerprint:
        remedy = "correct the heuristic, and check it with 'check_heuristic'"
    other = "" if journal is None else f", and go on without {journal}"
    return WrongAnswer(f"{fact}: {remedy}{other}")
