"""``pdb-solver bench``: how fast boards are solved, one row per measurement.

Searches are timed without compiling or opening anything, best of a few runs where they are short. The rows of one run
share the machine and the hour, which makes them comparable. Unless a row says otherwise, IDA* begins from the start and
never undoes a move, and no more, as it always did here. A row is a function that returns its figures by name; its
docstring is printed with them.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from pdb_builder.assemble import build_database
from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import default_threads, peak_memory
from pdb_builder.base.processes import run_python
from pdb_builder.grid import Grid
from pdb_builder.pattern import NAMED, Spec, shape_of

from ..board import format_board
from ..cluster.bundle_tasks import give_up
from ..cluster.connection import Connection, connected
from ..frame import frame_of
from ..goals import goal_board
from ..heuristics.preparing import prepare
from ..instances import load_set, random_board
from ..search import FORWARD, NEVER_UNDO
from ..search.outcome import Limits, Problem, Pruning, unreported
from ..search.playing import play_iteration
from ..search.tree import MANY_BUNDLES, Tree
from ..settings import Settings
from ..solution import Solution
from ..solving import solve_board


def _solved(name: str, chosen: slice | list[int], settings: Settings) -> list[Solution]:
    """Solve boards of a set, chosen by position or by id, and check the lengths against the published ones."""
    grid, goal, instances = load_set(name)
    picked = instances[chosen] if isinstance(chosen, slice) else [one for one in instances if one.id in chosen]
    solutions = [solve_board(grid, one.board, goal, settings) for one in picked]
    wrong = [one.id for one, found in zip(picked, solutions, strict=True) if found.length != one.length]
    if wrong:
        raise AssertionError(f"the solutions of boards {wrong} of {name} do not have the published lengths")
    return solutions


def _seconds(solutions: list[Solution]) -> float:
    return sum(solution.seconds for solution in solutions)


def _rate(solutions: list[Solution]) -> dict:
    generated = sum(solution.generated for solution in solutions)
    return {
        "generated": generated,
        "seconds": _seconds(solutions),
        "generated_per_second": generated / _seconds(solutions),
    }


def _best(runs: int, run: Callable[[], list[Solution]]) -> list[Solution]:
    return min((run() for _ in range(runs)), key=_seconds)


def _cheapest(count: int) -> list[int]:
    """The ids of the boards of Korf's set that are easiest with Manhattan distance."""
    return [one.id for one in sorted(load_set("korf100")[2], key=lambda one: one.generated or 0)[:count]]


def _cheap_rate(heuristic: str, folder: Path) -> dict:
    """The speed of a heuristic on 40 of Korf's boards, one thread."""
    settings = Settings(heuristic, threads=1, folder=folder, pruning=NEVER_UNDO, direction=FORWARD)
    return _rate(_best(3, lambda: _solved("korf100", _cheapest(40), settings)))


def korf100(folder: Path) -> dict:
    """Korf's 100 boards with 4x4-7-8, one thread, all searches together."""
    settings = Settings("pdb:4x4-7-8", threads=1, folder=folder)
    solutions = _best(7, lambda: _solved("korf100", slice(None), settings))
    return _rate(solutions) | {"mean_generated": sum(found.generated for found in solutions) / len(solutions)}


def farthest(folder: Path) -> dict:
    """The 17 boards that need 80 moves with 4x4-7-8, one thread."""
    solutions = _solved("farthest", slice(None), Settings("pdb:4x4-7-8", threads=1, folder=folder))
    return _rate(solutions) | {"slowest_seconds": max(found.seconds for found in solutions)}


def manhattan(folder: Path) -> dict:
    """Manhattan distance on 40 of Korf's boards, one thread."""
    return _cheap_rate("manhattan", folder)


def looking_back(folder: Path) -> dict:
    """Manhattan distance on the same boards, looking back 14 moves, one thread."""
    settings = Settings("manhattan", threads=1, folder=folder, pruning=14, direction=FORWARD)
    return _rate(_best(3, lambda: _solved("korf100", _cheapest(40), settings)))


def linear_conflict(folder: Path) -> dict:
    """Linear conflict on the same boards, one thread."""
    return _cheap_rate("linear-conflict", folder)


