"""What switches hold, read a part at a time, beside what they should hold.

Idea: while no port changes nobody is told when tables change: somebody loads others, a switch loses its own.
A few blocks of them at each look cost little, and all come round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from netloom.apply.planning import BLOCK, NONE, lids
from netloom.live.mads import Mads, Request
from netloom.live.tables import FORWARDING

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes

_NO_PATH = 255
"""What a switch holds for a LID without a way."""


class Held:
    """What all switches of a fabric should hold.

    Parameters
    ----------
    fabric : Fabric
        The fabric as it was discovered.
    tables : Routes
        Their tables: entries for LIDs of the fabric are compared with these.
    """

    def __init__(self, fabric: Fabric, tables: Routes) -> None:
        addresses = lids(fabric, tables.lmc)
        count = int(addresses.max(initial=0)) // BLOCK + 1
        self._names = fabric.switch_names
        self._ports = np.full((fabric.switches, count, BLOCK), -1)
        entries = tables.table().astype(np.int64)
        self._ports.reshape(fabric.switches, -1)[:, addresses] = np.where(entries == NONE, _NO_PATH, entries)
        switches = fabric.switch_table()["lid"].tolist()
        # Block by block: a switch that lost all of its tables is met soon.
        self._requests = [
            Request.subnet(lid, FORWARDING, block) for block in range(count) for lid in switches
        ]
        self._at = 0

    def others(self, mads: Mads, part: float) -> list[str]:
        """Reads the next part of all blocks, and names the switches that hold something else.

        A switch that does not answer is taken to hold what it should: its ports tell of it.

        Parameters
        ----------
        mads : Mads
            What asks.
        part : float
            How much of all is read, 0 to 1.
        """
        every = len(self._requests)
        count = min(math.ceil(every * part), every)
        places = [place % every for place in range(self._at, self._at + count)]
        self._at = (self._at + count) % max(every, 1)
        answers = mads.ask([self._requests[place] for place in places])
        found = []
        for place, answered, data in zip(places, answers.answered.tolist(), answers.data, strict=True):
            block, switch = divmod(place, len(self._names))
            wanted = self._ports[switch, block]
            if answered and (wanted != data[:BLOCK])[wanted >= 0].any():
                found.append(self._names[switch])
        return list(dict.fromkeys(found))
