"""A chain h1-s1-s2-h2 in network namespaces, for tests that put BPF programs on ports.

Its namespaces have no names: a test that is killed leaves nothing.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netloom import dataplane
from netloom.dataplane import namespaces
from netloom.dataplane.bed import Bed, Cable, missing_tools
from netloom.dataplane.netlink import Netlink

LACKING = [*dataplane.missing(), *missing_tools()]
needs_ports = pytest.mark.skipif(bool(LACKING), reason=f"missing: {', '.join(LACKING)}")

NET = """Switch 4 "s1"
[1] "h1"[1]
[2] "s2"[2]
Switch 4 "s2"
[1] "h2"[1]
[2] "s1"[2]
Hca 1 "h1"
[1] "s1"[1]
Hca 1 "h2"
[1] "s2"[1]
"""
PORTS = (("h1", 1), ("s1", 1), ("s1", 2), ("s2", 1), ("s2", 2), ("h2", 1))
NODES = ("h1", "s1", "s2", "h2")


@dataclass
class Chain:
    """The network, and the files that say what it is."""

    bed: Bed
    folder: Path
    journal: Path

    def state(self) -> list[object]:
        """What `up` changes and `down` restores, of all interfaces; and what has a name outside."""
        found: list[object] = []
        for node in NODES:
            with Netlink(self.bed.path(node)) as link:
                for name, index in sorted(link.interfaces().items()):
                    qdisc = link.ingress_qdisc(index)
                    filters = [
                        link.filters(index, direction) if qdisc else [] for direction in ("egress", "ingress")
                    ]
                    found.append((node, name, qdisc, filters))
        pins, named = Path("/sys/fs/bpf"), Path("/run/netns")
        found.append(sorted(os.listdir(pins)) if pins.is_dir() else None)
        found.append(sorted(os.listdir(named)) if named.is_dir() else None)
        return found

    def socket(self, node: str) -> socket.socket:
        """A UDP socket in a node."""
        with namespaces.inside(self.bed.path(node)):
            return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    @contextlib.contextmanager
    def sender(self) -> Iterator[socket.socket]:
        """A socket of h1, connected to one of h2 that takes packets and does not read them."""
        with self.socket("h2") as taker, self.socket("h1") as sender:
            taker.bind((self.bed.address("h2"), 9))
            sender.connect((self.bed.address("h2"), 9))
            yield sender


@contextlib.contextmanager
def chain(folder: Path) -> Iterator[Chain]:
    """Builds it; `net.txt` and `ports.csv` are in the folder."""
    cables = [Cable("h1", 1, "s1", 1), Cable("s1", 2, "s2", 2), Cable("s2", 1, "h2", 1)]
    with Bed(cables, [NODES]) as bed:
        (folder / "net.txt").write_text(NET)
        rows = [f"{node},{port},p{port},{bed.path(node)}" for node, port in PORTS]
        (folder / "ports.csv").write_text("\n".join(["node,port,interface,namespace", *rows]) + "\n")
        yield Chain(bed, folder, folder / "journal")
