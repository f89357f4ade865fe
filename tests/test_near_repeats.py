"""`simulate --skip-repeats 0.005`: results are near the full run's, and what programs fix is exact."""

from __future__ import annotations

import os
import random
import re

import numpy as np
import pytest

from netloom import _core
from test_skip_repeats import drawn, read

ERROR = 0.005
TRIALS = int(os.environ.get("NETLOOM_TRIALS", "10"))
MOST_OUTSIDE = 0.2
"""Of random runs that leave something out, this part may have a 99th percentile outside: it is no mean."""

# NAS CG's exchanges and sums, whose iterations differ a little before they come back to a state.
SOLVER = """name = "solver"
fabric = "xgft:m=8x4,w=1x4"
routes = ["d-mod-k"]
[[job]]
name = "cg"
ranks = 32
program = {{ kind = "nas-cg", class = "A", iterations = {iterations} }}
{more}
"""


def both(scenario, error=ERROR):
    """The full run and one that skips, with the largest difference of a figure that is not a maximum."""
    full, near = (_core.simulate(scenario, skip_repeats=skip) for skip in (None, error))
    return full, near, differences(full.result(), near.result())


def figures(run):
    """What a run tells: name to a figure and what its error is a part of."""
    found = {
        "simulated": (run["simulated_ms"],) * 2,
        "packets": (run["packets"],) * 2,
        "hops": (run["packet_hops"],) * 2,
        "busiest": (run["max_link_utilisation"],) * 2,
    }
    latencies = {"packets": run["packet_latency_us"]}
    for job in run["jobs"]:
        name = job["name"]
        found[f"complete {name}"] = (job["completion_ms"],) * 2
        found[f"messages {name}"] = (job["messages"],) * 2
        found[f"bytes {name}"] = (job["bytes"],) * 2
        latencies[name] = job["message_latency_us"]
        if job["time"]:
            elapsed = job["time"]["elapsed_ms"]
            waits = job["time"]["waiting_ms"].items()
            found.update({f"{what} {name}": (value, elapsed) for what, value in waits})
    for name, latency in latencies.items():
        found.update({f"{key} of {name}": (latency[key],) * 2 for key in ("mean", "p99") if latency})
    return found


def differences(full, near):
    one, other = figures(full), figures(near)
    assert one.keys() == other.keys()
    return {
        name: abs(value - other[name][0]) / scale if scale else abs(other[name][0] or 0)
        for name, (value, scale) in one.items()
    }


def assert_fixed(full, near):
    """What programs fix is exact: messages, packets and bytes, by job and by link."""
    one, other = full.result(), near.result()
    for key in ("messages", "bytes", "packets", "packet_hops"):
        assert one[key] == other[key], key
    for key in ("xmit_bytes", "xmit_packets", "link", "lane"):
        assert np.array_equal(full.counters()[key], near.counters()[key]), key
    for what in ("messages", "packets"):
        held = [(np.array(run.histograms()["what"]), run.histograms()["count"]) for run in (full, near)]
        counts = [count[of == what].sum() for of, count in held]
        assert counts[0] == counts[1]
    times = [job["time"] for run in (one, other) for job in run["jobs"]]
    half = len(times) // 2
    for a, b in zip(times[:half], times[half:], strict=True):
        assert (a["compute_ms"], a["call_ms"]) == (b["compute_ms"], b["call_ms"])


def test_iterations_that_are_nearly_alike_are_left_out(tmp_path):
    scenario = read(tmp_path, SOLVER.format(iterations=1000, more=""))
    full, near, differ = both(scenario)
    found = near.result()["skipped"]
    assert (found["how"], found["reason"], found["job"]) == ("near", None, "cg")
    assert found["iterations"] >= 200
    assert 0 < found["error"] <= ERROR
    assert 0 < found["seen"] <= ERROR
    assert max(differ.values()) <= ERROR
    assert_fixed(full, near)


def test_an_exact_repeat_goes_before_a_near_one(tmp_path):
    text = SOLVER.format(iterations=100, more="").replace(
        'kind = "nas-cg", class = "A"',
        'kind = "minighost", shape = [4, 4, 2], face_bytes = 9000, compute_us = 50',
    )
    _, near, differ = both(read(tmp_path, text))
    found = near.result()["skipped"]
    assert (found["how"], found["error"], found["seen"]) == ("exact", None, None)
    assert not any(differ.values())


def test_a_run_that_ends_at_its_time_is_near_too(tmp_path):
    text = SOLVER.format(iterations=1000, more="")
    whole = _core.simulate(read(tmp_path, text)).end_ps
    cut = read(tmp_path, text, [f"max_time_ms={whole * 0.6 * 1e-9}"])
    full, near, differ = both(cut)
    assert near.result()["skipped"]["iterations"] > 20
    assert near.end_ps == full.end_ps
    assert max(differ.values()) <= ERROR


LATE = """[[job]]
name = "bully"
allocation = "random"
ranks = 32
start_us = {start}
until = "cg"
program = {{ kind = "pairs", pairing = "random", rounds = 2, messages = 8, bytes = 65536 }}
"""


def test_nothing_is_left_out_across_the_beginning_of_another_job(tmp_path):
    text = SOLVER.replace("m=8x4", "m=8x8").replace("ranks", 'allocation = "random"\nranks')
    alone = _core.simulate(read(tmp_path, text.format(iterations=60, more=""))).end_ps
    scenario = read(tmp_path, text.format(iterations=60, more=LATE.format(start=alone * 0.5e-6)))
    full, near, differ = both(scenario)
    # The bully is felt, so a leap over its beginning would be.
    assert full.end_ps > 1.02 * alone
    assert max(differ.values()) <= ERROR, near.result()["skipped"]