def korf24(folder: Path) -> dict:
    """The 5x5 boards 38 and 40 of Korf & Felner with 5x5-6-6-6-6, one thread."""
    settings = Settings("pdb:5x5-6-6-6-6", threads=1, folder=folder, pruning=NEVER_UNDO, direction=FORWARD)
    return _rate(_best(3, lambda: _solved("korf24", [38, 40], settings)))


def collection(folder: Path) -> dict:
    """The 5x5 boards 38, 40 and 30 of Korf & Felner with 5x5-250M, all threads, looking back as far as is fastest."""
    return _rate(_solved("korf24", [38, 40, 30], Settings("pdb:5x5-250M", folder=folder)))


def a_star(folder: Path) -> dict:
    """A* with Manhattan distance on 20 of Korf's boards."""
    settings = Settings("manhattan", "a-star", folder=folder)
    solutions = _best(2, lambda: _solved("korf100", _cheapest(20), settings))
    expanded = sum(found.expanded for found in solutions)
    return {"expanded": expanded, "seconds": _seconds(solutions), "expanded_per_second": expanded / _seconds(solutions)}


def a_star_memory(folder: Path) -> dict:
    """The memory of A* with Manhattan distance on a board of millions of states, in a separate process."""
    code = (
        "import sys; from pathlib import Path; from solver.commands.bench import _print_a_star_memory; "
        "_print_a_star_memory(Path(sys.argv[1]))"
    )
    done = run_python("-c", code, str(folder))
    done.check_returncode()
    stored, expanded, seconds, memory = json.loads(done.stdout)
    return {
        "stored": stored,
        "seconds": seconds,
        "expanded_per_second": expanded / seconds,
        "bytes_per_state": memory / stored,
    }


def _print_a_star_memory(folder: Path) -> None:
    """What ``a_star_memory`` runs in a fresh process, whose peak memory is that of the search."""
    settings = Settings("manhattan", "a-star", folder=folder)
    _solved("korf100", _cheapest(1), settings)
    before = peak_memory()
    found = _solved("korf100", _cheapest(70)[-1:], settings)[0]
    print(json.dumps([found.stored, found.expanded, found.seconds, peak_memory() - before]))


def threads(folder: Path) -> dict:
    """All threads against one on Korf's board 60, Manhattan distance, 3.3 billion boards generated."""
    settings = Settings("manhattan", folder=folder, pruning=NEVER_UNDO, direction=FORWARD)
    alone, together = (_solved("korf100", [60], settings._replace(threads=count)) for count in (1, default_threads()))
    return {
        "threads": default_threads(),
        "seconds_of_one": _seconds(alone),
        "seconds": _seconds(together),
        "times_as_fast": _seconds(alone) / _seconds(together),
    }


def prompt(folder: Path) -> dict:
    """From prompt to prompt: to solve an average board with 4x4-7-8, and to print the help."""
    board = format_board(Grid(4, 4), load_set("korf100")[2][0].board)
    solve = ["solve", board, "--goal", "first", "--quiet", "--folder", str(folder), "--heuristic", "pdb:4x4-7-8"]

    def best(words: list[str]) -> float:
        times = []
        for _ in range(4):
            began = time.perf_counter()
            run_python("-m", "solver", *words).check_returncode()
            times.append(time.perf_counter() - began)
        return min(times)

    return {"solve_seconds": best(solve), "help_seconds": best(["--help"])}


def bidirectional(folder: Path) -> dict:
    """BAE* with Manhattan distance on the 20 boards of the row a-star, two threads, and A* beside it."""

    def figures(name: str) -> dict:
        settings = Settings("manhattan", name, folder=folder)
        solutions = _best(2, lambda: _solved("korf100", _cheapest(20), settings))
        expanded = sum(found.expanded for found in solutions)
        return {f"{name} expanded": expanded, f"{name} seconds": _seconds(solutions)}

    return figures("bidirectional") | figures("a-star")


def journal(folder: Path) -> dict:
    """What a journal costs: Korf's board 60, Manhattan distance, all threads, with and without one, in turn."""
    plain = Settings("manhattan", folder=folder, pruning=NEVER_UNDO, direction=FORWARD)
    taken: dict[str, list[float]] = {"without": [], "with": []}
    with TemporaryDirectory() as place:
        for number in range(3):
            kept = plain._replace(journal=Path(place, f"{number}.journal"))
            for name, settings in (("without", plain), ("with", kept)):
                began = time.process_time()
                _solved("korf100", [60], settings)
                taken[name].append(time.process_time() - began)
            size = Path(place, f"{number}.journal").stat().st_size
    seconds = {f"processor_seconds_{name}": min(times) for name, times in taken.items()}
    return seconds | {"costs": min(taken["with"]) / min(taken["without"]) - 1, "bytes": size}


