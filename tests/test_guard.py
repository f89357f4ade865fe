"""`apply guard` on a real OpenSM and ibsim: cables and switches fail and come back, tables follow.

`.venv/bin/python tests/test_guard.py 50` tries the 50 faults of `guard_bed` on 324 hosts and says how long
each took; `make hostile` tries them on 18 hosts, `make test` a few.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import guard_bed
import netloom as nl
from apply_bed import FT2, Bed, bed, far, lost
from netloom.apply.guarding import Guard, Guarded
from netloom.live import OpenSM, missing_tools
from netloom.live.mads import Mads, Request
from netloom.live.tables import FORWARDING

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]

SECONDS = 60.0
"""How long a busy machine may take to notice something."""


@pytest.fixture
def live(tmp_path) -> Iterator[Bed]:
    with bed(FT2, tmp_path) as found:
        yield found


def guard(live: Bed, *, yes: bool = True) -> Guard:
    return Guard(live.sim.access, live.manager, live.journal, yes=yes)


def followed(live: Bed, guarding: Guard, line: str) -> list[Guarded]:
    """What is done until the tables are right again after something was typed on ibsim's console."""
    live.sim.command(line)
    done: list[Guarded] = []
    while not done or done[-1].outcome in ("refused", "rolled back", "not restored"):
        assert guarding.wait(time.monotonic() + SECONDS), f"{line}: not noticed"
        done.append(guarding.mend())
        assert len(done) < 20, done
    # OpenSM may still be bringing ports up: what is seen of it is followed too.
    while guarding.wait(time.monotonic() + 0.5):
        done.append(guarding.mend())
    return done


def test_a_cut_cable_is_led_around_and_the_old_tables_come_back_with_it(live):
    before = live.settled()
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    with guard(live) as guarding:
        cut = followed(live, guarding, f"Unlink {cable}")
        assert cut[0].outcome == "applied"
        assert cut[0].lost_before > 0
        assert not cut[-1].whole
        assert any("the cable leaf03[" in word and word.endswith("is gone") for word in cut[0].seen)
        now = live.settled()
        assert lost(now) == 0
        assert not nl.check(now.fabric, now.tables).credit_loops
        back = followed(live, guarding, f"ReLink {cable}")
        assert (back[-1].outcome, back[-1].whole) == ("applied", True)
    after = live.settled()
    assert after.tables == before.tables
    # Each change is in the journal; the last says which it takes back.
    changes = live.journal.changes()
    assert {change.state for change in changes} == {"applied"}
    assert changes[-1].rolls_back == changes[0].id


def test_two_faults_at_once_and_one_mended(live):
    before = live.settled()
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    switch = live.port(before.fabric, "spine02", 1).partition("[")[0]
    with guard(live) as guarding:
        followed(live, guarding, f"Unlink {switch}")
        followed(live, guarding, f"Unlink {cable}")
        now = live.settled()
        assert (now.fabric.switches, lost(now)) == (11, 0)
        followed(live, guarding, f"ReLink {switch}")
        now = live.settled()
        assert (now.fabric.switches, lost(now)) == (12, 0)
        assert followed(live, guarding, f"ReLink {cable}")[-1].whole
    assert live.settled().tables == before.tables


def test_a_second_cut_at_any_moment_of_a_repair_is_seen(live):
    before = live.settled()
    first, second = (live.uplink(before.fabric, before.tables, leaf) for leaf in ("leaf03", "leaf05"))
    with guard(live) as guarding:
        # A whole repair takes about 0.3 s here: the second cut falls before, into and after it.
        for delay in (0.1, 0.25, 0.4):
            live.sim.command(f"Unlink {first}")
            later = threading.Timer(delay, live.sim.command, [f"Unlink {second}"])
            assert guarding.wait(time.monotonic() + SECONDS)
            later.start()
            guarding.mend()
            later.join()
            while guarding.wait(time.monotonic() + 1.0):
                guarding.mend()
            now = live.settled()
            assert lost(now) == 0, delay
            live.sim.command(f"ReLink {second}")
            followed(live, guarding, f"ReLink {first}")
            assert live.settled().tables == before.tables, delay


