"""What `netloom optimize` writes, and what the judge says of it first."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.cli.optimize import today as in_force
from netloom.cli.shared import render
from netloom.cli.shared.run import Run
from netloom.errors import RoutingError
from netloom.findings import Finding, finding, findings, without_entries

if TYPE_CHECKING:
    from netloom._core import Fabric, Outcome, Routes


def judged(run: Run, fabric: Fabric, routes: Routes) -> None:
    """Has the judge that shares no code with the search look at what will be written; tells what it found.

    What must not be written is refused where it would be; what no tables can mend (hosts that are cut off) is
    told, written and exits 1.
    """
    from netloom import _core

    with run.timed("check"):
        found = findings(_core.check(fabric, routes, threads=run.options.threads).findings)
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
    lanes_written: bool,
) -> str | None:
    """Writes routes where `-o` says, with today's entries of LIDs that no port of the fabric has.

    Raises
    ------
    RoutingError
        If they can deadlock (so where they need lanes and nobody writes these), or lose pairs of hosts that
        cables join and that is not allowed.
    """
    if not run.has_product:
        return None
    if routes.lanes is not None and not lanes_written:
        raise RoutingError("these routes can deadlock without their lanes: expected --write-sl2vl FILE too")
    routes.check_file(allow_unreachable=allow_unreachable)
    if today is not None:
        return run.write(today.with_strangers(routes.to_bytes(), fabric))
    return run.write(routes, allow_unreachable=allow_unreachable)


def tell_lanes(run: Run, best: Outcome, value: float) -> None:
    """Says that an engine's routes are better and need lanes, which nobody writes."""
    if best.with_lanes is None or not best.with_lanes[1] < value * (1 - in_force.TOLERANCE):
        return
    name, least = best.with_lanes
    less = f"{(1 - least / value) * 100:.3g} % less"
    said = f"{name}: {render.size(least)}, {less}, on lanes: --write-sl2vl FILE takes these routes"
    run.findings.append(finding("needs-lanes", said))
    run.note(said, kind="warning")


def lanes(run: Run, routes: Routes, path: Path | None) -> dict[str, Any]:
    """Writes the SL-to-VL tables that routes need, if that was asked for; the result's keys."""
    if routes.lanes is None:
        if path is not None:
            run.note("--write-sl2vl: these routes need no lanes, nothing is written there")
        return {"lanes": 1, "sl2vl": None}
    if path is None:
        return {"lanes": routes.lanes.lanes, "sl2vl": None}
    data = routes.lanes.sl2vl(f"{run.origin()['netloom']} optimize")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    return {"lanes": routes.lanes.lanes, "sl2vl": run.write(data, path)}


def told(run: Run, fabric: Fabric) -> list[Finding]:
    """What is odd about today's routes, and for whom a file of routes has no entry."""
    return run.findings + (without_entries(fabric.findings) if run.has_product else [])
