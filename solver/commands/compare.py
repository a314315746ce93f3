"""``pdb-solver compare``: the boards that are asked for, and what is printed, written and drawn."""

from __future__ import annotations

import argparse
import json
import random
import time
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import NamedTuple

from tqdm import tqdm

from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.base.files import check_writable
from pdb_builder.grid import Grid
from pdb_builder.pattern import has_patterns
from pdb_builder.shell import notice

from ..board import Board, parse_board
from ..comparison.comparison import Cell, Comparison
from ..comparison.methods import prepare_methods, searches_at_a_time
from ..comparison.plots import save_plot
from ..comparison.report import check_possible, save_report
from ..comparison.results_file import ResultsFile
from ..comparison.tables import board_table, readable_time, summary_table
from ..heuristics import check_name
from ..instances import Instance, load_set, random_board
from ..jobs import PULSE
from ..search import default_memory
from ..settings import Settings
from ..solvability import why_unsolvable
from .boards import INTERRUPTED, LIMIT, NO_BOARD, NO_SOLUTION, SOLVED, asked_boards, asked_goal

MOST_BOARDS = 1_000_000  # of a comparison: their results are held in memory


def run(args: argparse.Namespace) -> int:
    algorithms = [word.strip() for word in args.algorithms.split(",")]
    heuristics = [] if args.heuristics is None else [word.strip() for word in args.heuristics.split(",")]
    for heuristic in heuristics:
        check_name(heuristic)
    _check_files(args)
    try:
        title, grid, goal, instances = _chosen(args)
    except Unsolvable as error:
        notice(f"pdb-solver: {error}")
        return NO_SOLUTION
    jobs = args.jobs or searches_at_a_time(args.threads)
    settings = Settings(
        threads=args.threads,
        time_limit=args.time_limit,
        node_limit=args.node_limit,
        memory_limit=default_memory(jobs) if args.memory_limit is None else args.memory_limit,
        folder=args.folder,
    )
    methods = prepare_methods(grid, goal, algorithms, heuristics or usual_heuristics(grid), settings, notice)
    comparison = Comparison(grid, goal, instances, methods)
    file = args.csv or args.resume
    results = ResultsFile(file, resume=args.resume is not None) if file else None
    interrupted = _filled(comparison, jobs, results)
    done = len(comparison.whole())
    if interrupted:
        kept = f"continue with --resume {file}" if file else "give --csv FILE to be able to continue another time"
        notice(f"interrupted: {done} of {len(instances)} boards are done, {kept}")
    if not done:
        return INTERRUPTED
    _show(comparison, title, args)
    if interrupted:
        return INTERRUPTED
    return LIMIT if any(cell.limit_hit for cell in comparison.cells.values()) else SOLVED


def usual_heuristics(grid: Grid) -> list[str]:
    """What is compared if nothing is said: of the usual ones those that hold on these boards."""
    return ["manhattan", *["linear-conflict"] * (not grid.wrap), *["pdb"] * has_patterns(grid)]


def _check_files(args: argparse.Namespace) -> None:
    """Raise ``InputError`` for files that cannot be, or that would overwrite each other."""
    if args.csv is not None and args.resume is not None:
        raise InputError("--csv and --resume exclude each other: --resume goes on with a file if it is there")
    seen: dict[Path, str] = {}
    for name in ("file", "csv", "resume", "plot", "report"):
        path = getattr(args, name)
        if path is not None and seen.setdefault(path.resolve(), name) != name:
            raise InputError(f"--{seen[path.resolve()]} and --{name} are both {path}: give each a file of its own")
    if args.csv or args.resume:
        check_writable(args.csv or args.resume)
    check_possible(args.plot, args.report)


class Chosen(NamedTuple):
    """Boards to compare on."""

    title: str
    grid: Grid
    goal: Board
    instances: dict[int, Instance]  # by number


def _chosen(args: argparse.Namespace) -> Chosen:
    if args.random is not None:
        chosen = _random(args)
    elif args.number is not None or args.seed is not None:
        raise InputError("-n and --seed are for random boards: give their shape, as in --random 4x4")
    elif args.set is not None:
        asked_boards(args)  # complains of what does not go with a set
        grid, goal, published = load_set(args.set)
        chosen = Chosen(args.set, grid, goal, {one.id: one for one in published})
    else:
        chosen = _given(args)
    if args.only is None:
        return chosen
    known = chosen.instances
    if unknown := args.only - known.keys():
        some = ", ".join(map(str, sorted(known)[:5])) + ", ..." * (len(known) > 5)
        raise InputError(f"there is no board {min(unknown)} among the {len(known)}: they are numbered {some}")
    return chosen._replace(instances={number: one for number, one in known.items() if number in args.only})


