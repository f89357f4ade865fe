"""Linear programs of inference by their smoothed dual: TFOCS's way, which the dissertation takes.

Minimises `1'w + mu/2 |w - w0|^2` over `w >= 0` with every row of `R w` between two bounds. For prices `y` of
the rows the best `w` is known in closed form, `max(0, w0 + (R'y - 1) / mu)`, and the dual is smooth but for
the bounds: it is climbed by Auslender and Teboulle's accelerated gradients with restarts. Continuation solves
this again from the answer (`w0 = w`) with less smoothing, until the term of `w0` no longer matters: then `w`
is the linear program's.

Unknowns are in units in which their costs are 1, rows have length 1.

Sources: Taffet, dissertation, sec. 4.6.2; Becker, Candès and Grant, *Templates for convex cone problems*,
Math. Prog. Comp. 3, 2011 (smoothed dual, continuation); Auslender and Teboulle, *Interior gradient and
proximal methods*, SIAM J. Optim. 16, 2006; O'Donoghue and Candès, *Adaptive restart*, Found. Comput. Math.,
2015.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom._core import Equations
from netloom.exact.inference import program
from netloom.gpu.arrays import Device

_CHECK_INTERVAL = 25
"""Steps between two looks at what is left: each waits for the device."""
_POWER_ROUNDS = 30
"""Rounds of the power method that finds the operator's norm."""
_NORM_MARGIN = 1.05
"""It comes from below."""
_ROUND_TOLERANCE = 0.1
"""The smoothed problem of a round is solved to this part of how far the round moves."""
_SMOOTHING_FACTOR = 0.8
"""So much less is smoothed in every round …"""
_LEAST_SMOOTHING = 0.02
"""… down to this part of the first."""


@dataclass(frozen=True)
class Answer:
    """What was found.

    Parameters
    ----------
    values : array
        Bytes of every column.
    objective : float
        What they cost.
    violation : float
        How far the worst row is outside its bounds, of what was counted.
    converged : bool
        Whether the tolerance was kept.
    rounds, steps : int
        Continuations, and gradients in all.
    seconds : float
        How long it took, without making the arrays.
    device : str, default "auto"
        `cpu` or `gpu`.
    """

    values: npt.NDArray[np.float64]
    objective: float
    violation: float
    converged: bool
    rounds: int
    steps: int
    seconds: float
    device: str


def fewest_flows(
    equations: Equations,
    answer: Mapping[str, Any],
    *,
    device: str = "auto",
    tolerance: float = 1e-6,
    smoothing: float = 0.3,
    rounds: int = 200,
    steps: int = 5_000,
    seconds: float | None = None,
) -> Answer:
    """The cheapest traffic that explains the counters within their slack.

    Parameters
    ----------
    equations : Equations
        The problem.
    answer : mapping
        `equations.fewest_flows()`: columns, costs and slack are taken from it, its values are not.
    device : str
        `cpu`, `gpu`, or `auto`: a GPU where there is one.
    tolerance : float, default 1e-6
        Enough: of the worst row, and of what a round still moves.
    smoothing : float, default 0.3
        `mu` of the first round: more is easier to solve, and takes more rounds.
    rounds, steps : int
        Continuations at most, and gradients at most in each.
    seconds : float, optional
        When to stop with what there is.

    Returns
    -------
    Answer
        Bytes of every column, how far rows are off, rounds, steps, seconds, and where it ran.

    Raises
    ------
    OptimizeError
        If there is no such device.

    Examples
    --------
    >>> from netloom import gpu
    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=3,hosts=2,spines=2")
    >>> counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("shift:2", fabric))
    >>> problem = exact.Equations(fabric, "ftree", counters)
    >>> gpu.fewest_flows(problem, problem.fewest_flows(), device="cpu").converged
    True
    """
    at = Device.named(device)
    rows, low, high, cost = program(equations, answer)
    started = time.perf_counter()
    end = None if seconds is None else started + seconds
    climb = _DualAscent(at, rows, low, high, smoothing)
    converged, violation, used = False, np.inf, 0
    while climb.rounds < rounds and not converged and (end is None or time.perf_counter() < end):
        moved, violation, took = climb.round(steps, tolerance, end)
        used += took
        converged = moved <= tolerance and violation <= tolerance
    taken = time.perf_counter() - started
    values = np.asarray(at.to_host(climb.w), dtype=float) / cost
    found = float(cost @ values)
    return Answer(values, found, float(violation), converged, climb.rounds, used, taken, at.name)


