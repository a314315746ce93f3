"""The learned rank of a beam: carried along, symmetric, kept in files, and chosen where it serves."""

import hashlib
import random
import re
from importlib.resources import files
from pathlib import Path

import h5py
import numpy as np
import pytest

from pdb_builder import Grid
from pdb_builder.base.errors import DamagedDatabase, DatabaseError, InputError, NewerFormat, NotADatabase
from solver import compare, solve
from solver.choosing import rank_for
from solver.frame import frame_of
from solver.heuristics import linear_conflict, manhattan
from solver.heuristics.preparing import prepare
from solver.instances import random_board
from solver.search import beam, beam_level, learned_rank
from solver.search.automaton import MOVES, cell_of
from solver.search.learned_rank import (
    AROUND,
    CLASSES,
    DISPLACEMENTS,
    PARTNERS,
    REACH,
    ROW,
    Weights,
    is_symmetric,
    rank_from_scratch,
    rank_tables,
    reflect,
    reflected,
    reflected_around,
    reflection_of,
)
from solver.search.outcome import Problem
from solver.search.rank_files import KIND, Lesson, packaged_rank, rank_path, read_rank, write_rank
from solver.settings import Settings

from .forge import reseal
from .helpers import length, scrambled, searched

pytestmark = [pytest.mark.jit, pytest.mark.beam]

SIX = Grid(6, 6)
LESSON = Lesson("slidepdb 0", "6x6", 1, 2, 1, 100, 24, "", (200.0,), 1.0, 2.0, 0.9, 0.8, 5, 190.5, 200.25)


def random_weights(seed=1, most=40, partners=24):
    """Weights drawn at random, equal where boards that are reflected are."""
    rng = np.random.default_rng(seed)
    single = rng.integers(-most, most + 1, DISPLACEMENTS)
    pairs = rng.integers(-most, most + 1, (PARTNERS[partners], DISPLACEMENTS, DISPLACEMENTS))
    for offset, of_class in zip(CLASSES, pairs, strict=False):
        if kind := reflection_of(offset):
            of_class[:] = of_class + reflect(of_class, kind)
    around = rng.integers(-most, most + 1, (len(AROUND), ROW))
    around += around.ravel()[reflected_around()]
    parts = single + single[reflected()], pairs, around
    weights = Weights(*(array.astype(np.int16) for array in parts))
    assert is_symmetric(weights)
    return weights


def without_blank(weights):
    """The same weights, but nothing for what is around the blank."""
    return weights._replace(around=np.zeros_like(weights.around))


def reflection(grid, board):
    """The board reflected in the diagonal, with tiles renamed so that the goal stays as it is."""
    across = [col * grid.cols + row for row in range(grid.rows) for col in range(grid.cols)]
    return tuple(across[board[cell]] for cell in across)


def level_of(grid, boards, weights, blank=0):
    """A level of boards, and the rules of a beam that ranks by weights."""
    problem = Problem(grid, blank, grid.goal(blank), linear_conflict.prepare(grid, blank), weights=weights)
    rules = beam_level.rules_of(problem, np.random.default_rng(1))[-1]
    level = beam_level.new_level(len(boards), rules)
    level.boards[:] = np.array(boards, dtype=np.uint8).ravel()
    beam_level.follow_rules(level, rules, len(boards))
    return level, rules


# ---- ranks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape, blank, partners", [((3, 3), 0, 24), ((5, 5), 12, 4), ((7, 7), 0, 24), ((9, 9), 3, 8), ((3, 12), 16, 24)]
)
def test_a_rank_is_the_sum_over_tiles_and_pairs(shape, blank, partners):
    grid, weights, chance = Grid(*shape), random_weights(partners=partners), random.Random(blank)
    boards = [random_board(grid, grid.goal(blank), chance) for _ in range(5)]
    learned, _ = level_of(grid, boards, weights, blank)
    nothing, _ = level_of(grid, boards, Weights(*(np.zeros_like(array) for array in weights)), blank)
    for number, board in enumerate(boards):
        carried = rank_from_scratch(without_blank(weights), grid, blank, board)
        assert learned.stretches[number] - nothing.stretches[number] == carried


