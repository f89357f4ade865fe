"""`netloom route`, `loads` and `check` on real tables."""

from __future__ import annotations

import gzip

import pytest

ENGINES = ["minhop", "updn", "ftree", "d-mod-k", "s-mod-k", "random"]
KEYS = {
    "max_load", "mean_load", "ar_bound", "ar_gap_percent", "lower_bound", "lower_bound_gap_percent",
    "links_at_max", "proven_optimal", "hottest",
}  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_reports_the_promised_keys(netloom, paths, engine):
    result = netloom.result("route", engine, paths.ft3, "bisection")
    assert result.keys() >= KEYS
    assert result["max_load"] >= result["lower_bound"] * (1 - 1e-9)
    assert result["lower_bound"] >= result["ar_bound"] * (1 - 1e-9)
    assert result["hottest"][0]["load"] == result["max_load"]


@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "s-mod-k"])
@pytest.mark.parametrize("fabric", ["ft2", "ft3"])
def test_every_engine_passes_the_check(netloom, paths, engine, fabric):
    netloom.ok("route", engine, getattr(paths, fabric), "-o", "r.lfts")
    result = netloom.result("check", getattr(paths, fabric), "r.lfts")
    assert result["ok"] is True
    assert result["pairs"] == 32 * 31


@pytest.mark.parametrize("fabric", ["ft2_32", "ft3_32"])
def test_openSM_s_own_tables_pass_the_check(netloom, paths, fabric):
    folder = paths.opensm / fabric
    result = netloom.result("check", folder / "ibnetdiscover.txt", folder / "opensm-lfts.dump")
    assert result["ok"] is True


def test_a_dump_of_the_switches_and_opensm_s_dump_are_the_same_routes(netloom, paths):
    folder = paths.opensm / "ft2_32"
    results = [
        netloom.result("loads", folder / "ibnetdiscover.txt", folder / name, "all-to-all")
        for name in ("opensm-lfts.dump", "dump_fts.txt")
    ]
    assert results[0] == results[1]


def test_routes_survive_writing_and_reading(netloom, paths):
    netloom.ok("route", "ftree", paths.ft3, "-o", "a.lfts.gz")
    netloom.ok("route", "ftree", paths.ft3, "-o", "b.lfts")
    assert (
        gzip.decompress((netloom.folder / "a.lfts.gz").read_bytes())
        == (netloom.folder / "b.lfts").read_bytes()
    )
    direct = netloom.result("loads", paths.ft3, "ftree", "bisection")
    assert netloom.result("loads", paths.ft3, "a.lfts.gz", "bisection") == direct


def test_s_mod_k_is_no_table_and_says_so(netloom, paths):
    message = netloom.refused("route", "s-mod-k", paths.ft2, "-o", "r.lfts")
    assert "s-mod-k" in message or "source" in message


def test_all_to_all_loads_a_two_level_tree_evenly(netloom, paths):
    # 8 leaves x 4 hosts, 4 spines. A host sends to 31 others; an up-link under d-mod-k carries what 4
    # hosts send to the 7 other leaves' 28 hosts, over 4 spines: 4 * 28 / 4 = 28. Host links have 31.
    result = netloom.result("loads", paths.small, "d-mod-k", "all-to-all:bytes=1")
    assert result["max_load"] == 31
    assert result["max_load_between_switches"] == 28
    assert result["links_at_max"] == 64
    assert result["proven_optimal"] is True


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_load_of_every_link_goes_to_a_file(netloom, paths, ending):
    import pyarrow.csv
    import pyarrow.parquet

    netloom.ok("loads", paths.small, "ftree", "all-to-all", "-o", f"loads.{ending}")
    path = netloom.folder / f"loads.{ending}"
    table = pyarrow.csv.read_csv(path) if ending == "csv" else pyarrow.parquet.read_table(path)
    result = netloom.result("loads", paths.small, "ftree", "all-to-all")
    assert max(table["load"].to_pylist()) == result["max_load"]
    assert table.num_rows == 2 * (32 + 8 * 4)


def test_threads_change_nothing(netloom, paths):
    one = netloom.json(
        "loads", paths.ft3, "random", "bisection-shuffle:seed=1", "--threads", "1", "--seed", "3"
    )
    two = netloom.json(
        "loads", paths.ft3, "random", "bisection-shuffle:seed=1", "--threads", "2", "--seed", "3"
    )
    assert one["result"] == two["result"]
    assert (one["threads"], two["threads"]) == (1, 2)


def test_the_seed_moves_the_random_engine(netloom, paths):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        netloom.ok("route", "random", paths.ft3, "--seed", seed, "-o", f"{name}.lfts")
    a, b, c = ((netloom.folder / f"{name}.lfts").read_bytes() for name in "abc")
    assert a == b
    assert a != c


# What OpenSM accepts silently, check must find: each row is one line of a real table, changed.


def edited(netloom, paths, change):
    lines = (paths.opensm / "ft2_32" / "opensm-lfts.dump").read_text().splitlines(keepends=True)
    (netloom.folder / "bad.lfts").write_text("".join(change(lines)))
    return netloom.result("check", paths.ft2, "bad.lfts", code=1)


def test_a_missing_entry_makes_a_host_unreachable(netloom, paths):
    result = edited(netloom, paths, lambda lines: [lines[0], *lines[2:]])
    assert result["missing_entries"] == 1
    assert result["unreachable_pairs"] >= 1
    assert result["findings"]


def test_a_black_hole_is_found(netloom, paths):
    # leaf00 is lines[0]; send host0031 (LID 0x2c) to a host port instead of up.
    def change(lines):
        at = next(i for i, line in enumerate(lines) if line.startswith("0x002c"))
        return [*lines[:at], "0x002c 001 # to a neighbour\n", *lines[at + 1 :]]

    result = edited(netloom, paths, change)
    assert result["ok"] is False
    assert result["unreachable_pairs"] + result["invalid_entries"] > 0


def test_a_missing_switch_is_found(netloom, paths):
    def change(lines):
        starts = [i for i, line in enumerate(lines) if line.startswith("Unicast")]
        return lines[: starts[0]] + lines[starts[1] :]

    result = edited(netloom, paths, change)
    assert result["missing_entries"] > 30


def test_lmc_tables_are_read(netloom, paths):
    folder = paths.opensm / "ft2_32_lmc1"
    result = netloom.result("check", paths.ft2, folder / "opensm-lfts_updn.dump")
    assert (result["ok"], result["pairs"]) == (True, 2 * 32 * 31)
    # Hosts reach hosts by both addresses; spine00 sends other spines' LIDs to a neighbour of theirs.
    result = netloom.result("check", paths.ft2, folder / "routes_two_uplinks.lfts", code=1)
    assert (result["credit_loops"], result["non_minimal_pairs"], result["missing_entries"]) == (0, 0, 0)
    assert all("cannot reach switch" in finding["text"] for finding in result["findings"])


def test_faults_of_a_file_are_told_by_line_and_counted_once(netloom, paths):
    folder = paths.opensm / "ft3_32" / "fault_p0leaf0_port5_down"
    result = netloom.result("check", folder / "ibnetdiscover.txt", folder / "dump_fts.txt", code=1)
    # The tables are from before the cable was pulled: 25 entries of p0leaf0 and 5 of p0spine0 used it.
    assert result["invalid_entries"] == 30
    assert any(finding["text"].split(": ")[0].endswith(":402") for finding in result["findings"])
