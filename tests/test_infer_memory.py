"""`netloom infer --remember DIR`: what a job showed last time helps; files that cannot be used."""

from __future__ import annotations

import json

import pytest

import netloom as nl

FIVE = ("--vl-scheme", "5sl5vl:seed=1")


def job(name: str, source: str, hosts: str = 'allocation = "contiguous:10"') -> str:
    return f'[[job]]\nname = "{name}"\n{source}\n{hosts}\n'


@pytest.fixture
def multigrid(paths, write):
    """BoxLib's multigrid, recorded, on hosts of quartz1."""
    matrix = paths.examples / "data" / "boxlibmg-64.mtx.gz"
    return lambda first=10: write(
        f"multigrid{first}.toml",
        job("multigrid", f'matrix = "{matrix}"', f'allocation = "contiguous:{first}"'),
    )


@pytest.fixture
def infer(netloom):
    """The result of an inference from counters that traffic leaves."""

    def run(fabric, traffic, *options, noise=(), jobs=None, routes="ftree", scheme=()):
        seconds = ("--seconds", 1000)
        netloom.ok("counters", "synth", fabric, routes, traffic, *seconds, *noise, *scheme, "-o", "c.csv")
        asked = ("infer", fabric, routes, "c.csv", "--jobs", jobs or traffic, *scheme, *options)
        done = netloom(*asked, "--truth", traffic, "--format", "json")
        assert done.code in (0, 1), done.err
        return json.loads(done.out)["result"]

    return run


def test_noisy_counters_of_one_lane_are_read_with_what_five_lanes_showed(paths, multigrid, infer):
    """The second time on other hosts: what is remembered is in ranks."""
    first = infer(paths.quartz1, multigrid(), "--remember", "mem", scheme=FIVE)
    [kept] = first["memory"]
    assert kept == {
        "job": "multigrid",
        "file": "mem/multigrid.json",
        "found": False,
        "used": False,
        "stored": True,
    }
    real = ("--noise", 0.005, "--skew", 0.02, "--missing", 0.02)
    alone = infer(paths.quartz1, multigrid(300), noise=real)
    again = infer(paths.quartz1, multigrid(300), "--remember", "mem", noise=real)
    assert alone["memory"] is None
    assert alone["relative_error_percent"] > 10
    assert again["relative_error_percent"] < 3
    assert again["leaf_error_percent"] < 0.5 * alone["leaf_error_percent"]
    assert again["estimated_error_percent"] >= first["estimated_error_percent"]
    # What is surer stays.
    [kept] = again["memory"]
    assert (kept["found"], kept["used"], kept["stored"]) == (True, True, False)


def test_memory_chooses_between_grids_that_explain_as_much(netloom, paths, write, infer):
    """On two lanes the grid is clear; on one, another explains the counters as well."""
    jobs = write("b.toml", job("mg", f'matrix = "{paths.examples / "data" / "boxlibmg-64.mtx.gz"}"'))
    infer(paths.quartz1, jobs, "--remember", "mem", scheme=FIVE)
    document = json.loads((netloom.folder / "mem" / "mg.json").read_text())
    assert document["schema"] == "netloom.memory/1"
    assert (document["job"], document["ranks"], document["grid"]) == ("mg", 64, "4x4x4,morton")
    again = infer(paths.quartz1, jobs, "--remember", "mem")
    [found] = again["hypothesis"]
    assert (found["grid"], found["remembered"]) == ("4x4x4,morton", True)
    assert again["relative_error_percent"] < 0.001


def test_a_job_that_does_something_else_is_not_what_is_remembered(netloom, paths, write, infer):
    """The same name and as many ranks, but other traffic: nothing is worse, and the memory is replaced."""
    hosts = 'hosts = "host00[00-31]"'
    before = write("a.toml", job("a", 'pattern = "stencil:8x4,bytes=1000000"', hosts))
    now = write("b.toml", job("a", 'pattern = "stencil:4x4x2,bytes=1000000"', hosts))
    infer(paths.ft2, before, "--remember", "mem", scheme=FIVE)
    old = (netloom.folder / "mem" / "a.json").read_text()
    alone = infer(paths.ft2, now, scheme=FIVE)
    again = infer(paths.ft2, now, "--remember", "mem", scheme=FIVE)
    assert again["relative_error_percent"] == pytest.approx(alone["relative_error_percent"])
    assert again["memory"][0]["used"] is False
    assert again["memory"][0]["stored"] is True
    assert (netloom.folder / "mem" / "a.json").read_text() != old


