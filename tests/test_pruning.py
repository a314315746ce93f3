"""Forbidden words and the automaton that forbids them, against naive lists of words and exhaustive searches."""

import random
from functools import cache

import pytest

from pdb_builder.grid import Grid
from solver.heuristics import manhattan
from solver.search.automaton import MOVES, cell_of, never_undo, state_of
from solver.search.forbidden_words import all_proven, forbidden_words, length_of, letter_at
from solver.search.outcome import Pruning
from solver.search.pruning import automaton_of_words
from solver.search.word_files import automaton_for

from .helpers import boards_along, length, searched
from .oracle import boards_after, count_shortest_solutions, distances_to

pytestmark = pytest.mark.jit

GRIDS = [
    *(Grid(rows, cols) for rows, cols in ((2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (4, 4))),
    *(Grid(rows, cols, wrap=True) for rows, cols in ((2, 2), (2, 3), (3, 3), (2, 4), (4, 4))),
]


# ---- words --------------------------------------------------------------------------------------


@cache
def canonical_words(grid, cell, longest, ties):
    """All words from a cell that need not be forbidden, and those that must be though all shorter parts are allowed.

    A word is a tuple of cells, the start included.
    """
    first = {}  # board -> the length of the first word that led there
    start = tuple(0 if place == cell else place + 1 for place in range(grid.cells))
    level, allowed, refused = [((cell,), start)], [], []
    first[start] = 0
    for moves in range(1, longest + 1):
        longer = []
        for word, board in level:
            for after in boards_after(grid, board):
                path = (*word, after.index(0))
                if after in first and not (ties and first[after] == moves):
                    refused.append(path)
                else:
                    first.setdefault(after, moves)
                    longer.append((path, after))
        level = longer
        allowed += [path for path, _ in level]
    return allowed, refused


def minimal_words(grid, cell, longest, ties):
    """The forbidden words from a cell that contain no other forbidden word, except for moves undone."""
    _, refused = canonical_words(grid, cell, longest, ties)
    tails = {path for near in grid.neighbours[cell] for path in canonical_words(grid, near, longest, ties)[1]}
    return {path for path in refused if path[1:] not in tails and path[2:] != path[:1]}


def as_path(grid, cell, word):
    path = [cell]
    for place in range(length_of(word) - 1, -1, -1):
        path.append(grid.neighbours[path[-1]][letter_at(word, place)])
    return tuple(path)


def pairs_of(words, cell):
    """The forbidden words from a cell, each with the earlier one that does the same."""
    part = slice(words.first[cell], words.first[cell + 1])
    return list(zip(words.words[part].tolist(), words.earlier[part].tolist(), strict=True))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_forbidden_words_are_those_of_a_naive_list(grid, ties):
    longest = 8
    found = forbidden_words(grid, longest, ties, threads=2)
    for cell in range(grid.cells):
        pairs = pairs_of(found, cell)
        assert pairs == sorted(pairs)
        assert {as_path(grid, cell, word) for word, _ in pairs} == minimal_words(grid, cell, longest, ties)
        assert len({word for word, _ in pairs}) == len(pairs)
        start = tuple(0 if place == cell else place + 1 for place in range(grid.cells))
        for word, earlier in pairs:
            path, other = as_path(grid, cell, word), as_path(grid, cell, earlier)
            assert (len(other), other) < (len(path), path) and (len(other) < len(path) or not ties)
            assert boards_along(grid, start, path)[-1] == boards_along(grid, start, other)[-1]
    assert all_proven(grid, found, longest, ties)


# ---- the automaton ------------------------------------------------------------------------------


def automaton_from_scratch(grid, longest, ties=False):
    return automaton_of_words(grid, forbidden_words(grid, longest, ties))


def successors_of(automaton, state):
    row = automaton.successors[state * MOVES : (state + 1) * MOVES].tolist()
    count = int(automaton.branching[state])
    assert 0 not in row[:count] and row[count:] == [0] * (MOVES - count)
    return row[:count]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_the_automaton_allows_the_walks_without_forbidden_words(grid, ties):
    longest = 6
    automaton = automaton_from_scratch(grid, longest, ties)
    for cell in range(grid.cells):
        allowed, _ = canonical_words(grid, cell, longest, ties)
        walks, level = [], [((cell,), int(automaton.starts[cell]))]
        for _ in range(longest):
            level = [
                ((*walk, cell_of(one)), state_of(one))
                for walk, state in level
                for one in successors_of(automaton, state)
            ]
            walks += [walk for walk, _ in level]
            assert all(automaton.cell[state] == walk[-1] for walk, state in level)
            assert all(automaton.previous[state] == walk[-2] for walk, state in level)
        assert sorted(walks) == sorted(allowed)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_longer_walks_hold_no_forbidden_word_anywhere(grid):
    longest, chance = 7, random.Random(1)
    automaton = automaton_from_scratch(grid, longest)
    forbidden = {path for cell in range(grid.cells) for path in canonical_words(grid, cell, longest, False)[1]}
    for _ in range(200):
        cell = chance.randrange(grid.cells)
        walk, state = [cell], int(automaton.starts[cell])
        for _ in range(30):
            parts = {tuple(walk[at:]) for at in range(max(0, len(walk) - longest), len(walk))}
            near = [one for one in grid.neighbours[walk[-1]] if not any((*part, one) in forbidden for part in parts)]
            successors = successors_of(automaton, state)
            assert [cell_of(one) for one in successors] == near
            if not successors:
                break
            one = chance.choice(successors)
            walk.append(cell_of(one))
            state = state_of(one)


def test_looking_back_two_moves_is_never_undoing_one():
    for grid in GRIDS:
        assert automaton_for(grid, 2) is never_undo(grid)
        assert len(automaton_from_scratch(grid, 2).branching) == grid.cells + sum(map(len, grid.neighbours))


@pytest.mark.parametrize(
    "grid, states",
    [(Grid(4, 4), {14: 53_205}), (Grid(5, 5), {8: 1_820, 10: 10_573, 12: 52_605})],
    ids=str,
)
def test_sizes_of_known_automata(grid, states):
    for longest, count in states.items():
        assert len(automaton_from_scratch(grid, longest).branching) == count


# ---- nothing is lost ----------------------------------------------------------------------------


def check_every_board_is_reached(grid, cell, longest):
    """From a board with its blank on a cell, some shortest path to every board survives the automaton."""
    automaton = automaton_from_scratch(grid, longest)
    start = tuple(0 if place == cell else place + (place < cell) for place in range(grid.cells))
    distance = distances_to(grid, start)
    level = {start: {int(automaton.starts[cell])}}
    reached = 1
    while level:
        after = {}
        for board, states in level.items():
            blank = board.index(0)
            for state in states:
                for one in successors_of(automaton, state):
                    near = list(board)
                    near[blank], near[cell_of(one)] = board[cell_of(one)], 0
                    if distance[tuple(near)] == distance[board] + 1:
                        after.setdefault(tuple(near), set()).add(state_of(one))
        level = after
        reached += len(level)
    assert reached == len(distance)


@pytest.mark.parametrize("longest", [6, 14])
@pytest.mark.parametrize("grid", [Grid(2, 2), Grid(2, 3), Grid(2, 2, wrap=True), Grid(2, 3, wrap=True)], ids=str)
def test_a_shortest_path_to_every_board_survives(grid, longest):
    for cell in range(grid.cells):
        check_every_board_is_reached(grid, cell, longest)


@pytest.mark.slow
@pytest.mark.parametrize("grid, cell", [(Grid(2, 4), 0), (Grid(2, 4), 1), *((Grid(3, 3), cell) for cell in range(9))])
def test_a_shortest_path_to_every_larger_board_survives(grid, cell):
    check_every_board_is_reached(grid, cell, 12)


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(2, 3, wrap=True), Grid(3, 3), Grid(3, 3, wrap=True)], ids=str)
def test_solutions_are_as_short_as_without(grid):
    chance = random.Random(15)
    goal = grid.goal()
    heuristic = manhattan.prepare(grid, 0)
    boards = sorted(distances_to(grid, goal).items())
    for board, distance in chance.sample(boards, 60):
        for longest in (2, 5, 10, 16):
            outcome = searched("ida-star", grid, 0, board, heuristic, pruning=Pruning(longest, longest))
            assert length(outcome) == distance


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(3, 3), Grid(2, 3, wrap=True)], ids=str)
def test_all_shortest_solutions_survive_ties(grid):
    chance = random.Random(16)
    goal = grid.goal()
    heuristic = manhattan.prepare(grid, 0)
    for board in chance.sample(sorted(distances_to(grid, goal)), 30):
        for longest in (2, 8, 12):
            outcome = searched("ida-star", grid, 0, board, heuristic, every=True, pruning=Pruning(longest, longest))
            assert len({tuple(path) for path in outcome.paths}) == count_shortest_solutions(grid, board, goal)
