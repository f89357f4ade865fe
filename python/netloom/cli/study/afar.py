"""`netloom study afar`: the experiments of AFAR's paper on its fat tree, with optimised routes beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Computing
from netloom.cli.shared.run import Run
from netloom.studies.afar import figures, published
from netloom.studies.afar.runs import ROUTINGS, Placement, Study
from netloom.studies.afar.workloads import SHORTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom._core import Fabric

_ALL = ",".join(map(str, sorted(published.PLACEMENTS)))


def afar(
    *,
    fabric: str = published.FABRIC,
    workloads: str = _ALL,
    placements: Annotated[int, options.within(0, 12)] = 12,
    shorter: Annotated[int, options.within(1, 50)] = 50,
    options: Computing | None = None,
) -> int:
    """AFAR's study: jobs beside each other on a fat tree, with ftree's routes, AFAR's and optimised ones.

    Four benchmarks, a quarter of the jobs each, on random hosts: what each takes alone and beside the others,
    what links carry, and where that begins to cost time. All of it took 21 minutes of CPU.

    Parameters
    ----------
    fabric
        A dump, or a generator spec; eight ninths of its hosts run jobs.
    workloads
        Numbers of jobs, of 4, 8 and 16, with commas.
    placements
        How many of the paper's placements of each workload, at most; it has 3, 8 and 3. Loads alone are
        looked at for 12 of 16 jobs.
    shorter
        How many times fewer iterations than the paper's are simulated: 1, 2, 5, 10, 25 or 50.
    options
        Common options; `-o` writes the result (.json, .csv, else text).
    """
    options = options or Computing()
    asked = _workloads(workloads)
    if shorter not in SHORTER:
        raise UsageError(f"--shorter {shorter}: expected one of {', '.join(map(str, SHORTER))}")
    run = Run("afar-study", options, product=False)
    net = run.fabric(fabric)
    study = Study(net, shorter, threads=options.threads, seed=run.seed, left=lambda: run.left)
    done: list[Placement] = []
    loads: list[dict[str, Any]] = []
    stopped: str | None = None
    run.keeps()
    with run.timed("simulate"), run.bars() as bars:
        task = None if bars is None else bars.add_task("study", total=None, told="")

        def told(what: str) -> None:
            if bars is not None and task is not None:
                bars.update(task, told=what)

        try:
            if 16 in asked:
                for seed in published.LOAD_PLACEMENTS[:placements]:
                    told(f"loads of placement {seed}")
                    loads.append(study.placed(16, seed))
            for jobs in asked:
                for seed in published.PLACEMENTS[jobs][:placements]:
                    done.append(study.placement(jobs, seed, told))
        except TimeoutError as why:
            stopped = str(why)
        except KeyboardInterrupt:
            stopped = "interrupted"
    rows = figures.jobs(done)
    lines = figures.breakpoints(done, study.rate_gb_s, run.seed)
    tables = figures.changes(done)
    claims = figures.claims(rows, loads, lines, tables) if _is_the_papers(net) else []
    result = {
        "fabric": fabric,
        "shorter": shorter,
        "claims": claims,
        "slowdowns": figures.slowdowns(rows),
        "loads": loads,
        "breakpoints": lines,
        "tables": tables,
        "gains": figures.gains(rows),
        "jobs": rows,
        "stopped": stopped,
        "reproducible": stopped is None,
    }
    return run.finish(result, lambda: _text(result), rows=rows, stopped=stopped)


def _is_the_papers(net: Fabric) -> bool:
    """Whether it is cabled as the fabric of which the paper's figures are."""
    from netloom import _core

    return net.cabling_hash == _core.Fabric.generate(published.FABRIC).cabling_hash


def _workloads(text: str) -> list[int]:
    found = []
    for item in text.split(","):
        if not item.strip().isdecimal() or int(item) not in published.PLACEMENTS:
            raise UsageError(f"--workloads {text}: expected numbers of jobs among {_ALL}, with commas")
        found.append(int(item))
    return sorted(set(found), reverse=True)


def _text(result: dict[str, Any]) -> str:
    parts = []
    if result["claims"]:
        parts.append(_claims(result["claims"]))
    elif result["loads"] or result["jobs"]:
        parts.append("the paper's figures are of cab: on another fabric nothing is judged by them")
    if result["slowdowns"]:
        parts.append(_slowdowns(result["slowdowns"]))
    if result["loads"]:
        parts.append(_loads(result["loads"]))
    parts.extend(_lines(row) for row in result["breakpoints"])
    if result["tables"]:
        parts.append(_tables(result["tables"]))
    nine = [row for row in result["jobs"] if (row["jobs"], row["placement"]) == (16, published.FIGURE_9)]
    if nine:
        parts.append(_figure_9(nine))
    if result["gains"]:
        parts.append(_gains(result["gains"]))
    if result["stopped"] is not None:
        parts.append(f"stopped: {result['stopped'].replace('-', ' ')}; the rest was not run")
    return "\n\n".join(parts) or "nothing was run"


