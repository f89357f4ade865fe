"""Something breaks on a fabric that OpenSM runs: today's tables are repaired, checked and loaded.

A cable is cut, a port disabled, a switch is gone; `optimize --repair` of the tables that the switches hold,
`check` of what it wrote and `apply` must all accept. Tests try each once, and twenty times each with
`python tests/test_repair_live.py 20`, which says what came of them.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from apply_bed import FT2, Bed, bed
from netloom.live import missing_tools

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

KINDS = ("cut", "disabled", "gone")


def break_something(live: Bed, kind: str, draw: random.Random) -> str:
    """Breaks something between switches that leaves the subnet manager's host its way; says what."""
    fabric = live.look().fabric
    table = fabric.switch_table()
    names, guids, lids = fabric.switch_names, table["guid"].tolist(), table["lid"].tolist()
    own = names[fabric.host_table()["leaf"][0]]
    if kind == "gone":
        switch = draw.choice([name for name in names if name != own])
        text = live.sim.fabric.read_text()
        identity = f"S-{guids[names.index(switch)]:016x}"
        live.sim.command(f'Unlink "{identity if identity in text else switch}"')
        return f"{switch} gone"
    leaf = draw.choice([name for name in names if name.startswith("leaf")])
    port = draw.choice(range(5, 9))
    if kind == "cut":
        live.sim.command(f"Unlink {live.port(fabric, leaf, port)}")
    else:
        # A link that is disabled at one end goes down at the other too; ibsim leaves that one up.
        both = ends(fabric, leaf, port, lids)
        # The one first that is heard of only through the other.
        for lid, number in both[::-1] if leaf == own else both:
            # Where the answer would come over this very port, it does not come.
            with contextlib.suppress(nl.LiveError):
                live.sim.tool("ibportstate", str(lid), str(number), "disable")
    return f"{leaf}[{port}] {kind}"


def ends(fabric: nl.Fabric, leaf: str, port: int, lids: list[int]) -> list[tuple[int, int]]:
    """LID and port of both ends of a cable between switches, the near one first."""
    table = fabric.link_table()
    here = fabric.hosts + fabric.switch_names.index(leaf)
    link = int(np.flatnonzero((table["source"] == here) & (table["source_port"] == port))[0])
    there = int(table["target"][link])
    return [
        (lids[here - fabric.hosts], port),
        (lids[there - fabric.hosts], int(table["target_port"][link])),
    ]


def repaired(live: Bed, folder: Path, kind: str, draw: random.Random) -> list[str]:
    """Breaks something, has it repaired; what the commands said that were not content."""
    switches, hosts, cables = shape(live)
    told = break_something(live, kind, draw)
    # OpenSM may take the fault for its own reasons to reload tables: only what is known now counts.
    for _ in range(100):
        if shape(live) != (switches, hosts, cables):
            break
        time.sleep(0.1)
    else:
        return [f"{told}: nothing broke"]
    seen = live.settled()
    (folder / "now.net").write_bytes(live.sim.discover())
    (folder / "today.lfts").write_bytes(seen.raw)
    commands = [
        ["optimize", "now.net", "all-to-all", "--from", "today.lfts", "--repair", "-o", "new.lfts"],
        ["check", "now.net", "new.lfts"],
        live.arguments("new.lfts", "--yes", "--journal", str(live.journal.folder)),
    ]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "netloom", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        if done.returncode != 0:
            return [f"{told}: {command[0]} exits {done.returncode}\n{done.stdout}{done.stderr}"]
    fabric = live.look().fabric
    lost = nl.check(fabric, live.look().tables).unreachable_hosts
    return [f"{told}: {lost} pairs of hosts lost in force"] if lost else []


def shape(live: Bed) -> tuple[int, int, int]:
    fabric = nl.Fabric.parse(live.sim.discover())
    return fabric.switches, fabric.hosts, fabric.links


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_repaired_is_accepted(tmp_path, kind):
    with bed(FT2, tmp_path) as live:
        assert repaired(live, tmp_path, kind, random.Random(KINDS.index(kind))) == []


def _many(times: int) -> int:
    failed: list[str] = []
    for kind in KINDS:
        for seed in range(times):
            with tempfile.TemporaryDirectory() as name, bed(FT2, Path(name)) as live:
                failed += repaired(live, Path(name), kind, random.Random(f"{kind} {seed}"))
    print(f"{len(KINDS) * times - len(failed)} of {len(KINDS) * times} repaired, checked and applied")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(_many(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
