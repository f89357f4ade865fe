"""The busiest link of runs that end in the middle of messages: as flows within 2 % of packets."""

from __future__ import annotations

import pytest

import netloom as nl

FABRIC = "two-level:leaves=4,hosts=4,spines=2"


def busiest(model: str, **keys) -> float:
    scenario = nl.Scenario.from_dict({"fabric": FABRIC, "model": model, **keys})
    return nl.simulate(scenario).result()["max_link_utilisation"]


@pytest.mark.parametrize("routing", ["ftree", "random", "adaptive"])
@pytest.mark.parametrize(
    "pattern", ["shift:1", "shift:4", "shift:7", "bisection", "bisection-shuffle:seed=3"]
)
def test_what_has_left_of_unfinished_messages_counts(pattern, routing):
    """No message of 100 MB is complete after half a millisecond: they counted nothing as flows."""
    job = {"program": {"kind": "stream", "pattern": pattern, "bytes": "100MB"}}
    by_packets, as_flows = (
        busiest(model, routes=[routing], job=[job], max_time_ms=0.5) for model in ("packet", "fluid")
    )
    assert as_flows == pytest.approx(by_packets, rel=0.02)


def test_a_bully_that_is_cut_off_counts():
    """It sends 100 MB a message beside a job of a tenth of a millisecond, which ends the run."""
    solver = {
        "name": "solver",
        "ranks": 8,
        "allocation": "random",
        "program": {"kind": "collective", "collective": "allreduce", "bytes": 8, "iterations": 100},
    }
    bully = {
        "name": "bully",
        "ranks": 8,
        "allocation": "random",
        "until": "solver",
        "program": {"kind": "stream", "pattern": "shift:1", "bytes": "100MB"},
    }
    by_packets, as_flows = (busiest(model, job=[solver, bully]) for model in ("packet", "fluid"))
    assert by_packets > 0.9
    assert as_flows == pytest.approx(by_packets, rel=0.02)
