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

from .automaton import MOVES, STATE_BITS, Automaton, pack
from .forbidden_words import EMPTY, LETTER_BITS, Words, length_of, letter_at, neighbours_of

NONE, FORBIDDEN = 0, -1  # in place of a child


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
def _link(children, neighbours, successors, branching, cell, previous):
    """Number the nodes breadth first as states, and find the successors of each. Returns how many states there are.

    Node 0 stands for no node, and nodes 1 … cells are those of the cells, where a search begins.
    """
    cells = neighbours.shape[0]
    room = branching.size
    node_of = np.zeros(room, dtype=np.int32)  # by state
    fallback = np.zeros(room, dtype=np.int32)  # by state: another one, of a shorter word
    after = np.full((room, MOVES), -1, dtype=np.int32)  # [state, letter] -> state, -1 if the move is forbidden
    states = 0
    for start in range(cells):
        node_of[states] = start + 1
        cell[states], previous[states] = start, start
        states += 1
    state = 0
    while state < states:
        here = np.int64(cell[state])
        for letter in range(MOVES):
            there = neighbours[here, letter]
            if there < 0:
                continue
            shorter = there if state < cells else after[fallback[state], letter]
            child = children[node_of[state], letter]
            if child == FORBIDDEN or shorter < 0:
                continue
            reached = shorter
            if child != NONE:
                reached = states
                node_of[states], fallback[states] = child, shorter
                cell[states], previous[states] = there, here
                states += 1
            after[state, letter] = reached
            successors[state * MOVES + branching[state]] = pack(reached, there)
            branching[state] += 1
        state += 1
    return states


def automaton_of_words(grid: Grid, words: Words) -> Automaton:
    """The automaton that forbids these words, and undoing a move."""
    of_cell = [words.words[low:high] for low, high in zip(words.first[:-1], words.first[1:], strict=True)]
    for start, around in enumerate(grid.neighbours):
        back = [
            (EMPTY << LETTER_BITS | letter) << LETTER_BITS | grid.neighbours[other].index(start)
            for letter, other in enumerate(around)
        ]
        of_cell[start] = np.concatenate([back, of_cell[start]])
    room = 1 + grid.cells + sum(map(_most_nodes, of_cell))
    if room >= 1 << STATE_BITS:
        raise InputError(
            f"the automaton would have about {room:,} states, more than {1 << STATE_BITS:,}: use a smaller `pruning`"
        )
    children = np.zeros((room, MOVES), dtype=np.int32)
    nodes = 1 + grid.cells
    for start, some in enumerate(of_cell):
        nodes = _insert(children, nodes, start + 1, some)
    successors = np.zeros(nodes * MOVES, dtype=np.uint32)
    branching, cell, previous = np.zeros((3, nodes), dtype=np.uint8)
    states = _link(children, neighbours_of(grid), successors, branching, cell, previous)
    arrays = (successors[: states * MOVES], branching[:states], cell[:states], previous[:states])
    return Automaton(*arrays, starts=np.arange(grid.cells))
