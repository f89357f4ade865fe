"""`netloom sample`: estimates beside the truth, windows, contexts, folders, and what is refused."""

from __future__ import annotations

import signal

import numpy as np
import pyarrow.parquet as pq
import pytest

from netloom import sampling
from netloom.errors import FabricError, FormatError
from sampling_bed import MANY, SMALL, TWO, altered, put, reseal, sampled, scenario
from terminal import OnTerminal


@pytest.mark.parametrize("method", ["whole", "one-bit"])
def test_estimates_are_as_sure_as_they_say(netloom, method):
    """The truth is what ports counted; estimates are off by their errors."""
    for rate in (1, 0.3):
        how = ["--method", method, "--rate", rate, "--marking", "probabilistic", "--sampling-seed", 4]
        samples = sampled(netloom, *how, "--with-truth", text=MANY)
        estimated, truth = samples.total(), samples.true_total()
        assert (truth.traffic == np.asarray(samples.links["xmit_packets"])).all()
        for key in ("traffic", "congested"):
            error = getattr(estimated, f"{key}_error")
            many = (error > 0) & (getattr(truth, key) > 150)
            off = (getattr(estimated, key) - getattr(truth, key))[many] / error[many]
            assert many.sum() >= 60
            assert 0.6 < (off**2).mean() < 1.5
            assert abs(off.mean()) < 0.4
        row = samples.contexts.to_pylist()[0]
        assert row["packets"] == samples.result["packets"]
        assert abs(row["sampled"] - rate * row["packets"]) <= 5 * row["packets"] ** 0.5 * (rate < 1)


def test_sampling_changes_nothing_and_threads_change_no_sample(netloom):
    def strip(result):
        for one in result["runs"]:
            for key in ("cpu_seconds", "packet_hops_per_cpu_second", "peak_memory_mb"):
                one.pop(key)
        return result["runs"]

    name = scenario(netloom)
    bare = strip(netloom.result("simulate", name))
    one = strip(netloom.result("sample", "run", name, "--threads", 1))
    two = strip(netloom.result("sample", "run", name, "--threads", 2))
    assert one == two
    for run, before in zip(one, bare, strict=True):
        assert {key: run[key] for key in before} == before


def test_windows_add_up(netloom):
    whole = sampled(netloom)
    cut = sampled(netloom, "--every-us", 20)
    assert len(cut.windows) > 5
    assert all(end - start <= 20_000_000 for _, start, end in cut.windows)
    assert whole.exchanged() == cut.exchanged()
    assert sum(size for _, size in whole.exchanged().values()) == whole.contexts.to_pylist()[0]["bytes"]
    assert np.isclose(whole.total().traffic.sum(), cut.total().traffic.sum())
    assert (whole.total().traffic == cut.total().traffic).all()


def test_jobs_and_tags_are_contexts(netloom):
    by_job = sampled(netloom, text=TWO)
    assert [(row["job_name"], row["phase"]) for row in by_job.contexts.to_pylist()] == [
        ("solver", "all"),
        ("sums", "all"),
    ]
    by_tag = sampled(netloom, "--contexts", "tag", text=TWO)
    rows = by_tag.contexts.to_pylist()
    assert len({row["phase"] for row in rows if row["job_name"] == "solver"}) > 1
    assert [row["phase"] for row in rows if row["job_name"] == "sums"] == ["collective"]
    assert sum(row["packets"] for row in rows) == by_tag.result["packets"]
    # A job's pairs are of its own hosts.
    solver = set(by_job.jobs[0].hosts.tolist())
    assert all(source in solver for source, _ in by_job.exchanged([0]))


def test_what_packets_carried_gives_the_same_sums(netloom):
    samples = sampled(netloom, "--packets", "--routings", "ftree")
    packets = samples.packets
    hops = np.asarray(packets["hops"]).astype(float)
    sums = np.bincount(np.asarray(packets["link"]), weights=hops, minlength=samples.fabric.links)
    assert (sums == samples.total().traffic).all()
    bits = sampled(netloom, "--packets", "--routings", "ftree", "--method", "one-bit").packets
    assert set(np.asarray(bits["bit"])) == {0, 1}


@pytest.mark.parametrize("marking", [["probabilistic"], ["ecn"], ["ecn", "--ecn-bytes", "40000"]])
def test_other_markings_call_other_packets_congested(netloom, marking):
    queue = sampled(netloom, "--with-truth").true_total()
    other = sampled(netloom, "--with-truth", "--marking", *marking).true_total()
    assert (queue.traffic == other.traffic).all()
    assert queue.congested.sum() != other.congested.sum()
    assert (other.congested <= other.traffic).all()
    if "--ecn-bytes" in marking:
        assert (
            other.congested.sum()
            < sampled(netloom, "--with-truth", "--marking", "ecn").true_total().congested.sum()
        )


