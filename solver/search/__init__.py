"""The searches by name. Their code, and with it numba, is imported when one is used.

Each is a module with a function ``search(problem, threads, limits, report, every) -> Outcome``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from pdb_builder.grid import InputError
from pdb_builder.machine import available_memory

SEARCHES = {
    "ida-star": "depth first under a rising bound: hardly any memory, all threads",
    "a-star": "best first: fewest boards expanded, all of them in memory, one thread",
}


def default_memory(searches: int = 1) -> int:
    """The bytes that each of some searches may use if nothing is said: half of what is free, shared out."""
    return (available_memory() or 2 * 10**9) // (2 * searches)


def search_named(name: str) -> Callable:
    """The function of a search."""
    if name not in SEARCHES:
        raise InputError(f"there is no search {name[:60]!r}: take {' or '.join(SEARCHES)}")
    return import_module(f".{name.replace('-', '_')}", __name__).search
