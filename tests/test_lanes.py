"""Virtual lanes for a real fabric: SL-to-VL tables, QoS policy, settings of MPI; and what is refused."""

from __future__ import annotations

import csv
import gzip
import re
import subprocess
from itertools import pairwise, permutations

import numpy as np
import pytest

import netloom as nl
from netloom import _core
from netloom.live import Ibsim, OpenSM, missing_tools

SCHEME = "5sl5vl:groups:seed=1"

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


def rows(text: str) -> dict[tuple[str, int, int], list[int]]:
    """(GUID, port in, port out) to the lanes of all levels, without netloom's own reader."""
    found, guid = {}, ""
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Channel Adapter) (0x[0-9a-f]{16}), base LID \d+, "', line):
            guid = head[1]
        elif row := re.match(r"(\d+) +(\d+) +: ", line):
            found[guid, int(row[1]), int(row[2])] = [int(lane) for lane in line[row.end() :].split()]
    return found


@pytest.mark.parametrize("scheme", ["5sl5vl:seed=1", SCHEME, "3sl4vl:sources:seed=7", "4sl4vl:uniform"])
def test_the_tables_written_are_those_that_counters_and_inference_use(netloom, paths, scheme):
    """One pair's bytes, by the tables as text, are on the lanes where its counters are."""
    result = netloom.result(
        "lanes", "write", paths.ft3, "ftree", "--vl-scheme", scheme, "-o", "t.dump", "--qos", "qos"
    )
    tables = rows((netloom.folder / "t.dump").read_text())
    fabric = nl.Fabric.read(paths.ft3)
    lanes = _core.lane_tables(fabric, scheme)
    assert (result["lanes"], result["levels"]) == (lanes.lanes, lanes.levels)
    hosts, links, switches = fabric.host_table(), fabric.link_table(), fabric.switch_table()
    for source, destination in ((0, 31), (3, 4), (17, 2)):
        (netloom.folder / "one.csv").write_text(f"source,destination,bytes\n{source},{destination},4096\n")
        netloom.ok("counters", "synth", paths.ft3, "ftree", "one.csv", "--vl-scheme", scheme, "-o", "c.csv")
        with (netloom.folder / "c.csv").open() as file:
            counted = {
                int(row["link"]): int(row["lane"])
                for row in csv.DictReader(file)
                if row["lane"] and row["xmit_bytes"] not in ("", "0")
            }
        way = nl.route("ftree", fabric).path(source, destination)
        level = lanes.level(source, destination)
        wanted = {way[0]: tables[f"0x{hosts['port_guid'][source]:016x}", 0, 0][level]}
        for before, link in pairwise(way):
            # Nodes are hosts, then switches.
            guid = switches["guid"][links["source"][link] - fabric.hosts]
            ports = links["target_port"][before], links["source_port"][link]
            wanted[link] = tables[f"0x{guid:016x}", ports[0], ports[1]][level]
        assert counted == wanted


def test_tables_name_scheme_and_version_and_may_be_gzip(netloom, paths):
    asked = ("lanes", "write", paths.ft2, "ftree", "--vl-scheme", SCHEME)
    netloom.ok(*asked, "-o", "t.dump")
    netloom.ok(*asked, "-o", "t.dump.gz")
    plain = (netloom.folder / "t.dump").read_bytes()
    assert gzip.decompress((netloom.folder / "t.dump.gz").read_bytes()) == plain
    assert plain.startswith(f"# netloom {nl.__version__} scheme={SCHEME} cabling=".encode())
    netloom.ok(*asked, "-o", "again.dump")
    assert (netloom.folder / "again.dump").read_bytes() == plain
    # 8 leaves of 8 cables and 4 spines of 8, every port in by every port out; 32 hosts.
    assert len(rows(plain.decode())) == 12 * 64 + 32


def test_schemes_that_no_switch_can_do_are_refused_with_the_reason(netloom, paths):
    for scheme, reason in (
        ("5vl:random:seed=1", "pairs of hosts with the same level and ports have different lanes"),
        ("5vl:galois", "every sender to a destination has lanes of its own"),
    ):
        word = netloom.refused("lanes", "write", paths.ft2, "ftree", "--vl-scheme", scheme, "-o", "t")
        assert "no SL-to-VL table can say it" in word
        assert reason in word


