"""Dragonflies: what the verbs that know fabrics say of groups."""

from __future__ import annotations

import pytest

import netloom as nl
from netloom.plot.layout import layout

BALANCED = "dragonfly:p=4,a=8,h=4"
SMALL = "dragonfly:p=2,a=4,h=2"


def test_groups_are_shown(netloom):
    result = netloom.result("fabric", "show", BALANCED)
    assert (result["hosts"], result["switches"], result["findings"]) == (1056, 264, [])
    assert result["shape"] == {
        "kind": "dragonfly",
        "groups": 33,
        "switches_a_group": 8,
        "global_cables": {"least": 1, "most": 1},
        "arrangement": "absolute",
        "deviations": [],
    }
    table = nl.Fabric.read(BALANCED).switch_table()
    assert table["group"].tolist() == [s // 8 for s in range(264)]


def test_a_dump_of_one_has_its_groups(netloom):
    netloom.ok("fabric", "new", f"{SMALL},arrangement=relative", "-o", "dump.txt")
    shape = netloom.result("fabric", "show", "dump.txt")["shape"]
    assert (shape["groups"], shape["arrangement"], shape["deviations"]) == (9, "relative", [])


def test_what_died_is_named_and_moves_no_group(netloom):
    result = netloom.result("fabric", "damage", SMALL, "--random-links", "6", "--seed", "3", "-o", "cut.net")
    assert result["shape"]["groups"] == 9
    assert {finding["kind"] for finding in result["findings"]} == {"dead-cable", "uneven-groups"}


@pytest.mark.parametrize(
    ("spec", "kind"), [("quartz1", "tree"), ("two-level:leaves=4,hosts=2,spines=2", "tree")]
)
def test_trees_say_what_they_are(netloom, spec, kind):
    assert netloom.result("fabric", "show", spec)["shape"] == {"kind": kind}
    assert set(nl.Fabric.read(spec).switch_table()["group"].tolist()) == {-1}


def test_the_neighbour_pattern_takes_groups_from_the_fabric():
    fabric = nl.Fabric.read(SMALL)
    ours = nl.Traffic.read("adversarial:1", fabric)
    given = nl.Traffic.read("adversarial:1,group=8", fabric)
    assert ours.endpoints == 72
    assert ours.total_bytes == pytest.approx(72)
    assert (nl.loads(fabric, nl.route("updn", fabric), ours).max) == nl.loads(
        fabric, nl.route("updn", fabric), given
    ).max


@pytest.mark.parametrize(
    ("fabric", "pattern", "message"),
    [
        (BALANCED, "adversarial:40", 'at least 1 and below their number, found "40 of 33 groups"'),
        (
            "two-level:leaves=4,hosts=2,spines=2",
            "adversarial:1",
            "no dragonfly: expected group=N",
        ),
        ("dragonfly:p=4,a=8,h=4,g=40", "all-to-all", "expected at most 32 global cables a group"),
    ],
)
def test_what_makes_no_sense_is_refused(netloom, fabric, pattern, message):
    result = netloom("loads", fabric, "updn", pattern)
    assert result.code == 3
    assert message in result.err


def test_no_wrong_picture_is_drawn():
    with pytest.raises(nl.NetloomError, match="the fabric is a dragonfly: expected one with levels"):
        layout(nl.Fabric.read(SMALL))


def test_watch_adds_up_links_by_kind(netloom):
    netloom.ok(
        "counters", "synth", SMALL, "updn", "all-to-all", "--seconds", "2", "--scale", "1000", "-o", "c.csv"
    )
    result = netloom.result("watch", SMALL, "--counters-from", "c.csv", "--once")
    links = {level["name"]: level["links"] for level in result["levels"]}
    # 9 groups of 6 local cables, 36 global ones, two links each.
    assert links == {"host → group": 72, "group → host": 72, "within groups": 108, "between groups": 72}
