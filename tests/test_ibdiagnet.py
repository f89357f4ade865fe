"""ibdiagnet's `db_csv`, written here from what `ibnetdiscover` dumped: the same fabric, and its counters."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

SPEEDS = {"EDR": 1 << 9}


def database(dump: str, counters: str | None = None) -> str:
    """The sections of a dump's fabric, and of a table of counters (`netloom counters synth`)."""
    nodes, ports, links, guids = [], [], [], {}
    node = None
    for line in dump.splitlines():
        if head := re.match(
            r'(Switch|Ca)\s+(\d+) "[SH]-([0-9a-f]{16})"\s+# "(.*?)"( base port 0 lid (\d+))?', line
        ):
            kind, count, node, name = head[1], head[2], f"0x{head[3]}", head[4]
            nodes.append(f'"{name}",{count},{2 if kind == "Switch" else 1},{node}')
            guids[name] = node
            if kind == "Switch":
                ports.append(f"{node},{node},0,{head[6]},0,N/A,N/A")
        elif row := re.match(r'\[(\d+)\](?:\((\w+)\))?\s+"[SH]-([0-9a-f]{16})"\[(\d+)\]', line):
            own = re.search(r"# lid (\d+) lmc (\d+)", line)
            lid, lmc = (own[1], own[2]) if own else ("N/A", "0")
            speed = SPEEDS[line.split("4x")[-1].strip()]
            ports.append(f"{node},0x{row[2] or '0'},{row[1]},{lid},{lmc},2,0x{speed:x}")
            far = f"0x{row[3]}"
            if (node, row[1]) < (far, row[4]):
                links.append(f"{node},{row[1]},{far},{row[4]}")
    sections = {
        "NODES": ["NodeDesc,NumPorts,NodeType,NodeGUID", *nodes],
        "PORTS": ["NodeGuid,PortGuid,PortNum,LID,LMC,LinkWidthActv,LinkSpeedActv", *ports],
        "LINKS": ["NodeGuid1,PortNum1,NodeGuid2,PortNum2", *links],
    }
    if counters is not None:
        rows: dict[tuple[str, str], dict[str, int]] = {}
        for one in csv.DictReader(io.StringIO(counters)):
            sent = rows.setdefault((guids[one["from"]], one["from_port"]), {})
            sent["data"], sent["packets"] = int(one["xmit_bytes"]) // 4, int(one["xmit_packets"])
            got = rows.setdefault((guids[one["to"]], one["to_port"]), {})
            got["rcv"], got["rcv_packets"] = int(one["rcv_bytes"]) // 4, int(one["rcv_packets"])
        head = "NodeGUID,PortGUID,PortNumber,PortXmitData,PortXmitDataExtended,PortRcvDataExtended,"
        told = [head + "PortXmitPktsExtended,PortRcvPktsExtended"]
        for (guid, port), value in rows.items():
            narrow = min(value["data"], 2**32 - 1)
            wide = ",".join(hex(value[key]) for key in ("data", "rcv", "packets", "rcv_packets"))
            told.append(f"{guid},{guid},{port},{narrow},{wide}")
        sections["PM_INFO"] = told
    return "\n".join(
        f"START_{name}\n" + "\n".join(rows) + f"\nEND_{name}\n\n" for name, rows in sections.items()
    )


@pytest.fixture
def synth(netloom, paths) -> str:
    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok("counters", "synth", paths.ft2, "ftree", jobs, "--seconds", "100", "-o", "c.csv")
    return Path(netloom.folder / "c.csv").read_text()


def test_the_database_is_the_fabric_that_was_dumped(netloom, paths):
    (netloom.folder / "ibdiagnet2.db_csv").write_text(database(paths.ft2.read_text()))
    mine = netloom.result("fabric", "show", "ibdiagnet2.db_csv")
    theirs = netloom.result("fabric", "show", paths.ft2)
    assert mine["kind"] == "ibdiagnet db_csv"
    same = (
        "hosts",
        "switches",
        "links",
        "levels",
        "lmc",
        "link_speeds",
        "hosts_hash",
        "cabling_hash",
        "findings",
    )
    assert {key: mine[key] for key in same} == {key: theirs[key] for key in same}
    netloom.ok("fabric", "convert", "ibdiagnet2.db_csv", "-o", "a.txt")
    netloom.ok("fabric", "convert", paths.ft2, "-o", "b.txt")
    assert (netloom.folder / "a.txt").read_text() == (netloom.folder / "b.txt").read_text()
    assert netloom.result("check", "ibdiagnet2.db_csv", "ftree")["ok"]


def test_its_counters_are_those_of_its_ports(netloom, paths, synth):
    (netloom.folder / "d.db_csv").write_text(database(paths.ft2.read_text(), synth))
    shown = netloom.result("counters", "show", paths.ft2, "d.db_csv")
    assert shown["kind"] == "ibdiagnet db_csv"
    jobs = paths.examples / "jobs" / "small.toml"
    table = netloom.result("infer", paths.ft2, "ftree", "c.csv", "--jobs", jobs)
    # Fabric and counters of one file.
    database_ = netloom.result("infer", "d.db_csv", "ftree", "d.db_csv", "--jobs", jobs)
    assert database_["verdict"] == table["verdict"]
    assert database_["total_bytes"] == pytest.approx(table["total_bytes"], rel=1e-6)


def test_without_counters_or_of_another_fabric_it_is_refused(netloom, paths, synth):
    (netloom.folder / "bare.db_csv").write_text(database(paths.ft2.read_text()))
    word = netloom.refused("counters", "show", paths.ft2, "bare.db_csv")
    assert "expected a section START_PM_INFO" in word
    (netloom.folder / "d.db_csv").write_text(database(paths.ft2.read_text(), synth))
    # (ibsim numbers GUIDs alike in all its fabrics.)
    assert (
        "this looks like another fabric's file" in netloom("counters", "show", paths.quartz1, "d.db_csv").out
    )
    text = (netloom.folder / "d.db_csv").read_text()
    (netloom.folder / "cut.db_csv").write_text(text[: text.index("END_LINKS") - 10])
    assert "END_LINKS" in netloom.refused("fabric", "show", "cut.db_csv")
