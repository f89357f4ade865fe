"""Puts the programs on ports and takes them away again, whatever happened in between.

Order of `up`: everything is looked at and whatever stands against it is told; the journal is written; then,
port by port, `clsact` is added where there is none, programs are loaded, told whose they are, and put on. A
program that fails takes all back. Order of `down`: filters in our place whose program says the journal's
number, then `clsact` where it was not there before and no filter of others has come since; then the
journal. Each step may be done twice, so `down` after a kill at any moment leaves what was there before
`up`. Filters of others are never removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from netloom.dataplane import loaded, namespaces
from netloom.dataplane.journal import Attached, Journal, Up, boot
from netloom.dataplane.netlink import PRIORITY, Direction, Filter, Netlink
from netloom.dataplane.programs import Name, Program, missing
from netloom.dataplane.wiring import Wire
from netloom.errors import LiveError

PROGRAMS: Mapping[str, tuple[tuple[Direction, Name], ...]] = {
    "host": (("egress", "sender"), ("ingress", "receiver")),
    "switch": (("egress", "switch"),),
}
"""By role: what is put where."""
_DIRECTIONS: tuple[Direction, ...] = ("egress", "ingress")


@dataclass
class Seen:
    """A port as it is now."""

    port: Attached
    others: int = 0
    """How many filters and programs (TCX) of others it has in the directions of ours."""


@dataclass
class Left:
    """What `down` did to the ports of an `up`."""

    filters: int = 0
    """How many it removed."""
    clsact: int = 0
    """From how many ports it removed that."""
    gone: list[str] = field(default_factory=list)
    """Ports that are not there any more."""
    kept: list[str] = field(default_factory=list)
    """Ports that keep `clsact`, as somebody else's filters are on it."""


def need() -> None:
    """Asks for what loading needs.

    Raises
    ------
    LiveError
        Naming what is missing.
    """
    lacking = missing()
    if lacking:
        raise LiveError(f"BPF programs cannot be loaded: missing: {', '.join(lacking)}")


def look(wires: Sequence[Wire]) -> list[Seen]:
    """Looks at all ports; changes nothing.

    Raises
    ------
    LiveError
        If a namespace or interface is not there, a host has no address, two have the same one, or a port
        cannot take our programs.
    """
    found = []
    owner_of: dict[str, Wire] = {}
    with _Sockets() as sockets:
        for wire in wires:
            link = sockets.of(wire.namespace)
            inode = namespaces.identity(wire.namespace)
            index = sockets.interfaces(wire.namespace).get(wire.interface)
            if index is None or inode is None:
                raise LiveError(f"{_named(wire)}: there is no interface {wire.place}")
            if not link.is_ethernet(index):
                raise LiveError(f"{_named(wire)}: {wire.place} is no interface of Ethernet")
            had_clsact, others = _room(link, wire, index)
            others += sum(
                loaded.tcx_programs(wire.namespace, index, one) for one, _ in PROGRAMS[wire.port.role]
            )
            addresses: tuple[str, ...] = ()
            if wire.port.role == "host":
                addresses = wire.addresses or tuple(link.addresses(index))
                if not addresses:
                    raise LiveError(f"{_named(wire)}: {wire.place} has no IPv4 address")
            for address in addresses:
                if address in owner_of:
                    raise LiveError(f"{_named(wire)}: has {address}, as {_named(owner_of[address])} has")
                owner_of[address] = wire
            port = wire.port
            found.append(
                Seen(
                    Attached(
                        port.node,
                        port.port,
                        port.role,
                        port.number,
                        port.mask,
                        port.queue_bytes,
                        wire.namespace,
                        inode,
                        wire.interface,
                        index,
                        had_clsact,
                        addresses,
                    ),
                    others,
                )
            )
    return found


def up(
    journal: Journal, wires: Sequence[Wire], *, rate: float, keep: bool, hash_name: str
) -> tuple[Up, list[Seen]]:
    """Puts the programs on all ports, under the journal's lock.

    Parameters
    ----------
    journal : Journal
        Where it is written down first.
    wires : sequence of Wire
        The ports.
    rate : float
        The share of packets that senders sample.
    keep : bool
        Whether receivers leave tags in packets.
    hash_name : str
        What made the masks.

    Returns
    -------
    up : Up
        As the journal has it.
    seen : list of Seen
        The ports as they were.

    Raises
    ------
    LiveError
        If something is up already, a port cannot take the programs, or the kernel refuses one: then all is as
        it was.
    """
    need()
    with journal.locked(make=True):
        left = journal.read()
        if left is not None and left.is_of_this_boot:
            what = "is up" if left.complete else "was left half done"
            raise LiveError(
                f"{journal.folder}: what was put up at {left.time} {what}: "
                "`netloom dataplane down --yes` first"
            )
        seen = look(wires)
        now = new([one.port for one in seen], rate=rate, hash_name=hash_name)
        journal.write(now)
        try:
            put_on(now, keep=keep)
            now = replace(now, complete=True)
            journal.write(now)
        except BaseException:
            take_off(now)
            journal.clear()
            raise
        return now, seen


def put_on(now: Up, *, keep: bool) -> None:
    """Puts the programs on all ports; what was there must have been looked at.

    Raises
    ------
    LiveError
        If the kernel refuses one: those before it are on.
    """
    with _Sockets() as sockets:
        for port in now.ports:
            _put_on(sockets.of(port.namespace), port, now, keep)


