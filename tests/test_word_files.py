"""Files of forbidden words: kept if finding them took long, proven when they are read, replaced only if ours."""

import hashlib
import os
import re
import time
from pathlib import Path
from threading import Event, Thread

import h5py
import numpy as np
import pytest

from pdb_builder.base.errors import InputError
from pdb_builder.base.machine import readable_size
from pdb_builder.cli import main as builder
from pdb_builder.grid import Grid
from pdb_builder.pattern import NAMED, Spec
from solver import choosing, solve
from solver.choosing import pruning_for
from solver.heuristics import manhattan
from solver.heuristics.databases import best_database
from solver.heuristics.preparing import prepare
from solver.search import forbidden_words, outcome, pruning, word_files
from solver.search.forbidden_words import LETTER_BITS, length_of
from solver.search.outcome import Stopped
from solver.search.word_files import KIND, automaton_for, words_path
from solver.settings import Settings
from solver.solving import solve_board

from .forge import reseal
from .helpers import HARD, korf_in_order, remark_on_a_foreign_file

pytestmark = pytest.mark.jit

GRID, LONGEST = Grid(3, 4), 12
NAME = "pruning-3x4-12.h5"


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Nothing made before a test is known in it, as in a new process."""
    monkeypatch.setattr(word_files, "_made", {})


@pytest.fixture
def kept(monkeypatch):
    """All words are kept in files, however fast they are found."""
    monkeypatch.setattr(word_files, "LONG", 0)


def made(folder, notify=pytest.fail, grid=GRID, longest=LONGEST, ties=False):
    """An automaton as a new process makes it, as bytes."""
    word_files._made.clear()
    return [array.tobytes() for array in automaton_for(grid, longest, ties, folder, notify=notify)]


# ---- kept ---------------------------------------------------------------------------------------


def test_words_are_found_once_and_kept(kept, tmp_path, monkeypatch):
    folder = tmp_path / "new" / "folder"
    automaton = made(folder)
    assert [path.name for path in folder.iterdir()] == [NAME]
    monkeypatch.setattr(word_files, "forbidden_words", None)  # it would fail
    assert made(folder) == automaton


def test_words_that_are_found_fast_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(word_files, "LONG", 1000)
    assert made(tmp_path) == made(None) and not list(tmp_path.iterdir())


def test_every_kind_of_words_has_a_file_of_its_own(kept, tmp_path):
    kinds = [
        (grid, longest, ties)
        for grid in (GRID, Grid(4, 3), Grid(3, 4, wrap=True))
        for longest in (6, 7)
        for ties in (False, True)
    ]
    automata = [made(tmp_path, pytest.fail, *kind) for kind in kinds]
    names = {path.name for path in tmp_path.iterdir()}
    assert len(names) == len(kinds) and {"pruning-3x4-7.h5", "pruning-3x4-wrap-6-all.h5"} <= names
    assert automata == [made(tmp_path, pytest.fail, *kind) for kind in kinds]


def test_an_automaton_is_made_once_for_all_threads(tmp_path, monkeypatch):
    find, calls, begun = word_files.forbidden_words, [], Event()

    def slow(*args):
        calls.append(args)
        begun.wait(10)
        return find(*args)

    monkeypatch.setattr(word_files, "forbidden_words", slow)
    found = []
    threads = [
        Thread(target=lambda: found.append(automaton_for(GRID, 6, progress=lambda share: begun.set())))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1 and found[0] is found[1] is found[2]


def test_the_automata_used_last_stay_in_memory(monkeypatch):
    keys = [(GRID, longest, False) for longest in (4, 5, 6, 7)]
    sizes = [sum(array.nbytes for array in automaton_for(*key)) for key in keys]
    assert list(word_files._made) == keys
    first = automaton_for(*keys[0])
    assert list(word_files._made) == [*keys[1:], keys[0]]
    monkeypatch.setattr(word_files, "MOST_KEPT", sizes[0] + sizes[3])
    assert automaton_for(*keys[0]) is first and list(word_files._made) == [keys[3], keys[0]]
    monkeypatch.setattr(word_files, "MOST_KEPT", 0)
    automaton_for(*keys[1])
    assert list(word_files._made) == [keys[1]]


def test_work_can_be_stopped_and_leaves_nothing(kept, tmp_path):
    shares = []

    def stop(share):
        shares.append(share)
        raise Stopped("time")

    with pytest.raises(Stopped):
        automaton_for(GRID, LONGEST, folder=tmp_path, threads=1, progress=stop)
    assert shares == [0.0]
    assert not list(tmp_path.iterdir()) and not word_files._made
    shares.clear()
    automaton_for(GRID, LONGEST, folder=tmp_path, threads=1, progress=shares.append)
    assert shares == sorted(shares)
    assert sorted(set(shares)) == [pytest.approx(cell / GRID.cells) for cell in range(GRID.cells + 1)]


# ---- damaged ------------------------------------------------------------------------------------


def forge(change):
    def damage(path):
        with h5py.File(path, "r+") as root:
            change(root)
        reseal(path, kind=KIND)

    return damage


def set_attribute(name, value):
    return forge(lambda root: root.attrs.__setitem__(name, value))


def replace(root, name, values):
    del root[name]
    root[name] = values


def allowed_word(root):
    """A word that is not forbidden, beside an earlier one that does something else."""
    words = root["words"][...]
    words[-1] += 1
    replace(root, "words", words)


def longer_word(root):
    words, first = root["words"][...], root["first"][...]
    words[first[1] - 1] = words[first[1] - 1] << LETTER_BITS * 11
    replace(root, "words", words)


def later_word(root):
    """Two words that do the same, the wrong way round."""
    words, earlier = root["words"][...], root["earlier"][...]
    at = next(at for at in range(len(words)) if length_of(int(words[at])) == length_of(int(earlier[at])))
    words[at], earlier[at] = earlier[at], words[at]
    replace(root, "words", words)
    replace(root, "earlier", earlier)


def of_other_cells(root):
    first = root["first"][...]
    first[1] += 1
    replace(root, "first", first)


def descending(root):
    first = root["first"][...]
    first[1:3] = first[2], first[1]
    replace(root, "first", first)


def beyond(root):
    first = root["first"][...]
    first[-1] += 1
    replace(root, "first", first)


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[-1000] ^= 4
    path.write_bytes(data)


def garbage(path):
    path.write_bytes(path.read_bytes()[:4096] + b"x" * 5000)
    reseal(path, kind=KIND)


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "label alone": lambda path: path.write_bytes(path.read_bytes()[:4096]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "a flipped bit": flip_a_byte,
    "not HDF5 inside": garbage,
    "an allowed word": forge(allowed_word),
    "a longer word": forge(longer_word),
    "a later word": forge(later_word),
    "words of other cells": forge(of_other_cells),
    "cells in disorder": forge(descending),
    "words beyond the end": forge(beyond),
    "fewer words than earlier ones": forge(lambda root: replace(root, "words", root["words"][:-1])),
    "words in two dimensions": forge(lambda root: replace(root, "earlier", root["earlier"][...][None])),
    "words of another type": forge(lambda root: replace(root, "words", root["words"][...].astype(np.float64))),
    "no words": forge(lambda root: root.__delitem__("words")),
    "another length": set_attribute("longest", LONGEST + 2),
    "another board": set_attribute("rows", 4),
    "joined edges": set_attribute("wrap", True),
    "ties": set_attribute("ties", True),
    "another kind": lambda path: path.write_bytes((path.parent / "pruning-3x4-11.h5").read_bytes()),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced(damage, kept, tmp_path):
    automaton = made(tmp_path)
    made(tmp_path, longest=11)
    path = tmp_path / NAME
    sound = path.read_bytes()
    damage(path)
    assert path.read_bytes() != sound
    remarks = []
    word_files.LONG = 1000  # it is replaced in any case
    assert made(tmp_path, remarks.append) == automaton
    (remark,) = remarks
    assert re.fullmatch(rf".*{NAME} (is damaged: .*|is not a .*): the words are found again", remark)
    assert path.read_bytes() == sound and made(tmp_path) == automaton
    assert sorted(one.name for one in tmp_path.iterdir()) == ["pruning-3x4-11.h5", NAME]


FOREIGN = {
    "text": lambda path: path.write_text("hello"),
    "a later format": lambda path: path.write_bytes(path.read_bytes().replace(b"format 1", b"format 2", 1)),
    "HDF5": lambda path: h5py.File(path, "w").close(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a link to nothing": lambda path: (path.unlink(), path.symlink_to("nowhere.h5")),
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_not_ours_is_left_alone(change, kept, tmp_path):
    remark = remark_on_a_foreign_file(tmp_path / NAME, change, lambda *notify: made(tmp_path, *notify))
    assert re.fullmatch(rf".*{NAME} (is not a|has format).*: it is left alone, .* in every run: move it away", remark)


def test_a_file_that_cannot_be_read_is_done_without(kept, tmp_path):
    automaton = made(tmp_path)
    (tmp_path / NAME).unlink()
    (tmp_path / NAME).symlink_to(NAME)  # in a circle
    remarks = []
    assert made(tmp_path, remarks.append) == automaton
    (remark,) = remarks
    assert re.fullmatch(rf"cannot read .*{NAME}: .*: the forbidden words are kept in memory for this run only", remark)
    assert (tmp_path / NAME).is_symlink()


def test_where_nothing_can_be_written_words_are_kept_in_memory(kept, tmp_path):
    automaton = made(tmp_path / "folder")
    (tmp_path / "file").write_text("in the way")
    remarks = []
    assert made(tmp_path / "file", remarks.append) == automaton
    assert len(remarks) == 1
    assert re.fullmatch(r"cannot read .*: the forbidden words are kept in memory for this run only", remarks[0])


def test_a_large_file_is_not_left_without_a_word(kept, tmp_path, monkeypatch):
    remarks = []
    made(tmp_path, remarks.append)
    path = tmp_path / NAME
    size = path.stat().st_size
    assert not remarks and size < word_files.LARGE_FILE
    monkeypatch.setattr(word_files, "LARGE_FILE", size - 1)
    path.unlink()
    made(tmp_path, remarks.append)
    assert remarks == [f"kept for the next time: {path}, {readable_size(size)}, which can be deleted"]
    made(tmp_path)  # which is not said again


def test_a_full_disk_leaves_nothing_behind(kept, tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    remarks = []
    made(tmp_path, remarks.append)
    assert not list(tmp_path.iterdir())
    assert len(remarks) == 1 and "No space left on device" in remarks[0]


# ---- too large ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, longest", [(Grid(5, 5), 24), (Grid(10, 10), 24), (Grid(10, 10, wrap=True), 16)], ids=str
)
def test_automata_with_too_many_states_are_refused_at_once(grid, longest, tmp_path):
    with pytest.raises(InputError) as error:
        automaton_for(grid, longest, folder=tmp_path)
    assert re.fullmatch(
        rf"an automaton of {longest} moves on {grid} boards would have about [0-9,]+ states, at most 33,554,432 fit: "
        "use a smaller `pruning`",
        str(error.value),
    )


def test_automata_that_do_not_fit_into_memory_are_refused_at_once(monkeypatch, tmp_path):
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: 900_000_000)
    automaton_for(Grid(4, 4), 12)
    with pytest.raises(InputError) as error:
        automaton_for(Grid(5, 5), 18, threads=2)
    assert re.fullmatch(
        r"an automaton of 18 moves on 5x5 boards needs about 1.* GB of memory, but only 900 MB can be used: "
        "use a smaller `pruning`",
        str(error.value),
    )


@pytest.mark.slow
def test_the_largest_automata_of_the_benchmarks(tmp_path):
    for longest, states in ((14, 260_322), (16, 1_229_388), (18, 5_793_714)):
        assert len(automaton_for(Grid(5, 5), longest, folder=tmp_path).branching) == states


# ---- how far to look back -----------------------------------------------------------------------


def looked_back(grid, heuristic=None, **settings):
    return pruning_for(grid, heuristic or manhattan.prepare(grid, 0), Settings(**settings))[:2]


@pytest.mark.parametrize(
    "grid, moves",
    [
        (Grid(2, 2), (14, 14)),
        (Grid(3, 3), (14, 14)),
        (Grid(4, 4), (14, 14)),
        (Grid(3, 5), (14, 14)),
        (Grid(4, 4, wrap=True), (10, 10)),
        (Grid(4, 5), (12, 16)),
        (Grid(5, 5), (12, 16)),
        (Grid(5, 5, wrap=True), (8, 12)),
        (Grid(6, 6), (10, 14)),
        (Grid(10, 10), (8, 12)),
        (Grid(10, 10, wrap=True), (8, 10)),
    ],
    ids=str,
)
def test_how_far_to_look_back_by_default(grid, moves):
    assert looked_back(grid) == moves
    assert looked_back(grid, order="value") == looked_back(grid, every=True) == moves
    assert looked_back(grid, order="fixed") == (2, 2)
    assert looked_back(grid, order="fixed", pruning=6) == looked_back(grid, pruning=6) == (6, 6)


def test_with_a_database_on_a_small_board_nothing_is_gained(small):
    heuristic = prepare(f"pdb:{small}", Grid(3, 3), 0, small.parent)
    assert heuristic.databases and looked_back(Grid(3, 3), heuristic) == (2, 2)
    assert looked_back(Grid(3, 3), heuristic, pruning=9) == (9, 9)
    assert looked_back(Grid(5, 5), heuristic) == (12, 16)


# ---- solving ------------------------------------------------------------------------------------

CHEAP = korf_in_order()[0].board


def counts(solution):
    return solution.tiles, solution.pruning, [one[:3] + one[4:] for one in solution.iterations]


def test_solving_says_how_far_it_looked_back():
    how = {"goal": "first", "heuristic": "manhattan"}
    for given, used in (
        ({}, 14),
        ({"pruning": 2}, 2),
        ({"pruning": 9}, 9),
        ({"order": "fixed"}, 2),
        ({"every": True}, 14),
    ):
        solution = solve(CHEAP, **how, **given)
        assert solution.pruning == used and {one.pruning for one in solution.iterations} == {used}
        record = solution.as_dict()
        assert record["pruning"] == used and record["iterations"][0]["pruning"] == used
    solution = solve(CHEAP, **how, algorithm="a-star")
    assert solution.pruning is None and solution.as_dict()["pruning"] is None
    assert solve("1 2 3 4 5 6 7 8 0", heuristic="manhattan").pruning is None  # nothing was searched


def test_published_counts_are_those_of_never_undoing_a_move():
    one = korf_in_order()[0]
    for given in ({"pruning": 2}, {"order": "fixed"}):
        assert solve(one.board, "first", heuristic="manhattan", **given).generated == one.generated
    assert solve(one.board, "first", heuristic="manhattan").generated < one.generated


def test_counts_depend_on_neither_threads_nor_files(kept, tmp_path, monkeypatch):
    """A search of a large board goes on with the larger automaton, whether that was kept or not."""
    monkeypatch.setattr(outcome, "LARGE", 5_000)
    monkeypatch.setattr(choosing, "FIRST", (10, 2_000_000))
    monkeypatch.setattr(choosing, "LATER", (12, 60_000_000))
    how = {"goal": "first", "heuristic": "linear-conflict", "folder": tmp_path}
    board = "5 2 6 3 9 11 10 1 4 7 0 20 19 8 17 16 12 24 14 23 21 15 18 13 22"
    found = []
    for threads in (1, 2, 1):
        word_files._made.clear()
        found.append(solve(board, threads=threads, **how))
        assert {"pruning-5x5-10.h5", "pruning-5x5-12.h5"} <= {path.name for path in tmp_path.iterdir()}
    assert counts(found[0]) == counts(found[1]) == counts(found[2])
    assert [one.pruning for one in found[0].iterations] == [10, 10, 10, 12, 12] and found[0].pruning == 12
    assert found[0].length == solve(board, "first", heuristic="linear-conflict", pruning=2).length == 52


def test_the_time_limit_ends_the_making_of_a_larger_automaton(tmp_path, monkeypatch):
    monkeypatch.setattr(outcome, "LARGE", 1000)
    solution = solve(HARD, "first", heuristic="manhattan", time_limit=0.3, threads=1, folder=tmp_path)
    assert solution.stopped == "time" and not solution.solved and solution.seconds < 5
    assert not list(tmp_path.iterdir())


def test_an_interruption_ends_the_making_of_an_automaton(tmp_path):
    interrupt = Event()
    reports = []

    def report(progress):
        reports.append(progress)
        interrupt.set()

    settings = Settings("manhattan", pruning=18, threads=1, folder=tmp_path)
    solution = solve_board(Grid(5, 5), HARD, Grid(5, 5).goal(), settings, report, interrupt=interrupt)
    assert solution.stopped == "interrupt" and not solution.iterations
    assert reports[0].preparing == "automaton of moves" and 0 <= reports[0].share < 1


def test_the_time_limit_ends_the_making_of_the_first_automaton(tmp_path):
    """It has as much time as the search, which has none left then."""
    began = time.monotonic()
    solution = solve(HARD, "first", heuristic="manhattan", pruning=18, time_limit=0.5, threads=1, folder=tmp_path)
    assert solution.stopped == "time" and not solution.iterations
    assert time.monotonic() - began < 10 and not list(tmp_path.iterdir())


def test_work_is_done_in_slices(tmp_path, monkeypatch):
    """No part of it runs long before it can be stopped: neither finding words, nor proving them, nor linking states."""
    whole = made(None)
    monkeypatch.setattr(forbidden_words, "SLICE", 100)
    monkeypatch.setattr(pruning, "SLICE", 100)
    monkeypatch.setattr(word_files, "LONG", 0)
    extend, link, sizes, linked = forbidden_words._extend, pruning._link, [], []

    def extending(*args):
        sizes.append(len(args[5]))
        return extend(*args)

    def linking(*args):
        found = link(*args)
        linked.append(found[0] - args[-3])
        return found

    monkeypatch.setattr(forbidden_words, "_extend", extending)
    monkeypatch.setattr(pruning, "_link", linking)
    calls = []
    word_files._made.clear()
    automaton = automaton_for(GRID, LONGEST, folder=tmp_path, threads=1, progress=calls.append)
    assert [array.tobytes() for array in automaton] == whole
    assert max(sizes) == max(linked) == 100 and len(sizes) > 30 * GRID.cells and sum(linked) == len(automaton.cell)
    assert len(calls) >= len(sizes) + len(linked) + 3 * GRID.cells  # for each cell: kept, proven and entered
    read = []
    word_files._made.clear()
    automaton_for(GRID, LONGEST, folder=tmp_path, progress=read.append)
    assert len(read) == len(linked) / 2 + 2 * GRID.cells  # the states were linked twice by now


def test_ctrl_c_stops_all_threads_between_slices(monkeypatch):
    """Only the main thread is interrupted: the others are told."""
    monkeypatch.setattr(forbidden_words, "SLICE", 100)
    extend, begun, after = forbidden_words._extend, Event(), []

    def extending(*args):
        begun.set()
        after.append(stopped.is_set())
        return extend(*args)

    def interrupted(future, timeout=None):
        begun.wait(10)
        stopped.set()
        raise KeyboardInterrupt

    stopped = Event()
    monkeypatch.setattr(forbidden_words, "_extend", extending)
    monkeypatch.setattr("concurrent.futures.Future.result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        forbidden_words.forbidden_words(Grid(5, 5), 14, threads=2)
    assert sum(after) < 1000  # of the hundreds of thousands there would be


def test_what_ends_one_thread_is_what_all_of_them_raise(monkeypatch):
    """Also when the thread whose result is waited for first is not the one that met the limit."""
    monkeypatch.setattr(forbidden_words, "SLICE", 100)
    words_from, others = forbidden_words._words_from, Event()

    def starting(grid, cell, *rest):
        if cell == 0:
            others.wait(10)
        return words_from(grid, cell, *rest)

    def limit(share):
        others.set()
        raise TimeoutError("the limit")

    monkeypatch.setattr(forbidden_words, "_words_from", starting)
    with pytest.raises(TimeoutError, match="the limit"):
        forbidden_words.forbidden_words(Grid(5, 5), 14, threads=2, progress=limit)


def test_refusals_are_one_line(run):
    for words, message in (
        *(
            (["--pruning", given], f"--pruning: '{given}' is not a whole number from 2 to 24: write it as 14")
            for given in ("25", "1", "0", "-1", "x", "1e15", "2.5", "")
        ),
        (
            ["--pruning", "14", "--algorithm", "a-star"],
            "a-star has no automaton to look back with: leave out --pruning",
        ),
        (["--pruning", "14", "--width", "9"], "beam has no automaton to look back with"),
        (["--pruning", "24", "--heuristic", "manhattan"], "an automaton of 24 moves on 5x5 boards would have about"),
    ):
        code, output, errors = run("solve", " ".join(map(str, HARD)), "--goal", "first", *words)
        assert (code, output) == (2, "") and message in errors and len(errors.splitlines()) == 1, errors


def test_the_text_says_how_far_a_search_looked_back(run, monkeypatch):
    board = " ".join(map(str, CHEAP))
    how = ("solve", board, "--goal", "first", "--heuristic", "manhattan")
    assert re.search(r"^ida-star with manhattan, \d+ at the start, looking back 14 moves$", run(*how)[1], re.MULTILINE)
    never = run(*how, "--pruning", "2")[1]
    assert re.search(r"^ida-star with manhattan, \d+ at the start, never undoing a move$", never, re.MULTILINE)
    assert re.search(
        r"^dfs, without a heuristic, looking back 6 moves$",
        run("solve", "--algorithm", "dfs", "--pruning", "6", "1 2 3 4 0 5 7 8 6")[1],
        re.MULTILINE,
    )
    monkeypatch.setattr(outcome, "LARGE", 10_000)
    monkeypatch.setattr(choosing, "SMALL", 4)
    further = r"at the start, looking back 14 moves, looking back 16 moves from bound \d\d on$"
    assert re.search(further, run(*how)[1], re.MULTILINE)


# ---- the folder ---------------------------------------------------------------------------------


def test_files_of_words_are_not_mistaken_for_databases(kept, shelf, capsys, monkeypatch):
    folder = shelf(Spec(Grid(3, 3), NAMED["3x3-4-4"]))
    made(folder, grid=Grid(3, 3))
    database, complaints = best_database(Grid(3, 3), 0, folder)
    assert database.path.name == "3x3-4-4.h5" and complaints == ()
    path = words_path(folder, Grid(3, 3), LONGEST, False)
    assert path.exists() and builder(["info", str(path)]) == 2
    assert "is not a pattern database file (a forbidden words file)" in capsys.readouterr().err


def test_the_documented_schema_is_what_is_written(kept, tmp_path):
    made(tmp_path)
    path = tmp_path / NAME
    page = (Path(__file__).parent.parent / "docs" / "format.md").read_text()
    page = page.partition("# Forbidden words, format 1")[2].partition("\n# ")[0]
    rows = set(re.findall(r"^\| (attribute|dataset) \| `([^`]+)` \| `([^`]+)`", page, re.MULTILINE))
    with h5py.File(path) as root:
        attributes = {
            ("attribute", f"/{name}", "string" if isinstance(value, str) else str(np.asarray(value).dtype))
            for name, value in root.attrs.items()
        }
        assert rows == attributes | {("dataset", f"/{name}", f"{root[name].dtype}[]") for name in root}
    first, size, seal = path.read_bytes()[:4096].decode().rstrip("\n").split("\n")
    assert f"    {first}\n" in page and size == f"size {path.stat().st_size}"
    assert seal == f"seal {hashlib.sha256(path.read_bytes()[4096:]).hexdigest()}"
