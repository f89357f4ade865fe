"""`netloom optimize --exact`: an integer model, solved by HiGHS or Gurobi, as the independent judge.

The solver starts from the search's routes; its bound stands beside ours. Its routes are taken only where they
are better. For research and small fabrics: on large ones it runs until the time limit and proves little.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.optimizing.exact_model import Model

_ENDINGS = (".mps", ".mps.gz")


@Parameter(name="*", group=Group("An exact model as the judge", sort_key=5))
@dataclass(frozen=True, kw_only=True)
class ExactModel:
    """Which model, and whether it is solved or written."""

    exact: Model | None = None
    """Also solve this integer model, from the search's routes on, and show its bound beside ours. Needs HiGHS
    (`pip install 'netloom-hpc[exact]'`) or gurobipy; it has what the search leaves of `--time-limit`."""
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
