"""IDA*: depth-first search under a rising bound. Hardly any memory, and the fastest way to a proof.

An iteration visits every path whose length so far plus heuristic value stays within the bound. If none leads to the
goal, the bound rises to the least sum that exceeded it: no shorter solution exists. The first solution found is
therefore a shortest one, whether the heuristic is consistent or not.

*The loop* exists once, for all heuristics. To expand a board it judges all its moves first, so that the waits for
memory overlap; those that stay within the bound are noted in ``todo``, one word per depth. A move is judged by its
value, or by less if the heuristic can (see ``heuristics.tight_sums``). Moves are made and taken back on one board. The
loop returns after a given number of expansions and can be resumed, so that Python decides about time, interruption and
progress.

*Many threads.* The tree is cut at a shallow depth: the loop itself, run with a *floor*, lists the paths that reach it.
The subtrees below are searched in order, by as many threads as there are. If one holds a solution, those after it are
abandoned, but those before it are finished. So the solution and all counts are those of one thread searching alone,
however many there are.

*Counts.* Every board whose moves were evaluated is expanded; every move evaluated is a board generated, and the start
counts as one. A recursive search would not yet have generated the last moves of the boards on the way to the solution,
so these are not counted. In the fixed order and never undoing a move, the counts are those of Korf (1985).

*Without a heuristic* the same loop is depth-first search with iterative deepening. With a depth limit there is a single
iteration, which ends at the first solution it comes across; that need not be a shortest one.

*Order.* Moves are tried in the fixed order of the automaton, or in the order of their values, which helps to find the
solution sooner in the last iteration and changes nothing in the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import borrowing, fetch, inlined, kernel, prefetch_line, put, shared

from ..heuristics.contract import (
    aim,
    apply,
    begin,
    evaluate,
    exceeds,
    load,
    prefetch,
    prefetches,
    reach,
    settle,
    slack_of,
    step,
)
from .automaton import MOVES, Automaton, cell_of, pack, state_of
from .outcome import Iteration, Limits, OnProgress, Outcome, Problem, Progress, Stopped, noting_stop
from .word_files import AUTOMATON, made_automaton

SLICE = 500_000  # expansions before the loop returns: some hundredths of a second
PULSE = 0.05  # seconds between looks at the clock while threads search
ROOM = 64  # how much deeper than the bound the stacks are made
UNCUT = 300_000  # if the iteration before generated fewer boards than this, the tree is not cut
UNCUT_ALONE = 10_000_000  # the same for a single thread, which cuts only to tell how far it is
FIRST_CUT, DEEPEST_CUT = 6, 30  # depths
LEAST_SUBTREES, MOST_SUBTREES = 32, 2_000
SUBTREE_SIZE = 50_000  # boards of the last iteration per subtree, within these limits
FIRST_LISTED = 4096  # room for paths to the floor, doubled when it is full

# What the loop was doing when it returned.
FINISHED, FOUND, SLICED, FULL = range(4)
# Where the numbers of a stack are kept in ``Stack.state``.
DEPTH, BASE, EXPANDED, GENERATED, LEAST, LISTED, STATE = range(7)


class Stack(NamedTuple):
    """The path of one search and what is left to do along it."""

    board: np.ndarray
    path: np.ndarray  # [depth] -> the successor that was reached, and above its 32 bits the index of the move to it
    todo: np.ndarray  # [depth] -> the moves still to be made, packed
    state: np.ndarray


def _new_stack(cells: int, depth: int) -> Stack:
    return Stack(
        np.zeros(cells, dtype=np.uint8),
        np.zeros(depth, dtype=np.int64),
        np.zeros(depth, dtype=np.int64),
        np.zeros(STATE, dtype=np.int64),
    )


# ---- packed moves and slots ---------------------------------------------------------------------

# The moves to be made at a depth are a word of four bits each, the next one lowest: the move index and a bit that is
# always set, so that 0 is the end of the list.
MOVE_BITS, LISTED_MOVE = 4, 4
VALUE_BITS = 16  # of the values that moves are ordered by
MORE_THAN_SLACK = 1 << 12  # of any node


@inlined
def _move_at(moves, place):
    """The index of a move in a packed list."""
    return (moves >> (MOVE_BITS * place)) & (MOVES - 1)


@inlined
def _by_value(moves, values, count):
    """Packed moves in ascending order of their packed values; equal ones stay in order."""
    ordered = 0
    for place in range(count):
        least = 1 << VALUE_BITS
        best = 0
        for other in range(count):
            value = (values >> (VALUE_BITS * other)) & ((1 << VALUE_BITS) - 1)
            if value < least:
                least = value
                best = other
        values |= ((1 << VALUE_BITS) - 1) << (VALUE_BITS * best)
        ordered |= (_move_at(moves, best) | LISTED_MOVE) << (MOVE_BITS * place)
    return ordered


@shared
def _reached(successor, index):
    """An entry of the path: a successor, and the index of the move that led to it."""
    return successor | (index << 32)


@shared
def _last_move(entry):
    """The index of the move that led to an entry of the path."""
    return entry >> 32


@shared
def _node(depth, last_move):
    """The number of a board at this depth, reached by a move of this index: siblings have numbers of their own."""
    return (depth * MOVES) | last_move


@shared
def _slot(node, index):
    """The slot for a move of a node."""
    return (node * MOVES) | index


# ---- the loop -----------------------------------------------------------------------------------


@inlined
def _prefetch_moves(heuristic, node, successor, board, automaton, via, bounded):
    """Prefetch all moves of a node: that after the move in slot ``via`` of the current board, or the board itself."""
    first, blank = state_of(successor) * MOVES, cell_of(successor)
    via_tile = fetch(board, blank)  # which the move has not yet taken from there; 0 if there is none
    for index in range(MOVES):
        child = np.int64(fetch(automaton.successors, first + index))
        if child == 0:
            break
        source = cell_of(child)
        tile = fetch(board, source)
        if bounded is not None:
            aim(heuristic, node, _slot(node, index), tile, source, blank, via, via_tile)
        else:
            prefetch(heuristic, _slot(node, index), tile, source, blank, via, via_tile)


@inlined
def _within_bound(heuristic, depth, here, board, automaton, by_value):
    """The moves of a node that stay within the bound, judged by a ``bounded`` heuristic.

    They are packed, together with what orders them; also how many there are, and how many moves were judged.
    """
    node, first, blank = _node(depth, _last_move(here)), state_of(here) * MOVES, cell_of(here)
    judged = 0
    left = 0  # moves that survive the first look, packed
    places = 0
    for index in range(MOVES):
        child = np.int64(fetch(automaton.successors, first + index))
        if child == 0:
            break
        judged += 1
        if not exceeds(heuristic, _slot(node, index), fetch(board, cell_of(child))):
            prefetch_line(automaton.successors, state_of(child) * MOVES)
            left |= (index | LISTED_MOVE) << (MOVE_BITS * places)
            places += 1
    for place in range(places):
        index = _move_at(left, place)
        source = cell_of(np.int64(fetch(automaton.successors, first + index)))
        slot, child_node = _slot(node, index), _node(depth + 1, index)
        reach(heuristic, node, slot, child_node, fetch(board, source), source, blank)
    for place in range(places):  # while memory answers
        index = _move_at(left, place)
        child = np.int64(fetch(automaton.successors, first + index))
        _prefetch_moves(heuristic, _node(depth + 1, index), child, board, automaton, _slot(node, index), True)
    chosen = 0
    values = 0
    count = 0
    for place in range(places):
        index = _move_at(left, place)
        tile = fetch(board, cell_of(np.int64(fetch(automaton.successors, first + index))))
        child_node = _node(depth + 1, index)
        if settle(heuristic, node, _slot(node, index), child_node, tile):
            chosen |= (index | LISTED_MOVE) << (MOVE_BITS * count)
            if by_value:
                values |= (MORE_THAN_SLACK - slack_of(heuristic, child_node)) << (VALUE_BITS * count)
            count += 1
    return chosen, values, count, judged


@borrowing
def _start(heuristic, stack, automaton, start, parts, prefix, bound, bounded):
    """Put a search at the end of a path of successors from the start."""
    board, path, todo, state = stack
    for cell in range(board.size):
        board[cell] = start[cell]
    load(heuristic, board, parts, 0)
    path[0] = prefix[0]
    blank = cell_of(path[0])
    for depth in range(1, prefix.size):
        path[depth] = prefix[depth]
        source = cell_of(path[depth])
        tile = board[source]
        prefetch(heuristic, 0, tile, source, blank, 0, 0)
        evaluate(heuristic, 0, tile, source, blank)
        apply(heuristic, 0, tile, source, blank)
        board[blank] = tile
        blank = source
    board[blank] = 0
    base = prefix.size - 1
    begin(heuristic, _node(base, 0), bound - base)
    _prefetch_moves(heuristic, _node(base, 0), path[base], board, automaton, 0, bounded)
    state[DEPTH] = state[BASE] = base
    todo[base] = 0
    state[EXPANDED] = state[GENERATED] = state[LISTED] = 0
    state[LEAST] = 1 << 30


@borrowing
def _search(heuristic, stack, automaton, bound, by_value, unexpanded, floor, prefixes, counts, most, early, bounded):
    """Search the subtree of a stack until it is finished, a solution is found or ``most`` boards were expanded.

    ``unexpanded`` says that the board at the current depth is still to be expanded. Paths that reach depth ``floor``
    are listed in ``prefixes`` instead of being followed, with the counts up to there. Without ``early``, no solution
    is shorter than the bound, and none is looked for. ``early`` and ``bounded`` are True or None, which is known when
    this is compiled: of the two ways to judge moves there is one.
    """
    board, path, todo, state = stack
    successors = automaton.successors
    depth, base = state[DEPTH], state[BASE]
    expanded, generated, least, listed = state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED]
    last = expanded + most
    here = path[depth]
    blank = cell_of(here)
    chosen = todo[depth]
    status = SLICED
    while True:
        if unexpanded:
            first = state_of(here) * MOVES
            node = _node(depth, _last_move(here))
            room = bound - depth - 1
            expanded += 1
            if bounded is not None:
                chosen, values, count, judged = _within_bound(heuristic, depth, here, board, automaton, by_value)
                generated += judged
                if count < judged:
                    least = min(least, bound + 2)
            else:
                chosen = 0
                values = 0
                count = 0
                excess = 1 << 20
                for index in range(MOVES):
                    child = np.int64(fetch(successors, first + index))
                    if child == 0:
                        break
                    generated += 1
                    source = cell_of(child)
                    value = evaluate(heuristic, _slot(node, index), fetch(board, source), source, blank)
                    fits = np.int64(value <= room)
                    chosen |= ((index | LISTED_MOVE) & -fits) << (MOVE_BITS * count)
                    values |= (value & -fits) << (VALUE_BITS * count)
                    count += fits
                    excess = min(excess, value + (fits << 20))
                    if early is not None and value == 0:
                        chosen, room = index | LISTED_MOVE, 0
                        break
                least = min(least, excess + depth + 1)
            if room == 0 and chosen != 0:  # with no room left only the goal itself is within the bound
                path[depth + 1] = np.int64(successors[first + _move_at(chosen, 0)])
                todo[depth] = 0
                status = FOUND
                break
            if by_value and count > 1:
                chosen = _by_value(chosen, values, count)
            todo[depth] = chosen
            for place in range(count):
                index = _move_at(chosen, place)
                child = np.int64(fetch(successors, first + index))
                prefetch_line(successors, state_of(child) * MOVES)
                if prefetches(heuristic):
                    via = _slot(node, index)
                    _prefetch_moves(heuristic, _node(depth + 1, index), child, board, automaton, via, bounded)
            if expanded >= last:
                break
        # Go on with the next move to be made, here or above.
        while chosen == 0 and depth > base:
            index = _last_move(here)
            source = blank
            depth -= 1
            here = fetch(path, depth)
            blank = cell_of(here)
            tile = fetch(board, blank)
            put(board, source, tile)
            step(heuristic, _slot(_node(depth, _last_move(here)), index), tile, blank, source)
            chosen = fetch(todo, depth)
        if chosen == 0:
            status = FINISHED
            break
        index = _move_at(chosen, 0)
        successor = np.int64(fetch(successors, state_of(here) * MOVES + index))
        unexpanded = depth + 1 != floor
        if not unexpanded:
            if listed == counts.shape[0]:
                status = FULL
                break
            for above in range(depth + 1):
                prefixes[listed, above] = path[above] & 0xFFFFFFFF
            prefixes[listed, floor] = successor
            counts[listed, 0], counts[listed, 1] = expanded, generated
            listed += 1
        chosen >>= MOVE_BITS
        put(todo, depth, chosen)
        if unexpanded:
            source = cell_of(successor)
            tile = fetch(board, source)
            put(board, blank, tile)
            step(heuristic, _slot(_node(depth, _last_move(here)), index), tile, source, blank)
            depth += 1
            here = _reached(successor, index)
            put(path, depth, here)
            blank = source
    state[DEPTH] = depth
    state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED] = expanded, generated, least, listed
    return status


@kernel
def _later_moves(path, first, last, automaton):
    """How many moves come after those of a path, at the depths ``first`` ... ``last - 1``."""
    count = 0
    for depth in range(first, last):
        state = state_of(path[depth])
        index = 0
        while np.int64(automaton.successors[state * MOVES + index]) != path[depth + 1]:
            index += 1
        count += automaton.branching[state] - 1 - index
    return count


# ---- one tree, bound by bound -------------------------------------------------------------------


class _Worker(NamedTuple):
    """What one thread needs to search: its own heuristic and stack, and where it tells how far it is."""

    heuristic: Any
    stack: Stack
    done: np.ndarray  # boards expanded and generated in this iteration


class _Searched(NamedTuple):
    """What searching a subtree took and found. Unless all solutions are wanted, the counts end at the first."""

    expanded: int
    generated: int
    least: int  # the least sum that exceeded the bound
    paths: list[np.ndarray]  # solutions, as successors from the start


class _Floor:
    """A depth at which paths are listed instead of being followed, and those listed so far."""

    def __init__(self, depth: int, room: int = 0) -> None:
        self.depth = depth
        self.prefixes = np.zeros((room, depth + 1), dtype=np.uint32)
        self.counts = np.zeros((room, 2), dtype=np.int64)  # boards expanded and generated when each was listed

    def double(self) -> None:
        self.prefixes, self.counts = np.vstack([self.prefixes] * 2), np.vstack([self.counts] * 2)

    def trim(self, listed: int) -> None:
        self.prefixes, self.counts = self.prefixes[:listed], self.counts[:listed]


NO_FLOOR = _Floor(-1)


class _Tree:
    """The search tree of one problem, to be searched bound by bound."""

    automaton: Automaton  # of the current iteration, and the successor that is its start
    root: np.ndarray

    def __init__(self, problem: Problem, threads: int, limits: Limits, progress: OnProgress, every: bool) -> None:
        self.problem, self.threads, self.limits, self.progress, self.every = problem, threads, limits, progress, every
        self.start = np.array(problem.start, dtype=np.uint8)
        self.parts = np.array(problem.heuristic.measure(problem.start), dtype=np.int64)
        self.outcome = Outcome(int(self.parts.max()), problem.at_least(int(self.parts.max())))
        self.cut = FIRST_CUT
        self.depth = 0
        self.workers: list[_Worker] = []
        self.executor: Executor | None = None

    def close(self) -> None:
        if self.executor:
            self.executor.shutdown()

    def iterate(self, bound: int, early: bool = False) -> int:
        """Search within a bound and return the next one. Solutions and counts go to the outcome.

        ``early`` is for a bound that was not reached step by step, so that there may be shorter solutions.
        """
        outcome = self.outcome
        if not early:
            outcome.lower_bound = bound
        pruning = self._look_back(bound)
        if bound + 2 > self.depth:
            self.depth = bound + ROOM
            self.workers = [self._new_worker()]
        self.workers[0].done[:] = 0
        began = time.perf_counter()
        try:
            uncut = UNCUT if self.threads > 1 else UNCUT_ALONE
            worth_cutting = outcome.iterations and outcome.iterations[-1].generated >= uncut
            found = self._in_subtrees(bound) if worth_cutting else self._in_one_piece(bound, early)
            expanded, generated = found.expanded, found.generated
        except BaseException:
            expanded, generated = self._done()
            raise
        finally:
            outcome.expanded += expanded
            outcome.generated += generated
            outcome.iterations.append(Iteration(bound, expanded, generated, time.perf_counter() - began, pruning))
        outcome.paths = [cell_of(path).tolist() for path in found.paths]
        return found.least

    def _look_back(self, bound: int) -> int:
        """Choose the automaton of the next iteration; returns how many moves it looks back.

        It may have to be made, and does not outlast the limits while it is. If there is no memory for the later one,
        the search goes on with the first.
        """
        problem, outcome = self.problem, self.outcome
        moves, blank = problem.pruning.moves(outcome.iterations), problem.start.index(0)

        def report(share: float) -> None:
            self.progress(Progress(bound, outcome.expanded, outcome.generated, share, preparing=AUTOMATON))
            self.limits.check(0)

        try:
            self.automaton = made_automaton(problem, moves, self.every, self.threads, report)
        except InputError as error:
            pruning, fact = problem.pruning, str(error).rpartition(": ")[0]
            if moves == pruning.first:
                raise
            pruning.notify(f"{fact}: the search goes on looking back {pruning.first} moves")
            self.problem = problem._replace(pruning=pruning._replace(later=pruning.first))
            moves = pruning.first
            self.automaton = made_automaton(problem, moves, self.every, self.threads, report)
        self.root = np.array([pack(self.automaton.starts[blank], blank)], dtype=np.uint32)
        return moves

    def _new_worker(self) -> _Worker:
        heuristic = self.problem.heuristic.workspace(int(_slot(_node(self.depth, 0), 0)))
        return _Worker(heuristic, _new_stack(self.problem.grid.cells, self.depth), np.zeros(2, dtype=np.int64))

    def _done(self) -> tuple[int, int]:
        """The boards expanded and generated in this iteration."""
        return sum(int(worker.done[0]) for worker in self.workers), sum(int(worker.done[1]) for worker in self.workers)

    def _pulse(self, bound: int, share: float | None = None) -> None:
        """Between slices: tell how far the search is, and stop it if it is time."""
        expanded, generated = self._done()
        generated += self.outcome.generated
        self.progress(Progress(bound, self.outcome.expanded + expanded, generated, share))
        self.limits.check(generated)

    def _slice(self) -> int:
        """How many boards to expand until the next pulse."""
        return self.limits.expansions(self.outcome.generated + self._done()[1], SLICE)

    def _below(
        self,
        worker: _Worker,
        bound: int,
        prefix: np.ndarray,
        pulse: Callable[[], object],
        early: bool = False,
        floor: _Floor = NO_FLOOR,
    ) -> _Searched | None:
        """Search below a path. ``pulse`` is called between slices; if it returns True the rest is abandoned."""
        heuristic, stack, done = worker
        state = stack.state
        bounded = True if self.problem.heuristic.bounded else None
        _start(heuristic, stack, self.automaton, self.start, self.parts, prefix, bound, bounded)
        before, paths = done.copy(), []
        status, unexpanded = SLICED, True
        while status != FINISHED:
            listing = (floor.depth, floor.prefixes, floor.counts)
            how = (self.problem.by_value, unexpanded, *listing, self._slice(), True if early else None, bounded)
            status = _search(heuristic, stack, self.automaton, bound, *how)
            unexpanded = False
            done[:] = before + state[[EXPANDED, GENERATED]]
            if status == FULL:
                floor.double()
            if status == FOUND:
                paths.append(stack.path[: state[DEPTH] + 2] & 0xFFFFFFFF)
                if not self.every:
                    state[GENERATED] -= self._not_yet(paths[0], len(prefix) - 1, len(paths[0]) - 1)
                    break
            if status != FINISHED and pulse():
                return None
        return _Searched(int(state[EXPANDED]), int(state[GENERATED]), int(state[LEAST]), paths)

    def _not_yet(self, path: np.ndarray, first: int, last: int) -> int:
        """What a recursive search would not yet have generated between two depths of a path.

        In the order of values it would have: to order the moves it must evaluate all of them.
        """
        return 0 if self.problem.by_value else _later_moves(path, first, last, self.automaton)

    def _in_one_piece(self, bound: int, early: bool) -> _Searched:
        """An iteration by this thread alone."""
        found = self._below(self.workers[0], bound, self.root, lambda: self._pulse(bound), early)
        assert found is not None
        return found

    def _in_subtrees(self, bound: int) -> _Searched:
        """An iteration cut into subtrees, by all threads."""
        self.workers += [self._new_worker() for _ in range(self.threads - len(self.workers))]
        self.executor = self.executor or ThreadPoolExecutor(self.threads)
        top, floor = self._cut(bound)
        prefixes = floor.prefixes
        for worker in self.workers:
            worker.done[:] = 0
        self.workers[0].done[:] = top.expanded, top.generated
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self.workers:
            idle.put(worker)
        results: list[_Searched | None] = [None] * len(prefixes)
        stop_at = [len(prefixes)]  # subtrees from here on need not be searched

        def search(low: int, high: int) -> None:
            worker = idle.get()
            try:
                for number in range(low, high):
                    if number < stop_at[0]:
                        found = self._below(worker, bound, prefixes[number], lambda at=number: at >= stop_at[0])
                        results[number] = found
                        if found and found.paths and not self.every:
                            stop_at[0] = min(stop_at[0], number + 1)
            finally:
                idle.put(worker)

        size = max(1, len(prefixes) // (32 * self.threads))
        futures = [
            self.executor.submit(search, low, min(low + size, len(prefixes))) for low in range(0, len(prefixes), size)
        ]
        try:
            for number, future in enumerate(futures):
                while not _ended(future):
                    self._pulse(bound, number / len(futures))
        except BaseException:
            stop_at[0] = -1
            for future in futures:
                future.cancel()
            wait(futures)
            raise
        return self._added_up(top, results[: stop_at[0]], floor)

    def _cut(self, bound: int) -> tuple[_Searched, _Floor]:
        """The tree above the cut, and the floor with the paths to the subtrees below."""
        wanted = min(MOST_SUBTREES, max(LEAST_SUBTREES, self.outcome.iterations[-1].generated // SUBTREE_SIZE))
        while True:
            floor, worker = _Floor(self.cut, FIRST_LISTED), self.workers[0]
            worker.done[:] = 0
            top = self._below(worker, bound, self.root, lambda: False, floor=floor)
            assert top is not None
            floor.trim(int(worker.stack.state[LISTED]))
            if len(floor.prefixes) >= wanted or self.cut + 2 > min(bound, DEEPEST_CUT):
                return top, floor
            self.cut += 2

    def _added_up(self, top: _Searched, results: list, floor: _Floor) -> _Searched:
        """The counts and solutions of an iteration from those of its subtrees and of the tree above them."""
        expanded, generated = top.expanded, top.generated
        paths = [path for found in results for path in found.paths]
        if paths and not self.every:
            expanded, generated = floor.counts[len(results) - 1].tolist()
            generated -= self._not_yet(paths[0], 0, floor.depth)
        return _Searched(
            expanded + sum(found.expanded for found in results),
            generated + sum(found.generated for found in results),
            min([top.least, *(found.least for found in results)]),
            paths + top.paths if self.every else (paths or top.paths)[:1],
        )


def _ended(future: Future) -> bool:
    """Wait a little; True once the future has ended."""
    try:
        future.result(timeout=PULSE)
    except TimeoutError:
        return False
    return True


# ---- the searches -------------------------------------------------------------------------------


def search(
    problem: Problem,
    *,
    threads: int,
    limits: Limits,
    progress: OnProgress,
    every: bool = False,
) -> Outcome:
    """A shortest solution, or with ``every`` all of them; or what is known when a limit stops the search."""

    def iterations(tree: _Tree) -> None:
        bound = tree.outcome.lower_bound
        while not tree.outcome.paths:
            bound = problem.at_least(tree.iterate(bound))
        tree.outcome.suboptimality_bound = 1.0

    return _searched(_Tree(problem, threads, limits, progress, every), iterations)


def dfs(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress, depth: int | None = None) -> Outcome:
    """The first solution of at most ``depth`` moves that depth-first search meets; without a depth, a shortest one.

    The problem's heuristic is the uninformed one.
    """
    if depth is None:
        return search(problem, threads=threads, limits=limits, progress=progress)

    def one_iteration(tree: _Tree) -> None:
        if tree.outcome.lower_bound <= depth:
            tree.iterate(depth, early=True)
        if not tree.outcome.paths:
            tree.outcome.lower_bound = problem.at_least(depth + 1)
            raise Stopped("depth")

    # A solution of the tree above a cut could come before or after those below: one thread keeps the order.
    return _searched(_Tree(problem, 1, limits, progress, every=False), one_iteration)


def _searched(tree: _Tree, work: Callable[[_Tree], None]) -> Outcome:
    """What became of a search, however it ended."""
    outcome = tree.outcome
    try:
        with noting_stop(outcome):
            if outcome.lower_bound == 0:
                outcome.paths, outcome.suboptimality_bound = [[tree.problem.blank]], 1.0
            else:
                work(tree)
    finally:
        tree.close()
    return outcome
