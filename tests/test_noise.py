"""`netloom noise`: what neighbours do to a job, message by message."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import netloom as nl
from netloom.intervals import median_ranks
from netloom.noise import Messages, Sent, differences, estimate, impact, joined, summary

PING_PONG = """
fabric = "two-level:leaves=2,hosts=6,spines=2"
routes = ["ftree", "adaptive", "random-per-packet"]
[[job]]
name = "pingpong"
trace = "pingpong.ti"
allocation = "contiguous:5"
[[job]]
name = "bully"
ranks = 10
program = { kind = "pairs", rounds = 4, messages = 20, bytes = 200000 }
until = "pingpong"
"""
"""Hosts 5 and 6, on two leaves; ten others send across."""

APART = """
fabric = "dragonfly:p=2,a=4,h=2"
routes = ["dla", "minimal"]
profile = "codes"
[[job]]
name = "first"
allocation = "contiguous:0"
program = { kind = "all-to-all", bytes = 30000, iterations = 3 }
ranks = 16
[[job]]
name = "second"
allocation = "contiguous:16"
program = { kind = "all-to-all", bytes = 50000, iterations = 3 }
ranks = 16
"""
"""Two groups of eight hosts each: only their own links are on minimal ways."""


def ping_pong(sizes: list[int]) -> str:
    """A trace of two ranks that send each other messages of these sizes in turn."""
    lines = ["0 init", "1 init"]
    for size in sizes:
        lines += [
            f"0 send 1 0 {size} 6",
            f"0 recv 1 0 {size} 6",
            f"1 recv 0 0 {size} 6",
            f"1 send 0 0 {size} 6",
        ]
    return "\n".join([*lines, "0 finalize", "1 finalize"]) + "\n"


@pytest.mark.parametrize("eager_bytes", [100, 1_000_000])
def test_differences_of_a_ping_pong_add_up_to_the_jobs_to_the_picosecond(netloom, write, eager_bytes):
    write("pingpong.ti", ping_pong([100, 5_000, 50_000] * 10))
    scenario = write("pingpong.toml", PING_PONG)
    eager = ["--set", f"software.eager_bytes={eager_bytes}"]
    result = netloom.result("noise", scenario, "--job", "pingpong", *eager)
    assert [one["routing"] for one in result["runs"]] == ["ftree", "adaptive", "random-per-packet"]
    for one in result["runs"]:
        [job] = one["jobs"]
        assert job["differences"]["messages"] == 60
        assert job["difference_ps"] == job["completion_ps"] - job["alone_ps"]
        assert job["differences"]["sum_ps"] == job["difference_ps"]
        assert sum(size["differences"]["sum_ps"] for size in job["sizes"]) == job["difference_ps"]
        assert [size["from_bytes"] for size in job["sizes"]] == [100, 5_000, 50_000]
        assert (job["only_beside"], job["only_alone"], job["cut"]) == (0, 0, False)
    # The bully's packets may take the ping-pong's cables where packets choose.
    assert any(one["jobs"][0]["difference_ps"] > 0 for one in result["runs"])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_without_shared_links_nothing_differs(netloom, write, threads):
    result = netloom.result("noise", write("apart.toml", APART), "--threads", threads)
    for one in result["runs"]:
        assert [job["name"] for job in one["jobs"]] == ["first", "second"]
        for job in one["jobs"]:
            assert job["differences"] | {"messages": 0} == {
                "messages": 0,
                "changed": 0,
                "sum_ps": 0,
                **dict.fromkeys(("median_us", "mean_us", "p99_us", "min_us", "max_us"), 0.0),
            }
            assert job["differences"]["messages"] == 3 * 16 * 15
            assert job["difference_ps"] == 0
            assert job["noise"] == job["alone"]
            assert job["noise"]["qcd"] > 0
            assert job["worst"] == []


def test_a_job_without_neighbours_differs_from_itself_in_nothing(netloom, paths):
    result = netloom.result(
        "noise", paths.examples / "scenarios" / "shuffle.toml", "--routings", "random-per-packet"
    )
    [job] = result["runs"][0]["jobs"]
    assert (job["difference_ps"], job["slowdown"], job["differences"]["changed"]) == (0, 1.0, 0)
    assert [one["kind"] for one in result["findings"]] == ["no-neighbours"]


def test_times_are_those_of_simulate(netloom, paths):
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    noise = netloom.result("noise", scenario, "--routings", "adaptive")
    whole = netloom.result("simulate", scenario, "--routings", "adaptive")["runs"][0]
    for job, same in zip(noise["runs"][0]["jobs"], whole["jobs"], strict=True):
        told = same["message_latency_us"]
        assert job["noise"]["max_us"] >= told["max"]
        if same["completion_ms"] is not None:
            assert job["completion_ps"] * 1e-9 == pytest.approx(same["completion_ms"], rel=1e-12)
    solver, bully = noise["runs"][0]["jobs"]
    assert solver["slowdown"] == solver["completion_ps"] / solver["alone_ps"] > 1
    late = solver["worst"]
    assert [one["difference_us"] for one in late] == sorted(
        (one["difference_us"] for one in late), reverse=True
    )
    assert late[0]["difference_us"] == solver["differences"]["max_us"]
    assert late[0]["time_us"] - late[0]["alone_us"] == pytest.approx(late[0]["difference_us"])
    # One that starts over until the solver ends has no time of its own.
    assert (bully["repeats"], bully["difference_ps"], bully["slowdown"]) == (True, None, None)


def test_flows_have_messages_too(netloom, paths):
    scenario = paths.examples / "scenarios" / "neighbour.toml"
    result = netloom.result("noise", scenario, "--model", "fluid", "--routings", "ftree", "--job", "solver")
    assert result["runs"][0]["jobs"][0]["differences"]["changed"] > 0


def test_csv_has_a_row_a_routing_job_and_size(netloom, write):
    write("pingpong.ti", ping_pong([100, 5_000]))
    netloom.ok("noise", write("pingpong.toml", PING_PONG), "--job", "pingpong", "-o", "noise.csv")
    with (netloom.folder / "noise.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["routing"], row["from_bytes"]) for row in rows] == [
        (routing, size) for routing in ("ftree", "adaptive", "random-per-packet") for size in ("100", "5000")
    ]
    assert int(rows[0]["alone_ps"]) > 0
    assert float(rows[0]["noise_q1_us"]) <= float(rows[0]["noise_median_us"])


def test_what_cannot_be_is_refused(netloom, write):
    scenario = write("apart.toml", APART)
    told = netloom.refused("noise", scenario, "--job", "third", code=2)
    assert told == f'--job "third": expected a job of {scenario}: first, second'
    assert "cannot come from standard input" in netloom.refused("noise", "-", code=2)
    assert "there is no routing" in netloom.refused("noise", scenario, "--routings", "nothing")
    netloom.refused("noise", "none.toml")
    loaded = nl.Scenario.read(netloom.folder / "apart.toml")
    with pytest.raises(ValueError, match="has no job"):
        nl.simulate(loaded, "dla", messages=["third"])


def test_too_little_time_is_told(netloom, write):
    """Two seconds of simulated traffic: more than anybody's time limit of a tenth of a second."""
    long = APART.replace("iterations = 3", "iterations = 100000")
    late = ("--time-limit", "0.1", "--routings", "dla")
    told = netloom.json("noise", write("long.toml", long), *late, code=124)
    [one] = told["result"]["runs"]
    assert told["result"]["stopped"] == one["stopped"] == "time-limit"
    assert all(job["alone"] is None and job["differences"] is None for job in one["jobs"])
    text = netloom.ok("noise", "long.toml", *late, code=124)
    assert "stopped: time-limit" in text
    assert "stopped  the time limit came; complete: nothing" in text
    assert "by size" not in text, "no table without rows"