def new(ports: Sequence[Attached], *, rate: float, hash_name: str) -> Up:
    """What is about to be put on these ports, under a number that nobody has."""
    return Up(
        owner=int.from_bytes(os.urandom(8), "little") | 1,
        boot=boot(),
        time=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        started_ns=time.monotonic_ns(),
        rate=rate,
        hash=hash_name,
        complete=False,
        ports=tuple(ports),
    )


def down(journal: Journal) -> tuple[Up, Left] | None:
    """Takes everything off that a journal has; None if nothing is up.

    Raises
    ------
    LiveError
        If the journal is none, or the kernel refuses something; `down` may be called again.
    """
    try:
        with journal.locked(make=False):
            was = journal.read()
            if was is None:
                return None
            left = take_off(was) if was.is_of_this_boot else Left()
            journal.clear()
            return was, left
    except FileNotFoundError:
        return None


def take_off(was: Up) -> Left:
    """Removes filters of an `up`, and `clsact` where it came with them."""
    left = Left()
    with _Sockets() as sockets:
        for port in was.ports:
            if namespaces.identity(port.namespace) != port.namespace_id:
                left.gone.append(f"{port.node}:{port.port}")
                continue
            try:
                _take_off(sockets.of(port.namespace), port, was.owner, left)
            except OSError as error:
                if error.errno != errno.ENODEV:
                    raise LiveError(f"{port.node}:{port.port}: {port.place}: {error.strerror}") from None
                left.gone.append(f"{port.node}:{port.port}")
    return left


def programs(now: Up) -> Iterator[tuple[Attached, Name, int | None]]:
    """Every port's programs with the id that each has in the kernel; None: it is not there."""
    with _Sockets() as sockets:
        for port in now.ports:
            here = namespaces.identity(port.namespace) == port.namespace_id
            for direction, name in PROGRAMS[port.role]:
                number = None
                if here:
                    with contextlib.suppress(OSError):
                        ours = _ours(sockets.of(port.namespace), port.index, direction, now.owner)
                        number = None if ours is None else ours.program
                yield port, name, number


def _room(link: Netlink, wire: Wire, index: int) -> tuple[bool, int]:
    """Whether a port has clsact, and how many filters of others; refuses one without room for ours."""
    qdisc = link.ingress_qdisc(index)
    where = f"{_named(wire)}: {wire.place}"
    if qdisc is None:
        return False, 0
    if qdisc != "clsact":
        raise LiveError(f"{where} has a qdisc {qdisc}: expected clsact, or nothing in its place")
    others = 0
    for direction, _ in PROGRAMS[wire.port.role]:
        there = link.filters(index, direction)
        if any(one.priority == PRIORITY for one in there):
            whose = "netloom's, of another journal" if _is_netloom(there) else "somebody else's"
            raise LiveError(f"{where}: its filter of priority {PRIORITY} ({direction}) is {whose}")
        others += len(there)
    return True, others


def _put_on(link: Netlink, port: Attached, now: Up, keep: bool) -> None:
    try:
        if not port.had_clsact:
            link.add_clsact(port.index)
        for direction, name in PROGRAMS[port.role]:
            with Program(name) as program:
                program.settle(
                    mask=port.mask,
                    queue_bytes=port.queue_bytes,
                    rate=now.rate,
                    keep=keep,
                    owner=now.owner,
                )
                link.add_filter(port.index, direction, program.fd, f"netloom_{name}")
    except OSError as error:
        raise LiveError(f"{port.node}:{port.port}: {port.place}: {error.strerror}") from None


def _take_off(link: Netlink, port: Attached, owner: int, left: Left) -> None:
    if link.ingress_qdisc(port.index) != "clsact":
        # Nothing of ours can be there; an interface that is gone is told by its name.
        if port.index not in link.interfaces().values():
            left.gone.append(f"{port.node}:{port.port}")
        return
    for direction in _DIRECTIONS:
        if _ours(link, port.index, direction, owner) is not None:
            link.remove_filter(port.index, direction)
            left.filters += 1
    if port.had_clsact:
        return
    if any(link.filters(port.index, direction) for direction in _DIRECTIONS):
        left.kept.append(f"{port.node}:{port.port}")
    else:
        link.remove_clsact(port.index)
        left.clsact += 1


def _ours(link: Netlink, index: int, direction: Direction, owner: int) -> Filter | None:
    if link.ingress_qdisc(index) != "clsact":
        return None
    for one in link.filters(index, direction):
        if one.is_ours and loaded.owner(one.program) == owner:
            return one
    return None


def _is_netloom(there: Sequence[Filter]) -> bool:
    return any(one.is_ours and loaded.owner(one.program) for one in there)


def _named(wire: Wire) -> str:
    return f"{wire.port.node}:{wire.port.port}"


class _Sockets:
    """A netlink socket for each namespace, opened when it is asked for."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._open: dict[str | None, Netlink] = {}
        self._names: dict[str | None, dict[str, int]] = {}

    def __enter__(self) -> _Sockets:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    def of(self, namespace: str | None) -> Netlink:
        if namespace not in self._open:
            self._open[namespace] = self._stack.enter_context(Netlink(namespace))
        return self._open[namespace]

    def interfaces(self, namespace: str | None) -> dict[str, int]:
        if namespace not in self._names:
            self._names[namespace] = self.of(namespace).interfaces()
        return self._names[namespace]
