"""Choosing collections: columns, covers and predictions against slow and obvious versions."""

import random
from itertools import combinations

import numpy as np
import pytest

from pdb_builder.build import build_table
from pdb_builder.choosing import collection
from pdb_builder.choosing.catalogue import Catalogue, connected_patterns
from pdb_builder.choosing.collection import CollectionSearch
from pdb_builder.choosing.columns import distances_in
from pdb_builder.choosing.covers import best_covers
from pdb_builder.choosing.symmetry import Goal
from pdb_builder.choosing.tree_sample import TreeSample, draw_sample, random_board
from pdb_builder.grid import Grid

from .helpers import images_of
from .oracle import pattern_distances, solvable_boards
from .test_tree_sample import naive_tree, naive_value, tree_of

pytestmark = pytest.mark.jit


def sample_of(goal, seed=1, boards=6, nodes=300, wanted=600):
    partition = tuple(tuple(goal.tiles[at : at + 4]) for at in range(0, len(goal.tiles), 4))
    tree, chance = tree_of(goal.grid, goal.blank, partition), random.Random(seed)
    starts = [random_board(goal, chance) for _ in range(boards)]
    return tree, draw_sample(tree, starts, nodes=nodes, wanted=wanted, chance=chance)


# ---- symmetries ---------------------------------------------------------------------------------


def test_symmetries_keep_the_blank_and_come_in_orbits():
    for grid, blank, count in (
        *((Grid(5, 5), 0, 2), (Grid(5, 5), 1, 1), (Grid(5, 5), 2, 2), (Grid(5, 5), 6, 2), (Grid(5, 5), 12, 8)),
        *((Grid(4, 5), 0, 1), (Grid(4, 4), 5, 2), (Grid(3, 5), 7, 4)),
    ):
        goal = Goal(grid, blank)
        assert len(goal.cell_images) == count and goal.cell_images[0] == tuple(range(grid.cells))
        for pattern in (goal.tiles[:3], goal.tiles[-4:], (1, 5, 7)):
            pattern = tuple(pattern)
            orbit = goal.orbit(pattern)
            assert pattern in orbit
            assert {goal.orbit(other) for other in orbit} == {orbit}
    goal = Goal(Grid(4, 4), 0)
    assert goal.orbit((1, 2, 3)) == ((1, 2, 3), (4, 8, 12))
    assert goal.views_per_tile([(1, 2, 3), (4, 8, 12), (5, 6)]) == (3 + 3 + 2 + 2) / 15


def test_connected_patterns_are_all_there():
    for grid, blank in ((Grid(3, 3), 0), (Grid(3, 3), 4), (Grid(2, 4), 2)):
        goal = Goal(grid, blank)
        for size, found in enumerate(connected_patterns(goal, 4), start=1):
            assert found == [tiles for tiles in combinations(goal.tiles, size) if connected(goal, tiles)]


def connected(goal, tiles):
    reached, cells = set(), {goal.homes[tile] for tile in tiles}
    todo = [min(cells)]
    while todo:
        cell = todo.pop()
        if cell in cells and cell not in reached:
            reached.add(cell)
            todo += goal.grid.neighbours[cell]
    return reached == cells


# ---- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "blank", "tiles"),
    [
        (Grid(3, 3), 0, (1, 2, 5)),
        (Grid(3, 3), 4, (1, 2, 3, 6)),
        (Grid(2, 4), 2, (1, 4, 5, 6, 7)),
        (Grid(3, 3), 8, (1, 2, 3, 4, 5, 6, 7, 8)),
        (Grid(2, 4, wrap=True), 0, (1, 2, 6)),
    ],
)
def test_columns_are_the_distances_of_the_oracle(grid, blank, tiles):
    goal, chance = Goal(grid, blank), random.Random(2)
    boards = chance.sample(solvable_boards(grid, blank), 300)
    places = np.argsort(np.array(boards), axis=1)
    table = build_table(grid, tiles, blank=blank, threads=1)
    for symmetry, image in enumerate(goal.tile_images):
        served = [tile for tile in range(grid.cells) if image[tile] in tiles]
        expected = [
            pattern_distances(grid, tuple(served), blank)[tuple(board.index(tile) for tile in served), board.index(0)]
            for board in boards
        ]
        assert distances_in(goal, table, places, symmetry).tolist() == expected


def test_a_column_is_known_once_its_table_is_built_and_guessed_before():
    goal = Goal(Grid(3, 4), 0)
    _, sample = sample_of(goal)
    catalogue = Catalogue(goal, sample, 5)
    small = np.flatnonzero(catalogue.sizes <= 4)
    for number in small:
        catalogue.add(number)
    assert catalogue.known[small].all() and not catalogue.known[catalogue.sizes == 5].any()
    manhattan = np.array([[goal.grid.distance(cell, goal.homes[t]) for cell in range(12)] for t in range(12)])
    guesses, truths = [], []
    for number in np.flatnonzero(catalogue.sizes == 5)[::9]:
        tiles = catalogue.patterns[number]
        guess = catalogue.excess[number].astype(int)
        assert (guess % 2 == 0).all()
        for less in combinations(tiles, 4):
            if less in catalogue.number:
                assert (guess >= catalogue.excess[catalogue.number[less]]).all()
        catalogue.add(number)
        table = build_table(goal.grid, tiles, threads=1)
        at_home = sum(manhattan[tile][sample.places[:, tile]] for tile in tiles)
        truth = distances_in(goal, table, sample.places) - at_home
        assert catalogue.excess[number].tolist() == truth.tolist()
        guesses.append(guess.mean())
        truths.append(truth.mean())
    assert np.mean(guesses) == pytest.approx(np.mean(truths), rel=0.15)
    assert np.corrcoef(guesses, truths)[0, 1] > 0.9


