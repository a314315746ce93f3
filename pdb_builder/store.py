"""The database file: one partition in HDF5, mapped into memory, trusted only when it is whole.

The layout is described in docs/format.md. In short: the first page is a plain-text *label*; after
it comes an ordinary HDF5 file with a group for every pattern, and in the group the table, one
contiguous page-aligned dataset. A reader asks HDF5 where the tables lie and maps them; the tables
are never read through, and processes that map the same file share its pages.

What makes a file trustworthy:

- It is written under another name, flushed to the disk and renamed. A reader sees all or nothing.
- The label holds the file's size, where its tables lie, and a *seal*, the SHA-256 of every byte after
  the label that is not table data. Opening checks them in milliseconds, before anything else looks
  at the file. The tables' own SHA-256 are among what is sealed; ``check_tables`` compares them.
- Opening probes each table: the goal must have distance 0, a neighbour of it 1, and a walk downhill
  from a scrambled board must arrive. A table that belongs to other tiles or another goal fails.

Proving every entry right is the business of ``verify``.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import h5py
import numpy as np

from .base.errors import (
    DamagedDatabase,
    DatabaseError,
    MissingDatabase,
    NewerFormat,
    NotADatabase,
    WriteError,
)
from .database import Database, Table
from .encoding import block_bytes
from .grid import Grid
from .pattern import Spec

FORMAT = "slidepdb"
FORMAT_VERSION = 1
PAGE = 4096
BUILT = ("by", "at", "command", "machine")  # what is recorded of how a database was built


# ---- tables in memory ---------------------------------------------------------------------------


# ---- writing ------------------------------------------------------------------------------------


Region = tuple[int, int]  # where a table lies in the file: offset and length


def _label(size: int, regions: Sequence[Region], seal: str) -> bytes:
    """The first page of a file: readable with ``head``."""
    lines = [
        f"{FORMAT} pattern database, format {FORMAT_VERSION}. After this page: HDF5, for any HDF5 tool.",
        f"size {size}",
        f"seal {seal}",
        *(f"table {offset} {length}" for offset, length in regions),
    ]
    return "\n".join(lines).encode().ljust(PAGE, b"\n")


def _sha256(array: np.ndarray) -> str:
    return hashlib.sha256(memoryview(np.ascontiguousarray(array)).cast("B")).hexdigest()


def _seal(file, size: int, regions: Sequence[Region]) -> str:
    """The SHA-256 of what lies after the label and outside the tables."""
    digest = hashlib.sha256()
    at = PAGE
    for start, length in [*sorted(regions), (size, 0)]:
        file.seek(at)
        while at < start:
            chunk = file.read(min(1 << 20, start - at))
            if not chunk:
                break
            digest.update(chunk)
            at += len(chunk)
        at = start + length
    return digest.hexdigest()


class _SparseFile(io.RawIOBase):
    """A file in memory that takes no room where nothing was written."""

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}
        self.at = self.size = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.at, os.SEEK_END: self.size}[whence]
        return self.at

    def truncate(self, size: int | None = None) -> int:
        self.size = self.at if size is None else size
        return self.size

    def _pieces(self, length: int) -> Iterator[tuple[int, int, int]]:
        """The stretch from here on as (page, first byte, last byte)."""
        end = self.at + length
        while self.at < end:
            page, first = divmod(self.at, PAGE)
            last = min(PAGE, first + end - self.at)
            self.at += last - first
            yield page, first, last

    def write(self, data) -> int:
        data = memoryview(data).cast("B")
        done = 0
        for page, first, last in self._pieces(len(data)):
            self.pages.setdefault(page, bytearray(PAGE))[first:last] = data[done : done + last - first]
            done += last - first
        self.size = max(self.size, self.at)
        return done

    def readinto(self, buffer) -> int:
        buffer = memoryview(buffer).cast("B")
        done, empty = 0, bytes(PAGE)
        for page, first, last in self._pieces(max(0, min(len(buffer), self.size - self.at))):
            buffer[done : done + last - first] = self.pages.get(page, empty)[first:last]
            done += last - first
        return done


def write_database(
    path: Path, spec: Spec, tables: Iterable, built: Mapping[str, object], folder: Path | None = None
) -> None:
    """Write a file of some or all tables of ``spec`` so that it appears under ``path`` whole or not at all.

    A table is anything with the attributes ``tiles values first_block counts seconds threads``. The
    file grows in ``folder``, which must be on the same disk; by default the folder of ``path``.
    """
    temporary = (folder or path.parent) / (path.name + ".tmp")
    try:
        _write_file(temporary, spec, list(tables), built)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise WriteError(
                f"cannot write {path}: {error.strerror or error}: make room or choose another folder"
            ) from error
        raise


def _write_file(path: Path, spec: Spec, tables: list, built: Mapping[str, object]) -> None:
    # HDF5 makes the structure in memory, with gaps for the tables: so a full disk is met in a plain
    # write of ours, not inside the library, which does not survive it.
    structure = _SparseFile()
    with h5py.File(
        structure, "w", libver=("v110", "v110"), userblock_size=PAGE, alignment_threshold=1, alignment_interval=PAGE
    ) as root:
        offsets = _write_structure(root, spec, tables, built)
    regions = [(offset, values.nbytes) for offset, values in offsets]
    seal = _seal(structure, structure.size, regions)
    with open(path, "wb", buffering=0) as file:
        file.truncate(structure.size)
        for page, content in structure.pages.items():
            file.seek(page * PAGE)
            _write_all(file, memoryview(content)[: structure.size - page * PAGE])
        for offset, values in offsets:
            file.seek(offset)
            data = memoryview(np.ascontiguousarray(values)).cast("B")
            for at in range(0, len(data), 1 << 24):
                _write_all(file, data[at : at + (1 << 24)])
        file.seek(0)
        _write_all(file, _label(structure.size, regions, seal))
        os.fsync(file.fileno())


def _write_structure(
    root: h5py.File, spec: Spec, tables: list, built: Mapping[str, object]
) -> list[tuple[int, np.ndarray]]:
    """Everything but the contents of the tables; returns where those belong."""
    offsets = []
    grid = spec.grid
    root.attrs["format"] = FORMAT
    root.attrs["format_version"] = FORMAT_VERSION
    root.attrs["rows"] = grid.rows
    root.attrs["cols"] = grid.cols
    root.attrs["wrap"] = grid.wrap
    root.attrs["goal"] = np.array(grid.goal(spec.blank), dtype=np.uint8)
    root.attrs["encoding"] = spec.encoding
    for key in BUILT:
        root.attrs[f"built_{key}"] = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(built[key]))
    for number, tiles in enumerate(spec.partition, start=1):
        group = root.create_group(f"pattern_{number}")
        group.attrs["tiles"] = np.array(tiles, dtype=np.uint8)
        table = next((table for table in tables if tuple(table.tiles) == tiles), None)
        if table is None:
            continue
        group.attrs["counts"] = np.asarray(table.counts, dtype=np.int64)
        group.attrs["maximum"] = len(table.counts) - 1
        group.attrs["seconds"] = float(table.seconds)
        group.attrs["threads"] = int(table.threads)
        group.attrs["sha256"] = _sha256(table.values)
        if spec.encoding == "bits":
            group.create_dataset("first_block", data=table.first_block, dtype="<u4")
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.CONTIGUOUS)
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple(table.values.shape)
        dataset = h5py.h5d.create(group.id, b"table", h5py.h5t.STD_U8LE, space, creation)
        offsets.append((dataset.get_offset(), table.values))
    return offsets


def _write_all(file, data) -> None:
    while data:
        data = data[file.write(data) :]


def _sync_folder(folder: Path) -> None:
    """Make a rename in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:  # some file systems cannot; the file itself is safe
        pass
    finally:
        os.close(handle)


