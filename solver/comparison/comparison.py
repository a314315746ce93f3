"""Methods side by side: the same boards, solved by every pair of an algorithm and a heuristic.

Such a pair is a *method* (``methods``), and the result of one method on one board is a *cell* (``cells``). A comparison
holds the cells known so far and runs the searches that are missing, board by board, so that whatever else the machine
does affects all methods alike. Methods are each other's oracle: every new cell is checked against everything known
about its board (``claims``), and the first contradiction ends the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import processor_and_cores
from pdb_builder.base.markup import element
from pdb_builder.base.wording import counted
from pdb_builder.drawing import Picture
from pdb_builder.grid import Grid
from pdb_builder.revision import revision

from ..board import Board, board_text, format_board, parse_board
from ..cluster.boards import boards_at_a_time, solver_on
from ..cluster.connection import Connection, connected_if_given
from ..goals import goal_board, goal_text
from ..heuristics.preparing import Notify, ignore_remark
from ..instances import Instance, load_set
from ..jobs import map_jobs
from ..search import default_memory
from ..search.outcome import INTERRUPT, OnProgress, unreported
from ..settings import Settings, path_of
from ..solution import Solution
from ..solving import solve_board
from .cells import Cell, Summary, furthest, summarise
from .claims import check_agreement, claims_of, published_claim
from .headline import headline
from .methods import Method, parallel_searches, prepare_methods
from .plots import check_library, draw
from .tables import summary_table

WRAPPED = " # wrapped"  # after a board with joined edges: a comment to whoever parses it


def compare(
    boards: str | Sequence,
    heuristics: Sequence[str | Callable],
    algorithms: Sequence[str] = ("ida-star",),
    goal: str | Sequence = "last",
    *,
    wrap: bool = False,
    threads: int = 1,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    huge_pages: bool = False,
    cluster: Any = None,
    folder: str | Path | None = None,
) -> Comparison:
    """Compare heuristics and algorithms on boards of one shape, or on a published set by its name.

    Boards, goal and heuristics are given as for ``solve``, and ``wrap`` joins the edges as there; the options are those
    of ``pdb-solver compare``. Raises ``InputError`` for invalid arguments, and ``Disagreement`` if the methods
    contradict each other about the shortest solution of a board.
    """
    if isinstance(boards, str):
        grid, target, instances = load_set(boards)
        if wrap:
            raise InputError(f"the boards of the set {boards} are not wrapped: leave out `wrap`")
    else:
        if not hasattr(boards, "__iter__"):
            raise InputError(f"{boards!r} is neither a set of boards nor boards: give its name, or a list of boards")
        parsed = [parse_board(board_text(board), None, wrap) for board in boards]
        if len({grid for grid, _ in parsed}) != 1:
            raise InputError(f"these {len(parsed)} boards cannot be compared: give at least one, and all of one shape")
        grid, target = parsed[0][0], goal_board(parsed[0][0], board_text(goal))
        instances = [Instance(number, board, None, None) for number, (_, board) in enumerate(parsed, 1)]
    for name, names in (("heuristics", heuristics), ("algorithms", algorithms)):
        if isinstance(names, str) or not hasattr(names, "__iter__"):
            raise InputError(f"`{name}` must be a list, got {names!r}: write it in brackets")
    jobs = parallel_searches(threads)
    settings = Settings(
        threads=threads,
        time_limit=time_limit,
        node_limit=node_limit,
        memory_limit=default_memory(jobs) if memory_limit is None else memory_limit,
        folder=path_of("folder", folder),
        huge_pages=huge_pages,
    )
    methods = prepare_methods(grid, target, algorithms, heuristics, settings)
    comparison = Comparison(grid, target, {one.id: one for one in instances}, methods)
    with connected_if_given(cluster, settings.folder) as connection:
        if connection is not None:
            jobs = comparison.use(connection)
        for cell in comparison.run(jobs, Event()):
            comparison.add(cell)
    return comparison


@dataclass
class Comparison:
    """Boards, methods, and the cells that are known."""

    grid: Grid
    goal: Board
    instances: dict[int, Instance]  # by id
    methods: list[Method]
    cells: dict[tuple[int, str, str], Cell] = field(default_factory=dict)
    machine: str = field(default_factory=processor_and_cores)
    revision: str = field(default_factory=revision)
    solver: Callable[..., Solution] | None = None  # instead of ``solve_board``

    def use(self, cluster: Connection, notify: Notify = ignore_remark) -> int:
        """Have the searches run by the workers of a cluster; returns how many should be under way at a time."""
        self.solver, self.machine = solver_on(cluster, solve_board, notify), f"workers of {cluster.name}"
        return boards_at_a_time(cluster)

    def cell(self, instance: Instance, method: Method) -> Cell | None:
        return self.cells.get((instance.id, method.algorithm, method.heuristic))

    def add(self, cell: Cell) -> None:
        """Add a cell, unless one that got further is known; raises ``Disagreement`` if it contradicts others."""
        key = (cell.instance, cell.algorithm, cell.heuristic)
        before = self.cells.get(key)
        self.cells[key] = furthest(before, cell)
        instance = self.instances[cell.instance]
        claims = [] if instance.length is None else [published_claim(instance.length)]
        for method in self.methods:
            ours = method[:2] == key[1:]
            if known := cell if ours else self.cell(instance, method):
                claims += claims_of(str(method), method, known)
            if ours and before:
                claims += claims_of(f"{method}, before that,", method, before)
        check_agreement(claims, f"board {cell.instance} ({cell.board})")

    # ---- running --------------------------------------------------------------------------------

    def missing(self) -> list[tuple[Instance, Method]]:
        """The searches left to run, board by board."""
        every = [(one, method) for one in self.instances.values() for method in self.methods]
        return [(one, method) for one, method in every if not self.cell(one, method)]

    def run(self, jobs: int, interrupt: Event, progress: OnProgress = unreported) -> Iterator[Cell]:
        """Run the missing searches and yield each cell as it comes, for the caller to ``add``.

        After an interruption the searches under way are abandoned, and leave no cell.
        """
        work = self.missing()
        for cell in map_jobs(
            work, lambda pair: self.search(*pair, progress, interrupt), jobs, interrupt, in_order=False
        ):
            if cell.limit_hit != INTERRUPT:
                yield cell

    def search(
        self, instance: Instance, method: Method, progress: OnProgress = unreported, interrupt: Event | None = None
    ) -> Cell:
        """The cell of a board and a method, by searching."""
        solver = self.solver or solve_board
        found = solver(self.grid, instance.board, self.goal, method.settings, progress, interrupt=interrupt)
        return Cell(
            instance.id,
            self.board_text(instance),
            goal_text(self.grid, self.goal),
            method.algorithm,
            method.heuristic,
            found.length,
            found.h_start,
            found.expanded,
            found.generated,
            found.stored,
            round(found.seconds, 6),
            found.stopped,
            self.machine,
            self.revision,
        )

    def board_text(self, instance: Instance) -> str:
        """A board as its cells have it, which ``parse_board`` reads back."""
        return format_board(self.grid, instance.board) + WRAPPED * self.grid.wrap

    # ---- results --------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The shortest names that tell the methods apart: heuristics, unless there are several algorithms."""
        several = len({method.algorithm for method in self.methods}) > 1
        return [str(one) if several or one.heuristic == "none" else one.heuristic for one in self.methods]

    def finished(self) -> list[Instance]:
        """The boards all of whose cells are known."""
        return [one for one in self.instances.values() if all(self.cell(one, method) for method in self.methods)]

    def row(self, instance: Instance) -> list[Cell]:
        """The cells of a finished board, one per method."""
        return [self.cells[instance.id, method.algorithm, method.heuristic] for method in self.methods]

    def column(self, method: Method) -> list[Cell]:
        """The cells of a method, one per finished board."""
        return [self.cells[one.id, method.algorithm, method.heuristic] for one in self.finished()]

    def summaries(self) -> list[Summary]:
        """One per method, over the finished boards; none if there are none."""
        rows: list[Summary] = []
        for method in self.methods if self.finished() else ():
            rows.append(summarise(method, self.column(method), rows[0] if rows else None))
        return rows

    def to_records(self) -> list[dict[str, int | float | str | None]]:
        """The cells of the finished boards, each by the names of a file of results: pandas makes a table of them."""
        return [cell._asdict() for one in self.finished() for cell in self.row(one)]

    def svg(self, title: str | None = None) -> Picture:
        """The pictures of the comparison side by side, as ``pdb-solver compare`` plots them; a notebook shows them.

        Raises ``InputError`` if matplotlib is not installed, and if no board is finished.
        """
        check_library()
        if not self.finished():
            raise InputError("no board is finished, so there is nothing to draw: run the searches first")
        image = draw(self, title or self.heading(), "svg").decode()
        return Picture(image[image.index("<svg") :].rstrip())

    def heading(self, name: str = "") -> str:
        """What was compared, in a line; ``name`` says which boards these are."""
        return f"{counted(len(self.finished()), 'board')} of {self.grid}{f' ({name})' * bool(name)}"

    def __repr__(self) -> str:
        done, every = len(self.finished()), len(self.instances)
        rest = f", {done} of them finished" * (done < every)
        methods, boards = counted(len(self.methods), "method"), counted(every, "board")
        return f"<Comparison of {methods} on {boards} of {self.grid}{rest}>"

    def _repr_html_(self) -> str:
        if not self.finished():
            return element("p", repr(self))
        means = element("p", f"{self.heading()}, means per board")
        return element("div", element("p", element("b", headline(self))), means, summary_table(self).html())

    def shortest(self, instance: Instance) -> tuple[int | None, bool]:
        """The shortest known length for a board, None if there is none, and whether it is proven shortest."""
        known = [(cell, method) for method in self.methods if (cell := self.cell(instance, method))]
        lengths = [cell.length for cell, _ in known]
        proven = [cell.length for cell, method in known if method.suboptimality_bound == 1 and cell.limit_hit is None]
        if instance.length is not None:
            proven.append(instance.length)
        return min((one for one in proven + lengths if one is not None), default=None), bool(proven)

    @property
    def lengths_vary(self) -> bool:
        """Whether a solution may be longer than another of the same board. If so, tables show the lengths."""
        if any(method.suboptimality_bound != 1 for method in self.methods):
            return True
        lengths = ({cell.length for cell in self.row(one)} - {None} for one in self.finished())
        return any(len(found) > 1 for found in lengths)
