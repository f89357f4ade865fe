"""The closed loop in front of a real OpenSM: three rounds of the demo, and rounds whose inputs are wrong."""

from __future__ import annotations

import csv
import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import netloom as nl
import web_bed
from netloom.apply import Journal as Changes
from netloom.apply import Seen, look
from netloom.apply import apply as applied
from netloom.apply import plan as planned
from netloom.cli import main
from netloom.live import OpenSM, missing_tools
from netloom.live.bed import Bed, bed
from netloom.live.polling import poll
from netloom.loop import calls as loop_live
from netloom.loop import journal
from netloom.loop.live import Live, LiveLoop

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

JOBS = Path(nl.__file__).parent / "data" / "demo" / "jobs" / "live-small.toml"
SCALE = 1e4


def test_the_demo_makes_three_rounds_and_ends_with_better_tables(netloom):
    result = netloom.result("demo", "live", "--small", "-o", "out")
    assert (result["tables_equal"], result["unreachable_pairs"]) == (True, 0)
    first, second, third = result["rounds"]
    assert [row["decision"] for row in (first, second, third)] == ["applied", "kept", "applied"]
    for row in (first, third):
        # The gap closes for the traffic that really ran, and counters show what was predicted.
        assert row["true_gap_after_percent"] < row["true_gap_before_percent"]
        assert row["realised_gain"] == pytest.approx(row["predicted_gain"], abs=3)
        assert row["changed_entries"] > 0
    # The same jobs again: nothing is left to gain, and nothing is changed.
    assert second["changed_entries"] == 0
    assert second["gap_after_percent"] == second["gap_before_percent"]
    assert {
        "discover",
        "counters",
        "infer",
        "optimize",
        "check",
        "predict",
        "apply",
        "verify",
    } <= set(first["seconds"])
    assert len(result["excerpt"]["entries"]) > 0
    assert (netloom.folder / "out" / "routes.lfts").stat().st_size > 0


def test_the_demo_keeps_a_journal_of_rounds_and_takes_no_folder_of_strangers(netloom):
    document = netloom.ok("demo", "live", "--small", "-o", "out", "--format", "csv")
    rows = list(csv.DictReader(document.splitlines()))
    assert [row["decision"] for row in rows] == ["applied", "kept", "applied"]
    assert float(rows[0]["seconds"]) > 0, "not a dictionary's text"
    kept = journal.read(netloom.folder / "out")
    assert [row["number"] for row in kept] == [1, 2, 3]
    assert kept[0]["journal_id"] == 1
    for number in (1, 2, 3):
        names = {path.name for path in (netloom.folder / "out" / f"round-{number:04d}").iterdir()}
        assert names == {"counters.csv.gz", "traffic.mtx.gz", "routes.lfts.gz"}
    assert "demo live" in (netloom.folder / "out" / "summary.html").read_text()
    # Its own folder again; not one with other files, nor with routes that no demo has written.
    for name in ("notes.txt", "routes.lfts"):
        (netloom.folder / name.partition(".")[0]).mkdir()
        taken = netloom.folder / name.partition(".")[0] / name
        taken.write_text("mine")
        word = netloom.refused("demo", "live", "--small", "-o", taken.parent)
        assert f"holds {name}, which no earlier demo has left there" in word
        assert taken.read_text() == "mine"


@pytest.mark.parametrize("word", ["round 1", "round 2", "round 3"])
def test_ctrl_c_ends_the_demo_wherever_it_is(netloom, word):
    """It was swallowed while routes were sought, and reached children that then ended without a word."""
    child = subprocess.Popen(
        [*netloom.command, "demo", "live", "--small", "-o", "out"],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if word in line:
            break
    time.sleep(0.3)
    # As a terminal does: to all of its processes.
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said.splitlines()[-1]) == (130, "netloom: interrupted")
    changes = Changes(netloom.folder / "out" / "routes.lfts.journal")
    assert changes.unfinished() is None
    last = next((one for one in reversed(changes.changes()) if one.state == "applied"), None)
    if last is not None and changes.changes()[-1] is last:
        assert (netloom.folder / "out" / "routes.lfts").read_bytes() == changes.tables(last.id)


