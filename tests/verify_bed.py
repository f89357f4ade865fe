"""Fabrics, tables and traffic on which `contrib/verify.py` and netloom are compared; a seed decides all.

Graphs are drawn and written as ibnetdiscover prints them by code of this file: generators and writers of
netloom are no part of the comparison; tables and certificates are netloom's, and some tables are spoilt.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import random
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netloom as nl

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "contrib" / "verify.py"
SEEDS = [int(line) for line in (ROOT / "tests/data/verify/seeds.txt").read_text().split()]

_spec = importlib.util.spec_from_file_location("contrib_verify", SCRIPT)
assert _spec
assert _spec.loader
verify: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(verify)


@dataclass
class Drawn:
    """A graph of switches: cables between them, and how many hosts each has."""

    kind: str
    hosts: list[int]
    cables: list[tuple[int, int]] = field(default_factory=list)


def tree(r: random.Random, levels: int) -> Drawn:
    """A tree of two or three levels; parallel cables now and then."""
    if levels == 2:
        leaves, spines, twice = r.randint(2, 6), r.randint(1, 4), r.randint(1, 2)
        hosts = [r.randint(1, 4)] * leaves + [0] * spines
        pairs = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)] * twice
        return Drawn("tree", hosts, pairs)
    pods, leaves, spines, cores = r.randint(2, 3), r.randint(2, 3), 2, r.randint(1, 2)
    each = r.randint(1, 3)
    drawn = Drawn("tree", [])
    for pod in range(pods):
        first = pod * (leaves + spines)
        drawn.hosts += [each] * leaves + [0] * spines
        drawn.cables += [
            (first + leaf, first + leaves + spine) for leaf in range(leaves) for spine in range(spines)
        ]
    top = len(drawn.hosts)
    drawn.hosts += [0] * (spines * cores)
    for pod in range(pods):
        first = pod * (leaves + spines) + leaves
        drawn.cables += [(first + s, top + s * cores + core) for s in range(spines) for core in range(cores)]
    return drawn


def damaged(r: random.Random) -> Drawn:
    """A tree without some of its cables, with management hosts on spines, with cables between leaves."""
    drawn = tree(r, r.choice((2, 2, 3)))
    drawn.kind = "damaged"
    for _ in range(r.randint(0, 4)):
        less = list(drawn.cables)
        less.remove(r.choice(less))
        if joined(len(drawn.hosts), less):
            drawn.cables = less
    for switch in r.sample(range(len(drawn.hosts)), r.choice((0, 0, 1, 2))):
        drawn.hosts[switch] += 1
    if r.random() < 0.2:
        drawn.cables.append(tuple(r.sample(range(len(drawn.hosts)), 2)))  # type: ignore[arg-type]
    return drawn


def dragonfly(r: random.Random) -> Drawn:
    """A full dragonfly, its global cables in absolute order."""
    a, h = r.choice(((3, 1), (4, 1), (2, 2), (4, 2)))
    groups, p = a * h + 1, r.randint(1, 2) if (a, h) != (4, 2) else 1
    drawn = Drawn("dragonfly", [p] * (a * groups))
    for group in range(groups):
        drawn.cables += [(group * a + i, group * a + j) for i in range(a) for j in range(i)]
        for other in range(group):
            drawn.cables.append((group * a + other // h, other * a + (group - 1) // h))
    return drawn


def graph(r: random.Random) -> Drawn:
    """A random connected graph, a ring, a torus or a full mesh."""
    n, shape = r.randint(3, 9), r.choice(("random", "random", "ring", "torus", "mesh"))
    drawn = Drawn("graph", [r.choice((0, 1, 1, 2)) for _ in range(n)])
    if shape == "torus":
        x, y = r.randint(3, 4), 3
        drawn.hosts = [1] * (x * y)
        drawn.cables = [(i * y + j, (i + 1) % x * y + j) for i in range(x) for j in range(y)]
        drawn.cables += [(i * y + j, i * y + (j + 1) % y) for i in range(x) for j in range(y)]
    elif shape == "ring":
        drawn.cables = [(i, (i + 1) % n) for i in range(n)]
    elif shape == "mesh":
        drawn.cables = [(i, j) for i in range(n) for j in range(i)]
    else:
        drawn.cables = [(i, r.randrange(i)) for i in range(1, n)]
        drawn.cables += [tuple(r.sample(range(n), 2)) for _ in range(r.randint(0, n))]  # type: ignore[misc]
    if sum(drawn.hosts) < 2:
        drawn.hosts[0] += 2
    return drawn


def joined(n: int, cables: list[tuple[int, int]]) -> bool:
    """Whether cables join all switches."""
    reached, grown = {0}, True
    while grown:
        more = {b for a, b in cables if a in reached} | {a for a, b in cables if b in reached}
        grown = not more <= reached
        reached |= more
    return len(reached) == n


def printed(drawn: Drawn, r: random.Random, lmc: int = 0) -> str:
    """The graph as ibnetdiscover prints it: GUIDs, LIDs, ports and the order of nodes are drawn."""
    switches, count = len(drawn.hosts), sum(drawn.hosts)
    guids = r.sample(range(0x1000, 0xFFFF), switches + count)
    lids = r.sample(range(1, 400), switches + count)
    rates = r.choice((["4xEDR"], ["4xEDR"], ["4xHDR", "4xEDR"], ["4xNDR", "2xHDR", "4xFDR10"]))
    free = [0] * switches
    text: list[list[str]] = [[] for _ in range(switches + count)]

    def end(switch: int) -> int:
        free[switch] += 1
        return free[switch]

    named = [f"sw{index}" for index in range(switches)] + [f"node{index}" for index in range(count)]
    for a, b in r.sample(drawn.cables, len(drawn.cables)):
        pa, pb, rate = end(a), end(b), r.choice(rates)
        for x, px, y, py in ((a, pa, b, pb), (b, pb, a, pa)):
            text[x].append(
                f'[{px}]\t"S-{guids[y]:016x}"[{py}]\t\t# "{named[y]}" lid {lids[y] * 8 + 7} {rate}'
            )
    host = switches
    for switch, own in enumerate(drawn.hosts):
        for _ in range(own):
            port, rate, lid = end(switch), r.choice(rates), lids[host] * 8
            text[switch].append(
                f'[{port}]\t"H-{guids[host]:016x}"[1]({guids[host] + 0x10000:x}) \t\t# "{named[host]}" lid {lid} {rate}'  # noqa: E501
            )
            text[host].append(
                f'[1]({guids[host] + 0x10000:x}) \t"S-{guids[switch]:016x}"[{port}]\t\t# lid {lid} lmc {lmc} '
                f'"{named[switch]}" lid {lids[switch] * 8 + 7} {rate}'
            )
            host += 1
    blocks = []
    for index, lines in enumerate(text):
        guid, name = guids[index], named[index]
        head = (
            f'switchguid=0x{guid:x}({guid:x})\nSwitch\t40 "S-{guid:016x}"\t\t# "{name}" base port 0 lid {lids[index] * 8 + 7} lmc 0'  # noqa: E501
            if index < switches
            else f'caguid=0x{guid:x}\nCa\t1 "H-{guid:016x}"\t\t# "{name}"'
        )
        blocks.append("\n".join(["vendid=0x2c9", "devid=0xd2f0", head, *lines]))
    r.shuffle(blocks)
    return "\n\n".join(blocks) + "\n"


@dataclass
class Case:
    """Files of one comparison, in a folder."""

    seed: int
    kind: str
    folder: Path
    how: str
    lanes: bool
    roots: str
    spoilt: list[str]

    def options(self) -> list[str]:
        """What both judges are given beside the fabric and the tables."""
        return [
            *(["--sl2vl", str(self.folder / "t.sl2vl")] if self.lanes else []),
            *["--traffic", str(self.folder / "t.csv"), "--certificate", str(self.folder / "c.json")],
            *(["--roots", self.roots] if self.roots else []),
        ]

    def files(self) -> list[str]:
        return [str(self.folder / "net.txt"), str(self.folder / "t.lfts")]


def case(seed: int, folder: Path) -> Case:
    """Draws a fabric, traffic and tables, and writes them into a folder."""
    r = random.Random(seed)
    kind = r.choice(("tree", "damaged", "damaged", "dragonfly", "graph", "graph"))
    drawn = {"damaged": damaged, "dragonfly": dragonfly, "graph": graph}.get(
        kind, lambda r: tree(r, r.choice((2, 3)))
    )(r)
    lmc = r.choice((0, 0, 0, 1))
    text = printed(drawn, r, lmc)
    (folder / "net.txt").write_text(text)
    fabric, roots = nl.Fabric.parse(text.encode(), label="net.txt"), ""
    if kind != "tree" and r.random() < (0.3 if kind == "damaged" else 0.7):
        roots = ",".join(r.sample(fabric.switch_names, r.choice((1, 1, 1, 2))))
        fabric = fabric.with_roots(roots.split(","))
    traffic, csv = flows(r, fabric)
    (folder / "t.csv").write_text(csv)
    routes, certificate, how = tables(r, kind, fabric, traffic, lmc)
    # Also tables that are not written for anybody to load.
    (folder / "t.lfts").write_bytes(routes.to_bytes())
    certificate.write(folder / "c.json")
    if routes.lanes is not None:
        (folder / "t.sl2vl").write_bytes(routes.lanes.sl2vl(how))
    spoilt = spoil(r, folder / "t.lfts") if r.random() < 0.35 else []
    return Case(seed, kind, folder, how, routes.lanes is not None, roots, spoilt)


def flows(r: random.Random, fabric: Any) -> tuple[Any, str]:
    """Random traffic, as netloom has it and as a CSV of numbers or names."""
    n, share = fabric.hosts, r.choice((0.2, 0.6, 1.0))
    sizes = r.choice(([1], [1, 2, 3, 5, 100], [0.1, 1e9, 12345.678]))
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b and r.random() < share] or [(0, n - 1)]
    sent = [(a, b, r.choice(sizes)) for a, b in pairs]
    names = fabric.host_names if r.random() < 0.5 else range(n)
    csv = "source,destination,bytes\n" + "".join(f"{names[a]},{names[b]},{size}\n" for a, b, size in sent)
    return nl.Traffic.from_triples(n, *map(list, zip(*sent, strict=True)), hosts_hash=fabric.hosts_hash), csv


def tables(r: random.Random, kind: str, fabric: Any, traffic: Any, lmc: int) -> tuple[Any, Any, str]:
    """Tables of a random engine or of the optimiser, and a certificate of a bound for the traffic."""
    engines = ["minhop", "updn", "ftree", "d-mod-k", "random"] + ["dla", "dla"] * (kind == "dragonfly")
    how = r.choice(["optimize"] * 4 + ["afar"] + engines)
    try:
        if how == "optimize":
            best = nl.optimize(fabric, traffic, work=20_000, seed=r.randrange(99))
            return best.routes, best.certificate, how
        if how == "afar":
            best = nl.afar(fabric, traffic, "updn")
            return best.routes, best.certificate, how
        routes = nl.route(how, fabric, seed=r.randrange(99), lmc=lmc)
    except nl.RoutingError:
        how = "minhop"
        routes = nl.route(how, fabric, lmc=lmc)
    return routes, nl.loads(fabric, routes, traffic, work=100).certificate, how


def spoil(r: random.Random, path: Path) -> list[str]:
    """Takes out, changes or exchanges a few entries of a file of tables."""
    lines = path.read_text().splitlines()
    told = []
    for _ in range(r.randint(1, 3)):
        # Not what a switch has for its own LID: there the judges differ.
        at = [index for index, line in enumerate(lines) if re.match(r"0x\w+ (?!000)", line)]
        one, other = r.sample(at, 2)
        way = r.choice(("out", "port", "exchange"))
        told.append(f"{way}: {lines[one]}")
        ports = [lines[index].split()[1] for index in (one, other)]
        if way == "out":
            del lines[one]
        elif way == "port":
            lines[one] = lines[one].replace(f" {ports[0]} ", f" {r.randint(1, 5):03} ", 1)
        else:
            for index, port, old in ((one, ports[1], ports[0]), (other, ports[0], ports[1])):
                lines[index] = lines[index].replace(f" {old} ", f" {port} ", 1)
    path.write_text("\n".join(lines) + "\n")
    return told


@dataclass
class Opinion:
    """What `contrib/verify.py` said."""

    code: int
    out: str
    err: str

    def count(self, what: str, noun: str) -> int:
        """A number of one of its lines, as of `hosts` `ways lost`."""
        found = re.search(rf"^{what}\b.*?(\d+) {noun}", self.out, re.MULTILINE | re.DOTALL)
        assert found, self.out
        return int(found[1])

    def figure(self, words: str) -> float:
        """A number with a fraction after or before some words."""
        found = re.search(words.replace("#", r"([-+.e\d]+|-?inf)"), self.out)
        assert found, self.out
        return float(found[1])


def opinion(*arguments: object) -> Opinion:
    """Runs the script in this process, on files as from the command line."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["verify.py", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            verify.main()
    except SystemExit as ended:
        return Opinion(int(ended.code or 0), out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("it always exits")
