"""What is made of several runs of a scenario: ratios, and what to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.findings import Finding, finding
from netloom.shown import units


def add_ratios(found: Sequence[dict[str, Any]]) -> None:
    """Adds to every job `ratio`: its completion over that under the first routing; null if unknown."""
    first = {job["name"]: job["completion_ms"] for job in found[0]["jobs"]} if found else {}
    for one in found:
        for job in one["jobs"]:
            base, time = first.get(job["name"]), job["completion_ms"]
            job["ratio"] = time / base if base and time is not None else None


SLOWER_PERCENT = 2.0
"""How much slower than ftree, which they start from, optimised routes may be without a word."""


def findings(found: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What to know of optimised routes (chosen by loads, slower than their start) and of offered load."""
    start = next((one for one in found if one["routing"] == "ftree"), None)
    times = {job["name"]: job["completion_ms"] for job in start["jobs"]} if start else {}
    out = []
    for one in (one for one in found if one["routing"].startswith("optimized")):
        routing = one["routing"]
        if one["optimized"] is not None and one["optimized"]["judge"] is None:
            text = f"{routing}: chosen by loads alone, as no simulation of its start came to an end"
            out.append(finding("not-judged", text))
        for job in one["jobs"]:
            before, time = times.get(job["name"]), job["completion_ms"]
            if before and time is not None and time > before * (1 + SLOWER_PERCENT / 100):
                more = f"{100 * (time / before - 1):.1f} %"
                text = f"{routing}: {job['name']} takes {more} longer than with ftree"
                out.append(finding("slower-than-start", text))
    return out + not_received(found) + not_accepted(found)


def not_received(found: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Jobs that ended with messages that came and that nobody received: their programs lack receives."""
    told = {
        job["name"]: job["unreceived"]
        for one in found
        for job in one["jobs"]
        if job["completion_ms"] is not None and job.get("unreceived")
    }
    return [
        finding(
            "never-received",
            f"{name}: {units.count(count)} of its messages came and are received by no rank",
        )
        for name, count in told.items()
    ]


def not_accepted(found: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What is to be known of jobs of whose offered load a routing accepts less."""
    out = []
    for one in found:
        for job in (job for job in one["jobs"] if (job.get("load") or {}).get("saturated")):
            shares = "{:.1f} % of a host's link accepted, {:.1f} % offered".format(
                *(100 * job["load"][key] for key in ("accepted", "offered"))
            )
            more = f"{shares}: its latency grows with the window"
            out.append(finding("load-not-accepted", f"{one['routing']}: {job['name']} is saturated, {more}"))
    return out
