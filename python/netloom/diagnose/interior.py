"""Congestion between switches: routes, mapping, or the fabric itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.endpoints import before_hosts, incast
from netloom.diagnose.findings import Cause, Finding
from netloom.diagnose.places import better_mapping

if TYPE_CHECKING:
    from netloom.diagnose.evidence import Evidence, Windows
    from netloom.diagnose.observed import Floats, Ints

LEAST_GAIN = 0.2
"""What a remedy must promise before its cause is named."""

LEAST_GAIN_OF_FULLEST = 0.3
"""The same where only the fullest links are looked at: by chance one is fuller than others."""

BUSY_UTILISATION = 0.7
"""Utilisation over all of a run from which on its fullest links decide how long it takes."""

HOST_LINK_SHARE = 0.85
"""Share of what the roots carry from which on a host's own link is as full as they are."""

_ROUTES = "routes for this traffic (netloom optimize), or adaptive routing"

BLAME_SHARE = 0.5
"""Of what the job with the most has at roots: whoever has that much is to blame too."""


def interior(evidence: Evidence, group: Ints, windows: Windows) -> list[Finding]:
    """Whether routes, mapping or the fabric itself is at fault."""
    observed, links = evidence.observed, evidence.links
    came = observed.bytes[windows].sum(axis=0) / evidence.relative
    measured = float(came[group] @ evidence.weight[group] / evidence.weight[group].sum())
    of_job = evidence.of_job[windows][:, :, group].sum(axis=(0, 2))
    order = np.argsort(-of_job, kind="stable")
    culprits = [int(job) for job in order if of_job[job] >= BLAME_SHARE * of_job[order[0]]]
    at_hosts = links.from_host | links.to_host
    # Where all ways to a host are one way, that is as full as the host's own link.
    last = np.flatnonzero(links.to_host & (came >= HOST_LINK_SHARE * measured))

    victims = evidence.victims(group)

    def finding(cause: Cause, gain: float, remedy: str, told: str) -> Finding:
        sure = min(1.0, 0.5 + gain)
        return Finding(cause, sure, group.tolist(), list(culprits), list(victims), remedy, 100 * gain, [told])

    if not len(observed.received.window):
        left = _beyond_hosts(evidence, group, came)
        if evidence.weight[left].sum() < 0.5 * evidence.weight[group].sum():
            return incast(evidence, last, windows) if len(last) else []
        group = left
        return [
            finding(
                "interior",
                0.0,
                "sample paths, or infer the traffic: routes, mapping and size look alike here",
                f"{_links(len(group))} full, and hosts behind wait",
            )
        ]
    ideal = evidence.bounds.spread(windows)
    gain = 1 - ideal / measured
    # Tables are for all of a run: where windows differ by chance alone, all of them tell more.
    all_came = observed.bytes.sum(axis=0) / evidence.relative
    all_measured = float(all_came[group] @ evidence.weight[group] / evidence.weight[group].sum())
    if 1 - evidence.bounds.spread() / all_measured > gain:
        ideal, measured = evidence.bounds.spread(), all_measured
        gain = 1 - ideal / measured
    if gain >= LEAST_GAIN:
        routes = finding(
            "bad-routes",
            gain,
            _ROUTES,
            f"with all shortest ways evenly used the fullest link would carry {ideal / measured:.0%}",
        )
        # An incast stays one when its ways are parted.
        before = before_hosts(evidence, group, windows)
        return [routes] if before is None else [before, routes]
    mappings = [better_mapping(evidence, group, job) for job in culprits]
    better = [mapping for mapping in mappings if mapping is not None]
    if better:
        return [max(better, key=lambda mapping: mapping.predicted_gain_percent)]
    # A fabric is for all phases of a run.
    ideal = evidence.bounds.spread(windows)
    gain = 1 - float(min(came[at_hosts].max() / ideal, all_came[at_hosts].max() / evidence.bounds.spread()))
    if gain >= LEAST_GAIN:
        return [
            finding(
                "over-subscription",
                gain,
                "more links between switches, or fewer hosts of the job a leaf",
                f"evenly used, links between switches carry {1 / (1 - gain):.2f} times what hosts' links do",
            )
        ]
    return incast(evidence, last, windows) if len(last) else []


def fullest(evidence: Evidence) -> Finding | None:
    """Whether a few links between switches are far fuller than they had to be, for which few packets wait."""
    observed, links = evidence.observed, evidence.links
    came = observed.bytes.sum(axis=0) / evidence.relative * links.interior
    most = float(came.max(initial=0.0))
    roots = np.flatnonzero(came >= 0.9 * most)
    busy = observed.bytes.sum(axis=0) / (links.bytes_per_s * observed.seconds.sum())
    if not len(observed.received.window) or most <= 0 or busy[roots].max() < BUSY_UTILISATION:
        return None
    gain = 1 - evidence.bounds.spread() / most
    if gain < LEAST_GAIN_OF_FULLEST:
        return None
    return Finding(
        cause="bad-routes",
        confidence=0.5,
        root_links=roots[np.argsort(-came[roots], kind="stable")].tolist(),
        culprits=[int(evidence.of_job[:, :, roots].sum(axis=(0, 2)).argmax())],
        victims=evidence.victims(roots),
        remedy=_ROUTES,
        predicted_gain_percent=100 * gain,
        evidence=[
            f"the fullest link is busy {busy[roots].max():.0%} of the time; with all shortest ways evenly "
            f"used it would carry {1 - gain:.0%}"
        ],
    )


def _beyond_hosts(evidence: Evidence, group: Ints, came: Floats) -> Ints:
    """Roots that are not full for the sole reason that hosts are: as many below them as these links."""
    links = evidence.links
    switch = np.where(links.down[group], links.target[group], links.source[group])
    left = []
    for root, at in zip(group, switch, strict=True):
        down = bool(links.down[root])
        beside = group[(switch == at) & (links.down[group] == down)]
        below = evidence.below(int(at))
        own = np.flatnonzero(np.isin(links.target if down else links.source, below))
        if (came[own] >= (1 - LEAST_GAIN) * came[root]).sum() < len(beside):
            left.append(int(root))
    return np.array(left, dtype=np.int64)


def _links(count: int) -> str:
    return "a link between switches is" if count == 1 else f"{count} links between switches are"
