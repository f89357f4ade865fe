"""`netloom dataplane up`, `status`, `collect`, `down`: real packets through h1-s1-s2-h2 in namespaces.

What needs root, clang, libbpf, a kernel with BTF and iproute2 is skipped where these are not, by name.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import fcntl
import math
import os
import random
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import netloom as nl
from dataplane_bed import NET, chain, needs_ports
from netloom.dataplane import estimates, namespaces, programs
from netloom.dataplane.journal import Journal
from netloom.dataplane.netlink import Netlink
from netloom.dataplane.plan import ports
from netloom.dataplane.programs import Program
from netloom.dataplane.wiring import of_options, read

KILLS = int(os.environ.get("NETLOOM_KILLS", "3"))


@pytest.fixture
def bed(netloom):
    # The journal's folder must be one that only root can change; pytest's is below the sticky /tmp.
    with chain(netloom.folder) as made:
        yield made


def up(netloom, bed, *more, **how):
    given = ("net.txt", "ports.csv", "--journal", bed.journal, "--quiet")
    return netloom.json("dataplane", "up", *given, *more, **how)["result"]


def down(netloom, bed, *more):
    return netloom.json("dataplane", "down", "--journal", bed.journal, *more)["result"]


def status(netloom, bed, **how):
    return netloom.json("dataplane", "status", "--journal", bed.journal, **how)["result"]


def add_filter(bed, node, direction):
    """A filter of somebody else on p1, which matches nothing (classic BPF: return 0)."""
    words = ["tc", "filter", "add", "dev", "p1", direction, "bpf", "bytecode", "1,6 0 0 0"]
    with namespaces.inside(bed.bed.path(node)):
        subprocess.run(words, check=True)


@needs_ports
def test_links_on_the_way_are_counted_and_no_others(netloom, bed):
    before, sent = bed.state(), 20_000
    assert up(netloom, bed, "--yes")["findings"] == []
    with bed.sender() as sender:
        for _ in range(sent):
            sender.send(bytes(20))
    collected = netloom.json("dataplane", "collect", "--journal", bed.journal, "-o", "packets.parquet")[
        "result"
    ]
    assert (collected["packets"], collected["lost"], collected["unknown_addresses"]) == (sent, 0, 0)
    by_port = {(row["node"], row["port"], row["program"]): row for row in status(netloom, bed)["ports"]}
    assert by_port["h1", 1, "sender"]["sampled"] == by_port["h2", 1, "receiver"]["sampled"] == sent
    # Each switch replaces with 1 in 2, then 1 in 3; five standard deviations.
    for node, port, hops in (("s1", 2, 1), ("s2", 1, 2)):
        share = 1 / (hops + 1)
        allowed = 5 * math.sqrt(sent * share * (1 - share))
        assert abs(by_port[node, port, "switch"]["replaced"] - sent * share) < allowed
    # The table says by itself how it was sampled; the decoder knows what a host's packets may cross.
    netloom.ok("sample", "decode", "net.txt", "packets.parquet", "-o", "samples.csv", "--quiet")
    fabric = nl.Fabric.parse(NET.encode(), label="net.txt")
    way = {
        port.link for port in ports(fabric)[0] if (port.node, port.port) in (("h1", 1), ("s1", 2), ("s2", 1))
    }
    rows = list(csv.DictReader((netloom.folder / "samples.csv").open()))
    found = {int(row["link"]): (float(row["traffic"]), float(row["traffic_error"])) for row in rows}
    assert way <= set(found)
    for link, (traffic, error) in found.items():
        expected = sent if link in way else 0
        assert abs(traffic - expected) <= 4 * error, (link, traffic, error)
    assert all(float(row["congested"]) == 0 for row in rows)
    # The paper's receiver knows nothing of ways, and says the same of every link there is.
    table = pq.read_table(netloom.folder / "packets.parquet")
    packets = {name: np.asarray(table[name]) for name in ("id", "hops", "bit", "congested")}
    for port in ports(fabric)[0]:
        told = estimates.of_link(packets, port.mask)
        assert told.congested == 0
        assert abs(told.traffic - (sent if port.link in way else 0)) <= 4 * told.traffic_error, port
    left = down(netloom, bed, "--yes")
    # Two programs on either host, one on each of four ports of switches.
    assert (left["filters_removed"], left["clsact_removed"], left["findings"]) == (8, 6, [])
    assert bed.state() == before
    assert not bed.journal.exists()


@needs_ports
def test_a_dry_run_changes_nothing(netloom, bed):
    before = bed.state()
    said = up(netloom, bed)
    assert (said["done"], said["owner"], len(said["ports"])) == (False, None, 6)
    assert bed.state() == before
    assert not bed.journal.exists()
    assert up(netloom, bed, "--yes")["done"]
    now = bed.state()
    assert now != before
    assert down(netloom, bed)["done"] is False
    assert bed.state() == now
    down(netloom, bed, "--yes")


@needs_ports
def test_tags_do_not_reach_programs_and_queues_are_seen(netloom, bed):
    # 100 kbit/s with a queue of 60,000 bytes: 200 packets of 1,042 bytes in one go fill it.
    bed.bed.slow("s1", 2, kbit_per_s=100, burst_bytes=3000, queue_bytes=60_000)
    up(netloom, bed, "--yes", "--queue-bytes", "20000")
    with bed.socket("h2") as taker, bed.socket("h1") as sender:
        taker.setsockopt(0, 13, 1)  # IP_RECVTOS
        taker.bind((bed.bed.address("h2"), 9))
        for _ in range(200):
            sender.sendto(bytes(1000), (bed.bed.address("h2"), 9))
        _, told, _, _ = taker.recvmsg(2000, 100)
        assert [data for _, kind, data in told if kind == 1] == [b"\0"]  # IP_TOS
    by_port = {
        (row["node"], row["port"]): row for row in status(netloom, bed)["ports"] if row["program"] == "switch"
    }
    assert by_port["s1", 2]["congested"] > 50
    assert by_port["s2", 1]["congested"] == 0
    down(netloom, bed, "--yes")


@needs_ports
def test_what_others_put_on_ports_stays(netloom, bed):
    with Netlink(bed.bed.path("s1")) as link:
        index = link.interfaces()["p1"]
        link.add_clsact(index)
        add_filter(bed, "s1", "egress")
    before = bed.state()
    said = up(netloom, bed, "--yes")
    assert [one["kind"] for one in said["findings"]] == ["other-filters"]
    words = ("dataplane", "up", "net.txt", "ports.csv", "--yes", "--quiet", "--journal")
    again = netloom.refused(*words, bed.journal)
    assert "is up" in again
    other = netloom.refused(*words, netloom.folder / "other")
    assert "netloom's, of another journal" in other
    # A filter that comes later keeps clsact.
    add_filter(bed, "h1", "ingress")
    left = down(netloom, bed, "--yes")
    assert [one["kind"] for one in left["findings"]] == ["clsact-kept"]
    with Netlink(bed.bed.path("h1")) as link:
        link.remove_clsact(link.interfaces()["p1"])
    assert bed.state() == before


class _Link(ctypes.Structure):
    """`union bpf_attr` of BPF_LINK_CREATE, as far as a TCX link needs it."""

    _fields_ = tuple((name, ctypes.c_uint32) for name in ("program", "interface", "place", "flags"))


@needs_ports
def test_programs_that_come_before_filters_are_told(netloom, bed):
    # A sender's program, put where no filter is needed: TCX, on the way out of s1's first port.
    with Netlink(bed.bed.path("s1")) as link:
        index = link.interfaces()["p1"]
    with Program("switch") as program, namespaces.inside(bed.bed.path("s1")):
        asked = _Link(program.fd, index, 47, 0)
        made = ctypes.CDLL(None, use_errno=True).syscall(321, 28, ctypes.byref(asked), ctypes.sizeof(asked))
        if made < 0:
            pytest.skip(f"this kernel has no TCX: {os.strerror(ctypes.get_errno())}")
        try:
            said = up(netloom, bed)
        finally:
            os.close(made)
    assert [one["kind"] for one in said["findings"]] == ["other-filters"]
    assert said["findings"][0]["text"].startswith("s1:1: ")


@needs_ports
def test_a_tun_device_is_refused(netloom, bed):
    with namespaces.inside(bed.bed.path("s1")):
        subprocess.run(["ip", "tuntap", "add", "dev", "tun7", "mode", "tun"], check=True)
    before = bed.state()
    text = (netloom.folder / "ports.csv").read_text()
    lines = [line.replace("p1", "tun7") if line.startswith("s1,1,") else line for line in text.splitlines()]
    (netloom.folder / "ports.csv").write_text("\n".join(lines) + "\n")
    words = ("dataplane", "up", "net.txt", "ports.csv", "--yes", "--quiet", "--journal", bed.journal)
    said = netloom.refused(*words)
    assert said.startswith("s1:1: tun7 in ")
    assert said.endswith(" is no interface of Ethernet")
    assert bed.state() == before


@needs_ports
def test_killed_at_any_moment_down_restores_everything(netloom, bed):
    """`NETLOOM_KILLS=20` for a campaign: up is killed, sometimes down too, then down ends it."""
    with Netlink(bed.bed.path("s1")) as link:
        link.add_clsact(link.interfaces()["p1"])
    before, draws, part = bed.state(), random.Random(1), 0
    first = [*netloom.command, "dataplane", "up", "net.txt", "ports.csv", "--yes", "--journal", bed.journal]
    then = [*netloom.command, "dataplane", "down", "--yes", "--journal", bed.journal]
    took = []
    for command in (first, then):
        began = time.monotonic()
        subprocess.run(command, cwd=netloom.folder, check=True, capture_output=True)
        took.append(time.monotonic() - began)
    for number in range(KILLS):
        for command, longest in ((first, took[0]), (then, took[1] if number % 2 else None)):
            child = subprocess.Popen(
                command, cwd=netloom.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if longest is not None:
                # Where it is killed is left to chance: most of the time is that of starting and compiling.
                try:
                    child.wait(longest * draws.uniform(0.5, 1.0))
                except subprocess.TimeoutExpired:
                    child.send_signal(signal.SIGKILL)
            child.wait()
            part += bed.state() != before
        down(netloom, bed, "--yes")
        assert bed.state() == before, number
        assert not bed.journal.exists()


@needs_ports
def test_a_program_that_the_kernel_refuses_leaves_nothing(netloom, bed, monkeypatch):
    from netloom.dataplane import attaching

    before, loads = bed.state(), []

    class Fails(programs.Program):
        def __init__(self, name):
            loads.append(name)
            if len(loads) == 4:
                raise nl.LiveError("the kernel refused it")
            super().__init__(name)

    monkeypatch.setattr(attaching, "Program", Fails)
    fabric = nl.Fabric.parse(NET.encode(), label="net.txt")
    wires = read((netloom.folder / "ports.csv").read_bytes(), "ports.csv", ports(fabric)[0])
    with pytest.raises(nl.LiveError, match="the kernel refused it"):
        attaching.up(Journal(bed.journal), wires, rate=1.0, keep=False, hash_name="gf")
    assert bed.state() == before
    assert not bed.journal.exists()


@needs_ports
def test_ports_that_are_gone_are_told(netloom, bed):
    up(netloom, bed, "--yes")
    bed.bed.ip("s1", ["link del p2"])
    said = status(netloom, bed, code=1)
    assert {one["kind"] for one in said["findings"]} == {"program-gone"}
    left = down(netloom, bed, "--yes")
    assert sorted(one["text"][:4] for one in left["findings"]) == ["s1:2", "s2:2"]


@needs_ports
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (b"", "is no journal"),
        (b"[]", "expected version"),
        (b'{"version": 1, "ports": 3}', "expected a list of ports"),
        (b"[" * 100_000, "is no journal"),
        (b'{"version": 1, "ports": [{}]}', "is no journal"),
    ],
)
def test_a_damaged_journal_is_refused(netloom, bed, damage, expected):
    up(netloom, bed, "--yes")
    file = bed.journal / "up.json"
    whole = file.read_bytes()
    file.write_bytes(damage)
    for verb in ("down", "status"):
        assert expected in netloom.refused("dataplane", verb, "--journal", bed.journal)
    file.write_bytes(whole)
    down(netloom, bed, "--yes")


@needs_ports
def test_a_journal_that_others_can_change_is_refused(netloom, bed):
    bed.journal.mkdir()
    bed.journal.chmod(0o777)
    words = ("dataplane", "up", "net.txt", "ports.csv", "--yes", "--quiet", "--journal", bed.journal)
    assert "others can write to" in netloom.refused(*words)
    assert not any(bed.journal.iterdir())


@needs_ports
def test_nothing_that_is_not_up_is_collected(netloom):
    words = ("--journal", netloom.folder / "none")
    assert "nothing is up" in netloom.refused("dataplane", "collect", "-o", "x.csv", *words)
    assert "nothing is up" in netloom.ok("dataplane", "down", "--yes", *words)
    assert "nothing is up" in netloom.ok("dataplane", "status", *words)


def test_what_is_missing_is_named_and_nothing_changes(netloom, monkeypatch, capsys):
    from netloom.cli.dataplane import ports as verbs

    monkeypatch.setattr(programs.shutil, "which", lambda _: None)
    monkeypatch.setattr(programs, "_BTF", Path("/no/such/file"))
    monkeypatch.setattr(programs, "_may_load", lambda: False)
    (netloom.folder / "net.txt").write_text(NET)
    journal = netloom.folder / "journal"
    with pytest.raises(nl.LiveError, match=r"missing: root .*, clang, .*a kernel with BTF"):
        verbs.up(str(netloom.folder / "net.txt"), interface=["h1:1=lo"], yes=True, journal=journal)
    assert not journal.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_a_user_who_is_not_root_is_told_so(netloom):
    """In a user namespace one is root by name only: no program loads there."""
    (netloom.folder / "net.txt").write_text(NET)
    words = ["dataplane", "up", "net.txt", "--interface", "h1:1=lo", "--yes"]
    try:
        done = subprocess.run(
            ["unshare", "-Urn", *netloom.command, *words],
            cwd=netloom.folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("no unshare")
    assert done.returncode == 3, done.stderr
    assert "missing: root" in done.stderr


BAD = [
    ("", "expected columns node, port, interface"),
    ("node,port\nh1,1\n", "expected columns node, port, interface"),
    ("node,port,interface,colour\n", "expected columns"),
    ("node,port,interface\n", "expected a port a line, found none"),
    ("node,port,interface\nh9,1,eth0\n", ":2: expected a node that the plan has, found 'h9:1'"),
    ("node,port,interface\nh1,7,eth0\n", ":2: expected a port of h1 that the plan has"),
    ("node,port,interface\nh1,-1,eth0\n", ":2: expected a port of h1"),
    ("node,port,interface\nh1,1\n", ":2: expected 3 columns"),
    ("node,port,interface\nh1,1,../../x\n", ":2: expected an interface"),
    ("node,port,interface\nh1,1,eth0\nh1,1,eth1\n", ":3: expected what line 2 has not got already"),
    ("node,port,interface\nh1,1,eth0\ns1,1,eth0\n", ":3: expected what line 2 has not got already"),
    ("node,port,interface,namespace\nh1,1,eth0,../x\n", ":2: expected a namespace"),
    ("node,port,interface,address\nh1,1,eth0,10.0.0.256\n", ":2: expected IPv4 addresses"),
    ('node,port,interface\n"h1,1,eth0\n', "expected a table in CSV"),
    ("node,port,interface\n\0,1,eth0\n", "expected a"),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_a_table_of_ports_that_is_none_is_refused(text, expected):
    found = ports(nl.Fabric.parse(NET.encode(), label="net.txt"))[0]
    with pytest.raises(nl.FormatError) as error:
        read(text.encode(), "ports.csv", found)
    assert expected in str(error.value)
    assert "ports.csv" in str(error.value)


def test_binary_tables_and_odd_options_are_refused():
    found = ports(nl.Fabric.parse(NET.encode(), label="net.txt"))[0]
    with pytest.raises(nl.FormatError, match="expected a table in CSV"):
        read(bytes(range(256)), "ports.csv", found)
    with pytest.raises(nl.FormatError, match="expected NODE:PORT=INTERFACE"):
        of_options(["h1=eth0"], found)
    (wire,) = of_options(["h1:1=eth0@blue"], found)
    assert (wire.port.node, wire.interface, wire.namespace) == ("h1", "eth0", "blue")


def test_one_way_of_naming_ports_is_enough(netloom):
    (netloom.folder / "net.txt").write_text(NET)
    assert "one of them" in netloom.refused("dataplane", "up", "net.txt", code=2)


@needs_ports
@pytest.mark.parametrize("layout", ["ds", "shim", "bth"])
def test_checksums_hold_where_adapters_finish_them(bed, layout):
    """h1 leaves UDP's checksum to its adapter; s2's last port has none, so the kernel sums up there."""
    heads = {"ds": b"", "shim": bytes(6) + b"nl", "bth": bytes.fromhex("0400ffff000000128000002a")}
    number, head = {"ds": 9, "shim": 28268, "bth": 4791}[layout], heads[layout]
    with namespaces.inside(bed.bed.path("s2")), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        value = ctypes.create_string_buffer(struct.pack("=II", 0x17, 0), 8)  # ETHTOOL_STXCSUM: off.
        fcntl.ioctl(handle, 0x8946, struct.pack("16sQ8x", b"p1", ctypes.addressof(value)))
    with contextlib.ExitStack() as stack:
        programs = {}
        places = (("h1", "p1", "egress", "sender"), ("s1", "p2", "egress", "switch"))
        places += (("s2", "p1", "egress", "switch"), ("h2", "p1", "ingress", "receiver"))
        for node, name, direction, step in places:
            program = programs[node] = stack.enter_context(Program(step, layout))
            program.settle(mask=0x2F35)
            link = stack.enter_context(Netlink(bed.bed.path(node)))
            index = link.interfaces()[name]
            link.add_clsact(index)
            link.add_filter(index, direction, program.fd, f"netloom_{step}")
        taker, sender = stack.enter_context(bed.socket("h2")), stack.enter_context(bed.socket("h1"))
        # Without DF nothing of IPv4 may have a tag.
        sender.setsockopt(socket.IPPROTO_IP, 10, 2)
        taker.bind((bed.bed.address("h2"), number))
        taker.settimeout(5)
        for place in range(20):
            data = head + bytes([place] * 20)
            sender.sendto(data, (bed.bed.address("h2"), number))
            assert taker.recv(100) == data
        events = programs["h2"].events()
        assert [event.hops for event in events] == [3] * 20
        assert programs["s2"].counts()["sampled"] == 20
