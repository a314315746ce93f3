"""Numbers in command-line options: how they may be written, and what is said about any other text.

What is too large is refused by its range, as something that is not a number is: both say what would be accepted.
"""

from __future__ import annotations

import argparse
import re

from .shell import MOST_TEXT, MOST_WRITTEN

DECIMAL = r"(?:[0-9]{1,99}\.?|[0-9]{0,99}\.[0-9]{1,99})"


def number_above_0(text: str) -> int:
    """An integer, which can be written as 5_000_000, 1e9 or 20M."""
    match = re.fullmatch(
        r"([0-9]{1,99}(?:\.[0-9]{1,99})?)(?:e([0-9]{1,2}))?([kmg]?)", text.strip().lower().replace("_", "")
    )
    number = 0
    if match:
        whole, _, part = match[1].partition(".")
        part, zeros = part.rstrip("0"), int(match[2] or 0) + 3 * " kmg".index(match[3] or " ")
        number = int(whole + part) * 10 ** (zeros - len(part)) if zeros >= len(part) else 0
    if not 1 <= number <= MOST_WRITTEN:
        raise refusal(text, f"a whole number from 1 to {MOST_TEXT}", "5000000 or 5M")
    return number


def whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,99}", text.strip()) or abs(int(text)) > MOST_WRITTEN:
        raise refusal(text, f"a whole number from -{MOST_TEXT} to {MOST_TEXT}", "7")
    return int(text)


def seconds_above_0(text: str) -> float:
    if not re.fullmatch(rf"{DECIMAL}(e[0-9]{{1,2}})?", text.strip()) or not 0 < float(text) <= MOST_WRITTEN:
        raise refusal(text, f"a number of seconds above 0 and up to {MOST_TEXT}", "10 or 0.5")
    return float(text)


def refusal(text: str, expected: str, example: str) -> argparse.ArgumentTypeError:
    """What is said about text that cannot be the value of an option. Argparse adds which one."""
    return argparse.ArgumentTypeError(f"'{text[:20]}' is not {expected}: write it as {example}")
