"""The files that a jobs file names: they are inputs of the result too.

The core reads jobs files, and has read this one before. Here only the names are looked for, so that the
result's envelope can list their sums.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = "file:"


def named_files(jobs: Path) -> list[tuple[str, Path]] | None:
    """Role (`matrix`, `mapping`) and path of every file that a jobs file names, each once, in its order.

    None if the file uses what TOML 1.1 allows (the core reads that) and Python's reader does not.
    """
    listed = _jobs(jobs)
    if listed is None:
        return None
    found = [(role, jobs.parent / name) for job in listed for role, name in _names(job)]
    return list(dict.fromkeys(found))


def job_of(jobs: Path, file: Path) -> str | None:
    """The name of the first job that names this file."""
    for job in _jobs(jobs) or ():
        if any(jobs.parent / name == file for _, name in _names(job)):
            return str(job.get("name", ""))
    return None


def _jobs(jobs: Path) -> list[dict[str, Any]] | None:
    data = jobs.read_bytes()
    text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
    try:
        found: list[dict[str, Any]] = tomllib.loads(text)["job"]
    except tomllib.TOMLDecodeError:
        return None
    return found


def _names(job: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part in (job, *job.get("phase", ())):
        if "matrix" in part:
            yield "matrix", part["matrix"]
    mapping = job.get("mapping", "")
    if mapping.startswith(_FILE):
        yield "mapping", mapping.removeprefix(_FILE)
