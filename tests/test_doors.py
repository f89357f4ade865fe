"""Ways in from Python: graphs, tables of ports, dictionaries, DataFrames; what they refuse, and how."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import netloom as nl

SPECS = [
    "two-level:leaves=4,hosts=3,spines=2,cables=2",
    "fattree:pods=2,leaves=2,hosts=2,spines=2,groups=2,cores=2",
]


def kinds(fabric: nl.Fabric) -> list[str]:
    return sorted(finding["kind"] for finding in fabric.findings)


@pytest.mark.parametrize("spec", SPECS)
def test_a_graph_comes_back_as_the_fabric_that_it_was(spec):
    """Names, ports, speeds and dead cables; only GUIDs are new."""
    fabric, removed = nl.Fabric.generate(spec).damage(random_links=2, seed=3)
    assert len(removed) == 2
    again = nl.Fabric.from_networkx(fabric.to_networkx())
    assert again.host_names == fabric.host_names
    ours, theirs = again.link_table(), fabric.link_table()
    for column in theirs:
        assert np.array_equal(ours[column], theirs[column]), column
    assert kinds(again) == kinds(fabric)


@pytest.mark.parametrize("spec", SPECS)
def test_an_undirected_copy_has_an_edge_a_cable_and_comes_back(spec):
    fabric, _ = nl.Fabric.generate(spec).damage(random_links=2, seed=3)
    graph = fabric.to_networkx().to_undirected()
    # Two cables are dead, and marked so.
    assert graph.number_of_edges() == fabric.links // 2 + 2
    again = nl.Fabric.from_networkx(graph)
    ours, theirs = again.link_table(), fabric.link_table()
    for column in theirs:
        assert np.array_equal(ours[column], theirs[column]), column


def test_an_undirected_graph_says_less_and_is_told_so():
    graph = nx.Graph()
    for leaf in range(2):
        graph.add_edges_from((f"h{2 * leaf + i}", f"leaf{leaf}") for i in range(2))
        graph.add_edge(f"leaf{leaf}", "spine")
    fabric = nl.Fabric.from_networkx(graph)
    assert (fabric.hosts, fabric.switches, fabric.links) == (4, 3, 12)
    assert [kind for kind in kinds(fabric) if kind in ("no-speed", "unnamed-port")] == [
        "no-speed",
        "unnamed-port",
    ]
    # 100 Gb/s, said in the finding.
    assert set(fabric.link_table()["bandwidth_bytes_per_s"]) == {12.5e9}
    assert nl.check(fabric, nl.route("ftree", fabric)).ok


def test_loops_and_hosts_without_cables_are_left_out_and_told():
    graph = nx.MultiGraph()
    graph.add_node("lonely", kind="host")
    graph.add_nodes_from(["a", "b"], kind="host")
    graph.add_node("s", kind="switch")
    graph.add_edges_from([("a", "s"), ("b", "s"), ("s", "s")])
    fabric = nl.Fabric.from_networkx(graph)
    assert fabric.host_names == ["a", "b"]
    assert {"self-cable", "unlinked-host"} <= set(kinds(fabric))


def test_where_no_node_says_its_kind_what_was_taken_for_what_is_told():
    graph = nx.Graph([("h0", "s0"), ("h0", "s1"), ("h1", "s1"), ("s0", "s1"), ("h2", "s0")])
    graph.add_node("lonely")
    fabric = nl.Fabric.from_networkx(graph)
    assert (fabric.host_names, sorted(fabric.switch_names)) == (["h1", "h2"], ["h0", "s0", "s1"])
    texts = {finding["kind"]: finding["text"] for finding in fabric.findings}
    assert texts["no-kind"] == "no node says its kind: 2 with one cable are hosts, 3 switches"
    assert "lonely has no cable" in texts["unlinked-host"]


def test_what_is_no_graph_and_no_frame_is_refused():
    with pytest.raises(nl.FabricError, match="expected a networkx graph, found dict"):
        nl.Fabric.from_networkx({"a": "b"})
    with pytest.raises(nl.TrafficError, match="expected a DataFrame, found NoneType"):
        nl.Traffic.from_pandas(None)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0, 1, 5, 6]], columns=["source", "destination", "bytes", "bytes"])
    with pytest.raises(nl.TrafficError, match="expected one column bytes, found 2"):
        nl.Traffic.from_pandas(frame)


def test_a_host_with_two_cables_is_two_hosts_of_one_machine():
    fabric = nl.Fabric.from_edges([("a", "s"), ("a", "t"), ("b", "s"), ("s", "t")], hosts=["a", "b"])
    assert fabric.host_names == ["a.1", "a.2", "b"]
    assert fabric.host_table()["machine"] == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("edges", "hosts", "word"),
    [
        ([("a", "b", "c", "d")], None, "edge 0: expected"),
        ([("a", "s"), ("b", "s", "fast")], None, "edge 1: expected a bandwidth"),
        ([("a", "s"), ("b", "s", -1.0)], None, "expected a positive number"),
        ([("a", "b")], ["a", "b"], "at least one host and one switch"),
        ([("a", "s"), ("b", "s")], ["c"], 'host "c" is at no cable'),
        ([], None, "at least one host"),
    ],
)
def test_edges_that_are_none_are_refused(edges, hosts, word):
    with pytest.raises(nl.FabricError) as caught:
        nl.Fabric.from_edges(edges, hosts=hosts)
    assert word in str(caught.value)


def test_a_port_with_two_cables_and_an_unknown_kind_are_refused():
    graph = nx.MultiDiGraph()
    for host, port in (("a", 1), ("b", 1)):
        graph.add_edge(host, "s", from_port=1, to_port=port)
    with pytest.raises(nl.FabricError, match='port 1 of "s" has two cables'):
        nl.Fabric.from_networkx(graph)
    graph.add_node("a", kind="router")
    with pytest.raises(nl.FabricError, match="kind 'router'"):
        nl.Fabric.from_networkx(graph)
    graph = nx.DiGraph([("a", "s"), ("b", "s")])
    graph.edges["a", "s"].update(from_port=0, to_port=1)
    with pytest.raises(nl.FabricError, match="expected a port from 1"):
        nl.Fabric.from_networkx(graph)


@pytest.mark.parametrize("spec", SPECS)
def test_a_table_of_ports_comes_back_as_the_routes_that_it_was(spec):
    fabric = nl.Fabric.generate(spec)
    routes = nl.route("ftree", fabric)
    table = routes.table()
    again = nl.Routes.from_table(fabric, table)
    assert again.changed_entries(routes) == 0
    # Without the switches' own addresses.
    hosts_only = nl.Routes.from_table(fabric, table[:, : fabric.hosts])
    assert nl.check(fabric, hosts_only).pairs == nl.check(fabric, routes).pairs
    with pytest.raises(nl.RoutingError, match=r"a table of \d+ x 1 ports: expected"):
        nl.Routes.from_table(fabric, table[:, :1])
    wrong = table.copy()
    wrong[1, 2] = 60000
    with pytest.raises(nl.RoutingError, match=r"\[1\]\[2\]: port 60000 of .* has no cable"):
        nl.Routes.from_table(fabric, wrong)


SCENARIO = {
    "fabric": "two-level:leaves=4,hosts=4,spines=4",
    "routes": ["ftree"],
    "job": [{"name": "all", "program": {"kind": "all-to-all", "bytes": 4096}}],
}


def test_a_dictionary_is_the_same_scenario_as_its_file(tmp_path):
    import tomlkit

    (tmp_path / "it.toml").write_text(tomlkit.dumps(SCENARIO))
    ours = nl.simulate(nl.Scenario.from_dict(SCENARIO), "ftree").result()
    theirs = nl.simulate(nl.Scenario.read(tmp_path / "it.toml"), "ftree").result()
    assert ours["jobs"] == theirs["jobs"]


def test_a_dictionary_takes_a_fabric_that_is_at_hand():
    fabric = nl.Fabric.generate(SCENARIO["fabric"])
    ours = nl.Scenario.from_dict({**SCENARIO, "fabric": fabric})
    theirs = nl.Scenario.from_dict(SCENARIO)
    assert ours.fabric.cabling_hash == fabric.cabling_hash
    assert nl.simulate(ours, "ftree").result()["jobs"] == nl.simulate(theirs, "ftree").result()["jobs"]


def test_a_dictionary_is_refused_in_the_words_of_a_file(tmp_path):
    import tomlkit

    wrong = {**SCENARIO, "fabrik": "cab"}
    (tmp_path / "it.toml").write_text(tomlkit.dumps(wrong))
    said = []
    for attempt in (lambda: nl.Scenario.from_dict(wrong), lambda: nl.Scenario.read(tmp_path / "it.toml")):
        with pytest.raises(nl.NetloomError) as caught:
            attempt()
        said.append(str(caught.value).split(": ", 1)[1])
    assert said[0] == said[1]
    assert "fabrik" in said[0]
    with pytest.raises(nl.SpecError, match="values are texts"):
        nl.Scenario.from_dict({**SCENARIO, "seed": None})
    with pytest.raises(nl.SpecError, match="expected a dictionary, found list"):
        nl.Scenario.from_dict([])


def test_data_frames_go_in_and_out():
    pd = pytest.importorskip("pandas")
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    traffic = nl.Traffic.read("all-to-all", fabric)
    frame = traffic.to_pandas()
    assert list(frame.columns) == ["source", "destination", "bytes"]
    assert (nl.Traffic.from_pandas(frame, fabric).to_scipy() != traffic.to_scipy()).nnz == 0
    named = frame.assign(
        source=[fabric.host_names[s] for s in frame["source"]],
        destination=[fabric.host_names[d] for d in frame["destination"]],
    )
    assert (nl.Traffic.from_pandas(named, fabric).to_scipy() != traffic.to_scipy()).nnz == 0
    loads = nl.loads(fabric, "ftree", traffic)
    table = loads.to_pandas()
    assert table["load"].max() == loads.max
    assert len(fabric.to_pandas()) == len(table)
    for bad, word in [
        (frame.drop(columns="bytes"), "bytes missing"),
        (named, "expected whole numbers from 0, or a fabric"),
        (frame.assign(bytes="x"), "column bytes: expected numbers"),
        (
            pd.DataFrame({"source": [-1], "destination": [0], "bytes": [1.0]}),
            r"sources\[0\]: expected 0 to 0, found -1",
        ),
    ]:
        with pytest.raises(nl.TrafficError, match=word):
            nl.Traffic.from_pandas(bad)
    with pytest.raises(nl.TrafficError, match="column source: row 0 has no value"):
        nl.Traffic.from_pandas(named.assign(source=None), fabric)
    for nobody in ("nobody", "0xdead", "0xno"):
        with pytest.raises(nl.TrafficError, match=f'"{nobody}" is no host'):
            nl.Traffic.from_pandas(named.assign(source=nobody).astype({"source": object}), fabric)
    guids = [f"0x{guid:x}" for guid in fabric.host_table()["port_guid"]]
    by_guid = frame.assign(source=[guids[s] for s in frame["source"]])
    assert (nl.Traffic.from_pandas(by_guid, fabric).to_scipy() != traffic.to_scipy()).nnz == 0
