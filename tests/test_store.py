"""The file: what is written is what is read, and what was not written by us is refused by name."""

import gzip
import hashlib
import mmap
import os
import random
import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from pdb_builder import NAMED, Grid, Spec, build_database, build_table, check_tables, open_database, verify_database
from pdb_builder.base.errors import DamagedDatabase, MissingDatabase, NewerFormat, NotADatabase, WriteError
from pdb_builder.base.sealed import PAGE, pieces
from pdb_builder.pattern import parse_collection
from pdb_builder.store import BUILT, write_database

from .forge import forged, reseal
from .oracle import pattern_distances

SPECS = [
    Spec(Grid(3, 3), NAMED["3x3-4-4"]),
    Spec(Grid(3, 3), NAMED["3x3-4-4"], 4, "bytes"),
    Spec(Grid(2, 3), ((1, 2, 3), (4, 5)), 5),
    Spec(Grid(3, 3, wrap=True), ((1, 2, 3), (4, 5, 6), (7, 8)), 0, "bytes"),
    Spec(Grid(2, 4, wrap=True), ((1, 2, 3, 4, 5), (6, 7)), 3),
    Spec(Grid(3, 3), parse_collection("1,2,5/3,4,6,7,8; 3,6,7/1,2/4,5,8; 1,2,5/3,6,7/4,8")),
    Spec(Grid(3, 3), parse_collection("1,2/3,5/7,8/4,6; 1,2,3/4,5/6,7,8"), 4, "bytes"),
]


@pytest.fixture
def collection(database_of):
    """The path of a small database of several partitions, with five tables."""
    return database_of(SPECS[5])


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_what_is_written_is_read(spec, database_of):
    database = open_database(database_of(spec))
    assert database.spec == spec
    check_tables(database)
    for tiles, table in zip(spec.patterns, database.tables, strict=True):
        built = build_table(spec.grid, tiles, blank=spec.blank, encoding=spec.encoding)
        np.testing.assert_array_equal(table.values, built.values)
        np.testing.assert_array_equal(table.counts, built.counts)
        assert table.tiles == tiles
        assert table.entries == sum(count for _, count in table.levels())
        assert table.maximum == max(distance for distance, _ in table.levels())
        assert 0 < table.mean < table.maximum


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_tables_are_mapped_page_aligned_and_read_only(spec, database_of):
    path = database_of(spec)
    database = open_database(path)
    assert isinstance(database.memory, np.memmap)
    for table in database.tables:
        assert np.shares_memory(table.values, database.memory)
        assert (table.values.ravel() == database.memory[table.offset :][: table.values.size]).all()
        assert not table.values.flags.writeable
    with h5py.File(path) as root:
        for group in groups_of(root):
            assert group["table"].id.get_offset() % PAGE == 0
            assert group["table"].chunks is None and group["table"].compression is None


def groups_of(root):
    """The groups of the tables, in order."""
    names = sorted((name for name in root if name != "partitions"), key=lambda name: int(name.removeprefix("pattern_")))
    return [root[name] for name in names]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="tells what is in memory on Linux alone")
def test_what_was_copied_from_a_mapped_table_does_not_stay_in_memory(database_of):
    """A collection can be larger than memory, and is put together from tables that are mapped."""
    table = open_database(database_of(Spec(Grid(4, 4), NAMED["4x4-5-5-5"]))).tables[-1]

    def kilobytes():
        blocks = Path("/proc/self/smaps").read_text().split("4x4-5-5-5.h5")[1:]
        return sum(int(re.search(r"\nRss: +(\d+) kB", block)[1]) for block in blocks)

    content = table.values.tobytes()
    assert kilobytes() >= len(content) // 1024
    assert b"".join(map(bytes, pieces(table.values))) == content
    assert kilobytes() < len(content) // 2048


def test_what_is_in_memory_alone_is_not_let_go(tmp_path):
    """Neither what belongs to no file nor what was changed in memory: the system would forget it."""
    file = tmp_path / "x"
    file.write_bytes(bytes(PAGE))
    changed, anonymous = np.memmap(file, np.uint8, "c"), np.ndarray(PAGE, np.uint8, mmap.mmap(-1, PAGE))
    for array in (changed, anonymous, np.empty(PAGE, np.uint8)):
        array[:] = 7
        assert b"".join(map(bytes, pieces(array[1:]))) == bytes([7]) * (PAGE - 1)
        assert (array == 7).all()


