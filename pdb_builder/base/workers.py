"""Worker threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from .errors import InputError

MAX_THREADS = 256


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
