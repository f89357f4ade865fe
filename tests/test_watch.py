"""`netloom watch`: pictures of a live fabric, of exporters' samples and of a simulated run; its exporter."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import netloom as nl
from netloom.apply import Journal
from netloom.live import OpenSM, missing_tools
from netloom.live.bed import Bed, bed

with_opensm = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def there(paths, tmp_path) -> Iterator[Bed]:
    fabric = nl.Fabric.read(paths.ft2)
    nl.route("ftree", fabric).write(tmp_path / "routes.lfts")
    with bed(fabric, tmp_path / "routes.lfts") as found:
        yield found


def where(there: Bed) -> tuple[str, str]:
    return "--sim", f"{there.sim.socket_name},{there.sim.host}"


@contextlib.contextmanager
def running(netloom, *words: object) -> Iterator[subprocess.Popen[str]]:
    """The command, until the block ends."""
    child = subprocess.Popen(
        [*netloom.command, *map(str, words)],
        cwd=netloom.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield child
    finally:
        child.terminate()
        child.communicate(timeout=20)


def scraped(url: str, wanted: str, seconds: float = 40.0) -> str:
    """The page, once something is in it."""
    deadline = time.monotonic() + seconds
    page = ""
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            page = urllib.request.urlopen(url, timeout=5).read().decode()
            if wanted in page:
                return page
        time.sleep(0.1)
    raise AssertionError(f"{wanted} not in\n{page}")


class TestLive:
    pytestmark = with_opensm

    def test_one_picture_has_levels_links_jobs_and_changes(self, there, netloom, paths):
        jobs = paths.examples / "jobs" / "boxlib.toml"
        result = netloom.result("watch", *where(there), "--jobs", jobs, "--every", "0.3", "--once")
        assert [level["name"] for level in result["levels"]] == [
            "host → leaf",
            "leaf → host",
            "leaf → spine",
            "spine → leaf",
        ]
        assert [level["links"] for level in result["levels"]] == [32] * 4
        assert result["links_unknown"] == 0
        # Reading counters is traffic too: all of it from the host that asks.
        assert result["hottest"][0]["source"] == "host0000"
        assert [job["hosts"] for job in result["jobs"]] == [16, 16]
        assert result["changes"] == []
        text = netloom.ok("watch", *where(there), "--every", "0.3", "--once", "--hottest", "1")
        assert re.search(r"32 hosts, 12 switches, 128 links\nover [\d.]+ m?s, 288 datagrams", text)
        assert "load by level" in text
        assert "host0000[1] → leaf00[1]" in text

    def test_changes_of_routes_and_rounds_are_told_from_their_journals(self, there, netloom):
        nl.route("random", there.fabric, seed=2).write(netloom.folder / "other.lfts")
        netloom.ok("apply", "send", "other.lfts", *where(there), "--yes")
        result = netloom.result("watch", *where(there), "--every", "0.2", "--once")
        assert [(one["id"], one["state"]) for one in result["changes"]] == [(1, "applied")]
        assert "changes of routes" in netloom.ok("watch", *where(there), "--every", "0.2", "--once")

    def test_a_dump_of_another_fabric_is_refused(self, there, netloom, paths):
        for words in (("watch", paths.ft3, "--once"), ("counters", "poll", paths.ft3)):
            word = netloom.refused(*words, *where(there))
            assert "of its 16 switches were, other nodes or other LIDs answer" in word
            assert "a dump of another fabric" in word
        (netloom.folder / "net.txt").write_bytes(there.sim.discover())
        netloom.ok("watch", "net.txt", "--every", "0.2", "--once", *where(there))

    def test_two_opensms_are_said_where_no_journal_is_given(self, there, netloom):
        with OpenSM(there.sim, routes=there.manager.routes, host="host0031", standby=True):
            done = netloom("watch", "--every", "0.2", "--once", *where(there))
        assert done.code == 0
        assert "2 OpenSM run here" in done.err

    def test_ctrl_c_ends_it_with_its_exit_code(self, there, netloom):
        with running(netloom, "watch", "--every", "0.2", *where(there)) as child:
            assert child.stdout is not None
            assert "32 hosts" in child.stdout.readline()
            child.send_signal(signal.SIGINT)
            assert child.wait(timeout=30) == 130

    def test_prometheus_gets_every_port_in_bytes_by_the_usual_names(self, there, netloom):
        before = netloom.result("counters", "poll", *where(there))
        port = free_port()
        words = ("watch", *where(there), "--every", "0.3", "--prometheus", f"127.0.0.1:{port}", "--quiet")
        with running(netloom, *words):
            page = scraped(f"http://127.0.0.1:{port}/metrics", "netloom_level_max_utilisation_ratio")
            (netloom.folder / "net.txt").write_bytes(there.sim.discover())
            # Our own reader takes it for the exporter whose names these are, and finds the same bytes.
            shown = netloom.result("counters", "show", "net.txt", f"http://127.0.0.1:{port}")
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=5)
        assert shown["kind"] == "treydock/infiniband_exporter"
        assert shown["link_bytes"] >= before["link_bytes"]
        assert page.count("infiniband_switch_port_transmit_data_bytes_total{") == 96
        assert 'port="5",switch="leaf00"} ' in page
        assert "\nnetloom_up 1\n" in page
        assert "netloom_poll_missing_ports 0" in page

    @pytest.mark.skipif(shutil.which("prometheus") is None, reason="not installed: prometheus")
    def test_a_real_prometheus_answers_every_panel_and_loads_the_alerts(self, there, netloom, paths):
        """With jobs, a loop's journal and a change of routes, so that there is something to show of each."""
        nl.route("random", there.fabric, seed=2).write(netloom.folder / "other.lfts")
        netloom.ok("apply", "send", "other.lfts", *where(there), "--yes")
        netloom.ok("loop", "run", paths.examples / "loop" / "small.toml", "--rounds", "1", "-o", "kept", "-q")
        changes = Journal.beside(there.manager.routes).folder
        jobs = paths.examples / "jobs" / "boxlib.toml"
        port, asked = free_port(), free_port()
        rules = ROOT / "contrib" / "prometheus" / "rules.yml"
        (netloom.folder / "prometheus.yml").write_text(
            f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\nrule_files: [{rules}]\n"
            "scrape_configs:\n  - job_name: netloom\n"
            f'    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]\n'
        )
        words = ("watch", *where(there), "--every", "0.3", "--prometheus", f"127.0.0.1:{port}", "--quiet")
        words += ("--jobs", str(jobs), "--journal", "kept", "--journal", str(changes))
        own = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
        own += [f"--web.listen-address=127.0.0.1:{asked}", "--log.level=warn"]
        with running(netloom, *words), open(netloom.folder / "log", "w") as log:
            child = subprocess.Popen(own, cwd=netloom.folder, stdout=log, stderr=log)
            try:
                query = f"http://127.0.0.1:{asked}/api/v1/query?query="
                errors = "count(infiniband_switch_port_symbol_error_total)"
                scraped(query + urllib.parse.quote(errors), '"96"]')
                scraped(query + urllib.parse.quote("count(infiniband_switch_uplink_info)"), '"96"]')
                found = {one: answered(query + urllib.parse.quote(one)) for one in panel_queries()}
                # leaf03's cable to spine02 is cut: the alert waits its minute, with both ends by name.
                there.sim.command('Unlink "leaf03"[7]')
                page = scraped(query + "ALERTS", "CableDown")
            finally:
                child.terminate()
                child.wait(timeout=20)
        assert '"node":"leaf03","port":"7"' in page
        assert '"uplink":"spine02","uplink_port":"4"' in page
        shown = [labels for one, rows in found.items() if one.startswith("topk(10, rate") for labels in rows]
        assert all({"switch", "port", "uplink", "uplink_port"} <= set(labels) for labels in shown)
        (of_jobs,) = (rows for one, rows in found.items() if "netloom_job" in one)
        assert {labels["whose"] for labels in of_jobs} == {"boxlibmg.0", "boxlibmg.1"}

    def test_a_switch_and_a_fabric_that_go_away_are_told_and_waited_for(self, there, netloom):
        port = free_port()
        words = ("watch", *where(there), "--every", "0.2", "--prometheus", f"127.0.0.1:{port}")
        with running(netloom, *words):
            scraped(f"http://127.0.0.1:{port}/", "netloom_up 1")
            there.sim.command('Error "leaf03" 100')
            page = scraped(f"http://127.0.0.1:{port}/", "netloom_poll_missing_ports 8")
            assert 'transmit_data_bytes_total{guid="0x0002c902000000c0"' not in page
            # The way of all questions: nothing answers, and old counters are not shown for new ones.
            there.sim.command('Error "leaf00" 100')
            page = scraped(f"http://127.0.0.1:{port}/", "netloom_up 0")
            assert "infiniband_switch_port" not in page
            there.sim.command('Error "leaf00" 0')
            there.sim.command('Error "leaf03" 0')
            scraped(f"http://127.0.0.1:{port}/", "netloom_poll_missing_ports 0")