def test_plain_h5py_reads_the_tables(small):
    with h5py.File(small) as root:
        assert root.attrs["format"] == "slidepdb"
        assert list(root.attrs["goal"]) == list(range(9))
        np.testing.assert_array_equal(root["pattern_2/table"][...], open_database(small).tables[1].values)


def test_plain_h5py_reads_the_partitions(collection):
    """They are drawn on the goal, as docs/format.md says."""
    with h5py.File(collection) as root:
        assert root.attrs["format_version"] == 2
        assert root["partitions"][...].tolist() == [
            [[0, 1, 1], [2, 2, 1], [2, 2, 2]],
            [[0, 2, 2], [1, 3, 3], [1, 1, 3]],
            [[0, 1, 1], [2, 3, 1], [2, 2, 3]],
        ]


def test_the_documented_schema_is_what_is_written(database_of):
    """docs/format.md names exactly the attributes, datasets and types that files have."""
    page = (Path(__file__).parent.parent / "docs" / "format.md").read_text()
    rows = set(re.findall(r"^\| `([^`]+)` \| (attribute|dataset) \| `([^`]+)`", page, re.MULTILINE))
    seen = set()
    for spec in (SPECS[0], SPECS[1], SPECS[5]):
        with h5py.File(database_of(spec)) as root:
            if len(spec.partitions) > 1:
                seen.add(("/partitions", "dataset", f"{root['partitions'].dtype}[,,]"))
            for prefix, holder in (("/", root), ("/pattern_N/", root["pattern_1"])):
                for name, value in holder.attrs.items():
                    kind = "string" if isinstance(value, str) else str(np.asarray(value).dtype)
                    kind += "[]" if np.ndim(value) else ""
                    seen.add((prefix + name, "attribute", kind))
            for name, dataset in root["pattern_1"].items():
                seen.add((f"/pattern_N/{name}", "dataset", f"{dataset.dtype}[{','.join('' for _ in dataset.shape)}]"))
    assert rows == seen


@pytest.mark.parametrize("version, number", [(1, 0), (2, 5)])
def test_the_label_is_as_documented(version, number, database_of):
    """Size, places of the tables and seal, computed from the bytes alone as docs/format.md says."""
    path = database_of(SPECS[number])
    content = path.read_bytes()
    first, size, seal, *tables = content[:PAGE].decode().rstrip("\n").split("\n")
    assert first == f"slidepdb pattern database, format {version}. After this page: HDF5, for any HDF5 tool."
    assert size == f"size {len(content)}"
    regions = [tuple(map(int, line.removeprefix("table ").split())) for line in tables]
    assert regions == table_regions(path)
    sealed, at = b"", PAGE
    for offset, length in sorted(regions):
        sealed += content[at:offset]
        at = offset + length
    assert seal == f"seal {hashlib.sha256(sealed + content[at:]).hexdigest()}"


# ---- files of the first releases ----------------------------------------------------------------


@pytest.fixture
def old(tmp_path):
    """A database that slidepdb 0.2.0 wrote, before there were collections."""
    path = tmp_path / "old.h5"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "format_1.h5.gz").read_bytes()))
    return path


def test_a_file_of_an_earlier_release_is_read(old):
    database = open_database(old)
    check_tables(database)
    assert database.spec == Spec(Grid(2, 3), ((1, 2), (3, 4, 5)), 1)
    assert database.built["by"] == "slidepdb 0.2.0"
    assert [check.fault for check in verify_database(old)] == [""] * 7
    board = (5, 4, 1, 0, 3, 2)
    expected = [pattern_distances(Grid(2, 3), tiles, 1) for tiles in database.spec.patterns]
    cells = [tuple(board.index(tile) for tile in tiles) for tiles in database.spec.patterns]
    assert database.distance(board) == sum(table[c, 3] for table, c in zip(expected, cells, strict=True))


