"""`netloom study table32`: the dissertation's integer models, each from ftree's tables."""

from __future__ import annotations

import pytest

from netloom.studies.static import runs
from netloom.studies.static.published import ROWS, like

pytest.importorskip("highspy")

TREE = "fattree:pods=2,leaves=2,hosts=2,spines=2,groups=1,cores=2"


def test_every_model_starts_from_ftree_and_ends_at_a_proof(netloom):
    """Four leaves of two hosts, two links up each: a shuffle has two flows a leaf, one a link."""
    found = netloom.result("study", "table32", "bisection-shuffle:seed=1", "--fabric", TREE, "--each", "30")
    rows = {row["model"]: row for row in found["rows"]}
    assert list(rows) == ["basic", "partitioned", "combined"]
    assert found["reproducible"]
    assert found["stopped"] is None
    for row in rows.values():
        assert row["hosts"] == 8
        assert row["published_as"] == "BS Rand Shuf"
        assert row["own_gap_percent"] >= row["possible_gap_percent"] - 1e-6
        assert row["ftree_gap_percent"] >= row["possible_gap_percent"] - 1e-6
    assert rows["basic"]["status"] == rows["combined"]["status"] == "optimal"
    assert rows["partitioned"]["status"] == "feasible"
    assert rows["basic"]["own_gap_percent"] == pytest.approx(rows["basic"]["bound_gap_percent"], abs=1e-6)
    assert rows["partitioned"]["bound_gap_percent"] is None
    assert rows["combined"]["own_gap_percent"] <= rows["partitioned"]["own_gap_percent"] + 1e-6


def test_rows_without_names_are_those_of_the_table(netloom):
    found = netloom.result("study", "table32", "--fabric", TREE, "--models", "partitioned", "--each", "20")
    assert [row["traffic"] for row in found["rows"]] == runs.patterns(8)
    assert [row["published_as"] for row in found["rows"]] == [
        *("Stencil", "Bisection", "BS Rand Shuf", "All-to-all", "BS RS+noise")
    ]
    text = netloom.ok("study", "table32", "bisection", "--fabric", TREE, "--models", "partitioned")
    assert text.splitlines()[2].split()[:3] == ["8", "bisection", "0.00"]


def test_a_time_limit_ends_it_with_what_is_known(netloom):
    code = 124
    found = netloom.result("study", "table32", "--fabric", TREE, "--time-limit", "0", code=code)
    assert (found["rows"], found["stopped"]) == ([], "time-limit")


def test_patterns_are_told_from_the_rows_that_they_have_the_shape_of():
    assert runs.patterns(3072)[0] == "stencil:16x16x12"
    assert runs.patterns(128)[0] == "stencil:8x4x4"
    assert like("bisection-shuffle:seed=1,noise=0.05") is ROWS["bisection-shuffle+noise"]
    assert like("bisection-shuffle:seed=1,noise=0") is ROWS["bisection-shuffle"]
    assert like("examples/jobs/table/lulesh-star.toml") is ROWS["lulesh-star"]
    assert like("examples/jobs/table/snap-star-random.toml") is ROWS["snap-star"]
    assert like("permutation:seed=1") is like("mine.toml") is None


def test_wrong_words_are_refused(netloom):
    line = netloom.refused("study", "table32", "--models", "basic,best", code=2)
    assert "expected some of basic, partitioned, combined, found 'best'" in line
    assert "nothing.toml" in netloom.refused("study", "table32", "nothing.toml", "--fabric", TREE)
