"""The smoothed dual beside HiGHS and our own solver, on a processor and, where there is one, on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom import exact, gpu

pytest.importorskip("highspy")

TREE = "two-level:leaves=4,hosts=4,spines=2"
LANES = "5sl5vl:seed=1"


@pytest.fixture(params=["cpu", "gpu"])
def device(request):
    """The same contract everywhere."""
    if request.param == "gpu" and (why := gpu.reason_without_gpu()):
        pytest.skip(f"no GPU: {why}")
    return request.param


def problem(pattern, scheme=LANES, fabric=TREE, **options):
    net = nl.Fabric.generate(fabric)
    matrix = (nl.Traffic.read(pattern, net).to_scipy() * 1e6).tocsr()
    counters = nl.synth_counters(net, "ftree", nl.Traffic.from_scipy(matrix), vl_scheme=scheme, **options)
    equations = exact.Equations(net, "ftree", counters, vl_scheme=scheme)
    return equations, equations.fewest_flows()


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("scheme", [LANES, None])
@pytest.mark.parametrize("pattern", ["bisection-shuffle:seed=1", "stencil:4x4"])
def test_it_finds_what_highs_finds(pattern, scheme, noise, device):
    equations, ours = problem(pattern, scheme, noise=noise)
    judged = exact.fewest_flows(equations, ours)
    found = gpu.fewest_flows(equations, ours, device=device)
    assert found.violation <= 1e-6
    assert found.objective == pytest.approx(judged.objective, rel=1e-6)
    assert (found.values >= 0).all()
    assert found.device == device


def test_flows_that_lanes_tell_apart_are_found_one_by_one(device):
    equations, ours = problem("bisection-shuffle:seed=1", fabric="two-level:leaves=16,hosts=16,spines=8")
    found = gpu.fewest_flows(equations, ours, device=device)
    assert found.converged
    # Two hosts that send each other 1 MB are one column.
    assert np.sort(found.values)[-128:] == pytest.approx(np.full(128, 1e6), rel=1e-5)
    assert found.values.sum() == pytest.approx(128e6, rel=1e-5)


def test_the_same_problem_gives_the_same_bits():
    equations, ours = problem("stencil:4x4")
    one, other = (gpu.fewest_flows(equations, ours, device="cpu") for _ in range(2))
    assert one.values.tobytes() == other.values.tobytes()
    assert (one.rounds, one.steps) == (other.rounds, other.steps)


def test_time_ends_it_with_what_there_is():
    equations, ours = problem("stencil:4x4")
    found = gpu.fewest_flows(equations, ours, device="cpu", seconds=0)
    assert not found.converged
    assert found.rounds == 0
    assert not found.values.any()


def test_devices_that_are_none_are_refused():
    equations, ours = problem("stencil:4x4")
    with pytest.raises(nl.OptimizeError, match="expected auto, cpu, gpu"):
        gpu.fewest_flows(equations, ours, device="tpu")
    if why := gpu.reason_without_gpu():
        with pytest.raises(nl.OptimizeError, match="no GPU: "):
            gpu.fewest_flows(equations, ours, device="gpu")
        assert why
