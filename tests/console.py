"""Commands in Markdown and what they print: one grammar for the documentation's pages and for cases.

In a ```console block a line `$ command` is run; `> ` goes on with it; the lines after it, up to the next
command, are what it prints: standard output, then standard error. `…` stands for any text on a line; a line
of only `…` for any lines. `# exit 3` after them is the exit code. Numbers in a last column headed as one of
`CLOCKED` (seconds, rates a second) may differ; the head is their mark.
A block that begins with `# not run` is not run; one that begins with `# slow` is run with `NETLOOM_SLOW=1`.

Nothing here but the standard library: `old_new.py` runs the same documents with any build.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
CLOCKED = ("seconds", "s", "CPU s", "own s", "OpenSM s", "Mhops/CPU s", "found after (s)")
"""Heads of columns of time: numbers below them differ from run to run."""
SLOW = bool(os.environ.get("NETLOOM_SLOW"))
"""Whether blocks of a minute and more are run."""
AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
}
"""Open MPI as root in a container, more ranks than processors."""
LIVE = ("apply",)
"""Pages that need a live fabric throughout."""
MPI = ("record", "trace", "from-program-to-routes")
"""Pages that run MPI programs."""
PORTS = ("dataplane",)
"""Pages that put BPF programs on ports."""
EXIT = re.compile(r"# exit (\d+)")


@dataclass
class Step:
    """A command of a page, and what the page says that it prints."""

    line: int
    """Of the command, counted from 1."""
    command: str
    output: str
    code: int | None = None
    """The exit code, where the page says one."""
    after: int = 0
    """The first line after the command, and with it the first of what it prints."""
    end: int = 0
    """The line after the last of what it prints, with its exit code."""


@dataclass(frozen=True)
class Printed:
    """What a command printed, standard output and then error, and its exit code."""

    text: str
    code: int


class Runs(Protocol):
    """What `conftest.Netloom` is: the command in a folder."""

    folder: Path

    def __call__(self, *arguments: object, env: dict[str, str] | None = None) -> object: ...


def steps(text: str) -> list[Step]:
    """The commands of a page that are run, in order."""
    found: list[Step] = []
    inside = run = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
            run = inside
        elif inside and (line.startswith("# not run") or (line.startswith("# slow") and not SLOW)):
            run = False
        elif inside and line.startswith("# slow"):
            continue
        elif inside and run:
            if line.startswith("$ "):
                found.append(Step(number, line[2:], "", after=number + 1, end=number + 1))
                continue
            step = found[-1]
            step.end = number + 1
            if line.startswith("> "):
                step.command += "\n" + line[2:]
                step.after = number + 1
            elif said := EXIT.fullmatch(line):
                step.code = int(said[1])
            else:
                step.output += line + "\n"
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


def fits(step: Step, printed: Printed) -> bool:
    """Whether a command printed what its page says, and ended as it says."""
    same = re.fullmatch(pattern(without_times(step.output)), without_times(printed.text))
    return bool(same) and step.code in (None, printed.code)


def difference(step: Step, printed: Printed) -> str:
    """What the page says (`-`) beside what was printed (`+`), for people."""
    said = without_times(step.output).splitlines()
    got = without_times(printed.text).splitlines()
    if step.code not in (None, printed.code):
        said.append(f"# exit {step.code}")
        got.append(f"# exit {printed.code}")
    return "\n".join(list(difflib.unified_diff(said, got, n=2, lineterm=""))[3:])


ALONE = re.compile(r"netloom(?: (?:[\w./:,=+@%-]+|\"[^\"$`\\\\]*\"))*")
"""A command of netloom's alone, which a shell would only split into words."""


def by_shell(command: str, folder: Path, env: dict[str, str], inside: Sequence[str] = ()) -> Printed:
    """What a shell prints, which finds `netloom` in the PATH of `env`; `inside`: what runs that shell."""
    done = subprocess.run(
        [*inside, "env", "-C", str(folder), "bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200 if SLOW else 120,
        env=env,
        check=False,
    )
    return Printed(done.stdout + done.stderr, done.returncode)


def printed_by(command: str, netloom: Runs, env: dict[str, str], inside: Sequence[str] = ()) -> Printed:
    """What a command prints, by the shell or, where that shows the same, in a fork without one."""
    if ALONE.fullmatch(command) and not SLOW and not inside:
        ran: object = netloom(*shlex.split(command)[1:], env=env)
        return Printed(ran.out + ran.err, ran.code)  # type: ignore[attr-defined]
    return by_shell(command, netloom.folder, env, inside)


def pages() -> Iterator[Path]:
    """The documentation's pages whose examples are run."""
    docs = ROOT / "docs"
    yield ROOT / "README.md"
    yield from (
        docs / f"{name}.md" for name in ("python", "traffic", "maintenance", "from-program-to-routes")
    )
    yield from sorted((docs / "verbs").glob("*.md"))
    for folder in ("methods", "decisions"):
        for page in sorted((docs / folder).glob("*.md")):
            if "```console" in page.read_text():
                yield page


def furnish(folder: Path) -> None:
    """Puts into a folder what commands of pages read: examples, a real dump, two readings of its counters."""
    links = {name: ROOT / name for name in ("examples", "contrib", "docs")}
    links |= {name: DATA / name for name in ("opensm-lanes", "opensm-engines", "traces")}
    links["net.txt"] = DATA / "opensm" / "ft2_32" / "ibnetdiscover.txt"
    links["quartz1.txt.gz"] = DATA / "opensm" / "quartz1" / "ibnetdiscover.txt.gz"
    for when in ("before", "after"):
        links[f"{when}.txt.gz"] = DATA / "opensm" / "ft2_32" / f"perfquery_x_{when}.txt.gz"
    for name, target in links.items():
        (folder / name).symlink_to(target)
