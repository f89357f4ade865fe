"""Whether a dump is of the fabric that is reached: switches say who they are.

LIDs are small numbers that every fabric has, so counters read by those of another fabric's dump, or of one
that was made before LIDs changed, are counters of other ports.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from netloom.errors import LiveError
from netloom.live.mads import Mads, Request

if TYPE_CHECKING:
    from netloom._core import Fabric
    from netloom.live.access import Access
    from netloom.session.session import Session

_NODE_INFO = 0x11
_GUID = slice(12, 20)
"""Of the node, in what it says of itself."""


def check(access: Access, fabric: Fabric, what: str) -> None:
    """Asks every switch of a dump by its LID for its GUID; those that are silent don't count.

    Raises
    ------
    LiveError
        If another node answers, or the dump has no LIDs.
    """
    switches = fabric.switch_table()
    lids, guids = switches["lid"].tolist(), switches["guid"].tolist()
    if not any(lids):
        raise LiveError(f"{what}: no LIDs in it: expected a dump of ibnetdiscover of {access.what}")
    with Mads(access) as mads:
        answers = mads.ask([Request.subnet(lid, _NODE_INFO, 0) for lid in lids])
    wrong = [
        name
        for name, guid, answered, data in zip(
            fabric.switch_names, guids, answers.answered.tolist(), answers.data, strict=True
        )
        if answered and int.from_bytes(data[_GUID].tobytes(), "big") != guid
    ]
    if wrong:
        named = ", ".join(wrong[:3]) + (", …" if len(wrong) > 3 else "")
        raise LiveError(
            f"{what}: not {access.what} as it is now: at the LIDs of {len(wrong)} of its {len(lids)} "
            f"switches other nodes answer ({named}): a dump of another fabric, or of before LIDs changed"
        )


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
