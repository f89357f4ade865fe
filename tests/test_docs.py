"""Every ```console block in README.md and docs is run, and prints what the page says, to the digit.

A line `$ command` is run in a temporary folder that has `examples`, `contrib`, `docs`, `net.txt` (a real
dump) and two readings of its counters; the lines after it, up to the next command, are what it prints. `…`
stands for any text on a line; a line of only `…` for any lines. Numbers in a last column headed as one of
`CLOCKED` (seconds, rates a second) may differ; the head is their mark. `$FABRIC` is a live fabric, ibsim and
OpenSM on the same dump: commands that name it are skipped where these are not installed, and so is all of a
page in `LIVE`.
A block that begins with `# not run` is not run; one that begins with `# slow` is run with `NETLOOM_SLOW=1`.

Figures in sentences come from blocks too. A comment `<!-- prints: 0.316, 64.3` above a block (which may be in
the comment, so that readers do not see it) says which figures of the paragraph before it the block prints.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import mpi_bed
import netloom as nl
from conftest import Netloom
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
METHODS = [
    page
    for folder in ("methods", "decisions")
    for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    if "```console" in page.read_text()
]
PAGES = [*OTHERS, *sorted((ROOT / "docs" / "verbs").glob("*.md")), *METHODS]
CLOCKED = ("seconds", "s", "CPU s", "own s", "OpenSM s", "Mhops/CPU s", "found after (s)")
"""Heads of columns of time: numbers below them differ from run to run."""
SLOW = bool(os.environ.get("NETLOOM_SLOW"))
"""Whether blocks of a minute and more are run."""
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
    "sweep",
    "noise",
    "sample",
    "dataplane",
    "diagnose",
    "interference",
    "loop",
    "study",
    "plan",
    "plot",
    "report",
    "apply",
    "demo",
    "examples",
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
        elif inside and (line.startswith("# not run") or (line.startswith("# slow") and not SLOW)):
            run = False
        elif inside and line.startswith("# slow"):
            continue
        elif inside and run:
            if line.startswith("$ "):
                found.append(Step(number, line[2:], ""))
            elif line.startswith("> "):
                found[-1].command += "\n" + line[2:]
            else:
                found[-1].output += line + "\n"
    return found


HEAD = re.compile(rf"(?:^|  )(?:{'|'.join(map(re.escape, CLOCKED))})$")
NUMBER = re.compile(r" +[0-9][0-9.,]*$")


def without_times(text: str) -> str:
    """The text with `…` for every number in a last column of time, which ends where its head does."""
    lines: list[str] = []
    end = 0
    for line in map(str.rstrip, text.splitlines()):
        if HEAD.search(line):
            end = len(line)
        elif not line:
            end = 0
        lines.append(NUMBER.sub(" …", line) if len(line) == end else line)
    return "".join(f"{line}\n" for line in lines)


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
    for folder in (paths.examples, paths.root / "contrib", paths.root / "docs"):
        (netloom.folder / folder.name).symlink_to(folder)
    (netloom.folder / "net.txt").symlink_to(paths.ft2)
    (netloom.folder / "quartz1.txt.gz").symlink_to(paths.quartz1)
    for folder in ("opensm-lanes", "opensm-engines", "traces"):
        (netloom.folder / folder).symlink_to(paths.opensm.parent / folder)
    for when in ("before", "after"):
        reading = paths.opensm / "ft2_32" / f"perfquery_x_{when}.txt.gz"
        (netloom.folder / f"{when}.txt.gz").symlink_to(reading)
    env = {**os.environ, "PATH": netloom.path(), "COLUMNS": "100"}
    if page.stem in MPI:
        missing = [tool for tool in ("mpicc", "mpirun") if shutil.which(tool) is None]
        if missing:
            pytest.skip(f"not installed: {', '.join(missing)}")
        env |= mpi_bed.ENVIRONMENT
    if page.stem in PORTS and LACKING:
        pytest.skip(f"missing: {', '.join(LACKING)}")
    with live_fabric(page, netloom.folder, env):
        run_steps(page, netloom, env)


def needs_fabric(step: Step) -> bool:
    return "$FABRIC" in step.command


@contextlib.contextmanager
def live_fabric(page: Path, folder: Path, env: dict[str, str]) -> Iterator[None]:
    """A live fabric for pages that need one, `$FABRIC`; its OpenSM reads `opensm.lfts`."""
    lacking = missing_tools()
    if lacking and page.stem in LIVE:
        pytest.skip(f"not installed: {', '.join(lacking)}")
    if lacking or not any(map(needs_fabric, steps(page))):
        yield
        return
    net, file = folder / "net.txt", folder / "opensm.lfts"
    nl.route("updn", nl.Fabric.read(net)).write(file)
    with Ibsim(net, host="host0000") as sim, OpenSM(sim, routes=file):
        env["FABRIC"] = f"{sim.socket_name},host0000"
        yield


ALONE = re.compile(r"netloom(?: (?:[\w./:,=+@%-]+|\"[^\"$`\\\\]*\"))*")
"""A command of netloom's alone, which a shell would only split into words."""


