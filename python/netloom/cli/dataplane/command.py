"""`netloom dataplane plan`: which number, mask, threshold and role every port of a fabric has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.shared import options, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.files import Folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BYTES = 2**32 - 2
_MOST_PACKETS = 2**19 - 2


def plan(
    fabric: str,
    /,
    *,
    queue_bytes: Annotated[int | None, options.within(0, _MOST_BYTES)] = None,
    p4: Annotated[Path | None, options.OUTPUT_PATH] = None,
    queue_packets: Annotated[int | None, options.within(0, _MOST_PACKETS)] = None,
    switch_sends: bool = False,
    options: Options | None = None,
) -> int:
    """What every port of a fabric needs to sample paths in real packets; nothing is changed.

    Layout `ds`: a tag of eight bits in IPv4's DS byte, and a random id of 16 bits in its identification. A
    port's mask makes the hash bit of a packet, and its number is the one by which `netloom sample decode`
    knows the link.

    Parameters
    ----------
    fabric
        A dump, or a generator spec.
    queue_bytes
        The queue length in bytes from which a switch's port is congested. [default: never]
    p4
        Write the P4 program of switches into this folder, and every switch's table entries: commands of
        simple_switch_CLI (.txt) and JSON for P4Runtime (.json). A port keeps the fabric's number.
    queue_packets
        With --p4: the queue length in packets from which a switch's port is congested. [default: never]
    switch_sends
        With --p4: hosts have no sender; a host's switch makes the first tag of its packets.
    options
        Common options; `-o` writes the plan (.json, .csv, .txt).
    """
    from netloom import _core
    from netloom.dataplane import p4 as program
    from netloom.dataplane import plan as planning

    if p4 is None and (queue_packets is not None or switch_sends):
        raise UsageError("--queue-packets and --switch-sends are of --p4 FOLDER")
    run = Run("dataplane-plan", options or Options(), product=False, endings=(".json", ".csv", ".txt"))
    net = run.fabric(fabric, warn=True)
    with run.timed("plan"):
        found, rank, most_hops = planning.ports(net, queue_bytes=queue_bytes)
    ports = [
        {
            "node": port.node,
            "port": port.port,
            "role": port.role,
            "link": port.link,
            "number": port.number,
            "mask": f"0x{port.mask:04x}",
            "queue_bytes": port.queue_bytes,
        }
        for port in found
    ]
    alive = int(net.link_table()["alive"].sum())
    result: dict[str, Any] = {
        "layout": "ds",
        "hosts": net.hosts,
        "switches": net.switches,
        "hash": _core.sampling_hash("gf"),
        "id_bits": planning.ID_BITS,
        "rank_of_ids": rank,
        "most_hops": most_hops,
        "thresholds": [65536 // (hops + 1) for hops in range(1, planning.MOST_HOPS + 1)],
        "ports": ports,
        "links_without_number": alive - len(ports),
    }
    if p4 is not None:
        files, stems = program.files(net, found, queue_packets=queue_packets, switch_sends=switch_sends)
        with run.timed("write"), Folder.open(p4, make=True) as there:
            for name, data in files.items():
                there.write(name, data)
        switches = [{"node": node, "file": f"{stem}.txt"} for node, stem in stems.items()]
        result["p4"] = {"folder": str(p4), "files": list(files), "switches": switches}
    return run.finish(result, lambda: _text(result), rows=ports)


def _text(result: Mapping[str, Any]) -> str:
    count = render.count
    ports = result["ports"]
    hosts = sum(port["role"] == "host" for port in ports)
    rank, without = result["rank_of_ids"], result["links_without_number"]
    head = [
        ("fabric", f"{count(result['hosts'])} hosts, {count(result['switches'])} switches"),
        ("layout", f"{result['layout']}: IPv4's DS byte, ids of {result['id_bits']} bits"),
        ("hash", f"{result['hash']}, link numbers of {rank} bits, all told apart"),
        ("ports", f"{count(hosts)} of hosts, {count(len(ports) - hosts)} of switches"),
        ("ways", f"at most {result['most_hops']} links"),
    ]
    if without:
        head.append(("left out", f"{count(without)} links that are on no shortest up*/down* way"))
    rows = [
        [
            port["node"],
            str(port["port"]),
            port["role"],
            str(port["number"]),
            port["mask"],
            "never" if port["queue_bytes"] is None else count(port["queue_bytes"]),
        ]
        for port in ports
    ]
    if "p4" in result:
        p4 = result["p4"]
        head.append(
            ("P4", f"{count(len(p4['files']))} files in {p4['folder']}: the program, and entries by switch")
        )
        head += [
            (switch["file"], switch["node"])
            for switch in result["p4"]["switches"]
            if switch["file"] != f"{switch['node']}.txt"
        ]
    header = ["node", "port", "role", "number", "mask", "congested from (bytes)"]
    return f"{render.pairs(head)}\n\n{render.table(header, rows, right=(1, 3, 5))}"
