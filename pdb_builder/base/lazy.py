"""Names that are imported on first use.

Those of a package, so that ``import solver`` takes milliseconds, and the command lines print their help without waiting
for numba. And those that draw a value or put it into words: whoever searches does not load them, and since they are not
among what kernels are compiled from, a picture can be changed and nothing is compiled again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose public names are defined in the given modules."""

    def get(name: str) -> object:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    def listed() -> list[str]:
        return [*vars(sys.modules[package]), *homes]

    return get, listed


def later(home: str, name: str) -> Callable[..., Any]:
    """The function of this name, whose module is imported when it is first called."""

    def call(*values: object, **options: object) -> Any:
        return getattr(import_module(home), name)(*values, **options)

    return call
