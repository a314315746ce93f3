"""Walking distance: the table against a search with dictionaries, the bound against true distances, the file."""

import hashlib
import random
import re
from collections import deque
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest

from pdb_builder import Grid, InputError
from pdb_builder.base.jit import kernel
from pdb_builder.cli import main as builder
from solver import solve
from solver.heuristics import walking_distance, walking_table
from solver.heuristics.contract import evaluate, load, prefetch
from solver.heuristics.databases import best_database
from solver.heuristics.preparing import prepare
from solver.heuristics.walking_table import (
    _count_states,
    build_walking_table,
    count_states,
    is_sound,
    matrix_index_of,
    table_for,
    walking_table_path,
)
from solver.instances import load_set
from solver.solving import frame_of

from .forge import reseal
from .helpers import check_along_a_walk, check_length, remark_on_a_foreign_file, scrambled, searched
from .oracle import board_distances, boards_after, solvable_boards

pytestmark = pytest.mark.jit


@pytest.fixture(autouse=True)
def forget():
    """Nothing prepared before a test is known in it, as in a new process."""
    forget_all()


def forget_all():
    walking_distance._prepared.cache_clear()
    walking_table._open.clear()


@pytest.fixture(params=["linked", "ranked"])
def either_kind(request, monkeypatch):
    """Both kinds, whatever the size of the tables."""
    monkeypatch.setattr(walking_distance, "MOST_LINKED", 0 if request.param == "ranked" else 1 << 30)
    return request.param


# ---- the obvious version ------------------------------------------------------------------------


@cache
def matrix_distances(lines, length, home):
    """Breadth-first search: {(tiles of each goal line in each line, the blank's line): moves}."""
    goal = tuple(tuple((length - (line == home)) * (line == at) for line in range(lines)) for at in range(lines))
    distances = {(goal, home): 0}
    queue = deque(distances)
    while queue:
        state = queue.popleft()
        matrix, blank = state
        for source in {blank - 1, blank + 1} & set(range(lines)):
            for goal_line in range(lines):
                if matrix[source][goal_line]:
                    new = [list(line) for line in matrix]
                    new[source][goal_line] -= 1
                    new[blank][goal_line] += 1
                    new = tuple(map(tuple, new)), source
                    if new not in distances:
                        distances[new] = distances[state] + 1
                        queue.append(new)
    return distances


def textbook(grid, blank, board):
    """The walking distance of a board by its definition."""
    total = 0
    for axis, (lines, length) in enumerate([(grid.rows, grid.cols), (grid.cols, grid.rows)]):
        matrix = [[0] * lines for _ in range(lines)]
        for cell, tile in enumerate(board):
            line = divmod(cell, grid.cols)[axis]
            if tile:
                matrix[line][divmod(grid.home(tile, blank), grid.cols)[axis]] += 1
            else:
                hole = line
        home = divmod(blank, grid.cols)[axis]
        total += matrix_distances(lines, length, home)[tuple(map(tuple, matrix)), hole]
    return total


# ---- the table ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines, length, states",
    [(2, 2, 4), (3, 3, 105), (4, 4, 24_964), (5, 3, 352_560), (5, 5, 65_650_495), (6, 3, 50_388_240), (4, 6, 377_872)],
)
def test_the_number_of_states(lines, length, states):
    assert count_states(lines, length) == states
    assert matrix_index_of(lines, length, 0).states == states


@pytest.mark.parametrize("lines, length, home", [(2, 2, 0), (3, 3, 0), (3, 3, 1), (3, 4, 1), (4, 3, 1), (5, 2, 2)])
def test_the_table_against_a_search_with_dictionaries(lines, length, home):
    """Entry n is the distance of the n-th matrix in lexicographic order, as docs/format.md says."""
    distances = matrix_distances(lines, length, home)
    assert len({matrix for matrix, _ in distances}) == len(distances)  # the blank's line follows from the matrix
    in_order = [distances[state] for state in sorted(distances)]
    index = matrix_index_of(lines, length, home)
    table = build_walking_table(index)
    assert table.tolist() == in_order
    assert is_sound(index, table)


