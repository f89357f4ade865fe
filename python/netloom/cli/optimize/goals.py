"""What `netloom optimize` shall minimise and what it may change: options, and which exclude each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from netloom.cli.optimize import uncertain
from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError


@Parameter(name="*", group=Group("What to minimise", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class Goal:
    """One matrix, phases one after another, or several matrices of which nobody knows which will come."""

    objective: Literal["sum", "worst", "total"] | None = None
    """Of traffic in phases: `sum` over the phases of the phase's largest load (a proxy of the run time), the
    `worst` phase's largest load, or the largest load of all phases added up (`total`).
    [default: sum where there are several phases]"""
    also: tuple[str, ...] = ()
    """Another traffic that may come in place of TRAFFIC; may be given several times."""
    error: str | None = None
    """The traffic is only known roughly: a percentage of every entry (standard error), or a file of traffic
    with that of each in bytes. The routes shall suit the traffic as given and samples of what it may be."""
    samples: Annotated[int | None, options.within(1, 1000)] = None
    """With `--error`: how many samples. [default: 4]"""
    hose: bool = False
    """Only row and column sums are known: those of TRAFFIC, or TRAFFIC is a CSV `host,sent,received`.
    Minimise the worst load over all traffic with these sums."""
    robust: Literal["worst", "mean"] | None = None
    """With `--also` and `--error`: minimise the `worst` or the `mean` gap to each traffic's own bound.
    [default: worst]"""
    depth: Annotated[int | None, options.within(0, 1000)] = None
    """Load levels below the maximum whose number of links is minimised too; if given, also where today's
    routes meet the bound, which otherwise stay as they are. [default: 3, with `--hose` 0]"""

    islands: Annotated[int | None, options.within(1, 1024)] = None
    """Searches side by side, for several cores; the best is kept. The result is the same for any number of
    threads, `--work` is that of all. [default: 1]"""

    def check(self) -> None:
        """Refuses options that exclude each other.

        Raises
        ------
        UsageError
        """
        if self.islands is not None and (self.several or self.hose or self.objective in ("sum", "worst")):
            raise UsageError("--islands is about one matrix: expected --objective total")
        if self.error is not None:
            uncertain.part(self.error)
        if self.hose and (self.several or self.objective is not None):
            option = "--objective" if self.objective is not None else "--also" if self.also else "--error"
            raise UsageError(f"--hose is about all traffic with some sums, {option} is not: expected one")
        if self.samples is not None and self.error is None:
            raise UsageError("--samples needs to know how rough the traffic is: --error PERCENT or FILE")
        if self.robust is not None and not self.several:
            raise UsageError("--robust needs other traffic: --also TRAFFIC, or --error PERCENT")
        if self.several and self.objective is not None:
            option = "--also" if self.also else "--error"
            raise UsageError(
                f"--objective is about the phases of one traffic, {option} about several: expected one"
            )

    @property
    def several(self) -> bool:
        """Whether there are several traffics of which one will come."""
        return bool(self.also) or self.error is not None


@Parameter(name="*", group=Group("Changing little", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class Little:
    """Routes that are in force, and how they may change."""

    from_: Annotated[str | None, Parameter(name="--from")] = None
    """Today's routes, a file or an engine: the search begins with them, what carries no traffic stays, and
    entries that differ are counted."""
    max_changes: Annotated[int | None, options.within(0, 2**63 - 1)] = None
    """With `--from`: change so many entries at most."""
    penalty_per_change: Annotated[float | None, options.within(0, 1e300)] = None
    """With `--from`: bytes of largest load that a changed entry must be worth."""
    keep_jobs: str | None = None
    """With `--from`: the traffic that today's routes were made for. Entries towards hosts that are sent the
    same as then stay."""
    front: bool = False
    """With `--from`: how low the largest load gets with 0, 1, 2, 5, … changed entries."""
    repair: bool = False
    """With `--from`: replace entries that lead nowhere, or are missing, instead of refusing them."""

    @property
    def limits(self) -> list[str]:
        """Names of the options given that limit what may change."""
        given = {
            "--max-changes": self.max_changes is not None,
            "--penalty-per-change": self.penalty_per_change is not None,
            "--keep-jobs": self.keep_jobs is not None,
            "--front": self.front,
        }
        return [name for name, there in given.items() if there]

    def check(self, background: str | None) -> None:
        """Refuses options that exclude each other.

        Raises
        ------
        UsageError
        """
        named = [*self.limits, *(["--repair"] if self.repair else [])]
        if self.from_ is None and named:
            raise UsageError(f"{' and '.join(named)}: expected today's routes too, --from FILE")
        if self.from_ is not None and background is not None:
            raise UsageError("--from and --background both say what unused entries are: expected one")
        limits = [name for name in named if name in ("--max-changes", "--penalty-per-change")]
        if self.front and limits:
            raise UsageError(f"--front tries every number of changes, {limits[0]} asks for one: expected one")
