"""What comes of an optimisation, and what the judge says of it before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.findings import Finding, finding, of_routes, without_entries
from netloom.optimizing import today as in_force
from netloom.session.session import Session
from netloom.shown import units

if TYPE_CHECKING:
    from netloom._core import Fabric, Optimized, OptimizedLayers, Outcome, Routes
    from netloom.optimizing.asked import Asked


@dataclass(frozen=True)
class Answer:
    """What an optimisation has come to; nothing is written yet.

    Attributes
    ----------
    result : dict
        As JSON tells it; its keys about files are null.
    routes : Routes
        Of the whole fabric.
    fabric : Fabric
        The whole.
    today : Today or None
        The routes that it began with, where they are in force.
    best : Optimized, OptimizedLayers or None
        What the search found; None where only sums are known.
    began : str
        What the routes are called that it began with.
    interrupted : bool
        Whether it was ended from outside.
    """

    result: dict[str, Any]
    routes: Routes
    fabric: Fabric
    today: in_force.Today | None
    best: Optimized | OptimizedLayers | None
    began: str
    interrupted: bool


def unwritten(routes: Routes, lmc: int = 0) -> dict[str, Any]:
    """The result's keys about files, before anything is written."""
    return {
        "output": None,
        "lanes": 1 if routes.lanes is None else routes.lanes.lanes,
        "sl2vl": None,
        "sl": None,
        "certificate": None,
        "lmc": routes.lmc,
        "pairs_off_base": routes.pairs_off_base if lmc else None,
        "paths": None,
    }


_LONGER = ("non-minimal", "detour")
"""Findings about ways that are longer than the shortest."""


def judged(
    session: Session, fabric: Fabric, routes: Routes, left: tuple[Fabric, Routes] | None = None
) -> None:
    """Has the judge that shares no code with the search look at what will be written; tells what it found.

    What must not be written is refused where it would be; what no tables can mend (hosts that are cut off) is
    told, written and exits 1.

    Parameters
    ----------
    session : Session
        Where the findings go.
    fabric, routes
        What will be written.
    left : (Fabric, Routes), optional
        The fabric without what is avoided, and the tables of it: which ways are longer than need be is asked
        there, for to avoid a switch makes them longer.
    """
    from netloom import _core

    threads = session.threads
    with session.timed("check"):
        found = of_routes(fabric, _core.check(fabric, routes, threads=threads))
        if left is not None:
            there = of_routes(left[0], _core.check(*left, threads=threads))
            found = [one for one in found if one["kind"] not in _LONGER]
            found += [one for one in there if one["kind"] in _LONGER]
    session.findings += found
    for one in found:
        if one["severity"] != "note":
            session.note(one["text"], kind=one["severity"])


def tell_lanes(session: Session, best: Outcome, value: float, asked: Asked) -> None:
    """Says that an engine's routes are better and need lanes, which nobody writes or allows."""
    if best.with_lanes is None or not best.with_lanes[1] < value * (1 - in_force.TOLERANCE):
        return
    name, least = best.with_lanes
    less = f"{(1 - least / value) * 100:.3g} % less"
    if asked.max_lanes == 1 and not asked.tables_alone:
        # As was asked.
        session.note(f"{name}: {units.size(least)}, {less}, on more lanes: --max-lanes allows them")
        return
    options = "--write-sl2vl FILE" + (" with --write-sl FILE" if name == "layers" else "")
    said = f"{name}: {units.size(least)}, {less}, on lanes: {options} takes these routes"
    session.findings.append(finding("needs-lanes", said))
    session.note(said, kind="warning")


def told(session: Session, fabric: Fabric, *, writes: bool) -> list[Finding]:
    """What is odd about today's routes, and for whom a file of routes has no entry."""
    return session.findings + (without_entries(fabric.findings) if writes else [])
