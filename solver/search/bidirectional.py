"""A* from both ends, meeting in the middle.

One search goes from the start to the goal, the other from the goal to the start, each with its own heuristic and its
own boards. A board that both have reached joins two halves of a solution. The length of the best one so far is U.

*Meeting in the middle* (Holte and others 2016): a board counts as at least 2 g + 1, so that neither side expands a
board farther than half of a shortest solution, however weak its heuristic is. Both sides expand their boards of the
same priority at the same time, and then those of the next.

*When to stop.* A solution not yet found joins an open board of one side and an open board of the other. So it is at
least as long as each of

    the least open priority of either side;
    the least open g + h of either side;
    the least open g of one side, plus that of the other, plus the move between them.

The largest of these is a lower bound. Once U is no larger, U is proven shortest. A board that cannot be part of a
solution shorter than U is pruned.

*Two threads.* Each side expands a slice of boards at the same time as the other and touches nothing that belongs to the
other. Then each looks up the boards it has reached among the other's, which by now hold still. So every meeting is
seen, by whichever side came later or by both, and the counts do not depend on the number of threads.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import kernel
from pdb_builder.base.workers import Workers

from ..frame import Frame, frame_of
from . import default_memory
from .automaton import MOVES
from .best_first import HOW, NO_LIMIT, REOPENED, BestFirst, Order, find, key_hash, length_of
from .outcome import Iteration, Limits, Missing, OnProgress, Outcome, Problem, Progress, noting_stop

FIRST_SLICE, SLICE = 500, 20_000  # boards that a side expands until the sides compare
ORDER = Order(1, 1, half=1)


@kernel
def _meet(nodes, layout, other, other_layout, cells, tiles, listed, low, high, best):
    """Look boards up among those of the other side: rows ``low`` to ``high`` and the ``listed`` ones.

    ``cells`` and ``tiles`` map a board into the frame of the other side. ``best`` holds the length of the best
    solution, and its row on either side.
    """
    word_of, shift_of, mask, key_words, _, row_words, _ = layout
    there_word, there_shift, _, there_words, _, there_row_words, _ = other_layout
    key = np.zeros(there_words, dtype=np.int64)
    for number in range(high - low + listed.size):
        row = low + number if number < high - low else np.int64(listed[number - (high - low)])
        at = row * row_words
        key[:] = 0
        for cell in range(cells.size):
            tile = (np.int64(nodes.rows[at + word_of[cell]]) >> shift_of[cell]) & mask
            there = cells[cell]
            key[there_word[there]] |= tiles[tile] << there_shift[there]
        chain = key_hash(key, 0, there_words) & (other.chains.size - 1)
        found = find(other.rows, other.chains, key, 0, chain, there_words, there_row_words)
        if found != 0:
            length = length_of(np.int64(nodes.rows[at + key_words + HOW]))
            length += length_of(np.int64(other.rows[found * there_row_words + there_words + HOW]))
            if length < best[0]:
                best[0], best[1], best[2] = length, row, found


class _Side:
    """One of the two searches."""

    def __init__(self, problem: Problem, memory: int) -> None:
        self.search = BestFirst(problem, ORDER, memory, reopenings=MOVES * (SLICE + 64))
        self.compared = 0  # rows up to here have been looked up on the other side
        self.best = np.array([NO_LIMIT, 0, 0], dtype=np.int64)  # length, row here, row there

    def expand(self, most: int, priority: int, shorter_than: int) -> None:
        self.search.state[REOPENED] = 0
        self.search.expand(most, priority, shorter_than)

    def compare(self, other: _Side, cells: np.ndarray, tiles: np.ndarray) -> None:
        """Look up on the other side what was reached since the last time."""
        mine, theirs = self.search, other.search
        reopened = mine.nodes.reopened[: mine.state[REOPENED]]
        boards = (mine.nodes, mine.layout, theirs.nodes, theirs.layout, cells, tiles)
        _meet(*boards, reopened, self.compared + 1, mine.stored + 1, self.best)
        self.compared = mine.stored

    def bounds(self) -> tuple[int, int]:
        """The least g and the least g + h of the open boards."""
        lengths, values = self.search.open_buckets()
        return (int(lengths.min()), int((lengths + values).min())) if lengths.size else (NO_LIMIT, NO_LIMIT)


class _Ends(NamedTuple):
    """Both sides, and how the boards of each look to the other."""

    forward: _Side
    backward: _Side
    frame: Frame  # of the search from the goal, whose goal is the start

    def maps(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        cells, tiles = np.array(self.frame.cells), np.array(self.frame.tiles)
        return (cells, tiles), (np.argsort(cells), np.argsort(tiles))

    def lower_bound(self) -> int:
        (least, total), (other_least, other_total) = self.forward.bounds(), self.backward.bounds()
        priority = min(self.forward.search.priority(), self.backward.search.priority())
        return max(priority, total, other_total, least + other_least + 1)

    def path(self) -> list[int]:
        """The best solution so far, joined."""
        length, other_row, row = self.backward.best.tolist()
        if self.forward.best[0] < length:
            length, row, other_row = self.forward.best.tolist()
        there = self.frame.leave(self.backward.search.path(other_row))
        return self.forward.search.path(row) + there[-2::-1]


def _both(problem: Problem, memory: int) -> _Ends:
    """The two searches of a problem."""
    frame = frame_of(problem.grid, problem.start)
    goal = frame.enter(problem.grid.goal(problem.blank))
    assert problem.backward is not None
    heuristic = problem.backward(problem.grid, frame.blank, Missing.WEAKER)
    assert heuristic is not None
    back = Problem(problem.grid, frame.blank, goal, heuristic)
    return _Ends(_Side(problem, memory // 2), _Side(back, memory // 2), frame)


def search(problem: Problem, *, threads: int, limits: Limits, progress: OnProgress) -> Outcome:
    """A shortest solution, or what is known when a limit stops the search; two threads, if there are that many."""
    ends = _both(problem, default_memory() if limits.memory is None else limits.memory)
    sides, maps = (ends.forward, ends.backward), ends.maps()
    searches = [side.search for side in sides]
    value = int(searches[0].start_parts.max())
    outcome = Outcome(value, max(value, int(searches[1].start_parts.max())))
    began = time.perf_counter()
    size, best = FIRST_SLICE, NO_LIMIT

    both = [(0, 1), (1, 2)]

    def compare(at: int, _: int) -> None:
        sides[at].compare(sides[1 - at], *maps[at])

    def expand(most: int, priority: int, shorter_than: int, at: int, _: int) -> None:
        sides[at].expand(most, priority, shorter_than)

    def count() -> tuple[int, int]:
        return sum(one.expanded for one in searches), 2 + sum(one.generated for one in searches)

    with noting_stop(outcome), Workers(min(threads, 2)) as workers:
        while True:
            workers.over(both, compare)
            best = min(int(side.best[0]) for side in sides)
            proven = problem.at_least(ends.lower_bound())
            outcome.lower_bound = min(best, max(outcome.lower_bound, proven))
            if best == outcome.lower_bound:
                break
            expanded, generated = count()
            limits.check(generated)
            stored = sum(one.stored for one in searches)
            progress(Progress(outcome.lower_bound, expanded, generated, stored=stored))
            priority = min(one.priority() for one in searches)
            most = max(1, limits.expansions(generated, 2 * size) // 2)
            workers.over(both, expand, most, priority, best)
            size = min(SLICE, 2 * size)
        outcome.suboptimality_bound = 1.0
    if best < NO_LIMIT:
        outcome.paths = [ends.path()]
    outcome.expanded, outcome.generated = count()
    outcome.stored = sum(one.stored for one in searches)
    outcome.iterations = [
        Iteration(outcome.lower_bound, outcome.expanded, outcome.generated - 2, time.perf_counter() - began)
    ]
    return outcome
