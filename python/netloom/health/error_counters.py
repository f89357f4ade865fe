"""The error counters of ports, one by one: what each means, how far it counts, and where readings have them.

The core reads counters and judges files; of errors it tells the worst ports of a kind in words. A ranked
table of cables needs each port's own count, which is picked out of the same bytes here. A file comes here
after the core has read it, so that nothing here refuses one: what cannot be understood is passed over.

Names, and from how many on a count is told, are those of `crates/counters/src/errors.rs`; a test holds them
together. Widths are the specification's: a narrow counter that is full stands still.

Source: InfiniBand Architecture Specification, vol. 1, sec. 16.1 (PortCounters, PortCountersExtended).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from netloom.nodes import Nodes

if TYPE_CHECKING:
    from netloom._core import Fabric


@dataclass(frozen=True)
class Rule:
    """An error counter, and when it is told."""

    counter: str
    """As the specification calls it."""
    metric: str
    """As treydock's exporter does, between its prefix and `_total`."""
    kind: str
    """Of the finding, between two readings."""
    bits: int
    """Of the narrow counter."""
    least: int
    """From so many on between two readings."""
    least_since_reset: int
    of_cable: bool
    """Whether a bad cable makes it, at this port."""
    what: str
    help: str


RULES: tuple[Rule, ...] = (
    Rule(
        "SymbolErrorCounter",
        "symbol_error",
        "symbol-errors",
        16,
        10,
        10,
        True,
        "symbol errors",
        "Bits that were wrong on the wire",
    ),
    Rule(
        "LinkErrorRecoveryCounter",
        "link_error_recovery",
        "link-recovered",
        8,
        1,
        10,
        True,
        "times trained again",
        "Times that the link trained again",
    ),
    Rule(
        "LinkDownedCounter",
        "link_downed",
        "link-downed",
        8,
        1,
        10,
        True,
        "times down",
        "Times that the link went down",
    ),
    Rule(
        "PortRcvErrors",
        "receive_error",
        "receive-errors",
        16,
        10,
        10,
        True,
        "packets received spoilt",
        "Packets that came in spoilt",
    ),
    Rule(
        "PortRcvRemotePhysicalErrors",
        "receive_remote_physical_error",
        "remote-physical-errors",
        16,
        100,
        100,
        False,
        "packets spoilt elsewhere",
        "Packets that were spoilt before they came here",
    ),
    Rule(
        "PortRcvSwitchRelayErrors",
        "receive_switch_relay_error",
        "relay-errors",
        16,
        100,
        100,
        False,
        "packets not passed on",
        "Packets that could not be passed on",
    ),
    Rule(
        "PortXmitDiscards",
        "transmit_discard",
        "discards",
        16,
        100,
        100,
        False,
        "packets thrown away",
        "Packets thrown away instead of sent",
    ),
    Rule(
        "PortXmitConstraintErrors",
        "transmit_constraint_error",
        "constraint-errors",
        8,
        100,
        100,
        False,
        "packets not sent (partitions)",
        "Packets that partitions keep from being sent",
    ),
    Rule(
        "PortRcvConstraintErrors",
        "receive_constraint_error",
        "constraint-errors",
        8,
        100,
        100,
        False,
        "packets not received (partitions)",
        "Packets that partitions keep from being received",
    ),
    Rule(
        "LocalLinkIntegrityErrors",
        "local_link_integrity_error",
        "link-integrity",
        4,
        1,
        10,
        True,
        "times too many errors",
        "Times that the rate of spoilt packets was too high",
    ),
    Rule(
        "ExcessiveBufferOverrunErrors",
        "excessive_buffer_overrun_error",
        "buffer-overruns",
        4,
        1,
        10,
        True,
        "packets without credit",
        "Packets that came in without credit",
    ),
    Rule(
        "VL15Dropped",
        "vl15_dropped",
        "vl15-dropped",
        16,
        100,
        100,
        False,
        "management packets dropped",
        "Management packets dropped",
    ),
)
"""In the order of the attributes."""