@dataclass
class Rounds:
    """A fabric with work on it, and a loop that would gladly change its tables."""

    there: Bed
    loop: LiveLoop
    file: Path
    traffic: nl.Traffic
    jobs: Sequence[nl.Job]

    def run(self, seen: Seen) -> None:
        """An interval: the work runs."""
        self.there.run(self.traffic, seen.tables, scale=SCALE, noise=0.001)

    def round(
        self,
        interval: Callable[[Seen], None] | None = None,
        jobs: Sequence[nl.Job] | None = None,
    ) -> Live:
        return self.loop.round(lambda _: self.jobs if jobs is None else jobs, interval or self.run)

    def kept(self, live: Live, kind: str, words: str) -> None:
        """The round ended with a finding, and no table was touched."""
        assert live.round.decision == "kept", live.round
        told = [one for one in live.findings if one["kind"] == kind]
        assert told, live.findings
        assert words in told[0]["text"]
        now = look(self.there.sim.access).tables
        written = nl.Routes.read(self.file, self.there.fabric)
        assert now.changed_entries(written) == 0
        assert nl.check(self.there.fabric, now).unreachable_pairs == 0

    def applied(self, live: Live) -> None:
        assert live.round.decision == "applied", (live.round, live.findings)


@pytest.fixture
def rounds(paths, tmp_path) -> Iterator[Rounds]:
    fabric = nl.Fabric.read(paths.ft2)
    file = tmp_path / "routes.lfts"
    nl.route("ftree", fabric).write(file)
    with bed(fabric, file) as there:
        traffic, jobs = nl.place_jobs(there.fabric, JOBS, seed=4)
        with LiveLoop(there.sim.access, lambda: there.manager.manager) as loop:
            yield Rounds(there, loop, file, traffic, jobs)


def test_counters_missing_from_ports_are_a_finding_and_routes_stay(rounds):
    # 5 of 96 ports, to hosts: nobody else counts these links.
    lost = [("leaf00", 1), ("leaf02", 2), ("leaf04", 3), ("leaf06", 4), ("leaf07", 1)]
    from netloom.live import polling

    def some(poller: polling.Poller) -> None:
        poller._ports = [one for one in poller._ports if (one[0], one[2]) not in lost]

    rounds.round()
    assert rounds.loop._poller is not None
    first = nl.Routes.read(rounds.file, rounds.there.fabric)
    some(rounds.loop._poller)
    live = rounds.round()
    rounds.kept(live, "unknown-links", "of 10 of 128 links nobody knows what they carried")
    assert nl.Routes.read(rounds.file, rounds.there.fabric).changed_entries(first) == 0


@pytest.mark.parametrize("kind", ["no-http", "cut-chunk", "long-header", "to-ftp", "odd-samples"])
def test_an_exporter_that_replies_with_anything_is_a_finding_and_routes_stay(rounds, kind):
    with web_bed.serving(itertools.repeat(web_bed.ODD[kind])) as url:
        rounds.loop.reader = loop_live.reader(url)
        rounds.kept(rounds.round(), "format" if kind == "odd-samples" else "live", url)
    rounds.loop.reader = None
    rounds.applied(rounds.round())


def test_a_switch_that_goes_silent_is_named(rounds):
    def silent(seen: Seen) -> None:
        rounds.run(seen)
        rounds.there.sim.command('Error "leaf03" 100 29')

    live = rounds.round(silent)
    rounds.there.sim.command('Error "leaf03" 0')
    rounds.kept(live, "missing", "8 of 96 ports did not answer: leaf03[1], leaf03[2], leaf03[3], …")
    rounds.applied(rounds.round())


def test_counters_that_are_set_back_are_a_finding_and_routes_stay(rounds):
    def reset(seen: Seen) -> None:
        rounds.run(seen)
        # What perfquery -R does, on every switch.
        lids = seen.fabric.switch_table()["lid"]
        for lid in lids.tolist():
            rounds.there.sim.tool("perfquery", "-x", "-R", "-a", str(lid))

    rounds.round(lambda seen: None)
    rounds.run(look(rounds.there.sim.access))
    live = rounds.round(reset)
    rounds.kept(live, "reset", "were set back during the interval, at leaf00 (8 ports)")
    assert "perfquery -R" in live.round.reason
    rounds.applied(rounds.round())


