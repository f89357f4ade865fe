"""SL-to-VL tables of a live fabric: read from its switches and adapters, and programmed row by row.

OpenSM's options know one table for all ports; a VL scheme needs one for every (port in, port out). Each row
is an attribute of the switch's subnet management (`SLtoVLMappingTable`, modifier `in << 8 | out`, sixteen
lanes of four bits). Rows that are right are not sent. What was sent is read back and compared: a switch may
answer and yet keep its own.

OpenSM sets its table again when it configures a port anew, if QoS is on; with QoS off it leaves rows alone.

Source: InfiniBand Architecture Specification, vol. 1, sec. 14.2.5.8.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom import files
from netloom.errors import LiveError
from netloom.live.access import Access
from netloom.live.mads import Answers, Mads, Request

if TYPE_CHECKING:
    from netloom._core import Fabric, LaneTables

_ATTRIBUTE = 0x17
_LEVELS = 16
_OCTETS = _LEVELS // 2

Rows = np.ndarray[Any, np.dtype[np.uint8]]
"""Lanes, [row][service level]."""


@dataclass(frozen=True)
class Place:
    """Which row of which node."""

    name: str
    lid: int
    in_port: int
    out_port: int

    @property
    def request(self) -> Request:
        """What asks for it."""
        return Request.subnet(self.lid, _ATTRIBUTE, self.in_port << 8 | self.out_port)

    def set(self, lanes: Rows) -> Request:
        """What sets it to the lanes of all levels."""
        octets = (lanes[0::2] << 4 | lanes[1::2]).astype(np.uint8).tobytes()
        return Request.subnet(self.lid, _ATTRIBUTE, self.in_port << 8 | self.out_port, octets)

    def __str__(self) -> str:
        return f"{self.name} from port {self.in_port} to port {self.out_port}"


@dataclass(frozen=True)
class Tables:
    """The rows of a fabric as its nodes have them."""

    places: list[Place]
    lanes: Rows
    mads: int
    seconds: float

    def dump(self, fabric: Fabric) -> bytes:
        """The same in the form of OpenSM's dump, `opensm-sl2vl.dump`."""
        return _dump(fabric, self)


@dataclass(frozen=True)
class Loaded:
    """What loading tables has done."""

    rows: int
    """Rows of the tables."""
    changed: int
    """Rows that differed and were sent."""
    nodes: int
    """Switches and adapters of which a row was sent."""
    different: list[str]
    """Rows that differ from the tables afterwards, in words."""
    mads: int
    seconds: float


def read(access: Access, fabric: Fabric, *, hosts: bool = True) -> Tables:
    """Reads the rows of every switch's ports with cables, and of adapters.

    Raises
    ------
    LiveError
        If a node does not answer, or the fabric has no LIDs.
    """
    places = _places(fabric, hosts)
    with Mads(access, fabric) as mads:
        return _read(mads, places)


def load(
    access: Access, fabric: Fabric, wanted: LaneTables, *, hosts: bool = True, dry_run: bool = False
) -> Loaded:
    """Gives switches, and adapters, the rows of tables; reads them back.

    Parameters
    ----------
    access : Access
        How the fabric is reached.
    fabric : Fabric
        As discovered.
    wanted : LaneTables
        The tables.
    hosts : bool
        Whether adapters' rows are set too.
    dry_run : bool
        Only says how many rows differ.

    One process of a machine at a time loads tables of a fabric.

    Raises
    ------
    LiveError
        If a node does not answer, refuses a row, or the fabric has no LIDs; if another process loads now.
    OSError
        If there is no place for the lock.
    """
    started = time.monotonic()
    places = _places(fabric, hosts)
    table = wanted.rows()
    lanes = np.concatenate([table["lanes"], table["host_lanes"]])[: len(places)]
    with contextlib.nullcontext() if dry_run else alone(access, fabric), Mads(access, fabric) as mads:
        before = _read(mads, places)
        differing = np.flatnonzero((before.lanes != lanes).any(axis=1))
        todo = [places[row] for row in differing.tolist()]
        sent = before.mads
        if dry_run or not todo:
            after, done = before.lanes, []
        else:
            answers = mads.ask(
                [place.set(lanes[row]) for place, row in zip(todo, differing.tolist(), strict=True)]
            )
            _all_answered(answers, todo, "take a row")
            back = _read(mads, todo)
            sent += answers.sent + back.mads
            after, done = before.lanes.copy(), todo
            after[differing] = back.lanes
    wrong = [] if dry_run else [str(places[row]) for row in np.flatnonzero((after != lanes).any(axis=1))]
    return Loaded(
        rows=len(places),
        changed=len(todo),
        nodes=len({place.lid for place in done}),
        different=wrong,
        mads=sent,
        seconds=time.monotonic() - started,
    )


