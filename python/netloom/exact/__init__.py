"""Exact models as an independent judge, for research and small fabrics.

    >>> import netloom as nl
    >>> from netloom import exact
    >>> fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    >>> traffic = nl.Traffic.read("bisection-shuffle:seed=1", fabric)
    >>> result = exact.solve(fabric, traffic, model="productless", start="search")  # doctest: +SKIP
    >>> result.status, result.objective, result.bound  # doctest: +SKIP

Models are built in Rust (`crates/optimize/src/exact`); HiGHS (`pip install 'netloom-hpc[exact]'`) or Gurobi
(if `gurobipy` is there) solves them, or any solver that reads MPS ([`write_mps`]). What inference solves on
small fabrics (`Equations`) is judged by HiGHS and Clarabel (`netloom.exact.inference`).
"""

from __future__ import annotations

from netloom._core import Equations
from netloom.exact.inference import Judged, atoms, fewest_flows, least_change, matrix
from netloom.exact.models import MODELS, ExactResult, solve, write_mps

__all__ = [
    "MODELS",
    "Equations",
    "ExactResult",
    "Judged",
    "atoms",
    "fewest_flows",
    "least_change",
    "matrix",
    "solve",
    "write_mps",
]
