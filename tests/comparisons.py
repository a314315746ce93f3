"""Comparisons made by hand: boards, methods, and cells with the figures that a test needs."""

import random
from dataclasses import replace

from pdb_builder import Grid
from solver import Settings, goal_board, random_board
from solver.board import format_board
from solver.comparison import comparison as comparing
from solver.comparison.cells import Cell
from solver.comparison.comparison import Comparison
from solver.comparison.methods import Method
from solver.instances import Instance

GRID = Grid(3, 3)
GOAL = goal_board(GRID)

A, B = (Method("ida-star", name, Settings(name)) for name in ("manhattan", "linear-conflict"))
WEIGHTED = Method("weighted-a-star:1.1", "manhattan", Settings("manhattan", "weighted-a-star", weight=1.1), 1.1)
GREEDY = Method("greedy", "inversions", Settings("inversions", "greedy"), None, False)
DEEP = Method("dfs:20", "none", Settings(algorithm="dfs", depth=20), None)
BOTH_ENDS = Method("bidirectional", "hamming", Settings("hamming", "bidirectional"))
ALL = (A, WEIGHTED, GREEDY, DEEP, BOTH_ENDS)


def boards(count, seed=1):
    """Random boards, as instances by number."""
    chance = random.Random(seed)
    return {number: Instance(number, random_board(GRID, GOAL, chance), None, None) for number in range(1, count + 1)}


def cell(number, method, length=20, h_start=10, generated=1000, limit=None, stored=None, seconds=0.5):
    """What a method found for the board with this number, or which limit it hit."""
    board = format_board(GRID, boards(number)[number].board)
    counts = (None if limit else length, h_start, generated // 2, generated, stored, seconds, limit)
    return Cell(number, board, "last", method.algorithm, method.heuristic, *counts)


def unproven(length):
    """A cell of a search that a limit stopped with a solution."""
    return cell(1, BOTH_ENDS, h_start=7, limit="nodes")._replace(length=length)


def filled(*cells, methods=(A, B), count=2):
    """A comparison with these cells."""
    comparison = Comparison(GRID, GOAL, boards(count), list(methods))
    for one in cells:
        comparison.add(one)
    return comparison


def stop_before_the_proof(monkeypatch):
    """Let bidirectional searches hit a limit between their solution and the proof, which happens to few boards."""
    original = comparing.solve_board

    def stopped(*words, **options):
        found = original(*words, **options)
        early = found.algorithm == "bidirectional" and found.length
        return replace(found, stopped="nodes", lower_bound=found.length - 2) if early else found

    monkeypatch.setattr(comparing, "solve_board", stopped)
