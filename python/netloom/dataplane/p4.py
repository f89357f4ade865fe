"""Table entries for the P4 program of path sampling (`dataplane/p4/netloom_sampler.p4`), a switch at a time.

The program's tables are those of figure 2.12: from hops to the threshold of a draw, and from ports to masks.
A third says what becomes of tags in packets that come in by a port. Two forms are made: commands of BMv2's
`simple_switch_CLI`, and the JSON that the P4 tutorials give to P4Runtime. Ports have the fabric's numbers.
How packets are forwarded (`routes`, `bridges`) is the user's.

Source: Taffet, dissertation, sec. 2.6.1 (figure 2.12).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.dataplane.plan import MOST_HOPS, Port
from netloom.dataplane.programs import sources
from netloom.errors import SimulationError
from netloom.files import Folder

if TYPE_CHECKING:
    from netloom._core import Fabric

PROGRAM = "netloom_sampler.p4"
COMPILED = "netloom_sampler.json"
"""What p4c makes of it for BMv2."""
INFO = "netloom_sampler.p4info.txt"
"""What it says of the tables for P4Runtime."""
NEVER = 2**19 - 1
"""A queue of so many packets is never reached: the largest number of 19 bits."""
RATE_OF_ALL = 65_536
MOST_PORT = 510
"""Port numbers have 9 bits, and the last is where v1model drops packets."""
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_CONTROLS = {"edges": "SamplerIngress", "ports": "SamplerEgress", "thresholds": "SamplerEgress"}


@dataclass(frozen=True)
class Entry:
    """An entry of a table: one key, an action and its arguments."""

    table: str
    field: str
    key: int
    action: str
    arguments: tuple[tuple[str, int], ...] = ()

    @property
    def command(self) -> str:
        """As `simple_switch_CLI` takes it."""
        control = _CONTROLS[self.table]
        numbers = "".join(f" {value}" for _, value in self.arguments)
        return f"table_add {control}.{self.table} {control}.{self.action} {self.key} =>{numbers}"

    @property
    def row(self) -> dict[str, object]:
        """As the tutorials' P4Runtime client takes it."""
        control = _CONTROLS[self.table]
        return {
            "table": f"{control}.{self.table}",
            "match": {self.field: self.key},
            "action_name": f"{control}.{self.action}",
            "action_params": dict(self.arguments),
        }


def entries(
    ports: Sequence[Port],
    peers: dict[tuple[str, int], Port],
    *,
    queue_packets: int | None = None,
    switch_sends: bool = False,
) -> dict[str, list[Entry]]:
    """The entries of every switch.

    Parameters
    ----------
    ports : sequence of Port
        Of the fabric's plan.
    peers : dict
        By node and port: the port at the other end, which packets come from.
    queue_packets : int, optional
        From how many packets on, 0 to 524,286, a port's queue is congested. [default: never]
    switch_sends : bool, default False
        Hosts have no sender: the switch makes their first tag.

    Returns
    -------
    dict of lists of Entry
        By the switch's name, in the order of the plan.

    Raises
    ------
    SimulationError
        If a port has a number above 510, or two switches have one name.

    Examples
    --------
    >>> port = Port("s1", 2, 5, 9, 0x1234, "switch", None)
    >>> for entry in entries([port], {})["s1"][:2]:
    ...     print(entry.command)
    table_add SamplerEgress.ports SamplerEgress.link 2 => 4660 524287
    table_add SamplerEgress.thresholds SamplerEgress.replaces_below 1 => 32768
    """
    depth = NEVER if queue_packets is None else queue_packets
    found: dict[str, list[Entry]] = {}
    seen: set[tuple[str, int]] = set()
    for port in ports:
        if port.role != "switch":
            continue
        if port.port > MOST_PORT:
            raise SimulationError(
                f"--p4: expected ports of numbers up to {MOST_PORT}, found {port.node}:{port.port}"
            )
        of_switch = found.setdefault(port.node, [])
        if (port.node, port.port) in seen:
            raise SimulationError(f"--p4: two switches are called {port.node}: give them names by --name-map")
        seen.add((port.node, port.port))
        arguments = (("mask", port.mask), ("depth", depth))
        of_switch.append(Entry("ports", "standard.egress_port", port.port, "link", arguments))
        peer = peers.get((port.node, port.port))
        if peer is None:
            continue
        if switch_sends and peer.role == "host":
            first = (("mask", peer.mask), ("rate", RATE_OF_ALL))
            of_switch.append(Entry("edges", "standard.ingress_port", port.port, "send", first))
        else:
            of_switch.append(Entry("edges", "standard.ingress_port", port.port, "trust"))
    for of_switch in found.values():
        of_switch += thresholds()
    return found


def thresholds() -> list[Entry]:
    """Of a draw of 16 bits, by the hops that a packet has: 65,536 / (hops + 1)."""
    return [
        Entry("thresholds", "hops", hops, "replaces_below", (("threshold", 65_536 // (hops + 1)),))
        for hops in range(1, MOST_HOPS + 1)
    ]


def files(
    fabric: Fabric,
    ports: Sequence[Port],
    *,
    queue_packets: int | None = None,
    switch_sends: bool = False,
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The program, what p4c made of it, and both forms of every switch's entries.

    A switch whose name is no file's is `switch0003`, by its place. The other parameters are those of
    `entries`.

    Returns
    -------
    files : dict of bytes
        By name.
    stems : dict of str
        By switch, the name of its files without their ending.

    Raises
    ------
    SimulationError
        If a port has a number above 510, or two switches have one name or one file.
    """
    found = entries(ports, _peers(fabric, ports), queue_packets=queue_packets, switch_sends=switch_sends)
    with Folder.open(sources() / "p4") as there:
        made = {name: there.read(name) for name in (PROGRAM, COMPILED, INFO)}
    stems: dict[str, str] = {}
    for place, (node, of_switch) in enumerate(found.items()):
        stem = stems[node] = node if _SAFE.fullmatch(node) else f"switch{place:04d}"
        commands = "".join(f"{entry.command}\n" for entry in of_switch)
        runtime = {
            "target": "bmv2",
            "p4info": INFO,
            "bmv2_json": COMPILED,
            "table_entries": [entry.row for entry in of_switch],
        }
        for name, data in ((f"{stem}.txt", commands), (f"{stem}.json", json.dumps(runtime, indent=1) + "\n")):
            if name in made:
                raise SimulationError(f"--p4: two switches would have the file {name}")
            made[name] = data.encode()
    return made, stems


def _peers(fabric: Fabric, ports: Sequence[Port]) -> dict[tuple[str, int], Port]:
    """By node and port: the planned port that packets come from."""
    table = fabric.link_table()
    names = [*fabric.host_names, *fabric.switch_names]
    return {
        (names[int(table["target"][port.link])], int(table["target_port"][port.link])): port for port in ports
    }
