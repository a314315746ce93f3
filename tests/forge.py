"""Making bad files: a database with something changed, sealed again as if nothing had happened."""

import hashlib
import shutil

import h5py
import numpy as np

from pdb_builder.store import PAGE, _label, _seal


def forged(path, target, change):
    """Copy a database, let ``change(root)`` alter it, then repair every checksum and the seal."""
    shutil.copy(path, target)
    with h5py.File(target, "r+") as root:
        change(root)
        regions = []
        for group in root.values():
            table = group["table"]
            group.attrs["sha256"] = hashlib.sha256(np.ascontiguousarray(table[...]).tobytes()).hexdigest()
            regions.append((table.id.get_offset(), table.nbytes))
    reseal(target, regions)
    return target


def reseal(path, regions):
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        label = _label(size, regions, _seal(file, size, regions))
        file.seek(0)
        file.write(label)
    assert len(label) == PAGE


def table_bits(table, arrangements):
    """A ``bits`` table as a matrix of 0 and 1, blocks x arrangements."""
    return np.unpackbits(table[...], axis=1, bitorder="little")[:, :arrangements]


def set_table_bits(table, bits):
    table[...] = np.packbits(bits, axis=1, bitorder="little")
