"""Several matrices over one routing: phases one after another, or scenarios of which one will come.

Every matrix has a bound and a certificate of its own. The objective is what the search made small: bytes for
phases, and for scenarios the largest load over the scenario's own bound.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from netloom.errors import TrafficError
from netloom.optimizing.results import gap_percent

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, OptimizedLayers, Traffic
    from netloom.optimizing.asked import Asked
    from netloom.session.session import Session

CERTIFICATES = "netloom.certificates/1"
"""The `schema` of a file with one certificate a matrix."""


def layers(
    asked: Asked, name: str, traffic: Traffic, others: Sequence[tuple[str, Traffic]]
) -> list[tuple[str, Traffic, float]] | None:
    """The matrices that keep loads of their own; None where it is one."""
    if others:
        return [(name, traffic, 1.0), *((source, other, 1.0) for source, other in others)]
    phases = traffic.phase_names
    if asked.objective == "total" or (asked.objective is None and len(phases) < 2):
        return None
    repeats = traffic.phase_repeats
    return [(phase or f"phase {i}", traffic.phase(i), repeats[i]) for i, phase in enumerate(phases)]


def objective_kind(asked: Asked) -> Literal["sum", "worst", "worst-gap", "mean-gap"]:
    """What is made of several maxima."""
    if asked.several:
        return "mean-gap" if asked.robust == "mean" else "worst-gap"
    return "worst" if asked.objective == "worst" else "sum"


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
    asked: Asked,
    before: Before | None,
) -> dict[str, Any]:
    """The keys `objective`, `phases` and `scenarios`."""
    from netloom import _core

    if isinstance(best, _core.Optimized):
        objective = _objective(
            "total", loads.max, loads.lower_bound, loads.proven_optimal, loads.bound_class, [loads]
        )
        return {"objective": objective, "phases": None, "scenarios": None}
    kind = objective_kind(asked)
    layers, value, proven = best.layers, best.objective, best.proven_optimal
    rows = [
        {
            "name": name,
            "weight" if asked.several else "repeats": weight,
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
        "phases": None if asked.several else rows,
        "scenarios": rows if asked.several else None,
    }


def _objective(
    kind: str, value: float, bound: float, proven: bool, bound_class: str, judged: Sequence[LinkLoads]
) -> dict[str, Any]:
    outside = any(found.lower_bound_gap_percent is None for found in judged)
    return {
        "kind": kind,
        "value": value,
        "lower_bound": bound,
        "gap_percent": None if outside else gap_percent(value, bound),
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


def fitting(session: Session, source: Traffic | str, name: str, fabric: Fabric) -> Traffic:
    """A traffic that may come too; one of another size is told by its name."""
    traffic = session.traffic(source, fabric)
    if traffic.endpoints != fabric.hosts:
        raise TrafficError(
            f"{name}: has {traffic.endpoints} endpoints, the fabric {fabric.hosts} hosts: place a rank "
            "matrix first (`netloom traffic place`)"
        )
    return traffic
