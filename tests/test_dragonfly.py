"""Dragonflies: what the verbs that know fabrics say of groups."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
import opensm_lanes
from netloom.plot.layout import layout

BALANCED = "dragonfly:p=4,a=8,h=4"
SMALL = "dragonfly:p=2,a=4,h=2"


def test_groups_are_shown(netloom):
    result = netloom.result("fabric", "show", BALANCED)
    assert (result["hosts"], result["switches"], result["findings"]) == (1056, 264, [])
    assert result["shape"] == {
        "kind": "dragonfly",
        "groups": 33,
        "switches_a_group": 8,
        "global_cables": {"least": 1, "most": 1},
        "arrangement": "absolute",
        "deviations": [],
    }
    table = nl.Fabric.read(BALANCED).switch_table()
    assert table["group"].tolist() == [s // 8 for s in range(264)]


def test_a_dump_of_one_has_its_groups(netloom):
    netloom.ok("fabric", "new", f"{SMALL},arrangement=relative", "-o", "dump.txt")
    shape = netloom.result("fabric", "show", "dump.txt")["shape"]
    assert (shape["groups"], shape["arrangement"], shape["deviations"]) == (9, "relative", [])


def test_what_died_is_named_and_moves_no_group(netloom):
    result = netloom.result("fabric", "damage", SMALL, "--random-links", "6", "--seed", "3", "-o", "cut.net")
    assert result["shape"]["groups"] == 9
    assert {finding["kind"] for finding in result["findings"]} == {"dead-cable", "uneven-groups"}


@pytest.mark.parametrize(
    ("spec", "kind"), [("quartz1", "tree"), ("two-level:leaves=4,hosts=2,spines=2", "tree")]
)
def test_trees_say_what_they_are(netloom, spec, kind):
    assert netloom.result("fabric", "show", spec)["shape"] == {"kind": kind}
    assert set(nl.Fabric.read(spec).switch_table()["group"].tolist()) == {-1}


def test_the_neighbour_pattern_takes_groups_from_the_fabric():
    fabric = nl.Fabric.read(SMALL)
    ours = nl.Traffic.read("adversarial:1", fabric)
    given = nl.Traffic.read("adversarial:1,group=8", fabric)
    assert ours.endpoints == 72
    assert ours.total_bytes == pytest.approx(72)
    assert (nl.loads(fabric, nl.route("updn", fabric), ours).max) == nl.loads(
        fabric, nl.route("updn", fabric), given
    ).max


def groups_of_hosts(fabric: nl.Fabric) -> list[int]:
    """The group of every host's switch."""
    leaf = fabric.link_table()["target"][: fabric.hosts] - fabric.hosts
    return fabric.switch_table()["group"][leaf].tolist()


@pytest.mark.parametrize("gone", [0, 1])
def test_adversarial_follows_groups_whatever_hosts_are_called_and_however_many(netloom, gone):
    netloom.ok("fabric", "new", SMALL, "-o", "net.txt")
    text = (netloom.folder / "net.txt").read_text()
    names = sorted(set(re.findall(r"host\d{4}", text)))
    turned = dict(zip(names, random.Random(5).sample(names, len(names)), strict=True))
    text = re.sub(r"host\d{4}", lambda name: turned[name[0]], text)
    for name in names[:gone]:
        # Neither its own block nor the line of its switch's port.
        blocks = [block for block in text.split("\n\n") if not re.search(rf'^Ca.*"{name}"', block, re.M)]
        text = "".join(f"{line}\n" for line in "\n\n".join(blocks).splitlines() if f'"{name}"' not in line)
    (netloom.folder / "other.txt").write_text(text)
    fabric = nl.Fabric.read(netloom.folder / "other.txt")
    of = groups_of_hosts(fabric)
    assert len(of) == 72 - gone
    sent = nl.Traffic.read("adversarial:1,bytes=8", fabric)
    assert sent.total_bytes == pytest.approx(8 * len(of))
    source = np.repeat(np.arange(len(of)), np.diff(sent.indptr))
    found = set(zip(source.tolist(), sent.indices.tolist(), strict=True))
    assert found == {(a, b) for a, at in enumerate(of) for b, to in enumerate(of) if to == (at + 1) % 9}


