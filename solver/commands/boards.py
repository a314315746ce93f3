"""The boards that a command was given."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from ..board import Board, format_board
from ..board_files import read_boards
from ..goals import check_goal, goal_board
from ..instances import load_set

SOLVED, NO_SOLUTION, BAD_INPUT, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130


EXIT_CODES = (
    "exit codes: 0 solved, 1 no solution exists, 2 bad input or an unusable file, 3 a limit was reached,\n"
    "130 interrupted; of many boards the gravest: 130, 2, 3, 1"
)


NO_BOARD = "there is no board in the input: write one a line, as in '1 2 3 4 5 6 7 8 0'"


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
