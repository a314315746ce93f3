"""The searches of the verifier: the distance of every state, found a second time, state by state.

*One byte per state* (``distances_of``) is the quick way: every state is visited once, and its moves are followed. The
distances are there afterwards, to be compared with any table.

*One bit per state* (``refute_bits``) is for ``bits`` tables too large for that, which it reads along with the search. A
level looks at all states that have not been visited, in blocks beside those of the level before, and asks for each
whether a move leads to it from there: each thread writes to blocks of its own, as single bits demand. A state that is
visited on a level must have that level's bit in the table. So the table can be believed for all visited states, and
tells which of them may be on the level before: those with its bit, in blocks that had any. Earlier levels with the same
bit do no harm, because all their neighbours have been visited. A state is looked at on many levels before it is
visited, which takes about twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from .base.errors import InputError
from .base.jit import kernel
from .base.workers import Workers
from .independent_index import Graph, share

FAR = 255  # not reached, or not yet


def first_wrong(blocks: Iterable[int]) -> int:
    """The first of the blocks that searches of several ranges have found wrong, each one or -1 for none."""
    return min((block for block in blocks if block >= 0), default=-1)


# ---- one byte per state -------------------------------------------------------------------------


@kernel
def _push_level(level, starts, targets, shifts, maps, distances, active, next_active, low, high):
    """Follow all moves of the states at ``level`` in the blocks ``low`` ... ``high - 1``; returns their number.

    Threads may write to the same byte, but only the same value.
    """
    arrangements = maps.shape[1]
    here = np.empty(arrangements, dtype=np.uint32)
    total = 0
    for block in range(low, high):
        if not active[block]:
            continue
        count = 0
        for arrangement in range(arrangements):
            if distances[block, arrangement] == level:
                here[count] = arrangement
                count += 1
        total += count
        for move in range(starts[block], starts[block + 1]):
            target = targets[move]
            shift = shifts[move]
            pushed = False
            for number in range(count):
                arrangement = maps[shift, here[number]]
                if distances[target, arrangement] == FAR:
                    distances[target, arrangement] = level + 1
                    pushed = True
            if pushed:
                next_active[target] = 1
    return total


def distances_of(graph: Graph, workers: Workers, progress: Callable[[int], object]) -> tuple[np.ndarray, list[int]]:
    """The distance of every [block, arrangement], and how many states there are at each distance."""
    distances = np.full((graph.blocks, len(graph.ordinals)), FAR, dtype=np.uint8)
    distances[graph.goal] = 0
    active = np.zeros(graph.blocks, dtype=np.uint8)
    active[graph.goal[0]] = 1
    counts: list[int] = []
    moves = (graph.starts, graph.targets, graph.shifts, graph.maps)
    while active.any():
        if len(counts) == FAR:
            raise InputError(f"distances beyond {FAR - 1} cannot be verified by a search: use `quick`")
        next_active = np.zeros(graph.blocks, dtype=np.uint8)
        found = sum(share(workers, graph.blocks, _push_level, len(counts), *moves, distances, active, next_active))
        progress(found)
        counts.append(found)
        active = next_active
    return distances, counts


@kernel
def compare_bits(distances, values, low, high):
    """The first block whose bytes differ from those that the distances give, or -1."""
    arrangements = distances.shape[1]
    for block in range(low, high):
        for byte in range(values.shape[1]):
            expected = 0
            for bit in range(8):
                arrangement = 8 * byte + bit
                if arrangement < arrangements and distances[block, arrangement] != FAR:
                    expected |= ((distances[block, arrangement] >> 1) & 1) << bit
            if values[block, byte] != expected:
                return block
    return -1


@kernel
def compare_bytes(distances, values, first_block, counts, low, high):
    """The first footprint whose bytes are not the least distances over its zones, or -1. Counts the distances."""
    for footprint in range(low, high):
        for arrangement in range(distances.shape[1]):
            least = FAR
            for block in range(first_block[footprint], first_block[footprint + 1]):
                least = min(least, distances[block, arrangement])
            counts[least] += 1
            if values[footprint, arrangement] != least:
                return footprint
    return -1


# ---- one bit per state --------------------------------------------------------------------------


@kernel
def _pull_level(level, starts, targets, shifts, maps, values, visited, remaining, active, next_active, low, high):
    """Visit the states of ``level`` in the blocks ``low`` ... ``high - 1``.

    Returns their number, and the first block where the table has another bit for one of them, or -1.
    """
    arrangements, width = maps.shape[1], values.shape[1]
    left = np.empty(arrangements + 1, dtype=np.uint32)  # states not visited; one more than there are can be written
    reached = np.empty(arrangements + 1, dtype=np.uint32)
    frontier = np.empty(width, dtype=np.uint8)
    before_has_bit, has_bit = ((level - 1) >> 1) & 1, (level >> 1) & 1
    total = 0
    for block in range(low, high):
        next_active[block] = 0
        if remaining[block] == 0:
            continue
        count = -1
        new = 0
        for move in range(starts[block], starts[block + 1]):
            source = targets[move]
            if not active[source]:
                continue
            if count < 0:
                count = 0
                for arrangement in range(arrangements):
                    left[count] = arrangement
                    count += 1 - ((visited[block, arrangement >> 3] >> (arrangement & 7)) & 1)
            for byte in range(width):
                bits = values[source, byte] if before_has_bit else ~values[source, byte]
                frontier[byte] = visited[source, byte] & bits
            kept = 0
            for number in range(count):  # a state that a move leads to is one that it comes from, taken back
                arrangement = left[number]
                other = maps[shifts[move], arrangement]
                hit = (frontier[other >> 3] >> (other & 7)) & 1
                reached[new] = arrangement
                new += hit
                left[kept] = arrangement
                kept += 1 - hit
            count = kept
        for number in range(new):
            arrangement = reached[number]
            byte, bit = arrangement >> 3, arrangement & 7
            if (values[block, byte] >> bit) & 1 != has_bit:
                return total, block
            visited[block, byte] |= 1 << bit
        if new:
            next_active[block] = 1
            remaining[block] -= new
            total += new
    return total, -1


@kernel
def _with_bits_unvisited(values, visited, low, high):
    """The first block where the table has a bit that stands for no visited state, or -1."""
    for block in range(low, high):
        for byte in range(values.shape[1]):
            if values[block, byte] & ~visited[block, byte]:
                return block
    return -1


class Refutation(NamedTuple):
    """What reading a ``bits`` table along with a search has found."""

    block: int  # the first one known to have a wrong bit, or -1
    counts: list[int]  # distance -> how many states are at it
    sampled: np.ndarray  # the distances of the sample, -1 for states that were not visited


def refute_bits(
    graph: Graph, values: np.ndarray, sample: np.ndarray, workers: Workers, progress: Callable[[int], object]
) -> Refutation:
    """Look for a state whose bit in the table is wrong; ``sample`` has a row (block, arrangement) for each state."""
    visited = np.zeros(values.shape, dtype=np.uint8)
    remaining = np.full(graph.blocks, len(graph.ordinals), dtype=np.int32)
    active = np.zeros((2, graph.blocks), dtype=np.uint8)
    block, arrangement = graph.goal
    visited[block, arrangement >> 3] = 1 << (arrangement & 7)
    remaining[block] -= 1
    active[0, block] = 1
    blocks, places = sample.T
    sampled = np.full(len(sample), -1)
    sampled[(blocks == block) & (places == arrangement)] = 0
    counts = [1]
    progress(1)
    if (values[block, arrangement >> 3] >> (arrangement & 7)) & 1:
        return Refutation(block, counts, sampled)
    moves = (graph.starts, graph.targets, graph.shifts, graph.maps)
    while True:
        level = len(counts)
        now, following = active[(level - 1) & 1], active[level & 1]
        found = share(workers, graph.blocks, _pull_level, level, *moves, values, visited, remaining, now, following)
        wrong = first_wrong(block for _, block in found)
        if wrong >= 0:
            return Refutation(wrong, counts, sampled)
        total = sum(number for number, _ in found)
        if total == 0:
            break
        new = (sampled < 0) & ((visited[blocks, places >> 3] >> (places & 7)) & 1 == 1)
        sampled[new] = level
        progress(total)
        counts.append(total)
    wrong = first_wrong(share(workers, graph.blocks, _with_bits_unvisited, values, visited))
    return Refutation(wrong, counts, sampled)
