"""``pdb-builder bench``: how fast tables are built, one row per pattern, each measured in a separate process.

A row gives the number of states, the best time of several builds, the states per second, and the peak memory of
the process, interpreter and libraries included. The time includes listing the moves, but neither compiling nor
writing a file. The pattern of k tiles consists of the tiles 1 ... k.
"""

from __future__ import annotations

import argparse
import json
import re

from ..base.errors import InputError
from ..base.machine import default_threads, peak_memory, readable_size
from ..base.processes import run_python
from ..build import build_table
from ..encoding import ENCODINGS
from ..grid import Grid
from ..index import index_of
from ..memory import check_build_memory
from ..pattern import check_pattern
from ..sparse import is_sparse

DEFAULT_ROWS = [*(f"4x4:{size}" for size in range(4, 9)), *(f"5x5:{size}" for size in range(4, 8)), "4x4:8:bytes"]

# What the separate process runs, with the arguments of ``measure`` in JSON.
MEASURE = f"import json, sys, {__name__} as bench; print(json.dumps(bench.measure(*json.loads(sys.argv[1]))))"


def run(args: argparse.Namespace) -> int:
    """Check all rows, then measure one after another and print each when it is done."""
    jobs = [_parse_row(row) for row in args.rows or DEFAULT_ROWS]
    for shape, size, encoding in jobs:
        check_build_memory(Grid.parse(shape), [size], encoding, threads=args.threads)
    if not args.json:
        print(
            f"{'board':6} {'tiles':>5} {'encoding':8} {'states':>14} {'seconds':>8} "
            f"{'M states/s':>10} {'peak memory':>12}"
        )
    for job in jobs:
        done = run_python("-c", MEASURE, json.dumps([*job, args.threads, args.repeat]))
        if done.returncode:
            raise InputError(f"measuring {':'.join(map(str, job))} failed, see above: leave it out")
        row = json.loads(done.stdout)
        if args.json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['board']:6} {row['tiles']:5} {row['encoding']:8} {row['states']:14,d} {row['seconds']:8.3f} "
                f"{row['states_per_second'] / 1e6:10.0f} {readable_size(row['peak_memory']):>12}",
                flush=True,
            )
    return 0


def _parse_row(row: str) -> tuple[str, int, str]:
    """The shape, the number of tiles and the encoding of a row, checked."""
    match = re.fullmatch(rf"(\d+x\d+):(\d{{1,2}})(?::({'|'.join(ENCODINGS)}))?", row)
    if not match:
        raise InputError(f"'{row}' is not a row to measure: write it as 4x4:8 or 4x4:8:bytes")
    shape, size = match[1], int(match[2])
    check_pattern(Grid.parse(shape), range(1, size + 1))
    return shape, size, match[3] or "bits"


def measure(shape: str, size: int, encoding: str, threads: int | None, repeat: int) -> dict:
    """Build the pattern in this process and return the row."""
    grid, tiles = Grid.parse(shape), range(1, size + 1)
    index = index_of(grid, size)
    # Compiles the kernels: those of bitboards are made for the size of the board.
    warm_up = grid if encoding == "bits" and is_sparse(index) else Grid(2, max(2, size // 2 + 1))
    build_table(warm_up, tiles, encoding=encoding, threads=threads)
    seconds = min(build_table(grid, tiles, encoding=encoding, threads=threads).seconds for _ in range(repeat))
    return {
        "board": shape,
        "tiles": size,
        "encoding": encoding,
        "threads": threads or default_threads(),
        "states": index.states,
        "seconds": round(seconds, 3),
        "states_per_second": round(index.states / seconds),
        "peak_memory": peak_memory(),
    }
