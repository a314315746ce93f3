"""Which boards can be solved, and how the rule of the textbooks follows.

Two rules say the same. The one the toolkit goes by is ``board.why_unsolvable``, for any goal: a move exchanges
the blank with a tile and takes the blank to a cell of the other chessboard colour, so the number of exchanges
that make the goal of a board and the number of moves that bring the blank home are both even or both odd.

The one of the textbooks counts *inversions*: pairs of tiles that stand in another order than in the goal, both
read row by row without the blank. For the goal 1 2 3 ... that is a larger number before a smaller one. On a board
of H rows of W cells a tile that moves passes those that stand between its two cells in reading order, and with each
of them an inversion comes or goes:

    to the side                        none
    up or down                         W - 1,            and the blank goes to the next row
    across a joined side               W - 2
    across the joined top or bottom    (H - 1) W - 1,    and the blank goes H - 1 rows

*W odd.* Moves pass none or an even number, so inversions stay even or odd as they are. The goal has none: a board
can be solved if its inversions are even.

*W even.* A move up or down passes an odd number and changes the blank's row by one; a move to the side changes
neither. So the inversions together with the blank's row, counted from the bottom, stay even or odd as they are in the
goal: odd for the goal with the blank in the bottom row, where they are 0 + 1.

*Joined edges, both sides even.* W - 2 is even and the row stays; (H - 1) W - 1 is odd and so is H - 1. The rule for
even W holds as it is. A joined side of 2 is nothing new: the table then gives what it gives for the ordinary move.

*Joined edges, an odd side.* If W is odd, a tile that crosses the side passes an odd number, W - 2, which no other
move does. If W is even and H odd, one that crosses the top passes an odd number while the row changes by H - 1,
which is even. Either way the rule is broken, and nothing takes its place: the moves that cross no edge connect all
boards that keep the rule with each other, and all that break it (below), and the crossing leads from the ones to the
others. Every board can be solved.

Why the two are the same: read the blank as the largest number. Inversions then grow by the tiles after the blank,
HW - 1 - (row W + column), and an order is an odd number of exchanges from the goal if such inversions are odd. The
chessboard colour is row + column. Together that makes, up to a constant of the goal, inversions + row (W + 1), row
counted from the top or from the bottom.

That nothing else stands in the way on plain boards of at least 2x2 is a classic (Johnson & Story 1879); the tests let
every board of the small shapes be reached, or not, by search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pdb_builder.grid import Grid

from .board import Board

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


UNSOLVABLE = "cannot be solved: exchange any two tiles, as in 1 and 2, and it can be"


class Facts(NamedTuple):
    """What decides whether moves lead from ``board`` to ``goal``. Rows are counted from the bottom, from 1."""

    grid: Grid
    board: Board
    goal: Board
    solvable: bool
    inversions: int
    row: int  # of the blank
    goal_row: int
    exchanges: int  # that make the goal of the board, the blank taking part
    way: int  # moves that bring the blank home, whatever becomes of the tiles

    @property
    def rule(self) -> str | None:
        """What the textbooks ask for, in a few words: None where they ask for nothing."""
        if not self.grid.bipartite:
            return None
        if self.grid.cols % 2:
            return "inversions even"
        return f"inversions + row {_parity(self.goal_row)}"

    @property
    def keeps_rule(self) -> bool:
        """Whether the board is as the rule of the textbooks asks."""
        if not self.grid.bipartite:
            return True
        rows = 0 if self.grid.cols % 2 else self.row - self.goal_row
        return (self.inversions + rows) % 2 == 0

    def as_dict(self) -> dict:
        """The facts for JSON."""
        numbers = (self.inversions, self.row, self.goal_row, self.exchanges, self.way)
        boards = (list(self.board), list(self.goal))
        values = (self.grid.shape, self.grid.wrap, *boards, self.solvable, self.rule, *numbers)
        return dict(zip(KEYS, values, strict=True))


def facts_of(grid: Grid, board: Sequence[int], goal: Sequence[int]) -> Facts:
    """The facts of a board, both it and the goal boards of the grid."""
    home = {tile: cell for cell, tile in enumerate(goal)}
    order = [home[tile] for tile in board if tile]
    blank, end = board.index(0), home[0]
    return Facts(
        grid,
        tuple(board),
        tuple(goal),
        solvable=why_unsolvable(grid, board, goal) is None,
        inversions=sum(first > second for first, second in combinations(order, 2)),
        row=grid.rows - blank // grid.cols,
        goal_row=grid.rows - end // grid.cols,
        exchanges=exchanges(board, goal),
        way=grid.distance(blank, end),
    )


def verdict(facts: Facts) -> str:
    """The answer in one line."""
    if not facts.grid.bipartite:
        return "can be solved, as every board with joined edges and an odd side"
    return "can be solved" if facts.solvable else UNSOLVABLE


def explained(facts: Facts) -> Iterator[str]:
    """Why, in a few lines."""
    rows, cols = facts.grid.rows, facts.grid.cols
    if not facts.grid.bipartite:
        line, length = ("row", cols) if cols % 2 else ("column", rows)
        yield f"edges       joined: round a {line} of {length} the blank is back after {length} moves, an odd number"
        yield "rule        none: the way round makes odd orders even and even ones odd, so no order is out of reach"
        return
    tiles = [tile for tile in facts.goal if tile]
    what = "a larger number before a smaller one" if tiles == sorted(tiles) else "in another order than in the goal"
    yield f"inversions  {facts.inversions} (pairs of tiles, read row by row, {what})"
    link = "and" if facts.keeps_rule else "but"
    if cols % 2:
        yield f"width       {cols}, odd: up or down, a tile passes {_others(cols - 1)}, even; to the side, none"
        yield f"rule        inversions stay even, as in the goal, which has 0; {link} here they are {facts.inversions}"
    else:
        yield f"blank       in row {facts.row} from the bottom; in the goal, row {facts.goal_row}"
        yield (
            f"width       {cols}, even: up or down, a tile passes {_others(cols - 1)}, odd, and the blank a row; "
            "to the side, none"
        )
        if facts.grid.wrap:
            yield (
                f"edges       joined: across a side, a tile passes {_others(cols - 2)}; across the top, "
                f"{(rows - 1) * cols - 1}, and the blank {rows - 1} row{'s' * (rows != 2)}: the same again"
            )
        yield (
            f"rule        inversions + row stay {_parity(facts.goal_row)}, as in the goal, 0 + {facts.goal_row}; "
            f"{link} here they are {facts.inversions} + {facts.row} = {facts.inversions + facts.row}"
        )
    agree = f"they must agree, {'and do' if facts.solvable else 'but do not'}"
    yield (
        f"or          exchanges to the goal: {facts.exchanges}, {_parity(facts.exchanges)}; blank's moves to its home: "
        f"{facts.way}, {_parity(facts.way)}: {agree}"
    )


def in_short(facts: Facts) -> str:
    """The verdict and the numbers it rests on, in one line."""
    if not facts.grid.bipartite:
        return verdict(facts)
    rows = "" if facts.grid.cols % 2 else f" + row {facts.row}"
    judged = "can be solved" if facts.solvable else "cannot be solved"
    inversions = f"{facts.inversions} inversion{'s' * (facts.inversions != 1)}{rows}"
    return f"{judged}: {inversions}, which must be {facts.rule.rpartition(' ')[2]}"


def _parity(number: int) -> str:
    return "odd" if number % 2 else "even"


def _others(count: int) -> str:
    return f"{count} other{'s' * (count != 1)}"


def why_unsolvable(grid: Grid, start: Sequence[int], goal: Sequence[int]) -> str | None:
    """None if moves lead from ``start`` to ``goal``, both boards of the grid; else the reason, in one line."""
    if not grid.bipartite:
        return None
    odd_order = exchanges(start, goal) % 2 == 1
    colours = [grid.odd_cells >> board.index(0) & 1 for board in (start, goal)]
    odd_way = colours[0] != colours[1]
    if odd_order == odd_way:
        return None
    order, way = ("odd", "even") if odd_order else ("even", "odd")
    return (
        f"the board cannot be solved: its order is an {order} number of exchanges from the goal, "
        f"but the way of the blank is an {way} number of moves: exchange any two tiles, as in 1 and 2"
    )


def exchanges(start: Sequence[int], goal: Sequence[int]) -> int:
    """The fewest exchanges of two numbers, blank included, that make ``goal`` of ``start``."""
    home = {tile: cell for cell, tile in enumerate(goal)}
    unseen = set(range(len(goal)))
    count = 0
    while unseen:
        first = cell = unseen.pop()
        while (cell := home[start[cell]]) != first:  # a cycle of k cells is k-1 exchanges
            unseen.remove(cell)
            count += 1
    return count
