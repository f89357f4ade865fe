"""What is written is never worse than what stands, and has no holes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gate_bed
import netloom as nl
from conftest import ROOT
from drain_bed import crossing
from netloom._core import LaneTables, dead_entries
from netloom.errors import RoutingError
from netloom.loop.propose import Evidence, propose
from netloom.nodes import Nodes

CASES = ROOT / "tests" / "data" / "cases"


@pytest.fixture
def cut(netloom):
    """A dragonfly without one global cable: two groups are not joined."""
    netloom.ok("fabric", "new", "dragonfly:p=2,a=8,h=2", "-o", "whole.txt")
    netloom("fabric", "damage", "whole.txt", "--link", "g00r0[10]", "-o", "cut.txt")
    return netloom.folder / "cut.txt"


class TestHoles:
    def test_a_missing_global_cable_is_gone_round_and_lanes_are_written(self, netloom, cut):
        """Two groups without a cable between them had no way: 512 pairs."""
        asked = ("route", "dla", cut, "-o", "dla.lfts")
        # Lost pairs may be wanted, a deadlock is not.
        for more in ((), ("--allow-unreachable",)):
            refused = netloom(*asked, *more)
            assert (refused.code, "without their lanes" in refused.err) == (3, True)
            assert not (netloom.folder / "dla.lfts").exists()
        netloom.ok(*asked, "--write-sl2vl", "dla.sl2vl")
        checked = netloom.result("check", cut, "dla.lfts", "--sl2vl", "dla.sl2vl")
        assert (checked["unreachable_hosts"], checked["credit_loops"], checked["ok"]) == (0, 0, True)

    def test_stated_roots_that_lose_pairs_are_refused_too(self, netloom):
        netloom.ok("fabric", "new", "two-level:leaves=4,hosts=2,spines=2", "-o", "net.txt")
        netloom("fabric", "damage", "net.txt", "--link", "leaf00[3]", "--link", "leaf01[4]", "-o", "cut.txt")
        # From leaf00 to leaf01 a way leads down and up again: 2 x 2 pairs, both directions.
        asked = ("route", "updn", "cut.txt", "--roots", "spine00,spine01", "-o", "x.lfts")
        done = netloom(*asked)
        assert done.code == 3
        assert "these routes lose 8 pairs of hosts that cables join" in done.err
        assert not (netloom.folder / "x.lfts").exists()
        told = netloom(*asked, "--allow-unreachable")
        assert told.code == 1
        assert "8 pairs of hosts have no way" in told.err
        assert (netloom.folder / "x.lfts").exists()

    def test_the_api_refuses_them_and_auto_takes_what_loses_none(self, netloom, cut):
        fabric, file = nl.Fabric.read(cut), netloom.folder / "x.lfts"
        table = nl.route("updn", fabric).table()
        table[0, fabric.hosts - 1] = 65535
        routes = nl.Routes.from_table(fabric, table)
        with pytest.raises(RoutingError, match=r"lose \d+ pairs of hosts"):
            routes.write(file)
        assert not file.exists()
        routes.write(file, allow_unreachable=True)
        assert file.exists()
        best = nl.optimize_hose(fabric, nl.Hose.of(nl.Traffic.read("shift:16", fabric)), work=1000)
        assert nl.check(fabric, best.routes).holes == 0

    def test_routes_that_can_deadlock_are_not_written(self, netloom):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        one_lane = nl.route("dla", fabric).with_lanes(None)
        with pytest.raises(RoutingError, match="can deadlock") as refused:
            one_lane.write(netloom.folder / "x.lfts")
        # Engines that are sound on this very fabric, not those that another subnet manager has.
        assert "expected an engine that is sound here: updn, or dla with its lanes" in str(refused.value)

    def test_a_refused_engine_s_user_is_told_of_one_that_works_here(self, netloom):
        netloom.ok("fabric", "new", "dragonfly:p=2,a=4,h=2", "-o", "whole.txt")
        netloom("fabric", "damage", "whole.txt", "--link", "g00r0[3]", "-o", "cut.txt")
        done = netloom("route", "minhop", "cut.txt", "-o", "x.lfts")
        assert done.code == 3
        assert done.err.rstrip().endswith(
            "expected an engine that is sound here: updn, or dla with its lanes"
        )
        assert netloom("route", "updn", "cut.txt", "-o", "x.lfts").code == 0


class TestLanes:
    """A file of tables has no lanes: what needs some is written with them, or not at all."""

    def test_the_command_writes_both_or_nothing(self, netloom):
        asked = ("route", "dla", "dragonfly:p=2,a=4,h=2", "-o", "r.lfts")
        word = netloom.refused(*asked)
        assert "without their lanes: expected --write-sl2vl FILE too" in word
        assert not (netloom.folder / "r.lfts").exists()
        netloom.refused(*asked, "--allow-unreachable")
        netloom.ok(*asked, "--write-sl2vl", "r.sl2vl.gz")
        check = ("check", asked[2], "r.lfts", "--sl2vl", "r.sl2vl.gz")
        assert netloom.result(*check)["credit_loops"] == 0

    def test_python_writes_both_or_nothing(self, tmp_path):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        best = nl.optimize(fabric, nl.Traffic.read("all-to-all", fabric), work=500)
        tables, rows = tmp_path / "r.lfts", tmp_path / "r.sl2vl"
        for routes in (nl.route("dla", fabric), best, best.routes):
            with pytest.raises(RoutingError, match=r"without their lanes: .*sl2vl=FILE in Python"):
                routes.write(tables)
            assert not tables.exists()
            routes.write(tables, sl2vl=rows)
            lanes = LaneTables.parse(rows.read_bytes(), fabric)
            read = nl.Routes.read(tables, fabric)
            assert nl.check(fabric, read).credit_loops > 0
            assert nl.check(fabric, read.with_lanes(lanes)).ok
            tables.unlink()
            rows.unlink()
        # Who loads lanes by other means says so.
        nl.route("dla", fabric).write(tables, lanes=True)
        nl.route("updn", fabric).write(tables, sl2vl=rows)
        assert not rows.exists()

    @pytest.mark.parametrize("more", [("--hose",), ()])
    def test_what_is_refused_leaves_no_lanes_behind(self, netloom, cut, more):
        # The tables lose pairs; the file of lanes must not stay alone either.
        asked = ("optimize", cut, "shift:16", "--from", "dla", "--max-changes", "0", "--repair", *more)
        done = netloom(*asked, "-o", "x.lfts", "--write-sl2vl", "x.sl2vl", "--work", "100")
        there = [(netloom.folder / name).exists() for name in ("x.lfts", "x.sl2vl")]
        assert done.code in (0, 1, 3)
        assert there[0] or not there[1]


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

    def test_a_judge_begins_without_lanes_where_nobody_writes_them(self, netloom):
        fabric = "dragonfly:p=2,a=4,h=2"
        asked = ("optimize", fabric, "permutation:seed=1", "--work", "300", "--judge", "packets")
        assert netloom(*asked, "-o", "x.lfts").code == 0
        assert netloom.result("check", fabric, "x.lfts")["credit_loops"] == 0

    def test_routes_that_need_lanes_are_not_written_without_them(self, netloom):
        more = ("--from", "dla")
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
        assert dead_entries(fabric, today) == least.changed_entries(today)
        assert 0 < least.changed_entries(today) <= mended.changed_entries(today)

    def test_repair_says_when_it_replaces_entries_that_work(self, netloom):
        ring = CASES / "dfsssp-ring"
        asked = ("optimize", ring / "net.txt", "all-to-all", "--from", ring / "dfsssp.lfts", "--repair")
        done = netloom(*asked, "-o", "x.lfts")
        # All packets arrive, but on one lane they can wait in a circle: such tables are not written.
        assert "nothing is dead; what is left can deadlock: 6 entries on no shortest" in done.err
        assert "changes nothing else" not in done.err
        assert netloom.result("check", ring / "net.txt", "x.lfts")["credit_loops"] == 0


class TestAvoid:
    def test_the_tables_that_fill_gaps_are_of_an_engine_that_can(self, netloom):
        """Two leaves are cabled to each other, which is not for ftree: the spine's own tables are updn's."""
        net = CASES / "cross-cable" / "net.txt"
        netloom.ok("optimize", net, "all-to-all", "--avoid", "S1", "-o", "x.lfts")
        report = netloom.result("check", net, "x.lfts")
        assert (report["unreachable_hosts"], report["missing_entries"], report["credit_loops"]) == (0, 0, 0)

    def test_ways_that_must_be_longer_are_no_warning(self, netloom):
        spec = "dragonfly:p=2,a=4,h=2"
        asked = ("optimize", spec, "all-to-all", "--avoid", "g00r0[3]", "--work", "500")
        done = netloom(*asked, "-o", "x.lfts", "--write-sl2vl", "x.sl2vl", "--write-sl", "x.csv")
        assert (done.code, "hops between switches" in done.err) == (0, False)

    @pytest.mark.parametrize("begin", [(), ("--from", "ftree")])
    def test_sums_by_host_are_led_around_too(self, netloom, paths, begin):
        asked = ("optimize", paths.ft2, "all-to-all", "--hose", "--avoid", "spine03", *begin)
        result = netloom.result(*asked, "-o", "x.lfts")
        fabric = nl.Fabric.read(paths.ft2)
        routes = nl.Routes.read(netloom.folder / "x.lfts", fabric)
        assert crossing(fabric, nl.route("ftree", fabric), node=Nodes(fabric).find("spine03")) > 0
        assert crossing(fabric, routes, node=Nodes(fabric).find("spine03")) == 0
        assert nl.check(fabric, routes).ok
        assert [one["name"] for one in result["avoided"]] == ["spine03"]
        worst = nl.hose_loads(fabric, routes, nl.Hose.of(nl.Traffic.read("all-to-all", fabric))).max
        assert result["max_load"] == pytest.approx(worst)
        if begin:
            before = result["background"]
            assert before["value"] <= result["max_load"] <= before["led_around_max_load"]


class TestCompare:
    def test_every_listed_method_says_whether_it_is_free_of_loops(self, netloom):
        asked = ("optimize", "dragonfly:p=2,a=4,h=2", "all-to-all", "--compare", "--work", "500")
        rows = {row["name"]: row for row in netloom.result(*asked)["compare"]}
        assert (rows["dla"]["lanes"], rows["dla"]["loop_free"]) == (2, True)
        assert (rows["minhop"]["lanes"], rows["minhop"]["loop_free"]) == (1, False)
        assert (rows["updn"]["lanes"], rows["updn"]["loop_free"]) == (1, True)
        assert (rows["ftree"]["lanes"], rows["ftree"]["loop_free"]) == (None, None)
        text = {line.split()[0]: line for line in netloom.ok(*asked).splitlines() if line.strip()}
        assert "on 2 lanes" in text["dla"]
        assert text["minhop"].split()[-2] == "no"
        assert text["updn"].split()[-2] == "yes"


class TestLoop:
    def test_routes_that_need_lanes_are_proposed_only_where_lanes_are_in_force(self):
        fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
        traffic = nl.Traffic.read("all-to-all", fabric)
        for sums in (None, nl.Hose.of(traffic)):
            found = []
            for engine in ("updn", "dla"):
                present = nl.route(engine, fabric)
                seen = Evidence(fabric=fabric, present=present, layers=[(traffic, 1.0)], sums=sums, work=500)
                proposed = propose(seen)
                found.append(proposed.lanes is not None)
                assert nl.check(fabric, proposed).ok
            assert found == [False, True]


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
            routes.write(file, sl2vl=tmp_path / f"{engine}.sl2vl")
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
