"""Controls by marks: InfiniBand's and DCQCN, against laws and fixed points worked out here; OpenSM's options.

What is expected comes from conservation (marks), from a solver of DCQCN's fluid equations that shares nothing
with the simulator, and from shares by hand.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

IB_QUEUE = "examples/congestion/ib-cc-queue.toml"
IB_VICTIM = "examples/congestion/ib-cc-victim.toml"
QCN_VICTIM = "examples/congestion/qcn-victim.toml"
CG = "examples/congestion/cg.toml"
DCQCN_QUEUE = "examples/congestion/dcqcn-queue.toml"
DCQCN_VICTIM = "examples/congestion/dcqcn-victim.toml"

PACKET_NS = 4122 * 8 / 100
"""A packet on the wire at 100 Gb/s."""
TIMER_NS = 150 * 1024
"""`ccti_timer = 150`."""


@pytest.fixture
def examples(netloom, paths):
    (netloom.folder / "examples").symlink_to(paths.examples)
    return netloom


def run_of(netloom, scenario: str, *settings: str) -> dict[str, Any]:
    words = [word for setting in settings for word in ("--set", setting)]
    found: dict[str, Any] = netloom.result("simulate", scenario, *words)["runs"][0]
    return found


def used(run: dict[str, Any], flows: int, gb_per_s: float) -> float:
    return flows * run["jobs"][0]["flow_bytes_per_second"]["mean"] / 1e9 / gb_per_s


def marks_in_measured_time(run: dict[str, Any]) -> int:
    return sum(queue["marked_packets"] for queue in run["congestion"]["queues"])


@pytest.mark.parametrize("sources", [2, 7, 31])
def test_marks_are_conserved_whatever_the_table(examples, sources):
    """An index rises by 1 a mark and falls by 1 a timer: N flows have N marks a timer, where none is at 0."""
    settings = [f"job.incast.ranks={sources + 1}", "congestion.threshold=8"]
    run = run_of(examples, IB_QUEUE, *settings)
    packets = 40e6 / PACKET_NS
    expected = sources * PACKET_NS / TIMER_NS
    assert marks_in_measured_time(run) / packets == pytest.approx(expected, rel=0.05)
    if sources == 31:
        # Rates C / (1 + index): fair at index N - 1.
        assert run["congestion"]["mean_ccti"] == pytest.approx(sources - 1, rel=0.1)
        assert used(run, sources, 12.5 * 4096 / 4122) > 0.98


def test_a_coarse_table_overshoots_with_two_flows_and_a_fine_one_does_not(examples):
    two = ["job.incast.ranks=3"]
    coarse = run_of(examples, IB_QUEUE, *two, "congestion.threshold=8")
    fine = run_of(examples, IB_QUEUE, *two, "congestion.settings=tuned")
    payload = 12.5 * 4096 / 4122
    assert used(coarse, 2, payload) < 0.5
    assert used(fine, 2, payload) > 0.9
    assert fine["jobs"][0]["fairness"] > 0.99


def test_shares_with_a_victim_are_those_of_the_conservation_law(examples):
    """By hand: p R = 1 / timer for all, both links full: hot flows have 0.2 over the cable and 0.3 beside it.

    Two of 1/4 each over the cable and a victim of 1/2 would fill it: it marks too, and flows that both links
    mark are slower than those that one does.
    """
    link = 12.5 * 4096 / 4122
    without = run_of(examples, IB_VICTIM, "congestion.limit=false")
    hot, victim = [job["flow_bytes_per_second"] for job in without["jobs"]]
    assert victim["mean"] / 1e9 == pytest.approx(link / 6, rel=0.02)
    assert hot["least"] / 1e9 == pytest.approx(link / 6, rel=0.02)
    assert hot["most"] / 1e9 == pytest.approx(link / 3, rel=0.02)
    assert without["congestion"]["marked_packets"] > 1000
    run = run_of(examples, IB_VICTIM)
    hot, victim = [job["flow_bytes_per_second"] for job in run["jobs"]]
    assert victim["mean"] / 1e9 > 0.4 * link
    assert hot["least"] / 1e9 == pytest.approx(0.2 * link, rel=0.15)
    assert hot["most"] / 1e9 == pytest.approx(0.3 * link, rel=0.15)


def test_by_service_level_a_hosts_other_flows_pay(examples):
    """Host 0 also sends to host 5, where nobody else does: its limiter of a level is that of its hot flow."""
    pairs = ["0,4", "1,4", "6,4", "7,4", "0,5"]
    rows = "".join(f"{pair},1000000000\n" for pair in pairs)
    (examples.folder / "pairs.csv").write_text("src,dst,bytes\n" + rows)
    text = (examples.folder / IB_VICTIM).read_text().partition("[[job]]")[0]
    job = '[[job]]\nranks = 8\nprogram = { kind = "matrix", matrix = "pairs.csv" }\n'
    (examples.folder / "s.toml").write_text(text + job)
    of_pair = run_of(examples, "s.toml")["jobs"][0]["flow_bytes_per_second"]["most"]
    of_level = run_of(examples, "s.toml", "congestion.limiters=host")["jobs"][0]["flow_bytes_per_second"][
        "most"
    ]
    link = 12.5e9 * 4096 / 4122
    assert of_pair > 0.45 * link
    assert of_level < 0.4 * link


def fixed_point(flows: int) -> float:
    """Bytes at DCQCN's fluid fixed point: the paper's equations at rest with R = C / N, in packets."""
    size, link = 1000.0, 5e9 / 1000.0
    rate, step = link / flows, 40e6 / 8 / size
    cnp, alpha_timer, timer, counter, stages, g = 50e-6, 55e-6, 55e-6, 10e6 / size, 5, 1 / 256
    del g  # At rest alpha does not depend on it.

    def excess(p: float) -> float:
        q = math.log1p(-p)
        alpha = -math.expm1(q * alpha_timer * rate)
        told = -math.expm1(q * cnp * rate) / cnp
        by_counter = p * rate / math.expm1(-q * counter)
        by_timer = p * rate / math.expm1(-q * timer * rate)
        # Cuts against half steps back give the target's distance, its rises against cuts the balance.
        above = rate * alpha * told / (by_counter + by_timer)
        rises = by_counter * math.exp(q * stages * counter) + by_timer * math.exp(q * stages * timer * rate)
        return above * told - step * rises

    low, high = 1e-9, 0.5
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return 5e3 + low / 0.01 * (200e3 - 5e3)


def test_the_solver_gives_the_published_points():
    assert [round(fixed_point(n) / 1e3, 1) for n in (2, 4, 8)] == [20.2, 41.8, 93.8]


@pytest.mark.parametrize("flows", [2, 4, 8])
def test_dcqcn_holds_a_queue_near_the_fluid_fixed_point(examples, flows):
    run = run_of(examples, DCQCN_QUEUE, f"job.incast.ranks={flows + 1}")
    longest = max(queue["longest_mean_bytes"] for queue in run["congestion"]["queues"])
    assert longest == pytest.approx(fixed_point(flows), rel=0.5)
    assert used(run, flows, 5 * 960 / 1000) > 0.98
    assert run["jobs"][0]["fairness"] > 0.99
    assert run["congestion"]["notices"] < run["congestion"]["marked_packets"], "one notice in 50 us"


def test_a_victim_gets_through_with_dcqcn(examples):
    link = 5e9 * 960 / 1000
    run = run_of(examples, DCQCN_VICTIM)
    hot, victim = [job["flow_bytes_per_second"] for job in run["jobs"]]
    assert victim["mean"] > 0.4 * link
    assert hot["least"] > 0.2 * link
    assert hot["most"] < 0.3 * link


def test_a_control_is_switched_off_by_one_option(examples):
    for scenario in (IB_QUEUE, DCQCN_QUEUE, QCN_VICTIM):
        run = run_of(examples, scenario, "congestion.control=none", "max_time_ms=1")
        assert "congestion" not in run, scenario


@pytest.mark.parametrize(
    ("scenario", "setting", "message"),
    [
        (IB_QUEUE, "congestion.threshold=16", "threshold: expected a whole number of 0 to 15"),
        (IB_QUEUE, "congestion.ccti_timer=0", "ccti_timer: expected"),
        (
            IB_QUEUE,
            "congestion.cct=0:0,1:99999",
            "cct: expected entries shift:multiplier with commas between",
        ),
        (IB_QUEUE, "congestion.ccti_limit=128", "ccti_limit: expected"),
        (IB_QUEUE, "congestion.victim_mask=ports", "victim_mask: expected a bit a port, such as 0x1e"),
        (IB_QUEUE, "congestion.setings=tuned", 'congestion has no key "setings", did you mean "settings"?'),
        (
            IB_QUEUE,
            "congestion.kmin_bytes=5",
            'kmin_bytes: expected this with control = "dcqcn"; found control = "ib-cc"',
        ),
        (IB_QUEUE, "routes=snooping", 'expected a congestion control ([congestion] control = "qcn")'),
        (IB_QUEUE, "congestion.control=ib", "control: expected none, qcn, ib-cc or dcqcn"),
        (DCQCN_QUEUE, "congestion.kmin_bytes=300000", "kmin_bytes: expected at most kmax_bytes, 200000"),
        (DCQCN_QUEUE, "congestion.pmax=1.5", "pmax: expected a number of 0 to 1, found 1.5"),
        (DCQCN_QUEUE, "congestion.g=2", "g: expected a number of 0 to 1, found 2"),
        (DCQCN_QUEUE, "congestion.alpha_timer_us=0", "alpha_timer_us: expected microseconds"),
        (
            IB_QUEUE,
            f"congestion.cct={','.join(['0:1'] * 129)}",
            "cct: expected at most 128 entries, found 129",
        ),
        (IB_QUEUE, "congestion.cct=0:0,0:16384", 'found "0:16384"'),
        (IB_QUEUE, "congestion.cct=0:0,4:1", 'found "4:1"'),
        (
            IB_QUEUE,
            'congestion={control="ib-cc",ccti_min=50,ccti_limit=20}',
            "ccti_min: expected at most ccti_limit, 20",
        ),
        (
            IB_QUEUE,
            'congestion={control="ib-cc",cct="0:0,0:1",ccti_limit=60}',
            "ccti_limit: expected below the table's 2 entries",
        ),
        (IB_QUEUE, "model=fluid", 'expected "none" with the fluid model, whose rates know no queues'),
        (IB_QUEUE, "congestion.cnp_lane=3", 'congestion has no key "cnp_lane"'),
        (QCN_VICTIM, "congestion.setpoint_bytes=10MB", "setpoint_bytes: expected at most 663808"),
        (QCN_VICTIM, "congestion.gain=-0.1", "gain: expected a number of 0 to 1, found -0.1"),
        (CG, "job.cg.ranks=96", 'job "cg": expected a power of two of ranks, found 96'),
        # Pause frames are not simulated.
        (QCN_VICTIM, "hardware.flow_control=pause", 'hardware has no key "flow_control"'),
        (QCN_VICTIM, "hardware.xoff_bytes=1000", 'hardware has no key "xoff_bytes"'),
        (
            QCN_VICTIM,
            "profile=ethernet",
            'profile: expected infiniband, codes or aries, found "ethernet"',
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(examples, scenario, setting, message):
    answer = examples("simulate", scenario, "--set", setting)
    assert answer.code == 3
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_more_threads_change_nothing(examples):
    one, four = (
        examples.result("simulate", IB_VICTIM, "--set", "max_time_ms=4", "--threads", threads)["runs"][0]
        for threads in ("1", "4")
    )
    assert one["congestion"] == four["congestion"]


def test_opensm_reads_what_is_written_and_back(examples, paths):
    """The scenario's numbers, OpenSM's words, the same run."""
    short = ["--set", "max_time_ms=2"]
    examples.result("simulate", IB_VICTIM, *short, "--write-cc", "cc.conf")
    lines = dict(line.split(" ", 1) for line in (examples.folder / "cc.conf").read_text().splitlines()[1:8])
    assert lines["congestion_control"] == "TRUE"
    assert lines["cc_sw_cong_setting_threshold"] == "0x08"
    assert lines["cc_sw_cong_setting_marking_rate"] == "1"
    other = ["--set", "congestion.settings=opa-fm", "--set", "congestion.ccti_limit=9", *short]
    as_set = examples.result("simulate", IB_VICTIM, *short)["runs"][0]["congestion"]
    assert examples.result("simulate", IB_VICTIM, *other)["runs"][0]["congestion"] != as_set
    (examples.folder / "s.toml").write_text(
        (examples.folder / IB_VICTIM).read_text().replace('settings = "tuned"', "ccti_limit = 9")
    )
    as_read = examples.result("simulate", "s.toml", *short, "--cc", "cc.conf")["runs"][0]["congestion"]
    assert as_read == as_set
    assert as_read["cuts"] > 0


def test_opensms_own_file_enabled_and_nothing_else_limits_nobody(examples, paths):
    own = (paths.opensm.parent / "opensm-congestion" / "default.conf").read_text()
    (examples.folder / "off.conf").write_text(own)
    (examples.folder / "on.conf").write_text(
        own.replace("congestion_control FALSE", "congestion_control TRUE")
    )
    short = ["--set", "max_time_ms=2"]
    assert "congestion" not in examples.result("simulate", IB_VICTIM, "--cc", "off.conf", *short)["runs"][0]
    run = examples.result("simulate", IB_VICTIM, "--cc", "on.conf", *short)["runs"][0]
    assert run["congestion"]["marked_packets"] == run["congestion"]["cuts"] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cc_cct 0:1,2", "cc_cct: expected entries shift:multiplier with commas between"),
        ("cc_ca_cong_setting_ccti_timer 0 ", "expected a service level and its value, such as 0 150"),
        (
            "cc_sw_cong_setting_threshold",
            'cc_sw_cong_setting_threshold: expected a number of 0 to 15, found ""',
        ),
        ("cc_sw_cong_setting_threshold 16", 'expected a number of 0 to 15, found "16"'),
    ],
)
def test_half_an_entry_of_opensms_options_is_refused_with_its_line(examples, line, message):
    (examples.folder / "cc.conf").write_text(f"congestion_control TRUE\n{line}\n")
    answer = examples("simulate", IB_QUEUE, "--cc", "cc.conf")
    assert answer.code == 3
    assert answer.err.startswith("netloom: error: cc.conf:2: ")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_write_cc_needs_infinibands_control(examples):
    answer = examples("simulate", DCQCN_QUEUE, "--write-cc", "cc.conf")
    assert answer.code == 2
    assert '--write-cc: expected a scenario with [congestion] control = "ib-cc"' in answer.err
    answer = examples("simulate", IB_VICTIM, "--set", "congestion.limit=false", "--write-cc", "cc.conf")
    assert (answer.code, "limit = true" in answer.err) == (2, True), "OpenSM cannot say it"
    # What is told of a scenario that cannot run is one line, and no settings of it.
    answer = examples("simulate", IB_VICTIM, "--routings", "snooping", "--write-cc", "cc.conf")
    assert answer.code == 3
    assert not (examples.folder / "cc.conf").exists()
    answer = examples("simulate", IB_VICTIM, "-o", "cc.conf", "--write-cc", "cc.conf")
    assert (answer.code, "-o and --write-cc are the same file" in answer.err) == (2, True)
    assert not (examples.folder / "cc.conf").exists()