def cluster(folder: Path) -> dict:
    """Two worker processes against two threads on Korf's board 60, Manhattan distance, and what tasks cost."""
    settings = Settings("manhattan", folder=folder, pruning=NEVER_UNDO, direction=FORWARD, threads=2)
    grid, goal, instances = load_set("korf100")
    (board,) = (one.board for one in instances if one.id == 60)
    began = time.perf_counter()
    with connected("local:2", folder) as connection:
        connection.run_everywhere(give_up, "", 0, pulse=lambda: None)
        started = time.perf_counter() - began

        def solved(cluster: Connection | None) -> tuple[Solution, float, float]:
            """A solution, and the processor seconds that this process and the workers take for it."""
            here, there = time.process_time(), workers_have_taken()
            solution = solve_board(grid, board, goal, settings, cluster=cluster)
            return solution, time.process_time() - here, workers_have_taken() - there

        def workers_have_taken() -> float:
            return sum(connection.run_everywhere(time.process_time, pulse=lambda: None).values())

        threads, by_threads, _ = solved(None)
        there, by_client, by_workers = solved(connection)
        if (threads.expanded, threads.generated) != (there.expanded, there.generated):
            raise AssertionError("the counts of threads and processes differ")
        began = time.perf_counter()
        for _ in range(20):
            connection.submit(give_up, "", 0).result()
        trip = (time.perf_counter() - began) / 20
        began, arriving = time.perf_counter(), connection.arrivals()
        for _ in range(TASKS):
            arriving.add(connection.submit(give_up, "", 0))
        for _ in arriving:
            pass
        each = (time.perf_counter() - began) / TASKS
    return {
        "seconds_to_start": started,
        "seconds_of_threads": threads.seconds,
        "seconds_of_processes": there.seconds,
        "processor_seconds_of_threads": by_threads,
        "processor_seconds_of_workers": by_workers,
        "processor_seconds_of_client": by_client,
        "seconds_of_a_round_trip": trip,
        "seconds_of_a_task": each,
    }


def workers(folder: Path) -> dict:
    """An iteration of 6000 core seconds by 1000 workers, played through on Korf's board 88, Manhattan distance."""
    return _played("korf100", 88, "manhattan", 61, folder)


def workers_5x5(folder: Path) -> dict:
    """The same on board 41 of Korf & Felner with 5x5-250M."""
    return _played("korf24", 41, "pdb:5x5-250M", 102, folder)


def _played(name: str, number: int, heuristic: str, bound: int, folder: Path) -> dict:
    """The iteration of a bound as if it took 6000 core seconds, by 1000 workers."""
    grid, goal, instances = load_set(name)
    frame = frame_of(grid, goal)
    (start,) = (frame.enter(one.board) for one in instances if one.id == number)
    prepared, looked = prepare(heuristic, grid, frame.blank, folder), PRUNING[name]
    problem = Problem(grid, frame.blank, start, prepared, pruning=Pruning(looked, looked, folder))
    tree, generated = Tree(problem, default_threads(), Limits(), unreported), [0]
    tree.wanted = MANY_BUNDLES  # as the iteration before one of this length is cut
    try:
        now = tree.outcome.lower_bound
        while now < bound:
            now = problem.at_least(tree.iterate(now))
            generated.append(tree.expected)
        seconds = CORE_SECONDS / (generated[-1] ** 2 / generated[-2])  # of a board, by the growth so far
        played = play_iteration(tree, bound, WORKERS, 1 / seconds)
    finally:
        tree.close()
    return {
        "generated": played.generated,
        "core_seconds": played.generated * seconds,
        "subtrees": played.subtrees,
        "bundles": played.bundles,
        "longest_of_the_mean": played.longest,
        **{name: figure for name, figure in played.simulated._asdict().items() if name != "limit"},
    }


def walking_distance(folder: Path) -> dict:
    """Walking distance on the boards of the row manhattan, one thread."""
    return _cheap_rate("walking-distance", folder)


