"""The boards that ``pdb-solver compare`` runs on: given, random or published, all of one shape, and by number.

A comparison needs all of its boards beforehand, so here a bad one is an error that ends the command.
"""

from __future__ import annotations

import argparse
import random
from typing import NamedTuple

from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.grid import Grid

from ..board import Board, parse_board
from ..instances import Instance, load_set, random_board
from ..solvability import why_unsolvable
from .boards import NO_BOARD, goal_of, input_boards

MOST_BOARDS = 1_000_000  # their results are held in memory


class ComparedBoards(NamedTuple):
    title: str
    grid: Grid
    goal: Board
    instances: dict[int, Instance]  # by number


def compared_boards(args: argparse.Namespace) -> ComparedBoards:
    """The boards to compare on. Raises ``InputError``, or ``Unsolvable`` for a board that cannot be solved."""
    if args.random is not None:
        boards = _random_boards(args)
    elif args.number is not None or args.seed is not None:
        raise InputError("-n and --seed are for random boards: give their shape, as in --random 4x4")
    elif args.set is not None:
        input_boards(args)  # refuses the options that do not go with a set
        grid, goal, published = load_set(args.set)
        boards = ComparedBoards(args.set, grid, goal, {one.id: one for one in published})
    else:
        boards = _given_boards(args)
    return boards if args.only is None else _only(args.only, boards)


def _only(numbers: set[int], boards: ComparedBoards) -> ComparedBoards:
    known = boards.instances
    if unknown := numbers - known.keys():
        some = ", ".join(map(str, sorted(known)[:5])) + ", ..." * (len(known) > 5)
        raise InputError(f"there is no board {min(unknown)} among the {len(known)}: they are numbered {some}")
    return boards._replace(instances={number: one for number, one in known.items() if number in numbers})


def _random_boards(args: argparse.Namespace) -> ComparedBoards:
    if args.board or any(one is not None for one in (args.scramble, args.file, args.set, args.shape)):
        raise InputError(
            "--random draws boards of the shape it names: leave out boards, --scramble, --file, --set and --shape"
        )
    grid = Grid.parse(args.random, args.wrap)
    goal = goal_of(args, grid)
    seed = 1 if args.seed is None else args.seed
    rng = random.Random(seed)
    if args.number is not None and args.number > MOST_BOARDS:
        raise InputError(f"{args.number:,} boards are too many to compare on: use at most {MOST_BOARDS:,}")
    drawn = [random_board(grid, goal, rng) for _ in range(args.number or 100)]
    instances = {number: Instance(number, board, None, None) for number, board in enumerate(drawn, 1)}
    return ComparedBoards(f"random boards, seed {seed}", grid, goal, instances)


def _given_boards(args: argparse.Namespace) -> ComparedBoards:
    """The boards of the command line, a file or stdin, numbered by line."""
    boards, several = input_boards(args, answered=False)
    instances: dict[int, Instance] = {}
    first: tuple[Grid, Board] | None = None
    for given in boards:
        place = f"{given.name}: " if several else ""
        try:
            shape, board = parse_board(given.text, given.grid, args.wrap)
        except InputError as error:
            raise InputError(f"{place}{error}") from None
        first = first or (shape, goal_of(args, shape))
        grid, goal = first
        if shape != grid:
            raise InputError(
                f"{place}this is {shape.a_board}, the first one is {grid.a_board}: compare boards of one shape"
            )
        if reason := why_unsolvable(grid, board, goal):
            raise Unsolvable(f"{place}{reason}")
        number = given.source.get("line", 1)
        instances[number] = Instance(number, board, None, None)
    if first is None:
        raise InputError(NO_BOARD)
    return ComparedBoards(args.file.name if args.file else "boards given", *first, instances)