# ---- reading ------------------------------------------------------------------------------------


def open_database(path: str | os.PathLike) -> Database:
    """Map a database read-only, after checking everything but the entries of its tables.

    Raises a ``DatabaseError`` that says what is wrong with the file.
    """
    database = read_database(Path(path))
    if len(database.tables) < len(database.spec.partition):
        raise DamagedDatabase(f"{path} lacks the tables of some of its patterns: delete it and build it again")
    return database


def read_database(path: Path) -> Database:
    """Like ``open_database``, but tables may be missing, as in the files of an unfinished build."""
    try:
        if path.exists() and not path.is_file():
            raise NotADatabase(f"{path} is not a file: name one that ends in .h5")
        with open(path, "rb") as file:
            # HDF5 sees a file only once it is known to be what was written: it may crash on others.
            regions, seal = _read_label(path, file)
            if _seal(file, os.fstat(file.fileno()).st_size, regions) != seal:
                raise _damaged(path, "its contents do not match its seal")
            try:
                with h5py.File(file, "r") as root:
                    database = _read_structure(path, file, root, regions)
                faulty = [number for number, table in enumerate(database.tables, start=1) if not table.probe()]
            except Exception as error:  # whatever HDF5, numpy or a check makes of a forgery
                raise _damaged(path, f"its parts do not fit together ({_first_line(error)})") from error
    except FileNotFoundError:
        raise MissingDatabase(f"there is no database {path}: 'pdb-builder list' shows which can be built") from None
    except OSError as error:
        raise DatabaseError(f"cannot read {path}: {error.strerror or error}") from error
    if faulty:
        raise _damaged(path, f"table {faulty[0]} is not that of its tiles and goal")
    return database


