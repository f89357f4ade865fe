"""`netloom sweep`: what varies, what is kept, what a kill leaves, what is told.

`NETLOOM_KILLS=30` for a campaign of kills.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import netloom as nl
from netloom.errors import FormatError
from netloom.sweeps import kept, spec, work
from netloom.sweeps.preparation import prepare
from netloom.sweeps.toml import text_of, with_keys

KILLS = int(os.environ.get("NETLOOM_KILLS", "3"))

SCENARIO = """
fabric = "two-level:leaves=2,hosts=4,spines=2"
routes = ["ftree", "adaptive"]
seed = 3

[[job]]
name = "ring"
ranks = 4
program = { kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }

[[job]]
ranks = 4
program = { kind = "pairs", rounds = 1, messages = 2, bytes = 2000 }
"""
SWEEP = """
scenario = "scenario.toml"
keep = ["completion_ms", "messages", "run.messages", "max_link_utilisation"]

[over]
seed = "0..5"
routes = ["random", "adaptive"]
"""


@pytest.fixture
def written(netloom):
    """Writes a scenario and a sweep; returns the name of the latter."""

    def write(sweep: str = SWEEP, scenario: str = SCENARIO) -> str:
        (netloom.folder / "scenario.toml").write_text(scenario)
        (netloom.folder / "sweep.toml").write_text(sweep)
        return "sweep.toml"

    return write


def table(folder: Path) -> list[dict[str, object]]:
    return pq.read_table(folder / "table.parquet").to_pylist()


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").glob("*.parquet"))


def parsed(text: str) -> spec.Spec:
    return spec.parse(f'scenario = "scenario.toml"\n{text}', Path("sweep.toml"))


# What varies


def test_a_grid_has_every_value_with_every_other_the_last_key_fastest():
    found = parsed('[over]\nseed = "1..2"\nroutes = ["a", "b"]\n')
    assert [found.values(number) for number in range(found.size)] == [
        {"seed": 1, "routes": "a"},
        {"seed": 1, "routes": "b"},
        {"seed": 2, "routes": "a"},
        {"seed": 2, "routes": "b"},
    ]


def test_paired_lists_go_side_by_side_and_with_the_grid():
    found = parsed('[paired]\nfabric = ["f", "g"]\njob.x.ranks = [8, 16]\n[over]\nseed = [7, 9]\n')
    assert [tuple(found.values(number).values()) for number in range(found.size)] == [
        ("f", 8, 7),
        ("f", 8, 9),
        ("g", 16, 7),
        ("g", 16, 9),
    ]
    assert found.varied == ["fabric", "job.x.ranks", "seed"]


@pytest.mark.parametrize(
    ("written_as", "values"),
    [
        ('"2..4"', [2, 3, 4]),
        ('"0..10..5"', [0, 5, 10]),
        ('"0.1..0.3..0.1"', [0.1, 0.2, 0.3]),
        ('"a{1..3}b"', ["a1b", "a2b", "a3b"]),
        ('["x", "{1..2}{8..9}"]', ["x", "18", "19", "28", "29"]),
        ("[true, false]", [True, False]),
        ("[1, 2.5]", [1, 2.5]),
    ],
)
def test_ranges_stand_for_lists(written_as, values):
    assert parsed(f"over = {{ x = {written_as} }}").of("x") == values


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("over = { seed = [] }", "sweep.toml:2: seed: expected a value or more, found none"),
        (
            'over = { seed = "5..1" }',
            'sweep.toml:2: seed: "5..1" is empty: expected the smaller number first',
        ),
        ('over = { seed = "1..5..0" }', 'sweep.toml:2: seed: "1..5..0": expected a step above 0'),
        ('over = { x = "0.5..1" }', 'sweep.toml:2: x: "0.5..1": expected a step behind numbers with a point'),
        (
            'over = { seed = "1-5" }',
            'sweep.toml:2: seed: expected a list, or a range such as "0..9", found "1-5"',
        ),
        ("over = { seed = 5 }", "sweep.toml:2: seed: expected a list, or a range"),
        ("over = { seed = [-1] }", "sweep.toml:2: seed: expected whole numbers from 0 on"),
        ("over = { x = [1, 1.0] }", "sweep.toml:2: x: expected different values, found 1.0 twice"),
        ('over = { x = [1, "a"] }', "sweep.toml:2: x: expected values of one kind, found number and text"),
        ("over = { x = [nan] }", "sweep.toml:2: x: expected finite numbers"),
        ("over = { x = [1979-05-27] }", "sweep.toml:2: x: expected texts, numbers"),
        ("over = { routes = [1] }", "sweep.toml:2: routes: expected routings"),
        ("over = 5", "sweep.toml:2: over: expected a table"),
        ("ovr = { seed = [1] }", 'sweep.toml:2: a sweep has no key "ovr", did you mean "over"?'),
        ("", "sweep.toml: expected what varies"),
        (
            "[paired]\na = [1, 2]\nb = [1]\n",
            "sweep.toml:2: [paired]: expected lists of one length, found a has 2, b has 1",
        ),
        (
            '[paired]\na = [4, 8, 8.0]\nb = ["x", "y", "y"]\n',
            "sweep.toml:2: [paired]: expected different values, found a=8.0, b='y' twice",
        ),
        (
            "[over]\na = [1]\n[paired]\na = [2]\n",
            "sweep.toml:3: a is in [over] and in [paired]: expected it in one",
        ),
        (
            'keep = ["completion_m"]\nover = { seed = [1] }',
            'sweep.toml:2: keep: no result has the key "completion_m", did you mean "completion_ms"?',
        ),
        (
            'keep = ["cpu_seconds"]\nover = { seed = [1] }',
            "sweep.toml:2: keep: cpu_seconds is measured by a clock",
        ),
        ("keep = []\nover = { seed = [1] }", "sweep.toml:2: keep: expected a list of different texts"),
        (
            'by = ["sed"]\nover = { seed = [1] }',
            'sweep.toml:2: by: nothing varies "sed", did you mean "seed"?',
        ),
        ('over = { a = "1..99999", b = "1..99999" }', "expected at most 1,000,000 runs"),
        ('over = { a = "1..999999999999" }', "expected at most 1,000,000 values"),
        ("over = { seed = [1 }", "sweep.toml:2: expected TOML: "),
        ("x = " + "[" * 100_000, "sweep.toml"),
    ],
)
def test_a_wrong_sweep_is_refused_with_its_line(text, told):
    with pytest.raises(FormatError) as error:
        parsed(text)
    assert told in str(error.value)


def test_what_is_no_scenario_is_refused(netloom, written):
    assert "scenario.toml:" in netloom.refused("sweep", "run", written(scenario="x\n"), "-o", "swept")
    (netloom.folder / "scenario.toml").unlink()
    assert "scenario.toml" in netloom.refused("sweep", "run", "sweep.toml", "-o", "swept")
    netloom.refused("sweep", "run", "-", "-o", "swept", code=2)
    assert "needs -o" in netloom.refused("sweep", "run", "sweep.toml", code=2)
    assert "there is no folder" in netloom.refused("sweep", "run", "sweep.toml", "-o", "no/swept")
    assert "expected a folder" in netloom.refused("sweep", "run", "sweep.toml", "-o", "sweep.toml")


def test_keys_are_set_as_simulate_sets_them(paths):
    """The worker sets keys itself, to keep fabrics: the same run as the core's `--set`."""
    folder = paths.examples / "scenarios"
    text = (folder / "neighbour.toml").read_text()
    cases = [
        {"seed": 7, "routes": ["adaptive"]},
        {"job.solver.program.face_bytes": "4KiB", "routes": ["ftree"]},
        {"job.2.program.rounds": 2, "hardware.lanes": 2, "routes": ["random"]},
        {"job.bully.allocation": "fragmented", "model": "fluid", "routes": ["ftree"]},
    ]
    plan = {"netloom": nl.__version__, "text": text, "label": "n", "folder": str(folder)}
    plan |= {"keep": ["completion_ms", "message_latency_us.mean", "run.messages"], "skip_repeats": None}
    for case in cases:
        said = [f"{key}={json.dumps(value)}" for key, value in case.items()]
        scenario = nl.Scenario.read(folder / "neighbour.toml", said)
        expected = nl.simulate(scenario).result()
        values = {**case, "routes": case["routes"][0]}
        for _ in range(2):
            (found,) = work.run_batch(plan, [values])["runs"]
            assert found["error"] is None
            assert [row[3] for row in found["rows"]] == [job["completion_ms"] for job in expected["jobs"]]
            assert {row[5] for row in found["rows"]} == {expected["messages"]}


