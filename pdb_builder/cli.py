"""The command line of the builder: ``pdb-builder build | info | list | verify | choose | bench``.

This is the table of its commands and their options. A command is the function ``run(args)`` of its module in
``commands``. It prints its answer on stdout and returns the exit code; progress and remarks go to stderr.
``shell`` does the rest.
"""

from __future__ import annotations

from pathlib import Path

from .argument_types import number_above_0, seconds_above_0, whole_number
from .encoding import ENCODINGS
from .pattern import DEFAULT_NAME
from .shell import Parser, folder_option, new_parser, parse_size, positive, run, threads_option

EXIT_CODES = "exit codes: 0 success, 1 a database failed verification, 2 bad input or an unusable file, 130 interrupted"


def _parser() -> Parser:
    parser, command = new_parser(
        "pdb-builder",
        "pdb_builder.commands",
        "Build, inspect and verify pattern databases for sliding-tile puzzles.",
        "pdb-builder build 4x4-7-8",
        EXIT_CODES,
    )
    _build_options(command("build", "build databases that do not exist yet", "pdb-builder build 5x5 --encoding bytes"))
    _info_options(command("info", "show what a database contains", "pdb-builder info 4x4-7-8"))
    _list_options(command("list", "list what has a name: sizes, build times, which are built", "pdb-builder list"))
    _verify_options(command("verify", "prove a database correct by independent code", "pdb-builder verify 4x4-7-8"))
    _choose_options(
        command(
            "choose", "find a good collection of partitions", "pdb-builder choose 5x5 --max-memory 300M --seconds 900"
        )
    )
    _bench_options(command("bench", "measure how fast tables are built here", "pdb-builder bench 4x4:8 5x5:7"))
    return parser


def _build_options(command: Parser) -> None:
    command.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help=f"a named partition or collection, or a board shape such as 6x6 (default: {DEFAULT_NAME})",
    )
    own = command.add_mutually_exclusive_group()
    own.add_argument(
        "--patterns",
        metavar="LIST",
        help="your own partition of a shape: ',' between tiles, '/' between patterns, as in 1,2,3,4/5,6,7,8",
    )
    own.add_argument(
        "--collection",
        metavar="LISTS",
        help="your own collection of partitions of a shape, with ';' between them: its value is their largest sum",
    )
    command.add_argument(
        "--encoding",
        choices=ENCODINGS,
        help="bits is smaller and gives better bounds, bytes is the classical table (default: bits where valid)",
    )
    command.add_argument(
        "--wrap", action="store_true", help="join opposite edges: a tile can slide from the first column to the last"
    )
    command.add_argument(
        "--blank",
        metavar="CELL",
        help="the blank's cell in the goal: first, last or a cell number (default: first, or what the name says)",
    )
    command.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="SIZE",
        help="the memory a build may use, as in 4G; for a shape, the patterns are the largest that fit",
    )
    command.add_argument(
        "--output", type=Path, metavar="FILE", help="the file to write (default: NAME.h5 in the folder)"
    )
    folder_option(command)
    threads_option(command)
    command.add_argument("--force", action="store_true", help="build even if memory seems to be short")
    command.add_argument("--overwrite", action="store_true", help="replace an existing file")


def _info_options(command: Parser) -> None:
    _database_argument(command)
    command.add_argument("--json", action="store_true", help="print everything as one JSON object")


def _list_options(command: Parser) -> None:
    command.add_argument("--brief", action="store_true", help="one line each: do not draw the partitions")
    command.add_argument("--encoding", choices=ENCODINGS, help="the encoding (default: bits)")
    folder_option(command)
    threads_option(command)
    command.add_argument("--json", action="store_true", help="print a JSON array")


def _verify_options(command: Parser) -> None:
    _database_argument(command)
    command.add_argument(
        "--quick", action="store_true", help="check only checksums and structure, in seconds and with little memory"
    )
    command.add_argument(
        "--sample",
        type=number_above_0,
        metavar="N",
        help="search for N entries of each table, drawn at random, instead of all, where that takes hours",
    )
    command.add_argument("--seed", type=whole_number, default=1, metavar="N", help="what to draw from (default: 1)")
    command.add_argument("--force", action="store_true", help="search even if memory seems to be short")
    threads_option(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _database_argument(command: Parser) -> None:
    command.add_argument(
        "database", metavar="DATABASE", help="a file that ends in .h5, or the name of one in the folder"
    )
    folder_option(command)


def _choose_options(command: Parser) -> None:
    command.add_argument("shape", metavar="SHAPE", help="a board shape such as 5x5")
    command.add_argument(
        "--blank",
        default="first",
        metavar="CELL",
        help="the blank's cell in the goal: first, last or a cell number (default: %(default)s)",
    )
    command.add_argument("--wrap", action="store_true", help="join opposite edges; both sides must be even")
    command.add_argument(
        "--max-memory",
        type=parse_size,
        default=2 * 10**9,
        metavar="SIZE",
        help="what the tables of the collection may take (default: 2G)",
    )
    command.add_argument(
        "--largest", type=positive, metavar="K", help="the most tiles of a pattern (default: what fits into the memory)"
    )
    command.add_argument(
        "--start", metavar="LISTS", help="a collection to begin with, as --collection of build (default: the reference)"
    )
    command.add_argument(
        "--seconds",
        type=seconds_above_0,
        metavar="S",
        help="how long to search, once the sample is there (default: 600)",
    )
    command.add_argument(
        "--candidates",
        type=number_above_0,
        metavar="N",
        help="try N collections, however long it takes: the same seed then gives the same answer",
    )
    command.add_argument(
        "--boards",
        type=number_above_0,
        default=200,
        metavar="N",
        help="sample the trees of N random boards (default: %(default)s)",
    )
    command.add_argument(
        "--nodes",
        type=number_above_0,
        default=5_000,
        metavar="N",
        help="raise the bound until a tree has N nodes (default: %(default)s)",
    )
    command.add_argument(
        "--sample", type=number_above_0, default=20_000, metavar="N", help="nodes to draw (default: %(default)s)"
    )
    command.add_argument("--seed", type=whole_number, default=1, metavar="N", help="what to draw from (default: 1)")
    command.add_argument(
        "--samples", type=Path, metavar="FILE", help="take the nodes from a file instead: a margin and a board a line"
    )
    command.add_argument("--save-samples", type=Path, metavar="FILE", help="write the nodes that were drawn")
    command.add_argument(
        "--columns", type=Path, metavar="FILE", help="keep what tables gave in a file, and use what it has already"
    )
    command.add_argument("--build", action="store_true", help="build the database of the collection in the end")
    folder_option(command)
    threads_option(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _bench_options(command: Parser) -> None:
    command.add_argument(
        "rows",
        nargs="*",
        metavar="SHAPE:TILES",
        help="what to build, with :bytes for that encoding (default: 4x4:4 to 4x4:8, 5x5:4 to 5x5:7, 4x4:8:bytes)",
    )
    command.add_argument(
        "--repeat", type=positive, default=3, metavar="N", help="use the best of N builds (default: %(default)s)"
    )
    threads_option(command)
    command.add_argument("--json", action="store_true", help="print one JSON object per row")


def main(argv: list[str] | None = None) -> int:
    return run("pdb-builder", _parser, argv, "nothing was changed, and the same command starts over")