@contextlib.contextmanager
def alone(access: Access, fabric: Fabric) -> Iterator[None]:
    """Keeps other processes of this user from loading tables of this fabric.

    Raises
    ------
    LiveError
        If one does: says which.
    """
    # A fabric is known by its lowest switch, as OpenSM chooses among masters by the lowest GUID.
    lowest = min(fabric.switch_table()["guid"].tolist(), default=0)
    name = f"lanes-{lowest:016x}"
    if access.socket_name is not None:
        name += f"-{access.socket_name.encode().hex()[:100]}"
    now = time.strftime("%Y-%m-%d %H:%M:%S")
    with files.Folder.open(files.private_folder("netloom")) as folder:
        file = None
        while file is None:  # Whoever had it takes the file away at the end.
            try:
                file = folder.lock(name, f"process {os.getpid()} since {now}")
            except files.Held as held:
                raise LiveError(
                    f"{held.who} loads SL-to-VL tables of {access.what} now: one at a time"
                ) from None
        try:
            yield
        finally:
            folder.remove(name)
            os.close(file)


def _read(mads: Mads, places: list[Place]) -> Tables:
    started = time.monotonic()
    answers = mads.ask([place.request for place in places])
    _all_answered(answers, places, "tell a row")
    octets = answers.data[:, :_OCTETS]
    lanes = np.empty((len(places), _LEVELS), np.uint8)
    lanes[:, 0::2], lanes[:, 1::2] = octets >> 4, octets & 0xF
    return Tables(places, lanes, answers.sent, time.monotonic() - started)


def _all_answered(answers: Answers, places: list[Place], what: str) -> None:
    if answers.answered.all():
        return
    missing = np.flatnonzero(~answers.answered).tolist()
    word = (
        f"{answers.refused} refused (an M_Key in force?)" if answers.refused else "no answer from the others"
    )
    raise LiveError(
        f"{len(missing)} of {len(places)} requests to {what} of an SL-to-VL table failed, "
        f"the first {places[missing[0]]}: {word}"
    )


def _places(fabric: Fabric, hosts: bool) -> list[Place]:
    """In the order of `LaneTables.rows`: a switch's ports in by its ports out, then adapters."""
    switch, host, link = fabric.switch_table(), fabric.host_table(), fabric.link_table()
    if not switch["lid"].any():
        raise LiveError("the fabric has no LIDs: expected one as discovered (ibnetdiscover)")
    ports: list[list[int]] = [[] for _ in range(fabric.switches)]
    own = link["source"] >= fabric.hosts
    sources = link["source"][own] - fabric.hosts
    for source, port in zip(sources.tolist(), link["source_port"][own].tolist(), strict=True):
        ports[source].append(port)
    places = [
        Place(name, int(lid), a, b)
        for name, lid, of in zip(switch["name"], switch["lid"], ports, strict=True)
        for a in of
        for b in of
    ]
    if hosts:
        places += [Place(name, int(lid), 0, 0) for name, lid in zip(host["name"], host["lid"], strict=True)]
    return places


def _dump(fabric: Fabric, tables: Tables) -> bytes:
    switch, host = fabric.switch_table(), fabric.host_table()
    guids = dict(zip(switch["lid"].tolist(), switch["guid"].tolist(), strict=True))
    guids |= dict(zip(host["lid"].tolist(), host["port_guid"].tolist(), strict=True))
    rule = "#" + "-" * 56
    lines: list[str] = []
    last = -1
    for place, lanes in zip(tables.places, tables.lanes.tolist(), strict=True):
        if place.lid != last:
            kind = "Switch" if place.out_port else "Channel Adapter"
            lines += [] if last == -1 else [rule, ""]
            lines += [
                f'{kind} 0x{guids[place.lid]:016x}, base LID {place.lid}, "{place.name}"',
                "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15",
                rule,
            ]
            last = place.lid
        lines.append(f"{place.in_port:<3} {place.out_port:<3} : {' '.join(f'{lane:<2}' for lane in lanes)}")
    return ("\n".join([*lines, rule]) + "\n").encode()
