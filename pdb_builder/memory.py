"""Estimates of memory: what building and verifying tables takes at its peak, and the refusal of what does not fit.

A build that runs out of memory is killed, or slows the whole machine down, after minutes of work. So the need is worked
out beforehand. The estimates are of the large arrays, plus what the interpreter, its libraries and the compiler take.

``require_memory`` is the refusal, the same for building, verifying and counting boards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import comb, factorial

import numpy as np

from .base.errors import InputError
from .base.machine import available_memory, readable_size
from .base.wording import counted
from .base.workers import check_threads
from .database import Database, Table
from .encoding import block_bytes, check_encoding
from .grid import Grid
from .index import index_of
from .pattern import (
    MAX_TILES,
    Collection,
    Partition,
    Spec,
    automatic_partition,
    check_pattern_board,
    collections_for,
)
from .sparse import is_sparse, sparse_memory
from .store import tables_bytes

PROCESS = 200_000_000  # bytes of the interpreter, its libraries, the compiler


def require_memory(task: str, needed: int, remedy: str, *, max_memory: int | None = None, accuracy: str = "") -> None:
    """Raise ``InputError`` if a task needs more memory than the machine has available, or than ``max_memory``.

    ``accuracy`` qualifies the figure in the message, as ``at least`` does.
    """
    limits = [limit for limit in (available_memory(), max_memory) if limit is not None]
    if limits and needed > min(limits):
        raise InputError(
            f"{task} needs {accuracy}{' ' * bool(accuracy)}{readable_size(needed)} of memory, but only "
            f"{readable_size(min(limits))} can be used: {remedy}"
        )


# ---- building -----------------------------------------------------------------------------------


def build_memory(grid: Grid, size: int, encoding: str | None, threads: int | None = None) -> int:
    """The bytes of memory that building a table of ``size`` tiles takes at its peak.

    Encoding None stands for ``count_levels``, which keeps no table.
    """
    index = index_of(grid, size)
    first_blocks = 8 * (index.footprints + 1)
    if encoding == "bits" and is_sparse(index):
        return sparse_memory(index) + first_blocks + PROCESS
    bit_maps = index.blocks * block_bytes(size) * _bit_map_count(grid)
    remaining = np.min_scalar_type(index.arrangements).itemsize
    flags = index.blocks * (remaining + 1 + (not grid.bipartite)) + index.footprints
    numbers = 4 * (index.footprints + 1) + 8 * (index.blocks - index.footprints)  # of first blocks again, and zones
    distances = index.footprints * index.arrangements if encoding == "bytes" else 0
    scratch = check_threads(threads) * 6 * block_bytes(size)  # two blocks as they are stored, two spread
    return bit_maps + flags + first_blocks + numbers + distances + scratch + PROCESS


def least_build_memory(grid: Grid, size: int, encoding: str | None) -> int:
    """A lower bound on ``build_memory`` that takes no time to compute: not even an index is needed."""
    footprints = comb(grid.cells, size)
    distances = footprints * factorial(size) if encoding == "bytes" else 0
    return footprints * block_bytes(size) * _bit_map_count(grid) + distances


def _bit_map_count(grid: Grid) -> int:
    return 2 if grid.bipartite else 3


def check_build_memory(
    grid: Grid,
    sizes: Iterable[int],
    encoding: str,
    max_memory: int | None = None,
    threads: int | None = None,
    force: bool = False,
) -> int:
    """The memory that building patterns of these sizes takes at its peak; raises ``InputError`` if it does not fit.

    It must fit into the available memory and into ``max_memory``, unless ``force`` is set.
    """
    check_pattern_board(grid)
    size = max(sizes)
    task = f"building a pattern of {counted(size, 'tile')} on {grid.a_board}"
    remedy = "use smaller patterns, or build it anyway with `force`"
    if not force:
        least = least_build_memory(grid, size, encoding)
        require_memory(task, least, remedy, max_memory=max_memory, accuracy="at least")
    needed = build_memory(grid, size, encoding, threads)
    if not force:
        require_memory(task, needed, remedy, max_memory=max_memory)
    return needed


def largest_pattern(grid: Grid, encoding: str, max_memory: int) -> int:
    """The largest number of tiles of a pattern that can be built in ``max_memory`` bytes."""
    check_pattern_board(grid)
    largest = 0
    for size in range(1, min(MAX_TILES, grid.cells - 1) + 1):
        if least_build_memory(grid, size, encoding) > max_memory or build_memory(grid, size, encoding) > max_memory:
            break
        largest = size
    if not largest:
        raise InputError(
            f"no table of {grid.a_board} can be built in {readable_size(max_memory)} of memory: raise `max_memory`"
        )
    return largest


def partition_within(grid: Grid, blank: int, encoding: str | None, max_memory: int) -> Partition:
    """The automatic partition with the largest patterns that can be built in ``max_memory`` bytes."""
    grid.check_blank(blank)
    encoding = check_encoding(grid, encoding)
    return automatic_partition(grid, blank, largest_pattern(grid, encoding, max_memory))


def collection_within(grid: Grid, blank: int, encoding: str | None, max_memory: int) -> Collection:
    """The best collection that can be built, and kept in memory, in ``max_memory`` bytes.

    It is the last of the named ones that fits, since they are in ascending order, or else an automatic partition.
    """
    grid.check_blank(blank)
    encoding = check_encoding(grid, encoding)
    largest = largest_pattern(grid, encoding, max_memory)
    for collection in reversed(collections_for(grid, blank, encoding)):
        spec = Spec(grid, collection, blank, encoding)
        if max(map(len, spec.patterns)) <= largest and tables_bytes(spec) <= max_memory:
            return collection
    return (automatic_partition(grid, blank, largest),)


# ---- verifying ----------------------------------------------------------------------------------


def verify_memory(table: Table, packed: bool) -> int:
    """The bytes of memory that the full verification of a table takes at its peak, roughly.

    If it is ``packed``, that is with one bit per state, the table itself should stay in memory as well.
    """
    size = len(table.tiles)
    states = table.values.size * (8 if table.encoding == "bits" else 4)
    maps = 2 * table.values.size if packed else states
    moves = len(table.values) * 100
    arrangements = factorial(size) * size * (4 * size + 2)  # where the moves lead, and the ordinals
    return maps + moves + arrangements + PROCESS


def is_proven_by_bits(table: Table) -> bool:
    """Whether the full verification has to make do with one bit of memory per state."""
    available = available_memory()
    return table.encoding == "bits" and available is not None and verify_memory(table, packed=False) > available


def check_verify_memory(database: Database, packed: Sequence[bool]) -> None:
    """Raise ``InputError`` if the full verification of a database does not fit into the available memory."""
    remedy = "use `quick`, or try anyway with `force`"
    needed = max(map(verify_memory, database.tables, packed))
    require_memory("the full verification", needed, remedy, accuracy="about")


def check_sample_memory(
    database: Database, splits_of: Callable[[int], Sequence[Sequence[Sequence[int]]]], room: int
) -> None:
    """Raise ``InputError`` if searches for single states do not fit into the available memory.

    They keep a byte for each state of all parts that ``splits_of`` makes of a pattern with so many tiles, and their
    hash tables take ``room``.
    """
    needed = 0
    for size in {len(table.tiles) for table in database.tables}:
        parts = [index_of(database.grid, len(part)) for split in splits_of(size) for part in split]
        needed = max(needed, sum(part.states for part in parts) + max(part.blocks for part in parts) * 100)
    remedy = "use `quick`, or try anyway with `force`"
    require_memory("searching for a sample", needed + room + PROCESS, remedy, accuracy="about")
