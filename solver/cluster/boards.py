"""Whole boards, solved by the workers of a cluster: a task for each.

The client waits in as many threads as there are boards under way (``jobs``). Which heuristic it is, and with which
databases, is decided where the client is, so that all workers use the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from uuid import uuid4

from pdb_builder import __version__
from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.grid import Grid

from ..board import Board
from ..choosing import heuristic_for
from ..frame import frame_of
from ..heuristics.preparing import Notify, ignore_remark
from ..search.outcome import OnProgress, unreported
from ..settings import Settings, check_settings
from ..solution import Solution
from ..solvability import why_unsolvable
from .board_tasks import interrupt as leave_note
from .board_tasks import solve_there
from .bundle_tasks import Unfit
from .bundles import TRIES
from .connection import Connection

PULSE = 0.1  # seconds between looks at an interruption
PATIENCE = 5.0  # seconds without a scheduler


def solver_on(connection: Connection) -> Callable[..., Solution]:
    """``solve_board`` by a worker of a cluster; it tells no progress."""
    token, unfit = uuid4().hex, set[str]()  # one note interrupts all boards

    def solve_board(
        grid: Grid,
        start: Board,
        goal: Board,
        settings: Settings,
        progress: OnProgress = unreported,
        notify: Notify = ignore_remark,
        interrupt: Event | None = None,
    ) -> Solution:
        settings = check_settings(settings, grid)
        if reason := why_unsolvable(grid, start, goal):
            raise Unsolvable(reason)
        heuristic = heuristic_for(frame_of(grid, goal), settings._replace(huge_pages=False), notify)
        folder = None if connection.folder is None else Path(connection.folder)
        named = None if settings.heuristic is None and heuristic.name == "none" else heuristic.name
        seals = tuple(database.seal for database in heuristic.databases)
        task = (
            *(__version__, grid.shape, grid.wrap, start, goal),
            *(settings._replace(heuristic=named, folder=folder), seals, token),
        )
        for _ in range(TRIES):
            where = sorted(set(connection.workers()) - unfit) if unfit else None
            future = connection.submit(solve_there, *task, workers=where or None)
            waiting = Event()
            future.add_done_callback(lambda _, waiting=waiting: waiting.set())
            told = False
            while not waiting.wait(PULSE):
                if interrupt is not None and interrupt.is_set() and not told:
                    connection.abandon([], leave_note, token)
                    told = True
                if connection.is_lost(PATIENCE):
                    raise InputError(f"{connection.name} is gone: start it again, and give the boards that are left")
            if future.status == "finished":
                return future.result()
            error = future.exception() if future.status == "error" else None
            if isinstance(error, Unfit):
                notify(f"{error}; the others go on without it")
                unfit.add(error.args[0])
            elif error is not None and not connection.is_killed(error):
                raise error
        raise InputError(f"a task was lost {TRIES} times, with its workers: look at their logs")

    return solve_board
