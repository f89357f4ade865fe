"""`netloom plot cables`: every cable between leaves and spines, by routing or as counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.cli.plot.command import picture_kind, placed, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.counting import reading as counted
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.plot.routings.cables import Cables, Panel

_USAGE = "plot cables draws routes or counters: netloom plot cables FABRIC TRAFFIC ROUTES… -o FILE"


def cables(
    fabric: str,
    traffic: str | None = None,
    /,
    *routes: str,
    counters: Path | None = None,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw every cable between leaves and spines: how much the busier direction carries.

    Before and after an optimisation: `netloom plot cables FABRIC TRAFFIC ftree optimize -o cables.png`. The
    hottest cable is ringed, cables that are cut are crossed out.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts, a jobs file, or a pattern spec.
    routes
        Engines' names, files of routes, `afar`, `coloured` or `optimize`: a panel each.
    counters
        Draw what these counters say instead; over the time that they tell, as a share of what fits.
    title
        Above the picture; by default what is drawn, on which fabric.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    from netloom.plot.routings.cables import cables as find_cables
    from netloom.plot.routings.cables import cables_picture

    if (counters is None) == (traffic is None) or (traffic is not None and not routes):
        raise UsageError(f"{_USAGE}, or FABRIC --counters FILE")
    run = prepared("plot-cables", options, searches=True)
    net = run.fabric(fabric)
    place = find_cables(net)
    bound: float | None = None
    if counters is not None:
        panel, is_share = _counted(run, net, place, counters)
        panels, subject = [panel], counters.name
    else:
        assert traffic is not None
        panels, bound = _routed(run, net, place, traffic, routes)
        is_share, subject = False, Path(traffic).name
    told = f"{subject} on {placed(fabric, net.hosts)}: every cable from leaf to spine"
    with run.timed("draw"):
        picture = cables_picture(
            place,
            panels,
            bound=bound,
            shares=is_share,
            form=_share if is_share else render.size,
            title=title or told,
            kind=picture_kind(run),
        )
    rows = [_row(place, panel) for panel in panels]
    result: dict[str, Any] = {
        "unit": "share" if is_share else "bytes",
        "bound": bound,
        "cables": len(place.names),
        "cut": int(place.holes.sum()),
        "panels": rows,
        "output": run.write(picture),
    }
    return run.finish(result, lambda: _text(result), rows=rows)


def _routed(
    run: Run, net: Fabric, place: Cables, traffic: str, routes: tuple[str, ...]
) -> tuple[list[Panel], float]:
    """A panel a routing, and the AR bound."""
    from netloom.plot.routings.cables import Panel

    demand = run.traffic(traffic, net)
    panels, bound = [], 0.0
    for name in routes:
        tables = run.routes(name, net, demand)
        with run.timed("loads"):
            found = run.loads(net, tables, demand)
        bound = found.ar_bound
        panels.append(Panel(Path(name).name, place.busier(np.asarray(found.per_link, np.float64))))
    return panels, bound


def _counted(run: Run, net: Fabric, place: Cables, source: Path) -> tuple[Panel, bool]:
    """The panel of counters, all intervals together, and whether it shows shares of what fits."""
    from netloom.plot.routings.cables import Panel
    from netloom.watch.sources import spans

    found = counted.read(run, str(source), net)
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


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"


def _text(result: dict[str, Any]) -> str:
    form = _share if result["unit"] == "share" else render.size
    rows = [
        [legend.name(row["routes"]), form(row["max"]), form(row["mean"]), row["hottest"] or "-"]
        for row in result["panels"]
    ]
    table = render.table(["routes", "most", "mean", "hottest cable"], rows, right=[1, 2])
    told = [("cables", f"{result['cables']:,}, {result['cut']:,} cut or missing")]
    if result["bound"] is not None:
        told.append(("AR bound", form(result["bound"])))
    return f"{table}\n\n{render.pairs([*told, ('written', str(result['output']))])}"
