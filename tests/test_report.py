"""The pictures of a comparison and its page: everything is there, readable, and nothing is cut off."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from pdb_builder.base.errors import InputError
from solver import Settings
from solver.comparison import plots, report
from solver.comparison.methods import Method
from solver.comparison.plots import save_plot
from solver.comparison.report import check_outputs, save_report

from .test_comparing import DEEP, GREEDY, GRID, A, B, cell, filled

pytest.importorskip("matplotlib")

PDB = Method("ida-star", "pdb:4x4-7-8", Settings())


def example(limit=None):
    """Three boards, three methods; with a limit, the first board of the first method hit it."""
    cells = []
    for number, length in ((1, 20), (2, 24), (3, 24)):
        hit = limit if number == 1 else None
        cells.append(cell(number, A, length, h_start=10 + number, generated=10_000 * number, limit=hit))
        cells.append(cell(number, B, length, h_start=12 + number, generated=1000 * number))
        cells.append(cell(number, PDB, length, h_start=16 + number, generated=[50, 40, 25][number - 1]))
    return filled(*cells, methods=(A, B, PDB), count=3)


def varied():
    """Three boards by a method that guarantees shortest solutions, one that guarantees less, and an uninformed one.

    Of the last, one search hit a limit and one came to the end of its depth.
    """
    cells = []
    for number, length in ((1, 20), (2, 24), (3, 24)):
        cells.append(cell(number, A, length, h_start=10 + number, generated=10_000 * number))
        cells.append(cell(number, GREEDY, length + 2 * number, h_start=40, generated=100 * number))
        limit = (None, "depth", "nodes")[number - 1]
        cells.append(cell(number, DEEP, length, h_start=1, generated=[50, 40, 25][number - 1], limit=limit))
    return filled(*cells, methods=(A, GREEDY, DEEP), count=3)


@pytest.fixture
def figures(monkeypatch):
    """The figures that are drawn, kept to look at."""
    from matplotlib.figure import Figure

    kept = []

    def save(figure, *args, **options):
        kept.append(figure)
        return original(figure, *args, **options)

    original = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", save)
    return kept


def drawn(figures, comparison, path):
    save_plot(comparison, "three boards", path)
    return figures[-1]


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def dots(axes):
    return [group.get_offsets().tolist() for group in axes.collections if len(group.get_offsets())]


def test_every_board_is_a_dot_against_the_first_method(figures, tmp_path):
    against = drawn(figures, example(), tmp_path / "a.png").axes[0]
    assert dots(against) == [
        [[10_000, 1000], [20_000, 2000], [30_000, 3000]],
        [[10_000, 50], [20_000, 40], [30_000, 25]],
    ]
    assert (against.get_xscale(), against.get_yscale()) == ("log", "log")
    assert labels(against) == [
        "linear-conflict: median ratio 10",
        "pdb:4x4-7-8: median ratio 500",
        "as many as manhattan",
    ]
    (diagonal,) = against.lines
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata())


def test_heuristic_values_and_lengths_are_spread_out(figures, tmp_path):
    spread = drawn(figures, example(), tmp_path / "a.png").axes[1]
    assert labels(spread) == [
        "solution length: mean 22.67",
        "manhattan: mean 12.00",
        "linear-conflict: mean 14.00",
        "pdb:4x4-7-8: mean 18.00",
    ]
    assert sum(bar.get_height() for bar in spread.patches if hasattr(bar, "get_height")) == 3, "every length is counted"


def test_medians_by_length(figures, tmp_path):
    by_length = drawn(figures, example(), tmp_path / "a.png").axes[2]
    assert dots(by_length)[2] == [[20, 50], [24, 40], [24, 25]]
    lines = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in by_length.lines]
    assert [line for line in lines if line] == [
        [(20, 10_000), (24, 25_000)],
        [(20, 1000), (24, 2500)],
        [(20, 50), (24, 32.5)],
    ]


def test_lengths_that_are_not_the_same_are_drawn(figures, tmp_path):
    against, spread, by_length, price = drawn(figures, varied(), tmp_path / "a.png").axes
    assert labels(against)[:2] == [
        "greedy with inversions: median ratio 100",
        "dfs:20: median ratio 350 (2 boards, without limits)",
    ]
    assert labels(spread) == ["solution length: mean 22.67", "manhattan: mean 12.00", "inversions: mean 40.00"]
    assert dots(by_length)[1] == [[20, 100], [24, 200], [24, 300]], "by the least length of the board"
    assert dots(price) == [[[10_000, 0], [20_000, 0], [30_000, 0]], [[100, 2], [200, 4], [300, 6]], [[50, 0]]]
    assert labels(price) == [
        "ida-star with manhattan: mean length 22.67",
        "greedy with inversions: mean length 26.67",
        "dfs:20: mean length 20.00 (1 of 3 boards)",
    ]
    assert len(drawn(figures, example(), tmp_path / "b.png").axes) == 3


def test_where_nothing_was_solved_there_are_no_lengths(figures, tmp_path):
    comparison = filled(cell(1, GREEDY, limit="nodes"), methods=[GREEDY], count=1)
    figure = drawn(figures, comparison, tmp_path / "a.png")
    assert dots(figure.axes[3]) == [] and labels(figure.axes[3]) == ["inversions: nothing solved"]
    alone = filled(cell(1, DEEP, limit="depth", h_start=1), methods=[DEEP], count=1)
    assert labels(drawn(figures, alone, tmp_path / "a.png").axes[3]) == ["dfs:20: nothing solved"]


def test_a_limit_is_seen(figures, tmp_path):
    figure = drawn(figures, example("nodes"), tmp_path / "a.png")
    against = figure.axes[0]
    assert labels(against)[0] == "linear-conflict: median ratio 10 (2 boards, without limits)"
    assert "hollow: a limit was hit, the true value is higher" in labels(against)
    first = next(group for group in against.collections if len(group.get_offsets()))
    assert [face[-1] > 0 for face in first.get_facecolors()] == [False, True, True]


def test_where_no_board_was_solved_that_is_said(figures, tmp_path):
    hit = filled(cell(1, A, limit="nodes"), cell(1, B, limit="nodes"), count=1)
    by_length = drawn(figures, hit, tmp_path / "a.png").axes[2]
    assert [text.get_text() for text in by_length.texts] == ["no board was solved"]
    save_report(hit, "one board", ["compare"], tmp_path / "a.html")


def test_a_dollar_is_a_dollar_in_names_and_not_in_numbers(figures, tmp_path):
    odd = Method("ida-star", r"pdb:$\foo$", Settings())
    comparison = filled(cell(1, A), cell(1, odd, generated=9), methods=(A, odd), count=1)
    save_plot(comparison, r"boards of a$\foo$.txt", tmp_path / "a.png")
    ticks = [tick for tick in figures[-1].axes[0].get_xticklabels() if tick.get_text()]
    assert ticks and all(tick.get_parse_math() and tick.get_text().startswith("$") for tick in ticks)


def test_methods_can_be_told_apart_without_colour():
    styles = [(plots.MARKERS[number], str(plots.DASHES[number])) for number in range(len(plots.COLOURS))]
    assert len({marker for marker, _ in styles}) == len({dash for _, dash in styles}) == len(plots.COLOURS)

    def grey(colour):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    many = range(3 * len(plots.COLOURS))
    pairs = [(number % len(plots.COLOURS), plots._style(plots.MARKERS, number)) for number in many]
    assert len(set(pairs)) == len(pairs), "beyond the seventh, too"
    greys = [grey(colour) for colour in plots.COLOURS[:4]]
    assert min(abs(a - b) for at, a in enumerate(greys) for b in greys[:at]) > 10


@pytest.mark.parametrize("limit", [None, "nodes"])
@pytest.mark.parametrize("several", [False, True, "varied"])
def test_nothing_is_cut_off_and_no_words_collide(figures, tmp_path, limit, several):
    comparison = varied() if several == "varied" else example(limit)
    if several is True:  # longer names, and a single board
        star = Method("a-star", "max:pdb:4x4-7-8+linear-conflict", Settings())
        comparison = filled(cell(1, A), cell(1, star, generated=7, stored=5), methods=(A, star), count=1)
    figure = drawn(figures, comparison, tmp_path / "a.png")
    figure.draw_without_rendering()
    canvas = figure.bbox
    boxes = {}
    for number, axes in enumerate(figure.axes):
        boxes[number, "title"] = axes.title.get_window_extent()
        boxes[number, "xlabel"] = axes.xaxis.label.get_window_extent()
        boxes[number, "ylabel"] = axes.yaxis.label.get_window_extent()
        boxes[number, "legend"] = axes.get_legend().get_window_extent()
        boxes[number, "picture"] = axes.get_window_extent()
        for place, axis in enumerate((axes.xaxis, axes.yaxis)):
            low, high = axis.get_view_interval()
            for tick in axis.get_majorticklabels():
                if low <= tick.get_position()[place] <= high:
                    boxes[number, place, tick.get_text()] = tick.get_window_extent()
    boxes["suptitle"] = figure._suptitle.get_window_extent()
    for name, box in boxes.items():
        assert canvas.x0 <= box.x0 and box.x1 <= canvas.x1, name
        assert canvas.y0 <= box.y0 and box.y1 <= canvas.y1, name
        for other, rival in boxes.items():
            assert name == other or not box.overlaps(rival), (name, other)


def test_the_endings_choose_the_form(tmp_path):
    save_plot(example(), "three boards", tmp_path / "a.PNG")
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    save_plot(example(), "three boards", tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("}svg")


def test_the_same_comparison_is_the_same_picture(tmp_path):
    for name in ("a.svg", "b.svg"):
        save_plot(example(), "three boards", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_what_cannot_be_drawn_is_said_before_anything_is_done(tmp_path, monkeypatch):
    check_outputs(None, None)
    check_outputs(tmp_path / "a.svg", tmp_path / "a.html")
    with pytest.raises(InputError, match=r"a.pdf ends in neither .png nor .svg"):
        check_outputs(tmp_path / "a.pdf", None)
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        check_outputs(None, tmp_path / "nowhere" / "a.html")
    (tmp_path / "folder.png").mkdir()
    for plot, page in ((tmp_path / "folder.png", None), (None, tmp_path)):
        with pytest.raises(InputError, match="is a folder: choose the name of a file"):
            check_outputs(plot, page)
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    check_outputs(None, None)
    with pytest.raises(
        InputError, match=r"need matplotlib, which is not installed: run pip install 'slidepdb\[plot\]'"
    ):
        check_outputs(None, tmp_path / "a.html")


class Page(HTMLParser):
    """Collects the words, the cells and what would be loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.words, self.rows, self.loaded = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.loaded += [value for name, value in attributes if name in ("src", "href") and "#" not in value[:1]]
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.words.append(data)
        if self.rows and data.strip():
            self.rows[-1].append(data)


