"""`netloom path` and `loads --users-of`: which way a pair takes, who uses a cable; names that are shared."""

from __future__ import annotations

import csv
import io

import pytest

import netloom as nl
from conftest import ROOT
from netloom.paths import way
from netloom.paths.users import users

CASES = ROOT / "tests" / "data" / "cases"
SAME = CASES / "same-names"
NAME = "SwitchIB Mellanox Technologies"
JOBS = ROOT / "examples" / "jobs" / "boxlib.toml"


def place(end):
    return f"{end['name']}[{end['port']}]"


class TestPath:
    def test_links_are_those_that_the_tables_lead_over(self, netloom, paths):
        result = netloom.result("path", paths.ft2, "ftree", "host0000", "host0012")
        fabric = nl.Fabric.read(paths.ft2)
        table, names = fabric.link_table(), [*fabric.host_names, *fabric.switch_names]
        links = nl.route("ftree", fabric).path(0, 12)
        assert [(place(one["from"]), place(one["to"])) for one in result["links"]] == [
            tuple(f"{names[table[s][link]]}[{table[f'{s}_port'][link]}]" for s in ("source", "target"))
            for link in links
        ]
        assert result["source"] == {"name": "host0000", "guid": "0x0002c90300000000", "lid": 1, "port": 1}
        assert result["pair_bytes"] is None
        assert {one["lane"] for one in result["links"]} == {None}

    def test_a_host_is_called_by_name_guid_lid_or_machine(self, netloom, paths):
        wanted = netloom.result("path", paths.ft2, "ftree", "host0000", "host0012")
        for one, other in (
            ("0x0002c90300000000", "0x2c90300000300"),
            ("lid 1", "LID 7"),
            # The GUIDs of their ports.
            ("0x0002c90300000001", "0x0002c90300000301"),
        ):
            assert netloom.result("path", paths.ft2, "ftree", one, other) == wanted
        found = netloom.result("path", CASES / "slow-cable" / "net.txt", "minhop", "n00", "n17")
        assert (found["source"]["name"], found["destination"]["name"]) == ("n00 HCA-1", "n17 HCA-1")

    def test_with_a_traffic_every_link_tells_what_it_carries(self, netloom):
        """A cable at 2 GB/s among ones at 12.5: bytes are bytes, not bytes of the fastest link's."""
        net = CASES / "slow-cable" / "net.txt"
        fabric = nl.Fabric.read(net)
        routes, traffic = nl.route("minhop", fabric), nl.Traffic.pattern("all-to-all:bytes=1000", 18)
        table = fabric.link_table()
        (slow,) = (
            link
            for link in range(fabric.links)
            if table["bandwidth_bytes_per_s"][link] == 2e9 and table["source"][link] < table["target"][link]
        )
        pair = users(fabric, routes, traffic, [slow])[0].pairs[0]
        names = fabric.host_names
        words = (names[pair.source], names[pair.destination], "--traffic", "all-to-all:bytes=1000")
        result = netloom.result("path", net, "minhop", *words)
        assert result["pair_bytes"] == 1000
        (link,) = (one for one in result["links"] if one["bytes_per_second"] == 2e9)
        crossing = sum(1000 for s in range(18) for d in range(18) if s != d and slow in routes.path(s, d))
        assert link["bytes"] == crossing
        assert link["seconds"] == crossing / 2e9
        # The first link carries all that its host sends.
        assert result["links"][0]["bytes"] == 17_000
        rows = csv.DictReader(io.StringIO(netloom.ok("path", net, "minhop", *words, "--format", "csv")))
        assert [float(row["bytes"]) for row in rows] == [one["bytes"] for one in result["links"]]

    def test_lanes_are_those_of_every_port(self, netloom):
        result = netloom.result("path", "dragonfly:p=4,a=8,h=4", "dla", "host0000", "host0900")
        assert result["service_level"] == 0
        assert [one["lane"] for one in result["links"]] == [0, 0, 0, 1, 0]

    def test_ways_back_by_other_cables_are_said(self, paths):
        fabric = nl.Fabric.read(paths.ft2)
        routes = nl.route("random", fabric, seed=3)
        found = [way(fabric, routes, 0, other).same_back for other in range(4, 32)]
        assert {True, False} == set(found)
        assert way(fabric, routes, 0, 1).same_back is True

    def test_what_is_no_pair_is_refused(self, netloom, paths):
        def word(*ends):
            return netloom.refused("path", paths.ft2, "ftree", *ends)

        assert "did you mean host0000" in word("hst0000", "host0001")
        assert "did you mean 0x0002c90300000300 (host0012)" in word("host0000", "0x0002c90300000304")
        assert "is a switch: expected a host" in word("host0000", "leaf03")
        assert "expected two hosts" in word("host0000", "lid 1")
        assert "has the LID 4000" in word("lid 4000", "host0001")

    def test_tables_that_lead_nowhere_name_the_switch(self, netloom, paths):
        fabric = nl.Fabric.read(paths.ft2)
        table = nl.route("ftree", fabric).table()
        table[3, 5] = 65535
        nl.Routes.from_table(fabric, table).write(netloom.folder / "holes.lfts", allow_unreachable=True)
        word = netloom.refused("path", paths.ft2, "holes.lfts", "host0012", "host0005")
        assert word == 'holes.lfts: no route from "host0012" to "host0005": "leaf03" has no entry for it'