def test_any_scenario_is_written_again_as_it_was():
    text = (
        'a = "é\\"\\u007f\\n"\nb = 1.5\nc = [true, { d = -1 }]\n[e]\n"f.g" = [[1], ["x"]]\n[[job]]\nh = 1\n'
    )
    found = spec.tomllib.loads(text)
    assert spec.tomllib.loads(text_of(found)) == found
    assert with_keys(found, {"job.job1.h": 2, "job.1.i.j": 3, "e.k": 4})["job"] == [{"h": 2, "i": {"j": 3}}]


def test_every_key_that_is_kept_is_one_of_a_result(paths):
    """The schema of `simulate` has them all, of these types."""
    defs = json.loads((paths.schemas / "simulate.json").read_text())["$defs"]
    for keys, start in ((kept.JOB, defs["job"]), (kept.RUN, defs["run"])):
        for key, kind in keys.items():
            at = start
            for part in key.split("."):
                at = at["properties"][part]
                options = [at, *at.get("anyOf", [])]
                named = [one for one in options if "properties" in one or "$ref" in one]
                if named and "$ref" in named[0]:
                    at = defs[named[0]["$ref"].rpartition("/")[2]]
                elif named:
                    at = named[0]
            assert kind in at["type"], key


def test_tables_that_are_kept_for_all_seeds_depend_on_none():
    fabric = nl.Fabric.generate("two-level:leaves=4,hosts=3,spines=3")
    traffic = nl.Traffic.read("random:partners=3,seed=1", fabric)

    def loads(engine: str, seed: int) -> list[float]:
        return nl.loads(fabric, nl.route(engine, fabric, seed=seed), traffic).per_link.tolist()

    for engine in work._SEEDLESS - {"dla", "dor"}:
        assert loads(engine, 1) == loads(engine, 2)
    assert loads("random", 1) != loads("random", 2)


