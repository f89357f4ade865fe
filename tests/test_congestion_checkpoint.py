"""A run with a congestion control that is stopped and taken up shows what it shows in one go."""

from __future__ import annotations

import pytest

from netloom import simulate_routings

VOLATILE = ("cpu_seconds", "packet_hops_per_cpu_second", "peak_memory_mb")

#: Long messages to several neighbours, each behind the question for the next one, and a bully.
SCENARIO = """name = "held back"
fabric = "two-level:leaves=4,hosts=4,spines=2"
profile = "infiniband"
routes = ["ftree"]
seed = {seed}
[congestion]
control = "{control}"
[[job]]
name = "solver"
ranks = 8
allocation = "random"
program = {{ kind = "halo", shape = [2, 2, 2], face_bytes = 50000, iterations = 60 }}
[[job]]
name = "bully"
ranks = 8
allocation = "random"
until = "solver"
program = {{ kind = "incast", messages = 8, bytes = 5000, iterations = 3 }}
"""


@pytest.mark.parametrize("control", ["qcn", "ib-cc", "dcqcn"])
def test_a_stopped_run_goes_on_as_if_it_had_not_been(tmp_path, control):
    def runs(**options):
        found = simulate_routings(tmp_path / "scenario.toml", threads=1, **options)["runs"]
        return [{key: value for key, value in run.items() if key not in VOLATILE} for run in found]

    stopped = 0
    for seed in range(3):
        (tmp_path / "scenario.toml").write_text(SCENARIO.format(seed=seed, control=control))
        kept = tmp_path / f"kept-{seed}"
        stopped += runs(checkpoint=kept, checkpoint_every=0, time_limit=0.02)[0]["stopped"] == "time-limit"
        assert runs(checkpoint=kept) == runs(), seed
    assert stopped, "or nothing was taken up"
