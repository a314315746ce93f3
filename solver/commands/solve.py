"""``pdb-solver solve``: one board answered in full, or many in a line each.

Whatever is wrong with one of many boards becomes its answer, and the others go on; whatever is wrong with all of them
is said once, before the first search. The exit code is the most severe of all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event
from typing import NamedTuple

from pdb_builder.base.errors import ClusterError, ClusterLost, InputError, Unsolvable
from pdb_builder.base.machine import default_threads
from pdb_builder.shell import notice, with_flags

from ..cluster.boards import boards_at_a_time, solver_on
from ..cluster.connection import Connection, connected_if_given
from ..heuristics import check_name
from ..heuristics.preparing import Notify
from ..jobs import map_jobs
from ..search import default_memory
from ..search.outcome import INTERRUPT, PROVEN, OnProgress
from ..settings import Settings, check_settings
from ..show.film import check_svg, save_svg
from ..show.gif import check_gif, save_gif
from ..show.playback import SPEED
from ..show.terminal import animate, obstacle
from ..solution import Solution
from ..solving import solve_board
from .boards import NO_BOARD, InputBoard, Puzzle, input_boards
from .exit_codes import BAD_INPUT, INTERRUPTED, LIMIT, NO_SOLUTION, SOLVED, most_severe
from .progress import BoardsBar, SearchMeter
from .solution_text import given_up, solution_in_full, solution_in_line

NO_MOVES = "-"  # for one of many boards without a solution, so that --quiet prints one line per board
PICTURES = {"gif": (check_gif, save_gif), "svg": (check_svg, save_svg)}  # by the options that name their files
RECORD_KEYS = ("shape", "wrap", "board", "goal", "solvable", "solved", "optimal", "length", "moves")


class Answer(NamedTuple):
    """The answer to a board: a solution or an error."""

    given: InputBoard
    code: int
    puzzle: Puzzle | None = None
    solution: Solution | None = None
    error: str | None = None

    def as_dict(self, of: str, in_runs: bool) -> dict:
        """The answer for JSON. The letters name the moves ``of`` the tile or the blank, perhaps with run lengths."""
        if self.solution:
            return self.given.source | {"solvable": True} | self.solution.as_dict(of, in_runs)
        record = self.given.source | dict.fromkeys(RECORD_KEYS)
        record |= {"solved": False, "optimal": False, "error": self.error, "input": self.given.text}
        if self.puzzle:
            grid, board, goal = self.puzzle
            record |= {"shape": grid.shape, "wrap": grid.wrap, "board": list(board), "goal": list(goal)}
            record["solvable"] = False if self.code == NO_SOLUTION else None
        return record


def run(args: argparse.Namespace) -> int:
    if args.json + args.quiet + args.show + args.animate > 1:
        raise InputError("--json, --quiet, --show and --animate exclude each other: give one of them")
    boards, several = input_boards(args, answered=args.journal is None)
    _check_showing(args, several)
    if args.journal is not None:
        boards = _the_only(boards)
    settings, interrupt, notify = _settings(args, several), Event(), _notice_once()
    with connected_if_given(args.cluster, args.folder) as cluster:
        return _solve_all(args, boards, several, settings, interrupt, notify, cluster)


def _solve_all(
    args: argparse.Namespace,
    boards: Iterable[InputBoard],
    several: bool,
    settings: Settings,
    interrupt: Event,
    notify: Notify,
    cluster: Connection | None,
) -> int:
    solver: Callable[..., Solution] = partial(solve_board, cluster=cluster)
    if not several:
        with SearchMeter(silent=args.quiet or args.json) as meter:
            answer = _solve(next(iter(boards)), args, settings, meter.report, notify, interrupt, solver, False)
        try:
            return _print_answer(answer, args, notify)
        finally:  # even if nobody reads what is printed
            _save_pictures(answer, args)
    if args.heuristic is not None:
        check_name(args.heuristic)
    check_settings(settings)
    with BoardsBar(len(boards) if isinstance(boards, list) else None, hidden=args.animate) as bar:
        if args.journal is None:  # the file is here
            solver = solve_board if cluster is None else solver_on(cluster, solve_board, notify)
        jobs = args.jobs or (1 if cluster is None else boards_at_a_time(cluster))

        def work(board: InputBoard) -> Answer:
            return _solve(board, args, settings, bar.report, notify, interrupt, solver, True)

        return _print_answers(map_jobs(boards, work, jobs, interrupt), args, notify, bar)


def _the_only(boards: Iterable[InputBoard]) -> list[InputBoard]:
    """The board that a journal is of. Raises ``InputError`` if there are more; one after it is waited for."""
    first = list(islice(boards, 2))
    if len(first) > 1:
        other = first[1].name
        raise InputError(f"--journal is for the search of one board, and there is another, {other}: give one of them")
    return first


def _settings(args: argparse.Namespace, several: bool) -> Settings:
    jobs = args.jobs or 1
    memory, threads = args.memory_limit, args.threads
    if several and args.cluster is not None:  # a worker solves as many boards as it has threads
        threads = threads or 1
    elif memory is None and jobs > 1:
        memory = default_memory(jobs)
    return Settings(
        heuristic=args.heuristic,
        algorithm=args.algorithm,
        threads=threads or max(1, default_threads() // jobs),
        time_limit=args.time_limit,
        node_limit=args.node_limit,
        memory_limit=memory,
        every=args.all,
        order=args.order,
        folder=args.folder,
        weight=args.weight,
        width=args.width,
        depth=args.depth,
        pruning=args.pruning,
        huge_pages=args.huge_pages,
        direction=args.direction,
        both_ends=args.both_ends,
        upper_bound=args.upper_bound,
        prove_at_least=args.prove_at_least,
        journal=args.journal,
        rank=args.rank,
    )


def _notice_once() -> Notify:
    """A function that gives each notice the first time only."""
    given: set[str] = set()

    def notify(text: str) -> None:
        if text not in given:
            given.add(text)
            notice(with_flags(text))

    return notify


def _solve(
    given: InputBoard,
    args: argparse.Namespace,
    settings: Settings,
    progress: OnProgress,
    notify: Notify,
    interrupt: Event,
    solver: Callable[..., Solution],
    several: bool,
) -> Answer:
    puzzle = None
    try:
        puzzle = given.puzzle(args)
        solution = solver(*puzzle, settings, progress, notify, interrupt)
    except Unsolvable as error:
        return Answer(given, NO_SOLUTION, puzzle, error=str(error))
    except InputError as error:
        if isinstance(error, ClusterError) and several:
            raise  # it concerns all boards
        code = LIMIT if isinstance(error, ClusterLost) else BAD_INPUT
        return Answer(given, code, puzzle, error=with_flags(str(error)))
    code = {None: SOLVED, PROVEN: SOLVED, INTERRUPT: INTERRUPTED}.get(solution.stopped, LIMIT)
    return Answer(given, code, puzzle, solution)


# ---- printing -----------------------------------------------------------------------------------


def _print_answer(answer: Answer, args: argparse.Namespace, notify: Notify) -> int:
    """Print the answer to the only board; returns the exit code."""
    solution = answer.solution
    if args.json:
        print(json.dumps(answer.as_dict(args.moves, args.compact)))
    elif solution is None:
        notice(f"pdb-solver: {'error: ' * (answer.code == BAD_INPUT)}{answer.error}")
    elif not args.quiet:
        if not _show(solution, args, notify):
            notice("interrupted: the moves were not shown to the end")
            return INTERRUPTED
    elif solution.solved:
        for tiles in solution.solutions or [solution.tiles]:
            print(solution.letters(tiles, args.moves, args.compact))
    else:
        notice(f"pdb-solver: {given_up(solution)}")
    return answer.code


def _print_answers(answers: Iterator[Answer], args: argparse.Namespace, notify: Notify, bar: BoardsBar) -> int:
    """Print the answers as they come; returns the most severe exit code."""
    codes = set()
    try:
        for answer in answers:
            codes.add(answer.code)
            bar.clear()
            _print_one_of_many(answer, args, notify)
            bar.advance()
    except KeyboardInterrupt:
        codes.add(INTERRUPTED)
        bar.clear()
        notice("interrupted: the boards after these were not started")
    except ClusterLost as error:
        codes.add(LIMIT)
        bar.clear()
        notice(f"pdb-solver: {error}")
    if not codes:
        raise InputError(NO_BOARD)
    return most_severe(codes)


def _print_one_of_many(answer: Answer, args: argparse.Namespace, notify: Notify) -> None:
    name, solution = answer.given.name, answer.solution
    if args.json:
        print(json.dumps(answer.as_dict(args.moves, args.compact)), flush=True)
    elif solution is None:
        notice(f"{name}: {answer.error}")
        if args.quiet:
            print(NO_MOVES, flush=True)
    elif args.show or args.animate:
        print(f"{name}:", flush=True)
        if not _show(solution, args, notify):
            raise KeyboardInterrupt
    elif not args.quiet:
        print(f"{name}: {solution_in_line(solution, args.moves, args.compact)}", flush=True)
    elif solution.solved:
        print(solution.letters(solution.tiles, args.moves, args.compact), flush=True)
    else:
        notice(f"{name}: {given_up(solution)}")
        print(NO_MOVES, flush=True)


# ---- showing ------------------------------------------------------------------------------------


def _check_showing(args: argparse.Namespace, several: bool) -> None:
    """Raise ``InputError`` for what cannot be shown, before the search."""
    if args.speed is not None and not args.animate and args.gif is None and args.svg is None:
        raise InputError("--speed is for --animate, --gif and --svg: give one of them, or leave it out")
    for option, path, (check, _) in _pictures(args):
        if several:
            raise InputError(f"--{option} shows the solution of one board: write the board after the command")
        check(path)


def _pictures(args: argparse.Namespace) -> Iterator[tuple[str, Path, tuple[Callable, Callable]]]:
    """The files to draw into, each with its option and what checks and draws it."""
    return ((option, path, PICTURES[option]) for option in PICTURES if (path := getattr(args, option)) is not None)


def _show(solution: Solution, args: argparse.Namespace, notify: Notify) -> bool:
    """Play a solution if asked to, then print it in full; returns False if the playback was interrupted."""
    show_boards, complete = args.show, True
    if args.animate and solution.solved:
        if reason := obstacle(solution.grid, sys.stdout):
            notify(f"the boards are printed, not played: {reason}")
            show_boards = True
        else:
            complete = _play(solution, args)
    print(*solution_in_full(solution, args.moves, args.compact, show_boards), sep="\n", flush=True)
    return complete


def _play(solution: Solution, args: argparse.Namespace) -> bool:
    """Play a solution in the terminal; returns False if that was interrupted."""
    try:
        # From stdin, perhaps, and then the next board may be typed.
        reading = args.scramble is None and args.board in ([], ["-"])
        animate(solution, sys.stdout, args.speed or SPEED, of=args.moves, keep_input=reading)
        complete = True
    except KeyboardInterrupt:
        complete = False
    print()  # an empty line between the animated board and the text
    return complete


def _save_pictures(answer: Answer, args: argparse.Namespace) -> None:
    """Draw the solution into files if asked to."""
    if answer.solution is None:
        return
    for _, path, (_, save) in _pictures(args):
        if not answer.solution.solved:
            notice(f"{path} was not written: there is no solution to show")
            continue
        save(answer.solution, path, args.speed or SPEED)
        notice(f"{path} is written: {path.stat().st_size / 1000:,.0f} kB")
