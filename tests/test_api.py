"""The Python API: `import netloom as nl`, arrays in and out, other libraries' objects, errors."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

import netloom as nl
from netloom import graphs, interop


@pytest.fixture(scope="module")
def fabric(paths):
    return nl.Fabric.read(paths.ft2)


def test_the_readme_s_five_lines(paths, tmp_path):
    fabric = nl.Fabric.read(paths.ft2)
    traffic = nl.Traffic.read(paths.examples / "data" / "lulesh-64.mtx.gz").place(fabric, ranks_per_host=2)
    best = nl.optimize(fabric, traffic)
    assert best.loads.max >= best.loads.lower_bound * (1 - 1e-9)
    best.write(tmp_path / "routes.lfts")
    again = nl.Routes.read(tmp_path / "routes.lfts", fabric)
    assert nl.loads(fabric, again, traffic).max == best.loads.max


def test_every_public_name_is_there():
    for name in nl.__all__:
        assert getattr(nl, name) is not None
    assert set(nl.__all__) <= set(dir(nl))
    with pytest.raises(AttributeError, match="nothing"):
        _ = nl.nothing


def test_arrays_are_read_only_views_that_outlive_their_noun(fabric):
    traffic = nl.Traffic.pattern("all-to-all:bytes=3", 8)
    data = traffic.data
    assert data.base is not None
    assert not data.flags.writeable
    del traffic
    assert data.sum() == 8 * 7 * 3


def test_scipy_there_and_back(fabric):
    traffic = nl.Traffic.read("bisection-shuffle:seed=1", fabric)
    matrix = traffic.to_scipy(copy=False)
    assert matrix.shape == (32, 32)
    assert np.shares_memory(matrix.data, traffic.data)
    again = nl.Traffic.from_scipy(matrix, hosts_hash=traffic.hosts_hash)
    assert (again.to_scipy() != matrix).nnz == 0
    assert again.hosts_hash == fabric.hosts_hash


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix", "lil_array"])
def test_any_sparse_form_is_taken_and_duplicates_add_up(form):
    import scipy.sparse

    matrix = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 3))
    traffic = nl.Traffic.from_scipy(getattr(scipy.sparse, form)(matrix))
    assert (traffic.pairs, traffic.total_bytes) == (2, 7.0)


@pytest.mark.parametrize("make", [np.array, list])
def test_dense_arrays_are_taken_too(make):
    matrix = make([[0, 2, 1], [0, 0, 0], [4, 0, 0]])
    traffic = nl.Traffic.from_scipy(matrix)
    assert traffic.to_scipy().toarray().tolist() == [[0, 2, 1], [0, 0, 0], [4, 0, 0]]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 2, 2)), "2 dimensions"),
        ([[1, 2], [3]], "dense array of numbers"),
        ([["a", "b"], ["c", "d"]], "dense array of numbers"),
        (np.ones((2, 3)), "square"),
        (-np.eye(2), "entry 0 has -1.0 bytes"),
        (np.eye(2) * np.nan, "NaN"),
        (3, "0 dimensions"),
        ("sparse (2, 3)", "square"),
        ("complex", "real"),
        ("negative", "entry 0 has -1.0 bytes"),
        ("nan", "NaN"),
    ],
)
def test_matrices_that_are_no_traffic(matrix, message):
    import scipy.sparse

    made = {
        "sparse (2, 3)": lambda: scipy.sparse.csr_array((2, 3)),
        "complex": lambda: scipy.sparse.csr_array(np.eye(2) * 1j),
        "negative": lambda: scipy.sparse.csr_array(-np.eye(2)),
        "nan": lambda: scipy.sparse.csr_array(np.eye(2) * np.nan),
    }
    value = made[matrix]() if isinstance(matrix, str) else matrix
    with pytest.raises(nl.TrafficError, match=message):
        nl.Traffic.from_scipy(value)


def test_arrow_tables_say_what_they_belong_to(fabric):
    traffic = nl.Traffic.read("bisection", fabric)
    table = traffic.to_arrow()
    assert table.column_names == ["source", "destination", "bytes"]
    assert table.schema.metadata[b"netloom.hosts_hash"].decode() == fabric.hosts_hash
    links = fabric.to_arrow()
    assert links.num_rows == fabric.links
    assert links["from"].to_pylist().count("leaf00") == 4 + 4
    loads = nl.loads(fabric, "ftree", traffic)
    assert np.array_equal(loads.to_arrow()["load"].to_numpy(), loads.per_link)


@pytest.mark.parametrize("ending", ["npz", "parquet", "mtx.gz", "csv"])
def test_files_keep_the_hosts_and_empty_rows(tmp_path, fabric, ending):
    traffic = nl.Traffic.from_triples(32, np.array([3]), np.array([30]), [8.5], hosts_hash=fabric.hosts_hash)
    traffic.write(tmp_path / f"t.{ending}")
    again = nl.Traffic.read(tmp_path / f"t.{ending}")
    assert (again.endpoints, again.pairs, again.total_bytes) == (32, 1, 8.5)
    assert again.hosts_hash == fabric.hosts_hash


def test_parquet_of_other_programs_needs_no_metadata(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {"destination": pa.array([3], pa.int8()), "source": pa.array([0], pa.uint64()), "bytes": [7]}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    traffic = interop.read_traffic_parquet(tmp_path / "t.parquet")
    assert (traffic.endpoints, traffic.total_bytes) == (4, 7.0)


def test_networkx_has_every_node_and_directed_link(fabric):
    import networkx as nx

    graph = fabric.to_networkx()
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (44, fabric.links)
    assert nx.is_strongly_connected(graph)
    kinds = [kind for _, kind in graph.nodes(data="kind")]
    assert (kinds.count("host"), kinds.count("switch")) == (32, 12)
    assert {level for _, level in graph.nodes(data="level") if level is not None} == {0, 1}
    # Host to host over a spine: host, leaf, spine, leaf, host.
    assert nx.shortest_path_length(graph, 0, 31) == 4
    assert graphs.to_networkx(fabric).graph["hosts_hash"] == fabric.hosts_hash


def test_paths_are_link_ids_from_host_to_host(fabric):
    links = fabric.link_table()
    path = nl.route("d-mod-k", fabric).path(0, 31)
    assert (links["source"][path[0]], links["target"][path[-1]]) == (0, 31)
    assert np.array_equal(links["target"][path[:-1]], links["source"][path[1:]])


def test_tables_are_ports_by_switch_and_destination(fabric):
    routes = nl.route("ftree", fabric)
    table = routes.table()
    assert table.shape == (12, 32 + 12)
    assert table[:, :32].min() >= 1
    assert routes.changed_entries(routes) == 0


def test_progress_is_called_and_may_raise(paths):
    fabric = nl.Fabric.generate("quartz1")
    jobs = paths.examples / "jobs" / "mix.toml"
    traffic, placed = nl.place_jobs(fabric, jobs)
    assert len({int(host) for job in placed for host in job.hosts}) == sum(len(job.hosts) for job in placed)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nl.optimize(fabric, traffic, progress=stop)


def test_hostlists_expand_as_slurm_s():
    assert nl.expand_hostlist("node[08-10,12],login1") == ["node08", "node09", "node10", "node12", "login1"]


def test_engines_describe_themselves():
    names = [name for name, _ in nl.engines()]
    assert names == ["minhop", "updn", "ftree", "d-mod-k", "s-mod-k", "random", "dla", "dor", "layers"]
    assert all(text for _, text in nl.engines())


def test_certificates_travel_as_json(tmp_path, fabric):
    traffic = nl.Traffic.read("bisection", fabric)
    best = nl.optimize(fabric, traffic)
    best.certificate.write(tmp_path / "c.json")
    again = nl.afar(fabric, traffic)
    claim = type(best.certificate).read(tmp_path / "c.json", fabric)
    assert claim.to_json() == best.certificate.to_json()
    assert nl.verify_certificate(fabric, traffic, claim, best.routes).ok
    assert nl.verify_certificate(fabric, traffic, claim).max_load is None
    assert again.loads.max >= claim.claim * (1 - 1e-9)


def test_errors_are_typed_and_pickle():
    with pytest.raises(nl.FormatError) as caught:
        nl.Traffic.parse(
            b"%%MatrixMarket matrix coordinate real general\n2 2 1\n9 9 1\n", "mtx", label="a.mtx"
        )
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.path, again.line, str(again)) == ("a.mtx", 3, str(caught.value))
    with pytest.raises(nl.SpecError):
        nl.Fabric.generate("nonsense")
    with pytest.raises(nl.NetloomError):
        nl.route("nonsense", nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2"))
    with pytest.raises(FileNotFoundError):
        nl.Fabric.read("no-such-file")


def test_routes_of_another_fabric_are_refused(fabric, paths):
    other = nl.Fabric.read(paths.ft3)
    with pytest.raises(nl.RoutingError, match="other names or cables"):
        nl.check(other, nl.route("ftree", fabric))


def test_tables_are_written_as_their_bytes_say(tmp_path):
    fabric = nl.Fabric.generate("two-level:leaves=3,hosts=2,spines=2")
    routes = nl.route("ftree", fabric)
    routes.check_file()
    for name in ("r.lfts", "r.lfts.gz"):
        routes.write(tmp_path / name)
        data = (tmp_path / name).read_bytes()
        assert (gzip.decompress(data) if name.endswith(".gz") else data) == routes.to_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.lfts", "r.lfts.gz"]
    by_source = nl.route("s-mod-k", fabric)
    for refused in (by_source.check_file, lambda: by_source.write(tmp_path / "s.lfts")):
        with pytest.raises(nl.FormatError, match="source"):
            refused()
    assert not (tmp_path / "s.lfts").exists()