@pytest.fixture
def small(netloom, paths, write, infer):
    """A job that was remembered; gives its file, and another inference."""
    jobs = write("a.toml", job("a/b c", 'pattern = "stencil:8x4,bytes=1000000"', 'hosts = "host00[00-31]"'))
    infer(paths.ft2, jobs, "--remember", "mem", scheme=FIVE)
    [file] = (netloom.folder / "mem").iterdir()
    assert file.name == "a%2Fb%20c.json"
    return file, lambda: infer(paths.ft2, jobs, "--remember", "mem", scheme=FIVE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: {**d, "ranks": 64}, "it was of 64 ranks, not of 32"),
        (lambda d: {**d, "sides": [5, 5, 1]}, "5x5 is no grid of 32 ranks"),
        (lambda d: {**d, "order": "spiral"}, 'expected rows or morton, found "spiral"'),
        (lambda d: {**d, "pairs": [[0, 99, 1.0]]}, "1 bytes from rank 0 to rank 99"),
        (lambda d: {**d, "pairs": [[0, 1, -1.0]]}, "-1 bytes from rank 0 to rank 1"),
        (lambda d: {**d, "offsets": [[0, 1]]}, "offsets: expected rows of three whole numbers and bytes"),
        (lambda d: {**d, "estimated_error_percent": float("nan")}, "expected errors of 0 % and more"),
        (lambda d: {k: v for k, v in d.items() if k != "pairs"}, "pairs is missing"),
    ],
)
def test_a_memory_that_cannot_be_is_not_used_and_replaced(small, change, said):
    file, again = small
    good = file.read_bytes()
    file.write_text(json.dumps(change(json.loads(good))))
    result = again()
    assert any(said in note and "not used" in note for note in result["notes"]), result["notes"]
    assert result["memory"][0]["used"] is False
    assert file.read_bytes() == good


def test_a_cut_file_is_replaced(small):
    file, again = small
    good = file.read_bytes()
    file.write_bytes(good[: len(good) // 2])
    result = again()
    assert any("mem/a%2Fb%20c.json: damaged, not used" in note for note in result["notes"])
    assert file.read_bytes() == good


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "package"}', "not a memory of a job"),
        ("[]", "not a memory of a job"),
        ('{"schema": "netloom.memory/2"}', "of another version, netloom.memory/2"),
        ('{"schema": "netloom.memory/1", "job": "other"}', 'of job "other", not of "a/b c"'),
    ],
)
def test_what_is_something_else_is_left_alone(small, text, said):
    file, again = small
    file.write_text(text)
    result = again()
    assert any(said in note and "not written over" in note for note in result["notes"]), result["notes"]
    assert result["memory"][0]["stored"] is False
    assert file.read_text() == text


def test_what_is_not_known_is_not_remembered(netloom, paths):
    """A periodic pattern on all hosts under adaptive routes: nothing tells its pairs."""
    netloom.ok(
        "counters", "synth", paths.ft2, "ftree", "bisection-shuffle:seed=1", "--scale", 1e6, "-o", "c.csv"
    )
    done = netloom("infer", paths.ft2, "adaptive", "c.csv", "--remember", "mem", "--format", "json")
    result = json.loads(done.out)["result"]
    if result["verdict"] == "not identifiable":
        assert result["memory"][0]["stored"] is False
        assert not (netloom.folder / "mem").exists()
    (netloom.folder / "file").write_text("")
    assert "expected a folder" in netloom.refused(
        "infer", paths.ft2, "ftree", "c.csv", "--remember", "file", code=2
    )


def test_python_remembers_in_memory(paths):
    fabric = nl.Fabric.read(paths.ft2)
    traffic, jobs = nl.place_jobs(fabric, paths.examples / "jobs" / "boxlib.toml")
    counted = nl.synth_counters(fabric, "ftree", traffic, vl_scheme=FIVE[1], seconds=1000)
    known = nl.infer(fabric, "ftree", counted, jobs, vl_scheme=FIVE[1]).memories()
    assert set(known) == {job.name for job in jobs}
    # Four ranks a host: the grid is remembered, bytes are not.
    assert all(memory["offsets"] == memory["pairs"] == [] for memory in known.values())
    one = nl.synth_counters(fabric, "ftree", traffic, seconds=1000)
    again = nl.infer(fabric, "ftree", one, jobs, remembered=known)
    assert again.notes == []
    assert nl.infer(fabric, "ftree", one, jobs, remembered={jobs[0].name: {}}).notes == [
        f'job "{jobs[0].name}": what is remembered is not used: ranks is missing'
    ]
