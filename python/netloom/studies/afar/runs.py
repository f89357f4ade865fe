"""The study's runs: every job alone, then all of them, under ftree's routes, AFAR's, and optimised ones.

Loads are of data, by directed link, over the whole run (`shorter` x steps of what is simulated). The time of
a process is when it has received and sent all of its own; of a job, when its last process has, which is when
its barrier would end. Alone means the same hosts and ftree's routes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from netloom.studies.afar import published, workloads
from netloom.studies.afar.breakpoint import Points

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Scenario, Traffic

Routing = Literal["ftree", "afar", "afar-relative", "optimized"]
ROUTINGS: tuple[Routing, ...] = ("ftree", "afar", "afar-relative", "optimized")
"""`afar`: down to the paper's thresholds. `afar-relative`: down to as large a share of what a link carries in
the time that `bis` takes alone here, as the paper's threshold is of its breakpoint."""
_PS = 1e12


@dataclass(frozen=True)
class Loads:
    """What links between switches carry, GB.

    Attributes
    ----------
    per_link_gb : array of float
        Of every live directed link between switches.
    """

    per_link_gb: npt.NDArray[np.float64]

    def summary(self) -> dict[str, Any]:
        """Figure 5's histogram: links by bins of `published.BIN_GB`, those that carry nothing apart."""
        busy = self.per_link_gb[self.per_link_gb > 0]
        bins = np.bincount((busy // published.BIN_GB).astype(np.int64)) if len(busy) else np.zeros(0, int)
        return {
            "links": len(self.per_link_gb),
            "idle_share": 1 - len(busy) / len(self.per_link_gb),
            "hottest_gb": float(busy.max(initial=0.0)),
            "at_least_60_gb": int((busy >= 60.0).sum()),
            "modal_bin_gb": float(np.argmax(bins) * published.BIN_GB) if len(bins) else 0.0,
            "bins": [int(count) for count in bins],
        }


@dataclass
class Placement:
    """A workload on hosts that a seed has drawn, and what its runs took.

    Attributes
    ----------
    jobs, seed : int
    loads : dict
        By routing.
    thresholds_gb : dict
        Down to which AFAR goes, by routing.
    changes : dict
        Entries of the tables that are others than ftree's, by routing.
    optimise_s : dict
        Seconds that making the tables took, by routing.
    alone_s : dict
        What every job takes by itself, seconds.
    times_s : dict
        By routing and job.
    points : Points or None
        The processes of `bis` under ftree's routes.
    """

    jobs: int
    seed: int
    loads: dict[Routing, Loads] = field(default_factory=dict)
    thresholds_gb: dict[Routing, float] = field(default_factory=dict)
    changes: dict[Routing, int] = field(default_factory=dict)
    optimise_s: dict[Routing, float] = field(default_factory=dict)
    alone_s: dict[str, float] = field(default_factory=dict)
    times_s: dict[Routing, dict[str, float]] = field(default_factory=dict)
    points: Points | None = None


class Study:
    """Runs of one fabric.

    Parameters
    ----------
    fabric : Fabric
    shorter : int
        How many times fewer iterations than table I's are simulated; one of `workloads.SHORTER`.
    threads : int
    seed : int
        Of the optimiser.
    left : callable
        Seconds that are left; None: no limit.
    """

    def __init__(
        self,
        fabric: Fabric,
        shorter: int,
        *,
        threads: int = 0,
        seed: int = 0,
        left: Callable[[], float | None] = lambda: None,
    ) -> None:
        from netloom import _core

        self._fabric, self._shorter = fabric, shorter
        self._threads, self._seed, self._left = threads, seed, left
        self._whole = shorter * published.STEPS
        self._ftree = _core.route("ftree", fabric, threads=threads)
        table = fabric.link_table()
        self.rate_gb_s = float(np.min(table["bandwidth_bytes_per_s"])) / 1e9
        """What a link carries."""
        self._between = np.asarray(table["between_switches"]) & np.asarray(table["alive"])

    def scene(self, jobs: int, seed: int) -> Scenario:
        """A workload with one placement."""
        from netloom import _core

        keys = workloads.scenario(self._fabric, self._fabric.hosts, jobs, seed, self._shorter)
        return _core.Scenario.from_dict(keys)

    def placed(self, jobs: int, seed: int) -> dict[str, Any]:
        """What links carry over the whole run under ftree's routes, and how many entries AFAR changes.

        Nothing is simulated.
        """
        traffic = self.scene(jobs, seed).traffic()
        loads = Loads(self._per_link(self._ftree, traffic)[self._between])
        changed = self._afar(traffic, published.THRESHOLDS_GB[jobs]).changed_entries(self._ftree)
        return {"placement": seed, **loads.summary(), "afar_changes": changed}

    def _afar(self, traffic: Traffic, threshold_gb: float) -> Routes:
        from netloom import _core

        most = threshold_gb * 1e9 / self._whole
        return _core.afar(self._fabric, traffic, self._ftree, max_load=most, threads=self._threads).routes

    def _per_link(self, routes: Routes, traffic: Traffic) -> npt.NDArray[np.float64]:
        from netloom import _core

        found = _core.loads(self._fabric, routes, traffic, threads=self._threads, work=0)
        return np.asarray(found.per_link, dtype=np.float64) * self._whole / 1e9

    def placement(self, jobs: int, seed: int, told: Callable[[str], None]) -> Placement:
        """All runs of a workload with one placement.

        Parameters
        ----------
        jobs, seed : int
        told : callable
            Hears what is done next.

        Raises
        ------
        TimeoutError
            If there is no time left.
        """
        scene = self.scene(jobs, seed)
        traffic = scene.traffic()
        found = Placement(jobs, seed)
        for name in [job.name for job in scene.jobs]:
            told(f"{jobs} jobs, placement {seed}: {name} alone")
            times, _ = self._run(scene.alone(name), self._ftree)
            found.alone_s[name] = times[name]
        for routing in ROUTINGS:
            told(f"{jobs} jobs, placement {seed}: {routing}")
            start = time.perf_counter()
            routes = self._made(routing, found, traffic)
            found.optimise_s[routing] = time.perf_counter() - start
            gb = self._per_link(routes, traffic)
            found.loads[routing] = Loads(gb[self._between])
            found.changes[routing] = routes.changed_entries(self._ftree)
            if routing != "ftree" and not found.changes[routing]:
                found.times_s[routing] = found.times_s["ftree"]
                continue
            found.times_s[routing], ranks = self._run(scene, routes)
            if routing == "ftree":
                found.points = self._points(scene, gb, ranks)
        return found

    def _made(self, routing: Routing, placement: Placement, traffic: Traffic) -> Routes:
        from netloom import _core

        if routing == "ftree":
            return self._ftree
        if routing == "optimized":
            return _core.optimize(
                self._fabric, traffic, background=self._ftree, seed=self._seed, threads=self._threads
            ).routes
        threshold_gb = published.THRESHOLDS_GB[placement.jobs]
        if routing == "afar-relative":
            threshold_gb *= self.rate_gb_s * time_alone_s([placement], "bis") / published.BREAKPOINT_GB
        placement.thresholds_gb[routing] = threshold_gb
        return self._afar(traffic, threshold_gb)

    def _run(self, scene: Scenario, routes: Routes) -> tuple[dict[str, float], Mapping[str, Any]]:
        """What every job took, seconds of the whole run; and when its ranks ended."""
        from netloom import _core

        left = self._left()
        if left is not None and left <= 0:
            raise TimeoutError("time-limit")
        ran = _core.simulate(scene, "ftree", routes=routes, threads=1, time_limit=left)
        if ran.stopped is not None:
            raise TimeoutError(ran.stopped)
        ranks = ran.ranks()
        ends = np.asarray(ranks["end_ps"], dtype=np.float64) * self._whole / _PS
        of = np.asarray(ranks["job"])
        return {job.name: float(ends[of == at].max()) for at, job in enumerate(scene.jobs)}, ranks

    def _points(self, scene: Scenario, gb: npt.NDArray[np.float64], ranks: Mapping[str, Any]) -> Points:
        """The processes of `bis`: those of one host have one partner host, and one way there and back.

        `gb`: what links carry under ftree's routes.
        """
        end_s = np.asarray(ranks["end_ps"], dtype=np.float64) * self._whole / _PS
        of = np.asarray(ranks["job"])
        rows: list[tuple[float, int, float, float, int]] = []
        for at, job in enumerate(scene.jobs):
            if workloads.benchmark_of(job.name) != "bis":
                continue
            ends, hosts = end_s[of == at], np.asarray(job.host_of_rank)
            half = len(hosts) // 2
            for first in range(0, half, published.RANKS_PER_HOST):
                here, there = int(hosts[first]), int(hosts[first + half])
                way = [*self._ftree.path(here, there), *self._ftree.path(there, here)]
                most = max(float(gb[link]) for link in way)
                block = np.arange(first, first + published.RANKS_PER_HOST)
                times = ends[np.concatenate([block, block + half])]
                rows.append((most, len(times), float(times.sum()), float((times**2).sum()), at))
        load, count, total, squares, numbers = (np.array(column) for column in zip(*rows, strict=True))
        numbers = numbers.astype(np.int64)
        return Points(load, count.astype(float), total, squares, np.full(len(load), 0), numbers)


def time_alone_s(placements: list[Placement], benchmark: str) -> float:
    """The median of what a benchmark's jobs take alone, seconds."""
    some = [
        seconds
        for one in placements
        for name, seconds in one.alone_s.items()
        if workloads.benchmark_of(name) == benchmark
    ]
    return float(np.median(some)) if some else math.nan
