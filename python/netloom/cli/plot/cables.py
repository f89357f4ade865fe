"""`netloom plot cables`: every cable between leaves and spines, by routing or as counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import SearchingPicture
from netloom.drawing import cables as drawing
from netloom.shown import legend

_USAGE = "plot cables draws routes or counters: netloom plot cables FABRIC TRAFFIC ROUTES… -o FILE"


def cables(
    fabric: str,
    traffic: str | None = None,
    /,
    *routes: str,
    counters: Path | None = None,
    title: str | None = None,
    options: SearchingPicture | None = None,
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
    if (counters is None) == (traffic is None) or (traffic is not None and not routes):
        raise UsageError(f"{_USAGE}, or FABRIC --counters FILE")
    return drawn(
        prepared("plot-cables", options),
        lambda run, kind: drawing.cables(
            run, fabric, traffic, routes, counters=counters, title=title, kind=kind
        ),
        _text,
    )


def _text(result: dict[str, Any]) -> str:
    form = drawing.share if result["unit"] == "share" else render.size
    rows = [
        [legend.name(row["routes"]), form(row["max"]), form(row["mean"]), row["hottest"] or "-"]
        for row in result["panels"]
    ]
    table = render.table(["routes", "most", "mean", "hottest cable"], rows, right=[1, 2])
    told = [("cables", f"{result['cables']:,}, {result['cut']:,} cut or missing")]
    if result["bound"] is not None:
        told.append(("AR bound", form(result["bound"])))
    return f"{table}\n\n{render.pairs([*told, ('written', str(result['output']))])}"
