"""What `netloom trace` tells: a trace by function, what has no other half, what was written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from netloom.cli.shared import render
from netloom.findings import Finding, finding
from netloom.recording.collectives import DifferentRoots, Incomplete, different_roots, incomplete
from netloom.recording.matching import Matching
from netloom.recording.progress import Progress, Waiting, progress
from netloom.recording.scaling import Scaled, text_of
from netloom.recording.trace import SENDS, Trace

UNMATCHED = ("source", "destination", "communicator", "tag", "sent", "received")
_MOST_SHOWN = 10


def shown(trace: Trace) -> dict[str, Any]:
    """The result of `trace show`."""
    calls = np.zeros((len(trace.functions), 2), np.int64)
    first, last, pairs = [], [], 0
    sends = np.isin(np.array([*trace.bases(), ""]), SENDS)
    for events in trace.events:
        calls[:, 0] += np.bincount(events.function, minlength=len(calls))
        np.add.at(calls[:, 1], events.function, events.bytes)
        known = events.end_ns[events.end_ns >= 0]
        if len(known):
            first.append(int(known[0]))
            last.append(int(known[-1]))
        pairs += len(np.unique(events.peer[sends[events.function] & (events.peer >= 0)]))
    named = sorted(zip(trace.functions, calls.tolist(), strict=True))
    return {
        **_head(trace),
        "pairs": pairs,
        "seconds": (max(last) - min(first)) / 1e9 if first else None,
        "functions": [
            {"name": f"MPI_{name}", "calls": times, "bytes": size} for name, (times, size) in named if times
        ],
        "communicators": [
            {"number": number, "ranks": len(one.members), "remote": one.remote, "context": one.context}
            for number, one in enumerate(trace.communicators)
        ],
        "findings": [],
    }


def _head(trace: Trace) -> dict[str, Any]:
    hosts = {str(host) for host in trace.meta["hosts"] if host}
    return {
        "ranks": trace.ranks,
        "hosts": len(hosts) if hosts else None,
        "program": _word(trace.meta.get("program")),
        "mpi": _word(trace.meta.get("mpi")),
        "tool": _word(trace.meta.get("tool")),
        "events": len(trace),
    }


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def show_text(result: Mapping[str, Any]) -> str:
    """The report of `trace show`."""
    count = render.count
    hosts = (
        "" if result["hosts"] is None else f" on {count(result['hosts'])} host" + "s" * (result["hosts"] != 1)
    )
    head = [
        ("program", result["program"] or "unknown"),
        ("MPI", (result["mpi"] or "unknown").split(",")[0][:60]),
        ("ranks", count(result["ranks"]) + hosts),
        ("pairs", count(result["pairs"])),
        ("events", count(result["events"])),
        ("time", "unknown" if result["seconds"] is None else render.seconds(result["seconds"])),
        ("communicators", count(len(result["communicators"]))),
    ]
    cells = [[one["name"], count(one["calls"]), render.size(one["bytes"])] for one in result["functions"]]
    out = render.pairs(head)
    if cells:
        out += "\n\n" + render.table(["call", "events", "bytes"], cells, right=[1, 2])
    return out


def checked(trace: Trace, pairs: Matching) -> dict[str, Any]:
    """The result of `trace check`."""
    dropped = {int(rank): number for rank, number in trace.meta["dropped"].items()}
    unmatched = [dict(zip(UNMATCHED, one, strict=True)) for one in pairs.unmatched]
    partly, roots, played = incomplete(trace), different_roots(trace), progress(trace)
    return {
        **_head(trace),
        "messages": pairs.messages,
        "unmatched": unmatched,
        "untold": pairs.untold,
        "ambiguous": pairs.ambiguous,
        "late": pairs.late,
        "incomplete": _named(partly),
        "different_roots": _named(roots),
        "stuck": _named(played.stuck),
        "unsafe": _named(played.unsafe),
        "lost": [
            {"rank": one.get("rank"), "host": one.get("host"), "why": one.get("why")}
            for one in trace.meta["lost"]
        ],
        "dropped": [{"rank": rank, "events": number} for rank, number in sorted(dropped.items())],
        "findings": [
            *_findings(trace, pairs, unmatched, dropped),
            *_of_collectives(trace, partly, roots),
            *_of_waiting(trace, played),
        ],
    }


def _named(calls: Iterable[Incomplete | DifferentRoots | Waiting]) -> list[dict[str, Any]]:
    return [{**one._asdict(), "function": f"MPI_{one.function}"} for one in calls]


def _findings(
    trace: Trace,
    pairs: Matching,
    unmatched: list[dict[str, int]],
    dropped: dict[int, int],
) -> list[Finding]:
    found, count = [], render.count
    if lost := trace.meta["lost"]:
        named = ", ".join(f"{one.get('rank')} ({one.get('why')})" for one in lost[:_MOST_SHOWN])
        more = f" and {count(len(lost) - _MOST_SHOWN)} more" if len(lost) > _MOST_SHOWN else ""
        found.append(finding("lost-ranks", f"ranks without an end: {named}{more}"))
    if dropped:
        text = f"{count(sum(dropped.values()))} events of {count(len(dropped))} ranks were dropped"
        found.append(finding("dropped-events", text))
    if lacks := trace.meta.get("lacks"):
        named = ", ".join(f"{count(calls)} {what}" for what, calls in sorted(lacks.items()))
        found.append(finding("left-out-of-trace", f"the source has and this trace has not: {named}"))
    if str(trace.meta.get("tool")).startswith("Chakra"):
        text = f"Chakra does not say how many ranks there were: taken as {count(trace.ranks)}, one a file"
        found.append(finding("left-out-of-trace", text))
    if unmatched:
        sends = sum(max(0, one["sent"] - one["received"]) for one in unmatched)
        receives = sum(max(0, one["received"] - one["sent"]) for one in unmatched)
        text = f"{count(sends)} sends have no receive, {count(receives)} receives no send"
        found.append(finding("unmatched-messages", text))
    if pairs.untold:
        text = f"{count(pairs.untold)} receives from any source, or with any tag, were never complete"
        found.append(finding("unmatched-messages", text))
    if pairs.ambiguous:
        text = (
            f"{count(pairs.ambiguous)} messages have the ranks, communicator and tag of others of another "
            "thread: which receive got which is told by the clock alone"
        )
        found.append(finding("ambiguous-order", text))
    if pairs.late and trace.meta.get("timed", True):
        text = f"{count(pairs.late)} messages were received before they were sent: {_why_late(trace)}"
        found.append(finding("clocks-differ", text))
    return found


def _of_collectives(trace: Trace, partly: list[Incomplete], roots: list[DifferentRoots]) -> list[Finding]:
    found = []
    if partly:
        found.append(finding("incomplete-collectives", _partly(partly)))
    if roots:
        calls, first = sum(one.calls for one in roots), roots[0]
        named = ", ".join(map(str, first.roots[:_MOST_SHOWN]))
        text = (
            f"ranks name different roots of {render.count(calls)} collective{'s' * (calls != 1)}: "
            f"the first is MPI_{first.function} on {_whose(first.communicator)}, with roots {named}"
        )
        found.append(finding("different-roots", text))
    return found


def _of_waiting(trace: Trace, played: Progress) -> list[Finding]:
    """Ranks that wait for each other: always, or if no send is buffered."""
    taken = ", its tasks taken one after another" if _of_tasks(trace) else ""
    found = []
    for kind, text, circle in (
        ("waits-for-ever", f"the trace{taken} never ends, even if all sends are buffered", played.stuck),
        ("unsafe-sends", f"the trace{taken} never ends if no send is buffered", played.unsafe),
    ):
        if circle:
            named = ", ".join(_waits(one) for one in circle[:_MOST_SHOWN])
            more = f" and {render.count(len(circle) - _MOST_SHOWN)} more" if len(circle) > _MOST_SHOWN else ""
            found.append(finding(kind, f"{text}: {named}{more}"))
    return found


def _waits(one: Waiting) -> str:
    return f"rank {one.rank} waits in MPI_{one.function} for rank {one.waits_for}"


def _of_tasks(trace: Trace) -> bool:
    """Whether a source has tasks that may go on side by side, which a trace has not."""
    return str(trace.meta.get("tool")).startswith(("GOAL", "Chakra"))


def _whose(communicator: int) -> str:
    return "the world" if communicator == 0 else f"communicator {communicator}"


def _partly(partly: list[Incomplete]) -> str:
    """Collectives without all their members, with the first of them."""
    count, first = render.count, partly[0]
    total = sum(one.calls for one in partly)
    named = ", ".join(map(str, first.ranks[:_MOST_SHOWN]))
    more = f" and {count(len(first.ranks) - _MOST_SHOWN)} more" if len(first.ranks) > _MOST_SHOWN else ""
    ranks = f"rank{'' if len(first.ranks) == 1 else 's'} {named}{more}"
    return (
        f"{count(total)} collective{'s were' if total > 1 else ' was'} not called by all members: "
        f"the first is MPI_{first.function} on {_whose(first.communicator)}, without {ranks}"
    )


def _why_late(trace: Trace) -> str:
    """What messages that come too early show."""
    if len({str(host) for host in trace.meta["hosts"] if host}) != 1:
        return "clocks of hosts differ"
    if any(one.context is None for one in trace.communicators):
        return "this trace does not tell duplicates of a communicator apart"
    return "clocks of the host's processors differ"


def check_text(result: Mapping[str, Any]) -> str:
    """The report of `trace check`."""
    count = render.count
    out = render.pairs(
        [
            ("ranks", count(result["ranks"])),
            ("events", count(result["events"])),
            ("messages", f"{count(result['messages'])} with both halves"),
            ("unmatched", f"{count(len(result['unmatched']))} of sender, receiver, communicator and tag"),
        ]
    )
    if result["unmatched"]:
        cells = [[str(one[key]) for key in UNMATCHED] for one in result["unmatched"][:_MOST_SHOWN]]
        out += "\n\n" + render.table(list(UNMATCHED), cells, right=list(range(len(UNMATCHED))))
    return out + render.findings(result["findings"])


def scaled(made: Scaled) -> dict[str, Any]:
    """What the result of `trace scale` has beside that of `trace convert`."""
    return {
        "grid": {
            "from": list(made.before),
            "to": list(made.after),
            "periodic": list(made.periodic),
        },
        "unlike": made.unlike,
        "assumed": made.assumed,
    }


def scaled_findings(made: Scaled, source: Trace) -> list[Finding]:
    """What the larger run rests on."""
    found = [finding("scaled-trace", f"assumed: {'; '.join(made.assumed)}")]
    if made.unlike:
        ranks = f"{render.count(made.unlike)} of {render.count(source.ranks)} recorded ranks"
        text = f"{ranks} do otherwise than the rank that stands for their place"
        found.append(finding("uneven-ranks", text))
    return found


def scale_text(result: Mapping[str, Any]) -> str:
    """The report of `trace scale`."""
    grid = result["grid"]
    round_ = [str(d + 1) for d, periodic in enumerate(grid["periodic"]) if periodic]
    ends = f", round the ends of dimension {', '.join(round_)}" if round_ else ""
    head = f"{text_of(grid['from'])} to {text_of(grid['to'])} ranks{ends}"
    return render.pairs([("grid", head)]) + "\n" + convert_text(result)


def convert_text(result: Mapping[str, Any]) -> str:
    """The report of `trace convert`."""
    count = render.count
    out = render.pairs(
        [
            ("ranks", count(result["ranks"])),
            ("messages", count(result["messages"])),
            ("collectives", f"{count(result['collectives'])} of all ranks"),
            ("written", result["output"] or "nothing"),
        ]
    )
    return out + render.findings(result["findings"])
