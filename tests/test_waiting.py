"""What a tick of waiting is worth, by the generation of the switch (NVIDIA's ibdiagnet manual, by hand)."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom.counting.waiting import devices_of, lost, tick_seconds, ticks_of


def dump(paths, *, device: int, width: str = "4x") -> str:
    """The dump of 32 hosts, with another device or other widths."""
    return paths.ft2.read_text().replace("devid=0xd2f0", f"devid={device:#x}").replace("4xEDR", f"{width}EDR")


@pytest.mark.parametrize(
    ("device", "width", "octets"),
    [
        (0xD2F0, "4x", 8),  # Quantum: of the port, whatever its width
        (0xD2F2, "2x", 8),
        (0xCB20, "4x", 4 * 32),  # Switch-IB: of each lane
        (0xCF08, "1x", 32),
        (0xC738, "4x", 4 * 32),
    ],
)
def test_octets_a_tick(paths, tmp_path, device, width, octets):
    file = tmp_path / "net.txt"
    file.write_text(dump(paths, device=device, width=width))
    fabric = nl.Fabric.read(file)
    found = devices_of(file).octets(fabric)
    of_switches = fabric.link_table()["source"] >= fabric.hosts
    assert (found[of_switches] == octets).all()
    # Nothing is known of adapters.
    assert np.isnan(found[~of_switches]).all()


def test_a_tick_in_seconds_is_what_its_octets_take(paths):
    fabric = nl.Fabric.read(paths.ft2)
    ticks = tick_seconds(fabric, devices_of(paths.ft2).octets(fabric))
    # 8 octets at EDR's 12.5 GB/s, less what its coding takes.
    assert np.nanmax(ticks) == pytest.approx(8 / fabric.link_table()["bandwidth_bytes_per_s"][40])
    assert np.nanmax(ticks) == pytest.approx(0.64e-9, rel=0.05)


def test_an_unknown_device_and_a_spec_have_no_unit(paths, tmp_path):
    fabric = nl.Fabric.read(paths.ft2)
    (tmp_path / "net.txt").write_text(dump(paths, device=0x1234))
    assert np.isnan(devices_of(tmp_path / "net.txt").octets(fabric)).all()
    for source in ("two-level:leaves=2,hosts=2,spines=2", fabric):
        assert devices_of(source).ids == {}


def reading(lid: int, port: int, wait: int) -> str:
    """As perfquery prints it."""
    values = {"PortSelect": port, "PortXmitData": 1000, "PortRcvData": 0, "PortXmitPkts": 4, "PortRcvPkts": 0}
    lines = [f"{name + ':':.<33}{value}" for name, value in {**values, "PortXmitWait": wait}.items()]
    return "\n".join([f"# Port counters: Lid {lid} port {port} (CapMask: 0x1200)", *lines]) + "\n"


def test_bandwidth_lost_is_told_by_link(netloom, paths, write):
    """leaf00's port 5 waits 1,000,000 ticks of 8 octets: 8 MB that were not sent."""
    fabric = nl.Fabric.read(paths.ft2)
    lid = int(fabric.switch_table()["lid"][fabric.switch_names.index("leaf00")])
    write("b.txt", reading(lid, 5, 1_000_000) + reading(lid, 6, 0))
    rows = netloom.result("counters", "show", paths.ft2, "b.txt")["lost"]
    (row,) = rows
    assert (row["from"], row["from_port"], row["device"]) == ("leaf00", 5, "Quantum")
    assert (row["ticks"], row["bytes"]) == (1e6, 8e6)
    assert "bandwidth lost to waiting" in netloom.ok("counters", "show", paths.ft2, "b.txt")


def test_a_share_of_the_link_where_the_time_is_known(paths):
    fabric = nl.Fabric.read(paths.ft2)
    lid = int(fabric.switch_table()["lid"][fabric.switch_names.index("leaf00")])
    first = nl.Counters.parse(reading(lid, 5, 0).encode(), fabric)
    second = nl.Counters.parse(reading(lid, 5, 1_000_000).encode(), fabric)
    between = second.since(first, seconds=0.01)
    (row,) = lost(fabric, between, devices_of(paths.ft2), ticks_of(fabric, between), most=5)
    bandwidth = fabric.link_table()["bandwidth_bytes_per_s"].max()
    assert row["percent"] == pytest.approx(100 * 8e6 / (0.01 * bandwidth))


def test_what_is_left_out_and_what_cannot_be_is_told(netloom, paths, write):
    fabric = nl.Fabric.read(paths.ft2)
    lid = int(fabric.switch_table()["lid"][fabric.switch_names.index("leaf00")])
    first, second = write("a.txt", reading(lid, 5, 0)), write("b.txt", reading(lid, 5, 1_000_000))
    write("unknown.txt", dump(paths, device=0xABCD))
    (told,) = (
        note for note in netloom.result("counters", "show", "unknown.txt", "b.txt")["notes"] if "tick" in note
    )
    assert told.startswith("1 ports of switches have waited")
    # 8 MB in 0.1 ms: 640 % of 12.5 GB/s.
    netloom.ok(
        "counters", "diff", paths.ft2, first, second, "--seconds", "0.0001", "-o", "between.csv", code=1
    )
    notes = netloom.result("counters", "show", paths.ft2, "between.csv")["notes"]
    assert any("lost more than they could have carried, leaf00[5] 640.0 %" in note for note in notes)


def test_diagnose_takes_the_unit_of_the_dump(netloom, paths, write):
    fabric = nl.Fabric.read(paths.ft2)
    nl.synth_counters(fabric, "ftree", nl.Traffic.read("shift:4", fabric), seconds=1).write(
        netloom.folder / "plain.csv"
    )
    text = (netloom.folder / "plain.csv").read_text().splitlines()
    head, rows = text[0].split(","), [line.split(",") for line in text[1:]]
    at = head.index("quality")
    head.insert(at, "wait_ticks")
    for row in rows:
        row.insert(at, "5")
    write("waits.csv", "\n".join(",".join(row) for row in [head, *rows]) + "\n")
    done = netloom("diagnose", paths.ft2, "--counters", "waits.csv")
    assert "ticks of waiting as Quantum count them; 32 links that waited have another device" in done.err
    own = netloom("diagnose", paths.ft2, "--counters", "waits.csv", "--tick-ns", "1")
    assert "ticks of waiting as" not in own.err
