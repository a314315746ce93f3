"""``pdb-solver distribution``: how many boards are at each distance from a goal."""

from __future__ import annotations

import argparse
import json

from tqdm import tqdm

from pdb_builder.base.wording import counted
from pdb_builder.grid import Grid
from pdb_builder.shell import bar_chart

from ..board import draw_board, format_board
from ..distance_distribution import board_count, distribution
from .boards import goal_of
from .exit_codes import SOLVED


def run(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = goal_of(args, grid)
    with tqdm(total=board_count(grid), unit=" boards", unit_scale=True, disable=None, leave=False) as bar:
        found = distribution(grid, goal, threads=args.threads, progress=bar.update)
    if args.json:
        print(json.dumps(found.as_dict()))
        return SOLVED
    count, listed = found.counts[-1], len(found.farthest)
    share = "half of all" if grid.bipartite else "all there are"
    print("\n".join(f"    {row}" for row in draw_board(grid, goal).splitlines()))
    print(f"{found.boards:,} boards of {grid} lead to this goal, {share}")
    print(f"    distance{'boards':>11}")
    print("\n".join(bar_chart(enumerate(found.counts))))
    some = f", {listed} of them" if listed < count else ""
    print(f"mean {found.mean:.4f}, farthest {found.maximum}: {counted(count, 'board')}{some}")
    for board in found.farthest:
        print(f"    {format_board(grid, board)}")
    return SOLVED
