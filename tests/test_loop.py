"""`netloom loop`: rounds in the simulator that leave no fabric worse, their journal, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import netloom as nl
from netloom import _core
from netloom.loop.demand import weighted
from netloom.loop.inferred_phases import phases
from netloom.loop.plan import read_plan
from netloom.loop.simulated import SimulatedLoop

ROOT = Path(__file__).resolve().parent.parent
TREE = "two-level:leaves=8,hosts=4,spines=4"


@pytest.fixture
def small(paths):
    return paths.examples / "loop" / "small.toml"


def written(folder, text: str, name: str = "loop.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_routes_from_inferred_traffic_are_applied_and_then_kept(netloom, small):
    """ftree sends three flows over a link where one would do: two thirds of the load less."""
    result = netloom.result("loop", "run", small)
    first, second = result["rounds"]
    assert (first["decision"], second["decision"]) == ("applied", "kept")
    assert first["verdict"] == "identified"
    assert first["gap_before_percent"] == pytest.approx(200)
    assert first["gap_after_percent"] == pytest.approx(0, abs=1e-9)
    assert first["predicted_gain"] == pytest.approx(200 / 3)
    assert first["predicted_gain"] >= first["sure_gain"] >= first["asked_percent"] > first["cost_percent"]
    before, after = first["time_before_ms"], first["time_after_ms"]
    assert first["realised_gain"] == pytest.approx(100 * (before - after) / before)
    assert first["realised_gain"] > 60
    assert first["changed_entries"] > 0
    assert second["changed_entries"] == 0
    assert (result["applied"], result["kept"], result["rolled_back"]) == (1, 1, 0)
    assert set(first["seconds"]) >= {"simulate", "counters", "infer", "optimize", "check", "predict"}


def test_the_journal_has_every_round_with_its_files(netloom, small):
    netloom.ok("loop", "run", small, "-o", "kept", "--seed", "1")
    rows = pq.read_table(netloom.folder / "kept" / "journal.parquet").to_pylist()
    assert [row["decision"] for row in rows] == ["applied", "kept"]
    assert rows[0]["seconds_infer"] > 0
    fabric = nl.Fabric.generate(TREE)
    for row in rows:
        folder = netloom.folder / "kept" / f"round-{row['number']:04d}"
        names = [line.split()[0] for line in row["files"]]
        assert names == sorted(path.name for path in folder.iterdir())
        assert names == ["counters.csv.gz", "routes.lfts.gz", "traffic.mtx.gz"]
        routes = nl.Routes.read(folder / "routes.lfts.gz", fabric)
        assert nl.check(fabric, routes).ok
        traffic = nl.Traffic.read(folder / "traffic.mtx.gz", fabric)
        assert nl.loads(fabric, routes, traffic).ar_gap_percent == pytest.approx(0, abs=1e-6)
        assert nl.Counters.read(folder / "counters.csv.gz", fabric).intervals == 1
    page = (netloom.folder / "kept" / "summary.html").read_text()
    assert "shuffle" in page
    assert "applied" in page
    assert ">0 %</text>" in page  # the chart has an axis
    # Another loop takes its place; a folder of something else is refused.
    (netloom.folder / "kept/round-0001/own.txt").write_text("precious")
    netloom.ok("loop", "run", small, "--rounds", "1", "-o", "kept")
    assert (netloom.folder / "kept/round-0001/own.txt").read_text() == "precious"
    assert len(pq.read_table(netloom.folder / "kept" / "journal.parquet")) == 1
    assert not (netloom.folder / "kept" / "round-0002").exists()
    (netloom.folder / "mine").mkdir()
    (netloom.folder / "mine" / "thesis.tex").write_text("x")
    assert "journal.parquet" in netloom.refused("loop", "run", small, "-o", "mine")


def test_decisions_and_figures_do_not_depend_on_threads(netloom, small):
    def told(threads: int) -> list[dict[str, object]]:
        rounds = netloom.result("loop", "run", small, "--threads", threads)["rounds"]
        return [{key: value for key, value in one.items() if key != "seconds"} for one in rounds]

    assert told(1) == told(2)


def test_what_alternates_gets_routes_for_both_and_no_more_changes(netloom, paths):
    result = netloom.result("loop", "run", paths.examples / "loop" / "alternating.toml")
    decisions = [one["decision"] for one in result["rounds"]]
    assert decisions == ["applied", "applied", "kept", "kept", "kept", "kept"]
    assert all(one["gap_after_percent"] < 1e-9 for one in result["rounds"][1:])


def test_what_is_not_found_is_taken_back_and_not_tried_again(netloom, paths):
    file = paths.examples / "loop" / "contradicted.toml"
    result = netloom.result("loop", "run", file)
    first, second = result["rounds"]
    assert first["decision"] == "rolled back"
    assert first["sure_gain"] > 10
    assert first["realised_gain"] < 1
    assert first["gap_after_percent"] == first["gap_before_percent"]
    assert first["routes"] == second["routes"] != first["proposed"]
    assert second["decision"] == "kept"
    assert "taken back" in second["reason"]
    # Found by a quarter of the destinations already.
    canary = netloom.result("loop", "run", file, "--canary", "25")["rounds"][0]
    assert canary["decision"] == "rolled back"
    assert "25 % of the destinations" in canary["reason"]


@pytest.mark.parametrize("seed", range(4))
def test_no_loop_leaves_its_fabric_worse(tmp_path, seed):
    """Random pairs and starts, counters with noise and without lanes: what is known badly is not acted on."""
    written(
        tmp_path,
        f'fabric = "{TREE}"\nseed = {seed}\n[[job]]\nname = "pairs"\nallocation = "random"\n'
        'program = { kind = "pairs", rounds = 3, messages = 4, bytes = 200000 }\n',
        "work.toml",
    )
    file = written(
        tmp_path,
        f'routes = "{["ftree", "random", "minhop", "updn"][seed]}"\nnoise = 0.01\nseed = {seed}\n'
        '[[phase]]\nscenario = "work.toml"\nrounds = 3\n',
    )
    loop = SimulatedLoop(read_plan(file))
    rounds = [entry for entry, _ in loop.rounds()]
    for entry in rounds:
        assert entry.time_after_ms <= entry.time_before_ms * 1.005
        assert nl.check(loop.fabric, loop.routes).ok


def test_phases_are_recovered_from_short_intervals(tmp_path):
    """A stencil's messages go one after another: x, y and z cross other links."""
    written(
        tmp_path,
        f'fabric = "{TREE}"\nprofile = "codes"\n[[job]]\nname = "stencil"\n'
        'program = { kind = "stencil", shape = [4, 4, 2], bytes = "2MiB" }\n',
        "stencil.toml",
    )
    scenario = _core.Scenario.read(tmp_path / "stencil.toml")
    ran = _core.simulate(scenario, "ftree", counted=True, counted_every_us=40.0)
    counters = ran.counted()
    found = phases(counters)
    assert 2 <= len(found) < counters.intervals
    # Together they are all that was sent, but for intervals in which one phase turns into the next.
    each = [counters.measure(interval)["value"].sum() * weight for interval, weight in found]
    whole = sum(counters.measure(n)["value"].sum() for n in range(counters.intervals))
    assert 0.7 * whole < sum(each) <= whole * 1.001
    text = '[[phase]]\nscenario = "stencil.toml"\ncounters_every_us = 40\n'
    (entry, _), *_ = SimulatedLoop(read_plan(written(tmp_path, text))).rounds()
    assert entry.inferred_phases == len(found)
    assert entry.time_after_ms <= entry.time_before_ms
    # All in one interval is one phase.
    assert phases(_core.simulate(scenario, "ftree", counted=True).counted()) == [(0, 1.0)]


