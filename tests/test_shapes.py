"""HyperX, torus, mesh, full mesh and megafly: against networkx, routed by `dor`, beside OpenSM's engines."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pytest

import netloom as nl
from netloom.live import Ibsim, OpenSM, missing_tools

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


def graph(fabric: nl.Fabric) -> nx.Graph:
    """The switches and who is cabled to whom."""
    links = fabric.link_table()
    ends = np.stack([links["from_switch"], links["to_switch"]], axis=1)
    return nx.Graph([(int(a), int(b)) for a, b in ends if a >= 0 and b >= 0])


def product(factors: list[nx.Graph]) -> nx.Graph:
    whole = factors[0]
    for factor in factors[1:]:
        whole = nx.cartesian_product(whole, factor)
    return whole


@pytest.mark.parametrize(
    ("spec", "made"),
    [
        ("hyperx:shape=5x4,hosts=1", lambda: product([nx.complete_graph(5), nx.complete_graph(4)])),
        ("hyperx:shape=3x3x2,hosts=2", lambda: product([nx.complete_graph(n) for n in (3, 3, 2)])),
        ("torus:shape=5x6,hosts=1", lambda: nx.grid_graph([6, 5], periodic=True)),
        (
            "torus:shape=3x4x2,hosts=1",
            lambda: product([nx.cycle_graph(3), nx.cycle_graph(4), nx.path_graph(2)]),
        ),
        ("mesh:shape=4x3x2,hosts=1", lambda: nx.grid_graph([2, 3, 4])),
        ("mesh:shape=2x2x2x2,hosts=1", lambda: nx.hypercube_graph(4)),
        ("fullmesh:switches=7,hosts=1", lambda: nx.complete_graph(7)),
    ],
)
def test_cables_are_those_of_networkx(spec, made):
    assert nx.is_isomorphic(graph(nl.Fabric.generate(spec)), made())


def test_a_megafly_is_groups_of_complete_bipartite_graphs():
    fabric = nl.Fabric.generate("megafly:groups=5,leaves=3,spines=2,hosts=2,links=2")
    found, names = graph(fabric), fabric.switch_names
    for g in range(5):
        own = [s for s, name in enumerate(names) if name.startswith(f"g{g:02}")]
        assert nx.is_isomorphic(found.subgraph(own), nx.complete_bipartite_graph(3, 2))
    between = [
        frozenset((names[a][:3], names[b][:3])) for a, b in found.edges if names[a][:3] != names[b][:3]
    ]
    assert len(set(between)) == 10
    assert all(names[s][3] == "s" for a, b in found.edges if names[a][:3] != names[b][:3] for s in (a, b))


@pytest.mark.parametrize(
    ("spec", "kind", "sizes"),
    [
        ("hyperx:shape=4x3,hosts=1", "hyperx", [4, 3]),
        ("torus:shape=5x6,hosts=1", "torus", [5, 6]),
        ("mesh:shape=4x3,hosts=1", "mesh", [4, 3]),
        ("fullmesh:switches=5,hosts=1", "fullmesh", [5]),
        # A ring of four is a square.
        ("torus:shape=4x5,hosts=1", "torus", [2, 2, 5]),
    ],
)
def test_dimensions_are_shown(netloom, spec, kind, sizes):
    shape = netloom.result("fabric", "show", spec)["shape"]
    assert (shape["kind"], [d["switches"] for d in shape["dimensions"]]) == (kind, sizes)
    assert shape["deviations"] == []
    # From a dump too, which has no coordinates but in names.
    netloom.ok("fabric", "new", spec, "-o", "dump.txt", "-q")
    assert netloom.result("fabric", "show", "dump.txt")["shape"]["kind"] == kind


def test_what_a_torus_lacks_is_told_and_named_by_dor(netloom):
    netloom.ok("fabric", "damage", "torus:shape=5x6,hosts=1", "--link", "s1-1[4]", "-o", "cut.txt", "-q")
    result = netloom.result("fabric", "show", "cut.txt", code=1)
    assert result["shape"]["kind"] == "torus"
    lacking = 'neighbours that no working cable joins: 1, such as "s1-0" and "s1-1"'
    assert result["shape"]["deviations"][0] == lacking
    assert {"kind": "uneven-lattice", "text": lacking} in [
        {key: found[key] for key in ("kind", "text")} for found in result["findings"]
    ]
    word = netloom.refused("route", "dor", "cut.txt", "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    assert 'no working cable joins "s1-0" and "s1-1"; use updn' in word
    assert not (netloom.folder / "r.lfts").exists()


def test_dor_on_a_torus_is_free_with_its_levels_only(netloom):
    spec = "torus:shape=6x5,hosts=2"
    written = ("-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "r.csv")
    made = netloom.result("route", "dor", spec, *written)
    assert (made["lanes"], made["service_levels"]) == (2, "r.csv")
    free = netloom.result("check", spec, "r.lfts", "--sl2vl", "r.sl2vl", "--sl", "r.csv")
    assert (free["ok"], free["lanes"], free["credit_loops"], free["non_minimal_pairs"]) == (True, 2, 0, 0)
    for less in ((), ("--sl2vl", "r.sl2vl")):
        done = netloom("check", spec, "r.lfts", *less, "--format", "json", "-q")
        assert done.code == 1
        assert json.loads(done.out)["result"]["credit_loops"] > 0
    rows = list(csv.DictReader(netloom.folder / "r.csv").read_text().splitlines()[1:])
    level = {(row["source_lid"], row["destination_lid"]): int(row["sl"]) for row in rows}
    assert len(level) == 60 * 59
    assert set(level.values()) == {0, 1, 2, 3}
    assert all(level[a, b] == level[b, a] for a, b in level)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dor", "quartz1"), "its shape is tree; use updn"),
        (("dor", "torus:shape=6x5,hosts=1", "-o", "r.lfts"), "expected --write-sl2vl FILE too"),
        (("dor", "torus:shape=5x5x5x5x5,hosts=1"), "5 rings need 2^5 service levels, and there are 16"),
    ],
)
def test_what_dor_cannot_do_is_one_line(netloom, words, message):
    assert message in netloom.refused("route", *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--write-sl", "r.csv"), "expected --write-sl2vl too"),
        (("--write-sl", "r.csv", "--write-sl2vl", "r.sl2vl", "--lmc", "1"), "of LMC 0; found --lmc 1"),
    ],
)
def test_levels_that_could_not_be_used_are_not_written(netloom, words, message):
    assert message in netloom.refused("route", "dor", "torus:shape=6x5,hosts=1", *words, code=2)


class TestOpenSM:
    """The same fabrics by OpenSM's engines."""

    pytestmark = with_opensm

    @pytest.mark.parametrize("spec", ["mesh:shape=3x3,hosts=1", "hyperx:shape=4x3,hosts=1"])
    def test_dor_is_as_minimal_and_as_free_as_opensm_s(self, netloom, spec):
        """Dimension order is one way a pair: one of the two orders, which OpenSM takes from ports."""
        net = netloom.folder / "net.net"
        netloom.ok("fabric", "new", spec, "-o", net, "-q")
        fabric = nl.Fabric.read(net)
        with Ibsim(net, host=fabric.host_names[0]) as sim, OpenSM(sim, engine="dor,no_fallback"):
            found = sim.discover()
            tables = sim.forwarding_tables()
        live = nl.Fabric.parse(found)
        theirs, ours = nl.Routes.parse(tables, live), nl.route("dor", live)
        assert live.shape["kind"] == spec.split(":")[0]
        for routes in (theirs, ours):
            report = nl.check(live, routes)
            assert report.ok
            assert report.credit_loops == 0
        traffic = nl.Traffic.read("all-to-all", live)
        assert nl.loads(live, ours, traffic).max <= nl.loads(live, theirs, traffic).max
        assert (
            nl.loads(live, ours, traffic).per_link().sum() == nl.loads(live, theirs, traffic).per_link().sum()
        )

    def test_a_torus_takes_two_lanes_as_torus_2qos_does(self, netloom):
        net = netloom.folder / "net.net"
        netloom.ok("fabric", "new", "torus:shape=5x5,hosts=1", "-o", net, "-q")
        fabric = nl.Fabric.read(net)
        guid = dict(zip(fabric.switch_names, fabric.switch_table()["guid"].tolist(), strict=True))
        seeds = (("xp_link", "s1-0"), ("yp_link", "s0-1"))
        config = netloom.folder / "torus.conf"
        config.write_text(
            "torus 5 5 1\n" + "".join(f"{word} {guid['s0-0']:#x} {guid[s]:#x}\n" for word, s in seeds)
        )
        settings = f"torus_config {config}\nqos TRUE\nqos_max_vls 8\n"
        with (
            Ibsim(net, host=fabric.host_names[0]) as sim,
            OpenSM(sim, engine="torus-2QoS,no_fallback", settings=settings),
        ):
            found = sim.discover()
            tables = sim.forwarding_tables()
        live = nl.Fabric.parse(found)
        theirs, ours = nl.Routes.parse(tables, live), nl.route("dor", live)
        assert nl.check(live, ours).ok
        traffic = nl.Traffic.read("all-to-all", live)
        both = [nl.loads(live, routes, traffic) for routes in (ours, theirs)]
        # The same hops, and no fuller link.
        assert both[0].per_link().sum() == both[1].per_link().sum()
        assert both[0].max <= both[1].max
