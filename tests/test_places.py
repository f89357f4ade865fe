"""What is cabled elsewhere than its siblings: adapters of another rail, switches that lack an uplink."""

from __future__ import annotations

import os

import pytest

import netloom as nl
import pods_bed
from conftest import ROOT
from netloom.health.places import fewer_uplinks, findings_of

CASES = ROOT / "tests" / "data" / "cases"
TRIALS = min(200, int(os.environ.get("NETLOOM_TRIALS", "8")))


def found(seed, kind):
    pod = pods_bed.pod(seed, kind)
    return pod.told, [one["text"] for one in findings_of(nl.Fabric.parse(pod.dump()))]


@pytest.mark.parametrize("kind", pods_bed.FAULTS)
def test_hostile_one_fault_is_named_and_nothing_else(kind):
    right = 0
    for seed in range(TRIALS):
        told, texts = found(seed, kind)
        right += len(texts) == 1 and all(word in texts[0] for word in told)
        assert len(texts) <= 1, (seed, texts)
    assert right >= 0.95 * TRIALS


@pytest.mark.parametrize("kind", pods_bed.WHOLE)
def test_hostile_of_whole_pods_nothing_is_said(kind):
    assert [found(seed, kind)[1] for seed in range(TRIALS)] == [[]] * TRIALS


def test_two_adapters_in_each_other_s_rail_are_told(netloom):
    net = CASES / "rail-swapped" / "net.txt"
    for words in (("health", net), ("fabric", "show", net)):
        findings = netloom.result(*words, code=1)["findings"]
        (one,) = [one for one in findings if one["kind"] == "wrong-rail"]
        assert one["severity"] == "warning"
        assert one["text"] == (
            "m3: mlx5_1 is on rail2, where 7 of 8 adapters are mlx5_2 and mlx5_2 is on rail1, "
            "where 7 of 8 adapters are mlx5_1: they have each other's place"
        )


def test_a_leaf_that_lacks_cables_to_one_spine_is_told():
    fabric = nl.Fabric.parse(pods_bed.pod(3, "uplink missing").dump())
    (one,) = fewer_uplinks(fabric)
    assert one.cables == one.meant - 1
    assert one.alike <= one.beside


def test_places_that_a_leaf_never_had_are_not_cut(netloom):
    net = CASES / "storage-leaf-crossed-out" / "net.txt"
    assert netloom.result("health", net)["findings"] == []
    netloom.ok("plot", "cables", net, "all-to-all", "ftree", "-o", "whole.svg")
    assert netloom.result("plot", "cables", net, "all-to-all", "ftree", "-o", "c.svg")["cut"] == 0
    # A dump of today lacks the cable altogether.
    lines = net.read_text().splitlines()
    table = nl.Fabric.read(net).link_table()
    names = [*nl.Fabric.read(net).host_names, *nl.Fabric.read(net).switch_names]
    up = next(
        at
        for at, (source, target) in enumerate(zip(table["source"], table["target"], strict=True))
        if names[source].startswith("leaf0") and names[target].startswith("spine0")
    )
    ends = {(names[table[side][up]], int(table[f"{side}_port"][up])) for side in ("source", "target")}
    left, node = [], ""
    for line in lines:
        if line.startswith(("Switch", "Ca")):
            node = line.split('"')[3]
        port = int(line[1 : line.index("]")]) if line.startswith("[") else 0
        if (node, port) not in ends:
            left.append(line)
    (netloom.folder / "cut.txt").write_text("\n".join(left) + "\n")
    assert netloom.result("plot", "cables", "cut.txt", "all-to-all", "ftree", "-o", "d.svg")["cut"] == 1
    kinds = [one["kind"] for one in netloom.result("health", "cut.txt", code=1)["findings"]]
    assert "fewer-uplinks" in kinds