def _random(args: argparse.Namespace) -> Chosen:
    if args.board or args.file is not None or args.set is not None or args.shape is not None:
        raise InputError("--random draws boards of the shape it names: leave out boards, --file, --set and --shape")
    grid = Grid.parse(args.random, args.wrap)
    goal = asked_goal(args, grid)
    seed = 1 if args.seed is None else args.seed
    chance = random.Random(seed)
    if args.number is not None and args.number > MOST_BOARDS:
        raise InputError(f"{args.number:,} boards are too many to compare on: take at most {MOST_BOARDS:,}")
    drawn = [random_board(grid, goal, chance) for _ in range(args.number or 100)]
    instances = {number: Instance(number, board, None, None) for number, board in enumerate(drawn, 1)}
    return Chosen(f"random boards, seed {seed}", grid, goal, instances)


def _given(args: argparse.Namespace) -> Chosen:
    """Boards of the command line, a file or stdin: all must be sound, and of one shape."""
    tasks, many = asked_boards(args)
    instances: dict[int, Instance] = {}
    grid = goal = None
    for task in tasks:
        place = f"{task.name}: " if many else ""
        try:
            shape, board = parse_board(task.text, task.grid, args.wrap)
        except InputError as error:
            raise InputError(f"{place}{error}") from None
        if grid is None:
            grid, goal = shape, asked_goal(args, shape)
        if shape != grid:
            raise InputError(f"{place}this is a {shape} board, the first one is {grid}: compare boards of one shape")
        if reason := why_unsolvable(grid, board, goal):
            raise Unsolvable(f"{place}{reason}")
        number = task.extra["line"] if many else 1
        instances[number] = Instance(number, board, None, None)
    if grid is None:
        raise InputError(NO_BOARD)
    return Chosen(args.file.name if args.file else "boards given", grid, goal, instances)


def _filled(comparison: Comparison, jobs: int, results: ResultsFile | None) -> bool:
    """Fill in what is missing, each cell saved as soon as it is known. Returns whether that was interrupted."""
    places = {method[:2]: place for place, method in enumerate(comparison.methods)}

    def order(cell: Cell) -> tuple[int, int]:
        return cell.instance, places.get((cell.algorithm, cell.heuristic), len(places))

    interrupted = False
    with results or nullcontext():
        try:
            if results:
                comparison.recall(results.cells, results.path)
            gauge = Gauge(comparison, jobs)
            with gauge.bar:
                for cell in comparison.run(jobs, Event(), gauge.report):
                    if results:
                        results.add(cell)
                    comparison.add(cell)
                    gauge.bar.update()
        except KeyboardInterrupt:
            interrupted = True
        if results:
            results.put_in_order(order)
    return interrupted


class Gauge:
    """A bar on stderr that tells how far a comparison is and how long it may yet take, if stderr is a terminal."""

    def __init__(self, comparison: Comparison, jobs: int) -> None:

        total = len(comparison.instances) * len(comparison.methods)
        self.comparison, self.jobs = comparison, jobs
        self.bar = tqdm(
            total=total,
            initial=total - len(comparison.missing()),
            disable=None,
            leave=False,
            bar_format="{percentage:3.0f}% |{bar}| {n_fmt} of {total_fmt} searches, {elapsed}{postfix}",
        )
        self.next = 0.0  # when to look again

    def report(self, progress) -> None:
        """Called by the searches, now and then."""
        now = time.monotonic()
        if now < self.next or self.bar.disable:
            return
        self.next = now + 10 * PULSE
        left = self.comparison.seconds_left(self.jobs)
        words = [] if left is None else [f"about {readable_time(left)} left"]
        if self.jobs == 1:
            words += [f"bound {progress.bound}"] + ([] if progress.share is None else [f"{progress.share:.0%} done"])
        self.bar.set_postfix_str(", ".join(words))


def _show(comparison: Comparison, title: str, args: argparse.Namespace) -> None:
    grid, done = comparison.grid, len(comparison.whole())
    title = f"{done} board{'s' * (done != 1)} of {grid} ({title})"
    if args.json:
        record = {
            "title": title,
            "shape": grid.shape,
            "wrap": grid.wrap,
            "goal": list(comparison.goal),
            "methods": [summary._asdict() for summary in comparison.summaries()],
            "cells": [
                comparison.cell(one, method)._asdict() for one in comparison.whole() for method in comparison.methods
            ],
        }
        print(json.dumps(record))
    else:
        if args.each:
            print(board_table(comparison), end="\n\n")
        print(f"{title}, means a board", summary_table(comparison), sep="\n")
    if args.plot:
        save_plot(comparison, title, args.plot)
    if args.report:
        save_report(comparison, title, args.words, args.report)
