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


@pytest.mark.parametrize("count", [1, 2, 6, 24])
@pytest.mark.parametrize("width", [4, 5, 7, 8])
def test_sets_of_cells_are_united_shifted_and_added(width, count):
    at = count * width
    source, other, to = (random_bytes(3 * at + SPARE + add) for add in range(3))
    words = np.random.default_rng(count).integers(-(2**63), 2**63, count + GUARD)
    places = np.random.default_rng(1).permutation(count).astype(np.uint32)
    mask = 0x5A5A5A5A5A5A5A5A & ((1 << 8 * width) - 1) if width < 8 else -0x5A5A5A5A  # cell 63 is the sign bit

    @njit
    def masked(target):
        lanes.or_masked(target, source, at, mask, width, count)

    @njit
    def chosen(target):
        lanes.or_chosen(target, source, at, places, 0, mask, width, count)

    @njit
    def shifted(target):
        lanes.or_shifted(target, source, at, 0, 3, mask, width, count)
        lanes.or_shifted(target, source, at, 5, 0, mask, width, count)

    @njit
    def added(target):
        return lanes.add_masked(words, mask, target, other, at, width, count)

    @njit
    def column_of(cell):
        return lanes.column(source, at, cell, width, count)

    for compiled, plain in (
        (masked, lambda target: lanes._plain_or_masked(target, source, at, mask, width, count)),
        (chosen, lambda target: lanes._plain_or_chosen(target, source, at, places, 0, mask, width, count)),
        (
            shifted,
            lambda target: [
                lanes._plain_or_shifted(target, source, at, *by, mask, width, count) for by in ((0, 3), (5, 0))
            ],
        ),
    ):
        result, expected = words.copy(), words.copy()
        compiled(result)
        plain(expected)
        assert np.array_equal(result, expected)
    result, expected = to.copy(), to.copy()
    assert added(result) == lanes._plain_add_masked(words, mask, expected, other, at, width, count) > 0
    assert np.array_equal(result, expected)
    for cell in (0, 17, 8 * width - 1):
        assert column_of(cell) == lanes._plain_column(source, at, cell, width, count)
