"""Fabrics and traffic on which what `optimize` finds is held against every engine; a seed decides all.

Graphs are those of `verify_bed.py`, some with cables cut; engines, loads and the check are netloom's.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import netloom as nl
from netloom.errors import NetloomError
from verify_bed import damaged, dragonfly, flows, graph, printed, tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENGINES = ("minhop", "updn", "ftree", "d-mod-k", "random", "dla")
_HELD = tomllib.loads((Path(__file__).parent / "held_out.toml").read_text())["gate"]
SEEDS = range(_HELD["first"], _HELD["first"] + _HELD["count"])
TRIALS = int(os.environ.get("NETLOOM_TRIALS", "6"))
_EXACT = 1e-9


def drawn(seed: int) -> tuple[random.Random, Any, Any]:
    """The fabric and the traffic of a seed."""
    r = random.Random(seed)
    kind = r.choice(("tree", "damaged", "damaged", "dragonfly", "dragonfly", "graph", "graph"))
    make = {"damaged": damaged, "dragonfly": dragonfly, "graph": graph}.get(kind, lambda r: tree(r, 2))
    net = make(r)
    if kind == "dragonfly":
        for _ in range(r.choice((0, 0, 1, 2, len(net.cables) // 8))):
            net.cables.pop(r.randrange(len(net.cables)))
    fabric = nl.Fabric.parse(printed(net, r).encode(), label="net.txt")
    return r, fabric, flows(r, fabric)[0]


def sound(fabric: Any, seed: int) -> dict[str, Any]:
    """The engines' routes that neither deadlock nor lose a pair that cables join."""
    found = {}
    for engine in ENGINES:
        try:
            routes = nl.route(engine, fabric, seed=seed)
        except NetloomError:
            continue
        report = nl.check(fabric, routes)
        if not report.credit_loops and not report.holes and not report.invalid_entries:
            found[engine] = routes
    return found


def faults(seed: int) -> list[str]:
    """What is wrong about what the searches return for a seed; empty if nothing is."""
    r, fabric, traffic = drawn(seed)
    report = nl.check(fabric, nl.route("updn", fabric))
    if fabric.hosts < 2 or report.unreachable_hosts > report.holes:
        # Nobody to send to, or pairs that no cables join.
        return []
    told: list[str] = []
    engines = sound(fabric, seed)
    loads = {name: nl.loads(fabric, routes, traffic).max for name, routes in engines.items()}

    def judge(what: str, routes: Any, value: float, others: dict[str, float]) -> None:
        report = nl.check(fabric, routes)
        if report.credit_loops or report.holes:
            told.append(f"{seed} {what}: {report.credit_loops} loops, {report.holes} holes")
        best = min(others, key=lambda name: others[name])
        if value > others[best] * (1 + _EXACT):
            told.append(f"{seed} {what}: {value:g}, {best} has {others[best]:g}")

    work = r.choice((0, 500, 20_000))
    best = nl.optimize(fabric, traffic, work=work, seed=seed)
    judge("alone", best.routes, best.loads.max, loads)
    lane = nl.optimize(fabric, traffic, work=work, seed=seed, max_lanes=1)
    one = {name: load for name, load in loads.items() if engines[name].lanes is None}
    judge("one lane", lane.routes, lane.loads.max, one)
    if lane.routes.lanes is not None:
        told.append(f"{seed} one lane: with lanes")
    for name, routes in engines.items():
        found = nl.optimize(fabric, traffic, work=work, seed=seed, today=routes)
        judge(f"from {name}", found.routes, found.loads.max, loads)
    layers = nl.optimize_layers(fabric, [("a", traffic, 1.0)], work=work, seed=seed)
    judge("layers", layers.routes, layers.objective, loads)
    sums = nl.Hose.of(traffic)
    hose = nl.optimize_hose(fabric, sums, work=work, seed=seed)
    worst = {name: nl.hose_loads(fabric, routes, sums).max for name, routes in engines.items()}
    judge("sums", hose.routes, hose.worst.max, worst)
    return told
