"""Routes with traffic as a page's document: loads beside the bound, the hottest links and who loads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import RoutingError
from netloom.pages import links
from netloom.paths import users
from netloom.paths.hottest import loads_result

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, LinkLoads, Routes, Traffic

PAIRS = 10
"""So many pairs of a link are listed."""


def document(
    fabric: Fabric,
    traffic: Traffic,
    routings: Mapping[str, tuple[Routes, LinkLoads]],
    jobs: Sequence[Job] = (),
    *,
    threads: int = 0,
) -> dict[str, Any]:
    """What a page tells of routes with a traffic.

    Parameters
    ----------
    fabric, traffic : Fabric, Traffic
        What is routed.
    routings : mapping
        Routes and their loads by name, in order.
    jobs : sequence of Job
        Whose hosts are whose.
    threads : int, default 0
        0 is one a core.
    """
    net = links.of_fabric(fabric)
    first = next(iter(routings.values()))[0]
    told = []
    for name, (routes, loads) in routings.items():
        values = loads.per_link
        largest, between = net.largest(values)
        found = users.told(
            fabric, users.users(fabric, routes, traffic, largest, jobs, threads=threads), PAIRS
        )
        told.append(
            {
                "routing": name,
                "changed_entries": _changed(first, routes),
                "moved": first.moved(routes, traffic),
                **loads_result(fabric, loads, traffic, count=links.HOTTEST),
                "certificate": _verdict(fabric, traffic, routes, loads),
                "changes": _changes(net, next(iter(routings.values()))[1].per_link, values),
                "levels": net.by_tier(values),
                "busiest_between_switches": between,
                "busiest": [
                    {
                        "from": net.end(link, 0),
                        "to": net.end(link, 1),
                        "value": float(values[link]),
                        **{key: one[key] for key in ("pairs", "bytes", "jobs", "users")},
                    }
                    for link, one in zip(largest, found, strict=True)
                ],
            }
        )
    return {
        "kind": "routes",
        "fabric": {
            "hosts": fabric.hosts,
            "switches": fabric.switches,
            "links": fabric.links,
            "shape": fabric.kind,
        },
        "traffic": {
            "pairs": traffic.pairs,
            "total_bytes": traffic.total_bytes,
            "jobs": [{"job": job.name, "hosts": len(set(job.hosts))} for job in jobs],
        },
        # No bound of routes that are outside of those it ranges over.
        "bound": told[0]["ar_bound"] if all(of["ar_gap_percent"] is not None for of in told) else None,
        "routings": told,
        "links": net.told({name: loads.per_link for name, (_, loads) in routings.items()}, "B"),
    }


def _changed(first: Routes, other: Routes) -> int | None:
    """Entries in which tables differ; None where these are no tables, or of other addresses."""
    try:
        return first.changed_entries(other)
    except RoutingError:
        return None


def _verdict(fabric: Fabric, traffic: Traffic, routes: Routes, loads: LinkLoads) -> dict[str, Any]:
    """The certificate of the lower bound, and what the checker, which shares no code with it, says of it."""
    from netloom import _core

    claim = loads.certificate
    verdict = _core.verify_certificate(fabric, traffic, claim, routes)
    return {
        "kind": claim.kind,
        "place": claim.place,
        "claim": claim.claim,
        "bound_class": claim.bound_class,
        "ok": verdict.ok,
        "optimal": verdict.optimal,
        "recomputed_bound": verdict.recomputed_bound,
        "reasons": verdict.reasons,
    }


def _changes(net: links.Links, first: links.Values, other: links.Values) -> list[dict[str, Any]]:
    """The links whose load differs most from the first routing's."""
    by = np.abs(other - first)
    order = np.argsort(-by, kind="stable")[: links.HOTTEST]
    return [
        {
            "from": net.end(link, 0),
            "to": net.end(link, 1),
            "before": float(first[link]),
            "after": float(other[link]),
        }
        for link in order.tolist()
        if by[link] > 0
    ]
