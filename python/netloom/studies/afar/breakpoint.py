"""Times of processes against the load of the hottest link on their way: two lines that meet, and where.

    time = level + before * load                                    up to the breakpoint
    time = level + before * breakpoint + behind * (load - breakpoint)  from there on

by least squares over the processes, every breakpoint between two loads tried. Processes of a placement share
links, so their errors are alike: an interval draws whole placements, or where there are fewer than
`intervals.LEAST` of them whole jobs, with replacement, and takes the middle 95 % of what is fitted.
Source: Smith et al., SC 2018, sec. IV-B and figure 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from netloom import intervals

RESAMPLES = 1000
_STEPS = 120
"""Breakpoints that are tried between the least and the largest load, then as many around the best."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Processes with one load and one draw, together.

    Attributes
    ----------
    load_gb : array of float
        Of the hottest link that their messages cross, both ways.
    count : array of float
        How many processes.
    time_s, square_s2 : array of float
        Sums of their times and of the squares of these.
    placement, job : array of int
        Which draws they are of; jobs are numbered through all placements.
    """

    load_gb: Array
    count: Array
    time_s: Array
    square_s2: Array
    placement: npt.NDArray[np.int64]
    job: npt.NDArray[np.int64]

    @classmethod
    def together(cls, some: Sequence[Points]) -> Points:
        """Points of several placements; jobs get new numbers."""
        first, placements, jobs = 0, [], []
        for number, one in enumerate(some):
            placements.append(np.full(len(one.job), number, dtype=np.int64))
            jobs.append(one.job + first)
            first += int(one.job.max(initial=-1)) + 1
        return cls(
            load_gb=np.concatenate([one.load_gb for one in some]),
            count=np.concatenate([one.count for one in some]),
            time_s=np.concatenate([one.time_s for one in some]),
            square_s2=np.concatenate([one.square_s2 for one in some]),
            placement=np.concatenate(placements),
            job=np.concatenate(jobs),
        )


@dataclass(frozen=True)
class Lines:
    """What fits.

    Attributes
    ----------
    breakpoint_gb : float
    level_s : float
        The first line at load 0.
    before, behind : float
        Slopes, s/GB.
    r_squared : float
        The share of the variance of the processes' times that the lines have.
    scatter_s : float
        The standard deviation of what is left, s.
    """

    breakpoint_gb: float
    level_s: float
    before: float
    behind: float
    r_squared: float
    scatter_s: float


def fit(points: Points, weight: Array | None = None) -> Lines | None:
    """The two lines through the processes' times.

    Parameters
    ----------
    points : Points
    weight : array of float, optional
        How often each of them counts. [default: once]

    Returns
    -------
    Lines, or None
        None where there are fewer than five loads.
    """
    count = points.count if weight is None else points.count * weight
    used = count > 0
    x, n = points.load_gb[used], count[used]
    sums = points.time_s[used] / points.count[used] * n
    squares = float((points.square_s2[used] / points.count[used] * n).sum())
    loads = np.unique(x)
    if len(loads) < 5:
        return None
    total = float(sums.sum())
    spread = squares - total**2 / float(n.sum())
    low, high = float(loads[1]), float(loads[-2])
    knots = np.linspace(low, high, _STEPS)
    best = _best(x, n, sums, squares, knots)
    step = (high - low) / (_STEPS - 1)
    around = np.linspace(max(low, best[1] - step), min(high, best[1] + step), _STEPS)
    rest, knot, found = _best(x, n, sums, squares, around)
    level, before, more = (float(value) for value in found)
    r_squared = 1 - rest / spread if spread > 0 else 0.0
    scatter_s = max(rest / float(n.sum()), 0.0) ** 0.5
    return Lines(knot, level, before, before + more, r_squared, scatter_s)


def _best(x: Array, n: Array, sums: Array, squares: float, knots: Array) -> tuple[float, float, Array]:
    """The least sum of squared residuals, its breakpoint and coefficients: all knots at once, by sums."""
    order = np.argsort(x, kind="stable")
    x, n, sums = x[order], n[order], sums[order]

    def from_end(values: Array) -> Array:
        return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])

    tail = [from_end(values) for values in (n, n * x, n * x * x, sums, sums * x)]
    whole = [float(values[0]) for values in tail]
    n1, nx, nxx, s1, sx = (values[np.searchsorted(x, knots, side="right")] for values in tail)
    # Of the third column, max(x - knot, 0): its products with itself, with 1 and x, and with times.
    hinge, hinge_x = nx - knots * n1, nxx - knots * nx
    normal = np.empty((len(knots), 3, 3))
    normal[:, 0, 0], normal[:, 1, 1] = whole[0], whole[2]
    normal[:, 0, 1] = normal[:, 1, 0] = whole[1]
    normal[:, 0, 2] = normal[:, 2, 0] = hinge
    normal[:, 1, 2] = normal[:, 2, 1] = hinge_x
    normal[:, 2, 2] = hinge_x - knots * hinge
    right = np.stack([np.full(len(knots), whole[3]), np.full(len(knots), whole[4]), sx - knots * s1], axis=1)
    found = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    rest = squares - np.einsum("ki,ki->k", found, right)
    at = int(np.argmin(rest))
    return float(rest[at]), float(knots[at]), found[at]


def interval(points: Points, seed: int) -> dict[str, Any]:
    """The 95 % intervals of the breakpoint and of the slope behind it.

    Parameters
    ----------
    points : Points
    seed : int
        Of the resamples.

    Returns
    -------
    dict
        `over`, what is drawn (`placements` or `jobs`), how many `draws` there are, and `low` and `high` of
        `breakpoint_gb` and `behind`; None where there are fewer than `intervals.LEAST` draws.
    """
    over: Literal["placements", "jobs"] = "placements"
    draw = points.placement
    if len(np.unique(draw)) < intervals.LEAST:
        over, draw = "jobs", points.job
    names, index = np.unique(draw, return_inverse=True)
    told: dict[str, Any] = {"over": over, "draws": len(names), "breakpoint_gb": None, "behind": None}
    if len(names) < intervals.LEAST:
        return told
    rng = np.random.default_rng([seed])
    found = []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, len(names), len(names)), minlength=len(names))
        one = fit(points, times[index].astype(np.float64))
        if one is not None:
            found.append((one.breakpoint_gb, one.behind))
    tail = 100 * (1 - intervals.LEVEL) / 2
    bounds = np.percentile(np.array(found), [tail, 100 - tail], axis=0)
    for column, name in enumerate(("breakpoint_gb", "behind")):
        told[name] = [float(bound) for bound in bounds[:, column]]
    return told
