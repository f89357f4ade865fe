"""`netloom infer`: traffic from counters, end to end; what is refused; what is said beside a guess."""

from __future__ import annotations

import gzip
import json
import re
import signal

import numpy as np
import pytest

import netloom as nl
from terminal import OnTerminal

OCTETS = 4 * 72
"""Of a request or an answer in the recorded runs."""


def job(name: str, source: str, allocation: str = 'allocation = "contiguous:10"', more: str = "") -> str:
    return f'[[job]]\nname = "{name}"\n{source}\n{allocation}\n{more}\n'


@pytest.fixture
def application(paths, write):
    """The jobs file of a recorded application on consecutive hosts."""

    def make(name: str, allocation: str = 'allocation = "contiguous:10"') -> str:
        matrix = paths.examples / "data" / f"{name}.mtx.gz"
        return write(f"{name}.toml", job(name.split("-")[0], f'matrix = "{matrix}"', allocation))

    return make


@pytest.fixture
def counted(netloom, paths):
    """Counters that traffic leaves; on the 32-host fabric unless said otherwise."""

    def make(traffic, *options, fabric=None, routes="ftree", name="c.csv") -> str:
        seconds = () if "--seconds" in options else ("--seconds", 1000)
        fabric = paths.ft2 if fabric is None else fabric
        netloom.ok("counters", "synth", fabric, routes, traffic, *seconds, *options, "-o", name)
        return name

    return make


def kinds(result) -> set[str]:
    return {finding["kind"] for finding in result["findings"]}


# What it finds


@pytest.mark.parametrize(
    ("name", "grid", "pairs"), [("lulesh-512", [8, 8, 8], 10_136), ("snap-168", [12, 14], 620)]
)
def test_one_lane_is_enough_for_regular_codes_on_a_machine(
    netloom, paths, application, counted, name, grid, pairs
):
    jobs = application(name)
    counters = counted(jobs, fabric=paths.quartz1)
    result = netloom.result(
        "infer", paths.quartz1, "ftree", counters, "--jobs", jobs, "--truth", jobs, "-o", "t.mtx.gz"
    )
    assert result["relative_error_percent"] < 0.001
    assert result["leaf_error_percent"] < 0.001
    assert (result["verdict"], result["findings"]) == ("identified", [])
    [found] = result["hypothesis"]
    assert (found["sides"], found["order"], found["ranks"]) == (grid, "rows", int(name.split("-")[1]))
    # What is written is that traffic.
    fabric = nl.Fabric.read(paths.quartz1)
    written = nl.Traffic.read(netloom.folder / "t.mtx.gz", fabric)
    truth = nl.Traffic.read(netloom.folder / jobs, fabric)
    assert (written.pairs, truth.pairs) == (pairs, pairs)
    assert written.hosts_hash == fabric.hosts_hash
    assert written.data == pytest.approx(truth.data, rel=1e-6)


