"""The command line of the solver: ``pdb-solver solve``, ``compare``, ``serve``, ``journal``, ``learn`` and others.

A command is the function ``run(args)`` of its module in ``commands``, which is imported when it is called: so
``--help`` answers at once, without numba. It prints its answer to stdout and returns the exit code; notices and
progress go to stderr.
"""

from __future__ import annotations

from pdb_builder.shell import Parser, new_parser, run

from .arguments import (
    bench_options,
    check_options,
    compare_options,
    distribution_options,
    journal_options,
    learn_options,
    random_options,
    serve_options,
    solve_options,
)
from .commands.exit_codes import EXIT_CODES

# The name of each command, a summary, an example, and its options.
COMMANDS = (
    (
        "solve",
        "find a shortest solution of one board or several, or a good one soon",
        "pdb-solver solve '1 2 3 / 4 5 6 / 0 7 8'",
        solve_options,
    ),
    (
        "compare",
        "solve the same boards by several methods and compare the cost of each",
        "pdb-solver compare --set korf100 --only 1-20 --heuristics manhattan,pdb",
        compare_options,
    ),
    (
        "serve",
        "play, solve, look inside databases and compare in a browser, on a page of this machine",
        "pdb-solver serve",
        serve_options,
    ),
    (
        "journal",
        "say how far the search of a journal has come, and what the next bounds will take",
        "pdb-solver journal FILE",
        journal_options,
    ),
    (
        "learn",
        "learn how a beam should rank the boards of a size, from solutions that it finds itself",
        "pdb-solver learn 7x7 --boards 500",
        learn_options,
    ),
    (
        "check",
        "say whether boards can be solved, and why",
        "pdb-solver check '1 2 3 / 4 5 6 / 8 7 0'",
        check_options,
    ),
    (
        "distribution",
        "count the boards at each distance from a goal, and list the farthest",
        "pdb-solver distribution 3x3",
        distribution_options,
    ),
    (
        "random",
        "print random boards that can be solved, each equally likely or at the end of a random walk",
        "pdb-solver random 4x4 -n 10 --seed 1",
        random_options,
    ),
    (
        "bench",
        "measure how fast boards are solved on this machine",
        "pdb-solver bench manhattan",
        bench_options,
    ),
)


def _parser() -> Parser:
    parser, add_command = new_parser(
        "pdb-solver",
        "solver.commands",
        "Proven shortest solutions of sliding-tile puzzles.",
        "pdb-solver solve '15 14 8 12 10 11 9 13 2 6 5 1 3 7 4 0' --goal first",
        EXIT_CODES,
    )
    for name, summary, example, options in COMMANDS:
        options(add_command(name, summary, example))
    return parser


def main(argv: list[str] | None = None) -> int:
    return run("pdb-solver", _parser, argv, "nothing is lost, and nothing is left behind")
