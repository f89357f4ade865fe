"""`netloom demo dataplane`: the dissertation's section 2.7 with real packets, in network namespaces.

Three hosts and four switches sample what two flows send; a third flow, of hosts that take no part, fills a
cable that one of the two crosses. Which cable that is shows in the packets of those who do. Nothing is left
behind: the network has no names outside of the process.
"""

from __future__ import annotations

import errno
import itertools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.files import Folder
from netloom.findings import finding
from netloom.session.sources import is_stdin

if TYPE_CHECKING:
    from netloom.dataplane.estimates import Estimate
    from netloom.dataplane.experiment import Seen
    from netloom.findings import Finding

FOLDER = Path("demo-dataplane")
"""Where the demo writes unless told otherwise."""
_SECONDS = 50.0
_STEPS, _WINDOWS = 200, 50
_ALIKE = 0.1
"""By how much slopes may differ from the rate sent, where there are packets enough to tell."""
_DECODED = ("net.txt", "packets.parquet")
"""What `netloom sample decode` takes."""
_SURE = 5.0
"""Standard errors."""
_STOOD = 0.05
"""A queue that was longer than the threshold in this share of the readings stood."""
_DRAWN = ("h1 → s1", "s1 → s4", "s4 → s2", "s2 → h2", "h3 → s3", "s3 → s2")
"""Links of figure 2.15."""


def dataplane(
    *, seconds: Annotated[float, options.within(4.0, 600.0)] = _SECONDS, options: Options | None = None
) -> int:
    """Section 2.7 of the dissertation with real packets: a network in namespaces, three flows, figure 2.15.

    Needs root, clang and a kernel with BTF, and iproute2. Nothing outside of the demo's own network is
    touched, and nothing is left behind.

    Parameters
    ----------
    seconds
        How long packets are sent.
    options
        Common options; `-o` is the folder to write to (`demo-dataplane` unless given).
    """
    from netloom import _core, extras
    from netloom.dataplane import attaching, experiment

    options = options or Options()
    if options.output is not None and is_stdin(str(options.output)):
        raise UsageError("the demo writes several files: -o FOLDER")
    run = Run("demo-dataplane", options, folder=True)
    folder = options.output or FOLDER
    extras.need("plot", "arrow")
    attaching.need()
    with Folder.open(folder.parent) as parent:
        if parent.kind(folder.name) not in (None, "folder"):
            raise OSError(errno.EEXIST, "is there already: expected a folder, or nothing", str(folder))
    net = _core.Fabric.parse(experiment.text(), label="net.txt")
    with run.timed("run"), run.progress("section 2.7") as progress:
        report = None if progress is None else lambda passed: progress(int(passed * 10), int(seconds * 10))
        seen = experiment.run(net, seconds=seconds, hash_name=_core.sampling_hash("gf"), report=report)
    run.finishing()
    result = _result(seen)
    with run.timed("write"), Folder.open(folder, make=True) as there:
        result["files"] = _write(seen, there)
    result["folder"] = str(folder)
    return run.finish(result, lambda: _text(result), rows=result["links"])


