"""Nothing is proven by a database that is damaged, unchecked, or changed while it is in use."""

import json
import os
import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from pdb_builder import NAMED, DatabaseError, Grid, InputError, Spec, check_tables, open_database
from pdb_builder import checking as checking_module
from pdb_builder.checking import Check, check_of
from solver import SEARCHES, load_set, solve
from solver.heuristics import manhattan
from solver.solving import solve_board

from .oracle import distances_to
from .processes import ended, started

EIGHT = Grid(3, 3)
FARTHEST = "8 0 6 / 5 4 7 / 2 3 1"  # 31 moves from the goal with the blank first
LONG = load_set("korf100")[2][87].board  # minutes with small patterns
TRIPLES = Spec(Grid(4, 4), tuple(tuple(range(first, first + 3)) for first in range(1, 16, 3)))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder with nothing in it; files are remembered however new they are."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(checking_module, "cache_folder", lambda: folder)
    monkeypatch.setattr(checking_module, "COARSE", -1)
    return folder


@pytest.fixture
def reads(monkeypatch):
    """The databases whose tables were read as a whole."""
    seen = []

    def noting(database, progress):
        seen.append(database.path.name)
        check_tables(database, progress)

    monkeypatch.setattr(checking_module, "check_tables", noting)
    return seen


@pytest.fixture
def eight(shelf):
    """A database of 3x3, in a folder of its own."""
    return shelf(Spec(EIGHT, NAMED["3x3-8"])) / "3x3-8.h5"


def flip(path, bits, chance):
    """Flip bits of the tables in place."""
    tables = open_database(path).tables
    with open(path, "r+b") as file:
        for _ in range(bits):
            table = chance.choice(tables)
            at = table.offset + chance.randrange(table.values.nbytes)
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))


def outcome(path):
    """How a check of the file ends: None, or what is wrong with it."""
    check = Check(open_database(path))
    assert check.over(60)
    try:
        check.look()
    except DatabaseError as error:
        return str(error)
    return None


# ---- damage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 200])
def test_no_board_is_solved_with_a_damaged_table(eight, bits):
    chance = random.Random(bits)
    flip(eight, bits, chance)
    boards = sorted(distances_to(EIGHT, EIGHT.goal()))
    for board in chance.sample(boards, 25):
        with pytest.raises((DatabaseError, InputError), match="damaged"):
            solve(board, "first", heuristic="pdb", folder=eight.parent)


@pytest.mark.parametrize("algorithm", [name for name, search in SEARCHES.items() if not search.uninformed])
def test_no_search_uses_a_damaged_table(eight, algorithm):
    flip(eight, 1, random.Random(9))
    with pytest.raises(DatabaseError, match="table 1 does not match its SHA-256"):
        solve(FARTHEST, "first", heuristic="pdb", algorithm=algorithm, folder=eight.parent, width=None, time_limit=60)


def test_a_search_ends_as_soon_as_damage_is_known(shelf):
    path = shelf(TRIPLES) / f"{TRIPLES.name}.h5"
    flip(path, 1, random.Random(1))
    with pytest.raises(DatabaseError, match="does not match its SHA-256"):
        solve(LONG, "first", heuristic="pdb", folder=path.parent)


# ---- what is remembered -------------------------------------------------------------------------


def test_a_sound_database_is_read_once(eight, reads):
    assert [outcome(eight) for _ in range(3)] == [None] * 3
    assert reads == ["3x3-8.h5"]


def test_a_check_is_shared_within_a_program(eight, reads):
    database, together = open_database(eight), Barrier(8)

    def ask(_):
        together.wait()
        return check_of(database)

    with ThreadPoolExecutor(8) as pool:
        checks = set(pool.map(ask, range(8)))
    (check,) = checks
    assert check.over(60) and check.passed and len(reads) == 1


