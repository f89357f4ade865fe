"""What `netloom simulate` tells: a row a routing and job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render

_STOPPED = {
    "interrupted": "interrupted",
    "time-limit": "cut by the time limit",
    "max-time": "cut at max_time_ms",
    "deadlock": "deadlock",
}


def rows(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds."""
    out = []
    for one in found:
        of_run = {key: value for key, value in one.items() if not isinstance(value, list | dict)}
        routing = of_run.pop("routing")
        for job in one["jobs"]:
            row = {"routing": routing, "job": job["name"], "completion_ms": job["completion_ms"]}
            row |= {"ratio": job["ratio"]}
            row |= {f"message_latency_{key}_us": value for key, value in job["message_latency_us"].items()}
            row |= {f"packet_latency_{key}_us": v for key, v in (one["packet_latency_us"] or {}).items()}
            row |= load_columns(job) | {"waiting_share": (job["time"] or {}).get("waiting_share")}
            out.append({**row, **of_run})
    return out


def load_columns(job: Mapping[str, Any]) -> dict[str, Any]:
    """What a job offered and what was accepted, as columns of CSV; empty for other jobs."""
    load = job["load"] or {}
    found = {f"load_{key}": load.get(key) for key in ("offered", "accepted", "saturated")}
    return found | {f"load_{key}_us": load.get("latency_us", {}).get(key) for key in ("mean", "p50", "p99")}


def text(result: Mapping[str, Any]) -> str:
    """The report: what was simulated, the table, and what ended early."""
    count = render.count
    head = [
        ("scenario", f"{result['scenario']}: {result['model']} model, profile {result['profile']}"),
        ("fabric", f"{count(result['hosts'])} hosts, {count(result['switches'])} switches"),
    ]
    parts = [render.pairs(head)]
    if result["runs"]:
        parts.append(_table(result["runs"], result["model"]))
        if any(job["load"] is not None for one in result["runs"] for job in one["jobs"]):
            parts.append(_loads(result["runs"]))
        if any("congestion" in one for one in result["runs"]):
            parts.append(_congestion(result["runs"]))
        if any(len(job.get("modes", [])) > 1 for one in result["runs"] for job in one["jobs"]):
            parts.append(_modes(result["runs"]))
    tail = [("stuck", f"{one['routing']}: {line}") for one in result["runs"] for line in one["stuck"]]
    tail += [
        (_STOPPED[one["stopped"]], f"{one['routing']}, after {one['simulated_ms']:.4g} simulated ms")
        for one in result["runs"]
        if one["stopped"] is not None
    ]
    tail += skipped(result)
    if result["not_run"]:
        tail.append(("not run", ", ".join(result["not_run"])))
    if result["output"] is not None:
        tail.append(("written", f"{result['output']} (netloom plot run draws it)"))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(parts)


