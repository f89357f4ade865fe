"""Traffic that is only roughly known: samples (`perturbed`, `--error`), row and column sums (`Hose`)."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl


@pytest.fixture
def traffic() -> nl.Traffic:
    return nl.Traffic.from_triples(4, [0, 0, 1, 3], [1, 2, 3, 0], [100.0, 200.0, 300.0, 50.0])


def test_a_sample_has_the_same_pairs_and_a_seed_of_its_own(traffic):
    one, again, other = (traffic.perturbed(0.1, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.indices, traffic.indices)
    assert np.array_equal(one.data, again.data)
    assert not np.array_equal(one.data, other.data)
    assert (one.data >= 0).all()
    assert np.array_equal(traffic.perturbed(0.0, seed=1).data, traffic.data)


def test_samples_scatter_as_much_as_their_error_says(traffic):
    samples = np.array([traffic.perturbed(0.1, seed=seed).data for seed in range(400)])
    # The standard deviation of a mean of 400 is a twentieth of 10 %; six of those are far.
    assert samples.mean(axis=0) == pytest.approx(traffic.data, rel=6 * 0.1 / 20)
    assert samples.std(axis=0) == pytest.approx(0.1 * traffic.data, rel=0.3)


def test_errors_by_entry_leave_what_is_exact(traffic):
    errors = nl.Traffic.from_triples(4, [0], [2], [50.0])
    sample = traffic.perturbed_by(errors, seed=3)
    changed = sample.data != traffic.data
    assert changed.tolist() == [False, True, False, False]


@pytest.mark.parametrize("error", [-0.1, float("nan"), float("inf")])
def test_an_error_that_is_none_is_refused(traffic, error):
    with pytest.raises(nl.NetloomError, match="expected"):
        traffic.perturbed(error)


def test_sums_are_what_hosts_send_and_receive(traffic, tmp_path):
    hose = nl.Hose.of(traffic)
    assert hose.sent.tolist() == [300.0, 300.0, 0.0, 50.0]
    assert hose.received.tolist() == [50.0, 100.0, 200.0, 300.0]


def test_every_sample_has_a_gap_to_a_bound_of_its_own(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    arguments = ["optimize", paths.ft2, jobs, "--error", "20%", "--samples", 3, "-o", "r.lfts"]
    result = netloom.result(*arguments, "--seed", 7, "--write-certificate", "c.json")
    rows = result["scenarios"]
    assert [row["name"] for row in rows] == [str(jobs), "seed 8", "seed 9", "seed 10"]
    worst = max(row["max_load"] / row["lower_bound"] for row in rows)
    assert result["objective"]["kind"] == "worst-gap"
    assert result["objective"]["value"] == pytest.approx(worst)
    # The first is the traffic as given, and its certificate can be judged.
    alone = netloom.result("loads", paths.ft2, "r.lfts", jobs, "--seed", 7)
    assert alone["max_load"] == pytest.approx(rows[0]["max_load"])
    proof = ["--traffic", jobs, "--certificate", "c.json", "--seed", 7]
    judged = netloom.result("check", paths.ft2, "r.lfts", *proof)
    assert judged["certificate"]["ok"] is True
    # The samples are those of Python.
    fabric = nl.Fabric.read(paths.ft2)
    sample = nl.Traffic.read(jobs, fabric, seed=7).perturbed(0.2, seed=9)
    again = nl.loads(fabric, nl.Routes.read(netloom.folder / "r.lfts", fabric), sample)
    assert again.max == pytest.approx(rows[2]["max_load"])


def test_errors_come_from_a_file_too(netloom, paths):
    sources = np.arange(32)
    for name, amount in (("t.mtx", 100.0), ("e.mtx", 10.0)):
        nl.Traffic.from_triples(32, sources, (sources + 5) % 32, np.full(32, amount)).write(
            netloom.folder / name
        )
    document = netloom.json("optimize", paths.ft2, "t.mtx", "--error", "e.mtx", "--robust", "mean")
    assert [i["role"] for i in document["inputs"]] == ["fabric", "traffic", "errors"]
    assert len(document["result"]["scenarios"]) == 5
    nl.Traffic.from_triples(8, [0], [1], [1.0]).write(netloom.folder / "small.mtx")
    word = netloom.refused("optimize", paths.ft2, "t.mtx", "--error", "small.mtx")
    assert "32" in word
    assert "8" in word


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--error", "rough"], "percentage"),
        (["--error=-3"], "percent"),
        (["--samples", "3"], "--error"),
        (["--error", "5", "--objective", "sum"], "--objective"),
        (["--error", "5", "--compare"], "--objective total"),
    ],
)
def test_errors_that_are_none(netloom, arguments, word):
    assert word in netloom.refused("optimize", "no-such-file", "bisection", *arguments, code=2)


SUMS = "host,sent,received\n0,2,0\n1,2,0\n2,0,1\n3,0,1\n4,0,1\n5,0,1\n"


def test_a_hose_is_as_bad_as_its_worst_matrix(netloom):
    """Two hosts may send 2 each; four hosts on two other leaves receive 1 each.

    All four may be sent to at once. The senders' leaf has two links up, so one of them leads to two of the
    four at least, and can carry 2: the bound. Tables that part them evenly meet it.
    """
    (netloom.folder / "sums.csv").write_text(SUMS)
    tree = "two-level:leaves=3,hosts=2,spines=2"
    arguments = ["optimize", tree, "sums.csv", "--hose", "-o", "r.lfts", "--background", "minhop"]
    result = netloom.result(*arguments)
    assert (result["max_load"], result["lower_bound"], result["proven_optimal"]) == (2, 2, True)
    assert result["objective"]["kind"] == "hose"
    assert result["background"]["max_load"] >= 2
    assert (result["ar_bound"], result["bound_kind"]) == (None, None)
    assert "proven optimal" in netloom.ok(*arguments)
    fabric = nl.Fabric.generate(tree)
    hose = nl.Hose.read(netloom.folder / "sums.csv", fabric)
    routes = nl.Routes.read(netloom.folder / "r.lfts", fabric)
    assert nl.hose_loads(fabric, routes, hose).max == 2
    best = nl.optimize_hose(fabric, hose)
    # The worst matrix keeps the sums and loads a link between switches that much.
    worst = nl.Hose.of(best.worst_matrix)
    assert (worst.sent <= hose.sent).all()
    assert (worst.received <= hose.received).all()
    loads = nl.loads(fabric, best.routes, best.worst_matrix)
    assert loads.max_between_switches == best.worst.max_between_switches == 2


def test_no_matrix_with_the_same_sums_is_worse_than_the_hose_says(netloom, paths):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    result = netloom.result("optimize", paths.ft2, jobs, "--hose", "--work", 20000, "-o", "r.lfts")
    fabric = nl.Fabric.read(paths.ft2)
    routes = nl.Routes.read(netloom.folder / "r.lfts", fabric)
    known = nl.Traffic.read(jobs, fabric)
    assert nl.loads(fabric, routes, known).max <= result["max_load"] * (1 + 1e-9)
    worst = nl.hose_loads(fabric, routes, nl.Hose.of(known))
    assert (nl.loads(fabric, routes, known).per_link <= worst.per_link * (1 + 1e-9)).all()


def test_sums_of_other_hosts_are_refused(netloom, paths):
    (netloom.folder / "sums.csv").write_text(SUMS.replace("5,0,1", "5,0,x"))
    assert netloom.refused("optimize", paths.small, "sums.csv", "--hose").startswith("sums.csv:7: ")
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=2")
    hose = nl.Hose.of(nl.Traffic.pattern("all-to-all", 8))
    with pytest.raises(nl.TrafficError, match="8 hosts"):
        nl.optimize_hose(fabric, hose)


@pytest.mark.parametrize(
    "arguments",
    [["--also", "bisection"], ["--error", "5"], ["--lmc", "1"], ["--write-certificate", "c.json"]],
)
def test_a_hose_excludes_what_is_about_one_matrix(netloom, arguments):
    word = netloom.refused("optimize", "no-such-file", "bisection", "--hose", *arguments, code=2)
    assert arguments[0] in word
