"""``pdb-solver random``: random boards that can be solved, each equally likely or at the end of a random walk."""

from __future__ import annotations

import argparse
import random

from pdb_builder.grid import Grid

from ..board import format_board
from ..instances import random_board, walked_board
from .boards import goal_of
from .exit_codes import SOLVED


def run(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = goal_of(args, grid)
    rng = random.Random(args.seed)
    for _ in range(args.number):
        board = walked_board(grid, goal, rng.randint(*args.walk), rng) if args.walk else random_board(grid, goal, rng)
        print(format_board(grid, board))
    return SOLVED
