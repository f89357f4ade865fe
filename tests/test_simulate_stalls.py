"""Ranks that wait for ever beside a job that starts over until then: told as they are without it."""

from __future__ import annotations

import pytest

LOST = """\
fabric = "two-level:leaves=2,hosts=4,spines=2"
[[job]]
name = "solver"
trace = "lost.goal"
"""
BULLY = """\
[[job]]
name = "bully"
ranks = 2
until = "solver"
program = { kind = "stream", pattern = "shift:1", bytes = "1MB" }
"""
GOAL = "num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 5\n}\nrank 1 {\ncalc 10\n}\n"


@pytest.mark.parametrize("model", ["packet", "fluid"])
def test_a_message_that_is_never_sent_is_told_beside_a_job_with_until(netloom, write, model):
    """It ran on for 281 simulated seconds, and the error then named the other job."""
    write("lost.goal", GOAL)
    told = []
    for text in (LOST, LOST + BULLY):
        write("s.toml", text)
        told.append(netloom.refused("simulate", "s.toml", "--model", model))
    assert "solver rank 0" in told[0]
    assert "open receives: rank 1 tag 5 (lost.goal:3; never sent)" in told[0]
    assert told[1] == told[0]


def test_a_message_that_nobody_receives_is_told(netloom, write):
    """Short enough to leave without asking, it came, and the run ended without a word."""
    write("lost.goal", "num_ranks 2\nrank 0 {\ncalc 10\n}\nrank 1 {\nsend 8b to 0 tag 5\n}\n")
    write("s.toml", LOST)
    done = netloom("simulate", "s.toml")
    assert done.code == 0
    assert "solver: 1 of its messages came and are received by no rank" in done.err + done.out
    (run,) = netloom.result("simulate", "s.toml")["runs"]
    assert [job["unreceived"] for job in run["jobs"]] == [1]
