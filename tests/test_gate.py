"""What is written is never worse than what stands, and has no holes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gate_bed
import netloom as nl
from netloom.errors import RoutingError


@pytest.fixture
def cut(netloom):
    """A dragonfly without one global cable: two groups are not joined."""
    netloom.ok("fabric", "new", "dragonfly:p=2,a=8,h=2", "-o", "whole.txt")
    netloom("fabric", "damage", "whole.txt", "--link", "g00r0[10]", "-o", "cut.txt")
    return netloom.folder / "cut.txt"


class TestHoles:
    def test_routes_that_lose_pairs_are_not_written_unless_somebody_wants_them(self, netloom, cut):
        tables = netloom.folder / "dla.lfts"
        refused = netloom("route", "dla", cut, "-o", tables)
        assert refused.code == 3
        assert "these routes lose 512 pairs of hosts that cables join" in refused.err
        assert "updn" in refused.err
        assert not tables.exists()
        told = netloom("route", "dla", cut, "-o", tables, "--allow-unreachable")
        assert told.code == 1
        assert "512 pairs of hosts have no way" in told.err
        assert tables.exists()
        # An up*/down* way does lead there: what does not is what the lanes allow.
        checked = netloom("check", cut, tables)
        assert "no way with at most one cable between groups leads to switch g00r0" in checked.out

    def test_stated_roots_that_lose_pairs_are_refused_too(self, netloom):
        netloom.ok("fabric", "new", "two-level:leaves=4,hosts=2,spines=2", "-o", "net.txt")
        netloom("fabric", "damage", "net.txt", "--link", "leaf00[3]", "--link", "leaf01[4]", "-o", "cut.txt")
        # From leaf00 to leaf01 a way leads down and up again: 2 x 2 pairs, both directions.
        asked = ("route", "updn", "cut.txt", "--roots", "spine00,spine01", "-o", "x.lfts")
        done = netloom(*asked)
        assert done.code == 3
        assert "these routes lose 8 pairs of hosts that cables join" in done.err
        assert not (netloom.folder / "x.lfts").exists()
        assert netloom(*asked, "--allow-unreachable").code == 1

    def test_the_api_refuses_them_and_auto_takes_what_loses_none(self, netloom, cut):
        fabric, file = nl.Fabric.read(cut), netloom.folder / "x.lfts"
        routes = nl.route("dla", fabric)
        with pytest.raises(RoutingError, match="lose 512 pairs of hosts"):
            routes.write(file)
        assert not file.exists()
        routes.write(file, allow_unreachable=True)
        best = nl.optimize_hose(fabric, nl.Hose.of(nl.Traffic.read("shift:16", fabric)), work=1000)
        assert nl.check(fabric, best.routes).holes == 0

    def test_routes_that_can_deadlock_are_not_written(self, netloom):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        one_lane = nl.route("dla", fabric).with_lanes(None)
        with pytest.raises(RoutingError, match="can deadlock"):
            one_lane.write(netloom.folder / "x.lfts")


class TestPortfolio:
    def test_the_result_is_at_most_the_best_engine_s_and_today_s(self):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        traffic = nl.Traffic.read("all-to-all", fabric)
        best = nl.optimize(fabric, traffic, work=1000)
        assert (best.loads.max, best.taken_from, best.best_engine) == (71.0, "dla", ("dla", 71.0))
        assert best.routes.lanes is not None
        assert best.searched > 100
        kept = nl.optimize(fabric, traffic, today="dla", work=1000)
        assert (kept.loads.max, kept.taken_from, kept.changed_entries) == (71.0, "today", 0)

    def test_the_report_names_the_best_engine_and_writes_its_lanes(self, netloom):
        netloom.ok("fabric", "new", "dragonfly:p=2,a=4,h=2", "-o", "net.txt")
        asked = ("optimize", "net.txt", "all-to-all", "--work", "1000", "-o", "best.lfts")
        text = netloom.ok(*asked, "--write-sl2vl", "best.sl2vl")
        assert text.splitlines()[0].split(None, 1)[1] == "71 B, as with dla"
        checked = netloom("check", "net.txt", "best.lfts", "--sl2vl", "best.sl2vl")
        assert "credit loops            0" in checked.out

    def test_who_writes_no_lanes_gets_routes_of_one_and_is_told_of_better_ones(self, netloom):
        netloom.ok("fabric", "new", "dragonfly:p=2,a=4,h=2", "-o", "net.txt")
        done = netloom("optimize", "net.txt", "all-to-all", "--work", "1000", "-o", "best.lfts")
        assert done.code == 1
        assert "dla: 71 B, " in done.err
        assert "on lanes: --write-sl2vl FILE takes these routes" in done.err
        assert netloom.result("check", "net.txt", "best.lfts")["credit_loops"] == 0

    @pytest.mark.parametrize("more", [("--judge", "packets"), ("--from", "dla")])
    def test_routes_that_need_lanes_are_not_written_without_them(self, netloom, more):
        asked = ("optimize", "dragonfly:p=2,a=4,h=2", "permutation:seed=1", "--work", "300", *more)
        done = netloom(*asked, "-o", "x.lfts")
        assert done.code == 3
        assert "without their lanes: expected --write-sl2vl FILE too" in done.err
        assert not (netloom.folder / "x.lfts").exists()

    def test_tables_that_are_better_than_the_search_may_write_stay_and_exit_1(self, netloom):
        netloom.ok("fabric", "new", "dragonfly:p=2,a=4,h=2", "-o", "net.txt")
        done = netloom("optimize", "net.txt", "all-to-all", "--from", "dla", "--work", "1000")
        assert done.code == 1
        assert "kept as they are (71 B): better than all that the search may write" in done.err


class TestBefore:
    def test_a_drain_is_measured_by_what_stood(self, netloom, paths):
        netloom.ok("route", "ftree", paths.ft2, "-o", "today.lfts")
        asked = ("optimize", paths.ft2, "all-to-all", "--from", "today.lfts", "--avoid", "spine03")
        done = netloom(*asked)
        assert done.code == 1
        assert "31 → 40 B, 29 % more than today.lfts" in done.out.splitlines()[0]
        assert "led around  56 B" in done.out

    def test_repair_replaces_what_is_dead_and_nothing_else(self):
        whole = nl.Fabric.generate("two-level:leaves=6,hosts=4,spines=4")
        fabric, _ = whole.damage(random_links=1, seed=3)
        old = nl.route("ftree", whole).table()
        # What the fabric cannot hold any more is no entry.
        links, alive = fabric.link_table(), np.zeros((fabric.switches, 65536), bool)
        on = np.asarray(links["alive"]) & (links["source"] >= fabric.hosts)
        alive[links["source"][on] - fabric.hosts, links["source_port"][on]] = True
        alive[:, 0] = alive[:, 65535] = True
        old[~np.take_along_axis(alive, old.astype(np.int64), axis=1)] = 65535
        today = nl.Routes.from_table(fabric, old)
        least, mended = nl.repaired(fabric, today, dead=True), nl.repaired(fabric, today)
        assert nl.check(fabric, least).holes == 0
        assert 0 < least.changed_entries(today) <= mended.changed_entries(today)


class TestHostileCampaign:
    @pytest.mark.parametrize("seed", gate_bed.SEEDS[:: max(1, len(gate_bed.SEEDS) // gate_bed.TRIALS)])
    def test_nothing_is_worse_than_what_engines_make_or_has_holes(self, seed):
        assert gate_bed.faults(seed) == []

    @pytest.mark.parametrize("seed", range(gate_bed.TRIALS))
    def test_no_engine_writes_holes_or_loops_of_a_damaged_dragonfly(self, tmp_path, seed):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        fabric, _ = fabric.damage(random_links=1 + seed % 20, seed=seed)
        for engine in gate_bed.ENGINES:
            file = tmp_path / f"{engine}.lfts"
            try:
                routes = nl.route(engine, fabric)
            except RoutingError:
                continue
            report = nl.check(fabric, routes)
            if report.holes or report.credit_loops:
                with pytest.raises(RoutingError, match=r"lose .* pairs? of hosts that cables|can deadlock"):
                    routes.write(file)
                assert not file.exists()
                continue
            routes.write(file)
            assert arrives(fabric, file)


def arrives(fabric: nl.Fabric, file: Path) -> bool:
    """Whether every host's packets reach every other by a file of tables."""
    table = nl.Routes.read(file, fabric).table()
    links = fabric.link_table()
    leads = {
        (int(a), int(port)): int(b)
        for a, port, b, alive in zip(
            links["source"], links["source_port"], links["target"], links["alive"], strict=True
        )
        if alive
    }
    for source in range(fabric.hosts):
        for to in range(fabric.hosts):
            at, steps = (leads.get((source, 1), -1), 0) if source != to else (to, 0)
            while at != to and at >= fabric.hosts and steps <= fabric.switches:
                at, steps = leads.get((at, int(table[at - fabric.hosts, to])), -1), steps + 1
            if at != to:
                return False
    return True
