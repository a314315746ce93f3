"""The command line of the builder: ``pdb-builder build | info | list | verify | bench``.

Each command is a function ``run_x(args)`` that prints its answer to stdout and returns the exit
code; notices and progress go to stderr. The rest of the package raises, ``shell`` translates.

Nothing that imports numba is imported before a command runs: ``--help`` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import time
from pathlib import Path

from .encoding import ENCODINGS, check_encoding
from .grid import Grid, InputError
from .pattern import (
    DEFAULT_NAME,
    NAMED,
    Spec,
    check_board,
    check_partition,
    default_partition,
    parse_patterns,
    shape_of,
)
from .shell import (
    Parser,
    bar_chart,
    folder_option,
    new_parser,
    notice,
    parse_size,
    positive,
    run,
    threads_option,
)

EXIT_CODES = (
    "exit codes: 0 done, 1 a database failed its verification, 2 bad input or an unusable file, 130 interrupted"
)

DEFAULT_BUDGET = 4 * 10**9  # what an automatic partition may take when nothing is said


def _spec_of(target: str, args: argparse.Namespace):
    """The database a target and the options describe."""
    from .assemble import partition_within
    from .machine import available_memory

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


# ---- build --------------------------------------------------------------------------------------


def _make_watcher():
    from tqdm import tqdm

    from .assemble import Watcher

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


def run_build(args: argparse.Namespace) -> int:
    targets = args.targets or [DEFAULT_NAME]
    if len(targets) > 1 and (args.output or args.patterns):
        raise InputError("--output and --patterns go with a single database: build one at a time")
    if args.output and args.output.suffix != ".h5":
        raise InputError(f"the output '{args.output}' does not end in .h5: name it like my-database.h5")
    from .assemble import build_database, check_memory
    from .machine import available_memory, readable_size

    for spec in [_spec_of(target, args) for target in targets]:
        path = args.output or args.folder / f"{spec.name}.h5"
        there = path.exists() and not args.overwrite
        if not there:
            limit = available_memory()
            if args.max_memory is not None:
                limit = min(args.max_memory, limit or args.max_memory)
            if args.force:
                limit = sys.maxsize
            needed = check_memory(spec.grid, map(len, spec.partition), spec.encoding, limit, args.threads)
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


# ---- info ---------------------------------------------------------------------------------------


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#"  # one for each of up to 63 patterns


def _draw_partition(database) -> str:
    goal = database.grid.goal(database.spec.blank)
    letter = {tile: LETTERS[number] for number, table in enumerate(database.tables) for tile in table.tiles}
    boards = (
        database.grid.draw(lambda cell: goal[cell] or "."),
        database.grid.draw(lambda cell: letter.get(goal[cell], ".")),
    )
    rows = zip(*(board.splitlines() for board in boards), strict=True)
    return "\n".join(f"    {left}      {right}" for left, right in rows)


def describe(database) -> dict:
    """Everything ``info`` knows, for programs."""
    spec = database.spec
    return {
        "path": str(database.path),
        "name": spec.name,
        "rows": spec.grid.rows,
        "cols": spec.grid.cols,
        "wrap": spec.grid.wrap,
        "goal": list(spec.grid.goal(spec.blank)),
        "encoding": spec.encoding,
        "bytes": database.path.stat().st_size,
        "built": dict(database.built),
        "patterns": [
            {
                "tiles": list(table.tiles),
                "entries": table.entries,
                "bytes": table.values.nbytes,
                "maximum": table.maximum,
                "mean": table.mean,
                "counts": table.counts.tolist(),
                "seconds": table.seconds,
                "threads": table.threads,
                "sha256": table.sha256,
            }
            for table in database.tables
        ],
    }


def run_info(args: argparse.Namespace) -> int:
    from .machine import readable_size
    from .store import open_database

    database = open_database(args.file)
    if args.json:
        print(json.dumps(describe(database), indent=2))
        return 0
    spec, built = database.spec, database.built
    meaning = {
        "bits": "bit 1 of the distance for every block and arrangement",
        "bytes": "the least distance for every footprint and arrangement",
    }[spec.encoding]
    size = readable_size(database.path.stat().st_size)
    count = len(database.tables)
    print(f"{database.path}: {spec.grid} board, {count} pattern{'s' * (count > 1)}, {size}")
    print(f"encoding {spec.encoding}: {meaning}")
    print(f"built by {built['by']} at {built['at']} on {built['machine']}")
    print(f"    {built['command']}")
    print("goal and partition:")
    print(_draw_partition(database))
    for number, table in enumerate(database.tables):
        print(
            f"pattern {LETTERS[number]}: tiles {' '.join(map(str, table.tiles))}: {table.entries:,} entries, "
            f"{readable_size(table.values.nbytes)}, maximum {table.maximum}, mean {table.mean:.2f}, "
            f"built in {table.seconds:.1f} s by {table.threads} threads"
        )
        print("    distance    entries")
        print("\n".join(bar_chart(table.levels())))
    return 0


# ---- list ---------------------------------------------------------------------------------------


def _states_per_second(threads: int | None) -> float:
    """How fast this machine builds, measured on a small pattern once its kernel is compiled."""
    from .build import build_table

    grid, tiles = Grid(4, 4), range(1, 7)
    build_table(Grid(3, 3), tiles, threads=threads)
    table = build_table(grid, tiles, threads=threads)
    return 3 * table.counts.sum() / table.seconds  # larger patterns go about three times as fast


def _state_of(path: Path, spec) -> str:
    from .store import DatabaseError, open_database

    if not path.exists():
        return "no"
    try:
        return "yes" if open_database(path).spec == spec else "another"
    except DatabaseError:
        return "damaged"


def run_list(args: argparse.Namespace) -> int:
    from .assemble import memory_for
    from .build import table_bytes
    from .index import index_of
    from .machine import readable_size

    speed = _states_per_second(args.threads)
    rows = []
    for name, partition in NAMED.items():
        grid = Grid.parse(shape_of(name))
        spec = Spec(grid, partition, 0, args.encoding)
        indexes = [index_of(grid, len(tiles)) for tiles in partition]
        path = args.folder / f"{spec.name}.h5"
        entries = sum(
            index.states if spec.encoding == "bits" else index.footprints * index.arrangements for index in indexes
        )
        rows.append(
            {
                "name": name,
                "entries": entries,
                "bytes": sum(table_bytes(index, spec.encoding) for index in indexes),
                "memory": max(memory_for(grid, len(tiles), spec.encoding, args.threads) for tiles in partition),
                "seconds": 1 + sum(index.states for index in indexes) / speed * (1 if spec.encoding == "bits" else 3),
                "built": _state_of(path, spec),
                "path": str(path),
            }
        )
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{'name':14} {'entries':>15} {'file':>8} {'memory':>8} {'estimate':>8}  built   (* the default)")
    for row in rows:
        name = row["name"] + ("*" if row["name"] == DEFAULT_NAME else "")
        sizes = f"{readable_size(row['bytes']):>8} {readable_size(row['memory']):>8}"
        print(f"{name:14} {row['entries']:15,d} {sizes} {row['seconds']:6.0f} s  {row['built']}")
    print(f"Databases are kept in {args.folder}. Build one with: pdb-builder build NAME")
    return 0


# ---- verify -------------------------------------------------------------------------------------


def run_verify(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from .verify import INVARIANTS, verify_database

    bars: dict[str, tqdm] = {}

    def progress(stage: str, states: int) -> None:
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=stage, unit=" states", unit_scale=True, disable=None, leave=False)
        bars[stage].update(states)

    checks = []
    for check in verify_database(
        args.file, quick=args.quick, threads=args.threads, force=args.force, progress=progress
    ):
        for bar in bars.values():
            bar.close()
        checks.append(check)
        if not args.json:
            verdict = f"FAILED  {check.fault}" if check.fault else f"holds   {check.proves}"
            print(f"{check.number} {check.name:10} {verdict}", flush=True)
    failed = any(check.fault for check in checks)
    if args.json:
        rows = [
            {"number": c.number, "name": c.name, "holds": not c.fault, "fault": c.fault, "proves": c.proves}
            for c in checks
        ]
        print(
            json.dumps(
                {
                    "path": str(args.file),
                    "verified": not failed,
                    "complete": len(checks) == len(INVARIANTS),
                    "checks": rows,
                }
            )
        )
    elif failed:
        print(f"{args.file} is NOT a valid database")
    elif args.quick:
        print(f"{args.file} is whole; the entries were not searched again (leave out --quick for that)")
    else:
        print(f"{args.file} is proved right")
    return 1 if failed else 0


def run_bench(args: argparse.Namespace) -> int:
    from .bench import run

    return run(args.rows, args.threads, args.repeat, args.json)


# ---- the parser ---------------------------------------------------------------------------------


def _parser() -> Parser:
    parser, command = new_parser(
        "pdb-builder",
        "Build, inspect and verify pattern databases for sliding-tile puzzles.",
        "pdb-builder build 4x4-7-8",
        EXIT_CODES,
    )

    build = command(
        "build", run_build, "build databases, or say that they are there", "pdb-builder build 5x5 --encoding bytes"
    )
    build.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help=f"a named partition or a board shape such as 6x6 (default: {DEFAULT_NAME})",
    )
    build.add_argument(
        "--patterns",
        metavar="LIST",
        help="your own partition of a shape: tiles by ',', patterns by '/', as in 1,2,3,4/5,6,7,8",
    )
    build.add_argument(
        "--encoding",
        choices=ENCODINGS,
        help="bits: small and strong; bytes: classical (default: bits where valid)",
    )
    build.add_argument(
        "--wrap", action="store_true", help="join the edges: a tile can slide from the first column to the last"
    )
    build.add_argument(
        "--blank",
        default="first",
        metavar="CELL",
        help="where the goal has its blank: first, last or a cell number (default: first)",
    )
    build.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="SIZE",
        help="memory to build in; for a shape, picks the largest patterns that fit, as in 4G",
    )
    build.add_argument("--output", type=Path, metavar="FILE", help="the file to write (default: NAME.h5 in the folder)")
    folder_option(build)
    threads_option(build)
    build.add_argument("--force", action="store_true", help="build even if the memory does not seem to suffice")
    build.add_argument("--overwrite", action="store_true", help="replace a file that is in the way")

    info = command("info", run_info, "show what is in a database", "pdb-builder info databases/4x4-7-8.h5")
    info.add_argument("file", type=Path, metavar="FILE", help="the database")
    info.add_argument("--json", action="store_true", help="everything, as one JSON object")

    listing = command(
        "list", run_list, "list the named partitions: sizes, build times, which are built", "pdb-builder list"
    )
    listing.add_argument("--encoding", choices=ENCODINGS, help="for which encoding (default: bits)")
    folder_option(listing)
    threads_option(listing)
    listing.add_argument("--json", action="store_true", help="as a JSON array")

    verify = command(
        "verify", run_verify, "prove a database right with independent code", "pdb-builder verify databases/4x4-7-8.h5"
    )
    verify.add_argument("file", type=Path, metavar="FILE", help="the database")
    verify.add_argument(
        "--quick", action="store_true", help="checksums and structure only: seconds, and hardly any memory"
    )
    verify.add_argument("--force", action="store_true", help="search even if the memory does not seem to suffice")
    threads_option(verify)
    verify.add_argument("--json", action="store_true", help="as one JSON object")

    bench = command("bench", run_bench, "measure how fast tables are built here", "pdb-builder bench 4x4:8 5x5:7")
    bench.add_argument(
        "rows", nargs="*", metavar="SHAPE:TILES", help="what to build (default: 4x4 with 4 to 8 tiles, 5x5 with 4 to 7)"
    )
    bench.add_argument(
        "--repeat", type=positive, default=3, metavar="N", help="take the best of N builds (default: %(default)s)"
    )
    threads_option(bench)
    bench.add_argument("--json", action="store_true", help="one JSON object a row")
    return parser


def main(argv: list[str] | None = None) -> int:
    return run("pdb-builder", _parser, argv, "run the same command again to continue")
