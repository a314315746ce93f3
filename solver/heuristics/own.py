"""A heuristic of one's own: a plain function of a board, compiled, and called from scratch for every board.

The function is given the board as an array of rows and columns, in the numbering and the way up that its author knows,
and for each tile its home. Searches see boards turned and renamed (``frame``), so this one keeps the board as the
function is to see it, and makes its moves there. On the way from the goal to the start it is the same board with other
homes, those that the tiles have in the start.

*Compiled apart.* The function has machine code of its own, which a search calls by its address. So searches are
compiled once for all functions, and may be cached, while the code of the function is never written to a file, where it
could go out of date. What the function refers to, such as numbers and arrays, becomes part of its code. Its
*fingerprint* covers all that, so it is compiled again if something has changed; a journal goes by it too. Plain
functions that it calls are compiled with it, and so are those that numba has compiled already: these may have no checks
of their indices.

*Not believed.* A function that returns cannot harm a search. It is shown copies of the board and the homes, its indices
are checked, it may not call itself, and its errors are caught: they are noted with the board, and raised where the
search looks at its limits.
Searches take a board of value 0 for the goal, so the value of the goal is 0, and any other at least 1, and at most
``MOST_VALUE``: that keeps a heuristic admissible, and consistent. If it is declared consistent, every move that a
search tries is a test, and the first one that changes the value by more than one is an error.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Sequence
from enum import EnumMeta
from functools import lru_cache
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn, TypeGuard, TypeVar

import numpy as np
from numba import carray, cfunc, njit, types

from pdb_builder.base.errors import InputError
from pdb_builder.base.jit import call_at, fetch, put, shared
from pdb_builder.base.numeric import as_flag
from pdb_builder.grid import Grid

from ..board import format_board
from ..frame import Frame
from .contract import Board, Heuristic, apply, body_of, evaluate, load

MOST_VALUE = (1 << 13) - 1  # more than best-first searches tell apart
AT_ONCE = 20_000  # boards to expand between two looks at the limits: a function may take microseconds
RAISED, JUMPED = 1, 2  # what can be wrong with a value: there is none, or it is inconsistent with the one before
FAILED = -(1 << 62)  # the value if the function has raised an error
LIBRARIES = {"numpy", "numba"} | sys.stdlib_module_names  # whose values never change
LONGEST_REASON = 160  # characters of what the compiler says

Function = TypeVar("Function", bound=Callable)


# ---- functions ----------------------------------------------------------------------------------


def heuristic(*, admissible: bool = False, consistent: bool = False) -> Callable[[Function], Function]:
    """Decorator: declare what is true of one's own heuristic, for every board and every goal.

    It is ``admissible`` if it never exceeds the moves needed, and ``consistent`` if it is not above 0 for the goal and
    no move changes it by more than one, which makes it admissible as well. The function stays as it is. Searches
    believe the declaration, and ``check_heuristic`` tests it.
    """
    as_flag("admissible", admissible)
    as_flag("consistent", consistent)

    def declare(function: Function) -> Function:
        function.admissible, function.consistent = bool(admissible or consistent), bool(consistent)  # type: ignore[attr-defined]
        return function

    return declare


def name_of(function: Callable) -> str:
    """What tables and messages call a heuristic of one's own."""
    return f"own:{getattr(function, '__name__', 'function')}"


def claims_of(function: Callable) -> tuple[bool, bool]:
    """Whether a function is declared admissible, and consistent."""
    return getattr(function, "admissible", False), getattr(function, "consistent", False)


class Compiled(NamedTuple):
    """A function that can be called, from Python and from kernels."""

    call: Callable[[np.ndarray, np.ndarray], int]  # raises what the function raises
    code: Any  # has the address, and must outlive its use
    fingerprint: str
    name: str

    def value(self, grid: Grid, board: np.ndarray, home: np.ndarray) -> int:
        """The value of a board. Raises ``InputError`` if there is none."""
        try:
            return int(self.call(board.reshape(grid.rows, grid.cols).copy(), home.copy()))
        except Exception as error:
            raise InputError(
                f"{self.name} raises {type(error).__name__} ({_in_short(str(error))}) for the board "
                f"{format_board(grid, board.tolist())}: let it return a number for every board"
            ) from None

    def raise_again(self, grid: Grid, board: Board, home: np.ndarray) -> NoReturn:
        """Raise ``InputError`` for a board whose value a kernel could not get."""
        self.value(grid, np.array(board), home)
        where = format_board(grid, board)
        raise InputError(f"{self.name} raises an error for the board {where}, but not always: let chance play no part")


