"""An open database: its tables, mapped from a file, and the distances they give for boards.

A look-up here is for single boards, or for many at once; the solver, which follows moves from board to board, has
look-ups that cost less (``solver.heuristics.pattern_database``).
"""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from .base.errors import InputError
from .base.lazy import later
from .base.mapped_file import MappedFile
from .grid import Grid
from .index import footprint_rank, signed_masks
from .lookup import arrangement_of, descend, descend_all, footprint_of, read_all, value_mod_4
from .pattern import Cells, Pattern, Spec

_page = later("pdb_builder.database_page", "database_page")
_summary = later("pdb_builder.database_page", "summary")


@dataclass(frozen=True, eq=False)
class Table:
    """The table of one pattern, mapped from a file.

    ``counts[d]`` is the number of entries at distance d. ``values`` has one row per block (``bits``) or footprint
    (``bytes``) and begins at byte ``offset`` of the file.
    """

    grid: Grid
    blank: int
    encoding: str
    tiles: tuple[int, ...]
    counts: np.ndarray
    seconds: float
    threads: int
    sha256: str
    offset: int
    values: np.ndarray
    first_block: np.ndarray | None

    @property
    def entries(self) -> int:
        """The number of entries that have a distance."""
        return int(self.counts.sum())

    @property
    def maximum(self) -> int:
        """The largest distance."""
        return len(self.counts) - 1

    @property
    def mean(self) -> float:
        """The mean distance of the entries."""
        return float(self.counts @ np.arange(len(self.counts)) / self.entries)

    def levels(self) -> Iterator[tuple[int, int]]:
        """The distances that occur, each with its number of entries."""
        return ((distance, count) for distance, count in enumerate(self.counts.tolist()) if count)

    @cached_property
    def homes(self) -> list[int]:
        """The goal cells of the pattern's tiles."""
        return [self.grid.home(tile, self.blank) for tile in self.tiles]

    def __repr__(self) -> str:
        tiles = ",".join(map(str, self.tiles))
        return (
            f"<Table of {tiles} on {self.grid}: {self.entries:,} entries, maximum {self.maximum}, mean {self.mean:.2f}>"
        )

    def distance(self, board: Sequence[int]) -> int:
        """The fewest moves of the pattern's tiles that bring them home, and the blank within reach of its goal cell.

        In ``bytes`` it is the minimum over all cells of the blank. ``board`` lists the tile on each cell, 0 for the
        blank, in the numbering of the canonical goal.
        """
        place = _places(self.grid, board)
        return self.distance_of([place[tile] for tile in self.tiles], place[0])

    def distance_of(self, cells: Sequence[int], blank: int) -> int:
        """``distance`` with the pattern's tiles on ``cells``, in the order of ``tiles``, and the blank on ``blank``."""
        return self._checked(self._distance(list(cells), blank, self.maximum))

    def _distance(self, cells: list[int], blank: int, limit: int) -> int:
        """The distance if it is at most ``limit``, otherwise -1 or a number above it. Changes ``cells``."""
        if self.encoding == "bytes":
            return self._value(cells, blank)
        grid = self.grid
        view = (grid.all_cells, grid.near, grid.odd_cells, self.first_block, self.values)
        return descend(cells, blank, self.homes, self.blank, *view, limit, [0] * len(cells))

    def _value(self, cells: list[int], blank: int) -> int:
        """What the table holds about a state: its distance in ``bytes``, its distance modulo 4 in ``bits``."""
        ordinals, footprint = [0] * len(cells), footprint_of(cells)
        if self.encoding == "bytes":
            return int(self.values[footprint_rank(footprint), arrangement_of(cells, footprint, ordinals)])
        grid = self.grid
        view = (grid.all_cells, grid.near, grid.odd_cells, self.first_block, self.values)
        return value_mod_4(cells, blank, footprint_of(self.homes), *view, ordinals)

    def distances(self, boards: Sequence[Sequence[int]]) -> np.ndarray:
        """``distance`` of many boards at once, compiled."""
        place = _all_places(self.grid, boards)
        return self.distances_of(place[:, list(self.tiles)], place[:, 0].copy())

    def distances_of(self, cells: np.ndarray, blanks: np.ndarray) -> np.ndarray:
        """``distance_of`` for many states at once. Changes ``cells``."""
        results = np.empty(len(cells), dtype=np.int64)
        if self.encoding == "bytes":
            read_all(cells, self.values, results)
        else:
            grid = self.grid
            everywhere, odd_cells = signed_masks([grid.all_cells, grid.odd_cells])
            view = (everywhere, signed_masks(grid.near), odd_cells, self.first_block, self.values)
            descend_all(cells, blanks, np.array(self.homes), self.blank, *view, self.maximum, results)
        for distance in results[(results < 0) | (results > self.maximum)][:1]:
            self._checked(int(distance))
        return results

    def _checked(self, distance: int) -> int:
        """The distance, if a board can have it in this table."""
        if 0 <= distance <= self.maximum:
            return distance
        tiles = ",".join(map(str, self.tiles))
        raise InputError(
            f"no moves bring the tiles {tiles} home from this board: it is unsolvable, or the table is damaged; "
            "check the board, or verify the database"
        )

    def probe(self) -> bool:
        """Whether the table looks like the one of its tiles and goal: a sample, not a proof."""
        grid = self.grid
        if self._value(self.homes, self.blank) != 0:
            return False
        rng = random.Random(self.sha256)
        cells, blank = list(self.homes), self.blank
        moved = 0
        for _ in range(8 * grid.cells):  # a random walk of the blank, which may not be able to leave its zone
            step = rng.choice(grid.neighbours[blank])
            if step in cells:
                cells[cells.index(step)] = blank
                moved += 1
                if moved == 1 and self._value(cells, step) != 1:
                    return False
            blank = step
        return 0 <= self._distance(cells, blank, moved) <= moved


