"""Section 2.7's experiment in network namespaces: who fills a slow cable is seen without asking him.

The network is that of figure 2.14: h1 and h11 at s1, h2 and h22 at s2, h3 at s3; s4 joins s1 and s2 by
cables of half the speed. Three flows: h1 -> h2 by s4 all the time, h3 -> h2 by s3 from a tenth of the time
on, and h11 -> h22 by s4 from a quarter to seven eighths, far too fast. h1, h2, h3 and all switches sample;
h11 and h22 know of nothing.

What differs from the paper: times are a quarter of its 200 s; 3,000 packets a second instead of 30, so that
estimates are sure in that time; cables 25 times as fast. The cable s1 - s2, which no flow takes, is left
out: with it s4 is on no shortest way. s4 may send more at once than s1, or the queue would stand now here,
now there.

Source: Taffet, dissertation, sec. 2.7 (figures 2.14 and 2.15).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netloom.dataplane import attaching, plan
from netloom.dataplane.bed import Bed, Cable
from netloom.dataplane.collecting import Collector, Packets
from netloom.dataplane.flows import Flow, Traffic, greet
from netloom.dataplane.netlink import Netlink
from netloom.dataplane.wiring import Wire

if TYPE_CHECKING:
    from netloom._core import Fabric

CABLES = (
    Cable("h1", 1, "s1", 1),
    Cable("h11", 1, "s1", 2),
    Cable("h2", 1, "s2", 1),
    Cable("h22", 1, "s2", 2),
    Cable("h3", 1, "s3", 1),
    Cable("s1", 3, "s4", 1),
    Cable("s2", 3, "s4", 2),
    Cable("s1", 4, "s3", 2),
    Cable("s2", 4, "s3", 3),
)
WAYS = (
    ("h1", "s1", "s4", "s2", "h2"),
    ("h3", "s3", "s2", "h2"),
    ("h11", "s1", "s4", "s2", "h22"),
)
"""Of the three flows."""
SECONDS = 50.0
CROSS_TRAFFIC_HOSTS = ("h11", "h22")
"""Hosts that take no part."""
_SHARES = ((0.0, 1.0), (0.1, 1.0), (0.25, 0.875))
"""When each flow runs."""
PACKETS_PER_S = 3000.0
_SMALL, _LARGE = 20, 1400
_CROSS_TRAFFIC_PER_S = 2100.0
_SLOW_KBIT, _FAST_KBIT = 12_800, 25_000
_BURST, _BURST_OF_S4, _BURST_FAST = 16_000, 256_000, 32_000
_QUEUE = 60_000
QUEUE_BYTES = 30_000
"""From how many bytes on a switch's queue is congested."""
_STEP_S = 0.25


@dataclass(frozen=True)
class Link:
    """A link of the network."""

    name: str
    source: str
    target: str
    port: int
    number: int
    mask: int


