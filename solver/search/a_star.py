"""A*: best first, every board once. Fewest boards expanded, and all of them in memory.

The board expanded next is one with the least sum of moves made and heuristic value; among equals the
one nearest to the goal, and among those the latest. The first time the goal's turn comes, its path is
a shortest one: every other way leads through a board that waits with no smaller sum. A ``bytes``
database may fall by more than one in a move, so that a board can be reached again, by a shorter way,
after it was expanded: then it waits once more.

*Memory* is the limit here, so a board is a row of 32-bit words and nothing else:

    key       the tiles, 4, 5 or 6 bits a cell
    how       the number of moves to here; whether it was expanded; the situation it was reached in
    chain     the next board of the same hash value, 0 at the end
    next, prev  its neighbours among the boards that wait with the same sum and value
    parts     the values of the heuristic, two to a word

Rows are numbered from 1 in the order they were made, and the last move, known from the situation, leads
back to the board before. A table of chains, at least as long as there are boards, finds a row by
its key; it is doubled when the boards outgrow it. With Manhattan distance a 4×4 board takes 28 bytes and 4 to 8
for the chains. After a small beginning, rows are reserved for all the memory that may be used, which costs
nothing until they are written.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid
from pdb_builder.jit import kernel, prefetch, shared

from ..heuristics.contract import aim, look, note, settle
from . import default_memory
from .moves import WAYS, moves_of, situation
from .outcome import Iteration, Limits, Outcome, Problem, Progress, Report, Stopped

SLICE = 100_000  # expansions before the loop returns: some hundredths of a second
CHAIN_BYTES = 12  # a board's share of the table of chains, while the table is being doubled
MOST_ROWS = 2**32 - 2
BATCH = 16  # boards expanded together
AHEAD = 16  # rows whose chains are asked for ahead
FIRST_ROWS, FIRST_CHAINS = 1 << 16, 1 << 16  # for small searches, which are over before more is touched

# What the loop was doing when it returned.
FOUND, SLICED, CHAINED, FULL, EMPTY = range(5)
# Where its numbers are kept.
ROWS, SUM, EXPANDED, GENERATED, GOAL, STATE = range(6)
# The words of a row after the key.
HOW, CHAIN, NEXT, PREV, PARTS = range(5)
EXPANDED_FLAG = 1 << 31


class Layout(NamedTuple):
    """How a board lies in a row."""

    word: np.ndarray  # [cell] -> the word of the key it lies in
    shift: np.ndarray  # [cell] -> where in the word
    mask: int  # the bits of a cell
    key: int  # words of the key
    parts: int
    row: int  # words in all
    values: int  # no value of a heuristic is as large as this, and no sum as large as twice this


def layout_of(grid: Grid, parts: int) -> Layout:
    """The layout for a board and a heuristic of so many parts."""
    bits = max(4, (grid.cells - 1).bit_length())
    word, place = np.divmod(np.arange(grid.cells), 32 // bits)
    key = int(word[-1]) + 1
    values = 256 if grid.cells <= 16 else 2048
    return Layout(word, place * bits, (1 << bits) - 1, key, parts, key + PARTS + (parts + 1) // 2, values)


class Store(NamedTuple):
    """All boards found so far. ``waiting`` lists them by sum and value, ``nearest`` the least value of a sum."""

    rows: np.ndarray
    chains: np.ndarray
    waiting: np.ndarray  # [sum, value] -> the first row, 0 if there is none
    nearest: np.ndarray  # [sum] -> no board with this sum has a lower value
    state: np.ndarray


@shared
def _hash(words, at, count):
    """A number that mixes all bits of a key."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in range(count):
        mixed = (mixed ^ np.uint64(words[at + word])) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(0x7FFFFFFFFFFFFFFF))


