"""A second model of a machine, which nothing simulates: jobs as fluids on the links of a tree.

A job's time alone may depend on where its hosts are: on what its busiest link carries (`hot`), or on how much
of what it sends leaves its leaf (`hops`), or not at all (`flat`). Its neighbours' bytes on a link hold it up
as a queue does. Times have noise that no neighbour makes: lognormal, of heavy tails, drifting by the hour;
and are told in whole seconds, as Slurm tells them.

    .venv/bin/python tests/generated_fluid.py KIND [MACHINES]      how often the intervals hold
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

import numpy as np

import netloom as nl
from generated_site import Site, counted
from netloom.interference.accounts import Carried, JobRun
from netloom.interference.seeds import FLUID_MACHINES

KINDS = ("flat", "hot", "hops", "unhurt")
"""How times alone depend on places; of `unhurt` as of `hot`, and neighbours cost nothing."""
NOISES = ("lognormal", "heavy", "drift")
RUNS = 160
POLL_S = 60.0
RATE = 12.5e9


@dataclass
class _Run:
    job: dict
    hosts: list[int]
    load: np.ndarray
    """Of every link, in how much a host sends; over what the job takes alone."""
    alone_s: float
    start_s: float
    left_s: float
    end_s: float = math.nan
    speed: float = field(default=1.0)


def site(kind: str, seed: int, runs: int = RUNS) -> Site:
    """The machine of a kind and a seed."""
    rng = np.random.default_rng([84, KINDS.index(kind), seed])
    leaves, hosts, spines = int(rng.integers(4, 8)), int(rng.integers(4, 7)), int(rng.integers(2, 4))
    fabric = nl.Fabric.generate(f"two-level:leaves={leaves},hosts={hosts},spines={spines}")
    routes = nl.route("ftree", fabric)
    shape, size = str(rng.choice(NOISES)), float(rng.choice([0.003, 0.01, 0.03]))
    hurt = 0.0 if kind == "unhurt" else float(rng.uniform(0.3, 1.5))
    moved, gap = float(rng.uniform(0.2, 0.8)), float(rng.uniform(0.4, 1.2))
    jobs = [_job(rng, number) for number in range(4)]
    done: list[_Run] = []
    active: list[_Run] = []
    links = len(fabric.link_table()["source"])
    carried = np.zeros((64, links))
    clock, coming = 0.0, 0.0
    while len(done) < runs:
        ending = min((one.left_s / one.speed for one in active), default=math.inf)
        step = min(ending, max(coming - clock, 0.0))
        carried = _count(carried, clock, clock + step, active)
        clock += step
        for one in active:
            one.left_s -= one.speed * step
        for one in [one for one in active if one.left_s <= 1e-9]:
            one.end_s = clock
            active.remove(one)
            done.append(one)
        if clock >= coming:
            job = jobs[int(rng.integers(len(jobs)))]
            taken = {host for one in active for host in one.hosts}
            free = [host for host in range(fabric.hosts) if host not in taken]
            # The last ones run to their end: accounting has all that ran.
            if len(free) >= job["ranks"] and len(done) + len(active) < runs:
                spread = rng.random() < moved
                chosen = [int(h) for h in rng.permutation(free)] if spread else free
                noise = _noise(rng, shape, size, clock)
                active.append(_start(fabric, routes, kind, job, chosen[: job["ranks"]], clock, noise))
            coming = clock + float(rng.exponential(job["seconds"] * gap)) * 0.6
        _speeds(active, hurt)
    done.sort(key=lambda one: one.start_s)
    # In whole seconds, as Slurm cuts them off.
    told = [
        JobRun(one.job["name"], str(at), math.floor(one.start_s), math.floor(one.end_s), tuple(one.hosts))
        for at, one in enumerate(done)
    ]
    used = math.ceil(clock / POLL_S)
    starts = np.arange(used) * POLL_S
    lost = [one.end_s - one.start_s - one.alone_s for one in done]
    known = np.ones((used, links), dtype=bool)
    return Site(fabric, routes, told, Carried(starts, starts + POLL_S, carried[:used], known), lost)


def _job(rng: np.random.Generator, number: int) -> dict:
    return {
        "name": f"job{number}",
        "ranks": int(rng.choice([4, 4, 6, 8])),
        "seconds": float(rng.uniform(300, 1500)),
        "talks": float(rng.uniform(0.05, 0.5)),
        "pattern": str(rng.choice(["all", "all", "ring", "halves"])),
        "latency": float(rng.uniform(0.02, 0.3)),
    }


def _noise(rng: np.random.Generator, shape: str, size: float, clock: float) -> float:
    if shape == "heavy":
        return math.exp(size * float(np.clip(rng.standard_t(3), -8, 8)) / math.sqrt(3))
    drift = size * math.sin(2 * math.pi * clock / 86400) if shape == "drift" else 0.0
    return math.exp(drift + size * float(rng.normal()))


def _start(
    fabric: nl.Fabric, routes: nl.Routes, kind: str, job: dict, hosts: list[int], clock: float, noise: float
) -> _Run:
    count = len(hosts)
    to = {"all": range(1, count), "ring": (1, count - 1), "halves": (count // 2,)}[job["pattern"]]
    pairs = [(hosts[at], hosts[(at + step) % count]) for at in range(count) for step in to]
    sent = nl.Traffic.from_triples(fabric, *zip(*pairs, strict=True), [1e9 / len(to)] * len(pairs))
    load = np.asarray(nl.loads(fabric, routes, sent).per_link) / 1e9
    between = np.asarray(fabric.link_table()["between_switches"], dtype=bool)
    talking = job["seconds"] * job["talks"]
    alone = job["seconds"]
    if kind in ("hot", "unhurt"):
        alone += talking * max(0.0, float(load.max()) - 1.0)
    elif kind == "hops":
        alone *= 1 + job["latency"] * float(load[between].sum()) / (2 * count)
    return _Run(job, hosts, load * talking / (alone * noise), alone * noise, clock, alone * noise)


def _speeds(active: list[_Run], hurt: float) -> None:
    """How fast every run is: a fixed point, as who is held up holds up less."""
    for _ in range(4):
        total = sum((one.speed * one.load for one in active), np.zeros(1))
        for one, others in [(one, total - one.speed * one.load) for one in active]:
            busy = np.clip(others, 0.0, 0.9)
            one.speed = 1 / (1 + hurt * float((one.load * busy / (1 - busy)).max()))


def _count(carried: np.ndarray, start: float, end: float, active: list[_Run]) -> np.ndarray:
    """Adds what links carry in a time of even speeds."""
    flow = sum((one.speed * one.load for one in active), np.zeros(carried.shape[1])) * RATE
    last = math.ceil(end / POLL_S)
    while len(carried) < last:
        carried = np.concatenate([carried, np.zeros_like(carried)])
    for at in range(int(start // POLL_S), last):
        inside = min(end, (at + 1) * POLL_S) - max(start, at * POLL_S)
        if inside > 0:
            carried[at] += inside * flow
    return carried


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else len(FLUID_MACHINES)
    print(counted(site(sys.argv[1], seed) for seed in FLUID_MACHINES[:count]))
