"""The engine `layers`: shortest ways of any graph on lanes, by service levels of pairs.

Whether lanes wait for each other is asked of a program of its own here, which reads the files as a subnet
manager would and follows every pair.
"""

from __future__ import annotations

import csv
import re
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, permutations
from pathlib import Path

import pytest

import netloom as nl
import opensm_lanes
import random_graphs

OPENSM = random_graphs.SEEDS.with_name("opensm.csv")


def ways(fabric: nl.Fabric, tables: str) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """The links (switch, port) between switches of every pair of LIDs, by a file of tables."""
    out: dict[str, dict[int, int]] = {}
    for line in tables.splitlines():
        if head := re.search(r"guid 0x([0-9a-f]+) ", line):
            entries = out.setdefault(f"0x{head[1]}", {})
        elif row := re.match(r"0x([0-9a-f]+) (\d+) ", line):
            entries[int(row[1], 16)] = int(row[2])
    links = fabric.link_table()
    names = [None] * fabric.hosts + [f"0x{guid:016x}" for guid in fabric.switch_table()["guid"].tolist()]
    ends = zip(links["source"].tolist(), links["source_port"].tolist(), links["target"].tolist(), strict=True)
    behind = {(source, port): target for source, port, target in ends}
    lids = fabric.host_table()["lid"].tolist()
    leaf = {lid: links["target"].tolist()[host] for host, lid in enumerate(lids)}
    found = {}
    for a, b in permutations(lids, 2):
        at, way = leaf[a], []
        while at >= fabric.hosts:
            port = out[names[at]][b]
            way.append((names[at], port))
            at = behind[at, port]
        # The last link is the receiver's, which waits for nothing.
        assert lids[at] == b
        found[a, b] = way[:-1]
    return found


def lanes_of(fabric: nl.Fabric, tables: str, levels: str) -> tuple[int, bool]:
    """How many lanes are used, a level on the lane of its number, and whether none wait in a circle."""
    rows = csv.DictReader(line for line in levels.splitlines() if not line.startswith("#"))
    level = {(int(row["source_lid"]), int(row["destination_lid"])): int(row["sl"]) for row in rows}
    waits: dict[tuple[str, int, int], set[tuple[str, int, int]]] = {}
    for pair, way in ways(fabric, tables).items():
        for before, after in pairwise(way):
            waits.setdefault((*after, level[pair]), set()).add((*before, level[pair]))
    try:
        TopologicalSorter(waits).prepare()
    except CycleError:
        return max(level.values()) + 1, False
    return max(level.values()) + 1, True


@pytest.fixture(scope="module")
def graphs() -> dict[str, nl.Fabric]:
    return {
        graph.name: nl.Fabric.parse(graph.net().encode(), label=graph.name)
        for graph in random_graphs.graphs()
    }


def test_forty_random_graphs_take_at_most_the_lanes_of_opensm(graphs):
    with OPENSM.open() as file:
        opensm = {row["graph"]: int(row["dfsssp"]) for row in csv.DictReader(file)}
    within = 0
    for name, fabric in graphs.items():
        routes = nl.route("layers", fabric)
        report = nl.check(fabric, routes)
        assert (report.credit_loops, report.unreachable_pairs, report.non_minimal_pairs) == (0, 0, 0), name
        lanes = 1 if routes.lanes is None else routes.lanes.lanes
        assert lanes == 1 or report.lanes == lanes
        within += lanes <= opensm[name]
    assert len(graphs) == 40
    # As dfsssp's, lanes have room for packets to switches' own LIDs.
    assert within >= 38


