"""Samples of search trees: every node is counted as a recursive search counts it, and drawn as often as any other."""

import random
from collections import Counter

import numpy as np
import pytest

from pdb_builder.build import build_table
from pdb_builder.choosing.symmetry import Goal
from pdb_builder.choosing.tree_sample import SLACK, THINNING, Tree, different_turns, draw_sample, random_board
from pdb_builder.grid import Grid

from .helpers import images_of
from .oracle import boards_after, distances_to, pattern_distances, solvable_boards

pytestmark = pytest.mark.jit

CASES = [
    (Grid(3, 3), 0, ((1, 2, 3, 4), (5, 6, 7, 8))),
    (Grid(3, 3), 4, ((1, 2, 4), (3, 5), (6, 7, 8))),
    (Grid(3, 3), 4, ((1, 2, 3), (4, 6), (5, 8), (7,))),  # its own mirror image, so that it has four images, not eight
    (Grid(3, 3), 1, ((1, 2, 3), (4, 5, 6, 7, 8))),
    (Grid(2, 4), 0, ((1, 4, 5), (2, 3, 6, 7))),
    (Grid(2, 4), 7, ((1, 2, 3, 4), (5, 6, 7))),
    (Grid(2, 4, wrap=True), 0, ((1, 4, 5), (2, 3, 6, 7))),
]


def tree_of(grid, blank, partition):
    goal = Goal(grid, blank)
    return Tree(goal, [build_table(grid, tiles, blank=blank, threads=1) for tiles in partition])


def naive_value(grid, blank, partition, board):
    """The largest sum over all symmetries that keep the blank's home, each board turned and its tiles renamed."""
    goal, best = grid.goal(blank), 0
    for target, cells in grid.symmetries():
        if target == grid and cells[blank] == blank:
            renamed = {tile: goal[cells[goal.index(tile)]] for tile in goal}
            turned = [0] * grid.cells
            for cell, tile in enumerate(board):
                turned[cells[cell]] = renamed[tile]
            value = 0
            for tiles in partition:
                place = tuple(turned.index(tile) for tile in tiles)
                value += pattern_distances(grid, tiles, blank)[place, turned.index(0)]
            best = max(best, value)
    return best


def naive_tree(grid, value, board, bound):
    """The nodes of IDA* under a bound, as (board, depth): depth first, no move undone."""
    nodes = []

    def visit(board, before, depth):
        if depth + value(board) <= bound:
            nodes.append((board, depth))
            for after in boards_after(grid, board):
                if after != before:
                    visit(after, board, depth + 1)

    visit(board, None, 0)
    return nodes


@pytest.mark.parametrize(("grid", "blank", "partition"), CASES)
def test_nodes_are_those_of_a_recursive_search(grid, blank, partition):
    tree, chance = tree_of(grid, blank, partition), random.Random(1)
    for board in chance.sample(solvable_boards(grid, blank), 4):
        known = {}

        def value(board, known=known):
            if board not in known:
                known[board] = naive_value(grid, blank, partition, board)
            return known[board]

        assert tree.value(board) == value(board)
        for bound in range(value(board) - 2, value(board) + 7, 2):
            expected = naive_tree(grid, value, board, bound)
            inside = [(board, depth) for board, depth in expected if depth + value(board) <= bound - 2]
            found = tree.search(board, bound, slack=2, every=(1, 1))
            assert (found.inside, found.fringe) == (len(inside), len(expected) - len(inside))
            assert found.goal == (grid.goal(blank) in dict(expected))
            kept = zip(map(tuple, found.boards.tolist()), (bound - 2 - found.margins).tolist(), strict=True)
            assert Counter(kept) == Counter(expected)
            margins_inside = found.margins[found.kept_inside == 1]
            assert sorted(margins_inside) == sorted(bound - 2 - depth for _, depth in inside)


def test_every_node_is_drawn_with_the_same_chance():
    grid, blank, partition = CASES[0]
    tree, board = tree_of(grid, blank, partition), solvable_boards(grid, blank)[123_456]
    bound = tree.value(board) + 4
    everything = tree.search(board, bound, slack=2, every=(1, 1))
    for every in ((3, 5), (7, 2)):
        drawn = Counter()
        for first in range(every[0] * every[1]):
            part = tree.search(board, bound, slack=2, every=every, offset=(first % every[0], first // every[0]))
            drawn.update(zip(map(tuple, part.boards.tolist()), part.margins.tolist(), part.kept_inside, strict=True))
        expected = Counter()
        for node in zip(
            map(tuple, everything.boards.tolist()), everything.margins, everything.kept_inside, strict=True
        ):
            expected[node] += every[1] if node[2] else every[0]
        assert drawn == expected


def test_every_image_of_a_partition_is_one_sum():
    """Also of one that is its own image: in rows it is its own mirror image, about a diagonal it is another's."""
    goal = Goal(Grid(3, 3), 4)
    rows, diagonal = ((1, 2, 3), (4, 6), (5, 8), (7,)), ((1,), (2, 4), (3, 6), (5, 7, 8))
    for partition, count in ((rows, 4), (diagonal, 4), (((1, 2), (3, 5), (7, 8), (4, 6)), 2), (CASES[1][2], 8)):
        sums = []
        for symmetry in different_turns(goal, partition):
            image = goal.tile_images[symmetry]
            sums.append({frozenset(image.index(tile) for tile in tiles) for tiles in partition})
        everything = {frozenset(map(frozenset, other)) for other in images_of(goal, partition)}
        assert set(map(frozenset, sums)) == everything and len(sums) == len(everything) == count


@pytest.mark.parametrize(("grid", "blank", "partition"), CASES)
def test_random_boards_can_be_solved(grid, blank, partition):
    goal, chance, solvable = Goal(grid, blank), random.Random(3), distances_to(grid, grid.goal(blank))
    boards = {random_board(goal, chance) for _ in range(300)}
    assert len(boards) > 250 and boards <= set(solvable)


def test_a_sample_has_as_many_nodes_of_every_board():
    grid, blank, partition = Grid(3, 4), 0, ((1, 4, 5, 8), (2, 3, 6, 7), (9, 10, 11))
    tree, chance = tree_of(grid, blank, partition), random.Random(5)
    boards = [random_board(tree.goal, chance) for _ in range(5)]
    sample = draw_sample(tree, boards, nodes=2000, wanted=1000, chance=chance)
    assert set(sample.weights) == {1, THINNING} and (sample.margins >= 0).all()
    inside = sample.weights == 1
    values = np.array([tree.value(board) for board in sample.boards.tolist()])
    assert (values <= sample.margins).tolist() == inside.tolist() == tree.leaves(sample).tolist()
    assert set((values - sample.margins)[~inside]) == {SLACK}
    alone = [draw_sample(tree, [board], nodes=2000, wanted=200, chance=random.Random(6)) for board in boards]
    for one in alone:
        assert 190 < (one.weights == 1).sum() < 230  # whatever the size of the tree
    assert abs(inside.sum() - sum((one.weights == 1).sum() for one in alone)) <= len(boards)
