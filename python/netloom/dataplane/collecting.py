"""What receivers tell, as a table of packets: the one that `netloom sample decode` reads.

A row a packet: `id`, `source` and `destination` (names of hosts), `hops`, `bit`, `congested`, `bytes` (of
the frame), `time_ps` since `up`, by the machine's one clock. Rows are by receiver, each in order of
arrival, then sorted by time. Packets of addresses that no host has, and with more hops than any way, are
left out and counted.

Source: Taffet, dissertation, sec. 2.6.1 (figure 2.13).
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from netloom.dataplane import attaching
from netloom.dataplane.journal import Attached, Up, names
from netloom.dataplane.loaded import Loaded, looked_at
from netloom.dataplane.ring import Ring
from netloom.errors import LiveError

_RECORD = np.dtype(
    [
        ("time_ns", "u8"),
        ("source", "u4"),
        ("destination", "u4"),
        ("id", "u4"),
        ("bytes", "u2"),
        ("hops", "u1"),
        ("bits", "u1"),
    ]
)
_POLL_MS = 50
_ETHERNET_BYTES = 14
"""Of a frame's header."""
HOP_BITS = 4
"""Of layout `ds`."""


@dataclass
class Packets:
    """Packets that receivers have told of."""

    table: dict[str, npt.NDArray[Any]]
    """Columns; hosts are numbers of `hosts`."""
    hosts: list[str]
    lost: int
    """Of packets since `up`, for which a receiver had no room; they are in no table."""
    unknown_addresses: int
    """Left out: from or to an address that no host has."""
    addresses: list[str]
    """The first of those."""


class Collector:
    """The ring buffers of all receivers of an `up`; closes with its `with` block.

    Parameters
    ----------
    now : Up
        What is up. Only one process at a time may read its buffers.

    Raises
    ------
    LiveError
        If no receiver is there.
    """

    def __init__(self, now: Up) -> None:
        self._now = now
        self._stack = contextlib.ExitStack()
        self._ring = Ring()
        self._stack.callback(self._ring.close)
        self._receivers: list[Loaded] = []
        try:
            for _, name, number in attaching.programs(now):
                if name == "receiver" and number is not None:
                    self._receivers.append(self._stack.enter_context(Loaded(number)))
                    self._ring.add(self._receivers[-1].events)
        except BaseException:
            self._stack.close()
            raise
        if not self._receivers:
            raise LiveError("no receiver is there: `netloom dataplane status` says what is")

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def wait(
        self, seconds: float, most: int | None = None, report: Callable[[int], None] | None = None
    ) -> None:
        """Reads for so long, or until there are so many packets; what there is already at once.

        Parameters
        ----------
        seconds : float
            0: only what receivers have told so far.
        most : int, optional
            How many are enough.
        report : callable, optional
            Told how many there are.
        """
        end = time.monotonic() + seconds
        self._ring.poll(0)
        while (left := end - time.monotonic()) > 0 and (most is None or self._ring.waiting < most):
            self._ring.poll(max(1, min(_POLL_MS, int(left * 1000))))
            if report is not None:
                report(self._ring.waiting)

    def take(self, since_ns: int | None = None) -> Packets:
        """What was read since the last call.

        Parameters
        ----------
        since_ns : int, optional
            From when on times count. [default: from `up` on]
        """
        records = b"".join(b"".join(self._ring.taken(place)) for place in range(len(self._receivers)))
        lost = sum(receiver.counts["lost"] for receiver in self._receivers)
        since = self._now.started_ns if since_ns is None else since_ns
        return _packets(np.frombuffer(records, _RECORD), names(self._now.ports), lost, since)


def _packets(found: npt.NDArray[Any], host_at: dict[str, str], lost: int, since_ns: int) -> Packets:
    """The table of records."""
    found = found[np.argsort(found["time_ns"], kind="stable")]
    host_of = {_wire(address): host for address, host in host_at.items()}
    hosts = sorted(set(host_of.values()))
    number = {host: i for i, host in enumerate(hosts)}
    known = np.array(sorted(host_of), np.uint32)
    of_known = np.array([number[host_of[int(address)]] for address in known], np.uint32)
    ends, is_known = {}, np.ones(len(found), bool)
    for name in ("source", "destination"):
        at = np.minimum(np.searchsorted(known, found[name]), len(known) - 1)
        there = known[at] == found[name]
        ends[name] = of_known[at]
        is_known &= there
    odd = np.concatenate([found[name][~is_known] for name in ("source", "destination")])
    unknown = [address for address in dict.fromkeys(odd.tolist()) if address not in host_of]
    kept = found[is_known]
    table = {
        "id": kept["id"],
        "source": ends["source"][is_known],
        "destination": ends["destination"][is_known],
        "hops": kept["hops"],
        "bit": kept["bits"] & 1,
        "congested": kept["bits"] >> 1 & 1,
        "bytes": kept["bytes"].astype(np.uint32) + _ETHERNET_BYTES,
        "time_ps": np.maximum(kept["time_ns"].astype(np.int64) - since_ns, 0).astype(np.uint64) * 1000,
    }
    shown = [socket.inet_ntoa(struct.pack("=I", address)) for address in unknown[:4]]
    return Packets(table, hosts, lost, int((~is_known).sum()), shown)


def states(now: Up) -> Iterator[tuple[Attached, str, dict[str, int] | None]]:
    """What the programs of every port did so far; None: it is not there any more."""
    for port, name, number in attaching.programs(now):
        with looked_at(number) as found:
            yield port, name, None if found is None else found.counts


def _wire(address: str) -> int:
    return int(struct.unpack("=I", socket.inet_aton(address))[0])
