"""Section 2.7's experiment with BMv2: `python dataplane/section27_bmv2.py SIMPLE_SWITCH CLI SECONDS`.

The network and the flows of `netloom demo dataplane`, at a fifth of its rates: hosts run the BPF sender and
receiver, s1 to s4 are BMv2's simple_switch with netloom_sampler.json and the entries of `netloom dataplane
plan --p4`. The ports at s4's cables send so many packets a second, and queue 64. Needs root, clang, BMv2 and
its CLI. Prints every link's estimates, and writes counts.csv and counts.svg (figure 2.15) where it runs.

Source: Taffet, dissertation, sec. 2.7 (figures 2.14 and 2.15).
"""

from __future__ import annotations

import array
import csv
import fcntl
import itertools
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import netloom as nl
from netloom import _core
from netloom.dataplane import attaching, estimates, experiment, namespaces, p4, plan
from netloom.dataplane.bed import Bed
from netloom.dataplane.collecting import Collector
from netloom.dataplane.flows import Flow, Traffic, greet
from netloom.dataplane.wiring import Wire
from netloom.plot.sampled import LinkCounts, counts_picture

PACKETS_PER_S, CROSS_TRAFFIC_PER_S, SLOW_PER_S = 600.0, 500.0, 900
QUEUE_PACKETS = 20
MAC = "02:00:00:00:00:01"
SHARES = ((0.0, 1.0), (0.1, 1.0), (0.25, 0.875))
HOSTS = ("h1", "h2", "h3", "h11", "h22")
PEER = {(c.a, c.a_port): c.b for c in experiment.CABLES} | {(c.b, c.b_port): c.a for c in experiment.CABLES}
PORT = {(node, peer): port for (node, port), peer in PEER.items()}


def quiet_kernel(bed: Bed) -> None:
    """Switches' kernels forward nothing; hosts have one MAC address and finished checksums."""
    for node in dict.fromkeys(node for node, _ in PEER):
        ports = [port for other, port in PEER if other == node]
        with namespaces.inside(bed.path(node)):
            if node not in HOSTS:
                for name in ("ip_forward", "conf/all/forwarding"):
                    Path(f"/proc/sys/net/ipv4/{name}").write_text("0")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
                for port in ports:  # ETHTOOL_STXCSUM, ETHTOOL_SGSO and ETHTOOL_STSO, off.
                    for command in (0x17, 0x24, 0x1F):
                        value = array.array("I", [command, 0])
                        request = struct.pack("16sQ8x", f"p{port}".encode(), value.buffer_info()[0])
                        fcntl.ioctl(handle, 0x8946, request)
        if node in HOSTS:
            gateway = bed._near[node, PEER[node, 1]][1]
            bed.ip(
                node,
                [
                    f"link set dev p1 address {MAC}",
                    f"neigh replace {gateway} lladdr {MAC} dev p1 nud permanent",
                ],
            )
        else:
            bed.ip(node, [f"addr flush dev p{port}" for port in ports])


