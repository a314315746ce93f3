"""The command line of the solver: ``pdb-solver solve | random | bench``.

Each command is a function ``run_x(args)`` that prints its answer to stdout and returns the exit
code; notices and progress go to stderr. Nothing that imports numba is imported before a command runs.

Many boards are solved by a few threads and answered in the order they came: a board that makes others
wait does not hold more than a few answers back, so a pipe of any length can run through.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple

from pdb_builder.grid import Grid, InputError
from pdb_builder.machine import default_threads
from pdb_builder.shell import Parser, folder_option, new_parser, notice, parse_size, positive, run, threads_option

from .board import (
    GOALS,
    SETS,
    Board,
    draw_board,
    format_board,
    goal_board,
    load_set,
    parse_board,
    random_board,
    read_boards,
)
from .heuristics import HEURISTICS, check_name
from .search import SEARCHES, default_memory
from .solving import ORDERS, Settings, Solution, Unsolvable, solve_board

SOLVED, NO_SOLUTION, BAD_INPUT, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
EXIT_CODES = (
    "exit codes: 0 solved, 1 no solution exists, 2 bad input or an unusable file, 3 a limit was reached,\n"
    "130 interrupted; of many boards the gravest: 130, 2, 3, 1"
)
GRAVEST = (INTERRUPTED, BAD_INPUT, LIMIT, NO_SOLUTION, SOLVED)
PULSE = 0.1  # seconds between signs of progress
NO_MOVES = "-"  # for a board without a solution among many, so that there is one line a board
AHEAD = 4  # boards begun for each further job while the first one is waited for
LIMITS = {
    "time": "the time limit was reached",
    "nodes": "the node limit was reached",
    "memory": "the memory limit was reached: take ida-star, or give more with --memory-limit",
    "interrupt": "interrupted",
}


# ---- what the arguments mean --------------------------------------------------------------------


def number_above_0(text: str) -> int:
    """A whole number, also written as 5_000_000, 1e9 or 20M."""
    match = re.fullmatch(
        r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(?:e([0-9]{1,2}))?([kmg]?)", text.strip().lower().replace("_", "")
    )
    number = int(float(match[1]) * 10 ** int(match[2] or 0) * 1000 ** " kmg".index(match[3] or " ")) if match else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number above 0: write it as 5000000 or 5M")
    return number


def seconds_above_0(text: str) -> float:
    if not re.fullmatch(r"([0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9})(e[0-9])?", text.strip()) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of seconds above 0: write it as 10 or 0.5")
    return float(text)


def _settings(args: argparse.Namespace) -> Settings:
    jobs = args.jobs or 1
    memory = args.memory_limit
    if memory is None and jobs > 1:
        memory = default_memory(jobs)
    return Settings(
        heuristic=args.heuristic,
        algorithm=args.algorithm,
        threads=args.threads or max(1, default_threads() // jobs),
        time_limit=args.time_limit,
        node_limit=args.node_limit,
        memory_limit=memory,
        every=args.all,
        reflection=not args.no_reflection,
        order=args.order,
        folder=args.folder,
    )


class Task(NamedTuple):
    """A board to solve, as text and where it came from, or as numbers."""

    name: str | None  # what an error calls it
    text: str
    grid: Grid | None = None
    board: Board | None = None
    goal: Board | None = None
    extra: dict | None = None  # what is known of it beforehand, for JSON


def _tasks(args: argparse.Namespace) -> tuple[Iterable[Task], bool]:
    """The boards that were asked for, and whether there may be many."""
    given = [bool(args.board), args.file is not None, args.set is not None]
    if sum(given) > 1:
        raise InputError("a board, --file and --set exclude each other: give one of them")
    if args.set is not None:
        if args.goal is not None or args.shape is not None:
            raise InputError(f"the set {args.set} has its own goal and shape: leave out --goal and --shape")
        grid, goal, instances = load_set(args.set)
        return [
            Task(str(one.id), format_board(grid, one.board), grid, one.board, goal, {"id": one.id}) for one in instances
        ], True
    grid = None if args.shape is None else Grid.parse(args.shape)
    if args.board and args.board != ["-"]:
        # Unquoted boards arrive as many words.
        return [Task(None, " ".join(args.board), grid)], False
    if args.file is None and sys.stdin.isatty() and not args.board:
        raise InputError("no board is given: write it after 'solve', or give --file, --set or a board on stdin")
    return _read(args.file, grid), True


def _read(path: Path | None, grid: Grid | None) -> Iterator[Task]:
    """The boards of a file, or of stdin, as they come."""
    with contextlib.ExitStack() as stack:
        if path is None or str(path) == "-":
            lines: Iterable[str] = sys.stdin
            if hasattr(sys.stdin, "reconfigure"):
                sys.stdin.reconfigure(errors="replace")
        else:
            lines = stack.enter_context(open(path, encoding="utf-8", errors="replace"))
        for number, text in read_boards(lines, grid):
            yield Task(f"line {number}", text, grid, extra={"line": number})


# ---- solve --------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What became of a task: a solution or an error."""

    task: Task
    code: int
    solution: Solution | None = None
    error: str | None = None


