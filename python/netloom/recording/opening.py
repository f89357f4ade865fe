"""Traces of any format that is read, as one kind of `Trace`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from netloom.recording import threads
from netloom.recording import trace as traces
from netloom.recording.events import Communicator
from netloom.recording.trace import Events, Trace


def read(path: Path) -> tuple[Trace, list[str]]:
    """Reads a trace, whatever its format.

    Parameters
    ----------
    path : Path
        A file or a folder; the format is told by the content.

    Returns
    -------
    tuple
        The trace, and the names of the files that it was read from.

    Raises
    ------
    FormatError
        Naming the file, and the byte or the line: it is no trace that is read, is cut short, or contradicts
        itself.
    OSError
        If a file cannot be read.
    """
    from netloom import _core

    if path.is_dir() and traces.is_folder(path):
        names = (traces.META, traces.COMMUNICATORS, traces.EVENTS)
        return threads.numbered(traces.read(path), str(path)), [str(path / name) for name in names]
    found = _core.trace_events(path)
    return threads.numbered(of_columns(found), str(path)), found["files"]


def of_columns(found: dict[str, Any]) -> Trace:
    """A trace from the core's columns.

    Parameters
    ----------
    found : dict
        Of `_core.trace_events`.

    Returns
    -------
    Trace
    """
    none = np.empty(0, np.int64)
    communicators = [
        Communicator(members, False, number) for number, members in enumerate(found["communicators"])
    ] or [Communicator(none, False, 0)]
    meta = {
        "program": found["program"],
        "mpi": None,
        "tool": found["tool"],
        "hosts": list(found["hosts"]),
        "lost": [],
        "dropped": {},
        "lacks": dict(found["lacks"]),
        "timed": found["timed"],
        "collective_tags": found["collective_tags"],
    }
    events = [Events(**columns) for columns in found["ranks"]]
    return Trace(len(events), list(found["functions"]), events, communicators, meta)