@shared
def _find(rows, chains, keys, key, chain, key_words, row_words):
    """The row of a key in a chain, 0 if it has none."""
    row = np.int64(chains[chain])
    while row != 0:
        at = row * row_words
        same = True
        for word in range(key_words):
            same = same and np.int64(rows[at + word]) == keys[key + word]
        if same:
            return row
        row = np.int64(rows[at + key_words + CHAIN])
    return row


@shared
def _wait(rows, waiting, nearest, row, total, value, links, row_words, most_value):
    """Put a row first among those that wait."""
    bucket = total * most_value + value
    head = np.int64(waiting[bucket])
    rows[row * row_words + links + NEXT] = head
    rows[row * row_words + links + PREV] = 0
    if head != 0:
        rows[head * row_words + links + PREV] = row
    waiting[bucket] = row
    nearest[total] = min(nearest[total], value)


@shared
def _leave(rows, waiting, row, total, value, links, row_words, most_value):
    """Take a row out of those that wait."""
    after = np.int64(rows[row * row_words + links + NEXT])
    before = np.int64(rows[row * row_words + links + PREV])
    if after != 0:
        rows[after * row_words + links + PREV] = before
    if before != 0:
        rows[before * row_words + links + NEXT] = after
    else:
        waiting[total * most_value + value] = after


@kernel
def _begin(store, layout, start, number, parts):
    """Put the start into an empty store."""
    rows, chains, waiting, nearest, state = store
    word_of, shift_of, _, key_words, _, row_words, most_value = layout
    row = 1
    rows[row_words : 2 * row_words] = 0
    for cell in range(start.size):
        rows[row_words + word_of[cell]] |= np.uint32(np.int64(start[cell]) << shift_of[cell])
    for part in range(parts.size):
        rows[row_words + key_words + PARTS + (part >> 1)] |= np.uint32(parts[part] << (16 * (part & 1)))
    rows[row_words + key_words + HOW] = number
    chains[_hash(rows, row_words, key_words) & (chains.size - 1)] = row
    _wait(rows, waiting, nearest, row, parts.max(), parts.max(), key_words, row_words, most_value)
    state[ROWS], state[SUM] = row, parts.max()


