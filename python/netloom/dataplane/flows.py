"""UDP packets from a host of a bed to another, at a rate: a thread a flow.

A flow that is late, as the machine did not let it run, sends what it owes of the last 50 ms and forgets the
rest: so what was sent is counted, not assumed.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from netloom.dataplane import namespaces
from netloom.dataplane.bed import Bed
from netloom.errors import LiveError

_STEP_S = 0.004
_OWED_S = 0.05
_PORT = 9
_TRIES, _TRY_S = 50, 0.1


@dataclass
class Flow:
    """Packets of one size from a host to another.

    Parameters
    ----------
    source, destination : str
        Hosts of the bed.
    start_s, end_s : float
        When, after the beginning.
    packets_per_s : float
        How many.
    payload_bytes : int
        Of UDP.
    """

    source: str
    destination: str
    start_s: float
    end_s: float
    packets_per_s: float
    payload_bytes: int
    sent: list[tuple[float, int]] = field(default_factory=list)
    """When how many had been sent, in seconds after the beginning."""

    def sent_between(self, start_s: float, end_s: float) -> float:
        """How many packets were sent between two moments."""
        if not self.sent:
            return 0.0
        times, counts = zip(*self.sent, strict=True)
        early, late = np.interp([start_s, end_s], times, counts)
        return float(late - early)


def greet(bed: Bed, ways: Sequence[Sequence[str]]) -> None:
    """Sends a packet each way until one arrives, so that every node knows its neighbours.

    Raises
    ------
    LiveError
        If none does.
    """
    for way in ways:
        for source, destination in ((way[0], way[-1]), (way[-1], way[0])):
            with _socket(bed, destination) as taker, _socket(bed, source) as sender:
                taker.bind((bed.address(destination), _PORT))
                taker.settimeout(_TRY_S)
                for _ in range(_TRIES):
                    sender.sendto(b"", (bed.address(destination), _PORT))
                    with contextlib.suppress(TimeoutError):
                        taker.recv(1)
                        break
                else:
                    raise LiveError(f"no packet from {source} arrives at {destination}")


def _socket(bed: Bed, node: str) -> socket.socket:
    with namespaces.inside(bed.path(node)):
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


class Traffic:
    """Flows that run; stops with its `with` block.

    Parameters
    ----------
    bed : Bed
        The network.
    flows : sequence of Flow
        What runs.
    began_ns : int
        The beginning, by `time.monotonic_ns`.
    """

    def __init__(self, bed: Bed, flows: list[Flow], began_ns: int) -> None:
        self._stop = threading.Event()
        self._began = began_ns * 1e-9
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        try:
            for flow in flows:
                taker = _socket(bed, flow.destination)
                self._open.append(taker)
                taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                # Nobody reads: what comes when its buffer is full is dropped, behind the receiver.
                taker.bind((bed.address(flow.destination), _PORT))
                sender = _socket(bed, flow.source)
                self._open.append(sender)
                sender.connect((bed.address(flow.destination), _PORT))
                self._threads.append(threading.Thread(target=self._run, args=(flow, sender), daemon=True))
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._close()

    def _close(self) -> None:
        for one in self._open:
            one.close()

    def _run(self, flow: Flow, sender: socket.socket) -> None:
        data, count = bytes(flow.payload_bytes), 0
        due = self._began + flow.start_s
        if self._stop.wait(max(0.0, due - time.monotonic())):
            return
        flow.sent.append((time.monotonic() - self._began, 0))
        end = self._began + flow.end_s
        while (now := time.monotonic()) < end and not self._stop.is_set():
            due = max(due, now - _OWED_S)
            owed = int((now - due) * flow.packets_per_s)
            for _ in range(owed):
                try:
                    sender.send(data)
                    count += 1
                except OSError:
                    continue  # The host's own queue is full.
            due += owed / flow.packets_per_s
            flow.sent.append((time.monotonic() - self._began, count))
            self._stop.wait(_STEP_S)
