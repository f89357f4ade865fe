"""The paper's figures from the study's runs, as numbers: 4, 5, 6, 9, 10, and what its text tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from netloom.studies.afar import published, workloads
from netloom.studies.afar.breakpoint import Points, fit, interval
from netloom.studies.afar.runs import ROUTINGS, Placement, time_alone_s


def jobs(placements: Iterable[Placement]) -> list[dict[str, Any]]:
    """A row a job of a placement: its times in seconds, its slowdowns, and its gains by other routes."""
    rows = []
    for one in placements:
        for name, alone in one.alone_s.items():
            row: dict[str, Any] = {
                "jobs": one.jobs,
                "placement": one.seed,
                "job": name,
                "benchmark": workloads.benchmark_of(name),
                "alone_s": alone,
            }
            for routing in ROUTINGS:
                seconds = one.times_s[routing][name]
                row[f"{routing}_s"] = seconds
                row[f"{routing}_slowdown_percent"] = 100 * (seconds / alone - 1)
            for routing in ROUTINGS[1:]:
                row[f"{routing}_gain_percent"] = 100 * (1 - row[f"{routing}_s"] / row["ftree_s"])
            rows.append(row)
    return rows


def slowdowns(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Figures 4 and 10: slowdowns against being alone, by workload, benchmark and routing."""
    found = []
    for workload in sorted({row["jobs"] for row in rows}):
        for benchmark in workloads.BENCHMARKS:
            some = [row for row in rows if (row["jobs"], row["benchmark"]) == (workload, benchmark.name)]
            for routing in ROUTINGS:
                values = [row[f"{routing}_slowdown_percent"] for row in some]
                found.append(
                    {
                        "jobs": workload,
                        "benchmark": benchmark.name,
                        "routing": routing,
                        "median_percent": float(np.median(values)),
                        "min_percent": min(values),
                        "max_percent": max(values),
                    }
                )
    return found


