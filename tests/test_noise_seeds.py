"""`netloom noise --seeds`: intervals over runs; what is compared is the same messages, from a job's start."""

from __future__ import annotations

import csv
import random

import pytest

from netloom import intervals
from netloom.noise import exceeding, over_runs

NEIGHBOUR = """
fabric = "two-level:leaves=4,hosts=2,spines=2"
routes = ["adaptive"]
seed = 3
[[job]]
name = "solver"
ranks = 4
allocation = "random"
program = { kind = "halo", shape = [2, 2, 1], face_bytes = "8KiB", iterations = 2, compute_us = 5 }
[[job]]
name = "bully"
ranks = 4
allocation = "random"
program = { kind = "pairs", rounds = 2, messages = 4, bytes = 20000 }
until = "solver"
"""

UPLINK = """
fabric = "two-level:leaves=2,hosts=2,spines=1"
routes = ["ftree"]
[[job]]
name = "victim"
hosts = "host[0000,0002]"
program = { kind = "stream", pattern = "shift:1", bytes = "1MiB", messages = 4 }
[[job]]
name = "bully"
hosts = "host[0001,0003]"
program = { kind = "stream", pattern = "shift:1", bytes = "1MiB", messages = 4 }
"""
"""Two streams through one cable: nearly twice the time."""

POPULATIONS = """
fabric = "two-level:leaves=4,hosts=4,spines=2"
profile = "codes"
routes = ["ftree"]
[[job]]
name = "short"
hosts = "host[0000,0001]"
program = { kind = "stream", pattern = "shift:1", bytes = 4096, messages = 300 }
[[job]]
name = "background"
hosts = "host[0008,0009]"
program = { kind = "pairs", pairing = "adjacent", rounds = 1, messages = 100, bytes = 200000 }
until = "short"
"""
"""They share no cable, and the run ends with `short`: half of what the other sends alone never comes."""


def test_one_run_has_no_interval_and_says_so(netloom, write):
    """Messages of one run wait in the same queues: their 95 % covered 37 to 93 %."""
    result = netloom.result("noise", write("s.toml", NEIGHBOUR))
    [solver, _] = result["runs"][0]["jobs"]
    assert (result["seeds"], solver["over_seeds"]) == (1, None)
    for told in (solver["noise"], solver["alone"], solver["sizes"][0]["noise"]):
        assert told["ci95_us"] is None
    text = netloom.ok("noise", "s.toml")
    assert "one run has no interval (--seeds N simulates N)" in text
    assert "95 %" not in text


@pytest.mark.parametrize("threads", [1, 2])
def test_seeds_are_the_runs_that_they_are_alone_with_intervals_over_them(netloom, write, threads):
    scenario = write("s.toml", NEIGHBOUR)
    result = netloom.result("noise", scenario, "--seeds", 6, "--threads", threads)
    [one] = result["runs"]
    solver, bully = one["jobs"]
    assert (result["seeds"], one["seeds"], one["complete"]) == (6, 6, True)
    over = solver["over_seeds"]
    assert over["seeds"] == [3, 4, 5, 6, 7, 8]
    assert over["slowdowns"][0] == solver["slowdown"]
    [other, _] = netloom.result("noise", scenario, "--seed", 5)["runs"][0]["jobs"]
    assert over["slowdowns"][2] == other["slowdown"]
    low, high, reason = intervals.mean(over["slowdowns"], [3])
    told = over["slowdown"]
    assert (told["low"], told["high"], told["no_interval"], told["runs"]) == (low, high, reason, 6)
    assert low is not None
    assert told["mean"] == pytest.approx(sum(over["slowdowns"]) / 6)
    assert low < told["mean"] < high
    assert solver["sizes"][0]["over_seeds"]["median_us"]["runs"] == 6
    # One that starts over has messages that can be compared, and no time of its own.
    assert bully["over_seeds"]["slowdown"] is None
    assert bully["over_seeds"]["median_us"]["runs"] == 6


def test_text_and_csv_have_means_intervals_and_how_often_a_slowdown_is_exceeded(netloom, write):
    scenario = write("s.toml", NEIGHBOUR)
    text = netloom.ok("noise", scenario, "--seeds", 3)
    assert "none: few" in text
    assert "share of runs with a slowdown above" in text
    netloom.ok("noise", scenario, "--seeds", 5, "-o", "noise.csv")
    with (netloom.folder / "noise.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["seeds_slowdown_low"]) < float(rows[0]["seeds_slowdown_mean"])
    assert 'Invalid value "0" for --seeds' in netloom.refused("noise", scenario, "--seeds", 0, code=2)


def test_intervals_over_runs_hold_where_runs_are_independent():
    """95 % wanted; of 200 samples of ten draws 95 % +- 1.5."""
    rng, inside = random.Random(77), 0
    for seed in range(200):
        told = over_runs([1 + rng.expovariate(2.0) for _ in range(10)], seed)
        assert told is not None
        inside += told["low"] <= 1.5 <= told["high"]
    assert 0.90 <= inside / 200 <= 0.98


def test_shares_above_a_slowdown_by_hand():
    told = {step["above"]: step["share"] for step in exceeding([1.0, 1.0, 1.3, 2.5])}
    assert told == {
        1.0: 0.5,
        1.01: 0.5,
        1.02: 0.5,
        1.05: 0.5,
        1.1: 0.5,
        1.2: 0.5,
        1.5: 0.25,
        2.0: 0.25,
        3.0: 0,
    }
    assert exceeding([]) == []


def test_a_slowdown_counts_from_the_jobs_start(netloom, write):
    """Both from 10,000 us on: 1.032 by the clock, 1.954 by what they take."""
    found = []
    scenario = write("s.toml", UPLINK)
    for start_us in (0, 10_000):
        late = [word for name in ("victim", "bully") for word in ("--set", f"job.{name}.start_us={start_us}")]
        found.append(netloom.result("noise", scenario, *late)["runs"][0]["jobs"])
    assert found[0] == found[1]
    assert found[1][0]["slowdown"] == pytest.approx(1.954, abs=0.001)
    # One that begins while the other one sends has that in its way, and nothing before.
    late = netloom.result("noise", scenario, "--set", "job.bully.start_us=400")["runs"][0]["jobs"]
    assert [job["slowdown"] for job in late] == [1.0, 1.0], "the first has ended by then"


def test_rows_by_size_compare_the_same_messages(netloom, write):
    """225 us beside and 809 us alone, all differences 0: those beside were the early ones."""
    result = netloom.result("noise", write("s.toml", POPULATIONS))
    background = result["runs"][0]["jobs"][1]
    assert background["only_alone"] > 0
    assert background["noise"]["median_us"] < background["alone"]["median_us"] / 2, "other messages"
    [size] = background["sizes"]
    assert size["differences"]["changed"] == 0
    assert size["noise"] == size["alone"]
    assert background["same"] == {"noise": size["noise"], "alone": size["alone"]}
    assert (size["only_beside"], size["only_alone"]) == (0, background["only_alone"])


def test_runs_that_did_not_end_are_told_and_give_no_interval():
    """The slowest do not end: the mean of the others says nothing of them."""
    told = over_runs([1.1, 1.2, 1.15, 1.17, 1.13, 1.12, None], 0)
    assert told is not None
    assert (told["runs"], told["low"], told["high"], told["no_interval"]) == (6, None, None, "missing")
