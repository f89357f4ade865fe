"""`netloom optimize --lmc`: tables for several addresses a host, and the file that says who uses which."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import netloom as nl

TREE = "two-level:leaves=2,hosts=2,spines=2"


@pytest.fixture
def two_senders(netloom):
    """Two hosts of one leaf send 1 each to one host, and the same the other way round to another.

    With one address a host all that a leaf sends to a host takes one way: 2 on a link between switches. With
    two addresses the pairs part: 1 on each. The receivers' own links carry 2 in any case.
    """
    traffic = nl.Traffic.from_triples(4, [0, 1], [2, 2], [1.0, 1.0])
    traffic.write(netloom.folder / "t.mtx")
    return "t.mtx"


def test_two_addresses_part_what_one_cannot(netloom, two_senders):
    arguments = ["optimize", TREE, two_senders, "-o", "r.lfts"]
    one = netloom.result(*arguments)
    two = netloom.result(*arguments, "--lmc", 1, "--write-paths", "p.csv", "--write-certificate", "c.json")
    assert one["max_load_between_switches"] == 2
    # Two links up and two down carry 1 each.
    assert two["levels"] == [{"load": 1.0, "links": 4}]
    assert (one["lmc"], one["pairs_off_base"], one["paths"]) == (0, None, None)
    assert (two["lmc"], two["pairs_off_base"], two["paths"]) == (1, 1, "p.csv")


def test_files_say_the_same_as_the_result(netloom, two_senders):
    out = ["-o", "r.lfts", "--write-paths", "p.csv", "--write-certificate", "c.json"]
    made = netloom.result("optimize", TREE, two_senders, "--lmc", 1, *out)
    lines = (netloom.folder / "p.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == made["pairs_off_base"]
    files = ["r.lfts", "--paths", "p.csv"]
    judged = netloom.result("check", TREE, *files, "--traffic", two_senders, "--certificate", "c.json")
    assert judged["ok"] is True
    assert judged["certificate"]["max_load"] == made["max_load"]
    loads = netloom.result("loads", TREE, "r.lfts", two_senders, "--paths", "p.csv")
    assert loads["max_load_between_switches"] == 1
    # Without the file all use the first address.
    assert netloom.result("loads", TREE, "r.lfts", two_senders)["max_load_between_switches"] == 2


def test_a_note_where_the_paths_are_written_nowhere(netloom, two_senders):
    done = netloom("optimize", TREE, two_senders, "--lmc", 1, "-o", "r.lfts")
    assert "--write-paths FILE" in done.err
    assert "2 a host (LMC 1); 1 pair uses another" in done.out


def test_compare_shows_what_fewer_addresses_buy(netloom, two_senders):
    result = netloom.result("optimize", TREE, two_senders, "--lmc", 2, "--compare")
    names = [row["name"] for row in result["compare"]]
    assert names[:4] == ["netloom", "netloom-lmc-0", "netloom-lmc-1", "afar"]


def test_the_same_bytes_for_any_number_of_threads(netloom, paths):
    for name, threads in (("a", 1), ("b", 2)):
        arguments = ["optimize", paths.ft2, "random:partners=3,seed=5", "--lmc", 1, "--work", 20000]
        out = ["-o", f"{name}.lfts", "--write-paths", f"{name}.csv", "--threads", threads]
        netloom.ok(*arguments, *out)
    for ending in ("lfts", "csv"):
        one, two = ((netloom.folder / f"{name}.{ending}").read_bytes() for name in "ab")
        assert one == two


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--write-paths", "p.csv"], "--lmc"),
        (["--lmc", "1", "--from", "ftree"], "--from"),
        (["--lmc", "1", "--also", "bisection"], "--objective total"),
        (["--lmc", "1", "--exact", "basic"], "--lmc"),
        (["--lmc", "1", "--islands", "2"], "--islands"),
        (["--lmc", "1", "--depth", "2"], "--depth"),
        (["--lmc", "8"], "8"),
    ],
)
def test_options_that_exclude_each_other(netloom, arguments, word):
    assert word in netloom.refused("optimize", "no-such-file", "bisection", *arguments, code=2)


def test_paths_of_another_lmc_are_refused_by_line(netloom, two_senders):
    netloom.ok("optimize", TREE, two_senders, "--lmc", 1, "-o", "r.lfts", "--write-paths", "p.csv", "-q")
    netloom.ok("route", "ftree", TREE, "-o", "one.lfts", "-q")
    word = netloom.refused("check", TREE, "one.lfts", "--paths", "p.csv")
    assert word.startswith("p.csv")
    text = (netloom.folder / "p.csv").read_text()
    last = len(text.splitlines())
    (netloom.folder / "bad.csv").write_text(text.rsplit(",", 1)[0] + ",7\n")
    assert netloom.refused("check", TREE, "r.lfts", "--paths", "bad.csv").startswith(f"bad.csv:{last}: ")


def test_paths_in_python(tmp_path):
    fabric = nl.Fabric.generate(TREE)
    traffic = nl.Traffic.from_triples(4, [0, 1], [2, 2], [1.0, 1.0])
    best = nl.optimize_lmc(fabric, traffic, 1)
    assert best.routes.lmc == 1
    assert best.loads.max_between_switches == 1
    best.routes.write(tmp_path / "r.lfts")
    best.routes.write_paths(tmp_path / "p.csv")
    data = (tmp_path / "p.csv").read_bytes()
    assert data == best.routes.paths_to_bytes()
    tables = nl.Routes.read(tmp_path / "r.lfts", fabric)
    assert tables.pairs_off_base == 0
    again = tables.with_paths(data)
    assert again.changed_paths(best.routes) == 0
    assert tables.changed_paths(best.routes) == again.pairs_off_base == 1
    assert np.array_equal(nl.loads(fabric, again, traffic).per_link, best.loads.per_link)
    assert best.history[0]["max_load_between_switches"] == 2