def panel_queries() -> list[str]:
    """What the dashboard asks for, as Grafana does for all exporters and a short interval."""
    panels = json.loads((ROOT / "contrib" / "grafana" / "netloom.json").read_text())["panels"]
    texts = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    texts = [text.replace("$instance", ".*").replace("$__rate_interval", "10s") for text in texts]
    assert len(texts) > 20
    return list(dict.fromkeys(texts))


def answered(url: str) -> list[dict[str, str]]:
    """The labels of an answer's rows, once it has any."""
    page = scraped(url, '"value":')
    return [row["metric"] for row in json.loads(page)["data"]["result"]]


def test_the_dashboard_is_one_that_grafana_takes():
    """Panels have numbers of their own, do not overlap, and ask whichever source is chosen."""
    board = json.loads((ROOT / "contrib" / "grafana" / "netloom.json").read_text())
    assert {one["name"] for one in board["templating"]["list"]} == {"datasource", "instance"}
    source = {"type": "prometheus", "uid": "${datasource}"}
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)
    cells = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & own, panel["title"]
        cells |= own
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["fieldConfig"]["defaults"]["unit"]
            for target in panel["targets"]:
                assert target["datasource"] == panel["datasource"] == source
                assert '{instance=~"$instance"}' in target["expr"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_counters_of_intervals_are_shown_without_a_fabric_to_poll(netloom, paths):
    jobs = paths.examples / "jobs" / "small.toml"
    netloom.ok(
        "counters", "synth", paths.ft2, "ftree", jobs, "--seconds", "2", "--scale", "1000", "-o", "c.csv"
    )
    result = netloom.result("watch", paths.ft2, "--counters-from", "c.csv", "--jobs", jobs, "--once")
    fabric = nl.Fabric.read(paths.ft2)
    traffic = nl.Traffic.read(jobs, fabric)
    loads = nl.loads(fabric, nl.route("ftree", fabric), traffic)
    # The busiest link's bytes of a thousand runs in 2 s, over its speed.
    speed = fabric.link_table()["bandwidth_bytes_per_s"].max()
    assert result["seconds"] == 2
    assert result["hottest"][0]["utilisation"] == pytest.approx(loads.max * 1000 / 2 / speed, rel=1e-3)
    sent = sum(job["sent_bytes_per_s"] for job in result["jobs"])
    assert sent == pytest.approx(traffic.total_bytes * 1000 / 2, rel=1e-3)
    assert result["levels"][0]["bytes_per_s"] == pytest.approx(sent)


def test_what_cannot_be_watched_is_refused(netloom, paths):
    assert "needs FABRIC" in netloom.refused("watch", "--counters-from", "c.csv", "--once", code=2)
    assert "--once" in netloom.refused("watch", paths.ft2, "-o", "x.json", code=2)
    word = netloom.refused("watch", paths.ft2, "--counters-from", "c.csv", "--sim", "a,b", "--once", code=2)
    assert "expected no --sim" in word
    assert "expected one of them" in netloom.refused("watch", "--once", "--prometheus", ":9900", code=2)
    (netloom.folder / "empty").mkdir()
    word = netloom.refused("watch", paths.ft2, "--journal", "empty", "--once")
    assert "no journal" in word
    word = netloom.refused("watch", paths.ft2, "--prometheus", "nonsense", code=2)
    assert "expected :PORT (of this machine alone), HOST:PORT" in word


def test_the_files_in_contrib_say_what_the_code_does():
    unit = (ROOT / "contrib" / "netloom-watch.service").read_text()
    assert "netloom watch --quiet --every 30 --prometheus :9900" in unit
    options = (ROOT / "contrib" / "opensm.conf").read_text()
    assert "routing_engine file,no_fallback" in options
    assert re.search(r"^lfts_file /", options, re.MULTILINE)


def test_samples_that_never_change_are_told_as_stale(netloom, paths):
    """A page with a reading that nobody renews: 0 bytes per second, and why."""
    before = ROOT / "tests" / "data" / "opensm" / "ft2_32" / "perfquery_x_before.txt.gz"
    words = ("--counters-from", before, "--every", "0.1", "--once")
    found = netloom.result("watch", paths.ft2, *words, code=1)["findings"]
    kinds = {one["kind"]: one["text"] for one in found}
    assert "no counter of" in kinds["stale"]


def test_pictures_fit_small_terminals():
    from netloom.watch.screen import Section, fitting

    lines = ["one", "two"]
    tables = [Section(str(n), ["a"], [[str(row)] for row in range(10)]) for n in range(4)]
    for rows in range(1, 60):
        fits = fitting(lines, tables, rows)
        assert len(lines) + sum(3 + len(table.rows) for table in fits) <= max(rows, len(lines))
    assert fitting(lines, tables, 60) == tables
    # 24 rows: 2 lines, and 4 tables with title, header and an empty line above: 10 rows are left.
    assert sum(len(table.rows) for table in fitting(lines, tables, 24)) == 10
