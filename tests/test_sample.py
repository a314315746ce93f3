"""The verifier's sample: searches for single states agree with a naive one, and wrong entries are caught."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from pdb_builder import Grid, InputError, Spec, verify_database
from pdb_builder.base.workers import Workers
from pdb_builder.independent_sample import (
    LARGEST_PART,
    NEVER,
    Sample,
    _search_for_states,
    check_sample,
    distances_of_sample,
    draw_sample,
    splits_of,
)
from pdb_builder.pattern import NAMED
from pdb_builder.store import open_database

from .forge import forged, set_table_bits, table_bits
from .oracle import pattern_distances, zones_of

PATTERNS = [
    (Grid(2, 3), (1, 2), 0),
    (Grid(2, 3), (4,), 2),
    (Grid(3, 3), (1, 2, 3, 4), 0),
    (Grid(3, 3), (1, 4, 5, 8), 4),
    (Grid(3, 3, wrap=True), (1, 2, 5, 7), 8),
    (Grid(2, 4, wrap=True), (1, 3, 6), 1),
    (Grid(2, 3), (1, 2, 3, 5), 0),  # two cells are free, and most states have two zones
]


def states_of(distances):
    """The states of a naive search, as a sample, and their distances."""
    cells, blanks = zip(*distances, strict=True)
    return Sample(np.array(cells), np.array(blanks)), list(distances.values())


@pytest.mark.parametrize("grid, tiles, blank", PATTERNS, ids=str)
def test_searches_for_single_states_find_the_distances_of_a_naive_search(grid, tiles, blank):
    distances = dict(list(pattern_distances(grid, tiles, blank).items())[::7])
    sample, expected = states_of(distances)
    with Workers(2) as workers:
        found = distances_of_sample(grid, tiles, blank, sample, False, workers, lambda stage, states: None, 1 << 12)
    assert found.tolist() == expected


@pytest.mark.parametrize("remembered", [1, 64])
def test_what_is_forgotten_costs_time_alone(remembered):
    grid, tiles = Grid(2, 3), (1, 2, 5)
    sample, expected = states_of(pattern_distances(grid, tiles, 0))
    with Workers(1) as workers:
        found = distances_of_sample(grid, tiles, 0, sample, False, workers, lambda stage, states: None, remembered)
    assert found.tolist() == expected


def test_a_state_that_cannot_be_solved_has_no_distance():
    """All tiles but one free cell: one of two boards that differ by an exchange."""
    grid, tiles = Grid(2, 2), (1, 2, 3)
    sample = Sample(np.array([[1, 2, 3], [2, 1, 3]]), np.array([0, 0]))
    with Workers(1) as workers:
        found = distances_of_sample(grid, tiles, 0, sample, False, workers, lambda stage, states: None)
    assert found.tolist() == [0, NEVER]


def test_an_interrupted_sample_stops_the_searches_that_are_under_way():
    """A state of ten tiles on 3x4 may take minutes: Ctrl-C would have to wait for it, and so would the program."""
    under_way = []

    class Interrupted(Workers):
        def over(self, ranges, function, *args):
            if function is not _search_for_states:
                return super().over(ranges, function, *args)
            under_way.append((*args, *ranges[0]))
            raise KeyboardInterrupt

    grid, tiles = Grid(2, 3), (1, 2)
    with pytest.raises(KeyboardInterrupt), Interrupted(1) as workers:
        distances_of_sample(grid, tiles, 0, draw_sample(grid, 2, 4, 1), False, workers, lambda stage, states: None)
    _search_for_states(*under_way[0])
    *_, found, low, high = under_way[0]
    assert found[low:high].tolist() == [NEVER] * 4


@pytest.mark.parametrize("size", range(1, 13))
def test_a_split_takes_every_tile_once(size):
    for split in splits_of(size):
        assert sorted(member for part in split for member in part) == list(range(size))
        assert max(map(len, split)) <= max(1, LARGEST_PART)


def test_states_are_drawn_uniformly_and_repeatably():
    grid = Grid(2, 3)
    states = sum(len(zones_of(grid, cells)) for cells in permutations(range(grid.cells), 2))
    sample = draw_sample(grid, 2, 3000, 5)
    assert all(not np.isin(blank, cells) for cells, blank in zip(*sample, strict=True))
    drawn = np.unique(np.column_stack([sample.cells, sample.blanks]), axis=0, return_counts=True)[1]
    assert len(drawn) == states and drawn.mean() / 2 < drawn.min() <= drawn.max() < 2 * drawn.mean()
    again, other = draw_sample(grid, 2, 3000, 5), draw_sample(grid, 2, 3000, -6)
    assert np.array_equal(sample.cells, again.cells) and np.array_equal(sample.blanks, again.blanks)
    assert not np.array_equal(sample.cells, other.cells)


@pytest.mark.parametrize("encoding", ["bits", "bytes"])
def test_a_database_passes_and_a_table_with_a_tenth_of_its_entries_wrong_does_not(encoding, database_of, tmp_path):
    path = database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"], 0, encoding))
    searched = Counter()
    checks = list(verify_database(path, sample=100, progress=lambda stage, states: searched.update({stage: states})))
    assert searched["pattern 1 of 2, parts"] > 0 and searched["pattern 2 of 2, sample"] == 100
    assert [check.number for check in checks] == [1, 2, 3, 4, 5, 6] and not any(check.fault for check in checks)
    assert checks[-1].sample == 100 and checks[-1].proves.startswith("100 entries of each table")

    def spoil(root):
        table = root["pattern_2/table"]
        if encoding == "bytes":
            table[::10] += 2
        else:
            bits = table_bits(table, 24)
            bits[::10] ^= 1
            set_table_bits(table, bits)

    wrong = forged(path, tmp_path / "x.h5", spoil)
    checks = list(verify_database(wrong, sample=100))
    assert checks[-1].fault
    assert checks[-1].number < 6 or "pattern 2 of 2: the tiles on" in checks[-1].fault


def test_what_cannot_be_sampled_is_refused(database_of):
    path = database_of(Spec(Grid(3, 3), NAMED["3x3-8"]))
    with pytest.raises(InputError, match=r"entries of 8 tiles on a 3x3 board cannot be searched for one by one: leave"):
        list(verify_database(path, sample=5))
    two_free = database_of(Spec(Grid(2, 3), ((1, 2, 3, 4), (5,))))
    with pytest.raises(InputError, match=r"entries of 4 tiles on a 2x3 board cannot be searched for one by one: leave"):
        list(verify_database(two_free, sample=5))
    small = database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"]))
    with pytest.raises(InputError, match=r"`quick` compares no entries, so there can be no `sample`"):
        list(verify_database(small, sample=5, quick=True))
    for count in (0, -1, 10**8, "7", 1.5, None):
        with pytest.raises(InputError, match=r"`sample` must be between 1 and 10,000,000"):
            check_sample(count, open_database(small).tables)


def test_a_sample_that_does_not_fit_into_memory_is_refused(database_of, monkeypatch):
    path = database_of(Spec(Grid(3, 3), NAMED["3x3-4-4"]))
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: 10**6)
    with pytest.raises(InputError, match=r"searching for a sample needs about .* `quick`, or try anyway with `force`"):
        list(verify_database(path, sample=5))
    assert list(verify_database(path, sample=5, force=True))[-1].number == 6
