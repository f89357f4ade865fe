"""A sweep's folder that others write to: what it says leads nowhere, and no file's content gets into it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from netloom import __version__ as netloom_version
from netloom.manifest import total_sum
from netloom.sweeps import work

SECRET = "hunter2-of-the-ministry"
SCENARIO = """
fabric = "two-level:leaves=2,hosts=4,spines=2"
routes = ["ftree"]

[[job]]
program = { kind = "stream", pattern = "bisection", messages = 2, bytes = "64KiB" }
"""
SWEEP = """
scenario = "scenario.toml"
over = { seed = "0..3" }
"""


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Files that must not be told of: a secret, a scenario that names it, and jobs that hold it."""
    folder = tmp_path / "private"
    folder.mkdir()
    (folder / "secret").write_text(f"{SECRET}: a line\n")
    (folder / "jobs.toml").write_text(f'[[job]]\nname = "a"\nhosts = "{SECRET}[0-3]"\n')
    (folder / "scenario.toml").write_text(SCENARIO.replace("two-level:leaves=2,hosts=4,spines=2", "secret"))
    (folder / "sweep.toml").write_text(f'{SWEEP}# {SECRET}\nhunter = "{SECRET}"\n')
    return folder


@pytest.fixture
def task(netloom) -> list[str]:
    """What a task of the array runs, from the job script."""
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(SWEEP)
    netloom.ok("sweep", "run", "sweep.toml", "-o", "swept", "--slurm", "job.sh", "--workers", "2", "-q")
    (line,) = [x for x in (netloom.folder / "job.sh").read_text().splitlines() if x.startswith("exec ")]
    return shlex.split(line.replace('"$SLURM_ARRAY_TASK_ID"', "0"))[2:]


