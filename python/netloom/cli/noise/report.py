"""What `netloom noise` tells: a row a routing and job, a row a size of message, and figures over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.simulate.report import all_skipped, number
from netloom.shown.legend import link_name

_RANKED = 3
"""Jobs and links that the text tells of each job; the result has more."""


def rows(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds: a row a routing, job and size."""
    out = []
    for one in found:
        for job in one["jobs"]:
            for size in job["sizes"]:
                row = {
                    "routing": one["routing"],
                    "job": job["name"],
                    "completion_ps": job["completion_ps"],
                    "alone_ps": job["alone_ps"],
                    "difference_ps": job["difference_ps"],
                    "from_bytes": size["from_bytes"],
                    "to_bytes": size["to_bytes"],
                }
                for kind in ("noise", "alone", "differences"):
                    row |= {f"{kind}_{key}": value for key, value in _plain(size[kind]).items()}
                row |= {f"estimate_{key}": value for key, value in (size["estimate"] or {}).items()}
                row |= _over(job["over_seeds"], ("slowdown",))
                row |= {f"impact_{key}": value for key, value in (size["impact"] or {}).items()}
                names = ("median_us", "alone_median_us", "difference_us", "impact_mean", "impact_p99")
                row |= _over(size["over_seeds"], names)
                out.append(row)
    return out


def _over(told: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any]:
    """Figures over seeds, each with its interval."""
    if told is None:
        return {}
    keys = ("mean", "low", "high")
    return {f"seeds_{name}_{key}": (told[name] or {}).get(key) for name in names for key in keys}


def _plain(told: Mapping[str, Any] | None) -> dict[str, Any]:
    """A summary with its interval as two columns."""
    plain = dict(told or {})
    if "ci95_us" in plain:
        plain["ci95_low_us"], plain["ci95_high_us"] = plain.pop("ci95_us") or (None, None)
    return plain


def text(result: Mapping[str, Any]) -> str:
    """The report: jobs, then what they do over seeds, sizes, and the messages that were delayed the most."""
    seeds = result["seeds"]
    drawn = "1: one run has no interval (--seeds N simulates N)" if seeds == 1 else str(seeds)
    head = [
        ("scenario", f"{result['scenario']}: {result['model']} model, profile {result['profile']}"),
        ("fabric", f"{render.count(result['hosts'])} hosts, {render.count(result['switches'])} switches"),
        ("seeds", drawn),
    ]
    parts = [render.pairs(head)]
    if result["runs"]:
        parts.append((f"with seed {result['seed']}\n" if seeds > 1 else "") + _jobs(result["runs"]))
        if over := _over_seeds(result["runs"]):
            parts.append("over seeds: means of runs, and where these lie with 95 %\n" + over)
        if shares := _exceeding(result["runs"]):
            parts.append("share of runs with a slowdown above\n" + shares)
        if sizes := _sizes(result["runs"]) if seeds == 1 else _sizes_over_seeds(result["runs"]):
            of = "" if seeds == 1 else ": means over seeds"
            parts.append(f"by size of message, those that both runs have{of}\n" + sizes)
        if who := _neighbours(result["runs"]):
            parts.append("what a job would gain without each other one\n" + who)
        if where := _links(result["runs"]):
            parts.append("where it waits in turns of others\n" + where)
        if model := _model(result["runs"]):
            parts.append("by the transmission model, beside others\n" + model)
        if late := _worst(result["runs"]):
            parts.append("delayed the most\n" + late)
    tail = [
        (f"{one['routing']}", f"stopped: {one['stopped']}")
        for one in result["runs"]
        if one["stopped"] is not None
    ]
    for one in result["runs"]:
        if (looked := one["recorded"]) is not None and not looked["whole"]:
            when = f"waiting was seen from {looked['from_us']:.1f} to {looked['to_us']:.1f} µs"
            tail.append((one["routing"], when))
    tail += [
        ("skipped", f"{one['routing']}: {all_skipped(one['skipped'])}")
        for one in result["runs"]
        if "skipped" in one
    ]
    if result["not_run"]:
        tail.append(("not run", ", ".join(result["not_run"])))
    if result["stopped"] is not None:
        tail.append(("stopped", left_of(result)))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts) + render.findings(result["findings"])


