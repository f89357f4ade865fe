"""A live fabric is read and programmed: counters of all ports, exporters' samples, SL-to-VL tables.

Real OpenSM and ibsim; what needs them is skipped where they are not installed.
"""

from __future__ import annotations

import csv
import http.server
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import netloom as nl
from netloom import _core
from netloom.live import Ibsim, OpenSM, exporters, missing_tools

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

PORTS = 96
"""8 leaves and 4 spines of 8 cables."""


@dataclass
class Live:
    """A fabric that OpenSM has brought up."""

    sim: Ibsim
    manager: OpenSM
    fabric: nl.Fabric

    @property
    def where(self) -> tuple[str, str]:
        """How the command line names it."""
        return "--sim", f"{self.sim.socket_name},{self.sim.host}"

    def set(self, node: str, port: int, counter: str, value: int) -> None:
        """Gives a counter a value; ibsim's nodes go by GUID here."""
        self.sim.command(f'PerformanceSet "{node}"[{port}] {counter}={value}')
        time.sleep(0.1)


@pytest.fixture
def live(paths) -> Iterator[Live]:
    with Ibsim(paths.ft2, host="host0000") as sim, OpenSM(sim, engine="ftree") as manager:
        yield Live(sim, manager, nl.Fabric.parse(sim.discover()))


def node(fabric: nl.Fabric, name: str) -> str:
    """What ibsim calls a switch of a dump."""
    table = fabric.switch_table()
    return f"S-{table['guid'][table['name'].index(name)]:016x}"


