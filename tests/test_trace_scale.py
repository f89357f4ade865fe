"""`netloom trace scale`: recordings on more ranks, beside programs and recordings of as many."""

from __future__ import annotations

import itertools
import math
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netloom as nl
from conftest import ROOT, Netloom
from netloom import _core
from netloom.errors import FormatError
from netloom.recording import opening, progress, scaling
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
    # Here the last dimension's neighbours are next to each other; a grid begins with it, as in patterns.
    wanted = "x".join(map(str, after[::-1]))
    made = netloom.json("trace", "scale", tmp_path / "a.ti", wanted, "-o", tmp_path / "c.ti")["result"]
    assert made["grid"] == {
        "from": list(before[::-1]),
        "to": list(after[::-1]),
        "periodic": list(periodic[::-1]),
    }
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


def chain(ranks: int, first: str) -> str:
    """Neighbours exchange with blocking calls, each rank in the order that `first` has for its number."""
    lines = []
    for rank in range(ranks):
        lines.append(f"{rank} init")
        for other in (rank - 1, rank + 1):
            if 0 <= other < ranks:
                both = [f"{rank} send {other} 0 1000000 6", f"{rank} recv {other} 0 1000000 6"]
                lines += both if first[rank] == "s" else both[::-1]
        lines.append(f"{rank} finalize")
    return "\n".join(lines) + "\n"


def test_a_larger_run_that_would_wait_for_ever_is_not_written(netloom: Netloom, tmp_path: Path) -> None:
    """Who sends first takes turns with who receives first: the inner ranks of six would all do as rank 1."""
    (tmp_path / "turns.ti").write_text(chain(4, "srsr"))
    told = netloom.refused("trace", "scale", tmp_path / "turns.ti", 6, "-o", tmp_path / "six.ti")
    assert "expected a run that ends, as the recorded one does, found ranks that wait for each other" in told
    assert not (tmp_path / "six.ti").exists()
    # All send first: unsafe before and after, and the larger run is as good as the recorded one.
    (tmp_path / "send.ti").write_text(chain(4, "ssss"))
    made = netloom.json("trace", "scale", tmp_path / "send.ti", 6, "-o", tmp_path / "sent.ti")["result"]
    assert made["ranks"] == 6


def test_a_trace_that_cannot_end_is_told() -> None:
    """By hand: a pair that receives first is stuck; one that sends first is where no send is buffered."""
    cases = {
        "0 recv 1 0 8 6\n0 send 1 0 8 6\n1 recv 0 0 8 6\n1 send 0 0 8 6\n": ([0, 1], []),
        "0 send 1 0 8 6\n0 recv 1 0 8 6\n1 send 0 0 8 6\n1 recv 0 0 8 6\n": ([], [0, 1]),
        "0 isend 1 0 8 6\n0 recv 1 0 8 6\n0 waitall 1\n1 send 0 0 8 6\n1 recv 0 0 8 6\n": ([], []),
        # A broadcast's root may go on; who waits for the root's later message in a barrier's stead may not.
        "0 bcast 8 0 6\n0 send 1 0 8 6\n1 recv 0 0 8 6\n1 bcast 8 0 6\n": ([], [0, 1]),
        "0 barrier\n0 send 1 0 8 6\n1 recv 0 0 8 6\n1 barrier\n": ([0, 1], []),
        "0 sendrecv 8 1 8 1 6 6\n1 sendrecv 8 0 8 0 6 6\n": ([], []),
    }
    for text, (stuck, unsafe) in cases.items():
        found = progress.progress(opening.of_columns(events_of(text)))
        assert [one.rank for one in found.stuck] == stuck, text
        assert [one.rank for one in found.unsafe] == unsafe, text


def events_of(text: str) -> Any:
    with tempfile.NamedTemporaryFile("w", suffix=".ti") as file:
        file.write(text)
        file.flush()
        return _core.trace_events(file.name)


