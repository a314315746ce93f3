"""``pdb-solver random``."""

from __future__ import annotations

import argparse
import random

from pdb_builder.grid import Grid

from ..board import format_board
from ..instances import random_board
from .boards import SOLVED, asked_goal


def run(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = asked_goal(args, grid)
    chance = random.Random(args.seed)
    for _ in range(args.number):
        print(format_board(grid, random_board(grid, goal, chance)))
    return SOLVED
