"""Small inputs after public bug reports (tests/data/cases), and what is right of each."""

from __future__ import annotations

import gzip
import json
import re
import shutil

import pytest

import netloom as nl
from conftest import ROOT

CASES = ROOT / "tests" / "data" / "cases"
TRIANGLE = CASES / "triangle"
CROSS = CASES / "cross-cable"
SYSFS = CASES / "sysfs-two-fabrics"
PLANS = CASES / "foreign-plans"
FOREIGN = CASES / "foreign-formats"


def kinds(result):
    return [one["kind"] for one in result["findings"]]


def test_shortest_ways_between_switches_of_one_level_are_no_violation(netloom):
    result = netloom.result("check", TRIANGLE / "net.txt", TRIANGLE / "today.lfts")
    assert (result["ok"], result["up_down_violations"], result["findings"]) == (True, 0, [])


@pytest.mark.parametrize(
    ("options", "before", "found"),
    [
        # A host is sent a byte by each of 5 others: 5 B on its own cable; two leaves have 2 x 2 pairs of
        # hosts: 4 B between switches. By up*/down* ways all is on two of the three cables: 8 B.
        ((), 5.0, 5.0),
        (("--objective", "worst"), 5.0, 5.0),
        (("--max-changes", "3"), 5.0, 5.0),
        (("--also", "all-to-all:bytes=2"), 5.0, None),
    ],
)
def test_todays_tables_are_measured_as_given_and_never_replaced_by_worse_ones(
    netloom, options, before, found
):
    result = netloom.result(
        "optimize",
        TRIANGLE / "net.txt",
        "all-to-all",
        "--from",
        TRIANGLE / "today.lfts",
        *options,
        "-o",
        "x.lfts",
    )
    was = result["background"]
    assert result["objective"]["value"] <= was["value"] * (1 + 1e-9)
    assert before is None or was["max_load"] == before
    assert found is None or result["max_load"] == found
    # Every cable has an upper end, so the given ways are up*/down* ones.
    assert kinds(result) == []
    assert (result["changed_entries"], result["repaired_entries"], result["changed_because"]) == (
        0,
        0,
        "nothing",
    )
    assert netloom.result("loads", TRIANGLE / "net.txt", "x.lfts", "all-to-all")["max_load"] == 5.0
    assert netloom.result("check", TRIANGLE / "net.txt", "x.lfts")["ok"]


def test_safe_tables_of_other_ways_are_kept_where_none_better_are_found(netloom):
    # OpenSM's updn, one switch on top; with another on top up*/down* ways carry less.
    folder = CASES / "updn-off-trees"
    (netloom.folder / "today.lfts").write_bytes(
        gzip.decompress((folder / "dragonfly-2-4-2.updn.lfts.gz").read_bytes())
    )
    net, other = folder / "dragonfly-2-4-2.txt", ("--roots", "g05r2")
    options = ("--from", "today.lfts", *other, "--work", "20000", "-o", "x.lfts")
    # Ways that are longer than up*/down* ones are warnings.
    result = netloom.result("optimize", net, "all-to-all", *options, code=1)
    assert (result["background"]["max_load"], result["max_load"]) == (134.0, 134.0)
    assert (result["changed_entries"], result["repaired_entries"]) == (0, 0)
    # `dla` has less, on two lanes.
    assert {"today-is-better", "needs-lanes"} <= set(kinds(result))
    # Some of their ways are longer than the shortest, which on a dragonfly is noted.
    assert netloom.result("check", net, "x.lfts", *other)["credit_loops"] == 0
    lanes = netloom.result("optimize", net, "all-to-all", *options, "--write-sl2vl", "x.sl2vl")
    assert (lanes["max_load"], lanes["taken_from"], lanes["lanes"]) == (71.0, "dla", 2)


def test_where_todays_tables_can_deadlock_safety_comes_first_and_both_loads_are_told(netloom):
    # Around a ring by shortest ways, which up*/down* ways cannot close: OpenSM's DFSSSP needs two lanes.
    net, today = CASES / "dfsssp-ring" / "net.txt", CASES / "dfsssp-ring" / "dfsssp.lfts"
    # What is safe carries more on its fullest link than what stood: told, and exit 1.
    result = netloom.result("optimize", net, "all-to-all", "--from", today, "-o", "x.lfts", code=1)
    assert result["repaired_entries"] > 0
    # `layers` keeps the short ways, on two lanes.
    assert {"worse-than-today", "needs-lanes"} <= set(kinds(result))
    assert not {"kept", "today-is-better"} & set(kinds(result))
    given = netloom.result("loads", net, today, "all-to-all")["max_load"]
    assert result["background"]["max_load"] == given
    assert result["background"]["repaired_max_load"] > given
    assert "which can deadlock on one lane" in netloom("optimize", net, "all-to-all", "--from", today).err
    assert netloom.result("check", net, "x.lfts")["credit_loops"] == 0


