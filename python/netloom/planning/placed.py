"""Applications of a plan on the hosts of a network: a design, or the fabric that a site has.

`Network` is a fabric with its hosts in the order of its leaves; `Application` one of the plan's with its
matrices, phase by phase, ranks by number. `on` puts copies of it on hosts, so that the core's loads, bounds
and optimiser see what a run sends.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netloom._core import Fabric, Traffic

_HOST_BYTES = 1_000_000
"""What the busiest host of a pattern sends or receives that does not say how long its messages are."""
MOST_PHASES = 32
"""Phases that are looked at one by one; more are taken together, which makes T smaller, never larger."""


@dataclass(frozen=True)
class Network:
    """A fabric that applications are put on.

    Attributes
    ----------
    source : str
        What a scenario calls it: a spec with its speed, or a path.
    fabric : Fabric
        The fabric.
    hosts : sequence of int
        Its hosts, leaf by leaf: the plan's orders count along this.
    """

    source: str
    fabric: Fabric
    hosts: Sequence[int]

    @staticmethod
    def of(spec: str, speed_gbps: float) -> Network:
        """A design, all of whose cables have one speed."""
        from netloom import Fabric

        source = f"{spec},speed={speed_gbps:f}G"
        return Network(source, (fabric := Fabric.generate(source)), range(fabric.hosts))

    @staticmethod
    def today(source: str, fabric: Fabric) -> Network:
        """A site's own fabric: hosts in the order of its leaves, which are in the order that they are met."""
        leaf = [int(one) for one in fabric.host_table()["leaf"]]
        met = {one: number for number, one in enumerate(dict.fromkeys(leaf))}
        order = sorted(range(fabric.hosts), key=lambda host: (met[leaf[host]], host))
        return Network(str(Path(source).absolute()) if Path(source).exists() else source, fabric, order)

    def names(self, hosts: Sequence[Sequence[int]]) -> list[list[str]]:
        """Names of the hosts of every copy."""
        called = self.fabric.host_names
        return [[called[self.hosts[host]] for host in copy] for copy in hosts]


@dataclass(frozen=True)
class Application:
    """An application of the plan that weighs something.

    Attributes
    ----------
    told : mapping
        One of `_core.plan_applications`.
    weight, wire_share : float
        Its share of node hours, and of its run time that its busiest host's bytes take.
    each, copies : int
        Hosts of a copy, and how many copies fit on the machine of the plan.
    traffic : Traffic
        Rank to rank.
    """

    told: Mapping[str, Any]
    weight: float
    wire_share: float
    each: int
    copies: int
    traffic: Traffic

    @staticmethod
    def all_of(source: Any, result: Mapping[str, Any]) -> list[Application]:
        """Those of a plan and of `netloom.plan`'s answer to it."""
        from netloom import _core

        told = zip(_core.plan_applications(source), result["applications"], strict=True)
        return [_application(one, answered, result["hosts"]) for one, answered in told if one["weight"] > 0]

    @property
    def name(self) -> str:
        """Its name in the plan."""
        return str(self.told["name"])

    @property
    def runs(self) -> bool:
        """Whether it runs as it was recorded."""
        return self.told["kind"] == "trace" and not self.told["told"]

    def slowdown(self, ratio: float) -> float:
        """By how many times as long a run takes as without taper: its packets take `ratio` times as long."""
        return ratio if self.runs else 1 + self.wire_share * (ratio - 1)

    def estimate(self, stretch: float) -> float:
        """The plan's estimate, 1 - f + f T."""
        return 1 + self.wire_share * (stretch - 1)

    @functools.cached_property
    def phases(self) -> list[tuple[float, Traffic]]:
        """How often each phase happens, and its bytes."""
        repeats = self.traffic.phase_repeats
        if len(repeats) > MOST_PHASES:
            return [(1.0, self.traffic)]
        return [(often, self.traffic.phase(k)) for k, often in enumerate(repeats)]

    def on(self, network: Network, hosts: Sequence[Sequence[int]]) -> Iterator[tuple[float, Traffic]]:
        """How often each phase happens, and what copies of it on these hosts send, host to host."""
        return ((often, self.placed(phase, network, hosts)) for often, phase in self.phases)

    def rounds(self, traffic: Traffic, network: Network, hosts: Sequence[Sequence[int]]) -> Iterator[Traffic]:
        """The same in turn: what every rank sends to the next one, to the one after that, and so on."""
        import numpy as np

        sender = np.repeat(np.arange(traffic.endpoints), np.diff(traffic.indptr))
        apart = (np.asarray(traffic.indices, np.int64) - sender) % traffic.endpoints
        return (self.placed(traffic, network, hosts, apart == one) for one in np.unique(apart))

    def placed(
        self, traffic: Traffic, network: Network, hosts: Sequence[Sequence[int]], only: Any = slice(None)
    ) -> Traffic:
        """Rank to rank as host to host, for all copies; `only` some of the entries."""
        import numpy as np

        from netloom import Traffic

        sender = np.repeat(np.arange(traffic.endpoints), np.diff(traffic.indptr))
        at = np.asarray(network.hosts)[np.asarray(hosts)]
        rank_at = np.repeat(at, int(self.told["ranks_per_host"]), axis=1)
        ends = (sender[only], np.asarray(traffic.indices)[only])
        source, target = (rank_at[:, ranks].ravel() for ranks in ends)
        sent = np.tile(np.asarray(traffic.data)[only], len(hosts))
        between = source != target
        return Traffic.from_triples(network.fabric, source[between], target[between], sent[between])


def busiest_host(traffic: Traffic) -> float:
    """Bytes of the host that sends or receives most."""
    import numpy as np

    sent = np.add.reduceat(np.append(traffic.data, 0.0), np.minimum(traffic.indptr[:-1], len(traffic.data)))
    sent = np.where(np.diff(traffic.indptr) > 0, sent, 0.0)
    received = np.bincount(traffic.indices, weights=traffic.data, minlength=1)
    return float(max(sent.max(initial=0.0), received.max(initial=0.0)))


def time_left(until: float | None) -> float | None:
    """Seconds that are left; an error if there are none."""
    left = None if until is None else until - time.monotonic()
    if left is not None and left <= 0:
        raise TimeoutError
    return left


def _application(told: Mapping[str, Any], answered: Mapping[str, Any], hosts: int) -> Application:
    told, traffic = _traffic(told, hosts)
    shares = (float(answered["weight"]), float(answered["wire_share"]))
    return Application(told, *shares, int(answered["hosts"]), int(answered["copies"]), traffic)


def _traffic(told: Mapping[str, Any], hosts: int) -> tuple[Mapping[str, Any], Traffic]:
    """What an application sends; its pattern says how many ranks it has."""
    from netloom import SpecError, Traffic, TrafficError

    if told["kind"] != "pattern":
        return told, Traffic.read(told["source"])
    pattern = told["source"]
    try:
        traffic = Traffic.pattern(pattern)
    except (SpecError, TrafficError):
        # A pattern without a grid has as many ranks as the machine has room for.
        pattern = _with(pattern, f"ranks={hosts * told['ranks_per_host']}")
        traffic = Traffic.pattern(pattern)
    if "bytes=" not in pattern:
        # Messages of a byte would tell latency alone.
        pattern = _with(pattern, f"bytes={math.ceil(_HOST_BYTES / busiest_host(traffic))}")
        traffic = Traffic.pattern(pattern)
    return {**told, "source": pattern}, traffic


def _with(pattern: str, key: str) -> str:
    return f"{pattern}{',' if ':' in pattern else ':'}{key}"
