"""The boards given to a command: as arguments, as a scramble, in a file, on stdin, or as a published set.

Boards of a file or a pipe are read one at a time, and parsed when their turn comes: the first is answered before the
last is written, and a bad board costs the others nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid

from ..board import Board, format_board, parse_board
from ..board_files import read_boards
from ..goals import GOALS, check_goal, goal_board
from ..instances import load_set
from ..notation import scramble
from .input_lines import InputLines

NO_BOARD = "there is no board in the input: write one per line, as in '1 2 3 4 5 6 7 8 0'"


class Puzzle(NamedTuple):
    """A board and the goal to reach from it."""

    grid: Grid
    board: Board
    goal: Board


class InputBoard(NamedTuple):
    """A board as it was given."""

    name: str | None  # what messages call it: its line or its number in the set
    text: str
    source: dict  # where it came from, for JSON: its line, its id, or nothing
    grid: Grid | None = None  # from --shape
    published: Puzzle | None = None

    def puzzle(self, args: argparse.Namespace) -> Puzzle:
        """The board and its goal. Raises ``InputError`` for text that is not a board."""
        if self.published:
            return self.published
        grid, board = parse_board(self.text, self.grid, args.wrap)
        return Puzzle(grid, board, goal_of(args, grid))


def input_boards(args: argparse.Namespace, answered: bool = True) -> tuple[Iterable[InputBoard], bool]:
    """The boards given to a command, and whether there may be several.

    Unless each is ``answered`` when it comes, whoever writes them waits for nothing, and lines are waited for.
    """
    given = [bool(args.board), args.scramble is not None, args.file is not None, args.set is not None]
    if sum(given) > 1:
        raise InputError("a board, --scramble, --file and --set exclude each other: give one of them")
    if args.set is not None:
        return _boards_of_set(args), True
    grid = None if args.shape is None else Grid.parse(args.shape, args.wrap)
    if args.scramble is not None:
        grid = grid or _shape_of_goal(args)
        board = scramble(args.scramble, grid, goal_of(args, grid), of=args.moves)
        return [InputBoard(None, format_board(grid, board), {}, grid)], False
    if args.board and args.board != ["-"]:
        return [InputBoard(None, " ".join(args.board), {}, grid)], False  # an unquoted board arrives as many words
    if args.file is None and sys.stdin.isatty() and not args.board:
        raise InputError(
            "no board is given: write it after the command, or give --scramble, --file, --set or a board on stdin"
        )
    if args.goal is not None:
        check_goal(args.goal)
    return _boards_of_file(args.file, grid, answered), True


def goal_of(args: argparse.Namespace, grid: Grid) -> Board:
    return goal_board(grid, "last" if args.goal is None else args.goal)


def _shape_of_goal(args: argparse.Namespace) -> Grid:
    """The shape of a goal that is written out, or else that of the 15-puzzle."""
    named = args.goal is None or args.goal.strip().lower() in GOALS
    return Grid(4, 4, args.wrap) if named else parse_board(args.goal, None, args.wrap)[0]


def _boards_of_set(args: argparse.Namespace) -> list[InputBoard]:
    if args.wrap:
        raise InputError(f"the boards of the set {args.set} are not wrapped: leave out --wrap")
    if args.goal is not None or args.shape is not None:
        raise InputError(f"the set {args.set} has its own goal and shape: leave out --goal and --shape")
    grid, goal, instances = load_set(args.set)
    return [
        InputBoard(str(one.id), format_board(grid, one.board), {"id": one.id}, published=Puzzle(grid, one.board, goal))
        for one in instances
    ]


def _boards_of_file(path: Path | None, grid: Grid | None, answered: bool) -> Iterator[InputBoard]:
    """The boards of a file, or of stdin, as they come."""
    with contextlib.ExitStack() as stack:
        file: Any = sys.stdin if path is None or str(path) == "-" else stack.enter_context(open(path, "rb"))
        try:
            lines = InputLines(file.fileno(), "the input" if file is sys.stdin else path)
            boards = read_boards(lines, grid, lines.awaited) if answered else read_boards(lines, grid)
        except io.UnsupportedOperation:  # a program has put text of its own in the place of stdin
            boards = read_boards(file, grid)
        for number, text in boards:
            yield InputBoard(f"line {number}", text, {"line": number}, grid)
