"""`netloom optimize --from`: what may change is what was allowed, and today's routes are read with care."""

from __future__ import annotations

import pytest

import netloom as nl

JOBS = "boxlib.toml"


@pytest.fixture
def today(netloom, paths):
    """ftree's routes in a file, on a fabric where boxlib's can be better by half."""
    netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
    return netloom.folder / "today.lfts"


def differing(paths, one, other) -> dict[int, int]:
    """Host -> how many entries towards it differ."""
    import netloom as nl

    fabric = nl.Fabric.read(paths.ft2)
    a, b = (nl.Routes.read(path, fabric).table() for path in (one, other))
    return {host: int(n) for host, n in enumerate((a != b).sum(axis=0)) if n}


@pytest.mark.parametrize("most", [0, 1, 3])
def test_no_more_entries_change_than_allowed(netloom, paths, today, most):
    jobs = paths.examples / "jobs" / JOBS
    arguments = ["optimize", paths.ft2, jobs, "--from", today, "--max-changes", most, "-o", "new.lfts"]
    result = netloom.result(*arguments)
    changed = sum(differing(paths, today, netloom.folder / "new.lfts").values())
    assert result["changed_entries"] == changed <= most
    assert result["max_load"] <= result["background"]["max_load"]
    assert ("nothing may change" in netloom(*arguments).err) == (most == 0)
    if most == 0:
        assert result["max_load"] == result["background"]["max_load"]


def test_a_change_must_be_worth_its_penalty(netloom, paths, today):
    jobs = paths.examples / "jobs" / JOBS
    arguments = ["optimize", paths.ft2, jobs, "--from", today, "--penalty-per-change"]
    # No entry is worth more than all the load there is.
    dear = netloom.result(*arguments, 1e9)
    assert dear["changed_entries"] == 0
    assert netloom.result(*arguments, 1)["max_load"] < dear["max_load"]


def test_the_front_falls_and_ends_at_the_best(netloom, paths, today):
    jobs = paths.examples / "jobs" / JOBS
    document = netloom.json("optimize", paths.ft2, jobs, "--from", today, "--front")
    result = document["result"]
    points = [(point["changed_entries"], point["max_load"]) for point in result["front"]]
    assert points[0] == (0, result["background"]["max_load"])
    assert [x for x, _ in points] == sorted({x for x, _ in points})
    assert [y for _, y in points] == sorted({y for _, y in points}, reverse=True)
    assert points[-1][1] == pytest.approx(result["max_load"])


def test_what_is_sent_the_same_keeps_its_entries(netloom, paths, today):
    """Host 0 sends to host 31 less than before: only entries towards host 31 may change."""
    import numpy as np

    import netloom as nl

    sources, destinations = np.divmod(np.arange(32 * 32), 32)
    amounts = np.where(sources == destinations, 0.0, 5.0 + (sources * 7 + destinations * 3) % 11)
    nl.Traffic.from_triples(32, sources, destinations, amounts).write(netloom.folder / "old.mtx")
    amounts[31] = 1.0
    nl.Traffic.from_triples(32, sources, destinations, amounts).write(netloom.folder / "new.mtx")
    arguments = ["optimize", paths.ft2, "new.mtx", "--from", today, "--keep-jobs", "old.mtx"]
    result = netloom.result(*arguments, "-o", "new.lfts", "--write-certificate", "c.json")
    assert set(differing(paths, today, netloom.folder / "new.lfts")) <= {31}
    # The bound holds with the other entries as they are; the judge takes their ways from the routes.
    judged = netloom.result("check", paths.ft2, "new.lfts", "--traffic", "new.mtx", "--certificate", "c.json")
    assert judged["certificate"]["ok"] is True
    assert judged["certificate"]["max_load"] == pytest.approx(result["max_load"])


def test_entries_that_lead_nowhere_are_refused_by_line_or_repaired(netloom, paths, today):
    lines = today.read_text().splitlines()
    assert lines[5].startswith("0x0005 005 ")
    lines[5] = lines[5].replace(" 005 ", " 077 ", 1)
    (netloom.folder / "bad.lfts").write_text("\n".join(lines) + "\n")
    word = netloom.refused("optimize", paths.ft2, "bisection", "--from", "bad.lfts")
    assert word.startswith("bad.lfts:6: ")
    assert "--repair" in word
    arguments = ["optimize", paths.ft2, "bisection", "--from", "bad.lfts", "--repair", "-o", "r.lfts"]
    result = netloom.result(*arguments)
    assert result["repaired_entries"] == 1
    assert any(f["kind"] == "repaired" and "bad.lfts:6" in f["text"] for f in result["findings"])
    assert netloom.result("check", paths.ft2, "r.lfts")["ok"] is True


def test_a_repair_says_what_it_leaves_without_a_way(netloom):
    """A pod's only cable to a top switch: its hosts reach all others, but not that switch's own LID."""
    tree = "xgft:m=2x2x3,w=1x2x2"
    top = nl.Fabric.generate(tree).switch_names[-1]
    netloom.ok("route", "ftree", tree, "-o", "old.lfts", "-q")
    netloom.ok("fabric", "damage", tree, "--link", f"{top}[3]", "-o", "cut.net", "-q")
    words = ("--from", "old.lfts", "--repair", "-o", "r.lfts")
    done = netloom("optimize", "cut.net", "all-to-all", *words)
    # Four hosts hang below the cable.
    assert "old.lfts: 4 pairs of a host and a switch's own LID have no up*/down* way left" in done.err
    fabric = nl.Fabric.read(netloom.folder / "cut.net")
    report = nl.check(fabric, nl.Routes.read(netloom.folder / "r.lfts", fabric))
    assert (report.unreachable_hosts, report.credit_loops) == (0, 0)
    assert (report.unreachable_management, report.no_way_to_switch) == (4, 4)


def test_after_a_cable_is_cut_todays_routes_are_repaired(netloom, paths, today):
    netloom.ok("fabric", "damage", paths.ft2, "--link", "leaf00[5]", "-o", "cut.net")
    assert "--repair" in netloom.refused("optimize", "cut.net", "bisection", "--from", today)
    arguments = ["optimize", "cut.net", "bisection", "--from", today, "--max-changes", 0, "--repair"]
    result = netloom.result(*arguments, "-o", "r.lfts")
    assert result["repaired_entries"] > 0
    assert result["changed_entries"] == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--max-changes", "3"], "--from"),
        (["--front", "--repair"], "--from"),
        (["--from", "x", "--background", "ftree"], "--background"),
        (["--from", "x", "--front", "--max-changes", "2"], "--front"),
        (["--robust", "mean"], "--also"),
        (["--also", "bisection", "--objective", "sum"], "--objective"),
        (["--compare", "--also", "bisection"], "--compare"),
    ],
)
def test_options_that_exclude_each_other_are_told_before_anything_is_read(netloom, arguments, word):
    assert word in netloom.refused("optimize", "no-such-file", "bisection", *arguments, code=2)
