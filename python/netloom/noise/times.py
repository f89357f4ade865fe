"""How times of messages vary, and how well the transmission model tells them.

Sources: quartile coefficient of dispersion as in T. Hoefler, R. Belli, *Scientific benchmarking of parallel
computing systems*, SC 2015, sec. 3.1. Messages of one run share queues, so nothing here is an interval:
those are over runs (`netloom.noise.seeds`).

Invariant: times and differences are whole picoseconds until they are told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Whole = npt.NDArray[np.int64]


def summary(times_ps: Whole) -> dict[str, Any] | None:
    """How times vary.

    Parameters
    ----------
    times_ps : array of int
        Times, ps.

    Returns
    -------
    dict, or None
        In microseconds `q1_us`, `median_us` and `q3_us` (linear between values), `mean_us`, `p99_us` (the
        least value that 99 % do not exceed), `min_us`, `max_us`; and `qcd`, (q3 - q1) / (q3 + q1). `ci95_us`
        is None: values that share queues have no interval. None of no times.
    """
    count = times_ps.size
    if not count:
        return None
    places = [share * (count - 1) for share in (0.25, 0.5, 0.75)]
    last = math.ceil(0.99 * count) - 1
    needed = {last, *(rank for place in places for rank in (math.floor(place), math.ceil(place)))}
    # Only these ranks are put in order: of millions of times that is done before anybody loses patience.
    ordered = np.partition(times_ps, sorted(needed))
    q1, median, q3 = (_between(ordered, place) for place in places)
    return {
        "median_us": us(median),
        "q1_us": us(q1),
        "q3_us": us(q3),
        "qcd": (q3 - q1) / (q3 + q1) if q3 + q1 > 0 else 0.0,
        "ci95_us": None,
        "mean_us": us(times_ps.mean()),
        "p99_us": us(ordered[last]),
        "min_us": us(times_ps.min()),
        "max_us": us(times_ps.max()),
    }


def impact(beside: Mapping[str, Any] | None, alone: Mapping[str, Any] | None) -> dict[str, float] | None:
    """Times beside others over times alone: the impact factors of GPCNeT.

    S. Chunduri et al., *GPCNeT: designing a benchmark suite for inducing and measuring contention in HPC
    networks*, SC 2019.

    Parameters
    ----------
    beside, alone : mapping or None
        What `summary` tells of the same messages.

    Returns
    -------
    dict, or None
        Of the `mean`, and of the time that 99 % do not exceed (`p99`). None without messages that take time.
    """
    if beside is None or alone is None or not alone["mean_us"] or not alone["p99_us"]:
        return None
    return {name: beside[f"{name}_us"] / alone[f"{name}_us"] for name in ("mean", "p99")}


def _between(ordered: Whole, place: float) -> float:
    """The value at a place between two ranks, linear between them."""
    low, high = float(ordered[math.floor(place)]), float(ordered[math.ceil(place)])
    return low + (high - low) * (place - math.floor(place))


def differences(difference_ps: Whole) -> dict[str, Any]:
    """What messages took longer in one run than in the other.

    Parameters
    ----------
    difference_ps : array of int
        By message.

    Returns
    -------
    dict
        How many `messages` there are and how many differ (`changed`), their exact sum (`sum_ps`), and
        `median_us`, `mean_us`, `p99_us`, `min_us`, `max_us`, null of no messages.
    """
    told = summary(difference_ps) or {}
    names = ("median_us", "mean_us", "p99_us", "min_us", "max_us")
    return {
        "messages": int(difference_ps.size),
        "changed": int(np.count_nonzero(difference_ps)),
        "sum_ps": int(difference_ps.sum()),
    } | {name: told.get(name) for name in names}


@dataclass(frozen=True)
class Sent:
    """Times of messages on the network beside the transmission model, which has flits, stalls and latencies.

    Attributes
    ----------
    network_ps : array of int
        From when a message's first packet was ready to leave until its last byte came; 0 of one whose last
        response the run did not see.
    eq2_ps, window_ps : array of float
        By eq. 2 of D. De Sensi et al., SC 2019, and with a window that slides.
    latency_cycles : array of float
        From its packets to their responses, in the mean of the message's packets.
    """

    network_ps: Whole
    eq2_ps: npt.NDArray[np.float64]
    window_ps: npt.NDArray[np.float64]
    latency_cycles: npt.NDArray[np.float64]

    @classmethod
    def of(cls, recorded: Mapping[str, Any], rows: npt.NDArray[np.intp]) -> Sent | None:
        """Those of some rows of what `Simulation.messages` gives; None where packets are not answered.

        Parameters
        ----------
        recorded : mapping
            The columns.
        rows : array of int
            Which rows.
        """
        if "network_ps" not in recorded:
            return None
        return cls(
            network_ps=np.asarray(recorded["network_ps"][rows], dtype=np.int64),
            eq2_ps=np.asarray(recorded["eq2_ps"][rows]),
            window_ps=np.asarray(recorded["window_ps"][rows]),
            latency_cycles=np.asarray(recorded["latency_cycles"][rows], dtype=np.float64)
            / np.maximum(recorded["packets"][rows], 1),
        )


def estimate(sent: Sent | None, among: npt.NDArray[np.intp] | None = None) -> dict[str, Any] | None:
    """How well the transmission model tells the times of messages on the network.

    Parameters
    ----------
    sent : Sent or None
        The messages.
    among : array of int, optional
        Places of those that count. [default: all]

    Returns
    -------
    dict, or None
        How many `messages` were answered whole; medians, in microseconds, of their time (`network_us`) and of
        both estimates (`eq2_us`, `window_us`); the quartile coefficients of dispersion of their times
        (`network_qcd`) and of the mean latencies of their packets (`latency_qcd`; fig. 5 of the paper);
        medians of what the estimates are off, as a share of the time (`eq2_error`, `window_error`); and
        Pearson's correlation of each with the time (`eq2_correlation`, `window_correlation`), null below 3
        messages or where nothing varies. None without any.
    """
    if sent is None:
        return None
    whole = sent.network_ps > 0
    if among is not None:
        whole &= np.bincount(among, minlength=whole.size) > 0
    time = sent.network_ps[whole].astype(np.float64)
    if not time.size:
        return None
    told: dict[str, Any] = {
        "messages": int(time.size),
        "network_us": us(np.median(time)),
        "network_qcd": _qcd(time),
        "latency_qcd": _qcd(sent.latency_cycles[whole]),
    }
    for name, of in (("eq2", sent.eq2_ps[whole]), ("window", sent.window_ps[whole])):
        varies = time.size >= 3 and np.ptp(time) > 0 and np.ptp(of) > 0
        told[f"{name}_us"] = us(np.median(of))
        told[f"{name}_error"] = float(np.median(np.abs(of / time - 1)))
        told[f"{name}_correlation"] = float(np.corrcoef(of, time)[0, 1]) if varies else None
    return told


def _qcd(values: npt.NDArray[np.float64]) -> float:
    q1, q3 = (float(quartile) for quartile in np.quantile(values, (0.25, 0.75)))
    return (q3 - q1) / (q3 + q1) if q3 + q1 > 0 else 0.0


def us(ps: Any) -> float:
    """Picoseconds as microseconds."""
    return float(ps) / 1e6
