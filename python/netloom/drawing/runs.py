"""Pictures of simulated runs: how busy links were, and the tail of message latency."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.drawing.drawn import Drawn
from netloom.errors import FormatError
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom.plot.routings.tail import Latencies

_HISTOGRAMS = ("what", "job", "from_ps", "to_ps", "count")
_MESSAGES = "messages"


def run(session: Session, folder: Path, *, title: str | None = None, kind: str) -> Drawn:
    """How busy every link of a run was, and when."""
    from netloom.runs import folder as runs

    manifest = runs.read_manifest(folder)
    session.read("run", str(folder / runs.MANIFEST))
    if not manifest["runs"]:
        raise FormatError(f"{folder}: has no routing to draw")
    # Only now: matplotlib takes a while to load.
    from netloom.plot.run import run_picture
    from netloom.runs import panels

    # One scale of time: what is busy for as long is as dark, however long its routing's run took.
    longest_ms = max(entry["result"]["simulated_ms"] for entry in manifest["runs"])
    read = runs.reader(session)
    found = [panels.panel(read, folder, entry, longest_ms, session.note) for entry in manifest["runs"]]
    name = manifest["scenario"]["name"]
    with session.timed("draw"):
        told = title or f"{name}: {manifest['hosts']:,} hosts, {manifest['model']} model"
        picture = run_picture([panel for panel, _ in found], title=told, kind=kind, longest_ms=longest_ms)
    rows = [row for _, row in found]
    result: dict[str, Any] = {"scenario": name, "routings": rows}
    return Drawn(picture, result, rows, {"model": manifest["model"]})


def tail(
    session: Session, folder: Path, *, job: str | None = None, title: str | None = None, kind: str
) -> Drawn:
    """Which share of a job's messages takes longer, by routing."""
    from netloom.plot.routings.tail import tail_picture
    from netloom.runs import folder as runs

    manifest = runs.read_manifest(folder)
    session.read("run", str(folder / runs.MANIFEST))
    if not manifest["runs"]:
        raise FormatError(f"{folder}: has no routing to draw")
    tables = [_latencies(session, folder, entry) for entry in manifest["runs"]]
    names = list(dict.fromkeys(name for _, of in tables for name in of))
    whose = job or (names[0] if names else "")
    curves = [of[whose] for _, of in tables if whose in of]
    without = [routing for routing, of in tables if whose not in of]
    if not curves:
        expected = ", ".join(names) or "one that sends messages"
        raise FormatError(f'{folder}: no messages of job "{whose}": expected {expected}')
    for routing in without:
        session.note(f'{routing}: no messages of job "{whose}": not drawn', kind="warning")
    told = f"{manifest['scenario']['name']} ({manifest['hosts']:,} hosts): messages of {whose}"
    with session.timed("draw"):
        picture = tail_picture(curves, title=title or told, kind=kind)
    rows = [
        {
            "routing": curve.name,
            "messages": int(curve.count.sum()),
            "p50_us": curve.quantile(0.5),
            "p99_us": curve.quantile(0.99),
            "max_us": float(curve.at_us[-1]),
        }
        for curve in curves
    ]
    result: dict[str, Any] = {
        "job": whose,
        "curves": rows,
        "without": without,
    }
    return Drawn(picture, result, rows)


def _latencies(session: Session, folder: Path, entry: Mapping[str, Any]) -> tuple[str, dict[str, Latencies]]:
    """A routing, and the messages under it of every job that sent some."""
    from netloom.plot.routings.tail import Latencies
    from netloom.runs import folder as runs
    from netloom.runs.panels import columns_of

    table = columns_of(runs.reader(session), folder, entry, "latencies", _HISTOGRAMS)
    if table is None:
        raise FormatError(f"{folder / entry['folder']}: has no table of latencies")
    routing, found = str(entry["routing"]), {}
    messages = np.asarray([str(what) == _MESSAGES for what in table["what"]], bool) & (table["count"] > 0)
    jobs = np.asarray([str(name) for name in table["job"]], object)
    for name in dict.fromkeys(jobs[messages].tolist()):
        chosen = messages & (jobs == name)
        order = np.argsort(table["to_ps"][chosen], kind="stable")
        at_us = table["to_ps"][chosen][order].astype(np.float64) * 1e-6
        found[name] = Latencies(routing, at_us, table["count"][chosen][order].astype(np.int64))
    return routing, found
