"""The sampler in P4: golden packets through the program, and the entries that a plan gives its tables.

An evaluator of the subset (`p4_subset`) runs everywhere; p4c and BMv2's simple_switch where they are.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import bmv2
import netloom as nl
import p4_subset
from netloom import dataplane
from netloom.dataplane import estimates
from p4_subset import EVERYTHING, Entry

DATAPLANE = Path(__file__).resolve().parent.parent / "dataplane"
SOURCE = DATAPLANE / "p4" / "netloom_sampler.p4"
TREE = "two-level:leaves=2,hosts=2,spines=1"
IN, OUT = 1, 2


@pytest.fixture(scope="module")
def golden():
    return json.loads((DATAPLANE / "golden" / "ds.json").read_text())


@pytest.fixture
def written(netloom):
    """What a plan of a tree writes: the folder, and the plan."""
    result = netloom.json("dataplane", "plan", TREE, "--p4", "p4", "--queue-packets", "20")["result"]
    assert result["p4"]["folder"] == "p4"
    assert sorted(result["p4"]["files"]) == sorted(file.name for file in (netloom.folder / "p4").iterdir())
    return netloom.folder / "p4", result


def entries_of(step: str, mask: int) -> dict[str, dict[int, Entry]]:
    """Entries with which a packet from IN to OUT takes a step, the sender's in the ingress alone."""
    found = {
        "SamplerIngress.routes": {EVERYTHING: Entry("to_port", (OUT,))},
        "SamplerIngress.bridges": {IN: Entry("to_port", (OUT,))},
        "SamplerIngress.edges": {IN: Entry("trust")},
        "SamplerEgress.thresholds": {
            hops: Entry("replaces_below", (65_536 // (hops + 1),)) for hops in range(1, 16)
        },
        "SamplerEgress.ports": {OUT: Entry("link", (mask & 0xFFFF, 0))},
    }
    if step == "sender":
        found["SamplerIngress.edges"] = {IN: Entry("send", (mask & 0xFFFF, 65_536))}
    elif step == "receiver":
        found["SamplerEgress.ports"] = {OUT: Entry("leave")}
    return found


def with_draw(frame: bytes, case: dict) -> bytes:
    """A frame whose source address says the draw and the queue, as NETLOOM_GOLDEN reads it."""
    if len(frame) < 14:
        return frame
    return frame[:9] + bytes([case["congested"]]) + case["random"].to_bytes(2, "big") + frame[12:]


def test_golden_packets_are_the_same_in_p4(golden):
    """Those of switch and receiver, bit for bit; those of the sender before the egress adds its link."""
    program = p4_subset.Program(SOURCE.read_text(), frozenset(["NETLOOM_GOLDEN"]))
    for case in golden:
        frame = bytes.fromhex(case["in"])
        program.entries = entries_of(case["step"], case["mask"])
        port, out = program.run(with_draw(frame, case), IN, egress=case["step"] != "sender")
        assert port == OUT
        assert (out[:6] + frame[6:12] + out[12:]).hex() == case["out"], case["name"]
    assert len(golden) > 300


def test_the_source_is_the_one_that_was_compiled():
    """What p4c made is committed with the source's hash: a change of the source asks for p4c again."""
    compiled = json.loads((DATAPLANE / "p4" / "netloom_sampler.json").read_text())
    told = (DATAPLANE / "p4" / "COMPILED").read_text().split()
    # Made with the line in the file, by p4c.
    assert told[0] == hashlib.sha256(SOURCE.read_bytes()).hexdigest()
    tables = {table["name"] for pipeline in compiled["pipelines"] for table in pipeline["tables"]}
    assert {
        "SamplerIngress.edges",
        "SamplerIngress.routes",
        "SamplerEgress.ports",
        "SamplerEgress.thresholds",
    } <= tables


def test_a_plan_fills_the_tables(written):
    folder, result = written
    for name in ("netloom_sampler.p4", "netloom_sampler.json", "netloom_sampler.p4info.txt"):
        assert (folder / name).read_bytes() == (SOURCE.parent / name).read_bytes()
    ports = {(port["node"], port["port"]): port for port in result["ports"]}
    switches = sorted({node for node, _ in ports if ports[node, _]["role"] == "switch"})
    assert switches == ["leaf00", "leaf01", "spine00"]
    for switch in switches:
        tables = p4_subset.commands((folder / f"{switch}.txt").read_text())
        own = {number: port for (node, number), port in ports.items() if node == switch}
        assert set(tables["SamplerEgress.ports"]) == set(tables["SamplerIngress.edges"]) == set(own)
        for number, port in own.items():
            assert tables["SamplerEgress.ports"][number] == Entry("link", (int(port["mask"], 16), 20))
            assert tables["SamplerIngress.edges"][number] == Entry("trust")
        drawn = [tables["SamplerEgress.thresholds"][hops].arguments[0] for hops in range(1, 16)]
        assert drawn == result["thresholds"]
        runtime = json.loads((folder / f"{switch}.json").read_text())
        # What the tutorials' client asks for; both files lie beside it.
        assert (runtime["target"], runtime["bmv2_json"]) == ("bmv2", "netloom_sampler.json")
        assert (folder / runtime["p4info"]).exists()
        rows = runtime["table_entries"]
        told = {(row["table"], *row["match"].values(), *row["action_params"].values()) for row in rows}
        assert told == {
            (table, key, *entry.arguments) for table, found in tables.items() for key, entry in found.items()
        }


def test_switches_send_for_hosts_without_a_sender(netloom):
    ports = netloom.json("dataplane", "plan", TREE, "--p4", "p4", "--switch-sends")["result"]["ports"]
    masks = {port["node"]: int(port["mask"], 16) for port in ports if port["role"] == "host"}
    tables = p4_subset.commands((netloom.folder / "p4" / "leaf01.txt").read_text())
    # host0002 and host0003 are at ports 1 and 2 of leaf01, the spine at port 3.
    assert tables["SamplerIngress.edges"] == {
        1: Entry("send", (masks["host0002"], 65_536)),
        2: Entry("send", (masks["host0003"], 65_536)),
        3: Entry("trust"),
    }
    assert {entry.arguments[1] for entry in tables["SamplerEgress.ports"].values()} == {2**19 - 1}


def test_packets_through_three_switches_are_estimated(netloom):
    """host0000 to host0002: each of the four links of the way is seen by all packets, no other is."""
    ports = netloom.json("dataplane", "plan", TREE, "--p4", "p4", "--switch-sends")["result"]["ports"]
    draw = random.Random(11)
    way = [("leaf00", 1, 3), ("spine00", 1, 2), ("leaf01", 3, 1)]
    switches = []
    for name, came, left in way:
        text = (netloom.folder / "p4" / f"{name}.txt").read_text()
        found = {
            **p4_subset.commands(text),
            "SamplerIngress.routes": {EVERYTHING: Entry("to_port", (left,))},
        }
        program = p4_subset.Program(SOURCE.read_text(), entries=found, random=draw.randint)
        switches.append((program, came))
    frame = bytes.fromhex(
        "02000000020202000000010108004500002000004000401123cb0a0001010a00020212345678000c0000aabbccdd"
    )
    count = 300
    table = {key: [] for key in ("id", "hops", "bit", "congested")}
    for _ in range(count):
        packet = frame
        for program, came in switches:
            _, packet = program.run(packet, came)
        ds = packet[15]
        assert sum(int.from_bytes(packet[at : at + 2], "big") for at in range(14, 34, 2)) % 0xFFFF == 0
        for key, value in (
            ("id", int.from_bytes(packet[18:20], "big")),
            ("hops", ds >> 3 & 15),
            ("bit", ds >> 2 & 1),
            ("congested", (ds & 3) == 3),
        ):
            table[key].append(value)
    assert set(table["hops"]) == {4}
    assert not any(table["congested"])
    crossed = {("host0000", 1), ("leaf00", 3), ("spine00", 2), ("leaf01", 1)}
    for port in ports:
        found = estimates.of_link(table, int(port["mask"], 16))
        expected = count if (port["node"], port["port"]) in crossed else 0
        assert abs(found.traffic - expected) < 4 * max(found.traffic_error, (15 * count) ** 0.5), port


def test_tags_of_strangers_end_at_ports_that_nobody_named(golden):
    program = p4_subset.Program(SOURCE.read_text())
    case = next(c for c in golden if c["step"] == "receiver" and c["did"] == "sampled")
    foreign = next(c for c in golden if c["step"] == "receiver" and c["name"].startswith("ds 0xb8"))
    for one in (case, foreign):
        frame = bytes.fromhex(one["in"])
        program.entries = {**entries_of("switch", 0xFFFF), "SamplerIngress.edges": {}}
        # The tag is taken off, and others' use of the byte is left alone.
        assert program.run(frame, IN)[1].hex() == one["out"]
        program.entries = {**entries_of("switch", 0xFFFF), "SamplerEgress.ports": {}}
        assert program.run(frame, IN)[1].hex() == one["out"]


def test_a_queue_is_congested_from_its_length_on(golden):
    case = next(c for c in golden if c["step"] == "switch" and c["did"] == "replaced")
    program = p4_subset.Program(SOURCE.read_text(), entries=entries_of("switch", case["mask"]))
    program.entries["SamplerEgress.ports"] = {OUT: Entry("link", (case["mask"] & 0xFFFF, 20))}
    for depth, bits in ((19, 1), (20, 3), (2**19 - 1, 3)):
        program.depth = depth
        assert program.run(bytes.fromhex(case["in"]), IN)[1][15] & 3 == bits
    program.entries["SamplerEgress.ports"] = {OUT: Entry("link", (case["mask"] & 0xFFFF, 2**19 - 1))}
    program.depth = 2**19 - 2
    assert program.run(bytes.fromhex(case["in"]), IN)[1][15] & 3 == 1


def test_a_plan_is_written(netloom):
    netloom.ok("dataplane", "plan", TREE, "-o", "plan.json", "-q")
    written = json.loads((netloom.folder / "plan.json").read_text())
    assert len(written["result"]["ports"]) == 12
    netloom.ok("dataplane", "plan", TREE, "-o", "plan.csv", "-q")
    assert (
        (netloom.folder / "plan.csv").read_text().startswith("node,port,role,link,number,mask,queue_bytes\n")
    )
    assert netloom("dataplane", "plan", TREE, "-o", "plan.parquet").code == 2


def test_switches_whose_names_are_no_files_are_told(netloom):
    netloom.ok("fabric", "new", "two-level:leaves=2,hosts=1,spines=1", "-o", "net.txt", "-q")
    text = (netloom.folder / "net.txt").read_text()
    (netloom.folder / "net.txt").write_text(text.replace("leaf00", "row 1/leaf"))
    result = netloom.json("dataplane", "plan", "net.txt", "--p4", "p4")["result"]["p4"]
    assert {one["node"]: one["file"] for one in result["switches"]} == {
        "row 1/leaf": "switch0001.txt",
        "leaf01": "leaf01.txt",
        "spine00": "spine00.txt",
    }
    assert "row 1/leaf" in netloom.ok("dataplane", "plan", "net.txt", "--p4", "p4").split("node ")[0]
    (netloom.folder / "net.txt").write_text(text.replace("leaf00", "leaf01"))
    ran = netloom("dataplane", "plan", "net.txt", "--p4", "x")
    assert ran.code == 3
    assert "two switches are called leaf01" in ran.err
    assert not (netloom.folder / "x").exists()


def test_settings_out_of_range_are_refused():
    for name, value in (("layout", "qinq"),):
        with pytest.raises(nl.ArgumentError, match=name):
            dataplane.Program("switch", value)


@pytest.mark.parametrize("option", [("--queue-packets", "5"), ("--switch-sends",)])
def test_options_of_p4_alone_are_refused_without_it(netloom, option):
    ran = netloom("dataplane", "plan", TREE, *option)
    assert ran.code == 2
    assert "--p4" in ran.err


def test_widths_must_agree():
    """The evaluator refuses what p4c refuses."""
    text = SOURCE.read_text().replace("bit<4> hops = found.ipv4.ds[6:3]", "bit<5> hops = found.ipv4.ds[6:3]")
    program = p4_subset.Program(text, entries=entries_of("switch", 1))
    frame = "02000000020202000000010108004589002000004000401123420a0001010a00020212345678000c0000aabbccdd"
    with pytest.raises(p4_subset.P4Error, match="expected bit<5>, found bit<4>"):
        program.run(bytes.fromhex(frame), IN)


TOOLS = [name for name in ("p4c-bm2-ss", "simple_switch") if shutil.which(name) is None]


@pytest.mark.skipif(bool(TOOLS), reason=f"missing: {', '.join(TOOLS)}")
def test_golden_packets_are_the_same_in_bmv2(golden, tmp_path):
    """A real switch of p4c's program: as the evaluator, and as the file where one step is all there is."""
    made = tmp_path / "golden.json"
    subprocess.run(["p4c-bm2-ss", "-DNETLOOM_GOLDEN", "-o", str(made), str(SOURCE)], check=True)
    compiled = json.loads(made.read_text())
    evaluator = p4_subset.Program(SOURCE.read_text(), frozenset(["NETLOOM_GOLDEN"]))
    compared = 0
    for step in ("sender", "switch", "receiver"):
        for mask in sorted({case["mask"] for case in golden}):
            cases = [case for case in golden if (case["step"], case["mask"]) == (step, mask)]
            if not cases:
                continue
            entries = evaluator.entries = entries_of(step, mask)
            frames = [with_draw(bytes.fromhex(case["in"]), case) for case in cases]
            program = bmv2.with_entries(compiled, entries)
            out = bmv2.run("simple_switch", program, frames, tmp_path, IN, OUT)
            assert len(out) == len(frames)
            for case, frame, found in zip(cases, frames, out, strict=True):
                assert found == evaluator.run(frame, IN)[1], case["name"]
                if step != "sender":
                    original = bytes.fromhex(case["in"])
                    assert (found[:6] + original[6:12] + found[12:]).hex() == case["out"], case["name"]
                compared += 1
    assert compared == len(golden)
