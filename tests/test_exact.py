"""`netloom.exact`: solvers judge the search; all models agree; bounds, starts, files, limits."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import exact

pytest.importorskip("highspy")

TREES = (
    "two-level:leaves=3,hosts=3,spines=2",
    "two-level:leaves=4,hosts=3,spines=2",
    "two-level:leaves=3,hosts=4,spines=3",
    "two-level:leaves=3,hosts=3,spines=2,cables=2",
    "fattree:pods=2,leaves=2,hosts=2,spines=2,groups=1,cores=2",
)


def small_case(seed: int) -> tuple[nl.Fabric, nl.Traffic]:
    """A small tree, every other one damaged where that cuts nobody off, with sparse uneven traffic."""
    random = np.random.default_rng(seed)
    fabric = nl.Fabric.generate(TREES[seed % len(TREES)])
    hosts = fabric.hosts
    if seed % 2:
        damaged, _ = fabric.damage(random_links=1, seed=seed)
        if nl.check(damaged, nl.route("updn", damaged)).unreachable_pairs == 0:
            fabric = damaged
    pairs = 2 * hosts
    sources, targets = random.integers(0, hosts, pairs), random.integers(0, hosts, pairs)
    apart = sources != targets
    sizes = random.integers(1, 10, pairs).astype(float)
    return fabric, nl.Traffic.from_triples(hosts, sources[apart], targets[apart], sizes[apart])


@pytest.mark.parametrize("block", range(4))
def test_the_search_finds_what_highs_proves_optimal_on_40_of_40(block):
    missed = []
    for seed in range(10 * block, 10 * block + 10):
        fabric, traffic = small_case(seed)
        # The links between switches are looked at though hosts' own links are the bound.
        found = nl.optimize(fabric, traffic, depth=3).loads.max_between_switches
        proved = exact.solve(fabric, traffic, "productless", host_links=False, threads=1, time_limit=30)
        assert proved.status == "optimal", seed
        assert proved.bound == pytest.approx(proved.objective, rel=1e-6)
        # Our own bound is on the larger of this and the hosts' links.
        assert proved.loads.lower_bound <= proved.loads.max * (1 + 1e-9)
        if found > proved.objective * (1 + 1e-6):
            missed.append((seed, found, proved.objective))
    assert missed == []


def test_multilevel_proves_its_optimum_where_cables_run_side_by_side():
    """Its last step took two cables for one: "optimal" with a bound of half the objective."""
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=3,spines=2,cables=2")
    traffic = nl.Traffic.from_triples(6, [0, 1, 2, 0, 1], [3, 4, 5, 4, 5], [7.0, 5.0, 3.0, 2.0, 1.0])
    best = exact.solve(fabric, traffic, "basic", host_links=False, threads=1)
    result = exact.solve(fabric, traffic, "multilevel", host_links=False, threads=1)
    assert (best.status, result.status) == ("optimal", "optimal")
    assert result.objective == pytest.approx(best.objective)
    assert result.bound == pytest.approx(best.objective)


def test_a_bound_of_multilevel_is_the_last_steps_or_none(monkeypatch):
    """Earlier steps are limited to a coarser answer: what bounds them bounds nothing else."""
    fabric, traffic = small_case(0)
    ask, asked = exact.models._Run.ask, []

    def forgetful(self, model, start, seconds):
        asked.append(model)
        answer = ask(self, model, start, seconds)
        return answer if len(asked) == 1 else exact.models.Answer(None, None, "time-limit")

    monkeypatch.setattr(exact.models._Run, "ask", forgetful)
    result = exact.solve(fabric, traffic, "multilevel", threads=1)
    assert len(asked) > 1
    assert (result.bound, result.status) == (None, "time-limit")


def test_all_models_agree_on_the_optimum():
    fabric, traffic = small_case(0)
    results = {
        model: exact.solve(fabric, traffic, model, start="search", threads=1, time_limit=30)
        for model in ("basic", "product", "productless", "multilevel", "combined")
    }
    assert {r.status for r in results.values()} == {"optimal"}
    best = results["basic"]
    for result in results.values():
        assert result.objective == pytest.approx(best.objective, rel=1e-6)
        assert result.bound == pytest.approx(best.objective, rel=1e-6)
        assert result.bound >= result.loads.lower_bound * (1 - 1e-6)
        assert nl.check(fabric, result.routes).ok
    heuristic = exact.solve(fabric, traffic, "partitioned", threads=1, time_limit=30)
    assert heuristic.bound is None
    assert heuristic.objective >= best.objective * (1 - 1e-6)


def test_a_model_reports_its_own_objective_not_its_start_s():
    """Partitioned Binary from the search's routes is worse than these, and said so; it reported theirs."""
    worse = []
    for seed in (0, 5, 31):
        fabric, traffic = small_case(seed)
        found = exact.solve(fabric, traffic, "partitioned", start="search", threads=1, time_limit=30)
        start = nl.optimize(fabric, traffic).loads.max
        assert found.start_objective == pytest.approx(start)
        assert found.objective == pytest.approx(min(found.own_objective, start))
        assert found.improved == (found.own_objective < start * (1 - 1e-9))
        worse.append(found.own_objective > start * (1 + 1e-9))
    assert worse == [False, False, True]


