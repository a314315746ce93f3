"""Forbidden words and the automaton that forbids them, against naive lists of words and exhaustive searches."""

import random
from functools import cache

import numpy as np
import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver.heuristics import manhattan
from solver.search import outcome as outcome_module
from solver.search import tree
from solver.search.automaton import MOVES, cell_of, never_undo, state_of
from solver.search.forbidden_words import Words, all_proven, count_walks, forbidden_words, length_of, letter_at
from solver.search.outcome import Pruning
from solver.search.pruning import automaton_of_words
from solver.search.word_files import automaton_for

from .helpers import boards_along, korf_in_order, length, searched
from .oracle import board_distances, boards_after, count_shortest_solutions, distances_to, solvable_boards

pytestmark = pytest.mark.jit

HARDEST = (8, 0, 6, 5, 4, 7, 2, 3, 1)  # 31 moves from the goal with the blank first
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


@pytest.mark.parametrize("grid", [Grid(*shape, wrap) for shape in ((2, 4), (3, 3)) for wrap in (False, True)], ids=str)
def test_a_shortest_path_to_every_larger_board_survives(grid):
    check_every_board_is_reached(grid, 0, 12)


@pytest.mark.slow
@pytest.mark.parametrize("longest", [12, 18])
@pytest.mark.parametrize(
    "grid, cell",
    [
        *((Grid(2, 4), cell) for cell in range(8)),
        *((Grid(3, 3), cell) for cell in range(9)),
        *((Grid(2, 4, wrap=True), cell) for cell in range(8)),
        *((Grid(3, 3, wrap=True), cell) for cell in (0, 4, 8)),
    ],
    ids=str,
)
def test_a_shortest_path_to_every_larger_board_survives_from_any_cell(grid, cell, longest):
    check_every_board_is_reached(grid, cell, longest)


def check_lengths(grid, blank, boards, longest):
    """IDA* and exhaustive search agree on the lengths of these boards."""
    heuristic, distances = manhattan.prepare(grid, blank), board_distances(grid, blank)
    for board in boards:
        outcome = searched("ida-star", grid, blank, board, heuristic, pruning=Pruning(longest, longest))
        assert length(outcome) == outcome.lower_bound == distances[board]


# The largest come first, while the oracle remembers their distances.
SMALL_GRIDS = [Grid(rows, cols, wrap) for rows, cols in ((3, 3), (2, 4), (3, 2), (2, 3)) for wrap in (False, True)]


@pytest.mark.parametrize("grid", SMALL_GRIDS, ids=str)
def test_solutions_are_as_short_as_without(grid):
    chance = random.Random(15)
    for blank in chance.sample(range(grid.cells), 3) if grid.cells < 9 else [0]:
        boards = solvable_boards(grid, blank)
        for longest in (5, 9 if grid.wrap else 16):
            check_lengths(grid, blank, chance.sample(boards, min(60, len(boards))), longest)


@pytest.mark.slow
@pytest.mark.parametrize("grid", SMALL_GRIDS, ids=str)
def test_every_board_is_solved_as_short_as_without(grid):
    for blank in range(grid.cells) if grid.cells < 9 else (4,) if grid.wrap else (0, 1, 4):
        check_lengths(grid, blank, solvable_boards(grid, blank), 14)


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(3, 3), Grid(2, 3, wrap=True), Grid(2, 4, wrap=True)], ids=str)
def test_all_shortest_solutions_survive_ties(grid):
    chance = random.Random(16)
    for blank in (0, grid.cells - 2) if grid.cells < 9 else (0,):
        goal, heuristic = grid.goal(blank), manhattan.prepare(grid, blank)
        for board in chance.sample(solvable_boards(grid, blank), 30):
            for longest in (2, 8, 14):
                how = {"every": True, "pruning": Pruning(longest, longest)}
                outcome = searched("ida-star", grid, blank, board, heuristic, **how)
                assert len({tuple(path) for path in outcome.paths}) == len(outcome.paths)
                assert len(outcome.paths) == count_shortest_solutions(grid, board, goal)


