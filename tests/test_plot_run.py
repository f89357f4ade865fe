"""The picture of a run: which link lies where, and what strips of time show. On made-up numbers."""

from __future__ import annotations

import json

import numpy as np

import netloom as nl
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.runs import folder as runs
from netloom.runs import panels as drawn
from netloom.runs import tiers as picture


def levels(fabric):
    from netloom.tables import link_levels

    found = link_levels(fabric)
    return found["from_level"], found["to_level"], found["switch"]


def test_both_directions_of_a_cable_lie_at_the_same_place():
    fabric = nl.Fabric.generate("quartz1")
    busy = np.arange(fabric.links, dtype=float)
    found = picture.tiers(*levels(fabric), busy)
    assert [tier.name for tier, _ in found] == [
        "host → leaf",
        "leaf → spine",
        "spine → core",
        "core → spine",
        "spine → leaf",
        "leaf → host",
    ]
    # 96 leaves with 32 hosts and 16 cables up, 48 spines with 24... : a cable each, no hole.
    assert [tier.busy.shape for tier, _ in found[:2]] == [(32, 96), (16, 96)]
    table = fabric.link_table()
    ends = {(s, p): i for i, (s, p) in enumerate(zip(table["source"], table["source_port"], strict=True))}
    for up, down in ((0, 5), (1, 4), (2, 3)):
        first, second = found[up][0].busy, found[down][0].busy
        assert first.shape == second.shape
        assert not np.isnan(first).any()
        columns = [
            {ends[table["target"][int(i)], table["target_port"][int(i)]] for i in first[:, k]}
            for k in (0, -1)
        ]
        assert columns == [set(second[:, k].astype(int)) for k in (0, -1)]


