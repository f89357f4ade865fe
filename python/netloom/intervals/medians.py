"""The 95 % interval of a median, by order statistics.

Source: J.-Y. Le Boudec, *Performance evaluation of computer and communication systems*, EPFL Press 2010,
theorem 2.1. It holds for every distribution, and for independent values only.
"""

from __future__ import annotations

import math

from netloom.intervals.level import LEVEL, NORMAL

_EXACT = 1000
"""Above so many values the binomial distribution is taken as normal."""


def median_ranks(count: int) -> tuple[int, int] | None:
    """Which values, in order and counted from 1, bound the median of independent draws.

    Parameters
    ----------
    count : int
        How many values there are.

    Returns
    -------
    tuple of int, or None
        The narrowest such pair that lies evenly; None below 6 values, of which no two are enough.

    Examples
    --------
    >>> median_ranks(10)
    (2, 9)
    """
    tail = (1 - LEVEL) / 2
    if count > _EXACT:
        half = NORMAL * math.sqrt(count) / 2
        return math.floor(count / 2 - half), math.ceil(count / 2 + half) + 1
    # The most values below which the median lies with a probability of at most `tail`.
    low, below = 0, 0.0
    while True:
        below += _chance(count, low)
        if below > tail:
            break
        low += 1
    return (low, count + 1 - low) if low > 0 else None


def _chance(count: int, of: int) -> float:
    """That of `count` fair coins `of` fall on one side, without overflow."""
    log = math.lgamma(count + 1) - math.lgamma(of + 1) - math.lgamma(count - of + 1)
    return math.exp(log - count * math.log(2))
