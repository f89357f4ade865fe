"""From roots of congestion to findings: a cause, its evidence, what would help and by how much.

| cause | what is seen |
|---|---|
| `slow-cable` | a cable that runs slower than its siblings is full, and the run would end earlier otherwise |
| `noisy-neighbour` | a job waits at roots that others fill: another job, or one that nobody sampled |
| `incast` | a host's link, or what leads to it, is the root, and the job's other hosts get far less |
| `bad-routes` | links between switches are roots; all shortest ways, evenly used, would be far less full |
| `bad-mapping` | that would not help, but other places of the same ranks would |
| `over-subscription` | neither helps: hosts could send faster than links between switches can carry |
| `interior` | links between switches are roots, and who sent what to whom is not known |

They are asked for in this order. Gains are of the time in which the fullest link carries what it has to: what
could be had at best, which `tries` simulates.

Source: Taffet, dissertation, sec. 2.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.draws import weighed
from netloom.diagnose.endpoints import incast
from netloom.diagnose.evidence import DELAYED_HOPS, LEAST_ROOT_SHARE, Evidence, most
from netloom.diagnose.findings import Diagnosis, Finding, add
from netloom.diagnose.ideal import Bounds, no_mappings
from netloom.diagnose.interior import fullest, interior
from netloom.diagnose.slow import SlowLinks, slow_cable
from netloom.diagnose.trees import blame

if TYPE_CHECKING:
    from netloom.diagnose.evidence import Windows
    from netloom.diagnose.ideal import Mappings
    from netloom.diagnose.observed import Floats, Ints, Observed

VICTIM_HOPS = 0.01
"""Congested hops a packet of a neighbour's victim: a late packet now and then makes all its ranks wait."""

SATURATED = 0.7
"""Utilisation from which on a link is a bottleneck even where buffers take all that waits for it."""

STANDARD_ERRORS = 4.0
"""Standard errors by which counters must exceed samples before somebody else is blamed."""

HARM_STANDARD_ERRORS = 2.0
"""Standard errors by which a job's harm may be more than was seen."""

OWN_SHARE = 0.5
"""A job that has less than this share of what fills a root waits for others there."""

CULPRIT_SHARE = 0.1
"""Share of what victims wait for from which on a job is to blame."""

CONSEQUENCE_CONFIDENCE = 0.9
"""A finding that follows from another is at most so sure as that."""


def diagnose(observed: Observed, mappings: Mappings = no_mappings) -> Diagnosis:
    """What is wrong, if anything.

    Parameters
    ----------
    observed : Observed
        What is known.
    mappings : callable
        Of a job's number: what all jobs would send if that job were mapped otherwise, by the mapping's word.
        It is asked where links between switches are full and other routes would not help.
    """
    bounds = Bounds(observed, mappings)
    slow = SlowLinks(observed.fabric)
    found = weighed(observed, lambda drawn: _findings(drawn, bounds, slow))
    harm = congested_hops(observed)
    unknown = np.flatnonzero(
        (harm < DELAYED_HOPS) & (harm + HARM_STANDARD_ERRORS * _harm_error(observed) >= DELAYED_HOPS)
    )
    for finding in found:
        rest = [observed.jobs[job] for job in unknown if job not in (*finding.culprits, *finding.victims)]
        if rest:
            finding.uncertain, finding.confidence = True, min(finding.confidence, 0.5)
            names = ", ".join(rest)
            finding.evidence.append(
                f"uncertain: too few packets of {names} were sampled to tell if they are held up"
            )
    return Diagnosis(found, harm)


def _findings(observed: Observed, bounds: Bounds, slow: SlowLinks) -> list[Finding]:
    harm = congested_hops(observed)
    roots = blame(observed).roots if (harm > 0).any() else np.zeros_like(observed.by_job(observed.traffic))
    waits = Evidence(observed, harm, roots, bounds)
    cable = slow_cable(waits, slow)
    found = []
    if (harm >= VICTIM_HOPS).any():
        found = _causes(waits, cable)
    if not found:
        # What waits fits into buffers: only what is full can be at fault.
        full = (observed.utilisation >= SATURATED) & ~observed.links.from_host[None, :]
        held = observed.by_job(observed.traffic) * full[:, None, :]
        found = _causes(Evidence(observed, harm, held, bounds), cable)
    return found


def congested_hops(observed: Observed) -> Floats:
    """[J] congested hops a packet."""
    sent = observed.by_job(observed.traffic)[:, :, observed.links.from_host].sum(axis=(0, 2))
    congested = np.maximum(observed.by_job(observed.congested).sum(axis=(0, 2)), 0)
    return np.asarray(np.divide(congested, sent, out=np.zeros_like(sent), where=sent > 0))


