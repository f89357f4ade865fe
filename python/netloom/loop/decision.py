"""Whether routes are changed: only if that surely pays, and not to and fro.

A change is applied if its *sure* gain (the least over what the traffic may be, see `prediction`) is at least
its *cost* and a *margin*. The margin doubles with every change of the last rounds, so that what alternates
comes to rest: an algorithm that follows every measurement oscillates (De Sensi et al., SC19, sec. 5). Tables
that were found to be worse are not tried again while that is remembered. [Methods](docs/methods/loop.md) has
the rule's mathematics.

Invariants: routes that are predicted to be worse are never chosen; routes that are found to be worse do not
stay. Decisions are a function of the arguments: no clock, no chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from netloom.loop.prediction import Prediction
from netloom.loop.round import Round


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a change must gain.

    Attributes
    ----------
    margin_percent : float
        Beyond its cost.
    interval_seconds : float
        How long a change has to pay: about the time from round to round.
    mixed_seconds : float
        How long tables are partly old and partly new: packets can overtake each other meanwhile. A reroute of
        OpenSM takes 0.4 to 0.8 s on 132 switches.
    entry_seconds : float
        What every changed entry adds to that.
    memory_rounds : int
        So many rounds back changes count against another one, and what was found worse is known.
    noise_percent : float
        A realised gain is known no better than this.
    share : float
        Of the sure gain, what must be found at least.
    """

    margin_percent: float = 2.0
    interval_seconds: float = 60.0
    mixed_seconds: float = 0.6
    entry_seconds: float = 1e-5
    memory_rounds: int = 6
    noise_percent: float = 0.5
    share: float = 0.1

    def cost_percent(self, changed_entries: int, moved: float) -> float:
        """What a change costs: all that changes its way stands still while tables are a mix.

        Parameters
        ----------
        changed_entries : int
            How many entries differ.
        moved : float
            The share of the bytes that change their way, 0 to 1.
        """
        window = self.mixed_seconds + changed_entries * self.entry_seconds
        return 100.0 * min(1.0, moved) * min(1.0, window / self.interval_seconds)

    def asked_percent(self, flips: int) -> float:
        """The margin after so many recent changes; at most 100, which nothing gains."""
        return min(100.0, self.margin_percent * 2.0 ** min(flips, 30))


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Other routes, and what is known of them.

    Attributes
    ----------
    prediction : Prediction
        What they gain.
    changed_entries : int
        Entries that differ from those in force.
    moved : float
        The share of the bytes that change their way; 1 if nobody knows.
    tables : str
        Their sum (`round.digest`).
    unsound : str, optional
        Why they must not be loaded, by `check`.
    """

    prediction: Prediction
    changed_entries: int
    moved: float = 1.0
    tables: str = ""
    unsound: str | None = None


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What to do, with the reason in words."""

    action: Literal["apply", "keep"]
    reason: str
    cost_percent: float
    asked_percent: float

    @property
    def applies(self) -> bool:
        """Whether the proposed routes are to be loaded."""
        return self.action == "apply"


def decide(proposal: Proposal, history: Sequence[Round], rule: Rule | None = None) -> Decision:
    """Whether proposed routes are worth a change.

    Parameters
    ----------
    proposal : Proposal
        The other routes.
    history : sequence of Round
        The rounds before this one, oldest first.
    rule : Rule, optional
        What a change must gain.
    """
    rule = rule or Rule()
    recent = history[-rule.memory_rounds :] if rule.memory_rounds > 0 else []
    flips = sum(one.changed for one in recent)
    cost = rule.cost_percent(proposal.changed_entries, proposal.moved)
    margin = rule.asked_percent(flips)
    found = proposal.prediction

    def keep(reason: str) -> Decision:
        return Decision(action="keep", reason=reason, cost_percent=cost, asked_percent=cost + margin)

    if proposal.unsound is not None:
        return keep(f"the proposed routes are unsound: {proposal.unsound}")
    if proposal.changed_entries == 0:
        return keep("no better routes were found: they are those in force")
    worse = next((one for one in reversed(recent) if _found_worse(one, proposal.tables)), None)
    if worse is not None:
        return keep(f"these routes were tried in round {worse.number} and taken back")
    if found.sure_gain <= 0:
        return keep(f"{_surely(found)}: not surely better")
    sure = found.least
    if found.others and found.mean_gain < cost + margin and found.sure_gain >= cost + margin:
        return keep(
            f"gains {found.gain:.1f} % now, but {found.mean_gain:.1f} % over the traffic of the last rounds: "
            f"less than {_asked(cost, margin, flips)}"
        )
    if sure < cost + margin:
        return keep(f"{_surely(found)}: less than {_asked(cost, margin, flips)}")
    return Decision(
        action="apply",
        reason=f"{_surely(found)}: more than {_asked(cost, margin, flips)}",
        cost_percent=cost,
        asked_percent=cost + margin,
    )


def contradicted(sure_gain: float, realised_gain: float, rule: Rule | None = None) -> str | None:
    """Why applied routes must be taken back; None if what was found agrees with what was predicted.

    Parameters
    ----------
    sure_gain : float
        What they were to gain at least, percent.
    realised_gain : float
        What they were found to gain, of the same traffic.
    rule : Rule, optional
        How well a realised gain is known.
    """
    rule = rule or Rule()
    if realised_gain < -rule.noise_percent:
        return f"found {-realised_gain:.1f} % worse, where a gain of {sure_gain:.1f} % was predicted"
    least = rule.share * sure_gain
    if sure_gain >= rule.margin_percent and realised_gain < max(least, rule.noise_percent):
        return f"found a gain of {realised_gain:.1f} %, where {sure_gain:.1f} % was predicted"
    return None


def _found_worse(one: Round, tables: str) -> bool:
    return one.decision == "rolled back" and one.proposed != "" and one.proposed == tables


def _surely(found: Prediction) -> str:
    if abs(found.gain - found.least) < 0.05:
        return f"gains {found.gain:.1f} %"
    whose = "with the doubt" if found.sure_gain <= found.mean_gain else "over the traffic of the last rounds"
    return f"gains {found.gain:.1f} %, at least {found.least:.1f} % {whose}"


def _asked(cost: float, margin: float, flips: int) -> str:
    times = "" if flips == 0 else f" after {flips} recent change{'' if flips == 1 else 's'}"
    return f"its cost of {cost:.2f} % and a margin of {margin:g} %{times}"
