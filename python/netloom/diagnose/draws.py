"""How sure findings are, of the samples' own errors: estimates drawn again within them, and asked again.

At low sampling rates a share may lie on either side of a threshold. What most draws do not say is uncertain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom.diagnose.findings import Finding
    from netloom.diagnose.observed import Observed

DRAWS = 6
AGREEING_DRAWS = 0.8
"""Share of the draws that must agree."""


def weighed(observed: Observed, ask: Callable[[Observed], list[Finding]]) -> list[Finding]:
    """What `ask` finds, less sure where other draws of the same samples would say something else."""
    found = ask(observed)
    if not found or not (observed.traffic_error.any() or observed.congested_error.any()):
        return found
    others = [ask(_drawn(observed, seed)) for seed in range(DRAWS)]
    for rank, finding in enumerate(found):
        # The first is what is acted on: it must come first again.
        same = sum(
            any(_blames(finding) == _blames(other) for other in (drawn if rank else drawn[:1]))
            for drawn in others
        )
        finding.uncertain = same < AGREEING_DRAWS * DRAWS
        finding.confidence = round(finding.confidence * (same + 1) / (DRAWS + 1), 3)
        if finding.uncertain:
            finding.evidence.append(
                f"uncertain: of {DRAWS} draws within the samples' errors {same} say so; sample more packets"
            )
    # What is certain comes first, else the order stands: one finding often follows from another.
    found.sort(key=lambda finding: finding.uncertain)
    for before, finding in pairwise(found):
        finding.confidence = min(finding.confidence, before.confidence)
    return found


def _drawn(observed: Observed, seed: int) -> Observed:
    """The same with errors of their size added to all estimates."""
    rng = np.random.default_rng(seed)

    def around(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
        return values + errors * rng.standard_normal(values.shape)

    return replace(
        observed,
        traffic=around(observed.traffic, observed.traffic_error),
        congested=around(observed.congested, observed.congested_error),
    )


def _blames(finding: Finding) -> tuple[str, frozenset[int], frozenset[int]]:
    """The verdict. Who suffers is part of it where somebody else is to blame."""
    victims = finding.victims if finding.cause == "noisy-neighbour" else []
    return finding.cause, frozenset(finding.culprits), frozenset(victims)
