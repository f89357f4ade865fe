"""Who is where (`--jobs`): of jobs files and of Slurm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from netloom.cli.shared.exits import UsageError
from netloom.session import placement

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
    """Who is where, as `session.placement.placed` has it."""
    chosen = adapters or Adapters()
    try:
        return placement.placed(
            run,
            fabric,
            jobs,
            again=again,
            adapters=chosen.adapters,
            storage=chosen.storage,
            during=during,
        )
    except placement.NotSlurm as error:
        raise UsageError(f"--{error}") from None
