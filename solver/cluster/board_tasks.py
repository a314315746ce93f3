"""What a worker does with a whole board: solve it, as the client would.

The client says which heuristic it has, and which for the way back, if it has one. A worker that has others is unfit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Event, Lock

from ..board import Board
from ..settings import Settings
from ..solution import Solution
from .bundle_tasks import MOST_TOKENS
from .fitness import Wanted, fitting

_interrupts: OrderedDict[str, Event] = OrderedDict()  # by token
_making = Lock()


def _interrupt_of(token: str) -> Event:
    with _making:
        while len(_interrupts) > MOST_TOKENS:
            _interrupts.popitem(last=False)
        return _interrupts.setdefault(token, Event())


def interrupt(token: str) -> None:
    """Leave a note: boards with this token are to be given up."""
    _interrupt_of(token).set()


def solve_there(
    solve_board: Callable[..., Solution],
    wanted: tuple[Wanted, ...],
    board: Board,
    goal: Board,
    settings: Settings,
    token: str,
) -> Solution:
    """A solution of a board. ``wanted`` are the heuristic, and that of the way back, where the client is."""
    for one in wanted:
        fitting(one)
    return solve_board(wanted[0].grid, board, goal, settings, interrupt=_interrupt_of(token))