def test_shapes_with_too_large_a_table_are_refused_in_one_line(tmp_path):
    fact = r"needs a table of [0-9,]+ states or more, and the limit is 300,000,000: use linear-conflict"
    for shape in ("4x6", "6x4", "5x6", "2x8", "8x8", "2x32", "3x7", "10x10", "4x25", "20x5", "2x50", "33x3", "7x12"):
        grid = Grid.parse(shape)
        with pytest.raises(InputError, match=fact + (" or pdb$" if grid.cells <= 64 else "$")) as error:
            prepare("walking-distance", grid, 0, tmp_path)
        assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_smaller_shapes_have_no_more_states():
    """What lets ``count_states`` refuse a large shape for a small one in it."""
    counts = {(lines, length): _count_states(lines, length, 10**6) for lines in range(2, 6) for length in range(1, 6)}
    for (lines, length), count in counts.items():
        if count <= 10**6:
            assert count == count_states(lines, length, 10**6)
            assert all(counts[fewer, length] <= count for fewer in range(2, lines))
            assert all(counts[lines, shorter] <= count for shorter in range(1, length))
        else:
            assert count_states(lines, length, 10**6) > 10**6


# ---- the bound ----------------------------------------------------------------------------------


@kernel
def spread(heuristic, boards, cells, others, values):
    """Carry the value of the first board to all others; whether each move changes it by one, and all paths agree."""
    for number in range(boards.shape[0]):
        board = boards[number]
        hole = 0
        while board[hole] != 0:
            hole += 1
        load(heuristic, board, values, number)
        for index in range(4):
            other = others[number, index]
            if other >= 0:
                cell = cells[number, index]
                prefetch(heuristic, index, board[cell], cell, hole, 0, 0)
                value = evaluate(heuristic, index, board[cell], cell, hole)
                if values[other] < 0:
                    values[other] = value
                if values[other] != value or abs(value - values[number]) != 1:
                    return False
    return True


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "shape, blank",
    [((3, 3), 0), ((3, 3), 1), ((3, 3), 4), ((2, 4), 0), ((2, 4), 6), ((4, 2), 3), ((2, 3), 4), ((2, 2), 2)],
)
def test_on_all_boards_no_value_exceeds_the_distance_and_moves_change_it_by_one(shape, blank, tmp_path):
    """Admissible, consistent, and of the parity of the distance, whichever path leads to a board."""
    grid = Grid(*shape)
    heuristic = prepare("walking-distance", grid, blank, tmp_path)
    assert heuristic.admissible and heuristic.parts == 1
    distances = board_distances(grid, blank)
    numbers = {board: number for number, board in enumerate(distances)}
    cells, others = np.full((2, len(numbers), 4), -1)
    for board, number in numbers.items():
        for index, after in enumerate(boards_after(grid, board)):
            cells[number, index], others[number, index] = after.index(0), numbers[after]
    values = np.full(len(numbers), -1)
    values[0] = 0  # the goal is the first board
    assert spread(heuristic.workspace(4), np.array(list(numbers), dtype=np.uint8), cells, others, values)
    true = np.array(list(distances.values()))
    assert (values <= true).all() and ((true - values) % 2 == 0).all() and (values >= 0).all()
    assert np.flatnonzero(values == 0).tolist() == [0]
    for board in random.Random(blank).sample(list(numbers), min(300, len(numbers))):
        assert heuristic.measure(board) == [values[numbers[board]]] == [textbook(grid, blank, board)]


@pytest.mark.parametrize(
    "shape, blank",
    [((3, 3), 0), ((3, 3), 5), ((4, 4), 0), ((4, 4), 6), ((4, 4), 15), ((3, 4), 0), ((3, 4), 10), ((2, 5), 7)],
)
def test_values_are_those_of_the_definition(shape, blank, tmp_path):
    grid, chance = Grid(*shape), random.Random(blank)
    heuristic = prepare("walking-distance", grid, blank, tmp_path)
    for _ in range(200):
        board = scrambled(grid, grid.goal(blank), chance.randrange(5 * grid.cells), chance)
        assert heuristic.measure(board) == [textbook(grid, blank, board)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "shape, blank", [((3, 3), 0), ((3, 3), 8), ((4, 4), 0), ((4, 4), 9), ((3, 5), 0), ((5, 3), 13), ((2, 5), 4)]
)
def test_values_are_carried_along_moves_without_error(shape, blank, either_kind, tmp_path):
    grid = Grid(*shape)
    heuristic = prepare("walking-distance", grid, blank, tmp_path)
    assert either_kind in heuristic.kind.lower()
    check_along_a_walk(grid, blank, heuristic, 300, seed=blank)


