"""The database file: the tables of a collection, as a sealed file.

docs/format.md describes the format. In short: behind its label (``base.sealed``) a database is an HDF5 file with one
group per table, and in each group the table, one contiguous page-aligned dataset. Opening a database maps its tables
into memory; they are never read as a whole, and processes that map the same file share its pages.

A file of a single partition needs nothing else: its tables are those of the partition. This is format 1, as the first
releases wrote it, and they can read it. Format 2 adds a dataset that draws the partitions on the goal. Which table
serves which pattern is not stored, since it follows from the patterns (``Spec.source``).

A database is trusted because

- it was written atomically, so it is complete (``base.files``),
- its seal covers every byte outside the tables; opening checks it in milliseconds,
- the SHA-256 of each table is among what is sealed; ``check_tables`` compares them, which reads the whole file,
- opening probes each table: the goal must have distance 0, a neighbour of it 1, and a descent from a scrambled board
  must arrive. A table for other tiles or another goal fails.

Proving that every entry is right is the task of ``verify``.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import h5py
import numpy as np

from .base.errors import DatabaseError, MissingDatabase, WriteError
from .base.files import replaced
from .base.mapped_file import MappedFile
from .base.sealed import Kind, Region, Reserved, attribute, mapped, open_sealed, pieces, require, reserve, write_sealed
from .database import Database, Table
from .encoding import block_bytes
from .grid import Grid
from .index import Index, index_of
from .pattern import MAX_PARTITIONS, Collection, Spec

FORMAT = "slidepdb"
KIND = Kind(
    name="pattern database",
    version=2,
    aligned=True,
    if_foreign="build one with 'pdb-builder build'",
    if_newer="update slidepdb, or build the database again",
    if_damaged="delete it and build it again",
)
READ_AT_ONCE = 1 << 22  # bytes of a table, while its checksum is worked out
BUILT = ("by", "at", "command", "machine")  # what is recorded about how a database was built


# ---- writing ------------------------------------------------------------------------------------


def write_database(
    path: Path, spec: Spec, tables: Iterable, built: Mapping[str, object], folder: Path | None = None
) -> None:
    """Write some or all tables of ``spec`` to a file that appears under ``path`` complete or not at all.

    A table is anything with the attributes ``tiles values first_block counts seconds threads``. The temporary file is
    created in ``folder``, which must be on the same disk; by default beside ``path``.
    """
    tables = {tuple(table.tiles): table for table in tables}
    try:
        with replaced(path, folder=folder) as file:
            write_sealed(file, KIND, lambda root: _write_structure(root, spec, tables, built))
    except OSError as error:
        raise WriteError(
            f"cannot write {path}: {error.strerror or error}: make room or choose another folder"
        ) from error


def _write_structure(root: h5py.File, spec: Spec, tables: Mapping, built: Mapping[str, object]) -> Iterator[Reserved]:
    """Write everything except the contents of the tables, which are reserved."""
    grid = spec.grid
    root.attrs["format"] = FORMAT
    root.attrs["format_version"] = 1 if len(spec.partitions) == 1 else 2
    root.attrs["rows"] = grid.rows
    root.attrs["cols"] = grid.cols
    root.attrs["wrap"] = grid.wrap
    root.attrs["goal"] = np.array(grid.goal(spec.blank), dtype=np.uint8)
    root.attrs["encoding"] = spec.encoding
    for key in BUILT:
        root.attrs[f"built_{key}"] = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(built[key]))
    if len(spec.partitions) > 1:
        root.create_dataset("partitions", data=_drawn(spec))
    for number, tiles in enumerate(spec.patterns, start=1):
        group = root.create_group(f"pattern_{number}")
        group.attrs["tiles"] = np.array(tiles, dtype=np.uint8)
        if tiles not in tables:
            continue
        table = tables[tiles]
        group.attrs["counts"] = np.asarray(table.counts, dtype=np.int64)
        group.attrs["maximum"] = len(table.counts) - 1
        group.attrs["seconds"] = float(table.seconds)
        group.attrs["threads"] = int(table.threads)
        group.attrs["sha256"] = _sha256(table.values)
        if spec.encoding == "bits":
            group.create_dataset("first_block", data=table.first_block, dtype="<u4")
        yield reserve(group, "table", table.values)


def _drawn(spec: Spec) -> np.ndarray:
    """[partition, row, column] -> the number of the pattern, within its partition, that has its home there."""
    drawn = np.zeros((len(spec.partitions), spec.grid.cells), dtype=np.uint8)  # 0 for the blank
    for row, partition in zip(drawn, spec.partitions, strict=True):
        for number, tiles in enumerate(partition, start=1):
            row[[spec.grid.home(tile, spec.blank) for tile in tiles]] = number
    return drawn.reshape(-1, spec.grid.rows, spec.grid.cols)


def _sha256(array: np.ndarray) -> str:
    digest = hashlib.sha256()
    for piece in pieces(array):
        digest.update(piece)
    return digest.hexdigest()


def table_bytes(index: Index, encoding: str) -> int:
    """The size of a table in the file, without its block numbers."""
    if encoding == "bits":
        return index.blocks * block_bytes(index.size)
    return index.footprints * index.arrangements


def tables_bytes(spec: Spec) -> int:
    """The size of all tables of a database."""
    return sum(table_bytes(index_of(spec.grid, len(tiles)), spec.encoding) for tiles in spec.patterns)


# ---- reading ------------------------------------------------------------------------------------


def open_database(path: str | os.PathLike) -> Database:
    """Map a database read-only, after checking everything but the entries of its tables.

    Raises a ``DatabaseError`` that says what is wrong with the file.
    """
    database = read_database(Path(path))
    if len(database.tables) < len(database.spec.patterns):
        raise KIND.damaged(database.path, "it lacks the tables of some of its patterns")
    return database


def read_database(path: Path) -> Database:
    """Like ``open_database``, but tables may be missing, as in the files of an unfinished build."""
    try:
        return open_sealed(path, KIND, _read_structure)
    except FileNotFoundError:
        raise MissingDatabase(f"there is no database {path}: 'pdb-builder list' shows which can be built") from None
    except OSError as error:
        raise DatabaseError(f"cannot read {path}: {error.strerror or error}: choose another file") from error


def _read_structure(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> Database:
    """The database in a file, after checking that all its parts fit together."""
    attributes = dict(root.attrs)
    require(attributes["format"] == FORMAT, "format")
    several = bool(attributes["format_version"] > 1)
    rows, cols = (int(attribute(root, name, np.int64)) for name in ("rows", "cols"))
    grid = Grid(rows, cols, bool(attribute(root, "wrap", np.bool_)))
    goal = tuple(attribute(root, "goal", np.uint8, dimensions=1).tolist())
    blank = goal.index(0)
    require(goal == grid.goal(blank), "goal")
    built = {key: attributes[f"built_{key}"] for key in BUILT}
    require(all(isinstance(value, str) and value.isprintable() for value in built.values()), "built")
    groups = [root[f"pattern_{number}"] for number in range(1, len(root) - several + 1)]
    patterns = tuple(tuple(attribute(group, "tiles", np.uint8, dimensions=1).tolist()) for group in groups)
    partitions = _read_partitions(root, file.memory, goal) if several else (patterns,)
    spec = Spec(grid, partitions, blank, str(attributes["encoding"]))
    require(spec.partitions == partitions and (len(partitions) > 1) == several, "partitions")
    require(spec.patterns == patterns, "tiles")
    tables = tuple(
        _read_table(spec, tiles, group, file.memory)
        for tiles, group in zip(patterns, groups, strict=True)
        if "table" in group
    )
    require([(table.offset, table.values.nbytes) for table in tables] == regions, "the label")
    for number, table in enumerate(tables, start=1):
        if not table.probe():
            raise KIND.damaged(file.path, f"table {number} is not the one of its tiles and goal")
    return Database(spec, tables, built, file, seal)


def _read_partitions(root: h5py.File, memory: np.memmap, goal: tuple[int, ...]) -> Collection:
    """The partitions that are drawn on the goal."""
    dataset = root["partitions"]
    _, drawn = mapped(memory, dataset, np.uint8)
    require(drawn.ndim == 3 and drawn.shape[1:] == (root.attrs["rows"], root.attrs["cols"]), "partitions")
    require(len(drawn) <= MAX_PARTITIONS, "partitions")
    partitions = []
    for numbers in drawn.reshape(len(drawn), -1).tolist():
        require(numbers[goal.index(0)] == 0, "partitions")
        of_tile = dict(zip(goal, numbers, strict=True))
        tiles = range(1, len(goal))
        partitions.append(
            tuple(
                tuple(tile for tile in tiles if of_tile[tile] == number)
                for number in range(1, max(of_tile.values()) + 1)
            )
        )
    return tuple(partitions)


def _read_table(spec: Spec, tiles: tuple[int, ...], group: h5py.Group, memory: np.memmap) -> Table:
    """The table of one pattern, after checking that it fits."""
    size, footprints = len(tiles), math.comb(spec.grid.cells, len(tiles))
    offset, values = mapped(memory, group["table"], np.uint8)
    first_block = None
    if spec.encoding == "bits":
        _, first_block = mapped(memory, group["first_block"], np.uint32)
        require(first_block.shape == (footprints + 1,) and first_block[0] == 0, "first_block")
        require(bool((first_block[1:] > first_block[:-1]).all()), "first_block")
        blocks = int(first_block[-1])
        require(values.shape == (blocks, block_bytes(size)), "table shape")
        most = blocks * math.factorial(size)
    else:
        require(values.shape == (footprints, math.factorial(size)), "table shape")
        most = values.size
    counts = attribute(group, "counts", np.int64, dimensions=1)
    require(len(counts) > 0 and counts.min() >= 0 < counts[-1] and sum(counts.tolist()) <= most, "counts")
    require(attribute(group, "maximum", np.int64) == len(counts) - 1, "maximum")
    seconds, threads = attribute(group, "seconds", np.float64), attribute(group, "threads", np.int64)
    require(math.isfinite(seconds) and seconds >= 0 and threads >= 1, "seconds and threads")
    sha256 = group.attrs["sha256"]
    require(isinstance(sha256, str), "sha256")
    facts = (counts, float(seconds), int(threads), sha256, offset, values, first_block)
    return Table(spec.grid, spec.blank, spec.encoding, tiles, *facts)


def check_tables(database: Database, progress: Callable[[float], object] = lambda share: None) -> None:
    """Compare every table with its SHA-256, which reads the whole file; raises a ``DatabaseError``.

    ``progress`` is called with the share of the bytes that were read.
    """
    total = sum(table.values.nbytes for table in database.tables)
    done = 0
    for number, table in enumerate(database.tables, start=1):
        digest = hashlib.sha256()
        end = table.offset + table.values.nbytes
        for at in range(table.offset, end, READ_AT_ONCE):
            # Read, not taken from the mapped memory: there the end of a truncated file is a bus error.
            try:
                chunk = os.pread(database.file.handle, min(READ_AT_ONCE, end - at), at)
            except OSError as error:
                raise DatabaseError(f"cannot read {database.path}: {error.strerror or error}: build it again") from None
            digest.update(chunk)
            done += len(chunk)
            progress(done / total)
        database.file.check_unchanged()
        if digest.hexdigest() != table.sha256:
            raise KIND.damaged(database.path, f"table {number} does not match its SHA-256")