def test_counters_set_back_while_a_gain_is_measured_are_counted_again(rounds):
    """The change stayed, and nobody knew what it was worth."""
    waited = []

    def interval(seen: Seen) -> None:
        rounds.run(seen)
        waited.append(seen)
        if len(waited) == 2:
            lid = seen.fabric.switch_table()["lid"][seen.fabric.switch_names.index("leaf02")]
            rounds.there.sim.tool("perfquery", "-x", "-R", "-a", str(lid))

    live = rounds.round(interval)
    rounds.applied(live)
    assert len(waited) == 3
    assert live.round.realised_gain == pytest.approx(live.round.predicted_gain, abs=3)
    assert ["leaf02 (8 ports)" in one["text"] for one in live.findings] == [True]


def test_a_wrong_list_of_jobs_never_makes_tables_worse(rounds, paths):
    """The same jobs on other hosts: what was counted cannot be theirs."""
    _, elsewhere = nl.place_jobs(rounds.there.fabric, JOBS, seed=11)
    half = [job for job in elsewhere if job.name.endswith("0")]
    live = rounds.round(jobs=half)
    assert live.round.decision == "kept"
    held = ("not surely better", "no better routes were found")
    assert live.findings or any(word in live.round.reason for word in held), live.round
    now = look(rounds.there.sim.access).tables
    assert now.changed_entries(live.before.tables) == 0


def test_opensm_restarted_between_rounds_is_found_again(rounds, tmp_path):
    """A new process with the same file; then one that reads none, which is told and not asked."""
    sim = rounds.there.sim
    rounds.applied(rounds.round())
    rounds.there.manager.__exit__(None, None, None)
    live = rounds.round()
    assert live.round.decision == "kept"
    assert live.findings, live.round
    with OpenSM(sim, routes=rounds.file) as again:
        rounds.loop.manager = lambda: again.manager
        live = rounds.round()
        assert live.findings == []
        assert live.round.decision == "kept"
        assert live.round.changed_entries == 0
    with OpenSM(sim, engine="minhop") as other:
        rounds.loop.manager = lambda: other.manager
        live = rounds.round()
        assert live.round.decision == "kept"
        assert live.findings[0]["kind"] in ("no-file-engine", "fabric-changed", "tables-changed")


class Steered:
    """`netloom loop live`, with work instead of waiting."""

    def __init__(self, rounds: Rounds, folder: Path, monkeypatch, capsys, validate) -> None:
        self.rounds, self.folder, self.capsys, self.validate = rounds, folder, capsys, validate
        self.waited: list[float] = []
        self.hook: Callable[[], None] = lambda: None
        monkeypatch.chdir(folder)
        monkeypatch.setattr(
            loop_live,
            "time",
            SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=self.sleep),
            raising=True,
        )

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.rounds.run(look(self.rounds.there.sim.access))
        self.hook()

    def __call__(self, *words: object, code: int = 0) -> dict[str, Any]:
        sim = self.rounds.there.sim
        given = [*map(str, words), "--sim", f"{sim.socket_name},{sim.host}", "--format", "json", "-q"]
        assert main(["loop", "live", *given, "--seed", "4"]) == code
        document = json.loads(self.capsys.readouterr().out)
        self.validate(document)
        return document["result"]


@pytest.fixture
def steered(rounds, tmp_path, monkeypatch, capsys, validate) -> Steered:
    (tmp_path / "work").mkdir()
    return Steered(rounds, tmp_path / "work", monkeypatch, capsys, validate)