LOSES = CASES / "ftree-loses-pairs"


def test_where_ftree_loses_pairs_minhop_is_loaded_and_told(netloom):
    """OpenSM 3.3.23 on this fabric: ftree gives up, minhop is loaded (tests/test_opensm.py)."""
    net, traffic = LOSES / "net.txt", LOSES / "t.csv"
    done = netloom("route", "ftree", net, "-o", "f.lfts")
    assert (done.code, done.err.count("minhop's tables are taken, as OpenSM does")) == (0, 1)
    netloom.ok("route", "minhop", net, "-o", "m.lfts", "-q")
    assert (netloom.folder / "f.lfts").read_bytes() == (netloom.folder / "m.lfts").read_bytes()
    assert kinds(netloom.result("route", "ftree", net)) == ["ftree-fallback"]
    assert netloom.result("check", net, "ftree")["ok"]
    before = netloom.result("optimize", net, traffic, "--background", "ftree")
    assert kinds(before) == ["ftree-fallback"]
    loads = netloom.result("loads", net, "minhop", traffic)
    assert before["background"]["max_load"] == loads["max_load"]


@pytest.mark.parametrize("judge", ["packets", "fluid"])
@pytest.mark.parametrize("more", [(), ("--background", "ftree")])
def test_a_judge_starts_where_ftree_loses_pairs(netloom, judge, more):
    result = netloom.result("optimize", LOSES / "net.txt", LOSES / "t.csv", "--judge", judge, *more)
    assert kinds(result) == ["ftree-fallback"]
    assert ("minhop" if more else "updn") in result["findings"][0]["text"]
    assert result["judge"]["candidates"][0]["name"] == "start"


def test_a_scenario_names_ftree_where_it_loses_pairs(netloom):
    text = f"""fabric = "{LOSES / "net.txt"}"
routes = ["ftree", "minhop", "optimized"]
[[job]]
program = {{ kind = "collective", collective = "alltoall", bytes = 1000 }}
"""
    (netloom.folder / "s.toml").write_text(text)
    result = netloom.result("simulate", "s.toml")
    ftree, minhop, _ = (one["jobs"][0]["completion_ms"] for one in result["runs"])
    assert ftree == minhop
    told = [one["text"] for one in result["findings"] if one["kind"] == "ftree-fallback"]
    assert [text.split(" ")[:2] for text in told] == [["ftree:", "minhop's"], ["optimized:", "updn's"]]
    for verb, *words in (["noise"], ["sample", "run"]):
        done = netloom(verb, *words, "s.toml", "--routings", "ftree")
        assert (done.code, "minhop's tables are taken" in done.err) == (0, True), done.err


def test_entries_to_switches_that_can_deadlock_are_repaired_in_tables_that_are_kept(netloom):
    # Of these tables those towards hosts are sound; a loop closes by way of switches' own LIDs.
    case = ROOT / "tests" / "data" / "credit-loop"
    assert netloom.result("check", case / "net.txt", case / "today.lfts", code=1)["credit_loops"] == 1
    result = netloom.result(
        "optimize", case / "net.txt", case / "t.csv", "--from", case / "today.lfts", "-o", "x.lfts"
    )
    assert result["repaired_entries"] > 0
    assert netloom.result("check", case / "net.txt", "x.lfts")["credit_loops"] == 0


def test_opensms_up_sideways_down_is_right_and_what_ftree_forgot_is_found(netloom):
    result = netloom.result("check", CROSS / "net.txt", CROSS / "opensm-updn-roots.lfts")
    assert (result["ok"], result["up_down_violations"], result["credit_loops"]) == (True, 0, 0)
    result = netloom.result("check", CROSS / "net.txt", CROSS / "opensm-ftree.lfts", code=1)
    assert (result["ok"], result["unreachable_hosts"]) == (False, 22)