# What is run


def test_the_table_has_a_row_a_run_and_job_as_simulate_tells_them(netloom, written):
    result = netloom.result("sweep", "run", written(), "-o", "swept", "--workers", "2")
    assert (result["runs"], result["done"], result["reused"], result["failed"]) == (12, 12, 0, 0)
    rows = table(netloom.folder / "swept")
    assert [(row["seed"], row["routing"], row["job"]) for row in rows] == [
        (seed, routing, job)
        for seed in range(6)
        for routing in ("random", "adaptive")
        for job in ("ring", "job2")
    ]
    one = netloom.result("simulate", "scenario.toml", "--seed", "4", "--routings", "random")["runs"][0]
    row = next(row for row in rows if (row["seed"], row["routing"], row["job"]) == (4, "random", "ring"))
    assert row["completion_ms"] == one["jobs"][0]["completion_ms"]
    assert row["messages"] == one["jobs"][0]["messages"]
    assert row["run.messages"] == one["messages"]
    assert row["max_link_utilisation"] == one["max_link_utilisation"]
    assert row["error"] is None


def test_any_number_of_workers_gives_the_same_bytes(netloom, written):
    for workers in ("1", "3"):
        netloom.ok("sweep", "run", written(), "-o", f"swept{workers}", "--workers", workers)
    tables = [(netloom.folder / f"swept{workers}" / "table.parquet").read_bytes() for workers in "13"]
    assert tables[0] == tables[1]