class TestTheVerb:
    def test_python_proposes_what_the_command_proposes(self, steered):
        told = steered("--jobs", JOBS, "--rounds", "1", "--every", "30")
        heard: list[dict[str, Any]] = []
        found = nl.loop_live(
            jobs=JOBS, rounds=1, every=30.0, access=steered.rounds.there.sim.access, seed=4, told=heard.append
        )
        assert heard == found["rounds"]
        assert found["rounds"][0]["decision"] == told["rounds"][0]["decision"] == "proposed"
        same = set(told) - {"rounds"}
        assert {key: found[key] for key in same} == {key: told[key] for key in same}

    def test_a_dry_run_proposes_and_yes_applies_and_goes_on_with_the_journal(self, steered, netloom):
        file, there = steered.rounds.file, steered.rounds.there
        before = file.read_bytes()
        told = steered("--jobs", JOBS, "--rounds", "1", "--every", "30", "-o", "kept")
        assert (told["proposed"], told["applied"], told["dry_run"]) == (1, 0, True)
        assert told["rounds"][0]["decision"] == "proposed"
        assert steered.waited == [30.0]
        assert file.read_bytes() == before
        assert not Changes.beside(file).folder.exists(), "not even a journal of changes"
        told = steered("--jobs", JOBS, "--rounds", "2", "-o", "kept", "--yes")
        assert [(row["number"], row["decision"]) for row in told["rounds"]] == [(2, "applied"), (3, "kept")]
        first = told["rounds"][0]
        assert first["realised_gain"] == pytest.approx(first["predicted_gain"], abs=3)
        assert first["journal_id"] == 1
        now = look(there.sim.access)
        assert now.tables.changed_entries(nl.Routes.read(file, now.fabric)) == 0
        assert now.tables.changed_entries(nl.Routes.parse(before, now.fabric)) > 0
        rows = journal.read(steered.folder / "kept")
        assert [row["decision"] for row in rows] == ["proposed", "applied", "kept"]
        assert (steered.folder / "kept" / "summary.html").stat().st_size > 0
        shown = netloom.result("watch", *where(there), "--journal", steered.folder / "kept", "--once")
        assert [row["number"] for row in shown["rounds"]] == [1, 2, 3]

    def test_a_canary_comes_first_and_is_taken_back_where_its_gain_is_not_there(self, steered):
        file = steered.rounds.file
        before = nl.Routes.read(file, steered.rounds.there.fabric)
        # Few entries change, and they pay together: with half of the destinations no gain is seen yet.
        told = steered("--jobs", JOBS, "--rounds", "1", "--canary", "80", "--yes")
        assert told["rounds"][0]["decision"] == "applied", told["rounds"]
        assert len(steered.waited) == 3, "an interval before, one under the canary, one under all"
        first, second = Changes.beside(file).changes()
        assert (first.state, second.state) == ("applied", "applied")
        assert first.changed_entries + second.changed_entries == told["rounds"][0]["changed_entries"]
        # Back, by hand; then the work changes under the canary: what was predicted is not found.
        now = look(steered.rounds.there.sim.access, file)
        changes = Changes.beside(file)
        with changes.locked():
            applied(planned(now, before), steered.rounds.there.manager.manager, changes)
        steered.waited.clear()
        steered.hook = lambda: setattr(
            steered.rounds, "traffic", nl.place_jobs(steered.rounds.there.fabric, JOBS, seed=11)[0]
        )
        told = steered("--jobs", JOBS, "--rounds", "1", "--canary", "50", "--yes")
        row = told["rounds"][0]
        assert row["decision"] == "rolled back", row
        assert "with 50 % of the destinations found" in row["reason"]
        now = look(steered.rounds.there.sim.access, file)
        assert now.tables.changed_entries(before) == 0
        assert Changes.beside(file).unfinished() is None

    def test_an_idle_fabric_is_no_finding(self, steered):
        steered.rounds.traffic = nl.Traffic.pattern("bisection", 32)
        told = steered("--rounds", "1")
        assert told["rounds"][0]["decision"] == "kept"
        assert "little more than reading counters does" in told["rounds"][0]["reason"]

    def test_counters_that_others_poll_do_as_well(self, steered):
        file = steered.folder / "perfquery.txt"

        def polled() -> None:
            found = poll(steered.rounds.there.sim.access, steered.rounds.there.fabric, waits=False)
            file.write_bytes(found.text)

        polled()
        steered.hook = polled
        told = steered("--jobs", JOBS, "--rounds", "1", "--counters-from", file)
        assert told["rounds"][0]["decision"] == "proposed", told["rounds"]
        assert told["rounds"][0]["mads"] == 0

    def test_a_jobs_file_that_is_gone_is_a_finding_of_its_round(self, steered):
        jobs = steered.folder / "jobs.toml"
        jobs.write_text(JOBS.read_text().replace("../data", str(JOBS.parent.parent / "data")))
        steered.hook = lambda: jobs.write_text("[[job]\n")
        told = steered("--jobs", jobs, "--rounds", "1", code=1)
        assert told["rounds"][0]["decision"] == "kept"
        assert "jobs.toml" in told["rounds"][0]["findings"][0]["text"]

    def test_a_change_that_was_killed_is_finished_first(self, steered):
        seen = look(steered.rounds.there.sim.access, steered.rounds.file)
        changes = Changes.beside(steered.rounds.file)
        plan = planned(seen, nl.route("random", seen.fabric, seed=3))
        with changes.locked():
            number = changes.begin(plan.file(seen.tables), [plan.file(plan.routes)], {"changed_entries": 1})
            changes.add(number, "stage", stage=1)
        told = steered("--jobs", JOBS, "--rounds", "1", code=1)
        assert told["rounds"][0]["findings"][0]["kind"] == "unfinished"
        told = steered("--jobs", JOBS, "--rounds", "1", "--yes", code=1)
        assert told["rounds"][0]["findings"][0]["kind"] == "recovered"
        assert changes.unfinished() is None
        now = look(steered.rounds.there.sim.access)
        assert now.tables.changed_entries(plan.routes) == 0

    def test_a_second_subnet_manager_keeps_the_routes_unless_allowed(self, steered):
        sim, file = steered.rounds.there.sim, steered.rounds.file
        with OpenSM(sim, routes=file, host="host0031", standby=True):
            mine = ("--jobs", JOBS, "--rounds", "1", "--opensm", steered.rounds.there.manager.manager.pid)
            told = steered(*mine, code=1)
            assert told["rounds"][0]["findings"][0]["kind"] == "standby", told["rounds"]
            assert steered(*mine, "--allow", "standby")["proposed"] == 1


