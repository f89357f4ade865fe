"""One round of the loop, as the journal, the summary and results have it.

Gains are percent of what was there before: 20 is 20 % less of the worst load, or of the time. Gaps are AR
gaps in percent, as `netloom loads` has them. What is not known is None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from netloom._core import Routes

Outcome = Literal["applied", "kept", "rolled back", "proposed"]
"""What became of a round: other routes are in force, the same ones, the same ones again, or (a dry run) still
the same ones, where others would have been loaded."""

STEPS = (
    *("simulate", "discover", "counters", "infer", "optimize", "check", "predict", "apply", "verify"),
    *("opensm", "find", "bound"),
)
"""Names of steps, in order; a round has those that it took. The last three are a live one's."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """What a round has seen, predicted, done and found.

    Attributes
    ----------
    number : int
        From 1.
    phase : str
        What ran, by its name; where nobody says, empty.
    jobs : str
        Who ran where, as a short sum: equal sums are equal jobs on equal hosts.
    seconds : mapping
        Wall-clock seconds by step (`STEPS`).
    verdict : str, optional
        Of `infer`: identified, partly, not identifiable.
    estimated_error_percent : float, optional
        How far sums over (source leaf, destination) are believed to be off.
    gap_before_percent, gap_after_percent : float, optional
        AR gap of the routes in force at the round's beginning and end.
    bound_class : str, optional
        What the bound of these gaps is a bound of.
    predicted_gain, sure_gain : float, optional
        What the change was to gain: by the answer, and at least, with the answer's doubt.
    cost_percent, asked_percent : float, optional
        What the change costs, and what it had to gain surely.
    realised_gain : float, optional
        What it was found to gain, after it was applied.
    time_before_ms, time_after_ms : float, optional
        How long the jobs that end took under the routes at the round's beginning and end, in the simulator.
    true_error_percent : float, optional
        How far sums over (source leaf, destination) were off, where the truth is known.
    inferred_phases : int
        How many phases the traffic was seen to have.
    changed_entries : int
        Entries in which the proposed routes differ from those in force.
    decision : str
        `applied`, `kept`, `rolled back`, or (a dry run) `proposed`.
    reason : str
        Why, in words.
    routes, proposed : str
        Sums of the routes in force at the end, and of those proposed; empty where nobody took them.
    """

    number: int
    phase: str = ""
    jobs: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    verdict: str | None = None
    estimated_error_percent: float | None = None
    gap_before_percent: float | None = None
    gap_after_percent: float | None = None
    bound_class: str | None = None
    predicted_gain: float | None = None
    sure_gain: float | None = None
    cost_percent: float | None = None
    asked_percent: float | None = None
    realised_gain: float | None = None
    time_before_ms: float | None = None
    time_after_ms: float | None = None
    true_error_percent: float | None = None
    inferred_phases: int = 0
    changed_entries: int = 0
    decision: Outcome = "kept"
    reason: str = ""
    routes: str = ""
    proposed: str = ""

    @property
    def changed(self) -> bool:
        """Whether tables were changed in it, for good or for a moment."""
        return self.decision in ("applied", "rolled back")

    def result(self) -> dict[str, Any]:
        """The entry of a result's `rounds`."""
        entry = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**entry, "seconds": {step: round(value, 6) for step, value in self.seconds.items()}}


class Stoppable(Protocol):
    """What is computed as far as Ctrl-C lets it."""

    @property
    def stopped(self) -> str | None:
        """Why it ended early."""


Found = TypeVar("Found", bound=Stoppable)


def whole(found: Found) -> Found:
    """What was computed; what Ctrl-C broke off is no part of a round.

    Raises
    ------
    KeyboardInterrupt
        If it was.
    """
    if found.stopped == "interrupted":
        raise KeyboardInterrupt
    return found


def digest(routes: Routes) -> str:
    """A short sum by which the tables of routes are known again."""
    return hashlib.sha256(routes.table().tobytes()).hexdigest()[:16]
