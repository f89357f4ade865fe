"""What a live round's inputs must be, so that routes are made of them.

A round that is not sure of what it was told ends with a finding and keeps its routes. A few ports that are
silent, or whose counters were set back, are a finding only: links between switches are counted at both ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.findings import Finding, finding
from netloom.live.ports import changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom._core import Counters, Fabric, Inferred
    from netloom.live.polling import Poll

MOST_UNKNOWN_SHARE = 0.01
"""The share of links of which no counter can be trusted, at most: routes made of less are guesses."""
MOST_RESET_SHARE = 0.01
"""The share of the counters that changed that were set back, at most."""
MOST_UNEXPLAINED_PERCENT = 5.0
"""Bytes that no traffic of these jobs explains, at most."""

IDLE = "idle"
"""Why a round ends in which nothing was carried: nothing is wrong with it."""
_POLLS = 100
"""Hosts that send no more than polling does, so many times over, send nothing that routes matter for."""
_OCTETS = 288
"""That a port counts of a management datagram."""
_NAMED = 3
"""Ports, switches and cables that a reason names."""
REPAIR_ADVICE = (
    "mend it, or load tables that do without it (`netloom optimize --from TABLES --repair`, "
    "`netloom apply send`)"
)
"""What helps where tables lead into a cable or a switch that is gone."""


class Refused(Exception):
    """Ends a round before its decision, with a finding."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.finding = finding(kind, text)


def interval_of(first: Poll, second: Poll, findings: list[Finding]) -> Counters:
    """What was counted from one reading to the other; what is wrong with it is added to `findings`.

    Raises
    ------
    Refused
        If it is not enough to go by.
    """
    silent = sorted({*first.missing, *second.missing})
    if silent:
        named = _some([f"{node}[{port}]" for node, port in silent], ", ")
        text = f"{len(silent)} of {first.ports} ports did not answer: {named}"
        findings.append(finding("missing", text))
    fallen, changed = second.counters.fallen_since(first.counters)
    if changed == 0:
        raise Refused(
            "stale", "no counter changed in the interval: who reads the ports has not done so since"
        )
    counters = second.counters.since(first.counters, seconds=second.started_s - first.started_s)
    if fallen:
        where = _set_back(counters)
        text = f"{fallen} of the {changed} counters that changed were set back during the interval"
        text += f", at {where}" if where else ""
        findings.append(finding("reset", text))
        if fallen > MOST_RESET_SHARE * changed:
            raise Refused(
                "reset",
                f"{text}: what was carried is not known. Have nobody set counters back while the loop runs "
                "(`perfquery -R`, `ibclearcounters`); where nobody does, the switch has started again",
            )
    told = counters.summary(busiest=0)
    unknown, links = told["links_unknown"], told["links"]
    if unknown > MOST_UNKNOWN_SHARE * links:
        text = f"of {unknown} of {links} links nobody knows what they carried"
        raise Refused("unknown-links", text)
    sent = told["host_bytes"]
    if sent is not None and sent <= _POLLS * _OCTETS * second.mads:
        raise Refused(
            IDLE, f"hosts sent {sent:,.0f} bytes, little more than reading counters does: nothing to gain"
        )
    return counters


def _some(words: Sequence[str], between: str) -> str:
    """The first few."""
    return between.join([*words[:_NAMED], *(["…"] if len(words) > _NAMED else [])])


def _set_back(counters: Counters) -> str:
    """The ports whose counters were set back; switches of which several were."""
    ports: dict[str, dict[str, None]] = {}
    for one in counters.check():
        if one["kind"] == "reset":
            # bytes sent at leaf00[2], lane 1: was set back in between
            port = one["text"].partition(" at ")[2].rpartition(":")[0].rpartition("]")[0]
            ports.setdefault(port.rpartition("[")[0], {})[port.rpartition("[")[2]] = None
    words = [
        f"{node}[{next(iter(of))}]" if len(of) == 1 else f"{node} ({len(of)} ports)"
        for node, of in ports.items()
    ]
    return _some(words, ", ")


def fabric_changed(before: Fabric, now: Fabric) -> str:
    """What has become of the fabric during an interval, and what to do about it."""
    words = changes(before, now)
    if not words:
        return (
            "LIDs changed during the interval: a subnet manager was started without its cache "
            "(`honor_guid2lid_file`); the next round counts anew"
        )
    # What is new is in no table yet, and harms none.
    lost = any(word.endswith(" gone") for word in words)
    todo = REPAIR_ADVICE if lost else "no table uses it yet; the next round counts anew"
    return f"during the interval the fabric changed ({_some(words, '; ')}): {todo}"


def busiest_share(fabric: Fabric, counters: Counters) -> float:
    """The busiest link's bytes over its speed, as a share of all that hosts sent: by counters alone."""
    measured = counters.measure()
    table = fabric.link_table()
    known = np.asarray(measured["ends"]) > 0
    value = np.where(known, np.asarray(measured["value"], float), 0.0)
    sent = float(value[: fabric.hosts].sum())
    busiest = float((value / np.asarray(table["bandwidth_bytes_per_s"], float)).max())
    return busiest / sent if sent > 0 else 0.0


def lids_differ(one: Fabric, other: Fabric) -> bool:
    """Whether nodes of equal cabling have other LIDs, as after a manager's restart without its cache."""
    return any(
        not np.array_equal(a["lid"], b["lid"])
        for a, b in (
            (one.host_table(), other.host_table()),
            (one.switch_table(), other.switch_table()),
        )
    )


def explained(answer: Inferred) -> None:
    """That the answer explains what was counted.

    Raises
    ------
    Refused
        If it does not: other hosts sent too, or the jobs ran elsewhere.
    """
    unexplained = answer.summary()["unexplained_percent"] or 0.0
    if unexplained > MOST_UNEXPLAINED_PERCENT and answer.stopped == "time-limit":
        raise Refused(
            "time-limit",
            f"inference was not done in its time, and {unexplained:.1f} % of the bytes are left unexplained: "
            "a list of jobs, and a longer interval, help",
        )
    if unexplained > MOST_UNEXPLAINED_PERCENT:
        raise Refused(
            "unexplained",
            f"{unexplained:.1f} % of the bytes cannot be traffic of these jobs: is the list of jobs right?",
        )
