"""Exporters that reply with anything, and clients that ask ours for anything: nobody ends a daemon.

Replies come over real sockets (`web_bed`). `NETLOOM_TRIALS` asks for more random cases than usual, and lets
the command itself wait for replies that never end.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import resource
import socket
import time
import urllib.request
from collections.abc import Iterator

import pytest

import netloom as nl
import web_bed
from netloom.errors import LiveError
from netloom.live import exporters, http
from netloom.watch import exporter, server

TRIALS = int(os.environ.get("NETLOOM_TRIALS", "0"))

PORT = b'{guid="0x0002c90200000000",port="5",switch="leaf00"}'
SAMPLES = b"infiniband_switch_port_transmit_data_bytes_total%b 4000\n" % PORT
SAMPLES += b"infiniband_switch_port_receive_data_bytes_total%b 8000\n" % PORT


def page(paths) -> bytes:
    """What an exporter serves of a whole fabric."""
    fabric = nl.Fabric.read(paths.ft2)
    return exporter.ports(
        fabric, nl.Counters.read(paths.ft2.with_name("perfquery_x_before.txt.gz"), fabric)
    ).encode()


def refused(reply: web_bed.Reply, seconds: float = 20.0) -> str:
    """What is said of an exporter that always replies so; it is said in one line, of its URL."""
    with web_bed.serving(itertools.repeat(reply)) as url, pytest.raises(LiveError) as said:
        exporters.fetch(f"{url}/metrics", seconds=seconds)
    assert str(said.value).startswith(url)
    assert len(str(said.value)) < 600
    return str(said.value)


class TestClient:
    @pytest.mark.parametrize("kind", sorted(web_bed.ODD.keys() - {"odd-samples"}))
    def test_an_odd_reply_is_an_error_that_names_the_exporter(self, kind):
        said = refused(web_bed.ODD[kind])
        assert "\n" not in said
        assert "secret" not in said

    @pytest.mark.parametrize("kind", sorted(web_bed.SLOW))
    def test_a_reply_that_never_ends_is_over_at_the_deadline(self, kind):
        said = refused(web_bed.SLOW[kind], seconds=0.3)
        assert "no whole reply within" in said or "redirect" in said

    @pytest.mark.parametrize("kind", sorted(web_bed.LARGE))
    def test_a_reply_that_is_too_large_is_given_up(self, kind):
        with (
            web_bed.serving(itertools.repeat(web_bed.LARGE[kind])) as url,
            pytest.raises(LiveError, match="more than 1,000,000 bytes"),
        ):
            http.get(url, most_bytes=1_000_000)

    def test_a_reply_that_says_it_is_too_large_is_not_read(self):
        assert "expected at most 268,435,456" in refused(web_bed.ODD["huge-length"])

    def test_what_went_wrong_is_told(self):
        assert "ends after 5 of 1,000 bytes" in refused(web_bed.ODD["cut-body"])
        assert "no reply of HTTP" in refused(web_bed.ODD["no-http"])
        assert re.search(r"redirects to ftp://127.0.0.1\S*: expected http", refused(web_bed.ODD["to-ftp"]))
        assert "'file:///etc/passwd' is not allowed" in refused(web_bed.ODD["to-file"])
        assert "without user and password" in refused(web_bed.ODD["to-password"])

    def test_redirects_within_http_are_followed(self):
        with web_bed.serving(iter([web_bed.redirect("/other"), web_bed.ok(SAMPLES)])) as url:
            assert exporters.fetch(f"{url}/metrics") == SAMPLES

    def test_a_password_in_a_url_is_not_shown(self, netloom, paths):
        for url in ("http://me:secret@127.0.0.1:1/metrics", "HTTP://me:secret@[::1"):
            word = netloom.refused("counters", "show", paths.ft2, url)
            assert "secret" not in word
        assert "without user and password" in netloom.refused(
            "counters", "show", paths.ft2, "http://me:secret@127.0.0.1:1/metrics"
        )

    @pytest.mark.parametrize(
        "url",
        [
            "http://",
            "http:///x",
            "http://[",
            "http://a:b/",
            "http://a:99999999/",
            "http://a b/",
            "http://\x7f",
        ],
    )
    def test_a_url_that_is_none_is_refused(self, url):
        with pytest.raises(LiveError):
            exporters.fetch(url, seconds=2.0)

    @pytest.mark.parametrize("seed", range(TRIALS or 40))
    def test_a_hostile_reply_of_random_pieces_is_an_error_or_samples(self, seed):
        draw = random.Random(seed)
        pieces = [reply for reply in web_bed.ODD.values() if isinstance(reply, bytes)]
        data = bytearray(b"".join(draw.choice(pieces)[: draw.randrange(1, 400)] for _ in range(3)))
        for _ in range(draw.randrange(4)):
            if data:
                data[draw.randrange(len(data))] = draw.randrange(256)
        # A redirect may lead to the same reply again, never out of it.
        with web_bed.serving(itertools.repeat(bytes(data))) as url, contextlib.suppress(LiveError):
            exporters.fetch(f"{url}/metrics", seconds=0.5)


class TestWatch:
    def test_watching_goes_on_after_every_hostile_reply(self, netloom, paths):
        from test_watch import running

        # Those that send to themselves would be asked again at once, and take the next ones' turns.
        odd = [reply for name, reply in web_bed.ODD.items() if name not in ("to-itself", "to-nowhere")]
        slow = [reply for name, reply in web_bed.SLOW.items() if name != "endless-redirect"]
        kinds = [*odd, *slow, *web_bed.LARGE.values()] if TRIALS else odd[::4]
        good = web_bed.ok(page(paths))
        turns = itertools.chain.from_iterable((reply, good) for reply in kinds)
        replies = itertools.chain([good, good], turns, itertools.repeat(good))
        with web_bed.serving(replies) as url:
            words = ("watch", paths.ft2, "--counters-from", f"{url}/metrics", "--every", "0.1")
            with running(netloom, *words) as child:
                assert child.stdout is not None
                trouble = [line for line in shown(child.stdout, len(kinds)) if line.startswith("trouble: ")]
        assert len(trouble) == len(kinds)
        assert all(url in line for line in trouble)
        # Of our SIGTERM; not of an error.
        assert child.returncode == 130

    def test_a_file_that_goes_away_is_waited_for(self, netloom, paths):
        from test_watch import running

        file = netloom.folder / "page.prom"
        file.write_bytes(page(paths))
        words = ("watch", paths.ft2, "--counters-from", "page.prom", "--every", "0.05")
        with running(netloom, *words) as child:
            assert child.stdout is not None
            next(line for line in child.stdout if "load by level" in line)
            file.unlink()
            assert "page.prom" in next(line for line in child.stdout if line.startswith("trouble: "))
            file.write_bytes(page(paths))
            next(line for line in child.stdout if "load by level" in line)


def shown(lines: Iterator[str], troubles: int) -> Iterator[str]:
    """What is shown until there was so much trouble, and a picture after it."""
    for line in lines:
        yield line
        troubles -= line.startswith("trouble: ")
        if troubles <= 0 and "load by level" in line:
            return


@contextlib.contextmanager
def idle(url: str, count: int, said: bytes = b"") -> Iterator[None]:
    """So many connections that say little."""
    place = re.match(r"http://([\d.]+):(\d+)", url)
    assert place is not None
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            sock = stack.enter_context(socket.create_connection((place[1], int(place[2])), timeout=20))
            with contextlib.suppress(OSError):
                sock.sendall(said)
        yield


class TestExporter:
    @pytest.mark.parametrize("said", [b"", b"GET /metrics HTTP/1.1\r\nHost:"])
    def test_idle_connections_keep_nobody_from_scraping(self, said):
        with exporter.serving(":0") as (served, url):
            served.put("a 1\n")
            with idle(url, 3 * server.CONNECTIONS, said):
                for _ in range(3):
                    assert urllib.request.urlopen(url, timeout=20).read() == b"a 1\n"

    def test_idle_connections_end_at_their_deadline(self, monkeypatch):
        monkeypatch.setattr(server, "REQUEST_SECONDS", 0.1)
        with exporter.serving(":0") as (_, url):
            port = int(url.rpartition(":")[2].partition("/")[0])
            with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
                sock.sendall(b"GET /metrics")
                assert sock.recv(10) == b""

    def test_a_large_page_reaches_a_client_that_reads_in_pieces(self):
        text = "a 1\n" * 2_000_000
        with exporter.serving(":0") as (served, url):
            served.put(text)
            with urllib.request.urlopen(url, timeout=20) as answer:
                got = b"".join(iter(lambda: answer.read(100_000), b""))
            assert got == text.encode()

    @pytest.mark.parametrize(
        ("asked", "status"),
        [
            (b"POST / HTTP/1.1\r\n\r\n", b"501"),
            (b"GET /other HTTP/1.1\r\n\r\n", b"404"),
            (b"\x00\xff\r\n\r\n", b"501"),
            (b"GET /metrics?x=" + b"y" * 20_000, b"431"),
            (b"GET /metrics\n\n", b"200"),
            (b"HEAD / HTTP/1.0\r\n\r\n", b"200"),
        ],
    )
    def test_odd_requests_are_answered_and_done_with(self, asked, status):
        with exporter.serving(":0") as (served, url):
            served.put("a 1\n")
            port = int(url.rpartition(":")[2].partition("/")[0])
            with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
                sock.sendall(asked)
                assert sock.recv(1 << 16).split(b" ")[1] == status
            assert urllib.request.urlopen(url, timeout=20).read() == b"a 1\n"

    @pytest.mark.parametrize("count", [256, 2000] if TRIALS else [256])
    def test_hostile_connections_take_no_turns_from_polling(self, netloom, paths, count):
        """The command polls on while they are open."""
        from test_watch import free_port, running, scraped

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
        (netloom.folder / "page.prom").write_bytes(page(paths))
        url = f"http://127.0.0.1:{free_port()}/metrics"
        words = ("watch", paths.ft2, "--counters-from", "page.prom", "--every", "1", "--quiet")
        with running(netloom, *words, "--prometheus", url[7:-8]) as child:
            polls = int(re.search(r"netloom_polls_total (\d+)", scraped(url, "netloom_up 1"))[1])
            with idle(url, count):
                before, start = cpu_seconds(child.pid), time.monotonic()
                scraped(url, f"netloom_polls_total {polls + (10 if TRIALS else 2)}")
                used, passed = cpu_seconds(child.pid) - before, time.monotonic() - start
            # Told, not asked for: what 1 s of a busy machine holds is not ours.
            print(f"{count} connections: {100 * used / passed:.1f} % of a core over {passed:.1f} s")
            assert child.poll() is None


def cpu_seconds(pid: int) -> float:
    """What a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_client_reads_what_the_exporter_serves(paths):
    with exporter.serving(":0") as (served, url):
        served.put(SAMPLES.decode())
        assert exporters.fetch(url) == SAMPLES
        fabric = nl.Fabric.read(paths.ft2)
        assert nl.Counters.parse(exporters.fetch(url), fabric).summary()["link_bytes"] == 12_000
