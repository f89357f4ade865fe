"""Every cable between leaves and spines, by routing or as counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.counting import reading as counted
from netloom.drawing.drawn import Drawn, placed
from netloom.session.session import Session
from netloom.shown import units

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.plot.routings.cables import Cables, Panel


def cables(
    session: Session,
    fabric: str,
    traffic: str | None = None,
    routes: Sequence[str] = (),
    *,
    counters: Path | None = None,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """How much every cable's busier direction carries."""
    from netloom.plot.routings.cables import cables as find_cables
    from netloom.plot.routings.cables import cables_picture

    net = session.fabric(fabric)
    place = find_cables(net)
    bound: float | None = None
    if counters is not None:
        panel, is_share = _counted(session, net, place, counters)
        panels, subject = [panel], counters.name
    else:
        assert traffic is not None
        panels, bound = _routed(session, net, place, traffic, routes)
        is_share, subject = False, Path(traffic).name
    told = f"{subject} on {placed(fabric, net.hosts)}: every cable from leaf to spine"
    with session.timed("draw"):
        picture = cables_picture(
            place,
            panels,
            bound=bound,
            shares=is_share,
            form=share if is_share else units.size,
            title=title or told,
            kind=kind,
        )
    rows = [_row(place, panel) for panel in panels]
    result: dict[str, Any] = {
        "unit": "share" if is_share else "bytes",
        "bound": bound,
        "cables": len(place.names),
        "cut": int(place.holes.sum()),
        "panels": rows,
    }
    return Drawn(picture, result, rows)


def _routed(
    session: Session, net: Fabric, place: Cables, traffic: str, routes: Sequence[str]
) -> tuple[list[Panel], float]:
    """A panel a routing, and the AR bound."""
    from netloom.plot.routings.cables import Panel

    demand = session.traffic(traffic, net)
    panels, bound = [], 0.0
    for name in routes:
        tables = session.routes(name, net, demand)
        with session.timed("loads"):
            found = session.loads(net, tables, demand)
        bound = found.ar_bound
        panels.append(Panel(Path(name).name, place.busier(np.asarray(found.per_link, np.float64))))
    return panels, bound


def _counted(session: Session, net: Fabric, place: Cables, source: Path) -> tuple[Panel, bool]:
    """The panel of counters, all intervals together, and whether it shows shares of what fits."""
    from netloom.plot.routings.cables import Panel
    from netloom.watch.sources import spans

    found = counted.read(session, str(source), net)
    carried, known = np.zeros(net.links), np.zeros(net.links, bool)
    for interval in range(found.intervals):
        measured = found.measure(interval)
        carried += np.nan_to_num(np.asarray(measured["value"], np.float64))
        known |= np.asarray(measured["ends"]) > 0
    seconds = sum(spans(found))
    if seconds > 0:
        carried /= np.asarray(net.link_table()["bandwidth_bytes_per_s"], np.float64) * seconds
    values = place.busier(carried)
    values[~(known[place.up] | known[place.down])] = np.nan
    return Panel("counters", values), seconds > 0


def _row(place: Cables, panel: Panel) -> dict[str, Any]:
    hottest = panel.hottest
    known = panel.values[~np.isnan(panel.values)]
    return {
        "routes": panel.name,
        "max": float(known.max(initial=0.0)),
        "mean": float(known.mean()) if known.size else 0.0,
        "hottest": None if hottest is None else place.names[hottest],
        "unknown": int((np.isnan(panel.values) & place.alive).sum()),
    }


def share(value: float) -> str:
    return f"{100 * value:.3g} %"
