"""Cut cables, disabled ports and dead switches: seen by `watch`, exporter and loop within one poll.

On a real OpenSM and ibsim, a few times; `.venv/bin/python tests/test_live_cut.py 20` tries each 20 times.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import netloom as nl
from netloom.live import missing_tools
from netloom.live.bed import Bed, bed
from netloom.live.polling import Poller
from netloom.loop.live import Live, LiveLoop
from netloom.session.session import Session
from netloom.watch import exporter, journals
from netloom.watch.calls import Watching
from netloom.watch.sources import Polled

ROOT = Path(__file__).resolve().parent.parent
FT2 = ROOT / "tests" / "data" / "opensm" / "ft2_32" / "ibnetdiscover.txt"

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


@pytest.fixture
def there(tmp_path) -> Iterator[Bed]:
    yield from beds(tmp_path)


def beds(folder: Path) -> Iterator[Bed]:
    fabric = nl.Fabric.read(FT2)
    nl.route("ftree", fabric).write(folder / "routes.lfts")
    with bed(fabric, folder / "routes.lfts") as found:
        yield found


def cut(there: Bed, rng: random.Random) -> tuple[str, str]:
    """A cable between switches is cut: its name, and the kind of finding."""
    leaf, port = rng.randrange(1, 8), rng.randrange(5, 9)
    there.sim.command(f'Unlink "leaf{leaf:02}"[{port}]')
    return f"leaf{leaf:02}[{port}]", "link-down"


def disable(there: Bed, rng: random.Random) -> tuple[str, str]:
    """An administrator disables the port of a host."""
    leaf, port = rng.randrange(1, 8), rng.randrange(1, 5)
    table = there.fabric.switch_table()
    lid = int(table["lid"][there.fabric.switch_names.index(f"leaf{leaf:02}")])
    there.sim.tool("ibportstate", str(lid), str(port), "disable")
    return f"leaf{leaf:02}[{port}]", "link-down"


def silence(there: Bed, rng: random.Random) -> tuple[str, str]:
    """A switch is gone: it answers nothing."""
    name = f"spine{rng.randrange(1, 4):02}"
    there.sim.command(f'Error "{name}" 100')
    return name, "silent-switch"


HARMS = {"cable": cut, "port": disable, "switch": silence}


def seen_by_one_poll(there: Bed, harm: Callable[[Bed, random.Random], tuple[str, str]], seed: int) -> None:
    """What watch polls and what its exporter serves name it with the first poll after."""
    with Polled(there.sim.access, there.fabric) as source:
        before = source.read()
        assert (before.down, before.missing) == ([], [])
        what, kind = harm(there, random.Random(seed))
        now = source.read()
    from netloom.live.ports import findings_of

    found = findings_of(there.fabric, now.down, now.missing, now.ports)
    assert any(one["kind"] == kind and what in one["text"] for one in found), (what, kind, found)
    page = exporter.links(there.fabric, now)
    node, _, port = what.rstrip("]").partition("[")
    if kind == "link-down":
        assert re.search(f'port="{port}",node="{node}",uplink="[^"]+",uplink_port="[0-9]+"}} 0\n', page)
        assert "netloom_links_down 0" not in page
    else:
        assert f'netloom_port_silent{{node="{node}"' in page
        assert f'node="{node}"}} 1' not in page
    assert exporter.figures(None, journals.Told(), {"up": 1.0})


@pytest.mark.parametrize("harm", HARMS)
def test_what_breaks_is_named_by_the_first_poll(there, harm):
    seen_by_one_poll(there, HARMS[harm], seed=1)


def watched_once(there: Bed, netloom, harm: str) -> None:
    dump = netloom.folder / "net.txt"
    dump.write_bytes(there.sim.discover())
    what, kind = HARMS[harm](there, random.Random(2))
    words = ("--sim", f"{there.sim.socket_name},{there.sim.host}", "--every", "0.2", "--once")
    found = netloom.result("watch", dump, *words, code=1)["findings"]
    told = [one for one in found if one["kind"] == kind and what in one["text"]]
    assert told, found
    assert (told[0]["severity"], told[0]["class"]) == ("error", "hosts")
    text = told[0]["text"].replace(" -> ", " → ")  # as people read it
    assert f"error: {text}" in netloom.ok("watch", dump, *words, code=1)


@pytest.mark.parametrize("harm", ["cable", "switch"])
def test_watch_once_names_it_and_exits_1(there, netloom, harm):
    watched_once(there, netloom, harm)


@pytest.mark.parametrize("harm", HARMS)
def test_the_loop_names_it_and_keeps_the_routes(there, harm):
    loop_names(there, HARMS[harm], seed=3)


def test_the_loop_says_which_cable_was_cut_and_what_helps(there):
    """It said "cables, nodes or LIDs changed", and in the next round that there is no route."""
    reason = loop_names(there, cut, seed=3).round.reason
    what, _ = cut(there, random.Random(3))
    assert f"the cable {what} -> spine0" in reason
    assert "is gone" in reason
    assert "--repair" in reason
    # Packets still come to it in the tables that are in force.
    traffic, net = nl.Traffic.pattern("all-to-all", 32), there.fabric
    with LiveLoop(there.sim.access, lambda: there.manager.manager) as loop:
        live = loop.round(lambda _: [], lambda _: there.run(traffic, nl.route("ftree", net), scale=1e6))
    assert live.round.decision == "kept"
    assert what[:6] in live.round.reason
    assert "--repair" in live.round.reason


def loop_names(there: Bed, harm: Callable[[Bed, random.Random], tuple[str, str]], seed: int) -> Live:
    told: list[tuple[str, str]] = []

    def interval(_: object) -> None:
        told.append(harm(there, random.Random(seed)))

    with LiveLoop(there.sim.access, lambda: there.manager.manager) as loop:
        live = loop.round(lambda _: [], interval)
    ((what, _),) = told
    assert live.round.decision == "kept"
    found = [one["text"] for one in live.findings]
    assert any(what in text for text in found), (what, live.findings)
    return live


def test_a_link_state_costs_one_datagram_a_port(there):
    with Poller(there.sim.access, there.fabric, links=True, waits=False) as poller:
        poller.poll()
        assert poller.poll().mads == 2 * 96


def test_the_exporter_listens_where_it_says():
    with exporter.serving(":0") as (page, url):
        page.put("a 1\n")
        assert url.startswith("http://127.0.0.1:")
        assert urllib.request.urlopen(url, timeout=5).read() == b"a 1\n"
    with exporter.serving("[::1]:0") as (page, url):
        page.put("b 1\n")
        assert url.startswith("http://[::1]:")
        assert urllib.request.urlopen(url, timeout=5).read() == b"b 1\n"


def main(times: int) -> None:
    """Every kind so often, each on a fabric of its own."""
    for harm, of in HARMS.items():
        for number in range(times):
            for check in (seen_by_one_poll, loop_names):
                with tempfile.TemporaryDirectory() as folder:
                    for there in beds(Path(folder)):
                        check(there, of, number)
        print(f"{harm}: named by watch, exporter and loop, {times} of {times}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)


def test_watching_goes_on_over_another_discovery_and_names_what_is_gone(there, monkeypatch):
    """The exporter ended with an IndexError, and `watch` told of another fabric's reading for ever."""
    monkeypatch.setattr(Polled, "REST_SECONDS", 0.0)
    session, access = Session(), there.sim.access
    watching = Watching(session, there.fabric, None, None, [], 10, access, True)

    def told() -> str:
        return " ".join(one["text"] for one in watching.findings(picture))

    with contextlib.ExitStack() as stack:
        pictures = watching.pictures(stack, 0.05, False)
        for step in ("whole", "cut", "mended"):
            if step == "cut":
                # Nobody answers behind it until OpenSM has swept, so that the fabric is discovered again.
                there.sim.command('Unlink "leaf03"[5]')
                there.sim.command('Error "spine02" 100')
            if step == "mended":
                there.sim.command('Error "spine02" 0')
                there.sim.command('ReLink "leaf03"[5]')
            nets = {watching.net.cabling_hash} if step != "whole" else set()
            for _ in range(200):
                picture, journal = next(pictures)
                page = watching.metrics(picture, journal)
                assert watching.error is None or step == "cut", watching.error
                if step != "whole" and picture is not None and watching.net.cabling_hash not in nets:
                    break
                if step == "whole" and picture is not None:
                    break
            else:
                raise AssertionError(step, watching.error)
            if step == "cut":
                assert "leaf03[5]" in told()
                assert "gone" in told()
                assert 'port="5",node="leaf03",uplink="spine00",uplink_port="4"} 0\n' in page
            else:
                assert "leaf03[5]" not in told()
                assert "netloom_links_down 0\n" in page
    assert watching.net.cabling_hash == there.fabric.cabling_hash
