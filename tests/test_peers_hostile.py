"""Random fabrics with cables between switches of one level: what `check` says, and what `optimize` does.

The judge here is a third one, a walk and a search for cycles over the link table, as plain as can be. Tables
are ours, random shortest ways, and OpenSM's on ibsim where that is installed; as many as NETLOOM_TRIALS says.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict, deque

import numpy as np
import pytest

import netloom as nl
from netloom.live import Ibsim, OpenSM, missing_tools

NONE = 65535
TRAFFIC = ("all-to-all", "permutation:seed=3", "random:partners=2,seed=2", "shift:1")


def trials(usual):
    return range(int(os.environ.get("NETLOOM_TRIALS", str(usual))))


def drawn(draw):
    """A tree of two or three levels with some cables between equals."""
    leaves, spines, hosts = draw.randrange(3, 7), draw.randrange(1, 4), draw.randrange(1, 4)
    levels = [[f"leaf{k}" for k in range(leaves)], [f"spine{k}" for k in range(spines)]]
    edges = []
    for leaf in levels[0]:
        chosen = draw.sample(levels[1], draw.randrange(1, spines + 1))
        edges += [(leaf, spine) for spine in chosen for _ in range(draw.randrange(1, 3))]
        edges += [(leaf, f"{leaf}-h{k}") for k in range(hosts)]
    # Every spine is used, and the tree is one.
    edges += [(levels[0][k % leaves], spine) for k, spine in enumerate(levels[1])]
    edges += [(levels[0][0], spine) for spine in levels[1]]
    if draw.random() < 0.3:
        levels.append(["core0", "core1"])
        edges += [(spine, core) for spine in levels[1] for core in levels[2]]
    for _ in range(draw.randrange(1, 6)):
        level = draw.choice([level for level in levels if len(level) > 1])
        edges.append(tuple(draw.sample(level, 2)))
    made = nl.Fabric.from_edges(edges, hosts=[b for _, b in edges if "-h" in b])
    # With LIDs, GUIDs and ports as a tool shows them.
    return nl.Fabric.parse(made.to_bytes("ibnetdiscover"), label="drawn")


class Judge:
    """What is true of tables, found by walking."""

    def __init__(self, fabric, table):
        links = fabric.link_table()
        self.hosts, self.switches = fabric.hosts, fabric.switches
        self.next = {
            (int(s), int(p)): (int(t), number)
            for number, (s, p, t) in enumerate(
                zip(links["source"], links["source_port"], links["target"], strict=True)
            )
        }
        self.leaf = [self.next[host, int(links["source_port"][host])][0] for host in range(self.hosts)]
        near = defaultdict(set)
        for (s, _), (t, _) in self.next.items():
            if s >= self.hosts and t >= self.hosts:
                near[s].add(t)
        self.near = near
        self.reached, self.shortest = True, True
        waits = defaultdict(set)
        for dest in range(table.shape[1]):
            at = self.leaf[dest] if dest < self.hosts else dest
            hops = self.distances(at)
            for start in set(self.leaf):
                self.walk(table, dest, start, hops, waits)
        self.loops = cyclic(waits)

    def distances(self, to):
        hops, queue = {to: 0}, deque([to])
        while queue:
            s = queue.popleft()
            for t in self.near[s]:
                if t not in hops:
                    hops[t] = hops[s] + 1
                    queue.append(t)
        return hops

    def walk(self, table, dest, start, hops, waits):
        s, came, count = start, None, 0
        while True:
            port = int(table[s - self.hosts, dest])
            if port == 0 and s == dest:
                break
            step = self.next.get((s, port))
            if step is None or count > self.switches:
                # Of switches' own addresses nothing is asked here.
                self.reached &= dest >= self.hosts
                return
            t, link = step
            if came is not None:
                waits[came].add(link)
            if t == dest and dest < self.hosts:
                break
            s, came, count = t, link, count + 1
        if dest < self.hosts:
            self.shortest &= count == hops[start]


def cyclic(waits):
    """Whether a graph has a cycle: by taking away what waits for nothing."""
    waits = {link: set(others) for link, others in waits.items()}
    while True:
        done = [link for link, others in waits.items() if not others & waits.keys()]
        if not done:
            return bool(waits)
        for link in done:
            del waits[link]


def random_shortest(fabric, draw):
    """A shortest way for every switch and host, at random."""
    empty = np.full((fabric.switches, fabric.hosts + fabric.switches), NONE, dtype=np.uint16)
    judge = Judge(fabric, empty[:, :0])
    ports = defaultdict(list)
    for (s, p), (t, _) in judge.next.items():
        ports[s, t].append(p)
    for dest in range(empty.shape[1]):
        home = judge.leaf[dest] if dest < fabric.hosts else dest
        hops = judge.distances(home)
        for s in range(fabric.hosts, fabric.hosts + fabric.switches):
            if s == home:
                port = ports[s, dest][0] if dest < fabric.hosts else 0
            else:
                nearer = sorted(t for t in judge.near[s] if hops[t] < hops[s])
                port = draw.choice(sorted(ports[s, draw.choice(nearer)]))
            empty[s - fabric.hosts, dest] = port
    return nl.Routes.from_table(fabric, empty)


def judged(fabric, routes):
    """The third judge's word, which `check` must not contradict."""
    true, report = Judge(fabric, routes.table()), nl.check(fabric, routes)
    assert true.loops == bool(report.credit_loops)
    assert true.reached == (report.unreachable_hosts == 0)
    if true.shortest and true.reached and not true.loops:
        assert report.up_down_violations == report.non_minimal_pairs == report.detours == 0
        assert [one for one in report.findings if one["class"] == "hosts"] == []
    return true


