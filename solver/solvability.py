"""Which boards can be solved, and why: parity, and the textbook rule that follows from it.

*Parity decides.* A move exchanges the blank with a tile, which turns an even permutation into an odd one and back; it
also takes the blank to a cell of the other chessboard colour. So a board and its goal must agree in both or differ in
both: the exchanges that turn the board into the goal and the moves that bring the blank home are both even or both
odd. On plain boards of at least 2x2 cells this is the only obstacle (Johnson & Story 1879). A wrapped odd side breaks
the colouring, and every board can be solved. ``why_unsolvable`` goes by this, for any goal.

*The textbook rule* says the same with *inversions*: pairs of tiles in a different order than in the goal, both read row
by row without the blank. A moving tile passes the tiles between its two cells in reading order, and each of them adds
or removes one inversion. With H rows of W cells:

    horizontal                         none
    vertical                           W - 1,            and the blank moves one row
    across a joined side               W - 2
    across the joined top or bottom    (H - 1) W - 1,    and the blank moves H - 1 rows

If W is odd, inversions stay even, as in the goal, which has none. If W is even, inversions plus the blank's row,
counted from the bottom, keep the parity they have in the goal. Joined edges with two even sides change nothing; with an
odd side, a crossing breaks the rule and nothing takes its place. ``docs/design.md`` works out each case and shows that
the two rules are one; the tests compare them with what a search reaches, for every board of the small shapes.

``facts_of`` computes both for a board, and ``explanation`` says them in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pdb_builder.base.wording import counted
from pdb_builder.grid import Grid, exchanges

from .board import Board

# ---- parity -------------------------------------------------------------------------------------


def why_unsolvable(grid: Grid, start: Sequence[int], goal: Sequence[int]) -> str | None:
    """None if moves lead from ``start`` to ``goal``, both boards of the grid; else the reason, in one line."""
    if not grid.bipartite:
        return None
    odd_exchanges = exchanges(start, goal) % 2 == 1
    colours = [grid.odd_cells >> board.index(0) & 1 for board in (start, goal)]
    odd_moves = colours[0] != colours[1]
    if odd_exchanges == odd_moves:
        return None
    return (
        f"the board cannot be solved: its order is an {_parity(odd_exchanges)} number of exchanges from the goal, "
        f"but its blank is an {_parity(odd_moves)} number of moves from home: exchange any two tiles, such as 1 and 2"
    )


# ---- the textbook rule --------------------------------------------------------------------------

KEYS = (
    "shape",
    "wrap",
    "board",
    "goal",
    "solvable",
    "rule",
    "inversions",
    "blank_row",
    "goal_blank_row",
    "exchanges",
    "blank_moves",
)


class Facts(NamedTuple):
    """What decides whether moves lead from ``board`` to ``goal``. Rows are counted from the bottom, from 1."""

    grid: Grid
    board: Board
    goal: Board
    solvable: bool
    inversions: int
    blank_row: int
    goal_blank_row: int
    exchanges: int  # that turn the board into the goal, blank included
    blank_moves: int  # that bring the blank home, ignoring the tiles

    @property
    def rule(self) -> str | None:
        """What the textbook rule demands, in a few words; None where it demands nothing."""
        if not self.grid.bipartite:
            return None
        if self.grid.cols % 2:
            return "inversions even"
        return f"inversions + row {_parity(self.goal_blank_row)}"

    @property
    def keeps_rule(self) -> bool:
        """Whether the board satisfies the textbook rule."""
        if not self.grid.bipartite:
            return True
        rows = 0 if self.grid.cols % 2 else self.blank_row - self.goal_blank_row
        return (self.inversions + rows) % 2 == 0

    def as_dict(self) -> dict:
        """The facts for JSON, by ``KEYS``."""
        known = self._asdict() | {
            "shape": self.grid.shape,
            "wrap": self.grid.wrap,
            "board": list(self.board),
            "goal": list(self.goal),
            "rule": self.rule,
        }
        return {key: known[key] for key in KEYS}


def facts_of(grid: Grid, board: Sequence[int], goal: Sequence[int]) -> Facts:
    """The facts about a board and a goal, both boards of the grid."""
    home = {tile: cell for cell, tile in enumerate(goal)}
    order = [home[tile] for tile in board if tile]
    blank, blank_home = board.index(0), home[0]
    return Facts(
        grid,
        tuple(board),
        tuple(goal),
        solvable=why_unsolvable(grid, board, goal) is None,
        inversions=sum(first > second for first, second in combinations(order, 2)),
        blank_row=grid.rows - blank // grid.cols,
        goal_blank_row=grid.rows - blank_home // grid.cols,
        exchanges=exchanges(board, goal),
        blank_moves=grid.distance(blank, blank_home),
    )


# ---- in words -----------------------------------------------------------------------------------


def verdict(facts: Facts) -> str:
    """Whether the board can be solved, in one line."""
    if not facts.grid.bipartite:
        return "can be solved, like every board with joined edges and an odd side"
    if facts.solvable:
        return "can be solved"
    return "cannot be solved: exchange any two tiles, such as 1 and 2, and it can be"


def short_explanation(facts: Facts) -> str:
    """The verdict and the numbers it rests on, in one line."""
    if not facts.grid.bipartite:
        return verdict(facts)
    judged = "can be solved" if facts.solvable else "cannot be solved"
    row, parity = ("", "even") if facts.grid.cols % 2 else (f" + row {facts.blank_row}", _parity(facts.goal_blank_row))
    return f"{judged}: {counted(facts.inversions, 'inversion')}{row}, which must be {parity}"


def explanation(facts: Facts) -> Iterator[str]:
    """Why the board can or cannot be solved, in a few lines: the textbook rule with its numbers, then parity."""
    rows, cols = facts.grid.rows, facts.grid.cols
    if not facts.grid.bipartite:
        line, length = ("row", cols) if cols % 2 else ("column", rows)
        yield f"edges       joined: around a {line} of {length} the blank is back after {length} moves, an odd number"
        yield "rule        none: going around turns odd orders into even ones and back, so every order can be reached"
        return
    tiles = [tile for tile in facts.goal if tile]
    what = "a larger number before a smaller one" if tiles == sorted(tiles) else "in a different order than in the goal"
    yield f"inversions  {facts.inversions} (pairs of tiles, read row by row, {what})"
    link = "and" if facts.keeps_rule else "but"
    passed = counted(cols - 1, "tile")
    if cols % 2:
        yield f"width       {cols}, odd: a vertical move passes {passed}, an even number; a horizontal move passes none"
        yield f"rule        inversions stay even, as in the goal, which has 0; {link} here they are {facts.inversions}"
    else:
        row, goal_row = facts.blank_row, facts.goal_blank_row
        yield f"blank       in row {row} from the bottom; in the goal, row {goal_row}"
        yield (
            f"width       {cols}, even: a vertical move passes {passed}, an odd number, and moves the blank a row; "
            "a horizontal move, none"
        )
        if facts.grid.wrap:
            yield (
                f"edges       joined: crossing a side passes {counted(cols - 2, 'tile')}; crossing the top passes "
                f"{counted((rows - 1) * cols - 1, 'tile')} and {counted(rows - 1, 'row')}: the same parity"
            )
        yield (
            f"rule        inversions + row stay {_parity(goal_row)}, as in the goal, 0 + {goal_row}; "
            f"{link} here they are {facts.inversions} + {row} = {facts.inversions + row}"
        )
    agree = f"they must agree, {'and do' if facts.solvable else 'but do not'}"
    yield (
        f"or          exchanges to the goal: {facts.exchanges}, {_parity(facts.exchanges)}; blank's moves to its home: "
        f"{facts.blank_moves}, {_parity(facts.blank_moves)}: {agree}"
    )


def _parity(number: int) -> str:
    return "odd" if number % 2 else "even"