def around_the_blank(weights, grid, goal_blank, board):
    """What the tiles around the blank add to the rank of a board."""
    (row, col), total = divmod(board.index(0), grid.cols), 0
    for (down, across), of_place in zip(AROUND, weights.around.tolist(), strict=True):
        at = (row + down, col + across)
        if 0 <= at[0] < grid.rows and 0 <= at[1] < grid.cols:
            home = divmod(grid.goal(goal_blank).index(board[grid.cols * at[0] + at[1]]), grid.cols)
            away = [max(-REACH, min(REACH, a - b)) for a, b in zip(at, home, strict=True)]
            total += of_place[(away[0] + REACH) * (2 * REACH + 1) + away[1] + REACH]
        else:
            total += of_place[-1]
    return total


@pytest.mark.parametrize("shape, home", [((3, 3), 0), ((4, 4), 5), ((7, 7), 0), ((10, 10), 0), ((2, 9), 13)])
def test_what_is_around_the_blank_counts_when_children_are_ranked(shape, home, monkeypatch):
    grid, weights, expand, checked = Grid(*shape), random_weights(most=6), beam.expand, []

    def spy(heuristic, level, children, rules, automaton, room, scratch, first, found, *run):
        expand(heuristic, level, children, rules, automaton, room, scratch, first, found, *run)
        for child in range(first, int(found[0]), 7) if rules.noted else ():
            parent, index = divmod(int(children.origins[child]), MOVES)
            board = level.boards[parent * grid.cells : (parent + 1) * grid.cells].tolist()
            source = cell_of(int(automaton.successors[int(level.states[parent]) * MOVES + index]))
            blank = board.index(0)
            board[blank], board[source] = board[source], 0
            afresh, _ = level_of(grid, [board], weights, home)
            around = around_the_blank(weights, grid, home, board)
            both = [rank_from_scratch(one, grid, home, board) for one in (weights, without_blank(weights))]
            assert around == both[0] - both[1]
            rank = learned_rank.STEPS * kind.measure(board)[0] + int(afresh.stretches[0]) + around + rules.lift
            ties = int(children.hashes[child]) >> 62
            assert children.ranks[child] == (max(rank, 0) + ties) // 4
            checked.append(around)

    monkeypatch.setattr(beam, "expand", spy)
    kind = linear_conflict.prepare(grid, home)
    board = scrambled(grid, grid.goal(home), 40, random.Random(1))
    searched("beam", grid, home, board, kind, width=50, weights=weights)
    assert len(checked) > 20 and len(set(checked)) > 10


