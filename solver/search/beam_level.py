"""One level of a beam: how boards are ranked, expanded, rid of duplicates and chosen.

*Rank.* Which boards are the most promising? The heuristic's parts, on average rather than at most: a maximum throws
away what the others know. Two things are added that no admissible heuristic can express (measured in
docs/benchmarks.md). The first is the *stretch*: a heuristic counts a tile two cells from home as much as two tiles one
cell from home, but tiles far out are harder to bring home, and a greedy beam leaves them for later, when everything in
their way has been put in order. So a tile d cells from home costs more than d, by

    STRETCH d (d / s)³

where s is the side of the board. The second is the *border* between order and disorder: each pair of neighbouring cells
of which one holds the tile that belongs there and the other does not costs BORDER. Disorder in one place is repaired in
passing, but the blank has to visit each of many places. Ties are broken by the hash, hence at random.
A learned rank adds the weights of tiles, of pairs of tiles and of the tiles around the blank (``learned_rank``); it is
finer than the buckets that boards are sorted into, and is rounded to those by the hash, hence at random as well.

*Duplicates* are recognised by a Zobrist-style hash of 64 bits alone: the exclusive or of one random key per tile and
cell, which a move updates in four steps. Two boards of the same hash count as one, which is rare and costs a beam
nothing, since it proves nothing.

*Stages* (see ``beam``) have separate rules: the tiles that are to come home weigh far more than all others, the
blank is drawn to the nearest of them, and the other tiles have no keys, so that boards which differ only in those are
duplicates.

A level holds, for each board, its cells, what the heuristic saves of it, its hash and its stretch, and for a learned
rank how far each tile is from home.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdb_builder.base.jit import borrowing, copy, fetch, inlined, kernel, prefetch_line, put
from pdb_builder.grid import Grid

from ..heuristics.contract import apply, evaluate, load, prefetch, prefetches, restore, save, write_parts
from ..heuristics.manhattan import distances_home
from .automaton import MOVES, cell_of, state_of
from .learned_rank import (
    AROUND,
    ROW,
    STEPS,
    RankTables,
    displacements_of,
    no_tables,
    rank_from_scratch,
    rank_tables,
    step_of,
)
from .outcome import Problem

SCALE = 4  # steps of a rank per move, unless it is learned
STRETCH, BORDER = 1.0, 0.5
SIDE = 4  # of what is left of a board that is solved in one stage
HEAVY, LIGHT = 2, 0.5  # what a move counts in a stage, of the tiles of the line and of all
TIE_BITS = 2  # bits below a rank that are random, so that ties are broken, or finer ranks are rounded, at random
NO_RANK = (1 << 18) - 1  # of a duplicate; 2x50 boards have ranks of up to 160,000
FINE = 2  # bits by which learned ranks are finer in the end
LIFT = 64  # moves added to learned ranks, since they can be below that of the goal
AHEAD = 8  # hashes whose place is prefetched


class Level(NamedTuple):
    """The boards of a level. All arrays are flat."""

    boards: np.ndarray  # [board, cell] -> tile
    away: np.ndarray  # [board, tile] -> its displacement, for a learned rank
    words: np.ndarray  # [board, word]: what the heuristic saves
    states: np.ndarray  # [board] -> of the automaton
    hashes: np.ndarray
    stretches: np.ndarray  # including what the border counts, and what was learned of tiles and pairs


class Children(NamedTuple):
    """The children of a level. An *origin* is a parent and a move index, in the two lowest bits."""

    origins: np.ndarray
    hashes: np.ndarray
    ranks: np.ndarray
    stretches: np.ndarray


class Rules(NamedTuple):
    """What holds for all boards. All arrays are flat."""

    cells: int
    noted: int  # tiles whose displacements are noted: all of them if the rank is learned, else none
    words: int  # that the heuristic saves of a board
    parts: int
    keys: np.ndarray  # [tile, cell] -> its share in the hash
    stretch: np.ndarray  # [tile, cell] -> its share in the stretch
    home: np.ndarray  # [tile, cell] -> whether it belongs there
    neighbours: np.ndarray  # [cell, number] -> a neighbour, or -1
    border: int  # what two neighbours count if one is home and one is not
    scale: int  # what a move counts by the heuristic
    finer: int  # bits by which a rank is made finer in the end, before a tie-break of two bits is added
    coarser: int  # and by which it is made coarser then, so that a move counts 16 in all ranks
    lift: int  # is added to all ranks
    astray: np.ndarray  # [tile, cell] -> whether this is a tile of the stage that is not home
    between: np.ndarray  # [cell, cell] -> moves
    homes: np.ndarray  # [number] -> a tile that is to be home at the end of the stage, and its home
    learned: RankTables


class Scratch(NamedTuple):
    """What a thread notes of a board while it expands it."""

    parts: np.ndarray
    nearest: np.ndarray  # [move index] -> as by ``_seek``


def new_level(width: int, rules: Rules) -> Level:
    """Room for the boards of a level."""
    return Level(
        np.empty(width * rules.cells, dtype=np.uint8),
        np.empty(width * rules.noted, dtype=np.uint8),
        np.empty(width * rules.words, dtype=np.int64),
        np.empty(width, dtype=np.uint16),
        np.empty(width, dtype=np.uint64),
        np.empty(width, dtype=np.int32),
    )


def new_scratch(rules: Rules) -> Scratch:
    """Room for notes."""
    return Scratch(*np.zeros((2, max(MOVES, rules.parts)), dtype=np.int64))


def new_children(count: int) -> Children:
    """Room for children."""
    kinds = (np.uint32, np.uint64, np.uint32, np.int32)
    return Children(*(np.empty(count, dtype=kind) for kind in kinds))


# ---- the rules ----------------------------------------------------------------------------------


def rules_of(problem: Problem, rng: np.random.Generator) -> list[Rules]:
    """The rules of each stage, with new tie-break keys. The last ones are those of a search without stages."""
    grid, heuristic = problem.grid, problem.heuristic
    cells = range(grid.cells)
    all_keys = rng.integers(0, 2**64, (grid.cells, grid.cells), dtype=np.uint64)
    distance = distances_home(grid, problem.blank)
    home = distance == 0
    home[0] = False  # the blank is disorder wherever it is
    neighbours = np.array([[*around, *(-1,) * (MOVES - len(around))] for around in grid.neighbours])
    between = np.array([[grid.distance(cell, other) for other in cells] for cell in cells])
    more = STRETCH * (distance / ((grid.rows + grid.cols) / 2)) ** 3
    rules, none = [], no_tables(grid)
    for tiles in _stages(grid, problem.blank):
        others = [tile for tile in cells if tile not in tiles and tile != 0]
        keys, stretch, astray = all_keys.copy(), np.rint(SCALE * HEAVY * distance * (1 + more)), distance > 0
        keys[others], stretch[others], astray[others] = 0, 0, False
        homes = np.array([(tile, grid.home(tile, problem.blank)) for tile in tiles])
        scales = (0, int(SCALE * LIGHT), TIE_BITS, 0, 0)
        rules.append((keys, stretch.astype(np.int32), home, neighbours, *scales, astray, between, homes, none))
    steps, tables, scales = SCALE, none, (TIE_BITS, 0, 0)
    if problem.weights is not None:
        lift = STEPS * (
            LIFT - round(rank_from_scratch(problem.weights, grid, problem.blank, grid.goal(problem.blank)) / STEPS)
        )
        steps, tables, scales = STEPS, rank_tables(problem.weights, grid, problem.blank), (0, FINE, lift)
    stretch = np.rint(steps * distance * more).astype(np.int32)
    if problem.weights is not None:
        stretch[1:] += problem.weights.single[displacements_of(grid, problem.blank)[1:]]
    nothing = (np.zeros_like(home), between, np.zeros((0, 2), dtype=np.int64))
    rules.append((all_keys, stretch, home, neighbours, int(steps * BORDER), steps, *scales, *nothing, tables))

    def sizes(tables: RankTables) -> tuple[int, ...]:
        return grid.cells, grid.cells if tables.steps.size else 0, heuristic.saved_words, heuristic.parts

    return [Rules(*sizes(one[-1]), *(of.ravel() if isinstance(of, np.ndarray) else of for of in one)) for one in rules]


def _stages(grid: Grid, blank: int) -> list[list[int]]:
    """The tiles that are to be home at the end of each stage but the last, those of earlier stages included."""
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
def follow_rules(level, rules, count):
    """Work out the hashes and stretches of all boards."""
    cells, learned = rules.cells, rules.learned
    away = np.zeros(cells, dtype=np.int64)
    for board in range(count):
        first = board * cells
        level.stretches[board] = level.hashes[board] = 0
        for cell in range(cells):
            tile = np.int64(level.boards[first + cell])
            if rules.noted != 0:
                away[tile] = level.away[first + tile] = learned.displacements[tile * cells + cell]
        for tile in range(rules.noted):
            for number in range(learned.offsets):
                other = learned.partners[tile * learned.offsets + number]
                if other > tile:  # every pair once
                    place = (away[tile] * learned.offsets + number) * ROW + away[other]
                    level.stretches[board] += learned.pairs[place]
        for cell in range(cells):
            tile = np.int64(level.boards[first + cell])
            level.stretches[board] += rules.stretch[tile * cells + cell]
            level.hashes[board] ^= rules.keys[tile * cells + cell]
            for number in range(MOVES):
                other = rules.neighbours[cell * MOVES + number]
                if other > cell:  # every pair once
                    beside = np.int64(level.boards[first + other])
                    if rules.home[tile * cells + cell] != rules.home[beside * cells + other]:
                        level.stretches[board] += rules.border


@kernel
def stage_ended(level, rules, count):
    """Whether all tiles of the stage are home on some board."""
    for board in range(count):
        home = True
        for number in range(rules.homes.size // 2):
            if level.boards[board * rules.cells + rules.homes[2 * number + 1]] != rules.homes[2 * number]:
                home = False
                break
        if home:
            return True
    return False


# ---- from level to level ------------------------------------------------------------------------


@kernel
def begin(heuristic, level, rules, board, parts, state):
    """Make a board the only one of a level."""
    load(heuristic, board, parts, 0)
    save(heuristic, level.words, 0)
    level.states[0] = state
    for cell in range(rules.cells):
        level.boards[cell] = board[cell]
    follow_rules(level, rules, 1)


@inlined
def _seek(level, rules, automaton, parent, state, nearest):
    """For each move of a board, how far the blank will then be from a tile of the stage that is not home."""
    for index in range(MOVES):
        put(nearest, index, rules.cells)
    for place in range(rules.cells):
        tile = np.int64(fetch(level.boards, parent * rules.cells + place))
        if fetch(rules.astray, tile * rules.cells + place):
            for index in range(fetch(automaton.branching, state)):
                source = cell_of(np.int64(fetch(automaton.successors, state * MOVES + index)))
                away = np.int64(fetch(rules.between, place * rules.cells + source))
                put(nearest, index, min(fetch(nearest, index), away))
    for index in range(MOVES):
        put(nearest, index, fetch(nearest, index) % rules.cells)  # 0 if all are home


@inlined
def _more_border(level, rules, parent, cell, blank):
    """How much longer the border gets if the tile on a cell beside the blank comes home there."""
    more = 1  # to the blank
    for number in range(MOVES):
        other = np.int64(fetch(rules.neighbours, cell * MOVES + number))
        if other >= 0 and other != blank:
            beside = np.int64(fetch(level.boards, parent * rules.cells + other))
            more += 1 - 2 * np.int64(fetch(rules.home, beside * rules.cells + other))
    return more


@inlined
def _more_by_pairs(cells, learned, away, first, tile, source, target):
    """By how much the pairs of a tile count more if it moves to a cell beside its own."""
    start = np.int64(fetch(learned.displacements, tile * cells + source))
    end = np.int64(fetch(learned.displacements, tile * cells + target))
    if start == end:
        return 0  # too far from home to be told apart
    row = step_of(start, end) * learned.offsets * ROW
    total = 0
    for number in range(learned.offsets):
        other = np.int64(fetch(away, first + np.int64(fetch(learned.partners, tile * learned.offsets + number))))
        total += np.int64(fetch(learned.steps, row + number * ROW + other))
    return total if end > start else -total


@inlined
def _around_blank(cells, level, learned, board, tile, source, target):
    """What the tiles around the blank count when a tile has moved: the move is made, and taken back."""
    away = fetch(level.away, board + tile)
    put(level.boards, board + target, np.uint8(tile))
    put(level.boards, board + source, np.uint8(0))
    put(level.away, board + tile, fetch(learned.displacements, tile * cells + target))
    total = 0
    for place in range(len(AROUND)):
        cell = np.int64(fetch(learned.cells_around, source * len(AROUND) + place))
        there = np.int64(fetch(level.away, board + np.int64(fetch(level.boards, board + cell))))
        total += np.int64(fetch(learned.around, place * ROW + there))
    put(level.boards, board + target, np.uint8(0))
    put(level.boards, board + source, np.uint8(tile))
    put(level.away, board + tile, away)
    return total


@borrowing
def expand(heuristic, level, children, rules, automaton, room, scratch, first, found, low, high):
    """List the children of some boards from ``first`` on, without those whose value exceeds ``room``.

    ``found`` holds how many there are up to now, how many were generated, and the goal's origin or -1.
    """
    cells = rules.cells
    at = first
    for parent in range(low, high):
        state = np.int64(fetch(level.states, parent))
        blank = np.int64(fetch(automaton.cell, state))
        moves = np.int64(fetch(automaton.branching, state))
        board = parent * cells
        restore(heuristic, level.words, parent * rules.words)
        if rules.homes.size != 0:
            _seek(level, rules, automaton, parent, state, scratch.nearest)
        if prefetches(heuristic):
            for index in range(moves):
                source = cell_of(np.int64(fetch(automaton.successors, state * MOVES + index)))
                prefetch(heuristic, index, np.int64(fetch(level.boards, board + source)), source, blank, 0, 0)
        for index in range(moves):
            source = cell_of(np.int64(fetch(automaton.successors, state * MOVES + index)))
            tile = np.int64(fetch(level.boards, board + source))
            value = evaluate(heuristic, index, tile, source, blank)
            if value == 0 and fetch(found, 2) < 0:
                put(found, 2, parent * MOVES + index)
            if value > room:
                continue
            write_parts(heuristic, index, value, scratch.parts, 0)
            rank = 0
            for part in range(rules.parts):
                rank += fetch(scratch.parts, part)
            start, end = tile * cells + source, tile * cells + blank
            stretch = np.int64(fetch(level.stretches, parent))
            stretch += np.int64(fetch(rules.stretch, end)) - np.int64(fetch(rules.stretch, start))
            if fetch(rules.home, end):
                stretch += rules.border * _more_border(level, rules, parent, blank, source)
            elif fetch(rules.home, start):
                stretch -= rules.border * _more_border(level, rules, parent, source, blank)
            around = 0
            if rules.noted != 0:
                stretch += _more_by_pairs(cells, rules.learned, level.away, board, tile, source, blank)
                around = _around_blank(cells, level, rules.learned, board, tile, source, blank)
            mixed = fetch(level.hashes, parent) ^ fetch(rules.keys, start) ^ fetch(rules.keys, end)
            mixed ^= fetch(rules.keys, source) ^ fetch(rules.keys, blank)
            rank *= rules.scale
            if rules.parts != 1:
                rank //= rules.parts
            rank += stretch + around + rules.lift + SCALE * fetch(scratch.nearest, index)
            rank = ((max(rank, 0) << rules.finer) + np.int64(mixed >> np.uint64(64 - TIE_BITS))) >> rules.coarser
            put(children.origins, at, np.uint32(parent * MOVES + index))
            put(children.hashes, at, mixed)
            put(children.stretches, at, np.int32(stretch))
            put(children.ranks, at, np.uint32(min(rank, NO_RANK - 1)))
            at += 1
        put(found, 1, fetch(found, 1) + moves)
    put(found, 0, at)


@borrowing
def mark_duplicates(children, firsts, lasts, seen, histogram, shares, low, high):
    """Of the hashes of some shares: mark duplicates, remember the others and count them, by rank and in all."""
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
def cut_off(histogram, width):
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
def find_rank(children, rank, firsts, lasts):
    """The origin of a child of a certain rank."""
    for run in range(firsts.size):
        for child in range(firsts[run], lasts[run]):
            if children.ranks[child] == rank:
                return np.int64(children.origins[child])
    return np.int64(-1)


@borrowing
def count_ranks(children, limit, first, last):
    """How many of some children have a rank below the limit, and how many have just that."""
    below = equal = 0
    for child in range(first, last):
        below += np.int64(children.ranks[child] < limit)
        equal += np.int64(children.ranks[child] == limit)
    return below, equal


@borrowing
def choose(heuristic, level, children, chosen, history, rules, automaton, limit, equal, first, last, at):
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
        parent = origin // MOVES
        state = np.int64(level.states[parent])
        successor = np.int64(automaton.successors[state * MOVES + origin % MOVES])
        source, blank = cell_of(successor), np.int64(automaton.cell[state])
        copy(chosen.boards, at * cells, level.boards, parent * cells, cells)
        tile = np.int64(fetch(level.boards, parent * cells + source))
        put(chosen.boards, at * cells + blank, np.uint8(tile))
        put(chosen.boards, at * cells + source, np.uint8(0))
        if rules.noted != 0:
            copy(chosen.away, at * cells, level.away, parent * cells, cells)
            put(chosen.away, at * cells + tile, fetch(rules.learned.displacements, tile * cells + blank))
        restore(heuristic, level.words, parent * words)
        prefetch(heuristic, 0, tile, source, blank, 0, 0)
        evaluate(heuristic, 0, tile, source, blank)
        apply(heuristic, 0, tile, source, blank)
        save(heuristic, chosen.words, at * words)
        chosen.states[at] = state_of(successor)
        chosen.hashes[at] = children.hashes[child]
        chosen.stretches[at] = children.stretches[child]
        history[at] = origin
        at += 1
