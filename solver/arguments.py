"""What the commands share: exit codes, what their arguments mean, and the options that several of them have."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pdb_builder.grid import Grid, InputError
from pdb_builder.shell import parse_size

from .board import GOALS, SETS, Board, check_goal, format_board, goal_board, load_set, read_boards
from .showing import FASTEST, SLOWEST, SPEED

SOLVED, NO_SOLUTION, BAD_INPUT, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
EXIT_CODES = (
    "exit codes: 0 solved, 1 no solution exists, 2 bad input or an unusable file, 3 a limit was reached,\n"
    "130 interrupted; of many boards the gravest: 130, 2, 3, 1"
)

NO_BOARD = "there is no board in the input: write one a line, as in '1 2 3 4 5 6 7 8 0'"

# ---- numbers ------------------------------------------------------------------------------------


def number_above_0(text: str) -> int:
    """A whole number, also written as 5_000_000, 1e9 or 20M."""
    match = re.fullmatch(
        r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(?:e([0-9]{1,2}))?([kmg]?)", text.strip().lower().replace("_", "")
    )
    number = 0
    if match:
        whole, _, part = match[1].partition(".")
        part, zeros = part.rstrip("0"), int(match[2] or 0) + 3 * " kmg".index(match[3] or " ")
        number = int(whole + part) * 10 ** (zeros - len(part)) if zeros >= len(part) else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a whole number above 0: write it as 5000000 or 5M")
    return number


def number_from_1(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{0,9})?", text.strip()) or float(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of 1 or more: write it as 1.5")
    return float(text)


def whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a whole number: write it as 7")
    return int(text)


def seconds_above_0(text: str) -> float:
    if not re.fullmatch(r"([0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9})(e[0-9])?", text.strip()) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of seconds above 0: write it as 10 or 0.5")
    return float(text)


def moves_a_second(text: str) -> float:
    known = re.fullmatch(r"[0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9}", text.strip())
    if not known or not SLOWEST <= float(text) <= FASTEST:
        raise argparse.ArgumentTypeError(
            f"'{text[:20]}' is not a number from {SLOWEST} to {FASTEST}: write it as {SPEED}"
        )
    return float(text)


def number_list(text: str) -> set[int]:
    """Numbers and ranges of them, as in 1-20,33."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,7})(?:-([0-9]{1,7}))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a list of numbers: write it as 1-20,33")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return chosen


# ---- options ------------------------------------------------------------------------------------


def board_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "board",
        nargs="*",
        metavar="BOARD",
        help="numbers row by row, the blank as 0, _, . or x; rows may be separated by / or ; (default: stdin)",
    )
    sub.add_argument("--file", type=Path, metavar="FILE", help="read boards from a file: one a line, or matrices")
    sub.add_argument("--set", choices=SETS, help="take a published set")
    sub.add_argument("--shape", metavar="RxC", help="rows and columns, as in 3x4, where they cannot be guessed")
    goal_option(sub)


def limit_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--time-limit", type=seconds_above_0, metavar="SECONDS", help="give up on a board after this")
    sub.add_argument("--node-limit", type=number_above_0, metavar="N", help="give up after so many boards generated")
    sub.add_argument(
        "--memory-limit",
        type=parse_size,
        metavar="SIZE",
        help="memory for the boards of a search that keeps them, which all but ida-star and dfs do, as in 4G "
        "(default: half of what is free, over all jobs)",
    )


def showing_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--animate",
        action="store_true",
        help="play the solution in the terminal before it is printed; of many boards one after another. "
        "Where it cannot be played, as --show",
    )
    sub.add_argument(
        "--gif", type=Path, metavar="FILE", help="draw the solution of one board, as a moving .gif (needs Pillow)"
    )
    sub.add_argument(
        "--speed", type=moves_a_second, metavar="N", help=f"moves a second of --animate and --gif (default: {SPEED})"
    )


def goal_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--goal",
        metavar="GOAL",
        help=f"{', '.join(GOALS)} or a board: where the tiles and the blank belong (default: last)",
    )


def wrap_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--wrap", action="store_true", help="the edges are joined: tiles slide across them")


# ---- boards -------------------------------------------------------------------------------------


class Task(NamedTuple):
    """A board to solve, as text and where it came from, or as numbers."""

    name: str | None  # what an error calls it
    text: str
    grid: Grid | None = None
    board: Board | None = None
    goal: Board | None = None
    extra: dict | None = None  # what is known of it beforehand, for JSON


def asked_boards(args: argparse.Namespace) -> tuple[Iterable[Task], bool]:
    """The boards that were asked for, and whether there may be many."""
    given = [bool(args.board), args.file is not None, args.set is not None]
    if sum(given) > 1:
        raise InputError("a board, --file and --set exclude each other: give one of them")
    if args.set is not None:
        if args.wrap:
            raise InputError(f"the boards of the set {args.set} are not wrapped: leave out --wrap")
        if args.goal is not None or args.shape is not None:
            raise InputError(f"the set {args.set} has its own goal and shape: leave out --goal and --shape")
        grid, goal, instances = load_set(args.set)
        return [
            Task(str(one.id), format_board(grid, one.board), grid, one.board, goal, {"id": one.id}) for one in instances
        ], True
    grid = None if args.shape is None else Grid.parse(args.shape, args.wrap)
    if args.board and args.board != ["-"]:
        # Unquoted boards arrive as many words.
        return [Task(None, " ".join(args.board), grid)], False
    if args.file is None and sys.stdin.isatty() and not args.board:
        raise InputError("no board is given: write it after the command, or give --file, --set or a board on stdin")
    if args.goal is not None:
        check_goal(args.goal)
    return _read(args.file, grid), True


def asked_goal(args: argparse.Namespace, grid: Grid) -> Board:
    return goal_board(grid, "last" if args.goal is None else args.goal)


def _read(path: Path | None, grid: Grid | None) -> Iterator[Task]:
    """The boards of a file, or of stdin, as they come."""
    with contextlib.ExitStack() as stack:
        if path is None or str(path) == "-":
            lines: Iterable[str] = sys.stdin
            if hasattr(sys.stdin, "reconfigure"):
                sys.stdin.reconfigure(errors="replace")
        else:
            lines = stack.enter_context(open(path, encoding="utf-8", errors="replace"))
        for number, text in read_boards(lines, grid):
            yield Task(f"line {number}", text, grid, extra={"line": number})