def test_choices_among_upward_ways_are_refused_by_name_with_those_that_exist(netloom):
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"adaptive"'))
    assert "expected minimal, valiant, valiant:router, ugal" in netloom.refused("simulate", "s.toml")


@pytest.mark.parametrize(
    ("fabric", "pattern", "message"),
    [
        (BALANCED, "adversarial:40", 'at least 1 and below their number, found "40 of 33 groups"'),
        (
            "two-level:leaves=4,hosts=2,spines=2",
            "adversarial:1",
            "no dragonfly: expected group=N",
        ),
        ("dragonfly:p=4,a=8,h=4,g=40", "all-to-all", "expected at most 32 global cables a group"),
    ],
)
def test_what_makes_no_sense_is_refused(netloom, fabric, pattern, message):
    result = netloom("loads", fabric, "updn", pattern)
    assert result.code == 3
    assert message in result.err


def test_no_wrong_picture_is_drawn():
    with pytest.raises(nl.NetloomError, match="the fabric is a dragonfly: expected one with levels"):
        layout(nl.Fabric.read(SMALL))


def test_watch_adds_up_links_by_kind(netloom):
    netloom.ok(
        "counters", "synth", SMALL, "updn", "all-to-all", "--seconds", "2", "--scale", "1000", "-o", "c.csv"
    )
    result = netloom.result("watch", SMALL, "--counters-from", "c.csv", "--once")
    links = {level["name"]: level["links"] for level in result["levels"]}
    # 9 groups of 6 local cables, 36 global ones, two links each.
    assert links == {"host → group": 72, "group → host": 72, "within groups": 108, "between groups": 72}


