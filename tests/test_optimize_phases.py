"""`netloom optimize` of several matrices at once: phases of a run, and traffics that may come."""

from __future__ import annotations

import json

import pytest


def test_the_cyclic_stencil_has_every_phase_at_its_own_bound(netloom, paths):
    """Section 5.3: the sum over time hides phases; each of the six is proved optimal by itself."""
    jobs = paths.examples / "jobs" / "cyclic-stencil.toml"
    arguments = [paths.quartz1, jobs, "-o", "r.lfts", "--certificate", "c.json", "--time-limit", 20]
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
    netloom.ok("optimize", paths.quartz1, jobs, "-o", "r.lfts", "--certificate", "c.json")
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
    result = netloom.result("optimize", paths.ft2, jobs, *also, "-o", "r.lfts", "--certificate", "c.json")
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
    netloom.ok("optimize", paths.ft2, *args, "-o", "r.lfts", "--certificate", "c.json")
    judged = netloom.result("check", paths.ft2, "r.lfts", "--traffic", "bisection", "--certificate", "c.json")
    assert judged["certificate"]["optimal"] is True


def test_a_cut_file_of_certificates_is_told_as_such(netloom, paths):
    args = ("bisection", "--also", "permutation:seed=3", "-o", "r.lfts", "--certificate", "c.json")
    netloom.ok("optimize", paths.ft2, *args)
    whole = (netloom.folder / "c.json").read_text()
    (netloom.folder / "cut.json").write_text(whole[: len(whole) // 2])
    word = netloom.refused(
        "check", paths.ft2, "r.lfts", "--traffic", "bisection", "--certificate", "cut.json"
    )
    assert "expected a whole file of certificates" in word
