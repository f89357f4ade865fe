"""`solve` and `write_mps`: a model's name in, routes with the solver's proof out.

What is reported of the routes is recomputed from their tables (`loads`), never the solver's word; only the
bound is. Sources: dissertation, sec. 3.3 (models), 3.4 (`combined`), 5.4.1 (`few-hot`).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from netloom import _core
from netloom._core import ExactModel, ExactPlan, Fabric, LinkLoads, Routes, Traffic
from netloom.errors import OptimizeError
from netloom.exact.solvers import Answer, solver_named

MODELS = ("basic", "product", "productless", "few-hot", "partitioned", "multilevel", "combined")


@dataclass(frozen=True)
class ExactResult:
    """What an exact model gave.

    Parameters
    ----------
    routes : Routes
        Complete tables.
    loads : LinkLoads
        Their loads, beside netloom's own certified bound (`loads.lower_bound`).
    objective : float
        Of `routes`: the largest load in bytes, or for `few-hot` the number of links above the threshold.
    own_objective : float or None
        Of the routes that the model itself gave, better than the start's or not; `None` where it gave
        none, as when the time limit came first.
    start_objective : float
        Of the routes that it started from.
    bound : float or None
        The solver's proven bound on the objective; `None` where the model proves nothing (`partitioned`).
    status : str
        "optimal", "feasible" (a heuristic model), "time-limit", "interrupted".
    seconds : float
        All in all.
    variables, constraints : int
        Of the largest model that was solved.
    improved : bool
        Whether the model's own routes have a smaller objective than the start's. If not, `routes` are
        the start's.
    """

    routes: Routes
    loads: LinkLoads
    objective: float
    own_objective: float | None
    start_objective: float
    bound: float | None
    status: str
    seconds: float
    variables: int
    constraints: int
    improved: bool = False

    @property
    def gap_percent(self) -> float | None:
        """How far the objective is above the solver's bound."""
        if self.bound is None:
            return None
        if self.objective <= self.bound:
            return 0.0
        return (self.objective - self.bound) / self.bound * 100 if self.bound > 0 else float("inf")


def solve(
    fabric: Fabric,
    traffic: Traffic,
    model: str = "basic",
    *,
    start: Routes | Literal["search"] | None = None,
    time_limit: float | None = None,
    threads: int = 0,
    seed: int = 0,
    solver: Literal["auto", "highs", "gurobi"] = "auto",
    threshold: float | None = None,
    host_links: bool = True,
) -> ExactResult:
    """Solves one of [`MODELS`]. Ctrl-C and a time limit give the best so far.

    Parameters
    ----------
    fabric : Fabric
        The fabric; small, a model has a variable a switch, destination and port.
    traffic : Traffic
        Over its hosts, bytes.
    model : str, default "basic"
        One of [`MODELS`].
    start : Routes or "search", optional
        The first incumbent. `combined` searches for one if none is given.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    threads : int, default 0
        Threads; 0 is one a core.
    seed : int, default 0
        Of the search and of the solver.
    solver : {"auto", "highs", "gurobi"}, default "auto"
        Who solves it; `auto`: Gurobi where it is installed.
    threshold : float, optional
        For `few-hot`, in bytes: links between switches above it are counted. With a start, no link may
        exceed the start's maximum.
    host_links : bool, default True
        Whether hosts' own links, which no routing changes, count in the maximum.

    Returns
    -------
    ExactResult
        Routes, status, objective and the solver's bound.

    Raises
    ------
    OptimizeError
        If the model is unknown or too large, or no solver is installed.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    >>> traffic = nl.Traffic.read("shift:2", fabric)
    >>> exact.solve(fabric, traffic).status
    'optimal'
    """
    _check(model, threshold)
    solver_of = solver_named(solver)
    run = _Run(fabric, traffic, solver_of, time_limit, threads, seed, host_links, threshold)
    if isinstance(start, Routes):
        background = start
    elif start == "search" or model == "combined":
        background = _core.optimize(fabric, traffic, seed=seed, threads=threads, time_limit=time_limit).routes
    else:
        background = _core.optimize(fabric, traffic, work=0).routes
    has_start = start is not None or model == "combined"
    if model in ("partitioned", "multilevel"):
        return run.plan(model, background, has_start)
    if model == "combined":
        half = run.plan("partitioned", background, True, share=0.5)
        if half.status == "interrupted":
            return half
        return run.whole("basic", half.routes, True)
    return run.whole(model, background, has_start)


