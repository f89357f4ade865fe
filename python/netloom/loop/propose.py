"""The proposal rule of every loop: which routes a round proposes, what they gain, which part comes first.

Both the loop in the simulator and the loop on a live fabric fill in an `Evidence` and ask here; what they do
with the answer (simulate it, or load it through OpenSM) is theirs. [Methods](docs/methods/loop.md#proposal)
has the rule.

Invariants: equal evidence gives equal tables, for any number of threads; a proposal does not depend on
earlier decisions, only on the traffic that is remembered; every destination of a canary has its old entries
or its new ones, at all of its addresses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.loop.decision import Proposal
from netloom.loop.prediction import Layers, Prediction, link_loads, predict, worst
from netloom.loop.round import digest, whole

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Job, Routes, Scenario, Traffic

HOT_SHARE = 0.75
"""Links with more than this share of the worst load count where that is the same: queues grow at each."""
WORK_PER_PAIR = 20
LEAST_WORK = 1_000_000
"""Path searches of the optimiser, as scenarios' own `optimized` has them."""
CANARY_DRAWS = 8
"""Draws of destinations that are compared."""
CANARY_ATTEMPTS = 3
"""So often canaries are drawn where none of them gains by itself, each time twice as large."""
MOST_CANARY_PERCENT = 50.0
"""But of no more than this percent of the destinations."""
NO_CANARY = "no part of it gains by itself, so all of it at once"
"""Why there is no canary though one is wanted."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a round knows when it proposes routes.

    Attributes
    ----------
    fabric : Fabric
        The fabric.
    present : Routes
        The routes in force.
    layers : sequence of (Traffic, float)
        The traffic to make routes for: of every phase, with how often it comes.
    others : sequence of layers
        Traffic of earlier rounds that may come again (`Memory.others`).
    error_percent : float
        How far pairs of the traffic may be off.
    sums : Hose, optional
        What every host sends and receives, where that is all that is known; then routes are made for it.
    scenario : Scenario, optional
        Whose hardware the time of flows is predicted on; None: only loads are predicted.
    seed, threads : int
        As everywhere.
    work : int, optional
        Path searches of the optimiser. None: as the traffic's size says.
    """

    fabric: Fabric
    present: Routes
    layers: Layers
    others: Sequence[Layers] = ()
    error_percent: float = 0.0
    sums: Hose | None = None
    scenario: Scenario | None = None
    seed: int = 0
    threads: int = 0
    work: int | None = None


def propose(evidence: Evidence) -> Routes:
    """Routes for what was seen, and for what may come again.

    Sought from the routes in force, which changes little, and anew; the better ones of both. Where sums
    are all there is, for these. Routes that need lanes only where those in force have some.

    Parameters
    ----------
    evidence : Evidence
        What the round knows.

    Returns
    -------
    Routes

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C broke the search off.
    """
    from netloom import _core

    fabric, present = evidence.fabric, evidence.present
    seed, threads = evidence.seed, evidence.threads
    # Forwarding tables alone are loaded: what needs lanes is for fabrics that have them.
    max_lanes = 1 if present.lanes is None else max(8, present.lanes.lanes)
    if evidence.sums is not None:
        found = _core.optimize_hose(
            fabric,
            evidence.sums,
            today=present,
            seed=seed,
            threads=threads,
            work=evidence.work,
            max_lanes=max_lanes,
        )
        return whole(found).routes
    parts = [evidence.layers, *evidence.others]
    named = [
        (f"{number}.{place}", traffic, weight / (_worst(evidence, part) if len(parts) > 1 else 1.0))
        for number, part in enumerate(parts)
        for place, (traffic, weight) in enumerate(part)
    ]
    pairs = sum(traffic.pairs for _, traffic, _ in named)
    work = evidence.work if evidence.work is not None else LEAST_WORK + WORK_PER_PAIR * pairs
    candidates = []
    for today in (present, None):
        best = _core.optimize_layers(
            fabric,
            named,
            "sum",
            background=present,
            today=today,
            seed=seed,
            threads=threads,
            work=work,
            max_lanes=max_lanes,
        )
        candidates.append(whole(best).routes)
    known = [(traffic, weight) for _, traffic, weight in named]
    return min(candidates, key=lambda routes: _rank(evidence, routes, known))


