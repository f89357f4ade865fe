"""Who is where: of jobs files and of Slurm; and the files that a jobs file names, inputs of the result too.

The core reads jobs files, and has read this one before. Here only the names are looked for, so that the
result's envelope can list their sums.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.errors import NetloomError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.cli.common import Run

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

    data = jobs.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
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


def placed(run: Run, fabric: Fabric, jobs: Path, *, again: bool = False) -> list[Job]:
    """Who is where, of a jobs file or of what Slurm prints; both may come from standard input.

    Of Slurm's jobs those that cannot be used are left out, with findings of the run. A jobs file that comes
    from standard input can name no files. `again`: the file is an input of the run already.
    """
    import tempfile

    from netloom import _core, slurm
    from netloom.cli import STDIO
    from netloom.cli.sources import raise_in_jobs
    from netloom.errors import FormatError

    data = jobs.read_bytes() if again else run.read("jobs", str(jobs))
    label = "-" if str(jobs) == STDIO else str(jobs)
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    with run.timed("read"):
        if slurm.is_slurm(text):
            table = fabric.host_table()
            known = [*table["name"], *table["machine"]]
            kept, found = slurm.usable(slurm.read(text, label), known, label)
            new = [one for one in found if one not in run.findings]
            run.findings += new
            for one in new:
                run.note(one["text"], kind=one["severity"])
            text = slurm.jobs_file(kept).encode()
        elif label != "-":
            try:
                return _core.place_jobs(fabric, jobs, seed=run.options.seed)[1]
            except OSError as error:
                raise_in_jobs(jobs, error)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "jobs.toml"
            file.write_bytes(text)
            try:
                return _core.place_jobs(fabric, file, seed=run.options.seed)[1]
            except OSError as error:
                what = "expected jobs that name no files: paths are relative to a jobs file"
                raise FormatError(f"{label}: {error.filename}: {what}") from None
            except NetloomError as error:
                raise type(error)(str(error).replace(str(file), label)) from None
