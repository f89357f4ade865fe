"""What other programs load of what netloom writes; each is skipped by name where the program is not.

| program | version pinned | loads | here |
|---|---|---|---|
| slurmctld | 22.05, Debian's | `topology.conf`, `topology.yaml` | tests/test_slurm_topology.py |
| promtool | 2.42, Debian's | alerts, the page of `watch --prometheus` | tests/test_health.py |
| SimGrid | 3.32, Debian's (python3-simgrid, libsimgrid-dev) | `platform.xml`, `.ti` | below |
| topograph | v1.0.0, a checkout (`NETLOOM_TOPOGRAPH`) | dumps as ibnetdiscover prints them | below |

A newer version may take other things: the test says which one it ran with when it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import netloom as nl
from conftest import ROOT
from console import AS_ROOT
from mpi_bed import OPEN_MPI, PROGRAMS, need

CASES = ROOT / "tests" / "data" / "cases"
SMALL = "two-level:leaves=2,hosts=2,spines=1"

LOADED = """
import sys
from simgrid import Engine
engine = Engine(["netloom", "--log=root.thres:critical"])
engine.load_platform(sys.argv[1])
print("|".join(sorted(host.name for host in engine.all_hosts)))
"""
SYSTEM = "/usr/bin/python3"
"""Debian's bindings are those of its own Python."""


def version(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[0]


def run(*words: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def has_simgrid() -> bool:
    probe = [SYSTEM, "-c", "import simgrid"]
    return Path(SYSTEM).exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not has_simgrid(), reason="not installed: SimGrid for Python (python3-simgrid)")
@pytest.mark.parametrize("source", [SMALL, CASES / "slow-cable" / "net.txt"])
def test_simgrid_loads_a_platform(netloom, source):
    netloom.ok("fabric", "convert", source, "-o", "platform.xml", "-q")
    fabric = nl.Fabric.generate(source) if source == SMALL else nl.Fabric.read(source)
    said = run(SYSTEM, "-c", LOADED, "platform.xml", cwd=netloom.folder)
    assert "|".join(sorted(fabric.host_names)) in said.splitlines()


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="not installed: smpirun (libsimgrid-dev)")
def test_simgrid_replays_a_trace_on_a_platform(netloom):
    """A recorded ring of four ranks, to its end, on the platform of a tree of four hosts."""
    need(OPEN_MPI)
    folder = netloom.folder
    env = {**os.environ, **AS_ROOT}
    run(OPEN_MPI.cc, "-w", PROGRAMS / "ring.c", "-o", "ring", cwd=folder, env=env)
    netloom.ok("record", "--events", "-o", "run", "-q", *OPEN_MPI.command(4, "./ring"), env=AS_ROOT)
    netloom.ok("trace", "convert", "run", "-o", "ring.ti", "-q")
    netloom.ok("fabric", "convert", SMALL, "-o", "platform.xml", "-q")
    (folder / "hosts").write_text("".join(f"host{number:04}\n" for number in range(4)))
    (folder / "index").write_text("ring.ti\n")
    words = ("-np", 4, "-no-privatize", "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "index")
    said = run("smpirun", *words, "--cfg=smpi/display-timing:1", cwd=folder)
    assert "Simulated time: " in said, f"{version('smpirun', '-version')}: {said}"


TOPOGRAPH = os.environ.get("NETLOOM_TOPOGRAPH")
PARSES = """package main

import (
	"fmt"
	"os"

	"github.com/NVIDIA/topograph/pkg/ib"
)

func main() {
	data, _ := os.ReadFile(os.Args[1])
	switches, adapters, err := ib.ParseIbnetdiscoverFile(data)
	if err != nil {
		panic(err)
	}
	neighbours := 0
	for _, one := range switches {
		neighbours += len(one.Conn)
	}
	fmt.Println(len(switches), len(adapters), neighbours)
}
"""


@pytest.mark.skipif(
    TOPOGRAPH is None or shutil.which("go") is None,
    reason="not there: topograph's source (NETLOOM_TOPOGRAPH), go",
)
def test_topograph_reads_a_dump_that_netloom_writes(netloom):
    """4 switches, 4 hosts; a leaf has 2 hosts and 2 spines beside it, a spine 2 leaves: 12 in all."""
    netloom.ok("fabric", "convert", CASES / "foreign-plans" / "iblinkinfo.txt", "-o", "net.txt", "-q")
    command = Path(str(TOPOGRAPH)) / "cmd" / "netloom-contract"
    command.mkdir(exist_ok=True)
    (command / "main.go").write_text(PARSES)
    done = run("go", "run", f"./cmd/{command.name}", netloom.folder / "net.txt", cwd=Path(str(TOPOGRAPH)))
    assert done.split()[-3:] == ["4", "4", "12"]
