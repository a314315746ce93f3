"""Samples on the disk, so that a stopped run of hours need not draw them again.

A file holds the samples of some boards, and says which: those of another run, and files that are damaged, are drawn
again. It is sealed, like all files of ours (``pdb_builder.base.sealed``).
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from pdb_builder.base.errors import DatabaseError
from pdb_builder.base.files import replaced
from pdb_builder.base.mapped_file import MappedFile
from pdb_builder.base.sealed import Kind, Region, open_sealed, require, stored, write_sealed
from pdb_builder.grid import Grid

from ..search.beam import LONGEST
from .samples import LAGS, RIVALS, SOLUTION, Samples

AGAIN = "the samples are drawn again"
KIND = Kind("samples of beams", 2, False, if_foreign=AGAIN, if_newer=AGAIN, if_damaged=AGAIN)


def write_samples(path: Path, samples: Samples, of: str) -> None:
    """Write samples, and what they are of, to a file that appears under ``path`` complete or not at all."""

    def build(root: h5py.File) -> tuple[()]:
        root.attrs["format_version"], root.attrs["of"] = KIND.version, of
        for name, values in samples._asdict().items():
            root.create_dataset(name, data=values)
        return ()  # no regions: the seal covers everything

    with replaced(path) as file:
        write_sealed(file, KIND, build)


def read_samples(path: Path, grid: Grid, of: str, boards: int) -> Samples | None:
    """The samples in a file, or None if it has no usable ones of just that, of so many boards."""

    def read(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> Samples:
        require(root.attrs["of"] == of and not regions, "what they are of")
        groups, lags, lengths, counts = (stored(root, name)[...] for name in Samples._fields)
        require(groups.dtype == np.uint8 and groups.shape[1:] == (1 + RIVALS, grid.cells), "groups")
        require(bool((np.sort(groups, axis=2) == np.arange(grid.cells)).all()), "groups")
        require(lags.dtype == np.int64 and lags.shape == groups.shape[:1], "lags")
        require(set(lags.tolist()) <= {SOLUTION, *LAGS}, "lags")
        for each, most in (lengths, LONGEST * grid.cells), (counts, len(groups)):
            require(each.dtype == np.int64 and each.shape == (boards,), "boards")
            require(bool(((each >= 0) & (each <= most)).all()), "boards")
        require(counts.sum() == len(groups), "counts")
        return Samples(groups, lags, lengths, counts)

    try:
        return open_sealed(path, KIND, read)
    except (DatabaseError, OSError):
        return None
