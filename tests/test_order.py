"""The order of up*/down* ways: management hosts above the leaves, stated roots, and OpenSM's updn.

Seeds of random fabrics were written down before anything was run on them.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import pytest

import netloom as nl
from netloom.live import Ibsim, OpenSM, missing_tools

DATA = Path(__file__).resolve().parent / "data" / "cases"
SEEDS = range(70_000, 70_000 + max(4, min(40, int(os.environ.get("NETLOOM_TRIALS", "4")))))


def tree(leaves: int, hosts: int, spines: int, managed: list[str]) -> nl.Fabric:
    """A two-level tree with one more host on each of some spines."""
    cables = [(f"n{leaf}-{host}", f"leaf{leaf}") for leaf in range(leaves) for host in range(hosts)]
    cables += [(f"leaf{leaf}", f"spine{spine}") for leaf in range(leaves) for spine in range(spines)]
    cables += [(f"mgmt-{spine}", spine) for spine in managed]
    return nl.Fabric.from_edges(cables)


def three_levels(managed: list[str]) -> nl.Fabric:
    """Four pods of 2 leaves x 4 hosts and 4 spines, two spines a core group of two cores."""
    cables = []
    for pod in range(4):
        for leaf in range(2):
            cables += [(f"n{pod}-{leaf}-{host}", f"p{pod}leaf{leaf}") for host in range(4)]
            cables += [(f"p{pod}leaf{leaf}", f"p{pod}spine{spine}") for spine in range(4)]
        for spine in range(4):
            cables += [(f"p{pod}spine{spine}", f"g{spine // 2}core{core}") for core in range(2)]
    return nl.Fabric.from_edges(cables + [(f"mgmt-{core}", core) for core in managed])


def damaged(seed: int) -> nl.Fabric:
    """A tree with management hosts above the leaves and cables missing, in one part."""
    draw = random.Random(seed)
    while True:
        fabric = _damaged(draw)
        if not {"parts", "cut-off-switch"} & {one["kind"] for one in fabric.findings}:
            return fabric


def _damaged(draw: random.Random) -> nl.Fabric:
    if draw.random() < 0.5:
        leaves, spines, hosts = draw.randint(3, 10), draw.randint(2, 6), draw.randint(2, 6)
        nodes = [(f"n{leaf}-{host}", f"leaf{leaf}") for leaf in range(leaves) for host in range(hosts)]
        cables = [(f"leaf{leaf}", f"spine{spine}") for leaf in range(leaves) for spine in range(spines)]
    else:
        leaves, spines, cores = draw.randint(2, 3), draw.randint(2, 3), draw.randint(1, 3)
        nodes, cables = [], []
        for pod in range(draw.randint(2, 4)):
            nodes += [
                (f"n{pod}-{leaf}-{host}", f"p{pod}leaf{leaf}") for leaf in range(leaves) for host in (0, 1)
            ]
            pairs = [(leaf, spine) for leaf in range(leaves) for spine in range(spines)]
            cables += [(f"p{pod}leaf{leaf}", f"p{pod}spine{spine}") for leaf, spine in pairs]
            pairs = [(spine, core) for spine in range(spines) for core in range(cores)]
            cables += [(f"p{pod}spine{spine}", f"g{spine}core{core}") for spine, core in pairs]
    for _ in range(draw.randint(1, max(1, len(cables) // 8))):
        cables.pop(draw.randrange(len(cables)))
    above = sorted({end for _, end in cables})
    managed = [(f"mgmt{number}", draw.choice(above)) for number in range(draw.randint(2, 4))]
    joined = {end for cable in cables for end in cable}
    return nl.Fabric.from_edges([node for node in nodes if node[1] in joined] + cables + managed)


@pytest.mark.parametrize("seed", range(71_000, 71_000 + 4 * len(SEEDS)))
def test_hostile_other_orders_lose_neither_hosts_nor_switches(seed):
    fabric = damaged(seed)
    traffic = nl.Traffic.read("all-to-all", fabric)
    updn = nl.route("updn", fabric)
    best = nl.optimize(fabric, traffic, work=100_000)
    for routes in (updn, best.routes):
        report = nl.check(fabric, routes)
        assert (report.credit_loops, report.unreachable_hosts) == (0, 0), report.findings
        # Levels can lose ways to switches; an order that is taken instead must not.
        assert not (fabric.order or "").startswith("with ") or report.unreachable_management == 0
    assert best.loads.max <= nl.loads(fabric, updn, traffic).max


@pytest.mark.parametrize(
    "fabric",
    [
        tree(4, 4, 4, ["spine0", "spine1"]),
        tree(16, 8, 8, ["spine0", "spine1"]),
        tree(18, 18, 18, ["spine3", "spine11"]),
        tree(4, 4, 4, ["spine0", "spine1", "spine3"]),
        tree(4, 4, 4, ["spine0", "spine1", "spine2", "spine3"]),
        three_levels(["g0core0", "g0core1"]),
        three_levels(["g0core0", "g1core1"]),
        three_levels(["g0core0", "g1core0", "g1core1"]),
    ],
    ids=["4x4", "16x8", "18x18", "three", "four", "one-group", "two-groups", "three-cores"],
)
def test_management_hosts_on_spines_and_cores_cost_no_bandwidth(fabric):
    traffic = nl.Traffic.read("all-to-all", fabric)
    best = nl.optimize(fabric, traffic)
    assert nl.check(fabric, best.routes).ok
    loads = nl.loads(fabric, best.routes, traffic)
    # A host's own cable: no routes whatsoever carry less.
    assert loads.max <= (fabric.hosts - 1) * 1.05
    updn = nl.route("updn", fabric)
    assert nl.check(fabric, updn).ok
    # A greedy balance: 1.55 times on the plain tree of three levels.
    assert nl.loads(fabric, updn, traffic).max < 2 * (fabric.hosts - 1)


@pytest.mark.parametrize(
    ("name", "opensm"), [("clique12", 23.0), ("dragonfly-2-4-2", 134.0), ("hyperx4x4", 31.0)]
)
def test_no_bound_is_above_what_opensm_s_updn_carries(name, opensm):
    fabric = nl.Fabric.read(DATA / "updn-off-trees" / f"{name}.txt")
    packed = (DATA / "updn-off-trees" / f"{name}.updn.lfts.gz").read_bytes()
    theirs = nl.Routes.parse(gzip.decompress(packed), fabric)
    traffic = nl.Traffic.read("all-to-all", fabric)
    found = nl.loads(fabric, theirs, traffic)
    assert found.max == opensm
    assert found.lower_bound <= opensm
    updn = nl.route("updn", fabric)
    assert nl.check(fabric, updn).credit_loops == 0
    assert nl.loads(fabric, updn, traffic).max <= opensm
    assert nl.loads(fabric, nl.optimize(fabric, traffic, work=200).routes, traffic).max <= opensm


def graph(seed: int) -> nl.Fabric:
    """A random connected graph of switches, one to three hosts each, names in no order."""
    draw = random.Random(seed)
    count = draw.randint(6, 20)
    names = [f"s{number:02}" for number in draw.sample(range(100), count)]
    joined = {tuple(sorted((names[i], names[draw.randrange(i)]))) for i in range(1, count)}
    while len(joined) < count * draw.choice([3, 4, 5]) // 2 and len(joined) < count * (count - 1) // 2:
        joined.add(tuple(sorted(draw.sample(names, 2))))
    cables = [(f"{name}-h{host}", name) for name in names for host in range(draw.randint(1, 3))]
    return nl.Fabric.from_edges(cables + sorted(joined))


@pytest.mark.opensm
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_graphs_beside_opensm_s_updn(seed, tmp_path):
    (tmp_path / "net.txt").write_bytes(graph(seed).to_bytes("ibsim"))
    with Ibsim(tmp_path / "net.txt", host=graph(seed).host_names[0]) as sim:
        guids = nl.Fabric.parse(sim.discover()).switch_table()["guid"]
        root = f"0x{int(guids[0]):016x}"
        (tmp_path / "roots").write_text(f"{root}\n")
        with OpenSM(sim, engine="updn,no_fallback", settings=f"root_guid_file {tmp_path / 'roots'}\n"):
            fabric = nl.Fabric.parse(sim.discover())
            theirs = nl.Routes.parse(sim.forwarding_tables(), fabric)
    traffic = nl.Traffic.read("all-to-all", fabric)
    carried = nl.loads(fabric, theirs, traffic).max
    assert nl.check(fabric, theirs).credit_loops == 0
    best = nl.optimize(fabric, traffic)
    assert best.loads.max <= carried
    assert best.loads.lower_bound <= carried * (1 + 1e-9)
    # From the same root ways are as short; at ties OpenSM's may carry less (docs/methods/bounds.md).
    stated = fabric.with_roots([root])
    report = nl.check(stated, nl.route("updn", stated))
    assert (report.unreachable_pairs, report.credit_loops) == (0, 0)
    assert stated.order == f"with {fabric.switch_names[0]} on top"


def test_roots_are_named_by_name_guid_or_file(netloom):
    net = DATA / "updn-off-trees" / "dragonfly-2-4-2.txt"
    fabric = nl.Fabric.read(net)
    guid = f"0x{int(fabric.switch_table()['guid'][0]):016x}"
    (netloom.folder / "roots.txt").write_text(f"# the top\n{guid}\n")
    told = [
        netloom.result("loads", net, "updn", "all-to-all", "--roots", roots)
        for roots in (fabric.switch_names[0], guid, "roots.txt")
    ]
    assert [one["max_load"] for one in told] == [134.0] * 3
    assert {one["order"] for one in told} == {f"with {fabric.switch_names[0]} on top"}
    assert "on top" in netloom.ok("loads", net, "updn", "all-to-all", "--roots", guid)


def test_roots_that_are_no_switches_are_refused(netloom):
    spec = "two-level:leaves=4,hosts=2,spines=2"
    for roots, words in [
        ("spine7", 'no switch is called "spine7"'),
        ("host00", "expected names or GUIDs"),
        ("0x99", "no switch is called"),
    ]:
        assert words in netloom.refused("route", "updn", spec, "--roots", roots, "-o", "r.lfts")
    (netloom.folder / "empty").write_text("# nobody\n")
    for nobody in (",", "empty"):
        said = netloom.refused("route", "updn", spec, "--roots", nobody, "-o", "r.lfts", code=2)
        assert "found none" in said
    said = netloom.refused("route", "minhop", spec, "--roots", "spine0", "-o", "r.lfts", code=2)
    assert "orders up*/down* ways" in said


def test_a_certificate_says_the_order_that_it_is_of(netloom):
    spec, root = "dragonfly:p=2,a=4,h=2", "g03r1"
    netloom.ok(
        *("optimize", spec, "all-to-all", "--roots", root, "--work", "2000"),
        *("-o", "r.lfts", "--write-certificate", "c.json"),
        # `dla` has less, on lanes that nobody writes here.
        code=1,
    )
    assert len(json.loads((netloom.folder / "c.json").read_text())["roots"]) == 1
    check = ("check", spec, "r.lfts", "--traffic", "all-to-all", "--certificate", "c.json")
    assert "ways with the roots 0x" in netloom.refused(*check)
    assert netloom.result(*check, "--roots", root)["certificate"]["ok"]


@pytest.mark.parametrize("name", ["f71944", "f71520", "min71062", "f90523"])
def test_no_stated_root_carries_less_than_the_proof_says(name):
    """A stranger's fabrics (tests/cases/optimize/orders.md has their loads)."""
    fabric = nl.Fabric.read(DATA / "orders" / f"{name}.txt")
    traffic = nl.Traffic.read("all-to-all", fabric)
    bound = nl.optimize(fabric, traffic).loads.lower_bound
    for root in fabric.switch_names:
        other = nl.optimize(fabric.with_roots([root]), traffic, work=3000)
        assert other.loads.max >= bound * (1 - 1e-9)
