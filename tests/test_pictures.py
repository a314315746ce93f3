"""Pictures: solutions in a terminal and as a GIF, comparisons as plots and as a page. They show everything as it is."""

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

import solver
from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver import Settings, goal_board
from solver.comparison import plots, report
from solver.comparison.headline import headline
from solver.comparison.methods import Method
from solver.comparison.plots import draw, draw_panels, save_plot
from solver.comparison.report import check_outputs, save_report
from solver.show import colours, gif, terminal
from solver.show.colours import tile_colours
from solver.show.gif import Painter, check_gif, palette, save_gif
from solver.show.terminal import animate, obstacle

from .comparisons import DEEP, GREEDY, A, B, cell, filled
from .solutions import FARTHEST_OF_4X4, contrast, longest, luminance, scrambled, solution_of, unsolved

# ---- the terminal -------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)


def played(solution, **options):
    stream = Terminal()
    animate(solution, stream, pause=lambda seconds: None, **options)
    return stream.getvalue()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def frames(text):
    """The frames as lines without colours, each drawn over the one before."""
    body = text.removeprefix(terminal.HIDE).removesuffix(f"{terminal.PLAIN}\r{terminal.CLEAR_LINE}{terminal.SHOW}")
    parts = re.split(r"\r\x1b\[(\d+)A", body)
    heights = {part.count("\n") for part in parts[::2]}
    assert heights >= set(map(int, parts[1::2])) and len(heights) == 1, "all frames are equally high"
    return [plain(part).split("\n")[:-1] for part in parts[::2]]


