"""A figure over runs with several seeds: its mean, where that lies, and how often it exceeds something.

A run is a draw: another seed places jobs elsewhere and makes other random choices, and what it shows is
independent of the others. Messages of one run are not: they wait in the same queues, so an interval from them
is too narrow (docs/methods/noise.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from netloom import intervals

STEPS = (1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Slowdowns of which is told how many runs exceed them."""


def over_runs(values: Sequence[float | None], seed: int) -> dict[str, Any] | None:
    """A figure over runs.

    Parameters
    ----------
    values : sequence of float or None
        One a run; None where a run has none.
    seed : int
        Of the interval's resamples.

    Returns
    -------
    dict, or None
        How many `runs` have it, its `mean`, the 95 % interval of that (`low`, `high`) or why there is none
        (`no_interval`, a key of `netloom.intervals.WHY`, or `missing`: not every run has it, as where slow
        ones did not end), `min` and `max`. None where no run has it.

    Examples
    --------
    >>> over_runs([2.0], 0)
    {'runs': 1, 'mean': 2.0, 'low': None, 'high': None, 'no_interval': 'few', 'min': 2.0, 'max': 2.0}
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high, reason = intervals.mean(known, [seed])
    told: str | None = reason
    if len(known) < len(values):
        # Those that lack it are no draw at random: the slowest do not end.
        low, high, told = None, None, "missing"
    return {
        "runs": len(known),
        "mean": sum(known) / len(known),
        "low": low,
        "high": high,
        "no_interval": told,
        "min": min(known),
        "max": max(known),
    }


def exceeding(values: Sequence[float]) -> list[dict[str, float]]:
    """Which share of runs exceeds each of `STEPS`: P(slowdown > x).

    Parameters
    ----------
    values : sequence of float
        One a run.

    Returns
    -------
    list of dict
        `above` and `share`, up to the first step that none exceeds.

    Examples
    --------
    >>> exceeding([1.0, 1.015])
    [{'above': 1.0, 'share': 0.5}, {'above': 1.01, 'share': 0.5}, {'above': 1.02, 'share': 0.0}]
    """
    found = []
    for step in STEPS if values else ():
        share = sum(value > step for value in values) / len(values)
        found.append({"above": step, "share": share})
        if share == 0.0:
            break
    return found
