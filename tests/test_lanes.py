"""The vector operations of the build, compiled, do what their definitions in numpy do, and touch nothing else."""

from math import factorial

import numpy as np
import pytest
from numba import njit

from pdb_builder import lanes
from pdb_builder.build import _longest_run
from pdb_builder.encoding import block_bytes
from pdb_builder.lanes import SPARE

pytestmark = pytest.mark.jit
GUARD = 200  # behind the elements that may be touched


def random_bytes(count):
    return np.random.default_rng(count).integers(0, 256, count, dtype=np.uint8)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 6, 7])
def test_rows_are_spread_and_packed(size):
    width = block_bytes(size)
    rows = max(1, factorial(size) // 24)
    row_width = width // rows

    @njit
    def spread(words, packed, at):
        lanes.spread_rows(words, packed, at, row_width, rows)

    @njit
    def pack(packed, words):
        lanes.pack_rows(packed, words, row_width, rows)

    packed = random_bytes(3 * width + SPARE)
    words, expected = np.full((2, rows + SPARE + GUARD), 7, dtype=np.uint32)
    spread(words, packed, width)
    lanes._plain_spread_rows(expected, packed, width, row_width, rows)
    assert np.array_equal(words[:rows], expected[:rows]) and (words[rows + SPARE :] == 7).all()
    again = np.full(width + SPARE + GUARD, 7, dtype=np.uint8)
    pack(again, words)
    assert np.array_equal(again[:width], packed[width : 2 * width]) and (again[width + SPARE :] == 7).all()


@pytest.mark.parametrize("size", [1, 4, 5, 7])
@pytest.mark.parametrize("name", ["mark_new", "add_new"])
def test_new_bits_are_marked_and_counted(name, size):
    width = block_bytes(size)
    stretch = _longest_run(width, 1024, 16)
    marking = getattr(lanes, name)

    @njit
    def marked(arrived, one, other, at):
        count = 0
        for byte in range(0, width, stretch):
            count += marking(arrived, byte, one, other, at + byte, stretch)
        return count

    arrived = random_bytes(width)
    maps = [random_bytes(3 * width + add) for add in (1, 2)]
    expected = [one.copy() for one in maps]
    count = getattr(lanes, f"_plain_{name}")(arrived, 0, *expected, width, width)
    assert marked(arrived, *maps, width) == count > 0
    assert all(np.array_equal(one, other) for one, other in zip(maps, expected, strict=True))