def test_routings_are_the_scenario_s_unless_they_vary(netloom, written):
    sweep = written('scenario = "scenario.toml"\nover = { seed = [1] }\n')
    netloom.ok("sweep", "run", sweep, "-o", "swept")
    rows = table(netloom.folder / "swept")
    assert [row["routing"] for row in rows] == ["ftree", "ftree", "adaptive", "adaptive"]
    assert list(rows[0]) == ["run", "seed", "routing", "job", "stopped", *kept.DEFAULT, "error"]


def test_what_is_there_is_not_run_again_and_a_larger_sweep_only_adds(netloom, written):
    netloom.ok("sweep", "run", written(), "-o", "swept")
    before = (netloom.folder / "swept" / "table.parquet").read_bytes()
    again = netloom.result("sweep", "run", "sweep.toml", "-o", "swept")
    assert (again["reused"], again["done"]) == (12, 12)
    assert (netloom.folder / "swept" / "table.parquet").read_bytes() == before
    old = parts(netloom.folder / "swept")
    larger = netloom.result("sweep", "run", written(SWEEP.replace("0..5", "0..8")), "-o", "swept")
    assert (larger["runs"], larger["reused"]) == (18, 12)
    assert set(old) < set(parts(netloom.folder / "swept"))
    # And the smaller one again has its own table.
    netloom.ok("sweep", "run", written(), "-o", "swept")
    assert (netloom.folder / "swept" / "table.parquet").read_bytes() == before


def test_a_file_that_changes_makes_other_runs(netloom, written, paths):
    fabric = netloom.folder / "net.txt"
    fabric.write_bytes(paths.ft2.read_bytes())
    scenario = SCENARIO.replace("two-level:leaves=2,hosts=4,spines=2", "net.txt")
    sweep = 'scenario = "scenario.toml"\nover = { seed = [1], routes = ["ftree"] }\n'
    netloom.ok("sweep", "run", written(sweep, scenario), "-o", "swept")
    assert netloom.result("sweep", "run", "sweep.toml", "-o", "swept")["reused"] == 1
    netloom.ok("fabric", "damage", paths.ft2, "--random-links", "1", "-o", "damaged.txt")
    fabric.write_bytes((netloom.folder / "damaged.txt").read_bytes())
    assert netloom.result("sweep", "run", "sweep.toml", "-o", "swept")["reused"] == 0


def test_fabrics_vary(netloom, written):
    fabrics = ["two-level:leaves=2,hosts=4,spines=2", "two-level:leaves=4,hosts=2,spines=1"]
    sweep = f'scenario = "scenario.toml"\nover = {{ fabric = {json.dumps(fabrics)}, seed = [1, 2] }}\n'
    netloom.ok("sweep", "run", written(sweep), "-o", "swept", "--workers", "1")
    rows = table(netloom.folder / "swept")
    for fabric in fabrics:
        scenario = nl.Scenario.read(netloom.folder / "scenario.toml", [f'fabric="{fabric}"', "seed=2"])
        alone = nl.simulate(scenario, "ftree").result()["jobs"][0]["completion_ms"]
        found = [row["completion_ms"] for row in rows if (row["fabric"], row["seed"]) == (fabric, 2)]
        assert found[0] == alone
    assert len({row["completion_ms"] for row in rows}) > 2


def test_runs_that_fail_are_rows_with_their_error(netloom, written):
    result = netloom.result("sweep", "run", written(MISFIT), "-o", "swept", code=1)
    assert (result["done"], result["failed"]) == (4, 1)
    (failed,) = [row for row in table(netloom.folder / "swept") if row["error"] is not None]
    assert (failed["fabric"], failed["job.ring.ranks"]) == (FABRICS[0], 12)
    assert failed["job"] is None
    assert failed["completion_ms"] is None
    assert failed["error"].startswith('job.ring.ranks=12: job "ring" needs 12 hosts')
    # The row is the same wherever the sweep's lines are; the report names the line.
    assert result["errors"] == [{"at": "sweep.toml:5", "error": failed["error"], "runs": 1}]
    again = netloom("sweep", "run", "sweep.toml", "-o", "swept")
    assert again.code == 1
    assert "4 of them before, 1 failed" in again.out
    assert 'sweep.toml:5: job.ring.ranks=12: job "ring" needs 12 hosts' in again.out


