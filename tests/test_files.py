"""Files in folders that others may write to: what `netloom.files` opens, replaces, locks and removes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from netloom import files
from netloom.live import processes
from netloom.runs import lock

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as two users")


@pytest.fixture
def shared(tmp_path):
    """A folder, and a file of the user's beside it that nothing in the folder may lead to."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work\n")
    with files.Folder.open(tmp_path / "shared") as folder:
        yield folder
    assert (tmp_path / "home" / "thesis.txt").read_text() == "years of work\n"
    assert os.listdir(tmp_path / "home") == ["thesis.txt"]


# Names and links


def test_a_link_is_replaced_not_followed(shared):
    (shared.path / "result.csv").symlink_to("../home/thesis.txt")
    shared.write("result.csv", b"1\n")
    assert not (shared.path / "result.csv").is_symlink()
    assert (shared.path / "result.csv").read_bytes() == b"1\n"


def test_a_hard_link_loses_its_name_not_its_content(shared):
    os.link(shared.path / "../home/thesis.txt", shared.path / "result.csv")
    shared.write("result.csv", b"1\n")
    assert (shared.path / "result.csv").read_bytes() == b"1\n"


@pytest.mark.parametrize("make", [True, False])
def test_a_folder_that_is_a_link_is_refused(shared, make):
    (shared.path / "0-ftree").symlink_to("../home")
    with pytest.raises(OSError, match="is a link: expected a folder") as told:
        shared.folder("0-ftree", make=make)
    assert told.value.filename == str(shared.path / "0-ftree")


def test_a_link_a_pipe_and_a_folder_are_not_read(shared):
    (shared.path / "link").symlink_to("../home/thesis.txt")
    os.mkfifo(shared.path / "pipe")
    (shared.path / "folder").mkdir()
    for name in ("link", "pipe", "folder"):
        with pytest.raises(OSError, match=r"is a link|no regular file|directory"):
            shared.read(name)


@pytest.mark.parametrize("name", ["", ".", "..", "../home/thesis.txt", "/etc/passwd", "a\0b"])
def test_only_plain_names_are_taken(shared, name):
    for act in (shared.read, shared.remove, shared.folder, lambda name: shared.write(name, b"")):
        with pytest.raises(OSError, match="expected the name of one file"):
            act(name)


def test_a_link_is_removed_not_its_target(shared):
    (shared.path / "old").symlink_to("../home/thesis.txt")
    shared.remove("old")
    shared.remove("old")
    assert shared.names() == []


def test_a_folder_that_is_moved_away_while_it_is_open_is_still_the_one(shared):
    """What a path leads to may change at any moment; a descriptor stays."""
    moved = shared.path.with_name("moved")
    shared.path.rename(moved)
    shared.path.symlink_to("home")
    shared.write("result.csv", b"1\n")
    assert (moved / "result.csv").read_bytes() == b"1\n"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(shared, monkeypatch):
    shared.write("result.csv", b"old\n")
    monkeypatch.setattr(os, "fsync", lambda _file: os.write(-1, b""))
    with pytest.raises(OSError, match="Bad file") as told:
        shared.write("result.csv", b"new\n")
    assert told.value.filename == str(shared.path / "result.csv")
    assert shared.names() == ["result.csv"]
    assert shared.read("result.csv") == b"old\n"


def test_own_files_keep_their_mode_without_its_special_bits(shared):
    shared.write("result.csv", b"old\n")
    os.chmod(shared.path / "result.csv", 0o4640)
    shared.write("result.csv", b"new\n")
    assert stat.S_IMODE((shared.path / "result.csv").stat().st_mode) == 0o640


def test_what_is_appended_to_has_one_name(shared):
    os.link(shared.path / "../home/thesis.txt", shared.path / "journal.jsonl")
    with pytest.raises(OSError, match="has other names"):
        shared.append("journal.jsonl", b"{}\n")


# Locks


@pytest.mark.parametrize("how", ["link", "hard link", "somebody's file", "pipe"])
def test_what_is_no_lock_is_not_truncated(shared, how):
    place, target = shared.path / lock.NAME, shared.path / "../home/thesis.txt"
    if how == "link":
        place.symlink_to("../home/thesis.txt")
    elif how == "hard link":
        os.link(target, place)
    elif how == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("my notes\n")
    why = "is a link|has other names|is no lock|is no regular file"
    with pytest.raises(OSError, match=why) as told, lock.alone_in(shared.path):
        raise AssertionError("it was taken")
    assert told.value.filename == str(place)
    assert how != "somebody's file" or place.read_text() == "my notes\n"


