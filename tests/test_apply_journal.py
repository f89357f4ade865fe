"""The journal of changes where others meddle with it: odd lines, its lock, folders that are not safe."""

from __future__ import annotations

import fcntl
import json
import os
import stat

import pytest

import netloom as nl
from netloom import apply as applying
from netloom.apply.journal import Journal
from netloom.errors import LiveError
from netloom.live import Access, sl2vl

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as two users")

ODD = {
    "a begin that says nothing": b'{"id":90,"event":"begin"}',
    "nested deeply": b"[" * 200_000,
    "an object nested deeply": b'{"id":1,"event":"undo","why":' + b'{"a":' * 100_000,
    "not UTF-8": b'{"id":1,"event":"undo","why":"\xff"}',
    "half a surrogate": b'{"id":1,"event":"undo","why":"\\udc80"}',
    "no number": b'{"id":"1","event":"applied"}',
    "true": b'{"id":true,"event":"applied"}',
    "a number without end": b'{"id":1' + b"0" * 5000 + b',"event":"applied"}',
    "a stage without a number": b'{"id":1,"event":"stage"}',
    "a stage of words": b'{"id":1,"event":"stage","stage":"last"}',
    "a reason that is no text": b'{"id":1,"event":"undo","why":[1]}',
    "an event of no change": b'{"id":7,"event":"applied"}',
    "an event that there is not": b'{"id":1,"event":"exploded"}',
    "an event that is no word": b'{"id":1,"event":["applied"]}',
    "a second begin": b'{"id":1,"event":"begin","time":"","changed_entries":1,"stages":1}',
    "times that are numbers": b'{"id":2,"event":"begin","time":1,"changed_entries":1,"stages":1}',
    "entries that are words": b'{"id":2,"event":"begin","time":"","changed_entries":"x","stages":1}',
}


@pytest.fixture
def journal(netloom) -> Journal:
    """One change, applied."""
    made = applying.Journal.beside(netloom.folder / "routes.lfts")
    with made.locked():
        made.begin(b"old", [b"new"], {"changed_entries": 7})
        made.add(1, "stage", stage=1)
        made.add(1, "applied")
    return made


@pytest.mark.parametrize("what", ODD)
def test_an_odd_line_is_told_and_the_rest_is_kept(journal, netloom, what):
    with (journal.folder / "journal.jsonl").open("ab") as file:
        file.write(ODD[what] + b"\n")
    (change,) = journal.changes()
    assert (change.id, change.state, change.changed_entries) == (1, "applied", 7)
    done = netloom("apply", "history", "--journal", journal.folder, "--format", "json")
    assert done.code == 0, done.err
    assert [row["state"] for row in json.loads(done.out)["result"]["history"]] == ["applied"]
    assert "no events in line 4: cut off by a kill, or damaged" in done.err
    with journal.locked():
        assert journal.begin(b"new", [b"newer"], {"changed_entries": 1}) == 2
    assert journal.unfinished() is not None


def test_watch_tells_of_odd_lines_too(journal):
    from netloom.watch import journals

    with (journal.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"id":90,"event":"begin"}\n')
    told = journals.read([journal.folder])
    assert [change["id"] for change in told.changes] == [1]
    assert told.odd == [f"{journal.folder}: no events in line 4: cut off by a kill, or damaged"]


def test_a_journal_of_rounds_that_is_damaged_is_told_by_watch(tmp_path):
    from netloom.watch import journals

    (tmp_path / "journal.parquet").write_bytes(b"PAR1 and nothing else")
    told = journals.read([tmp_path])
    assert told.rounds == []
    assert "expected the journal of a loop" in told.odd[0]


def test_the_largest_number_ends_a_journal_in_words(journal):
    """A change with a number that is not read back would be one that nobody recovers."""
    line = {"id": 2**31 - 1, "event": "begin", "time": "", "changed_entries": 0, "stages": 0}
    with (journal.folder / "journal.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    with journal.locked(), pytest.raises(OSError, match="nothing was applied"):
        journal.begin(b"new", [b"newer"], {"changed_entries": 1})


def test_the_lock_is_for_its_owner_only(journal):
    """One of everybody's can be held by anybody, through a descriptor that only reads."""
    place = journal.folder / "lock"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.chmod(0o644)
    with journal.locked():
        assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_who_holds_the_lock_is_told(journal):
    with (journal.folder / "lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LiveError, match="another process changes routes now"), journal.locked():
            raise AssertionError("it was taken")


@pytest.mark.parametrize("name", ["lock", "journal.jsonl", "elsewhere"])
@pytest.mark.parametrize("how", ["link", "hard link"])
def test_nothing_is_written_through_a_link(journal, tmp_path, name, how):
    """As root, for a user who can write to the folder."""
    target = tmp_path / "shadow"
    target.write_bytes(b"process secrets\n")
    place = journal.folder / name
    place.unlink(missing_ok=True)
    place.symlink_to(target) if how == "link" else os.link(target, place)

    def written() -> None:
        with journal.locked():
            journal.knows(Journal(tmp_path / "other"))
            journal.add(1, "undo", why="no reason")

    with pytest.raises(OSError, match=r"is a link|has other names") as told:
        written()
    assert told.value.filename == str(place)
    assert target.read_bytes() == b"process secrets\n"


def test_tables_are_not_put_behind_a_link(journal, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "old.lfts.gz").write_bytes(b"mine")
    (journal.folder / "2").symlink_to(tmp_path / "home")
    with journal.locked(), pytest.raises(OSError, match="is a link: expected a folder"):
        journal.begin(b"new", [b"newer"], {"changed_entries": 1})
    assert (tmp_path / "home" / "old.lfts.gz").read_bytes() == b"mine"
    assert journal.unfinished() is None


@as_root
@pytest.mark.parametrize("how", ["anybody's", "another user's"])
def test_a_journal_where_others_can_write_is_refused(journal, how):
    if how == "anybody's":
        journal.folder.parent.chmod(0o777)
    else:
        os.chown(journal.folder, NOBODY, NOBODY)
    with pytest.raises(OSError, match=r"expected one that only its owner can change"), journal.locked():
        raise AssertionError("it was taken")


# The lock of SL-to-VL tables


def test_tables_of_a_fabric_are_loaded_by_one_process_at_a_time(paths):
    """Two at once both said that the switches' tables equal their file."""
    fabric, access = nl.Fabric.read(paths.ft2), Access(socket_name="a/b")
    with sl2vl.alone(access, fabric):
        with (
            pytest.raises(LiveError, match=f"process {os.getpid()} since .* loads SL-to-VL tables of"),
            sl2vl.alone(access, fabric),
        ):
            raise AssertionError("it was taken twice")
        with sl2vl.alone(Access(socket_name="other"), fabric):
            pass
    with sl2vl.alone(access, fabric):
        pass
