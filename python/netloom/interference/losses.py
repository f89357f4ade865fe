"""What runs lost to their neighbours: how long they took, less what they take when nobody is in their way.

**The reference** are quiet runs of the same job: those whose neighbours' bytes were on no link of theirs for
more than `QUIET` of their time. A queue behind bytes of neighbours lasts at most as long as these bytes do,
so that is also about the most that a quiet run can have lost on one link.

**The interval.** What a run has lost is what it took less the quiet ones' mean; the interval is Student's of
one more quiet run (a *prediction* interval), because what the run would have taken alone is one more draw,
with its own placement and its own noise:

    lost = took - mean +- t(0.975, n - 1) * s * sqrt(1 + 1 / n)

A quiet run is compared with the other quiet ones. All runs of a job together have lost the sum, m runs with
the error s * sqrt(m + m^2 / n).

**No statement** is made of a job with fewer than `LEAST` other quiet runs, of a run that counters hardly
cover, and of one whose own load, the seconds for which its own bytes are on its busiest link, is outside the
quiet ones' loads: those lie close together more often, and are then less in their own way. Who never runs
undisturbed cannot be told from who is slow by himself. (A straight line through the quiet ones' times against
their own loads was tried and holds the truth less often: docs/methods/interference.md.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from netloom import intervals
from netloom.interference.accounts import JobRun
from netloom.interference.exposure import Exposure

QUIET = 0.02
"""Of its time; a run with at most so much is quiet."""
LEAST = intervals.LEAST + 1
"""Other quiet runs that a statement needs."""
COVERED = 0.9
"""Of a run's time, which counters must cover."""
_ALIKE = 1e-3
"""So much beyond the quiet ones' own loads is not outside."""

Reason = Literal["few-quiet", "unlike", "not-covered"]
WHY: dict[Reason, str] = {
    "few-quiet": f"fewer than {LEAST} other runs of the job were undisturbed",
    "unlike": "none of the undisturbed runs was as much, or none as little, in its own way",
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
    for at, run in enumerate(runs):
        others = [other for other in quiet[_key(run)] if other != at]
        reason = _reason(exposed, at, others)
        if reason is None:
            found.append(_of([run.seconds], [runs[other].seconds for other in others]))
        else:
            found.append(Loss(None, None, None, reason, len(others)))
    return found


def of_jobs(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> dict[tuple[str, int], Loss]:
    """What those runs of each job that were disturbed, and of which something is told, lost together.

    By the job's name and number of hosts.
    """
    found = {}
    for key, of in _quiet(runs, exposed).items():
        disturbed = [at for at, run in enumerate(runs) if _key(run) == key and at not in of]
        reasons = [_reason(exposed, at, of) for at in disturbed]
        told = [runs[at].seconds for at, why in zip(disturbed, reasons, strict=True) if why is None]
        if len(of) < LEAST:
            found[key] = Loss(None, None, None, "few-quiet", len(of))
        elif told:
            found[key] = _of(told, [runs[at].seconds for at in of])
        elif disturbed:
            found[key] = Loss(None, None, None, reasons[0], len(of))
        else:
            found[key] = Loss(0.0, 0.0, 0.0, None, len(of))
    return found


def _key(run: JobRun) -> tuple[str, int]:
    return run.job, len(run.hosts)


def _quiet(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {_key(run): [] for run in runs}
    for at, (run, exposure) in enumerate(zip(runs, exposed, strict=True)):
        if exposure.share <= QUIET and exposure.covered >= COVERED:
            found[_key(run)].append(at)
    return found


def _reason(exposed: Sequence[Exposure], at: int, quiet: Sequence[int]) -> Reason | None:
    """Why nothing is told of a run; None if something is."""
    if exposed[at].covered < COVERED:
        return "not-covered"
    if len(quiet) < LEAST:
        return "few-quiet"
    own = [exposed[other].own_s for other in quiet]
    inside = min(own) * (1 - _ALIKE) <= exposed[at].own_s <= max(own) * (1 + _ALIKE)
    return None if inside else "unlike"


def _of(took: Sequence[float], quiet: Sequence[float]) -> Loss:
    """What some runs lost."""
    n, m = len(quiet), len(took)
    mean = math.fsum(quiet) / n
    lost = math.fsum(took) - m * mean
    error = math.sqrt(math.fsum((one - mean) ** 2 for one in quiet) / (n - 1))
    half = intervals.student(n - 1) * error * math.sqrt(m + m * m / n)
    return Loss(lost / 60, (lost - half) / 60, (lost + half) / 60, None, n)
