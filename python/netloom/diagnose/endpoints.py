"""Congestion at hosts: incasts, and messages that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.evidence import DELAYED_HOPS
from netloom.diagnose.findings import Finding
from netloom.diagnose.places import better_mapping

if TYPE_CHECKING:
    from netloom.diagnose.evidence import Evidence, Windows
    from netloom.diagnose.observed import Ints

INCAST_RATIO = 1.6
"""An incast's target gets so many times what it would if the job's hosts all got the same."""

CONGESTED_HOPS = 0.1
"""Congested hops a packet, in front of hosts that get no more than others, from which on messages meet."""

BUSY_UTILISATION = 0.7
"""Links to hosts that are busier than this have no time left that another order of messages could win."""

INCAST_SHARE = 0.5
"""Share of what a link between switches carries, and of what waits, from which on it leads to an incast."""

MOST_TOLD = 3
"""Hosts of incasts that evidence names."""


def incast(evidence: Evidence, group: Ints, windows: Windows) -> list[Finding]:
    """Whether some hosts get far more than their job's others, or messages meet at them."""
    whose = evidence.whose(group, windows)
    uneven = {int(job): group[whose == job] for job in np.unique(whose)}
    found = _uneven_receivers(evidence, uneven, group, windows)
    if found is None and len(evidence.observed.received.window):
        found = _simultaneous_messages(evidence, group, windows, int(np.bincount(whose).argmax()))
    return [] if found is None else [found]


def before_hosts(evidence: Evidence, group: Ints, windows: Windows) -> Finding | None:
    """Whether what these links between switches carry goes to a few hosts that get too much in any case."""
    links = evidence.links
    below = {int(root): evidence.below(int(links.target[root])) for root in group if links.down[root]}
    of_job: dict[int, Ints] = {}
    roots, whose = [], evidence.whose(group, windows)
    at_hosts = {int(job): evidence.at_hosts(int(job), windows) for job in np.unique(whose)}
    carried = evidence.observed.bytes[windows].sum(axis=0)
    for root, job in zip(group, whose, strict=True):
        came, even = at_hosts[int(job)]
        hosts = np.array([host for host in below.get(int(root), ()) if came[host] >= INCAST_RATIO * even])
        if not len(hosts) or came[hosts].sum() < INCAST_SHARE * carried[root]:
            continue
        roots.append(int(root))
        last = np.flatnonzero(links.to_host & np.isin(links.target, hosts))
        of_job[int(job)] = np.union1d(of_job.get(int(job), last), last)
    if not roots or evidence.weight[roots].sum() < INCAST_SHARE * evidence.weight[group].sum():
        return None
    return _uneven_receivers(evidence, of_job, np.array(roots), windows)


def _uneven_receivers(
    evidence: Evidence, of_job: dict[int, Ints], roots: Ints, windows: Windows
) -> Finding | None:
    """An incast, of jobs by their links to hosts that may get too much."""
    links, r = evidence.links, evidence.observed.received
    jobs, told, gains, guilty = [], [], [], []
    for job, last in of_job.items():
        came, even = evidence.at_hosts(job, windows)
        hosts = links.target[last]
        weight = evidence.weight[last] if evidence.weight[last].sum() > 0 else came[hosts]
        peak = float(came[hosts] @ weight / max(weight.sum(), 1e-9))
        host = int(hosts[np.argmax(came[hosts])])
        at_host = windows[r.window] & (r.destination == host) & (evidence.observed.job_of[r.context] == job)
        senders = len(np.unique(r.source[at_host]))
        if even <= 0 or peak < INCAST_RATIO * even or senders == 1:
            continue
        jobs.append((-float(came[hosts].sum()), job))
        guilty += last[came[hosts] >= INCAST_RATIO * even].tolist()
        gains.append(1 - even / peak)
        name = links.labels.label(host)
        line = f"{name} gets {peak / even:.1f} times what {evidence.hosts_of(job)} get on average"
        told.append(line + (f", from {senders} hosts" if senders else ""))
    if not jobs:
        return None
    gain = max(gains)
    if links.to_host[roots].all():
        # Others' hosts are no roots of this.
        roots = np.array(guilty, dtype=np.int64)
    return Finding(
        cause="incast",
        confidence=min(1.0, 1 / (3 * (1 - gain))),
        root_links=roots.tolist(),
        culprits=[job for _, job in sorted(jobs)],
        victims=evidence.victims(roots),
        remedy="share what goes to one host among several, or send it in another order, or in a tree",
        predicted_gain_percent=100 * gain,
        evidence=told[:MOST_TOLD],
    )


def _simultaneous_messages(evidence: Evidence, group: Ints, windows: Windows, job: int) -> Finding | None:
    """Whether messages meet at hosts that get no more than others: as two neighbours' do (sec. 2.4.2)."""
    held = evidence.held[windows][:, job][:, group].sum()
    sent = evidence.observed.by_job(evidence.observed.traffic)[:, job, evidence.links.from_host].sum()
    busy = float(evidence.observed.utilisation[windows][:, group].mean())
    if evidence.harm[job] < DELAYED_HOPS or held < CONGESTED_HOPS * sent or busy >= BUSY_UTILISATION:
        return None
    mapping = better_mapping(evidence, group, job)
    if mapping is not None:
        return mapping
    names = ", ".join(evidence.links.labels.label(int(evidence.links.target[link])) for link in group[:3])
    return Finding(
        cause="incast",
        confidence=0.5,
        root_links=group.tolist(),
        culprits=[job],
        victims=[job],
        remedy="another order of messages, or less at once: senders meet at these hosts",
        predicted_gain_percent=0.0,
        evidence=[
            f"{names} and others get no more than the rest in all, and are busy {busy:.0%} of the time",
            f"but {held / sent:.2f} congested hops a packet are in front of them",
        ],
    )
