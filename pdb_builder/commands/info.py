"""``pdb-builder info``: what is in a database."""

from __future__ import annotations

import argparse
import json

from ..base.machine import readable_size
from ..shell import bar_chart
from ..store import open_database

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


def run(args: argparse.Namespace) -> int:

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