def test_a_host_that_comes_back_during_an_outage_is_reached(live):
    before = live.settled()
    hosts, switches = before.fabric.host_table(), before.fabric.switch_names
    at = before.fabric.host_names.index("host0031")
    switch = int(hosts["leaf"][at])
    host = live.port(before.fabric, switches[switch], int(before.tables.table()[switch, at]))
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    with guard(live) as guarding:
        followed(live, guarding, f"Unlink {host}")
        followed(live, guarding, f"Unlink {cable}")
        followed(live, guarding, f"ReLink {host}")
        now = live.settled()
        assert (now.fabric.hosts, lost(now)) == (32, 0)
        assert followed(live, guarding, f"ReLink {cable}")[-1].whole
    assert live.settled().tables == before.tables


def test_one_that_was_killed_goes_on_with_what_it_guarded(live):
    """Cut while no guard runs, and mended while none runs: both times the next one knows the old tables."""
    before = live.settled()
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    with guard(live):
        pass
    live.sim.command(f"Unlink {cable}")
    assert lost(live.settled()) > 0
    with guard(live) as guarding:
        assert guarding.wait(time.monotonic() + SECONDS)
        assert guarding.mend().outcome == "applied"
        assert lost(live.settled()) == 0
    with guard(live) as guarding:  # Led around now, and the journal knows the old ones.
        assert followed(live, guarding, f"ReLink {cable}")[-1].whole
        assert live.settled().tables == before.tables
        followed(live, guarding, f"Unlink {cable}")
    live.sim.command(f"ReLink {cable}")
    live.settled()
    with guard(live) as guarding:
        assert guarding.wait(time.monotonic() + SECONDS)
        done = guarding.mend()
        assert (done.outcome, done.whole) == ("applied", True)
    assert live.settled().tables == before.tables


def test_a_manager_that_is_away_for_a_while_is_waited_for(live):
    before = live.settled()
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    heard: list[str] = []
    with Guard(live.sim.access, live.manager, live.journal, yes=True, tell=heard.append) as guarding:
        live.opensm.__exit__(None, None, None)
        live.sim.command(f"Unlink {cable}")
        assert not guarding.wait(time.monotonic() + 1.5)
        assert heard.count("OpenSM does not run: waiting for it") == 1
        live.opensm.__enter__()
        assert guarding.wait(time.monotonic() + SECONDS)
        while guarding.mend().outcome != "applied":
            assert guarding.wait(time.monotonic() + SECONDS)
        assert lost(live.settled()) == 0


def test_a_folder_that_others_may_write_to_is_told_and_tried_again(live):
    before = live.settled()
    with guard(live) as guarding:
        live.journal.folder.chmod(0o777)
        live.sim.command(f"Unlink {live.uplink(before.fabric, before.tables, 'leaf03')}")
        assert guarding.wait(time.monotonic() + SECONDS)
        told = guarding.mend()
        assert told.outcome == "refused"
        assert str(live.journal.folder) in told.findings[0]["text"]
        live.journal.folder.chmod(0o700)
        assert guarding.wait(time.monotonic() + SECONDS)
        assert guarding.mend().outcome == "applied"
    assert lost(live.settled()) == 0


def test_what_check_refuses_is_not_loaded(tmp_path):
    """Three cuts after which mended tables close a circle towards switches' own LIDs: lanes do not help,
    for every port has the same row."""
    fabric = nl.Fabric.generate("two-level:leaves=5,hosts=2,spines=3")
    (tmp_path / "small.net").write_bytes(fabric.to_bytes("ibsim"))
    with bed(tmp_path / "small.net", tmp_path) as live, guard(live) as guarding:
        for cable in (("leaf02", 5), ("leaf04", 3), ("leaf03", 4)):
            followed(live, guarding, f"Unlink {live.port(live.look().fabric, *cable)}")
            now = live.settled()
            report = nl.check(now.fabric, now.tables)
            assert (report.credit_loops, report.unreachable_hosts) == (0, 0), cable


