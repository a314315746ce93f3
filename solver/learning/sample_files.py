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
from pdb_builder.base.sealed import Kind, Region, mapped, open_sealed, require, write_sealed
from pdb_builder.grid import Grid

from .samples import RIVALS, Samples

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


def read_samples(path: Path, grid: Grid, of: str) -> Samples | None:
    """The samples in a file, or None if it has no usable ones of just that."""

    def read(root: h5py.File, file: MappedFile, regions: list[Region], seal: str) -> Samples:
        require(root.attrs["of"] == of and not regions, "what they are of")
        groups = root["groups"][...]
        require(groups.dtype == np.uint8 and groups.shape[1:] == (1 + RIVALS, grid.cells), "groups")
        require(bool((np.sort(groups, axis=2) == np.arange(grid.cells)).all()), "groups")
        lags = root["lags"][...]
        require(lags.dtype == np.int64 and lags.shape == groups.shape[:1], "lags")
        lengths, counts = (mapped(file.memory, root[name], np.int64)[1].copy() for name in ("lengths", "counts"))
        require(lengths.shape == counts.shape and counts.min() >= 0 and counts.sum() == len(groups), "counts")
        return Samples(groups, lags, lengths, counts)

    try:
        return open_sealed(path, KIND, read)
    except (DatabaseError, OSError):
        return None
