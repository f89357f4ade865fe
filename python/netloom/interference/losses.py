"""What runs lost to their neighbours: how long they took, less what they take when nobody is in their way.

**The reference** are quiet runs of the same job: those whose neighbours' bytes were on no link of theirs for
more than `QUIET` of their time. A queue behind bytes of neighbours lasts at most as long as these bytes do,
so that is also about the most that a quiet run can have lost.

**The prediction.** Quiet runs are often those whose hosts lie close together, which are also less in their own
way. So what a run takes alone is predicted at its own load: the quiet ones' times against the seconds for
which a run's own bytes are on its busiest link, a straight line by least squares; their mean where they do
not differ. What a run has lost is what it took less that; the interval is Student's of one more quiet run (a
*prediction* interval), because what the run would have taken alone is one more draw, with its own placement
and its own noise. It widens where a run's own load is unlike the quiet ones':

    lost = took - line(own) +- t(0.975, n - 2) * s * sqrt(1 + 1 / n + (own - mean)^2 / sum((own_k - mean)^2))

A quiet run is compared with the other quiet ones. All runs of a job together have lost the sum; its interval
adds the errors of draws and of the line.
Source: N. Draper, H. Smith, *Applied regression analysis*, Wiley 1998, sec. 3.1.

**No statement** is made of a job with fewer than `LEAST` other quiet runs, or of a run that
counters hardly cover. Who never runs undisturbed cannot be told from who is slow by himself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from netloom import intervals
from netloom.interference.accounts import JobRun
from netloom.interference.exposure import Exposure

QUIET = 0.02
"""Of its time; a run with at most so much is quiet."""
LEAST = intervals.LEAST + 1
"""Quiet runs that a line needs: one more than a mean."""
COVERED = 0.9
"""Of a run's time, which counters must cover."""
_ALIKE = 1e-3
"""Own loads that differ by no more than this part are equal."""

Reason = Literal["few-quiet", "not-covered"]
WHY: dict[Reason, str] = {
    "few-quiet": f"fewer than {LEAST} other runs of the job were undisturbed",
    "not-covered": f"counters cover less than {COVERED:.0%} of its time",
}
"""Why nothing is told, in words."""


@dataclass(frozen=True)
class Loss:
    """Of one run, or of all runs of a job together.

    Attributes
    ----------
    minutes, low, high : float or None
        What was lost, and its 95 % interval; None if nothing is told.
    reason : str or None
        Why nothing is: a key of `WHY`.
    quiet_runs : int
        How many it is compared with.
    """

    minutes: float | None
    low: float | None
    high: float | None
    reason: Reason | None
    quiet_runs: int


def losses(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> list[Loss]:
    """What every run lost.

    Parameters
    ----------
    runs : sequence of JobRun
    exposed : sequence of Exposure
        Of each of them.
    """
    quiet = _quiet(runs, exposed)
    found = []
    for at, (run, exposure) in enumerate(zip(runs, exposed, strict=True)):
        others = [_Taken.of(runs, exposed, other) for other in quiet[_key(run)] if other != at]
        if exposure.covered < COVERED:
            found.append(Loss(None, None, None, "not-covered", len(others)))
        elif len(others) < LEAST:
            found.append(Loss(None, None, None, "few-quiet", len(others)))
        else:
            found.append(_of([_Taken.of(runs, exposed, at)], others))
    return found


def of_jobs(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> dict[tuple[str, int], Loss]:
    """What the disturbed runs of each job lost together, by its name and number of hosts."""
    quiet = _quiet(runs, exposed)
    found = {}
    for key, of in quiet.items():
        rest = [
            _Taken.of(runs, exposed, at)
            for at, (run, exposure) in enumerate(zip(runs, exposed, strict=True))
            if _key(run) == key and at not in of and exposure.covered >= COVERED
        ]
        if len(of) < LEAST:
            found[key] = Loss(None, None, None, "few-quiet", len(of))
        elif not rest:
            found[key] = Loss(0.0, 0.0, 0.0, None, len(of))
        else:
            found[key] = _of(rest, [_Taken.of(runs, exposed, at) for at in of])
    return found


def _key(run: JobRun) -> tuple[str, int]:
    return run.job, len(run.hosts)


def _quiet(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {_key(run): [] for run in runs}
    for at, (run, exposure) in enumerate(zip(runs, exposed, strict=True)):
        if exposure.share <= QUIET and exposure.covered >= COVERED:
            found[_key(run)].append(at)
    return found


class _Taken(NamedTuple):
    """How long a run took, and for how long its own bytes were on its busiest link."""

    seconds: float
    own_s: float

    @classmethod
    def of(cls, runs: Sequence[JobRun], exposed: Sequence[Exposure], at: int) -> _Taken:
        """Of a run in a list."""
        return cls(runs[at].seconds, exposed[at].own_s)


def _of(took: Sequence[_Taken], quiet: Sequence[_Taken]) -> Loss:
    """What some runs lost, by the line through quiet ones."""
    n, m = len(quiet), len(took)
    seconds, own = np.array(quiet, dtype=np.float64).T
    mean, middle = float(seconds.mean()), float(own.mean())
    spread = float(((own - middle) ** 2).sum())
    slope, degrees = 0.0, n - 1
    if spread > n * (_ALIKE * middle) ** 2:
        slope, degrees = float(((own - middle) * (seconds - mean)).sum()) / spread, n - 2
    else:
        spread = math.inf
    rest = seconds - mean - slope * (own - middle)
    error = math.sqrt(float((rest**2).sum()) / degrees)
    away = math.fsum(one.own_s - middle for one in took)
    lost = math.fsum(one.seconds - mean for one in took) - slope * away
    half = intervals.student(degrees) * error * math.sqrt(m + m * m / n + away**2 / spread)
    return Loss(lost / 60, (lost - half) / 60, (lost + half) / 60, None, n)
