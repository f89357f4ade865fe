"""The data plane of real packets: BPF programs over golden packets, and the plan of a fabric's ports.

What needs root, clang, libbpf and a kernel with BTF is skipped where these are not, by name.
"""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest

import netloom as nl
from netloom import dataplane
from netloom.dataplane import programs

GOLDEN = Path(__file__).resolve().parent.parent / "dataplane" / "golden" / "ds.json"
TREE = "two-level:leaves=2,hosts=2,spines=1"

needs_bpf = pytest.mark.skipif(bool(dataplane.missing()), reason=f"missing: {', '.join(dataplane.missing())}")


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text())


@needs_bpf
@pytest.mark.parametrize("step", ["sender", "switch", "receiver"])
def test_golden_packets_are_the_same_in_the_kernel(golden, step):
    cases = [case for case in golden if case["step"] == step]
    assert len(cases) > 40
    with dataplane.Program(step) as program:
        before = program.counts()
        for case in cases:
            # The queue of a test run is empty: 0 bytes are as many as it has.
            program.settle(
                mask=case["mask"], queue_bytes=0 if case["congested"] else None, random=case["random"]
            )
            frame = bytes.fromhex(case["in"])
            if len(frame) < 34:
                # The kernel's test runs take no IPv4 without a whole header; Rust and C leave these alone.
                with pytest.raises(nl.LiveError, match="Invalid argument"):
                    program.run(frame)
                continue
            out, _ = program.run(frame)
            assert out.hex() == case["out"], case["name"]
            after = program.counts()
            more = {name for name in after if after[name] > before[name]}
            assert case["did"] in more, case["name"]
            before = after
            if step == "receiver":
                told = program.events()
                assert bool(told) == (case["did"] == "sampled"), case["name"]
                for event in told:
                    assert (event.source, event.destination) == (frame[26:30], frame[30:34])
                    assert event.size == struct.unpack("!H", frame[16:18])[0]
                    assert event.id == struct.unpack("!H", frame[18:20])[0]
                    tag = 0x80 | event.hops << 3 | event.bit << 2 | (3 if event.congested else 1)
                    assert tag == frame[15]


@needs_bpf
@pytest.mark.parametrize("step", ["sender", "switch", "receiver"])
@pytest.mark.parametrize("layout", ["ds-ttl", "ipv6", "shim", "bth"])
def test_golden_packets_of_other_layouts_are_the_same_in_the_kernel(layout, step):
    cases = json.loads((GOLDEN.parent / f"{layout}.json").read_text())
    with dataplane.Program(step, layout) as program:
        before = program.counts()
        for case in (case for case in cases if case["step"] == step):
            program.settle(
                mask=case["mask"], queue_bytes=0 if case["congested"] else None, random=case["random"]
            )
            frame = bytes.fromhex(case["in"])
            if len(frame) < (54 if frame[12:14] == b"\x86\xdd" else 34):
                continue  # The kernel's test runs take no packet without a whole header of IP.
            assert program.run(frame)[0].hex() == case["out"], case["name"]
            after = program.counts()
            assert case["did"] in {name for name in after if after[name] > before[name]}, case["name"]
            before = after
            if step == "receiver":
                assert len(program.events()) == (case["did"] == "sampled"), case["name"]


@needs_bpf
def test_a_step_is_timed(golden, capsys):
    """The goal on a quiet machine is 60, 75 and 75 ns; time is printed, not asserted."""
    lines = []
    for step in ("sender", "switch", "receiver"):
        case = next(c for c in golden if c["step"] == step and c["did"] in ("sampled", "replaced"))
        with dataplane.Program(step) as program:
            program.settle(mask=case["mask"], queue_bytes=1 << 20, keep=True)
            took, told = [], 0
            for _ in range(5):
                # A ring buffer of 4 MiB has room for 131,072 events.
                took.append(program.run(bytes.fromhex(case["in"]), 100_000)[1])
                told += len(program.events()) if step == "receiver" else 0
            counts = program.counts()
            assert (counts["sampled"], counts["lost"]) == (500_000, 0)
            assert told == (500_000 if step == "receiver" else 0)
            lines.append(f"{step} {min(took)} ns")
    with capsys.disabled():
        print(f"\n  a step by BPF_PROG_TEST_RUN: {', '.join(lines)}")


@needs_bpf
def test_settings_out_of_range_are_refused():
    with dataplane.Program("switch", "ds-ttl") as program:
        for name, value in (
            ("mask", -1),
            ("mask", 2**32),
            ("initial_ttl", 32),
            ("initial_ttl", 256),
            ("rate", 1.5),
        ):
            with pytest.raises(nl.ArgumentError, match=f"{name}: expected"):
                program.settle(**{"mask": 1, name: value})


