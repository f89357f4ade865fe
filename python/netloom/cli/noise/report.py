"""What `netloom noise` tells: a row a routing and job, and a row a size of message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.simulate.report import number


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
                out.append(row)
    return out


def _plain(told: Mapping[str, Any] | None) -> dict[str, Any]:
    """A summary with its interval as two columns."""
    plain = dict(told or {})
    if "ci95_us" in plain:
        plain["ci95_low_us"], plain["ci95_high_us"] = plain.pop("ci95_us") or (None, None)
    return plain


def text(result: Mapping[str, Any]) -> str:
    """The report: jobs, then sizes, then the messages that were delayed the most."""
    head = [
        ("scenario", f"{result['scenario']}: {result['model']} model, profile {result['profile']}"),
        ("fabric", f"{render.count(result['hosts'])} hosts, {render.count(result['switches'])} switches"),
    ]
    parts = [render.pairs(head)]
    if result["runs"]:
        parts.append(_jobs(result["runs"]))
        if sizes := _sizes(result["runs"]):
            parts.append("by size of message\n" + sizes)
        if model := _model(result["runs"]):
            parts.append("by the transmission model, beside others\n" + model)
        if late := _worst(result["runs"]):
            parts.append("delayed the most\n" + late)
    tail = [
        (f"{one['routing']}", f"stopped: {one['stopped']}")
        for one in result["runs"]
        if one["stopped"] is not None
    ]
    if result["not_run"]:
        tail.append(("not run", ", ".join(result["not_run"])))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts) + render.findings(result["findings"])


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
                        *_told(size["noise"], interval=True),
                        *_told(size["alone"]),
                        *(number(late[key], 2) for key in ("median_us", "p99_us", "max_us")),
                    ]
                )
    header = ["routing", "job", "size", "messages", "median (µs)", "95 %", "QCD", "p99"]
    header += ["alone: median", "QCD", "p99", "difference: median", "p99", "max"]
    return render.table(header, lines, right=[2, 3, 4, *range(6, len(header))]) if lines else ""


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
                        *(cell for name in ("eq2", "window") for cell in _off(told, name)),
                    ]
                )
    header = ["routing", "job", "size", "messages", "on the network (µs)"]
    header += ["eq. 2", "off", "correlation", "window", "off", "correlation"]
    return render.table(header, lines, right=range(2, len(header))) if lines else ""


def _off(told: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    error = f"{100 * told[f'{name}_error']:.1f} %"
    return number(told[f"{name}_us"], 2), error, number(told[f"{name}_correlation"], 3)


def _size(size: Mapping[str, Any]) -> str:
    low, high = size["from_bytes"], size["to_bytes"]
    return render.size(low) if low == high else f"{render.size(low)} to {render.size(high)}"


def _told(told: Mapping[str, Any] | None, *, interval: bool = False) -> list[str]:
    if told is None:
        return ["-"] * (4 if interval else 3)
    bounds = told["ci95_us"]
    between = ["-" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"] if interval else []
    return [number(told["median_us"], 2), *between, number(told["qcd"], 3), number(told["p99_us"], 2)]


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
