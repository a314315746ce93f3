"""BAE*: best-first search from both ends, for consistent heuristics (Sadhukhan 2013).

One search goes from the start to the goal, the other from the goal to the start. Each has its own heuristic; let h be
the estimate of the moves to its own goal, and h' that of the other, of the moves back to where it began. A board that
one side has reached in g moves has the priority

    b = 2 g + h - h'  =  (g + h) + (g - h')

its usual sum, and what the way so far has wasted, as far as h' can tell. No move makes it smaller, and a board has been
reached by a shortest way when it is expanded, or else by one that is no part of a shorter solution. So nothing is
expanded twice.

*When to stop.* A solution not yet found joins an open board of one side and an open board of the other, and twice its
length is at least the sum of their priorities (see docs/design.md). Half the sum of the least open priorities, rounded
up, is therefore a lower bound. U is the length of the best solution so far: once it is no larger than the bound, it is
proven shortest. What cannot be part of a shorter one is dropped: a board with g + h of U or more, one whose priority
and the least one of the other side have a sum above 2 U - 2, and one that the other side has expanded, whose way on is
known. The side whose boards of the least priority are fewer expands them all; then the sides are compared again.

*One table* holds the boards of both sides, in rows of 32-bit words:

    key     the tiles, 4 to 7 bits per cell
    how     the moves to here, where the blank came from, the side, and whether the row was expanded or is out of date
    chain   the next row of the same hash value, 0 at the end
    next    the next row of the same side and priority
    parts   the values of both heuristics, two to a word

A board that both sides have reached has two rows, in the same chain: to enter one is to see the other. With Manhattan
distance a 4×4 board takes 24 bytes and 3 to 5 for the chains. A row that is reached by a shorter way is marked as out
of date, and another is made.

*Two threads.* The table is two halves, by a bit of the hash, each with rows, chains and open lists of its own. In a
round, each half has some of its boards expanded, and the children are sorted by the half they belong to; then each half
takes in its children. No two threads touch the same half, and the result does not depend on how many there are. Rounds
of few boards, of which there are many, are left to one thread, in a kernel that works off one after another.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import kernel, prefetch_line, shared
from pdb_builder.base.workers import Workers
from pdb_builder.index import neighbours_of

from ..frame import frame_of
from ..heuristics.contract import Heuristic, evaluate, load, prefetch, write_parts
from . import default_memory
from .automaton import MOVES
from .best_first import CHAIN, CHAINED_AT_ONCE, HOW, NEXT, chain_rows, key_hash, key_layout, reserve_rows
from .outcome import Iteration, Limits, Missing, OnProgress, Outcome, Problem, Progress, Stopped, noting_stop

FORWARD, BACKWARD, SIDES = 0, 1, 2
HALVES = 2
ROUND = 8192  # boards of each half that are expanded in a round
FEW = 2000  # boards of a round that one thread is done with sooner than two would begin
PRIORITIES = 1 << 14
FIRST_CHAINS = 1 << 12
FULL_CHAINS = 1.5  # rows per chain, at most
CHAIN_BYTES = 8  # a row's share of the chains, while there are new ones
MOST_ROWS = 2**32 - 2
FIRST_ROWS = 1 << 14
AHEAD = 32  # children whose rows are prefetched together
NO_SOLUTION = 1 << 30

PARTS = 3  # where the values begin in a row, after the key and the words that all best-first searches have
HALF_BIT = 48  # of a hash
# The word ``how``, from the lowest bit: the moves, the number of the neighbour that the blank came from, and flags.
LENGTH_BITS = 15
CAME_SHIFT, NOWHERE = LENGTH_BITS, MOVES
SIDE_FLAG, EXPANDED_FLAG, STALE_FLAG = 1 << 18, 1 << 19, 1 << 20
# The agenda: the least open priority of each side, the side whose turn it is, and how many boards it has there.
TURN, OPEN = SIDES, SIDES + 1
# Where the numbers of a half are kept.
ROWS, EXPANDED, GENERATED, BEST, MINE, THEIRS, STATE = range(7)
# The words of a child after its key, on the way to its half.
CHILD_HOW, CHILD_PRIORITY, CHILD_HASH, CHILD_PARTS = range(4)


@shared
def _length(how):
    """The moves to a board."""
    return how & ((1 << LENGTH_BITS) - 1)


@shared
def _came_from(how):
    """The number of the neighbour that the blank came from."""
    return (how >> CAME_SHIFT) & 7


class Layout(NamedTuple):
    """How boards lie in rows, and how they look to the other side."""

    word: np.ndarray  # [cell] -> the word of the key it lies in
    shift: np.ndarray  # [cell] -> where in the word
    mask: int  # the bits of a cell
    key: int  # words of the key
    first_parts: int  # of the heuristic to the goal
    all_parts: int
    row: int  # words of a row
    child: int  # words of a child
    cells: np.ndarray  # cell -> cell in the frame of the start
    tiles: np.ndarray  # tile -> tile in that frame
    neighbours: np.ndarray  # [cell, number] -> cell, -1 if there are no more
    back: np.ndarray  # [cell, number] -> the number of the cell among the neighbours of its neighbour


class Half(NamedTuple):
    """The boards whose hash has one of two values in a bit."""

    rows: np.ndarray
    chains: np.ndarray
    first: np.ndarray  # [side, priority] -> the first row of the open list
    open: np.ndarray  # [side, priority] -> how many rows that has, those out of date included
    state: np.ndarray


@kernel
def _hash_of(layout, key):
    """The hash of a key: one bit is the number of its half, and the lower ones are those of its chain."""
    return key_hash(key, 0, layout.key)


@shared
def _decode(layout, words, at, board):
    """The board of a key; returns the blank's cell."""
    blank = 0
    for cell in range(board.size):
        tile = (np.int64(words[at + layout.word[cell]]) >> layout.shift[cell]) & layout.mask
        board[cell] = tile
        if tile == 0:
            blank = cell
    return blank


