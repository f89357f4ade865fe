"""Eight training jobs on one fabric: what an order of ranks alone, routes alone, and both buy.

Machines are drawn for the jobs, so that each is spread over the fabric. What a job gets is told in percent of
line: the bytes of its busiest adapter over the largest load of a link that carries any of its bytes, all jobs
sending at once. 100 means that its adapters are what limits it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netloom.errors import ArgumentError
from netloom.training.collective import Collective, machines_of
from netloom.training.placed import Ranked, by_leaf
from netloom.training.schedule import goal

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Routes, Traffic
    from netloom.session.session import Session

JOBS = (
    ("dense 1", "nccl-ring", 8),
    ("dense 2", "nccl-ring", 16),
    ("dense 3", "nccl-ring", 24),
    ("dense 4", "nccl-ring", 32),
    ("expert 1", "nccl-pairs", 8),
    ("expert 2", "nccl-pairs", 16),
    ("data 1", "nccl-tree", 8),
    ("data 2", "nccl-tree", 16),
)
"""Name, collective, and how many of 128 machines: rings of dense models, all-to-all of experts, trees of
gradients."""
OF = 128
ORDERS = ("given", "leaf")
ROUTES = ("ftree", "ecmp:pairs=4", "adaptive", "optimized")
DRAWS = 20
"""Seeds of the hash; what a job gets is the median of these."""
BYTES = 16_000_000
"""What an adapter sends, about."""
THRESHOLD = 0.1
"""Percent by which a job is slower where it is called so. Jobs that begin up to a packet's time apart (82 ns)
move each other's times by 0.1 % in the median, some by 2 %: less than 0.1 % a run does not tell."""


@dataclass(frozen=True)
class Placed:
    """A job of the study on its hosts.

    Parameters
    ----------
    name : str
        The job's.
    what : Collective
        What it does.
    ranked : Ranked
        Where its ranks are.
    traffic : Traffic
        What it sends, over the fabric's hosts.
    """

    name: str
    what: Collective
    ranked: Ranked
    traffic: Traffic


def placed(fabric: Fabric, *, order: str, bytes: int, seed: int = 0) -> list[Placed]:
    """The eight jobs on machines that are drawn, ranks in the order of the draw or by leaf.

    Parameters
    ----------
    fabric : Fabric
        Of 32 machines at least, with as many adapters each.
    order : str
        `given` or `leaf`.
    bytes : int
        What an adapter sends, about.
    seed : int, default 0
        Of the draw.

    Raises
    ------
    ArgumentError
        For fewer machines.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=8,hosts=8,spines=8")
    >>> [job.what.ranks for job in placed(fabric, order="leaf", bytes=1000)]
    [4, 8, 12, 16, 4, 8, 4, 8]
    """
    import numpy as np

    from netloom import _core

    machines, gpus = machines_of(fabric, "eight jobs")
    if machines < OF // 4:
        raise ArgumentError(f"expected a fabric of {OF // 4} machines or more, found {machines}")
    drawn = random.Random(seed).sample(range(machines), machines)
    at, jobs = 0, []
    for name, algorithm, share in JOBS:
        count = share * machines // OF
        mine = np.array(drawn[at : at + count])
        at += count
        hosts = (mine[:, None] * gpus + np.arange(gpus)).reshape(-1)
        what = Collective.parse(
            f"{algorithm}:machines={count},gpus={gpus},bytes={_whole(algorithm, gpus, bytes)}"
        )
        ends = np.array(list(what.flows()), dtype=np.int64).T
        flows = _core.Traffic.from_triples(fabric, hosts[ends[0]], hosts[ends[1]], ends[2].astype(float))
        ranked = Ranked(name, hosts, hosts)
        if order == "leaf":
            flows, (ranked,) = by_leaf(flows, [ranked], fabric)
        jobs.append(Placed(name, what, ranked, flows))
    return jobs


def _whole(algorithm: str, gpus: int, bytes: int) -> int:
    """The buffer of a rank whose adapter sends about so many bytes."""
    return bytes if algorithm == "nccl-pairs" else gpus * bytes // 2


