"""`netloom check FABRIC SCHEME`: every move by (link, lane), found a second way; runs that lock up."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

import pytest

import netloom as nl

SMALL = "dragonfly:p=2,a=4,h=2"
ARIES = "aries:groups=4,links=12,slots=4,chassis=3,hosts=1"
SLOTS = {
    "minimal": "L0 G0 L1",
    "valiant": "L0 G0 L1 G1 L2",
    "valiant:router": "L0 G0 L1 L2 G1 L3",
    "ugal": "L0 G0 L1 G1 L2",
    "ugal:global": "L0 G0 L1 G1 L2",
    "par": "L0 L1 G0 L2 G1 L3",
}


class Enumerated:
    """All ways of all packets of a scheme, one after the other: cliques, with one cable a pair of groups."""

    def __init__(self, fabric: nl.Fabric, a: int) -> None:
        table = fabric.link_table()
        source, target = (table[key].astype(int) - fabric.hosts for key in ("source", "target"))
        self.link, self.cable, self.hosts = {}, {}, defaultdict(list)
        for link, (s, t) in enumerate(zip(source, target, strict=True)):
            if s < 0:
                self.hosts[t].append(link)
            elif t >= 0:
                self.link[s, t] = link
                if s // a != t // a:
                    self.cable[s // a, t // a] = (s, t)
        self.a, self.switches = a, len(self.hosts)

    def leg(self, s: int, t: int) -> list[tuple[int, int]]:
        """The minimal way: a cable within the group, one to the other group, one within that."""
        if s // self.a == t // self.a:
            return [(s, t)] if s != t else []
        out, into = self.cable[s // self.a, t // self.a]
        return [*([(s, out)] if s != out else []), (out, into), *([(into, t)] if into != t else [])]

    def ways(self, scheme: str):
        """Every way of (from, to, slot)."""
        a, all_ = self.a, range(self.switches)
        last = "L2" if scheme == "par" else "L1"
        for s, d in itertools.permutations(all_, 2):
            straight = self.leg(s, d)
            named = [
                (u, v, ("L0" if not any(x // a != y // a for x, y in straight[:i]) else last))
                if u // a == v // a
                else (u, v, "G0")
                for i, (u, v) in enumerate(straight)
            ]
            detours = s // a != d // a and scheme != "minimal"
            if not (detours and scheme.startswith("valiant")):
                yield s, named
            if not detours:
                continue
            starts = [(s, [])]
            if scheme == "par" and named[0][2] == "L0":
                starts.append((named[0][1], named[:1]))
            for u, before in starts:
                for x in all_:
                    if x // a in (s // a, d // a):
                        continue
                    if scheme != "valiant:router" and self.cable[s // a, x // a][1] != x:
                        continue
                    yield s, before + self.detour(scheme, u, x, d, again=bool(before))

    def detour(self, scheme: str, u: int, x: int, d: int, *, again: bool):
        a = self.a
        router, par = scheme == "valiant:router", scheme == "par"
        third = "L2" if router or par else "L1"
        end = "L3" if router or par else "L2"
        ways = []
        for v, w in self.leg(u, x):
            local = v // a == w // a
            first = "L1" if again else "L0"
            ways.append((v, w, "G0" if not local else first if v // a == u // a else "L1"))
        for v, w in self.leg(x, d):
            local = v // a == w // a
            ways.append((v, w, "G1" if not local else third if v // a == x // a else end))
        return ways

    def waits(self, scheme: str, lane_of: dict[str, int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
        found = set()
        for s, way in self.ways(scheme):
            held = [(self.link[u, v], lane_of[slot]) for u, v, slot in way]
            found.update(itertools.pairwise(held))
            found.update(((up, 0), held[0]) for up in self.hosts[s])
        return found


def has_circle(waits) -> bool:
    """Kahn: whoever nobody waits for leaves, again and again."""
    after, count = defaultdict(set), defaultdict(int)
    for first, second in waits:
        after[first].add(second)
        count[second] += 1
    open_ = [one for one in after if count[one] == 0]
    left = {one for pair in waits for one in pair}
    while open_:
        one = open_.pop()
        left.discard(one)
        for second in after[one]:
            count[second] -= 1
            if count[second] == 0:
                open_.append(second)
    return bool(left)


@pytest.mark.parametrize("scheme", SLOTS)
def test_moves_are_those_of_all_ways_one_after_the_other(scheme):
    """The same waits, for every number of lanes, as of ways that are written out from the cables."""
    fabric = nl.Fabric.generate(SMALL)
    other = Enumerated(fabric, 4)
    for vls in range(1, 8):
        found = nl.check_scheme(fabric, scheme, vls=vls)
        assert " ".join(held["slot"] for held in found["slots"]) == SLOTS[scheme]
        lane_of = {held["slot"]: held["lane"] for held in found["slots"]}
        waits = other.waits(scheme, lane_of)
        assert found["waits"] == len(waits)
        assert found["ok"] is not has_circle(waits)
        assert found["ok"] is (not found["cycle"])


@pytest.mark.parametrize(
    ("fabric", "scheme", "options", "ok"),
    [
        (SMALL, "minimal", {"vls": 1}, False),
        (SMALL, "minimal", {}, True),
        (SMALL, "ugal", {}, True),
        (SMALL, "valiant:router", {"vls": 5}, False),
        (SMALL, "valiant:router", {}, True),
        (SMALL, "par", {}, True),
        # Two local hops inside a group on one lane: the second decision's hop shares the first one's lane.
        (SMALL, "par", {"vls": 5}, False),
        (ARIES, "minimal", {}, True),
        (ARIES, "minimal", {"vls": 1}, False),
        (ARIES, "minimal", {"any_order": True}, False),
        (ARIES, "valiant", {}, True),
        (ARIES, "valiant:router", {}, True),
        (ARIES, "valiant:router", {"vls": 5}, False),
        (ARIES, "par", {}, True),
    ],
)
def test_what_is_free_and_what_is_not(fabric, scheme, options, ok):
    found = nl.check_scheme(fabric, scheme, **options)
    assert found["ok"] is ok
    for held, after in zip(found["cycle"], [*found["cycle"][1:], *found["cycle"][:1]], strict=True):
        assert held["link"].split(" -> ")[1].split("[")[0] == after["link"].split("[")[0]


def test_on_cliques_any_order_is_the_only_one():
    """Outputs that schemes have are those of the checker's own definition of a minimal way."""
    for scheme in SLOTS:
        assert nl.check_scheme(SMALL, scheme) == nl.check_scheme(SMALL, scheme, any_order=True)


