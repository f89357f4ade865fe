"""Fabrics as other programs' files (Slurm, SimGrid), and what `fabric show` tells of a tree's stages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import netloom as nl
from conftest import ROOT
from netloom._core import expand_hostlist
from netloom.exports import simgrid, slurm

CASES = ROOT / "tests" / "data" / "cases"
THREE = "fattree:pods=2,leaves=2,hosts=3,spines=2,groups=2,cores=2"


class TestStages:
    @pytest.mark.parametrize(
        ("spec", "wanted"),
        [
            # 6 hosts, 3 uplinks a leaf.
            ("two-level:leaves=4,hosts=6,spines=3", [("leaf", "spine", 12, 3, 2.0, 0.5)]),
            # 32 hosts and 16 uplinks a leaf; 24 leaves below a spine, 24 cores above it.
            ("quartz1", [("leaf", "spine", 1536, 16, 2.0, 0.5), ("spine", "core", 1536, 24, 1.0, 0.5)]),
        ],
    )
    def test_uplinks_over_subscription_and_bisection(self, netloom, spec, wanted):
        told = netloom.result("fabric", "show", spec)["stages"]
        assert [
            (
                one["from"],
                one["to"],
                one["cables"],
                one["uplinks"]["least"],
                one["over_subscription"],
                one["bisection_of_hosts"],
            )
            for one in told
        ] == wanted
        assert all(one["uplinks"]["least"] == one["uplinks"]["most"] for one in told)
        text = netloom.ok("fabric", "show", spec)
        assert f"{wanted[0][4]:.2f} : 1" in text

    def test_a_cable_less_and_a_slower_one_count(self, netloom, paths):
        netloom.ok("fabric", "damage", paths.ft2, "--link", "leaf00[5]", "-o", "cut.txt")
        (one,) = netloom.result("fabric", "show", "cut.txt", code=0)["stages"]
        assert (one["uplinks"], one["cables"]) == ({"least": 3, "most": 4}, 31)
        assert one["over_subscription"] == pytest.approx(4 / 3)
        assert one["bisection_bytes_per_second"] == 31 * 12.5e9 / 2
        (slow,) = netloom.result("fabric", "show", CASES / "slow-cable" / "net.txt", code=1)["stages"]
        # leaf1: 6 hosts at 12.5, 5 cables at 12.5 and one at 2.
        assert slow["over_subscription"] == pytest.approx(6 * 12.5 / (5 * 12.5 + 2))

    def test_what_is_no_tree_has_none(self, netloom):
        assert netloom.result("fabric", "show", "dragonfly:p=4,a=8,h=4")["stages"] == []


class TestSlurm:
    def test_every_node_is_below_one_leaf_and_all_are_joined(self, netloom, paths):
        for fabric in (paths.quartz1, paths.ft2, THREE, "dragonfly:p=4,a=8,h=4"):
            netloom.ok("fabric", "convert", fabric, "-o", "topology.conf")
            lines = (netloom.folder / "topology.conf").read_text().splitlines()[1:]
            switches = [re.fullmatch(r"SwitchName=(\S+) (Nodes|Switches)=(\S+)", line) for line in lines]
            assert all(switches)
            below = {one[1]: (one[2], expand_hostlist(one[3])) for one in switches}
            nodes = [node for kind, of in below.values() if kind == "Nodes" for node in of]
            generated = ":" in str(fabric)
            net = nl.Fabric.generate(fabric) if generated else nl.Fabric.read(fabric)
            assert sorted(nodes) == sorted(net.host_names)
            # One top, and each other switch below exactly one.
            children = [child for kind, of in below.values() if kind == "Switches" for child in of]
            assert len(children) == len(set(children))
            assert set(below) - set(children) == {"fabric"}

    def test_pods_are_switches_of_their_own(self, netloom):
        netloom.ok("fabric", "convert", THREE, "-o", "topology.yaml")
        text = (netloom.folder / "topology.yaml").read_text()
        assert '- switch: "pod1"\n        children: "p1leaf[0-1]"\n' in text
        assert '- switch: "p0leaf0"\n        nodes: "host[0000-0002]"\n' in text

    def test_machines_with_several_adapters_are_one_node(self):
        fabric = nl.Fabric.read(ROOT / "tests" / "data" / "quirks" / "rails_and_names.txt")
        nodes = [node for one in slurm.tree(fabric) for node in one.nodes]
        assert sorted(nodes) == sorted(set(fabric.host_table()["machine"]))

    def test_names_that_are_shared_or_odd_become_ones_that_slurm_takes(self):
        names = [one.name for one in slurm.tree(nl.Fabric.read(CASES / "same-names" / "net.txt"))]
        assert len(set(names)) == 4
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in names)

    @pytest.mark.parametrize(
        "names",
        [["n1", "n2", "n3", "n7"], ["n01", "n1", "n2"], ["login", "a-1-b", "a-2-b"], ["x9", "x10", "x11"]],
    )
    def test_hostlists_expand_to_what_they_list(self, names):
        assert sorted(expand_hostlist(slurm.hostlist(names))) == sorted(names)


class TestSimgrid:
    def test_hosts_switches_and_cables(self, netloom, paths):
        netloom.ok("fabric", "convert", paths.ft2, "-o", "platform.xml")
        root = ET.parse(netloom.folder / "platform.xml").getroot()
        (zone,) = root
        fabric = nl.Fabric.read(paths.ft2)
        assert [one.get("id") for one in zone.iter("host")] == fabric.host_names
        assert [one.get("id") for one in zone.iter("router")] == fabric.switch_names
        links = {one.get("id"): one.get("bandwidth") for one in zone.iter("link")}
        assert len(links) == 64
        assert set(links.values()) == {"12500000000Bps"}
        for route in zone.iter("route"):
            assert route[0].get("id") == f"{route.get('src')} - {route.get('dst')}"

    def test_parallel_cables_are_one_link_and_names_are_escaped(self):
        fabric = nl.Fabric.read(CASES / "slow-cable" / "net.txt")
        root = ET.fromstring(simgrid.platform_xml(fabric))
        speeds = {one.get("id"): one.get("bandwidth") for one in root.iter("link")}
        assert speeds["leaf0 - spine0"] == "37500000000Bps"
        assert speeds["leaf1 - spine1"] == "27000000000Bps"
        odd = nl.Fabric.from_edges([('a"<b>', "s"), ("c&d", "s")])
        assert ET.fromstring(simgrid.platform_xml(odd)).find(".//host").get("id") == 'a"<b>'


def test_other_endings_are_refused(netloom, paths):
    word = netloom.refused("fabric", "convert", paths.ft2, "-o", "x.json", code=2)
    assert ".conf" in word
