"""Machines with several adapters: every rank on its machine, in every verb."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import netloom as nl
import rails_bed

RAILS = "rails.txt"


@pytest.fixture
def case(netloom, paths):
    """The folder's copy of examples/rails."""
    for file in (paths.examples / "rails").iterdir():
        (netloom.folder / file.name).write_bytes(file.read_bytes())
    return netloom


def placement(netloom, *words: object) -> list[tuple[str, str]]:
    """Machine and adapter of every rank of the only job, as `traffic place` tells."""
    (job,) = netloom.result("traffic", "place", *words)["jobs"]
    assert [row["rank"] for row in job["placement"]] == list(range(job["ranks"]))
    return [(row["machine"], row["adapter"]) for row in job["placement"]]


@pytest.mark.parametrize("jobs", ["squeue.json", "squeue-4.json"])
def test_slurm_s_tasks_and_nodes_are_tasks_and_machines(case, jobs):
    result = case.result(
        "infer", "net.txt", "minhop", "counters.csv", "--jobs", jobs, "--truth", "traffic.csv"
    )
    # 16 adapters of 4 machines, whoever of the tasks drives them; today's error was g0's 4 alone.
    assert [(job["hosts"], job["ranks"]) for job in result["hypothesis"]] == [(16, 16)]
    assert "outside-jobs" not in {one["kind"] for one in result["findings"]}
    assert result["unexplained_percent"] < 0.001
    words = ("--counters-from", "counters.csv", "--jobs", jobs, "--once")
    (job,) = case.result("watch", "net.txt", *words)["jobs"]
    assert job["hosts"] == 16


def test_four_ranks_are_on_four_machines(case):
    assert placement(case, "net.txt", "jobs.toml") == [(f"g{machine}", "mlx5_0") for machine in range(4)]
    text = case.ok("traffic", "place", "net.txt", "jobs.toml")
    assert text.splitlines()[-2:] == [
        "job  ranks  machines  hosts  leaves  first host",
        "t        4         4     16       4  g0 mlx5_0",
    ]


def test_a_simulated_job_is_on_four_machines(case, write):
    scenario = write(
        "s.toml",
        'fabric = "net.txt"\nroutes = ["minhop"]\n[[job]]\nhosts = "g[0-3]"\nranks = 4\n'
        'program = { kind = "all-to-all", bytes = 1000 }\n',
    )
    run = nl.Scenario.read(case.folder / scenario)
    names = run.fabric.host_names
    assert [names[host] for host in run.jobs[0].host_of_rank] == [
        f"g{machine} mlx5_0" for machine in range(4)
    ]
    case.ok("simulate", scenario)
