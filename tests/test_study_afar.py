"""`netloom study afar`: the benchmarks as programs, two lines that meet, what the command tells."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netloom as nl
from netloom.studies.afar import figures, workloads
from netloom.studies.afar.breakpoint import Points, fit, interval
from netloom.studies.afar.runs import Study

SMALL = "two-level:leaves=6,hosts=6,spines=3"
"""36 hosts, of which 32 run jobs: four jobs of 128 ranks."""


def points(load: np.ndarray, time: np.ndarray, placement: np.ndarray, job: np.ndarray) -> Points:
    """Processes without any spread of their own."""
    count = np.full(len(load), 32.0)
    return Points(load, count, time * 32, time**2 * 32, placement, job)


def test_benchmarks_send_what_table_i_says():
    made = workloads.scenario(SMALL, 36, 4, 1, 50)
    scene = nl.Scenario.from_dict(made)
    assert [job.name for job in scene.jobs] == ["bis-1", "nn-1", "pairs-1", "fft-proxy-1"]
    assert all(len(job.host_of_rank) == 128 for job in scene.jobs)
    # By hand, 64 KiB a message: 36 of bis a rank; of pairs 50 of every second rank; of nn and fft-proxy what
    # goes to other hosts: 16 ranks of a row of 64 are on a host, so of 32 messages along it 2 leave; across
    # rows all 32 do, to the one other row (both neighbours are the same). Of fft-proxy two of 16 along y, 8
    # apart, share a host: 14 of 15 leave, three times.
    sent = {
        "bis-1": 36 * 128,
        "nn-1": 24 * (2 + 32) * 8,
        "pairs-1": 50 * 64,
        "fft-proxy-1": 3 * 14 * 128,
    }
    for name, messages in sent.items():
        total = scene.alone(name).traffic().total_bytes
        assert total == messages * 65536, name


def test_alone_a_benchmark_takes_its_computation_and_its_messages():
    study = Study(nl.Fabric.generate(SMALL), 50, threads=1)
    scene = study.scene(4, 1).alone("bis-1")
    seconds = np.asarray(nl.simulate(scene, "ftree").ranks()["end_ps"]).max() * 500 / 1e12
    # 18,000 times 0.56 ms, and as often at least 64 KiB at 12.5 GB/s.
    assert 10.08 + 18_000 * 65536 / 12.5e9 < seconds < 10.5


def test_hosts_that_cannot_be_shared_are_refused():
    with pytest.raises(nl.ArgumentError, match="16 jobs on 8 of 9 of 36 hosts have 32 ranks each: expected"):
        workloads.scenario(SMALL, 36, 16, 1, 50)


def test_two_lines_are_found_where_they_meet():
    rng = np.random.default_rng(1)
    load = rng.uniform(10, 90, 300)
    time = 11 + 0.05 * load + 0.25 * np.maximum(load - 46, 0)
    of = np.repeat(np.arange(6), 50)
    exact = fit(points(load, time, of, of))
    assert exact is not None
    assert abs(exact.breakpoint_gb - 46) < 0.5
    assert abs(exact.behind - 0.30) < 0.002
    assert abs(exact.before - 0.05) < 0.002
    assert exact.r_squared > 0.9999


def test_what_processes_differ_in_beside_their_loads_lowers_r_squared():
    load = np.linspace(10, 90, 40)
    time = 11 + 0.25 * np.maximum(load - 46, 0)
    one = points(load, time, np.zeros(40, int), np.zeros(40, int))
    # Two processes a point, 2 s apart: a variance of 1 s2 that no line has.
    squares = (time - 1) ** 2 + (time + 1) ** 2
    apart = Points(load, np.full(40, 2.0), 2 * time, squares, one.placement, one.job)
    found = fit(apart)
    assert found is not None
    explained = float(np.var(time))
    assert found.r_squared == pytest.approx(explained / (explained + 1), abs=1e-3)


def test_an_interval_draws_placements_and_where_they_are_few_jobs():
    rng = np.random.default_rng(2)
    load = rng.uniform(10, 90, 240)
    job = np.repeat(np.arange(12), 20)
    # What a job's processes have in common moves its line: intervals must be as wide as that.
    time = 11 + 0.25 * np.maximum(load - 46, 0) + rng.normal(0, 0.5, 12)[job]
    three = interval(points(load, time, job // 4, job), 0)
    assert (three["over"], three["draws"]) == ("jobs", 12)
    low, high = three["breakpoint_gb"]
    assert low < 46 < high
    alone = interval(points(load, time, job, job), 0)
    assert (alone["over"], alone["draws"]) == ("placements", 12)
    few = interval(points(load[:80], time[:80], np.zeros(80, int), job[:80]), 0)
    assert (few["draws"], few["breakpoint_gb"], few["behind"]) == (4, None, None)


def test_points_of_several_placements_have_jobs_of_their_own():
    one = points(np.array([1.0, 2.0]), np.ones(2), np.zeros(2, int), np.array([0, 1]))
    both = Points.together([one, one])
    assert both.job.tolist() == [0, 1, 2, 3]
    assert both.placement.tolist() == [0, 0, 1, 1]


def test_the_study_runs_alone_beside_and_with_other_routes(netloom, validate):
    asked = ("study", "afar", "--fabric", SMALL, "--workloads", "4", "--placements", "1", "--threads", "1")
    result = netloom.result(*asked)
    assert [row["job"] for row in result["jobs"]] == ["bis-1", "nn-1", "pairs-1", "fft-proxy-1"]
    tables = {row["routing"]: row for row in result["tables"]}
    assert tables["ftree"]["changes"] == 0
    assert tables["afar"]["threshold_gb"] == 65.0
    assert tables["afar"]["hottest_gb"] <= 65.0 < tables["ftree"]["hottest_gb"]
    assert tables["optimized"]["hottest_gb"] <= tables["afar"]["hottest_gb"]
    # 12.5 GB/s times the time alone, over the paper's 58 GB.
    alone = next(row["alone_s"] for row in result["jobs"] if row["benchmark"] == "bis")
    assert tables["afar-relative"]["threshold_gb"] == pytest.approx(65 * 12.5 * alone / 58)
    for row in result["jobs"]:
        assert row["ftree_slowdown_percent"] == pytest.approx(100 * (row["ftree_s"] / row["alone_s"] - 1))
    assert {row["benchmark"] for row in result["gains"]} == {"bis", "nn", "pairs", "fft-proxy", "all"}
    assert result["loads"] == []
    assert result["reproducible"]


def test_time_ends_it_with_what_is_known(netloom):
    done = netloom("study", "afar", "--time-limit", "0", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["result"]["stopped"]) == (124, "time-limit")
    assert document["result"]["jobs"] == []
    assert not document["result"]["reproducible"]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("--workloads", "5"), "--workloads 5: expected numbers of jobs among 4,8,16, with commas", 2),
        (("--shorter", "3"), "--shorter 3: expected one of 1, 2, 5, 10, 25, 50", 2),
        (("--fabric", SMALL, "--workloads", "8"), "8 jobs on 8 of 9 of 36 hosts", 3),
    ],
)
def test_what_cannot_be_run_is_refused(netloom, arguments, said, code):
    assert said in netloom.refused("study", "afar", *arguments, code=code)


def test_claims_are_what_was_set_down_beforehand():
    # Loads within, then a modal bin elsewhere.
    def load(bin_gb: float) -> dict:
        return {"modal_bin_gb": bin_gb, "idle_share": 0.3, "at_least_60_gb": 4}

    held = {row["claim"]: row["holds"] for row in figures.claims([], [load(15.0), load(15.0)], [], [])}
    assert set(held.values()) == {True}
    missed = {row["claim"]: row["holds"] for row in figures.claims([], [load(15.0), load(10.0)], [], [])}
    assert missed["modal bin of link loads begins at, GB: least"] is False