def test_messages_by_python(netloom, write):
    write("pingpong.ti", ping_pong([100, 70_000]))
    write("pingpong.toml", PING_PONG)
    scenario = nl.Scenario.read(netloom.folder / "pingpong.toml", ["software.eager_bytes=1000"])
    assert scenario.repeating == ["bully"]
    assert nl.simulate(scenario).messages() is None
    rows = nl.simulate(scenario, messages=["pingpong"]).messages()
    assert rows is not None
    assert rows["from"].tolist() == [0, 0, 1, 1]
    assert rows["to"].tolist() == [1, 1, 0, 0]
    assert rows["number"].tolist() == [0, 1, 0, 1]
    assert rows["bytes"].tolist() == [100, 70_000, 100, 70_000]
    assert (rows["asking_ps"] > 0).tolist() == [False, True, False, True]
    assert not rows["collective"].any()
    assert rows["cut"] is False


# ---- numbers, by hand


@pytest.mark.parametrize(
    ("count", "ranks"),
    # Le Boudec, table A.1 (95 %, median).
    [(5, None), (6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (30, (10, 21)), (50, (18, 33)), (70, (27, 44))],
)
def test_the_interval_of_a_median_is_that_of_the_tables(count, ranks):
    assert median_ranks(count) == ranks


def test_the_interval_is_the_same_on_both_sides_of_the_normal_approximation():
    for count in (990, 1000, 1001, 1010):
        low, high = median_ranks(count) or (0, 0)
        assert low + high == count + 1
        assert abs(low - (count / 2 - 0.98 * count**0.5)) <= 1.5


def test_a_summary_by_hand():
    told = summary(np.arange(1, 102, dtype=np.int64) * 1_000_000)
    assert told is not None
    assert (told["q1_us"], told["median_us"], told["q3_us"]) == (26, 51, 76)
    assert told["qcd"] == (76 - 26) / (76 + 26)
    assert (told["min_us"], told["p99_us"], told["max_us"], told["mean_us"]) == (1, 100, 101, 51)
    assert told["ci95_us"] is None, "messages of one run wait in the same queues"
    assert summary(np.array([], dtype=np.int64)) is None


def test_impact_factors_by_hand():
    alone = summary(np.full(100, 2_000_000, dtype=np.int64))
    beside = summary(np.array([2_000_000] * 98 + [4_000_000] * 2, dtype=np.int64))
    assert impact(beside, alone) == {"mean": 1.02, "p99": 2.0}
    assert impact(None, alone) is None


def test_messages_are_joined_by_sender_receiver_and_number():
    def rows(keys: list[tuple[int, int, bool, int, int]]) -> Messages:
        columns = list(zip(*keys, strict=True))
        names = ("from", "to", "collective", "number", "latency_ps")
        recorded = {name: np.array(column) for name, column in zip(names, columns, strict=True)}
        zeros = np.zeros(len(keys), dtype=np.int64)
        return Messages.of({**recorded, "job": zeros, "bytes": zeros, "asking_ps": zeros, "cut": False}, 0)

    beside = rows([(0, 1, False, 0, 10), (0, 1, False, 1, 20), (0, 1, True, 0, 30), (2, 0, False, 0, 40)])
    alone = rows([(0, 1, False, 1, 5), (0, 1, True, 0, 30), (1, 0, False, 0, 1), (2, 0, False, 0, 41)])
    pairs = joined(beside, alone)
    assert pairs.difference_ps.tolist() == [15, 0, -1]
    assert differences(pairs.difference_ps)["sum_ps"] == 14
    assert differences(pairs.difference_ps)["changed"] == 2


ARIES = """
fabric = "dragonfly:p=2,a=4,h=2,speed=102.4G"
profile = "aries"
routes = ["minimal", "ugal"]
[[job]]
name = "pingpong"
hosts = "host[0000,0045]"
program = { kind = "ping-pong", bytes = "16KiB", iterations = 4 }
[[job]]
name = "others"
hosts = "host[0020-0023]"
program = { kind = "pairs", rounds = 2, messages = 2, bytes = 4000 }
until = "pingpong"
"""
"""A message of 16 KiB is 256 packets, 1,280 flits."""


def test_adapters_count_what_the_transmission_model_asks_for(netloom, write):
    result = netloom.result("noise", write("aries.toml", ARIES), "--job", "pingpong")
    for one in result["runs"]:
        [job] = one["jobs"]
        told = job["estimate"]
        assert [size["estimate"] for size in job["sizes"]] == [told]
        # The last message ends the run before its last response is there.
        assert told["messages"] in (7, 8)
        # A flit takes 1.25 ns.
        assert told["network_us"] > 1280 * 1.25e-3
        assert told["eq2_us"] == told["window_us"], "what fits the window waits in neither"
        # Nobody is in the way; by detours some packets take longer than the mean.
        assert told["window_error"] < (0.005 if one["routing"] == "minimal" else 0.15)


def test_adapters_of_jobs_add_up_to_the_runs(netloom, write):
    path = netloom.folder / write("aries.toml", ARIES)
    scenario = nl.Scenario.read(path)
    simulation = nl.simulate(scenario, "ugal", messages=["pingpong", "others"])
    result, adapters, rows = simulation.result(), simulation.adapters(), simulation.messages()
    of_jobs = [job["adapter"] for job in result["jobs"]]
    for key in ("flits", "packets", "stalled_cycles", "latency_cycles"):
        assert result["adapter"][key] == pytest.approx(sum(adapters[key]))
        assert result["adapter"][key] == pytest.approx(sum(job[key] for job in of_jobs))
    mine = (rows["job"] == 0) & (rows["packets"] > 0)
    assert set(rows["flits"][mine]) == {1280}
    assert set(rows["packets"][mine]) == {256}
    assert result["packets"] == pytest.approx(2 * result["adapter"]["packets"], rel=0.02)
    assert nl.simulate(nl.Scenario.read(path, ["profile=infiniband"]), "ugal").adapters() is None


def test_spread_of_times_and_of_packets_latencies_by_hand():
    # Quartiles of 1, 2, 3, 4, 5 are 2 and 4: (4 - 2) / (4 + 2). Of 11 to 15, 12 and 14: 2 / 26. A constant
    # of 10 is all that differs.
    times = np.array([1, 2, 3, 4, 5, 0])
    sent = Sent(times + 10 * (times > 0), times * 1.0, times * 1.0, times * 1.0)
    told = estimate(sent)
    assert told["messages"] == 5
    assert told["network_qcd"] == pytest.approx(2 / 26)
    assert told["latency_qcd"] == pytest.approx(2 / 6)


BY_MODE = """
fabric = "two-level:leaves=4,hosts=4,spines=2"
routes = ["by-mode"]
[[job]]
name = "small"
hosts = "host[0000-0007]"
program = { kind = "stream", pattern = "shift:3", bytes = 4000, messages = 6 }
[[job]]
name = "large"
hosts = "host[0008-0015]"
program = { kind = "stream", pattern = "shift:3", bytes = 12000, messages = 20 }
"""


def test_messages_are_static_or_adaptive_as_they_ask(netloom, write):
    scenario = write("by-mode.toml", BY_MODE)

    def ends(*more: str) -> list[float]:
        [one] = netloom.result("simulate", scenario, *more)["runs"]
        return [job["completion_ms"] for job in one["jobs"]]

    def modes(mode: str) -> list[str]:
        return ["--set", f"job.small.mode={mode}", "--set", f"job.large.mode={mode}"]

    static, adaptive = ends("--routings", "ftree"), ends("--routings", "adaptive")
    assert static[0] != adaptive[0]
    assert static[1] != adaptive[1]
    assert ends(*modes("in-order")) == static
    assert ends(*modes("0")) == adaptive
    # The two share no link: each takes what it takes where all are like it.
    assert ends(*modes('["in-order below 5000", 0]')) == [static[0], adaptive[1]]
    told = netloom.refused("simulate", scenario, *modes("3"))
    assert "by-mode has 0 (adaptive) and in-order (by its tables), found 3" in told
    assert "as flows have no modes" in netloom.refused("simulate", scenario, "--model", "fluid")


MODES = """
fabric = "dragonfly:p=2,a=4,h=2"
profile = "aries"
routes = ["adaptive:0", "adaptive:3:bias=8192"]
[[job]]
name = "all"
ranks = 16
mode = ["3 below 4KiB", 0]
program = { kind = "all-to-all", bytes = "1KiB", iterations = 1 }
"""


def test_modes_of_messages_take_the_place_of_the_routings(netloom, write):
    scenario = write("modes.toml", MODES)

    def completion(*more: str) -> list[float]:
        found = netloom.result("simulate", scenario, *more)["runs"]
        return [(one["jobs"][0]["completion_ms"], one["detours"]) for one in found]

    own = netloom.result("simulate", scenario, "--routings", "adaptive:0,adaptive:3")["runs"]
    small, large = own
    assert small["jobs"] == large["jobs"], "all have mode 3"
    assert small["detours"] == large["detours"]
    unbiased = completion("--set", "job.all.mode=0")
    assert unbiased[0] == unbiased[1]
    assert unbiased[0][1] > small["detours"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            'routes=["ftree"]',
            "expected routings that have modes, such as adaptive:0 on a dragonfly",
        ),
        ('routes=["adaptive:4"]', '"adaptive:4": expected one of adaptive:0, adaptive:1'),
        ('routes=["aware:fast"]', '"aware:fast": expected one of adaptive:0, adaptive:1'),
        ("job.all.mode=MIN_HASH", "expected a mode, 0 (no bias), 1, 2, 3 (high bias), min-hash"),
        ('job.all.mode=["aware below 4KiB", 0]', "expected one mode for some messages"),
        ('job.all.mode=["1 in barrier", 0]', 'expected messages in all-to-all, found "barrier"'),
        ('routes=["adaptive:3:bias=99999999999"]', "expected bias= with bytes of 0 to 1073741824"),
        ("fabric=two-level:leaves=4,hosts=4,spines=2", "expected a dragonfly, found a tree"),
        ("model=fluid", "as flows take no detours"),
        ('job.all.mode=["3 below 0", 0]', "expected messages below some bytes, at least 1"),
        (
            'job.all.mode=["3 below 4KiB", "0 below 4096"]',
            "two settings for messages below 4096 bytes",
        ),
        ("hardware.window_packets=0", "window_packets: expected a whole number of 1 to"),
        ("hardware.window_packets=-3", "window_packets: expected a whole number of 1 to"),
        ("job.all.program.bytes=0", "bytes: expected bytes (1 to"),
    ],
)
def test_bad_modes_and_windows_are_named(netloom, write, change, expected):
    assert expected in netloom.refused("simulate", write("modes.toml", MODES), "--set", change)


