"""What is asked of an optimisation: what to minimise, what may change, and what is looked at beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from netloom._core import Routes, Traffic
    from netloom.optimizing.exact_model import Model


@dataclass(frozen=True, kw_only=True)
class Asked:
    """As `netloom optimize` has its options, and `optimize_tables` its arguments.

    Attributes
    ----------
    writes : bool
        Whether tables are written at the end: for what is told of them, and the time that it takes.
    max_lanes : int
        Lanes that routes may need at most; 1 where nobody writes lanes.
    tables_alone : bool
        Whether nobody writes lanes, whatever routes need.
    levels : bool
        Whether these may need a service level for every pair of hosts.
    """

    background: Routes | str | None = None
    avoid: tuple[str, ...] = ()
    compare: bool = False
    objective: Literal["sum", "worst", "total"] | None = None
    also: tuple[Traffic | str, ...] = ()
    error: float | str | Traffic | None = None
    samples: int | None = None
    hose: bool = False
    robust: Literal["worst", "mean"] | None = None
    depth: int | None = None
    islands: int | None = None
    from_: Routes | str | None = None
    max_changes: int | None = None
    penalty_per_change: float | None = None
    keep_jobs: Traffic | str | None = None
    front: bool = False
    repair: bool = False
    lmc: int = 0
    judge: Literal["packets", "fluid"] | None = None
    exact: Model | None = None
    threshold: float | None = None
    write_model: Path | None = None
    writes: bool = False
    max_lanes: int = 8
    tables_alone: bool = False
    levels: bool = True

    @property
    def several(self) -> bool:
        """Whether there are several traffics of which one will come."""
        return bool(self.also) or self.error is not None

    @property
    def asks_for_more(self) -> bool:
        """Whether more may change than what is dead."""
        limits = (self.max_changes, self.penalty_per_change, self.keep_jobs)
        return self.front or any(limit is not None for limit in limits)
