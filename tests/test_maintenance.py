"""`optimize --avoid`: tables around a switch or a cable; on ibsim with OpenSM a spine goes and comes back."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import netloom as nl
from apply_bed import FT2, bed
from conftest import ROOT
from netloom.live import missing_tools
from netloom.nodes import Nodes

SAME = ROOT / "tests" / "data" / "cases" / "same-names"


def crossing(fabric, routes, *, node=None, links=()):
    """How many pairs of hosts leave a node, or take one of some links."""
    source = fabric.link_table()["source"]
    pairs = [(a, b) for a in range(fabric.hosts) for b in range(fabric.hosts) if a != b]
    return sum(
        any(link in links or source[link] == node for link in routes.path(one, other)) for one, other in pairs
    )


class TestAvoid:
    @pytest.mark.parametrize("begin", [(), ("--from", "today.lfts"), ("--background", "updn")])
    def test_no_packet_of_hosts_crosses_a_switch_that_still_has_its_tables(self, netloom, paths, begin):
        netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
        result = netloom.result(
            "optimize", paths.ft2, "all-to-all", *begin, "--avoid", "spine03", "-o", "d.lfts"
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
def test_a_spine_is_drained_goes_and_comes_back(tmp_path):
    """The steps of docs/maintenance.md: no pair of hosts is without a way at any of them."""

    def run(*words):
        command = [sys.executable, "-m", "netloom", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def crossed(live):
        seen = live.settled()
        assert nl.check(seen.fabric, seen.tables).unreachable_hosts == 0
        names = seen.fabric.switch_names
        if "spine03" not in names:
            return None
        return crossing(seen.fabric, seen.tables, node=seen.fabric.hosts + names.index("spine03"))

    def switched(live, word, switches):
        live.sim.command(f'{word} "S-0002c902000002c0"')
        for _ in range(200):
            if nl.Fabric.parse(live.sim.discover()).switches == switches:
                return
            time.sleep(0.1)
        raise AssertionError(f"{word}: not seen")

    with bed(FT2, tmp_path) as live:
        first = live.settled()
        (tmp_path / "net.txt").write_bytes(live.sim.discover())
        (tmp_path / "today.lfts").write_bytes(first.raw)
        before = crossed(live)
        assert before
        run("optimize", "net.txt", "all-to-all", "--from", "today.lfts", "--avoid", "spine03", "-o", "d.lfts")
        run(*live.arguments("d.lfts", "--yes"))
        assert crossed(live) == 0
        switched(live, "Unlink", 11)
        assert crossed(live) is None
        switched(live, "Relink", 12)
        assert crossed(live) == 0
        run("health", "net.txt", "--expect", "net.txt")
        run(*live.arguments("rollback", "--yes"))
        assert crossed(live) == before
        last = live.settled()
        assert nl.Routes.parse(first.raw, last.fabric, strict=False).changed_entries(last.tables) == 0
