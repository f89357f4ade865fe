"""What every port of a live fabric has counted, read over the fabric itself, and what reading it costs.

A poll asks the performance management agent of every switch for the counters of every port with a cable:
one datagram a port (`PortCountersExtended`), one more where ticks of waiting are asked for and the wide
counters lack them, one more for counters by lane, one more for the state of its link, and one a switch,
once, for what it can do. Nothing is
ever set back. Asked round the switches, since each answers one after the other.

The reading is kept as `perfquery` would print it, so it can be written to a file and read by every verb.
Ports that did not answer are not in it: netloom's counters then have the quality `missing` there.

Source: InfiniBand Architecture Specification, vol. 1, sec. 16.1 (PortCounters, PortCountersExtended).
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import LiveError
from netloom.live.mads import Answers, Mads, Request
from netloom.live.ports import PORT_INFO, PortDown, state_of
from netloom.nodes import Nodes

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Counters, Fabric
    from netloom.live.access import Access

    Array = npt.NDArray[np.float64]

_CLASS_PORT_INFO, _PORT_COUNTERS, _LANES, _EXTENDED = 0x01, 0x12, 0x1A, 0x1D
_IS_WIDE = 0x0200 | 0x0400
_COUNTS_WAITS = 0x1000
_WIDE_HAS_WAITS = 0x0002
"""Bit of CapabilityMask2: PortCountersExtended goes on with errors and ticks of waiting."""

_WIDE_NAMES = (
    "PortXmitData",
    "PortRcvData",
    "PortXmitPkts",
    "PortRcvPkts",
    "PortUnicastXmitPkts",
    "PortUnicastRcvPkts",
    "PortMulticastXmitPkts",
    "PortMulticastRcvPkts",
)
_WIDE_ERRORS, _WIDE_WAIT = 72, 168
_ERROR_NAMES = (
    "SymbolErrorCounter",
    "LinkErrorRecoveryCounter",
    "LinkDownedCounter",
    "PortRcvErrors",
    "PortRcvRemotePhysicalErrors",
    "PortRcvSwitchRelayErrors",
    "PortXmitDiscards",
    "PortXmitConstraintErrors",
    "PortRcvConstraintErrors",
    "LocalLinkIntegrityErrors",
    "ExcessiveBufferOverrunErrors",
    "VL15Dropped",
)
"""In the order of both attributes."""
_NARROW_ERRORS = (
    (4, 2),
    (6, 1),
    (7, 1),
    (8, 2),
    (10, 2),
    (12, 2),
    (14, 2),
    (16, 1),
    (17, 1),
    (19, 1),
    (22, 2),
)
"""Where `PortCounters` has them: first octet, and how many."""
_NARROW_NAMES = ("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortXmitWait")


@dataclass(frozen=True)
class Poll:
    """One reading of all ports."""

    counters: Counters
    text: bytes
    """The same as `perfquery` prints it."""
    ports: int
    """How many were asked."""
    missing: list[tuple[str, int]]
    """Those that did not answer: node and port."""
    mads: int
    """Datagrams sent, those sent again too."""
    octets: int
    """What was sent and received."""
    started_s: float
    """On the clock that never goes back."""
    at_s: float
    """The same by the time of day: seconds since 1970, UTC."""
    seconds: float
    down: list[PortDown] = field(default_factory=list)
    """Ports over which nothing goes, where `links` asked for them."""


class Poller:
    """Polls a fabric again and again; use it as a context manager.

    Parameters
    ----------
    access : Access
        How the fabric is reached.
    fabric : Fabric
        As discovered: its LIDs are those that are asked.
    hosts : bool
        Whether adapters are asked too, not only switches.
    waits : bool
        Whether to read ticks of waiting, from ports that count them.
    lanes : bool
        Whether to read what was received by lane, from ports that count it.
    links : bool
        Whether to ask every port for its state too: one more datagram a port.
    window : int
        Datagrams under way at a time.
    timeout_ms, retries : int
        How long to wait for an answer, and how often to ask again.

    Raises
    ------
    LiveError
        If the fabric has no LIDs (it was not discovered), or the device cannot be used.
    """

    def __init__(
        self,
        access: Access,
        fabric: Fabric,
        *,
        hosts: bool = False,
        waits: bool = True,
        lanes: bool = False,
        links: bool = False,
        window: int = 16,
        timeout_ms: int = 400,
        retries: int = 2,
    ) -> None:
        self._fabric = fabric
        self._waits = waits
        self._lanes = lanes
        self._links = links
        self._ports = _ports(fabric, hosts)
        self._can: dict[int, tuple[int, int]] = {}
        self._mads = Mads(access, fabric, window=window, timeout_ms=timeout_ms, retries=retries)

    def __enter__(self) -> Poller:
        self._mads.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mads.__exit__(kind, value, trace)

    def poll(self) -> Poll:
        """Reads every port once.

        Raises
        ------
        LiveError
            If no port answers at all.
        """
        from netloom import _core

        started, at = time.monotonic(), time.time()
        cost = _Cost()
        self._ask_what_they_can(cost)
        known = [(name, lid, port) for name, lid, port in self._ports if lid in self._can]
        blocks: list[str] = []
        read: set[tuple[int, int]] = set()
        wide = [(lid, port) for _, lid, port in known if self._can[lid][0] & _IS_WIDE]
        for (lid, port), data in self._answers(wide, _EXTENDED, cost):
            read.add((lid, port))
            blocks.append(_wide_block(lid, port, data, *self._can[lid]))
        narrow = [(lid, port) for _, lid, port in known if self._needs_narrow(lid)]
        for (lid, port), data in self._answers(narrow, _PORT_COUNTERS, cost):
            read.add((lid, port))
            blocks.append(_narrow_block(lid, port, data, self._can[lid][0]))
        if self._lanes:
            for (lid, port), data in self._answers([(lid, port) for _, lid, port in known], _LANES, cost):
                blocks.append(_lanes_block(lid, port, data))
        down = self._down([one for one in known if one[1:] in read], cost) if self._links else []
        seconds = time.monotonic() - started
        missing = [(name, port) for name, lid, port in self._ports if (lid, port) not in read]
        if not read:
            raise LiveError(
                f"no counters: none of {len(self._ports)} ports answered {cost.sent} datagrams "
                "(is a subnet manager running, so that LIDs are routed?)"
            )
        text = "".join(blocks).encode()
        counters = _core.Counters.parse(text, self._fabric, label="the poll")
        octets = cost.octets
        return Poll(counters, text, len(self._ports), missing, cost.sent, octets, started, at, seconds, down)

    def _ask_what_they_can(self, cost: _Cost) -> None:
        lids = [lid for lid in dict.fromkeys(lid for _, lid, _ in self._ports) if lid not in self._can]
        answers = self._mads.ask([Request.performance(lid, _CLASS_PORT_INFO) for lid in lids])
        cost.add(answers)
        for lid, answered, data in zip(lids, answers.answered, answers.data, strict=True):
            if answered:
                mask, mask2 = data[2:4].view(">u2"), data[4:8].view(">u4")
                self._can[lid] = int(mask[0]), int(mask2[0]) >> 5

    def _down(self, known: list[tuple[str, int, int]], cost: _Cost) -> list[PortDown]:
        answers = self._mads.ask(
            # Of an adapter there is only the port that is asked.
            [Request.subnet(lid, PORT_INFO, port) for _, lid, port in known]
        )
        cost.add(answers)
        states = [
            (name, port, state_of(answers.data[index]))
            for index, (name, _, port) in enumerate(known)
            if answers.answered[index]
        ]
        return [PortDown(name, port, why) for name, port, why in states if why is not None]

    def _needs_narrow(self, lid: int) -> bool:
        mask, mask2 = self._can[lid]
        waits_elsewhere = mask & _IS_WIDE and mask2 & _WIDE_HAS_WAITS
        wants_waits = self._waits and mask & _COUNTS_WAITS and not waits_elsewhere
        return not mask & _IS_WIDE or bool(wants_waits)

    def _answers(
        self, ports: list[tuple[int, int]], attribute: int, cost: _Cost
    ) -> list[tuple[tuple[int, int], np.ndarray[Any, np.dtype[np.uint8]]]]:
        answers = self._mads.ask([Request.performance(lid, attribute, port) for lid, port in ports])
        cost.add(answers)
        return [(ports[index], answers.data[index]) for index in np.flatnonzero(answers.answered).tolist()]


def poll(access: Access, fabric: Fabric, **options: Any) -> Poll:
    """Reads every port once; [`Poller`] has the options."""
    with Poller(access, fabric, **options) as poller:
        return poller.poll()


def column(fabric: Fabric, counters: Counters, name: str, *, interval: int = 0) -> Array | None:
    """A counter of whole links, by link; NaN where it was not read. None if nobody counts it."""
    from netloom.interop import arrow_csv

    table = arrow_csv().read_csv(io.BytesIO(counters.to_bytes()))
    if name not in table.column_names:
        return None
    starts = table["start_ns"].to_numpy()
    wanted = starts == np.unique(starts)[interval]
    # A row a link, and beside it one a lane.
    wanted &= np.asarray(table["lane"].is_null())
    values = np.full(fabric.links, np.nan)
    read = table[name].to_numpy(zero_copy_only=False).astype(float)
    values[table["link"].to_numpy()[wanted]] = read[wanted]
    return values


@dataclass
class _Cost:
    sent: int = 0
    octets: int = 0

    def add(self, answers: Answers) -> None:
        self.sent += answers.sent
        self.octets += answers.octets


def _ports(fabric: Fabric, hosts: bool) -> list[tuple[str, int, int]]:
    """Node, LID and number of every port with a cable; those of a switch far from each other."""
    host, switch, link = fabric.host_table(), fabric.switch_table(), fabric.link_table()
    names = Nodes(fabric).labels
    lids = np.concatenate([host["lid"], switch["lid"]])
    if not switch["lid"].any():
        raise LiveError("the fabric has no LIDs: expected one as discovered (ibnetdiscover)")
    wanted = link["alive"] & (hosts | (link["source"] >= fabric.hosts))
    sources, ports = link["source"][wanted], link["source_port"][wanted]
    order = np.lexsort((sources, ports))
    return [
        (names[node], int(lids[node]), port)
        for node, port in zip(sources[order].tolist(), ports[order].tolist(), strict=True)
    ]


def _line(name: str, value: object) -> str:
    return f"{name + ':':.<33}{value}\n"


def _wide_block(lid: int, port: int, data: np.ndarray[Any, Any], mask: int, mask2: int) -> str:
    values = data[8:72].view(">u8").tolist()
    lines = [
        f"# Port extended counters: Lid {lid} port {port} (CapMask: 0x{mask:02X} CapMask2: 0x{mask2:07X})\n",
        _line("PortSelect", port),
        _line("CounterSelect", "0x0000"),
        *map(_line, _WIDE_NAMES, values),
    ]
    if mask2 & _WIDE_HAS_WAITS:
        errors = data[_WIDE_ERRORS:_WIDE_WAIT].view(">u8").tolist()
        lines += map(_line, _ERROR_NAMES, errors)
        lines.append(_line("PortXmitWait", int(data[_WIDE_WAIT : _WIDE_WAIT + 8].view(">u8")[0])))
    return "".join(lines)


def _narrow_block(lid: int, port: int, data: np.ndarray[Any, Any], mask: int) -> str:
    values = data[24:44].view(">u4").tolist()
    names = _NARROW_NAMES if mask & _COUNTS_WAITS else _NARROW_NAMES[:4]
    lines = [f"# Port counters: Lid {lid} port {port} (CapMask: 0x{mask:02X})\n", _line("PortSelect", port)]
    errors = [int.from_bytes(data[at : at + size].tobytes(), "big") for at, size in _NARROW_ERRORS]
    # Two counters of four bits share an octet.
    errors[-2:] = [errors[-2] >> 4, errors[-2] & 15, errors[-1]]
    return "".join([*lines, *map(_line, _ERROR_NAMES, errors), *map(_line, names, values)])


def _lanes_block(lid: int, port: int, data: np.ndarray[Any, Any]) -> str:
    values = data[4:68].view(">u4").tolist()
    lines = [f"# PortVLOpData counters: Lid {lid} port {port}\n", _line("PortSelect", port)]
    lines += [_line(f"PortVLOpData{lane}", value) for lane, value in enumerate(values)]
    return "".join(lines)