def test_lanes_of_dlas_tables_free_minimal_ways_and_not_detours(netloom):
    netloom.ok("route", "dla", SMALL, "-o", "dla.lfts", "--write-sl2vl", "dla.sl2vl")
    found = netloom.result("check", SMALL, "minimal", "--sl2vl", "dla.sl2vl")
    assert (found["ok"], found["lanes"], found["slots"][0]["lane"]) == (True, 2, None)
    for scheme in ("valiant", "ugal", "valiant:router", "par"):
        found = netloom.result("check", SMALL, scheme, "--sl2vl", "dla.sl2vl", code=1)
        assert found["findings"][0]["kind"] == "credit-loop"
        assert len(found["cycle"]) > 1


def test_check_says_slots_lanes_and_the_circle(netloom):
    said = netloom.ok("check", SMALL, "valiant:router")
    assert "slots of a way         L0 G0 L1 L2 G1 L3" in said
    done = netloom("check", SMALL, "valiant:router", "--vls", "5")
    assert done.code == 1
    assert "L1 and L2 share one" in done.out
    circle = "2 lanes of links wait for each other: g00r0[3] → g00r1[3] lane 2; g00r1[3] → g00r0[3] lane 2"
    assert circle in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["two-level:leaves=4,hosts=4,spines=4", "par"], "par: expected a dragonfly, found a tree"),
        (["dragonfly:p=2,a=4,h=2,g=2", "ugal"], "expected at least three groups"),
        ([SMALL, "par", "--vls", "16"], "vls: expected a whole number of 1 to 15, found 16"),
        (
            [SMALL, "par", "--traffic", "all-to-all", "--certificate", "x"],
            "--traffic: expected routes that are tables",
        ),
        ([SMALL, "dla", "--vls", "2"], "--vls: expected a scheme (minimal, valiant"),
        ([SMALL, "par", "--sl2vl", "missing.sl2vl"], "missing.sl2vl"),
    ],
)
def test_what_does_not_go_is_told_in_a_line(netloom, words, says):
    done = netloom("check", *words)
    assert done.code in (2, 3)
    assert says in done.err
    assert done.err.count("\n") == 1


def locked(netloom, *changes: str, text: str | None = None):
    """The deadlock that a run stops in: a cycle of links, each of which leads to where the next begins."""
    (netloom.folder / "run.toml").write_text(text or RUN, encoding="utf-8")
    sets = [word for change in changes for word in ("--set", change)]
    refused = netloom.refused("simulate", "run.toml", *sets)
    found = netloom.result("simulate", "run.toml", "--allow-credit-loops", *sets, code=1)["runs"][0]
    cycle = found["deadlock"]["cycle"]
    assert len(cycle) > 1
    for here, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
        assert here["to"] == after["from"]
    return refused, [here["lane"] for here in cycle]


RUN = """
fabric = "dragonfly:p=2,a=4,h=2"
routes = ["minimal"]
profile = "infiniband"
hardware = { input_buffer_bytes = 4160, output_buffer_bytes = 4160 }
[[job]]
name = "load"
program = { kind = "uniform", bytes = 4096, load = 1.0, messages = 400 }
"""


