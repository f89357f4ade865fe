"""How a live fabric and its subnet manager are asked: OpenSM on ibsim, and machines without either."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom.errors import LiveError
from netloom.live import Access, Ibsim, Manager, OpenSM, missing_tools, peers
from netloom.live.mads import Mads
from netloom.live.tables import read_tables

needs_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]
HOST = "host0000"


def opensm(test):
    for mark in needs_opensm:
        test = mark(test)
    return test


@opensm
@pytest.mark.parametrize(
    ("console", "kind", "how"),
    [("local", "fifo", "reroute"), ("loopback", "socket", "reroute"), ("off", None, "SIGHUP")],
)
def test_a_manager_says_of_itself_how_it_is_asked_and_loads_a_new_file(paths, tmp_path, console, kind, how):
    fabric = nl.Fabric.read(paths.ft2)
    file = tmp_path / "routes.lfts"
    nl.route("ftree", fabric).write(file)
    port = 10000 + os.getpid() % 20000
    settings = f"console_port {port}\n"
    with Ibsim(paths.ft2, host=HOST) as sim, OpenSM(sim, routes=file, console=console, settings=settings):
        manager = Manager.running(sim.access)
        assert manager.routes_file == file
        assert manager.engines == ["file", "no_fallback"]
        assert manager.lmc == 0
        assert manager.problems() == []
        assert manager.console == kind
        second = nl.route("random", fabric, seed=5)
        second.write(file)
        assert manager.reload()[0] == how
        now = nl.Routes.parse(sim.access.forwarding_tables(), fabric)
    assert now.changed_entries(second) == 0
    assert not manager.alive


@opensm
@pytest.mark.parametrize("name", ["ft2", "ft3"])
def test_tables_read_by_address_are_those_of_dump_fts(paths, name, monkeypatch):
    with Ibsim(getattr(paths, name), host=HOST) as sim, OpenSM(sim, engine="minhop"):
        fabric = nl.Fabric.parse(sim.discover())
        dumped = nl.Routes.parse(sim.forwarding_tables(), fabric)
        with monkeypatch.context() as patched:
            patched.setattr(Access, "forwarding_tables", None)  # by address alone
            read = nl.Routes.parse(read_tables(sim.access, fabric), fabric)
        assert np.array_equal(read.table(), dumped.table())
        # A switch that is cut off does not answer by its address: dump_fts is asked for the others.
        alone = int(fabric.switch_table()["guid"][-1])
        for port in range(1, 9):
            sim.command(f'Unlink "S-{alone:016x}"[{port}]')
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            texts = [read_tables(sim.access, fabric), sim.forwarding_tables()]
            read, dumped = (nl.Routes.parse(text, fabric, strict=False).table() for text in texts)
            if np.array_equal(read, dumped):
                break
        assert np.array_equal(read, dumped)
        assert (read[-1] == 65535).all()


@opensm
def test_a_file_that_opensm_does_not_like_is_told_with_its_reason(paths, tmp_path):
    fabric = nl.Fabric.read(paths.ft2)
    file = tmp_path / "routes.lfts"
    nl.route("ftree", fabric).write(file)
    with Ibsim(paths.ft2, host=HOST) as sim, OpenSM(sim, routes=file) as opensm:
        file.write_text("Unicast lids guid 0x0002c90200000000\n0x0001 099\n")
        with pytest.raises(nl.LiveError, match=r"does not like .*Invalid port 99"):
            opensm.manager.reload(seconds=5)
        file.unlink()
        with pytest.raises(nl.LiveError, match=r"does not like .*No such file"):
            opensm.manager.reload(seconds=5)


@opensm
def test_the_master_is_told_from_one_that_stands_by(paths):
    with Ibsim(paths.ft2, host=HOST) as sim, OpenSM(sim, engine="updn", settings="sm_priority 9\n"):
        fabric = nl.Fabric.parse(sim.discover())
        assert [peer.state for peer in peers(sim.access)] == ["master"]
        with OpenSM(sim, engine="updn", host="host0009", standby=True):
            found = peers(sim.access, fabric)
            assert [(peer.state == "master", peer.priority) for peer in found] == [(True, 9), (False, 0)]
            assert found[1].state == "standby"
            with pytest.raises(nl.LiveError, match=r"2 OpenSM run here .*--opensm PID"):
                Manager.running(sim.access)


@opensm
def test_without_a_master_that_is_said(paths):
    with Ibsim(paths.ft2, host=HOST) as sim:
        with pytest.raises(nl.LiveError, match=r"no OpenSM of the fabric of ibsim"):
            Manager.running(sim.access)
        with pytest.raises(nl.LiveError, match=r"no master"):
            peers(sim.access, seconds=10)


@opensm
def test_an_ibsim_that_takes_no_client_says_why(paths):
    with Ibsim(paths.ft2, host="host0000") as sim:
        with pytest.raises(LiveError, match="has no host 'host9999'"):
            Access.ibsim(sim.socket_name, "host9999").discover()
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(Mads(sim.access))
            for ask in (sim.access.discover, Mads(sim.access).__enter__):
                with pytest.raises(LiveError, match="takes no more clients: it has ten places"):
                    ask()
        # They have all left as they should: their places are free again.
        assert nl.Fabric.parse(sim.discover()).hosts == 32


@opensm
def test_a_fabric_on_the_command_line(paths):
    with Ibsim(paths.ft2, host=HOST) as sim:
        access = Access.of_options(sim=f"{sim.socket_name},{HOST}", ca=None, port=None)
        assert nl.Fabric.parse(access.discover()).hosts == 32
        with pytest.raises(nl.LiveError, match=r"expected one of them"):
            Access.of_options(sim=sim.socket_name, ca="mlx5_0", port=None)
    with pytest.raises(nl.LiveError, match=r"no ibsim has the socket name"):
        Access.of_options(sim=sim.socket_name, ca=None, port=None)
    with pytest.raises(nl.LiveError, match=r"has ended|no answer"):
        access.run("sminfo", seconds=5)


@opensm
@pytest.mark.skipif(Path("/dev/infiniband").exists(), reason="this machine has an InfiniBand device")
def test_a_machine_without_a_device_is_told_what_is_missing():
    with pytest.raises(nl.LiveError, match=r"no InfiniBand device .*ib_umad"):
        Access.local().discover()


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("routing_engine file,no_fallback\nlfts_file r.lfts\n", []),
        ("routing_engine file\nlfts_file r.lfts\n", ["fallback"]),
        ("routing_engine file,no_fallback\nlfts_file (null)\n", ["no-file-engine"]),
        ("# nothing\n", ["no-file-engine"]),
        ("routing_engine ar_updn\nar_mode 1\n", ["no-file-engine", "adaptive"]),
        ("routing_engine file,no_fallback\nlfts_file r.lfts\nevent_plugin_name armgr\n", ["adaptive"]),
        ("routing_engine file,no_fallback\nlfts_file r.lfts\nuse_ucast_cache TRUE\n", ["cached"]),
    ],
)
def test_what_an_options_file_forbids(tmp_path, text, kinds):
    from netloom.live.manager import _read_options

    (tmp_path / "opensm.conf").write_text(text)
    manager = Manager(os.getpid(), _read_options(tmp_path / "opensm.conf"), tmp_path / "opensm.conf")
    assert [problem.kind for problem in manager.problems()] == kinds
    if "no-file-engine" in kinds:
        assert "routing_engine file,no_fallback and lfts_file" in manager.problems()[0].text


def test_the_command_line_counts_before_the_options_file():
    from netloom.live.manager import _given

    given = _given(["-F", "a.conf", "-R", "file,no_fallback", "-Ur.lfts", "--lmc=1", "-A", "-D", "0x43"])
    assert given == {
        "config": "a.conf",
        "routing_engine": "file,no_fallback",
        "lfts_file": "r.lfts",
        "lmc": "1",
        "use_ucast_cache": "TRUE",
    }
