"""Solutions to look at: terminal and picture show every board as it is, and nothing is left behind."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import solver
from pdb_builder.base.errors import InputError
from pdb_builder.grid import Grid
from solver import Solution, goal_board
from solver.commands import solve as solve_command
from solver.show import colours
from solver.show import gif as picture
from solver.show import terminal as showing
from solver.show.colours import tile_colours
from solver.show.gif import Painter, check_gif, palette, save_gif
from solver.show.terminal import animate, obstacle

ROOT = Path(__file__).parent.parent
EASY = "1 2 3 4 5 6 0 7 8"  # LL
FARTHER = "1 2 3 0 4 6 7 5 8"  # LUL
FARTHEST = "8 6 7 2 5 4 3 0 1"  # 31 moves
STUCK = "2 1 3 4 5 6 7 8 0"
FARTHEST_OF_4X4 = "UUULLLDDRRDRULURULLLDDRDRUULDRUULDLDRDLURDRURULLDRRUULLDLDRRDRUUULLLDDRDRURUULLL"


def back_from(grid, goal, letters):
    """The solution that ends at the goal with moves of these letters."""
    board, tiles = list(goal), []
    for letter in reversed(letters):
        row, col = divmod(board.index(0), grid.cols)
        down, across = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}[letter]
        source = (row + down) % grid.rows * grid.cols + (col + across) % grid.cols
        assert source in grid.neighbours[board.index(0)]
        tiles.append(board[source])
        board[board.index(0)], board[source] = board[source], 0
    return made(grid, tuple(board), goal, tiles[::-1])


def made(grid, board, goal, tiles, **others):
    known = dict(solved=True, length=len(tiles), lower_bound=len(tiles), expanded=0, generated=1, seconds=0.0)
    return Solution(grid, board, goal, "ida-star", "manhattan", 0, tiles=tuple(tiles), iterations=[], **known | others)


def scrambled(shape, moves=12, wrap=False, goal="last"):
    """A solution of so many moves, over the edges of wrapped boards too."""
    grid = Grid.parse(shape, wrap)
    goal = board = goal_board(grid, goal)
    tiles = []
    for number in range(moves):
        board = list(board)
        around = [cell for cell in grid.neighbours[board.index(0)] if board[cell] != (tiles or [0])[-1]]
        cell = around[number * 7 % 5 % len(around)]
        tiles.append(board[cell])
        board[board.index(0)], board[cell] = board[cell], 0
    return made(grid, tuple(board), goal, tiles[::-1])


def unsolved():
    grid = Grid(3, 3)
    goal = goal_board(grid)
    return made(grid, (8, 6, 7, 2, 5, 4, 3, 0, 1), goal, (), solved=False, length=None, lower_bound=9, stopped="nodes")


# ---- the terminal -------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """A usual terminal, and no databases."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "80", "LINES": "24"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SLIDEPDB_DATABASES", str(tmp_path))


def played(solution, **options):
    terminal = Terminal()
    animate(solution, terminal, pause=lambda seconds: None, **options)
    return terminal.getvalue()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def frames(text):
    """The frames as lines without colours, each drawn over the one before."""
    body = text.removeprefix(showing.HIDE).removesuffix(f"{showing.PLAIN}\r{showing.CLEAR_LINE}{showing.SHOW}")
    parts = re.split(r"\r\x1b\[(\d+)A", body)
    heights = {part.count("\n") for part in parts[::2]}
    assert heights >= set(map(int, parts[1::2])) and len(heights) == 1, "all frames are equally high"
    return [plain(part).split("\n")[:-1] for part in parts[::2]]


