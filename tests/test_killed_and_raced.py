"""Processes of the libraries: builds and writers that are killed, interrupted or raced, and disks that fill up."""

import json
import random
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pdb_builder import NAMED, Grid, Spec, build_database, open_database
from pdb_builder.cli import main
from pdb_builder.memory import build_memory
from pdb_builder.pattern import parse_collection

from .processes import ROOT, ended, started

pytestmark = [pytest.mark.subprocess, pytest.mark.jit]


# ---- helpers ------------------------------------------------------------------------------------


def limit_file_sizes(most):
    """Stands in for a disk that fills up."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


# ---- writers of files ---------------------------------------------------------------------------

WRITER = """
import sys, time
from pathlib import Path
from pdb_builder.base.files import replaced
with replaced(Path(sys.argv[1])) as file:
    file.write(bytes(5000))
    file.flush()
    print(flush=True)
    time.sleep(60)
"""


@pytest.fixture
def target(tmp_path):
    """A file with old contents, alone in its folder."""
    path = tmp_path / "target.txt"
    path.write_bytes(b"old")
    return path


def test_a_full_disk_leaves_the_old_file_alone(target):
    """Also when the buffer is flushed once more as the file is closed."""
    with started("-c", WRITER, target, before=lambda: limit_file_sizes(1000)) as process:
        code, _, errors = ended(process, traceback=True)  # of the little program
    assert code == 1 and "File too large" in errors
    assert list(target.parent.iterdir()) == [target] and target.read_bytes() == b"old"


def test_a_killed_writer_leaves_the_old_file_and_a_temporary_one(target):
    with started("-c", WRITER, target) as process:
        process.stdout.readline()
        ended(process, signal.SIGKILL)
    assert target.read_bytes() == b"old"
    (left,) = set(target.parent.iterdir()) - {target}
    assert left.name.startswith(".") and left.suffix == ".tmp"


@pytest.mark.parametrize("project", [None, '[project]\nname = "another"\n', '[project]\nname = "slidepdb"\n'])
def test_an_installed_copy_uses_the_data_folder_of_the_user(project, tmp_path):
    """Not even the ``pyproject.toml`` of something else beside the package makes a checkout."""
    site = tmp_path / "site-packages"
    shutil.copytree(ROOT / "pdb_builder", site / "pdb_builder", ignore=shutil.ignore_patterns("__pycache__"))
    if project:
        (site / "pyproject.toml").write_text(project)
    code = "from pdb_builder.base.folders import *; print(databases_folder()); print(cache_folder())"
    homes = {"HOME": tmp_path, "XDG_DATA_HOME": tmp_path / "data", "XDG_CACHE_HOME": tmp_path / "cache"}
    # Python searches the working folder first.
    with started("-c", code, cwd=site, env={name: str(path) for name, path in homes.items()}) as process:
        _, output, errors = ended(process)
    checkout = project is not None and "slidepdb" in project
    home = site if checkout else tmp_path / "data" / "slidepdb"
    if sys.platform.startswith("linux") or checkout:
        assert output.splitlines()[0] == str(home / "databases"), errors
    assert all(Path(line).is_absolute() for line in output.splitlines())


# ---- builds -------------------------------------------------------------------------------------

PARTITION = ("4x4-6-6-3",)
# The first and the last partition share tables, and the second reads one of them through the mirror: six tables.
LISTS = "1,2,4,5,8,9/3,6,7,10,11,15/12,13,14; 9,10,12,13,14,15/1,2,4,5,8/3,6,7,11; 1,2,4,5,8,9/3,6,7,11/10,15/12,13,14"
COLLECTION = ("4x4", "--collection", LISTS)


def build(path, words=PARTITION, **options):
    return started("-m", "pdb_builder", "build", *words, "--output", path, **options)


def tables_of(database):
    return [(table.tiles, table.sha256, table.counts.tolist()) for table in database.tables]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The kernels of the builder are in the cache: what is stopped is a build and not the compiler."""
    folder = tmp_path_factory.mktemp("reference")
    partitions = {PARTITION: NAMED[PARTITION[0]], COLLECTION: parse_collection(LISTS)}
    return {
        words: build_database(Spec(Grid(4, 4), partitions[words]), folder / f"{len(words)}.h5") for words in partitions
    }


