"""What `netloom optimize` tells of its routes: levels, history, what changed, and other methods beside it."""

from __future__ import annotations

import csv
import io
import json

import pytest


def test_levels_and_history_agree_with_the_loads(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    result = netloom.result("optimize", paths.ft3, jobs, "--seed", "1")
    levels, history = result["levels"], result["history"]
    assert levels[0]["load"] == pytest.approx(result["max_load_between_switches"], rel=1e-9)
    assert [x["load"] for x in levels] == sorted({x["load"] for x in levels}, reverse=True)
    assert levels[0]["links"] == history[-1]["links_at_max"]
    assert history[-1]["max_load"] == pytest.approx(result["max_load"], rel=1e-9)
    # Every step is better than the one before: a lower maximum, or the same on fewer links.
    keys = [(round(x["max_load_between_switches"], 6), x["links_at_max"]) for x in history]
    assert keys == sorted(keys, reverse=True)
    seconds = [x["seconds"] for x in history]
    assert seconds == sorted(seconds)
    assert result["time_to_best"] in seconds


def test_changed_entries_are_those_that_differ_from_todays_routes(netloom, paths):
    import netloom as nl

    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
    result = netloom.result("optimize", paths.ft2, jobs, "--background", "today.lfts", "-o", "new.lfts")
    fabric = nl.Fabric.read(paths.ft2)
    today, new = (nl.Routes.read(netloom.folder / f"{name}.lfts", fabric) for name in ("today", "new"))
    assert result["changed_entries"] == int((today.table() != new.table()).sum()) > 0
    assert "changed  " in netloom.ok("optimize", paths.ft2, jobs, "--background", "today.lfts")
    # Without routes that are in force there is nothing to compare with.
    assert netloom.result("optimize", paths.ft2, jobs)["changed_entries"] is None


def test_a_time_limit_too_short_for_any_improvement_is_a_note(netloom, paths):
    jobs = paths.examples / "jobs" / "mix.toml"
    done = netloom("optimize", paths.quartz1, jobs, "--time-limit", "0", "-o", "r.lfts", "--format", "json")
    assert done.code == 0
    notes = [line for line in done.err.splitlines() if "too short for any improvement" in line]
    assert len(notes) == 1
    assert len(json.loads(done.out)["result"]["history"]) == 1
    assert netloom.result("check", paths.quartz1, "r.lfts")["ok"] is True


def test_all_methods_are_compared_by_the_same_bounds(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    result = netloom.result("optimize", paths.ft2, jobs, "--compare")
    rows = {row["name"]: row for row in result["compare"]}
    assert list(rows) == [
        "netloom", "afar", "coloured", "ftree", "d-mod-k", "s-mod-k", "minhop", "updn", "random"
    ]  # fmt: skip
    for name, row in rows.items():
        alone = result if name == "netloom" else netloom.result("loads", paths.ft2, name, jobs)
        assert row["max_load"] == pytest.approx(alone["max_load"], rel=1e-12), name
        assert row["ar_gap_percent"] == pytest.approx(alone["ar_gap_percent"], abs=1e-9), name
        assert row["max_load"] >= rows["netloom"]["max_load"] * (1 - 1e-9)
    lines = list(csv.DictReader(io.StringIO(
        netloom.ok("optimize", paths.ft2, jobs, "--compare", "--format", "csv")
    )))  # fmt: skip
    assert [line["name"] for line in lines] == list(rows)


def test_an_engine_that_cannot_route_the_fabric_says_why_in_the_table(netloom, paths):
    """ftree takes only trees whose hosts are all on leaves: here one is on the spine."""
    net = "".join(
        f'Switch\t4 "S-{i}"\n[1] "H-{i}"[1]\n[2] "S-9"[{i}]\nHca\t1 "H-{i}"\n[1] "S-{i}"[1]\n'
        for i in (1, 2, 3)
    )
    net += 'Switch\t4 "S-9"\n[1] "S-1"[2]\n[2] "S-2"[2]\n[3] "S-3"[2]\n[4] "H-9"[1]\n'
    net += 'Hca\t1 "H-9"\n[1] "S-9"[4]\n'
    (netloom.folder / "odd.net").write_text(net)
    result = netloom.result("optimize", "odd.net", "all-to-all", "--compare")
    rows = {row["name"]: row for row in result["compare"]}
    assert rows["ftree"]["max_load"] is None
    assert rows["ftree"]["note"]
    assert rows["updn"]["max_load"] is not None
    assert "ftree: not a fat tree" in netloom.ok("optimize", "odd.net", "all-to-all", "--compare")