def test_counters_of_a_run_are_those_of_what_was_sent(tmp_path):
    written(
        tmp_path,
        f'fabric = "{TREE}"\nprofile = "codes"\n[[job]]\nname = "all"\n'
        'program = { kind = "all-to-all", bytes = 30000 }\n',
        "all.toml",
    )
    scenario = _core.Scenario.read(tmp_path / "all.toml")
    plain = _core.simulate(scenario, "ftree")
    ran = _core.simulate(scenario, "ftree", counted=True, counted_every_us=20.0)
    assert ran.end_ps == plain.end_ps
    sent = ran.sent()
    # 32 x 31 messages of 30,000 bytes, 8 packets each.
    assert sent.pairs == 32 * 31
    assert sent.total_bytes == 32 * 31 * 30000
    assert ran.sent(unit="packets").total_bytes == 32 * 31 * 8
    parts = [ran.sent(n).total_bytes for n in range(ran.counted().intervals)]
    assert sum(parts) == sent.total_bytes
    whole = _core.simulate(scenario, "ftree", counted=True).counted().measure()
    lanes = _core.simulate(scenario, "ftree", counted=True).counted("5sl5vl:seed=1").measure()
    assert np.array_equal(whole["value"], lanes["value"])
    assert lanes["lanes"] == 5
    assert np.array_equal(lanes["lane_value"].reshape(-1, 5).sum(axis=1), whole["value"])
    exact = nl.synth_counters(scenario.fabric, "ftree", sent, vl_scheme="5sl5vl:seed=1").measure()
    assert np.array_equal(lanes["lane_value"], exact["lane_value"])


