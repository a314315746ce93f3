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


@pytest.mark.parametrize("lanes_of_line", [1, 2, 6, 24])
def test_words_of_cells_are_united_shifted_and_added(lanes_of_line):
    count = lanes_of_line
    source, target, other = np.random.default_rng(count).integers(-(2**63), 2**63, (3, 3 * count + GUARD))
    places = np.random.default_rng(1).permutation(count).astype(np.uint32)
    mask = int(source[-1])  # a negative one: cell 63 is the sign bit

    @njit
    def masked(to, mask):
        lanes.or_masked(to, source, count, mask, count)

    @njit
    def chosen(to, mask):
        lanes.or_chosen(to, source, count, places, 0, mask, count)

    @njit
    def shifted(to, mask):
        lanes.or_shifted(to, source, count, 0, 3, mask, count)
        lanes.or_shifted(to, source, count, 5, 0, mask, count)

    @njit
    def added(to, mask):
        return lanes.add_masked(source, mask, to, other, count, count)

    @njit
    def column_of(place):
        return lanes.column(source, count, place, count)

    results = {}
    for compiled in (masked, chosen, shifted, added):
        results[compiled] = target.copy()
        found = compiled(results[compiled], mask)
    expected = [target.copy() for _ in results]
    lanes._plain_or_masked(expected[0], source, count, mask, count)
    lanes._plain_or_chosen(expected[1], source, count, places, 0, mask, count)
    lanes._plain_or_shifted(expected[2], source, count, 0, 3, mask, count)
    lanes._plain_or_shifted(expected[2], source, count, 5, 0, mask, count)
    assert found == lanes._plain_add_masked(source, mask, expected[3], other, count, count)
    assert all(np.array_equal(*pair) for pair in zip(results.values(), expected, strict=True))
    for place in (0, 17, 63):
        assert column_of(place) == lanes._plain_column(source, count, place, count)
