"""``pdb-solver check`` and ``pdb-solver distribution``: what is known of one board, or of all, without solving it."""

from __future__ import annotations

import argparse
import json

from pdb_builder.grid import Grid, InputError
from pdb_builder.shell import bar_chart, notice

from .arguments import BAD_INPUT, NO_BOARD, NO_SOLUTION, SOLVED, Task, asked_boards, asked_goal
from .board import draw_board, draw_way, format_board, parse_board
from .solvability import KEYS, Facts, explained, facts_of, in_short, verdict

# ---- check --------------------------------------------------------------------------------------


def run_check(args: argparse.Namespace) -> int:
    tasks, many = asked_boards(args)
    codes = set()
    for task in tasks:
        facts = error = None
        try:
            facts = _facts(task, args)
        except InputError as fault:
            error = str(fault)
        codes.add(BAD_INPUT if facts is None else SOLVED if facts.solvable else NO_SOLUTION)
        if args.json:
            print(json.dumps((task.extra or {}) | _record(task, facts, error)), flush=True)
        elif facts is None:
            notice(f"{task.name}: {error}" if many else f"pdb-solver: error: {error}")
        elif many:
            print(f"{task.name}: {in_short(facts)}", flush=True)
        else:
            print(draw_way(facts.grid, facts.board, facts.goal), verdict(facts), *explained(facts), sep="\n")
    if not codes:
        raise InputError(NO_BOARD)
    return max(codes)  # of these three the larger is the graver


def _facts(task: Task, args: argparse.Namespace) -> Facts:
    if task.board is not None:
        return facts_of(task.grid, task.board, task.goal)
    grid, board = parse_board(task.text, task.grid, args.wrap)
    return facts_of(grid, board, asked_goal(args, grid))


def _record(task: Task, facts: Facts | None, error: str | None) -> dict:
    """An answer for JSON: the same keys for every board, and for one that is none the error and what was read."""
    if facts is not None:
        return facts.as_dict()
    return dict.fromkeys(KEYS) | {"error": error, "input": task.text}


# ---- distribution -------------------------------------------------------------------------------


def run_distribution(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = asked_goal(args, grid)

    from tqdm import tqdm

    from .census import board_count, distribution

    with tqdm(total=board_count(grid), unit=" boards", unit_scale=True, disable=None, leave=False) as bar:
        found = distribution(grid, goal, threads=args.threads, progress=bar.update)
    if args.json:
        print(json.dumps(found.as_dict()))
        return SOLVED
    number, listed = found.counts[-1], len(found.farthest)
    some = f", {listed} of them" if listed < number else ""
    half = ", half of all" if grid.bipartite else ", all there are"
    print("\n".join(f"    {row}" for row in draw_board(grid, goal).splitlines()))
    print(f"{found.boards:,} boards of {grid} lead to this goal{half}")
    print(f"    distance{'boards':>11}")
    print("\n".join(bar_chart(enumerate(found.counts))))
    print(f"mean {found.mean:.4f}, farthest {found.maximum}: {number:,} board{'s' * (number != 1)}{some}")
    for board in found.farthest:
        print(f"    {format_board(grid, board)}")
    return SOLVED
