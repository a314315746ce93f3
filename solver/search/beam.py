"""Beam search: level by level, the best boards of each level and no others. Good solutions of boards of any size.

All boards of a level have made the same number of moves. Their children are evaluated, duplicates are dropped, and the
most promising ones, as many as the beam is *wide*, are the next level (``beam_level``). The first child that is the
goal ends the *pass*. Nothing is proven by it; but the wider the beam, the shorter the solution. So passes are
repeated, each wider than the last, as long as time and memory allow, and what cannot be part of a solution shorter
than the incumbent is pruned. When there is no time for many more, a pass is made as wide as the time left seems to
allow, and narrower on the way if it is late. If it ends early, the next one may be narrower: it has other tie-break
keys.

Boards of earlier levels count as duplicates as well, as long as there is room to remember them; otherwise a narrow beam
would walk in circles.

*Stages.* On a large board a narrow beam puts nearly everything in order and then gets lost: what is still wrong lies in
two places far apart, and while there are countless ways to disorder one of them a little, each a board of the beam, the
path that repairs the other leads through too much disorder to be followed. If no level has had a better board than the
best one for PATIENCE moves per cell, the pass therefore returns to that board and continues from there line by line. In
each stage the tiles of one more row or column, the farthest from the blank's home, are to come home, and boards that
differ only in the other tiles are duplicates, so that the beam holds different ways to complete the line. When one
board has completed it, the next stage begins with all boards there are. What is left at last is solved like any small
board.

*The lower bound* that goes with the answer comes from IDA*, before each pass but the first, in a small share of the
time that the pass is going to take.

*Threads* share the boards of a level, then the hashes, then the chosen children. The result does not depend on how
many there are. Of earlier levels only the origin of each board is kept, four bytes, to trace the path back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from math import inf
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from pdb_builder.base.workers import Workers
from pdb_builder.grid import Grid

from . import default_memory, ida_star
from .automaton import MOVES, cell_of, never_undo, state_of
from .beam_level import (
    NO_RANK,
    Level,
    Rules,
    begin,
    choose,
    count_ranks,
    cut_off,
    expand,
    find_rank,
    follow_rules,
    mark_duplicates,
    new_children,
    new_level,
    new_scratch,
    rules_of,
    stage_ended,
)
from .outcome import (
    INTERRUPT,
    Incumbent,
    Iteration,
    Limits,
    OnProgress,
    Outcome,
    Problem,
    Progress,
    Stopped,
    noting_stop,
    unreported,
)

PATIENCE = 1  # levels per cell without a better board, until a beam counts as lost
FIRST_WIDTH, GROWTH = 1_000, 8
WIDENING = 1.25  # in x times the time, a beam can be x times as wide to the power of this
LONGEST = 50  # levels of a pass per cell of the board: what takes longer fails
WORTH = 0.5  # a pass less than this many times as wide as the last one is not worth it
BOUND_SHARE = 0.1  # for the lower bound, of the time of the next pass
PIECE = 4_000  # boards of a level, at least, that are worth a call
LEVELS = 4  # how many are remembered at least
MANY_LEVELS, REMEMBERED = 4_000, 1 << 22  # how many are remembered at most, and how many hashes of narrow ones
HASH_BYTES = 32  # of the hash table per hash remembered, at most
SEED = 15

# Is shown each level: the moves made, the level, and the origins of its boards, which are as many.
Observe = Callable[[int, Level, np.ndarray], object]


def _bytes_of(grid: Grid, words: int) -> int:
    """The memory per board of the beam's width, going by a solution of a usual length."""
    level = 2 * grid.cells + 8 * words + 2 + 8 + 4
    children, seen = 3 * (4 + 8 + 4 + 4), HASH_BYTES * 3 * LEVELS
    length = grid.cells * (grid.rows + grid.cols)  # half of that on a square board, mostly
    return 2 * level + children + seen + 4 * length


class _Leg(NamedTuple):
    """How a part of a pass ended."""

    path: list[int] | None  # to the goal, or to the best board if the beam was lost; None if no board is left
    lost: bool
    narrowed: bool  # whether anything was left out that could have led to a shorter solution