@kernel
def _search(heuristic, store, layout, moves, cells, most):
    """Expand up to ``most`` boards, or until the goal's turn comes or the store is full.

    A few boards that wait with the same sum and value are expanded together, so that the waits for
    memory overlap: first all their moves are made, then all resulting boards are looked up.
    """
    rows, chains, waiting, nearest, state = store
    following, ways, cell, _ = moves
    word_of, shift_of, mask, key_words, parts_count, row_words, most_value = layout
    links = key_words  # where the words after the key begin
    board = np.zeros(cells, dtype=np.uint8)
    parts = np.zeros(parts_count, dtype=np.int64)
    # The boards that result from the moves of a batch.
    keys = np.zeros(BATCH * WAYS * key_words, dtype=np.int64)
    all_parts = np.zeros(BATCH * WAYS * parts_count, dtype=np.int64)
    hows = np.zeros(BATCH * WAYS, dtype=np.int64)
    values = np.zeros(BATCH * WAYS, dtype=np.int64)
    chain_of = np.zeros(BATCH * WAYS, dtype=np.int64)
    capacity = rows.size // row_words - 1
    total = state[SUM]
    expanded = generated = 0
    status = SLICED
    while expanded < most:
        if state[ROWS] + BATCH * WAYS > chains.size:
            status = CHAINED
            break
        if state[ROWS] + BATCH * WAYS > capacity:
            status = FULL
            break
        while total < nearest.size and nearest[total] == most_value:
            total += 1
        if total == nearest.size:
            status = EMPTY
            break
        value = nearest[total]
        row = np.int64(waiting[total * most_value + value])
        if row == 0:
            nearest[total] += 1
            continue
        if value == 0:
            state[GOAL] = row
            status = FOUND
            break
        count = 0
        batch = 0
        while row != 0 and batch < BATCH:
            at = row * row_words
            row = np.int64(rows[at + links + NEXT])
            prefetch(rows, row * row_words)
            how = np.int64(rows[at + links + HOW])
            rows[at + links + HOW] = how | EXPANDED_FLAG
            length = ((how >> 16) & 0x7FFF) + 1
            number = how & 0xFFFF
            for place in range(cells):
                board[place] = (np.int64(rows[at + word_of[place]]) >> shift_of[place]) & mask
            for part in range(parts_count):
                parts[part] = (np.int64(rows[at + links + PARTS + (part >> 1)]) >> (16 * (part & 1))) & 0xFFFF
            settle(heuristic, board, parts, 0)
            blank = np.int64(cell[number])
            for way in range(ways[number]):
                source = np.int64(cell[(following[number] >> (16 * way)) & 0xFFFF])
                tile = np.int64(board[source])
                aim(heuristic, way, tile, source, blank, 0, 0)
                key = (count + way) * key_words
                for word in range(key_words):
                    keys[key + word] = rows[at + word]
                keys[key + word_of[source]] ^= tile << shift_of[source]
                keys[key + word_of[blank]] ^= tile << shift_of[blank]
                chain_of[count + way] = _hash(keys, key, key_words) & (chains.size - 1)
                prefetch(chains, chain_of[count + way])
            for way in range(ways[number]):
                child = (following[number] >> (16 * way)) & 0xFFFF
                source = np.int64(cell[child])
                values[count] = look(heuristic, way, board[source], source, blank)
                note(heuristic, way, values[count], all_parts, count * parts_count)
                hows[count] = (length << 16) | child
                count += 1
            batch += 1
        waiting[total * most_value + value] = row
        if row != 0:
            rows[row * row_words + links + PREV] = 0
        expanded += batch
        generated += count
        for new in range(count):
            prefetch(rows, np.int64(chains[chain_of[new]]) * row_words)
        for new in range(count):
            length, value = hows[new] >> 16, values[new]
            row = _find(rows, chains, keys, new * key_words, chain_of[new], key_words, row_words)
            if row == 0:
                row = state[ROWS] + 1
                state[ROWS] = row
                at = row * row_words
                for word in range(key_words):
                    rows[at + word] = keys[new * key_words + word]
                rows[at + links + CHAIN] = chains[chain_of[new]]
                chains[chain_of[new]] = row
                for part in range(0, parts_count, 2):
                    packed = all_parts[new * parts_count + part]
                    if part + 1 < parts_count:
                        packed |= all_parts[new * parts_count + part + 1] << 16
                    rows[at + links + PARTS + (part >> 1)] = packed
            else:
                old = np.int64(rows[row * row_words + links + HOW])
                old_length = (old >> 16) & 0x7FFF
                if old_length <= length:
                    continue
                if old & EXPANDED_FLAG == 0:
                    _leave(rows, waiting, row, old_length + value, value, links, row_words, most_value)
            rows[row * row_words + links + HOW] = hows[new]
            _wait(rows, waiting, nearest, row, length + value, value, links, row_words, most_value)
            total = min(total, length + value)
    state[SUM] = total
    state[EXPANDED] += expanded
    state[GENERATED] += generated
    return status


@kernel
def _rechain(rows, chains, count, key_words, row_words):
    """Chain all rows anew."""
    ahead = np.zeros(AHEAD, dtype=np.int64)  # the chains of the rows to come, asked for in time
    for row in range(1, count + 1 + AHEAD):
        if row > AHEAD:
            at = (row - AHEAD) * row_words
            chain = ahead[row % AHEAD]
            rows[at + key_words + CHAIN] = chains[chain]
            chains[chain] = row - AHEAD
        if row <= count:
            ahead[row % AHEAD] = _hash(rows, row * row_words, key_words) & (chains.size - 1)
            prefetch(chains, ahead[row % AHEAD])


