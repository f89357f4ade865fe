"""The runs without taper that a plan's bounds are against: with ranks in the design's order, on its leaves.

A tree without taper has no one run time. Ranks in random order need longer on it than in order, and larger
leaves have shorter ways. So every trace whose run time nobody has told runs once for each draw of each order
(as many as `MOST_DRAWS`; others count as the longest of these), packet by packet, on two levels with as many
cables up as hosts. Leaves are as large as the smallest of the designs: on larger ones runs are shorter, so
the bound only falls. With W the wire time, T of the draw and R its run, a design needs at least T W, and
W T / R times as long as without taper.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from netloom.planning.placed import Network
from netloom.planning.runs import scenario_of

MOST_DRAWS = 3
"""Draws of an order that are run."""
MOST_PACKETS = 250_000
"""Packets that the copies of an application may send in a run, unless one copy sends more."""
_PACKET = 4096


def bounded(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    *,
    threads: int = 0,
    until: float | None = None,
) -> None:
    """Puts the bounds of a plan's answer right where shares of wire time are of packets.

    Parameters
    ----------
    source : path
        The plan (.toml).
    result : mapping
        What `_core.plan` answers to it; its bounds are replaced, and the key `stretches` of the rows goes.
    threads : int, default 0
        Runs side by side; 0 is one a core.
    until : float, optional
        When to give up, by `time.monotonic`.

    Raises
    ------
    TimeoutError
        If that time came before a run was over.
    SimulationError
        If a run cannot go on.

    Examples
    --------
    >>> bounded("plan.toml", result)
    """
    from netloom import _core

    rows = [row for design in _designs(result) for row in design["applications"]]
    applications = {one["name"]: one for one in result["applications"]}
    for application in applications.values():
        application["reference"] = None
    told = {
        one["name"]: one
        for one in _core.plan_applications(source)
        if applications[one["name"]]["wire_share_source"] == "packets"
    }
    down = min(design["hosts_per_leaf"] for design in _designs(result)) if told else 0
    drawn = {(row["name"], row["order"]): len(row["stretches"]) for row in rows if row["name"] in told}
    work = [(*one, draw) for one, draws in drawn.items() for draw in range(min(draws, MOST_DRAWS))]

    def run(name: str, order: str, draw: int) -> float:
        return _run(told[name], applications[name], result, (order, draw), down, until)

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        try:
            begun = {one: pool.submit(run, *one) for one in work}
            seconds = {one: future.result() for one, future in begun.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for name in told:
        applications[name]["reference"] = {
            "hosts_per_leaf": down,
            "runs": [
                {"order": order, "draw": draw, "run_s": run_s}
                for (of, order, draw), run_s in seconds.items()
                if of == name
            ],
        }
    for design in _designs(result):
        more = 0.0
        for row in design["applications"]:
            stretches, application = row.pop("stretches"), applications[row["name"]]
            if row["name"] in told:
                runs = [seconds[key] for key in work if key[:2] == (row["name"], row["order"])]
                wire_s = application["wire_share"] * application["run_s"]
                bounds = [
                    max(1.0, min(1.0, wire_s / (runs[k] if k < len(runs) else max(runs))) * stretch)
                    for k, stretch in enumerate(stretches)
                ]
                row["slowdown"]["bound"] = sum(bounds) / len(bounds)
            more += application["weight"] / len(result["orders"]) * (row["slowdown"]["bound"] - 1.0)
        design["slowdown"]["bound"] = 1.0 + more


def _designs(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from result["designs"]
    yield from result["compared"]
    if result["full"] is not None:
        yield result["full"]


def _run(
    told: Mapping[str, Any],
    application: Mapping[str, Any],
    result: Mapping[str, Any],
    drawn: tuple[str, int],
    down: int,
    until: float | None,
) -> float:
    """Seconds of one run without taper, on leaves of `down` hosts."""
    from netloom import Traffic, _core

    order, draw = drawn
    each, copies = int(application["hosts"]), int(application["copies"])
    placed = _core.plan_hosts(order, result["hosts"], copies, each, seed=result["seed"], draw=draw)
    packets = max(1.0, Traffic.read(told["source"]).total_bytes / _PACKET)
    # Copies in order do not meet without taper.
    placed = placed[: 1 if order == "block" else max(1, int(MOST_PACKETS / packets))]
    leaves = sorted({host // down for hosts in placed for host in hosts})
    at = {leaf: number for number, leaf in enumerate(leaves)}
    spec = f"two-level:leaves={len(leaves)},hosts={down},spines={down}"
    network = Network.of(spec, result["speed_gbps"])
    names = network.names([[at[host // down] * down + host % down for host in hosts] for hosts in placed])
    left = None if until is None else until - time.monotonic()
    if left is not None and left <= 0:
        raise TimeoutError("the time limit came before the traces of the plan were run")
    scenario = scenario_of(told, network.source, hosts=names)
    ran = _core.simulate(scenario, "adaptive", time_limit=left)
    if ran.stopped == "interrupted":
        raise KeyboardInterrupt
    if ran.stopped is not None:
        raise TimeoutError(f"{told['source']}: {ran.stopped} before its run was over")
    return float(ran.end_ps) / 1e12
