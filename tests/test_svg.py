"""Boards and solutions as SVG. A style sheet is read by hand, and the film must show what the solution says."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import solver
from pdb_builder.base.errors import InputError
from pdb_builder.drawing import MARGIN, NIGHT, PITCH, css
from pdb_builder.grid import Grid
from solver import goal_board, save_svg, solve, svg
from solver.show import film
from solver.show.colours import corner_share, tile_colours

from .solutions import contrast, longest, luminance, scrambled, solution_of, unsolved

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = ["2x2", "3x3", "4x4", "2x7", "7x3", "10x10", "2x50", "50x2"]
GOALS = ["last", "first", "spiral"]


# ---- reading ------------------------------------------------------------------------------------


def numbers(text):
    return tuple(map(float, re.findall(r"-?[\d.]+", text or "0 0")))


class Face:
    """A tile in a picture: where it is from the start, its copies, its colours, and the names of its animations."""

    def __init__(self, group):
        self.tile = int(group.find(f"{SVG}text").text)
        self.at = numbers(group.get("transform"))
        self.copies = [(0, 0), *(numbers(copy.get("transform")) for copy in group.findall(f"{SVG}g"))]
        self.colours = group.get("fill"), group.get("color")
        self.animations = (group.get("style") or "").removeprefix("animation-name:").split(",")
        texts = [text for text in group.iter(f"{SVG}text")]
        assert all(text.text == str(self.tile) and text.get("fill") == "currentColor" for text in texts)


def faces(picture):
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg" and root.find(f"{SVG}title").text
    return [Face(group) for group in root.iter(f"{SVG}g") if group.get("color")]


class Sheet:
    """The style sheet of a film."""

    def __init__(self, picture):
        text = ElementTree.fromstring(picture).find(f"{SVG}style").text
        self.seconds = float(re.search(r"\*\{animation:([\d.]+)s infinite", text)[1])
        self.frames = {}
        for name, body in re.findall(r"@keyframes (\S+?)\{(.*)\}$", text, re.MULTILINE):
            found = {}
            for times, rules in re.findall(r"([^{}]+)\{([^}]*)\}", body):
                for time in times.split(","):
                    share = 1.0 if time == "to" else float(time.removesuffix("%")) / 100
                    assert share not in found, "of two frames at a time only one would count"
                    found[share] = dict(rule.split(":") for rule in rules.split(";"))
            assert list(found) == sorted(found) and min(found) > 0 and max(found) <= 1
            self.frames[name] = found

    def around(self, name, share):
        """The frames before and after a moment, each with its time; None if there is none."""
        frames = self.frames[name].items()
        before = [frame for frame in frames if frame[0] <= share]
        return before[-1] if before else None, next((frame for frame in frames if frame[0] > share), None)

    def shift(self, face, share):
        """By how much a tile has moved."""
        if face.animations[0] not in self.frames:
            return 0.0, 0.0
        before, after = self.around(face.animations[0], share)
        time, rules = before or (0.0, {"translate": "0"})
        x, y = (*numbers(rules["translate"]), 0.0)[:2]
        if after and rules.get("animation-timing-function") != "step-end":
            to_x, to_y = (*numbers(after[1]["translate"]), 0.0)[:2]
            done = (share - time) / (after[0] - time)
            x, y = x + (to_x - x) * done, y + (to_y - y) * done
        return x, y

    def colours(self, face, share):
        before = self.around(face.animations[1], share)[0] if len(face.animations) > 1 else None
        return (before[1]["fill"], before[1]["color"]) if before else face.colours


def visible(face, shift, grid):
    """The parts of a tile and its copies that are on the board: left, top, right, bottom."""
    width, height = grid.cols * PITCH, grid.rows * PITCH
    for copy in face.copies:
        x, y = (round(sum(parts), 6) for parts in zip(face.at, shift, copy, strict=True))
        box = max(0, x), max(0, y), min(width, x + PITCH), min(height, y + PITCH)
        if box[0] < box[2] and box[1] < box[3]:
            yield box


def area(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def shown(picture, sheet, grid, seconds):
    """The board of a film at a moment when all tiles rest, and the colours of its tiles."""
    board, colours = [0] * grid.cells, {}
    for face in faces(picture):
        share = seconds / sheet.seconds
        (box,) = visible(face, sheet.shift(face, share), grid)
        assert area(box) == PITCH * PITCH
        board[int(box[1] // PITCH * grid.cols + box[0] // PITCH)] = face.tile
        colours[face.tile] = sheet.colours(face, share)
    return tuple(board), colours


def right_colours(grid, board, goal):
    homes = {tile: cell for cell, tile in enumerate(goal)}
    found = {}
    for cell, tile in enumerate(board):
        if tile:
            colours = tile_colours(corner_share(grid, homes[tile]), cell == homes[tile])
            found[tile] = tuple(map(css, colours))
    return found


# ---- boards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_tile_is_drawn_on_its_cell_in_the_colours_of_its_home(shape, goal):
    solution = scrambled(shape, goal=goal)
    grid = solution.grid
    picture = svg(solution.board, goal, shape=shape)
    found = {face.tile: face for face in faces(picture)}
    assert len(found) == grid.cells - 1
    for cell, tile in enumerate(solution.board):
        if tile:
            assert found[tile].at == (cell % grid.cols * PITCH, cell // grid.cols * PITCH)
    assert {tile: face.colours for tile, face in found.items()} == right_colours(grid, solution.board, solution.goal)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_picture_holds_the_board_and_has_a_reasonable_size(shape):
    grid = Grid.parse(shape)
    root = ElementTree.fromstring(svg(grid.goal(), shape=shape))
    box = tuple(map(int, root.get("viewBox").split()))
    assert box == (-MARGIN, -MARGIN, grid.cols * PITCH + 2 * MARGIN, grid.rows * PITCH + 2 * MARGIN)
    width, height = int(root.get("width")), int(root.get("height"))
    assert max(width, height) <= (1400 if "50" in shape else 530)
    assert width / height == pytest.approx(box[2] / box[3], rel=0.01), "nothing is stretched"
    assert width / box[2] * PITCH >= 25
    ground = root.find(f"{SVG}rect")
    assert ground.get("fill") == css(NIGHT) and (ground.get("width"), ground.get("height")) == (
        str(box[2]),
        str(box[3]),
    )


def channels(colour):
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


@pytest.mark.parametrize("shape", ["2x2", "4x4", "10x10", "2x50"])
def test_numbers_can_be_read_and_tiles_at_home_recognised_in_grey(shape):
    grid = Grid.parse(shape)
    goal = goal_board(grid)
    home, away = faces(svg(goal, shape=shape)), faces(svg(goal[::-1], shape=shape))
    for face in home + away:
        fill, number = map(channels, face.colours)
        assert contrast(fill, number) >= 4.5, face.tile
        assert contrast(number if face in away else fill, NIGHT) >= 4.5
    bright, dark = ({face.tile: luminance(channels(face.colours[0])) for face in group} for group in (home, away))
    moved = [tile for tile in bright if goal.index(tile) != goal[::-1].index(tile)]
    assert min(bright[tile] for tile in moved) > 2 * max(dark[tile] for tile in moved)


def test_a_board_is_written_as_for_solve_and_need_not_be_solvable():
    picture = svg([[2, 1, 3], [4, 5, 6], [7, 8, 0]])
    assert picture == svg("2 1 3 / 4 5 6 / 7 8 .") == svg("2 1 3 4 5 6 7 8 0", "last")
    assert picture == picture._repr_svg_() and type(picture._repr_svg_()) is str
    assert solver.svg is svg and solver.save_svg is save_svg
    with pytest.raises(InputError, match="is not a number"):
        svg("1 2 3 <script> 5 6 7 8 0")
    with pytest.raises(InputError, match="6 numbers do not make a square board: give `shape` 2x3"):
        svg("1 2 3 4 5 0")


# ---- films --------------------------------------------------------------------------------------

FILMS = [
    *((scrambled(shape, goal=goal), 4) for shape, goal in zip(SHAPES, GOALS * 3, strict=False)),
    (longest(), 4),
    (longest(), 25),
    (scrambled("3x3", 30), 0.1),
    *((scrambled(shape, 40, wrap=True), 7) for shape in ("2x2", "3x3", "3x4", "2x5", "5x2", "4x4")),
    (scrambled("10x10", 400, wrap=True), 25),
]


@pytest.fixture(params=FILMS, ids=lambda made: f"{made[0].grid} {len(made[0].tiles)} at {made[1]}")
def made(request):
    """A solution, its speed and its film."""
    solution, speed = request.param
    return solution, speed, solution.svg(speed=speed)


def test_a_film_shows_every_board_at_its_time_in_its_colours(made):
    solution, speed, picture = made
    sheet = Sheet(picture)
    for number, board in enumerate(solution.boards()):
        moments = {film.FIRST + (number - 0.1) / speed} if number else {0, 1}
        for seconds in moments if number < len(solution.tiles) else {sheet.seconds - 0.01, sheet.seconds - 2.9}:
            colours = right_colours(solution.grid, board, solution.goal)
            assert shown(picture, sheet, solution.grid, seconds) == (board, colours), number


def test_no_tile_jumps_and_none_covers_another(made):
    """A tile that crosses an edge is seen on both sides, and the parts make up a tile."""
    solution, speed, picture = made
    sheet, drawn, grid = Sheet(picture), faces(picture), solution.grid
    count = min(len(solution.tiles), 60)
    for number in range(count):
        middle = film.FIRST + number / speed + 0.3 * min(film.SLIDE, 1 / speed)
        boxes = [list(visible(face, sheet.shift(face, middle / sheet.seconds), grid)) for face in drawn]
        assert all(sum(map(area, parts)) == pytest.approx(PITCH * PITCH) for parts in boxes)
        moving = [box for parts in boxes for box in parts if any(edge % PITCH for edge in box)]
        assert 1 <= len(moving) <= 2
        resting = {box[:2] for parts in boxes for box in parts if box not in moving}
        assert len(resting) == grid.cells - 2
        for x, y, right, bottom in moving:
            touched = {
                (at_x, at_y)
                for at_x in (x // PITCH, (right - 1e-6) // PITCH)
                for at_y in (y // PITCH, (bottom - 1e-6) // PITCH)
            }
            assert not {(at_x * PITCH, at_y * PITCH) for at_x, at_y in touched} & resting
    crossing = [parts for parts in (list(visible(face, (0, 0), grid)) for face in drawn) if len(parts) > 1]
    assert not crossing, "copies wait outside"


def test_only_films_of_wrapped_boards_have_copies_and_are_cut_off():
    plain, wrapped = scrambled("3x4").svg(), scrambled("3x4", wrap=True).svg()
    assert all(len(face.copies) == 1 for face in faces(plain)) and plain.count("<svg") == 1
    assert any(len(face.copies) > 1 for face in faces(wrapped))
    inner = ElementTree.fromstring(wrapped).find(f"{SVG}svg")
    assert (inner.get("width"), inner.get("height"), inner.get("overflow")) == ("200", "150", "hidden")


def test_the_longest_solution_is_a_small_file_without_scripts(tmp_path):
    save_svg(longest(), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert len(text) < 10_000 and text == f"{longest().svg()}\n"
    assert not re.search(r"<script|href|url\(|@import|\bon\w+=|javascript", text), "and it loads nothing"
    assert "prefers-reduced-motion:reduce" in text
    assert "80 moves" in text


def test_films_on_the_same_page_do_not_share_names():
    films = [scrambled("3x3").svg(), scrambled("3x3").svg(speed=5), scrambled("3x3", 14).svg(), longest().svg()]
    names = [set(Sheet(picture).frames) for picture in films]
    assert sum(map(len, names)) == len(set.union(*names))
    for picture in films:
        text = ElementTree.fromstring(picture).find(f"{SVG}style").text
        selectors = re.findall(r"^(?:@media\(.*?\)\{)?(\.\w+ \*)\{", text, re.MULTILINE)
        assert set(selectors) == {f".{ElementTree.fromstring(picture).get('class')} *"} and len(selectors) == 2
    assert films[0] == scrambled("3x3").svg(), "the same every time"


def test_the_goal_does_not_move():
    picture = scrambled("3x3", 0).svg()
    assert "<style" not in picture and "no moves" in picture and len(faces(picture)) == 8


def test_single_boards_of_a_solution():
    solution = scrambled("3x4", goal="spiral")
    for number, board in enumerate(solution.boards()):
        assert solution.svg(number) == svg(board, solution.goal, shape="3x4")
    assert unsolved().svg(0) == svg(unsolved().board)
    for step in (-1, 13, 1.5, "1", True):
        with pytest.raises(InputError, match=r"step must be an integer from 0 to 12, got "):
            solution.svg(step)
    with pytest.raises(InputError, match="was not solved"):
        unsolved().svg()
    with pytest.raises(InputError, match=r"speed must be between 0.1 and 25 moves per second, got 26"):
        solution.svg(speed=26)


# ---- files --------------------------------------------------------------------------------------


def test_an_svg_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "precious.svg").write_bytes(b"precious")
    for name, message in {
        "a.png": "a.png does not end in .svg: choose a name that does",
        "nowhere/a.svg": "there is no folder .*nowhere for a.svg",
        "precious.svg": "precious.svg is not replaced: it is not a .svg file but begins with 'precious'",
    }.items():
        with pytest.raises(InputError, match=message):
            save_svg(scrambled("3x3"), tmp_path / name)
    with pytest.raises(InputError, match="was not solved"):
        save_svg(unsolved(), tmp_path / "a.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["precious.svg"]
    save_svg(scrambled("3x3"), str(tmp_path / "b.svg"))
    save_svg(scrambled("3x3", 2), tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == f"{scrambled('3x3', 2).svg()}\n", "its own kind is replaced"


@pytest.mark.jit
def test_the_moving_board_of_the_readme_is_made_by_the_command_in_the_guide():
    docs = Path(__file__).parent.parent / "docs"
    command = re.search(
        r'pdb-solver solve "([\d /]+)" --heuristic manhattan --svg solution.svg', (docs / "guide.md").read_text()
    )
    assert (docs / "solution.svg").read_text() == f"{solve(command[1], heuristic='manhattan').svg()}\n"


def test_a_move_worked_out_by_hand():
    """1.2 s for the start, 0.16 s for the move, 3 s for the goal: it begins at 27.5 % and ends at 31.2 %."""
    picture = solution_of(Grid(2, 2), (1, 0, 3, 2), (1, 2, 3, 0), (2,)).svg()
    sheet = Sheet(picture)
    assert sheet.seconds == 4.36
    (tile,) = (face for face in faces(picture) if face.tile == 2)
    way, colours = (sheet.frames[name] for name in tile.animations)
    assert way == {0.275: {"translate": "0"}, 0.312: {"translate": "0px -50px"}, 1.0: {"translate": "0px -50px"}}
    assert list(colours) == [0.312]
