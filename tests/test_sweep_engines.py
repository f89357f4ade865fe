"""Sweeps by every engine give the same bytes: a local pool, Dask, job arrays of a real Slurm.

`NETLOOM_RUNS=100000 NETLOOM_KILLS=20` for a campaign of kills on a cluster.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import slurm_cluster
import sweep_bed
from netloom.errors import LiveError

KILLS = int(os.environ.get("NETLOOM_KILLS", "1"))
RUNS = int(os.environ.get("NETLOOM_RUNS", "600"))

SCENARIO = """
fabric = "two-level:leaves=2,hosts=4,spines=2"
routes = ["ftree"]

[[job]]
program = { kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }
"""
SWEEP = """
scenario = "scenario.toml"
keep = ["completion_ms", "message_latency_us.p99"]

[over]
fabric = ["two-level:leaves=2,hosts=4,spines=2", "two-level:leaves=4,hosts=4,spines=2"]
"job.job1.ranks" = [8, 16, 12]
seed = "0..9"
routes = ["random", "adaptive"]
"""
"""A third of the runs fail, those that do not fit the smaller fabric: their errors are the same bytes too."""


@pytest.fixture
def sweep(netloom) -> str:
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(SWEEP)
    return "sweep.toml"


@pytest.fixture
def local(netloom, sweep) -> bytes:
    result = netloom.result("sweep", "run", sweep, "-o", "local", "--workers", "2", code=1)
    assert (result["done"], result["failed"]) == (120, 40)
    return table(netloom.folder / "local")


def table(folder: Path) -> bytes:
    return (folder / "table.parquet").read_bytes()


# Dask


def test_dask_gives_the_same_bytes(netloom, sweep, local):
    pytest.importorskip("distributed")
    with sweep_bed.dask(netloom.folder) as (address, *_):
        result = netloom.result("sweep", "run", sweep, "-o", "swept", "--dask", address, code=1)
    assert (result["engine"], result["done"], result["failed"]) == ("dask", 120, 40)
    assert table(netloom.folder / "swept") == local


def test_a_scheduler_that_goes_away_leaves_what_is_done(netloom, sweep):
    (netloom.folder / sweep).write_text(SWEEP.replace("0..9", "0..4999").replace("[8, 16, 12]", "[8]"))
    parts = netloom.folder / "swept" / "parts"
    pytest.importorskip("distributed")
    with sweep_bed.dask(netloom.folder) as (address, _, _, scheduler):
        child = subprocess.Popen(
            [*netloom.command, "sweep", "run", sweep, "-o", "swept", "--dask", address],
            cwd=netloom.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while child.poll() is None and (not parts.is_dir() or len(list(parts.iterdir())) < 2):
            time.sleep(0.02)
        scheduler.kill()
        out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (3, "")
    assert len(err.splitlines()) == 1, err
    assert address in err
    assert "what is done is kept" in err
    again = netloom.result("sweep", "run", sweep, "-o", "swept", "--time-limit", "1", code=1)
    assert again["reused"] > 0


def test_no_scheduler_is_told(netloom, sweep):
    pytest.importorskip("distributed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # And does not listen.
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        done = netloom("sweep", "run", sweep, "-o", "swept", "--dask", address)
    assert done.code == 3
    assert f"--dask {address}: no scheduler answers" in done.err
    assert len(done.err.splitlines()) == 1, done.err
    assert (
        "--dask nonsense://x: no scheduler answers"
        in netloom("sweep", "run", sweep, "-o", "swept", "--dask", "nonsense://x").err
    )


def test_dask_that_is_not_installed_is_told(monkeypatch):
    import sys

    from netloom.sweeps import dask_client

    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(LiveError, match=r"pip install 'netloom-hpc\[dask\]'"),
        dask_client.connected("tcp://x:1"),
    ):
        pass


# Slurm


def test_parts_that_are_run_one_by_one_give_the_same_bytes(netloom, sweep, local):
    said = netloom.result("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "--workers", "3")
    assert (said["engine"], said["workers"], said["table"], said["script"]) == ("slurm", 3, None, "job.sh")
    assert "#SBATCH --array=0-2\n" in (netloom.folder / "job.sh").read_text()
    runs = [netloom.result("sweep", "part", sweep, "swept", number, 3, code=1)["runs"] for number in range(2)]
    assert runs == [40, 40]
    partly = netloom.result("sweep", "merge", sweep, "swept", code=1)
    assert (partly["done"], partly["runs"], partly["stopped"]) == (80, 120, "incomplete")
    netloom.ok("sweep", "part", sweep, "swept", 2, 3, code=1)
    whole = netloom.result("sweep", "merge", sweep, "swept", code=1)
    assert (whole["done"], whole["engine"], whole["stopped"]) == (120, "merge", None)
    assert table(netloom.folder / "swept") == local
    assert netloom.result("sweep", "part", sweep, "swept", 0, 3, code=1)["reused"] == 40


def parts_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder / "parts")) for path in (folder / "parts").rglob("*.parquet"))


def test_a_task_has_a_folder_of_its_own_reads_no_other_and_leaves_one_part(netloom, sweep, local):
    """What other tasks wrote costs it nothing: it does not even see that a part of theirs is damaged."""
    netloom.ok("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "--workers", "3", "-q")
    for number in (0, 1):
        netloom.ok("sweep", "part", sweep, "swept", number, 3, code=1)
    swept = netloom.folder / "swept"
    assert [name.partition("/")[0] for name in parts_of(swept)] == ["task-0-of-3", "task-1-of-3"]
    damaged = swept / "parts" / parts_of(swept)[0]
    damaged.write_bytes(damaged.read_bytes()[:-20])
    assert netloom("sweep", "part", sweep, "swept", "1", "3").err == ""
    done = netloom("sweep", "merge", sweep, "swept")
    assert f"task-0-of-3/{damaged.name}: damaged, or altered: not read" in done.err
    assert "40 of 120 done" in done.out
    # Its own it sees, and runs what was in it again; so it does what the table of all has already.
    again = netloom("sweep", "part", sweep, "swept", "0", "3")
    assert "damaged, or altered" in again.err
    assert netloom.result("sweep", "part", sweep, "swept", 1, 3, code=1)["reused"] == 40
    netloom.ok("sweep", "part", sweep, "swept", 2, 3, code=1)
    damaged.unlink()
    netloom.ok("sweep", "merge", sweep, "swept", code=1)
    assert table(swept) == local
    assert "/" not in "".join(parts_of(swept)), "merge joins what tasks wrote"


def test_hostile_links_among_the_tasks_folders_are_not_followed(netloom, sweep, tmp_path):
    netloom.ok("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "--workers", "2", "-q")
    (tmp_path / "elsewhere").mkdir()
    (netloom.folder / "swept" / "parts" / "task-0-of-2").symlink_to(tmp_path / "elsewhere")
    assert "is a link: expected a folder" in netloom.refused("sweep", "part", sweep, "swept", "0", "2")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert "0 of 120 done" in netloom.ok("sweep", "merge", sweep, "swept", code=1)


def test_who_reads_while_others_join_has_all_runs(netloom, sweep, monkeypatch):
    from netloom.sweeps import store
    from netloom.sweeps.preparation import prepare

    monkeypatch.chdir(netloom.folder)
    prepared = prepare(Path(sweep).read_text(), Path(sweep))
    folder = store.Store(Path("swept"), prepared.spec, prepared.about)
    folder.prepare()
    for number, key in enumerate(prepared.keys):
        row = ["job1", 1, None, 0.5, 0.5]
        one = (key, prepared.spec.values(number), {"rows": [row], "error": None, "seconds": 0.1})
        task = store.Store(folder.path, prepared.spec, prepared.about, (number % 2, 2))
        task.write_part([one])
    reading = folder.parts()
    seen = {row for _, found in (next(reading), next(reading)) for row in found["run"].to_pylist()}
    store.Store(folder.path, prepared.spec, prepared.about).join()
    seen |= {row for _, found in reading for row in found["run"].to_pylist()}
    assert seen == set(prepared.keys)


def test_an_incomplete_table_says_how_much_is_there(netloom, sweep):
    """All runs that are there are well: that others are missing is reason enough not to exit 0."""
    (netloom.folder / sweep).write_text(SWEEP.replace("[8, 16, 12]", "[8]"))
    netloom.ok("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "--workers", "2", "-q")
    netloom.ok("sweep", "part", sweep, "swept", 0, 2)
    done = netloom("sweep", "merge", sweep, "swept")
    assert done.code == 1
    assert "20 of 40 done (incomplete: 20 are missing)" in done.out
    assert "netloom: warning: the table has 20 of 40 runs" in done.err
    netloom.ok("sweep", "part", sweep, "swept", 1, 2)
    netloom.ok("sweep", "merge", sweep, "swept")


def test_wrong_parts_are_refused(netloom, sweep):
    netloom.ok("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "-q")
    assert "expected a number from 0 to 2" in netloom.refused(
        "sweep", "part", sweep, "swept", "3", "3", code=2
    )
    netloom.refused("sweep", "part", sweep, "swept", "-1", "3", code=2)
    netloom.refused("sweep", "run", sweep, "-o", "x", "--slurm", "a.sh", "--dask", "tcp://x:1", code=2)
    assert "there is no folder" in netloom.refused("sweep", "run", sweep, "-o", "x", "--slurm", "no/a.sh")
    assert "nowhere" in netloom.refused("sweep", "merge", sweep, "nowhere")
    (netloom.folder / "empty").mkdir()
    assert "is empty" in netloom.refused("sweep", "merge", sweep, "empty")
    (netloom.folder / "scenario.toml").write_text(SCENARIO.replace("64KiB", "32KiB"))
    assert "is of another scenario" in netloom.refused("sweep", "part", sweep, "swept", "0", "3")
    (netloom.folder / "scenario.toml").unlink()
    assert "scenario.toml" in netloom.refused("sweep", "merge", sweep, "swept")


def test_a_folder_s_name_is_no_shell(netloom, sweep):
    folder = "swept; touch evil\n#SBATCH --uid=0 'x"
    netloom.ok("sweep", "run", sweep, "-o", folder, "--slurm", "job.sh", "--workers", "2", "-q")
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "0"}
    done = subprocess.run(["sh", "job.sh"], cwd=netloom.folder, env=environment, check=False)
    assert done.returncode == 1  # Some of the runs fail.
    assert list((netloom.folder / folder / "parts").iterdir())
    assert not (netloom.folder / "evil").exists()


@pytest.mark.skipif(bool(slurm_cluster.missing_tools(jobs=True)), reason="Slurm and munge are not installed")
def test_a_job_array_of_slurm_gives_the_same_bytes(netloom, sweep, local):
    netloom.ok("sweep", "run", sweep, "-o", "swept", "--slurm", "job.sh", "--workers", "4", "-q")
    with slurm_cluster.cluster(jobs=True) as cluster:
        log = netloom.folder / "slurm-%a.out"
        cluster.run(
            *("sbatch", "--chdir", netloom.folder, "--output", log, netloom.folder / "job.sh"),
        )
        logs = [netloom.folder / f"slurm-{task}.out" for task in range(4)]
        cluster.until(lambda: all(log.is_file() and "done" in log.read_text() for log in logs))
    netloom.ok("sweep", "merge", sweep, "swept", code=1)
    assert table(netloom.folder / "swept") == local


FLUID = SCENARIO.replace('routes = ["ftree"]', 'routes = ["ftree"]\nmodel = "fluid"')
MANY = f"""
scenario = "scenario.toml"
keep = ["completion_ms", "message_latency_us.p99"]
over = {{ seed = "0..{RUNS // 2 - 1}", routes = ["ftree", "adaptive"] }}
"""


@pytest.mark.parametrize("engine", ["slurm", "dask"])
def test_hostile_kills_on_a_cluster_change_nothing(netloom, engine):
    """Two slurmd, or two workers of Dask; leaders and workers are killed, and begun again."""
    if engine == "slurm" and slurm_cluster.missing_tools(jobs=True):
        pytest.skip("Slurm and munge are not installed")
    if engine == "dask":
        pytest.importorskip("distributed")
    (netloom.folder / "scenario.toml").write_text(FLUID)
    (netloom.folder / "many.toml").write_text(MANY)
    # Not by `netloom`, which waits two minutes at most.
    words = ("sweep", "run", "many.toml", "-o", "local", "-q")
    subprocess.run([*netloom.command, *words], cwd=netloom.folder, check=True)
    if engine == "slurm":
        killed = sweep_bed.on_slurm(netloom.command, netloom.folder, "many.toml", 4, KILLS, seed=1)
    else:
        killed = sweep_bed.on_dask(netloom.command, netloom.folder, "many.toml", KILLS, seed=1)
    # A small sweep may be done before its turn comes.
    assert killed == KILLS or RUNS < 10_000
    assert table(netloom.folder / "swept") == table(netloom.folder / "local")


# Anything else that is an executor


def test_an_executor_of_python_gives_the_same_bytes(netloom, sweep, local, monkeypatch):
    import netloom as nl

    monkeypatch.chdir(netloom.folder)
    heard = []
    with ThreadPoolExecutor(2) as pool:
        done = nl.sweep(sweep, "swept", executor=pool, progress=lambda *told: heard.append(told))
    assert (done.runs, done.done, done.failed) == (120, 120, 40)
    assert heard[-1][:2] == (120, 120)
    assert table(netloom.folder / "swept") == local
    assert done.table.num_rows == 120
    assert nl.sweep(sweep, "swept").reused == 120


def test_many_small_parts_are_joined(netloom, sweep, local, monkeypatch):
    import netloom as nl
    from netloom.sweeps import engine, store

    def parts(folder: Path) -> list[Path]:
        return sorted((folder / "parts").glob("*.parquet"))

    monkeypatch.chdir(netloom.folder)
    monkeypatch.setattr(engine, "_BATCH_SECONDS", 0.0)  # A part a run.
    many = netloom.folder / "many"
    with ThreadPoolExecutor(1) as pool:
        nl.sweep(sweep, many, executor=pool)
        assert len(parts(many)) == 120
        monkeypatch.setattr(store, "MOST_PARTS", 4)
        nl.sweep(sweep, many, executor=pool)
    assert len(parts(many)) == 1
    assert table(many) == local
    # Killed between the two steps, runs are in two parts.
    part = parts(netloom.folder / "local")[0]
    (many / "parts" / part.name).write_bytes(part.read_bytes())
    (many / "table.parquet").unlink()
    netloom.ok("sweep", "run", sweep, "-o", "many", code=1)
    assert table(many) == local
    # And joined then, a run is there once.
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(store, "MOST_PARTS", 1)
        nl.sweep(sweep, many, executor=pool)
    assert len(parts(many)) == 1
    assert table(many) == local
