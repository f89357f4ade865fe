"""Counters alone as the rules want them: one window, one job that is everybody.

The share of time in which a link had something to send and no room for it stands for the share of packets
that found no credits. Whose packets they are is not known, nor where they go, unless a traffic matrix says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.diagnose.observed import Context, Links, Observed, Received

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Traffic

    Floats = npt.NDArray[np.float64]

EVERYBODY = "everybody"


def observed_of(
    fabric: Fabric,
    seconds: float,
    sent: Floats,
    waited: Floats | None,
    traffic: Traffic | None = None,
    *,
    packet_bytes: float = 4096.0,
) -> Observed:
    """Returns what the rules look at.

    Parameters
    ----------
    fabric : Fabric
        Whose links these are.
    seconds : float
        How long was counted.
    sent : array of float
        Bytes by link; zero where no counter was read.
    waited : array of float, optional
        Seconds by link in which it had something to send and no room for it.
    traffic : Traffic, optional
        Who sent what to whom: measured, or inferred.
    packet_bytes : float
        Packets are told in these; only shares of them count.
    """
    links = Links.of(fabric)
    share = np.zeros(len(links)) if waited is None else np.clip(waited / seconds, 0.0, 1.0)
    packets = (sent / packet_bytes)[None, None, :]
    none = np.zeros(0, dtype=np.int64)
    received = Received(none, none, none, none, np.zeros(0))
    if traffic is not None:
        matrix = traffic.to_scipy().tocoo()
        zeros = np.zeros(len(matrix.data), dtype=np.int64)
        sources, destinations = (np.asarray(side, dtype=np.int64) for side in (matrix.row, matrix.col))
        received = Received(zeros, zeros, sources, destinations, np.asarray(matrix.data, dtype=np.float64))
    return Observed(
        fabric,
        links,
        np.array([seconds]),
        [EVERYBODY],
        [np.arange(fabric.hosts)],
        [Context(0, "all")],
        packets,
        np.zeros_like(packets),
        packets * share,
        np.zeros_like(packets),
        np.array([packet_bytes]),
        sent[None, :],
        received,
        waiting_known=waited is not None,
    )
