"""How far every engine is from the bound, over many cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netloom.drawing import documents
from netloom.drawing.drawn import Drawn
from netloom.errors import FormatError
from netloom.session.session import Session
from netloom.session.sources import name_of

_EXPECTED = "expected what netloom optimize --compare --format json prints, or netloom loads --format json"


def engines(session: Session, results: Sequence[str], *, title: str | None = None, kind: str) -> Drawn:
    """A performance profile of engines."""
    from netloom.plot.routings import profile

    cases: dict[tuple[str, ...], dict[str, float | None]] = {}
    fabrics: dict[str, None] = {}
    for source in results:
        document = _document(session, source)
        fabrics[_source(document, "fabric")] = None
        case = cases.setdefault(_key(document), {})
        for name, gap in _gaps(document).items():
            if name in case:
                raise FormatError(
                    f"{name_of(source)}: {name} on inputs that an earlier file has: expected others"
                )
            case[name] = gap
    found = profile.engines(list(cases.values()))
    where = ", ".join(Path(fabric).name for fabric in fabrics)
    count = f"{len(cases)} {'case' if len(cases) == 1 else 'cases'}"
    told = f"Gap of every engine to the bound, {count} on {where}"
    with session.timed("draw"):
        picture = profile.profile_picture(found, title=title or told, kind=kind)
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
    result: dict[str, Any] = {"cases": len(cases), "engines": rows}
    return Drawn(picture, result, rows)


def _document(session: Session, source: str) -> dict[str, Any]:
    """A comparison of engines."""
    return documents.read(
        session, source, _EXPECTED, lambda document: _gaps(document) and all(map(str, _key(document)))
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
