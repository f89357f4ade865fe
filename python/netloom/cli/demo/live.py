"""`netloom demo live`: the closed loop in front of a real OpenSM, without hardware.

A fabric is built in ibsim, OpenSM brings it up with the tables of today, ports count what real applications
would send, and three rounds of the loop follow: in the first the tables are changed, in the second the same
jobs go on and nothing is left to gain, in the third jobs have moved to other hosts.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import apply as changing
from netloom import extras, files
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.errors import LiveError
from netloom.loop import journal, summary
from netloom.loop.round import whole
from netloom.runs import lock
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Traffic
    from netloom.apply import Seen
    from netloom.live.bed import Bed
    from netloom.loop.live import Live

FOLDER = Path("demo-live")
"""Where the demo writes unless told otherwise."""
ROUTES = "routes.lfts"
"""In it, the file that OpenSM reads."""

_INPUTS = {
    True: ("ft2_32/ibnetdiscover.txt", "jobs/live-small.toml"),
    False: ("quartz1/ibnetdiscover.txt.gz", "jobs/live.toml"),
}
_ENGINE = "ftree"
_BUSIEST_BYTES = 5e10
"""What the busiest link carries in an interval: far more than reading the counters does."""
_NOISE = {True: 0.001, False: 0.002}
"""Relative standard deviation of a counter, as ports are not read all at one moment; small or not."""
_PHASES = ("the jobs run", "they go on", "jobs on other hosts")
_SEEDS = {True: (4, 4, 11), False: (1, 1, 2)}
"""What places the jobs of every round, small or not."""
_EXCERPT = 6


@dataclass(frozen=True)
class _Work:
    """What runs in a round."""

    name: str
    traffic: Traffic
    jobs: Sequence[Job]


def live(*, small: bool = False, options: Computing | None = None) -> int:
    """The closed loop in front of a real OpenSM, on a simulated fabric: three rounds, before and after.

    Builds quartz1 in ibsim, has OpenSM load today's tables, and runs three rounds of the loop on the counters
    that real applications would leave: poll, infer, optimise, check, predict, decide, apply through OpenSM,
    read back.

    Parameters
    ----------
    small
        A fabric of 32 hosts instead of the 3072 of quartz1.
    options
        Common options; `-o` is the folder to write to (`demo-live` unless given).
    """
    from netloom.live import missing_tools

    options = options or Computing()
    if options.output is not None and is_stdin(str(options.output)):
        raise UsageError("the demo writes several files: -o FOLDER")
    extras.need("arrow", "scipy")
    missing = missing_tools()
    if missing:
        raise LiveError(
            f"{', '.join(missing)} not installed "
            "(Debian: apt-get install opensm ibsim-utils infiniband-diags)"
        )
    run = Run("demo-live", options, folder=True)
    folder = options.output or FOLDER
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock.alone_in(folder))
        _check_folder(folder)
        data = stack.enter_context(resources.as_file(resources.files("netloom") / "data" / "demo"))
        result = _rounds(run, stack, data, folder, small)
        run.write_in(folder, journal.SUMMARY, _page(result))
    findings = not result["tables_equal"] or result["unreachable_pairs"] > 0
    return run.finish(result, lambda: text(result), rows=rows_of(result["rounds"]), findings=findings)


def _rounds(run: Run, stack: contextlib.ExitStack, data: Path, folder: Path, small: bool) -> dict[str, Any]:
    from netloom import _core
    from netloom.live.bed import bed
    from netloom.loop.live import LiveLoop

    dump, jobs_file = (data / name for name in _INPUTS[small])
    net = run.fabric(str(dump))
    run.read("jobs", str(jobs_file))
    run.note_jobs(jobs_file)
    written = journal.Journal(folder)
    routes_file = folder / ROUTES
    # First of all, so that what an early end leaves is known for ours.
    changes = changing.Journal.beside(routes_file)
    changes.clear()
    with files.Folder.open(folder) as output:
        output.make(changes.folder.name)
        output.write(ROUTES, _core.route(_ENGINE, net, seed=run.seed).to_bytes())
    with run.timed("start"):
        there = stack.enter_context(bed(net, routes_file))
    work = [
        _Work(name, *_core.place_jobs(there.fabric, jobs_file, seed=seed))
        for name, seed in zip(_PHASES, _SEEDS[small], strict=True)
    ]
    done: list[Live] = []
    rows: list[dict[str, Any]] = []
    with LiveLoop(
        there.sim.access, lambda: there.manager.manager, seed=run.seed, threads=run.threads
    ) as loop:
        for one in work:
            run.note(f"round {len(done) + 1}: {one.name}")
            start = time.monotonic()
            live = loop.round(_jobs(one), _interval(there, one, small), phase=one.name)
            done.append(live)
            written.append(*journal.of_live(live))
            if live.interrupted:
                raise KeyboardInterrupt
            took = time.monotonic() - start - live.round.seconds.get("simulate", 0.0)
            rows.append(_row(live, one, took))
    with run.timed("verify"):
        equal, unreachable = _verified(there, routes_file)
    changed = next((live for live in done if live.round.changed), done[0])
    return {
        "hosts": net.hosts,
        "switches": net.switches,
        "links": int(net.link_table()["alive"].sum()),
        "engine_before": _ENGINE,
        "tables_equal": equal,
        "unreachable_pairs": unreachable,
        "rounds": rows,
        "excerpt": _excerpt(changed),
        "folder": str(folder),
        "files": [ROUTES, changes.folder.name, journal.FILE, journal.SUMMARY],
    }


def _check_folder(folder: Path) -> None:
    """Refuses a folder with anything in it that no earlier demo has left there."""
    if not files.check_folder(folder):
        return
    with files.Folder.open(folder) as opened:
        there = set(opened.names())
    ours = {ROUTES, f"{ROUTES}.journal", journal.FILE, journal.SUMMARY, lock.NAME}
    foreign = sorted(name for name in there - ours if not name.startswith("round-"))
    if not foreign and there and not there & (ours - {ROUTES, lock.NAME}):
        foreign = sorted(there - {lock.NAME})
    if foreign:
        raise OSError(
            errno.ENOTEMPTY,
            f"holds {foreign[0]}, which no earlier demo has left there: expected a new folder (-o FOLDER)",
            str(folder),
        )


def _page(result: dict[str, Any]) -> bytes:
    """The rounds as a page."""
    decisions = [row["decision"] for row in result["rounds"]]
    return summary.page(
        {
            "loop": "demo live",
            "scenario": "three rounds in front of OpenSM on a simulated fabric",
            "routes": result["engine_before"],
            "counters": "polled",
            "weight": "bytes",
            "applied": decisions.count("applied"),
            "kept": decisions.count("kept"),
            "rolled_back": decisions.count("rolled back"),
            **result,
        }
    )


def _jobs(one: _Work) -> Callable[[Fabric], Sequence[Job]]:
    return lambda _fabric: one.jobs


def _interval(there: Bed, one: _Work, small: bool) -> Callable[[Seen], None]:
    """An interval of a round: the work runs under the tables in force."""
    from netloom import _core

    number = itertools.count()

    def interval(seen: Seen) -> None:
        busiest = whole(_core.loads(seen.fabric, seen.tables, one.traffic, work=0)).max
        there.run(
            one.traffic, seen.tables, scale=_BUSIEST_BYTES / busiest, noise=_NOISE[small], seed=next(number)
        )

    return interval


def _row(live: Live, one: _Work, took: float) -> dict[str, Any]:
    from netloom import _core

    def gap(seen: Seen) -> float | None:
        return whole(_core.loads(seen.fabric, seen.tables, one.traffic, work=0)).ar_gap_percent

    return {
        **live.row(),
        "true_gap_before_percent": gap(live.before),
        "true_gap_after_percent": gap(live.after),
        "whole_seconds": round(took, 6),
    }


def _verified(there: Bed, routes_file: Path) -> tuple[bool, int]:
    """Whether all switches have exactly what the file says, and how many pairs cannot talk."""
    from netloom import _core
    from netloom.apply import look

    now = look(there.sim.access)
    written = _core.Routes.read(routes_file, now.fabric)
    report = _core.check(now.fabric, now.tables)
    return now.tables.changed_entries(written) == 0, report.unreachable_pairs


def _excerpt(live: Live) -> dict[str, Any]:
    """A few entries of the switch that changed most, before and after."""
    old, new = live.before.tables.table(), live.after.tables.table()
    fabric: Fabric = live.after.fabric
    differ = old != new
    switch = int(differ.sum(axis=1).argmax())
    hosts = np.flatnonzero(differ[switch][: fabric.hosts])[:_EXCERPT].tolist()
    return {
        "switch": fabric.switch_names[switch],
        "entries": [
            {
                "destination": fabric.host_names[host],
                "port_before": int(old[switch, host]),
                "port_after": int(new[switch, host]),
            }
            for host in hosts
        ],
    }


def rows_of(rounds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds: a row a live round, its seconds summed, its findings as text."""
    rows = []
    for entry in rounds:
        findings = "; ".join(f"{one['kind']}: {one['text']}" for one in entry["findings"])
        rows.append({**entry, "seconds": round(sum(entry["seconds"].values()), 6), "findings": findings})
    return rows


