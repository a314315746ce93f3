"""Best-first search: every board once, the most promising next. Five searches that differ in what they call promising.

A board on the open list has made g moves and has the heuristic value h. The one expanded next has the least

    g + h          A*: its first solution is a shortest one, and no search with the same h expands fewer boards
    g + w h        weighted A*: far fewer boards, and a solution of at most w times the shortest length
    h              greedy: fewer still, without a guarantee
    g              Dijkstra's search and breadth-first search, which are uninformed

and among equals the least h, then the latest. When A* is about to expand the goal, its path is a shortest one: every
other path leads through an open board of no smaller sum. With weighted sums, no solution is shorter than the least open
sum divided by w. A ``bytes`` database is inconsistent: its value may fall by more than one in a move, so that a board
can be reached again, by a shorter path, after it was expanded; then it is reopened. Dijkstra's search expands the goal
like any other board; breadth-first search ends when it generates the goal, which saves most of the last level.

*The open list* is made of buckets: boards with the same g and h are a linked list, last in first out, and the buckets
are in a heap by priority. There are few buckets and many boards, so the heap is hardly ever touched.

*Memory* is the limit here, so a board is a row of 32-bit words and nothing else:

    key         the tiles, 4 to 7 bits per cell
    how         the number of moves to here; whether it was expanded; the automaton state it was reached in
    chain       the next board of the same hash value, 0 at the end
    next, prev  its neighbours in the bucket
    parts       the values of the heuristic, two to a word

Rows are numbered from 1 in the order they were made, and the last move, known from the automaton state, leads back to
the board before. A hash table of chains, at least as long as there are boards, finds a row by its key; it is doubled
when the boards outgrow it. With Manhattan distance a 4×4 board takes 28 bytes and 4 to 8 for the chains. After a small
beginning, rows are reserved for all the memory that may be used, which costs nothing until they are written.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import kernel, prefetch_line, shared
from pdb_builder.grid import Grid

from ..heuristics.contract import evaluate, load, prefetch, write_parts
from . import default_memory
from .automaton import MOVES, cell_of, never_undo, state_of
from .outcome import Iteration, Limits, OnProgress, Outcome, Problem, Progress, Stopped, noting_stop

SLICE = 100_000  # expansions before the loop returns: some hundredths of a second
CHAIN_BYTES = 12  # a board's share of the hash table, while that is being doubled
MOST_ROWS = 2**31 - 2
BATCH = 16  # boards expanded together
AHEAD = 16  # rows whose chains are prefetched
FIRST_ROWS, FIRST_CHAINS, FIRST_HEAP = 1 << 16, 1 << 16, 1 << 12  # for small searches, soon over
CHAINED_AT_ONCE = 1 << 23  # rows in one call, so that it does not take long
UNIT = 1000  # what a move counts in a weighted sum, so that a weight of 1.005 is an integer
IN_HEAP = 1 << 31  # the bucket is in the heap, though it may be empty by now
NO_LIMIT = 1 << 34  # above every priority

# What the loop was doing when it returned.
FOUND, SLICED, CHAINED, CROWDED, FULL, EMPTY = range(6)
# Where its numbers are kept.
ROWS, HEAP, EXPANDED, GENERATED, GOAL, STATE = range(6)
# The words of a row after the key.
HOW, CHAIN, NEXT, PREV, PARTS = range(5)

# The word ``how``: the automaton state, above it the moves to here, and in the top bit whether it was expanded.
HOW_STATE_BITS, LENGTH_BITS = 16, 15
MOST_LENGTH = (1 << LENGTH_BITS) - 2
EXPANDED_FLAG = 1 << (HOW_STATE_BITS + LENGTH_BITS)
# A bucket is numbered by value and moves; an entry of the heap has the priority above that.
BUCKET_BITS = 28


@shared
def how_reached(length, state):
    """The word that says how an open board was reached."""
    return (length << HOW_STATE_BITS) | state


@shared
def length_of(how):
    """The moves to a board."""
    return (how >> HOW_STATE_BITS) & ((1 << LENGTH_BITS) - 1)


@shared
def _automaton_state(how):
    return how & ((1 << HOW_STATE_BITS) - 1)


@shared
def _bucket(value, length):
    """The number of the bucket of boards with a value and a number of moves."""
    return (value << LENGTH_BITS) | length


class Layout(NamedTuple):
    """How a board lies in a row."""

    word: np.ndarray  # [cell] -> the word of the key it lies in
    shift: np.ndarray  # [cell] -> where in the word
    mask: int  # the bits of a cell
    key: int  # words of the key
    parts: int
    row: int  # words in all
    values: int  # larger values of a heuristic count as the largest one below this


class Order(NamedTuple):
    """Which board comes next: the one with the least ``moves`` g + ``value`` h."""

    moves: int
    value: int
    eager: bool = False  # the search ends when the goal is generated, not when it is about to be expanded


def key_layout(grid: Grid) -> tuple[np.ndarray, np.ndarray, int, int]:
    """How the tiles of a board lie in its key: the word and the shift of each cell, the mask, and how many words."""
    bits = max(4, (grid.cells - 1).bit_length())
    word, place = np.divmod(np.arange(grid.cells), 32 // bits)
    return word, place * bits, (1 << bits) - 1, int(word[-1]) + 1


def layout_of(grid: Grid, parts: int) -> Layout:
    """The layout for a board and a heuristic with this many parts."""
    word, shift, mask, key = key_layout(grid)
    values = 256 if grid.cells <= 16 else 1024 if grid.cells <= 36 else 8192
    return Layout(word, shift, mask, key, parts, key + PARTS + (parts + 1) // 2, values)


class Nodes(NamedTuple):
    """All boards generated so far, and the open list."""

    rows: np.ndarray
    chains: np.ndarray
    buckets: np.ndarray  # [value, moves] -> its first row, 0 if it is empty, and IN_HEAP
    heap: np.ndarray  # the buckets that may not be empty, by priority
    state: np.ndarray


@shared
def key_hash(words, at, count):
    """A hash of all bits of a key."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in range(count):
        mixed = (mixed ^ np.uint64(words[at + word])) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(0x7FFFFFFFFFFFFFFF))


