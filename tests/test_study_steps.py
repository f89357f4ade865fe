"""`netloom study steps`: features of counters, folds of whole runs, what the command tells."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netloom as nl
from netloom.studies.afar import regression, steps
from netloom.studies.afar.regression import Samples

SMALL = "two-level:leaves=6,hosts=8,spines=2"


def test_a_low_rank_matrix_and_few_outliers_are_told_apart():
    rng = np.random.default_rng(1)
    low = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 40))
    sparse = np.where(rng.random((80, 40)) < 0.05, rng.choice([-10.0, 10.0], (80, 40)), 0.0)
    found_low, found_sparse = regression.split(low + sparse)
    assert np.abs(found_low - low).max() < 1e-3
    assert np.abs(found_sparse - sparse).max() < 1e-3


def test_features_are_sum_mean_and_maximum_of_a_steps_part_of_each_interval():
    # Links 2 and 5 leave the job's switches, link 3 does not; two intervals of 10 s; steps end at 15 and 20.
    counted = {
        "start_s": np.array([0.0, 10.0, 10.0, 0.0]),
        "end_s": np.array([10.0, 20.0, 20.0, 10.0]),
        "link": np.array([2, 2, 5, 3]),
        "lane": np.array([0, 0, 1, 0]),
        "xmit_bytes": np.array([100.0, 40.0, 8.0, 999.0]),
        "wait_s": np.array([0.0, 2.0, 0.0, 9.0]),
    }
    found = regression.features(counted, np.array([2, 5]), np.array([15.0, 20.0]), 2)
    # By lane, then bytes and waiting: the first step has all of the first interval and half of the second.
    assert found[0].tolist() == [120, 60, 120, 4, 2, 4, 1, 0.5, 1, 0, 0, 0]
    assert found[1].tolist() == [20, 10, 20, 4, 2, 4, 1, 0.5, 1, 0, 0, 0]


def test_folds_are_of_whole_runs():
    runs = np.repeat(np.arange(23), 5)
    fold = regression.folds(runs, 10, 3)
    of_run = fold.reshape(23, 5)
    assert (of_run == of_run[:, :1]).all()
    assert sorted(np.bincount(of_run[:, 0])) == [2] * 7 + [3] * 3
    with pytest.raises(nl.ArgumentError, match="9 runs: expected at least 10, one for each fold"):
        regression.folds(np.arange(9), 10, 3)


def test_a_run_is_judged_by_a_model_that_has_not_seen_it():
    pytest.importorskip("sklearn")
    # Every run's features name it, and its time is its own: who had seen it would tell it.
    rng = np.random.default_rng(4)
    run = np.repeat(np.arange(20), 3)
    own = rng.uniform(1, 5, 20)[run]
    features = np.eye(20)[run] + rng.normal(0, 1e-3, (60, 20))
    found = regression.predict(Samples(run, own, features), count=5)
    assert np.mean((found.by["X"] - found.relative) ** 2) > 0.5 * np.var(found.relative)
    # And where a feature tells the time, it is told.
    told = regression.predict(Samples(run, own, np.column_stack([own, rng.random(60)])), count=5)
    assert told.errors(told.by["X"]).mean() < 0.2 * told.errors(told.mean).mean()


def test_steps_end_one_after_another_and_make_up_the_run():
    fabric = nl.Fabric.generate(SMALL)
    found = steps.sample(fabric, "ftree", 3, 1, 0)
    ran = nl.simulate(nl.Scenario.from_dict(steps.scenario(fabric, "ftree", 3, 1, 0)))
    # A barrier of 12 ranks, four rounds of a few microseconds, ends the last step.
    assert 0 <= ran.result()["jobs"][0]["completion_ms"] / 1e3 - found.seconds.sum() < 3e-5
    # Five times 20 us and four messages of 64 KiB at 12.5 GB/s.
    assert found.seconds.min() > 5 * (20e-6 + 4 * 65536 / 12.5e9)
    assert found.features.shape == (3, 6)


def test_the_study_is_told_and_the_same_again(netloom):
    pytest.importorskip("sklearn")
    asked = ("study", "steps", "--fabric", SMALL, "--runs", "10", "--steps", "3")
    result = netloom.result(*asked)
    assert result == netloom.result(*asked)
    assert [row["model"] for row in result["machines"][0]["errors"]] == ["X", "L", "S", "mean"]
    assert len(result["steps"]) == 30
    assert min(row["relative"] for row in result["steps"]) == 1
    for row in result["machines"][0]["errors"]:
        assert len(row["folds"]) == 10
        assert row["mean_squared_error"] == pytest.approx(np.mean(row["folds"]))


def test_what_cannot_be_told_is_refused(netloom):
    pytest.importorskip("sklearn")
    said = netloom.refused("study", "steps", "--fabric", "two-level:leaves=2,hosts=8,spines=2")
    assert "16 hosts: expected at least 48, a quarter for the timed job" in said
    done = netloom("study", "steps", "--time-limit", "0", "--format", "json")
    assert (done.code, json.loads(done.out)["result"]["stopped"]) == (124, "time-limit")
