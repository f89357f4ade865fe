"""Collectives as messages, beside what Open MPI's monitoring counted of its own algorithms, pair by pair.

tests/data/traces/openmpi-collectives has the counts: each algorithm forced, 4, 6, 8 and 16 ranks, 8 B, 4 KiB
and 1 MiB, on the world and on its odd ranks. The table is in docs/methods/traces.md.
"""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

import pytest

import netloom as nl
from conftest import ROOT

Pairs: TypeAlias = dict[tuple[int, int], int]
COUNTED = ROOT / "tests" / "data" / "traces" / "openmpi-collectives" / "sent.csv.gz"
ALL = ["4", "6", "8", "16", "odd of 6", "odd of 8", "odd of 16"]
POWERS = ["4", "8", "16", "odd of 8", "odd of 16"]
SIZES = (8, 4096, 1 << 20)

EQUAL = [
    ("barrier", "dissemination", 4, ALL, SIZES),
    ("reduce", "binomial", 5, ALL, SIZES),
    ("allreduce", "recursive-doubling", 3, POWERS, SIZES),
    ("allgather", "bruck", 2, ALL, SIZES),
    ("allgather", "recursive-doubling", 3, POWERS, SIZES),
    ("allgather", "ring", 4, ALL, SIZES),
    ("gather", "linear", 1, ALL, SIZES),
    ("gather", "binomial", 2, ALL, SIZES),
    ("scatter", "linear", 1, ALL, SIZES),
    ("scatter", "binomial", 2, ALL, SIZES),
    ("scatter", "linear", 3, ALL, SIZES),
    ("alltoall", "pairwise", 2, ALL, SIZES),
    ("alltoall", "bruck", 3, ALL, SIZES),
    ("alltoall", "pairwise", 4, ALL, SIZES),
    ("reduce_scatter_block", "recursive-halving", 3, POWERS, SIZES),
    ("scan", "linear", 1, ALL, SIZES),
    ("scan", "recursive-doubling", 2, ALL, SIZES),
    ("exscan", "linear", 1, ALL, SIZES),
    ("exscan", "recursive-doubling", 2, ALL, SIZES),
    # Blocks that are cut evenly: elsewhere Open MPI cuts at whole elements, and we at bytes.
    ("bcast", "ring", 9, POWERS, SIZES[1:]),
    ("allreduce", "ring", 4, POWERS, SIZES[1:]),
]
"""Collective, our algorithm, Open MPI's number of its own, where both send the same to each."""

ALIKE = [
    ("allreduce", "recursive-doubling", 3, ["6", "odd of 6"], SIZES),
    ("allgather", "recursive-doubling", 3, ["6", "odd of 6"], SIZES),
    ("reduce_scatter_block", "recursive-halving", 3, ["6", "odd of 6"], SIZES),
    ("bcast", "binomial", 6, ["4", "6", "8", "16"], SIZES),
    ("allreduce", "ring", 4, ["6", "odd of 6"], SIZES[1:]),
]
"""Where the same bytes go in all, but to others."""


@pytest.fixture(scope="module")
def counted() -> dict[tuple[str, str, int, int], Pairs]:
    found: dict[tuple[str, str, int, int], Pairs] = defaultdict(dict)
    with gzip.open(COUNTED, "rt", newline="") as file:
        for row in csv.DictReader(file):
            where = row["ranks"] if row["communicator"] == "world" else f"odd of {row['ranks']}"
            key = where, row["collective"], int(row["algorithm"]), int(row["bytes"])
            found[key][int(row["source"]), int(row["destination"])] = int(row["sent"])
    return found


def of_ours(folder: Path, name: str, algorithm: str, where: str, size: int) -> Pairs:
    """What a trace of one collective becomes; the odd ranks are a world of half as many."""
    ranks = int(where.split()[-1]) // (2 if where.startswith("odd") else 1)
    lines = {
        "barrier": "barrier",
        "bcast": f"bcast {size} 1 6",
        "reduce": f"reduce {size} 0 1 6",
        "allreduce": f"allreduce {size} 0 6",
        "allgather": f"allgather {size} {size} 6 6",
        "gather": f"gather {size} {size} 1 6 6",
        "scatter": f"scatter {size} {size} 1 6 6",
        "alltoall": f"alltoall {size} {size} 6 6",
        "reduce_scatter_block": f"reducescatter {' '.join([str(size)] * ranks)} 0 6",
        "scan": f"scan {size} 0 6",
        "exscan": f"exscan {size} 0 6",
    }
    text = "".join(f"{rank} init\n{rank} {lines[name]}\n{rank} finalize\n" for rank in range(ranks))
    (folder / "t.ti").write_text(text)
    kind = name.removesuffix("_block").replace("_", "-")
    (folder / "jobs.toml").write_text(
        f'[[job]]\ntrace = "t.ti"\nphases = "one"\nalgorithms = "{kind}={algorithm}"\n'
    )
    fabric = nl.Fabric.generate(f"two-level:leaves={ranks},hosts=1,spines=1")
    traffic, _ = nl.place_jobs(fabric, folder / "jobs.toml")
    matrix = traffic.to_scipy().tocoo()
    at = (lambda rank: 2 * rank + 1) if where.startswith("odd") else (lambda rank: rank)
    return {
        (at(int(a)), at(int(b))): int(c) for a, b, c in zip(matrix.row, matrix.col, matrix.data, strict=True)
    }


@pytest.mark.parametrize(
    ("name", "algorithm", "number", "places", "sizes"), EQUAL, ids=lambda value: str(value)[:20]
)
def test_each_pair_gets_what_open_mpi_sends(
    name: str, algorithm: str, number: int, places: list[str], sizes: tuple[int, ...], counted, tmp_path: Path
) -> None:
    for where in places:
        for size in sizes:
            theirs = counted[where, name, number, size]
            assert theirs, (where, size)
            assert of_ours(tmp_path, name, algorithm, where, size) == theirs, (where, size)


@pytest.mark.parametrize(
    ("name", "algorithm", "number", "places", "sizes"), ALIKE, ids=lambda value: str(value)[:20]
)
def test_where_pairs_differ_the_bytes_in_all_do_not(
    name: str, algorithm: str, number: int, places: list[str], sizes: tuple[int, ...], counted, tmp_path: Path
) -> None:
    for where in places:
        for size in sizes:
            theirs = counted[where, name, number, size]
            ours = of_ours(tmp_path, name, algorithm, where, size)
            assert ours != theirs, (where, size)
            assert sum(ours.values()) == sum(theirs.values()) > 0, (where, size)
