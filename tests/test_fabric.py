"""`netloom fabric`: real dumps, generators, conversion, damage."""

from __future__ import annotations

import gzip

import pytest

import netloom as nl
from conftest import ROOT


def test_a_real_dump_and_the_generator_are_the_same_quartz1(netloom, paths):
    dump = netloom.result("fabric", "show", paths.quartz1)
    made = netloom.result("fabric", "show", "quartz1")
    # 3072 hosts, 96 leaves, 64 spines, 48 cores, 6144 cables.
    for result in (dump, made):
        assert result["hosts"] == 3072
        assert result["switches_per_level"] == [96, 64, 48]
        assert result["links"] == 2 * (3072 + 1536 + 1536)  # hosts, leaf to spine, spine to core
        assert (result["levels"], result["pods"], result["core_groups"], result["regular"]) == (3, 4, 2, True)


@pytest.mark.parametrize(("name", "levels"), [("ft2", [8, 4]), ("ft3", [8, 4, 4])])
def test_levels_are_detected_on_small_dumps(netloom, paths, name, levels):
    result = netloom.result("fabric", "show", getattr(paths, name))
    assert result["switches_per_level"] == levels
    assert result["findings"] == []


def test_a_pulled_cable_makes_a_dump_irregular(netloom, paths):
    dump = paths.opensm / "ft3_32" / "fault_p0leaf0_port5_down" / "ibnetdiscover.txt"
    result = netloom.result("fabric", "show", dump)
    assert (result["levels"], result["pods"], result["regular"]) == (3, 2, False)
    assert result["irregular"]
    assert result["irregular"] in netloom.ok("fabric", "show", dump)


@pytest.mark.parametrize("ending", ["txt", "net", "txt.gz", "net.gz"])
def test_conversion_keeps_the_fabric(netloom, paths, ending):
    netloom.ok("fabric", "convert", paths.ft3, "-o", f"out.{ending}")
    before = netloom.result("fabric", "show", paths.ft3)
    after = netloom.result("fabric", "show", f"out.{ending}")
    assert after["cabling_hash"] == before["cabling_hash"]
    assert ending.endswith("gz") == (netloom.folder / f"out.{ending}").read_bytes().startswith(b"\x1f\x8b")


def test_dot_is_for_graphviz(netloom, paths):
    netloom.ok("fabric", "convert", paths.ft2, "-o", "out.dot")
    assert "graph" in (netloom.folder / "out.dot").read_text().splitlines()[0]


def test_product_to_standard_output_is_nothing_but_the_product(netloom, paths):
    text = netloom.ok("fabric", "convert", paths.ft2, "-o", "-")
    (netloom.folder / "again.txt").write_text(text)
    assert netloom.result("fabric", "show", "again.txt")["hosts"] == 32


def test_damage_by_name_takes_out_both_directions(netloom, paths):
    before = netloom.result("fabric", "show", paths.ft2)
    after = netloom.result("fabric", "damage", paths.ft2, "--link", "leaf00[5]", "-o", "left.net")
    assert after["links"] == before["links"] - 2
    assert len(after["removed"]) == 1
    assert "leaf00[5]" in after["removed"][0]
    assert netloom.result("fabric", "show", "left.net")["links"] == after["links"]


def test_random_damage_depends_on_the_seed_alone(netloom, paths):
    def removed(seed):
        arguments = ["--random-links", "3", "--random-switches", "1", "--seed", seed]
        return netloom.result("fabric", "damage", paths.ft3, *arguments)["removed"]

    assert removed(1) == removed(1)
    assert any(removed(1) != removed(seed) for seed in (2, 3, 4))


def test_generated_bytes_do_not_change(netloom):
    netloom.ok("fabric", "new", "cab", "-o", "a.txt.gz")
    netloom.ok("fabric", "new", "cab", "-o", "b.txt.gz")
    a, b = ((netloom.folder / name).read_bytes() for name in ("a.txt.gz", "b.txt.gz"))
    assert a == b
    assert gzip.decompress(a).startswith(b"#")


def test_a_generator_wins_over_a_file_of_its_name(netloom):
    (netloom.folder / "cab").write_text("not a fabric")
    assert netloom.result("fabric", "show", "cab")["hosts"] == 1296
    assert "./cab" in netloom.refused("fabric", "show", "./cab")


