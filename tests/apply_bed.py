"""A simulated fabric with its OpenSM, for tests of `netloom apply`."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import netloom as nl
from netloom import apply as applying
from netloom.live import Ibsim, Manager, OpenSM

FT2 = Path(__file__).resolve().parent / "data" / "opensm" / "ft2_32" / "ibnetdiscover.txt"


COMMANDS = ("plan", "send", "rollback", "recover", "history")


@dataclass
class Bed:
    """A simulated fabric, its OpenSM, and the file that this reads."""

    sim: Ibsim
    opensm: OpenSM
    file: Path

    def port(self, fabric: nl.Fabric, switch: str, port: int) -> str:
        """A port as ibsim names it: by the node's name in the file that it was started with."""
        guid = int(fabric.switch_table()["guid"][fabric.switch_names.index(switch)])
        identity = f"S-{guid:016x}"
        return f'"{identity if identity in self.sim.fabric.read_text() else switch}"[{port}]'

    def uplink(self, fabric: nl.Fabric, routes: nl.Routes, leaf: str) -> str:
        """A cable from a leaf to a spine that routes use, as ibsim names it."""
        switch = fabric.switch_names.index(leaf)
        leaves = fabric.host_table()["leaf"]
        away = routes.table()[switch, : fabric.hosts][leaves != switch]
        return self.port(fabric, leaf, int(away[0]))

    @property
    def manager(self) -> Manager:
        return self.opensm.manager

    @property
    def journal(self) -> applying.Journal:
        return applying.Journal.beside(self.file)

    def look(self) -> applying.Seen:
        """The fabric now; a few tries, for it may be in the middle of something."""
        for _ in range(20):
            try:
                return applying.look(self.sim.access, self.file)
            except nl.NetloomError:
                time.sleep(0.1)
        return applying.look(self.sim.access, self.file)

    def settled(self) -> applying.Seen:
        """The fabric when its tables no longer change."""
        before = self.look()
        for _ in range(50):
            time.sleep(0.1)
            now = self.look()
            if now.raw == before.raw and now.fabric.cabling_hash == before.fabric.cabling_hash:
                return now
            before = now
        raise AssertionError("tables never come to rest")

    def arguments(self, *words: object) -> list[str]:
        """The call with these words, of `send` unless they name another command."""
        command = [] if words and words[0] in COMMANDS else ["send"]
        there = f"{self.sim.socket_name},{self.sim.host}"
        return ["apply", *command, *map(str, words), "--sim", there]

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "netloom", *self.arguments(*words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def apply(self, routes: nl.Routes, **options: object) -> applying.Applied:
        """Plans and applies in this process."""
        journal = self.journal
        with journal.locked():
            applying.recover(self.sim.access, self.manager, journal)
            seen = self.look()
            plan = applying.plan(seen, refit(routes, seen.fabric), mend=bool(options.pop("mend", False)))
            return applying.apply(plan, self.manager, journal, **options)


def refit(routes: nl.Routes, fabric: nl.Fabric) -> nl.Routes:
    """The same routes on the fabric as it is now."""
    return applying.planning.read_tables(routes.to_bytes(), fabric, label="routes")


@contextmanager
def bed(net: Path, folder: Path, *, engine: str = "updn", **options: object) -> Iterator[Bed]:
    """A running bed whose OpenSM has loaded the tables of an engine of ours."""
    fabric = nl.Fabric.read(net)
    file = folder / "opensm.lfts"
    host = fabric.host_names[0]
    with Ibsim(net, host=host) as sim:
        with OpenSM(sim, engine="updn"):
            found = nl.Fabric.parse(sim.discover())
        nl.route(engine, found).write(file)
        with OpenSM(sim, routes=file, **options) as opensm:
            yield Bed(sim, opensm, file)


def lost(seen: applying.Seen) -> int:
    return applying.planning.lost_pairs(seen.fabric, seen.tables)


def journaled(seen: applying.Seen, journal: applying.Journal) -> bool:
    """Whether switches hold tables that the journal has."""
    return 0 in far(seen, journal).values()


def far(seen: applying.Seen, journal: applying.Journal) -> dict[str, int]:
    """In how many entries switches differ from each of the tables that the journal has."""
    found = {}
    for file in sorted(journal.folder.glob("*/*.lfts.gz")):
        label = f"{file.parent.name}/{file.name.removesuffix('.lfts.gz')}"
        data = gzip.decompress(file.read_bytes())
        tables = applying.planning.read_tables(data, seen.fabric, label=label)
        found[label] = tables.changed_entries(seen.tables)
    return found


def detours(fabric: nl.Fabric) -> tuple[nl.Routes, nl.Routes]:
    """Two sound tables of the 32 hosts between which only three stages are safe.

    Towards host0031: first spine00 -> leaf00 -> spine01 -> there, then spine01 -> leaf00 -> spine00 -> there.
    """
    links = fabric.link_table()
    names = [*fabric.host_names, *fabric.switch_names]
    ends = zip(links["source"].tolist(), links["target"].tolist(), links["source_port"].tolist(), strict=True)
    ports = {(names[source], names[target]): port for source, target, port in ends}
    base = nl.route("updn", fabric)
    last = fabric.switch_names[fabric.host_table()["leaf"][fabric.host_names.index("host0031")]]
    one, other = "spine00", "spine01"

    def edited(entries: dict[str, str]) -> nl.Routes:
        out, switch = [], ""
        for line in base.to_bytes().decode().splitlines():
            if line.startswith("Unicast"):
                switch = line.split("'")[1]
            elif line.endswith("'host0031'") and switch in entries:
                lid, _, rest = line.split(None, 2)
                line = f"{lid} {ports[switch, entries[switch]]:03d} {rest}"
            out.append(line)
        return nl.Routes.parse("\n".join(out).encode() + b"\n", fabric)

    first = edited({one: "leaf00", "leaf00": other, other: last})
    second = edited({other: "leaf00", "leaf00": one, one: last})
    return first, second