FABRICS = ("two-level:leaves=2,hosts=4,spines=2", "two-level:leaves=4,hosts=4,spines=2")
MISFIT = f"""scenario = "scenario.toml"

[over]
fabric = {json.dumps(FABRICS)}
"job.ring.ranks" = [2, 12]
routes = ["ftree"]
"""
"""Twelve ranks and four do not fit the smaller fabric, and fit the larger: one of four runs fails."""


# The folder


def test_a_folder_of_something_else_is_refused(netloom, written):
    sweep = written()
    other = netloom.folder / "other"
    other.mkdir()
    (other / "x").write_text("mine")
    assert "is not empty and has no manifest.json" in netloom.refused("sweep", "run", sweep, "-o", "other")
    netloom.ok("simulate", "scenario.toml", "-o", "run")
    assert "expected what netloom sweep run -o writes" in netloom.refused("sweep", "run", sweep, "-o", "run")
    netloom.ok("sweep", "run", sweep, "-o", "swept")
    written(scenario=SCENARIO.replace("64KiB", "32KiB"))
    assert "swept: is of another scenario" in netloom.refused("sweep", "run", sweep, "-o", "swept")
    written(SWEEP.replace('"messages", ', ""))
    assert "has a sweep that keeps completion_ms, " in netloom.refused("sweep", "run", sweep, "-o", "swept")
    written(SWEEP.replace("seed =", '"hardware.lanes" = [1]\nseed ='))
    assert "has a sweep over seed, routes" in netloom.refused("sweep", "run", sweep, "-o", "swept")
    written()
    manifest = netloom.folder / "swept" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace("random", "rondom"))
    assert "damaged, or altered" in netloom.refused("sweep", "run", sweep, "-o", "swept")
    manifest.write_text(text)
    netloom.ok("sweep", "run", sweep, "-o", "swept")


def test_a_folder_of_another_version_is_refused(netloom, written):
    from netloom.manifest import total_sum

    netloom.ok("sweep", "run", written(), "-o", "swept")
    manifest = netloom.folder / "swept" / "manifest.json"
    said = json.loads(manifest.read_text())
    del said["sha256"]
    said["netloom"] = "0.0.1"
    manifest.write_text(json.dumps({**said, "sha256": total_sum(said)}))
    word = netloom.refused("sweep", "run", "sweep.toml", "-o", "swept")
    assert f"was made by netloom 0.0.1: expected {nl.__version__}" in word


def test_a_folder_is_for_one_sweep_at_a_time(netloom, written):
    from netloom.runs.lock import alone_in

    sweep = written()
    with alone_in(netloom.folder / "swept"):
        assert "is in use by process" in netloom.refused("sweep", "run", sweep, "-o", "swept")


def test_a_part_that_was_altered_is_not_read_and_its_runs_are_run_again(netloom, written):
    netloom.ok("sweep", "run", written(), "-o", "swept")
    folder = netloom.folder / "swept"
    before = (folder / "table.parquet").read_bytes()
    part = parts(folder)[0]
    part.write_bytes(part.read_bytes()[:-20])
    (folder / "parts" / "stray.parquet").write_bytes(b"no part")
    done = netloom("sweep", "run", "sweep.toml", "-o", "swept", "--format", "json")
    assert done.code == 0
    assert f"{part.name}: damaged, or altered: not read" in done.err
    assert json.loads(done.out)["result"]["reused"] < 12
    assert (folder / "table.parquet").read_bytes() == before


def test_the_manifest_has_the_sums_of_what_is_there(netloom, written):
    from netloom.manifest import digest, is_whole

    netloom.ok("sweep", "run", written(), "-o", "swept")
    folder = netloom.folder / "swept"
    said = json.loads((folder / "manifest.json").read_text())
    assert is_whole(said)
    assert said["table"] == digest((folder / "table.parquet").read_bytes())
    assert said["parts"] == {part.name: digest(part.read_bytes()) for part in parts(folder)}


