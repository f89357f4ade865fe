"""`netloom trace scale`: recordings on more ranks, beside programs and recordings of as many."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from conftest import ROOT, Netloom
from netloom.errors import FormatError
from netloom.recording import opening, scaling
from netloom.recording.trace import Trace

DATA = ROOT / "examples" / "data"


def stencil(dims: tuple[int, ...], periodic: tuple[bool, ...], *, diagonals: bool) -> str:
    """A program on a grid, written anew for each size: two steps, bytes by direction, then collectives."""
    lines = []
    ranks = math.prod(dims)
    for rank in range(ranks):
        place = np.unravel_index(rank, dims)
        lines.append(f"{rank} init")
        for step in range(2):
            others = []
            for way in itertools.product((-1, 0, 1), repeat=len(dims)):
                if not any(way) or (sum(map(abs, way)) > 1 and not diagonals):
                    continue
                at = [p + w for p, w in zip(place, way, strict=True)]
                inside = [0 <= a < n or round_ for a, n, round_ in zip(at, dims, periodic, strict=True)]
                if all(inside):
                    to = np.ravel_multi_index([a % n for a, n in zip(at, dims, strict=True)], dims)
                    number = sum((w + 1) * 3**k for k, w in enumerate(way))
                    others.append((int(to), number))
            # Receives have the number of the way that the sender goes.
            most = 3 ** len(dims) - 1
            lines += [f"{rank} irecv {to} {most - way} {100 + most - way} 6" for to, way in others]
            lines += [f"{rank} isend {to} {way} {100 + way} 6" for to, way in others]
            lines += [f"{rank} waitall {2 * len(others)}", f"{rank} compute {1000 * (step + 1)}"]
        lines += [f"{rank} allreduce 8 0 6", f"{rank} alltoall 16 16 6 6", f"{rank} bcast 64 0 6"]
        lines.append(f"{rank} finalize")
    return "\n".join(lines) + "\n"


def pairs_of(path: Path, collectives: str) -> dict[tuple[int, int], float]:
    matrix = nl.Traffic.read(str(path), collectives=collectives).to_scipy().tocoo()
    return {(int(a), int(b)): float(c) for a, b, c in zip(matrix.row, matrix.col, matrix.data, strict=True)}


@pytest.mark.parametrize(
    ("before", "after", "periodic", "diagonals"),
    [
        ((4,), (9,), (False,), False),
        ((4,), (9,), (True,), False),
        ((3, 4), (6, 8), (False, False), True),
        ((4, 3), (5, 7), (True, False), False),
        ((5, 5), (7, 6), (True, True), True),
        ((3, 3, 3), (6, 6, 6), (False, False, False), True),
        ((4, 2, 4), (6, 2, 5), (False, False, True), False),
    ],
)
def test_a_stencil_on_more_ranks_is_the_program_on_more_ranks(
    before: tuple[int, ...],
    after: tuple[int, ...],
    periodic: tuple[bool, ...],
    diagonals: bool,
    netloom: Netloom,
    tmp_path: Path,
) -> None:
    (tmp_path / "a.ti").write_text(stencil(before, periodic, diagonals=diagonals))
    (tmp_path / "b.ti").write_text(stencil(after, periodic, diagonals=diagonals))
    wanted = "x".join(map(str, after))
    made = netloom.json("trace", "scale", tmp_path / "a.ti", wanted, "-o", tmp_path / "c.ti")["result"]
    assert made["grid"] == {"from": list(before), "to": list(after), "periodic": list(periodic)}
    assert made["unlike"] == 0
    for collectives in ("none", "all"):
        assert pairs_of(tmp_path / "c.ti", collectives) == pairs_of(tmp_path / "b.ti", collectives)
    netloom.ok("trace", "convert", tmp_path / "b.ti", "-o", tmp_path / "d.ti")
    assert (tmp_path / "c.ti").read_text() == (tmp_path / "d.ti").read_text()


def messages(trace: Trace) -> Counter[tuple[int, int, int]]:
    found: Counter[tuple[int, int, int]] = Counter()
    sends = np.isin(trace.functions, ["Send", "Isend"])
    for rank, events in enumerate(trace.events):
        mine = sends[events.function]
        found.update(
            (rank, int(peer), int(size))
            for peer, size in zip(events.peer[mine], events.bytes[mine], strict=True)
        )
    return found


def test_lulesh_of_64_ranks_is_that_of_512() -> None:
    """The recordings differ in their cubes' edge (30, 16) and their steps (10, 5): messages are counted so.

    A message has values of a face, an edge or a corner of the cube; a pair has some of each kind a step, and
    perhaps one before the first step.
    """
    small, _ = opening.read(DATA / "lulesh-64.ti.gz")
    large, _ = opening.read(DATA / "lulesh-512.ti.gz")
    made = scaling.scaled(small, 512, "x")
    assert (made.before, made.after, made.periodic, made.unlike) == ((4, 4, 4), (8, 8, 8), (False,) * 3, 0)
    edges = {30: 16, 31: 17}
    size = {8 * k: 8 * k for k in (1, 3, 6)}
    for n in (30, 31):
        for k in (1, 3, 6):
            size[8 * k * n] = 8 * k * edges[n]
            size[8 * k * n * n] = 8 * k * edges[n] ** 2
    predicted: Counter[tuple[int, int, int]] = Counter()
    for (source, destination, of), times in messages(made.trace).items():
        assert times % 10 in (0, 1)
        predicted[source, destination, size[of]] += times // 10 * 5 + times % 10
    assert predicted == messages(large)
    assert len({key[:2] for key in predicted}) == 10_136
    assert sum(key[2] * times for key, times in predicted.items()) == 295_742_272


def test_what_is_no_regular_grid_is_refused() -> None:
    trace, _ = opening.read(DATA / "cg-128.ti.gz")
    with pytest.raises(FormatError, match="found none of 128 ranks on which all are"):
        scaling.scaled(trace, 256, "x")
    trace, _ = opening.read(ROOT / "tests" / "data" / "traces" / "otf2-scorep-10")
    with pytest.raises(FormatError, match="expected communicators of all ranks, found number"):
        scaling.scaled(trace, 20, "x")
    trace, _ = opening.read(ROOT / "tests" / "data" / "traces" / "dumpi-is-8")
    with pytest.raises(FormatError, match="collectives of equal parts, found MPI_Alltoallv"):
        scaling.scaled(trace, 16, "x")
