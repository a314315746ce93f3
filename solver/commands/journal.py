"""``pdb-solver journal``: how far the search of a journal has come, and what it will take to go on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from pdb_builder.base.errors import InputError
from pdb_builder.base.wording import counted

from ..board import draw_board
from ..number_text import format_duration, format_large
from ..search import BACKWARD, BEAM
from ..search.journal import steps_of
from ..search.journal_file import read_journal
from ..search.journal_progress import JournalProgress, progress_of
from ..search.journal_records import puzzle_of
from ..search.simulating import TASK_COST, SimulatedSearch, simulate_search
from .exit_codes import SOLVED


def run(args: argparse.Namespace) -> int:
    path = args.journal_file
    records = read_journal(path)
    header, grid = records[0], puzzle_of(path, records[0])
    steps = steps_of(path, records)
    progress = progress_of(grid, steps, header["upper_bound"])
    cost = TASK_COST if args.task_cost is None else args.task_cost
    if args.task_cost is not None and not args.simulate_workers:
        raise InputError("--task-cost is for --simulate-workers: give both, or leave it out")
    simulated = [simulate_search(steps, workers, cost) for workers in args.simulate_workers or ()]
    if args.json:
        parts = [part._asdict() for part in progress.parts]
        ahead = [one._asdict() for one in progress.next]
        facts = {name: value for name, value in header.items() if name != "journal"}
        record = facts | progress._asdict() | {"parts": parts, "next": ahead, "lines": len(records)}
        if simulated:
            record["simulated"] = [one._asdict() | {"last": one.last and one.last._asdict()} for one in simulated]
        print(json.dumps(record))
    else:
        print(draw_board(grid, header["board"]))
        print(f"goal {' '.join(map(str, header['goal']))}, {header['algorithm']} with {header['heuristic']}")
        print(*_lines(progress), sep="\n")
        print(f"{counted(len(records), 'line')}, all of which match their checksums")
        if simulated:
            print(*_simulation(simulated, cost), sep="\n")
    return SOLVED


def _simulation(searches: list[SimulatedSearch], cost: float) -> Iterator[str]:
    """What more workers would take, as a table."""
    yield ""
    yield f"simulated from the seconds of each bundle, with {1000 * cost:g} ms of the scheduler for each task"
    yield "workers  whole search  by the client  last iteration  busy  tasks  limited by"
    for one in searches:
        line = f"{one.workers:7,} {one.seconds:11,.1f} s {one.with_client:12,.1f} s"
        if one.last:
            line += f" {one.last.seconds:13,.1f} s {one.last.busy:5.0%} {one.last.tasks:6,}  {one.last.limit}"
        yield line


def _lines(progress: JournalProgress) -> Iterator[str]:
    yield f"{'bound':>7} {'expanded':>15} {'generated':>15} {'seconds':>9} {'done':>6}  from"
    for part in progress.parts:
        end = "a beam" if part.side == BEAM else "goal" if part.side == BACKWARD else "start"
        counts = f"{part.bound:7} {part.expanded:15,} {part.generated:15,} {part.seconds:9.3f}"
        yield f"{counts} {part.share:6.1%}  {end}"
    if progress.length == progress.lower_bound:
        yield f"{counted(progress.lower_bound, 'move')}, proven shortest"
    else:
        known = "" if progress.length is None else f"; a solution of {counted(progress.length, 'move')} is known"
        yield f"at least {counted(progress.lower_bound, 'move')}, proven{known}"
    if progress.seconds:
        rate = format_large(progress.generated / progress.seconds)
        yield f"{format_large(progress.generated)} generated in {format_duration(progress.seconds)}, {rate}/s"
    for one in progress.next:
        size = format_large(one.generated)
        yield f"bound {one.bound} will take about {format_duration(one.seconds)} more, {size} generated"
