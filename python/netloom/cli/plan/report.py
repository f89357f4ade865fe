"""The report of `netloom plan`: a table of the front, the applications, the prices, the assumptions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.simulate.report import all_skipped
from netloom.planning.failures import called

SHOWN = 12
"""Designs of the front that the text lists."""

ALONE = "no design was simulated: bound and estimate are slowdowns by the busiest switch"
"""The first line of a plan that rests on the model alone."""

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
        first(result),
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
    parts += ["", *TERMS, *_dragonflies(result), "", _applications(result)]
    if result["judged"]:
        parts += ["", _judged(result), *_apart(result["judged"])]
        if "skipped" in result["judged"]:
            parts.append(f"skipped: {all_skipped(result['judged']['skipped'])}")
    parts += _failures(result)
    parts += ["", _growth(result)]
    return "\n".join(parts) + render.findings(result["findings"])


def first(result: Mapping[str, Any]) -> str:
    """What the plan rests on: the model alone, or runs by packets of so many designs."""
    ran = [one for one in (result["judged"] or {}).get("designs", ()) if None not in one["slowdown"].values()]
    if not ran:
        return ALONE if result["judged"] is None else ALONE.replace(":", " with all applications:")
    networks = "1 network was" if len(ran) == 1 else f"{len(ran)} networks were"
    return f"{networks} run packet by packet; all other designs rest on the model alone"


def unjudged(result: Mapping[str, Any]) -> list[str]:
    """Designs whose runs were not over at the time limit."""
    return [
        one["spec"]
        for one in (result["judged"] or {}).get("designs", ())
        if any(
            slow is None and routing not in row["refused"]
            for row in one["applications"]
            for routing, slow in row["slowdown"].items()
        )
    ]


def uncounted(result: Mapping[str, Any]) -> list[str]:
    """Dragonflies whose loads were not known at the time limit."""
    return list(result["dragonflies"]["late"]) if result["dragonflies"] is not None else []


def refused(result: Mapping[str, Any]) -> dict[str, str]:
    """Why a routing cannot be had on the present fabric, by routing."""
    return {
        routing: why
        for one in (result["judged"] or {}).get("designs", ())
        for row in one["applications"]
        for routing, why in row["refused"].items()
    }


def unfailed(result: Mapping[str, Any]) -> list[str]:
    """Designs of which not all failures were looked at."""
    return [
        one["spec"]
        for _, one in _named(result)
        if one["after_failure"] is not None
        and (one["after_failure"]["before"] is None or "late" in one["after_failure"].values())
    ]


def cut(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Designs that a single failure cuts hosts off of, and what fails."""
    return [
        (one["spec"], kind)
        for _, one in _named(result)
        if one["after_failure"] is not None
        for kind in ("cable", "spine", "core")
        if isinstance(after := one["after_failure"][kind], dict) and after["throughput"]["bound"] == 0
    ]


def rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a design, for CSV: the front, the full tree, those compared."""
    listed = [
        ("chosen" if i == result["chosen"] else "front", one) for i, one in enumerate(result["designs"])
    ]
    listed += [("full", result["full"])] if result["full"] else []
    listed += [("compared", one) for one in result["compared"]]
    found = [
        {
            "kind": kind,
            "family": "tree",
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
    for one in (result["dragonflies"] or {}).get("designs", ()):
        row: dict[str, Any] = dict.fromkeys(found[0])
        row |= {"kind": "dragonfly", "family": "dragonfly", "hosts_per_leaf": one["hosts_per_switch"]}
        row |= {key: one[key] for key in ("spec", "radix", "switches", "spare_ports", "price")}
        row |= {key: one[key] for key in ("price_per_host", "power_w", "pays_below")}
        row["cables"] = _joined([cable["count"] for cable in one["cables"]])
        found.append(row | {key: one["slowdown"][key] for key in ("bound", "estimate")})
    return found


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


def _dragonflies(result: Mapping[str, Any]) -> list[str]:
    """Dragonflies, and where they stand in one front with the trees."""
    found = result["dragonflies"]
    if found is None:
        return []
    (local, between) = found["cables"]
    bought = " and ".join(
        f"{one['level']} cables {one['kind']}, {one['length_m']:g} m, {one['price']:,.2f}"
        for one in (local, between)
    )
    title = f"dragonflies ({len(found['designs'])} of {found['counted']:,} counted; {bought})"
    if not found["counted"]:
        return ["", "dragonflies: no such switches make one of three groups or more"]
    on = {row["number"] for row in found["front"] if row["family"] == "dragonfly"}
    best = None if found["chosen"] is None else found["front"][found["chosen"]]
    cells = [
        [
            "chosen" if best is not None and best["spec"] == one["spec"] else "front" if n in on else "",
            f"{one['price'] / 1e6:.3f}",
            f"{one['price_per_host']:,.0f}",
            *(f"{one['slowdown'][what]:.3f}" for what in ("bound", "estimate", "minimal", "valiant")),
            f"{one['groups']} of {one['switches_per_group']}",
            str(one["cables_between_groups"]),
            one["spec"],
        ]
        for n, one in enumerate(found["designs"])
    ]
    currency = result["catalogue"]["currency"]
    header = ["", f"M{currency}", f"{currency} a host", "bound", "estimate", "minimal", "valiant", "groups"]
    table = render.table([*header, "cables a pair", "spec"], cells, right=[1, 2, 3, 4, 5, 6, 8])
    trees = len(found["front"]) - len(on)
    words = f"one front of both by the estimates: {trees} trees and {len(on)} dragonflies"
    if best is not None:
        words += f"; the goal prefers a {best['family']}, {best['spec']}"
    return ["", title, table, words]


def _judged(result: Mapping[str, Any]) -> str:
    """What the mix takes in packets, beside the estimate of the same runs."""
    judged = result["judged"]
    routings = judged["routings"]
    cells = [
        [
            row["which"],
            *(
                "" if slow is None else f"{slow:.3f}"
                for slow in (row["estimate"], *(row["slowdown"].get(routing) for routing in routings))
            ),
            row["spec"],
        ]
        for row in judged["designs"]
    ]
    header = ["", "estimate", *routings, "spec"]
    orders = ", ".join(result["orders"])
    title = f"by packets, over the full tree routed adaptively; orders: {orders}"
    return title + "\n" + render.table(header, cells, right=[*range(1, 2 + len(routings))])


REASONS = {
    "collisions": "tables, or minimal ways, put more on a link than the estimate has: loads say it, too",
    "rounds": "tables put more on a link in every round of an exchange than in all: loads of rounds say it",
    "blocking": "packets wait behind others, or recorded messages follow each other: adaptive ones are quick",
    "bursts": "messages of a phase do not spread evenly in time: adaptively routed packets are slow, too",
    "quicker": "a recorded run waits, and transfers take place meanwhile; or what it is against had queues; "
    "or ugal splits better than random ways do; or messages are small, and less of a run is on the wire than "
    "the share that was given",
}
"""Why packets and the estimate are apart, in words."""


def _apart(judged: Mapping[str, Any]) -> list[str]:
    """Where packets and the estimate are more than 15 % apart, and why."""
    cells, met = [], []
    for design in judged["designs"]:
        for row in design["applications"]:
            for routing, why in row["because"].items():
                if why is None:
                    continue
                loads = row["loads"].get(routing)
                met.append(why)
                cells.append(
                    [
                        design["which"],
                        row["name"],
                        row["order"],
                        routing,
                        f"{row['estimate']:.3f}",
                        "" if loads is None else f"{loads:.3f}",
                        f"{row['slowdown'][routing]:.3f}",
                        f"{row['apart_percent'][routing]:+.0f} %",
                        why,
                    ]
                )
    ran = [
        far
        for design in judged["designs"]
        for row in design["applications"]
        for far in row["apart_percent"].values()
        if far is not None
    ]
    if not cells:
        return ["", f"packets within 15 % of the estimate in all {len(ran)} runs"] if ran else []
    header = ["", "application", "order", "routing", "estimate", "by loads", "packets", "apart", "because"]
    title = f"packets over 15 % from the estimate: {len(cells)} of {len(ran)} runs"
    words = [f"{why}: {REASONS[why]}" for why in REASONS if why in met]
    return ["", title, render.table(header, cells, right=[4, 5, 6, 7]), *words]


def _named(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The chosen design, the full one, those compared."""
    found = [] if result["chosen"] is None else [("chosen", result["designs"][result["chosen"]])]
    found += [("full", result["full"])] if result["full"] else []
    return [*found, *(("compared", one) for one in result["compared"])]


FAILURES = {"cable": "worst cable", "spine": "worst spine", "core": "a core", "one_percent": "1 % of cables"}
"""What fails, in words."""


def _failures(result: Mapping[str, Any]) -> list[str]:
    """What is left of throughput after failures, of the designs that were looked at."""
    cells = []
    order = ""
    for which, one in _named(result):
        after = one["after_failure"]
        if after is None:
            continue
        order = after["order"]
        for kind, words in {"before": "nothing", **FAILURES}.items():
            found = after[kind]
            if not isinstance(found, dict):
                cells += [[which, words, "", "", "", "", "", one["spec"]]] if found == "late" else []
                continue
            kept, through = found.get("kept_percent"), found["throughput"]
            cells.append(
                [
                    which,
                    called(words, found),
                    f"{through['bound']:.4f}",
                    "" if kept is None else f"{kept:.1f} %",
                    f"{through['ftree']:.4f}",
                    f"{through['optimized']:.4f}",
                    "cut off" if found["estimate"] is None else f"{found['estimate']:.3f}",
                    one["spec"],
                ]
            )
    if not cells:
        return []
    header = ["", "without", "bound", "kept", "ftree", "optimized", "estimate", "spec"]
    title = f"throughput of the mix after failures, order {order}; 1 is that of the full tree"
    return ["", title, render.table(header, cells, right=[2, 3, 4, 5, 6])]


def _growth(result: Mapping[str, Any]) -> str:
    """Hosts that still fit, and what the next step costs."""
    currency, cells = result["catalogue"]["currency"], []
    for which, one in _named(result):
        grown, step = one["growth"], one["growth"]["next_step"]
        cells.append(
            [
                which,
                *(
                    render.count(grown[key])
                    for key in ("hosts_without_recabling", "host_ports", "leaves", "pods")
                ),
                " ".join(f"{taper:.3g}:1" for taper in grown["taper"]),
                "none fits" if step is None else f"a {step['what']} of {step['hosts']:,} hosts",
                "" if step is None else f"{step['price']:,.0f}",
                "" if step is None else f"{step['price_per_host']:,.0f}",
                one["spec"],
            ]
        )
    header = ["", "more hosts", "on free ports", "leaves", "pods", "taper then", "next"]
    header += [currency, f"{currency} a host", "spec"]
    title = "growth without moving a cable"
    return title + "\n" + render.table(header, cells, right=[1, 2, 3, 4, 7, 8])


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