@shared
def find(rows, chains, keys, key, chain, key_words, row_words):
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


# ---- the open list ------------------------------------------------------------------------------


@shared
def _heap_entry(order, value, length):
    """What the heap is ordered by: priority, then value, then moves."""
    priority = order.moves * length + order.value * value
    return (priority << BUCKET_BITS) | _bucket(value, length)


@shared
def _push(heap, size, entry):
    """Put an entry into a heap of ``size`` entries."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > entry:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry


@shared
def _pop(heap, size):
    """Take the least entry out of a heap of ``size`` entries."""
    entry = heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry


@shared
def _link(rows, buckets, row, bucket, links, row_words):
    """Put a row at the head of a bucket."""
    head = np.int64(buckets[bucket]) & ~IN_HEAP
    rows[row * row_words + links + NEXT] = head
    rows[row * row_words + links + PREV] = 0
    if head != 0:
        rows[head * row_words + links + PREV] = row
    buckets[bucket] = row | IN_HEAP


@shared
def _unlink(rows, buckets, row, bucket, links, row_words):
    """Remove a row from its bucket."""
    after = np.int64(rows[row * row_words + links + NEXT])
    before = np.int64(rows[row * row_words + links + PREV])
    if after != 0:
        rows[after * row_words + links + PREV] = before
    if before != 0:
        rows[before * row_words + links + NEXT] = after
    else:
        buckets[bucket] = after | IN_HEAP


# ---- the loop -----------------------------------------------------------------------------------


@kernel
def _begin(nodes, layout, order, start, state_there, parts):
    """Make the start the first row, on the open list, not yet chained."""
    rows, _, buckets, heap, state = nodes
    word_of, shift_of, _, key_words, _, row_words, values = layout
    row = 1
    rows[row_words : 2 * row_words] = 0
    for cell in range(start.size):
        rows[row_words + word_of[cell]] |= np.uint32(np.int64(start[cell]) << shift_of[cell])
    for part in range(parts.size):
        rows[row_words + key_words + PARTS + (part >> 1)] |= np.uint32(parts[part] << (16 * (part & 1)))
    rows[row_words + key_words + HOW] = how_reached(0, state_there)
    value = min(parts.max(), values - 1)
    _link(rows, buckets, row, _bucket(value, 0), key_words, row_words)
    _push(heap, 0, _heap_entry(order, value, 0))
    state[HEAP] = 1
    state[ROWS] = row


@kernel
def _search(heuristic, nodes, layout, order, automaton, cells, most):
    """Expand up to ``most`` boards, or until the goal is next, the memory is full or the open list is empty.

    A few boards of the same bucket are expanded together, so that the waits for memory overlap: first all their moves
    are made, then all resulting boards are looked up.
    """
    rows, chains, buckets, heap, state = nodes
    successors, branching, cell, _, _ = automaton
    word_of, shift_of, mask, key_words, parts_count, row_words, most_value = layout
    links = key_words  # where the words after the key begin
    board = np.zeros(cells, dtype=np.uint8)
    parts = np.zeros(parts_count, dtype=np.int64)
    # The boards that result from the moves of a batch.
    keys = np.zeros(BATCH * MOVES * key_words, dtype=np.int64)
    all_parts = np.zeros(BATCH * MOVES * parts_count, dtype=np.int64)
    hows = np.zeros(BATCH * MOVES, dtype=np.int64)
    values = np.zeros(BATCH * MOVES, dtype=np.int64)
    chain_of = np.zeros(BATCH * MOVES, dtype=np.int64)
    capacity = rows.size // row_words - 1
    expanded = generated = 0
    status = SLICED
    while expanded < most:
        if state[ROWS] + BATCH * MOVES > chains.size:
            status = CHAINED
            break
        if state[ROWS] + BATCH * MOVES > capacity:
            status = FULL
            break
        if state[HEAP] + BATCH * MOVES > heap.size:
            status = CROWDED
            break
        if state[HEAP] == 0:
            status = EMPTY
            break
        bucket = heap[0] & ((1 << BUCKET_BITS) - 1)
        row = np.int64(buckets[bucket]) & ~IN_HEAP
        if row == 0:
            buckets[bucket] = 0
            _pop(heap, state[HEAP])
            state[HEAP] -= 1
            continue
        value = bucket >> LENGTH_BITS
        if value == 0:
            state[GOAL] = row
            status = FOUND
            break
        if bucket & ((1 << LENGTH_BITS) - 1) >= MOST_LENGTH:
            status = FULL
            break
        count = 0
        batch = 0
        while row != 0 and batch < BATCH:
            at = row * row_words
            row = np.int64(rows[at + links + NEXT])
            prefetch_line(rows, row * row_words)
            how = np.int64(rows[at + links + HOW])
            rows[at + links + HOW] = how | EXPANDED_FLAG
            length = length_of(how) + 1
            here = _automaton_state(how)
            for place in range(cells):
                board[place] = (np.int64(rows[at + word_of[place]]) >> shift_of[place]) & mask
            for part in range(parts_count):
                parts[part] = (np.int64(rows[at + links + PARTS + (part >> 1)]) >> (16 * (part & 1))) & 0xFFFF
            load(heuristic, board, parts, 0)
            blank = np.int64(cell[here])
            for index in range(branching[here]):
                source = cell_of(np.int64(successors[here * MOVES + index]))
                tile = np.int64(board[source])
                prefetch(heuristic, index, tile, source, blank, 0, 0)
                key = (count + index) * key_words
                for word in range(key_words):
                    keys[key + word] = rows[at + word]
                keys[key + word_of[source]] ^= tile << shift_of[source]
                keys[key + word_of[blank]] ^= tile << shift_of[blank]
                chain_of[count + index] = key_hash(keys, key, key_words) & (chains.size - 1)
                prefetch_line(chains, chain_of[count + index])
            for index in range(branching[here]):
                successor = np.int64(successors[here * MOVES + index])
                source = cell_of(successor)
                values[count] = evaluate(heuristic, index, board[source], source, blank)
                write_parts(heuristic, index, values[count], all_parts, count * parts_count)
                hows[count] = how_reached(length, state_of(successor))
                count += 1
            batch += 1
        buckets[bucket] = row | IN_HEAP
        if row != 0:
            rows[row * row_words + links + PREV] = 0
        expanded += batch
        generated += count
        for new in range(count):
            prefetch_line(rows, np.int64(chains[chain_of[new]]) * row_words)
        for new in range(count):
            length, value = length_of(hows[new]), min(values[new], most_value - 1)
            row = find(rows, chains, keys, new * key_words, chain_of[new], key_words, row_words)
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
                if length_of(old) <= length:
                    continue
                if old & EXPANDED_FLAG == 0:
                    _unlink(rows, buckets, row, _bucket(value, length_of(old)), links, row_words)
            rows[row * row_words + links + HOW] = hows[new]
            bucket = _bucket(value, length)
            if buckets[bucket] == 0:  # it is not in the heap
                _push(heap, state[HEAP], _heap_entry(order, value, length))
                state[HEAP] += 1
            _link(rows, buckets, row, bucket, links, row_words)
            if value == 0 and order.eager:
                state[GOAL] = row
                status = FOUND
        if status == FOUND:
            break
    state[EXPANDED] += expanded
    state[GENERATED] += generated
    return status


@kernel
def chain_rows(rows, chains, first, end, key_words, row_words):
    """Chain some rows."""
    ahead = np.zeros(AHEAD, dtype=np.int64)  # the chains of the rows to come, prefetched
    for row in range(first, end + AHEAD):
        if row - AHEAD >= first:
            at = (row - AHEAD) * row_words
            chain = ahead[row % AHEAD]
            rows[at + key_words + CHAIN] = chains[chain]
            chains[chain] = row - AHEAD
        if row < end:
            ahead[row % AHEAD] = key_hash(rows, row * row_words, key_words) & (chains.size - 1)
            prefetch_line(chains, ahead[row % AHEAD])


@kernel
def _trace_back(nodes, layout, automaton, row, path):
    """The blank's cells from a row back to the start; returns how many."""
    rows, chains, _, _, _ = nodes
    word_of, shift_of, mask, key_words, _, row_words, _ = layout
    key = np.zeros(key_words, dtype=np.int64)
    count = 0
    while True:
        at = row * row_words
        here = _automaton_state(np.int64(rows[at + key_words + HOW]))
        blank, previous = automaton.cell[here], automaton.previous[here]
        path[count] = blank
        count += 1
        if blank == previous:
            return count
        for word in range(key_words):
            key[word] = rows[at + word]
        tile = (key[word_of[previous]] >> shift_of[previous]) & mask
        key[word_of[previous]] ^= tile << shift_of[previous]
        key[word_of[blank]] ^= tile << shift_of[blank]
        row = find(rows, chains, key, 0, key_hash(key, 0, key_words) & (chains.size - 1), key_words, row_words)


