"""What is odd about samples, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.findings import Finding, finding

if TYPE_CHECKING:
    from netloom.sampling.samples import Samples


def with_findings(samples: Samples) -> Samples:
    """The same, with what is odd about it."""
    return replace(samples, findings=(*_empty(samples), *_few(samples), *_contradictions(samples)))


def _few(samples: Samples) -> Iterator[Finding]:
    """All contexts together say nothing of any link."""
    sampled, packets = (int(np.asarray(samples.contexts[name]).sum()) for name in ("sampled", "packets"))
    if sampled > 0 and not samples.enough:
        yield finding(
            "few-samples",
            f"{sampled:,} of {packets:,} packets were sampled: too few to tell which links are congested "
            f"(a greater --rate{'' if samples.sampling['method'] == 'whole' else ', or --method whole'})",
        )


def _empty(samples: Samples) -> Iterator[Finding]:
    """Contexts of which nothing is known."""
    seen = set()
    for row in samples.contexts.to_pylist():
        seen.add(row["job"])
        name = f"context {row['context']} ({row['job_name']}, {row['phase']})"
        if row["packets"] == 0:
            yield finding("no-packets", f"{name}: no packets were received")
        elif row["sampled"] == 0:
            yield finding("no-samples", f"{name}: none of its {row['packets']:,} packets was sampled")
    for number, job in enumerate(samples.jobs):
        if number not in seen:
            text = f"job {job.name}: no packets were received, so it has no context"
            yield finding("no-packets", text)


def _contradictions(samples: Samples) -> Iterator[Finding]:
    """Where samples say more than counters allow: those count everything that was sent."""
    if samples.links is None or not {"xmit_packets", "xmit_bytes"} <= set(samples.links.column_names):
        return
    counted = np.asarray(samples.links["xmit_packets"]).astype(np.float64)
    if len(counted) != samples.fabric.links:
        text = f"counters of {len(counted):,} links, of a fabric with {samples.fabric.links:,}"
        yield finding("contradiction", text)
        return
    # The first links are the hosts' own, in their order.
    for unit in ("packets", "bytes"):
        sent = np.asarray(samples.links[f"xmit_{unit}"]).astype(np.float64)[: samples.fabric.hosts]
        received = np.bincount(
            np.asarray(samples.received["source"]).astype(np.int64),
            weights=np.asarray(samples.received[unit]).astype(np.float64),
            minlength=samples.fabric.hosts,
        )
        for host in np.flatnonzero(received > sent)[:3]:
            yield finding(
                "contradiction",
                f"host {samples.fabric.host_names[host]}: {received[host]:,.0f} {unit} of it were received, "
                f"its counter says {sent[host]:,.0f} were sent",
            )
    total = samples.total()
    over = total.traffic - counted > 6 * total.traffic_error + 1e-9 * counted + 0.5
    for link in np.flatnonzero(over)[:3]:
        yield finding(
            "contradiction",
            f"link {link}: {total.traffic[link]:,.0f} ± {total.traffic_error[link]:,.0f} packets by samples, "
            f"{int(counted[link]):,} by its counter",
        )
    error = np.hypot(total.congested_error, total.traffic_error)
    for link in np.flatnonzero(total.congested - total.traffic > 6 * error + 0.5)[:3]:
        yield finding(
            "contradiction",
            f"link {link}: {total.congested[link]:,.0f} packets were congested there, "
            f"{total.traffic[link]:,.0f} crossed it",
        )