def test_the_mean_over_korfs_boards(tmp_path):
    grid, goal, instances = load_set("korf100")
    frame = frame_of(grid, goal)
    boards = [frame.enter(one.board) for one in instances]
    for spec, mean in (("walking-distance", 39.57), ("manhattan", 37.05)):
        heuristic = prepare(spec, grid, frame.blank, tmp_path)
        values = [max(heuristic.measure(board)) for board in boards]
        assert sum(values) / 100 == pytest.approx(mean)
        assert all(value <= one.length for value, one in zip(values, instances, strict=True))


def test_ida_star_finds_shortest_solutions(either_kind, tmp_path):
    check_searches("ida-star", tmp_path)


def test_a_star_finds_shortest_solutions(tmp_path):
    check_searches("a-star", tmp_path)


def check_searches(name, folder):
    grid = Grid(3, 3)
    for blank in (0, 1, 4):
        distances, heuristic = board_distances(grid, blank), prepare("walking-distance", grid, blank, folder)
        for board in random.Random(blank).sample(solvable_boards(grid, blank), 12):
            check_length(name, searched(name, grid, blank, board, heuristic), distances[board])


@pytest.mark.slow
def test_korfs_easiest_boards(tmp_path):
    _, goal, instances = load_set("korf100")
    for one in sorted(instances, key=lambda one: one.generated)[:4]:
        for spec in ("walking-distance", "max:walking-distance+linear-conflict"):
            assert solve(one.board, goal, heuristic=spec, folder=tmp_path).length == one.length


# ---- the file -----------------------------------------------------------------------------------


GRID = Grid(3, 4)
NAMES = ["walking-distance-3x4-home-0.h5", "walking-distance-4x3-home-0.h5"]


def value_of(folder, notify=pytest.fail):
    """The value of a board, by tables that are opened, or built, in a folder."""
    forget_all()
    for lines, length in ((GRID.rows, GRID.cols), (GRID.cols, GRID.rows)):
        table_for(lines, length, 0, folder, notify=notify)
    return prepare("walking-distance", GRID, 0, folder).measure((11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))


