"""What the optimiser is given that is odd or wrong: a valid routing with a note, or one line that names it.

Routes in force that are invalid are in `test_optimize_change`, a missing HiGHS is in `test_optimize_exact`.
"""

from __future__ import annotations

import json

import pytest

MTX = "%%MatrixMarket matrix coordinate real general\n"


def phases(netloom, *bodies: str) -> str:
    """A jobs file of one job, with a phase for each of the bodies."""
    lines = ['[[job]]\nname = "cg"\n', *(f"[[job.phase]]\n{body}\n" for body in bodies)]
    (netloom.folder / "jobs.toml").write_text("".join(lines))
    return "jobs.toml"


@pytest.mark.parametrize(
    ("budget", "word"), [(["--time-limit", "0"], "time limit"), (["--work", "0"], "work budget")]
)
def test_a_budget_too_small_for_any_improvement_gives_valid_routes_and_a_note(netloom, paths, budget, word):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    done = netloom("optimize", paths.ft2, jobs, *budget, "-o", "r.lfts", "--format", "json")
    assert done.code == 0
    # The time limit ends the count of links at the maximum too, and that is told.
    assert done.err.count("\n") == (2 if word == "time limit" else 1)
    assert word in done.err
    assert "for any improvement: these are the routes it began with" in done.err
    result = json.loads(done.out)["result"]
    assert result["max_load"] > result["lower_bound"]
    assert len(result["history"]) == 1
    assert netloom.result("check", paths.ft2, "r.lfts")["ok"] is True


@pytest.mark.parametrize("more", [["--lmc", "1"], ["--also", "bisection"], ["--error", "10"]])
def test_no_time_gives_valid_routes_whatever_is_asked_for(netloom, paths, more):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    result = netloom.result("optimize", paths.ft2, jobs, *more, "--time-limit", 0, "-o", "r.lfts")
    assert (result["stopped"], result["reproducible"]) == ("time-limit", False)
    assert netloom.result("check", paths.ft2, "r.lfts")["ok"] is True


