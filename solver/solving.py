"""Solving a board: check it, turn it, search, turn the answer back, replay it.

Searches know one kind of goal, the canonical one: tiles in order around the blank. A *frame* makes any
goal such a one: its tiles are renamed by the cells they belong on, and the board is turned so that the
blank's home comes on as low a cell as it can. So the goals 1 2 ... 15 0 and 0 1 ... 15, and any labels
in any corner, are the same puzzle, and the same database serves them all.

Nothing a search returns is believed: the moves are made on the board that was given, one by one, and
must end at its goal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from pdb_builder.grid import Grid, InputError
from pdb_builder.machine import MAX_THREADS, default_threads
from pdb_builder.shell import compiling, default_folder

from .board import Board, goal_board, parse_board, why_unsolvable
from .heuristics import best_database, how_to_build, prepare
from .search import search_named

if TYPE_CHECKING:
    from .heuristics.contract import Heuristic
    from .search.outcome import Iteration, Outcome, Progress

# In which IDA* tries moves: blank up, left, right, down, seen in the frame; or most promising first.
ORDERS = ("fixed", "value")


class Unsolvable(InputError):
    """No moves lead from the board to the goal."""


class WrongAnswer(InputError):
    """The moves a search found did not lead to the goal: a damaged database, or a defect of ours."""


@dataclass(frozen=True)
class Solution:
    """What is known of a board after a search.

    ``solved`` is False if a limit stopped the search; then ``stopped`` names it, and ``lower_bound`` is
    proven all the same. ``generated`` counts the start, ``seconds`` is the search alone.
    """

    grid: Grid
    board: Board
    goal: Board
    algorithm: str
    heuristic: str
    h_start: int
    solved: bool
    length: int | None
    tiles: tuple[int, ...]  # the tiles moved, in order
    lower_bound: int
    expanded: int
    generated: int
    seconds: float
    iterations: list[Iteration] = field(repr=False)
    stored: int | None = None  # boards in memory at the end, if the search keeps them
    stopped: str | None = None  # time, nodes, memory or interrupt
    solutions: tuple[tuple[int, ...], ...] | None = field(default=None, repr=False)  # all, if asked for: tiles moved

    @property
    def optimal(self) -> bool:
        """Whether the solution is proven to be a shortest one: always, if there is one."""
        return self.solved

    @property
    def moves(self) -> str:
        """The moves as letters: up, down, left, right, of the tiles."""
        return self.letters(self.tiles)

    def letters(self, tiles: Sequence[int], of: str = "tile") -> str:
        """Moves of the given tiles from the start as letters, of the tiles or of the blank."""
        return "".join(_letters(self.grid, self.board, tiles, of))

    def boards(self) -> Iterator[Board]:
        """The boards along the way, start and goal included."""
        board = list(self.board)
        yield self.board
        for tile in self.tiles:
            _move(self.grid, board, tile)
            yield tuple(board)

    def as_dict(self, of: str = "tile") -> dict:
        """Everything, for JSON. The letters speak of the tile or of the blank."""
        record = {
            "shape": self.grid.shape,
            "board": list(self.board),
            "goal": list(self.goal),
            "solved": self.solved,
            "optimal": self.optimal,
            "length": self.length,
            "moves": self.letters(self.tiles, of) if self.solved else None,
            "tiles": list(self.tiles) if self.solved else None,
            "algorithm": self.algorithm,
            "heuristic": self.heuristic,
            "h_start": self.h_start,
            "expanded": self.expanded,
            "generated": self.generated,
            "stored": self.stored,
            "seconds": self.seconds,
            "lower_bound": self.lower_bound,
            "stopped": self.stopped,
            "iterations": [iteration._asdict() for iteration in self.iterations],
        }
        if self.solutions is not None:
            record["solution_count"] = len(self.solutions)
            record["solutions"] = [self.letters(tiles, of) for tiles in self.solutions]
        return record


# ---- moves --------------------------------------------------------------------------------------


def _move(grid: Grid, board: list[int], tile: int) -> tuple[int, int]:
    """Move a tile into the blank; returns where from and where to."""
    source, target = board.index(tile), board.index(0)
    if tile == 0 or source not in grid.neighbours[target]:
        raise AssertionError(f"tile {tile} cannot move on {board}")
    board[source], board[target] = 0, tile
    return source, target


def _letters(grid: Grid, board: Board, tiles: Sequence[int], of: str) -> Iterator[str]:
    now = list(board)
    for tile in tiles:
        source, target = _move(grid, now, tile)
        if of == "blank":
            source, target = target, source
        (row, col), (new_row, new_col) = divmod(source, grid.cols), divmod(target, grid.cols)
        # A step of more than one crosses a wrapped edge, to the other side.
        step = (new_row - row) or (new_col - col)
        yield ("UD" if row != new_row else "LR")[(step > 0) == (abs(step) == 1)]


def _replayed(grid: Grid, start: Board, goal: Board, cells: Sequence[int]) -> tuple[int, ...]:
    """The tiles that move as the blank visits ``cells``, after making sure that they lead to the goal."""
    board = list(start)
    if cells[0] != board.index(0):
        raise AssertionError("the path does not begin at the blank")
    tiles = []
    for cell in cells[1:]:
        tiles.append(board[cell])
        _move(grid, board, board[cell])
    if tuple(board) != goal:
        raise AssertionError(f"the moves lead to {board}, not to the goal")
    return tuple(tiles)


# ---- the frame ----------------------------------------------------------------------------------


class Frame(NamedTuple):
    """A goal seen as a canonical one."""

    grid: Grid
    blank: int  # the cell of the blank's home
    cells: tuple[int, ...]  # cell -> cell in the frame
    tiles: tuple[int, ...]  # tile -> tile in the frame

    def enter(self, board: Board) -> Board:
        """A board as it looks in the frame."""
        inside = [0] * len(board)
        for cell, tile in enumerate(board):
            inside[self.cells[cell]] = self.tiles[tile]
        return tuple(inside)

    def leave(self, cells: Sequence[int]) -> list[int]:
        """Cells of the frame as cells of the board."""
        return [self.cells.index(cell) for cell in cells]


def frame_of(grid: Grid, goal: Board) -> Frame:
    """The frame of a goal: turned so that the blank's home has the lowest number."""
    home = goal.index(0)
    turns = [cells for target, cells in grid.symmetries() if target == grid]
    cells = min(turns, key=lambda turn: turn[home])  # the first of equals: the board as it is, or half a turn
    blank = cells[home]
    canonical = grid.goal(blank)
    tiles = [0] * grid.cells
    for cell, tile in enumerate(goal):
        tiles[tile] = canonical[cells[cell]]
    return Frame(grid, blank, cells, tuple(tiles))


