#!/usr/bin/env python3
"""A second opinion on forwarding tables. Do not trust netloom, run this: plain Python that shares nothing with it.

It follows every pair of hosts, by every LID, entry by entry; looks for channels (link, lane) that wait for each other
in a ring; adds up the load of every link; and recomputes the bound of a certificate from its prices of links: traffic
times the price of its cheapest legal way, over capacity times price. No legal routes have all loads below that.
Legal ways are shortest up*/down* ways, one direction a switch, found hop by hop from the destination: down to what goes
down, else up. Where this leaves a switch out, what has a way down goes down. Up is nearer to the roots, or farther from
the leaves of a tree where no roots are stated; of equally high switches that of the lower GUID is above.
If any ways at all cost as much, any routes are bound. Exit code: 0 all holds, 1 not so, 2 usage, 3 bad input."""

import argparse
import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from math import inf
from operator import gt, lt
from pathlib import Path

GBPS = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 13.64, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
SHORTEST = "shortest"  # in place of heights: the legal ways of a certificate are those with the fewest links
SLACK = 1 + 1e-9  # for sums of floating-point numbers
NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"[SHR]-([\da-f]+)"\s*#\s*"(.*)"[^"]*$')
PORT = re.compile(r'\[(\d+)\](?:\[[^]]*\])?(?:\(([\da-f]+)\))?\s+"[SHR]-([\da-f]+)"\[(\d+)\][^#]*#(.*)$')
TABLE = r"Unicast lids .*guid 0x([\da-f]+)", r"0x([\da-f]+)\s+(\d+)\s*[:#].*portguid 0x([\da-f]+)", "`0x2 8 # portguid 0x1`"
LANES = r"(?:Switch|Channel Adapter) 0x([\da-f]+)", r"(\d+)\s+(\d+)\s*:((?:\s+\d+){16})$", "two ports, 16 lanes"


def refuse(place, expected):
    """Ends with exit code 3: where the input is bad, and what was expected."""
    print(f"verify.py: error: {place}: expected {expected}", file=sys.stderr)
    sys.exit(3)


