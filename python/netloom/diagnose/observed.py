"""What a diagnosis may look at: samples and counters by window of time, jobs, the fabric's links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloom.nodes import Nodes

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse import csr_array

    from netloom._core import Fabric

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """The directed links of a fabric, as arrays by link. Nodes are hosts first, then switches."""

    hosts: int
    source: Ints
    target: Ints
    bytes_per_s: Floats
    """Capacity."""
    level: Ints
    """[node] -1: a host, 0: a leaf, 1: a spine, …"""
    labels: Nodes
    """Names of nodes and ports."""

    @staticmethod
    def of(fabric: Fabric) -> Links:
        """Those of a fabric; dead ones carry nothing and do no harm."""
        links, switches = fabric.link_table(), fabric.switch_table()
        level = np.concatenate([np.full(fabric.hosts, -1), np.asarray(switches["level"], dtype=np.int64)])
        return Links(
            fabric.hosts,
            np.asarray(links["source"], dtype=np.int64),
            np.asarray(links["target"], dtype=np.int64),
            np.asarray(links["bandwidth_bytes_per_s"], dtype=np.float64),
            level,
            Nodes(fabric),
        )

    def __len__(self) -> int:
        return len(self.source)

    @property
    def nodes(self) -> int:
        return len(self.level)

    @cached_property
    def from_host(self) -> npt.NDArray[np.bool_]:
        return self.source < self.hosts

    @cached_property
    def to_host(self) -> npt.NDArray[np.bool_]:
        return self.target < self.hosts

    @cached_property
    def down(self) -> npt.NDArray[np.bool_]:
        """Away from the roots of the tree."""
        return self.level[self.target] < self.level[self.source]

    @cached_property
    def interior(self) -> npt.NDArray[np.bool_]:
        """Between switches."""
        return ~(self.from_host | self.to_host)

    def name(self, link: int) -> str:
        """`leaf00[5] -> spine03[1]`."""
        return self.labels.link(link)


@dataclass(frozen=True)
class Context:
    """A job and a phase of it."""

    job: int
    phase: str


@dataclass(frozen=True)
class Received:
    """What receivers know exactly: by window, context and pair of hosts."""

    window: Ints
    context: Ints
    source: Ints
    destination: Ints
    bytes: Floats


@dataclass(frozen=True)
class Observed:
    """Samples and counters of one run. W windows, C contexts, L links."""

    fabric: Fabric
    links: Links
    seconds: Floats
    """[W] lengths of the windows."""
    jobs: list[str]
    hosts: list[Ints]
    """[J] of every job, in the order of their first ranks."""
    contexts: list[Context]
    traffic: Floats
    """[W, C, L] packets, estimated; may be below zero where there are next to none."""
    traffic_error: Floats
    """[W, C, L] their standard errors."""
    congested: Floats
    """[W, C, L] those that were congested there."""
    congested_error: Floats
    """[W, C, L] their standard errors."""
    packet_bytes: Floats
    """[C] mean bytes of a packet on the wire."""
    bytes: Floats
    """[W, L] on the wire, of everybody, as ports counted them."""
    received: Received
    waiting_known: bool = True
    """Whether `congested` is known at all."""

    @cached_property
    def job_of(self) -> Ints:
        """[C]"""
        return np.array([context.job for context in self.contexts], dtype=np.int64)

    def by_job(self, values: Floats) -> Floats:
        """[W, C, L] to [W, J, L]."""
        sums = np.zeros((values.shape[0], len(self.jobs), values.shape[2]))
        for context, job in enumerate(self.job_of):
            sums[:, job] += values[:, context]
        return sums

    @cached_property
    def utilisation(self) -> Floats:
        """[W, L] bytes over what fits through."""
        return self.bytes / (self.links.bytes_per_s[None, :] * self.seconds[:, None])

    def matrix(self, windows: npt.NDArray[np.bool_], job: int | None = None) -> csr_array:
        """Bytes from host to host in some windows, of one job or of all."""
        from scipy.sparse import coo_array

        r = self.received
        rows = windows[r.window]
        if job is not None:
            rows &= self.job_of[r.context] == job
        shape = (self.links.hosts, self.links.hosts)
        return coo_array((r.bytes[rows], (r.source[rows], r.destination[rows])), shape=shape).tocsr()
