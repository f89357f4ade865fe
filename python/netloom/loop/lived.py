"""What becomes of a live round: what it has found so far, and what it leaves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netloom.errors import LiveError
from netloom.findings import Finding
from netloom.loop.prediction import Prediction
from netloom.loop.round import Outcome, Round

if TYPE_CHECKING:
    from netloom._core import Counters, Inferred, Job, Routes, Traffic
    from netloom.apply import Applied, Seen


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
    traffic: Traffic | None
    """What was inferred."""
    mads: int
    """Datagrams that reading counters took."""
    applied: Applied | None = None
    interrupted: bool = False
    """Whether Ctrl-C came while tables were changed, or before the gain was found."""


@dataclass
class Found:
    """What a round has found so far."""

    findings: list[Finding] = field(default_factory=list)
    counters: Counters | None = None
    answer: Inferred | None = None
    traffic: Traffic | None = None
    load_before: float = 0.0
    gap_before: float | None = None
    gap_after: float | None = None
    bound_class: str | None = None
    prediction: Prediction | None = None
    cost: float | None = None
    asked: float | None = None
    realised: float | None = None
    changed: int = 0
    proposed: str = ""
    outcome: Outcome = "kept"
    reason: str = ""
    applied: Applied | None = None
    """The last change of tables that was made or tried."""
    changes: list[int] = field(default_factory=list)
    """Those in force, by their numbers in the journal, in order."""
    target: Routes | None = None
    """What is loaded once a canary has shown its gain."""
    part: Prediction | None = None
    """What the canary is to gain."""
    touched: bool = False
    """Whether tables were changed, or were about to be."""
    interrupted: bool = False


def jobs_sum(jobs: Sequence[Job]) -> str:
    told = hashlib.sha256()
    for job in jobs:
        told.update(job.name.encode() + b"\0" + job.host_of_rank.tobytes())
    return told.hexdigest()[:16] if jobs else ""


def kind_of(error: Exception) -> str:
    """A word for what went wrong, from the kind of error."""
    if isinstance(error, LiveError):
        return "live"
    if isinstance(error, OSError):
        return "os"
    return type(error).__name__.removesuffix("Error").lower()
