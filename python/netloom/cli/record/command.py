"""`netloom record`: runs an MPI program with the recorder and tells what it sent.

The exit code is the program's own where that is not 0. Else it is ours: 0, 1 with findings, 3 if there is
nothing to tell. Records lie beside `-o` while the program runs, so that all its hosts see them, in a folder
that only this user can enter. Ranks know it by its path, so it lies where nobody else can exchange it: at
home if others write to the folder of `-o`. A recorded run becomes a folder at once, by renaming, or not.
"""

from __future__ import annotations

import errno
import gzip
import os
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from netloom import extras, files
from netloom.cli.record import recover as recovery
from netloom.cli.record import report
from netloom.cli.shared import options, render
from netloom.cli.shared.exits import STDIO, UsageError
from netloom.cli.shared.options import FolderPath, Options
from netloom.cli.shared.run import Run
from netloom.errors import NetloomError
from netloom.files import Folder, Scratch
from netloom.recording import jobs, launching, merging, results, threads, ti, trace, unreported
from netloom.recording.merging import Merged
from netloom.recording.ti import Written
from netloom.recording.trace import Trace
from netloom.session.sources import is_stdin

_EVENTS_MB = 64.0
"""Of a rank, unless said: four million events."""
_MADE = "run"
"""The folder that is made, in a scratch folder."""


def record(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    matrix: bool = False,
    events: bool = False,
    events_limit: Annotated[float | None, options.within(0.1, 1e6)] = None,
    recover: Path | None = None,
    options: Options | None = None,
) -> int:
    """Run an MPI program and tell what its ranks sent, at a few nanoseconds a call.

    The program is not changed and not compiled again; MPI must be a shared library. Its exit code is the
    command's. With `--format json` or `csv` its standard output goes to standard error.

    Parameters
    ----------
    command
        After `--`: the launcher, its arguments, the program.
    matrix
        Sums by pair of ranks and by call.
    events
        The sums, and what every call did, in order: a trace that can be replayed.
    events_limit
        Megabytes of events that a rank may write. Later events are in the sums only; the result says so.
        [default: 64]
    recover
        Instead of a command: the hidden folder that a killed recording left.
    options
        Common options; `-o` writes a new folder: matrices, a jobs file, a scenario, and with `--events` the
        trace.
    """
    options = options or Options()
    if recover is not None:
        recovery.check(command, matrix, events)
        if options.output is not None:
            _check_new(options.output)
        return recovery.recover(recover, options, _write)
    if not command:
        raise UsageError("record needs a command after --: netloom record --matrix -- mpirun -n 4 ./program")
    if not (matrix or events):
        raise UsageError("record needs --matrix (sums) or --events (sums and a trace)")
    if events_limit is not None and not events:
        raise UsageError("--events-limit is of --events")
    limit = int((events_limit or _EVENTS_MB) * 1e6) if events else None
    if options.output is not None:
        if is_stdin(str(options.output)):
            raise UsageError("a recorded run is a folder: it cannot go to standard output (-o -)")
        _check_new(options.output)
    if events:
        extras.need("arrow")
    words = ["-" if word == STDIO else word for word in command]
    run = Run("record", options, folder=True)
    launching.find_command(words)
    launching.library(events)
    # What was recorded is there whatever ends the program.
    run.keeps()
    with _scratch(run, options.output) as scratch:
        records = scratch.path
        launching.check_folder(records)
        with run.timed("program"):
            ended = launching.run(
                words,
                records,
                stdout=sys.stderr.buffer if options.format != "text" else None,
                seconds=run.left,
                events=limit,
            )
        try:
            with run.timed("merge"):
                merged, traced = _merged(words, records, events)
            late = options.time_limit if ended.late else None
            result = results.result(merged, words, ended.code, seconds=late, trace=traced)
            if options.output is not None:
                with run.timed("write"):
                    result["files"], replay = _write(merged, traced, words, options.output)
                    results.add_place(result, options.output)
                if replay is not None:
                    results.add_replay(result, replay)
        except (NetloomError, OSError) as error:
            if ended.interrupted:
                raise KeyboardInterrupt from error
            if ended.code == 0:
                raise
            # Whoever asks for the exit code asks for the program's.
            print(render.printable(f"netloom: error: {error}", lines=False), file=sys.stderr)
            return ended.code
    text, rows = lambda: report.text(result), report.rows(result)
    code = run.finish(result, text, rows=rows, interrupted=ended.interrupted)
    return code if ended.interrupted else ended.code or code


