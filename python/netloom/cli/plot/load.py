"""`netloom plot load`: latency and accepted throughput over offered load, as `simulate --loads` tells."""

from __future__ import annotations

from typing import Any

from netloom.cli.plot import documents
from netloom.cli.plot.command import picture_kind, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.cli.simulate import report
from netloom.errors import FormatError
from netloom.shown import legend

_EXPECTED = (
    "expected what netloom simulate SCENARIO --loads 0.1,0.5,0.9 --format json prints, or writes to .json"
)


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
    from netloom.plot.load import Curve, Point, load_picture

    if not results:
        raise UsageError("plot load draws results: netloom plot load RESULT.json… -o FILE")
    run = prepared("plot-load", options)
    found = [(documents.name_of(source), _table(run, source)) for source in results]
    points: dict[str, list[Point]] = {}
    engine: dict[str, str] = {}
    not_drawn = 0
    several_jobs = len({row["job"] for _, table in found for row in table["rows"] if row["accepted"]}) > 1
    for name, table in found:
        for row in table["rows"]:
            measured = row["accepted"]
            mean_us = measured and measured["latency_us"]["mean"]
            if not mean_us:
                not_drawn += 1
                continue
            words = [name] if len(found) > 1 else []
            words += [legend.name(row["routing"]), *([row["job"]] if several_jobs else [])]
            engine[" · ".join(words)] = row["routing"]
            point = Point(row["load"], measured["accepted"], mean_us, measured["saturated"])
            points.setdefault(" · ".join(words), []).append(point)
    if not points:
        raise FormatError(f"{results[0]}: no load was measured to its end: there is nothing to draw")
    curves = [
        Curve(name, sorted(of, key=lambda point: point.load), engine[name]) for name, of in points.items()
    ]
    if not_drawn:
        why = "they offer no load, or ended before the window did"
        run.note(f"{render.count(not_drawn)} rows are not drawn: {why}")
    with run.timed("draw"):
        names = ", ".join(dict.fromkeys(table["scenario"] for _, table in found))
        hosts = {table["hosts"] for _, table in found}
        where = f" ({hosts.pop():,} hosts)" if len(hosts) == 1 else ""
        told = title or f"{names}{where}: latency and throughput"
        picture = load_picture(curves, title=told, kind=picture_kind(run))
    rows = [_row(curve) for curve in curves]
    result: dict[str, Any] = {"curves": rows, "not_drawn": not_drawn, "output": run.write(picture)}
    return run.finish(result, lambda: _text(result), rows=rows)


def _row(curve: Any) -> dict[str, Any]:
    """What is told of a curve."""
    full = [point for point in curve.points if point.saturated]
    return {
        "curve": curve.name,
        "points": len(curve.points),
        "lowest_latency_us": min(point.latency_us for point in curve.points),
        "most_accepted": max(point.accepted for point in curve.points),
        "saturated_from": min((point.load for point in full), default=None),
    }


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


def _table(run: Run, source: str) -> dict[str, Any]:
    """The result of `netloom simulate --loads`."""

    def is_known(document: dict[str, Any]) -> bool:
        table = document["result"]
        known = str(document["schema"]).startswith("netloom.simulate-table/1") and table["varied"] == "load"
        known = known and isinstance(table["scenario"], str) and isinstance(table["hosts"], int)
        return known and all(map(_drawable, table["rows"]))

    table: dict[str, Any] = documents.read(run, source, _EXPECTED, is_known)["result"]
    return table


def _drawable(row: dict[str, Any]) -> bool:
    """Whether a row has what a point is made of."""
    measured = row["accepted"]
    names = isinstance(row["routing"], str) and isinstance(row["job"], str)
    if measured is None:
        return names
    numbers = (row["load"], measured["accepted"], measured["latency_us"]["mean"] or 0.0)
    return (
        names and all(isinstance(n, int | float) for n in numbers) and isinstance(measured["saturated"], bool)
    )