def skipped(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was not simulated of each run, or why all was, if that was asked for."""
    return [_skipped(one["routing"], one["skipped"]) for one in result["runs"] if "skipped" in one]


def _skipped(routing: str, skipped: Mapping[str, Any]) -> tuple[str, str]:
    """What was not simulated, or why all was."""
    if skipped["reason"] is not None:
        return "not skipped", f"{routing}: {skipped['reason']}"
    count, each = render.count, skipped["period_iterations"]
    period = (
        f"{'iteration' if each == 1 else f'{count(each)} iterations'} ({1e3 * skipped['period_ms']:.4g} µs)"
    )
    what = f"{count(skipped['iterations'])} iterations of {skipped['job']}"
    what = f"{routing}: {what}, {100 * skipped['share']:.1f} % of the time"
    start = skipped["from_iteration"]
    if skipped["how"] == "near":
        error, seen = (f"{100 * skipped[key]:.2g} %" for key in ("error", "seen"))
        return "skipped", f"{what}; taken from {period} from {start} on, error at most {error}, {seen} seen"
    return "skipped", f"{what}; from iteration {start} on it repeats every {period}"


def all_skipped(told: Mapping[str, Any]) -> str:
    """What several simulations left out, and why some of them were run in full."""
    what = f"{100 * told['share']:.1f} % of the time of {render.count(told['runs'])} simulations"
    what += at_most(told["error"])
    full = [f"{render.count(one['runs'])}: {one['reason']}" for one in told["reasons"]]
    return what + (f"; in full {', '.join(full)}" if full else "")


def at_most(error: float | None) -> str:
    """Where what was left out is only near: how wrong figures may be."""
    return "" if error is None else f", error at most {100 * error:.2g} %"


def _table(found: Sequence[Mapping[str, Any]], model: str) -> str:
    packets = model == "packet"
    header = ["routing", "job", "complete (ms)", "ratio", "latency mean (µs)", "p99", "max"]
    header += ["packets", "busiest link", "Mhops/CPU s"] if packets else ["busiest link", "CPU s"]
    spare = [7, 9, 5] if packets else [8, 5]
    lines = []
    for one in found:
        busiest = one["max_link_utilisation"]
        of_run = [] if not packets else [render.count(one["packets"])]
        of_run.append("-" if busiest is None else f"{100 * busiest:.1f} %")
        of_run.append(millions(one["packet_hops_per_cpu_second"]) if packets else f"{one['cpu_seconds']:.2f}")
        for at, job in enumerate(one["jobs"]):
            latency = job["message_latency_us"]
            lines.append(
                [
                    "" if at else one["routing"],
                    job["name"],
                    number(job["completion_ms"], 3),
                    number(job["ratio"], 2),
                    *[number(latency[key], 1) for key in ("mean", "p99", "max")],
                    *([""] * len(of_run) if at else of_run),
                ]
            )
    return render.table(header, lines, right=range(2, len(header)), spare=spare)


def _loads(found: Sequence[Mapping[str, Any]]) -> str:
    """What was offered and accepted in the window, and the latency of the messages made in it."""
    lines = []
    for one in found:
        for job in one["jobs"]:
            if (load := job["load"]) is not None:
                shares = [f"{100 * load[key]:.1f} %" for key in ("offered", "accepted")]
                shares[1] += " (saturated)" if load["saturated"] else ""
                latency = [number(load["latency_us"][key], 2) for key in ("mean", "p50", "p99")]
                lines.append([one["routing"], job["name"], *shares, *latency])
    header = ["routing", "job", "offered", "accepted", "latency in window, mean (µs)", "p50", "p99"]
    return render.table(header, lines, right=range(2, len(header)), spare=[5, 6])


def _modes(found: Sequence[Mapping[str, Any]]) -> str:
    """What went by which mode, where jobs had several."""
    lines = [
        [
            one["routing"],
            job["name"],
            mode["mode"],
            render.count(mode["messages"]),
            render.size(mode["bytes"]),
            f"{100 * mode['share']:.1f} %",
        ]
        for one in found
        for job in one["jobs"]
        for mode in job.get("modes", [])
    ]
    header = ["routing", "job", "mode", "messages", "sent", "share of bytes"]
    return render.table(header, lines, right=range(3, len(header)))


def _congestion(found: Sequence[Mapping[str, Any]]) -> str:
    """What the congestion control did, and what flows had of it."""
    lines = []
    for one in found:
        control = one["congestion"]
        longest = max((queue["longest_mean_bytes"] for queue in control["queues"]), default=0.0)
        of_run = [
            render.count(control["notices"]),
            f"{100 * control['limited_share']:.1f} %",
            number(longest, 0),
        ]
        for at, job in enumerate(one["jobs"]):
            rates = job["flow_bytes_per_second"] or {}
            lines.append(
                [
                    "" if at else one["routing"],
                    job["name"],
                    number(job["fairness"], 3),
                    *[number(rates[key] / 1e9 if rates else None, 3) for key in ("least", "mean", "most")],
                    *([""] * len(of_run) if at else of_run),
                ]
            )
    header = ["routing", "job", "Jain", "a flow, least (GB/s)", "mean", "most", "notices", "hosts limited"]
    header.append("longest mean queue (B)")
    tables = [render.table(header, lines, right=range(2, len(header)), spare=[5, 4])]
    if any("out_of_order_percent" in one["congestion"] for one in found):
        tables.append(_reordering(found))
    return "\n\n".join(tables)


def _reordering(found: Sequence[Mapping[str, Any]]) -> str:
    """What switches did about notifications, and packets that came out of order."""
    lines = []
    for one in found:
        control = one["congestion"]
        if "out_of_order_percent" not in control:
            continue
        counts = [control.get(key) for key in ("consumed", "rerouted", "all_marked")]
        lines.append(
            [
                one["routing"],
                *["-" if count is None else render.count(count) for count in counts],
                f"{control['out_of_order_percent']:.1f} %",
                render.count(control["resequencing_bytes_max"]),
            ]
        )
    header = ["routing", "notices consumed", "packets rerouted", "all marked", "out of order"]
    header.append("resequencing (B)")
    return render.table(header, lines, right=range(1, len(header)))


def number(value: float | None, digits: int) -> str:
    """A number with so many digits, more for a small one; a dash for what is unknown."""
    if value is None:
        return "-"
    return f"{value:,.{digits}f}" if value >= 10 ** (1 - digits) or value == 0 else f"{value:.3g}"


def millions(value: float | None) -> str:
    """`15.20`, in millions; a dash for what is unknown."""
    return "-" if not value else f"{value / 1e6:.2f}"
