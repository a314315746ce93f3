"""A search of its own for each of some states of a pattern: the verifier's sample of a table too large to search whole.

The states of eight tiles on 5×5 are so many that a second search of all of them takes hours. The distance of a single
state takes milliseconds, or seconds if its tiles are much in each other's way, with a good estimate: the pattern is
split in two, most of its tiles and the few others, and the distances of the two parts, of which there are not too many
to search them whole, are added up. No move is counted twice, so the sum is a lower bound, and the largest sum of a few
such splits is a better one. The parts are searched by ``independent_search``, so nothing here has seen the level loop
or a table.

The search is IDA*. The moves of a pattern can be made in countless orders, since most of them do not get in each
other's way, so it must notice the states that it has met: a hash table keeps each with the fewest moves that led to it,
as long as there is room. What it forgets is searched again, and costs time only. States in the table are told apart by
their key, never by a hash.

With two or three free cells the sum is a poor estimate, and one state may take minutes. So an interrupted sample tells
the searches that are under way to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np

from .base.errors import InputError
from .base.jit import kernel
from .base.numeric import as_integer
from .base.wording import counted
from .base.workers import Workers
from .database import Table
from .grid import Grid
from .independent_index import (
    arrangement_keys,
    arrangement_number,
    first_blocks,
    graph_of,
    label_zones,
    list_footprints,
    neighbour_table,
)
from .independent_search import FAR, distances_of

MOST_STATES = 10_000_000  # of a sample
LARGEST_PART = 6  # tiles: 181 million distances on 5×5
SPLITS = 3
REMEMBERED = 1 << 20  # states that a thread has room for
ROOM = 3 * 8 * REMEMBERED  # bytes
PROBES = 8  # places to look for one of them
AT_A_TIME = 4  # states that a thread searches for before it reports them
NEVER = np.iinfo(np.int64).max
UNLISTED = -1


class Part(NamedTuple):
    """Some tiles of a pattern, and the distance of each of their states."""

    members: np.ndarray  # which tiles of the pattern
    footprints: np.ndarray
    first_block: np.ndarray
    keys: tuple[np.ndarray, np.ndarray, np.ndarray]
    distances: np.ndarray


class Sample(NamedTuple):
    """States drawn at random, uniformly: the cells of the tiles, and a cell of the blank's zone."""

    cells: np.ndarray
    blanks: np.ndarray


