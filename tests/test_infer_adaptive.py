"""`netloom infer FABRIC adaptive …`: traffic from counters where switches choose packet by packet."""

from __future__ import annotations

import json

import numpy as np
import pytest

import defects
import netloom as nl
import spoilt

JOB = '[[job]]\nname = "{name}"\n{what}\nallocation = "contiguous:{first}"\n'


@pytest.fixture
def simulated(netloom, paths):
    """A run of a recorded LULESH under some routings on quartz1, and its jobs file."""

    def make(*routes: str) -> str:
        trace = paths.examples / "data" / "lulesh-64.ti.gz"
        job = JOB.format(name="lulesh", what=f'trace = "{trace}"', first=10)
        text = f'fabric = "{paths.quartz1}"\nroutes = {json.dumps(routes)}\n{job}'
        (netloom.folder / "s.toml").write_text(text)
        netloom.ok("simulate", "s.toml", "-o", "run")
        matrix = paths.examples / "data" / "lulesh-64.mtx.gz"
        jobs = JOB.format(name="lulesh", what=f'matrix = "{matrix}"', first=10)
        (netloom.folder / "lulesh.toml").write_text(jobs)
        return "lulesh.toml"

    return make


def test_counters_of_adaptive_switches_give_grid_and_part_of_the_sums(netloom, paths, simulated):
    """Which switch's ports were the least loaded is chance; what they carried together is not."""
    jobs = simulated("adaptive")
    counters = "run/0-adaptive/links.parquet"
    done = netloom(
        "infer", paths.quartz1, "adaptive", counters, "--jobs", jobs, "--truth", jobs, "--format", "json"
    )
    assert done.code == 0, done.err
    result = json.loads(done.out)["result"]
    assert result["split_percent"] > 5
    [found] = result["hypothesis"]
    assert (found["sides"], found["order"]) == ([4, 4, 4], "rows")
    assert result["verdict"] == "partly"
    assert result["leaf_error_percent"] < 20
    for of in ("", "leaf_"):
        true = result["leaf_error_percent" if of else "relative_error_percent"]
        assert 0.5 < result[f"estimated_{of}error_percent"] / true < 2
    # Tables that were not in force do not fit.
    error = netloom.refused("infer", paths.quartz1, "ftree", counters, "--jobs", jobs)
    assert "do not fit these routes" in error


def test_an_interval_under_tables_helps(netloom, paths, simulated):
    jobs = simulated("ftree", "adaptive")
    both = ["run/0-ftree/links.parquet", "run/1-adaptive/links.parquet"]
    asked = ("infer", paths.quartz1, "adaptive", both[1], "--jobs", jobs, "--truth", jobs)
    result = netloom.result(*asked, "--also-counted", f"ftree,{both[0]}")
    # What is left is headers, which counters count and the recorded matrix does not.
    assert result["leaf_error_percent"] < 3
    assert result["verdict"] == "identified"
    assert [w["factor"] for w in result["windows"]] == pytest.approx([1, 1], rel=1e-3)


def test_what_looks_the_same_for_all_hosts_is_not_identifiable(netloom, paths):
    """A periodic halo: every host sends and receives as much as every other."""
    job = JOB.format(
        name="halo",
        what='program = { kind = "halo", shape = [4, 4, 2], face_bytes = "32KiB", iterations = 8 }',
        first=0,
    )
    (netloom.folder / "s.toml").write_text(f'fabric = "{paths.small}"\nroutes = ["adaptive"]\n{job}')
    netloom.ok("simulate", "s.toml", "-o", "run")
    result = netloom.result("infer", paths.small, "adaptive", "run/0-adaptive/links.parquet", code=1)
    assert result["verdict"] == "not identifiable"
    assert result["estimated_leaf_error_percent"] > 50


@pytest.mark.parametrize(("dead", "seed"), [(0, 0), (3, 0), (4, 0), (4, 1)])
def test_partners_at_random_are_not_all_pairs_where_cables_are_missing(dead, seed):
    """All hosts send alike, and where ports were the least loaded hides the rest: told as 0, 95 % off."""
    fabric = nl.Fabric.generate("two-level:leaves=10,hosts=9,spines=5")
    if dead:
        fabric, _ = fabric.damage(random_links=dead, seed=seed + 1)
    partner = np.random.default_rng(seed).permutation(90)
    bytes_ = np.zeros((90, 90))
    bytes_[np.arange(90), partner] = 16384.0
    np.fill_diagonal(bytes_, 0)
    sent = spoilt.traffic(fabric, [(list(range(90)), bytes_)])
    ran = nl.simulate(nl.Scenario.of_traffic(fabric, sent), "adaptive", model="packet", counted=True)
    found = nl.infer(fabric, "adaptive", ran.counted()).summary()
    assert found["verdict"] != "identified"
    assert found["estimated_leaf_error_percent"] > 45
    assert {job["verdict"] for job in found["hypothesis"]} & {"partly", "not identifiable"}


@pytest.mark.parametrize("seed", [302, 940075, 204, 1333])
def test_hosts_that_send_alike_say_nothing_of_a_pattern(seed):
    """Told as less than 0.01 %, over 50 % off; where too many atoms explain all as 18 %, 95 % off."""
    found = defects.judge(seed, "adaptive")
    assert found.true > 0.5
    assert found.told > 0.5 * found.true
    assert found.verdict != "identified"


@pytest.mark.parametrize("seed", [1318, 1383])
def test_ports_that_were_avoided_are_no_other_routes(seed):
    """A way that even splits use and least loaded ports hardly ever: right counters were refused."""
    found = defects.judge(seed, "adaptive")
    assert found.verdict != "refused"
    assert found.told > 0.5 * found.true


def test_two_servers_are_not_one_for_each_half():
    """Identified and told as 0.00 %: all hosts talked to both, which leaves the same; 16.7 % off."""
    found = defects.judge(224, "adaptive")
    assert found.verdict != "identified"
    assert found.told > 0.5 * found.true


def test_lanes_and_paths_are_of_tables(netloom, paths):
    netloom.ok("counters", "synth", paths.ft2, "ftree", "all-to-all", "--scale", 1e6, "-o", "c.csv")
    asked = ("infer", paths.ft2, "adaptive", "c.csv")
    error = netloom.refused(*asked, "--vl-scheme", "2sl2vl:seed=1")
    assert error.startswith('"adaptive" with a VL scheme')
    assert "no paths either" in netloom.refused(*asked, "--paths", "p.csv", code=2)
    assert "no paths either" in netloom.refused(*asked, "--also-counted", "adaptive+p.csv,c.csv", code=2)


def test_python_takes_the_name_too(paths):
    fabric = nl.Fabric.read(paths.ft2)
    counters = nl.synth_counters(fabric, "ftree", nl.Traffic.read("all-to-all", fabric), scale=1e6)
    summary = nl.infer(fabric, "adaptive", counters).summary()
    assert summary["split_percent"] < 0.1
    assert summary["leaf_sums"][0]["bytes"] == pytest.approx(4e6)
