"""After failures: what the applications' bytes take on a design that has lost a cable, a spine, a core.

Throughput is that of an application's bytes alone, 1 on a network without taper: the bytes of the busiest
host over those of the fullest link. The bound on the damaged fabric, the tables of `ftree` made again there,
and tables optimised for the application are told beside each other. Every application is looked at after
what is worst for it.

Failures that are alike are tried once, those that may cost most first, until no other can be worse
(`netloom.planning.worst`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.planning.placed import Application, Network, busiest_host, time_left
from netloom.planning.pool import each
from netloom.planning.worst import failures

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes, Traffic

KINDS = ("cable", "spine", "core", "one_percent")
"""What fails: the worst cable between switches, spine, core; and one cable in a hundred, drawn."""
TABLES = ("ftree", "optimized")
"""Tables that are made again on the damaged fabric; the optimised ones are the better of both."""
MOST_TRIED = 128
"""Failures of a kind that are tried for an application, at most; more than these are alike on few trees."""
ACCURACY = 2e-4
"""How much less another failure may leave, of what the worst leaves: that of the bound."""
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
        fabric = networks[spec].fabric
        try:
            time_left(until)
            placed = list(a.on(networks[spec], at[a.name]))
            worst = _worst(fabric, placed, kind, result["seed"], until)
            if worst is None:
                return None
            failed, found = worst
            found["throughput"] |= _routed(fabric, placed, failed, until)
        except TimeoutError:
            return LATE
        return found

    rows = each(work, run, threads=threads, progress=progress)
    return {
        spec: _told(
            {kind: [rows[spec, a.name, kind] for a in applications] for kind in (None, *KINDS)},
            applications,
            order,
        )
        for spec in networks
    }


def called(words: str, after: Mapping[str, Any]) -> str:
    """What failed, and of how many it is the worst where another one may be worse.

    Examples
    --------
    >>> called("worst cable", {"tried": 128})
    'worst cable of 128 tried'
    """
    tried = after.get("tried")
    return words if tried is None else f"{words} of {tried} tried"


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
            after["tried"] = None if all(row["proven"] for row in rows) else max(row["tried"] for row in rows)
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


def _worst(
    fabric: Fabric,
    placed: Sequence[tuple[float, Traffic]],
    kind: str | None,
    seed: int,
    until: float | None = None,
) -> tuple[Mapping[str, Any], dict[str, Any]] | None:
    """What leaves least by the bound, as arguments of `Fabric.damage`, and what it leaves; None without any.

    `proven`: no other failure of the kind can leave less, but for the accuracy of the bound.
    """
    host = sum(often * busiest_host(traffic) for often, traffic in placed)
    worst, tried, proven = None, 0, True
    for one in failures(fabric, placed, kind, seed):
        least = host / one.most_bytes if one.most_bytes else 1.0
        if worst is not None and not one.drawn and least >= worst[1]["throughput"]["bound"] * (1 - ACCURACY):
            continue
        if tried >= MOST_TRIED and not one.drawn:
            proven = False
            continue
        found = _bounded(fabric, placed, one.lost, until)
        tried += 1
        if worst is None or found["throughput"]["bound"] < worst[1]["throughput"]["bound"]:
            worst = one.lost, found
    if worst is not None:
        worst[1].update(tried=tried, proven=proven)
    return worst


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
    failed: Mapping[str, Any],
    until: float | None,
) -> dict[str, float]:
    """Throughput with tables that are made again: of ftree, and the better of those and optimised ones."""
    from netloom import OptimizeError, RoutingError, _core

    left = fabric.damage(**failed)[0] if failed else fabric
    host = sum(often * busiest_host(traffic) for often, traffic in placed)
    told = {}
    for name in TABLES:
        try:
            tables = _optimized(left, placed, until) if name == "optimized" else name
            time_left(until)
            load = sum(often * _core.loads(left, tables, one, threads=1).max for often, one in placed)
        except (RoutingError, OptimizeError):
            told[name] = 0.0
            continue
        told[name] = host / load if load else 1.0
    return {**told, "optimized": max(told.values())}


def _optimized(fabric: Fabric, placed: Sequence[tuple[float, Traffic]], until: float | None) -> Routes:
    """Tables for all phases: the sum of their fullest links is what is made small, as it is told."""
    from netloom import _core

    limit = time_left(until)
    if len(placed) == 1:
        return _core.optimize(fabric, placed[0][1], threads=1, time_limit=limit).routes
    layers = [(f"phase {n}", one, often) for n, (often, one) in enumerate(placed, 1) if often > 0]
    return _core.optimize_layers(fabric, layers, "sum", threads=1, time_limit=limit).routes
