"""`[congestion]` in scenarios: what users see of a control, and what is refused.

The physics is tested in the simulator's own tests.
"""

from __future__ import annotations

import pytest

EXCHANGE = "examples/congestion/qcn-exchange.toml"
VICTIM = "examples/congestion/qcn-victim.toml"


def run_of(netloom, *args: str):
    return netloom.result("simulate", *args)["runs"][0]


@pytest.fixture
def examples(netloom, paths):
    (netloom.folder / "examples").symlink_to(paths.examples)
    return netloom


def test_a_victim_gets_through_with_qcn(examples):
    """By hand: without a control 1/6 of 1.25 GB/s over the cable, 1/3 for the others, with headers."""
    wire = 1.25e9 * 1460 / 1500
    without = run_of(examples, VICTIM, "--set", "congestion.setpoint_bytes=640KiB")
    hot, victim = without["jobs"]
    assert without["congestion"]["notices"] == 0
    assert victim["flow_bytes_per_second"]["mean"] == pytest.approx(wire / 6, rel=0.02)
    assert hot["flow_bytes_per_second"]["least"] == pytest.approx(wire / 6, rel=0.02)
    assert hot["flow_bytes_per_second"]["most"] == pytest.approx(wire / 3, rel=0.02)
    run = run_of(examples, VICTIM)
    assert run["jobs"][1]["flow_bytes_per_second"]["mean"] > 0.5 * wire
    control = run["congestion"]
    assert control["control"] == "qcn"
    assert control["notices"] == control["cuts"] > 100
    longest = max(control["queues"], key=lambda queue: queue["longest_mean_bytes"])
    assert longest["level"] == "level 0 down"
    assert longest["longest_mean_bytes"] == pytest.approx(26_000, rel=0.05)
    assert 0 < control["limited_share"] < 1
    assert 0 < control["marked_fraction"] < 0.01


def test_a_run_without_a_control_says_nothing_of_one(examples):
    run = run_of(examples, EXCHANGE, "--set", "congestion.control=none")
    assert "congestion" not in run
    assert "fairness" not in run["jobs"][0]
    assert run["simulated_ms"] == pytest.approx(7 * 514 * 1500 * 0.8e-6, rel=0.01), "the link is never idle"
    assert run_of(examples, EXCHANGE)["simulated_ms"] > 1.6 * run["simulated_ms"]


def test_the_same_for_any_number_of_threads_and_after_a_break(examples):
    one = run_of(examples, EXCHANGE, "--threads", "1")
    four = run_of(examples, EXCHANGE, "--threads", "4")
    assert one["congestion"] == four["congestion"]
    assert one["jobs"] == four["jobs"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("congestion.gain=2", "--set congestion.gain=2: gain: expected a number of 0 to 1, found 2"),
        (
            "congestion.control=qcm",
            'control: expected none, qcn, ib-cc or dcqcn, found "qcm", did you mean "qcn"?',
        ),
        ("congestion.limiter=host", 'congestion has no key "limiter", did you mean "limiters"?'),
        ("congestion.time_reset_ms=0", "time_reset_ms: expected milliseconds, 1e-6 to 281000, found 0"),
        (
            "congestion.threshold=3",
            'threshold: expected this with control = "ib-cc"; found control = "qcn"',
        ),
        ("model=fluid", 'control: expected "none" with the fluid model'),
        (
            "hardware.head_of_line=true",
            "setpoint_bytes: expected at most 15948, as no more can wait for an output",
        ),
        ("congestion.min_rate_mbps=-1", "min_rate_mbps: expected megabits a second, 0.001 to 1e9, found -1"),
        ("congestion.limiters=flow", "limiters: expected destination or host"),
    ],
)
def test_what_cannot_be_is_refused_by_name(examples, setting, message):
    answer = examples("simulate", VICTIM, "--set", setting)
    assert answer.code == 3
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_profile_codes_has_no_congestion_trees(examples):
    codes = ["--set", "profile=codes", "--set", "hardware={}"]
    answer = examples("simulate", VICTIM, *codes)
    assert answer.code == 3
    assert 'congestion: control: expected "none" with profile = "codes"' in answer.err


CG = "examples/congestion/cg.toml"


def test_switches_that_listen_send_packets_round_what_qcn_only_slows_down(examples):
    """Paper 002, CG: by hand 2.2 times a crossbar's time with d-mod-k, as seven flows share a link."""
    alone = ["--set", "congestion.control=none", "--routings", "d-mod-k"]
    ideal = run_of(examples, CG, *alone, "--set", "fabric=xgft:m=128,w=1,speed=10G")["simulated_ms"]
    assert run_of(examples, CG, *alone)["simulated_ms"] == pytest.approx(2.2 * ideal, rel=0.02)
    slow, fast = examples.result("simulate", CG)["runs"]
    assert slow["simulated_ms"] > 4 * ideal
    assert "consumed" not in slow["congestion"]
    assert "out_of_order_percent" not in slow["congestion"], "tables keep packets in order"
    assert fast["simulated_ms"] < 1.25 * ideal
    heard = fast["congestion"]
    assert heard["notices"] == heard["cuts"] + heard["consumed"]
    assert heard["rerouted"] > 10_000
    assert 1 < heard["out_of_order_percent"] < 20
    assert heard["resequencing_bytes_max"] > 10_000
    text = examples("simulate", CG).out
    assert "notices consumed" in text
    assert "resequencing (B)" in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["congestion.control=none"],
            'snooping: expected a congestion control ([congestion] control = "qcn")',
        ),
        (["routes=snoping"], 'there is no routing "snoping": did you mean "snooping"?'),
        (["routes=snooping:"], 'snooping:: expected an engine\'s name behind "snooping:"'),
        (["routes=snooping:s-mod-k"], "expected an engine's name"),
        (["congestion.memory_ms=0"], "memory_ms: expected milliseconds, 1e-6 to 281000, found 0"),
        (["congestion.limit=maybe"], "limit: expected true or false"),
        (["model=fluid"], 'control: expected "none" with the fluid model'),
    ],
)
def test_snooping_that_cannot_be_is_refused_by_name(examples, settings, message):
    answer = examples("simulate", CG, *[word for one in settings for word in ("--set", one)])
    assert answer.code == 3
    assert message in answer.err
    assert answer.err.count("\n") == 1
