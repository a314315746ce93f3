"""Partitions of high value: exact covers of all tiles by patterns, found by a beam.

A partition is an exact cover of the tiles by patterns, and its value the sum of theirs. There are far too many to list.
So partial covers grow by one pattern at a time, always one that has the lowest tile that is missing: in this way each
cover arises once. Of all partial covers with the same number of patterns only the best few go on.

What makes them comparable, though they cover different tiles: no tile is worth more than its share in the best pattern
that has it. What a pattern falls short of the shares of its tiles is its *loss*. All covers are worth the same shares
less their losses, so a partial cover is as good as its loss so far is small.
"""

from __future__ import annotations

import numpy as np

Cover = tuple[int, ...]  # numbers of patterns


def best_covers(masks: np.ndarray, values: np.ndarray, usable: np.ndarray, tiles: int, width: int) -> list[Cover]:
    """Up to ``width`` exact covers of the tiles 1 ... ``tiles`` by ``usable`` patterns, those of high value first.

    ``masks`` are the sets of tiles of all patterns, ``usable`` the numbers of those that may be used. With a width
    that no step exceeds, these are all covers.
    """
    having = []  # the usable patterns that have tile 1, 2, ...
    shares = values[usable] / np.bitwise_count(masks[usable])
    loss = -values.astype(np.float64)
    for tile in range(1, tiles + 1):
        has_tile = (masks[usable] >> np.uint64(tile)) & np.uint64(1) == 1
        if not has_tile.any():
            return []
        having.append(usable[has_tile])
        loss[usable[has_tile]] += shares[has_tile].max()
    everything = (1 << (tiles + 1)) - 2
    found: list[tuple[float, Cover]] = []
    partial: list[tuple[int, float, Cover]] = [(0, 0.0, ())]  # the tiles covered, the loss, the patterns
    while partial:
        losses, parents, added = [], [], []
        for parent, (covered, lost, _) in enumerate(partial):
            missing = everything & ~covered
            numbers = having[(missing & -missing).bit_length() - 2]
            numbers = numbers[masks[numbers] & np.uint64(covered) == 0]
            losses.append(lost + loss[numbers])
            parents.append(np.full(len(numbers), parent))
            added.append(numbers)
        all_losses, all_parents, all_added = (np.concatenate(parts) for parts in (losses, parents, added))
        best = np.argsort(all_losses, kind="stable")[:width]
        longer = []
        for lost, parent, number in zip(all_losses[best], all_parents[best], all_added[best], strict=True):
            covered = partial[parent][0] | int(masks[number])
            cover = (*partial[parent][2], int(number))
            if covered == everything:
                found.append((float(lost), cover))
            else:
                longer.append((covered, float(lost), cover))
        partial = longer
    return [cover for _, cover in sorted(found)[:width]]
