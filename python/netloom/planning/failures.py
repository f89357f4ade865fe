"""After failures: what the applications' bytes take on a design that has lost a cable, a spine, a core.

Throughput is that of an application's bytes alone, 1 on a network without taper: the bytes of the busiest
host over those of the fullest link. The bound on the damaged fabric, the tables of `ftree` made again there,
and tables optimised for the application are told beside each other. Every application is looked at after
what is worst for it.

Which failure is worst follows from the tree where bundles are equal. Without a cable of leaf l, every other
leaf can spread what it sends as before, but for what goes to l; so no link needs more than B/(u - 1), B the
bytes out of or into the busiest leaf and u its cables. And the busiest leaf needs just that without one of
its own. So a cable of the busiest leaf is the worst, or one up from the pod with the most bytes; a spine of
the pod with the busiest leaf, or of that with the most bytes; cores are alike. Where bundles differ, all
spines and all cables of the busiest leaf are looked at, and what is told is the worst of these.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.planning.placed import Application, Network, busiest_host, time_left
from netloom.planning.pool import each

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Traffic

KINDS = ("cable", "spine", "core", "one_percent")
"""What fails: the worst cable between switches, spine, core; and one cable in a hundred, drawn."""
TABLES = ("ftree", "optimized")
"""Tables that are made again on the damaged fabric."""
LATE = "late"
"""What stands for what there was no time for."""


def after_failures(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    designs: Iterable[Mapping[str, Any]],
    *,
    threads: int = 0,
    until: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, dict[str, Any]]:
    """What a plan's applications keep of their throughput on designs that have lost something.

    Parameters
    ----------
    source : path
        The plan (.toml).
    result : mapping
        What `netloom.plan` answers to it.
    designs : iterable of mapping
        Those of its designs that are looked at.
    threads : int, default 0
        Applications side by side; 0 is one a core.
    until : float, optional
        When to stop, by `time.monotonic`; what was not looked at by then is "late".
    progress : callable, optional
        Called with the failures that are done and all that are to do.

    Returns
    -------
    dict
        By spec: `after_failure` of a design in `docs/schemas/plan.json`.

    Examples
    --------
    >>> result = netloom.plan("plan.toml")
    >>> after_failures("plan.toml", result, [result["full"]])[result["full"]["spec"]]["spine"]["kept_percent"]
    87.5
    """
    from netloom import _core

    applications = Application.all_of(source, result)
    order = result["orders"][0]
    at = {
        a.name: _core.plan_hosts(order, result["hosts"], a.copies, a.each, seed=result["seed"], draw=0)
        for a in applications
    }
    networks = {one["spec"]: Network.of(one["spec"], result["speed_gbps"]) for one in designs}
    work = {(spec, a.name, kind): a for spec in networks for kind in (None, *KINDS) for a in applications}

    def run(key: tuple[str, str, str | None]) -> dict[str, Any] | str | None:
        (spec, _, kind), a = key, work[key]
        fabric, worst = networks[spec].fabric, None
        try:
            time_left(until)
            placed = list(a.on(networks[spec], at[a.name]))
            for failed in _candidates(fabric, placed, kind, result["seed"]):
                found = _bounded(fabric, placed, failed, until)
                if worst is None or found["throughput"]["bound"] < worst["throughput"]["bound"]:
                    worst, lost = found, failed
            if worst is not None:
                whole = a.placed(a.traffic, networks[spec], at[a.name])
                worst["throughput"] |= _routed(fabric, placed, whole, lost, until)
        except TimeoutError:
            return LATE
        return worst

    found = each(work, run, threads=threads, progress=progress)
    return {
        spec: _told(
            {kind: [found[spec, a.name, kind] for a in applications] for kind in (None, *KINDS)},
            applications,
            order,
        )
        for spec in networks
    }


def _told(
    found: Mapping[str | None, Sequence[Mapping[str, Any] | str | None]],
    applications: Sequence[Application],
    order: str,
) -> dict[str, Any]:
    """Of one design: the mix before and after, and every application."""
    before = _mix(found[None], applications)
    told: dict[str, Any] = {"order": order, "before": before if isinstance(before, dict) else None}
    for kind in KINDS:
        after, whole = _mix(found[kind], applications), told["before"]
        if isinstance(after, dict):
            kept = 100 * after["throughput"]["bound"] / whole["throughput"]["bound"] if whole else None
            both = zip(applications, found[kind], strict=True)
            rows = [{"name": a.name, **row} for a, row in both if isinstance(row, dict)]
            after |= {"kept_percent": kept, "applications": rows}
        told[kind] = after
    return told


def _mix(
    rows: Sequence[Mapping[str, Any] | str | None], applications: Sequence[Application]
) -> dict[str, Any] | str | None:
    """Throughput of the mix, application after application, and the estimate of its slowdown."""
    if LATE in rows:
        return LATE
    known = [
        (a, row["throughput"]) for a, row in zip(applications, rows, strict=True) if isinstance(row, dict)
    ]
    if not known:
        return None
    weight = sum(a.weight for a in applications)
    through: dict[str, float] = {}
    for what in ("bound", *TABLES):
        cut = any(row[what] == 0 for _, row in known)
        through[what] = 0.0 if cut else weight / sum(a.weight / row[what] for a, row in known)
    slow = [a.weight * a.estimate(max(1.0, 1 / row["bound"])) for a, row in known if row["bound"] > 0]
    return {"throughput": through, "estimate": sum(slow) / weight if len(slow) == len(known) else None}


def _candidates(
    fabric: Fabric, placed: Sequence[tuple[float, Traffic]], kind: str | None, seed: int
) -> list[dict[str, Any]]:
    """What may be the worst to lose, as arguments of `Fabric.damage`; nothing where there is none of it."""
    import numpy as np

    if kind is None:
        return [{}]
    links, table = fabric.link_table(), fabric.switch_table()
    level, pod = np.asarray(table["level"]), np.asarray(table["pod"])
    between = np.asarray(links["between_switches"])
    ends = np.stack([np.asarray(links[key], np.int64) - fabric.hosts for key in ("source", "target")])
    port = np.asarray(links["source_port"])
    names = [str(name) for name in table["name"]]
    climbs = between & (level[ends[0].clip(0)] < level[ends[1].clip(0)])
    if not climbs.any():
        return []
    if kind == "one_percent":
        return [{"random_links": max(1, round(climbs.sum() / 100)), "seed": seed}]
    leaf = _busiest(placed, np.asarray(fabric.host_table()["leaf"], np.int64), len(level))
    if kind == "core":
        return [{"switches": [names[core]]} for core in np.flatnonzero(level == 2)[:1]]
    several = bool((level == 2).any())
    pods = {int(pod[leaf])}
    if several:
        pods.add(_busiest(placed, pod[np.asarray(fabric.host_table()["leaf"], np.int64)], pod.max() + 1))
    if kind == "spine":
        spines = np.flatnonzero(level == 1)
        if several:
            spines = np.array([spines[pod[spines] == one][0] for one in sorted(pods)])
        elif _alike(ends[:, climbs]):
            spines = spines[:1]
        return [{"switches": [names[spine]]} for spine in spines]
    own = np.flatnonzero(climbs & (ends[0] == leaf))
    cables = own[:1] if several or _alike(ends[:, climbs]) else own
    if several:
        upper = [
            np.flatnonzero(climbs & (level[ends[0].clip(0)] == 1) & (pod[ends[0].clip(0)] == p)) for p in pods
        ]
        cables = np.append(cables, [of[0] for of in upper if len(of)])
    return [{"links": [f"{names[ends[0, cable]]}[{port[cable]}]"]} for cable in cables]


def _busiest(placed: Sequence[tuple[float, Traffic]], group: Any, groups: int) -> int:
    """The group of hosts out of or into which most bytes go, phase by phase."""
    import numpy as np

    total = np.zeros(groups)
    for often, traffic in placed:
        source = group[np.repeat(np.arange(traffic.endpoints), np.diff(traffic.indptr))]
        target = group[np.asarray(traffic.indices)]
        out = source != target
        sent = [
            np.bincount(side[out], weights=traffic.data[out], minlength=groups) for side in (source, target)
        ]
        total += often * np.maximum(*sent)
    return int(total.argmax())


def _alike(ends: Any) -> bool:
    """Whether all pairs of switches that are joined have equally many cables."""
    import numpy as np

    return len(np.unique(np.unique(ends, axis=1, return_counts=True)[1])) == 1


def _bounded(
    fabric: Fabric,
    placed: Sequence[tuple[float, Traffic]],
    failed: Mapping[str, Any],
    until: float | None = None,
) -> dict[str, Any]:
    """The bound's throughput without something; 0 where that cuts pairs that send."""
    from netloom import RoutingError, _core

    left, gone = fabric.damage(**failed) if failed else (fabric, [])
    lost = gone if "seed" in failed else gone[:1]
    host = bound = 0.0
    exact = True
    try:
        for often, traffic in placed:
            loads = _core.loads(left, "minhop", traffic, threads=1, time_limit=time_left(until))
            if loads.stopped is not None:
                raise TimeoutError
            host += often * busiest_host(traffic)
            bound += often * loads.ar_bound
            exact &= loads.ar_bound_exact
    except RoutingError:
        return {"lost": lost, "throughput": {"bound": 0.0}, "exact": True}
    return {"lost": lost, "throughput": {"bound": host / bound if bound else 1.0}, "exact": exact}


def _routed(
    fabric: Fabric,
    placed: Sequence[tuple[float, Traffic]],
    whole: Traffic,
    failed: Mapping[str, Any],
    until: float | None,
) -> dict[str, float]:
    """Throughput with tables that are made again: of ftree, and optimised for all phases together."""
    from netloom import OptimizeError, RoutingError, _core

    left = fabric.damage(**failed)[0] if failed else fabric
    host = sum(often * busiest_host(traffic) for often, traffic in placed)
    told = {}
    for name in TABLES:
        try:
            tables: Routes | str = name
            if name == "optimized":
                tables = _core.optimize(left, whole, threads=1, time_limit=time_left(until)).routes
            time_left(until)
            load = sum(often * _core.loads(left, tables, one, threads=1).max for often, one in placed)
        except (RoutingError, OptimizeError):
            told[name] = 0.0
            continue
        told[name] = host / load if load else 1.0
    return told
