"""`netloom plot coefficients` and `netloom plot study`: bases, and errors of inference."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.cli.plot import documents
from netloom.cli.plot.command import endpoints, picture_kind, placed, prepared
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import PictureOptions
from netloom.cli.shared.run import Run
from netloom.errors import FormatError

if TYPE_CHECKING:
    from netloom.plot.study import Curve

_KEYS = ("application", "method", "lanes", "routings", "relative_error_percent", "leaf_error_percent")


def coefficients(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    basis: str = "symmetric-differences",
    part: str | None = None,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw the coefficients of a traffic matrix in a basis: blue above zero, red below.

    Parameters
    ----------
    traffic
        A file (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder, .goal), a
        jobs file (.toml; needs a fabric), or a pattern spec.
    fabric
        The fabric on whose hosts it is.
    basis
        `identity`, `symmetric`, `differences`, `symmetric-differences`, `copy-shift` or
        `symmetric-copy-shift`; the last two need a power of two of endpoints.
    part
        Only these endpoints, `FIRST:END`: `10:522` are 512 from number 10.
    title
        Above the picture; by default the traffic's name and the basis.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    from netloom import _core
    from netloom.plot.matrix import coefficients_picture, endpoint

    run = prepared("plot-coefficients", options)
    net = None if fabric is None else run.fabric(fabric)
    demand = run.traffic(traffic, net)
    first, end = endpoints(part, demand.endpoints)
    n = end - first
    where = "" if fabric is None or net is None else f" on {placed(fabric, net.hosts)}"
    with run.timed("draw"):
        cells = _core.coefficients(demand, basis, first=first, count=n).reshape(n, n)
        picture = coefficients_picture(
            cells,
            first,
            what=endpoint(demand),
            title=title or f"{Path(traffic).name}{where}: coefficients in {basis}",
            kind=picture_kind(run),
        )
    used = int((cells != 0).sum())
    result = {
        "basis": basis,
        "endpoints": n,
        "coefficients": used,
        "negative": int((cells < 0).sum()),
        "largest": float(abs(cells).max()) if n else 0.0,
        "output": run.write(picture),
    }
    told = f"{render.count(used)}, {used / max(n, 1):.2f} a rank"
    return run.finish(
        result, lambda: render.pairs([("coefficients", told), ("written", str(result["output"]))])
    )


def study(
    *results: str,
    against: Literal["lanes", "routings"] | None = None,
    leaf_sums: bool = False,
    title: str | None = None,
    options: PictureOptions | None = None,
) -> int:
    """Draw errors of inference against lanes or against routings, application by application.

    Parameters
    ----------
    results
        What `netloom study chapter4` printed or wrote, as JSON or CSV; of several all rows are taken.
    against
        What grows to the right. [default: lanes, if there are several]
    leaf_sums
        Errors of the sums over (source leaf, destination) instead of those of pairs.
    title
        Above the picture.
    options
        Common options; `-o` takes the picture (.svg, .pdf, .png).
    """
    from netloom.plot.study import study_picture

    if not results:
        raise UsageError("plot study draws results: netloom plot study RESULT.json… -o FILE")
    run = prepared("plot-study", options)
    rows = [row for source in results for row in _rows(run, source)]
    if against is None:
        lanes = {row["lanes"] for row in rows if row["routings"] == 1}
        against = "routings" if len(lanes) < 2 and len({row["routings"] for row in rows}) > 1 else "lanes"
    curves = _curves(rows, against, "leaf_error_percent" if leaf_sums else "relative_error_percent")
    if not curves:
        raise FormatError(f"{results[0]}: has no errors to draw against {against}")
    what = "leaf sums" if leaf_sums else "pairs"
    head = title or f"Traffic told from counters: errors of {what} by {against}"
    with run.timed("draw"):
        picture = study_picture(curves, against=against, what=what, title=head, kind=picture_kind(run))
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
        "output": run.write(picture),
    }
    written = [
        ("applications", render.count(len(curves))),
        ("curves", render.count(len(told))),
        ("written", str(result["output"])),
    ]
    return run.finish(result, lambda: render.pairs(written))


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


def _rows(run: Run, source: str) -> list[dict[str, Any]]:
    """The errors of a study, from its JSON or its CSV."""

    def is_known(document: dict[str, Any]) -> bool:
        rows = document["result"]["errors"]
        known = str(document["schema"]).startswith("netloom.infer-study/1")
        return known and all(isinstance(row, dict) and all(key in row for key in _KEYS) for row in rows)

    expected = "expected what netloom study chapter4 prints as JSON or CSV"
    document = documents.read(run, source, expected, is_known, csv=_of_csv)
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
