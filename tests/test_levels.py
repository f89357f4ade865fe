"""The model of levels: against linear programs, a numerical optimiser, and the paper's figures."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from netloom import levels

SEED = 3203
"""Of the random chains, chosen before the first run."""


def random_chain(random):
    """2 to 6 levels: where packets begin, how they go on, bandwidth, prices."""
    count = int(random.integers(2, 7))
    first = random.dirichlet(np.ones(count))
    onward = np.array([random.dirichlet(np.ones(count + 1))[:count] for _ in range(count)])
    return first, onward, random.uniform(0.1, 1.0, count), random.uniform(0.2, 2.0, count)


def test_the_examples_hold():
    failed, tried = doctest.testmod(levels, optionflags=doctest.ELLIPSIS)
    assert tried >= 9
    assert failed == 0


def test_300_chains_bear_what_a_linear_program_says():
    """Theorem 3.2. The printed minimum instead of the maximum is wrong in most cases."""
    random = np.random.default_rng(SEED)
    printed_wrong = 0
    for _ in range(300):
        first, onward, bandwidth, _ = random_chain(random)
        count = len(first)
        offered = float(random.uniform(0.1, 2.0))
        # Most x_0 with x = x_0 first + P^T x, x_i <= mu_i, x_0 <= offered; variables x_0, x.
        balance = np.hstack([-first[:, None], np.eye(count) - onward.T])
        program = linprog(
            [-1.0, *np.zeros(count)],
            A_eq=balance,
            b_eq=np.zeros(count),
            bounds=[(0.0, offered), *((0.0, mu) for mu in bandwidth)],
            method="highs",
        )
        v = levels.visits(first, onward)
        found = levels.throughput(v, bandwidth=bandwidth, offered=offered)
        assert found == pytest.approx(-program.fun, rel=1e-9)
        printed = offered - max(0.0, float(np.min(offered - bandwidth / v)))
        printed_wrong += printed > found * (1 + 1e-9)
    # docs/methods/planning.md has this number.
    assert printed_wrong == 283


def test_300_budgets_buy_what_a_linear_program_says():
    """Theorem 3.3 with prices: the most x_0 with x_0 v_i <= mu_i and sum c_i mu_i <= B."""
    random = np.random.default_rng(SEED + 1)
    for _ in range(300):
        first, onward, _, prices = random_chain(random)
        v, budget = levels.visits(first, onward), float(random.uniform(0.5, 5.0))
        program = linprog(
            [-1.0, *np.zeros(len(v))],
            A_ub=np.vstack([np.hstack([v[:, None], -np.eye(len(v))]), [0.0, *prices]]),
            b_ub=[*np.zeros(len(v)), budget],
            method="highs",
        )
        rate, bandwidth = levels.best_bandwidth(v, budget=budget, prices=prices)
        assert rate == pytest.approx(-program.fun, rel=1e-9)
        assert float(prices @ bandwidth) == pytest.approx(budget, rel=1e-12)
        assert levels.throughput(v, bandwidth=bandwidth, offered=np.inf) == pytest.approx(rate, rel=1e-12)


def test_a_tree_s_chain_visits_a_level_twice_its_share():
    random = np.random.default_rng(SEED + 2)
    for _ in range(50):
        beyond = np.sort(np.append(random.uniform(0.0, 1.0, int(random.integers(1, 5))), 1.0))[::-1]
        assert levels.visits(*levels.tree_chain(beyond)) == pytest.approx(levels.tree_visits(beyond))
    assert levels.visits(*levels.tree_chain([1.0, 0.5, 0.0])) == pytest.approx([2.0, 1.0, 0.0])


def test_umt2k_s_levels():
    """Section IV-B's ratios 29.5 : 4 : 1.2 : 1, of the 4-ary 4-tree (the paper has the two trees swapped)."""
    beyond = np.array([29.5, 4.0, 1.2, 1.0]) / 29.5
    assert 100 * beyond == pytest.approx([100, 13.56, 4.07, 3.39], abs=0.005)
    v = levels.tree_visits(beyond)
    # Levels 75 % slimmer each than the one below: the throughput that the printed text calls without loss.
    assert levels.throughput(v, bandwidth=2.0 * 0.25 ** np.arange(4), offered=1.0) == pytest.approx(
        0.461, abs=0.0005
    )
    assert levels.throughput(v, bandwidth=2.0 * 0.5 ** np.arange(4), offered=1.0) == 1.0
    load = v / v.sum()
    delay = lambda mu: float(np.sum(load / (mu - load)))  # noqa: E731
    _, even = levels.best_bandwidth(v, budget=1.5)
    root = levels.least_delay_bandwidth(load, budget=1.5)
    assert delay(even) == pytest.approx(8.0)
    assert delay(root) == pytest.approx(5.085, abs=0.0005)
    assert root == pytest.approx([1.1114, 0.2170, 0.0911, 0.0805], abs=5e-5)
    assert even == pytest.approx([1.2395, 0.1681, 0.0504, 0.0420], abs=5e-5)


def test_no_division_has_less_delay_than_the_square_root_rule():
    random = np.random.default_rng(SEED + 3)
    for _ in range(20):
        load, prices = random.uniform(0.1, 1.0, 4), random.uniform(0.5, 2.0, 4)
        budget = float(prices @ load) * random.uniform(1.2, 3.0)
        found = levels.least_delay_bandwidth(load, budget=budget, prices=prices)
        assert float(prices @ found) == pytest.approx(budget)
        spent = minimize(
            lambda mu, load=load: float(np.sum(load / (mu - load))),
            load + (budget - float(prices @ load)) / 4 / prices,
            bounds=[(one + 1e-6, None) for one in load],
            constraints={
                "type": "eq",
                "fun": lambda mu, prices=prices, budget=budget: float(prices @ mu) - budget,
            },
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert float(np.sum(load / (found - load))) == pytest.approx(spent.fun, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: levels.visits([0.5, 0.4], [[0, 0], [0, 0]]), "first: expected probabilities that sum to 1"),
        (lambda: levels.visits([1.0], [[1.0]]), "leaves the network"),
        (lambda: levels.visits([1.0], [[0.5, 0.5]]), "onward: expected 1 rows of 1 numbers"),
        (lambda: levels.visits([1.0, 0.0], [[0.9, 0.2], [0, 0]]), "rows sum to at most 1"),
        (lambda: levels.tree_visits([0.5, 0.4]), "begin with 1"),
        (lambda: levels.tree_visits([1.0, 0.4, 0.5]), "never rise"),
        (lambda: levels.throughput([1.0], bandwidth=[1.0, 2.0], offered=1.0), "expected 1 numbers"),
        (lambda: levels.throughput([1.0], bandwidth=[-1.0], offered=1.0), "bandwidth: expected a row"),
        (lambda: levels.throughput([1.0], bandwidth=[1.0], offered=float("nan")), "offered: expected"),
        (lambda: levels.best_bandwidth([0.0], budget=1.0), "above 0"),
        (lambda: levels.least_delay_bandwidth([1.0], budget=0.5), "budget: expected more than 1"),
        (lambda: levels.least_delay_bandwidth([0.0], budget=0.5), "at least one level"),
        (lambda: levels.link_delay(1.0, packet_bytes=1, gbps=1), "utilisation: expected"),
    ],
)
def test_what_is_no_model_is_refused(call, expected):
    with pytest.raises(ValueError, match=expected):
        call()
