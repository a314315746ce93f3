"""Bad files: a database, or another sealed file, with something changed and then sealed again."""

import hashlib
import shutil

import h5py
import numpy as np

from pdb_builder.base.sealed import PAGE, label, seal_of
from pdb_builder.store import KIND


def forged(path, target, change):
    """Copy a database, let ``change(root)`` alter it, then repair every checksum and the seal."""
    shutil.copy(path, target)
    with h5py.File(target, "r+") as root:
        change(root)
        regions = []
        for number in range(1, len(root) - ("partitions" in root) + 1):
            group = root[f"pattern_{number}"]
            table = group["table"]
            group.attrs["sha256"] = hashlib.sha256(np.ascontiguousarray(table[...]).tobytes()).hexdigest()
            regions.append((table.id.get_offset(), table.nbytes))
    reseal(target, regions)
    return target


def reseal(path, regions=(), kind=KIND):
    """Give a file the label that fits its contents, with the version it has now."""
    version = int(path.read_bytes()[:PAGE].split(b"format ")[1].split(b".")[0])
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        page = label(kind, version, size, regions, seal_of(file, size, regions))
        file.seek(0)
        file.write(page)
    assert len(page) == PAGE


def table_bits(table, arrangements):
    """A ``bits`` table as a matrix of 0 and 1, blocks x arrangements."""
    return np.unpackbits(table[...], axis=1, bitorder="little")[:, :arrangements]


def set_table_bits(table, bits):
    table[...] = np.packbits(bits, axis=1, bitorder="little")