@pytest.mark.parametrize("name", ["02", "11", "30"])
def test_files_say_it_all(netloom, name):
    net = next(graph.net() for graph in random_graphs.graphs() if graph.name == name)
    (netloom.folder / "graph.net").write_text(net)
    # With LIDs, as a fabric that is up has them.
    netloom.ok("fabric", "convert", "graph.net", "-o", "dump.txt")
    files = ("-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "sl.csv")
    made = netloom.result("route", "layers", "dump.txt", *files)
    assert (made["sl2vl"], made["sl"], made["output"]) == ("r.sl2vl", "sl.csv", "r.lfts")
    fabric = nl.Fabric.read(netloom.folder / "dump.txt")
    tables, levels = ((netloom.folder / file).read_text() for file in ("r.lfts", "sl.csv"))
    assert lanes_of(fabric, tables, levels) == (made["lanes"], True)
    flat = re.sub(r"(?m)^(\d+,\d+),\d+$", r"\1,0", levels)
    assert lanes_of(fabric, tables, flat) == (1, False)
    asked = ("dump.txt", "r.lfts", "--sl2vl", "r.sl2vl", "--sl")
    told = netloom.result("check", *asked, "sl.csv")
    assert (told["ok"], told["lanes"], told["credit_loops"]) == (True, made["lanes"], 0)
    (netloom.folder / "flat.csv").write_text(flat)
    assert "lanes of links wait for each other" in netloom("check", *asked, "flat.csv").out


def test_levels_are_written_by_python_too(tmp_path):
    fabric = nl.Fabric.parse(opensm_lanes.ring(5).encode(), label="ring")
    routes = nl.route("layers", fabric)
    with pytest.raises(nl.RoutingError, match="--write-sl FILE"):
        routes.write(tmp_path / "r.lfts", sl2vl=tmp_path / "r.sl2vl")
    assert list(tmp_path.iterdir()) == []
    routes.write(tmp_path / "r.lfts", sl2vl=tmp_path / "r.sl2vl", sl=tmp_path / "sl.csv")
    assert (tmp_path / "sl.csv").read_bytes().splitlines()[1:] == (
        routes.lanes.service_levels("test").splitlines()[1:]
    )
    # Twenty pairs, of which ten are two hops apart.
    assert len((tmp_path / "sl.csv").read_text().splitlines()) == 22


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "can deadlock"),
        (("--write-sl2vl", "r.sl2vl"), "--write-sl FILE"),
    ],
)
def test_tables_without_their_levels_are_not_written(netloom, more, message):
    (netloom.folder / "ring.net").write_text(opensm_lanes.ring(5))
    word = netloom.refused("route", "layers", "ring.net", "-o", "r.lfts", "-q", *more)
    assert message in word
    assert sorted(path.name for path in netloom.folder.iterdir()) == ["ring.net"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("layers", "--write-sl", "s.csv"), "expected --write-sl2vl too"),
        (("updn", "--write-sl", "s.csv"), "expected the engine dor or layers"),
        (("layers", "--roots", "s0"), "does not take"),
    ],
)
def test_options_that_make_no_sense_are_refused(netloom, asked, message):
    (netloom.folder / "ring.net").write_text(opensm_lanes.ring(5))
    engine, *more = asked
    assert message in netloom.refused("route", engine, "ring.net", "-o", "r.lfts", *more, code=2)


def test_trees_take_one_lane_and_no_more_files(netloom):
    spec = "two-level:leaves=4,hosts=4,spines=4"
    made = netloom.result("route", "layers", spec, "all-to-all", "-o", "r.lfts")
    assert (made["lanes"], made["sl"], made["sl2vl"]) == (1, None, None)
    assert netloom.result("check", spec, "r.lfts")["ok"]


def test_a_run_takes_the_levels(netloom):
    (netloom.folder / "ring.net").write_text(opensm_lanes.ring(6, 2))
    (netloom.folder / "s.toml").write_text(
        'fabric = "ring.net"\nroutes = ["layers"]\n[hardware]\nlanes = 4\n[[job]]\n'
        'program = { kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }\n'
    )
    (run,) = netloom.result("simulate", "s.toml")["runs"]
    assert run["jobs"][0]["completion_ms"] > 0


def test_the_record_of_opensm_is_of_all_graphs():
    assert len(Path(OPENSM).read_text().split()) == 41


def test_files_that_one_lane_does_not_need_are_told(netloom):
    files = ("-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "sl.csv")
    done = netloom("route", "layers", "fullmesh:switches=4,hosts=2", *files)
    assert done.code == 0
    assert "one lane is enough: r.sl2vl and sl.csv not written" in done.err
    assert not (netloom.folder / "r.sl2vl").exists()
    netloom.ok("check", "fullmesh:switches=4,hosts=2", "r.lfts")


@pytest.mark.parametrize(
    "spec",
    ["megafly:groups=9,leaves=4,spines=4,hosts=2", "megafly:groups=5,leaves=2,spines=2,hosts=2"],
)
def test_switches_without_hosts_are_no_reason_to_refuse(netloom, spec):
    netloom.ok(
        "route", "layers", spec, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "sl.csv", "-q"
    )
    asked = ["check", spec, "r.lfts"]
    if (netloom.folder / "r.sl2vl").exists():
        asked += ["--sl2vl", "r.sl2vl", "--sl", "sl.csv"]
    result = netloom.result(*asked)
    assert (result["ok"], result["switch_credit_loops"], result["findings"]) == (True, 0, [])
