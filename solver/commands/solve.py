"""``pdb-solver solve``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from threading import Event
from typing import NamedTuple

from tqdm import tqdm

from pdb_builder.base.errors import InputError, Unsolvable
from pdb_builder.base.machine import default_threads
from pdb_builder.shell import notice

from ..board import draw_board, draw_way, parse_board
from ..comparison.tables import millions
from ..heuristics import check_name
from ..jobs import PULSE, answers
from ..search import default_memory
from ..settings import Settings, check_settings
from ..show.gif import check_possible, save_gif
from ..show.terminal import SPEED, animate, obstacle
from ..solution import Solution
from ..solving import solve_board
from .boards import BAD_INPUT, INTERRUPTED, LIMIT, NO_BOARD, NO_SOLUTION, SOLVED, Task, asked_boards, asked_goal

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

    save_gif(answer.solution, args.gif, args.speed or SPEED)
    notice(f"{args.gif} is written: {args.gif.stat().st_size / 1000:,.0f} kB")


def run(args: argparse.Namespace) -> int:
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
