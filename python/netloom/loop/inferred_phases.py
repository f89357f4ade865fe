"""What counters of a round say: the traffic of its phases, from intervals that look alike.

Counters read often enough show a program's phases one after another. Intervals whose links carried the same
in proportion belong together; one of each kind, the most typical, is inferred, and counts as often as its
kind has bytes. Intervals in which one phase turns into the next are mixtures, and are left out. Who talks to
whom is told from counters and from the jobs' hosts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.loop.round import whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric, Hose, Inferred, Job, Routes, Traffic
    from netloom.loop.plan import Weight

PHASE_COSINE = 0.99
"""Cosine of two intervals' link bytes from which on they are of one phase."""
QUIET_INTERVAL_SHARE = 0.01
"""Intervals with less than this share of the busiest one's bytes say nothing."""
MOST_PHASES = 32

_VERDICTS = ("identified", "partly", "not identifiable")


@dataclass(frozen=True, kw_only=True)
class InferredPhases:
    """The answer of a round.

    Attributes
    ----------
    layers : list of (Traffic, float)
        Traffic of every phase and how often it comes; one if there are none.
    verdict : str
        The worst of the phases'.
    estimated_leaf_error_percent, estimated_error_percent : float
        The largest of the phases'.
    hose : Hose
        What hosts sent and received in all, by their own counters.
    summaries : list of dict
        Of each answer, as `infer` gives it.
    answers : list of Inferred
        One a phase, in the layers' order.
    """

    layers: list[tuple[Traffic, float]]
    verdict: str
    estimated_leaf_error_percent: float
    estimated_error_percent: float
    hose: Hose
    summaries: list[dict[str, Any]]
    answers: list[Inferred]

    @property
    def sums(self) -> Hose | None:
        """What hosts send and receive, where that is all that is known of who talks to whom."""
        return self.hose if self.verdict == _VERDICTS[-1] else None

    @property
    def true_leaf_error_percent(self) -> float | None:
        """The largest true error, where the truth was given."""
        errors = [one["leaf_error_percent"] for one in self.summaries]
        return None if any(error is None for error in errors) else max(errors)


def infer_phases(
    fabric: Fabric,
    routes: Routes,
    counters: Counters,
    jobs: Sequence[Job],
    *,
    vl_scheme: str | None,
    unit: Weight,
    mtu_bytes: float,
    seed: int,
    truth: dict[int | None, Traffic] | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: Any = None,
) -> InferredPhases:
    """What hosts sent each other, phase by phase.

    Parameters
    ----------
    fabric, routes, counters : Fabric, Routes, Counters
        The fabric, the routes that were in force, what was counted: one interval, or several.
    jobs : sequence of Job
        Whose hosts are known; their traffic is not. None at all: all hosts may talk to all.
    vl_scheme, unit, mtu_bytes, seed
        As `infer` takes them.
    truth : dict, optional
        To compare with: by interval, None for the sum.
    threads : int
        0 is one a core.
    time_limit : float, optional
        Seconds that inference may take, all phases together.
    progress : callable, optional
        As `infer` takes it.
    """
    from netloom import _core

    found = phases(counters) if counters.intervals > 1 else []

    def infer(interval: int | None) -> Inferred:
        answer = _core.infer(
            fabric,
            routes,
            counters,
            list(jobs) or None,
            vl_scheme=vl_scheme,
            unit=unit,
            mtu_bytes=mtu_bytes,
            interval=interval,
            truth=None if truth is None else truth.get(interval),
            seed=seed,
            threads=threads,
            time_limit=None if time_limit is None else time_limit / max(1, len(found)),
            progress=progress,
        )
        return whole(answer)

    if len(found) <= 1:
        answers = [(infer(None), 1.0)]
    else:
        answers = [(infer(interval), weight) for interval, weight in found]
    summaries = [answer.summary() for answer, _ in answers]
    return InferredPhases(
        layers=[(answer.traffic, weight) for answer, weight in answers],
        verdict=max((answer.verdict for answer, _ in answers), key=_VERDICTS.index),
        estimated_leaf_error_percent=max(one["estimated_leaf_error_percent"] for one in summaries),
        estimated_error_percent=max(one["estimated_error_percent"] for one in summaries),
        hose=answers[0][0].hose if len(answers) == 1 else _summed(answers),
        summaries=summaries,
        answers=[answer for answer, _ in answers],
    )


def phases(counters: Counters) -> list[tuple[int, float]]:
    """The most typical interval of every phase, and how many times its bytes the phase has.

    In order of the phases' first intervals.
    """
    carried = np.array([counters.measure(number)["value"] for number in range(counters.intervals)])
    total = carried.sum(axis=1)
    loud = (
        np.flatnonzero(total >= QUIET_INTERVAL_SHARE * total.max()) if total.max() > 0 else np.array([], int)
    )
    if len(loud) == 0:
        return []
    unit = carried[loud] / np.linalg.norm(carried[loud], axis=1, keepdims=True)
    alike: npt.NDArray[np.float64] = unit @ unit.T
    groups: list[list[int]] = []
    for at in range(len(loud)):
        home = next((group for group in groups if alike[at, group].mean() >= PHASE_COSINE), None)
        if home is None:
            groups.append([at])
        else:
            home.append(at)
    # A lone interval between two phases is a mixture of them.
    settled = [group for group in groups if len(group) > 1] or groups
    settled = sorted(settled, key=lambda group: -total[loud[group]].sum())[:MOST_PHASES]
    out = []
    for group in sorted(settled):
        typical = group[int(np.argmax(alike[np.ix_(group, group)].sum(axis=1)))]
        out.append((int(loud[typical]), float(total[loud[group]].sum() / total[loud[typical]])))
    return out


def _summed(answers: Sequence[tuple[Inferred, float]]) -> Hose:
    """Sums by host over all phases."""
    from netloom import _core
    from netloom.interop import from_scipy

    total = sum(weight * answer.traffic.to_scipy() for answer, weight in answers)
    return _core.Hose.of(from_scipy(total, answers[0][0].traffic.hosts_hash))
