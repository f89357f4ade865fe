"""Drains on a simulated fabric with a real OpenSM: the steps of docs/maintenance.md, looked at all the time.

While a step runs, a thread reads cabling and tables again and again. A reading takes a while, so that it may
mix what was before a change with what came after it: what counts is what two readings in a row find.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import netloom as nl
from apply_bed import FT2, bed
from netloom import apply as applying
from netloom.live.access import Access
from netloom.nodes import Nodes

CASES = 20
CHANGES = ("send", "off", "on", "rollback")
"""The steps after which the switches' tables or cables are other ones."""


@dataclass(frozen=True)
class Drain:
    """A fabric, the engine of today's tables, and the switch that is taken out."""

    net: Path
    engine: str
    switch: str


@dataclass(frozen=True)
class Drained:
    """What was seen."""

    pairs: int
    """Of hosts, that crossed the switch before."""
    steps: tuple[tuple[str, int | None], ...]
    """After each step that changes something, how many pairs cross it; None while it is not there."""
    readings: int
    """Of cabling and tables while the steps ran, each found twice."""
    lost: tuple[str, ...]
    """In which of them some pair of hosts had no way."""
    back: int
    """Entries that differ from the first tables in the end."""


def case(seed: int, folder: Path) -> Drain:
    """One of the campaign's fabrics, with a switch that is no leaf; the first is the one of the document."""
    if seed == 0:
        return Drain(FT2, "updn", "spine03")
    draw = random.Random(f"drain {seed}")
    shape = draw.choice(("two-level", "parallel", "three-level", "xgft"))
    leaves, hosts, spines = draw.randint(3, 8), draw.randint(2, 4), draw.randint(2, 5)
    spec = {
        "two-level": f"two-level:leaves={leaves},hosts={hosts},spines={spines}",
        "parallel": f"two-level:leaves={min(leaves, 5)},hosts={hosts},spines={min(spines, 3)},cables=2",
        "three-level": f"fattree:pods=2,leaves={min(leaves, 4)},hosts={hosts},spines=2,groups=2,cores=2",
        "xgft": f"xgft:m={hosts}x3x2,w=1x2x3",
    }[shape]
    fabric = nl.Fabric.generate(spec)
    engine = draw.choice(("updn", "minhop", "ftree", "random"))
    routes = nl.route(engine, fabric)
    names = enumerate(fabric.switch_names, fabric.hosts)
    own = {fabric.hosts + leaf for leaf in fabric.host_table()["leaf"].tolist()}
    used = [name for at, name in names if at not in own and crossing(fabric, routes, node=at)]
    switch = draw.choice(used)
    # Something else may be broken already, where enough is left.
    if shape == "two-level" and spines > 2 and draw.random() < 0.5:
        fabric, _ = fabric.damage(random_links=1, seed=seed)
    net = folder / "fabric.net"
    fabric.write(net)
    return Drain(net, engine, switch)


def drain(one: Drain, folder: Path) -> Drained:
    """Takes the switch out, switches it off and on, and goes back."""

    def run(*words: object) -> None:
        command = [sys.executable, "-m", "netloom", *map(str, words)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
        # A drain is worse than what stood, and says so.
        worse = "--avoid" in words
        assert done.returncode in ((0, 1) if worse else (0,)), (
            f"{one}: {words[:2]}: {done.stdout}{done.stderr}"
        )

    def crossed() -> int | None:
        """How many pairs cross the switch, when all is at rest and no pair is lost."""
        seen = live.settled()
        assert nl.check(seen.fabric, seen.tables).unreachable_hosts == 0, one
        if one.switch not in seen.fabric.switch_names:
            return None
        return crossing(seen.fabric, seen.tables, node=Nodes(seen.fabric).find(one.switch))

    def dump(name: str) -> None:
        (folder / name).write_bytes(live.sim.discover())

    def switched(word: str, switches: int) -> None:
        live.sim.command(f"{word} {identity}")
        until(lambda: nl.Fabric.parse(live.sim.discover()).switches == switches, f"{word}: not seen")

    with bed(one.net, folder, engine=one.engine) as live:
        first = live.settled()
        identity = live.port(first.fabric, one.switch, 0).partition("[")[0]
        dump("net.txt")
        (folder / "today.lfts").write_bytes(first.raw)
        before = crossed()
        assert before is not None
        with Watcher(live.sim.access) as watcher:
            steps: list[tuple[str, Callable[[], None]]] = [
                (
                    "optimize",
                    lambda: run(
                        *("optimize", "net.txt", "all-to-all", "--from", "today.lfts"),
                        *("--avoid", one.switch, "-o", "drained.lfts"),
                    ),
                ),
                ("check", lambda: run("check", "net.txt", "drained.lfts")),
                ("plan", lambda: run(*live.arguments("plan", "drained.lfts"))),
                ("send", lambda: run(*live.arguments("drained.lfts", "--yes"))),
                ("off", lambda: switched("Unlink", first.fabric.switches - 1)),
                ("on", lambda: switched("Relink", first.fabric.switches)),
                ("dump", lambda: dump("now.txt")),
                ("health", lambda: run("health", "now.txt", "--expect", "net.txt")),
                ("rollback", lambda: run(*live.arguments("rollback", "--yes"))),
            ]
            found = []
            for name, step in steps:
                watcher.step = name
                step()
                if name in CHANGES:
                    found.append((name, crossed()))
        last = live.settled()
        back = nl.Routes.parse(first.raw, last.fabric, strict=False).changed_entries(last.tables)
    return Drained(before, tuple(found), watcher.readings, tuple(watcher.lost), back)


def crossing(
    fabric: nl.Fabric, routes: nl.Routes, *, node: int | None = None, links: Sequence[int] | set[int] = ()
) -> int:
    """How many pairs of hosts leave a node, or take one of some links."""
    source = fabric.link_table()["source"]
    pairs = [(a, b) for a in range(fabric.hosts) for b in range(fabric.hosts) if a != b]
    return sum(
        any(link in links or source[link] == node for link in routes.path(one, other)) for one, other in pairs
    )


def until(ready: Callable[[], bool], what: str) -> None:
    for _ in range(200):
        if ready():
            return
        time.sleep(0.1)
    raise AssertionError(what)


class Watcher:
    """Reads cabling and tables while the `with` block runs, and keeps where a pair of hosts had no way."""

    def __init__(self, access: Access) -> None:
        self.step = ""
        self.readings = 0
        self.lost: list[str] = []
        self._access = access
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        before = None
        while not self._ended.wait(0.2):
            step = self.step
            try:
                seen = applying.look(self._access)
            except nl.NetloomError:
                # In the middle of something: what was asked is gone.
                before = None
                continue
            now = (seen.fabric.cabling_hash, seen.raw)
            if now == before:
                self.readings += 1
                lost = nl.check(seen.fabric, seen.tables).unreachable_hosts
                if lost:
                    self.lost.append(f"{step}: {lost} pairs")
            before = now