@kernel
def _expand(forward, backward, layout, half, side, priority, most, shorter_than, children, counts):
    """Expand up to ``most`` boards of one half that have a priority; the children go to the half they belong to."""
    rows, _, first, waiting, state = half
    cells = layout.cells.size
    board = np.zeros(cells, dtype=np.uint8)
    there = np.zeros(cells, dtype=np.uint8)
    parts = np.zeros(layout.all_parts + 1, dtype=np.int64)
    key = np.zeros(layout.key, dtype=np.int64)
    expanded = 0
    generated = 0
    counts[:] = 0
    row = np.int64(first[side, priority])
    while row != 0 and expanded < most:
        at = row * layout.row
        links = at + layout.key
        row = np.int64(rows[links + NEXT])
        prefetch_line(rows, row * layout.row)
        waiting[side, priority] -= 1
        how = np.int64(rows[links + HOW])
        if how & (STALE_FLAG | EXPANDED_FLAG) != 0:
            continue
        rows[links + HOW] = how | EXPANDED_FLAG
        expanded += 1
        blank = _decode(layout, rows, at, board)
        for cell in range(cells):
            there[layout.cells[cell]] = layout.tiles[board[cell]]
        for part in range(layout.all_parts):
            parts[part] = (np.int64(rows[links + PARTS + (part >> 1)]) >> (16 * (part & 1))) & 0xFFFF
        load(forward, board, parts, 0)
        load(backward, there, parts, layout.first_parts)
        length = _length(how) + 1
        for number in range(MOVES):
            near = layout.neighbours[blank, number]
            if near < 0 or number == _came_from(how):
                continue
            tile = np.int64(board[near])
            prefetch(forward, number, tile, near, blank, 0, 0)
            prefetch(backward, number, layout.tiles[tile], layout.cells[near], layout.cells[blank], 0, 0)
        for number in range(MOVES):
            near = layout.neighbours[blank, number]
            if near < 0 or number == _came_from(how):
                continue
            generated += 1
            tile = np.int64(board[near])
            ahead = evaluate(forward, number, tile, near, blank)
            behind = evaluate(backward, number, layout.tiles[tile], layout.cells[near], layout.cells[blank])
            write_parts(forward, number, ahead, parts, 0)
            write_parts(backward, number, behind, parts, layout.first_parts)
            if side == BACKWARD:
                ahead, behind = behind, ahead
            if length + ahead >= shorter_than:
                continue
            for word in range(layout.key):
                key[word] = rows[at + word]
            key[layout.word[near]] ^= tile << layout.shift[near]
            key[layout.word[blank]] ^= tile << layout.shift[blank]
            mixed = key_hash(key, 0, layout.key)
            to = (mixed >> HALF_BIT) & 1
            child = counts[to] * layout.child
            counts[to] += 1
            for word in range(layout.key):
                children[to, child + word] = key[word]
            child += layout.key
            came = layout.back[blank, number] << CAME_SHIFT
            children[to, child + CHILD_HOW] = length | came | (side * SIDE_FLAG)
            children[to, child + CHILD_PRIORITY] = 2 * length + ahead - behind
            children[to, child + CHILD_HASH] = mixed
            for word in range((layout.all_parts + 1) >> 1):
                packed = parts[2 * word]
                if 2 * word + 1 < layout.all_parts:
                    packed |= parts[2 * word + 1] << 16
                children[to, child + CHILD_PARTS + word] = packed
    first[side, priority] = row
    state[EXPANDED] += expanded
    state[GENERATED] += generated


