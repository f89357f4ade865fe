"""Circles of lanes of links: against `check` on one lane, and where that does not look."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom._core import LaneTables
from netloom.apply.channels import waits_in_a_circle
from netloom.apply.planning import mended, read_tables
from netloom.live import sl2vl


def as_discovered(spec: str) -> nl.Fabric:
    return nl.Fabric.parse(nl.Fabric.generate(spec).to_bytes("ibnetdiscover"))


def same_rows(fabric: nl.Fabric, row: list[int]) -> LaneTables:
    """The same row in every port of every switch and host."""
    places = sl2vl._places(fabric, True)
    lanes = np.tile(np.array(row, np.uint8), (len(places), 1))
    return LaneTables.parse(sl2vl.Tables(places, lanes, 0, 0.0).dump(fabric), fabric, label="rows")


@pytest.mark.parametrize(
    ("spec", "engine", "circle"),
    [
        ("torus:shape=5,hosts=1", "minhop", True),
        ("torus:shape=5,hosts=1", "updn", False),
        ("torus:shape=4x4,hosts=1", "minhop", True),
        ("torus:shape=4x4,hosts=1", "dor", False),
        ("dragonfly:p=1,a=4,h=2", "minhop", True),
        ("dragonfly:p=1,a=4,h=2", "updn", False),
        ("two-level:leaves=5,hosts=2,spines=3", "updn", False),
    ],
)
def test_one_lane_is_judged_as_check_does(spec, engine, circle):
    fabric = as_discovered(spec)
    routes = nl.route(engine, fabric)
    assert bool(nl.check(fabric, routes).credit_loops) is circle
    # On lane 0 alone, and where a level is a lane: a packet keeps its level.
    for row in ([0] * 16, [level % 15 for level in range(16)]):
        assert waits_in_a_circle(fabric, [routes], same_rows(fabric, row)) is circle


def test_lanes_of_a_dragonfly_free_it_towards_switches_too():
    fabric = as_discovered("dragonfly:p=1,a=4,h=2")
    routes = nl.route("dla", fabric)
    assert routes.lanes is not None
    assert not waits_in_a_circle(fabric, [routes], routes.lanes)
    assert waits_in_a_circle(fabric, [routes], same_rows(fabric, [0] * 16))


def test_a_circle_towards_switches_and_one_of_mixed_tables():
    """Three cables cut: entries led around to switches' own LIDs close a circle, on whatever lane all of it
    is. `check` does not look at these where there are lanes."""
    whole = nl.Fabric.generate("two-level:leaves=5,hosts=2,spines=3")
    cut, _ = whole.damage(links=["leaf02[5]", "leaf04[3]", "leaf03[4]"])
    before, fabric = (nl.Fabric.parse(one.to_bytes("ibnetdiscover")) for one in (whole, cut))
    sound = nl.route("updn", fabric)
    led_around = mended(fabric, read_tables(nl.route("updn", before).to_bytes(), fabric))
    levels = same_rows(fabric, [level % 15 for level in range(16)])
    assert nl.check(fabric, led_around).credit_loops
    assert not nl.check(fabric, led_around.with_lanes(levels)).credit_loops
    assert waits_in_a_circle(fabric, [led_around], levels)
    assert not waits_in_a_circle(fabric, [sound], levels)
    assert waits_in_a_circle(fabric, [sound, led_around], levels)
