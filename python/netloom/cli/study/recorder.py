"""`netloom study recorder`: table II of AFAR's paper, what recording costs applications, and our recorder's.

The paper's overheads are estimates for routes that are made anew once a minute: a matrix is reduced over
the job's nodes in 50 ms a minute, and each call of MPI is intercepted and recorded in 100 to 380 ns. The time
of a call is chosen by row so that this gives the published overheads. Here calls take what they are measured
to take on this machine. Nothing is reduced within the program: ranks write mapped files, and who wants the
matrix reads these; what that takes is measured for as many ranks as the paper's jobs have.
Source: Smith et al., SC 2018, section V-C and table II.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from netloom.cli.shared import options, render
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.errors import NetloomError
from netloom.files import Scratch
from netloom.recording import cost, merging
from netloom.recording.records import Record

EVERY_S = 60
REDUCE_S = 0.05
"""The paper's: a matrix is reduced once a minute, in so long."""
CALL_NS = (100, 380)
"""The paper's: what intercepting and recording a call takes."""
JOB_RANKS = 144 * 16
"""Of the job whose matrix the paper reduces: 144 nodes of 16 cores."""
_PEERS = 26
_WAYS: tuple[cost.Way, ...] = ("matrix", "events")


@dataclass(frozen=True)
class Published:
    """A row of table II.

    Attributes
    ----------
    application : str
    run_time_s : int
    calls : int
        Of MPI.
    overhead_s, percent : float
        As published.
    call_ns : int
        What a call takes, so that the formula gives the overhead.
    """

    application: str
    run_time_s: int
    calls: int
    overhead_s: float
    percent: float
    call_ns: int


TABLE = (
    Published("Qbox", 340, 32_000, 0.26, 0.08, 312),
    Published("MILC", 341, 913_000, 0.35, 0.10, 110),
    Published("pF3D", 320, 144_000, 0.31, 0.10, 417),
)


def formula_s(row: Published) -> float:
    """The paper's overhead of a row: once a minute a matrix is reduced, and every call is recorded."""
    return row.run_time_s // EVERY_S * REDUCE_S + row.calls * row.call_ns * 1e-9


def recorder(*, rounds: Annotated[int, options.within(1, 100)] = 3, options: Options | None = None) -> int:
    """What recording costs applications: table II of AFAR's paper, and the same with netloom's recorder here.

    A small program is compiled with the MPI in PATH (mpicc and mpirun; with Debian's names both Open MPI and
    MPICH) and sends messages in turn through the recorder and past it. Takes seconds, and says more on a
    quiet machine.

    Parameters
    ----------
    rounds
        How often each is run; the median counts.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    run = Run("recorder-study", options or Options(), product=False)
    mpis = cost.installed()
    if not mpis:
        raise NetloomError("no MPI in PATH: expected mpicc and mpirun, to measure what a call takes")
    measured: list[dict[str, Any]] = []
    with Scratch.private() as scratch, run.timed("measure"):
        for mpi in mpis:
            program = cost.compiled(mpi, scratch.path)
            for way in _WAYS:
                found = cost.measure(mpi, program, way, rounds=rounds)
                measured.append(
                    {
                        "mpi": mpi.name,
                        "records": way,
                        "message_ns": found.without_ns,
                        "ns_per_call": found.median_ns,
                        "low_ns": found.low_ns,
                        "high_ns": found.high_ns,
                        "own_ns_per_call": found.own_ns,
                    }
                )
    with run.timed("merge"):
        merge_s = _merged_s()
    worst = {
        way: max(max(row["ns_per_call"] for row in measured if row["records"] == way), 0.0) for way in _WAYS
    }
    rows = [_row(one, worst) for one in TABLE]
    result = {
        "rows": rows,
        "measured": measured,
        "merge": {"ranks": JOB_RANKS, "pairs": JOB_RANKS * _PEERS, "seconds": merge_s},
        "paper": {"every_s": EVERY_S, "reduce_s": REDUCE_S, "call_ns": list(CALL_NS)},
    }
    return run.finish(result, lambda: _text(result), rows=rows)


def _row(one: Published, worst: dict[cost.Way, float]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "application": one.application,
        "run_time_s": one.run_time_s,
        "mpi_calls": one.calls,
        "published_s": one.overhead_s,
        "published_percent": one.percent,
        "formula_ns_per_call": one.call_ns,
        "formula_s": formula_s(one),
    }
    for way, ns in worst.items():
        row[f"{way}_s"] = one.calls * ns * 1e-9
        row[f"{way}_percent"] = 100 * row[f"{way}_s"] / one.run_time_s
    return row


def _merged_s() -> float:
    """How long the sums of a job as large as the paper's take to become a matrix, in seconds."""
    draw = np.random.default_rng(1)
    found = []
    for rank in range(JOB_RANKS):
        peers = np.sort(draw.choice(JOB_RANKS, _PEERS, replace=False)).astype(np.int64)
        sums = draw.integers(1, 10**6, (_PEERS, 2)).astype(np.uint64)
        host = f"node{rank // 16}"
        found.append(
            Record(
                *(rank, JOB_RANKS, "finalized", "open-mpi", 0, host, "app", "MPI", 1, 2, 5.0, 0),
                functions={"Isend": ("nonblocking", int(sums[:, 0].sum()), int(sums[:, 1].sum()))},
                peers=peers,
                sums=sums,
            )
        )
    start = time.perf_counter()
    merging.merge(found)
    return time.perf_counter() - start


def _text(result: dict[str, Any]) -> str:
    count = render.count
    header = ["a call, past the recorder and through it", "records", "message", "a call more", "of batches"]
    lines = [
        [
            row["mpi"],
            row["records"],
            f"{row['message_ns']:.0f} ns",
            f"{row['ns_per_call']:.1f} ns",
            f"{row['low_ns']:.1f} to {row['high_ns']:.1f}",
        ]
        for row in result["measured"]
    ]
    parts = [render.table(header, lines, right=range(2, len(header)))]
    header = [
        "table II",
        "run time",
        "MPI calls",
        "published",
        "",
        "its formula",
        "netloom, sums",
        "",
        "events",
        "",
    ]
    lines = [
        [
            row["application"],
            f"{row['run_time_s']} s",
            count(row["mpi_calls"]),
            f"{row['published_s']:.2f} s",
            f"{row['published_percent']:.2f} %",
            f"{row['formula_s']:.2f} s",
            f"{row['matrix_s']:.4f} s",
            render.percent(row["matrix_percent"]),
            f"{row['events_s']:.4f} s",
            render.percent(row["events_percent"]),
        ]
        for row in result["rows"]
    ]
    parts.append(render.table(header, lines, right=range(1, len(header))))
    merge = result["merge"]
    parts.append(
        f"The paper's are {REDUCE_S * 1e3:.0f} ms a minute, in which the ranks reduce a matrix, and "
        f"{CALL_NS[0]} to {CALL_NS[1]} ns a call.\nHere ranks reduce nothing: they write files, from which "
        f"{count(merge['ranks'])} ranks' sums become a matrix in {merge['seconds']:.2f} s,\noutside of the "
        "program. Of several MPIs the dearer one counts."
    )
    return "\n\n".join(parts)