def sealed(folder: Path, document: dict[str, Any]) -> None:
    """A manifest with its own sum, as anybody can compute it."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    (folder / "manifest.json").write_text(json.dumps({**document, "sha256": total_sum(document)}))


def over(key: str, value: str) -> Callable[[Path], dict[str, Any]]:
    """A sweep that varies a key of the scenario, with a private path as its value."""

    def forged(private: Path) -> dict[str, Any]:
        told = value.replace("PRIVATE", str(private))
        text = f'scenario = "scenario.toml"\n[over]\nseed = "0..3"\n"{key}" = [{told}]\n'
        return {"sweep": {"text": text}, "varied": ["seed", key, "routes"]}

    return forged


def at(path: str, text: str = SWEEP) -> Callable[[Path], dict[str, Any]]:
    """A sweep that is said to be somewhere else."""

    def forged(private: Path) -> dict[str, Any]:
        told = {"path": path, "text": text}
        return {"sweep": {key: value.replace("PRIVATE", str(private)) for key, value in told.items()}}

    return forged


ELSEWHERE = 'over = { seed = "0..3" }\n'
FORGERIES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "a fabric": over("fabric", '"PRIVATE/secret"'),
    "a fabric beside": over("fabric", '"../private/secret"'),
    "a plane of a fabric": over("fabric", '"PRIVATE/secret#1"'),
    "routes": over("routes", '"lfts:PRIVATE/secret"'),
    "routes by name": over("routes", '"PRIVATE/secret"'),
    "jobs": over("jobs", '"PRIVATE/jobs.toml"'),
    "a trace": over("job.job1.program", '{ kind = "trace", file = "PRIVATE/secret" }'),
    "a schedule": over("job.job1.program.file", '"PRIVATE/secret"'),
    "hosts of a job": over("job.job1.hosts", '"PRIVATE/secret"'),
    "a mapping": over("job.job1.mapping", '"PRIVATE/secret"'),
    "lanes": over("hardware.sl2vl", '"PRIVATE/secret"'),
    "delays": over("hardware.cables", '"PRIVATE/secret"'),
    "a traffic": over("job.job1.program.pattern", '"PRIVATE/secret"'),
    "another folder": at("PRIVATE/sweep.toml"),
    "another sweep": at("PRIVATE/other.toml", 'scenario = "secret"\n' + ELSEWHERE),
    "a scenario elsewhere": at("/nowhere.toml", 'scenario = "PRIVATE/scenario.toml"\n' + ELSEWHERE),
    "the secret as a scenario": at("/nowhere.toml", 'scenario = "PRIVATE/secret"\n' + ELSEWHERE),
    "more runs": at("PRIVATE/sweep.toml", SWEEP.replace("0..3", "0..99")),
    "no texts": lambda private: {"varied": [{"a": str(private)}], "keep": [[1], None]},
    "a scenario's sum": lambda private: {"scenario": "0" * 64, "netloom": {"version": [str(private)]}},
}


def everything(folder: Path) -> bytes:
    """All bytes of a folder, and all texts of its tables."""
    found = b""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found += path.read_bytes()
        if path.suffix == ".parquet":
            found += json.dumps(pq.read_table(path).to_pylist()).encode()
    return found


@pytest.mark.parametrize("forgery", FORGERIES)
def test_hostile_manifests_are_refused_and_lead_nowhere(netloom, private, task, forgery):
    swept = netloom.folder / "swept"
    said = json.loads((swept / "manifest.json").read_text())
    forged = FORGERIES[forgery](private)
    sweep = said["sweep"] | forged.get("sweep", {})
    sealed(swept, said | forged | {"sweep": sweep})
    done = netloom(*task)
    # A path alone is no reason to stop: it is not looked at.
    same = sweep["text"] == SWEEP and set(forged) == {"sweep"}
    assert done.code == (0 if same else 3), done.err
    assert SECRET not in done.out + done.err
    assert same or not list((swept / "parts").iterdir())
    (swept / "manifest.json").unlink()
    assert SECRET.encode() not in everything(swept)


def test_twenty_manifests_are_tried():
    assert len(FORGERIES) == 20


def test_a_task_runs_what_its_script_was_written_for(netloom, task):
    assert "done" in netloom.ok(*task)
    assert re.fullmatch(r"[0-9a-f]{32}-[0-9a-f]{32}", task[task.index("--sum") + 1])


@pytest.mark.parametrize("what", ["sweep.toml", "scenario.toml"])
def test_hostile_changes_of_a_sweep_after_its_script_was_written_are_refused(netloom, private, task, what):
    for content in ((private / "secret").read_text(), (private / what).read_text()):
        (netloom.folder / what).unlink()
        (netloom.folder / what).write_text(content)
        word = netloom.refused(*task)
        assert "has changed since the job script was written" in word
        assert SECRET not in word
        assert SECRET.encode() not in everything(netloom.folder / "swept")


def test_hostile_links_under_a_named_file_s_name_are_not_told_of(netloom, private):
    (netloom.folder / "scenario.toml").write_text(
        SCENARIO.replace('"two-level:leaves=2,hosts=4,spines=2"', '"net.txt"')
    )
    (netloom.folder / "sweep.toml").write_text(SWEEP)
    netloom.ok("fabric", "convert", "two-level:leaves=2,hosts=4,spines=2", "-o", "net.txt")
    netloom.ok("sweep", "run", "sweep.toml", "-o", "swept", "--slurm", "job.sh", "--workers", "2", "-q")
    (line,) = [x for x in (netloom.folder / "job.sh").read_text().splitlines() if x.startswith("exec ")]
    task = shlex.split(line.replace('"$SLURM_ARRAY_TASK_ID"', "0"))[2:]
    (netloom.folder / "net.txt").unlink()
    (netloom.folder / "net.txt").symlink_to(private / "secret")
    word = netloom.refused(*task)
    assert "has changed since the job script was written" in word
    assert SECRET not in word
    assert SECRET.encode() not in everything(netloom.folder / "swept")


def test_a_row_says_what_kind_of_error_a_file_made_and_not_what_it_holds(netloom, private):
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "net.txt").symlink_to(private / "secret")
    fabrics = 'fabric = ["two-level:leaves=2,hosts=4,spines=2", "net.txt"]'
    (netloom.folder / "sweep.toml").write_text(SWEEP.replace('seed = "0..3"', fabrics))
    # Who types the command is told, as `netloom simulate` tells it; nothing is written.
    assert "sweep.toml:3: fabric=" in netloom.refused("sweep", "run", "sweep.toml", "-o", "swept")
    # A worker finds it where the file was another one before.
    plan = {"text": SCENARIO, "label": "scenario.toml", "folder": str(netloom.folder), "keep": ["messages"]}
    run = {"seed": 1, "fabric": "net.txt", "routes": "ftree"}
    (failed,) = work.run_batch({"netloom": netloom_version, **plan}, [run])["runs"]
    assert "it is not told here (FormatError, net.txt:1)" in failed["error"]
    assert SECRET not in json.dumps(failed)


def test_an_error_that_no_file_is_behind_is_told_whole(netloom):
    fits = '["two-level:leaves=2,hosts=4,spines=2", "two-level:leaves=64,hosts=64,spines=1"]'
    (netloom.folder / "scenario.toml").write_text(SCENARIO)
    (netloom.folder / "sweep.toml").write_text(
        SWEEP.replace('seed = "0..3"', f'"job.job1.ranks" = [4000, 8], fabric = {fits}')
    )
    netloom.ok("sweep", "run", "sweep.toml", "-o", "swept", code=1)
    rows = pq.read_table(netloom.folder / "swept" / "table.parquet").to_pylist()
    (failed,) = [row["error"] for row in rows if row["error"] is not None]
    assert failed.startswith('job.job1.ranks=4000: job "job1" needs 4000 hosts')


def test_links_of_others_are_refused_where_a_sweep_reads(tmp_path):
    from netloom import reading

    (tmp_path / "file").write_text("mine")
    (tmp_path / "inner").mkdir()
    (tmp_path / "mine").symlink_to("file")
    (tmp_path / "far").symlink_to(tmp_path / "inner")
    for path in ("mine", "far/../file", "no/such/file", "inner/./../mine"):
        reading.refuse_links_of_others(tmp_path / path)
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="symbolic links"):
        reading.refuse_links_of_others(tmp_path / "round")
    if os.geteuid() != 0:
        pytest.skip("another user's link needs root")
    (tmp_path / "theirs").symlink_to("inner")
    (tmp_path / "ours").symlink_to("theirs")
    os.chown(tmp_path / "theirs", 65534, 65534, follow_symlinks=False)
    # Also where `..` goes back behind it: that is the target's parent.
    for path in ("theirs/file", "theirs", "theirs/../file", "ours/file"):
        with pytest.raises(OSError, match="is a link of another user") as caught:
            reading.refuse_links_of_others(f"{tmp_path}/{path}")
        assert caught.value.filename == str(tmp_path / "theirs")
