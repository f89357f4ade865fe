"""Whether ranks had better lie elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.diagnose.findings import Finding

if TYPE_CHECKING:
    from netloom.diagnose.evidence import Evidence
    from netloom.diagnose.observed import Ints

MAPPING_GAIN = 0.3
"""What better places must promise: chance alone brings some partners together."""


def better_mapping(evidence: Evidence, group: Ints, job: int) -> Finding | None:
    """Whether other places of the job's ranks would help, in all its phases together."""
    best = evidence.bounds.moved(job)
    gain = 1 - best.share
    if gain < MAPPING_GAIN:
        return None
    what = f"mapping {best.mapping}" if best.mapping else "ranks moved among its hosts"
    return Finding(
        cause="bad-mapping",
        confidence=min(1.0, 0.5 + gain),
        root_links=group.tolist(),
        culprits=[job],
        victims=evidence.victims(group),
        remedy="ranks that talk to each other on the same host, or leaf",
        predicted_gain_percent=100 * gain,
        evidence=[
            f"{evidence.observed.jobs[job]}: with {what} the fullest link would carry {best.share:.0%}"
        ],
        places=best.places,
        mapping=best.mapping,
    )
