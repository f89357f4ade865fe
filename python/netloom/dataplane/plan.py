"""What every port of a fabric needs to sample paths in real packets: layout `ds`.

A port's mask is that of the link that leaves it, of the number by which `netloom sample decode` knows the
link, so one decoder serves the simulator and real packets. Hosts have a sender and a receiver on their
port, switches a program on each port that a packet may leave by. Links on no shortest up*/down* way have no
number: their ports are not listed, and packets that take them are decoded wrongly.

Source: Taffet, dissertation, sec. 2.6.1 (masks of ports), 2.5.1 (candidates).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import SimulationError

if TYPE_CHECKING:
    from netloom._core import Fabric

MOST_HOPS = 15
"""The largest hop count of layout `ds`."""
ID_BITS = 16
"""Bits of IPv4's identification."""
_NO_NUMBER = 2**32 - 1


@dataclass(frozen=True)
class Port:
    """A port that packets leave by."""

    node: str
    port: int
    link: int
    """The link's number in the fabric, as results have it."""
    number: int
    """The link's number in the hash."""
    mask: int
    """The hash bit of a packet is the parity of its id and this."""
    role: str
    """`host` or `switch`."""
    queue_bytes: int | None
    """A queue of so many bytes is congested; None: never."""


def ports(fabric: Fabric, *, queue_bytes: int | None = None) -> tuple[list[Port], int, int]:
    """The ports of a fabric that take part, by node and port.

    Parameters
    ----------
    fabric : Fabric
        Which one.
    queue_bytes : int, optional
        From how many bytes on a switch's queue is congested. Hosts have no congestion to report, as in the
        paper. [default: never]

    Returns
    -------
    ports : list of Port
        In the order of links.
    rank : int
        Bits of link numbers, all of which ids of 16 bits tell apart.
    most_hops : int
        Links of the longest way.

    Raises
    ------
    SimulationError
        If ids of 16 bits cannot tell the links apart, or a way has more hops than the layout holds.

    Examples
    --------
    >>> from netloom import Fabric
    >>> found, rank, most_hops = ports(Fabric.generate("two-level:leaves=2,hosts=2,spines=1"))
    >>> len(found), rank, most_hops
    (12, 5, 4)
    """
    from netloom import _core

    numbers, masks, rank, most_hops = _core.sampling_ports(fabric)
    if most_hops > MOST_HOPS:
        raise SimulationError(
            f"layout ds: expected ways of at most {MOST_HOPS} links, found one of {most_hops}"
        )
    table = fabric.link_table()
    names = [*fabric.host_names, *fabric.switch_names]
    found = []
    for link in np.flatnonzero((numbers != _NO_NUMBER) & table["alive"]):
        node = int(table["source"][link])
        is_host = node < fabric.hosts
        found.append(
            Port(
                names[node],
                int(table["source_port"][link]),
                int(link),
                int(numbers[link]),
                int(masks[link]),
                "host" if is_host else "switch",
                None if is_host else queue_bytes,
            )
        )
    return found, rank, most_hops
