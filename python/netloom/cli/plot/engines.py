"""`netloom plot engines`: how far every engine is from the bound, over many cases."""

from __future__ import annotations

from typing import Any

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.drawing import engines as drawing
from netloom.shown import legend


def engines(*results: str, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw how far engines are from the bound over several traffics and placements: a performance profile.

    Parameters
    ----------
    results
        What `netloom optimize --compare --format json` printed, a case a file; or `netloom loads --format
        json`, a case an input with all the engines that were tried on it.
    title
        Above the picture; by default how many cases there are, on which fabrics.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    if not results:
        raise UsageError("plot engines draws results: netloom plot engines RESULT.json… -o FILE")
    return drawn(
        prepared("plot-engines", options),
        lambda run, kind: drawing.engines(run, results, title=title, kind=kind),
        _text,
    )


def _text(result: dict[str, Any]) -> str:
    def percent(value: float | None) -> str:
        return "-" if value is None else render.percent(value)

    rows = [
        [
            legend.name(row["engine"]),
            percent(row["median_gap_percent"]),
            percent(row["worst_gap_percent"]),
            f"{row['at_bound']} of {row['cases']}",
            "" if row["routed"] == row["cases"] else f"{row['cases'] - row['routed']} without routes",
        ]
        for row in result["engines"]
    ]
    table = render.table(["engine", "median gap", "worst", "at the bound", ""], rows, right=[1, 2, 3])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"
