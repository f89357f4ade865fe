"""`netloom apply` on a real OpenSM: what it shows, does, undoes and refuses."""

from __future__ import annotations

import itertools
import re
import resource
import subprocess
import sys

import numpy as np
import pytest

import netloom as nl
from apply_bed import FT2, Bed, bed, detours, lost
from netloom import apply as applying
from netloom.live import Ibsim, OpenSM, missing_tools

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """One OpenSM for tests that leave sound tables behind."""
    with bed(FT2, tmp_path_factory.mktemp("live")) as made:
        yield made


@pytest.fixture
def call(netloom, live):
    """The verb on that fabric: its result."""

    def run(*words: object, code: int = 0, **options: object):
        return netloom.result(*live.arguments(*words), code=code, **options)

    return run


def some(live: Bed, seed: int) -> nl.Routes:
    return nl.route("random", live.look().fabric, seed=seed)


def test_a_dry_run_changes_nothing_and_says_what_would(call, live, netloom):
    before = live.look()
    new = some(live, 11)
    new.write(netloom.folder / "new.lfts")
    file = live.file.read_bytes()
    result = call(netloom.folder / "new.lfts")
    assert result["outcome"] == "dry run"
    assert result["verified"]
    assert result["journal_id"] is None
    assert result["changed_entries"] == before.tables.changed_entries(new) > 0
    assert result["changed_entries"] == sum(row["entries"] for row in result["changes"])
    # 44 LIDs fit in one block of 64.
    assert result["changed_blocks"] == result["switches"] == len(result["changes"])
    assert live.file.read_bytes() == file
    assert np.array_equal(live.look().tables.table(), before.tables.table())


def test_python_does_what_the_command_does(call, live, netloom):
    new = some(live, 21)
    new.write(netloom.folder / "new.lfts")
    told = call(netloom.folder / "new.lfts")
    there = {"access": live.sim.access}
    found = nl.apply_routes(netloom.folder / "new.lfts", **there)
    clocks = {"seconds", "own_seconds", "opensm_seconds"}
    assert {key: found[key] for key in set(told) - clocks} == {key: told[key] for key in set(told) - clocks}
    steps = []
    done = nl.apply_routes(new, yes=True, tell=steps.append, **there)
    assert (done["outcome"], done["changed_entries"]) == ("applied", told["changed_entries"])
    assert steps
    assert live.look().tables.changed_entries(new) == 0
    assert nl.route_changes(**there) == call("history")
    assert nl.rollback_routes(**there)["outcome"] == "dry run"
    assert nl.rollback_routes(done["journal_id"], yes=True, **there)["outcome"] == "applied"
    assert live.look().tables.changed_entries(new) == told["changed_entries"]
    assert nl.recover_routes(**there) == {"recovered": [], "unfinished": None, "findings": []}


def test_what_a_listener_raises_waits_until_the_change_has_ended(live):
    before, new = live.look().tables, some(live, 22)

    def raises(what):
        raise ValueError(what)

    with pytest.raises(ValueError, match="journal"):
        nl.apply_routes(new, yes=True, tell=raises, access=live.sim.access)
    assert live.journal.unfinished() is None
    assert live.look().tables.changed_entries(new) == 0
    with pytest.raises(nl.ArgumentError, match="yes: expected True or False"):
        nl.rollback_routes(yes="no", access=live.sim.access)
    assert live.look().tables.changed_entries(new) == 0
    nl.rollback_routes(yes=True, access=live.sim.access)
    assert live.look().tables.changed_entries(before) == 0


def test_applied_routes_are_read_back_journaled_and_rolled_back(call, live, netloom):
    before = live.look()
    new = some(live, 12)
    new.write(netloom.folder / "new.lfts")
    applied = call(netloom.folder / "new.lfts", "--yes")
    assert (applied["outcome"], applied["verified"], applied["stages"]) == ("applied", True, 1)
    assert applied["asked"] == "reroute"
    assert {"look", "plan", "journal", "write", "opensm", "read back"} <= set(applied["seconds"])
    assert live.look().tables.changed_entries(new) == 0
    assert nl.Routes.read(live.file, before.fabric).changed_entries(new) == 0
    again = call(netloom.folder / "new.lfts", "--yes")
    assert (again["outcome"], again["changed_entries"], again["journal_id"]) == ("unchanged", 0, None)
    number = applied["journal_id"]
    kept = nl.Routes.parse(live.journal.tables(number, 0), before.fabric)
    assert kept.changed_entries(before.tables) == 0
    assert call("rollback")["outcome"] == "dry run"
    back = call("rollback", "--yes")
    assert back["outcome"] == "applied"
    assert live.look().tables.changed_entries(before.tables) == 0
    history = call("history")["history"]
    assert [row["state"] for row in history[-2:]] == ["applied", "applied"]
    assert history[-1]["rolls_back"] == number
    forth = call("rollback", back["journal_id"], "--yes")
    assert forth["outcome"] == "applied"
    assert live.look().tables.changed_entries(new) == 0
    listed = netloom.ok("apply", "history", "--journal", live.journal.folder)
    assert len(listed.splitlines()) == 1 + len(call("history")["history"])


