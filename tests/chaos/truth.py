"""What is true of a board: searches that share no code with the solver, and published lengths.

The boards of small shapes are all searched, once per run. A larger board is searched from both ends, level by level,
which is quick if it is a few moves from the goal; farther ones are known only if they are published. Whether a board
can be solved follows on small shapes from the same searches, else from parity, counted by inversions.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from threading import Lock
from typing import NamedTuple

from pdb_builder.grid import Grid
from solver.instances import SETS, load_set

from ..oracle import boards_after, canonical, distances_to

Board = tuple[int, ...]

MOST_CELLS = 9  # of a board whose shape is searched as a whole
MOST_BOARDS = 60_000  # seen from one end before a larger board is given up
NAMES = ("last", "first", "spiral")


class Puzzle(NamedTuple):
    """A board and the goal to reach from it."""

    grid: Grid
    board: Board
    goal: Board


# ---- goals --------------------------------------------------------------------------------------


def named_goal(grid: Grid, name: str) -> Board:
    """The goal that the guide calls ``last``, ``first`` or ``spiral``."""
    if name != "spiral":
        return grid.goal(0 if name == "first" else grid.cells - 1)
    goal, (row, col), (down, right) = [0] * grid.cells, (0, 0), (0, 1)
    for tile in range(1, grid.cells):
        goal[row * grid.cols + col] = tile
        ahead = row + down, col + right
        free = 0 <= ahead[0] < grid.rows and 0 <= ahead[1] < grid.cols and not goal[ahead[0] * grid.cols + ahead[1]]
        if not free:
            down, right = right, -down  # a turn to the right
        row, col = row + down, col + right
    return tuple(goal)


# ---- distances ----------------------------------------------------------------------------------

_lock = Lock()


@cache
def _whole_shape(grid: Grid, blank: int) -> dict[Board, int]:
    return distances_to.__wrapped__(grid, grid.goal(blank))  # the cache of the tests is smaller


def whole_shape(grid: Grid, blank: int) -> dict[Board, int]:
    """Every board that leads to the canonical goal, with its distance. Not to be changed."""
    with _lock:  # or two trials would search the same
        return _whole_shape(grid, blank)


@cache
def _published() -> dict[Puzzle, int]:
    lengths = {}
    for name in SETS:
        grid, goal, instances = load_set(name)
        lengths |= {Puzzle(grid, one.board, goal): one.length for one in instances if one.length is not None}
    return lengths


def distance(puzzle: Puzzle) -> int | None:
    """The moves of a shortest solution; None if there is no solution, or the board is too far from the goal to tell."""
    if not solvable(puzzle):
        return None
    grid, board, goal = puzzle
    if grid.cells <= MOST_CELLS:
        start, blank = canonical(grid, board, goal)
        return whole_shape(grid, blank)[start]
    return _published().get(puzzle) or _from_both_ends(puzzle)


def _from_both_ends(puzzle: Puzzle) -> int | None:
    """Breadth-first search from both ends. When two sets of whole levels first meet, they do so on a shortest path."""
    grid, board, goal = puzzle
    if board == goal:
        return 0
    sides = [({board}, [board]), ({goal}, [goal])]  # all boards seen, and those of the last level
    moves = 0
    while True:
        sides.sort(key=lambda side: len(side[1]))
        (seen, level), (other, _) = sides
        following = {after for before in level for after in boards_after(grid, before)} - seen
        moves += 1
        if not following.isdisjoint(other):
            return moves
        if len(seen) > MOST_BOARDS:
            return None
        sides[0] = seen | following, list(following)


def solutions(puzzle: Puzzle) -> int:
    """How many shortest solutions a board of a small shape has."""
    start, blank = canonical(*puzzle)
    distances = whole_shape(puzzle.grid, blank)
    ways = {start: 1}  # the boards of one distance that are on a shortest path, and how many paths lead to each
    for nearer in reversed(range(distances[start])):
        following: dict[Board, int] = {}
        for board, count in ways.items():
            for after in boards_after(puzzle.grid, board):
                if distances[after] == nearer:
                    following[after] = following.get(after, 0) + count
        ways = following
    return sum(ways.values())


# ---- solvability --------------------------------------------------------------------------------


def solvable(puzzle: Puzzle) -> bool:
    """Whether any moves lead from the board to the goal."""
    if puzzle.grid.cells <= MOST_CELLS:
        start, blank = canonical(*puzzle)
        return start in whole_shape(puzzle.grid, blank)
    return parities_agree(puzzle)


def parities_agree(puzzle: Puzzle) -> bool:
    """The rule for every shape: the board's order and the blank's way home are both even or both odd."""
    grid, board, goal = puzzle
    if grid.wrap and (grid.rows % 2 or grid.cols % 2):
        return True
    order = [goal.index(tile) for tile in board]
    inversions = sum(first > second for first, second in combinations(order, 2))
    (row, col), (goal_row, goal_col) = divmod(board.index(0), grid.cols), divmod(goal.index(0), grid.cols)
    return (inversions + row - goal_row + col - goal_col) % 2 == 0
