"""A solution: the moves, what is proven of them, and what they cost to find.

The moves are kept as the tiles moved, in order, which means the same whatever way the board is turned; letters are for
people. ``replay`` makes the moves of a search on the board that was given: nothing else turns a path into a solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pdb_builder.base.lazy import later
from pdb_builder.grid import Grid

from .board import Board
from .notation import compact, letter_of
from .search import SEARCHES

if TYPE_CHECKING:
    from pdb_builder.drawing import Picture

    from .search.outcome import Incumbent, Iteration
    from .watch import UsedDatabase

_verdict = later("solver.findings", "verdict")
_picture = later("solver.show.film", "draw_solution")
_page = later("solver.show.pages", "solution_page")


@dataclass(frozen=True)
class Solution:
    """What is known of a board after a search.

    ``solved`` is False if a limit stopped the search before it had a solution; ``stopped`` names the limit. No
    solution is shorter than ``lower_bound``, and this one is at most ``suboptimality_bound`` times as long as a
    shortest one. ``generated`` counts the start, ``seconds`` is the search alone.
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
    pruning: int | None = None  # the most moves that the search's automaton has looked back, if it has one to choose
    stored: int | None = None  # boards in memory at the end, if the search keeps them
    stopped: str | None = None  # time, nodes, memory, depth, width, upper-bound, proven, journal or interrupt
    suboptimality_bound: float | None = None  # None without a guarantee
    incumbents: tuple[Incumbent, ...] = ()  # the solutions found on the way to the best one
    direction: str | None = None  # forward, backward or both: how the last bound was searched, if depth first
    rank: str | None = None  # of a beam: learned or classic
    why: str | None = None  # it was searched that way, or boards were ranked that way
    solutions: tuple[tuple[int, ...], ...] | None = field(default=None, repr=False)  # all of them, if asked for
    databases: tuple[UsedDatabase, ...] = ()

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
        if self.suboptimality_bound is not None:
            return f"at most {self.suboptimality_bound:g} × optimal, lower bound {self.lower_bound}"
        ended_early = SEARCHES[self.algorithm].optimal and self.stopped
        return f"{'not proven shortest' if ended_early else 'no guarantee'}, lower bound {self.lower_bound}"

    @property
    def ratio(self) -> float | None:
        """The length divided by the lower bound: no shortest solution can be shorter by a larger factor."""
        if self.length is None:
            return None
        return self.length / self.lower_bound if self.lower_bound else 1.0

    @property
    def moves(self) -> str:
        """The moves as letters: up, down, left, right, of the tiles."""
        return self.letters(self.tiles)

    @property
    def compact_moves(self) -> str:
        """The moves with run lengths, as in ``R2 D L``."""
        return compact(self.moves)

    def letters(self, tiles: Sequence[int], of: str = "tile", in_runs: bool = False) -> str:
        """Moves of the given tiles from the start as letters, of the tiles or of the blank, and with run lengths."""
        letters = "".join(_letters(self.grid, self.board, tiles, of))
        return compact(letters) if in_runs else letters

    def boards(self) -> Iterator[Board]:
        """The boards along the way, start and goal included."""
        return boards_along(self.grid, self.board, self.tiles)

    def svg(self, step: int | None = None, *, speed: float | None = None) -> Picture:
        """The board after ``step`` moves as SVG; without a number, all of them, played.

        ``speed`` is in moves per second, by default 4. Raises ``InputError`` for a number of moves that the solution
        does not have, and for a speed that cannot be followed.
        """
        return _picture(self, step, speed)

    def __repr__(self) -> str:
        return f"<Solution of {self.grid.a_board}: {_verdict(self)}>"

    def _repr_html_(self) -> str:
        return _page(self)

    def as_dict(self, of: str = "tile", in_runs: bool = False) -> dict:
        """Everything, for JSON. The letters are moves of the tile or of the blank, perhaps with run lengths."""
        record = {
            "shape": self.grid.shape,
            "wrap": self.grid.wrap,
            "board": list(self.board),
            "goal": list(self.goal),
            "solved": self.solved,
            "optimal": self.optimal,
            "length": self.length,
            "moves": self.letters(self.tiles, of, in_runs) if self.solved else None,
            "tiles": list(self.tiles) if self.solved else None,
            "algorithm": self.algorithm,
            "heuristic": self.heuristic,
            "h_start": self.h_start,
            "pruning": self.pruning,
            "direction": self.direction,
            "rank": self.rank,
            "why": self.why,
            "expanded": self.expanded,
            "generated": self.generated,
            "stored": self.stored,
            "seconds": self.seconds,
            "lower_bound": self.lower_bound,
            "proof": self.proof,
            "ratio": self.ratio,
            "stopped": self.stopped,
            "databases": [database._asdict() for database in self.databases],
            "iterations": [iteration._asdict() for iteration in self.iterations],
        }
        if self.incumbents:
            record["incumbents"] = [incumbent._asdict() for incumbent in self.incumbents]
        if self.solutions is not None:
            record["solution_count"] = len(self.solutions)
            record["solutions"] = [self.letters(tiles, of, in_runs) for tiles in self.solutions]
        return record


def boards_along(grid: Grid, start: Board, tiles: Sequence[int]) -> Iterator[Board]:
    """The boards along the moves of some tiles, the first and the last included."""
    board = list(start)
    yield start
    for tile in tiles:
        _move(grid, board, tile)
        yield tuple(board)


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
        yield letter_of(grid, target, source) if of == "blank" else letter_of(grid, source, target)


def replay(grid: Grid, start: Board, goal: Board, cells: Sequence[int]) -> tuple[int, ...]:
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