@pytest.mark.parametrize("words", [PARTITION, COLLECTION], ids=["partition", "collection"])
def test_a_build_killed_at_random_moments_is_continued(words, compiled, tmp_path):
    path, chance = tmp_path / "x.h5", random.Random(3)
    expected = compiled[words]
    for _ in range(4):
        with build(path, words) as process:
            assert "needs" in process.stderr.readline()  # the work begins
            time.sleep(chance.uniform(0, 0.3))
            ended(process, signal.SIGKILL)
        if path.exists():
            assert tables_of(open_database(path)) == tables_of(expected)
            path.unlink()
    with build(path, words) as process:
        code, _, errors = ended(process)
    assert code == 0, errors
    database = open_database(path)
    assert database.spec == expected.spec and tables_of(database) == tables_of(expected)
    for table, other in zip(database.tables, expected.tables, strict=True):
        np.testing.assert_array_equal(table.values, other.values)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_tells_how_to_continue(number, compiled, tmp_path):
    path = tmp_path / "x.h5"
    with build(path, ["5x5-6-6-6-6"]) as process:
        assert "needs" in process.stderr.readline()
        time.sleep(0.3)
        code, _, errors = ended(process, number)
    assert code == 130 and "run the same command again to continue" in errors and "Traceback" not in errors
    assert not path.exists()


KILLED_AFTER_TWO = """
import os, signal, sys
from pdb_builder import Grid, Spec, build_database
from pdb_builder.assemble import Watcher
from pdb_builder.pattern import parse_collection
class Killer(Watcher):
    kept = 0
    def table_kept(self, number, count, earlier):
        self.kept += not earlier
        if self.kept == 2:
            os.kill(os.getpid(), signal.SIGKILL)
build_database(Spec(Grid(4, 4), parse_collection(sys.argv[1])), sys.argv[2], watcher=Killer())
"""


def test_a_killed_build_of_a_collection_keeps_its_finished_tables(compiled, tmp_path):
    """Each of them is built once, however often the build is killed."""
    path, workshop = tmp_path / "x.h5", tmp_path / ".x.h5.building"
    for kept in (2, 4):
        with started("-c", KILLED_AFTER_TWO, LISTS, path) as process:
            ended(process)
        assert not path.exists() and len(list(workshop.glob("pattern_*.h5"))) == kept
    with build(path, COLLECTION) as process:
        code, _, errors = ended(process)
    assert code == 0 and errors.count("kept from an earlier build") == 4
    assert tables_of(open_database(path)) == tables_of(compiled[COLLECTION])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("words", [PARTITION, COLLECTION], ids=["partition", "collection"])
def test_several_builders_of_the_same_file(words, compiled, tmp_path):
    path = tmp_path / "x.h5"
    with build(path, words) as first, build(path, words) as second:
        for process in (first, second):
            code, output, errors = ended(process)
            assert (code, output.strip()) == (0, str(path)), errors
    assert tables_of(open_database(path)) == tables_of(compiled[words])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("words", [PARTITION, COLLECTION], ids=["partition", "collection"])
def test_a_full_disk_leaves_nothing_of_a_build(words, compiled, tmp_path):
    with build(tmp_path / "x.h5", words, before=lambda: limit_file_sizes(1_000_000)) as process:
        code, _, errors = ended(process)
    assert code == 2 and "cannot write" in errors and "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_two_processes_may_build_the_same_walking_distance_table(tmp_path):
    code = """
import sys
from pathlib import Path
from pdb_builder import Grid
from solver.heuristics.preparing import prepare
print(prepare("walking-distance", Grid(4, 4), 0, Path(sys.argv[1])).measure(range(15, -1, -1)))
"""
    with started("-c", code, tmp_path) as first, started("-c", code, tmp_path) as second:
        answers = {ended(process) for process in (first, second)}
    ((code, output, errors),) = answers
    assert (code, errors) == (0, "") and output.startswith("[")
    assert [path.name for path in tmp_path.iterdir()] == ["walking-distance-4x4-home-0.h5"]


@pytest.mark.parametrize(
    "shape, size, encoding", [("4x4", 7, "bits"), ("4x4", 7, "bytes"), ("8x8", 4, "bits"), ("2x2", 1, "bits")]
)
def test_memory_is_not_underestimated(shape, size, encoding, capfd):
    """Every build is measured in a process of its own."""
    assert main(["bench", f"{shape}:{size}:{encoding}", "--threads", "2", "--repeat", "1", "--json"]) == 0
    row = json.loads(capfd.readouterr().out)
    assert row["peak_memory"] <= build_memory(Grid.parse(shape), size, encoding, 2)
