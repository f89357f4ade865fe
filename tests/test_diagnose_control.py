"""`netloom diagnose --try`: congestion control and snooping routes, what they gain and who loses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netloom import _core
from netloom.diagnose import tries
from test_diagnose import SHUFFLE, sample

HOT = Path(__file__).parents[1] / "examples/congestion/hot-neighbour.toml"


def test_a_control_is_tried_and_who_pays_for_it_is_told():
    """The same scenario run here with the control's table says the same of both jobs."""
    plain = _core.Scenario.read(HOT, [])
    before = _core.simulate(plain, "ftree").result()
    trials = tries.Trials(HOT, [], "ftree", before)
    tried = {attempt.what: attempt for attempt in trials.others([0], routes=True)}
    table = 'congestion={control="ib-cc",settings="tuned"}'
    after = _core.simulate(_core.Scenario.read(HOT, [table]), "ftree").result()
    helped = tried["congestion control on (ib-cc, tuned)"]
    assert helped.before_ms == before["jobs"][0]["completion_ms"]
    assert helped.after_ms == after["jobs"][0]["completion_ms"] < 0.6 * helped.before_ms
    (writer,) = helped.slower
    assert (writer.job, writer.measure) == ("writer", "bytes_per_s")
    rates = [run["jobs"][1]["bytes"] / run["simulated_ms"] for run in (before, after)]
    assert writer.worse_percent == pytest.approx(100 * (1 - rates[1] / rates[0]))
    assert writer.worse_percent > 20
    # Better routes cost the writer nothing.
    assert tried["routes: optimized"].slower == ()


def test_where_a_control_hurts_it_is_told(tmp_path):
    """A long incast whose links are full: with the control they are not, and without it again."""
    path = tmp_path / "s.toml"
    path.write_text(
        HOT.read_text().replace('until = "solver"\n', "").replace("messages = 4", "messages = 40")
    )
    settings = ["job.solver.program.iterations=1"]
    on = {a.what: a for a in tries.Trials(path, settings, "ftree").others([1], routes=True)}
    assert -30 < on["congestion control on (ib-cc, tuned)"].gain_percent < -5
    settings.append('congestion={control="ib-cc",settings="gran"}')
    told = {a.what: a for a in tries.Trials(path, settings, "ftree").others([1], routes=True)}
    off = told["congestion control off"]
    assert off.gain_percent > 20
    assert [(job.job, job.measure) for job in off.slower] == [("solver", "completion_ms")]
    assert not any("control on" in what or "snooping" in what for what in told)


def test_a_job_that_does_not_end_with_a_remedy_is_named(netloom):
    """The control takes the writer past the end of the run."""
    text = HOT.read_text().replace('until = "solver"\n', "").replace("iterations = 60", "iterations = 20")
    run = sample(netloom, text.replace("seed = 1", "seed = 1\nmax_time_ms = 2"))
    for answer in ("json", "text"):
        said = netloom("diagnose", run, "--try", "--format", answer).out
        if answer == "text":
            assert "; slower: writer does not come to its end" in said
            continue
        result = json.loads(said)["result"]
        tried = [one for finding in result["findings"] for one in finding["tried"]] + result["tried"]
        (control,) = {one["what"]: one for one in tried if "control on" in one["what"]}.values()
        assert control["slower"] == [
            {
                "job": "writer",
                "measure": "completion_ms",
                "before": pytest.approx(1.24, abs=0.01),
                "after": None,
                "worse_percent": None,
            }
        ]


def test_what_the_simulator_refuses_is_noted_and_nothing_else_fails(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        SHUFFLE.replace('name = "shuffle"\nfabric', 'name = "shuffle"\nprofile = "codes"\nfabric', 1)
    )
    trials = tries.Trials(path, [], "ftree")
    told = trials.others([0], routes=True)
    assert {attempt.what for attempt in told} == {"routes: optimized", "routes: adaptive"}
    assert len(trials.notes) == 2
    assert all(note.startswith("not tried: ") and 'profile = "codes"' in note for note in trials.notes)
