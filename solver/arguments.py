"""The options of the commands: one function per command, and one per group of options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from pdb_builder.argument_types import number_above_0, seconds_above_0, whole_number
from pdb_builder.shell import folder_option, parse_size, positive, threads_option

from .argument_types import (
    moves_per_second,
    moves_to_look_back,
    number_from_1,
    number_list,
    port,
    seconds_from_0,
    span_of_moves,
    worker_numbers,
)
from .goals import GOALS
from .heuristics import HEURISTICS
from .instances import SETS
from .learning import NOTHING, PACKAGE
from .notation import WHOSE
from .page import USUAL_PORT
from .search import AUTO, CLASSIC, LEARNED, MOST_PRUNING, NEVER_UNDO, SEARCHES
from .search.simulating import TASK_COST
from .settings import CHOICES, DEFAULT_SECONDS, DEFAULT_WEIGHT, ORDERS, PROVABLE
from .show.playback import SPEED

# ---- commands -----------------------------------------------------------------------------------


def solve_options(command: argparse.ArgumentParser) -> None:
    _board_options(command)
    _search_options(command)
    threads_option(command)
    command.add_argument("--jobs", type=positive, metavar="N", help="solve N of several boards at a time (default: 1)")
    _limit_options(command)
    command.add_argument(
        "--journal",
        type=Path,
        metavar="FILE",
        help="keep what ida-star has finished in a file, and go on with what is there (one board only)",
    )
    _cluster_option(command)
    command.add_argument("--all", action="store_true", help="count all shortest solutions; --json lists them")
    command.add_argument("--compact", action="store_true", help="write runs of the same move as in R2 D L")
    command.add_argument("--show", action="store_true", help="print the boards along the way")
    command.add_argument(
        "--quiet",
        action="store_true",
        help="print the moves alone; for several boards one line per board, '-' without a solution",
    )
    command.add_argument("--json", action="store_true", help="one JSON object per board")
    command.add_argument(
        "--animate",
        action="store_true",
        help="play the solution in the terminal before it is printed; several boards one after another. "
        "Where it cannot be played, like --show",
    )
    command.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the solution of one board as an animated .svg, a small file"
    )
    command.add_argument(
        "--gif", type=Path, metavar="FILE", help="draw the solution of one board as an animated .gif (needs Pillow)"
    )
    command.add_argument(
        "--speed",
        type=moves_per_second,
        metavar="N",
        help=f"moves per second of --animate, --svg and --gif (default: {SPEED})",
    )
    folder_option(command)


def compare_options(command: argparse.ArgumentParser) -> None:
    _board_options(command)
    command.add_argument("--random", metavar="RxC", help="use random boards of this shape")
    command.add_argument(
        "-n", "--number", type=number_above_0, metavar="N", help="how many random boards (default: 100)"
    )
    command.add_argument("--seed", type=whole_number, metavar="N", help="which random boards (default: 1)")
    command.add_argument(
        "--only",
        type=number_list,
        metavar="NUMBERS",
        help="use only some of the boards, by number in the set or line of the file, as in 1-20,33",
    )
    command.add_argument(
        "--heuristics",
        metavar="A,B,...",
        help="the heuristics to compare, written as for 'solve --heuristic' (default: manhattan,linear-conflict,pdb, "
        "without linear-conflict on wrapped boards, without pdb if no database is built for them)",
    )
    command.add_argument(
        "--algorithms",
        default="ida-star",
        metavar="A,B,...",
        help=f"{', '.join(SEARCHES)}; ida-star:fixed and ida-star:value set the order of moves, "
        "weighted-a-star:1.5 the weight, beam:10000 the width, beam:rank=classic the rank, dfs:30 a depth limit, "
        "ida-star:pruning=14 how far to look back (2 unless given), ida-star:direction=auto and "
        "ida-star:both-ends=on where to begin (forward unless given); several as in ida-star:value:pruning=14 "
        "(default: %(default)s)",
    )
    command.add_argument("--threads", type=positive, default=1, metavar="N", help="threads per search (default: 1)")
    command.add_argument("--jobs", type=positive, metavar="N", help="searches at a time (default: cores / threads)")
    _limit_options(command)
    _cluster_option(command)
    command.add_argument("--each", action="store_true", help="also print one row per board")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    command.add_argument("--csv", type=Path, metavar="FILE", help="write one line per board and method to a new .csv")
    command.add_argument(
        "--resume", type=Path, metavar="FILE", help="the same, but if the file exists, run only what it lacks"
    )
    command.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw the results as .png or .svg (needs matplotlib)"
    )
    command.add_argument(
        "--report", type=Path, metavar="FILE", help="write an .html page with everything (needs matplotlib)"
    )
    folder_option(command)


def serve_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--port",
        type=port,
        metavar="N",
        help=f"the port to listen on, 0 for any (default: {USUAL_PORT}, or any if it is taken)",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: %(default)s, this machine alone)"
    )
    command.add_argument("--public", action="store_true", help="let other machines use the page, if --host does")
    command.add_argument("--no-browser", dest="browser", action="store_false", help="do not open a browser")
    folder_option(command)


def _cluster_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="have the work done by the workers of a Dask cluster: tcp://host:8786, file:/shared/scheduler.json, or "
        "local:4 for processes on this machine (needs dask and distributed; docs/cluster.md)",
    )


def check_options(command: argparse.ArgumentParser) -> None:
    _board_options(command)
    command.add_argument("--json", action="store_true", help="one JSON object per board")


def distribution_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shape", metavar="RxC", help="rows and columns, at most 3x4, 2x6, 4x3 or 6x2")
    _goal_option(command)
    _wrap_option(command)
    threads_option(command)
    command.add_argument("--json", action="store_true", help="one JSON object, with at most 20 of the farthest boards")


def random_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shape", metavar="RxC", help="rows and columns, as in 4x4")
    command.add_argument(
        "-n", "--number", type=number_above_0, default=1, metavar="N", help="how many (default: %(default)s)"
    )
    command.add_argument("--seed", type=whole_number, metavar="N", help="makes the random boards repeatable")
    command.add_argument(
        "--walk",
        type=span_of_moves,
        metavar="MOVES",
        help="boards that so many random moves lead to from the goal, moves back and forth included, as in 1000 or "
        "1000-10000 (default: all boards are equally likely)",
    )
    _goal_option(command)
    _wrap_option(command)


def journal_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("journal_file", type=Path, metavar="FILE", help="the journal of a search")
    command.add_argument(
        "--simulate-workers",
        type=worker_numbers,
        metavar="NUMBERS",
        help="say how long the search would have taken with so many workers of a cluster, as in 1,2,8,64,1000",
    )
    command.add_argument(
        "--task-cost",
        type=seconds_from_0,
        metavar="SECONDS",
        help=f"what a task costs the scheduler, for --simulate-workers (default: {TASK_COST})",
    )
    command.add_argument("--json", action="store_true", help="one JSON object")


def learn_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shape", metavar="NxN", help="rows and columns of a square, as in 7x7")
    command.add_argument(
        "--seed", type=whole_number, default=1, metavar="N", help="makes the rank repeatable (default: %(default)s)"
    )
    command.add_argument(
        "--boards", type=number_above_0, metavar="N", help="random boards to solve in each round (default: 400)"
    )
    command.add_argument(
        "--rounds",
        type=number_above_0,
        metavar="N",
        help="how often to fit, and to go on with beams that rank by the outcome (default: 4)",
    )
    command.add_argument("--width", type=number_above_0, metavar="N", help="the width of the beams (default: 2000)")
    command.add_argument(
        "--partners",
        type=number_above_0,
        metavar="N",
        help="other tiles that a tile is weighed together with: 4, 8 or 24; more are slower and better (default: 24)",
    )
    command.add_argument(
        "--from",
        dest="begin_with",
        metavar="RANK",
        help=f"what to begin with: {PACKAGE}, the rank of the package; FILE.h5, one that was learned; or {NOTHING} "
        f"(default: {PACKAGE}, but {NOTHING} with --partners)",
    )
    threads_option(command)
    command.add_argument("--overwrite", action="store_true", help="replace the rank if there is another one")
    folder_option(command)
    command.add_argument("--json", action="store_true", help="one JSON object")


def bench_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "rows",
        nargs="*",
        metavar="ROW",
        help="what to measure (default: all that take no minutes; an unknown name lists them)",
    )
    folder_option(command)
    command.add_argument("--json", action="store_true", help="one JSON object per row")


# ---- groups -------------------------------------------------------------------------------------


def _board_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "board",
        nargs="*",
        metavar="BOARD",
        help="numbers row by row, the blank as 0, _, . or x; rows may be separated by / or ; (default: stdin)",
    )
    command.add_argument(
        "--scramble",
        metavar="MOVES",
        help="the board that these moves lead to from the goal, as in 'R2 D L' (of 4x4, unless --shape or a --goal "
        "that is a board says otherwise)",
    )
    command.add_argument(
        "--moves",
        choices=WHOSE,
        default="tile",
        help="whose moves the letters name, in --scramble and in answers (default: %(default)s)",
    )
    command.add_argument("--file", type=Path, metavar="FILE", help="read boards from a file: one per line, or matrices")
    command.add_argument("--set", choices=SETS, help="use a published set")
    command.add_argument("--shape", metavar="RxC", help="rows and columns, as in 3x4, where they cannot be guessed")
    _goal_option(command)
    _wrap_option(command)


def _goal_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--goal",
        metavar="GOAL",
        help=f"{', '.join(GOALS)} or a board: where the tiles and the blank belong (default: last)",
    )


def _wrap_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wrap", action="store_true", help="the edges are joined: tiles slide across them")


def _search_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--heuristic",
        metavar="NAME",
        help=f"{', '.join(HEURISTICS)}; pdb:NAME for a particular database; or max:A+B, the maximum of "
        "several of these, as in max:pdb+linear-conflict (default: the best available)",
    )
    command.add_argument(
        "--algorithm",
        choices=SEARCHES,
        metavar="NAME",
        help=f"the search: {'; '.join(f'{name}, {search.summary}' for name, search in SEARCHES.items())} "
        f"(default: ida-star, and beam for boards of more than {PROVABLE} cells)",
    )
    command.add_argument(
        "--weight",
        type=number_from_1,
        metavar="W",
        help=f"the weight of the heuristic in weighted-a-star (default: {DEFAULT_WEIGHT})",
    )
    command.add_argument(
        "--width",
        type=number_above_0,
        metavar="N",
        help="how many boards per level beam keeps (default: more and more, until --time-limit, which is then "
        f"{DEFAULT_SECONDS:g} seconds unless given)",
    )
    command.add_argument(
        "--rank",
        metavar="RANK",
        help=f"how beam ranks boards: {LEARNED}, with the weights that 'pdb-solver learn' has found for boards of this "
        f"size, or else those of the package; {CLASSIC}, by the heuristic and fixed rules; or FILE.h5, a learned one "
        f"(default: {AUTO}, learned where it serves)",
    )
    command.add_argument(
        "--depth", type=number_above_0, metavar="N", help="how deep dfs searches (default: deeper and deeper)"
    )
    command.add_argument(
        "--pruning",
        type=moves_to_look_back,
        metavar="N",
        help="how many moves ida-star and dfs look back, to leave out moves if others, which are fewer or come first "
        f"in a fixed order, lead to the same board: from {NEVER_UNDO}, which is never to undo a move, as in published "
        f"counts, to {MOST_PRUNING}, less on large boards (default: the fastest; {NEVER_UNDO} with --order fixed)",
    )
    command.add_argument(
        "--direction",
        choices=CHOICES["direction"],
        help="where ida-star begins: forward, from the start, as in published counts; backward, from the goal; or "
        "auto, from the end that turns out to be the better one (default: auto, but forward with --order fixed, with "
        "--all, and with a database on small boards)",
    )
    command.add_argument(
        "--both-ends",
        choices=CHOICES["both_ends"],
        help="whether ida-star searches a bound from both ends, so that they meet: auto, if that is expected to be "
        "cheaper (default: auto, but off if there is a --direction other than auto)",
    )
    command.add_argument(
        "--upper-bound",
        type=number_above_0,
        metavar="N",
        help="the moves of a solution that is known: ida-star looks for shorter ones only",
    )
    command.add_argument(
        "--prove-at-least",
        type=number_above_0,
        metavar="N",
        help="end ida-star as soon as no solution can have fewer than N moves",
    )
    command.add_argument(
        "--order",
        choices=ORDERS,
        help="the order in which ida-star tries moves: fixed (blank up, left, right, down, with the blank's home "
        "turned to the first cell) or by value (default: by value with bits databases, else fixed)",
    )


def _limit_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--time-limit", type=seconds_above_0, metavar="SECONDS", help="give up on a board after this many seconds"
    )
    command.add_argument(
        "--node-limit", type=number_above_0, metavar="N", help="give up on a board after generating this many boards"
    )
    command.add_argument(
        "--memory-limit",
        type=parse_size,
        metavar="SIZE",
        help="memory for stored boards, and for the filter of a search from both ends, as in 4G (default: half of the "
        "free memory, shared by all jobs)",
    )
    command.add_argument(
        "--huge-pages",
        action="store_true",
        help="copy the tables of databases into huge pages of memory, which takes as long as reading the file: for "
        "searches of minutes",
    )