def test_a_change_that_would_loop_is_staged(call, live, netloom):
    seen = live.look()
    first, second = detours(seen.fabric)
    assert not nl.mix(seen.fabric, first, second).ok
    first.write(netloom.folder / "first.lfts")
    second.write(netloom.folder / "second.lfts")
    assert call(netloom.folder / "first.lfts", "--yes")["verified"]
    refused = call(netloom.folder / "second.lfts", "--stages", 2, code=1)
    assert refused["outcome"] == "refused"
    (finding,) = refused["findings"]
    assert finding["kind"] == "stages"
    assert re.search(r"3 stages are needed.*towards host0031.*loops: .* -> ", finding["text"])
    done = call(netloom.folder / "second.lfts", "--yes")
    assert (done["outcome"], done["stages"], done["stages_fewest"]) == ("applied", 3, True)
    assert live.look().tables.changed_entries(second) == 0
    # Each stage's tables are in the journal, and every mix of two that follow each other is safe.
    tables = [nl.Routes.parse(live.journal.tables(done["journal_id"], i), seen.fabric) for i in range(4)]
    assert tables[0].changed_entries(first) == 0
    assert all(nl.mix(seen.fabric, a, b).ok for a, b in itertools.pairwise(tables))


def test_entries_for_switches_stay_where_the_file_has_none(call, live, netloom):
    seen = live.look()
    new = some(live, 13)
    lines = new.to_bytes().decode().splitlines()
    hosts_only = [line for line in lines if "# Switch portguid" not in line]
    assert len(hosts_only) < len(lines)
    (netloom.folder / "hosts.lfts").write_text("\n".join(hosts_only) + "\n")
    done = call(netloom.folder / "hosts.lfts", "--yes")
    assert done["verified"]
    now = live.look().tables.table()
    assert np.array_equal(now[:, 32:], seen.tables.table()[:, 32:])
    assert np.array_equal(now[:, :32], new.table()[:, :32])


def test_stale_lids_are_those_of_the_port_guids(call, live, netloom):
    """As after a reboot: the file has each host's LID of then, and its port GUID."""
    seen = live.look()
    new = some(live, 14)
    text = new.to_bytes().decode()
    stale = re.sub(
        r"^0x([0-9a-f]{4}) (.*Channel Adapter.*)$",
        lambda m: f"0x{int(m[1], 16) + 1000:04x} {m[2]}",
        text,
        flags=re.M,
    )
    assert stale != text
    (netloom.folder / "stale.lfts").write_text(stale)
    assert call(netloom.folder / "stale.lfts", "--yes")["verified"]
    assert live.look().tables.changed_entries(new) == 0
    assert lost(live.look()) == 0
    assert seen.fabric.lmc == 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda lines: [line for line in lines if not line.startswith("0x0005 ")], "unreachable"),
        (lambda lines: [re.sub("^0x0005 ...", "0x0005 099", line) for line in lines], "port-above-radix"),
        (lambda lines: [re.sub("^0x0005 ...", "0x0005 000", line) for line in lines], "port-to-nowhere"),
        (lambda lines: [re.sub("^0x0005 ...", "0x0005 005", line) for line in lines], "loop"),
    ],
)
def test_routes_that_lose_pairs_are_refused(call, live, netloom, fault, kind):
    before = live.look()
    lines = some(live, 15).to_bytes().decode().splitlines()
    (netloom.folder / "bad.lfts").write_text("\n".join(fault(lines)) + "\n")
    result = call(netloom.folder / "bad.lfts", "--yes", code=1)
    assert result["outcome"] == "refused"
    assert not result["verified"]
    assert kind in {finding["kind"] for finding in result["findings"]}
    assert np.array_equal(live.look().tables.table(), before.tables.table())


