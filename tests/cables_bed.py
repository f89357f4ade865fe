"""Runs on made-up fabrics whose fault is known by taking it away: a slow cable, bad routes, or none.

A run is drawn: a fabric (two or three levels, parallel cables, tapered or not), perhaps a cable that trained
down, perhaps an older leaf or adapter, which is no fault, a program and tables. Then it is simulated, with
the cable replaced, and with better routes: what helps is the fault. The generator knows nothing of the
rules. Everything follows from the seed.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import netloom as nl
from netloom import _core

KINDS = ("cable", "routes", "none")
RATES = ("4xDDR", "4xQDR", "4xFDR", "1xEDR", "2xEDR")
WINDOWS = 8


@dataclass
class Run:
    """A run that is drawn, and why it is slow."""

    kind: str
    scenario: Path
    """With `net.txt` beside it."""
    cable: frozenset[str]
    """Both ends of the cable that trained down, as `leaf00[5]`; none where none did."""
    milliseconds: float


def draw(seed: int, folder: Path) -> Run | None:
    """The run of this seed; None if its fault is not clear, or another."""
    rng = random.Random(f"cables {seed}")
    wanted = KINDS[seed % len(KINDS)]
    spec, hosts = _spec(rng, wanted)
    fabric = nl.Fabric.generate(spec)
    dump = fabric.to_bytes("ibnetdiscover").decode()
    if rng.random() < 0.3:
        dump = _older(rng, fabric, dump)
    whole, cable = dump, frozenset[str]()
    if wanted == "cable" or rng.random() < 0.3:
        dump, cable = _trained_down(rng, fabric, dump)
    routing = rng.choice(["minhop", "ftree", "d-mod-k", "updn"])
    if wanted == "routes":
        routing = rng.choice(["random", "minhop", "updn", "d-mod-k"])
    (folder / "net.txt").write_text(dump)
    (folder / "whole.txt").write_text(whole)
    path = folder / "run.toml"
    path.write_text(
        f'fabric = "net.txt"\nroutes = ["{routing}"]\nseed = {rng.randrange(1 << 30)}\n'
        f'[[job]]\nname = "job"\nranks = {hosts}\nallocation = "{rng.choice(["fragmented", "contiguous"])}"\n'
        f"program = {_program(rng, wanted, hosts)}\n"
    )
    took = _times(path, routing)
    replaced = _times(path, routing, 'fabric="whole.txt"') if cable else took
    better = [_times(path, word, 'fabric="whole.txt"') for word in ("optimized", "adaptive")]
    # The job's time, and its messages': jobs that do not wait for messages take as long as they did.
    of_cable, of_messages = (1 - after / before for before, after in zip(took, replaced, strict=True))
    of_routes = 1 - min(one[0] for one in better) / replaced[0]
    found = None
    if of_cable > 0.2 and of_routes < 0.2:
        found = "cable"
    elif of_routes > 0.3 and of_cable < 0.02:
        found = "routes"
    elif max(of_routes, of_messages) < 0.1 and of_cable < 0.02 and wanted == "none":
        found = "none"
    return None if found is None else Run(found, path, cable, took[0])


def _times(path: Path, routing: str, *overrides: str) -> tuple[float, float]:
    """Milliseconds that the job takes, and microseconds that its mean message does."""
    scenario = _core.Scenario.read(path, [f'routes=["{routing}"]', *overrides])
    job = _core.simulate(scenario, routing).result()["jobs"][0]
    return float(job["completion_ms"]), float(job["message_latency_us"]["mean"])


def _spec(rng: random.Random, wanted: str) -> tuple[str, int]:
    if rng.random() < 0.5:
        leaves, spines, times = rng.randint(3, 8), rng.randint(2, 4), rng.randint(1, 2)
        hosts = max(2, spines * times // (rng.choice([1, 1, 2]) if wanted == "cable" else 1))
        spec = f"two-level:leaves={leaves},hosts={hosts},spines={spines},cables={times}"
        return spec, hosts * leaves
    m, w = [rng.randint(2, 3) for _ in range(3)], [1, rng.randint(2, 3), rng.randint(2, 3)]
    m[0], m[1] = max(m[0], w[1]), max(m[1], w[2])
    return f"xgft:m={'x'.join(map(str, m))},w={'x'.join(map(str, w))}", m[0] * m[1] * m[2]


def _program(rng: random.Random, wanted: str, hosts: int) -> str:
    kib = rng.choice([16, 32, 64])
    if wanted == "none":
        load = rng.choice([0.05, 0.1])
        return rng.choice(
            [
                f'{{ kind = "uniform", bytes = {kib * 512}, messages = 40, load = {load} }}',
                f'{{ kind = "all-to-all", bytes = 1024, iterations = 8, compute_us = {3 * hosts} }}',
            ]
        )
    if wanted == "routes":
        pattern = rng.choice([f"permutation:seed={rng.randrange(99)}", f"bisection:seed={rng.randrange(99)}"])
        pattern = pattern.replace("bisection", "bisection-shuffle") if hosts % 2 == 0 else "shift:1"
        return f'{{ kind = "stream", pattern = "{pattern}", messages = 6, bytes = {kib * 4096} }}'
    return rng.choice(
        [
            f'{{ kind = "all-to-all", bytes = {kib * 512}, iterations = 2 }}',
            f'{{ kind = "all-to-all", bytes = {kib * 128}, iterations = 6, compute_us = {hosts} }}',
            f'{{ kind = "uniform", bytes = {kib * 512}, messages = 60, load = {rng.choice([0.3, 0.5])} }}',
        ]
    )


def _ends(fabric: nl.Fabric, link: int) -> list[tuple[str, int]]:
    """GUID and port of both ends."""
    table = fabric.link_table()
    guids = [*fabric.host_table()["guid"].tolist(), *fabric.switch_table()["guid"].tolist()]
    sides = ("source", "target")
    return [(f"{guids[table[side][link]]:016x}", int(table[f"{side}_port"][link])) for side in sides]


def _at(dump: str, ends: list[tuple[str, int]], rate: str) -> str:
    """The dump with the cable at these ends at another rate."""
    for guid, port in ends:
        record = re.compile(rf'^(?:Switch|Ca)\t.*"[SH]-{guid}".*\n(?:\[.*\n)*', re.MULTILINE)
        own = record.search(dump)
        assert own is not None
        text = re.sub(rf"^(\[{port}\].*) \S+$", rf"\g<1> {rate}", own[0], flags=re.MULTILINE)
        dump = dump.replace(own[0], text)
    return dump


def _trained_down(rng: random.Random, fabric: nl.Fabric, dump: str) -> tuple[str, frozenset[str]]:
    table = fabric.link_table()
    names = [*fabric.host_names, *fabric.switch_names]
    link = rng.randrange(fabric.links)
    while table["source"][link] < fabric.hosts or table["target"][link] < fabric.hosts:
        link = rng.randrange(fabric.links)
    sides = ("source", "target")
    ends = frozenset(f"{names[table[side][link]]}[{table[f'{side}_port'][link]}]" for side in sides)
    return _at(dump, _ends(fabric, link), rng.choice(RATES)), ends


def _older(rng: random.Random, fabric: nl.Fabric, dump: str) -> str:
    """All cables of a leaf at FDR, or one adapter."""
    table = fabric.link_table()
    leaf = int(rng.choice(fabric.host_table()["leaf"].tolist())) + fabric.hosts
    links = [link for link in range(fabric.links) if table["source"][link] == leaf]
    if rng.random() < 0.5:
        links = [link for link in links if table["target"][link] < fabric.hosts][:1]
    for link in links:
        dump = _at(dump, _ends(fabric, link), "4xFDR")
    return dump