def test_a_matrix_is_a_program(netloom, paths):
    """What a matrix says is sent, once or several times; the ranks are the matrix's."""
    written(
        netloom.folder,
        f'fabric = "{TREE}"\nprofile = "codes"\n[[job]]\nname = "m"\n'
        'program = { kind = "matrix", matrix = "three.csv", iterations = 2 }\n',
        "m.toml",
    )
    written(netloom.folder, "source,destination,bytes\n0,1,5000\n1,2,70\n2,0,9\n", "three.csv")
    job = netloom.result("simulate", "m.toml", "--routings", "ftree")["runs"][0]["jobs"][0]
    assert (job["ranks"], job["messages"], job["bytes"]) == (3, 6, 2 * 5079)
    text = (netloom.folder / "m.toml").read_text().replace("three.csv", "four.csv")
    written(netloom.folder, text, "m.toml")
    assert "m.toml:5" in netloom.refused("simulate", "m.toml")


def test_part_of_a_change_is_a_mix_of_both_tables():
    fabric = nl.Fabric.generate(TREE)
    traffic = nl.Traffic.pattern("bisection-shuffle:seed=3", 32)
    old, new = nl.route("ftree", fabric), nl.optimize(fabric, traffic).routes
    assert old.moved(old, traffic) == 0
    assert 0 < old.moved(new, traffic) <= 1
    some = [3, 17, 31]
    mixed = old.mixed(new, some)
    expected = old.table().copy()
    expected[:, some] = new.table()[:, some]
    assert np.array_equal(mixed.table(), expected)
    assert old.mixed(new, range(32)).changed_entries(new) == 0
    with pytest.raises(nl.errors.RoutingError, match=r"destination 32: expected hosts below 32"):
        old.mixed(new, [32])


