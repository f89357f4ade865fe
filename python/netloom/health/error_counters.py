"""The error counters of ports, one by one: what each means, and what readings say of it.

The core reads counters, and knows which are full, how wide they are and from how many on they are told
(`crates/counters/src/errors.rs`, `_core.error_counters`). Here is what a ranked table of cables needs
besides: whether a bad cable makes an error, and words.

Source: InfiniBand Architecture Specification, vol. 1, sec. 16.1 (PortCounters, PortCountersExtended).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netloom import _core
from netloom._core import Counters, Fabric

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


_WORDS = {
    "SymbolErrorCounter": (
        "symbol_error",
        True,
        "symbol errors",
        "Bits that were wrong on the wire",
    ),
    "LinkErrorRecoveryCounter": (
        "link_error_recovery",
        True,
        "times trained again",
        "Times that the link trained again",
    ),
    "LinkDownedCounter": (
        "link_downed",
        True,
        "times down",
        "Times that the link went down",
    ),
    "PortRcvErrors": (
        "receive_errors",
        True,
        "packets received spoilt",
        "Packets that came in spoilt",
    ),
    "PortRcvRemotePhysicalErrors": (
        "receive_remote_physical_errors",
        False,
        "packets spoilt elsewhere",
        "Packets that were spoilt before they came here",
    ),
    "PortRcvSwitchRelayErrors": (
        "receive_switch_relay_errors",
        False,
        "packets not passed on",
        "Packets that could not be passed on",
    ),
    "PortXmitDiscards": (
        "transmit_discards",
        False,
        "packets thrown away",
        "Packets thrown away instead of sent",
    ),
    "PortXmitConstraintErrors": (
        "transmit_constraint_errors",
        False,
        "packets not sent (partitions)",
        "Packets that partitions keep from being sent",
    ),
    "PortRcvConstraintErrors": (
        "receive_constraint_errors",
        False,
        "packets not received (partitions)",
        "Packets that partitions keep from being received",
    ),
    "LocalLinkIntegrityErrors": (
        "local_link_integrity_errors",
        True,
        "times too many errors",
        "Times that the rate of spoilt packets was too high",
    ),
    "ExcessiveBufferOverrunErrors": (
        "excessive_buffer_overrun_errors",
        True,
        "packets without credit",
        "Packets that came in without credit",
    ),
    "VL15Dropped": (
        "vl15_dropped",
        False,
        "management packets dropped",
        "Management packets dropped",
    ),
}
"""Of each: the exporter's name, whether a bad cable makes it, what it counts, in a sentence of its own."""


def _rules() -> tuple[Rule, ...]:
    found = []
    for name, kind, bits, least, since_reset in _core.error_counters():
        metric, of_cable, what, told = _WORDS[name]
        found.append(Rule(name, metric, kind, bits, least, since_reset, of_cable, what, told))
    return tuple(found)


RULES: tuple[Rule, ...] = _rules()
"""In the order of the attributes, which is the core's."""


def rule_of(name: str) -> int:
    """The number of the rule for a counter by the specification's name."""
    return next(number for number, rule in enumerate(RULES) if rule.counter == name)


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
    full: set[Port] = field(default_factory=set)
    """Counters that stand at their largest value."""
    impossible: set[Port] = field(default_factory=set)
    """What shows no count: a difference that went below 0, or a register that was not read."""


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
        full = not told and (link, number) in after.full
        impossible = not told and (link, number) in after.impossible
        if between and not told:
            was = earlier.get((link, number))
            if was is None and not (full or impossible):
                continue
            if was is not None and not impossible:
                value = value if value < was else value - was
        if value or full:
            found.append(Count(link, rule, value, between, full, impossible))
    return found


def of(counters: Counters) -> Errors:
    """The error counters of what the core has read; none of what it made of intervals or a simulation.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=1,hosts=1,spines=1")
    >>> guid = fabric.switch_table()["guid"][0]
    >>> head = "NodeGUID,PortNumber,SymbolErrorCounter,PortXmitData"
    >>> rows = f"START_PM_INFO\\n{head}\\n{guid},1,7,0\\nEND_PM_INFO\\n"
    >>> of(nl.Counters.parse(rows.encode(), fabric)).last
    {(1, 0): 7}
    """
    last = counters.error_counts("last")
    ports = _ports(last)
    return Errors(
        last=_values(last),
        first=_values(counters.error_counts("first")),
        counted=_values(counters.error_counts("counted")),
        full={port for port, full in zip(ports, last["full"].tolist(), strict=True) if full},
        impossible={port for port, none in zip(ports, last["impossible"].tolist(), strict=True) if none},
    )


def _values(columns: Mapping[str, NDArray[Any]]) -> dict[Port, int]:
    return dict(zip(_ports(columns), columns["value"].tolist(), strict=True))


def _ports(columns: Mapping[str, NDArray[Any]]) -> list[Port]:
    return list(zip(columns["link"].tolist(), columns["counter"].tolist(), strict=True))


def read(data: bytes | Sequence[tuple[str, bytes]], fabric: Fabric) -> Errors:
    """The error counters of a file's bytes, or of the files of sysfs trees.

    Parameters
    ----------
    data : bytes, or sequence of (str, bytes)
        What [`Counters.parse`][netloom.Counters] or `Counters.from_sysfs` takes.
    fabric : Fabric
        Whose ports they are.

    Raises
    ------
    FormatError
        If it cannot be read.
    """
    if isinstance(data, bytes):
        return of(Counters.parse(data, fabric))
    return of(Counters.from_sysfs(data, fabric))
