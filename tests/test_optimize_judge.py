"""Routes that help a run: what meets the bound stays, simulations choose, and the result says why."""

from __future__ import annotations

import pytest

import netloom as nl

B = "two-level:leaves=24,hosts=16,spines=8"


def candidates(judge):
    return {one["name"]: one for one in judge["candidates"]}


def test_routes_that_meet_the_bound_stay_unless_a_depth_is_given(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
    for start in ("--from", "--background"):
        result = netloom.result("optimize", paths.ft2, jobs, start, "today.lfts", "-o", "new.lfts")
        assert (result["changed_because"], result["changed_entries"]) == ("nothing", 0)
        assert result["proven_optimal"]
        assert result["work"] == 0
        assert result["judge"] is None
    deeper = netloom.result("optimize", paths.ft2, jobs, "--background", "today.lfts", "--depth", "2")
    assert deeper["changed_because"] == "tail"
    assert deeper["changed_entries"] > 0
    assert deeper["max_load"] == pytest.approx(result["max_load"])
    assert "bound is met from the start" in netloom.ok("optimize", paths.ft2, jobs)


def test_what_lowers_the_maximum_is_changed_because_of_the_bound(netloom):
    small = "two-level:leaves=8,hosts=4,spines=4"
    result = netloom.result("optimize", small, "bisection-shuffle:seed=1")
    assert result["changed_because"] == "bound"
    fabric = nl.Fabric.generate(small)
    best = nl.optimize(fabric, nl.Traffic.read("bisection-shuffle:seed=1", fabric))
    assert best.changed_because == "bound"
    again = nl.optimize(fabric, nl.Traffic.read("bisection-shuffle:seed=1", fabric), background=best.routes)
    assert (again.changed_because, again.changed_entries, again.work) == ("nothing", 0, 0)


def test_phases_that_meet_their_bounds_stay(netloom, paths):
    cyclic = paths.examples / "jobs" / "cyclic-stencil.toml"
    result = netloom.result("optimize", "quartz1", cyclic, "--background", "ftree")
    assert (result["changed_because"], result["changed_entries"], result["work"]) == ("nothing", 0, 0)


def test_a_run_that_better_sums_make_slower_keeps_its_routes(netloom, paths):
    # NAS MG in order: with better sums more of the flows of a link happen at one time.
    (netloom.folder / "mg.toml").write_text(
        f'[[job]]\nname = "mg"\ntrace = "{paths.examples}/data/mg-64.ti.gz"\n', encoding="utf-8"
    )
    result = netloom.result("optimize", B, "mg.toml", "--judge", "packets", "--background", "ftree")
    judge = result["judge"]
    assert (judge["measure"], judge["program"], judge["chosen"]) == ("packets", "trace", "start")
    assert (result["changed_because"], result["changed_entries"]) == ("nothing", 0)
    found = candidates(judge)
    assert found["start"]["ratio"] == 1
    assert found["search"]["ratio"] > 1.02
    assert found["search"]["max_load"] <= found["start"]["max_load"]


@pytest.mark.parametrize("measure", ["packets", "fluid"])
def test_the_quickest_of_several_is_taken(netloom, measure):
    small = "two-level:leaves=8,hosts=4,spines=4"
    result = netloom.result(
        "optimize", small, "bisection-shuffle:seed=1,bytes=100000", "--judge", measure, "-o", "judged.lfts"
    )
    judge = result["judge"]
    assert (judge["measure"], judge["program"]) == (measure, "traffic")
    assert result["changed_because"] == "judge"
    assert judge["chosen"] != "start"
    found = candidates(judge)
    best = min(one["ratio"] for one in found.values() if one["ratio"] is not None)
    assert found[judge["chosen"]]["ratio"] <= best + 0.005 < 0.9
    text = netloom.ok("optimize", small, "bisection-shuffle:seed=1,bytes=100000", "--judge", measure)
    assert "taken" in text
    assert netloom("check", small, "judged.lfts").code == 0


@pytest.mark.parametrize(
    "other",
    [["--hose"], ["--also", "bisection"], ["--objective", "sum"], ["--lmc", "1"], ["--exact", "basic"]],
)
def test_judge_refuses_what_no_single_run_answers(netloom, paths, other):
    done = netloom("optimize", paths.small, "bisection", "--judge", "packets", *other)
    assert done.code == 2
    assert "--judge" in done.err
    assert other[0] in done.err


def test_a_judge_without_time_begins_with_what_it_has(netloom, paths):
    result = netloom.result(
        "optimize", paths.small, "bisection-shuffle:seed=1", "--judge", "packets", "--time-limit", "0"
    )
    assert result["reproducible"] is False
    assert result["stopped"] == "time-limit"


def test_phases_are_judged_one_after_another(netloom):
    (netloom.folder / "phases.toml").write_text(
        '[[job]]\n[[job.phase]]\nname = "halo"\npattern = "stencil:8x4,periodic,bytes=10000"\nrepeats = 3\n'
        '[[job.phase]]\nname = "shuffle"\npattern = "bisection-shuffle:ranks=32,seed=1,bytes=50000"\n',
        encoding="utf-8",
    )
    small = "two-level:leaves=8,hosts=4,spines=4"
    result = netloom.result("optimize", small, "phases.toml", "--judge", "packets")
    assert result["judge"]["program"] == "traffic"
    assert result["phases"] is None
    assert candidates(result["judge"])["start"]["completion_ms"] > 0


def test_optimized_in_a_scenario_is_never_slower_than_its_start(netloom, paths):
    for name in ("shuffle", "compute", "neighbour"):
        scenario = paths.examples / "scenarios" / f"{name}.toml"
        result = netloom.result("simulate", scenario, "--routings", "ftree,optimized")
        _, optimized = result["runs"]
        job = optimized["jobs"][0]
        assert job["ratio"] <= 1 + 1e-9, name
        told = optimized["optimized"]
        assert told["judge"]["measure"] == "packets"
        chosen = candidates(told["judge"])[told["judge"]["chosen"]]
        assert chosen["completion_ms"] == pytest.approx(job["completion_ms"])
        assert (told["changed_because"] == "nothing") == (told["judge"]["chosen"] == "start")
        assert result["findings"] == []
        assert result["runs"][0]["optimized"] is None


def test_slower_than_its_start_is_a_finding():
    from netloom.simulating import results as report

    def run(routing, ms, optimized=None):
        return {"routing": routing, "jobs": [{"name": "a", "completion_ms": ms}], "optimized": optimized}

    judged = {"changed_because": "judge", "judge": {"measure": "fluid", "chosen": "few", "candidates": []}}
    slower = report.findings([run("ftree", 1.0), run("optimized", 1.03, judged)])
    assert [one["kind"] for one in slower] == ["slower-than-start"]
    assert "3.0 %" in slower[0]["text"]
    unjudged = {"changed_because": "bound", "judge": None}
    told = report.findings([run("ftree", 1.0), run("optimized", 1.01, unjudged)])
    assert [one["kind"] for one in told] == ["not-judged"]