@dataclass
class Seen:
    """What came of it."""

    links: list[Link]
    flows: list[Flow]
    packets: Packets
    seconds: float
    times_s: npt.NDArray[np.float64]
    queues: dict[str, npt.NDArray[np.int64]]
    """Bytes in the queue of each switch's port at these times: what really stood there."""
    hash: str
    """What made the masks."""

    @property
    def quiet(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Before the cross traffic, and after; the queue has a little time to empty."""
        start, end = (share * self.seconds for share in _SHARES[2])
        return (0.0, start), (min(end + 0.02 * self.seconds, self.seconds), self.seconds)

    @property
    def loud(self) -> tuple[float, float]:
        """While cross traffic is sent."""
        start, end = (share * self.seconds for share in _SHARES[2])
        return start, end


def text() -> bytes:
    """The network as ibsim has it."""
    ends: dict[str, list[tuple[int, str, int]]] = {}
    for cable in CABLES:
        ends.setdefault(cable.a, []).append((cable.a_port, cable.b, cable.b_port))
        ends.setdefault(cable.b, []).append((cable.b_port, cable.a, cable.a_port))
    lines = []
    for node in sorted(ends, key=lambda name: (name[0] == "h", name)):
        kind, count = ("Hca", 1) if node.startswith("h") else ("Switch", 8)
        lines.append(f'{kind} {count} "{node}"')
        lines += [f'[{port}] "{other}"[{there}]' for port, other, there in sorted(ends[node])]
    return ("\n".join(lines) + "\n").encode()


@contextlib.contextmanager
def network() -> Iterator[Bed]:
    """Builds it, with its slow cables and queues."""
    with Bed(CABLES, WAYS) as bed:
        for cable in CABLES:
            slow = "s4" in (cable.a, cable.b)
            for node, port in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
                burst = (_BURST_OF_S4 if node == "s4" else _BURST) if slow else _BURST_FAST
                speed = _SLOW_KBIT if slow else _FAST_KBIT
                bed.slow(node, port, kbit_per_s=speed, burst_bytes=burst, queue_bytes=_QUEUE)
        yield bed


def run(
    fabric: Fabric,
    *,
    seconds: float = SECONDS,
    hash_name: str,
    report: Callable[[float], None] | None = None,
) -> Seen:
    """Runs it.

    Parameters
    ----------
    fabric : Fabric
        What `text` says.
    seconds : float
        How long.
    hash_name : str
        What made the masks.
    report : callable, optional
        Told how many seconds are over.

    Returns
    -------
    Seen
        What came of it. The network is gone.

    Raises
    ------
    LiveError
        If something is missing.
    """
    attaching.need()
    ports, _, _ = plan.ports(fabric, queue_bytes=QUEUE_BYTES)
    peers = {(c.a, c.a_port): c.b for c in CABLES} | {(c.b, c.b_port): c.a for c in CABLES}
    links = [
        Link(f"{p.node} → {peers[p.node, p.port]}", p.node, peers[p.node, p.port], p.port, p.number, p.mask)
        for p in ports
    ]
    flows = [
        Flow(
            way[0],
            way[-1],
            start * seconds,
            end * seconds,
            _CROSS_TRAFFIC_PER_S if way[0] in CROSS_TRAFFIC_HOSTS else PACKETS_PER_S,
            _LARGE if way[0] in CROSS_TRAFFIC_HOSTS else _SMALL,
        )
        for way, (start, end) in zip(WAYS, _SHARES, strict=True)
    ]
    with network() as bed:
        wires = [
            Wire(
                port,
                f"p{port.port}",
                bed.path(port.node),
                (bed.address(port.node),) if port.role == "host" else (),
            )
            for port in ports
            if port.node not in CROSS_TRAFFIC_HOSTS
        ]
        now = attaching.new([one.port for one in attaching.look(wires)], rate=1.0, hash_name=hash_name)
        attaching.put_on(now, keep=False)
        greet(bed, WAYS)
        with Collector(now) as collector:
            collector.wait(0.0)
            collector.take()  # What came before the beginning.
            began_ns = time.monotonic_ns()
            times: list[float] = []
            lengths = _Lengths(bed, [link for link in links if link.source.startswith("s")])
            with lengths, Traffic(bed, flows, began_ns):
                while (passed := (time.monotonic_ns() - began_ns) * 1e-9) < seconds:
                    collector.wait(min(_STEP_S, seconds - passed))
                    if report is not None:
                        report(min(passed, seconds))
                    times.append((time.monotonic_ns() - began_ns) * 1e-9)
                    lengths.read()
            collector.wait(0.2)
            packets = collector.take(began_ns)
    return Seen(
        links,
        flows,
        packets,
        seconds,
        np.array(times),
        {name: np.array(found, np.int64) for name, found in lengths.found.items()},
        hash_name,
    )


class _Lengths:
    """The queues of links, read again and again."""

    def __init__(self, bed: Bed, links: Sequence[Link]) -> None:
        self.found: dict[str, list[int]] = {link.name: [] for link in links}
        self._stack = contextlib.ExitStack()
        self._of: dict[str, tuple[Netlink, list[tuple[str, int]]]] = {}
        for link in links:
            if link.source not in self._of:
                socket = self._stack.enter_context(Netlink(bed.path(link.source)))
                self._of[link.source] = (socket, [])
            socket, ports = self._of[link.source]
            ports.append((link.name, socket.interfaces()[f"p{link.port}"]))

    def __enter__(self) -> _Lengths:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self) -> None:
        for socket, ports in self._of.values():
            lengths = socket.backlogs()
            for name, index in ports:
                self.found[name].append(lengths.get(index, 0))
