"""What `netloom sample` tells: contexts, and of each its hottest links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError

_LINK = (
    "link",
    "from",
    "to",
    "traffic",
    "traffic_error",
    "congested",
    "congested_error",
    "congested_fraction",
    "congested_fraction_error",
)
"""What is told of each."""


def hash_function(text: str | None) -> str | None:
    """The hash that `--hash` names, in full; None if it was not given."""
    from netloom import _core

    try:
        return None if text is None else _core.sampling_hash(text)
    except ValueError as error:
        raise UsageError(f"--{error}") from None


def rows(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What CSV holds: a row a routing, context and hot link."""
    out = []
    for one in found:
        for context in one["contexts"]:
            of_context = {key: value for key, value in context.items() if key != "hottest"}
            head = {"routing": one["routing"], **of_context}
            out += [{**head, **link} for link in context["hottest"] or [dict.fromkeys(_LINK)]]
    return out


def text(result: Mapping[str, Any]) -> str:
    """The report: what was sampled, contexts, and where each met congestion."""
    count = render.count
    sampling = result["runs"][0]["sampling"] if result["runs"] else None
    head = [
        ("scenario", f"{result['scenario']}: {result['model']} model, profile {result['profile']}"),
        ("fabric", f"{count(result['hosts'])} hosts, {count(result['switches'])} switches"),
    ]
    if sampling is not None:
        head.append(("sampled", how(sampling)))
    parts = [render.pairs(head)]
    if result["runs"]:
        parts.append(_contexts(result["runs"]))
        parts.append(_hottest(result["runs"]))
    tail = []
    if result["not_run"]:
        tail.append(("not run", ", ".join(result["not_run"])))
    if result["output"] is not None:
        tail.append(("written", result["output"]))
    if tail:
        parts.append(render.pairs(tail))
    return "\n\n".join(part for part in parts if part)


def how(sampling: Mapping[str, Any]) -> str:
    """`a whole link in every packet, by tag, marked by queue`."""
    what = {"whole": "a whole link", "one-bit": "one bit"}[sampling["method"]]
    if sampling["hash"] is not None and sampling["hash"]["function"] != "gf":
        what += f" ({sampling['hash']['function']})"
    rate = sampling["rate"]
    share = "every packet" if rate == 1 else f"{100 * rate:.4g} % of packets"
    words = [f"{what} in {share}", f"contexts by {sampling['contexts']}"]
    marking = {"queue": "queue above credits", "probabilistic": "by chance, the longer the queue"}
    words.append(
        "congested: "
        + marking.get(sampling["marking"], f"queue above {render.count(sampling['ecn_bytes'] or 0)} bytes")
    )
    if sampling["every_us"] is not None:
        words.append(f"windows of {sampling['every_us']:g} µs")
    return ", ".join(words)


def _contexts(found: Sequence[Mapping[str, Any]]) -> str:
    header = ["routing", "context", "job", "phase", "packets", "sampled", "MB"]
    lines = [
        [
            "" if at else one["routing"],
            str(context["context"]),
            context["job_name"],
            context["phase"],
            render.count(context["packets"]),
            render.count(context["sampled"]),
            f"{context['bytes'] / 1e6:.1f}",
        ]
        for one in found
        for at, context in enumerate(one["contexts"])
    ]
    return render.table(header, lines, right=(1, 4, 5, 6))


def links_text(contexts: Sequence[Mapping[str, Any]]) -> str:
    """Contexts with their hottest links, of no routing."""
    lines = _lines("", contexts) or [["", "", _none(contexts), "", "", "", "", ""]]
    return render.table(_HEADER[1:], [line[1:] for line in lines], right=(0, 2, 3, 4, 5, 6))


def _none(contexts: Sequence[Mapping[str, Any]]) -> str:
    """What is said where no link is told."""
    enough = not contexts or any(context["enough"] for context in contexts)
    return "none for sure" if enough else "too few packets sampled to tell"


_HEADER = ["routing", "context", "hottest links", "packets", "±", "congested", "±", "share"]


def _lines(routing: str, contexts: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    lines: list[list[str]] = []
    for context in contexts:
        for at, link in enumerate(context["hottest"]):
            lines.append(
                [
                    "" if lines else routing,
                    "" if at else str(context["context"]),
                    f"{link['from']} → {link['to']}",
                    *(
                        f"{link[key]:,.0f}"
                        for key in ("traffic", "traffic_error", "congested", "congested_error")
                    ),
                    render.measured(100 * link["congested_fraction"], 100 * link["congested_fraction_error"]),
                ]
            )
    return lines


def _hottest(found: Sequence[Mapping[str, Any]]) -> str:
    lines: list[list[str]] = []
    for one in found:
        nothing = [[one["routing"], "", _none(one["contexts"]), "", "", "", "", ""]]
        lines += _lines(one["routing"], one["contexts"]) or nothing
    return render.table(_HEADER, lines, right=(1, 3, 4, 5, 6, 7))