@kernel
def _take_in(layout, half, children, count, other_priority, shorter_than):
    """Enter children into their half, unless they are useless; note the best solution that they complete.

    ``other_priority`` is the least one of the other side. Returns False if a priority is too large.
    """
    rows, chains, first, waiting, state = half
    best = min(state[BEST], shorter_than)
    for start in range(0, count, AHEAD):
        end = min(start + AHEAD, count)
        for number in range(start, end):
            prefetch_line(chains, children[number * layout.child + layout.key + CHILD_HASH] & (chains.size - 1))
        for number in range(start, end):
            chain = children[number * layout.child + layout.key + CHILD_HASH] & (chains.size - 1)
            prefetch_line(rows, np.int64(chains[chain]) * layout.row)
        for number in range(start, end):
            child = number * layout.child
            more = child + layout.key
            how, priority = children[more + CHILD_HOW], children[more + CHILD_PRIORITY]
            length, side = _length(how), np.int64(how & SIDE_FLAG != 0)
            chain = children[more + CHILD_HASH] & (chains.size - 1)
            mine = 0
            theirs = 0
            row = np.int64(chains[chain])
            while row != 0 and (mine == 0 or theirs == 0):
                at = row * layout.row
                same = True
                for word in range(layout.key):
                    same = same and np.int64(rows[at + word]) == children[child + word]
                how_there = np.int64(rows[at + layout.key + HOW])
                if same and how_there & STALE_FLAG == 0:
                    if (how_there ^ how) & SIDE_FLAG == 0:
                        mine = row
                    else:
                        theirs = row
                row = np.int64(rows[at + layout.key + CHAIN])
            if mine != 0 and _length(np.int64(rows[mine * layout.row + layout.key + HOW])) <= length:
                continue
            useless = False
            better = False
            if theirs != 0:
                how_there = np.int64(rows[theirs * layout.row + layout.key + HOW])
                better = length + _length(how_there) < best
                useless = how_there & EXPANDED_FLAG != 0
                if better:
                    best = length + _length(how_there)
            if priority + other_priority > 2 * best - 2:
                useless = True
            if useless and not better:
                continue
            if mine != 0:
                at = mine * layout.row + layout.key
                rows[at + HOW] = np.int64(rows[at + HOW]) | STALE_FLAG
            if priority >= PRIORITIES:
                return False
            state[ROWS] += 1
            row = state[ROWS]
            if better:
                state[BEST], state[MINE], state[THEIRS] = best, row, theirs
            at = row * layout.row
            for word in range(layout.key):
                rows[at + word] = children[child + word]
            at += layout.key
            for word in range((layout.all_parts + 1) >> 1):
                rows[at + PARTS + word] = children[more + CHILD_PARTS + word]
            rows[at + CHAIN] = chains[chain]
            chains[chain] = row
            rows[at + HOW] = how | (EXPANDED_FLAG if useless else 0)
            if not useless:
                rows[at + NEXT] = first[side, priority]
                first[side, priority] = row
                waiting[side, priority] += 1
    return True


@shared
def _has_room(layout, half, children):
    """Whether a half has rows and chains for so many children more."""
    needed = half.state[ROWS] + children + 1
    return needed * layout.row <= half.rows.size and needed <= FULL_CHAINS * half.chains.size


