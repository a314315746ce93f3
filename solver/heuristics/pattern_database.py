"""Pattern databases: the tables of a partition, read through the symmetries of the board.

A *view* is a table and a symmetry of the board: the board is rotated or reflected so that its goal becomes that of the
table, and then looked up. Each symmetry that maps the blank's home to that of the database makes one *sum*: the values
of all tables, added up. On a square board with the blank's home in a corner there are two, the board itself and its
reflection in the diagonal; with the home in the middle of an odd square, eight. The value is the largest sum.
Symmetries that map the partition to itself, or to that of another sum, add nothing and are left out.

Each view holds the position of its tiles in the index (see ``pdb_builder.index``): the footprint and the digits of the
arrangement, which are the merge and the *order*, that is, row and bit in one number. A move touches one view of each
sum. If the moved tile is the f-th of its footprint before and the t-th after, a small table gives the new merge and how
the order is permuted. The rank of the new footprint comes from two tables, for the lower and the higher half of the
cells; its first block and the number of its zone map lie side by side in a third. There are few different zone maps, so
all this fits into the cache of a core. What remains is one access to the database.

A ``bits`` table says whether the distance rose or fell by one, which the search adds to what it had. A ``bytes`` table
gives the distance itself.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import fetch, kernel, lowest, popcount, prefetch_line, put, shared
from pdb_builder.database import Database, Table
from pdb_builder.grid import Grid
from pdb_builder.index import (
    BINOMIAL,
    LEADING,
    arrangement_digits,
    footprint_at,
    footprint_rank,
    next_footprint,
    signed_masks,
    zone_around,
)
from pdb_builder.pattern import MAX_TILES
from pdb_builder.recipes import merge_moves, order_maps

from .contract import (
    Board,
    Heuristic,
    apply,
    body_of,
    evaluate,
    load,
    operation,
    prefetch,
    prefetches,
    restore,
    save,
    write_parts,
)

MOST_RANKED = 26  # cells of a board whose footprints are ranked by two tables
ZONES = 16  # zones of a footprint that can be told apart: a number takes four bits

# The columns of ``facts``, what is known of a view.
SIZE, MERGES, ORDERS, MERGE_MOVES, ORDER_MAPS, PLACES, MAPS, MAP_WORDS, BASE, STRIDE = range(10)
CELLS, ODD_CELLS, ODD_HOMES, BITS = range(10, 14)
FACTS = 16  # a power of two, so that finding a row is a shift
# What is known of the tiles of a view: where they are, as footprint and code, and after a move the sum's total.
FOOTPRINT, CODE, TOTAL, STATE = range(4)
NO_VIEW = 255


class Views(NamedTuple):
    """What the kernels work on. All arrays are flat, whatever the brackets say.

    A *code* is the merge, the order and the distance (in ``bits`` modulo 4), packed. ``states`` holds
    [view, state] for the current board and, from ``slots`` on, [slot, sum, state] for the boards after moves.
    """

    sums: int
    slots: int
    half: int  # how many cells are lower ones, if footprints are ranked by tables
    facts: np.ndarray  # [view, fact]
    view_of: np.ndarray  # [tile, sum] -> the view whose pattern contains the tile
    cell_in: np.ndarray  # [view, cell] -> the cell that the view's symmetry maps it to
    members: np.ndarray  # [view, number in the pattern] -> tile
    merge_moves: np.ndarray  # by size, (f, t), merge -> new merge and permutation of the order, packed
    order_maps: np.ndarray  # by size, permutation, order -> its new number
    low_ranks: np.ndarray  # the part of a footprint's rank that its lower cells make
    high_ranks: np.ndarray  # [number of lower cells, higher cells] -> the other part
    places: np.ndarray  # by size, footprint -> its first block and its zone map
    maps: np.ndarray  # by size, zone map -> the zone of each cell, eight to a word
    memory: np.ndarray  # the database
    states: np.ndarray
    totals: np.ndarray  # [sum], of the current board
    place_of: np.ndarray  # scratch: [tile] -> cell
    ordinals: np.ndarray  # scratch


class Bits(Views):
    """Views of ``bits`` tables."""


class Bytes(Views):
    """Views of ``bytes`` tables."""


class LargeBits(Views):
    """Views of ``bits`` tables, of boards too large to rank footprints by tables."""


class LargeBytes(Views):
    """Views of ``bytes`` tables, of boards too large to rank footprints by tables."""


KINDS = (Bits, Bytes, LargeBits, LargeBytes)


# ---- tables of the index ------------------------------------------------------------------------


@kernel
def _fill_places(size, cells, everywhere, near, places, maps, found):
    """For every footprint the number of its zone map, each different map listed once.

    Cells of the footprint are assigned to its largest zone, so that there are few maps. ``found`` is a hash table of
    them. Returns how many there are, and the most zones of a footprint.
    """
    words = maps.shape[1]
    count = 0
    most = 0
    footprint = footprint_at(0, size, cells)
    for rank in range(places.shape[0]):
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
        most = max(most, zones)
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
        places[rank, 1] = found[at] - 1
        footprint = next_footprint(footprint)
    return count, most


def _places(grid: Grid, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """For each footprint its first block and the number of its zone map; and the maps."""
    size = len(table.tiles)
    footprints = comb(grid.cells, size)
    words = (grid.cells + 7) // 8
    places = np.zeros((footprints, 2), dtype=np.uint32)
    if table.encoding == "bytes":
        return places, np.zeros((1, words), dtype=np.uint32)
    places[:, 0] = table.first_block[:-1]
    maps = np.zeros((footprints + 1, words), dtype=np.uint32)  # untouched memory costs nothing
    found = np.zeros(1 << (2 * footprints).bit_length(), dtype=np.uint32)
    everywhere = signed_masks([grid.all_cells])[0]
    count, most = _fill_places(size, grid.cells, everywhere, signed_masks(grid.near), places, maps, found)
    if most > ZONES:
        raise InputError(
            f"patterns of {size} tiles split {grid.a_board} into up to {most} zones, and the solver handles {ZONES}: "
            "use smaller patterns"
        )
    return places, maps[:count].copy()


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


class _Sum(NamedTuple):
    cells: tuple[int, ...]  # the symmetry: cell -> cell in the frame of the database
    tiles: tuple[int, ...]  # tile -> tile in the frame of the database
    patterns: tuple[tuple[int, ...], ...]  # for each table its tiles, as they are called here


def _turns(grid: Grid, blank: int, database: Database) -> list[tuple[int, ...]]:
    """The symmetries of the board that map the goal to that of the database."""
    return [
        cells for target, cells in grid.symmetries() if target == database.grid and cells[blank] == database.spec.blank
    ]


def _sums(grid: Grid, blank: int, database: Database, reflection: bool) -> list[_Sum]:
    """The different sums of a database under the symmetries of the board."""
    goal, goal_there = grid.goal(blank), database.grid.goal(database.spec.blank)
    sums: list[_Sum] = []
    for cells in _turns(grid, blank, database):
        tile_there = [0] * grid.cells
        for cell in range(grid.cells):
            tile_there[goal[cell]] = goal_there[cells[cell]]
        patterns = tuple(tuple(tile_there.index(tile) for tile in table.tiles) for table in _tables(database))
        if all({frozenset(p) for p in patterns} != {frozenset(p) for p in other.patterns} for other in sums):
            sums.append(_Sum(cells, tuple(tile_there), patterns))
    return sums if reflection else sums[:1]


def _tables(database: Database) -> tuple[Table, ...]:
    """The tables of the first partition, each of which must be for a pattern of its own."""
    numbers = [database.spec.source(tiles)[0] for tiles in database.spec.partitions[0]]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{database.path} has one table for several patterns: use a database of a single partition")
    return tuple(database.tables[number] for number in numbers)


def fits(grid: Grid, blank: int, database: Database) -> bool:
    """Whether a symmetry of the board maps the goal to that of the database."""
    return bool(_turns(grid, blank, database))


def prepare(grid: Grid, blank: int, database: Database, reflection: bool = True) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell, which the database must fit.

    Without ``reflection`` a single symmetry is used.
    """
    sums = _sums(grid, blank, database, reflection)[: max(1, (NO_VIEW - 1) // len(_tables(database)))]
    tables, there = _tables(database), database.grid
    sizes = sorted({len(table.tiles) for table in tables})
    of_size = {len(table.tiles): table for table in tables}

    def joined(arrays: list[np.ndarray]) -> tuple[np.ndarray, dict[int, int]]:
        starts = accumulate((len(array) for array in arrays[:-1]), initial=0)
        return np.concatenate(arrays), dict(zip(sizes, starts, strict=True))

    placed = [_places(there, of_size[size]) for size in sizes]
    places, first_place = joined([of_footprints.ravel() for of_footprints, _ in placed])
    maps, first_map = joined([zone_maps.ravel() for _, zone_maps in placed])
    merges, first_merge = joined([_merge_moves(size) for size in sizes])
    orders, first_order = joined([_order_maps(size) for size in sizes])
    half, low_ranks, high_ranks = _ranks(grid.cells, sizes[-1])
    unit = 8 if database.spec.encoding == "bits" else 1  # values to a byte

    views = [(table, number) for number in range(len(sums)) for table in tables]
    facts = np.zeros((len(views), FACTS), dtype=np.int64)
    view_of = np.full((grid.cells, len(sums)), NO_VIEW, dtype=np.uint8)
    cell_in = np.zeros((len(views), grid.cells), dtype=np.uint8)
    members = np.zeros((len(views), MAX_TILES), dtype=np.uint8)
    for view, (table, number) in enumerate(views):
        size = len(table.tiles)
        fact = facts[view]
        fact[SIZE], fact[MERGES] = size, comb(size, min(size, LEADING))
        fact[BITS] = factorial(min(size, LEADING))
        fact[ORDERS] = fact[BITS] * factorial(max(0, size - LEADING))
        fact[MERGE_MOVES], fact[ORDER_MAPS] = first_merge[size], first_order[size]
        fact[PLACES], fact[MAPS], fact[MAP_WORDS] = first_place[size], first_map[size], (grid.cells + 7) // 8
        fact[BASE], fact[STRIDE] = table.offset * unit, table.values.shape[1] * unit
        fact[CELLS] = view * grid.cells
        fact[ODD_CELLS] = signed_masks([there.odd_cells])[0]
        fact[ODD_HOMES] = sum(there.odd_cells >> home & 1 for home in table.homes)
        tiles = sums[number].patterns[view % len(tables)]
        members[view, :size] = tiles
        view_of[list(tiles), number] = view
        cell_in[view] = sums[number].cells
    known = (facts, view_of, cell_in, members, merges, orders, low_ranks, high_ranks, places, maps, database.memory)
    known = [np.asarray(array).reshape(-1) for array in known]

    large = half == 0
    kind = (LargeBits if large else Bits) if unit == 8 else (LargeBytes if large else Bytes)

    def workspace(slots: int) -> Views:
        working = ((len(views) + slots * len(sums)) * STATE, len(sums), grid.cells, MAX_TILES)
        arrays = (np.zeros(size, dtype=np.int64) for size in working)
        return kind(len(sums), len(views) * STATE, half, *known, *arrays)

    def measure(board: Board) -> list[int]:
        turned = np.zeros((len(sums), grid.cells), dtype=np.int64)
        for row, view in zip(turned, sums, strict=True):
            row[list(view.cells)] = [view.tiles[tile] for tile in board]
        try:
            return sum(table.distances(turned) for table in tables).tolist()
        except InputError:  # the board can be solved, so it has a distance
            raise InputError(
                f"{database.path} is damaged, it has no value for a board that can be solved: "
                "check it with 'pdb-builder verify', and build it again"
            ) from None

    return Heuristic(
        f"{'pdb' if reflection else 'pdb-unreflected'}:{database.path.stem}",
        workspace,
        measure,
        parts=len(sums),
        saved_words=len(sums) + 2 * len(views),
        databases=(database,),
        by_value=unit == 8,
    )


# ---- kernels ------------------------------------------------------------------------------------
#
# The fields of the NamedTuple are used in place and not bound to local names: a name that lives across a branch costs
# an atomic reference count each time, and everything here is in the innermost loop.


@operation
def is_bits(heuristic):
    """Whether the tables hold bits: known when a kernel is compiled."""
    return False


@body_of(is_bits, Bits, LargeBits)
def _bits(heuristic):
    return True


@operation
def rank_of(heuristic, footprint):
    """The rank of a footprint."""
    return footprint_rank(footprint)


@body_of(rank_of, Bits, Bytes)
def _rank_by_tables(heuristic, footprint):
    low = footprint & ((1 << heuristic.half) - 1)
    high = (popcount(low) << heuristic.half) + (footprint >> heuristic.half)
    return np.int64(fetch(heuristic.low_ranks, low)) + np.int64(fetch(heuristic.high_ranks, high))


@shared
def _address(heuristic, fact, footprint, arrangement, blank):
    """Where the value of a state is: the number of a bit of the database (``bits``) or of a byte."""
    row = rank_of(heuristic, footprint)
    if is_bits(heuristic):
        place = fetch(heuristic.facts, fact + PLACES) + 2 * row
        zones = fetch(heuristic.facts, fact + MAPS)
        zones += np.int64(fetch(heuristic.places, place + 1)) * fetch(heuristic.facts, fact + MAP_WORDS)
        zone = np.int64(fetch(heuristic.maps, zones + (blank >> 3))) >> ((blank & 7) << 2)
        row = np.int64(fetch(heuristic.places, place)) + (zone & 15)
    return fetch(heuristic.facts, fact + BASE) + row * fetch(heuristic.facts, fact + STRIDE) + arrangement


@body_of(prefetches, *KINDS)
def _prefetches(heuristic):
    return True


@body_of(prefetch, *KINDS)
def _prefetch(heuristic, slot, tile, source, target, via, via_tile):
    for number in range(heuristic.sums):
        view = np.int64(fetch(heuristic.view_of, np.int64(tile) * heuristic.sums + number))
        via_view = np.int64(fetch(heuristic.view_of, np.int64(via_tile) * heuristic.sums + number))
        fact = view * FACTS
        start = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + source))
        end = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + target))
        via_state = heuristic.slots + (via * heuristic.sums + number) * STATE
        state = via_state if via_view == view else view * STATE
        footprint = fetch(heuristic.states, state + FOOTPRINT)
        code = fetch(heuristic.states, state + CODE)
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
        address = _address(heuristic, fact, footprint, merge * orders + order, start)
        prefetch_line(heuristic.memory, address >> 3 if is_bits(heuristic) else address)
        at = heuristic.slots + (slot * heuristic.sums + number) * STATE
        put(heuristic.states, at + FOOTPRINT, footprint)
        put(heuristic.states, at + CODE, (merge << 32) | (order << 8) | (code & 0xFF))
        put(heuristic.states, at + TOTAL, address)  # until it is evaluated