def test_a_policy_with_a_rule_for_each_of_millions_of_pairs_is_refused(netloom):
    asked = ("lanes", "write", "quartz1", "ftree", "--vl-scheme")
    word = netloom.refused(*asked, "5sl5vl", "--qos", "qos")
    assert "9434112 pairs of hosts have a service level each" in word
    assert "5sl5vl:groups" in word
    netloom.ok(*asked, "5sl5vl:groups", "--qos", "qos")
    policy = (netloom.folder / "qos" / "qos-policy.conf").read_text()
    # A group for every place in a leaf; a rule for every group of destinations and level but 0.
    assert policy.count("    port-group\n") == 32
    assert policy.count("    qos-match-rule\n") == 32 * 4
    assert len(set(re.findall(r"0x[0-9a-f]{16}", policy))) == 3072


def test_routes_with_a_credit_loop_are_refused(netloom):
    """Packets go from leaf to leaf, each by the spine of its number, till they are there: a ring of three."""
    ring = "two-level:leaves=3,hosts=1,spines=3"
    netloom.ok("route", "ftree", ring, "-q", "-o", "ring.lfts")
    lines, switch = [], ""
    for line in (netloom.folder / "ring.lfts").read_text().splitlines():
        if line.startswith("Unicast"):
            switch = line.split("'")[1]
        elif "'host" in line:
            number, target = int(switch[-2:]), int(line.split("'host")[1][:4])
            up = switch.startswith("leaf") and target != number
            if up or switch.startswith("spine"):
                line = f"{line[:7]}{2 + number if up else 1 + (number + 1) % 3:03}{line[10:]}"
        lines.append(line)
    (netloom.folder / "ring.lfts").write_text("\n".join(lines) + "\n")
    word = netloom.refused("lanes", "write", ring, "ring.lfts", "--vl-scheme", "2sl2vl", "-o", "t")
    assert word.startswith("ring.lfts: packets can wait for each other in a circle on one lane")