def test_without_ties_some_shortest_solutions_would_be_lost():
    """What the automaton for all solutions is for: otherwise the test above could not fail."""
    grid, lost = Grid(2, 3), 0
    automaton = automaton_from_scratch(grid, 14)
    for board in solvable_boards(grid, 0):
        level = [(board, int(automaton.starts[board.index(0)]))]
        for _ in range(board_distances(grid, 0)[board]):
            level = [
                (after, state_of(one))
                for now, state in level
                for one in successors_of(automaton, state)
                for after in boards_after(grid, now)
                if after[cell_of(one)] == 0
            ]
        found = sum(now == grid.goal(0) for now, _ in level)
        assert 1 <= found <= count_shortest_solutions(grid, board, grid.goal(0))
        lost += found < count_shortest_solutions(grid, board, grid.goal(0))
    assert lost > 10


@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(3, 2, wrap=True), Grid(2, 4)], ids=str)
def test_a_depth_limit_is_exact(grid):
    """Depth-first search within a limit finds a solution if and only if there is one that short."""
    chance = random.Random(17)
    distances = board_distances(grid, 0)
    for board in chance.sample(sorted(distances), 40):
        distance = distances[board]
        if 0 < distance < 20:
            for longest in (2, 6, 14):
                for depth in range(max(1, distance - 2), distance + 4):
                    how = {"depth": depth, "pruning": Pruning(longest, longest)}
                    outcome = searched("dfs", grid, 0, board, None, **how)
                    assert bool(outcome.paths) == (distance <= depth)
                    if outcome.paths:
                        assert distance <= length(outcome) <= depth
                    else:
                        assert outcome.stopped == "depth" and depth < outcome.lower_bound <= distance


def test_deeper_automata_leave_fewer_boards():
    board, heuristic = HARDEST, manhattan.prepare(Grid(3, 3), 0)
    counts = []
    for longest in range(2, 19, 2):
        outcome = searched("ida-star", Grid(3, 3), 0, board, heuristic, pruning=Pruning(longest, longest))
        counts.append(outcome.iterations[-2].generated)  # of an iteration that is searched to its end
        assert {one.pruning for one in outcome.iterations} == {longest}
    assert counts == sorted(counts, reverse=True) and counts[-1] < 0.6 * counts[0]


# ---- when to look further -----------------------------------------------------------------------


@pytest.fixture
def soon(monkeypatch):
    """Searches are long sooner."""
    monkeypatch.setattr(outcome_module, "LARGE", 2_000)


def test_a_long_search_looks_further_back(soon):
    board, heuristic = HARDEST, manhattan.prepare(Grid(3, 3), 0)
    found = {
        threads: searched("ida-star", Grid(3, 3), 0, board, heuristic, threads=threads, pruning=Pruning(2, 12))
        for threads in (1, 2, 3)
    }
    alone = {
        longest: searched("ida-star", Grid(3, 3), 0, board, heuristic, pruning=Pruning(longest, longest))
        for longest in (2, 12)
    }
    counts = [[one[:3] for one in outcome.iterations] for outcome in found.values()]
    assert counts[0] == counts[1] == counts[2]
    used = [one.pruning for one in found[1].iterations]
    first = used.index(12)
    assert 0 < first < len(used) and used == [2] * first + [12] * (len(used) - first)
    assert [one.generated >= 2_000 for one in found[1].iterations[:first]] == [False] * (first - 1) + [True]
    assert counts[0] == [one[:3] for one in [*alone[2].iterations[:first], *alone[12].iterations[first:]]]
    assert length(found[1]) == 31


def test_without_memory_for_the_later_automaton_the_search_goes_on_with_the_first(soon, monkeypatch):
    make = tree.made_automaton

    def short_of_memory(problem, moves, *more):
        if moves == 12:
            raise InputError("an automaton of 12 moves needs 9 GB, and 1 GB is available: use a smaller `pruning`")
        return make(problem, moves, *more)

    monkeypatch.setattr(tree, "made_automaton", short_of_memory)
    heuristic, remarks = manhattan.prepare(Grid(3, 3), 0), []
    pruning = Pruning(2, 12, notify=remarks.append)
    found = searched("ida-star", Grid(3, 3), 0, HARDEST, heuristic, pruning=pruning)
    assert length(found) == 31 and {one.pruning for one in found.iterations} == {2}
    assert remarks == [
        "an automaton of 12 moves needs 9 GB, and 1 GB is available: the search goes on looking back 2 moves"
    ]
    with pytest.raises(InputError, match="use a smaller `pruning`"):
        searched("ida-star", Grid(3, 3), 0, HARDEST, heuristic, pruning=Pruning(12, 12))


