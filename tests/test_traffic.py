"""`netloom traffic`: patterns, files, jobs."""

from __future__ import annotations

import pytest


def test_stencil_has_the_pairs_of_table_3_1(netloom):
    # 16 x 16 x 12, not periodic: 2 * (15*16*12 + 16*15*12 + 16*16*11) ordered neighbours.
    result = netloom.result("traffic", "new", "stencil:16x16x12", "quartz1")
    assert (result["endpoints"], result["pairs"]) == (3072, 2 * (15 * 16 * 12 + 16 * 15 * 12 + 16 * 16 * 11))
    assert result["max_partners"] == 6


def test_all_to_all_leaves_out_only_oneself(netloom):
    result = netloom.result("traffic", "new", "all-to-all", "--endpoints", "64")
    assert result["pairs"] == 64 * 63


@pytest.mark.parametrize("ending", ["mtx", "mtx.gz", "csv", "npz", "parquet"])
def test_every_file_format_gives_the_traffic_back(netloom, paths, ending):
    netloom.ok("traffic", "place", paths.ft2, paths.examples / "jobs" / "small.toml", "-o", f"t.{ending}")
    whole = netloom.result("traffic", "show", paths.examples / "jobs" / "small.toml", paths.ft2)
    again = netloom.result("traffic", "show", f"t.{ending}", paths.ft2)
    assert again == whole
    assert again["fits"] is True


def test_placed_traffic_knows_its_hosts(netloom, paths):
    netloom.ok("traffic", "place", paths.ft2, paths.examples / "jobs" / "small.toml", "-o", "t.mtx.gz")
    renamed = paths.ft2.read_text().replace("host0007", "login1")
    (netloom.folder / "renamed.txt").write_text(renamed)
    assert "other host names" in netloom.refused("loads", "renamed.txt", "ftree", "t.mtx.gz")
    assert netloom.result("traffic", "show", "t.mtx.gz", "renamed.txt", code=1)["fits"] is False
    assert (
        "no: it was made for hosts of other names"
        in netloom("traffic", "show", "t.mtx.gz", "renamed.txt").out
    )


def test_jobs_never_share_a_host(netloom, paths):
    result = netloom.result("traffic", "place", "quartz1", paths.examples / "jobs" / "mix.toml")
    # lulesh once, miniAMR three times, HPCG four times; one rank a host.
    assert [job["ranks"] for job in result["jobs"]] == [512] * 4 + [216] * 4
    assert sum(job["hosts"] for job in result["jobs"]) == 512 + 3 * 512 + 4 * 216


