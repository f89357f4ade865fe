"""The report of `netloom plan`: a table of the front, the applications, the prices, the assumptions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render

SHOWN = 12
"""Designs of the front that the text lists."""

FIRST = "no design was simulated: bound and estimate are slowdowns by the busiest switch"

TERMS = (
    "bound: links alone take so long, against a full tree, same order of ranks; estimate: what takes no wire "
    "time takes as long as without taper",
    "gap: estimate above the limit at the price, which divides it among the levels in fractions of cables "
    "and switches",
)

SOURCES = {"given": "given", "run": "of run_s", "packets": "of packets", "assumed": "assumed"}
"""What the text calls the sources of a share of wire time."""


def text(result: Mapping[str, Any]) -> str:
    """The report; its first line says that no design was simulated."""
    currency = result["catalogue"]["currency"]
    front = result["designs"]
    parts = [
        FIRST,
        "",
        render.pairs(_head(result)),
    ]
    shown = _shown(result)
    marked = [("chosen" if i == result["chosen"] else "", front[i]) for i in shown]
    title = "front of price against estimate"
    if len(shown) < len(front):
        title += f" ({len(shown)} of {len(front)}; all with --format json or csv)"
    parts += [
        "",
        title,
        _designs(marked, currency, result["hosts"]),
    ]
    beside = [("full", result["full"])] if result["full"] else []
    beside += [("compared", one) for one in result["compared"]]
    if beside:
        parts += ["", "beside it", _designs(beside, currency, result["hosts"])]
    parts += ["", *TERMS, "", _applications(result)]
    if result["judged"]:
        parts += ["", _judged(result)]
    return "\n".join(parts) + render.findings(result["findings"])


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a design, for CSV: the front, the full tree, those compared."""
    listed = [
        ("chosen" if i == result["chosen"] else "front", one) for i, one in enumerate(result["designs"])
    ]
    listed += [("full", result["full"])] if result["full"] else []
    listed += [("compared", one) for one in result["compared"]]
    return [
        {
            "kind": kind,
            "spec": one["spec"],
            "radix": one["radix"],
            "levels": one["levels"],
            "hosts_per_leaf": one["hosts_per_leaf"],
            "up_per_leaf": one["up_per_leaf"],
            "taper": _joined(one["taper"]),
            "switches": _joined(one["switches"]),
            "cables": _joined([cable["count"] for cable in one["cables"]]),
            "spare_ports": _joined(one["spare_ports"]),
            "price": one["price"],
            "price_per_host": one["price_per_host"],
            "power_w": one["power_w"],
            "bound": one["slowdown"]["bound"],
            "estimate": one["slowdown"]["estimate"],
            "mean": one["slowdown"]["mean"],
            "limit": one["limit"]["estimate"],
            "gap_percent": one["gap_percent"],
            "pays_below": one["pays_below"],
        }
        for kind, one in listed
    ]


def _joined(numbers: Sequence[float]) -> str:
    return "+".join(f"{number:g}" for number in numbers)