def test_tables_are_built_once_and_kept(tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    value = value_of(folder)
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    monkeypatch.setattr(walking_table, "build_walking_table", None)  # it would fail
    assert value_of(folder) == value
    # With the blank's home in another corner, or on a transposed board, the tables are the same.
    for grid, blank in ((GRID, 11), (GRID, 3), (Grid(4, 3), 9)):
        prepare("walking-distance", grid, blank, folder)


def forge(change):
    def damage(path):
        with h5py.File(path, "r+") as root:
            change(root)
        reseal(path, kind=walking_table.KIND)

    return damage


def change_entry(root):
    root["table"][100] += 2


def change_lines(root):
    root.attrs["home"] = 1


def shorten(root):
    table = root["table"][:-1]
    del root["table"]
    root["table"] = table


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[-1000] ^= 4
    path.write_bytes(data)


def newer_format(path):
    path.write_bytes(path.read_bytes().replace(b"format 1", b"format 2", 1))


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "label alone": lambda path: path.write_bytes(path.read_bytes()[:4096]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a flipped bit": flip_a_byte,
    "not HDF5 inside": lambda path: (
        path.write_bytes(path.read_bytes()[:4096] + b"x" * 5000),
        reseal(path, kind=walking_table.KIND),
    ),
    "a forged entry": forge(change_entry),
    "a forged home": forge(change_lines),
    "a forged size": forge(shorten),
    "another table": lambda path: path.write_bytes((path.parent / NAMES[0]).read_bytes()),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_rebuilt(damage, tmp_path):
    value = value_of(tmp_path)
    path = tmp_path / NAMES[1]
    sound = path.read_bytes()
    damage(path)
    assert path.read_bytes() != sound
    remarks = []
    assert value_of(tmp_path, remarks.append) == value
    (remark,) = remarks
    assert re.fullmatch(r".*walking-distance-4x3-home-0.h5 (is damaged|is not a).*: rebuilding it", remark)
    assert path.read_bytes() == sound
    assert value_of(tmp_path) == value
    assert sorted(one.name for one in tmp_path.iterdir()) == NAMES


FOREIGN = {
    "text": lambda path: path.write_text("hello"),
    "a later format": newer_format,
    "a link to nothing": lambda path: (path.unlink(), path.symlink_to("nowhere.h5")),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_not_ours_is_left_alone(change, tmp_path):
    remark = remark_on_a_foreign_file(tmp_path / NAMES[1], change, lambda *notify: value_of(tmp_path, *notify))
    assert re.fullmatch(r".*-4x3-home-0.h5 (is not a|has format).*: it is left alone, .*: move it away", remark)


def test_where_nothing_can_be_written_the_table_is_kept_in_memory(tmp_path):
    value = value_of(tmp_path / "folder")
    (tmp_path / "file").write_text("in the way")
    remarks = []
    assert value_of(tmp_path / "file", remarks.append) == value
    assert len(remarks) == len(NAMES)
    assert re.fullmatch(r"cannot read .*: the table is kept in memory for this run only", remarks[-1])


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    remarks = []
    value_of(tmp_path, remarks.append)
    assert not list(tmp_path.iterdir())
    assert len(remarks) == 2 and all("No space left on device" in remark for remark in remarks)


def test_the_build_of_a_large_table_is_announced_and_reports_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(walking_table, "LARGE", 1000)
    remarks, reports = [], []
    index, table = table_for(4, 3, 0, tmp_path, notify=remarks.append, progress=lambda *report: reports.append(report))
    path = walking_table_path(tmp_path, 4, 3, 0)
    assert remarks == [f"building {path}, once: {index.states:,} states"]
    assert {total for _, total in reports} == {index.states}
    assert [done for done, _ in reports[:-1]] == np.cumsum(np.bincount(table)).tolist()
    assert reports[-1] == reports[-2] == (index.states, index.states)  # the last level has no successors
    table_for(4, 3, 0, tmp_path, notify=pytest.fail, progress=pytest.fail)
    forget_all()
    table_for(4, 3, 0, tmp_path, notify=pytest.fail, progress=pytest.fail)


def test_the_documented_schema_is_what_is_written(tmp_path):
    value_of(tmp_path)
    page = (Path(__file__).parent.parent / "docs" / "format.md").read_text()
    page = page.partition("# Tables of walking distances, format 1")[2].partition("\n# ")[0]
    rows = set(re.findall(r"^\| (attribute|dataset) \| `([^`]+)` \| `([^`]+)`", page, re.MULTILINE))
    path = walking_table_path(tmp_path, 4, 3, 0)
    with h5py.File(path) as root:
        attributes = {
            ("attribute", f"/{name}", "string" if isinstance(value, str) else str(np.asarray(value).dtype))
            for name, value in root.attrs.items()
        }
        assert rows == attributes | {("dataset", "/table", f"{root['table'].dtype}[]")}
        assert root.attrs["maximum"] == root["table"][...].max()
    first, size, seal = path.read_bytes()[:4096].decode().rstrip("\n").split("\n")
    assert f"    {first}\n" in page
    assert size == f"size {path.stat().st_size}"
    assert seal == f"seal {hashlib.sha256(path.read_bytes()[4096:]).hexdigest()}"


def test_the_builder_does_not_mistake_it_for_a_database(tmp_path, capsys):
    value_of(tmp_path)
    path = walking_table_path(tmp_path, 4, 3, 0)
    assert best_database(GRID, 0, tmp_path) == (None, ())
    assert builder(["list", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""
    for command in ("info", "verify"):
        assert builder([command, str(path)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "walking distance" in said


def test_without_a_home_folder_the_table_is_kept_in_memory(tmp_path, monkeypatch):
    value = value_of(tmp_path / "folder")
    monkeypatch.setenv("HOME", str(tmp_path / "no"))
    remarks = []
    assert value_of(tmp_path / "no" / "databases", remarks.append) == value
    assert re.fullmatch(r"cannot write .*: there is no home folder .*: the table is kept in memory .*", remarks[-1])
    assert not (tmp_path / "no").exists()