@pytest.mark.parametrize("trees", ["one", "both"])
def test_counters_of_another_fabrics_adapter_are_nobodys(netloom, trees):
    # n00 has sent 5,000 units of four octets, n02 4,000; mlx5_1 of n00, which has n02's LID elsewhere, more.
    shown = netloom.result("counters", "show", SYSFS / "net.txt", SYSFS / trees)
    sent = {
        link["from"].split()[0]: link["bytes"] for link in shown["busiest"] if link["from"].startswith("n")
    }
    assert sent["n00"] == 20_000
    assert sent.get("n02", 0) == (16_000 if trees == "both" else 0)
    assert any("of other fabrics, left out: n00 mlx5_1 (GUID 0x" in note for note in shown["notes"])


def test_virtual_functions_and_ethernet_are_left_out_and_told(netloom):
    for tree, told in (("vf", "(virtual functions), left out: n00 mlx5_2"), ("eth", "Ethernet")):
        shown = netloom.result("counters", "show", SYSFS / "net.txt", SYSFS / tree)
        assert shown["host_bytes"] == 20_000, tree
        assert any(told in note for note in shown["notes"]), shown["notes"]


def test_a_bad_counter_is_named_with_its_file(netloom):
    shutil.copytree(SYSFS / "one", netloom.folder / "tree")
    counter = "n00/mlx5_0/ports/1/counters/port_xmit_data"
    (netloom.folder / "tree" / counter).write_text("x\n")
    told = netloom.refused("counters", "show", SYSFS / "net.txt", "tree")
    assert told == f'tree/{counter}:1: expected a number below 2^64, found "x"'


def test_an_error_counter_below_0_is_told_as_what_it_is(netloom):
    """Some drivers print -40 as a number of 64 bits."""
    shutil.copytree(SYSFS / "one", netloom.folder / "tree")
    counters = netloom.folder / "tree" / "n00" / "mlx5_0" / "ports" / "1" / "counters"
    (counters / "port_xmit_discards").write_text("18446744073709551576\n")
    done = netloom("counters", "check", SYSFS / "net.txt", "tree")
    assert "PortXmitDiscards of n00 mlx5_0[1] is -40: no count is below 0, left out" in done.out
    assert "18446744073709551576" not in done.out + done.err


@pytest.mark.parametrize(
    ("name", "bytes"), [("cpu-nic", 4096), ("tag32", 4096), ("tag", 4096), ("comments", 10)]
)
def test_goal_is_read_as_its_tools_write_it(netloom, name, bytes):
    shown = netloom.result("traffic", "show", CASES / "goal-atlahs" / f"{name}.goal")
    assert (shown["pairs"], shown["total_bytes"]) == (1, bytes)


def test_numbers_of_traces_are_strtods(netloom):
    shown = netloom.result("traffic", "show", CASES / "ti-scientific" / "run.ti")
    assert shown["total_bytes"] == 1_050_000


def test_a_trace_without_tags_is_told_as_one(netloom):
    told = netloom.refused("traffic", "show", CASES / "ti-scientific" / "before-3.20.ti")
    assert "before-3.20.ti:3: " in told
    assert "before SimGrid 3.20, which had no tags? Record it again" in told


def test_fdbs_are_read(netloom):
    result = netloom.result("check", FOREIGN / "net.txt", FOREIGN / "osm.fdbs")
    assert (result["ok"], result["unreachable_hosts"], result["findings"]) == (True, 0, [])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fabric", "show", FOREIGN / "ibsim-dump.txt"), "ibsim's dump"),
        (("fabric", "show", CASES / "back-to-back" / "net.txt"), "to no switch: there is nothing to route"),
        (("traffic", "show", FOREIGN / "pmpi-trace-rank-0.txt"), "Schedgen makes a GOAL schedule"),
    ],
)
def test_what_is_not_read_is_named_for_what_it_is(netloom, arguments, told):
    assert told in netloom.refused(*arguments)


def test_squeues_table_is_named(netloom):
    net, table = FOREIGN / "net.txt", FOREIGN / "squeue.txt"
    netloom.ok("counters", "synth", net, "updn", "permutation:seed=1", "-o", "c.csv")
    told = netloom.refused("infer", net, "updn", "c.csv", "--jobs", table)
    assert "squeue.txt:1: expected squeue --json" in told


