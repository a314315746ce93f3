"""What a journal is of, in words: those of the options where there is one, for the difference to another search.

The facts of a search, or of one of its steps, become phrases in the order of their weight. The first one that differs
is named.
"""

from __future__ import annotations

import reprlib
from typing import Any

from . import BACKWARD, BEAM, WAY_BACK

FLAGS = ("wrap", "every")  # options without a value
FACTS = ("version", "board", "databases")  # that are no options, and are called by these names


def difference(there: dict, here: dict) -> str:
    """How the search of a journal differs from this one, by the first lines of their journals."""
    return _first(*({name: _fact(name, one.get(name)) for name in {**there, **here}} for one in (there, here)))


def step_difference(there: dict, here: dict) -> str:
    """How a step of a journal differs from the one that takes its place."""
    return _first(_step(there), _step(here))


def _first(there: dict[str, str], here: dict[str, str]) -> str:
    for name in {**there, **here}:
        if there.get(name) != here.get(name):
            return f"{there.get(name, 'something else')} instead of {here.get(name, 'something else')}"
    return "something else"


def _fact(name: str, value: Any) -> str:
    called = name if name in FACTS else f"`{name}`"
    if value is None or value is False or value == []:
        return f"without {called}"
    if name in FLAGS:
        return f"with {called}"
    if name == "pruning" and isinstance(value, list) and len(value) == 2:
        first, later = value
        return f"with {called} {_plain(first)}" + (f", later {_plain(later)}" if later != first else "")
    return f"with {called} {_plain(value)}"


def _step(what: dict) -> dict[str, str]:
    """A step, whose record was checked."""
    beam, bound = what["side"] == BEAM, what["bound"]
    if what["side"] == WAY_BACK:
        return {"bound": f"the way back before bound {bound}"}
    back = what["back"] if beam else what["side"] == BACKWARD
    said = {"bound": f"a beam before bound {bound}" if beam else f"bound {bound}"}
    said |= {"end": "from the goal" if back else "from the start"}
    if beam:
        return said | {"width": f"of width {what['width']}"}
    threshold, role = what["threshold"], what["role"]
    meets = "from one end alone" if not role else f"one of both ends, up to sum {threshold}"
    trial = "a trial of both ends" if role == 0 else "no trial of both ends"
    names = ("heuristic", "databases", "pruning")
    return said | {name: _fact(name, what[name]) for name in names} | {"meets": meets, "trial": trial}


def _plain(value: Any) -> str:
    """A value as it is written on a command line."""
    if isinstance(value, str) and value.isprintable() and len(value) <= 100:
        return value
    if isinstance(value, list) and len(value) <= 100 and all(type(one) in (int, str) for one in value):
        return " ".join(map(_plain, value))
    return str(value) if type(value) is int and abs(value) < 1 << 64 else reprlib.repr(value)
