"""The verifier accepts what the builder builds and catches wrong tables that look right."""

import shutil
from itertools import product
from math import factorial

import numpy as np
import pytest

import pdb_builder.verify
from pdb_builder import Grid, InputError, Spec, build_database, open_database, verify_database
from pdb_builder.memory import verify_memory
from pdb_builder.pattern import NAMED
from pdb_builder.verify import INVARIANTS

from .forge import forged, set_table_bits, table_bits
from .oracle import expected_tables

SPECS = [
    Spec(Grid(3, 3), NAMED["3x3-4-4"]),
    Spec(Grid(3, 3), NAMED["3x3-8"]),
    Spec(Grid(3, 3), NAMED["3x3-4-4"], 4, "bytes"),
    Spec(Grid(3, 3), NAMED["3x3-8"], 8, "bytes"),
    Spec(Grid(2, 2), ((1, 2), (3,)), 1),
    Spec(Grid(3, 3, wrap=True), ((1, 2, 3, 4, 5), (6, 7, 8)), 2, "bytes"),
    Spec(Grid(2, 4, wrap=True), ((1, 2, 3, 4, 5, 6), (7,)), 5),
    Spec(Grid(3, 4), ((1, 2, 4, 5, 6, 8), (3, 7, 9, 10, 11)), 11),
]


@pytest.fixture(params=["a byte per state", "a bit per state"])
def way(request, monkeypatch):
    """Both ways to search: the second is for tables that the first has not enough memory for."""
    packed = request.param == "a bit per state"
    monkeypatch.setattr("pdb_builder.verify.is_proven_by_bits", lambda table: packed and table.encoding == "bits")


def outcome(path, **options):
    checks = list(verify_database(path, **options))
    return [check.number for check in checks], next((check.number for check in checks if check.fault), None)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_what_is_built_is_proven_correct(spec, database_of, way):
    assert outcome(database_of(spec)) == (list(INVARIANTS), None)


def test_every_invariant_is_explained():
    for number, (name, _) in INVARIANTS.items():
        assert f"{number}. *{name}*" in pdb_builder.verify.__doc__


def test_quick_leaves_out_the_search(small):
    assert outcome(small, quick=True) == ([1, 2, 3, 4, 5], None)


