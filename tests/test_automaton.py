"""The automaton of moves: its successors against the neighbours of the cells, and how they are packed."""

import numpy as np
import pytest

from pdb_builder.base.jit import kernel
from pdb_builder.grid import Grid
from solver.search.automaton import CELL_BITS, MOVES, STATE_BITS, cell_of, never_undo, pack, state_of

GRIDS = [
    Grid(rows, cols, wrap)
    for rows, cols in ((2, 2), (2, 3), (3, 3), (4, 5), (10, 10), (50, 2))
    for wrap in (False, True)
]
MOST_STATES, LAST_CELL = 2**25, 99


def successors_of(automaton, state):
    """The packed successors of a state, in the order of their move indices."""
    first = state * MOVES
    return automaton.successors[first : first + int(automaton.branching[state])].tolist()


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_successors_are_the_neighbours_without_the_previous_cell(grid):
    automaton = never_undo(grid)
    states = automaton.starts.tolist()
    assert automaton.cell[states].tolist() == automaton.previous[states].tolist() == list(range(grid.cells))
    for state in states:  # which grows until all states that can be reached are listed
        cell, previous = int(automaton.cell[state]), int(automaton.previous[state])
        successors = successors_of(automaton, state)
        assert [cell_of(one) for one in successors] == [other for other in grid.neighbours[cell] if other != previous]
        for one in successors:
            after = state_of(one)
            assert (automaton.cell[after], automaton.previous[after]) == (cell_of(one), cell)
            if after not in states:
                states.append(after)
    assert len(states) == grid.cells + sum(map(len, grid.neighbours))  # the starts, and one state per directed edge


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_paths_are_the_walks_that_never_undo_a_move(grid):
    automaton = never_undo(grid)
    for cell in (0, grid.cells // 2):
        walks = [[cell]]
        paths = [([cell], int(automaton.starts[cell]))]
        for _ in range(5):
            walks = [[*walk, near] for walk in walks for near in grid.neighbours[walk[-1]] if near not in walk[-2:-1]]
            paths = [
                ([*path, cell_of(one)], state_of(one))
                for path, state in paths
                for one in successors_of(automaton, state)
            ]
        assert [path for path, _ in paths] == walks


def test_packing_keeps_every_state_and_cell():
    assert 1 << STATE_BITS == MOST_STATES and LAST_CELL < 1 << CELL_BITS
    for state in [0, 1, 499, *(2**power for power in range(STATE_BITS)), MOST_STATES - 2, MOST_STATES - 1]:
        for cell in range(LAST_CELL + 1):
            stored = int(np.uint32(pack(state, cell)))
            assert (state_of(stored), cell_of(stored)) == (state, cell)


@kernel
def packed_and_unpacked(states, cells, successors):
    for place in range(states.size):
        successors[place] = pack(states[place], cells[place])
        successor = np.int64(successors[place])
        states[place], cells[place] = state_of(successor), cell_of(successor)


@pytest.mark.jit
def test_kernels_pack_the_same_way():
    states = np.array([0, 1, 12_345, MOST_STATES // 2, MOST_STATES - 1])
    cells = np.array([LAST_CELL, 0, 64, 63, LAST_CELL])
    before, successors = (states.tolist(), cells.tolist()), np.zeros(states.size, dtype=np.uint32)
    packed_and_unpacked(states, cells, successors)
    assert (states.tolist(), cells.tolist()) == before
    assert successors.tolist() == [pack(state, cell) for state, cell in zip(*before, strict=True)]
