"""Best first: every board once, the most promising next. Five searches that differ in what they call promising.

A board that waits has made g moves and has the heuristic value h. The one expanded next has the least

    g + h          A*: its first solution is a shortest one, and no search with h alone expands fewer boards
    g + w h        weighted A*: far fewer boards, and a solution of at most w times the shortest length
    h              greedy: fewer still, no promise
    g              Dijkstra's search and breadth-first search, which look at no heuristic

and among equals the least h, then the latest. In A* the first time the goal's turn comes, its path is a shortest one:
every other way leads through a board that waits with no smaller sum. If w times that sum is waited for, no solution
is shorter than what waits, divided by w. A ``bytes`` database may fall by more than one in a move, so that a
board can be reached again, by a shorter way, after it was expanded: then it waits once more. Dijkstra's search
expands the goal as any other board; breadth-first search ends when it is first seen, which spares it most of the
last level.

*Waiting* boards with the same g and h make a list, first in last out, and the lists are in a heap, by
priority. There are few lists and many boards, so the heap is hardly ever touched.

*Memory* is the limit here, so a board is a row of 32-bit words and nothing else:

    key       the tiles, 4 to 7 bits a cell
    how       the number of moves to here; whether it was expanded; the situation it was reached in
    chain     the next board of the same hash value, 0 at the end
    next, prev  its neighbours among the boards that wait with the same g and h
    parts     the values of the heuristic, two to a word

Rows are numbered from 1 in the order they were made, and the last move, known from the situation, leads
back to the board before. A table of chains, at least as long as there are boards, finds a row by
its key; it is doubled when the boards outgrow it. With Manhattan distance a 4×4 board takes 28 bytes and 4 to 8
for the chains. After a small beginning, rows are reserved for all the memory that may be used, which costs
nothing until they are written.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import kernel, prefetch_line, shared
from pdb_builder.grid import Grid

from ..heuristics.contract import aim, look, note, settle
from . import default_memory
from .automaton import WAYS, moves_of, situation
from .outcome import Iteration, Limits, Outcome, Problem, Progress, Report, Stopped

SLICE = 100_000  # expansions before the loop returns: some hundredths of a second
CHAIN_BYTES = 12  # a board's share of the table of chains, while the table is being doubled
MOST_ROWS = 2**31 - 2
BATCH = 16  # boards expanded together
AHEAD = 16  # rows whose chains are asked for ahead
FIRST_ROWS, FIRST_CHAINS, FIRST_HEAP = 1 << 16, 1 << 16, 1 << 12  # for small searches, soon over
CHAINED_AT_ONCE = 1 << 23  # rows in one call, so that it does not take long
LENGTH_BITS = 15  # of the moves to a board
MOST_LENGTH = (1 << LENGTH_BITS) - 2
UNIT = 1000  # what a move counts in a weighted sum, so that a weight of 1.005 is a whole number
LISTED = 1 << 31  # the list is in the heap, though it may be empty by now
NO_LIMIT = 1 << 34  # above every priority

# What the loop was doing when it returned.
FOUND, SLICED, CHAINED, CROWDED, FULL, EMPTY = range(6)
# Where its numbers are kept.
ROWS, HEAP, TOUCHED, EXPANDED, GENERATED, GOAL, STATE = range(7)
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
    values: int  # larger values of a heuristic count as the largest one below this


class Order(NamedTuple):
    """Which board comes next: the one with the least ``moves`` g + ``value`` h."""

    moves: int
    value: int
    half: int = 0  # 1 if it counts as at least 2 g + 1, so that nothing beyond half the way comes too early
    eager: bool = False  # the goal is taken when it is first seen, and not when its turn comes


def layout_of(grid: Grid, parts: int) -> Layout:
    """The layout for a board and a heuristic of so many parts."""
    bits = max(4, (grid.cells - 1).bit_length())
    word, place = np.divmod(np.arange(grid.cells), 32 // bits)
    key = int(word[-1]) + 1
    values = 256 if grid.cells <= 16 else 1024 if grid.cells <= 36 else 8192
    return Layout(word, place * bits, (1 << bits) - 1, key, parts, key + PARTS + (parts + 1) // 2, values)


class Store(NamedTuple):
    """All boards found so far."""

    rows: np.ndarray
    chains: np.ndarray
    waiting: np.ndarray  # [value, moves] -> the first row of the list, 0 if it is empty, and LISTED
    heap: np.ndarray  # the lists that may not be empty, by priority
    touched: np.ndarray  # rows reached anew by a shorter way, if anybody wants to know
    state: np.ndarray


@shared
def key_hash(words, at, count):
    """A number that mixes all bits of a key."""
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


@shared
def _entry(order, value, length):
    """What the heap is ordered by: priority, value, moves; the last two are the number of the list."""
    priority = max(order.moves * length + order.value * value, order.half * (2 * length + 1))
    return (priority << 28) | (value << LENGTH_BITS) | length


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
def _wait(rows, waiting, row, number, links, row_words):
    """Put a row first on a list of those that wait."""
    head = np.int64(waiting[number]) & ~LISTED
    rows[row * row_words + links + NEXT] = head
    rows[row * row_words + links + PREV] = 0
    if head != 0:
        rows[head * row_words + links + PREV] = row
    waiting[number] = row | LISTED


@shared
def _leave(rows, waiting, row, length, value, links, row_words):
    """Take a row out of those that wait."""
    after = np.int64(rows[row * row_words + links + NEXT])
    before = np.int64(rows[row * row_words + links + PREV])
    if after != 0:
        rows[after * row_words + links + PREV] = before
    if before != 0:
        rows[before * row_words + links + NEXT] = after
    else:
        waiting[(value << LENGTH_BITS) | length] = after | LISTED


@kernel
def _begin(store, layout, order, start, number, parts):
    """Put the start into an empty store, not yet chained."""
    rows, _, waiting, heap, _, state = store
    word_of, shift_of, _, key_words, _, row_words, values = layout
    row = 1
    rows[row_words : 2 * row_words] = 0
    for cell in range(start.size):
        rows[row_words + word_of[cell]] |= np.uint32(np.int64(start[cell]) << shift_of[cell])
    for part in range(parts.size):
        rows[row_words + key_words + PARTS + (part >> 1)] |= np.uint32(parts[part] << (16 * (part & 1)))
    rows[row_words + key_words + HOW] = number
    value = min(parts.max(), values - 1)
    _wait(rows, waiting, row, value << LENGTH_BITS, key_words, row_words)
    _push(heap, 0, _entry(order, value, 0))
    state[HEAP] = 1
    state[ROWS] = row


@kernel
def _search(heuristic, store, layout, order, moves, cells, most, last_priority, shorter_than):
    """Expand up to ``most`` boards, or until the goal's turn comes, the store is full or nothing waits.

    Boards of a priority above ``last_priority`` stay where they are, and those that cannot be on a way of
    fewer moves than ``shorter_than`` are left out. A few boards that wait with the same g and h are
    expanded together, so that the waits for memory overlap: first all their moves are made, then all resulting
    boards are looked up.
    """
    rows, chains, waiting, heap, touched, state = store
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
    expanded = generated = 0
    status = SLICED
    while expanded < most:
        if state[ROWS] + BATCH * WAYS > chains.size:
            status = CHAINED
            break
        if state[ROWS] + BATCH * WAYS > capacity:
            status = FULL
            break
        if state[HEAP] + BATCH * WAYS > heap.size:
            status = CROWDED
            break
        if state[HEAP] == 0 or heap[0] >> 28 > last_priority:
            status = EMPTY
            break
        number_of_list = heap[0] & ((1 << 28) - 1)
        row = np.int64(waiting[number_of_list]) & ~LISTED
        if row == 0:
            waiting[number_of_list] = 0
            _pop(heap, state[HEAP])
            state[HEAP] -= 1
            continue
        value = number_of_list >> LENGTH_BITS
        if value == 0:
            state[GOAL] = row
            status = FOUND
            break
        if number_of_list & ((1 << LENGTH_BITS) - 1) >= MOST_LENGTH:
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
                chain_of[count + way] = key_hash(keys, key, key_words) & (chains.size - 1)
                prefetch_line(chains, chain_of[count + way])
            for way in range(ways[number]):
                child = (following[number] >> (16 * way)) & 0xFFFF
                source = np.int64(cell[child])
                values[count] = look(heuristic, way, board[source], source, blank)
                note(heuristic, way, values[count], all_parts, count * parts_count)
                hows[count] = (length << 16) | child
                count += 1
            batch += 1
        waiting[number_of_list] = row | LISTED
        if row != 0:
            rows[row * row_words + links + PREV] = 0
        expanded += batch
        generated += count
        for new in range(count):
            prefetch_line(rows, np.int64(chains[chain_of[new]]) * row_words)
        for new in range(count):
            length, value = hows[new] >> 16, min(values[new], most_value - 1)
            if length + value >= shorter_than:
                continue
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
                old_length = (old >> 16) & 0x7FFF
                if old_length <= length:
                    continue
                if old & EXPANDED_FLAG == 0:
                    _leave(rows, waiting, row, old_length, value, links, row_words)
                if touched.size != 0:
                    touched[state[TOUCHED]] = row
                    state[TOUCHED] += 1
            rows[row * row_words + links + HOW] = hows[new]
            number = (value << LENGTH_BITS) | length
            if waiting[number] == 0:  # the list is not in the heap
                _push(heap, state[HEAP], _entry(order, value, length))
                state[HEAP] += 1
            _wait(rows, waiting, row, number, links, row_words)
            if value == 0 and order.eager:
                state[GOAL] = row
                status = FOUND
        if status == FOUND:
            break
    state[EXPANDED] += expanded
    state[GENERATED] += generated
    return status


@kernel
def _chain(rows, chains, first, end, key_words, row_words):
    """Chain some rows."""
    ahead = np.zeros(AHEAD, dtype=np.int64)  # the chains of the rows to come, asked for in time
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
def _way_back(store, layout, moves, row, path):
    """The blank's cells from a row back to the start; returns how many."""
    rows, chains, _, _, _, _ = store
    word_of, shift_of, mask, key_words, _, row_words, _ = layout
    key = np.zeros(key_words, dtype=np.int64)
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
        row = find(rows, chains, key, 0, key_hash(key, 0, key_words) & (chains.size - 1), key_words, row_words)


