"""Pattern databases: the tables of a partition, read through the symmetries of the board.

A *view* is a table and a symmetry of the board: the board is turned, or mirrored, so that its goal
becomes that of the table, and then looked up. Each symmetry that carries the blank's home to that
of the database makes one *sum*: the values of all tables, added up. On a square board with the
blank's home in a corner there are two, the board itself and its mirror image in the diagonal; with
the home in the middle of an odd square, eight. The value is the largest sum. Symmetries that carry
the partition into itself, or into that of another sum, tell nothing new and are left out.

Each view holds the place of its tiles in the index (see ``pdb_builder.index``): the footprint and the three
digits of the arrangement. A move touches one view of each sum. If the moved tile is the f-th of its
footprint before and the t-th after, a small table tells what becomes of the merge, and which of the
two orders is shuffled and how. The rank of the new footprint comes from two tables, for the lower and
the higher half of the cells; its first block and the number of its map of zones lie side by side in a third.
There are few different maps of zones, so all this fits into the cache of a core. What remains is one access
to the database.

A ``bits`` table says whether the distance rose or fell by one, which the search adds to what it had. A
``bytes`` table gives the distance itself.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid, InputError
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
from pdb_builder.jit import fetch, kernel, lowest, popcount, prefetch, shared
from pdb_builder.pattern import MAX_TILES
from pdb_builder.recipes import merge_moves, order_maps
from pdb_builder.store import Database, Table

from .contract import Board, Heuristic, aim, body_of, fetches, look, note, settle, step

MOST_RANKED = 26  # cells of a board whose footprints are ranked by two tables
ZONES = 16  # zones of a footprint that can be told apart: a number takes four bits

# What is known of a view, a column each of ``facts``.
SIZE, MERGES, ROWS, BITS, MERGE_MOVES, ROW_MAPS, BIT_MAPS, PLACES, MAPS, BASE, STRIDE = range(11)
MAP_WORDS, CELLS, ODD_CELLS, ODD_HOMES, FACTS = 11, 12, 13, 14, 16


class Views(NamedTuple):
    """What the kernels work on. All arrays are flat, whatever the brackets say."""

    bits: int  # 1 for ``bits`` tables, 0 for ``bytes``
    sums: int
    half: int  # how many cells are lower ones; 0 if there are no tables of ranks
    facts: np.ndarray  # [view, fact]
    view_of: np.ndarray  # [tile, sum] -> the view whose pattern holds the tile
    cell_in: np.ndarray  # [view, cell] -> the cell that the view's symmetry makes of it
    members: np.ndarray  # [view, number in the pattern] -> tile
    merge_moves: np.ndarray  # by size, (f, t), merge -> new merge, shuffle of the row, shuffle of the bit
    order_maps: np.ndarray  # by count, shuffle, rank of an order -> its new rank
    low_ranks: np.ndarray  # the part of a footprint's rank that its lower cells make
    high_ranks: np.ndarray  # [number of lower cells, higher cells] -> the other part
    places: np.ndarray  # by size, footprint -> its first block and its map of zones
    maps: np.ndarray  # by size, map -> the zone of each cell, eight to a word
    memory: np.ndarray  # the database
    footprints: np.ndarray  # [view], of the current board
    codes: np.ndarray  # [view] -> merge, row, bit, and distance (in ``bits`` modulo 4)
    totals: np.ndarray  # [sum]
    slots: np.ndarray  # [slot, sum, footprint | code | total]
    place_of: np.ndarray  # scratch: [tile] -> cell
    ordinals: np.ndarray  # scratch


# ---- tables of the index ------------------------------------------------------------------------


@kernel
def _fill_places(size, cells, everywhere, near, places, maps, found):
    """For every footprint the number of its map of zones, each different map listed once.

    Cells of the footprint count to its largest zone: so there are few maps. ``found`` is a hash table
    of them. Returns how many there are, and the most zones of a footprint.
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
    """For each footprint its first block and the number of its map of zones; and the maps."""
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
        raise InputError(f"a pattern of {size} tiles cuts a {grid} board into {most} zones: take smaller patterns")
    return places, maps[:count].copy()


