"""``pdb-builder build``: build databases that do not exist yet.

All targets are checked before the first one is built, memory when it is their turn. Each path is printed on stdout
when its database is complete; everything else goes to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from ..assemble import Watcher, build_database
from ..base.errors import InputError
from ..base.machine import available_memory, readable_size
from ..base.wording import counted
from ..encoding import check_encoding
from ..grid import Grid
from ..memory import check_build_memory, collection_within
from ..pattern import (
    DEFAULT_NAME,
    NAMED,
    Collection,
    Spec,
    blank_of,
    check_pattern_board,
    default_collection,
    named_for,
    parse_collection,
    parse_patterns,
    shape_of,
    stem_of,
)
from ..shell import notice

DEFAULT_BUDGET = 4 * 10**9  # bytes of memory for an automatic partition without --max-memory


def run(args: argparse.Namespace) -> int:
    targets = args.targets or [DEFAULT_NAME]
    if len(targets) > 1 and (args.output or args.patterns or args.collection):
        raise InputError("--output, --patterns and --collection go with a single database: build one at a time")
    if args.output and args.output.suffix != ".h5":
        raise InputError(f"the output '{args.output}' does not end in .h5: name it like my-database.h5")
    for spec in [_spec_of(target, args) for target in targets]:
        path = args.output or args.folder / f"{spec.name}.h5"
        _build(spec, path, args)
        print(path)
    return 0


# ---- what to build ------------------------------------------------------------------------------


def _spec_of(target: str, args: argparse.Namespace) -> Spec:
    """The database that a target and the options describe."""
    if target not in NAMED and not re.fullmatch(r"\d+[xX×]\d+", target):
        raise InputError(f"unknown name '{target}': use {', '.join(NAMED)}, or a board shape such as 6x6")
    grid = check_pattern_board(Grid.parse(shape_of(target), args.wrap))
    blank = blank_cell(args.blank, grid) if args.blank is not None else blank_of(target)
    encoding = check_encoding(grid, args.encoding)
    return Spec(grid, _collection_of(target, grid, blank, encoding, args), blank, encoding)


def blank_cell(text: str, grid: Grid) -> int:
    """The cell that the option --blank names."""
    named = {"first": 0, "last": grid.cells - 1}
    if text in named:
        return named[text]
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InputError(f"'{text}' is not a cell for the blank: write first, last or a cell number such as 5")
    return grid.check_blank(int(text))


def _collection_of(target: str, grid: Grid, blank: int, encoding: str, args: argparse.Namespace) -> Collection:
    """The partitions: named, given by an option, the default of the goal, or as large as memory allows."""
    for option, text, parse in (
        ("--patterns", args.patterns, lambda text: (parse_patterns(text),)),
        ("--collection", args.collection, parse_collection),
    ):
        if text is not None:
            if target in NAMED:
                raise InputError(f"{option} goes with a board shape: write {grid.shape} instead of {target}")
            return parse(text)
    if target in NAMED:
        return _named(target, grid, blank)
    budget = args.max_memory
    if budget is None:
        default = default_collection(grid, blank, encoding)
        if default:
            return default
        budget = min(DEFAULT_BUDGET, (available_memory() or DEFAULT_BUDGET) // 2)
    return collection_within(grid, blank, encoding, budget)


def _named(target: str, grid: Grid, blank: int) -> Collection:
    """The named collection for the blank's home: the one named, or its namesake for that home, turned if need be."""
    for name in NAMED:
        if stem_of(name) == stem_of(target):
            collection = named_for(name, grid, blank)
            if collection:
                return collection
    raise InputError(
        f"no collection {stem_of(target)} is for goals with the blank on cell {blank}: name the board shape instead, "
        f"as in pdb-builder build {grid.shape} --blank {blank}"
    )


# ---- building it --------------------------------------------------------------------------------


class ProgressBars(Watcher):
    """What will be built, and a progress bar per table, on stderr if that is a terminal."""

    def __init__(self, plan: str) -> None:
        self.plan = plan
        self.kept = 0  # finished tables that a later build can use

    def waiting(self, path: Path) -> None:
        notice(f"{path} is being built by another process: waiting for it")

    def started(self) -> None:
        if self.plan:
            notice(self.plan)

    def table_kept(self, number: int, count: int, earlier: bool) -> None:
        self.kept += 1
        if earlier:
            notice(f"pattern {number} of {count}: kept from an earlier build")

    @contextlib.contextmanager
    def table(self, number: int, count: int, tiles: Sequence[int], states: int) -> Iterator[Callable[[int], object]]:
        title = f"pattern {number} of {count}"
        with tqdm(total=states, desc=title, unit=" states", unit_scale=True, disable=None) as bar:
            yield bar.update
            bar.total = bar.n  # a pattern of all tiles only reaches half of its states


def _build(spec: Spec, path: Path, args: argparse.Namespace) -> None:
    """Build one database, or find that it exists."""
    exists = path.exists() and not args.overwrite
    plan = ""
    if not exists:
        first, *others = spec.partitions
        holds = f"collection, {len(spec.partitions)} partitions, {counted(len(spec.patterns), 'table')}"
        holds = holds if others else "-".join(str(len(tiles)) for tiles in first)
        needed = check_build_memory(
            spec.grid, map(len, spec.patterns), spec.encoding, args.max_memory, args.threads, args.force
        )
        plan = (
            f"{path}: {spec.grid} {holds}, encoding {spec.encoding}, needs {readable_size(needed)} of memory to build"
        )
    bars = ProgressBars(plan)
    started = time.perf_counter()
    try:
        build_database(
            spec,
            path,
            threads=args.threads,
            overwrite=args.overwrite,
            watcher=bars,
            command=["pdb-builder", *args.words],
        )
    except KeyboardInterrupt:
        kept = f"{bars.kept} of {len(spec.patterns)} tables finished and kept"
        raise KeyboardInterrupt(f"{kept}: run the same command again to continue") from None
    if exists:
        notice(f"{path} exists and is valid: nothing to do")
    else:
        notice(f"{path}: {readable_size(path.stat().st_size)} in {time.perf_counter() - started:.1f} s")
