"""The command line of the builder: ``pdb-builder build | info | list | verify | bench``.

A command is the function ``run(args)`` of its module in ``commands``, which is imported when it is called: so
``--help`` answers at once, without numba. It prints its answer to stdout and returns the exit code; notices and
progress go to stderr. The rest of the package raises, ``shell`` translates.
"""

from __future__ import annotations

from pathlib import Path

from .encoding import ENCODINGS
from .pattern import (
    DEFAULT_NAME,
)
from .shell import (
    Parser,
    folder_option,
    new_parser,
    parse_size,
    positive,
    run,
    threads_option,
)

EXIT_CODES = (
    "exit codes: 0 done, 1 a database failed its verification, 2 bad input or an unusable file, 130 interrupted"
)


def _parser() -> Parser:
    parser, command = new_parser(
        "pdb-builder",
        "pdb_builder.commands",
        "Build, inspect and verify pattern databases for sliding-tile puzzles.",
        "pdb-builder build 4x4-7-8",
        EXIT_CODES,
    )

    build = command("build", "build databases, or say that they are there", "pdb-builder build 5x5 --encoding bytes")
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

    info = command("info", "show what is in a database", "pdb-builder info databases/4x4-7-8.h5")
    info.add_argument("file", type=Path, metavar="FILE", help="the database")
    info.add_argument("--json", action="store_true", help="everything, as one JSON object")

    listing = command("list", "list the named partitions: sizes, build times, which are built", "pdb-builder list")
    listing.add_argument("--encoding", choices=ENCODINGS, help="for which encoding (default: bits)")
    folder_option(listing)
    threads_option(listing)
    listing.add_argument("--json", action="store_true", help="as a JSON array")

    verify = command(
        "verify", "prove a database right with independent code", "pdb-builder verify databases/4x4-7-8.h5"
    )
    verify.add_argument("file", type=Path, metavar="FILE", help="the database")
    verify.add_argument(
        "--quick", action="store_true", help="checksums and structure only: seconds, and hardly any memory"
    )
    verify.add_argument("--force", action="store_true", help="search even if the memory does not seem to suffice")
    threads_option(verify)
    verify.add_argument("--json", action="store_true", help="as one JSON object")

    bench = command("bench", "measure how fast tables are built here", "pdb-builder bench 4x4:8 5x5:7")
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
