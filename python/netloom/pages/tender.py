"""A plan as one page for a tender: Markdown, or the page that `netloom report` makes of the result.

What is asked for, the design chosen and those beside it, the front, the applications, what was judged by
packets and what was not, failures, growth, prices, and every assumption with where it is from. Every figure
is one of the result's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from netloom.pages import api, page
from netloom.planning.failures import called
from netloom.shown.markdown import code, text

Designs = Sequence[tuple[str, Mapping[str, Any]]]

SHARES = {
    "given": "given by the plan",
    "run": "from the run time that the plan gives",
    "packets": "from a run packet by packet on a network without taper",
    "assumed": "assumed: nothing is known of its run time",
}
"""Where a share of wire time is from, in words."""
LOST = {"before": "nothing", "cable": "the worst cable", "spine": "the worst spine", "core": "a core"}
LOST["one_percent"] = "1 % of cables, drawn"


def tender(document: Mapping[str, Any], kind: Literal["html", "md"]) -> bytes:
    """The page of a plan's result.

    Parameters
    ----------
    document : mapping
        What `netloom plan --format json` prints.
    kind : {"html", "md"}
        What is made: a page that fetches nothing, or Markdown.

    Returns
    -------
    bytes
        The same document gives the same bytes.

    Examples
    --------
    >>> import json
    >>> document = json.loads(open("plan.json").read())
    >>> tender(document, "md").splitlines()[0]
    b'# quartz: a network for 3,072 hosts'
    """
    part = {"kind": "result", "verb": "plan", "document": document}
    if kind == "html":
        return page.page(api.document([part], api.title_of(part, "plan"), document["inputs"]))
    # Half a surrogate pair stays what it is, as in the HTML page.
    return ("\n".join(_lines(document)) + "\n").encode(errors="backslashreplace")


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    result = document["result"]
    catalogue = result["catalogue"]
    money = text(catalogue["currency"])
    yield f"# {text(result['name'] or 'Plan')}: a network for {result['hosts']:,} hosts"
    yield f"\n{text(_sentence(result['assumptions'][0]))}"
    yield "\n## What is asked for\n"
    radices = ", ".join(map(str, result["radices"]))
    asked = [
        f"{result['hosts']:,} hosts, one cable each of {result['speed_gbps']:g} Gb/s",
        f"switches of {radices} ports, {' or '.join(map(str, result['levels']))} levels",
    ]
    if result["node_price"] is not None:
        asked.append(f"a host costs {result['node_price']:,.2f} {money} without network")
    if result["budget"] is not None:
        asked.append(f"the network costs at most {result['budget']:,.2f} {money}")
    if result["target_slowdown"] is not None:
        asked.append(f"the estimate of the slowdown is at most {result['target_slowdown']:g}")
    yield from (f"- {one}" for one in asked)
    named = _named(result)
    yield from _chosen(result, named, money)
    yield from _front(result, money)
    yield from _dragonflies(result, money)
    yield from _applications(result)
    yield from _judged(result)
    yield from _failures(named)
    yield from _growth(named, money)
    yield from _sources(document, money)


def _chosen(result: Mapping[str, Any], named: Designs, money: str) -> Iterator[str]:
    yield "\n## The design\n"
    if result["chosen"] is None:
        yield "None was chosen: the plan has no budget, target or price of a host, or none fulfils it."
    else:
        one = result["designs"][result["chosen"]]
        yield f"Chosen: {code(one['spec'])}\n"
        cables = ", ".join(f"{c['count']:,} of {c['level']} ({text(c['kind'])})" for c in one["cables"])
        yield f"- switches: {' + '.join(map(str, one['switches']))}, of {one['radix']} ports"
        yield f"- cables: {cables}"
        yield f"- price: {one['price']:,.2f} {money}, {one['price_per_host']:,.2f} {money} a host"
        yield f"- power: {one['power_w'] / 1e3:,.1f} kW of switches and cables"
        yield (
            "- slowdown of the mix against a network without taper: at least "
            f"{one['slowdown']['bound']:.3f}, estimated {one['slowdown']['estimate']:.3f}"
        )
    if named:
        yield "\n### Beside each other\n"
        yield from _designs(named, result["hosts"], money)


def _front(result: Mapping[str, Any], money: str) -> Iterator[str]:
    front = result["designs"]
    yield "\n## The front of price against estimate\n"
    step = max(1, -(-len(front) // 12))
    kept = sorted({*range(0, len(front), step), len(front) - 1})
    if len(kept) < len(front):
        yield f"{len(kept)} of {len(front)} designs; the JSON result has all.\n"
    yield from _designs([(str(n + 1), front[n]) for n in kept], result["hosts"], money)


def _dragonflies(result: Mapping[str, Any], money: str) -> Iterator[str]:
    found = result["dragonflies"]
    if found is None:
        return
    yield "\n## Dragonflies in the same front\n"
    on = {row["number"] for row in found["front"] if row["family"] == "dragonfly"}
    head = ["", f"{money} a host", "bound", "estimate", "minimal ways", "Valiant's", "switches", "spec"]
    rows = [
        [
            "on the front" if n in on else "",
            f"{one['price_per_host']:,.0f}",
            *(f"{one['slowdown'][what]:.3f}" for what in ("bound", "estimate", "minimal", "valiant")),
            f"{one['groups']} x {one['switches_per_group']}",
            code(one["spec"]),
        ]
        for n, one in enumerate(found["designs"])
    ]
    yield from _table(head, rows)
    if found["chosen"] is not None:
        best = found["front"][found["chosen"]]
        yield f"\nOf both families the goal prefers a {best['family']}: {code(best['spec'])}"


def _designs(listed: Designs, hosts: int, money: str) -> Iterator[str]:
    head = [
        "",
        f"{money} a host",
        "bound",
        "estimate",
        "above the limit",
        "taper",
        "switches",
        "W a host",
        "spec",
    ]
    rows = [
        [
            which,
            f"{one['price_per_host']:,.0f}",
            f"{one['slowdown']['bound']:.3f}",
            f"{one['slowdown']['estimate']:.3f}",
            f"{one['gap_percent']:.1f} %",
            " ".join(f"{taper:.3g}:1" for taper in one["taper"]),
            "+".join(map(str, one["switches"])),
            f"{one['power_w'] / hosts:.1f}",
            code(one["spec"]),
        ]
        for which, one in listed
    ]
    yield from _table(head, rows)


def _applications(result: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Applications\n"
    head = ["application", "share of node hours", "ranks", "copies", "on the wire", "that share is", "from"]
    rows = [
        [
            text(one["name"]),
            f"{100 * one['weight']:.3g} %",
            f"{one['ranks']:,}",
            str(one["copies"]),
            f"{one['wire_share']:.3g}",
            SHARES[one["wire_share_source"]],
            code(one["source"]),
        ]
        for one in result["applications"]
    ]
    yield from _table(head, rows)


def _judged(result: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Judged by packets\n"
    judged = result["judged"]
    if judged is None:
        yield "Nothing was: all slowdowns are bounds and estimates by the busiest switch."
        return
    yield (
        "The applications are run packet by packet on these. Each figure is the mix over its run on the full "
        "tree, adaptively routed. All other designs rest on the model alone.\n"
    )
    routings = judged["routings"]
    yield from _table(
        ["", "estimate", *routings, "spec"],
        [
            [
                one["which"],
                *(_figure(slow) for slow in (one["estimate"], *(one["slowdown"].get(r) for r in routings))),
                code(one["spec"]),
            ]
            for one in judged["designs"]
        ],
    )
    if any(one["slowdown"].get(r, 0.0) is None for one in judged["designs"] for r in routings):
        yield "\nA mix is empty where an application of it was not run to its end, or has no such routes."
    apart = [
        [
            *(one["which"], text(row["name"]), row["order"], routing),
            *(_figure(row["estimate"]), _figure(row["slowdown"][routing])),
            *(f"{row['apart_percent'][routing]:+.0f} %", why),
        ]
        for one in judged["designs"]
        for row in one["applications"]
        for routing, why in row["because"].items()
        if why is not None
    ]
    if apart:
        yield "\nWhere packets and the estimate are more than 15 % apart:\n"
        yield from _table(
            ["", "application", "order", "routing", "estimate", "packets", "apart", "because"], apart
        )


def _failures(named: Designs) -> Iterator[str]:
    yield "\n## After failures\n"
    rows = []
    for which, one in named:
        for kind, words in LOST.items() if one["after_failure"] is not None else ():
            after = one["after_failure"][kind]
            if isinstance(after, dict):
                kept, through = after.get("kept_percent"), after["throughput"]
                rows.append(
                    [which, called(words, after)]
                    + [f"{through[what]:.4f}" for what in ("bound", "ftree", "optimized")]
                    + ["" if kept is None else f"{kept:.1f} %", _figure(after["estimate"]) or "cut off"]
                )
    if not rows:
        yield "Not looked at."
        return
    yield "Throughput of the mix, 1 being that of a network without taper.\n"
    yield from _table(["", "without", "bound", "ftree", "optimized", "kept", "slowdown, estimate"], rows)


def _growth(named: Designs, money: str) -> Iterator[str]:
    yield "\n## Growth without moving a cable\n"
    rows = []
    for which, one in named:
        grown, step = one["growth"], one["growth"]["next_step"]
        rows.append(
            [which, f"{grown['hosts_without_recabling']:,}", f"{grown['host_ports']:,}"]
            + [str(grown["leaves"]), str(grown["pods"])]
            + (
                ["none fits", ""]
                if step is None
                else [f"a {step['what']} of {step['hosts']:,} hosts", f"{step['price']:,.0f} {money}"]
            )
        )
    yield from _table(["", "more hosts", "on free ports", "leaves", "pods", "next step", "its price"], rows)


def _sources(document: Mapping[str, Any], money: str) -> Iterator[str]:
    result = document["result"]
    catalogue = result["catalogue"]
    sums = {one["role"]: one["sha256"] for one in document["inputs"]}
    yield "\n## Prices\n"
    dates = catalogue["oldest"]
    dates += f" to {catalogue['newest']}" if catalogue["newest"] != dates else ""
    name = catalogue["name"] or catalogue["file"]
    yield f"Catalogue {code(name)}, prices of {dates}, SHA-256 {sums['catalogue']}.\n"
    yield from _table(
        ["what", "price", "power"],
        [
            [f"switch of {s['radix']} ports", f"{s['price']:,.2f} {money}", f"{s['power_w']:g} W"]
            for s in catalogue["switches"]
        ]
        + [
            [
                f"cable of {c['level']}, {text(c['kind'])}, {c['length_m']:g} m",
                *(f"{c['price']:,.2f} {money}", f"{c['power_w']:g} W"),
            ]
            for c in catalogue["cables"]
        ],
    )
    yield "\nTold by:\n"
    yield from (f"- {text(one)}" for one in catalogue["sources"])
    yield "\n## Assumptions\n"
    seeds = f"{result['draws']} draws of each order that is drawn, seed {result['seed']}"
    yield from (f"- {text(_sentence(one))}" for one in result["assumptions"][1:])
    yield f"- Orders of ranks: {', '.join(result['orders'])}; {seeds}. From: the plan, or `--seed`."
    yield f"- Lengths and kinds of cables. From: the plan, SHA-256 {sums['plan']}."
    yield "- Switches, cables and spare ports are counted on the design; its spec generates that fabric."
    if result["judged"] is not None:
        yield "- Packets: profile `infiniband` at the catalogue's speed, 4,096 bytes a packet."
    for one in result["findings"]:
        yield f"- {one['kind']}: {text(_sentence(one['text']))}"
    yield "\n## Made of\n"
    yield from _table(
        ["what", "file", "SHA-256"],
        [[one["role"], code(one["source"]), one["sha256"] or ""] for one in document["inputs"]],
    )
    yield f"\nnetloom {document['netloom']}"


def _named(result: Mapping[str, Any]) -> Designs:
    """The chosen design, the full one, those compared."""
    found = [] if result["chosen"] is None else [("chosen", result["designs"][result["chosen"]])]
    found += [("full", result["full"])] if result["full"] else []
    return [*found, *(("compared", one) for one in result["compared"])]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield "| " + " | ".join(row) + " |"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _sentence(words: str) -> str:
    """Words as a sentence: a capital, but of a symbol, and a full stop."""
    first = words[:1].upper() if words[1:2].isalpha() else words[:1]
    return first + words[1:] + ("" if words.endswith(".") else ".")
