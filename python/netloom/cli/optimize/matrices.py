"""Several matrices over one routing: phases one after another, or scenarios of which one will come.

Every matrix has a bound and a certificate of its own. The objective is what the search made small: bytes for
phases, and for scenarios the largest load over the scenario's own bound.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from netloom.cli.optimize.goals import Goal
from netloom.cli.shared import render, results
from netloom.errors import TrafficError
from netloom.shown import legend

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, OptimizedLayers, Traffic
    from netloom.cli.shared.run import Run

CERTIFICATES = "netloom.certificates/1"
"""The `schema` of a file with one certificate a matrix."""

_KINDS: dict[str, tuple[str, str]] = {
    "total": ("largest load", "largest load"),
    "sum": ("sum over the phases of the phase's largest load", "sum of largest loads"),
    "worst": ("the worst phase's largest load", "worst phase"),
    "worst-gap": ("the worst gap of a traffic to its own bound", "worst gap"),
    "mean-gap": ("the mean gap of a traffic to its own bound", "mean gap"),
}


def layers(
    goal: Goal, name: str, traffic: Traffic, others: Sequence[tuple[str, Traffic]]
) -> list[tuple[str, Traffic, float]] | None:
    """The matrices that keep loads of their own; None where it is one."""
    if others:
        return [(name, traffic, 1.0), *((source, other, 1.0) for source, other in others)]
    phases = traffic.phase_names
    if goal.objective == "total" or (goal.objective is None and len(phases) < 2):
        return None
    repeats = traffic.phase_repeats
    return [(phase or f"phase {i}", traffic.phase(i), repeats[i]) for i, phase in enumerate(phases)]


def objective_kind(goal: Goal) -> Literal["sum", "worst", "worst-gap", "mean-gap"]:
    """What is made of several maxima."""
    if goal.several:
        return "mean-gap" if goal.robust == "mean" else "worst-gap"
    return "worst" if goal.objective == "worst" else "sum"


class Before(NamedTuple):
    """Loads over the routes that were there: of all traffic, and the largest of each matrix by itself."""

    in_all: LinkLoads
    each: list[LinkLoads]
    lost_pairs: int
    """Pairs with traffic whose packets did not arrive: the loads are without."""

    def value(self, best: Optimized | OptimizedLayers) -> float:
        """What was minimised, of those routes."""
        from netloom import _core

        return (
            self.in_all.max
            if isinstance(best, _core.Optimized)
            else best.value_of([loads.max for loads in self.each])
        )


def result(
    best: Optimized | OptimizedLayers,
    loads: LinkLoads,
    goal: Goal,
    before: Before | None,
) -> dict[str, Any]:
    """The keys `objective`, `phases` and `scenarios`."""
    from netloom import _core

    if isinstance(best, _core.Optimized):
        objective = _objective(
            "total", loads.max, loads.lower_bound, loads.proven_optimal, loads.bound_class, [loads]
        )
        return {"objective": objective, "phases": None, "scenarios": None}
    kind = objective_kind(goal)
    layers, value, proven = best.layers, best.objective, best.proven_optimal
    rows = [
        {
            "name": name,
            "weight" if goal.several else "repeats": weight,
            "max_load": found.max,
            "max_load_before": None if before is None else before.each[k].max,
            "links_at_max": found.links_at_max,
            "ar_bound": found.ar_bound,
            "ar_bound_class": found.ar_bound_class,
            "lower_bound": found.lower_bound,
            "lower_bound_gap_percent": found.lower_bound_gap_percent,
            "bound_class": found.bound_class,
            "outside_because": found.outside_because,
            "bound_kind": found.certificate.kind,
            "bound_at": found.bound_at,
            "proven_optimal": found.proven_optimal,
        }
        for k, (name, weight, found) in enumerate(layers)
    ]
    return {
        "objective": _objective(
            kind,
            value,
            best.objective_bound,
            proven,
            best.bound_class,
            [found for _, _, found in layers],
        ),
        "phases": None if goal.several else rows,
        "scenarios": rows if goal.several else None,
    }


def _objective(
    kind: str, value: float, bound: float, proven: bool, bound_class: str, judged: Sequence[LinkLoads]
) -> dict[str, Any]:
    gap: float | None = (
        0.0 if value <= bound * (1 + 1e-9) else (value / bound - 1) * 100 if bound > 0 else math.inf
    )
    if any(found.lower_bound_gap_percent is None for found in judged):
        gap = None
    return {
        "kind": kind,
        "value": value,
        "lower_bound": bound,
        "gap_percent": gap,
        "bound_class": bound_class,
        "proven_optimal": proven,
    }


def certificates(best: Optimized | OptimizedLayers) -> bytes:
    """The certificate's file: of several matrices, one each."""
    from netloom import _core

    if isinstance(best, _core.Optimized):
        return best.certificate.to_json().encode()
    each = [
        {"name": name, "certificate": json.loads(found.certificate.to_json())}
        for name, _, found in best.layers
    ]
    return (json.dumps({"schema": CERTIFICATES, "certificates": each}, indent=1) + "\n").encode()


def text(result: Mapping[str, Any], verdict: tuple[str, str]) -> str:
    """The verdict, the objective, and a table of the matrices."""
    objective = result["objective"]
    kind = objective["kind"]
    rows = [verdict, ("minimised", _KINDS[kind][0])]
    before = result["background"]
    if kind in ("sum", "worst"):
        rows += [
            (_KINDS[kind][1], render.size(objective["value"])),
            *([("before", f"{render.size(before['value'])} ({before['routes']})")] if before else []),
            ("proven lower bound", render.size(objective["lower_bound"])),
            ("", f"of {results.words(objective['bound_class'])}"),
            ("gap to it", results.proven(objective, objective["gap_percent"])),
        ]
    else:
        value = render.percent((objective["value"] - 1) * 100)
        if objective["proven_optimal"]:
            value += f": proven optimal among {results.words(objective['bound_class'])}"
        rows.append((_KINDS[kind][1], value))
        if before:
            rows.append(("before", f"{render.percent((before['value'] - 1) * 100)} ({before['routes']})"))
    phases = result["phases"] is not None
    matrices = result["phases"] if phases else result["scenarios"]
    known = [row["max_load_before"] is not None for row in matrices]
    header = ["phase" if phases else "traffic", "times" if phases else "weight"]
    header += ["before"] * any(known) + [legend.LOAD, "lower bound"]
    lines = [
        [
            row["name"],
            f"{row['repeats' if phases else 'weight']:,g}",
            *(render.size(row["max_load_before"]) for _ in range(any(known))),
            render.size(row["max_load"]),
            render.size(row["lower_bound"]),
            results.gap(row["lower_bound_gap_percent"]),
            "yes" if row["proven_optimal"] else "no",
            row["bound_at"],
        ]
        for row in matrices
    ]
    because = next((row["outside_because"] for row in matrices if row["outside_because"]), None)
    if because is not None:
        rows.append(("no gap", because["text"]))
    table = render.table([*header, "gap", "proven", "bound at"], lines, right=range(1, len(header) + 1))
    return f"{render.pairs(rows)}\n\n{table}"


def fitting(run: Run, source: str, fabric: Fabric) -> Traffic:
    """A traffic that may come too; one of another size is told by its name."""
    traffic = run.traffic(source, fabric)
    if traffic.endpoints != fabric.hosts:
        raise TrafficError(
            f"{source}: has {traffic.endpoints} endpoints, the fabric {fabric.hosts} hosts: place a rank "
            "matrix first (`netloom traffic place`)"
        )
    return traffic