def write_mps(
    fabric: Fabric,
    traffic: Traffic,
    path: str | os.PathLike[str],
    model: str = "basic",
    *,
    sos1: bool = False,
    threshold: float | None = None,
    host_links: bool = True,
) -> None:
    """Writes `basic`, `product`, `productless` or `few-hot` as free-format MPS.

    The file is written whole or not at all; a path in `.gz` is compressed.
    With `sos1`, `basic` has SOS1 sets in place of binaries (Gurobi and CPLEX read them, HiGHS does not).

    Parameters
    ----------
    fabric : Fabric
        The fabric.
    traffic : Traffic
        Over its hosts, bytes.
    path : path
        Where it is written.
    model : str, default "basic"
        Which of the four.
    sos1 : bool, default False
        SOS1 sets instead of binaries.
    threshold : float, optional
        For `few-hot`, in bytes.
    host_links : bool, default True
        Whether hosts' own links count in the maximum.

    Returns
    -------
    None

    Raises
    ------
    OptimizeError
        If the model is another.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    >>> traffic = nl.Traffic.read("shift:2", fabric)
    >>> exact.write_mps(fabric, traffic, "model.mps.gz")
    """
    _check(model, threshold)
    if model in ("partitioned", "multilevel", "combined"):
        raise OptimizeError(
            f"{model} is a sequence of models: expected basic, product, productless or few-hot"
        )
    form = "sos1" if sos1 and model == "basic" else "basic" if model == "few-hot" else model
    limit = {} if model != "few-hot" else {"threshold": threshold}
    built = _core.exact_model(fabric, traffic, form, host_links=host_links, **limit)
    _core.write_atomic(path, built.mps())


def _check(model: str, threshold: float | None) -> None:
    if model not in MODELS:
        raise OptimizeError(f'model "{model}": expected one of {", ".join(MODELS)}')
    if (model == "few-hot") != (threshold is not None):
        raise OptimizeError("few-hot needs a threshold in bytes, and only few-hot has one")


class _Run:
    """One call of `solve`: its inputs, its clock, its largest model."""

    def __init__(
        self,
        fabric: Fabric,
        traffic: Traffic,
        solver: Any,
        time_limit: float | None,
        threads: int,
        seed: int,
        host_links: bool,
        threshold: float | None,
    ) -> None:
        self.fabric, self.traffic, self.solver = fabric, traffic, solver
        self.time_limit, self.threads, self.seed = time_limit, threads, seed
        self.host_links, self.threshold = host_links, threshold
        self.began = time.monotonic()
        self.size = (0, 0)

    def left(self) -> float | None:
        if self.time_limit is None:
            return None
        return max(0.0, self.time_limit - (time.monotonic() - self.began))

    def ask(self, model: ExactModel, start: Any, limit: float | None) -> Answer:
        self.size = max(self.size, (model.variables, model.constraints))
        answer: Answer = self.solver(model, start, limit, self.threads, self.seed)
        return answer

    def judge(self, routes: Routes) -> tuple[LinkLoads, float]:
        loads = _core.loads(self.fabric, routes, self.traffic)
        if self.threshold is not None:
            return loads, float(self.hot(loads))
        return loads, loads.max if self.host_links else loads.max_between_switches

    def hot(self, loads: LinkLoads) -> int:
        assert self.threshold is not None
        hosts = self.fabric.hosts
        table = self.fabric.link_table()
        between = (np.asarray(table["source"]) >= hosts) & (np.asarray(table["target"]) >= hosts)
        return int(np.count_nonzero(loads.per_link[between] > self.threshold * (1 + 1e-9)))

    def whole(self, name: str, background: Routes, has_start: bool) -> ExactResult:
        few = name == "few-hot"
        limit = None
        if few and has_start:
            limit = _core.loads(self.fabric, background, self.traffic).max_between_switches
        model = _core.exact_model(
            self.fabric,
            self.traffic,
            "basic" if few else name,
            host_links=self.host_links,
            threshold=self.threshold,
            limit=limit,
        )
        answer = self.ask(model, model.start(background) if has_start else None, self.left())
        routes = None if answer.values is None else model.routes(answer.values, background)
        bound = None if answer.bound is None else answer.bound * model.scale
        return self.result(routes, background, bound, answer.status)

    def plan(self, kind: Any, background: Routes, has_start: bool, share: float = 1.0) -> ExactResult:
        plan = ExactPlan(self.fabric, self.traffic, kind, background, host_links=self.host_links)
        status, bound, answered = "feasible", None, False
        while (step := plan.step()) is not None:
            _, models, starts = step
            left = self.left()
            # Later steps and parts want their share too.
            each = None if left is None else left * share / (2 * len(models))
            solutions = []
            for model, start in zip(models, starts, strict=True):
                answer = Answer(None, None, "interrupted")
                if status != "interrupted":
                    answer = self.ask(model, start, each)
                    status = answer.status if answer.status in ("interrupted", "time-limit") else status
                solutions.append(answer.values)
            plan.answer(solutions)
            answered = answered or any(values is not None for values in solutions)
            # Of multilevel, the last step is the whole fabric without limits; other bounds say nothing.
            bound = None if answer.bound is None else answer.bound * models[-1].scale
            last = answer.status
        routes = plan.routes(background) if answered else None
        if kind == "multilevel" and bound is not None and status != "interrupted":
            status = last
        return self.result(routes, background, bound if kind == "multilevel" else None, status)

    def result(self, own: Routes | None, start: Routes, bound: float | None, status: str) -> ExactResult:
        loads, was = self.judge(start)
        routes, objective, own_objective = start, was, None
        if own is not None:
            own_loads, own_objective = self.judge(own)
            if own_objective < was - 1e-9 * abs(was):
                routes, loads, objective = own, own_loads, own_objective
        seconds = time.monotonic() - self.began
        return ExactResult(
            routes,
            loads,
            objective,
            own_objective,
            was,
            bound,
            status,
            seconds,
            *self.size,
            improved=routes is own,
        )
