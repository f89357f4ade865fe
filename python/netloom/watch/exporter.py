"""What is watched, for Prometheus: every port's counters and a few figures of the fabric, over HTTP.

Names, labels and units of ports' counters are those of the exporters that sites run (`infiniband_exporter`
by treydock): data in bytes, though ports count units of four. What netloom knows beyond that begins with
`netloom_`. Counters are those of the last poll; where that failed there are none, so that nobody takes old
ones for new.

Source: Prometheus documentation, *Exposition formats*, text-based format 0.0.4.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import LiveError
from netloom.health.error_counters import RULES
from netloom.health.siblings import slow_cables
from netloom.live.polling import column
from netloom.live.ports import both_ends
from netloom.live.ports import cables as cables_of
from netloom.nodes import Nodes, guid_text
from netloom.watch.picture import Picture
from netloom.watch.server import Page, Server

if TYPE_CHECKING:
    from netloom._core import Counters, Fabric
    from netloom.health.error_counters import Errors
    from netloom.watch.journals import Told
    from netloom.watch.sources import Reading

_BACKLOG = 128
LOCAL = "127.0.0.1"
"""Where `:PORT` is served: whoever wants others to see it says so."""
_OF_PORTS = (
    ("transmit_data_bytes_total", "xmit_bytes", True, "Data sent, PortXmitData"),
    ("receive_data_bytes_total", "rcv_bytes", False, "Data received, PortRcvData"),
    ("transmit_packets_total", "xmit_packets", True, "Packets sent, PortXmitPkts"),
    ("receive_packets_total", "rcv_packets", False, "Packets received, PortRcvPkts"),
    ("transmit_wait_total", "wait_ticks", True, "Ticks in which data waited to be sent, PortXmitWait"),
)
"""Metric, column of counters, whether the sender counts it, help."""


def ports(fabric: Fabric, counters: Counters, errors: Errors | None = None) -> str:
    """The counters of every port that was read: data, packets, waiting and, where there are any, errors."""
    table = fabric.link_table()
    page = _Page(fabric)
    for metric, of, by_sender, told in _OF_PORTS:
        values = column(fabric, counters, of)
        if values is None:
            continue
        side = "source" if by_sender else "target"
        known = np.flatnonzero(~np.isnan(values)).tolist()
        rows = zip(
            table[side][known].tolist(),
            table[f"{side}_port"][known].tolist(),
            values[known].tolist(),
            strict=True,
        )
        page.port_metric(metric, told, "counter", rows)
    if errors is not None:
        of_rule: dict[int, list[int]] = {}
        for link, number in sorted(errors.last):
            of_rule.setdefault(number, []).append(link)
        for number, of_links in sorted(of_rule.items()):
            rule = RULES[number]
            source, port = table["source"][of_links].tolist(), table["source_port"][of_links].tolist()
            counted = [errors.last[link, number] for link in of_links]
            told = f"{rule.help}, {rule.counter}"
            page.port_metric(f"{rule.metric}_total", told, "counter", zip(source, port, counted, strict=True))
    return page.text()


def cables(fabric: Fabric) -> str:
    """What every cabled port leads to and how fast it runs; cables that are slower than their siblings."""
    table = fabric.link_table()
    page = _Page(fabric)
    alive = np.flatnonzero(np.asarray(table["alive"], bool)).tolist()
    source, out = table["source"][alive].tolist(), table["source_port"][alive].tolist()
    speed = table["bandwidth_bytes_per_s"][alive].tolist()
    told = "What the port's link carries at most"
    page.port_metric("rate_bytes_per_second", told, "gauge", zip(source, out, speed, strict=True))
    target, into = table["target"][alive].tolist(), table["target_port"][alive].tolist()
    page.uplinks(zip(source, out, target, into, strict=True))
    slow = slow_cables(fabric)
    page.head(
        "netloom_cable_slow", "gauge", "1: slower than the other cables of its stage (`netloom health`)"
    )
    for one in slow:
        ends = (
            int(table[f"{side}{what}"][one.link]) for side in ("source", "target") for what in ("", "_port")
        )
        page.lines.append(f"netloom_cable_slow{{{page.far_labels(*ends)}}} 1")
    page.head("netloom_cables_slow", "gauge", "How many cables are")
    page.lines.append(f"netloom_cables_slow {len(slow)}")
    return page.text()


class _Page:
    """Lines in Prometheus' text format, of one fabric's ports."""

    def __init__(self, fabric: Fabric) -> None:
        self.lines: list[str] = []
        self._hosts = fabric.hosts
        self._nodes = Nodes(fabric)

    def text(self) -> str:
        return "\n".join([*self.lines, ""]) if self.lines else ""

    def head(self, name: str, kind: str, told: str) -> None:
        self.lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]

    def port_metric(
        self, metric: str, told: str, metric_kind: str, rows: Iterable[tuple[int, int, float]]
    ) -> None:
        """Node, port and value of a metric: of switches' ports, then of adapters'."""
        of = list(rows)
        for kind in ("switch", "hca"):
            here = [row for row in of if (row[0] >= self._hosts) == (kind == "switch")]
            if not here:
                continue
            name = f"infiniband_{kind}_port_{metric}"
            self.head(name, metric_kind, told)
            for node, port, value in here:
                self.lines.append(
                    f'{name}{{{self._port(node, port)},{kind}="{self._name(node)}"}} {value:.0f}'
                )

    def uplinks(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """What ports of switches lead to."""
        name = "infiniband_switch_uplink_info"
        self.head(name, "gauge", "What the port leads to")
        for node, port, far, far_port in rows:
            if node >= self._hosts:
                self.lines.append(f"{name}{{{self.far_labels(node, port, far, far_port)}}} 1")

    def far_labels(self, node: int, port: int, far: int, far_port: int) -> str:
        """Labels of a port and of the far end of its cable."""
        kind, of_far = ("switch" if n >= self._hosts else "hca" for n in (node, far))
        return (
            f'{self._port(node, port)},{kind}="{self._name(node)}",uplink="{self._name(far)}",'
            f'uplink_guid="{guid_text(self._nodes.guids[far])}",uplink_lid="{self._nodes.lids[far]}",'
            f'uplink_port="{far_port}",uplink_type="{"SW" if of_far == "switch" else "CA"}"'
        )

    def _port(self, node: int, port: int) -> str:
        return f'guid="{guid_text(self._nodes.guids[node])}",port="{port}"'

    def _name(self, node: int) -> str:
        return _escaped(self._nodes.names[node])


def links(fabric: Fabric, reading: Reading, first: Fabric | None = None) -> str:
    """Every cabled port: 1 where its link is active, 0 where an end says it is not; silent ports.

    `first`: the fabric as it was at first, with cables that are gone.
    """
    table, nodes = fabric.link_table(), Nodes(fabric)
    names, cabled = nodes.labels, cables_of(fabric)
    guids, hosts = dict(zip(names, nodes.guids, strict=True)), set(names[: fabric.hosts])
    if first is not None and first is not fabric:
        earlier = Nodes(first)
        guids = dict(zip(earlier.labels, earlier.guids, strict=True)) | guids
        hosts |= set(earlier.labels[: first.hosts])
        cabled = cables_of(first) | cabled
    peers = {(node, port): (far, far_port) for node, port, far, far_port in cabled.values()}
    down = both_ends(first or fabric, reading.down)
    silent = set(reading.missing)
    lines = [
        "# HELP netloom_link_up Whether the port's link is active: 1, or 0; absent where the port is silent",
        "# TYPE netloom_link_up gauge",
    ]
    alive = np.asarray(table["alive"], bool) & (np.asarray(table["source"]) >= fabric.hosts)
    ends = {
        (names[node], port)
        for node, port in zip(
            table["source"][alive].tolist(), table["source_port"][alive].tolist(), strict=True
        )
    }
    for node, port in sorted((ends - silent) | {end for end in down if end[0] not in hosts}):
        labels = f'guid="0x{guids.get(node, 0):016x}",port="{port}",node="{_escaped(node)}"'
        if (node, port) in peers:
            far, far_port = peers[node, port]
            labels += f',uplink="{_escaped(far)}",uplink_port="{far_port}"'
        lines.append(f"netloom_link_up{{{labels}}} {int((node, port) not in down)}")
    lines += ["# TYPE netloom_links_down gauge", f"netloom_links_down {(len(down) + 1) // 2}"]
    if silent:
        lines.append("# TYPE netloom_port_silent gauge")
        lines += [
            f'netloom_port_silent{{node="{_escaped(node)}",port="{port}"}} 1' for node, port in sorted(silent)
        ]
    return "\n".join([*lines, ""])


def figures(picture: Picture | None, told: Told, own: dict[str, float]) -> str:
    """Load by level, the loop's state, and what watching costs; `own` are netloom's own figures."""
    lines = []
    for name, value in own.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# TYPE netloom_{name} {kind}", f"netloom_{name} {value:g}"]
    if picture is not None:
        gauges = (
            ("level_bytes_per_second", [level.bytes_per_s for level in picture.levels]),
            ("level_mean_utilisation_ratio", [level.mean_utilisation for level in picture.levels]),
            ("level_max_utilisation_ratio", [level.max_utilisation for level in picture.levels]),
        )
        for name, values in gauges:
            lines.append(f"# TYPE netloom_{name} gauge")
            lines += [
                f'netloom_{name}{{links="{_escaped(level.name)}"}} {value:g}'
                for level, value in zip(picture.levels, values, strict=True)
            ]
        if picture.jobs:
            lines.append("# TYPE netloom_job_sent_bytes_per_second gauge")
            lines += [
                f'netloom_job_sent_bytes_per_second{{job="{_escaped(job.name)}"}} {job.sent_bytes_per_s:g}'
                for job in picture.jobs
            ]
    if told.rounds:
        last = told.rounds[-1]
        rounds = (("loop_round", last["number"]), ("loop_gap_percent", last["gap_after_percent"]))
        for name, value in rounds:
            if value is not None:
                lines += [f"# TYPE netloom_{name} gauge", f"netloom_{name} {value:g}"]
    if told.changes:
        lines += ["# TYPE netloom_last_change gauge", f"netloom_last_change {told.changes[-1]['id']}"]
    return "\n".join([*lines, ""])


def place(address: str) -> tuple[str, int]:
    """The host, 127.0.0.1 where there is none, and the port of `HOST:PORT` or `[HOST]:PORT`.

    Raises
    ------
    LiveError
        If it is none.
    """
    host, _, port = address.rpartition(":")
    if not port.isdigit() or not 0 <= int(port) < 1 << 16:
        raise LiveError(
            f"--prometheus {address}: expected :PORT (of this machine alone), HOST:PORT or [::]:PORT"
        )
    return host.removeprefix("[").removesuffix("]") or LOCAL, int(port)


@contextlib.contextmanager
def serving(address: str) -> Iterator[tuple[Page, str]]:
    """Serves a page on `HOST:PORT` until the block ends; yields it and its URL.

    `:9900` is 127.0.0.1 alone, `0.0.0.0:9900` every address of IPv4, `[::]:9900` every address.

    Raises
    ------
    LiveError
        If there is no such address, or it is taken.
    """
    host, port = place(address)
    page = Page()
    try:
        # An IPv6 address has colons; names are looked up.
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # `[::]` takes IPv4 too, whatever the machine's default is.
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listening.bind(where)
            listening.listen(_BACKLOG)
        except BaseException:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:
        raise LiveError(f"--prometheus {address}: {getattr(error, 'strerror', None) or error}") from None
    port = listening.getsockname()[1]
    server = Server(listening, page)
    try:
        yield page, f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"
    finally:
        server.close()


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
