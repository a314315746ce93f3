"""The pictures of a comparison."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from pdb_builder.base.files import output_file

from .comparison import Cell, Comparison
from .tables import times

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FORMATS = ("png", "svg")


# Black, then colours of Okabe & Ito, which the colour-blind can tell apart; neighbours differ in brightness.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#E69F00", "#CC79A7", "#009E73", "#56B4E9")


MARKERS = "osD^vPX"


DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))


GREY = "#999999"


STYLE = {
    "font.size": 10,
    "legend.fontsize": 8.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "slidepdb",  # the same picture is the same file
}


def _form(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def save_plot(comparison: Comparison, title: str, path: Path) -> None:
    """Draw the pictures into a file, PNG or SVG by its ending."""
    picture = _drawn(comparison, title, _form(path))
    with output_file(path) as file:
        file.write(picture)


def _drawn(comparison: Comparison, title: str, form: str) -> bytes:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        varied = comparison.varied
        figure = Figure(figsize=(16 + 5 * varied, 4.4 + 0.2 * len(comparison.methods)), layout="constrained")
        figure.suptitle(_plain(title), fontsize=12)
        figure.get_layout_engine().set(wspace=0.05)
        against, spread, by_length, *price = figure.subplots(1, 3 + varied)
        columns = {
            name: [comparison.cell(one, method) for one in comparison.whole()]
            for name, method in zip(_names(comparison), comparison.methods, strict=True)
        }
        _draw_against(against, columns)
        shortest = [comparison.shortest(one)[0] for one in comparison.whole()]
        _draw_spread(spread, columns, shortest)
        _draw_by_length(by_length, columns, shortest)
        for axes in price:
            _draw_price(axes, columns, shortest)
        file = io.BytesIO()
        figure.savefig(file, format=form, dpi=120, metadata={"Date": None} if form == "svg" else None)
    return file.getvalue()


def _names(comparison: Comparison) -> list[str]:
    """What the methods are called: no more than tells them apart."""
    several = len({method.algorithm for method in comparison.methods}) > 1
    short = [str(method) if several else method.heuristic for method in comparison.methods]
    return [_plain(name if name != "none" else comparison.methods[0].algorithm) for name in short]


def _plain(text: str) -> str:
    """Text that stands for itself: between two dollar signs matplotlib would read a formula."""
    return text.replace("$", r"\$")


def _dots(axes: Axes, number: int, xs: list[int], ys: list[int], hollow: list[bool], label: str | None = None) -> None:
    """A dot a board of the method with this number."""
    colour = COLOURS[number % len(COLOURS)]
    faces = ["none" if empty else f"{colour}80" for empty in hollow]  # half transparent
    look = {"s": 20 if len(xs) <= 200 else 7, "marker": _look(MARKERS, number), "linewidths": 0.7}
    axes.scatter(xs, ys, facecolors=faces, edgecolors=f"{colour}80", **look)
    axes.scatter([], [], facecolors=colour, edgecolors=colour, label=label, **look)  # for the legend, never hollow


def _line(number: int) -> dict:
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": _look(DASHES, number), "linewidth": 1.8}


def _look(looks: Sequence, number: int) -> Any:
    """The marker or dash of a method: with every round of the colours the next one, so that the pair is another."""
    return looks[(number + number // len(COLOURS)) % len(looks)]


def _draw_against(axes: Axes, columns: dict[str, list[Cell]]) -> None:
    (first_name, first), *others = columns.items()
    for number, (name, cells) in enumerate(others, 1):
        pairs = list(zip(first, cells, strict=True))
        hollow = [a.cut_short or b.cut_short for a, b in pairs]
        ratios = [a.generated / b.generated for (a, b), limited in zip(pairs, hollow, strict=True) if not limited]
        found = f"median ratio {times(median(ratios))}" if ratios else "no ratio"
        found += f" ({len(ratios)} boards, without limits)" if any(hollow) else ""
        _dots(axes, number, [a.generated for a in first], [b.generated for b in cells], hollow, f"{name}: {found}")
    ends = (min(cell.generated for cell in first) / 2, max(cell.generated for cell in first) * 2)
    axes.plot(ends, ends, color=GREY, linewidth=1, label=f"as many as {first_name}")
    if any(cell.cut_short for cells in columns.values() for cell in cells):
        axes.scatter(
            [], [], s=20, facecolors="none", edgecolors=GREY, label="hollow: a limit was hit, the truth is higher"
        )
    axes.set(xscale="log", yscale="log", xlim=ends, title="Board by board", xlabel=f"generated with {first_name}")
    axes.set_ylabel("generated")
    _legend(axes)


def _draw_spread(axes: Axes, columns: dict[str, list[Cell]], shortest: list[int | None]) -> None:
    values = {_plain(cells[0].heuristic): [cell.h_start for cell in cells] for cells in columns.values()}
    if len(values) > 1:
        values.pop("none", None)  # it gives every start 1
    lengths = [length for length in shortest if length is not None]
    everything = [value for column in [*values.values(), lengths] for value in column]
    step = 2  # the values of boards with the blank in one place are all even, or all odd
    edges = [min(everything) - 0.5 + step * number for number in range((max(everything) - min(everything)) // step + 2)]
    if lengths:
        axes.hist(lengths, edges, color="#dddddd", label=f"solution length: mean {mean(lengths):.2f}")
    for number, (name, column) in enumerate(values.items()):
        axes.hist(column, edges, histtype="step", label=f"{name}: mean {mean(column):.2f}", **_line(number))
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(title="Heuristic values at the start", xlabel="moves", ylabel="boards")
    _legend(axes)


def _draw_by_length(axes: Axes, columns: dict[str, list[Cell]], lengths: list[int | None]) -> None:
    from matplotlib.patheffects import Normal, Stroke

    for number, (name, cells) in enumerate(columns.items()):
        known = [(length, cell) for length, cell in zip(lengths, cells, strict=True) if length is not None]
        xs, ys = [length for length, _ in known], [cell.generated for _, cell in known]
        _dots(axes, number, xs, ys, [cell.cut_short for _, cell in known])
        groups = groupby(sorted(zip(xs, ys, strict=True)), key=lambda dot: dot[0])
        medians = [(length, median(count for _, count in group)) for length, group in groups]
        outline = [Stroke(linewidth=3.5, foreground="white"), Normal()]  # to be seen before the dots
        axes.plot([x for x, _ in medians], [y for _, y in medians], path_effects=outline, **_line(number))
        axes.plot([], [], marker=_look(MARKERS, number), markersize=5, label=name, **_line(number))
    axes.set(title="By solution length, with the medians", xlabel="moves", ylabel="generated")
    if any(length is not None for length in lengths):
        axes.set_yscale("log")
        _legend(axes)
    else:
        axes.text(0.5, 0.5, "no board was solved", transform=axes.transAxes, ha="center")


def _draw_price(axes: Axes, columns: dict[str, list[Cell]], shortest: list[int | None]) -> None:
    for number, (name, cells) in enumerate(columns.items()):
        solved = [(cell, best) for cell, best in zip(cells, shortest, strict=True) if cell.length is not None]
        xs, ys = [cell.generated for cell, _ in solved], [cell.length - best for cell, best in solved]
        found = f"mean length {mean(cell.length for cell, _ in solved):.2f}" if solved else "nothing solved"
        found += f" ({len(solved)} of {len(cells)} boards)" if 0 < len(solved) < len(cells) else ""
        _dots(axes, number, xs, ys, [cell.cut_short for cell, _ in solved], f"{name}: {found}")
    axes.set(title="How much longer the solutions are", xlabel="generated", ylabel="moves above the least known")
    if any(cell.length is not None for cells in columns.values() for cell in cells):
        axes.set_xscale("log")
    axes.yaxis.get_major_locator().set_params(integer=True)
    _legend(axes)


def _legend(axes: Axes) -> None:
    """A legend below the picture, where it hides nothing."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0, -0.52, axes.figure.dpi_scale_trans)  # inches, for numbers and label
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, borderaxespad=0, frameon=False)
