"""All forwarding tables of a fabric, from the switches themselves, with many datagrams under way at a time.

`dump_fts` discovers the fabric and then asks block by block: 1.7 s for the 208 switches of quartz1. Where the
fabric is discovered already the ways to its switches are known, and sixteen datagrams can be under way. What
comes back is text as `dump_fts -n` prints it, so that nothing after this knows the difference.

Datagrams go by directed routes, along the cables as they were discovered. Where a switch does not answer, or
another node does by now, `dump_fts` is asked instead, which discovers the fabric again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import LiveError
from netloom.live.access import Access
from netloom.live.mads import Mads, Request

if TYPE_CHECKING:
    from netloom._core import Fabric

FORWARDING = 0x19
"""The attribute that a block of a forwarding table is."""
_NODE_INFO, _SWITCH_INFO = 0x11, 0x12
_BLOCK = 64


def read_tables(access: Access, fabric: Fabric, *, seconds: float = 60.0) -> bytes:
    """The tables of all switches of a fabric as discovered, as `dump_fts -n` prints them.

    Raises
    ------
    LiveError
        If not even `dump_fts` can read them.
    """
    try:
        return _by_ways(access, fabric)
    except LiveError:
        return access.forwarding_tables(seconds=seconds)


def wait_for(
    access: Access,
    fabric: Fabric,
    entries: Sequence[tuple[int, int, int]],
    *,
    seconds: float,
    step: float = 0.02,
) -> bool:
    """Waits until switches have some entries, each the switch's LID, the LID that it is for, and the port.

    Returns
    -------
    bool
        Whether they have; False after so many seconds, or where a switch does not answer.
    """
    if not entries:
        return True
    asked = [Request.subnet(switch, FORWARDING, lid // _BLOCK) for switch, lid, _ in entries]
    offsets = np.array([lid % _BLOCK for _, lid, _ in entries], np.intp)
    ports = np.array([port for _, _, port in entries])
    end = time.monotonic() + seconds
    try:
        with Mads(access, fabric) as mads:
            while True:
                answers = mads.ask(asked)
                if not answers.answered.all():
                    return False
                if (answers.data[np.arange(len(entries)), offsets] == ports).all():
                    return True
                if time.monotonic() > end:
                    return False
                time.sleep(step)
    except LiveError:
        return False


def _by_ways(access: Access, fabric: Fabric) -> bytes:
    switches = fabric.switch_table()
    addresses, guids = switches["lid"].tolist(), switches["guid"].tolist()
    if not all(addresses):
        raise LiveError("a switch has no LID")
    with Mads(access, fabric) as mads:
        about = [Request.subnet(lid, kind, 0) for lid in addresses for kind in (_NODE_INFO, _SWITCH_INFO)]
        answers = mads.ask(about)
        if not answers.answered.all():
            raise LiveError("a switch does not answer")
        nodes, infos = answers.data[0::2], answers.data[1::2]
        if [int.from_bytes(node[12:20].tobytes(), "big") for node in nodes] != guids:
            raise LiveError("another node answers where a switch was")
        tops = [int.from_bytes(info[6:8].tobytes(), "big") for info in infos]
        counts = [top // _BLOCK + 1 for top in tops]
        wanted = zip(addresses, counts, strict=True)
        blocks = [Request.subnet(lid, FORWARDING, block) for lid, count in wanted for block in range(count)]
        answers = mads.ask(blocks)
    if not answers.answered.all():
        raise LiveError("a switch does not answer")
    ports = answers.data[:, :_BLOCK].ravel()
    text, first = [], 0
    for lid, guid, top, count in zip(addresses, guids, tops, counts, strict=True):
        text.append(f"Unicast lids [0x0-0x{top:x}] of switch Lid {lid} guid 0x{guid:016x}:\n".encode())
        text.append(_rows(ports[first + 1 : first + top + 1]))
        first += count * _BLOCK
    return b"".join(text)


_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


def _rows(ports: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    """`0xLID PORT` for the LIDs from 1 on; those without a way left out."""
    lids = np.arange(1, len(ports) + 1)
    rows = np.empty((len(ports), 11), np.uint8)
    rows[:] = np.frombuffer(b"0x0000 000\n", np.uint8)
    for digit, shift in enumerate((12, 8, 4, 0)):
        rows[:, 2 + digit] = _HEX[lids >> shift & 15]
    for digit, power in enumerate((100, 10, 1)):
        rows[:, 7 + digit] += ports // power % 10
    there: bytes = rows[ports != 255].tobytes()
    return there
