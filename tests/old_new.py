"""Two builds of netloom on all cases and examples: every changed figure and message, as one Markdown page.

    python3 tests/old_new.py OLD NEW [DOCUMENT…]      (`cargo run -p xtask -- cases OLD NEW`)

OLD and NEW are `netloom` commands, each in an environment of its own. Every command of every case
(`tests/cases`) and of every page whose examples are run is run with both, in folders of their own; what
differs in text or exit code is printed. What a page calls `…`, and columns of time, may differ. Exit code 0:
nothing differs; 1: something does; 2: usage.

Left out, by name: pages that need a live fabric or ports, commands with `$FABRIC`, `# not run`, and documents
whose programs (MPI) are not installed. Nothing here but the standard library and `console`.
"""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import case_document
import console
from console import Printed, Step

WITHOUT = ("$FABRIC", "netloom demo dataplane")
"""What commands name that need more than a machine."""


@dataclass(frozen=True)
class Said:
    """What one build printed for a step, and the same with `…` where the page has it."""

    printed: Printed
    masked: str


def documents(wanted: Sequence[str]) -> list[Path]:
    """Cases and pages, or those of them that are named (from the repository)."""
    found = [*case_document.documents(), *console.pages()]
    if not wanted:
        return found
    chosen = [path for path in found if str(path.relative_to(console.ROOT)) in wanted]
    unknown = set(wanted) - {str(path.relative_to(console.ROOT)) for path in chosen}
    if unknown:
        raise SystemExit(f"old_new: no case and no page with examples: {', '.join(sorted(unknown))}")
    return chosen


def steps(path: Path) -> tuple[list[Step], list[str]]:
    """The commands of a document, and the programs that it needs."""
    if case_document.FOLDER in path.parents:
        case = case_document.read(path)
        return case.steps, case.needs
    if path.stem in (*console.LIVE, *console.PORTS):
        return [], ["a live fabric or ports"]
    needs = ["mpicc", "mpirun"] if path.stem in console.MPI else []
    found = [step for step in console.steps(path.read_text()) if not any(w in step.command for w in WITHOUT)]
    return found, needs


def run(path: Path, netloom: Path, found: list[Step]) -> list[Said]:
    """What a build prints for the commands of a document, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="netloom-old-new-") as home:
        shim, folder = Path(home) / "bin", Path(home) / "here"
        shim.mkdir()
        folder.mkdir()
        (shim / "netloom").symlink_to(netloom)
        if case_document.FOLDER in path.parents:
            case_document.read(path).furnish(folder)
        else:
            console.furnish(folder)
        places = (str(shim), str(netloom.resolve().parent), os.environ["PATH"])
        env = {**os.environ, **console.AS_ROOT, "PATH": os.pathsep.join(places), "COLUMNS": "100"}
        return [_said(step, folder, env) for step in found]


def _said(step: Step, folder: Path, env: dict[str, str]) -> Said:
    try:
        printed = console.by_shell(step.command, folder, env)
    except subprocess.TimeoutExpired:
        printed = Printed("stopped: it took too long\n", 124)
    text = step.output if console.fits(step, Printed(printed.text, step.code or 0)) else printed.text
    return Said(printed, console.without_times(text))


def changes(path: Path, old: Path, new: Path) -> Iterator[str]:
    """A section with what differs, if anything does."""
    found, needs = steps(path)
    if any(shutil.which(tool) is None for tool in needs):
        return
    with ThreadPoolExecutor(2) as both:
        ran = [both.submit(run, path, build, found) for build in (old, new)]
        before, after = (one.result() for one in ran)
    parts = []
    for step, was, now in zip(found, before, after, strict=True):
        if (was.masked, was.printed.code) == (now.masked, now.printed.code):
            continue
        lines = [
            [*console.without_times(one.printed.text).splitlines(), f"exit {one.printed.code}"]
            for one in (was, now)
        ]
        told = list(difflib.unified_diff(*lines, n=1, lineterm=""))[3:]
        body = "\n".join(told)
        parts.append(f"Line {step.line}: `{step.command.splitlines()[0]}`\n\n```diff\n{body}\n```\n")
    if parts:
        yield "\n".join([f"## {path.relative_to(console.ROOT)}\n", *parts])


def main(words: Sequence[str]) -> int:
    """Prints the page; returns the exit code."""
    builds = [Path(word).absolute() for word in words[:2]]
    if len(builds) < 2 or not all(os.access(build, os.X_OK) and build.is_file() for build in builds):
        print("usage: old_new.py OLD NEW [DOCUMENT…]: two netloom commands that can be run", file=sys.stderr)
        return 2
    chosen = documents(words[2:])
    sections = []
    for path in chosen:
        if sys.stderr.isatty():
            print(f"\r{path.relative_to(console.ROOT)}\x1b[K", end="", file=sys.stderr, flush=True)
        sections += changes(path, *builds)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    print("# What commands print, old and new\n")
    commands = sum(len(steps(path)[0]) for path in chosen)
    differ = f"{len(sections)} print something else" if sections else "none prints anything else"
    print(f"{commands:,} commands of {len(chosen)} documents, of which {differ}.")
    for section in sections:
        print(f"\n{section}", end="")
    return 1 if sections else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