def test_no_changes_allowed_gives_todays_routes_byte_for_byte(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
    done = netloom("optimize", paths.ft2, jobs, "--from", "today.lfts", "--max-changes", 0, "-o", "r.lfts")
    assert done.code == 0
    # One note, which is true, and no search: the work budget was never at fault.
    assert done.err.count("\n") == 1
    assert "nothing may change (--max-changes 0)" in done.err
    assert "stopped" not in done.out
    assert (netloom.folder / "r.lfts").read_bytes() == (netloom.folder / "today.lfts").read_bytes()


def test_where_changes_are_counted_the_default_work_is_seconds(netloom, paths):
    # The best few changes come first: 8 million searches more took minutes on quartz1 and gained nothing.
    jobs = paths.examples / "jobs" / "boxlib.toml"
    result = netloom.result("optimize", paths.ft2, jobs, "--from", "ftree", "--max-changes", 1)
    assert (result["changed_entries"], result["stopped"]) == (1, "work")
    assert result["work"] < 600_000


def test_a_background_that_loses_packets_is_named(netloom, paths):
    netloom.ok("route", "ftree", paths.ft2, "-o", "whole.lfts")
    lines = (netloom.folder / "whole.lfts").read_text().splitlines(keepends=True)
    (netloom.folder / "holes.lfts").write_text("".join(x for x in lines if not x.startswith("0x0005 ")))
    word = netloom.refused("optimize", paths.ft2, "bisection", "--background", "holes.lfts")
    assert word.startswith('holes.lfts: no route from "')


@pytest.mark.parametrize("made", [("route", "ftree"), ("optimize",)])
@pytest.mark.parametrize("name", ["r.csv", "r.json.gz", "r.npz"])
def test_routes_are_not_written_under_a_name_of_another_format(netloom, paths, made, name):
    traffic = [] if made[0] == "route" else ["bisection"]
    word = netloom.refused(*made, paths.ft2, *traffic, "-o", name, code=2)
    assert word.startswith(f"{name}: routes are text")
    assert not (netloom.folder / name).exists()


def test_searches_side_by_side_are_for_one_matrix_not_for_phases(netloom, paths):
    jobs = phases(netloom, 'pattern = "stencil:8x4"', 'pattern = "bisection:ranks=32"')
    word = netloom.refused("optimize", paths.ft2, jobs, "--islands", 2, code=2)
    assert "--islands" in word


def test_phases_of_different_sizes_are_told_with_file_job_and_sizes(netloom, paths):
    (netloom.folder / "a.mtx").write_text(f"{MTX}4 4 1\n1 2 5\n")
    (netloom.folder / "b.mtx").write_text(f"{MTX}6 6 1\n1 2 5\n")
    jobs = phases(netloom, 'matrix = "a.mtx"', 'matrix = "a.mtx"', 'matrix = "b.mtx"')
    word = netloom.refused("optimize", paths.ft2, jobs)
    assert word == 'jobs.toml:3: job "cg": its first phase has 4 ranks, phase 3 has 6: expected one number'


def test_traffics_of_different_sizes_are_told_by_name(netloom, paths):
    (netloom.folder / "a.mtx").write_text(f"{MTX}4 4 1\n1 2 5\n")
    word = netloom.refused("optimize", paths.ft2, "bisection", "--also", "a.mtx")
    assert word.startswith("a.mtx: has 4 endpoints, the fabric 32 hosts")
    arguments = ["optimize", paths.ft2, "bisection", "--from", "ftree", "--keep-jobs", "a.mtx"]
    assert "4 endpoints" in netloom.refused(*arguments)


@pytest.mark.parametrize(
    "more", [[], ["--lmc", "1"], ["--also", "bisection"], ["--from", "updn"], ["--exact", "basic"]]
)
def test_hosts_that_are_cut_off_are_named(netloom, more):
    """leaf00 has no spine left: no way joins its hosts to any other's."""
    netloom.ok("fabric", "new", "two-level:leaves=4,hosts=2,spines=2", "-o", "full.net")
    cut = ["--link", "leaf00[3]", "--link", "leaf00[4]"]
    netloom.ok("fabric", "damage", "full.net", *cut, "-o", "cut.net")
    word = netloom.refused("optimize", "cut.net", "all-to-all", *more, "-q")
    parts = 'found 2 parts: "host0000" (with 2 hosts) cannot reach "host0002" (with 6 hosts)'
    assert word == f"cut.net:70: expected one connected fabric, {parts}"


def test_a_pair_that_only_the_levels_lose_is_not_lost(netloom):
    """leaf00 has only spine00 left, leaf01 only spine01, and leaf02 both: by other ranks it joins them."""
    netloom.ok("fabric", "new", "two-level:leaves=4,hosts=2,spines=2", "-o", "full.net")
    cut = ["--link", "leaf00[4]", "--link", "leaf01[3]"]
    netloom.ok("fabric", "damage", "full.net", *cut, "-o", "cut.net")
    netloom.ok("optimize", "cut.net", "all-to-all", "-o", "r.lfts", "-q")
    assert netloom.result("check", "cut.net", "r.lfts")["ok"] is True


def test_bytes_and_weights_that_would_overflow_are_refused_where_they_are(netloom, paths):
    (netloom.folder / "t.mtx").write_text(f"{MTX}32 32 2\n1 2 1\n1 3 1e308\n")
    assert netloom.refused("optimize", paths.ft2, "t.mtx").startswith("t.mtx:4: expected bytes")
    jobs = phases(netloom, 'pattern = "all-to-all:ranks=32"\nrepeats = 1e300')
    assert netloom.refused("optimize", paths.ft2, jobs).startswith("jobs.toml:5: repeats: ")
    word = netloom.refused("optimize", paths.ft2, "bisection", "--error", "1e300", code=2)
    assert "--error 1e300: expected 0 to" in word


def test_the_largest_bytes_and_weights_allowed_do_not_overflow(netloom, paths):
    """Sums, products and ratios of what is let in are finite: 1e100 bytes, a billion times."""
    jobs = phases(
        netloom,
        'pattern = "all-to-all:ranks=32,bytes=1e100"\nrepeats = 1e9',
        'pattern = "bisection:ranks=32,bytes=1e-100"\nrepeats = 1e-9',
    )
    result = netloom.result("optimize", paths.ft2, jobs)
    # 31 partners a host; beside that the second phase is nothing.
    assert result["objective"]["value"] == pytest.approx(31e109)
    assert [phase["proven_optimal"] for phase in result["phases"]] == [True, True]
    mean = netloom.result("optimize", paths.ft2, "all-to-all:bytes=1e100", "--also", "bisection:bytes=1e-100")
    assert mean["objective"]["value"] == pytest.approx(1)


def test_weights_are_numbers_in_python_too(paths):
    import netloom as nl

    fabric = nl.Fabric.read(paths.ft2)
    traffic = nl.Traffic.read("bisection", fabric)
    for weight in (0.0, -1.0, 1e200, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="expected a weight of 1e-100 to 1e100"):
            nl.optimize_layers(fabric, [("a", traffic, weight)])
    many = [(name, traffic, 1e100) for name in "ab"]
    # Each weighs 1e100 and has 1 byte on every link of a host.
    assert nl.optimize_layers(fabric, many, "sum").objective == pytest.approx(2e100)
    for objective in ("worst", "worst-gap", "mean-gap"):
        assert nl.optimize_layers(fabric, many, objective).objective == 1
