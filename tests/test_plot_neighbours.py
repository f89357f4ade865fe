"""What neighbours cost a job, as a picture: its time in parts, and the tail of its messages."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from netloom.plot.routings.slowdown import Bar
from netloom.plot.routings.tail import Latencies


def row(**more: object) -> dict[str, object]:
    time = {"elapsed_ms": 4.0, "compute_ms": 1.0, "call_ms": 0.0, "waiting_ms": {}, "waiting_share": 0.0}
    return {
        "routing": "ftree",
        "job": "a",
        "mapping": "block",
        "alone_ms": 2.0,
        "completion_ms": 5.0,
        "time": time,
        **more,
    }


def written(netloom, *rows: dict[str, object]) -> str:
    result = {"scenario": "s", "hosts": 4, "rows": list(rows)}
    text = json.dumps({"schema": "netloom.simulate-table/1", "result": result})
    (netloom.folder / "r.json").write_text(text)
    return "r.json"


def test_the_parts_of_a_bar_add_up_to_the_time():
    assert Bar("a", 1.0, 2.0, 5.0).parts == (1.0, 1.0, 3.0)
    # Faster than alone: nothing was held up.
    assert Bar("a", 1.0, 2.0, 1.9).parts == (1.0, 1.0, 0.0)
    assert Bar("a", 3.0, 2.0, 2.0).parts == (2.0, 0.0, 0.0)
    assert Bar("a", 1.0, 2.0, 5.0).told == "5 ms, 2.50 x alone"


def test_jobs_without_a_time_of_their_own_have_no_bar(netloom):
    file = written(
        netloom, row(), row(routing="optimized", completion_ms=2.0), row(job="b", completion_ms=None)
    )
    rows = [row(), row(routing="optimized", completion_ms=2.0), row(job="b", completion_ms=None)]
    file = written(netloom, *rows)
    found = netloom.result("plot", "slowdown", file, "-o", "x.svg")
    bars = [(bar["routing"], bar["held_up_ms"], bar["times_alone"]) for bar in found["bars"]]
    assert bars == [("ftree", 3.0, 2.5), ("optimized", 0.0, 1.0)]
    assert ET.parse(netloom.folder / "x.svg").getroot().tag.endswith("svg")
    assert 'has no job "z": expected a' in netloom.refused(
        "plot", "slowdown", file, "--job", "z", "-o", "x.svg"
    )


@pytest.mark.parametrize(
    "spoilt", [{"alone_ms": "2"}, {"time": None}, {"completion_ms": -1.0}, {"routing": 3}, {"alone_ms": None}]
)
def test_rows_that_are_none_are_refused(netloom, spoilt):
    word = netloom.refused("plot", "slowdown", written(netloom, row(**spoilt)), "-o", "x.svg")
    assert "r.json: " in word
    assert "expected" in word


def test_the_tail_is_the_share_that_takes_longer():
    curve = Latencies("ftree", np.array([1.0, 2.0, 10.0]), np.array([90, 9, 1]))
    assert curve.longer == pytest.approx([0.10, 0.01, 0.0])
    assert (curve.quantile(0.5), curve.quantile(0.95), curve.quantile(0.99)) == (1.0, 2.0, 2.0)
    assert curve.quantile(1.0) == 10.0


def test_the_tail_of_a_run_agrees_with_its_result(netloom, paths):
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    run = netloom.result("simulate", scenario, "--routings", "ftree", "-o", "run")["runs"][0]
    found = netloom.result("plot", "tail", "run", "-o", "x.svg")
    told = run["jobs"][0]["message_latency_us"]
    (curve,) = found["curves"]
    assert found["job"] == "solver"
    assert curve["messages"] == run["jobs"][0]["messages"]
    assert curve["p99_us"] == pytest.approx(told["p99"], rel=0.02)
    assert curve["max_us"] == pytest.approx(told["max"], rel=0.02)
    bully = netloom.result("plot", "tail", "run", "--job", "bully", "-o", "y.svg")
    assert bully["curves"][0]["p99_us"] > curve["p99_us"]
    drawn = (netloom.folder / "x.svg").read_bytes()
    netloom.ok("plot", "tail", "run", "-o", "x2.svg")
    assert drawn == (netloom.folder / "x2.svg").read_bytes()
    word = netloom.refused("plot", "tail", "run", "--job", "z", "-o", "x.svg")
    assert 'no messages of job "z": expected solver, bully' in word


def test_a_routing_under_which_the_job_sent_nothing_is_named_and_the_others_drawn(netloom, paths):
    """Under optimized the job ends before the bully, a packet of each message in turn, has ended one."""
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    turns = ("--set", 'hardware.injection="round-robin-messages"')
    netloom.ok("simulate", scenario, "--routings", "ftree,optimized", *turns, "-o", "run")
    done = netloom("plot", "tail", "run", "--job", "bully", "-o", "x.svg")
    assert done.code == 0
    assert done.err == 'netloom: warning: optimized: no messages of job "bully": not drawn\n'
    found = netloom.result("plot", "tail", "run", "--job", "bully", "-o", "x.svg")
    assert [curve["routing"] for curve in found["curves"]] == ["ftree"]
    assert found["without"] == ["optimized"]
    assert netloom.result("plot", "tail", "run", "-o", "x.svg")["without"] == []


@pytest.mark.parametrize(
    ("verb", "expected"), [("plan", "netloom plan"), ("study", "netloom study chapter4")]
)
@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"result": {"errors": 3, "designs": 3}}', "a,b\n1,2\n", "\xff\xfe", "[" * 9999]
)
def test_plans_and_studies_are_read_as_other_results_are(netloom, verb, expected, text):
    (netloom.folder / "r.json").write_bytes(text.encode("latin-1"))
    told = netloom.refused("plot", verb, "r.json", "-o", "x.svg")
    assert told.startswith(f"r.json: expected what {expected} ")


def test_the_links_at_which_a_job_waits_are_drawn_with_whose_bytes_leave(netloom, paths):
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    netloom.ok("noise", scenario, "--routings", "ftree,optimized", "-o", "noise.json")
    [waited, free] = json.loads((netloom.folder / "noise.json").read_text())["result"]["runs"]
    told = netloom.result("plot", "noise", "noise.json", "--job", "solver", "-o", "x.svg")
    [solver, _] = waited["jobs"]
    assert (told["routing"], len(told["links"])) == ("ftree", len(solver["links"]))
    first = solver["links"][0]
    assert told["links"][0]["link"] == (
        f"{first['from']}[{first['from_port']}] \u2192 {first['to']}[{first['to_port']}]"
    )
    assert told["links"][0]["behind_ms"] == first["behind_ps"] * 1e-9
    text = "".join(ET.fromstring((netloom.folder / "x.svg").read_text()).itertext())
    assert "behind bully" in text
    # Under optimised tables nobody waits for anybody.
    assert free["jobs"][0]["links"] == []
    word = netloom.refused("plot", "noise", "noise.json", "--routing", "optimized", "-o", "y.svg")
    assert "nothing like that waits: expected solver under ftree" in word
    (netloom.folder / "bad.json").write_text("{}")
    assert "expected what netloom noise" in netloom.refused("plot", "noise", "bad.json", "-o", "y.svg")
