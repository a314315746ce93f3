"""Values of command-line options that only the solver has."""

from __future__ import annotations

import re

from pdb_builder.argument_types import DECIMAL, refusal
from pdb_builder.shell import MOST_TEXT, MOST_WRITTEN

from .page import USUAL_PORT
from .search import MOST_PRUNING, NEVER_UNDO
from .show.playback import FASTEST, SLOWEST, SPEED

MOST_TASK_COST = 60  # seconds
MOST_NUMBERS = 20  # of workers


def number_from_1(text: str) -> float:
    if not re.fullmatch(DECIMAL, text.strip()) or not 1 <= float(text) <= MOST_WRITTEN:
        raise refusal(text, f"a number from 1 to {MOST_TEXT}", "1.5")
    return float(text)


def seconds_from_0(text: str) -> float:
    if not re.fullmatch(DECIMAL, text.strip()) or not float(text) <= MOST_TASK_COST:
        raise refusal(text, f"a number from 0 to {MOST_TASK_COST}", "0.002")
    return float(text)


def moves_per_second(text: str) -> float:
    if not re.fullmatch(DECIMAL, text.strip()) or not SLOWEST <= float(text) <= FASTEST:
        raise refusal(text, f"a number from {SLOWEST} to {FASTEST}", str(SPEED))
    return float(text)


def moves_to_look_back(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,2}", text.strip()) or not NEVER_UNDO <= int(text) <= MOST_PRUNING:
        raise refusal(text, f"a whole number from {NEVER_UNDO} to {MOST_PRUNING}", "14")
    return int(text)


def port(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text.strip()) or int(text) > 65535:
        raise refusal(text, "a port from 0 to 65535", str(USUAL_PORT))
    return int(text)


def worker_numbers(text: str) -> list[int]:
    """Numbers of workers, as in 1,8,64."""
    numbers = [part.strip() for part in text.split(",")]
    if len(numbers) > MOST_NUMBERS or not all(re.fullmatch(r"[1-9][0-9]{0,5}", one) for one in numbers):
        raise refusal(text, f"a list of at most {MOST_NUMBERS} numbers from 1 to 999999", "1,8,64")
    return sorted(set(map(int, numbers)))


def number_list(text: str) -> set[int]:
    """Numbers and ranges of numbers, as in 1-20,33."""
    numbers: set[int] = set()
    for part in text.split(","):
        span = _span(part)
        if span is None:
            raise refusal(text, "a list of numbers up to 9999999", "1-20,33")
        numbers.update(range(span[0], span[1] + 1))
    return numbers


def span_of_moves(text: str) -> tuple[int, int]:
    """A number of moves, or the least and the most of a range, as in 1000-10000."""
    span = _span(text)
    if span is None:
        raise refusal(text, "a number of moves up to 9999999, or a range of them", "1000 or 1000-10000")
    return span


def _span(text: str) -> tuple[int, int] | None:
    """The first and the last number of a range, or a number twice; None if it is neither."""
    match = re.fullmatch(r"\s*([0-9]{1,7})(?:-([0-9]{1,7}))?\s*", text)
    if not match or int(match[2] or match[1]) < int(match[1]):
        return None
    return int(match[1]), int(match[2] or match[1])
