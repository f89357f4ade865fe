"""Only what every host sends and receives in all is known, not who talks to whom.

Loads are then worst loads: each link's over all matrices within the sums, exact. The bound holds for any
routes by destination. There is no adaptive-routing bound and no certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.optimizing import results
from netloom.paths.hottest import HOTTEST, between_switches, hottest

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, OptimizedHose, Traffic
    from netloom.session.session import Session

_HEAD = 1 << 20


def read(session: Session, source: Hose | Traffic | str, fabric: Fabric) -> Hose:
    """The sums: of a file `host,sent,received`, or the row and column sums of any traffic."""
    from netloom import _core

    if isinstance(source, _core.Hose):
        return source
    if isinstance(source, str) and _is_sums(source):
        session.read("hose", source)
        with session.timed("read"):
            return _core.Hose.read(source, fabric)
    return _core.Hose.of(session.traffic(source, fabric))


def _is_sums(source: str) -> bool:
    """Whether a file begins with the header of sums."""
    if not source.endswith((".csv", ".csv.gz")):
        return False
    from netloom import reading

    try:
        lines = reading.head(source, _HEAD).splitlines()
    except OSError:
        # Its own reader says what is wrong.
        return False
    first = next((line for line in map(bytes.strip, lines) if line and not line.startswith(b"#")), b"")
    return first.replace(b" ", b"").startswith(b"host,sent,received")


def hose_result(fabric: Fabric, best: OptimizedHose, named: bool, *, kept: bool = False) -> dict[str, Any]:
    """The keys of a result that loads and bounds fill elsewhere; what a hose does not have is None."""
    worst, bound = best.worst, best.lower_bound
    gap = None if best.outside_because is not None else results.gap_percent(worst.max, bound)
    return {
        "max_load": worst.max,
        "max_load_seconds": worst.max_seconds,
        "mixed_speeds": worst.mixed_speeds,
        "mean_load": worst.mean,
        "max_load_between_switches": worst.max_between_switches,
        "links_at_max": worst.links_at_max,
        "ar_bound": None,
        "ar_bound_upper": None,
        "ar_bound_exact": None,
        "ar_bound_class": None,
        "ar_gap_percent": None,
        "order": fabric.order,
        "lower_bound": bound,
        "lower_bound_gap_percent": gap,
        "bound_class": best.bound_class,
        "bound_kind": None,
        "bound_at": best.bound_at,
        "outside_because": best.outside_because,
        "any_bound": None,
        "any_bound_at": None,
        "any_bound_gap_percent": None,
        "proven_optimal": best.proven_optimal,
        "status": results.status(best, proven=best.proven_optimal),
        "stopped": best.stopped,
        "traffic_matched_by": "names",
        "hottest": hottest(fabric, worst.per_link, HOTTEST),
        "hottest_between_switches": between_switches(fabric, worst.per_link, HOTTEST),
        "levels": [{"load": load, "links": links} for load, links in worst.levels(results.LEVELS)],
        "reproducible": best.reproducible,
        "work": best.work,
        "time_to_best": None,
        "history": [],
        "objective": {
            "kind": "hose",
            "value": worst.max,
            "lower_bound": bound,
            "gap_percent": gap,
            "bound_class": best.bound_class,
            "proven_optimal": best.proven_optimal,
        },
        "phases": None,
        "scenarios": None,
        "changed_entries": 0 if kept else best.changed_entries if named else None,
    }
