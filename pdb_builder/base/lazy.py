"""Names of a package that are imported on first use.

So ``import solver`` takes milliseconds, and the command lines print their help without waiting for numba.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose public names are defined in the given modules."""

    def get(name: str) -> object:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    def listed() -> list[str]:
        return [*vars(sys.modules[package]), *homes]

    return get, listed