def left_of(result: Mapping[str, Any]) -> str:
    """Why it ended early, and what is complete."""
    why = "a signal came" if result["stopped"] == "interrupted" else "the time limit came"
    told = []
    for one in result["runs"]:
        whole = [job["name"] for job in one["jobs"] if job["differences"] is not None]
        if result["seeds"] > 1:
            told.append(f"{one['routing']} with {one['seeds']} of {result['seeds']} seeds")
        elif whole:
            told.append(f"{one['routing']} with {', '.join(whole)}")
    return f"{why}; complete: {'; '.join(told) or 'nothing'}"


def _ms(ps: int | None) -> str:
    return number(None if ps is None else ps * 1e-9, 3)


def _jobs(found: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for one in found:
        for job in one["jobs"]:
            late = job["differences"]
            lines.append(
                [
                    one["routing"],
                    job["name"],
                    _ms(job["completion_ps"]),
                    _ms(job["alone_ps"]),
                    number(job["slowdown"], 3),
                    _ms(job["difference_ps"]),
                    *(_counted(late) if late is not None else ("-", "-", "-")),
                ]
            )
    header = ["routing", "job", "complete (ms)", "alone", "slowdown", "difference"]
    header += ["messages", "changed", "sum (ms)"]
    return render.table(header, lines, right=range(2, len(header)))


def _counted(late: Mapping[str, Any]) -> tuple[str, str, str]:
    return render.count(late["messages"]), render.count(late["changed"]), _ms(late["sum_ps"])


def _over_seeds(found: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for one in found:
        for job in one["jobs"]:
            if (over := job["over_seeds"]) is None:
                continue
            known = over["slowdown"]
            lines.append(
                [
                    one["routing"],
                    job["name"],
                    _runs(over),
                    *_mean(known, 3),
                    "-" if known is None else f"{known['min']:.3f} to {known['max']:.3f}",
                    *_mean(over["difference_us"], 2),
                    *_mean(over["median_us"], 2),
                    *_mean(over["alone_median_us"], 2),
                ]
            )
    header = ["routing", "job", "runs", "slowdown", "95 %", "least to most"]
    header += ["difference (µs)", "95 %", "median (µs)", "95 %", "alone: median", "95 %"]
    return render.table(header, lines, right=[2, 3, 6, 8, 10]) if lines else ""


def _runs(over: Mapping[str, Any]) -> str:
    """`12`, or `5 of 12` where the job did not end in the others."""
    runs = len(over["seeds"])
    ended = runs - over["slowdowns"].count(None)
    return render.count(runs) if ended in (0, runs) else f"{ended:,} of {runs:,}"


def _mean(told: Mapping[str, Any] | None, digits: int) -> tuple[str, str]:
    """A mean over runs and its interval, or why there is none."""
    if told is None:
        return "-", "-"
    mean = number(told["mean"], digits)
    if told["low"] is None:
        return mean, f"none: {told['no_interval']}"
    return mean, f"{number(told['low'], digits)} to {number(told['high'], digits)}"


def _exceeding(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (one["routing"], job["name"], {step["above"]: step["share"] for step in job["over_seeds"]["exceeds"]})
        for one in found
        for job in one["jobs"]
        if job["over_seeds"] is not None and job["over_seeds"]["exceeds"]
    ]
    steps = sorted({above for _, _, shares in rows for above in shares})
    lines = [
        [routing, name, *(f"{100 * shares.get(above, 0.0):.0f} %" for above in steps)]
        for routing, name, shares in rows
    ]
    header = ["routing", "job", *(f"{above:g}" for above in steps)]
    return render.table(header, lines, right=range(2, len(header))) if lines else ""


def _sizes_over_seeds(found: Sequence[Mapping[str, Any]]) -> str:
    names = ("median_us", "alone_median_us", "difference_us", "impact_mean", "impact_p99")
    lines = [
        [
            one["routing"],
            job["name"],
            _size(size),
            *(cell for name in names for cell in _mean(over[name], 2)),
        ]
        for one in found
        for job in one["jobs"]
        for size in job["sizes"]
        if (over := size["over_seeds"]) is not None
    ]
    header = ["routing", "job", "size", "median (µs)", "95 %", "alone: median", "95 %"]
    header += ["difference: median", "95 %", "impact: mean", "95 %", "p99", "95 %"]
    return render.table(header, lines, right=[2, 3, 5, 7, 9, 11]) if lines else ""


def _sizes(found: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for one in found:
        for job in one["jobs"]:
            for size in job["sizes"]:
                late = size["differences"]
                lines.append(
                    [
                        one["routing"],
                        job["name"],
                        _size(size),
                        render.count(late["messages"]),
                        *_told(size["noise"]),
                        *_told(size["alone"]),
                        *(number(late[key], 2) for key in ("median_us", "p99_us", "max_us")),
                        *(number((size["impact"] or {}).get(key), 2) for key in ("mean", "p99")),
                    ]
                )
    header = ["routing", "job", "size", "messages", "median (µs)", "QCD", "p99"]
    header += ["alone: median", "QCD", "p99", "difference: median", "p99", "max", "impact: mean", "p99"]
    return render.table(header, lines, right=range(2, len(header))) if lines else ""


def _neighbours(found: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            one["routing"],
            job["name"] if rank == 0 else "",
            other["job"],
            number(other["slowdown_without"], 3),
            _ms(other["gain_ps"]),
            number(other["message_gain_us"], 2),
            _ms(other["behind_ps"]),
        ]
        for one in found
        for job in one["jobs"]
        for rank, other in enumerate((job["neighbours"] or ())[:_RANKED])
    ]
    header = ["routing", "job", "without", "slowdown", "gain (ms)", "a message (µs)", "behind it (ms)"]
    return render.table(header, lines, right=range(3, len(header))) if lines else ""


def _links(found: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            one["routing"],
            job["name"] if rank == 0 else "",
            link_name(link),
            _ms(link["behind_ps"]),
            ", ".join(f"{other['job']} {_ms(other['behind_ps'])}" for other in link["jobs"][:_RANKED]),
        ]
        for one in found
        for job in one["jobs"]
        for rank, link in enumerate((job["links"] or ())[:_RANKED])
    ]
    header = ["routing", "job", "link", "waits (ms)", "behind"]
    return render.table(header, lines, right=[3]) if lines else ""


def _model(found: Sequence[Mapping[str, Any]]) -> str:
    """What adapters' counters say of times on the network; nothing where packets are not answered."""
    lines = []
    for one in found:
        for job in one["jobs"]:
            for size in job["sizes"]:
                if (told := size["estimate"]) is None:
                    continue
                lines.append(
                    [
                        one["routing"],
                        job["name"],
                        _size(size),
                        render.count(told["messages"]),
                        number(told["network_us"], 2),
                        number(told["network_qcd"], 3),
                        number(told["latency_qcd"], 3),
                        *(cell for name in ("eq2", "window") for cell in _off(told, name)),
                    ]
                )
    header = ["routing", "job", "size", "messages", "on the network (µs)", "QCD", "packets' QCD"]
    header += ["eq. 2", "off", "correlation", "window", "off", "correlation"]
    return render.table(header, lines, right=range(2, len(header))) if lines else ""


def _off(told: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    error = f"{100 * told[f'{name}_error']:.1f} %"
    return number(told[f"{name}_us"], 2), error, number(told[f"{name}_correlation"], 3)


def _size(size: Mapping[str, Any]) -> str:
    low, high = size["from_bytes"], size["to_bytes"]
    return render.size(low) if low == high else f"{render.size(low)} to {render.size(high)}"


def _told(told: Mapping[str, Any] | None) -> list[str]:
    if told is None:
        return ["-", "-", "-"]
    return [number(told["median_us"], 2), number(told["qcd"], 3), number(told["p99_us"], 2)]


def _worst(found: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            one["routing"],
            job["name"],
            f"{late['from']} to {late['to']}",
            f"{'collective ' if late['collective'] else ''}{late['number']}",
            render.size(late["bytes"]),
            *(number(late[key], 2) for key in ("time_us", "alone_us", "difference_us")),
        ]
        for one in found
        for job in one["jobs"]
        for late in job["worst"][:1]
    ]
    header = ["routing", "job", "ranks", "message", "size", "time (µs)", "alone", "difference"]
    return render.table(header, lines, right=range(4, 8)) if lines else ""
