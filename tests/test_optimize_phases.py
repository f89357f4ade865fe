"""`netloom optimize` of several matrices at once: phases of a run, and traffics that may come."""

from __future__ import annotations

import json

import pytest


def test_the_cyclic_stencil_has_every_phase_at_its_own_bound(netloom, paths):
    """Section 5.3: the sum over time hides phases; each of the six is proved optimal by itself."""
    jobs = paths.examples / "jobs" / "cyclic-stencil.toml"
    arguments = [paths.quartz1, jobs, "-o", "r.lfts", "--write-certificate", "c.json", "--time-limit", 20]
    result = netloom.result("optimize", *arguments)
    assert result["objective"]["kind"] == "sum"
    phases = result["phases"]
    assert len(phases) == 6
    total = sum(phase["repeats"] * phase["max_load"] for phase in phases)
    assert result["objective"]["value"] == pytest.approx(total)
    assert total <= 1.01 * sum(phase["repeats"] * phase["lower_bound"] for phase in phases)
    judged = netloom.result("check", paths.quartz1, "r.lfts", "--traffic", jobs, "--certificate", "c.json")
    assert [c["name"] for c in judged["certificates"]] == [phase["name"] for phase in phases]
    for verdict, phase in zip(judged["certificates"], phases, strict=True):
        assert verdict["max_load"] == pytest.approx(phase["max_load"])
        assert verdict["optimal"] == phase["proven_optimal"]


def test_a_forged_phase_is_noticed(netloom, paths):
    jobs = paths.examples / "jobs" / "cyclic-stencil.toml"
    netloom.ok("optimize", paths.quartz1, jobs, "-o", "r.lfts", "--write-certificate", "c.json")
    document = json.loads((netloom.folder / "c.json").read_text())
    document["certificates"][2]["certificate"]["claim"] *= 1.1
    (netloom.folder / "c.json").write_text(json.dumps(document))
    arguments = ["check", paths.quartz1, "r.lfts", "--traffic", jobs, "--certificate", "c.json"]
    result = netloom.result(*arguments, code=1)
    assert [verdict["ok"] for verdict in result["certificates"]] == [True, True, False, True, True, True]
    # Certificates of other traffic than that which is judged.
    arguments[4] = "bisection"
    assert "neither the phases of" in netloom.refused(*arguments)


@pytest.mark.parametrize("robust", ["worst", "mean"])
def test_traffics_that_may_come_have_a_gap_each(netloom, paths, robust):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    also = ["--also", "permutation:seed=3", "--also", "bisection", "--robust", robust]
    result = netloom.result(
        "optimize", paths.ft2, jobs, *also, "-o", "r.lfts", "--write-certificate", "c.json"
    )
    rows = result["scenarios"]
    assert [row["name"] for row in rows] == [str(jobs), "permutation:seed=3", "bisection"]
    ratios = [row["max_load"] / row["lower_bound"] for row in rows]
    value = max(ratios) if robust == "worst" else sum(ratios) / 3
    assert result["objective"]["value"] == pytest.approx(value)
    for row in rows:
        alone = netloom.result("loads", paths.ft2, "r.lfts", row["name"])
        assert alone["max_load"] == pytest.approx(row["max_load"])
    arguments = ["r.lfts", "--traffic", "bisection", "--certificate", "c.json"]
    assert netloom.result("check", paths.ft2, *arguments)["certificate"]["ok"] is True


def test_a_traffic_named_twice_can_be_checked(netloom, paths):
    args = ("bisection", "--also", "bisection", "--also", "permutation:seed=3")
    netloom.ok("optimize", paths.ft2, *args, "-o", "r.lfts", "--write-certificate", "c.json")
    judged = netloom.result("check", paths.ft2, "r.lfts", "--traffic", "bisection", "--certificate", "c.json")
    assert judged["certificate"]["optimal"] is True


def test_a_cut_file_of_certificates_is_told_as_such(netloom, paths):
    args = ("bisection", "--also", "permutation:seed=3", "-o", "r.lfts", "--write-certificate", "c.json")
    netloom.ok("optimize", paths.ft2, *args)
    whole = (netloom.folder / "c.json").read_text()
    (netloom.folder / "cut.json").write_text(whole[: len(whole) // 2])
    word = netloom.refused(
        "check", paths.ft2, "r.lfts", "--traffic", "bisection", "--certificate", "cut.json"
    )
    assert "expected a whole file of certificates" in word


@pytest.mark.parametrize("kind", ["sum", "worst"])
def test_before_and_after_are_told_by_the_same_measure(netloom, paths, kind):
    """Of phases: by phase and as minimised, not as the largest load of all of them at once."""
    jobs = paths.examples / "jobs" / "cyclic-stencil.toml"
    netloom.ok("route", "random", paths.quartz1, "-o", "today.lfts", "--seed", 3)
    asked = ["optimize", paths.quartz1, jobs, "--objective", kind, "--from", "today.lfts"]
    kept = netloom.result(*asked, "--max-changes", 0)
    result = netloom.result(*asked, "--work", 200)
    # By these routes themselves, as nothing was changed.
    loads = [phase["max_load"] for phase in kept["phases"]]
    assert [phase["max_load_before"] for phase in kept["phases"]] == loads
    assert kept["background"]["value"] == pytest.approx(kept["objective"]["value"])
    assert [phase["max_load_before"] for phase in result["phases"]] == loads
    weighed = [phase["repeats"] * phase["max_load"] for phase in kept["phases"]]
    by_hand = sum(weighed) if kind == "sum" else max(loads)
    assert result["background"]["value"] == pytest.approx(by_hand)
    assert result["background"]["value"] > result["objective"]["value"]
    text = netloom.ok(*asked, "--work", 200)
    assert " (today.lfts)" in text.split("\n\n")[0]


@pytest.mark.parametrize("robust", ["worst", "mean"])
def test_before_of_traffics_that_may_come_is_told_as_a_gap(netloom, paths, robust):
    netloom.ok("route", "random", paths.ft2, "-o", "today.lfts", "--seed", 3)
    also = ["--also", "bisection", "--robust", robust, "--from", "today.lfts"]
    result = netloom.result("optimize", paths.ft2, "permutation:seed=3", *also)
    ratios = [row["max_load_before"] / row["lower_bound"] for row in result["scenarios"]]
    assert result["background"]["value"] == pytest.approx(
        max(ratios) if robust == "worst" else sum(ratios) / 2
    )
    alone = netloom.result("loads", paths.ft2, "today.lfts", "bisection")
    assert result["scenarios"][1]["max_load_before"] == pytest.approx(alone["max_load"])


def test_without_routes_that_were_named_there_is_nothing_before(netloom, paths):
    result = netloom.result("optimize", paths.ft2, "permutation:seed=3", "--also", "bisection")
    assert result["background"] is None
    assert [row["max_load_before"] for row in result["scenarios"]] == [None, None]
