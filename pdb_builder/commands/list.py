"""``pdb-builder list``: the named partitions, what they take, and which are built."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..base.errors import DatabaseError
from ..base.machine import readable_size
from ..build import build_table
from ..grid import Grid
from ..index import index_of
from ..memory import build_memory
from ..pattern import DEFAULT_NAME, NAMED, Spec, shape_of
from ..store import open_database, table_bytes


def _states_per_second(threads: int | None) -> float:
    """How fast this machine builds, measured on a small pattern once its kernel is compiled."""

    grid, tiles = Grid(4, 4), range(1, 7)
    build_table(Grid(3, 3), tiles, threads=threads)
    table = build_table(grid, tiles, threads=threads)
    return 3 * table.counts.sum() / table.seconds  # larger patterns go about three times as fast


def _state_of(path: Path, spec) -> str:

    if not path.exists():
        return "no"
    try:
        return "yes" if open_database(path).spec == spec else "another"
    except DatabaseError:
        return "damaged"


def run(args: argparse.Namespace) -> int:

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
                "memory": max(build_memory(grid, len(tiles), spec.encoding, args.threads) for tiles in partition),
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
