"""Pattern databases: the sums of their partitions, read through the symmetries of the board. The largest one counts.

A move touches the views whose pattern contains the moved tile (see ``views``). Each is looked up once, however many
sums it belongs to. A ``bits`` table says whether the distance rose or fell by one, which the search adds to what it
had; a ``bytes`` table gives the distance itself.

The operations here serve every search. A depth-first search under a bound asks less of ``bits`` tables: see
``tight_sums``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import byte_at, fetch, popcount, put
from pdb_builder.database import Database
from pdb_builder.grid import Grid
from pdb_builder.index import arrangement_digits
from pdb_builder.pattern import MAX_TILES

from . import tight_sums
from .contract import (
    Board,
    Heuristic,
    apply,
    body_of,
    evaluate,
    load,
    prefetch,
    prefetches,
    restore,
    save,
    write_parts,
)
from .views import (
    ADDRESS,
    BITS,
    CELLS,
    CODE,
    FACTS,
    FOOTPRINT,
    KINDS,
    NO_VIEW,
    NOTE,
    ODD_CELLS,
    ODD_HOMES,
    ORDERS,
    SIZE,
    STATE,
    View,
    Workspaces,
    address_of,
    exchange,
    is_bits,
    note,
    request,
    state_after,
    turns,
    views_and_sums,
)


def fits(grid: Grid, blank: int, database: Database) -> bool:
    """Whether a symmetry of the board maps the goal to that of the database."""
    return bool(turns(grid, blank, database))


def prepare(
    grid: Grid, blank: int, *databases: Database, reflection: bool = True, huge_pages: bool = False
) -> Heuristic:
    """The heuristic for the canonical goal with its blank on the given cell, which the databases must fit.

    They must have the same grid and the same encoding. Without ``reflection`` one symmetry is used. With ``huge_pages``
    searches work on a copy of the tables.
    """
    views, sums, all_sums = views_and_sums(grid, blank, databases, reflection)
    names = [f"{'pdb' if reflection else 'pdb-unreflected'}:{database.path.stem}" for database in databases]
    name = f"max:{'+'.join(names)}" if names[1:] else names[0]
    workspaces = Workspaces(grid, views, sums, huge_pages)
    bounded = workspaces.kind in tight_sums.KINDS

    @cache
    def first_part() -> Heuristic:
        first = [views[number] for number in sums[0]]
        alone = Workspaces(grid, first, [list(range(len(first)))], values_of=workspaces.values_of)
        return _of_sums(name, first, alone, databases)

    return replace(
        _of_sums(name, views, workspaces, databases),
        left_out=all_sums - len(sums),
        bounded=bounded,
        first_part=first_part if bounded else None,
    )


def view_distances(views: list[View], board: Board, databases: tuple[Database, ...]) -> list[int]:
    """The distance that each view of some databases gives for a board that can be solved."""
    place = {tile: cell for cell, tile in enumerate(board)}
    distances = []
    for table, cells, tiles in views:
        try:
            here = np.array([[cells[place[tile]] for tile in tiles]]), np.array([cells[place[0]]])
            distances.append(table.distances_of(*here).item())
        except InputError:  # the board can be solved, so it has a distance
            path = next(database.path for database in databases if table in database.tables)
            raise InputError(
                f"{path} is damaged, it has no value for a board that can be solved: "
                "check it with 'pdb-builder verify', and build it again"
            ) from None
    return distances


def _of_sums(name: str, views: list[View], workspaces: Workspaces, databases: tuple[Database, ...]) -> Heuristic:
    """The largest of some sums of views."""
    sums = workspaces.sums

    def measure(board: Board) -> list[int]:
        distances = view_distances(views, board, databases)
        return [sum(distances[number] for number in together) for together in sums]

    in_bits = databases[0].spec.encoding == "bits"
    return Heuristic(
        name,
        workspaces,
        measure,
        parts=len(sums),
        saved_words=len(sums) + STATE * len(views),
        databases=databases,
        consistent=in_bits,
        by_value=in_bits,
    )


# ---- kernels ------------------------------------------------------------------------------------


@body_of(prefetches, *KINDS)
def _prefetches(heuristic):
    return True


@body_of(prefetch, *KINDS)
def _prefetch(heuristic, slot, tile, source, target, via, via_tile):
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        view = np.int64(fetch(heuristic.views_of, first + place))
        if view == NO_VIEW:
            break
        footprint, code = state_after(heuristic, view, via, via_tile)
        note(heuristic, slot, place, view, footprint, code, source, target)


@body_of(evaluate, *KINDS)
def _evaluate(heuristic, slot, tile, source, target):
    first = np.int64(tile) * (heuristic.most + 1)
    for place in range(heuristic.most):
        if fetch(heuristic.views_of, first + place) == NO_VIEW:
            break
        at = (slot * heuristic.most + place) * NOTE
        code = fetch(heuristic.noted, at + CODE)
        address = fetch(heuristic.noted, at + ADDRESS)
        old = code & 0xFF
        if is_bits(heuristic):
            # The distance rose if its bit 1 is that of one more than the old one.
            rose = (byte_at(address >> 3) >> (address & 7)) << 1
            change = 1 - ((rose ^ (old + 1)) & 2)
            new = (old + change) & 3
        else:
            new = byte_at(address)
            change = new - old
        put(heuristic.noted, at + CODE, code + new - old)
        put(heuristic.noted, at + ADDRESS, change)  # no longer needed
    value = 0
    for number in range(heuristic.sums):
        place = np.int64(fetch(heuristic.place_of, np.int64(tile) * heuristic.sums + number))
        change = fetch(heuristic.noted, (slot * heuristic.most + place) * NOTE + ADDRESS)
        total = fetch(heuristic.totals, number) + change
        put(heuristic.totals_after, slot * heuristic.sums + number, total)
        value = max(value, total)
    return value


@body_of(apply, *KINDS)
def _apply(heuristic, slot, tile, source, target):
    exchange(heuristic, slot, tile)
    for number in range(heuristic.sums):
        after = slot * heuristic.sums + number
        total = fetch(heuristic.totals, number)
        put(heuristic.totals, number, fetch(heuristic.totals_after, after))
        put(heuristic.totals_after, after, total)


@body_of(load, *KINDS)
def _load(heuristic, board, parts, at):
    for cell in range(board.size):
        heuristic.cell_of[board[cell]] = cell
    for number in range(heuristic.sums):
        heuristic.totals[number] = parts[at + number]
    views = heuristic.states.size // STATE
    for view in range(views):
        fact = view * FACTS
        first = heuristic.facts[fact + CELLS]
        size = heuristic.facts[fact + SIZE]
        footprint = 0
        for tile in range(size):
            place = heuristic.cell_of[heuristic.members[view * MAX_TILES + tile]]
            footprint |= 1 << np.int64(heuristic.cell_in[first + place])
        for tile in range(size):
            place = heuristic.cell_of[heuristic.members[view * MAX_TILES + tile]]
            below = (1 << np.int64(heuristic.cell_in[first + place])) - 1
            heuristic.ordinals[tile] = popcount(footprint & below)
        merge, row, bit = arrangement_digits(heuristic.ordinals, size)
        order = row * heuristic.facts[fact + BITS] + bit
        blank = np.int64(heuristic.cell_in[first + heuristic.cell_of[0]])
        address = address_of(heuristic, fact, footprint, merge * heuristic.facts[fact + ORDERS] + order, blank)
        request(heuristic, address)
        heuristic.states[view * STATE + FOOTPRINT] = footprint
        heuristic.states[view * STATE + CODE] = (merge << 32) | (order << 8)
        heuristic.addresses[view] = address
    for view in range(views):  # by now memory has answered
        address = heuristic.addresses[view]
        if is_bits(heuristic):
            fact = view * FACTS
            odd = popcount(heuristic.states[view * STATE + FOOTPRINT] & heuristic.facts[fact + ODD_CELLS])
            odd += heuristic.facts[fact + ODD_HOMES]
            distance = (((byte_at(address >> 3) >> (address & 7)) & 1) << 1) | (odd & 1)
        else:
            distance = byte_at(address)
        heuristic.states[view * STATE + CODE] |= distance


@body_of(write_parts, *KINDS)
def _write_parts(heuristic, slot, value, parts, at):
    for number in range(heuristic.sums):
        parts[at + number] = heuristic.totals_after[slot * heuristic.sums + number]


@body_of(save, *KINDS)
def _save(heuristic, words, at):
    for number in range(heuristic.sums):
        put(words, at + number, fetch(heuristic.totals, number))
    for word in range(heuristic.states.size):
        put(words, at + heuristic.sums + word, fetch(heuristic.states, word))


@body_of(restore, *KINDS)
def _restore(heuristic, words, at):
    for number in range(heuristic.sums):
        put(heuristic.totals, number, fetch(words, at + number))
    for word in range(heuristic.states.size):
        put(heuristic.states, word, fetch(words, at + heuristic.sums + word))