def test_settings_of_mpi_give_a_host_its_level(netloom, paths):
    netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", "4sl4vl:sources:seed=2", "--qos", "qos")
    fabric = nl.Fabric.read(paths.ft2)
    lanes = _core.lane_tables(fabric, "4sl4vl:sources:seed=2")
    levels = lanes.host_levels()
    assert levels is not None
    for host, name in list(enumerate(fabric.host_names))[::7]:
        said = "echo $UCX_IB_SL $NCCL_IB_SL $MV2_DEFAULT_SERVICE_LEVEL"
        command = f"NETLOOM_HOST={name}; . ./qos/service-level.sh; {said}"
        done = subprocess.run(
            ["sh", "-c", command], cwd=netloom.folder, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [str(levels[host])] * 3
        assert lanes.level(host, (host + 5) % 32) == levels[host]
    # Four hosts a leaf, four levels: each once.
    assert all(sorted(levels[i : i + 4]) == [0, 1, 2, 3] for i in range(0, 32, 4))
    # Groups have levels by pair, which no setting of a process can say.
    netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", SCHEME, "--qos", "other")
    assert sorted(path.name for path in (netloom.folder / "other").iterdir()) == [
        "opensm.conf",
        "qos-policy.conf",
    ]


def test_tables_in_force_that_are_not_the_scheme_s_are_refused(netloom, paths):
    scheme = ("--vl-scheme", SCHEME)
    jobs = paths.examples / "jobs" / "boxlib.toml"
    netloom.ok("counters", "synth", paths.ft2, "ftree", jobs, *scheme, "-o", "c.csv")
    asked = ("infer", paths.ft2, "ftree", "c.csv", "--jobs", jobs, *scheme, "--truth", jobs)
    netloom.ok("lanes", "write", paths.ft2, "ftree", *scheme, "-o", "t.dump")
    assert netloom.result(*asked, "--sl2vl", "t.dump")["relative_error_percent"] < 0.001
    real = paths.opensm / "ft2_32" / "opensm-sl2vl.dump.gz"
    word = netloom.refused(*asked, "--sl2vl", real)
    assert re.search(
        r"rows are not those of 5sl5vl:groups:seed=1, the first from .* over .* level \d has lane \d", word
    )


def test_what_does_not_go_together_is_said(netloom, paths):
    assert "COUNTERS" in netloom.refused("infer", paths.ft2, "ftree", code=2)
    asked = ("lanes", "write", paths.ft2, "ftree")
    assert "--vl-scheme" in netloom.refused(*asked, "-o", "t", code=2)
    assert "expected -o FILE" in netloom.refused(*asked, "--vl-scheme", SCHEME, code=2)
    many = (*asked, "c.csv", "--vl-scheme", SCHEME, "-o", "t")
    assert "c.csv" in netloom.refused(*many, code=2)
    assert "expected SslVvl" in netloom.refused(*asked, "--vl-scheme", "5", "-o", "t")
    adaptive = ("lanes", "write", paths.ft2, "adaptive", "--vl-scheme", SCHEME, "-o", "t")
    assert "any way" in netloom.refused(*adaptive, code=2)
    (netloom.folder / "file").write_text("")
    assert "expected a folder" in netloom.refused(*asked, "--vl-scheme", SCHEME, "--qos", "file")


class TestOpenSM:
    """A real subnet manager takes the files, and answers every pair with its level."""

    pytestmark = with_opensm

    @pytest.mark.parametrize("rule", ["groups:", "sources:", ""])
    def test_every_path_record_has_the_level_of_its_pair(self, netloom, paths, rule):
        scheme = f"5sl5vl:{rule}uniform:seed=1"
        netloom.ok("lanes", "write", paths.ft2, "ftree", "--vl-scheme", scheme, "--qos", "qos")
        fabric = nl.Fabric.read(paths.ft2)
        lanes, lids = _core.lane_tables(fabric, scheme), fabric.host_table()["lid"]
        settings = (netloom.folder / "qos" / "opensm.conf").read_text()
        settings += f"qos_policy_file {netloom.folder / 'qos' / 'qos-policy.conf'}\n"
        with (
            Ibsim(paths.ft2, host="host0000") as sim,
            OpenSM(sim, engine="ftree", settings=settings) as manager,
        ):
            log = manager.log.read_text()
            for source, destination in list(permutations(range(32), 2))[::23]:
                pair = f"{lids[source]}:{lids[destination]}"
                answer = sim.tool("saquery", "PR", "--src-to-dst", pair).decode()
                level = re.search(r"\bsl\.+0x([0-9a-f]+)", answer)
                assert level is not None, answer
                assert int(level[1], 16) == lanes.level(source, destination), pair
            (netloom.folder / "sl2vl.dump").write_bytes((manager.folder / "opensm-sl2vl.dump").read_bytes())
        assert "Loading QoS policy file" in log
        assert not re.search(r"qos.*(ERR|error)", log, re.IGNORECASE), log
        # Its options alone have made the tables that the scheme assumes.
        assert lanes.differences((netloom.folder / "sl2vl.dump").read_bytes()) == (0, None)


def test_settings_of_another_scheme_are_not_left_beside(netloom, paths):
    asked = ("lanes", "write", paths.ft2, "ftree", "--qos", "qos", "--vl-scheme")
    assert netloom(*asked, "5sl5vl:sources:seed=1").code == 0
    done = netloom(*asked, "5sl5vl:groups:seed=1")
    assert done.code == 3
    assert "service-level.sh: is of another scheme" in done.err


def test_options_about_counters_are_refused_where_there_are_none(netloom, paths):
    asked = ("lanes", "write", paths.ft2, "ftree", "--vl-scheme", "5sl5vl:groups:seed=1", "--qos")
    assert "--truth" in netloom.refused(*asked, "qos", "--truth", "nofile", "--ranges", "3", code=2)
    assert netloom(*asked, "-").code == 2
    done = netloom(*asked, "qos")
    assert done.code == 0
    assert "write these with -o" in done.out + done.err


def test_galois_lanes_keep_pairs_of_six_hops_apart_on_two_rows():
    """Of six rows (link, lane) any two pairs share four at most; on one lane senders of a leaf share five
    (Taffet, dissertation, sec. 4.4.3: first five links by ftree's turns, last five by the field)."""
    fabric = nl.Fabric.generate("fattree:pods=2,leaves=4,hosts=4,spines=2,groups=2,cores=2")
    routes = nl.route("ftree", fabric)
    half = fabric.hosts // 2
    across = [(a, b) for a in range(half) for b in range(half, fabric.hosts)]

    def crossing(source: int, destination: int, scheme: str | None) -> np.ndarray:
        """Which rows a pair crosses."""
        traffic = nl.Traffic.from_triples(fabric.hosts, [source], [destination], [1e6])
        counters = _core.synth_counters(fabric, routes, traffic, vl_scheme=scheme)
        measured = counters.measure()
        value = measured["value"] if scheme is None else measured["lane_value"]
        return np.nan_to_num(np.asarray(value)).ravel() > 0

    for scheme, most in ((None, 5), ("5vl:galois:seed=1", 4)):
        crossed = np.array([crossing(*pair, scheme) for pair in across]).astype(int)
        assert (crossed.sum(axis=1) == 6).all()
        shared = crossed @ crossed.T
        np.fill_diagonal(shared, 0)
        assert shared.max() == most, scheme
