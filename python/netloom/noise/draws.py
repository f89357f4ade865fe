"""What is told of a job over several seeds: figures with intervals, and which share of runs is slower."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from netloom.noise import exceeding, over_runs


def over_seeds(job: dict[str, Any], draws: Mapping[int, Mapping[str, Any]], seeds: int) -> None:
    """Adds `over_seeds` to a job, and to each of its sizes; None where one seed was asked for.

    Parameters
    ----------
    job : dict
        With the first seed.
    draws : mapping
        By seed, the same job in every run that is complete.
    seeds : int
        How many seeds were asked for.
    """
    first = min(draws, default=0)
    jobs = list(draws.values())

    def over(value: Callable[[Mapping[str, Any]], float | None]) -> dict[str, Any] | None:
        return over_runs([value(one) for one in jobs], first)

    slowdowns = [one["slowdown"] for one in jobs]
    # Of runs that did not end nobody knows how slow they would have been.
    whole = [value for value in slowdowns if value is not None] if None not in slowdowns else []
    job["over_seeds"] = None
    if seeds > 1:
        job["over_seeds"] = {
            "seeds": list(draws),
            "slowdowns": slowdowns,
            "slowdown": over(lambda one: one["slowdown"]),
            "difference_us": over(lambda one: _us(one["difference_ps"])),
            "median_us": over(lambda one: _in(_in(one["same"], "noise"), "median_us")),
            "alone_median_us": over(lambda one: _in(_in(one["same"], "alone"), "median_us")),
            "message_difference_us": over(lambda one: _in(one["differences"], "mean_us")),
            "exceeds": exceeding(whole),
        }
    for size in job["sizes"]:
        size["over_seeds"] = None
        if seeds > 1:
            same = [other for one in jobs for other in one["sizes"] if _is_same(size, other)]
            size["over_seeds"] = {
                "median_us": over_runs([_in(one["noise"], "median_us") for one in same], first),
                "alone_median_us": over_runs([_in(one["alone"], "median_us") for one in same], first),
                "difference_us": over_runs([one["differences"]["median_us"] for one in same], first),
                "impact_mean": over_runs([_in(one["impact"], "mean") for one in same], first),
                "impact_p99": over_runs([_in(one["impact"], "p99") for one in same], first),
            }


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two rows are of one size, or of one power of two where rows are of several sizes."""
    low, high = one["from_bytes"], one["to_bytes"]
    if low == high:
        return bool(other["from_bytes"] <= low <= other["to_bytes"])
    return int(low).bit_length() == int(other["from_bytes"]).bit_length()


def _in(told: Mapping[str, Any] | None, key: str) -> Any:
    return None if told is None else told[key]


def _us(ps: int | None) -> float | None:
    return None if ps is None else ps / 1e6
