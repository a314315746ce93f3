"""Nodes drawn from search trees, on which collections are judged.

IDA* with the bound B expands the nodes (board, depth d) with d + h(board) ≤ B. With a consistent heuristic this value
never falls along a path, so a node is in the tree of such a heuristic if and only if h(board) ≤ B - d, its *margin*:
no matter which heuristic, and without a search. So nodes of one tree, each with its margin, tell how large the tree of
any other collection is: count those that the other one leaves.

*What is missing.* A node that the heuristic of the tree prunes is not seen, whether another one prunes it or not. So
the tree must be that of a weaker heuristic than those that are compared. Here it is the tree of the *reference*
partition with ``SLACK`` taken off its values: it holds the tree of the reference itself and everything that comes
within reach of it. What a good collection leaves outside, where the reference exceeds it by 4 moves or more, is next
to nothing. The nodes beyond the reference's own tree, the *fringe*, are the larger part and matter least: one in
``THINNING`` is kept, and counts for that many.

*Which trees.* Those of random boards, with the bound raised until the tree has enough nodes, or the goal is in it:
beyond that no search goes on. Boards differ more than nodes of one board do, so there are many boards, each with the
same number of nodes in the sample, however large its tree: a share of the sample estimates the mean of the shares.
Every k-th node in the order of the search is taken, with a random beginning: each has the same chance.

The search here is depth first and never undoes a move, as IDA* does. It looks the reference's tables up afresh for
every move, which is simple, and at a million nodes a second fast enough.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..base.jit import kernel, popcount, shared
from ..build import BuiltTable
from ..grid import exchanges
from ..index import arrangement_rank, footprint_rank, neighbours_of, signed_masks, zone_number
from ..pattern import MAX_TILES, Pattern
from .columns import distances_in
from .symmetry import Goal

SLACK = 2  # moves taken off the reference's values
THINNING = 8  # one node of the fringe in so many is kept
SLICE = 1_000_000  # nodes that a kernel visits at a time, so that Python can be interrupted
NO_GOAL = 1 << 30


# ---- the sample ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeSample:
    """Nodes of search trees: boards, cell -> tile, how far they are from the bound, how many nodes each stands for."""

    boards: np.ndarray
    margins: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.margins)

    @cached_property
    def places(self) -> np.ndarray:
        """Tile -> cell of every board."""
        return np.argsort(self.boards, axis=1).astype(np.uint8)

    @cached_property
    def fingerprint(self) -> str:
        """Different for different samples."""
        parts = (self.boards, self.margins, self.weights)
        return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()


def is_solvable(goal: Goal, board: Sequence[int]) -> bool:
    """Whether moves lead from a board to the goal on a bipartite grid.

    A move is an exchange of the blank and a tile, and changes the colour of the blank's cell: so the exchanges that
    turn the board into the goal must be even in number if the blank is on the colour of its home.
    """
    odd_cells = goal.grid.odd_cells
    odd_moves = (odd_cells >> board.index(0) ^ odd_cells >> goal.blank) & 1
    return exchanges(board, goal.board) % 2 == odd_moves


def random_board(goal: Goal, chance: random.Random) -> tuple[int, ...]:
    """A board drawn uniformly from those that lead to the goal on a bipartite grid."""
    board = list(range(goal.grid.cells))
    chance.shuffle(board)
    if not is_solvable(goal, board):  # exchanging two tiles pairs each such board with one that is
        a, b = board.index(1), board.index(2)
        board[a], board[b] = 2, 1
    return tuple(board)


# ---- the reference's tables for kernels ---------------------------------------------------------


class Views(NamedTuple):
    """All different images of a partition over the tables of its patterns. View i = sum * patterns + pattern."""

    view_of: np.ndarray  # [sum, tile] -> the view that has the tile
    sizes: np.ndarray  # view -> its number of tiles
    tiles: np.ndarray  # [view, i] -> the tile that plays the i-th tile of the table's pattern
    cell_images: np.ndarray  # [view, cell] -> the cell where the table sees what is on a cell
    goals: np.ndarray  # view -> the footprint of the goal
    first_blocks: np.ndarray  # those of all pattern sizes, one after another
    first_block_starts: np.ndarray  # view -> where its own begin
    entries: np.ndarray  # those of all tables, one after another
    entry_starts: np.ndarray  # view -> where its own begin
    strides: np.ndarray  # view -> bytes per block


def different_turns(goal: Goal, partition: Sequence[Pattern]) -> list[int]:
    """The symmetries through which the tables of a partition make different sums: those that it turns *into* it."""
    found: dict[frozenset[Pattern], int] = {}
    for symmetry, image in enumerate(goal.tile_images):
        played = frozenset(tuple(tile for tile in goal.tiles if image[tile] in tiles) for tiles in partition)
        found.setdefault(played, symmetry)
    return list(found.values())


def views_of(goal: Goal, tables: Sequence[BuiltTable], turns: Sequence[int]) -> Views:
    """The views of a partition, whose tables are given, through some symmetries."""
    cells, count = goal.grid.cells, len(tables) * len(turns)
    sizes = np.zeros(count, dtype=np.int64)
    tiles = np.zeros((count, MAX_TILES), dtype=np.int64)
    cell_images = np.zeros((count, cells), dtype=np.int64)
    view_of = np.zeros((len(turns), cells), dtype=np.int64)
    goals, first_starts, entry_starts, strides = (np.zeros(count, dtype=np.int64) for _ in range(4))
    at_first = at_entry = 0
    for number, table in enumerate(tables):
        for at_sum, symmetry in enumerate(turns):
            view = at_sum * len(tables) + number
            original = {image: tile for tile, image in enumerate(goal.tile_images[symmetry])}
            played = [original[tile] for tile in table.tiles]
            sizes[view], strides[view] = len(played), table.values.shape[1]
            tiles[view, : len(played)] = played
            view_of[at_sum, played] = view
            cell_images[view] = goal.cell_images[symmetry]
            goals[view] = signed_masks([sum(1 << goal.homes[tile] for tile in table.tiles)])[0]
            first_starts[view], entry_starts[view] = at_first, at_entry
        at_first += len(table.first_block)
        at_entry += table.values.size
    first_blocks = np.concatenate([table.first_block for table in tables])
    entries = np.concatenate([table.values.ravel() for table in tables])
    return Views(view_of, sizes, tiles, cell_images, goals, first_blocks, first_starts, entries, entry_starts, strides)


# ---- the search ---------------------------------------------------------------------------------


class Walk(NamedTuple):
    """Where a depth-first search stands, so that it can go on. Depths are the indices of the last four."""

    board: np.ndarray  # cell -> tile
    places: np.ndarray  # tile -> cell
    distances: np.ndarray  # view -> its distance on this board
    counts: np.ndarray  # see below
    came_from: np.ndarray  # the cell the blank came from
    todo: np.ndarray  # the number of the next neighbour to try
    rose: np.ndarray  # the sums that rose with the move to here, a bit each
    totals: np.ndarray  # the sums


DEPTH, FRESH, INSIDE, FRINGE, KEPT, GOAL_DEPTH = range(6)  # places in ``Walk.counts``


@shared
def _view_mod_4(views, view, places, everywhere, near, odd_cells, cells, ordinals):
    """The distance modulo 4 of a board, tile -> cell, in a view."""
    size = views.sizes[view]
    footprint = 0
    for number in range(size):
        cells[number] = views.cell_images[view, places[views.tiles[view, number]]]
        footprint |= 1 << cells[number]
    for number in range(size):
        ordinals[number] = popcount(footprint & ((1 << cells[number]) - 1))
    first = views.first_block_starts[view] + footprint_rank(footprint)
    block = views.first_blocks[first]
    if views.first_blocks[first + 1] > block + 1:
        block += zone_number(views.cell_images[view, places[0]], everywhere & ~footprint, near)
    arrangement = arrangement_rank(ordinals, size)
    byte = views.entries[views.entry_starts[view] + block * views.strides[view] + (arrangement >> 3)]
    return 2 * int((byte >> (arrangement & 7)) & 1) + (popcount((footprint ^ views.goals[view]) & odd_cells) & 1)


@kernel
def _visit(views, goal, everywhere, near, odd_cells, neighbours, walk, bound, slack, every, offset, kept, most):
    """Visit up to ``most`` nodes, and return whether there are more.

    ``every`` holds after how many nodes inside the reference's tree and in its fringe one is kept, 0 for none;
    ``offset`` how many of them count as seen before; ``kept`` the nodes that are kept: boards, margins, inside or not.
    """
    kept_boards, kept_margins, kept_inside = kept
    board, places, distances, counts, came_from, todo, rose, totals = walk
    cells, ordinals = np.zeros(MAX_TILES, dtype=np.int64), np.zeros(MAX_TILES, dtype=np.int64)
    sums = views.view_of.shape[0]
    depth = counts[DEPTH]
    visited = 0
    while True:
        if counts[FRESH] != 0:  # a node that the search has just come to
            if visited == most:
                counts[DEPTH] = depth
                return True
            visited += 1
            counts[FRESH] = 0
            todo[depth] = 0
            value = 0
            for number in range(sums):
                value = max(value, totals[depth, number])
            inside = int(depth + value <= bound - slack)
            counts[FRINGE - inside] += 1
            if every[1 - inside] != 0 and (counts[FRINGE - inside] + offset[1 - inside]) % every[1 - inside] == 0:
                at = counts[KEPT]
                kept_boards[at] = board
                kept_margins[at] = bound - slack - depth
                kept_inside[at] = inside
                counts[KEPT] += 1
            if value == 0 and depth < counts[GOAL_DEPTH]:
                home = True
                for cell in range(board.size):
                    home = home and board[cell] == goal[cell]
                if home:
                    counts[GOAL_DEPTH] = depth
        blank = places[0]
        descended = False
        while todo[depth] < neighbours.shape[1] and not descended:
            source = neighbours[blank, todo[depth]]
            todo[depth] += 1
            if source < 0 or source == came_from[depth]:
                continue
            tile = board[source]
            places[tile], places[0] = blank, source
            within, up = True, 0
            for number in range(sums):
                view = views.view_of[number, tile]
                value = _view_mod_4(views, view, places, everywhere, near, odd_cells, cells, ordinals)
                higher = (value - distances[view]) & 3 == 1
                total = totals[depth, number] + (1 if higher else -1)
                if depth + 1 + total > bound:
                    within = False
                    break
                totals[depth + 1, number] = total
                up |= int(higher) << number
            if within:
                board[blank], board[source] = tile, 0
                depth += 1
                came_from[depth], rose[depth] = blank, up
                for number in range(sums):
                    distances[views.view_of[number, tile]] += 1 if (up >> number) & 1 else -1
                counts[FRESH] = 1
                descended = True
            else:
                places[tile], places[0] = source, blank
        if descended:
            continue
        if depth == 0:
            return False
        source = came_from[depth]  # take the move back
        tile = board[source]
        for number in range(sums):
            distances[views.view_of[number, tile]] += -1 if (rose[depth] >> number) & 1 else 1
        board[blank], board[source] = tile, 0
        places[tile], places[0] = blank, source
        depth -= 1


class Tree:
    """The search trees of boards under a partition, given by its tables, and all its images."""

    def __init__(self, goal: Goal, tables: Sequence[BuiltTable]) -> None:
        grid = goal.grid
        self.goal, self.tables = goal, tables
        self.turns = different_turns(goal, [table.tiles for table in tables])
        self.views = views_of(goal, tables, self.turns)
        everywhere, odd_cells = signed_masks([grid.all_cells, grid.odd_cells])
        self._fixed = (np.array(goal.board), everywhere, signed_masks(grid.near), odd_cells, neighbours_of(grid))

    def distances(self, board: Sequence[int]) -> np.ndarray:
        """The distance in every view."""
        places = np.argsort(np.array(board))[None, :]
        return np.concatenate(
            [distances_in(self.goal, table, places, symmetry) for symmetry in self.turns for table in self.tables]
        )

    def value(self, board: Sequence[int]) -> int:
        """The largest sum: a lower bound on the moves to the goal."""
        return int(self.distances(board).reshape(len(self.turns), -1).sum(axis=1).max())

    def leaves(self, sample: TreeSample) -> np.ndarray:
        """Which nodes of a sample are in the tree of this partition."""
        left = np.ones(len(sample), dtype=bool)
        for symmetry in self.turns:
            left &= (
                sum(distances_in(self.goal, table, sample.places, symmetry) for table in self.tables) <= sample.margins
            )
        return left

    def search(
        self,
        board: Sequence[int],
        bound: int,
        *,
        slack: int = 0,
        every: tuple[int, int] = (0, 0),
        offset: tuple[int, int] = (0, 0),
    ) -> Pass:
        """Visit all nodes with depth + value ≤ ``bound``, and keep one in ``every``.

        The nodes inside are those that stay ``slack`` below the bound; the others are the fringe. Both have a rate and
        an offset of their own.
        """
        distances = self.distances(board)
        sums = distances.reshape(len(self.turns), -1).sum(axis=1)
        depths = bound + 2
        counts = np.array([0, 1, 0, 0, 0, NO_GOAL], dtype=np.int64)
        totals = np.zeros((depths, len(sums)), dtype=np.int64)
        totals[0] = sums
        came_from = np.full(depths, -1, dtype=np.int64)
        todo, rose = (np.zeros(depths, dtype=np.int64) for _ in range(2))
        tiles = np.array(board, dtype=np.int64)
        walk = Walk(tiles, np.argsort(tiles), distances, counts, came_from, todo, rose, totals)
        room = sum(SLICE // rate + 1 for rate in every if rate)
        kept = (np.zeros((room, tiles.size), dtype=np.uint8), *(np.zeros(room, dtype=np.int64) for _ in range(2)))
        rates = (bound, slack, np.array(every), np.array(offset), kept, SLICE)
        slices = []
        more = sums.max() <= bound
        while more:
            more = _visit(self.views, *self._fixed, walk, *rates)
            slices.append([array[: counts[KEPT]].copy() for array in kept])
            counts[KEPT] = 0
        empty = [array[:0] for array in kept]
        nodes = (np.concatenate(parts) for parts in zip(empty, *slices, strict=True))
        return Pass(int(counts[INSIDE]), int(counts[FRINGE]), bool(counts[GOAL_DEPTH] < NO_GOAL), *nodes)


class Pass(NamedTuple):
    """One search under one bound."""

    inside: int  # nodes
    fringe: int
    goal: bool  # whether the goal was among them
    boards: np.ndarray  # the nodes that were kept
    margins: np.ndarray
    kept_inside: np.ndarray  # which of them are inside


def draw_sample(
    tree: Tree,
    boards: Sequence[Sequence[int]],
    *,
    nodes: int,
    wanted: int,
    chance: random.Random,
    progress: Callable[[float], object] = lambda share: None,
) -> TreeSample:
    """About ``wanted`` nodes of the trees of some boards, and of their fringes; trees have ``nodes`` nodes or more.

    The nodes are in the order of the boards, as many of each.
    """
    drawn = []
    for number, board in enumerate(boards):
        bound = tree.value(board)
        while (found := tree.search(board, bound)).inside < nodes and not found.goal:
            bound += 2
        rate = max(1, found.inside * len(boards) // wanted)
        every = (rate, rate * THINNING)
        offset = (chance.randrange(every[0]), chance.randrange(every[1]))
        drawn.append(tree.search(board, bound + SLACK, slack=SLACK, every=every, offset=offset))
        progress((number + 1) / len(boards))
    parts = ("boards", "margins", "kept_inside")
    all_boards, margins, inside = (np.concatenate([getattr(one, part) for one in drawn]) for part in parts)
    within = margins >= 0  # what is deeper than the bound is in no tree
    return TreeSample(all_boards[within], margins[within], np.where(inside == 1, 1, THINNING)[within])
