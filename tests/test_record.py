"""`netloom record` on real MPI programs: pairs and messages equal what Open MPI's own monitoring counts.

Skipped by name where MPI is not installed.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from mpi_bed import (
    ENVIRONMENT,
    MPICH,
    OPEN_MPI,
    PROGRAMS,
    counted,
    monitored,
    need,
    program,
    python_of,
)
from netloom.recording import unreported

MPIS = [pytest.param(OPEN_MPI, 6, id="openmpi"), pytest.param(MPICH, 4, id="mpich")]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def matrix(path: str | Path) -> dict[tuple[int, int], int]:
    """The entries of a Matrix Market file, from 0."""
    lines = gzip.decompress(Path(path).read_bytes()).decode().splitlines()
    rows = [line.split() for line in lines if not line.startswith("%")][1:]
    return {(int(row) - 1, int(column) - 1): int(value) for row, column, value in rows}


@pytest.fixture
def recorded(netloom, validate):
    """Records a command; returns its validated result, and bytes and messages by pair from its files."""

    def run(*command, name="run", code=0, **options):
        words = ["record", "--matrix", "-o", name, "--format", "json", "--", *command]
        document = json.loads(netloom.ok(*words, code=code, **options))
        validate(document)
        files = document["result"]["files"]
        sizes, times = (matrix(netloom.folder / files[what]) for what in ("matrix", "messages"))
        return document["result"], {pair: (sizes.get(pair, 0), times[pair]) for pair in times}

    return run


def test_a_halo_of_nonblocking_messages_is_what_monitoring_counts(netloom, recorded, tmp_path):
    need(OPEN_MPI)
    halo = program(OPEN_MPI, "halo")
    result, pairs = recorded(*OPEN_MPI.command(6, halo))
    assert pairs == monitored(tmp_path / "m", halo, ranks=6)
    # By hand, of rank 0's messages to its right: 20 of 100 + step doubles, 20 empty ones.
    assert pairs[0, 1] == (sum(8 * (100 + step) for step in range(20)), 40)
    # Two columns of 100 doubles each: holes are not sent.
    assert pairs[0, 2] == (20 * 2 * 100 * 8, 20)
    assert (result["ranks"], result["pairs"], result["abi"]) == (6, 18, "open-mpi")
    assert result["messages"] == 6 * 20 * 4
    assert result["bytes"]["point_to_point"] == sum(size for size, _ in pairs.values())
    assert result["by_kind"]["nonblocking"]["calls"] == 480
    assert {call["name"] for call in result["calls"]} == {"MPI_Isend", "MPI_Issend"}
    assert result["lost_ranks"] == []
    assert result["hosts"] == [{"name": os.uname().nodename, "ranks": 6}]
    assert 0 < result["ns_per_call"] < 1000


def test_persistent_requests_are_the_messages_that_they_start(netloom, recorded, tmp_path):
    need(OPEN_MPI)
    # Monitoring does not see persistent requests: it counts the same program without them.
    result, pairs = recorded(*OPEN_MPI.command(5, program(OPEN_MPI, "ring")))
    plain = program(OPEN_MPI, "ring", "-DPLAIN")
    assert pairs == monitored(tmp_path / "m", plain, ranks=5)
    # Four lengths, eight starts to the right and one to the left.
    assert result["by_kind"]["persistent"]["calls"] == 5 * 4 * 9
    assert pairs == recorded(*OPEN_MPI.command(5, plain), name="plain")[1]


def test_sendrecv_wildcards_and_nobody_as_peer(netloom, recorded, tmp_path):
    need(OPEN_MPI)
    wildcard = program(OPEN_MPI, "wildcard")
    result, pairs = recorded(*OPEN_MPI.command(4, wildcard))
    assert pairs == monitored(tmp_path / "m", wildcard, ranks=4)
    # Sends to MPI_PROC_NULL are none: the chain has three links.
    assert result["by_kind"]["sendrecv"] == {
        "calls": 60,
        "bytes": 3 * sum(400 * step for step in range(1, 11)) + 30 * 28,
    }
    assert pairs[2, 2] == (44, 1)


def test_communicators_are_seen_as_ranks_of_the_world(netloom, recorded, tmp_path):
    need(OPEN_MPI)
    groups = program(OPEN_MPI, "groups")
    result, pairs = recorded(*OPEN_MPI.command(6, groups))
    told = counted(tmp_path / "m", 6, groups)
    # What the leaders say while the intercommunicator is made; they send each other nothing else.
    assert told["E"].pop((0, 5))[1] == told["E"].pop((5, 0))[1] == 3
    # Puts go this way, gets come from there.
    for rank in range(6):
        size, times = told["E"].get((rank, (rank + 1) % 6), (0, 0))
        put = told["S"][rank, (rank + 1) % 6]
        assert put == (96, 1)
        told["E"][rank, (rank + 1) % 6] = size + 96, times + 1
        size, times = told["E"].get(((rank + 2) % 6, rank), (0, 0))
        assert told["R"][rank, (rank + 2) % 6] == (40, 1)
        told["E"][(rank + 2) % 6, rank] = size + 40, times + 1
    assert pairs == told["E"]
    assert result["bytes"]["one_sided"] == 6 * (96 + 40)


def test_collectives_are_counted_as_asked(netloom, recorded):
    need(OPEN_MPI)
    result, _ = recorded(*OPEN_MPI.command(6, program(OPEN_MPI, "groups")))
    calls = {call["name"]: (call["calls"], call["bytes"]) for call in result["calls"]}
    assert calls["MPI_Allreduce"] == (6, 6 * 8 * 8)
    assert calls["MPI_Allgather"] == (6, 6 * 3 * 8)
    assert calls["MPI_Alltoall"] == (6, 6 * 6 * 2 * 8)  # in place: what is received is what is sent
    assert calls["MPI_Gather"] == (6, 6 * 4 * 8)
    assert calls["MPI_Bcast"] == (6, 50 * 8)  # of the intercommunicator, by its root
    assert calls["MPI_Ibcast"] == (6, 1000 * 4)
    assert calls["MPI_Barrier"] == (6, 0)
    assert result["bytes"]["collective"] == 384 + 144 + 576 + 192 + 400 + 4000
    kinds = {found["kind"] for found in result["findings"]}
    assert kinds == {"collectives-as-asked", "one-host"}


@pytest.mark.parametrize("name", ["halo", "ring", "wildcard", "groups"])
def test_both_mpis_give_the_same_matrices(netloom, recorded, name):
    need(OPEN_MPI)
    need(MPICH)
    one, pairs = recorded(*OPEN_MPI.command(4, program(OPEN_MPI, name)), name="open-mpi")
    other, others = recorded(*MPICH.command(4, program(MPICH, name)), name="mpich")
    assert pairs == others
    assert one["calls"] == other["calls"]
    assert (one["abi"], other["abi"]) == ("open-mpi", "mpich")


@pytest.mark.parametrize(("mpi", "ranks"), MPIS)
def test_threads_lose_nothing(netloom, recorded, mpi, ranks):
    need(mpi)
    result, _ = recorded(*mpi.command(min(ranks, 4), program(mpi, "threads")))
    # Three times four threads, fifty messages of 1, 2, 3, 4 bytes each.
    assert result["messages"] == 4 * 3 * 4 * 50
    assert result["bytes"]["point_to_point"] == 4 * 3 * 50 * (1 + 2 + 3 + 4)


@pytest.mark.parametrize(("mpi", "ranks"), MPIS)
def test_python_programs_are_recorded(recorded, tmp_path, mpi, ranks):
    need(mpi)
    python, env = python_of(mpi)
    command = [*python, PROGRAMS / "program.py"]
    result, pairs = recorded(*mpi.command(4, *command), env=env)
    # Ten Sendrecv of 1000 doubles to the right; a pickled object beside them.
    assert pairs[1, 2][1] == 11
    assert 10 * 8000 < pairs[1, 2][0] < 10 * 8000 + 100
    assert result["by_kind"]["collective"]["calls"] == 12
    if mpi is OPEN_MPI:
        assert pairs == monitored(tmp_path / "m", *command, ranks=4)


LAMMPS = """
units lj
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
run 20
"""


def test_lammps_is_what_monitoring_counts(netloom, recorded, tmp_path, write):
    need(OPEN_MPI)
    if shutil.which("lmp") is None:
        pytest.skip("not installed: lmp (lammps)")
    write("lj.in", LAMMPS)
    command = ["lmp", "-in", netloom.folder / "lj.in", "-log", "none"]
    result, pairs = recorded(*OPEN_MPI.command(8, *command))
    assert result["pairs"] > 20
    assert pairs == monitored(tmp_path / "m", *command, ranks=8)


def test_the_jobs_file_and_the_scenario_are_taken_as_they_stand(netloom, recorded, paths):
    need(OPEN_MPI)
    _, pairs = recorded(*OPEN_MPI.command(6, program(OPEN_MPI, "halo")))
    best = netloom.result("optimize", paths.ft2, "run/jobs.toml", "-o", "routes.lfts")
    assert best["max_load"] > 0
    placed = netloom.result("traffic", "show", "run/jobs.toml", paths.ft2)
    assert placed["total_bytes"] == sum(size for size, _ in pairs.values())
    ran = netloom.result("simulate", "run/scenario.toml", "--set", f"fabric={paths.ft2}")
    assert ran["runs"][0]["jobs"][0]["ranks"] == 6


def test_the_exit_code_is_the_programs(netloom, recorded):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    endless = program(OPEN_MPI, "endless")
    # Ends without MPI_Finalize: Open MPI's launcher takes that for a failure.
    result, pairs = recorded(*OPEN_MPI.command(2, endless, folder, 10), code=1)
    assert result["exit_code"] == 1
    assert pairs == {(0, 0): (1000, 10), (1, 1): (1000, 10)}
    assert [lost["why"] for lost in result["lost_ranks"]] == ["exited", "exited"]
    assert any(found["kind"] == "lost-ranks" for found in result["findings"])


KILLS = int(os.environ.get("NETLOOM_KILLS", "3"))
"""Random moments; `NETLOOM_KILLS=20` for more."""


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_rank_that_is_killed_leaves_all_that_it_counted(netloom, seed):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    endless, draw = program(OPEN_MPI, "endless"), random.Random(seed)
    command = [*netloom.command, "record", "--matrix", "-o", "run", "--format", "json", "--"]
    running = subprocess.Popen(
        [*command, *OPEN_MPI.command(3, endless, folder, 10**12)],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    victim, after = draw.randrange(3), draw.randrange(1, 100_000)
    deadline = time.monotonic() + 60
    while (told := progress(folder)).get(victim, (0, 0))[1] < after or len(told) < 3:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(told[victim][0], 9)
    out, _ = running.communicate(timeout=60)
    assert running.returncode not in (0, 3)
    # The launcher ends the others: each record is whole up to its rank's own end, but for a call in progress.
    times = matrix(netloom.folder / "run" / "messages.mtx.gz")
    for rank, (_, sent) in progress(folder).items():
        assert sent - 1 <= times[rank, rank] <= sent + 1
    assert b'"why": "killed"' in out
    assert b'"rank": %d,' % victim in out


def progress(folder: Path) -> dict[int, tuple[int, int]]:
    """Process and messages sent by rank, as the program itself counts."""
    found = {}
    for path in folder.glob("progress.*"):
        data = path.read_bytes()
        if len(data) == 16 and data[:8] != bytes(8):
            found[int(path.suffix[1:])] = struct.unpack("=qq", data)
    return found


def test_a_time_limit_ends_the_program_and_keeps_its_records(netloom):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    command = OPEN_MPI.command(2, program(OPEN_MPI, "endless"), folder, 10**12)
    done = netloom("record", "--matrix", "--time-limit", 3, "--", *command)
    assert done.code not in (0, 3)
    assert "the program was ended after 3 s" in done.out
    assert "MPI_Sendrecv" in done.out


def test_an_interruption_ends_the_program_and_keeps_its_records(netloom):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    command = OPEN_MPI.command(2, program(OPEN_MPI, "endless"), folder, 10**12)
    running = subprocess.Popen(
        [*netloom.command, "record", "--matrix", "-o", "run", "--", *command],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while len(progress(folder)) < 2:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"MPI_Sendrecv" in out
    assert err.endswith(b"netloom: interrupted\n")
    assert len(matrix(netloom.folder / "run" / "matrix.mtx.gz")) == 2
    assert not [path for path in netloom.folder.iterdir() if path.name.startswith(".netloom")]


def test_output_of_the_program_stays_where_it_was(netloom):
    need(OPEN_MPI)
    halo = program(OPEN_MPI, "halo")
    both = f"echo out; echo err >&2; {' '.join(OPEN_MPI.command(2, halo))}"
    text = netloom("record", "--matrix", "--", "sh", "-c", both)
    assert text.out.startswith("out\n")
    assert "pairs" in text.out
    assert text.err == "err\n"
    # As JSON the result alone is on standard output.
    document = netloom("record", "--matrix", "--format", "json", "--", "sh", "-c", both)
    assert document.out.startswith("{")
    assert sorted(document.err.splitlines()) == ["err", "out"]


def test_arguments_reach_the_program_as_they_are(netloom):
    done = netloom(
        "record", "--matrix", "--", "sh", "-c", 'printf "%s." "$@"', "sh", "-", "", "--format", "a b"
    )
    assert done.out == "-..--format.a b."


# Bad input


def test_a_program_without_mpi_is_told(netloom):
    text = netloom.refused("record", "--matrix", "--", "true")
    assert re.search("no rank reported: .*true ran with the recorder and did not start MPI", text)


def test_a_static_program_is_told(netloom):
    if shutil.which("cc") is None:
        pytest.skip("not installed: cc")
    source = netloom.folder / "none.c"
    source.write_text("int main(void) { return 0; }\n")
    made = subprocess.run(
        ["cc", "-static", source, "-o", netloom.folder / "none"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("not installed: a static C library")
    assert "none is statically linked" in netloom.refused("record", "--matrix", "--", "./none")


def test_a_launcher_that_drops_the_environment_is_told(netloom):
    need(MPICH)
    command = ["env", "-u", "LD_PRELOAD", *MPICH.command(2, program(MPICH, "halo"))]
    text = netloom.refused("record", "--matrix", "--", *command)
    assert text.startswith("no rank reported: the recorder reached env only: expected a launcher that passes")


def test_a_recorder_that_reached_nothing_is_told(tmp_path):
    text = unreported.why(["no-such-program"], tmp_path)
    assert text.startswith(
        "no rank reported: the recorder reached no program: expected a launcher that passes"
    )


def deep(folder: Path, length: int) -> Path:
    """A folder below another, with a path of about so many bytes."""
    while len(str(folder)) < length - 1:
        folder /= "d" * min(200, length - len(str(folder)) - 1)
        folder.mkdir()
    return folder


def test_a_long_path_is_no_harm(netloom, tmp_path):
    need(OPEN_MPI)
    run = deep(tmp_path, 1500) / "run"
    netloom.ok("record", "--matrix", "-o", run, "--", *OPEN_MPI.command(2, program(OPEN_MPI, "halo")))
    assert (run / "matrix.mtx.gz").exists()


def test_a_path_that_is_too_long_is_refused_before_anything_runs(netloom, tmp_path):
    run = deep(tmp_path, 3780) / "run"
    text = netloom.refused("record", "--matrix", "-o", run, "--", "touch", "ran")
    assert "expected at most 3795" in text
    assert not (netloom.folder / "ran").exists()
    assert list(run.parent.iterdir()) == []


def test_an_empty_folder_is_as_good_as_a_new_one(netloom):
    need(OPEN_MPI)
    (netloom.folder / "run").mkdir()
    netloom.ok("record", "--matrix", "-o", "run", "--", *OPEN_MPI.command(2, program(OPEN_MPI, "halo")))
    assert (netloom.folder / "run" / "matrix.mtx.gz").exists()


def test_two_mpi_libraries_in_one_process_are_told(netloom):
    need(OPEN_MPI)
    found = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
    if not found:
        pytest.skip("not installed: libmpich.so.12")
    command = OPEN_MPI.command(2, program(OPEN_MPI, "two"), found[0])
    text = netloom.refused("record", "--matrix", "-o", "run", "--", *command)
    assert text == "rank 0 has two MPI libraries in one process: expected a program linked with one"


def test_the_launcher_of_another_mpi_is_told(netloom):
    need(OPEN_MPI)
    need(MPICH)
    # Each process takes itself for the only one.
    text = netloom.refused("record", "--matrix", "--", *MPICH.command(2, program(OPEN_MPI, "halo")))
    assert text.startswith("rank 0 of 1 reported twice: expected the launcher of the program's own MPI")


def test_a_full_disk_is_told_and_the_program_goes_on(netloom):
    need(OPEN_MPI)
    small = netloom.folder / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "none", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        done = netloom(
            "record", "--matrix", "-o", "small/run", "--", *OPEN_MPI.command(2, program(OPEN_MPI, "halo"))
        )
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)
    assert done.code == 3
    assert "rank 0: no file in" in done.err
    assert "is the disk full?" in done.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--matrix", "--", "./no-such"], 3, "./no-such: command not found"),
        (["--matrix", "--", "./data"], 3, "./data: is no program that can be run"),
        (["--matrix", "-o", "there", "--", "true"], 3, "there: is there already: expected a new folder"),
        (["--matrix", "-o", "nowhere/run", "--", "true"], 3, "there is no folder nowhere"),
        (["--matrix", "-o", "-", "--", "true"], 2, "a recorded run is a folder"),
        (["--", "true"], 2, "record needs --matrix"),
        (["--matrix"], 2, "record needs a command after --"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(netloom, write, words, code, expected):
    write("data", "no program")
    write("there", "a file")
    assert expected in netloom.refused("record", *words, code=code)


def test_a_program_that_fails_without_mpi_keeps_its_code(netloom):
    done = netloom("record", "--matrix", "--", "sh", "-c", "exit 7")
    assert done.code == 7
    assert done.err.startswith("netloom: error: no rank reported")
