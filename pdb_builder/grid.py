"""The board as a graph: cells, neighbours, wrapped edges, and the canonical goal.

A board of ``rows`` x ``cols`` has n cells, numbered 0 ... n-1 row by row. On a wrapped board
opposite edges are joined: the first and the last cell of a row (and of a column) are neighbours,
so the board is a torus. Wrapping a side of 2 changes nothing, because its cells are neighbours
already.

The tiles are numbered 1 ... n-1 and the blank is 0. The *canonical goal* with its blank on a given
cell holds the tiles in order, row by row, around the blank::

    blank on cell 0     blank on cell 8     blank on cell 4
       0 1 2               1 2 3               1 2 3
       3 4 5               4 5 6               4 0 5
       6 7 8               7 8 0               6 7 8

Renaming the tiles turns any other goal into one of these, so databases are only built for
canonical goals.

A plain board is *bipartite*: colour its cells like a chessboard, and every move changes the colour
of a tile's cell. So is a wrapped board whose sides are both even. Wrapping an odd side closes an
odd cycle, and everything that follows from the colouring is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from .base.errors import InputError
from .base.numeric import as_flag, as_integer

MAX_CELLS = 100  # two digits per tile; patterns need smaller boards, see ``pattern.MAX_PATTERN_CELLS``


@dataclass(frozen=True)
class Grid:
    """The cells of a board and which of them are neighbours."""

    rows: int
    cols: int
    wrap: bool = False

    def __post_init__(self) -> None:
        rows, cols = as_integer(self.rows), as_integer(self.cols)
        if rows is None or cols is None:
            raise InputError(f"rows and columns must be integers, got {self.rows!r} and {self.cols!r}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cols", cols)
        object.__setattr__(self, "wrap", as_flag("wrap", self.wrap))
        if self.rows < 2 or self.cols < 2:
            raise InputError(f"a board of {self.rows}x{self.cols} is too small: each side needs at least 2 cells")
        if self.cells > MAX_CELLS:
            raise InputError(
                f"a board of {self.rows}x{self.cols} has {self.cells} cells: at most {MAX_CELLS} are possible"
            )

    @classmethod
    def parse(cls, text: str, wrap: bool = False) -> Grid:
        """The grid of a shape written like ``4x4``."""
        match = re.fullmatch(r"(\d{1,4})[x×](\d{1,4})", text.strip().lower())
        if not match:
            raise InputError(f"'{text}' is not a board shape: write it as ROWSxCOLUMNS, as in 4x4")
        return cls(int(match[1]), int(match[2]), wrap)

    def __str__(self) -> str:
        return self.shape + (" wrapped" if self.wrap else "")

    @property
    def shape(self) -> str:
        return f"{self.rows}x{self.cols}"

    @property
    def a_board(self) -> str:
        """A board of this grid in words, as in ``a 4x4 board`` and ``an 8x8 wrapped board``."""
        return f"{'an' if self.rows in (8, 11, 18) else 'a'} {self} board"

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def all_cells(self) -> int:
        """The set of all cells, as a bit mask."""
        return (1 << self.cells) - 1

    @property
    def bipartite(self) -> bool:
        """Whether every move changes the chessboard colour of a tile's cell."""
        return not self.wrap or (self.rows % 2 == 0 and self.cols % 2 == 0)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each cell its neighbours, in ascending order and without duplicates."""
        return tuple(tuple(sorted(self._around(cell))) for cell in range(self.cells))

    def _around(self, cell: int) -> set[int]:
        row, col = divmod(cell, self.cols)
        around = set()
        for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
            if self.wrap:
                r, c = r % self.rows, c % self.cols
            if 0 <= r < self.rows and 0 <= c < self.cols:
                around.add(r * self.cols + c)
        return around

    @cached_property
    def near(self) -> tuple[int, ...]:
        """For each cell the set of its neighbours, as a bit mask."""
        return tuple(sum(1 << other for other in around) for around in self.neighbours)

    @cached_property
    def odd_cells(self) -> int:
        """The cells of one chessboard colour, the one without cell 0, as a bit mask."""
        return sum(1 << cell for cell in range(self.cells) if sum(divmod(cell, self.cols)) % 2)

    def distance(self, a: int, b: int) -> int:
        """The moves a single tile needs from cell ``a`` to cell ``b`` if nothing is in its way."""
        (row_a, col_a), (row_b, col_b) = divmod(a, self.cols), divmod(b, self.cols)
        down, across = abs(row_a - row_b), abs(col_a - col_b)
        if self.wrap:
            down, across = min(down, self.rows - down), min(across, self.cols - across)
        return down + across

    def check_blank(self, blank: int) -> int:
        """The cell of a goal's blank, or an ``InputError`` if the board has no such cell."""
        cell = as_integer(blank)
        if cell is None or not 0 <= cell < self.cells:
            raise InputError(f"the blank cannot be on cell {blank!r}: {self.a_board} has cells 0 to {self.cells - 1}")
        return cell

    def goal(self, blank: int = 0) -> tuple[int, ...]:
        """The canonical goal, cell -> tile, with the blank on the given cell."""
        self.check_blank(blank)
        tiles = iter(range(1, self.cells))
        return tuple(0 if cell == blank else next(tiles) for cell in range(self.cells))

    def home(self, tile: int, blank: int = 0) -> int:
        """The cell of ``tile`` in the canonical goal."""
        return tile - 1 if tile <= blank else tile

    def symmetries(self) -> list[tuple[Grid, tuple[int, ...]]]:
        """The eight rotations and reflections, each as the grid it leads to and the image of every cell.

        The identity comes first, then the half turn. The last four transpose the board, which
        exchanges its sides.
        """
        maps = []
        for transpose in (False, True):
            target = Grid(self.cols, self.rows, self.wrap) if transpose else self
            for flip_rows, flip_cols in ((False, False), (True, True), (False, True), (True, False)):
                images = []
                for cell in range(self.cells):
                    row, col = divmod(cell, self.cols)
                    row = self.rows - 1 - row if flip_rows else row
                    col = self.cols - 1 - col if flip_cols else col
                    images.append(col * self.rows + row if transpose else row * self.cols + col)
                maps.append((target, tuple(images)))
        return maps

    def draw(self, label: Callable[[int], object]) -> str:
        """The board as text with ``label(cell)`` on every cell and aligned columns."""
        labels = [str(label(cell)) for cell in range(self.cells)]
        width = max(map(len, labels))
        rows = (labels[at : at + self.cols] for at in range(0, self.cells, self.cols))
        return "\n".join(" ".join(text.rjust(width) for text in row) for row in rows)


def exchanges(start: Sequence[int], goal: Sequence[int]) -> int:
    """The fewest exchanges of two numbers, blank included, that turn ``start`` into ``goal``."""
    home = {tile: cell for cell, tile in enumerate(goal)}
    unseen = set(range(len(goal)))
    count = 0
    while unseen:
        first = cell = unseen.pop()
        while (cell := home[start[cell]]) != first:  # a cycle of k cells is k-1 exchanges
            unseen.remove(cell)
            count += 1
    return count
