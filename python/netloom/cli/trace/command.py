"""`netloom trace show|check|convert|scale`: recorded traces told, judged, written, and on more ranks."""

from __future__ import annotations

import errno
import gzip
from pathlib import Path
from typing import Any, Literal

from netloom import _core, extras, files
from netloom.cli.shared import outputs
from netloom.cli.shared.exits import STDIO, UsageError
from netloom.cli.shared.options import Options, ProductOptions
from netloom.cli.shared.run import Run
from netloom.cli.trace import report
from netloom.findings import bad
from netloom.recording import goal, jobs, matching, opening, scaling, ti
from netloom.recording import trace as traces
from netloom.recording.results import replay_findings, replayed
from netloom.recording.trace import Trace
from netloom.session.sources import is_stdin
from netloom.training.decomposed import Decomposed

ENDINGS = (".ti", ".ti.gz", ".goal", ".goal.gz", ".bin")
_SCHEDULES = (".goal", ".bin")


def show(trace: Path, /, *, options: Options | None = None) -> int:
    """Show what is in a trace: ranks, events by function, communicators.

    Parameters
    ----------
    trace
        A folder of `netloom record --events -o`, or a file or a folder of another format.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    run = Run("trace-show", options or Options(), product=False)
    found = _read(run, trace)
    result = report.shown(found)
    return run.finish(result, lambda: report.show_text(result), rows=result["functions"])


def check(trace: Path, /, *, options: Options | None = None) -> int:
    """Whether a trace is whole: messages without their other half, lost ranks, clocks that differ.

    Parameters
    ----------
    trace
        A folder of `netloom record --events -o`, or a file or a folder of another format.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    run = Run("trace-check", options or Options(), product=False)
    found = _read(run, trace)
    with run.timed("match"):
        result = report.checked(found, matching.match(found))
    return run.finish(
        result,
        lambda: report.check_text(result),
        rows=result["unmatched"] or [dict.fromkeys(report.UNMATCHED)],
        findings=bad(result["findings"]),
    )


def convert(
    trace: Path,
    /,
    *,
    decompose: Literal["mpi", "nccl-ring", "nccl-tree"] = "mpi",
    options: ProductOptions | None = None,
) -> int:
    """Write a trace in another format: SimGrid's time-independent one, GOAL, or netloom's own folder.

    Parameters
    ----------
    trace
        A folder of `netloom record --events -o`, or a file or a folder of another format.
    decompose
        What collectives become in a schedule (.goal, .bin): messages as MPI libraries send them, or as NCCL
        does, all-reduce in rings or trees; ranks are one a machine.
    options
        Common options; the ending after `-o` names the format: .ti, .goal (also .gz), .bin (GOAL, binary); a
        name without an ending is a folder of Parquet.
    """
    options = options or ProductOptions()
    if decompose != "mpi" and not outputs.ending(options.output).startswith(_SCHEDULES):
        raise UsageError(f"--decompose {decompose}: expected -o FILE.goal, .goal.gz or .bin, a schedule")
    run, target = _target("trace convert", options)
    found = _read(run, trace)
    if decompose != "mpi" and found.meta.get("tool") == goal.TOOL:
        raise UsageError(f"--decompose {decompose}: expected a trace with collectives; {trace} is a schedule")
    planned = None if decompose == "mpi" else Decomposed(decompose)
    result = _written(run, found, target, trace, planned)
    return run.finish(result, lambda: report.convert_text(result))


def scale(trace: Path, ranks: str, /, *, options: ProductOptions | None = None) -> int:
    """Write a trace on more ranks: of a program on a regular grid whose ranks exchange with neighbours.

    Parameters
    ----------
    trace
        A folder of `netloom record --events -o`, or a file or a folder of another format.
    ranks
        How many ranks, each dimension by the same factor (512), or how many in each dimension (8x8x16), the
        one whose neighbours have numbers that differ by 1 first, as in patterns.
    options
        Common options; the ending after `-o` names the format, as of `trace convert`.
    """
    options = options or ProductOptions()
    run, target = _target("trace scale", options)
    wanted = scaling.parse_ranks(ranks)
    if wanted is None:
        raise UsageError(f'expected a number of ranks (512) or a grid (8x8x8), found "{ranks[:40]}"')
    found = _read(run, trace)
    with run.timed("scale"):
        made = scaling.scaled(found, wanted, str(trace))
    result = {**_written(run, made.trace, target, None), **report.scaled(made)}
    result["findings"] = [*report.scaled_findings(made, found), *result["findings"]]
    return run.finish(result, lambda: report.scale_text(result))


def _target(verb: str, options: ProductOptions) -> tuple[Run, tuple[str, Path | None]]:
    """The run, the ending that names the format, and the folder to be made if it is one."""
    outputs.need_output(verb, options)
    ending = outputs.ending(options.output)
    as_folder = options.output is not None and str(options.output) != STDIO and "." not in options.output.name
    run = Run(verb.replace(" ", "-"), options, endings=ENDINGS, folder=as_folder)
    if as_folder and options.output is not None:
        extras.need("arrow")
        if files.check_folder(options.output):
            raise OSError(errno.EEXIST, "is there already: expected a new folder", str(options.output))
    return run, (ending, options.output if as_folder else None)


def _written(
    run: Run,
    found: Trace,
    target: tuple[str, Path | None],
    source: Path | None,
    planned: Decomposed | None = None,
) -> dict[str, Any]:
    """Writes a trace; `source` is its file, if it is as it was read."""
    (ending, folder), parts = target, list[str]()
    as_goal = ending.startswith(_SCHEDULES)
    with run.timed("convert"):
        if as_goal and source is not None and found.meta.get("tool") == goal.TOOL and source.is_file():
            written, data = goal.rewritten(found, source, as_binary=ending == ".bin")
        else:
            put = parts.append
            written = goal.write(found, put, planned=planned) if as_goal else ti.write(found, put)
            data = "".join(parts).encode()
            data = _core.goal_form(data, "the trace", True) if ending == ".bin" else data
    if folder is not None:
        traces.write(folder, found, {jobs.TRACE: gzip.compress(data, 4, mtime=0)})
        output: str | None = str(folder)
    else:
        output = run.write(gzip.compress(data, 4, mtime=0) if ending.endswith(".gz") else data)
    return {
        "format": "parquet" if folder is not None else "goal" if as_goal else "ti",
        "ranks": found.ranks,
        **replayed(written),
        "output": output,
        "findings": replay_findings(written),
    }


def _read(run: Run, source: Path) -> Trace:
    if is_stdin(str(source)):
        raise UsageError("a trace is a file or a folder: it cannot come from standard input")
    with run.timed("read"):
        found, names = opening.read(source)
    for name in names:
        run.read("trace", name)
    return found
