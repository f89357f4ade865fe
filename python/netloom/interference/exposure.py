"""How far a run is exposed to neighbours: for what share of its time their bytes are on a link of its own.

Counters do not say whose bytes a link carries. They are shared out as gravity has it: what a job's hosts
send goes to its other hosts in proportion to what these receive, along the routes; a link's bytes are every
job's in proportion to that. So a job whose hosts send nothing exposes nobody, and one whose routes share no
link with another is not exposed to it, whatever it sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.interference.accounts import Array, Carried, JobRun

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes


@dataclass(frozen=True)
class Exposure:
    """Of one run.

    Attributes
    ----------
    share : float
        Of its time, in which its neighbours' bytes were on the link where they were most.
    link : int or None
        That link; None where it has no neighbours on any.
    neighbours : tuple of (int, float)
        Places of these runs in the list, and their shares of the neighbours' bytes there; largest first.
    covered : float
        The share of its time for which it is known what its hosts' links and those on its ways carried.
    own_s : float
        For how long its own bytes are on its busiest link, those of hosts included: how far it is in its own
        way, which differs by placement.
    estimated : float
        The same share where neighbours' bytes are most by gravity alone, whatever the links counted: what
        routes that were not in force can be compared by.
    """

    share: float
    link: int | None
    neighbours: tuple[tuple[int, float], ...]
    covered: float
    own_s: float
    estimated: float


def exposures(
    fabric: Fabric, routes: Routes, runs: Sequence[JobRun], carried: Carried, *, threads: int = 0
) -> list[Exposure]:
    """How far each run is exposed.

    Parameters
    ----------
    fabric : Fabric
    routes : Routes
        Those in force.
    runs : sequence of JobRun
        All that ran, or neighbours are missing.
    carried : Carried
        What links carried meanwhile.
    threads : int, default 0
    """
    table = fabric.link_table()
    between = np.asarray(table["between_switches"], dtype=bool)
    rate = np.asarray(table["bandwidth_bytes_per_s"], dtype=np.float64)
    receiving = _receiving(fabric)
    found = []
    for at, run in enumerate(runs):
        total, known = carried.during(run.start_s, run.end_s)
        own = _gravity(fabric, routes, run, total, receiving, threads)
        others: dict[int, Array] = {}
        for number, other in enumerate(runs):
            start, end = max(run.start_s, other.start_s), min(run.end_s, other.end_s)
            if number != at and end > start:
                meanwhile, _ = carried.during(start, end)
                others[number] = _gravity(fabric, routes, other, meanwhile, receiving, threads)
        used = between & (own > 0)
        hosts = np.array(run.hosts)
        covered = float(known[[*hosts, *receiving[hosts], *np.flatnonzero(used)]].min())
        theirs = sum(others.values(), np.zeros_like(own))
        share = np.divide(theirs, own + theirs, out=np.zeros_like(own), where=used)
        exposed = np.where(used, total * share / (rate * run.seconds), 0.0)
        # Loads are bytes over a link's rate in that of the fastest.
        estimated = float(np.where(used, theirs, 0.0).max(initial=0.0)) / (float(rate.max()) * run.seconds)
        own_s = float(own.max(initial=0.0)) / float(rate.max())
        link = int(np.argmax(exposed))
        if exposed[link] <= 0:
            found.append(Exposure(0.0, None, (), covered, own_s, estimated))
            continue
        parts = sorted(
            ((number, float(one[link] / theirs[link])) for number, one in others.items() if one[link] > 0),
            key=lambda part: (-part[1], part[0]),
        )
        found.append(Exposure(float(exposed[link]), link, tuple(parts), covered, own_s, estimated))
    return found


def _receiving(fabric: Fabric) -> np.ndarray:
    """By host, the link to it."""
    targets = np.asarray(fabric.link_table()["target"])
    links = np.nonzero(targets < fabric.hosts)[0]
    found = np.zeros(fabric.hosts, dtype=np.int64)
    found[targets[links]] = links
    return found


def _gravity(
    fabric: Fabric, routes: Routes, run: JobRun, total: Array, receiving: np.ndarray, threads: int
) -> Array:
    """What a run sends over each link by what its hosts send and receive: bytes over relative capacity."""
    from netloom import _core

    hosts = np.array(run.hosts)
    # A host's own link has its number.
    sent, received = total[hosts], total[receiving[hosts]]
    pairs = np.outer(sent, received)
    np.fill_diagonal(pairs, 0.0)
    to = pairs.sum(axis=1, keepdims=True)
    pairs = np.divide(pairs * sent[:, None], to, out=np.zeros_like(pairs), where=to > 0)
    here, there = np.nonzero(pairs > 0)
    if not len(here):
        return np.zeros_like(total)
    traffic = _core.Traffic.from_triples(fabric, hosts[here], hosts[there], pairs[here, there])
    found = _core.loads(fabric, routes, traffic, threads=threads, work=0)
    return np.asarray(found.per_link, dtype=np.float64)
