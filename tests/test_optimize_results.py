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
    result = netloom.result(
        "optimize", paths.ft2, jobs, "--background", "today.lfts", "--depth", "3", "-o", "new.lfts"
    )
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


KEYS = {"bound_at", "levels", "phases", "changed_entries", "time_to_best", "history"}


@pytest.mark.parametrize(
    "more",
    [[], ["--lmc", "1"], ["--also", "bisection"], ["--from", "ftree"], ["--hose", "--work", "2000"]],
)
def test_every_result_has_the_keys_that_scripts_rely_on(netloom, paths, more):
    result = netloom.result("optimize", paths.small, "permutation:seed=3", *more)
    assert result.keys() >= KEYS
    assert all({"seconds", "max_load"} <= step.keys() for step in result["history"])


@pytest.mark.parametrize(
    ("triples", "place"),
    [
        # 0 sends 3 + 3 to hosts of other leaves: its own link. Nothing else has as much.
        (([0, 0], [3, 6], [3, 3]), "host0000 up"),
        (([3, 6], [0, 0], [3, 3]), "host0000 down"),
        # Three flows of 1 from three hosts of leaf00, over two links up: one has 2.
        (([0, 1, 2], [3, 4, 6], [1, 1, 1]), "leaf00 up"),
        (([3, 4, 6], [0, 1, 2], [1, 1, 1]), "leaf00 down"),
    ],
)
def test_the_bound_says_where_it_binds(netloom, triples, place):
    import netloom as nl

    nl.Traffic.from_triples(9, *triples).write(netloom.folder / "t.mtx")
    result = netloom.result("optimize", "two-level:leaves=3,hosts=3,spines=2", "t.mtx")
    assert result["bound_at"] == place


def test_phases_have_a_load_a_bound_and_a_place(netloom, paths):
    (netloom.folder / "jobs.toml").write_text(
        '[[job]]\nname = "a"\n'
        '[[job.phase]]\nname = "near"\npattern = "shift:4,ranks=32"\nrepeats = 3\n'
        '[[job.phase]]\nname = "far"\npattern = "bisection:ranks=32,bytes=5"\n'
    )
    result = netloom.result("optimize", paths.small, "jobs.toml")
    rows = [(row["name"], row["max_load"], row["lower_bound"]) for row in result["phases"]]
    assert rows == [("near", 1, 1), ("far", 5, 5)]
    assert {row["bound_at"] for row in result["phases"]} == {"host0000 up"}
    assert result["objective"]["value"] == 3 * 1 + 5


def test_how_many_links_must_carry_the_maximum_is_proved(netloom):
    """Three flows of 1 from a leaf to another, over two links each: one up and one down carry 2, no fewer."""
    import netloom as nl

    nl.Traffic.from_triples(6, [0, 1, 2], [3, 4, 5], [1, 1, 1]).write(netloom.folder / "t.mtx")
    tree = "two-level:leaves=2,hosts=3,spines=2"
    result = netloom.result("optimize", tree, "t.mtx")
    assert (result["max_load_between_switches"], result["levels"][0]["links"]) == (2, 2)
    assert result["links_at_max_bound"] == 2
    assert "2 links must carry that: no such tables have fewer" in netloom.ok("optimize", tree, "t.mtx")


def test_islands_give_the_same_bytes_for_any_number_of_threads(netloom, paths):
    for threads in (1, 2):
        arguments = ["--islands", 3, "--threads", threads, "--work", 20000, "-o", f"{threads}.lfts"]
        netloom.ok("optimize", paths.ft3, paths.examples / "jobs" / "small.toml", *arguments)
    assert (netloom.folder / "1.lfts").read_bytes() == (netloom.folder / "2.lfts").read_bytes()
    word = netloom.refused("optimize", "x", "bisection", "--islands", 2, "--also", "all-to-all", code=2)
    assert "--islands" in word
