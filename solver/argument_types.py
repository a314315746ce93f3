"""Values of command-line options: how numbers may be written, and what is said about any other text."""

from __future__ import annotations

import argparse
import re

from .show.playback import FASTEST, SLOWEST, SPEED


def number_above_0(text: str) -> int:
    """An integer, which can be written as 5_000_000, 1e9 or 20M."""
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


def moves_per_second(text: str) -> float:
    number = re.fullmatch(r"[0-9]{1,9}\.?|[0-9]{0,9}\.[0-9]{1,9}", text.strip())
    if not number or not SLOWEST <= float(text) <= FASTEST:
        raise argparse.ArgumentTypeError(
            f"'{text[:20]}' is not a number from {SLOWEST} to {FASTEST}: write it as {SPEED}"
        )
    return float(text)


def number_list(text: str) -> set[int]:
    """Numbers and ranges of numbers, as in 1-20,33."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,7})(?:-([0-9]{1,7}))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is not a list of numbers: write it as 1-20,33")
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers
