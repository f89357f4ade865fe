"""`netloom.optimize_tables`: what `netloom optimize` does, from Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom.optimizing import matrices, unfit
from netloom.optimizing.answer import answer
from netloom.optimizing.asked import Asked
from netloom.optimizing.product import Answer
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.session.unfit import named, refuse_arguments

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, Routes, Traffic
    from netloom.optimizing.exact_model import Model


@dataclass(frozen=True)
class OptimizedTables:
    """What `optimize_tables` has found.

    Attributes
    ----------
    result : dict
        As `result` of `netloom optimize --format json`; its keys about files are null.
    routes : Routes
        Of the whole fabric.
    notes : list of (str, str)
        What was told on the way: `note` or `warning`, and the text.
    """

    result: dict[str, Any]
    routes: Routes
    notes: list[tuple[str, str]]
    _answer: Answer

    @property
    def certificate(self) -> bytes | None:
        """The proof of the lower bound, as `--write-certificate` writes it; of several matrices one each."""
        best = self._answer.best
        return None if best is None else matrices.certificates(best)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        allow_unreachable: bool = False,
        sl2vl: str | os.PathLike[str] | None = None,
        sl: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes the tables for OpenSM, with today's entries of LIDs that no port of the fabric has.

        Parameters
        ----------
        path : path
            The file.
        allow_unreachable : bool, default False
            Write routes that lose pairs of hosts which cables join.
        sl2vl : path, optional
            The SL-to-VL tables, where the routes need lanes; they are written first.
        sl : path, optional
            The service level of every pair of hosts, where their lanes need it.

        Raises
        ------
        RoutingError
            If the routes can deadlock, need lanes that nobody writes, or lose pairs.
        OSError
            If a file cannot be written.
        """
        from netloom import __version__, _core

        routes = self.routes
        lanes, levels = sl2vl is not None, sl is not None
        routes.check_file(allow_unreachable=allow_unreachable, lanes=lanes, levels=levels)
        if sl2vl is not None and routes.lanes is not None:
            _core.write_atomic(sl2vl, routes.lanes.sl2vl(f"{__version__} optimize"))
        if sl is not None and routes.lanes is not None:
            of_pairs = routes.lanes.service_levels(f"{__version__} optimize")
            if of_pairs is not None:
                _core.write_atomic(sl, of_pairs)
        if self._answer.today is None:
            routes.write(path, allow_unreachable=allow_unreachable, lanes=lanes, levels=levels)
        else:
            file = self._answer.today.with_foreign_entries(routes.to_bytes(), self._answer.fabric)
            _core.write_atomic(path, file)


