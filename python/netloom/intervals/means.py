"""The 95 % interval of a mean, from few or many draws.

**Method.** The bootstrap-t (Efron 1979; Hall, Annals of Statistics 16, 1988): of resamples with replacement,
the difference of their mean from the sample's in units of its own standard error; its quantiles, turned
round, bound the mean. Of positive numbers, the logarithm of the mean is taken: its error is the relative one
(the delta method), and no bound is below 0. Three guards, each measured (docs/methods/intervals.md):

- A resample's error counts as at least a fifth of the sample's: nearly equal values make resamples without
  spread, and bounds without sense.
- The tail that bounds the mean from above is 1 %, below ten draws 0.5 %, not 2.5 %: a sample that lacks its
  distribution's tail has too small a mean and too small an error at once.
- Below ten draws the interval is never within Student's.

**No interval** is given where none would be true or of use: of fewer than five draws, of values that are
equal (all, or more than half), of two-valued ones, below ten draws of three-valued ones, and where a bound
would be beyond ten times the largest value.

**Clusters.** Values that share a draw (seeds of one pattern) count as one draw, their mean.

Invariant: an interval depends on the seed and the values, not on their order.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from netloom.intervals.level import LEVEL, NORMAL
from netloom.intervals.student import student as student_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METHOD = "bootstrap-t"
RESAMPLES = 2000
LEAST = 5
"""Of fewer draws there is no interval."""
FEW = 10
"""Below so many draws, Student's interval is part of it."""
_UPPER_TAIL, _UPPER_TAIL_OF_FEW = 0.01, 0.005
"""Of resamples: what bounds the mean from above."""
_LEAST_ERROR = 0.2
"""Of the sample's standard error: what a resample has at least."""
_MANY = 5000
"""Above so many draws the resamples' quantiles are the normal distribution's."""
_FARTHEST = 10.0
"""Times the largest value: no bound is farther out."""
_AT_ONCE = 2_000_000
"""Drawn numbers that are held at a time."""

Reason = Literal["few", "equal", "two-valued", "three-valued", "too-few", "several", "points"]
WHY: dict[Reason, str] = {
    "few": f"fewer than {LEAST} draws",
    "equal": "all values, or more than half, are equal",
    "two-valued": "there are two values: a share says more than a mean",
    "three-valued": f"there are three values in fewer than {FEW} draws",
    "too-few": f"too few draws: a bound would be beyond {_FARTHEST:.0f} times the largest value",
    "several": "several keys are left out: cluster = [...] says which make a draw",
    "points": "points of sobol depend on each other: the indices have intervals of their own",
}
"""Why there is no interval, in words."""


class Interval(NamedTuple):
    """Where a mean lies, or why that is not told.

    Attributes
    ----------
    low, high : float or None
        Its bounds; None if there is no interval.
    reason : str or None
        Why there is none: a key of `WHY`.
    """

    low: float | None
    high: float | None
    reason: Reason | None


def mean(values: Iterable[float], seed: Sequence[int]) -> Interval:
    """The 95 % interval of a mean of independent draws.

    Parameters
    ----------
    values : iterable of float
        A sample: a value a draw.
    seed : sequence of int
        Of the resamples.

    Returns
    -------
    Interval
        Its bounds, or why there are none.

    Examples
    --------
    >>> mean([3.0, 3.0, 3.0, 3.0, 3.0], [0])
    Interval(low=None, high=None, reason='equal')
    >>> low, high, _ = mean([0.18, 0.22, 0.24, 0.21, 0.26, 0.2], [0])
    >>> 0.18 < low < 0.22 < high < 0.26
    True
    """
    import numpy as np

    sample = np.sort(np.asarray(list(values), dtype=np.float64))
    reason = _reason(sample)
    if reason is not None:
        return Interval(None, None, reason)
    n, middle = len(sample), float(sample.mean())
    error = float(sample.std(ddof=1)) / n**0.5
    positive = float(sample[0]) > 0.0
    scale = middle if positive else 1.0
    below, above = -NORMAL, NORMAL
    if n <= _MANY:
        drawn = _studentised(sample, middle, error, np.random.default_rng([*seed]), positive)
        tails = [_UPPER_TAIL_OF_FEW if n < FEW else _UPPER_TAIL, 1 - (1 - LEVEL) / 2]
        below, above = (float(found) for found in np.quantile(drawn, tails))
    down, up = above * error / scale, -below * error / scale
    if n < FEW:
        student = student_quantile(n - 1) * error / scale
        down, up = max(down, student), max(up, student)
    if positive:
        # exp() of what is beyond any number is infinite.
        low, high = middle * math.exp(-down), middle * math.exp(min(up, 700.0))
    else:
        low, high = middle - down, middle + up
    if max(-low, high) > _FARTHEST * float(np.abs(sample).max()):
        return Interval(None, None, "too-few")
    return Interval(low, high, None)


def _reason(ordered: NDArray[np.float64]) -> Reason | None:
    """Why a sample has no interval; None if it has one."""
    import numpy as np

    if len(ordered) < LEAST:
        return "few"
    # Rounding in a mean of clusters makes no spread.
    apart = np.diff(ordered) > 1e-12 * float(np.abs(ordered).max())
    times = np.bincount(np.concatenate([[0], np.cumsum(apart)]))
    if len(times) == 2:
        return "two-valued"
    if len(times) == 1 or int(times.max()) * 2 > len(ordered):
        return "equal"
    return "three-valued" if len(times) == 3 and len(ordered) < FEW else None


def _studentised(
    sample: NDArray[np.float64], middle: float, error: float, rng: np.random.Generator, positive: bool
) -> NDArray[np.float64]:
    """How far resampled means are from the sample's, in their standard errors."""
    import numpy as np

    n = len(sample)
    found = []
    step = max(1, _AT_ONCE // n)
    for first in range(0, RESAMPLES, step):
        drawn = sample[rng.integers(0, n, (min(step, RESAMPLES - first), n))]
        means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / n**0.5
        if positive:
            found.append(np.log(means / middle) / np.maximum(errors / means, _LEAST_ERROR * error / middle))
        else:
            found.append((means - middle) / np.maximum(errors, _LEAST_ERROR * error))
    return np.concatenate(found)


def cluster_means(values: Sequence[float], clusters: Sequence[Hashable]) -> list[float]:
    """The draws of values of which some share one: a mean a cluster, in order of first appearance.

    Parameters
    ----------
    values : sequence of float
        A sample.
    clusters : sequence
        For each value, which draw it is of.

    Examples
    --------
    >>> cluster_means([1.0, 3.0, 5.0], ["a", "a", "b"])
    [2.0, 5.0]
    """
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    return [math.fsum(some) / len(some) for some in members.values()]