def every_pair(ranks: int) -> str:
    lines = []
    for rank in range(ranks):
        others = [other for other in range(ranks) if other != rank]
        lines += [f"{rank} init", *(f"{rank} irecv {other} 0 8 6" for other in others)]
        lines += [
            *(f"{rank} isend {other} 0 8 6" for other in others),
            f"{rank} waitall 2",
            f"{rank} finalize",
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("ranks", [3, 9, 27])
def test_a_transpose_is_not_taken_for_a_stencil(ranks: int, netloom: Netloom, tmp_path: Path) -> None:
    (tmp_path / "t.ti").write_text(every_pair(ranks))
    told = netloom.refused("trace", "scale", tmp_path / "t.ti", 8 * ranks, "-o", tmp_path / "x.ti")
    assert "with periodic ends at least 4 (of 3, each is a neighbour of each, as in a transpose)" in told
    assert not (tmp_path / "x.ti").exists()


def test_a_grid_is_given_with_the_fastest_dimension_first(netloom: Netloom, tmp_path: Path) -> None:
    """As patterns have it: the traffic of a larger stencil is that of the pattern of the same words."""
    (tmp_path / "a.ti").write_text(stencil((3, 4), (False, False), diagonals=False))
    made = netloom.json("trace", "scale", tmp_path / "a.ti", "8x3", "-o", tmp_path / "b.ti")["result"]
    assert made["grid"]["from"] == [4, 3]
    assert made["grid"]["to"] == [8, 3]
    pattern = nl.Traffic.pattern("stencil:8x3", 24).to_scipy().tocoo()
    assert set(pairs_of(tmp_path / "b.ti", "none")) == set(zip(pattern.row, pattern.col, strict=True))


@pytest.mark.parametrize("dims", [(4, 4), (2, 2, 2), (2, 4), (5,)])
def test_every_size_that_a_refusal_names_is_taken(
    dims: tuple[int, ...], netloom: Netloom, tmp_path: Path
) -> None:
    (tmp_path / "a.ti").write_text(stencil(dims, (False,) * len(dims), diagonals=False))
    told = (
        netloom.refused("trace", "scale", tmp_path / "a.ti", 67, "-o", tmp_path / "x.ti")
        if len(dims) > 1
        else ""
    )
    hints = re.findall(r"\d+", told.split("expected ")[1].split(" ranks (each")[0]) if "(each" in told else []
    hints += re.findall(r"such as ([\dx]+)", told)
    assert bool(hints) == (dims not in [(2, 2, 2), (5,)]), told
    for n, hint in enumerate(hints):
        netloom.ok("trace", "scale", tmp_path / "a.ti", hint, "-o", tmp_path / f"{n}.ti", "-q")
    if record := re.search(r"record it on ([\dx]+) ranks", told):
        larger = tuple(map(int, record[1].split("x")))[::-1]
        (tmp_path / "b.ti").write_text(stencil(larger, (False,) * len(dims), diagonals=False))
        twice = math.prod(2 * n for n in larger)
        netloom.ok("trace", "scale", tmp_path / "b.ti", twice, "-o", tmp_path / "c.ti", "-q")


def program(ranks: int, partners: dict[int, list[int]]) -> str:
    """A step of every rank: a message to and from each partner."""
    lines = []
    for rank in range(ranks):
        lines.append(f"{rank} init")
        lines += [f"{rank} irecv {peer} 0 8 6" for peer in partners[rank]]
        lines += [f"{rank} isend {peer} 0 8 6" for peer in partners[rank]]
        lines += [f"{rank} waitall {2 * len(partners[rank])}", f"{rank} finalize"]
    return "\n".join(lines) + "\n"


def rows(of: int, ranks: int) -> dict[int, list[int]]:
    """An all-to-all in each row of so many."""
    each = {rank: range(rank - rank % of, rank - rank % of + of) for rank in range(ranks)}
    return {rank: [peer for peer in row if peer != rank] for rank, row in each.items()}


def cube(ranks: int) -> dict[int, list[int]]:
    return {rank: [rank ^ (1 << bit) for bit in range(ranks.bit_length() - 1)] for rank in range(ranks)}


@pytest.mark.parametrize(
    "partners",
    [rows(4, 16), rows(6, 36), rows(4, 32), cube(8), cube(16), cube(32)],
    ids=["rows of 4", "rows of 6", "8 rows of 4", "cube of 8", "cube of 16", "cube of 32"],
)
def test_no_size_is_named_where_none_is_taken(
    partners: dict[int, list[int]], netloom: Netloom, tmp_path: Path
) -> None:
    (tmp_path / "a.ti").write_text(program(len(partners), partners))
    told = netloom.refused("trace", "scale", tmp_path / "a.ti", 16 * len(partners), "-o", tmp_path / "x.ti")
    assert "give a grid" not in told
    assert "such as" not in told
    # Two ranks a dimension are a hypercube's or a grid's: it is said on which condition.
    assert ("record it on" in told) == ("if its ranks are a grid's" in told)


def test_more_ranks_than_fit_are_refused_at_once(netloom: Netloom, tmp_path: Path) -> None:
    (tmp_path / "a.ti").write_text(stencil((4,), (False,), diagonals=False))
    told = netloom.refused("trace", "scale", tmp_path / "a.ti", 99_999_999, "-o", tmp_path / "x.ti")
    assert told.endswith("expected at most 1,000,000 ranks, found 99,999,999")
