"""What an optimisation reads, and the searches on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.errors import RoutingError
from netloom.optimizing import avoid as avoiding
from netloom.optimizing import front as fronts
from netloom.optimizing import judge as judging
from netloom.optimizing import matrices, uncertain
from netloom.optimizing import today as in_force
from netloom.optimizing.asked import Asked
from netloom.session.session import Session

if TYPE_CHECKING:
    from netloom._core import Fabric, LinkLoads, Optimized, OptimizedLayers, Routes, Traffic


def begin(
    session: Session, fabric: Fabric, asked: Asked, avoided: avoiding.Avoided | None = None
) -> tuple[Routes | str, str | None, in_force.Today | None]:
    """What a search begins with, what that is called (None for `auto`), and today's routes with `--from`."""
    if asked.from_ is not None and avoided is not None:
        today = avoided.read_today(asked.from_, repair=asked.repair)
        return today.routes, name_of(asked.from_), today
    if asked.from_ is not None:
        today = in_force.read_today(
            session, asked.from_, fabric, repair=asked.repair, asks_for_more=asked.asks_for_more
        )
        return today.routes, name_of(asked.from_), today
    if asked.background in (None, "auto"):
        session.findings += session.note_fallbacks(["auto"], fabric)
        return "auto", None, None
    assert asked.background is not None
    return session.routes(asked.background, fabric, None), name_of(asked.background), None


def name_of(source: Routes | str) -> str:
    """What routes are called that were given: their file or engine, or `those given`."""
    return source if isinstance(source, str) else "those given"


def auto_name(fabric: Fabric) -> str:
    """What the tables of `auto` are called: `ftree` where that is what they are."""
    damaged = any(one["kind"] == "other-ranks" for one in fabric.findings)
    return "ftree" if fabric.shape["kind"] == "tree" and not damaged else "auto"


def seconds_to_finish(fabric: Fabric, copies: int = 1, matrices: int = 1, *, writes: bool) -> float:
    """About how long it takes to check and write tables: they have an entry a switch and destination."""
    entries = fabric.switches * fabric.hosts * copies
    return entries * (_CHECK_S + _LAY_OUT_S * matrices + (_WRITE_S if writes else 0.0))


_CHECK_S, _LAY_OUT_S, _WRITE_S = 20e-9, 3e-9, 250e-9
"""Seconds an entry, of two cores: the judge, the bounds of each matrix, OpenSM's text."""
_LOADS_S = 20e-9
"""Seconds a pair with traffic, for the loads of the routes of today."""
_MOST_PAIRS = 1_000_000
"""Pairs up to which it is asked how many links must carry the largest load."""
_MOST_LANES = 15
"""Lanes that ports can have for data."""
_FRONT_WORK = 200_000
"""Path searches for a point of the front: seconds on large fabrics."""


