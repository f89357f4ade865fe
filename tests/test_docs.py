"""Every ```console block in README.md, docs/python.md and docs/verbs is run, and prints what the page says.

A line `$ command` is run in a temporary folder that has `examples`, `net.txt` (a real dump) and two readings
of its counters; the lines after it, up to the next command, are what it prints. `…` stands for any text on a
line; a line of only `…` for any lines; a number with two decimals at the end of a line is one of seconds, and
may differ. On pages of verbs for live fabrics, `$FABRIC` is one: ibsim and OpenSM on the same dump; these
pages are skipped where they are not installed.
A block that begins with `# not run` is not run.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import mpi_bed
import netloom as nl
from dataplane_bed import LACKING
from netloom.live import Ibsim, OpenSM, missing_tools

ROOT = Path(__file__).resolve().parent.parent
OTHERS = [
    ROOT / "README.md",
    ROOT / "docs" / "python.md",
    ROOT / "docs" / "traffic.md",
    ROOT / "docs" / "maintenance.md",
    ROOT / "docs" / "from-program-to-routes.md",
]
PAGES = [*OTHERS, *sorted((ROOT / "docs" / "verbs").glob("*.md"))]
VERBS = [
    "fabric",
    "record",
    "trace",
    "traffic",
    "counters",
    "health",
    "infer",
    "lanes",
    "watch",
    "route",
    "check",
    "path",
    "loads",
    "optimize",
    "simulate",
    "noise",
    "sample",
    "dataplane",
    "diagnose",
    "loop",
    "study",
    "plan",
    "plot",
    "apply",
    "demo",
    "completion",
]


LIVE = ["apply"]
MPI = ["record", "trace", "from-program-to-routes"]
"""Pages that run MPI programs; skipped where there is no MPI."""


PORTS = ["dataplane"]
"""Pages that put BPF programs on ports; skipped where that cannot be, by name."""


@dataclass
class Step:
    """A command of a page, and what it says that it prints."""

    line: int
    command: str
    output: str


def steps(page: Path) -> list[Step]:
    found: list[Step] = []
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
            run = inside
        elif inside and line.startswith("# not run"):
            run = False
        elif inside and run:
            if line.startswith("$ "):
                found.append(Step(number, line[2:], ""))
            elif line.startswith("> "):
                found[-1].command += "\n" + line[2:]
            else:
                found[-1].output += line + "\n"
    return found


SECONDS = re.compile(r" +[0-9]+\.[0-9][0-9]$", re.MULTILINE)


def pattern(output: str) -> str:
    """What the output must match: `…` is anything."""
    lines = [
        r"(?:.*\n)*?"
        if line.strip() == "…"
        else ".*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n"
        for line in output.splitlines()
    ]
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_pages_say_what_commands_print(page, netloom, paths):
    (netloom.folder / "examples").symlink_to(paths.examples)
    (netloom.folder / "net.txt").symlink_to(paths.ft2)
    (netloom.folder / "quartz1.txt.gz").symlink_to(paths.quartz1)
    (netloom.folder / "opensm-lanes").symlink_to(paths.opensm.parent / "opensm-lanes")
    for when in ("before", "after"):
        reading = paths.opensm / "ft2_32" / f"perfquery_x_{when}.txt.gz"
        (netloom.folder / f"{when}.txt.gz").symlink_to(reading)
    binaries = str(Path(netloom.command[0]).parent)
    env = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "COLUMNS": "100"}
    if page.stem in MPI:
        missing = [tool for tool in ("mpicc", "mpirun") if shutil.which(tool) is None]
        if missing:
            pytest.skip(f"not installed: {', '.join(missing)}")
        env |= mpi_bed.ENVIRONMENT
    if page.stem in PORTS and LACKING:
        pytest.skip(f"missing: {', '.join(LACKING)}")
    with live_fabric(page, netloom.folder, env):
        run_steps(page, netloom.folder, env)


@contextlib.contextmanager
def live_fabric(page: Path, folder: Path, env: dict[str, str]) -> Iterator[None]:
    """A live fabric for pages that need one, `$FABRIC`; its OpenSM reads `opensm.lfts`."""
    if page.stem not in LIVE:
        yield
        return
    if missing_tools():
        pytest.skip(f"not installed: {', '.join(missing_tools())}")
    net, file = folder / "net.txt", folder / "opensm.lfts"
    nl.route("updn", nl.Fabric.read(net)).write(file)
    with Ibsim(net, host="host0000") as sim, OpenSM(sim, routes=file):
        env["FABRIC"] = f"{sim.socket_name},host0000"
        yield


def run_steps(page: Path, folder: Path, env: dict[str, str]) -> None:
    for step in steps(page):
        if page.stem not in LIVE and "OpenSM" in step.output and missing_tools():
            continue
        if "netloom demo dataplane" in step.command and LACKING:
            continue
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            env=env,
            check=False,
        )
        printed = SECONDS.sub(" …", done.stdout + done.stderr)
        where = f"{page.relative_to(ROOT)}:{step.line}: $ {step.command}"
        assert re.fullmatch(pattern(SECONDS.sub(" …", step.output)), printed), (
            f"{where}\nprints\n{printed}\nthe page says\n{step.output}"
        )


def test_every_verb_has_a_page_with_an_example():
    assert {page.stem for page in PAGES[len(OTHERS) :]} == set(VERBS)
    for page in PAGES:
        assert steps(page), page


def profile(name: str) -> dict[str, str]:
    """The numbers of a profile as scenarios spell them, from its source."""
    source = (ROOT / "crates" / "sim" / "src" / "profile" / f"{name}.rs").read_text()
    found = {}
    for key, value in re.findall(r"^ {12}(\w+): (?:Some\()?([\w:.]+)\)?,$", source, re.MULTILINE):
        if value in ("None", "u64::MAX"):
            text = "unlimited"
        elif "::" in value:
            text = "-".join(re.findall("[A-Z][a-z]*", value.split("::")[1])).lower()
        elif value in ("true", "false"):
            text = value
        else:
            ps = "_ps" in key
            text = f"{float(value.replace('_', '')) / (1000 if ps else 1):.10g}"
        found[key.replace("_ps", "_ns")] = text
    return found


def test_the_page_of_simulate_has_the_numbers_of_both_profiles():
    page = (ROOT / "docs" / "verbs" / "simulate.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    infiniband, codes = profile("infiniband"), profile("codes")
    assert len(rows) >= 20
    not_numbers = {"lane_weights", "sl2vl", "host_cable_delay_ns", "switch_delays_ns", "cable_delays_ns"}
    for key, one, other in (row for row in rows if row[0] not in not_numbers):
        assert (one, other) == (infiniband[key], codes[key]), key