@kernel
def _way_back(store, layout, moves, path):
    """The blank's cells from the goal back to the start; returns how many."""
    rows, chains, _, _, state = store
    word_of, shift_of, mask, key_words, _, row_words, _ = layout
    key = np.zeros(key_words, dtype=np.int64)
    row = state[GOAL]
    count = 0
    while True:
        at = row * row_words
        number = np.int64(rows[at + key_words + HOW]) & 0xFFFF
        blank, last = moves.cell[number], moves.last[number]
        path[count] = blank
        count += 1
        if blank == last:
            return count
        for word in range(key_words):
            key[word] = rows[at + word]
        tile = (key[word_of[last]] >> shift_of[last]) & mask
        key[word_of[last]] ^= tile << shift_of[last]
        key[word_of[blank]] ^= tile << shift_of[blank]
        row = _find(rows, chains, key, 0, _hash(key, 0, key_words) & (chains.size - 1), key_words, row_words)


def _reserve(words: int, capacity: int) -> np.ndarray:
    """Rows for so many boards, or for as many as the system will promise memory for."""
    while True:
        try:
            return np.empty(words * (capacity + 1), dtype=np.uint32)
        except MemoryError:
            if capacity < 10_000:
                raise
            capacity //= 2


def search(problem: Problem, *, threads: int, limits: Limits, report: Report, every: bool = False) -> Outcome:
    """A shortest solution, or what is known when a limit stops the search. One thread does the work."""
    grid, heuristic = problem.grid, problem.heuristic
    moves = moves_of(grid)
    measured = np.array(heuristic.measure(problem.start), dtype=np.int64)
    layout = layout_of(grid, heuristic.parts)
    memory = default_memory() if limits.memory is None else limits.memory
    capacity = max(2 * BATCH * WAYS, min(MOST_ROWS, memory // (4 * layout.row + CHAIN_BYTES)))
    store = Store(
        _reserve(layout.row, min(capacity, FIRST_ROWS)),
        np.zeros(FIRST_CHAINS, dtype=np.uint32),
        np.zeros(2 * layout.values * layout.values, dtype=np.uint32),
        np.full(2 * layout.values, layout.values, dtype=np.int64),
        np.zeros(STATE, dtype=np.int64),
    )
    state = store.state
    _begin(store, layout, np.array(problem.start, dtype=np.uint8), situation(problem.start.index(0)), measured)
    working = heuristic.fresh(WAYS)
    outcome = Outcome(int(measured.max()), int(measured.max()))
    began = time.perf_counter()
    status = SLICED
    try:
        while status != FOUND:
            limits.check(1 + int(state[GENERATED]))
            most = limits.expansions(1 + int(state[GENERATED]), SLICE)
            status = _search(working, store, layout, moves, grid.cells, most)
            if status == CHAINED:
                chains = np.zeros(2 * store.chains.size, dtype=np.uint32)
                _rechain(store.rows, chains, state[ROWS], layout.key, layout.row)
                store = store._replace(chains=chains)
            if status == FULL:
                if capacity <= FIRST_ROWS or store.rows.size > layout.row * (FIRST_ROWS + 1):
                    raise Stopped("memory")
                rows = _reserve(layout.row, capacity)
                rows[: store.rows.size] = store.rows
                store = store._replace(rows=rows)
            assert status != EMPTY, "a solvable board has a solution"
            progress = (int(number) for number in state[[SUM, EXPANDED, GENERATED]])
            report(Progress(*progress, stored=int(state[ROWS])))
        path = np.zeros(int(state[ROWS]) + 1, dtype=np.uint8)
        steps = _way_back(store, layout, moves, path)
        outcome.paths = [path[:steps][::-1].tolist()]
    except Stopped as stop:
        outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = "interrupt"
    outcome.lower_bound = max(outcome.lower_bound, int(state[SUM]))
    outcome.expanded, outcome.generated = int(state[EXPANDED]), 1 + int(state[GENERATED])
    outcome.stored = int(state[ROWS])
    outcome.iterations = [
        Iteration(outcome.lower_bound, outcome.expanded, outcome.generated - 1, time.perf_counter() - began)
    ]
    return outcome