def test_a_credit_loop_is_one_of_one_lane(netloom):
    case = CASES / "dfsssp-ring"
    result = netloom.result("check", case / "net.txt", case / "dfsssp.lfts", code=1)
    assert (result["up_down_violations"], kinds(result)) == (0, ["credit-loop"])
    text = result["findings"][0]["text"]
    assert re.match(
        r"on one lane, \d+ links wait for each other \(several lanes can break such loops\)", text
    )


def test_lids_of_no_port_are_kept_in_what_is_written_and_told(netloom, paths):
    netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
    text = (netloom.folder / "today.lfts").read_text()
    # A virtual port behind host0000 in every table, and one that only some know.
    lines = []
    for number, table in enumerate(text.split("Unicast lids")[1:]):
        lines.append(f"Unicast lids{table}")
        port = re.search(r"0x0*1 (\d+)", table)
        assert port is not None
        lines.append(f"0x0bb8 {port[1]} # Channel Adapter portguid 0x00000000000b0b01: 'n0 vport'\n")
        lines += ["0x0bb9 001\n"] if number % 2 else []
    # Entries go before the count.
    today = re.sub(r"(\d+ lids dumped\n)((?:0x0bb.*\n)+)", r"\2\1", "".join(lines))
    (netloom.folder / "today.lfts").write_text(today)
    result = netloom.result(
        "optimize", paths.ft2, "permutation:seed=3", "--from", "today.lfts", "-o", "new.lfts"
    )
    assert any(
        one["kind"] == "unknown-lid"
        and "2 LIDs that no port of the fabric has (0x0bb8, 0x0bb9)" in one["text"]
        for one in result["findings"]
    )
    new = (netloom.folder / "new.lfts").read_text()
    for lid in ("0x0bb8", "0x0bb9"):
        before = [line for line in today.splitlines() if line.startswith(lid)]
        assert [line for line in new.splitlines() if line.startswith(lid)] == before
    checked = json.loads(netloom.ok("check", paths.ft2, "new.lfts", "--format", "json"))["result"]
    assert checked["ok"]
    assert "unknown-lid" in kinds(checked)


OPTIMISER = CASES / "optimiser"


@pytest.mark.parametrize("most", [2, 3])
def test_few_changes_are_used_as_well_as_more_would_be(netloom, most):
    # A search for two changes ends at 56.25 B; one for three finds 36 B with two.
    result = netloom.result(
        "optimize", OPTIMISER / "s114.net", OPTIMISER / "s114.csv", "--from", "ftree", "--max-changes", most
    )
    assert (result["max_load"], result["proven_optimal"]) == (36.0, True)
    assert result["changed_entries"] <= most


def test_a_spine_without_a_way_up_is_reached_where_opensm_reaches_it(netloom):
    folder = OPTIMISER / "thin-spine"
    roots = ("--roots", folder / "roots")
    netloom.ok("route", "updn", folder / "net", *roots, "-o", "x.lfts")
    ours, theirs = (
        netloom.result("check", folder / "net", *roots, tables)
        for tables in ("x.lfts", folder / "opensm-ftree.lfts")
    )
    assert (ours["unreachable_hosts"], ours["credit_loops"]) == (0, 0)
    assert ours["unreachable_management"] == theirs["unreachable_management"] == 4


def test_uneven_bundles_say_that_opensm_takes_minhop(netloom):
    folder = OPTIMISER / "uneven"
    fabric = nl.Fabric.read(folder / "net")
    theirs = nl.Routes.read(folder / "opensm-ftree.lfts", fabric)
    # OpenSM 3.3.23 was asked for ftree and loaded minhop: nothing is missing, one bundle has a cable more.
    assert nl.route("minhop", fabric).changed_entries(theirs) == 0
    assert nl.route("ftree", fabric).changed_entries(theirs) > 0
    done = netloom("route", "ftree", folder / "net", "-o", "x.lfts")
    assert done.code == 0
    assert "not told the roots takes minhop's tables here, not these: L0 has 3 cables to S2" in done.err
    assert "minhop's tables" not in netloom("route", "minhop", folder / "net", "-o", "x.lfts").err
    for regular in ("quartz1", "two-level:leaves=8,hosts=4,spines=4"):
        assert "minhop" not in netloom("route", "ftree", regular).err


ORDERS = CASES / "orders"


