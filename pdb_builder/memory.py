"""Every estimate of memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, factorial

from .base.errors import InputError
from .base.machine import available_memory, default_threads, readable_size
from .build import block_words
from .encoding import block_bytes, check_encoding
from .grid import Grid
from .index import Index, index_of
from .pattern import MAX_TILES, Partition, automatic_partition, check_pattern_board


def memory_for(grid: Grid, size: int, encoding: str, threads: int | None = None) -> int:
    """The memory that building a table of ``size`` tiles takes."""
    return memory_needed(index_of(grid, size), encoding, threads or default_threads())


def largest_pattern(grid: Grid, encoding: str, budget: int) -> int:
    """The most tiles a pattern can have so that building it stays within ``budget`` bytes of memory."""
    check_pattern_board(grid)
    largest = 0
    for size in range(1, min(MAX_TILES, grid.cells - 1) + 1):
        if least_memory(grid, size, encoding) > budget or memory_for(grid, size, encoding) > budget:
            break
        largest = size
    if not largest:
        raise InputError(
            f"no table of a {grid} board can be built in {readable_size(budget)} of memory: "
            "allow more with --max-memory"
        )
    return largest


def partition_within(grid: Grid, blank: int, encoding: str, budget: int) -> Partition:
    """The automatic partition with the largest patterns that ``budget`` bytes of memory allow."""
    grid.check_blank(blank)
    encoding = check_encoding(grid, encoding)
    return automatic_partition(grid, blank, largest_pattern(grid, encoding, budget))


def check_memory(
    grid: Grid, sizes: Iterable[int], encoding: str, limit: int | None = None, threads: int | None = None
) -> int:
    """The memory that building patterns of these sizes takes at its peak; an ``InputError`` if it is not to be had.

    ``limit`` is the most that may be used, by default what the machine has available.
    """
    check_pattern_board(grid)
    available = available_memory() if limit is None else limit
    size = max(sizes)
    needed, at_least = least_memory(grid, size, encoding), "at least "
    if available is None or needed <= available:
        needed, at_least = memory_for(grid, size, encoding, threads), ""
    if available is not None and needed > available:
        raise InputError(
            f"a pattern of {size} tiles on a {grid} board needs {at_least}{readable_size(needed)} of memory to build "
            f"and {readable_size(available)} can be used: split the pattern, or build it anyway with --force"
        )
    return needed


def table_bytes(index: Index, encoding: str) -> int:
    """The size of a table in the file, without its block numbers."""
    if encoding == "bits":
        return index.blocks * block_bytes(index.size)
    return index.footprints * index.arrangements


def least_memory(grid: Grid, size: int, encoding: str | None) -> int:
    """A lower bound on ``memory_needed`` that costs nothing to compute."""
    footprints = comb(grid.cells, size)
    bytes_table = footprints * factorial(size) if encoding == "bytes" else 0
    return footprints * 4 * block_words(size) * _map_count(grid, encoding) + bytes_table


def memory_needed(index: Index, encoding: str | None, threads: int) -> int:
    """The bytes of memory that building a table takes at its peak; encoding None: that ``count_levels`` takes."""
    maps = index.blocks * 4 * block_words(index.size) * _map_count(index.grid, encoding)
    most_moves = min(index.size, index.grid.cells - index.size) * max(map(len, index.grid.neighbours))
    per_block = index.blocks * (17 + 5 * most_moves) + index.footprints * 9
    distances = index.footprints * index.arrangements if encoding == "bytes" else 0
    scratch = threads * 4 * block_words(index.size)
    return maps + per_block + distances + scratch + 200_000_000  # and the interpreter, its libraries, the compiler


def _map_count(grid: Grid, encoding: str | None) -> int:
    return 2 + (encoding == "bits") + (not grid.bipartite)
