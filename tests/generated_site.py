"""A generated machine: jobs that run again and again beside others, what links carried, what each run lost.

A round is a simulation of some of the jobs on drawn hosts, each once; the same jobs alone on the same hosts
tell what they lost. What is told of a run to the estimator are its times, with noise of the machine's own
that no neighbour makes, its hosts, and counters.

    .venv/bin/python tests/generated_site.py [MACHINES]      how often the intervals hold
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

import netloom as nl
from netloom.interference.accounts import Carried, JobRun, resolution_s
from netloom.interference.exposure import Exposure, exposures
from netloom.interference.losses import QUIET_SHARE, Loss, losses, of_jobs
from netloom.interference.seeds import MACHINES

ROUNDS = 40
PATTERNS = ("bis", "shift:3", "random:partners=3", "all-to-all", "matching")


@dataclass(frozen=True)
class Site:
    """A machine's past.

    Attributes
    ----------
    fabric, routes
        The machine.
    runs : list of JobRun
    carried : Carried
    lost_s : list of float
        What every run lost, in truth.
    """

    fabric: nl.Fabric
    routes: nl.Routes
    runs: list[JobRun]
    carried: Carried
    lost_s: list[float]

    def found(self) -> tuple[list[Exposure], list[Loss]]:
        """What is told of it."""
        exposed = exposures(self.fabric, self.routes, self.runs, self.carried, threads=1)
        return exposed, losses(self.runs, exposed, resolution_s(self.runs))


def site(seed: int, rounds: int = ROUNDS) -> Site:
    """The machine of a seed."""
    rng = np.random.default_rng([4, seed])
    leaves, hosts, spines = int(rng.integers(5, 9)), int(rng.integers(5, 9)), int(rng.integers(2, 5))
    spec = f"two-level:leaves={leaves},hosts={hosts},spines={spines}"
    fabric = nl.Fabric.generate(spec)
    routes = nl.route("ftree", fabric)
    noise = float(rng.choice([0.002, 0.01, 0.03]))
    jobs = [_job(rng, number, leaves * hosts) for number in range(int(rng.integers(4, 7)))]
    runs: list[JobRun] = []
    lost: list[float] = []
    starts, ends, carried = [], [], []
    clock = 0.0
    for number in range(rounds):
        # A machine is busy at some hours and calm at others.
        busy = rng.uniform(0.1, 0.8)
        chosen = [job for job in jobs if rng.random() < busy]
        rng.shuffle(chosen)
        ranks = 0
        fitting = []
        for job in chosen:
            if ranks + job["ranks"] <= leaves * hosts:
                fitting.append(job)
                ranks += job["ranks"]
        if not fitting:
            continue
        # Some rounds are of jobs side by side, which share few links.
        allocation = "contiguous" if rng.random() < 0.3 else "random"
        listed = [{**job, "allocation": allocation} for job in fitting]
        scene = nl.Scenario.from_dict(
            {"fabric": spec, "routes": "ftree", "seed": int(rng.integers(1 << 31)), "job": listed}
        )
        beside = nl.simulate(scene, "ftree", routes=routes, counted=True, counted_every_us=200.0)
        # Simulated milliseconds are minutes of the machine: both times and bytes are 60,000 times as many.
        scale = 60_000.0
        counted = Carried.of(beside.counted(), len(fabric.link_table()["source"]))
        starts.append(clock + counted.start_s * scale)
        ends.append(clock + counted.end_s * scale)
        carried.append(counted.bytes * scale)
        for job, told in zip(scene.jobs, beside.result()["jobs"], strict=True):
            alone = nl.simulate(scene.alone(job.name), "ftree", routes=routes).result()["jobs"][0]
            seconds = told["completion_ms"] / 1e3 * scale
            took = seconds * float(np.exp(noise * rng.normal()))
            hosts_of = tuple(int(host) for host in job.hosts)
            runs.append(JobRun(job.name, str(number), clock, clock + took, hosts_of))
            lost.append(seconds - alone["completion_ms"] / 1e3 * scale)
        clock = float(ends[-1][-1]) * 1.1 + 60.0
    return Site(
        fabric,
        routes,
        runs,
        Carried(
            np.concatenate(starts),
            np.concatenate(ends),
            np.concatenate(carried),
            np.ones(np.concatenate(carried).shape, dtype=bool),
        ),
        lost,
    )


def _job(rng: np.random.Generator, number: int, hosts: int) -> dict:
    """A program that a job always runs; every fourth hardly talks."""
    ranks = 2 * int(rng.integers(3, max(4, hosts // 6)))
    heavy = rng.random() < 0.75
    return {
        "name": f"job{number}",
        "ranks": ranks,
        "ranks_per_host": 1,
        "program": {
            "kind": "exchange",
            "pattern": f"{PATTERNS[int(rng.integers(len(PATTERNS)))]}",
            "bytes": int(rng.choice([32, 64, 128])) * 1024 if heavy else 512,
            "iterations": int(rng.integers(8, 20)),
            "compute_us": float(rng.uniform(5, 60)) if heavy else 100.0,
        },
    }


def counted(sites: Iterable[Site]) -> dict[str, float]:
    """How often intervals of runs and of jobs' sums hold the truth; how often a loss is claimed for none.

    Runs without neighbours are told to have lost nothing, exactly: they count as told, not as intervals.
    """
    runs = told = alone = alone_held = intervals = held = none = claimed = sums = sums_held = 0
    for one in sites:
        exposed, found = one.found()
        for truth, total in _sums(one, exposed, found):
            sums += 1
            sums_held += total.low <= truth / 60 <= total.high
        for run, share, loss, truth in zip(one.runs, exposed, found, one.lost_s, strict=True):
            runs += 1
            if loss.minutes is None:
                continue
            told += 1
            # A thousandth of its time is nothing.
            nothing = truth < 1e-3 * run.seconds
            if share.link is None:
                alone += 1
                alone_held += nothing
                continue
            intervals += 1
            held += loss.low <= truth / 60 <= loss.high
            if nothing:
                none += 1
                claimed += loss.low > 0
    return {
        "runs": runs,
        "told_percent": 100 * told / max(runs, 1),
        "without_neighbours": alone,
        "of_these_lost_none_percent": 100 * alone_held / max(alone, 1),
        "intervals": intervals,
        "held_percent": 100 * held / max(intervals, 1),
        "lost_none": none,
        "claimed_percent": 100 * claimed / max(none, 1),
        "sums": sums,
        "sums_held_percent": 100 * sums_held / max(sums, 1),
    }


def _sums(one: Site, exposed: list[Exposure], found: list[Loss]) -> list[tuple[float, Loss]]:
    """What the disturbed runs of each job of which something is told lost, in truth and as told."""
    pairs = []
    for (job, hosts), total in of_jobs(one.runs, exposed, found, resolution_s(one.runs)).items():
        lost = [
            truth
            for run, share, loss, truth in zip(one.runs, exposed, found, one.lost_s, strict=True)
            if (run.job, len(run.hosts)) == (job, hosts)
            and share.share > QUIET_SHARE
            and loss.minutes is not None
        ]
        if lost and total.minutes is not None:
            pairs.append((sum(lost), total))
    return pairs


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(MACHINES)
    print(counted(map(site, MACHINES[:count])))
