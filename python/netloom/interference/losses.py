"""What runs lost to their neighbours: how long they took, less what they take when nobody is in their way.

**The reference** are quiet runs of the same job: those whose neighbours' bytes were on no link of theirs for
more than `QUIET_SHARE` of their time. It is taken that these cost about as long as they are on the wire;
queues that back up from elsewhere cost more (docs/methods/interference.md). A quiet run is compared with
the others.

**The interval.** What a run has lost is what it took less what it takes alone on its hosts, which
`netloom.interference.alone` tells from the quiet runs, and the interval is of that: it is one more draw, with
its own places and its own noise. All runs of a job together have lost the sum, told at once.

**Nothing lost** has, exactly, who had no neighbour's bytes on any of its links.

**No statement** is made of a job with fewer than `LEAST_QUIET_RUNS` other quiet runs; of a run that
counters hardly cover; of one for more than `MOST_INTERVAL_SHARE` of whose time counters were read at other
moments than its start and end; of one with a host that sent nothing, or a switch that sent more than it
received, by its counters; of one whose hosts sent `OTHER_WORK_RATIO` times as much as the median of its
job's runs, or as little: it did other work and is nobody's reference; and of one that lost at least
`MOST_OVER_EXPOSURE` times as much as the neighbours' bytes on its worst link take: of generated runs one in
a thousand lost 2.4 times that. A queue that backs up from elsewhere can cost more, and so can something
else. Who never runs undisturbed cannot be told from who is slow by himself.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from netloom.interference.accounts import JobRun
from netloom.interference.alone import Alone, Place
from netloom.interference.exposure import Exposure

QUIET_SHARE = 0.02
"""Of its time; a run with at most so much is quiet."""
LEAST_QUIET_RUNS = 4
"""Other quiet runs that a statement needs."""
LEAST_COVERAGE = 0.9
"""Of a run's time, which counters must cover."""
OTHER_WORK_RATIO = 2.0
"""Times as many bytes, or as few, are other work."""
MOST_OVER_EXPOSURE = 4.0
"""Times its exposure: what is lost beyond that is not told from other causes."""
MOST_INTERVAL_SHARE = 0.4
"""Of a run's time: counters that are read more seldom do not tell what was carried in it."""