@checked(
    samples=(1, 1000),
    depth=(0, 1000),
    islands=(1, 1024),
    max_changes=(0, 2**63 - 1),
    lmc=(0, 7),
    max_lanes=(1, 15),
)
def optimize_tables(
    fabric: Fabric | str,
    traffic: Traffic | Hose | str,
    *,
    background: Routes | str | None = None,
    avoid: Sequence[str] = (),
    roots: Sequence[str] | None = None,
    compare: bool = False,
    objective: Literal["sum", "worst", "total"] | None = None,
    also: Sequence[Traffic | str] = (),
    error: float | str | Traffic | None = None,
    samples: int | None = None,
    hose: bool = False,
    robust: Literal["worst", "mean"] | None = None,
    depth: int | None = None,
    islands: int | None = None,
    today: Routes | str | None = None,
    max_changes: int | None = None,
    penalty_per_change: float | None = None,
    keep_jobs: Traffic | str | None = None,
    front: bool = False,
    repair: bool = False,
    lmc: int = 0,
    judge: Literal["packets", "fluid"] | None = None,
    exact: Model | None = None,
    threshold: float | None = None,
    write_model: str | os.PathLike[str] | None = None,
    max_lanes: int = 8,
    seed: int | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> OptimizedTables:
    """Finds the best routes for a traffic as `netloom optimize` does: searched, compared, judged.

    `optimize` is the search alone. Sources may be objects, or files and specs as the command takes them.

    Parameters
    ----------
    fabric : Fabric or str
        The fabric.
    traffic : Traffic, Hose or str
        What is sent; with `hose` its sums by host count.
    background : Routes or str, optional
        Entries that no traffic uses. [default: `ftree` on a tree, `dla` on a dragonfly,
        `dor` on a HyperX, torus or mesh, else `updn`]
    avoid : sequence of str, default ()
        Switches (`spine03`) and cables by an end (`leaf03[7]`) that hosts' packets must avoid.
    roots : sequence of str, optional
        Switches on top of up*/down* ways: names or GUIDs. [default: chosen by what the ways can carry]
    compare : bool, default False
        Also make routes with AFAR, one colouring and every engine: rows of `result["compare"]`.
    objective : {"sum", "worst", "total"}, optional
        Of traffic in phases: what is minimised. [default: `sum` where there are several]
    also : sequence of Traffic or str, default ()
        Traffics that may come in place of the first.
    error : float, str or Traffic, optional
        The standard error of the traffic: a percentage, or bytes by entry.
    samples : int, optional
        With `error`: how many samples, 1 to 1000. [default: 4]
    hose : bool, default False
        Only row and column sums are known: minimise the worst load over all such traffic.
    robust : {"worst", "mean"}, optional
        With `also` and `error`: the gap to each traffic's own bound that is minimised. [default: `worst`]
    depth : int, optional
        On how many load levels below the maximum links are made few, 0 to 1000. [default: 3; with `hose` 0]
    islands : int, optional
        Parallel searches, 1 to 1024. [default: 1]
    today : Routes or str, optional
        Routes in force (`--from`): the search starts from them and counts changed entries.
    max_changes : int, optional
        With `today`: change at most so many entries.
    penalty_per_change : float, optional
        With `today`: bytes of largest load that a changed entry must be worth.
    keep_jobs : Traffic or str, optional
        With `today`: what these routes were made for; entries towards hosts whose traffic is unchanged stay.
    front : bool, default False
        With `today`: how low the load gets with 0, 1, 2, 5, … changes: points of `result["front"]`.
    repair : bool, default False
        With `today`: replace entries from which packets do not arrive, instead of refusing them.
    lmc : int, default 0
        2^lmc addresses a host, 0 to 7.
    judge : {"packets", "fluid"}, optional
        Simulate the candidates and take the fastest.
    exact : str, optional
        Also solve this integer model (`basic`, `product`, …), from the search's routes on.
    threshold : float, optional
        With `exact="few-hot"`: bytes above which a link counts.
    write_model : path, optional
        With `exact`: write the model here (.mps, .mps.gz) in place of solving it.
    max_lanes : int, default 8
        Lanes that routes may need at most, 1 to 15.
    seed : int, optional
        Of all that is random. [default: 0]
    threads : int, default 0
        Threads; 0 is one a core. Results do not depend on it.
    work : int, optional
        Path searches.
    time_limit : float, optional
        Seconds, for all of it; the result is then not reproducible.
    progress : callable, optional
        Hears of what is done and of all.

    Returns
    -------
    OptimizedTables
        The routes, the command's `result`, the proof.

    Raises
    ------
    ArgumentError
        If arguments do not fit together.
    NetloomError
        If an input is wrong, or what is avoided is needed.
    TimeoutError
        If the time limit passed before there was anything to keep.
    KeyboardInterrupt
        At Ctrl-C.

    Examples
    --------
    >>> import netloom as nl
    >>> fabric = nl.Fabric.generate("two-level:leaves=4,hosts=4,spines=4")
    >>> best = nl.optimize_tables(fabric, "shift:4", today="minhop", front=True)
    >>> best.result["max_load"], best.result["front"][-1]["max_load"]
    (1.0, 1.0)
    """
    session = Session(seed=seed, threads=threads, work=work, time_limit=time_limit, progress=progress)
    asked = Asked(
        background=background,
        avoid=tuple(avoid),
        compare=compare,
        objective=objective,
        also=tuple(also),
        error=error,
        samples=samples,
        hose=hose,
        robust=robust,
        depth=depth,
        islands=islands,
        from_=today,
        max_changes=max_changes,
        penalty_per_change=penalty_per_change,
        keep_jobs=keep_jobs,
        front=front,
        repair=repair,
        lmc=lmc,
        judge=judge,
        exact=exact,
        threshold=threshold,
        write_model=None if write_model is None else Path(write_model),
        max_lanes=max_lanes,
    )
    given = named(asked)
    refuse_arguments(unfit.TABLE, given)
    if exact is not None and write_model is None:
        from netloom.exact.solvers import solver_named

        # Before the search: without a solver there is nothing to wait for.
        solver_named("auto")
    net = session.fabric(fabric)
    if roots is not None:
        net = net.with_roots(list(roots))
    found = answer(
        session, net, traffic, asked, lambda: refuse_arguments(unfit.TABLE, given | {unfit.PHASES})
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return OptimizedTables(found.result, found.routes, session.notes, found)
