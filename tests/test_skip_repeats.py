"""`simulate --skip-repeats`: the result is that of the full run, to the byte, whatever is skipped."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pytest

from netloom import ArgumentError, _core, simulate_routings

TRIALS = int(os.environ.get("NETLOOM_TRIALS", "10"))
VOLATILE = ("cpu_seconds", "packet_hops_per_cpu_second", "skipped")

HALO = """name = "halo"
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree"]
[[job]]
name = "solver"
program = {{ kind = "halo", shape = [4, 4, 2], face_bytes = 8192, iterations = {iterations}, compute_us = 5 }}
{more}
"""


def both(scenario, word=None):
    """A run in full and one that skips: the latter's account, after comparing all else that a run tells."""
    word = word or scenario.routings[0]
    full, short = (_core.simulate(scenario, word, skip_repeats=skip) for skip in (None, 0.0))
    told = [{k: v for k, v in run.result().items() if k not in VOLATILE} for run in (full, short)]
    assert json.dumps(told[0]) == json.dumps(told[1])
    for of in ("counters", "ranks"):
        one, other = (getattr(run, of)() for run in (full, short))
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[key], other[key]) for key in one), of
    assert str(full.histograms()) == str(short.histograms())
    assert "skipped" not in full.result()
    return short.result()["skipped"]


def read(tmp_path, text, overrides=()):
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    return _core.Scenario.read(str(path), list(overrides))


def test_a_solver_is_simulated_for_a_few_iterations(tmp_path):
    found = both(read(tmp_path, HALO.format(iterations=100, more="")))
    assert found["reason"] is None
    assert (found["job"], found["period_iterations"]) == ("solver", 1)
    assert found["from_iteration"] <= 5
    assert found["iterations"] >= 90
    # An iteration of the steady part takes as long as the last ten do, which are in the run of ten more.
    ends = [_core.simulate(read(tmp_path, HALO.format(iterations=n, more=""))).end_ps for n in (100, 110)]
    assert found["period_ms"] == pytest.approx((ends[1] - ends[0]) / 10 * 1e-9, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        (HALO.format(iterations=20, more=""), "ecmp:pairs=4", "the routing can choose packet by packet"),
        (HALO.format(iterations=20, more=""), "adaptive", "the routing can choose packet by packet"),
        (HALO.format(iterations=2, more=""), None, "no program does the same again and again"),
        (
            HALO.format(iterations=20, more="[measure]\ncounters_every_us = 10\n"),
            None,
            "something is recorded",
        ),
        (
            HALO.format(iterations=20, more="[measure]\ntrace = { from_us = 0, to_us = 5 }\n"),
            None,
            "packets are watched",
        ),
    ],
)
def test_what_cannot_be_skipped_is_run_and_says_why(tmp_path, text, word, reason):
    found = both(read(tmp_path, text), word)
    assert found["reason"].startswith(reason)
    assert (found["iterations"], found["share"], found["job"]) == (0, 0, None)


def test_flows_are_not_skipped(tmp_path):
    scenario = read(tmp_path, HALO.format(iterations=20, more=""))
    ran = _core.simulate(scenario, model="fluid", skip_repeats=0.0)
    assert ran.result()["skipped"]["reason"] == "flows, not packets, are simulated"


def test_the_run_ends_at_its_time_in_the_middle_of_a_repeat(tmp_path):
    text = HALO.format(iterations=100, more="")
    whole = _core.simulate(read(tmp_path, text)).end_ps
    for part in (0.31, 0.5, 0.777):
        cut = read(tmp_path, text, [f"max_time_ms={whole * part * 1e-9}"])
        assert both(cut)["iterations"] > 20