def _merge_moves(size: int) -> np.ndarray:
    """For each (f, t) and merge, packed: the new merge, the shuffle of the row, the shuffle of the bit."""
    leading, trailing = min(size, LEADING), size - min(size, LEADING)
    moves = merge_moves(size)
    row = np.where(moves.leading, trailing * trailing, moves.before * trailing + moves.after)
    bit = np.where(moves.leading, moves.before * leading + moves.after, leading * leading)
    return (moves.target << 16 | row << 8 | bit).astype(np.uint32).ravel()


def _order_maps(count: int) -> np.ndarray:
    """For each shuffle of so many tiles the new rank of every order; the last one changes nothing."""
    orders = factorial(count)
    return np.vstack([order_maps(count).reshape(-1, orders), np.arange(orders)]).astype(np.uint16).ravel()


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
    patterns: tuple[tuple[int, ...], ...]  # for each table the tiles it is of, in the order of its own


def _sums(grid: Grid, blank: int, database: Database, reflection: bool) -> list[_Sum]:
    """The different sums that the symmetries of the board make of a database."""
    goal, goal_there = grid.goal(blank), database.grid.goal(database.spec.blank)
    sums: list[_Sum] = []
    for target, cells in grid.symmetries():
        if target != database.grid or cells[blank] != database.spec.blank:
            continue
        tile_there = [0] * grid.cells
        for cell in range(grid.cells):
            tile_there[goal[cell]] = goal_there[cells[cell]]
        patterns = tuple(tuple(tile_there.index(tile) for tile in table.tiles) for table in database.tables)
        if all({frozenset(p) for p in patterns} != {frozenset(p) for p in other.patterns} for other in sums):
            sums.append(_Sum(cells, tuple(tile_there), patterns))
    return sums if reflection else sums[:1]


def fits(grid: Grid, blank: int, database: Database) -> bool:
    """Whether a symmetry of the board makes the database one for this goal."""
    return any(target == database.grid and cells[blank] == database.spec.blank for target, cells in grid.symmetries())


