"""From roots of congestion to findings: a cause, its evidence, what would help and by how much.

| cause | what is seen |
|---|---|
| `noisy-neighbour` | a job waits at roots that others fill: another job, or one that nobody sampled |
| `incast` | a host's link is the root, and far more goes there than to the job's other hosts |
| `bad-routes` | links between switches are roots; all shortest ways, evenly used, would be far less full |
| `bad-mapping` | that would not help, but other places of the same ranks would |
| `over-subscription` | neither helps: hosts could send faster than links between switches can carry |
| `interior` | links between switches are roots, and who sent what to whom is not known |

They are asked for in this order. Gains are of the time in which the fullest link carries what it has to: what
could be had at best, which `tries` simulates.

Source: Taffet, dissertation, sec. 2.3.4.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.findings import Cause, Diagnosis, Finding, add
from netloom.diagnose.ideal import moved, no_mappings, spread
from netloom.diagnose.trees import blame

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom.diagnose.ideal import Mappings
    from netloom.diagnose.observed import Floats, Ints, Observed

    Windows = npt.NDArray[np.bool_]

HELD_UP = 0.05
"""Congested hops a packet from which on a job is held up."""

TOUCHED = 0.01
"""The same of a neighbour's victim: a late packet now and then is enough to make all its ranks wait."""

SATURATED = 0.85
"""Utilisation from which on a link is a bottleneck even where buffers take all that waits for it."""

PART = 0.25
"""Share of what is held up that roots between switches, or at hosts, must have to be worth a finding."""

GAIN = 0.2
"""What a remedy must promise before its cause is named."""

MAPPING_GAIN = 0.3
"""The same of a mapping: chance alone brings some partners together."""

UNEVEN = 1.6
"""An incast's target gets so many times what it would if the job's hosts all got the same."""

SURE = 4.0
"""Standard errors by which counters must exceed samples before somebody else is blamed."""

MEETING = 0.1
"""Congested hops a packet, in front of hosts that get no more than others, from which on messages meet."""

OWN = 0.5
"""A job that has less than this share of what fills a root waits for others there."""

CULPRIT = 0.1
"""Share of what victims wait for from which on a job is to blame."""


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
    harm = congested_hops(observed)
    case = _Case(observed, harm, blame(observed).roots, mappings)
    found = case.findings() if (harm >= TOUCHED).any() else []
    if not found:
        # What waits fits into buffers: only what is full can be at fault.
        full = (observed.utilisation >= SATURATED) & ~observed.links.from_host[None, :]
        case = _Case(observed, harm, observed.by_job(observed.traffic) * full[:, None, :], mappings)
        found = case.findings()
    return Diagnosis(found, harm)


def congested_hops(observed: Observed) -> Floats:
    """[J] congested hops a packet."""
    sent = observed.by_job(observed.traffic)[:, :, observed.links.from_host].sum(axis=(0, 2))
    congested = np.maximum(observed.by_job(observed.congested).sum(axis=(0, 2)), 0)
    return np.asarray(np.divide(congested, sent, out=np.zeros_like(sent), where=sent > 0))