class _Beam:
    """The passes of one search."""

    def __init__(
        self,
        problem: Problem,
        threads: int,
        limits: Limits,
        progress: OnProgress,
        observe: Observe = lambda moves, level, origins: None,
    ) -> None:
        self.problem, self.limits, self.progress, self.observe = problem, limits, progress, observe
        self.automaton, self.rng = never_undo(problem.grid), np.random.default_rng(SEED)
        value = max(problem.heuristic.measure(problem.start))
        self.outcome = Outcome(value, value if problem.heuristic.admissible else 0)
        self.workers = Workers(threads)
        self.heuristics: SimpleQueue = SimpleQueue()
        for _ in range(threads):
            self.heuristics.put(problem.heuristic.workspace(MOVES))
        self.memory = default_memory() if limits.memory is None else limits.memory
        self.widest = max(100, self.memory // _bytes_of(problem.grid, problem.heuristic.saved_words))
        self.known: int | None = None  # the length of a solution that is known, though not to this search
        self.began = time.perf_counter()

    def shortest(self) -> int | None:
        """The length that a solution must be below to be worth finding."""
        return len(self.outcome.paths[0]) - 1 if self.outcome.paths else self.known

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def run(self, width: int) -> bool:
        """One pass. Solutions and counts go to the outcome. Returns whether anything shorter may have been left out."""
        expanded, generated, began = self.outcome.expanded, self.outcome.generated, self.seconds()
        board, path = list(self.problem.start), [self.problem.start.index(0)]
        self.rules = rules_of(self.problem, self.rng)
        try:
            self.levels = 0
            leg = self._follow(board, 0, width, self.rules[-1:])
            while leg.path:
                for cell in leg.path[1:]:
                    board[path[-1]], board[cell] = board[cell], 0
                    path.append(cell)
                if not leg.lost:
                    break
                leg = self._follow(board, len(path) - 1, width, self.rules)
        finally:
            outcome, self.took = self.outcome, self.seconds() - began
            counts = (outcome.expanded - expanded, outcome.generated - generated)
            outcome.iterations.append(Iteration(width, *counts, self.took))
        if leg.path:
            outcome.paths = [path]
            outcome.incumbents.append(Incumbent(len(path) - 1, self.seconds(), width))
        return leg.narrowed

    def tell(self, moves: int, width: int) -> None:
        """Report how far the search has come."""
        outcome = self.outcome
        counts = outcome.expanded, outcome.generated
        self.progress(Progress(moves, *counts, length=self.shortest(), width=width))

    def _follow(self, board: list[int], before: int, width: int, stages: list[Rules]) -> _Leg:
        """Level after level from a board ``before`` moves from the start, until one is solved or all are lost."""
        problem, outcome, threads = self.problem, self.outcome, self.workers.threads
        cells = problem.grid.cells
        rules, *stages = stages
        level, chosen = new_level(width, self.rules[-1]), new_level(width, self.rules[-1])
        children = new_children(3 * width + MOVES)
        memory = max(LEVELS * 3 * width, min(REMEMBERED, MANY_LEVELS * width, self.memory // HASH_BYTES))
        seen, remembered = np.zeros(threads << (2 * memory // threads).bit_length(), dtype=np.uint64), 0
        histogram = np.zeros((threads, NO_RANK + 1), dtype=np.int64)
        parts = np.array(problem.heuristic.measure(tuple(board)), dtype=np.int64)
        first_state = int(self.automaton.starts[board.index(0)])
        self._with_heuristic(begin, level, rules, np.array(board, dtype=np.uint8), parts, first_state)
        shortest = self.shortest()
        histories: list[np.ndarray] = []
        best, best_level, best_origin = NO_RANK, 0, -1
        full: tuple[float, int] | None = None  # when the beam was as wide as it may be, and what was expanded by then
        count, narrowed = 1, before > 0
        while count and self.levels < LONGEST * cells:
            self.levels += 1
            moves = before + len(histories)
            if shortest is not None and moves + 1 >= shortest:
                # It only comes to that with an inadmissible heuristic.
                return _Leg(None, False, narrowed)
            self.limits.check(outcome.generated)
            self.tell(moves, width)
            # The value that a child may have, if it is to be part of a solution shorter than the incumbent.
            room = NO_RANK
            if shortest is not None and problem.heuristic.admissible:
                room = shortest - (2 if problem.grid.bipartite else 1) - moves - 1
            runs = self.workers.split(count, PIECE)
            firsts = np.array([3 * low for low, _ in runs])
            found = np.zeros((len(runs), 3), dtype=np.int64)
            found[:, 2] = -1
            pieces = [(new_scratch(rules), *one, *run) for *one, run in zip(firsts, found, runs, strict=True)]
            self._over(pieces, expand, level, children, rules, self.automaton, room)
            outcome.expanded += count
            outcome.generated += int(found[:, 1].sum())
            goals = found[found[:, 2] >= 0, 2]
            if goals.size:
                return _Leg(self._path(first_state, histories, int(goals[0])), False, narrowed)
            self.limits.check(outcome.generated)
            lasts = found[:, 0].copy()
            if remembered + int((lasts - firsts).sum()) > memory:
                seen[:], remembered = 0, 0
            reached = (children, firsts, lasts, seen, histogram, threads)
            if len(runs) == 1:
                mark_duplicates(*reached, 0, threads)
            else:
                self.workers.over(pairwise(range(threads + 1)), mark_duplicates, *reached)
            wide = width
            if shortest is not None and self.limits.deadline is not None:
                # A pass that ends too late is worth nothing.
                now = time.monotonic()
                if full is not None:
                    speed = (outcome.expanded - full[1]) / (now - full[0])
                    wide = min(width, 1 + int(speed * max(0.0, self.limits.deadline - now) / (shortest - moves)))
                elif count == width:
                    full = now, outcome.expanded
            total, rank, limit, equal = cut_off(histogram, wide)
            remembered += total
            narrowed |= total > wide
            if rank < best:
                best, best_level, best_origin = rank, len(histories), find_rank(children, rank, firsts, lasts)
            elif narrowed and len(self.rules) > 1 and len(histories) - best_level > PATIENCE * cells:
                return _Leg(self._path(first_state, histories[:best_level], best_origin), True, True)
            pieces, count = [], 0
            for first, last in zip(firsts, lasts, strict=True):
                below, just = count_ranks(children, limit, first, last)
                ties = min(just, equal)
                pieces.append((ties, first, last, count))
                equal -= ties
                count += below + ties
            history = np.zeros(count, dtype=np.uint32)
            self._over(pieces, choose, level, children, chosen, history, rules, self.automaton, limit)
            histories.append(history)
            level, chosen = chosen, level
            self.observe(moves + 1, level, history)
            while stage_ended(level, rules, count) and stages:  # in this order, so that no code is left to compile
                rules, *stages = stages
                follow_rules(level, rules, count)
                seen[:], remembered, best = 0, 0, NO_RANK
        return _Leg(None, False, narrowed)

    def _with_heuristic(self, function: Callable, *arguments) -> None:
        """Call a kernel with a heuristic that no other thread is using."""
        heuristic = self.heuristics.get()
        try:
            function(heuristic, *arguments)
        finally:
            self.heuristics.put(heuristic)

    def _over(self, pieces: list[tuple], function: Callable, *arguments) -> None:
        """Call a kernel once per piece of work, with arguments for all pieces and those of the piece."""

        def work(number: int, _: int) -> None:
            self.limits.check(0)
            self._with_heuristic(function, *arguments, *pieces[number])

        if len(pieces) == 1:
            work(0, 1)
        else:
            self.workers.over(pairwise(range(len(pieces) + 1)), work)

    def _path(self, state: int, histories: list[np.ndarray], origin: int) -> list[int]:
        """The cells of the blank from an automaton state on, to a child of the last level."""
        moves = [origin % MOVES]
        for history in reversed(histories):
            origin = int(history[origin // MOVES])
            moves.append(origin % MOVES)
        cells = [int(self.automaton.cell[state])]
        for index in reversed(moves):
            successor = int(self.automaton.successors[state * MOVES + index])
            state = state_of(successor)
            cells.append(cell_of(successor))
        return cells

    def raise_bound(self) -> None:
        """Spend a share of the time of the next pass on the lower bound."""
        deadline = self.limits.deadline
        if deadline is None or not self.problem.heuristic.admissible:
            return
        outcome, nodes = self.outcome, self.limits.nodes
        began = time.monotonic()
        until = began + BOUND_SHARE * max(0.0, min(GROWTH * self.took, deadline - began))
        left = None if nodes is None else max(1, nodes - outcome.generated)
        found = ida_star.search(
            self.problem,
            threads=self.workers.threads,
            limits=self.limits._replace(deadline=until, nodes=left),
            progress=unreported,
        )
        outcome.expanded += found.expanded
        outcome.generated += found.generated
        outcome.iterations.append(Iteration(0, found.expanded, found.generated, time.monotonic() - began))
        outcome.lower_bound = max(outcome.lower_bound, found.lower_bound)
        if found.paths and len(found.paths[0]) < len(outcome.paths[0]):
            outcome.paths = found.paths
            outcome.incumbents.append(Incumbent(len(found.paths[0]) - 1, self.seconds(), None))
        if found.stopped == INTERRUPT:
            raise Stopped(INTERRUPT)

    def next_width(self, width: int) -> int:
        """How wide the next pass may be, 0 if none is worth it."""
        wider = GROWTH * width
        if self.limits.deadline is None:
            return min(wider, self.widest) if width < self.widest else 0
        left = max(0.0, self.limits.deadline - time.monotonic())
        reach = int(width * (left / self.took) ** WIDENING)
        # All the way at once, unless there is time for a pass on the way.
        wider = min(reach if reach < 4 * GROWTH * width else wider, self.widest)
        return wider if wider >= WORTH * width else 0


def search(
    problem: Problem, *, threads: int, limits: Limits, progress: OnProgress, width: int | None = None
) -> Outcome:
    """The best solution of one pass of a given width, or of ever wider ones as long as the limits allow."""
    beam = _Beam(problem, threads, limits, progress)
    outcome = beam.outcome
    with noting_stop(outcome), beam.workers:
        if problem.start == problem.grid.goal(problem.blank):
            outcome.paths = [[problem.blank]]
        elif width is None:
            _widen(beam)
        elif width > beam.widest:
            raise Stopped("memory")
        else:
            beam.run(width)
        if not outcome.paths:
            raise Stopped("width")
    if outcome.paths and outcome.stopped != INTERRUPT:
        outcome.stopped = None  # to be stopped by the clock is how a search ends that could go on and on
    return outcome


def shorten(
    problem: Problem, shorter_than: float, width: int, *, threads: int, limits: Limits, progress: OnProgress
) -> Outcome:
    """What one pass of a width finds: a solution of fewer moves than ``shorter_than``, or none."""
    beam = _Beam(problem, threads, limits, progress)
    beam.known = None if shorter_than == inf else int(shorter_than)
    with noting_stop(beam.outcome), beam.workers:
        beam.run(min(width, beam.widest))
    return beam.outcome


def observed(problem: Problem, width: int, observe: Observe, *, limits: Limits) -> Outcome:
    """One pass of a width on one thread, during which ``observe`` sees every level that is kept."""
    beam = _Beam(problem, 1, limits, unreported, observe)
    with noting_stop(beam.outcome), beam.workers:
        beam.run(width)
    return beam.outcome


def _widen(beam: _Beam) -> None:
    """Pass after pass, until there is nothing to gain or nothing left to gain it with."""
    outcome = beam.outcome
    width = min(FIRST_WIDTH, beam.widest)
    while width:
        before = outcome.paths
        narrowed = beam.run(width)
        if outcome.paths is not before:
            beam.tell(len(outcome.paths[0]) - 1, width)
        if outcome.paths:
            beam.raise_bound()
        if not narrowed or (outcome.paths and len(outcome.paths[0]) - 1 == outcome.lower_bound):
            return
        width = beam.next_width(width)
