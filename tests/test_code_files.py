"""Compiled code in files: kept, read again, and never believed if anything about a file has changed."""

import hashlib
import os
import pickle
import random
import shutil
from typing import NamedTuple

import numba
import numpy as np
import pytest

from pdb_builder.base import code_files, compile_cache, jit
from pdb_builder.base.code_files import DIGEST, ENDING, CodeFiles
from solver.search import depth_first

from .processes import ended, started

pytestmark = pytest.mark.jit

EASY = "1 2 3 4 5 6 0 7 8"  # LL
needs_cache = pytest.mark.skipif(jit._folder is None, reason="nothing is cached here")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def remarks(monkeypatch):
    """What a command would print."""
    told = []
    monkeypatch.setattr(compile_cache, "notify", told.append)
    monkeypatch.setattr(code_files, "_damage_told", False)
    return told


def new_kernel(folder, factor=3):
    """A kernel as a new process defines it, whose code is kept in a folder."""

    def multiplied(number):
        return factor * number

    compiled = numba.njit(multiplied)
    compiled._cache = CodeFiles(multiplied, folder)
    return compiled


def was_read(kernel):
    """Whether the code of a kernel that was called came from a file."""
    assert len(kernel.stats.cache_hits) + len(kernel.stats.cache_misses) == 1
    return bool(kernel.stats.cache_hits)


def only_file(folder):
    (path,) = folder.iterdir()
    assert path.suffix == ENDING
    return path


# ---- sound files --------------------------------------------------------------------------------


def test_compiled_code_is_kept_and_read_again(folder, remarks):
    for read in (False, True, True):
        kernel = new_kernel(folder)
        assert kernel(7) == 21 and was_read(kernel) == read
        only_file(folder)
    assert remarks == []


def test_what_the_code_depends_on_has_files_of_its_own(folder):
    for factor in (2, 3):
        for number in (7, 7.5):
            assert new_kernel(folder, factor)(number) == factor * number
    assert len(list(folder.iterdir())) == 4
    for factor in (2, 3):
        kernel = new_kernel(folder, factor)
        assert kernel(10) == 10 * factor and was_read(kernel)


@needs_cache
def test_our_kernels_are_kept_in_such_files_and_other_users_of_numba_are_left_alone():
    assert isinstance(depth_first.search_below._cache, CodeFiles)
    assert depth_first.search_below.stats.cache_path == str(jit._folder)
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR


class Elsewhere(NamedTuple):
    """A kind of heuristic, say, whose operations are compiled into a kernel."""

    numbers: np.ndarray


def test_code_for_classes_that_are_not_ours_is_not_kept(folder):
    """Nobody would notice that the operations of such a class have changed."""

    def first(things):
        return things[0].numbers[0]

    compiled = numba.njit(first)
    compiled._cache = CodeFiles(first, folder)
    assert compiled((Elsewhere(np.array([5])), 1)) == 5
    assert not folder.exists()


# ---- damaged files ------------------------------------------------------------------------------


def flipped(content, chance):
    content = bytearray(content)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def sealed(content):
    return hashlib.sha256(content).digest() + content


DAMAGE = {
    "flipped": flipped,
    "truncated": lambda content, chance: content[: chance.randrange(len(content))],
    "empty": lambda content, chance: b"",
    "zeroed": lambda content, chance: bytes(len(content)),
    "longer": lambda content, chance: content + b"\0",
    "junk": lambda content, chance: chance.randbytes(1000),
    "sealed junk": lambda content, chance: sealed(chance.randbytes(1000)),
    "something else": lambda content, chance: sealed(pickle.dumps("code")),
    "another key": lambda content, chance: sealed(pickle.dumps(("another", ()))),
    "no code": lambda content, chance: sealed(pickle.dumps((pickle.loads(content[DIGEST:])[0], (1, 2)))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_replaced(damage, folder, remarks):
    new_kernel(folder)(7)
    path, chance = only_file(folder), random.Random(damage)
    sound = path.read_bytes()
    for _ in range(10 if damage in ("flipped", "truncated") else 1):
        path.write_bytes(DAMAGE[damage](sound, chance))
        kernel = new_kernel(folder)
        assert kernel(7) == 21 and not was_read(kernel)
        kernel = new_kernel(folder)
        assert kernel(7) == 21 and was_read(kernel), "the file is sound again"
    if damage != "another key":  # that is the file of something whose name happens to have the same hash
        assert remarks == [f"compiled code in {folder} was damaged: compiling it again"], "this is said once"


@needs_cache
@pytest.mark.subprocess
def test_a_solve_with_a_damaged_cache_says_so_and_repairs_it(tmp_path):
    shutil.copytree(jit._folder, tmp_path / jit._folder.name)
    words = ("-m", "solver", "solve", EASY, "--heuristic", "manhattan", "--quiet")
    variables = {"NUMBA_CACHE_DIR": str(tmp_path)}
    with started(*words, variables=variables) as process:
        assert ended(process) == (0, "LL\n", "")
    files = [path for path in (tmp_path / jit._folder.name).iterdir() if "depth_first" in path.name]
    assert files
    for path in files:
        path.write_bytes(flipped(path.read_bytes(), random.Random(path.name)))
    for errors in (f"compiled code in {tmp_path / jit._folder.name} was damaged: compiling it again\n", ""):
        with started(*words, variables=variables) as process:
            assert ended(process) == (0, "LL\n", errors)


# ---- folders that cannot be used ----------------------------------------------------------------


def in_the_way(folder):
    folder.write_text("a file")


def read_only(folder):
    new_kernel(folder, 5)(7)
    folder.chmod(0o500)  # which is no obstacle for root


def circular(folder):
    folder.symlink_to(folder)


@pytest.mark.parametrize("obstacle", [in_the_way, read_only, circular])
def test_a_folder_that_cannot_be_used_is_no_error(obstacle, folder, remarks):
    obstacle(folder)
    assert new_kernel(folder)(7) == 21
    if obstacle is read_only:
        kernel = new_kernel(folder, 5)
        assert kernel(7) == 35 and was_read(kernel), "what is there is used"
    assert remarks == []


@pytest.mark.parametrize("number", [5, 13, 28, 30], ids=os.strerror)
def test_a_file_that_cannot_be_written_is_no_error(number, folder, remarks, monkeypatch):
    def failing(handle):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", failing)
    assert new_kernel(folder)(7) == 21
    assert list(folder.iterdir()) == [] and remarks == []


def test_nothing_is_written_to_a_disk_that_is_nearly_full(folder, monkeypatch):
    new_kernel(folder)(7)
    monkeypatch.setattr(code_files, "LEAST_FREE", 10**18)
    assert new_kernel(folder, 5)(7) == 35
    kernel = new_kernel(folder)
    assert kernel(7) == 21 and was_read(kernel), "what is there is used"
    only_file(folder)


def test_a_file_that_cannot_be_read_is_no_error(folder, remarks):
    new_kernel(folder)(7)
    path = only_file(folder)
    path.unlink()
    path.mkdir()
    assert new_kernel(folder)(7) == 21 and remarks == []


def test_a_folder_that_is_deleted_while_it_is_used_is_made_again(folder):
    new_kernel(folder)(7)
    kernel = new_kernel(folder, 5)
    shutil.rmtree(folder)
    assert kernel(7) == 35
    only_file(folder)