TASKS = 2000
WORKERS, CORE_SECONDS = 1000, 6000
PRUNING = {"korf100": 14, "korf24": 16}  # moves that searches look back here
BEAM_SECONDS = 30
BEAM_SEED = 7


def _lengths(shape: str, count: int, folder: Path) -> dict:
    """The mean length of a beam's solutions after some seconds, left out where a board had no solution yet."""
    if shape == "5x5":
        grid, goal, instances = load_set("korf24")
        boards, optimal = [one.board for one in instances[:count]], [one.length or 0 for one in instances[:count]]
    else:
        grid, rng, optimal = Grid.parse(shape), random.Random(BEAM_SEED), []
        goal = goal_board(grid)
        boards = [random_board(grid, goal, rng) for _ in range(count)]
    heuristic = "pdb:5x5-6-6-6-6" if shape == "5x5" else "linear-conflict"
    settings = Settings(heuristic, "beam", time_limit=BEAM_SECONDS, folder=folder)
    solutions = [solve_board(grid, board, goal, settings) for board in boards]
    figures: dict = {"boards": count}
    for after in (1, 3, 10, BEAM_SECONDS + 1):  # the last pass may end a moment late
        known = [[one.length for one in found.incumbents if one.seconds <= after] for found in solutions]
        if all(known):
            figures[f"moves_after_{min(after, BEAM_SECONDS)}_s"] = mean(map(min, known))
    if optimal:
        figures["optimal_moves"] = mean(optimal)
        figures["optimal_boards"] = sum(found.length == best for found, best in zip(solutions, optimal, strict=True))
    figures["longest"] = max(found.length or 0 for found in solutions)
    figures["lower_bound"] = mean(found.lower_bound for found in solutions)
    figures["ratio"] = mean(found.ratio or 0 for found in solutions)
    return figures


def _beam_row(shape: str, count: int) -> Callable[[Path], dict]:
    def row(folder: Path) -> dict:
        return _lengths(shape, count, folder)

    drawn = "of Korf & Felner with 5x5-6-6-6-6" if shape == "5x5" else f"drawn with seed {BEAM_SEED}, linear conflict"
    row.__doc__ = f"Length against time: {count} boards of {shape} {drawn}, a beam, all threads, {BEAM_SECONDS} s each."
    return row


ROWS = {
    function.__name__.replace("_", "-"): function
    for function in (
        korf100,
        farthest,
        korf24,
        collection,
        manhattan,
        looking_back,
        linear_conflict,
        walking_distance,
        a_star,
        bidirectional,
        a_star_memory,
        threads,
        prompt,
    )
}
# Minutes each, so they are measured only if they are named.
LONG_ROWS: dict[str, Callable[[Path], dict]] = {
    "journal": journal,
    "cluster": cluster,
    "workers": workers,
    "workers-5x5": workers_5x5,
} | {
    f"beam-{shape}": _beam_row(shape, count)
    for shape, count in {"5x5": 50, "6x6": 12, "7x7": 12, "8x8": 8, "10x10": 8}.items()
}
DATABASES = {
    "korf100": "4x4-7-8",
    "farthest": "4x4-7-8",
    "prompt": "4x4-7-8",
    "korf24": "5x5-6-6-6-6",
    "collection": "5x5-250M",
    "beam-5x5": "5x5-6-6-6-6",
    "workers-5x5": "5x5-250M",
}


def run(args: argparse.Namespace) -> int:
    """Measure the rows one after another and print each when it is done."""
    known, folder = ROWS | LONG_ROWS, args.folder
    for name in args.rows:
        if name not in known:
            raise InputError(f"unknown row '{name[:40]}': use {', '.join(known)}")
    for name in args.rows or ROWS:
        if name in DATABASES:
            _build_if_missing(DATABASES[name], folder)
        figures = known[name](folder)
        if args.json:
            print(json.dumps({"row": name} | figures), flush=True)
        else:
            print(f"{name}: {known[name].__doc__}", flush=True)
            for label, figure in figures.items():
                print(f"    {label.replace('_', ' '):22} {_readable(figure)}", flush=True)
    return 0


def _build_if_missing(name: str, folder: Path) -> None:
    if not (folder / f"{name}.h5").exists():
        build_database(Spec(Grid.parse(shape_of(name)), NAMED[name]), folder / f"{name}.h5")


def _readable(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.0f}" if figure >= 1000 else f"{figure:.3f}"
