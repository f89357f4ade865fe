"""SimGrid's `platform.xml` of a fabric: hosts, switches as routers, cables as links that are duplex.

SimGrid finds shortest ways itself (`routing="Dijkstra"`), so that forwarding tables are not in it, and of the
parallel cables of two switches it sees one link of their bandwidth together. Hosts have one speed, which a
dump does not tell: the default is to be replaced.

Source: SimGrid documentation, *The XML platform reference* (DTD version 4.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric

HOST_SPEED = "1Gf"
"""Floating-point operations a second of every host: netloom knows none."""
LATENCY_S = 100e-9
"""Of a cable and the switch behind it."""


def platform_xml(fabric: Fabric, *, host_speed: str = HOST_SPEED, latency_s: float = LATENCY_S) -> bytes:
    """The fabric as `platform.xml`.

    Parameters
    ----------
    fabric : Fabric
        Whose cables are written; dead ones are left out.
    host_speed : str
        As SimGrid writes it.
    latency_s : float
        Seconds that every link adds.

    Examples
    --------
    >>> import netloom as nl
    >>> text = platform_xml(nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=1")).decode()
    >>> text.count("<host "), text.count("<router "), text.count("<link ")
    (2, 3, 4)
    """
    nodes, table = Nodes(fabric), fabric.link_table()
    names = nodes.labels
    ends = zip(
        *(table[key].tolist() for key in ("source", "target", "bandwidth_bytes_per_s", "alive")), strict=True
    )
    cables: dict[tuple[int, int], list[float]] = {}
    for source, target, speed, alive in ends:
        if alive and source < target:
            cables.setdefault((source, target), []).append(speed)
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        "<!-- Made by netloom. Shortest ways, not forwarding tables; host speeds are made up. -->",
        '<platform version="4.1">',
        '  <zone id="fabric" routing="Dijkstra">',
    ]
    lines += [
        f"    <host id={quoteattr(name)} speed={quoteattr(host_speed)}/>" for name in names[: nodes.hosts]
    ]
    lines += [f"    <router id={quoteattr(name)}/>" for name in names[nodes.hosts :]]
    ids = [quoteattr(f"{names[one]} - {names[other]}") for one, other in cables]
    for link, speeds in zip(ids, cables.values(), strict=True):
        lines.append(
            f'    <link id={link} bandwidth="{sum(speeds):.0f}Bps" latency="{latency_s * 1e9:g}ns" '
            'sharing_policy="SPLITDUPLEX"/>'
        )
    for link, (one, other) in zip(ids, cables, strict=True):
        lines += [
            f"    <route src={quoteattr(names[one])} dst={quoteattr(names[other])}>",
            f'      <link_ctn id={link} direction="UP"/>',
            "    </route>",
        ]
    return "\n".join([*lines, "  </zone>", "</platform>", ""]).encode()
