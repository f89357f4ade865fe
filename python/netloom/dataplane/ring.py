"""What receivers tell of packets: ring buffers of one or several ports, read in one go.

A record is kept as it is, 24 bytes, until it is asked for: one call into Python a packet is all there is.

Source: `struct netloom_event` of `dataplane/bpf/receiver.bpf.c`.
"""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass
from typing import Any

from netloom.dataplane.libbpf import RUN, library
from netloom.errors import LiveError

EVENT = struct.Struct("=QIIIHBB")
"""`struct netloom_event`."""


@dataclass(frozen=True)
class Event:
    """What a receiver tells of a packet; addresses as on the wire, of IPv6 the last four bytes."""

    time_ns: int
    source: bytes
    destination: bytes
    id: int
    size: int
    """Bytes, the header of IP included."""
    hops: int
    bit: int
    congested: bool

    @classmethod
    def of(cls, record: bytes) -> Event:
        """The event of a record."""
        time_ns, source, destination, number, size, hops, bits = EVENT.unpack(record)
        ends = (struct.pack("=I", source), struct.pack("=I", destination))
        return cls(time_ns, *ends, number, size, hops, bits & 1, bool(bits & 2))


class Ring:
    """Ring buffers that are read together; each is known by its place, from 0.

    Nobody else may read the same buffers meanwhile: what one reader takes, no other sees.
    """

    def __init__(self) -> None:
        self._library = library()
        self._ring: Any = None
        self._calls: list[Any] = []  # Kept, or Python frees them under libbpf.
        self._records: list[list[bytes]] = []

    def add(self, descriptor: int) -> int:
        """Adds the buffer of a map.

        Parameters
        ----------
        descriptor : int
            The map's; may be closed then.

        Returns
        -------
        int
            Its place.

        Raises
        ------
        LiveError
            If the kernel refuses it.
        """
        records: list[bytes] = []
        keep, text = records.append, ctypes.string_at

        def call(_: object, data: int, size: int) -> int:
            if size == EVENT.size:
                keep(text(data, size))
            return 0

        called = RUN(call)
        if self._ring is None:
            self._ring = self._library.ring_buffer__new(descriptor, called, None, None)
            error = 0 if self._ring else -ctypes.get_errno()
        else:
            error = self._library.ring_buffer__add(self._ring, descriptor, called, None)
        if error:
            raise LiveError(f"ring buffer: {os.strerror(-error)}")
        self._calls.append(called)
        self._records.append(records)
        return len(self._records) - 1

    def poll(self, milliseconds: int) -> None:
        """Reads what is there; waits for at most so long if nothing is."""
        if self._ring is not None:
            self._library.ring_buffer__consume(self._ring)
            if milliseconds:
                self._library.ring_buffer__poll(self._ring, milliseconds)

    def taken(self, place: int) -> list[bytes]:
        """The records of a buffer since the last call."""
        found = self._records[place][:]
        del self._records[place][: len(found)]
        return found

    @property
    def waiting(self) -> int:
        """How many records were read and not taken."""
        return sum(map(len, self._records))

    def close(self) -> None:
        """Gives the buffers back; what was read stays."""
        if self._ring is not None:
            self._library.ring_buffer__free(self._ring)
            self._ring = None
