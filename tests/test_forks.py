"""Forks: a child of a process that has computed computes too, and gets what its parent got."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import pytest

import netloom as nl

FABRIC = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
TRAFFIC = nl.Traffic.pattern("bisection-shuffle:seed=1", 32)
SCENARIO = nl.Scenario.from_dict(
    {
        "fabric": "two-level:leaves=4,hosts=4,spines=4",
        "routes": ["ftree"],
        "job": [{"name": "a", "program": {"kind": "all-to-all", "bytes": 4096}}],
    }
)
COUNTERS = nl.synth_counters(FABRIC, "ftree", TRAFFIC)

CALLS: dict[str, Callable[[], object]] = {
    "loads": lambda: nl.loads(FABRIC, "ftree", TRAFFIC).max,
    "route": lambda: nl.route("ftree", FABRIC).table().tobytes(),
    "check": lambda: nl.check(FABRIC, nl.route("updn", FABRIC)).ok,
    "optimize": lambda: nl.optimize(FABRIC, TRAFFIC, work=20).loads.max,
    "layers": lambda: nl.optimize_layers(FABRIC, [("a", TRAFFIC, 1.0)], work=20).objective,
    "infer": lambda: nl.infer(FABRIC, "ftree", COUNTERS).traffic.total_bytes,
    "simulate": lambda: nl.simulate(SCENARIO, "ftree").result()["simulated_ms"],
}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks of Linux")


def in_a_fork(call: Callable[[], object]) -> str:
    """What a call says in a child; kills one that hangs."""
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(here, repr(call()).encode()[:4096])
        os._exit(0)
    os.close(here)
    deadline = time.monotonic() + 60
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hangs"
        time.sleep(0.01)
    with os.fdopen(there, "rb") as pipe:
        return pipe.read().decode()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("before", CALLS)
def test_a_child_computes_what_its_parent_does(before):
    CALLS[before]()
    for name, call in CALLS.items():
        assert in_a_fork(call) == repr(call())[:4096], name


def largest(seed: int) -> float:
    return float(nl.loads(FABRIC, "ftree", nl.Traffic.pattern(f"permutation:seed={seed}", 32)).max)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_pools_of_processes_compute(start):
    expected = [largest(seed) for seed in range(6)]
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(largest, range(6), timeout=120)) == expected


def test_joblib_hands_out_calls_and_brings_their_results_back():
    joblib = pytest.importorskip("joblib")
    calls = [joblib.delayed(nl.optimize)(FABRIC, TRAFFIC, work=20, seed=seed) for seed in range(2)]
    found = joblib.Parallel(n_jobs=2)(calls)
    for seed, result in enumerate(found):
        assert result.routes == nl.optimize(FABRIC, TRAFFIC, work=20, seed=seed).routes
    # What `joblib.Memory` knows calls by: equal nouns are one.
    again = nl.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
    assert joblib.hash(again) == joblib.hash(FABRIC)
    assert joblib.hash(TRAFFIC) != joblib.hash(2 * TRAFFIC)