def test_lanes_tell_pairs_apart_that_one_lane_does_not(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    scheme = ("--vl-scheme", "5sl5vl:seed=1")
    counters = counted(jobs, *scheme)
    asked = ("infer", paths.ft2, "ftree", counters, "--jobs", jobs, "--truth", jobs)
    five = netloom.result(*asked, *scheme)
    assert five["relative_error_percent"] < 0.001
    assert five["possible_pairs"] < five["pairs"] == 480
    done = netloom(*asked, "--format", "json")
    one = json.loads(done.out)["result"]
    assert one["relative_error_percent"] > 10
    assert any("5 lanes apart, but no --vl-scheme" in note for note in one["notes"])


@pytest.mark.parametrize("case", ["ft2_32", "ft3_32"])
def test_real_readings_give_what_hosts_really_sent(netloom, paths, write, case):
    folder = paths.opensm / case
    fabric = nl.Fabric.read(folder / "ibnetdiscover.txt")
    with gzip.open(folder / "truth_requests.csv.gz", "rt") as file:
        rows = [line.strip().split(",") for line in file if not line.startswith("src")]
    both = [(a, b, n) for a, b, n in rows] + [(b, a, n) for a, b, n in rows]
    lines = [f"{a},{b},{OCTETS * int(n)}" for a, b, n in both]
    truth = write("truth.csv", "\n".join(["source,destination,bytes", *lines]) + "\n")
    readings = [folder / f"perfquery_x_{when}.txt.gz" for when in ("before", "after")]
    arguments = ("infer", folder / "ibnetdiscover.txt", folder / "dump_fts.txt", *readings)
    done = netloom(
        *arguments, "--truth", truth, "--write-hose", "sums.csv", "-o", "t.csv", "--format", "json"
    )
    assert done.code in (0, 1), done.err
    result = json.loads(done.out)["result"]
    assert result["unexplained_percent"] < 0.1
    assert result["pairs"] == 32 * 31
    # Sums by host are certain, but for what reading the counters itself sent (from the first host).
    sums = nl.Hose.read(netloom.folder / "sums.csv", fabric)
    real = nl.Hose.of(nl.Traffic.read(netloom.folder / truth, fabric))
    assert sums.sent[1:] == pytest.approx(real.sent[1:], rel=0.01)
    assert sums.received[1:] == pytest.approx(real.received[1:], rel=0.01)
    # Every host talks to every other by an amount of its own: bytes spread evenly are the answer, and that
    # is told.
    assert result["verdict"] != "identified"
    assert result["leaf_error_percent"] < 35
    assert 0.5 < result["estimated_leaf_error_percent"] / result["leaf_error_percent"] < 2


def test_ranges_hold_the_truth_and_sums_of_hosts(netloom, paths, write, counted):
    traffic = write("traffic.toml", job("a", 'pattern = "permutation:seed=3"', 'hosts = "host00[00-31]"'))
    counters = counted(traffic, "--vl-scheme", "5sl5vl:seed=1")
    asked = ("infer", paths.ft2, "ftree", counters, "--vl-scheme", "5sl5vl:seed=1", "--ranges", "4")
    rows = netloom.result(*asked)["ranges"]
    assert [row["kind"] for row in rows] == ["leaf sum"] * 4 + ["pair"] * 4
    assert all(row["least"] <= row["bytes"] <= row["most"] for row in rows)
    # Everyone sends to one host only: a pair carries no more than that.
    most = max(row["most"] for row in rows if row["kind"] == "pair")
    fabric = nl.Fabric.read(paths.ft2)
    assert most <= 1.001 * max(nl.Hose.of(nl.Traffic.read(netloom.folder / traffic, fabric)).sent)


def test_a_wrong_grid_that_noise_allows_is_not_called_identified(netloom, paths, write):
    # Two grids explain these counters alike, and the wrong one wins: leaf sums 28 % off, once told as 1.5 %.
    jobs = write(
        "n.toml",
        job("n", f'matrix = "{paths.examples}/data/nekbone-256.mtx.gz"', 'allocation = "contiguous:400"'),
    )
    noise = ("--noise", "0.005", "--skew", "0.02", "--missing", "0.02", "--seed", "3")
    assert netloom("counters", "synth", "quartz1", "ftree", jobs, *noise, "-o", "n.csv", "-q").code == 0
    result = netloom.result("infer", "quartz1", "ftree", "n.csv", "--jobs", jobs, "--truth", jobs)
    assert result["verdict"] != "identified"
    assert result["rivals"] > 0
    assert result["estimated_leaf_error_percent"] > 0.5 * result["leaf_error_percent"]


def test_two_jobs_are_told_apart_and_need_no_matrix(netloom, paths, write, counted):
    hosts = ['hosts = "host00[00-15]"', 'hosts = "host00[16-31]"']
    sources = ['pattern = "stencil:4x4,bytes=1000000"', 'pattern = "stencil:4x2x2,bytes=300000"']
    traffic = write("traffic.toml", "".join(job("ab"[i], sources[i], hosts[i]) for i in (0, 1)))
    # Hosts alone are a rank each.
    jobs = write("jobs.toml", job("a", "", hosts[0]) + job("b", "ranks = 16", hosts[1]))
    counters = counted(traffic, "--vl-scheme", "5sl5vl:seed=1")
    asked = ("infer", paths.ft2, "ftree", counters, "--vl-scheme", "5sl5vl:seed=1", "--truth", traffic)
    result = netloom.result(*asked, "--jobs", jobs)
    assert result["relative_error_percent"] < 0.001
    assert [(found["job"], found["ranks"]) for found in result["hypothesis"]] == [("a", 16), ("b", 16)]
    assert result["pairs"] == 2 * 16 * 15


def test_counters_of_a_simulation_give_what_its_ranks_sent(netloom, paths, write):
    scenario = write(
        "s.toml",
        f'fabric = "{paths.small}"\nroutes = ["ftree"]\n'
        '[[job]]\nname = "halo"\nallocation = "contiguous:0"\n'
        'program = { kind = "halo", shape = [4, 4, 2], periodic = false, face_bytes = "32KiB", '
        "iterations = 4 }\n",
    )
    netloom.ok("simulate", scenario, "-o", "run")
    done = netloom(
        "infer", paths.small, "ftree", "run/0-ftree/links.parquet", "-o", "t.csv", "--format", "json"
    )
    assert done.code in (0, 1), done.err
    traffic = nl.Traffic.read(netloom.folder / "t.csv", nl.Fabric.generate(paths.small))
    pairs = traffic.to_scipy().tocoo()
    grid = [(rank % 4, rank // 4 % 4, rank // 16) for rank in range(32)]
    far = [
        sum(abs(x - y) for x, y in zip(grid[i], grid[j], strict=True))
        for i, j in zip(pairs.row, pairs.col, strict=True)
    ]
    bytes_by_distance = np.bincount(far, weights=pairs.data, minlength=3)
    # Neighbours talk, nobody else does.
    assert bytes_by_distance[1] > 0.99 * pairs.data.sum()


@pytest.mark.parametrize("weight", ["packets", "mixed"])
def test_packets_are_inferred_as_bytes_are(netloom, paths, counted, weight):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    scheme = ("--vl-scheme", "5sl5vl:seed=1")
    counters = counted(jobs, *scheme, "--scale", 1000)
    truth = nl.Traffic.read(jobs, nl.Fabric.read(paths.ft2))
    result = netloom.result(
        "infer", paths.ft2, "ftree", counters, "--jobs", jobs, "--unit", weight, "--mtu", 4096, *scheme
    )
    per_byte = {"packets": 1 / 4096, "mixed": 1.0}[weight]
    assert result["total_bytes"] == pytest.approx(1000 * per_byte * truth.total_bytes, rel=0.01)


def test_the_bytes_do_not_depend_on_threads(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    counters = counted(jobs, "--noise", "0.005", "--missing", "0.02")
    for threads in (1, 2):
        output = ("--threads", threads, "-o", f"{threads}.mtx")
        done = netloom("infer", paths.ft2, "ftree", counters, "--jobs", jobs, *output)
        assert done.code in (0, 1), done.err
    one, two = ((netloom.folder / f"{n}.mtx").read_bytes() for n in (1, 2))
    assert one == two


def test_what_is_certain_is_written_for_the_optimiser(netloom, paths, counted):
    counters = counted("bisection-shuffle:seed=1", "--scale", 1e6)
    done = netloom("infer", paths.ft2, "ftree", counters, "--write-hose", "sums.csv", "--format", "json")
    result = json.loads(done.out)["result"]
    assert (done.code, kinds(result)) in ((0, set()), (1, {"not-identifiable"}))
    fabric = nl.Fabric.read(paths.ft2)
    sums = nl.Hose.read(netloom.folder / "sums.csv", fabric)
    real = nl.Hose.of(nl.Traffic.read("bisection-shuffle:seed=1", fabric))
    assert np.array_equal(sums.sent, 1e6 * real.sent)
    assert np.array_equal(sums.received, 1e6 * real.received)
    best = netloom.result("optimize", paths.ft2, "sums.csv", "--hose", "--work", 1000)
    assert best["objective"]["kind"] == "hose"


# Stopped early


def test_no_time_gives_what_there_is_and_says_so(netloom, paths, application, counted):
    jobs = application("amg-125")
    counters = counted(jobs, fabric=paths.quartz1)
    asked = ("infer", paths.quartz1, "ftree", counters, "--jobs", jobs, "--time-limit", 0, "-o", "t.mtx")
    done = netloom(*asked, "--format", "json")
    assert done.code in (0, 1), done.err
    result = json.loads(done.out)["result"]
    assert (result["stopped"], result["reproducible"], result["output"]) == ("time-limit", False, "t.mtx")
    assert (netloom.folder / "t.mtx").exists()


def test_ctrl_c_keeps_the_best_so_far(netloom, paths, application, counted):
    jobs = application("miniamr-512")
    counters = counted(jobs, fabric=paths.quartz1)
    arguments = ["infer", paths.quartz1, "ftree", counters, "--jobs", jobs, "-o", "t.mtx", "--format", "json"]
    run = OnTerminal([*netloom.command, *map(str, arguments)], netloom.folder)
    run.wait_for(" %", "running")
    run.process.send_signal(signal.SIGINT)
    code, out = run.end()
    assert code == 130, run.drawn
    assert json.loads(out)["result"]["stopped"] == "interrupted"
    assert (netloom.folder / "t.mtx").exists()


# What is refused


def test_counters_under_other_routes_are_refused_with_the_worst_links(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "boxlib.toml"
    netloom.ok("route", "random", paths.ft2, "--seed", 5, "-o", "other.lfts")
    counters = counted(jobs, routes="other.lfts")
    error = netloom.refused("infer", paths.ft2, "ftree", counters, "--jobs", jobs, "-o", "t.mtx")
    assert re.match(r"the counters do not fit these routes: \d+\.\d % of what was counted unexplained", error)
    assert len(re.findall(r"\S+\[\d\] -> \S+\[\d\] \(\d+ counted, \d+ explained\)", error)) == 5


def test_counters_under_the_tables_of_another_engine_are_refused(netloom, paths, counted):
    """On an intact tree ftree, updn and d-mod-k agree for many jobs; where cables are missing they don't."""
    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok("fabric", "damage", paths.ft2, "--random-links", 5, "--seed", 2, "-o", "d.net")
    for real, told in (("ftree", "updn"), ("updn", "ftree")):
        counters = counted(jobs, "--seconds", 1e6, fabric="d.net", routes=real)
        assert "do not fit" in netloom.refused("infer", "d.net", told, counters, "--jobs", jobs, "-q")
        done = netloom("infer", "d.net", real, counters, "--jobs", jobs, "--format", "json")
        assert json.loads(done.out)["result"]["unexplained_percent"] < 0.1


def test_counters_from_after_a_cable_failed_are_refused_by_its_name(netloom, paths, counted):
    """What was counted after the failure, and the dump from before it."""
    broken = paths.opensm / "ft3_32" / "fault_p0leaf0_port5_down" / "ibnetdiscover.txt"
    counters = counted("all-to-all", "--scale", 1e6, "--seconds", 1e6, fabric=broken)
    error = netloom.refused("infer", paths.ft3, paths.opensm / "ft3_32" / "dump_fts.txt", counters)
    assert "another fabric: expected p0leaf0[5] -> p0spine0[1]" in error


def test_counters_of_another_fabric_are_refused(netloom, paths, counted):
    counters = counted("all-to-all", "--scale", 1e6, fabric=paths.ft3)
    netloom.refused("infer", paths.ft2, "ftree", counters)
    readings = [paths.opensm / "quartz1" / "ibqueryerrors_data.txt.gz"]
    netloom.refused("infer", paths.ft2, "ftree", *readings)


def test_readings_in_the_wrong_order_are_told(netloom, paths):
    before, after = (paths.opensm / "ft2_32" / f"perfquery_x_{when}.txt.gz" for when in ("before", "after"))
    error = netloom.refused("infer", paths.ft2, "ftree", after, before, "-o", "t.mtx")
    assert "looks like the later reading" in error


def lines(path) -> list[str]:
    return path.read_text().splitlines()


def test_counters_that_were_set_back_are_left_out_with_a_note(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "small.toml"
    scheme = ("--vl-scheme", "5sl5vl:seed=1")
    header, *rows = lines(netloom.folder / counted(jobs, *scheme))
    link = header.split(",").index("link")
    bad = "xmit_bytes=reset rcv_bytes=reset"
    marked = [row.rpartition(",")[0] + f",{bad}" if row.split(",")[link] == "40" else row for row in rows]
    (netloom.folder / "r.csv").write_text("\n".join([header, *marked]) + "\n")
    done = netloom("infer", paths.ft2, "ftree", "r.csv", "--jobs", jobs, *scheme, "--format", "json")
    assert done.code in (0, 1), done.err
    result = json.loads(done.out)["result"]
    assert result["links_left_out"] == 1
    assert any("bad counters, left out" in note and "reset" in note for note in result["notes"])


@pytest.fixture
def two_intervals(netloom, paths, counted):
    """Counters of two intervals, the second under other routes."""
    header, *rows = lines(netloom.folder / counted(paths.examples / "jobs" / "small.toml"))
    names = header.split(",")
    start, end, routes = (names.index(name) for name in ("start_ns", "end_ns", "routes"))
    later = []
    for row in rows:
        fields = row.split(",")
        fields[start], fields[end], fields[routes] = fields[end], str(2 * int(fields[end])), "1"
        later.append(",".join(fields))
    (netloom.folder / "two.csv").write_text("\n".join([header, *rows, *later]) + "\n")
    return "two.csv"


def test_routes_that_changed_in_between_need_a_choice(netloom, paths, two_intervals):
    jobs = paths.examples / "jobs" / "small.toml"
    asked = ("infer", paths.ft2, "ftree", two_intervals, "--jobs", jobs)
    error = netloom.refused(*asked, "-o", "t.mtx")
    assert "the routes changed between interval 0 and 1 of 2" in error
    for number in (0, 1):
        done = netloom(*asked, "--interval", number, "--format", "json")
        assert done.code in (0, 1), done.err
        assert json.loads(done.out)["result"]["intervals"] == 1
    assert netloom.refused(*asked, "--interval", 2) == "there is no interval 2: there are 2, counted from 0"


def test_intervals_out_of_order_and_values_that_are_none_are_refused(netloom, paths, two_intervals):
    header, *rows = lines(netloom.folder / two_intervals)
    turned = [",".join([*row.split(",")[1::-1], *row.split(",")[2:]]) for row in rows]
    (netloom.folder / "turned.csv").write_text("\n".join([header, *turned]) + "\n")
    assert "turned.csv:2: " in netloom.refused("infer", paths.ft2, "ftree", "turned.csv")
    column = header.split(",").index("xmit_bytes")
    for bad in ("nan", "-5", "1e400"):
        fields = rows[0].split(",")
        fields[column] = bad
        (netloom.folder / "bad.csv").write_text("\n".join([header, ",".join(fields), *rows[1:]]) + "\n")
        assert "bad.csv:2: " in netloom.refused("infer", paths.ft2, "ftree", "bad.csv")


def test_all_zeros_say_nothing(netloom, paths, counted):
    counters = counted(paths.examples / "jobs" / "small.toml", "--scale", 0)
    error = netloom.refused("infer", paths.ft2, "ftree", counters, "-o", "t.mtx")
    assert error == "all counters are 0: nothing was sent in this interval"


def test_hosts_that_talked_outside_every_job_are_named(netloom, paths, write, counted):
    traffic = write("t.toml", job("a", 'pattern = "stencil:4x4,bytes=1000000"', 'hosts = "host00[00-15]"'))
    missing = write("j.toml", job("a", "ranks = 15", 'hosts = "host00[00-14]"'))
    done = netloom(
        "infer", paths.ft2, "ftree", counted(traffic), "--jobs", missing, "-o", "t.mtx", "--format", "json"
    )
    assert done.code == 1, done.err
    result = json.loads(done.out)["result"]
    assert "outside-jobs" in kinds(result)
    [text] = [f["text"] for f in result["findings"] if f["kind"] == "outside-jobs"]
    assert text.startswith("hosts of no job talked: host0015 (")
    assert result["output"] == "t.mtx"


def test_a_job_that_nobody_listed_is_one_more_and_nothing_is_called_identified(
    netloom, paths, write, counted
):
    """Half of the traffic is of the second job: links tell what it sent, and the verdict speaks of half."""
    one = job("a", 'pattern = "stencil:4x4,bytes=1000000"', 'hosts = "host00[00-15]"')
    both = write(
        "both.toml", one + job("b", 'pattern = "stencil:4x4,bytes=1000000"', 'hosts = "host00[16-31]"')
    )
    counters = counted(both)
    asked = ("infer", paths.ft2, "ftree", counters, "--jobs", write("one.toml", one), "--truth", both)
    result = netloom.result(*asked, code=1)
    assert result["verdict"] == "partly"
    assert result["scope"]["outside_jobs"] == pytest.approx(0.5)
    assert result["scope"]["share"] == pytest.approx(0.5, abs=0.01)
    assert [row["job"] for row in result["hypothesis"]] == ["a", "hosts of no job"]
    assert result["leaf_error_percent"] < 100
    whole = netloom.result("infer", paths.ft2, "ftree", counters, "--jobs", both)
    assert whole["scope"] == {"share": 1.0, "outside_jobs": 0.0, "unexplained": 0.0}


def test_an_idle_fabric_is_called_idle(netloom, paths, counted):
    """A hundred datagrams of 256 octets a host and nothing else: management's."""
    counters = counted("all-to-all", "--scale", 256, "--mtu", 256)
    error = netloom.refused("infer", paths.ft2, "ftree", counters)
    assert error.startswith("the fabric is idle: hosts sent ")
    done = netloom("diagnose", paths.ft2, "--counters", counters)
    assert "the fabric is idle" in done.out + done.err


@pytest.mark.parametrize(("scale", "idle"), [(256, True), (1 << 20, False)])
def test_switches_alone_tell_an_idle_fabric(netloom, paths, counted, write, scale, idle):
    """Adapters are often not asked: what switches received from hosts says as much."""
    rows = (netloom.folder / counted("all-to-all", "--scale", scale, "--mtu", 256)).read_text().splitlines()
    fabric = nl.Fabric.read(paths.ft2)
    head = next(at for at, row in enumerate(rows) if "xmit_bytes" in row)
    columns = rows[head].split(",")
    kept = []
    for row in rows[head + 1 :]:
        cells = dict(zip(columns, row.split(","), strict=True))
        # A host's link is numbered as the host; what a host receives is counted on the way back to it.
        of_host = int(cells["link"]) < fabric.hosts
        to_host = int(fabric.link_table()["target"][int(cells["link"])]) < fabric.hosts
        silent = (
            ("xmit_bytes", "xmit_packets") if of_host else ("rcv_bytes", "rcv_packets") if to_host else ()
        )
        kept.append(",".join("" if column in silent else cells[column] for column in columns))
    counters = write("switches.csv", "\n".join([*rows[: head + 1], *kept, ""]))
    read = nl.Counters.read(netloom.folder / counters, fabric)
    assert (read.idle_bytes is not None) == idle
    if idle:
        assert netloom.refused("infer", paths.ft2, "ftree", counters).startswith("the fabric is idle")


def test_routes_change_for_a_guess_only_where_that_gains_more_than_it_may_be_off(netloom, paths, counted):
    """The real readings of this fabric are a guess; the traffic says so, and optimize heeds it."""
    data = paths.ft2.parent
    readings = [data / f"perfquery_x_{when}.txt.gz" for when in ("before", "after")]
    netloom("infer", paths.ft2, "ftree", *readings, "-o", "guess.mtx.gz")
    result = netloom.result("optimize", paths.ft2, "guess.mtx.gz", "--work", 2000)
    [finding] = result["findings"]
    for other in ("guess.csv", "guess.npz", "guess.parquet", "again.mtx"):
        # Whatever the format, the file says what it is.
        netloom.ok("traffic", "convert", "guess.mtx.gz", "-o", other)
        same = netloom.result("optimize", paths.ft2, other, "--work", 2000)
        assert same["findings"] == [finding]
    gain = re.search(r"gain ([0-9.e-]+) %", finding["text"])
    if finding["kind"] == "inferred":
        assert gain is None
    else:
        assert finding["kind"] == "routes-of-a-guess"
        assert "these are today's (ftree)" in finding["text"]


def test_counters_that_cannot_be_are_findings(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "small.toml"
    counters = counted(jobs, "--seconds", 1e-5)
    result = netloom.result("infer", paths.ft2, "ftree", counters, "--jobs", jobs, code=1)
    assert {"too-fast", "more"} <= kinds(result)


def test_jobs_that_overlap_are_refused(netloom, paths, write, counted):
    both = "".join(job(name, "ranks = 8", 'hosts = "host00[00-07]"') for name in "ab")
    counters = counted("all-to-all", "--scale", 1000)
    error = netloom.refused("infer", paths.ft2, "ftree", counters, "--jobs", write("j.toml", both))
    assert "host0000" in error


def test_a_scheme_that_counters_contradict_is_refused(netloom, paths, counted):
    jobs = paths.examples / "jobs" / "small.toml"
    one = counted(jobs, name="one.csv")
    five = counted(jobs, "--vl-scheme", "5sl5vl:seed=1", name="five.csv")
    asked = ("infer", paths.ft2, "ftree")
    assert "do not tell lanes apart" in netloom.refused(*asked, one, "--vl-scheme", "2sl2vl")
    assert re.search(
        r"the VL scheme has 2 lanes, but lane \d of", netloom.refused(*asked, five, "--vl-scheme", "2sl2vl")
    )
    # More lanes than counters have: the others are unused, which then does not fit.
    error = netloom.refused(*asked, five, "--jobs", jobs, "--vl-scheme", "8sl8vl:seed=1")
    assert "do not fit" in error
    assert "expected SslVvl" in netloom.refused(*asked, five, "--vl-scheme", "5lanes")


def test_readings_by_lid_of_another_fabric_are_refused(netloom, paths):
    reading = paths.ft2.parent / "perfquery_x_after.txt.gz"
    error = netloom.refused("infer", paths.ft3, "ftree", reading)
    assert "this looks like another fabric's file: 10 of the fabric's 16 switches were not read" in error


def test_a_file_of_intervals_is_no_reading_and_is_named(netloom, paths, counted):
    counters = counted("all-to-all", "--scale", 1000)
    error = netloom.refused("infer", paths.ft2, "ftree", counters, counters)
    assert f"{counters}: these are intervals already" in error


def test_routes_that_are_none_name_adaptive_switches_too(netloom, paths, counted):
    error = netloom.refused("infer", paths.ft2, "Adaptive", counted("all-to-all", "--scale", 1000))
    assert "random-per-packet; did you mean adaptive?" in error


def test_csv_holds_the_ranges_that_are_asked_for(netloom, paths, counted):
    counters = counted("all-to-all", "--scale", 1000)
    done = netloom("infer", paths.ft2, "ftree", counters, "--ranges", 2, "--format", "csv")
    head, *rows = done.out.splitlines()
    assert head == "kind,source,destination,bytes,least,most"
    assert [row.split(",")[0] for row in rows] == ["leaf sum", "leaf sum", "pair", "pair"]


def test_wrong_options_are_usage_errors(netloom, paths, counted):
    counters = counted("all-to-all", "--scale", 1000)
    asked = ("infer", paths.ft2, "ftree", counters)
    assert "expected an ending of" in netloom.refused(*asked, "-o", "t.xlsx", code=2)
    assert "expected an ending of" in netloom.refused(*asked, "--write-hose", "h.mtx", code=2)
    assert "same file" in netloom.refused(*asked, "-o", "t.csv", "--write-hose", "t.csv", code=2)
    assert "nowhere.mtx" in netloom.refused(*asked, "--truth", "nowhere.mtx")


# From Python


def test_python_gives_the_same(paths):
    fabric = nl.Fabric.read(paths.ft2)
    jobs_file = paths.examples / "jobs" / "boxlib.toml"
    traffic, jobs = nl.place_jobs(fabric, jobs_file)
    scheme = "5sl5vl:seed=1"
    counters = nl.synth_counters(fabric, "ftree", traffic, vl_scheme=scheme, seconds=1000)
    found = nl.infer(fabric, "ftree", counters, jobs, vl_scheme=scheme, truth=traffic)
    assert found.summary()["relative_error_percent"] < 0.001
    assert found.traffic.data == pytest.approx(traffic.data, rel=1e-6)
    assert found.hose.sent == pytest.approx(nl.Hose.of(traffic).sent)
    with pytest.raises(nl.CountersError, match="there is no interval 7"):
        nl.infer(fabric, "ftree", counters, jobs, interval=7)
    with pytest.raises(ValueError, match="unit: expected bytes, packets or mixed"):
        nl.infer(fabric, "ftree", counters, jobs, unit="octets")


def test_links_of_hosts_alone_say_nothing_of_who_sends_to_whom(netloom):
    """Exact counters of hosts' links only, as `node_exporter` has them: anybody explains them."""
    net, pattern = "two-level:leaves=8,hosts=4,spines=4", "permutation:seed=4,bytes=1000000"
    netloom.ok("counters", "synth", net, "ftree", pattern, "-o", "all.csv")
    head, *rows = (netloom.folder / "all.csv").read_text().splitlines(keepends=True)
    from_at, to_at = (head.split(",").index(end) for end in ("from", "to"))
    of_hosts = [row for row in rows if "host" in row.split(",")[from_at] + row.split(",")[to_at]]
    assert len(of_hosts) == 64
    (netloom.folder / "hosts.csv").write_text(head + "".join(of_hosts))
    run = ("infer", net, "ftree", "hosts.csv", "--truth", pattern, "-o", "t.mtx")
    result = netloom.result(*run, code=1)
    assert result["verdict"] == "not identifiable"
    assert result["estimated_leaf_error_percent"] == 100.0
    assert "not identifiable" in (netloom.folder / "t.mtx").read_text()[:200]


def test_more_pairs_than_can_be_laid_out_are_refused_before_memory_is_spent(netloom):
    spec = "fattree:pods=32,leaves=64,hosts=32,spines=32,groups=8,cores=32"
    netloom.ok("counters", "synth", spec, "ftree", "permutation:seed=1", "-o", "c.csv")
    error = netloom.refused("infer", spec, "ftree", "c.csv")
    assert error.startswith("65536 hosts in 1 job are 4294901760 pairs that may have talked")
    assert "--jobs" in error


def test_coefficients_where_hosts_of_no_job_have_sent():
    """They are a job of their own; the jobs alone are not all that the counters hold."""
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    counters = nl.synth_counters(fabric, "ftree", nl.Traffic.pattern("shift:4", 16))
    found = nl.recover(fabric, "ftree", counters, [], "identity")
    assert found.traffic.total_bytes == pytest.approx(16.0)
