"""What a diagnosis finds: causes with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from netloom.diagnose.observed import Floats

Cause = Literal[
    "slow-cable", "noisy-neighbour", "incast", "bad-routes", "bad-mapping", "over-subscription", "interior"
]


@dataclass
class Finding:
    """One thing that is wrong. Jobs and links by number."""

    cause: Cause
    confidence: float
    """0 to 1: how clearly the evidence speaks, and how much of what is held up it explains."""
    root_links: list[int]
    culprits: list[int]
    victims: list[int]
    remedy: str
    predicted_gain_percent: float
    evidence: list[str]
    phases: list[str] = field(default_factory=list)
    """Of the first culprit: those that wait most there, where phases are known."""
    uncertain: bool = False
    """Whether other draws of the same samples say something else."""
    places: dict[int, int] | None = None
    """Of `bad-mapping`: which host's ranks had better be on which."""
    mapping: str | None = None
    """Of `bad-mapping`: a mapping by name, where that is better still."""


@dataclass(frozen=True)
class Diagnosis:
    """All findings, the clearest first."""

    findings: list[Finding]
    congested_hops: Floats
    """[J] a packet."""


def add(found: list[Finding], finding: Finding) -> None:
    """Adds a finding; to one that blames the same jobs for the same, its roots."""
    for other in found:
        if _blame(other) == _blame(finding):
            other.root_links += [link for link in finding.root_links if link not in other.root_links]
            other.confidence += finding.confidence
            other.evidence += [line for line in finding.evidence if line not in other.evidence]
            other.predicted_gain_percent = max(other.predicted_gain_percent, finding.predicted_gain_percent)
            return
    found.append(finding)


def _blame(finding: Finding) -> tuple[str, list[int], list[int]]:
    return finding.cause, finding.culprits, finding.victims