def test_a_model_without_time_has_no_objective_of_its_own():
    fabric, traffic = small_case(0)
    found = exact.solve(fabric, traffic, "productless", start=None, threads=1, time_limit=0)
    assert (found.status, found.own_objective, found.improved) == ("time-limit", None, False)
    assert found.objective == found.start_objective


def test_fewest_links_above_a_threshold():
    # Three flows of 1 over two spines: some link up has two, and one down.
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=3,spines=2")
    ones = np.ones(3)
    traffic = nl.Traffic.from_triples(6, [0, 1, 2], [3, 4, 5], ones)
    result = exact.solve(fabric, traffic, "few-hot", threshold=1.0, start="search", threads=1)
    assert (result.objective, result.bound, result.status) == (2, 2, "optimal")
    none = exact.solve(fabric, traffic, "few-hot", threshold=3.0, threads=1)
    assert none.objective == 0


def test_an_mps_file_says_the_same(tmp_path):
    import highspy

    fabric, traffic = small_case(2)
    path = tmp_path / "model.mps"
    exact.write_mps(fabric, traffic, path, "productless")
    highs = highspy.Highs()
    highs.silent()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.setOptionValue("mip_rel_gap", 1e-9)
    highs.run()
    result = exact.solve(fabric, traffic, "productless", threads=1)
    text = path.read_text()
    unit = float(text.splitlines()[0].split("one unit is ")[1].split()[0])
    assert highs.getInfo().objective_function_value * unit == pytest.approx(result.objective, rel=1e-6)
    assert "SOS" not in text
    exact.write_mps(fabric, traffic, path, "basic", sos1=True)
    assert "\nSOS\n" in path.read_text()


def test_no_time_leaves_the_start():
    fabric, traffic = small_case(4)
    start = nl.optimize(fabric, traffic)
    result = exact.solve(fabric, traffic, "basic", start=start.routes, time_limit=0, threads=1)
    assert result.objective <= start.loads.max * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "simplex"}, "expected one of basic"),
        ({"model": "few-hot"}, "needs a threshold"),
        ({"model": "basic", "threshold": 2.0}, "only few-hot"),
        ({"model": "basic", "solver": "cplex"}, "expected auto, highs or gurobi"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, words):
    fabric, traffic = small_case(0)
    with pytest.raises(nl.OptimizeError, match=words):
        exact.solve(fabric, traffic, **arguments)


def test_a_missing_solver_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "highspy", None)
    fabric, traffic = small_case(0)
    with pytest.raises(nl.OptimizeError, match=r"pip install 'netloom-hpc\[exact\]'"):
        exact.solve(fabric, traffic, solver="highs")


def test_a_model_too_large_to_build_says_its_size():
    fabric = nl.Fabric.generate("quartz1")
    traffic = nl.Traffic.read("all-to-all", fabric)
    with pytest.raises(nl.OptimizeError, match=r"would have \d+ columns"):
        exact.write_mps(fabric, traffic, "never.mps", "product")