def test_a_dump_of_ibdiagnet_that_is_not_read_names_those_that_are(netloom, paths):
    (netloom.folder / "ibdiagnet2.lst").write_text("{ SW Ports:28 SystemGUID:0 }\n")
    text = netloom.refused("fabric", "show", "ibdiagnet2.lst")
    assert "ibdiagnet's lst is not read: expected its ibnetdiscover, db_csv or net_dump, such as ibd" in text
    (netloom.folder / "ibdiagnet2.ibnetdiscover").write_text(paths.ft2.read_text())
    assert "ibdiagnet2.ibnetdiscover, which is there" in netloom.refused("fabric", "show", "ibdiagnet2.lst")
    assert netloom.result("fabric", "show", "ibdiagnet2.ibnetdiscover")["hosts"] == 32


@pytest.mark.parametrize(
    ("name", "kind"), [("small.db_csv", "ibdiagnet db_csv"), ("small.net_dump", "ibdiagnet net_dump")]
)
def test_dumps_of_ibdiagnet_are_fabrics_whatever_they_are_called(netloom, paths, name, kind):
    (netloom.folder / "net.txt").write_bytes((paths.ibdiagnet / name).read_bytes())
    result = netloom.result("fabric", "show", "net.txt", code=1)
    assert (result["hosts"], result["switches"], result["kind"]) == (4, 3, kind)
    assert [finding["kind"] for finding in result["findings"]] == ["aggregation-node"]
    netloom.result("fabric", "convert", "net.txt", "-o", "ibn.txt")
    assert netloom.result("fabric", "show", "ibn.txt")["links"] == 16


def test_a_database_of_ibdiagnet_is_fabric_and_counters(netloom, paths):
    (netloom.folder / "ibdiagnet2.db_csv").write_bytes((paths.ibdiagnet / "small.db_csv").read_bytes())
    result = netloom.result("counters", "show", "ibdiagnet2.db_csv", "ibdiagnet2.db_csv")
    # Four hosts, which send 1, 2, 3 and 4 GB in words of four octets.
    assert result["host_bytes"] == 10**10


def test_every_verb_that_takes_a_fabric_takes_a_name_map(netloom, paths):
    table = nl.Fabric.read(paths.ft2).switch_table()
    guids = dict(zip(table["name"], table["guid"].tolist(), strict=True))
    (netloom.folder / "names").write_text(f'0x{guids["leaf05"]:x} "rack five"\n')
    names = ("--name-map", "names")
    hot = netloom.result("loads", paths.ft2, "ftree", "all-to-all", "--hottest", 64, *names)["hottest"]
    assert "rack five" in {link["from"] for link in hot}
    assert "leaf05" not in {link["from"] for link in hot}
    removed = netloom.result("fabric", "damage", paths.ft2, "--switch", "rack five", *names)["removed"]
    assert any("rack five" in line for line in removed)
    netloom.ok("route", "ftree", paths.ft2, "-o", "r.lfts", "-q", *names)
    assert netloom.result("check", paths.ft2, "r.lfts", *names)["ok"]
    assert netloom.json("check", paths.ft2, "r.lfts", *names)["inputs"][1]["role"] == "name-map"
    assert "--name-map: not used" in netloom("fabric", "show", paths.small, *names).err


def test_a_name_map_renames_switches(netloom, paths):
    (netloom.folder / "names").write_text('0x0002c90200000000 "rack one"\n')
    netloom.ok("fabric", "show", paths.ft2, "--name-map", "names", "-o", "x.json")
    document = netloom.json("fabric", "damage", paths.ft2, "--link", "leaf01[5]")
    assert document["result"]["removed"]


def test_spare_ports_are_listed_by_switch(netloom):
    """Leaves of 36 ports with 6 cables up and 6 hosts; spines with 9 cables."""
    net = ROOT / "tests" / "data" / "cases" / "slow-cable" / "net.txt"
    result = netloom.result("fabric", "show", net, "--spare-ports", code=1)
    ports = {one["name"]: one for one in result["switch_ports"]}
    leaf, spine = ports["leaf0"], ports["spine0"]
    assert (leaf["ports"], leaf["hosts"], leaf["switches"]) == (36, 6, 6)
    assert leaf["spare"] == [*range(7, 13), *range(19, 37)]
    assert (spine["hosts"], spine["switches"], len(spine["spare"])) == (0, 9, 27)
    assert "24  7-12, 19-36\n" in netloom("fabric", "show", net, "--spare-ports").out
    assert "switch_ports" not in netloom.result("fabric", "show", net, code=1)