def _places(grid: Grid, board: Sequence[int]) -> dict[int, int]:
    """Tile -> cell, if this is a board of the grid."""
    try:
        place = {operator.index(tile): cell for cell, tile in enumerate(board)}
    except TypeError:
        place = {}
    if len(board) != grid.cells or set(place) != set(range(grid.cells)):
        raise InputError(
            f"{list(board)} is not {grid.a_board}: list the numbers 0 to {grid.cells - 1} once each, 0 for the blank"
        )
    return place


def _all_places(grid: Grid, boards: Sequence[Sequence[int]]) -> np.ndarray:
    """[board, tile] -> cell, if these are boards of the grid."""
    rows = np.asarray(boards)
    if (
        rows.dtype.kind not in "iu"
        or rows.ndim != 2
        or rows.shape[1] != grid.cells
        or (np.sort(rows) != np.arange(grid.cells)).any()
    ):
        raise InputError(f"these are not {grid} boards: each row must contain the numbers 0 to {grid.cells - 1} once")
    return np.argsort(rows, axis=1)


@dataclass(frozen=True, eq=False)
class Database:
    """The tables of a collection: look-ups add up those of each partition, and take the largest sum.

    The tables are views of parts of the mapped file. The seal, which covers their checksums, identifies the contents.
    """

    spec: Spec
    tables: tuple[Table, ...]
    built: Mapping[str, str]  # how it was built: by, at, command, machine
    file: MappedFile
    seal: str

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def memory(self) -> np.ndarray:
        """The whole file, mapped."""
        return self.file.memory

    @property
    def grid(self) -> Grid:
        """The board that it is for."""
        return self.spec.grid

    def __repr__(self) -> str:
        return f"<Database {self.path.name!r}: {_summary(self)}>"

    def _repr_html_(self) -> str:
        return _page(self)

    def distance(self, board: Sequence[int]) -> int:
        """The largest sum over a partition: a lower bound on the moves from ``board`` to the goal."""
        place = _places(self.grid, board)
        value = {}
        for pattern, (table, cells, tiles) in self._views.items():
            value[pattern] = table.distance_of([cells[place[tile]] for tile in tiles], cells[place[0]])
        return max(sum(value[pattern] for pattern in partition) for partition in self.spec.partitions)

    def distances(self, boards: Sequence[Sequence[int]]) -> np.ndarray:
        """``distance`` of many boards at once, compiled."""
        place = _all_places(self.grid, boards)
        value = {}
        for pattern, (table, cells, tiles) in self._views.items():
            turned = np.array(cells)[place]
            value[pattern] = table.distances_of(turned[:, list(tiles)], turned[:, 0].copy())
        sums = [np.sum([value[pattern] for pattern in partition], axis=0) for partition in self.spec.partitions]
        return np.max(sums, axis=0)

    @cached_property
    def _views(self) -> dict[Pattern, tuple[Table, Cells, Pattern]]:
        """For every pattern its table, the symmetry to turn a board by, and the tiles in the order of the table's."""
        views = {}
        for pattern in dict.fromkeys(pattern for partition in self.spec.partitions for pattern in partition):
            number, cells = self.spec.source(pattern)
            tiles = sorted(pattern, key=lambda tile: cells[self.grid.home(tile, self.spec.blank)])
            views[pattern] = self.tables[number], cells, tuple(tiles)
        return views
