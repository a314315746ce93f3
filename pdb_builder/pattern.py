"""Patterns, partitions and collections: which tiles share a table, and which tables are added up.

A *pattern* is a set of tiles. Its table gives, for every placement of these tiles and the blank, the
fewest moves *of these tiles* that bring them home and let the blank reach its own home. A
*partition* splits all tiles of a board into disjoint patterns. No move is counted in two tables, so
the sum of their values is still a lower bound.

Larger patterns give better bounds and cost more: adding a tile multiplies the number of states
roughly by the number of cells. Tiles whose homes are close together get in each other's way most,
so good patterns are compact.

Every partition is weak on some boards, where another one is strong. A *collection* is one partition or several, and its
value is the largest of their sums. Partitions share tables: one serves all partitions that contain its pattern. A
symmetry of the board that keeps the blank's home turns a pattern into another with the same distances, its *image*, so
one table serves both: the board is turned, and then looked up. Collections are therefore cheap. The 24 patterns of six
partitions may need no more than 11 tables.

A collection is named (``NAMED``), written by the user (``parse_patterns``, ``parse_collection``), or a single partition
made automatically with patterns as large as a memory budget allows (``automatic_partition``).

Wherever patterns are indexed, built and looked up, a set of cells is one 64-bit word. Boards of more
than 64 cells can be solved but have no patterns: everything that deals in patterns calls
``check_pattern_board`` first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb

from .base.errors import InputError
from .base.numeric import as_integer
from .collections_5x5 import COLLECTIONS
from .encoding import check_encoding
from .grid import Grid

Pattern = tuple[int, ...]
Partition = tuple[Pattern, ...]
Collection = tuple[Partition, ...]
Cells = tuple[int, ...]  # a symmetry of the board: cell -> cell

MAX_PATTERN_CELLS = 64  # a set of cells is one 64-bit word
MAX_TILES = 12  # the number of arrangements grows as k!
MAX_FOOTPRINTS = 2**31  # blocks are numbered in 32 bits
MAX_TABLES = 100  # of a collection: the label of its file lists them
MAX_PARTITIONS = 100
MAX_SUMS = 64  # that a search looks at, each partition with its images: a set of them is one word
MAX_VIEWS = 254  # patterns that they have together: the number of one is a byte


# ---- partitions and collections, written and named ----------------------------------------------


def parse_patterns(text: str) -> Partition:
    """The partition written as ``1,2,5,6/3,4,7,8``. Does not check that it fits a board."""
    patterns = []
    for part in text.split("/"):
        words = part.replace(",", " ").split()
        if not words:
            raise InputError(
                f"the pattern list '{text[:60]}' has an empty pattern: separate patterns by one '/', tiles by ','"
            )
        for word in words:
            if not (word.isascii() and word.isdigit() and len(word) < 10):
                raise InputError(f"'{word}' in the pattern list is not a tile number: write tiles as 1,2,5,6/3,4,7,8")
        patterns.append(tuple(sorted(map(int, words))))
    return tuple(patterns)


def parse_collection(text: str) -> Collection:
    """The collection written as ``1,2,5,6/3,4,7,8;1,2,3,4/5,6,7,8``. Does not check that it fits a board."""
    partitions = text.split(";")
    if not all(part.strip() for part in partitions):
        raise InputError(f"the collection '{text[:60]}' has an empty partition: separate partitions by one ';'")
    return tuple(map(parse_patterns, partitions))


def collection_text(partitions: Collection) -> str:
    """A collection as ``parse_collection`` reads it."""
    return ";".join("/".join(",".join(map(str, tiles)) for tiles in partition) for partition in partitions)


# For the canonical goal with its blank on cell 0. 4x4-7-8 and 5x5-6-6-6-6 are those of Korf and Felner (2002).
# 4x4-5-5-5 and 4x4-6-6-3 have the highest mean values that a local search found by exchanging tiles.
_PARTITIONS = {
    "3x3-8": "1 2 3 4 5 6 7 8",
    "3x3-4-4": "1 2 3 4 / 5 6 7 8",
    "3x4-6-5": "1 2 4 5 6 8 / 3 7 9 10 11",
    "3x4-11": "1 2 3 4 5 6 7 8 9 10 11",
    "4x4-5-5-5": "1 2 4 5 8 / 3 6 7 11 15 / 9 10 12 13 14",
    "4x4-6-6-3": "1 2 4 5 8 9 / 3 6 7 10 11 15 / 12 13 14",
    "4x4-7-8": "1 2 3 4 5 6 7 / 8 9 10 11 12 13 14 15",
    "5x5-6-6-6-6": "1 5 6 10 11 12 / 2 3 4 7 8 9 / 13 14 18 19 23 24 / 15 16 17 20 21 22",
    "5x5-7-7-7-3": "1 2 5 6 7 10 11 / 3 4 8 9 12 13 14 / 15 16 17 18 20 21 22 / 19 23 24",
    "5x5-8-8-8": "1 2 5 6 10 11 15 20 / 3 4 7 8 9 12 13 14 / 16 17 18 19 21 22 23 24",
}
NAMED: dict[str, Collection] = {
    **{name: (parse_patterns(text),) for name, text in _PARTITIONS.items()},
    **{name: tuple(map(parse_patterns, lines)) for name, lines in COLLECTIONS.items()},
}
DEFAULT_NAME = "4x4-7-8"
_PARTITION_OF_SHAPE = {"3x3": "3x3-8", "3x4": "3x4-6-5", "4x4": DEFAULT_NAME, "5x5": "5x5-6-6-6-6"}


def shape_of(name: str) -> str:
    """The board shape that a name begins with."""
    return name.split("-")[0]


def stem_of(name: str) -> str:
    """A name without the blank's home."""
    return re.sub(r"-blank\d+$", "", name)