def test_ctrl_c_ends_a_live_loop_after_the_rounds_so_far(rounds, netloom):
    words = ("loop", "live", "--every", "0.2", "-o", "kept", *where(rounds.there))
    child = subprocess.Popen(
        [*netloom.command, *words],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (netloom.folder / "kept" / "journal.parquet").exists():
        assert child.poll() is None
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    out, said = child.communicate(timeout=60)
    assert (child.returncode, said.splitlines()[-1]) == (130, "netloom: interrupted")
    assert "stopped  interrupted: the rounds so far" in out
    kept = journal.read(netloom.folder / "kept")
    assert [row["number"] for row in kept] == list(range(1, len(kept) + 1))


def where(there: Bed) -> tuple[str, str]:
    return "--sim", f"{there.sim.socket_name},{there.sim.host}"


def test_a_live_loop_that_cannot_be_is_refused(netloom, paths):
    assert "no OpenSM" in netloom.refused("loop", "live", "-o", "kept")
    loop = paths.examples / "loop" / "small.toml"
    assert "netloom loop live" in netloom.refused("loop", loop, "--live", code=2)
    assert "--sim" in netloom.refused("loop", "live", "--sim", "nobody")
    assert "folder" in netloom.refused("loop", "live", "-o", "-", code=2)


def test_tables_that_change_during_the_interval_are_noticed(rounds):
    """Somebody else loads other tables: the counters belong to neither."""

    def meddled(seen: Seen) -> None:
        rounds.run(seen)
        nl.route("random", seen.fabric, seed=3).write(rounds.file)
        rounds.there.manager.heavy_sweep()

    live = rounds.round(meddled)
    rounds.kept(live, "tables-changed", "belong to no known routes")
    assert np.array_equal(
        live.before.tables.table()[:, :32], look(rounds.there.sim.access).tables.table()[:, :32]
    )