REFUSED = {
    'rotes = "ftree"\n[[phase]]\nscenario = "WORK"\n': ':1: a loop has no key "rotes", did you mean "routes"',
    '[[phase]]\nscenario = "WORK"\n[rule]\nmargin = 3\n': ':4: rule has no key "margin", did you mean',
    '[[phase]]\nscenari = "WORK"\n': ':2: phase has no key "scenari", did you mean "scenario"?',
    '[[phase]]\nscenario = "gone.toml"\n': ":2: scenario: there is no file",
    '[[phase]]\nname = "x"\n': ":1: expected scenario",
    'seed = -1\n[[phase]]\nscenario = "WORK"\n': ":1: seed: expected a whole number from 0",
    'vl_scheme = "5sl"\n[[phase]]\nscenario = "WORK"\n': ':1: vl_scheme: VL scheme "5sl"',
    'weight = "byte"\n[[phase]]\nscenario = "WORK"\n': ":1: weight: expected bytes, packets or mixed",
    'routes = "adaptive"\n[[phase]]\nscenario = "WORK"\n': ":1: routes: expected tables, found",
    'routes = "ftre"\n[[phase]]\nscenario = "WORK"\n': ':1: routes: there is no routing "ftre"',
    '[[phase]]\nscenario = "WORK"\nrounds = 0\n': ":3: rounds: expected a whole number from 1",
    '[[phase]]\nscenario = "WORK"\nset = ["job.shuffle"]\n': ":3: set: expected a list such as",
    '[[phase]]\nscenario = "WORK"\nset = ["job.shufle.ranks=2"]\n': ":3: set: job.shufle.ranks=2: no job is",
    '[[phase]]\nscenario = "WORK"\njob_weights = { shufle = 2 }\n': ":3: job_weights: there is no job",
    "name = 'x'\n": ": expected at least one [[phase]]",
    "[[phase]\n": ":1: ",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_errors_name_file_and_line(netloom, paths, text):
    work = paths.examples / "scenarios" / "shuffle.toml"
    written(netloom.folder, text.replace("WORK", str(work)))
    message = netloom.refused("loop", "run", "loop.toml")
    assert REFUSED[text] in message
    assert "loop.toml" in message


def test_hosts_that_are_missing_are_named_with_their_line(netloom):
    written(
        netloom.folder,
        f'fabric = "{TREE}"\n[[job]]\nname = "m"\nhosts = "host[0000-0003],nobody"\n'
        'program = { kind = "all-to-all", bytes = 10 }\n',
        "work.toml",
    )
    written(netloom.folder, '[[phase]]\nscenario = "work.toml"\n')
    message = netloom.refused("loop", "run", "loop.toml")
    assert "work.toml:4" in message
    assert "nobody" in message


def test_another_fabric_in_a_later_phase_is_refused(netloom, paths):
    text = (paths.examples / "scenarios" / "shuffle.toml").read_text()
    written(netloom.folder, text, "one.toml")
    written(netloom.folder, text.replace("spines=4", "spines=2"), "two.toml")
    written(netloom.folder, '[[phase]]\nscenario = "one.toml"\n[[phase]]\nscenario = "two.toml"\n')
    assert "loop.toml:4: scenario: two.toml has another fabric" in netloom.refused("loop", "run", "loop.toml")


def test_usage(netloom, small, paths):
    shuffle = paths.examples / "scenarios" / "shuffle.toml"
    assert "SCENARIO" in netloom.refused("loop", "run", code=2)
    assert "--only" in netloom.refused("loop", "run", small, "--only", "5.1", code=2)
    word = netloom.refused("loop", small, "--table", code=2)
    assert word == "netloom loop --table is now: netloom loop table"
    assert "'6.1'" in netloom.refused("loop", "table", "--only", "6.1", code=2)
    for line, word in (
        ('name = ""', "name: expected a text that is not empty, found ''"),
        ("missing = 1.0", "missing: expected a number from 0 to 0.99, found 1.0"),
    ):
        (netloom.folder / "loop.toml").write_text(f"{line}\n[[phase]]\nscenario = '{shuffle}'\n")
        assert netloom.refused("loop", "run", "loop.toml") == f"loop.toml:1: {word}"
    stopped = netloom.result("loop", "run", small, "--time-limit", "0")
    assert (stopped["stopped"], len(stopped["rounds"])) == ("time-limit", 1)


def test_what_still_runs_and_waits_is_taken_to_want_more(paths, tmp_path):
    """The bully's hosts send as fast as they can: less where they share links, of which each wants one."""
    work = paths.examples / "scenarios" / "neighbour.toml"
    text = f'vl_scheme = "5sl5vl:seed=1"\n[[phase]]\nscenario = "{work}"\n'
    loop = SimulatedLoop(read_plan(written(tmp_path, text)))
    ran = loop.ran(0, loop.start)
    solver, bully = (job.hosts for job in loop.plan.phases[0].scenario.jobs)
    assert (ran.held_up[solver] == 1).all()
    assert ran.held_up[bully].max() > 1.5
    sent = np.asarray(ran.sent.to_scipy().sum(axis=1)).ravel()[bully] * ran.held_up[bully]
    link = loop.fabric.link_table()["bandwidth_bytes_per_s"][0] * ran.time_ms * 1e-3
    # Nearly: partners wait for each other between rounds.
    assert (sent > 0.85 * link).all()
    assert (sent < 1.01 * link).all()
    first, *_ = [entry for entry, _ in loop.rounds()]
    assert first.decision == "applied"
    assert first.realised_gain > 5


def test_a_weighted_job_is_spread_over_its_hosts():
    fabric = nl.Fabric.generate(TREE)
    scenario = _core.Scenario.read(ROOT / "examples" / "scenarios" / "neighbour.toml")
    traffic = scenario.traffic()
    solver, bully = (job.hosts for job in scenario.jobs)
    weights = {"solver": 3.0}
    [(found, weight)] = weighted(fabric, [(traffic, 2.0)], scenario, weights, pairs_are_known=False)
    assert weight == 2.0
    before, after = traffic.to_scipy(), found.to_scipy()
    assert (before[bully] != after[bully]).nnz == 0
    # All of the solver's hosts receive from every leaf of it but their own, three times what that leaf sends,
    # less what stays in the leaf.
    sent, got = before[solver].sum(), after[solver].sum()
    assert 2.0 * sent < got < 3.0 * sent
    assert (np.asarray(after[solver].sum(axis=0)).ravel()[solver] > 0).all()
    assert weighted(fabric, [(traffic, 2.0)], scenario, {}, pairs_are_known=False) == [(traffic, 2.0)]


def test_a_weighted_job_s_pairs_count_as_they_are_where_they_are_known():
    fabric = nl.Fabric.generate(TREE)
    scenario = _core.Scenario.read(ROOT / "examples" / "scenarios" / "neighbour.toml")
    traffic = scenario.traffic()
    solver, bully = (job.hosts for job in scenario.jobs)
    weights = {"solver": 3.0}
    [(found, _)] = weighted(fabric, [(traffic, 1.0)], scenario, weights, pairs_are_known=True)
    before, after = traffic.to_scipy().tocsr(), found.to_scipy().tocsr()
    assert abs(3.0 * before[solver] - after[solver]).max() < 1e-6 * before.max()
    assert (before[bully] != after[bully]).nnz == 0


def test_tables_have_the_published_column_beside_ours(paths, tmp_path):
    """Rows of a small scenario that says it is one of the dissertation's, the loop's last."""
    from netloom.cli.loop.report import tables_text
    from netloom.loop.tabled import rows

    work = paths.examples / "scenarios" / "neighbour.toml"
    text = (
        f'vl_scheme = "5sl5vl:seed=1"\n[[phase]]\nname = "beside"\nscenario = "{work}"\n'
        '[table]\nnumber = "5.4"\ncolumn = "at most 15 a leaf, mixed"\nbeside = ["adaptive"]\n'
        'alone = ["job.bully.start_us=1000000"]\n'
    )
    loop = SimulatedLoop(read_plan(written(tmp_path, text)))
    (entry, _), *_ = loop.rounds()
    found = list(rows(loop))
    assert [row["routing"] for row in found] == ["alone", "ftree", "adaptive", "loop"]
    alone, ftree, _, ours = found
    assert [row["published"] for row in found] == [4.19, 29.78, 9.26, 4.46]
    assert ftree["value"] == entry.time_before_ms > alone["value"]
    assert ours["value"] == entry.time_after_ms
    assert ours["times_alone"] == pytest.approx(ours["value"] / alone["value"])
    assert ours["published_times_alone"] == pytest.approx(4.46 / 4.19)
    assert (ours["verdict"], ours["decision"]) == (entry.verdict, entry.decision)
    gaps = text.replace("5.4", "5.5").replace("at most 15 a leaf, mixed", "irregular")
    gaps = gaps.replace("adaptive", "random") + 'measure = "gap"\n'
    loop = SimulatedLoop(read_plan(written(tmp_path, gaps)))
    (entry, _), *_ = loop.rounds()
    by_name = {row["routing"]: row["value"] for row in rows(loop)}
    assert by_name["ftree"] == entry.gap_before_percent
    assert by_name["loop"] == entry.gap_after_percent
    assert by_name["known"] <= by_name["ftree"]
    told = tables_text({"tables": found, "stopped": None})
    assert told.splitlines()[0] == "table 5.4: barrier and bully, at most 15 bully hosts a leaf, ms"
    assert "9.260" in told


def test_table_5_3_has_no_loop_of_the_dissertation_s():
    """Its 6.33 ms is of routes from a stylised matrix: nothing was inferred there."""
    from netloom.loop.published import PUBLISHED

    assert ("5.3", "random allocation", "loop") not in PUBLISHED
    assert PUBLISHED["5.3", "random allocation", "known"] == 6.33


def test_shipped_scenarios_of_chapter_5_are_read(paths):
    """Every one that `--table` runs is in the package, and says where it stands."""
    from importlib import resources

    from netloom.loop.published import PUBLISHED
    from netloom.loop.tabled import SCENARIOS

    with resources.as_file(resources.files("netloom") / "data" / "demo" / "loop") as folder:
        assert set(SCENARIOS) <= {path.stem for path in folder.glob("*.toml")}
        for name in SCENARIOS:
            plan = read_plan(folder / f"{name}.toml")
            assert plan.table is not None
            assert (plan.table.number, plan.table.column, "ftree") in PUBLISHED
            assert plan.name == name


def test_a_folder_is_for_one_loop_at_a_time_and_for_the_next_after_a_kill(netloom):
    from netloom.runs.lock import alone_in

    small = ROOT / "examples" / "loop" / "small.toml"
    folder = netloom.folder / "kept"
    with alone_in(folder):
        done = netloom("loop", "run", small, "-o", folder)
        assert done.code == 3
        assert "is in use by process" in done.err
    folder.mkdir()
    (folder / "in-use").write_text("process 1 on nowhere since long\n")
    netloom.ok("loop", "run", small, "--rounds", 1, "-o", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["journal.parquet", "round-0001", "summary.html"]
