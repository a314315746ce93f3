"""What the machine offers: memory, cores, threads."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from .grid import InputError

MAX_THREADS = 256


def available_memory() -> int | None:
    """The bytes of memory that are free to use, or None where nobody tells.

    On Linux what the kernel can give without swapping, or the rest of the container's limit if that
    is less; elsewhere all the memory there is.
    """
    try:
        with open("/proc/meminfo") as lines:
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (OSError, ValueError, AttributeError):
            return None
    try:
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as used:
            return max(0, min(free, int(limit.read()) - int(used.read())))
    except (OSError, ValueError):
        return free


def peak_memory() -> int:
    """The most bytes of memory this process has had in use."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def default_threads() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def description() -> str:
    """The machine in a few words."""
    return f"{platform.machine()}, {default_threads()} cores, Python {platform.python_version()}"


def readable_size(count: int) -> str:
    """A number of bytes for people."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 100 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"


class Workers:
    """Threads that share out ranges of numbers; the kernels they run do not hold the interpreter lock."""

    def __init__(self, threads: int):
        if not 1 <= threads <= MAX_THREADS:
            raise InputError(f"{threads} threads cannot be had: take 1 to {MAX_THREADS}")
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exception) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def over(self, ranges: Iterable[tuple[int, int]], function: Callable, *args) -> list:
        """``function(*args, low, high)`` for every range, more ranges than threads so that none idles."""
        tasks = [self._pool.submit(function, *args, low, high) for low, high in ranges]
        try:
            return [task.result() for task in tasks]
        except BaseException:
            for task in tasks:
                task.cancel()
            raise

    def split(self, count: int, least: int = 1) -> list[tuple[int, int]]:
        """0 ... count cut into ranges to share out, none of them smaller than ``least`` if there are several."""
        parts = max(1, min(8 * self.threads, count // least))
        cuts = [count * part // parts for part in range(parts + 1)]
        return [(low, high) for low, high in pairwise(cuts) if low < high]
