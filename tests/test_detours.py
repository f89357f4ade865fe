"""Detours on dragonflies in scenarios: what results tell, and what is refused."""

from __future__ import annotations

import pytest

SCENARIO = """
fabric = "dragonfly:p=2,a=4,h=2"
routes = ["minimal", "valiant", "valiant:router", "ugal", "par", "ugal:global"]
profile = "codes"
[[job]]
name = "load"
program = { kind = "uniform", bytes = 4096, load = 0.6, pattern = "adversarial:1", messages = 300 }
"""


@pytest.fixture
def scenario(netloom):
    (netloom.folder / "adversarial.toml").write_text(SCENARIO, encoding="utf-8")
    return netloom


def runs(netloom, *args: str):
    found = netloom.result("simulate", "adversarial.toml", *args)["runs"]
    return {run["routing"]: run for run in found}


def test_the_neighbour_pattern_is_carried_by_detours(scenario):
    """By hand: 8 hosts share a cable, 1/8; by third groups 7/16; no split of both carries more than 9/16."""
    found = runs(scenario)
    minimal, valiant, ugal = (found[name] for name in ("minimal", "valiant", "ugal"))
    assert minimal["accepted"]["mean"] == pytest.approx(0.125, rel=0.02)
    assert valiant["accepted"]["mean"] == pytest.approx(0.4375, rel=0.06)
    assert 3 * minimal["accepted"]["mean"] < ugal["accepted"]["mean"] < 0.5625
    assert [minimal["detours"], valiant["detours"]] == [0.0, 1.0]
    assert 0.5 < ugal["detours"] < 1.0
    assert minimal["mean_hops"] < ugal["mean_hops"] < valiant["mean_hops"] + 1e-9 + 1
    # More is seen, or later: never less is carried; nothing carries more than the best split.
    order = [found[name]["accepted"]["mean"] for name in ("minimal", "ugal", "par", "ugal:global")]
    assert order == sorted(order)
    assert order[-1] < 0.5625
    router = found["valiant:router"]
    assert router["accepted"]["mean"] == pytest.approx(0.4375, rel=0.1)
    assert valiant["mean_hops"] < router["mean_hops"]
    for run in found.values():
        assert run["accepted"]["mean"] == pytest.approx(run["jobs"][0]["load"]["accepted"])
        assert 0 < run["accepted"]["least"] <= run["accepted"]["mean"]


def test_by_any_switch_of_the_third_group_nothing_piles_up_at_one(scenario):
    """Two groups on: what comes in at a router leaves by one neighbour, 7/24; by any router 7/16."""
    changes = ["job.load.program.pattern=adversarial:2", "fabric=dragonfly:p=2,a=4,h=2,arrangement=relative"]
    found = runs(scenario, *(word for change in changes for word in ("--set", change)))
    assert found["valiant"]["accepted"]["mean"] == pytest.approx(7 / 24, rel=0.06)
    assert found["valiant:router"]["accepted"]["mean"] == pytest.approx(7 / 16, rel=0.1)


def test_the_same_for_any_number_of_threads(scenario):
    timed = {"cpu_seconds", "packet_hops_per_cpu_second", "peak_memory_mb"}

    def told(threads: int):
        found = runs(scenario, "--threads", str(threads), "--set", "job.load.program.messages=20")
        return {name: {key: run[key] for key in run if key not in timed} for name, run in found.items()}

    assert told(1) == told(2) == told(4)


def test_routings_without_detours_say_so(scenario):
    run = runs(scenario, "--set", 'routes=["updn"]', "--set", "job.load.program.load=0.05")["updn"]
    assert run["detours"] is None
    assert run["mean_hops"] > 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "hardware.lanes=3",
            "valiant: lanes: expected 5, one a slot of the way (L0 G0 L1 G1 L2), "
            "or fewer that make no circle, found 3",
        ),
        ("fabric=dragonfly:p=2,a=4,h=2,g=2", "valiant: expected at least three groups, found two"),
        ("model=fluid", 'valiant: expected model = "packet", as flows take no detours'),
        ('routes=["ugal:bias=1"]', 'expected minimal=, detours=, shift= or add=, found "bias=1"'),
        ('routes=["valliant"]', 'did you mean "valiant"?'),
        ("job.load.program.pattern=adversarial:9", "how many groups on, at least 1 and below their number"),
        ("job.load.ranks=8", 'at least 1 and below their number, found "1 of 1 groups"'),
    ],
)
def test_what_does_not_go_is_refused_by_name(scenario, change, says):
    routes = [] if change.startswith("routes") else ["--set", 'routes=["valiant"]']
    assert says in scenario.refused("simulate", "adversarial.toml", *routes, "--set", change)


def test_a_tree_is_no_dragonfly(scenario):
    tree = "fabric=two-level:leaves=4,hosts=4,spines=4"
    pattern = "job.load.program.pattern=shift:4"
    said = scenario.refused("simulate", "adversarial.toml", "--set", tree, "--set", pattern)
    assert "minimal: expected a dragonfly, found a tree" in said


def test_fewer_lanes_lock_up_in_a_cycle_of_links_and_lanes(scenario):
    """One lane for all slots: packets to the same group wait for each other all round."""
    changes = [
        'routes=["valiant"]',
        "profile=infiniband",
        "hardware.lanes=1",
        'job.load.program={kind="uniform", bytes=4096, load=1.0, messages=300}',
    ]
    sets = [word for change in changes for word in ("--set", change)]
    result = scenario.result("simulate", "adversarial.toml", "--allow-credit-loops", *sets, code=1)
    found = {run["routing"]: run for run in result["runs"]}
    cycle = found["valiant"]["deadlock"]["cycle"]
    assert len(cycle) > 1
    for here, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert (here["to"], here["lane"]) == (after["from"], 0)
    assert found["valiant"]["mean_hops"] is None
