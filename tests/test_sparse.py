"""Sparse matrices whose parts do not fit together are refused, and crash nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import netloom as nl
from netloom import sparse

SIDE = 6


def parts() -> dict[str, np.ndarray]:
    """A ring of six hosts, and one more entry: seven entries."""
    return {
        "indptr": np.array([0, 2, 3, 4, 5, 6, 7], np.int32),
        "indices": np.array([1, 3, 2, 3, 4, 5, 0], np.int32),
        "data": np.ones(7),
    }


def at(name: str, place: int, value: int) -> dict[str, np.ndarray]:
    array = parts()[name].copy()
    array[place] = value
    return {name: array}


def pointers(*numbers: int, dtype: type = np.int32) -> dict[str, np.ndarray]:
    return {"indptr": np.array(numbers, dtype)}


MALFORMED = {
    "does not begin at 0": at("indptr", 0, 1),
    "begins below 0": at("indptr", 0, -1),
    "falls": pointers(0, 5, 3, 4, 5, 6, 7),
    "falls at the end": pointers(0, 2, 3, 4, 5, 8, 7),
    "far beyond in the middle": at("indptr", 3, 2_000_000_000),
    "beyond by one in the middle": at("indptr", 5, 8),
    "negative in the middle": at("indptr", 2, -3),
    "most negative": at("indptr", 2, -(2**31)),
    "ends below the entries": pointers(0, 2, 3, 4, 5, 6, 6),
    "ends beyond the entries": pointers(0, 2, 3, 4, 5, 6, 9),
    "all zero": pointers(0, 0, 0, 0, 0, 0, 0),
    "all the same": pointers(7, 7, 7, 7, 7, 7, 7),
    "one too few": pointers(0, 2, 3, 4, 5, 7),
    "one too many": pointers(0, 2, 3, 4, 5, 6, 7, 7),
    "empty": pointers(),
    "in two rows": {"indptr": np.array([[0, 2, 3, 4, 5, 6, 7]], np.int32)},
    "of 64 bits, beyond 32": pointers(0, 2, 2**40, 4, 5, 6, 7, dtype=np.int64),
    "wraps around": pointers(0, 2, 2**63 - 1, -(2**63), 5, 6, 7, dtype=np.int64),
    "numbers with a fraction": pointers(0, 2, 3, 4, 5, 6, 7, dtype=np.float64),
    "no numbers": {"indptr": np.array(["0", "2", "3", "4", "5", "6", "7"])},
    "an index beyond the columns": at("indices", 4, SIDE),
    "a negative index": at("indices", 4, -1),
    "an index too few": {"indices": np.array([1, 3, 2, 3, 4, 5], np.int32)},
    "a value too few": {"data": np.ones(6)},
}
"""Twenty-four of them."""


def tampered(change: dict[str, np.ndarray]) -> scipy.sparse.csr_array:
    matrix = scipy.sparse.csr_array(tuple(parts()[name] for name in ("data", "indices", "indptr")))
    for name, array in change.items():
        setattr(matrix, name, array)
    return matrix


def saved(file: Path, change: dict[str, np.ndarray], kind: str = "csr") -> None:
    arrays = {**parts(), **change}
    np.savez(file, format=np.array(kind), shape=np.array([SIDE, SIDE]), **arrays)


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_row_pointers_are_refused_in_an_object(what):
    assert len(MALFORMED) == 24
    with pytest.raises(nl.TrafficError, match="of a sparse matrix: expected"):
        nl.Traffic.from_scipy(tampered(MALFORMED[what]))


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_row_pointers_are_refused_in_a_file(tmp_path, what, kind):
    saved(tmp_path / "bad.npz", MALFORMED[what], kind)
    with pytest.raises(nl.FormatError, match=r"bad\.npz: .* of a sparse matrix: expected"):
        nl.Traffic.read(tmp_path / "bad.npz")


def test_the_command_says_so_and_exits_3(netloom):
    saved(netloom.folder / "bad.npz", MALFORMED["far beyond in the middle"])
    word = netloom.refused("traffic", "show", "bad.npz")
    assert word == (
        "bad.npz: row pointers of a sparse matrix: expected 7 numbers that rise from 0 to 7, "
        "the number of entries"
    )


def test_whole_ones_are_taken(tmp_path):
    saved(tmp_path / "good.npz", {})
    assert nl.Traffic.read(tmp_path / "good.npz").pairs == 7
    for kind in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        matrix = tampered({}).asformat(kind)
        assert nl.Traffic.from_scipy(matrix).pairs == 7
    assert nl.Traffic.from_scipy(tampered({}).tobsr(blocksize=(3, 2))).pairs == 7


OTHERS = {
    "blocks": ("bsr", {"indptr": np.array([0, 3, 1, 5], np.int32)}),
    "block columns": ("bsr", {"indices": np.array([0, 1, 9, 2, 0], np.int32)}),
    "coordinates": ("coo", {"row": np.array([0, 0, 1, 2, 3, 4, 99], np.int32)}),
    "diagonals": ("dia", {"offsets": np.array([1, 1, 1], np.int32)}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_formats_are_looked_at_too(what):
    kind, change = OTHERS[what]
    given = tampered({}).tobsr(blocksize=(2, 2)) if kind == "bsr" else tampered({}).asformat(kind)
    names = ("data", "indices", "indptr", "row", "col", "offsets")
    found = {name: getattr(given, name) for name in names if hasattr(given, name)}
    with pytest.raises(nl.TrafficError):
        sparse.check_parts(kind, (SIDE, SIDE), {**found, **change})


def test_a_file_that_wrote_outside_of_its_memory_is_refused():
    """In a process of its own, as it killed the process: `tocoo` of pointers that leap."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_sparse as t, netloom as nl\n"
        "try: nl.Traffic.from_scipy(t.tampered(t.MALFORMED['far beyond in the middle']))\n"
        "except nl.TrafficError as error: print('refused')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "refused\n")
