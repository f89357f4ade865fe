"""A network of hosts and routers in network namespaces of this process: for the demo, and for tests.

Every node is a namespace without a name, every cable a veth pair. Nothing of it has a name outside, so
however the process ends, the kernel takes all of it away: namespaces, cables, qdiscs, filters and programs.
Switches are Linux routers with a route for every host, as in the paper's experiment; a queue is that of
`tbf`.

Source: Taffet, dissertation, sec. 2.7; veth(4), tc-tbf(8).
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from netloom.dataplane import namespaces
from netloom.errors import LiveError


@dataclass(frozen=True)
class Cable:
    """Two ports and their cable."""

    a: str
    a_port: int
    b: str
    b_port: int


def missing_tools() -> list[str]:
    """What is needed beside a kernel, and not there."""
    return [f"{name} (Debian: iproute2)" for name in ("ip", "tc") if _tool(name) is None]


class Bed:
    """The network; goes with its `with` block, or with the process.

    Parameters
    ----------
    cables : sequence of Cable
        What is joined to what; interfaces are called `p1`, `p2`.
    ways : sequence of sequences of str
        Nodes from a host to a host: their packets, and those back, go this way.

    Raises
    ------
    LiveError
        If something is missing, or this process may not make namespaces.
    """

    def __init__(self, cables: Sequence[Cable], ways: Sequence[Sequence[str]]) -> None:
        lacking = missing_tools()
        if lacking:
            raise LiveError(f"no network can be made: missing: {', '.join(lacking)}")
        self._fds: dict[str, int] = {}
        self._near: dict[tuple[str, str], tuple[str, str]] = {}
        """By node and neighbour: the interface to it, and the neighbour's address."""
        self._addresses: dict[str, str] = {}
        try:
            for node in dict.fromkeys(name for cable in cables for name in (cable.a, cable.b)):
                self._fds[node] = namespaces.made()
            for number, cable in enumerate(cables):
                self._lay(number, cable)
            for node in self._fds:
                with namespaces.inside(self.path(node)):
                    for name in ("ip_forward", "conf/all/forwarding"):
                        _set(f"net/ipv4/{name}", "1")
                    for name in ("all", "default"):
                        _set(f"net/ipv4/conf/{name}/rp_filter", "0")
            routes: dict[str, dict[str, str]] = {node: {} for node in self._fds}
            for way in ways:
                for one in (way, way[::-1]):
                    for here, following in itertools.pairwise(one):
                        routes[here][self._addresses[one[-1]]] = self._near[here, following][1]
            for node, found in routes.items():
                own = {address for pair, (_, address) in self._near.items() if pair[0] == node}
                lines = [f"route replace {to} via {via}" for to, via in found.items() if to not in own]
                self.ip(node, lines)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Takes the network away."""
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def path(self, node: str) -> str:
        """The path of a node's namespace, for this process and others."""
        return f"/proc/{os.getpid()}/fd/{self._fds[node]}"

    def address(self, node: str) -> str:
        """A host's address."""
        return self._addresses[node]

    def ip(self, node: str, lines: Sequence[str]) -> None:
        """Lines of `ip -batch`, run in a node."""
        self._batch("ip", node, lines)

    def slow(self, node: str, port: int, *, kbit_per_s: int, burst_bytes: int, queue_bytes: int) -> None:
        """A port sends no faster than this, and queues what is too much.

        Parameters
        ----------
        node, port : str, int
            Which one.
        kbit_per_s : int
            How fast.
        burst_bytes : int
            What it may send at once after a pause.
        queue_bytes : int
            What it queues; more is dropped.
        """
        line = f"qdisc add dev p{port} root tbf rate {kbit_per_s}kbit burst {burst_bytes} limit {queue_bytes}"
        self._batch("tc", node, [line])

    def _lay(self, number: int, cable: Cable) -> None:
        ends = ((cable.a, cable.a_port), (cable.b, cable.b_port))
        peer = f"name p{cable.b_port} netns {self.path(cable.b)}"
        self.ip(cable.a, [f"link add p{cable.a_port} type veth peer {peer}"])
        for side, (node, port) in enumerate(ends):
            address = f"10.77.{number}.{side}"
            self.ip(node, [f"addr add {address}/31 dev p{port}", f"link set p{port} up", "link set lo up"])
            self._addresses.setdefault(node, address)
            other = ends[1 - side][0]
            self._near[other, node] = (f"p{ends[1 - side][1]}", address)

    def _batch(self, tool: str, node: str, lines: Sequence[str]) -> None:
        if not lines:
            return
        command = [str(_tool(tool)), "-batch", "-"]
        with namespaces.inside(self.path(node)):
            done = subprocess.run(
                command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
            )
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[0]
            raise LiveError(f"{node}: {tool}: {said}")


def _tool(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _set(name: str, value: str) -> None:
    with open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
        file.write(value)
