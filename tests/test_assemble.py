"""Whole databases: resumed, interrupted, raced for, refused."""

import contextlib
import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from pdb_builder import NAMED, DatabaseError, Grid, InputError, Spec, build_database, partition_within
from pdb_builder.assemble import Watcher
from pdb_builder.base.machine import readable_size
from pdb_builder.memory import build_memory, check_build_memory, largest_pattern

SPEC = Spec(Grid(4, 4), NAMED["4x4-5-5-5"])
needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")


def tables_of(database):
    return [(table.tiles, table.sha256, table.counts.tolist()) for table in database.tables]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return build_database(SPEC, tmp_path_factory.mktemp("reference") / "x.h5")


class Recorder(Watcher):
    """Notes what happens, and stops the build when it comes to a given table."""

    def __init__(self, stop_at=None, error=KeyboardInterrupt):
        self.events, self.stop_at, self.error, self.built = [], stop_at, error, 0

    def waiting(self, path):
        self.events.append("waiting")

    def started(self):
        self.events.append("started")

    def table_kept(self, number, count, earlier):
        self.events.append(f"kept {number}" if earlier else f"saved {number}")

    @contextlib.contextmanager
    def table(self, number, count, tiles, states):
        if self.built == self.stop_at:
            raise self.error
        self.built += 1
        self.events.append(f"built {number}")
        yield lambda found: None


@pytest.mark.parametrize("stop_at", [0, 1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_stopped_build_is_continued(stop_at, error, reference, tmp_path):
    path = tmp_path / "x.h5"
    with pytest.raises(error):
        build_database(SPEC, path, watcher=Recorder(stop_at, error))
    assert not path.exists()
    assert len(list(tmp_path.glob(".x.h5.building/pattern_*.h5"))) == stop_at
    recorder = Recorder()
    database = build_database(SPEC, path, watcher=recorder)
    kept = [event for event in recorder.events if event.startswith("kept")]
    assert (len(kept), recorder.built) == (stop_at, 3 - stop_at)
    assert tables_of(database) == tables_of(reference)
    assert list(tmp_path.iterdir()) == [path]


def test_kept_tables_of_another_build_or_damaged_ones_are_not_used(reference, tmp_path):
    path = tmp_path / "x.h5"
    other = Spec(Grid(4, 4), NAMED["4x4-5-5-5"], 15)
    with pytest.raises(KeyboardInterrupt):
        build_database(other, path, watcher=Recorder(2))
    kept = sorted(tmp_path.glob(".x.h5.building/pattern_*.h5"))
    content = bytearray(kept[1].read_bytes())
    content[-100] ^= 1
    kept[1].write_bytes(content)
    recorder = Recorder()
    assert tables_of(build_database(SPEC, path, watcher=recorder)) == tables_of(reference)
    assert recorder.built == 3


def test_nothing_is_done_when_the_database_is_there(reference, tmp_path):
    path = tmp_path / "x.h5"
    build_database(SPEC, path)
    before = path.stat().st_mtime_ns
    recorder = Recorder()
    build_database(SPEC, path, watcher=recorder)
    assert recorder.events == [] and path.stat().st_mtime_ns == before


def test_too_little_disk_space_is_reported_beforehand_and_finished_tables_stay(tmp_path, monkeypatch):
    path = tmp_path / "x.h5"
    with pytest.raises(KeyboardInterrupt):
        build_database(SPEC, path, watcher=Recorder(2))
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(DatabaseError, match="it takes 577 kB and the disk has 1 kB left: make room"):
        build_database(SPEC, path)
    assert len(list(tmp_path.glob(".x.h5.building/pattern_*.h5"))) == 2


def test_the_workshop_of_a_builder_killed_at_the_last_moment_is_removed(tmp_path):
    path = tmp_path / "x.h5"
    build_database(SPEC, path)
    (tmp_path / ".x.h5.building").mkdir()
    (tmp_path / ".x.h5.building" / "lock").touch()
    build_database(SPEC, path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_in_the_way_is_not_touched(tmp_path):
    path = tmp_path / "x.h5"
    path.write_text("my thesis")
    with pytest.raises(
        DatabaseError, match=r"is not a pattern database .*: choose another name, or replace it with `overwrite`$"
    ):
        build_database(SPEC, path)
    assert path.read_text() == "my thesis"
    build_database(Spec(Grid(3, 3), NAMED["3x3-8"]), path, overwrite=True)
    with pytest.raises(
        DatabaseError, match=r"is another database \(3x3-8\): choose another name, or replace it with `overwrite`"
    ):
        build_database(SPEC, path)
    build_database(SPEC, path, overwrite=True)
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_in_the_way_is_not_touched(tmp_path):
    database = build_database(SPEC, tmp_path / "x.h5")
    path, table = database.path, database.tables[0]
    content = bytearray(path.read_bytes())
    last = table.offset + table.values.nbytes - 1
    for at, fact in (last, "does not match its SHA-256"), (5000, "do not match its seal"):
        content[at] ^= 1
        path.write_bytes(content)
        with pytest.raises(DatabaseError, match=f"{fact}: choose another name, or replace it with `overwrite`$"):
            build_database(SPEC, path)
        assert path.read_bytes() == content


# ---- places where nothing can be written --------------------------------------------------------


@pytest.mark.parametrize(
    "place, fact",
    [
        pytest.param("/proc/x.h5", "No such file or directory: choose another folder", marks=needs_proc),
        pytest.param("/proc/a/x.h5", "No such file or directory: choose another folder", marks=needs_proc),
        ("file/x.h5", "Not a directory: choose another folder"),
        ("file/a/x.h5", "Not a directory: choose another folder"),
        ("circle/x.h5", "Not a directory: choose another folder"),
        ("circle", "it is a link that leads nowhere: remove it, or choose another name"),
        ("dangling", "it is a link that leads nowhere: remove it, or choose another name"),
        ("folder", "it is a folder: choose the name of a file"),
        ("x" * 300 + ".h5", "File name too long: choose a shorter name"),
        ("x" * 250 + ".h5", "File name too long: choose a shorter name"),  # as that of the workshop is
    ],
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_places_where_nothing_can_be_written(place, fact, overwrite, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DatabaseError, match=f"^cannot write .*: {fact}$"):
        build_database(SPEC, tmp_path / place, overwrite=overwrite)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO, errno.ENOENT], ids=os.strerror)
@pytest.mark.parametrize("call", ["mkdir", "open"])
def test_what_can_be_wrong_with_a_folder(call, number, tmp_path, monkeypatch):
    """Even a file that disappears whenever it is created is not waited for."""
    normal = getattr(os, call)

    def failing(path, *args, **options):
        if ".building" in os.fspath(path):
            raise OSError(number, os.strerror(number), path)
        return normal(path, *args, **options)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(DatabaseError, match=f"^cannot write .*: {os.strerror(number)}: choose another folder$"):
        build_database(SPEC, tmp_path / "x.h5")
    assert not (tmp_path / "x.h5").exists()


def test_a_workshop_that_another_builder_removes_just_then_is_made_again(tmp_path, monkeypatch):
    normal, left = os.open, [None] * 3

    def removing(path, *args, **options):
        if os.fspath(path).endswith("lock") and left:
            left.pop()
            os.rmdir(os.path.dirname(path))
        return normal(path, *args, **options)

    monkeypatch.setattr(os, "open", removing)
    build_database(SPEC, tmp_path / "x.h5")
    assert os.listdir(tmp_path) == ["x.h5"] and not left


def as_file(path):
    path.write_text("mine")


def as_link(path):
    (path.parent / "target").mkdir(exist_ok=True)
    path.symlink_to(path.parent / "target")


def as_dangling_link(path):
    path.symlink_to("/nowhere/at/all")


def as_circle(path):
    path.symlink_to(path)


@pytest.mark.parametrize("make", [as_file, as_link, as_dangling_link, as_circle, os.mkfifo])
def test_something_else_in_the_place_of_the_workshop(make, tmp_path):
    make(tmp_path / ".x.h5.building")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DatabaseError, match=r"\.x\.h5\.building is in the way: remove it$"):
        build_database(SPEC, tmp_path / "x.h5")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("make", [os.mkdir, as_link, as_dangling_link, as_circle, os.mkfifo])
def test_something_else_in_the_place_of_the_lock(make, tmp_path):
    (tmp_path / ".x.h5.building").mkdir()
    make(tmp_path / ".x.h5.building" / "lock")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DatabaseError, match=r"\.x\.h5\.building/lock is in the way: remove it$"):
        build_database(SPEC, tmp_path / "x.h5")
    assert sorted(tmp_path.rglob("*")) == before