@kernel
def _next_round(halves, agenda):
    """Find the least open priority of each side, and the side whose turn it is; returns the best solution so far.

    Least priorities never fall. A side goes on until it has worked off one of them. Then it is the turn of the side
    with fewer boards.
    """
    of_start = 0
    of_goal = 0
    before = agenda[agenda[TURN]]
    for side in range(SIDES):
        priority = agenda[side]
        count = 0
        while count == 0 and priority < PRIORITIES:
            count = halves[0].open[side, priority] + halves[1].open[side, priority]
            priority += 1
        agenda[side] = priority - 1 if count != 0 else NO_SOLUTION
        if side == FORWARD:
            of_start = count
        else:
            of_goal = count
    if agenda[agenda[TURN]] != before:
        agenda[TURN] = FORWARD if of_start <= of_goal else BACKWARD
    agenda[OPEN] = of_start if agenda[TURN] == FORWARD else of_goal
    return min(halves[0].state[BEST], halves[1].state[BEST])


@kernel
def _small_rounds(forward, backward, layout, halves, agenda, few, most, step, children, counts):
    """Do one round after another, as long as they have few boards; returns whether the last children are not taken in.

    That is so if a half has no room for them; to take in some of them again does no harm. The rounds end as well before
    more than ``most`` boards are expanded, and when a solution is proven shortest: lengths differ by ``step`` at least.
    """
    while True:
        best = _next_round(halves, agenda)
        side, count = agenda[TURN], agenda[OPEN]
        if count > min(few, most) or (agenda[FORWARD] + agenda[BACKWARD] + 1) // 2 > best - step:
            return False
        most -= count
        for number in range(HALVES):
            half, to = halves[number], children[number]
            _expand(forward, backward, layout, half, side, agenda[side], count, best, to, counts[number])
        for number in range(HALVES):
            if not _has_room(layout, halves[number], counts[0, number] + counts[1, number]):
                return True
        for number in range(HALVES):
            for source in range(HALVES):
                arrived = children[source, number]
                if not _take_in(layout, halves[number], arrived, counts[source, number], agenda[1 - side], best):
                    return True


@kernel
def _row_of(layout, half, key, mixed, side):
    """The row of a board on a side."""
    rows, chains, _, _, _ = half
    row = np.int64(chains[mixed & (chains.size - 1)])
    while row != 0:
        at = row * layout.row
        same = True
        for word in range(layout.key):
            same = same and np.int64(rows[at + word]) == key[word]
        how = np.int64(rows[at + layout.key + HOW])
        if same and how & STALE_FLAG == 0 and np.int64(how & SIDE_FLAG != 0) == side:
            return row
        row = np.int64(rows[at + layout.key + CHAIN])
    return row