def judge(
    evidence: Evidence, proposed: Routes, *, changed_entries: int, unsound: str | None = None
) -> Proposal:
    """What proposed routes gain and cost, for the decision.

    Parameters
    ----------
    evidence : Evidence
        What the round knows.
    proposed : Routes
        The routes as they would be loaded.
    changed_entries : int
        Entries that differ from those in force.
    unsound : str, optional
        Why they must not be loaded.

    Returns
    -------
    Proposal
    """
    moved = (
        evidence.present.moved(proposed, added(evidence.layers))
        if unsound is None and changed_entries
        else 0.0
    )
    return Proposal(
        prediction=_predicted(evidence, proposed, changed_entries),
        changed_entries=changed_entries,
        moved=moved,
        tables=digest(proposed),
        unsound=unsound,
    )


@dataclass(frozen=True, kw_only=True)
class Canary:
    """Part of a change, which comes first.

    Attributes
    ----------
    routes : Routes
        Those in force, with the proposed ones for some destinations.
    prediction : Prediction
        What they gain.
    percent : float
        Of the destinations that change, how many.
    """

    routes: Routes
    prediction: Prediction
    percent: float


def draw_canary(evidence: Evidence, proposed: Routes, percent: float, number: int) -> Canary | None:
    """The routes in force with those proposed for part of the destinations, and what that is to gain.

    Of several draws among the destinations that change the one with the largest predicted gain. A mix may
    load links that neither the old nor the new tables do: where no draw surely gains, twice as many
    destinations are drawn, up to half of them.

    Parameters
    ----------
    evidence : Evidence
        What the round knows.
    proposed : Routes
        The whole change.
    percent : float
        The part, above 0 and up to 100 percent of the destinations that change, rounded up.
    number : int
        Of the round, from 1; the draws depend on it and on the seed.

    Returns
    -------
    Canary
        None if no mix surely gains: it would be loaded against its own prediction.
    """
    present = evidence.present
    # What may come again is not looked for: the canary runs now.
    now = replace(evidence, others=())
    old, new = present.table(), proposed.table()
    addresses = evidence.fabric.hosts << present.lmc
    hosts = np.unique(np.flatnonzero((old != new).any(axis=0)[:addresses]) >> present.lmc)
    random = np.random.default_rng([evidence.seed, number])
    for _ in range(CANARY_ATTEMPTS):
        count = int(np.ceil(len(hosts) * percent / 100.0))
        drawn: dict[tuple[int, ...], Canary] = {}
        for _ in range(CANARY_DRAWS):
            some = tuple(sorted(int(host) for host in random.permutation(hosts)[:count]))
            if some not in drawn:
                mixed = present.mixed(proposed, some)
                gain = _predicted(now, mixed, present.changed_entries(mixed))
                drawn[some] = Canary(routes=mixed, prediction=gain, percent=percent)
        best = max(drawn.values(), key=lambda one: one.prediction.sure_gain)
        if best.prediction.sure_gain > 0:
            return best
        percent = max(percent, min(2.0 * percent, MOST_CANARY_PERCENT))
    return None


def added(layers: Layers) -> Traffic:
    """All phases' traffic as one."""
    from netloom.interop import from_scipy

    if len(layers) == 1:
        return layers[0][0]
    total = sum(weight * traffic.to_scipy() for traffic, weight in layers)
    return from_scipy(total, layers[0][0].hosts_hash)


def jobs_sum(jobs: Sequence[Job]) -> str:
    """A short sum of who runs where; empty where nobody knows."""
    told = hashlib.sha256()
    for job in jobs:
        told.update(job.name.encode() + b"\0" + job.host_of_rank.tobytes())
    return told.hexdigest()[:16] if jobs else ""


def _predicted(evidence: Evidence, proposed: Routes, changed: int) -> Prediction:
    if changed == 0:
        return Prediction(gain=0.0, sure_gain=0.0, mean_gain=0.0)
    return predict(
        evidence.fabric,
        evidence.present,
        proposed,
        evidence.layers,
        error_percent=evidence.error_percent,
        hose=evidence.sums,
        others=evidence.others,
        scenario=evidence.scenario,
        seed=evidence.seed,
        threads=evidence.threads,
    )


def _rank(evidence: Evidence, routes: Routes, layers: Layers) -> tuple[float, int, int]:
    """Less is better: the worst load (to a thousandth), links that carry hardly less, changed entries."""
    worst_of_all, hot = 0.0, 0
    for loads, weight in link_loads(evidence.fabric, routes, layers, threads=evidence.threads):
        worst_of_all += weight * loads.max
        hot += int((loads.per_link > HOT_SHARE * loads.max).sum())
    return float(f"{worst_of_all:.3g}"), hot, evidence.present.changed_entries(routes)


def _worst(evidence: Evidence, layers: Layers) -> float:
    """What the routes in force show, as the measure of other traffic."""
    return worst(evidence.fabric, evidence.present, layers, threads=evidence.threads) or 1.0
