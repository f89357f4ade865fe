"""`optimize --avoid`: tables around a switch or a cable; on ibsim with OpenSM a spine goes and comes back."""

from __future__ import annotations

import os

import pytest

import netloom as nl
from conftest import ROOT
from drain_bed import CASES, case, crossing, drain
from netloom.live import missing_tools
from netloom.nodes import Nodes

SAME = ROOT / "tests" / "data" / "cases" / "same-names"


class TestAvoid:
    @pytest.mark.parametrize("begin", [(), ("--from", "today.lfts"), ("--background", "updn")])
    def test_no_packet_of_hosts_crosses_a_switch_that_still_has_its_tables(self, netloom, paths, begin):
        netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
        result = netloom.result(
            "optimize",
            paths.ft2,
            "all-to-all",
            *begin,
            "--avoid",
            "spine03",
            "-o",
            "d.lfts",
            code=int(begin[:1] == ("--from",)),
        )
        fabric = nl.Fabric.read(paths.ft2)
        spine = Nodes(fabric).find("spine03")
        routes, today = (nl.Routes.read(netloom.folder / name, fabric) for name in ("d.lfts", "today.lfts"))
        assert crossing(fabric, today, node=spine) > 0
        assert crossing(fabric, routes, node=spine) == 0
        # It is reached and forwards: nothing is missing, of hosts or of switches' own LIDs.
        report = nl.check(fabric, routes)
        assert (report.ok, report.missing_entries, report.unreachable_pairs) == (True, 0, 0)
        assert result["avoided"] == [
            {"name": "spine03", "guid": "0x0002c902000002c0", "lid": 36, "port": None}
        ]
        # 28 destinations elsewhere, each of 4 hosts at once, over 3 spines: 10 of them on the fullest.
        assert result["max_load"] == 40
        if begin[:1] == ("--from",):
            assert result["changed_entries"] == routes.changed_entries(today)

    def test_cables_by_name_and_guid_and_several_at_once(self, netloom, paths):
        words = ("--avoid", "leaf01[5]", "--avoid", "0x0002c90200000240")
        result = netloom.result("optimize", paths.ft2, "all-to-all", *words, "-o", "d.lfts")
        fabric = nl.Fabric.read(paths.ft2)
        nodes, routes = Nodes(fabric), nl.Routes.read(netloom.folder / "d.lfts", fabric)
        link = nodes.find_port("leaf01[5]")
        assert crossing(fabric, routes, node=nodes.find("spine01"), links={link, nodes.back(link)}) == 0
        assert nl.check(fabric, routes).ok
        assert [(one["name"], one["port"]) for one in result["avoided"]] == [("spine01", None), ("leaf01", 5)]
        text = netloom.ok("optimize", paths.ft2, "all-to-all", *words)
        assert "spine01, leaf01[5]: loads and bounds are of the fabric without" in text

    def test_where_names_are_shared_a_guid_will_do(self, netloom):
        fabric = nl.Fabric.read(SAME / "net.txt")
        words = ("--from", SAME / "m.lfts", "--avoid", "0xec0d9a0300b00100")
        netloom.ok("optimize", SAME / "net.txt", "all-to-all", *words, "-o", "d.lfts")
        routes = nl.Routes.read(netloom.folder / "d.lfts", fabric)
        assert crossing(fabric, routes, node=Nodes(fabric).find("0xec0d9a0300b00100")) == 0
        assert nl.check(fabric, routes).ok
        name = "SwitchIB Mellanox Technologies"
        word = netloom.refused("optimize", SAME / "net.txt", "all-to-all", "--avoid", name, "--quiet")
        assert f'--avoid "{name}": 5 nodes have it: expected the GUID of one' in word

    def test_what_hosts_need_is_refused_by_name(self, netloom, paths):
        def word(*avoid):
            options = [word for one in avoid for word in ("--avoid", one)]
            return netloom.refused("optimize", paths.ft2, "all-to-all", *options, "-o", "d.lfts")

        assert "cuts off 4 hosts: host0012, host0013, host0014, host0015" in word("leaf03")
        assert "cuts off 1 host: host0003" in word("leaf00[4]")
        every = word(*(f"spine0{number}" for number in range(4)))
        assert "896 pairs of hosts would have no up*/down* way (host0004 cannot reach host0000" in every
        assert "did you mean spine03" in word("spine3")
        assert "leaf03 has cables at" in word("leaf03[77]")
        assert "no switch of this fabric is called so" in word("host0003")

    @pytest.mark.parametrize("option", [("--hose",), ("--lmc", "1"), ("--write-certificate", "c.json")])
    def test_options_about_all_of_the_fabric_are_refused(self, netloom, paths, option):
        word = netloom.refused("optimize", paths.ft2, "all-to-all", "--avoid", "spine03", *option, code=2)
        assert word.startswith(f"{option[0]} is about all of the fabric")


class TestDamage:
    def test_guids_name_what_is_taken_out(self, netloom, paths):
        words = ("fabric", "damage", paths.ft2)
        by_name = netloom.result(*words, "--link", "leaf03[7]", "--switch", "spine01")
        guids = ("--link", "0x0002c902000000c0[7]", "--switch", "0x0002c90200000240")
        assert netloom.result(*words, *guids) == by_name

    def test_where_names_are_shared(self, netloom):
        net = SAME / "net.txt"
        guid, far = "0xec0d9a0300a00100", "0xec0d9a0300b00100"
        result = netloom.result("fabric", "damage", net, "--link", f"{guid}[5]", "-o", "cut.txt")
        name = "SwitchIB Mellanox Technologies"
        assert result["removed"] == [f"cable {name} ({guid})[5] -> {name} ({far})[5]"]
        left = nl.Fabric.read(netloom.folder / "cut.txt")
        assert set(left.switch_names) == {name}
        (cable,) = netloom.result("health", "cut.txt", "--expect", net, code=1)["cables"][:1]
        assert [(end["guid"], end["port"]) for end in cable["ends"]] == [(guid, 5), (far, 5)]
        word = netloom.refused("fabric", "damage", net, "--link", f"{name}[5]")
        assert "5 nodes have it" in word


@pytest.mark.opensm
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("seed", range(min(CASES, int(os.environ.get("NETLOOM_TRIALS", "2")))))
def test_hostile_a_spine_is_drained_goes_and_comes_back(tmp_path, seed):
    """The steps of docs/maintenance.md: no pair of hosts is without a way at any of them, nor in between."""
    seen = drain(case(seed, tmp_path), tmp_path)
    print(seen)
    before = seen.pairs
    assert before > 0
    assert seen.steps == (("send", 0), ("off", None), ("on", 0), ("rollback", before))
    assert seen.lost == ()
    assert seen.readings > 0
    assert seen.back == 0
