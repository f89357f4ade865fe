"""`netloom examples`: the files that help and documents name, written where the user wants them."""

from __future__ import annotations

from pathlib import Path

from netloom import examples as example_files
from netloom.cli.parser import usage
from netloom.cli.shared import render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.session.sources import is_stdin

COMMANDS = "commands.sh"
"""All examples of help."""


def examples(folder: Path, /, *, options: Options | None = None) -> int:
    """Write the example files that help and documents name.

    A real dump (`net.txt`), two readings of its counters (`before.txt.gz`, `after.txt.gz`), a larger dump
    (`quartz1.txt.gz`), the folder `examples`, and `commands.sh`: the examples of all verbs' help, in an order
    in which they run there.

    Parameters
    ----------
    folder
        A new or an empty folder.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    if is_stdin(str(folder)):
        raise UsageError("the examples are many files: expected a folder's name")
    run = Run("examples", options or Options(), product=False)
    with run.timed("write"):
        written = example_files.write(folder)
    run.write_in(folder, COMMANDS, usage.script().encode())
    result = {"folder": str(folder), "files": [*written, COMMANDS]}

    def text() -> str:
        head = render.pairs([("files", str(len(result["files"]))), ("written", str(folder))])
        return f"{head}\n\nNow `cd {folder}`: the examples of --help run there.\n{COMMANDS} has them all."

    return run.finish(result, text, rows=[{"file": name} for name in result["files"]])
