"""What a sweep's summary is worth: how often its intervals cover the truth, and what it is grouped by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from netloom.sweeps import spec, summary


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_intervals_cover_the_truth_in_93_to_97_of_100_synthetic_sweeps(kind, n):
    """1,000 sweeps of 10 or 30 seeds. Skewed: gamma of shape 4, skewness 1, as completion times are."""
    rng = np.random.default_rng(20 + n)
    covered = 0
    for number in range(1000):
        sample = rng.normal(3.0, 0.5, n) if kind == "normal" else rng.gamma(4.0, 0.75, n)
        low, high = summary.interval(sample.tolist(), [1, number])
        covered += low <= 3.0 <= high
    assert 930 <= covered <= 970


def test_percentiles_of_resampled_means_would_cover_less():
    """Why it is the bootstrap-t: plain percentiles cover 90 % where 95 are promised."""
    rng = np.random.default_rng(30)
    covered = 0
    for _ in range(1000):
        sample = rng.normal(3.0, 0.5, 10)
        means = sample[rng.integers(0, 10, (1000, 10))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        covered += low <= 3.0 <= high
    assert covered < 930


def test_an_interval_depends_on_values_and_seed_not_on_their_order():
    values = [1.0, 2.0, 4.0, 8.0, 16.0, 3.0]
    assert summary.interval(values, [1]) == summary.interval(values[::-1], [1])
    assert summary.interval(values, [1]) != summary.interval(values, [2])
    assert summary.interval(values[:4], [1]) is None
    assert summary.interval([2.0] * 9, [1]) == (2.0, 2.0)


ROWS = {
    "x": [1, 1, 1, 2, 2, 3],
    "run": ["a", "a", "b", "c", "d", "e"],
    "seed": [1, 1, 2, 1, 2, 1],
    "routing": ["r"] * 6,
    "job": ["j", "k", None, "j", "j", None],
    "stopped": [None] * 6,
    "ranks": [4, 2, None, 8, 16, None],
    "error": [None, None, "bad", None, None, "worse"],
}


def told(by: str) -> list[dict[str, object]]:
    text = f'scenario = "s"\nkeep = ["ranks"]\n{by}\n'
    text += 'over = { x = [1, 2, 3], seed = [1, 2], routes = ["r"] }\n'
    table = pa.table({key: pa.array(column, None) for key, column in ROWS.items()})
    return summary.groups(table, spec.parse(text, Path("s.toml")), 0)


def test_groups_are_all_that_varies_but_the_seed_and_failed_runs_count_in_none_of_the_values():
    found = [(list(one["by"].values()), one["runs"], one["failed"]) for one in told("")]
    assert found == [
        ([1, "r", "j"], 1, 1),
        ([1, "r", "k"], 1, 1),
        ([2, "r", "j"], 2, 0),
        ([3, "r", None], 0, 1),
    ]
    assert [one["values"]["ranks"]["mean"] for one in told("")] == [4.0, 2.0, 12.0, None]
    assert told("")[2]["values"]["ranks"] == {"n": 2, "mean": 12.0, "median": 12.0, "low": None, "high": None}


def test_groups_are_what_by_says():
    (one,) = told('by = ["routing"]')
    assert (one["by"], one["runs"], one["failed"]) == ({"routing": "r"}, 3, 2)
    assert one["values"]["ranks"]["mean"] == 7.5
