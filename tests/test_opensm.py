"""A real OpenSM loads what netloom writes; its switches' tables are read back and compared.

Runs where ibsim, opensm and the InfiniBand diagnostics are installed.
"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom.live import Ibsim, OpenSM, missing_tools

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


@pytest.mark.parametrize(
    ("name", "traffic"), [("ft2", "bisection-shuffle:seed=1"), ("ft3", "permutation:seed=2")]
)
def test_tables_read_back_equal_the_optimised_file(netloom, paths, name, traffic):
    dump = getattr(paths, name)
    made = netloom.result("optimize", dump, traffic, "-o", "r.lfts")
    file = netloom.folder / "r.lfts"
    fabric = nl.Fabric.read(dump)
    with Ibsim(dump, host=fabric.host_names[0]) as sim, OpenSM(sim, routes=file):
        read_back = nl.Routes.parse(sim.forwarding_tables(), fabric)
        found = nl.Fabric.parse(sim.discover())
    written = nl.Routes.read(file, fabric)
    assert np.array_equal(read_back.table(), written.table())
    assert read_back.changed_entries(written) == 0
    assert found.cabling_hash == fabric.cabling_hash
    loads = nl.loads(fabric, read_back, nl.Traffic.read(traffic, fabric))
    assert loads.max == made["max_load"]


@pytest.mark.slow
def test_a_whole_quartz1_loads_the_file_of_a_real_job_mix(netloom, paths):
    dump = netloom.folder / "quartz1.txt"
    dump.write_bytes(gzip.decompress(paths.quartz1.read_bytes()))
    netloom.ok("optimize", dump, paths.examples / "jobs" / "mix.toml", "-o", "r.lfts", "--quiet")
    fabric = nl.Fabric.read(dump)
    with Ibsim(dump, host="host0000") as sim, OpenSM(sim, routes=netloom.folder / "r.lfts"):
        tables = sim.forwarding_tables()
    written = nl.Routes.read(netloom.folder / "r.lfts", fabric)
    # 208 switches, 3072 hosts and 208 switches as destinations.
    assert written.table().shape == (208, 3280)
    assert nl.Routes.parse(tables, fabric).changed_entries(written) == 0


@pytest.mark.parametrize("name", ["ft2", "ft3"])
@pytest.mark.parametrize("engine", ["minhop", "updn", "ftree"])
def test_opensm_s_engines_are_read_and_pass_the_check(paths, name, engine):
    fabric = nl.Fabric.read(getattr(paths, name))
    with Ibsim(getattr(paths, name), host=fabric.host_names[0]) as sim, OpenSM(sim, engine=engine):
        routes = nl.Routes.parse(sim.forwarding_tables(), fabric)
    report = nl.check(fabric, routes)
    assert report.ok, report.findings


@pytest.mark.parametrize("name", ["ftree-loses-pairs", "broken36"])
def test_ftree_gives_up_on_damaged_trees_and_minhop_is_loaded(netloom, name):
    data = Path(__file__).resolve().parent / "data"
    net = data / "cases" / name / "net.txt"
    if name == "broken36":
        net = netloom.folder / "net.txt"
        packed = data / "opensm-engines" / "broken36.ibnetdiscover.gz"
        net.write_bytes(gzip.decompress(packed.read_bytes()))
    fabric = nl.Fabric.read(net)
    with Ibsim(net, host=fabric.host_names[0]) as sim, OpenSM(sim, engine="ftree") as manager:
        routes = nl.Routes.parse(sim.forwarding_tables(), fabric)
        assert "Fabric topology is not a fat-tree" in manager.log.read_text()
    assert routes.changed_entries(nl.route("minhop", fabric)) == 0


def test_a_reload_brings_new_routes_to_the_switches(netloom, paths):
    fabric = nl.Fabric.read(paths.ft2)
    file = netloom.folder / "r.lfts"
    first = nl.route("ftree", fabric)
    second = nl.route("random", fabric, seed=5)
    first.write(file)
    with Ibsim(paths.ft2, host=fabric.host_names[0]) as sim, OpenSM(sim, routes=file) as manager:
        before = nl.Routes.parse(sim.forwarding_tables(), fabric)
        second.write(file)
        manager.heavy_sweep()
        after = nl.Routes.parse(sim.forwarding_tables(), fabric)
    assert before.changed_entries(first) == 0
    assert after.changed_entries(second) == 0


def test_two_addresses_a_host_are_routed_and_read_back(netloom, paths):
    with Ibsim(paths.ft2, host="host0000") as sim:
        with OpenSM(sim, engine="updn", lmc=1):
            (netloom.folder / "net.txt").write_bytes(sim.discover())
        netloom.ok("optimize", "net.txt", "bisection-shuffle:seed=1", "-o", "r.lfts")
        with OpenSM(sim, routes=netloom.folder / "r.lfts", lmc=1):
            tables = sim.forwarding_tables()
    fabric = nl.Fabric.read(netloom.folder / "net.txt")
    assert fabric.lmc == 1
    written = nl.Routes.read(netloom.folder / "r.lfts", fabric)
    assert nl.Routes.parse(tables, fabric).changed_entries(written) == 0
    assert nl.check(fabric, written).ok


def test_a_generated_fabric_becomes_a_simulated_one(netloom):
    netloom.ok("fabric", "new", "two-level:leaves=4,hosts=2,spines=2", "-o", "net.net")
    with Ibsim(netloom.folder / "net.net", host="host0000") as sim, OpenSM(sim, engine="updn"):
        found = nl.Fabric.parse(sim.discover())
        routes = nl.Routes.parse(sim.forwarding_tables(), found)
    assert (found.hosts, found.switches, found.regular) == (8, 6, True)
    assert nl.check(found, routes).ok


def test_nothing_is_left_behind_after_an_error(paths, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    children = []

    def work():
        with Ibsim(paths.ft2, host="host0000") as sim, OpenSM(sim):
            children.extend(running(sim.socket_name))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert len(children) == 2
    assert not any(alive(pid) for pid in children)
    assert list(tmp_path.iterdir()) == []


def test_routes_with_a_port_that_does_not_exist_never_reach_the_switches(netloom, paths, tmp_path):
    """OpenSM would take its own minhop instead; with no_fallback the switches stay without routes."""
    bad = tmp_path / "bad.lfts"
    bad.write_text("Unicast lids guid 0x0002c90200000000\n0x0001 099\n")
    fabric = nl.Fabric.read(paths.ft2)
    with Ibsim(paths.ft2, host="host0000") as sim:
        try:
            with OpenSM(sim, routes=bad, start_seconds=2):
                tables = nl.Routes.parse(sim.forwarding_tables(), fabric, strict=False)
        except nl.LiveError:
            tables = nl.Routes.parse(sim.forwarding_tables(), fabric, strict=False)
    assert (tables.table()[:, :32] == 65535).mean() > 0.9


def test_ibsim_says_what_it_does_not_like(tmp_path):
    net = tmp_path / "net"
    net.write_text("this is no fabric\n")
    with pytest.raises(nl.LiveError, match="starting ibsim"), Ibsim(net, host="x", start_seconds=3):
        pass


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_children_die_with_python(paths, tmp_path, ending):
    code = f"""
        import time
        from netloom.live import Ibsim, OpenSM
        with Ibsim({str(paths.ft2)!r}, host="host0000") as sim, OpenSM(sim):
            print(sim.socket_name, flush=True)
            time.sleep(60)
    """
    python = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert python.stdout is not None
    name = python.stdout.readline().strip()
    children = running(name)
    assert len(children) == 2
    python.send_signal(ending)
    python.wait(timeout=20)
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in children)


def running(socket_name: str) -> list[int]:
    """Processes that talk over this socket name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"IBSIM_SOCKNAME={socket_name}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
