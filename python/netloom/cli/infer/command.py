"""`netloom infer`: who talks to whom, from what ports counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from netloom.cli import traffic
from netloom.cli.counters import windows
from netloom.cli.shared import jobs as who
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import named, need, refuse
from netloom.counting.earlier import EarlierAnswers
from netloom.counting.windows import Window, check, differ, port_errors
from netloom.counting.windows import read as read_window
from netloom.errors import ArgumentError
from netloom.findings import findings
from netloom.lanes.files import check_tables
from netloom.optimizing import told_error
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.slurm import Period

_ATOMS = 3
"""How many atoms of a job the text tells."""
_WORST = 5
"""How many unexplained links it tells."""

_WORTH_TELLING = 0.1
"""Percent of what was counted from which on unexplained links are told."""

_BEGIN_S, _END_S = 60e-9, 150e-9
"""Seconds a pair of hosts: to lay pairs out, and to judge and tell the answer; both must be done whole."""

_WHOLE = 0.995
"""A verdict that speaks of this part of what was counted speaks of all."""

_VERDICTS = {
    "identified": "identified: what every leaf sends to every host is known well enough to choose routes by",
    "partly": "partly: some of what every leaf sends to every host is known, the rest is a guess",
    "not identifiable": "not identifiable: certain is only what every host sends and receives",
}

_UNFIT = (
    *need(("--sl2vl",), ("--vl-scheme",), "--sl2vl needs --vl-scheme: which tables are expected"),
    *need(("--during",), ("--jobs",), "--during needs --jobs: which of them had their nodes then"),
)


def infer(
    fabric: str,
    routes: str,
    counters: str,
    after: str | None = None,
    /,
    *,
    jobs: Path | None = None,
    during: str | None = None,
    vl_scheme: str | None = None,
    unit: Literal["bytes", "packets", "mixed"] = "bytes",
    mtu: Annotated[float, options.within(1, 65536.0)] = 4096.0,
    also_counted: list[str] | None = None,
    interval: Annotated[list[int] | None, options.COUNTS] = None,
    truth: str | None = None,
    ranges: Annotated[int, options.COUNT] = 0,
    write_hose: Annotated[Path | None, options.OUTPUT_PATH] = None,
    remember: Path | None = None,
    paths: Path | None = None,
    sl2vl: Path | None = None,
    adapters: who.Adapters | None = None,
    options: Computing | None = None,
) -> int:
    """Infer who talks to whom from switch counters.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec (`quartz1`).
    routes
        The routes that were in force: a file, an engine's name (`ftree`), or `adaptive`.
    counters
        Counters of an interval; or the first of two readings.
    after
        The second reading: the interval is what was counted in between.
    jobs
        A jobs file (.toml), or what `squeue --json`, `sacct -P` or `sacct --json` printed: only hosts of one
        job talk to each other. Of a matrix or pattern in it, only the number of ranks is used. [default: all
        hosts are one job, a rank each]
    during
        START,END of a past interval, as Slurm prints times: of Slurm's jobs those that had their nodes then.
        [default: those that have not ended]
    vl_scheme
        How pairs were spread over virtual lanes: `5sl5vl:seed=1`, as in `netloom counters synth`.
        [default: whole links are used]
    unit
        What is inferred: bytes, packets, or the mean of bytes and of packets times the MTU (`mixed`).
    mtu
        Bytes a packet, for packets that nobody counted, and for `mixed`.
    also_counted
        Counters of the same traffic under other routes: `ROUTES,COUNTERS` or `ROUTES,BEFORE,AFTER`; may be
        given several times. With a file of paths: `TABLES+PATHS.csv,COUNTERS`.
    interval
        The number of one interval, from 0; with `--also-counted` one for each of the counters, in order.
        [default: all of them, added up]
    truth
        The true traffic, to compare the answer with: traffic over hosts, a jobs file or a pattern spec.
    ranges
        For so many of the largest sums over (source leaf, destination), and of the largest pairs: what they
        carry at least and at most, over all traffic that explains the counters; `--format csv` prints these.
    write_hose
        Write what every host sent and received (.csv), for `netloom optimize --hose`.
    remember
        A folder of earlier answers by job name: the job's earlier answer is tried first, and its new one is
        stored.
    paths
        Which of a host's several addresses every pair uses (.csv), as `netloom optimize --write-paths` writes
        it.
    sl2vl
        The SL-to-VL tables that were in force (`opensm-sl2vl.dump`): refused if not the scheme's.
    options
        Common options; `-o` writes the traffic (.mtx, .csv (also .gz), .npz, .parquet).
    """
    from netloom import _core

    options = options or Computing()
    refuse(_UNFIT, named(sl2vl=sl2vl, vl_scheme=vl_scheme, during=during, jobs=jobs))
    adapters = adapters or who.Adapters()
    adapters.check(jobs)
    period = None if during is None else _period(during)
    spans = [Window(routes=routes, paths=paths, reading=counters, after=after)]
    spans += [windows.also(text) for text in also_counted or ()]
    numbers = windows.chosen(interval, spans)
    run = Run("infer", options, endings=traffic.ENDINGS)
    if write_hose is not None:
        if not str(write_hose).endswith((".csv", ".csv.gz")):
            raise UsageError(f"--write-hose {write_hose}: expected an ending of .csv, .csv.gz")
        run.also_writes(write_hose, "--write-hose")
    net = run.fabric(fabric, warn=True)
    if sl2vl is not None and vl_scheme is not None:
        check_tables(run, net, sl2vl, vl_scheme)
    try:
        for window in spans:
            check(window)
    except ArgumentError as error:
        raise UsageError(str(error)) from None
    read = [read_window(run, net, window) for window in spans]
    differ(spans, numbers)
    placed = None if jobs is None else _placed(run, net, jobs, adapters, period)
    before = None
    if remember is not None:
        before = EarlierAnswers(remember)
        try:
            before.recall(run, ["all hosts"] if placed is None else [job.name for job in placed])
        except ArgumentError as error:
            raise UsageError(f"--remember {error}") from None
    known = None if truth is None else run.traffic(truth, net, role="truth")
    _sets_aside(run, [net.hosts] if placed is None else [len(job.hosts) for job in placed])
    run.keeps()
    with run.timed("solve"), run.blaming(routes), run.progress("infer") as progress:
        found = _core.infer(
            net,
            *read[0],
            placed,
            vl_scheme=vl_scheme,
            unit=unit,
            mtu_bytes=mtu,
            interval=numbers[0],
            also=[(*one, number) for one, number in zip(read[1:], numbers[1:], strict=True)],
            names=[window.name for window in spans],
            remembered=None if before is None else before.found,
            truth=known,
            ranges=ranges,
            seed=options.seed,
            threads=options.threads,
            time_limit=run.left,
            progress=progress,
        )
    run.finishing()
    summary = found.summary()
    result = {
        **summary,
        "weight": unit,
        "intervals": sum(window["intervals"] for window in summary["windows"]),
        "findings": run.findings + findings(found.findings + port_errors(read)),
        "memory": None if before is None else before.keep(run, found, summary["hypothesis"]),
        "notes": found.notes + ([] if before is None else before.notes),
        "output": traffic.write(run, found.traffic, told_error.Told.of(summary)),
        "hose": None if write_hose is None else run.write(found.hose.to_bytes(net), write_hose),
    }
    return run.finish(
        result,
        lambda: text(result),
        rows=result["ranges"] or None,
        interrupted=found.stopped == "interrupted",
    )


def _sets_aside(run: Run, hosts: list[int]) -> None:
    """Keeps of the time limit what the answer needs once it is found.

    Raises
    ------
    UsageError
        If there is not even time enough for an answer without a search.
    """
    pairs = sum(n * (n - 1) for n in hosts)
    least = (_BEGIN_S + _END_S) * pairs
    if run.options.time_limit is not None and least > max(2.0, 1.1 * run.options.time_limit):
        raise UsageError(
            f"{render.count(pairs)} pairs of hosts need about {least:.0f} s before there is any answer, "
            f"--time-limit is {run.options.time_limit:g} s: expected jobs (--jobs) or more time"
        )
    run.sets_aside(_END_S * pairs)


def _period(text: str) -> Period:
    from netloom.slurm import Period

    try:
        return Period.parse(text)
    except ValueError as error:
        raise UsageError(f"--during: {error}") from None


def _placed(run: Run, net: Fabric, jobs: Path, adapters: who.Adapters, during: Period | None) -> list[Job]:
    found = who.placed(run, net, jobs, adapters=adapters, during=during)
    if not is_stdin(str(jobs)):
        run.note_jobs(jobs)
    return found


def text(result: Mapping[str, Any]) -> str:
    """The report."""
    count, size, percent = render.count, render.size, render.percent
    amount = size if result["weight"] == "bytes" else lambda value: f"{value:,.0f}"
    carried = f"{amount(result['total_bytes'])} over {count(result['pairs_with_traffic'])} pairs"
    rows = [("traffic", carried if result["weight"] == "bytes" else f"{carried} ({result['weight']})")]
    noise = result["noise_percent"]
    rows += [
        ("unknowns", f"{count(result['pairs'])} pairs, {count(result['possible_pairs'])} of them possible"),
        ("links", f"{count(result['links_used'])} used, {count(result['links_left_out'])} left out"),
        *windows.row(result["windows"]),
        ("noise", "unknown" if noise is None else percent(noise)),
        *_split(result),
        ("unexplained", f"{percent(result['unexplained_percent'])} beyond noise"),
        ("estimated error", _errors(result, "estimated_error_percent", "estimated_leaf_error_percent")),
    ]
    if result["relative_error_percent"] is not None:
        rows.append(("true error", _errors(result, "relative_error_percent", "leaf_error_percent")))
    rows.append(("verdict", _VERDICTS[result["verdict"]]))
    if result["scope"]["share"] < _WHOLE:
        rows.append(("scope", _scope(result["scope"])))
    if result["stopped"] is not None:
        rows.append(("stopped", f"{result['stopped'].replace('-', ' ')}: the best so far"))
    rows += _memory_row(result["memory"])
    for key, label in (("output", "written"), ("hose", "sums written")):
        if result[key]:
            rows.append((label, result[key]))
    out = render.pairs(rows) + "\n\n" + _jobs(result)
    if result["ranges"]:
        out += "\n\nall that explains the counters\n" + _ranges(result, amount)
    if result["unexplained_percent"] >= _WORTH_TELLING:
        out += "\n\nunexplained\n" + _unexplained(result, amount)
    out += render.findings(result["findings"])
    if result["notes"]:
        out += "\n\nnotes\n" + "\n".join(f"  {line}" for line in result["notes"])
    if result["verdict"] == "not identifiable":
        out += "\n\n" + _what_then(result)
    return out


def _scope(scope: Mapping[str, float]) -> str:
    """What the verdict speaks of, where that is not all."""
    parts = [("outside_jobs", "of hosts of no job"), ("unexplained", "unexplained")]
    rest = [f"{render.percent(100 * scope[key])} {what}" for key, what in parts if scope[key] > 1 - _WHOLE]
    return f"{render.percent(100 * scope['share'])} of what was counted; {', '.join(rest)}"


def _split(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How far switches are from an even split, where they choose packet by packet."""
    apart = result["split_percent"]
    return [] if apart is None else [("split", f"even to {render.percent(apart)} a link")]