def _merged(words: list[str], folder: Path, events: bool) -> tuple[Merged, Trace | None]:
    found, bad = merging.read_folder(folder)
    if not found and not bad:
        raise NetloomError(unreported.why(words, folder))
    if not found:
        raise NetloomError(f"no rank's record can be read: {bad[0].text}")
    merged = merging.merge(found, bad)
    return merged, trace.of_records(found, merged.lost, merged.hosts) if events else None


def _check_new(path: Path) -> None:
    """Refuses a folder that is there, or cannot be made."""
    if not files.check_folder(path.absolute().parent):
        raise OSError(errno.ENOENT, f"there is no folder {path.parent}", str(path))
    if os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise OSError(errno.EEXIST, "is there already: expected a new folder, or an empty one", str(path))


def _scratch(run: Run, output: Path | None) -> Scratch:
    """A folder of ours alone: beside the product, else here, else at home, where all hosts of a job look."""
    beside = output.absolute().parent if output is not None else Path.cwd()
    scratch = Scratch.private([beside, Path.cwd(), Path(os.path.expanduser("~"))])
    if scratch.path.parent != beside.resolve():
        run.note(f"ranks write to {scratch.path.parent} meanwhile: others can exchange what is in {beside}")
    return scratch


def _write(
    merged: Merged, traced: Trace | None, words: list[str], output: Path
) -> tuple[dict[str, str], Written | None]:
    """Writes the run's folder; returns paths by what they are, and what became of the trace."""
    from netloom import __version__, _core

    placement = jobs.place(merged.hosts, threads.count(traced) if traced is not None else 1)
    remark = f"netloom record {__version__}: {merged.ranks} ranks, {merged.mpi}\n" + render.printable(
        " ".join(words), lines=False
    )
    name = os.path.basename(merged.program) or "job"
    pairs = (merged.ranks, merged.sources, merged.destinations)
    contents = {
        "matrix": (jobs.MATRIX, _packed(_core.Traffic.from_triples(*pairs, merged.bytes))),
        "messages": (jobs.MESSAGES, _packed(_core.Traffic.from_triples(*pairs, merged.messages))),
        "jobs": (jobs.JOBS, jobs.jobs_file(name, remark, placement, traced is not None)),
        "scenario": (jobs.SCENARIO, jobs.scenario(name, remark, placement, traced is not None)),
    }
    if placement.by_rank:
        contents["ranks"] = (jobs.RANKS, "".join(f"{host}\n" for host in placement.by_rank).encode())
    replay = None
    if traced is not None:
        lines, replay = ti.packed(traced)
        files = trace.to_files(traced)
        kinds = {"events": trace.EVENTS, "communicators": trace.COMMUNICATORS, "trace": trace.META}
        contents |= {what: (file, files[file]) for what, file in kinds.items()}
        contents["replay"] = (jobs.TRACE, lines)
    target = Path(str(output)) if isinstance(output, FolderPath) else output
    try:
        with Folder.open(target.parent) as parent, Scratch(parent) as scratch:
            with scratch.folder(_MADE, make=True) as made:
                for file, data in contents.values():
                    made.write(file, data)
            target = target.with_name(recovery.settle(scratch, _MADE, parent, target.name))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    return {what: str(target / file) for what, (file, _) in contents.items()}, replay


def _packed(traffic: Any) -> bytes:
    return gzip.compress(traffic.to_bytes("mtx"), mtime=0)