def test_a_dry_run_tells_and_changes_nothing(live):
    before = live.settled()
    file = live.file.read_bytes()
    with guard(live, yes=False) as guarding:
        live.sim.command(f"Unlink {live.uplink(before.fabric, before.tables, 'leaf03')}")
        assert guarding.wait(time.monotonic() + SECONDS)
        told = guarding.mend()
        assert told.outcome == "dry run"
        assert told.changed_entries > 0
    assert live.file.read_bytes() == file
    assert live.journal.changes() == []


def test_what_somebody_else_applies_is_guarded_from_then_on(live):
    before = live.settled()
    other = nl.route("random", before.fabric, seed=4)
    cable = live.uplink(before.fabric, other, "leaf03")
    with guard(live) as guarding:
        assert live.apply(other).outcome == "applied"
        followed(live, guarding, f"Unlink {cable}")
        assert followed(live, guarding, f"ReLink {cable}")[-1].whole
    hosts = before.fabric.hosts
    assert (live.settled().tables.table()[:, :hosts] == other.table()[:, :hosts]).all()


def test_tables_that_somebody_loads_without_a_journal_are_replaced(live):
    """No port changes: only who reads the tables notices."""
    before = live.settled()
    with guard(live) as guarding:
        live.file.write_bytes(nl.route("random", before.fabric, seed=4).to_bytes())
        live.manager.reload(seconds=SECONDS)
        assert live.settled().tables != before.tables
        assert guarding.wait(time.monotonic() + SECONDS)
        done = guarding.mend()
        assert (done.outcome, done.whole, done.lost_before) == ("applied", True, 0)
        assert done.seen[0].startswith("entries that nobody was to change are others: ")
        assert not guarding.wait(time.monotonic() + 2.0)
    assert live.settled().tables == before.tables


def test_a_switch_that_loses_its_tables_gets_them_again(live):
    before = live.settled()
    switch = before.fabric.switch_names.index("leaf03")
    nothing = Request.subnet(int(before.fabric.switch_table()["lid"][switch]), FORWARDING, 0, b"\xff" * 64)
    with guard(live) as guarding:
        with Mads(live.sim.access, before.fabric) as mads:
            assert mads.ask([nothing]).answered.all()
        assert lost(live.settled()) > 0
        assert guarding.wait(time.monotonic() + SECONDS)
        done = guarding.mend()
        assert (done.outcome, done.whole, done.lost_before > 0) == ("applied", True, True)
        assert done.seen == ["entries that nobody was to change are others: leaf03"]
    assert live.settled().tables == before.tables


def test_a_manager_with_another_file_is_told_and_nothing_is_sent(live, tmp_path):
    before = live.settled()
    with guard(live) as guarding:
        live.opensm.__exit__(None, None, None)
        other = tmp_path / "other.lfts"
        other.write_bytes(live.file.read_bytes())
        with OpenSM(live.sim, routes=other):
            live.sim.command(f"Unlink {live.uplink(before.fabric, before.tables, 'leaf03')}")
            with pytest.raises(nl.LiveError, match=r"restarted with other options .*nothing was sent"):
                guarding.wait(time.monotonic() + SECONDS)
        # The bed's own is ended already.
        live.opensm.__enter__()
    assert live.journal.changes() == []


def test_a_second_manager_is_told_and_nothing_is_sent(live):
    before = live.settled()
    with guard(live) as guarding, OpenSM(live.sim, routes=live.file, host="host0031", standby=True):
        live.sim.command(f"Unlink {live.uplink(before.fabric, before.tables, 'leaf03')}")
        assert guarding.wait(time.monotonic() + SECONDS)
        told = guarding.mend()
        assert (told.outcome, told.findings[0]["kind"]) == ("refused", "standby")
    assert live.journal.changes() == []


