"""``pdb-builder info``: what a database contains."""

from __future__ import annotations

import argparse
import json

from ..base.folders import database_path
from ..base.machine import readable_size
from ..base.wording import counted
from ..database import Database
from ..pattern import Pattern, Spec
from ..pattern_names import pattern_names, table_names
from ..shell import bar_chart
from .checked import checked_database
from .drawn import draw_goal, draw_partitions, side_by_side

MEANING = {
    "bits": "bit 1 of the distance for every block and arrangement",
    "bytes": "the least distance for every footprint and arrangement",
}


def run(args: argparse.Namespace) -> int:
    database = checked_database(database_path(args.database, args.folder))
    if args.json:
        print(json.dumps(describe(database), indent=2))
    else:
        _print(database)
    return 0


def describe(database: Database) -> dict:
    """Everything about a database, for programs."""
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
        "partitions": [[_describe_pattern(spec, tiles) for tiles in partition] for partition in spec.partitions],
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


def _describe_pattern(spec: Spec, tiles: Pattern) -> dict:
    """A pattern of a partition: its tiles, the number of its table, and the symmetry that leads there."""
    number, cells = spec.source(tiles)
    return {"tiles": list(tiles), "pattern": number + 1, "cells": list(cells)}


def _print(database: Database) -> None:
    spec, built = database.spec, database.built
    size = readable_size(database.path.stat().st_size)
    several = len(spec.partitions) > 1
    holds = [f"{len(spec.partitions)} partitions"] * several + [counted(len(database.tables), "pattern")]
    print(f"{database.path}: {spec.grid} board, {', '.join(holds)}, {size}")
    print(f"encoding {spec.encoding}: {MEANING[spec.encoding]}")
    print(f"built by {built['by']} at {built['at']} on {built['machine']}")
    print(f"    {built['command']}")
    print(f"goal and partition{'s' * several}:")
    print(side_by_side([draw_goal(spec), *draw_partitions(spec)]))
    if any("'" in name for name in pattern_names(spec).values()):
        print("A prime marks an image: A' is looked up in the table of A after turning the board.")
    for letter, table in zip(table_names(spec), database.tables, strict=True):
        print(
            f"pattern {letter}: tiles {' '.join(map(str, table.tiles))}: {table.entries:,} entries, "
            f"{readable_size(table.values.nbytes)}, maximum {table.maximum}, mean {table.mean:.2f}, "
            f"built in {table.seconds:.1f} s by {counted(table.threads, 'thread')}"
        )
        print("    distance    entries")
        print("\n".join(bar_chart(table.levels())))
