"""A solution as text: in full for one board, in a line for one of several, and what was proven if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pdb_builder.base.wording import counted

from ..board import draw_board, draw_start_and_goal
from ..number_text import format_large
from ..search import BACKWARD, BEAM, NEVER_UNDO
from ..solution import Solution

if TYPE_CHECKING:
    from ..search.outcome import Iteration

LIMITS = {
    "time": "the time limit was reached",
    "nodes": "the node limit was reached",
    "memory": "the memory limit was reached: use ida-star, or raise --memory-limit",
    "depth": "the depth limit was reached: raise --depth, or leave it out",
    "width": "the beam ran out of boards: raise --width, or leave it out",
    "upper-bound": "none is shorter than --upper-bound",
    "journal": "the journal could not be written",
    "cluster": "the cluster is gone: start it again, and repeat the command",
    "proven": "as was to be proven",
    "interrupt": "interrupted",
}


def solution_in_full(solution: Solution, of: str, in_runs: bool, show_boards: bool) -> Iterator[str]:
    """The lines that describe a solution and its search.

    The letters name the moves ``of`` the tile or the blank, with run lengths if they are ``in_runs``. With
    ``show_boards`` all boards along the way are drawn.
    """
    grid = solution.grid
    yield draw_start_and_goal(grid, solution.board, solution.goal)
    if grid.wrap:
        yield f"{grid}: tiles slide across the edges"
    if solution.length is not None:
        who = "tiles move" if of == "tile" else "the blank moves"
        proof = "proven shortest" if solution.optimal else f"{solution.proof}, ratio {solution.ratio:.3f}"
        yield f"{counted(solution.length, 'move')}, {proof} ({who} U D L R):"
        yield solution.letters(solution.tiles, of, in_runs) or "none: this is the goal"
        if solution.stopped:
            yield f"there may be a shorter one: {LIMITS[solution.stopped]}"
    else:
        yield given_up(solution)
    if solution.solutions:
        yield f"{counted(len(solution.solutions), 'shortest solution')} in all"
    if show_boards:
        for number, board in enumerate(solution.boards()):
            heading = f"after {counted(number, 'move')}:\n" if number else ""
            yield f"\n{heading}{draw_board(grid, board)}"
        yield ""
    if solution.heuristic == "none":
        yield f"{solution.algorithm}, without a heuristic{_pruning(solution)}"
    else:
        yield f"{solution.algorithm} with {solution.heuristic}, {solution.h_start} at the start{_pruning(solution)}"
    yield from _direction(solution)
    yield from _iteration_table(solution)
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
    assert solution.stopped, "a search that is not stopped finds a solution"
    if solution.stopped == "proven":
        return f"at least {counted(solution.lower_bound, 'move')}, proven"
    why = LIMITS[solution.stopped]
    if solution.stopped == "memory" and solution.algorithm == "beam":
        why = "the beam does not fit into memory: use a smaller --width, or raise --memory-limit"
    return f"no solution has fewer than {counted(solution.lower_bound, 'move')}, {why}"


def _direction(solution: Solution) -> Iterator[str]:
    """Where a search with a choice has begun, and why."""
    ways = {"forward": "from the start", "backward": "from the goal", "both": "from both ends"}
    if solution.direction and (solution.why or solution.direction != "forward"):
        yield f"the last bound was searched {ways[solution.direction]}" + (f": {solution.why}" if solution.why else "")


def _pruning(solution: Solution) -> str:
    """How far a depth-first search has looked back, and from which bound on it has looked further."""
    since: dict[int, int] = {}  # moves -> the first bound
    for one in solution.iterations:
        if one.pruning is not None:
            since.setdefault(one.pruning, one.bound)
    said = ""
    for moves, bound in since.items():
        how = "never undoing a move" if moves == NEVER_UNDO else f"looking back {moves} moves"
        said += f", {how} from bound {bound} on" if said else f", {how}"
    return said


def _end(one: Iteration) -> str:
    """Where an iteration has begun, and whether it was to meet another one."""
    if one.side == BEAM:
        return "  a beam"
    note = ", to meet the other" if one.meets else ", given up" if one.given_up else ""
    return f"  {'goal' if one.side == BACKWARD else 'start'}{note}"


def _iteration_table(solution: Solution) -> Iterator[str]:
    """The counts of each bound; of a beam, those of each width and the length of the solution it found."""
    incumbents = list(solution.incumbents)
    first, found = ("width", f" {'moves':>7}") if solution.algorithm == "beam" else ("bound", "")
    several = len({one.side for one in solution.iterations}) > 1
    yield f"{first:>7}{found} {'expanded':>15} {'generated':>15} {'seconds':>9}{'  from' if several else ''}"
    for one in solution.iterations:
        better = bool(incumbents) and (incumbents[0].width or 0) == one.bound
        moves = f" {incumbents.pop(0).length if better else '-':>7}" if found else ""
        end = _end(one) if several else ""
        yield f"{one.bound or 'bound':>7}{moves} {one.expanded:15,} {one.generated:15,} {one.seconds:9.3f}{end}"
    moves = f" {'-' if solution.length is None else solution.length:>7}" if found else ""
    yield f"{'all':>7}{moves} {solution.expanded:15,} {solution.generated:15,} {solution.seconds:9.3f}"
