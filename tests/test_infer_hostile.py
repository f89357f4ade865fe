"""What `infer` says of spoilt counters; `NETLOOM_TRIALS` asks for more cases than usual."""

from __future__ import annotations

import os

import pytest

import spoilt

USUAL = 33


def cases(usual: int) -> int:
    return int(os.environ.get("NETLOOM_TRIALS", usual))


def test_hostile_nothing_spoilt_is_called_identified():
    """Three seeds of each kind that were looked at while it was made; `make hostile` looks at others."""
    found = spoilt.judged(cases(USUAL), first=1000)
    lies = [one for one in found if one.is_lie]
    # Two in a thousand are known (docs/methods/inference.md, "Spoilt counters"); of these few none.
    assert len(lies) <= len(found) // 200, lies
    answers = [one for one in found if one.verdict != "refused"]
    told = sum(one.is_told for one in answers)
    assert told >= 0.6 * len(answers), spoilt.table(found)


@pytest.mark.parametrize("skew", [0.0, 0.5, 2.0])
def test_hostile_pairs_of_readings_are_taken(skew):
    """Ports read up to so many seconds apart in ten: right routes and jobs are never refused."""
    for seed in range(max(1, cases(3) // 3)):
        case = spoilt.build(seed, "none")
        seconds = 10.0
        counters = spoilt._core.synth_counters(
            case.fabric, case.routes, case.truth, seconds=seconds, skew=skew / seconds, seed=seed
        )
        found = spoilt._core.infer(case.fabric, case.routes, counters, case.jobs, threads=1)
        assert found.summary()["scope"]["unexplained"] < 0.004, case.text