# ---- covers -------------------------------------------------------------------------------------


def all_covers(patterns, tiles):
    """Every set of disjoint patterns that has all tiles, by trying."""
    if not tiles:
        return [()]
    first = min(tiles)
    return [
        (number, *rest)
        for number, pattern in enumerate(patterns)
        if first in pattern and set(pattern) <= tiles
        for rest in all_covers(patterns, tiles - set(pattern))
    ]


def test_covers_are_all_covers_and_the_best_come_first():
    goal, chance = Goal(Grid(3, 3), 0), random.Random(4)
    patterns = [pattern for size in connected_patterns(goal, 4) for pattern in size]
    masks = np.array([sum(1 << tile for tile in pattern) for pattern in patterns], dtype=np.uint64)
    for usable in (range(len(patterns)), chance.sample(range(len(patterns)), 40), [0, 1]):
        values = np.array([chance.random() * len(pattern) for pattern in patterns])
        chosen = sorted(usable)
        expected = [
            tuple(chosen[at] for at in cover)
            for cover in all_covers([patterns[number] for number in chosen], set(goal.tiles))
        ]
        expected.sort(key=lambda cover: -values[list(cover)].sum())
        assert best_covers(masks, values, np.array(chosen), 8, 10**6) == expected
        few = best_covers(masks, values, np.array(chosen), 8, 20)
        assert few == [cover for cover in expected if cover in set(few)] and bool(few) == bool(expected)


def test_neighbours_have_the_same_tiles_in_other_patterns():
    goal = Goal(Grid(3, 3), 0)
    _, sample = sample_of(goal)
    catalogue = Catalogue(goal, sample, 4)
    search = CollectionSearch(catalogue, 10**9, random.Random(1))
    usable = np.arange(len(catalogue.patterns))
    cover = tuple(sorted(catalogue.number[tiles] for tiles in ((1, 2, 4, 5), (3, 6), (7, 8))))
    expected = {
        tuple(sorted(other))
        for other in all_covers(catalogue.patterns, set(goal.tiles))
        if len(set(cover) - set(other)) == 2 and len(set(other) - set(cover)) <= 2
    }
    assert set(search.neighbours(cover, usable)) - {cover} == expected


# ---- limits ----------------------------------------------------------------------------------------


def test_no_collection_has_more_than_the_solver_looks_at(monkeypatch):
    """Whatever the limits are: greedy steps, tables and answers stay within them."""
    goal = Goal(Grid(3, 3), 4)
    _, sample = sample_of(goal, wanted=300)
    catalogue = Catalogue(goal, sample, 4)
    monkeypatch.setattr(collection, "VIEW", 0.0)  # so that nothing else keeps collections small
    monkeypatch.setattr(collection, "LEAST_STEP", 0.001)
    free = CollectionSearch(catalogue, 10**9, random.Random(1))
    free.run((), 3)
    views = int(catalogue.orbit[list(free.best.tables)].sum())
    assert len(free.best.sums) > 8 and views > 12
    for sums, most_views in ((8, 254), (64, 12)):
        monkeypatch.setattr(collection, "MAX_SUMS", sums)
        monkeypatch.setattr(collection, "MAX_VIEWS", most_views)
        search = CollectionSearch(catalogue, 10**9, random.Random(1))
        best = search.run((), 3)
        partitions = [[catalogue.patterns[number] for number in cover] for cover in best.covers]
        images = {frozenset(image) for partition in partitions for image in images_of(goal, partition)}
        assert 0 < len(images) == len(best.sums) <= sums
        assert len({tiles for image in images for tiles in image}) <= most_views
        too_many = CollectionSearch(catalogue, 10**9, random.Random(1))
        start = [tuple(catalogue.patterns[number] for number in cover) for cover in free.best.covers]
        assert len(too_many.run(tuple(start), 1).sums) <= sums
        assert int(catalogue.orbit[list(too_many.best.tables)].sum()) <= most_views


# ---- predictions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("grid", "blank"), [(Grid(3, 3), 0), (Grid(3, 3), 4), (Grid(2, 5), 0)])
def test_nodes_that_partitions_leave_are_those_of_a_search(grid, blank):
    """On all nodes of some trees: a collection that has the partition of the trees among its own leaves just these."""
    goal, chance = Goal(grid, blank), random.Random(7)
    base = tuple(tuple(goal.tiles[at : at + 3]) for at in range(0, len(goal.tiles), 3))
    partitions = (base, (tuple(goal.tiles[:4]), tuple(goal.tiles[4:])))
    tree, counted, kept = tree_of(grid, blank, base), 0, []
    for _ in range(5):
        board = random_board(goal, chance)
        bound = tree.value(board) + 4
        found = tree.search(board, bound, every=(1, 1))
        kept.append(found)
        known = {}

        def value(board, known=known):
            if board not in known:
                known[board] = max(naive_value(grid, blank, partition, board) for partition in partitions)
            return known[board]

        counted += len(naive_tree(grid, value, board, bound))
    boards, margins = (np.concatenate([getattr(one, name) for one in kept]) for name in ("boards", "margins"))
    sample = TreeSample(boards, margins, np.ones(len(margins), dtype=np.int64))
    left = np.ones(len(sample), dtype=bool)
    for partition in partitions:
        left &= tree_of(grid, blank, partition).leaves(sample)
    assert 0 < counted == left.sum() < len(sample)
