"""Recorded runs and arrays as programs leave them: index, folder, standard input, GOAL, NumPy's files."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

RANKS = {
    0: ["0 init", "0 isend 1 0 1000 2", "0 waitall 1", "0 barrier", "0 finalize"],
    1: ["1 init", "1 irecv 0 0 1000 2", "1 waitall 1", "1 barrier", "1 finalize"],
}
GOAL = (
    "num_ranks 2\nrank 0 {\nl1: calc 100\nl2: send 10b to 1 tag 0\nl2 requires l1\n}\n"
    "rank 1 {\nrecv 10b from 0 tag 0\n}\n"
)
TREE = "two-level:leaves=2,hosts=1,spines=1"


@pytest.fixture
def recorded(netloom):
    """A run as smpirun writes it: `out/run` names `out/run_files/…` as seen from here. And as one file."""
    folder = netloom.folder / "out" / "run_files"
    folder.mkdir(parents=True)
    names = [f"out/run_files/{rank}_rank-{rank}.txt" for rank in RANKS]
    for name, lines in zip(names, RANKS.values(), strict=True):
        (netloom.folder / name).write_text("\n".join(lines) + "\n")
    (netloom.folder / "out" / "run").write_text("\n".join(names) + "\n")
    whole = "\n".join(line for lines in RANKS.values() for line in lines) + "\n"
    (netloom.folder / "run.ti").write_text(whole)
    return whole


def test_an_index_a_folder_and_one_file_are_the_same_traffic(netloom, recorded):
    one = netloom.result("traffic", "show", "run.ti")
    assert one["bytes"]["point_to_point"] == 1000
    for source in ("out/run", "out/run_files"):
        document = netloom.json("traffic", "show", source)
        assert document["result"]["bytes"] == one["bytes"]
        assert document["result"]["phases"] == one["phases"]
        parts = [entry["source"] for entry in document["inputs"] if entry["source"].endswith(".txt")]
        assert parts == ["out/run_files/0_rank-0.txt", "out/run_files/1_rank-1.txt"]
    moved = netloom.folder / "elsewhere"
    (netloom.folder / "out").rename(moved)
    assert netloom.result("traffic", "show", "elsewhere/run")["bytes"] == one["bytes"]


def test_standard_input_is_known_by_how_it_begins(netloom, recorded):
    one = netloom.result("traffic", "show", "run.ti")
    for data in (recorded.encode(), gzip.compress(recorded.encode())):
        assert netloom.result("traffic", "show", "-", stdin=data)["bytes"] == one["bytes"]
    goal = netloom.result("traffic", "show", "-", stdin=GOAL.encode())
    assert goal["bytes"]["point_to_point"] == 10
    dense = netloom.result("traffic", "show", "-", stdin=b"0 1.5\n2 0\n")
    assert dense["bytes"]["point_to_point"] == 3.5
    word = netloom.refused("traffic", "show", "-", stdin=b"out/run_files/0_rank-0.txt\n")
    assert "of an index give the path" in word


def test_a_run_of_many_files_is_simulated_and_placed(netloom, recorded):
    scenario = 'fabric = "{}"\n[[job]]\ntrace = "{}"\n'
    found = {}
    for source in ("run.ti", "out/run", "out/run_files"):
        (netloom.folder / "s.toml").write_text(scenario.format(TREE, source))
        found[source] = netloom.result("simulate", "s.toml")["runs"][0]["jobs"]
        (netloom.folder / "jobs.toml").write_text(f'[[job]]\ntrace = "{source}"\n')
        document = netloom.json("optimize", TREE, "jobs.toml", "--judge", "packets")
        assert document["result"]["judge"]["program"] == "trace"
        assert "trace" in {entry["role"] for entry in document["inputs"]}
    assert found["out/run"] == found["run.ti"] == found["out/run_files"]


def test_what_is_wrong_is_told_in_its_own_file(netloom, recorded):
    second = netloom.folder / "out" / "run_files" / "1_rank-1.txt"
    second.write_text("1 init\n1 irecv x 0 10 2\n")
    told = netloom.refused("traffic", "show", "out/run")
    assert told.startswith("out/run_files/1_rank-1.txt:2: "), told
    second.unlink()
    told = netloom.refused("traffic", "show", "out/run")
    assert told.startswith("out/run:2: expected a rank first, or the name of a rank's file: there is no file")
    (netloom.folder / "empty").mkdir()
    assert "found an empty folder" in netloom.refused("traffic", "show", "empty")
    # Ranks that wait for ever are named with their own file and line, too.
    second.write_text("1 init\n1 irecv 0 5 1000 2\n1 waitall 1\n1 barrier\n1 finalize\n")
    (netloom.folder / "s.toml").write_text(f'fabric = "{TREE}"\n[[job]]\ntrace = "out/run"\n')
    assert "out/run_files/1_rank-1.txt:3" in netloom.refused("simulate", "s.toml")


def test_a_schedule_is_traffic(netloom):
    (netloom.folder / "run.goal").write_text(GOAL)
    result = netloom.result("traffic", "show", "run.goal")
    assert (result["endpoints"], result["bytes"]["point_to_point"]) == (2, 10)
    (netloom.folder / "jobs.toml").write_text('[[job]]\ntrace = "run.goal"\n')
    assert netloom.result("traffic", "show", "jobs.toml", TREE)["bytes"]["point_to_point"] == 10


def test_messages_of_nothing_count_nothing(netloom):
    lines = ["0 init", "1 init", "0 send 1 0 0", "1 recv 0 0 0", "0 finalize", "1 finalize", ""]
    (netloom.folder / "zero.ti").write_text("\n".join(lines))
    assert netloom.json("traffic", "show", "zero.ti", code=1)["result"]["bytes"]["point_to_point"] == 0


def test_numpys_arrays_are_dense_matrices(netloom):
    array = np.arange(16.0).reshape(4, 4)
    np.save(netloom.folder / "a.npy", array)
    np.savetxt(netloom.folder / "a.txt", array)
    shown = [netloom.result("traffic", "show", name) for name in ("a.npy", "a.txt")]
    assert shown[0]["bytes"] == shown[1]["bytes"]
    assert shown[0]["bytes"]["point_to_point"] == 120


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.ones((2, 3)), "expected as many rows as columns, found 2 x 3"),
        (np.ones(3), "expected as many rows as columns, found 3"),
        (np.float64(3), "found one number"),
        (np.array([[0.0, -1], [0, 0]]), "row 0, column 1: expected bytes, 0 or more, found -1.0"),
        (np.array([[0.0, np.nan], [0, 0]]), "found nan"),
        (np.array([["a", "b"], ["c", "d"]]), "expected an array of numbers"),
    ],
)
def test_arrays_that_are_no_traffic_are_refused(netloom, array, word):
    np.save(netloom.folder / "bad.npy", array)
    assert word in netloom.refused("traffic", "show", "bad.npy")


def test_broken_npy_files_are_refused(netloom):
    (netloom.folder / "torn.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'")
    assert "expected an array of numbers" in netloom.refused("traffic", "show", "torn.npy")
    np.save(netloom.folder / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "expected an array of numbers" in netloom.refused("traffic", "show", "objects.npy")


def test_a_pattern_of_a_job_is_as_large_as_its_hosts(netloom, paths):
    (netloom.folder / "jobs.toml").write_text(
        '[[job]]\nhosts = "host[0000-0007]"\npattern = "all-to-all"\n'
        '[[job]]\nhosts = "host[0008-0009]"\nranks_per_host = 2\npattern = "all-to-all"\n'
    )
    shown = netloom.result("traffic", "show", "jobs.toml", paths.small)
    # 8 x 7 pairs of hosts; 4 ranks on 2 hosts: one pair each way.
    assert shown["pairs"] == 8 * 7 + 2


def test_traffic_of_nobody_is_told(netloom, paths):
    (netloom.folder / "jobs.toml").write_text('[[job]]\nhosts = "host[0000-0007]"\n')
    shown = netloom.result("traffic", "show", "jobs.toml", paths.small, code=1)
    assert [(one["kind"], one["severity"]) for one in shown["findings"]] == [("no-traffic", "warning")]
    done = netloom("optimize", paths.small, "jobs.toml")
    assert "nobody sends anything" in done.err


def test_an_unknown_file_says_what_there_is(netloom):
    (netloom.folder / "x.dat").write_text("hello\n")
    word = netloom.refused("traffic", "show", "x.dat")
    assert ".npy" in word
    assert json.dumps(word).count("\\n") == 0