def _damaged(path: Path, fact: str) -> DamagedDatabase:
    return DamagedDatabase(f"{path} is damaged: {fact}: delete it and build it again")


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def _read_label(path: Path, file) -> tuple[list[Region], str]:
    """Where the tables lie and the seal, once the label is what this version writes."""
    page = file.read(PAGE)
    lines = page.decode("ascii", "replace").rstrip("\n").split("\n")
    if not lines[0].startswith(f"{FORMAT} pattern database, format "):
        kind = "an HDF5 file, but not one of ours" if page[:4] == b"\x89HDF" else "something else"
        if lines[0].startswith(f"{FORMAT} walking distance, "):
            kind = "a table of walking distances, which the solver builds and checks itself"
        raise NotADatabase(f"{path} is not a pattern database ({kind}): build one with 'pdb-builder build'")
    version = lines[0].removeprefix(f"{FORMAT} pattern database, format ").split(".")[0]
    if version.isdigit() and int(version) > FORMAT_VERSION:
        raise NewerFormat(
            f"{path} has format {version}, this version reads up to {FORMAT_VERSION}: "
            "update slidepdb, or build the database again"
        )
    size = os.fstat(file.fileno()).st_size
    try:
        stated = int(lines[1].removeprefix("size "))
        seal = lines[2].removeprefix("seal ")
        regions = [(int(offset), int(length)) for _, offset, length in (line.split(" ") for line in lines[3:])]
    except (ValueError, IndexError):
        raise _damaged(path, "its label was changed") from None
    if stated != size:
        raise _damaged(path, f"it has {size:,} bytes instead of {stated:,}")
    inside = all(offset >= PAGE and length >= 0 and offset + length <= size for offset, length in regions)
    if not inside or page != _label(size, regions, seal):
        raise _damaged(path, "its label was changed")
    return regions, seal