def test_routes_of_another_fabric_or_lmc_are_refused(live, netloom, paths):
    other = nl.Fabric.read(paths.ft3)
    nl.route("updn", other).write(netloom.folder / "other.lfts")
    error = netloom.refused(*live.arguments(netloom.folder / "other.lfts", "--yes"))
    assert "expected a switch of the fabric" in error
    nl.route("updn", live.look().fabric, lmc=1).write(netloom.folder / "lmc.lfts")
    error = netloom.refused(*live.arguments(netloom.folder / "lmc.lfts", "--yes"))
    assert "LMC mismatch" in error
    assert "OpenSM's options" in error


def test_two_addresses_a_host_are_both_changed(netloom):
    file = netloom.folder / "opensm.lfts"
    with Ibsim(FT2, host="host0000") as sim:
        with OpenSM(sim, engine="updn", lmc=1):
            fabric = nl.Fabric.parse(sim.discover())
        nl.route("updn", fabric).write(file)
        with OpenSM(sim, routes=file, lmc=1):
            new = nl.route("random", fabric, seed=3)
            new.write(netloom.folder / "new.lfts")
            words = (
                "apply",
                "send",
                netloom.folder / "new.lfts",
                "--yes",
                "--sim",
                f"{sim.socket_name},host0000",
            )
            assert netloom.result(*words)["verified"]
            assert nl.Routes.parse(sim.forwarding_tables(), fabric).changed_entries(new) == 0


def test_two_changes_never_interleave(live, netloom):
    some(live, 16).write(netloom.folder / "new.lfts")
    with live.journal.locked():
        error = netloom.refused(*live.arguments(netloom.folder / "new.lfts", "--yes"))
    assert "one change at a time" in error
    assert "process " in error


def test_a_change_planned_before_another_is_not_made(live):
    plan = applying.plan(live.look(), some(live, 17))
    live.apply(some(live, 18))
    with pytest.raises(nl.LiveError, match="tables have changed since the plan"):
        applying.apply(plan, live.manager, live.journal)


def test_nothing_is_applied_where_the_journal_cannot_be_written(live, netloom):
    """No file may grow beyond 1 kB: as on a full disk."""
    before = live.look()
    some(live, 19).write(netloom.folder / "new.lfts")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run(
        [sys.executable, "-m", "netloom", *live.arguments(netloom.folder / "new.lfts", "--yes")],
        capture_output=True,
        text=True,
        preexec_fn=small_files,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "nothing was applied" in done.stderr
    assert np.array_equal(live.look().tables.table(), before.tables.table())
    assert live.journal.unfinished() is None


def test_an_opensm_without_the_file_engine_is_told_how_to_be_configured(netloom):
    with Ibsim(FT2, host="host0000") as sim, OpenSM(sim, engine="updn"):
        error = netloom.refused("apply", "send", "ftree", "--sim", f"{sim.socket_name},host0000")
    assert "routing_engine file,no_fallback and lfts_file" in error


@pytest.mark.parametrize(
    ("settings", "kind", "allow"),
    [("ar_mode 1\n", "adaptive", "adaptive"), ("event_plugin_name armgr-none\n", "adaptive", "adaptive")],
)
def test_adaptive_routing_is_refused_unless_told(netloom, settings, kind, allow):
    # OpenSM 3.3.23 has none of its own: it is told by the options of those that have.
    fabric = nl.Fabric.read(FT2)
    file = netloom.folder / "opensm.lfts"
    nl.route("updn", fabric).write(file)
    with Ibsim(FT2, host="host0000") as sim, OpenSM(sim, routes=file) as opensm:
        with open(opensm.manager.options_file, "a") as options:
            options.write(settings)
        words = ("apply", "send", "ftree", "--sim", f"{sim.socket_name},host0000")
        result = netloom.result(*words, "--yes", code=1)
        assert [finding["kind"] for finding in result["findings"]] == [kind]
        result = netloom.result(*words, "--allow", allow, "--yes")
        assert result["outcome"] in ("applied", "unchanged")
        assert any("adaptive routing is active" in note for note in result["notes"])


def test_a_second_manager_is_refused_unless_told(netloom):
    fabric = nl.Fabric.read(FT2)
    file = netloom.folder / "opensm.lfts"
    nl.route("updn", fabric).write(file)
    with Ibsim(FT2, host="host0000") as sim, OpenSM(sim, routes=file, settings="sm_priority 9\n") as first:
        pid = first.manager.pid
        with OpenSM(sim, engine="minhop", host="host0009", standby=True):
            words = ("apply", "send", "ftree", "--sim", f"{sim.socket_name},host0000", "--opensm", pid)
            result = netloom.result(*words, code=1)
            assert [finding["kind"] for finding in result["findings"]] == ["standby"]
            assert "--allow standby" in result["findings"][0]["text"]
            assert not netloom.result(*words, "--allow", "standby")["findings"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["send"], "ROUTES"),
        (["plan"], "ROUTES"),
        (["plan", "ftree", "--yes"], "--yes"),
        (["send", "ftree", "--recover"], "netloom apply --recover is now: netloom apply recover"),
        (["rollback", "x"], "x"),
        (["rollback", "0"], "1"),
        (["send", "ftree", "--stages", "0"], "--stages"),
        (["send", "ftree", "--port", "0"], "--port"),
    ],
)
def test_calls_that_mean_nothing_are_usage_errors(netloom, words, text):
    assert text in netloom.refused("apply", *words, code=2)