def main(binary: str, cli: str, seconds: float) -> None:
    fabric = nl.Fabric.parse(experiment.text(), label="net.txt")
    ports, _, _ = plan.ports(fabric)
    entries = p4.entries(ports, p4._peers(fabric, ports), queue_packets=QUEUE_PACKETS)
    flows = [
        Flow(way[0], way[-1], start * seconds, end * seconds, rate, 20)
        for way, (start, end), rate in zip(
            experiment.WAYS, SHARES, (PACKETS_PER_S, PACKETS_PER_S, CROSS_TRAFFIC_PER_S), strict=True
        )
    ]
    program = p4.sources() / "p4" / p4.COMPILED
    switches: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as folder, Bed(experiment.CABLES, experiment.WAYS) as bed:
        try:
            quiet_kernel(bed)
            for switch, found in entries.items():
                own = [port for node, port in PEER if node == switch]
                with namespaces.inside(bed.path(switch)):
                    words = [word for port in own for word in ("-i", f"{port}@p{port}")]
                    log = open(Path(folder, f"{switch}.log"), "wb")
                    switches.append(subprocess.Popen([binary, *words, str(program)], stdout=log, stderr=log))
                lines = [
                    entry.command
                    for entry in found
                    if PEER.get((switch, entry.key)) not in ("h11", "h22") or entry.table == "thresholds"
                ]
                routes = {}
                for way in (*experiment.WAYS, *(way[::-1] for way in experiment.WAYS)):
                    if switch in way:
                        routes[bed.address(way[-1])] = PORT[switch, way[way.index(switch) + 1]]
                lines += [
                    f"table_add SamplerIngress.routes SamplerIngress.to_port {to}/32 => {port}"
                    for to, port in routes.items()
                ]
                slow = [port for port in own if "s4" in (switch, PEER[switch, port])]
                # s4 sends a little faster than s1: the queue stands where a flow first meets a slow cable.
                rate = round(1.1 * SLOW_PER_S) if switch == "s4" else SLOW_PER_S
                lines += [f"set_queue_rate {rate} {port}" for port in slow]
                with namespaces.inside(bed.path(switch)):
                    for _ in range(60):
                        time.sleep(0.5)
                        done = subprocess.run(
                            [cli], input="\n".join(lines).encode(), capture_output=True, check=False
                        )
                        if b"RuntimeCmd" in done.stdout:
                            break
                if done.stdout.count(b"Entry has been added") < len(lines) - len(slow):
                    raise SystemExit(f"{switch}: {done.stdout.decode()[-800:]}{done.stderr.decode()[-800:]}")
            wires = [
                Wire(port, f"p{port.port}", bed.path(port.node), (bed.address(port.node),))
                for port in ports
                if port.role == "host" and port.node not in experiment.CROSS_TRAFFIC_HOSTS
            ]
            now = attaching.new(
                [one.port for one in attaching.look(wires)], rate=1.0, hash_name=_core.sampling_hash("gf")
            )
            attaching.put_on(now, keep=False)
            greet(bed, experiment.WAYS)
            with Collector(now) as collector:
                collector.wait(0.0)
                collector.take()
                began = time.monotonic_ns()
                with Traffic(bed, flows, began):
                    collector.wait(seconds)
                collector.wait(0.5)
                packets = collector.take(began)
        finally:
            for switch_process in switches:
                switch_process.kill()
                switch_process.wait()
    told(packets, ports, flows, seconds)


def told(packets, ports, flows, seconds) -> None:
    table, hosts = packets.table, packets.hosts
    print(f"{len(table['id'])} packets, {packets.lost} lost, {packets.unknown_addresses} of others")
    when = np.asarray(table["time_ps"]) * 1e-12
    quiet = (when < 0.25 * seconds) | (when > 0.9 * seconds)
    for flow, way in zip(flows, experiment.WAYS, strict=True):
        print(f"{flow.source} -> {flow.destination}: sent {flow.sent[-1][1]}")
        if flow.source not in hosts:
            continue
        of_flow = np.asarray(table["source"]) == hosts.index(flow.source)
        spans = ((flow.start_s, 0.25 * seconds), (0.9 * seconds, seconds))
        sent = sum(flow.sent_between(*span) for span in spans)
        for a, b in itertools.pairwise(way):
            mask = next(port.mask for port in ports if port.node == a and PEER[a, port.port] == b)
            found = estimates.of_link(table, mask, of_flow & quiet)
            print(
                f"  {a} -> {b}: {found.traffic:.0f} +- {found.traffic_error:.0f} "
                f"while h11 is quiet; sent {sent:.0f}"
            )
    links = [(f"{port.node} → {PEER[port.node, port.port]}", port.mask) for port in ports]
    for name, mask in links:
        found = estimates.of_link(table, mask)
        if abs(found.traffic) > 5 * found.traffic_error or abs(found.congested) > 5 * found.congested_error:
            print(
                f"{name}: {found.traffic:.0f} +- {found.traffic_error:.0f}, "
                f"congested {found.congested:.0f} +- {found.congested_error:.0f}"
            )
    drawn = [
        (name, mask)
        for name, mask in links
        if name in ("h1 → s1", "s1 → s4", "s4 → s2", "s2 → h2", "h3 → s3", "s3 → s2")
    ]
    times = np.linspace(0, seconds, 101)
    traffic, congested = estimates.over_time(
        table, [mask for _, mask in drawn], (times * 1e12).astype(np.int64)
    )
    with open("counts.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["seconds", "link", "traffic", "congested"])
        for k, moment in enumerate(times):
            rows.writerows(
                [f"{moment:.3f}", name, traffic[i, k], congested[i, k]] for i, (name, _) in enumerate(drawn)
            )
    curves = [
        LinkCounts(name, traffic[i].astype(float), congested[i].astype(float))
        for i, (name, _) in enumerate(drawn)
    ]
    marks = [(0.25 * seconds, 0.875 * seconds, "h11 sends to h22")]
    Path("counts.svg").write_bytes(
        counts_picture(curves, times, marks=marks, title="Section 2.7 with BMv2", kind="svg")
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
