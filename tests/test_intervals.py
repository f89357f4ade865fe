"""How often an interval covers the truth: samples of known means, through a sweep's summary.

Independent of how intervals are made: only numbers go in, and low and high come out. Seeds, distributions and
sizes were chosen before the code. `NETLOOM_TRIALS=2000` for the whole campaign.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from netloom.intervals import FEW
from netloom.sweeps import spec, summary

TRIALS = int(os.environ.get("NETLOOM_TRIALS", "100"))
SEED = 780_078
SIZES = (5, 10, 30)
LEAST, MOST = 0.90, 0.99

DRAWS = {
    "normal": (lambda rng, size: rng.normal(10.0, 1.0, size), 10.0),
    "normal-around-0": (lambda rng, size: rng.normal(0.0, 1.0, size), 0.0),
    "log-normal": (lambda rng, size: rng.lognormal(0.0, 0.5, size), math.exp(0.125)),
    "log-normal-wide": (lambda rng, size: rng.lognormal(0.0, 1.0, size), math.exp(0.5)),
    "two-valued": (lambda rng, size: np.where(rng.random(size) < 0.1, 2.0, 1.0), 1.1),
    "pareto": (lambda rng, size: 1.0 + rng.pareto(2.5, size), 2.5 / 1.5),
}
"""How samples are drawn, and the mean."""


def values_of(sample: np.ndarray, over: dict[str, np.ndarray], more: str = "") -> list[dict[str, object]]:
    """The summary of samples, one a group `x`, each value with its keys; `more` lines of the sweep."""
    trials = sample.shape[0]
    each = int(sample[0].size)
    columns = {"x": np.repeat(np.arange(trials), each)}
    columns |= {key: np.tile(value.ravel(), trials) for key, value in over.items()}
    columns |= {"completion_ms": sample.ravel()}
    rows = trials * each
    table = pa.table(
        {
            **{key: pa.array(column) for key, column in columns.items()},
            "run": pa.array([str(number) for number in range(rows)]),
            "routing": pa.array(["r"] * rows),
            "job": pa.array(["j"] * rows),
            "error": pa.array([None] * rows, pa.string()),
        }
    )
    ranges = "".join(f'{key} = "0..{int(value.max())}"\n' for key, value in over.items())
    text = f'scenario = "s"\nkeep = ["completion_ms"]\nby = ["x"]\n{more}\n'
    text += f'[over]\nx = "0..{trials - 1}"\n{ranges}'
    parsed = spec.parse(text + 'routes = ["r"]\n', Path("s.toml"))
    return [group["values"]["completion_ms"] for group in summary.groups(table, parsed, 1)]


def covered(found: list[dict[str, object]], truth: float) -> tuple[int, int]:
    """How many intervals there are, and how many of them hold the truth."""
    given = [one for one in found if one["low"] is not None]
    return len(given), sum(one["low"] <= truth <= one["high"] for one in given)


def within(given: int, held: int) -> bool:
    """Whether a share is from 90 to 99 %, as far as so many samples tell (three standard errors)."""
    slack = [3.0 * math.sqrt(share * (1.0 - share) / given) for share in (LEAST, MOST)]
    return LEAST - slack[0] <= held / given <= min(1.0, MOST + slack[1])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", DRAWS)
def test_hostile_samples_intervals_cover_the_mean_or_are_not_given(kind, size):
    draw, truth = DRAWS[kind]
    rng = np.random.default_rng([SEED, list(DRAWS).index(kind), size])
    found = values_of(draw(rng, (TRIALS, size)), {"seed": np.arange(size)})
    given, held = covered(found, truth)
    if kind == "two-valued":
        assert given == 0
        return
    assert {one["no_interval"] for one in found} <= {None, "too-few"}
    assert given >= TRIALS * (1.0 if kind == "normal" else 0.85 if size >= FEW else 0.35)
    assert within(given, held), f"{held} of {given}"


@pytest.mark.parametrize("within_cells", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("kind", ["normal", "log-normal"])
def test_hostile_repetitions_in_five_cells_are_five_draws(kind, within_cells):
    """5 patterns x 40 seeds: the seeds change nothing, little, or more than the patterns do."""
    draw, truth = DRAWS[kind]
    rng = np.random.default_rng([SEED, 40, round(10 * within_cells), kind == "normal"])
    cells = draw(rng, (TRIALS, 5, 1))
    noise = rng.normal(0.0, within_cells, (TRIALS, 5, 40)) if within_cells else np.zeros((TRIALS, 5, 40))
    over = {"pattern": np.repeat(np.arange(5)[:, None], 40, axis=1), "seed": np.tile(np.arange(40), (5, 1))}
    found = values_of(cells + noise, over)
    given, held = covered(found, truth)
    assert {one["no_interval"] for one in found} <= {None, "too-few"}
    assert given >= (0.99 if kind == "normal" else 0.75) * TRIALS
    assert within(given, held), f"{held} of {given}"


def test_hostile_times_around_a_fifth_of_a_millisecond_never_have_negative_bounds():
    """Six times of 0.18 to 0.26 ms had an interval from -0.24 to 0.27."""
    rng = np.random.default_rng([SEED, 6])
    near = 0.26 + rng.normal(0.0, 0.0003, (TRIALS, 6))
    near[:, 0] = 0.18
    for sample in (near, rng.uniform(0.18, 0.26, (TRIALS, 6))):
        found = values_of(sample, {"seed": np.arange(6)})
        assert min(one["low"] for one in found) > 0.1
        assert max(one["high"] for one in found) < 1.0


@pytest.mark.parametrize("size", [5, 6, 9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_bound_is_beyond_ten_times_the_largest_value(size, sign):
    """Five exponential values had intervals such as [0.001, 1e10]; three-valued ones covered always."""
    rng = np.random.default_rng([SEED, 10, size])
    sample = sign * rng.exponential(1.0, (TRIALS, size))
    found = values_of(sample, {"seed": np.arange(size)})
    largest = np.abs(sample).max(axis=1)
    for one, most in zip(found, largest, strict=True):
        assert one["no_interval"] in (None, "too-few")
        assert one["low"] is None or max(-one["low"], one["high"]) <= 10.0 * most
    three = rng.permuted(np.tile([1.0, 2.0, 3.0] * 3, (TRIALS, 1)), axis=1)[:, :size]
    three = values_of(three, {"seed": np.arange(size)})
    assert all(one["no_interval"] in ("equal", "two-valued", "three-valued") for one in three)


CELLS = {"pattern": np.repeat(np.arange(5)[:, None], 8, axis=1), "delay": np.tile(np.arange(8), (5, 1))}


@pytest.mark.parametrize("spread", [1e-9, 0.2, 1.0])
def test_patterns_by_delays_have_no_interval_unless_cluster_says_what_is_drawn(spread):
    """Taken as forty draws, intervals covered 40 to 67 %."""
    rng = np.random.default_rng([SEED, 5, 8])
    sample = 10.0 + rng.normal(0.0, 1.0, (TRIALS, 5, 1)) + rng.normal(0.0, spread, (TRIALS, 1, 8))
    found = values_of(sample, CELLS)
    assert {(one["low"], one["no_interval"], one["draws"]) for one in found} == {(None, "several", None)}
    named = values_of(sample, CELLS, 'cluster = ["pattern"]')
    assert {one["draws"] for one in named} == {5}
    assert all(one["low"] is not None for one in named)


def test_delays_that_change_nothing_leave_patterns_as_draws():
    rng = np.random.default_rng([SEED, 5])
    found = values_of(10.0 + rng.normal(0.0, 1.0, (TRIALS, 5, 1)) + np.zeros((1, 1, 8)), CELLS)
    assert {(one["draws"], one["no_interval"]) for one in found} == {(5, None)}


def test_patterns_within_sizes_have_no_interval():
    """Nested: of ten patterns five each have a size."""
    keys = {"size": np.repeat(np.arange(2), 5), "pattern": np.arange(10)}
    found = values_of(np.random.default_rng([SEED, 9]).normal(10.0, 1.0, (TRIALS, 10)), keys)
    assert {one["no_interval"] for one in found} == {"several"}
    side_by_side = {"size": np.arange(10), "pattern": np.arange(10), "seed": np.arange(10)}
    found = values_of(np.random.default_rng([SEED, 9]).normal(10.0, 1.0, (TRIALS, 10)), side_by_side)
    assert {one["draws"] for one in found} == {10}