def _errors(result: Mapping[str, Any], pairs: str, leaves: str) -> str:
    of_sums, of_pairs = render.percent(result[leaves]), render.percent(result[pairs])
    return f"{of_sums} of sums over (source leaf, destination), {of_pairs} of pairs"


def _jobs(result: Mapping[str, Any]) -> str:
    """A row a job: how much of it is known, which grid explains it, what is next best, what its ranks do."""
    cells, several = [], len(result["hypothesis"]) > 1
    for job in result["hypothesis"]:
        rival = "" if job["rival"] is None else f"{job['rival']} ({_worse(job['rival_worse'])})"
        atoms = [atom["what"] for atom in job["atoms"][:_ATOMS]]
        more = job["atom_count"] - len(atoms)
        if more > 0:
            atoms.append(f"{render.count(more)} more")
        error = render.percent(job["estimated_leaf_error_percent"])
        known = [f"{job['verdict']} ({error})"] if several else []
        row = [job["job"], render.count(job["ranks"]), *known, job["grid"] or "none", rival]
        cells.append([*row, "; ".join(atoms)])
    known = ["verdict (error)"] if several else []
    return render.table(["job", "ranks", *known, "grid", "next best", "patterns"], cells, right=[1])


def _ranges(result: Mapping[str, Any], amount: Any) -> str:
    """A row a sum or pair: the answer, and what it is at least and at most."""
    lines = [
        [
            row["kind"],
            row["source"],
            row["destination"],
            amount(row["bytes"]),
            amount(row["least"]),
            "any" if row["most"] is None else amount(row["most"]),
        ]
        for row in result["ranges"]
    ]
    return render.table(["", "from", "to", "answer", "at least", "at most"], lines, right=[3, 4, 5])


