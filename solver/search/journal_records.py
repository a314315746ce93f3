"""The records of a journal: what each must be, and what they say together.

A checksum tells that a line is as it was written, not that it was written by us: another version may have written
something else, and so may another program. So nothing of a record is used before all of it was compared with the tables
below. They name every member and what its value must be. A record has neither fewer members nor more.

What follows is what no table can say: a step begins with what it is and has the number after the one before; a path has
as many moves as the bound; a bundle is one of those that the iteration was cut into, and comes once.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdb_builder.base.errors import InputError
from pdb_builder.grid import MAX_CELLS, Grid

from . import AUTO, BACKWARD, BEAM, FORWARD, OFF, ON, WAY_BACK

VERSION = 1  # of the records, and of how a search decides which step comes next
MOST_BOUND = 1 << 16
UNKNOWN = 1 << 30  # the least sum above a bound, if there is none
ROOM = 64  # by which the sums of boards may be counted further than there are any
PUT_IN = 1  # the role of a side whose boards are put into a filter

Check = Callable[[Any], bool]
Members = dict[str, Check]

# ---- values -------------------------------------------------------------------------------------


def _whole(least: int = 0, most: int = 1 << 60) -> Check:
    return lambda value: type(value) is int and least <= value <= most  # a bool is none


def _real(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e15


def _flag(value: Any) -> bool:
    return type(value) is bool


def _text(value: Any) -> bool:
    return type(value) is str and value.isprintable() and len(value) < 10_000


def _one_of(*values: str) -> Check:
    return lambda value: type(value) is str and value in values


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check, least: int = 0, most: float = float("inf")) -> Check:
    return lambda value: type(value) is list and least <= len(value) <= most and all(map(check, value))


def _by_sum(value: Any) -> bool:
    """Boards by their sum, as many as there are."""
    counts = type(value) is dict and all(map(_whole(), value.values()))
    return counts and all(name.isdecimal() and name == str(int(name)) for name in value)


# ---- records ------------------------------------------------------------------------------------

_BOUND = _whole(0, MOST_BOUND)
_COUNTS: Members = {"expanded": _whole(), "generated": _whole(), "seconds": _real}
_FOUND = _COUNTS | {
    "least": _whole(1, UNKNOWN),
    "paths": _list_of(_list_of(_whole(0, MAX_CELLS - 1), least=1)),
    "sizes": _list_of(_whole()),
    "weight": _real,
    "shared_by": _whole(1),
}

HEADER: Members = {
    "journal": _whole(VERSION, VERSION),
    "version": _text,
    "shape": _text,
    "wrap": _flag,
    "board": _list_of(_whole(0, MAX_CELLS - 1)),
    "goal": _list_of(_whole(0, MAX_CELLS - 1)),
    "algorithm": _text,
    "heuristic": _text,
    "databases": _list_of(_text),
    "order": _one_of("fixed", "value"),
    "pruning": _list_of(_whole(), 2, 2),
    "every": _flag,
    "direction": _one_of(AUTO, FORWARD, BACKWARD),
    "both_ends": _one_of(AUTO, ON, OFF),
    "upper_bound": _or_null(_whole()),
}
ITERATION: Members = {
    "bound": _BOUND,
    "side": _one_of(FORWARD, BACKWARD),
    "heuristic": _text,
    "databases": _list_of(_text),
    "pruning": _whole(),
    "threshold": _or_null(_whole(-(1 << 20), 1 << 20)),
    "role": _or_null(_whole(0, 2)),
}
ITERATION_RESULT = _FOUND | {"visited": _or_null(_list_of(_whole())), "refuted": _flag}
CUT = _list_of(_whole(), 2, 2)  # subtrees and bundles
BUNDLE = _FOUND | {"visited": _or_null(_by_sum)}
# The steps that are no iterations, by what they have in place of a side, and their results.
OTHERS: dict[str, tuple[Members, Members]] = {
    BEAM: (
        {"bound": _BOUND, "side": _text, "width": _whole(), "back": _flag},
        _COUNTS | {"path": _or_null(_list_of(_whole(0, MAX_CELLS - 1), least=1))},
    ),
    WAY_BACK: ({"bound": _BOUND, "side": _text}, {"opened": _flag}),
}


def _compare(what: str, record: Any, members: Members) -> None:
    """Raise ``ValueError`` if a record is not what it must be."""
    if type(record) is not dict:
        raise ValueError(f"{what} is {reprlib.repr(record)}")
    for name, check in members.items():
        if name not in record:
            raise ValueError(f"{what} has no {name}")
        if not check(record[name]):
            raise ValueError(f"{what} has {name} {reprlib.repr(record[name])}")
    for name in record:
        if name not in members:
            raise ValueError(f"{what} has a member {reprlib.repr(name)}")


# ---- the first ----------------------------------------------------------------------------------


def check_version(path: Path, header: dict) -> None:
    """Raise ``InputError`` if a journal was written in another format."""
    version = header.get("journal")
    if type(version) is not int or version != VERSION:
        raise _refused(path, 1, f"the format is {reprlib.repr(version)}, and this version reads {VERSION}")


def puzzle_of(path: Path, header: dict) -> Grid:
    """The grid of the puzzle that a journal is of. Raises ``InputError`` if there is none in it."""
    check_version(path, header)
    try:
        _compare("the header", header, HEADER)
        grid = Grid.parse(header["shape"], header["wrap"])
        for name in ("board", "goal"):
            if sorted(header[name]) != list(range(grid.cells)):
                raise ValueError(f"the {name} {reprlib.repr(header[name])} does not have the tiles of {grid.shape}")
    except ValueError as fault:
        raise _refused(path, 1, str(fault)) from None
    return grid


# ---- those of steps -----------------------------------------------------------------------------


@dataclass
class StepRecords:
    """What the records say of a step."""

    what: dict
    cut: list[int] | None = None
    bundles: dict[int, dict] = field(default_factory=dict)
    result: dict | None = None

    def add(self, record: dict, cells: int) -> None:
        """Take down one more, without the number of its step. Raises ``ValueError`` if it is not one of them."""
        _, result = OTHERS.get(self.what["side"], (ITERATION, ITERATION_RESULT))
        again = self.what.get("role") == PUT_IN  # what it put in is lost when the search ends, so it may be repeated
        if "bundle" in record:
            number = record.pop("bundle")
            _compare("a bundle", record, BUNDLE)
            here = self.cut is not None and _whole(0, self.cut[1] - 1)(number)
            if not here or number in self.bundles:
                raise ValueError(f"bundle {reprlib.repr(number)} is not one that is missing")
            self._check_found(record, cells)
            self.bundles[number] = record
        elif "cut" in record and result is ITERATION_RESULT and self.cut is None:
            _compare("a cut", record, {"cut": CUT})
            self.cut = record["cut"]
        elif "result" in record and (self.result is None or again):
            _compare("a result", record, {"result": lambda _: True})
            _compare("a result", record["result"], result)
            self._check_found(record["result"], cells)
            self.result = record["result"]
        else:
            raise ValueError(f"{reprlib.repr(record)} is out of place")

    def _check_found(self, found: dict, cells: int) -> None:
        """Compare what was found with the bound and with the board."""
        bound, paths = self.what["bound"], found.get("paths", [])
        visited = [cell for path in paths for cell in path] + (found.get("path") or [])
        if any(len(path) != bound + 1 for path in paths):
            raise ValueError(f"a path of bound {bound} has another length")
        if max(visited, default=0) >= cells:
            raise ValueError(f"a path on {cells} cells leads to cell {max(visited)}")
        if not bound < found.get("least", bound + 1) <= (MOST_BOUND if found.get("refuted") else UNKNOWN):
            raise ValueError(f"the least sum above bound {bound} is {found['least']}")
        if "visited" in found:
            self._check_sums(found["visited"])

    def _check_sums(self, visited: list | dict | None) -> None:
        """Compare the sums of boards with the bound: none is more than twice as large. They are counted in meetings."""
        bound, meets = self.what["bound"], self.what["threshold"] is not None
        counts = visited if isinstance(visited, dict) else dict(enumerate(visited or []))
        if (visited is not None) != meets or any(int(one) > 2 * bound and count for one, count in counts.items()):
            raise ValueError(f"the boards of bound {bound} by their sums are {reprlib.repr(visited)}")
        if len(counts) > 2 * (bound + ROOM):
            raise ValueError(f"the boards of bound {bound} have {len(counts)} sums")


def known_steps(path: Path, records: list[dict]) -> list[StepRecords]:
    """What the records of a journal say of each step. Raises ``InputError`` if one is not what it must be."""
    header, *others = records
    check_version(path, header)
    board = header.get("board")
    cells = len(board) if isinstance(board, list) else MAX_CELLS
    steps: list[StepRecords] = []
    for line, record in enumerate(others, 2):
        try:
            _add(steps, dict(record), cells)
        except ValueError as fault:
            raise _refused(path, line, str(fault)) from None
    return steps


def _add(steps: list[StepRecords], record: dict, cells: int) -> None:
    """Take down one more record, of one of the steps or of the next. Raises ``ValueError`` if it is none of them."""
    number = record.pop("step", None)
    if not _whole(0, len(steps))(number):
        raise ValueError(f"step {reprlib.repr(number)} comes after {len(steps)} others")
    if number < len(steps):
        steps[number].add(record, cells)
        return
    _compare("the first of a step", record, {"what": lambda _: True})
    what = record["what"]
    side = what.get("side") if type(what) is dict else None
    members, _ = OTHERS.get(side if type(side) is str else "", (ITERATION, ITERATION_RESULT))
    _compare("a step", what, members)
    if (what.get("threshold") is None) != (what.get("role") is None):
        raise ValueError(f"a step has threshold {what['threshold']} and role {what['role']}")
    steps.append(StepRecords(what))


def _refused(path: Path, line: int, fault: str) -> InputError:
    return InputError(f"{path}, line {line}: {fault}: choose another journal")
