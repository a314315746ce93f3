"""``pdb-builder list``: the named partitions and collections, what they cost, which are built, and how they look."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..base.errors import DatabaseError, UnusableFile
from ..base.machine import readable_size
from ..build import build_table
from ..grid import Grid
from ..index import index_of
from ..memory import build_memory
from ..pattern import DEFAULT_NAME, NAMED, Spec, blank_of, shape_of
from ..store import tables_bytes
from .checked import checked_database
from .drawn import draw_partitions, side_by_side


def run(args: argparse.Namespace) -> int:
    speed = _states_per_second(args.threads)
    rows = [_describe(name, speed, args) for name in NAMED]
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(
        f"{'name':17} {'partitions':>10} {'tables':>6} {'entries':>15} {'file':>8} {'memory':>8} {'estimate':>8}"
        "  built   (* the default)"
    )
    for row in rows:
        name = row["name"] + ("*" if row["name"] == DEFAULT_NAME else "")
        counts = f"{len(row['partitions']):10} {row['tables']:6} {row['entries']:15,d}"
        sizes = f"{readable_size(row['bytes']):>8} {readable_size(row['memory']):>8}"
        print(f"{name:17} {counts} {sizes} {row['seconds']:6.0f} s  {row['built']}")
        if not args.brief:
            print(side_by_side(draw_partitions(_spec_of(row["name"], args))))
    print(f"Databases are kept in {args.folder}. Build one with: pdb-builder build NAME")
    return 0


def _states_per_second(threads: int | None) -> float:
    """How fast this machine builds, measured on a small pattern after its kernel is compiled."""
    tiles = range(1, 7)
    build_table(Grid(3, 3), tiles, threads=threads)  # compiles the kernel
    table = build_table(Grid(4, 4), tiles, threads=threads)
    return 3 * table.counts.sum() / table.seconds  # larger patterns are about three times as fast


def _describe(name: str, speed: float, args: argparse.Namespace) -> dict:
    """The row of a named partition or collection."""
    spec = _spec_of(name, args)
    sizes = [len(tiles) for tiles in spec.patterns]
    indexes = [index_of(spec.grid, size) for size in sizes]
    states = sum(index.states for index in indexes)
    in_bits = spec.encoding == "bits"
    path = args.folder / f"{spec.name}.h5"
    return {
        "name": name,
        "blank": spec.blank,
        "partitions": [[list(tiles) for tiles in partition] for partition in spec.partitions],
        "tables": len(spec.patterns),
        "entries": states if in_bits else sum(index.footprints * index.arrangements for index in indexes),
        "bytes": tables_bytes(spec),
        "memory": max(build_memory(spec.grid, size, spec.encoding, args.threads) for size in sizes),
        "seconds": 1 + states / speed * (1 if in_bits else 3),
        "built": _build_status(path, spec),
        "path": str(path),
    }


def _spec_of(name: str, args: argparse.Namespace) -> Spec:
    return Spec(Grid.parse(shape_of(name)), NAMED[name], blank_of(name), args.encoding)


def _build_status(path: Path, spec: Spec) -> str:
    """Whether the file is there: yes, no, damaged, unreadable, or with another database in it."""
    if not path.exists():
        return "no"
    try:
        return "yes" if checked_database(path).spec == spec else "another"
    except UnusableFile:
        return "damaged"
    except DatabaseError:
        return "unreadable"
