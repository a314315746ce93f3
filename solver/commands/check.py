"""``pdb-solver check``: whether boards can be solved, and why, without solving them."""

from __future__ import annotations

import argparse
import json

from pdb_builder.base.errors import InputError
from pdb_builder.shell import notice, with_flags

from ..board import draw_start_and_goal
from ..solvability import KEYS, explanation, facts_of, short_explanation, verdict
from .boards import NO_BOARD, input_boards
from .exit_codes import BAD_INPUT, NO_SOLUTION, SOLVED, most_severe


def run(args: argparse.Namespace) -> int:
    boards, several = input_boards(args)
    codes = set()
    for given in boards:
        facts = error = None
        try:
            facts = facts_of(*given.puzzle(args))
        except InputError as fault:
            error = with_flags(str(fault))
        codes.add(BAD_INPUT if facts is None else SOLVED if facts.solvable else NO_SOLUTION)
        if args.json:  # the same keys for every board, good or bad
            known = facts.as_dict() if facts else dict.fromkeys(KEYS) | {"error": error, "input": given.text}
            print(json.dumps(given.source | known), flush=True)
        elif facts is None:
            notice(f"{given.name}: {error}" if several else f"pdb-solver: error: {error}")
        elif several:
            print(f"{given.name}: {short_explanation(facts)}", flush=True)
        else:
            drawing = draw_start_and_goal(facts.grid, facts.board, facts.goal)
            print(drawing, verdict(facts), *explanation(facts), sep="\n")
    if not codes:
        raise InputError(NO_BOARD)
    return most_severe(codes)
