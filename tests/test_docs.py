"""Every ```console block in README.md and docs is run, and prints what the page says, to the digit.

`console.py` has the grammar of these blocks. Their folder has `examples`, `contrib`, `docs`, `net.txt` (a
real dump) and two readings of its counters. `$FABRIC` is a live fabric, ibsim and OpenSM on the same dump:
commands that name it are skipped where these are not installed, and so is all of a page in `LIVE`.

Figures in sentences come from blocks too. A comment `<!-- prints: 0.316, 64.3` above a block (which may be in
the comment, so that readers do not see it) says which figures of the paragraph before it the block prints.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import console
import netloom as nl
from conftest import Netloom
from console import LIVE, MPI, PORTS, ROOT, Step, without_times
from dataplane_bed import LACKING
from netloom.live import Ibsim, OpenSM, missing_tools

PAGES = list(console.pages())
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


def steps(page: Path) -> list[Step]:
    return console.steps(page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_pages_say_what_commands_print(page, netloom):
    console.furnish(netloom.folder)
    env = {**os.environ, "PATH": netloom.path(), "COLUMNS": "100"}
    if page.stem in MPI:
        missing = [tool for tool in ("mpicc", "mpirun") if shutil.which(tool) is None]
        if missing:
            pytest.skip(f"not installed: {', '.join(missing)}")
        env |= console.AS_ROOT
    if page.stem in PORTS and LACKING:
        pytest.skip(f"missing: {', '.join(LACKING)}")
    own_run = run_of_its_own() if page.stem in PORTS else contextlib.nullcontext([])
    with live_fabric(page, netloom.folder, env), own_run as inside:
        run_steps(page, netloom, env, inside)


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


@contextlib.contextmanager
def run_of_its_own() -> Iterator[list[str]]:
    """The start of a command line whose command has a /run of its own.

    Named namespaces and the journal are in it, and go with it: a run that is killed leaves nothing, and what
    somebody else put up is not seen.
    """
    mount = "mount -t tmpfs -o mode=755 tmpfs /run && echo mounted && exec sleep infinity"
    holder = subprocess.Popen(
        ["unshare", "--mount", "setpriv", "--pdeathsig", "KILL", "sh", "-c", mount],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mounted\n"
        # The tests' own `netloom` forks in a process that has the other /run.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        yield ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "env", f"PATH={path}"]
    finally:
        holder.kill()
        holder.communicate()


def run_steps(page: Path, netloom: Netloom, env: dict[str, str], inside: Sequence[str] = ()) -> None:
    for step in steps(page):
        if missing_tools() and (needs_fabric(step) or "OpenSM" in step.output):
            continue
        if "netloom demo dataplane" in step.command and LACKING:
            continue
        printed = console.printed_by(step.command, netloom, env, inside)
        where = f"{page.relative_to(ROOT)}:{step.line}: $ {step.command}"
        assert console.fits(step, printed), (
            f"{where}\nprints\n{without_times(printed.text)}\nthe page says\n{step.output}"
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