def shown_board(grid, lines):
    """The numbers of a frame, 0 where there is none."""
    drawn = lines[: -terminal.BELOW]
    height = len(drawn) // grid.rows
    rows = [line[len(terminal.LEFT) :] for line in drawn[height // 2 :: height]]
    width = len(rows[0]) // grid.cols
    cells = [row[col * width : (col + 1) * width] for row in rows for col in range(grid.cols)]
    return tuple(int(re.sub(r"\D", "", cell) or 0) for cell in cells)


@pytest.mark.parametrize("no_colour", [False, True])
@pytest.mark.parametrize("shape", ["2x2", "3x3", "4x4", "2x7", "8x8", "7x9", "10x10"])
@pytest.mark.parametrize("goal", ["last", "spiral"])
def test_every_board_is_played(shape, goal, no_colour, monkeypatch):
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    solution = scrambled(shape, goal=goal)
    text = played(solution)
    assert [shown_board(solution.grid, lines) for lines in frames(text)] == list(solution.boards())
    assert max(len(line) for lines in frames(text) for line in lines) <= 80
    assert max(map(len, frames(text))) < 24, "or the terminal would scroll"
    assert bool(re.search(r"\x1b\[[^m]*[34]8;", text)) is not no_colour


def test_moves_across_the_edges_are_played():
    solution = scrambled("3x4", wrap=True)
    assert [shown_board(solution.grid, lines) for lines in frames(played(solution))] == list(solution.boards())


def test_moves_are_counted_and_named():
    solution = scrambled("3x3")
    ends = [lines[-2:] for lines in frames(played(solution))]
    assert [end[0].strip() for end in ends] == [f"move {number} of 12" for number in range(13)]
    assert [end[1].strip() for end in ends] == [solution.moves[:number] for number in range(13)]
    of_blank = frames(played(solution, of="blank"))[-1][-1].strip()
    assert of_blank == solution.letters(solution.tiles, "blank") != solution.moves


def test_only_the_last_letters_of_a_long_solution_are_shown():
    assert frames(played(longest()))[-1][-1].strip() == "…" + FARTHEST_OF_4X4[-75:]


def test_the_goal_is_one_frame():
    (only,) = frames(played(scrambled("3x3", 0)))
    assert only[-2].strip() == "no moves: this is the goal"


def test_the_speed():
    pauses = []
    animate(scrambled("3x3", 3), Terminal(), 5, pause=pauses.append)
    assert pauses == [terminal.FIRST, 0.2, 0.2, 0.2]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_the_cursor_is_hidden_and_always_shown_again(error):
    stream = Terminal()

    def pause(seconds):
        raise error

    with pytest.raises(error):
        animate(scrambled("3x3"), stream, pause=pause)
    text = stream.getvalue()
    assert text.startswith(terminal.HIDE) and text.endswith(terminal.SHOW)
    assert text.rindex(terminal.PLAIN) > text.rindex("\n"), "the colours are reset"


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_tiles_at_home_look_different(no_colour, monkeypatch):
    monkeypatch.setenv("NO_COLOR", no_colour)
    first, last = re.split(r"\r\x1b\[\d+A", played(solution_of(Grid(2, 2), (1, 2, 0, 3), (1, 2, 3, 0), [3])))
    away, home = (part.split("\n")[3:6] for part in (first, last))
    assert away != home
    if no_colour:
        assert "│" in away[1] and "┃" in home[1]


def test_fewer_colours_where_there_are_fewer(monkeypatch):
    assert "38;2;" in played(scrambled("3x3", 1))
    monkeypatch.delenv("COLORTERM")
    text = played(scrambled("3x3", 1))
    numbers = re.findall(r"[34]8;5;(\d+)", text)
    assert "38;2;" not in text and numbers and all(16 <= int(number) <= 231 for number in numbers)


@pytest.mark.parametrize(
    "variables, encoding, reason",
    [
        ({}, "utf-8", None),
        ({}, "ascii", "the terminal has no box characters in ascii"),
        ({"COLUMNS": "21"}, "utf-8", "a board of 4x4 does not fit a terminal of 21 columns and 24 lines"),
        ({"LINES": "7"}, "utf-8", "a board of 4x4 does not fit a terminal of 80 columns and 7 lines"),
        ({"TERM": "dumb"}, "utf-8", "the terminal cannot move its cursor"),
        ({"TERM": None}, "utf-8", "the terminal cannot move its cursor"),
    ],
)
def test_what_keeps_a_solution_from_being_played(variables, encoding, reason, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    stream = Terminal()
    stream.encoding = encoding
    assert obstacle(Grid(4, 4), stream) == reason
    if reason:
        with pytest.raises(InputError, match=f"the solution cannot be played: {reason}: print its boards instead"):
            animate(scrambled("4x4"), stream)
    assert obstacle(Grid(4, 4), io.StringIO()) == "the output is not a terminal"


# ---- both ---------------------------------------------------------------------------------------


def test_the_package_offers_both():
    assert solver.animate is animate and solver.save_gif is save_gif


@pytest.mark.parametrize("speed", [0, -1, 0.09, 26, float("nan"), float("inf"), "4", True, None])
def test_a_speed_that_makes_no_sense(speed):
    for show in (lambda: animate(scrambled("3x3"), Terminal(), speed), lambda: save_gif(scrambled("3x3"), "a", speed)):
        with pytest.raises(InputError, match=r"speed must be between 0.1 and 25 moves per second, got "):
            show()


def test_a_board_that_was_not_solved_cannot_be_shown(tmp_path):
    for show in (lambda: animate(unsolved(), Terminal()), lambda: save_gif(unsolved(), tmp_path / "a.gif")):
        with pytest.raises(InputError, match="was not solved"):
            show()
    assert not list(tmp_path.iterdir())


# ---- colours ------------------------------------------------------------------------------------


def test_numbers_can_be_read_and_tiles_at_home_recognised_even_in_grey():
    shares = [number / 20 for number in range(21)]
    for share in shares:
        for at_home in (False, True):
            fill, number = tile_colours(share, at_home)
            assert contrast(fill, number) >= 4.5, (share, at_home)
        assert contrast(fill, colours.NIGHT) >= 4.5
    darkest_home = min(luminance(tile_colours(share, True).fill) for share in shares)
    brightest_away = max(luminance(tile_colours(share, False).fill) for share in shares)
    assert (darkest_home + 0.05) / (brightest_away + 0.05) > 2


# ---- the GIF ------------------------------------------------------------------------------------


@pytest.fixture
def images():
    return pytest.importorskip("PIL.Image")


def pixels(image):
    return image.convert("RGB").tobytes()


def read(images, path):
    """The frames of a GIF with their durations, and how often they are repeated."""
    with images.open(path) as image:
        found = []
        for number in range(image.n_frames):
            image.seek(number)
            found.append((image.convert("RGB"), image.info.get("duration")))
        return found, image.info.get("loop")


@pytest.mark.parametrize(
    "solution, speed",
    [
        (scrambled("2x2"), 0.5),
        (scrambled("3x3"), 4),
        (scrambled("4x4", goal="spiral"), 7),
        (scrambled("3x4", wrap=True), 25),
    ],
    ids=lambda value: str(getattr(value, "grid", value)),
)
def test_a_gif_shows_every_board_at_its_time(solution, speed, images, tmp_path):
    save_gif(solution, tmp_path / "a.gif", speed)
    found, loop = read(images, tmp_path / "a.gif")
    painter = Painter(solution.grid, solution.goal)
    boards = list(solution.boards())
    drawn = [pixels(painter.frame(painter.board(board), number, 12)) for number, board in enumerate(boards)]
    steps = max(1, min(gif.STEPS, round(100 / speed) // gif.STEP))
    assert loop == 0 and len(found) == 1 + 12 * steps
    assert [pixels(image) for image, _ in found[::steps]] == drawn
    durations = [duration for _, duration in found]
    assert durations[0] == 10 * gif.FIRST and durations[-1] == 10 * gif.LAST
    assert abs(sum(durations[1 : 1 + 11 * steps]) - 11 * 1000 / speed) <= 5, "it plays at the given speed"
    assert min(durations) >= 20, "many programs show shorter frames for longer"


def test_the_goal_is_a_gif_of_one_frame(images, tmp_path):
    solution = scrambled("3x3", 0)
    save_gif(solution, tmp_path / "a.gif")
    ((image, _),), _ = read(images, tmp_path / "a.gif")
    painter = Painter(solution.grid, solution.goal)
    assert pixels(image) == pixels(painter.frame(painter.board(solution.goal), 0, 0))


@pytest.mark.parametrize("shape", ["2x2", "3x5", "4x4", "8x8", "10x10", "2x32", "32x2", "50x2"])
def test_the_size_of_a_gif_is_reasonable(shape, images, tmp_path):
    solution = scrambled(shape, 2)
    save_gif(solution, tmp_path / "a.gif")
    ((image, _), *_), _ = read(images, tmp_path / "a.gif")
    assert max(image.size) <= (1400 if "50" in shape else 900 if "32" in shape else 530)
    assert Painter(solution.grid, solution.goal).pitch >= 26


def test_a_long_solution_is_a_small_file(images, tmp_path):
    save_gif(longest(), tmp_path / "a.gif")
    assert (tmp_path / "a.gif").stat().st_size < 500_000


def descriptors(content):
    """The width and height of every frame in a GIF, and whether it has its own palette."""
    at = 13 + 3 * 2 ** ((content[10] & 7) + 1)  # after the header and the palette of all frames
    while content[at] != 0x3B:
        if content[at] == 0x2C:
            width, height = (int.from_bytes(content[at + first : at + first + 2], "little") for first in (5, 7))
            yield width, height, bool(content[at + 9] & 0x80)
            at += 11
        else:
            at += 2
        while content[at]:  # blocks, each with its length before it
            at += content[at] + 1
        at += 1


def test_all_frames_share_a_palette_and_hold_only_what_changes(images, tmp_path):
    assert len(palette()) == len(set(palette())) == 64
    save_gif(scrambled("4x4"), tmp_path / "a.gif")
    first, *others = descriptors((tmp_path / "a.gif").read_bytes())
    assert len(others) == 12 * gif.STEPS and not any(own for *_, own in (first, *others))
    pitch = Painter(Grid(4, 4), goal_board(Grid(4, 4))).pitch
    sliding = [frame for number, frame in enumerate(others, 1) if number % gif.STEPS]
    assert all(width * height <= 2 * pitch * pitch for width, height, _ in sliding)


def test_the_same_solution_is_the_same_gif(images, tmp_path):
    for name in ("a.gif", "b.gif"):
        save_gif(scrambled("3x3"), str(tmp_path / name))
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_numbers_fit_their_tiles(images):
    grid = Grid(8, 8)
    painter = Painter(grid, goal_board(grid))
    for tile in (1, 10, 48, 63):
        sprite = painter._tile(tile, True)
        number = sprite.point([255 * (value == gif.DARK_INK) for value in range(256)], "L").getbbox()
        assert number and min(number[:2]) >= 5 and max(number[2:]) <= painter.pitch - 5


def test_a_tile_that_crosses_an_edge_is_seen_on_both_sides(images):
    grid = Grid(3, 3, wrap=True)
    painter = Painter(grid, goal_board(grid))
    empty = painter.board([0] * 9)
    pitch, side = painter.pitch, 3 * painter.pitch

    def parts(image):
        """Columns and rows with anything in them."""
        grey = image.convert("L").point([255 * (value != empty.convert("L").getpixel((0, 0))) for value in range(256)])
        columns = {x for x in range(side) if grey.crop((x, 0, x + 1, side)).getbbox()}
        rows = {y for y in range(side) if grey.crop((0, y, side, y + 1)).getbbox()}
        return columns, rows

    columns, rows = parts(painter.sliding(empty, 3, 2, 0, 0.5))  # to the right, out and in
    assert columns & set(range(pitch // 2)) and columns & set(range(side - pitch // 2, side))
    assert not columns & set(range(pitch, 2 * pitch)) and max(rows) < pitch
    columns, rows = parts(painter.sliding(empty, 3, 0, 6, 0.5))  # upwards
    assert rows & set(range(pitch // 2)) and rows & set(range(side - pitch // 2, side)) and max(columns) < pitch
    columns, _ = parts(painter.sliding(empty, 3, 1, 0, 0.5))  # between neighbours it crosses nothing
    assert max(columns) - min(columns) < pitch
    assert pixels(painter.sliding(empty, 3, 2, 0, 1)) == pixels(painter.sliding(empty, 3, 1, 0, 1)), "it arrives"


@pytest.mark.parametrize(
    "error, raised", [(OSError(28, "No space left on device"), InputError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_a_gif_that_cannot_be_written_leaves_the_old_one_alone(error, raised, images, tmp_path, monkeypatch):
    path = tmp_path / "a.gif"
    path.write_bytes(b"GIF89a, old")

    def fail(image, file, **options):
        file.write(b"GIF89a")
        raise error

    monkeypatch.setattr(images.Image, "save", fail)
    with pytest.raises(raised) as caught:
        save_gif(scrambled("3x3"), path)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"GIF89a, old"
    assert raised is KeyboardInterrupt or "No space left on device; choose another file" in str(caught.value)


def test_a_gif_that_cannot_be_made_is_refused_beforehand(tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    check_gif(tmp_path / "a.GIF")
    with pytest.raises(InputError, match=r"a.png does not end in .gif: choose a name that does"):
        check_gif(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere for a.gif"):
        check_gif(tmp_path / "nowhere" / "a.gif")
    (tmp_path / "b.gif").write_bytes(b"precious")
    with pytest.raises(InputError, match=r"b.gif is not replaced: it is not a .gif file but begins with 'precious'"):
        save_gif(scrambled("3x3"), tmp_path / "b.gif")
    assert (tmp_path / "b.gif").read_bytes() == b"precious"
    monkeypatch.setattr("PIL.__version__", "9.5.0")
    with pytest.raises(InputError, match=r"needs Pillow 10.1 or later, not 9.5.0: run pip install 'slidepdb\[gif\]'"):
        check_gif(tmp_path / "a.gif")
    monkeypatch.setattr(gif, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs Pillow, which is not installed: run pip install 'slidepdb\[gif\]'"):
        check_gif(tmp_path / "a.gif")


# ---- the plots of a comparison ------------------------------------------------------------------

PDB = Method("ida-star", "pdb:4x4-7-8", Settings())
LENGTHS = ((1, 20), (2, 24), (3, 24))  # of three boards


def example(limit=None):
    """Three boards by three methods; with a limit, the first method hit it on the first board."""
    cells = []
    for number, length in LENGTHS:
        hit = limit if number == 1 else None
        cells.append(cell(number, A, length, h_start=10 + number, generated=10_000 * number, limit=hit))
        cells.append(cell(number, B, length, h_start=12 + number, generated=1000 * number))
        cells.append(cell(number, PDB, length, h_start=16 + number, generated=[50, 40, 25][number - 1]))
    return filled(*cells, methods=(A, B, PDB), count=3)


def varied():
    """Three boards by a method that guarantees shortest solutions, one that does not, and an uninformed one.

    The last one solved a board, ended at its depth limit on another, and hit a limit on the third.
    """
    cells = []
    for number, length in LENGTHS:
        cells.append(cell(number, A, length, h_start=10 + number, generated=10_000 * number))
        cells.append(cell(number, GREEDY, length + 2 * number, h_start=40, generated=100 * number))
        limit = (None, "depth", "nodes")[number - 1]
        cells.append(cell(number, DEEP, length, h_start=1, generated=[50, 40, 25][number - 1], limit=limit))
    return filled(*cells, methods=(A, GREEDY, DEEP), count=3)


def long_names():
    """A single board by two searches with long names."""
    first = Method("weighted-a-star:1.125", "pdb-unreflected:4x4-7-8-bytes", Settings(), 1.125)
    star = Method("a-star", "max:pdb:4x4-7-8+linear-conflict", Settings())
    return filled(cell(1, first), cell(1, star, generated=7, stored=5), methods=(first, star), count=1)


def decade():
    """Counts that span little more than a factor of ten."""
    return filled(
        *(cell(number, A, generated=10 ** (5.7 + 0.07 * number) // 1) for number in range(1, 9)), methods=[A], count=8
    )


@pytest.fixture
def figures_of(monkeypatch):
    """``figures_of(draw, ...)`` are the figures that are drawn, but not rendered."""
    figures = pytest.importorskip("matplotlib.figure")

    def get(function, *arguments):
        kept = []
        with monkeypatch.context() as patch:
            patch.setattr(plots, "_image", lambda figure, *args, **options: kept.append(figure) or b"<svg></svg>")
            function(*arguments)
        assert all(isinstance(figure, figures.Figure) for figure in kept)
        return kept

    return get


@pytest.fixture
def figure_of(figures_of):
    """``figure_of(comparison)`` is the figure of all its plots."""
    return lambda comparison, title="three boards": figures_of(draw, comparison, title, "png")[0]


def labels(axes):
    return [text.get_text().replace("\n", " ") for text in axes.get_legend().get_texts()]


def dots(axes):
    return [group.get_offsets().tolist() for group in axes.collections if len(group.get_offsets())]


def test_every_board_is_a_dot_against_the_first_method(figure_of):
    against = figure_of(example()).axes[0]
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


def test_heuristic_values_and_lengths_have_histograms(figure_of):
    values = figure_of(example()).axes[1]
    assert labels(values) == [
        "solution length: mean 22.67",
        "manhattan: mean 12.00",
        "linear-conflict: mean 14.00",
        "pdb:4x4-7-8: mean 18.00",
    ]
    assert sum(bar.get_height() for bar in values.patches if hasattr(bar, "get_height")) == 3, "every length is counted"


def test_medians_by_length(figure_of):
    by_length = figure_of(example()).axes[2]
    assert dots(by_length)[2] == [[20, 50], [24, 40], [24, 25]]
    lines = [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in by_length.lines]
    assert [line for line in lines if line] == [
        [(20, 10_000), (24, 25_000)],
        [(20, 1000), (24, 2500)],
        [(20, 50), (24, 32.5)],
    ]


def test_lengths_that_vary_have_a_plot(figure_of):
    against, values, by_length, trade_off = figure_of(varied()).axes
    assert labels(against)[:2] == [
        "greedy with inversions: median ratio 100",
        "dfs:20: median ratio 350 (2 boards, without limits)",
    ]
    assert labels(values) == ["solution length: mean 22.67", "manhattan: mean 12.00", "inversions: mean 40.00"]
    assert dots(by_length)[1] == [[20, 100], [24, 200], [24, 300]], "by the shortest length of the board"
    assert dots(trade_off) == [[[10_000, 0], [20_000, 0], [30_000, 0]], [[100, 2], [200, 4], [300, 6]], [[50, 0]]]
    assert labels(trade_off) == [
        "ida-star with manhattan: mean length 22.67",
        "greedy with inversions: mean length 26.67",
        "dfs:20: mean length 20.00 (1 of 3 boards)",
    ]
    assert len(figure_of(example()).axes) == 3


def test_plots_of_searches_that_solved_nothing(figure_of):
    hit = filled(cell(1, A, limit="nodes"), cell(1, B, limit="nodes"), count=1)
    assert [text.get_text() for text in figure_of(hit).axes[2].texts] == ["no board was solved"]
    for method, limit, name in ((GREEDY, "nodes", "inversions"), (DEEP, "depth", "dfs:20")):
        alone = filled(cell(1, method, limit=limit, h_start=1), methods=[method], count=1)
        trade_off = figure_of(alone).axes[3]
        assert dots(trade_off) == [] and labels(trade_off) == [f"{name}: nothing solved"]


def test_boards_that_hit_a_limit_are_hollow(figure_of):
    against = figure_of(example("nodes")).axes[0]
    assert labels(against)[0] == "linear-conflict: median ratio 10 (2 boards, without limits)"
    assert "hollow: a limit was hit, the true value is higher" in labels(against)
    first = next(group for group in against.collections if len(group.get_offsets()))
    assert [face[-1] > 0 for face in first.get_facecolors()] == [False, True, True]


def test_a_dollar_sign_is_literal_in_names_but_not_in_numbers(figure_of):
    odd = Method("ida-star", r"pdb:$\foo$", Settings())
    comparison = filled(cell(1, A), cell(1, odd, generated=9), methods=(A, odd), count=1)
    figure = figure_of(comparison, r"boards of a$\foo$.txt")
    figure.draw_without_rendering()  # a formula that is none would be an error
    ticks = [tick for tick in figure.axes[0].get_xticklabels() if tick.get_text()]
    assert ticks and all(tick.get_parse_math() and tick.get_text().startswith("$") for tick in ticks)


def test_methods_can_be_told_apart_without_colour():
    styles = [(plots.MARKERS[number], str(plots.DASHES[number])) for number in range(len(plots.COLOURS))]
    assert len({marker for marker, _ in styles}) == len({dash for _, dash in styles}) == len(plots.COLOURS)

    def grey(colour):
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    many = range(3 * len(plots.COLOURS))
    pairs = [(number % len(plots.COLOURS), plots._style(plots.MARKERS, number)) for number in many]
    assert len(set(pairs)) == len(pairs), "however many methods there are"
    greys = [grey(colour) for colour in plots.COLOURS[:4]]
    assert min(abs(a - b) for at, a in enumerate(greys) for b in greys[:at]) > 10


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "function", [lambda comparison: draw(comparison, "boards", "png"), draw_panels], ids=["one", "all"]
)
@pytest.mark.parametrize("comparison", [example(), example("nodes"), long_names(), varied(), decade()], ids=range(5))
def test_nothing_is_cut_off_and_no_texts_overlap(comparison, function, figures_of):
    for figure in figures_of(function, comparison):
        figure.draw_without_rendering()
        check_no_overlap(figure)


def test_a_long_legend_is_not_at_the_expense_of_the_picture(figures_of):
    long = [A._replace(heuristic=f"pdb:4x4-of-a-long-name-{number}-of-many" * 2) for number in range(12)]
    heights = []
    for methods in ([A, B], long):
        comparison = filled(*(cell(1, method) for method in methods), methods=methods, count=1)
        for figure in figures_of(draw_panels, comparison):
            figure.draw_without_rendering()
            heights.append(figure.axes[0].get_window_extent().height)
    assert min(heights) > 0.75 * max(heights)


def check_no_overlap(figure):
    canvas = figure.bbox
    boxes = {}
    for number, axes in enumerate(figure.axes):
        boxes[number, "title"] = axes.title.get_window_extent()
        boxes[number, "xlabel"] = axes.xaxis.label.get_window_extent()
        boxes[number, "ylabel"] = axes.yaxis.label.get_window_extent()
        boxes[number, "legend"] = axes.get_legend().get_window_extent()
        boxes[number, "plot"] = axes.get_window_extent()
        for place, axis in enumerate((axes.xaxis, axes.yaxis)):
            low, high = axis.get_view_interval()
            for tick in [*axis.get_majorticklabels(), *axis.get_minorticklabels()]:
                if low <= tick.get_position()[place] <= high and tick.get_text():
                    boxes[number, place, tick.get_text()] = tick.get_window_extent()
    if figure._suptitle:
        boxes["suptitle"] = figure._suptitle.get_window_extent()
    for name, box in boxes.items():
        assert canvas.x0 <= box.x0 and box.x1 <= canvas.x1, name
        assert canvas.y0 <= box.y0 and box.y1 <= canvas.y1, name
        for other, rival in boxes.items():
            assert name == other or not box.overlaps(rival), (name, other)


def one_board(count=1):
    """Boards of a single length, solved by a method that guarantees nothing, and yet as short as possible."""
    methods = [A, GREEDY._replace(heuristic="hamming")]
    return filled(*(cell(n, method) for n in range(1, count + 1) for method in methods), methods=methods, count=count)


@pytest.mark.parametrize("comparison", [example(), varied(), one_board(1), one_board(2)], ids=range(4))
def test_moves_and_boards_are_whole_numbers(comparison, figure_of):
    figure = figure_of(comparison)
    figure.draw_without_rendering()
    _, values, by_length, *trade_off = figure.axes
    for axis in (values.xaxis, values.yaxis, by_length.xaxis, *(axes.yaxis for axes in trade_off)):
        low, high = axis.get_view_interval()
        ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        assert ticks and all(tick == round(tick) for tick in ticks)


def test_a_logarithmic_axis_is_not_too_short(figure_of):
    """Searches that stop at a node limit generate nearly the same."""
    cells = (cell(number, A, generated=100_000 + number) for number in (1, 2))
    by_length = figure_of(filled(*cells, methods=[A])).axes[2]
    low, high = by_length.get_ylim()
    assert low < 60_000 and high > 190_000


def test_panels_are_separate_images_in_the_colours_of_the_page():
    pytest.importorskip("matplotlib")
    for comparison, count in ((example("nodes"), 3), (varied(), 4)):
        panels = draw_panels(comparison)
        assert len(panels) == count and panels == draw_panels(comparison), "the same every time"
        names = []
        for panel in panels:
            root = ElementTree.fromstring(panel)
            assert root.tag.endswith("}svg") and root.find("{*}title").text
            width = float(root.get("viewBox").split()[2])
            assert width < 330, "points: no text is shrunk much on a telephone"
            assert not re.search(r"#(000000|ffffff|dddddd|0072b2)", panel, re.IGNORECASE)
            assert "currentColor" in panel and "var(--pale)" in panel
            names.append({name for name in re.findall(r'id="(\w+)"', panel) if re.fullmatch(r"[a-z]\w{10}", name)})
        assert all(names) and not set.intersection(*names), "parts of one image are not taken for those of another"


def test_plots_are_png_or_svg_and_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a.PNG", "a.svg", "b.svg"):
        save_plot(example(), "three boards", tmp_path / name)
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG\r\n")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("}svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_matplotlib_that_cannot_be_loaded_is_noticed_before_the_searches(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"matplotlib cannot be used: .*: check \$MPLCONFIGDIR"):
        report.check_outputs(tmp_path / "a.svg", None)


def test_plots_and_pages_that_cannot_be_made_are_refused_beforehand(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    check_outputs(None, None)
    check_outputs(tmp_path / "a.svg", tmp_path / "a.html")
    with pytest.raises(InputError, match=r"a.pdf does not end in .png or .svg: choose a name that does"):
        check_outputs(tmp_path / "a.pdf", None)
    with pytest.raises(InputError, match=r"a.h5 does not end in .html or .htm: choose a name that does"):
        check_outputs(None, tmp_path / "a.h5")
    for name, plot in (("folder.png", True), ("folder.html", False)):
        (tmp_path / name).mkdir()
        with pytest.raises(InputError, match="is a folder: choose the name of a file"):
            check_outputs(*[tmp_path / name, None][:: 1 if plot else -1])
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    check_outputs(None, None)
    with pytest.raises(
        InputError, match=r"need matplotlib, which is not installed: run pip install 'slidepdb\[plot\]'"
    ):
        check_outputs(None, tmp_path / "a.html")


# ---- the page of a comparison -------------------------------------------------------------------


class Page(HTMLParser):
    """Collects the texts, the rows of tables, and whatever would be loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.rows, self.loaded = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.loaded += [value for name, value in attributes if name in ("src", "href") and "#" not in value[:1]]
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        self.texts.append(data)
        if self.rows and data.strip():
            self.rows[-1].append(data)


def test_the_page_is_one_file_with_tables_plots_and_the_command(tmp_path):
    pytest.importorskip("matplotlib")
    words = ["compare", "--file", "my <boards> & more.txt", "--report", "a.html"]
    save_report(example("time"), "three <boards>", words, tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    page = Page(text)
    assert "pdb-solver compare --file 'my <boards> & more.txt' --report a.html" in page.texts
    assert "<boards>" not in text and text.count("<svg") == 3
    assert "<meta name=viewport content='width=device-width'>" in text
    assert "prefers-color-scheme: dark" in text
    used = set(re.findall(r"var\((--\w+)\)", text))
    for defined in re.findall(r":root \{(.*?)\}", text):
        assert used == set(re.findall(r"(--\w+):", defined)), "every colour has a dark variant"
    assert headline(example("time")) in page.texts
    assert ["manhattan", "2 of 3", "12.00", "12", "> 10,000", "> 20,000", "> 0.5000", "40,000", "1"] in page.rows
    assert ["2", "24", "12", "20,000", "0.5000", "14", "2,000", "0.5000", "18", "40", "0.5000"] in page.rows
    assert page.loaded == [] and not re.search(r"@import|url\((?!#)", text), "it needs no other file"
    assert "The goal is 1 2 3 4 5 6 7 8 0." in text


def test_the_page_says_what_is_proven_about_the_lengths(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "draw_panels", lambda comparison: [])
    save_report(varied(), "three boards", ["compare"], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    rows = [row for row in Page(text).rows if row]
    assert rows[0][:6] == ["algorithm", "heuristic", "proves", "solved", "length", "h mean"]
    assert ["greedy", "inversions", "-", "3 of 3", "26.67"] in [row[:5] for row in rows]
    assert "mean over the boards solved" in text and "All methods agree" not in text
    assert '<td style="text-align:left">optimal' in text
    save_report(example(), "three boards", ["compare"], tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "All methods agree" in text and "proves" not in text


# ---- the sentence at its top --------------------------------------------------------------------


def pair(*, limit=None, seconds=(2.0, 1.0), generated=(4000, 1000), lengths=(20, 20), second=B):
    """Two boards, on which the second method generates less; a limit may stop the first one on the second board."""
    cells = []
    for number in (1, 2):
        hit = limit if number == 2 else None
        for at, method in enumerate((A, second)):
            figures = {"generated": generated[at], "seconds": seconds[at], "limit": None if at else hit}
            cells.append(cell(number, method, lengths[at], h_start=0, **figures))
    return filled(*cells, methods=(A, second))


FEWER = "linear-conflict generates 4 times fewer boards than manhattan"


@pytest.mark.parametrize(
    "comparison, sentence",
    [
        (pair(), f"{FEWER}, and takes 2 times less time."),
        (pair(seconds=(1.0, 1.1)), f"{FEWER}, and takes about as long."),
        (pair(seconds=(1.0, 3.0)), f"{FEWER}, but takes 3 times as long."),
        (pair(seconds=(0.04, 0.01)), f"{FEWER}."),
        (pair(seconds=(0.04, 0.0)), f"{FEWER}."),
        (
            pair(generated=(1000, 1000), second=B),
            "manhattan generates as many boards as linear-conflict, but takes 2 times as long.",
        ),
        (
            pair(generated=(1000, 3000), second=B),
            "manhattan generates 3 times fewer boards than linear-conflict, but takes 2 times as long.",
        ),
        (
            pair(limit="nodes"),
            "linear-conflict generates at least 4 times fewer boards than manhattan (1 of 2 boards solved), and takes "
            "at least 2 times less time.",
        ),
        (
            pair(limit="time", seconds=(1.0, 3.0)),
            "linear-conflict generates at least 4 times fewer boards than manhattan (1 of 2 boards solved).",
        ),
        (
            pair(limit="time", generated=(1001, 1000)),
            "linear-conflict solves all 2 boards, unlike manhattan (1 of 2 boards solved).",
        ),
        (
            pair(lengths=(20, 23), second=GREEDY),
            "greedy with inversions generates 4 times fewer boards than ida-star with manhattan, and takes 2 times "
            "less time; its solutions are 15 % longer.",
        ),
        (pair(lengths=(0, 0)), f"{FEWER}, and takes 2 times less time."),
        (
            filled(cell(1, A), methods=[A], count=1),
            "manhattan solves the board, generating 1,000 boards in 0.5000 seconds.",
        ),
        (
            filled(cell(1, A), cell(2, A, generated=2000), methods=[A]),
            "manhattan solves all 2 boards, generating 1,500 boards in 0.5000 seconds on average.",
        ),
        (
            filled(cell(1, A, limit="time"), cell(1, B, limit="nodes"), count=1),
            "Within the limits no method solves the board.",
        ),
        (
            filled(*(cell(n, method, limit="time") for n in (1, 2) for method in (A, B))),
            "Within the limits no method solves any of the boards.",
        ),
        (
            filled(cell(1, A, limit="time"), cell(1, B), cell(2, A, limit="time"), cell(2, B, limit="time")),
            "Within the limits no method solves all 2 boards; linear-conflict comes closest, with 1.",
        ),
        (
            filled(cell(1, A, 22), cell(1, DEEP, generated=10, h_start=1, limit="depth"), methods=(A, DEEP), count=1),
            "ida-star with manhattan solves the board, unlike dfs:20 (0 of 1 board solved).",
        ),
        (
            filled(
                *(cell(1, A), cell(1, DEEP, generated=10, limit="nodes"), cell(1, B)), methods=(A, DEEP, B), count=1
            ),
            "ida-star with manhattan generates as many boards as ida-star with linear-conflict, and takes about as "
            "long.",
        ),
    ],
)
def test_the_sentence_says_what_came_out(comparison, sentence):
    assert headline(comparison) == sentence