def test_less_than_half_of_the_switches_is_another_fabric(live):
    seen = live.settled()
    with guard(live) as guarding:
        for number in (1, 2, 3, 4, 5, 6, 7):
            live.sim.command(f"Unlink {live.port(seen.fabric, f'leaf0{number}', 1).partition('[')[0]}")
        for _ in range(20):
            assert guarding.wait(time.monotonic() + SECONDS)
            told = guarding.mend()
            if told.outcome == "refused":
                break
        assert "5 of the 12 switches that are guarded answer" in told.findings[0]["text"]


def test_tables_that_are_not_sound_are_not_guarded(live):
    before = live.settled()
    live.sim.command(f"Unlink {live.uplink(before.fabric, before.tables, 'leaf03')}")
    live.settled()
    with pytest.raises(nl.LiveError, match=r"the tables in force cannot be guarded: .*cannot reach"):
        guard(live).__enter__()


def test_the_command_tells_every_change_and_ctrl_c_ends_it(live, tmp_path, validate):
    before = live.settled()
    cable = live.uplink(before.fabric, before.tables, "leaf03")
    words = live.arguments("history")
    words[1:2] = ["guard", "--yes", "--format", "json", "--every", "0.2"]
    with subprocess.Popen(
        [sys.executable, "-m", "netloom", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        while "guarding" not in child.stderr.readline():
            assert child.poll() is None
        live.sim.command(f"Unlink {cable}")
        while "is gone: applied (change 1)" not in child.stderr.readline():
            assert child.poll() is None
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    told = json.loads(out)
    validate(told)
    assert told["result"]["stopped"] == "interrupted"
    assert told["result"]["rounds"][0]["outcome"] == "applied"


def one(live: Bed, guarding: Guard, fault: guard_bed.Fault) -> tuple[float, float]:
    """Seconds from a cut to sound tables in all switches, and from its mending to the old ones."""
    before = live.settled()
    seconds = []
    for line in (fault.cut(), fault.mend()):
        start = time.monotonic()
        done = followed(live, guarding, line)
        seconds.append(guarding.loaded - start)
        now = live.settled()
        assert lost(now) == 0, (fault, line, done)
        assert not nl.check(now.fabric, now.tables).credit_loops
        # What switches hold is what the journal has; that is what OpenSM loads by itself too.
        assert 0 in far(now, live.journal).values()
    assert live.settled().tables == before.tables, fault
    return seconds[0], seconds[1]


TRIALS = 50 if "NETLOOM_TRIALS" in os.environ else 2


def test_hostile_faults_never_leave_a_hole(tmp_path):
    fabric = nl.Fabric.generate("two-level:leaves=6,hosts=3,spines=4")
    (tmp_path / "small.net").write_bytes(fabric.to_bytes("ibsim"))
    with bed(tmp_path / "small.net", tmp_path) as live, guard(live) as guarding:
        for seed in guard_bed.SEEDS[:TRIALS]:
            one(live, guarding, guard_bed.fault(fabric, seed))


def main(times: int) -> int:
    """So many faults on 324 hosts, with how long each took."""
    fabric = nl.Fabric.generate(guard_bed.FABRIC)
    took: list[float] = []
    back: list[float] = []
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "net.net").write_bytes(fabric.to_bytes("ibsim"))
        with bed(folder / "net.net", folder) as live:
            live.opensm.heavy_sweep()
            with guard(live) as guarding:
                for seed in guard_bed.SEEDS[:times]:
                    fault = guard_bed.fault(fabric, seed)
                    try:
                        cut, mended = one(live, guarding, fault)
                    except (AssertionError, nl.NetloomError) as error:
                        failed.append(f"{seed} {fault}: {error}")
                        break
                    took.append(cut)
                    back.append(mended)
                    load = os.getloadavg()[0]
                    print(
                        f"{seed} {fault!s:14} {cut:5.2f} s, back {mended:5.2f} s, load {load:.1f}", flush=True
                    )
    for what, of in (("cut", took), ("back", back)):
        within = sum(one <= 3.0 for one in of)
        told = f"{len(of)} of {times} sound, {within} within 3 s"
        print(f"{what}: {told}, median {statistics.median(of):.2f} s, most {max(of):.2f} s")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else len(guard_bed.SEEDS)))