def _head(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    catalogue, count = result["catalogue"], render.count
    currency = catalogue["currency"]
    dates = catalogue["oldest"]
    if catalogue["newest"] != dates:
        dates += f" to {catalogue['newest']}"
    levels = " or ".join(map(str, result["levels"]))
    radices = " or ".join(map(str, result["radices"]))
    found = [
        ("machine", f"{count(result['hosts'])} hosts, {radices}-port switches, {levels} levels"),
        ("catalogue", f"{catalogue['name'] or catalogue['file']}, prices of {dates}"),
    ]
    for switch in catalogue["switches"]:
        told = f"{switch['price']:,.2f} {currency}, {switch['power_w']:g} W"
        found.append(("a switch" if len(result["radices"]) == 1 else f"{switch['radix']} ports", told))
    for cable in catalogue["cables"]:
        told = f"{cable['price']:,.2f} {currency} ({cable['kind']}, {cable['length_m']:g} m)"
        found.append((f"cable of {cable['level']}", told))
    if result["node_price"] is not None:
        found.append(("a host", f"{result['node_price']:,.2f} {currency} without network"))
    front = count(len(result["designs"]))
    found.append(("designs", f"{count(result['designs_counted'])} counted, {front} on the front"))
    return found


def _shown(result: Mapping[str, Any]) -> list[int]:
    """Members of the front that are listed: both ends, the chosen one, others evenly by log(price)."""
    front, chosen = result["designs"], result["chosen"]
    if len(front) <= SHOWN:
        return list(range(len(front)))
    price = [math.log(one["price"] or 1.0) for one in front]
    kept = {0, len(front) - 1} | ({chosen} if chosen is not None else set())
    for step in range(1, SHOWN - 1):
        wanted = price[0] + (price[-1] - price[0]) * step / (SHOWN - 1)
        kept.add(min(range(len(front)), key=lambda i: (abs(price[i] - wanted), i)))
    return sorted(kept)


def _designs(listed: Sequence[tuple[str, Mapping[str, Any]]], currency: str, hosts: int) -> str:
    header = [
        "",
        f"M{currency}",
        f"{currency} a host",
        "bound",
        "estimate",
        "gap",
        "mean",
        "taper",
        "switches",
        "W a host",
        "pays below",
    ]
    several = len({one["radix"] for _, one in listed}) > 1
    pays = any(one["pays_below"] is not None for _, one in listed)
    cells = []
    for mark, one in listed:
        row = [
            mark,
            f"{one['price'] / 1e6:.3f}",
            f"{one['price_per_host']:,.0f}",
            f"{one['slowdown']['bound']:.3f}",
            f"{one['slowdown']['estimate']:.3f}",
            f"{one['gap_percent']:.1f} %",
            f"{one['slowdown']['mean']:.3f}",
            " ".join(f"{taper:.3g}:1" for taper in one["taper"]),
            "+".join(map(str, one["switches"])) + (f" of {one['radix']}" if several else ""),
            f"{one['power_w'] / hosts:.1f}",
        ]
        row += [f"{one['pays_below']:.3f}" if one["pays_below"] is not None else ""] if pays else []
        cells.append([*row, one["spec"]])
    header = header if pays else header[:-1]
    return render.table([*header, "spec"], cells, right=[*range(1, 7), 9, *([10] if pays else [])])


def _judged(result: Mapping[str, Any]) -> str:
    """What the mix takes in packets, beside bound and estimate of the same order."""
    judged = result["judged"]
    routings = judged["routings"]
    designs = {one["spec"]: one for one in result["designs"]}
    cells = []
    for row in judged["designs"]:
        near = _in_order(designs[row["spec"]], result["applications"])
        ran = [row["slowdown"][routing] for routing in routings]
        cells.append(
            [
                row["which"],
                *("" if near is None else f"{part:.3f}" for part in near or (0.0, 0.0)),
                *("" if slow is None else f"{slow:.3f}" for slow in ran),
                row["spec"],
            ]
        )
    copies = ", ".join(f"{one['copies']} of {one['name']}" for one in judged["applications"])
    title = f"by packets, in order, copies: {copies}"
    header = ["", "bound", "estimate", *routings, "spec"]
    return title + "\n" + render.table(header, cells, right=[*range(1, 3 + len(routings))])


def _in_order(
    design: Mapping[str, Any], applications: Sequence[Mapping[str, Any]]
) -> tuple[float, float] | None:
    """Bound and estimate of the mix in block order; None if the plan has no such order."""
    weights = {one["name"]: one["weight"] for one in applications}
    rows = [on for on in design["applications"] if on["order"] == "block"]
    if not rows:
        return None
    bound, estimate = (
        sum(weights[on["name"]] * on["slowdown"][what] for on in rows) for what in ("bound", "estimate")
    )
    return bound, estimate


def _applications(result: Mapping[str, Any]) -> str:
    """Every application on one design: the chosen one, else the first to compare with, else the cheapest."""
    if result["chosen"] is not None:
        which, design = "chosen", result["designs"][result["chosen"]]
    elif result["compared"]:
        which, design = "first compared", result["compared"][0]
    else:
        which, design = "cheapest", result["designs"][0]
    told = {one["name"]: one for one in result["applications"]}
    cells = []
    for on in design["applications"]:
        one = told[on["name"]]
        least, most = on["least"], on["most"]
        cells.append(
            [
                on["name"],
                f"{one['weight']:.3g}",
                f"{one['wire_share']:.3g}",
                SOURCES[one["wire_share_source"]],
                on["order"],
                *(f"{100 * share:.1f} %" for share in on["share"]),
                *[""] * (2 - len(on["share"])),
                f"{on['slowdown']['bound']:.3f}",
                f"{on['slowdown']['estimate']:.3f}",
                f"{least:.3f} to {most:.3f}" if most > least else "",
            ]
        )
    header = [
        "application",
        "weight",
        "wire",
        "share",
        "order",
        "leaves a leaf",
        "a pod",
        "bound",
        "estimate",
    ]
    title = f"applications on the {which} design, {design['spec']}"
    return title + "\n" + render.table([*header, "draws"], cells, right=[1, 2, 5, 6, 7, 8])
