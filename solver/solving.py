"""Solving a board: check it, turn it into the frame of its goal, search, turn the answer back, replay it.

Nothing a search returns is believed: the moves are made on the board that was given, one by one, and
must end at its goal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from pdb_builder.grid import Grid, InputError
from pdb_builder.machine import MAX_THREADS, default_threads
from pdb_builder.shell import compiling, default_folder

from .board import Board, goal_board, parse_board, why_unsolvable
from .frame import Frame, frame_of
from .heuristics import best_database, how_to_build, prepare
from .search import SEARCHES, check_search, search_named

if TYPE_CHECKING:
    from .heuristics.contract import Heuristic
    from .search.outcome import Improvement, Iteration, Outcome, Problem, Progress

# In which IDA* tries moves: blank up, left, right, down, seen in the frame; or most promising first.
ORDERS = ("fixed", "value")
PROVABLE = 25  # cells of a board that a shortest solution can be proven for, with patience
DEFAULT_WEIGHT, MOST_WEIGHT = 1.5, 1000
MOST = {"width": 100_000_000, "depth": 10_000}
DEFAULT_SECONDS = 10.0  # for a beam that grows until it is told to stop


class Unsolvable(InputError):
    """No moves lead from the board to the goal."""


class WrongAnswer(InputError):
    """The moves a search found did not lead to the goal: a damaged database, or a defect of ours."""


@dataclass(frozen=True)
class Solution:
    """What is known of a board after a search.

    ``solved`` is False if a limit stopped the search before it had a solution; ``stopped`` names the limit. No
    solution is shorter than ``lower_bound``, and this one is at most ``within`` times as long as a shortest one.
    ``generated`` counts the start, ``seconds`` is the search alone.
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
    stopped: str | None = None  # time, nodes, memory, depth, width or interrupt
    within: float | None = None  # None if nothing was promised
    improvements: tuple[Improvement, ...] = ()  # the solutions on the way to the best one
    solutions: tuple[tuple[int, ...], ...] | None = field(default=None, repr=False)  # all, if asked for: tiles moved

    @property
    def optimal(self) -> bool:
        """Whether the solution is proven to be a shortest one."""
        return self.solved and self.length == self.lower_bound

    @property
    def proof(self) -> str | None:
        """What is proven of the length, in words; None if there is no solution."""
        if not self.solved:
            return None
        if self.optimal:
            return "optimal"
        if self.within is not None:
            return f"at most {self.within:g} × optimal, lower bound {self.lower_bound}"
        return f"no guarantee, lower bound {self.lower_bound}"

    @property
    def ratio(self) -> float | None:
        """The length divided by the lower bound: the solution is at most so many times as long as a shortest one."""
        return self.length / self.lower_bound if self.solved and self.lower_bound else 1.0 if self.solved else None

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
            "wrap": self.grid.wrap,
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
            "proof": self.proof,
            "ratio": self.ratio,
            "stopped": self.stopped,
            "iterations": [iteration._asdict() for iteration in self.iterations],
        }
        if self.improvements:
            record["improvements"] = [improvement._asdict() for improvement in self.improvements]
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


# ---- solve --------------------------------------------------------------------------------------


class Settings(NamedTuple):
    """How to solve: the options of ``solve``, checked."""

    heuristic: str | None = None
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


DEFAULTS = Settings()


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


def grid_of(shape: str | tuple[int, int], wrap: bool = False) -> Grid:
    """The grid of a shape, given as text or as rows and columns."""
    if isinstance(shape, str):
        return Grid.parse(shape, wrap)
    try:
        rows, cols = shape
    except (TypeError, ValueError):
        raise InputError(f"{shape!r} is not a board shape: give rows and columns, as in '3x4' or (3, 4)") from None
    return Grid(rows, cols, wrap)


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


def check_settings(settings: Settings) -> Settings:
    """The settings, or an ``InputError`` for those that make no sense."""
    limits = {}
    for name in ("time_limit", "node_limit", "memory_limit"):
        value = getattr(settings, name)
        if value is not None:
            if not (isinstance(value, int | float) and value > 0):
                raise InputError(f"a {name.replace('_', ' ')} of {value!r} makes no sense: give a number above 0")
            whole = name != "time_limit"
            limits[name] = None if value == math.inf else math.ceil(value) if whole else value
    threads = settings.threads
    if threads is not None and not (isinstance(threads, int) and 1 <= threads <= MAX_THREADS):
        raise InputError(f"{threads!r} threads cannot be had: take 1 to {MAX_THREADS}")
    for name in ("heuristic", "algorithm"):
        if not isinstance(getattr(settings, name), str | None):
            raise InputError(f"{getattr(settings, name)!r} is not the name of a {name}: give it as text")
    if settings.order not in (None, *ORDERS):
        raise InputError(f"there is no order of moves {settings.order!r}: take {' or '.join(ORDERS)}")
    search = check_search(settings.algorithm)
    for name, refusal in _OPTIONS.items():
        if getattr(settings, name) not in (None, False) and name not in search.options:
            raise InputError(f"{settings.algorithm} {refusal}")
    if search.blind and settings.heuristic is not None:
        raise InputError(f"{settings.algorithm} looks at no heuristic: leave it out, or take another search")
    if "weight" in search.options:
        weight = DEFAULT_WEIGHT if settings.weight is None else settings.weight
        if not (isinstance(weight, int | float) and 1 <= weight <= MOST_WEIGHT):
            raise InputError(f"a weight of {weight!r} makes no sense: give a number from 1 to {MOST_WEIGHT}")
        limits["weight"] = weight
    for name in ("width", "depth"):
        number = getattr(settings, name)
        if number is not None and not (isinstance(number, int) and 0 < number <= MOST[name]):
            raise InputError(f"a {name} of {number!r} makes no sense: give a whole number from 1 to {MOST[name]:,}")
    if "width" in search.options and not (settings.width or settings.time_limit or settings.node_limit):
        limits["time_limit"] = DEFAULT_SECONDS
    return settings._replace(**limits)


# What is said if a setting is given to a search that has no use for it.
_OPTIONS = {
    "every": "finds one solution: take ida-star for all of them",
    "order": "has an order of its own: leave out the order, or take ida-star",
    "weight": "weighs nothing: leave out the weight, or take weighted-a-star",
    "width": "has no width: leave it out, or take beam",
    "depth": "has no depth limit: leave it out, or take dfs",
}


def default_algorithm(grid: Grid, settings: Settings) -> str:
    """The search to use when none is named: one that proves a shortest solution, if there is hope for that."""
    fits = [name for name in ("weight", "width", "depth") if getattr(settings, name) is not None]
    if fits:
        return next(name for name, search in SEARCHES.items() if fits[0] in search.options)
    return "ida-star" if grid.cells <= PROVABLE or settings.every or settings.order else "beam"


def heuristic_for(frame: Frame, settings: Settings, notify: Callable[[str], None] | None = None) -> Heuristic:
    """The heuristic that was asked for, or the best one there is."""
    folder = settings.folder or default_folder()
    grid, blank = frame.grid, frame.blank
    search = check_search(settings.algorithm or default_algorithm(grid, settings))
    if search.blind:
        from .heuristics.blind import prepare as prepare_blind

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
        folder, spec = settings.folder or default_folder(), settings.heuristic or "pdb"
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
