"""What hosts would send if nothing held them up.

Congestion throttles the flows that share a link, so counters understate demand: they show no hot link where
it matters most. Of a job that has ended, what it sent is all that it had to send. Of one that
still runs, a host whose link waited (PortXmitWait) had more: it would have gone on sending in that time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Scenario, Simulation, Traffic
    from netloom.loop.prediction import Layers

MOST = 16.0
"""Nobody is taken to want more than so many times what it sent: what hardly sends hardly tells."""
_TICK_SECONDS = 1e-9


def held_up(fabric: Fabric, scenario: Scenario, ended: Simulation) -> npt.NDArray[np.float64]:
    """By host: how many times what it sent it would have sent; 1 where its job has ended, or it has none."""
    counters = ended.counters()
    link = np.asarray(counters["link"])
    speed = np.asarray(fabric.link_table()["bandwidth_bytes_per_s"], dtype=np.float64)[: fabric.hosts]
    # A host's link has its number; lanes of a link add up.
    sent, waited = (
        np.bincount(link, np.asarray(counters[name], dtype=np.float64), minlength=fabric.links)[
            : fabric.hosts
        ]
        for name in ("xmit_bytes", "wait_ticks")
    )
    waits_bytes = waited * _TICK_SECONDS * speed
    more = 1.0 + np.divide(waits_bytes, sent, out=np.zeros(fabric.hosts), where=sent > 0)
    found = np.ones(fabric.hosts)
    for job, told in zip(scenario.jobs, ended.result()["jobs"], strict=True):
        if told["completion_ms"] is None:
            found[job.hosts] = np.minimum(MOST, more[job.hosts])
    return found


def weighted(
    fabric: Fabric,
    layers: Layers,
    scenario: Scenario,
    weights: Mapping[str, float],
    *,
    pairs_are_known: bool,
) -> list[tuple[Traffic, float]]:
    """Traffic in which bytes of jobs count as their weights say.

    A job that needs a weight has few bytes. Where its pairs are not known for that, what its leaves send is
    spread over its hosts by what these receive, so that routes keep all of it off hot links.
    """
    import scipy.sparse as sp

    from netloom.interop import from_scipy

    named = {job.name: job.hosts for job in scenario.jobs if job.name in weights}
    if not named:
        return list(layers)
    leaf = np.asarray(fabric.host_table()["leaf"])
    out = []
    for traffic, weight in layers:
        matrix = traffic.to_scipy().tocsr().copy()
        sent, received = (np.asarray(matrix.sum(axis=axis)).ravel() for axis in (1, 0))
        for name, hosts in named.items():
            its = np.zeros(fabric.hosts)
            if pairs_are_known:
                its[hosts] = weights[name] - 1.0
                matrix = matrix + matrix.multiply(sp.csr_array(its[:, None])).tocsr()
                continue
            its[hosts] = 1.0
            matrix = matrix - matrix.multiply(sp.csr_array(its[:, None])).tocsr()
            matrix.eliminate_zeros()
            # Hosts of a leaf are alike to routes: the first one stands for all.
            leaves, first, at = np.unique(leaf[hosts], return_index=True, return_inverse=True)
            of_leaf = np.bincount(at, sent[hosts], minlength=len(leaves))
            from_leaf, to = (
                grid.ravel() for grid in np.meshgrid(np.arange(len(leaves)), hosts, indexing="ij")
            )
            share = received[to] / max(received[hosts].sum(), 1e-300)
            amount = weights[name] * of_leaf[from_leaf] * share
            amount[leaf[to] == leaves[from_leaf]] = 0.0
            spread = sp.coo_array((amount, (hosts[first][from_leaf], to)), shape=matrix.shape).tocsr()
            spread.eliminate_zeros()
            matrix = matrix + spread
        out.append((from_scipy(matrix.tocsr(), traffic.hosts_hash), weight))
    return out


def wanted(layers: Layers, factors: npt.NDArray[np.float64]) -> list[tuple[Traffic, float]]:
    """Traffic with every host's part so many times as large."""
    from netloom.interop import from_scipy

    if (factors == 1.0).all():
        return list(layers)
    out = []
    for traffic, weight in layers:
        matrix = traffic.to_scipy().tocsr().copy()
        matrix.data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
        out.append((from_scipy(matrix, traffic.hosts_hash), weight))
    return out
