"""`netloom optimize --exact`: an integer model beside the search, its bound beside ours."""

from __future__ import annotations

import pytest

TREE = "two-level:leaves=3,hosts=3,spines=2"
TRAFFIC = "random:partners=3,seed=2"


def test_the_models_bound_stands_beside_ours(netloom):
    pytest.importorskip("highspy")
    result = netloom.result("optimize", TREE, TRAFFIC, "--exact", "productless")
    exact = result["exact"]
    assert (exact["status"], exact["better"]) == ("optimal", False)
    assert exact["lower_bound"] == pytest.approx(result["max_load"])
    assert exact["lower_bound"] >= result["lower_bound"] * (1 - 1e-6)
    out = netloom.ok("optimize", TREE, TRAFFIC, "--exact", "productless")
    assert "its bound   4 B (ours 4 B)" in out


def test_routes_of_the_model_are_taken_only_where_they_are_better(netloom):
    """The search stops at once and leaves 5 on a link; the optimum is 4."""
    pytest.importorskip("highspy")
    arguments = ["optimize", TREE, TRAFFIC, "--work", 0, "--exact", "basic"]
    result = netloom.result(
        *arguments, "-o", "r.lfts", "--background", "ftree", "--write-certificate", "c.json"
    )
    assert result["exact"]["better"] is True
    assert (result["max_load"], result["proven_optimal"]) == (4, True)
    assert result["changed_entries"] > 0
    judged = netloom.result("check", TREE, "r.lfts", "--traffic", TRAFFIC, "--certificate", "c.json")
    assert (judged["ok"], judged["certificate"]["optimal"]) == (True, True)


def test_few_hot_counts_links_above_the_second_level(netloom):
    pytest.importorskip("highspy")
    # The search's own levels are 4 on some links, then 3: none can be saved.
    result = netloom.result("optimize", TREE, TRAFFIC, "--exact", "few-hot")
    assert result["exact"]["threshold"] == 3.5
    assert result["exact"]["objective"] == result["levels"][0]["links"]
    none = netloom.result("optimize", TREE, TRAFFIC, "--exact", "few-hot", "--threshold", 4)
    assert none["exact"]["objective"] == 0


def test_a_solver_without_time_is_told_so_and_one_link_is_no_links(netloom):
    pytest.importorskip("highspy")
    text = netloom.ok("optimize", TREE, TRAFFIC, "--exact", "few-hot", "--time-limit", 0)
    assert "its bound     none: stopped too early" in text
    assert "1 link above" in text


def test_no_solver_is_told_before_the_search_with_what_to_install(netloom):
    """Neither solver can be imported: as on a machine without them."""
    for module in ("highspy", "gurobipy"):
        (netloom.folder / f"{module}.py").write_text("raise ImportError\n")
    env = {"PYTHONPATH": str(netloom.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    word = netloom.refused("optimize", "no-such-file", TRAFFIC, "--exact", "basic", env=env)
    assert "pip install 'netloom-hpc[exact]'" in word


def test_a_model_is_written_without_a_solver(netloom):
    for module in ("highspy", "gurobipy"):
        (netloom.folder / f"{module}.py").write_text("raise ImportError\n")
    env = {"PYTHONPATH": str(netloom.folder)}
    arguments = ["optimize", TREE, TRAFFIC, "--exact", "basic", "--write-model", "m.mps"]
    result = netloom.result(*arguments, env=env)
    assert (result["exact"]["status"], result["exact"]["output"]) == ("written", "m.mps")
    assert "ENDATA" in (netloom.folder / "m.mps").read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--write-model", "m.mps"], "--exact"),
        (["--threshold", "3"], "--exact"),
        (["--exact", "basic", "--threshold", "3"], "few-hot"),
        (["--exact", "basic", "--write-model", "m.lp"], ".mps"),
        (["--exact", "combined", "--write-model", "m.mps"], "sequence"),
        (["--exact", "basic", "--also", "bisection"], "--objective total"),
        (["--exact", "basic", "--from", "ftree", "--max-changes", "3"], "--max-changes"),
        (["--exact", "simplex"], "simplex"),
    ],
)
def test_options_that_exclude_each_other(netloom, arguments, word):
    assert word in netloom.refused("optimize", "no-such-file", TRAFFIC, *arguments, code=2)
