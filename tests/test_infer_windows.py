"""`netloom infer --also-counted`: the same traffic under different routes; what contradicts itself."""

from __future__ import annotations

import json

import pytest

import netloom as nl


def job(name: str, source: str, hosts: str) -> str:
    return f'[[job]]\nname = "{name}"\n{source}\n{hosts}\n'


@pytest.fixture
def interval(netloom):
    """Routes of a name, and the counters that traffic leaves under them: `NAME.lfts`, `NAME.csv`."""

    def make(name, fabric, traffic, *options, seed=None) -> tuple[str, str]:
        if seed is None:
            routes = name
        else:
            routes = f"{name}.lfts"
            netloom.ok("route", "random", fabric, "--seed", seed, "-o", routes)
        seconds = () if "--seconds" in options else ("--seconds", 1000)
        netloom.ok("counters", "synth", fabric, routes, traffic, *seconds, *options, "-o", f"{name}.csv")
        return routes, f"{name}.csv"

    return make


@pytest.fixture
def jobs(netloom, paths):
    """AMG on consecutive hosts of quartz1."""
    matrix = paths.examples / "data" / "amg-125.mtx.gz"
    text = job("amg", f'matrix = "{matrix}"', 'allocation = "contiguous:10"')
    (netloom.folder / "amg.toml").write_text(text)
    return "amg.toml"


def test_other_routes_tell_leaf_sums_that_one_does_not(netloom, paths, jobs, interval):
    """An interval three times as long, too; the answer is the traffic of the first."""
    first = interval("ftree", paths.quartz1, jobs)
    others = [interval(f"r{k}", paths.quartz1, jobs, "--scale", k, seed=k) for k in (1, 2, 3)]
    asked = ("infer", paths.quartz1, *first, "--jobs", jobs, "--truth", jobs)
    also = [word for routes, counters in others for word in ("--also-counted", f"{routes},{counters}")]
    one, four = netloom.result(*asked), netloom.result(*asked, *also, "--write-hose", "sums.csv")
    assert one["leaf_error_percent"] > 3
    assert four["leaf_error_percent"] < 1
    assert (four["verdict"], four["intervals"], len(four["windows"])) == ("identified", 4, 4)
    assert [w["factor"] for w in four["windows"]] == pytest.approx([1, 1, 1 / 2, 1 / 3])
    assert four["windows"][2]["name"] == "r2.lfts,r2.csv"
    assert four["total_bytes"] == pytest.approx(one["total_bytes"], rel=1e-3)
    fabric = nl.Fabric.read(paths.quartz1)
    truth = nl.Hose.of(nl.Traffic.read(netloom.folder / jobs, fabric))
    assert nl.Hose.read(netloom.folder / "sums.csv", fabric).sent == pytest.approx(truth.sent)


def test_readings_and_paths_of_an_interval_are_its_own(netloom, paths):
    """Two readings for the first interval; addresses chosen by pair for the second."""
    folder = paths.opensm / "ft2_32"
    net = folder / "ibnetdiscover.txt"
    traffic = paths.examples / "jobs" / "boxlib.toml"
    netloom.ok(
        "optimize", net, traffic, "--lmc", 1, "--work", 500, "-o", "two.lfts", "--write-paths", "two.csv"
    )
    netloom.ok("counters", "synth", net, "ftree", traffic, "-o", "a.csv")
    netloom.ok("counters", "synth", net, "two.lfts", traffic, "--paths", "two.csv", "-o", "b.csv")
    asked = ("infer", net, "ftree", "a.csv", "--jobs", traffic, "--truth", traffic, "--format", "json")
    done = netloom(*asked, "--also-counted", "two.lfts+two.csv,b.csv")
    assert done.code in (0, 1), done.err
    result = json.loads(done.out)["result"]
    assert result["windows"][1]["name"] == "two.lfts+two.csv,b.csv"
    assert result["unexplained_percent"] < 0.1
    assert "nowhere.csv" in netloom.refused(*asked[:-2], "--also-counted", "two.lfts+nowhere.csv,b.csv")
    before, after = (folder / f"perfquery_x_{when}.txt.gz" for when in ("before", "after"))
    real = ("infer", net, "ftree", before, after)
    assert "the same counters as those of ftree" in netloom.refused(
        *real, "--also-counted", f"random,{before},{after}"
    )
    assert "looks like the later reading" in netloom.refused(
        *real, "--also-counted", f"ftree,{after},{before}"
    )


def test_other_traffic_is_refused_by_the_intervals_name(netloom, paths, interval):
    small = paths.examples / "jobs" / "small.toml"
    first = interval("ftree", paths.ft2, small)
    other = interval("other", paths.ft2, "stencil:4x8,bytes=1000000", seed=1)
    error = netloom.refused("infer", paths.ft2, *first, "--also-counted", ",".join(other), "-o", "t.mtx")
    assert "not the traffic of the other intervals: what hosts sent and received differs by" in error
    assert "host0" in error


