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
VERSIONS = (3, 4, 5, 6)
"""Of the interface: the newest that NCCL 2.26, 2.27, 2.28, and 2.29 and later know."""
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory, paths) -> Path:
    library = tmp_path_factory.mktemp("nccl") / "libnccl-profiler-netloom.so"
    flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
    source = paths.root / "native" / "nccl" / "profiler.c"
    subprocess.run([COMPILER, *flags, source, "-o", library, "-lpthread", "-Wl,-z,nodelete"], check=True)
    return library


def call(plugin: Path, folder: Path, calls: list, newest: int = 6, **more) -> subprocess.CompletedProcess:
    (folder.parent / "calls.json").write_text(json.dumps(calls))
    environment = {**os.environ, "NETLOOM_NCCL": str(folder)} | more
    command = [sys.executable, HOST, plugin, folder.parent / "calls.json", str(newest)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def job(plugin: Path, folder: Path, calls_of: dict[int, list], machines: list[str], newest: int = 6) -> None:
    """A process a rank, each with the world; files then say the rank's machine."""
    folder.mkdir()
    for rank, machine in enumerate(machines):
        before = set(folder.iterdir())
        world = ["comm", WORLD, len(set(machines)), len(machines), rank]
        done = call(plugin, folder, [world, *calls_of.get(rank, [])], newest)
        assert (done.returncode, done.stdout.strip()) == (0, "netloom"), done.stderr
        (file,) = set(folder.iterdir()) - before
        data = bytearray(file.read_bytes())
        data[32:128] = machine.encode().ljust(96, b"\0")
        file.write_bytes(data)


@pytest.mark.parametrize("newest", VERSIONS)
def test_calls_become_traffic_between_machines(plugin, netloom, newest):
    ring = ["coll", WORLD, "AllReduce", 1000, "ncclFloat32", 0, "RING", "SIMPLE", 2, 3]
    tree = ["coll", WORLD, "AllReduce", 10, "ncclBfloat16", 0, "TREE", "LL", 2, 5]
    gather = ["coll", WORLD, "AllGather", 64, "ncclInt8", 0, "RING", "SIMPLE", 2, 1]
    root = ["coll", WORLD, "Broadcast", 64, "ncclInt8", 1, "RING", "SIMPLE", 2, 4]
    calls = {rank: [ring, tree, gather, root] for rank in range(4)}
    calls[0] = [*calls[0], ["p2p", WORLD, "Send", 100, "ncclFloat64", 3, 2]]
    calls[1] = [*calls[1], ["p2p", WORLD, "Send", 7, "ncclInt32", 0, 9]]
    calls[3] = [*calls[3], ["p2p", WORLD, "Recv", 100, "ncclFloat64", 0, 2]]
    folder = netloom.folder / "run"
    job(plugin, folder, calls, ["a", "a", "b", "b"], newest)
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


RING = ["coll", WORLD, "AllReduce", 8, "ncclFloat32", 0, "RING", "SIMPLE", 2, 3]
ALONE = ["comm", WORLD, 1, 1, 0]


def read_back(folder: Path) -> list[recorded.Process]:
    return [recorded.parse(file.read_bytes(), file.name) for file in recorded.files(folder)]


@pytest.mark.parametrize("newest", VERSIONS)
def test_nothing_that_nccl_would_not_do_ends_a_program(plugin, netloom, newest):
    folder = netloom.folder / "run"
    folder.mkdir()
    null = ["coll", WORLD, None, 1, None, 0, None, None, 0, 2]
    message = ["p2p", WORLD, None, 1, None, 0, 300]
    done = call(plugin, folder, [["hostile"], ALONE, RING, null, message, ["hostile"], RING], newest)
    assert (done.returncode, done.stderr) == (0, "")
    (process,) = read_back(folder)
    assert [(one.function, one.calls) for one in process.calls] == [("AllReduce", 6)]
    # The hostile ones begin a communicator and make two calls without names each.
    assert process.unknown == 2 + 300 + 2 * 2


@pytest.mark.parametrize("newest", VERSIONS)
def test_communicators_of_one_name_are_told_apart(plugin, netloom, newest):
    folder = netloom.folder / "run"
    folder.mkdir()
    other = ["coll", PAIR, "AllReduce", 9, "ncclFloat32", 0, "RING", "SIMPLE", 2, 1]
    done = call(plugin, folder, [ALONE, ["comm", PAIR, 1, 1, 0], RING, other, RING], newest)
    assert done.returncode == 0
    (process,) = read_back(folder)
    assert [(one.communicator, one.bytes, one.calls) for one in process.calls] == [
        (WORLD, 32, 6),
        (PAIR, 36, 1),
    ]


@pytest.mark.parametrize("newest", VERSIONS)
def test_a_plugin_that_was_unloaded_goes_on_where_it_was(plugin, netloom, newest):
    folder = netloom.folder / "run"
    folder.mkdir()
    assert call(plugin, folder, [ALONE, RING, ["reload"], ALONE, RING], newest).returncode == 0
    (process,) = read_back(folder)
    assert [one.calls for one in process.calls] == [6]


def test_files_of_containers_may_have_the_same_name(plugin, netloom):
    # A child of a fork has another number; a file of its name is somebody else's, and stays as it is.
    folder = netloom.folder / "run"
    folder.mkdir()
    assert call(plugin, folder, [ALONE, RING, ["fork"]]).returncode == 0
    assert sorted(one.calls for process in read_back(folder) for one in process.calls) == [1, 3]
    assert "expected files of all ranks of one job, found 2" in netloom.refused("traffic", "show", "run")
    taken = (
        "import os, sys; open(sys.argv[1] % os.getpid(), 'w').close(); os.execv(sys.executable, sys.argv[1:])"
    )
    for file in folder.iterdir():
        file.unlink()
    command = [sys.executable, "-c", taken.replace("sys.argv[1:]", "[sys.executable, *sys.argv[2:]]")]
    name = f"{folder}/{os.uname().nodename}-%d.nccl"
    command += [name, HOST, plugin, folder.parent / "calls.json"]
    environment = {**os.environ, "NETLOOM_NCCL": str(folder)}
    assert subprocess.run(command, env=environment, check=False, capture_output=True).returncode == 0
    assert sorted(file.stat().st_size > 0 for file in recorded.files(folder)) == [False, True, True]


def test_files_that_a_program_closes_or_may_not_have_are_left_alone(plugin, netloom):
    folder = netloom.folder / "run"
    folder.mkdir()
    done = call(plugin, folder, [ALONE, RING, ["close", ".nccl"], RING, RING])
    assert (done.returncode, done.stderr.count("are not recorded any more")) == (0, 1)
    assert next(folder.glob("*.mine")).read_bytes() == b"mine"
    assert [one.calls for one in read_back(folder)[0].calls] == [3]
    for file in folder.iterdir():
        file.unlink()
    # More bytes than a file may have would be a signal, and so would an error that nobody reads.
    for before in ([["limit", 1000]], [["deaf"], ["limit", 1000]]):
        done = call(plugin, folder, [*before, ALONE, RING])
        assert (done.returncode, done.stdout.strip()) == (0, "netloom")
        assert not list(folder.iterdir())
    done = call(plugin, folder, [ALONE, RING, ["limit", 100], RING, ["limit", 1 << 30], RING])
    assert done.returncode == 0, done.stderr
    assert [one.calls for one in read_back(folder)[0].calls] == [9]
    assert done.stderr.count("some of NCCL's calls may not be recorded") == 1


def test_a_full_disk_ends_no_program(plugin, netloom):
    tried = ["unshare", "-rm", "true"]
    if shutil.which("unshare") is None or subprocess.run(tried, check=False).returncode:
        pytest.skip("no namespaces")
    folder = netloom.folder / "small"
    folder.mkdir()
    (netloom.folder / "calls.json").write_text(json.dumps([ALONE, RING]))
    run = f"mount -t tmpfs -o size=256k none {folder} && {sys.executable} {HOST} {plugin} "
    run += f"{netloom.folder}/calls.json && ls {folder} | wc -l"
    environment = {**os.environ, "NETLOOM_NCCL": str(folder)}
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", run], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["netloom", "0"]), done.stderr
    assert "No space left on device: NCCL's calls are not recorded" in done.stderr


def test_version_three_does_not_tell_how_many_ranks(plugin, netloom):
    job(plugin, netloom.folder / "run", {rank: [RING] for rank in range(3)}, ["a", "b", "c"], 3)
    assert [process.ranks[WORLD][1] for process in read_back(netloom.folder / "run")] == [0, 0, 0]
    assert netloom.result("traffic", "show", "run")["endpoints"] == 3
    by_rank = {
        recorded.parse(file.read_bytes(), "x").ranks[WORLD][0]: file
        for file in recorded.files(netloom.folder / "run")
    }
    # A last rank that is missing nobody can tell; any other leaves a gap.
    by_rank[2].unlink()
    assert netloom.result("traffic", "show", "run")["endpoints"] == 2
    by_rank[0].unlink()
    assert "expected files of all ranks of one job" in netloom.refused("traffic", "show", "run")


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
