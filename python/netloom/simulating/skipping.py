"""What several simulations left out, where iterations that repeat are not simulated again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloom._core import Simulation


@dataclass
class Skipping:
    """Simulations that may skip, and what they skipped.

    Attributes
    ----------
    allowed : float
        The error that is allowed.
    ran : list of (int, mapping)
        Of each simulation its simulated time, ps, and what its result says of what was skipped.
    """

    allowed: float
    ran: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)

    def add(self, ended: Simulation) -> None:
        """One more has ended."""
        self.ran.append((ended.end_ps, ended.result()["skipped"]))


def told_of(parts: Sequence[Skipping | None]) -> dict[str, Any]:
    """The key `skipped` of a result; nothing where all was to be run in full.

    Parameters
    ----------
    parts : sequence of Skipping or None
        All of the result's simulations, in an order that depends on nothing else.

    Returns
    -------
    dict
        The error that was `allowed`, how many simulations there were (`runs`), how many of them left
        something out (`skipped`), which `share` of the simulated time of all that is, the largest `error`
        that was foreseen for one of them (None: all that was left out repeats exactly), and why the others
        left out nothing (`reasons`, most frequent first).

    Examples
    --------
    >>> ran = [(30, {"share": 0.5, "reason": None}), (10, {"share": 0.0, "reason": "packets are watched"})]
    >>> told = told_of([Skipping(0.0, ran)])["skipped"]
    >>> told["share"], told["reasons"]
    (0.375, [{'reason': 'packets are watched', 'runs': 1}])
    """
    ran = [one for some in parts if some is not None for one in some.ran]
    allowed = {some.allowed for some in parts if some is not None}
    if not allowed:
        return {}
    why = Counter(told["reason"] for _, told in ran if told["reason"] is not None)
    all_ps = sum(end_ps for end_ps, _ in ran)
    left_out_ps = sum(end_ps * float(told["share"]) for end_ps, told in ran)
    return {
        "skipped": {
            "allowed": max(allowed),
            "runs": len(ran),
            "skipped": sum(told["reason"] is None for _, told in ran),
            "share": left_out_ps / all_ps if all_ps else 0.0,
            "error": largest(told.get("error") for _, told in ran),
            "reasons": [
                {"reason": reason, "runs": runs}
                for reason, runs in sorted(why.items(), key=lambda item: (-item[1], item[0]))
            ],
        }
    }


def largest(errors: Iterable[float | None]) -> float | None:
    """The largest error that was foreseen; None where all that was left out repeats exactly."""
    return max((error for error in errors if error is not None), default=None)