class _Case:
    """One run's evidence: [W, J, L] packets held up by root, and what of each link is whose."""

    def __init__(self, observed: Observed, harm: Floats, held: Floats, mappings: Mappings) -> None:
        self.observed, self.links, self.mappings = observed, observed.links, mappings
        self.harm, self.held, self.weight = harm, held, held.sum(axis=(0, 1))
        #: [W, J, L] bytes
        self.of_job = observed.by_job(observed.traffic * observed.packet_bytes[None, :, None])
        self.relative = self.links.bytes_per_s / self.links.bytes_per_s.max()

    @cached_property
    def all_ideal(self) -> float:
        """Bytes of the fullest link if all ways were used evenly, of all that was received."""
        always = np.ones(len(self.observed.seconds), dtype=bool)
        return max(spread(self.observed.fabric, self.observed.matrix(always)), 1e-9)

    def findings(self) -> list[Finding]:
        total = self.weight.sum()
        found: list[Finding] = []
        for kind, ask in ((self.links.interior, self._interior), (self.links.to_host, self._incast)):
            part = self.weight * kind
            if total <= 0 or part.sum() < PART * total:
                continue
            group = _most(part, 0.9)
            windows = self._windows(group)
            neighbour, own = self._neighbour(group, windows), ask(group, windows)
            if neighbour is not None and own is not None:
                # Better routes may well part the two; who is to blame comes first.
                own = own if own.cause == "bad-routes" else None
                if own is not None:
                    own.confidence = min(own.confidence, 0.9 * neighbour.confidence)
            for finding in (neighbour, own):
                if finding is not None:
                    finding.confidence *= float(part.sum() / total)
                    add(found, finding)
        for finding in found:
            finding.confidence = round(min(finding.confidence, 1.0), 3)
            finding.phases = self._phases(finding)
        return sorted(found, key=lambda finding: -finding.confidence)

    def _windows(self, group: Ints) -> Windows:
        """Windows in which these roots held most up; all, where the trouble does not come and go."""
        held = self.held[:, :, group].sum(axis=(1, 2))
        windows = np.zeros(len(held), dtype=bool)
        windows[_most(held, 0.7)] = True
        return windows if windows.mean() < 0.5 else np.ones_like(windows)

    def _phases(self, finding: Finding) -> list[str]:
        """Phases of the culprit with a fifth or more of its congested packets there, the most first."""
        if not finding.culprits:
            return []
        own = np.flatnonzero(self.observed.job_of == finding.culprits[0])
        switches = np.unique(self.links.source[finding.root_links])
        tree = np.isin(self.links.target, switches)
        tree[finding.root_links] = True
        sums = np.maximum(self.observed.congested[:, own][:, :, tree].sum(axis=(0, 2)), 0)
        if len(own) < 2 or sums.sum() <= 0:
            return []
        order = [k for k in np.argsort(-sums, kind="stable") if sums[k] >= 0.2 * sums.sum()]
        return [self.observed.contexts[own[k]].phase for k in order]

    def _neighbour(self, group: Ints, windows: Windows) -> Finding | None:
        """Whether others fill what a job waits for."""
        observed = self.observed
        # [J, G] and [G]: bytes of every root.
        used = self.of_job[windows][:, :, group].sum(axis=0)
        everybody = np.maximum(observed.bytes[windows][:, group].sum(axis=0), 1e-9)
        # [J, G] what waits at roots that others fill.
        held = self.held[:, :, group].sum(axis=0)
        foreign = held * (used < OWN * everybody)
        victims = np.flatnonzero(
            (self.harm >= TOUCHED) & (foreign.sum(axis=1) > 0.5 * held.sum(axis=1)) & (held.sum(axis=1) > 0)
        )
        if not len(victims):
            return None
        weight = foreign[victims].sum(axis=0)
        weight = weight / weight.sum() / everybody
        share = used @ weight
        unseen = 1.0 - float(share.sum())
        errors = (observed.traffic_error[windows][:, :, group] * observed.packet_bytes[None, :, None]) ** 2
        error = float(np.sqrt(errors.sum(axis=(0, 1))) @ weight)
        culprits = [int(job) for job in np.argsort(-share) if job not in victims and share[job] >= CULPRIT]
        stranger = unseen > max(*share[culprits], SURE * error) if culprits else unseen > SURE * error
        if not culprits and not stranger:
            return None
        others = min(unseen if stranger else float(share[culprits].sum()), 1.0)
        own = float(share[victims].sum())
        names = ", ".join(observed.jobs[job] for job in victims)
        who = "nobody who was sampled" if stranger else ", ".join(observed.jobs[job] for job in culprits)
        where = "hosts' links" if self.links.to_host[group[0]] else "links between switches"
        return Finding(
            cause="noisy-neighbour",
            confidence=min(1.0, others),
            root_links=group.tolist(),
            culprits=[] if stranger else culprits,
            victims=victims.tolist(),
            remedy="place the jobs apart, move the victim's ranks off these links, or wait",
            predicted_gain_percent=100 * (1 - own),
            evidence=[
                f"of what {where} carry {others:.0%} are of {who}, {own:.0%} of {names}",
                f"{names}: {self.harm[victims].max():.2f} congested hops a packet",
            ],
        )

    def _incast(self, group: Ints, windows: Windows) -> Finding | None:
        """Whether some hosts get far more than the job's others."""
        links = self.links
        came = self.of_job[windows].sum(axis=0)
        job = int(np.argmax(came[:, group].sum(axis=1)))
        at_hosts = came[job][links.to_host]
        taking_part = max((came[job][links.from_host] > 0).sum(), (at_hosts > 0).sum(), 1)
        even, peak = float(at_hosts.sum() / taking_part), float(came[job][group].mean())
        if even <= 0:
            return None
        if peak < UNEVEN * even:
            return self._meeting(group, windows, job)
        target = int(group[np.argmax(came[job][group])])
        host = int(links.target[target])
        r = self.observed.received
        senders = len(np.unique(r.source[windows[r.window] & (r.destination == host)]))
        evidence = [f"{links.names[host]} gets {peak / even:.1f} times what the job's hosts get on average"]
        if senders:
            evidence.append(f"from {senders} host{'s' if senders > 1 else ''}")
        return Finding(
            cause="incast",
            confidence=min(1.0, peak / even / 3),
            root_links=group.tolist(),
            culprits=[job],
            victims=self._victims(),
            remedy="share what goes to one host among several, or send it in another order, or in a tree",
            predicted_gain_percent=100 * (1 - even / peak),
            evidence=evidence,
        )

    def _meeting(self, group: Ints, windows: Windows, job: int) -> Finding | None:
        """Whether messages meet at hosts that get no more than others: as two neighbours' do (sec. 2.4.2)."""
        held = self.held[windows][:, job][:, group].sum()
        sent = self.observed.by_job(self.observed.traffic)[:, job, self.links.from_host].sum()
        busy = float(self.observed.utilisation[windows][:, group].mean())
        if self.harm[job] < HELD_UP or held < MEETING * sent or busy >= SATURATED:
            return None
        mapping = self._mapping(group, job)
        if mapping is not None:
            return mapping
        names = ", ".join(self.links.names[self.links.target[link]] for link in group[:3])
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

    def _interior(self, group: Ints, windows: Windows) -> Finding | None:
        """Whether routes, mapping or the fabric itself is at fault."""
        observed, links = self.observed, self.links
        came = observed.bytes[windows].sum(axis=0) / self.relative
        measured = float(came[group] @ self.weight[group] / self.weight[group].sum())
        culprit = int(np.argmax(self.of_job[windows][:, :, group].sum(axis=(0, 2))))

        def finding(cause: Cause, gain: float, remedy: str, evidence: str) -> Finding:
            sure = min(1.0, 0.5 + gain)
            return Finding(
                cause, sure, group.tolist(), [culprit], self._victims(), remedy, 100 * gain, [evidence]
            )

        if not len(observed.received.window):
            return finding(
                "interior",
                0.0,
                "sample paths, or infer the traffic: routes, mapping and size look alike here",
                f"{len(group)} links between switches are full, and hosts behind them wait",
            )
        ideal = self.all_ideal
        if not windows.all():
            ideal = max(spread(observed.fabric, observed.matrix(windows)), 1e-9)
        gain = 1 - ideal / measured
        if gain >= GAIN:
            return finding(
                "bad-routes",
                gain,
                "routes for this traffic (netloom optimize), or adaptive routing",
                f"with all shortest ways evenly used the fullest link would carry {ideal / measured:.0%}",
            )
        mapping = self._mapping(group, culprit)
        if mapping is not None:
            return mapping
        # A fabric is for all phases of a run.
        at_hosts = links.from_host | links.to_host
        all_came = observed.bytes.sum(axis=0) / self.relative
        gain = 1 - float(min(came[at_hosts].max() / ideal, all_came[at_hosts].max() / self.all_ideal))
        if gain >= GAIN:
            return finding(
                "over-subscription",
                gain,
                "more links between switches, or fewer hosts of the job a leaf",
                f"evenly used, links between switches carry {1 / (1 - gain):.2f} times what hosts' links do",
            )
        # Where all ways to a host are one way, that is as full as the host's own link.
        last = np.flatnonzero(links.to_host & (came >= SATURATED * measured))
        return self._incast(last, windows) if len(last) else None

    def _mapping(self, group: Ints, job: int) -> Finding | None:
        """Whether other places of the job's ranks would help, in all its phases together."""
        best = moved(self.observed, job, self.mappings, self.all_ideal)
        gain = 1 - best.share
        if gain < MAPPING_GAIN:
            return None
        what = f"mapping {best.mapping}" if best.mapping else "ranks moved among its hosts"
        return Finding(
            cause="bad-mapping",
            confidence=min(1.0, 0.5 + gain),
            root_links=group.tolist(),
            culprits=[job],
            victims=self._victims(),
            remedy="ranks that talk to each other on the same host, or leaf",
            predicted_gain_percent=100 * gain,
            evidence=[
                f"{self.observed.jobs[job]}: with {what} the fullest link would carry {best.share:.0%}"
            ],
            places=best.places,
            mapping=best.mapping,
        )

    def _victims(self) -> list[int]:
        return [int(job) for job in np.flatnonzero(self.harm >= HELD_UP)]


def _most(values: Floats, share: float) -> Ints:
    """The fewest places that have this share of all, the largest first."""
    order = np.argsort(-values, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(values[order]), share * values.sum())) + 1]