def test_a_single_partition_is_written_as_ever(old, tmp_path):
    """So an earlier release can read it: only the times differ that HDF5 notes, four of each table, with a checksum."""
    database = open_database(old)
    write_database(tmp_path / "new.h5", database.spec, database.tables, database.built)
    before, after = old.read_bytes(), (tmp_path / "new.h5").read_bytes()
    assert len(before) == len(after)
    assert [line for line in before[:PAGE].splitlines() if not line.startswith(b"seal")] == [
        line for line in after[:PAGE].splitlines() if not line.startswith(b"seal")
    ]
    different = sum(a != b for a, b in zip(before[PAGE:], after[PAGE:], strict=True))
    assert different <= 2 * (4 * 4 + 4)


# ---- files that are not databases ---------------------------------------------------------------


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(MissingDatabase, match="there is no database"):
        open_database(tmp_path / "none.h5")
    with pytest.raises(NotADatabase, match=r"is not a pattern database file \(a folder\)"):
        open_database(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"\x00", b"hello\n", b"\x89HDF\r\n\x1a\n", os.urandom(10_000), b"slidepdb" * 1000]
)
def test_foreign_bytes(content, tmp_path):
    path = tmp_path / "foreign.h5"
    path.write_bytes(content)
    with pytest.raises(NotADatabase):
        open_database(path)


def test_foreign_hdf5(tmp_path):
    with h5py.File(tmp_path / "foreign.h5", "w") as root:
        root["data"] = [1, 2, 3]
    with pytest.raises(NotADatabase, match="an HDF5 file, but not one of ours"):
        open_database(tmp_path / "foreign.h5")


def test_newer_format(small, tmp_path):
    path = tmp_path / "newer.h5"
    path.write_bytes(small.read_bytes().replace(b"format 1.", b"format 3.", 1))
    with pytest.raises(NewerFormat, match="has format 3, this version reads up to 2: update slidepdb"):
        open_database(path)


@pytest.mark.parametrize("version", [b"0", b"01", b"-1", b"1", b"two", b"", b"2" * 40])
def test_a_label_with_another_version(version, collection, tmp_path):
    """One page of text that says something else about the same contents."""
    path, content = tmp_path / "x.h5", collection.read_bytes()
    page = content[:PAGE].replace(b"format 2.", b"format " + version + b".", 1)
    path.write_bytes(page[:PAGE].ljust(PAGE, b"\n") + content[PAGE:])
    with pytest.raises(NewerFormat if len(version) == 40 else DamagedDatabase):
        open_database(path)


