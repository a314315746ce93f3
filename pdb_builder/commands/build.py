"""``pdb-builder build``: build databases, or say that they are there."""

from __future__ import annotations

import argparse
import contextlib
import re
import time

from tqdm import tqdm

from ..assemble import Watcher, build_database
from ..base.errors import InputError
from ..base.machine import available_memory, readable_size
from ..encoding import check_encoding
from ..grid import Grid
from ..memory import check_build_memory, partition_within
from ..pattern import (
    DEFAULT_NAME,
    NAMED,
    Spec,
    check_board,
    check_partition,
    default_partition,
    parse_patterns,
    shape_of,
)
from ..shell import notice

DEFAULT_BUDGET = 4 * 10**9  # what an automatic partition may take when nothing is said


def _spec_of(target: str, args: argparse.Namespace):
    """The database a target and the options describe."""

    if target not in NAMED and not re.fullmatch(r"\d+[xX×]\d+", target):
        raise InputError(
            f"there is no partition '{target}': take one of {', '.join(NAMED)}, or a board shape such as 6x6"
        )
    grid = check_board(Grid.parse(shape_of(target), args.wrap))
    blank = {"first": 0, "last": grid.cells - 1}.get(args.blank)
    if blank is None:
        if not (args.blank.isascii() and args.blank.isdigit() and len(args.blank) < 4):
            raise InputError(
                f"'{args.blank}' is not a cell for the blank: write first, last or a cell number such as 5"
            )
        blank = grid.check_blank(int(args.blank))
    encoding = check_encoding(grid, args.encoding)
    if args.patterns is not None:
        if target in NAMED:
            raise InputError(f"--patterns goes with a board shape: write {grid.shape} instead of {target}")
        partition = check_partition(grid, parse_patterns(args.patterns))
    elif target in NAMED:
        partition = NAMED[target]
    elif args.max_memory is None and default_partition(grid):
        partition = default_partition(grid)
    else:
        budget = args.max_memory
        if budget is None:
            budget = min(DEFAULT_BUDGET, (available_memory() or DEFAULT_BUDGET) // 2)
        partition = partition_within(grid, blank, encoding, budget)
    return Spec(grid, partition, blank, encoding)


def _make_watcher():

    class Bars(Watcher):
        """A progress bar for every table, on stderr, if that is a terminal."""

        kept = 0

        def waiting(self, path):
            notice(f"{path} is being built by another process: waiting for it")

        def table_kept(self, number, count, earlier):
            self.kept += 1
            if earlier:
                notice(f"pattern {number} of {count}: kept from an earlier build")

        @contextlib.contextmanager
        def table(self, number, count, tiles, states):
            with tqdm(
                total=states,
                desc=f"pattern {number} of {count}",
                unit=" states",
                unit_scale=True,
                disable=None,
                leave=True,
            ) as bar:
                yield bar.update
                bar.total = bar.n  # of a complete pattern only half the states can be reached

    return Bars()


def run(args: argparse.Namespace) -> int:
    targets = args.targets or [DEFAULT_NAME]
    if len(targets) > 1 and (args.output or args.patterns):
        raise InputError("--output and --patterns go with a single database: build one at a time")
    if args.output and args.output.suffix != ".h5":
        raise InputError(f"the output '{args.output}' does not end in .h5: name it like my-database.h5")

    for spec in [_spec_of(target, args) for target in targets]:
        path = args.output or args.folder / f"{spec.name}.h5"
        there = path.exists() and not args.overwrite
        if not there:
            needed = check_build_memory(
                spec.grid, map(len, spec.partition), spec.encoding, args.max_memory, args.threads, args.force
            )
            what = f"{spec.grid} {'-'.join(str(len(tiles)) for tiles in spec.partition)}, encoding {spec.encoding}"
            notice(f"{path}: {what}, needs {readable_size(needed)} of memory to build")
        watcher = _make_watcher()
        started = time.perf_counter()
        try:
            build_database(
                spec,
                path,
                threads=args.threads,
                overwrite=args.overwrite,
                watcher=watcher,
                command=["pdb-builder", *args.words],
            )
        except KeyboardInterrupt:
            kept = f"{watcher.kept} of {len(spec.partition)} tables are finished and kept"
            raise KeyboardInterrupt(f"{kept}: run the same command again to continue") from None
        if there:
            notice(f"{path} is there and valid: nothing to do")
        else:
            size = readable_size(path.stat().st_size)
            notice(f"{path}: {size} in {time.perf_counter() - started:.1f} s")
        print(path)
    return 0
