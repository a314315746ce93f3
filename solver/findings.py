"""What a search has found, in words and in a table: the same for the terminal, for notebooks and for ``repr``.

Remedies name the parameters of ``solve``; the command line turns them into flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdb_builder.base.wording import counted

from .search import BACKWARD, BEAM, NEVER_UNDO
from .solution import Solution
from .text_table import TextTable

if TYPE_CHECKING:
    from .search.outcome import Iteration

LIMITS = {
    "time": "the time limit was reached",
    "nodes": "the node limit was reached",
    "memory": "the memory limit was reached: use ida-star, or raise `memory_limit`",
    "depth": "the depth limit was reached: raise `depth`, or leave it out",
    "width": "the beam ran out of boards: raise `width`, or leave it out",
    "upper-bound": "none is shorter than `upper_bound`",
    "journal": "the journal could not be written",
    "cluster": "the cluster is gone: start it again, and repeat the search",
    "proven": "as was to be proven",
    "interrupt": "interrupted",
}


def verdict(solution: Solution) -> str:
    """The length and what is proven of it; without a solution, what was proven, and why the search has ended."""
    if solution.length is not None:
        proof = "proven shortest" if solution.optimal else f"{solution.proof}, ratio {solution.ratio:.3f}"
        return f"{counted(solution.length, 'move')}, {proof}"
    assert solution.stopped, "a search that is not stopped finds a solution"
    if solution.stopped == "proven":
        return f"at least {counted(solution.lower_bound, 'move')}, proven"
    why = LIMITS[solution.stopped]
    if solution.stopped == "memory" and solution.algorithm == "beam":
        why = "the beam does not fit into memory: use a smaller `width`, or raise `memory_limit`"
    return f"no solution has fewer than {counted(solution.lower_bound, 'move')}, {why}"


def remarks(solution: Solution) -> list[str]:
    """What else there is to say of the solution: whether there may be a shorter one, and how many there are."""
    said = []
    if solution.solved and solution.stopped:
        said.append(f"there may be a shorter one: {LIMITS[solution.stopped]}")
    if solution.solutions:
        said.append(f"{counted(len(solution.solutions), 'shortest solution')} in all")
    return said


def method(solution: Solution) -> list[str]:
    """How it was searched: the algorithm and the heuristic, and why a search with a choice has made it.

    One that can begin from either end chooses that, and a beam how to rank boards.
    """
    how = f" with {solution.heuristic}, {solution.h_start} at the start"
    if solution.heuristic == "none":
        how = ", without a heuristic"
    said = [f"{solution.algorithm}{how}{_pruning(solution)}"]
    ways = {"forward": "from the start", "backward": "from the goal", "both": "from both ends"}
    if solution.direction and (solution.why or solution.direction != "forward"):
        why = f": {solution.why}" if solution.why else ""
        said.append(f"the last bound was searched {ways[solution.direction]}{why}")
    if solution.rank:
        said.append(f"{solution.rank} rank: {solution.why}")
    return said


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
        return "a beam"
    note = ", to meet the other" if one.meets else ", given up" if one.given_up else ""
    return f"{'goal' if one.side == BACKWARD else 'start'}{note}"


def iteration_table(solution: Solution) -> TextTable:
    """The counts of each bound; of a beam, those of each width and the length of the solution it found."""
    incumbents, beam = list(solution.incumbents), solution.algorithm == "beam"
    several = len({one.side for one in solution.iterations}) > 1
    headings = ["width", "moves"] if beam else ["bound"]
    headings += ["expanded", "generated", "seconds"] + ["from"] * several
    rows = []
    for one in solution.iterations:
        better = bool(incumbents) and (incumbents[0].width or 0) == one.bound
        moves = [str(incumbents.pop(0).length) if better else "-"] if beam else []
        row = [str(one.bound or "bound"), *moves, *_counts(one)]
        rows.append(row + [_end(one)] * several)
    moves = ["-" if solution.length is None else str(solution.length)] * beam
    rows.append(["all", *moves, *_counts(solution)] + [""] * several)
    return TextTable(headings, rows)


def _counts(done: Iteration | Solution) -> list[str]:
    return [f"{done.expanded:,}", f"{done.generated:,}", f"{done.seconds:.3f}"]
