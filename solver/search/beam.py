"""Beam search: level by level, the best boards of each level and no others. Good solutions of boards of any size.

All boards of a level have made the same number of moves. Their children are looked at, doubles are left out, and
the most promising ones, as many as the beam is *wide*, are the next level. The first child that is the goal ends the
*pass*. Nothing is proven by it; but the wider the beam, the shorter the solution. So passes are repeated,
each wider than the last, as long as time and memory allow, and what cannot lead to anything shorter than the best
solution so far is left out. The last pass is made as wide as the time that is left seems to allow.

*Rank.* Which boards are the most promising? The heuristic's parts, on average rather than at most: a maximum throws
away what the others know. And the *stretch*: a heuristic counts a tile two cells from home as much as two tiles one
cell from home, but tiles far out are the harder ones to bring home, and the ones that a greedy beam leaves for later,
when all that is in their way has been put in order. So a tile d cells from home costs more than d, by

    STRETCH d (d / s)³

where s is the side of the board. Measured in docs/benchmarks.md. Ties are broken by the hash, that is, by lot.

*Doubles* are told by a hash of 64 bits alone. Boards of earlier levels count as doubles, too, as long as there is
room to remember them: else a narrow beam would walk in circles. Two boards of the same hash are taken for one, which
is rare and costs a beam nothing, since it proves nothing.

*The lower bound* that goes with the answer is the work of IDA*, in a small share of the time.

*Threads* share the boards of a level, then the hashes, then the chosen children. The result does not depend on
how many there are. A level holds, for each board, its cells, what the heuristic ``keep``s of it, its hash and its
stretch; of the levels before only which child of which board each one is, four bytes, for the way back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from pdb_builder.grid import Grid
from pdb_builder.jit import kernel, prefetch
from pdb_builder.machine import Workers

from ..heuristics.contract import aim, keep, look, note, resume, settle, step
from ..heuristics.manhattan import distances_home
from . import default_memory, ida_star
from .moves import WAYS, moves_of, situation
from .outcome import Improvement, Iteration, Limits, Outcome, Problem, Progress, Report, Stopped

STRETCH, POWER = 1.0, 3
SCALE = 4  # steps of a rank to a move
LOTS = 4  # ranks that boards of the same rank are spread over by lot
NO_RANK = 65535  # of a double
FIRST_WIDTH, GROWTH = 1_000, 8
SPARE = 0.85  # share of the time left that a pass is planned for
WORTH = 1.3  # a pass less than so many times as wide as the last one is not worth it
BOUND_SHARE = 0.1  # of the time, for the lower bound
ALONE = 4_000  # boards of a level that one thread does alone
REMEMBERED = 1 << 18  # hashes remembered at least
AHEAD = 8  # hashes whose place is asked for ahead
SEED = 15


class Level(NamedTuple):
    """The boards of a level. All arrays are flat."""

    boards: np.ndarray  # [board, cell] -> tile
    words: np.ndarray  # [board, word]: what the heuristic keeps
    numbers: np.ndarray  # [board] -> situation
    hashes: np.ndarray
    stretches: np.ndarray


class Children(NamedTuple):
    """The children of a level."""

    origins: np.ndarray  # [child] -> its parent and which of the parent's moves leads to it, in the two lowest bits
    hashes: np.ndarray
    ranks: np.ndarray
    stretches: np.ndarray


class Rules(NamedTuple):
    """What holds for all boards."""

    cells: int
    words: int  # that the heuristic keeps of a board
    parts: int
    lots: np.ndarray  # [tile, cell] -> its share in the hash
    stretch: np.ndarray  # [tile, cell] -> its share in the stretch


@kernel
def _begin(heuristic, level, rules, board, parts, number):
    """Make a board the only one of a level."""
    settle(heuristic, board, parts, 0)
    keep(heuristic, level.words, 0)
    level.numbers[0] = number
    level.hashes[0] = level.stretches[0] = 0
    for cell in range(rules.cells):
        tile = np.int64(board[cell])
        level.boards[cell] = tile
        level.hashes[0] ^= rules.lots[tile, cell]
        level.stretches[0] += rules.stretch[tile, cell]


@kernel
def _expand(heuristic, level, children, rules, moves, room, first, found, low, high):
    """List the children of some boards from ``first`` on, those with a value of more than ``room`` left out.

    ``found`` holds how many there are up to now, how many were looked at, and the goal's origin or -1.
    """
    following, ways, cell, _ = moves
    parts = np.zeros(rules.parts, dtype=np.int64)
    at = first
    for parent in range(low, high):
        number = np.int64(level.numbers[parent])
        blank = np.int64(cell[number])
        resume(heuristic, level.words, parent * rules.words)
        for way in range(ways[number]):
            source = np.int64(cell[(following[number] >> (16 * way)) & 0xFFFF])
            aim(heuristic, way, np.int64(level.boards[parent * rules.cells + source]), source, blank, 0, 0)
        for way in range(ways[number]):
            source = np.int64(cell[(following[number] >> (16 * way)) & 0xFFFF])
            tile = np.int64(level.boards[parent * rules.cells + source])
            value = look(heuristic, way, tile, source, blank)
            if value == 0:
                found[2] = parent * WAYS + way
            if value > room:
                continue
            note(heuristic, way, value, parts, 0)
            rank = 0
            for part in range(rules.parts):
                rank += parts[part]
            stretch = level.stretches[parent] + rules.stretch[tile, blank] - rules.stretch[tile, source]
            mixed = level.hashes[parent] ^ rules.lots[tile, source] ^ rules.lots[tile, blank]
            rank = (SCALE * rank) // rules.parts + stretch
            children.origins[at] = parent * WAYS + way
            children.hashes[at] = mixed
            children.stretches[at] = stretch
            children.ranks[at] = min(rank * LOTS + np.int64(mixed >> np.uint64(62)), NO_RANK - 1)
            at += 1
        found[1] += ways[number]
    found[0] = at


@kernel
def _leave_out_doubles(children, firsts, lasts, seen, histogram, shares, low, high):
    """Of the hashes of some shares: mark doubles, remember the others and count them by rank."""
    places = seen.size // shares  # a power of two
    for share in range(low, high):
        for run in range(firsts.size):
            for child in range(firsts[run], lasts[run]):
                if child + AHEAD < lasts[run]:
                    ahead = children.hashes[child + AHEAD]
                    prefetch(seen, share * places + np.int64(ahead & np.uint64(places - 1)))
                mixed = children.hashes[child]
                if np.int64((mixed >> np.uint64(32)) % np.uint64(shares)) != share:
                    continue
                place = np.int64(mixed & np.uint64(places - 1))
                while seen[share * places + place] != 0 and seen[share * places + place] != mixed:
                    place = (place + 1) & (places - 1)
                if seen[share * places + place] == mixed:
                    children.ranks[child] = NO_RANK
                else:
                    seen[share * places + place] = mixed
                    histogram[share, children.ranks[child]] += 1


@kernel
def _count(children, limit, first, last):
    """How many of some children have a rank below the limit, and how many have just that."""
    below = equal = 0
    for child in range(first, last):
        below += np.int64(children.ranks[child] < limit)
        equal += np.int64(children.ranks[child] == limit)
    return below, equal


@kernel
def _choose(heuristic, level, children, chosen, history, rules, moves, limit, equal, first, last, at):
    """Make the children below the limit, and ``equal`` ones of those with just that, boards of the next level."""
    cells, words = rules.cells, rules.words
    for child in range(first, last):
        if children.ranks[child] > limit:
            continue
        if children.ranks[child] == limit:
            if equal == 0:
                continue
            equal -= 1
        origin = np.int64(children.origins[child])
        parent = origin // WAYS
        number = np.int64(level.numbers[parent])
        entry = (moves.following[number] >> (16 * (origin % WAYS))) & 0xFFFF
        source, blank = np.int64(moves.cell[entry]), np.int64(moves.cell[number])
        for cell in range(cells):
            chosen.boards[at * cells + cell] = level.boards[parent * cells + cell]
        tile = np.int64(level.boards[parent * cells + source])
        chosen.boards[at * cells + blank] = tile
        chosen.boards[at * cells + source] = 0
        resume(heuristic, level.words, parent * words)
        aim(heuristic, 0, tile, source, blank, 0, 0)
        look(heuristic, 0, tile, source, blank)
        step(heuristic, 0, tile, source, blank)
        keep(heuristic, chosen.words, at * words)
        chosen.numbers[at] = entry
        chosen.hashes[at] = children.hashes[child]
        chosen.stretches[at] = children.stretches[child]
        history[at] = origin
        at += 1


def _rules_of(problem: Problem) -> Rules:
    grid, heuristic = problem.grid, problem.heuristic
    lots = np.random.default_rng(SEED).integers(0, 2**64, (grid.cells, grid.cells), dtype=np.uint64)
    lots[0] = 0
    distance = distances_home(grid, problem.blank)
    side = (grid.rows + grid.cols) / 2
    stretch = np.rint(SCALE * STRETCH * distance * (distance / side) ** POWER).astype(np.int32)
    return Rules(grid.cells, heuristic.words, heuristic.parts, lots, stretch)


def _bytes_of(grid: Grid, words: int) -> int:
    """What a board of the beam takes in all, going by a solution of a usual length."""
    level = grid.cells + 8 * words + 2 + 8 + 4
    children, seen = 3 * (4 + 8 + 2 + 4), 3 * 16 * 2
    return 2 * level + children + seen + 4 * 3 * grid.cells * (grid.rows + grid.cols) // 4


class _Pass(NamedTuple):
    """How a pass ended."""

    path: list[int] | None
    narrowed: bool  # whether the beam had to leave anything out


class _Beam:
    """The passes of one search."""

    def __init__(self, problem: Problem, threads: int, limits: Limits, report: Report) -> None:
        self.problem, self.limits, self.report = problem, limits, report
        self.rules, self.moves = _rules_of(problem), moves_of(problem.grid)
        self.parts = np.array(problem.heuristic.measure(problem.start), dtype=np.int64)
        self.outcome = Outcome(int(self.parts.max()), int(self.parts.max()) if problem.heuristic.admissible else 0)
        self.workers = Workers(threads)
        self.heuristics: SimpleQueue = SimpleQueue()
        for _ in range(threads):
            self.heuristics.put(problem.heuristic.fresh(WAYS))
        memory = default_memory() if limits.memory is None else limits.memory
        self.widest = max(100, memory // _bytes_of(problem.grid, problem.heuristic.words))
        self.began = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def run(self, width: int) -> _Pass:
        """One pass. Solutions and counts go to the outcome."""
        expanded, generated, began = self.outcome.expanded, self.outcome.generated, self.seconds()
        try:
            done = self._levels(width)
        finally:
            outcome = self.outcome
            outcome.iterations.append(
                Iteration(width, outcome.expanded - expanded, outcome.generated - generated, self.seconds() - began)
            )
        if done.path:
            outcome.paths = [done.path]
            outcome.improvements.append(Improvement(len(done.path) - 1, self.seconds(), width))
        return done

    def _levels(self, width: int) -> _Pass:
        problem, rules, outcome, threads = self.problem, self.rules, self.outcome, self.workers.threads
        level, chosen = _new_level(width, rules), _new_level(width, rules)
        children = _new_children(3 * width + WAYS)
        places = 1 << max(REMEMBERED, 8 * 3 * width // threads).bit_length()
        seen, remembered = np.zeros(threads * places, dtype=np.uint64), 0
        start = np.array(problem.start, dtype=np.uint8)
        self._with_heuristic(_begin, level, rules, start, self.parts, situation(problem.start.index(0)))
        shortest = len(outcome.paths[0]) - 1 if outcome.paths else None
        histories: list[np.ndarray] = []
        count, narrowed = 1, False
        while count:
            self.limits.check(outcome.generated)
            self.report(self._progress(width, len(histories), shortest))
            # The value that a child may have, if it is to be on a way shorter than the best so far.
            room = NO_RANK
            if shortest is not None and problem.heuristic.admissible:
                room = shortest - (2 if problem.grid.bipartite else 1) - len(histories) - 1
            runs = [(0, count)] if count <= ALONE else self.workers.split(count)
            firsts = np.array([3 * low for low, _ in runs])
            found = np.zeros((len(runs), 3), dtype=np.int64)
            found[:, 2] = -1

            def expand(run: int, _: int, room=room, runs=runs, firsts=firsts, found=found, level=level) -> None:
                self._with_heuristic(
                    _expand, level, children, rules, self.moves, room, firsts[run], found[run], *runs[run]
                )

            self._over(len(runs), expand)
            outcome.expanded += count
            outcome.generated += int(found[:, 1].sum())
            goals = found[found[:, 2] >= 0, 2]
            if goals.size:
                return _Pass(self._path(histories, int(goals[0])), narrowed)
            lasts = found[:, 0].copy()
            listed = int((lasts - firsts).sum())
            if remembered + listed > seen.size // 2:
                seen[:], remembered = 0, 0
            histogram = np.zeros((threads, NO_RANK), dtype=np.int64)
            doubles = (children, firsts, lasts, seen, histogram, threads)
            if len(runs) == 1:
                _leave_out_doubles(*doubles, 0, threads)
            else:
                self.workers.over(pairwise(range(threads + 1)), _leave_out_doubles, *doubles)
            sums = np.cumsum(histogram.sum(axis=0))
            remembered += int(sums[-1])
            limit, equal = NO_RANK - 1, NO_RANK
            if sums[-1] > width:
                narrowed = True
                limit = int(np.searchsorted(sums, width, side="right"))
                equal = width - int(sums[limit - 1] if limit else 0)
            tasks = []
            count = 0
            for first, last in zip(firsts, lasts, strict=True):
                below, just = _count(children, limit, first, last)
                take = min(just, equal)
                tasks.append((take, first, last, count))
                equal -= take
                count += below + take
            history = np.zeros(count, dtype=np.uint32)

            def choose(run: int, _: int, tasks=tasks, limit=limit, history=history, level=level, chosen=chosen) -> None:
                self._with_heuristic(_choose, level, children, chosen, history, rules, self.moves, limit, *tasks[run])

            self._over(len(tasks), choose)
            histories.append(history)
            level, chosen = chosen, level
        return _Pass(None, narrowed)

    def _with_heuristic(self, function: Callable, *arguments) -> None:
        """Call a kernel with a heuristic that no other thread is using."""
        heuristic = self.heuristics.get()
        try:
            function(heuristic, *arguments)
        finally:
            self.heuristics.put(heuristic)

    def _over(self, count: int, function: Callable) -> None:
        if count == 1:
            function(0, 1)
        else:
            self.workers.over(pairwise(range(count + 1)), function)

    def _path(self, histories: list[np.ndarray], origin: int) -> list[int]:
        """The cells of the blank on the way to a child of the last level."""
        ways = [origin % WAYS]
        for history in reversed(histories):
            origin = int(history[origin // WAYS])
            ways.append(origin % WAYS)
        number = situation(self.problem.start.index(0))
        cells = [int(self.moves.cell[number])]
        for way in reversed(ways):
            number = int(self.moves.following[number]) >> (16 * way) & 0xFFFF
            cells.append(int(self.moves.cell[number]))
        return cells

    def _progress(self, width: int, level: int, shortest: int | None) -> Progress:
        outcome = self.outcome
        return Progress(level, outcome.expanded, outcome.generated, length=shortest, width=width)

    def raise_bound(self) -> None:
        """Spend a share of the time on the lower bound."""
        deadline = self.limits.deadline
        if deadline is None or not self.problem.heuristic.admissible:
            return
        until = time.monotonic() + BOUND_SHARE * max(0.0, deadline - time.monotonic())
        found = ida_star.search(
            self.problem,
            threads=self.workers.threads,
            limits=self.limits._replace(deadline=until),
            report=lambda progress: None,
        )
        outcome = self.outcome
        outcome.lower_bound = found.lower_bound
        if found.paths and len(found.paths[0]) < len(outcome.paths[0]):
            outcome.paths = found.paths
        if found.stopped == "interrupt":
            raise Stopped("interrupt")

    def next_width(self, width: int) -> int:
        """How wide the next pass may be, 0 if none is worth it."""
        seconds = self.outcome.iterations[-1].seconds
        wider = GROWTH * width
        if self.limits.deadline is not None:
            left = self.limits.deadline - time.monotonic()
            if left < wider / width * seconds / SPARE:
                wider = int(SPARE * left / seconds * width)
        wider = min(wider, self.widest)
        return wider if wider >= WORTH * width or (not self.outcome.paths and wider > width) else 0


def _new_level(width: int, rules: Rules) -> Level:
    return Level(
        np.empty(width * rules.cells, dtype=np.uint8),
        np.empty(width * rules.words, dtype=np.int64),
        np.empty(width, dtype=np.uint16),
        np.empty(width, dtype=np.uint64),
        np.empty(width, dtype=np.int32),
    )


def _new_children(count: int) -> Children:
    kinds = (np.uint32, np.uint64, np.uint16, np.int32)
    return Children(*(np.empty(count, dtype=kind) for kind in kinds))


def search(problem: Problem, *, threads: int, limits: Limits, report: Report, width: int | None = None) -> Outcome:
    """The best solution that one pass of a certain width finds, or wider and wider ones as long as they may."""
    beam = _Beam(problem, threads, limits, report)
    outcome = beam.outcome
    try:
        if problem.start == problem.grid.goal(problem.blank):
            outcome.paths = [[problem.blank]]
        elif width is not None:
            if width > beam.widest:
                raise Stopped("memory")
            if not beam.run(width).path:
                raise Stopped("width")
        else:
            width = min(FIRST_WIDTH, beam.widest)
            while width:
                done = beam.run(width)
                if len(outcome.improvements) == 1 and done.path:
                    beam.raise_bound()
                if not done.narrowed:
                    break
                if outcome.paths and len(outcome.paths[0]) - 1 == outcome.lower_bound:
                    break
                width = beam.next_width(width)
            if not outcome.paths:
                raise Stopped("width")
    except Stopped as stop:
        # To be stopped by the clock is how a search that goes on and on ends, if it has an answer.
        if str(stop) == "interrupt" or not outcome.paths:
            outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = "interrupt"
    finally:
        beam.workers.__exit__()
    return outcome
