"""Views: a table of a database, and the way to turn a board before it is looked up there.

A *view* is a table and a symmetry of the board: the board is rotated or reflected so that its goal becomes that of the
table. It gives the distance of one pattern, the tiles that the symmetry maps to those of the table. A *sum* is a
partition seen through a symmetry: views whose patterns contain each tile once, so that their distances can be added up.
Every partition of every database makes a sum for each symmetry that maps the blank's home to that of the database. On a
square board with the home in a corner there are two, the board itself and its reflection in the diagonal; with the home
in the middle of an odd square, eight. Patterns that several sums have in common are one view, however they came about,
and equal sums are one.

``Views`` is what kernels need to know of all this. A kernel keeps the position of each view's tiles in the index (see
``pdb_builder.index``): the footprint and the digits of the arrangement, which are the merge and the *order*, that is,
row and bit in one number. If the moved tile is the f-th of its footprint before and the t-th after, a small table gives
the new merge and how the order is permuted. The rank of the new footprint comes from two tables, for the lower and the
higher half of the cells, its first block from bit planes of how many zones footprints have, and its zones from one of
few different zone maps. All this nearly fits into the cache of a core. What remains is one access to the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.huge_pages import copied
from pdb_builder.base.jit import fetch, inlined, kernel, lowest, popcount, prefetch_byte, put
from pdb_builder.database import Database, Table
from pdb_builder.grid import Grid
from pdb_builder.index import (
    BINOMIAL,
    LEADING,
    footprint_at,
    footprint_rank,
    next_footprint,
    signed_masks,
    zone_around,
)
from pdb_builder.pattern import MAX_SUMS, MAX_TILES, MAX_VIEWS
from pdb_builder.recipes import merge_moves, order_maps

from .contract import MOVES_OF_NODE, body_of, operation

MOST_RANKED = 26  # cells of a board whose footprints are ranked by two tables
ZONES = 16  # zones of a footprint that can be told apart: a number takes four bits
GROUP, GROUP_WORDS = 64, 5  # footprints of a group, and words of its row
FEW_VIEWS = 2  # of a tile: so few are all looked up for every move
NO_VIEW = 255  # beyond ``MAX_VIEWS``

# The columns of ``facts``, what is known of a view.
SIZE, MERGES, ORDERS, MERGE_MOVES, ORDER_MAPS, GROUPS, MAP_OF, MAPS, BASE, STRIDE = range(10)
CELLS, ODD_CELLS, ODD_HOMES, BITS, MEMBER_OF, MAP_WORDS = range(10, 16)
FACTS = 16  # a power of two, so that finding a row is a shift


# ---- tables of the index ------------------------------------------------------------------------


@kernel
def _fill_places(size, cells, everywhere, near, map_of, extra, maps, found):
    """For every footprint the number of its zone map, each different map listed once.

    Cells of the footprint are assigned to its largest zone, so that there are few maps. ``found`` is a hash table of
    them. The number of zones beyond the first goes to ``extra``. Returns how many maps there are.
    """
    words = maps.shape[1]
    count = 0
    footprint = footprint_at(0, size, cells)
    for rank in range(map_of.size):
        free = everywhere & ~footprint
        zones = 0
        largest = 0
        number_of_largest = 0
        while free != 0:
            zone = zone_around(free & -free, free, near)
            free &= ~zone
            if popcount(zone) > largest:
                largest = popcount(zone)
                number_of_largest = zones
            zones += 1
        extra[rank] = zones - 1
        for word in range(words):
            maps[count, word] = number_of_largest * 0x11111111
        free = everywhere & ~footprint
        number = 0
        while free != 0:
            zone = zone_around(free & -free, free, near)
            free &= ~zone
            while number != number_of_largest and zone != 0:
                cell = lowest(zone)
                zone &= zone - 1
                shift = 4 * (cell & 7)
                maps[count, cell >> 3] ^= np.uint32((number ^ number_of_largest) << shift)
            number += 1
        mixed = np.uint64(0)
        for word in range(words):
            mixed = (mixed ^ np.uint64(maps[count, word])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        at = np.int64(mixed & np.uint64(found.size - 1))
        while found[at] != 0:
            same = True
            for word in range(words):
                same = same and maps[found[at] - 1, word] == maps[count, word]
            if same:
                break
            at = (at + 1) & (found.size - 1)
        if found[at] == 0:
            count += 1
            found[at] = count
        map_of[rank] = found[at] - 1
        footprint = next_footprint(footprint)
    return count


def _places(grid: Grid, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of footprints, for each footprint the number of its zone map, and the maps.

    A group is ``GROUP`` footprints, and a row of words: the first block of the first footprint, and bit planes of how
    many zones each of them has beyond one. That takes five bits for a footprint, where its first block would take 32.
    """
    size = len(table.tiles)
    footprints = comb(grid.cells, size)
    groups = -(-footprints // GROUP)
    words = (grid.cells + 7) // 8
    rows = np.zeros((groups, GROUP_WORDS), dtype=np.int64)
    map_of = np.zeros(footprints, dtype=np.uint32 if grid.cells > MOST_RANKED else np.uint16)
    if table.encoding == "bytes":
        return rows, map_of[:1], np.zeros((1, words), dtype=np.uint32)
    numbers = np.zeros(footprints, dtype=np.uint32)
    extra = np.zeros(groups * GROUP, dtype=np.uint8)
    maps = np.zeros((footprints + 1, words), dtype=np.uint32)  # untouched memory costs nothing
    found = np.zeros(1 << (2 * footprints).bit_length(), dtype=np.uint32)
    everywhere = signed_masks([grid.all_cells])[0]
    count = _fill_places(size, grid.cells, everywhere, signed_masks(grid.near), numbers, extra, maps, found)
    most = int(extra.max()) + 1
    if most > ZONES or count - 1 > np.iinfo(map_of.dtype).max:
        raise InputError(
            f"patterns of {size} tiles split {grid.a_board} into up to {most} zones in {count:,} ways, and the solver "
            f"handles {ZONES} in {np.iinfo(map_of.dtype).max + 1:,}: use smaller patterns"
        )
    map_of[:] = numbers
    rows[:, 0] = table.first_block[:-1][::GROUP]
    for plane in range(GROUP_WORDS - 1):
        bits = np.packbits((extra >> plane) & 1, bitorder="little")
        rows[:, 1 + plane] = bits.view("<i8")
    return rows, map_of, maps[:count].copy()


def _merge_moves(size: int) -> np.ndarray:
    """For each (f, t) and merge, packed: the new merge, and the number of the permutation of the order."""
    leading, trailing = min(size, LEADING), size - min(size, LEADING)
    moves = merge_moves(size)
    of_row = moves.before * trailing + moves.after
    of_bit = trailing * trailing + moves.before * leading + moves.after
    return (moves.target << 16 | np.where(moves.leading, of_bit, of_row)).astype(np.uint32).ravel()


def _order_maps(size: int) -> np.ndarray:
    """For each permutation, first those of rows, then those of bits, the new number of every order."""
    rows, bits = order_maps(max(0, size - LEADING)), order_maps(min(size, LEADING))
    row, bit = np.divmod(np.arange(rows.shape[-1] * bits.shape[-1]), bits.shape[-1])
    of_rows = rows.reshape(-1, rows.shape[-1])[:, row] * bits.shape[-1] + bit
    of_bits = row * bits.shape[-1] + bits.reshape(-1, bits.shape[-1])[:, bit]
    return np.vstack([of_rows, of_bits]).astype(np.uint32 if size > 8 else np.uint16).ravel()


@lru_cache(maxsize=4)
def _ranks(cells: int, largest: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Tables that rank footprints of up to ``largest`` tiles half by half."""
    if cells > MOST_RANKED:
        return 0, np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint32)
    half = (cells + 1) // 2
    low, high = np.arange(1 << half), np.arange(1 << (cells - half))
    low_ranks = np.zeros(low.size, dtype=np.uint32)
    high_ranks = np.zeros((largest + 1, low.size), dtype=np.uint32)  # room for as many higher cells as lower ones
    for ranks, words, first, before in [
        (low_ranks, low, 0, 0),
        *((high_ranks[count, : high.size], high, half, count) for count in range(largest + 1)),
    ]:
        seen = np.full(words.size, before)
        for cell in range(cells - half if first else half):
            here = (words >> cell) & 1 == 1
            seen += here
            within = here & (seen <= largest)
            ranks[within] += BINOMIAL[first + cell, seen[within]].astype(np.uint32)
    return half, low_ranks, high_ranks.ravel()


# ---- sums and views -----------------------------------------------------------------------------


class View(NamedTuple):
    """A table as it is read from here."""

    table: Table
    cells: tuple[int, ...]  # cell -> cell in the frame of the table
    tiles: tuple[int, ...]  # the tiles of the table, as they are called here


def turns(grid: Grid, blank: int, database: Database) -> list[tuple[int, ...]]:
    """The symmetries of the board that map the goal to that of the database."""
    return [
        cells for target, cells in grid.symmetries() if target == database.grid and cells[blank] == database.spec.blank
    ]


def views_and_sums(
    grid: Grid, blank: int, databases: Sequence[Database], reflection: bool
) -> tuple[list[View], list[list[int]], int]:
    """The different views of some databases, and the different sums, each as the numbers of its views.

    Without ``reflection`` a single symmetry is used for each database. What exceeds the limits is left out: the last
    number is that of all sums.
    """
    goal = grid.goal(blank)
    views: list[View] = []
    sums: dict[frozenset[int], list[int]] = {}
    all_sums: set[frozenset[int]] = set()
    number_of: dict[frozenset[int], int] = {}
    for database in databases:
        for turn in turns(grid, blank, database)[: None if reflection else 1]:
            for partition in database.spec.partitions:
                together = []
                for pattern in partition:
                    number, onward = database.spec.source(pattern)
                    cells = tuple(onward[cell] for cell in turn)
                    table = database.tables[number]
                    view = View(table, cells, tuple(goal[cells.index(home)] for home in table.homes))
                    at = number_of.setdefault(frozenset(view.tiles), len(views))
                    if at == len(views):
                        views.append(view)
                    together.append(at)
                all_sums.add(frozenset(together))
                if len(sums) < MAX_SUMS and len(views) <= MAX_VIEWS:
                    sums.setdefault(frozenset(together), together)
    used = {number for together in sums.values() for number in together}
    return views[: max(used) + 1], list(sums.values()), len(all_sums)


# ---- what kernels work on -----------------------------------------------------------------------


class Views(NamedTuple):
    """All arrays are flat, whatever the brackets say.

    A *code* is the merge, the order and the distance (in ``bits`` modulo 4), packed. A *place* is the place of a view
    among those whose pattern contains a tile, in the list ``views_of``.
    """

    sums: int
    most: int  # the most views of a tile
    half: int  # how many cells are lower ones, if footprints are ranked by tables
    facts: np.ndarray  # [view, fact]
    views_of: np.ndarray  # [tile, place] -> view, NO_VIEW after the last
    place_in: np.ndarray  # [tile, view] -> the place of the view, NO_VIEW if its pattern does not contain the tile
    place_of: np.ndarray  # [tile, sum] -> the place of the one view of the sum
    cell_in: np.ndarray  # [view, cell] -> the cell that the view's symmetry maps it to
    members: np.ndarray  # [view, number in the pattern] -> tile
    merge_moves: np.ndarray  # by size, (f, t), merge -> new merge and permutation of the order, packed
    order_maps: np.ndarray  # by size, permutation, order -> its new number
    low_ranks: np.ndarray  # the part of a footprint's rank that its lower cells make
    high_ranks: np.ndarray  # [number of lower cells, higher cells] -> the other part
    groups: np.ndarray  # by size, [group of footprints, word] -> their first blocks (see ``_places``)
    map_of: np.ndarray  # by size, footprint -> the number of its zone map
    maps: np.ndarray  # by size, zone map -> the zone of each cell, eight to a word
    states: np.ndarray  # [view, state] of the current board
    noted: np.ndarray  # [slot, place, note]
    totals: np.ndarray  # [sum], of the current board
    totals_after: np.ndarray  # [slot, sum]
    aimed: np.ndarray  # [slot] -> the place to look at first (see ``tight_sums``)
    slack: np.ndarray  # [node, word] -> planes of the slacks, and the set of tight sums
    counted: np.ndarray  # the set of sums that have slacks
    addresses: np.ndarray  # scratch: [view]
    cell_of: np.ndarray  # scratch: [tile] -> cell
    ordinals: np.ndarray  # scratch


# The words of a state: where the tiles of a view are. A note has the same after a move, and the address of its value.
FOOTPRINT, CODE, STATE = range(3)
ADDRESS, NOTE = 2, 3
DIGITS = 7  # of the halved slack of a sum
TIGHT, NODE = DIGITS, 8  # the words of a node: planes of digits, and the set of tight sums


class Bits(Views):
    """Views of ``bits`` tables."""


class ManyBits(Views):
    """Views of ``bits`` tables, so many that a search had better not look at all of them."""


class Bytes(Views):
    """Views of ``bytes`` tables."""


class LargeBits(Views):
    """Views of ``bits`` tables, of boards too large to rank footprints by tables."""


class LargeManyBits(Views):
    """``ManyBits``, of boards too large to rank footprints by tables."""


class LargeBytes(Views):
    """Views of ``bytes`` tables, of boards too large to rank footprints by tables."""


KINDS = (Bits, ManyBits, Bytes, LargeBits, LargeManyBits, LargeBytes)


class Workspaces:
    """Makes what kernels work on, from views and sums of one encoding.

    ``values_of`` are the tables as they lie in memory, if they are there already.
    """

    def __init__(
        self,
        grid: Grid,
        views: list[View],
        sums: list[list[int]],
        huge_pages: bool = False,
        values_of: dict[Table, np.ndarray] | None = None,
    ) -> None:
        self.grid, self.views, self.sums = grid, views, sums
        tables = list(dict.fromkeys(view.table for view in views))
        if values_of is None:
            values = [table.values for table in tables]
            values_of = dict(zip(tables, copied(values) if huge_pages else values, strict=True))
        self.values_of = values_of  # the addresses below are good as long as these exist
        assert len({(table.grid, table.encoding) for table in tables}) == 1, "one index serves all tables of a size"
        there, in_bits = tables[0].grid, tables[0].encoding == "bits"
        of_size = {len(view.tiles): view.table for view in views}
        sizes = sorted(of_size)

        def joined(arrays: list[np.ndarray]) -> tuple[np.ndarray, dict[int, int]]:
            starts = accumulate((len(array) for array in arrays[:-1]), initial=0)
            return np.concatenate(arrays), dict(zip(sizes, starts, strict=True))

        placed = [_places(there, of_size[size]) for size in sizes]
        groups, first_group = joined([rows.ravel() for rows, _, _ in placed])
        map_of, first_number = joined([numbers for _, numbers, _ in placed])
        maps, first_map = joined([zone_maps.ravel() for _, _, zone_maps in placed])
        merges, first_merge = joined([_merge_moves(size) for size in sizes])
        orders, first_order = joined([_order_maps(size) for size in sizes])
        self.half, low_ranks, high_ranks = _ranks(grid.cells, sizes[-1])
        unit = 8 if in_bits else 1  # values to a byte

        facts = np.zeros((len(views), FACTS), dtype=np.int64)
        cell_in = np.zeros((len(views), grid.cells), dtype=np.uint8)
        members = np.zeros((len(views), MAX_TILES), dtype=np.uint8)
        views_of: list[list[int]] = [[] for _ in range(grid.cells)]
        for number, (table, cells, tiles) in enumerate(views):
            size, fact = len(tiles), facts[number]
            fact[SIZE], fact[MERGES] = size, comb(size, min(size, LEADING))
            fact[BITS] = factorial(min(size, LEADING))
            fact[ORDERS] = fact[BITS] * factorial(max(0, size - LEADING))
            fact[MERGE_MOVES], fact[ORDER_MAPS] = first_merge[size], first_order[size]
            fact[GROUPS], fact[MAP_OF] = first_group[size], first_number[size]
            fact[MAPS], fact[MAP_WORDS] = first_map[size], (grid.cells + 7) // 8
            values = values_of[table]
            fact[BASE], fact[STRIDE] = values.ctypes.data * unit, values.shape[1] * unit
            fact[CELLS] = number * grid.cells
            fact[ODD_CELLS] = signed_masks([there.odd_cells])[0]
            fact[ODD_HOMES] = sum(there.odd_cells >> home & 1 for home in table.homes)
            fact[MEMBER_OF] = signed_masks([sum(1 << at for at, together in enumerate(sums) if number in together)])[0]
            members[number, :size] = tiles
            cell_in[number] = cells
            for tile in tiles:
                views_of[tile].append(number)
        self.most = max(map(len, views_of))
        lists = np.full((grid.cells, self.most + 1), NO_VIEW, dtype=np.uint8)
        place_in = np.full((grid.cells, len(views)), NO_VIEW, dtype=np.uint8)
        place_of = np.zeros((grid.cells, len(sums)), dtype=np.uint8)
        for tile, numbers in enumerate(views_of):
            lists[tile, : len(numbers)] = numbers
            place_in[tile, numbers] = range(len(numbers))
            if tile:
                for at, together in enumerate(sums):
                    place_of[tile, at] = next(place for place, number in enumerate(numbers) if number in together)
        known = (facts, lists, place_in, place_of, cell_in, members, merges, orders, low_ranks, high_ranks)
        known += (groups, map_of, maps)
        self.known = [np.asarray(array).reshape(-1) for array in known]
        few, many, of_bytes = (Bits, ManyBits, Bytes) if self.half else (LargeBits, LargeManyBits, LargeBytes)
        self.kind = (many if self.most > FEW_VIEWS else few) if in_bits else of_bytes

    def __call__(self, slots: int) -> Views:
        sums, cells, views = len(self.sums), self.grid.cells, len(self.views)
        nodes = slots // MOVES_OF_NODE + 1
        board = (views * STATE, slots * self.most * NOTE, sums, slots * sums)
        bounded = (slots, nodes * NODE, 1)
        scratch = (views, cells, MAX_TILES)
        arrays = (np.zeros(size, dtype=np.int64) for size in (*board, *bounded, *scratch))
        return self.kind(sums, self.most, self.half, *self.known, *arrays)


# ---- kernels ------------------------------------------------------------------------------------
#
# The fields of the NamedTuple are used in place and not bound to local names: a name that lives across a branch costs
# an atomic reference count each time, and everything here is in the innermost loop.


@operation
def is_bits(heuristic):
    """Whether the tables hold bits: known when a kernel is compiled."""
    return False


@body_of(is_bits, Bits, ManyBits, LargeBits, LargeManyBits)
def _bits(heuristic):
    return True


@operation
def rank_of(heuristic, footprint):
    """The rank of a footprint."""
    return footprint_rank(footprint)


@body_of(rank_of, Bits, ManyBits, Bytes)
def _rank_by_tables(heuristic, footprint):
    low = footprint & ((1 << heuristic.half) - 1)
    high = (popcount(low) << heuristic.half) + (footprint >> heuristic.half)
    return np.int64(fetch(heuristic.low_ranks, low)) + np.int64(fetch(heuristic.high_ranks, high))


@inlined
def address_of(heuristic, fact, footprint, arrangement, blank):
    """Where the value of a state is: the address of a byte, in ``bits`` eight times that plus the number of the bit."""
    row = rank_of(heuristic, footprint)
    if is_bits(heuristic):
        number = np.int64(fetch(heuristic.map_of, fetch(heuristic.facts, fact + MAP_OF) + row))
        zones = fetch(heuristic.facts, fact + MAPS) + number * fetch(heuristic.facts, fact + MAP_WORDS)
        zone = np.int64(fetch(heuristic.maps, zones + (blank >> 3))) >> ((blank & 7) << 2)
        group = fetch(heuristic.facts, fact + GROUPS) + (row >> 6) * GROUP_WORDS
        before = (1 << (row & 63)) - 1
        row = fetch(heuristic.groups, group) + (row & 63) + (zone & 15)
        row += popcount(fetch(heuristic.groups, group + 1) & before)
        row += popcount(fetch(heuristic.groups, group + 2) & before) << 1
        row += popcount(fetch(heuristic.groups, group + 3) & before) << 2
        row += popcount(fetch(heuristic.groups, group + 4) & before) << 3
    return fetch(heuristic.facts, fact + BASE) + row * fetch(heuristic.facts, fact + STRIDE) + arrangement


@inlined
def moved(heuristic, view, footprint, code, source, target):
    """The footprint and code of a view after a move of one of its tiles, and the address of the value.

    The distance in the code remains that of before.
    """
    fact = view * FACTS
    start = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + source))
    end = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + target))
    before = popcount(footprint & ((1 << start) - 1))
    footprint ^= (1 << start) | (1 << end)
    after = popcount(footprint & ((1 << end) - 1))
    move = (before * fetch(heuristic.facts, fact + SIZE) + after) * fetch(heuristic.facts, fact + MERGES)
    move += fetch(heuristic.facts, fact + MERGE_MOVES) + (code >> 32)
    become = np.int64(fetch(heuristic.merge_moves, move))
    orders = fetch(heuristic.facts, fact + ORDERS)
    order = fetch(heuristic.facts, fact + ORDER_MAPS) + (become & 0xFFFF) * orders + ((code >> 8) & 0xFFFFFF)
    order = np.int64(fetch(heuristic.order_maps, order))
    merge = become >> 16
    address = address_of(heuristic, fact, footprint, merge * orders + order, start)
    return footprint, (merge << 32) | (order << 8) | (code & 0xFF), address


@inlined
def request(heuristic, address):
    """Ask memory for a value."""
    prefetch_byte(address >> 3 if is_bits(heuristic) else address)


@inlined
def state_after(heuristic, view, slot, tile):
    """The footprint and code of a view after the move of a tile that is noted in a slot; tile 0 is no move."""
    views = heuristic.states.size // STATE
    place = np.int64(fetch(heuristic.place_in, np.int64(tile) * views + view))
    if place != NO_VIEW:
        at = (slot * heuristic.most + place) * NOTE
        footprint, code = fetch(heuristic.noted, at + FOOTPRINT), fetch(heuristic.noted, at + CODE)
    else:
        footprint = fetch(heuristic.states, view * STATE + FOOTPRINT)
        code = fetch(heuristic.states, view * STATE + CODE)
    return footprint, code


@inlined
def note(heuristic, slot, place, view, footprint, code, source, target):
    """Note the state of a view after a move, and ask memory for its value."""
    footprint, code, address = moved(heuristic, view, footprint, code, source, target)
    request(heuristic, address)
    at = (slot * heuristic.most + place) * NOTE
    put(heuristic.noted, at + FOOTPRINT, footprint)
    put(heuristic.noted, at + CODE, code)
    put(heuristic.noted, at + ADDRESS, address)


@inlined
def exchange(heuristic, slot, tile):
    """Make the states noted in a slot those of the current board, and note the present ones."""
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        view = np.int64(fetch(heuristic.views_of, first + place))
        if view == NO_VIEW:
            break
        state, at = view * STATE, (slot * heuristic.most + place) * NOTE
        footprint, code = fetch(heuristic.states, state + FOOTPRINT), fetch(heuristic.states, state + CODE)
        put(heuristic.states, state + FOOTPRINT, fetch(heuristic.noted, at + FOOTPRINT))
        put(heuristic.states, state + CODE, fetch(heuristic.noted, at + CODE))
        put(heuristic.noted, at + FOOTPRINT, footprint)
        put(heuristic.noted, at + CODE, code)
