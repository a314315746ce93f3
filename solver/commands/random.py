"""``pdb-solver random``: random boards that can be solved."""

from __future__ import annotations

import argparse
import random

from pdb_builder.grid import Grid

from ..board import format_board
from ..instances import random_board
from .boards import goal_of
from .exit_codes import SOLVED


def run(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = goal_of(args, grid)
    rng = random.Random(args.seed)
    for _ in range(args.number):
        print(format_board(grid, random_board(grid, goal, rng)))
    return SOLVED