def gains(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What other routes than ftree's gain, by workload, routing and benchmark (`all`: together)."""
    found = []
    for workload in sorted({row["jobs"] for row in rows}):
        for routing in ROUTINGS[1:]:
            for benchmark in (*(one.name for one in workloads.BENCHMARKS), "all"):
                values = [
                    row[f"{routing}_gain_percent"]
                    for row in rows
                    if row["jobs"] == workload and benchmark in ("all", row["benchmark"])
                ]
                found.append(
                    {
                        "jobs": workload,
                        "routing": routing,
                        "benchmark": benchmark,
                        "median_percent": float(np.median(values)),
                        "max_percent": max(values),
                        "min_percent": min(values),
                        "published_percent": (
                            published.GAINS_PERCENT.get(benchmark)
                            if workload == 8 and routing.startswith("afar")
                            else None
                        ),
                    }
                )
    return found


def breakpoints(placements: Sequence[Placement], rate_gb_s: float, seed: int) -> list[dict[str, Any]]:
    """Figure 6: the two lines of its placements, of those of 16 jobs alone, and of all.

    Parameters
    ----------
    placements : sequence of Placement
    rate_gb_s : float
        What a link carries.
    seed : int
        Of the intervals' resamples.
    """
    found = []
    sixteen = [one for one in placements if one.jobs == 16]
    papers = [one for one in placements if one.seed in published.FIGURE_6]
    if {one.jobs for one in papers} != {*published.PLACEMENTS}:
        papers = []  # It has every workload.
    told: list[list[tuple[int, int]]] = [[]]
    for what, some in (("16 jobs", sixteen), ("figure 6", papers), ("all", list(placements))):
        key = [(one.jobs, one.seed) for one in some]
        if key in told:
            continue
        told.append(key)
        points = Points.together([one.points for one in some if one.points is not None])
        lines = fit(points)
        if lines is None:
            continue
        alone = time_alone_s(some, "bis")
        found.append(
            {
                "of": what,
                "placements": len(some),
                "processes": int(points.count.sum()),
                "r_squared": lines.r_squared,
                "scatter_s": lines.scatter_s,
                "breakpoint_gb": lines.breakpoint_gb,
                "slope_before_s_per_gb": lines.before,
                "slope_s_per_gb": lines.behind,
                "alone_s": alone,
                "law_breakpoint_gb": rate_gb_s * alone,
                "law_slope_s_per_gb": 1 / rate_gb_s,
                "interval": interval(points, seed),
            }
        )
    return found


def changes(placements: Iterable[Placement]) -> list[dict[str, Any]]:
    """Tables: entries changed, the hottest link and the worst slowdown, by placement and routing."""
    return [
        {
            "jobs": one.jobs,
            "placement": one.seed,
            "routing": routing,
            "hottest_gb": one.loads[routing].summary()["hottest_gb"],
            "changes": one.changes[routing],
            "worst_percent": max(
                100 * (one.times_s[routing][name] / alone - 1) for name, alone in one.alone_s.items()
            ),
            "threshold_gb": one.thresholds_gb.get(routing),
            "seconds": one.optimise_s[routing],
        }
        for one in placements
        for routing in ROUTINGS
    ]


def claims(
    rows: Sequence[dict[str, Any]],
    loads: Sequence[dict[str, Any]],
    lines: Sequence[dict[str, Any]],
    tables: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """What the paper says or its law, what is found here, how near that was to be: set down before."""
    found: list[dict[str, Any]] = []

    def add(what: str, paper: float | None, least: float | None, most: float | None, ours: float) -> None:
        holds = (least is None or ours >= least) and (most is None or ours <= most)
        found.append(
            {"claim": what, "paper": paper, "least": least, "most": most, "found": ours, "holds": holds}
        )

    if loads:
        modal = [row["modal_bin_gb"] for row in loads]
        idle = [row["idle_share"] for row in loads]
        add("modal bin of link loads begins at, GB: least", 15, 15, 15, min(modal))
        add("modal bin of link loads begins at, GB: most", 15, 15, 15, max(modal))
        add("share of idle links: least", 0.33, 0.25, 0.37, min(idle))
        add("share of idle links: most", 0.33, 0.25, 0.37, max(idle))
        add("links at 60 GB or more: most", None, None, 15, max(row["at_least_60_gb"] for row in loads))
        name, most = f"entries that AFAR changes, 16 jobs, {len(loads)} placements", published.CHANGES[16]
        add(f"{name}: most", most, None, most, max(row["afar_changes"] for row in loads))
    for row in (row for row in lines if row["of"] != "all"):
        law, slope, bis = row["law_breakpoint_gb"], row["law_slope_s_per_gb"], f"bis, {row['of']}"
        add(f"{bis}: R2", published.R_SQUARED, 0.90, None, row["r_squared"])
        add(f"{bis}: breakpoint, GB", published.BREAKPOINT_GB, 0.9 * law, 1.1 * law, row["breakpoint_gb"])
        add(f"{bis}: slope behind it, s/GB", None, 0.9 * slope, 1.1 * slope, row["slope_s_per_gb"])
    for workload, most in published.CHANGES.items():
        some = [r["changes"] for r in tables if (r["jobs"], r["routing"]) == (workload, "afar")]
        if some:
            name = f"entries that AFAR changes, {workload} jobs: most"
            add(name, most, None, most, max(some))
    eight = [row for row in rows if row["jobs"] == 8]
    for routing, how in (("afar", "AFAR"), ("afar-relative", "relative AFAR")) if eight else ():
        for benchmark, (least, most_gain) in {"bis": (15.0, 35.0), "nn": (7.0, 20.0)}.items():
            values = [row[f"{routing}_gain_percent"] for row in eight if row["benchmark"] == benchmark]
            name = f"{benchmark}, median gain by {how}, 8 jobs, %"
            add(name, published.GAINS_PERCENT[benchmark], least, most_gain, float(np.median(values)))
        slower = max(100 * (row[f"{routing}_s"] / row["ftree_s"] - 1) for row in eight)
        most_slower = published.MOST_SLOWER_PERCENT
        add(f"a job slower by {how}, 8 jobs, %: most", most_slower, None, most_slower, slower)
    for workload in sorted({row["jobs"] for row in rows}):
        for benchmark in (one.name for one in workloads.BENCHMARKS):
            some_rows = [r for r in rows if (r["jobs"], r["benchmark"]) == (workload, benchmark)]
            afar, ours = (
                float(np.median([row[f"{routing}_s"] / row["alone_s"] for row in some_rows]))
                for routing in ("afar", "optimized")
            )
            name = f"{benchmark}, {workload} jobs, median time over alone, optimised: at most AFAR's"
            add(name, None, None, afar, ours)
    return found
