"""Who is where: of jobs files and of what Slurm prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from netloom.errors import ArgumentError, NetloomError
from netloom.session.jobs_file import named_files, raise_in_jobs
from netloom.session.session import Session
from netloom.session.sources import ending, name_of, of_run

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.slurm import Period


class NotSlurm(ArgumentError):
    """A past time was asked for, and a jobs file tells no times."""


def placed(
    session: Session,
    fabric: Fabric,
    jobs: Path,
    *,
    again: bool = False,
    adapters: str | None = None,
    storage: str | None = None,
    during: Period | None = None,
) -> list[Job]:
    """Who is where, of a jobs file or of what Slurm prints; both may come from standard input.

    Of Slurm's jobs those that cannot be used are left out, with findings of the session. A jobs file that
    comes from standard input can name no files. `again`: the file is an input already. `during`: Slurm's jobs
    of a past time.
    """
    from netloom import _core, reading, slurm
    from netloom.errors import FormatError
    from netloom.files import Scratch

    # What is read again and again waits for nobody.
    data = reading.whole(jobs) if again else session.read("jobs", str(jobs))
    label = name_of(str(jobs))

    def place(file: Path) -> list[Job]:
        return _core.place_jobs(fabric, file, seed=session.given_seed, adapters=adapters, storage=storage)[1]

    text = reading.gunzip(data, label)
    with session.timed("read"):
        if slurm.is_slurm(text):
            table = fabric.host_table()
            known = [*table["name"], *table["machine"]]
            kept, found = slurm.usable(slurm.read(text, label), known, label, during)
            new = [one for one in found if one not in session.findings]
            session.findings += new
            for one in new:
                session.note(one["text"], kind=one["severity"])
            text = slurm.jobs_file(kept).encode()
        elif during is not None:
            raise NotSlurm("during is about what Slurm prints (--jobs): a jobs file tells no times")
        elif label != "-":
            try:
                if again:
                    _refuse_pipes(jobs)
                return place(jobs)
            except OSError as error:
                raise_in_jobs(jobs, error)
        with Scratch.private() as scratch:
            scratch.write("jobs.toml", text)
            file = scratch.path / "jobs.toml"
            try:
                return place(file)
            except OSError as error:
                what = "expected jobs that name no files: paths are relative to a jobs file"
                raise FormatError(f"{label}: {error.filename}: {what}") from None
            except NetloomError as error:
                raise type(error)(str(error).replace(str(file), label)) from None


def _refuse_pipes(jobs: Path) -> None:
    """Refuses what a jobs file names that is no file any more: a daemon would wait for it."""
    from netloom import reading

    for _, path in named_files(jobs) or ():
        try:
            reading.head(path, 0)
        except OSError as error:
            error.filename = str(path)
            raise


def jobs_of(session: Session, fabric: Fabric, source: str) -> list[Job]:
    """The jobs of a jobs file that traffic was made of; none of other traffic."""
    from netloom import _core

    source = of_run(source, "jobs.toml")
    if ending(Path(source)) != ".toml" or not Path(source).is_file():
        return []
    return _core.place_jobs(fabric, source, seed=session.given_seed)[1]
