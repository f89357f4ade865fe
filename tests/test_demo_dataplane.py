"""`netloom demo dataplane`: section 2.7 of the dissertation, with real packets in network namespaces.

Skipped where there is no root, clang, libbpf, BTF or iproute2, by name.
"""

from __future__ import annotations

import csv
import ctypes
import itertools
import json
import signal
import time
from collections import defaultdict

import numpy as np
import pytest

import netloom as nl
from dataplane_bed import needs_ports
from netloom.dataplane import estimates, experiment
from netloom.dataplane.libbpf import library
from netloom.dataplane.loaded import looked_at
from terminal import OnTerminal

WAYS = {
    "h1": ["h1 → s1", "s1 → s4", "s4 → s2", "s2 → h2"],
    "h3": ["h3 → s3", "s3 → s2", "s2 → h2"],
}
SECONDS = 10
"""A fifth of the whole: estimates of 3,000 packets a second are still sure enough to say which links."""
END_S = 20


@needs_ports
def test_who_fills_the_cable_is_seen_in_the_packets_of_others(netloom):
    result = netloom.json("demo", "dataplane", "--seconds", SECONDS, "-o", "out", "--quiet")["result"]
    assert (result["lost"], result["findings"]) == (0, [])
    by_link = {link["link"]: link for link in result["links"]}
    crossed = {flow["source"]: flow for flow in result["flows"]}
    assert crossed["h11"]["received"] is None
    assert crossed["h11"]["links"] == []
    for host, way in WAYS.items():
        flow = crossed[host]
        assert [link["link"] for link in flow["links"]] == way
        for link in flow["links"]:
            off = link["slope_per_s"] - flow["quiet_rate_per_s"]
            assert abs(off) < 5 * link["slope_error"], link
    # Of both flows together; what h11 sends is in no count, though it is most of what s1 -> s4 carries.
    received = {host: crossed[host]["received"] for host in WAYS}
    for name, link in by_link.items():
        expected = sum(received[host] for host, way in WAYS.items() if name in way)
        assert abs(link["traffic"] - expected) < 5 * link["traffic_error"], name
    # Congestion is seen where the kernel says that the queue stood, and nowhere else.
    assert by_link["s1 → s4"]["queue_stood"]
    assert by_link["s1 → s4"]["congested"] > 10 * by_link["s1 → s4"]["congested_error"]
    for name, link in by_link.items():
        if not link["queue_stood"]:
            assert abs(link["congested"]) < 5 * link["congested_error"], name
    assert {"counts.svg", "congested.svg", "counts.csv"} <= set(result["files"])
    rows = list(csv.DictReader((netloom.folder / "out" / "counts.csv").open()))
    hot = [int(row["congested"]) for row in rows if row["link"] == "s1 → s4"]
    # h11 sends from a quarter to seven eighths: nothing before, and nothing more afterwards.
    before, after = hot[: len(hot) // 4], hot[len(hot) * 9 // 10 :]
    assert max(map(abs, before)) < 0.02 * hot[-1]
    assert abs(after[-1] - after[0]) < 0.02 * hot[-1]
    # The decoder, which knows the ways, says the same of the same packets.
    words = ("sample", "decode", "out/net.txt", "out/packets.parquet", "--write-run", "run", "--quiet")
    decoded = netloom.json(*words)["result"]
    fabric = nl.Fabric.read(netloom.folder / "out" / "net.txt")
    names = [*fabric.host_names, *fabric.switch_names]
    table = fabric.link_table()
    (context,) = decoded["contexts"]
    hottest = context["hottest"][0]["link"]
    assert (names[table["source"][hottest]], names[table["target"][hottest]]) == ("s1", "s4")
    drawn = netloom.json("plot", "congestion", "run", "-o", "x.svg", "--quiet")["result"]["panels"]
    assert [panel["worst"] for panel in drawn] == ["s1 → s4"]
    # Whether it blames somebody is left to the rules, whose threshold is near; where it is hot is not.
    diagnosed = json.loads(netloom("diagnose", "run", "--format", "json").out)["result"]
    assert [link["link"] for link in diagnosed["congested"]] == ["s1[3] -> s4[1]"]


def programs():
    """The ids of netloom's programs in the kernel, by their owner."""
    found, number = defaultdict(set), ctypes.c_uint32(0)
    get = library().bpf_prog_get_next_id
    get.argtypes = (ctypes.c_uint32, ctypes.c_void_p)
    while get(number, ctypes.byref(number)) == 0:
        with looked_at(number.value) as program:
            if program is not None and program.owner:
                found[program.owner].add(number.value)
    return found


@needs_ports
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_however_it_ends_nothing_is_left(netloom, number):
    before = programs()
    command = OnTerminal([*netloom.command, "demo", "dataplane"], netloom.folder)
    command.wait_for("2 %")
    own = {owner: ids for owner, ids in programs().items() if owner not in before}
    # Three hosts with two programs, thirteen ports of switches.
    assert [len(ids) for ids in own.values()] == [19]
    command.process.send_signal(number)
    assert command.process.wait(60) == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    # The kernel takes namespaces away when it finds the time.
    deadline = time.monotonic() + END_S
    while set(own) & set(programs()):
        assert time.monotonic() < deadline, "programs are still there"
        time.sleep(0.05)
    assert not any(netloom.folder.iterdir())


@needs_ports
def test_a_file_in_the_way_is_refused_at_once(netloom):
    (netloom.folder / "taken").write_text("x")
    assert "taken" in netloom.refused("demo", "dataplane", "-o", "taken")
    assert "-o FOLDER" in netloom.refused("demo", "dataplane", "-o", "-", code=2)


def test_estimates_are_the_papers_by_hand():
    # Ids 1 and 2, mask 1: the hash is 1 and 0. Packet by packet: agrees (+2), differs (-3), agrees (+4).
    table = {
        "id": np.array([1, 1, 2]),
        "hops": np.array([2, 3, 4]),
        "bit": np.array([1, 0, 0]),
        "congested": np.array([1, 1, 0]),
        "time_ps": np.array([10, 20, 30]),
    }
    found = estimates.of_link(table, 1)
    assert (found.traffic, found.congested) == (3, -1)
    # Squares 4 + 9 + 16, less the 3 that crossed it.
    assert found.traffic_error == pytest.approx(26**0.5)
    traffic, congested = estimates.over_time(table, [1], np.array([0, 10, 25, 30]))
    assert traffic.tolist() == [[0, 2, -1, 3]]
    assert congested.tolist() == [[0, 2, -1, -1]]


def test_the_network_is_that_of_figure_2_14():
    fabric = nl.Fabric.parse(experiment.text(), label="net.txt")
    assert (fabric.hosts, fabric.switches, fabric.links) == (5, 4, 18)
    names = [*fabric.host_names, *fabric.switch_names]
    table = fabric.link_table()
    joined = {(names[a], names[b]) for a, b in zip(table["source"], table["target"], strict=True)}
    for way in experiment.WAYS:
        assert set(itertools.pairwise(way)) <= joined
