"""`netloom apply` of routes that need lanes, on a real OpenSM: judged with the lanes that switches have."""

from __future__ import annotations

import pytest

import netloom as nl
from apply_bed import bed
from netloom.live import missing_tools

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


def test_a_damaged_dragonfly_is_judged_with_the_lanes_in_force(netloom, tmp_path):
    """60 switches, 10 of 195 cables between them cut: tables by OpenSM's `file`, lanes row by row."""
    spec = "dragonfly:p=1,a=6,h=2,g=10"
    netloom.ok("fabric", "damage", spec, "--random-links", "10", "--seed", "4", "-o", "cut.net", "-q")
    with bed(netloom.folder / "cut.net", tmp_path) as live:
        where = live.arguments()[-2:]
        net = netloom.folder / "net.txt"
        net.write_bytes(live.sim.discover())
        netloom.ok("route", "dla", net, "-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "-q")
        planned = live.arguments("plan", "r.lfts")
        refused = netloom.result(*planned, code=1)
        assert [one["kind"] for one in refused["findings"]] == ["credit-loop"]
        assert "the lanes in force do not break it" in refused["findings"][0]["text"]
        assert netloom.result("lanes", "load", "r.sl2vl", *where, "--yes")["verified"]
        refused = netloom.result(*planned, code=1)
        assert "the 2 lanes in force break it, at every service level" in refused["findings"][0]["text"]
        sent = netloom.result(*live.arguments("r.lfts", "--yes", "--allow", "credit-loop"))
        assert (sent["outcome"], sent["findings"]) == ("applied", [])
        now = live.settled()
        wanted = nl.Routes.read(netloom.folder / "r.lfts", now.fabric)
        assert now.tables.changed_entries(wanted) == 0
        assert netloom.result("lanes", "load", "r.sl2vl", *where)["different"] == 0


def test_optimised_tables_and_their_lanes_are_read_back_as_they_were_sent(netloom, tmp_path):
    """72 hosts: tables by OpenSM's `file`, lanes row by row; levels of pairs are for a QoS policy to say."""
    netloom.ok("fabric", "new", "dragonfly:p=2,a=4,h=2", "-o", "whole.net", "-q")
    with bed(netloom.folder / "whole.net", tmp_path) as live:
        where = live.arguments()[-2:]
        net = netloom.folder / "net.txt"
        net.write_bytes(live.sim.discover())
        files = ("-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "sl.csv")
        best = netloom.result("optimize", net, "permutation:seed=1", *files)
        assert 1 < best["lanes"] <= 8
        assert netloom.result("lanes", "load", "r.sl2vl", *where, "--yes")["verified"]
        sent = netloom.result(*live.arguments("r.lfts", "--yes", "--allow", "credit-loop"))
        assert sent["outcome"] == "applied"
        now = live.settled()
        wanted = nl.Routes.read(netloom.folder / "r.lfts", now.fabric)
        assert now.tables.changed_entries(wanted) == 0
        assert netloom.result("lanes", "load", "r.sl2vl", *where)["different"] == 0
        (netloom.folder / "now.lfts").write_bytes(now.tables.to_bytes())
    judged = netloom.result("check", net, "now.lfts", "--sl2vl", "r.sl2vl", "--sl", "sl.csv")
    assert (judged["credit_loops"], judged["unreachable_hosts"]) == (0, 0)
    loads = netloom.result("loads", net, "now.lfts", "permutation:seed=1")
    assert loads["max_load"] == best["max_load"]
