"""Interfaces, addresses, qdiscs and filters of a network namespace, by the kernel's route netlink.

Only what is needed to put a BPF program on a port and to see what else is there: a filter of ours is found
by its place (direction, priority, handle), others are listed and never touched.

Source: rtnetlink(7), netlink(7); Linux, include/uapi/linux/rtnetlink.h, pkt_sched.h, pkt_cls.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from netloom.dataplane import namespaces

Direction = Literal["ingress", "egress"]
PRIORITY = 28268
"""Of our filters: none that tc gives by itself (49152)."""
_HANDLE = 1
_PARENT: dict[Direction, int] = {"ingress": 0xFFFFFFF2, "egress": 0xFFFFFFF3}
_CLSACT, _CLSACT_HANDLE = 0xFFFFFFF1, 0xFFFF0000
_ETH_P_ALL = socket.htons(0x0003)

_NETLINK_ROUTE, _ERROR, _DONE = 0, 2, 3
_REQUEST, _ACK, _DUMP, _EXCL, _CREATE = 1, 4, 0x300, 0x200, 0x400
_GETLINK, _GETADDR = 18, 22
_ARPHRD_ETHER = 1
_NEWQDISC, _DELQDISC, _GETQDISC = 36, 37, 38
_NEWTFILTER, _DELTFILTER, _GETTFILTER = 44, 45, 46
_HEADER = struct.Struct("=IHHII")
_LINK = struct.Struct("=BxHiII")
_ADDRESS = struct.Struct("=BBBBI")
_TC = struct.Struct("=BxxxiIII")
_ATTRIBUTE = struct.Struct("=HH")
_IFLA_IFNAME, _IFA_ADDRESS, _IFA_LOCAL = 3, 1, 2
_KIND, _OPTIONS, _STATS, _STATS_QUEUE = 1, 2, 7, 3
_ROOT = 0xFFFFFFFF
_BPF_FD, _BPF_NAME, _BPF_FLAGS, _BPF_ID = 6, 7, 8, 11
_DIRECT_ACTION = 1
_MOST = 1 << 18


@dataclass(frozen=True)
class Filter:
    """A filter of a port."""

    priority: int
    handle: int
    kind: str
    program: int | None
    """The id of its BPF program."""

    @property
    def is_ours(self) -> bool:
        """Whether it is where netloom puts its own; whose it is says its program."""
        return self.priority == PRIORITY and self.handle == _HANDLE and self.kind == "bpf"


class Netlink:
    """A netlink socket of a network namespace; closes with its `with` block.

    Parameters
    ----------
    namespace : str, optional
        As `ip netns` names it. [default: this process's]

    Raises
    ------
    LiveError
        If there is no such namespace.
    """

    def __init__(self, namespace: str | None = None) -> None:
        with namespaces.inside(namespace):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._sequence = 0

    def __enter__(self) -> Netlink:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def interfaces(self) -> dict[str, int]:
        """Names and numbers of all interfaces."""
        found = {}
        for body in self._dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0)):
            _, _, index, _, _ = _LINK.unpack_from(body)
            name = _attributes(body[_LINK.size :]).get(_IFLA_IFNAME, b"")
            found[_text(name)] = index
        return found

    def is_ethernet(self, index: int) -> bool:
        """Whether packets of an interface begin with a header of Ethernet: those of a tun device do not."""
        for body in self._dump(_GETLINK, _LINK.pack(0, 0, 0, 0, 0)):
            _, kind, there, _, _ = _LINK.unpack_from(body)
            if there == index:
                return bool(kind == _ARPHRD_ETHER)
        return False

    def addresses(self, index: int) -> list[str]:
        """The IPv4 addresses of an interface."""
        found = []
        for body in self._dump(_GETADDR, _ADDRESS.pack(socket.AF_INET, 0, 0, 0, 0)):
            if _ADDRESS.unpack_from(body)[4] == index:
                attributes = _attributes(body[_ADDRESS.size :])
                address = attributes.get(_IFA_LOCAL, attributes.get(_IFA_ADDRESS, b""))
                if len(address) == 4:
                    found.append(socket.inet_ntoa(address))
        return found

    def ingress_qdisc(self, index: int) -> str | None:
        """What is in the place of `clsact` on an interface: that, the older `ingress`, or nothing."""
        for body in self._dump(_GETQDISC, _TC.pack(0, 0, 0, 0, 0)):
            _, there, handle, _, _ = _TC.unpack_from(body)
            if there == index and handle == _CLSACT_HANDLE:
                return _text(_attributes(body[_TC.size :]).get(_KIND, b""))
        return None

    def backlogs(self) -> dict[int, int]:
        """Bytes in the root qdisc of each interface that has one which counts them."""
        found = {}
        for body in self._dump(_GETQDISC, _TC.pack(0, 0, 0, 0, 0)):
            _, index, _, parent, _ = _TC.unpack_from(body)
            stats = _attributes(_attributes(body[_TC.size :]).get(_STATS, b"")).get(_STATS_QUEUE, b"")
            if parent == _ROOT and len(stats) >= 8:
                found[index] = struct.unpack_from("=II", stats)[1]
        return found

    def filters(self, index: int, direction: Direction) -> list[Filter]:
        """The filters of an interface in one direction; needs `clsact`."""
        found = []
        for body in self._dump(_GETTFILTER, _TC.pack(0, index, 0, _PARENT[direction], 0)):
            _, _, handle, _, info = _TC.unpack_from(body)
            attributes = _attributes(body[_TC.size :])
            options = _attributes(attributes.get(_OPTIONS, b""))
            if options:
                program = options.get(_BPF_ID)
                number = None if program is None else struct.unpack("=I", program)[0]
                found.append(Filter(info >> 16, handle, _text(attributes.get(_KIND, b"")), number))
        return found

    def add_clsact(self, index: int) -> None:
        """Adds `clsact`, which must not be there."""
        self._qdisc(_NEWQDISC, _CREATE | _EXCL, index)

    def remove_clsact(self, index: int) -> None:
        """Removes `clsact` with all its filters."""
        self._qdisc(_DELQDISC, 0, index)

    def add_filter(self, index: int, direction: Direction, descriptor: int, name: str) -> None:
        """Puts a BPF program on an interface, in our place, which must be free."""
        options = (
            _attribute(_BPF_FD, struct.pack("=I", descriptor))
            + _attribute(_BPF_NAME, name.encode() + b"\0")
            + _attribute(_BPF_FLAGS, struct.pack("=I", _DIRECT_ACTION))
        )
        self._filter(_NEWTFILTER, _CREATE | _EXCL, index, direction, _attribute(_OPTIONS, options))

    def remove_filter(self, index: int, direction: Direction) -> None:
        """Removes the filter in our place."""
        self._filter(_DELTFILTER, 0, index, direction, b"")

    def _qdisc(self, kind: int, flags: int, index: int) -> None:
        body = _TC.pack(0, index, _CLSACT_HANDLE, _CLSACT, 0) + _attribute(_KIND, b"clsact\0")
        self._ask(kind, flags, body)

    def _filter(self, kind: int, flags: int, index: int, direction: Direction, options: bytes) -> None:
        head = _TC.pack(0, index, _HANDLE, _PARENT[direction], PRIORITY << 16 | _ETH_P_ALL)
        self._ask(kind, flags, head + _attribute(_KIND, b"bpf\0") + options)

    def _ask(self, kind: int, flags: int, body: bytes) -> None:
        """Sends a request and waits for the kernel's answer."""
        self._send(kind, _REQUEST | _ACK | flags, body)
        for _ in self._replies():
            continue

    def _dump(self, kind: int, body: bytes) -> list[bytes]:
        self._send(kind, _REQUEST | _DUMP, body)
        return list(self._replies())

    def _send(self, kind: int, flags: int, body: bytes) -> None:
        self._sequence += 1
        self._socket.send(_HEADER.pack(_HEADER.size + len(body), kind, flags, self._sequence, 0) + body)

    def _replies(self) -> Iterator[bytes]:
        """The bodies of what is answered to the last request.

        Raises
        ------
        OSError
            What the kernel says.
        """
        while True:
            data = self._socket.recv(_MOST)
            while len(data) >= _HEADER.size:
                length, kind, _, sequence, _ = _HEADER.unpack_from(data)
                body, data = data[_HEADER.size : length], data[(length + 3) & ~3 :]
                if sequence != self._sequence:
                    continue
                if kind in (_ERROR, _DONE):
                    error = -struct.unpack_from("=i", body)[0] if len(body) >= 4 else 0
                    if error:
                        raise OSError(error, os.strerror(error))
                    return
                yield body


def _attribute(kind: int, value: bytes) -> bytes:
    size = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(size, kind) + value + b"\0" * (-size % 4)


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= _ATTRIBUTE.size:
        size, kind = _ATTRIBUTE.unpack_from(data)
        if size < _ATTRIBUTE.size:
            break
        found[kind & 0x3FFF] = data[_ATTRIBUTE.size : size]
        data = data[(size + 3) & ~3 :]
    return found


def _text(value: bytes) -> str:
    return value.rstrip(b"\0").decode(errors="replace")
