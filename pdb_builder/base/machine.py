"""What the machine offers: memory, cores, threads."""

from __future__ import annotations

import os
import platform
import resource


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
