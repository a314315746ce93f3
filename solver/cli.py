"""The command line of the solver: ``pdb-solver solve | compare | check | distribution | random | bench``.

A command is the function ``run(args)`` of its module in ``commands``, which is imported when it is called: so
``--help`` answers at once, without numba. It prints its answer to stdout and returns the exit code; notices and
progress go to stderr.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pdb_builder.shell import Parser, folder_option, new_parser, positive, run, threads_option

from .arguments import (
    board_options,
    goal_option,
    limit_options,
    number_above_0,
    number_from_1,
    number_list,
    showing_options,
    whole_number,
    wrap_option,
)
from .commands.boards import (
    EXIT_CODES,
)
from .heuristics import HEURISTICS
from .search import SEARCHES
from .settings import DEFAULT_SECONDS, DEFAULT_WEIGHT, ORDERS, PROVABLE


def _parser() -> Parser:
    parser, command = new_parser(
        "pdb-solver",
        "solver.commands",
        "Proven shortest solutions of sliding-tile puzzles.",
        "pdb-solver solve '15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0' --goal first",
        EXIT_CODES,
    )

    solve = command(
        "solve",
        "find a shortest solution of one board or of many, or a good one soon",
        "pdb-solver solve '1 2 3 / 4 5 6 / 0 7 8'",
    )
    board_options(solve)
    wrap_option(solve)
    solve.add_argument(
        "--heuristic",
        metavar="NAME",
        help=f"{', '.join(HEURISTICS)}; pdb:NAME is a certain database, max:A+B the largest of several "
        "(default: the best there is)",
    )
    solve.add_argument(
        "--algorithm",
        choices=SEARCHES,
        metavar="NAME",
        help=f"the search: {'; '.join(f'{name}, {search.summary}' for name, search in SEARCHES.items())} "
        f"(default: ida-star, and beam for boards of more than {PROVABLE} cells)",
    )
    solve.add_argument(
        "--weight",
        type=number_from_1,
        metavar="W",
        help=f"how many times weighted-a-star counts the heuristic (default: {DEFAULT_WEIGHT})",
    )
    solve.add_argument(
        "--width",
        type=number_above_0,
        metavar="N",
        help="boards of a level that beam keeps (default: more and more, until --time-limit, "
        f"{DEFAULT_SECONDS:g} seconds if there is none)",
    )
    solve.add_argument(
        "--depth", type=number_above_0, metavar="N", help="how deep dfs goes (default: deeper and deeper)"
    )
    solve.add_argument(
        "--order",
        choices=ORDERS,
        help="in which ida-star tries moves: fixed (blank up, left, right, down, with the blank's home turned to the "
        "first cell) or by value (default: by value with bits databases, else fixed)",
    )
    threads_option(solve)
    solve.add_argument("--jobs", type=positive, metavar="N", help="solve N of many boards at a time (default: 1)")
    limit_options(solve)
    solve.add_argument("--all", action="store_true", help="count all shortest solutions; --json lists them")
    solve.add_argument(
        "--moves", choices=("tile", "blank"), default="tile", help="what the letters speak of (default: %(default)s)"
    )
    solve.add_argument("--show", action="store_true", help="print the boards along the way")
    solve.add_argument(
        "--quiet",
        action="store_true",
        help="print the moves alone; of many boards one line each, '-' without a solution",
    )
    solve.add_argument("--json", action="store_true", help="one JSON object a board")
    showing_options(solve)
    folder_option(solve)

    compare = command(
        "compare",
        "solve the same boards by several methods, and show what each of them takes",
        "pdb-solver compare --set korf100 --only 1-20 --heuristics manhattan,pdb",
    )
    compare_options(compare)

    check = command("check", "say whether boards can be solved, and why", "pdb-solver check '1 2 3 / 4 5 6 / 8 7 0'")
    board_options(check)
    wrap_option(check)
    check.add_argument("--json", action="store_true", help="one JSON object a board")

    census = command(
        "distribution",
        "count the boards at each distance from a goal, and list the farthest",
        "pdb-solver distribution 3x3",
    )
    census.add_argument("shape", metavar="RxC", help="rows and columns, at most 3x4, 2x6, 4x3 or 6x2")
    goal_option(census)
    wrap_option(census)
    threads_option(census)
    census.add_argument("--json", action="store_true", help="one JSON object; of the farthest boards at most 20, too")

    scramble = command(
        "random", "print boards that can be solved, drawn evenly", "pdb-solver random 4x4 -n 10 --seed 1"
    )
    scramble.add_argument("shape", metavar="RxC", help="rows and columns, as in 4x4")
    scramble.add_argument(
        "-n", "--number", type=number_above_0, default=1, metavar="N", help="how many (default: %(default)s)"
    )
    scramble.add_argument("--seed", type=whole_number, metavar="N", help="a number that makes the draw repeatable")
    goal_option(scramble)
    wrap_option(scramble)

    bench = command("bench", "measure how fast boards are solved here", "pdb-solver bench manhattan")
    bench.add_argument(
        "rows", nargs="*", metavar="ROW", help="what to measure (default: all but beam-...; an unknown name lists them)"
    )
    folder_option(bench)
    bench.add_argument("--json", action="store_true", help="one JSON object a row")
    return parser


def compare_options(sub: argparse.ArgumentParser) -> None:
    board_options(sub)
    wrap_option(sub)
    sub.add_argument("--random", metavar="RxC", help="take random boards of this shape")
    sub.add_argument("-n", "--number", type=number_above_0, metavar="N", help="how many random boards (default: 100)")
    sub.add_argument("--seed", type=whole_number, metavar="N", help="which random boards (default: 1)")
    sub.add_argument(
        "--only",
        type=number_list,
        metavar="NUMBERS",
        help="a part of the boards, by number in the set or line of the file, as in 1-20,33",
    )
    sub.add_argument(
        "--heuristics",
        metavar="A,B,...",
        help="the ones to compare, written as for 'solve --heuristic' (default: manhattan,linear-conflict,pdb, without "
        "linear-conflict on wrapped boards, without pdb on boards of more than 64 cells)",
    )
    sub.add_argument(
        "--algorithms",
        default="ida-star",
        metavar="A,B,...",
        help=f"{', '.join(SEARCHES)}; ida-star:fixed and ida-star:value set the order of moves, "
        "weighted-a-star:1.5 the weight, beam:10000 the width, dfs:30 a depth limit (default: %(default)s)",
    )
    sub.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of a search (default: 1)")
    sub.add_argument("--jobs", type=positive, metavar="N", help="searches at a time (default: cores / threads)")
    limit_options(sub)
    sub.add_argument("--each", action="store_true", help="print a row for each board, too")
    sub.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    sub.add_argument("--csv", type=Path, metavar="FILE", help="write a line for each board and method")
    sub.add_argument(
        "--resume", type=Path, metavar="FILE", help="the same, and if the file is there, do only what it lacks"
    )
    sub.add_argument("--plot", type=Path, metavar="FILE", help="draw it, as .png or .svg (needs matplotlib)")
    sub.add_argument("--report", type=Path, metavar="FILE", help="write an HTML page of it (needs matplotlib)")
    folder_option(sub)


def main(argv: list[str] | None = None) -> int:
    return run("pdb-solver", _parser, argv, "nothing is lost, and nothing is left behind")
