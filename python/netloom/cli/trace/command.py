"""`netloom trace show|check|convert`: recorded traces told, judged, and written in other formats."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from netloom.cli.shared import outputs
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Options, ProductOptions
from netloom.cli.shared.run import Run
from netloom.cli.trace import report
from netloom.findings import bad
from netloom.recording import goal, matching, opening, ti
from netloom.recording.results import replay_findings, replayed
from netloom.recording.trace import Trace
from netloom.session.sources import is_stdin

ENDINGS = (".ti", ".ti.gz", ".goal", ".goal.gz")


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


def convert(trace: Path, /, *, options: ProductOptions | None = None) -> int:
    """Write a trace in another format: SimGrid's time-independent one, or GOAL.

    Parameters
    ----------
    trace
        A folder of `netloom record --events -o`, or a file or a folder of another format.
    options
        Common options; the ending after `-o` names the format: .ti, .goal (also .gz).
    """
    options = options or ProductOptions()
    outputs.need_output("trace convert", options)
    run = Run("trace-convert", options, endings=ENDINGS)
    found = _read(run, trace)
    ending = outputs.ending(options.output)
    parts: list[str] = []
    with run.timed("convert"):
        written = goal.write(found, parts.append) if "goal" in ending else ti.write(found, parts.append)
    data = "".join(parts).encode()
    result: dict[str, Any] = {
        "format": "goal" if "goal" in ending else "ti",
        "ranks": found.ranks,
        **replayed(written),
        "output": run.write(gzip.compress(data, 4, mtime=0) if ending.endswith(".gz") else data),
        "findings": replay_findings(written),
    }
    return run.finish(result, lambda: report.convert_text(result))


def _read(run: Run, source: Path) -> Trace:
    if is_stdin(str(source)):
        raise UsageError("a trace is a file or a folder: it cannot come from standard input")
    with run.timed("read"):
        found, files = opening.read(source)
    for name in files:
        run.read("trace", name)
    return found
