"""`netloom record --recover DIR`: what a killed recording left; a name for a run whose own is taken."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from netloom.cli.record import report
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.errors import NetloomError
from netloom.files import Folder
from netloom.findings import bad
from netloom.recording import merging, results, trace
from netloom.recording.merging import Merged
from netloom.recording.ti import Written
from netloom.recording.trace import Trace

Write = Callable[[Merged, Trace | None, list[str], Path], tuple[dict[str, str], Written | None]]
"""Writes a run's folder: what was merged, the trace, the command, the folder to make."""

_MOST_NAMES = 1000
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


def check(command: tuple[str, ...], matrix: bool, events: bool) -> None:
    """Refuses what does not go with `--recover`.

    Raises
    ------
    UsageError
        If there is a command, or a mode: both are the recording's own.
    """
    if command:
        raise UsageError("--recover reads what a recording left: it takes no command")
    if matrix or events:
        raise UsageError("--recover knows from the records whether they are of --matrix or --events")


def recover(folder: Path, options: Options, write: Write) -> int:
    """Tells, and writes with `-o`, what a recording had that was killed before it could merge its ranks.

    Parameters
    ----------
    folder : Path
        The hidden folder that it left beside its `-o` (`.netloom-….tmp`), or the `ranks` in it.
    options : Options
        Common options.
    write : callable
        Writes the run's folder.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    NetloomError
        If there is no record in it.
    OSError
        If it cannot be read.
    """
    run = Run("record", options, folder=True)
    records = folder / "ranks" if (folder / "ranks").is_dir() else folder
    with run.timed("merge"):
        found, unreadable = merging.read_folder(records)
        if not found:
            why = unreadable[0].text if unreadable else f"expected records of ranks (rank.…) in {records}"
            raise NetloomError(f"{folder}: nothing to recover: {why}")
        merged = merging.merge(found, unreadable)
        is_events = any(one.has_events for one in found)
        traced = trace.of_records(found, merged.lost, merged.hosts) if is_events else None
    words = [merged.program or "unknown"]
    result = results.result(merged, words, 0, seconds=None, trace=traced)
    if options.output is not None:
        with run.timed("write"):
            result["files"], replay = write(merged, traced, words, options.output)
        if replay is not None:
            results.add_replay(result, replay)
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result),
        findings=bad(result["findings"]),
    )


def settle(scratch: Folder, made: str, parent: Folder, wanted: str) -> str:
    """Gives a run's folder its name, or, where another run has taken that meanwhile, the next free one.

    Parameters
    ----------
    scratch : Folder
        The open folder that it was made in.
    made : str
        Its name there; it is whole.
    parent : Folder
        The open folder that it goes to.
    wanted : str
        Its name; with `.1`, `.2` … behind it if it is taken.

    Returns
    -------
    str
        The name that it has.

    Raises
    ------
    OSError
        If it cannot be renamed.
    """
    for number in range(_MOST_NAMES):
        name = f"{wanted}.{number}" if number else wanted
        try:
            parent.take(scratch, made, name)
        except OSError as error:
            if error.errno in _TAKEN:
                continue
            raise
        return name
    raise OSError(errno.EEXIST, "is there already, and so are all names behind it", wanted)
