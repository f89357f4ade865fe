"""`netloom plot load`: latency and accepted throughput over offered load, as `simulate --loads` tells."""

from __future__ import annotations

from typing import Any

from netloom.cli.plot.command import drawn, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.simulate import report
from netloom.drawing import tables


def load(*results: str, title: str | None = None, options: PictureOptions | None = None) -> int:
    """Draw latency and accepted throughput over offered load, a curve a routing and job.

    Parameters
    ----------
    results
        What `netloom simulate --loads` wrote as JSON; of several all curves are drawn.
    title
        Above the picture; by default the scenario's name.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    if not results:
        raise UsageError("plot load draws results: netloom plot load RESULT.json… -o FILE")
    return drawn(
        prepared("plot-load", options),
        lambda run, kind: tables.load(run, results, title=title, kind=kind),
        _text,
    )


def _text(result: dict[str, Any]) -> str:
    rows = [
        [
            row["curve"],
            report.number(row["lowest_latency_us"], 2),
            f"{100 * row['most_accepted']:.1f} %",
            "-" if row["saturated_from"] is None else f"{100 * row['saturated_from']:.1f} %",
        ]
        for row in result["curves"]
    ]
    header = ["curve", "lowest latency (µs)", "most accepted", "saturated from"]
    table = render.table(header, rows, right=[1, 2, 3])
    return f"{table}\n\n{render.pairs([('written', str(result['output']))])}"
