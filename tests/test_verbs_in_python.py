"""What a command tells, a function of Python tells too: each example in at most ten lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import netloom as nl

ROOT = Path(__file__).parents[1]
SCENE = "scenarios/shuffle.toml"
VARYING = {"seconds", "peak_memory_mb", "cpu_seconds", "packet_hops_per_cpu_second", "time_to_best", "output"}
"""Keys that hold times and sizes of the machine, or where something was written."""


def _settled(value):
    """A result without what differs from run to run, as JSON has it."""
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items() if key not in VARYING}
    return [_settled(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.fixture
def same(netloom):
    """Compares what Python has with the `result` of a command."""

    def compare(found, *arguments):
        told = json.loads(netloom(*arguments, "--format", "json", "-q").out)
        from netloom.shown.documents import as_json

        assert _settled(json.loads(as_json(found))) == _settled(told["result"])

    return compare


def test_simulate(same, paths, tmp_path):
    scene = paths.examples / SCENE
    found = nl.simulate_routings(scene, routings=["ftree", "adaptive"], output=tmp_path / "run")
    same(found, "simulate", scene, "--routings", "ftree,adaptive")
    run = nl.read_run(tmp_path / "run")
    assert run.routings == ["ftree", "adaptive"]
    assert run.result("adaptive") == json.loads(json.dumps(found["runs"][1]))
    assert run.table("ftree", "links").num_rows == 128


def test_simulate_goes_on_from_a_checkpoint(paths, tmp_path):
    scene = paths.examples / SCENE
    first = nl.simulate_routings(scene, routings=["ftree"], checkpoint=tmp_path / "kept")
    again = nl.simulate_routings(scene, routings=["ftree", "updn"], checkpoint=tmp_path / "kept")
    assert again["runs"][0] == first["runs"][0]
    assert [run["routing"] for run in again["runs"]] == ["ftree", "updn"]


def test_simulate_mappings(same, paths):
    scene = paths.examples / SCENE
    found = nl.simulate_varied(scene, mappings=["block", "random"], routings=["ftree"])
    same(found, "simulate", scene, "--mappings", "block,random", "--routings", "ftree")


NET = "two-level:leaves=4,hosts=4,spines=4"


def two_jobs(folder):
    """A scenario of two jobs that send at once."""
    scene = folder / "two.toml"
    job = '[[job]]\nname = "{}"\nranks = 8\nprogram = {{ kind = "all-to-all", bytes = 4096 }}\n'
    scene.write_text(f'fabric = "{NET}"\nroutes = "ftree"\n' + job.format("one") + job.format("other"))
    return scene


def test_noise(same, tmp_path):
    scene = two_jobs(tmp_path)
    same(nl.measure_noise(scene, job="one"), "noise", scene, "--job", "one")


def test_sample(same, tmp_path):
    scene = two_jobs(tmp_path)
    found = nl.sample_routings(scene, rate=0.5, every_us=10, output=tmp_path / "run")
    same(found, "sample", "run", scene, "--rate", 0.5, "--every-us", 10)
    assert nl.read_run(tmp_path / "run").table("ftree", "samples").num_rows > 0


def test_diagnose(same, tmp_path):
    nl.simulate_routings(two_jobs(tmp_path), output=tmp_path / "run")
    same(nl.diagnose_run(tmp_path / "run"), "diagnose", tmp_path / "run")
    with pytest.raises(nl.ArgumentError, match=r"routing minhop: .* has ftree"):
        nl.diagnose_run(tmp_path / "run", routing="minhop")


def test_diagnose_counters(netloom, same, tmp_path):
    netloom.ok("counters", "synth", NET, "ftree", "shift:4", "--scale", "1e9", "-o", tmp_path / "now.csv")
    found = nl.diagnose_counters(NET, tmp_path / "now.csv", traffic="shift:4")
    same(found, "diagnose", NET, "--counters", tmp_path / "now.csv", "--traffic", "shift:4")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ()),
        ({"today": "minhop", "front": True}, ("--from", "minhop", "--front")),
        ({"today": "ftree", "avoid": ["spine01"]}, ("--from", "ftree", "--avoid", "spine01")),
        ({"compare": True}, ("--compare",)),
        ({"hose": True, "work": 500}, ("--hose", "--work", 500)),
        ({"judge": "fluid"}, ("--judge", "fluid")),
        ({"also": ["shift:2"], "robust": "mean"}, ("--also", "shift:2", "--robust", "mean")),
        ({"error": 5.0, "samples": 2}, ("--error", 5, "--samples", 2)),
        ({"lmc": 1}, ("--lmc", 1)),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_optimize(same, asked, words):
    best = nl.optimize_tables(NET, "shift:4", **asked)
    same(best.result, "optimize", NET, "shift:4", *words)


def test_optimize_writes_what_the_command_writes(netloom, tmp_path):
    best = nl.optimize_tables(NET, "bisection", today="minhop", max_changes=5)
    best.write(tmp_path / "mine.lfts")
    (tmp_path / "proof.json").write_bytes(best.certificate)
    netloom.ok(
        *("optimize", NET, "bisection", "--from", "minhop", "--max-changes", 5, "-o", "theirs.lfts"),
        *("--write-certificate", "theirs.json"),
    )
    assert (tmp_path / "mine.lfts").read_bytes() == (netloom.folder / "theirs.lfts").read_bytes()
    assert (tmp_path / "proof.json").read_bytes() == (netloom.folder / "theirs.json").read_bytes()


def test_lanes(netloom, same, tmp_path):
    found = nl.write_lanes(NET, "ftree", "5sl5vl:seed=1", sl2vl=tmp_path / "t.dump", qos=tmp_path / "qos")
    words = ("lanes", "write", NET, "ftree", "--vl-scheme", "5sl5vl:seed=1", "--qos", "qos", "-o", "t.dump")
    del found["sl2vl"], found["files"]
    told = json.loads(netloom.ok(*words, "--format", "json"))["result"]
    assert {key: told[key] for key in found} == found
    assert (netloom.folder / "t.dump").read_bytes().split(b"\n", 1)[1] == (
        (tmp_path / "t.dump").read_bytes().split(b"\n", 1)[1]
    )
    for name in told["files"]:
        assert (netloom.folder / name).read_bytes() == (tmp_path / name).read_bytes()


def test_plot(same, tmp_path):
    found = nl.draw("cables", NET, "shift:4", "ftree", "minhop", output=tmp_path / "c.svg")
    same(found, "plot", "cables", NET, "shift:4", "ftree", "minhop", "-o", "c.svg")
    assert (tmp_path / "c.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(nl.ArgumentError, match=r"^part 3: expected FIRST:END$"):
        nl.draw("matrix", "shift:4", NET, part="3", output=tmp_path / "m.svg")


def test_arguments_that_do_not_fit_are_refused_by_their_names():
    with pytest.raises(nl.ArgumentError, match=r"^max_changes: expected today's routes too, today$"):
        nl.optimize_tables(NET, "shift:4", max_changes=2)
    with pytest.raises(nl.ArgumentError, match=r"^hose is about all traffic with some sums, also is not"):
        nl.optimize_tables(NET, "shift:4", hose=True, also=["shift:2"])


def test_watch(netloom, same, tmp_path):
    counters = str(tmp_path / "c.csv")
    netloom.ok("counters", "synth", NET, "ftree", "shift:4", "--scale", 1e9, "--seconds", 2, "-o", counters)
    same(
        next(nl.watch_fabric(NET, counters_from=counters, once=True)),
        *("watch", NET, "--counters-from", counters, "--once"),
    )
    with pytest.raises(nl.ArgumentError, match=r"^counters_from: needs a fabric"):
        next(nl.watch_fabric(counters_from=counters))


def test_dataplane(netloom, tmp_path):
    assert nl.dataplane_status(journal=tmp_path / "none")["up"] is False
    assert nl.dataplane_down(journal=tmp_path / "none")["ports"] == []
    with pytest.raises(nl.ArgumentError, match=r"^expected a table of ports, or interface: one of them$"):
        nl.dataplane_up(NET)
    with pytest.raises(nl.ArgumentError, match=r"^rate: expected a share of packets"):
        nl.dataplane_up(NET, "ports.csv", rate=2)


def test_interference(same, paths):
    folder = paths.examples / "interference"
    site = "two-level:leaves=4,hosts=4,spines=2"
    given = (folder / "runs.csv", site, "ftree", folder / "counters.csv.gz")
    same(nl.find_interference(*given, instead="random"), "interference", *given, "--instead", "random")


ONLY_COMMANDS = {"completion", "demo", "record", "study", "trace"}
"""What has no function of its own: a shell's words, programs that run, published tables."""


def test_the_page_of_a_verb_names_its_python():
    pages = {page.stem: page.read_text() for page in (ROOT / "docs" / "verbs").glob("*.md")}
    without = {
        verb
        for verb, text in pages.items()
        if not re.search(r"\bnl\.\w|from netloom|In Python: `netloom\.\w", text)
    }
    assert without == ONLY_COMMANDS
    for text in pages.values():
        named = set(re.findall(r"`[^`\n]*?\bnl\.(\w+)", text))
        assert named <= {*nl.__all__, "exact", "tables"}
