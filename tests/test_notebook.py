"""What notebooks show: values as HTML and SVG that can be parsed, and the notebook of the documentation."""

import ast
import contextlib
import io
import json
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from pdb_builder import Database, Grid, Spec, build_database, open_database
from pdb_builder.base.errors import InputError
from pdb_builder.base.markup import Markup, element, escaped, joined, table
from pdb_builder.drawing import DARK, bars
from solver import Comparison, Distribution, Settings, Solution, distribution
from solver.comparison import plots
from solver.comparison.methods import Method
from solver.comparison.tables import summary_table
from solver.findings import LIMITS
from solver.search.outcome import Incumbent, Iteration

from .comparisons import A, B, cell, filled
from .solutions import contrast, longest, scrambled, unsolved

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.ipynb"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('1')</script>&\"\x00\x1b\udcff\ud800😀"


def parsed(value):
    """The elements of what a notebook shows of a value. That it is XML says that it is HTML with every end tag."""
    page = value._repr_html_()
    page.encode()
    return ElementTree.fromstring(page)


def rows(page):
    return [["".join(one.itertext()) for one in row] for row in page.iter("tr")]


def words(page):
    return " ".join("".join(page.itertext()).split())


# ---- markup -------------------------------------------------------------------------------------


def test_what_is_not_markup_is_escaped():
    made = element("p", "a < b", Markup("<b>c</b>"), 7, title='"', class_="x", font_size=2, style=None)
    assert made == '<p title="&quot;" class="x" font-size="2">a &lt; b<b>c</b>7</p>'
    assert element("br") == "<br/>" and element("td", "") == "<td></td>", "only what has no contents closes itself"
    assert joined("<", Markup("<i/>")) == "&lt;<i/>" and escaped(escaped("&")) == "&amp;"


def test_any_text_can_be_part_of_a_page():
    page = ElementTree.fromstring(element("p", HOSTILE, title=HOSTILE))
    assert page.text == page.get("title") == HOSTILE.translate(dict.fromkeys([0, 0x1B, 0xDCFF, 0xD800], "\ufffd"))
    everything = "".join(map(chr, range(0x110000)))
    assert len(ElementTree.fromstring(element("p", everything).encode()).text) == len(everything)


def test_tables_have_names_on_the_left():
    page = ElementTree.fromstring(table(["name", "<n>"], [["a&b", 1], ["", Markup("<i/>")]], [0], [("both", 2)]))
    assert rows(page) == [["both"], ["name", "<n>"], ["a&b", "1"], ["", ""]]
    assert [one.get("style") for one in page.findall("tr")[2]] == ["text-align:left", None]
    assert page.find("tr/th").get("colspan") == "2" and page.find(".//i") is not None


@pytest.mark.parametrize("counts", [[1], [0, 1], [1, 0, 3, 10**12], [10**12, 1]])
def test_a_bar_for_every_count(counts):
    path = ElementTree.fromstring(bars(counts, "counts", 100, 20)).find(f"{SVG}path").get("d")
    found = {int(at): float(height) for at, height in re.findall(r"M(\d+) 20v-([\d.]+)h", path)}
    assert list(found) == [at for at, count in enumerate(counts) if count]
    assert max(found.values()) == 20 and min(found.values()) > 0
    assert [at for at in found if found[at] == 20] == [at for at, count in enumerate(counts) if count == max(counts)]


# ---- solutions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solution",
    [scrambled("2x2"), scrambled("3x4", wrap=True, goal="spiral"), scrambled("10x10"), longest(), scrambled("3x3", 0)],
    ids=lambda solution: f"{solution.grid} {len(solution.tiles)}",
)
def test_a_solution_shows_start_goal_moves_and_proof(solution):
    page = parsed(solution)
    titles = [one.text for one in page.iter(f"{SVG}title")]
    numbers = [" ".join(map(str, board)) for board in (solution.board, solution.goal)]
    assert [title.partition(": ")[2].replace(" / ", " ") for title in titles[:2]] == numbers
    assert len(titles) == (3 if solution.tiles else 2), "the way is played"
    assert f"{len(solution.tiles)} moves, proven shortest" in words(page)
    assert solution.moves in words(page) and "ida-star with manhattan" in words(page)
    assert repr(solution) == f"<Solution of {solution.grid.a_board}: {len(solution.tiles)} moves, proven shortest>"