def test_a_lock_is_for_its_owner_only_and_goes_with_its_folder(tmp_path):
    with lock.alone_in(tmp_path / "a" / "b"):
        place = tmp_path / "a" / "b" / lock.NAME
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert place.read_text().startswith(f"process {os.getpid()} on ")
        with (
            pytest.raises(files.Held, match=f"is in use by process {os.getpid()}"),
            lock.alone_in(tmp_path / "a/b"),
        ):
            raise AssertionError("it was taken twice")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_locked_is_the_one_that_is_written_to(tmp_path):
    """A verb opens its folder by path, again and again; who exchanges it for another gains nothing."""
    ours, run = tmp_path / "ours", tmp_path / "run"
    ours.mkdir()
    with lock.alone_in(run):
        os.rename(run, tmp_path / "stash")
        os.rename(ours, run)
        with files.Folder.open(run) as folder:
            folder.write("journal.parquet", b"1")
        assert os.listdir(run) == []
        assert (tmp_path / "stash" / "journal.parquet").read_bytes() == b"1"
    with files.Folder.open(run) as folder:
        assert folder.names() == []  # Empty, and not taken for the one that was made.


def test_a_lock_of_an_earlier_version_is_closed_to_others(shared):
    (shared.path / lock.NAME).write_text("process 1 on x since then\n")
    os.chmod(shared.path / lock.NAME, 0o644)
    with lock.alone_in(shared.path):
        assert stat.S_IMODE((shared.path / lock.NAME).stat().st_mode) == 0o600


# Other users


def test_a_link_of_another_user_is_not_followed_though_it_is_the_folder_that_was_named(tmp_path, monkeypatch):
    """Users that are made up: any user's test can do this one."""
    (tmp_path / "home").mkdir()
    (tmp_path / "run").symlink_to("home")
    with files.Folder.open(tmp_path / "run"):
        pass
    monkeypatch.setattr(files.ways, "is_trusted", lambda _user: False)
    with pytest.raises(PermissionError, match="is a link that another user made"):
        files.Folder.open(tmp_path / "run")


@as_root
def test_the_core_does_not_follow_another_users_link(netloom):
    """`-o FILE`, written in Rust: one's own links are followed, as ever."""
    home = netloom.folder / "home.csv"
    home.write_text("years of work\n")
    (netloom.folder / "mine.net").symlink_to("home.csv")
    (netloom.folder / "theirs.net").symlink_to("home.csv")
    os.chown(netloom.folder / "theirs.net", NOBODY, NOBODY, follow_symlinks=False)
    spec = "two-level:leaves=2,hosts=1,spines=1"
    word = netloom.refused("fabric", "new", spec, "-o", "theirs.net")
    assert word == f"theirs.net: is a link that another user made (user id {NOBODY}): not followed"
    assert home.read_text() == "years of work\n"
    netloom.ok("fabric", "new", spec, "-o", "mine.net")
    assert (netloom.folder / "mine.net").is_symlink()
    assert home.read_text() != "years of work\n"


@as_root
def test_another_users_file_gives_ours_no_mode(netloom):
    (netloom.folder / "a.net").write_text("")
    os.chmod(netloom.folder / "a.net", 0o666)
    os.chown(netloom.folder / "a.net", NOBODY, NOBODY)
    netloom.ok("fabric", "new", "two-level:leaves=2,hosts=1,spines=1", "-o", "a.net")
    about = (netloom.folder / "a.net").stat()
    assert (about.st_uid, about.st_mode & 0o002) == (0, 0)


@as_root
@pytest.mark.parametrize("how", ["world", "group", "owner", "above"])
def test_root_replaces_files_only_where_nobody_else_can(tmp_path, how):
    place = tmp_path / "above" / "opensm"
    place.mkdir(parents=True)
    (place / "routes.lfts").write_bytes(b"old")
    files.replace_file(place / "routes.lfts", b"older")
    if how == "world":
        os.chmod(place, 0o1777)
    elif how == "group":
        os.chown(place, 0, NOBODY)
        os.chmod(place, 0o775)
    else:
        os.chown(place if how == "owner" else place.parent, NOBODY, NOBODY)
    with pytest.raises(OSError, match="expected one that only its owner can change"):
        files.replace_file(place / "routes.lfts", b"new")
    assert (place / "routes.lfts").read_bytes() == b"older"


