"""A fabric some of whose cables run at another width and speed, as a dump."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from netloom.nodes import Nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom._core import Fabric

_RECORD = re.compile(r'(?:Switch|Ca)\t.*?"[SH]-([0-9a-f]+)"')
_PORT = re.compile(r"\[([0-9]+)\]")


def retrained(fabric: Fabric, rates: Mapping[int, str | float]) -> bytes:
    """The fabric as `ibnetdiscover` prints it, some cables at another rate.

    Parameters
    ----------
    fabric : Fabric
        As it runs.
    rates : mapping of int to str or float
        By link, of either direction: a width and speed (`4xEDR`), or bytes per second at which another cable
        of the fabric runs.

    Examples
    --------
    >>> import netloom as nl
    >>> pair = nl.Fabric.generate("two-level:leaves=2,hosts=1,spines=1")
    >>> slow = nl.Fabric.parse(retrained(pair, {0: "1xEDR"}))
    >>> float(slow.link_table()["bandwidth_bytes_per_s"].min())
    3125000000.0
    """
    nodes, table = Nodes(fabric), fabric.link_table()
    speeds = np.asarray(table["bandwidth_bytes_per_s"], dtype=np.float64)

    def ends(link: int) -> list[tuple[str, int]]:
        sides = [(int(table[side][link]), int(table[f"{side}_port"][link])) for side in ("source", "target")]
        return [(f"{nodes.guids[node]:016x}", port) for node, port in sides]

    lines = fabric.to_bytes("ibnetdiscover").decode().split("\n")
    line_of: dict[tuple[str, int], int] = {}
    guid = ""
    for number, line in enumerate(lines):
        if record := _RECORD.match(line):
            guid = record[1]
        elif port := _PORT.match(line):
            line_of[guid, int(port[1])] = number
    for link, rate in rates.items():
        if isinstance(rate, float):
            like = int(np.argmin(np.abs(speeds - rate)))
            rate = lines[line_of[ends(like)[0]]].rsplit(" ", 1)[1]
        for end in ends(link):
            lines[line_of[end]] = f"{lines[line_of[end]].rsplit(' ', 1)[0]} {rate}"
    return "\n".join(lines).encode()
