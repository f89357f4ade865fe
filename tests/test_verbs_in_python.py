"""What a command tells, a function of Python tells too: each example in at most ten lines."""

from __future__ import annotations

import json

import pytest

import netloom as nl

SCENE = "scenarios/shuffle.toml"
VARYING = {"seconds", "peak_memory_mb", "cpu_seconds", "packet_hops_per_cpu_second", "time_to_best", "output"}
"""Keys that hold times and sizes of the machine, or where something was written."""


def _settled(value):
    """A result without what differs from run to run, as JSON has it."""
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items() if key not in VARYING}
    return [_settled(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.fixture
def same(netloom):
    """Compares what Python has with the `result` of a command."""

    def compare(found, *arguments):
        told = json.loads(netloom(*arguments, "--format", "json", "-q").out)
        from netloom.shown.documents import as_json

        assert _settled(json.loads(as_json(found))) == _settled(told["result"])

    return compare


def test_simulate(same, paths, tmp_path):
    scene = paths.examples / SCENE
    found = nl.simulate_routings(scene, routings=["ftree", "adaptive"], output=tmp_path / "run")
    same(found, "simulate", scene, "--routings", "ftree,adaptive")
    run = nl.read_run(tmp_path / "run")
    assert run.routings == ["ftree", "adaptive"]
    assert run.result("adaptive") == json.loads(json.dumps(found["runs"][1]))
    assert run.table("ftree", "links").num_rows == 128


def test_simulate_goes_on_from_a_checkpoint(paths, tmp_path):
    scene = paths.examples / SCENE
    first = nl.simulate_routings(scene, routings=["ftree"], checkpoint=tmp_path / "kept")
    again = nl.simulate_routings(scene, routings=["ftree", "updn"], checkpoint=tmp_path / "kept")
    assert again["runs"][0] == first["runs"][0]
    assert [run["routing"] for run in again["runs"]] == ["ftree", "updn"]


def test_simulate_mappings(same, paths):
    scene = paths.examples / SCENE
    found = nl.simulate_varied(scene, mappings=["block", "random"], routings=["ftree"])
    same(found, "simulate", scene, "--mappings", "block,random", "--routings", "ftree")