def test_the_report_names_the_hottest_links(netloom):
    result = netloom.result("sample", "run", scenario(netloom), "--contexts", "tag")
    for run in result["runs"]:
        for context in run["contexts"]:
            shares = [link["congested"] for link in context["hottest"]]
            assert shares == sorted(shares, reverse=True)
    text = netloom.ok("sample", "run", scenario(netloom))
    assert "hottest links" in text
    assert "→" in text
    assert netloom.ok("sample", "run", scenario(netloom), "--format", "csv").startswith("routing,context,job")
    # A context without a hot link has the same columns.
    rows = netloom.ok("sample", "run", scenario(netloom, TWO), "--format", "csv").splitlines()
    assert len({row.count(",") for row in rows}) == 1
    assert "congested_fraction" in rows[0]


def test_a_folder_is_read_only_whole_and_of_its_fabric(netloom):
    samples = sampled(netloom, "--method", "one-bit", "--packets", "--routings", "ftree")
    folder = netloom.folder / "run"
    assert samples.findings == ()
    assert samples.sampling["hash"] == {
        "function": "gf",
        "modulus": "0x8d",
        "g": "0x127be738",
        "key": None,
        "bits": 8,
    }
    from netloom._core import Fabric

    with pytest.raises(FabricError, match="another fabric"):
        sampling.read(folder, fabric=Fabric.generate("two-level:leaves=4,hosts=4,spines=4"))
    with pytest.raises(FormatError, match="no samples of updn: expected ftree"):
        sampling.read(folder, "updn")
    place = folder / "0-ftree" / "samples.parquet"
    data = place.read_bytes()
    place.write_bytes(data[:-100])
    with pytest.raises(FormatError, match="damaged"):
        sampling.read(folder)
    reseal(folder)
    with pytest.raises(FormatError, match=r"samples\.parquet: expected a Parquet file, whole"):
        sampling.read(folder)
    netloom.ok("simulate", "s.toml", "-o", "bare", "-q")
    with pytest.raises(FormatError, match="has no samples: expected a folder of netloom sample"):
        sampling.read(netloom.folder / "bare")


def test_what_cannot_be_is_refused_with_its_row(netloom):
    def fresh():
        sampled(netloom, "--method", "one-bit", "--packets", "--routings", "ftree")

    for table, column, value, expected in [
        ("samples", "context", 7, "row 3: context 7: expected contexts 0 to 0"),
        ("samples", "link", 9999, "row 3: link 9999: expected links below"),
        ("samples", "traffic", np.nan, "row 3: traffic nan: expected a finite number"),
        ("samples", "traffic_error", -1.0, "row 3: traffic_error -1.0: expected an error of 0 or more"),
        ("received", "destination", 77, "row 3: destination 77: expected hosts below 32"),
        ("packets", "bit", 2, "row 3: bit 2: expected 0 or 1"),
        ("packets", "hops", 0, "row 3: hops 0: expected 1 to 8 hops"),
        ("packets", "congested", 3, "row 3: congested 3: expected 0 or 1"),
    ]:
        fresh()
        assert expected in altered(netloom, table, **{column: put(3, value)})


def test_what_contradicts_counters_is_told(netloom):
    sampled(netloom, "--routings", "ftree")
    place = netloom.folder / "run" / "0-ftree" / "links.parquet"
    found = pq.read_table(place)
    counts = np.asarray(found["xmit_packets"]) // 4
    found = found.set_column(found.column_names.index("xmit_packets"), "xmit_packets", [counts])
    pq.write_table(found, place)
    reseal(netloom.folder / "run")
    findings = sampling.read(netloom.folder / "run").findings
    assert any("its counter says" in one["text"] for one in findings)
    assert any("packets by samples" in one["text"] for one in findings)


@pytest.mark.parametrize(
    ("table", "column", "factor", "said"),
    [
        ("links", "xmit_bytes", 0, "bytes of it were received, its counter says 0 were sent"),
        ("samples", "congested", 50, "packets were congested there"),
    ],
)
def test_what_cannot_go_together_is_told(netloom, table, column, factor, said):
    sampled(netloom, "--routings", "ftree")
    place = netloom.folder / "run" / "0-ftree" / f"{table}.parquet"
    found = pq.read_table(place)
    at = found.column_names.index(column)
    pq.write_table(found.set_column(at, column, [np.asarray(found[column]) * factor]), place)
    reseal(netloom.folder / "run")
    assert any(said in one["text"] for one in sampling.read(netloom.folder / "run").findings)


def test_counters_of_fewer_links_are_refused(netloom):
    sampled(netloom, "--routings", "ftree")
    place = netloom.folder / "run" / "0-ftree" / "links.parquet"
    pq.write_table(pq.read_table(place).slice(0, 60), place)
    reseal(netloom.folder / "run")
    assert "links.parquet: 60 rows: expected" in netloom.refused("diagnose", "run")


