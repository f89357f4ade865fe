"""Made-up fabrics with the counters of two readings, healthy or with one bad cable, for `netloom health`.

Healthy is not spotless: links of an older switch are slower, service nodes have older adapters, ports have
counted errors for years and a few symbol errors in the last hour, machines start anew, packets that were
spoilt elsewhere pass through, some packets are dropped. Everything follows from the seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import netloom as nl

KINDS = ("slow", "narrow", "symbol errors", "flapping")
_HOUR = 3600
_OTHER_RATES = {"slow": ("4xQDR", "4xDDR", "4xFDR"), "narrow": ("1xEDR", "2xEDR")}
_ERRORS = (
    "SymbolErrorCounter",
    "LinkErrorRecoveryCounter",
    "LinkDownedCounter",
    "PortRcvErrors",
    "PortRcvRemotePhysicalErrors",
    "PortXmitDiscards",
    "VL15Dropped",
)
_FULL = {"LinkErrorRecoveryCounter": 255, "LinkDownedCounter": 255}

End = tuple[int, int]
"""GUID and port."""


@dataclass
class Case:
    """A fabric and its readings."""

    dump: bytes
    before: bytes
    after: bytes
    bad: frozenset[End] | None
    """Both ends of the cable that is bad."""


def _spec(rng: random.Random) -> str:
    if rng.random() < 0.5:
        leaves, hosts, spines = rng.randint(3, 12), rng.randint(2, 12), rng.randint(2, 6)
        return f"two-level:leaves={leaves},hosts={hosts},spines={spines}"
    m = [rng.randint(2, 4) for _ in range(3)]
    w = [1, rng.randint(2, 3), rng.randint(2, 3)]
    return f"xgft:m={'x'.join(map(str, m))},w={'x'.join(map(str, w))}"


def case(seed: int, kind: str | None) -> Case:
    """A healthy fabric, or one with a cable that is bad in the way of `kind`."""
    rng = random.Random(f"{seed} {kind}")
    fabric = nl.Fabric.generate(_spec(rng))
    host, switch, table = fabric.host_table(), fabric.switch_table(), fabric.link_table()
    guids = [*host["guid"].tolist(), *switch["guid"].tolist()]
    names = ("source", "source_port", "target", "target_port")
    columns = [table[name].tolist() for name in names]
    cables = [
        ((guids[source], out), (guids[target], into))
        for source, out, target, into in zip(*columns, strict=True)
        if (source, out) < (target, into)
    ]
    of_hosts = set(host["guid"].tolist())
    rates = dict.fromkeys((frozenset(cable) for cable in cables), "4xEDR")
    if rng.random() < 0.3:
        old = rng.choice(switch["guid"].tolist())
        for cable in cables:
            if old in (cable[0][0], cable[1][0]):
                rates[frozenset(cable)] = "4xFDR"
    bad = None
    if kind is not None:
        bad = frozenset(rng.choice(cables))
        if kind in _OTHER_RATES:
            slower = [rate for rate in _OTHER_RATES[kind] if rate != rates[bad]]
            rates[bad] = rng.choice(slower)
    before = {
        end: {name: int(rng.expovariate(1 / 8)) if rng.random() < 0.2 else 0 for name in _ERRORS}
        for cable in cables
        for end in cable
    }
    after = {end: dict(counts) for end, counts in before.items()}
    for counts in after.values():
        if rng.random() < 0.05:
            counts["SymbolErrorCounter"] += rng.randint(1, 5)
        if rng.random() < 0.1:
            counts["PortXmitDiscards"] += rng.randint(1, 60)
            counts["VL15Dropped"] += rng.randint(0, 20)
    for cable in cables:
        host_end = next((end for end in cable if end[0] in of_hosts), None)
        if host_end is not None and rng.random() < 0.02:
            for end in cable:
                if end != host_end:
                    after[end]["LinkDownedCounter"] += 1
    if bad is not None:
        end, other = rng.sample(sorted(bad), 2)
        if kind == "symbol errors":
            many = int(10 ** rng.uniform(1.5, 4))
            after[end]["SymbolErrorCounter"] += many
            after[end]["PortRcvErrors"] += many // 3
            # Switches that forward while they receive pass the spoilt packets on.
            for far in rng.sample(sorted(after), min(4, len(after))):
                after[far]["PortRcvRemotePhysicalErrors"] += many // 4
        if kind == "flapping":
            for one in (end, other):
                after[one]["LinkDownedCounter"] += rng.randint(3, 12)
                after[one]["PortXmitDiscards"] += rng.randint(0, 2000)
    return Case(
        _dump(fabric, rates).encode(),
        _reading(before, 0).encode(),
        _reading(after, _HOUR).encode(),
        bad,
    )


def _dump(fabric: nl.Fabric, rates: dict[frozenset[End], str]) -> str:
    """The dump of `ibnetdiscover`, each cable with its rate on the lines of both ends."""
    lines = []
    node = 0
    for line in fabric.to_bytes("ibnetdiscover").decode().splitlines():
        words = line.split()
        if words and words[0].startswith(("switchguid=", "caguid=")):
            node = int(words[0].split("=")[1].split("(")[0], 16)
        if line.startswith("["):
            port = int(line[1 : line.index("]")])
            far = line.split('"')[1]
            far_port = int(line.split('"')[2].split("]")[0].strip("["))
            rate = rates[frozenset({(node, port), (int(far[2:], 16), far_port)})]
            line = line.rsplit(" ", 1)[0] + f" {rate}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _reading(counts: dict[End, dict[str, int]], time_s: int) -> str:
    """An exporter's samples with their times: names and units are treydock's."""
    metrics = {
        "SymbolErrorCounter": "symbol_error",
        "LinkErrorRecoveryCounter": "link_error_recovery",
        "LinkDownedCounter": "link_downed",
        "PortRcvErrors": "receive_errors",
        "PortRcvRemotePhysicalErrors": "receive_remote_physical_errors",
        "PortXmitDiscards": "transmit_discards",
        "VL15Dropped": "vl15_dropped",
    }
    lines = []
    stamp = (1_700_000_000 + time_s) * 1000
    for (guid, port), of in counts.items():
        labels = f'guid="0x{guid:016x}",port="{port}",switch="x"'
        for name in ("transmit_data_bytes", "receive_data_bytes", "transmit_packets", "receive_packets"):
            value = (4_000_000 if "bytes" in name else 1000) * (1 + time_s)
            lines.append(f"infiniband_switch_port_{name}_total{{{labels}}} {value} {stamp}")
        for name, value in of.items():
            full = min(value, _FULL.get(name, 65535))
            lines.append(f"infiniband_switch_port_{metrics[name]}_total{{{labels}}} {full} {stamp}")
    return "\n".join(lines) + "\n"


def first_cable(result: dict) -> frozenset[End] | None:
    """Both ends of the cable at the top of a result's table."""
    if not result["cables"]:
        return None
    return frozenset((int(end["guid"], 16), end["port"]) for end in result["cables"][0]["ends"])