def test_the_command_tells_what_it_skipped(netloom, write):
    path = write("halo.toml", HALO.format(iterations=100, more=""))
    full, short = (
        netloom.result("simulate", path, *more)["runs"][0] for more in ([], ["--skip-repeats", "0"])
    )
    assert short["skipped"]["iterations"] >= 90
    assert [{**job, "ratio": 1.0} for job in short["jobs"]] == full["jobs"]
    assert "iterations of solver" in netloom.ok("simulate", path, "--skip-repeats", "0")
    assert "--skip-repeats 1: expected a share below 1" in netloom.refused(
        "simulate", path, "--skip-repeats", "1", code=2
    )


def test_the_library_skips_too(tmp_path):
    path = tmp_path / "halo.toml"
    path.write_text(HALO.format(iterations=100, more=""))
    assert simulate_routings(path, skip_repeats=0.0)["runs"][0]["skipped"]["iterations"] >= 90
    with pytest.raises(ArgumentError, match="checkpoint"):
        simulate_routings(path, skip_repeats=0.0, checkpoint=tmp_path / "kept")
    for wrong in (True, 1.0, -0.1, float("nan")):
        with pytest.raises(ArgumentError, match="skip_repeats: expected a share, 0 to below 1"):
            simulate_routings(path, skip_repeats=wrong)


SIDE_BY_SIDE = """name = "pair"
fabric = "two-level:leaves=8,hosts=4,spines=4"
profile = "{profile}"
routes = ["ftree"]
{more}
"""


def beside(*jobs: str, profile: str = "infiniband", more: str = "") -> str:
    """Jobs of four ranks each, one after another in the fabric."""
    text = SIDE_BY_SIDE.format(profile=profile, more=more)
    for number, job in enumerate(jobs):
        text += f'[[job]]\nname = "j{number}"\nranks = 4\n{job}\n'
    return text


@pytest.mark.parametrize("profile", ["codes", "infiniband"])
@pytest.mark.parametrize(
    "program",
    [
        'kind = "halo", shape = [4, 1, 1], face_bytes = 700, iterations = 60',
        'kind = "ping-pong", bytes = 700, iterations = 60',
        'kind = "stencil", shape = [2, 2, 1], bytes = 700, messages = 2, iterations = 60',
        'kind = "exchange", pattern = "shift:1", bytes = 700, iterations = 60',
    ],
)
def test_ranks_that_do_not_pause_between_iterations_repeat_too(tmp_path, profile, program):
    """Calls take no time, and nothing is computed: a rank is at the end of an iteration when it begins it."""
    text = beside(f"program = {{ {program} }}", profile=profile, more="[software]\ncall_ns = 0\n")
    found = both(read(tmp_path, text))
    assert found["iterations"] >= 45, found


def test_a_job_repeats_until_another_begins_and_after_that(tmp_path):
    halo = 'kind = "halo", shape = [2, 2, 1], face_bytes = 5000, iterations = {n}, compute_us = 5'
    first, second = (f"program = {{ {halo.format(n=n)} }}" for n in (400, 100))
    alone = _core.simulate(read(tmp_path, beside(first))).end_ps
    for share in (0.5, 0.9):
        late = f"start_us = {alone * share * 1e-6}\n{second}"
        found = both(read(tmp_path, beside(first, late)))
        # Simulated are the beginning, some iterations beside the other job, and some after it.
        assert (found["job"], found["reason"]) == ("j0", None)
        assert found["iterations"] >= 340, found


def test_iterations_of_a_job_that_goes_on_alone_are_its_own(tmp_path):
    halo = 'kind = "halo", shape = [2, 2, 1], face_bytes = 5000, iterations = {n}, compute_us = 5'
    found = both(read(tmp_path, beside(*(f"program = {{ {halo.format(n=n)} }}" for n in (50, 500)))))
    assert found["job"] == "j0"
    assert 30 <= found["iterations"] <= 50
    assert found["share"] > 0.9


