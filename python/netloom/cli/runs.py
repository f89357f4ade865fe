"""A run as a folder: `manifest.json`, and for every routing a folder of tables; checkpoints are the same.

A routing's folder is written whole, its `run.json` last, and so is the run's, its manifest last: a folder
without one is no run. What somebody else put into a folder is never touched.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.cli import render
from netloom.errors import FormatError

if TYPE_CHECKING:
    from netloom._core import Fabric, Simulation

MANIFEST, RECORD, STATE = "manifest.json", "run.json", "state"
RUN_SCHEMA, RECORD_SCHEMA = "netloom.run/1", "netloom.routing-run/1"
STATE_MAGIC = "netloom.state/1"
"""The first word of a state's file; netloom's version and the sum of all that the run was given follow."""


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
    return f"{render.as_json(document)}\n".encode()


def check_folder(path: Path) -> None:
    """Refuses a folder that cannot become a run: one that is none and not empty, or has no parent.

    Raises
    ------
    OSError
        Naming the folder.
    """
    if path.is_dir():
        if any(path.iterdir()) and not (path / MANIFEST).is_file():
            raise OSError(
                errno.ENOTEMPTY, f"is not empty and has no {MANIFEST}: expected a new folder", str(path)
            )
        _manifest(path, lenient=True)
    elif path.exists():
        raise OSError(errno.ENOTDIR, "is a file, expected a folder", str(path))
    elif not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"there is no folder {path.parent}", str(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise OSError(errno.EACCES, "not writable", str(path))


def check_checkpoint(path: Path) -> None:
    """Refuses a folder that can keep nothing: one that is a file, or that cannot be written.

    Raises
    ------
    OSError
        Naming the folder.
    """
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise OSError(errno.ENOTDIR, "is a file, expected a folder", str(there))
    if not os.access(there, os.W_OK):
        raise OSError(errno.EACCES, "not writable", str(there))


def write_run(path: Path, manifest: dict[str, Any], runs: Sequence[Recorded]) -> None:
    """Writes a run's folder; in one that is there already, the earlier run's files go first."""
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as beside:
        made = Path(beside) / "run"
        made.mkdir()
        entries: list[dict[str, Any]] = []
        for folder, run in zip(folder_names([run.routing for run in runs]), runs, strict=True):
            (made / folder).mkdir()
            for file, data in run.files.items():
                _write(made / folder / file, data)
            entries.append(
                {
                    "routing": run.routing,
                    "folder": folder,
                    "files": sorted(run.files),
                    "result": run.result,
                }
            )
        _write(made / MANIFEST, as_json({**manifest, "runs": entries}))
        if not path.exists():
            made.rename(path)
            return
        _remove(path)
        for entry in entries:
            (path / entry["folder"]).mkdir(exist_ok=True)
            for name in entry["files"]:
                os.replace(made / entry["folder"] / name, path / entry["folder"] / name)
        os.replace(made / MANIFEST, path / MANIFEST)


def _remove(path: Path) -> None:
    """Takes away what the run in a folder wrote, its manifest first."""
    entries = _manifest(path, lenient=True)
    (path / MANIFEST).unlink(missing_ok=True)
    for entry in entries:
        folder = path / entry["folder"]
        for file in entry["files"]:
            (folder / file).unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _manifest(path: Path, *, lenient: bool = False) -> list[dict[str, Any]]:
    """The entries of a run's manifest; with `lenient` none if there is no manifest."""
    file = path / MANIFEST
    if lenient and not file.is_file():
        return []
    return list(read_manifest(path)["runs"])


def read_manifest(path: Path) -> dict[str, Any]:
    """Reads the manifest of a run's folder.

    Raises
    ------
    FormatError
        If it is something else.
    OSError
        If there is none.
    """
    file = path / MANIFEST
    if path.exists() and not file.is_file():
        raise FormatError(f"{path}: has no {MANIFEST}: expected a folder of netloom simulate -o", str(path))
    try:
        document = json.loads(file.read_bytes())
        known = document["schema"] == RUN_SCHEMA and all(_entry_ok(entry) for entry in document["runs"])
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise FormatError(f"{file}: expected what netloom simulate -o writes", str(file))
    return document  # type: ignore[no-any-return]