def test_a_sweep_is_drawn_by_group(netloom, written):
    by = SWEEP.replace("[over]", 'by = ["seed", "routing"]\n[over]')
    netloom.ok("sweep", "run", written(by), "-o", "swept")
    drawn = netloom.result("plot", "sweep", "swept", "-o", "x.svg", "--keys", "completion_ms,messages")
    assert drawn["across"] == "seed"
    assert [(row["key"], row["curve"], row["points"]) for row in drawn["curves"]] == [
        (key, routing, 6) for key in ("completion_ms", "messages") for routing in ("random", "adaptive")
    ]
    assert (netloom.folder / "x.svg").read_bytes().rstrip().endswith(b"</svg>")
    words = netloom.refused("plot", "sweep", "swept", "-o", "y.svg", "--keys", "x", code=2)
    assert "expected some of completion_ms, messages, run.messages" in words
    assert "no_such" in netloom.refused("plot", "sweep", "no_such", "-o", "y.svg")
    table = netloom.folder / "swept" / "table.parquet"
    table.write_bytes(table.read_bytes()[:-9])
    assert "damaged, or altered" in netloom.refused("plot", "sweep", "swept", "-o", "y.svg")
    netloom.ok("sweep", "merge", "sweep.toml", "swept")
    netloom.ok("plot", "sweep", "swept", "-o", "z.png", "-q")
    netloom.ok("sweep", "run", "sweep.toml", "-o", "new", "--slurm", "job.sh", "-q")
    assert "has no table.parquet yet" in netloom.refused("plot", "sweep", "new", "-o", "y.svg")


# Kills, signals, limits

LONG = """
scenario = "scenario.toml"
keep = ["completion_ms"]

[over]
seed = "0..299"
routes = ["random", "adaptive"]
"""


def workers_of(leader: int) -> list[int]:
    text = Path(f"/proc/{leader}/task/{leader}/children").read_text()
    for task in Path(f"/proc/{leader}/task").iterdir():
        with contextlib.suppress(OSError):
            text += " " + (task / "children").read_text()
    return sorted({int(word) for word in text.split()})


