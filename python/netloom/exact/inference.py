"""What `netloom.infer` solves, by exact solvers: the judges of our own, on small fabrics.

    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    >>> counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("matching:seed=1", fabric))
    >>> equations = exact.Equations(fabric, "ftree", counters)
    >>> ours = equations.fewest_flows()
    >>> judge = exact.fewest_flows(equations, ours, solver="highs")  # doctest: +SKIP

Each function takes the answer of the method of [`Equations`] of the same name, which has the problem's
numbers too. Objectives are of the problem as it is written there, whatever units a solver is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from netloom import extras
from netloom._core import Equations
from netloom.errors import OptimizeError
from netloom.exact.solvers import silent_highs

extras.need("exact", library="scipy")
import scipy.sparse  # noqa: E402

_Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """The exact solution beside ours.

    Parameters
    ----------
    values : array
        The solver's.
    objective, ours : float
        Its objective, and that of our answer.
    """

    values: _Array
    objective: float
    ours: float


def matrix(equations: Equations) -> scipy.sparse.csc_matrix:
    """Rows by pairs: 1 where a pair crosses a row.

    Parameters
    ----------
    equations : Equations
        What counters say of who may talk to whom.

    Returns
    -------
    scipy.sparse.csc_matrix
        `equations.rows` by `equations.pairs`.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=3,hosts=2,spines=2")
    >>> counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("shift:2", fabric))
    >>> problem = exact.Equations(fabric, "ftree", counters)
    >>> exact.matrix(problem).shape == (problem.rows, problem.pairs)
    True
    """
    arrays = equations.arrays()
    ones = np.ones(len(arrays["row"]))
    shape = (equations.rows, equations.pairs)
    return scipy.sparse.csc_matrix((ones, arrays["row"], arrays["first"]), shape=shape)


def program(
    equations: Equations, answer: Mapping[str, Any]
) -> tuple[scipy.sparse.csr_matrix, _Array, _Array, _Array]:
    """The linear program of the fewest flows in units in which all numbers are about one.

    Returns
    -------
    rows, low, high, cost : csr_matrix, array, array, array
        Minimise the sum of `w >= 0` with `low <= rows @ w <= high`; bytes of the columns are `w / cost`.
    """
    crossed, target = matrix(equations), equations.arrays()["bytes"]
    back, cost, slack = answer["back"], answer["cost"], answer["slack"]
    together = back >= 0
    columns = crossed[:, answer["pair"]]
    columns = columns + crossed[:, np.where(together, back, 0)] @ scipy.sparse.diags_array(together * 1.0)
    known = np.isfinite(slack) & (target > 0)
    rows = scipy.sparse.diags_array(1 / target[known]) @ columns.tocsr()[known]
    width = slack[known] / target[known]
    scaled = scipy.sparse.csr_matrix(rows @ scipy.sparse.diags_array(1 / cost))
    return scaled, 1 - width, 1 + width, cost


def fewest_flows(
    equations: Equations, answer: Mapping[str, Any], *, solver: Literal["highs", "clarabel"] = "highs"
) -> Judged:
    """The cheapest traffic that explains the counters within their slack.

    Parameters
    ----------
    equations : Equations
        The problem.
    answer : mapping
        `equations.fewest_flows()`, which is judged.
    solver : {"highs", "clarabel"}, default "highs"
        Who solves it.

    Returns
    -------
    Judged
        Bytes of every column of the answer, the solver's objective and the answer's.

    Raises
    ------
    OptimizeError
        If the solver is not installed, or finds no optimum.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=3,hosts=2,spines=2")
    >>> counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("shift:2", fabric))
    >>> problem = exact.Equations(fabric, "ftree", counters)
    >>> judged = exact.fewest_flows(problem, problem.fewest_flows())
    >>> bool(judged.ours <= judged.objective * 1.01)
    True
    """
    rows, low, high, cost = program(equations, answer)
    values = _SOLVERS[_named(solver)](rows, low, high) / cost
    return Judged(values, float(cost @ values), float(cost @ answer["values"]))


def atoms(equations: Equations, answer: Mapping[str, Any]) -> Judged:
    """The best non-negative combination of atoms: weighted squares of what it leaves, by Clarabel.

    Parameters
    ----------
    equations : Equations
        The problem.
    answer : mapping
        `equations.atoms(sides)`, which is judged.

    Returns
    -------
    Judged
        Bytes of every atom, and the squares that the solver's and the answer leave.

    Raises
    ------
    OptimizeError
        If Clarabel is not installed, or finds no optimum.

    Examples
    --------
    >>> judged = exact.atoms(problem, problem.atoms((2, 3, 1)))  # doctest: +SKIP
    """
    count, rows = len(answer["bytes"]), equations.rows
    shape = (rows, count)
    columns = scipy.sparse.csc_matrix((answer["value"], answer["row"], answer["first"]), shape=shape)
    arrays = equations.arrays()
    target = arrays["bytes"] * arrays["weight"]
    size = np.sqrt(columns.multiply(columns).sum(axis=0)).A1
    unit = np.linalg.norm(target)
    scaled = columns @ scipy.sparse.diags_array(1 / size)
    # min |r|^2 / 2 with r + A z = b, z >= 0.
    eye = scipy.sparse.identity
    quadratic = scipy.sparse.block_diag([scipy.sparse.csc_matrix((count, count)), eye(rows)])
    equal = scipy.sparse.hstack([scaled, eye(rows)])
    least = scipy.sparse.hstack([-eye(count), scipy.sparse.csc_matrix((count, rows))])
    linear = np.zeros(count + rows)
    found = _clarabel(quadratic, linear, equal, target / unit, least, np.zeros(count))
    values = np.maximum(found[:count], 0) / size * unit

    def left(bytes_: _Array) -> float:
        return float(np.sum((target - columns @ bytes_) ** 2))

    return Judged(values, left(values), left(answer["bytes"]))


def least_change(equations: Equations, guess: _Array, answer: Mapping[str, Any]) -> Judged:
    """The most likely non-negative traffic near a guess that explains the counters, by Clarabel.

    The objective is the change's square in units of its covariance.

    Parameters
    ----------
    equations : Equations
        The problem.
    guess : array of float
        Bytes of every pair.
    answer : mapping
        `equations.least_change(…)`, which is judged.

    Returns
    -------
    Judged
        Bytes of every pair, and the squares of both changes.

    Raises
    ------
    OptimizeError
        If Clarabel is not installed, or finds no optimum.

    Examples
    --------
    >>> judged = exact.least_change(problem, guess, answer)  # doctest: +SKIP
    """
    crossed, pairs = matrix(equations), equations.pairs
    target = equations.arrays()["bytes"]
    covariance = answer["covariance"].reshape(pairs, pairs)
    factor = scipy.sparse.csc_matrix(np.linalg.cholesky(covariance))
    unit = float(np.mean(target))
    # The change is the factor times w; min |w|^2 / 2.
    found = _clarabel(
        scipy.sparse.identity(pairs),
        np.zeros(pairs),
        crossed @ factor,
        (target - crossed @ guess) / unit,
        -factor,
        guess / unit,
    )
    values = guess + factor @ found * unit

    def size(change: _Array) -> float:
        return float(change @ np.linalg.solve(covariance, change))

    return Judged(values, size(values - guess), size(answer["bytes"] - guess))


def _named(solver: str) -> str:
    if solver not in _SOLVERS:
        raise OptimizeError(f'solver "{solver}": expected {" or ".join(_SOLVERS)}')
    return solver


def _highs(rows: scipy.sparse.csr_matrix, low: _Array, high: _Array) -> _Array:
    """Minimises the sum of non-negative unknowns with rows between two bounds."""
    try:
        import highspy
    except ImportError:
        raise OptimizeError(extras.told("exact", library="highspy")) from None
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows.shape
    lp.col_cost_ = np.ones(rows.shape[1])
    lp.col_lower_, lp.col_upper_ = np.zeros(rows.shape[1]), np.full(rows.shape[1], highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = low, high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = rows.shape
    lp.a_matrix_.start_ = rows.indptr.astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = rows.indices.astype(np.int32), rows.data
    highs = silent_highs()
    highs.passModel(lp)
    highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise OptimizeError(f"HiGHS found no optimum: {highs.modelStatusToString(highs.getModelStatus())}")
    return np.array(highs.getSolution().col_value)


def _clarabel_linear(rows: scipy.sparse.csr_matrix, low: _Array, high: _Array) -> _Array:
    """The same."""
    equal, count = low == high, rows.shape[1]
    between = rows[~equal]
    least = scipy.sparse.vstack([between, -between, -scipy.sparse.identity(count)])
    most = np.concatenate([high[~equal], -low[~equal], np.zeros(count)])
    nothing = scipy.sparse.csc_matrix((count, count))
    return _clarabel(nothing, np.ones(count), rows[equal], low[equal], least, most)


_SOLVERS = {"highs": _highs, "clarabel": _clarabel_linear}


def _clarabel(
    quadratic: Any, linear: _Array, equal: Any, equal_to: _Array, at_most: Any, most: _Array
) -> _Array:
    """Minimises `x'Px / 2 + q'x`; some rows are equal to something, others at most something."""
    try:
        import clarabel
    except ImportError:
        raise OptimizeError(extras.told("exact", library="clarabel")) from None
    cones = [clarabel.ZeroConeT(len(equal_to)), clarabel.NonnegativeConeT(len(most))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        scipy.sparse.triu(quadratic).tocsc(),
        linear,
        scipy.sparse.vstack([equal, at_most]).tocsc(),
        np.concatenate([equal_to, most]),
        cones,
        settings,
    )
    found = solver.solve()
    if found.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise OptimizeError(f"Clarabel found no optimum: {found.status}")
    return np.array(found.x)