@pytest.mark.parametrize("ratio", [(2, 5), (3, 5), (5, 7), (4, 7), (7, 5), (5, 2), (7, 8)])
def test_jobs_whose_iterations_are_in_a_ratio(tmp_path, ratio):
    halo = 'kind = "halo", shape = [2, 2, 1], face_bytes = 500, iterations = {n}, compute_us = {us}'
    job = f"program = {{ {halo.format(n=20, us=10)} }}"
    exchange_us = both(read(tmp_path, beside(job)))["period_ms"] * 1e3 - 10
    jobs = (f"program = {{ {halo.format(n=600 // k, us=round(10 * k - exchange_us, 6))} }}" for k in ratio)
    found = both(read(tmp_path, beside(*jobs)))
    assert found["period_iterations"] == ratio[1]
    assert found["share"] > 0.6, found


def test_csv_has_a_note_of_what_was_skipped(netloom, write):
    path = write("halo.toml", HALO.format(iterations=100, more=""))
    ran = netloom("simulate", path, "--skip-repeats", "0", "--format", "csv")
    assert "note: skipped: ftree: 95 iterations of solver" in ran.err
    assert "skipped" not in ran.out


def drawn(rng: random.Random) -> str:
    """One or two programs that iterate, some of which drift, perhaps beside one that starts over."""
    size = rng.choice([1, 8, 700, 2048, 5000, 16384, 40000])
    times = rng.choice([6, 12, 25, 40])
    compute = rng.choice([0, 1, 5, 50])
    programs = [
        f'kind = "halo", shape = [4, 2, 2], face_bytes = {size}, iterations = {times}, '
        f"compute_us = {compute}",
        f'kind = "stencil", shape = [4, 2, 2], bytes = {size}, messages = 2, iterations = {times}',
        *(
            f'kind = "collective", collective = "{kind}", bytes = {size}, iterations = {times}'
            for kind in ("allreduce", "alltoall", "barrier", "bcast", "allgather")
        ),
        f'kind = "ping-pong", bytes = {size}, iterations = {times}',
        f'kind = "sweep", columns = 4, rows = 4, bytes = {size}, blocks = 3, iterations = {times}',
        f'kind = "all-to-all", bytes = {size}, iterations = {times}',
        f'kind = "incast", bytes = {size}, messages = 2, iterations = {times}',
        f'kind = "permutation", bytes = {size}, rounds = {times}',
        f'kind = "exchange", pattern = "shift:3", bytes = {size}, iterations = {times}, barrier_every = 3',
        f'kind = "minighost", shape = [4, 2, 2], variables = 2, face_bytes = {size}, iterations = {times}, '
        f"compute_us = {compute}, noise = {rng.choice([0, 0.1])}, noise_us = 3",
    ]
    text = 'name = "drawn"\nfabric = "two-level:leaves=12,hosts=4,spines=4"\n'
    text += f'profile = "{rng.choice(["codes", "infiniband"])}"\n'
    text += f'routes = ["{rng.choice(["ftree", "minhop", "updn", "ftree", "ftree", "random"])}"]\n'
    text += f"seed = {rng.randrange(100)}\n" + rng.choice(["", "", "[hardware]\nlanes = 2\n"])
    text += rng.choice(["", "", "[software]\neager_bytes = 4096\n", "[software]\ncall_ns = 0\n"])
    for job in range(rng.choice([1, 1, 2])):
        text += f'[[job]]\nname = "j{job}"\nranks = 16\nallocation = "random"\n'
        text += rng.choice(["", "", f"start_us = {rng.randrange(300)}\n"])
        text += f"program = {{ {rng.choice(programs)} }}\n"
    if rng.random() < 0.25:
        text += '[[job]]\nname = "bully"\nranks = 16\nallocation = "random"\nuntil = "j0"\n'
        text += 'program = { kind = "pairs", rounds = 2, messages = 5, bytes = 20000 }\n'
    return text


def test_hostile_scenarios_are_as_in_the_full_run(tmp_path):
    skipped = 0
    for seed in range(TRIALS):
        print(f"seed {seed}")
        skipped += both(read(tmp_path, drawn(random.Random(seed))))["iterations"] > 0
    assert skipped >= TRIALS // 10, "or nothing was tried"