BEFORE = """name = "before"
fabric = "two-level:leaves=12,hosts=4,spines=4"
profile = "codes"
routes = ["updn"]
seed = 64
[[job]]
name = "first"
ranks = 16
allocation = "random"
program = { kind = "exchange", pattern = "shift:3", bytes = 8, iterations = 160, barrier_every = 3 }
[[job]]
name = "second"
ranks = 16
allocation = "random"
start_us = 94
program = { kind = "collective", collective = "allreduce", bytes = 8, iterations = 160 }
"""


def test_what_one_job_did_before_another_began_says_nothing_of_both(tmp_path):
    full, near, differ = both(read(tmp_path, BEFORE))
    assert near.result()["skipped"]["share"] > 0.5
    assert max(differ.values()) <= ERROR, near.result()["skipped"]
    # Each program does the same in each iteration, so its messages are known.
    messages = [[job["messages"] for job in run.result()["jobs"]] for run in (full, near)]
    assert messages[0] == messages[1]


@pytest.mark.parametrize("routing", ["ecmp:pairs=4", "random-per-packet"])
def test_draws_that_do_not_look_at_loads_are_left_out_too(tmp_path, routing):
    text = SOLVER.format(iterations=1000, more="").replace('"d-mod-k"', f'"{routing}"')
    full, near, differ = both(read(tmp_path, text))
    assert near.result()["skipped"]["how"] == "near"
    assert max(error for name, error in differ.items() if not name.startswith("p99")) <= ERROR
    assert all(full.result()[key] == near.result()[key] for key in ("messages", "bytes", "packets"))


GROUPS = """0 init
1 init
2 init
3 init
"""


def test_ranks_that_do_not_wait_for_each_other_are_not_left_behind(tmp_path):
    """Two pairs, one of which computes 1 % longer: what the first does says nothing of the second."""
    lines = "".join(
        f"{me} compute {10000 + 100 * (me // 2)}\n{me} irecv {me ^ 1} 7 999\n{me} send {me ^ 1} 7 999\n"
        f"{me} wait {me ^ 1} {me} 7\n"
        for _ in range(200)
        for me in range(4)
    )
    (tmp_path / "pairs.ti").write_text(GROUPS + lines + "".join(f"{me} finalize\n" for me in range(4)))
    text = 'fabric = "two-level:leaves=2,hosts=4,spines=1"\nroutes = ["ftree"]\n[[job]]\nname = "pairs"\n'
    text += 'ranks = 4\ntrace = "pairs.ti"\nflops_per_s = 1e9\n'
    full, near, differ = both(read(tmp_path, text), 0.001)
    assert near.result()["skipped"]["how"] != "near"
    assert full.end_ps == near.end_ps
    assert not any(differ.values())


BEAT = """name = "beat"
fabric = "two-level:leaves=2,hosts=4,spines=1"
routes = ["ftree"]
[[job]]
name = "one"
hosts = "host[0000,0004]"
program = { kind = "halo", shape = [2, 1, 1], face_bytes = 65536, iterations = 100, compute_us = 200 }
[[job]]
name = "other"
hosts = "host[0001,0005]"
program = { kind = "halo", shape = [2, 1, 1], face_bytes = 65536, iterations = 100, compute_us = 202 }
"""


def test_jobs_that_drift_into_each_other_are_not_leapt_over(tmp_path):
    """They meet on a link in some of their iterations, which do not begin before others could be left out."""
    full, near, differ = both(read(tmp_path, BEAT))
    alone = _core.simulate(read(tmp_path, BEAT[: BEAT.rindex("[[job]]")]))
    waits = [run.result()["jobs"][0]["message_latency_us"]["mean"] for run in (full, alone)]
    assert waits[0] > 1.02 * waits[1], "or they do not meet"
    assert max(differ.values()) <= ERROR, near.result()["skipped"]


def test_the_error_allowed_decides_how_much_is_left_out(tmp_path):
    scenario = read(tmp_path, SOLVER.format(iterations=1000, more=""))
    runs = [_core.simulate(scenario, skip_repeats=error).result()["skipped"] for error in (1e-9, 0.005)]
    assert runs[0]["how"] in (None, "exact")
    assert runs[1]["how"] == "near"
    assert runs[1]["iterations"] >= 200


def test_the_command_says_how_near(netloom, write):
    path = write("solver.toml", SOLVER.format(iterations=1000, more=""))
    found = netloom.result("simulate", path, "--skip-repeats", "0.005")["runs"][0]["skipped"]
    assert found["how"] == "near"
    told = netloom.ok("simulate", path, "--skip-repeats", "0.005")
    assert f"{found['iterations']} iterations of cg" in told
    assert f"error at most {100 * found['error']:.2g} %, {100 * found['seen']:.2g} % seen" in told


def longer(text):
    """The same with four times the iterations."""
    return re.sub(r"(iterations|rounds) = (6|12|25|40)\b", lambda at: f"{at[1]} = {4 * int(at[2])}", text)


def test_random_runs_are_within_the_error(tmp_path):
    """Against the full run; of a program alone, what it fixes is exact."""
    near, outside = 0, {}
    for seed in range(TRIALS):
        full, short, differ = both(read(tmp_path, longer(drawn(random.Random(seed)))))
        if short.result()["skipped"]["how"] != "near":
            assert not any(differ.values()), seed
            continue
        near += 1
        if len(full.result()["jobs"]) == 1:
            assert_fixed(full, short)
        outside |= {(seed, name): error for name, error in differ.items() if error > ERROR}
    print(f"{near} near, outside: {outside}")
    assert all(name.startswith("p99") for _, name in outside)
    assert len({seed for seed, _ in outside}) <= MOST_OUTSIDE * near + (near > 0)