def compiled(function: Callable) -> Compiled:
    """The function compiled, as it is now. Raises ``InputError`` if that cannot be done."""
    plain = _uncompiled(function)
    if not isinstance(plain, FunctionType):
        raise InputError(f"`heuristic` must be a name or a function, got {function!r}: write a function with 'def'")
    if not _takes_two(plain):
        raise InputError(
            f"{name_of(plain)} must take a board and the homes of its tiles, and nothing by keyword only: "
            f"write it as 'def {plain.__name__}(board, home)'"
        )
    return _compiled(plain, fingerprint_of(plain))


def _takes_two(function: FunctionType) -> bool:
    """Whether a function can be called with two values, and its parameters are of the kinds that numba compiles."""
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        signature.bind(None, None)
    except TypeError:
        return False
    return not any(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in signature.parameters.values())


@lru_cache(maxsize=64)
def _compiled(function: FunctionType, fingerprint: str) -> Compiled:
    table = types.Array(types.int64, 2, "C", readonly=True)
    try:
        own = _with_functions(function, {})

        @njit((table, table), nogil=True)
        def returned(board, home):
            return own(board, home)

    except InputError:
        raise
    except Exception as error:  # numba raises whatever went wrong inside
        raise _refused(function, error) from None
    kind = returned.nopython_signatures[0].return_type
    if not isinstance(kind, types.Integer):
        raise InputError(
            f"{name_of(function)} returns {_in_short(str(kind))}, not an integer: return a number of moves, rounded "
            "up with int(np.ceil(x)) if it is a fraction"
        )

    @njit((table, table), nogil=True)
    def call(board, home):
        return np.int64(returned(board, home))  # of 2**63 and more, Python and kernels see the same negative number

    def at_address(board, about):
        """``about`` is the number of rows and columns, then for each tile the row and the column of its home."""
        sides = carray(about, 2)
        cells = sides[0] * sides[1]
        home = carray(about, 2 + 2 * cells)[2:].reshape((cells, 2))
        try:
            return call(carray(board, (sides[0], sides[1])), home)
        except Exception:
            return np.int64(FAILED)

    numbers = types.CPointer(types.int64)
    return Compiled(call, cfunc(types.int64(numbers, numbers))(at_address), fingerprint, name_of(function))


def _with_functions(function: FunctionType, made: dict[FunctionType, Any]) -> Any:
    """The function, to be compiled with those that it calls; in ``made``, None stands for one in the making."""

    def checked(value: object) -> object:
        plain = _uncompiled(value)
        return _with_functions(plain, made) if _is_plain(plain) else value

    if made.get(function, 0) is None:
        raise InputError(f"{name_of(function)} calls itself, and might never end: write a loop")
    if function not in made:
        made[function] = None
        scope = dict(function.__globals__)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
        for name, value in _globals(function).items():
            scope[name] = checked(value)
        for cell, value in zip(cells, _closure(function).values(), strict=True):
            cell.cell_contents = checked(value)
        made[function] = njit(nogil=True, boundscheck=True)(copy)
    return made[function]


def _uncompiled(value: object) -> object:
    """The plain function behind one that numba compiles, and any other value as it is."""
    return getattr(value, "py_func", value)


def _is_plain(value: object) -> TypeGuard[FunctionType]:
    """Whether a value is a function that the compiler does not know."""
    return isinstance(value, FunctionType) and (value.__module__ or "").partition(".")[0] not in ("numpy", "numba")