# ---- solve --------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """How to solve: the options of ``solve``, checked."""

    heuristic: str | None = None
    algorithm: str = "ida-star"
    threads: int | None = None
    time_limit: float | None = None
    node_limit: int | None = None
    memory_limit: int | None = None
    every: bool = False
    order: str | None = None
    folder: Path | None = None


DEFAULTS = Settings()


def solve(
    board: str | Sequence,
    goal: str | Sequence = "last",
    *,
    shape: str | tuple[int, int] | None = None,
    heuristic: str | None = None,
    algorithm: str = "ida-star",
    threads: int | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    every: bool = False,
    order: str | None = None,
    folder: str | Path | None = None,
    report: Callable[[Progress], None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Solution:
    """A shortest solution of a board.

    ``board`` and ``goal`` are text as on the command line, or numbers, or rows of numbers; the goal may be
    ``last``, ``first`` or ``spiral``. The other options are those of ``pdb-solver solve``: ``heuristic`` None
    is the best one available. ``every`` asks for all shortest solutions. ``report`` is called with the progress
    of a long search, ``notify`` with remarks in words.

    Raises ``InputError`` for what makes no sense, and ``Unsolvable`` if no moves lead to the goal.
    """
    grid, start = parse_board(board_text(board), None if shape is None else _grid(shape))
    target = goal_board(grid, board_text(goal))
    folder = Path(folder) if folder else None
    settings = Settings(heuristic, algorithm, threads, time_limit, node_limit, memory_limit, every, order, folder)
    return solve_board(grid, start, target, settings, report, notify)


def _grid(shape: str | tuple[int, int]) -> Grid:
    if isinstance(shape, str):
        return Grid.parse(shape)
    try:
        rows, cols = shape
    except (TypeError, ValueError):
        raise InputError(f"{shape!r} is not a board shape: give rows and columns, as in '3x4' or (3, 4)") from None
    return Grid(rows, cols)


def board_text(board: object) -> str:
    """What was given as a board, as text."""
    return board if isinstance(board, str) else str(_plain(board))


def _plain(numbers: object) -> object:
    """Numbers, or rows of them, of whatever kind, as lists."""
    if hasattr(numbers, "tolist"):
        return numbers.tolist()
    if hasattr(numbers, "__iter__") and not isinstance(numbers, str):
        return [_plain(one) for one in numbers]
    return numbers


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
    settings = _check(settings)
    if reason := why_unsolvable(grid, start, goal):
        raise Unsolvable(reason)
    search = search_named(settings.algorithm)
    frame = frame_of(grid, goal)
    from .search.outcome import Limits, Problem

    with compiling():
        heuristic = heuristic_for(frame, settings, notify)
        by_value = heuristic.by_value if settings.order is None else settings.order == "value"
        problem = Problem(grid, frame.blank, frame.enter(start), heuristic, by_value)
        _load(search, problem, heuristic)
    threads = settings.threads or default_threads()
    began = time.perf_counter()
    deadline = None if settings.time_limit is None else time.monotonic() + settings.time_limit
    limits = Limits(deadline, settings.node_limit, settings.memory_limit, interrupt)
    outcome: Outcome = search(
        problem, threads=threads, limits=limits, report=report or (lambda progress: None), every=settings.every
    )
    seconds = time.perf_counter() - began
    try:
        solutions = [_replayed(grid, start, goal, frame.leave(path)) for path in outcome.paths]
    except AssertionError as error:
        raise WrongAnswer(
            f"{settings.algorithm} with {heuristic.name} gave moves that solve nothing ({error}): if a database was "
            "used, see whether it is sound with 'pdb-builder verify'"
        ) from None
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
        lower_bound=outcome.lower_bound,
        expanded=outcome.expanded,
        generated=outcome.generated,
        seconds=seconds,
        iterations=outcome.iterations,
        stored=outcome.stored,
        stopped=outcome.stopped,
        solutions=tuple(solutions) if settings.every and solutions else None,
    )


def _check(settings: Settings) -> Settings:
    """The settings, or an ``InputError`` for those that make no sense."""
    limits = {}
    for name in ("time_limit", "node_limit", "memory_limit"):
        value = getattr(settings, name)
        if value is not None:
            if not (isinstance(value, int | float) and value > 0):
                raise InputError(f"a {name.replace('_', ' ')} of {value!r} makes no sense: give a number above 0")
            limits[name] = value if name == "time_limit" else math.ceil(value)
    threads = settings.threads
    if threads is not None and not (isinstance(threads, int) and 1 <= threads <= MAX_THREADS):
        raise InputError(f"{threads!r} threads cannot be had: take 1 to {MAX_THREADS}")
    for name in ("heuristic", "algorithm"):
        if not isinstance(getattr(settings, name), str | None):
            raise InputError(f"{getattr(settings, name)!r} is not the name of a {name}: give it as text")
    if settings.order not in (None, *ORDERS):
        raise InputError(f"there is no order of moves {settings.order!r}: take {' or '.join(ORDERS)}")
    if settings.algorithm != "ida-star":
        if settings.every:
            raise InputError(f"{settings.algorithm} finds one solution: take ida-star for all of them")
        if settings.order is not None:
            raise InputError(f"{settings.algorithm} has an order of its own: leave out the order, or take ida-star")
    return settings._replace(**limits)


def heuristic_for(frame: Frame, settings: Settings, notify: Callable[[str], None] | None = None) -> Heuristic:
    """The heuristic that was asked for, or the best one there is."""
    folder = settings.folder or default_folder()
    grid, blank = frame.grid, frame.blank
    spec = settings.heuristic
    if spec is None:
        best, unusable = best_database(grid, blank, folder)
        for complaint in unusable if notify else ():
            notify(f"not used: {complaint}")
        spec = f"pdb:{best}" if best else "manhattan" if grid.wrap else "linear-conflict"
        if best is None and notify:
            notify(
                f"no database in {folder} is for {grid} boards with this goal, so {spec} is used: "
                f"{how_to_build(grid, blank, folder)}"
            )
    return prepare(spec, grid, blank, folder)


_loaded: set[tuple[Callable, str]] = set()


def _load(search: Callable, problem, heuristic: Heuristic) -> None:
    """Have the code of a search compiled, or read from the cache, before its time is taken."""
    if (search, heuristic.kind) not in _loaded:
        from .search.outcome import Limits

        grid, blank = problem.grid, problem.blank
        board = list(grid.goal(blank))
        near = grid.neighbours[blank][0]
        board[blank], board[near] = board[near], 0
        easy = problem._replace(start=tuple(board))
        search(easy, threads=1, limits=Limits(memory=10**6), report=lambda progress: None)
        _loaded.add((search, heuristic.kind))
