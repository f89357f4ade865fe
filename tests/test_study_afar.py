"""`netloom study afar`: the benchmarks as programs, two lines that meet, what the command tells."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netloom as nl
from netloom.studies.afar import figures, workloads
from netloom.studies.afar.breakpoint import Points, fit, interval
from netloom.studies.afar.runs import Placement, Study

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
    assert found.scatter_s == pytest.approx(1, abs=1e-3)


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
    worst = max(row["ftree_slowdown_percent"] for row in result["jobs"])
    assert tables["ftree"]["worst_percent"] == pytest.approx(worst)
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
    # The paper's figures are of cab.
    assert result["claims"] == []
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


def evidence() -> dict[str, list[dict]]:
    """Rows of 8 jobs in which everything is as it was to be."""

    def load(placement: int) -> dict:
        few = {"at_least_60_gb": 4, "afar_changes": 10}
        return {"placement": placement, "modal_bin_gb": 15.0, "idle_share": 0.3, **few}

    def row(benchmark: str, ftree_s: float, afar_s: float, optimized_s: float) -> dict:
        gain = 100 * (1 - afar_s / ftree_s)
        times = {"alone_s": 10.0, "ftree_s": ftree_s, "afar_s": afar_s, "afar-relative_s": afar_s}
        gains = {"afar_gain_percent": gain, "afar-relative_gain_percent": gain}
        return {"jobs": 8, "benchmark": benchmark, **times, **gains, "optimized_s": optimized_s}

    line = {"of": "16 jobs", "law_breakpoint_gb": 40.0, "law_slope_s_per_gb": 0.25}
    return {
        "rows": [
            row("bis", 16.0, 12.0, 11.0),
            row("nn", 14.0, 12.2, 11.0),
            row("pairs", 11.0, 11.0, 10.5),
            row("fft-proxy", 11.0, 11.0, 10.5),
        ],
        "loads": [load(1), load(2)],
        "lines": [{**line, "r_squared": 0.95, "breakpoint_gb": 41.0, "slope_s_per_gb": 0.24}],
        "tables": [{"jobs": jobs, "routing": "afar", "changes": 5} for jobs in (8, 16)],
    }


BREAKS = [
    ("loads", 0, "modal_bin_gb", 10.0, "modal bin of link loads begins at, GB: least"),
    ("loads", 0, "modal_bin_gb", 20.0, "modal bin of link loads begins at, GB: most"),
    ("loads", 1, "idle_share", 0.24, "share of idle links: least"),
    ("loads", 1, "idle_share", 0.38, "share of idle links: most"),
    ("loads", 1, "at_least_60_gb", 16, "links at 60 GB or more: most"),
    ("loads", 0, "afar_changes", 21, "entries that AFAR changes, 16 jobs, 2 placements: most"),
    ("lines", 0, "r_squared", 0.89, "bis, 16 jobs: R2"),
    ("lines", 0, "breakpoint_gb", 35.9, "bis, 16 jobs: breakpoint, GB"),
    ("lines", 0, "breakpoint_gb", 44.1, "bis, 16 jobs: breakpoint, GB"),
    ("lines", 0, "slope_s_per_gb", 0.22, "bis, 16 jobs: slope behind it, s/GB"),
    ("lines", 0, "slope_s_per_gb", 0.28, "bis, 16 jobs: slope behind it, s/GB"),
    ("tables", 0, "changes", 11, "entries that AFAR changes, 8 jobs: most"),
    ("tables", 1, "changes", 21, "entries that AFAR changes, 16 jobs: most"),
    ("rows", 0, "afar_gain_percent", 14.0, "bis, median gain by AFAR, 8 jobs, %"),
    ("rows", 0, "afar_gain_percent", 36.0, "bis, median gain by AFAR, 8 jobs, %"),
    ("rows", 1, "afar_gain_percent", 6.0, "nn, median gain by AFAR, 8 jobs, %"),
    (
        "rows",
        0,
        "afar-relative_gain_percent",
        14.0,
        "bis, median gain by relative AFAR, 8 jobs, %",
    ),
    ("rows", 1, "afar-relative_gain_percent", 21.0, "nn, median gain by relative AFAR, 8 jobs, %"),
    ("rows", 2, "afar_s", 11.4, "a job slower by AFAR, 8 jobs, %: most"),
    ("rows", 2, "afar-relative_s", 11.4, "a job slower by relative AFAR, 8 jobs, %: most"),
    ("rows", 0, "optimized_s", 12.5, "bis, 8 jobs, median time over alone, optimised: at most AFAR's"),
    ("rows", 1, "optimized_s", 12.5, "nn, 8 jobs, median time over alone, optimised: at most AFAR's"),
    ("rows", 2, "optimized_s", 12.5, "pairs, 8 jobs, median time over alone, optimised: at most AFAR's"),
    ("rows", 3, "optimized_s", 12.5, "fft-proxy, 8 jobs, median time over alone, optimised: at most AFAR's"),
]
"""A figure put outside, and the claim that this breaks."""


@pytest.mark.parametrize(("table", "at", "key", "value", "missed"), BREAKS)
def test_each_claim_is_missed_by_what_is_outside_of_it_and_by_nothing_else(table, at, key, value, missed):
    given = evidence()
    found = figures.claims(**given)
    assert all(row["holds"] for row in found)
    assert {row["claim"] for row in found} == {claim for *_, claim in BREAKS}
    given[table][at][key] = value
    assert [row["claim"] for row in figures.claims(**given) if not row["holds"]] == [missed]


def test_figure_6_is_of_three_placements_of_every_workload():
    rng = np.random.default_rng(5)

    def placed(jobs: int, seed: int) -> Placement:
        load = rng.uniform(10, 90, 40)
        time = 11 + 0.25 * np.maximum(load - 46, 0)
        told = points(load, time, np.zeros(40, int), np.arange(40) // 10)
        return Placement(jobs, seed, alone_s={"bis-1": 11.0}, points=told)

    def lines(*some: tuple[int, int]) -> dict[str, int]:
        found = figures.breakpoints([placed(*one) for one in some], 4.0, 0)
        return {row["of"]: row["placements"] for row in found}

    assert lines((16, 1), (8, 1), (8, 4), (4, 1)) == {"16 jobs": 1, "figure 6": 3, "all": 4}
    # Without a workload there is no such figure; what is the same is told once.
    assert lines((16, 1), (8, 1)) == {"16 jobs": 1, "all": 2}
    assert lines((16, 1), (16, 2)) == {"16 jobs": 2}


def test_loads_and_changes_are_told_without_a_run():
    study = Study(nl.Fabric.generate("two-level:leaves=18,hosts=8,spines=4"), 50, threads=1)
    told = study.placed(16, 1)
    assert told["hottest_gb"] > 61.5
    assert told["afar_changes"] > 0
    assert sum(told["bins"]) == round(told["links"] * (1 - told["idle_share"]))
