"""`netloom.plan`: which network for a machine that is to be bought."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from netloom.planning.judged import judged
from netloom.planning.reference import bounded
from netloom.planning.runs import run_times
from netloom.session.checked import checked


@checked()
def plan(
    source: str | os.PathLike[str],
    *,
    seed: int | None = None,
    threads: int = 0,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
    by_packets: bool = False,
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
        Whether the chosen design and its neighbours on the front are run packet by packet, too; what is not
        over at the time limit is None.

    Returns
    -------
    dict
        `designs` is the front of price against estimated slowdown, cheapest first; `chosen` a number in it or
        None; `full` the cheapest design without taper; `compared` the plan's own specs.

    Raises
    ------
    FormatError, TrafficError, OSError
        If the plan, its catalogue or a file of traffic is not what it should be.
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

    until = None if time_limit is None else time.monotonic() + time_limit
    runs = run_times(source, threads=threads, until=until)
    left = None if until is None else max(0.0, until - time.monotonic())
    result = _core.plan(source, seed=seed, threads=threads, time_limit=left, progress=progress, runs=runs)
    bounded(source, result, threads=threads, until=until)
    result["judged"] = (
        judged(source, result, threads=threads, until=until, progress=progress) if by_packets else None
    )
    return result
