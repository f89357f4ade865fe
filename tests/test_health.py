"""`netloom health`: which cable to look at first; the rule of siblings; error counters in every form."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import shutil
import subprocess

import pytest

import health_bed
import netloom as nl
from conftest import ROOT
from netloom.findings import bad
from netloom.health import cable_findings, error_counters, examine
from netloom.health.error_counters import RULES

CASES = ROOT / "tests" / "data" / "cases"
SLOW = CASES / "slow-cable" / "net.txt"
SAME = CASES / "same-names" / "net.txt"
TRIALS = int(os.environ.get("NETLOOM_TRIALS", "8"))
CONTRIB = ROOT / "contrib"


def place(end):
    return f"{end['name']}[{end['port']}]"


class TestSiblings:
    def test_a_cable_that_trained_down_is_a_warning_a_hosts_a_note(self, netloom):
        findings = netloom.result("fabric", "show", SLOW, code=1)["findings"]
        assert [(one["kind"], one["severity"], one["text"]) for one in findings] == [
            (
                "slow-cable",
                "warning",
                "leaf1[5] -> spine1[5] runs at 2.00 GB/s, the other 17 cables of its stage at 12.50",
            ),
            (
                "slow-host-cable",
                "note",
                "n17 HCA-1[1] -> leaf2[18] runs at 6.25 GB/s, the other 17 cables of its stage at 12.50",
            ),
        ]

    def test_the_table_has_both_ends_by_name_guid_lid_and_port(self, netloom):
        first, second = netloom.result("health", SLOW, code=1)["cables"]
        assert first["ends"] == [
            {"name": "leaf1", "guid": "0xec0d9a0300a00100", "lid": 201, "port": 5},
            {"name": "spine1", "guid": "0xec0d9a0300b00100", "lid": 204, "port": 5},
        ]
        assert (first["rank"], first["kind"], second["kind"]) == (1, "slow-cable", "slow-host-cable")

    def test_where_names_are_shared_the_guid_stands_beside_them(self, netloom):
        text = netloom.result("fabric", "show", SAME, code=1)["findings"]
        found = next(one["text"] for one in text if one["kind"] == "slow-cable")
        name = "SwitchIB Mellanox Technologies"
        assert found.startswith(
            f"{name} (0xec0d9a0300a00100)[5] -> {name} (0xec0d9a0300b00100)[5] runs at 2.00"
        )
        assert "0xec0d9a0300b00100 lid 204" in netloom.ok("health", SAME, code=1)

    def test_an_older_switch_is_no_finding(self, netloom, write):
        lines = SLOW.read_text().replace("4xDDR", "4xEDR").replace("2xEDR", "4xEDR").split("\n\n")
        spine = "switchguid=0xec0d9a0300b00100"
        old = [part.replace("4xEDR", "4xFDR") if spine in part else part for part in lines]
        text = "\n\n".join(old).splitlines()
        text = [line.replace("EDR", "FDR") if '"S-ec0d9a0300b00100"[' in line else line for line in text]
        write("net.txt", "\n".join(text) + "\n")
        assert netloom.result("health", "net.txt")["cables"] == []

    @pytest.mark.parametrize("dump", ["ft2", "ft3", "quartz1"])
    def test_healthy_dumps_have_no_cable_to_look_at(self, netloom, paths, dump):
        result = netloom.result("health", getattr(paths, dump))
        assert (result["cables"], result["findings"]) == ([], [])


class TestPlanted:
    """A bad cable among what healthy fabrics show anyway, seed by seed; `make hostile` asks for thousands."""

    @staticmethod
    def found(case):
        fabric = nl.Fabric.parse(case.dump)
        before, after = (error_counters.read(one, fabric) for one in (case.before, case.after))
        return examine(fabric, before, after, seconds=3600.0).cables

    @pytest.mark.parametrize("kind", health_bed.KINDS)
    def test_hostile_the_bad_cable_is_first(self, kind):
        right = 0
        for seed in range(TRIALS):
            case = health_bed.case(seed, kind)
            cables = self.found(case)
            ends = cables[0].ends if cables else ()
            right += case.bad == frozenset((int(end["guid"], 16), end["port"]) for end in ends)
        assert right >= 0.95 * TRIALS

    def test_hostile_healthy_fabrics_have_no_finding(self):
        quiet = sum(not bad(cable_findings(self.found(health_bed.case(n, None)))) for n in range(TRIALS))
        assert quiet >= 0.95 * TRIALS

    @pytest.mark.parametrize("dump", ["ft2", "ft3", "quartz1"])
    @pytest.mark.parametrize("counter", ["SymbolErrorCounter", "LinkDownedCounter"])
    def test_on_real_dumps_too(self, paths, dump, counter):
        fabric = nl.Fabric.read(getattr(paths, dump))
        table = fabric.link_table()
        rng = random.Random(dump)
        for _ in range(5):
            link = rng.randrange(fabric.links)
            after = error_counters.Errors(last={})
            before = error_counters.Errors(last={})
            for port in range(0, fabric.links, 7):
                before.last[port, 0], after.last[port, 0] = 100, 100 + port % 9
                before.last[port, 2], after.last[port, 2] = 3, 3
            rule = error_counters.rule_of(counter)
            before.last[link, rule], after.last[link, rule] = 5, 45
            first = examine(fabric, before, after).cables[0]
            names = [*fabric.host_names, *fabric.switch_names]
            ends = {
                (names[table[side][link]], int(table[f"{side}_port"][link])) for side in ("source", "target")
            }
            assert {(end["name"], end["port"]) for end in first.ends} == ends


# A host on port 1 of a switch (GUID 0x2c90200000000, LID 3), another on port 2.
SMALL = "two-level:leaves=2,hosts=2,spines=1"


@pytest.fixture
def small():
    return nl.Fabric.parse(nl.Fabric.generate(SMALL).to_bytes("ibnetdiscover"))


def perfquery(lid, port, **errors):
    lines = [f"# Port counters: Lid {lid} port {port} (CapMask: 0x1300)", f"PortSelect:....{port}"]
    lines += [f"{name}:....{value}" for name, value in errors.items()]
    lines += [f"{name}:....12" for name in ("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts")]
    return "\n".join([*lines, "PortXmitWait:....0"]) + "\n"


def switch(fabric, name):
    table = fabric.switch_table()
    at = list(table["name"]).index(name)
    return int(table["guid"][at]), int(table["lid"][at])


def forms(fabric):
    """One reading, 17 symbol errors and 3 times down at leaf00[3], in every form that has error counters."""
    guid, lid = switch(fabric, "leaf00")
    labels = f'guid="0x{guid:016x}",port="3",switch="leaf00"'
    exposition = (
        f"infiniband_switch_port_symbol_error_total{{{labels}}} 17\n"
        f"infiniband_switch_port_link_downed_total{{{labels}}} 3\n"
        f"infiniband_switch_port_transmit_data_bytes_total{{{labels}}} 48\n"
    )
    head = "NodeGUID,PortGUID,PortNumber,SymbolErrorCounter,LinkDownedCounter,PortXmitDataExtended"
    return {
        "perfquery": perfquery(lid, 3, SymbolErrorCounter=17, LinkDownedCounter=3),
        "old perfquery": perfquery(lid, 3, SymbolErrors=17, LinkDowned=3),
        "ibqueryerrors": f'Errors for 0x{guid:x} "leaf00"\n   GUID 0x{guid:x} port 3: '
        "[SymbolErrorCounter == 17] [LinkDownedCounter == 3] [PortXmitData == 12 (48B)]\n",
        "db_csv": f"START_PM_INFO\n{head}\n0x{guid:x},0x{guid:x},3,17,0x3,12\nEND_PM_INFO\n",
        "exposition": exposition,
        "samples": "name,guid,port,value\n"
        f"infiniband_switch_port_symbol_error_total,0x{guid:x},3,17\n"
        f"infiniband_switch_port_link_downed_total,0x{guid:x},3,3\n"
        f"infiniband_switch_port_transmit_data_bytes_total,0x{guid:x},3,48\n",
    }


class TestErrors:
    @pytest.mark.parametrize("form", forms(nl.Fabric.generate(SMALL)))
    def test_every_form_tells_the_same(self, small, form):
        text = forms(small)[form].encode()
        errors = error_counters.read(text, small)
        told = {(RULES[rule].counter, value) for (_, rule), value in errors.last.items()}
        assert told == {("SymbolErrorCounter", 17), ("LinkDownedCounter", 3)}
        table = small.link_table()
        links = {link for link, _ in errors.last}
        assert {int(table["source_port"][link]) for link in links} == {3}
        assert {small.switch_names[table["source"][link] - small.hosts] for link in links} == {"leaf00"}

    def test_a_sysfs_tree_has_error_counters_too(self, netloom, small):
        netloom.ok("fabric", "new", SMALL, "-o", "net.txt")
        port = netloom.folder / "host0000" / "mlx5_0" / "ports" / "1"
        (port / "counters").mkdir(parents=True)
        guid = int(small.host_table()["guid"][0])
        digits = f"{guid:016x}"
        (port.parent.parent / "node_guid").write_text(":".join(digits[n : n + 4] for n in range(0, 16, 4)))
        for name in ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"):
            (port / "counters" / name).write_text("12\n")
        (port / "counters" / "symbol_error").write_text("4000\n")
        (cable,) = netloom.result("health", "net.txt", "host0000")["cables"]
        assert place(cable["ends"][0]) == "host0000[1]"
        assert (cable["kind"], cable["problems"][0]["count"]) == ("errors-since-reset", 4000)
        # What the core says of ports, it says of these too.
        assert "symbol errors" in netloom.ok("counters", "check", "net.txt", "host0000", code=1)
        # A count below 0, and what is no number, is told by both.
        (port / "counters" / "symbol_error").write_text("-40\n")
        (port / "counters" / "link_downed").write_text("many\n")
        done = netloom("counters", "check", "net.txt", "host0000", "--format", "json")
        told = [note.removeprefix("host0000: ") for note in json.loads(done.out)["result"]["notes"]]
        assert "SymbolErrorCounter of host0000[1] is -40: no count is below 0, left out" in told
        assert 'LinkDownedCounter of host0000[1] is "many": expected a number below 2^64, left out' in told
        done = netloom("health", "net.txt", "host0000", "--format", "json")
        (cable,) = json.loads(done.out)["result"]["cables"]
        assert [(one["kind"], one["count"]) for one in cable["problems"]] == [("errors-impossible", None)]

    def test_rules_are_those_of_the_core(self, small):
        """At its least an error is told, one below it is not: between two readings, and of one."""
        _, lid = switch(small, "leaf00")
        for rule in RULES:
            for least, before in ((rule.least_since_reset, None), (rule.least, 0)):
                for value in (least, least - 1):
                    after = nl.Counters.parse(perfquery(lid, 3, **{rule.counter: value}).encode(), small)
                    found = after
                    if before is not None:
                        zero = perfquery(lid, 3, **{rule.counter: 0}).encode()
                        found = after.since(nl.Counters.parse(zero, small), seconds=1.0)
                    kinds = [one["kind"] for one in found.port_errors]
                    kind = rule.kind if before is not None else "errors-since-reset"
                    assert kinds == ([kind] if value == least else []), (rule.counter, value, before)

    def test_rates_are_told_by_kind_and_the_end_that_counted(self, netloom, small, write):
        write("net.txt", small.to_bytes("ibnetdiscover").decode())
        _, lid = switch(small, "leaf00")
        write("a.txt", perfquery(lid, 3, SymbolErrorCounter=5, LinkDownedCounter=1, PortRcvErrors=9))
        write("b.txt", perfquery(lid, 3, SymbolErrorCounter=65, LinkDownedCounter=3, PortRcvErrors=18))
        result = netloom.result("health", "net.txt", "a.txt", "b.txt", "--seconds", "1800", code=1)
        (cable,) = result["cables"]
        assert [place(end) for end in cable["ends"]] == ["leaf00[3]", "spine00[1]"]
        told = [(one["kind"], one["end"], one["count"], one["per_hour"]) for one in cable["problems"]]
        # 9 packets received spoilt are below what is told.
        assert told == [("link-downed", 0, 2, 4.0), ("symbol-errors", 0, 60, 120.0)]
        # 60 errors over what 12.5 GB/s carry in half an hour.
        assert cable["problems"][1]["per_bit"] == pytest.approx(60 / (8 * 12.5e9 * 1800))
        rows = list(
            csv.DictReader(
                io.StringIO(netloom.ok("health", "net.txt", "a.txt", "b.txt", "--format", "csv", code=1))
            )
        )
        assert [(row["from"], row["from_guid"], row["kind"], row["count"]) for row in rows] == [
            ("leaf00", cable["ends"][0]["guid"], "link-downed", "2"),
            ("leaf00", cable["ends"][0]["guid"], "symbol-errors", "60"),
        ]

    def test_full_and_impossible_counters_are_no_counts(self, netloom, small, write):
        write("net.txt", small.to_bytes("ibnetdiscover").decode())
        _, lid = switch(small, "leaf00")
        for below in (18446744073709551576, -40):
            write("a.txt", perfquery(lid, 3, SymbolErrorCounter=65535, PortXmitDiscards=below))
            self._full_and_impossible(netloom)

    @staticmethod
    def _full_and_impossible(netloom):
        for words in (("a.txt",), ("a.txt", "a.txt")):
            (cable,) = netloom.result("health", "net.txt", *words, code=1)["cables"]
            full, impossible = cable["problems"]
            assert (full["kind"], full["full"], full["count"]) == ("errors-full", True, None)
            assert "full at 65,535" in full["text"]
            assert (impossible["kind"], impossible["count"]) == ("errors-impossible", None)

    def test_a_wide_counter_at_15_is_not_full(self, small):
        _, lid = switch(small, "leaf00")
        many = perfquery(lid, 3, LocalLinkIntegrityErrors=15) + perfquery(lid, 1, LocalLinkIntegrityErrors=40)
        told = error_counters.counts(None, error_counters.read(many.encode(), small))
        assert [(one.value, one.full) for one in told] == [(40, False), (15, False)]

    def test_a_machine_that_starts_anew_is_a_note(self, netloom, small, write):
        write("net.txt", small.to_bytes("ibnetdiscover").decode())
        _, lid = switch(small, "leaf00")
        for name, value in (("a.txt", 0), ("b.txt", 1), ("c.txt", 3)):
            write(name, perfquery(lid, 1, LinkDownedCounter=value))
        (cable,) = netloom.result("health", "net.txt", "a.txt", "b.txt")["cables"]
        assert cable["kind"] == "host-restarted"
        (cable,) = netloom.result("health", "net.txt", "a.txt", "c.txt", code=1)["cables"]
        assert cable["kind"] == "link-downed"

    def test_the_delta_of_one_nightly_file_is_what_happened(self, netloom, small, write):
        write("net.txt", small.to_bytes("ibnetdiscover").decode())
        guid, _ = switch(small, "leaf00")
        head = "NodeGUID,PortGUID,PortNumber,SymbolErrorCounter,PortXmitDataExtended"
        sections = [
            f"START_{name}\n{head}\n0x{guid:x},0x{guid:x},3,{value},12\nEND_{name}\n"
            for name, value in (("PM_INFO", 900), ("PM_DELTA", 40))
        ]
        write("db.csv", "\n\n".join(sections))
        (cable,) = netloom.result("health", "net.txt", "db.csv", "--seconds", "60", code=1)["cables"]
        assert (cable["kind"], cable["problems"][0]["count"]) == ("symbol-errors", 40)
        assert cable["problems"][0]["per_hour"] == 2400

    def test_readings_in_the_wrong_order_are_told_not_counted(self, netloom, paths):
        before, after = (
            paths.opensm / "ft2_32" / f"perfquery_x_{word}.txt.gz" for word in ("before", "after")
        )
        result = netloom.result("health", paths.ft2, after, before, code=1)
        assert result["cables"] == []
        assert "reversed" in {one["kind"] for one in result["findings"]}

    def test_the_same_reading_twice_is_told(self, netloom, paths):
        after = paths.opensm / "ft2_32" / "perfquery_x_after.txt.gz"
        result = netloom.result("health", paths.ft2, after, after, "--seconds", "60", code=1)
        assert "stale" in {one["kind"] for one in result["findings"]}

    def test_seconds_of_a_single_reading_are_refused(self, netloom, paths):
        """They were ignored."""
        after = paths.opensm / "ft2_32" / "perfquery_x_after.txt.gz"
        said = netloom.refused("health", paths.ft2, after, "--seconds", "60", code=2)
        assert "expected AFTER" in said

    def test_a_source_without_error_counters_says_so(self, netloom, paths):
        before = paths.opensm / "ft2_32" / "perfquery_x_before.txt.gz"
        findings = netloom.result("health", paths.ft2, before)["findings"]
        assert [one["kind"] for one in findings] == ["errors-not-told"]

    @pytest.mark.parametrize("seed", range(TRIALS))
    def test_hostile_readings_never_break_it(self, small, seed):
        rng = random.Random(seed)
        text = bytearray(forms(small)[rng.choice(sorted(forms(small)))].encode() * rng.randint(1, 3))
        for _ in range(rng.randint(1, 6)):
            text[rng.randrange(len(text))] = rng.choice(b'0123456789,"{}[]()#\n\r\0=x\xff ')
        # What cannot be read is refused, by the core's own words.
        with contextlib.suppress(nl.FormatError, nl.CountersError):
            error_counters.read(bytes(text), small)


class TestExpected:
    def test_both_ports_of_an_adapter_are_found_by_name(self, netloom):
        rows = [
            "leaf0,1,n00 mlx5_0,1",
            "leaf1,1,n00 mlx5_0,2",
            "leaf0,2,n01 mlx5_0,1",
            "leaf1,2,n02 mlx5_0,1",
        ]
        rows += ["leaf0,5,spine0,1", "leaf1,5,spine0,2"]
        table = "from,port,to,port,speed\n" + "".join(f"{row},4xEDR\n" for row in rows)
        (netloom.folder / "plan.csv").write_text(table)
        netloom.ok("fabric", "convert", "plan.csv", "-o", "net.txt", "-q")
        # Other GUIDs: a table makes its own up.
        text = (netloom.folder / "net.txt").read_text()
        for old, new in (("0x02", "0x07"), ('"S-02', '"S-07'), ('"H-02', '"H-07'), ("(02", "(07")):
            text = text.replace(old, new)
        (netloom.folder / "net.txt").write_text(text.replace("(2000", "(7000").replace("0x2000", "0x7000"))
        result = netloom.result("health", "net.txt", "--expect", "plan.csv")
        assert (result["expected_by"], result["findings"]) == ("name", [])

    def test_a_plan_may_number_ports_of_hosts_its_own_way(self, netloom, paths):
        netloom.ok("fabric", "convert", paths.ft2, "-o", "plan.csv", "-q")
        rows = (netloom.folder / "plan.csv").read_text().splitlines()
        cells = [row.split(",") for row in rows[1:]]
        own = [",".join([*row[:3], "7" if row[2].startswith("host") else row[3], row[4]]) for row in cells]
        (netloom.folder / "plan.csv").write_text("\n".join([rows[0], *own, ""]))
        result = netloom.result("health", paths.ft2, "--expect", "plan.csv")
        assert result["expected_by"] == "name"
        assert [one["kind"] for one in result["findings"]] == ["cable-elsewhere"]

    def test_a_cable_that_is_gone_by_a_dump_a_spec_and_a_list_of_names(self, netloom, paths):
        netloom.ok("fabric", "damage", paths.ft2, "--link", "leaf03[7]", "-o", "cut.txt")
        whole = nl.Fabric.read(paths.ft2)
        table, names = whole.link_table(), [*whole.host_names, *whole.switch_names]
        edges = [
            (names[source], names[target])
            for source, target in zip(table["source"].tolist(), table["target"].tolist(), strict=True)
            if source < target
        ]
        # In any order: ports are numbered as the edges come.
        random.Random(1).shuffle(edges)
        nl.Fabric.from_edges(edges).write(netloom.folder / "plan.net")
        for plan, by, port in (
            (paths.ft2, "guid", 7),
            ("two-level:leaves=8,hosts=4,spines=4", "guid", 7),
            ("plan.net", "name", None),
        ):
            result = netloom.result("health", "cut.txt", "--expect", plan, code=1)
            (cable,) = result["cables"]
            assert (result["expected_by"], cable["kind"]) == (by, "cable-missing")
            one, other = cable["ends"]
            assert (one["name"], one["port"], other["name"]) == ("leaf03", port, "spine02")
            assert one["guid"] == "0x0002c902000000c0"

    def test_hosts_and_switches_that_are_gone(self, netloom, paths):
        netloom.ok(
            "fabric", "damage", paths.ft2, "--link", "host0005[1]", "--switch", "spine01", "-o", "cut.txt"
        )
        result = netloom.result("health", "cut.txt", "--expect", paths.ft2, code=1)
        assert [place(cable["ends"][0]) for cable in result["cables"]] == ["host0005[1]"]
        gone = [one["text"] for one in result["findings"] if one["kind"] == "switch-gone"]
        assert len(gone) == 1
        assert "spine01 (cables: 8)" in gone[0]

    def test_a_cable_that_runs_slower_than_before(self, netloom, write):
        """By its siblings alone both are right: a whole switch that trained down."""
        text = nl.Fabric.generate(SMALL).to_bytes("ibnetdiscover").decode()
        write("before.txt", text)
        write("after.txt", text.replace("4xEDR", "1xEDR"))
        assert netloom.result("health", "after.txt")["cables"] == []
        result = netloom.result("health", "after.txt", "--expect", "before.txt", code=1)
        assert {cable["kind"] for cable in result["cables"]} == {"slower-cable"}
        assert len(result["cables"]) == 6

    def test_another_fabrics_plan_is_refused(self, netloom, paths):
        for plan in ("quartz1", str(SLOW), "xgft:m=4x4,w=1x4"):
            word = netloom.refused("health", paths.ft2, "--expect", plan)
            assert word.startswith(f"--expect {plan}: a plan of another fabric")

    def test_bad_words(self, netloom, paths):
        assert "no such file" in netloom.refused("health", paths.ft2, "nothing.txt").lower()
        assert "--seconds" in netloom.refused("health", paths.ft2, "--seconds", "3", code=2)


class TestExporter:
    def test_what_is_served_is_what_was_counted(self, small):
        from netloom.watch import exporter

        _, lid = switch(small, "leaf00")
        text = perfquery(lid, 3, **{rule.counter: number for number, rule in enumerate(RULES, 1)}).encode()
        read = error_counters.read(text, small)
        page = exporter.ports(small, nl.Counters.parse(text, small), read)
        assert 'infiniband_switch_port_symbol_error_total{guid="0x' in page
        again = error_counters.read(page.encode(), small)
        assert again.last == read.last
        assert len(read.last) == len(RULES)
        # The core takes it for the exporter whose names these are.
        assert nl.Counters.parse(page.encode(), small).kind == "treydock/infiniband_exporter"

    def test_slow_cables_and_what_ports_lead_to(self):
        from netloom.watch import exporter

        page = exporter.cables(nl.Fabric.read(SLOW))
        assert (
            'netloom_cable_slow{guid="0xec0d9a0300a00100",port="5",switch="leaf1",uplink="spine1",'
            'uplink_guid="0xec0d9a0300b00100",uplink_lid="204",uplink_port="5",uplink_type="SW"} 1' in page
        )
        assert "\nnetloom_cables_slow 2\n" in page
        assert page.count("infiniband_switch_uplink_info{") == 18 + 18 * 2

    @pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool")
    @pytest.mark.parametrize("words", [("check", "rules", "rules.yml"), ("test", "rules", "rules.test.yml")])
    def test_prometheus_takes_the_alerts(self, words):
        folder = CONTRIB / "prometheus"
        done = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool")
    def test_prometheus_takes_the_page(self, small):
        from netloom.watch import exporter

        _, lid = switch(small, "leaf00")
        text = perfquery(lid, 3, SymbolErrorCounter=4).encode()
        read = error_counters.read(text, small)
        page = exporter.ports(small, nl.Counters.parse(text, small), read) + exporter.cables(small)
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 3), done.stdout + done.stderr
        assert "error while linting" not in done.stderr

    @pytest.mark.parametrize("name", ["prometheus/rules.yml", "grafana/netloom.json"])
    def test_alerts_and_panels_use_only_metrics_that_are_served(self, paths, name):
        import re

        source = "".join(
            (ROOT / "python" / "netloom" / name).read_text()
            for name in ("watch/exporter.py", "watch/calls.py", "health/error_counters.py")
        )
        text = (CONTRIB / name).read_text()
        named = set(re.findall(r"\b(?:infiniband|netloom)_[a-z_]+[a-z]", re.sub(r"#.*", "", text)))
        assert len(named) > 8
        for metric in named:
            bare = re.sub(r"^(infiniband_switch_port_|netloom_)|_total$", "", metric)
            assert bare in source, metric
