"""Sealed files: HDF5 behind a page of plain text, trusted only if complete and unchanged.

The first page of a file is its *label*, readable with ``head``::

    slidepdb pattern database, format 1. After this page: HDF5, for any HDF5 tool.
    size 195798016
    seal fef69b913056fd2907e534c9937edc44846e0c7f8262944076fdf820b0d915dc
    table 86016 17481240
    table 17645568 178148880

After it comes an ordinary HDF5 file (to HDF5 the label is a user block). The lines ``table`` give the offset and the
length of *regions*: datasets that are too large to be read whenever a file is opened. The *seal* is the SHA-256 of
every byte after the label and outside the regions. A file without regions is sealed as a whole. The version of the
format is also the attribute ``format_version`` of the HDF5 root.

*Reading.* HDF5 may crash on a file that was changed, so it sees one only after the label, the size and the seal have
been checked. What it then finds may still be a forgery: whatever goes wrong while the structure is read, the file is
reported as damaged. Datasets are not read through HDF5 but mapped into memory (``mapped_file``).

*Writing.* HDF5 does not survive a full disk, so it never writes to one. It builds the structure in memory, with gaps
for the regions, and every byte reaches the disk by a plain write of ours. ``files.replaced`` provides the file to write
to.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import h5py
import numpy as np

from .errors import DamagedDatabase, DatabaseError, NewerFormat, NotADatabase
from .mapped_file import MappedFile, let_go

PAGE = 4096
READ_AT_ONCE = 1 << 20  # bytes
AT_ONCE = 1 << 24  # bytes of a region

Region = tuple[int, int]  # offset and length
Reserved = tuple[int, np.ndarray]  # a region's offset, and what belongs there
Structure = TypeVar("Structure")


@dataclass(frozen=True)
class Kind:
    """A kind of sealed file, and the remedies to name in errors about files that cannot be used as one."""

    name: str
    version: int  # the latest of its format: earlier ones are read, later ones refused
    aligned: bool  # whether every object begins on a page, so that regions can be mapped by any program
    if_foreign: str
    if_newer: str
    if_damaged: str
    if_unkept: str = ""  # said if a file that is made without being asked for cannot be read or written (``kept``)

    @property
    def title(self) -> str:
        """The words that a label begins with, up to the version."""
        return f"slidepdb {self.name}, format "

    def foreign(self, path: Path, what: str) -> NotADatabase:
        return NotADatabase(f"{path} is not a {self.name} file ({what})", self.if_foreign)

    def newer(self, path: Path, version: int) -> NewerFormat:
        return NewerFormat(f"{path} has format {version}, this version reads up to {self.version}", self.if_newer)

    def damaged(self, path: Path, fact: str) -> DamagedDatabase:
        return DamagedDatabase(f"{path} is damaged: {fact}", self.if_damaged)

    def changed(self, path: Path, fact: str) -> DamagedDatabase:
        return DamagedDatabase(f"{path} was changed while it was in use: {fact}", self.if_damaged)


# ---- the label ----------------------------------------------------------------------------------


def label(kind: Kind, version: int, size: int, regions: Sequence[Region], seal: str) -> bytes:
    """The first page of a file."""
    lines = [
        f"{kind.title}{version}. After this page: HDF5, for any HDF5 tool.",
        f"size {size}",
        f"seal {seal}",
        *(f"table {offset} {length}" for offset, length in regions),
    ]
    return "\n".join(lines).encode().ljust(PAGE, b"\n")


def seal_of(file: BinaryIO | _SparseFile, size: int, regions: Sequence[Region]) -> str:
    """The SHA-256 of every byte of a file after the label and outside the regions."""
    digest = hashlib.sha256()
    at = PAGE
    for start, length in [*sorted(regions), (size, 0)]:
        file.seek(at)
        while at < start:
            chunk = file.read(min(READ_AT_ONCE, start - at))
            if not chunk:
                break
            digest.update(chunk)
            at += len(chunk)
        at = start + length
    return digest.hexdigest()


# ---- writing ------------------------------------------------------------------------------------


def write_sealed(file: BinaryIO, kind: Kind, build: Callable[[h5py.File], Iterable[Reserved]]) -> None:
    """Write a sealed file whose structure ``build`` makes below an HDF5 root, its ``format_version`` included.

    ``build`` gives back what it has reserved, in the order in which the label is to list it.
    """
    alignment = {"alignment_threshold": 1, "alignment_interval": PAGE} if kind.aligned else {}
    structure = _SparseFile()
    with h5py.File(structure, "w", libver=("v110", "v110"), userblock_size=PAGE, **alignment) as root:
        reserved = list(build(root))
        version = int(root.attrs["format_version"])
    regions = [(offset, values.nbytes) for offset, values in reserved]
    file.truncate(structure.size)
    for page, content in structure.pages.items():
        file.seek(page * PAGE)
        file.write(memoryview(content)[: structure.size - page * PAGE])
    for offset, values in reserved:
        file.seek(offset)
        for piece in pieces(values):
            file.write(piece)
    file.seek(0)
    first_page = label(kind, version, structure.size, regions, seal_of(structure, structure.size, regions))
    if len(first_page) != PAGE:
        raise ValueError(f"{len(regions)} regions are too many for the label of one page")
    file.write(first_page)


def pieces(values: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a region, a piece at a time.

    What is mapped from another file need not stay in memory: a collection can be much larger than that.
    """
    data = np.ascontiguousarray(values).data.cast("B")
    for at in range(0, len(data), AT_ONCE):
        yield data[at : at + AT_ONCE]
        let_go(values)


