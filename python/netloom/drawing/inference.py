"""Pictures of inference: coefficients in a basis, and a study's errors."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.drawing import documents
from netloom.drawing.drawn import Drawn, endpoints, placed
from netloom.errors import FormatError
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom.plot.study import Curve

_PARTS = {"dictionary:1": 0, "dictionary:2": 1}
"""Of the dissertation's dictionary, by `--basis`."""
_KEYS = ("application", "method", "lanes", "routings", "relative_error_percent", "leaf_error_percent")


def coefficients(
    session: Session,
    traffic: str,
    fabric: str | None = None,
    *,
    basis: str = "symmetric-differences",
    part: str | None = None,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """A traffic matrix in a basis."""
    from netloom import _core
    from netloom.plot.matrix import coefficients_picture, endpoint

    net = None if fabric is None else session.fabric(fabric)
    demand = session.traffic(traffic, net)
    first, end = endpoints(part, demand.endpoints)
    n = end - first
    where = "" if fabric is None or net is None else f" on {placed(fabric, net.hosts)}"
    with session.timed("draw"):
        named = _PARTS.get(basis)
        if named is None:
            cells = _core.coefficients(demand, basis, first=first, count=n).reshape(n, n)
        else:
            from netloom.exact.dictionary import split

            found = split(demand, first=first, count=n)
            assert found is not None  # without a time limit there is an answer
            cells = found.coefficients[named]
        picture = coefficients_picture(
            cells,
            first,
            what=endpoint(demand),
            title=title or f"{Path(traffic).name}{where}: coefficients in {basis}",
            kind=kind,
        )
    used = int((cells != 0).sum())
    result = {
        "basis": basis,
        "endpoints": n,
        "coefficients": used,
        "negative": int((cells < 0).sum()),
        "largest": float(abs(cells).max()) if n else 0.0,
    }
    return Drawn(picture, result, None)


def study(
    session: Session,
    results: Sequence[str],
    *,
    against: Literal["lanes", "routings"] | None = None,
    leaf_sums: bool = False,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """Errors of inference by lanes or routings."""
    from netloom.plot.study import study_picture

    rows = [row for source in results for row in _rows(session, source)]
    if against is None:
        lanes = {row["lanes"] for row in rows if row["routings"] == 1}
        against = "routings" if len(lanes) < 2 and len({row["routings"] for row in rows}) > 1 else "lanes"
    curves = _curves(rows, against, "leaf_error_percent" if leaf_sums else "relative_error_percent")
    if not curves:
        raise FormatError(f"{results[0]}: has no errors to draw against {against}")
    what = "leaf sums" if leaf_sums else "pairs"
    head = title or f"Traffic told from counters: errors of {what} by {against}"
    with session.timed("draw"):
        picture = study_picture(curves, against=against, what=what, title=head, kind=kind)
    told = [
        {
            "application": name,
            "method": curve.name,
            "at": list(curve.at),
            "error_percent": list(curve.errors),
        }
        for name, of in curves.items()
        for curve in of
    ]
    result: dict[str, Any] = {
        "against": against,
        "errors_of": what,
        "curves": told,
    }
    return Drawn(picture, result, None)


def _curves(rows: list[dict[str, Any]], against: str, key: str) -> dict[str, list[Curve]]:
    """Curves by application: methods as run here, then the published ones."""
    from netloom.plot.study import Curve

    points: dict[str, dict[tuple[str, bool], dict[int, float]]] = {}
    for row in rows:
        other = "routings" if against == "lanes" else "lanes"
        if row[other] != 1 or row[key] is None:
            continue
        of = points.setdefault(row["application"], {})
        of.setdefault((row["method"], False), {})[row[against]] = row[key]
        if against == "lanes" and key == "relative_error_percent":
            for name, column in _PUBLISHED:
                if row.get(column) is not None:
                    of.setdefault((name, True), {})[row["lanes"]] = row[column]
    return {
        name: [
            Curve(method, sorted(at), [at[x] for x in sorted(at)], published=published)
            for (method, published), at in sorted(of.items(), key=lambda item: item[0][1])
        ]
        for name, of in points.items()
    }


_PUBLISHED = (
    ("table 4.2, best basis", "published_best_basis_percent"),
    ("table 4.3, dictionary", "published_dictionary_percent"),
)


def _rows(session: Session, source: str) -> list[dict[str, Any]]:
    """The errors of a study, from its JSON or its CSV."""

    def is_known(document: dict[str, Any]) -> bool:
        rows = document["result"]["errors"]
        known = str(document["schema"]).startswith("netloom.infer-study/1")
        return known and all(isinstance(row, dict) and all(key in row for key in _KEYS) for row in rows)

    expected = "expected what netloom study chapter4 prints as JSON or CSV"
    document = documents.read(session, source, expected, is_known, csv=_of_csv)
    rows: list[dict[str, Any]] = document["result"]["errors"]
    return rows


def _of_csv(text: str) -> dict[str, Any]:
    """A study's CSV as its JSON would be; without rows it is none."""
    rows = [_typed(row) for row in csv.DictReader(io.StringIO(text))]
    return {"schema": "netloom.infer-study/1", "result": {"errors": rows}} if rows else {}


def _typed(row: dict[str, str]) -> dict[str, Any]:
    whole = {key: int(row[key]) for key in ("lanes", "routings")}
    numbers = {
        key: None if text == "" else float(text) for key, text in row.items() if key.endswith("percent")
    }
    return {**row, **whole, **numbers}