def test_without_a_home_folder_databases_need_a_place(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "no"))
    with pytest.raises(DatabaseError, match=r"there is no home folder .*no .*: set \$SLIDEPDB_DATABASES to another"):
        build_database(SPEC, tmp_path / "no" / "databases" / "x.h5")
    assert not (tmp_path / "no").exists()


# ---- memory -------------------------------------------------------------------------------------


def test_builds_that_cannot_fit_are_refused_with_the_figure():
    grid = Grid(4, 4)
    fact = "building a pattern of 8 tiles on a 4x4 board needs 5.. MB of memory, but only 500 MB can be used: .*`force`"
    with pytest.raises(InputError, match=fact):
        check_build_memory(grid, [7, 8], "bits", 5 * 10**8)
    assert check_build_memory(grid, [7, 8], "bits", 10**10) == build_memory(grid, 8, "bits")
    assert check_build_memory(grid, [7, 8], "bits", 1000, force=True) == build_memory(grid, 8, "bits")
    # Beyond counting: refused by a lower bound, at once.
    with pytest.raises(InputError, match="needs at least 783 GB"):
        check_build_memory(Grid(8, 8), [7], "bits")


def test_no_budget_exceeds_what_the_machine_has(monkeypatch):
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: 5 * 10**8)
    with pytest.raises(InputError, match="but only 500 MB can be used"):
        check_build_memory(Grid(4, 4), [8], "bits", 10**10)
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: None)
    assert check_build_memory(Grid(4, 4), [8], "bits") == build_memory(Grid(4, 4), 8, "bits")


@pytest.mark.parametrize(
    "shape, budget, largest", [("6x6", 4 * 10**9, 6), ("4x4", 10**9, 8), ("4x4", 5 * 10**8, 7), ("2x2", 10**9, 3)]
)
def test_automatic_partitions_keep_to_the_budget(shape, budget, largest):
    grid = Grid.parse(shape)
    assert largest_pattern(grid, "bits", budget) == largest
    partition = partition_within(grid, 0, "bits", budget)
    assert max(map(len, partition)) == largest
    assert check_build_memory(grid, map(len, partition), "bits", budget) <= budget


def test_a_budget_that_is_too_small_for_any_pattern_is_refused():
    with pytest.raises(InputError, match="raise `max_memory`"):
        largest_pattern(Grid(4, 4), "bits", 1000)


def test_sizes_are_readable():
    assert [readable_size(n) for n in (12, 1_380, 196_000_000, 1_520_000_000, 40_000_000_000_000)] == [
        "12 bytes", "1.38 kB", "196 MB", "1.52 GB", "40,000 GB",
    ]  # fmt: skip
