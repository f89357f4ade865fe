"""Small scenarios for the programs of this folder, which work out in their own way what a run must show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import netloom as nl

PS = 1000
"""Picoseconds a nanosecond."""


def goal(folder: Path, ranks: Sequence[Sequence[str]]) -> str:
    """A GOAL schedule of lines by rank; its file."""
    path = folder / f"{len(list(folder.iterdir()))}.goal"
    blocks = ["\n".join([f"rank {rank} {{", *lines, "}"]) for rank, lines in enumerate(ranks)]
    path.write_text("\n".join([f"num_ranks {len(ranks)}", *blocks]) + "\n")
    return str(path)


def at_times(messages: Sequence[tuple[int, int, int, int]], hosts: int) -> list[list[str]]:
    """Messages (ns, from, to, bytes), in order of time, as lines by rank: posted then, received whenever."""
    ranks: list[list[str]] = [[] for _ in range(hosts)]
    last, count = [0] * hosts, [0] * hosts
    for number, (time, sender, receiver, size) in enumerate(messages):
        at, lines = count[sender], ranks[sender]
        lines.append(f"c{at}: calc {time - last[sender]}")
        if at:
            lines.append(f"c{at} requires c{at - 1}")
        lines += [f"s{at}: send {size}b to {receiver} tag {number}", f"s{at} requires c{at}"]
        ranks[receiver].append(f"recv {size}b from {sender} tag {number}")
        last[sender], count[sender] = time, at + 1
    return ranks


def run(
    scenario: nl.Scenario, routing: str | None = None, model: str | None = None
) -> tuple[Any, dict[tuple[int, int, int, int], float]]:
    """A run, and every message's latency in ns by (from, to, when it was posted in ns, bytes)."""
    ended = nl.simulate(
        scenario, routing, messages=(scenario.jobs[0].name,), **({"model": model} if model else {})
    )
    told = ended.messages()
    keys = zip(
        told["from"].tolist(),
        told["to"].tolist(),
        (told["posted_ps"] // PS).tolist(),
        told["bytes"].tolist(),
        strict=True,
    )
    return ended, dict(zip(keys, (told["latency_ps"] / PS).tolist(), strict=True))


def of(fabric: str, trace: str, **keys: Any) -> nl.Scenario:
    """A scenario of one job."""
    job = {"name": "it", "trace": trace, "allocation": "contiguous:0"}
    return nl.Scenario.from_dict({"fabric": fabric, "job": [job], **keys})


def on(fabric: nl.Fabric, folder: Path, trace: str, text: str) -> nl.Scenario:
    """A scenario of one job on a fabric at hand; `text` has what else it says, tables last."""
    head, _, tables = text.partition("[")
    job = f'[[job]]\nname = "it"\ntrace = "{trace}"\nallocation = "contiguous:0"\n'
    whole = f'fabric = "at hand"\nroutes = "updn"\n{head}\n{job}\n' + (f"[{tables}" if tables else "")
    return nl.Scenario.on(fabric, whole, "s.toml", folder)


def cables(hosts: int, switches: int, wires: Sequence[tuple[int, int, int, int, float]]) -> nl.Fabric:
    """Hosts and switches, in this order of numbers, and cables: node, port, node, port, bytes a second."""
    return nl.Fabric.from_cables(
        [(f"h{h}", f"h{h}", 1) for h in range(hosts)], [(f"s{s}", 8) for s in range(switches)], wires
    )