def of_line(jobs: Sequence[Placed], loads: Sequence[npt.NDArray[Any]]) -> list[float]:
    """What every job gets, in percent of line; `loads` are by link, of every job."""
    import numpy as np

    total = np.sum(loads, axis=0)
    return [
        100 * float(job.traffic.to_scipy(copy=False).sum(axis=1).max()) / float(total[mine > 0].max())
        for job, mine in zip(jobs, loads, strict=True)
    ]


@dataclass(frozen=True)
class Choice:
    """An order of ranks with a routing, and what the jobs get.

    Parameters
    ----------
    order : str
        `given` or `leaf`.
    routes : str
        One of `ROUTES`.
    of_line : list of float
        By job, percent of line.
    time_ms : list of float, or None
        By job, when its collective is complete; None where nothing was simulated.
    """

    order: str
    routes: str
    of_line: list[float]
    time_ms: list[float] | None


def choices(
    session: Session, fabric: Fabric, *, model: Literal["packet", "fluid"] | None
) -> Iterator[tuple[list[Placed], Choice]]:
    """Every order with every routing, in the order of `ORDERS` and `ROUTES`.

    Parameters
    ----------
    session : Session
        Its seed draws the machines, and the hashes of `ecmp`.
    fabric : Fabric
        Of 32 machines at least, with as many adapters each.
    model : str, optional
        Also simulate the jobs side by side, one collective each; `ecmp` runs by packets only.
    """
    for order in ORDERS:
        jobs = placed(fabric, order=order, bytes=BYTES, seed=session.seed)
        every = sum((job.traffic for job in jobs[1:]), jobs[0].traffic)
        best = session.routes("optimize", fabric, every)
        for name in ROUTES:
            if name in ("ftree", "optimized"):
                tables = best if name == "optimized" else session.routes(name, fabric, every)
                got = of_line(jobs, [session.loads(fabric, tables, job.traffic).per_link for job in jobs])
            else:
                # Packets that take all ways alike are as even as thousands of flows.
                pairs, draws = (4, DRAWS) if name == "ecmp:pairs=4" else (4096, 1)
                got = _hashed(session, fabric, jobs, pairs, draws)
            hashed = name.startswith("ecmp")
            times = None
            if model is not None and not (hashed and model == "fluid"):
                times = _times(session, fabric, jobs, name, best if name == "optimized" else None, model)
            yield jobs, Choice(order, name, got, times)


def _hashed(session: Session, fabric: Fabric, jobs: Sequence[Placed], pairs: int, draws: int) -> list[float]:
    """The median of the draws, job by job. A flow's way depends on its draw alone, not on other flows."""
    import statistics

    from netloom import _core

    every = []
    for draw in range(draws):
        seed = session.seed + draw
        found = [
            _core.ecmp_loads(fabric, job.traffic, pairs=pairs, draws=1, seed=seed, threads=session.threads)
            for job in jobs
        ]
        every.append(of_line(jobs, [loads.per_link for loads, _ in found]))
    return [statistics.median(values) for values in zip(*every, strict=True)]


def _times(
    session: Session,
    fabric: Fabric,
    jobs: Sequence[Placed],
    routing: str,
    tables: Routes | None,
    model: Literal["packet", "fluid"],
) -> list[float]:
    """When every job's collective is complete, in ms, all begun at once."""
    from netloom import _core
    from netloom.files import Scratch

    machine = fabric.host_table()["machine"]
    text = [f'name = "training"\nfabric = "at hand"\nmodel = "{model}"\nroutes = ["{routing}"]']
    text.append(f"seed = {session.seed}")
    with Scratch.private() as scratch:
        for job in jobs:
            file = f"{job.name.replace(' ', '-')}.goal"
            scratch.write(file, goal(job.what).encode())
            hosts = dict.fromkeys(machine[host] for host in job.ranked.host_of_rank.tolist())
            text.append(f'[[job]]\nname = "{job.name}"\ntrace = "{file}"\nranks = {job.what.ranks}')
            text.append(f"ranks_per_host = {job.what.gpus}\nhosts = {json.dumps(list(hosts))}")
        scene = _core.Scenario.on(fabric, "\n".join(text) + "\n", "training.toml", scratch.path)
    with session.progress(f"{routing}, {model}") as progress:
        run = _core.simulate(scene, routing, routes=tables, time_limit=session.left, progress=progress)
    if run.stopped:
        raise session.too_late()
    return [float(job["completion_ms"]) for job in run.result()["jobs"]]