def test_counts_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(tree, "UNCUT", 1_000)
    board, heuristic = korf_in_order()[1].board, manhattan.prepare(Grid(4, 4), 0)
    outcomes = [
        searched(
            "ida-star", Grid(4, 4), 0, board, heuristic, threads=threads, by_value=by_value, pruning=Pruning(10, 14)
        )
        for by_value in (False, True)
        for threads in (1, 2, 3)
    ]
    counts = [(one.paths, [iteration[:3] for iteration in one.iterations]) for one in outcomes]
    assert counts[0] == counts[1] == counts[2] and counts[3] == counts[4] == counts[5]


# ---- proofs -------------------------------------------------------------------------------------


def test_words_that_are_not_proven_are_noticed():
    grid, longest = Grid(3, 3), 14
    words = forbidden_words(grid, longest)
    assert all_proven(grid, words, longest, ties=False)
    same_length = next(
        at for at in range(len(words.words)) if length_of(int(words.words[at])) == length_of(int(words.earlier[at]))
    )
    assert not all_proven(grid, words, longest, ties=True) and not all_proven(grid, words, longest - 1, ties=False)
    changes = {
        "another word": ("words", same_length, lambda word: word ^ 1),
        "another earlier word": ("earlier", same_length, lambda word: word ^ 1),
        "the word itself": ("earlier", same_length, lambda word: int(words.words[same_length])),
        "nothing": ("words", same_length, lambda word: 0),
        "no mark": ("words", same_length, lambda word: word << 1),
        "negative": ("words", same_length, lambda word: -word),
        "negative earlier": ("earlier", same_length, lambda word: -word),
        "too long": ("words", len(words.words) - 1, lambda word: word << 30),
        "not in order": ("words", 1, lambda word: int(words.words[0])),
    }
    for name, (field, at, change) in changes.items():
        array = getattr(words, field).copy()
        array[at] = change(int(array[at]))
        assert not all_proven(grid, words._replace(**{field: array}), longest, ties=False), name


def test_an_incomplete_list_of_words_is_as_right():
    grid, chance = Grid(3, 3), random.Random(3)
    whole = forbidden_words(grid, 14)
    kept = np.array([chance.random() < 0.5 for _ in whole.words])
    words = Words(whole.words[kept], whole.earlier[kept], np.concatenate([[0], np.cumsum(kept)])[whole.first])
    assert all_proven(grid, words, 14, ties=False)
    automaton = automaton_of_words(grid, words)
    assert len(automaton.branching) < len(automaton_of_words(grid, whole).branching)
    forbidden = {as_path(grid, cell, word) for cell in range(9) for word, _ in pairs_of(words, cell)}
    for cell in range(9):
        walk, state = [cell], int(automaton.starts[cell])
        for _ in range(60):
            near = [one for one in grid.neighbours[walk[-1]] if one != (walk[-2] if len(walk) > 1 else None)]
            near = [one for one in near if not any((*walk[at:], one) in forbidden for at in range(len(walk)))]
            successors = successors_of(automaton, state)
            assert [cell_of(one) for one in successors] == near
            if not near:
                break
            one = chance.choice(successors)
            walk.append(cell_of(one))
            state = state_of(one)


def test_counted_walks_are_those_that_never_undo_a_move():
    for grid in GRIDS:
        level = [(cell,) for cell in range(grid.cells)]
        walks = count_walks(grid, 5)
        for size in range(6):
            assert [sum(walk[0] == cell for walk in level) for cell in range(grid.cells)] == walks[size].tolist()
            level = [(*walk, near) for walk in level for near in grid.neighbours[walk[-1]] if near not in walk[-2:-1]]
