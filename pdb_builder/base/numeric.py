"""Numbers and flags that Python callers give: those of any library are welcome, but flags are not numbers.

Nor is anything else a flag: ``wrap="no"`` would mean yes.
"""

from __future__ import annotations

import math
import operator
from numbers import Real

from .errors import InputError


def as_integer(value: object) -> int | None:
    """The value as an ``int`` if it is an integer of any kind, one of numpy's included; else None."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # which is what is to be found out
    except TypeError:
        return None


def as_real(value: object) -> float | None:
    """The value as a ``float`` if it is a number of any kind, infinity included; else None."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer or a fraction
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    return None if math.isnan(number) else number


def as_flag(name: str, value: object) -> bool:
    """True or False, those of numpy included; raises ``InputError`` for anything else."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise InputError(f"`{name}` must be True or False, got {value!r}")