def layout_of(problem: Problem, heuristics: tuple[Heuristic, Heuristic], cells: tuple, tiles: tuple) -> Layout:
    """The layout for a problem, its heuristics, and the maps into the frame of the start."""
    grid, parts = problem.grid, sum(one.parts for one in heuristics)
    word, shift, mask, key = key_layout(grid)
    neighbours = neighbours_of(grid)
    back = np.zeros_like(neighbours)
    for cell, around in enumerate(grid.neighbours):
        for number, near in enumerate(around):
            back[cell, number] = grid.neighbours[near].index(cell)
    sizes = (key + PARTS + (parts + 1) // 2, key + CHILD_PARTS + (parts + 1) // 2)
    turned = np.array(cells), np.array(tiles)
    return Layout(word, shift, mask, key, heuristics[0].parts, parts, *sizes, *turned, neighbours, back)


class _Table:
    """All boards of both sides."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        assert problem.backward is not None
        memory = default_memory() if limits.memory is None else limits.memory
        grid, frame = problem.grid, frame_of(problem.grid, problem.start)
        behind = problem.backward(grid, frame.blank, Missing.WEAKER, lambda: limits.check(0))
        assert behind is not None
        self.heuristics = problem.heuristic, behind
        for heuristic in self.heuristics:
            if not heuristic.consistent:
                raise InputError(
                    "bidirectional needs a consistent heuristic, one that no move changes by more than one, and "
                    f"{heuristic.name} is not known to be: use a bits database or another heuristic, or a-star"
                )
        self.layout = layout_of(problem, self.heuristics, frame.cells, frame.tiles)
        self.capacity = max(ROUND, min(MOST_ROWS, memory // (HALVES * (4 * self.layout.row + CHAIN_BYTES))))
        self.halves = [self._new_half() for _ in range(HALVES)]
        self.agenda = np.zeros(SIDES + 2, dtype=np.int64)
        self.best = NO_SOLUTION  # the length of the best solution so far
        self.step = 2 if grid.bipartite else 1
        self.workspaces = [tuple(one.workspace(MOVES) for one in self.heuristics) for _ in range(HALVES)]
        room = (MOVES - 1) * (ROUND + 1) * self.layout.child
        self.children = np.zeros((HALVES, HALVES, room), dtype=np.int64)  # [from, to]
        self.counts = np.zeros((HALVES, HALVES), dtype=np.int64)
        goal = grid.goal(problem.blank)
        self.values = [self._begin(side, board, frame.enter(board)) for side, board in enumerate((problem.start, goal))]

    def _new_half(self) -> Half:
        return Half(
            np.empty(self.layout.row * (min(self.capacity, FIRST_ROWS) + 1), dtype=np.uint32),
            np.zeros(FIRST_CHAINS, dtype=np.uint32),
            np.zeros((SIDES, PRIORITIES), dtype=np.uint32),
            np.zeros((SIDES, PRIORITIES), dtype=np.int64),
            np.array([0, 0, 0, NO_SOLUTION, 0, 0], dtype=np.int64),
        )

    def _begin(self, side: int, board: tuple[int, ...], there: tuple[int, ...]) -> int:
        """Enter the board that a side begins with; returns its priority, which is the estimate to the other end."""
        layout = self.layout
        parts = [*self.heuristics[0].measure(board), *self.heuristics[1].measure(there)]
        ends = max(parts[: layout.first_parts]), max(parts[layout.first_parts :])
        child = np.zeros(layout.child, dtype=np.int64)
        for cell, tile in enumerate(board):
            child[layout.word[cell]] |= tile << int(layout.shift[cell])
        priority = ends[side] - ends[1 - side]
        mixed = int(_hash_of(layout, child))
        child[layout.key : layout.key + CHILD_PARTS] = (NOWHERE << CAME_SHIFT) | side * SIDE_FLAG, priority, mixed
        for part, value in enumerate(parts):
            child[layout.key + CHILD_PARTS + part // 2] |= value << (16 * (part % 2))
        _take_in(layout, self.halves[(mixed >> HALF_BIT) & 1], child, 1, 0, NO_SOLUTION)
        return priority

    def make_room(self, number: int, children: int) -> None:
        """Make sure that a half has rows and chains for so many children more. Raises ``Stopped`` if there is none."""
        half, needed = self.halves[number], int(self.halves[number].state[ROWS]) + children + 1
        if _has_room(self.layout, half, children):
            return
        if needed > self.capacity:
            raise Stopped("memory")
        if needed * self.layout.row > half.rows.size:  # after a small beginning, for all the memory that may be used
            rows = reserve_rows(self.layout.row, self.capacity)
            self.capacity = min(self.capacity, rows.size // self.layout.row - 1)
            rows[: half.rows.size] = half.rows
            half = half._replace(rows=rows)
        if needed > FULL_CHAINS * half.chains.size:
            size = half.chains.size
            while needed > FULL_CHAINS * size:
                size *= 2
            half = half._replace(chains=np.zeros(size, dtype=np.uint32))
            end = int(half.state[ROWS]) + 1
            for low in range(1, end, CHAINED_AT_ONCE):
                high = min(end, low + CHAINED_AT_ONCE)
                chain_rows(half.rows, half.chains, low, high, self.layout.key, self.layout.row)
        self.halves[number] = half

    def sum_of(self, what: int) -> int:
        return sum(int(half.state[what]) for half in self.halves)

    def next_round(self) -> int:
        """Bring the agenda up to date; returns the length of the best solution so far."""
        self.best = int(_next_round(tuple(self.halves), self.agenda))
        return self.best

    def small_rounds(self, most: int) -> None:
        """Do rounds of few boards, up to ``most`` boards in all."""
        work: Any = (*self.workspaces[0], self.layout, tuple(self.halves), self.agenda)
        if _small_rounds(*work, FEW, most, self.step, self.children, self.counts):
            other = int(self.agenda[1 - self.agenda[TURN]])
            for number in range(HALVES):
                self.take_in(number, other, self.best)

    def take_in(self, number: int, other_priority: int, shorter_than: int) -> None:
        """Take in the children of one half."""
        for source in range(HALVES):
            count = int(self.counts[source, number])
            self.make_room(number, count)
            children = self.children[source, number]
            if not _take_in(self.layout, self.halves[number], children, count, other_priority, shorter_than):
                raise Stopped("memory")

    def path(self) -> list[int]:
        """The blank's cells along the best solution, from the start to the goal."""
        half = min(self.halves, key=lambda half: int(half.state[BEST]))
        ways: list[list[int]] = [[], []]
        for row in half.state[[MINE, THEIRS]].tolist():
            side, way = self._way(half, row)
            ways[side] = way
        return ways[FORWARD][::-1] + ways[BACKWARD][1:]

    def _way(self, half: Half, row: int) -> tuple[int, list[int]]:
        """The side of a row, and the blank's cells from there back to where the side began."""
        layout, key = self.layout, np.zeros(self.layout.key, dtype=np.int64)
        board = np.zeros(layout.cells.size, dtype=np.uint8)
        side, way = 0, []
        while True:
            at = row * layout.row
            key[:] = half.rows[at : at + layout.key]
            how = int(half.rows[at + layout.key + HOW])
            side, blank = int(how & SIDE_FLAG != 0), int(_decode(layout, key, 0, board))
            way.append(blank)
            if _came_from(how) == NOWHERE:
                return side, way
            before = int(layout.neighbours[blank, _came_from(how)])
            tile = int(board[before])
            key[layout.word[before]] ^= tile << int(layout.shift[before])
            key[layout.word[blank]] ^= tile << int(layout.shift[blank])
            mixed = int(_hash_of(layout, key))
            half = self.halves[(mixed >> HALF_BIT) & 1]
            row = int(_row_of(layout, half, key, mixed, side))


def search(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A shortest solution, or what is known when a limit stops the search; two threads, if there are that many."""
    table = _Table(problem, limits)
    outcome = Outcome(table.values[FORWARD], problem.at_least(max(table.values)))
    began = time.perf_counter()
    with noting_stop(outcome), Workers(min(threads, HALVES)) as workers:
        while True:
            best = table.next_round()
            ahead, back, side, count = table.agenda.tolist()
            proven = problem.at_least(min(best, (ahead + back + 1) // 2))
            outcome.lower_bound = min(best, max(outcome.lower_bound, proven))
            if best == outcome.lower_bound:
                break
            generated = SIDES + table.sum_of(GENERATED)
            limits.check(generated)
            stored = table.sum_of(ROWS)
            progress(Progress(outcome.lower_bound, table.sum_of(EXPANDED), generated, stored=stored))
            most = limits.expansions(generated, HALVES * ROUND)
            if count <= min(FEW, most):
                table.small_rounds(most)
            else:
                least = ahead, back
                _round(table, workers, side, least[side], least[1 - side], max(1, most // HALVES), best)
        outcome.suboptimality_bound = 1.0
    if table.best < NO_SOLUTION:
        outcome.paths = [table.path()]
    outcome.expanded, outcome.generated = table.sum_of(EXPANDED), SIDES + table.sum_of(GENERATED)
    outcome.stored = table.sum_of(ROWS)
    seconds = time.perf_counter() - began
    outcome.iterations = [Iteration(outcome.lower_bound, outcome.expanded, outcome.generated - SIDES, seconds)]
    return outcome


def _round(table: _Table, workers: Workers, side: int, priority: int, other: int, most: int, shorter_than: int) -> None:
    """Expand boards of a side that have a priority, and take in their children."""

    def expand(number: int, _: int) -> None:
        work: Any = (*table.workspaces[number], table.layout, table.halves[number], side, priority, most, shorter_than)
        _expand(*work, table.children[number], table.counts[number])

    def take_in(number: int, _: int) -> None:
        table.take_in(number, other, shorter_than)

    for work in (expand, take_in):
        workers.over([(number, number + 1) for number in range(HALVES)], work)