def text(result: dict[str, Any]) -> str:
    """The demo's report."""
    count, percent = render.count, render.percent
    hosts, switches, links = (count(result[key]) for key in ("hosts", "switches", "links"))
    parts = [
        f"{hosts} hosts, {switches} switches, {links} directed links in ibsim; OpenSM (file,no_fallback) "
        f"began with {result['engine_before']}"
    ]

    def or_none(value: float | None) -> str:
        return "" if value is None else percent(value)

    header = [
        "round",
        "AR gap before",
        "after",
        "predicted",
        "found",
        "changed",
        "decision",
        "own s",
        "OpenSM s",
        "whole s",
    ]
    rows = [
        [
            str(row["number"]),
            or_none(row["true_gap_before_percent"]),
            or_none(row["true_gap_after_percent"]),
            or_none(row["predicted_gain"]),
            or_none(row["realised_gain"]),
            count(row["changed_entries"]),
            row["decision"],
            f"{row['own_seconds']:.2f}",
            f"{row['opensm_seconds']:.2f}",
            f"{row['whole_seconds']:.2f}",
        ]
        for row in result["rounds"]
    ]
    parts.append(render.table(header, rows, right=(0, 1, 2, 3, 4, 5, 7, 8, 9), spare=(8, 7)))
    parts.append(
        "\n".join(f"round {row['number']}, {row['phase']}: {row['reason']}" for row in result["rounds"])
    )
    excerpt = result["excerpt"]
    if excerpt["entries"]:
        lines = [
            [entry["destination"], str(entry["port_before"]), str(entry["port_after"])]
            for entry in excerpt["entries"]
        ]
        table = render.table(["to", "port before", "after"], lines, right=(1, 2))
        parts.append(f"table of {excerpt['switch']}, the first entries that changed\n{table}")
    equal = "equal the file, entry by entry" if result["tables_equal"] else "DIFFER from the file"
    parts.append(
        f"tables read back from {switches} switches {equal}; "
        f"{count(result['unreachable_pairs'])} pairs cannot talk"
    )
    folder = result["folder"]
    parts.append(
        f"written to {folder}/: {', '.join(result['files'])}\n"
        f"next: netloom apply history --journal {shlex.quote(f'{folder}/routes.lfts.journal')}"
    )
    return "\n\n".join(parts)
