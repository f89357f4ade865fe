"""Ports of switches that no cable uses: where a host or a cable could go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom._core import Fabric


@dataclass(frozen=True)
class SwitchPorts:
    """What a switch's ports are used for.

    Attributes
    ----------
    switch : int
        Its number, from 0.
    ports : int
        All of its ports.
    hosts, switches : int
        Those with a cable to a host, to a switch. A cable that is dead keeps its port.
    spare : list of int
        The rest, by number.
    """

    switch: int
    ports: int
    hosts: int
    switches: int
    spare: list[int]


def switch_ports(fabric: Fabric) -> list[SwitchPorts]:
    """What the ports of every switch are used for, in the order of switches.

    Parameters
    ----------
    fabric : Fabric
        As it is cabled. A generated switch has as many ports as it uses.

    Examples
    --------
    >>> import netloom as nl
    >>> tree = nl.Fabric.generate("two-level:leaves=2,hosts=3,spines=1")
    >>> [(one.ports, one.hosts, one.spare) for one in switch_ports(tree)]
    [(4, 3, []), (4, 3, []), (2, 0, [])]
    """
    table = fabric.link_table()
    switch = np.asarray(table["source"], np.int64) - fabric.hosts
    links = np.flatnonzero(switch >= 0)
    links = links[np.argsort(switch[links], kind="stable")]
    edges = np.searchsorted(switch[links], np.arange(fabric.switches + 1))
    port, to_host = np.asarray(table["source_port"], np.int64), np.asarray(table["target"]) < fabric.hosts
    found = []
    for number, radix in enumerate(fabric.switch_table()["radix"].tolist()):
        own = links[edges[number] : edges[number + 1]]
        spare = np.setdiff1d(np.arange(1, radix + 1), port[own], assume_unique=True)
        hosts = int(to_host[own].sum())
        found.append(SwitchPorts(number, int(radix), hosts, len(own) - hosts, spare.tolist()))
    return found


def ranges(numbers: list[int]) -> str:
    """`7-12, 19`: ascending numbers in words.

    Examples
    --------
    >>> ranges([7, 8, 9, 19])
    '7-9, 19'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