@pytest.mark.parametrize(
    ("changes", "says", "lanes"),
    [
        (
            ["hardware.lanes=1"],
            "minimal: lanes: expected 3, one a slot of the way (L0 G0 L1), "
            "or fewer that make no circle, found 1: ",
            {0},
        ),
        (
            ['routes=["valiant:router"]', "hardware.lanes=5"],
            "valiant:router: lanes: expected 6, one a slot of the way (L0 G0 L1 L2 G1 L3), "
            "or fewer that make no circle, found 5",
            {2},
        ),
        (
            ['routes=["valiant"]', "hardware.lanes=2", 'hardware.sl2vl="dla"'],
            "valiant: dla's lanes do not free its ways: ",
            {0, 1},
        ),
    ],
)
def test_what_is_not_free_is_refused_with_its_circle_and_locks_up_in_one(netloom, changes, says, lanes):
    refused, found = locked(netloom, *changes)
    assert says in refused
    assert "lanes of links wait for each other" in refused
    assert set(found) <= lanes


def test_fewer_lanes_than_slots_run_where_they_are_proved_free(netloom):
    """L1 of minimal ways may share G0's lane, and dla's two lanes tell the same by ports."""
    (netloom.folder / "run.toml").write_text(RUN, encoding="utf-8")
    for changes in (["hardware.lanes=2"], ["hardware.lanes=2", 'hardware.sl2vl="dla"']):
        sets = [word for change in changes for word in ("--set", change)]
        run = netloom.result("simulate", "run.toml", *sets)["runs"][0]
        assert run.get("deadlock") is None
        assert run["accepted"]["mean"] > 0.4


def test_both_orders_of_a_groups_cables_lock_up(netloom):
    """Tables: to every other slot by columns first, to all others by rows first."""
    spec = ARIES.replace("hosts=1", "hosts=4")
    fabric = nl.Fabric.generate(spec)
    table = fabric.link_table()
    source, target = (table[key].astype(int) - fabric.hosts for key in ("source", "target"))
    names = [str(name) for name in fabric.switch_table()["name"]]
    place = [tuple(int(n) for n in re.findall(r"\d+", name)) for name in names]  # group, chassis, slot
    hosts = defaultdict(list)
    port: dict[int, dict[int, int]] = defaultdict(dict)
    into: dict[tuple[int, int], int] = {}
    for link, (s, t) in enumerate(zip(source, target, strict=True)):
        if s < 0:
            hosts[t].append(s + fabric.hosts)
        elif t >= 0:
            port[s].setdefault(t, int(table["source_port"][link]))
            into[t, int(table["target_port"][link])] = s
    tables = nl.route("dla", fabric).table().copy()
    for s, d in itertools.permutations(range(len(names)), 2):
        (g, c, slot), (h, chassis, column) = place[s], place[d]
        if g == h and c != chassis and slot != column:
            by_column = (g, chassis, slot) if column % 2 else (g, c, column)
            tables[s, hosts[d]] = port[s][place.index(by_column)]
    (netloom.folder / "mixed.lfts").write_bytes(nl.Routes.from_table(fabric, tables).to_bytes())
    # In by a cable between groups, out by one within: lane 1; all else lane 0, as `dla` has it for cliques.
    rows, switch = [], 0
    netloom.ok("route", "dla", spec, "-o", "dla.lfts", "--write-sl2vl", "dla.sl2vl")
    for line in (netloom.folder / "dla.sl2vl").read_text().splitlines():
        if line.startswith("Switch"):
            switch = names.index(line.split('"')[1])
        ends = re.match(r"(\d+)\s+(\d+)\s*:", line)
        if ends is None:
            rows.append(line)
            continue
        via, out = (into.get((switch, int(end))) for end in ends.groups())
        late = via is not None and out is not None and place[via][0] != place[switch][0] == place[out][0]
        rows.append(f"{ends[1]:<4}{ends[2]:<4}: " + f"{int(late)}  " * 16)
    (netloom.folder / "visit.sl2vl").write_text("\n".join(rows) + "\n")
    found = netloom.result("check", spec, "mixed.lfts", "--sl2vl", "visit.sl2vl", code=1)
    ends = [re.findall(r"g(\d+)c(\d+)s(\d+)", held["link"]) for held in found["cycle"]]
    assert {held["lane"] for held in found["cycle"]} in ({0}, {1})
    assert len({group for pair in ends for group, _, _ in pair}) == 1
    text = (
        RUN.replace(SMALL, spec)
        .replace('["minimal"]', '["mixed.lfts+visit.sl2vl"]')
        .replace("= 400", "= 150")
    )
    refused, lanes = locked(netloom, text=text)
    assert "credit loops" in refused
    assert set(lanes) <= {0, 1}
