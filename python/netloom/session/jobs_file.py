"""The files that a jobs file names, inputs of the result too.

The core reads jobs files, and has read this one before. Here only the names are looked for, so that the
result's envelope can list their sums.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from netloom import reading

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = "file:"


def named_files(jobs: Path) -> list[tuple[str, Path]] | None:
    """Role (`matrix`, `trace`, `mapping`) and path of every file that a jobs file names, once, in its order.

    None if the file uses what TOML 1.1 allows (the core reads that) and Python's reader does not.
    """
    from netloom import _core

    listed = _jobs(jobs)
    if listed is None:
        return None
    found = []
    for role, name in (entry for job in listed for entry in _names(job)):
        path = jobs.parent / name
        if role != "trace" or path.is_file():
            found.append((role, path))
        if role == "trace":
            found += [(role, Path(part)) for part in _core.trace_files(path)]
    return list(dict.fromkeys(found))


def job_of(jobs: Path, file: Path) -> str | None:
    """The name of the first job that names this file."""
    for job in _jobs(jobs) or ():
        if any(jobs.parent / name == file for _, name in _names(job)):
            return str(job.get("name", ""))
    return None


def replayable(jobs: Path) -> tuple[list[dict[str, Any]], int | None]:
    """The jobs and the file's seed, if every job is one recorded run; else none of them."""
    listed, seed = _read(jobs)
    whole = all("trace" in job and job.get("copies", 1) == 1 for job in listed or ())
    return (listed, seed) if listed and whole else ([], None)


def _jobs(jobs: Path) -> list[dict[str, Any]] | None:
    return _read(jobs)[0]


def _read(jobs: Path) -> tuple[list[dict[str, Any]] | None, int | None]:
    """The jobs, and the seed; none where Python cannot read the file."""
    from netloom.slurm import is_slurm

    data = reading.gunzip(reading.whole(jobs), str(jobs))
    if is_slurm(data):
        return [], None
    text = data.decode()
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None, None
    found: list[dict[str, Any]] = document["job"]
    return found, document.get("seed")


def _names(job: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part in (job, *job.get("phase", ())):
        for role in ("matrix", "trace"):
            if role in part:
                yield role, part[role]
    mapping = job.get("mapping", "")
    if mapping.startswith(_FILE):
        yield "mapping", mapping.removeprefix(_FILE)


def raise_in_jobs(jobs: Path, error: OSError) -> NoReturn:
    """Raises an error again; one about a file that a jobs file names, with the jobs file and the job."""
    from netloom.errors import FormatError

    name = None if error.filename is None else str(error.filename)
    job = job_of(jobs, Path(name)) if name is not None and name != str(jobs) else None
    if name is None or name == str(jobs):
        raise error
    place = str(jobs) if job is None else f'{jobs}: job "{job}"'
    raise FormatError(f"{place}: {name}: {error.strerror}", str(jobs)) from None
