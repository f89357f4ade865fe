"""Fabrics as planarized (XDR) ones are: subnet management by directed route only, two devices a port, planes.

`planar.c` loses what such a fabric would not carry; `NETLOOM_PLANAR=1` has all live tests run through it
(`make hostile`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import netloom as nl
import planar_bed
from apply_bed import bed
from netloom.live import Access, Ibsim, OpenSM, interfaces, missing_tools, peers
from netloom.live.polling import Poller
from netloom.live.ways import Ways

opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


@pytest.fixture
def lost(tmp_path, monkeypatch) -> Iterator[Path]:
    """Where losses are told: children see a planarized fabric."""
    if planar_bed.missing():
        pytest.skip(f"not installed: {', '.join(planar_bed.missing())}")
    environment: dict[str, str] = {}
    planar_bed.preload(environment, planar_bed.build(tmp_path), tmp_path / "lost")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "lost"


class TestDirected:
    pytestmark = opensm

    def test_every_live_verb_sends_what_a_planarized_fabric_carries(self, lost, netloom, paths, tmp_path):
        folder = tmp_path / "opensm"
        folder.mkdir(mode=0o700)
        with bed(paths.ft2, folder) as live:
            where = "--sim", f"{live.sim.socket_name},{live.sim.host}"
            (netloom.folder / "net.txt").write_bytes(live.sim.discover())
            assert netloom.result("counters", "poll", "net.txt", *where)["missing_ports"] == []
            netloom.ok("watch", "net.txt", *where, "--every", "0.2", "--once")
            netloom.ok("lanes", "write", "net.txt", "ftree", "--vl-scheme", "2sl2vl", "-o", "lanes.dump")
            netloom.ok("lanes", "load", "lanes.dump", *where, "--yes")
            netloom.ok("lanes", "read", *where, "-o", "back.dump")
            netloom.ok("route", "random", "net.txt", "--seed", "4", "-o", "new.lfts")
            done = netloom.result("apply", "send", "new.lfts", *where, "--yes")
            assert (done["outcome"], done["findings"]) == ("applied", [])
            rounds = netloom.result("loop", "live", *where, "--rounds", "1", "--every", "0.5")
            assert rounds["rounds"][0]["decision"] == "kept"
        assert planar_bed.losses(lost) == []

    def test_what_goes_by_lid_would_be_lost(self, lost, paths):
        """The library that stands for the fabric does what it says."""
        with Ibsim(paths.ft2, host="host0000") as sim, OpenSM(sim, engine="updn"):
            with pytest.raises(nl.LiveError, match="sminfo"):
                sim.tool("sminfo", seconds=10)
            fabric = nl.Fabric.parse(sim.discover())
            assert [peer.state for peer in peers(sim.access, fabric)] == ["master"]
        assert planar_bed.losses(lost) == ["sminfo: class 0x01: subnet management by LID"]


PLANES = """
Switch 8 "left"
[1] "left-0"[1]
[2] "left-1"[1]
[3] "left-spine"[1]

Switch 8 "left-spine"
[1] "left"[3]

Switch 8 "right"
[1] "right-0"[1]
[2] "right-1"[1]

Hca 1 "left-0"
[1] "left"[1]

Hca 1 "left-1"
[1] "left"[2]

Hca 1 "right-0"
[1] "right"[1]