_OTHER_NAMES = {
    "SymbolErrorCounter": ("SymbolErrors",),
    "LinkErrorRecoveryCounter": ("LinkRecovers",),
    "LinkDownedCounter": ("LinkDowned",),
    "PortRcvErrors": ("RcvErrors", "port_errors_received"),
    "PortRcvRemotePhysicalErrors": ("RcvRemotePhysErrors", "port_receive_remote_physical_errors"),
    "PortRcvSwitchRelayErrors": ("RcvSwRelayErrors", "port_receive_switch_relay_errors"),
    "PortXmitDiscards": ("XmtDiscards", "port_discards_transmitted"),
    "PortXmitConstraintErrors": ("XmtConstraintErrors", "port_constraint_errors_transmitted"),
    "PortRcvConstraintErrors": ("RcvConstraintErrors", "port_constraint_errors_received"),
    "LocalLinkIntegrityErrors": ("LinkIntegrityErrors",),
    "ExcessiveBufferOverrunErrors": ("ExcBufOverrunErrors",),
    "VL15Dropped": (),
}
"""What old releases of `perfquery` and Prometheus' `node_exporter` call them."""
_IMPOSSIBLE = 1 << 63
"""From here on a value is no count: a difference that went below 0, or a register that was not read."""


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("s")


_KNOWN: dict[str, int] = {
    _bare(name): number
    for number, rule in enumerate(RULES)
    for name in (rule.counter, rule.metric, *_OTHER_NAMES[rule.counter])
}


def rule_of(name: str) -> int | None:
    """The number of the rule for a counter by any of its names, in any case; None for other counters."""
    return _KNOWN.get(_bare(name))


Port = tuple[int, int]
"""A link by its number, which is the port that it leaves, and the number of a rule."""


@dataclass
class Errors:
    """Error counters of ports: of one reading, or of the first and the last in a file."""

    last: dict[Port, int] = field(default_factory=dict)
    first: dict[Port, int] = field(default_factory=dict)
    """Of a file with several readings: what was counted before."""
    counted: dict[Port, int] = field(default_factory=dict)
    """Of a file that tells differences: those."""
    wide: set[Port] = field(default_factory=set)
    """Counters that are known to have 64 bits."""

    def see(self, link: int | None, rule: int | None, value: int, *, wide: bool = False) -> None:
        """Adds a value; of a counter in two widths the wider, which is never less, counts."""
        if link is not None and rule is not None:
            self.last[link, rule] = max(value, self.last.get((link, rule), 0))
            if wide:
                self.wide.add((link, rule))

    def is_full(self, place: Port) -> bool:
        """Whether a counter stands at its largest value.

        Most tools do not say which width they show. A small counter's largest value is a number like any
        other of a wide one, so that it means nothing where other ports count beyond it.
        """
        _, number = place
        largest = (1 << RULES[number].bits) - 1
        if self.last.get(place) != largest or place in self.wide:
            return False
        return RULES[number].bits > 8 or self._most.get(number, 0) <= largest

    @cached_property
    def _most(self) -> dict[int, int]:
        most: dict[int, int] = {}
        for (_, number), value in self.last.items():
            if value < _IMPOSSIBLE:
                most[number] = max(value, most.get(number, 0))
        return most


@dataclass(frozen=True)
class Count:
    """What one counter of one port says."""

    link: int
    rule: Rule
    value: int
    """Counted between the readings; of one reading, since it was set back."""
    between: bool
    full: bool
    """It stands at its largest value: there may have been more, and what came since is not known."""
    impossible: bool = False
    """It is no count."""


def counts(before: Errors | None, after: Errors) -> list[Count]:
    """What each counter says, from one reading to the next or since it was set back; nothing of those at 0.

    A counter that has fallen was set back in between and counts from 0. Of one that is not in the first
    reading nobody knows what is new: it is left out. A full one is told, whatever it was before.

    Parameters
    ----------
    before, after : Errors
        Two readings; without `before`, what the file itself tells: differences, or its first reading.
    """
    found = []
    earlier = after.first if before is None else before.last
    between = bool(earlier) or bool(after.counted) or before is not None
    told = before is None and bool(after.counted)
    for (link, number), value in sorted((after.counted if told else after.last).items()):
        rule = RULES[number]
        full = not told and after.is_full((link, number))
        impossible = value >= _IMPOSSIBLE
        if between and not told:
            was = earlier.get((link, number))
            if was is None and not (full or impossible):
                continue
            if was is not None and not impossible:
                value = value if value < was else value - was
        if value or full:
            found.append(Count(link, rule, value, between, full, impossible))
    return found


def read(data: bytes, fabric: Fabric) -> Errors:
    """The error counters in what the core has read as counters: any of its forms but tables, which have none.

    Parameters
    ----------
    data : bytes
        A file, or what an exporter served; gzip or not.
    fabric : Fabric
        Whose ports they are.
    """
    if data.startswith(b"\x1f\x8b"):
        from netloom import _core

        data = _core.gunzip(data, "counters")
    text = data.decode(errors="replace")
    ports = _Ports(fabric)
    try:
        return _read(text, ports)
    except csv.Error:
        return Errors()


