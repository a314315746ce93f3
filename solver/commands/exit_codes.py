"""The exit codes of the commands."""

from __future__ import annotations

from collections.abc import Collection

SOLVED, NO_SOLUTION, BAD_INPUT, LIMIT, INTERRUPTED = 0, 1, 2, 3, 130
_MOST_SEVERE_FIRST = (INTERRUPTED, BAD_INPUT, LIMIT, NO_SOLUTION, SOLVED)

EXIT_CODES = (
    "exit codes: 0 solved, 1 no solution exists, 2 bad input or an unusable file, 3 a limit was reached,\n"
    "130 interrupted; for several boards the most severe: 130, 2, 3, 1"
)


def most_severe(codes: Collection[int]) -> int:
    """The exit code of a command that met each of these."""
    return next(code for code in _MOST_SEVERE_FIRST if code in codes)
