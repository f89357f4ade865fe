"""An integer model, solved by HiGHS or Gurobi, as the independent judge of a search.

The solver starts from the search's routes; its bound stands beside ours. Its routes are taken only where they
are better. For research and small fabrics: on large ones it runs until the time limit and proves little.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Routes, Traffic
    from netloom.session.session import Session

Model = Literal["basic", "product", "productless", "few-hot", "partitioned", "multilevel", "combined"]


def solved(
    session: Session,
    model: Model,
    threshold: float | None,
    written: Path | None,
    fabric: Fabric,
    traffic: Traffic,
    routes: Routes,
    loads: LinkLoads,
) -> tuple[dict[str, Any], Routes, LinkLoads]:
    """The result's key `exact`, and the better routes: the search's, or the model's if these are.

    The model is `written` (.mps) in place of being solved, if a path says where.
    """
    from netloom import _core, exact

    if model == "few-hot" and threshold is None:
        highest = [load for load, _ in loads.levels(2)]
        threshold = sum(highest) / 2 if len(highest) == 2 else 0.0
    if written is not None:
        with session.timed("write"):
            exact.write_mps(fabric, traffic, written, model, threshold=threshold)
        return _told(model, "written", threshold, str(written)), routes, loads
    with session.timed("exact"):
        found = exact.solve(
            fabric,
            traffic,
            model,
            start=routes,
            time_limit=session.left,
            threads=session.threads,
            seed=session.seed,
            threshold=threshold,
        )
    told = _told(model, found.status, threshold, None) | {
        "objective": found.objective,
        "own_objective": found.own_objective,
        "start_objective": found.start_objective,
        "lower_bound": found.bound,
        "gap_percent": found.gap_percent,
        "bound_class": None if found.bound is None else "up-down-tables",
        "better": found.improved,
        "seconds": found.seconds,
        "variables": found.variables,
        "constraints": found.constraints,
    }
    if found.improved:
        return told, found.routes, _core.loads(fabric, found.routes, traffic, bounds=loads)
    return told, routes, loads


def _told(model: Model, status: str, threshold: float | None, output: str | None) -> dict[str, Any]:
    return {
        "model": model,
        "status": status,
        "threshold": threshold,
        "objective": None,
        "own_objective": None,
        "start_objective": None,
        "lower_bound": None,
        "gap_percent": None,
        "bound_class": None,
        "better": False,
        "seconds": None,
        "variables": None,
        "constraints": None,
        "output": output,
    }
