"""Methods side by side: the same boards, solved by every pairing of an algorithm and a heuristic.

A *method* is such a pairing, and a *cell* is what one method made of one board. The methods must agree: each
proves its solution a shortest one, so all find the same length, which is the published one where there is one,
and no heuristic gives more at the start. Anything else is a ``Disagreement``, an error.

A cell that hit a limit says how much was done until then. Its counts are lower bounds, and so is every mean
they go into: nothing is left out, and what is not exact is marked.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean, median
from threading import Event
from typing import NamedTuple

from pdb_builder.grid import Grid, InputError

from .board import Board, Instance, format_board
from .jobs import answers
from .solving import Settings, frame_of, heuristic_for, solve_board


class Disagreement(InputError):
    """Methods that prove their solutions shortest found different lengths."""


class Method(NamedTuple):
    """An algorithm and a heuristic, by the names they have in tables, and how to solve with them."""

    algorithm: str
    heuristic: str
    settings: Settings

    def __str__(self) -> str:
        return f"{self.algorithm} with {self.heuristic}"


class Cell(NamedTuple):
    """What a method made of a board: a line of the CSV file."""

    instance: int
    board: str
    algorithm: str
    heuristic: str
    length: int | None  # None if a limit was hit
    h_start: int
    expanded: int
    generated: int
    stored: int | None  # None if the algorithm keeps no boards
    seconds: float
    limit_hit: str | None  # time, nodes or memory


class Summary(NamedTuple):
    """What a method made of all boards: means a board, lower bounds if ``unfinished``."""

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
    ratio: float | None  # what the first method generated for each board of this one, None if nothing is known of it
    ratio_is: str  # "=", or ">" or "<" if one of the two is a lower bound


def prepare_methods(
    grid: Grid,
    goal: Board,
    algorithms: Sequence[str],
    heuristics: Sequence[str],
    settings: Settings,
    notify: Callable[[str], None] | None = None,
) -> list[Method]:
    """Every algorithm with every heuristic, each made ready: databases are in memory and code is compiled.

    An algorithm may name its order of moves, as in ``ida-star:fixed``. A heuristic is called by the name of
    the database that serves it.
    """
    frame = frame_of(grid, goal)
    methods: list[Method] = []
    for algorithm in algorithms:
        for heuristic in heuristics:
            name, _, order = algorithm.partition(":")
            own = settings._replace(algorithm=name, order=order or None, heuristic=heuristic)
            solve_board(grid, goal, goal, own, notify=notify)
            found = heuristic_for(frame, own)
            for file in found.mapped:
                file[:: mmap.PAGESIZE].max()  # else the first boards would pay for reading it
            method = Method(algorithm, found.name, own)
            if any(method[:2] == other[:2] for other in methods):
                raise InputError(f"{method} is to be compared with itself: name every method once")
            methods.append(method)
    return methods


@dataclass
class Comparison:
    """Boards, methods, and the cells that are known."""

    grid: Grid
    goal: Board
    instances: dict[int, Instance]  # by id
    methods: list[Method]
    cells: dict[tuple[int, str, str], Cell] = field(default_factory=dict)

    def cell(self, instance: Instance, method: Method) -> Cell | None:
        return self.cells.get((instance.id, method.algorithm, method.heuristic))

    def add(self, cell: Cell) -> None:
        """Take a cell in; raises ``Disagreement`` if it contradicts the others."""
        self.cells[cell.instance, cell.algorithm, cell.heuristic] = cell
        instance = self.instances[cell.instance]
        known = [(str(method), found) for method in self.methods if (found := self.cell(instance, method))]
        claims = [(f"{name} finds {found.length}", found.length) for name, found in known if found.length is not None]
        if instance.length is not None:
            claims.insert(0, (f"{instance.length} is published", instance.length))
        lengths = {length for _, length in claims}
        bounds = [(f"{name} gives {found.h_start} at the start", found.h_start) for name, found in known]
        wrong = [(claim, bound) for claim, bound in bounds if lengths and bound > min(lengths)]
        if len(lengths) > 1 or wrong:
            raise Disagreement(
                f"board {cell.instance} ({cell.board}): the lengths of shortest solutions disagree: "
                f"{', '.join(claim for claim, _ in claims + wrong)}: "
                "see whether the databases are sound with 'pdb-builder verify', and trust none of these figures"
            )

    def missing(self) -> list[tuple[Instance, Method]]:
        """What is left to do, board by board."""
        every = [(one, method) for one in self.instances.values() for method in self.methods]
        return [(one, method) for one, method in every if not self.cell(one, method)]

    def whole(self) -> list[Instance]:
        """The boards of which every cell is known."""
        return [one for one in self.instances.values() if all(self.cell(one, method) for method in self.methods)]

    def run(self, jobs: int, interrupt: Event, report: Callable | None = None) -> Iterator[Cell]:
        """Fill in what is missing and give each cell as it comes. It is for the caller to ``add`` it.

        After an interruption the searches under way are given up, and leave no cell.
        """

        def solved(task: tuple[Instance, Method]) -> Cell | None:
            instance, method = task
            found = solve_board(self.grid, instance.board, self.goal, method.settings, report, None, interrupt)
            if found.stopped == "interrupt":
                return None
            return Cell(
                instance.id,
                format_board(self.grid, instance.board),
                method.algorithm,
                method.heuristic,
                found.length,
                found.h_start,
                found.expanded,
                found.generated,
                found.stored,
                round(found.seconds, 6),
                found.stopped,
            )

        for cell in answers(self.missing(), solved, jobs, interrupt, in_order=False):
            if cell is not None:
                yield cell

    def seconds_left(self, jobs: int) -> float | None:
        """How long the rest may take, going by the mean of each method so far; None while one has none."""
        total = 0.0
        for method in self.methods:
            known = [cell.seconds for one in self.instances.values() if (cell := self.cell(one, method))]
            left = len(self.instances) - len(known)
            if left and not known:
                return None
            total += left * mean(known) if left else 0
        return total / jobs

    def recall(self, saved: Iterable[Cell], name: object) -> None:
        """Take in the cells of an earlier run, from a file of that name, that belong here and need not be done again.

        Other boards and methods are ignored. A cell that hit a limit is done again if it would get further now.
        """
        methods = {method[:2]: method for method in self.methods}
        frame = frame_of(self.grid, self.goal)
        heuristics = {method[:2]: heuristic_for(frame, method.settings) for method in self.methods}
        for cell in saved:
            instance = self.instances.get(cell.instance)
            key = (cell.algorithm, cell.heuristic)
            if not instance or cell.board != format_board(self.grid, instance.board) or key not in methods:
                continue
            if _could_go_on(cell, methods[key].settings):
                continue
            value = max(heuristics[key].measure(frame.enter(instance.board)))
            if value != cell.h_start:
                raise InputError(
                    f"{name} says that {cell.heuristic} gives board {cell.instance} {cell.h_start} at the start, "
                    f"but here it is {value}: the goal or the database was another; begin a new file with --csv"
                )
            self.add(cell)

    def summaries(self) -> list[Summary]:
        """One for each method, over the boards of which every cell is known."""
        boards = self.whole()
        rows: list[Summary] = []
        for method in self.methods if boards else ():
            cells = [self.cell(one, method) for one in boards]
            unfinished = sum(cell.limit_hit is not None for cell in cells)
            generated, seconds = sum(cell.generated for cell in cells), sum(cell.seconds for cell in cells)
            first = rows[0] if rows else None
            if not first or first.unfinished == unfinished == 0:
                sign = "="
            else:
                sign = "<" if not first.unfinished else ">" if not unfinished else ""
            rows.append(
                Summary(
                    algorithm=method.algorithm,
                    heuristic=method.heuristic,
                    boards=len(boards),
                    unfinished=unfinished,
                    h_mean=mean(cell.h_start for cell in cells),
                    h_median=median(cell.h_start for cell in cells),
                    expanded=mean(cell.expanded for cell in cells),
                    generated=generated / len(cells),
                    stored=None if cells[0].stored is None else mean(cell.stored for cell in cells),
                    seconds=seconds / len(cells),
                    nodes_per_second=generated / seconds if seconds else None,
                    ratio=(first.generated * len(cells) / generated if first else 1.0) if sign else None,
                    ratio_is=sign,
                )
            )
        return rows


def _could_go_on(cell: Cell, settings: Settings) -> bool:
    """Whether a cell hit a limit that does not hold any more. Of memory it is not known."""
    if cell.limit_hit == "time":
        return settings.time_limit is None or cell.seconds < settings.time_limit
    if cell.limit_hit == "nodes":
        return settings.node_limit is None or cell.generated < settings.node_limit
    return cell.limit_hit is not None
