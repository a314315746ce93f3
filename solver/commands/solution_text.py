"""A solution as text: in full for one board, in a line for one of several."""

from __future__ import annotations

from collections.abc import Iterator

from pdb_builder.base.wording import counted
from pdb_builder.shell import with_flags

from ..board import draw_board, draw_start_and_goal
from ..findings import iteration_table, method, remarks, verdict
from ..number_text import format_large
from ..solution import Solution

WIDTHS = {"expanded": 15, "generated": 15, "seconds": 9}  # of columns; 7 for others


def solution_in_full(solution: Solution, of: str, in_runs: bool, show_boards: bool) -> Iterator[str]:
    """The lines that describe a solution and its search.

    The letters name the moves ``of`` the tile or the blank, with run lengths if they are ``in_runs``. With
    ``show_boards`` all boards along the way are drawn.
    """
    grid = solution.grid
    yield draw_start_and_goal(grid, solution.board, solution.goal)
    if grid.wrap:
        yield f"{grid}: tiles slide across the edges"
    if solution.solved:
        who = "tiles move" if of == "tile" else "the blank moves"
        yield f"{verdict(solution)} ({who} U D L R):"
        yield solution.letters(solution.tiles, of, in_runs) or "none: this is the goal"
    else:
        yield given_up(solution)
    yield from map(with_flags, remarks(solution))
    if show_boards:
        for number, board in enumerate(solution.boards()):
            heading = f"after {counted(number, 'move')}:\n" if number else ""
            yield f"\n{heading}{draw_board(grid, board)}"
        yield ""
    yield from method(solution)
    yield from _iteration_lines(solution)
    speed = f"{format_large(solution.generated / solution.seconds)} generated/s" if solution.seconds else ""
    yield speed + ("" if solution.stored is None else f", {counted(solution.stored, 'board')} in memory")


def solution_in_line(solution: Solution, of: str, in_runs: bool) -> str:
    """A solution and its search in one line."""
    counts = f"{solution.generated:,} generated, {solution.seconds:.3f} s"
    if solution.length is None:
        return f"{given_up(solution)} ({counts})"
    number = f", {counted(len(solution.solutions), 'solution')}" if solution.solutions else ""
    proof = "" if solution.optimal else f", {solution.proof},"
    letters = solution.letters(solution.tiles, of, in_runs)
    return f"{counted(solution.length, 'move')}{number}{proof} {letters} ({counts})"


def given_up(solution: Solution) -> str:
    """What was proven by a search that ended without a solution, and why it ended."""
    return with_flags(verdict(solution))


def _iteration_lines(solution: Solution) -> Iterator[str]:
    table = iteration_table(solution)
    for row in [table.headings, *table.rows]:
        columns = zip(table.headings, row, strict=True)
        yield " ".join(
            f" {text}" if name == "from" else text.rjust(WIDTHS.get(name, 7)) for name, text in columns
        ).rstrip()