def _claims(rows: Sequence[dict[str, Any]]) -> str:
    def wanted(row: dict[str, Any]) -> str:
        least, most = row["least"], row["most"]
        if least is not None and most is not None:
            return _number(least) if least == most else f"{_number(least)} to {_number(most)}"
        return f"at least {_number(least)}" if most is None else f"at most {_number(most)}"

    lines = [
        [
            row["claim"],
            "-" if row["paper"] is None else _number(row["paper"]),
            wanted(row),
            _number(row["found"]),
            "yes" if row["holds"] else "no",
        ]
        for row in rows
    ]
    return render.table(
        ["what the paper shows", "paper", "expected", "here", "holds"], lines, right=(1, 2, 3)
    )


def _slowdowns(rows: Sequence[dict[str, Any]]) -> str:
    header = ["slowdown to alone (figures 4, 10)", "benchmark", *ROUTINGS]
    lines = []
    for jobs in dict.fromkeys(row["jobs"] for row in rows):
        first = f"{jobs} jobs"
        for benchmark in dict.fromkeys(row["benchmark"] for row in rows):
            some = {
                row["routing"]: row for row in rows if (row["jobs"], row["benchmark"]) == (jobs, benchmark)
            }
            cells = [
                f"{row['median_percent']:.1f} % ({row['min_percent']:.1f} to {row['max_percent']:.1f})"
                for row in (some[routing] for routing in ROUTINGS)
            ]
            lines.append([first, benchmark, *cells])
            first = ""
    return render.table(header, lines, right=range(2, 6))


def _loads(rows: Sequence[dict[str, Any]]) -> str:
    header = ["loads (figure 5), placement", "idle", "modal bin (GB)", "hottest (GB)"]
    header += ["links at 60 GB", "AFAR changes"]
    lines = [
        [
            str(row["placement"]),
            f"{100 * row['idle_share']:.0f} %",
            f"{row['modal_bin_gb']:.0f} to {row['modal_bin_gb'] + published.BIN_GB:.0f}",
            f"{row['hottest_gb']:.1f}",
            str(row["at_least_60_gb"]),
            str(row["afar_changes"]),
        ]
        for row in rows
    ]
    return render.table(header, lines, right=range(1, 6))


def _lines(row: dict[str, Any]) -> str:
    between = row["interval"]

    def bounds(name: str, digits: int) -> str:
        if between[name] is None:
            return "too few draws for an interval"
        low, high = between[name]
        return f"{low:.{digits}f} to {high:.{digits}f} over {between['draws']} {between['over']}"

    of = f"{row['of']}, {row['placements']} placements, {render.count(row['processes'])} processes"
    law = f"data rate x time alone ({row['alone_s']:.1f} s) {row['law_breakpoint_gb']:.1f}"
    return render.pairs(
        [
            ("bis (figure 6)", of),
            ("R2", f"{row['r_squared']:.3f}, scatter {row['scatter_s']:.2f} s; paper {published.R_SQUARED}"),
            (
                "breakpoint",
                f"{row['breakpoint_gb']:.1f} GB ({bounds('breakpoint_gb', 1)}); {law}; "
                f"paper {published.BREAKPOINT_GB:.0f}",
            ),
            (
                "slope behind it",
                f"{row['slope_s_per_gb']:.3f} s/GB ({bounds('behind', 3)}); 1 / data rate "
                f"{row['law_slope_s_per_gb']:.3f}; before it {row['slope_before_s_per_gb']:.3f}",
            ),
        ]
    )


def _tables(rows: Sequence[dict[str, Any]]) -> str:
    header = ["hottest link (GB), entries changed, worst slowdown", "placement", *ROUTINGS]
    lines = []
    for jobs, placement in dict.fromkeys((row["jobs"], row["placement"]) for row in rows):
        some = {row["routing"]: row for row in rows if (row["jobs"], row["placement"]) == (jobs, placement)}
        cells = [
            f"{some[r]['hottest_gb']:.1f}, {some[r]['changes']}, {some[r]['worst_percent']:.0f} %"
            for r in ROUTINGS
        ]
        lines.append([f"{jobs} jobs", str(placement), *cells])
    return render.table(header, lines, right=range(1, 6))


def _figure_9(rows: Sequence[dict[str, Any]]) -> str:
    header = ["time over alone (figure 9)", "alone (s)", *ROUTINGS]
    lines = [
        [
            row["job"],
            f"{row['alone_s']:.1f}",
            *(f"{row[f'{routing}_s'] / row['alone_s']:.2f}" for routing in ROUTINGS),
        ]
        for row in rows
    ]
    return render.table(header, lines, right=range(1, 6))


def _gains(rows: Sequence[dict[str, Any]]) -> str:
    header = ["gain over ftree", "routes", "benchmark", "median", "most", "least", "paper"]
    lines = [
        [
            f"{row['jobs']} jobs",
            row["routing"],
            row["benchmark"],
            f"{row['median_percent']:.1f} %",
            f"{row['max_percent']:.1f} %",
            f"{row['min_percent']:.1f} %",
            "-" if row["published_percent"] is None else f"{row['published_percent']:.0f} %",
        ]
        for row in rows
    ]
    return render.table(header, lines, right=range(3, 7))


def _number(value: float) -> str:
    return f"{value:.3g}"
