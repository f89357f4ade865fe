"""A case: one Markdown document with input files, commands, and what these print (docs/cases.md).

    # Parallel cables of two speeds

    One cable trained down: its siblings did not.

    ```text file=net.csv
    from,port,to,port,speed
    …
    ```

    ```console
    $ netloom health net.csv
    …
    # exit 1
    ```

A title, a sentence why, files as blocks `file=NAME`, commands as blocks `console` (`console.py` has their
grammar). The folder of a case has its files, and the links `data` (tests/data) and `examples`. A command
without `# exit N` ends with 0. A line `Needs: mpicc, mpirun.` skips the case where these are not installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import console
from console import Printed, Step

FOLDER = console.ROOT / "tests" / "cases"
FENCE = re.compile(r"```(\w+)(?: file=(\S+))?")
NEEDS = re.compile(r"Needs: ([\w.+-]+(?:, [\w.+-]+)*)\.")
LINKS = {"data": console.DATA, "examples": console.ROOT / "examples"}


class Broken(ValueError):
    """A document that is no case: `file:line: expected …, found …`."""


@dataclass
class Case:
    """A document that can be run."""

    name: str
    """Path from the repository."""
    text: str
    title: str
    files: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    """Programs without which it is skipped."""

    def furnish(self, folder: Path) -> None:
        """Puts its files, and links to large ones, into an empty folder."""
        for name, target in LINKS.items():
            (folder / name).symlink_to(target)
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def updated(self, printed: list[Printed]) -> str:
        """The document with what its commands have printed; lines with `…` stay where they still fit.

        `Broken` for a line that would be read as something else: a command, an exit code, the end of a block.
        """
        lines = self.text.splitlines()
        for step, new in reversed(list(zip(self.steps, printed, strict=True))):
            if console.fits(step, new):
                continue
            output = [line.rstrip() for line in new.text.splitlines()]
            for line in output:
                if line.startswith(("$ ", "> ", "```", "# exit ")):
                    where = f"{self.name}:{step.line}"
                    raise Broken(
                        f"{where}: {_quoted(line)} would not be read as what the command prints: add a pipe"
                    )
            if console.fits(Step(0, "", step.output), new):
                output = step.output.splitlines()
            if new.code:
                output.append(f"# exit {new.code}")
            lines[step.after - 1 : step.end - 1] = output
        return "\n".join(lines) + "\n"


def documents() -> list[Path]:
    """All cases, in order of their paths."""
    return sorted(FOLDER.rglob("*.md"))


def read(path: Path) -> Case:
    """The case of a document; else `Broken`."""
    try:
        name = str(path.relative_to(console.ROOT))
    except ValueError:
        name = path.name
    return parse(path.read_text(), name)


def parse(text: str, name: str) -> Case:
    """The case that a text is; else `Broken`."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith("# "):
        raise Broken(f"{name}:1: expected a title, `# …`, found {_quoted(lines[0] if lines else '')}")
    case = Case(name, text, lines[0][2:])
    why = False
    opened: tuple[int, str | None] | None = None
    inside: list[str] = []
    for number, line in enumerate(lines[1:], 2):
        where = f"{name}:{number}"
        if opened is None and line.startswith("```"):
            opened, inside = (number, _opened(line, where, case)), []
        elif opened is None:
            why = why or (bool(line.strip()) and not line.startswith("#"))
        elif line == "```":
            if opened[1] is not None:
                case.files[opened[1]] = "".join(f"{one}\n" for one in inside)
            opened = None
        elif line.startswith("```"):
            raise Broken(
                f"{where}: expected the end of the block of line {opened[0]}, ```, found {_quoted(line)}"
            )
        elif opened[1] is None and not inside and not line.startswith(("$ ", "# slow")):
            raise Broken(f"{where}: expected a command, `$ netloom …`, found {_quoted(line)}")
        else:
            inside.append(line)
    if opened is not None:
        raise Broken(f"{name}:{opened[0]}: expected the block's end, ```, found the end of the file")
    if not why:
        raise Broken(f"{name}:2: expected a sentence below the title that says why")
    for line in lines:
        if said := NEEDS.fullmatch(line):
            case.needs = said[1].split(", ")
    case.steps = console.steps(text)
    if not case.steps and "# slow" not in lines:
        raise Broken(f"{name}:{len(lines)}: expected a ```console block with a command, found none")
    for step in case.steps:
        step.code = step.code or 0
    return case


def _opened(line: str, where: str, case: Case) -> str | None:
    """The file that a block holds; none, if it has commands."""
    if line == "```console":
        return None
    fence = FENCE.fullmatch(line)
    if fence is None or fence[2] is None:
        raise Broken(
            f"{where}: expected ```console, or a file as in ```text file=net.txt, found {_quoted(line)}"
        )
    path = PurePosixPath(fence[2])
    if path.is_absolute() or ".." in path.parts or path.parts[0] in LINKS:
        raise Broken(f"{where}: expected a name inside of the case's folder, found {_quoted(fence[2])}")
    if fence[2] in case.files:
        raise Broken(f"{where}: two files are called {_quoted(fence[2])}")
    return fence[2]


def _quoted(text: str) -> str:
    return f'"{text[:60]}"'
