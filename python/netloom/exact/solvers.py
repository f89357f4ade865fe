"""Solvers behind one function each: `(model, start, time_limit, threads, seed) -> Answer`.

Objectives are minimised one after the other: each is solved, held (within 1e-6 of its value), then the next.
Ctrl-C stops the solver and gives what it has.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom import extras
from netloom._core import ExactModel
from netloom.errors import OptimizeError

_Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """Values of the columns, the proven bound on the first objective (in its unit), and how it ended."""

    values: _Values | None
    bound: float | None
    status: str


Solver = Callable[[ExactModel, "_Values | None", "float | None", int, int], Answer]


def silent_highs() -> Any:
    """A HiGHS that prints nothing: stdout is the command's own.

    Its constructor turns callbacks on, which since 1.16 prints a banner: silence afterwards is too late.
    """
    import highspy

    # What it has has no types.
    loud: Any = highspy.Highs

    class Silent(loud):  # type: ignore[misc]
        def enableCallbacks(self) -> None:
            self.silent()
            super().enableCallbacks()

    highs: Any = Silent()
    highs.silent()
    return highs


def solver_named(name: str) -> Solver:
    """The solver of a name; `auto` takes HiGHS, or else Gurobi."""
    if name not in ("auto", "highs", "gurobi"):
        raise OptimizeError(f'solver "{name}": expected auto, highs or gurobi')
    if name in ("auto", "highs"):
        try:
            import highspy  # noqa: F401

            return _highs
        except ImportError:
            if name == "highs":
                raise OptimizeError(extras.told("exact", library="highspy")) from None
    try:
        import gurobipy  # noqa: F401
    except ImportError:
        if name == "gurobi":
            raise OptimizeError("Gurobi is not installed: pip install gurobipy") from None
        raise OptimizeError(extras.told("exact", library="highspy")) from None
    return _gurobi


def _highs(
    model: ExactModel, start: _Values | None, time_limit: float | None, threads: int, seed: int
) -> Answer:
    import highspy

    arrays = model.arrays()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.variables, model.constraints
    lp.col_cost_ = np.zeros(model.variables)
    lp.col_lower_, lp.col_upper_ = arrays["lower"], arrays["upper"]
    lp.row_lower_, lp.row_upper_ = arrays["row_lower"], arrays["row_upper"]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = model.variables, model.constraints
    lp.a_matrix_.start_ = arrays["first"].astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = arrays["column"], arrays["value"]
    whole, part = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    lp.integrality_ = [whole if integer else part for integer in arrays["integer"]]
    highs = silent_highs()
    highs.passModel(lp)
    highs.setOptionValue("random_seed", seed % 2**31)
    highs.setOptionValue("threads", threads)
    highs.setOptionValue("mip_rel_gap", 1e-9)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    stop = threading.Event()

    def check(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    highs.cbMipInterrupt += check
    highs.cbSimplexInterrupt += check
    deadline = None if time_limit is None else time.monotonic() + time_limit
    bound, status = None, "optimal"
    objectives = model.objectives()
    for rank, (_, columns, costs) in enumerate(objectives):
        cost = np.zeros(model.variables)
        cost[columns] = costs
        highs.changeColsCost(model.variables, np.arange(model.variables, dtype=np.int32), cost)
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = list(start)
            highs.setSolution(known)
        if deadline is not None:
            # HiGHS' clock goes on from run to run.
            left = max(0.0, deadline - time.monotonic())
            highs.setOptionValue("time_limit", highs.getRunTime() + left)
        interrupted = _run(highs, stop)
        info = highs.getInfo()
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            start = np.array(highs.getSolution().col_value)
        ended = highs.getModelStatus()
        if ended in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            raise OptimizeError(f"HiGHS calls the {model.kind} model infeasible: please report it")
        proven = ended in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)
        if rank == 0:
            # Without integers left to decide there is no tree: the optimum is its own bound.
            found = info.mip_dual_bound if arrays["integer"].any() else None
            if found is None and proven:
                found = info.objective_function_value
            bound = found if found is not None and np.isfinite(found) else None
        if interrupted or not proven:
            status = "interrupted" if interrupted else "time-limit"
            if start is None or rank == 0 or interrupted:
                break
        if start is not None and rank + 1 < len(objectives):
            # Held a little loosely, as numbers have it.
            value = float(cost @ start)
            highs.addRow(
                -highspy.kHighsInf, value + 1e-6 * max(1.0, abs(value)), len(columns), columns, costs
            )
    return Answer(start, bound, status)


def _run(highs: Any, stop: threading.Event) -> bool:
    """Runs HiGHS on a thread of its own; whether an interruption ended it that lets it return.

    Raises
    ------
    KeyboardInterrupt
        As any other interruption.
    """
    worker = threading.Thread(target=highs.run, daemon=True)
    worker.start()
    interruption: KeyboardInterrupt | None = None
    while worker.is_alive():
        try:
            worker.join(0.05)
        except KeyboardInterrupt as came:
            interruption = interruption or came
            stop.set()
    if interruption is not None and not getattr(interruption, "lets_return", False):
        raise interruption
    return interruption is not None


def _gurobi(
    model: ExactModel, start: _Values | None, time_limit: float | None, threads: int, seed: int
) -> Answer:
    import gurobipy as gp
    import scipy.sparse

    arrays = model.arrays()
    shape = (model.constraints, model.variables)
    matrix = scipy.sparse.csr_matrix((arrays["value"], arrays["column"], arrays["first"]), shape=shape)
    env = gp.Env(params={"OutputFlag": 0, "Threads": threads, "Seed": seed % 2_000_000_000, "MIPGap": 1e-9})
    with env, gp.Model(env=env) as gurobi:
        kinds = np.where(arrays["integer"], "B", "C")
        x = gurobi.addMVar(model.variables, lb=arrays["lower"], ub=arrays["upper"], vtype=kinds)
        above, below = np.isfinite(arrays["row_lower"]), np.isfinite(arrays["row_upper"])
        if above.any():
            gurobi.addConstr(matrix[above] @ x >= arrays["row_lower"][above])
        if below.any():
            gurobi.addConstr(matrix[below] @ x <= arrays["row_upper"][below])
        deadline = None if time_limit is None else time.monotonic() + time_limit
        bound, status = None, "optimal"
        for rank, (_, columns, costs) in enumerate(model.objectives()):
            objective = costs @ x[columns]
            gurobi.setObjective(objective, gp.GRB.MINIMIZE)
            if start is not None:
                x.Start = start
            if deadline is not None:
                gurobi.Params.TimeLimit = max(0.0, deadline - time.monotonic())
            gurobi.optimize()
            if gurobi.SolCount > 0:
                start = x.X
            proven = gurobi.Status == gp.GRB.OPTIMAL
            if rank == 0:
                bound = gurobi.ObjBound
            if not proven:
                interrupted = gurobi.Status == gp.GRB.INTERRUPTED
                status = "interrupted" if interrupted else "time-limit"
                if start is None or rank == 0 or interrupted:
                    break
            if start is not None:
                value = float(costs @ start[columns])
                gurobi.addConstr(objective <= value + 1e-6 * max(1.0, abs(value)))
        return Answer(start, bound, status)
