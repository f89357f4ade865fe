"""`netloom optimize --exact`: an integer model, solved by HiGHS or Gurobi, as the independent judge.

The solver starts from the search's routes; its bound stands beside ours. Its routes are taken only where they
are better. For research and small fabrics: on large ones it runs until the time limit and proves little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from netloom.cli.shared import options, render, results
from netloom.cli.shared.exits import UsageError

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Routes, Traffic
    from netloom.cli.shared.run import Run

Model = Literal["basic", "product", "productless", "few-hot", "partitioned", "multilevel", "combined"]
_ENDINGS = (".mps", ".mps.gz")


@Parameter(name="*", group=Group("An exact model as the judge", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class ExactModel:
    """Which model, and whether it is solved or written."""

    exact: Model | None = None
    """Also solve this integer model, from the search's routes on, and show its bound beside ours. Needs HiGHS
    (`pip install 'netloom[exact]'`) or gurobipy; it has what the search leaves of `--time-limit`."""
    threshold: Annotated[float | None, options.within(0, 1e300)] = None
    """With `--exact few-hot`: minimise the number of links between switches with more than so many bytes.
    [default: between the two highest levels of load that the search left]"""
    write_model: Annotated[Path | None, options.OUTPUT_PATH] = None
    """With `--exact`: write the model here (.mps, .mps.gz) in place of solving it; any solver reads it."""

    def check(self) -> None:
        """Refuses what nothing here can solve or write.

        Raises
        ------
        UsageError, OptimizeError
        """
        if self.exact is None:
            return
        if self.write_model is None:
            from netloom.exact.solvers import solver_named

            # Before the search: without a solver there is nothing to wait for.
            solver_named("auto")
            return
        if not str(self.write_model).endswith(_ENDINGS):
            raise UsageError(f"{self.write_model}: expected an ending of {', '.join(_ENDINGS)}")

    def solved(
        self, run: Run, fabric: Fabric, traffic: Traffic, routes: Routes, loads: LinkLoads
    ) -> tuple[dict[str, Any] | None, Routes, LinkLoads]:
        """The result's key `exact`, and the better routes: the search's, or the model's if these are."""
        if self.exact is None:
            return None, routes, loads
        from netloom import _core, exact

        threshold = self.threshold
        if self.exact == "few-hot" and threshold is None:
            highest = [load for load, _ in loads.levels(2)]
            threshold = sum(highest) / 2 if len(highest) == 2 else 0.0
        if self.write_model is not None:
            with run.timed("write"):
                exact.write_mps(fabric, traffic, self.write_model, self.exact, threshold=threshold)
            return _told(self.exact, "written", threshold, str(self.write_model)), routes, loads
        options = run.options
        with run.timed("exact"):
            found = exact.solve(
                fabric,
                traffic,
                self.exact,
                start=routes,
                time_limit=run.left,
                threads=options.threads,
                seed=run.seed,
                threshold=threshold,
            )
        told = _told(self.exact, found.status, threshold, None) | {
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


def rows(exact: Mapping[str, Any], ours: float) -> list[tuple[str, str]]:
    """The report's lines; `ours` is our own lower bound."""
    if exact["output"] is not None:
        return [("model", f"{exact['model']}, written to {exact['output']}")]
    size = f"{render.count(exact['variables'])} variables, {render.count(exact['constraints'])} constraints"
    out = [("model", f"{exact['model']}: {exact['status']}, {size}")]
    links = exact["model"] == "few-hot"
    if links:
        above = render.size(exact["threshold"])
        out.append(("above", f"{results.links(round(exact['objective']))} above {above}"))
    if exact["lower_bound"] is None:
        heuristic = exact["model"] == "partitioned"
        out.append(
            ("its bound", f"none: {'this model proves nothing' if heuristic else 'stopped too early'}")
        )
    elif links:
        out.append(("its bound", results.links(round(exact["lower_bound"]))))
    else:
        out.append(("its bound", f"{render.size(exact['lower_bound'])} (ours {render.size(ours)})"))
    if exact["bound_class"] is not None:
        out.append(("", f"of {results.words(exact['bound_class'])}"))
    told = (lambda value: results.links(round(value))) if links else render.size
    start = told(exact["start_objective"])
    if exact["own_objective"] is None:
        what = "none before the time was over"
    elif exact["better"]:
        what = f"{told(exact['own_objective'])}, better than the search's ({start}), and taken"
    else:
        what = f"{told(exact['own_objective'])}, no better than the search's ({start})"
    out.append(("its routes", what))
    return out
