"""Minutes lost to neighbours by one call, as `netloom interference` tells them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloom.interference import accounts, exposure, losses
from netloom.session.checked import checked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, Routes
    from netloom.interference.accounts import JobRun
    from netloom.interference.exposure import Exposure
    from netloom.interference.losses import Loss


@checked()
def find_interference(
    runs: str | os.PathLike[str],
    fabric: Fabric | str,
    routes: Routes | str,
    counters: str | os.PathLike[str],
    *,
    instead: Routes | str | None = None,
    threads: int = 0,
    session: Session | None = None,
) -> dict[str, Any]:
    """Minutes that runs of jobs lost to their neighbours, each with a 95 % interval.

    Parameters
    ----------
    runs : path
        What ran when and where: a table (CSV) with the columns job, number, start, end (seconds) and hosts
        (names with spaces between), or what Slurm's `sacct` prints.
    fabric : Fabric or str
        A fabric, a dump of one, or a generator spec.
    routes : Routes or str
        The routes in force: tables, a file of them, or an engine's name.
    counters : path
        Counters of all links in intervals, by the clock of `runs`.
    instead : Routes or str, optional
        Other routes: how far the runs would be exposed with these.
    threads : int, default 0
        0 is one a core.
    session : Session, optional
        What it may spend and whom it tells; `threads` is then its own.

    Returns
    -------
    dict
        As `result` of `netloom interference --format json`.

    Raises
    ------
    FormatError
        If a file is not what it should be.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> netloom.find_interference("runs.csv", "net.txt", "ftree", "counters.csv")["jobs"]  # doctest: +SKIP
    """
    from netloom import _core

    session = session or Session(threads=threads)
    net = session.fabric(fabric)
    tables = session.routes(routes, net, None)
    others = None if instead is None else session.routes(instead, net, None)
    ran, left_out = accounts.read(session.read("jobs", os.fspath(runs)), os.fspath(runs), _hosts(net))
    label = os.fspath(counters)
    counted = _core.Counters.parse(session.read("counters", label), net, label=label)
    carried = accounts.Carried.of(counted, len(net.link_table()["source"]))
    with session.timed("compare"):
        threads = session.threads
        exposed = exposure.exposures(net, tables, ran, carried, threads=threads)
        moved = None if others is None else exposure.exposures(net, others, ran, carried, threads=threads)
        resolution = accounts.resolution_s(ran)
        lost = losses.losses(ran, exposed, resolution)
        together = losses.of_jobs(ran, exposed, lost, resolution)
    table, names = net.link_table(), [*net.host_names, *net.switch_names]
    return {
        "method": "quiet-runs-by-place",
        "quiet_percent": 100 * losses.QUIET_SHARE,
        "resolution_s": resolution,
        "unlisted_percent": exposure.unlisted_percent(net, ran, carried),
        "jobs": [
            _row(table, names, ran, at, exposed[at], lost[at], None if moved is None else moved[at])
            for at in range(len(ran))
        ],
        "together": [{"job": job, "hosts": hosts, **_told(one)} for (job, hosts), one in together.items()],
        "left_out": left_out,
    }


def _hosts(net: Fabric) -> dict[str, int]:
    """Hosts by their names, and by those of machines with one adapter."""
    found: dict[str, int] = {}
    for number, name in enumerate(net.host_names):
        found.setdefault(name.split()[0], number)
        found[name] = number
    return found


def _told(one: Loss) -> dict[str, Any]:
    return {
        "minutes_lost": one.minutes,
        "low": one.low,
        "high": one.high,
        "no_statement": one.reason,
        "quiet_runs": one.quiet_runs,
    }


def _row(
    table: Mapping[str, Any],
    names: Sequence[str],
    ran: Sequence[JobRun],
    at: int,
    exposed: Exposure,
    lost: Loss,
    moved: Exposure | None,
) -> dict[str, Any]:
    link = None
    if exposed.link is not None:
        link = {
            "link": exposed.link,
            "from": names[int(table["source"][exposed.link])],
            "from_port": int(table["source_port"][exposed.link]),
            "to": names[int(table["target"][exposed.link])],
            "to_port": int(table["target_port"][exposed.link]),
        }
    return {
        "name": ran[at].job,
        "number": ran[at].number,
        "hosts": len(ran[at].hosts),
        "minutes": ran[at].seconds / 60,
        **_told(lost),
        "exposed_percent": 100 * exposed.share,
        "worst_link": link,
        "neighbours": [
            _neighbour(None if other == exposure.UNLISTED else ran[other], share)
            for other, share in exposed.neighbours
        ],
        "estimated_percent": 100 * exposed.estimated,
        "instead_percent": None if moved is None else 100 * moved.estimated,
    }


def _neighbour(run: JobRun | None, share: float) -> dict[str, Any]:
    name, number = ("not listed", "") if run is None else (run.job, run.number)
    return {"name": name, "number": number, "share_percent": 100 * share}