def test_minimal_routes_are_free_of_deadlocks_on_two_lanes(netloom):
    made = netloom.result("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    assert (made["lanes"], made["sl2vl"], made["output"]) == (2, "r.sl2vl", "r.lfts")
    for given in (["dla"], ["r.lfts", "--sl2vl", "r.sl2vl"]):
        result = netloom.result("check", SMALL, *given)
        assert (result["ok"], result["lanes"], result["credit_loops"], result["cycle"]) == (True, 2, 0, [])
        # A way of at most one global cable is minimal, and no tree says which way is up.
        assert (result["non_minimal_pairs"], result["up_down_violations"], result["findings"]) == (0, 0, [])


def test_without_their_lanes_they_are_refused_with_the_cycle(netloom):
    netloom.ok("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl.gz")
    refused = netloom("check", SMALL, "r.lfts", "--format", "json")
    assert refused.code == 1
    result = json.loads(refused.out)["result"]
    assert (result["ok"], result["lanes"]) == (False, 1)
    assert result["credit_loops"] == 1
    cycle = result["cycle"]
    assert len(cycle) >= 3
    assert {step["lane"] for step in cycle} == {0}
    # Each link ends where the next one begins.
    ends = [[end.split("[")[0] for end in step["link"].split(" -> ")] for step in cycle]
    assert all(before[1] == after[0] for before, after in zip(ends, [*ends[1:], ends[0]], strict=True))
    assert netloom.result("check", SMALL, "r.lfts", "--sl2vl", "r.sl2vl.gz")["ok"]


def test_all_packets_on_one_lane_of_a_file_are_refused(netloom):
    netloom.ok("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    text = (netloom.folder / "r.sl2vl").read_text()
    rows = re.sub(r"(?m)^(\d+ +\d+ +:).*$", r"\1" + " 0" * 16, text)
    (netloom.folder / "one.sl2vl").write_text(rows)
    refused = netloom("check", SMALL, "r.lfts", "--sl2vl", "one.sl2vl")
    assert refused.code == 1
    assert "with all packets on one lane" in refused.out
    assert "lanes of links wait for each other" in refused.out


def test_loads_of_minimal_routes_are_the_formulas(netloom):
    # a p = 32 hosts of a group share one cable to the next.
    result = netloom.result("loads", BALANCED, "dla", "adversarial:1")
    assert result["max_load"] == pytest.approx(32)
    assert result["hottest"][0]["load"] == pytest.approx(32)
    # Lane 1 has local hops in the destination's group only: what comes in by one cable, spread over 7 links.
    assert result["lane_loads"][0] == pytest.approx(32)
    assert 0 < result["lane_loads"][1] < 32


def test_a_file_of_lanes_says_what_lanes_carry(netloom):
    netloom.ok("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    by_file = netloom.result("loads", SMALL, "r.lfts", "all-to-all", "--sl2vl", "r.sl2vl")
    by_name = netloom.result("loads", SMALL, "dla", "all-to-all")
    assert by_file["lane_loads"] == by_name["lane_loads"]
    assert "lane_loads" not in netloom.result("loads", SMALL, "r.lfts", "all-to-all")


SCENARIO = """
fabric = "dragonfly:p=2,a=4,h=2"
routes = [{routes}]
[[job]]
program = {{ kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }}
"""


def test_runs_take_the_lanes_of_routes(netloom):
    netloom.ok("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"dla", "r.lfts+r.sl2vl"'))
    named, read = netloom.result("simulate", "s.toml")["runs"]
    assert named["jobs"][0]["completion_ms"] > 0
    assert read["jobs"] == named["jobs"]
    # Files alone don't say lanes, and are refused.
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"r.lfts"'))
    assert "credit loops" in netloom.refused("simulate", "s.toml")


def test_a_scenario_s_own_lanes_count(netloom):
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"dla"'))
    # A table for all ports keeps packets of the one level on one lane.
    one = netloom.refused("simulate", "s.toml", "--set", "hardware.sl2vl=[0]")
    assert "credit loops" in one
    assert "dla" in one
    assert "at least 2" in netloom.refused("simulate", "s.toml", "--set", "hardware.lanes=1")
    wide = netloom.result("simulate", "s.toml", "--set", "hardware.lanes=4")["runs"]
    assert wide[0]["jobs"][0]["completion_ms"] > 0


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        ("cab", "its shape is tree; use updn"),
        ("GRAPH", "its shape is graph; use updn"),
        ("RING", "its shape is torus; use updn"),
    ],
)
def test_dla_is_refused_on_other_shapes(netloom, fabric, message):
    if fabric in ("GRAPH", "RING"):
        # Of a ring of six, or with a chord.
        after = [[(s + 1) % 6, *([2] if s == 0 and fabric == "GRAPH" else [])] for s in range(6)]
        fabric = "ring.net"
        (netloom.folder / fabric).write_text(opensm_lanes.net(after, 1))
    for asked in (["route", "dla", fabric, "-o", "r.lfts", "-q"], ["check", fabric, "dla", "-q"]):
        word = netloom.refused(*asked)
        assert message in word
        assert word.startswith("not a dragonfly that dla can route")


def test_lanes_are_asked_only_of_who_has_them(netloom):
    result = netloom("route", "updn", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    assert result.code == 2
    assert "expected the engine dla" in result.err
    assert not (netloom.folder / "r.sl2vl").exists()
    netloom.ok("route", "dla", SMALL, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    other = netloom.refused("check", f"{SMALL},arrangement=relative", "dla", "--sl2vl", "r.sl2vl")
    assert "the tables belong to a fabric with other cables" in other


def test_cables_of_a_dragonfly_are_local_and_global(netloom):
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"dla"'))

    def completion(*more):
        (run,) = netloom.result("simulate", "s.toml", *more)["runs"]
        return run["jobs"][0]["completion_ms"]

    plain = completion()
    delay = "hardware.cable_delays_ns={ %s = 5000 }"
    far, near = (completion("--set", delay % kind) for kind in ("global", "local"))
    # Every message of the bisection crosses one global cable and some one or two local ones.
    assert far > plain + 0.0049
    assert near > plain
    assert near != far
    word = netloom.refused("simulate", "s.toml", "--set", 'hardware.cable_delays_ns={ "leaf-spine" = 5 }')
    assert "expected global, host, local" in word


def test_the_optimiser_starts_from_what_is_run_there(netloom):
    best = netloom.result("optimize", SMALL, "adversarial:1", "-o", "o.lfts")
    same = netloom.result("optimize", SMALL, "adversarial:1", "--background", "dla", "-o", "p.lfts")
    assert best["max_load"] == same["max_load"]
    assert (netloom.folder / "o.lfts").read_text() == (netloom.folder / "p.lfts").read_text()
    # Its own ways need one lane.
    result = netloom.result("check", SMALL, "o.lfts")
    assert (result["ok"], result["lanes"], result["credit_loops"]) == (True, 1, 0)


def test_what_a_run_chooses_is_not_slower_than_minimal_routes(netloom):
    (netloom.folder / "s.toml").write_text(SCENARIO.format(routes='"dla", "optimized"'))
    minimal, chosen = netloom.result("simulate", "s.toml")["runs"]
    assert chosen["jobs"][0]["completion_ms"] <= minimal["jobs"][0]["completion_ms"]


def test_lanes_are_not_sent_so_routes_must_do_without(netloom):
    """What is about to be sent is judged as tables alone."""
    fabric = nl.Fabric.generate(SMALL)
    routes = nl.route("dla", fabric)
    assert routes.lanes is not None
    assert routes.lanes.lanes == 2
    assert nl.check(fabric, routes).credit_loops == 0
    assert nl.check(fabric, routes.with_lanes(None)).credit_loops == 1
    word = netloom.refused("lanes", "write", SMALL, "dla", "--vl-scheme", "2sl2vl", "-o", "x.sl2vl")
    assert "wait for each other in a circle on one lane" in word


TWO_BY_TWO = "dragonfly:p=1,a=2,h=1,g=2"


def test_groups_are_stated_by_a_file_or_by_names(netloom):
    """Two groups of two switches, which cables alone do not tell."""
    spec = "row.net"
    assert netloom.result("fabric", "show", TWO_BY_TWO)["shape"]["kind"] == "dragonfly"
    netloom.ok("fabric", "convert", TWO_BY_TWO, "-o", spec)
    # A row of four.
    assert netloom.result("fabric", "show", spec)["shape"]["kind"] == "mesh"
    (netloom.folder / "groups.txt").write_text("# by hand\ng00r0 a\ng00r1 a\ng01r0, b\ng01r1 b\n")
    for stated in ("groups.txt", "g([0-9]+)r"):
        shape = netloom.result("fabric", "show", spec, "--groups", stated)["shape"]
        assert (shape["kind"], shape["groups"], shape["switches_a_group"]) == ("dragonfly", 2, 2)
        assert netloom.result("check", spec, "dla", "--groups", stated)["ok"]
    netloom.ok("route", "dla", spec, "--groups", "g([0-9]+)r", "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")


def test_stated_groups_are_taken_wherever_a_fabric_is_read(netloom):
    spec, rule = "row.net", "g([0-9]+)r"
    netloom.ok("fabric", "convert", TWO_BY_TWO, "-o", spec)
    scenario = 'fabric = "{}"\nroutes = ["dla", "minimal"]\n{}[[job]]\nname = "load"\n'.format
    program = 'program = { kind = "uniform", bytes = 4096, load = 0.2, messages = 5 }\n'
    (netloom.folder / "bare.toml").write_text(scenario(spec, "") + program)
    (netloom.folder / "stated.toml").write_text(scenario(spec, f"groups = '{rule}'\n") + program)
    (netloom.folder / "groups.txt").write_text("g00r0 a\ng00r1 a\ng01r0 b\ng01r1 b\n")
    says = netloom.refused("simulate", "bare.toml")
    assert "its shape is mesh; use updn" in says
    for words in (["stated.toml"], ["bare.toml", "--groups", rule], ["bare.toml", "--groups", "groups.txt"]):
        assert [run["routing"] for run in netloom.result("simulate", *words)["runs"]] == ["dla", "minimal"]
    assert "expected at least two groups" in netloom.refused("simulate", "bare.toml", "--groups", "(g)")
    (netloom.folder / "groups.txt").write_text("g00r0 a\ng00r9 a\n")
    said = netloom.refused("simulate", "bare.toml", "--groups", "groups.txt")
    assert "groups.txt:2: expected a switch of the fabric" in said
    links = netloom.result("path", spec, "dla", "host0000", "host0003", "--groups", rule)["links"]
    assert [link["lane"] for link in links][-2:] == [1, 0]
    netloom.ok("optimize", spec, "all-to-all", "--groups", rule, "--work", "1000", "-o", "r.lfts", "-q")


def test_a_cray_tells_its_groups(netloom):
    dump = Path(__file__).resolve().parent / "data" / "aries" / "theta.interconnect.gz"
    result = netloom.result("fabric", "show", dump)
    assert (result["hosts"], result["switches"], result["kind"]) == (3456, 864, "Aries interconnect")
    shape = result["shape"]
    assert (shape["groups"], shape["global_cables"]) == (9, {"least": 48, "most": 48})
    assert (shape["grid"], shape["deviations"]) == ({"rows": 6, "columns": 16}, [])
    table = nl.Fabric.read(dump).switch_table()
    assert dict(zip(table["name"], table["group"], strict=True))["c2-0c0s0a0"] != table["group"][0]


def test_groups_of_two_hops_are_routed_on_two_lanes_and_simulated(netloom):
    spec = "aries:groups=4,links=12,slots=6,chassis=3,hosts=1"
    netloom.ok("route", "dla", spec, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "-q")
    result = netloom.result("check", spec, "r.lfts", "--sl2vl", "r.sl2vl", "-q")
    assert (result["ok"], result["lanes"], result["non_minimal_pairs"]) == (True, 2, 0)
    assert netloom.result("check", spec, "r.lfts", code=1)["credit_loops"] > 0
    (netloom.folder / "s.toml").write_text(
        f'fabric = "{spec}"\nprofile = "codes"\n'
        'routes = ["dla", "minimal", "valiant", "ugal", "adaptive:0"]\n'
        '[[job]]\nname = "load"\nprogram = { kind = "uniform", bytes = 4096, load = 0.1, messages = 40 }\n'
    )
    runs = {run["routing"]: run for run in netloom.result("simulate", "s.toml")["runs"]}
    for routing, run in runs.items():
        assert run["accepted"]["mean"] == pytest.approx(0.1, rel=0.05), routing
    assert runs["minimal"]["mean_hops"] == pytest.approx(runs["dla"]["mean_hops"], rel=0.01)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (
            "g00r0 a\ng00r9 a\n",
            3,
            "bad.txt:2: expected a switch of the fabric and its group, found",
        ),
        ("g00r0 a\ng00r0 b\n", 3, "bad.txt:2: expected every switch once"),
        ("g00r0 a\n", 3, "expected a group for every switch, found none for 3, such as g00r1"),
        ("g00r0 a\ng00r1 a\ng01r0 a\ng01r1 a\n", 2, "expected at least two groups, found 1"),
        (None, 2, "expected a file, or a rule by names"),
        # Of each group one switch: g00r0 has no cable to g01r1.
        (
            "g00r0 a\ng01r1 a\ng00r1 b\ng01r0 b\n",
            2,
            "--groups bad.txt: expected groups whose switches are joined by cables within the group",
        ),
    ],
)
def test_groups_that_cannot_be_are_refused(netloom, text, code, says):
    if text is not None:
        (netloom.folder / "bad.txt").write_text(text)
    stated = "bad.txt" if text is not None else "g[0-9]+r"
    said = netloom.refused("fabric", "show", "dragonfly:p=1,a=2,h=1,g=2", "--groups", stated, code=code)
    assert says in said


def test_groups_that_make_no_sense_are_refused_with_the_reason(netloom):
    """Nine groups of four: switches as groups, one group, numbers that are none."""
    said = netloom.refused("fabric", "show", SMALL, "--groups", "(g[0-9]+r[0-9])", code=2)
    assert "expected groups that are joined to each other, found 36 groups of which cables join 90" in said
    said = netloom.refused("fabric", "show", SMALL, "--groups", "(g)", code=2)
    assert "expected at least two groups" in said
    fabric = nl.Fabric.generate(SMALL)
    for number in (4_000_000_000, -1):
        with pytest.raises(nl.FabricError, match=f"numbers of groups from 0 to 65535, found {number}"):
            fabric.with_groups([number, *(s // 4 for s in range(1, 36))])


def test_loads_name_the_routes_that_a_gap_is_to(netloom):
    """The AR bound is of up*/down* ways, which these are not; 71 B is a host's own link."""
    text = netloom.ok("loads", SMALL, "dla", "all-to-all", "--hottest", "0")
    assert re.search(r"^AR gap +none to up\*/down\* ways; 0.00 % to any routes$", text, re.MULTILINE)


@pytest.mark.parametrize("cable", ["g00r0[3]", "g00r0[10]"], ids=["local", "global"])
def test_a_missing_cable_loses_no_pair_and_costs_no_lane(netloom, cable):
    """Two local cables where one is missing, a third group where no cable joins two; tables and schemes."""
    netloom.ok("fabric", "damage", "dragonfly:p=2,a=8,h=2", "--link", cable, "-o", "cut.net", "-q")
    netloom.ok("route", "dla", "cut.net", "-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "-q")
    result = netloom.result("check", "cut.net", "r.lfts", "--sl2vl", "r.sl2vl", "-q")
    assert (result["unreachable_hosts"], result["missing_entries"], result["lanes"]) == (0, 0, 2)
    assert (result["credit_loops"], result["non_minimal_pairs"], result["findings"]) == (0, 0, [])
    # Less than half of what up*/down* ways carry at most.
    minimal, up_down = (
        netloom.result("loads", "cut.net", engine, "all-to-all", "-q")["max_load"]
        for engine in ("dla", "updn")
    )
    assert 2 * minimal < up_down
    (netloom.folder / "s.toml").write_text(
        'fabric = "cut.net"\nroutes = ["dla", "minimal", "valiant", "ugal", "adaptive:3"]\n'
        'profile = "codes"\n'
        '[[job]]\nname = "load"\nprogram = { kind = "uniform", bytes = 4096, load = 0.3, messages = 20 }\n'
    )
    for run in netloom.result("simulate", "s.toml")["runs"]:
        assert run["accepted"]["mean"] == pytest.approx(0.3, rel=0.03), run["routing"]


def test_an_entry_over_a_second_global_cable_is_a_longer_way(netloom):
    """Two global hops count as longer only where one-global ways are shorter, and never as up after down."""
    result = netloom.result("check", SMALL, "minhop", code=1)
    # Shortest ways of the graph: some of two global cables, which are shorter than local, global, local.
    assert (result["non_minimal_pairs"], result["up_down_violations"]) == (0, 0)
    assert result["credit_loops"] > 0
    updn = netloom.result("check", SMALL, "updn")
    assert updn["ok"] is True
    assert updn["non_minimal_pairs"] == updn["detours"] > 0
    assert updn["up_down_violations"] == 0


def test_longer_ways_of_a_damaged_dragonfly_are_notes(netloom):
    """Six cables cut: ways by a third group may be longer than over two global cables."""
    groups = ("--groups", "g([0-9]+)r")
    netloom.ok("fabric", "damage", SMALL, "--random-links", "6", "--seed", "2", "-o", "cut.txt")
    netloom.ok("route", "dla", "cut.txt", *groups, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    found = netloom.result("check", "cut.txt", "r.lfts", "--sl2vl", "r.sl2vl", *groups)
    assert found["ok"]
    assert found["non_minimal_pairs"] > 0
    assert found["credit_loops"] == 0
    longer = [one for one in found["findings"] if one["kind"] == "non-minimal"]
    assert longer
    assert {one["severity"] for one in longer} == {"note"}
    fabric = nl.Fabric.read(netloom.folder / "cut.txt")
    fabric = fabric.with_groups([int(str(name)[1:3]) for name in fabric.switch_names])
    report = nl.check(fabric, nl.route("dla", fabric))
    assert report.ok
    assert report.non_minimal_pairs == found["non_minimal_pairs"]
