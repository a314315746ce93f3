"""Whole boards, solved by the workers of a cluster: a task for each.

The client waits in as many threads as there are boards under way (``jobs``). Which heuristic it is, and with which
databases, is decided where the client is, so that all workers use the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from threading import Event, Lock
from typing import Any
from uuid import uuid4

from pdb_builder.base.errors import ClusterLost, InputError, Unsolvable
from pdb_builder.base.workers import MAX_THREADS
from pdb_builder.grid import Grid

from ..board import Board
from ..choosing import backward_heuristics, ends_for, heuristic_for
from ..frame import frame_of
from ..heuristics.contract import Heuristic
from ..heuristics.preparing import Notify, ignore_remark
from ..search import FORWARD, check_search
from ..search.outcome import Missing, OnProgress, unreported
from ..settings import Settings, check_settings
from ..solution import Solution
from ..solvability import why_unsolvable
from .board_tasks import interrupt as leave_note
from .board_tasks import solve_there
from .bundles import TRIES
from .connection import Connection
from .crew import Crew
from .fitness import Unfit, Wanted, wanted_for

PULSE = 0.05  # seconds between looks at a task
ENDING = 1.0  # seconds for workers to end what was interrupted
AHEAD = 8  # boards under way beside two for each thread, for workers that join


def boards_at_a_time(connection: Connection) -> int:
    """How many boards to have under way: more than there are threads now, so that none waits for work."""
    return min(MAX_THREADS, 2 * connection.threads() + AHEAD)


def solver_on(
    connection: Connection, solve_board: Callable[..., Solution], notify: Notify = ignore_remark
) -> Callable[..., Solution]:
    """``solve_board`` by a worker of a cluster; it tells no progress."""
    return _Solver(connection, solve_board, notify).solve


class _Solver:
    """The boards of one command."""

    def __init__(self, connection: Connection, solve_board: Callable[..., Solution], notify: Notify) -> None:
        self.solve_board = solve_board
        self.connection, self.crew = connection, Crew(connection, notify)
        self.token = uuid4().hex  # one note interrupts all boards
        self.lock, self.told = Lock(), False

    def solve(
        self,
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
        interrupt = interrupt or Event()
        folder = None if self.connection.folder is None else Path(self.connection.folder)
        heuristic, wanted = self._wanted(grid, start, goal, settings, notify)
        with self.lock:  # one of the threads asks, the others learn the answer
            for one in wanted:
                self.crew.insist(one, lambda: _raise_if(interrupt))
        named = None if check_search(settings.algorithm or "").uninformed else heuristic.name
        task = wanted, start, goal, settings._replace(heuristic=named, folder=folder), self.token
        for _ in range(TRIES):
            result = self._result_of(task, interrupt)
            if isinstance(result, Solution):
                return result
            if isinstance(result, Unfit):
                for one in wanted:
                    self.crew.leave_out(one, result)
            elif isinstance(result, Exception) and not self.connection.is_killed(result):
                unfit = self.crew.examine(wanted[0], lambda: _raise_if(interrupt))
                if not unfit:
                    raise result
                for error in unfit:
                    self.crew.leave_out(wanted[0], error)
        raise InputError(f"a board was lost {TRIES} times, with its workers: look at their logs")

    def _wanted(
        self, grid: Grid, start: Board, goal: Board, settings: Settings, notify: Notify
    ) -> tuple[Heuristic, tuple[Wanted, ...]]:
        """The heuristic of a board, and what workers must have to solve it."""
        settings, frame = settings._replace(huge_pages=False), frame_of(grid, goal)
        heuristic = heuristic_for(frame, settings, notify)
        folder = self.connection.folder
        wanted = [wanted_for(grid, frame.blank, heuristic, folder)]
        options = check_search(settings.algorithm or "").options
        if "direction" in options and ends_for(grid, heuristic, settings)["direction"] != FORWARD:
            back_frame = frame.then(frame_of(grid, frame.enter(start)))
            blank = back_frame.blank
            back = backward_heuristics(back_frame, settings)(grid, blank, Missing.DO_WITHOUT, lambda: None)
            if back is not None:
                wanted.append(wanted_for(grid, blank, back, folder))
        return heuristic, tuple(wanted)

    def _result_of(self, task: tuple, interrupt: Event) -> Any:
        """What becomes of a task: a solution, or an error."""
        first = task[0][0]
        while (places := self.crew.places(first)) == []:
            _raise_if(interrupt)
            self._look(first)
            time.sleep(PULSE)
        future = self.connection.submit(solve_there, self.solve_board, *task, workers=places)
        ended = Event()
        future.add_done_callback(lambda _: ended.set())
        deadline: float | None = None
        while not ended.wait(PULSE):
            if interrupt.is_set():
                deadline = deadline or time.monotonic() + ENDING
                self._tell()
                if time.monotonic() >= deadline:
                    future.cancel()
                    raise KeyboardInterrupt
            self._look(first)
            if places is not None and self.crew.there and not set(places) & self.crew.there.keys():
                future.cancel()
                return None
        if future.status == "finished":
            return future.result()
        if future.status == "error":
            return future.exception()
        if self.connection.is_lost(0):
            raise _gone(self.connection.gone())
        return CancelledError()

    def _look(self, wanted: Wanted) -> None:
        try:
            self.crew.look(wanted)
        except ClusterLost as error:
            raise _gone(error) from None

    def _tell(self) -> None:
        """Leave a note with the workers, once."""
        with self.lock:
            told, self.told = self.told, True
        if not told:
            self.connection.abandon([], leave_note, self.token)


def _raise_if(interrupt: Event) -> None:
    if interrupt.is_set():
        raise KeyboardInterrupt


def _gone(error: object) -> ClusterLost:
    return ClusterLost(f"{error}, and give the boards that are left")
