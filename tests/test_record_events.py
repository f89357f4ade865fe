"""`netloom record --events` on real MPI programs: what every call did, in order, and its replay.

Skipped by name where MPI is not installed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from mpi_bed import (
    ENVIRONMENT,
    MPICH,
    OPEN_MPI,
    PROGRAMS,
    counts_in,
    monitoring,
    need,
    program,
    python_of,
)
from netloom.recording import matching, trace
from test_record import matrix, progress

MPIS = [pytest.param(OPEN_MPI, id="openmpi"), pytest.param(MPICH, id="mpich")]
TREE = "two-level:leaves=2,hosts=4,spines=2"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def traced(netloom, validate):
    """Records a command's events; returns its validated result and the trace."""

    def run(*command, name="run", code=0, more=(), **options):
        words = ["record", "--events", *more, "-o", name, "--format", "json", "--", *command]
        document = json.loads(netloom.ok(*words, code=code, **options))
        validate(document)
        return document["result"], trace.read(netloom.folder / name)

    return run


def pairs_of(found: trace.Trace) -> dict[tuple[int, int], tuple[int, int]]:
    """Bytes and messages by pair of ranks, from the events alone."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    bases = found.bases()
    for rank, events in enumerate(found.events):
        for name, peer, size in zip(events.function, events.peer, events.bytes, strict=True):
            if bases[name] in trace.SENDS:
                total, times = sums.get((rank, int(peer)), (0, 0))
                sums[rank, int(peer)] = total + int(size), times + 1
    return sums


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", ["halo", "ring", "wildcard", "threads"])
def test_events_are_the_matrix_and_every_receive_has_its_send(netloom, traced, mpi, name):
    need(mpi)
    result, found = traced(*mpi.command(4, program(mpi, name)))
    sizes, times = (matrix(netloom.folder / result["files"][what]) for what in ("matrix", "messages"))
    assert pairs_of(found) == {pair: (sizes.get(pair, 0), times[pair]) for pair in times}
    pairs = matching.match(found)
    assert (pairs.unmatched, pairs.untold) == ([], 0)
    assert pairs.messages == result["messages"] == result["replay"]["messages"]
    assert result["replay"]["left_out"] == []
    # The trace that is replayed sends the same.
    shown = netloom.result("traffic", "show", "run/trace.ti.gz")
    assert shown["bytes"]["point_to_point"] == result["bytes"]["point_to_point"]


def test_receives_from_any_source_know_who_sent(traced):
    need(OPEN_MPI)
    _, found = traced(*OPEN_MPI.command(4, program(OPEN_MPI, "wildcard")))
    root = found.events[0]
    receives = np.array(found.bases())[root.function] == "Recv"
    # Rank 0 gets three messages of each other rank, with its rank as the tag; other tags are 0, 1, 3.
    farm = Counter(zip(root.peer[receives].tolist(), root.tag[receives].tolist(), strict=True))
    assert farm[1, 1] == 3 + 10
    assert farm[2, 2] == farm[3, 3] == 3


@pytest.mark.parametrize("mpi", MPIS)
def test_communicators_have_their_members_and_collectives_of_some_ranks_become_messages(netloom, traced, mpi):
    need(mpi)
    result, found = traced(*mpi.command(4, program(mpi, "groups")))
    groups = {(tuple(members.tolist()), remote) for members, remote, _ in found.communicators}
    assert ((0, 1, 2, 3), False) in groups
    # Even and odd ranks, forwards and backwards; the other side of the intercommunicator.
    assert {((0, 2), False), ((3, 1), False), ((2, 0), False), ((1, 3), True), ((0, 2), True)} <= groups
    assert result["replay"]["decomposed"] == [
        {"name": "MPI_Allreduce", "algorithm": "recursive doubling", "calls": 2}
    ]
    assert result["replay"]["collectives"] == 5
    assert {one["what"]: one["count"] for one in result["replay"]["left_out"]} == {
        "one-sided messages": 8,
        "calls of collectives between groups": 4,
    }
    lines = (
        netloom.ok("trace", "convert", "run", "-o", "run.ti") and (netloom.folder / "run.ti")
    ).read_text()
    own = [line for line in lines.splitlines() if line.startswith("0 ") and " compute " not in line]
    # By hand: an allreduce of 64 B with the one other member, as recursive doubling sends it.
    at = next(i for i, line in enumerate(own) if line.startswith("0 isend 2") and line.split()[4] == "64")
    assert own[at - 1].startswith("0 irecv 2 ")
    assert [
        line for line in own if line.split()[1] in ("allgather", "alltoall", "gather", "bcast", "barrier")
    ] == [
        "0 allgather 24 24 6 6",
        "0 alltoall 16 16 6 6",
        "0 gather 32 32 1 6 6",
        "0 bcast 4000 0 6",
        "0 barrier",
    ]


@pytest.mark.parametrize("mpi", MPIS)
def test_communicators_of_the_same_members_are_told_apart(netloom, traced, mpi):
    need(mpi)
    result, found = traced(*mpi.command(2, program(mpi, "contexts"), "kinds"))
    pairs = matching.match(found)
    receives = np.array(found.bases())[found.events[1].function] == "Recv"
    # Two communicators of each of 15 ways to make one: the first receive is the message that was sent last.
    assert pairs.received[1][receives].tolist() == [4000, 4] * 15
    assert (pairs.unmatched, pairs.late, result["replay"]["left_out"]) == ([], 0, [])
    # Ranks call those of the grid and of the world in different orders: one order for both would be wrong.
    assert result["replay"]["collectives"] == 1
    assert [one["name"] for one in result["replay"]["decomposed"]] == ["MPI_Barrier", "MPI_Reduce"]
    netloom.result("simulate", "run", "--set", f"fabric={TREE}")
    netloom.ok("trace", "convert", "run", "-o", "run.goal")
    netloom.folder.joinpath("s.toml").write_text(f'fabric = "{TREE}"\n[[job]]\ntrace = "run.goal"\n')
    netloom.result("simulate", "s.toml")


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("case", ["threads", "copies", "handed"])
def test_threads_may_use_the_same_tags_on_duplicates(netloom, traced, mpi, case):
    need(mpi)
    traced(*mpi.command(2, program(mpi, "contexts"), case))
    checked = netloom.result("trace", "check", "run")
    assert (checked["unmatched"], checked["ambiguous"], checked["findings"]) == ([], 0, [])
    netloom.result("simulate", "run", "--set", f"fabric={TREE}")


@pytest.mark.parametrize("mpi", MPIS)
def test_messages_that_threads_find_are_received_by_who_found_them(traced, mpi):
    need(mpi)
    _, found = traced(*mpi.command(3, program(mpi, "contexts"), "probed"))
    pairs = matching.match(found)
    # Three ranks, four threads, two hundred rounds.
    assert (pairs.messages, pairs.unmatched) == (2400, [])


def test_spawned_processes_are_another_world_after_a_merge_too(netloom, traced):
    need(OPEN_MPI)
    result, found = traced(*OPEN_MPI.command(2, program(OPEN_MPI, "spawn")))
    assert matrix(netloom.folder / result["files"]["matrix"]) == {(0, 1): 4, (1, 0): 4}
    pairs = matching.match(found)
    assert (pairs.messages, pairs.unmatched, pairs.untold, found.meta["unread"]) == (2, [], 0, 0)
    assert result["spawned"] == 2
    assert result["replay"]["left_out"] == [
        {"what": "calls of collectives with processes of another world", "count": 4}
    ]
    assert netloom.result("trace", "check", "run")["findings"] == []
    netloom.result("simulate", "run", "--set", f"fabric={TREE}")


@pytest.mark.parametrize("mpi", MPIS)
def test_python_programs_are_traced(netloom, traced, mpi):
    need(mpi)
    python, env = python_of(mpi)
    result, found = traced(*mpi.command(4, *python, PROGRAMS / "program.py"), env=env)
    # Pickled objects are found by matched probes before they are received.
    assert "Mrecv" in found.bases()
    assert matching.match(found).unmatched == []
    assert result["replay"]["left_out"] == []
    netloom.result("simulate", "run", "--set", f"fabric={TREE}")


def test_a_recorded_run_is_optimised_and_replayed_as_a_folder(netloom, traced):
    need(OPEN_MPI)
    result, _ = traced(*OPEN_MPI.command(6, program(OPEN_MPI, "halo")))
    best = netloom.result("optimize", TREE, "run", "-o", "routes.lfts")
    assert best["max_load"] > 0
    job = netloom.result("simulate", "run", "--set", f"fabric={TREE}")["runs"][0]["jobs"][0]
    assert job["ranks"] == 6
    # The program's own computation is in it: it takes longer than its messages alone.
    text = (netloom.folder / "run" / "scenario.toml").read_text()
    (netloom.folder / "run" / "scenario.toml").write_text(text.replace("flops_per_s = 1e9\n", ""))
    alone = netloom.result("simulate", "run", "--set", f"fabric={TREE}")["runs"][0]["jobs"][0]
    assert job["completion_ms"] > alone["completion_ms"] > 0
    assert result["events"] == 6 * 20 * 9


HPCC = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out   output file name
8         device out
1         # of problem sizes
64        Ns
1         # of NBs
16        NBs
0         PMAP
1         # of process grids
2         Ps
2         Qs
16.0      threshold
1         # of panel fact
2         PFACTs
1         # of recursive stopping criterium
4         NBMINs
1         # of panels in recursion
2         NDIVs
1         # of recursive panel fact.
1         RFACTs
1         # of broadcast
1         BCASTs
1         # of lookahead depth
1         DEPTHs
2         SWAP
64        swapping threshold
0         L1
0         U
1         Equilibration
8         memory alignment
"""


