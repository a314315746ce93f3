"""The board as a graph: cells, neighbours, wrapped edges, and the canonical goal.

A board of ``rows`` x ``cols`` has n cells, numbered 0 ... n-1 row by row. On a wrapped board
the edges are joined: the first and the last cell of a row (and of a column) are neighbours, so
the board is a torus. A wrapped side of 2 joins cells that are neighbours already and changes
nothing.

The tiles are numbered 1 ... n-1 and the blank is 0. The *canonical goal* with its blank on cell
b holds the tiles in order, row by row, around the blank::

    blank on cell 0     blank on cell 8     blank on cell 4
       0 1 2               1 2 3               1 2 3
       3 4 5               4 5 6               4 0 5
       6 7 8               7 8 0               6 7 8

Any other goal is one of these after renaming its tiles, so databases are built for canonical
goals alone.

Everything that follows from the graph being *bipartite* (cells coloured like a chessboard, every
move changing the colour) holds on plain boards and on wrapped ones with two even sides. A wrapped
odd side closes an odd cycle and breaks it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .base.errors import InputError

MAX_CELLS = 100  # two digits for every tile; patterns are of smaller boards still, see ``pattern.MAX_PATTERN_CELLS``


@dataclass(frozen=True)
class Grid:
    """The cells of a board and which of them are neighbours."""

    rows: int
    cols: int
    wrap: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.rows, int) and isinstance(self.cols, int)):
            raise InputError(
                f"a board of {self.rows!r} x {self.cols!r} is none: give whole numbers of rows and columns"
            )
        if self.rows < 2 or self.cols < 2:
            raise InputError(f"a board of {self.rows}x{self.cols} is too small: each side needs at least 2 cells")
        if self.cells > MAX_CELLS:
            raise InputError(
                f"a board of {self.rows}x{self.cols} has {self.cells} cells: at most {MAX_CELLS} are possible"
            )

    @classmethod
    def parse(cls, text: str, wrap: bool = False) -> Grid:
        """The grid of a shape written as ``4x4``."""
        match = re.fullmatch(r"(\d{1,4})[x×](\d{1,4})", text.strip().lower())
        if not match:
            raise InputError(f"'{text}' is not a board shape: write rows x columns, as in 4x4")
        return cls(int(match[1]), int(match[2]), wrap)

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}" + (" wrapped" if self.wrap else "")

    @property
    def shape(self) -> str:
        return f"{self.rows}x{self.cols}"

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def all_cells(self) -> int:
        """The set of all cells, as a bit mask."""
        return (1 << self.cells) - 1

    @property
    def bipartite(self) -> bool:
        return not self.wrap or (self.rows % 2 == 0 and self.cols % 2 == 0)

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """For each cell its neighbours, in ascending order, each named once."""
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
        """The cells of the second chessboard colour, as a bit mask."""
        return sum(1 << cell for cell in range(self.cells) if sum(divmod(cell, self.cols)) % 2)

    def distance(self, a: int, b: int) -> int:
        """How many moves a lone tile needs from cell ``a`` to cell ``b``."""
        (row_a, col_a), (row_b, col_b) = divmod(a, self.cols), divmod(b, self.cols)
        down, across = abs(row_a - row_b), abs(col_a - col_b)
        if self.wrap:
            down, across = min(down, self.rows - down), min(across, self.cols - across)
        return down + across

    def check_blank(self, blank: int) -> int:
        if not 0 <= blank < self.cells:
            raise InputError(
                f"the blank cannot stand on cell {blank}: a {self} board has the cells 0 to {self.cells - 1}"
            )
        return blank

    def goal(self, blank: int = 0) -> tuple[int, ...]:
        """The canonical goal, cell -> tile, with the blank on the given cell."""
        self.check_blank(blank)
        tiles = iter(range(1, self.cells))
        return tuple(0 if cell == blank else next(tiles) for cell in range(self.cells))

    def home(self, tile: int, blank: int = 0) -> int:
        """The cell of ``tile`` in the canonical goal."""
        return tile - 1 if tile <= blank else tile

    def symmetries(self) -> list[tuple[Grid, tuple[int, ...]]]:
        """The eight turns and reflections: for each the grid it leads to and, cell by cell, the cell it becomes.

        The identity comes first, then the half turn. Half of them exchange rows and columns, and with
        them the sides of the board.
        """
        maps = []
        for exchange, turn_rows, turn_cols in ((e, r, c) for e in (0, 1) for r, c in ((0, 0), (1, 1), (0, 1), (1, 0))):
            target = Grid(self.cols, self.rows, self.wrap) if exchange else self
            cells = []
            for cell in range(self.cells):
                row, col = divmod(cell, self.cols)
                row, col = (self.rows - 1 - row if turn_rows else row), (self.cols - 1 - col if turn_cols else col)
                cells.append(col * self.rows + row if exchange else row * self.cols + col)
            maps.append((target, tuple(cells)))
        return maps

    def draw(self, label) -> str:
        """The board as text, ``label(cell)`` on every cell, columns aligned."""
        labels = [str(label(cell)) for cell in range(self.cells)]
        width = max(map(len, labels))
        rows = (labels[at : at + self.cols] for at in range(0, self.cells, self.cols))
        return "\n".join(" ".join(text.rjust(width) for text in row) for row in rows)