def _result(seen: Seen) -> dict[str, Any]:
    """What is told of it."""
    from netloom.dataplane import estimates, experiment

    table, hosts = seen.packets.table, seen.packets.hosts
    time_s = np.asarray(table["time_ps"], np.float64) * 1e-12
    quiet = np.zeros(len(time_s), bool)
    for start, end in seen.quiet:
        quiet |= (time_s >= start) & (time_s < end)
    by_ends = {(link.source, link.target): link for link in seen.links}
    flows, findings = [], []
    for flow, way in zip(seen.flows, experiment.WAYS, strict=True):
        takes_part = flow.source not in experiment.CROSS_TRAFFIC_HOSTS
        of_flow = (
            np.asarray(table["source"]) == hosts.index(flow.source)
            if takes_part
            else np.zeros(len(time_s), bool)
        )
        spans = [(max(start, flow.start_s), end) for start, end in seen.quiet]
        quiet_s = sum(end - start for start, end in spans)
        rate = sum(flow.sent_between(*span) for span in spans) / quiet_s
        slopes = []
        for link in [by_ends[ends] for ends in itertools.pairwise(way)] if takes_part else ():
            found = estimates.of_link(table, link.mask, of_flow & quiet)
            slope, error = found.traffic / quiet_s, found.traffic_error / quiet_s
            slopes.append({"link": link.name, "slope_per_s": round(slope, 3), "slope_error": round(error, 3)})
            if abs(slope - rate) > max(_ALIKE * rate, _SURE * error):
                findings.append(
                    finding(
                        "slope-off",
                        f"{link.name}: {slope:,.0f} packets a second, but {flow.source} sent {rate:,.0f}",
                    )
                )
        flows.append(
            {
                "source": flow.source,
                "destination": flow.destination,
                "start_s": flow.start_s,
                "end_s": flow.end_s,
                "takes_part": takes_part,
                "sent": flow.sent[-1][1] if flow.sent else 0,
                "received": int(of_flow.sum()) if takes_part else None,
                "quiet_rate_per_s": round(rate, 3),
                "links": slopes,
            }
        )
    links = []
    loud = (seen.times_s >= seen.loud[0]) & (seen.times_s < seen.loud[1])
    for link in seen.links:
        found = estimates.of_link(table, link.mask)
        queue = seen.queues.get(link.name)
        stood = queue is not None and bool(np.mean(queue[loud] >= experiment.QUEUE_BYTES) > _STOOD)
        findings += _wrong(link.name, found, stood)
        links.append(
            {
                "link": link.name,
                "number": link.number,
                "traffic": round(found.traffic),
                "traffic_error": round(found.traffic_error, 1),
                "congested": round(found.congested),
                "congested_error": round(found.congested_error, 1),
                "fraction": round(found.fraction, 4) if found.traffic > _SURE * found.traffic_error else None,
                "queue_bytes": None if queue is None else round(float(queue[loud].mean())),
                "queue_stood": stood,
            }
        )
    return {
        "hosts": 5,
        "switches": 4,
        "run_seconds": seen.seconds,
        "packets": len(time_s),
        "lost": seen.packets.lost,
        "flows": flows,
        "links": links,
        "findings": findings,
    }


def _wrong(name: str, found: Estimate, stood: bool) -> list[Finding]:
    """What is wrong with a link's congestion, if something is."""
    sure = found.congested > _SURE * found.congested_error
    if sure == stood:
        return []
    text = (
        "no packet found it congested, but its queue stood"
        if stood
        else "found congested, but its queue did not stand"
    )
    return [finding("congestion-off", f"{name}: {text}")]


def _write(seen: Seen, there: Folder) -> list[str]:
    """Writes what came of it; the names of the files."""
    from netloom import interop
    from netloom.cli.dataplane.collect import packets_table
    from netloom.dataplane import estimates, experiment
    from netloom.plot.sampled import LinkCounts, congestion_picture, counts_picture

    drawn = sorted(
        (link for link in seen.links if link.name in _DRAWN), key=lambda link: _DRAWN.index(link.name)
    )
    times = np.linspace(0.0, seen.seconds, _STEPS + 1)
    masks = [link.mask for link in drawn]
    traffic, congested = estimates.over_time(seen.packets.table, masks, _ps(times))
    curves = [
        LinkCounts(link.name, traffic[i].astype(float), congested[i].astype(float))
        for i, link in enumerate(drawn)
    ]
    edges = np.linspace(0.0, seen.seconds, _WINDOWS + 1)
    fractions = _fractions(seen, masks, edges)
    marks = [(*seen.loud, "h11 sends to h22")]
    files = {
        "net.txt": experiment.text(),
        "packets.parquet": interop.table_bytes(packets_table(seen.packets, seen.hash, 1.0), ".parquet"),
        "counts.csv": _csv(seen, times),
    }
    for kind in ("svg", "png"):
        files[f"counts.{kind}"] = counts_picture(
            curves,
            times,
            marks=marks,
            title="What h2 makes of its packets: every link's, and those congested",
            kind=kind,
        )
        files[f"congested.{kind}"] = congestion_picture(
            [link.name for link in drawn],
            edges,
            fractions,
            title="Which share of packets found a link congested",
            kind=kind,
        )
    for name, data in files.items():
        there.write(name, data)
    return list(files)


