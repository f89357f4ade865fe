"""`--skip-repeats` of `noise`, `sweep` and `plan`: what comes out is that of the full runs, to the byte."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

import netloom as nl
from netloom import ArgumentError, _core, measure_noise
from netloom.cli.simulate.report import all_skipped
from netloom.simulating.skipping import Skipping, told_of
from test_plan_judged import PLAN
from test_skip_repeats import HALO, TRIALS, drawn, read

BESIDE = """
name = "beside"
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree"]
[[job]]
name = "solver"
program = { kind = "halo", shape = [4, 2, 2], face_bytes = 8192, iterations = 60, compute_us = 5 }
[[job]]
name = "other"
ranks = 2
program = { kind = "ping-pong", bytes = 4096, iterations = 40 }
"""

# Iterations that differ by nanoseconds, and never come back to a state.
NEARLY = """
name = "nearly"
fabric = "xgft:m=8x4,w=1x4"
routes = ["d-mod-k"]
[[job]]
name = "cg"
ranks = 32
program = { kind = "nas-cg", class = "A", iterations = 60 }
"""


def messages(scenario, names):
    """Every message of some jobs in a full run and in one that skips, and what the latter skipped."""
    full, short = (
        _core.simulate(scenario, scenario.routings[0], messages=names, skip_repeats=skip)
        for skip in (None, 0.0)
    )
    return full.messages(), short.messages(), short.result()["skipped"]


def assert_same(full, short):
    assert full.keys() == short.keys()
    for key, column in full.items():
        assert np.array_equal(column, short[key]), key


def test_messages_of_iterations_that_were_skipped_are_written_down(tmp_path):
    full, short, skipped = messages(read(tmp_path, HALO.format(iterations=100, more="")), ["solver"])
    assert skipped["iterations"] >= 90
    assert_same(full, short)
    # A rank of 4 x 4 x 2 sends in every iteration; its messages have all numbers from 0 on.
    of_first = short["number"][short["from"] == 0]
    assert sorted(of_first) == list(range(len(of_first)))
    assert len(of_first) % 100 == 0


def test_messages_that_ask_first_are_written_down_whole(tmp_path):
    text = HALO.format(iterations=100, more="[software]\neager_bytes = 4096\n")
    full, short, skipped = messages(read(tmp_path, text), ["solver"])
    assert skipped["iterations"] >= 90
    assert (short["asking_ps"] > 0).all()
    assert_same(full, short)


def test_messages_of_hostile_scenarios_are_those_of_the_full_run(tmp_path):
    skipped = 0
    trials = max(TRIALS, 50)
    for seed in range(trials):
        print(f"seed {seed}")
        scenario = read(tmp_path, drawn(random.Random(seed)))
        names = [job.name for job in scenario.jobs]
        # Of all jobs, or of the last one only.
        full, short, told = messages(scenario, names if seed % 3 else names[-1:])
        assert_same(full, short)
        skipped += told["iterations"] > 0
    assert skipped >= trials // 10, "or nothing was tried"


@pytest.mark.skipif(TRIALS <= 10, reason="4,600,000 messages: NETLOOM_TRIALS=11")
def test_where_there_are_too_many_messages_the_same_ones_are_missing(tmp_path):
    text = 'fabric = "two-level:leaves=8,hosts=8,spines=8"\nroutes = ["ftree"]\n[[job]]\nname = "sums"\n'
    text += 'ranks = 64\nprogram = { kind = "collective", collective = "allgather", bytes = 64, '
    full, short, skipped = messages(read(tmp_path, text + "iterations = 12000 }\n"), ["sums"])
    assert skipped["iterations"] > 11_000
    assert short["cut"]
    assert_same(full, short)


def without_skipped(told):
    return {**told, "runs": [{k: v for k, v in run.items() if k != "skipped"} for run in told["runs"]]}


@pytest.mark.parametrize("name", ["three", *(["gpcnet", "modes", "transmission"] if TRIALS > 10 else [])])
def test_noise_of_shipped_scenarios_is_the_same(paths, name):
    path = paths.examples / "noise" / f"{name}.toml"
    full, short = (measure_noise(path, threads=1, skip_repeats=skip) for skip in (None, 0.0))
    assert all("skipped" not in run for run in full["runs"])
    assert all(run["skipped"]["allowed"] == 0 for run in short["runs"])
    assert json.dumps(without_skipped(short)) == json.dumps(full)


def test_no_message_is_made_up_where_an_error_is_allowed(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(NEARLY)
    full, short = (measure_noise(path, threads=1, skip_repeats=skip) for skip in (None, 0.005))
    (run,) = short["runs"]
    assert run["skipped"]["allowed"] == 0.005
    assert run["skipped"]["error"] is None
    assert json.dumps(without_skipped(short)) == json.dumps(full)


def test_noise_says_what_was_skipped_and_why_the_rest_was_not(netloom, write):
    path = write("scenario.toml", BESIDE)
    full = netloom.result("noise", path, "--seeds", "2")
    short = netloom.result("noise", path, "--seeds", "2", "--skip-repeats", "0")
    assert json.dumps(without_skipped(short)) == json.dumps(full)
    (run,) = short["runs"]
    # Two jobs alone and both together with each of two seeds; who waits where with the first one.
    assert run["skipped"]["runs"] == 7
    assert run["skipped"]["skipped"] + sum(one["runs"] for one in run["skipped"]["reasons"]) == 7
    assert {"reason": "packets are watched", "runs": 1} in run["skipped"]["reasons"]
    assert run["skipped"]["skipped"] >= 2
    assert 0.2 < run["skipped"]["share"] < 1
    told = netloom.ok("noise", path, "--skip-repeats", "0")
    assert re.search(r"skipped +ftree: [0-9.]+ % of the time of 4 simulations; in full ", told)


@pytest.mark.parametrize("word", ["-0.1", "1", "nan", "some"])
def test_an_error_that_is_no_share_is_refused(netloom, write, word):
    path = write("scenario.toml", HALO.format(iterations=5, more=""))
    assert "skip-repeats" in netloom.refused("noise", path, "--skip-repeats", word, code=2)
    assert "skip-repeats" in netloom.refused(
        "sweep", "run", path, "-o", "swept", "--skip-repeats", word, code=2
    )
    assert "skip-repeats" in netloom.refused("plan", path, "--by-packets", "--skip-repeats", word, code=2)


def test_the_library_refuses_an_error_that_is_no_share(tmp_path):
    path = tmp_path / "halo.toml"
    path.write_text(HALO.format(iterations=5, more=""))
    for wrong in (1.0, -0.5, True, "0"):
        for call in (
            lambda wrong: measure_noise(path, skip_repeats=wrong),
            lambda wrong: nl.sweep(path, tmp_path / "swept", skip_repeats=wrong),
            lambda wrong: nl.plan(path, by_packets=True, skip_repeats=wrong),
        ):
            with pytest.raises(ArgumentError, match="skip_repeats: expected a share, 0 to below 1"):
                call(wrong)
    with pytest.raises(ArgumentError, match="skip_repeats: expected by_packets or today beside it"):
        nl.plan(path, skip_repeats=0.0)


SWEEP = """
scenario = "scenario.toml"
keep = ["completion_ms", "messages", "packets", "message_latency_us.p99"]

