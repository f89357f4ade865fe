"""Optimised routes as a result: the keys that scripts rely on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from netloom.paths.hottest import loads_result

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, OptimizedLayers, Outcome, Traffic

LEVELS = 4
"""How many of the highest loads an optimisation lists."""


def optimized_result(
    fabric: Fabric, best: Optimized | OptimizedLayers, loads: LinkLoads, traffic: Traffic
) -> dict[str, Any]:
    """What is known of optimised routes; `loads` are theirs of all the traffic."""
    from netloom import _core

    history = best.history
    if isinstance(best, _core.Optimized):
        end, proven = best.loads.max, loads.proven_optimal
    else:
        end, proven = history[-1]["max_load"] if history else 0.0, best.proven_optimal
    reached = [step["seconds"] for step in history if step["max_load"] <= end * (1 + 1e-9)]
    return {
        **loads_result(fabric, loads, traffic),
        "levels": [{"load": load, "links": links} for load, links in loads.levels(LEVELS)],
        "proven_optimal": proven,
        "status": status(best, proven=proven),
        "stopped": best.stopped,
        "reproducible": best.reproducible,
        "work": best.work,
        "time_to_best": min(reached, default=None),
        "history": history,
    }


def gap_percent(value: float, bound: float) -> float:
    """How far a value is above its lower bound, percent: 0 where they differ by rounding only."""
    if value <= bound * (1 + 1e-9):
        return 0.0
    return (value / bound - 1) * 100 if bound > 0 else math.inf


def portfolio(best: Outcome) -> dict[str, Any]:
    """The best sound engine, and whose routes were taken where the search found none as good."""
    engine = best.best_engine
    return {
        "best_engine": None if engine is None else {"name": engine[0], "value": engine[1]},
        "taken_from": best.taken_from,
    }


def status(best: Outcome, *, proven: bool) -> str:
    """How the search for `best` ended; `proven`: whether the routes that are told meet their bound.

    They may be others: today's that stayed, or an exact model's.
    """
    if proven:
        return "optimal"
    return "exhausted" if best.status == "optimal" else best.status
