"""What becomes of a live round: what it has found so far, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netloom.errors import LiveError
from netloom.findings import Finding
from netloom.loop.prediction import Prediction
from netloom.loop.round import Outcome, Round

if TYPE_CHECKING:
    from netloom._core import Counters, Routes
    from netloom.apply import Applied, Seen
    from netloom.loop.inferred_phases import InferredPhases as Inferred
    from netloom.loop.prediction import Layers
    from netloom.loop.propose import Canary, Evidence

_OWN_STEPS = ("counters", "infer", "optimize", "check", "predict", "apply", "verify")


@dataclass(frozen=True)
class Live:
    """What became of a round."""

    round: Round
    findings: list[Finding]
    """What was wrong with its inputs: `kind` and `text`."""
    before: Seen
    """The fabric and its tables at the end of the interval."""
    after: Seen
    """The same after the change; where there was none, `before`."""
    counters: Counters | None
    layers: Layers
    """What was inferred: the traffic of every phase, with how often it comes; empty if nothing was."""
    mads: int
    """Datagrams that reading counters took."""
    applied: Applied | None = None
    proposed: Routes | None = None
    """The whole of what was proposed, in a dry run too."""
    canary: Routes | None = None
    """The part of it that came first, or would have."""
    interrupted: bool = False
    """Whether Ctrl-C came while tables were changed, or before the gain was found."""

    def row(self) -> dict[str, Any]:
        """The round as results have it; own seconds are those from counters to loaded tables."""
        seconds = self.round.seconds
        return {
            **self.round.result(),
            "own_seconds": round(sum(seconds.get(step, 0.0) for step in _OWN_STEPS), 6),
            "opensm_seconds": round(seconds.get("opensm", 0.0), 6),
            "mads": self.mads,
            "journal_id": None if self.applied is None else self.applied.journal_id,
            "findings": self.findings,
        }


@dataclass
class Found:
    """What a round has found so far."""

    findings: list[Finding] = field(default_factory=list)
    counters: Counters | None = None
    answer: Inferred | None = None
    evidence: Evidence | None = None
    load_before: float = 0.0
    gap_before: float | None = None
    gap_after: float | None = None
    bound_class: str | None = None
    prediction: Prediction | None = None
    cost: float | None = None
    asked: float | None = None
    realised: float | None = None
    changed: int = 0
    proposed: Routes | None = None
    canary: Routes | None = None
    outcome: Outcome = "kept"
    reason: str = ""
    applied: Applied | None = None
    """The last change of tables that was made or tried."""
    changes: list[int] = field(default_factory=list)
    """Those in force, by their numbers in the journal, in order."""
    part: Canary | None = None
    """What the canary is to gain, until it has shown it."""
    touched: bool = False
    """Whether tables were changed, or were about to be."""
    interrupted: bool = False


def kind_of(error: Exception) -> str:
    """A word for what went wrong, from the kind of error."""
    if isinstance(error, LiveError):
        return "live"
    if isinstance(error, OSError):
        return "os"
    return type(error).__name__.removesuffix("Error").lower()
