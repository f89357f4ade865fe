"""`netloom plot engines`: how far every engine is from the bound, over many cases."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from netloom.cli.plot import documents
from netloom.cli.plot.command import picture_kind, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.errors import FormatError
from netloom.shown import legend

_EXPECTED = "expected what netloom optimize --compare --format json prints, or netloom loads --format json"
_OWN = "netloom"
"""What `optimize --compare` calls its own routes."""


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
    from netloom.plot.routings import profile

    if not results:
        raise UsageError("plot engines draws results: netloom plot engines RESULT.json… -o FILE")
    run = prepared("plot-engines", options)
    cases: dict[tuple[str, ...], dict[str, float | None]] = {}
    fabrics: dict[str, None] = {}
    for source in results:
        document = _document(run, source)
        fabrics[_source(document, "fabric")] = None
        case = cases.setdefault(_key(document), {})
        for name, gap in _gaps(document).items():
            if name in case:
                raise FormatError(
                    f"{documents.name_of(source)}: {name} on inputs that an earlier file has: expected others"
                )
            case[name] = gap
    found = profile.engines(list(cases.values()))
    where = ", ".join(Path(fabric).name for fabric in fabrics)
    count = f"{len(cases)} {'case' if len(cases) == 1 else 'cases'}"
    told = f"Gap of every engine to the bound, {count} on {where}"
    with run.timed("draw"):
        picture = profile.profile_picture(found, title=title or told, kind=picture_kind(run))
    rows = [
        {
            "engine": engine.name,
            "cases": len(engine.gaps),
            "routed": len(engine.known),
            "at_bound": engine.at_bound,
            "median_gap_percent": engine.median,
            "worst_gap_percent": max(engine.known, default=None),
        }
        for engine in found
    ]
    result: dict[str, Any] = {"cases": len(cases), "engines": rows, "output": run.write(picture)}
    return run.finish(result, lambda: _text(result), rows=rows)


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


def _document(run: Run, source: str) -> dict[str, Any]:
    """A comparison of engines."""
    return documents.read(
        run, source, _EXPECTED, lambda document: _gaps(document) and all(map(str, _key(document)))
    )


def _gaps(document: dict[str, Any]) -> dict[str, float | None]:
    """Gaps to the AR bound by engine."""
    result = document["result"]
    if str(document["schema"]).startswith("netloom.optimize/1"):
        found = {str(row["name"]): row["ar_gap_percent"] for row in result["compare"]}
    elif str(document["schema"]).startswith("netloom.loads/1"):
        found = {Path(_source(document, "routes")).name: result["ar_gap_percent"]}
    else:
        raise KeyError("schema")
    for gap in found.values():
        if gap is not None and (isinstance(gap, bool) or not math.isfinite(gap)):
            raise ValueError("gap")
    return found


def _source(document: dict[str, Any], role: str) -> str:
    return str(next(one["source"] for one in document["inputs"] if one["role"] == role))


def _key(document: dict[str, Any]) -> tuple[str, ...]:
    """What tells a case: the inputs that are no routes, by their content, and the seed."""
    read = [one for one in document["inputs"] if one["role"] != "routes"]
    return (*(f"{one['role']} {one['sha256'] or one['source']}" for one in read), str(document["seed"]))
