"""Levels of a network as a chain of servers: what a packet visits, what the levels bear, how to divide money.

The model is that of Chen, Denzel and Luijten, *Optimization of Link Bandwidth for Parallel Communication
Performance*, section III. A level is all its links together; a packet that uses a level goes on to another
one with a known probability. Nothing here knows routes or bursts: what comes out is at best.

    >>> from netloom import levels
    >>> v = levels.tree_visits([1.0, 0.4047, 0.1])
    >>> [round(float(x), 4) for x in v]
    [2.0, 0.8094, 0.2]
    >>> float(levels.throughput(v, bandwidth=[2.0, 0.4, 0.4], offered=1.0))  # level 2 is short
    0.4941932...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = Sequence[float] | NDArray[np.float64]

__all__ = [
    "best_bandwidth",
    "least_delay_bandwidth",
    "link_delay",
    "throughput",
    "tree_chain",
    "tree_visits",
    "visits",
]


def visits(first: Numbers, onward: Sequence[Numbers] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns how many links of every level a packet crosses: v = (I - P^T)^-1 p_0 (section III).

    Parameters
    ----------
    first : sequence of float
        Probability that a packet's first link is of a level; sums to 1.
    onward : sequence of sequences of float
        `onward[i][j]` is the probability that after level i a packet uses level j. The rest of a row leaves
        the network. A packet that turns at level i of a tree uses it twice in a row: the diagonal counts.

    Returns
    -------
    numpy.ndarray
        Links of every level, on the mean.

    Raises
    ------
    ValueError
        If something is no probability, or packets never leave.

    Examples
    --------
    >>> visits([1.0, 0.0], [[0.5, 0.25], [0.5, 0.5]]).round(6).tolist()
    [4.0, 2.0]
    """
    start = _row("first", first)
    matrix = np.asarray(onward, dtype=float)
    if matrix.shape != (len(start), len(start)):
        raise ValueError(f"onward: expected {len(start)} rows of {len(start)} numbers, found {matrix.shape}")
    rows = matrix.sum(axis=1)
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and (rows <= 1 + 1e-9).all()):
        raise ValueError("onward: expected probabilities whose rows sum to at most 1")
    if not np.isclose(start.sum(), 1.0):
        raise ValueError(f"first: expected probabilities that sum to 1, found a sum of {start.sum():g}")
    try:
        found = np.linalg.solve(np.eye(len(start)) - matrix.T, start)
    except np.linalg.LinAlgError:
        found = np.full(len(start), np.inf)
    if not np.isfinite(found).all() or (found < -1e-9).any():
        raise ValueError("onward: expected that every packet leaves the network at last")
    return found