def _reserve(words: int, capacity: int) -> np.ndarray:
    """Rows for so many boards, or for as many as the system will promise memory for."""
    while True:
        try:
            return np.empty(words * (capacity + 1), dtype=np.uint32)
        except MemoryError:
            if capacity < 10_000:
                raise
            capacity //= 2


class Frontier:
    """The boards found from a start, and the means to find more."""

    def __init__(self, problem: Problem, order: Order, memory: int, touches: int = 0) -> None:
        """``memory`` is what the boards may take; ``touches`` is how many rows can be noted as touched."""
        grid, heuristic = problem.grid, problem.heuristic
        self.cells, self.order, self.moves = grid.cells, order, moves_of(grid)
        self.layout = layout_of(grid, heuristic.parts)
        self.capacity = max(2 * BATCH * WAYS, min(MOST_ROWS, memory // (4 * self.layout.row + CHAIN_BYTES)))
        self.store = Store(
            _reserve(self.layout.row, min(self.capacity, FIRST_ROWS)),
            np.zeros(0, dtype=np.uint32),
            np.zeros(self.layout.values << LENGTH_BITS, dtype=np.uint32),
            np.zeros(FIRST_HEAP, dtype=np.int64),
            np.zeros(touches, dtype=np.uint32),
            np.zeros(STATE, dtype=np.int64),
        )
        self.state = self.store.state
        self.heuristic = heuristic.fresh(WAYS)
        self.measured = np.array(heuristic.measure(problem.start), dtype=np.int64)
        start = np.array(problem.start, dtype=np.uint8)
        _begin(self.store, self.layout, order, start, situation(problem.start.index(0)), self.measured)
        self._chain_all(FIRST_CHAINS)

    def _chain_all(self, count: int) -> None:
        """Chain all rows in a table of so many chains."""
        chains, end = np.zeros(count, dtype=np.uint32), self.stored + 1
        for first in range(1, end, CHAINED_AT_ONCE):
            last = min(end, first + CHAINED_AT_ONCE)
            _chain(self.store.rows, chains, first, last, self.layout.key, self.layout.row)
        self.store = self.store._replace(chains=chains)

    def expand(self, most: int, last_priority: int = NO_LIMIT, shorter_than: int = NO_LIMIT) -> int:
        """Expand up to ``most`` boards; FOUND, SLICED or EMPTY. Raises ``Stopped`` if the memory is full."""
        enough = self.expanded + most
        while True:
            status = _search(
                self.heuristic,
                self.store,
                self.layout,
                self.order,
                self.moves,
                self.cells,
                enough - self.expanded,
                last_priority,
                shorter_than,
            )
            if status == CHAINED:
                self._chain_all(2 * self.store.chains.size)
            elif status == CROWDED:
                self.store = self.store._replace(heap=np.concatenate([self.store.heap, self.store.heap]))
            elif status == FULL:
                if self.capacity <= FIRST_ROWS or self.store.rows.size > self.layout.row * (FIRST_ROWS + 1):
                    raise Stopped("memory")
                rows = _reserve(self.layout.row, self.capacity)
                rows[: self.store.rows.size] = self.store.rows
                self.store = self.store._replace(rows=rows)
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

    def waiting(self) -> tuple[np.ndarray, np.ndarray]:
        """The moves made to the boards that wait, and their values, once for each list."""
        lists = self.store.heap[: self.state[HEAP]] & ((1 << 28) - 1)
        lists = lists[self.store.waiting[lists] != LISTED]
        return lists & ((1 << LENGTH_BITS) - 1), lists >> LENGTH_BITS

    def priority(self) -> int:
        """The least priority of a board that waits; that of an empty list is no more."""
        return int(self.store.heap[0] >> 28) if self.state[HEAP] else NO_LIMIT

    def path(self, row: int) -> list[int]:
        """The blank's cells from the start to the board of a row."""
        path = np.zeros(MOST_LENGTH + 2, dtype=np.uint8)
        steps = _way_back(self.store, self.layout, self.moves, row, path)
        return path[:steps][::-1].tolist()


def _search_in(
    order: Order, problem: Problem, limits: Limits, report: Report, proven: Callable[[int], int], within: float | None
) -> Outcome:
    """Search in an order. ``proven`` says which length is proven a lower bound by the least priority that waits."""
    frontier = Frontier(problem, order, default_memory() if limits.memory is None else limits.memory)
    value = int(frontier.measured.max())
    outcome = Outcome(value, value if problem.heuristic.admissible else 0)
    began = time.perf_counter()
    status = SLICED
    if problem.start == problem.grid.goal(problem.blank):
        limits = Limits()  # no limit is too low to see that
    try:
        while status != FOUND:
            limits.check(1 + frontier.generated)
            status = frontier.expand(limits.expansions(1 + frontier.generated, SLICE))
            assert status != EMPTY, "a solvable board has a solution"
            bound = max(outcome.lower_bound, proven(frontier.priority()))
            report(Progress(bound, frontier.expanded, frontier.generated, stored=frontier.stored))
        outcome.paths = [frontier.path(int(frontier.state[GOAL]))]
        outcome.within = within
    except Stopped as stop:
        outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = "interrupt"
    outcome.lower_bound = max(outcome.lower_bound, proven(frontier.priority()))
    outcome.expanded, outcome.generated = frontier.expanded, 1 + frontier.generated
    outcome.stored = frontier.stored
    outcome.iterations = [
        Iteration(outcome.lower_bound, outcome.expanded, outcome.generated - 1, time.perf_counter() - began)
    ]
    return outcome


def a_star(problem: Problem, *, threads: int, limits: Limits, report: Report) -> Outcome:
    """A shortest solution, or what is known when a limit stops the search. One thread does the work."""
    return _search_in(Order(1, 1), problem, limits, report, int, 1.0)


def dijkstra(problem: Problem, *, threads: int, limits: Limits, report: Report) -> Outcome:
    """A shortest solution, nearest boards first, with the heuristic that knows the goal and nothing else."""
    return _search_in(Order(1, 0), problem, limits, report, int, 1.0)


def bfs(problem: Problem, *, threads: int, limits: Limits, report: Report) -> Outcome:
    """A shortest solution, found level by level, with the heuristic that knows the goal and nothing else."""
    return _search_in(Order(1, 1, eager=True), problem, limits, report, int, 1.0)


def weighted_a_star(problem: Problem, *, threads: int, limits: Limits, report: Report, weight: float) -> Outcome:
    """A solution of at most ``weight`` times the shortest length, if the heuristic is a lower bound."""
    exact = round(UNIT * weight)
    if not problem.heuristic.admissible:
        return _search_in(Order(UNIT, exact), problem, limits, report, lambda priority: 0, None)
    return _search_in(Order(UNIT, exact), problem, limits, report, lambda priority: -(-priority // exact), exact / UNIT)


def greedy(problem: Problem, *, threads: int, limits: Limits, report: Report) -> Outcome:
    """A solution, without any promise, by the heuristic alone."""
    return _search_in(Order(0, 1), problem, limits, report, lambda priority: 0, None)