def test_routes_of_another_interval_are_refused_by_name(netloom, paths, interval):
    small = paths.examples / "jobs" / "small.toml"
    first = interval("ftree", paths.ft2, small)
    a, b = (interval(name, paths.ft2, small, seed=seed) for name, seed in (("a", 1), ("b", 2)))
    asked = ("infer", paths.ft2, *first, "--jobs", small)
    assert netloom(*asked, "--also-counted", ",".join(a)).code in (0, 1)
    error = netloom.refused(*asked, "--also-counted", f"{a[0]},{b[1]}")
    assert "do not fit these routes" in error
    assert "a.lfts,b.csv (" in error
    elsewhere = interval("c", paths.ft3, "all-to-all", seed=1)
    netloom.refused(*asked, "--also-counted", f"{elsewhere[0]},{a[1]}")
    netloom.refused(*asked, "--also-counted", f"{a[0]},{elsewhere[1]}")


def test_a_little_other_traffic_is_noise_of_that_interval(netloom, paths, interval):
    """A job's hosts send 2 % more beside the other job's in the second interval."""
    hosts = ['hosts = "host00[00-15]"', 'hosts = "host00[16-31]"']
    for name, second in (("t", 1_000_000), ("u", 1_020_000)):
        text = job("a", 'pattern = "stencil:4x4,bytes=1000000"', hosts[0])
        text += job("b", f'pattern = "stencil:4x4,bytes={second}"', hosts[1])
        (netloom.folder / f"{name}.toml").write_text(text)
    first = interval("ftree", paths.ft2, "t.toml")
    second = interval("r", paths.ft2, "u.toml", seed=1)
    asked = ("infer", paths.ft2, *first, "--jobs", "t.toml", "--truth", "t.toml", "--format", "json")
    done = netloom(*asked, "--also-counted", ",".join(second))
    assert done.code in (0, 1), done.err
    result = json.loads(done.out)["result"]
    assert 0.1 < result["windows"][1]["apart_percent"] < 2
    assert result["leaf_error_percent"] < 5


def test_a_file_with_intervals_under_both_routings_is_picked_from(netloom, paths, interval):
    small = paths.examples / "jobs" / "small.toml"
    interval("ftree", paths.ft2, small)
    routes, _ = interval("r", paths.ft2, small, seed=1)
    rows = [(netloom.folder / f"{name}.csv").read_text().splitlines() for name in ("ftree", "r")]
    names = rows[0][0].split(",")
    start, end, number = (names.index(name) for name in ("start_ns", "end_ns", "routes"))
    later = []
    for row in rows[1][1:]:
        fields = row.split(",")
        fields[start], fields[end], fields[number] = fields[end], str(2 * int(fields[end])), "1"
        later.append(",".join(fields))
    (netloom.folder / "both.csv").write_text("\n".join([*rows[0], *later]) + "\n")
    asked = ("infer", paths.ft2, "ftree", "both.csv", "--jobs", small, "--also-counted", f"{routes},both.csv")
    done = netloom(*asked, "--interval", 0, "--interval", 1, "--format", "json")
    assert done.code in (0, 1), done.err
    assert json.loads(done.out)["result"]["unexplained_percent"] < 0.1
    assert "do not fit" in netloom.refused(*asked, "--interval", 1, "--interval", 0)
    assert "--interval is given 1 times" in netloom.refused(*asked, "--interval", 0, code=2)
    assert "expected counters of its own, or one --interval each" in netloom.refused(*asked)
    assert "the routes changed" in netloom.refused(*asked[:-2])


@pytest.mark.parametrize("bad", ["r.lfts", "r.lfts,", ",c.csv", "a,b,c,d"])
def test_what_is_no_interval_is_a_usage_error(netloom, paths, bad):
    error = netloom.refused("infer", paths.ft2, "ftree", "c.csv", "--also-counted", bad, code=2)
    assert "expected ROUTES,COUNTERS or ROUTES,BEFORE,AFTER" in error


def test_python_takes_the_same(paths):
    fabric = nl.Fabric.read(paths.ft2)
    traffic, jobs = nl.place_jobs(fabric, paths.examples / "jobs" / "boxlib.toml")
    routings = ["ftree", *(nl.route("random", fabric, seed=seed) for seed in (1, 2))]
    counted = [nl.synth_counters(fabric, routes, traffic, seconds=1000) for routes in routings]
    first, *others = zip(routings, counted, strict=True)
    found = nl.infer(fabric, *first, jobs, also=[others[0], (*others[1], 0)], truth=traffic)
    assert found.summary()["leaf_error_percent"] < 10
    assert [w["name"] for w in found.summary()["windows"]] == ["interval 0", "interval 1", "interval 2"]
    other = nl.synth_counters(fabric, routings[1], nl.Traffic.read("stencil:4x8", fabric), scale=1e6)
    with pytest.raises(nl.CountersError, match="not the traffic of the other intervals"):
        nl.infer(fabric, *first, jobs, also=[(routings[1], other)])