def test_a_journal_that_is_none_and_a_process_that_is_no_opensm_are_said(live, netloom):
    (netloom.folder / "file").write_text("")
    word = netloom.refused(*live.arguments("history", "--journal", "nowhere"))
    assert "--journal nowhere: no journal of changes there" in word
    word = netloom.refused(*live.arguments("rollback", "--journal", "nowhere"))
    assert "--journal nowhere: no journal of changes there" in word
    word = netloom.refused(*live.arguments("random", "--journal", "file", "--yes"))
    assert word == "file: is a file: expected the folder of a journal"
    word = netloom.refused(*live.arguments("random", "--opensm", 999999999))
    assert word == (
        f"process 999999999 is no OpenSM of the fabric of ibsim {live.sim.socket_name}: "
        f"process {live.manager.pid} is"
    )
    word = netloom.refused(*live.arguments("s-mod-k"))
    assert "choose the way up by the source of a packet" in word
    word = netloom.refused(*live.arguments("random", "--ca", "mlx5_0"), code=2)
    assert "expected one of them" in word


def test_the_way_back_that_is_shown_works_as_it_is(live, netloom):
    netloom.ok(*live.arguments("ftree", "--yes"))
    out = netloom.ok(*live.arguments("random", "--seed", 12, "--yes"))
    back = re.search(r"`netloom (apply rollback \d+ --yes --sim .+)` undoes it", out)
    assert back, out
    netloom.ok(*back[1].split())


def test_history_is_shown_where_opensm_does_not_run(netloom, monkeypatch, capsys):
    """Of the file that its options name."""
    from netloom.cli import main
    from netloom.live import manager

    changes = applying.Journal.beside(netloom.folder / "routes.lfts")
    with changes.locked():
        changes.begin(b"old", [b"new"], {"changed_entries": 7})
    (netloom.folder / "opensm.conf").write_text(f"lfts_file {netloom.folder}/routes.lfts\n")
    monkeypatch.setattr(manager, "_OPTIONS_FILE", netloom.folder / "opensm.conf")
    monkeypatch.setattr(manager, "_processes", lambda _name: [])
    assert main(["apply", "history"]) == 0
    assert re.search(r"^ *1 +\S+ +begun +7 ", capsys.readouterr().out, re.MULTILINE)


def test_without_a_fabric_that_is_said(netloom):
    assert "no OpenSM" in netloom.refused("apply", "send", "ftree")
    assert "no ibsim has the socket name" in netloom.refused("apply", "send", "ftree", "--sim", "nobody")


def test_a_report_never_goes_where_opensm_reads(live, netloom):
    some(live, 5).write(netloom.folder / "new.lfts")
    before = live.file.read_bytes()
    live.journal.folder.mkdir(exist_ok=True)
    for target in (live.file, live.journal.folder / "report.json"):
        done = live.run(netloom.folder / "new.lfts", "-o", target)
        assert done.returncode == 2, done.stdout
        assert "-o takes the report" in done.stderr or "expected an ending of .json" in done.stderr
    assert live.file.read_bytes() == before


def test_another_fabric_s_opensm_is_refused(live, netloom, tmp_path_factory):
    some(live, 5).write(netloom.folder / "new.lfts")
    with bed(FT2, tmp_path_factory.mktemp("other")) as other:
        done = live.run(netloom.folder / "new.lfts", "--opensm", other.manager.pid, "--yes")
        assert done.returncode == 3
        assert f"process {other.manager.pid} is no OpenSM of the fabric" in done.stderr
        assert not other.journal.changes()
