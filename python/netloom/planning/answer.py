"""`netloom.plan`: which network for a machine that is to be bought."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netloom.errors import ArgumentError
from netloom.planning.dragonflies import dragonflies as of_groups
from netloom.planning.failures import after_failures
from netloom.planning.growth import growth
from netloom.planning.judged import judged
from netloom.planning.reference import bounded
from netloom.planning.runs import run_times
from netloom.session.arguments import error_allowed
from netloom.session.checked import checked

if TYPE_CHECKING:
    from netloom._core import Fabric


@checked(dragonflies=(0.0, 10_000.0))
def plan(
    source: str | os.PathLike[str],
    *,
    seed: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    by_packets: bool = False,
    today: str | os.PathLike[str] | None = None,
    failures: bool = False,
    dragonflies: float | None = None,
    skip_repeats: float | None = None,
) -> dict[str, Any]:
    """Designs for the machine of a plan: counted, priced, and how much they slow its applications.

    Traces whose run time the plan does not tell are run packet by packet on a network without taper; designs
    are simulated only where that is asked for. `docs/schemas/plan.json` has the result's keys.

    Parameters
    ----------
    source : path
        A plan (.toml).
    seed : int, optional
        Of fragmented and random orders; the plan's own if None.
    threads : int, default 0
        0 is one a core. The result is the same for any number.
    time_limit : float, optional
        Seconds.
    progress : callable, optional
        Called with what is done and all that is to do.
    by_packets : bool, default False
        Whether the chosen design, its neighbours on the front and those that the plan compares with are run
        packet by packet, too; what is not over at the time limit is None.
    today : path or str, optional
        The fabric that the site has, a file or a spec: it is run packet by packet, as well, as it is.
    failures : bool, default False
        Whether to tell what is left of throughput after the worst cable, spine and core, and after 1 % of
        cables, of the chosen design, the full one and those compared.
    dragonflies : float, optional
        Length of a cable within a group, m: dragonflies stand in one front with the trees, and the best of
        them is run packet by packet, as well.
    skip_repeats : float, optional
        Of runs packet by packet, do not simulate iterations that repeat earlier ones again, with this error
        allowed; 0: exact repeats only, and the result is the same. [default: all is run]

    Returns
    -------
    dict
        `designs` is the front of price against estimated slowdown, cheapest first; `chosen` a number in it or
        None; `full` the cheapest design without taper; `compared` the plan's own specs.

    Raises
    ------
    FormatError, TrafficError, FabricError, OSError
        If the plan, its catalogue, a file of traffic or the present fabric is not what it should be.
    SimulationError
        If a trace cannot be run.
    TimeoutError
        If the time limit came first.

    References
    ----------
    Paper 004; `docs/methods/planning.md`.

    Examples
    --------
    >>> from netloom import examples
    >>> result = netloom.plan(examples.path("plan/quartz.toml"))
    >>> result["designs"][result["chosen"]]["slowdown"]["bound"] >= 1
    True
    """
    from netloom import _core

    skip_repeats = error_allowed(skip_repeats)
    if skip_repeats is not None and not by_packets and today is None:
        raise ArgumentError("skip_repeats: expected by_packets or today beside it, or nothing is run")
    until = None if time_limit is None else time.monotonic() + time_limit
    has = None if today is None else (str(today), present(str(today)))
    runs = run_times(source, threads=threads, until=until)
    left = None if until is None else max(0.0, until - time.monotonic())
    result = _core.plan(source, seed=seed, threads=threads, time_limit=left, progress=progress, runs=runs)
    bounded(source, result, threads=threads, until=until)
    for one in every(result):
        one["growth"] = growth(one, result)
        one["after_failure"] = None
    result["judged"] = result["dragonflies"] = None
    if dragonflies is not None:
        result["dragonflies"] = of_groups(
            source, result, local_m=dragonflies, threads=threads, until=until, progress=progress
        )
    if by_packets or has is not None:
        result["judged"] = judged(
            source,
            result,
            today=has,
            skip_repeats=skip_repeats,
            threads=threads,
            until=until,
            progress=progress,
        )
    if failures:
        fail(source, result, threads=threads, until=until, progress=progress)
    return result


def present(source: str) -> Fabric:
    """The fabric that a site has: a file, or a spec."""
    from netloom import Fabric, _core

    return (
        Fabric.read(source)
        if Path(source).exists() or not _core.is_generator(source)
        else Fabric.generate(source)
    )


def every(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All designs of an answer: the front, those compared, the full one."""
    return [*result["designs"], *result["compared"], *([result["full"]] if result["full"] else [])]


def fail(
    source: str | os.PathLike[str],
    result: Mapping[str, Any],
    *,
    threads: int = 0,
    until: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Puts `after_failure` to the chosen design, those compared and the full one."""
    chosen = [] if result["chosen"] is None else [result["designs"][result["chosen"]]]
    named = [*chosen, *result["compared"], *([result["full"]] if result["full"] else [])]
    found = after_failures(source, result, named, threads=threads, until=until, progress=progress)
    for one in every(result):
        one["after_failure"] = found.get(one["spec"])
