"""Which subnet managers a fabric has: a second one loads its own routes when it takes over.

A port says itself whether it has one (PortInfo's capability mask), and that says what it is (SMInfo). The
master need not have heard of another yet.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.errors import LiveError
from netloom.live.access import Access
from netloom.live.mads import Mads, Request

if TYPE_CHECKING:
    from netloom._core import Fabric

_PORT_INFO, _SM_INFO = 0x15, 0x20
_IS_SM = 2
_STATES = {0: "not active", 1: "discovering", 2: "standby", 3: "master"}


@dataclass(frozen=True)
class Peer:
    """A subnet manager on the fabric."""

    guid: int
    lid: int
    priority: int
    state: str
    """`master`, `standby`, `discovering` or `not active`."""


def peers(access: Access, fabric: Fabric | None = None, *, seconds: float = 20.0) -> list[Peer]:
    """The subnet managers on a fabric, the master first.

    Every port of a fabric as discovered is asked whether it has one; without a fabric, the master is asked.

    Raises
    ------
    LiveError
        If there is no master.
    """
    found = []
    if fabric is not None:
        with contextlib.suppress(LiveError):
            found = _asked(access, fabric)
    if not any(peer.state == "master" for peer in found):
        found = _listed(access, seconds)
    return sorted(found, key=lambda peer: (peer.state != "master", peer.guid))


def rivals(found: Sequence[Peer]) -> tuple[str, str] | None:
    """What a second subnet manager means for routes: a word (`standby`, `two-masters`) and what to do."""
    if len(found) < 2:
        return None
    listed = ", ".join(f"0x{peer.guid:016x} {peer.state}" for peer in found)
    text = (
        f"{len(found)} subnet managers ({listed}): another would load its own routes when it takes "
        "over; stop it, or give it the same file and say --allow standby"
    )
    masters = sum(peer.state == "master" for peer in found)
    return "two-masters" if masters > 1 else "standby", text


def _asked(access: Access, fabric: Fabric) -> list[Peer]:
    """What ports say of themselves."""
    lids = [int(lid) for table in (fabric.host_table(), fabric.switch_table()) for lid in table["lid"] if lid]
    with Mads(access, fabric) as mads:
        ports = mads.ask([Request.subnet(lid, _PORT_INFO, 0) for lid in lids])
        masks = ports.data[:, 20:24].astype("uint32") @ [1 << 24, 1 << 16, 1 << 8, 1]
        having = [lid for lid, mask in zip(lids, masks.tolist(), strict=True) if mask & _IS_SM]
        told = mads.ask([Request.subnet(lid, _SM_INFO, 0) for lid in having])
    found = []
    for lid, answered, data in zip(having, told.answered.tolist(), told.data, strict=True):
        if answered:
            guid = int.from_bytes(data[:8].tobytes(), "big")
            found.append(Peer(guid, lid, int(data[20]) >> 4, _STATES.get(int(data[20]) & 15, "not active")))
    return found


def _listed(access: Access, seconds: float) -> list[Peer]:
    """What the subnet administrator lists: asked by LID, as it may be (GSI)."""
    try:
        said = access.run("saquery", "SMIR", seconds=seconds).decode(errors="replace")
    except LiveError as error:
        raise LiveError(
            f"no master subnet manager answers on {access.what}: is OpenSM up? ({error})"
        ) from None
    found = []
    for record in said.split("SMInfoRecord dump:")[1:]:
        value = dict(re.findall(r"(\w+)\.{2,}(\w+)", record))
        with contextlib.suppress(KeyError, ValueError):
            state = _STATES.get(int(value["SMState"], 0), "not active")
            found.append(Peer(int(value["GUID"], 16), int(value["LID"], 0), int(value["Priority"], 0), state))
    if not found:
        raise LiveError(f"no master subnet manager answers on {access.what}: is OpenSM up? ({said.strip()})")
    return found