def test_hpcc_is_what_monitoring_counts_in_the_same_run(netloom, traced, tmp_path, write):
    need(OPEN_MPI)
    if shutil.which("hpcc") is None:
        pytest.skip("not installed: hpcc")
    write("hpccinf.txt", HPCC)
    # It goes on until its times are sure: two runs do not send the same.
    folder = tmp_path / "m"
    folder.mkdir()
    result, found = traced(OPEN_MPI.run, *monitoring(folder), "-n", "4", "hpcc")
    told = counts_in(folder, 4)["E"]
    pairs = pairs_of(found)
    assert len(pairs) == 12
    assert result["messages"] > 1000
    assert {call["name"] for call in result["calls"]} >= {"MPI_Send", "MPI_Isend", "MPI_Sendrecv"}
    # This Open MPI counts what its pairwise alltoalls send, of more than 3,000 B, among the program's own.
    for rank, events in enumerate(found.events):
        alltoalls = np.array(found.bases())[events.function] == "Alltoall"
        large = [int(size) // 4 for size in events.bytes[alltoalls] if size // 4 > 3000]
        assert large
        for peer in {0, 1, 2, 3} - {rank}:
            size, times = pairs[rank, peer]
            pairs[rank, peer] = size + sum(large), times + len(large)
    assert pairs == {pair: count for pair, count in told.items() if count[1]}
    assert matching.match(found).unmatched == []
    netloom.result("simulate", "run", "--set", f"fabric={TREE}")


def test_times_are_of_the_clock_and_in_order(traced):
    need(OPEN_MPI)
    before = time.time_ns()
    _, found = traced(*OPEN_MPI.command(4, program(OPEN_MPI, "ring")))
    after = time.time_ns()
    for events in found.events:
        assert before < events.end_ns[0]
        assert events.end_ns[-1] < after
        assert np.all(np.diff(events.end_ns) >= 0)
        known = events.start_ns >= 0
        assert known.any()
        assert np.all(events.start_ns[known] <= events.end_ns[known])


# What is lost


def test_what_comes_after_the_limit_is_dropped_and_told(netloom, traced):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    # Each round is a send, a receive and how long they took: more than 0.2 MB.
    result, found = traced(
        *OPEN_MPI.command(2, program(OPEN_MPI, "endless"), folder, 20_000),
        more=["--events-limit", "0.2"],
        code=1,
    )
    assert matrix(netloom.folder / result["files"]["messages"]) == {(0, 0): 20_000, (1, 1): 20_000}
    assert result["dropped_events"] > 0
    assert result["events"] + result["dropped_events"] == 2 * 2 * 20_000
    assert len(found) == result["events"]
    for events in found.events:
        # It is the beginning that is kept.
        assert 1000 < len(events) * 32 <= 200_000
    [told] = [one for one in result["findings"] if one["kind"] == "dropped-events"]
    assert "the limit came (--events-limit)" in told["text"]


KILLS = int(os.environ.get("NETLOOM_KILLS", "3"))
"""Random moments; `make hostile` takes 20."""


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_rank_that_is_killed_leaves_its_events(netloom, seed):
    need(OPEN_MPI)
    folder = netloom.folder / "progress"
    folder.mkdir()
    endless, draw = program(OPEN_MPI, "endless"), random.Random(seed)
    running = subprocess.Popen(
        [
            *(
                *netloom.command,
                "record",
                "--events",
                "--events-limit",
                "2",
                "-o",
                "run",
                "--format",
                "json",
                "--",
            ),
            *OPEN_MPI.command(3, endless, folder, 10**12),
        ],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    victim, after = draw.randrange(3), draw.randrange(1, 25_000)
    deadline = time.monotonic() + 60
    while (told := progress(folder)).get(victim, (0, 0))[1] < after or len(told) < 3:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.kill(told[victim][0], signal.SIGKILL)
    out, _ = running.communicate(timeout=100)
    assert running.returncode not in (0, 3)
    found = trace.read(netloom.folder / "run")
    result = json.loads(out)["result"]
    assert {"rank": victim, "host": os.uname().nodename, "why": "killed"} in result["lost_ranks"]
    assert [one["rank"] for one in found.meta["lost"]] == [one["rank"] for one in result["lost_ranks"]]
    assert found.meta["unread"] == 0
    for rank, (_, sent) in progress(folder).items():
        bases = np.array(found.bases())[found.events[rank].function]
        dropped = found.meta["dropped"].get(str(rank), 0)
        whole = np.count_nonzero(bases == "Sendrecv")
        if dropped:
            assert whole * 2 + dropped >= 2 * sent - 2
        else:
            assert sent - 1 <= whole <= sent + 1
    # What is left can be replayed.
    netloom.ok("simulate", "run", "--set", f"fabric={TREE}")


def test_a_full_disk_drops_events_and_keeps_the_sums(netloom):
    need(OPEN_MPI)
    small, folder = netloom.folder / "small", netloom.folder / "progress"
    small.mkdir()
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "none", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small disk")
    try:
        # The records fill the disk; what is told needs none of it.
        done = subprocess.run(
            [
                *(*netloom.command, "record", "--events", "--format", "json", "--"),
                *OPEN_MPI.command(2, program(OPEN_MPI, "endless"), folder, 30_000),
            ],
            cwd=small,
            capture_output=True,
            check=False,
        )
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)
    result = json.loads(done.stdout)["result"]
    assert result["messages"] == 60_000
    assert result["dropped_events"] > 0
    [told] = [one for one in result["findings"] if one["kind"] == "dropped-events"]
    assert "the disk was full" in told["text"]


def test_two_mpi_libraries_in_one_process_are_told(netloom):
    need(OPEN_MPI)
    found = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
    if not found:
        pytest.skip("not installed: libmpich.so.12")
    command = OPEN_MPI.command(2, program(OPEN_MPI, "two"), found[0])
    text = netloom.refused("record", "--events", "-o", "run", "--", *command)
    assert text == "rank 0 has two MPI libraries in one process: expected a program linked with one"
    assert not (netloom.folder / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--matrix", "--events-limit", "1"], "--events-limit is of --events"),
        (["--events", "--events-limit", "0"], "--events-limit"),
        ([], "record needs --matrix (sums) or --events (sums and a trace)"),
    ],
)
def test_options_that_do_not_go_together(netloom, words, expected):
    assert expected in netloom.refused("record", *words, "--", "true", code=2)


def test_columns_are_empty_where_nothing_is_known(netloom, traced):
    need(OPEN_MPI)
    traced(*OPEN_MPI.command(4, program(OPEN_MPI, "groups")))
    rows = pq.read_table(netloom.folder / "run" / "events.parquet").to_pylist()
    gathers = [row for row in rows if row["function"] == "Gather"]
    assert [(row["rank"], row["root"], row["peer"], row["tag"], row["bytes"]) for row in gathers] == [
        (rank, 1, None, None, 32) for rank in range(4)
    ]
    waits = [row for row in rows if row["function"] == "Wait"]
    started = {(row["rank"], row["seq"]): row for row in rows if row["request"]}
    for row in waits:
        assert (row["bytes"], row["communicator"]) == (None, None)
        assert [started[row["rank"], one]["function"] for one in row["completes"]] == ["Ibcast"]
