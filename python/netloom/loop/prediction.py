"""What other routes would gain, by the answer of `infer` and by what else it may be.

The measure is the worst link load (bytes over speed), summed over phases where traffic has several: what a
program pays that waits between them. Where there is a scenario, the time in the fluid model counts beside it:
all of a phase's traffic sent at once. `sure_gain` is the least gain over the answer, its time, and samples of
its error, which agree with the answer in what every host sends and receives: that is counted, not guessed.
Where the verdict is *not identifiable*, the worst traffic with these sums counts too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.loop.round import whole

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, LinkLoads, Routes, Scenario, Traffic

SAMPLES = 4
"""How many traffics near the answer are tried."""
_ROUNDS = 20
"""Of scaling rows and columns."""
MOST_FLOWS = 50_000
"""More pairs than this are not played as flows."""
MOST_SAMPLED_ERROR = 1.0
"""The largest relative error that is sampled: what is less known is not known at all."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Gains in percent of what the routes in force would show.

    Attributes
    ----------
    gain : float
        By the answer.
    sure_gain : float
        At least, over all that was tried.
    mean_gain : float
        Mean over the answer and what is remembered of earlier rounds.
    others : tuple of float
        Gains of what is remembered, one by one.
    how : str
        What was compared, in words.
    """

    gain: float
    sure_gain: float
    mean_gain: float
    others: tuple[float, ...] = ()
    how: str = ""

    @property
    def least(self) -> float:
        """What decides, and what every table and reason calls "at least": the lesser of sure and mean."""
        return min(self.sure_gain, self.mean_gain)


LONGEST_WAY = 8
"""Links of the longest way, of trees of up to four levels."""
_IDLE_SECONDS = 1e-4
"""What a phase may take besides: latencies."""

Layers: TypeAlias = "Sequence[tuple[Traffic, float]]"
"""Traffic of phases, each with how often it comes."""


def predict(
    fabric: Fabric,
    present: Routes,
    proposed: Routes,
    layers: Layers,
    *,
    error_percent: float = 0.0,
    hose: Hose | None = None,
    others: Sequence[Layers] = (),
    scenario: Scenario | None = None,
    seed: int = 0,
    samples: int = SAMPLES,
    threads: int = 0,
) -> Prediction:
    """What `proposed` routes gain over those in force.

    Parameters
    ----------
    fabric : Fabric
        The fabric.
    present, proposed : Routes
        Routes in force, and others.
    layers : sequence of (Traffic, float)
        The answer: one traffic, or those of phases with their weights.
    error_percent : float
        How far its pairs may be off.
    hose : Hose, optional
        Sums by host, if they are all that is known: then the worst traffic within them counts too.
    others : sequence
        Layers of earlier rounds that may come again.
    scenario : Scenario, optional
        Whose hardware the fluid model takes; None: only loads count.
    seed, samples : int
        Of the traffics near the answer.
    threads : int
        0 is one a core.
    """

    def gain(of: Layers) -> float:
        return percent_less(
            worst(fabric, present, of, threads=threads), worst(fabric, proposed, of, threads=threads)
        )

    by_answer = gain(layers)
    tried = [by_answer]
    if error_percent > 0:
        error = min(MOST_SAMPLED_ERROR, error_percent / 100.0)
        tried += [
            gain([(near(traffic, error, seed=seed + k), weight) for traffic, weight in layers])
            for k in range(samples)
        ]
    how = "worst link load" if len(layers) == 1 else f"worst link loads of {len(layers)} phases"
    if scenario is not None and all(traffic.pairs <= MOST_FLOWS for traffic, _ in layers):
        times = [
            _believable(fabric, scenario, routes, layers, threads=threads) for routes in (present, proposed)
        ]
        if None not in times:
            before, after = (time or 0.0 for time in times)
            tried.append(percent_less(before, after))
            how += ", and the time of flows"
    if hose is not None:
        from netloom import _core

        before, after = (
            _core.hose_loads(fabric, routes, hose, threads=threads).max for routes in (present, proposed)
        )
        tried.append(percent_less(before, after))
        how += ", and of the worst traffic with the same sums"
    known = tuple(gain(other) for other in others)
    return Prediction(
        gain=by_answer,
        sure_gain=min(tried),
        mean_gain=sum((by_answer, *known)) / (1 + len(known)),
        others=known,
        how=how,
    )


def near(traffic: Traffic, error: float, *, seed: int) -> Traffic:
    """Traffic whose entries are off by so much (relative), with the same sums by host.

    Rows and columns are scaled in turn until sums are as they were (Deming and Stephan 1940).
    """
    from netloom.interop import from_scipy

    wanted = traffic.to_scipy()
    sent, received = (np.asarray(wanted.sum(axis=axis)).ravel() for axis in (1, 0))
    found = traffic.perturbed(error, seed=seed).to_scipy().tocsr().copy()
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    for _ in range(_ROUNDS):
        for index, sums in ((rows, sent), (found.indices, received)):
            now = np.bincount(index, found.data, minlength=len(sums))
            found.data *= np.divide(sums, now, out=np.ones(len(sums)), where=now > 0)[index]
    return from_scipy(found, traffic.hosts_hash)


def worst(fabric: Fabric, routes: Routes, layers: Layers, *, threads: int = 0) -> float:
    """The worst link load of routes, summed over phases with their weights."""
    found = link_loads(fabric, routes, layers, threads=threads)
    return sum((weight * loads.max for loads, weight in found), 0.0)


def link_loads(
    fabric: Fabric, routes: Routes, layers: Layers, *, threads: int = 0
) -> list[tuple[LinkLoads, float]]:
    """Loads of every phase, with its weight; their bounds say nothing."""
    from scipy import sparse

    from netloom import _core
    from netloom.interop import from_scipy

    if not layers:
        return []
    # Nobody looks at bounds, which take ten times as long as loads: those of no traffic do.
    hosts = layers[0][0].to_scipy().shape
    nothing = from_scipy(sparse.csr_matrix(hosts), layers[0][0].hosts_hash)
    bounds = _core.loads(fabric, routes, nothing, threads=threads, work=0)
    return [
        (whole(_core.loads(fabric, routes, traffic, bounds=bounds, threads=threads, work=0)), weight)
        for traffic, weight in layers
    ]


def fluid_seconds(scenario: Scenario, routes: Routes, layers: Layers, *, threads: int = 0) -> float:
    """How long the phases take as flows, each sent at once, one after another."""
    from netloom import _core

    # A routing with tables, whichever: those given are taken.
    return sum(
        weight
        * 1e-12
        * whole(
            _core.simulate(
                scenario.with_traffic(traffic), "ftree", routes=routes, model="fluid", threads=max(1, threads)
            )
        ).end_ps
        for traffic, weight in layers
    )


def _believable(
    fabric: Fabric, scenario: Scenario, routes: Routes, layers: Layers, *, threads: int
) -> float | None:
    """The same, unless no fair sharing can take so long.

    Every flow has a full link on its way until it ends, so the last one ends when the links of its way have
    carried all of theirs one after another, if not before.
    """
    found = fluid_seconds(scenario, routes, layers, threads=threads)
    full = worst(fabric, routes, layers, threads=threads) / float(
        fabric.link_table()["bandwidth_bytes_per_s"].max()
    )
    return (
        found if found <= LONGEST_WAY * full + _IDLE_SECONDS * sum(weight for _, weight in layers) else None
    )


def percent_less(before: float, after: float) -> float:
    """By how many percent `after` is less than `before`; 0 where there was nothing."""
    return 100.0 * (before - after) / before if before > 0 else 0.0