def reserve(group: h5py.Group, name: str, values: np.ndarray) -> Reserved:
    """Create a contiguous dataset of bytes without its contents, which are to be a region."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.CONTIGUOUS)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple(values.shape)
    dataset = h5py.h5d.create(group.id, name.encode(), h5py.h5t.STD_U8LE, space, creation)
    return dataset.get_offset(), values


class _SparseFile(io.RawIOBase):
    """A file in memory that occupies no memory where nothing was written."""

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
        """The next ``length`` bytes, page by page: the page, and the first and the last byte in it."""
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


# ---- reading ------------------------------------------------------------------------------------


def open_sealed(
    path: Path, kind: Kind, read: Callable[[h5py.File, MappedFile, list[Region], str], Structure]
) -> Structure:
    """What ``read`` makes of a file's HDF5 root, of the file mapped into memory, of its regions and its seal.

    Raises ``NotADatabase``, ``NewerFormat`` or ``DamagedDatabase``, and ``OSError`` for a file that cannot be read. An
    error that ``read`` raises becomes ``DamagedDatabase``, unless it is a ``DatabaseError`` itself.
    """
    if path.exists() and not path.is_file():  # reading a pipe may never end
        raise kind.foreign(path, "a folder" if path.is_dir() else "not a regular file")
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        version, regions, seal = _read_label(path, kind, file, status.st_size)
        if seal_of(file, status.st_size, regions) != seal:
            raise kind.damaged(path, "its contents do not match its seal")
        try:
            with h5py.File(file, "r") as root:
                require(attribute(root, "format_version", np.int64) == version, "format_version")
                in_memory = MappedFile(path, file, status, partial(kind.changed, path))
                return read(root, in_memory, regions, seal)
        except DatabaseError:
            raise
        except Exception as error:  # whatever HDF5, numpy or a check makes of a forgery
            raise kind.damaged(path, f"its parts do not fit together ({_first_line(error)})") from error


def _read_label(path: Path, kind: Kind, file: BinaryIO, size: int) -> tuple[int, list[Region], str]:
    """The version of the format, the regions and the seal, if the label is exactly what that version has."""
    page = file.read(PAGE)
    lines = page.decode("ascii", "replace").rstrip("\n").split("\n")
    if not lines[0].startswith(kind.title):
        raise kind.foreign(path, _what(page, lines[0]))
    try:
        version = int(lines[0].removeprefix(kind.title).split(".")[0])
    except ValueError:
        raise kind.damaged(path, "its label was changed") from None
    if version > kind.version:
        raise kind.newer(path, version)
    try:
        stated = int(lines[1].removeprefix("size "))
        seal = lines[2].removeprefix("seal ")
        regions = [(int(offset), int(length)) for _, offset, length in (line.split(" ") for line in lines[3:])]
    except (ValueError, IndexError):
        raise kind.damaged(path, "its label was changed") from None
    if stated != size:
        raise kind.damaged(path, f"it has {size:,} bytes instead of {stated:,}")
    inside = all(offset >= PAGE and length >= 0 and offset + length <= size for offset, length in regions)
    if version < 1 or not inside or page != label(kind, version, size, regions, seal):
        raise kind.damaged(path, "its label was changed")
    return version, regions, seal


def _what(page: bytes, title: str) -> str:
    """What a file of another kind is, as far as its first page tells."""
    if ours := re.match(r"slidepdb ([a-z ]{1,40}), format ", title):
        return f"a {ours[1]} file"
    return "an HDF5 file, but not one of ours" if page[:4] == b"\x89HDF" else "something else"


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


# ---- what readers check -------------------------------------------------------------------------


def require(fact: bool, what: str) -> None:
    """Raise unless a fact about the structure of a file holds."""
    if not fact:
        raise ValueError(f"{what} does not fit")


def attribute(holder: h5py.Group, name: str, dtype: type, dimensions: int = 0):
    """An attribute, which must have the documented type."""
    value = np.asarray(holder.attrs[name])
    require(value.dtype == dtype and value.ndim == dimensions, name)
    return value if dimensions else value[()]


def stored(root: h5py.Group, name: str) -> h5py.Dataset:
    """A dataset that is stored in the file itself, in no larger pieces than it needs.

    HDF5 would as soon fetch it from another file, which no seal protects.
    """
    here = isinstance(root.get(name, getlink=True), h5py.HardLink)
    require(here and isinstance(root[name], h5py.Dataset), f"the link to {name}")
    dataset = root[name]
    require(not dataset.is_virtual and not dataset.external and dataset.maxshape == dataset.shape, f"where {name} is")
    require(dataset.chunks is None or np.prod(dataset.chunks, dtype=object) <= dataset.size, f"the pieces of {name}")
    return dataset


def mapped(memory: np.memmap, dataset: h5py.Dataset, dtype: type) -> Reserved:
    """The offset of a dataset, and the dataset as a part of the mapped file; it must be contiguous."""
    offset = dataset.id.get_offset()
    require(offset is not None and dataset.nbytes == dataset.id.get_storage_size(), f"the layout of {dataset.name}")
    require(dataset.dtype == np.dtype(dtype).newbyteorder("<"), f"the type of {dataset.name}")
    part = memory[offset : offset + dataset.nbytes]
    return offset, np.asarray(part).view(dtype).reshape(dataset.shape)