def _globals(function: FunctionType) -> dict[str, Any]:
    """The global names that a function refers to, and their values."""
    names, todo = {}, [function.__code__]
    while todo:
        code = todo.pop()
        names |= {one.argval: None for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


def _closure(function: FunctionType) -> dict[str, Any]:
    """The names of the surrounding function that a function refers to, and their values."""
    try:
        values = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        raise InputError(f"{name_of(function)} refers to a name that has no value yet: define it before") from None
    return dict(zip(function.__code__.co_freevars, values, strict=True))


def _refuse_modules(function: FunctionType, names: dict[str, Any]) -> None:
    """Raise ``InputError`` for a module that is not of a library: the fingerprint does not cover what is in it."""
    for name, value in names.items():
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in LIBRARIES:
            raise InputError(
                f"{name_of(function)} looks into the module {name}, where a change would go unnoticed: import what it "
                f"needs by name, as in 'from {value.__name__} import NAME'"
            )


def fingerprint_of(function: FunctionType) -> str:
    """What tells one function from another: its code, and the values that it refers to."""
    digest = hashlib.sha256()
    _digest(function, digest.update, set())
    return digest.hexdigest()[:16]


def _digest(value: object, update: Callable[[bytes], object], seen: set[int]) -> None:
    value = _uncompiled(value)
    if _is_plain(value):
        if id(value) not in seen:
            seen.add(id(value))
            names = _globals(value), _closure(value)
            for one in (value.__code__, value.__defaults__, *names):
                _digest(one, update, seen)
            for one in names:
                _refuse_modules(value, one)
    elif isinstance(value, CodeType):
        update(value.co_code)
        _digest((*value.co_consts, *value.co_names, *value.co_varnames), update, seen)
    elif isinstance(value, dict):
        _digest(tuple(part for pair in value.items() for part in pair), update, seen)
    elif isinstance(value, EnumMeta):
        _digest(dict(value.__members__), update, seen)
    elif isinstance(value, tuple):
        update(b"%d parts " % len(value))
        for one in value:
            _digest(one, update, seen)
    elif isinstance(value, np.ndarray):
        update(f"{value.dtype} {value.shape} ".encode() + value.tobytes())
    elif hasattr(value, "__name__"):  # a module, a class, a function of a library
        update(f"{getattr(value, '__module__', '')} {value.__name__} ".encode())
    else:
        update(f"{type(value).__name__} {value!r} ".encode(errors="surrogateescape"))


def _refused(function: FunctionType, error: Exception) -> InputError:
    """What the compiler says, with the line that it refuses, in one line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    # The innermost place comes first.
    place = re.search(r'File "(.+)", line (\d+)', text) or re.search(r"(?:at|from) (\S.*) \((\d+)\)", text)
    where = f"something after line {function.__code__.co_firstlineno}"
    if place:
        file, here = Path(place[1]).name, function.__code__.co_filename
        source = linecache.getline(here, int(place[2])).strip()
        where = f"line {place[2]}"
        if file != Path(here).name:
            where += f" of {file}"
        elif source:
            where += f", {source[:80]!r}"
    if "Cannot modify readonly array" in text:
        reason = "neither the board nor other arrays may be changed: change a copy, as in board.copy()"
    else:
        said = [
            one.strip().removeprefix(">>> ")
            for one in text.splitlines()
            if one.strip() and not one.startswith("Failed in ")
        ]
        reason = " ".join(said[: 2 if said and said[0].endswith("signature:") else 1]) or type(error).__name__
        reason = _in_short(reason).rstrip(".") + ": use numbers, loops, numpy and what else numba compiles"
    return InputError(f"{name_of(function)} cannot be compiled because of {where}: {reason}")


def _in_short(text: str) -> str:
    return " ".join(text.split())[:LONGEST_REASON]


# ---- heuristics ---------------------------------------------------------------------------------


class Own(NamedTuple):
    """What the kernels work on."""

    address: int  # of the function
    consistent: bool  # whether it is declared to be
    about: np.ndarray  # rows and columns, then for each tile the row and the column of its home
    cells: np.ndarray  # cell in the frame -> cell of the board as the function sees it
    tiles: np.ndarray  # the same of tiles
    goal: np.ndarray  # the board that has the value 0
    state: np.ndarray  # the value and the board, which the next two are parts of
    value: np.ndarray
    board: np.ndarray
    values: np.ndarray  # [slot]
    board_shown: np.ndarray  # copies for the function, which may find a way to change what it is given
    about_shown: np.ndarray
    fault: np.ndarray  # what was wrong first, 0 if nothing was; the value before and after the move; and the board


def homes_in(grid: Grid, goal: Sequence[int]) -> np.ndarray:
    """[tile] -> the row and the column of its home."""
    return np.ascontiguousarray(np.stack(np.divmod(np.argsort(np.array(goal)), grid.cols), axis=1))


def about_goal(grid: Grid, home: np.ndarray) -> np.ndarray:
    """What the machine code of a function is told beside the board."""
    return np.array([grid.rows, grid.cols, *home.ravel()], dtype=np.int64)


def prepare(function: Callable, frame: Frame) -> Heuristic:
    """The heuristic for the goal of a frame. Raises ``InputError`` for a function that is of no use there."""
    grid, code, name = frame.grid, compiled(function), name_of(function)
    admissible, consistent = claims_of(function)
    cells, tiles = (np.argsort(np.array(one)) for one in (frame.cells, frame.tiles))
    goal = tiles[list(grid.goal(frame.blank))][list(frame.cells)]
    home = homes_in(grid, goal)
    about = about_goal(grid, home)
    faults: list[np.ndarray] = []  # of every workspace its own

    def workspace(slots: int) -> Own:
        state, fault = np.zeros(1 + grid.cells, dtype=np.int64), np.zeros(3 + grid.cells, dtype=np.int64)
        faults.append(fault)
        how = int(code.code.address), consistent, about, cells, tiles, goal
        board, values = state[1:], np.zeros(slots, dtype=np.int64)
        return Own(*how, state, state[:1], board, values, np.zeros_like(board), np.zeros_like(about), fault)

    def raw_value(board: np.ndarray) -> int:
        return code.value(grid, board, home)

    def measure(board: Board) -> list[int]:
        seen = np.zeros(grid.cells, dtype=np.int64)
        seen[cells] = tiles[list(board)]
        value = raw_value(seen)
        return [0 if (seen == goal).all() else min(max(value, 1), MOST_VALUE)]

    def look() -> None:
        """Raise ``InputError`` if something was wrong with a value."""
        for kind, before, after, *board in (fault.tolist() for fault in faults if fault[0]):
            if kind == RAISED:
                code.raise_again(grid, board, home)
            raise InputError(
                f"{name} is declared consistent, but a move to {format_board(grid, board)} changes it from {before} to "
                f"{after}: correct it, or declare it admissible only; check_heuristic finds such boards"
            )

    if admissible and (value := raw_value(goal)) > 0:
        raise InputError(
            f"{name} is declared admissible, but it is {value} for the goal {format_board(grid, goal.tolist())}: let "
            "it be 0 wherever all tiles are on their homes"
        )
    return Heuristic(
        name,
        workspace,
        measure,
        consistent=consistent,
        admissible=admissible,
        fingerprint=code.fingerprint,
        look=look,
        at_once=AT_ONCE,
    )


@shared
def value_at(address, board, about, board_shown, about_shown):
    """The value of a board by the function at an address, or ``FAILED``. It is shown copies."""
    for cell in range(board.size):
        board_shown[cell] = board[cell]
    for number in range(about.size):
        about_shown[number] = about[number]
    return call_at(address, board_shown, about_shown)


@body_of(load, Own)
def _load(heuristic, board, parts, at):
    for cell in range(board.size):
        put(heuristic.board, fetch(heuristic.cells, cell), fetch(heuristic.tiles, np.int64(board[cell])))
    heuristic.value[0] = parts[at]


@body_of(evaluate, Own)
def _evaluate(heuristic, slot, tile, source, target):
    board, goal = heuristic.board, heuristic.goal
    start, end = fetch(heuristic.cells, np.int64(source)), fetch(heuristic.cells, np.int64(target))
    put(board, end, fetch(heuristic.tiles, np.int64(tile)))
    put(board, start, np.int64(0))
    before = heuristic.value[0]
    shown = heuristic.board_shown, heuristic.about_shown
    value = value_at(heuristic.address, board, heuristic.about, *shown)
    fault = RAISED if value == FAILED else 0
    value = min(max(value, 1), MOST_VALUE)
    cell = 0
    while cell < goal.size and fetch(board, cell) == fetch(goal, cell):
        cell += 1
    if cell == goal.size:
        value = 0
    if fault == 0 and heuristic.consistent and abs(value - before) > 1:
        fault = JUMPED
    if fault != 0 and heuristic.fault[0] == 0:
        heuristic.fault[1] = before
        heuristic.fault[2] = value
        for cell in range(board.size):
            heuristic.fault[3 + cell] = board[cell]
        heuristic.fault[0] = fault
    if heuristic.consistent:  # what searches rely on
        value = min(max(value, before - 1), before + 1)
    put(board, start, fetch(board, end))
    put(board, end, np.int64(0))
    heuristic.values[slot] = value
    return value


@body_of(apply, Own)
def _apply(heuristic, slot, tile, source, target):
    put(heuristic.board, fetch(heuristic.cells, np.int64(target)), fetch(heuristic.tiles, np.int64(tile)))
    put(heuristic.board, fetch(heuristic.cells, np.int64(source)), np.int64(0))
    value = heuristic.value[0]
    heuristic.value[0] = heuristic.values[slot]
    heuristic.values[slot] = value