def test_nothing_sampled_is_said(netloom):
    done = netloom("sample", "run", scenario(netloom, TWO), "--rate", 1e-9, "-o", "run")
    assert "none of its" in done.err
    samples = sampling.read(netloom.folder / "run")
    assert len(samples.findings) == 2
    assert (samples.total().tested == 0).all()


def test_arguments_are_refused_by_name(netloom):
    name = scenario(netloom)
    assert "--packets needs -o" in netloom.refused("sample", "run", name, "--packets", code=2)
    assert "--ecn-bytes is of --marking ecn" in netloom.refused(
        "sample", "run", name, "--ecn-bytes", 5, code=2
    )
    assert "--hash is of --method one-bit" in netloom.refused("sample", "run", name, "--hash", "1,2", code=2)
    assert "expected MODULUS,G" in netloom.refused(
        "sample", "run", name, "--method", "one-bit", "--hash", "x", code=2
    )
    assert "rate" in netloom.refused("sample", "run", name, "--rate", 0, code=2)
    assert "expected packet" in netloom.refused("sample", "run", name, "--set", "model=fluid")


def test_hop_counts_too_small_for_the_fabric_are_refused(netloom):
    """A packet that crossed four links and counts two is half of what it is."""
    said = netloom.refused("sample", "run", scenario(netloom), "--hop-bits", 1, code=2)
    assert "--hop-bits 1 tell 2 hops apart, ways here have up to 4: expected 2 bits at least" in said
    assert netloom.result("sample", "run", scenario(netloom), "--hop-bits", 2)["runs"]


def test_the_study_holds_errors_to_the_formulas(netloom):
    result = netloom.result("study", "sampling", scenario(netloom, MANY), "--repeats", 2)
    assert [(row["method"], row["downsampling"]) for row in result["rows"]] == [
        (method, times) for method in ("whole", "one-bit") for times in (1, 10, 100, 1000)
    ]
    for row in result["rows"]:
        if row["downsampling"] <= 10:
            assert 0.8 < row["traffic_ratio"] < 1.25
            assert 0.75 < row["fraction_ratio"] < 1.33
    errors = [row["traffic_percent"] for row in result["rows"][:4]]
    assert errors == sorted(errors)
    # sqrt(1.71² - 1.70²) = 0.18: all but a tenth of the table's error is its constant.
    assert result["unmet"][0] == {
        "column": "congested",
        "method": "whole",
        "downsampling": 1,
        "published_percent": 1.71,
        "of_sampling_percent": 0.18,
    }
    unmet = [(row["method"], row["downsampling"]) for row in result["unmet"]]
    assert unmet == [("whole", 1), ("whole", 10), ("whole", 100), ("one-bit", 1), ("one-bit", 10)]


def test_a_congested_share_s_error_is_the_dissertation_s_formula():
    """Sec. 2.3.2, ways of l = 4, N = 1000, M = 200: Var[F] = 3 * 0.2² * (1/200 - 1/1000)."""
    from netloom.sampling.samples import Totals

    n, m, rest = 1000.0, 200.0, 3.0
    one = Totals(
        traffic=np.array([n, 0.0, n]),
        traffic_error=np.sqrt([n * rest, 0.0, n * rest]),
        congested=np.array([m, 0.0, n]),
        congested_error=np.sqrt([m * rest, 0.0, n * rest]),
        tested=np.array([250, 0, 250]),
    )
    error = one.fraction_error()
    assert error[0] == pytest.approx((rest * 0.04 * (1 / 200 - 1 / 1000)) ** 0.5)
    assert np.isnan(error[1])
    # All congested: the share is 1 whatever was sampled.
    assert error[2] == 0


def test_an_interrupted_study_compares_nothing(netloom):
    run = OnTerminal([*netloom.command, "study", "sampling"], netloom.folder)
    run.wait_for("study")
    run.process.send_signal(signal.SIGINT)
    assert run.end() == (130, b"")
    assert b"netloom: interrupted" in run.drawn


def test_the_study_takes_any_hash_and_no_row_of_next_to_no_packets(netloom):
    name = scenario(netloom, SMALL.replace("262144", "8192"))
    result = netloom.result("study", "sampling", name, "--routing", "ftree", "--hash", "siphash")
    assert result["hash"] == "siphash:000102030405060708090a0b0c0d0e0f"
    for row in result["rows"]:
        assert (row["traffic_percent"] is None) == (row["sampled"] < 10)
        assert row["traffic_percent"] is None or row["downsampling"] > 1 or 0.7 < row["traffic_ratio"] < 1.4
    assert any(row["sampled"] < 10 for row in result["rows"])
    text = netloom.ok("study", "sampling", name, "--routing", "ftree")
    assert "- fewer than 10 packets were sampled: errors of so few say nothing" in text
    assert "100.00 %" not in text
