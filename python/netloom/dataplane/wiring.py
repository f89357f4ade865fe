"""Which interface of which network namespace is which port of the fabric: a small table of the user's.

Columns `node`, `port` and `interface`; if need be `namespace` (a name of `ip netns`, or a path as
`/proc/1234/ns/net`) and `address` (of a host; that of its interface unless given). What `netloom dataplane
plan -o plan.csv` writes may have these columns added: its own are not looked at.
"""

from __future__ import annotations

import csv
import io
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from netloom.dataplane import namespaces
from netloom.dataplane.plan import Port
from netloom.errors import FormatError

_NEEDED = ("node", "port", "interface")
_MAY = ("namespace", "address")
_OF_PLANS = ("role", "link", "number", "mask", "queue_bytes")
_INTERFACE = re.compile(r"[^\s/:]{1,15}")
_LINK_OPTION = re.compile(r"(?P<node>.+):(?P<port>[0-9]{1,9})=(?P<interface>[^@]+)(@(?P<namespace>.+))?")


@dataclass(frozen=True)
class Wire:
    """A port of the fabric, and where it is on this machine."""

    port: Port
    interface: str
    namespace: str | None
    """None: this process's."""
    addresses: tuple[str, ...]
    """Of a host; empty: the interface's."""

    @property
    def place(self) -> str:
        """In words."""
        return self.interface if self.namespace is None else f"{self.interface} in {self.namespace}"


def read(data: bytes, label: str, ports: Sequence[Port]) -> list[Wire]:
    """Reads the table.

    Parameters
    ----------
    data : bytes
        CSV in UTF-8, a header first.
    label : str
        The file's name, for errors.
    ports : sequence of Port
        Of the fabric's plan.

    Returns
    -------
    list of Wire
        In the order of the file.

    Raises
    ------
    FormatError
        With file and line.
    """
    try:
        text = data.decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next(rows, [])]
        missing = [name for name in _NEEDED if name not in header]
        odd = [name for name in header if name not in (*_NEEDED, *_MAY, *_OF_PLANS)]
        if missing or odd or len(set(header)) != len(header):
            there = ", ".join(header[:20]) or "nothing"
            raise FormatError(
                f"{label}:1: expected columns {', '.join(_NEEDED)} and, if need be, {' and '.join(_MAY)}; "
                f"found {there}",
                label,
                1,
            )
        found = _Found(label, ports)
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                raise found.error(rows.line_num, f"{len(header)} columns", str(len(row)))
            cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
            found.add(rows.line_num, cells)
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{label}: expected a table in CSV ({error})", label) from None
    if not found.wires:
        raise FormatError(f"{label}: expected a port a line, found none", label)
    return found.wires


def of_options(words: Sequence[str], ports: Sequence[Port]) -> list[Wire]:
    """The same of options, `NODE:PORT=INTERFACE` or `NODE:PORT=INTERFACE@NAMESPACE`.

    Raises
    ------
    FormatError
        Naming the option.
    """
    found = _Found("--interface", ports)
    for number, word in enumerate(words, 1):
        match = _LINK_OPTION.fullmatch(word)
        if match is None:
            raise found.error(number, "NODE:PORT=INTERFACE or NODE:PORT=INTERFACE@NAMESPACE", word)
        found.add(number, {key: value or "" for key, value in match.groupdict().items()})
    return found.wires


class _Found:
    """Rows so far, each checked against those before it."""

    def __init__(self, label: str, ports: Sequence[Port]) -> None:
        self._label = label
        self._known = {(port.node, port.port): port for port in ports}
        self._nodes = {port.node for port in ports}
        self._taken: dict[object, int] = {}
        self.wires: list[Wire] = []

    def error(self, line: int, expected: str, found: str) -> FormatError:
        """What to say of a line."""
        return FormatError(f"{self._label}:{line}: expected {expected}, found {found!r}", self._label, line)

    def add(self, line: int, cells: dict[str, str]) -> None:
        """Adds a row."""
        node, number = cells["node"], cells["port"]
        port = (
            self._known.get((node, int(number)))
            if number.isascii() and number.isdigit() and len(number) < 10
            else None
        )
        if port is None:
            expected = (
                f"a port of {node} that the plan has" if node in self._nodes else "a node that the plan has"
            )
            raise self.error(line, expected, f"{node}:{number}")
        interface, namespace = cells["interface"], cells.get("namespace") or None
        if _INTERFACE.fullmatch(interface) is None or interface in (".", ".."):
            raise self.error(line, "an interface of at most 15 letters", interface)
        if namespace is not None and not namespaces.is_name(namespace):
            raise self.error(line, "a namespace of `ip netns`, or a path", namespace)
        addresses: tuple[str, ...] = ()
        if cells.get("address"):
            try:
                addresses = tuple(str(ipaddress.IPv4Address(word)) for word in cells["address"].split())
            except ValueError:
                raise self.error(line, "IPv4 addresses", cells["address"]) from None
        for what in (port, (interface, namespace), *addresses):
            if what in self._taken:
                raise self.error(line, f"what line {self._taken[what]} has not got already", _said(what))
            self._taken[what] = line
        self.wires.append(Wire(port, interface, namespace, addresses))


def _said(what: object) -> str:
    if isinstance(what, Port):
        return f"{what.node}:{what.port}"
    return " in ".join(word for word in what if word) if isinstance(what, tuple) else str(what)