def prepare(grid: Grid, blank: int, database: Database, reflection: bool = True) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell.

    Without ``reflection`` a single symmetry is used, as if the database knew of no other.
    """
    if not fits(grid, blank, database):
        home = database.spec.blank
        raise InputError(
            f"{database.path} is for {database.grid} boards with the blank's home on cell {home}: build one for a "
            f"{grid} board with 'pdb-builder build {grid.shape}{' --wrap' * grid.wrap} --blank {blank}'"
        )
    sums = _sums(grid, blank, database, reflection)
    tables, there = database.tables, database.grid
    sizes = sorted({len(table.tiles) for table in tables})
    of_size = {len(table.tiles): table for table in tables}

    def joined(arrays: list[np.ndarray]) -> tuple[np.ndarray, dict[int, int]]:
        starts = accumulate((len(array) for array in arrays[:-1]), initial=0)
        return np.concatenate(arrays), dict(zip(sizes, starts, strict=True))

    placed = [_places(there, of_size[size]) for size in sizes]
    places, first_place = joined([of_footprints.ravel() for of_footprints, _ in placed])
    maps, first_map = joined([zone_maps.ravel() for _, zone_maps in placed])
    merges, first_merge = joined([_merge_moves(size) for size in sizes])
    orders, first_order = joined(
        [np.concatenate([_order_maps(max(0, size - LEADING)), _order_maps(min(size, LEADING))]) for size in sizes]
    )
    half, low_ranks, high_ranks = _ranks(grid.cells, sizes[-1])
    unit = 8 if database.spec.encoding == "bits" else 1  # values to a byte

    views = [(table, number) for number in range(len(sums)) for table in tables]
    facts = np.zeros((len(views), FACTS), dtype=np.int64)
    view_of = np.zeros((grid.cells, len(sums)), dtype=np.uint8)
    cell_in = np.zeros((len(views), grid.cells), dtype=np.uint8)
    members = np.zeros((len(views), MAX_TILES), dtype=np.uint8)
    for view, (table, number) in enumerate(views):
        size = len(table.tiles)
        fact = facts[view]
        fact[SIZE], fact[MERGES] = size, comb(size, min(size, LEADING))
        fact[ROWS], fact[BITS] = factorial(max(0, size - LEADING)), factorial(min(size, LEADING))
        fact[MERGE_MOVES], fact[ROW_MAPS] = first_merge[size], first_order[size]
        fact[BIT_MAPS] = first_order[size] + len(_order_maps(max(0, size - LEADING)))
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

    def fresh(slots: int) -> Views:
        working = (len(views), len(views), len(sums), slots * len(sums) * 3, grid.cells, MAX_TILES)
        arrays = (np.zeros(size, dtype=np.int64) for size in working)
        return Views(int(unit == 8), len(sums), half, *known, *arrays)

    def measure(board: Board) -> list[int]:
        turned = np.zeros((len(sums), grid.cells), dtype=np.int64)
        for row, view in zip(turned, sums, strict=True):
            row[list(view.cells)] = [view.tiles[tile] for tile in board]
        return sum(table.distances(turned) for table in tables).tolist()

    alone = reflection or len(_sums(grid, blank, database, True)) == 1
    name = f"pdb:{database.path.stem}" + ("" if alone else " without reflection")
    return Heuristic(name, "pdb", len(sums), fresh, measure, by_value=unit == 8)


# ---- kernels ------------------------------------------------------------------------------------
#
# The fields of the NamedTuple are used where they stand and not given names of their own: a name that
# lives across a branch costs an atomic count each time, and everything here is in the innermost loop.


@shared
def _address(heuristic, view, footprint, arrangement, blank):
    """Where the value of a state is: a bit of the database (``bits``) or a byte of it."""
    fact = view * FACTS
    if heuristic.half != 0:
        low = footprint & ((1 << heuristic.half) - 1)
        high = (popcount(low) << heuristic.half) + (footprint >> heuristic.half)
        rank = np.int64(fetch(heuristic.low_ranks, low)) + np.int64(fetch(heuristic.high_ranks, high))
    else:
        rank = footprint_rank(footprint)
    row = rank
    if heuristic.bits == 1:
        place = fetch(heuristic.facts, fact + PLACES) + 2 * rank
        zones = fetch(heuristic.facts, fact + MAPS)
        zones += np.int64(fetch(heuristic.places, place + 1)) * fetch(heuristic.facts, fact + MAP_WORDS)
        zone = np.int64(fetch(heuristic.maps, zones + (blank >> 3))) >> ((blank & 7) << 2)
        row = np.int64(fetch(heuristic.places, place)) + (zone & 15)
    return fetch(heuristic.facts, fact + BASE) + row * fetch(heuristic.facts, fact + STRIDE) + arrangement


@body_of(fetches, Views)
def _fetches(heuristic):
    return True


@body_of(aim, Views)
def _aim(heuristic, slot, tile, source, target):
    for number in range(heuristic.sums):
        view = np.int64(fetch(heuristic.view_of, np.int64(tile) * heuristic.sums + number))
        fact = view * FACTS
        start = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + source))
        end = np.int64(fetch(heuristic.cell_in, fetch(heuristic.facts, fact + CELLS) + target))
        footprint = fetch(heuristic.footprints, view)
        code = fetch(heuristic.codes, view)
        before = popcount(footprint & ((1 << start) - 1))
        footprint ^= (1 << start) | (1 << end)
        after = popcount(footprint & ((1 << end) - 1))
        move = (before * fetch(heuristic.facts, fact + SIZE) + after) * fetch(heuristic.facts, fact + MERGES) + (
            code >> 32
        )
        become = np.int64(fetch(heuristic.merge_moves, fetch(heuristic.facts, fact + MERGE_MOVES) + move))
        rows, bits = fetch(heuristic.facts, fact + ROWS), fetch(heuristic.facts, fact + BITS)
        row_map = fetch(heuristic.facts, fact + ROW_MAPS) + ((become >> 8) & 0xFF) * rows
        bit_map = fetch(heuristic.facts, fact + BIT_MAPS) + (become & 0xFF) * bits
        merge = become >> 16
        row = np.int64(fetch(heuristic.order_maps, row_map + ((code >> 16) & 0xFFFF)))
        bit = np.int64(fetch(heuristic.order_maps, bit_map + ((code >> 8) & 0xFF)))
        address = _address(heuristic, view, footprint, (merge * rows + row) * bits + bit, start)
        prefetch(heuristic.memory, address >> 3 if heuristic.bits == 1 else address)
        at = (slot * heuristic.sums + number) * 3
        heuristic.slots[at] = footprint
        heuristic.slots[at + 1] = (merge << 32) | (row << 16) | (bit << 8) | (code & 0xFF)
        heuristic.slots[at + 2] = address


@body_of(look, Views)
def _look(heuristic, slot, tile, source, target):
    value = 0
    for number in range(heuristic.sums):
        at = (slot * heuristic.sums + number) * 3
        code = fetch(heuristic.slots, at + 1)
        address = fetch(heuristic.slots, at + 2)
        old = code & 0xFF
        if heuristic.bits == 1:
            # The distance rose if its bit 1 is that of one more than the old one.
            rose = (np.int64(fetch(heuristic.memory, address >> 3)) >> (address & 7)) << 1
            change = 1 - ((rose ^ (old + 1)) & 2)
            new = (old + change) & 3
        else:
            new = np.int64(fetch(heuristic.memory, address))
            change = new - old
        total = fetch(heuristic.totals, number) + change
        heuristic.slots[at + 1] = code + new - old
        heuristic.slots[at + 2] = total
        value = max(value, total)
    return value


@body_of(step, Views)
def _step(heuristic, slot, tile, source, target):
    for number in range(heuristic.sums):
        view = np.int64(heuristic.view_of[np.int64(tile) * heuristic.sums + number])
        at = (slot * heuristic.sums + number) * 3
        footprint, code, total = heuristic.footprints[view], heuristic.codes[view], heuristic.totals[number]
        heuristic.footprints[view] = heuristic.slots[at]
        heuristic.codes[view] = heuristic.slots[at + 1]
        heuristic.totals[number] = heuristic.slots[at + 2]
        heuristic.slots[at] = footprint
        heuristic.slots[at + 1] = code
        heuristic.slots[at + 2] = total


@body_of(settle, Views)
def _settle(heuristic, board, parts, at):
    for cell in range(board.size):
        heuristic.place_of[board[cell]] = cell
    for number in range(heuristic.sums):
        heuristic.totals[number] = parts[at + number]
    for view in range(heuristic.codes.size):
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
        arrangement = (merge * heuristic.facts[fact + ROWS] + row) * heuristic.facts[fact + BITS] + bit
        blank = np.int64(heuristic.cell_in[first + heuristic.place_of[0]])
        address = _address(heuristic, view, footprint, arrangement, blank)
        if heuristic.bits == 1:
            odd = popcount(footprint & heuristic.facts[fact + ODD_CELLS]) + heuristic.facts[fact + ODD_HOMES]
            distance = (((np.int64(heuristic.memory[address >> 3]) >> (address & 7)) & 1) << 1) | (odd & 1)
        else:
            distance = np.int64(heuristic.memory[address])
        heuristic.footprints[view] = footprint
        heuristic.codes[view] = (merge << 32) | (row << 16) | (bit << 8) | distance


@body_of(note, Views)
def _note(heuristic, slot, value, parts, at):
    for number in range(heuristic.sums):
        parts[at + number] = heuristic.slots[(slot * heuristic.sums + number) * 3 + 2]