def _read(text: str, ports: _Ports) -> Errors:
    if "START_PM_INFO" in text or "START_PM_DELTA" in text:
        return _db_csv(text, ports)
    if re.search(r"^# Port[A-Za-z ]* counters: ", text, re.MULTILINE):
        return _perfquery(text.splitlines(), ports)
    if re.search(r"^(Data Counters|Errors) for ", text, re.MULTILINE):
        return _ibqueryerrors(text.splitlines(), ports)
    return _samples(text, ports)


class _Ports:
    """Links by the ports that tools name."""

    def __init__(self, fabric: Fabric) -> None:
        self.nodes = Nodes(fabric)
        table, host = fabric.link_table(), fabric.host_table()
        ends = list(zip(table["source"].tolist(), table["source_port"].tolist(), strict=True))
        self.by_lid = {(self.nodes.lids[node], port): link for link, (node, port) in enumerate(ends)}
        self.by_guid = {(self.nodes.guids[node], port): link for link, (node, port) in enumerate(ends)}
        for node, (guid, port) in enumerate(
            zip(host["port_guid"].tolist(), host["port"].tolist(), strict=True)
        ):
            # Host h's outgoing link is link h.
            self.by_guid.setdefault((guid, port), node)


_HEADER = re.compile(r"# (?P<kind>Port[A-Za-z ]*) counters: [Ll]id (?P<lid>[0-9]+) port (?P<port>[0-9]+)")
_LINE = re.compile(r"(?P<name>[A-Za-z0-9]+):\.*\s*(?P<value>-?[0-9]+)\s*$")


def _count(text: str) -> int:
    """A count in decimal; one below 0 as a number of 64 bits, as most tools print it: it is no count."""
    value = int(text)
    return value if value >= 0 else max(value, -_IMPOSSIBLE) + 2 * _IMPOSSIBLE


def _perfquery(lines: Iterable[str], ports: _Ports) -> Errors:
    errors = Errors()
    link, wide = None, False
    for line in lines:
        if line.lstrip().startswith("#"):
            header = _HEADER.match(line.strip())
            own = header is not None and header["kind"] in ("Port", "Port extended")
            link = ports.by_lid.get((int(header["lid"]), int(header["port"]))) if header and own else None
            wide = header is not None and header["kind"] == "Port extended"
        elif link is not None and (match := _LINE.match(line)):
            errors.see(link, rule_of(match["name"]), _count(match["value"]), wide=wide)
    return errors


_NODE_PORT = re.compile(r"\s*GUID (?P<guid>0x[0-9a-fA-F]+) port (?P<port>[0-9]+):(?P<rest>.*)")
_ITEM = re.compile(r"\[(?P<name>[A-Za-z0-9]+) == (?P<value>-?[0-9]+)")


def _ibqueryerrors(lines: Iterable[str], ports: _Ports) -> Errors:
    errors = Errors()
    for line in lines:
        if match := _NODE_PORT.match(line):
            link = ports.by_guid.get((int(match["guid"], 16), int(match["port"])))
            for item in _ITEM.finditer(match["rest"]):
                errors.see(link, rule_of(item["name"]), _count(item["value"]))
    return errors


def _db_csv(text: str, ports: _Ports) -> Errors:
    errors, delta = Errors(), Errors()
    for name, into in (("PM_INFO", errors), ("PM_DELTA", delta)):
        begin, end = text.find(f"START_{name}\n"), text.find(f"END_{name}")
        if begin < 0 or end < begin:
            continue
        rows = csv.reader(io.StringIO(text[begin:end].partition("\n")[2]))
        header = [cell.strip().lower() for cell in next(rows, [])]
        columns = [(at, rule_of(cell.removesuffix("ext"))) for at, cell in enumerate(header)]
        guid_at = header.index("nodeguid") if "nodeguid" in header else -1
        port_at = next((at for at, cell in enumerate(header) if cell in ("portnumber", "portnum")), -1)
        if guid_at < 0 or port_at < 0:
            continue
        for row in rows:
            if len(row) != len(header):
                continue
            guid, port = _number(row[guid_at]), _number(row[port_at])
            link = None if guid is None or port is None else ports.by_guid.get((guid, port))
            for at, rule in columns:
                value = _number(row[at]) if rule is not None else None
                if value is not None:
                    into.see(link, rule, value)
    errors.counted = delta.last
    return errors