@pytest.mark.parametrize(
    ("name", "least"), [("f71944", 8.0), ("f71520", 16.0), ("min71062", 7.0), ("f90523", 13.0)]
)
def test_no_stated_root_carries_what_the_proof_says_nobody_can(netloom, name, least):
    """A stranger's fabrics: levels were proven optimal with 9 to 22 B, and one switch on top has `least`."""
    result = netloom.result("optimize", ORDERS / f"{name}.txt", "all-to-all")
    assert result["max_load"] == least
    fabric = nl.Fabric.read(ORDERS / f"{name}.txt")
    traffic = nl.Traffic.read("all-to-all", fabric)
    for root in fabric.switch_names:
        other = nl.optimize(fabric.with_roots([root]), traffic, work=3000)
        assert other.loads.max >= result["lower_bound"] * (1 - 1e-9)


def test_roots_in_a_row_lose_pairs_and_are_not_written(netloom):
    """OpenSM takes both directions between roots for up, and joins the ends."""
    roots = ("--roots", "s0,s1,s2")
    done = netloom("route", "updn", ORDERS / "chain3.txt", *roots, "-o", "x.lfts")
    assert (done.code, (netloom.folder / "x.lfts").exists()) == (3, False)
    assert "these routes lose 2 pairs of hosts that cables join" in done.err
    netloom.ok("route", "updn", ORDERS / "chain3.txt", "--roots", "s1", "-o", "x.lfts")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("opalinks.csv", "Omni-Path is not read"),
        ("topo.conf", "Slurm's topology.conf, which tells no cables"),
        ("leafspine.clab.yml", "Containerlab's file"),
        ("anynet", "BookSim's anynet"),
        ("topology.txt", "a topology.txt of ns-3"),
    ],
)
def test_files_of_the_field_are_refused_by_name(netloom, paths, file, words):
    for command in (("fabric", "show", FOREIGN / file), ("health", paths.ft2, "--expect", FOREIGN / file)):
        done = netloom(*command)
        assert done.code == 3
        assert words in done.err


def test_iblinkinfo_a_table_of_cables_and_ufms_plan_are_fabrics_and_plans(netloom):
    dump = PLANS / "net.txt"
    whole = netloom.result("fabric", "show", dump)
    for file in ("iblinkinfo.txt", "iblinkinfo-l.txt"):
        result = netloom.result("fabric", "show", PLANS / file)
        assert [result[key] for key in ("hosts", "switches", "links", "cabling_hash")] == [
            whole[key] for key in ("hosts", "switches", "links", "cabling_hash")
        ]
    netloom.ok("fabric", "convert", dump, "-o", "cables.csv", "-q")
    assert (netloom.folder / "cables.csv").read_text().splitlines()[:2] == [
        "from,port,to,port,speed",
        "leaf0,1,n00 mlx5_0,1,4xHDR",
    ]
    read = netloom.result("fabric", "show", "cables.csv")
    assert [read[key] for key in ("hosts", "switches", "links")] == [4, 4, 16]
    for plan in ("cables.csv", PLANS / "plan.ndt", PLANS / "iblinkinfo.txt"):
        assert netloom.result("health", dump, "--expect", plan)["findings"] == []
    # A cable of the plan that is not there.
    text = (netloom.folder / "cables.csv").read_text().replace("spine1,2", "spine1,3")
    (netloom.folder / "cables.csv").write_text(text + "leaf1,22,spine1,2,4xHDR\n")
    missing = netloom.result("health", dump, "--expect", "cables.csv", code=1)["findings"]
    assert "cable-missing" in {one["kind"] for one in missing}


def test_counters_and_messages_of_other_tools_are_refused_by_name(netloom, paths):
    for file, words in (("api.json", "a reply of Prometheus' HTTP API"), ("influx.txt", "telegraf's line")):
        done = netloom("counters", "show", paths.ft2, FOREIGN / file)
        assert done.code == 3
        assert words in done.err
    done = netloom("traffic", "show", FOREIGN / "mon.0.prof")
    assert done.code == 3
    assert "record the program with `netloom record`" in done.err


def test_tables_written_for_a_table_of_cables_are_read_back(netloom):
    """Hosts' ports had the GUIDs of switches: what `route` wrote lost pairs when it was read."""
    netloom.ok("fabric", "convert", "two-level:leaves=4,hosts=3,spines=2", "-o", "cables.csv")
    netloom.ok("route", "ftree", "cables.csv", "-o", "r.lfts")
    checked = netloom.result("check", "cables.csv", "r.lfts")
    assert checked["ok"] is True
    assert checked["findings"] == []
