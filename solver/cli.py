"""The command line of the solver: ``pdb-solver solve | compare | check | distribution | random | bench``.

Each command is a function ``run_x(args)`` that prints its answer to stdout and returns the exit
code; notices and progress go to stderr. Nothing that imports numba is imported before a command runs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import NamedTuple

from pdb_builder.grid import Grid, InputError
from pdb_builder.machine import default_threads
from pdb_builder.shell import Parser, folder_option, new_parser, notice, positive, run, threads_option

from .arguments import (
    BAD_INPUT,
    EXIT_CODES,
    INTERRUPTED,
    LIMIT,
    NO_BOARD,
    NO_SOLUTION,
    SOLVED,
    Task,
    asked_boards,
    asked_goal,
    board_options,
    goal_option,
    limit_options,
    number_above_0,
    number_from_1,
    number_list,
    showing_options,
    whole_number,
    wrap_option,
)
from .board import draw_board, draw_way, format_board, parse_board, random_board
from .heuristics import HEURISTICS, check_name
from .jobs import PULSE, answers
from .search import SEARCHES, default_memory
from .showing import SPEED, animate, obstacle
from .solving import (
    DEFAULT_SECONDS,
    DEFAULT_WEIGHT,
    ORDERS,
    PROVABLE,
    Settings,
    Solution,
    Unsolvable,
    check_settings,
    solve_board,
)
from .tables import millions

GRAVEST = (INTERRUPTED, BAD_INPUT, LIMIT, NO_SOLUTION, SOLVED)
NO_MOVES = "-"  # for a board without a solution among many, so that there is one line a board
LIMITS = {
    "time": "the time limit was reached",
    "nodes": "the node limit was reached",
    "memory": "the memory limit was reached: take ida-star, or give more with --memory-limit",
    "depth": "the depth limit was reached: give a greater --depth, or leave it out",
    "width": "the beam lost all ways to the goal: give a greater --width, or leave it out",
    "interrupt": "interrupted",
}


# ---- solve --------------------------------------------------------------------------------------


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
        order=args.order,
        folder=args.folder,
        weight=args.weight,
        width=args.width,
        depth=args.depth,
    )


class Answer(NamedTuple):
    """What became of a task: a solution or an error."""

    task: Task
    code: int
    solution: Solution | None = None
    error: str | None = None


def _solve(task: Task, args: argparse.Namespace, settings: Settings, report, interrupt: Event) -> Answer:
    try:
        if task.board is None:
            grid, board = parse_board(task.text, task.grid, args.wrap)
            goal = asked_goal(args, grid)
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
    """One line on stderr that tells how far a search is, if stderr is a terminal, and one for each better solution."""

    def __init__(self, silent: bool = False) -> None:
        from tqdm import tqdm

        self.bar = tqdm(bar_format="{desc}", disable=None, leave=False)
        self.last = 0.0
        self.first: tuple[float, int] | None = None  # when the search began to report, and how far it was then
        self.silent = silent  # about better solutions
        self.length: int | None = None

    def __call__(self, progress) -> None:
        now = time.monotonic()
        self.first = self.first or (now, progress.generated)
        if progress.length != self.length:
            self.length = progress.length
            if not self.silent:
                self.bar.clear()
                notice(f"{_moves(self.length)} after {now - self.first[0]:.1f} s")
        if now - max(self.last, self.first[0]) < PULSE or self.bar.disable:
            return
        self.last = now
        speed = (progress.generated - self.first[1]) / (now - self.first[0])
        share = "" if progress.share is None else f" {progress.share:4.0%} done"
        stored = "" if progress.stored is None else f", {millions(progress.stored)} stored"
        where = (
            f"bound {progress.bound}" if progress.width is None else f"width {progress.width:,}, level {progress.bound}"
        )
        self.bar.set_description_str(
            f"{where}{share}: {millions(progress.generated)} generated{stored}, {millions(speed)}/s"
        )

    def close(self) -> None:
        self.bar.close()


def _check_showing(args: argparse.Namespace, many: bool) -> None:
    """Raise ``InputError`` for what cannot be shown, before the search."""
    if args.speed is not None and not args.animate and args.gif is None:
        raise InputError("--speed is for --animate and --gif: give one of them, or leave it out")
    if args.gif is not None:
        from .picture import check_possible

        if many:
            raise InputError("--gif shows the solution of one board: write the board after the command")
        check_possible(args.gif)


def _played(solution: Solution, args: argparse.Namespace) -> bool:
    """Play a solution if that is asked for; False if it was interrupted. What cannot be played will be printed."""
    if not (args.animate and solution.solved):
        return True
    reason = obstacle(solution.grid, sys.stdout)
    args.show = reason is not None  # --animate excludes --show, so it is free to say so, board by board
    if reason:
        _once(f"the boards are printed, not played: {reason}")
        return True
    try:
        animate(solution, sys.stdout, args.speed or SPEED, of=args.moves)
        whole = True
    except KeyboardInterrupt:
        whole = False
    print()  # between the moving board and what is printed of it
    return whole


def _draw(answer: Answer, args: argparse.Namespace) -> None:
    """Draw a solution if that is asked for."""
    if args.gif is None or answer.solution is None:
        return
    if not answer.solution.solved:
        notice(f"{args.gif} was not written: there is no solution to show")
        return
    from .picture import save_gif

    save_gif(answer.solution, args.gif, args.speed or SPEED)
    notice(f"{args.gif} is written: {args.gif.stat().st_size / 1000:,.0f} kB")


def run_solve(args: argparse.Namespace) -> int:
    if args.json + args.quiet + args.show + args.animate > 1:
        raise InputError("--json, --quiet, --show and --animate exclude each other: give one of them")
    tasks, many = asked_boards(args)
    _check_showing(args, many)
    settings = _settings(args)
    interrupt = Event()
    if many:  # what is wrong with all boards is said once, not for each
        if args.heuristic is not None:
            check_name(args.heuristic)
        if settings.algorithm is not None:
            check_settings(settings)
    if not many:
        meter = Meter(silent=args.quiet or args.json)
        try:
            answer = _solve(next(iter(tasks)), args, settings, meter, interrupt)
        finally:
            meter.close()
        code = _print_one(answer, args)
        _draw(answer, args)
        return code
    found = answers(tasks, lambda task: _solve(task, args, settings, None, interrupt), args.jobs or 1, interrupt)
    return _print_many(found, args, len(tasks) if isinstance(tasks, list) else None)


def _print_one(answer: Answer, args: argparse.Namespace) -> int:
    solution = answer.solution
    if args.json:
        print(json.dumps(_record(answer, args)))
    elif solution is None:
        notice(f"pdb-solver: {'error: ' * (answer.code == BAD_INPUT)}{answer.error}")
    elif not args.quiet:
        whole = _played(solution, args)
        print("\n".join(_described(solution, args)))
        if not whole:
            notice("interrupted: the moves were not shown to the end")
            return INTERRUPTED
    elif solution.solved:
        for tiles in solution.solutions or [solution.tiles]:
            print(solution.letters(tiles, args.moves))
    else:
        notice(f"pdb-solver: {_given_up(solution)}")
    return answer.code


def _print_many(found: Iterator[Answer], args: argparse.Namespace, count: int | None) -> int:
    from tqdm import tqdm

    codes = set()
    try:
        # A bar would be drawn into the moving board.
        with tqdm(total=count, unit=" boards", disable=args.animate or None, leave=False) as bar:
            for answer in found:
                codes.add(answer.code)
                bar.clear()
                if args.json:
                    print(json.dumps(_record(answer, args)), flush=True)
                elif answer.solution is None:
                    notice(f"{answer.task.name}: {answer.error}")
                    if args.quiet:
                        print(NO_MOVES, flush=True)
                elif args.show or args.animate:
                    print(f"{answer.task.name}:", flush=True)
                    whole = _played(answer.solution, args)
                    print(*_described(answer.solution, args), sep="\n", flush=True)
                    if not whole:
                        raise KeyboardInterrupt
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
        raise InputError(NO_BOARD)
    return next(code for code in GRAVEST if code in codes)


def _record(answer: Answer, args: argparse.Namespace) -> dict:
    """An answer for JSON."""
    task, solution = answer.task, answer.solution
    record = task.extra or {}
    if solution:
        return record | {"solvable": True} | solution.as_dict(args.moves)
    record |= dict.fromkeys(["shape", "wrap", "board", "goal", "solvable", "solved", "optimal", "length", "moves"])
    record |= {"solved": False, "optimal": False, "error": answer.error, "input": task.text}
    if task.board:
        solvable = False if answer.code == NO_SOLUTION else None
        record |= {"shape": task.grid.shape, "wrap": task.grid.wrap}
        record |= {"board": list(task.board), "goal": list(task.goal), "solvable": solvable}
    return record


def _line(answer: Answer, args: argparse.Namespace) -> str:
    """One of many answers in one line."""
    solution = answer.solution
    counts = f"{solution.generated:,} generated, {solution.seconds:.3f} s"
    if not solution.solved:
        return f"{answer.task.name}: {_given_up(solution)} ({counts})"
    number = f", {len(solution.solutions):,} solutions" if solution.solutions else ""
    moves = solution.letters(solution.tiles, args.moves)
    proof = "" if solution.optimal else f", {solution.proof},"
    return f"{answer.task.name}: {_moves(solution.length)}{number}{proof} {moves} ({counts})"


def _iterations(solution: Solution) -> Iterator[str]:
    """A table of what each bound took, or each width of a beam and the solutions it found."""
    improvements = list(solution.improvements)
    first, found = ("width", f" {'moves':>7}") if solution.algorithm == "beam" else ("bound", "")
    yield f"{first:>7}{found} {'expanded':>15} {'generated':>15} {'seconds':>9}"
    for one in solution.iterations:
        better = bool(improvements) and (improvements[0].width or 0) == one.bound
        moves = f" {improvements.pop(0).length if better else '-':>7}" if found else ""
        yield f"{one.bound or 'bound':>7}{moves} {one.expanded:15,} {one.generated:15,} {one.seconds:9.3f}"
    moves = f" {'-' if solution.length is None else solution.length:>7}" if found else ""
    yield f"{'all':>7}{moves} {solution.expanded:15,} {solution.generated:15,} {solution.seconds:9.3f}"


def _proven(solution: Solution) -> str:
    """What is proven of a solution."""
    if solution.optimal:
        return "proven shortest"
    return f"{solution.proof}, ratio {solution.ratio:.3f}"


def _given_up(solution: Solution) -> str:
    why = LIMITS[solution.stopped]
    if solution.stopped == "memory" and solution.algorithm == "beam":
        why = "the beam does not fit into memory: give a smaller --width, or more with --memory-limit"
    return f"no solution has fewer than {_moves(solution.lower_bound)}, {why}"


def _moves(count: int) -> str:
    return f"{count} move{'s' * (count != 1)}"


def _described(solution: Solution, args: argparse.Namespace) -> Iterator[str]:
    """One answer in full."""
    grid = solution.grid
    yield draw_way(grid, solution.board, solution.goal)
    if grid.wrap:
        yield f"{grid}: tiles slide across the edges"
    if solution.solved:
        who = "tiles move" if args.moves == "tile" else "the blank moves"
        yield f"{_moves(solution.length)}, {_proven(solution)} ({who} U D L R):"
        yield solution.letters(solution.tiles, args.moves) or "none: this is the goal"
        if solution.stopped:
            yield f"not the last word: {LIMITS[solution.stopped]}"
    else:
        yield _given_up(solution)
    if solution.solutions:
        yield f"{len(solution.solutions):,} shortest solutions in all"
    if args.show:
        for number, board in enumerate(solution.boards()):
            yield f"\nafter {_moves(number)}:\n{draw_board(grid, board)}" if number else f"\n{draw_board(grid, board)}"
        yield ""
    if solution.heuristic == "none":
        yield f"{solution.algorithm}, without a heuristic"
    else:
        yield f"{solution.algorithm} with {solution.heuristic}, {solution.h_start} at the start"
    yield from _iterations(solution)
    speed = f"{millions(solution.generated / solution.seconds)} generated/s" if solution.seconds else ""
    yield speed + ("" if solution.stored is None else f", {solution.stored:,} boards in memory")


# ---- random -------------------------------------------------------------------------------------


def run_random(args: argparse.Namespace) -> int:
    grid = Grid.parse(args.shape, args.wrap)
    goal = asked_goal(args, grid)
    chance = random.Random(args.seed)
    for _ in range(args.number):
        print(format_board(grid, random_board(grid, goal, chance)))
    return SOLVED


def run_compare(args: argparse.Namespace) -> int:
    from .compare_command import run_compare as compare

    return compare(args)


def run_check(args: argparse.Namespace) -> int:
    from .facts_command import run_check as check

    return check(args)


def run_distribution(args: argparse.Namespace) -> int:
    from .facts_command import run_distribution as distribution

    return distribution(args)


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
        "find a shortest solution of one board or of many, or a good one soon",
        "pdb-solver solve '1 2 3 / 4 5 6 / 0 7 8'",
    )
    board_options(solve)
    wrap_option(solve)
    solve.add_argument(
        "--heuristic",
        metavar="NAME",
        help=f"{', '.join(HEURISTICS)}; pdb:NAME is a certain database, max:A+B the largest of several "
        "(default: the best there is)",
    )
    solve.add_argument(
        "--algorithm",
        choices=SEARCHES,
        metavar="NAME",
        help=f"the search: {'; '.join(f'{name}, {search.summary}' for name, search in SEARCHES.items())} "
        f"(default: ida-star, and beam for boards of more than {PROVABLE} cells)",
    )
    solve.add_argument(
        "--weight",
        type=number_from_1,
        metavar="W",
        help=f"how many times weighted-a-star counts the heuristic (default: {DEFAULT_WEIGHT})",
    )
    solve.add_argument(
        "--width",
        type=number_above_0,
        metavar="N",
        help="boards of a level that beam keeps (default: more and more, until --time-limit, "
        f"{DEFAULT_SECONDS:g} seconds if there is none)",
    )
    solve.add_argument(
        "--depth", type=number_above_0, metavar="N", help="how deep dfs goes (default: deeper and deeper)"
    )
    solve.add_argument(
        "--order",
        choices=ORDERS,
        help="in which ida-star tries moves: fixed (blank up, left, right, down, with the blank's home turned to the "
        "first cell) or by value (default: by value with bits databases, else fixed)",
    )
    threads_option(solve)
    solve.add_argument("--jobs", type=positive, metavar="N", help="solve N of many boards at a time (default: 1)")
    limit_options(solve)
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
    showing_options(solve)
    folder_option(solve)

    compare = command(
        "compare",
        run_compare,
        "solve the same boards by several methods, and show what each of them takes",
        "pdb-solver compare --set korf100 --only 1-20 --heuristics manhattan,pdb",
    )
    compare_options(compare)

    check = command(
        "check", run_check, "say whether boards can be solved, and why", "pdb-solver check '1 2 3 / 4 5 6 / 8 7 0'"
    )
    board_options(check)
    wrap_option(check)
    check.add_argument("--json", action="store_true", help="one JSON object a board")

    census = command(
        "distribution",
        run_distribution,
        "count the boards at each distance from a goal, and list the farthest",
        "pdb-solver distribution 3x3",
    )
    census.add_argument("shape", metavar="RxC", help="rows and columns, at most 3x4, 2x6, 4x3 or 6x2")
    goal_option(census)
    wrap_option(census)
    threads_option(census)
    census.add_argument("--json", action="store_true", help="one JSON object; of the farthest boards at most 20, too")

    scramble = command(
        "random", run_random, "print boards that can be solved, drawn evenly", "pdb-solver random 4x4 -n 10 --seed 1"
    )
    scramble.add_argument("shape", metavar="RxC", help="rows and columns, as in 4x4")
    scramble.add_argument(
        "-n", "--number", type=number_above_0, default=1, metavar="N", help="how many (default: %(default)s)"
    )
    scramble.add_argument("--seed", type=whole_number, metavar="N", help="a number that makes the draw repeatable")
    goal_option(scramble)
    wrap_option(scramble)

    bench = command("bench", run_bench, "measure how fast boards are solved here", "pdb-solver bench manhattan")
    bench.add_argument(
        "rows", nargs="*", metavar="ROW", help="what to measure (default: all but beam-...; an unknown name lists them)"
    )
    folder_option(bench)
    bench.add_argument("--json", action="store_true", help="one JSON object a row")
    return parser


def compare_options(sub: argparse.ArgumentParser) -> None:
    board_options(sub)
    wrap_option(sub)
    sub.add_argument("--random", metavar="RxC", help="take random boards of this shape")
    sub.add_argument("-n", "--number", type=number_above_0, metavar="N", help="how many random boards (default: 100)")
    sub.add_argument("--seed", type=whole_number, metavar="N", help="which random boards (default: 1)")
    sub.add_argument(
        "--only",
        type=number_list,
        metavar="NUMBERS",
        help="a part of the boards, by number in the set or line of the file, as in 1-20,33",
    )
    sub.add_argument(
        "--heuristics",
        metavar="A,B,...",
        help="the ones to compare, written as for 'solve --heuristic' (default: manhattan,linear-conflict,pdb, without "
        "linear-conflict on wrapped boards, without pdb on boards of more than 64 cells)",
    )
    sub.add_argument(
        "--algorithms",
        default="ida-star",
        metavar="A,B,...",
        help=f"{', '.join(SEARCHES)}; ida-star:fixed and ida-star:value set the order of moves, "
        "weighted-a-star:1.5 the weight, beam:10000 the width, dfs:30 a depth limit (default: %(default)s)",
    )
    sub.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of a search (default: 1)")
    sub.add_argument("--jobs", type=positive, metavar="N", help="searches at a time (default: cores / threads)")
    limit_options(sub)
    sub.add_argument("--each", action="store_true", help="print a row for each board, too")
    sub.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    sub.add_argument("--csv", type=Path, metavar="FILE", help="write a line for each board and method")
    sub.add_argument(
        "--resume", type=Path, metavar="FILE", help="the same, and if the file is there, do only what it lacks"
    )
    sub.add_argument("--plot", type=Path, metavar="FILE", help="draw it, as .png or .svg (needs matplotlib)")
    sub.add_argument("--report", type=Path, metavar="FILE", help="write an HTML page of it (needs matplotlib)")
    folder_option(sub)


def main(argv: list[str] | None = None) -> int:
    return run("pdb-solver", _parser, argv, "nothing is lost, and nothing is left behind")