def optimised(netloom, fabric, routes, true, draw):
    """Has today's routes optimised: never worse than they were, if they were safe."""
    traffic = draw.choice(TRAFFIC)
    fabric.write(netloom.folder / "net.txt", format="ibnetdiscover")
    routes.write(netloom.folder / "today.lfts")
    options = draw.choice(
        ((), ("--max-changes", "2"), ("--depth", "0"), ("--objective", "worst"), ("--hose",))
    )
    arguments = ("net.txt", traffic, "--from", "today.lfts", *options, "--work", 2000, "-o", "new.lfts")
    result = netloom.result("optimize", *arguments)
    new = nl.Routes.read(netloom.folder / "new.lfts", fabric)
    assert not Judge(fabric, new.table()).loops, arguments
    asked = nl.Traffic.read(traffic, fabric)
    if "--hose" in options:
        sums = nl.Hose.of(asked)
        was, now = (nl.hose_loads(fabric, r, sums).max for r in (routes, new))
    else:
        was, now = (nl.loads(fabric, r, asked).max for r in (routes, new))
    assert result["background"]["max_load"] == pytest.approx(was), arguments
    if true.reached and not true.loops:
        assert now <= was * (1 + 1e-9), arguments


@pytest.mark.parametrize("seed", trials(6))
def test_hostile_cables_between_equals(netloom, seed):
    draw = random.Random(seed)
    fabric = drawn(draw)
    engine = draw.choice(("minhop", "updn", "random", "shortest"))
    routes = random_shortest(fabric, draw) if engine == "shortest" else nl.route(engine, fabric, seed=seed)
    optimised(netloom, fabric, routes, judged(fabric, routes), draw)


@pytest.mark.opensm
@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}")
@pytest.mark.parametrize("seed", trials(2))
def test_hostile_opensms_tables_over_cables_between_equals(netloom, seed):
    draw = random.Random(f"opensm {seed}")
    net = netloom.folder / "net.txt"
    drawn(draw).write(net, format="ibnetdiscover")
    fabric = nl.Fabric.read(net)
    engine = ("minhop", "updn")[seed % 2]
    with Ibsim(net, host=fabric.host_names[0]) as sim, OpenSM(sim, engine=engine):
        tables, found = sim.forwarding_tables(), nl.Fabric.parse(sim.discover())
    routes = nl.Routes.parse(tables, found)
    optimised(netloom, found, routes, judged(found, routes), draw)