def test_every_pair_of_neighbouring_homes_counts_from_both_sides():
    grid = Grid(8, 8)
    tables = rank_tables(random_weights(), grid, 0)
    partners_of = [set(some) - {0} for some in tables.partners.reshape(grid.cells, -1).tolist()]
    assert not partners_of[0]
    for tile, partners in enumerate(partners_of[1:], start=1):
        near = {
            other
            for other in range(1, grid.cells)
            if other != tile and max(abs(tile // 8 - other // 8), abs(tile % 8 - other % 8)) <= 2
        }
        assert partners == near and all(tile in partners_of[other] for other in partners)


@pytest.mark.parametrize(
    "shape, home, patience, most",
    [
        ((5, 5), 0, 1, 6),
        ((6, 6), 14, 0.5, 6),
        ((6, 6), 0, 1, 40),
        ((8, 8), 0, 0, 6),
        ((3, 9), 7, 1, 6),
        ((4, 25), 99, 1, 6),
    ],
)
def test_ranks_carried_along_equal_ranks_from_scratch(shape, home, patience, most, monkeypatch):
    """Along the walks of all boards of a beam, also when it is lost and returns from its stages."""
    grid, weights, choose, checked = Grid(*shape), random_weights(most=most), beam.choose, []
    bytes_of_a_step = 1 if most == 6 else 4  # large weights do not fit into a byte
    assert rank_tables(weights, grid, home).steps.itemsize == bytes_of_a_step

    def spy(heuristic, level, children, chosen, history, rules, *rest):
        choose(heuristic, level, children, chosen, history, rules, *rest)
        boards = chosen.boards.reshape(-1, grid.cells)[: history.size]
        if rules.noted and len(checked) < 200:
            afresh, _ = level_of(grid, boards, weights, home)
            assert (chosen.stretches[: history.size] == afresh.stretches).all()
            noted, noted_afresh = (level.away[: boards.size].reshape(boards.shape) for level in (chosen, afresh))
            assert (noted[:, 1:] == noted_afresh[:, 1:]).all()  # the blank's is never read
            checked.append(history.size)

    monkeypatch.setattr(beam, "choose", spy)
    monkeypatch.setattr(beam, "PATIENCE", patience)  # 0: lost at every chance
    board = scrambled(grid, grid.goal(home), 200, random.Random(1))
    searched("beam", grid, home, board, linear_conflict.prepare(grid, home), width=60, weights=weights)
    assert len(checked) > 10 and max(checked) > 30


@pytest.mark.parametrize("partners", PARTNERS)
def test_reflected_boards_have_the_same_rank(partners):
    grid, weights, chance = Grid(6, 6), random_weights(partners=partners), random.Random(2)
    boards = [random_board(grid, grid.goal(), chance) for _ in range(20)]
    images = [reflection(grid, board) for board in boards]
    assert reflection(grid, grid.goal()) == grid.goal() and images != boards
    one, other = (level_of(grid, some, weights)[0].stretches.tolist() for some in (boards, images))
    assert one == other
    for board, image in zip(boards, images, strict=True):
        assert rank_from_scratch(weights, grid, 0, board) == rank_from_scratch(weights, grid, 0, image)
    lopsided = weights._replace(pairs=weights.pairs.copy())
    lopsided.pairs[0, 3, 5] += 1
    assert is_symmetric(lopsided)  # that pair and its reflection have different offsets
    turned = weights._replace(around=weights.around.copy())
    turned.around[1, 3] += 1
    assert not is_symmetric(turned)
    if partners > 4:
        lopsided.pairs[1, 3, 5] += 1
        assert not is_symmetric(lopsided)


def test_ranks_may_be_negative():
    """What all boards have in common makes no difference, and the goal is ranked above 0."""
    grid, heuristic, weights = Grid(5, 5), linear_conflict.prepare(Grid(5, 5), 0), random_weights(most=6)
    board = scrambled(grid, grid.goal(), 80, random.Random(3))
    outcomes = [
        searched("beam", grid, 0, board, heuristic, width=300, weights=weights._replace(single=weights.single + more))
        for more in np.array([0, -2000, 2000], dtype=np.int16)
    ]
    assert outcomes[0].paths == outcomes[1].paths == outcomes[2].paths != []
    _, rules = level_of(grid, [grid.goal()], weights)
    lifted = rules.lift + rank_from_scratch(weights, grid, 0, grid.goal())
    assert abs(lifted / learned_rank.STEPS - beam_level.LIFT) <= 0.5


def test_weights_never_enter_a_lower_bound():
    grid, heuristic = Grid(4, 4), linear_conflict.prepare(Grid(4, 4), 0)
    board = scrambled(grid, grid.goal(), 60, random.Random(4))
    mad = random_weights(most=5000)
    bounds = {searched("beam", grid, 0, board, heuristic, width=500, weights=one).lower_bound for one in (None, mad)}
    assert bounds == {heuristic.measure(board)[0]}


def test_ties_are_broken_at_random(monkeypatch):
    """Another pass of the same width is another search."""
    grid, counts = Grid(6, 6), set()
    heuristic, weights = linear_conflict.prepare(grid, 0), random_weights(most=6)
    board = scrambled(grid, grid.goal(), 150, random.Random(2))
    for seed in range(4):
        monkeypatch.setattr(beam, "SEED", seed)
        counts.add(searched("beam", grid, 0, board, heuristic, width=200, weights=weights).generated)
    assert len(counts) == 4


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(beam, "PIECE", 50)
    grid, heuristic = Grid(5, 5), linear_conflict.prepare(Grid(5, 5), 0)
    board = scrambled(grid, grid.goal(), 100, random.Random(9))
    outcomes = [
        searched("beam", grid, 0, board, heuristic, width=300, weights=random_weights(most=6), threads=threads)
        for threads in (1, 2, 3)
    ]
    assert len({(tuple(one.paths[0]), one.expanded, one.generated) for one in outcomes}) == 1


@pytest.mark.parametrize(
    "grid, blank, width, kind, moves, expanded, generated, path",
    [
        (Grid(6, 6), 0, 300, linear_conflict, 219, 63880, 149772, "18bb03c9f4258c3f"),
        (Grid(8, 8), 0, 40, linear_conflict, 836, 35566, 88207, "2b1fecf5e4051f30"),  # in stages
        (Grid(4, 7), 10, 200, linear_conflict, 150, 29046, 65106, "1ea95f15dd54daf9"),
        (Grid(5, 5, True), 3, 200, manhattan, 85, 16161, 48485, "566be4777833a4a0"),
    ],
)
def test_the_classic_rank_is_what_it_was(grid, blank, width, kind, moves, expanded, generated, path):
    """Before there were learned ones, at revision a128f30."""
    board = random_board(grid, grid.goal(blank), random.Random(20))
    outcome = searched("beam", grid, blank, board, kind.prepare(grid, blank), width=width, threads=2)
    assert (length(outcome), outcome.expanded, outcome.generated) == (moves, expanded, generated)
    assert hashlib.sha256(bytes(outcome.paths[0])).hexdigest()[:16] == path


# ---- files --------------------------------------------------------------------------------------


@pytest.fixture
def rank_file(tmp_path):
    """The file of a rank for 6x6, in a folder of its own."""
    path = rank_path(tmp_path, Grid(6, 6))
    write_rank(path, random_weights(most=6), LESSON)
    return path


def same(one, other):
    return all((first == second).all() for first, second in zip(one, other, strict=True))


def test_what_is_written_is_read(rank_file):
    rank = read_rank(rank_file)
    assert same(rank.weights, random_weights(most=6)) and rank.lesson == LESSON
    before = rank_file.read_bytes()
    write_rank(rank_file, rank.weights, rank.lesson)
    assert rank_file.read_bytes() == before  # nothing of the time or the place


def set_attribute(name, value):
    return lambda root: root.attrs.create(name, value)


def replace_dataset(name, change):
    def forge(root):
        values = change(root[name][...])
        del root[name]
        root.create_dataset(name, data=values)

    return forge


def lopsided(pairs):
    pairs[1, 3, 5] += 1
    return pairs


def lopsided_around(around):
    around[1, 3] += 1
    return around


def elsewhere(root, name):
    values = root[name][...]
    del root[name]
    root.create_dataset(name, values.shape, values.dtype, external=[("/etc/passwd", 0, values.nbytes)])


def linked(root, name):
    del root[name]
    root[name] = h5py.ExternalLink("other.h5", name)


def huge_pieces(root, name):
    values = root[name][...]
    del root[name]
    pieces = {"chunks": (2**24,), "maxshape": (None,), "compression": "gzip"}
    root.create_dataset(name, values.shape, values.dtype, **pieces)[...] = values


FORGERIES = {
    "another format": set_attribute("format", "slidepdb"),
    "steps": set_attribute("steps", np.int64(32)),
    "a reach": set_attribute("reach", np.int64(7)),
    "too few partners": set_attribute("partners", np.int64(8)),
    "strange partners": set_attribute("partners", np.int64(5)),
    "no number": set_attribute("loss", np.nan),
    "no shape": set_attribute("shape", "banana"),
    "no text": set_attribute("by", np.int64(5)),
    "a class missing": replace_dataset("pairs", lambda pairs: pairs[:-1]),
    "wide weights": replace_dataset("pairs", lambda pairs: pairs.astype(np.int32)),
    "weights of nothing": replace_dataset("single", lambda single: single[:0]),
    "lopsided weights": replace_dataset("pairs", lopsided),
    "nothing beyond the edge": replace_dataset("around", lambda around: around[:, :-1]),
    "lopsided around the blank": replace_dataset("around", lopsided_around),
    "begun with what has no seal": set_attribute("begun_with", "x"),
    "lengths of other rounds": set_attribute("round_moves", np.ones(7)),
    "lengths below 0": set_attribute("round_moves", -np.ones(1)),
    "boards solved in no moves": set_attribute("classic_moves", 0.0),
    "a dataset elsewhere": lambda root: elsewhere(root, "single"),
    "a dataset of another file": lambda root: linked(root, "single"),
    "huge pieces": lambda root: huge_pieces(root, "single"),
    "an attribute missing": lambda root: root.attrs.__delitem__("seed"),
    "a dataset missing": lambda root: root.__delitem__("single"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_files_are_refused(rank_file, forgery):
    """Even with a seal that is right for what they hold."""
    with h5py.File(rank_file, "r+") as root:
        FORGERIES[forgery](root)
    reseal(rank_file, kind=KIND)
    with pytest.raises(DamagedDatabase, match="do not fit together"):
        read_rank(rank_file)


def test_files_that_were_changed_are_refused(rank_file):
    whole = rank_file.read_bytes()
    chance = random.Random(5)
    for _ in range(30):
        changed = bytearray(whole)
        changed[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        rank_file.write_bytes(changed)
        with pytest.raises(DatabaseError):
            read_rank(rank_file)
    for size in (0, 100, 4096, len(whole) // 2, len(whole) - 1):
        rank_file.write_bytes(whole[:size])
        with pytest.raises((DamagedDatabase, NotADatabase)):
            read_rank(rank_file)


def test_newer_and_foreign_files_are_refused(rank_file, tmp_path):
    text = rank_file.read_bytes()
    rank_file.write_bytes(text.replace(b"format 1.", b"format 2.", 1))
    with pytest.raises(NewerFormat, match="update slidepdb"):
        read_rank(rank_file)
    rank_file.write_bytes(b"hello\n" * 1000)
    with pytest.raises(NotADatabase, match="is not a learned rank file"):
        read_rank(rank_file)
    with pytest.raises(NotADatabase, match="a folder"):
        read_rank(tmp_path)


def test_the_rank_of_the_package_can_be_read():
    rank = packaged_rank()
    assert rank.lesson.moves < rank.lesson.classic_moves and rank.lesson.checked
    assert (files("solver.data") / "rank.h5").stat().st_size < 600_000
    assert rank_tables(rank.weights, Grid(7, 7), 0).steps.itemsize == 1  # more of them stay in the cache


# ---- the choice ---------------------------------------------------------------------------------


def chosen(folder, grid=SIX, blank=0, heuristic="linear-conflict", rank=None):
    """The rank for a goal, and the remarks about it."""
    frame, remarks = frame_of(grid, grid.goal(blank)), []
    prepared = prepare(heuristic, grid, frame.blank, folder)
    return rank_for(frame, prepared, Settings(folder=folder, rank=rank), remarks.append), remarks


def test_the_rank_of_the_size_is_used_or_else_that_of_the_package(rank_file):
    folder = rank_file.parent
    for rank in (None, "auto", "learned"):
        own, remarks = chosen(folder, rank=rank)
        assert own.name == "learned" and own.why == str(rank_file) and not remarks
        assert same(own.weights, random_weights(most=6))
        other, remarks = chosen(folder, Grid(7, 7), rank=rank)
        assert other.name == "learned" and "package" in other.why and not remarks
    for blank in (5, 8):
        assert chosen(folder, blank=blank)[0].why == str(rank_file)  # wherever the blank belongs
    named, _ = chosen(folder, Grid(7, 7), rank=str(rank_file))
    assert named.why == str(rank_file)  # weights serve boards of other sizes


@pytest.mark.parametrize("shape, blank", [((4, 4), 0), ((5, 7), 3), ((2, 12), 11), ((10, 10), 55)])
def test_the_rank_of_the_package_serves_all_plain_boards(shape, blank, tmp_path):
    rank, remarks = chosen(tmp_path, Grid(*shape), blank)
    assert rank.name == "learned" and "package" in rank.why and not remarks


def test_the_classic_rank_is_used_if_told_so(rank_file):
    rank_file.write_bytes(b"")
    rank, remarks = chosen(rank_file.parent, rank="classic")
    assert rank == ("classic", "as told", None) and not remarks


@pytest.mark.parametrize(
    "grid, blank, heuristic, why",
    [
        (Grid(6, 6, True), 0, "manhattan", "the edges are joined"),
        (Grid(6, 6), 0, "manhattan", "ranks are learned with linear-conflict, and this is manhattan"),
    ],
)
def test_where_no_learned_rank_serves_the_classic_one_does(grid, blank, heuristic, why, tmp_path):
    assert chosen(tmp_path, grid, blank, heuristic)[0] == ("classic", why, None)
    for rank in ("learned", str(tmp_path / "some.h5")):
        with pytest.raises(InputError, match=f"{why}: leave the rank out, or use classic"):
            chosen(tmp_path, grid, blank, heuristic, rank)


def damage(path):
    path.write_bytes(path.read_bytes()[:-1])


def make_newer(path):
    path.write_bytes(path.read_bytes().replace(b"format 1.", b"format 2.", 1))


@pytest.mark.parametrize("change", [damage, make_newer, lambda path: path.write_text("no rank")])
def test_a_file_that_cannot_be_used_is_remarked_on_and_the_classic_rank_serves(rank_file, change):
    change(rank_file)
    rank, (remark,) = chosen(rank_file.parent)
    assert rank == ("classic", "the file of the learned one cannot be used", None)
    assert remark.startswith("not used: ") and str(rank_file) in remark and "\n" not in remark
    for named in ("learned", str(rank_file)):
        with pytest.raises(DatabaseError):
            chosen(rank_file.parent, rank=named)


def test_a_file_that_is_named_must_exist(tmp_path):
    with pytest.raises(DatabaseError, match="there is no learned rank"):
        chosen(tmp_path, rank=str(tmp_path / "none.h5"))
    with pytest.raises(InputError, match="unknown `rank` 'best'"):
        solve("1 2 3 / 4 5 6 / 7 8 0", rank="best")
    with pytest.raises(InputError, match="ida-star ranks no boards"):
        solve("1 2 3 / 4 5 6 / 7 8 0", algorithm="ida-star", rank="classic")


def test_solutions_say_how_boards_were_ranked(rank_file):
    folder, grid = rank_file.parent, Grid(6, 6)
    board = scrambled(grid, grid.goal(35), 60, random.Random(6))
    learned = solve(list(board), width=500, folder=folder)
    assert (learned.algorithm, learned.rank, learned.why) == ("beam", "learned", str(rank_file))
    classic = solve(list(board), width=500, folder=folder, rank="classic")
    assert (classic.rank, classic.why) == ("classic", "as told")
    assert learned.expanded != classic.expanded and learned.as_dict()["rank"] == "learned"
    assert solve("1 2 3 / 4 5 6 / 7 0 8").rank is None


def test_ranks_can_be_compared(rank_file, monkeypatch):
    grid = Grid(6, 6)
    boards = [list(scrambled(grid, grid.goal(35), 40, random.Random(seed))) for seed in range(2)]
    names = ["beam:200:rank=classic", "beam:200:rank=learned"]
    compared = compare(boards, ["linear-conflict"], names, folder=rank_file.parent)
    cells = compared.to_records()
    assert {cell["algorithm"] for cell in cells} == set(names) and len(cells) == 4
    assert learned_rank.STEPS == 64


def test_the_documented_schema_is_what_is_written():
    page = (Path(__file__).parent.parent / "docs" / "format.md").read_text()
    page = page.partition("# Learned ranks, format 1")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (attribute|dataset) \| (`/[^|]+`) \| `([^`]+)`", page, re.MULTILINE)
    documented = {(kind, name, of) for kind, names, of in rows for name in re.findall(r"`/(\w+)`", names)}
    with h5py.File(files("solver.data") / "rank.h5") as root:
        seen = {
            ("attribute", name, "string" if isinstance(value, str) else f"{value.dtype}{'[]' * np.ndim(value)}")
            for name, value in root.attrs.items()
        }
        seen |= {("dataset", name, f"{root[name].dtype}[{',' * (root[name].ndim - 1)}]") for name in root}
    assert documented == seen
