"""`netloom simulate`: results, options, folders, checkpoints, Ctrl-C."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import signal
import subprocess
import time

import pyarrow.parquet as pq
import pytest

from netloom.runs import folder as runs
from terminal import OnTerminal

SMALL = """\
name = "small"
fabric = "two-level:leaves=8,hosts=4,spines=4"
routes = ["ftree", "adaptive"]
seed = 1
[[job]]
name = "shuffle"
program = { kind = "stream", pattern = "bisection-shuffle:seed=1", messages = 2, bytes = 65536 }
"""

PAIR = """\
fabric = "two-level:leaves=2,hosts=1,spines=1"
profile = "codes"
hardware = { packet_bytes = 4096, switch_delay_ns = 90 }
software = { post_ns = 500 }
[[job]]
program = { kind = "stream", pattern = "bisection", bytes = 4096 }
"""


def scenario(netloom, text: str = SMALL, name: str = "s.toml") -> str:
    (netloom.folder / name).write_text(text)
    return name


def strip(result):
    """A result without what is measured on this machine."""
    for run in result["runs"]:
        for key in ("cpu_seconds", "packet_hops_per_cpu_second", "peak_memory_mb"):
            run.pop(key)
    result.pop("output")
    return result


def test_a_packet_takes_what_the_profile_says(netloom):
    """Four links of 12.5 GB/s with a packet of 4096 B, three switches of 90 ns, 500 ns before it leaves."""
    result = netloom.result("simulate", scenario(netloom, PAIR))
    run = result["runs"][0]
    wire_us = 4096 / 12.5e9 * 1e6
    expected_us = 4 * wire_us + 3 * 0.090 + 0.5
    assert run["jobs"][0]["message_latency_us"]["max"] == pytest.approx(expected_us, abs=1e-3)
    assert run["jobs"][0]["completion_ms"] == pytest.approx(expected_us * 1e-3, rel=1e-3)
    assert (run["packets"], run["packet_hops"], run["messages"], run["bytes"]) == (2, 8, 2, 8192)
    assert run["max_link_utilisation"] == pytest.approx(wire_us / expected_us, rel=1e-3)


def test_every_routing_has_a_row_and_its_ratio_to_the_first(netloom):
    result = netloom.result("simulate", scenario(netloom))
    assert [run["routing"] for run in result["runs"]] == ["ftree", "adaptive"]
    first, second = (run["jobs"][0] for run in result["runs"])
    assert (first["ratio"], first["name"]) == (1.0, "shuffle")
    assert second["ratio"] == pytest.approx(second["completion_ms"] / first["completion_ms"])
    # 32 hosts, two messages of sixteen packets; each asks first, and is answered.
    assert all(run["packets"] == 32 * 2 * (16 + 2) for run in result["runs"])
    text = netloom.ok("simulate", "s.toml")
    assert [line.split()[0] for line in text.splitlines() if "shuffle" in line] == ["ftree", "adaptive"]


@pytest.mark.parametrize("model", ["packet", "fluid"])
@pytest.mark.parametrize("routes", ["ftree", "ftree,adaptive"])
def test_results_do_not_depend_on_threads(netloom, model, routes):
    arguments = ["simulate", scenario(netloom), "--model", model, "--routings", routes]
    if model == "fluid" and "adaptive" in routes:
        arguments[-1] = "ftree,updn"
    one, two = (strip(netloom.result(*arguments, "--threads", n)) for n in (1, 2))
    assert one == two


def test_the_fluid_model_is_near_the_packets_where_nothing_queues(netloom):
    """A permutation within leaves: every message has its links for itself."""
    text = SMALL.replace("bisection-shuffle:seed=1", "shift:1")
    packet, fluid = (
        netloom.result("simulate", scenario(netloom, text), "--routings", "ftree", "--model", model)["runs"][
            0
        ]
        for model in ("packet", "fluid")
    )
    assert fluid["packets"] == 0
    times = [run["jobs"][0]["completion_ms"] for run in (packet, fluid)]
    assert times[1] == pytest.approx(times[0], rel=0.15)


def test_keys_are_set_from_the_command_line(netloom):
    name = scenario(netloom)
    result = netloom.result(
        "simulate",
        name,
        "--routings",
        "random",
        "--set",
        "job.shuffle.program.messages=1",
        "--set",
        "hardware.packet_bytes=2048",
        "--seed",
        "7",
    )
    (run,) = result["runs"]
    assert (run["routing"], run["packets"]) == ("random", 32 * (32 + 2))
    assert (result["seed"], run["seed"]) == (7, 7)


def test_work_is_what_optimized_may_spend(netloom):
    document = netloom.json(
        "simulate", scenario(netloom), "--routings", "optimized", "--work", "5", "-o", "run"
    )
    manifest = json.loads((netloom.folder / "run" / "manifest.json").read_text())
    assert "optimize_work=5" in manifest["scenario"]["overrides"]
    assert document["result"]["not_run"] == []
    assert "--work: not used" in netloom("simulate", "s.toml", "--work", "5").err


def test_csv_has_a_row_a_routing_and_job(netloom):
    text = SMALL + (
        '[[job]]\nname = "other"\nstart_us = 1\nhosts = "host0000"\nranks = 1\n'
        'program = { kind = "collective", collective = "barrier" }\n'
    )
    text = text.replace('[[job]]\nname = "shuffle"', '[[job]]\nname = "shuffle"\nhosts = "host[0001-0030]"')
    out = netloom.ok("simulate", scenario(netloom, text), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["routing"], row["job"]) for row in rows] == [
        (routing, job) for routing in ("ftree", "adaptive") for job in ("shuffle", "other")
    ]
    assert float(rows[0]["completion_ms"]) > 0


def test_a_run_is_a_folder_that_says_where_it_comes_from(netloom, paths, validate):
    text = SMALL.replace("two-level:leaves=8,hosts=4,spines=4", str(paths.ft2)) + (
        "[measure]\ncounters_every_us = 5\nqueues_every_us = 1\ntrace = { to_us = 2 }\n"
    )
    document = netloom.json("simulate", scenario(netloom, text), "-o", "run/", "--set", "seed=3")
    folder = netloom.folder / "run"
    assert document["result"]["output"] == "run"
    manifest = json.loads((folder / "manifest.json").read_text())
    validate(manifest)
    assert manifest["scenario"]["text"] == text
    assert manifest["scenario"]["overrides"] == ["seed=3"]
    assert [entry["role"] for entry in manifest["inputs"]] == ["scenario", "fabric"]
    assert manifest["inputs"] == document["inputs"]
    assert [entry["result"] for entry in manifest["runs"]] == document["result"]["runs"]
    for entry in manifest["runs"]:
        files = {path.name for path in (folder / entry["folder"]).iterdir()}
        assert files == set(entry["files"])
        assert {"links.parquet", "intervals.parquet", "queues.parquet", "ranks.parquet"} <= files
        links = pq.read_table(folder / entry["folder"] / "links.parquet").to_pydict()
        intervals = pq.read_table(folder / entry["folder"] / "intervals.parquet").to_pydict()
        # What was counted by interval adds up to the whole, and the busiest link is the result's.
        assert sum(intervals["xmit_bytes"]) == sum(links["xmit_bytes"])
        assert sum(links["xmit_packets"]) == entry["result"]["packet_hops"]
        assert max(links["utilisation"]) == pytest.approx(entry["result"]["max_link_utilisation"])
        assert {"from_level", "to_level"} <= links.keys()
        trace = (folder / entry["folder"] / "trace.json").read_bytes()
        assert json.loads(trace)["traceEvents"]


def test_a_late_start_changes_what_is_recorded_in_its_times_alone(netloom):
    """Before it lie two billion empty intervals, which were gone through one by one."""
    measure = "[measure]\ncounters_every_us = 0.1\nqueues_every_us = 0.1\n"
    found = []
    for start_us in (0, 200_000_000):
        name = scenario(netloom, SMALL + f"start_us = {start_us}\n" + measure)
        netloom.ok("simulate", name, "--routings", "ftree", "-o", f"at{start_us}")
        folder = netloom.folder / f"at{start_us}" / "0-ftree"
        tables = {file: pq.read_table(folder / f"{file}.parquet") for file in ("intervals", "queues")}
        for table in tables.values():
            assert table.num_rows > 0
        found.append(
            {
                (file, column): [t - start_us * 10**6 for t in values] if column.endswith("_ps") else values
                for file, table in tables.items()
                for column, values in table.to_pydict().items()
            }
        )
    assert found[0] == found[1]


def test_the_tables_of_optimised_routes_are_kept(netloom, paths):
    netloom.ok("simulate", scenario(netloom), "--routings", "optimized", "-o", "run")
    (file,) = (netloom.folder / "run").glob("*/routes.lfts.gz")
    assert b"Unicast lids" in gzip.decompress(file.read_bytes())
    assert netloom.result("check", paths.small, file)["ok"] is True


def test_an_earlier_run_is_replaced_and_anything_else_is_not(netloom):
    name = scenario(netloom)
    netloom.ok("simulate", name, "-o", "run")
    (netloom.folder / "run" / "notes.txt").write_text("mine")
    netloom.ok("simulate", name, "--routings", "adaptive", "-o", "run", "--tables", "csv")
    left = {path.name for path in (netloom.folder / "run").iterdir()}
    assert left == {"0-adaptive", "manifest.json", "notes.txt"}
    assert {path.suffix for path in (netloom.folder / "run" / "0-adaptive").iterdir()} == {".csv"}
    (netloom.folder / "other").mkdir()
    (netloom.folder / "other" / "thesis.txt").write_text("years of work")
    assert "manifest.json" in netloom.refused("simulate", name, "-o", "other")
    assert "is a file" in netloom.refused("simulate", name, "-o", name)


def test_what_has_ended_is_taken_from_the_checkpoint(netloom):
    name = scenario(netloom)
    first = netloom.result("simulate", name, "--routings", "ftree", "--checkpoint", "kept", "-o", "a")
    again = netloom("simulate", name, "--checkpoint", "kept", "-o", "b", "--format", "json")
    result = json.loads(again.out)["result"]
    assert "ftree: taken from the checkpoint" in again.err
    assert {**result["runs"][0]} == first["runs"][0]
    assert [run["routing"] for run in result["runs"]] == ["ftree", "adaptive"]
    fresh = netloom.result("simulate", name, "-o", "c")
    assert strip(result) == strip(fresh)
    for file in ("links.parquet", "ranks.parquet"):
        for at in ("0-ftree", "1-adaptive"):
            one, other = ((netloom.folder / run / at / file).read_bytes() for run in "bc")
            assert one == other
    word = netloom.refused("simulate", name, "--checkpoint", "kept", "--set", "hardware.lanes=2")
    assert "another scenario" in word


def test_a_kept_routing_that_is_damaged_is_refused(netloom):
    arguments = ["simulate", scenario(netloom), "--routings", "ftree", "--checkpoint", "kept"]
    netloom.result(*arguments)
    (table,) = (netloom.folder / "kept").glob("*/links.parquet")
    whole = table.read_bytes()
    table.write_bytes(whole[:100])
    word = netloom.refused(*arguments, "-o", "run")
    assert "links.parquet: damaged" in word
    assert "runs from its start" in word
    table.unlink()
    assert "links.parquet: damaged" in netloom.refused(*arguments)
    table.write_bytes(whole)
    netloom.result(*arguments)
    record = table.parent / "run.json"
    written = record.read_text()
    # Whatever it says: a time, a job's name, what a table's sum is.
    packets = json.loads(written)["result"]["packets"]
    altered = written.replace(f'"packets": {packets}', f'"packets": {packets + 1}')
    for text in ("{}", altered, written.replace('"shuffle"', '"huffle"'), written[:-10]):
        assert text != written
        record.write_text(text)
        assert "run.json: damaged" in netloom.refused(*arguments)
    # What says the same in another layout is the same.
    record.write_text(json.dumps(json.loads(written)))
    assert netloom.result(*arguments)["runs"][0]["packets"] == packets


def test_a_kept_routing_of_an_earlier_version_is_refused_as_such(netloom):
    arguments = ["simulate", scenario(netloom), "--routings", "ftree", "--checkpoint", "kept"]
    netloom.result(*arguments)
    (record,) = (netloom.folder / "kept").glob("*/run.json")
    record.write_text(record.read_text().replace("routing-run/2", "routing-run/1"))
    assert "another version" in netloom.refused(*arguments)


def test_a_folder_of_others_keeps_no_routing(netloom):
    """A checkpoint shares a folder only with what it has put there itself."""
    name = scenario(netloom)
    thesis = netloom.folder / "thesis"
    (thesis / "chapter-deadbeef").mkdir(parents=True)
    (thesis / "in-use").write_text("mine")
    word = netloom.refused("simulate", name, "--checkpoint", "thesis")
    assert "keeps no routing" in word
    assert "expected a new folder, or a checkpoint" in word
    assert (thesis / "in-use").read_text() == "mine"
    netloom.ok("simulate", name, "-o", "run")
    assert "keeps no routing" in netloom.refused("simulate", name, "--checkpoint", "run")
    assert "a folder each" in netloom.refused("simulate", name, "-o", "x", "--checkpoint", "x/", code=2)
    # An empty one may have been made for it; notes beside what is kept hurt nobody, nor does what was killed.
    (netloom.folder / "kept").mkdir()
    netloom.ok("simulate", name, "--checkpoint", "kept")
    (netloom.folder / "kept" / "notes.txt").write_text("mine")
    assert "taken from the checkpoint" in netloom("simulate", name, "--checkpoint", "kept").err
    (netloom.folder / "killed").mkdir()
    (netloom.folder / "killed" / "in-use").write_text("process 1 on a since then\n")
    (netloom.folder / "killed" / "half").mkdir()
    netloom.ok("simulate", name, "--checkpoint", "killed")


def test_what_is_asked_for_and_not_done_is_told(netloom):
    name = scenario(netloom, SMALL + "[measure]\ntrace = { to_us = 2 }\n")
    cut = netloom("simulate", name, "--checkpoint", "kept", "--time-limit", "0")
    assert "runs from its start next time" in cut.err
    refused = netloom("simulate", name, "--checkpoint-every", "5")
    assert (refused.code, "needs --checkpoint" in refused.err) == (2, True)


LONG = SMALL.replace("messages = 2", "messages = 100000")


def test_a_time_limit_tells_what_is_known_so_far(netloom):
    result = netloom.result("simulate", scenario(netloom, LONG), "--time-limit", "0.5", "--threads", "2")
    assert [run["stopped"] for run in result["runs"]] == ["time-limit"] * 2
    assert all(run["jobs"][0]["completion_ms"] is None for run in result["runs"])
    assert all(run["packets"] > 0 for run in result["runs"])
    cut = netloom.result("simulate", "s.toml", "--set", "max_time_ms=0.05")
    assert [run["stopped"] for run in cut["runs"]] == ["max-time"] * 2
    assert all(run["simulated_ms"] <= 0.05 for run in cut["runs"])


def interrupted(netloom, *arguments: str, by: signal.Signals = signal.SIGINT):
    """The result of a run that Ctrl-C ends as soon as its line on the terminal tells simulated time."""
    run = OnTerminal([*netloom.command, "simulate", *arguments, "--format", "json"], netloom.folder)
    run.wait_for("ms simulated")
    run.process.send_signal(by)
    code, out = run.end()
    assert code == 130, run.drawn
    return json.loads(out)["result"]


@pytest.mark.parametrize(("threads", "by"), [(1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGTERM)])
def test_ctrl_c_keeps_what_is_known_so_far(netloom, threads, by):
    name = scenario(netloom, LONG)
    arguments = [name, "-o", "run", "--checkpoint", "kept", "--threads", str(threads)]
    result = interrupted(netloom, *arguments, by=by)
    assert [run["stopped"] for run in result["runs"]] == ["interrupted"] * threads
    assert result["runs"][0]["simulated_ms"] > 0
    assert result["not_run"] == ["ftree", "adaptive"][threads:]
    # What was cut is written, but is not taken for finished.
    assert (netloom.folder / "run" / "manifest.json").is_file()
    kept = {path.name for path in (netloom.folder / "kept").glob("*/*")}
    assert kept == {"state"}


MEASURED = """\
[measure]
counters_every_us = 50
queues_every_us = 50
"""
MIDDLING = SMALL.replace("messages = 2", "messages = 3000") + MEASURED


def assert_equal_runs(netloom, one: str, other: str) -> None:
    """All tables of two runs hold the same bytes."""
    found = [
        {path.relative_to(folder): path.read_bytes() for path in folder.glob("*/*")}
        for folder in (netloom.folder / one, netloom.folder / other)
    ]
    assert {path.name for path in found[0]} >= {"links.parquet", "intervals.parquet", "queues.parquet"}
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "2"])
def test_what_ctrl_c_broke_off_goes_on_where_it_was(netloom, threads):
    """Again and again, until it is done: all is as without."""
    name = scenario(netloom, MIDDLING)
    whole = netloom.result("simulate", name, "-o", "whole", "--threads", threads)
    arguments = [name, "--checkpoint", "kept", "--threads", threads]
    before = interrupted(netloom, *arguments)["runs"][0]
    after = interrupted(netloom, *arguments)["runs"][0]
    assert before["simulated_ms"] < after["simulated_ms"]
    done = netloom("simulate", *arguments, "-o", "pieces", "--format", "json")
    assert "ftree" in done.err
    assert "taken up where the checkpoint has it" in done.err
    assert strip(json.loads(done.out)["result"]) == strip(whole)
    assert_equal_runs(netloom, "whole", "pieces")
    assert not list((netloom.folder / "kept").glob("*/state"))


@pytest.mark.slow
def test_what_was_killed_goes_on_from_its_last_state(netloom):
    name = scenario(netloom, MIDDLING)
    arguments = ["simulate", name, "--routings", "adaptive", "--checkpoint", "kept"]
    process = subprocess.Popen(
        [*netloom.command, *arguments, "--checkpoint-every", "0.1", "--quiet"], cwd=netloom.folder
    )
    while not list((netloom.folder / "kept").glob("*/state")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    done = netloom("simulate", *arguments[1:], "-o", "pieces", "--format", "json")
    assert "adaptive: taken up where the checkpoint has it" in done.err
    whole = netloom.result("simulate", name, "--routings", "adaptive", "-o", "whole")
    assert strip(json.loads(done.out)["result"]) == strip(whole)
    assert_equal_runs(netloom, "whole", "pieces")


def test_a_checkpoint_is_for_one_command_at_a_time(netloom):
    """The second is told who has it; one that was killed has nothing."""
    name = scenario(netloom, LONG)
    arguments = [name, "--routings", "ftree", "--checkpoint", "deep/kept"]
    process = subprocess.Popen([*netloom.command, "simulate", *arguments, "--quiet"], cwd=netloom.folder)
    held = netloom.folder / "deep" / "kept" / "in-use"
    while not (held.is_file() and held.read_text().endswith("\n")):
        assert process.poll() is None
        time.sleep(0.01)
    word = netloom.refused("simulate", *arguments)
    assert word.startswith(f"deep/kept: is in use by process {process.pid} on ")
    process.kill()
    process.wait()
    assert held.is_file()
    stopped = netloom("simulate", *arguments, "--time-limit", "0")
    assert (stopped.code, "the same command goes on from here" in stopped.err) == (0, True)
    assert not held.exists()


def test_nothing_is_left_of_a_checkpoint_that_keeps_nothing(netloom):
    name = scenario(netloom)
    netloom.ok("simulate", name, "--model", "fluid", "--checkpoint", "deep/kept", "--time-limit", "0")
    assert not (netloom.folder / "deep").exists()


def test_a_state_that_is_damaged_or_of_another_run_is_refused(netloom):
    name = scenario(netloom)
    arguments = ["simulate", name, "--routings", "ftree", "--checkpoint", "kept"]
    stopped = netloom(*arguments, "--time-limit", "0")
    assert "ftree: the same command goes on from here" in stopped.err
    (state,) = (netloom.folder / "kept").glob("*/state")
    whole = state.read_bytes()
    assert whole.startswith(b"netloom.state/2 ")
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
    for damaged in (whole[:-1], whole[:middle], whole[:40], b"", flipped, whole + b"x", b"\0" * 100):
        state.write_bytes(damaged)
        assert "state: damaged" in netloom.refused(*arguments)
    # Whole as a file, but not as a state.
    head = whole[: whole.index(b"\n") + 1]
    state.write_bytes(head + gzip.compress(gzip.decompress(whole[len(head) :])[:-1]))
    assert "not the state of such a run" in netloom.refused(*arguments, "--quiet")
    state.write_bytes(whole)
    assert "another scenario" in netloom.refused(*arguments, "--set", "job.shuffle.program.bytes=65537")
    assert netloom.result(*arguments)["runs"][0]["stopped"] is None


def test_a_state_that_cannot_be_written_ends_nothing(netloom):
    arguments = ["simulate", scenario(netloom), "--routings", "ftree", "--checkpoint", "kept"]
    netloom(*arguments, "--time-limit", "0")
    (state,) = (netloom.folder / "kept").glob("*/state")
    state.unlink()
    state.mkdir()
    stopped = netloom(*arguments, "--time-limit", "0", "--format", "json")
    assert json.loads(stopped.out)["result"]["runs"][0]["stopped"] == "time-limit"
    assert "warning: ftree: its state could not be kept: Is a directory" in stopped.err


def test_where_no_state_is_kept_whole_routings_are(netloom):
    name = scenario(netloom, SMALL + "[measure]\ntrace = { to_us = 2 }\n")
    for more in ([], ["--model", "fluid"]):
        arguments = ["simulate", name, "--checkpoint", "kept", "--checkpoint-every", "0", *more]
        stopped = netloom(*arguments, "--time-limit", "0")
        assert stopped.code == 0
        assert "goes on" not in stopped.err
        assert not (netloom.folder / "kept").exists()
    assert "--checkpoint-every" in netloom.refused("simulate", name, "--checkpoint-every", "-1", code=2)


def test_a_complete_run_is_replaced_by_complete_ones_only(netloom):
    name = scenario(netloom)
    folder = netloom.folder

    def routings(run: str) -> list[str]:
        return [
            entry["routing"] for entry in json.loads((folder / run / "manifest.json").read_text())["runs"]
        ]

    netloom.ok("simulate", name, "-o", "run")
    whole = (folder / "run" / "manifest.json").read_bytes()
    for _ in range(2):  # the second partial run takes the place of the first
        cut = netloom("simulate", name, "-o", "run", "--time-limit", "0", "--format", "json")
        assert json.loads(cut.out)["result"]["output"] == "run.partial"
        assert "warning: run has a complete run, which stays: this one is in run.partial" in cut.err
        assert (folder / "run" / "manifest.json").read_bytes() == whole
        assert routings("run.partial") == ["ftree"]
    netloom.ok("plot", "run", "run.partial", "-o", "cut.svg")
    # A complete run is a complete run, whatever it is called.
    assert netloom.result("simulate", name, "-o", "run.partial")["output"] == "run.partial"
    cut = netloom.result("simulate", name, "-o", "run", "--time-limit", "0")
    assert cut["output"] == "run.partial-2"
    (folder / "run.partial-2" / "manifest.json").rename(folder / "elsewhere")
    assert netloom.result("simulate", name, "-o", "run", "--time-limit", "0")["output"] == "run.partial-3"
    # Where there is nothing complete, what is broken off goes where it was asked for, and is replaced there.
    assert netloom.result("simulate", name, "-o", "new", "--time-limit", "0")["output"] == "new"
    assert netloom.result("simulate", name, "-o", "new", "--time-limit", "0")["output"] == "new"
    assert netloom.result("simulate", name, "-o", "new")["output"] == "new"
    assert routings("new") == ["ftree", "adaptive"]


def test_a_run_that_was_altered_is_not_believed(netloom):
    name = scenario(netloom)
    netloom.ok("simulate", name, "-o", "run", "--tables", "csv")
    manifest, table = (
        netloom.folder / "run" / "manifest.json",
        netloom.folder / "run" / "0-ftree" / "links.csv",
    )
    schema = json.loads(manifest.read_text())
    written, links = manifest.read_text(), table.read_bytes()
    assert set(schema["runs"][0]["sha256"]) == set(schema["runs"][0]["files"])
    time = schema["runs"][0]["result"]["jobs"][0]["completion_ms"]
    manifest.write_text(written.replace(str(time), str(time / 2)))
    assert "manifest.json: damaged" in netloom.refused("plot", "run", "run", "-o", "run.svg")
    # Nor is it replaced: nobody knows which files are ours.
    assert "manifest.json: damaged" in netloom.refused("simulate", name, "-o", "run")
    manifest.write_text(written)
    table.write_bytes(links.replace(b"1", b"2"))
    assert "links.csv: damaged" in netloom.refused("plot", "run", "run", "-o", "run.svg")
    table.write_bytes(links)
    netloom.ok("plot", "run", "run", "-o", "run.svg")
    # Of a version that kept no sums: told so, and replaced like any other.
    manifest.write_text(written.replace("netloom.run/2", "netloom.run/1"))
    word = netloom.refused("plot", "run", "run", "-o", "again.svg")
    assert "of an earlier version: expected netloom.run/2" in word
    netloom.ok("simulate", name, "-o", "run")
    netloom.ok("plot", "run", "run", "-o", "run.svg")


def test_the_run_is_drawn(netloom):
    text = SMALL + "[measure]\ncounters_every_us = 5\nqueues_every_us = 1\n"
    netloom.ok("simulate", scenario(netloom, text), "-o", "run")
    result = netloom.result("plot", "run", "run", "-o", "run.svg")
    assert [row["routing"] for row in result["routings"]] == ["ftree", "adaptive"]
    assert all(row["intervals"] > 0 and "→" in row["busiest"] for row in result["routings"])
    netloom.ok("plot", "run", "run/", "-o", "again.svg")
    assert (netloom.folder / "run.svg").read_bytes() == (netloom.folder / "again.svg").read_bytes()
    netloom.ok("simulate", scenario(netloom), "-o", "csv", "--tables", "csv", "-q")
    assert "not recorded" in netloom.ok("plot", "run", "csv", "-o", "run.png")
    (netloom.folder / "csv" / "0-ftree" / "links.csv").write_text("a,b\n1,2\n")
    assert "links.csv: damaged" in netloom.refused("plot", "run", "csv", "-o", "x.svg")
    # What has its sum right and is no such table.
    manifest = json.loads((netloom.folder / "csv" / "manifest.json").read_text())
    manifest["runs"][0]["sha256"]["links.csv"] = hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    (netloom.folder / "csv" / "manifest.json").write_bytes(runs.sealed(manifest))
    assert "expected a table with columns" in netloom.refused("plot", "run", "csv", "-o", "x.svg")
    (netloom.folder / "csv" / "manifest.json").write_text("{}")
    assert "expected what netloom simulate -o writes" in netloom.refused("plot", "run", "csv", "-o", "x.svg")
    netloom.refused("plot", "run", "missing", "-o", "x.svg")