class TestUsers:
    def test_bytes_of_users_are_the_links_load(self, paths):
        fabric = nl.Fabric.read(paths.ft2)
        traffic, jobs = nl.Traffic.read(JOBS, fabric), nl._core.place_jobs(fabric, JOBS)[1]
        for engine in ("ftree", "random", "s-mod-k"):
            routes = nl.route(engine, fabric, seed=5)
            loads = nl.loads(fabric, routes, traffic).per_link
            found = users(fabric, routes, traffic, range(fabric.links), jobs)
            assert [one.bytes for one in found] == pytest.approx(loads.tolist())
            for one in found:
                assert sum(size for *_, size in one.by_job()) == pytest.approx(one.bytes)

    def test_pairs_and_jobs_of_both_directions(self, netloom, paths):
        words = ("loads", paths.ft2, "ftree", JOBS)
        result = netloom.result(*words, "--users-of", "leaf03[7]")
        out, back = result["users"]
        assert (place(out["from"]), place(out["to"])) == ("leaf03[7]", "spine02[4]")
        assert (out["from"], out["to"]) == (back["to"], back["from"])
        assert sum(one["pairs"] for one in back["jobs"]) == back["pairs"] == len(back["users"])
        assert sum(one["bytes"] for one in back["users"]) == pytest.approx(back["bytes"])
        jobs = {one["job"] for one in back["users"]}
        assert jobs == {one["name"] for one in back["jobs"]}
        assert result == {**netloom.result(*words), "users": result["users"]}
        by_guid = netloom.result(*words, "--users-of", "0x0002c902000000c0[7]")
        assert by_guid["users"] == result["users"]
        text = netloom.ok(*words, "--users-of", "leaf03[7]")
        assert "users of leaf03[7] 0x0002c902000000c0 lid 34 → spine02[4]" in text

    def test_an_unknown_cable_names_what_there_is(self, netloom, paths):
        def word(cable):
            return netloom.refused("loads", paths.ft2, "ftree", "all-to-all", "--users-of", cable)

        assert "leaf03 has cables at 1, 2, 3, 4, 5, 6, 7, 8" in word("leaf03[77]")
        assert "expected a port, NAME[PORT] or 0xGUID[PORT]" in word("leaf03")
        assert "did you mean leaf03" in word("leef03[1]")
        assert "did you mean 0x0002c902000000c0 (leaf03)" in word("0x0002c902000000c1[7]")


class TestSharedNames:
    def test_hottest_links_have_guids_beside_names(self, netloom):
        net, routes = SAME / "net.txt", SAME / "m.lfts"
        hottest = netloom.result("loads", net, routes, "all-to-all")["hottest"]
        between = [one for one in hottest if one["from"] == one["to"] == NAME]
        assert between
        for one in between:
            assert {one["from_guid"], one["to_guid"]} == {"0xec0d9a0300a00100", "0xec0d9a0300b00100"}
        assert {one["from_guid"] for one in hottest if one["from"].startswith("n")} <= {None}
        text = netloom.ok("loads", net, routes, "all-to-all")
        assert f"{NAME}[5] 0xec0d9a0300a00100" in text

    def test_unique_names_have_none(self, netloom, paths):
        fabric = nl.Fabric.read(paths.ft2)
        traffic = nl.Traffic.pattern("bisection", 32)
        core = nl.loads(fabric, "ftree", traffic).hottest(7)
        told = netloom.result("loads", paths.ft2, "ftree", "bisection", "--hottest", "7")["hottest"]
        assert told == [{**one, "from_guid": None, "to_guid": None} for one in core]

    def test_a_shared_name_alone_is_refused_with_the_guids(self, netloom):
        words = ("loads", SAME / "net.txt", SAME / "m.lfts", "all-to-all", "--users-of")
        word = netloom.refused(*words, f"{NAME}[5]", "--quiet")
        assert "5 nodes have it: expected the GUID of one (0xec0d9a0300a00000, " in word
        for cable in ("0xec0d9a0300a00100[5]", f"{NAME} (0xec0d9a0300a00100)[5]"):
            out = netloom.result(*words, cable)["users"][0]
            assert (out["from"]["guid"], out["to"]["guid"]) == ("0xec0d9a0300a00100", "0xec0d9a0300b00100")

    def test_findings_and_pictures_of_what_is_live_tell_switches_apart(self):
        from netloom.live.ports import PortDown, findings_of

        fabric = nl.Fabric.read(SAME / "net.txt")
        one, other = (f"{NAME} (0xec0d9a0300{end})" for end in ("a00100", "b00100"))
        (found,) = findings_of(fabric, [PortDown(one, 5, "Down/Polling")], [], 36)
        assert found["text"] == f"{one}[5] -> {other}[5]: Down/Polling"


def test_a_machine_with_several_adapters_is_told_with_their_names(netloom, paths):
    net = paths.root / "tests" / "data" / "cases" / "rail-swapped" / "net.txt"
    word = netloom.refused("path", net, "ftree", "m0", "m4 mlx5_1")
    assert word == (
        'FROM "m0": a machine with 4 adapters: expected one of "m0 mlx5_0", "m0 mlx5_1", "m0 mlx5_2", …'
    )
    netloom.ok("path", net, "ftree", "m0 mlx5_1", "m4 mlx5_1")
