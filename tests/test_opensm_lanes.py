"""Tables of OpenSM's engines with lanes: free of deadlocks with their lanes and levels, refused without."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path

import pytest

import opensm_lanes
from netloom.live import missing_tools

DATA = Path(__file__).parent / "data" / "opensm-lanes"
RECORDED = list(product(("ring5", "torus4x4", "dragonfly72"), opensm_lanes.ENGINES))
ONE_LANE = {("torus4x4", "lash")}
"""What needs no second lane."""

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


def of(name: str, engine: str, what: str) -> Path:
    return DATA / f"{name}-{engine}.{what}.gz"


def judged(netloom, *arguments: object):
    """The result of a check, whatever it says."""
    done = netloom("check", *arguments, "--format", "json", "-q")
    assert done.code in (0, 1), done.err
    return json.loads(done.out)["result"]


@pytest.mark.parametrize(("name", "engine"), RECORDED)
def test_tables_are_free_with_their_lanes_and_refused_without(netloom, name, engine):
    fabric, tables = of(name, engine, "ibnetdiscover"), of(name, engine, "lfts")
    lanes = ("--sl2vl", of(name, engine, "sl2vl"))
    levels = ("--sl", of(name, engine, "sl.csv"))
    whole = judged(netloom, fabric, tables, *lanes, *levels)
    assert (whole["credit_loops"], whole["cycle"], whole["unreachable_hosts"]) == (0, [], 0)
    assert [found for found in whole["findings"] if found["kind"] == "credit-loop"] == []
    # No level keeps packets to switches' own LIDs apart: told, and no fault.
    told = [found["severity"] for found in whole["findings"] if found["kind"] == "switch-credit-loop"]
    if (name, engine) in ONE_LANE:
        assert (whole["lanes"], whole["switch_credit_loops"], told) == (1, 0, [])
        return
    assert (whole["ok"], whole["switch_credit_loops"] > 0, told) == (True, True, ["note"])
    used = {row.split(",")[2] for row in gzip.decompress(levels[1].read_bytes()).decode().split()[1:]}
    assert whole["lanes"] == len(used) > 1
    # Without levels a message may have any, so every lane carries everything; without lanes there is one.
    for less in ((), lanes):
        refused = judged(netloom, fabric, tables, *less)
        assert refused["ok"] is False
        assert refused["credit_loops"] > 0
        lane = refused["cycle"][0]["lane"]
        assert len(refused["cycle"]) >= 3
        assert all(step["lane"] == lane for step in refused["cycle"])


def test_one_level_for_all_pairs_is_refused(netloom):
    fabric, tables = (of("ring5", "lash", what) for what in ("ibnetdiscover", "lfts"))
    rows = gzip.decompress(of("ring5", "lash", "sl.csv").read_bytes()).decode().split()
    flat = [rows[0], *(row.rsplit(",", 1)[0] + ",3" for row in rows[1:])]
    (netloom.folder / "flat.csv").write_text("\n".join(flat) + "\n")
    result = judged(netloom, fabric, tables, "--sl2vl", of("ring5", "lash", "sl2vl"), "--sl", "flat.csv")
    assert result["credit_loops"] == 2
    assert {step["lane"] for step in result["cycle"]} == {3}


def test_levels_say_on_which_lane_loads_are(netloom):
    fabric, tables = (of("ring5", "lash", what) for what in ("ibnetdiscover", "lfts"))
    lanes = ("--sl2vl", of("ring5", "lash", "sl2vl"), "--sl", of("ring5", "lash", "sl.csv"))
    loads = netloom.result("loads", fabric, tables, "all-to-all", *lanes)["lane_loads"]
    # Levels 0 and 1 are in use, of eight lanes.
    assert len(loads) == 8
    assert loads[0] > 0
    assert loads[1] > 0
    assert loads[2:] == [0] * 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [], "expected a header"),
        (lambda rows: ["source,destination,path", *rows[1:]], "levels.csv:1: expected a header"),
        (lambda rows: rows[:-1], "expected the level of every pair of hosts, found none of"),
        (lambda rows: [*rows, rows[1]], "as on line 2"),
        (lambda rows: [*rows, "1,4000,0"], f"levels.csv:{92}: expected a LID of the fabric, found 4000"),
        (lambda rows: [*rows, "1,2,16"], "expected a service level, 0 to 15"),
        (lambda rows: [*rows, "1,2"], "expected 3 fields, found 2"),
        (lambda rows: [*rows, "\x00\x01"], "expected 3 fields, found 1"),
    ],
)
def test_files_of_levels_that_are_none_are_refused(netloom, change, message):
    rows = gzip.decompress(of("ring5", "dfsssp", "sl.csv").read_bytes()).decode().split()
    (netloom.folder / "levels.csv").write_text("\n".join(change(rows)) + "\n")
    asked = [of("ring5", "dfsssp", what) for what in ("ibnetdiscover", "lfts", "sl2vl")]
    word = netloom.refused("check", asked[0], asked[1], "--sl2vl", asked[2], "--sl", "levels.csv", "-q")
    assert message in word


def test_levels_without_lanes_say_nothing(netloom):
    fabric, tables, levels = (of("ring5", "dfsssp", what) for what in ("ibnetdiscover", "lfts", "sl.csv"))
    for verb in (("check", fabric, tables), ("loads", fabric, tables, "all-to-all")):
        assert "expected --sl2vl too" in netloom.refused(*verb, "--sl", levels, code=2)


class TestOpenSM:
    """The same of a manager that runs now."""

    pytestmark = with_opensm

    @pytest.mark.parametrize("engine", opensm_lanes.ENGINES)
    def test_a_ring_is_free_with_what_the_manager_says(self, netloom, engine):
        net = netloom.folder / "ring.net"
        net.write_text(opensm_lanes.ring(5))
        made = opensm_lanes.record(net, engine)
        for name, data in (
            ("fabric.txt", made.fabric),
            ("r.lfts", made.tables),
            ("r.sl2vl", made.lanes),
            ("sl.csv", made.levels),
        ):
            (netloom.folder / name).write_bytes(data)
        asked = ("fabric.txt", "r.lfts", "--sl2vl", "r.sl2vl")
        assert judged(netloom, *asked, "--sl", "sl.csv")["credit_loops"] == 0
        assert judged(netloom, *asked)["credit_loops"] > 0
        assert judged(netloom, "fabric.txt", "r.lfts")["credit_loops"] > 0
