"""What a worker does with a whole board: solve it, as the client would.

The client has named the heuristic and the checksums of its databases. A worker that has others is unfit.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Event, Lock

from pdb_builder.grid import Grid

from ..board import Board
from ..choosing import heuristic_for
from ..frame import frame_of
from ..settings import Settings
from ..solution import Solution
from ..solving import solve_board
from .bundle_tasks import MOST_TOKENS, unfit_unless

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
    version: str,
    shape: str,
    wrap: bool,
    board: Board,
    goal: Board,
    settings: Settings,
    seals: tuple[str, ...],
    token: str,
) -> Solution:
    """A solution of a board. ``seals`` are those of the databases that the heuristic has where the client is."""
    grid = Grid.parse(shape, wrap)
    unfit_unless(version, seals, lambda: heuristic_for(frame_of(grid, goal), settings))
    return solve_board(grid, board, goal, settings, interrupt=_interrupt_of(token))
