"""Counters of a fabric as `netloom diagnose` looks at them: what was sent, what waited, what was not read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.counting import reading as counters
from netloom.counting.waiting import tick_seconds
from netloom.errors import CountersError

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric, Traffic
    from netloom.counting.waiting import Devices
    from netloom.diagnose.observed import Observed
    from netloom.session.session import Session

_MOST_UTILISATION = 1.2
"""What counters may say of a full link: clocks of readings differ."""


def observed_of(
    session: Session,
    net: Fabric,
    after: Path,
    before: Path | None,
    times: tuple[float | None, float | None],
    traffic: Traffic | str | None,
    devices: Devices,
) -> tuple[Observed, list[str]]:
    """What real counters say, and what they leave out; `times` are seconds counted and ns a tick.

    Without the latter a tick is what the devices make it, where that is known.
    """
    from netloom.diagnose import counted
    from netloom.live.polling import column

    seconds, tick_ns = times
    found = counters.read(session, str(after), net)
    if before is not None:
        earlier = counters.read(session, str(before), net, role="before")
        reversed_ = counters.reversed_readings(*found.fallen_since(earlier), str(before))
        if reversed_:
            raise CountersError(reversed_[0]["text"])
        found = found.since(earlier, seconds=seconds)
    lasted = seconds or found.summary()["seconds"]
    if not lasted:
        raise CountersError(f"{after}: does not say how long was counted: expected --seconds")
    sent, ticks = np.zeros(net.links), np.zeros(net.links)
    tick_s = tick_seconds(net, devices.octets(net)) if tick_ns is None else np.full(net.links, tick_ns * 1e-9)
    told = bool((~np.isnan(tick_s)).any())
    known = told
    for interval in range(found.intervals):
        measured = found.measure(interval)
        sent += np.where(np.asarray(measured["ends"]) > 0, np.asarray(measured["value"], float), 0.0)
        waits = column(net, found, "wait_ticks", interval=interval) if known else None
        known = waits is not None
        ticks += 0.0 if waits is None else np.nan_to_num(waits)
    waited = ticks * np.nan_to_num(tick_s) if known else None
    capacity = np.asarray(net.link_table()["bandwidth_bytes_per_s"], float) * float(lasted)
    if (sent > _MOST_UTILISATION * capacity).any():
        raise CountersError(
            f"{after}: links carried {np.max(sent / capacity):.3g} times what they can in "
            f"{float(lasted):g} s: expected the time that was counted (--seconds)"
        )
    if not told:
        session.note(
            "without --tick-ns counts of waiting have no unit: only links that are full are looked at"
        )
    elif waited is None:
        session.note(f"{after}: has no counters of waiting: only links that are full are looked at")
    elif tick_ns is None:
        without = int((np.isnan(tick_s) & (ticks > 0)).sum())
        more = f"; {without} links that waited have another device: left out" if without else ""
        session.note(f"ticks of waiting as {', '.join(devices.names)} count them{more} (--tick-ns sets one)")
    pairs = None if traffic is None else session.traffic(traffic, net)
    return counted.observed_of(net, float(lasted), sent, waited, pairs), _left_out(found)


def _left_out(found: Counters) -> list[str]:
    """Links of which counters say nothing, values that are wrong: what lies there is not seen."""
    summary = found.summary(busiest=0)
    odd = list(found.notes) + [one["text"] for one in found.port_errors]
    if (sent := found.idle_bytes) is not None:
        odd.append(
            f"the fabric is idle: hosts sent {sent:,.0f} bytes in small packets, no more than management does"
        )
    if unknown := summary["links_unknown"]:
        odd.append(f"{unknown} of {summary['links']} links were not read: taken for idle")
    wrong = {"saturated": "at their largest value", "reset": "set back in between", "conflict": "in conflict"}
    for kind, what in wrong.items():
        if count := summary["flagged"][kind]:
            odd.append(f"{count} {'value' if count == 1 else 'values'} {what} ({kind}): less was seen there")
    return odd