def _number(cell: str) -> int | None:
    """A number in decimal, or in hexadecimal with `0x`; None for `N/A` and anything else."""
    cell = cell.strip()
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", cell):
        return int(cell, 16)
    return int(cell) if re.fullmatch(r"[0-9]{1,20}", cell) else None


_SAMPLE = re.compile(
    r"(?P<metric>[a-zA-Z_:][a-zA-Z0-9_:]*)\{(?P<labels>(?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\}\s+(?P<value>\S+)"
    r"(?:\s+(?P<time>[0-9.]+))?"
)
_LABEL = re.compile(r"(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)=\"(?P<value>(?:[^\"\\]|\\.)*)\"")
_PREFIX = re.compile(r"(?:node_)?infiniband_(?:switch_port_|hca_port_)?(?P<name>.+)_total")


def _samples(text: str, ports: _Ports) -> Errors:
    """Of every counter the first and the last value by time, as exporters or Prometheus tell them."""
    seen: dict[Port, list[tuple[float, int]]] = {}
    rules: dict[str, int | None] = {}
    for metric, labels, value, time in _rows(text, rules):
        guid, port = _number(labels.get("guid", "")), _number(labels.get("port", ""))
        link = None if guid is None or port is None else ports.by_guid.get((guid, port))
        try:
            number = float(value)
        except ValueError:
            continue
        rule = rules[metric]
        if link is not None and rule is not None and 0 <= number < 1 << 64:
            seen.setdefault((link, rule), []).append((time, int(number)))
    errors = Errors()
    for place, values in seen.items():
        values.sort()
        errors.last[place] = values[-1][1]
        if values[0][0] < values[-1][0]:
            errors.first[place] = values[0][1]
    return errors


def _rows(text: str, rules: dict[str, int | None]) -> Iterator[tuple[str, dict[str, str], str, float]]:
    """Metric, labels, value and time of every sample of an error counter.

    Of Prometheus' text, or of CSV with a row a sample, or a row a port and a column a metric. `rules` is
    filled with the rule of every metric that is met.
    """

    def is_error(metric: str) -> bool:
        if metric not in rules:
            match = _PREFIX.fullmatch(metric)
            rules[metric] = rule_of(match["name"]) if match else None
        return rules[metric] is not None

    first = text.partition("\n")[0]
    if "," in first and not first.startswith("#") and "{" not in first:
        for row in csv.DictReader(io.StringIO(text)):
            labels = {
                key.strip().lower(): cell
                for key, cell in row.items()
                if isinstance(key, str) and isinstance(cell, str)
            }
            time = _time(labels.get("time") or labels.get("timestamp"))
            name = labels.get("name") or labels.get("__name__") or labels.get("metric")
            samples = labels.items() if name is None else [(name, labels.get("value", ""))]
            for metric, value in samples:
                if is_error(metric):
                    yield metric, labels, value, time
        return
    for line in text.splitlines():
        if is_error(line.partition("{")[0]) and (match := _SAMPLE.match(line)):
            labels = {one["name"]: one["value"] for one in _LABEL.finditer(match["labels"])}
            yield match["metric"], labels, match["value"], _time(match["time"])


def _time(word: str | None) -> float:
    try:
        return float(word or 0.0)
    except ValueError:
        return 0.0


def read_sysfs(files: Sequence[tuple[str, bytes]], fabric: Fabric) -> Errors:
    """The error counters of a sysfs tree's adapters, which are found by `node_guid`."""
    ports = _Ports(fabric)
    guids: dict[str, int] = {}
    for path, data in files:
        folder, _, name = path.rpartition("/")
        if name == "node_guid":
            digits = data.strip().decode(errors="replace").replace(":", "").removeprefix("0x")
            if re.fullmatch(r"[0-9a-fA-F]{1,16}", digits):
                guids[folder] = int(digits, 16)
    errors = Errors()
    for path, data in files:
        match = re.fullmatch(
            r"(?P<device>.+)/ports/(?P<port>[0-9]{1,3})/counters(?:_ext)?/(?P<name>[^/]+)", path
        )
        if match is None or match["device"] not in guids:
            continue
        text = data.strip().decode(errors="replace")
        if re.fullmatch(r"-?[0-9]{1,20}", text):
            link = ports.by_guid.get((guids[match["device"]], int(match["port"])))
            errors.see(link, rule_of(match["name"]), _count(text))
    return errors
