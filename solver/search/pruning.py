"""The automaton that forbids words: given the moves so far, which moves need not be tried.

The forbidden words from a cell (``forbidden_words``) are the paths of a trie from the node of that cell; each ends in a
move that is not allowed. The automaton is that of Aho & Corasick (1975): a search is always at the node of the longest
word that its last moves form and that is the beginning of a forbidden one. If a node has no child for a move, that of
the next shorter such word counts: its *fallback*, which begins at a later cell. Nodes are visited in breadth-first
order, so the successors of a fallback are known before they are needed, and nodes become states in this order.

With words of two moves alone, the automaton never undoes a move.
"""

from __future__ import annotations

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import kernel
from pdb_builder.grid import Grid
from pdb_builder.index import neighbours_of

from .automaton import MOVES, STATE_BITS, Automaton, pack
from .forbidden_words import EMPTY, LETTER_BITS, OnShare, Words, length_of, letter_at

NONE, FORBIDDEN = 0, -1  # in place of a child
SLICE = 1 << 20  # states between two looks at whether to go on


@kernel
def _most_nodes(words):
    """How many nodes words take at most; of its beginnings, a word shares those that the word before it has as well."""
    nodes = 0
    before = np.int64(EMPTY)
    for word in words:
        length = length_of(word)
        to_come = length - 1
        while to_come > 0 and before >> (LETTER_BITS * to_come) == word >> (LETTER_BITS * to_come):
            to_come -= 1
        nodes += to_come
        before = word
    return nodes


@kernel
def _insert(children, nodes, root, words):
    """Enter words, the shorter ones first, into the trie; returns how many nodes it has then."""
    for word in words:
        node = root
        for place in range(length_of(word) - 1, -1, -1):
            letter = letter_at(word, place)
            if children[node, letter] == FORBIDDEN:  # the word has a forbidden one at its beginning
                break
            if place == 0:
                children[node, letter] = FORBIDDEN
                break
            if children[node, letter] == NONE:
                children[node, letter] = nodes
                nodes += 1
            node = children[node, letter]
    return nodes


@kernel
def _link(children, neighbours, node_of, fallback, after, successors, branching, cell, previous, state, states, most):
    """Find the successors of states from ``state`` on, of at most so many; their nodes become the next states.

    Returns the first state that is left for another call, and how many states there are now: none is left if these are
    equal.
    """
    cells = neighbours.shape[0]
    end = state + most
    while state < min(states, end):
        here = np.int64(cell[state])
        for letter in range(MOVES):
            there = neighbours[here, letter]
            if there < 0:
                continue
            shorter = there if state < cells else np.int64(after[fallback[state], letter]) - 1
            child = children[node_of[state], letter]
            if child == FORBIDDEN or shorter < 0:
                continue
            reached = shorter
            if child != NONE:
                reached = states
                node_of[states], fallback[states] = child, shorter
                cell[states], previous[states] = there, here
                states += 1
            after[state, letter] = reached + 1
            successors[state * MOVES + branching[state]] = pack(reached, there)
            branching[state] += 1
        state += 1
    return state, states


def automaton_of_words(grid: Grid, words: Words, progress: OnShare = lambda share: None) -> Automaton:
    """The automaton that forbids these words, and undoing a move. Raises ``InputError`` if it has too many states."""
    of_cell = [words.words[low:high] for low, high in zip(words.first[:-1], words.first[1:], strict=True)]
    for start, around in enumerate(grid.neighbours):
        back = [
            (EMPTY << LETTER_BITS | letter) << LETTER_BITS | grid.neighbours[other].index(start)
            for letter, other in enumerate(around)
        ]
        of_cell[start] = np.concatenate([back, of_cell[start]])
    children = np.zeros((1 + grid.cells + sum(map(_most_nodes, of_cell)), MOVES), dtype=np.int32)
    nodes = 1 + grid.cells  # node 0 stands for none, and those of the cells are where a search begins
    for start, some in enumerate(of_cell):
        nodes = _insert(children, nodes, start + 1, some)
        progress(1.0)
    if nodes > 1 << STATE_BITS:
        raise InputError(
            f"the automaton would have about {nodes:,} states, more than {1 << STATE_BITS:,}: use a smaller `pruning`"
        )
    node_of, fallback = np.zeros((2, nodes), dtype=np.int32)  # by state; the fallback is another state
    after = np.zeros((nodes, MOVES), dtype=np.int32)  # [state, letter] -> the next state and 1, 0 if it is forbidden
    successors = np.zeros(nodes * MOVES, dtype=np.uint32)
    branching, cell, previous = np.zeros((3, nodes), dtype=np.uint8)
    linked = (children, neighbours_of(grid), node_of, fallback, after, successors, branching, cell, previous)
    state, states = 0, grid.cells
    node_of[:states] = np.arange(1, 1 + states)
    cell[:states] = previous[:states] = np.arange(states)
    while state < states:
        state, states = _link(*linked, state, states, SLICE)
        progress(1.0)
    arrays = (successors[: states * MOVES], branching[:states], cell[:states], previous[:states])
    return Automaton(*arrays, starts=np.arange(grid.cells))
