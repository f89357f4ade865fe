"""`netloom noise` names who slows a job down, and on which link."""

from __future__ import annotations

import os

import numpy as np
import pytest

import noise_scenes
from netloom.noise.waits import Hops, behind, told, window_us

APART = """
fabric = "two-level:leaves=3,hosts=4,spines=2"
routes = ["ftree"]
[[job]]
name = "first"
hosts = "host[0000-0003]"
program = { kind = "pairs", bytes = 20000, rounds = 2, messages = 3 }
[[job]]
name = "second"
hosts = "host[0004-0007]"
program = { kind = "all-to-all", bytes = 3000, iterations = 2 }
[[job]]
name = "offered"
hosts = "host[0008-0011]"
program = { kind = "uniform", bytes = 2048, load = 0.5, messages = 30 }
"""
"""Each below a leaf of its own."""


def test_the_culprit_and_the_links_are_named(netloom, paths):
    """1.727 with both, 1.727 without the innocent, 1.000 without the culprit."""
    scenario = paths.examples / "noise" / "three.toml"
    result = netloom.result("noise", scenario, "--job", "victim")
    [one] = result["runs"]
    [victim] = one["jobs"]
    culprit, innocent = victim["neighbours"]
    assert (culprit["job"], innocent["job"]) == ("culprit", "innocent")
    assert culprit["slowdown_without"] == pytest.approx(1.0, abs=1e-3)
    assert culprit["without_ps"] + culprit["gain_ps"] == victim["completion_ps"]
    assert (innocent["gain_ps"], innocent["behind_ps"]) == (0, 0)
    assert innocent["slowdown_without"] == victim["slowdown"] == pytest.approx(1.727, abs=1e-3)
    ends = {(link["from"], link["from_port"], link["to"], link["to_port"]) for link in victim["links"]}
    assert ends == {("leaf00", 5, "spine00", 1), ("leaf01", 5, "spine00", 2)}
    assert [link["jobs"] for link in victim["links"]] == [
        [{"job": "culprit", "behind_ps": link["behind_ps"]}] for link in victim["links"]
    ]
    # It waits for nothing else, and its messages wait for each other: that is all of what it loses.
    assert one["recorded"]["whole"]
    assert culprit["behind_ps"] == sum(link["behind_ps"] for link in victim["links"])
    assert culprit["behind_ps"] == pytest.approx(victim["difference_ps"], rel=0.01)
    text = netloom.ok("noise", scenario, "--job", "victim")
    assert "leaf00[5] → spine00[1]" in text


def test_jobs_are_left_out_on_request(netloom, paths):
    scenario = paths.examples / "noise" / "three.toml"
    for which, known in (("all", 2), ("none", 0)):
        told = netloom.result("noise", scenario, "--job", "victim", "--leave-out", which)
        neighbours = told["runs"][0]["jobs"][0]["neighbours"]
        assert sum(other["gain_ps"] is not None for other in neighbours) == known
        assert neighbours[0]["job"] == "culprit", "by what it waits for"


def test_of_two_jobs_the_other_one_is_left_out_by_the_run_alone(netloom, paths):
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    result = netloom.result("noise", scenario, "--routings", "ftree", "--job", "solver")
    [solver] = result["runs"][0]["jobs"]
    [bully] = solver["neighbours"]
    assert (bully["gain_ps"], bully["slowdown_without"]) == (solver["difference_ps"], 1.0)
    assert bully["message_gain_us"] == solver["differences"]["mean_us"]
    # Flows have no packets, and so no link that one waits at.
    flows = netloom.result("noise", scenario, "--routings", "ftree", "--job", "solver", "--model", "fluid")
    [solver] = flows["runs"][0]["jobs"]
    assert (solver["links"], solver["neighbours"][0]["behind_ps"]) == (None, None)


def test_who_shares_no_link_gains_nothing_and_waits_behind_nobody(netloom, write):
    result = netloom.result("noise", write("apart.toml", APART))
    for job in result["runs"][0]["jobs"]:
        assert (job["difference_ps"], job["links"]) == (0, [])
        for other in job["neighbours"]:
            assert (other["behind_ps"], other["message_gain_us"]) == (0, 0.0)
            # Offered load ends with the run, and that is shorter without a job that is waited for.
            assert other["gain_ps"] == (None if job["name"] == "offered" else 0)


def test_hostile_scenes_with_one_culprit_and_one_link(netloom, write):
    """Measured over 40 of 40 scenes: the culprit first in all, its link first in all."""
    count = min(noise_scenes.COUNT, int(os.environ.get("NETLOOM_TRIALS", "4")))
    for number in range(count):
        scene = noise_scenes.scene(number)
        told = netloom.result("noise", write("scene.toml", scene.text), "--job", "victim")
        [victim] = told["runs"][0]["jobs"]
        first, link = victim["neighbours"][0], victim["links"][0]
        assert first["job"] == "culprit", f"scene {number}"
        assert first["gain_ps"] > 0, f"scene {number}"
        assert (link["from"], link["to"]) == scene.link, f"scene {number}"


# ---- by hand


def test_time_in_turns_of_others_is_counted_once():
    # On link 3, of job 1: the wire from 0 to 10 and from 12 to 20, turns from 0 and from 10. Of job 0:
    # packets queued at 2 and 5 leave at 20 and 25. From 2 on that is 8 of the first turn, 10 of the second,
    # in which 2 pass until there is room. On link 4 nobody else sends.
    rows = [(1, 3, 0, 0, 10), (1, 3, 0, 12, 20), (0, 3, 2, 20, 25), (0, 3, 5, 25, 30), (0, 4, 0, 9, 11)]
    hops = Hops(*(np.array(column) for column in zip(*rows, strict=True)))
    found = behind(hops, 2)
    assert found == {(0, 3, 1): 18}
    assert told(found, 0) == [{"link": 3, "behind_ps": 18, "jobs": [(1, 18)]}]
    assert told(found, 1) == []


def test_a_long_run_is_recorded_where_messages_are_delayed_the_most():
    posted = np.array([0, 10, 20, 90]) * 1_000_000
    late = np.array([1, 5, 6, 9]) * 1_000_000
    end_ps = 100_000_000
    low, high = window_us(posted, late, 0, end_ps, 1000)
    assert (low, high) == (0.0, pytest.approx(100, abs=0.01))
    low, high = window_us(posted, late, 0, end_ps, 1_000_000)
    assert (low, high) == (10.0, pytest.approx(30, abs=0.01)), "20 us: 5 + 6 beats 9"
