"""What OpenSM's engines with lanes make on ibsim: tables, SL-to-VL tables, the service level of every pair.

`python tests/opensm_lanes.py FOLDER` writes them for three fabrics and three engines;
tests/data/opensm-lanes/README.md says with which versions that was done.
"""

from __future__ import annotations

import gzip
import re
import sys
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path

import netloom as nl
from netloom.live.ibsim import Ibsim
from netloom.live.opensm import OpenSM

ENGINES = ("dfsssp", "lash", "nue")
SETTINGS = """\
qos TRUE
qos_max_vls 8
qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
nue_max_num_vls 4
"""
"""Eight lanes; a level's lane is its number."""


def ring(switches: int, hosts: int = 1) -> str:
    """An ibsim net file: switches with hosts, in a circle."""
    return net([[(s + 1) % switches] for s in range(switches)], hosts)


def torus(columns: int, rows: int, hosts: int = 1) -> str:
    """The same in a torus of two dimensions."""
    places = list(product(range(rows), range(columns)))
    return net([[r * columns + (c + 1) % columns, (r + 1) % rows * columns + c] for r, c in places], hosts)


def net(after: list[list[int]], hosts: int) -> str:
    """Switches, each cabled to those that come after it."""
    ports: list[list[str]] = [[f'"h{s}-{h}"[1]' for h in range(hosts)] for s in range(len(after))]
    for s, others in enumerate(after):
        for t in others:
            here, there = len(ports[s]) + 1, len(ports[t]) + 1
            ports[s].append(f'"s{t}"[{there}]')
            ports[t].append(f'"s{s}"[{here}]')
    lines = []
    for s, behind in enumerate(ports):
        lines += [f'Switch {len(behind)} "s{s}"', *(f"[{n}] {end}" for n, end in enumerate(behind, 1)), ""]
    for s, h in product(range(len(after)), range(hosts)):
        lines += [f'Hca 1 "h{s}-{h}"', f'[1] "s{s}"[{h + 1}]', ""]
    return "\n".join(lines)


def nets() -> dict[str, bytes]:
    """The fabrics by name, as ibsim reads them."""
    dragonfly = nl.Fabric.generate("dragonfly:p=2,a=4,h=2").to_bytes("ibsim")
    return {"ring5": ring(5, 2).encode(), "torus4x4": torus(4, 4).encode(), "dragonfly72": dragonfly}


@dataclass(frozen=True)
class Recorded:
    """What OpenSM made of a fabric."""

    fabric: bytes
    """As `ibnetdiscover` prints it."""
    tables: bytes
    lanes: bytes
    levels: bytes
    """CSV `source_lid,destination_lid,sl`, as path records have them."""


def record(net: Path, engine: str) -> Recorded:
    """Runs OpenSM with an engine on a fabric and asks for the path record of every pair of hosts."""
    host = nl.Fabric.read(net).host_names[0]
    with (
        Ibsim(net, host=host) as sim,
        OpenSM(sim, engine=f"{engine},no_fallback", settings=SETTINGS) as manager,
    ):
        found = sim.discover()
        lids = nl.Fabric.parse(found, label="ibnetdiscover").host_table()["lid"].tolist()
        rows = ["source_lid,destination_lid,sl"]
        for source, destination in permutations(lids, 2):
            answer = sim.tool("saquery", "PR", "--src-to-dst", f"{source}:{destination}").decode()
            level = re.search(r"\bsl\.+0x([0-9A-Fa-f]+)", answer)
            assert level is not None, answer
            rows.append(f"{source},{destination},{int(level[1], 16)}")
        tables, lanes = ((manager.folder / f"opensm-{what}.dump").read_bytes() for what in ("lfts", "sl2vl"))
    return Recorded(found, tables, lanes, ("\n".join(rows) + "\n").encode())


def main(folder: Path) -> None:
    """Writes all of it, each file packed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, net in nets().items():
        path = folder / f"{name}.net"
        path.write_bytes(net)
        for engine in ENGINES:
            made = record(path, engine)
            for what, data in (
                ("ibnetdiscover", made.fabric),
                ("lfts", made.tables),
                ("sl2vl", made.lanes),
                ("sl.csv", made.levels),
            ):
                packed = gzip.compress(data, mtime=0)
                (folder / f"{name}-{engine}.{what}.gz").write_bytes(packed)
            print(
                name,
                engine,
                sorted({row.split(",")[2] for row in made.levels.decode().split()[1:]}),
                flush=True,
            )
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