@needs_bpf
def test_random_ids_and_draws_are_fair(golden):
    case = next(c for c in golden if c["step"] == "switch")
    frame = bytearray.fromhex(case["in"])
    with dataplane.Program("switch") as program:
        program.settle(mask=case["mask"])
        # The packet of 15 hops stays at 15: each run replaces with 1 in 16.
        frame[15] = 0x80 | 15 << 3 | 1
        program.run(bytes(frame), 100_000)
        replaced = program.counts()["replaced"]
    # 6,250 expected, a standard deviation of 77: five of them.
    assert abs(replaced - 6_250) < 385


@needs_bpf
def test_a_sender_samples_the_share_that_it_is_told(golden):
    frame = bytes.fromhex(next(c for c in golden if c["step"] == "sender")["in"])
    with dataplane.Program("sender") as program:
        program.settle(mask=0xFFFF, rate=0.25)
        program.run(frame, 40_000)
        sampled = program.counts()["sampled"]
    # A standard deviation of 87: five of them.
    assert abs(sampled - 10_000) < 435


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)
    monkeypatch.setattr(programs, "_BTF", Path("/no/such/file"))
    monkeypatch.setattr(programs, "_may_load", lambda: False)
    with pytest.raises(nl.LiveError, match=r"missing: root .*, clang, .*a kernel with BTF"):
        dataplane.Program("switch")


def test_a_plan_has_the_masks_of_the_paper(netloom):
    result = netloom.json("dataplane", "plan", TREE, "--queue-bytes", "30000")["result"]
    ports = result["ports"]
    # Every link of the tree is on some way: 4 up and 4 down at hosts, 2 up and 2 down at the spine.
    assert len(ports) == 12
    assert result["links_without_number"] == 0
    assert [port["queue_bytes"] for port in ports if port["role"] == "host"] == [None] * 4
    assert {port["queue_bytes"] for port in ports if port["role"] == "switch"} == {30000}
    assert len({port["number"] for port in ports}) == len({port["mask"] for port in ports}) == 12
    # Bit k of a mask is H(2^k, link): the leading bit of 2^k times the number times g in GF(2^32).
    for port in ports:
        product, mask = _product(port["number"], 0x127BE738), int(port["mask"], 16)
        for k in range(16):
            assert mask >> k & 1 == _product(product, 1 << k) >> 31, port
    assert result["thresholds"][:3] == [32768, 21845, 16384]


def _product(a: int, b: int) -> int:
    """In GF(2^32) with x^32 + x^7 + x^3 + x^2 + 1."""
    total = 0
    for k in range(32):
        if b >> k & 1:
            total ^= a << k
    for k in range(62, 31, -1):
        if total >> k & 1:
            total ^= 0x1_0000_008D << (k - 32)
    return total


def test_packets_by_a_plan_are_decoded_by_the_same_numbers(netloom):
    """Packets from host0000 to host0002, the third link of the way kept: what is decoded is that link."""
    ports = netloom.json("dataplane", "plan", TREE)["result"]["ports"]
    kept = next(port for port in ports if port["node"] == "spine00" and port["port"] == 2)
    rows = ["id,source,destination,hops,bit,congested"]
    count = 4000
    draws = random.Random(1)
    for _ in range(count):
        number = draws.randrange(65536)
        bit = bin(number & int(kept["mask"], 16)).count("1") % 2
        rows.append(f"{number},host0000,host0002,4,{bit},1")
    packets = netloom.folder / "packets.csv"
    packets.write_text("\n".join(rows) + "\n")
    result = netloom.json("sample", "decode", TREE, packets, "--hop-bits", "4")["result"]
    assert result["decoded"] == count
    (hottest,) = result["contexts"][0]["hottest"]
    # Each of them says 4 of this link.
    assert (hottest["link"], hottest["traffic"]) == (kept["link"], 4 * count)


def test_ways_that_the_layout_cannot_count_are_refused(monkeypatch):
    monkeypatch.setattr(dataplane.plan, "MOST_HOPS", 3)
    with pytest.raises(nl.SimulationError, match="expected ways of at most 3 links, found one of 4"):
        dataplane.ports(nl.Fabric.generate(TREE))


def test_a_fabric_that_is_none_is_refused(netloom):
    assert "nothing.txt" in netloom.refused("dataplane", "plan", "nothing.txt")