class Search:
    """The input of one run, read, and the searches on it."""

    def __init__(self, session: Session, fabric: Fabric, traffic: Traffic | str, asked: Asked) -> None:
        self._session, self._asked, self._source = session, asked, traffic
        self.judged: dict[str, Any] | None = None
        self.whole = fabric
        self.avoided = avoiding.Avoided(session, self.whole, asked.avoid) if asked.avoid else None
        # What is searched on: the whole, without what is avoided.
        self.fabric: Fabric = self.whole if self.avoided is None else self.avoided.left
        self.traffic: Traffic = session.traffic(traffic, self.whole)
        names = [each if isinstance(each, str) else f"traffic {at}" for at, each in enumerate(asked.also, 2)]
        others = [
            (name, matrices.fitting(session, each, name, self.fabric))
            for name, each in zip(names, asked.also, strict=True)
        ]
        if asked.error is not None:
            number = 4 if asked.samples is None else asked.samples
            others += uncertain.samples(session, asked.error, number, self.fabric, self.traffic)
        name = traffic if isinstance(traffic, str) else "traffic"
        self.layers = matrices.layers(asked, name, self.traffic, others)
        self.begin, self.named, self.today = begin(session, self.fabric, asked, self.avoided)
        self._frozen: list[int] = []
        if asked.keep_jobs is not None:
            old = session.traffic(asked.keep_jobs, self.fabric)
            self._frozen = in_force.unchanged_hosts(old, self.traffic)
        self._total: LinkLoads | None = None

    @property
    def most(self) -> int | None:
        """How many entries may change."""
        return 0 if self.today is not None and self.today.still else self._asked.max_changes

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

        with self._session.progress("optimize") as progress:
            asked: dict[str, Any] = {
                "seed": self._session.seed,
                "threads": self._session.threads,
                "work": work if self._session.work is None else self._session.work,
                "time_limit": None if (left := self._session.left) is None else share * left,
                "progress": progress,
                "max_lanes": self._asked.max_lanes,
            }
            if self._asked.lmc:
                return _core.optimize_lmc(
                    self.fabric, self.traffic, self._asked.lmc, background=self.begin, **asked
                )
            if self._asked.depth is not None:
                asked["depth"] = self._asked.depth
            if self.today is None:
                asked["background"] = self.begin
            else:
                asked |= {
                    "today": self.begin,
                    "penalty_per_change": self._asked.penalty_per_change or 0.0,
                    "max_changes": most,
                    "frozen": self._frozen,
                    "stays": self._may_stay(self.today),
                }
            if self.layers is None:
                asked["islands"] = self._asked.islands or 1
                if self._asked.judge is not None and bounds is None:
                    asked.pop("stays", None)
                    if self.today is not None and self._asked.tables_alone:
                        # Tables that need lanes are refused as they are, not made worse.
                        asked["max_lanes"] = _MOST_LANES
                    best, self.judged = judging.chosen(
                        self._session, self._asked.judge, self._source, self.fabric, self.traffic, asked
                    )
                    return best
                asked["levels"] = self._asked.levels
                return _core.optimize(self.fabric, self.traffic, bounds=bounds, **asked)
            return _core.optimize_layers(
                self.fabric, self.layers, matrices.objective_kind(self._asked), **asked
            )

    def _may_stay(self, today: in_force.Today) -> Routes | None:
        """Today's routes, if they are safe and need no more lanes than there may be."""
        if not today.safe:
            return None
        needed = 1 if today.given.lanes is None else today.given.lanes.lanes
        if needed <= self._asked.max_lanes or self._asked.tables_alone:
            return today.given
        self._session.note(
            f"{today.name}: on {needed} lanes, more than {self._asked.max_lanes} (--max-lanes): does not stay"
        )
        return None

    def sets_aside(self) -> None:
        """Keeps of the time limit what judging and writing will need."""
        layers = [self.traffic] if self.layers is None else [traffic for _, traffic, _ in self.layers]
        seconds = seconds_to_finish(self.fabric, 1 << self._asked.lmc, len(layers), writes=self._asked.writes)
        if not isinstance(self.begin, str):
            seconds += _LOADS_S * sum(traffic.pairs for traffic in layers)
        self._session.sets_aside(seconds)

    def loads(self, best: Optimized | OptimizedLayers) -> LinkLoads:
        """Loads of what happens in all, with bounds."""
        from netloom import _core

        if isinstance(best, _core.Optimized):
            return best.loads
        if self._total is None:
            first = best.layers[0][2]
            alone = self._asked.several or len(best.layers) == 1
            self._total = first if alone else self._session.loads(self.fabric, best.routes, self.traffic)
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

        highest, session = loads.max_between_switches, self._session
        # What must be is known of tables of up*/down* ways; those with lanes are others.
        asked = self.layers is None and not self._frozen and routes.lmc == 0 and routes.lanes is None
        if not asked or highest == 0 or self.traffic.pairs > _MOST_PAIRS:
            return None, True, False
        with session.timed("links-at-max"), session.progress("links at max"):
            try:
                found = _core.links_at_max_bound(
                    self.fabric, self.traffic, highest, threads=session.threads, time_limit=session.left
                )
            except KeyboardInterrupt:
                return None, False, True
        if found is None:
            session.note("the time limit came before it was known how many links must carry the largest load")
        return found or None, found is not None, False

    def front(self, best: Optimized | OptimizedLayers) -> tuple[list[dict[str, Any]], bool]:
        """What fewer changes buy."""
        from netloom import _core

        assert isinstance(best, _core.Optimized)
        loads = best.loads
        before = self._mended(loads, self.traffic)

        def search(changes: int) -> Optimized:
            found = self.run(changes, loads, _FRONT_WORK)
            assert isinstance(found, _core.Optimized)
            return found

        return fronts.front(search, best, before, lambda: self._session.left == 0)

    def before(self, best: Optimized | OptimizedLayers, loads: LinkLoads) -> matrices.Before | None:
        """The routes that were named, as they were given: in all, and matrix by matrix."""
        from netloom import _core

        if isinstance(self.begin, str):
            return None
        in_all, lost = self._given(loads, self.traffic)
        each = []
        if isinstance(best, _core.OptimizedLayers):
            assert self.layers is not None
            each = [
                self._given(found, traffic)[0]
                for (_, traffic, _), (_, _, found) in zip(self.layers, best.layers, strict=True)
            ]
        return matrices.Before(in_all, each, lost)

    @property
    def in_force(self) -> Routes | str:
        """Today's routes: as given, where they may stay."""
        return self.today.given if self.today is not None and self.today.safe else self.begin

    def named_before(
        self, best: Optimized | OptimizedLayers, before: matrices.Before | None
    ) -> dict[str, Any] | None:
        """The key `background`."""
        if before is None:
            return None
        in_all = before.in_all
        mended = led = None
        if self.avoided is not None and self.today is not None:
            # On the fabric that is left.
            led = self._mended(in_all, self.traffic).max
        elif self.today is not None and self.today.repaired_entries:
            mended = self._mended(in_all, self.traffic).max
        return {
            "routes": self.named,
            "max_load": in_all.max,
            "value": before.value(best),
            "ar_gap_percent": None if self.avoided or before.lost_pairs else in_all.ar_gap_percent,
            "lost_pairs": before.lost_pairs,
            "repaired_max_load": mended,
            "led_around_max_load": led,
        }

    def _given(self, loads: LinkLoads, traffic: Traffic) -> tuple[LinkLoads, int]:
        """The routes that were named on the fabric as it is, and how many pairs of `traffic` they lose."""
        from netloom import _core

        today = self.today if self.avoided is None else self.avoided.today
        if today is None:
            return self._mended(loads, traffic), 0
        try:
            return _core.loads(self.whole, today.read, traffic, bounds=loads), 0
        except RoutingError:
            arrives, lost = in_force.arriving(self.whole, today.read, traffic)
        return _core.loads(self.whole, today.read, arrives, bounds=loads), lost

    def _mended(self, loads: LinkLoads, traffic: Traffic) -> LinkLoads:
        """What the search began with."""
        from netloom import _core

        try:
            return _core.loads(self.fabric, self.begin, traffic, bounds=loads)
        except RoutingError as error:
            raise RoutingError(f"{self.named}: {error}") from None