def lines(path):
    """The lines of a file, each with its place; none of no file."""
    try:
        data = Path(path).read_bytes() if path else b""
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    except (OSError, EOFError, ValueError) as error:
        refuse(path, f"text, or text packed by gzip: {error}")
    return [(f"{path}:{number}", line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]


def rows(path, columns, *converters):
    """The rows of a CSV without its head and comments, converted."""
    for place, line in lines(path):
        if line and not re.match("#|(source|src|from|source_lid),", line):
            try:
                yield [convert(field) for convert, field in zip(converters, line.split(",") + [""] * 2, strict=False)]
            except (LookupError, ValueError):
                refuse(place, f"{columns}, found {line!r}")


def blocks(path, head, row, expected):
    """The rows of a dump, each with its place and the GUID of the node that it is of."""
    guid = None
    for place, line in lines(path):
        if found := re.match(head, line):
            guid = int(found[1], 16)
        elif found := re.match(row, line):
            yield place, guid, *found.groups()
        elif re.match(r"0x|Unicast|Switch|\d+ +\d+ *:", line):
            refuse(place, f"{expected}, found {line!r}")


def number(value):
    return float(value) if 0 <= float(value) < inf else {}[value]


class Fabric:
    """Nodes are GUIDs. An end is (node, port), with port 0 of a switch itself; a link is the end that sends."""

    def __init__(self, path):
        self.name, self.peer, self.out, self.end_of_guid, speed, node = {}, {}, {}, {}, {}, None
        for place, line in lines(path):
            if found := NODE.match(line):
                node, is_host = int(found[2], 16), found[1] == "Ca" and "Aggregation Node" not in found[3]
                self.name[node] = found[3]
                if found[1] == "Switch":
                    self.out[node], self.end_of_guid[node] = [], (node, 0)
            elif found := PORT.match(line) if node else None:
                link, back = (node, int(found[1])), (int(found[3], 16), int(found[4]))
                if (self.peer.setdefault(link, back), self.peer.setdefault(back, link)) != (back, link):
                    refuse(place, f"one cable in a port, found another in {line!r}")
                rate = re.search(r" (\d+)x(\w+)$", found[5])
                speed[link] = speed[back] = int(rate[1]) * GBPS.get(rate[2], 0) if rate else 0
                if is_host and found[2]:
                    self.end_of_guid[int(found[2], 16)] = link
            elif re.match(r"\[|Switch\b|Ca\b|Rt\b", line):
                refuse(place, f"nodes and ports as ibnetdiscover prints them, found {line!r}")
        words = lambda end: re.findall(r"\d+|\D+", self.name[end[0]])  # node2 comes before node10
        natural = lambda end: ([(not word.isdigit(), word.zfill(20)) for word in words(end)], end)
        self.hosts = sorted((end for end in self.end_of_guid.values() if end[1]), key=natural)
        self.at = {end: self.peer[end][0] if end[1] else end[0] for end in self.end_of_guid.values()}  # its switch
        usual = Counter(filter(None, speed.values())).most_common(1)
        if not usual or not self.hosts or set(self.at.values()) - self.out.keys() or self.peer.keys() - speed:
            refuse(path, "hosts on switches as ibnetdiscover prints them")
        self.capacity = {link: (speed[link] or usual[0][0]) / max(speed.values()) for link in speed}
        for link in sorted(link for link in self.peer if {link[0], self.peer[link][0]} <= self.out.keys()):
            self.out[link[0]].append(link)  # to other switches

    def host(self, text):
        """The host of a number, a name or a GUID."""
        same = lambda host: text in (self.name[host[0]], f"0x{host[0]:016x}")
        (host,) = [self.hosts[int(text)]] if text.isdigit() else filter(same, self.hosts)
        return host

    def show(self, link):
        return " -> ".join(f"{self.name[node]}[{port}]" for node, port in (link, self.peer[link]))

    def cheapest(self, switches, price, ways=None):
        """Of every switch the price of its cheapest way to one of some: over links of `ways`, or over any."""
        cost, turn = dict.fromkeys(switches, 0), list(switches)
        for switch in turn:
            for link in (self.peer[back] for back in self.out[switch]):
                total = cost[switch] + price(link)
                if total < cost.get(link[0], inf) and (ways is None or link in ways.get(link[0], ())):
                    cost[link[0]] = total
                    turn.append(link[0])
        return cost

    def legal(self, height, leaf):
        """Of every switch its links on legal ways to a leaf, found hop by hop from there."""
        if height == SHORTEST:
            hops = self.cheapest([leaf], lambda link: 1)
            return {switch: [link for link in self.out[switch] if hops[self.peer[link][0]] < hops[switch]] for switch in hops}
        into, above = lambda switch: (self.peer[back] for back in self.out[switch]), [leaf]
        for switch in above:
            above += {link[0] for link in into(switch) if height[link[0]] > height[switch]}.difference(above)
        for bound in (), above:  # where one that has a way down is left out, all of these go down
            down, ways, last = {leaf}, {leaf: []}, [leaf]
            while last:
                last, before = [], last
                for leads, switches in (gt, [switch for switch in before if switch in down]), (lt, before):
                    found = defaultdict(list)
                    for switch, link in ((switch, link) for switch in switches for link in into(switch)):
                        if leads(height[link[0]], height[switch]) and link[0] not in ways and (
                                leads is gt or link[0] not in bound):
                            found[link[0]].append(link)
                    ways.update(found)
                    last += found
                    down.update(found if leads is gt else ())
            if ways.keys() >= set(above):
                return ways

    def heights(self, roots):
        """How high every switch is; None where no roots are stated and the levels of a tree do not join all hosts."""
        hops = lambda switches: self.cheapest(switches, lambda link: 1)
        if roots:
            return {switch: (-far, -switch) for switch, far in hops(roots).items()}
        leaves = Counter(self.at[host] for host in self.hosts)
        large = [leaf for leaf in leaves if 2 * leaves[leaf] > max(leaves.values())]
        far = {leaf: max(cost[other] for other in large) for leaf in leaves for cost in [hops([leaf])]}
        usual = sorted(far[self.at[host]] for host in self.hosts)[len(self.hosts) // 2]
        level = hops([leaf for leaf in leaves if far[leaf] >= usual])
        height = {switch: (level[switch], -switch) for switch in level}
        lone = sum(len(leaves.keys() - self.legal(level, leaf)) for leaf in leaves)  # without cables of equal levels
        tree = 2 * lone < len(leaves) ** 2 and not any(leaves.keys() - self.legal(height, leaf) for leaf in leaves)
        return height if tree else None

    def follow(self, tables, switch, lid, end):
        """The links that a packet crosses from a switch on, and why it does not come to its end (None: it does)."""
        crossed = []
        while (link := (switch, tables[switch].get(lid))) not in crossed:
            there = self.peer.get(link) if link[1] else link
            if link[1] is None or not there:
                return crossed, f"{self.name[switch]} has no " + (f"cable in port {link[1]}" if link[1] else "entry")
            crossed += [link] if link[1] else []
            if there == link or there[0] not in tables:
                return crossed, None if there == end else f"it ends at {self.name[there[0]]}"
            switch = there[0]
        return [*crossed, link], f"it goes in a circle over {self.show(link)}"

    def ring(self, lanes, packets, before):
        """Channels, each a link and a lane, of which each waits for the next; packets given `before` count too."""
        for crossed, level in packets:
            came = held = 0
            for link in crossed:
                row = lanes.get((link[0], came, link[1]), None if lanes and came else [0] * 16)
                if row is None:
                    refuse("--sl2vl", f"a row of {self.name[link[0]]} for ports {came} and {link[1]}")
                before[link, row[level]].update([held] if came else [])
                came, held = self.peer[link][1], (link, row[level])
        try:
            return TopologicalSorter(before).prepare() or []
        except CycleError as error:
            return error.args[1][1:]

    def bound(self, height, prices, flows):
        """What prices prove of the largest load of legal routes and of any, and how many flows take ways not legal."""
        price, paid, outside = lambda link: prices.get(link, 0), [0, 0], 0
        for leaf in sorted({self.at[to] for _, to, _, _ in flows}):
            ways = self.legal(height, leaf) if height else {}
            here = [flow for flow in flows if self.at[flow[1]] == leaf]
            for kind, cost in enumerate((self.cheapest([leaf], price, ways), self.cheapest([leaf], price))):
                paid[kind] += sum(size * (price(source) + cost.get(self.at[source], -inf) + price(self.peer[to]))
                                  for source, to, size, _ in here)
            outside += sum(any(link not in ways.get(link[0], ()) for link in crossed[1:-1]) for *_, crossed in here)
        return *(total / sum(prices[link] * self.capacity[link] for link in prices) for total in paid), outside


def read_tables(path, fabric):
    """Of every switch the port by LID, and of every end its LIDs; as OpenSM does, by the port GUID beside a LID."""
    tables, owner, lids = {switch: {} for switch in fabric.out}, {}, defaultdict(list)
    for place, switch, lid, port, guid in blocks(path, *TABLE):
        lid, port, end = int(lid, 16), int(port), fabric.end_of_guid.get(int(guid, 16))
        table = tables.get(switch)
        if table is None or end and (owner.setdefault(lid, end), table.setdefault(lid, port)) != (end, port):
            refuse(place, "a switch of the fabric, with one port for a LID, and one owner of the LID in all tables")
    for lid in sorted(owner):
        lids[owner[lid]].append(lid)
    most = max(len(lids[host]) for host in fabric.hosts)
    for end in fabric.end_of_guid.values():  # LID 0 is nobody's: no table has an entry for it
        lids[end] += [0] * ((most if end[1] else 1) - len(lids[end]))
    return tables, lids


def read_certificate(path, fabric):
    """The claim, the prices of links (none if it is no dual of all routes), the roots, and ranks if stated."""
    try:
        proof = json.loads("\n".join(line for _, line in lines(path)))  # one, of "netloom.certificate/1"
        dual, claim = proof["kind"] == "dual" and not proof.get("frozen"), number(proof["claim"])
        weights = [((int(row["guid"], 16), row["from_port"]), row["weight"]) for row in proof.get("weights", ())]
        prices = {link: number(weight) for link, weight in weights} if dual else {}
        roots = [int(root, 16) for root in proof.get("roots", ())]
        order = {int(row["guid"], 16): (number(row["rank"]),) for row in proof.get("order", ())}
        if proof.get("ways", SHORTEST) != SHORTEST:
            raise ValueError(proof["ways"])
        foreign = (set(roots) | order.keys()) - fabric.out.keys() or prices.keys() - fabric.peer
        if foreign or dual and not (any(prices.values()) and len(prices) == len(weights)):
            raise ValueError("not of this fabric" if foreign else "weights")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        refuse(f"{path}:{getattr(error, 'lineno', 1)}", "one certificate as JSON: kind; claim; weights from 0 on, not "
               f"all 0, of ends of cables by guid and from_port, each once; roots and ranks by GUID: {error!r}")
    return claim, prices, roots, SHORTEST if "ways" in proof else order and {switch: order.get(switch, (-1,)) for switch in fabric.out}


def verify(options):
    """Prints what holds and what does not, and returns what does not."""
    fabric, wrong, flows, load, before = Fabric(options.net), [], [], Counter(), defaultdict(set)
    tables, lids = read_tables(options.tables, fabric)
    hosts, switches, name, at = fabric.hosts, [(node, 0) for node in tables], lambda end: fabric.name[end[0]], fabric.at
    lanes = {(end[0], int(came), int(out) or end[1]): [*map(int, row.split())] for _, guid, came, out, row
             in blocks(options.sl2vl, *LANES) for end in [fabric.end_of_guid.get(guid, (0, 0))]}
    levels = {tuple(row[level] for row in lanes.values()): level for level in range(16)}.values()  # those that differ
    level_of = {(source, to): [level] for source, to, level in rows(
        options.sl, "two LIDs and a level below 16", int, int, lambda text: range(16).index(int(text)))}
    proof = options.certificate
    claim, prices, roots, order = read_certificate(proof, fabric) if proof else (0, {}, [], {})
    named = {fabric.name[node]: node for node in tables}
    if options.roots and not {*options.roots.split(",")} <= named.keys():
        refuse("--roots", "names of switches, with commas")
    height = order or fabric.heights(roots or [named[root] for root in options.roots.split(",") if root])
    ways = {(switch, end, lid): fabric.follow(tables, switch, lid, end)
            for end in hosts + switches for lid in lids[end] for switch in tables}

    def say(what, text, faults=()):
        print(f"{what:<12}{text}", *faults[:3], *["…"] * (len(faults) > 3), sep="\n    ")
        wrong.extend(faults)
    def packets(sources, ends):
        for source, end, lid in ((a, b, lid) for a in sources for b in ends if a != b for lid in lids[b]):
            crossed, pair = [source][: source[1]] + ways[at[source], end, lid][0], (lids[source][0], lids[end][0])
            if level_of and pair not in level_of and source[1] and end[1]:
                refuse(options.sl, f"a level for every pair of hosts, found none for LIDs {pair}")
            yield from ((crossed, level) for level in level_of.get(pair, [] if level_of else levels))

    for what, sources, ends in ("hosts", hosts, hosts), ("management", hosts, switches), ("replies", switches, hosts):
        lost = [(source, end, fault) for (switch, end, _), (_, fault) in ways.items() if fault and end in ends
                for source in sources if source != end and at[source] == switch]
        must = {end: fabric.legal(height, at[end]) if height and what != "hosts" else tables for _, end, _ in lost}
        two = [end for some in (sources, sources[::-1]) for end in {at[end]: end for end in some}.values()]
        found = fabric.ring(lanes, packets(sources if lanes else two, ends), before)  # two of a switch stand for all
        say(what, f"{len(lost)} ways lost, {len(found)} channels wait for each other", [
            f"{name(source)} to {name(end)}: {fault}" for source, end, fault in lost if at[source] in must[end]
        ] + [", ".join(f"{fabric.show(link)} on lane {lane}" for link, lane in found)] * bool(found))
    for source, end, size in rows(options.traffic, "source,destination,bytes", fabric.host, fabric.host, number):
        if source != end and size:
            flows.append((source, end, size, [source, *ways[at[source], end, lids[end][0]][0]]))
            load.update({link: size / fabric.capacity[link] for link in flows[-1][3]})
    most = max(load.values(), default=0)
    if load:
        say("load", f"{most:.17g} at most: {fabric.show(max(load, key=load.get))}",
            [] if options.load is None or most / SLACK <= options.load <= most * SLACK else ["not as is stated"])
    if options.certificate:
        of_legal, of_any, outside = fabric.bound(height, prices, flows) if prices else (inf, inf, 0)
        of, outside = ("any routes", 0) if claim <= of_any * SLACK else (
            f"shortest {'' if height == SHORTEST else 'up*/down* '}ways", outside)
        faults = ["the largest load is below the claim"] if not outside and most * SLACK < claim else []
        if not prices or claim > max(of_legal, of_any) * SLACK:
            faults.append("its argument is not judged here: only duals without frozen entries are" if not prices else
                          "the prices prove less than is claimed" if height else
                          "its order of switches is not stated: say with --roots what is on top")
        say("certificate", f"claims {claim:.17g}, proven {max(of_legal, of_any):.17g} of {of}; these tables "
            f"{'meet it' if most <= claim * SLACK else 'carry more'}; {outside} of {len(flows)} flows take other ways, "
            "of which it says nothing", faults)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", help="what ibnetdiscover printed; all files may be packed by gzip")
    parser.add_argument("tables", help="OpenSM's dump_lfts or dump_fts, or the file of `netloom optimize -o`")
    parser.add_argument("--sl2vl", help="OpenSM's opensm-sl2vl.dump")
    parser.add_argument("--sl", help="CSV source_lid,destination_lid,sl; else a packet may have any level")
    parser.add_argument("--traffic", help="CSV source,destination,bytes; hosts by name, GUID, or number from 0")
    parser.add_argument("--load", type=float, help="the largest load that somebody states")
    parser.add_argument("--certificate", help="the file of `netloom optimize --write-certificate`")
    parser.add_argument("--roots", default="", help="names of switches on top, with commas, if no certificate has them")
    options = parser.parse_args()
    if not options.traffic and (options.certificate or options.load):
        parser.error("a certificate or a load needs --traffic")
    sys.exit(1 if verify(options) else 0)


if __name__ == "__main__":
    main()
