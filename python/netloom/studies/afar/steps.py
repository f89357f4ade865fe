"""A job again and again beside others that come and go: how long its steps took, and what its links counted.

The job is a periodic grid of ranks, one a host, that computes, exchanges with four neighbours and meets in a
barrier after every step; it stands for MILC, whose messages are not published. Each run has other hosts, and
two to five other jobs that compute for long and then send much, until it ends: so its steps take more or less
time, within a run too. As on the paper's machine, only counters of the switches of its own hosts are known.

Source: Smith et al., SC 2018, sec. IV-C and IV-D.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netloom.errors import ArgumentError
from netloom.studies.afar.regression import Samples, features, of_intervals

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Simulation

COLUMNS = 4
"""Of the job's grid; its rows are a sixteenth of the hosts."""
_PARTNERS, _LEAST_ROWS = 4, 3
"""With fewer rows the ranks above and below are one."""
_BYTES, _COMPUTE_US, _ITERATIONS = 65536, 20.0, 5
"""Of a message; before each exchange; exchanges a step."""
_COUNTED_US = 25.0
"""Counters are read so often; a step takes ten times as long, or more."""
_PATTERNS = ("bis:ranks={}", "shift:3,ranks={}", "random:partners=3,ranks={}", "all-to-all:ranks={}")
_JOB = "grid"


def scenario(fabric: Fabric, routing: str, steps: int, number: int, seed: int) -> dict[str, Any]:
    """One run, as a scenario's keys.

    Parameters
    ----------
    fabric : Fabric
    routing : str
        As scenarios have it.
    steps : int
        Of the job.
    number : int
        Of the run: with `seed` it draws hosts and neighbours.
    seed : int

    Raises
    ------
    ArgumentError
        If the fabric has too few hosts.
    """
    ranks = COLUMNS * (fabric.hosts // 16)
    if ranks < _LEAST_ROWS * COLUMNS:
        raise ArgumentError(
            f"{fabric.hosts} hosts: expected at least {16 * _LEAST_ROWS}, a quarter for the timed job"
        )
    rng = np.random.default_rng([8, seed, number])
    listed: list[dict[str, Any]] = [
        {
            "name": _JOB,
            "allocation": "random",
            "ranks": ranks,
            "program": {
                "kind": "exchange",
                "pattern": f"nn:{ranks // COLUMNS}x{COLUMNS},periodic",
                "bytes": _BYTES,
                "iterations": steps * _ITERATIONS,
                "compute_us": _COMPUTE_US,
                "barrier_every": _ITERATIONS,
            },
        }
    ]
    left = fabric.hosts - ranks
    for neighbour in range(int(rng.integers(2, 6))):
        hosts = 2 * int(rng.integers(2, fabric.hosts // 8 + 1))
        if hosts > left:
            break
        left -= hosts
        pattern = str(rng.choice(_PATTERNS)).format(hosts)
        # What a host sends at once takes its link 0.1 to 0.7 ms at 12.5 GB/s.
        sent = float(rng.uniform(1.25e6, 8.75e6))
        partners = {"r": 3, "a": hosts - 1}.get(pattern[0], 1)
        listed.append(
            {
                "name": f"other-{neighbour + 1}",
                "allocation": "random",
                "ranks": hosts,
                "until": _JOB,
                "start_us": float(rng.uniform(0, 1000)),
                "program": {
                    "kind": "exchange",
                    "pattern": pattern,
                    "bytes": int(sent / partners),
                    "iterations": 1,
                    "compute_us": float(rng.uniform(500, 3000)),
                },
            }
        )
    return {
        "name": f"steps-{number}",
        "fabric": fabric,
        "seed": int(rng.integers(1 << 31)),
        "routes": routing,
        "measure": {"counters_every_us": _COUNTED_US},
        "job": listed,
    }


def sample(
    fabric: Fabric,
    routing: str,
    steps: int,
    number: int,
    seed: int,
    *,
    routes: Routes | None = None,
    left: Callable[[], float | None] = lambda: None,
) -> Samples:
    """The steps of one run.

    Parameters
    ----------
    fabric, routing, steps, number, seed
        As of `scenario`.
    routes : Routes, optional
        Its tables, if they are at hand.
    left : callable
        Seconds that are left; None: no limit.

    Raises
    ------
    TimeoutError
        If there is no time left.
    """
    from netloom import _core

    scene = _core.Scenario.from_dict(scenario(fabric, routing, steps, number, seed))
    seconds = left()
    if seconds is not None and seconds <= 0:
        raise TimeoutError("time-limit")
    ran = _core.simulate(scene, routing, routes=routes, threads=1, time_limit=seconds, messages=[_JOB])
    if ran.stopped is not None:
        raise TimeoutError(ran.stopped)
    ends = _ends(ran, steps)
    intervals = ran.intervals()
    assert intervals is not None
    counted = of_intervals(intervals)
    links = around(fabric, np.asarray(scene.jobs[0].host_of_rank))
    lanes = ran.lanes
    return Samples(np.full(steps, number), np.diff(ends, prepend=0.0), features(counted, links, ends, lanes))


def around(fabric: Fabric, hosts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The live directed links that leave the switches of some hosts."""
    table = fabric.link_table()
    source = np.asarray(table["source"])
    switches = np.unique(np.asarray(table["target"])[hosts])  # A host's own link has its number.
    return np.flatnonzero(np.isin(source, switches) & np.asarray(table["alive"]))


def _ends(ran: Simulation, steps: int) -> npt.NDArray[np.float64]:
    """When the last message of each step had come, seconds."""
    told = ran.messages()
    assert told is not None
    own = ~np.asarray(told["collective"])
    sender, number = np.asarray(told["from"])[own], np.asarray(told["number"])[own]
    came = (np.asarray(told["posted_ps"]) + np.asarray(told["latency_ps"]))[own] / 1e12
    order = np.lexsort((number, sender))
    # As many messages of every rank, in the order in which it sends them.
    by = came[order].reshape(len(np.unique(sender)), steps, _ITERATIONS * _PARTNERS)
    found: npt.NDArray[np.float64] = by.max(axis=(0, 2))
    return found