@pytest.mark.parametrize("number", [0, 5])
def test_truncated_anywhere(number, database_of, tmp_path):
    whole = database_of(SPECS[number]).read_bytes()
    path = tmp_path / "short.h5"
    for length in [*range(0, len(whole), 997), PAGE, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises((NotADatabase, DamagedDatabase)):
            open_database(path)
    path.write_bytes(whole + b"\n")
    with pytest.raises(DamagedDatabase, match="bytes instead of"):
        open_database(path)


def table_regions(path):
    with h5py.File(path) as root:
        return [(group["table"].id.get_offset(), group["table"].nbytes) for group in groups_of(root)]


@pytest.mark.parametrize("number", [0, 5])
def test_a_flipped_bit_anywhere_is_noticed(number, database_of, tmp_path):
    """Outside the tables when the file is opened, inside them by their checksums."""
    path = database_of(SPECS[number])
    whole = path.read_bytes()
    regions = table_regions(path)
    chance = random.Random(7)
    places = [chance.randrange(len(whole)) for _ in range(300)]
    places += [start for start, _ in regions] + [start + length - 1 for start, length in regions]
    path = tmp_path / "flipped.h5"
    for place in places:
        content = bytearray(whole)
        content[place] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        with pytest.raises((DamagedDatabase, NotADatabase, NewerFormat)):
            database = open_database(path)
            assert any(start <= place < start + length for start, length in regions)
            check_tables(database)


# ---- files made to deceive ----------------------------------------------------------------------


def test_an_attribute_changed_without_the_seal(small, tmp_path):
    path = tmp_path / "changed.h5"
    shutil.copy(small, path)
    with h5py.File(path, "r+") as root:
        root["pattern_1"].attrs["seconds"] = 1e-9
    with pytest.raises(DamagedDatabase):
        open_database(path)


def swap_tiles(root):
    one, two = root["pattern_1"].attrs["tiles"], root["pattern_2"].attrs["tiles"]
    root["pattern_1"].attrs["tiles"], root["pattern_2"].attrs["tiles"] = two, one


def other_goal(root):
    root.attrs["goal"] = np.array(Grid(3, 3).goal(8), dtype=np.uint8)


def other_version(root):
    root.attrs["format_version"] = 99


def missing_tile(root):
    root["pattern_1"].attrs["tiles"] = np.array([1, 2, 3], dtype=np.uint8)


def overlapping_tiles(root):
    root["pattern_1"].attrs["tiles"] = np.array([1, 2, 3, 5], dtype=np.uint8)


def other_shape(root):
    root.attrs["rows"], root.attrs["cols"] = 9, 1


def too_many_cells(root):
    root.attrs["rows"], root.attrs["cols"] = 9, 9
    root.attrs["goal"] = np.arange(81, dtype=np.uint8)


def other_encoding(root):
    root.attrs["encoding"] = "bytes"


def wrapped(root):
    root.attrs["wrap"] = True


def negative_counts(root):
    root["pattern_1"].attrs["counts"] = -root["pattern_1"].attrs["counts"]


def no_table(root):
    root["pattern_1/other"] = root["pattern_1/table"]
    del root["pattern_1/table"]
    root["pattern_1/table"] = np.zeros(3, dtype=np.uint8)


def foreign_byte_order(root):
    first = root["pattern_1/first_block"][...]
    del root["pattern_1/first_block"]
    root["pattern_1"].create_dataset("first_block", data=first, dtype=">u4")


def first_block_beyond_the_table(root):
    root["pattern_1/first_block"][50:60] = 4_000_000_000


def floating_table(root):
    del root["pattern_1/first_block"]
    root["pattern_1/first_block"] = np.zeros(127)


def no_builder(root):
    del root.attrs["built_by"]


def endless_counts(root):
    counts = root["pattern_1"].attrs["counts"]
    root["pattern_1"].attrs["counts"] = np.concatenate([counts, np.zeros(10**6, dtype=np.int64)])
    root["pattern_1"].attrs["maximum"] = len(counts) + 10**6 - 1


def overflowing_counts(root):
    counts = root["pattern_1"].attrs["counts"]
    counts[1:5] += 2**62
    root["pattern_1"].attrs["counts"] = counts


def fractional_rows(root):
    root.attrs["rows"] = 3.7


def seconds_that_are_no_number(root):
    root["pattern_1"].attrs["seconds"] = float("nan")


def a_command_that_paints_the_terminal(root):
    root.attrs["built_command"] = "\x1b[31m"


def all_zero(root):
    root["pattern_1/table"][...] = 0


@pytest.mark.parametrize(
    "change",
    [
        swap_tiles,
        other_goal,
        other_version,
        missing_tile,
        overlapping_tiles,
        other_shape,
        other_encoding,
        wrapped,
        negative_counts,
        no_table,
        foreign_byte_order,
        first_block_beyond_the_table,
        floating_table,
        no_builder,
        endless_counts,
        overflowing_counts,
        fractional_rows,
        too_many_cells,
        seconds_that_are_no_number,
        a_command_that_paints_the_terminal,
        all_zero,
    ],
    ids=lambda change: change.__name__,
)
def test_forgeries_with_a_matching_seal_are_refused_on_opening(change, small, tmp_path):
    path = forged(small, tmp_path / "forged.h5", change)
    with pytest.raises(DamagedDatabase):
        open_database(path)


# The partitions of the collection, [partition, row, column], each with something wrong.


def tile_in_no_pattern(drawn):
    drawn[1, 2, 2] = 0
    return drawn


def blank_in_a_pattern(drawn):
    drawn[0, 0, 0] = 1
    return drawn


def numbers_with_a_gap(drawn):
    drawn[2][drawn[2] == 3] = 4
    return drawn


def numbers_in_another_order(drawn):
    drawn[0] = [[0, 2, 2], [1, 1, 2], [1, 1, 1]]  # the tables would have another order
    return drawn


def tile_in_another_pattern(drawn):
    drawn[1, 0, 1] = 3  # patterns without tables
    return drawn


def unused_table(drawn):
    return drawn[:2]


def one_partition(drawn):
    return drawn[:1]


def no_partition(drawn):
    return drawn[:0]


def the_same_partition_twice(drawn):
    return np.concatenate([drawn, drawn[:1]])


def the_image_of_a_partition(drawn):
    return np.concatenate([drawn, drawn[:1].transpose(0, 2, 1)])


def too_many_partitions(drawn):
    return np.concatenate([drawn] * 1000)


def another_type(drawn):
    return drawn.astype(np.int64)


def another_shape(drawn):
    return drawn.reshape(3, 9)


def another_board(drawn):
    return np.pad(drawn, ((0, 0), (0, 1), (0, 0)))


@pytest.mark.parametrize(
    "change",
    [
        tile_in_no_pattern,
        blank_in_a_pattern,
        numbers_with_a_gap,
        numbers_in_another_order,
        tile_in_another_pattern,
        unused_table,
        one_partition,
        no_partition,
        the_same_partition_twice,
        the_image_of_a_partition,
        too_many_partitions,
        another_type,
        another_shape,
        another_board,
    ],
    ids=lambda change: change.__name__,
)
def test_forged_partitions_are_refused_on_opening(change, collection, tmp_path):
    def rewrite(root):
        drawn = root["partitions"][...]
        del root["partitions"]
        root.create_dataset("partitions", data=change(drawn))

    with pytest.raises(DamagedDatabase):
        open_database(forged(collection, tmp_path / "forged.h5", rewrite))


def squeezed_partitions(root):
    drawn = root["partitions"][...]
    del root["partitions"]
    root.create_dataset("partitions", data=drawn, chunks=drawn.shape, compression="gzip")


def no_partitions(root):
    del root["partitions"]


def partitions_elsewhere(root):
    del root["partitions"]
    root["partitions"] = h5py.ExternalLink("other.h5", "/partitions")


def an_earlier_version(root):
    root.attrs["format_version"] = 1


def a_table_too_many(root):
    root.copy("pattern_5", "pattern_6")


@pytest.mark.parametrize(
    "change",
    [squeezed_partitions, no_partitions, partitions_elsewhere, an_earlier_version, a_table_too_many, swap_tiles],
    ids=lambda change: change.__name__,
)
def test_forged_collections_are_refused_on_opening(change, collection, tmp_path):
    path = forged(collection, tmp_path / "forged.h5", change)
    with pytest.raises(DamagedDatabase):
        open_database(path)


def test_a_single_partition_that_calls_itself_a_collection(small, tmp_path):
    def add_partitions(root):
        root.attrs["format_version"] = 2
        root["partitions"] = np.array([[[0, 1, 1], [1, 1, 2], [2, 2, 2]]], dtype=np.uint8)

    path = forged(small, tmp_path / "forged.h5", add_partitions)
    path.write_bytes(path.read_bytes().replace(b"format 1.", b"format 2.", 1))
    with pytest.raises(DamagedDatabase, match="partitions does not fit"):
        open_database(path)


@pytest.mark.parametrize("number", [0, 5])
def test_reseal_alone_changes_nothing(number, database_of, tmp_path):
    """The forger's tool itself makes valid files, so the tests above fail for the right reason."""
    path = forged(database_of(SPECS[number]), tmp_path / "same.h5", lambda root: None)
    check_tables(open_database(path))
    reseal(path, table_regions(path))
    assert open_database(path).distance(range(9)) == 0


# ---- writing ------------------------------------------------------------------------------------


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    spec = SPECS[0]
    table = build_table(spec.grid, spec.patterns[0])

    def no_space(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pdb_builder.base.sealed.label", no_space)  # the last thing to be written
    with pytest.raises(WriteError, match="No space left on device: make room"):
        write_database(tmp_path / "x.h5", spec, [table], dict.fromkeys(BUILT, ""))
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_until_the_new_one_is_whole(small, tmp_path, monkeypatch):
    path = tmp_path / "x.h5"
    shutil.copy(small, path)
    before = path.read_bytes()
    monkeypatch.setattr("pdb_builder.base.sealed.label", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build_database(open_database(small).spec, path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