Hca 1 "right-1"
[1] "right"[2]
"""
"""Two machines with an adapter in each of two planes; ibsim shows its clients one port."""


class TestPlanes:
    pytestmark = opensm

    def test_each_plane_is_a_fabric_of_its_own(self, lost, netloom, write):
        write("planes.net", PLANES)
        with Ibsim(netloom.folder / "planes.net", host="left-0") as sim, OpenSM(sim, engine="minhop"):
            left, right = (Access.ibsim(sim.socket_name, f"{side}-0") for side in ("left", "right"))
            fabrics = [nl.Fabric.parse(access.discover()) for access in (left, right)]
            assert [sorted(one.switch_names) for one in fabrics] == [["left", "left-spine"], ["right"]]
            with Poller(left, fabrics[0], links=True) as poller:
                poll = poller.poll()
                assert (poll.missing, poll.down) == ([], [])
            # A dump of the other plane is told before anything is asked of its nodes.
            (netloom.folder / "left.txt").write_bytes(left.discover())
            through_right = "--sim", f"{sim.socket_name},right-0"
            done = netloom("counters", "poll", "left.txt", *through_right)
            assert (done.code, done.out) == (3, "")
            assert "this machine is at switch" in done.err
            assert "a dump of another fabric or plane" in done.err
            # OpenSM has brought up the plane of its own port: the other one has no LIDs, so no routes.
            done = netloom("counters", "poll", *through_right)
            assert (done.code, done.out) == (3, "")
            assert "no LIDs" in done.err
        assert planar_bed.losses(lost) == []


def device(root: Path, name: str, ports: int, guid: str, mask: int) -> None:
    """A device as the kernel lists it."""
    for port in range(1, ports + 1):
        folder = root / name / "ports" / str(port)
        (folder / "gids").mkdir(parents=True)
        (folder / "gids" / "0").write_text(f"fe80:0000:0000:0000:{guid}\n")
        (folder / "cap_mask").write_text(f"{mask:#010x}\n")
        (folder / "link_layer").write_text("InfiniBand\n")


class TestInterfaces:
    SMI, GSI = 0xA751E848, 0xA751E848 | 1 << 10
    GUID, OTHER = "a088:c203:0056:78e0", "a088:c203:0056:78f0"

    def test_the_device_for_subnet_management_has_the_same_port_guid(self, tmp_path):
        device(tmp_path, "mlx5_0", 1, self.GUID, self.GSI)
        device(tmp_path, "smi_mlx5_0", 4, self.GUID, self.SMI)
        device(tmp_path, "mlx5_1", 1, self.OTHER, self.SMI)
        found = interfaces.of("smi_mlx5_0", 3, devices=tmp_path)
        assert (found.gsi, found.smi) == (("mlx5_0", 1), ("smi_mlx5_0", 3))
        # An adapter of one device has both interfaces.
        found = interfaces.of("mlx5_1", 1, devices=tmp_path)
        assert (found.gsi, found.smi) == (("mlx5_1", 1), None)

    @pytest.mark.parametrize(("ca", "port"), [(None, None), ("mlx5_0", 1), ("smi_mlx5_0", None)])
    def test_where_there_are_several_planes_one_has_to_be_named(self, tmp_path, ca, port):
        device(tmp_path, "mlx5_0", 1, self.GUID, self.GSI)
        device(tmp_path, "smi_mlx5_0", 4, self.GUID, self.SMI)
        with pytest.raises(nl.LiveError, match=r"4 planes.* --ca smi_mlx5_0 --port PLANE, one of 1, 2, 3, 4"):
            interfaces.of(ca, port, devices=tmp_path)

    def test_one_plane_needs_no_name_and_no_device_none(self, tmp_path):
        device(tmp_path, "mlx5_0", 1, self.GUID, self.GSI)
        device(tmp_path, "smi_mlx5_0", 1, self.GUID, self.SMI)
        assert interfaces.of(None, None, devices=tmp_path).smi == ("smi_mlx5_0", 1)
        assert interfaces.of(None, None, devices=tmp_path / "none").gsi == ("", 0)


class TestWays:
    def test_ways_are_shortest_and_go_around_what_is_silent(self, paths):
        fabric = nl.Fabric.read(paths.ft2)
        lids, names = fabric.switch_table()["lid"].tolist(), fabric.switch_names
        lid = dict(zip(names, lids, strict=True))
        ways = Ways(fabric, names.index("leaf00"), b"\x01")
        assert ways.path(lid["leaf00"]) == b"\x01"
        assert len(ways.path(lid["spine02"])) == 2
        before = ways.path(lid["leaf05"])
        assert len(before) == 3
        # A leaf in each direction of a spine: two of the seven others are behind one spine at most.
        over = [ways.path(lid[name])[1] for name in names if name.startswith("leaf") and name != "leaf00"]
        assert max(map(over.count, over)) == 2
        assert ways.around([lid["leaf05"]]) == [lid["leaf05"]]
        around = ways.path(lid["leaf05"])
        assert len(around) == 3
        assert around[1] != before[1]
        # An answer from behind it takes the doubt from the cable that both took.
        ways.heard([lid["leaf05"]])
        assert ways.path(lid["leaf05"]) == around

    def test_a_node_that_is_nowhere_has_no_way(self, paths):
        fabric = nl.Fabric.read(paths.ft2)
        assert Ways(fabric, 0, b"\x01").path(4000) is None
