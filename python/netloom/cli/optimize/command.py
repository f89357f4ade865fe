"""`netloom optimize`: the best routes for a traffic, with a proof of how good they can be."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from netloom.cli.optimize import avoid as avoiding
from netloom.cli.optimize import compare as table
from netloom.cli.optimize import front as fronts
from netloom.cli.optimize import hose, matrices, report, uncertain, unfit
from netloom.cli.optimize import today as in_force
from netloom.cli.optimize.addresses import Addresses, write_paths
from netloom.cli.optimize.exact_model import ExactModel
from netloom.cli.optimize.goals import Goal, Little
from netloom.cli.optimize.judge import Judge
from netloom.cli.shared import doubt, inputs, options, outputs
from netloom.cli.shared.guard import TooLate
from netloom.cli.shared.options import Options
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import named, refuse
from netloom.errors import NetloomError, RoutingError
from netloom.findings import Finding, findings, without_entries

if TYPE_CHECKING:
    from netloom._core import Fabric, Hose, HoseLoads, LinkLoads, Optimized, OptimizedLayers, Routes, Traffic


def optimize(
    fabric: str,
    traffic: str,
    /,
    *,
    background: str | None = None,
    avoid: tuple[str, ...] = (),
    roots: str | None = None,
    write_certificate: Annotated[Path | None, options.OUTPUT_PATH] = None,
    compare: bool = False,
    goal: Goal | None = None,
    little: Little | None = None,
    several: Addresses | None = None,
    judge: Judge | None = None,
    model: ExactModel | None = None,
    options: Options | None = None,
) -> int:
    """Find the best routes for a traffic, with a proof.

    Anytime: Ctrl-C and `--time-limit` keep (and write) the best so far. The proof is a certificate that
    `netloom check --traffic --certificate` judges with code of its own.

    Parameters
    ----------
    fabric
        A dump of `ibnetdiscover`, an ibsim net file, or a generator spec.
    traffic
        Traffic over hosts (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (.ti, its index or folder,
        .goal), a jobs file (.toml), or a pattern spec.
    background
        Routes for the entries that no traffic uses: an engine or a file. The result says how good they are
        for the traffic. [default: auto, which is `ftree` where the fabric is a tree, else `updn`]
    avoid
        A switch (`spine03`) or a cable by an end (`leaf03[7]`), by name or GUID, that hosts' packets must
        avoid, for example before maintenance. May be given several times.
    roots
        Switches on top of up*/down* ways: names or GUIDs, with commas, or OpenSM's `root_guid_file`. Below
        them the distance counts, then the GUID. [default: chosen by what the ways can carry]
    write_certificate
        Write the proof of the lower bound here (.json); of several matrices, one each.
    compare
        Also make routes with AFAR, one colouring and every engine (with `--lmc` also with fewer addresses),
        and print all side by side: largest load, gaps in percent, links that carry it, seconds.
    goal
        What to minimise.
    little
        Today's routes, and how they may change.
    several
        Several addresses a host.
    judge
        A simulation as the judge.
    model
        An exact model beside it.
    options
        Common options; `-o` writes the routes for OpenSM's `file` engine.
    """
    options, goal, little = options or Options(), goal or Goal(), little or Little()
    several, judge, exact = several or Addresses(), judge or Judge(), model or ExactModel()
    outputs.check_routes(options)
    given = named(
        goal,
        little,
        several,
        judge,
        exact,
        background=background,
        avoid=avoid,
        roots=roots,
        write_certificate=write_certificate,
        compare=compare,
    )
    refuse(unfit.TABLE, given)
    if goal.error is not None:
        uncertain.part(goal.error)
    exact.check()
    goal = judge.goal(goal)
    run = Run("optimize", options, searches=True)
    if goal.hose:
        net = inputs.with_roots(run, run.fabric(fabric, warn=True), roots)
        return _of_sums(run, net, traffic, background, goal, little)
    if write_certificate is not None:
        run.also_writes(write_certificate, "--write-certificate")
    for path, option in ((several.write_paths, "--write-paths"), (exact.write_model, "--write-model")):
        if path is not None:
            run.also_writes(path, option)
    net = inputs.with_roots(run, run.fabric(fabric, warn=True), roots)
    search = _Search(run, net, traffic, background, goal, little, several.lmc, judge, avoid)
    if search.layers is not None:
        refuse(unfit.TABLE, given | {unfit.PHASES})
    search.sets_aside()
    started = time.perf_counter()
    run.keeps()
    with run.timed("optimize"):
        share = 0.5 if compare or little.front or exact.exact is not None else 1.0
        best = search.run(little.max_changes, share=share)
    seconds = time.perf_counter() - started
    interrupted = best.stopped == "interrupted"
    rows = points = None
    if compare and not interrupted:
        with run.timed("compare"):
            rows, interrupted = table.compare(
                run, search.fabric, search.traffic, search.loads(best), seconds, search.begin, several.lmc
            )
    if little.front and not interrupted:
        with run.timed("front"):
            points, interrupted = search.front(best)
    loads, routes, solved = search.loads(best), best.routes, None
    today = kept = None
    known_badly = None if search.layers is not None or several.lmc else doubt.told(traffic)
    if known_badly is not None and not known_badly.is_sure and exact.exact is None:
        today = doubt.kept(run, search.fabric, search.traffic, known_badly, search.in_force, loads)
        routes, loads = today or (routes, loads)
    if not interrupted:
        solved, routes, loads = exact.solved(run, search.fabric, search.traffic, routes, loads)
        interrupted = solved is not None and solved["status"] == "interrupted"
    if today is None and (kept := search.kept(best, loads)) is not None:
        routes, loads = kept
    fewest, known = None, True
    if not interrupted and kept is None:
        fewest, known, interrupted = search.links_at_max(routes, loads)
    run.finishing()
    why = "nothing" if today or kept else search.because(best, routes)
    changed = 0 if kept is not None else search.changed(best, routes)
    if search.avoided is not None:
        routes = search.avoided.whole(routes)
        changed = search.avoided.changed(routes)
    sound, before = _judged(run, search.whole, routes), search.before(best, loads)
    result: dict[str, Any] = {
        **report.optimized_result(search.fabric, best, loads, search.traffic),
        **matrices.result(best, loads, goal, before, kept=kept is not None),
        "changed_entries": changed,
        "repaired_entries": in_force.repaired(search.today, kept is not None),
        "avoided": None if search.avoided is None else search.avoided.result(),
        "background": search.named_before(best, before),
        "compare": rows,
        "front": points,
        "exact": solved,
        "judge": search.judged,
        "changed_because": why,
        "links_at_max_bound": fewest,
        "findings": _told(run, search.whole),
        "output": _written(run, routes, search.whole, search.today) if sound else None,
        "certificate": None,
        **write_paths(run, routes, several),
    }
    if not known or (solved is not None and solved["status"] in ("time-limit", "interrupted")):
        result["reproducible"] = False
    if little.max_changes == 0:
        run.note("nothing may change (--max-changes 0): these are today's routes")
    elif best.stopped in _TOO_SMALL and len(result["history"]) <= 1 and not best.proven_optimal:
        run.note(f"{_TOO_SMALL[best.stopped]} for any improvement: these are the routes it began with")
    if write_certificate is not None:
        result["certificate"] = run.write(matrices.certificates(best), write_certificate)
    began = search.named or _auto(search.fabric)
    return run.finish(
        result, lambda: report.text(result, began), rows=rows or points, interrupted=interrupted
    )


def _written(run: Run, routes: Routes, fabric: Fabric, today: in_force.Today | None) -> str | None:
    """Writes routes where `-o` says, with today's entries of LIDs that no port of the fabric has."""
    if not run.has_product:
        return None
    return run.write(routes if today is None else today.with_strangers(routes.to_bytes(), fabric))


def _told(run: Run, fabric: Fabric) -> list[Finding]:
    """What is odd about today's routes, and for whom a file of routes has no entry."""
    return run.findings + (without_entries(fabric.findings) if run.has_product else [])


def _of_sums(run: Run, net: Fabric, traffic: str, background: str | None, goal: Goal, little: Little) -> int:
    """`--hose`: the worst over all traffic with some sums."""
    from netloom import _core

    options = run.options
    sums = hose.read(run, traffic, net)
    begin, named, today = _begin(run, net, background, little)
    limits: dict[str, Any] = {"background": begin}
    if today is not None:
        limits = {
            "today": begin,
            "penalty_per_change": little.penalty_per_change or 0.0,
            "max_changes": little.max_changes,
        }
    run.sets_aside(_seconds_to_finish(run, net))
    # Until it returns there is nothing to keep: what overruns the limit by far is ended.
    with run.timed("optimize"), run.progress("optimize") as progress:
        try:
            best = _core.optimize_hose(
                net,
                sums,
                depth=goal.depth,
                seed=run.seed,
                threads=options.threads,
                work=options.work,
                time_limit=run.left,
                progress=progress,
                **limits,
            )
        except TimeoutError:
            # How bad the routes to begin with can be was not known yet.
            raise TooLate(options.time_limit or 0.0) from None
    run.finishing()
    before, routes, kept = None, best.routes, None
    if named is not None:
        worst, mended = _worst_before(run, net, begin, sums, today)
        before = {
            "routes": named,
            "max_load": worst.max,
            "value": worst.max,
            "ar_gap_percent": None,
            "repaired_max_load": mended,
        }
        if today is not None and today.safe and not in_force.is_better(best.worst, worst):
            routes, kept = today.given, worst
            in_force.tell_kept(run, today, worst.max, best.worst.max)
    sound = _judged(run, net, routes)
    result: dict[str, Any] = {
        **hose.hose_result(net, best, named is not None, kept),
        "repaired_entries": in_force.repaired(today, kept is not None),
        "avoided": None,
        "background": before,
        "compare": None,
        "front": None,
        "exact": None,
        "judge": None,
        "changed_because": "nothing" if kept else best.changed_because,
        "links_at_max_bound": None,
        "findings": _told(run, net),
        "output": _written(run, routes, net, today) if sound else None,
        "certificate": None,
        **write_paths(run, routes, Addresses()),
    }
    began = named or _auto(net)
    return run.finish(result, lambda: report.text(result, began), interrupted=best.stopped == "interrupted")


def _worst_before(
    run: Run, fabric: Fabric, begin: Routes | str, sums: Hose, today: in_force.Today | None
) -> tuple[HoseLoads, float | None]:
    """Worst loads of the routes that were named, as given, and their largest with what was repaired."""
    from netloom import _core

    threads = run.options.threads
    if today is None or not today.repaired_entries:
        return _core.hose_loads(fabric, begin, sums, threads=threads), None
    mended = _core.hose_loads(fabric, begin, sums, threads=threads)
    # Where packets are lost there is nothing to measure: then what is repaired counts.
    with contextlib.suppress(NetloomError):
        return _core.hose_loads(fabric, today.given, sums, threads=threads), mended.max
    return mended, mended.max


_DEADLY = ("credit-loop", "loop")
"""Findings with which no tables are written: a fabric that loads them can stand still."""


def _judged(run: Run, fabric: Fabric, routes: Routes) -> bool:
    """Has the judge that shares no code with the search look at what will be written; tells what it found.

    Whether the tables may be written. The search makes none that may not, so this is about its own mistakes;
    what no tables can mend (hosts that are cut off) is told, written and exits 1.
    """
    from netloom import _core

    with run.timed("check"):
        found = findings(_core.check(fabric, routes, threads=run.options.threads).findings)
    run.findings += found
    for one in found:
        if one["severity"] != "note":
            run.note(one["text"], kind=one["severity"])
    deadly = [one for one in found if one["kind"] in _DEADLY]
    if deadly and run.has_product:
        run.note("not written: these tables can deadlock", kind="error")
    return not deadly


def _begin(
    run: Run, fabric: Fabric, background: str | None, little: Little, avoided: avoiding.Avoided | None = None
) -> tuple[Routes | str, str | None, in_force.Today | None]:
    """What a search begins with, what that is called (None for `auto`), and today's routes with `--from`."""
    if little.from_ is not None and avoided is not None:
        today = avoided.read_today(little.from_, repair=little.repair)
        return today.routes, little.from_, today
    if little.from_ is not None:
        today = in_force.read_today(run, little.from_, fabric, repair=little.repair)
        return today.routes, little.from_, today
    if background in (None, "auto"):
        run.findings += run.note_fallbacks(["auto"], fabric)
        return "auto", None, None
    assert background is not None
    return run.routes(background, fabric, None), background, None


def _auto(fabric: Fabric) -> str:
    """What the tables of `auto` are called: `ftree` where that is what they are."""
    damaged = any(one["kind"] == "other-ranks" for one in fabric.findings)
    return "ftree" if fabric.shape["kind"] == "tree" and not damaged else "auto"


def _seconds_to_finish(run: Run, fabric: Fabric, copies: int = 1, matrices: int = 1) -> float:
    """About how long it takes to check and write tables: they have an entry a switch and destination."""
    entries = fabric.switches * fabric.hosts * copies
    return entries * (_CHECK_S + _LAY_OUT_S * matrices + (_WRITE_S if run.has_product else 0.0))


_CHECK_S, _LAY_OUT_S, _WRITE_S = 20e-9, 3e-9, 250e-9
"""Seconds an entry, of two cores: the judge, the bounds of each matrix, OpenSM's text."""
_LOADS_S = 20e-9
"""Seconds a pair with traffic, for the loads of the routes of today."""
_MOST_PAIRS = 1_000_000
"""Pairs up to which it is asked how many links must carry the largest load."""
_FRONT_WORK = 200_000
"""Path searches for a point of the front: seconds on large fabrics."""
_TOO_SMALL = {
    "time-limit": "the time limit was too short",
    "work": "the work budget (--work) was too small",
}


class _Search:
    """The input of one run, read, and the searches on it."""

    def __init__(
        self,
        run: Run,
        fabric: Fabric,
        traffic: str,
        background: str | None,
        goal: Goal,
        little: Little,
        lmc: int,
        judge: Judge,
        avoid: Sequence[str] = (),
    ) -> None:
        self._run, self._goal, self._little, self._lmc = run, goal, little, lmc
        self._judge, self._source = judge, traffic
        self.judged: dict[str, Any] | None = None
        self.whole = fabric
        self.avoided = avoiding.Avoided(run, self.whole, avoid) if avoid else None
        # What is searched on: the whole, without what is avoided.
        self.fabric: Fabric = self.whole if self.avoided is None else self.avoided.left
        self.traffic: Traffic = run.traffic(traffic, self.whole)
        others = [(source, matrices.fitting(run, source, self.fabric)) for source in goal.also]
        if goal.error is not None:
            number = 4 if goal.samples is None else goal.samples
            others += uncertain.samples(run, goal.error, number, self.fabric, self.traffic)
        self.layers = matrices.layers(goal, traffic, self.traffic, others)
        self.begin, self.named, self.today = _begin(run, self.fabric, background, little, self.avoided)
        self._frozen: list[int] = []
        if little.keep_jobs is not None:
            old = run.traffic(little.keep_jobs, self.fabric)
            self._frozen = in_force.unchanged_hosts(old, self.traffic)
        self._total: LinkLoads | None = None

    def run(
        self,
        most: int | None,
        bounds: LinkLoads | None = None,
        work: int | None = None,
        share: float = 1.0,
    ) -> Optimized | OptimizedLayers:
        """Searches, with so many changed entries at most; `work` is the budget where none is given.

        `share` of the time that is left is its own, the rest for what follows.
        """
        from netloom import _core

        options = self._run.options
        with self._run.progress("optimize") as progress:
            asked: dict[str, Any] = {
                "seed": self._run.seed,
                "threads": options.threads,
                "work": work if options.work is None else options.work,
                "time_limit": None if (left := self._run.left) is None else share * left,
                "progress": progress,
            }
            if self._lmc:
                return _core.optimize_lmc(
                    self.fabric, self.traffic, self._lmc, background=self.begin, **asked
                )
            if self._goal.depth is not None:
                asked["depth"] = self._goal.depth
            if self.today is None:
                asked["background"] = self.begin
            else:
                asked |= {
                    "today": self.begin,
                    "penalty_per_change": self._little.penalty_per_change or 0.0,
                    "max_changes": most,
                    "frozen": self._frozen,
                }
            if self.layers is None:
                asked["islands"] = self._goal.islands or 1
                if self._judge.judge is not None and bounds is None:
                    best, self.judged = self._judge.chosen(
                        self._run, self._source, self.fabric, self.traffic, asked
                    )
                    return best
                return _core.optimize(self.fabric, self.traffic, bounds=bounds, **asked)
            return _core.optimize_layers(
                self.fabric, self.layers, matrices.objective_kind(self._goal), **asked
            )

    def sets_aside(self) -> None:
        """Keeps of the time limit what judging and writing will need."""
        layers = [self.traffic] if self.layers is None else [traffic for _, traffic, _ in self.layers]
        seconds = _seconds_to_finish(self._run, self.fabric, 1 << self._lmc, len(layers))
        if not isinstance(self.begin, str):
            seconds += _LOADS_S * sum(traffic.pairs for traffic in layers)
        self._run.sets_aside(seconds)

    def loads(self, best: Optimized | OptimizedLayers) -> LinkLoads:
        """Loads of what happens in all, with bounds."""
        from netloom import _core

        if isinstance(best, _core.Optimized):
            return best.loads
        if self._total is None:
            first = best.layers[0][2]
            alone = self._goal.several or len(best.layers) == 1
            self._total = first if alone else self._run.loads(self.fabric, best.routes, self.traffic)
        return self._total

    def changed(self, best: Optimized | OptimizedLayers, routes: Routes) -> int | None:
        """Entries in which `routes` differ from those that were named."""
        if isinstance(self.begin, str):
            return None
        return best.changed_entries if routes is best.routes else routes.changed_entries(self.begin)

    def because(self, best: Optimized | OptimizedLayers, routes: Routes) -> str:
        """Why the routes differ from those that it began with."""
        if routes is not best.routes:
            return "bound"
        if self.judged is not None:
            return str(self.judged.pop("changed_because"))
        assert best.changed_because is not None
        return best.changed_because

    def links_at_max(self, routes: Routes, loads: LinkLoads) -> tuple[int | None, bool, bool]:
        """How many links between switches must carry their largest load.

        Returns
        -------
        int or None
            None if nothing is shown, or that is not asked.
        bool
            Whether there was time enough to say so.
        bool
            Whether Ctrl-C was pressed.
        """
        from netloom import _core

        highest, run = loads.max_between_switches, self._run
        asked = self.layers is None and not self._frozen and routes.lmc == 0
        if not asked or highest == 0 or self.traffic.pairs > _MOST_PAIRS:
            return None, True, False
        with run.timed("links-at-max"), run.progress("links at max"):
            try:
                found = _core.links_at_max_bound(
                    self.fabric, self.traffic, highest, threads=run.options.threads, time_limit=run.left
                )
            except KeyboardInterrupt:
                return None, False, True
        if found is None:
            run.note("the time limit came before it was known how many links must carry the largest load")
        return found or None, found is not None, False

    def front(self, best: Optimized | OptimizedLayers) -> tuple[list[dict[str, Any]], bool]:
        """What fewer changes buy."""
        from netloom import _core

        assert isinstance(best, _core.Optimized)
        loads = best.loads
        before = self._judged_before(loads)
        assert before is not None

        def search(changes: int) -> Optimized:
            found = self.run(changes, loads, _FRONT_WORK)
            assert isinstance(found, _core.Optimized)
            return found

        return fronts.front(search, best, before, lambda: self._run.left == 0)

    def before(self, best: Optimized | OptimizedLayers, loads: LinkLoads) -> matrices.Before | None:
        """The routes that were named, judged by the same bounds: in all, and matrix by matrix."""
        from netloom import _core

        given = None if self.today is None else self.today.given
        in_all = self._judged_before(loads, given=given)
        if in_all is None:
            return None
        each = []
        if isinstance(best, _core.OptimizedLayers):
            assert self.layers is not None
            for (_, traffic, _), (_, _, found) in zip(self.layers, best.layers, strict=True):
                alone = self._judged_before(found, traffic, given)
                assert alone is not None
                each.append(alone)
        return matrices.Before(in_all, each)

    @property
    def in_force(self) -> Routes | str:
        """Today's routes: as given, where they may stay."""
        return self.today.given if self.today is not None and self.today.safe else self.begin

    def kept(self, best: Optimized | OptimizedLayers, loads: LinkLoads) -> tuple[Routes, LinkLoads] | None:
        """Today's routes and their loads, where they are safe and no worse than what was found; told.

        Ways that are shortest, but not up*/down*, are not among those that are searched.
        """
        from netloom import _core

        today = self.today
        # Where a simulation has judged, loads do not decide.
        if today is None or not today.safe or self.judged is not None:
            return None
        before = self.before(best, loads)
        assert before is not None
        if isinstance(best, _core.Optimized):
            if in_force.is_better(loads, before.in_all):
                return None
            found, given = loads.max, before.in_all.max
        else:
            found, given = best.objective, before.value(best)
            if found < given * (1 - in_force.TOLERANCE):
                return None
        in_force.tell_kept(self._run, today, given, found)
        return today.given, before.in_all

    def named_before(
        self, best: Optimized | OptimizedLayers, before: matrices.Before | None
    ) -> dict[str, Any] | None:
        """The key `background`."""
        if before is None:
            return None
        in_all = before.in_all
        repaired = None
        if self.today is not None and self.today.repaired_entries:
            mended = self._judged_before(in_all)
            repaired = None if mended is None else mended.max
        return {
            "routes": self.named,
            "max_load": in_all.max,
            "value": before.value(best),
            "ar_gap_percent": in_all.ar_gap_percent,
            "repaired_max_load": repaired,
        }

    def _judged_before(
        self, loads: LinkLoads, traffic: Traffic | None = None, given: Routes | None = None
    ) -> LinkLoads | None:
        from netloom import _core

        if isinstance(self.begin, str):
            return None
        if given is not None:
            # Where packets are lost there is nothing to measure: then what is repaired counts.
            with contextlib.suppress(RoutingError):
                return _core.loads(self.fabric, given, traffic or self.traffic, bounds=loads)
        try:
            return _core.loads(self.fabric, self.begin, traffic or self.traffic, bounds=loads)
        except RoutingError as error:
            raise RoutingError(f"{self.named}: {error}") from None
