"""Entries of LIDs of no port of a fabric, in files of routes: virtual ports, routers, aggregation nodes.

A fabric's dump does not show who has them, so no routes are made for them. But somebody has them, and OpenSM
leaves without a way what a file of routes leaves out: they are carried over, line by line, as they are.

A source is text: a dump of OpenSM (`Unicast lids … guid 0x…`), or a `.fdbs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import TYPE_CHECKING

from netloom import reading

if TYPE_CHECKING:
    from netloom._core import Fabric

_TABLE = b"Unicast lids"
_HEADER = re.compile(rb"Unicast lids .*?guid (0x[0-9a-fA-F]+)")
_ENTRY = re.compile(rb"^0x([0-9a-fA-F]+) +([0-9]+)(.*)$", re.MULTILINE)
_PORT_GUID = re.compile(rb"portguid 0x([0-9a-fA-F]+)")
_NO_PATH = 255
_GZIP = b"\x1f\x8b"

IsForeign = Callable[[int, bytes], bool]
"""Says of a LID, and what is written behind its port, whether no port of the fabric has it."""


def blocks(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The tables of a file of routes or a dump: the switch's GUID, and where its table begins and ends."""
    start = data.find(_TABLE)
    while start >= 0:
        end = data.find(_TABLE, start + 1)
        header = _HEADER.match(data, start)
        if header is not None:
            yield int(header[1], 16), start, end if end >= 0 else len(data)
        start = end


def with_entries(
    file: bytes,
    sources: Sequence[bytes],
    switches: Set[int],
    is_foreign: IsForeign,
    leads: Set[tuple[int, int]] | None = None,
) -> bytes:
    """A file of routes with the entries for foreign LIDs, and the tables of switches, that other files have.

    Parameters
    ----------
    file : bytes
        What is written.
    sources : sequence of bytes
        Where foreign entries are looked for; the first that has an entry counts.
    switches : set of int
        GUIDs of the fabric's switches: tables of others are carried over whole.
    is_foreign : callable
        Which entries are.
    leads : set of (int, int), optional
        GUIDs of switches with their ports that lead somewhere: entries of others are left out. [default: all]

    Returns
    -------
    bytes
        `file` itself where there are none.

    Examples
    --------
    >>> today = b"Unicast lids guid 0x1\\n0x0007 003\\n"
    >>> with_entries(b"Unicast lids guid 0x1\\n", [today], {1}, lambda lid, rest: lid == 7)
    b'Unicast lids guid 0x1\\n0x0007 003\\n'
    """
    extra: dict[int, dict[int, bytes]] = {}
    whole: dict[int, bytes] = {}
    for source in sources:
        parts = list(blocks(source))
        for guid, start, end in parts:
            if guid not in switches and guid not in whole and _ENTRY.search(source, start, end):
                whole[guid] = source[start:end]
        # All tables have the same LIDs but for holes: where none is foreign in two, none is.
        probes = [parts[0], parts[-1]] if parts else []
        entries = (entry for _, s, e in probes for entry in _ENTRY.findall(source, s, e))
        if not any(is_foreign(int(lid, 16), rest) for lid, _, rest in entries):
            continue
        # The same LIDs come in every table.
        foreign = _Foreign(is_foreign)
        for guid, start, end in parts:
            rows = extra.setdefault(guid, {})
            for lid, port, rest in _ENTRY.findall(source, start, end):
                if not foreign[lid, rest]:
                    continue
                if int(port) != _NO_PATH if leads is None else (guid, int(port)) in leads:
                    rows.setdefault(int(lid, 16), b"0x%s %s%s" % (lid, port, rest))
    if not extra and not whole:
        return file
    out = []
    for guid, start, end in blocks(file):
        head, _, body = file[start:end].partition(b"\n")
        lines = [head, *extra.get(guid, {}).values(), body.rstrip(b"\n")]
        out += [line for line in lines if line]
    out += [table.rstrip(b"\n") for table in whole.values()]
    return b"\n".join(out) + b"\n"


class _Foreign(dict[tuple[bytes, bytes], bool]):
    """Whether a LID is foreign, by its digits and what is written behind its port: each asked once."""

    def __init__(self, is_foreign: IsForeign) -> None:
        self._is_foreign = is_foreign

    def __missing__(self, entry: tuple[bytes, bytes]) -> bool:
        lid, rest = entry
        self[entry] = found = self._is_foreign(int(lid, 16), rest)
        return found


def plain(data: bytes) -> bytes:
    """A file of routes as text in the form of OpenSM's dump, whether it is packed or a `.fdbs`."""
    text = reading.gunzip(data, "the file of routes")
    if b"osm_ucast_mgr_dump_ucast_routes" not in text:
        return text
    text = re.sub(rb"(?m)^osm_ucast_mgr_dump_ucast_routes: Switch (0x\w+).*$", rb"Unicast lids guid \1", text)
    return re.sub(rb"(?m)^[ \t]*(0x\w+)[ \t]*:[ \t]*(\d+)\b.*$", rb"\1 \2", text)


def lids(data: bytes, is_foreign: IsForeign) -> list[int]:
    """The foreign LIDs in a file of routes, as text."""
    foreign = _Foreign(is_foreign)
    return sorted({int(lid, 16) for lid, _, rest in _ENTRY.findall(data) if foreign[lid, rest]})


def of_fabric(fabric: Fabric) -> IsForeign:
    """Which LID is foreign by a fabric's dump: a LID of no port, without the GUID of a port that is there."""
    paths = 1 << fabric.lmc
    hosts = [int(lid) for lid in fabric.host_table()["lid"] if lid]
    table = fabric.switch_table()
    known = {lid + path for lid in hosts for path in range(paths)} | {int(lid) for lid in table["lid"]}
    guids = {int(guid) for guid in table["guid"]} | {int(guid) for guid in fabric.host_table()["port_guid"]}

    def is_foreign(lid: int, rest: bytes) -> bool:
        if lid in known:
            return False
        port = _PORT_GUID.search(rest)
        return port is None or int(port[1], 16) not in guids

    return is_foreign
