"""`netloom plan --dragonflies`: dragonflies in one front with the trees of a plan."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netloom as nl
from netloom.planning.dragonflies import dragonflies
from report_bed import Page
from test_report import checked

# 72 hosts: each sends to the one 24 further on, which is in the next of three groups of 24.
PLAN = """
[machine]
hosts = 72
radix = 12
[catalogue]
file = "slimfly-2014.toml"
[cables]
hosts = { kind = "copper", length_m = 2 }
leaves = { kind = "optical", length_m = 20 }
spines = { kind = "optical", length_m = 20 }
[nodes]
price = 5000
[placement]
orders = ["block"]
[[application]]
pattern = "shift:24"
name = "groups"
weight = 1
wire_share = 0.5
"""
SPEC = "dragonfly:p=6,a=4,h=2,g=3,links=3"


@pytest.fixture
def plan(netloom, write, paths):
    """Writes a plan beside its catalogue, with texts in it replaced."""
    write("slimfly-2014.toml", (paths.examples / "plan" / "slimfly-2014.toml").read_text())

    def save(*replaced: tuple[str, str]) -> str:
        text = PLAN
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        return write("plan.toml", text)

    return save


def test_counts_are_those_of_the_fabric_and_prices_those_of_the_catalogue(netloom, plan):
    found = netloom.result("plan", plan(), "--dragonflies", 5)["dragonflies"]
    for one in found["designs"]:
        fabric = nl.Fabric.generate(one["spec"])
        assert fabric.shape["kind"] == "dragonfly"
        links = fabric.link_table()
        of = {cable["level"]: cable["count"] for cable in one["cables"]}
        assert of["hosts"] == 72
        assert len(fabric.switch_names) == one["switches"]
        assert fabric.hosts == one["host_ports"] >= 72
        assert 2 * (of["local"] + of["global"]) == np.asarray(links["between_switches"]).sum()
        assert one["spare_ports"] == 12 * one["switches"] - one["host_ports"] - 2 * (
            of["local"] + of["global"]
        )
        # Copper costs (0.4079 x + 0.5771) 40 $, optics (0.0919 x + 7.2745) 40 $.
        price = one["switches"] * (350.4 * 12 - 892.3) + 72 * 55.716
        price += of["local"] * (0.4079 * 5 + 0.5771) * 40 + of["global"] * (0.0919 * 20 + 7.2745) * 40
        assert one["price"] == pytest.approx(price)


def test_loads_between_neighbouring_groups_are_those_counted_by_hand(netloom, plan):
    found = netloom.result("plan", plan(), "--dragonflies", 5)["dragonflies"]
    (one,) = [one for one in found["designs"] if one["spec"] == SPEC]
    # 24 messages on 3 cables; with detours through the third group each crosses two: 24 on 3, twice.
    assert one["slowdown"]["minimal"] == pytest.approx(0.5 + 0.5 * 24 / 3)
    assert one["slowdown"]["valiant"] == pytest.approx(0.5 + 0.5 * 2 * 24 / 3)
    # No ways carry more than 3 groups' 3 x 3 cables: a message crosses one, or two on a detour: 16 / 3.
    assert 1 <= one["slowdown"]["bound"] <= 0.5 * 16 / 3 + 1e-9
    assert one["slowdown"]["estimate"] == one["slowdown"]["minimal"]
    assert one["slowdown"] == one["applications"][0]["slowdown"]


def test_one_front_has_what_nothing_else_is_as_cheap_and_quick_as(netloom, plan):
    result = netloom.result("plan", plan(("shift:24", "all-to-all")), "--dragonflies", 5)
    found = result["dragonflies"]
    every = [*result["designs"], *found["designs"]]
    for row in found["front"]:
        other = [
            one
            for one in every
            if one["spec"] != row["spec"]
            and one["price"] <= row["price"]
            and one["slowdown"]["estimate"] <= row["estimate"]
        ]
        assert not other, row
        of = result["designs"] if row["family"] == "tree" else found["designs"]
        assert of[row["number"]]["spec"] == row["spec"]
    for one in every:
        assert any(
            row["price"] <= one["price"] and row["estimate"] <= one["slowdown"]["estimate"]
            for row in found["front"]
        )
    assert {row["family"] for row in found["front"]} == {"tree", "dragonfly"}
    best = found["front"][found["chosen"]]
    assert best["estimate"] * (5000 + best["price_per_host"]) == min(
        row["estimate"] * (5000 + row["price_per_host"]) for row in found["front"]
    )


def test_the_best_dragonfly_is_run_packet_by_packet(netloom, plan):
    result = netloom.result("plan", plan(), "--dragonflies", 5, "--by-packets")
    (row,) = [row for row in result["judged"]["designs"] if row["which"] == "dragonfly"]
    assert set(row["slowdown"]) == {"dla", "ugal", "minimal"}
    (groups,) = row["applications"]
    told = next(one for one in result["dragonflies"]["designs"] if one["spec"] == row["spec"])
    assert groups["loads"]["minimal"] == pytest.approx(told["slowdown"]["minimal"])
    assert groups["estimate"] == pytest.approx(told["slowdown"]["estimate"])
    # Two independent ways: the same run as a scenario of its own, without the module.
    ended = []
    for spec, routing in ((row["spec"], "minimal"), (result["full"]["spec"], "adaptive")):
        fabric = nl.Fabric.generate(f"{spec},speed=40G")
        shift = nl.Traffic.from_triples(fabric, range(72), [(k + 24) % 72 for k in range(72)], [1e6] * 72)
        ended.append(nl.simulate(nl.Scenario.of_traffic(fabric, shift), routing).end_ps)
    assert groups["slowdown"]["minimal"] == pytest.approx(0.5 + 0.5 * ended[0] / ended[1], rel=0.01)
    # Random minimal ways carry what their loads say.
    assert groups["slowdown"]["minimal"] == pytest.approx(told["slowdown"]["minimal"], rel=0.15)
    assert groups["because"]["minimal"] in (None, "collisions")
    text = netloom.ok("plan", "plan.toml", "--dragonflies", 5, "--by-packets")
    assert "one front of both by the estimates" in text


def test_any_number_of_threads_gives_the_same_dragonflies(netloom, plan):
    one, two = (netloom.result("plan", plan(), "--dragonflies", 5, "--threads", n) for n in (1, 2))
    assert one["dragonflies"] == two["dragonflies"]


def test_what_the_time_limit_leaves_of_dragonflies_is_named(netloom, plan):
    path = netloom.folder / plan()
    result = nl.plan(path)
    found = dragonflies(path, result, local_m=5, until=0.0)
    assert found["designs"] == []
    assert SPEC in found["late"]
    assert {row["family"] for row in found["front"]} == {"tree"}


def test_what_cannot_be_built_is_said(netloom, plan):
    text = netloom.ok(
        "plan", plan(("hosts = 72", "hosts = 120"), ("radix = 12", "radix = 8")), "--dragonflies", 5
    )
    assert "dragonflies: no such switches make one of three groups or more" in text
    catalogue = netloom.folder / "slimfly-2014.toml"
    catalogue.write_text(
        catalogue.read_text()
        .replace("price_per_m = 3.676", "price_per_m = 3.676\nmost_m = 30")
        .replace("price_per_m = 16.316", "price_per_m = 16.316\nmost_m = 30")
    )
    line = netloom.refused("plan", plan(), "--dragonflies", 31)
    assert "expected a cable of 31 m for dragonflies, 40 Gb/s; found none" in line


def test_pages_have_both_families(netloom, plan):
    netloom.ok("plan", plan(), "--dragonflies", 5, "--by-packets", "-o", "page.md")
    page = (netloom.folder / "page.md").read_text()
    assert f"| `{SPEC}` |" in page
    assert "cables within a group are 5 m long" in page
    netloom.ok("plan", "plan.toml", "--dragonflies", 5, "--by-packets", "-o", "page.html")
    found = checked(Page((netloom.folder / "page.html").read_text()))
    assert SPEC in json.dumps(found.document)