def tree_chain(beyond: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns `first` and `onward` of a fat tree for [`visits`][netloom.levels.visits].

    Parameters
    ----------
    beyond : sequence of float
        P(H >= i): the share of packets that turn at level i or above, levels from 1; the first is 1, none is
        above the one before.

    Returns
    -------
    (numpy.ndarray, numpy.ndarray)
        `first`, by level, and `onward`, level by level: probabilities.

    Raises
    ------
    ValueError
        If the shares are no such sequence.

    Examples
    --------
    >>> first, onward = tree_chain([1.0, 0.25])
    >>> onward.tolist()
    [[0.375, 0.125], [0.5, 0.5]]
    """
    share = _row("beyond", beyond)
    if share[0] != 1.0 or (np.diff(share) > 0).any():
        raise ValueError("beyond: expected shares that begin with 1 and never rise")
    levels = int((share > 0).sum())
    onward = np.zeros((len(share), len(share)))
    for i in range(levels):
        above = share[i + 1] if i + 1 < levels else 0.0
        # Half of a level's links are crossed upwards; from them a packet goes further up or turns.
        onward[i, i] = (share[i] - above) / (2 * share[i])
        if i + 1 < levels:
            onward[i, i + 1] = above / (2 * share[i])
        if i > 0:
            onward[i, i - 1] = 0.5
    return np.eye(len(share))[0], onward


def tree_visits(beyond: Numbers) -> NDArray[np.float64]:
    """Returns how many links of every level of a fat tree a packet crosses: 2 P(H >= i).

    Parameters
    ----------
    beyond : sequence of float
        P(H >= i), as in [`tree_chain`][netloom.levels.tree_chain].

    Returns
    -------
    numpy.ndarray
        Links of every level, on the mean.

    Raises
    ------
    ValueError
        If the shares are no such sequence.

    Examples
    --------
    >>> tree_visits([1.0, 0.25]).tolist()
    [2.0, 0.5]
    """
    tree_chain(beyond)
    return 2.0 * _row("beyond", beyond)


def throughput(visits: Numbers, *, bandwidth: Numbers, offered: float) -> float:
    """Returns the rate that goes in: min(offered, min_i mu_i / v_i) (theorem 3.2).

    The paper prints the least of the rates that must be held back where it has to be the largest.

    Parameters
    ----------
    visits : sequence of float
        Links of every level that a packet crosses.
    bandwidth : sequence of float
        Of all links of a level together, packets a second (or any unit, the same as `offered`).
    offered : float
        Rate at which packets come.

    Returns
    -------
    float
        In the unit of `bandwidth` and `offered`.

    Raises
    ------
    ValueError
        If lengths differ or something is negative.

    Examples
    --------
    >>> throughput([2.0, 0.5], bandwidth=[2.0, 0.25], offered=1.0)
    0.5
    """
    v, mu = _same("visits", visits, "bandwidth", bandwidth)
    if not offered >= 0:
        raise ValueError(f"offered: expected a rate of at least 0, found {offered:g}")
    used = v > 0
    return float(min([offered, *(mu[used] / v[used])]))


def best_bandwidth(
    visits: Numbers, *, budget: float, prices: Numbers | None = None
) -> tuple[float, NDArray[np.float64]]:
    """Returns the largest rate for a budget, and the bandwidth of every level (theorem 3.3, with prices).

    mu_i = v_i B / sum_j c_j v_j: all levels are equally used.

    Parameters
    ----------
    visits : sequence of float
        Links of every level that a packet crosses.
    budget : float
        What all bandwidth may cost, above 0.
    prices : sequence of float, optional
        Of a unit of bandwidth of every level, above 0; 1 each by default.

    Returns
    -------
    (float, numpy.ndarray)
        The rate, and the bandwidth of every level, in one unit: that of `budget` over `prices`.

    Raises
    ------
    ValueError
        If lengths differ, something is negative, or nothing is visited.

    Examples
    --------
    >>> rate, mu = best_bandwidth([2.0, 0.5], budget=5.0)
    >>> rate, mu.tolist()
    (2.0, [4.0, 1.0])
    """
    v, cost = _same("visits", visits, "prices", np.ones(len(visits)) if prices is None else prices)
    paid = float(cost @ v)
    if not (paid > 0 and budget > 0):
        raise ValueError("best_bandwidth: expected visits, prices and a budget above 0")
    rate = budget / paid
    return rate, rate * v


def least_delay_bandwidth(
    load: Numbers, *, budget: float, prices: Numbers | None = None
) -> NDArray[np.float64]:
    """Returns the bandwidth of every level that makes the mean delay least: Kleinrock's square-root rule.

    Minimises sum lambda_i / (mu_i - lambda_i) for sum c_i mu_i = B. It is not the division of
    [`best_bandwidth`][netloom.levels.best_bandwidth], which makes all levels equally full.

    Parameters
    ----------
    load : sequence of float
        lambda_i, what every level carries, in the unit of bandwidth.
    budget : float
        What all bandwidth may cost; more than the loads themselves cost.
    prices : sequence of float, optional
        Of a unit of bandwidth of every level, above 0; 1 each by default.

    Returns
    -------
    numpy.ndarray
        The bandwidth of every level, in the unit of `load`.

    Raises
    ------
    ValueError
        If lengths differ, something is negative, or the budget does not pay for the loads.

    Examples
    --------
    >>> least_delay_bandwidth([4.0, 1.0], budget=8.0).tolist()
    [6.0, 2.0]
    """
    carried, cost = _same("load", load, "prices", np.ones(len(load)) if prices is None else prices)
    spare = budget - float(cost @ carried)
    if not spare > 0:
        raise ValueError(f"budget: expected more than {float(cost @ carried):g}, what the loads cost")
    if not (cost > 0).all():
        raise ValueError("prices: expected numbers above 0")
    roots = np.sqrt(cost * carried)
    if not roots.any():
        raise ValueError("load: expected at least one level that carries something")
    return np.asarray(carried + spare * np.sqrt(carried / cost) / roots.sum())


def link_delay(utilisation: float, *, packet_bytes: float, gbps: float) -> float:
    """Returns the mean time of a packet in a link's queue and on the link, in seconds (M/D/1).

    Packets have one size and come at random; S (1 + rho / (2 (1 - rho))) with S the time of one packet. The
    delays of switches and cables come on top. The paper's delay takes a level for one fast M/M/1 server, and
    is low by the number of its links.

    Parameters
    ----------
    utilisation : float
        rho, 0 up to 1.
    packet_bytes : float
        Size of a packet on the wire, above 0.
    gbps : float
        Speed of the link, Gb/s, above 0.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        If the link is full, or a size or speed is not above 0.

    Examples
    --------
    >>> round(link_delay(0.5, packet_bytes=2048, gbps=40.0) * 1e9, 1)
    614.4
    """
    if not 0 <= utilisation < 1:
        raise ValueError(f"utilisation: expected 0 up to less than 1, found {utilisation:g}")
    if not (packet_bytes > 0 and gbps > 0):
        raise ValueError("packet_bytes, gbps: expected numbers above 0")
    return packet_bytes * 8e-9 / gbps * (1 + utilisation / (2 * (1 - utilisation)))


def _row(name: str, values: Numbers) -> NDArray[np.float64]:
    row = np.asarray(values, dtype=float)
    if row.ndim != 1 or len(row) == 0 or not np.isfinite(row).all() or (row < 0).any():
        raise ValueError(f"{name}: expected a row of numbers of at least 0")
    return row


def _same(
    name: str, values: Numbers, other: str, others: Numbers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, two = _row(name, values), _row(other, others)
    if len(one) != len(two):
        raise ValueError(f"{other}: expected {len(one)} numbers, one for each of {name}, found {len(two)}")
    return one, two