def _worse(times: float) -> str:
    if times < 1.005:
        return "as good"
    return "far worse" if times > 1000 else f"{times:.3g} times worse"


def _unexplained(result: Mapping[str, Any], amount: Any) -> str:
    lines = [
        [
            amount(row["counted"]),
            amount(row["explained"]),
            f"{row['from']}[{row['from_port']}]",
            f"{row['to']}[{row['to_port']}]",
        ]
        for row in result["unexplained"][:_WORST]
    ]
    return render.table(["counted", "explained", "from", "to"], lines, right=[0, 1])


def _what_then(result: Mapping[str, Any]) -> str:
    file = result["hose"] or "sums.csv"
    how = "" if result["hose"] else " (write them with --write-hose sums.csv)"
    return f"For routes that hold whoever talks to whom: netloom optimize FABRIC {file} --hose{how}."


def _memory_row(memory: Sequence[Mapping[str, Any]] | None) -> list[tuple[str, str]]:
    """`memory  amg: used, kept`; nothing without `--remember`."""
    if memory is None:
        return []
    told = []
    for job in memory:
        how = "used" if job["used"] else "not used" if job["found"] else "new"
        told.append(f"{job['job']}: {how}, {'stored' if job['stored'] else 'not stored'}")
    return [("memory", "; ".join(told))]