[over]
seed = "0..1"
"job.solver.program.face_bytes" = [2048, 8192]
routes = ["ftree", "adaptive"]
"""


@pytest.fixture
def swept(netloom, write):
    """A sweep of a solver, run in full."""
    write("scenario.toml", HALO.format(iterations=60, more=""))
    path = write("sweep.toml", SWEEP)
    netloom.ok("sweep", "run", path, "-o", "full", "--workers", "1")
    return path


def table(folder):
    return pq.read_table(folder / "table.parquet")


def test_a_sweep_that_skips_has_the_same_table_and_says_so_by_run(netloom, swept):
    told = netloom.result("sweep", "run", swept, "-o", "short", "--workers", "1", "--skip-repeats", "0")
    full, short = table(netloom.folder / "full"), table(netloom.folder / "short")
    assert full.drop_columns(["run"]).equals(short.drop_columns(["run", "skipped", "skipped_error"]))
    assert not set(full["run"].to_pylist()) & set(short["run"].to_pylist())
    shares = dict(zip(short["run"].to_pylist(), short["skipped"].to_pylist(), strict=True))
    by_routing = {}
    for routing, share in zip(short["routing"].to_pylist(), short["skipped"].to_pylist(), strict=True):
        by_routing.setdefault(routing, []).append(share)
    assert min(by_routing["ftree"]) > 0.5
    assert set(by_routing["adaptive"]) == {0.0}
    mean = sum(shares.values()) / 8
    expected = {"allowed": 0.0, "runs": 8, "skipped": 4, "share": pytest.approx(mean), "error": None}
    assert told["skipped"] == expected
    assert short["skipped_error"].null_count == len(short)
    # The same command goes on where it was, and as another process joins it.
    again = netloom.ok("sweep", "run", swept, "-o", "short", "--skip-repeats", "0")
    assert "8 of 8 done, 8 of them before" in again
    assert " % of the simulated time in the mean of 8 runs, 4 of which left something out\n" in again
    assert netloom.ok("sweep", "merge", swept, "short", "--skip-repeats", "0").startswith("sweep")


def test_full_runs_and_ones_that_skip_are_not_mixed(netloom, swept):
    refused = netloom.refused("sweep", "run", swept, "-o", "full", "--skip-repeats", "0.01", code=3)
    assert "full: has runs in full: expected runs with --skip-repeats 0.01, or a new folder" in refused
    netloom.ok("sweep", "run", swept, "-o", "near", "--workers", "1", "--skip-repeats", "0.01")
    for words, here in (((), "in full"), (("--skip-repeats", "0"), "with --skip-repeats 0.0")):
        told = f"near: has runs with --skip-repeats 0.01: expected runs {here}, or a new folder"
        assert told in netloom.refused("sweep", "run", swept, "-o", "near", *words, code=3)
        assert told in netloom.refused("sweep", "merge", swept, "near", *words, code=3)


def test_tasks_of_an_array_skip_as_their_script_says(netloom, swept):
    netloom.ok("sweep", "run", swept, "-o", "short", "--workers", "1", "--skip-repeats", "0")
    told = netloom.ok(
        "sweep", "run", swept, "-o", "arrays", "--slurm", "job.sh", "--workers", "2", "--skip-repeats", "0"
    )
    assert told.splitlines()[-1].endswith("netloom sweep merge sweep.toml arrays --skip-repeats 0.0")
    script = (netloom.folder / "job.sh").read_text()
    (total,) = re.findall(r"--sum (\S+) --skip-repeats 0\.0 ", script)
    # A task that does not skip is of another sweep.
    words = ("sweep", "part", swept, "arrays", "0", "2", "--sum", total)
    assert "has changed" in netloom.refused(*words, code=3)
    for number in ("0", "1"):
        netloom.ok("sweep", "part", swept, "arrays", number, "2", "--sum", total, "--skip-repeats", "0")
    netloom.ok("sweep", "merge", swept, "arrays", "--skip-repeats", "0")
    assert table(netloom.folder / "arrays").equals(table(netloom.folder / "short"))


def test_the_library_sweeps_and_skips(netloom, swept):
    found = nl.sweep(netloom.folder / swept, netloom.folder / "called", workers=1, skip_repeats=0)
    assert max(found.table["skipped"].to_pylist()) > 0.5


TRACED = PLAN.replace('pattern = "shift:24"', 'trace = "ring.ti"').replace("wire_share = 0.5\n", "")


def test_a_plan_that_skips_judges_as_one_that_does_not(netloom, write, paths):
    write("slimfly-2014.toml", (paths.examples / "plan" / "slimfly-2014.toml").read_text())
    path = write("plan.toml", TRACED)
    # Each rank sends to the one four further, forty times.
    steps = [
        [f"{r} isend {(r + 4) % 16} 0 50000 6", f"{r} recv {(r - 4) % 16} 0 50000 6", f"{r} waitall 1"]
        for r in range(16)
    ]
    lines = [line for r, some in enumerate(steps) for line in (f"{r} init", *some * 40, f"{r} finalize")]
    write("ring.ti", "\n".join(lines) + "\n")
    full = netloom.result("plan", path, "--by-packets")
    short = netloom.result("plan", path, "--by-packets", "--skip-repeats", "0")
    told = short["judged"].pop("skipped")
    assert "skipped" not in full["judged"]
    assert json.dumps(short["judged"]) == json.dumps(full["judged"])
    assert told["skipped"] > 0
    assert told["share"] > 0.1
    assert any("packet by packet" in one["reason"] for one in told["reasons"])
    text = netloom.ok("plan", path, "--by-packets", "--skip-repeats", "0")
    assert re.search(r"\nskipped: [0-9.]+ % of the time of \d+ simulations; in full ", text)


def test_the_largest_error_of_several_simulations_is_told():
    ran = [
        (10, {"share": 0.5, "reason": None, "error": 0.002}),
        (30, {"share": 0.9, "reason": None, "error": 0.0031}),
        (10, {"share": 0.1, "reason": None, "error": None}),
    ]
    told = told_of([None, Skipping(0.005, ran[:2]), Skipping(0.005, ran[2:])])["skipped"]
    assert told == {
        "allowed": 0.005,
        "runs": 3,
        "skipped": 3,
        "share": pytest.approx(33 / 50),
        "error": 0.0031,
        "reasons": [],
    }
    assert all_skipped(told) == "66.0 % of the time of 3 simulations, error at most 0.31 %"


def test_a_plan_without_runs_has_nothing_to_skip(netloom, write):
    refused = netloom.refused("plan", write("plan.toml", TRACED), "--skip-repeats", "0", code=2)
    assert "--skip-repeats is of runs: expected --by-packets or --today" in refused
