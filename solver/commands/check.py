"""``pdb-solver check`` and ``pdb-solver distribution``: what is known of one board, or of all, without solving it."""

from __future__ import annotations

import argparse
import json

from pdb_builder.base.errors import InputError
from pdb_builder.shell import notice

from ..board import draw_way, parse_board
from ..solvability import KEYS, Facts, explained, facts_of, in_short, verdict
from .boards import BAD_INPUT, NO_BOARD, NO_SOLUTION, SOLVED, Task, asked_boards, asked_goal

# ---- check --------------------------------------------------------------------------------------


def run(args: argparse.Namespace) -> int:
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
