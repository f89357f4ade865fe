"""What `netloom optimize` shall minimise and what it may change: its options."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

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
    """The standard error of the traffic: a percentage for all entries, or a file of traffic with the error of
    each entry in bytes. Routes are made for the given traffic and random samples around it."""
    samples: Annotated[int | None, options.within(1, 1000)] = None
    """With `--error`: how many samples. [default: 4]"""
    hose: bool = False
    """Only row and column sums are known: those of TRAFFIC, or TRAFFIC is a CSV `host,sent,received`.
    Minimise the worst load over all traffic with these sums."""
    robust: Literal["worst", "mean"] | None = None
    """With `--also` and `--error`: minimise the `worst` or the `mean` gap to each traffic's own bound.
    [default: worst]"""
    depth: Annotated[int | None, options.within(0, 1000)] = None
    """Also minimise the number of links on so many load levels below the maximum. If it is given, this is
    done even if today's routes meet the bound. [default: 3, with `--hose` 0]"""

    islands: Annotated[int | None, options.within(1, 1024)] = None
    """Number of parallel searches; the best result is kept. Results do not depend on the number of threads.
    `--work` is the sum over all islands. [default: 1]"""


@Parameter(name="*", group=Group("Changing little", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class RoutesInForce:
    """Routes that are in force, and how they may change."""

    from_: Annotated[str | None, Parameter(name="--from")] = None
    """Today's routes, a file or an engine. The search starts from them, keeps entries without traffic, and
    counts changed entries."""
    max_changes: Annotated[int | None, options.within(0, 2**63 - 1)] = None
    """With `--from`: change at most so many entries."""
    penalty_per_change: Annotated[float | None, options.within(0, 1e300)] = None
    """With `--from`: bytes of largest load that a changed entry must be worth."""
    keep_jobs: str | None = None
    """With `--from`: the traffic that today's routes were made for. Entries towards hosts whose traffic is
    unchanged stay."""
    front: bool = False
    """With `--from`: how low the largest load gets with 0, 1, 2, 5, … changed entries."""
    repair: bool = False
    """With `--from`: replace entries from which packets do not arrive, instead of refusing them. Nothing else
    changes, unless `--max-changes`, `--penalty-per-change`, `--keep-jobs`, `--front` or `--avoid` asks for
    more."""


@Parameter(name="*", group=Group("A simulation as the judge", sort_key=4))
@dataclass(frozen=True, kw_only=True)
class Judge:
    """What is simulated."""

    judge: Literal["packets", "fluid"] | None = None
    """Simulate the traffic with the initial routes and with several that have lower loads, and take the
    fastest: packet by packet, or as flows, which is quicker. A trace, or a jobs file of traces, is replayed.
    With a plain matrix every host sends everything at once, nearest host first."""


MOST_PERCENT = 1e5


def percent(error: str) -> float | str:
    """The error as a percentage of every entry: 5 of `5` and `5%`; or the file that it names.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if os.path.exists(error):
        return error
    try:
        found = float(error.removesuffix("%"))
    except ValueError:
        raise UsageError(f"--error {error}: expected a percentage or a file of bytes an entry") from None
    if not 0 <= found <= MOST_PERCENT:
        raise UsageError(f"--error {error}: expected 0 to {MOST_PERCENT:g} percent")
    return found
