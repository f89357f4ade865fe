"""Plans and journals of `netloom apply` without a live fabric."""

from __future__ import annotations

import gzip
import shlex
from pathlib import Path

import numpy as np
import pytest

import netloom as nl
from netloom import apply as applying
from netloom._core import LaneTables
from netloom.apply import planning
from netloom.cli.apply import report
from netloom.errors import LiveError
from netloom.live import Access, sl2vl

FT2 = Path(__file__).resolve().parent / "data" / "opensm" / "ft2_32" / "ibnetdiscover.txt"


def seen_as(fabric: nl.Fabric, raw: bytes, file: bytes | None = None) -> applying.Seen:
    return applying.Seen(Access.local(), fabric, planning.read_tables(raw, fabric), raw, file)


@pytest.fixture
def fabric() -> nl.Fabric:
    return nl.Fabric.read(FT2)


def test_a_plan_counts_entries_blocks_and_switches(fabric):
    old = nl.route("updn", fabric)
    text = old.to_bytes().decode()
    # One entry of one switch: of the first line with a LID, the port of the next up.
    head, line, rest = text.partition("\n0x0005 005")
    assert line
    new = nl.Routes.parse(f"{head}\n0x0005 006{rest}".encode(), fabric)
    plan = applying.plan(seen_as(fabric, old.to_bytes()), new)
    assert (plan.changed_entries, plan.changed_blocks, plan.switches) == (1, 1, 1)
    assert plan.verified
    assert len(plan.stages) == 1
    ((switch, lid, port),) = planning.last_entries(fabric, old, new)
    assert (lid, port) == (5, 6)
    assert switch in fabric.switch_table()["lid"]
    same = applying.plan(seen_as(fabric, old.to_bytes()), old)
    assert (same.changed_entries, list(same.stages), same.verified) == (0, [], True)


def test_entries_led_around_to_switches_can_close_a_circle_on_any_lane():
    """Three cables cut: ways around them to switches' own LIDs wait for each other, whatever lane it is."""
    whole = nl.Fabric.generate("two-level:leaves=5,hosts=2,spines=3")
    cut, _ = whole.damage(links=["leaf02[5]", "leaf04[3]", "leaf03[4]"])
    before, fabric = (nl.Fabric.parse(one.to_bytes("ibnetdiscover")) for one in (whole, cut))
    sound = nl.route("updn", fabric)
    old = planning.read_tables(nl.route("updn", before).to_bytes(), fabric)
    led_around = planning.mended(fabric, old)
    places = sl2vl._places(fabric, True)
    rows = np.tile(np.arange(16, dtype=np.uint8) % 15, (len(places), 1))
    levels = LaneTables.parse(sl2vl.Tables(places, rows, 0, 0.0).dump(fabric), fabric, label="rows")
    for lanes in (None, levels):
        assert nl.check(fabric, led_around.with_lanes(lanes)).credit_loops
        assert not nl.check(fabric, sound.with_lanes(lanes)).credit_loops
    assert nl.mix(fabric, sound, led_around.with_lanes(levels)).credit_loops


def test_entries_of_what_was_not_discovered_are_kept(fabric):
    """A router's LID in every table, and a switch that did not answer this time."""
    new = nl.route("random", fabric, seed=1).to_bytes()
    stranger = b"0x0200 007 : (Router portguid 0x0002c90000000099: 'router')\n"
    raw = b""
    for _, start, end in planning.blocks(new):
        raw += new[start:end].rstrip().replace(b"44 lids dumped", stranger.rstrip()) + b"\n"
    lost = b"Unicast lids [0-44] of switch Lid 77 guid 0x00000000deadbeef ('silent'):\n0x0001 003\n"
    file = planning.with_foreign_entries(new, seen_as(fabric, raw + lost))
    assert file.count(b"0x0200 007 : (Router portguid 0x0002c90000000099: 'router')") == fabric.switches
    assert file.endswith(lost)
    # Nothing else is another.
    assert planning.read_tables(file, fabric).changed_entries(nl.Routes.parse(new, fabric)) == 0
    # Where only OpenSM's file still has the switch, it stays too; and nothing is added where all is known.
    assert planning.with_foreign_entries(new, seen_as(fabric, new, new + lost)).endswith(lost)
    assert planning.with_foreign_entries(new, seen_as(fabric, new, new)) == new


def test_tables_of_a_switch_that_has_gone_are_left_out(fabric):
    routes = nl.route("updn", fabric)
    more = (
        routes.to_bytes()
        + b"Unicast lids [0-1] of switch Lid 77 guid 0x00000000deadbeef ('gone'):\n0x0001 003\n"
    )
    assert planning.read_tables(more, fabric).changed_entries(routes) == 0


def test_routes_are_mended_around_what_is_cut(fabric):
    damaged, _ = fabric.damage(links=["leaf00[5]"])
    routes = planning.read_tables(nl.route("ftree", fabric).to_bytes(), damaged)
    assert planning.lost_pairs(damaged, routes) > 0
    mended = planning.mended(damaged, routes)
    assert planning.lost_pairs(damaged, mended) == 0
    seen = seen_as(damaged, routes.to_bytes())
    refused = applying.plan(seen, routes)
    assert {"unreachable", "invalid-entry"} <= {finding["kind"] for finding in refused.findings}
    plan = applying.plan(seen, routes, mend=True)
    assert plan.verified, plan.findings
    assert any("were mended" in note for note in plan.notes)
    # Towards hosts, leaf00 changes exactly the entries that led over that cable.
    leaf = damaged.switch_names.index("leaf00")
    before, after = (tables.table()[leaf, :32] for tables in (routes, plan.routes))
    assert np.array_equal(before != after, before == 5)


