"""Copies of large tables in huge pages: memory whose addresses the processor translates 512 pages at a time.

A search that reads a gigabyte at random waits not only for the bytes but for the translation of their addresses, which
the processor remembers for a few thousand pages. With pages of 2 MB instead of 4 kB that is enough. A mapped file has
small pages; anonymous memory gets huge ones if the program advises it and the system has them to give (Linux calls them
*transparent* huge pages). So the tables are copied. That takes as long as reading the file, and memory that no other
process shares: worth it for searches of minutes.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HUGE_PAGE = 1 << 21
PAGE = 4096
SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def why_no_huge_pages(switch: Path = SWITCH) -> str | None:
    """Why this system does not give huge pages to programs that ask for them; None if it does."""
    try:
        chosen = switch.read_text()
    except OSError:
        return "this system has none"
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return "this Python cannot ask for them"
    if "[never]" in chosen:
        return f"this system has switched them off ({switch} says {chosen.strip()!r})"
    return None


def copied(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Copies of some arrays of bytes, side by side in memory that is to have huge pages."""
    starts = [0]
    for array in arrays:
        starts.append(starts[-1] + -(-array.nbytes // PAGE) * PAGE)
    memory = mmap.mmap(-1, starts[-1] + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, dtype=np.uint8)
    whole = whole[-whole.ctypes.data % HUGE_PAGE :]  # a huge page begins at a multiple of its size
    copies = []
    for start, array in zip(starts, arrays, strict=False):
        copy = whole[start : start + array.nbytes].reshape(array.shape)
        copy[...] = array
        copies.append(copy)
    return copies
