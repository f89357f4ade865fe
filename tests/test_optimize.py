"""`netloom optimize`: better routes with a proof, judged by `netloom check`; Ctrl-C; budgets."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from terminal import OnTerminal


@pytest.mark.parametrize(
    "pattern", ["stencil:16x16x12", "bisection", "bisection-shuffle:seed=1", "all-to-all"]
)
def test_the_patterns_of_table_3_2_are_solved_and_proved_on_quartz1(netloom, paths, pattern):
    result = netloom.result("optimize", paths.quartz1, pattern)
    assert result["ar_gap_percent"] == pytest.approx(0, abs=0.005)
    assert result["proven_optimal"] is True


def test_the_checker_agrees_with_what_was_written(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    made = netloom.result("optimize", paths.ft2, jobs, "-o", "r.lfts", "--write-certificate", "c.json")
    assert (made["output"], made["certificate"]) == ("r.lfts", "c.json")
    judged = netloom.result("check", paths.ft2, "r.lfts", "--traffic", jobs, "--certificate", "c.json")
    assert judged["ok"] is True
    verdict = judged["certificate"]
    assert verdict["ok"] is True
    assert verdict["optimal"] == made["proven_optimal"]
    assert verdict["max_load"] == pytest.approx(made["max_load"], rel=1e-12)
    assert verdict["recomputed_bound"] >= made["lower_bound"] * (1 - 1e-9)


@pytest.mark.parametrize("fabric", ["ft3", "fault", "two-level:leaves=6,hosts=4,spines=3,cables=2"])
def test_optimised_routes_pass_the_check_and_beat_ftree(netloom, paths, fabric):
    fault = paths.opensm / "ft3_32" / "fault_p0leaf0_port5_down" / "ibnetdiscover.txt"
    net = {"ft3": paths.ft3, "fault": fault}.get(fabric, fabric)
    result = netloom.result("optimize", net, "permutation:seed=4", "--background", "updn", "-o", "r.lfts")
    assert result["max_load"] <= result["background"]["max_load"]
    assert result["max_load"] >= result["lower_bound"] * (1 - 1e-9)
    if fabric != "fault":
        assert netloom.result("check", net, "r.lfts")["ok"] is True
        return
    # p0leaf0 has lost its cable to p0spine0: up*/down* leads from one to the other no more, but only there.
    # Hosts lose nothing, and no tables could do better.
    report = netloom.result("check", net, "r.lfts")
    assert (report["unreachable_hosts"], report["unreachable_management"]) == (0, 16)
    assert {(one["kind"], one["severity"], one["class"]) for one in report["findings"]} == {
        ("no-way-to-switch", "note", "management")
    }


def test_a_forged_claim_is_refused(netloom, paths):
    netloom.ok("optimize", paths.ft2, "bisection", "-o", "r.lfts", "--write-certificate", "c.json")
    path = netloom.folder / "c.json"
    document = json.loads(path.read_text())
    document["claim"] = document["claim"] * 1.01
    path.write_text(json.dumps(document))
    result = netloom.result(
        "check", paths.ft2, "r.lfts", "--traffic", "bisection", "--certificate", "c.json", code=1
    )
    assert result["certificate"]["ok"] is False
    assert result["certificate"]["reasons"]


def test_a_certificate_of_other_traffic_is_refused(netloom, paths):
    netloom.ok("optimize", paths.ft2, "all-to-all", "-o", "r.lfts", "--write-certificate", "c.json")
    result = netloom.result(
        "check", paths.ft2, "r.lfts", "--traffic", "bisection:bytes=1", "--certificate", "c.json", code=1
    )
    assert result["ok"] is False


@pytest.mark.parametrize("threads", [1, 2])
def test_seed_and_work_fix_every_byte(netloom, paths, threads):
    jobs = paths.examples / "jobs" / "small.toml"
    for name, used in (("a", 1), ("b", threads)):
        arguments = [
            "--seed",
            "2",
            "--work",
            "2000",
            "--threads",
            used,
            "--write-certificate",
            f"{name}.json",
        ]
        netloom.ok("optimize", paths.ft3, jobs, *arguments, "-o", f"{name}.lfts")
    for ending in ("lfts", "json"):
        assert (netloom.folder / f"a.{ending}").read_bytes() == (netloom.folder / f"b.{ending}").read_bytes()


def test_a_time_limit_keeps_the_best_so_far_and_says_so(netloom, paths):
    jobs = paths.examples / "jobs" / "mix.toml"
    result = netloom.result("optimize", paths.quartz1, jobs, "--time-limit", "0", "-o", "r.lfts")
    assert (result["stopped"], result["reproducible"]) == ("time-limit", False)
    assert netloom.result("check", paths.quartz1, "r.lfts")["ok"] is True
    whole = netloom.result("optimize", paths.ft2, "bisection")
    assert (whole["stopped"], whole["reproducible"]) == (None, True)


def test_ctrl_c_keeps_a_valid_file_and_exits_130(netloom, paths):
    """Pressed later and later, until there are tables to keep; the search then takes seconds here."""
    torus = "torus:shape=6x6x6,hosts=2"
    files = ["-o", "r.lfts", "--write-sl2vl", "lanes.txt", "--write-sl", "levels.csv"]
    command = [*netloom.command, "optimize", torus, "permutation:seed=3", *files, "--format", "json"]
    whole = ["lanes.txt", "levels.csv", "r.lfts"]
    for delay in (0.3, 0.6, 1.2, 2.4, 4.8, 9.6):
        run = OnTerminal(command, netloom.folder)
        run.wait_for(" %", "running")
        time.sleep(delay)
        run.process.send_signal(signal.SIGINT)
        code, out = run.end()
        assert code == 130, run.drawn
        if out:
            break
        # Too early, or ended by force as the machine was busy: no tables beside another's lanes.
        written = sorted(path.name for path in netloom.folder.iterdir())
        assert written in ([], whole)
    assert json.loads(out)["result"]["stopped"] == "interrupted"
    assert sorted(path.name for path in netloom.folder.iterdir()) == whole
    lanes = ["--sl2vl", "lanes.txt", "--sl", "levels.csv"]
    assert netloom.result("check", torus, "r.lfts", *lanes)["ok"] is True


@pytest.mark.parametrize("delay", [0.05, 0.15, 0.25])
def test_ctrl_c_at_any_moment_leaves_no_half_file(netloom, paths, delay):
    process = subprocess.Popen(
        [*netloom.command, "route", "ftree", paths.quartz1, "-o", "r.lfts"],
        cwd=netloom.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    time.sleep(delay)  # Any moment will do: whatever it is, what follows holds.
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    left = [path.name for path in netloom.folder.iterdir()]
    assert left in ([], ["r.lfts"])
    if process.returncode == 130:
        assert err.splitlines()[-1:] == [b"netloom: interrupted"]
    elif process.returncode != 0:
        # Python itself dies of the signal if it has not begun with netloom yet, or is about to end.
        assert process.returncode in (1, -signal.SIGINT), err
        assert b"KeyboardInterrupt" in err or not err
    assert left or process.returncode != 0
    if left:
        assert netloom.result("check", paths.quartz1, "r.lfts")["ok"] is True


def test_afar_is_never_worse_than_its_start(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    start = netloom.result("loads", paths.ft2, "ftree", jobs)
    better = netloom.result("route", "afar", paths.ft2, jobs, "-o", "r.lfts")
    assert better["max_load"] <= start["max_load"]
    assert netloom.result("check", paths.ft2, "r.lfts")["ok"] is True


def test_lulesh_on_all_of_quartz1_comes_close_to_its_bound(netloom, paths):
    jobs = paths.examples / "jobs" / "lulesh6.toml"
    result = netloom.result("optimize", paths.quartz1, jobs, "--time-limit", "10")
    assert result["lower_bound_gap_percent"] <= 0.1
