"""Designs judged by packets: what the applications of a plan take on them, beside bound and estimate.

Every application runs in order on each design and on the cheapest tree without taper, with the tables of
`ftree` and adaptively, as many copies as fit (fewer where they would send too much to wait for). A trace
whose share the plan does not tell runs as it was recorded, and the ratio of the run times is its slowdown.
Of all else the messages of a phase are sent at once, and what is no wire time takes as long as before:
1 - f + f (ratio).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.planning.runs import scenario_of

if TYPE_CHECKING:
    from netloom._core import Traffic

ROUTINGS = ("ftree", "adaptive")
"""Tables of every day, and the least loaded way packet by packet."""
MOST_PACKETS = 1_000_000
"""Packets that the copies of an application may send in a run, unless one copy sends more."""
_PACKET = 4096


@dataclass(frozen=True)
class _Job:
    """An application of the plan, and how many of its copies run."""

    told: Mapping[str, Any]
    copies: int
    wire_share: float

    @property
    def runs(self) -> bool:
        """Whether it runs as it was recorded."""
        return self.told["kind"] == "trace" and not self.told["told"]

    def slowdown(self, ratio: float) -> float:
        """By how many times as long it takes as without taper."""
        return ratio if self.runs else 1 + self.wire_share * (ratio - 1)


def judged(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    *,
    threads: int = 0,
    until: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any] | None:
    """The chosen design of a plan and its neighbours on the front, run packet by packet.

    Parameters
    ----------
    source : path
        The plan (.toml).
    result : mapping
        What `netloom.plan` answers to it.
    threads : int, default 0
        Runs side by side; 0 is one a core.
    until : float, optional
        When to stop, by `time.monotonic`; what was not run by then is None.
    progress : callable, optional
        Called with the runs that are done and all that are to do.

    Returns
    -------
    dict, or None
        `judged` in `docs/schemas/plan.json`; None if no design was chosen, or none is without taper.

    Raises
    ------
    SimulationError, RoutingError
        If a run cannot go on.

    Examples
    --------
    >>> result = netloom.plan("plan.toml")
    >>> judged("plan.toml", result)["designs"][0]["slowdown"]["adaptive"]
    1.021...
    """
    from netloom import _core

    chosen, full = result["chosen"], result["full"]
    if chosen is None or full is None:
        return None
    front = result["designs"]
    near = {chosen - 1: "cheaper", chosen: "chosen", chosen + 1: "dearer"}
    designs = [(which, front[at]) for at, which in near.items() if 0 <= at < len(front)]
    jobs = [
        _job(told, answered, result["hosts"])
        for told, answered in zip(_core.plan_applications(source), result["applications"], strict=True)
        if told["weight"] > 0
    ]
    specs = list(dict.fromkeys([full["spec"], *(one["spec"] for _, one in designs)]))
    work = [(job, spec, routing) for job in range(len(jobs)) for spec in specs for routing in ROUTINGS]
    done = 0

    def run(job: int, spec: str, routing: str) -> float | None:
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            return None
        scenario = scenario_of(jobs[job].told, spec, result["speed_gbps"], copies=jobs[job].copies)
        ran = _core.simulate(scenario, routing, time_limit=left)
        return None if ran.stopped is not None else ran.end_ps / 1e12

    def ended(_run: Future[float | None]) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(work))

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            runs = {one: pool.submit(run, *one) for one in work}
            for begun in runs.values():
                begun.add_done_callback(ended)
            seconds = {one: begun.result() for one, begun in runs.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    rows = [_row(which, one, jobs, seconds, full["spec"]) for which, one in designs]
    return {
        "routings": list(ROUTINGS),
        "applications": [{"name": job.told["name"], "copies": job.copies} for job in jobs],
        "designs": rows,
    }


def _job(told: Mapping[str, Any], answered: Mapping[str, Any], hosts: int) -> _Job:
    """An application with as many copies as fit, and as send no more than may be sent."""
    told, traffic = _traffic(told, hosts)
    packets = max(1.0, traffic.total_bytes / _PACKET)
    copies = max(1, min(int(answered["copies"]), int(MOST_PACKETS / packets)))
    return _Job(told, copies, float(answered["wire_share"]))


def _traffic(told: Mapping[str, Any], hosts: int) -> tuple[Mapping[str, Any], Traffic]:
    """What an application sends; its pattern says how many ranks it has."""
    from netloom import SpecError, Traffic, TrafficError

    if told["kind"] != "pattern":
        return told, Traffic.read(told["source"])
    try:
        return told, Traffic.pattern(told["source"])
    except (SpecError, TrafficError):
        # A pattern without a grid has as many ranks as the machine has room for.
        pattern = told["source"]
        pattern += f"{',' if ':' in pattern else ':'}ranks={hosts * told['ranks_per_host']}"
        return {**told, "source": pattern}, Traffic.pattern(pattern)


def _row(
    which: str,
    design: Mapping[str, Any],
    jobs: list[_Job],
    seconds: Mapping[tuple[int, str, str], float | None],
    full: str,
) -> dict[str, Any]:
    """A design: every application's slowdown by routing, and the mix."""
    applications = []
    for number, job in enumerate(jobs):
        slowed: dict[str, float | None] = {}
        for routing in ROUTINGS:
            here, there = seconds[number, design["spec"], routing], seconds[number, full, routing]
            slowed[routing] = None if here is None or not there else job.slowdown(here / there)
        applications.append({"name": job.told["name"], "slowdown": slowed})
    weights = [job.told["weight"] for job in jobs]
    mix: dict[str, float | None] = {}
    for routing in ROUTINGS:
        each = [one["slowdown"][routing] for one in applications]
        known = [slow for slow in each if slow is not None]
        whole = len(known) == len(each)
        mix[routing] = (
            sum(w * s for w, s in zip(weights, known, strict=True)) / sum(weights) if whole else None
        )
    return {"which": which, "spec": design["spec"], "slowdown": mix, "applications": applications}
