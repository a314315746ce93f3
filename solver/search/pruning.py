"""The automaton that forbids words: given the moves so far, which moves need not be tried.

The forbidden words from a cell (``forbidden_words``) are the paths of a trie from the node of that cell; each ends in a
move that is not allowed. The automaton is that of Aho & Corasick (1975): a search is always at the node of the longest
word that its last moves form and that is the beginning of a forbidden one. If a node has no child for a move, that of
the next shorter such word counts: its *fallback*, which begins at a later cell. Nodes are visited in breadth-first
order, so the successors of a fallback are known before they are needed, and nodes become states in this order.

With words of two moves alone, the automaton never undoes a move.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import kernel
from pdb_builder.grid import Grid

from .automaton import MOVES, STATE_BITS, Automaton, never_undo, pack
from .forbidden_words import LETTER_BITS, LONGEST, forbidden_words, letter_at, neighbours_of

NONE, FORBIDDEN = 0, -1  # in place of a child


@kernel
def _insert(children, nodes, root, words, length):
    """Enter words of one length into the trie; returns how many nodes it has then."""
    for word in words:
        node = root
        for place in range(length - 1, 0, -1):
            letter = letter_at(word, place)
            if children[node, letter] == NONE:
                children[node, letter] = nodes
                nodes += 1
            node = children[node, letter]
        children[node, letter_at(word, 0)] = FORBIDDEN
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


def pruning_automaton(grid: Grid, longest: int, ties: bool = False, threads: int | None = None) -> Automaton:
    """The automaton that forbids all minimal forbidden words of at most ``longest`` moves.

    With ``ties`` it keeps equivalent words of equal length, so that no shortest solution is lost.
    """
    if not 2 <= longest <= LONGEST:
        raise InputError(f"`pruning` must be between 2 and {LONGEST} moves, got {longest}")
    words = forbidden_words(grid, longest, ties, threads)
    letters = sum(length * len(some) for of_cell in words for length, some in enumerate(of_cell))
    room = 1 + grid.cells * (1 + MOVES) + letters
    children = np.zeros((room, MOVES), dtype=np.int32)  # memory that is never touched costs nothing
    nodes = 1 + grid.cells
    for start, around in enumerate(grid.neighbours):
        back = [letter << LETTER_BITS | grid.neighbours[other].index(start) for letter, other in enumerate(around)]
        words[start][2] = np.append(words[start][2], back)
        for length, some in enumerate(words[start]):
            nodes = _insert(children, nodes, start + 1, some, length)
    successors = np.zeros(nodes * MOVES, dtype=np.uint32)
    branching, cell, previous = np.zeros((3, nodes), dtype=np.uint8)
    states = _link(children, neighbours_of(grid), successors, branching, cell, previous)
    if states >= 1 << STATE_BITS:
        raise InputError(f"the automaton would have {states:,} states, too many to number: use a smaller `pruning`")
    starts = np.arange(grid.cells)
    return Automaton(successors[: states * MOVES], branching[:states], cell[:states], previous[:states], starts)


@lru_cache(maxsize=4)
def automaton_of(grid: Grid, longest: int, ties: bool = False) -> Automaton:
    """The automaton that looks back so many moves; with 2, it never undoes a move and does nothing else."""
    return never_undo(grid) if longest == 2 else pruning_automaton(grid, longest, ties)