def test_the_iterations_are_a_table():
    done = [Iteration(20, 5, 9, 0.5, 2, "forward"), Iteration(20, 7, 1234, 0.25, 2, "backward", given_up=True)]
    solution = replace(scrambled("3x3"), iterations=done, expanded=12, generated=1244, seconds=0.75)
    assert rows(parsed(solution)) == [
        ["bound", "expanded", "generated", "seconds", "from"],
        ["20", "5", "9", "0.500", "start"],
        ["20", "7", "1,234", "0.250", "goal, given up"],
        ["all", "12", "1,244", "0.750", ""],
    ]
    beam = replace(scrambled("3x3"), algorithm="beam", iterations=[Iteration(10, 1, 2, 0.1), Iteration(100, 3, 4, 0.2)])
    beam = replace(beam, incumbents=(Incumbent(12, 0.2, 100),), lower_bound=8, suboptimality_bound=None, stopped="time")
    assert [row[:2] for row in rows(parsed(beam))] == [["width", "moves"], ["10", "-"], ["100", "12"], ["all", "12"]]
    assert "no guarantee, lower bound 8, ratio 1.500" in words(parsed(beam))
    assert "there may be a shorter one: the time limit was reached" in words(parsed(beam))


@pytest.mark.parametrize("limit", LIMITS)
def test_a_search_without_a_solution_says_why(limit):
    solution = replace(unsolved(), stopped=limit)
    page = parsed(solution)
    proven = "at least 9 moves, proven" if limit == "proven" else f"no solution has fewer than 9 moves, {LIMITS[limit]}"
    assert proven in words(page) and len(list(page.iter(f"{SVG}title"))) == 2
    assert repr(solution) == f"<Solution of a 3x3 board: {proven}>"


def test_names_of_heuristics_are_escaped():
    page = parsed(replace(scrambled("3x3"), heuristic=f"pdb:{HOSTILE}"))
    assert page.find(".//script") is None and "pdb:<script>alert('1')</script>&\"" in words(page)


# ---- distributions ------------------------------------------------------------------------------


@pytest.mark.jit
@pytest.mark.parametrize("most", [None, 0, 1])
def test_a_distribution_shows_its_goal_its_counts_and_far_boards(most):
    found = distribution("2x3", goal="spiral", most=most)
    page = parsed(found)
    assert repr(found) == f"<Distribution of 2x3: 360 boards, mean {found.mean:.2f}, maximum {found.maximum}>"
    assert f"360 boards of 2x3 lead to this goal, from 0 to {found.maximum} moves away" in words(page)
    titles = [one.text for one in page.iter(f"{SVG}title")]
    assert titles[:2] == ["2x3 board: 1 2 3 / 0 5 4", f"boards at distances 0 to {found.maximum}"]
    assert len(titles) == 2 + len(found.farthest)
    assert isinstance(found, tuple) and found.counts == tuple(found)[2], "it is the tuple it was"


# ---- comparisons --------------------------------------------------------------------------------


def test_a_comparison_shows_what_came_out():
    made = filled(*(cell(number, one, generated=100 if one is B else 900) for number in (1, 2) for one in (A, B)))
    page = parsed(made)
    assert words(page).startswith("linear-conflict generates 9 times fewer boards than manhattan, ")
    assert rows(page) == [summary_table(made).headings, *summary_table(made).rows]
    assert repr(made) == "<Comparison of 2 methods on 2 boards of 3x3>"


def test_an_unfinished_comparison_shows_what_is_finished():
    assert repr(filled(cell(1, A), cell(1, B), cell(2, A))).endswith("on 2 boards of 3x3, 1 of them finished>")
    nothing = filled(cell(1, A))
    assert "0 of them finished" in words(parsed(nothing)) and nothing.to_records() == []
    with pytest.raises(InputError, match="no board is finished, so there is nothing to draw: run the searches first"):
        nothing.svg()


def test_records_are_plain_values_board_by_board():
    cells = [cell(2, B), cell(1, B, limit="nodes"), cell(2, A), cell(1, A, stored=5)]
    records = filled(*cells).to_records()
    assert [(one["instance"], one["heuristic"]) for one in records] == [
        *((1, "manhattan"), (1, "linear-conflict")),
        *((2, "manhattan"), (2, "linear-conflict")),
    ]
    assert json.loads(json.dumps(records)) == records
    assert (records[0]["stored"], records[1]["length"], records[1]["limit_hit"]) == (5, None, "nodes")
    assert list(records[0]) == list(cells[0]._fields)


def test_a_comparison_can_be_drawn():
    pytest.importorskip("matplotlib")
    made = filled(*(cell(number, method) for number in (1, 2) for method in (A, B)))
    picture = made.svg()
    assert ElementTree.fromstring(picture._repr_svg_()).tag == f"{SVG}svg" and picture.startswith("<svg")
    assert picture == made.svg("2 boards of 3x3"), "the same every time"


def test_without_matplotlib_a_comparison_says_so(monkeypatch):
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pictures need matplotlib, which is not installed: run pip install"):
        filled(cell(1, A), cell(1, B), count=1).svg()