@pytest.mark.parametrize("change", ['routes=["aware"]', "job.all.mode=aware:steady"])
def test_aware_needs_adapters_that_count(netloom, write, change):
    told = netloom.refused(
        "simulate", write("modes.toml", MODES), "--set", change, "--set", "profile=infiniband"
    )
    assert "expected adapters that count" in told


def test_shares_by_mode_are_told(netloom, write):
    changed = MODES.replace("1KiB", "16KiB").replace("iterations = 1", "iterations = 4")
    scenario = write("modes.toml", changed)
    routings = ("--set", "job.all.mode=aware")
    [one] = netloom.result("simulate", scenario, "--routings", "adaptive:0", *routings)["runs"]
    modes = one["jobs"][0]["modes"]
    assert {mode["mode"] for mode in modes} == {"adaptive:0", "adaptive:3"}
    assert sum(mode["messages"] for mode in modes) == 4 * 16 * 15
    assert sum(mode["bytes"] for mode in modes) == 4 * 16 * 15 * 16384
    assert sum(mode["share"] for mode in modes) == pytest.approx(1)
    text = netloom.ok("simulate", scenario, "--routings", "adaptive:0", *routings)
    assert "share of bytes" in text
    fixed = netloom.ok("simulate", scenario, "--routings", "adaptive:1,min-hash", "--set", "job.all.mode=2")
    assert "share of bytes" not in fixed, "one mode"
