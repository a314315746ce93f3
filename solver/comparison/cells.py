"""Cells and summaries: the result of one method on one board, and its means over all boards.

A cell that hit a limit of time, nodes or memory says how much was done until then. Its counts are lower bounds, and so
is every mean they go into: nothing is left out, and what is not exact is marked. To leave such a cell out would make
the weaker heuristic look better. Such a search may have found a solution that it has not proven shortest; the board
does not count as solved. A search that exhausted its depth limit, or a beam that ran out of boards, failed, but its
counts are exact.

Counts are the same on every machine, seconds are not, so a cell says where it was made and by which revision.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple

from .methods import Method

CUTS = ("time", "nodes", "memory")  # limits that end a search early
FAILURES = ("depth", "width")  # limits that a search exhausts


class Cell(NamedTuple):
    """The result of a method on a board: a line of the CSV file."""

    instance: int
    board: str
    goal: str
    algorithm: str
    heuristic: str
    length: int | None  # None if a limit was hit before a solution was found
    h_start: int
    expanded: int
    generated: int
    stored: int | None  # None if the algorithm stores no boards
    seconds: float
    limit_hit: str | None  # time, nodes, memory, depth or width
    machine: str = ""  # on which the seconds were measured; empty if that is not known
    revision: str = ""  # of the program; empty if that is not known

    @property
    def cut_short(self) -> bool:
        """Whether there was more to do, so that the counts are lower bounds."""
        return self.limit_hit in CUTS

    @property
    def deterministic(self) -> tuple:
        """What the same search comes to on every machine: all fields before ``seconds``."""
        return self[: self._fields.index("seconds")]


def furthest(before: Cell | None, after: Cell) -> Cell:
    """Of two cells of the same board and method, the one that got further, or the later one.

    A finished search is further than one that had a solution when it hit a limit, which is further than one without.
    """
    if before is None:
        return after

    def reached(cell: Cell) -> tuple:
        return cell.limit_hit is None, cell.length is not None, -(cell.length or 0), cell.generated

    return max(after, before, key=reached)


class Summary(NamedTuple):
    """The results of a method on all boards: means per board, lower bounds if any was ``cut_short``."""

    algorithm: str
    heuristic: str
    boards: int
    unfinished: int  # boards on which a limit was hit
    h_mean: float
    h_median: float
    expanded: float
    generated: float
    stored: float | None
    seconds: float
    nodes_per_second: float | None  # generated
    ratio: float | None  # boards that the first method generated per board of this one; None if unknown
    ratio_is: str  # "=", or ">" or "<" if one of the two counts is a lower bound, or "" if both are
    cut_short: int  # boards whose counts are lower bounds
    length: float | None  # mean over the boards solved; None if there are none
    suboptimality_bound: float | None  # of the solutions; None: no guarantee


def summarise(method: Method, cells: Sequence[Cell], first: Summary | None) -> Summary:
    """The summary of a method's cells. ``first`` is the summary of the first method; None for that method itself."""
    cut_short = sum(cell.cut_short for cell in cells)
    solved = [cell.length for cell in cells if cell.length is not None and cell.limit_hit is None]
    stored = [cell.stored for cell in cells if cell.stored is not None]
    generated, seconds = sum(cell.generated for cell in cells), sum(cell.seconds for cell in cells)
    if not first or first.cut_short == cut_short == 0:
        ratio_is = "="
    else:
        ratio_is = "<" if not first.cut_short else ">" if not cut_short else ""
    return Summary(
        algorithm=method.algorithm,
        heuristic=method.heuristic,
        boards=len(cells),
        unfinished=sum(cell.limit_hit is not None for cell in cells),
        h_mean=fmean(cell.h_start for cell in cells),
        h_median=float(median(cell.h_start for cell in cells)),
        expanded=fmean(cell.expanded for cell in cells),
        generated=generated / len(cells),
        stored=fmean(stored) if len(stored) == len(cells) else None,
        seconds=seconds / len(cells),
        nodes_per_second=generated / seconds if seconds else None,
        ratio=(first.generated * len(cells) / generated if first else 1.0) if ratio_is else None,
        ratio_is=ratio_is,
        cut_short=cut_short,
        length=fmean(solved) if solved else None,
        suboptimality_bound=method.suboptimality_bound,
    )
