"""A run as a folder: `manifest.json`, and for every routing a folder of tables.

Invariants: a folder is written whole, its manifest last: a folder without one is no run. The manifest has the
sum of every file, and of itself: what was altered is not believed. What somebody else put into a folder is
never touched, and a complete run is replaced by complete ones only.
"""

from __future__ import annotations

import errno
import gzip
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom import files
from netloom.errors import FormatError
from netloom.files import Folder, Scratch
from netloom.manifest import (
    MANIFEST,
    RUN_SCHEMA,
    UNSEALED,
    damaged,
    digest,
    document_of,
    is_whole,
    read_manifest,
    total_sum,
)
from netloom.shown import documents

if TYPE_CHECKING:
    from netloom._core import Fabric, Simulation
    from netloom.session.session import Session

__all__ = [
    "MANIFEST",
    "RUN_SCHEMA",
    "UNSEALED",
    "Recorded",
    "as_json",
    "check_folder",
    "damaged",
    "digest",
    "files_of",
    "folder_names",
    "is_whole",
    "packed",
    "place_for",
    "read_manifest",
    "reader",
    "sealed",
    "write_run",
]

_OURS = re.compile(r"[a-z][a-z0-9_-]*\.(parquet|csv|json|lfts|toml|txt)(\.gz)?")
"""What runs write; other names in a manifest are none of ours."""
_MADE = "run"
"""The folder that is made, in a scratch folder."""


def reader(session: Session) -> Callable[[Path], bytes]:
    """What reads a file of a run's folder, and notes it as an input."""
    return lambda path: session.read("run", str(path))


@dataclass(frozen=True)
class Recorded:
    """One routing that has been simulated.

    Attributes
    ----------
    result : mapping
        Its entry of `result.runs`.
    files : mapping
        Names and contents: tables, and for optimised routes the tables of forwarding.
    """

    result: dict[str, Any]
    files: Mapping[str, bytes]

    @property
    def routing(self) -> str:
        """The scenario's word."""
        return str(self.result["routing"])

    @property
    def finished(self) -> bool:
        """Whether it came to its own end, and need not be run again."""
        return self.result["stopped"] not in ("interrupted", "time-limit")


def files_of(simulation: Simulation, fabric: Fabric, kind: Literal["parquet", "csv"]) -> dict[str, bytes]:
    """Returns the files that hold what a simulation measured."""
    from netloom import interop, tables

    found = {
        f"{name}.{kind}": interop.table_bytes(table, f".{kind}")
        for name, table in tables.tables(simulation, fabric).items()
    }
    trace = simulation.trace()
    if trace is not None:
        found["trace.json"] = trace
    return found


def packed(data: bytes) -> bytes:
    """Data as gzip, the same bytes every time."""
    return gzip.compress(data, compresslevel=6, mtime=0)


def folder_names(routings: Sequence[str]) -> list[str]:
    """A folder's name for every routing: its place and its word, as far as file systems take it."""
    return [
        f"{at}-{re.sub('[^A-Za-z0-9_.]+', '-', Path(word).name)[:60]}" for at, word in enumerate(routings)
    ]


def as_json(document: Mapping[str, Any]) -> bytes:
    """JSON as a file."""
    return f"{documents.as_json(document)}\n".encode()


def sealed(document: Mapping[str, Any]) -> bytes:
    """JSON as a file, with the sum of all that it says as its last key, `sha256`."""
    # As it will be read: what is not finite is null in the file.
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return as_json({**rest, "sha256": total_sum(json.loads(documents.as_json(rest)))})


def check_folder(path: Path) -> None:
    """Refuses a folder that cannot become a run: one that is none and not empty, or has no parent.

    Raises
    ------
    OSError
        Naming the folder.
    FormatError
        If the run that is there is damaged: what of it is netloom's is not known.
    """
    if not files.check_folder(path):
        return
    with Folder.open(path) as there:
        if there.names() and there.kind(MANIFEST) != "file":
            raise OSError(
                errno.ENOTEMPTY, f"is not empty and has no {MANIFEST}: expected a new folder", str(path)
            )
        for entry in _manifest(there):
            # What cannot be replaced is said before it is simulated.
            if there.kind(entry["folder"]) not in ("folder", None):
                raise OSError(errno.ENOTDIR, "is no folder", str(path / entry["folder"]))


def place_for(path: Path, *, complete: bool) -> Path:
    """Where a run is written: where it was asked for, unless it was broken off and a complete one is there.

    Then it goes beside that, to `NAME.partial` (or `NAME.partial-2`, …).
    """
    if complete or not _holds_complete(path):
        return path
    # The folder's own name, where it was called `.` or `..`.
    there = path if path.name not in ("", "..") else path.resolve()
    for number in itertools.count(1):
        beside = there.with_name(f"{there.name}.partial" + (f"-{number}" if number > 1 else ""))
        if not beside.exists() or ((beside / MANIFEST).is_file() and not _holds_complete(beside)):
            return beside
    raise AssertionError("there is always another number")


def _holds_complete(path: Path) -> bool:
    """Whether a run is there whose every routing came to its own end, or something that cannot be told."""
    try:
        with Folder.open(path) as there:
            document = document_of(path / MANIFEST, there.read(MANIFEST))
        ended = all(Recorded(entry["result"], {}).finished for entry in document["runs"])
        return ended and not document.get("not_run")
    except FileNotFoundError:
        return False
    except (FormatError, KeyError, TypeError, OSError):
        return True


def write_run(path: Path, manifest: dict[str, Any], runs: Sequence[Recorded]) -> None:
    """Writes a run's folder; in one that is there already, the earlier run's files go first."""
    is_there = files.check_folder(path)
    # In the folder that is there, else beside it: on its file system, and opened once.
    with Folder.open(path if is_there else path.parent) as place, Scratch(place) as scratch:
        entries: list[dict[str, Any]] = []
        with scratch.folder(_MADE, make=True) as made:
            for folder, run in zip(folder_names([run.routing for run in runs]), runs, strict=True):
                with made.folder(folder, make=True) as there:
                    for file, data in run.files.items():
                        there.write(file, data)
                entries.append(
                    {
                        "routing": run.routing,
                        "folder": folder,
                        "files": sorted(run.files),
                        "sha256": {name: digest(data) for name, data in sorted(run.files.items())},
                        "result": run.result,
                    }
                )
            made.write(MANIFEST, sealed({**manifest, "runs": entries}))
            if is_there:
                _replace(place, made, entries)
                return
        place.take(scratch, _MADE, path.name)


def _replace(old: Folder, made: Folder, entries: Sequence[Mapping[str, Any]]) -> None:
    _remove(old)
    for entry in entries:
        with made.folder(entry["folder"]) as new, old.folder(entry["folder"], make=True) as there:
            for name in entry["files"]:
                there.take(new, name, name)
    old.take(made, MANIFEST, MANIFEST)


def _remove(run: Folder) -> None:
    """Takes away what the run in a folder wrote, its manifest first; nothing that a link leads to."""
    entries = _manifest(run)
    run.remove(MANIFEST)
    for entry in entries:
        if run.kind(entry["folder"]) is None:
            continue
        with run.folder(entry["folder"]) as folder:
            for file in entry["files"]:
                if _OURS.fullmatch(file) and folder.kind(file) in ("file", "link"):
                    folder.remove(file)
        run.remove_folder(entry["folder"])


def _manifest(run: Folder) -> list[dict[str, Any]]:
    """The entries of a run's manifest, sealed or not; none if there is no manifest."""
    if run.kind(MANIFEST) is None:
        return []
    return list(document_of(run.path / MANIFEST, run.read(MANIFEST))["runs"])
