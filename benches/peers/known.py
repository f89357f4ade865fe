"""The peers that are known: how each is built, called and read.

A packet-hop is a packet over a link, hosts' links included. Peers do not print them, so they are counted as
packets delivered times the links of their ways, by how far apart the two hosts are: 2, 4 or 6 links.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measuring import Failed

HERE = Path(__file__).resolve().parent
MTU = 4096
MESSAGE_BYTES = 2 << 20
LEAF, POD, HOSTS = 8, 64, 1024
"""Hosts of a leaf, of a pod and of csg-htsim's own tree with 1,024 hosts."""


@dataclass(frozen=True)
class Case:
    """The same case for netloom and for a peer."""

    name: str
    peer: str
    scenario: str
    settings: tuple[str, ...]
    """Keys of the scenario with other values."""
    routing: str
    words: tuple[str, ...]
    """What a peer's command line has besides."""


@dataclass(frozen=True)
class Peer:
    """How a peer is built from its folder, called, and read."""

    targets: list[list[str]]
    program: str
    command: Callable[[Path, Path, Case], list[str]]
    """The command from the program, a folder for its files and a case."""
    hops: Callable[[str, Path, Case], int]
    """Packet-hops from what it printed, the folder of its files and the case."""
    good: tuple[int, ...] = (0,)
    """Its exit codes after a run that ended well."""


def booksim2_command(program: Path, folder: Path, case: Case) -> list[str]:
    """BookSim2 reads a file and then `key=value` words."""
    return [str(program), str(HERE / "booksim2.txt"), *case.words]


def booksim2_hops(output: str, folder: Path, case: Case) -> int:
    """Packets made by all hosts while packets are made, all of which are delivered, times links.

    `Hops average` counts switches, so a way has one link more. The load is the chance that a host makes a
    packet in a cycle: the count is right within 0.5 %.
    """
    settings = dict(re.findall(r"^(\w+)\s*=\s*([\w.-]+);", (HERE / "booksim2.txt").read_text(), re.MULTILINE))
    settings |= dict(word.split("=", 1) for word in case.words)
    switches = re.search(r"^Hops average = ([\d.]+)", output, re.MULTILINE)
    if switches is None or not re.search(r"^Time taken is \d+ cycles", output, re.MULTILINE):
        raise Failed("booksim: its run did not end: no `Time taken` or no `Hops average`")
    hosts = int(settings["k"]) ** int(settings["n"])
    cycles = int(settings["sample_period"]) * (int(settings["warmup_periods"]) + 3)
    packets = float(settings["injection_rate"]) * hosts * cycles
    return round(packets * (float(switches[1]) + 1))


def partners(hosts: int, seed: int) -> list[int]:
    """A random permutation in which nobody is its own partner: one cycle through all."""
    order = list(range(hosts))
    random.Random(seed).shuffle(order)
    found = [0] * hosts
    for place, host in enumerate(order):
        found[host] = order[place - 1]
    return found


def links(source: int, receiver: int) -> int:
    """Links of the shortest ways between two hosts of csg-htsim's tree: 2, 4 or 6."""
    if source // LEAF == receiver // LEAF:
        return 2
    return 4 if source // POD == receiver // POD else 6


def htsim_command(program: Path, folder: Path, case: Case) -> list[str]:
    """csg-htsim reads a connection matrix, which is written here, and writes a log that nobody reads."""
    matrix = folder / "permutation.cm"
    lines = [f"Nodes {HOSTS}", f"Connections {HOSTS}"]
    for source, receiver in enumerate(partners(HOSTS, 1)):
        lines.append(f"{source}->{receiver} id {source + 1} start 0 size {MESSAGE_BYTES}")
    matrix.write_text("\n".join(lines) + "\n")
    # Queues that hold all that arrives before a pause takes effect; `-paths` is asked for, and not used.
    words = f"-nodes {HOSTS} -conns {HOSTS} -tiers 3 -linkspeed 100000 -mtu {MTU} -q 1000 -paths 64".split()
    words += ["-end", "20000", "-seed", "1", "-tm", str(matrix), "-o", str(folder / "log.dat")]
    return [str(program), *words, *case.words]


def htsim_hops(output: str, folder: Path, case: Case) -> int:
    """Packets of all messages times links; acknowledgements and packets sent again do not count."""
    ended = re.findall(r"^Flow .* finished at \S+ total bytes (\d+)", output, re.MULTILINE)
    if not re.search(r"^\.*Done$", output, re.MULTILINE):
        raise Failed("htsim_roce: its run did not end: no `Done`")
    if len(ended) != HOSTS or any(int(size) != MESSAGE_BYTES for size in ended):
        raise Failed(f"htsim_roce: {len(ended)} of {HOSTS} messages arrived")
    total = sum(links(source, receiver) for source, receiver in enumerate(partners(HOSTS, 1)))
    return MESSAGE_BYTES // MTU * total


PEERS = {
    # BookSim2's main returns -1 after a stable run, 0 after one that it gave up.
    "booksim2": Peer([["-C", "src"]], "src/booksim", booksim2_command, booksim2_hops, good=(255,)),
    "csg-htsim": Peer(
        [["-C", "sim", "libhtsim.a"], ["-C", "sim/datacenter", "htsim_roce"]],
        "sim/datacenter/htsim_roce",
        htsim_command,
        htsim_hops,
    ),
}


def uniform(load: float, theirs: str, routing: str) -> Case:
    """Messages of one packet at a load; BookSim2's `nca` draws a way up for every packet."""
    name = f"uniform at {load}, one packet a message: {theirs} / {routing}"
    words = (f"routing_function={theirs}", f"injection_rate={load}")
    return Case(name, "booksim2", "uniform.toml", (f"job.1.program.load={load}",), routing, words)


def permutation(theirs: str, routing: str) -> Case:
    """2 MiB a host, once; queues without loss on both sides."""
    name = f"permutation, 2 MiB a host: RoCE {theirs} / {routing}"
    return Case(name, "csg-htsim", "permutation.toml", (), routing, ("-strat", theirs))


CASES = [
    uniform(0.4, "nca", "d-mod-k"),
    uniform(0.4, "nca", "random-per-packet"),
    uniform(0.4, "anca", "adaptive"),
    uniform(0.8, "nca", "d-mod-k"),
    uniform(0.8, "anca", "adaptive"),
    permutation("ecmp_host", "d-mod-k"),
    permutation("ecmp_ar", "adaptive"),
]