def _solve(task: Task, args: argparse.Namespace, settings: Settings, report, interrupt: Event) -> Answer:
    try:
        if task.board is None:
            grid, board = parse_board(task.text, task.grid)
            goal = goal_board(grid, "last" if args.goal is None else args.goal)
            task = task._replace(grid=grid, board=board, goal=goal)
        solution = solve_board(task.grid, task.board, task.goal, settings, report, _once, interrupt)
    except Unsolvable as error:
        return Answer(task, NO_SOLUTION, error=str(error))
    except InputError as error:
        return Answer(task, BAD_INPUT, error=str(error))
    code = {None: SOLVED, "interrupt": INTERRUPTED}.get(solution.stopped, LIMIT)
    return Answer(task, code, solution)


_said: set[str] = set()


def _once(text: str) -> None:
    """A notice, the first time."""
    if text not in _said:
        _said.add(text)
        notice(text)


class Meter:
    """One line on stderr that tells how far a search is, if stderr is a terminal."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self.bar = tqdm(bar_format="{desc}", disable=None, leave=False)
        self.last = 0.0
        self.first: tuple[float, int] | None = None  # when the search began to report, and how far it was then

    def __call__(self, progress) -> None:
        now = time.monotonic()
        self.first = self.first or (now, progress.generated)
        if now - max(self.last, self.first[0]) < PULSE or self.bar.disable:
            return
        self.last = now
        speed = (progress.generated - self.first[1]) / (now - self.first[0])
        share = "" if progress.share is None else f" {progress.share:4.0%} done"
        stored = "" if progress.stored is None else f", {_millions(progress.stored)} stored"
        self.bar.set_description_str(
            f"bound {progress.bound}{share}: {_millions(progress.generated)} generated{stored}, {_millions(speed)}/s"
        )

    def close(self) -> None:
        self.bar.close()


def _millions(count: float) -> str:
    return f"{count / 1e9:.2f} G" if count >= 1e9 else f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count:,.0f}"


def run_solve(args: argparse.Namespace) -> int:
    if args.json + args.quiet + args.show > 1:
        raise InputError("--json, --quiet and --show exclude each other: give one of them")
    tasks, many = _tasks(args)
    settings = _settings(args)
    interrupt = Event()
    if many and args.heuristic is not None:
        check_name(args.heuristic)  # once, not for each board
    if not many:
        meter = Meter()
        try:
            answer = _solve(next(iter(tasks)), args, settings, meter, interrupt)
        finally:
            meter.close()
        return _print_one(answer, args)
    return _print_many(
        _answers(tasks, args, settings, interrupt), args, len(tasks) if isinstance(tasks, list) else None
    )


def _answers(tasks: Iterable[Task], args: argparse.Namespace, settings: Settings, interrupt: Event) -> Iterator[Answer]:
    """The answers to many tasks, in order; after an interruption, those that were begun."""
    jobs = args.jobs or 1
    begun: deque[Future] = deque()
    with ThreadPoolExecutor(jobs) as executor:
        try:
            for task in _as_they_come(tasks, jobs):
                if task is not None:
                    begun.append(executor.submit(_solve, task, args, settings, None, interrupt))
                while begun and (begun[0].done() or len(begun) > AHEAD * (jobs - 1)):
                    yield _waited(begun[0])
                    begun.popleft()
            while begun:
                yield _waited(begun[0])
                begun.popleft()
        except BaseException as error:
            for future in begun:
                future.cancel()
            interrupt.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
            for future in begun:
                if not future.cancelled():
                    yield future.result()
            raise


def _as_they_come(tasks: Iterable[Task], jobs: int) -> Iterator[Task | None]:
    """The tasks, and None from time to time while the next one is waited for, so that answers need not wait."""
    if jobs == 1 or isinstance(tasks, list):
        yield from tasks
        return
    queue: Queue = Queue(maxsize=jobs)

    def read() -> None:
        try:
            for task in tasks:
                queue.put(task)
            queue.put(StopIteration())
        except Exception as error:
            queue.put(error)

    Thread(target=read, daemon=True).start()
    while True:
        try:
            task = queue.get(timeout=PULSE)
        except Empty:
            task = None
        if isinstance(task, StopIteration):
            return
        if isinstance(task, Exception):
            raise task
        yield task


def _waited(future: Future) -> Answer:
    """The result of a future, waited for in a way that Ctrl-C can interrupt."""
    while True:
        with contextlib.suppress(TimeoutError):
            return future.result(timeout=PULSE)


def _print_one(answer: Answer, args: argparse.Namespace) -> int:
    solution = answer.solution
    if args.json:
        print(json.dumps(_record(answer, args)))
    elif solution is None:
        notice(f"pdb-solver: {'error: ' * (answer.code == BAD_INPUT)}{answer.error}")
    elif not args.quiet:
        print("\n".join(_described(solution, args)))
    elif solution.solved:
        for tiles in solution.solutions or [solution.tiles]:
            print(solution.letters(tiles, args.moves))
    else:
        notice(f"pdb-solver: {_given_up(solution)}")
    return answer.code


def _print_many(answers: Iterator[Answer], args: argparse.Namespace, count: int | None) -> int:
    from tqdm import tqdm

    codes = set()
    try:
        with tqdm(total=count, unit=" boards", disable=None, leave=False) as bar:
            for answer in answers:
                codes.add(answer.code)
                bar.clear()
                if args.json:
                    print(json.dumps(_record(answer, args)), flush=True)
                elif answer.solution is None:
                    notice(f"{answer.task.name}: {answer.error}")
                    if args.quiet:
                        print(NO_MOVES, flush=True)
                elif args.show:
                    print(f"{answer.task.name}:", *_described(answer.solution, args), sep="\n", flush=True)
                elif not args.quiet:
                    print(_line(answer, args), flush=True)
                elif answer.solution.solved:
                    print(answer.solution.letters(answer.solution.tiles, args.moves), flush=True)
                else:
                    notice(f"{answer.task.name}: {_given_up(answer.solution)}")
                    print(NO_MOVES, flush=True)
                bar.update()
    except KeyboardInterrupt:
        codes.add(INTERRUPTED)
        notice("interrupted: the boards after these were not begun")
    if not codes:
        raise InputError("there is no board in the input: write one a line, as in '1 2 3 4 5 6 7 8 0'")
    return next(code for code in GRAVEST if code in codes)


def _record(answer: Answer, args: argparse.Namespace) -> dict:
    """An answer for JSON."""
    task, solution = answer.task, answer.solution
    record = task.extra or {}
    if solution:
        return record | {"solvable": True} | solution.as_dict(args.moves)
    record |= dict.fromkeys(["shape", "board", "goal", "solvable", "solved", "optimal", "length", "moves"])
    record |= {"solved": False, "optimal": False, "error": answer.error, "input": task.text}
    if task.board:
        solvable = False if answer.code == NO_SOLUTION else None
        record |= {"shape": task.grid.shape, "board": list(task.board), "goal": list(task.goal), "solvable": solvable}
    return record


def _line(answer: Answer, args: argparse.Namespace) -> str:
    """One of many answers in one line."""
    solution = answer.solution
    counts = f"{solution.generated:,} generated, {solution.seconds:.3f} s"
    if not solution.solved:
        return f"{answer.task.name}: {_given_up(solution)} ({counts})"
    number = f", {len(solution.solutions):,} solutions" if solution.solutions else ""
    moves = solution.letters(solution.tiles, args.moves)
    return f"{answer.task.name}: {_moves(solution.length)}{number} {moves} ({counts})"


def _given_up(solution: Solution) -> str:
    return f"no solution has fewer than {_moves(solution.lower_bound)}, {LIMITS[solution.stopped]}"


def _moves(count: int) -> str:
    return f"{count} move{'s' * (count != 1)}"


def _described(solution: Solution, args: argparse.Namespace) -> Iterator[str]:
    """One answer in full."""
    grid = solution.grid
    boards = (draw_board(grid, solution.board).splitlines(), draw_board(grid, solution.goal).splitlines())
    middle = grid.rows // 2
    for row, (left, right) in enumerate(zip(*boards, strict=True)):
        yield f"    {left}  {'->' if row == middle else '  '}  {right}"
    if solution.solved:
        who = "tiles move" if args.moves == "tile" else "the blank moves"
        yield f"{_moves(solution.length)}, proven shortest ({who} U D L R):"
        yield solution.letters(solution.tiles, args.moves) or "none: this is the goal"
    else:
        yield _given_up(solution)
    if solution.solutions:
        yield f"{len(solution.solutions):,} shortest solutions in all"
    if args.show:
        for number, board in enumerate(solution.boards()):
            yield f"\nafter {_moves(number)}:\n{draw_board(grid, board)}" if number else f"\n{draw_board(grid, board)}"
        yield ""
    yield f"{solution.algorithm} with {solution.heuristic}, {solution.h_start} at the start"
    yield f"{'bound':>7} {'expanded':>15} {'generated':>15} {'seconds':>9}"
    for iteration in solution.iterations:
        yield f"{iteration.bound:7} {iteration.expanded:15,} {iteration.generated:15,} {iteration.seconds:9.3f}"
    yield f"{'all':>7} {solution.expanded:15,} {solution.generated:15,} {solution.seconds:9.3f}"
    speed = f"{_millions(solution.generated / solution.seconds)} generated/s" if solution.seconds else ""
    yield speed + ("" if solution.stored is None else f", {solution.stored:,} boards in memory")


# ---- random -------------------------------------------------------------------------------------


def run_random(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape)
    goal = goal_board(grid, "last" if args.goal is None else args.goal)
    chance = random.Random(args.seed)
    for _ in range(args.number):
        print(format_board(grid, random_board(grid, goal, chance)))
    return SOLVED


def run_bench(args: argparse.Namespace) -> int:
    from .bench import run_rows

    return run_rows(args.rows, args.folder, args.json)


# ---- the parser ---------------------------------------------------------------------------------


def _parser() -> Parser:
    parser, command = new_parser(
        "pdb-solver",
        "Proven shortest solutions of sliding-tile puzzles.",
        "pdb-solver solve '15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0' --goal first",
        EXIT_CODES,
    )

    solve = command(
        "solve",
        run_solve,
        "find a shortest solution of one board or of many",
        "pdb-solver solve '1 2 3 / 4 5 6 / 0 7 8'",
    )
    solve.add_argument(
        "board",
        nargs="*",
        metavar="BOARD",
        help="numbers row by row, the blank as 0, _, . or x; rows may be separated by / or ; (default: stdin)",
    )
    solve.add_argument("--file", type=Path, metavar="FILE", help="read boards from a file: one a line, or matrices")
    solve.add_argument("--set", choices=SETS, help="solve a published set")
    solve.add_argument("--shape", metavar="RxC", help="rows and columns, as in 3x4, where they cannot be guessed")
    goal_option(solve)
    solve.add_argument(
        "--heuristic",
        metavar="NAME",
        help=f"{', '.join(HEURISTICS)}; pdb:NAME is a certain database, max:A+B the largest of several "
        "(default: the best there is)",
    )
    solve.add_argument(
        "--no-reflection", action="store_true", help="look boards up in the database in one way only, not turned"
    )
    solve.add_argument("--algorithm", choices=SEARCHES, default="ida-star", help="the search (default: %(default)s)")
    solve.add_argument(
        "--order",
        choices=ORDERS,
        help="in which ida-star tries moves: fixed (blank up, left, right, down, with the blank's home turned to the "
        "first cell) or by value (default: by value with bits databases, else fixed)",
    )
    threads_option(solve)
    solve.add_argument("--jobs", type=positive, metavar="N", help="solve N of many boards at a time (default: 1)")
    solve.add_argument("--time-limit", type=seconds_above_0, metavar="SECONDS", help="give up on a board after this")
    solve.add_argument("--node-limit", type=number_above_0, metavar="N", help="give up after so many boards generated")
    solve.add_argument(
        "--memory-limit",
        type=parse_size,
        metavar="SIZE",
        help="memory for the boards of a search with a-star, as in 4G (default: half of what is free, over all jobs)",
    )
    solve.add_argument("--all", action="store_true", help="count all shortest solutions; --json lists them")
    solve.add_argument(
        "--moves", choices=("tile", "blank"), default="tile", help="what the letters speak of (default: %(default)s)"
    )
    solve.add_argument("--show", action="store_true", help="print the boards along the way")
    solve.add_argument(
        "--quiet",
        action="store_true",
        help="print the moves alone; of many boards one line each, '-' without a solution",
    )
    solve.add_argument("--json", action="store_true", help="one JSON object a board")
    folder_option(solve)

    scramble = command(
        "random", run_random, "print boards that can be solved, drawn evenly", "pdb-solver random 4x4 -n 10 --seed 1"
    )
    scramble.add_argument("shape", metavar="RxC", help="rows and columns, as in 4x4")
    scramble.add_argument(
        "-n", "--number", type=number_above_0, default=1, metavar="N", help="how many (default: %(default)s)"
    )
    scramble.add_argument("--seed", type=int, help="a number that makes the draw repeatable")
    goal_option(scramble)

    bench = command("bench", run_bench, "measure how fast boards are solved here", "pdb-solver bench manhattan")
    bench.add_argument(
        "rows", nargs="*", metavar="ROW", help="what to measure (default: all; an unknown name lists them)"
    )
    folder_option(bench)
    bench.add_argument("--json", action="store_true", help="one JSON object a row")
    return parser


def goal_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--goal",
        metavar="GOAL",
        help=f"{', '.join(GOALS)} or a board: where the tiles and the blank belong (default: last)",
    )


def main(argv: list[str] | None = None) -> int:
    return run("pdb-solver", _parser, argv, "nothing is lost, and nothing is left behind")
