"""The distribution of distances: how many boards are at each distance from the goal, and which are the farthest.

A pattern of *all* tiles is the puzzle itself: its only free cell is the blank's, and every move is a move of a pattern
tile. So the search that builds databases counts whole boards unchanged (``pdb_builder.build.count_levels``), with one
bit per board in two maps, three on wrapped boards with an odd side. A block is a cell of the blank, and its bits are
the orders of the tiles. On a bipartite board half of the bits are never set: those orders cannot be reached.

Renaming the tiles turns any goal into the canonical one with the blank on the same cell, and changes no distance. The
farthest boards are the last level that the search found; their tiles get their names back one board at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import factorial
from typing import NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.base.interrupts import compiling
from pdb_builder.base.machine import readable_size
from pdb_builder.base.numeric import as_integer
from pdb_builder.build import count_levels
from pdb_builder.grid import Grid
from pdb_builder.index import arrangement_at, footprint_at
from pdb_builder.memory import build_memory, least_build_memory, require_memory
from pdb_builder.pattern import MAX_TILES

from .board import Board, board_text, grid_of
from .goals import goal_board
from .show.pages import distribution_page

SHOWN = 20  # of the farthest boards, by default


class Distribution(NamedTuple):
    """The boards that lead to a goal, counted by their distance from it."""

    grid: Grid
    goal: Board
    counts: tuple[int, ...]  # counts[d] boards need d moves
    farthest: tuple[Board, ...]  # the boards that need the most moves, or some of them
    seconds: float

    @property
    def boards(self) -> int:
        return sum(self.counts)

    @property
    def maximum(self) -> int:
        """The moves that the farthest boards need."""
        return len(self.counts) - 1

    @property
    def mean(self) -> float:
        return sum(distance * count for distance, count in enumerate(self.counts)) / self.boards

    def __repr__(self) -> str:
        return f"<Distribution of {self.grid}: {self.boards:,} boards, mean {self.mean:.2f}, maximum {self.maximum}>"

    def _repr_html_(self) -> str:
        return distribution_page(self)

    def as_dict(self) -> dict:
        """The distribution for JSON."""
        return {
            "shape": self.grid.shape,
            "wrap": self.grid.wrap,
            "goal": list(self.goal),
            "boards": self.boards,
            "mean": self.mean,
            "maximum": self.maximum,
            "counts": list(self.counts),
            "farthest": [list(board) for board in self.farthest],
            "seconds": self.seconds,
        }


def board_count(grid: Grid) -> int:
    """How many boards lead to a goal."""
    return factorial(grid.cells) // (2 if grid.bipartite else 1)


def distribution(
    shape: str | tuple[int, int] | Grid,
    goal: str | Sequence = "last",
    wrap: bool = False,
    *,
    threads: int | None = None,
    most: int | None = SHOWN,
    progress: Callable[[int], object] = lambda boards: None,
) -> Distribution:
    """How many boards of a shape are at each distance from a goal, and the farthest of them, at most ``most``.

    ``shape`` and ``goal`` are written as for ``solve``, or the shape is a ``Grid``; ``wrap`` joins the edges. With
    ``most`` None, all of the farthest boards are listed. ``progress`` is called after every level with the number of
    boards in it.

    Raises ``InputError`` for invalid arguments, and for boards that are too large.
    """
    started = time.perf_counter()
    grid = grid_of(shape, wrap)
    target = goal_board(grid, board_text(goal))
    blank = target.index(0)
    if most is not None and ((number := as_integer(most)) is None or number < 0):
        raise InputError(f"most must be an integer from 0 on, got {most!r}: leave it out, or give None for all")
    with ExitStack() as until_compiled:
        until_compiled.enter_context(compiling())
        _check_size(grid, threads)
        levels = 0

        def found(boards: int) -> None:
            nonlocal levels
            levels += 1
            if levels == 2:  # the first level after the goal is done, so all code is compiled
                until_compiled.close()
            progress(boards)

        tiles = range(1, grid.cells)
        counts, blocks, arrangements = count_levels(
            grid, tiles, blank=blank, threads=threads, most=most, progress=found
        )
    name = dict(zip(grid.goal(blank), target, strict=True))
    last = zip(blocks.tolist(), arrangements.tolist(), strict=True)
    farthest = sorted(tuple(name[tile] for tile in _board_at(grid, *state)) for state in last)
    return Distribution(grid, target, tuple(counts.tolist()), tuple(farthest), seconds=time.perf_counter() - started)


def _board_at(grid: Grid, block: int, arrangement: int) -> Board:
    """The board that a state of the pattern of all tiles stands for."""
    size = grid.cells - 1
    footprint = int(footprint_at(block, size, grid.cells))  # each footprint has one zone, so it is one block
    cells = [cell for cell in range(grid.cells) if footprint >> cell & 1]
    board = [0] * grid.cells
    for tile, ordinal in enumerate(arrangement_at(arrangement, size), 1):
        board[cells[ordinal]] = tile
    return tuple(board)


def _check_size(grid: Grid, threads: int | None) -> None:
    """Raise ``InputError`` if there are too many boards for the index, or for the memory."""
    size = grid.cells - 1
    task = f"counting the {_readable(board_count(grid))} solvable boards of {grid}"
    if size > MAX_TILES:
        needed = least_build_memory(grid, size, None)
        memory = readable_size(needed) if needed < 10**15 else f"{needed / 10**9:.1e} GB"
        raise InputError(f"{task} needs {memory} of memory: use at most 3x4 or 2x6")
    require_memory(task, build_memory(grid, size, None, threads), "use a smaller shape, or close other programs")


def _readable(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"{count:.1e}"