@as_root
def test_root_replaces_no_file_that_another_users_link_leads_to(tmp_path):
    (tmp_path / "opensm").mkdir()
    (tmp_path / "opensm" / "routes.lfts").write_bytes(b"old")
    (tmp_path / "link").symlink_to("opensm")
    os.chown(tmp_path / "link", NOBODY, NOBODY, follow_symlinks=False)
    for act in (
        lambda path: files.replace_file(path, b"new"),
        lambda path: files.Folder.trusted(path.parent),
    ):
        with pytest.raises(OSError, match="is a link that another user made"):
            act(tmp_path / "link" / "routes.lfts")
    assert (tmp_path / "opensm" / "routes.lfts").read_bytes() == b"old"


def test_a_replaced_file_keeps_mode_and_owner_and_no_link_is_written_through(tmp_path):
    """The temporary file once had a name that could be predicted, and was opened though it was a link."""
    (tmp_path / "secret").write_text("root's\n")
    file = tmp_path / "routes.lfts"
    file.write_bytes(b"old")
    os.chmod(file, 0o640)
    (tmp_path / ".routes.lfts.netloom").symlink_to("secret")
    files.replace_file(file, b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)
    assert (tmp_path / "secret").read_text() == "root's\n"
    assert sorted(os.listdir(tmp_path)) == [".routes.lfts.netloom", "routes.lfts", "secret"]


@as_root
def test_a_lock_of_another_user_is_refused(shared):
    (shared.path / lock.NAME).write_text("process 1 on x since then\n")
    os.chown(shared.path / lock.NAME, NOBODY, NOBODY)
    with (
        pytest.raises(OSError, match=f"is another user's \\(user id {NOBODY}\\)"),
        lock.alone_in(shared.path),
    ):
        raise AssertionError("it was taken")
    assert (shared.path / lock.NAME).read_text() == "process 1 on x since then\n"


# Which process is OpenSM


@pytest.fixture
def opensm(tmp_path):
    """Starts something under the name of OpenSM; which user, and which program."""
    started = []

    def start(program: str, user: int | None = None) -> int:
        place = tmp_path / "bin"
        place.mkdir(exist_ok=True)
        command = place / "opensm"
        if program == "binary":
            shutil.copy("/bin/sleep", command)
            words = [str(command), "600"]
        else:
            command.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(600)\n")
            words = [str(command)]
        command.chmod(0o755)
        for path in (tmp_path, *tmp_path.parents):
            if path.stat().st_uid == os.geteuid() and path != Path("/"):
                path.chmod(path.stat().st_mode | 0o111)
        child = subprocess.Popen(
            words, user=user, env={"PATH": os.environ["PATH"], "IBSIM_SOCKNAME": "impostor"}
        )
        started.append(child)
        while Path(f"/proc/{child.pid}/comm").read_text().strip() != "opensm":
            assert child.poll() is None
        return child.pid

    yield start
    for child in started:
        child.kill()
        child.wait()


def test_a_program_of_that_name_and_of_ones_own_is_taken_for_opensm(opensm):
    pid = opensm("binary")
    assert pid in processes.found("impostor")


def test_a_script_of_that_name_is_not_opensm(opensm):
    """Its name is what the kernel was told; what runs is Python."""
    pid = opensm("script")
    assert pid not in processes.found("impostor")
    doubt = next(one for one in processes.unverified() if one.pid == pid)
    assert "runs /" in doubt.why
    assert "python" in doubt.why


@as_root
def test_a_process_of_another_user_is_not_opensm_for_root(opensm, netloom):
    """It chose, by its options, which file root replaced."""
    pid = opensm("binary", NOBODY)
    assert pid not in processes.found("impostor")
    doubt = next(one for one in processes.unverified() if one.pid == pid)
    assert doubt.why == f"belongs to another user (user id {NOBODY})"
    word = netloom.refused("apply", "send", "ftree", "--yes", "--opensm", pid)
    assert f"process {pid} is no OpenSM of" in word
