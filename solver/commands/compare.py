"""``pdb-solver compare``: run a comparison, save it as it goes, and print, draw and report it.

Everything that can be refused is refused before the first search: files that cannot be written, methods that do not
exist, boards that cannot be solved. An interruption shows what is done, and leaves a file to resume from.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from contextlib import nullcontext
from threading import Event

from pdb_builder.base.errors import ClusterLost, InputError, Unsolvable
from pdb_builder.base.files import check_output
from pdb_builder.grid import Grid
from pdb_builder.pattern import has_patterns
from pdb_builder.shell import notice

from ..board import Board
from ..choosing import heuristic_for
from ..cluster.connection import connected_if_given
from ..comparison.cells import Cell
from ..comparison.comparison import Comparison
from ..comparison.methods import parallel_searches, prepare_methods
from ..comparison.plots import save_plot
from ..comparison.report import check_outputs, save_report
from ..comparison.results_file import ResultsFile
from ..comparison.resuming import recall
from ..comparison.tables import board_table, summary_table
from ..frame import frame_of
from ..heuristics import check_name
from ..search import check_search, default_memory
from ..settings import Settings
from .compared_boards import compared_boards
from .comparison_bar import ComparisonBar
from .exit_codes import INTERRUPTED, LIMIT, NO_SOLUTION, SOLVED
from .progress import SearchMeter


def run(args: argparse.Namespace) -> int:
    algorithms = [word.strip() for word in args.algorithms.split(",")]
    heuristics = [] if args.heuristics is None else [word.strip() for word in args.heuristics.split(",")]
    for heuristic in heuristics:
        check_name(heuristic)
    _check_files(args)
    try:
        title, grid, goal, instances = compared_boards(args)
    except Unsolvable as error:
        notice(f"pdb-solver: {error}")
        return NO_SOLUTION
    jobs = args.jobs or parallel_searches(args.threads)
    settings = Settings(
        threads=args.threads,
        time_limit=args.time_limit,
        node_limit=args.node_limit,
        memory_limit=default_memory(jobs) if args.memory_limit is None else args.memory_limit,
        folder=args.folder,
        huge_pages=args.huge_pages,
    )
    left_out = None
    if not heuristics:
        heuristics, left_out = _usual_heuristics(grid, goal, algorithms, settings)
    with SearchMeter(silent=True) as meter:
        methods = prepare_methods(grid, goal, algorithms, heuristics, settings, meter.report, notice)
    if left_out:
        notice(f"compared without pdb: {left_out}")
    comparison = Comparison(grid, goal, instances, methods)
    results = _open_results(args)
    with connected_if_given(args.cluster, args.folder) as cluster:
        if cluster is not None:
            at_a_time = comparison.use(cluster, notice)
            jobs = args.jobs or at_a_time
        ended = _run_searches(comparison, jobs, results)
    done = len(comparison.finished())
    if ended:
        remedy = f"continue with --resume {results.path}" if results else "use --csv FILE to be able to continue"
        why = "the cluster is gone" if ended == LIMIT else "interrupted"
        notice(f"{why}: {done} of {len(instances)} boards are done, {remedy}")
    if done:
        _present(comparison, title, args)
    if ended:
        return ended
    return LIMIT if any(cell.limit_hit for cell in comparison.cells.values()) else SOLVED


def _usual_heuristics(
    grid: Grid, goal: Board, algorithms: Sequence[str], settings: Settings
) -> tuple[list[str], InputError | None]:
    """The heuristics to compare by default: the usual ones that are valid here; and why there is no database."""
    usual = ["manhattan", *["linear-conflict"] * (not grid.wrap)]
    uninformed = all(check_search(algorithm.partition(":")[0]).uninformed for algorithm in algorithms)
    if uninformed or not has_patterns(grid):
        return usual, None
    try:
        heuristic_for(frame_of(grid, goal), settings._replace(heuristic="pdb", algorithm="ida-star"))
    except InputError as error:
        return usual, error
    return [*usual, "pdb"], None


def _check_files(args: argparse.Namespace) -> None:
    """Raise ``InputError`` for files that cannot be written, or that would overwrite each other."""
    if args.csv is not None and args.resume is not None:
        raise InputError("--csv and --resume exclude each other: --resume continues a file if it exists")
    seen: dict[str, str] = {}
    for name in ("file", "csv", "resume", "plot", "report"):
        path = getattr(args, name)
        if path is not None and (other := seen.setdefault(os.path.realpath(path), name)) != name:
            raise InputError(f"--{other} and --{name} are both {path}: give different files")
    if args.csv or args.resume:
        check_output(args.csv or args.resume, ".csv")
    check_outputs(args.plot, args.report)


def _open_results(args: argparse.Namespace) -> ResultsFile | None:
    path = args.csv or args.resume
    try:
        return ResultsFile(path, resume=args.resume is not None) if path else None
    except FileExistsError:
        raise InputError(f"{path} exists: continue it with --resume {path}, or choose another file") from None


def _run_searches(comparison: Comparison, jobs: int, results: ResultsFile | None) -> int:
    """Run the missing searches and save each cell as soon as it is known. Returns the exit code if that ends early."""
    places = {method[:2]: place for place, method in enumerate(comparison.methods)}

    def order(cell: Cell) -> tuple[int, int]:
        return cell.instance, places.get((cell.algorithm, cell.heuristic), len(places))

    ended = 0
    with results or nullcontext():
        try:
            if results:
                recall(comparison, results.cells, results.path)
                results.complete_header()
            with ComparisonBar(comparison, jobs) as bar:
                for cell in comparison.run(jobs, Event(), bar.report):
                    if results:
                        results.add(cell)
                    comparison.add(cell)
                    bar.advance()
        except KeyboardInterrupt:
            ended = INTERRUPTED
        except ClusterLost:
            ended = LIMIT
        if results:
            results.sort(order)
    return ended


def _present(comparison: Comparison, title: str, args: argparse.Namespace) -> None:
    """Print the comparison, and draw and report it if asked to."""
    grid = comparison.grid
    title = comparison.heading(title)
    if args.json:
        record = {
            "title": title,
            "shape": grid.shape,
            "wrap": grid.wrap,
            "goal": list(comparison.goal),
            "methods": [summary._asdict() for summary in comparison.summaries()],
            "cells": comparison.to_records(),
        }
        print(json.dumps(record))
    else:
        if args.each:
            print(board_table(comparison), end="\n\n")
        print(f"{title}, means per board", summary_table(comparison), sep="\n")
    if args.plot:
        save_plot(comparison, title, args.plot)
    if args.report:
        again = [re.sub("^--csv", "--resume", word) for word in args.words]  # next time the file exists
        save_report(comparison, title, again, args.report)