Reason = Literal["few-quiet", "beyond", "not-covered", "other-work", "coarse", "contradicted", "undisturbed"]
REASONS: dict[Reason, str] = {
    "few-quiet": f"fewer than {LEAST_QUIET_RUNS} other runs of the job were undisturbed",
    "beyond": f"they lost more than {MOST_OVER_EXPOSURE:.0f} times what neighbours' bytes take: queues that "
    "back up, or another cause",
    "other-work": f"they sent {OTHER_WORK_RATIO:.0f} times as much as runs of their job do, or as little",
    "not-covered": f"counters cover less than {LEAST_COVERAGE:.0%} of its time",
    "coarse": f"more than {MOST_INTERVAL_SHARE:.0%} of their time is in intervals of counters that reach "
    "beyond it",
    "contradicted": "by the counters hosts of theirs sent nothing, or switches not what they received",
    "undisturbed": f"no run of the job was exposed for more than {QUIET_SHARE:.0%} of its time",
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
        Why nothing is: a key of `REASONS`.
    quiet_runs : int
        How many it is compared with.
    """

    minutes: float | None
    low: float | None
    high: float | None
    reason: Reason | None
    quiet_runs: int


def losses(runs: Sequence[JobRun], exposed: Sequence[Exposure], resolution_s: float = 0.0) -> list[Loss]:
    """What every run lost.

    Parameters
    ----------
    runs : sequence of JobRun
    exposed : sequence of Exposure
        Of each of them.
    resolution_s : float, default 0
        Of their starts and ends.
    """
    quiet = _quiet(runs, exposed)
    other_work = _other_work(runs, exposed)
    models = {
        key: _alone(runs, exposed, of, resolution_s)
        for key, of in quiet.items()
        if len(of) >= LEAST_QUIET_RUNS
    }
    found = []
    for at, run in enumerate(runs):
        key = _key(run)
        others = [other for other in quiet[key] if other != at]
        if exposed[at].covered < LEAST_COVERAGE:
            found.append(Loss(None, None, None, "not-covered", len(others)))
        elif exposed[at].contradicted:
            found.append(Loss(None, None, None, "contradicted", len(others)))
        elif exposed[at].across > MOST_INTERVAL_SHARE:
            found.append(Loss(None, None, None, "coarse", len(others)))
        elif exposed[at].link is None:
            found.append(Loss(0.0, 0.0, 0.0, None, len(others)))
        elif other_work[at]:
            found.append(Loss(None, None, None, "other-work", len(others)))
        elif len(others) < LEAST_QUIET_RUNS:
            found.append(Loss(None, None, None, "few-quiet", len(others)))
        else:
            itself = len(others) < len(quiet[key])
            model = _alone(runs, exposed, others, resolution_s) if itself else models[key]
            loss = _of(model, [run.seconds], [exposed[at].place], len(others))
            most = MOST_OVER_EXPOSURE * exposed[at].share * run.seconds / 60
            beyond = loss.low is not None and loss.low > most
            found.append(Loss(None, None, None, "beyond", len(others)) if beyond else loss)
    return found


def of_jobs(
    runs: Sequence[JobRun], exposed: Sequence[Exposure], found: Sequence[Loss], resolution_s: float = 0.0
) -> dict[tuple[str, int], Loss]:
    """What those runs of each job that were disturbed, and of which something is told, lost together.

    By the job's name and number of hosts; `found` is what `losses` told of every run.
    """
    sums = {}
    for key, of in _quiet(runs, exposed).items():
        disturbed = [
            at
            for at, run in enumerate(runs)
            if _key(run) == key and at not in of and (exposed[at].link is not None or found[at].reason)
        ]
        told = [at for at in disturbed if found[at].reason is None]
        if told:
            model = _alone(runs, exposed, of, resolution_s)
            took, places = [runs[at].seconds for at in told], [exposed[at].place for at in told]
            sums[key] = _of(model, took, places, len(of))
        elif disturbed:
            sums[key] = Loss(None, None, None, found[disturbed[0]].reason, len(of))
        else:
            runs_of = [at for at, run in enumerate(runs) if _key(run) == key]
            nothing = all(exposed[at].link is None and found[at].reason is None for at in runs_of)
            told_not = [reason for at in runs_of if (reason := found[at].reason) is not None]
            why: Reason = told_not[0] if told_not else "undisturbed"
            sums[key] = (
                Loss(0.0, 0.0, 0.0, None, len(of)) if nothing else Loss(None, None, None, why, len(of))
            )
    return sums


def _key(run: JobRun) -> tuple[str, int]:
    return run.job, len(run.hosts)


def _quiet(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> dict[tuple[str, int], list[int]]:
    found: dict[tuple[str, int], list[int]] = {_key(run): [] for run in runs}
    other = _other_work(runs, exposed)
    for at, (run, exposure) in enumerate(zip(runs, exposed, strict=True)):
        told = (
            exposure.covered >= LEAST_COVERAGE
            and exposure.across <= MOST_INTERVAL_SHARE
            and not exposure.contradicted
        )
        if told and exposure.share <= QUIET_SHARE and not other[at]:
            found[_key(run)].append(at)
    return found


def _other_work(runs: Sequence[JobRun], exposed: Sequence[Exposure]) -> list[bool]:
    """Of each run, whether its hosts sent far more, or far less, than the median of its job's runs."""
    sent: dict[tuple[str, int], list[float]] = {}
    for run, exposure in zip(runs, exposed, strict=True):
        if exposure.covered >= LEAST_COVERAGE:
            sent.setdefault(_key(run), []).append(exposure.sent)
    usual = {key: statistics.median(one) for key, one in sent.items()}
    return [
        exposure.covered >= LEAST_COVERAGE
        and not usual[_key(run)] / OTHER_WORK_RATIO <= exposure.sent <= usual[_key(run)] * OTHER_WORK_RATIO
        for run, exposure in zip(runs, exposed, strict=True)
    ]


def _alone(
    runs: Sequence[JobRun], exposed: Sequence[Exposure], quiet: Sequence[int], resolution_s: float
) -> Alone:
    return Alone.of([runs[at].seconds for at in quiet], [exposed[at].place for at in quiet], resolution_s)


def _of(model: Alone, took: Sequence[float], places: Sequence[Place], quiet_runs: int) -> Loss:
    """What some runs lost."""
    mean, low, high = model.together(places)
    whole = math.fsum(took)
    return Loss((whole - mean) / 60, (whole - high) / 60, (whole - low) / 60, None, quiet_runs)
