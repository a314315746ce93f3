"""How fast boards are solved: one row a question, each answered by running it here and now.

Searches are timed without compiling or opening anything, best of a few runs where they are short. What
the rows of one run share, the machine and the hour, is what makes them comparable.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pdb_builder.grid import Grid, InputError
from pdb_builder.machine import default_threads

from .board import format_board, load_set
from .solving import Settings, Solution, solve_board


def _solved(name: str, chosen: slice | list[int], settings: Settings) -> list[Solution]:
    """Solve some boards of a set, by place or by id, and compare the lengths with the published ones."""
    grid, goal, instances = load_set(name)
    picked = instances[chosen] if isinstance(chosen, slice) else [one for one in instances if one.id in chosen]
    solutions = [solve_board(grid, one.board, goal, settings) for one in picked]
    wrong = [one.id for one, found in zip(picked, solutions, strict=True) if found.length != one.length]
    if wrong:
        raise AssertionError(f"the lengths of {name} {wrong} are wrong")
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
    """The boards of Korf's set that are easiest with Manhattan distance, by id."""
    return [one.id for one in sorted(load_set("korf100")[2], key=lambda one: one.generated)[:count]]


def korf100(folder: Path) -> dict:
    """Korf's 100 boards with 4x4-7-8, one thread: all searches together."""
    settings = Settings("pdb:4x4-7-8", threads=1, folder=folder)
    solutions = _best(7, lambda: _solved("korf100", slice(None), settings))
    return _rate(solutions) | {"mean_generated": sum(found.generated for found in solutions) / len(solutions)}


def farthest(folder: Path) -> dict:
    """The 17 boards that need 80 moves with 4x4-7-8, one thread."""
    solutions = _solved("farthest", slice(None), Settings("pdb:4x4-7-8", threads=1, folder=folder))
    return _rate(solutions) | {"slowest_seconds": max(found.seconds for found in solutions)}


def manhattan(folder: Path) -> dict:
    """Manhattan distance on 40 of Korf's boards, one thread."""
    settings = Settings("manhattan", threads=1, folder=folder)
    return _rate(_best(3, lambda: _solved("korf100", _cheapest(40), settings)))


def linear_conflict(folder: Path) -> dict:
    """Linear conflict on the same boards, one thread."""
    settings = Settings("linear-conflict", threads=1, folder=folder)
    return _rate(_best(3, lambda: _solved("korf100", _cheapest(40), settings)))


def korf24(folder: Path) -> dict:
    """The 5x5 boards 38 and 40 of Korf & Felner with 5x5-6-6-6-6, one thread."""
    settings = Settings("pdb:5x5-6-6-6-6", threads=1, folder=folder)
    return _rate(_best(3, lambda: _solved("korf24", [38, 40], settings)))


def a_star(folder: Path) -> dict:
    """A* with Manhattan distance on 20 of Korf's boards."""
    settings = Settings("manhattan", "a-star", folder=folder)
    solutions = _best(2, lambda: _solved("korf100", _cheapest(20), settings))
    expanded = sum(found.expanded for found in solutions)
    return {"expanded": expanded, "seconds": _seconds(solutions), "expanded_per_second": expanded / _seconds(solutions)}


def a_star_memory(folder: Path) -> dict:
    """The memory of A* with Manhattan distance on a board of millions of states, a process of its own."""
    code = (
        "import json, sys; from pathlib import Path; from pdb_builder.machine import peak_memory\n"
        "from solver.bench import _cheapest, _solved; from solver.solving import Settings\n"
        "settings = Settings('manhattan', 'a-star', folder=Path(sys.argv[1]))\n"
        "_solved('korf100', _cheapest(1), settings); before = peak_memory()\n"
        "found = _solved('korf100', _cheapest(70)[-1:], settings)[0]\n"
        "print(json.dumps([found.stored, found.expanded, found.seconds, peak_memory() - before]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, check=True)
    stored, expanded, seconds, memory = json.loads(done.stdout)
    return {
        "stored": stored,
        "seconds": seconds,
        "expanded_per_second": expanded / seconds,
        "bytes_per_state": memory / stored,
    }


def threads(folder: Path) -> dict:
    """All threads against one on Korf's board 60, Manhattan distance, 3.3 thousand million boards generated."""
    alone, together = (
        _solved("korf100", [60], Settings("manhattan", threads=count, folder=folder))
        for count in (1, default_threads())
    )
    return {
        "threads": default_threads(),
        "seconds_of_one": _seconds(alone),
        "seconds": _seconds(together),
        "times_as_fast": _seconds(alone) / _seconds(together),
    }


def prompt(folder: Path) -> dict:
    """From prompt to prompt: solving an average board with 4x4-7-8, and printing the help."""
    board = format_board(Grid(4, 4), load_set("korf100")[2][0].board)
    solve = ["solve", board, "--goal", "first", "--quiet", "--folder", str(folder), "--heuristic", "pdb:4x4-7-8"]

    def best(words: list[str]) -> float:
        times = []
        for _ in range(4):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "solver", *words], stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - began)
        return min(times)

    return {"solve_seconds": best(solve), "help_seconds": best(["--help"])}


ROWS = {
    function.__name__.replace("_", "-"): function
    for function in (korf100, farthest, korf24, manhattan, linear_conflict, a_star, a_star_memory, threads, prompt)
}
DATABASES = {"korf100": "4x4-7-8", "farthest": "4x4-7-8", "prompt": "4x4-7-8", "korf24": "5x5-6-6-6-6"}


def run_rows(names: list[str], folder: Path, as_json: bool) -> int:
    """Measure the rows one after another and print each as it is done."""
    for name in names:
        if name not in ROWS:
            raise InputError(f"there is no row '{name[:40]}' to measure: take {', '.join(ROWS)}")
    for name in names or ROWS:
        if name in DATABASES:
            _build(DATABASES[name], folder)
        figures = ROWS[name](folder)
        if as_json:
            print(json.dumps({"row": name} | figures), flush=True)
        else:
            print(f"{name}: {ROWS[name].__doc__}", flush=True)
            for label, figure in figures.items():
                print(f"    {label.replace('_', ' '):22} {_readable(figure)}", flush=True)
    return 0


def _build(name: str, folder: Path) -> None:
    if not (folder / f"{name}.h5").exists():
        from pdb_builder.assemble import build_database
        from pdb_builder.pattern import NAMED, Spec, shape_of

        build_database(Spec(Grid.parse(shape_of(name)), NAMED[name]), folder / f"{name}.h5")


def _readable(figure: float) -> str:
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.0f}" if figure >= 1000 else f"{figure:.3f}"