def test_placing_depends_on_the_seed(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        netloom.ok("traffic", "place", paths.ft2, jobs, "--seed", seed, "-o", f"{name}.mtx")
    a, b, c = ((netloom.folder / f"{name}.mtx").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_real_matrices_are_what_their_readme_says(netloom, paths):
    result = netloom.result("traffic", "show", paths.examples / "data" / "lulesh-512.mtx.gz")
    assert (result["endpoints"], result["pairs"]) == (512, 10_136)
    assert result["total_bytes"] == pytest.approx(295.7e6, rel=1e-3)
    assert result["mean_partners"] == pytest.approx(19.80, abs=0.005)


def test_scipy_npz_is_read(netloom):
    import scipy.sparse

    matrix = scipy.sparse.csr_array(([5.0, 7.0], ([0, 3], [1, 2])), shape=(4, 4))
    scipy.sparse.save_npz(netloom.folder / "m.npz", matrix)
    result = netloom.result("traffic", "show", "m.npz")
    assert (result["endpoints"], result["pairs"], result["total_bytes"]) == (4, 2, 12.0)


def test_equal_traffic_gives_equal_bytes(netloom, paths):
    for name in ("a", "b"):
        for ending in ("npz", "parquet", "mtx.gz"):
            netloom.ok("traffic", "new", "bisection-shuffle:seed=3", paths.ft2, "-o", f"{name}.{ending}")
    for ending in ("npz", "parquet", "mtx.gz"):
        assert (netloom.folder / f"a.{ending}").read_bytes() == (netloom.folder / f"b.{ending}").read_bytes()


@pytest.mark.parametrize(
    ("pattern", "hops"), [("stencil:16x16x12", 3.15), ("bisection", 6.0), ("all-to-all", 5.48)]
)
def test_mean_hops_are_those_of_table_3_1(netloom, pattern, hops):
    result = netloom.result("traffic", "show", pattern, "quartz1")
    assert result["mean_hops"] == pytest.approx(hops, abs=0.005)


TRACE = """0 isend 1 7 100 2
0 wait 0 1 7
0 allreduce 1 0 0
0 isend 1 7 30 2
0 wait 0 1 7
1 irecv 0 7 100 2
1 wait 0 1 7
1 allreduce 1 0 0
1 irecv 0 7 30 2
1 wait 0 1 7
"""


def test_a_trace_is_cut_into_phases_at_its_collectives(netloom, tmp_path):
    """Rank 0 sends 100 bytes, all wait for all, then 30. The allreduce of a double is 8 bytes each way."""
    import netloom as nl

    (netloom.folder / "run.ti").write_text(TRACE)
    traffic = nl.Traffic.read(netloom.folder / "run.ti")
    assert traffic.endpoints == 2
    sums = {name: traffic.phase(i).total_bytes for i, name in enumerate(traffic.phase_names)}
    assert sums == {"phase 1": 100, "allreduce": 16, "phase 2": 30}
    assert nl.Traffic.parse(TRACE.encode(), "ti").total_bytes == 146
    result = netloom.result("traffic", "show", "run.ti")
    rows = [(row["repeats"], row["total_bytes"]) for row in result["phase_list"]]
    assert rows == [(1, 100), (1, 16), (1, 30)]
    made = {"point_to_point": 130, "collective": 16, "within_endpoints": 0, "left_out": 0}
    assert result["bytes"] == traffic.made_of == made
    out = netloom.ok("traffic", "show", "run.ti")
    assert out.splitlines()[-4].split() == ["phase", "times", "pairs", "bytes"]
    assert "146 B (16 B of collectives)" in out


def test_collectives_of_a_trace_can_be_left_out_and_that_is_told(netloom):
    (netloom.folder / "run.ti").write_text(TRACE)
    result = netloom.result("traffic", "show", "run.ti", "--collectives", "none")
    assert (result["total_bytes"], result["bytes"]["left_out"]) == (130, 16)
    (netloom.folder / "jobs.toml").write_text('[[job]]\ntrace = "run.ti"\ncollectives = "none"\n')
    placed = netloom.result("traffic", "place", "two-level:leaves=2,hosts=1,spines=1", "jobs.toml")
    assert placed["bytes"] == result["bytes"]
    (netloom.folder / "one.toml").write_text('[[job]]\ntrace = "run.ti"\nranks_per_host = 2\n')
    within = netloom.result("traffic", "place", "two-level:leaves=2,hosts=1,spines=1", "one.toml", code=1)
    assert [one["text"].split(":")[0] for one in within["findings"]][-1] == "all stays within hosts"
    assert (within["total_bytes"], within["bytes"]["within_endpoints"]) == (0, 146)


def test_a_trace_of_alltoalls_has_bytes(netloom, paths):
    """NAS FT: three alltoalls of 8,192 complex numbers a pair; whose they are is told as unknown."""
    result = netloom.result("traffic", "show", paths.examples / "data" / "ft-128.ti.gz")
    assert result["pairs"] == 128 * 127
    alltoalls = 3 * 128 * 127 * 8192 * 16
    assert result["total_bytes"] == alltoalls + 5468 == result["bytes"]["collective"]
    assert [finding["kind"] for finding in result["findings"]] == ["communicators"]
    assert "all 128 ranks" in result["findings"][0]["text"]


def test_collectives_on_which_ranks_disagree_are_left_out_with_their_bytes(netloom):
    """Rows of two ranks: the lists of an alltoallv have two counts where there are four ranks."""
    row = "{0} barrier\n{0} alltoallv 3 1 2 3 1 2 6 6\n{0} send 0 0 10 6\n"
    (netloom.folder / "rows.ti").write_text("".join(row.format(rank) for rank in range(4)))
    result = netloom.result("traffic", "show", "rows.ti", code=1)
    made = {"point_to_point": 40, "collective": 8, "within_endpoints": 10, "left_out": 12}
    assert result["bytes"] == made
    assert [finding["kind"] for finding in result["findings"]] == ["collectives-left-out"]
    assert "4 of alltoall (12 B)" in result["findings"][0]["text"]


def test_real_traces_of_applications_have_the_bytes_of_their_matrices(paths):
    import netloom as nl

    trace = nl.Traffic.read(paths.examples / "data" / "lulesh-64.ti.gz")
    matrix = nl.Traffic.read(paths.examples / "data" / "lulesh-64.mtx.gz")
    assert trace.endpoints == matrix.endpoints == 64
    assert len(trace.phase_names) > 1


def test_hosts_can_be_named_by_guid_and_by_rail(netloom, paths):
    import netloom as nl

    net = nl.Fabric.read(paths.ft2)
    table = net.host_table()
    one, other = (f"0x{table['port_guid'][host]:x}" for host in (3, 5))
    (netloom.folder / "jobs.toml").write_text(
        f'[[job]]\npattern = "all-to-all:ranks=2,bytes=7"\nhosts = "{one},{other}"\n'
    )
    placed = netloom.result("traffic", "place", paths.ft2, "jobs.toml", "-o", "t.npz")
    assert placed["total_bytes"] == 14
    matrix = nl.Traffic.read(netloom.folder / "t.npz").to_scipy()
    assert (matrix[3, 5], matrix[5, 3]) == (7, 7)
    (netloom.folder / "jobs.toml").write_text('[[job]]\nranks = 1\nhosts = "0xdeadbeef"\n')
    assert "0xdeadbeef" in netloom.refused("traffic", "place", paths.ft2, "jobs.toml", code=3)


def test_a_job_that_does_not_fit_is_told_with_its_line(netloom, paths, write):
    lines = '[[job]]\nname = "a"\npattern = "bis:ranks=2"\n\n[[job]]\nname = "b"\n'
    for body, word in [
        ('pattern = "bad"\n', ':7: job "b": there is no pattern "bad"'),
        ('hosts = ["nowhere"]\n', ':7: job "b": the fabric has no host or machine "nowhere"'),
        ('[[job.phase]]\npattern = "bad:4"\n', ':7: job "b": there is no pattern "bad"'),
        ('pattern = "bis:ranks=1000"\n', ':5: job "b" needs 1000 hosts'),
    ]:
        jobs = write("jobs.toml", lines + body)
        assert netloom.refused("traffic", "show", jobs, paths.ft2).startswith(f"{jobs}{word}")