def _harm_error(observed: Observed) -> Floats:
    """[J] standard errors of it, at least what one sampled packet more would have made of it."""
    if not observed.traffic_error.any():
        return np.zeros(len(observed.jobs))

    def sums(values: Floats) -> Floats:
        return np.asarray(observed.by_job(values).sum(axis=(0, 2)))

    sent = observed.by_job(observed.traffic)[:, :, observed.links.from_host].sum(axis=(0, 2))
    one = sums(observed.traffic_error**2) / np.maximum(sums(observed.traffic), 1e-9)
    return np.asarray(np.sqrt(sums(observed.congested_error**2) + one**2) / np.maximum(sent, 1e-9))


def _causes(evidence: Evidence, cable: Finding | None) -> list[Finding]:
    total = evidence.weight.sum()
    found: list[Finding] = []
    if cable is not None:
        # What waits for the cable is explained: neither routes nor jobs are to blame for it.
        found.append(cable)
        evidence.weight[cable.root_links] = 0.0
    for kind, ask in ((evidence.links.interior, interior), (evidence.links.to_host, incast)):
        part = evidence.weight * kind
        if total <= 0 or part.sum() < LEAST_ROOT_SHARE * total:
            continue
        group = most(part, 0.9)
        windows = evidence.windows_of(group)
        neighbour, own = _neighbour(evidence, group, windows), ask(evidence, group, windows)
        if neighbour is not None:
            # Better routes may well part the two; who is to blame comes first.
            keep = ("bad-routes", "incast")
            own = [finding for finding in own if finding.cause in keep and finding.predicted_gain_percent]
            own = [neighbour, *own]
        for first, finding in zip([None, *own], own, strict=False):
            if first is not None:
                finding.confidence = min(finding.confidence, CONSEQUENCE_CONFIDENCE * first.confidence)
        for finding in own:
            finding.confidence *= float(part.sum() / total)
            add(found, finding)
    others = [finding for finding in found if finding.cause != "noisy-neighbour"]
    if total > 0 and not any(finding.predicted_gain_percent for finding in others):
        routes = fullest(evidence)
        if routes is not None:
            # Better routes may part a job from its neighbour.
            routes.confidence = min(
                [routes.confidence, *(CONSEQUENCE_CONFIDENCE * finding.confidence for finding in found)]
            )
            found.append(routes)
    promising = [finding.confidence for finding in found if finding.predicted_gain_percent]
    for finding in found:
        if promising and not finding.predicted_gain_percent:
            finding.confidence = min(finding.confidence, CONSEQUENCE_CONFIDENCE * max(promising))
        finding.confidence = round(min(finding.confidence, 1.0), 3)
        finding.phases = evidence.phases(finding)
    return sorted(found, key=lambda finding: -finding.confidence)


def _neighbour(evidence: Evidence, group: Ints, windows: Windows) -> Finding | None:
    """Whether others fill what a job waits for."""
    observed = evidence.observed
    # [J, G] and [G]: bytes of every root.
    used = evidence.of_job[windows][:, :, group].sum(axis=0)
    everybody = np.maximum(observed.bytes[windows][:, group].sum(axis=0), 1e-9)
    # [J, G] what waits at roots that others fill.
    held = np.maximum(evidence.held[:, :, group].sum(axis=0), 0.0)
    foreign = held * (used < OWN_SHARE * everybody)
    victims = np.flatnonzero(
        (evidence.harm >= VICTIM_HOPS)
        & (foreign.sum(axis=1) > 0.5 * held.sum(axis=1))
        & (held.sum(axis=1) > 0)
    )
    if not len(victims):
        return None
    weight = foreign[victims].sum(axis=0)
    weight = weight / weight.sum() / everybody
    share = used @ weight
    unseen = 1.0 - float(share.sum())
    error = float(evidence.error(group, windows, everybody) @ weight)
    culprits = [int(job) for job in np.argsort(-share) if job not in victims and share[job] >= CULPRIT_SHARE]
    unsampled = (
        unseen > max(*share[culprits], STANDARD_ERRORS * error)
        if culprits
        else unseen > STANDARD_ERRORS * error
    )
    if not culprits and not unsampled:
        return None
    others = min(unseen if unsampled else float(share[culprits].sum()), 1.0)
    own = float(share[victims].sum())
    names = ", ".join(observed.jobs[job] for job in victims)
    who = "nobody who was sampled" if unsampled else ", ".join(observed.jobs[job] for job in culprits)
    where = "hosts' links" if evidence.links.to_host[group[0]] else "links between switches"
    return Finding(
        cause="noisy-neighbour",
        confidence=min(1.0, others),
        root_links=group.tolist(),
        culprits=[] if unsampled else culprits,
        victims=victims.tolist(),
        remedy="place the jobs apart, move the victim's ranks off these links, or wait",
        predicted_gain_percent=100 * (1 - own),
        evidence=[
            f"of what {where} carry {others:.0%} are of {who}, {own:.0%} of {names}",
            f"{names}: {evidence.harm[victims].max():.2f} congested hops a packet",
        ],
    )