def shown_board(grid, lines):
    """The numbers of a frame, 0 where there is none."""
    drawn = lines[: -showing.BELOW]
    height = len(drawn) // grid.rows
    rows = [line[len(showing.LEFT) :] for line in drawn[height // 2 :: height]]
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


def test_boards_over_the_edges_are_played_as_well():
    solution = scrambled("3x4", wrap=True)
    assert [shown_board(solution.grid, lines) for lines in frames(played(solution))] == list(solution.boards())


def test_moves_are_counted_and_told():
    solution = scrambled("3x3")
    ends = [lines[-2:] for lines in frames(played(solution))]
    assert [end[0].strip() for end in ends] == [f"move {number} of 12" for number in range(13)]
    assert [end[1].strip() for end in ends] == [solution.moves[:number] for number in range(13)]
    of_blank = frames(played(solution, of="blank"))[-1][-1].strip()
    assert of_blank == solution.letters(solution.tiles, "blank") != solution.moves


def test_of_many_letters_the_last_ones_are_told():
    grid = Grid(4, 4)
    solution = back_from(grid, goal_board(grid), FARTHEST_OF_4X4)
    last = frames(played(solution))[-1][-1].strip()
    assert last == "…" + FARTHEST_OF_4X4[-75:]


def test_the_goal_is_one_frame():
    (only,) = frames(played(scrambled("3x3", 0)))
    assert only[-2].strip() == "no moves: this is the goal"


def test_the_pace(monkeypatch):
    pauses = []
    animate(scrambled("3x3", 3), Terminal(), 5, pause=pauses.append)
    assert pauses == [showing.FIRST, 0.2, 0.2, 0.2]


def test_the_cursor_is_hidden_meanwhile_and_shown_whatever_happens():
    for stop in (KeyboardInterrupt, ZeroDivisionError):
        terminal = Terminal()

        def pause(seconds, stop=stop):
            raise stop

        with pytest.raises(stop):
            animate(scrambled("3x3"), terminal, pause=pause)
        text = terminal.getvalue()
        assert text.startswith(showing.HIDE) and text.endswith(showing.SHOW)
        assert text.rindex(showing.PLAIN) > text.rindex("\n"), "the colours end, too"


def test_tiles_at_home_look_different(monkeypatch):
    grid, goal = Grid(2, 2), (1, 2, 3, 0)
    for no_colour in ("", "1"):
        monkeypatch.setenv("NO_COLOR", no_colour)
        text = played(made(grid, (1, 2, 0, 3), goal, [3]))
        first, last = re.split(r"\r\x1b\[\d+A", text)
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


def test_what_keeps_a_solution_from_being_played(monkeypatch):
    grid = Grid(4, 4)
    assert obstacle(grid, Terminal()) is None
    assert obstacle(grid, io.StringIO()) == "the output is not a terminal"
    narrow = Terminal()
    narrow.encoding = "ascii"
    assert obstacle(grid, narrow) == "the terminal has no box characters in ascii"
    for size in ({"COLUMNS": "21"}, {"LINES": "7"}):
        with monkeypatch.context() as patch:
            for name, value in size.items():
                patch.setenv(name, value)
            assert "a board of 4x4 does not fit a terminal of" in obstacle(grid, Terminal())
            with pytest.raises(InputError, match="cannot be played: a board of 4x4 does not fit"):
                animate(scrambled("4x4"), Terminal())
    for term in ("dumb", None):
        with monkeypatch.context() as patch:
            patch.setenv("TERM", term) if term else patch.delenv("TERM")
            assert obstacle(grid, Terminal()) == "the terminal cannot move its cursor"


@pytest.mark.parametrize("speed", [0, -1, 0.09, 26, float("nan"), float("inf"), "4", True, None])
def test_a_speed_that_makes_no_sense(speed, tmp_path):
    for show in (lambda: animate(scrambled("3x3"), Terminal(), speed), lambda: save_gif(scrambled("3x3"), "a", speed)):
        with pytest.raises(InputError, match=r"speed must be between 0.1 and 25 moves per second, got "):
            show()


def test_what_is_not_solved_cannot_be_shown(tmp_path):
    for show in (lambda: animate(unsolved(), Terminal()), lambda: save_gif(unsolved(), tmp_path / "a.gif")):
        with pytest.raises(InputError, match="was not solved"):
            show()
    assert not list(tmp_path.iterdir())


# ---- colours ------------------------------------------------------------------------------------


def brightness(colour):
    """The relative luminance of WCAG, from 0 to 1."""
    parts = [part / 255 for part in colour]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    low, high = sorted(map(brightness, (a, b)))
    return (high + 0.05) / (low + 0.05)


def test_numbers_can_be_read_and_homes_told_apart_even_in_grey():
    shares = [number / 20 for number in range(21)]
    for share in shares:
        for at_home in (False, True):
            fill, number = tile_colours(share, at_home)
            assert contrast(fill, number) >= 4.5, (share, at_home)
        assert contrast(fill, colours.NIGHT) >= 4.5
    darkest_home = min(brightness(tile_colours(share, True).fill) for share in shares)
    brightest_away = max(brightness(tile_colours(share, False).fill) for share in shares)
    assert (darkest_home + 0.05) / (brightest_away + 0.05) > 2


# ---- the picture --------------------------------------------------------------------------------


@pytest.fixture
def images():
    return pytest.importorskip("PIL.Image")


def pixels(image):
    return image.convert("RGB").tobytes()


def read(images, path):
    """The frames of a picture and their durations."""
    with images.open(path) as image:
        found = []
        for number in range(image.n_frames):
            image.seek(number)
            found.append((image.convert("RGB"), image.info.get("duration")))
        return found, image.info.get("loop")


@pytest.mark.parametrize(
    "solution",
    [scrambled("2x2"), scrambled("3x3"), scrambled("4x4", goal="spiral"), scrambled("3x4", wrap=True)],
    ids=lambda solution: str(solution.grid),
)
@pytest.mark.parametrize("speed", [0.5, 4, 7, 25])
def test_the_picture_shows_every_board_at_its_time(solution, speed, images, tmp_path):
    save_gif(solution, tmp_path / "a.gif", speed)
    found, loop = read(images, tmp_path / "a.gif")
    painter = Painter(solution.grid, solution.goal)
    boards = list(solution.boards())
    drawn = [pixels(painter.frame(painter.board(board), number, 12)) for number, board in enumerate(boards)]
    steps = max(1, min(picture.STEPS, round(100 / speed) // picture.STEP))
    assert loop == 0 and len(found) == 1 + 12 * steps
    assert [pixels(image) for image, _ in found[::steps]] == drawn
    durations = [duration for _, duration in found]
    assert durations[0] == 10 * picture.FIRST and durations[-1] == 10 * picture.LAST
    assert abs(sum(durations[1 : 1 + 11 * steps]) - 11 * 1000 / speed) <= 5, "the speed is the one asked for"
    assert min(durations) >= 20, "what is shorter is shown for longer by many programs"


def test_the_goal_is_a_picture_of_one_frame(images, tmp_path):
    solution = scrambled("3x3", 0)
    save_gif(solution, tmp_path / "a.gif")
    ((image, _),), _ = read(images, tmp_path / "a.gif")
    painter = Painter(solution.grid, solution.goal)
    assert pixels(image) == pixels(painter.frame(painter.board(solution.goal), 0, 0))


@pytest.mark.parametrize("shape", ["2x2", "3x5", "4x4", "8x8", "10x10", "2x32", "32x2", "50x2"])
def test_the_size_is_reasonable(shape, images, tmp_path):
    solution = scrambled(shape, 2)
    save_gif(solution, tmp_path / "a.gif")
    ((image, _), *_), _ = read(images, tmp_path / "a.gif")
    assert max(image.size) <= (1400 if "50" in shape else 900 if "32" in shape else 530)
    assert Painter(solution.grid, solution.goal).pitch >= 26


def test_a_long_solution_is_a_small_file(images, tmp_path):
    grid = Grid(4, 4)
    save_gif(back_from(grid, goal_board(grid), FARTHEST_OF_4X4), tmp_path / "a.gif")
    assert (tmp_path / "a.gif").stat().st_size < 500_000


def descriptors(content):
    """Of every frame in a GIF: its width, its height, and whether it has a palette of its own."""
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


def test_all_frames_share_a_palette_and_hold_what_changes(images, tmp_path):
    assert len(palette()) == len(set(palette())) == 64
    save_gif(scrambled("4x4"), tmp_path / "a.gif")
    first, *others = descriptors((tmp_path / "a.gif").read_bytes())
    assert len(others) == 12 * picture.STEPS and not any(own for *_, own in (first, *others))
    pitch = Painter(Grid(4, 4), goal_board(Grid(4, 4))).pitch
    sliding = [frame for number, frame in enumerate(others, 1) if number % picture.STEPS]
    assert all(width * height <= 2 * pitch * pitch for width, height, _ in sliding)


def test_the_same_solution_is_the_same_picture(images, tmp_path):
    for name in ("a.gif", "b.gif"):
        save_gif(scrambled("3x3"), str(tmp_path / name))
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_numbers_are_not_cut_off_by_their_tiles(images):
    grid = Grid(8, 8)
    painter = Painter(grid, goal_board(grid))
    for tile in (1, 10, 48, 63):
        sprite = painter._tile(tile, True)
        number = sprite.point([255 * (value == picture.DARK_INK) for value in range(256)], "L").getbbox()
        assert number and min(number[:2]) >= 5 and max(number[2:]) <= painter.pitch - 5


def test_over_an_edge_a_tile_is_seen_at_both_sides(images):
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
    columns, _ = parts(painter.sliding(empty, 3, 1, 0, 0.5))  # between neighbours nothing of it
    assert max(columns) - min(columns) < pitch
    assert pixels(painter.sliding(empty, 3, 2, 0, 1)) == pixels(painter.sliding(empty, 3, 1, 0, 1)), "it arrives"


def test_a_failure_leaves_nothing_and_keeps_what_was_there(images, tmp_path, monkeypatch):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    for error, told in ((OSError(28, "No space left on device"), InputError), (KeyboardInterrupt(), KeyboardInterrupt)):

        def fail(image, file, error=error, **options):
            file.write(b"GIF89a")
            raise error

        monkeypatch.setattr(images.Image, "save", fail)
        with pytest.raises(told) as raised:
            save_gif(scrambled("3x3"), path)
        assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"
        if told is InputError:
            assert "No space left on device; choose another file" in str(raised.value)


def test_what_cannot_be_drawn_is_said(tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    check_gif(tmp_path / "a.GIF")
    with pytest.raises(InputError, match=r"a.png does not end in .gif: choose a name that does"):
        check_gif(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere for a.gif"):
        check_gif(tmp_path / "nowhere" / "a.gif")
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(InputError, match="is a folder: choose the name of a file"):
        check_gif(tmp_path / "folder.gif")
    monkeypatch.setattr("PIL.__version__", "9.5.0")
    with pytest.raises(InputError, match=r"needs Pillow 10.1 or later, not 9.5.0: run pip install 'slidepdb\[gif\]'"):
        check_gif(tmp_path / "a.gif")
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs Pillow, which is not installed: run pip install 'slidepdb\[gif\]'"):
        check_gif(tmp_path / "a.gif")


def test_both_are_there_from_python():
    assert solver.animate is animate and solver.save_gif is save_gif


# ---- the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([EASY, "--animate", "--json"], "exclude each other"),
        ([EASY, "--animate", "--quiet"], "exclude each other"),
        ([EASY, "--animate", "--show"], "exclude each other"),
        ([EASY, "--speed", "3"], "--speed is for --animate and --gif: give one of them, or leave it out"),
        ([EASY, "--animate", "--speed", "0"], "'0' is not a number from 0.1 to 25: write it as 4"),
        ([EASY, "--animate", "--speed", "26"], "'26' is not a number from 0.1 to 25"),
        ([EASY, "--animate", "--speed", "fast"], "'fast' is not a number from 0.1 to 25"),
        ([EASY, "--animate", "--speed", "nan"], "'nan' is not a number from 0.1 to 25"),
        ([EASY, "--gif", "a.png"], "a.png does not end in .gif"),
        ([EASY, "--gif", "nowhere/a.gif"], "there is no folder nowhere for a.gif"),
        (["--set", "korf100", "--gif", "a.gif"], "--gif shows the solution of one board"),
        (["--gif", "a.gif"], "--gif shows the solution of one board"),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else "",
)
def test_refused_before_the_search(words, message, run, tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(solve_command, "solve_board", lambda *args: pytest.fail("there was a search"))
    code, output, errors = run("solve", *words)
    assert (code, output, errors.count("\n")) == (2, "", 1) and message in errors
    assert not list(tmp_path.iterdir())


def test_without_pillow_there_is_no_search(run, tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    monkeypatch.setattr(solve_command, "solve_board", lambda *args: pytest.fail("there was a search"))
    code, output, errors = run("solve", EASY, "--gif", str(tmp_path / "a.gif"))
    assert (code, output) == (2, "") and errors.endswith("run pip install 'slidepdb[gif]'\n")


def test_help_does_not_load_pillow():
    code = "import sys; from solver.cli import _parser; _parser().format_help(); print('PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.fixture
def solve(run):
    return lambda *words, **options: run("solve", *words, "--heuristic", "manhattan", **options)


def timeless(text):
    return re.sub(r"\d+\.\d{3}|.*generated/s", "", text)


@pytest.mark.jit
def test_the_picture_is_written_beside_the_answer(solve, images, tmp_path):
    path = tmp_path / "a.gif"
    code, output, errors = solve(FARTHER, "--quiet", "--gif", str(path), "--speed", "10")
    assert (code, output) == (0, "LUL\n") and re.fullmatch(r".*a\.gif is written: \d+ kB\n", errors)
    found, _ = read(images, path)
    assert len(found) == 7 and list(tmp_path.iterdir()) == [path]


@pytest.mark.jit
def test_without_a_solution_there_is_no_picture(solve, tmp_path):
    pytest.importorskip("PIL")
    path = tmp_path / "a.gif"
    code, output, errors = solve(FARTHEST, "--node-limit", "10", "--gif", str(path))
    assert code == 3 and errors.endswith("a.gif was not written: there is no solution to show\n")
    code, output, errors = solve(STUCK, "--gif", str(path))
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.jit
def test_where_nothing_can_be_played_the_boards_are_printed(solve):
    code, output, errors = solve(FARTHER, "--animate")
    assert (code, errors) == (0, "the boards are printed, not played: the output is not a terminal\n")
    assert timeless(output) == timeless(solve(FARTHER, "--show")[1]) and "\x1b" not in output
    code, output, _ = solve("--animate", stdin=f"{EASY}\n{FARTHER}\n")
    assert code == 0 and timeless(output) == timeless(solve("--show", stdin=f"{EASY}\n{FARTHER}\n")[1])


def in_terminal(*words, stdin=None, interrupt_at=None, **variables):
    """Runs ``pdb-solver solve`` in a terminal of its own; returns code, output, errors."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "solver", "solve", *words, "--heuristic", "manhattan"],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(theirs)
        process.stdin.write(stdin or "")
        process.stdin.close()
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
            if interrupt_at and interrupt_at in seen.decode(errors="replace"):
                interrupt_at = None
                process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    os.close(ours)
    return process.returncode, seen.decode().replace("\r\n", "\n"), errors


@pytest.mark.jit
def test_played_in_a_terminal_and_then_printed():
    code, output, errors = in_terminal(FARTHER, "--animate", "--speed", "25")
    assert (code, errors) == (0, "")
    movie, answer = output.split(showing.SHOW)
    assert [shown_board(Grid(3, 3), lines) for lines in frames(movie + showing.SHOW)] == [
        (1, 2, 3, 0, 4, 6, 7, 5, 8),
        (1, 2, 3, 4, 0, 6, 7, 5, 8),
        (1, 2, 3, 4, 5, 6, 7, 0, 8),
        (1, 2, 3, 4, 5, 6, 7, 8, 0),
    ]
    assert "3 moves, proven shortest" in answer and "\nLUL\n" in answer and "after 1 move" not in answer


@pytest.mark.jit
def test_interrupted_the_cursor_is_there_and_so_is_the_answer():
    code, output, errors = in_terminal(FARTHEST, "--animate", "--speed", "0.1", interrupt_at="move 1 of 31")
    assert (code, errors) == (130, "interrupted: the moves were not shown to the end\n")
    movie, answer = output.split(showing.SHOW)
    assert movie.startswith(showing.HIDE) and "move 2 of 31" not in movie
    assert "31 moves, proven shortest" in answer


@pytest.mark.jit
def test_many_are_played_one_after_another():
    boards = f"{EASY}\n{FARTHER}\n"
    code, output, errors = in_terminal("--animate", "--speed", "25", stdin=boards, NO_COLOR="1")
    assert (code, errors) == (0, "") and output.count(showing.HIDE) == output.count(showing.SHOW) == 2
    assert "move 2 of 2" in output and "move 3 of 3" in output and "[38" not in output
    order = [output.index(words) for words in ("line 1:", "\nLL\n", "line 2:", "\nLUL\n")]
    assert all(a < b for a, b in pairwise(order))
    code, output, errors = in_terminal("--animate", "--speed", "0.1", stdin=boards, interrupt_at="move 1 of 2")
    assert code == 130 and "\nLL\n" in output and "line 2" not in output and "not started" in errors
    assert output.rindex(showing.SHOW) > output.rindex(showing.HIDE)


@pytest.mark.jit
@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"COLUMNS": "10"}, {"LINES": "5"}], ids=str)
def test_in_poor_terminals_the_boards_are_printed(variables):
    code, output, errors = in_terminal(FARTHER, "--animate", **variables)
    assert code == 0 and errors.startswith("the boards are printed, not played: ")
    assert "\x1b" not in output and "after 3 moves" in output
