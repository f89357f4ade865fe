"""How a search ended: `status`, the same words for one matrix, several, sums and several addresses."""

from __future__ import annotations

import json

import pytest

CASES = [
    (["bisection"], "optimal"),
    (["JOBS", "--work", "0"], "stopped: work"),
    (["JOBS", "--time-limit", "0"], "stopped: time"),
    (["JOBS", "--from", "ftree", "--max-changes", "0"], "exhausted"),
    (["JOBS", "--also", "bisection", "--work", "0"], "stopped: work"),
    (["JOBS", "--also", "bisection", "--time-limit", "0"], "stopped: time"),
    (["JOBS", "--lmc", "1", "--work", "0"], "stopped: work"),
    (["bisection", "--lmc", "1"], "optimal"),
    (["SMALL", "--hose", "--background", "random", "--work", "0"], "stopped: work"),
]


@pytest.mark.parametrize(("arguments", "status"), CASES, ids=[" ".join(words) for words, _ in CASES])
def test_a_result_says_how_its_search_ended(netloom, paths, arguments, status):
    jobs = {"JOBS": "boxlib.toml", "SMALL": "small.toml"}
    words = [paths.examples / "jobs" / jobs[word] if word in jobs else word for word in arguments]
    done = netloom("optimize", paths.ft2, *words, "--format", "json")
    assert done.code == 0
    result = json.loads(done.out)["result"]
    assert result["status"] == status
    # The older keys say the same.
    assert result["proven_optimal"] == (status == "optimal")
    told = {"stopped: work": "work", "stopped: time": "time-limit"}.get(status)
    assert result["stopped"] == told
    assert result["reproducible"] == (status != "stopped: time")


def test_the_results_of_all_searches_are_outcomes(paths):
    import netloom as nl

    fabric = nl.Fabric.read(paths.ft2)
    traffic = nl.Traffic.read("bisection", fabric)
    found = [
        nl.optimize(fabric, traffic),
        nl.optimize_lmc(fabric, traffic, 1),
        nl.optimize_layers(fabric, [("a", traffic, 1.0)]),
        nl.optimize_hose(fabric, nl.Hose.of(traffic), work=1000),
        nl.afar(fabric, traffic),
        nl.coloured(fabric, traffic),
    ]
    for one in found:
        assert isinstance(one, nl.Outcome)
        assert (one.status == "optimal") == one.proven_optimal
    assert found[0].status == "optimal"