def ended_run(netloom, *words: str, kill: str, rng: random.Random) -> None:
    """Begins a sweep, and kills its leader or a worker when some more parts are there."""
    folder = netloom.folder / "swept"
    child = subprocess.Popen(
        [*netloom.command, *words], cwd=netloom.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    more = len(parts(folder)) + rng.randint(1, 4)
    while child.poll() is None and len(parts(folder)) < more:
        time.sleep(0.002)
    time.sleep(rng.random() * 0.05)
    if kill == "leader":
        children = workers_of(child.pid)
        child.kill()
        child.wait()
        for pid in children:
            # Workers die with it.
            while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
                time.sleep(0.002)
        return
    with contextlib.suppress(OSError):
        os.kill(rng.choice(workers_of(child.pid)), signal.SIGKILL)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 0, err


def test_a_sweep_that_is_killed_goes_on(netloom, written):
    """SIGKILL to the leader or a worker, at random moments: the undisturbed table, little run twice."""
    sweep = written(LONG)
    netloom.ok("sweep", "run", sweep, "-o", "undisturbed", "--workers", "2")
    folder = netloom.folder / "swept"
    seed = int(os.environ.get("NETLOOM_SEED", "1"))
    for number in range(KILLS):
        rng = random.Random(seed * 1000 + number)
        kill = rng.choice(["leader", "worker"])
        words = ("sweep", "run", sweep, "-o", "swept", "--workers", "2")
        ended_run(netloom, *words, kill=kill, rng=rng)
        for part in parts(folder):
            pq.read_table(part)
        if kill == "leader" and number % 3 < 2:
            continue  # The next one goes on from there.
        netloom.ok(*words)
        tables = [(netloom.folder / name / "table.parquet").read_bytes() for name in ("swept", "undisturbed")]
        assert tables[0] == tables[1], f"seed {seed}, kill {number} ({kill})"
        # No row is written twice: what was under way is all that is run again.
        rows = [key for part in parts(folder) for key in pq.read_table(part)["run"].to_pylist()]
        assert len(rows) == 2 * 600
        subprocess.run(["rm", "-r", folder], check=True)


def test_a_run_that_no_worker_survives_is_a_row_and_is_run_again(netloom, written, monkeypatch):
    """Three workers are spent on it; the runs beside it are done."""
    from concurrent.futures import Future

    from netloom.sweeps import engine
    from netloom.sweeps.pool import WorkerLost
    from netloom.sweeps.store import Store

    written()
    monkeypatch.chdir(netloom.folder)
    prepared = prepare(Path("sweep.toml").read_text(), Path("sweep.toml"))
    spent = []

    class Fragile:
        deadly = True

        def submit(self, function, plan, runs):
            future: Future = Future()
            if self.deadly and any(run["seed"] == 3 and run["routes"] == "random" for run in runs):
                spent.append(len(runs))
                future.set_exception(WorkerLost("its worker was ended by SIGKILL"))
            else:
                future.set_result(function(plan, runs))
            return future

    store = Store(Path("swept"), prepared.spec, prepared.about)
    store.prepare()
    outcome = engine.run(prepared, store, Fragile(), 1)
    assert (outcome.done, outcome.failed) == (12, 1)
    assert spent[-3:] == [1, 1, 1]
    rows = store.merge(prepared.keys).to_pylist()
    (lost,) = [row for row in rows if row["error"] is not None]
    assert (lost["seed"], lost["routing"]) == (3, "random")
    assert lost["error"] == "its worker was ended by SIGKILL (3 times)"
    Fragile.deadly = False
    outcome = engine.run(prepared, store, Fragile(), 1)
    assert (outcome.reused, outcome.failed) == (11, 0)
    assert all(row["error"] is None for row in store.merge(prepared.keys).to_pylist())


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_sweep_and_what_is_done_is_kept(netloom, written, by):
    sweep = written(LONG.replace("299", "9999"))
    words = [*netloom.command, "sweep", "run", sweep, "-o", "swept", "--workers", "2", "--format", "json"]
    child = subprocess.Popen(words, cwd=netloom.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    folder = netloom.folder / "swept"
    while child.poll() is None and len(parts(folder)) < 3:
        time.sleep(0.01)
    child.send_signal(by)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert b"netloom: interrupted" in err
    if out:
        result = json.loads(out)["result"]
        assert result["stopped"] == "interrupted"
        assert 0 < result["done"] < 20000
    assert parts(folder)
    assert not [path for path in folder.rglob("*") if path.name.startswith(".netloom")]


def test_a_time_limit_ends_a_sweep_and_it_goes_on_later(netloom, written):
    words = ("sweep", "run", written(LONG.replace("299", "19999")), "-o", "swept", "--time-limit")
    # A busy machine may not come to a first run in so short a time.
    limit = next(limit for limit in (4, 8, 16, 32) if netloom(*words, limit).code != 124)
    result = netloom.result(*words, limit, code=1)
    assert result["stopped"] == "time-limit"
    assert result["done"] < result["runs"] == 40_000
    assert len(table(netloom.folder / "swept")) == 2 * result["done"]
    again = netloom(*words, "0")
    assert again.code == 1
    done = f"{result['done']:,}"
    assert f"{done} of 40,000 done, {done} of them before (time-limit: the same command goes on)" in again.out
    assert f"netloom: warning: the table has {done} of 40,000 runs" in again.err


def test_a_worker_imports_nothing_from_the_folder_that_it_is_in(netloom, written):
    (netloom.folder / "netloom").mkdir()
    (netloom.folder / "netloom" / "__init__.py").write_text("raise SystemExit('evil')")
    (netloom.folder / "json.py").write_text("raise SystemExit('evil')")
    assert netloom.result("sweep", "run", written(), "-o", "swept")["failed"] == 0
