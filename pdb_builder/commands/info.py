"""``pdb-builder info``: what a database contains."""

from __future__ import annotations

import argparse
import json

from ..base.folders import database_path
from ..base.machine import readable_size
from ..base.wording import counted
from ..database import Database
from ..shell import bar_chart
from .checked import checked_database

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#"  # names of up to 63 patterns
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


def _print(database: Database) -> None:
    spec, built, count = database.spec, database.built, len(database.tables)
    size = readable_size(database.path.stat().st_size)
    print(f"{database.path}: {spec.grid} board, {counted(count, 'pattern')}, {size}")
    print(f"encoding {spec.encoding}: {MEANING[spec.encoding]}")
    print(f"built by {built['by']} at {built['at']} on {built['machine']}")
    print(f"    {built['command']}")
    print("goal and partition:")
    print(_draw_partition(database))
    for letter, table in zip(LETTERS, database.tables, strict=False):
        print(
            f"pattern {letter}: tiles {' '.join(map(str, table.tiles))}: {table.entries:,} entries, "
            f"{readable_size(table.values.nbytes)}, maximum {table.maximum}, mean {table.mean:.2f}, "
            f"built in {table.seconds:.1f} s by {counted(table.threads, 'thread')}"
        )
        print("    distance    entries")
        print("\n".join(bar_chart(table.levels())))


def _draw_partition(database: Database) -> str:
    """The goal, and beside it the letter of each tile's pattern."""
    grid, goal = database.grid, database.grid.goal(database.spec.blank)
    letter = {tile: name for name, table in zip(LETTERS, database.tables, strict=False) for tile in table.tiles}
    tiles = grid.draw(lambda cell: goal[cell] or ".")
    letters = grid.draw(lambda cell: letter.get(goal[cell], "."))
    rows = zip(tiles.splitlines(), letters.splitlines(), strict=True)
    return "\n".join(f"    {left}      {right}" for left, right in rows)
