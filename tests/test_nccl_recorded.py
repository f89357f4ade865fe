"""NCCL's profiler interface: what a process that is no NCCL calls, recorded and read as traffic.

`nccl_host.py` loads the plug-in and calls it as published; a file's head is given the name of a machine.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom.errors import FormatError
from netloom.training import recorded
from netloom.training.collective import Collective

HOST = Path(__file__).with_name("nccl_host.py")
WORLD, PAIR = 0xFEDCBA9876543210, 77
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory, paths) -> Path:
    library = tmp_path_factory.mktemp("nccl") / "libnccl-profiler-netloom.so"
    flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    source = paths.root / "native" / "nccl" / "profiler.c"
    subprocess.run([COMPILER, *flags, source, "-o", library, "-lpthread"], check=True)
    return library


def call(plugin: Path, folder: Path, calls: list, **more) -> subprocess.CompletedProcess:
    (folder.parent / "calls.json").write_text(json.dumps(calls))
    environment = {**os.environ, "NETLOOM_NCCL": str(folder)} | more
    command = [sys.executable, HOST, plugin, folder.parent / "calls.json"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def job(plugin: Path, folder: Path, calls_of: dict[int, list], machines: list[str]) -> None:
    """A process a rank, each with the world; files then say the rank's machine."""
    folder.mkdir()
    for rank, machine in enumerate(machines):
        before = set(folder.iterdir())
        world = ["comm", WORLD, len(set(machines)), len(machines), rank]
        done = call(plugin, folder, [world, *calls_of.get(rank, [])])
        assert (done.returncode, done.stdout.strip()) == (0, "netloom"), done.stderr
        (file,) = set(folder.iterdir()) - before
        data = bytearray(file.read_bytes())
        data[32:128] = machine.encode().ljust(96, b"\0")
        file.write_bytes(data)


def test_calls_become_traffic_between_machines(plugin, netloom):
    ring = ["coll", WORLD, "AllReduce", 1000, "ncclFloat32", 0, "RING", "SIMPLE", 2, 3]
    tree = ["coll", WORLD, "AllReduce", 10, "ncclBfloat16", 0, "TREE", "LL", 2, 5]
    gather = ["coll", WORLD, "AllGather", 64, "ncclInt8", 0, "RING", "SIMPLE", 2, 1]
    root = ["coll", WORLD, "Broadcast", 64, "ncclInt8", 1, "RING", "SIMPLE", 2, 4]
    calls = {rank: [ring, tree, gather, root] for rank in range(4)}
    calls[0] = [*calls[0], ["p2p", WORLD, "Send", 100, "ncclFloat64", 3, 2]]
    calls[1] = [*calls[1], ["p2p", WORLD, "Send", 7, "ncclInt32", 0, 9]]
    calls[3] = [*calls[3], ["p2p", WORLD, "Recv", 100, "ncclFloat64", 0, 2]]
    folder = netloom.folder / "run"
    job(plugin, folder, calls, ["a", "a", "b", "b"])
    expected = np.zeros((4, 4))
    for spec, times in (
        ("nccl-ring:machines=2,gpus=2,bytes=4000", 3),
        ("nccl-tree:machines=2,gpus=2,bytes=20", 5),
        ("nccl-ring:machines=2,gpus=2,bytes=256,collective=all-gather", 1),
    ):
        expected += times * Collective.parse(spec).traffic().to_scipy().toarray()
    # What rank 1 sends rank 0 stays in their machine.
    expected[0, 3] += 2 * 800
    result = netloom.result("traffic", "convert", "run", "-o", "t.csv")
    assert np.array_equal(nl.Traffic.read(netloom.folder / "t.csv").to_scipy().toarray(), expected)
    assert result["total_bytes"] == expected.sum()
    done = netloom("traffic", "show", "run")
    assert (
        "4 calls of Broadcast are left out"
        in netloom("loads", "two-level:leaves=2,hosts=2,spines=1", "ftree", "run").err
    )
    assert done.code == 0


