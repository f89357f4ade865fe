"""Link loads as results: the keys that scripts rely on, and the links with the largest loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.nodes import Nodes, guid_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from netloom._core import Fabric, LinkLoads, Traffic

HOTTEST = 10
"""How many of the hottest links a result lists."""


def loads_result(
    fabric: Fabric, loads: LinkLoads, traffic: Traffic, *, count: int = HOTTEST
) -> dict[str, Any]:
    """The result object of `loads`, `route` with traffic, and `optimize`."""
    return {
        "max_load": loads.max,
        "max_load_seconds": loads.max_seconds,
        "mixed_speeds": loads.mixed_speeds,
        "mean_load": loads.mean,
        "max_load_between_switches": loads.max_between_switches,
        "links_at_max": loads.links_at_max,
        "ar_bound": loads.ar_bound,
        "ar_bound_upper": loads.ar_bound_upper,
        "ar_bound_exact": loads.ar_bound_exact,
        "ar_bound_class": loads.ar_bound_class,
        "ar_gap_percent": loads.ar_gap_percent,
        "lower_bound": loads.lower_bound,
        "lower_bound_gap_percent": loads.lower_bound_gap_percent,
        "bound_class": loads.bound_class,
        "order": fabric.order,
        "bound_kind": loads.certificate.kind,
        "bound_at": loads.bound_at,
        "outside_because": loads.outside_because,
        "any_bound": loads.any_bound,
        "any_bound_at": loads.any_bound_at,
        "any_bound_gap_percent": loads.any_bound_gap_percent,
        "proven_optimal": loads.proven_optimal,
        "stopped": loads.stopped,
        "traffic_matched_by": "names" if traffic.hosts_hash is not None else "number",
        "hottest": hottest(fabric, loads.per_link, count),
        "hottest_between_switches": between_switches(fabric, loads.per_link, count),
    }


def between_switches(fabric: Fabric, per_link: NDArray[np.float64], count: int) -> list[dict[str, Any]]:
    """The links with the largest loads that join switches: those whose loads routes decide."""
    import numpy as np

    table = fabric.link_table()
    of_hosts = np.minimum(table["source"], table["target"]) < fabric.hosts
    return hottest(fabric, np.where(of_hosts, 0.0, per_link), count)


def hottest(fabric: Fabric, per_link: NDArray[np.float64], count: int) -> list[dict[str, Any]]:
    """The links with the largest loads, ties by number; a GUID beside names that several nodes have."""
    import numpy as np

    nodes, table = Nodes(fabric), fabric.link_table()

    def end(side: str, word: str, link: int) -> dict[str, Any]:
        node = int(table[side][link])
        guid = guid_text(nodes.guids[node]) if nodes.shared(node) else None
        return {
            word: nodes.names[node],
            f"{word}_guid": guid,
            f"{word}_port": int(table[f"{side}_port"][link]),
        }

    order = np.argsort(-per_link, kind="stable")[:count].tolist()
    return [
        {**end("source", "from", link), **end("target", "to", link), "load": float(per_link[link])}
        for link in order
        if per_link[link] > 0
    ]
