"""What a notebook shows of a solution, and of the distribution of distances, as HTML.

Jupyter and its like ask a value for ``_repr_html_``. It is shown among the user's own text, on a light page or a dark
one: so it has no style of its own beyond what keeps the parts side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdb_builder.base.markup import Markup, element, joined, side_by_side
from pdb_builder.base.wording import counted
from pdb_builder.drawing import bars

from ..findings import iteration_table, method, remarks, verdict
from .film import draw_film
from .svg import draw

if TYPE_CHECKING:
    from ..distance_distribution import Distribution
    from ..solution import Solution

SMALL = 140  # pixels of the longer side of a board beside others
LARGE = 260
SHOWN = 4  # of the farthest boards


def solution_page(solution: Solution) -> Markup:
    """The start and the goal, the moves and what is proven of them, played, and how they were found."""
    grid, goal = solution.grid, solution.goal
    ends = side_by_side(draw(grid, solution.board, goal, SMALL), "\N{RIGHTWARDS ARROW}", draw(grid, goal, goal, SMALL))
    parts = [ends, element("p", element("b", verdict(solution)))]
    if solution.tiles:
        parts.append(element("p", element("code", solution.moves, style="overflow-wrap:anywhere")))
        parts.append(draw_film(solution, side=LARGE))
    said = [*remarks(solution), *method(solution)]
    parts.append(element("p", *_lines(said)))
    parts.append(iteration_table(solution).html())
    return element("div", *parts)


def distribution_page(found: Distribution) -> Markup:
    """The goal, the number of boards at each distance, and some of the farthest boards."""
    grid, goal, count = found.grid, found.goal, found.counts[-1]
    title = f"boards at distances 0 to {found.maximum}"
    some = found.farthest[:SHOWN]
    which = f", such as {'this' if len(some) == 1 else 'these'}" if len(some) < count else ""
    parts = [
        side_by_side(draw(grid, goal, goal, SMALL), bars(found.counts, title, 8 * len(found.counts), SMALL)),
        element(
            "p",
            f"{found.boards:,} boards of {grid} lead to this goal, from 0 to {found.maximum} moves away, "
            f"{found.mean:.2f} on average.",
        ),
    ]
    if some:
        parts.append(element("p", f"{counted(count, 'board')} at distance {found.maximum}{which}:"))
        parts.append(side_by_side(*(draw(grid, board, goal, SMALL) for board in some)))
    return element("div", *parts)


def _lines(texts: list[str]) -> list[Markup]:
    """Lines of text, each on its own."""
    return [joined(text, element("br")) for text in texts]