def test_a_change_is_noticed_even_if_the_time_of_the_last_write_is_set_back(eight, reads):
    assert outcome(eight) is None
    times = eight.stat()
    flip(eight, 1, random.Random(2))
    os.utime(eight, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "does not match its SHA-256" in outcome(eight)
    assert "does not match its SHA-256" in outcome(eight), "damage is never remembered as sound"
    assert len(reads) == 3


def test_a_change_in_use_is_noticed_even_if_the_time_of_the_last_write_is_set_back(eight, reads):
    check = Check(open_database(eight))
    assert check.over(60) and check.passed
    times = eight.stat()
    flip(eight, 1, random.Random(2))
    os.utime(eight, ns=(times.st_atime_ns, times.st_mtime_ns))
    check.look()  # it looks the same, but for its status: so it is compared again
    assert check.over(60) and not check.passed
    with pytest.raises(DatabaseError, match="does not match its SHA-256"):
        check.look()


def test_a_file_whose_status_alone_has_changed_passes_again(eight, reads):
    check = Check(open_database(eight))
    assert check.over(60)
    eight.chmod(0o600)
    check.look()
    assert check.over(60) and check.passed and len(reads) == 2
    check.look()
    assert len(reads) == 2


def test_a_file_moved_or_copied_is_read_again(eight, reads, tmp_path):
    assert outcome(eight) is None
    for copy in (shutil.copy, shutil.copy2, os.link):
        other = tmp_path / f"{copy.__name__}.h5"
        copy(eight, other)
        assert outcome(other) is None
    assert len(reads) == 4


def test_a_note_that_cannot_be_read_is_no_note(eight, reads, cache):
    assert outcome(eight) is None
    (note,) = (cache / "checked").iterdir()
    text = note.read_bytes()
    for damaged in (b"", text[:-1], b"\xff" + text, b"[]", text.replace(b"3x3", b"3x4"), b"[" * 90_000):
        note.write_bytes(damaged)
        (note.parent / "another.json").write_bytes(damaged)
        assert outcome(eight) is None
    assert len(reads) == 7 and json.loads(note.read_bytes()) == json.loads(text)
    assert list(note.parent.iterdir()) == [note]
    note.unlink()
    os.mkfifo(note)
    assert outcome(eight) is None


def test_notes_count_for_a_week(eight, reads, cache):
    assert outcome(eight) is None
    (note,) = (cache / "checked").iterdir()
    long_ago = time.time() - 8 * 24 * 3600
    os.utime(note, (long_ago, long_ago))
    assert outcome(eight) is None and outcome(eight) is None and len(reads) == 2


def test_notes_about_files_that_are_gone_are_removed(eight, cache, tmp_path):
    gone = tmp_path / "gone.h5"
    shutil.copy(eight, gone)
    assert outcome(gone) is None
    gone.unlink()
    assert outcome(eight) is None
    assert len(list((cache / "checked").iterdir())) == 1


def test_a_file_that_was_just_written_is_not_remembered(eight, reads, monkeypatch):
    monkeypatch.setattr(checking_module, "COARSE", 3600)
    assert outcome(eight) is None and outcome(eight) is None
    assert len(reads) == 2


def test_how_new_a_file_is_counts_from_the_beginning_of_its_check(eight, reads, monkeypatch):
    monkeypatch.setattr(checking_module, "COARSE", 1)
    now = [eight.stat().st_ctime + 0.5]
    monkeypatch.setattr(checking_module.time, "time", lambda: now[0])

    def slowly(database, progress):
        check_tables(database, progress)
        now[0] += 60

    monkeypatch.setattr(checking_module, "check_tables", slowly)
    assert outcome(eight) is None
    monkeypatch.setattr(checking_module, "check_tables", lambda database, progress: reads.append("again"))
    assert outcome(eight) is None and reads == ["again"]


def test_a_file_truncated_while_it_is_compared_was_changed(eight, monkeypatch):
    database = open_database(eight)
    os.truncate(eight, eight.stat().st_size - 10_000)
    check = Check(database)
    assert check.over(60)
    with pytest.raises(DatabaseError, match=r"was changed while it was in use: it has [\d,]+ bytes instead of"):
        check.look()


@pytest.mark.parametrize("obstacle", ["file", "folder"])
def test_without_a_cache_a_database_is_read_every_time(eight, reads, cache, obstacle):
    if obstacle == "file":
        cache.write_text("in the way")
    else:
        name = next(iter(_notes_of(eight, cache)))
        shutil.rmtree(cache)
        (cache / "checked" / name).mkdir(parents=True)
        reads.clear()
    assert outcome(eight) is None and outcome(eight) is None
    assert len(reads) == 2


def _notes_of(path, cache):
    outcome(path)
    return [note.name for note in (cache / "checked").iterdir()]


# ---- while it is in use -------------------------------------------------------------------------


def test_what_was_checked_is_part_of_the_answer(eight):
    solution = solve(FARTHEST, "first", heuristic="pdb", folder=eight.parent)
    (used,) = solution.databases
    assert used == (str(eight), open_database(eight).seal, True)
    assert solution.as_dict()["databases"] == [{"path": str(eight), "seal": used.seal, "checked": True}]
    assert solve(FARTHEST, "first", heuristic="manhattan").databases == ()


def test_the_databases_of_both_directions_are_checked(shelf, reads):
    folder = shelf(Spec(EIGHT, NAMED["3x3-8"]), Spec(EIGHT, NAMED["3x3-8"], blank=1))
    solution = solve(FARTHEST, "first", heuristic="pdb", algorithm="bidirectional", folder=folder)
    assert {used.path for used in solution.databases} == {str(path) for path in folder.glob("*.h5")}
    assert solution.optimal and len(reads) == 2


def test_nothing_is_proven_if_the_check_is_interrupted(eight, monkeypatch):
    interrupt, over = Event(), Event()
    monkeypatch.setattr(checking_module, "check_tables", lambda database, progress: over.wait(60))
    goal, board = EIGHT.goal(), (8, 0, 6, 5, 4, 7, 2, 3, 1)

    def progress(told):
        if told.preparing and "checksums" in told.preparing:
            interrupt.set()

    settings = solve_board.__defaults__[0]._replace(heuristic="pdb", folder=eight.parent)
    solution = solve_board(EIGHT, board, goal, settings, progress, interrupt=interrupt)
    over.set()
    assert solution.solved and solution.length == 31 and not solution.optimal
    assert solution.lower_bound == manhattan.prepare(EIGHT, 0).measure(board)[0] == 21
    assert (solution.stopped, solution.suboptimality_bound) == ("interrupt", None)
    assert [used.checked for used in solution.databases] == [False]


@pytest.mark.parametrize("change", ["zeroed", "longer"])
def test_a_search_ends_when_its_database_is_changed(shelf, change):
    path = shelf(TRIPLES) / f"{TRIPLES.name}.h5"
    assert outcome(path) is None

    def progress(told):
        if told.preparing is None and told.expanded:
            with open(path, "r+b") as file:
                file.seek(0 if change == "zeroed" else path.stat().st_size)
                file.write(bytes(10))

    expected = {"zeroed": "another program has written to it", "longer": "bytes instead of"}[change]
    with pytest.raises(DatabaseError, match=f"was changed while it was in use: .*{expected}"):
        solve(LONG, "first", heuristic="pdb", folder=path.parent, progress=progress)


def test_a_database_that_is_replaced_stays_in_use(shelf, tmp_path):
    path = shelf(TRIPLES) / f"{TRIPLES.name}.h5"

    def progress(told):
        if told.preparing is None and not (tmp_path / "done").exists():
            shutil.copy(path, tmp_path / "done")
            (tmp_path / "other").write_text("something else")
            os.replace(tmp_path / "other", path)

    solution = solve(LONG, "first", heuristic="pdb", folder=path.parent, progress=progress, node_limit=3_000_000)
    assert solution.stopped == "nodes" and solution.databases[0].checked


@pytest.mark.subprocess
@pytest.mark.parametrize("threads", [1, 2])
def test_a_command_ends_in_one_line_when_its_database_is_truncated(shelf, threads):
    path = shelf(TRIPLES) / f"{TRIPLES.name}.h5"
    board = " ".join(map(str, LONG))
    words = ("solve", board, "--goal", "first", "--heuristic", f"pdb:{path}", "--threads", threads)
    with started("-m", "solver", *words) as process:
        while str(path) not in Path(f"/proc/{process.pid}/maps").read_text():
            assert process.poll() is None, "the process ended too early"
            time.sleep(0.02)
        time.sleep(0.5)
        os.truncate(path, 8192)
        code, output, errors = ended(process)
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1 and "was changed while it was in use: it has 8,192 bytes instead of" in errors
