"""How long the rest of a comparison may take: a range, or nothing.

Search times are heavy-tailed: five of Korf's 100 boards take Manhattan distance as long as the other 95, and of all
triples of boards one in a hundred has a mean that is a hundredth of the true one. So nothing is said until a tenth of a
method's boards are done, and ten of them. From then on there is a range: the mean so far for each board left, give or
take two standard errors, which cover both how little the boards done say about the mean, and how much the sum over the
boards left varies by itself. They multiply and divide, since what a heavy tail gets wrong is the order of magnitude.

Measured with the saved results of 4x4 boards, 2000 orders of 100 boards for each heuristic: after 10 boards the time
really left is outside the range by more than a factor of 4 in at most 6 % of the orders, after 30 in at most 2 %; with
the best databases, never.
"""

from __future__ import annotations

import math
from statistics import fmean, pstdev

from .comparison import Comparison

FEWEST = 10  # searches of each method
SHARE = 0.1  # of the boards
ERRORS = 2  # standard errors in either direction
WIDEST = 25  # the longest time, over the shortest: a wider range tells nothing


def time_left(comparison: Comparison, jobs: int) -> tuple[float, float] | None:
    """The shortest and the longest time, in seconds, that the missing searches may take, ``jobs`` at a time.

    None if too little is known.
    """
    shortest = longest = 0.0
    missing = 0
    for method in comparison.methods:
        known = [cell.seconds for one in comparison.instances.values() if (cell := comparison.cell(one, method))]
        left = len(comparison.instances) - len(known)
        if not left:
            continue
        if len(known) < max(FEWEST, SHARE * len(comparison.instances)):
            return None
        mean = fmean(known)
        spread = pstdev(known) / mean if mean else 0.0
        factor = math.exp(ERRORS * spread * math.sqrt(1 / len(known) + 1 / left))
        most = math.inf if method.settings.time_limit is None else left * method.settings.time_limit
        shortest += min(most, left * mean / factor)
        longest += min(most, left * mean * factor)
        missing += left
    if longest > WIDEST * shortest:
        return None
    at_once = max(1, min(jobs, missing))
    return shortest / at_once, longest / at_once