def sent(datagrams: int) -> range:
    """How many it may have been: on a busy machine an answer can be late, and is asked for again."""
    return range(datagrams, datagrams + 1 + datagrams // 10)


class TestPolling:
    pytestmark = with_opensm

    def test_every_port_is_read_as_perfquery_reads_it_and_nothing_is_set_back(self, live, netloom):
        leaf = node(live.fabric, "leaf02")
        live.set(leaf, 3, "PortCountersExtended.PortXmitData", 2**40)
        live.set(leaf, 3, "PortCounters.PortXmitWait", 77)
        first = netloom.result("counters", "poll", *live.where, "-o", "r.txt")
        again = netloom.result("counters", "poll", *live.where, "--hottest", "1")
        assert (first["ports"], first["missing_ports"]) == (PORTS, [])
        # A datagram a port for data, one for ticks of waiting, one a switch for what it can do.
        assert first["mads"] in sent(2 * PORTS + 12)
        assert first["mad_bytes"] >= 2 * 256 * (2 * PORTS + 12)
        # Data counts in units of four octets; the second reading still has it all.
        assert again["busiest"][0]["bytes"] >= 4 * 2**40
        lid = live.fabric.switch_table()["lid"][live.fabric.switch_table()["name"].index("leaf02")]
        said = live.sim.tool("perfquery", "-x", str(lid), "3").decode()
        line = next(line for line in said.splitlines() if line.startswith("PortXmitData"))
        text = (netloom.folder / "r.txt").read_text()
        # But for what reading the counters has sent itself.
        ours, theirs = (max(map(int, re.findall(r"PortXmitData:\.+(\d+)", of))) for of in (text, line))
        assert 2**40 <= ours <= theirs < 2**40 + 2**20
        assert "PortXmitWait:....................77" in text

    def test_the_file_written_is_read_by_every_verb(self, live, netloom):
        (netloom.folder / "net.txt").write_bytes(live.sim.discover())
        netloom.ok("counters", "poll", "net.txt", *live.where, "-o", "a.txt.gz")
        netloom.ok("counters", "poll", "net.txt", *live.where, "--hosts", "-o", "b.txt")
        shown = netloom.result("counters", "show", "net.txt", "b.txt")
        assert shown["links_by_both_ends"] == 128
        assert netloom.result("counters", "diff", "net.txt", "a.txt.gz", "b.txt")["flagged"]["reset"] == 0

    def test_two_polls_tell_what_was_counted_in_between(self, live, netloom):
        before = time.time()
        result = netloom.result(
            "counters", "poll", *live.where, "--seconds", "0.5", "--hosts", "--no-waits", "-o", "c.csv"
        )
        assert result["polls"] == 2
        assert result["seconds"] == pytest.approx(0.5, abs=0.4)
        # Hosts and switches know both ends of all links; a poll sends itself, and counts that.
        assert result["links_by_both_ends"] == 128
        assert result["host_packets"] > 0
        # What can be done is asked once: 44 nodes.
        assert result["mads"] in sent(2 * 128 + 44)
        with (netloom.folder / "c.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 128
        # By the time of day: `interference` finds the runs of that time.
        assert before <= int(rows[0]["start_ns"]) * 1e-9 <= time.time()
        assert int(rows[0]["end_ns"]) - int(rows[0]["start_ns"]) == round(result["seconds"] * 1e9)

    def test_lanes_are_read_too(self, live, netloom):
        live.set(node(live.fabric, "leaf02"), 3, "PortVLOpData.PortVLOpData2", 5)
        netloom.ok("counters", "poll", *live.where, "--by-lane", "-o", "r.txt")
        counters = nl.Counters.parse((netloom.folder / "r.txt").read_bytes(), live.fabric)
        assert counters.summary()["lanes"] == 3

    def test_a_switch_that_is_cut_off_is_told_by_name_and_given_up_at_once(self, live, netloom):
        (netloom.folder / "net.txt").write_bytes(live.sim.discover())
        spine = node(live.fabric, "spine03")
        live.sim.command(f'Error "{spine}" 100')
        result = netloom.result("counters", "poll", "net.txt", *live.where, code=1)
        assert result["missing_ports"] == [{"node": "spine03", "port": port} for port in range(1, 9)]
        # Asked for what it can do, and twice again; its ports are not asked.
        assert result["mads"] in sent(2 * (PORTS - 8) + 12 + 2)
        assert result["links_unknown"] == 0
        said = netloom("counters", "poll", "net.txt", *live.where)
        assert said.code == 1
        assert "96, 8 did not answer" in said.out
        assert "spine03[1], spine03[2], spine03[3], spine03[4], …" in said.out

    def test_counters_that_were_set_back_are_told(self, live, netloom):
        leaf = node(live.fabric, "leaf05")
        live.set(leaf, 1, "PortCountersExtended.PortXmitData", 10**9)
        (netloom.folder / "net.txt").write_bytes(live.sim.discover())
        netloom.ok("counters", "poll", "net.txt", *live.where, "-o", "a.txt")
        live.set(leaf, 1, "PortCountersExtended.PortXmitData", 0)
        netloom.ok("counters", "poll", "net.txt", *live.where, "-o", "b.txt")
        assert netloom.result("counters", "diff", "net.txt", "a.txt", "b.txt")["flagged"]["reset"] == 1


class TestLaneTables:
    pytestmark = with_opensm
    SCHEME = "5sl5vl:groups:seed=1"

    def test_the_tables_of_a_scheme_are_loaded_row_by_row_and_stay(self, live, netloom, paths):
        netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", self.SCHEME, "-o", "t.dump")
        dry = netloom.result("lanes", "load", "t.dump", *live.where)
        # 12 switches of 8 ports in and out, 32 adapters; all have OpenSM's one table.
        assert (dry["rows"], dry["different"], dry["loaded"]) == (12 * 64 + 32, 800, False)
        assert netloom.result("lanes", "read", *live.where)["distinct"] == 1
        done = netloom.result("lanes", "load", "t.dump", *live.where, "--yes")
        assert (done["loaded"], done["nodes"], done["verified"], done["wrong"]) == (True, 44, True, [])
        netloom.ok("lanes", "read", *live.where, "-o", "now.dump")
        wanted = _core.lane_tables(live.fabric, self.SCHEME)
        assert wanted.differences((netloom.folder / "now.dump").read_bytes()) == (0, None)
        # With QoS off OpenSM leaves them alone; one that the diagnostics show has what the file says.
        live.manager.heavy_sweep()
        again = netloom.result("lanes", "load", "t.dump", *live.where, "--yes")
        assert (again["different"], again["loaded"]) == (0, False)
        assert again["mads"] in sent(800)
        table = live.fabric.switch_table()
        lid = str(table["lid"][table["name"].index("leaf00")])
        said = live.sim.tool("smpquery", "sl2vl", lid, "5").decode()
        row = next(line for line in said.splitlines() if line.startswith("ports: in  2, out  5:"))
        shown = [int(lane) for lane in row.split(":")[2].strip(" |").split("|")]
        rows = wanted.rows()
        place = (rows["switch"] == table["name"].index("leaf00")) & (rows["in_port"] == 2)
        assert rows["lanes"][place & (rows["out_port"] == 5)].tolist() == [shown]

    def test_one_wrong_row_is_the_only_one_sent(self, live, netloom, paths):
        netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", self.SCHEME, "-o", "t.dump")
        netloom.ok("lanes", "load", "t.dump", *live.where, "--yes")
        lines = (netloom.folder / "t.dump").read_text().splitlines()
        row = next(i for i, line in enumerate(lines) if line.startswith("1   2   :"))
        lines[row] = lines[row][:9] + " 0 " * 16
        (netloom.folder / "one.dump").write_text("\n".join(lines) + "\n")
        done = netloom.result("lanes", "load", "one.dump", *live.where, "--yes")
        assert (done["different"], done["nodes"], done["verified"]) == (1, 1, True)

    def test_tables_of_another_fabric_are_refused(self, live, netloom, paths):
        netloom.ok("lanes", "write", paths.ft3, "ftree", "--vl-scheme", self.SCHEME, "-o", "t.dump")
        word = netloom.refused("lanes", "load", "t.dump", *live.where, "--yes")
        assert "the tables belong to a fabric with other cables" in word

    def test_a_node_that_does_not_answer_is_named(self, live, netloom, paths):
        netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", self.SCHEME, "-o", "t.dump")
        (netloom.folder / "net.txt").write_bytes(live.sim.discover())
        live.sim.command(f'Error "{node(live.fabric, "leaf03")}" 100')
        word = netloom.refused("lanes", "load", "t.dump", "net.txt", *live.where, "--yes")
        assert "the first leaf03 from port 1 to port 1: no answer" in word


def test_without_a_device_every_live_verb_says_so(netloom, paths):
    for words in (("counters", "poll", paths.ft2), ("lanes", "read", paths.ft2)):
        word = netloom.refused(*words)
        assert "/dev/infiniband" in word or "no such InfiniBand port" in word or "not installed" in word
    assert "LIDs" in netloom.refused("counters", "poll", paths.small)
    assert "no ibsim" in netloom.refused("counters", "poll", paths.ft2, "--sim", "nobody,host0000")


SAMPLES = """# HELP infiniband_switch_port_transmit_data_bytes_total PortXmitData
infiniband_switch_port_transmit_data_bytes_total{guid="0x0002c90200000000",port="5",switch="leaf00"} 4000
infiniband_switch_port_receive_data_bytes_total{guid="0x0002c90200000000",port="5",switch="leaf00"} 8000
"""


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, str]]]:
    """A page server: its URL, and its pages by path."""
    pages: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.split("?")[0])
            self.send_response(404 if page is None else 200)
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_port}", pages
        listening.shutdown()
        thread.join()


