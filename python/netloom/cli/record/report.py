"""What `netloom record` tells: ranks, pairs, bytes by kind of call, share of collectives, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netloom.cli.shared import render


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What CSV holds: a row a function of MPI that was called."""
    return [dict(one) for one in result["calls"]] or [{"name": None, "kind": None, "calls": 0, "bytes": 0}]


def text(result: Mapping[str, Any]) -> str:
    """The report."""
    count, size = render.count, render.size
    hosts, bytes_ = result["hosts"], result["bytes"]
    where = f"{count(len(hosts))} host{'' if len(hosts) == 1 else 's'}"
    cost = f"{result['ns_per_call']:.1f} ns a call"
    if result["overhead_percent"] is not None:
        cost += f", {render.percent(result['overhead_percent'])} of {render.seconds(result['seconds'])}"
    head = [
        ("MPI", f"{result['mpi'].split(',')[0][:60]} ({result['abi']})"),
        ("ranks", f"{count(result['ranks'])} on {where}"),
        ("pairs", count(result["pairs"])),
        ("messages", count(result["messages"])),
        ("point to point", size(bytes_["point_to_point"])),
        ("one-sided", size(bytes_["one_sided"])),
        *([("neighbourhoods", size(around))] if (around := bytes_["neighbourhood"]) else []),
        (
            "collectives",
            f"{size(bytes_['collective'])} as asked ({result['collective_percent']:.1f} % of all)",
        ),
        ("recorder", cost),
    ]
    if result["events"] is not None:
        head.insert(-1, ("events", count(result["events"])))
    if result["exit_code"]:
        head.append(("exit code", str(result["exit_code"])))
    cells = [
        [one["name"], one["kind"].replace("_", "-"), count(one["calls"]), size(one["bytes"])]
        for one in result["calls"]
    ]
    out = render.pairs(head)
    if cells:
        out += "\n\n" + render.table(["call", "kind", "calls", "bytes"], cells, right=[2, 3])
    if result["files"]:
        out += "\n\n" + render.pairs([("written", path) for path in result["files"].values()])
    return out + render.findings(result["findings"])
