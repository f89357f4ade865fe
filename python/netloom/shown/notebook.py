"""Nouns and results as a notebook shows them: a small table, with the verdict, units, gap and interruption.

Names come from dumps, which strangers may have written: everything is text, nothing is markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from netloom.shown.html import text
from netloom.shown.units import size

_Rows = Iterator[tuple[str, object]]


def html(noun: Any) -> str:
    """What `_repr_html_` of an object of netloom says.

    Parameters
    ----------
    noun : object
        An object of one of the classes that [`ROWS`] has.

    Returns
    -------
    str
        A table; every name in it is escaped.
    """
    name = type(noun).__name__
    cells = ((_text(key), _text(value)) for key, value in ROWS[name](noun))
    rows = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in cells)
    return f"<table><caption>netloom.{_text(name)}</caption><tbody>{rows}</tbody></table>"


def _text(value: object) -> str:
    return text(f"{value:,}" if isinstance(value, int) else str(value))


def _fabric(fabric: Any) -> _Rows:
    yield "hosts", fabric.hosts
    yield "switches", f"{fabric.switches:,} on {fabric.levels} levels"
    yield "cables", f"{fabric.links // 2:,} that work"
    yield "shape", fabric.irregular or "a perfect tree"
    if fabric.findings:
        first = fabric.findings[0]
        yield "findings", f"{len(fabric.findings):,}, the first: {first['kind']}: {first['text']}"


def _traffic(traffic: Any) -> _Rows:
    yield "endpoints", f"{traffic.endpoints:,} {'ranks' if traffic.hosts_hash is None else 'hosts'}"
    yield "pairs", traffic.pairs
    yield "bytes", size(traffic.total_bytes)
    if len(traffic.phase_names) > 1:
        yield "phases", f"{len(traffic.phase_names):,}: {', '.join(traffic.phase_names[:5])}"
    yield from traffic.notes


def _routes(routes: Any) -> _Rows:
    switches, destinations = routes.table().shape
    yield "switches", switches
    yield "destinations", destinations
    yield "addresses a host", 2**routes.lmc
    yield "lanes", 1 if routes.lanes is None else routes.lanes.lanes
    if routes.faults:
        yield "left out when read", f"{len(routes.faults):,} entries, the first: {routes.faults[0][2]}"


def _loads(loads: Any) -> _Rows:
    yield "largest load", _largest(loads)
    yield "time of that link", f"{1e3 * loads.max_seconds:.4g} ms"
    yield "lower bound", f"{size(loads.lower_bound)} ({loads.bound_at})"
    yield "gap", _gap(loads)
    yield "verdict", "proven optimal" if loads.proven_optimal else "not proven optimal"
    yield from _stopped(loads.stopped, "bounds may be loose")


def _largest(loads: Any) -> str:
    links = loads.links_at_max
    return f"{size(loads.max)}, on {links:,} link{'' if links == 1 else 's'}"


def _gap(loads: Any) -> str:
    gap = loads.lower_bound_gap_percent
    return f"{gap:.2f} %" if gap is not None else loads.outside_because["text"]


def _stopped(why: str | None, meaning: str) -> _Rows:
    if why is not None:
        yield "stopped", f"{why}: {meaning}"


def _search(found: Any) -> _Rows:
    yield "verdict", "proven optimal" if found.proven_optimal else f"not proven optimal ({found.status})"
    if found.taken_from is not None:
        yield "routes of", found.taken_from
    if found.changed_entries is not None:
        yield "changed entries", found.changed_entries
    yield from _stopped(found.stopped, "this is the best found by then")


def _optimized(found: Any) -> _Rows:
    loads = found.loads
    yield "largest load", _largest(loads)
    yield "lower bound", f"{size(loads.lower_bound)} ({loads.bound_at})"
    yield "gap", _gap(loads)
    yield from _search(found)


def _layers(found: Any) -> _Rows:
    yield "objective", f"{found.objective:,.6g}"
    yield "lower bound", f"{found.objective_bound:,.6g}"
    for name, weight, loads in found.layers[:8]:
        yield f"layer {name}", f"{size(loads.max)}, weight {weight:g}, gap {_gap(loads)}"
    if len(found.layers) > 8:
        yield "more layers", len(found.layers) - 8
    yield from _search(found)


def _hose(found: Any) -> _Rows:
    yield "worst load", size(found.worst.max)
    yield "lower bound", f"{size(found.lower_bound)} ({found.bound_at})"
    yield from _search(found)


def _report(report: Any) -> _Rows:
    yield "verdict", "ok" if report.ok else "not ok"
    yield "pairs", report.pairs
    for finding in report.findings[:5]:
        yield finding["kind"], finding["text"]
    if len(report.findings) > 5:
        yield "more findings", len(report.findings) - 5


def _verdict(verdict: Any) -> _Rows:
    yield "verdict", "the bound holds" if verdict.ok else "the bound is not proven"
    yield "bound", size(verdict.recomputed_bound)
    if verdict.max_load is not None:
        yield "largest load", size(verdict.max_load)
        yield "routes", "optimal" if verdict.optimal else "not proven optimal"
    for reason in verdict.reasons:
        yield "because", reason


def _simulation(run: Any) -> _Rows:
    told = run.result()
    yield "routing", run.routing
    yield "simulated", f"{run.end_ps / 1e9:,.4g} ms"
    yield "packets", told["packets"]
    for job in told["jobs"][:8]:
        took = job.get("completion_ms")
        yield f"job {job['name']}", "not done" if took is None else f"{took:,.4g} ms"
    yield from _stopped(run.stopped, "not all was done")


def _inferred(found: Any) -> _Rows:
    yield "verdict", found.verdict
    yield "pairs", found.traffic.pairs
    yield "bytes", size(found.traffic.total_bytes)
    yield from _stopped(found.stopped, "this is what was found by then")


ROWS: dict[str, Callable[[Any], _Rows]] = {
    "Fabric": _fabric,
    "Traffic": _traffic,
    "Routes": _routes,
    "LinkLoads": _loads,
    "Optimized": _optimized,
    "OptimizedLayers": _layers,
    "OptimizedHose": _hose,
    "CheckReport": _report,
    "Verdict": _verdict,
    "Simulation": _simulation,
    "Inferred": _inferred,
}
"""What is said of an object of each class."""
