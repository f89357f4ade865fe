"""HyperX, torus, mesh, full mesh and megafly: against networkx, routed by `dor`, beside OpenSM's engines."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import networkx as nx
import pytest

import netloom as nl
import opensm_lanes
from netloom.live import Ibsim, OpenSM, missing_tools

ROOT = Path(__file__).resolve().parent.parent

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


def graph(fabric: nl.Fabric) -> nx.Graph:
    """The switches and who is cabled to whom."""
    links = fabric.link_table()
    ends = zip(
        links["source"].tolist(), links["target"].tolist(), links["between_switches"].tolist(), strict=True
    )
    return nx.Graph([(a - fabric.hosts, b - fabric.hosts) for a, b, between in ends if between])


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
    done = netloom("route", "dor", "cut.txt", "-o", "r.lfts", "--write-sl2vl", "r.sl2vl")
    assert done.code == 3
    assert 'no working cable joins "s1-0" and "s1-1"; use updn' in done.err
    assert not (netloom.folder / "r.lfts").exists()


def test_dor_on_a_torus_is_free_with_its_levels_only(netloom):
    spec = "torus:shape=6x5,hosts=2"
    written = ("-o", "r.lfts", "--write-sl2vl", "r.sl2vl", "--write-sl", "r.csv")
    made = netloom.result("route", "dor", spec, *written)
    assert (made["lanes"], made["sl"]) == (2, "r.csv")
    free = netloom.result("check", spec, "r.lfts", "--sl2vl", "r.sl2vl", "--sl", "r.csv")
    assert (free["ok"], free["lanes"], free["credit_loops"], free["non_minimal_pairs"]) == (True, 2, 0, 0)
    for less in ((), ("--sl2vl", "r.sl2vl")):
        done = netloom("check", spec, "r.lfts", *less, "--format", "json", "-q")
        assert done.code == 1
        assert json.loads(done.out)["result"]["credit_loops"] > 0
    rows = csv.DictReader((netloom.folder / "r.csv").read_text().splitlines()[1:])
    level = {(row["source_lid"], row["destination_lid"]): int(row["sl"]) for row in rows}
    assert len(level) == 60 * 59
    assert set(level.values()) == {0, 1, 2, 3}
    assert all(level[a, b] == level[b, a] for a, b in level)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dor", "quartz1"), "its shape is tree; use updn"),
        (
            ("dor", "torus:shape=6x5,hosts=1", "-o", "r.lfts"),
            "expected --write-sl2vl FILE and --write-sl FILE too",
        ),
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

    @pytest.mark.parametrize("spec", ["mesh:shape=4x3,hosts=1", "hyperx:shape=4x3,hosts=1"])
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
        assert nl.loads(live, ours, traffic).per_link.sum() == nl.loads(live, theirs, traffic).per_link.sum()

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
        assert both[0].per_link.sum() == both[1].per_link.sum()
        assert both[0].max <= both[1].max


SHAPES = {
    "HyperX": "hyperx:shape=4x3,hosts=1",
    "torus": "torus:shape=5x3,hosts=1",
    "mesh": "mesh:shape=4x3,hosts=1",
    "full mesh": "fullmesh:switches=6,hosts=2",
    "megafly": "megafly:groups=3,leaves=2,spines=2,hosts=2",
    "graph": "random",
}
"""The columns of the table in docs/methods/shapes.md, with small fabrics."""

SCENARIO = """\
name = "small"
fabric = "net.txt"
routes = ["updn"]
[[job]]
name = "solver"
ranks = 8
program = { kind = "halo", shape = [2, 2, 2], face_bytes = "32KiB", iterations = 2, compute_us = 5 }
[[job]]
name = "bully"
allocation = "random"
ranks = 4
program = { kind = "pairs", rounds = 2, messages = 4, bytes = 200000 }
until = "solver"
"""

LOOP = """\
name = "small"
routes = "updn"
vl_scheme = "2sl2vl:seed=1"
seed = 1
[[phase]]
name = "small"
scenario = "small.toml"
rounds = 1
"""

PLAN = """\
compare = ["FABRIC"]
[machine]
hosts = 12
radix = 36
[catalogue]
file = "slimfly-2014.toml"
[cables]
hosts = { kind = "copper", length_m = 2 }
leaves = { length_m = 20 }
spines = { length_m = 20 }
[nodes]
price = 5000
[placement]
orders = ["block"]
[[application]]
pattern = "shift:4"
name = "shift"
weight = 1
wire_share = 0.5
"""

LANES = ("--write-sl2vl", "dor.sl2vl", "--write-sl", "dor.csv")
COUNTERS = ("--seconds", "10", "--scale", "1e6", "-o", "c.csv")

ROWS: dict[str, tuple[str, ...]] = {
    "fabric show": ("fabric", "show", "net.txt"),
    "route updn": ("route", "updn", "net.txt", "-o", "updn.lfts"),
    "route dor": ("route", "dor", "net.txt", "-o", "dor.lfts", *LANES),
    "route ftree": ("route", "ftree", "net.txt", "-o", "ftree.lfts"),
    "route dla": ("route", "dla", "net.txt", "-o", "dla.lfts", "--write-sl2vl", "dla.sl2vl"),
    "check": ("check", "net.txt", "updn.lfts"),
    "path": ("path", "net.txt", "updn", "FIRST", "LAST"),
    "loads": ("loads", "net.txt", "updn", "all-to-all"),
    "optimize": ("optimize", "net.txt", "permutation:seed=1", "--work", "100", "-o", "best.lfts"),
    "counters synth": ("counters", "synth", "net.txt", "updn", "permutation:seed=1", *COUNTERS),
    "counters check": ("counters", "check", "net.txt", "c.csv"),
    "infer": ("infer", "net.txt", "updn", "c.csv", "-o", "inferred.mtx.gz"),
    "watch": ("watch", "net.txt", "--counters-from", "c.csv", "--once"),
    "simulate": ("simulate", "small.toml", "-o", "run"),
    "simulate adaptive": ("simulate", "small.toml", "--routings", "adaptive"),
    "simulate ugal": ("simulate", "small.toml", "--routings", "ugal"),
    "sample run": ("sample", "run", "small.toml", "--hop-bits", "4", "-o", "sampled"),
    "diagnose": ("diagnose", "sampled"),
    "noise": ("noise", "small.toml", "--job", "solver"),
    "loop run": ("loop", "run", "loop.toml"),
    "plot run": ("plot", "run", "run", "-o", "run.svg"),
    "plot loads": ("plot", "loads", "net.txt", "permutation:seed=1", "updn", "-o", "loads.svg"),
    "plot cables": ("plot", "cables", "net.txt", "permutation:seed=1", "updn", "-o", "cables.svg"),
    "plot congestion": ("plot", "congestion", "sampled", "-o", "congestion.html"),
    "plot matrix": ("plot", "matrix", "permutation:seed=1", "net.txt", "-o", "matrix.svg"),
    "report": ("report", "net.txt", "permutation:seed=1", "updn", "-o", "report.html"),
    "plan": ("plan", "plan.toml"),
    "fabric convert, Slurm": ("fabric", "convert", "net.txt", "-o", "topology.yaml"),
    "fabric convert, SimGrid": ("fabric", "convert", "net.txt", "-o", "platform.xml"),
}
"""The rows of the table, in an order that makes what later ones read."""


def table() -> dict[str, dict[str, str]]:
    """The table of the page: `[row][column]`."""
    page = (ROOT / "docs" / "methods" / "shapes.md").read_text()
    lines = [
        line.strip("| ") for line in page.split("## What works where")[1].splitlines() if line[:1] == "|"
    ]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    head = rows[0][1:]
    return {row[0].strip("`"): dict(zip(head, row[1:], strict=True)) for row in rows[2:]}


def random_graph(seed: int) -> str:
    """Twelve switches with a host each, four cables a switch, as an ibsim net file."""
    found = nx.random_regular_graph(4, 12, seed=seed)
    return opensm_lanes.net([sorted(t for t in found[s] if t > s) for s in sorted(found)], 1)


def test_the_page_has_every_row_and_column():
    assert list(table()) == list(ROWS)
    assert all(list(cells) == list(SHAPES) for cells in table().values())


@pytest.mark.parametrize("shape", SHAPES)
def test_each_verb_works_or_says_in_one_line_what_does_not(netloom, shape):
    """Exit 0, or 1 for findings; refused with exit 3 and one line, and no file. Never a traceback."""
    told = table()
    if shape == "graph":
        (netloom.folder / "net.txt").write_text(random_graph(1))
    else:
        netloom.ok("fabric", "new", SHAPES[shape], "-o", "net.txt", "-q")
    for name, text in (("small", SCENARIO), ("loop", LOOP), ("plan", PLAN.replace("FABRIC", SHAPES[shape]))):
        (netloom.folder / f"{name}.toml").write_text(text)
    catalogue = (ROOT / "examples" / "plan" / "slimfly-2014.toml").read_bytes()
    (netloom.folder / "slimfly-2014.toml").write_bytes(catalogue)
    hosts = nl.Fabric.read(netloom.folder / "net.txt").host_names
    named = {"FIRST": hosts[0], "LAST": hosts[-1]}
    odd = []
    for row, words in ROWS.items():
        done = netloom(*(named.get(word, word) for word in words))
        errors = [line for line in done.err.splitlines() if line.startswith("netloom: error:")]
        works = done.code in (0, 1) and not errors
        refused = done.code == 3 and len(errors) == 1
        if "Traceback" in done.err or (works, refused) != (
            told[row][shape] == "yes",
            told[row][shape] == "no",
        ):
            odd.append(f"{row}: {told[row][shape]}, but exit {done.code}: {done.err[-300:]}")
    assert not odd, "\n".join(odd)