def test_names_of_methods_are_escaped():
    odd = Method("ida-star", f"pdb:{HOSTILE}", Settings())
    page = parsed(filled(cell(1, A), cell(1, odd), methods=(A, odd), count=1))
    assert page.find(".//script") is None and "<script>" in words(page)


# ---- databases ----------------------------------------------------------------------------------


def squares(picture):
    """The label and the colours of every square, by its place."""
    found = {}
    for group in picture.iter(f"{SVG}g"):
        place = tuple(int(number) // 50 for number in re.findall(r"\d+", group.get("transform")))
        found[place[::-1]] = (group.find(f"{SVG}text").text, group.get("fill"), group.get("color"))
    return found


@pytest.mark.jit
def test_a_database_shows_its_partition_and_its_tables(small):
    database = open_database(small)
    page = parsed(database)
    drawn = squares(page.find(f".//{SVG}svg"))
    letters = [drawn.get(divmod(place, 3), (".",))[0] for place in range(9)]
    assert letters == list(".AAAABBBB")
    assert len({drawn[place][1] for place in drawn}) == 2
    heads, *lines = rows(page)
    assert heads == ["pattern", "tiles", "entries", "size", "maximum", "mean", "distances"]
    for line, one in zip(lines, database.tables, strict=True):
        tiles = " ".join(map(str, one.tiles))
        assert line[1:3] == [tiles, f"{one.entries:,}"] and line[4:6] == [str(one.maximum), f"{one.mean:.2f}"]
    assert repr(database).startswith("<Database '3x3-4-4.h5': 3x3 board, 2 patterns, bits, ")
    assert repr(database.tables[0]) == (
        f"<Table of 1,2,3,4 on 3x3: {database.tables[0].entries:,} entries, maximum {database.tables[0].maximum}, "
        f"mean {database.tables[0].mean:.2f}>"
    )


@pytest.mark.jit
def test_a_collection_shows_every_partition_and_names_of_files_are_escaped(tmp_path):
    name = "<b>&'😀.h5"
    partitions = (((1, 2), (3, 4, 5)), ((1, 4), (2,), (3, 5)))
    database = build_database(Spec(Grid(2, 3, wrap=True), partitions), tmp_path / name)
    page = parsed(database)
    assert words(page).startswith(f"{name}: 2x3 wrapped board, 2 partitions, ")
    assert len(page.findall(f".//div/{SVG}svg")) == 2 and len(rows(page)) == 1 + len(database.tables)
    for picture in page.findall(f".//div/{SVG}svg"):
        for _, fill, ink in squares(picture).values():
            assert contrast(*(tuple(int(part[at : at + 2], 16) for at in (1, 3, 5)) for part in (fill, ink))) >= 4.5
    assert ink == "#{:02x}{:02x}{:02x}".format(*DARK)
    assert repr(name) in repr(database)


# ---- the notebook of the documentation ----------------------------------------------------------


def shown_by(source, names):
    """Run a cell; the value of its last expression, if it ends with one."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NOTEBOOK.name, "exec"), names)
    return eval(compile(last, NOTEBOOK.name, "eval"), names) if last else None


@pytest.mark.jit
def test_the_notebook_goes_from_a_board_to_a_comparison_in_ten_cells(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path / "none"))
    book = json.loads(NOTEBOOK.read_text())
    sources = ["".join(one["source"]) for one in book["cells"] if one["cell_type"] == "code"]
    names, shown = {}, []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        shown = [shown_by(source, names) for source in sources]
    assert len(sources) == 10 and printed.getvalue() == ""
    for value in shown:
        for form in ("_repr_html_", "_repr_svg_"):
            if hasattr(value, form):
                assert ElementTree.fromstring(getattr(value, form)()) is not None
    kinds = [type(value).__name__ for value in shown]
    assert kinds == [
        *("NoneType", "Picture", "Facts", "Solution", "Distribution"),
        *("Database", "Solution", "Picture", "Comparison", "Picture"),
    ]
    assert {Solution, Distribution, Database, Comparison} <= set(map(type, shown))
    values = {type(value) for record in shown[8].to_records() for value in record.values()}
    assert values <= {int, float, str, type(None)}, "plain values"
    plain, better = shown[3], shown[6]
    assert plain.length == better.length == 31 and better.generated < plain.generated
    assert [method.heuristic for method in shown[8].methods] == ["manhattan", "linear-conflict", "pdb:3x3-4-4"]


def test_the_notebook_is_stored_without_outputs():
    book = json.loads(NOTEBOOK.read_text())
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    for one in book["cells"]:
        assert one["cell_type"] == "markdown" or (one["outputs"], one["execution_count"]) == ([], None)
    assert len({one["id"] for one in book["cells"]}) == len(book["cells"])
