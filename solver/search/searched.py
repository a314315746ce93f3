"""What searching a part of a tree took and found: a subtree, a bundle of them, or a whole iteration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .automaton import cell_of


class Searched(NamedTuple):
    """What searching took and found. Unless all solutions are wanted, the counts end at the first."""

    expanded: int
    generated: int
    least: int  # the least sum that exceeded the bound
    paths: list[np.ndarray]  # solutions, as successors from the start
    seconds: float = 0.0
    sizes: Sequence[int] = ()  # boards generated in each subtree, up to the one that holds the solution
    visited: dict[str, int] | None = None  # in a meeting: the sum of a board -> how many were visited
    weight: float = 0.0  # what was expected of it beforehand
    shared_by: int = 1  # threads, or workers, that have searched the iteration at the same time

    def as_record(self) -> dict:
        """For a journal, or another machine: solutions are the cells that the blank visits."""
        return self._asdict() | {"paths": [cell_of(path).tolist() for path in self.paths]}
