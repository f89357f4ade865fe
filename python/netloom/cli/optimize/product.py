"""What `netloom optimize` writes, and what the judge says of it first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.cli.optimize import today as in_force
from netloom.cli.shared import render
from netloom.cli.shared.lanes import write_rows
from netloom.cli.shared.run import Run
from netloom.findings import Finding, finding, findings, without_entries

if TYPE_CHECKING:
    from netloom._core import Fabric, Outcome, Routes


_LONGER = ("non-minimal", "detour")
"""Findings about ways that are longer than the shortest."""


def judged(run: Run, fabric: Fabric, routes: Routes, left: tuple[Fabric, Routes] | None = None) -> None:
    """Has the judge that shares no code with the search look at what will be written; tells what it found.

    What must not be written is refused where it would be; what no tables can mend (hosts that are cut off) is
    told, written and exits 1.

    Parameters
    ----------
    run : Run
        Where the findings go.
    fabric, routes
        What will be written.
    left : (Fabric, Routes), optional
        The fabric without what is avoided, and the tables of it: which ways are longer than need be is asked
        there, for to avoid a switch makes them longer.
    """
    from netloom import _core

    threads = run.options.threads
    with run.timed("check"):
        found = findings(_core.check(fabric, routes, threads=threads).findings)
        if left is not None:
            there = findings(_core.check(*left, threads=threads).findings)
            found = [one for one in found if one["kind"] not in _LONGER]
            found += [one for one in there if one["kind"] in _LONGER]
    run.findings += found
    for one in found:
        if one["severity"] != "note":
            run.note(one["text"], kind=one["severity"])


def written(
    run: Run,
    routes: Routes,
    fabric: Fabric,
    today: in_force.Today | None,
    *,
    allow_unreachable: bool,
    sl2vl: Path | None,
) -> dict[str, Any]:
    """Writes routes where `-o` says, with today's entries of LIDs that no port of the fabric has.

    The SL-to-VL tables that they need come first: tables that lie there without them could deadlock.

    Returns
    -------
    dict
        The result's keys `output`, `lanes` and `sl2vl`.

    Raises
    ------
    RoutingError
        If they can deadlock (so where they need lanes and nobody writes these), or lose pairs of hosts that
        cables join and that is not allowed.
    """
    if run.has_product:
        routes.check_file(allow_unreachable=allow_unreachable, lanes=sl2vl is not None)
    keys: dict[str, Any] = {"output": None, "lanes": 1, "sl2vl": None}
    if routes.lanes is not None:
        keys |= {"lanes": routes.lanes.lanes, "sl2vl": write_rows(run, routes.lanes, sl2vl)}
    elif sl2vl is not None:
        run.note("--write-sl2vl: these routes need no lanes, nothing is written there")
    if run.has_product and today is not None:
        keys["output"] = run.write(today.with_strangers(routes.to_bytes(), fabric))
    elif run.has_product:
        keys["output"] = run.write(routes, holes=allow_unreachable, lanes=sl2vl is not None)
    return keys


def tell_lanes(run: Run, best: Outcome, value: float) -> None:
    """Says that an engine's routes are better and need lanes, which nobody writes."""
    if best.with_lanes is None or not best.with_lanes[1] < value * (1 - in_force.TOLERANCE):
        return
    name, least = best.with_lanes
    less = f"{(1 - least / value) * 100:.3g} % less"
    said = f"{name}: {render.size(least)}, {less}, on lanes: --write-sl2vl FILE takes these routes"
    run.findings.append(finding("needs-lanes", said))
    run.note(said, kind="warning")


def told(run: Run, fabric: Fabric) -> list[Finding]:
    """What is odd about today's routes, and for whom a file of routes has no entry."""
    return run.findings + (without_entries(fabric.findings) if run.has_product else [])
