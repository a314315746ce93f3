"""What takes longer: a search, the fewest moves while somebody plays, a comparison. Each tells its events.

They use the library as the commands do, so that the page and the command line say the same. Only the limits are
tighter: several tabs share the machine, and nobody waits for a page for an hour.

*The fewest moves* are those of a search with default settings, which has a few seconds. On a board that is too hard for
that, a beam looks for a solution as well, and the answer is what is known then: a lower bound, and the best solution.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.base.numeric import as_real

from ..board import Board
from ..comparison.cells import Summary, summarise
from ..comparison.comparison import Comparison
from ..comparison.methods import prepare_methods
from ..comparison.results_file import header_line, line_of
from ..comparison.tables import summary_table
from ..heuristics import check_name, parts_of
from ..heuristics.databases import database_names
from ..instances import Instance, random_board
from ..search import SEARCHES, default_memory
from ..search.outcome import INTERRUPT, Progress, Stopped
from ..settings import PROVABLE, Settings, check_settings
from ..solution import Solution
from ..solvability import why_unsolvable
from ..solving import solve_board
from .events import PROGRESS, TABLE
from .fields import Fields, shown
from .puzzles import Puzzle, puzzle_of, seed_of
from .telling import in_words

AT_ONCE = 2  # searches, which share memory and cores
MOST_SECONDS = 600.0  # of a search
FEWEST_SECONDS, GUESS_SECONDS = 4.0, 2.0  # while somebody plays: of the search, and of the beam after it
MOST_BOARDS, MOST_SEARCHES = 1000, 5000  # of a comparison
PULSE = 0.1  # seconds between two reports

Tell = Callable[[str, dict], object]
Task = Callable[[Tell, Event], None]


# ---- a search -----------------------------------------------------------------------------------


def solving(fields: Fields, folder: Path) -> Task:
    """The search that a request asks for."""
    puzzle, settings = puzzle_of(fields), _settings(fields, folder)
    check_settings(settings, puzzle.grid)

    def run(tell: Tell, interrupt: Event) -> None:
        report = _Reporter(tell, interrupt)

        def remark(text: str) -> None:
            tell("remark", {"text": in_words(text, folder)})

        solution = solve_board(*puzzle, settings, report, remark, interrupt)
        tell("solution", _facts(solution))

    return run


def fewest(fields: Fields, folder: Path) -> Task:
    """The fewest moves to the goal, or what can be said of them within seconds."""
    puzzle = puzzle_of(fields)

    def run(tell: Tell, interrupt: Event) -> None:
        report = _Reporter(tell, interrupt)
        settings = Settings(folder=folder, memory_limit=default_memory(AT_ONCE))
        beam = settings._replace(algorithm="beam", time_limit=GUESS_SECONDS)
        searches = [beam] if puzzle.grid.cells > PROVABLE else [settings._replace(time_limit=FEWEST_SECONDS), beam]
        lower_bound = 0
        for one in searches:
            solution = solve_board(*puzzle, one, report, interrupt=interrupt)
            lower_bound = max(lower_bound, solution.lower_bound)
            if solution.solved or interrupt.is_set():
                break
        tell(
            "fewest",
            {
                "length": solution.length,
                "lower_bound": lower_bound,
                "optimal": solution.solved and solution.length == lower_bound,
                "tiles": solution.tiles,
            },
        )

    return run


def _settings(fields: Fields, folder: Path) -> Settings:
    """The settings of a search, within the limits of the page. The library judges whether they make sense."""
    heuristic = fields.raw("heuristic")
    if isinstance(heuristic, str):
        check_heuristic(heuristic, folder)
    options = {name: fields.raw(name) for name in ("algorithm", "weight", "width", "depth", "node_limit")}
    return Settings(
        heuristic=heuristic,
        time_limit=_seconds(fields),
        memory_limit=default_memory(AT_ONCE),
        folder=folder,
        **options,
    )


def _seconds(fields: Fields) -> float:
    value = fields.raw("time_limit", MOST_SECONDS)
    seconds = None if isinstance(value, bool) else as_real(value)
    if seconds is None or not 0 < seconds <= MOST_SECONDS:
        raise InputError(f"the time limit must be above 0 and at most {MOST_SECONDS:g} seconds, got {shown(value)}")
    return seconds


def check_heuristic(spec: str, folder: Path) -> None:
    """Raise ``InputError`` unless this is a heuristic, and its databases are in the folder: no other file is opened."""
    check_name(spec)
    for part in parts_of(spec):
        name = part.partition(":")[2]
        if name and name not in (known := database_names(folder)):
            some = ", ".join(known) or "none yet"
            raise InputError(f"the page has no database {name[:60]!r}: those in its folder are {some}")


def _facts(solution: Solution) -> dict[str, Any]:
    """A solution for the browser, which need not know where databases are."""
    return {name: value for name, value in solution.as_dict().items() if name != "databases"}


class _Reporter:
    """Tells the progress of a search, several times a second, and how fast it is."""

    def __init__(self, tell: Tell, interrupt: Event) -> None:
        self._tell, self._interrupt = tell, interrupt
        self._last = 0.0
        self._length: int | None = None
        self._first: tuple[float, int] | None = None  # when the search first reported, and how far it was then

    def __call__(self, progress: Progress) -> None:
        if progress.preparing and self._interrupt.is_set():
            raise Stopped(INTERRUPT)  # a search looks for itself
        now = time.monotonic()
        if not progress.preparing:
            self._first = self._first or (now, progress.generated)
        if now - self._last < PULSE and progress.length == self._length:
            return
        self._last, self._length = now, progress.length
        passed, done = (now - self._first[0], progress.generated - self._first[1]) if self._first else (0.0, 0)
        speed = done / passed if passed > PULSE else None
        self._tell(PROGRESS, progress._asdict() | {"seconds": round(passed, 2), "speed": speed})


# ---- a comparison -------------------------------------------------------------------------------


def comparing(fields: Fields, folder: Path) -> Task:
    """The comparison that a request asks for: ``algorithms`` with ``heuristics``, on its board or on random ones."""
    puzzle = puzzle_of(fields)
    algorithms, heuristics = fields.names("algorithms"), fields.names("heuristics")
    for heuristic in heuristics:
        check_heuristic(heuristic, folder)
    settings = Settings(threads=1, time_limit=_seconds(fields), memory_limit=default_memory(AT_ONCE), folder=folder)
    draw = _boards(fields, puzzle)
    methods = sum(1 if _is_uninformed(name) else max(1, len(heuristics)) for name in algorithms)
    if (searches := methods * fields.whole("number", 1, 1, MOST_BOARDS)) > MOST_SEARCHES:
        raise InputError(
            f"{searches:,} searches are too many for the page, which makes up to {MOST_SEARCHES:,}: choose fewer "
            "boards or methods, or use 'pdb-solver compare'"
        )

    def run(tell: Tell, interrupt: Event) -> None:
        grid, _, goal = puzzle
        report = _Reporter(tell, interrupt)
        methods = prepare_methods(grid, goal, algorithms, heuristics, settings, report)
        instances = {number: Instance(number, board, None, None) for number, board in enumerate(draw(), 1)}
        comparison = Comparison(grid, goal, instances, methods)
        work, shown_at = comparison.missing(), -PULSE
        tell("methods", {"names": comparison.names(), "searches": len(work), "header": header_line()})
        for done, (instance, method) in enumerate(work, 1):
            cell = comparison.search(instance, method, report, interrupt)
            if cell.limit_hit == INTERRUPT:
                return
            comparison.add(cell)
            tell("cell", {"done": done, "cell": cell._asdict(), "line": line_of(cell)})
            if done == len(work) or time.monotonic() - shown_at >= PULSE:
                shown_at = time.monotonic()
                tell(TABLE, _table(comparison))

    return run


def _is_uninformed(method: str) -> bool:
    """Whether an algorithm, perhaps with its parameters, needs no heuristic."""
    search = SEARCHES.get(method.partition(":")[0])
    return search is not None and search.uninformed


def _boards(fields: Fields, puzzle: Puzzle) -> Callable[[], list[Board]]:
    """What gives the board of the puzzle, or draws a ``number`` of random ones: those of ``pdb-solver compare``."""
    grid, board, goal = puzzle
    if fields.raw("number") is None:
        if reason := why_unsolvable(grid, board, goal):
            raise Unsolvable(reason)
        return lambda: [board]
    number, chance = fields.whole("number", None, 1, MOST_BOARDS), random.Random(seed_of(fields))
    return lambda: [random_board(grid, goal, chance) for _ in range(number)]


def _table(comparison: Comparison) -> dict[str, Any]:
    """The table of a comparison so far, as the command line prints it, and what there is to draw.

    It is over the boards that all methods have searched; before there is one, over what there is of the first.
    """
    summaries = comparison.summaries() or _of_the_first_board(comparison)
    table = summary_table(comparison, summaries)
    return {
        "headings": table.headings,
        "numbers": [table.is_number(column) for column in range(len(table.headings))],
        "rows": table.rows,
        "boards": summaries[0].boards if comparison.finished() else 0,
        "bars": [{"generated": one.generated, "cut_short": one.cut_short} for one in summaries],
    }


def _of_the_first_board(comparison: Comparison) -> list[Summary]:
    rows: list[Summary] = []
    first = next(iter(comparison.instances.values()))
    for method in comparison.methods:
        if cell := comparison.cell(first, method):
            rows.append(summarise(method, [cell], rows[0] if rows else None))
    return rows
