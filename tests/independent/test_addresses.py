"""Several addresses a host: an own reader follows tables and paths by pair, and counts every link's bytes."""

from __future__ import annotations

import collections
import csv
import re

import netloom as nl

FABRIC = "two-level:leaves=3,hosts=3,spines=2"
WISHED = "0,3,1000\n1,3,1000\n1,4,1000\n2,4,1000\n0,6,1000\n2,6,1000\n"
BYTES = 10_000


def test_every_link_carries_what_its_pairs_addresses_lead_over_it(netloom, write):
    write("wished.csv", f"source,destination,bytes\n{WISHED}")
    netloom.ok(
        "optimize", FABRIC, "wished.csv", "--lmc", 1, "--write-paths", "pairs.csv", "-o", "opt.lfts", "-q"
    )
    tables, owner = collections.defaultdict(dict), {}
    fabric = nl.Fabric.generate(FABRIC)
    numbers = {name: n for n, name in enumerate([*fabric.host_names, *fabric.switch_names])}
    switch = None
    for line in (netloom.folder / "opt.lfts").read_text().splitlines():
        if found := re.match(r"Unicast lids .*\('([^']+)'\)", line):
            switch = numbers[found[1]]
        elif found := re.match(r"(0x[0-9a-f]+) (\d+) .*'([^']+)'", line):
            tables[switch][int(found[1], 16)] = int(found[2])
            owner[int(found[1], 16)] = found[3]
    first = {name: min(lid for lid, of in owner.items() if of == name) for name in set(owner.values())}
    rows = csv.reader(line for line in (netloom.folder / "pairs.csv").open() if not line.startswith("#"))
    _, *rows = rows
    beyond = {(row[0], row[1]): int(row[2]) for row in rows}
    assert any(beyond.values())
    links = fabric.link_table()
    out = {
        (int(node), int(port)): link
        for link, (node, port) in enumerate(zip(links["source"], links["source_port"], strict=True))
    }
    expected = [0] * len(links["source"])
    names = fabric.host_names
    for sender in range(len(names)):
        for receiver in set(range(len(names))) - {sender}:
            lid = first[names[receiver]] + beyond.get((names[sender], names[receiver]), 0)
            node, port = sender, 1
            while node != receiver:
                link = out[node, port]
                expected[link] += BYTES + 26 * -(-BYTES // 4096)
                node = int(links["target"][link])
                port = tables[node].get(lid)
    write("s.toml", f'fabric = "{FABRIC}"\nroutes = ["opt.lfts+pairs.csv"]\n[[job]]\n'
                    f'program = {{ kind = "all-to-all", bytes = {BYTES} }}\n')  # fmt: skip
    counters = nl.simulate(nl.Scenario.read(netloom.folder / "s.toml")).counters()
    carried = [0] * len(expected)
    for link, sent in zip(counters["link"].tolist(), counters["xmit_bytes"].tolist(), strict=True):
        carried[link] += sent
    # (Long messages ask first: 64 bytes there and back, a header each. These are short.)
    assert carried == expected
