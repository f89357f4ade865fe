"""Counters of the packet simulator: recorded runs replayed message by message, and what is inferred."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import _core

HEADER = 26
"""Bytes that a packet of profile `infiniband` carries besides."""
CONTROL = 64
"""Of the question before a long message, and of its answer."""

SMALL = "two-level:leaves=8,hosts=8,spines=8"
RUNS = [("snap-168-short", "quartz1"), ("lulesh-64", SMALL)]


@pytest.fixture
def counted(netloom, paths):
    """Replays a trace under ftree's routes: the scenario, and what ports counted."""

    def replay(trace: str, fabric: str, profile: str) -> tuple[_core.Scenario, nl.Counters]:
        name = f"{trace}-{profile}"
        file = paths.examples / "data" / f"{trace}.ti.gz"
        (netloom.folder / f"{name}.toml").write_text(
            f'fabric = "{fabric}"\nprofile = "{profile}"\nroutes = "ftree"\n'
            f'[[job]]\nname = "run"\ntrace = "{file}"\nallocation = "contiguous:0"\n'
        )
        netloom.ok("simulate", f"{name}.toml", "-o", name)
        scenario = _core.Scenario.read(netloom.folder / f"{name}.toml", [])
        links = netloom.folder / name / "0-ftree" / "links.parquet"
        return scenario, nl.Counters.read(links, scenario.fabric)

    return replay


def whole(counters: nl.Counters, unit: str = "bytes") -> np.ndarray:
    """Of every link."""
    found = counters.measure(unit=unit)
    assert not found["quality"].any()
    return found["value"]


@pytest.mark.parametrize(("trace", "fabric"), RUNS)
def test_simulated_counters_are_those_of_the_traffic_to_the_byte(counted, trace, fabric):
    """Without headers and questions nothing travels but what ranks send; answers are then the same too."""
    scenario, simulated = counted(trace, fabric, "codes")
    traffic = scenario.traffic()
    synthetic = nl.synth_counters(scenario.fabric, "ftree", traffic)
    assert traffic.total_bytes > 1e7
    assert np.array_equal(whole(simulated), whole(synthetic))
    answers = [
        nl.infer(scenario.fabric, "ftree", counters, scenario.jobs, truth=traffic)
        for counters in (simulated, synthetic)
    ]
    one, other = (answer.traffic.to_scipy() for answer in answers)
    assert (one != other).nnz == 0
    if fabric == "quartz1":
        found = answers[0].summary()
        assert found["verdict"] == "identified"
        assert found["relative_error_percent"] < 0.5
        assert found["leaf_error_percent"] < 0.2


def test_what_real_ports_count_besides_is_headers_and_questions(counted):
    """LULESH's long messages ask before they leave: a packet there and one back, of 64 bytes."""
    _, bare = counted("lulesh-64", SMALL, "codes")
    _, real = counted("lulesh-64", SMALL, "infiniband")
    packets = whole(real, "packets")
    questions = packets - whole(bare, "packets")
    assert questions.sum() > 1000
    assert np.array_equal(whole(real), whole(bare) + HEADER * packets + CONTROL * questions)