@body_of(evaluate, *KINDS)
def _evaluate(heuristic, slot, tile, source, target):
    value = 0
    for number in range(heuristic.sums):
        at = heuristic.slots + (slot * heuristic.sums + number) * STATE
        code = fetch(heuristic.states, at + CODE)
        address = fetch(heuristic.states, at + TOTAL)
        old = code & 0xFF
        if is_bits(heuristic):
            # The distance rose if its bit 1 is that of one more than the old one.
            rose = (np.int64(fetch(heuristic.memory, address >> 3)) >> (address & 7)) << 1
            change = 1 - ((rose ^ (old + 1)) & 2)
            new = (old + change) & 3
        else:
            new = np.int64(fetch(heuristic.memory, address))
            change = new - old
        total = fetch(heuristic.totals, number) + change
        put(heuristic.states, at + CODE, code + new - old)
        put(heuristic.states, at + TOTAL, total)
        value = max(value, total)
    return value


@body_of(apply, *KINDS)
def _apply(heuristic, slot, tile, source, target):
    for number in range(heuristic.sums):
        state = np.int64(fetch(heuristic.view_of, np.int64(tile) * heuristic.sums + number)) * STATE
        at = heuristic.slots + (slot * heuristic.sums + number) * STATE
        footprint, code = fetch(heuristic.states, state + FOOTPRINT), fetch(heuristic.states, state + CODE)
        total = fetch(heuristic.totals, number)
        put(heuristic.states, state + FOOTPRINT, fetch(heuristic.states, at + FOOTPRINT))
        put(heuristic.states, state + CODE, fetch(heuristic.states, at + CODE))
        put(heuristic.totals, number, fetch(heuristic.states, at + TOTAL))
        put(heuristic.states, at + FOOTPRINT, footprint)
        put(heuristic.states, at + CODE, code)
        put(heuristic.states, at + TOTAL, total)


