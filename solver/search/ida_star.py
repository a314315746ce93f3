"""IDA*: depth-first search under a rising bound. Hardly any memory, and the fastest way to a proof.

An iteration visits every path whose length so far plus heuristic value stays within the bound. If none
leads to the goal, the bound rises to the least sum that exceeded it: no shorter solution exists. The
first solution found is therefore a shortest one, whether the heuristic is consistent or not.

*The loop.* There is one, for all heuristics. A board is expanded by looking at all its moves first and
judging them afterwards, so that the waits for memory overlap; the moves that stay within the bound wait
in ``todo``, one word a depth. Moves are made and taken back on one board. The loop stops after a given
number of expansions and can be taken up again, so that Python decides about time, interruption and
progress.

*Many threads.* The tree is cut at a shallow depth: the loop itself, run with a *floor*, lists the paths that
reach it. The subtrees below are searched in order, by as many threads as there are, through an
executor. If one holds a solution, those after it are abandoned, but those before it are finished.
So the solution and all counts are those of one thread searching alone, however many there are.

*Counts.* Every board whose moves were looked at is expanded; every move looked at is a board generated,
and the start counts as one. A search that recurses would not yet have generated the last moves of the
boards on the way to the solution: they are not counted. These are the numbers of Korf (1985).

*Without a heuristic* the same is depth-first search with iterative deepening. With a depth limit there is a single
iteration, that ends at the first solution it happens on, which need not be a shortest one.

*Order.* Moves are tried in the fixed order of ``moves``, or in the order of their values, which helps to
find the solution sooner in the last iteration and changes nothing in the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from pdb_builder.base.jit import kernel, shared

from ..heuristics.contract import apply, evaluate, load, prefetch, prefetches
from .automaton import moves_of, situation
from .outcome import Iteration, Limits, Outcome, Problem, Progress, Report, Stopped

SLICE = 500_000  # expansions before the loop returns: some hundredths of a second
PULSE = 0.05  # seconds between looks at the clock while threads search
ROOM = 64  # how much deeper than the bound the stacks are made
UNCUT = 300_000  # if the iteration before generated fewer boards than this, the tree is not cut
UNCUT_ALONE = 10_000_000  # the same for a single thread, which cuts only to tell how far it is
FIRST_CUT, DEEPEST_CUT = 6, 30  # depths
LEAST_SUBTREES, MOST_SUBTREES = 32, 2_000
SUBTREE_SIZE = 50_000  # boards of the last iteration for each subtree, within these limits

# What the loop was doing when it returned.
FINISHED, FOUND, SLICED, FULL = range(4)
# Where the numbers of a stack are kept in ``Stack.state``.
DEPTH, BASE, EXPANDED, GENERATED, LEAST, LISTED, STATE = range(7)

NO_FLOOR = (-1, np.zeros((0, 0), dtype=np.uint16), np.zeros((0, 2), dtype=np.int64))


class Stack(NamedTuple):
    """The path of one search and what is left to do along it."""

    board: np.ndarray
    path: np.ndarray  # [depth] -> situation, and in the upper two bits which of the moves led there
    todo: np.ndarray  # [depth] -> moves still to be made, packed like ``Moves.following``
    state: np.ndarray


def _new_stack(cells: int, depth: int) -> Stack:
    return Stack(
        np.zeros(cells, dtype=np.uint8),
        np.zeros(depth, dtype=np.uint16),
        np.zeros(depth, dtype=np.int64),
        np.zeros(STATE, dtype=np.int64),
    )


@shared
def _aim_all(heuristic, slot, number, board, moves, via, via_tile):
    """Aim at all moves of a situation, that of the current board or that after the move in slot ``via``."""
    for way in range(moves.ways[number]):
        source = moves.cell[(moves.following[number] >> (16 * way)) & 0xFFFF]
        prefetch(heuristic, slot | way, board[source], source, moves.cell[number], via, via_tile)


@kernel
def _start(heuristic, stack, moves, start, parts, prefix):
    """Put a search at the end of a path of situations from the start."""
    board, path, todo, state = stack
    for cell in range(board.size):
        board[cell] = start[cell]
    load(heuristic, board, parts, 0)
    path[0] = prefix[0]
    blank = moves.cell[prefix[0]]
    for depth in range(1, prefix.size):
        source = moves.cell[prefix[depth]]
        tile = board[source]
        prefetch(heuristic, 0, tile, source, blank, 0, 0)
        evaluate(heuristic, 0, tile, source, blank)
        apply(heuristic, 0, tile, source, blank)
        board[blank] = tile
        path[depth] = prefix[depth]
        blank = source
    _aim_all(heuristic, (prefix.size - 1) << 4, prefix[-1], board, moves, 0, 0)
    state[DEPTH] = state[BASE] = prefix.size - 1
    todo[state[DEPTH]] = 0
    state[EXPANDED] = state[GENERATED] = 0
    state[LEAST] = 1 << 30


@shared
def _by_value(entries, values, end):
    """The packed entries in ascending order of the packed values; equal ones stay as they are."""
    ordered = 0
    for to in range(0, end, 16):
        least = 1 << 16
        best = 0
        for shift in range(0, end, 16):
            value = (values >> shift) & 0xFFFF
            if value < least:
                least = value
                best = shift
        values |= 0xFFFF << best
        ordered |= ((entries >> best) & 0xFFFF) << to
    return ordered


@kernel
def _search(heuristic, stack, moves, bound, by_value, fresh, floor, frontier, counts, most, early):
    """Search the subtree of a stack until it is finished, a solution is found or ``most`` boards were expanded.

    ``fresh`` says that the board at the current depth is still to be expanded. Paths that reach depth
    ``floor`` are listed in ``frontier`` instead of being followed, with the counts up to there. Without ``early``,
    no solution is shorter than the bound, and none is looked for: code for that is not even compiled.
    """
    board, path, todo, state = stack
    following, ways, cell, _ = moves
    depth, base = state[DEPTH], state[BASE]
    expanded, generated, least, listed = state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED]
    last = expanded + most
    number = path[depth] & 0x3FFF
    blank = cell[number]
    chosen = todo[depth]
    status = SLICED
    while True:
        if fresh:
            packed = following[number]
            slot = (depth << 4) | ((path[depth] >> 14) << 2)
            room = bound - depth - 1
            expanded += 1
            generated += ways[number]
            chosen = 0
            values = 0
            end = 0
            excess = 1 << 20
            for way in range(ways[number]):
                entry = (packed >> (16 * way)) & 0xFFFF
                source = cell[entry]
                value = evaluate(heuristic, slot | way, board[source], source, blank)
                within = np.int64(value <= room)
                chosen |= ((entry | (way << 14)) & -within) << end
                values |= (value & -within) << end
                end += within << 4
                excess = min(excess, value + (within << 20))
                if early is not None and value == 0:
                    chosen, room = entry | (way << 14), 0
                    break
            least = min(least, excess + depth + 1)
            if by_value and end > 16:
                chosen = _by_value(chosen, values, end)
            todo[depth] = chosen
            if room == 0 and chosen != 0:  # with no room left only the goal itself is within the bound
                path[depth + 1] = chosen
                todo[depth] = 0
                status = FOUND
                break
            if prefetches(heuristic):
                for place in range(0, end, 16):
                    entry = (chosen >> place) & 0xFFFF
                    child, way = entry & 0x3FFF, entry >> 14
                    _aim_all(
                        heuristic, ((depth + 1) << 4) | (way << 2), child, board, moves, slot | way, board[cell[child]]
                    )
            if expanded >= last:
                break
        # Go on with the next move that waits, here or above.
        while chosen == 0 and depth > base:
            source = blank
            depth -= 1
            blank = cell[path[depth] & 0x3FFF]
            tile = board[blank]
            board[source] = tile
            slot = (depth << 4) | ((path[depth] >> 14) << 2)
            apply(heuristic, slot | (path[depth + 1] >> 14), tile, blank, source)
            chosen = todo[depth]
        if chosen == 0:
            status = FINISHED
            break
        if depth + 1 == floor:
            if listed == counts.shape[0]:
                status = FULL
                break
            for above in range(depth + 1):
                frontier[listed, above] = path[above] & 0x3FFF
            frontier[listed, floor] = chosen & 0x3FFF
            counts[listed, 0], counts[listed, 1] = expanded, generated
            listed += 1
        entry = chosen & 0xFFFF
        chosen = (chosen >> 16) & 0xFFFFFFFFFFFF
        todo[depth] = chosen
        fresh = depth + 1 != floor
        if fresh:
            number = entry & 0x3FFF
            source = cell[number]
            tile = board[source]
            board[blank] = tile
            slot = (depth << 4) | ((path[depth] >> 14) << 2)
            apply(heuristic, slot | (entry >> 14), tile, source, blank)
            depth += 1
            path[depth] = entry
            blank = source
    state[DEPTH] = depth
    state[EXPANDED], state[GENERATED], state[LEAST], state[LISTED] = expanded, generated, least, listed
    return status


@kernel
def _later_moves(path, first, last, moves):
    """How many moves come after those of a path, at the depths ``first`` ... ``last - 1``."""
    count = 0
    for depth in range(first, last):
        following = moves.following[path[depth]]
        count += moves.ways[path[depth]] - 1
        while following & 0xFFFF != path[depth + 1]:
            following >>= 16
            count -= 1
    return count


# ---- the search ---------------------------------------------------------------------------------


class _Worker(NamedTuple):
    """What one thread needs to search: its own heuristic and stack, and where it tells how far it is."""

    heuristic: Any
    stack: Stack
    done: np.ndarray  # boards expanded and generated in this iteration


class _Subtree(NamedTuple):
    """What a subtree took and held. Without ``every`` the counts end at its first solution."""

    expanded: int
    generated: int
    least: int  # the least sum that exceeded the bound
    paths: list[np.ndarray]  # solutions, as situations from the start


class _Tree:
    """The search tree of one problem, to be searched bound by bound."""

    def __init__(self, problem: Problem, threads: int, limits: Limits, report: Report, every: bool):
        self.problem, self.threads, self.limits, self.report, self.every = problem, threads, limits, report, every
        self.moves = moves_of(problem.grid)
        self.start = np.array(problem.start, dtype=np.uint8)
        self.root = np.array([situation(problem.start.index(0))], dtype=np.uint16)
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
        if bound + 2 > self.depth:
            self.depth = bound + ROOM
            self.workers = [self._new_worker()]
        self.workers[0].done[:] = 0
        began = time.perf_counter()
        try:
            uncut = UNCUT if self.threads > 1 else UNCUT_ALONE
            worth_cutting = outcome.iterations and outcome.iterations[-1].generated >= uncut
            found = self._parted(bound) if worth_cutting else self._whole(bound, early)
            expanded, generated = found.expanded, found.generated
        except BaseException:
            expanded, generated = self._done()
            raise
        finally:
            outcome.expanded += expanded
            outcome.generated += generated
            outcome.iterations.append(Iteration(bound, expanded, generated, time.perf_counter() - began))
        outcome.paths = [self.moves.cell[path].tolist() for path in found.paths]
        return found.least

    def _new_worker(self) -> _Worker:
        heuristic = self.problem.heuristic.workspace(16 * self.depth)
        return _Worker(heuristic, _new_stack(self.problem.grid.cells, self.depth), np.zeros(2, dtype=np.int64))

    def _done(self) -> tuple[int, int]:
        """The boards expanded and generated in this iteration."""
        return sum(int(worker.done[0]) for worker in self.workers), sum(int(worker.done[1]) for worker in self.workers)

    def _pulse(self, bound: int, share: float | None = None) -> None:
        """Between slices: tell how far the search is, and stop it if it is time."""
        expanded, generated = self._done()
        generated += self.outcome.generated
        self.report(Progress(bound, self.outcome.expanded + expanded, generated, share))
        self.limits.check(generated)

    def _slice(self) -> int:
        """How many boards to expand until the next pulse."""
        return self.limits.expansions(self.outcome.generated + self._done()[1], SLICE)

    def _whole(self, bound: int, early: bool) -> _Subtree:
        """An iteration in one piece, by this thread."""
        found = self._subtree(self.workers[0], bound, self.root, lambda: self._pulse(bound), early)
        assert found is not None
        return found

    def _subtree(
        self, worker: _Worker, bound: int, prefix: np.ndarray, pulse: Callable, early: bool = False
    ) -> _Subtree | None:
        """Search below a path. ``pulse`` is called between slices; if it returns True the rest is abandoned."""
        heuristic, stack, done = worker
        state = stack.state
        _start(heuristic, stack, self.moves, self.start, self.parts, prefix)
        before, paths = done.copy(), []
        status, fresh = SLICED, True
        while status != FINISHED:
            how = (self.problem.by_value, fresh, *NO_FLOOR, self._slice(), True if early else None)
            status = _search(heuristic, stack, self.moves, bound, *how)
            fresh = False
            done[:] = before + state[[EXPANDED, GENERATED]]
            if status == FOUND:
                paths.append(stack.path[: state[DEPTH] + 2] & 0x3FFF)
                if not self.every:
                    state[GENERATED] -= self._not_yet(paths[0], len(prefix) - 1, len(paths[0]) - 1)
                    break
            if status != FINISHED and pulse():
                return None
        return _Subtree(int(state[EXPANDED]), int(state[GENERATED]), int(state[LEAST]), paths)

    def _not_yet(self, path: np.ndarray, first: int, last: int) -> int:
        """What a recursive search would not yet have generated between two depths of a path.

        In the order of values it would have: to order the moves it must look at all of them.
        """
        return 0 if self.problem.by_value else _later_moves(path, first, last, self.moves)

    def _parted(self, bound: int) -> _Subtree:
        """An iteration cut into subtrees, by all threads."""
        self.workers += [self._new_worker() for _ in range(self.threads - len(self.workers))]
        self.executor = self.executor or ThreadPoolExecutor(self.threads)
        top, prefixes, counts = self._cut(bound)
        for worker in self.workers:
            worker.done[:] = 0
        self.workers[0].done[:] = top.expanded, top.generated
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self.workers:
            idle.put(worker)
        results: list[_Subtree | None] = [None] * len(prefixes)
        stop_at = [len(prefixes)]  # subtrees from here on need not be searched

        def search(low: int, high: int) -> None:
            worker = idle.get()
            try:
                for number in range(low, high):
                    if number < stop_at[0]:
                        found = self._subtree(worker, bound, prefixes[number], lambda at=number: at >= stop_at[0])
                        results[number] = found
                        if found and found.paths and not self.every:
                            stop_at[0] = min(stop_at[0], number + 1)
            finally:
                idle.put(worker)

        size = max(1, len(prefixes) // (32 * self.threads))
        tasks = [
            self.executor.submit(search, low, min(low + size, len(prefixes))) for low in range(0, len(prefixes), size)
        ]
        try:
            for number, task in enumerate(tasks):
                while not _ended(task):
                    self._pulse(bound, number / len(tasks))
        except BaseException:
            stop_at[0] = -1
            for task in tasks:
                task.cancel()
            wait(tasks)
            raise
        return self._summed(top, results[: stop_at[0]], prefixes, counts)

    def _summed(self, top: _Subtree, results: list, prefixes: np.ndarray, counts: np.ndarray) -> _Subtree:
        """The counts and solutions of a whole iteration from those of its subtrees and of the tree above them."""
        expanded, generated = top.expanded, top.generated
        paths = [path for found in results for path in found.paths]
        if paths and not self.every:
            expanded, generated = counts[len(results) - 1].tolist()
            generated -= self._not_yet(paths[0], 0, prefixes.shape[1] - 1)
        return _Subtree(
            expanded + sum(found.expanded for found in results),
            generated + sum(found.generated for found in results),
            min([top.least, *(found.least for found in results)]),
            paths + top.paths if self.every else (paths or top.paths)[:1],
        )

    def _cut(self, bound: int) -> tuple[_Subtree, np.ndarray, np.ndarray]:
        """The tree above the cut, the paths to the subtrees below, and the counts when each was reached."""
        wanted = min(MOST_SUBTREES, max(LEAST_SUBTREES, self.outcome.iterations[-1].generated // SUBTREE_SIZE))
        while True:
            top, prefixes, counts = self._frontier(bound, self.cut)
            if len(prefixes) >= wanted or self.cut + 2 > min(bound, DEEPEST_CUT):
                return top, prefixes, counts
            self.cut += 2

    def _frontier(self, bound: int, floor: int) -> tuple[_Subtree, np.ndarray, np.ndarray]:
        heuristic, stack, _ = self.workers[0]
        state = stack.state
        _start(heuristic, stack, self.moves, self.start, self.parts, self.root)
        state[LISTED] = 0
        room = 4096
        prefixes, counts = np.zeros((room, floor + 1), dtype=np.uint16), np.zeros((room, 2), dtype=np.int64)
        status, fresh, paths = SLICED, True, []
        while status != FINISHED:
            how = (self.problem.by_value, fresh, floor, prefixes, counts, SLICE, None)
            status = _search(heuristic, stack, self.moves, bound, *how)
            fresh = False
            if status == FULL:
                prefixes, counts = np.vstack([prefixes, prefixes]), np.vstack([counts, counts])
            if status == FOUND:
                paths.append(stack.path[: state[DEPTH] + 2] & 0x3FFF)
                if not self.every:
                    state[GENERATED] -= self._not_yet(paths[0], 0, len(paths[0]) - 1)
                    break
        top = _Subtree(int(state[EXPANDED]), int(state[GENERATED]), int(state[LEAST]), paths)
        return top, prefixes[: state[LISTED]], counts[: state[LISTED]]


def _ended(task: Future) -> bool:
    """Wait for a task a little; True once it has ended."""
    try:
        task.result(timeout=PULSE)
    except TimeoutError:
        return False
    return True


def search(problem: Problem, *, threads: int, limits: Limits, report: Report, every: bool = False) -> Outcome:
    """A shortest solution, or with ``every`` all of them; or what is known when a limit stops the search."""

    def iterations(tree: _Tree) -> None:
        bound = tree.outcome.lower_bound
        while not tree.outcome.paths:
            bound = problem.at_least(tree.iterate(bound))
        tree.outcome.within = 1.0

    return _searched(_Tree(problem, threads, limits, report, every), iterations)


def dfs(problem: Problem, *, threads: int, limits: Limits, report: Report, depth: int | None = None) -> Outcome:
    """The first solution of at most ``depth`` moves that depth-first search comes by; without a depth, a shortest one.

    The problem's heuristic is the one that knows the goal and nothing else.
    """
    if depth is None:
        return search(problem, threads=threads, limits=limits, report=report)

    def one_iteration(tree: _Tree) -> None:
        if tree.outcome.lower_bound <= depth:
            tree.iterate(depth, early=True)
        if not tree.outcome.paths:
            tree.outcome.lower_bound = problem.at_least(depth + 1)
            raise Stopped("depth")

    # A solution of the tree above a cut could come before or after those below: one thread keeps the order.
    return _searched(_Tree(problem, 1, limits, report, every=False), one_iteration)


def _searched(tree: _Tree, work: Callable[[_Tree], None]) -> Outcome:
    """What became of a search, however it ended."""
    outcome = tree.outcome
    try:
        if outcome.lower_bound == 0:
            outcome.paths, outcome.within = [[tree.problem.blank]], 1.0
        else:
            work(tree)
    except Stopped as stop:
        outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = "interrupt"
    finally:
        tree.close()
    return outcome