def printed_by(command: str, netloom: Netloom, env: dict[str, str]) -> str:
    """Standard output and error of a command, by the shell or, where that shows the same, without one."""
    if ALONE.fullmatch(command) and not SLOW:
        ran = netloom(*shlex.split(command)[1:], env=env)
        return ran.out + ran.err
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=netloom.folder,
        capture_output=True,
        text=True,
        timeout=1200 if SLOW else 120,
        env=env,
        check=False,
    )
    return done.stdout + done.stderr


def run_steps(page: Path, netloom: Netloom, env: dict[str, str]) -> None:
    for step in steps(page):
        if missing_tools() and (needs_fabric(step) or "OpenSM" in step.output):
            continue
        if "netloom demo dataplane" in step.command and LACKING:
            continue
        printed = without_times(printed_by(step.command, netloom, env))
        where = f"{page.relative_to(ROOT)}:{step.line}: $ {step.command}"
        assert re.fullmatch(pattern(without_times(step.output)), printed), (
            f"{where}\nprints\n{printed}\nthe page says\n{step.output}"
        )


def test_every_verb_has_a_page_with_an_example():
    verbs = [page for page in PAGES if page.parent.name == "verbs"]
    assert {page.stem for page in verbs} == set(VERBS)
    for page in PAGES:
        assert steps(page), page


def figures(page: Path) -> Iterator[tuple[int, list[str], str, str]]:
    """Line, figures that are said to be printed, the paragraph that has them, and the block with them."""
    text = page.read_text()
    for mark in re.finditer(r"^<!-- prints: (.*?)(?: -->)?$", text, re.MULTILINE):
        line = text.count("\n", 0, mark.start()) + 1
        paragraph = text[: mark.start()].rstrip().rsplit("\n\n", 1)[-1]
        block = re.match(r"\s*```console\n(.*?)```", text[mark.end() :], re.DOTALL)
        assert block, f"{page}:{line}: expected a block under its figures"
        yield line, re.split(r",? (?=\d)", mark[1]), paragraph, block[1]


def test_figures_in_sentences_are_those_that_commands_print():
    marks = [(page, *found) for page in PAGES for found in figures(page)]
    assert len(marks) >= 5
    for page, line, numbers, paragraph, block in marks:
        for number in numbers:
            alone = re.compile(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)")
            assert alone.search(paragraph), f"{page}:{line}: the paragraph above does not say {number}"
            assert alone.search(block), f"{page}:{line}: the block does not print {number}"


def test_only_columns_of_time_may_differ():
    table = "routes  load  seconds\nftree   1.50     0.12\nupdn    1.60\n\nmean 2.50\n"
    assert without_times(table) == "routes  load  seconds\nftree   1.50 …\nupdn    1.60\n\nmean 2.50\n"
    assert without_times("a  p99\nx  1.25\n") == "a  p99\nx  1.25\n"


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


def test_the_page_of_simulate_has_the_numbers_of_all_profiles():
    page = (ROOT / "docs" / "verbs" / "simulate.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", page, re.MULTILINE)
    infiniband, codes, aries = profile("infiniband"), profile("codes"), profile("aries")
    assert len(rows) >= 20
    not_numbers = {"lane_weights", "sl2vl", "host_cable_delay_ns", "switch_delays_ns", "cable_delays_ns"}
    for key, *values in (row for row in rows if row[0] not in not_numbers):
        assert values == [infiniband[key], codes[key], aries[key]], key