def blank_of(name: str) -> int:
    """The blank's home in the goal that a named collection is for: the cell that its name ends with, or 0."""
    match = re.search(r"-blank(\d+)$", name)
    return int(match[1]) if match else 0


def named_for(name: str, grid: Grid, blank: int) -> Collection | None:
    """A named collection for the goal with its blank on the given cell, if there is one.

    The tiles of a partition keep their numbers, and their homes move up. A collection was chosen for one home of the
    blank. It is turned to another if a symmetry of the board leads there, and it is of no use elsewhere.
    """
    if name not in COLLECTIONS:
        return NAMED[name]
    for cells in symmetries(grid, blank_of(name), blank):
        return tuple(
            tuple(image(grid, tiles, cells, blank_of(name), blank) for tiles in partition) for partition in NAMED[name]
        )
    return None


def collections_for(grid: Grid, blank: int, encoding: str) -> list[Collection]:
    """The named collections for a goal, the larger and better ones last: they are for plain boards and ``bits``."""
    if grid.wrap or encoding != "bits":
        return []
    named = (named_for(name, grid, blank) for name in COLLECTIONS if shape_of(name) == grid.shape)
    return [collection for collection in named if collection]


def default_collection(grid: Grid, blank: int, encoding: str) -> Collection | None:
    """The default of a goal, if it has one: the first of its collections, or else the partition of its shape."""
    for collection in collections_for(grid, blank, encoding):
        return collection
    name = _PARTITION_OF_SHAPE.get(grid.shape)
    return NAMED[name] if name else None


# ---- symmetries ---------------------------------------------------------------------------------


def symmetries(grid: Grid, home: int, blank: int) -> list[Cells]:
    """The symmetries of a board that map the blank's home to the cell ``blank``, the identity first if it does."""
    return [cells for target, cells in grid.symmetries() if target == grid and cells[home] == blank]


def image(grid: Grid, tiles: Pattern, cells: Cells, home: int, blank: int) -> Pattern:
    """What a symmetry that maps the blank's home to ``blank`` makes of a pattern: the tiles that live on its images."""
    goal = grid.goal(blank)
    return tuple(sorted(goal[cells[grid.home(tile, home)]] for tile in tiles))


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