def test_many_switches_share_a_column_that_shows_the_busiest():
    switch = np.repeat(np.arange(2000), 2)
    busy = np.zeros(4000)
    busy[1234 * 2 + 1] = 0.75
    ((tier, links),) = picture.tiers(np.zeros(4000, int), np.ones(4000, int), switch, busy)
    assert tier.busy.shape == (2, 500)
    assert tier.busy[1, 1234 // 4] == 0.75
    assert np.nansum(tier.busy) == 0.75
    assert len(links) == 4000


def test_links_of_switches_cut_off_are_left_out():
    found = picture.tiers([-1, -2, 0], [0, 0, -1], [0, 0, 0], [0.5, 1.0, 0.25])
    assert [(tier.name, float(np.nanmax(tier.busy))) for tier, _ in found] == [
        ("host → leaf", 0.5),
        ("leaf → host", 0.25),
    ]


def test_strips_take_whole_links_and_the_mean_over_all_of_them():
    """Two links of 1e9 B/s: one carries half of what fits into 1 ms, in two lanes, then half of 0.5 ms."""
    from netloom.runs.panels import _busy

    ms = 1_000_000_000
    intervals = {
        "start_ps": np.array([0, 0, 0, ms]),
        "end_ps": np.array([ms, ms, ms, 3 * ms // 2]),
        "link": np.array([0, 0, 0, 0]),
        "lane": np.array([0, 1, 255, 255]),
        "xmit_bytes": np.array([200_000, 300_000, 500_000, 250_000]),
    }
    links = {"bandwidth_bytes_per_s": np.array([1e9, 1e9])}
    edges, (most, mean) = _busy(intervals, links, np.array([0, 0]), [2])
    assert edges.tolist() == [0.0, 1.0, 1.5]
    assert np.allclose(most, [[0.5, 0.5]])
    assert np.allclose(mean, [[0.25, 0.25]])


def test_queues_of_a_level_lie_in_its_row():
    from netloom.runs.panels import _level_rows, _longest

    links = {"from_level": np.array([-1, 0, 1, 0]), "to_level": np.array([0, 1, 0, -1])}
    rows = _level_rows(links, [np.array([i]) for i in range(4)])
    assert rows == {"level -1 up": 0, "level 0 up": 1, "level 1 down": 2, "level 0 down": 3}
    queues = {
        "time_ps": np.array([10, 10, 20, 40]),
        "level": np.array(["level 0 up", "level 0 down", "level 0 up", "peer"]),
        "max_bytes": np.array([5, 6, 3, 2]),
    }
    strip = _longest(queues, rows, 4)
    assert strip.values.tolist() == [[0, 0, 0, 0], [5, 3, 0, 0], [0, 0, 0, 0], [6, 0, 0, 0]]
    assert np.allclose(strip.edges_ms, np.arange(5) * 1e-8)


def test_a_job_that_starts_over_does_not_make_a_run_look_cut(netloom):
    """It never completes; the run's time is that of the job it waits for."""
    half = 'program = { kind = "stream", pattern = "bisection", bytes = 65536 }\n'
    (netloom.folder / "s.toml").write_text(
        'fabric = "two-level:leaves=4,hosts=2,spines=2"\n'
        f'[[job]]\nname = "a"\nranks = 4\n{half}[[job]]\nname = "b"\nranks = 4\nuntil = "a"\n{half}'
    )
    run = netloom.result("simulate", "s.toml", "-o", "run")["runs"][0]
    drawn = netloom.result("plot", "run", "run", "-o", "run.svg")["routings"][0]
    assert drawn["completion_ms"] == run["jobs"][0]["completion_ms"] > 0
    fluid = netloom("simulate", "s.toml", "--model", "fluid", "--set", "measure.queues_every_us=1", "-o", "f")
    assert "measure: not used, the fluid model" in fluid.err
    assert "the fluid model does not" in netloom.ok("plot", "run", "f", "-o", "f.svg")
    assert "has no manifest.json: expected a folder of" in netloom.refused("plot", "run", ".", "-o", "a.svg")


def test_images_are_shares_of_the_longest_runs_time(netloom, paths):
    """The slower run looked cooler: what its links carried was divided by its own, longer time."""
    scenario = paths.examples / "scenarios" / "shuffle.toml"
    netloom.ok("simulate", scenario, "--routings", "ftree,optimized", "-o", "run", "--quiet")
    manifest = runs.read_manifest(netloom.folder / "run")
    longest = max(entry["result"]["simulated_ms"] for entry in manifest["runs"])
    this = Run("plot-run", Options())
    tiers = [
        drawn.panel(runs.reader(this), netloom.folder / "run", entry, longest)[0].tiers
        for entry in manifest["runs"]
    ]
    first, second = (next(tier for tier in of if tier.name == "host → leaf") for of in tiers)
    # Hosts send the same bytes under both.
    assert np.allclose(first.busy, second.busy, rtol=1e-6)
    busiest = [max(float(np.nanmax(tier.busy)) for tier in of) for of in tiers]
    assert busiest[0] > 2 * busiest[1]


def test_a_dragonfly_is_drawn_by_groups(netloom):
    (netloom.folder / "s.toml").write_text(
        'fabric = "dragonfly:p=2,a=4,h=2"\nroutes = ["dla"]\n'
        "[measure]\ncounters_every_us = 5\nqueues_every_us = 5\n[[job]]\n"
        'program = { kind = "stream", pattern = "bisection", messages = 1, bytes = "64KiB" }\n'
    )
    netloom.ok("simulate", "s.toml", "-o", "run")
    done = netloom("plot", "run", "run", "-o", "run.svg", "--format", "json")
    assert done.code == 0, done.err
    assert "queues are recorded by level" in done.err
    names = {"host → group", "within groups", "between groups", "group → host"}
    assert json.loads(done.out)["result"]["routings"][0]["busiest"] in names
    drawn = (netloom.folder / "run.svg").read_text()
    assert all(f"<!-- {name} -->" in drawn for name in names)
    assert "leaf" not in drawn
    assert "level" not in drawn


def test_links_of_a_dragonfly_lie_in_the_column_of_their_group():
    # Two groups of two switches with a host each: per group 2 links up, 2 within, 1 between.
    first = np.array([-1, -1, -1, -1, 0, 0, 1, 1, 0, 1])
    last = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 0])
    found = picture.group_tiers(first, last, np.arange(10) / 10)
    assert [tier.name for tier, _ in found] == ["host → group", "within groups", "between groups"]
    assert [tier.busy.shape for tier, _ in found] == [(2, 2), (2, 2), (1, 2)]
    assert found[2][0].busy.tolist() == [[0.8, 0.9]]
