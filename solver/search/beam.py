"""Beam search: level by level, the best boards of each level and no others. Good solutions of boards of any size.

All boards of a level have made the same number of moves. Their children are looked at, doubles are left out, and the
most promising ones, as many as the beam is *wide*, are the next level. The first child that is the goal ends the
*pass*. Nothing is proven by it; but the wider the beam, the shorter the solution. So passes are repeated, each wider
than the last, as long as time and memory allow, and what cannot lead to anything shorter than the best solution so far
is left out. When there is no time for many more, a pass is made as wide as the time left seems to allow, and narrower
on its way if it is late. If it ends early, the next one may be less wide: it has the luck of other lots.

*Rank.* Which boards are the most promising? The heuristic's parts, on average rather than at most: a maximum throws
away what the others know. To that come two things that no lower bound can know (measured in docs/benchmarks.md). First
the *stretch*: a heuristic counts a tile two cells from home as much as two tiles one cell from home, but tiles far out
are the harder ones to bring home, and the ones that a greedy beam leaves for later, when all that is in their way has
been put in order. So a tile d cells from home costs more than d, by

    STRETCH d (d / s)³

where s is the side of the board. Second the *border* between order and disorder: each pair of neighbouring cells of
which one holds the tile that belongs there and the other does not costs BORDER. Disorder in one place is mended in
passing, but the blank has to go to each of many places. Ties are broken by the hash, that is, by lot.

*Doubles* are told by a hash of 64 bits alone. Boards of earlier levels count as doubles, too, as long as there is room
to remember them: else a narrow beam would walk in circles. Two boards of the same hash are taken for one, which is
rare and costs a beam nothing, since it proves nothing.

*Stages.* On a large board a narrow beam puts nearly everything in order and is then lost: what is still wrong lies in
two places far apart, and while there are countless ways to disorder one of them a little, each a board of the beam,
the way to mend the other leads through too much disorder to be followed. If no level has had a better board than the
best one for PATIENCE moves a cell, the pass therefore goes back to that one and goes on from there line by line. In
each stage the tiles of one more row or column, the farthest from the blank's home, are to come home; they weigh far
more than all others, and the blank is drawn to the nearest of them. What is more, boards that differ only in the other
tiles count as doubles, so that the beam holds different ways to complete the line. When one board has completed it,
the next stage begins with all boards there are. What is left at last is solved as any small board.

*The lower bound* that goes with the answer is the work of IDA*, before each pass but the first, in a small share of the
time that the pass is going to take.

*Threads* share the boards of a level, then the hashes, then the chosen children. The result does not depend on how
many there are. A level holds, for each board, its cells, what the heuristic ``keep``s of it, its hash and its stretch;
of the levels before only which child of which board each one is, four bytes, for the way back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import fetch, kernel, prefetch_line, put, shared
from pdb_builder.base.workers import Workers
from pdb_builder.grid import Grid

from ..heuristics.contract import aim, keep, look, note, resume, settle, step
from ..heuristics.manhattan import distances_home
from . import default_memory, ida_star
from .automaton import WAYS, moves_of, situation
from .outcome import Improvement, Iteration, Limits, Outcome, Problem, Progress, Report, Stopped

SCALE = 4  # steps of a rank to a move
STRETCH, BORDER = 1.0, 0.5
PATIENCE = 1  # levels without a better board, for each cell, until a beam is taken for lost
SIDE = 4  # of what is left of a board that is solved in one stage
HEAVY, LIGHT = 2, 0.5  # what a move counts in a stage, of the tiles of the line and of all
LOTS = 4  # ranks that boards of the same rank are spread over by lot
NO_RANK = (1 << 18) - 1  # of a double; 2x50 boards have ranks of up to 160,000
FIRST_WIDTH, GROWTH = 1_000, 8
WIDENING = 1.25  # in so many times the time, a beam can be so many times as wide to the power of this
LONGEST = 50  # levels of a pass for each cell of the board: what takes longer fails
WORTH = 0.5  # a pass less than so many times as wide as the last one is not worth it
BOUND_SHARE = 0.1  # for the lower bound, of the time of the next pass
PIECE = 4_000  # boards of a level, at least, that are worth a call of their own
LEVELS = 4  # how many are remembered at least
MANY_LEVELS, REMEMBERED = 4_000, 1 << 22  # how many are remembered at most, and how many hashes of narrow ones
HASH_BYTES = 32  # of the table of hashes for each one remembered, at most
AHEAD = 8  # hashes whose place is asked for ahead
SEED = 15


class Level(NamedTuple):
    """The boards of a level. All arrays are flat."""

    boards: np.ndarray  # [board, cell] -> tile
    words: np.ndarray  # [board, word]: what the heuristic keeps
    numbers: np.ndarray  # [board] -> situation
    hashes: np.ndarray
    stretches: np.ndarray  # and what the border counts


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
    home: np.ndarray  # [tile, cell] -> whether it belongs there
    near: np.ndarray  # [cell, number] -> a neighbour, or -1
    border: int  # what two neighbours count if one is home and one is not
    scale: int  # what a move counts by the heuristic
    astray: np.ndarray  # [tile, cell] -> whether this is a tile of the stage that is not home
    between: np.ndarray  # [cell, cell] -> moves
    homes: np.ndarray  # [number] -> a tile that is to be home at the end of the stage, and where that is


@kernel
def _follow_rules(level, rules, count):
    """Work out hashes and stretches of all boards."""
    for board in range(count):
        level.stretches[board] = level.hashes[board] = 0
        for cell in range(rules.cells):
            tile = np.int64(level.boards[board * rules.cells + cell])
            level.stretches[board] += rules.stretch[tile, cell]
            level.hashes[board] ^= rules.lots[tile, cell]
            for number in range(WAYS):
                other = rules.near[cell, number]
                if other > cell:  # every pair once
                    beside = level.boards[board * rules.cells + other]
                    if rules.home[tile, cell] != rules.home[beside, other]:
                        level.stretches[board] += rules.border


@kernel
def _begin(heuristic, level, rules, board, parts, number):
    """Make a board the only one of a level."""
    settle(heuristic, board, parts, 0)
    keep(heuristic, level.words, 0)
    level.numbers[0] = number
    for cell in range(rules.cells):
        level.boards[cell] = board[cell]
    _follow_rules(level, rules, 1)


@shared
def _seek(level, rules, moves, parent, number, nearest):
    """For each move of a board how far the blank will then be from a tile of the stage that is not home."""
    for way in range(moves.ways[number]):
        nearest[way] = rules.cells
    for place in range(rules.cells):
        if rules.astray[level.boards[parent * rules.cells + place], place]:
            for way in range(moves.ways[number]):
                source = np.int64(moves.cell[(moves.following[number] >> (16 * way)) & 0xFFFF])
                nearest[way] = min(nearest[way], rules.between[place, source])
    for way in range(moves.ways[number]):
        nearest[way] %= rules.cells  # 0 if all are home


@shared
def _more_border(level, rules, parent, cell, blank):
    """How much longer the border gets if the tile on a cell beside the blank comes home there."""
    more = 1  # to the blank
    for number in range(WAYS):
        other = rules.near[cell, number]
        if other >= 0 and other != blank:
            more += 1 - 2 * np.int64(rules.home[level.boards[parent * rules.cells + other], other])
    return more


@kernel
def _expand(heuristic, level, children, rules, moves, room, first, found, low, high):
    """List the children of some boards from ``first`` on, those with a value of more than ``room`` left out.

    ``found`` holds how many there are up to now, how many were looked at, and the goal's origin or -1.
    """
    following, ways, cell, _ = moves
    parts = np.zeros(rules.parts, dtype=np.int64)
    nearest = np.zeros(WAYS, dtype=np.int64)
    at = first
    for parent in range(low, high):
        number = np.int64(level.numbers[parent])
        blank = np.int64(cell[number])
        resume(heuristic, level.words, parent * rules.words)
        if rules.homes.shape[0] != 0:
            _seek(level, rules, moves, parent, number, nearest)
        for way in range(ways[number]):
            source = np.int64(cell[(following[number] >> (16 * way)) & 0xFFFF])
            aim(heuristic, way, np.int64(level.boards[parent * rules.cells + source]), source, blank, 0, 0)
        for way in range(ways[number]):
            source = np.int64(cell[(following[number] >> (16 * way)) & 0xFFFF])
            tile = np.int64(level.boards[parent * rules.cells + source])
            value = look(heuristic, way, tile, source, blank)
            if value == 0 and found[2] < 0:
                found[2] = parent * WAYS + way
            if value > room:
                continue
            note(heuristic, way, value, parts, 0)
            rank = 0
            for part in range(rules.parts):
                rank += parts[part]
            stretch = level.stretches[parent] + rules.stretch[tile, blank] - rules.stretch[tile, source]
            if rules.home[tile, blank]:
                stretch += rules.border * _more_border(level, rules, parent, blank, source)
            elif rules.home[tile, source]:
                stretch -= rules.border * _more_border(level, rules, parent, source, blank)
            mixed = level.hashes[parent] ^ rules.lots[tile, source] ^ rules.lots[tile, blank]
            mixed ^= rules.lots[0, source] ^ rules.lots[0, blank]
            rank = (rules.scale * rank) // rules.parts + stretch + SCALE * nearest[way]
            children.origins[at] = parent * WAYS + way
            children.hashes[at] = mixed
            children.stretches[at] = stretch
            children.ranks[at] = min(rank * LOTS + np.int64(mixed >> np.uint64(62)), NO_RANK - 1)
            at += 1
        found[1] += ways[number]
    found[0] = at


@kernel
def _leave_out_doubles(children, firsts, lasts, seen, histogram, shares, low, high):
    """Of the hashes of some shares: mark doubles, remember the others and count them, by rank and in all."""
    places = seen.size // shares  # a power of two
    for share in range(low, high):
        for run in range(firsts.size):
            for child in range(firsts[run], lasts[run]):
                if child + AHEAD < lasts[run]:
                    ahead = children.hashes[child + AHEAD]
                    prefetch_line(seen, share * places + np.int64(ahead & np.uint64(places - 1)))
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
                    histogram[share, NO_RANK] += 1


@kernel
def _cut(histogram, width):
    """How many children there are, the best rank, the worst one of the next level and how many of that it has.

    The histogram is empty again afterwards.
    """
    total = 0
    for share in range(histogram.shape[0]):
        total += histogram[share, NO_RANK]
        histogram[share, NO_RANK] = 0
    best, limit, equal, below, rank = NO_RANK, NO_RANK - 1, width, 0, 0
    while below < total:
        count = 0
        for share in range(histogram.shape[0]):
            count += histogram[share, rank]
            histogram[share, rank] = 0
        if below == 0 and count > 0:
            best = rank
        if below <= width < below + count:
            limit, equal = rank, width - below
        below += count
        rank += 1
    return total, best, limit, equal


@kernel
def _find(children, rank, firsts, lasts):
    """The origin of a child of a certain rank."""
    for run in range(firsts.size):
        for child in range(firsts[run], lasts[run]):
            if children.ranks[child] == rank:
                return np.int64(children.origins[child])
    return np.int64(-1)


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
            put(chosen.boards, at * cells + cell, fetch(level.boards, parent * cells + cell))
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


def _rules_of(problem: Problem, chance: np.random.Generator) -> list[Rules]:
    """The rules of each stage, with new lots. The last ones are those of a search without stages."""
    grid, heuristic = problem.grid, problem.heuristic
    cells = range(grid.cells)
    all_lots = chance.integers(0, 2**64, (grid.cells, grid.cells), dtype=np.uint64)
    distance = distances_home(grid, problem.blank)
    home = distance == 0
    home[0] = False  # the blank is disorder wherever it is
    near = np.array([[*around, *(-1,) * (WAYS - len(around))] for around in grid.neighbours])
    between = np.array([[grid.distance(cell, other) for other in cells] for cell in cells])
    more = STRETCH * (distance / ((grid.rows + grid.cols) / 2)) ** 3
    rules = []
    for tiles in _stages(grid, problem.blank):
        others = [tile for tile in cells if tile not in tiles and tile != 0]
        lots, stretch, astray = all_lots.copy(), np.rint(SCALE * HEAVY * distance * (1 + more)), distance > 0
        lots[others], stretch[others], astray[others] = 0, 0, False
        homes = np.array([(tile, grid.home(tile, problem.blank)) for tile in tiles])
        scale = int(SCALE * LIGHT)
        rules.append((lots, stretch.astype(np.int32), home, near, 0, scale, astray, between, homes))
    stretch = np.rint(SCALE * distance * more).astype(np.int32)
    nothing = (np.zeros_like(home), between, np.zeros((0, 2), dtype=np.int64))
    rules.append((all_lots, stretch, home, near, int(SCALE * BORDER), SCALE, *nothing))
    return [Rules(grid.cells, heuristic.words, heuristic.parts, *one) for one in rules]


def _stages(grid: Grid, blank: int) -> list[list[int]]:
    """The tiles that are to be home at the end of each stage but the last, those of the stages before included."""
    (row, col), rows, cols = divmod(blank, grid.cols), [0, grid.rows], [0, grid.cols]
    stages = []
    while max(rows[1] - rows[0], cols[1] - cols[0]) > SIDE:
        place, lines = max(((row, rows), (col, cols)), key=lambda axis: axis[1][1] - axis[1][0])
        if place - lines[0] < lines[1] - 1 - place:
            lines[1] -= 1
        else:
            lines[0] += 1
        inside = {r * grid.cols + c for r in range(*rows) for c in range(*cols)}
        stages.append([tile for tile in range(1, grid.cells) if grid.home(tile, blank) not in inside])
    return stages


@kernel
def _stage_ended(level, rules, count):
    """Whether all tiles of the stage are home on some board."""
    for board in range(count):
        home = True
        for number in range(rules.homes.shape[0]):
            if level.boards[board * rules.cells + rules.homes[number, 1]] != rules.homes[number, 0]:
                home = False
                break
        if home:
            return True
    return False


def _bytes_of(grid: Grid, words: int) -> int:
    """What a board of the beam takes in all, going by a solution of a usual length."""
    level = grid.cells + 8 * words + 2 + 8 + 4
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

    def __init__(self, problem: Problem, threads: int, limits: Limits, report: Report) -> None:
        self.problem, self.limits, self.report = problem, limits, report
        self.moves, self.chance = moves_of(problem.grid), np.random.default_rng(SEED)
        value = max(problem.heuristic.measure(problem.start))
        self.outcome = Outcome(value, value if problem.heuristic.admissible else 0)
        self.workers = Workers(threads)
        self.heuristics: SimpleQueue = SimpleQueue()
        for _ in range(threads):
            self.heuristics.put(problem.heuristic.fresh(WAYS))
        self.memory = default_memory() if limits.memory is None else limits.memory
        self.widest = max(100, self.memory // _bytes_of(problem.grid, problem.heuristic.words))
        self.began = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def run(self, width: int) -> bool:
        """One pass. Solutions and counts go to the outcome. Whether anything was left out that could be shorter."""
        expanded, generated, began = self.outcome.expanded, self.outcome.generated, self.seconds()
        board, path = list(self.problem.start), [self.problem.start.index(0)]
        self.rules = _rules_of(self.problem, self.chance)
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
            outcome.improvements.append(Improvement(len(path) - 1, self.seconds(), width))
        return leg.narrowed

    def tell(self, moves: int, width: int) -> None:
        """Report how far the search has come."""
        outcome = self.outcome
        shortest = len(outcome.paths[0]) - 1 if outcome.paths else None
        self.report(Progress(moves, outcome.expanded, outcome.generated, length=shortest, width=width))

    def _follow(self, board: list[int], before: int, width: int, stages: list[Rules]) -> _Leg:
        """Level after level from a board that is so many moves from the start, until one is solved or all are lost."""
        problem, outcome, threads = self.problem, self.outcome, self.workers.threads
        cells = problem.grid.cells
        rules, *stages = stages
        level, chosen = _new_level(width, rules), _new_level(width, rules)
        children = _new_children(3 * width + WAYS)
        memory = max(LEVELS * 3 * width, min(REMEMBERED, MANY_LEVELS * width, self.memory // HASH_BYTES))
        seen, remembered = np.zeros(threads << (2 * memory // threads).bit_length(), dtype=np.uint64), 0
        histogram = np.zeros((threads, NO_RANK + 1), dtype=np.int64)
        parts = np.array(problem.heuristic.measure(tuple(board)), dtype=np.int64)
        begin = situation(board.index(0))
        self._with_heuristic(_begin, level, rules, np.array(board, dtype=np.uint8), parts, begin)
        shortest = len(outcome.paths[0]) - 1 if outcome.paths else None
        histories: list[np.ndarray] = []
        best, best_level, best_origin = NO_RANK, 0, -1
        full: tuple[float, int] | None = None  # when the beam was as wide as it may be, and what was expanded by then
        count, narrowed = 1, before > 0
        while count and self.levels < LONGEST * cells:
            self.levels += 1
            moves = before + len(histories)
            if shortest is not None and moves + 1 >= shortest:
                # It only comes to that with a heuristic that is no lower bound.
                return _Leg(None, False, narrowed)
            self.limits.check(outcome.generated)
            self.tell(moves, width)
            # The value that a child may have, if it is to be on a way shorter than the best so far.
            room = NO_RANK
            if shortest is not None and problem.heuristic.admissible:
                room = shortest - (2 if problem.grid.bipartite else 1) - moves - 1
            runs = self.workers.split(count, PIECE)
            firsts = np.array([3 * low for low, _ in runs])
            found = np.zeros((len(runs), 3), dtype=np.int64)
            found[:, 2] = -1
            tasks = [(first, of_run, *run) for first, of_run, run in zip(firsts, found, runs, strict=True)]
            self._over(tasks, _expand, level, children, rules, self.moves, room)
            outcome.expanded += count
            outcome.generated += int(found[:, 1].sum())
            goals = found[found[:, 2] >= 0, 2]
            if goals.size:
                return _Leg(self._path(begin, histories, int(goals[0])), False, narrowed)
            self.limits.check(outcome.generated)
            lasts = found[:, 0].copy()
            if remembered + int((lasts - firsts).sum()) > memory:
                seen[:], remembered = 0, 0
            doubles = (children, firsts, lasts, seen, histogram, threads)
            if len(runs) == 1:
                _leave_out_doubles(*doubles, 0, threads)
            else:
                self.workers.over(pairwise(range(threads + 1)), _leave_out_doubles, *doubles)
            wide = width
            if shortest is not None and self.limits.deadline is not None:
                # A pass that ends too late is worth nothing.
                now = time.monotonic()
                if full is not None:
                    speed = (outcome.expanded - full[1]) / (now - full[0])
                    wide = min(width, 1 + int(speed * max(0.0, self.limits.deadline - now) / (shortest - moves)))
                elif count == width:
                    full = now, outcome.expanded
            total, rank, limit, equal = _cut(histogram, wide)
            remembered += total
            narrowed |= total > wide
            if rank < best:
                best, best_level, best_origin = rank, len(histories), _find(children, rank, firsts, lasts)
            elif narrowed and len(self.rules) > 1 and len(histories) - best_level > PATIENCE * cells:
                return _Leg(self._path(begin, histories[:best_level], best_origin), True, True)
            tasks, count = [], 0
            for first, last in zip(firsts, lasts, strict=True):
                below, just = _count(children, limit, first, last)
                take = min(just, equal)
                tasks.append((take, first, last, count))
                equal -= take
                count += below + take
            history = np.zeros(count, dtype=np.uint32)
            self._over(tasks, _choose, level, children, chosen, history, rules, self.moves, limit)
            histories.append(history)
            level, chosen = chosen, level
            while _stage_ended(level, rules, count) and stages:  # in this order, so that no code is left to compile
                rules, *stages = stages
                _follow_rules(level, rules, count)
                seen[:], remembered, best = 0, 0, NO_RANK
        return _Leg(None, False, narrowed)

    def _with_heuristic(self, function: Callable, *arguments) -> None:
        """Call a kernel with a heuristic that no other thread is using."""
        heuristic = self.heuristics.get()
        try:
            function(heuristic, *arguments)
        finally:
            self.heuristics.put(heuristic)

    def _over(self, tasks: list[tuple], function: Callable, *arguments) -> None:
        """Call a kernel once for each task, with arguments for all and those of the task."""

        def work(number: int, _: int) -> None:
            self.limits.check(0)
            self._with_heuristic(function, *arguments, *tasks[number])

        if len(tasks) == 1:
            work(0, 1)
        else:
            self.workers.over(pairwise(range(len(tasks) + 1)), work)

    def _path(self, number: int, histories: list[np.ndarray], origin: int) -> list[int]:
        """The cells of the blank on the way from a situation to a child of the last level."""
        ways = [origin % WAYS]
        for history in reversed(histories):
            origin = int(history[origin // WAYS])
            ways.append(origin % WAYS)
        cells = [int(self.moves.cell[number])]
        for way in reversed(ways):
            number = int(self.moves.following[number]) >> (16 * way) & 0xFFFF
            cells.append(int(self.moves.cell[number]))
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
            report=lambda progress: None,
        )
        outcome.expanded += found.expanded
        outcome.generated += found.generated
        outcome.iterations.append(Iteration(0, found.expanded, found.generated, time.monotonic() - began))
        outcome.lower_bound = max(outcome.lower_bound, found.lower_bound)
        if found.paths and len(found.paths[0]) < len(outcome.paths[0]):
            outcome.paths = found.paths
            outcome.improvements.append(Improvement(len(found.paths[0]) - 1, self.seconds(), None))
        if found.stopped == "interrupt":
            raise Stopped("interrupt")

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


def _new_level(width: int, rules: Rules) -> Level:
    return Level(
        np.empty(width * rules.cells, dtype=np.uint8),
        np.empty(width * rules.words, dtype=np.int64),
        np.empty(width, dtype=np.uint16),
        np.empty(width, dtype=np.uint64),
        np.empty(width, dtype=np.int32),
    )


def _new_children(count: int) -> Children:
    kinds = (np.uint32, np.uint64, np.uint32, np.int32)
    return Children(*(np.empty(count, dtype=kind) for kind in kinds))


def search(problem: Problem, *, threads: int, limits: Limits, report: Report, width: int | None = None) -> Outcome:
    """The best solution that one pass of a certain width finds, or wider and wider ones as long as they may."""
    beam = _Beam(problem, threads, limits, report)
    outcome = beam.outcome
    try:
        with beam.workers:
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
    except Stopped as stop:
        # To be stopped by the clock is how a search that goes on and on ends, if it has an answer.
        if str(stop) == "interrupt" or not outcome.paths:
            outcome.stopped = str(stop)
    except KeyboardInterrupt:
        outcome.stopped = "interrupt"
    return outcome


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
