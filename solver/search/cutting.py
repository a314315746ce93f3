"""How the tree of an iteration is cut into bundles of work of about the same size.

A *subtree* is given by the path that leads to it. Cut at one depth, a tree falls into subtrees of very different sizes:
the largest can be fifty times as large as the mean, and whoever gets it keeps all others waiting. But the iteration
before has searched the same tree under a smaller bound, and a subtree that was large then is large now. So the tree is
cut two moves deeper wherever the iteration before generated more boards than its fair share, and again there, and
neighbouring subtrees that are small are tied together into one *bundle*. The bundles are what threads and machines
share, what a journal notes, and what is searched again if it was lost.

The cut follows from counts alone, so it is the same whenever an iteration is repeated. The first iteration that is cut
knows no sizes: it is cut at the first depth that has enough subtrees.

Of the boards above the cut it is known how many were expanded and generated before each path was listed, so that the
counts of a search that ends at a solution are those of one that was never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .automaton import cell_of

FIRST_CUT, DEEPEST_CUT, DEEPER = 6, 60, 2  # depths, and the step from one to the next
NEW = 1 / 16  # of a fair share: a subtree that the iteration before did not have

Sizes = dict[bytes, int]  # the cells of a path -> the boards generated below


class Listed(NamedTuple):
    """The paths that lead from a board to a depth, and the tree in between."""

    paths: np.ndarray  # [path, depth] -> a successor
    counts: np.ndarray  # [path] -> boards expanded and generated in between before the path was listed
    expanded: int
    generated: int
    least: int  # the least sum that exceeded the bound


ListBelow = Callable[[np.ndarray, int], Listed]


class Cut(NamedTuple):
    """A tree in bundles."""

    paths: list[np.ndarray]  # to the subtrees, in the order of the search
    before: list[np.ndarray]  # [path] -> boards expanded and generated above the cut before the path was listed
    above: np.ndarray  # all boards expanded and generated above the cut
    least: int
    bundles: list[range]  # of the numbers of paths
    weights: list[float]  # [bundle] -> how large it is expected to be, if a fair share is 1


def cut_tree(root: np.ndarray, below: ListBelow, bound: int, wanted: int, sizes: Sizes) -> Cut:
    """Cut a tree into about as many bundles as are wanted, or up to twice as many.

    ``below(path, depth)`` lists the paths that go on from a path to a depth. ``sizes`` are those of the iteration
    before, of all paths at which it was cut or could have been.
    """
    deepest = min(bound - 1, DEEPEST_CUT)
    first = min(FIRST_CUT, deepest)
    known = sum(size for path, size in sizes.items() if len(path) == first + 1)
    if not known:
        while len(below(root, first).paths) < wanted and first + DEEPER <= deepest:
            first += DEEPER
    paths: list[np.ndarray] = []
    before: list[np.ndarray] = []
    weights: list[float] = []
    least = [1 << 30]

    def cut(path: np.ndarray, depth: int, weight: float, so_far: np.ndarray) -> np.ndarray:
        """Cut below a path; returns the boards of the tree in between, all of it."""
        listed = below(path, depth)
        least.append(listed.least)
        # If the iteration before was not cut here, all ways are as likely to be large.
        shares = [sizes.get(key_of(way), 0) * wanted / max(known, 1) for way in listed.paths]
        other = NEW if any(shares) else max(NEW, weight / max(1, len(shares)))
        further = np.zeros(2, dtype=np.int64)
        for way, share, counts in zip(listed.paths, shares, listed.counts, strict=True):
            here, share = so_far + further + counts, share or other
            if share > 1 and known and depth + DEEPER <= deepest:
                further += cut(way, depth + DEEPER, share, here)
            else:
                paths.append(way)
                before.append(here)
                weights.append(share)
        return further + np.array([listed.expanded, listed.generated])

    above = cut(root, first, wanted, np.zeros(2, dtype=np.int64))
    bundles = list(_tied(weights))
    return Cut(paths, before, above, min(least), bundles, [sum(weights[one] for one in bundle) for bundle in bundles])


def _tied(weights: list[float]) -> Iterator[range]:
    """Neighbours together, up to a weight of 1."""
    first, total = 0, 0.0
    for number, weight in enumerate(weights):
        if number > first and total + weight > 1:
            yield range(first, number)
            first, total = number, 0.0
        total += weight
    if weights:
        yield range(first, len(weights))


def key_of(path: np.ndarray) -> bytes:
    """A path by its cells, which do not depend on how far the search looks back."""
    return cell_of(path).astype(np.uint8).tobytes()


def sizes_of(paths: list[np.ndarray], sizes: list[int]) -> Sizes:
    """The sizes of subtrees, and of all larger ones that hold them."""
    found: Sizes = {}
    for path, size in zip(paths, sizes, strict=True):
        key = key_of(path)
        for length in range(FIRST_CUT + 1, len(key) + 1, DEEPER):
            found[key[:length]] = found.get(key[:length], 0) + size
    return found
