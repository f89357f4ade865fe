"""Pictures of traffic, link loads and searches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.drawing import documents
from netloom.drawing.drawn import Drawn, endpoints, placed
from netloom.errors import FormatError
from netloom.session.session import Session
from netloom.session.sources import name_of

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.plot.cells import Borders


def matrix(
    session: Session,
    traffic: str,
    fabric: str | None = None,
    *,
    grey: bool = False,
    part: str | None = None,
    title: str | None = None,
    kind: str,
) -> Drawn:
    """A traffic matrix."""
    from netloom.plot.matrix import grey_picture, matrix_picture

    net = None if fabric is None else session.fabric(fabric)
    demand = session.traffic(traffic, net)
    first, end = endpoints(part, demand.endpoints)
    with session.timed("draw"):
        draw = grey_picture if grey else matrix_picture
        where = "" if fabric is None or net is None else f" on {placed(fabric, net.hosts)}"
        told = title or f"{Path(traffic).name}{where}: bytes from source to destination"
        lines = None if net is None or demand.hosts_hash is None else borders(net)
        picture = draw(demand, first, end, title=told, kind=kind, borders=lines)
    result = {
        "endpoints": demand.endpoints,
        "pairs": demand.pairs,
        "total_bytes": demand.total_bytes,
    }
    return Drawn(picture, result, None)


def loads(
    session: Session, fabric: str, traffic: str, routes: Sequence[str], *, title: str | None = None, kind: str
) -> Drawn:
    """Sorted link loads."""
    from netloom.plot.loads import Curve, loads_picture

    net = session.fabric(fabric)
    demand = session.traffic(traffic, net)
    curves, rows = [], []
    for name in routes:
        tables = session.routes(name, net, demand)
        with session.timed("loads"):
            found = session.loads(net, tables, demand)
        alive = net.link_table()["alive"]
        curves.append(
            Curve(Path(name).name, found.per_link[alive], best=len(routes) > 1 and name == routes[-1])
        )
        rows.append(
            {
                "routes": name,
                "max_load": found.max,
                "ar_gap_percent": found.ar_gap_percent,
                "outside_because": found.outside_because,
                "links_at_max": found.links_at_max,
            }
        )
    with session.timed("draw"):
        picture = loads_picture(
            curves,
            bound=found.ar_bound,
            bound_name="AR bound",
            title=title or f"{Path(traffic).name} on {placed(fabric, net.hosts)}: load of every link",
            kind=kind,
        )
    result: dict[str, Any] = {
        "ar_bound": found.ar_bound,
        "bound_class": found.ar_bound_class,
        "curves": rows,
    }
    return Drawn(picture, result, rows)


def history(session: Session, results: Sequence[str], *, title: str | None = None, kind: str) -> Drawn:
    """How searches got better."""
    from netloom.plot.search import Stairs, history_picture

    curves, rows, names = [], [], []
    for source in results:
        document = _result(session, source)
        found = document["result"]
        # Of several matrices a step's load is the objective's value.
        goal = found["objective"]
        gaps = [_gap(step["max_load"], goal["lower_bound"]) for step in found["history"]]
        steps = [
            (s["seconds"], gap) for s, gap in zip(found["history"], gaps, strict=True) if gap is not None
        ]
        rows.append(
            {
                "result": name_of(source),
                "seconds": found["time_to_best"],
                "gap_percent": goal["gap_percent"],
                "bound_class": goal["bound_class"],
                "steps": len(steps),
            }
        )
        names.append(_what(document))
        if steps:
            end = document["seconds"].get("optimize", 0.0)
            curves.append(Stairs(Path(source).stem, [s for s, _ in steps], [g for _, g in steps], end))
    if not curves:
        raise FormatError(f"{results[0]}: has no search to draw")
    with session.timed("draw"):
        picture = history_picture(
            curves,
            title=title or f"{', '.join(dict.fromkeys(names))}: gap to the bound over time",
            kind=kind,
        )
    result: dict[str, Any] = {"curves": rows}
    return Drawn(picture, result, rows)


def front(session: Session, source: str, *, title: str | None = None, kind: str) -> Drawn:
    """What changed entries buy."""
    from netloom.plot.search import front_picture

    document = _result(session, source)
    if not document["result"].get("front"):
        raise FormatError(f"{source}: has no front: it is made by netloom optimize --front --format json")
    rows = [
        {
            "changed_entries": point["changed_entries"],
            "max_load": point["max_load"],
            "gap_percent": point["lower_bound_gap_percent"],
        }
        for point in document["result"]["front"]
    ]
    points = [(row["changed_entries"], row["gap_percent"]) for row in rows if row["gap_percent"] is not None]
    with session.timed("draw"):
        told = title or f"{_what(document)}: gap to the bound by changed entries"
        picture = front_picture(points, title=told, kind=kind)
    result: dict[str, Any] = {
        "bound_class": document["result"]["bound_class"],
        "points": rows,
    }
    return Drawn(picture, result, rows)


def _result(session: Session, source: str) -> dict[str, Any]:
    """The JSON object that `netloom optimize --format json` printed."""

    def is_known(document: dict[str, Any]) -> bool:
        known = str(document["schema"]).startswith("netloom.optimize/1")
        known = known and isinstance(document["result"]["history"], list)
        return known and isinstance(document["result"]["objective"], dict) and _drawable(document)

    return documents.read(session, source, "expected what netloom optimize --format json prints", is_known)


def _drawable(document: dict[str, Any]) -> bool:
    """Whether what pictures are made of is there: inputs by role, steps of the search, points of a front."""

    def numbers(rows: Any, *keys: str) -> bool:
        return all(isinstance(row[key], int | float) for row in rows for key in keys)

    result = document["result"]
    inputs = all(isinstance(one[key], str) for one in document["inputs"] for key in ("role", "source"))
    goal = (
        isinstance(result["objective"]["lower_bound"], int | float) and "gap_percent" in result["objective"]
    )
    seconds = isinstance(document["seconds"], dict) and "time_to_best" in result
    steps = numbers(result["history"], "max_load", "seconds")
    points = result.get("front") or []
    gaps = all(isinstance(point["lower_bound_gap_percent"], int | float | None) for point in points)
    return inputs and goal and seconds and steps and gaps and numbers(points, "max_load", "changed_entries")


def _what(document: dict[str, Any]) -> str:
    """Traffic and fabric of a result: `boxlib.toml on net.txt`."""
    sources = {one["role"]: Path(one["source"]).name for one in reversed(document["inputs"])}
    told = sources.get("traffic") or sources.get("jobs") or "netloom optimize"
    return f"{told} on {sources['fabric']}" if "fabric" in sources else told


_MOST_LINES = 64
"""Lines between pods or leaves that leave a matrix to be seen."""


def borders(net: Fabric) -> Borders | None:
    """Between which hosts a pod ends (in a dragonfly or megafly a group), or a leaf where there is one pod.

    None where hosts of one lie apart, or there are too many.
    """
    import numpy as np

    from netloom.plot.cells import Borders
    from netloom.plot.layout import pods

    leaf = np.asarray(net.link_table()["target"], np.int64)[: net.hosts] - net.hosts
    by = {"leaves": leaf}
    if "groups" in net.shape:
        by = {"groups": np.asarray(net.switch_table()["group"], np.int64)[leaf], **by}
    elif net.shape["kind"] == "tree":
        by = {"pods": pods(net)[leaf], **by}
    for what, of in by.items():
        at = (np.flatnonzero(np.diff(of)) + 1).tolist()
        if at and len(at) == len(np.unique(of)) - 1 and len(at) <= _MOST_LINES:
            return Borders(what, at)
    return None


def _gap(load: float, bound: float) -> float | None:
    """Percent above the bound; None if there is no bound."""
    if load <= bound * (1 + 1e-9):
        return 0.0
    return (load / bound - 1) * 100 if bound > 0 else None