def check_collection(grid: Grid, partitions: Iterable, blank: int = 0) -> Collection:
    """The collection with every partition checked, or an ``InputError``.

    One partition may be given in place of a collection. A partition that is an image of an earlier one is left out:
    the solver looks boards up through every symmetry, and has its sum without it.
    """
    given = [list(part) for part in partitions]
    if not any(isinstance(item, Iterable) and not isinstance(item, str) for part in given for item in part):
        return (check_partition(grid, given),)
    if len(given) > MAX_PARTITIONS:
        raise InputError(
            f"{len(given)} partitions are too many: a collection has at most {MAX_PARTITIONS}, leave some out"
        )
    turns = symmetries(grid, blank, blank)
    different: dict[frozenset[Pattern], Partition] = {}
    for number, patterns in enumerate(given, start=1):
        try:
            partition = check_partition(grid, patterns)
        except InputError as error:
            raise InputError(f"partition {number}: {error}" if len(given) > 1 else str(error)) from None
        images = (frozenset(image(grid, tiles, cells, blank, blank) for tiles in partition) for cells in turns)
        if not any(turned in different for turned in images):
            different[frozenset(partition)] = partition
    return tuple(different.values())


# ---- the specification of a database ------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """What a database contains: the board, the partitions, the blank's cell in the goal, the encoding.

    The partitions are checked, their patterns are sorted, and images of other partitions are left out. A single
    partition may be given by itself. Encoding None becomes ``bits`` where that is valid.
    """

    grid: Grid
    partitions: Collection
    blank: int = 0
    encoding: str = None  # type: ignore[assignment]  # never None once it is made

    def __post_init__(self) -> None:
        check_pattern_board(self.grid)
        object.__setattr__(self, "blank", self.grid.check_blank(self.blank))
        object.__setattr__(self, "partitions", check_collection(self.grid, self.partitions, self.blank))
        object.__setattr__(self, "encoding", check_encoding(self.grid, self.encoding))
        if len(self.patterns) > MAX_TABLES:
            raise InputError(
                f"the collection needs {len(self.patterns)} tables: a file holds at most {MAX_TABLES}, leave some "
                "partitions out"
            )

    @cached_property
    def _sources(self) -> dict[Pattern, tuple[int, Cells]]:
        """For every pattern of the partitions the number of its table, and the symmetry that leads there.

        A single partition has a table for each of its patterns, even if one is an image of another.
        """
        turns = symmetries(self.grid, self.blank, self.blank)
        if len(self.partitions) == 1:
            del turns[1:]
        sources: dict[Pattern, tuple[int, Cells]] = {}
        tables: dict[Pattern, int] = {}
        for tiles in (tiles for partition in self.partitions for tiles in partition):
            images = ((image(self.grid, tiles, cells, self.blank, self.blank), cells) for cells in turns)
            found = next(((tables[turned], cells) for turned, cells in images if turned in tables), None)
            if found is None:
                found = tables.setdefault(tiles, len(tables)), turns[0]
            sources.setdefault(tiles, found)
        return sources

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns that have tables, in the order in which the partitions first need them: none is an image
        of another, unless there is only one partition."""
        identity = tuple(range(self.grid.cells))
        return tuple(tiles for tiles, (_, cells) in self._sources.items() if cells == identity)

    def source(self, pattern: Pattern) -> tuple[int, Cells]:
        """Where the distances of a partition's pattern are: the number of a table, and the symmetry to turn a board by.

        The symmetry keeps the blank's home, and maps the homes of the pattern to those of the table's tiles.
        """
        return self._sources[pattern]

    @property
    def name(self) -> str:
        """The stem of the file name, different for different collections, goals and encodings.

        What is not named carries a short fingerprint of its tiles.
        """
        parts = [self._stem()]
        if self.grid.wrap:
            parts.append("wrap")
        if self.blank:
            parts.append(f"blank{self.blank}")
        if self.encoding != "bits":
            parts.append(self.encoding)
        return "-".join(parts)

    def _stem(self) -> str:
        """The name as far as the partitions make it."""
        for name in COLLECTIONS:
            if shape_of(name) == self.grid.shape and named_for(name, self.grid, self.blank) == self.partitions:
                return stem_of(name)
        first, *others = self.partitions
        stem = "-".join([self.grid.shape, *(["collection"] if others else [str(len(tiles)) for tiles in first])])
        if NAMED.get(stem) == self.partitions:
            return stem
        text = collection_text(self.partitions)
        return f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


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