def splits_of(size: int) -> list[list[list[int]]]:
    """A few ways to split a pattern of ``size`` tiles in two parts, or one part if there is one tile."""
    if size == 1:
        return [[[0]]]
    few = max(min(2, size - 1), size - LARGEST_PART)
    first = sorted({(size - few) * number // max(1, SPLITS - 1) for number in range(SPLITS)})
    return [
        [[tile for tile in range(size) if not low <= tile < low + few], list(range(low, low + few))] for low in first
    ]


def check_sample(count: int, tables: Iterable[Table]) -> None:
    """Raise ``InputError`` unless ``count`` states of each table can be drawn and searched for.

    If a pattern leaves one cell free, or two, half of the states have no distance, and searching for one never ends.
    """
    number = as_integer(count)
    if number is None or not 1 <= number <= MOST_STATES:
        raise InputError(f"`sample` must be between 1 and {MOST_STATES:,}, got {count!r}")
    for table in tables:
        size, grid = len(table.tiles), table.grid
        if grid.cells - size < 3 or _key_bits(grid) * (size + 1) > 63:
            raise InputError(
                f"entries of {counted(size, 'tile')} on {grid.a_board} cannot be searched for one by one: leave out "
                "`sample`"
            )


def draw_sample(grid: Grid, size: int, count: int, seed: int) -> Sample:
    """Draw states of a pattern of ``size`` tiles."""
    drawing = np.random.default_rng(Random(seed).getrandbits(64))  # numpy takes no seeds below 0
    footprints, neighbours = list_footprints(grid.cells, size), neighbour_table(grid)
    first_block = first_blocks(grid, footprints)
    labels = np.empty(grid.cells, dtype=np.int64)
    sample = Sample(np.empty((count, size), dtype=np.int64), np.empty(count, dtype=np.int64))
    for number, block in enumerate(drawing.integers(first_block[-1], size=count).tolist()):
        place = int(np.searchsorted(first_block, block, side="right")) - 1
        label_zones(footprints[place], neighbours, labels)
        sample.cells[number] = drawing.permutation(np.flatnonzero(labels < 0))
        sample.blanks[number] = np.flatnonzero(labels == block - first_block[place])[0]
    return sample


def distances_of_sample(
    grid: Grid,
    tiles: Sequence[int],
    blank: int,
    sample: Sample,
    any_zone: bool,
    workers: Workers,
    progress: Callable[[str, int], object],
    remembered: int = REMEMBERED,
) -> np.ndarray:
    """The distance of each state of the sample, for the goal with its blank on the given cell.

    It is NEVER for a state that has none, and for one that is further away than a byte can hold. With ``any_zone`` the
    blank may begin in any zone, and the least distance counts, as in ``bytes``. ``progress`` is called with what is
    searched, and the number of states found since: first the parts, then the sample. A thread has room for
    ``remembered`` states, a power of two.
    """
    splits = splits_of(len(tiles))
    parts = [
        _part(grid, tiles, blank, members, workers, partial(progress, "parts")) for split in splits for members in split
    ]
    parts += parts[-1:] * (2 * SPLITS - len(parts))  # as many for every pattern, so that kernels are compiled once
    view = (neighbour_table(grid), _key_bits(grid), tuple(parts), np.cumsum([0, *map(len, splits)]))
    homes = np.array([grid.home(tile, blank) for tile in tiles])
    found = np.empty(len(sample.blanks), dtype=np.int64)
    stop = np.zeros(1, dtype=np.uint8)
    for low in range(0, len(found), AT_A_TIME * workers.threads):
        high = min(len(found), low + AT_A_TIME * workers.threads)
        ranges = [(at, min(at + AT_A_TIME, high)) for at in range(low, high, AT_A_TIME)]
        try:
            workers.over(ranges, _search_for_states, view, homes, blank, any_zone, remembered, stop, *sample, found)
        except BaseException:  # Ctrl-C, for example
            stop[0] = 1
            raise
        progress("sample", high - low)
    return found


def _key_bits(grid: Grid) -> int:
    """The bits that a cell takes in the key of a state."""
    return (grid.cells - 1).bit_length()


def _part(
    grid: Grid,
    tiles: Sequence[int],
    blank: int,
    members: Sequence[int],
    workers: Workers,
    progress: Callable[[int], object],
) -> Part:
    chosen = [tiles[member] for member in members]
    graph = graph_of(grid, chosen, blank, workers)
    distances, _ = distances_of(graph, workers, progress)
    footprints = graph.footprints.view(np.uint64)
    return Part(np.array(members), footprints, graph.first_block, arrangement_keys(len(members)), distances)


# ---- kernels ------------------------------------------------------------------------------------


@kernel
def _estimate(cells, blank, neighbours, parts, starts, labels):
    """A lower bound on the distance of a state: the largest sum of the distances of a split."""
    best = 0
    for split in range(starts.size - 1):
        total = 0
        for number in range(starts[split], starts[split + 1]):
            part = parts[number]
            size = part.members.size
            ordinals = np.zeros(size, dtype=np.int64)
            footprint = 0
            for one in range(size):
                footprint |= 1 << cells[part.members[one]]
                for other in range(size):
                    ordinals[one] += cells[part.members[other]] < cells[part.members[one]]
            place = np.searchsorted(part.footprints, np.uint64(footprint))
            label_zones(footprint, neighbours, labels)
            block = part.first_block[place] + labels[blank]
            total += part.distances[block, arrangement_number(ordinals, *part.keys)]
        best = max(best, total)
    return best


@kernel
def _key(cells, blank, neighbours, bits, labels):
    """A number that no other state has; leaves the zones of the state in ``labels``."""
    footprint = 0
    key = 0
    for cell in cells:
        footprint |= 1 << cell
        key = (key << bits) | cell
    label_zones(footprint, neighbours, labels)
    lowest = 0
    while labels[lowest] != labels[blank]:
        lowest += 1
    return (key << bits) | lowest


@kernel
def _is_new(key, moves, search, met):
    """Whether a state was not yet met with so few moves in this search. It is kept, in place of another if need be."""
    keys, fewest, searches = met
    first = ((int(key) * 0x9E3779B97F4A7C15) >> 20) & (keys.size - 1)  # of any size in plain Python
    place = first
    for probe in range(PROBES):
        at = (first + probe) & (keys.size - 1)
        if searches[at] != search:
            place = at
            break
        if keys[at] == key:
            if fewest[at] <= moves:
                return False
            place = at
            break
    keys[place], fewest[place], searches[place] = key, moves, search
    return True


@kernel
def _list_children(cells, blank, child, bound, moves, view, labels, others, children):
    """List the moves to states that are within the bound, the best last, each as (sum, tile, cell).

    ``moves`` is how many lead to the children, ``labels`` are the zones of the state, ``child`` is room for one.
    Returns the number of moves listed, and the least sum beyond the bound.
    """
    neighbours, _, parts, starts = view
    count = 0
    beyond = NEVER
    child[:] = cells
    for tile in range(cells.size):
        for target in neighbours[cells[tile]]:
            if target < 0 or labels[target] != labels[blank]:
                continue
            child[tile] = target
            total = moves + _estimate(child, cells[tile], neighbours, parts, starts, others)
            child[tile] = cells[tile]
            if total > bound:
                beyond = min(beyond, total)
                continue
            at = count
            while at > 0 and children[at - 1, 0] < total:
                children[at] = children[at - 1]
                at -= 1
            children[at, 0], children[at, 1], children[at, 2] = total, tile, target
            count += 1
    return count, beyond


@kernel
def _search_within(bound, search, goal, view, met, stack, stop):
    """Search the states within the bound below the first of the stack, depth first, until told to ``stop``.

    Returns the number of moves to the goal, or NEVER, and the least sum beyond the bound.
    """
    neighbours, bits = view[0], view[1]
    cells, blanks, children, left = stack
    labels = np.empty(neighbours.shape[0], dtype=np.int64)
    others = np.empty(neighbours.shape[0], dtype=np.int64)
    beyond = NEVER
    depth = 0
    left[0] = UNLISTED
    while depth >= 0 and stop[0] == 0:
        if left[depth] == UNLISTED:
            if _key(cells[depth], blanks[depth], neighbours, bits, labels) == goal:
                return depth, beyond
            left[depth], least = _list_children(
                cells[depth], blanks[depth], cells[depth + 1], bound, depth + 1, view, labels, others, children[depth]
            )
            beyond = min(beyond, least)
        if left[depth] == 0:
            depth -= 1
            continue
        left[depth] -= 1
        _, tile, target = children[depth, left[depth]]
        cells[depth + 1] = cells[depth]
        cells[depth + 1, tile] = target
        blanks[depth + 1] = cells[depth, tile]
        key = _key(cells[depth + 1], blanks[depth + 1], neighbours, bits, labels)
        if _is_new(key, depth + 1, search, met):
            depth += 1
            left[depth] = UNLISTED
    return NEVER, beyond


@kernel
def _search_for_states(view, homes, home, any_zone, remembered, stop, all_cells, all_blanks, found, low, high):
    """Find the distances of the states ``low`` ... ``high - 1``: NEVER for one that has none, or after a ``stop``."""
    neighbours, bits, parts, starts = view
    met = (
        np.zeros(remembered, dtype=np.int64),
        np.zeros(remembered, dtype=np.int64),
        np.zeros(remembered, dtype=np.int64),
    )
    cells = np.empty((FAR + 1, homes.size), dtype=np.int64)
    blanks = np.empty(FAR + 1, dtype=np.int64)
    stack = (cells, blanks, np.empty((FAR, 4 * homes.size, 3), dtype=np.int64), np.empty(FAR, dtype=np.int64))
    labels = np.empty(neighbours.shape[0], dtype=np.int64)
    others = np.empty(neighbours.shape[0], dtype=np.int64)
    goal = _key(homes, home, neighbours, bits, labels)
    search = 0
    for state in range(low, high):
        _key(all_cells[state], all_blanks[state], neighbours, bits, labels)  # for its zones
        first, last = (0, labels.max()) if any_zone else (labels[all_blanks[state]], labels[all_blanks[state]])
        bound = 0
        found[state] = NEVER
        while found[state] == NEVER and bound < FAR:
            search += 1
            beyond = NEVER
            for zone in range(first, last + 1):
                cells[0] = all_cells[state]
                blanks[0] = 0
                while labels[blanks[0]] != zone:
                    blanks[0] += 1
                least = _estimate(cells[0], blanks[0], neighbours, parts, starts, others)
                if least <= bound:
                    found[state], least = _search_within(bound, search, goal, view, met, stack, stop)
                if found[state] != NEVER:
                    break
                beyond = min(beyond, least)
            bound = beyond