def test_another_number_of_addresses_is_refused(fabric):
    seen = seen_as(fabric, nl.route("updn", fabric).to_bytes())
    with pytest.raises(nl.RoutingError, match=r"LMC mismatch: .* OpenSM's options"):
        applying.plan(seen, nl.route("updn", fabric, lmc=1))


def test_a_change_that_was_killed_is_open_until_another_takes_its_place(tmp_path):
    journal = applying.Journal(tmp_path / "j")
    assert journal.changes() == []
    assert journal.unfinished() is None
    with journal.locked():
        with (
            pytest.raises(nl.LiveError, match="one change at a time"),
            applying.Journal(journal.folder).locked(),
        ):
            pass
        number = journal.begin(b"old", [b"half", b"new"], {"changed_entries": 3})
        journal.add(number, "stage", stage=1)
    left = journal.unfinished()
    assert left is not None
    assert (left.id, left.state, left.sent, left.stages) == (1, "sending", 1, 2)
    assert [journal.tables(1, i) for i in range(3)] == [b"old", b"half", b"new"]
    with journal.locked():
        again = journal.begin(b"half", [b"new"], {"changed_entries": 1, "recovers": 1})
        journal.add(again, "applied")
        journal.close_before(again)
    assert journal.unfinished() is None
    assert [change.state for change in journal.changes()] == ["superseded", "applied"]


def test_a_journal_whose_last_line_was_cut_off_goes_on(tmp_path):
    journal = applying.Journal(tmp_path / "j")
    with journal.locked():
        assert journal.begin(b"old", [b"new"], {"changed_entries": 1}) == 1
        journal.add(1, "applied")
        with open(journal.folder / "journal.jsonl", "ab") as file:
            file.write(b'{"id": 2, "event": "beg')
        assert journal.begin(b"new", [b"newer"], {"changed_entries": 1}) == 2
    assert [(change.id, change.state) for change in journal.changes()] == [(1, "applied"), (2, "begun")]
    assert journal.tables(1) == b"new"
    (journal.folder / "2" / "old.lfts.gz").write_bytes(gzip.compress(b"forged"))
    with pytest.raises(nl.LiveError, match="not what the journal says"):
        journal.tables(2, 0)
    with pytest.raises(nl.LiveError, match="no change 7"):
        journal.tables(7)


def test_stages_and_mixes_in_python(fabric):
    old, new = nl.route("updn", fabric), nl.route("random", fabric, seed=2)
    report = nl.mix(fabric, old, new)
    assert report.ok
    assert report.changed_entries == old.changed_entries(new)
    tables, fewest = nl.stages(fabric, old, new, most=1)
    assert fewest
    assert np.array_equal(tables[-1].table(), new.table())
    with pytest.raises(nl.RoutingError, match="as many addresses a host"):
        nl.mix(fabric, old, nl.route("updn", fabric, lmc=1))


def test_journals_elsewhere_keep_each_other_out(tmp_path):
    """A lock a journal would let two changes of one file of routes mix."""
    file = tmp_path / "routes.lfts"
    first, second = (applying.Journal(tmp_path / name, routes=file) for name in ("a", "b"))
    with first.locked():
        for other in (second, applying.Journal.beside(file)):
            with pytest.raises(LiveError, match="one change at a time"), other.locked():
                pass
    with (
        applying.Journal.beside(file).locked(),
        pytest.raises(LiveError, match="one change"),
        second.locked(),
    ):
        pass


def test_a_change_that_another_journal_left_open_is_known(tmp_path):
    file = tmp_path / "routes.lfts"
    away, beside = applying.Journal(tmp_path / "a", routes=file), applying.Journal.beside(file)
    with away.locked():
        assert away.begin(b"old", [b"new"], {"changed_entries": 1}) == 1
    folder, change = beside.open_elsewhere()
    assert (folder, change.id) == (tmp_path / "a", 1)
    with away.locked():
        away.add(1, "rolled-back", why="a test")
    assert beside.open_elsewhere() is None
    with beside.locked():
        beside.begin(b"old", [b"new"], {"changed_entries": 1})
    with pytest.raises(LiveError, match="change 1 was left unfinished"), away.locked():
        pass


def test_lines_that_are_no_events_are_told(tmp_path):
    journal = applying.Journal(tmp_path / "j")
    with journal.locked():
        journal.begin(b"old", [b"new"], {"changed_entries": 1})
        journal.add(1, "stage", stage=1)
        journal.add(1, "applied")
    lines = (journal.folder / "journal.jsonl").read_text().splitlines()
    (journal.folder / "journal.jsonl").write_text("\n".join([lines[0], "garbage", lines[2]]) + "\n")
    assert journal.odd_lines() == [2]
    assert journal.changes()[0].state == "applied"


def test_what_is_printed_to_be_pasted_is_quoted_for_a_shell(tmp_path):
    from types import SimpleNamespace

    class Manager:
        routes_file = None
        pid = 7

        @classmethod
        def all_running(cls, access):
            return [cls(), cls()]

    access = SimpleNamespace(socket_name="own1", host="gpu01 mlx5_0", ca=None, port=None)
    folder = tmp_path / "it's a journal"
    again = report.again(access, SimpleNamespace(folder=folder), Manager())
    assert shlex.split(again) == [
        *("--sim", "own1,gpu01 mlx5_0", "--opensm", "7"),
        *("--journal", str(folder)),
    ]
