"""`netloom noise` that a signal or the time limit ends: what is complete is kept, and what ran is named."""

from __future__ import annotations

import json
import signal

import pytest

from terminal import OnTerminal

TWO = """
fabric = "two-level:leaves=4,hosts=4,spines=2"
routes = ["ftree", "minhop"]
[[job]]
name = "short"
hosts = "host[0000,0012]"
program = { kind = "ping-pong", bytes = 8, iterations = 10 }
[[job]]
name = "long"
hosts = "host[0001-0008]"
program = { kind = "pairs", pairing = "random", rounds = ROUNDS, messages = 100, bytes = 8 }
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_is_complete(netloom, write, number):
    """The first seed is done; of 10,000 the terminal tells which one runs."""
    scenario = write("s.toml", TWO.replace("ROUNDS", "2"))
    command = [
        *netloom.command,
        "noise",
        scenario,
        "--routings",
        "ftree",
        "--seeds",
        "10000",
        "--threads",
        "1",
    ]
    running = OnTerminal([*command, "--format", "json"], netloom.folder)
    # Which seeds are drawn is a matter of speed.
    running.wait_for(*(f"seed {seed} of 10000" for seed in range(3, 1000)))
    running.process.send_signal(number)
    code, out = running.end()
    assert code == 130
    result = json.loads(out)["result"]
    [one] = result["runs"]
    assert (result["stopped"], one["complete"], one["jobs"][0]["name"]) == ("interrupted", True, "short")
    assert 2 <= one["seeds"] == len(one["jobs"][1]["over_seeds"]["seeds"]) < 10000
    assert b"stopped: a signal came; complete: ftree with " in running.drawn
    assert b"of 10000 seeds" in running.drawn


def test_jobs_run_alone_first_and_are_kept(netloom, write):
    """The second run never ends: what the first one showed is in the file."""
    scenario = write("s.toml", TWO.replace("ROUNDS", "1000000"))
    command = [*netloom.command, "noise", scenario, "--routings", "ftree", "-o", "noise.json"]
    running = OnTerminal(command, netloom.folder)
    running.wait_for("long alone, run 2 of 3")
    running.process.send_signal(signal.SIGTERM)
    assert running.end()[0] == 130
    [one] = json.loads((netloom.folder / "noise.json").read_text())["result"]["runs"]
    [short] = one["jobs"]
    assert (one["stopped"], one["complete"], short["name"]) == ("interrupted", False, "short")
    assert short["alone"]["median_us"] > 0
    assert (short["noise"], short["differences"], short["slowdown"]) == (None, None, None)


def test_a_time_limit_keeps_whole_routings_and_says_stopped(netloom, write):
    endless = ["--set", "job.long.program.rounds=1000000", "--set", "job.long.start_us=1000000"]
    scenario = write("s.toml", TWO.replace("ROUNDS", "1"))
    done = netloom("noise", scenario, *endless, "--time-limit", 1.5, "--threads", 1, "-o", "noise.json")
    assert done.code == 124
    assert "netloom: warning: stopped: the time limit came; complete: nothing" in done.err
    result = json.loads((netloom.folder / "noise.json").read_text())["result"]
    assert result["stopped"] == "time-limit"
    assert (result["runs"][0]["stopped"], result["not_run"]) == ("time-limit", ["minhop"])
    assert [job["name"] for job in result["runs"][0]["jobs"]] == ["short"]