def test_a_flipped_bit_in_a_table(small, tmp_path):
    path = tmp_path / "flipped.h5"
    shutil.copy(small, path)
    table = open_database(path).tables[1]
    with open(path, "r+b") as file:
        file.seek(table.offset + table.values.nbytes // 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 4]))
    assert outcome(path, quick=True) == ([1, 2], 2)


def flip_one_entry(root):
    table = root["pattern_1/table"]
    bits = table_bits(table, 24)
    bits[len(bits) // 2, 17] ^= 1
    set_table_bits(table, bits)


def rewrite_levels(root, bit_of):
    """Set every bit of the first table to ``bit_of(distance, largest distance)``."""
    tiles = tuple(root["pattern_1"].attrs["tiles"].tolist())
    _, by_block, _ = expected_tables(Grid(3, 3), tiles, 0)
    bits = table_bits(root["pattern_1/table"], factorial(len(tiles)))
    farthest = max(by_block.values())
    for place, distance in by_block.items():
        bits[place] = bit_of(distance, farthest)
    set_table_bits(root["pattern_1/table"], bits)


def last_level_off_by_one(root):
    """The farthest states get the bit of the level two below."""
    rewrite_levels(root, lambda distance, farthest: (distance - 2 * (distance == farthest)) >> 1 & 1)


def all_levels_off_by_one(root):
    """Every state gets the bit of the next level, as if counting had begun at 1."""
    rewrite_levels(root, lambda distance, farthest: (distance + 1) >> 1 & 1)


def swapped_tile_lists(root):
    one, two = root["pattern_1"].attrs["tiles"], root["pattern_2"].attrs["tiles"]
    root["pattern_1"].attrs["tiles"], root["pattern_2"].attrs["tiles"] = two, one


def table_for_another_goal(root, folder):
    other = build_database(Spec(Grid(3, 3), NAMED["3x3-4-4"], 8), folder / "other.h5")
    for number, table in enumerate(other.tables, start=1):
        root[f"pattern_{number}/table"][...] = np.asarray(table.values)
        root[f"pattern_{number}"].attrs["counts"] = table.counts
        root[f"pattern_{number}"].attrs["maximum"] = table.maximum


def wrong_counts(root):
    counts = root["pattern_2"].attrs["counts"]
    counts[3], counts[4] = counts[4], counts[3]
    root["pattern_2"].attrs["counts"] = counts


def counts_that_end_too_early(root):
    counts = root["pattern_1"].attrs["counts"]
    root["pattern_1"].attrs["counts"] = np.array([*counts[:11], counts[11:].sum()])
    root["pattern_1"].attrs["maximum"] = 11


def shifted_block_numbers(root):
    first = root["pattern_1/first_block"][...]
    first[40:50] += 1
    root["pattern_1/first_block"][...] = first


@pytest.mark.parametrize(
    "change, caught",
    [
        (flip_one_entry, {6}),
        (last_level_off_by_one, {6}),
        (all_levels_off_by_one, {1, 5}),
        (swapped_tile_lists, {1}),
        (wrong_counts, {7}),
        (counts_that_end_too_early, {1, 7}),
        (shifted_block_numbers, {1, 4}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_wrong_tables_with_matching_checksums(change, caught, small, tmp_path, way):
    assert outcome(forged(small, tmp_path / "forged.h5", change))[1] in caught


def test_a_table_built_for_another_goal(small, tmp_path):
    path = forged(small, tmp_path / "forged.h5", lambda root: table_for_another_goal(root, tmp_path))
    assert outcome(path)[1] in {1, 5}


@pytest.mark.parametrize("probe", [True, False])
def test_every_single_wrong_bit_is_caught_by_the_search(probe, database_of, tmp_path, monkeypatch, way):
    """All bits of a table of a 2x3 board, one at a time, checksums repaired; with and without the probe on opening."""
    if not probe:
        monkeypatch.setattr("pdb_builder.database.Table.probe", lambda table: True)
    path = database_of(Spec(Grid(2, 3), ((1, 2), (3, 4, 5))))
    blocks = len(open_database(path).tables[0].values)
    for block in range(0, blocks, 1 if probe else 3):
        for arrangement in range(2):

            def flip(root, block=block, arrangement=arrangement):
                root["pattern_1/table"][block, 0] ^= 1 << arrangement

            assert outcome(forged(path, tmp_path / "x.h5", flip))[1] is not None


def test_with_little_memory_a_bit_per_state_is_enough_and_said_beforehand(small, monkeypatch):
    table = open_database(small).tables[0]
    needed = [verify_memory(table, packed) for packed in (True, False)]
    assert needed[0] < needed[1]
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: needed[0])
    remarks = []
    assert outcome(small, notify=remarks.append) == (list(INVARIANTS), None)
    assert len(remarks) == 2 and all("has more states than bytes of memory" in remark for remark in remarks)
    monkeypatch.setattr("pdb_builder.memory.available_memory", lambda: needed[0] - 1)
    with pytest.raises(InputError, match=r"the full verification needs about .* MB of memory, but only .*`quick`"):
        outcome(small)
    monkeypatch.setattr("pdb_builder.verify.distances_of", None)  # which has even less of what it needs
    assert outcome(small, force=True) == (list(INVARIANTS), None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, encoding",
    [*product(["4x4-7-8", "4x4-6-6-3", "4x4-5-5-5", "5x5-6-6-6-6"], ["bits", "bytes"]), ("5x5-250M", "bits")],
)
def test_the_named_databases_are_proven_correct(name, encoding, tmp_path):
    spec = Spec(Grid.parse(name.split("-")[0]), NAMED[name], 0, encoding)
    build_database(spec, tmp_path / "x.h5")
    assert outcome(tmp_path / "x.h5") == (list(INVARIANTS), None)
