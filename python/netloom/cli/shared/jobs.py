"""Who is where: of jobs files and of Slurm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from netloom.cli.shared.exits import STDIO, UsageError
from netloom.errors import NetloomError
from netloom.session.jobs_file import named_files, raise_in_jobs

if TYPE_CHECKING:
    from netloom._core import Fabric, Job
    from netloom.cli.shared.run import Run
    from netloom.slurm import Period


@Parameter(name="*", group="Adapters of jobs")
@dataclass(frozen=True, kw_only=True)
class Adapters:
    """Which adapters of their machines jobs use that do not say so themselves."""

    adapters: str | None = None
    """The adapters that jobs use: `mlx5_[0-3]`, `rail:0`, `switch:leaf09`. [default: all]"""
    storage: str | None = None
    """Adapters that jobs do not use, because they are for storage."""

    def check(self, jobs: Path | None) -> None:
        """Refuses them without jobs."""
        for option, value in (("adapters", self.adapters), ("storage", self.storage)):
            if jobs is None and value is not None:
                raise UsageError(f"--{option} is about the jobs of --jobs: expected both")


def placed(
    run: Run,
    fabric: Fabric,
    jobs: Path,
    *,
    again: bool = False,
    adapters: Adapters | None = None,
    during: Period | None = None,
) -> list[Job]:
    """Who is where, of a jobs file or of what Slurm prints; both may come from standard input.

    Of Slurm's jobs those that cannot be used are left out, with findings of the run. A jobs file that comes
    from standard input can name no files. `again`: the file is an input of the run already. `during`:
    Slurm's jobs of a past time.
    """
    from netloom import _core, reading, slurm
    from netloom.errors import FormatError
    from netloom.files import Scratch

    # What is read again and again waits for nobody.
    data = reading.whole(jobs) if again else run.read("jobs", str(jobs))
    label = "-" if str(jobs) == STDIO else str(jobs)
    chosen = adapters or Adapters()

    def place(file: Path) -> list[Job]:
        return _core.place_jobs(
            fabric, file, seed=run.options.seed, adapters=chosen.adapters, storage=chosen.storage
        )[1]

    text = reading.gunzip(data, label)
    with run.timed("read"):
        if slurm.is_slurm(text):
            table = fabric.host_table()
            known = [*table["name"], *table["machine"]]
            kept, found = slurm.usable(slurm.read(text, label), known, label, during)
            new = [one for one in found if one not in run.findings]
            run.findings += new
            for one in new:
                run.note(one["text"], kind=one["severity"])
            text = slurm.jobs_file(kept).encode()
        elif during is not None:
            raise UsageError("--during is about what Slurm prints (--jobs): a jobs file tells no times")
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