def test_groups_are_ranks_of_their_communicators(plugin, netloom):
    # Ranks 1 and 3, on machines a and b, are ranks 1 and 0 of a communicator of their own.
    ring = ["coll", PAIR, "ReduceScatter", 50, "ncclFloat16", 0, "RING", "SIMPLE", 1, 1]
    calls = {
        1: [["comm", PAIR, 2, 2, 1], ring, ["p2p", PAIR, "Send", 3, "ncclInt8", 0, 1]],
        3: [["comm", PAIR, 2, 2, 0], ring],
    }
    job(plugin, netloom.folder / "run", calls, ["a", "a", "b", "b"])
    netloom.ok("traffic", "convert", "run", "-o", "t.csv")
    found = nl.Traffic.read(netloom.folder / "t.csv").to_scipy().toarray()
    # Each of two ranks gets half of 200 bytes.
    expected = np.zeros((4, 4))
    expected[1, 3], expected[3, 1] = 103, 100
    assert np.array_equal(found, expected)


def test_what_a_killed_process_called_is_kept(plugin, netloom):
    folder = netloom.folder / "run"
    folder.mkdir()
    ring = ["coll", WORLD, "AllReduce", 8, "ncclFloat32", 0, "RING", "SIMPLE", 2, 1000]
    done = call(plugin, folder, [["comm", WORLD, 1, 1, 0], ring, ["abort"]])
    assert done.returncode < 0
    (file,) = recorded.files(folder)
    process = recorded.parse(file.read_bytes(), "x")
    assert [(one.function, one.bytes, one.calls) for one in process.calls] == [("AllReduce", 32, 1000)]
    assert process.host == os.uname().nodename[:95]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_program_goes_on_where_nothing_can_be_recorded(plugin, netloom):
    ring = ["coll", WORLD, "AllReduce", 8, "ncclFloat32", 0, "RING", "SIMPLE", 2, 3]
    for folder in ("", str(netloom.folder / "nowhere")):
        done = call(plugin, netloom.folder / "run", [["comm", WORLD, 1, 1, 0], ring], NETLOOM_NCCL=folder)
        assert done.returncode == 0
        assert done.stderr.count("NCCL's calls are not recorded") == 1


def test_more_calls_than_a_file_has_room_for_are_counted(plugin, netloom):
    folder = netloom.folder / "run"
    folder.mkdir()
    calls = [["comm", WORLD, 1, 1, 0]]
    calls += [["p2p", WORLD, "Send", size, "ncclInt8", 0, 1] for size in range(16400)]
    assert call(plugin, folder, calls).returncode == 0
    process = recorded.parse(recorded.files(folder)[0].read_bytes(), "x")
    assert (len(process.calls), process.dropped) == (16383, 17)
    assert "17 calls are left out: files had no room" in recorded.traffic([process], "run")[1][0]


def test_recordings_that_make_no_sense_are_refused(plugin, netloom):
    ring = ["coll", WORLD, "AllReduce", 8, "ncclFloat32", 0, "RING", "SIMPLE", 2, 1]
    folder = netloom.folder / "run"
    job(plugin, folder, {rank: [ring] for rank in range(3)}, ["a", "a", "b"])
    assert "as many ranks of a communicator on each" in netloom.refused("traffic", "show", "run")
    data = recorded.files(folder)[0].read_bytes()
    recorded.files(folder)[2].unlink()
    assert "expected files of all ranks of one job, found 2" in netloom.refused("traffic", "show", "run")
    for cut in (b"", b"NLNCCL01", data[:200], b"x" * len(data)):
        with pytest.raises(FormatError, match=r"^name: expected"):
            recorded.parse(cut, "name")
    two = bytearray(data)
    two[256:384] = two[128:256]
    two[260:264] = (2).to_bytes(4, "little")
    with pytest.raises(FormatError, match="one GPU a process"):
        recorded.parse(bytes(two), "name")


def test_hostile_files_are_read_or_refused(plugin, tmp_path):
    ring = ["coll", WORLD, "AllReduce", 8, "ncclFloat32", 0, "RING", "SIMPLE", 2, 1]
    folder = tmp_path / "run"
    job(
        plugin,
        folder,
        {rank: [ring, ["p2p", WORLD, "Send", 3, "ncclInt8", 0, 1]] for rank in range(2)},
        ["a", "b"],
    )
    first, second = (file.read_bytes() for file in recorded.files(folder))
    rng = random.Random(11)
    refused = 0
    for _ in range(int(os.environ.get("NETLOOM_TRIALS", "60"))):
        bad = bytearray(first)
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(16 if rng.random() < 0.2 else 32, 128 + 3 * 128)] = rng.randrange(256)
        try:
            told = [recorded.parse(bytes(bad), "x"), recorded.parse(second, "y")]
            assert recorded.traffic(told, "run")[0].total_bytes >= 0
        except FormatError:
            refused += 1
    assert refused
