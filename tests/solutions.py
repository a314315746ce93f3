"""Solutions made by hand, and what their colours look like to the eye."""

from pdb_builder.grid import Grid
from solver import Solution, goal_board

FARTHEST_OF_4X4 = "UUULLLDDRRDRULURULLLDDRDRUULDRUULDLDRDLURDRURULLDRRUULLDLDRRDRUUULLLDDRDRURUULLL"
STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}  # from the blank to the tile that fills it, backwards


def solution_of(grid, board, goal, tiles, **others):
    known = dict(solved=True, length=len(tiles), lower_bound=len(tiles), expanded=0, generated=1, seconds=0.0)
    return Solution(grid, board, goal, "ida-star", "manhattan", 0, tiles=tuple(tiles), iterations=[], **known | others)


def walked(shape, choose, moves, wrap=False, goal="last"):
    """The solution that takes back a walk of some moves from the goal: ``choose(number, board, cells)`` is the next."""
    grid = Grid.parse(shape, wrap)
    goal = board = goal_board(grid, goal)
    tiles = []
    for number in range(moves):
        hole, board = board.index(0), list(board)
        cell = choose(number, hole, [cell for cell in grid.neighbours[hole] if board[cell] != (tiles or [0])[-1]])
        tiles.append(board[cell])
        board[hole], board[cell] = board[cell], 0
    return solution_of(grid, tuple(board), goal, tiles[::-1])


def scrambled(shape, moves=12, wrap=False, goal="last"):
    """A solution of some moves, which cross the edges of wrapped boards."""
    return walked(shape, lambda number, hole, cells: cells[number * 7 % 5 % len(cells)], moves, wrap, goal)


def longest():
    """One of the longest shortest solutions of 4x4."""

    def back(number, hole, cells):
        down, across = STEPS[FARTHEST_OF_4X4[-1 - number]]
        return hole + 4 * down + across

    return walked("4x4", back, len(FARTHEST_OF_4X4))


def unsolved():
    grid = Grid(3, 3)
    nothing = dict(solved=False, length=None, lower_bound=9, stopped="nodes")
    return solution_of(grid, (8, 6, 7, 2, 5, 4, 3, 0, 1), goal_board(grid), (), **nothing)


def luminance(colour):
    """The relative luminance of WCAG, from 0 to 1."""
    parts = [part / 255 for part in colour]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted(map(luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)