def _entry_ok(entry: Mapping[str, Any]) -> bool:
    """Whether an entry names only what lies in the run's folder."""
    names = [entry["folder"], *entry["files"]]
    plain = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
    return all(isinstance(name, str) and re.fullmatch(plain, name) is not None for name in names)


def _write(path: Path, data: bytes) -> None:
    from netloom import _core

    _core.write_atomic(path, data)


def _damaged(file: Path, without: Path) -> FormatError:
    return FormatError(
        f"{file}: damaged: expected what netloom simulate --checkpoint writes (without {without} the routing "
        "runs from its start)",
        str(file),
    )


class Checkpoint:
    """Routings of a scenario that have ended and need not be run again, and states of those that run.

    Parameters
    ----------
    path : Path
        The folder; made by the first routing that ends, or whose state is kept.
    key : mapping
        Everything that results depend on but the routing, netloom's version (`netloom`) among it: a run is
        only taken up if all of it is the same.
    every : float
        Seconds from one state to the next; 0: only when a run is ended early.
    """

    def __init__(self, path: Path, key: Mapping[str, Any], every: float) -> None:
        self._path = path
        self._digest = hashlib.sha256(as_json(key)).hexdigest()
        self._head = f"{STATE_MAGIC} {key['netloom']} {self._digest}\n".encode()
        self._every = every

    def load(self, routing: str) -> Recorded | None:
        """What is there of a routing; None if it has not ended yet.

        Raises
        ------
        FormatError
            If what is there is damaged, or belongs to something else.
        """
        folder = self._path / self._name(routing)
        file = folder / RECORD
        if not file.is_file():
            return None
        try:
            record = json.loads(file.read_bytes())
            known = record["schema"] == RECORD_SCHEMA and record["result"]["routing"] == routing
            of_this = record["key"] == self._digest
            sums = {Path(name).name: str(digest) for name, digest in dict(record["files"]).items()}
        except (ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            raise _damaged(file, folder)
        if not of_this:
            raise self._of_another(file)
        files = {name: (folder / name).read_bytes() for name in sums if (folder / name).is_file()}
        for name, digest in sums.items():
            if name not in files or hashlib.sha256(files[name]).hexdigest() != digest:
                raise _damaged(folder / name, folder)
        return Recorded(record["result"], files)

    def state(self, routing: str) -> bytes | None:
        """The state of a routing that has begun; None if there is none.

        Raises
        ------
        FormatError
            If what is there is damaged, or belongs to something else.
        """
        file = self._path / self._name(routing) / STATE
        if not file.is_file():
            return None
        head, end, packed_state = file.read_bytes().partition(b"\n")
        if head.startswith(STATE_MAGIC.encode()) and end and head + end != self._head:
            raise self._of_another(file)
        try:
            if head + end == self._head:
                return gzip.decompress(packed_state)
        except (OSError, EOFError, zlib.error):
            pass
        raise _damaged(file, file)

    def keep(self, routing: str) -> tuple[Path, bytes, float]:
        """Where a routing's state goes, and when: the file, its first line, seconds from one to the next."""
        return self._path / self._name(routing) / STATE, self._head, self._every

    def save(self, run: Recorded) -> None:
        """Keeps a routing that has ended; its state goes."""
        folder = self._path / self._name(run.routing)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        for name, data in run.files.items():
            _write(folder / name, data)
        record = {
            "schema": RECORD_SCHEMA,
            "key": self._digest,
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(run.files.items())},
            "result": run.result,
        }
        _write(folder / RECORD, as_json(record))

    def _of_another(self, file: Path) -> FormatError:
        return FormatError(
            f"{file.parent}: is of another scenario, other inputs, options or another version: expected a "
            "folder of this one, or a new one",
            str(file),
        )

    def _name(self, routing: str) -> str:
        mark = hashlib.sha256(routing.encode()).hexdigest()[:8]
        return f"{folder_names([routing])[0][2:]}-{mark}"
