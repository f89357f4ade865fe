"""What a sweep's summary is worth: how often its intervals cover the truth, and what it is grouped by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from netloom import intervals
from netloom.sweeps import spec, summary


def interval(values, number: int = 0) -> tuple[float, float]:
    low, high, reason = intervals.mean(values, [1, number])
    assert reason is None
    return low, high


@pytest.mark.parametrize("n", [10, 30])
@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_intervals_cover_the_truth_in_93_to_97_of_100_synthetic_sweeps(kind, n):
    """1,000 sweeps of 10 or 30 seeds. Skewed: gamma of shape 4, skewness 1, as completion times are."""
    rng = np.random.default_rng(20 + n)
    covered = 0
    for number in range(1000):
        sample = rng.normal(3.0, 0.5, n) if kind == "normal" else rng.gamma(4.0, 0.75, n)
        low, high = interval(sample.tolist(), number)
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
    values = [1.0, 2.0, 4.0, 8.0, 16.0, 3.0, 5.0, 7.0, 9.0, 6.0]
    assert interval(values) == interval(values[::-1])
    assert interval(values) != interval(values, 2)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1.0, 2.0, 4.0, 8.0], "few"),
        ([2.0] * 9, "equal"),
        ([2.0] * 9 + [3.0] * 5 + [4.0], "equal"),
        ([2.0] * 9 + [3.0] * 9, "two-valued"),
    ],
)
def test_where_no_interval_is_true_it_says_why(values, reason):
    assert intervals.mean(values, [1]) == (None, None, reason)


def test_few_draws_have_at_least_student_s_interval():
    """SciPy's quantiles, on the logarithm of positive numbers; straight around 0."""
    t = pytest.importorskip("scipy.stats").t
    rng = np.random.default_rng(4)
    for n in range(5, 10):
        for shift in (0.0, 10.0):
            sample = rng.normal(shift, 1.0, n)
            low, high = interval(sample)
            mean, error = sample.mean(), sample.std(ddof=1) / n**0.5 * t.ppf(0.975, n - 1)
            if shift:
                student = mean * np.exp(-error / mean), mean * np.exp(error / mean)
            else:
                student = mean - error, mean + error
            assert low <= student[0] + 1e-6
            assert high >= student[1] - 1e-6


def test_many_draws_have_the_normal_interval():
    sample = np.random.default_rng(6).normal(0.0, 1.0, 6000)
    error = 1.959964 * sample.std(ddof=1) / 6000**0.5
    assert interval(sample) == pytest.approx((sample.mean() - error, sample.mean() + error))
    low, high = interval(sample[:5000])
    assert high - low == pytest.approx(2.0 * error, rel=0.25)


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
        # A run that failed names no job: it is counted in those that others have.
        ([3, "r", "j"], 0, 1),
        ([3, "r", "k"], 0, 1),
    ]
    assert [one["values"]["ranks"]["mean"] for one in told("")] == [4.0, 2.0, 12.0, None, None]
    assert told("")[2]["values"]["ranks"] == {
        "n": 2,
        "draws": 2,
        "cluster": None,
        "mean": 12.0,
        "median": 12.0,
        "low": None,
        "high": None,
        "no_interval": "few",
    }


def test_groups_are_what_by_says():
    (one,) = told('by = ["routing"]')
    assert (one["by"], one["runs"], one["failed"]) == ({"routing": "r"}, 3, 2)
    assert one["values"]["ranks"]["mean"] == 7.5


def drawn(text: str, values: dict[tuple[int, int], float]) -> dict[str, object]:
    """The one value of a sweep of patterns and seeds."""
    over = 'over = { pattern = "0..4", seed = "0..3", routes = ["r"] }'
    found = spec.parse(f'scenario = "s"\nkeep = ["completion_ms"]\n{text}\n{over}\n', Path("s.toml"))
    columns = {"pattern": [p for p, _ in values], "seed": [s for _, s in values]}
    columns |= {"run": list(map(str, range(20))), "completion_ms": list(values.values())}
    columns |= {"routing": ["r"] * 20, "job": ["j"] * 20}
    table = pa.table({**columns, "error": pa.array([None] * 20, pa.string())})
    (group,) = summary.groups(table, found, 0)
    return group["values"]["completion_ms"]


@pytest.mark.parametrize(
    ("text", "of", "cluster", "draws"),
    [
        ("", lambda p, s: 1.0 + p, ["pattern"], 5),
        ("", lambda p, s: 1.0 + s / 10.0, ["seed"], 4),
        ("", lambda p, s: 1.0 + p + s / 10.0, ["pattern"], 5),
        ('cluster = ["seed"]', lambda p, s: 1.0 + p + s / 10.0, ["seed"], 4),
        ('cluster = ["pattern", "seed"]', lambda p, s: 1.0 + p + s / 10.0, None, 20),
    ],
)
def test_what_by_leaves_out_makes_draws_and_cluster_says_otherwise(text, of, cluster, draws):
    by = f'by = ["routing"]\n{text}'
    found = drawn(by, {(p, s): of(p, s) for p in range(5) for s in range(4)})
    assert (found["cluster"], found["draws"], found["n"]) == (cluster, draws, 20)
    assert found["no_interval"] == (None if draws >= 5 else "few")


def test_values_that_nothing_changes_have_no_interval():
    found = drawn('by = ["routing"]', {(p, s): 2.0 for p in range(5) for s in range(4)})
    assert (found["mean"], found["low"], found["no_interval"]) == (2.0, None, "equal")


def test_a_sweep_says_its_draws_and_why_a_mean_has_no_interval(netloom):
    """Five patterns, each with four seeds that change nothing: five draws, not twenty."""
    (netloom.folder / "scenario.toml").write_text(
        'fabric = "two-level:leaves=4,hosts=4,spines=2"\nroutes = ["ftree"]\n[[job]]\n'
        'program = { kind = "stream", pattern = "bisection-shuffle", messages = 1, bytes = "8KiB" }\n'
    )
    sweep = (
        'scenario = "scenario.toml"\nkeep = ["completion_ms", "messages"]\nby = ["routing"]\n[over]\n'
        '"job.job1.program.pattern" = "bisection-shuffle:seed={1..5}"\nseed = "0..3"\n'
    )
    (netloom.folder / "sweep.toml").write_text(sweep)
    text = netloom.ok("sweep", "run", "sweep.toml", "-o", "swept")
    assert "draws" in text
    assert "5: runs that agree in job.job1.program.pattern are one (completion_ms of ftree)\n" in text
    (group,) = netloom.result("sweep", "run", "sweep.toml", "-o", "swept")["groups"]
    value = group["values"]["completion_ms"]
    assert (value["n"], value["draws"], value["cluster"]) == (20, 5, ["job.job1.program.pattern"])
    assert group["values"]["messages"]["no_interval"] == "equal"
    assert "no interval  1 of 2 means: all values, or more than half, are equal" in text
    wrong = sweep.replace('by = ["routing"]', 'cluster = ["sed"]')
    (netloom.folder / "sweep.toml").write_text(wrong)
    word = netloom.refused("sweep", "run", "sweep.toml", "-o", "x")
    assert 'sweep.toml:3: cluster: nothing varies "sed", did you mean "seed"?' in word