def reserve_rows(words: int, capacity: int) -> np.ndarray:
    """Rows for ``capacity`` boards, or for as many as the system grants memory for."""
    while True:
        try:
            return np.empty(words * (capacity + 1), dtype=np.uint32)
        except MemoryError:
            if capacity < 10_000:
                raise
            capacity //= 2


# ---- one search from one start ------------------------------------------------------------------


class BestFirst:
    """The boards generated from a start, and the means to generate more."""

    def __init__(self, problem: Problem, order: Order, memory: int) -> None:
        """``memory`` is what the boards may take."""
        grid, heuristic = problem.grid, problem.heuristic
        self.cells, self.order, self.automaton = grid.cells, order, never_undo(grid)
        self.layout = layout_of(grid, heuristic.parts)
        self.capacity = max(2 * BATCH * MOVES, min(MOST_ROWS, memory // (4 * self.layout.row + CHAIN_BYTES)))
        self.nodes = Nodes(
            reserve_rows(self.layout.row, min(self.capacity, FIRST_ROWS)),
            np.zeros(0, dtype=np.uint32),
            np.zeros(self.layout.values << LENGTH_BITS, dtype=np.uint32),
            np.zeros(FIRST_HEAP, dtype=np.int64),
            np.zeros(STATE, dtype=np.int64),
        )
        self.state = self.nodes.state
        self.heuristic = heuristic.workspace(MOVES)
        self.start_parts = np.array(heuristic.measure(problem.start), dtype=np.int64)
        start = np.array(problem.start, dtype=np.uint8)
        _begin(self.nodes, self.layout, order, start, self.automaton.starts[problem.start.index(0)], self.start_parts)
        self._chain_all(FIRST_CHAINS)

    def _chain_all(self, count: int) -> None:
        """Chain all rows in a new hash table of ``count`` chains."""
        chains, end = np.zeros(count, dtype=np.uint32), self.stored + 1
        for first in range(1, end, CHAINED_AT_ONCE):
            last = min(end, first + CHAINED_AT_ONCE)
            chain_rows(self.nodes.rows, chains, first, last, self.layout.key, self.layout.row)
        self.nodes = self.nodes._replace(chains=chains)

    def expand(self, most: int) -> int:
        """Expand up to ``most`` boards; FOUND, SLICED or EMPTY. Raises ``Stopped`` if the memory is full."""
        enough = self.expanded + most
        while True:
            status = _search(
                self.heuristic,
                self.nodes,
                self.layout,
                self.order,
                self.automaton,
                self.cells,
                enough - self.expanded,
            )
            if status == CHAINED:
                self._chain_all(2 * self.nodes.chains.size)
            elif status == CROWDED:
                self.nodes = self.nodes._replace(heap=np.concatenate([self.nodes.heap, self.nodes.heap]))
            elif status == FULL:
                if self.capacity <= FIRST_ROWS or self.nodes.rows.size > self.layout.row * (FIRST_ROWS + 1):
                    raise Stopped("memory")
                rows = reserve_rows(self.layout.row, self.capacity)
                rows[: self.nodes.rows.size] = self.nodes.rows
                self.nodes = self.nodes._replace(rows=rows)
            else:
                return status

    @property
    def expanded(self) -> int:
        return int(self.state[EXPANDED])

    @property
    def generated(self) -> int:
        return int(self.state[GENERATED])

    @property
    def stored(self) -> int:
        return int(self.state[ROWS])

    def priority(self) -> int:
        """The least open priority, or a smaller one if the first bucket is empty by now."""
        return int(self.nodes.heap[0] >> BUCKET_BITS) if self.state[HEAP] else NO_LIMIT

    def path(self, row: int) -> list[int]:
        """The blank's cells from the start to the board of a row."""
        path = np.zeros(MOST_LENGTH + 2, dtype=np.uint8)
        steps = _trace_back(self.nodes, self.layout, self.automaton, row, path)
        return path[:steps][::-1].tolist()


# ---- the searches -------------------------------------------------------------------------------


def _search_in(
    order: Order,
    problem: Problem,
    limits: Limits,
    progress: OnProgress,
    proven: Callable[[int], int],
    suboptimality_bound: float | None,
) -> Outcome:
    """Search in an order. ``proven`` is the lower bound on the length that the least open priority proves."""
    search = BestFirst(problem, order, default_memory() if limits.memory is None else limits.memory)
    value = int(search.start_parts.max())
    outcome = Outcome(value, value if problem.heuristic.admissible else 0)
    began = time.perf_counter()
    status = SLICED
    if problem.start == problem.grid.goal(problem.blank):
        limits = Limits()  # no limit is too low to see that
    with noting_stop(outcome):
        while status != FOUND:
            limits.check(1 + search.generated)
            status = search.expand(limits.expansions(1 + search.generated, SLICE))
            assert status != EMPTY, "a solvable board has a solution"
            bound = max(outcome.lower_bound, proven(search.priority()))
            progress(Progress(bound, search.expanded, search.generated, stored=search.stored))
        outcome.paths = [search.path(int(search.state[GOAL]))]
        outcome.suboptimality_bound = suboptimality_bound
    outcome.lower_bound = max(outcome.lower_bound, proven(search.priority()))
    outcome.expanded, outcome.generated = search.expanded, 1 + search.generated
    outcome.stored = search.stored
    outcome.iterations = [
        Iteration(outcome.lower_bound, outcome.expanded, outcome.generated - 1, time.perf_counter() - began)
    ]
    return outcome


def a_star(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A shortest solution, or what is known when a limit stops the search. One thread does the work."""
    return _search_in(Order(1, 1), problem, limits, progress, int, 1.0)


def dijkstra(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A shortest solution, nearest boards first; the problem's heuristic is the uninformed one."""
    return _search_in(Order(1, 0), problem, limits, progress, int, 1.0)


def bfs(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A shortest solution, found level by level; the problem's heuristic is the uninformed one."""
    return _search_in(Order(1, 1, eager=True), problem, limits, progress, int, 1.0)


def weighted_a_star(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress, weight: float) -> Outcome:
    """A solution of at most ``weight`` times the shortest length, if the heuristic is admissible."""
    order = Order(UNIT, round(UNIT * weight))
    if not problem.heuristic.admissible:
        return _search_in(order, problem, limits, progress, lambda priority: 0, None)
    return _search_in(
        order, problem, limits, progress, lambda priority: -(-priority // order.value), order.value / UNIT
    )


def greedy(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A solution by the heuristic alone, without a guarantee."""
    return _search_in(Order(0, 1), problem, limits, progress, lambda priority: 0, None)