def test_an_exporter_s_page_is_read_by_its_url(netloom, paths, server):
    url, pages = server
    pages["/metrics"] = SAMPLES
    for source in (url, f"{url}/metrics"):
        result = netloom.result("counters", "show", paths.ft2, source)
        assert result["kind"] == "treydock/infiniband_exporter"
        assert result["link_bytes"] == 12_000


def test_a_prometheus_server_is_asked_for_its_infiniband_metrics(netloom, paths, server):
    url, pages = server
    pages["/metrics"] = "prometheus_build_info 1\n"
    pages["/federate"] = SAMPLES
    assert netloom.result("counters", "show", paths.ft2, url)["link_bytes"] == 12_000


def test_a_url_without_infiniband_metrics_is_refused(netloom, paths, server):
    url, pages = server
    pages["/metrics"] = "up 1\n"
    assert "no InfiniBand metrics there" in netloom.refused("counters", "show", paths.ft2, url)
    word = netloom.refused("counters", "show", paths.ft2, "http://127.0.0.1:1/metrics")
    assert "refused" in word


def test_textfiles_of_machines_are_read_by_their_names(netloom, paths):
    folder = netloom.folder / "textfiles"
    folder.mkdir()
    for host in (3, 4):
        (folder / f"host000{host}.prom").write_text(
            'node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} 100\n'
            'node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 200'
        )
    (folder / "notes.txt").write_text("not read")
    result = netloom.result("counters", "show", paths.ft2, "textfiles")
    assert result["kind"] == "node_exporter"
    assert result["link_bytes"] == 600
    named = b'node_infiniband_x_total{instance="there",device="a"} 1\n'
    assert exporters._with_instance(named, "here") == named