def _read_structure(path: Path, file, root: h5py.File, regions: list[Region]) -> Database:
    """The database in a file, after checking that all its parts fit together."""
    attributes = dict(root.attrs)
    _require(attributes["format"] == FORMAT and attributes["format_version"] == FORMAT_VERSION, "format")
    rows, cols, wrap = (
        _attribute(root, *wanted) for wanted in (("rows", np.int64), ("cols", np.int64), ("wrap", np.bool_))
    )
    grid = Grid(int(rows), int(cols), bool(wrap))
    goal = tuple(_attribute(root, "goal", np.uint8, dimensions=1).tolist())
    blank = goal.index(0)
    _require(goal == grid.goal(blank), "goal")
    built = {key: attributes[f"built_{key}"] for key in BUILT}
    _require(all(isinstance(value, str) and value.isprintable() for value in built.values()), "built")
    groups = [root[f"pattern_{number}"] for number in range(1, len(root) + 1)]
    partition = tuple(tuple(_attribute(group, "tiles", np.uint8, dimensions=1).tolist()) for group in groups)
    spec = Spec(grid, partition, blank, str(attributes["encoding"]))
    _require(spec.partition == partition, "tiles")
    memory = np.memmap(file, np.uint8, "r")
    tables, found = [], []
    for tiles, group in zip(partition, groups, strict=True):
        if "table" not in group:
            continue
        size = len(tiles)
        footprints = math.comb(grid.cells, size)
        offset, values = _part(memory, group["table"], np.uint8)
        found.append((offset, values.nbytes))
        first_block = None
        if spec.encoding == "bits":
            _, first_block = _part(memory, group["first_block"], np.uint32)
            _require(first_block.shape == (footprints + 1,) and first_block[0] == 0, "first_block")
            _require((first_block[1:] > first_block[:-1]).all(), "first_block")
            blocks = int(first_block[-1])
            _require(values.shape == (blocks, block_bytes(size)), "table shape")
            most = blocks * math.factorial(size)
        else:
            _require(values.shape == (footprints, math.factorial(size)), "table shape")
            most = values.size
        counts = _attribute(group, "counts", np.int64, dimensions=1)
        _require(len(counts) > 0 and counts.min() >= 0 < counts[-1] and sum(counts.tolist()) <= most, "counts")
        _require(_attribute(group, "maximum", np.int64) == len(counts) - 1, "maximum")
        seconds, threads = _attribute(group, "seconds", np.float64), _attribute(group, "threads", np.int64)
        _require(math.isfinite(seconds) and seconds >= 0 and threads >= 1, "seconds and threads")
        sha256 = group.attrs["sha256"]
        _require(isinstance(sha256, str), "sha256")
        facts = (counts, float(seconds), int(threads), sha256, offset, values, first_block)
        tables.append(Table(grid, blank, spec.encoding, tiles, *facts))
    _require(found == regions, "the label")
    return Database(path, spec, tuple(tables), built, memory)


def _require(fact: bool, what: str) -> None:
    if not fact:
        raise ValueError(f"{what} does not fit")


def _attribute(holder, name: str, dtype: type, dimensions: int = 0):
    """An attribute, which must be of the documented type."""
    value = np.asarray(holder.attrs[name])
    _require(value.dtype == dtype and value.ndim == dimensions, name)
    return value if dimensions else value[()]


def _part(memory: np.memmap, dataset: h5py.Dataset, dtype: type) -> tuple[int, np.ndarray]:
    """Where a dataset begins, and the dataset as a part of the mapped file."""
    offset = dataset.id.get_offset()
    _require(offset is not None and dataset.nbytes == dataset.id.get_storage_size(), f"the layout of {dataset.name}")
    _require(dataset.dtype == np.dtype(dtype).newbyteorder("<"), f"the type of {dataset.name}")
    part = memory[offset : offset + dataset.nbytes]
    return offset, np.asarray(part).view(dtype).reshape(dataset.shape)


def check_tables(database: Database) -> None:
    """Compare every table with its SHA-256; raises ``DamagedDatabase``. Reads the whole file."""
    for number, table in enumerate(database.tables, start=1):
        if _sha256(table.values) != table.sha256:
            raise _damaged(database.path, f"table {number} does not match its SHA-256")
