"""Estimates of every link from packets with one bit, as figure 2.13 has it: whatever the ways of packets are.

For each packet and each link: plus the hops if the link's hash of the packet is its bit, minus the hops if
not. A link that the packet crossed agrees by one more of its hops than it differs, on average; any other
agrees as often as not. So sums need no ways, unlike `netloom sample decode`, whose errors are smaller as it
knows them.

Source: Taffet, dissertation, sec. 2.6.1 (figure 2.13), 2.5.3 (errors).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Table = Mapping[str, npt.NDArray[np.generic]]
"""Columns `id`, `hops`, `bit`, `congested`, `time_ps`."""


@dataclass(frozen=True)
class Estimate:
    """Of one link: packets, and those that found it congested; each with its standard error."""

    traffic: float
    traffic_error: float
    congested: float
    congested_error: float

    @property
    def fraction(self) -> float:
        """The share that found it congested."""
        return self.congested / self.traffic if self.traffic else float("nan")


def signs(table: Table, mask: int) -> npt.NDArray[np.int64]:
    """What each packet says of the link with this mask: plus or minus its hops."""
    agrees = _parity(np.asarray(table["id"], np.uint32) & np.uint32(mask)) == table["bit"]
    hops = np.asarray(table["hops"], np.int64)
    return np.where(agrees, hops, -hops)


def of_link(table: Table, mask: int, which: npt.NDArray[np.bool_] | None = None) -> Estimate:
    """The estimate of one link.

    Parameters
    ----------
    table : mapping of arrays
        Packets, a row each.
    mask : int
        Of the link's port.
    which : array of bool, optional
        Which packets. [default: all]

    Returns
    -------
    Estimate
        In packets.

    Examples
    --------
    >>> import numpy as np
    >>> table = {"id": np.array([1, 1]), "hops": np.array([2, 2]), "bit": np.array([1, 0])}
    >>> table["congested"] = np.array([1, 0])
    >>> of_link(table, 0xFFFF).congested
    2.0
    """
    sign = signs(table, mask)
    congested = np.asarray(table["congested"], bool)
    kept = np.ones(len(sign), bool) if which is None else which
    return Estimate(*_sum(sign[kept]), *_sum(sign[kept & congested]))


def over_time(
    table: Table, masks: Sequence[int], times_ps: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Estimates of links as they were at moments: of all packets until then.

    Returns
    -------
    traffic, congested : array of shape (links, times)
        In packets.
    """
    until = np.searchsorted(np.asarray(table["time_ps"], np.int64), times_ps, side="right")
    congested = np.asarray(table["congested"], np.int64)
    traffic_of: list[npt.NDArray[np.int64]] = []
    congested_of: list[npt.NDArray[np.int64]] = []
    for mask in masks:
        sign = signs(table, mask)
        for found, values in ((traffic_of, sign), (congested_of, sign * congested)):
            found.append(np.concatenate([[0], np.cumsum(values)])[until])
    return np.array(traffic_of), np.array(congested_of)


def _sum(sign: npt.NDArray[np.int64]) -> tuple[float, float]:
    """A sum and its error: of n packets with h hops the variance is n (h^2 - 1) if all cross, else n h^2."""
    total, squares = float(sign.sum()), float((sign * sign).sum())
    return total, float(np.sqrt(max(squares - max(total, 0.0), 0.0)))


def _parity(bits: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    for shift in (16, 8, 4, 2, 1):
        bits = bits ^ (bits >> np.uint32(shift))
    return np.asarray(bits & np.uint32(1))