def test_the_page_has_tables_pictures_and_the_command(tmp_path):
    words = ["compare", "--file", "my <boards> & more.txt", "--report", "a.html"]
    save_report(example("time"), "three <boards>", words, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    page = Page(text)
    assert "pdb-solver compare --file 'my <boards> & more.txt' --report a.html" in page.words
    assert "<boards>" not in text and text.count("<svg") == 1
    rows = [row for row in page.rows if row]
    assert ["manhattan", "2 of 3", "12.00", "12", "> 10,000", "> 20,000", "> 0.5000", "40,000", "1"] in rows
    assert ["2", "24", "12", "20,000", "0.5000", "14", "2,000", "0.5000", "18", "40", "0.5000"] in rows


def test_the_page_says_what_is_proven_of_the_lengths(tmp_path):
    save_report(varied(), "three boards", ["compare"], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    rows = [row for row in Page(text).rows if row]
    assert rows[0][:6] == ["algorithm", "heuristic", "proves", "solved", "length", "h mean"]
    assert ["greedy", "inversions", "-", "3 of 3", "26.67"] in [row[:5] for row in rows]
    assert "mean over the boards solved" in text and "All methods agree" not in text
    assert "<td class=name>optimal" in text
    save_report(example(), "three boards", ["compare"], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "All methods agree" in text and "proves" not in text


def test_the_page_needs_no_other_file(tmp_path):
    save_report(example(), "three boards", ["compare"], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert Page(text).loaded == [] and not re.search(r"@import|url\((?!#)", text)
    assert GRID.shape == "3x3" and "1 2 3 4 5 6 7 8 0" in text, "the goal and the boards are told"
