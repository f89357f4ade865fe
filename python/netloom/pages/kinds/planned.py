"""`netloom plan` on a page: the front of price against slowdown, the design chosen, prices, assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.pages.chart import Axis, Series, chart
from netloom.pages.markup import Column, Row, facts, findings, folded, items, paragraph, section, table
from netloom.planning.failures import called
from netloom.shown.legend import BLUE, GREEN, GREY, VERMILLION

Design = Mapping[str, Any]


def title(result: Mapping[str, Any]) -> str:
    """What a page of it is called."""
    return f"{result['name'] or 'plan'}: networks for {result['hosts']:,} hosts"


def sections(at: str, result: Mapping[str, Any]) -> list[str]:
    """A result of `netloom plan`."""
    money = result["catalogue"]["currency"]
    about = [
        Column("hosts", "hosts"),
        Column("radices", "ports of a switch", "text"),
        Column("levels", "levels", "text"),
        Column("speed_gbps", "speed", "Gbit/s"),
        Column("node_price", f"a host without network, {money}"),
        Column("budget", f"budget, {money}"),
        Column("target_slowdown", "slowdown at most"),
        Column("orders", "orders of ranks", "text"),
        Column("draws", "draws of each"),
        Column("designs_counted", "designs counted"),
    ]
    columns = _columns(money)
    named, words = _named(at, result), str(result["assumptions"][0])
    designs = [Row([str(n + 1)], f"{at}/designs/{n}", one) for n, one in enumerate(result["designs"])]
    front = table(f"All {len(designs):,} designs on the front", ["no."], columns, designs)
    return [
        section(
            "Price against slowdown",
            paragraph(f"{words[:1].upper()}{words[1:]}."),
            facts(at, result, about),
            _picture(result, money),
            table("The chosen design and those beside it", ["design"], columns, named),
            folded(f"The front: {len(designs):,} designs", front),
        ),
        _dragonflies(at, result, money),
        *_applications(at, result),
        _judged(at, result),
        _failures(named),
        _growth(named, money),
        _catalogue(at, result, money),
        section(
            "Assumptions",
            items(f"{at}/assumptions", result["assumptions"]),
            findings(f"{at}/findings", result["findings"]),
        ),
    ]


def _columns(money: str) -> list[Column]:
    return [
        Column("price_per_host", f"a host, {money}"),
        Column("price", f"in all, {money}"),
        Column("slowdown/bound", "slowdown: bound"),
        Column("slowdown/estimate", "estimate"),
        Column("slowdown/mean", "mean"),
        Column("gap_percent", "above the limit", "%"),
        Column("pays_below", "pays below"),
        Column("taper/0", "taper of leaves, to 1"),
        Column("taper/1", "of spines"),
        Column("switches", "switches", "text"),
        Column("power_w", "power", "W"),
        Column("spec", "spec", "text"),
    ]


def _named(at: str, result: Mapping[str, Any]) -> list[Row]:
    """The chosen design, the full one, and those that were named."""
    rows = []
    if result["chosen"] is not None:
        n = result["chosen"]
        rows.append(Row(["chosen"], f"{at}/designs/{n}", result["designs"][n], GREEN))
    if result["full"] is not None:
        rows.append(Row(["full"], f"{at}/full", result["full"], GREY))
    rows += [
        Row(["compared"], f"{at}/compared/{n}", one, VERMILLION) for n, one in enumerate(result["compared"])
    ]
    return rows


def _picture(result: Mapping[str, Any], money: str) -> str:
    """Percent above a network without taper, from 0.1 % on, as `plot plan` draws it."""

    def points(designs: Sequence[Design], key: str) -> list[tuple[float, float]]:
        return [
            (one["price_per_host"], max(100 * (one["slowdown"][key] - 1), _FINEST))
            for one in designs
            if one["price_per_host"] is not None and one["slowdown"] is not None
        ]

    chosen = [result["designs"][result["chosen"]]] if result["chosen"] is not None else []
    limit = [(one["price_per_host"], max(100 * (one["estimate"] - 1), _FINEST)) for one in result["limits"]]
    series = [
        Series("limit at the price", GREY, limit, line=True, dashes="6 4"),
        Series("bound", BLUE, points(result["designs"], "bound"), mark="hollow"),
        Series("estimate", BLUE, points(result["designs"], "estimate")),
        Series("compared", VERMILLION, points(result["compared"], "estimate")),
        Series("full", GREY, points([one for one in [result["full"]] if one is not None], "estimate")),
        Series("chosen", GREEN, points(chosen, "estimate"), mark="large"),
    ]
    series = [one for one in series if one.points]
    every = [point for one in series for point in one.points]
    if not every:
        return ""
    prices, slower = zip(*every, strict=True)
    x = Axis(f"price a host, {money}", 0.0, max(prices) * 1.03 or 1.0)
    y = Axis("slower than without taper, %; 0.1 is up to that", _FINEST, max(*slower, 1.0), log=True)
    return chart(f"Price a host against slowdown of {len(result['designs']):,} designs", x, y, series)


_FINEST = 0.1


def _applications(at: str, result: Mapping[str, Any]) -> list[str]:
    where, design = f"{at}/full", result["full"]
    name = "the full design"
    if result["chosen"] is not None:
        where, design, name = (
            f"{at}/designs/{result['chosen']}",
            result["designs"][result["chosen"]],
            "the chosen design",
        )
    sent = [Row([one["name"]], f"{at}/applications/{n}", one) for n, one in enumerate(result["applications"])]
    columns = [
        Column("weight", "weight"),
        Column("ranks", "ranks"),
        Column("copies", "copies"),
        Column("wire_share", "on the wire", "share"),
        Column("wire_share_source", "which is", "text"),
        Column("source", "from", "text"),
    ]
    blocks = [table("What they are", ["application"], columns, sent)] if sent else []
    if design is not None and design["applications"]:
        rows = [
            Row([one["name"], one["order"]], f"{where}/applications/{n}", one)
            for n, one in enumerate(design["applications"])
        ]
        columns = [
            Column("share/0", "leaves a leaf", "share"),
            Column("share/1", "a pod", "share"),
            Column("slowdown/bound", "slowdown: bound"),
            Column("slowdown/estimate", "estimate"),
            Column("least", "draws from"),
            Column("most", "to"),
        ]
        blocks.append(table(f"On {name}", ["application", "order"], columns, rows))
    return [section("Applications", *blocks)] if blocks else []


def _dragonflies(at: str, result: Mapping[str, Any], money: str) -> str:
    # Results before 2026-11-29 know of none.
    found = result.get("dragonflies")
    if not found:
        return ""
    columns = [
        Column("price_per_host", f"a host, {money}"),
        Column("slowdown/bound", "slowdown: bound"),
        Column("slowdown/estimate", "estimate"),
        Column("slowdown/minimal", "minimal ways"),
        Column("slowdown/valiant", "Valiant's detours"),
        Column("groups", "groups"),
        Column("switches_per_group", "switches of each"),
        Column("cables_between_groups", "cables a pair of groups"),
        Column("spec", "spec", "text"),
    ]
    where = f"{at}/dragonflies"
    rows = [Row([str(n + 1)], f"{where}/designs/{n}", one) for n, one in enumerate(found["designs"])]
    both = [Row([str(n + 1)], f"{where}/front/{n}", one) for n, one in enumerate(found["front"])]
    front = [
        Column("family", "family", "text"),
        Column("price_per_host", f"a host, {money}"),
        Column("bound", "slowdown: bound"),
        Column("estimate", "estimate"),
        Column("spec", "spec", "text"),
    ]
    return section(
        "Dragonflies",
        table("Dragonflies", ["no."], columns, rows) if rows else "",
        folded("One front of trees and dragonflies", table("Both families", ["no."], front, both)),
    )


def _judged(at: str, result: Mapping[str, Any]) -> str:
    judged, where = result["judged"], f"{at}/judged/designs"
    if judged is None:
        return ""
    routings = judged["routings"]
    slow = [Column(f"slowdown/{routing}", routing) for routing in routings]
    mix = [Row([one["which"]], f"{where}/{n}", one) for n, one in enumerate(judged["designs"])]
    columns = [Column("estimate", "estimate"), *slow, Column("spec", "spec", "text")]
    each = [
        Row([one["which"], row["name"], row["order"]], f"{where}/{n}/applications/{k}", row)
        for n, one in enumerate(judged["designs"])
        for k, row in enumerate(one["applications"])
    ]
    apart = [Column("copies", "copies"), Column("estimate", "estimate")]
    for routing in routings:
        apart += [Column(f"slowdown/{routing}", routing), Column(f"apart_percent/{routing}", "apart", "%")]
        apart += [Column(f"because/{routing}", "because", "text")]
    return section(
        "Judged by packets",
        table("The mix", ["design"], columns, mix),
        folded(
            "Every application in every order",
            table("Applications", ["design", "application", "order"], apart, each),
        ),
        note="Over the run on the full tree, adaptively routed.",
    )


_LOST = {"before": "nothing", "cable": "worst cable", "spine": "worst spine", "core": "a core"}
_LOST["one_percent"] = "1 % of cables"


def _failures(named: Sequence[Row]) -> str:
    rows = [
        Row([*row.names, called(words, after)], f"{row.at}/after_failure/{kind}", after)
        for row in named
        for kind, words in (_LOST.items() if row.value["after_failure"] else ())
        if isinstance(after := row.value["after_failure"][kind], dict)
    ]
    if not rows:
        return ""
    columns = [
        Column("throughput/bound", "throughput: bound"),
        Column("kept_percent", "kept", "%"),
        Column("throughput/ftree", "ftree"),
        Column("throughput/optimized", "optimised"),
        Column("estimate", "slowdown, estimate"),
    ]
    return section("After failures", table("Throughput of the mix", ["design", "without"], columns, rows))


def _growth(named: Sequence[Row], money: str) -> str:
    columns = [
        Column("hosts_without_recabling", "more hosts"),
        Column("host_ports", "on free ports"),
        Column("leaves", "leaves"),
        Column("pods", "pods"),
        Column("taper/0", "taper of leaves then"),
        Column("taper/1", "of spines"),
        Column("next_step/what", "next", "text"),
        Column("next_step/hosts", "its hosts"),
        Column("next_step/price", f"its price, {money}"),
    ]
    rows = [Row(row.names, f"{row.at}/growth", row.value["growth"]) for row in named]
    return (
        section("Growth without moving a cable", table("Growth", ["design"], columns, rows)) if rows else ""
    )


def _catalogue(at: str, result: Mapping[str, Any], money: str) -> str:
    given, where = result["catalogue"], f"{at}/catalogue"
    about = [
        Column("name", "catalogue", "text"),
        Column("oldest", "oldest price", "text"),
        Column("newest", "newest", "text"),
    ]
    price, power = Column("price", f"price, {money}"), Column("power_w", "power", "W")
    switches = [Row([str(n + 1)], f"{where}/switches/{n}", one) for n, one in enumerate(given["switches"])]
    cables = [Row([one["level"]], f"{where}/cables/{n}", one) for n, one in enumerate(given["cables"])]
    of_cables = [Column("kind", "kind", "text"), Column("length_m", "length", "m"), price, power]
    return section(
        "Prices and their sources",
        facts(where, given, about),
        table("Switches", ["no."], [Column("radix", "ports"), price, power], switches),
        table("Cables", ["of"], of_cables, cables),
        items(f"{where}/sources", given["sources"]),
    )
