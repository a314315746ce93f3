"""What the commands share: exit codes, what their arguments mean, and the options that several of them have."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pdb_builder.shell import parse_size

from .goals import GOALS
from .instances import SETS
from .show.terminal import FASTEST, SLOWEST, SPEED

# ---- numbers ------------------------------------------------------------------------------------


def number_above_0(text: str) -> int:
    """A whole number, also written as 5_000_000, 1e9 or 20M."""
    match = re.fullmatch(
        r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(?:e([0-9]{1,2}))?([kmg]?)", text.strip().lower().replace("_", "")
    )
    number = 0
    if match:
        whole, _, part = match[1].partition(".")
        part, zeros = part.rstrip("0"), int(match[2] or 0) + 3 * " kmg".index(match[3] or " ")
        number = int(whole + part) * 10 ** (zeros - len(part)) if zeros >= len(part) else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a whole number above 0: write it as 5000000 or 5M")
    return number


def number_from_1(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{0,9})?", text.strip()) or float(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of 1 or more: write it as 1.5")
    return float(text)


def whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a whole number: write it as 7")
    return int(text)


def seconds_above_0(text: str) -> float:
    if not re.fullmatch(r"([0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9})(e[0-9])?", text.strip()) or float(text) <= 0:
        raise argparse.ArgumentTypeError(f"'{text[:20]}' is not a number of seconds above 0: write it as 10 or 0.5")
    return float(text)


def moves_a_second(text: str) -> float:
    known = re.fullmatch(r"[0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9}", text.strip())
    if not known or not SLOWEST <= float(text) <= FASTEST:
        raise argparse.ArgumentTypeError(
            f"'{text[:20]}' is not a number from {SLOWEST} to {FASTEST}: write it as {SPEED}"
        )
    return float(text)


def number_list(text: str) -> set[int]:
    """Numbers and ranges of them, as in 1-20,33."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,7})(?:-([0-9]{1,7}))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a list of numbers: write it as 1-20,33")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return chosen


# ---- options ------------------------------------------------------------------------------------


def board_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "board",
        nargs="*",
        metavar="BOARD",
        help="numbers row by row, the blank as 0, _, . or x; rows may be separated by / or ; (default: stdin)",
    )
    sub.add_argument("--file", type=Path, metavar="FILE", help="read boards from a file: one a line, or matrices")
    sub.add_argument("--set", choices=SETS, help="take a published set")
    sub.add_argument("--shape", metavar="RxC", help="rows and columns, as in 3x4, where they cannot be guessed")
    goal_option(sub)


def limit_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--time-limit", type=seconds_above_0, metavar="SECONDS", help="give up on a board after this")
    sub.add_argument("--node-limit", type=number_above_0, metavar="N", help="give up after so many boards generated")
    sub.add_argument(
        "--memory-limit",
        type=parse_size,
        metavar="SIZE",
        help="memory for the boards of a search that keeps them, which all but ida-star and dfs do, as in 4G "
        "(default: half of what is free, over all jobs)",
    )


def showing_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--animate",
        action="store_true",
        help="play the solution in the terminal before it is printed; of many boards one after another. "
        "Where it cannot be played, as --show",
    )
    sub.add_argument(
        "--gif", type=Path, metavar="FILE", help="draw the solution of one board, as a moving .gif (needs Pillow)"
    )
    sub.add_argument(
        "--speed", type=moves_a_second, metavar="N", help=f"moves a second of --animate and --gif (default: {SPEED})"
    )


def goal_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--goal",
        metavar="GOAL",
        help=f"{', '.join(GOALS)} or a board: where the tiles and the blank belong (default: last)",
    )


def wrap_option(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--wrap", action="store_true", help="the edges are joined: tiles slide across them")


# ---- boards -------------------------------------------------------------------------------------