def _fractions(seen: Seen, masks: list[int], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The congested share of every link in every window; NaN where its traffic is not sure."""
    from netloom.dataplane import estimates

    table = seen.packets.table
    window = np.searchsorted(_ps(edges), np.asarray(table["time_ps"], np.int64), side="right") - 1
    congested = np.asarray(table["congested"], np.float64)
    inside = (window >= 0) & (window < len(edges) - 1)
    found = []
    for mask in masks:
        sign = estimates.signs(table, mask).astype(np.float64)
        count, hot, squares = (
            np.bincount(window[inside], weights=values[inside], minlength=len(edges) - 1)
            for values in (sign, sign * congested, sign * sign)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.where(count > 4 * np.sqrt(np.maximum(squares - count, 0)), hot / count, np.nan))
    return np.array(found)


def _csv(seen: Seen, times: npt.NDArray[np.float64]) -> bytes:
    from netloom.dataplane import estimates

    traffic, congested = estimates.over_time(
        seen.packets.table, [link.mask for link in seen.links], _ps(times)
    )
    rows = [
        {
            "seconds": round(float(time), 3),
            "link": link.name,
            "traffic": int(traffic[i, k]),
            "congested": int(congested[i, k]),
        }
        for k, time in enumerate(times)
        for i, link in enumerate(seen.links)
    ]
    return f"{render.as_csv(rows)}\n".encode()


def _ps(times_s: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.asarray(np.round(times_s * 1e12), np.int64)


def _text(result: dict[str, Any]) -> str:
    """The demo's report."""
    count = render.count
    parts = [
        f"{result['hosts']} hosts, {result['switches']} switches in network namespaces; "
        f"{count(result['packets'])} packets in {result['run_seconds']:g} s, {count(result['lost'])} lost"
    ]
    rows = []
    for flow in result["flows"]:
        name = f"{flow['source']} → {flow['destination']}"
        when = f"{flow['start_s']:g} to {flow['end_s']:g} s"
        rate = count(round(flow["quiet_rate_per_s"]))
        if not flow["takes_part"]:
            rows.append([name, when, count(flow["sent"]), "", "", "", ""])
        for i, link in enumerate(flow["links"]):
            head = [name, when, count(flow["sent"]), rate] if i == 0 else [""] * 4
            slope, error = (count(round(link[key])) for key in ("slope_per_s", "slope_error"))
            rows.append([*head, link["link"], slope, error])
    header = ["flow", "when", "sent", "a second", "link", "estimated a second", "±"]
    parts.append(render.table(header, rows, right=(2, 3, 5, 6)))
    rows = [
        [
            link["link"],
            count(link["traffic"]),
            count(round(link["traffic_error"])),
            count(link["congested"]),
            count(round(link["congested_error"])),
            "" if link["fraction"] is None else render.percent(100 * link["fraction"]),
            "" if link["queue_bytes"] is None else count(link["queue_bytes"]),
        ]
        for link in result["links"]
        if link["fraction"] is not None or link["queue_stood"]
    ]
    header = ["link", "packets", "±", "congested", "±", "share", "queue then (bytes)"]
    parts.append(render.table(header, rows, right=range(1, 7)))
    others = [link for link in result["links"] if link["fraction"] is None]
    largest = max((abs(link["traffic"]) / max(link["traffic_error"], 1.0) for link in others), default=0.0)
    parts.append(
        f"{len(others)} other links: at most {largest:.1f} standard errors from 0; "
        "packets of h11 are in no count"
    )
    parts.append(
        f"written to {result['folder']}/: {', '.join(result['files'])}\nnext: "
        + shlex.join(["netloom", "sample", "decode", *(f"{result['folder']}/{name}" for name in _DECODED)])
    )
    return "\n\n".join(parts) + render.findings(result["findings"])
