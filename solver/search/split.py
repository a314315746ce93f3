"""How many boards each side of a search from both ends would visit, and where the two meet best.

For a length C, a side visits more boards the higher its threshold is, and the two thresholds have a sum that is fixed.
How many boards there are up to a threshold is told by a histogram of their sums b (see ``thresholds``). Histograms of
different lengths resemble each other if they are laid over each other by b - C: from one length to the next each
*column* grows by a factor of its own, which changes little. So a few small lengths, searched whole, predict the large
ones, and those that were searched up to a threshold improve the prediction.
"""

from __future__ import annotations

from math import inf

import numpy as np

FEW = 20  # boards of a column whose growth says nothing
GROWTH, LEAST_GROWTH, MOST_GROWTH = 6.0, 1.5, 14.0  # of a column, from one length to the next


class Visits:
    """What is known of the boards that one side visits. Lengths rise by ``step``."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.columns: dict[int, dict[int, int]] = {}  # b - C -> the boards there, by length

    def note(self, length: int, visited: np.ndarray, threshold: float = inf) -> None:
        """Take down the histogram of a length, which has all boards up to a threshold."""
        sums = set(np.flatnonzero(visited).tolist()) | {column + length for column in self.columns}
        for total in sums:
            if total <= threshold:
                count = int(visited[total]) if 0 <= total < visited.size else 0
                self.columns.setdefault(total - length, {})[length] = count

    def predicted(self, length: int, threshold: float = inf) -> float:
        """About how many boards there are up to a threshold."""
        return sum(
            self._in_column(counts, length) for column, counts in self.columns.items() if column + length <= threshold
        )

    def _in_column(self, counts: dict[int, int], length: int) -> float:
        *before, latest = sorted(counts)
        growth = GROWTH
        if before and counts[before[-1]] >= FEW:
            growth = (counts[latest] / counts[before[-1]]) ** (self.step / (latest - before[-1]))
        growth = min(max(growth, LEAST_GROWTH), MOST_GROWTH)
        return counts[latest] * growth ** ((length - latest) / self.step)


def best_thresholds(length: int, least: tuple[int, int], visits: tuple[Visits, Visits]) -> tuple[int, int]:
    """The thresholds of both sides with the fewest boards expected; ``least`` are the sums of their starts."""
    one, other = visits
    together = 2 * length - 1
    choices = range(least[0] - 1, together - least[1] + 2)

    def boards(threshold: int) -> float:
        return one.predicted(length, threshold) + other.predicted(length, together - threshold)

    best = min(choices, key=boards)
    return best, together - best
