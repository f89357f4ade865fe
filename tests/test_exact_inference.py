"""HiGHS and Clarabel beside our own solvers: the same linear programs and least squares, the same optima."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import exact

pytest.importorskip("clarabel")
pytest.importorskip("highspy")

TREE = "two-level:leaves=4,hosts=4,spines=2"
LANES = "5sl5vl:seed=1"


def equations(pattern: str, scheme: str | None = LANES, factor=None, **options) -> exact.Equations:
    """Of a pattern on the small tree, every pair's bytes times a million and a factor."""
    fabric = nl.Fabric.generate(TREE)
    matrix = nl.Traffic.read(pattern, fabric).to_scipy().tocoo()
    draw = np.random.default_rng(7)
    factors = np.ones(len(matrix.data)) if factor is None else factor(draw, len(matrix.data))
    # Whole bytes, or counters would contradict each other by what is rounded.
    matrix.data = np.rint(1e6 * matrix.data * factors)
    traffic = nl.Traffic.from_scipy(matrix.tocsr())
    counters = nl.synth_counters(fabric, "ftree", traffic, vl_scheme=scheme, **options)
    return exact.Equations(fabric, "ftree", counters, vl_scheme=scheme)


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
@pytest.mark.parametrize("scheme", [LANES, None])
@pytest.mark.parametrize("pattern", ["bisection-shuffle:seed=1", "permutation:seed=3", "stencil:4x4"])
def test_the_cheapest_flows_are_as_cheap_as_an_exact_solver_finds(pattern, scheme, solver):
    problem = equations(pattern, scheme)
    ours = problem.fewest_flows()
    judged = exact.fewest_flows(problem, ours, solver=solver)
    assert ours["error"] <= 1e-8
    assert judged.ours == pytest.approx(judged.objective, rel=1e-6)


def test_counters_with_noise_leave_the_same_slack():
    problem = equations("bisection-shuffle:seed=1", noise=0.01, seed=3)
    ours = problem.fewest_flows()
    assert (ours["slack"] > 0).any()
    for solver in ("highs", "clarabel"):
        judged = exact.fewest_flows(problem, ours, solver=solver)
        assert judged.ours == pytest.approx(judged.objective, rel=1e-5)


def test_bytes_that_differ_by_five_orders_of_magnitude_change_nothing():
    """Unknowns are measured in their own sizes, so small flows are as exact as large ones."""
    problem = equations("matching:seed=2", factor=lambda draw, n: 10 ** draw.uniform(-5, 0, n))
    ours = problem.fewest_flows()
    judged = exact.fewest_flows(problem, ours)
    assert judged.ours == pytest.approx(judged.objective, rel=1e-6)
    carried = judged.values > 1e-6 * judged.values.max()
    assert ours["values"][carried] == pytest.approx(judged.values[carried], rel=1e-3)


@pytest.mark.parametrize("more", [0, 10])
def test_atoms_are_combined_as_well_as_can_be(more):
    """A stencil whose neighbours carry what they like: no combination explains it, and the best is found."""
    problem = equations("stencil:4x4", None, lambda draw, n: draw.uniform(0.2, 2, n))
    ours = problem.atoms((4, 4, 1), more=more)
    assert len(ours["bytes"]) > (8 if more else 7)
    assert (ours["bytes"] >= 0).all()
    judged = exact.atoms(problem, ours)
    assert judged.objective > 0
    assert judged.ours == pytest.approx(judged.objective, rel=1e-6)


def test_the_least_change_is_the_least_where_nothing_becomes_negative():
    """But for what ours believes no counter: 2e-4 of it, which makes the change a little smaller."""
    problem = equations("all-to-all", None, lambda draw, n: draw.uniform(0.9, 1.1, n))
    guess = np.full(problem.pairs, 1e6)
    ours = problem.least_change(guess)
    judged = exact.least_change(problem, guess, ours)
    assert (ours["bytes"] > 0).all()
    assert judged.ours == pytest.approx(judged.objective, rel=5e-3)
    assert ours["bytes"] == pytest.approx(judged.values, rel=5e-3)


def test_the_least_change_stays_near_the_least_where_pairs_are_cut_off_at_zero():
    """Ours sets to zero what became negative and goes on from there: it explains the counters, at a price."""
    problem = equations("stencil:4x4", None, lambda draw, n: draw.uniform(0.2, 2, n))
    guess = np.full(problem.pairs, 2e5)
    ours = problem.least_change(guess)
    judged = exact.least_change(problem, guess, ours)
    assert (ours["bytes"] >= 0).all()
    left = exact.matrix(problem) @ ours["bytes"] - problem.arrays()["bytes"]
    assert np.abs(left).max() <= 0.02 * problem.arrays()["bytes"].max()
    assert judged.objective < judged.ours < 1.3 * judged.objective


def test_what_cannot_be_meant_is_refused():
    problem = equations("stencil:4x4", None)
    with pytest.raises(nl.OptimizeError, match="expected highs or clarabel"):
        exact.fewest_flows(problem, problem.fewest_flows(), solver="cplex")
    with pytest.raises(ValueError, match="a grid of 16 ranks"):
        problem.atoms((4, 2, 1))
    with pytest.raises(ValueError, match="bytes of"):
        problem.least_change(np.ones(3))
    fabric = nl.Fabric.generate("quartz1")
    counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("all-to-all", fabric))
    with pytest.raises(ValueError, match="at most 1000000 possible pairs"):
        exact.Equations(fabric, "ftree", counters)