@body_of(load, *KINDS)
def _load(heuristic, board, parts, at):
    for cell in range(board.size):
        heuristic.place_of[board[cell]] = cell
    for number in range(heuristic.sums):
        heuristic.totals[number] = parts[at + number]
    for view in range(heuristic.slots // STATE):
        fact = view * FACTS
        first = heuristic.facts[fact + CELLS]
        size = heuristic.facts[fact + SIZE]
        footprint = 0
        for tile in range(size):
            place = heuristic.place_of[heuristic.members[view * MAX_TILES + tile]]
            footprint |= 1 << np.int64(heuristic.cell_in[first + place])
        for tile in range(size):
            place = heuristic.place_of[heuristic.members[view * MAX_TILES + tile]]
            below = (1 << np.int64(heuristic.cell_in[first + place])) - 1
            heuristic.ordinals[tile] = popcount(footprint & below)
        merge, row, bit = arrangement_digits(heuristic.ordinals, size)
        order = row * heuristic.facts[fact + BITS] + bit
        blank = np.int64(heuristic.cell_in[first + heuristic.place_of[0]])
        address = _address(heuristic, fact, footprint, merge * heuristic.facts[fact + ORDERS] + order, blank)
        prefetch_line(heuristic.memory, address >> 3 if is_bits(heuristic) else address)
        heuristic.states[view * STATE + FOOTPRINT] = footprint
        heuristic.states[view * STATE + CODE] = (merge << 32) | (order << 8)
        heuristic.states[view * STATE + TOTAL] = address
    for view in range(heuristic.slots // STATE):  # by now memory has answered
        address = heuristic.states[view * STATE + TOTAL]
        if is_bits(heuristic):
            fact = view * FACTS
            odd = popcount(heuristic.states[view * STATE + FOOTPRINT] & heuristic.facts[fact + ODD_CELLS])
            odd += heuristic.facts[fact + ODD_HOMES]
            distance = (((np.int64(heuristic.memory[address >> 3]) >> (address & 7)) & 1) << 1) | (odd & 1)
        else:
            distance = np.int64(heuristic.memory[address])
        heuristic.states[view * STATE + CODE] |= distance


@body_of(write_parts, *KINDS)
def _write_parts(heuristic, slot, value, parts, at):
    for number in range(heuristic.sums):
        parts[at + number] = heuristic.states[heuristic.slots + (slot * heuristic.sums + number) * STATE + TOTAL]


@body_of(save, *KINDS)
def _save(heuristic, words, at):
    for number in range(heuristic.sums):
        words[at + number] = heuristic.totals[number]
    at += heuristic.sums
    for view in range(heuristic.slots // STATE):
        words[at + 2 * view] = heuristic.states[view * STATE + FOOTPRINT]
        words[at + 2 * view + 1] = heuristic.states[view * STATE + CODE]


@body_of(restore, *KINDS)
def _restore(heuristic, words, at):
    for number in range(heuristic.sums):
        heuristic.totals[number] = words[at + number]
    at += heuristic.sums
    for view in range(heuristic.slots // STATE):
        heuristic.states[view * STATE + FOOTPRINT] = words[at + 2 * view]
        heuristic.states[view * STATE + CODE] = words[at + 2 * view + 1]
