"""Patterns and partitions: which tiles share a table.

A *pattern* is a set of tiles. Its table gives, for every placement of these tiles and the blank, the
fewest moves *of these tiles* that bring them home and let the blank reach its own home. A
*partition* splits all tiles of a board into disjoint patterns. No move is counted in two tables, so
the sum of their values is still a lower bound.

Larger patterns give better bounds and cost more: adding a tile multiplies the number of states
roughly by the number of cells. Tiles whose homes are close together get in each other's way most,
so good patterns are compact.

A partition is named (``NAMED``), written by the user (``parse_patterns``), or made automatically with
patterns as large as a memory budget allows (``automatic_partition``).

Wherever patterns are indexed, built and looked up, a set of cells is one 64-bit word. Boards of more
than 64 cells can be solved but have no patterns: everything that deals in patterns calls
``check_pattern_board`` first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

from .base.errors import InputError
from .base.numeric import as_integer
from .encoding import check_encoding
from .grid import Grid

Pattern = tuple[int, ...]
Partition = tuple[Pattern, ...]

MAX_PATTERN_CELLS = 64  # a set of cells is one 64-bit word
MAX_TILES = 12  # the number of arrangements grows as k!
MAX_FOOTPRINTS = 2**31  # blocks are numbered in 32 bits


# ---- named partitions ---------------------------------------------------------------------------


def parse_patterns(text: str) -> Partition:
    """The partition written as ``1,2,5,6/3,4,7,8``. Does not check that it fits a board."""
    patterns = []
    for part in text.split("/"):
        words = part.replace(",", " ").split()
        if not words:
            raise InputError(
                f"the pattern list '{text}' has an empty pattern: separate patterns by one '/', tiles by ','"
            )
        for word in words:
            if not (word.isascii() and word.isdigit() and len(word) < 10):
                raise InputError(f"'{word}' in the pattern list is not a tile number: write tiles as 1,2,5,6/3,4,7,8")
        patterns.append(tuple(sorted(map(int, words))))
    return tuple(patterns)


# All for the canonical goal with its blank on cell 0. 4x4-7-8 and 5x5-6-6-6-6 are those of Korf and Felner (2002).
# 4x4-5-5-5 and 4x4-6-6-3 have the highest mean values that a local search found by exchanging tiles.
NAMED: dict[str, Partition] = {
    "3x3-8": parse_patterns("1 2 3 4 5 6 7 8"),
    "3x3-4-4": parse_patterns("1 2 3 4 / 5 6 7 8"),
    "3x4-6-5": parse_patterns("1 2 4 5 6 8 / 3 7 9 10 11"),
    "3x4-11": parse_patterns("1 2 3 4 5 6 7 8 9 10 11"),
    "4x4-5-5-5": parse_patterns("1 2 4 5 8 / 3 6 7 11 15 / 9 10 12 13 14"),
    "4x4-6-6-3": parse_patterns("1 2 4 5 8 9 / 3 6 7 10 11 15 / 12 13 14"),
    "4x4-7-8": parse_patterns("1 2 3 4 5 6 7 / 8 9 10 11 12 13 14 15"),
    "5x5-6-6-6-6": parse_patterns("1 5 6 10 11 12 / 2 3 4 7 8 9 / 13 14 18 19 23 24 / 15 16 17 20 21 22"),
    "5x5-7-7-7-3": parse_patterns("1 2 5 6 7 10 11 / 3 4 8 9 12 13 14 / 15 16 17 18 20 21 22 / 19 23 24"),
}
DEFAULT_NAME = "4x4-7-8"
_DEFAULT_OF_SHAPE = {"3x3": "3x3-8", "3x4": "3x4-6-5", "4x4": DEFAULT_NAME, "5x5": "5x5-6-6-6-6"}


def default_partition(grid: Grid) -> Partition | None:
    """The named partition that is the default for the shape of a grid, if it has one."""
    name = _DEFAULT_OF_SHAPE.get(grid.shape)
    return NAMED[name] if name else None


def shape_of(name: str) -> str:
    """The board shape that the name of a partition begins with."""
    return name.split("-")[0]


# ---- checks -------------------------------------------------------------------------------------


def has_patterns(grid: Grid) -> bool:
    """Whether a board is small enough for patterns, and therefore for databases."""
    return grid.cells <= MAX_PATTERN_CELLS


def check_pattern_board(grid: Grid) -> Grid:
    """The grid, or an ``InputError`` if its board is too large for patterns."""
    if not has_patterns(grid):
        raise InputError(
            f"a board of {grid} has {grid.cells} cells, and pattern databases are for at most {MAX_PATTERN_CELLS}: "
            "use a smaller board, or solve this one with manhattan"
        )
    return grid


def check_pattern(grid: Grid, tiles: Iterable[int], number: int = 1) -> Pattern:
    """The tiles of a pattern in ascending order, or an ``InputError`` that calls it pattern ``number``."""
    check_pattern_board(grid)
    tiles = tuple(sorted(_as_tile(tile, grid) for tile in tiles))
    if not tiles:
        raise InputError(f"pattern {number} is empty: give each pattern at least one tile")
    if len(tiles) > MAX_TILES or comb(grid.cells, len(tiles)) > MAX_FOOTPRINTS:
        most = max(size for size in range(1, MAX_TILES + 1) if comb(grid.cells, size) <= MAX_FOOTPRINTS)
        raise InputError(
            f"pattern {number} has {len(tiles)} tiles and its index would not fit: split it into patterns "
            f"of at most {most} tiles"
        )
    for tile in tiles:
        if tiles.count(tile) > 1:
            raise InputError(f"tile {tile} appears twice in pattern {number}: each tile belongs to exactly one pattern")
    return tiles


def _as_tile(value: object, grid: Grid) -> int:
    tile = as_integer(value)
    if tile is None or not 1 <= tile < grid.cells:
        raise InputError(f"tile {value} is not on {grid.a_board}: its tiles are 1 to {grid.cells - 1}")
    return tile


def check_partition(grid: Grid, patterns: Iterable[Iterable[int]]) -> Partition:
    """The partition with the tiles of every pattern in ascending order, or an ``InputError``."""
    check_pattern_board(grid)
    partition = tuple(check_pattern(grid, tiles, number) for number, tiles in enumerate(patterns, start=1))
    pattern_of: dict[int, int] = {}
    for number, tiles in enumerate(partition, start=1):
        for tile in tiles:
            if tile in pattern_of:
                raise InputError(
                    f"tile {tile} is in patterns {pattern_of[tile]} and {number}: "
                    "each tile belongs to exactly one pattern"
                )
            pattern_of[tile] = number
    missing = [tile for tile in range(1, grid.cells) if tile not in pattern_of]
    if missing:
        listed = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        noun = "tile is" if len(missing) == 1 else "tiles are"
        raise InputError(f"{len(missing)} {noun} in no pattern ({listed}): each tile belongs to exactly one pattern")
    return partition


# ---- the specification of a database ------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """What a database contains: the board, the partition, the blank's cell in the goal, the encoding.

    The partition is checked and its patterns are sorted; encoding None becomes ``bits`` where that is valid.
    """

    grid: Grid
    partition: Partition
    blank: int = 0
    encoding: str = None  # type: ignore[assignment]  # never None once it is made

    def __post_init__(self) -> None:
        object.__setattr__(self, "partition", check_partition(self.grid, self.partition))
        object.__setattr__(self, "encoding", check_encoding(self.grid, self.encoding))
        object.__setattr__(self, "blank", self.grid.check_blank(self.blank))

    @property
    def name(self) -> str:
        """The stem of the file name, different for different partitions, goals and encodings.

        A partition that is not named carries a short fingerprint of its tiles.
        """
        parts = [self.grid.shape, *(str(len(tiles)) for tiles in self.partition)]
        if NAMED.get("-".join(parts)) != self.partition:
            text = "/".join(",".join(map(str, tiles)) for tiles in self.partition)
            parts.append(hashlib.sha256(text.encode()).hexdigest()[:6])
        if self.grid.wrap:
            parts.append("wrap")
        if self.blank:
            parts.append(f"blank{self.blank}")
        if self.encoding != "bits":
            parts.append(self.encoding)
        return "-".join(parts)


# ---- automatic partitions -----------------------------------------------------------------------


def automatic_partition(grid: Grid, blank: int, largest: int) -> Partition:
    """Compact patterns of ``largest`` tiles each; the last one holds the remaining tiles.

    Patterns grow one after another. Each begins with the free tile that has the fewest free
    neighbours and repeatedly adds the free tile nearest to the tiles it already has. Then pairs of
    tiles are exchanged between patterns for as long as that makes the patterns more compact.
    """
    check_pattern_board(grid)
    homes = {tile: grid.home(tile, blank) for tile in range(1, grid.cells)}
    free = set(homes)

    def spread(tile: int, others: Iterable[int]) -> int:
        """How far a tile is from others at home: the sum of the squared distances."""
        return sum(grid.distance(homes[tile], homes[other]) ** 2 for other in others)

    def free_neighbours(tile: int) -> int:
        around = grid.neighbours[homes[tile]]
        return sum(homes[other] in around for other in free)

    groups: list[list[int]] = []
    while free:
        group: list[int] = []
        while free and len(group) < largest:
            tile = min(free, key=lambda t: (spread(t, group), free_neighbours(t), t))
            free.remove(tile)
            group.append(tile)
        groups.append(group)

    def gain(group: list[int], leaving: int, entering: int) -> int:
        """How much more compact a group becomes when one tile replaces another."""
        staying = [tile for tile in group if tile != leaving]
        return spread(leaving, staying) - spread(entering, staying)

    improved = True
    while improved:
        improved = False
        for one in groups:
            for other in groups:
                if one is other:
                    continue
                for i, a in enumerate(one):
                    for j, b in enumerate(other):
                        if gain(one, a, b) + gain(other, b, a) > 0:
                            one[i], other[j] = b, a
                            a, improved = b, True
    return tuple(sorted((tuple(sorted(group)) for group in groups), key=lambda tiles: (-len(tiles), tiles)))