class _DualAscent:
    """The rounds of continuation; arrays stay where they are."""

    def __init__(self, at: Device, rows: Any, low: Any, high: Any, smoothing: float) -> None:
        xp = self._xp = at.arrays
        # Rows of length 1: prices are alike then.
        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        length[length == 0] = 1.0
        scaled = rows.multiply(1 / length[:, None]).tocsr()
        self._down, self._up = at.sparse.csr_matrix(scaled), at.sparse.csr_matrix(scaled.T.tocsr())
        self._length = xp.asarray(length)
        self._middle = xp.asarray((low + high) / 2 / length)
        self._half = xp.asarray((high - low) / 2 / length)
        self._mu, self._least = smoothing, _LEAST_SMOOTHING * smoothing
        self._norm = _NORM_MARGIN * self._largest()
        self.w = xp.zeros(rows.shape[1])
        self._price = xp.zeros(rows.shape[0])
        self.rounds = 0

    def _largest(self) -> float:
        xp = self._xp
        vector = xp.ones(self._up.shape[0])
        size = 1.0
        for _ in range(_POWER_ROUNDS):
            vector = self._up @ (self._down @ vector)
            size = max(float(xp.linalg.norm(vector)), 1e-300)
            vector = vector / size
        return float(size**0.5)

    def _best(self, price: Any, anchor: Any) -> Any:
        """The unknowns at these prices."""
        return self._xp.maximum(0.0, anchor + (self._up @ price - 1.0) / self._mu)

    def _violation(self, w: Any) -> float:
        """Of the worst row, in parts of what was counted."""
        xp = self._xp
        beyond = xp.abs(self._middle - self._down @ w) - self._half
        return float((xp.maximum(beyond, 0.0) * self._length).max())

    def round(self, steps: int, tolerance: float, end: float | None) -> tuple[float, float, int]:
        """Solves the smoothed problem around `w`; how far that moved, the worst row, and the steps."""
        xp, anchor = self._xp, self.w
        best, lead, theta = self._price, self._price, 1.0
        step = self._mu / self._norm**2
        violation, moved, taken = np.inf, np.inf, 0
        while taken < steps:
            taken += 1
            between = (1 - theta) * best + theta * lead
            gradient = self._middle - self._down @ self._best(between, anchor)
            reach = step / theta
            raised = lead + reach * gradient
            lead = xp.sign(raised) * xp.maximum(xp.abs(raised) - reach * self._half, 0.0)
            before, best = best, (1 - theta) * best + theta * lead
            theta = 2 / (1 + (1 + 4 / theta**2) ** 0.5)
            if taken % _CHECK_INTERVAL == 0:
                # Momentum that leads downhill is given up.
                if float(gradient @ (best - before)) < 0:
                    lead, theta = best, 1.0
                w = self._best(best, anchor)
                violation = self._violation(w)
                moved = float(xp.abs(w - anchor).max())
                if violation <= max(0.1 * tolerance, _ROUND_TOLERANCE * moved * tolerance**0.5):
                    break
                if end is not None and time.perf_counter() > end:
                    break
        self._price, self.w = best, self._best(best, anchor)
        self._mu = max(self._least, _SMOOTHING_FACTOR * self._mu)
        self.rounds += 1
        return moved, violation, taken
