"""Whether a dump is of the fabric that is reached: switches say who they are, and which LID they have.

LIDs are small numbers that every fabric has, so counters read by those of another fabric's dump, or of one
that was made before LIDs changed, are counters of other ports.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import LiveError
from netloom.live.mads import Mads, Request

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.live.access import Access
    from netloom.session.session import Session

_NODE_INFO, _PORT_INFO = 0x11, 0x15
_GUID, _LID = slice(12, 20), slice(16, 18)
"""Of the node, in what it says of itself; of its port."""


def check(access: Access, fabric: Fabric, what: str) -> None:
    """Asks every switch of a dump, along its cables, for GUID and LID; those that are silent don't count.

    Raises
    ------
    LiveError
        If another node answers, or the dump has no LIDs.
    """
    switches = fabric.switch_table()
    lids, guids = switches["lid"].tolist(), switches["guid"].tolist()
    if not any(lids):
        raise LiveError(f"{what}: no LIDs in it: expected a dump of ibnetdiscover of {access.what}")
    with Mads(access, fabric) as mads:
        # The switch's own port, 0, has its LID.
        asked = [Request.subnet(lid, kind, 0) for lid in lids for kind in (_NODE_INFO, _PORT_INFO)]
        answers = mads.ask(asked)
    nodes, ports = answers.data[0::2], answers.data[1::2]
    both = answers.answered[0::2] & answers.answered[1::2]
    wrong = [
        name
        for name, guid, lid, answered, node, port in zip(
            fabric.switch_names, guids, lids, both.tolist(), nodes, ports, strict=True
        )
        if answered and (_number(node[_GUID]), _number(port[_LID])) != (guid, lid)
    ]
    if wrong:
        named = ", ".join(wrong[:3]) + (", …" if len(wrong) > 3 else "")
        raise LiveError(
            f"{what}: not {access.what} as it is now: where {len(wrong)} of its {len(lids)} switches were, "
            f"other nodes or other LIDs answer ({named}): a dump of another fabric, or of before LIDs changed"
        )


def _number(octets: np.ndarray[Any, np.dtype[np.uint8]]) -> int:
    return int.from_bytes(octets.tobytes(), "big")


def discovered(session: Session, access: Access, source: Fabric | str | None = None) -> Fabric:
    """The fabric of a dump, if it is the one that is reached, or as `ibnetdiscover` finds it now.

    Raises
    ------
    LiveError
        If the fabric does not answer, or is another one.
    """
    if source is not None:
        net = session.fabric(source)
        with session.timed("discover"):
            check(access, net, source if isinstance(source, str) else "this fabric")
        return net
    with session.timed("discover"):
        data = access.discover()
    session.note_input("fabric", access.what, hashlib.sha256(data).hexdigest())
    with session.timed("read"):
        return session.parsed(data, access.what)
