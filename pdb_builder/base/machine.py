"""What the machine offers, in numbers and in words."""

from __future__ import annotations

import os
import platform
import resource
from functools import cache

from .wording import counted


def available_memory() -> int | None:
    """The bytes of memory that can be used, or None if the system does not tell.

    On Linux this is what the kernel can provide without swapping, or the rest of the container's limit if that is
    less; either way, what it keeps of files counts as free. Elsewhere it is the whole memory of the machine.
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
            rest = int(limit.read()) - int(used.read())
        with open("/sys/fs/cgroup/memory.stat") as lines:
            rest += sum(int(line.split()[1]) for line in lines if line.startswith(("active_file ", "inactive_file ")))
        return max(0, min(free, rest))
    except (OSError, ValueError):
        return free


def peak_memory() -> int:
    """The largest number of bytes of memory that this process has used so far."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def default_threads() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def processor() -> str:
    """The model of the processor as the system names it, or the architecture if it does not."""
    try:
        with open("/proc/cpuinfo", errors="replace") as lines:
            models = (line.partition(":")[2].split() for line in lines if line.startswith("model name"))
            model = " ".join(next(models))
    except (OSError, StopIteration):
        model = ""
    return model if model not in ("", "unknown") else platform.machine()


def processor_and_cores() -> str:
    """What times depend on, as recorded beside them: ``AMD EPYC 9B14, 2 cores``."""
    return f"{processor()}, {counted(default_threads(), 'core')}"


def description() -> str:
    """The machine in a few words, as recorded in databases and reports."""
    return f"{platform.machine()}, {counted(default_threads(), 'core')}, Python {platform.python_version()}"


def readable_size(count: int) -> str:
    """A number of bytes as people read it: ``1.52 GB``."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 100 * size else f"{count / size:,.0f} {unit}"
    return f"{count} bytes"
