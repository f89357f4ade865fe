"""Where products go: paths gone along part by part, temporary folders that nobody can exchange."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from netloom import _core, files
from netloom.runs import folder as runs

NOBODY = 65534
SPEC = "two-level:leaves=2,hosts=1,spines=1"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as two users")

WRITERS = {
    "core": lambda path: _core.write_atomic(path, b"new\n"),
    "check": files.check_file,
    "folder": lambda path: files.Folder.open(path.parent).write(path.name, b"new\n"),
    "make": lambda path: files.Folder.open(path.parent / "x" / "y", make=True),
    "run": lambda path: runs.write_run(path, {"schema": runs.RUN_SCHEMA}, []),
}


@pytest.fixture
def home(tmp_path):
    """A home that nothing may be written to."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work\n")
    (tmp_path / "home" / "out.csv").write_text("years of work\n")
    yield tmp_path / "home"
    assert sorted(os.listdir(tmp_path / "home")) == ["out.csv", "thesis.txt"]
    assert (tmp_path / "home" / "out.csv").read_text() == "years of work\n"


@pytest.fixture
def open_place():
    """A folder that all may enter; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp(prefix="netloom-test-", dir="/tmp"))
    os.chmod(made, 0o755)
    yield made
    shutil.rmtree(made)


def shared_folder(place: Path, mode: int) -> Path:
    """One in it that others write to, by its mode."""
    project = place / "project"
    project.mkdir()
    if os.geteuid() == 0:
        os.chown(project, 0, NOBODY)
    os.chmod(project, mode)
    return project


# Links in the parts of a path


@as_root
@pytest.mark.parametrize("how", WRITERS)
@pytest.mark.parametrize("depth", ["results/out.csv", "results/../results/out.csv", "a/results/out.csv"])
def test_a_link_of_another_user_in_a_parent_folder_is_not_followed(tmp_path, home, how, depth):
    (tmp_path / "a").symlink_to(".")
    (tmp_path / "results").symlink_to(home)
    os.chown(tmp_path / "results", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(OSError, match="is a link that another user made"):
        WRITERS[how](tmp_path / depth)


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o2775])
@pytest.mark.parametrize("how", ["core", "check", "folder", "run"])
def test_a_link_of_ours_that_others_can_exchange_is_not_followed(open_place, home, mode, how):
    """Another user may have renamed it: to the name that is written to."""
    project = shared_folder(open_place, mode)
    (project / "results").symlink_to(home)
    with pytest.raises(OSError, match=r"is a link in a folder that others can write to \(mode"):
        WRITERS[how](project / "results" / "out.csv")


@pytest.mark.parametrize("how", ["core", "check", "folder"])
def test_links_of_ours_are_followed_where_nobody_else_gets_in(open_place, tmp_path, how):
    """As at home, where a umask of 002 leaves folders to a group of one."""
    os.chmod(open_place, 0o700)
    project = shared_folder(open_place, 0o775)
    (project / "results").symlink_to(tmp_path)
    WRITERS[how](project / "results" / "out.csv")


@pytest.mark.parametrize("mode", [0o755, 0o1777])
@pytest.mark.parametrize("how", ["core", "check", "folder"])
def test_links_of_ours_that_only_we_can_change_are_followed(open_place, tmp_path, mode, how):
    project = shared_folder(open_place, mode)
    (project / "deep").symlink_to("results")
    (project / "results").symlink_to(tmp_path)
    WRITERS[how](project / "deep" / "out.csv")
    if how != "check":
        assert (tmp_path / "out.csv").read_bytes() == b"new\n"


def test_links_in_a_circle_are_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for how in ("core", "check", "folder"):
        with pytest.raises(OSError, match=r"link|symbolic"):
            WRITERS[how](tmp_path / "a" / "out.csv")


# Pipes and devices


@as_root
@pytest.mark.parametrize("how", ["core", "check"])
def test_a_pipe_of_another_user_is_not_written_to(tmp_path, how):
    pipe = tmp_path / "out.csv"
    os.mkfifo(pipe, 0o666)
    os.chown(pipe, NOBODY, NOBODY)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError, match="is a pipe or a device that another user made"):
        WRITERS[how](pipe)
    assert os.read(reader, 10) == b""
    os.close(reader)


@as_root
def test_a_device_that_others_can_exchange_is_not_written_to(open_place):
    project = shared_folder(open_place, 0o777)
    os.mknod(project / "out.csv", stat.S_IFCHR | 0o666, os.makedev(1, 7))
    for how in ("core", "check"):
        with pytest.raises(OSError, match="is a pipe or a device in a folder that others can write to"):
            WRITERS[how](project / "out.csv")


def test_ones_own_pipes_and_standard_output_are_written_to(netloom):
    """A pipe that the user made, a shell's `>(…)`, /dev/stdout as a pipe and as a file."""
    pipe = netloom.folder / "pipe.lfts"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    netloom.ok("route", "ftree", SPEC, "-o", pipe)
    reader.join(20)
    assert b"Unicast" in read[0]
    command = f"{netloom.command[0]} route ftree {SPEC} -q -o"
    for words in (
        f"{command} /dev/stdout | cat",
        f"{command} /dev/stdout >f; cat f",
        f"{command} >(cat) | cat",
    ):
        done = subprocess.run(["bash", "-c", words], cwd=netloom.folder, capture_output=True, check=True)
        assert done.stdout == read[0], (words, done)


@as_root
def test_a_name_that_becomes_a_pipe_meanwhile_is_not_written_to(tmp_path):
    """What was looked at is what is opened: never the pipe of a moment later."""
    target, pipe = tmp_path / "out.csv", tmp_path / "pipe"
    os.mkfifo(pipe)
    os.chown(pipe, NOBODY, NOBODY)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    stop = threading.Event()

    def exchanges() -> None:
        while not stop.is_set():
            os.link(pipe, tmp_path / "next")
            os.rename(tmp_path / "next", target)
            target.unlink(missing_ok=True)

    thread = threading.Thread(target=exchanges)
    thread.start()
    try:
        for _ in range(300):
            # Refused as a pipe, or gone between two looks: an error either way, and nothing in the pipe.
            with contextlib.suppress(PermissionError, FileNotFoundError):
                _core.write_atomic(target, b"new\n")
    finally:
        stop.set()
        thread.join()
    assert os.read(reader, 10) == b""
    os.close(reader)


# Modes


@pytest.mark.parametrize(("umask", "mode"), [("077", 0o600), ("022", 0o644), ("002", 0o664)])
@pytest.mark.parametrize("how", ["core", "folder"])
def test_a_mode_is_kept_as_far_as_the_umask_lets_it(tmp_path, umask, mode, how):
    (tmp_path / "out.csv").write_text("old\n")
    os.chmod(tmp_path / "out.csv", 0o666)
    code = {
        "core": "from netloom import _core; _core.write_atomic('out.csv', b'new')",
        "folder": "from netloom import files; from pathlib import Path;"
        "files.Folder.open(Path('.')).write('out.csv', b'new')",
    }[how]
    words = ["sh", "-c", f'umask {umask}; exec "$0" -c "$1"', sys.executable, code]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == mode


# Private folders


@as_root
def test_a_name_in_tmp_that_another_user_took_does_not_keep_us_out(monkeypatch):
    """Whose folder `/tmp/netloom-UID` is, was whoever came first: nobody could load lanes then."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    name = f"netloom-test-{os.getpid()}"
    taken = Path("/tmp", f"{name}-0")
    taken.mkdir()
    os.chown(taken, NOBODY, NOBODY)
    made = None
    try:
        made = files.private_folder(name)
        about = made.lstat()
        assert (made, about.st_uid, stat.S_IMODE(about.st_mode)) == (Path(f"{taken}-1"), 0, 0o700)
        assert files.private_folder(name) == made
    finally:
        taken.rmdir()
        if made is not None:
            made.rmdir()


# Scratch folders


def scratch_in(folder: Path) -> files.Scratch:
    with files.Folder.open(folder) as opened:
        return files.Scratch(opened)


def test_a_scratch_folder_goes_with_all_that_is_in_it(tmp_path):
    with scratch_in(tmp_path) as scratch:
        assert stat.S_IMODE(os.fstat(scratch.fd).st_mode) == 0o700
        (name,) = os.listdir(tmp_path)
        assert re.fullmatch(rf"\.netloom-{os.getpid()}-[0-9a-f]{{16}}\.tmp", name)
        with scratch.folder("a", make=True) as a, a.folder("b", make=True) as b:
            b.write("c", b"1")
        os.symlink("/etc", "link", dir_fd=scratch.fd)
    assert os.listdir(tmp_path) == []


def test_a_scratch_folder_that_is_exchanged_takes_nothing_with_it(tmp_path, home):
    """A folder of ours under its name stays, as does all behind links; the scratch folder goes."""
    with scratch_in(tmp_path) as scratch:
        scratch.write("links.parquet", b"1")
        name = scratch.path.name
        os.rename(tmp_path / name, tmp_path / "stash")
        os.rename(home, tmp_path / name)
        scratch.write("more", b"2")
    os.rename(tmp_path / name, home)
    assert sorted(os.listdir(tmp_path)) == ["home"]
    with scratch_in(tmp_path) as scratch:
        os.rename(tmp_path / scratch.path.name, tmp_path / "stash")
        (tmp_path / scratch.path.name).symlink_to(home)
    assert not (tmp_path / "stash").exists()


def test_a_scratch_folder_goes_with_its_process_and_no_other(tmp_path):
    """An interrupt may come before the `with` block; a forked child has the value, and not the folder."""
    code = (
        "import os, sys; from pathlib import Path; from netloom.files import Folder, Scratch\n"
        "scratch = Scratch(Folder.open(Path('.')))\n"
        "if os.fork() == 0: sys.exit()\n"
        "os.wait(); print(*os.listdir())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.startswith(b".netloom-")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_scratch_folder_that_is_exchanged_as_it_is_made_is_refused(tmp_path, monkeypatch, mode):
    """An empty folder of ours in its place is not taken for it."""
    real = os.mkdir

    def exchanged(name, asked=0o777, *, dir_fd=None):
        real(name, mode, dir_fd=dir_fd)
        os.chmod(name, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", exchanged)
    with pytest.raises(OSError, match="was exchanged as soon as it was made"):
        scratch_in(tmp_path)
    assert len(os.listdir(tmp_path)) == 1


def test_a_private_scratch_folder_lies_where_nobody_can_exchange_it(open_place, monkeypatch):
    shared = shared_folder(open_place, 0o777)
    monkeypatch.setenv("TMPDIR", str(shared))
    with files.Scratch.private([shared]) as scratch:
        assert scratch.path.parent == Path("/tmp")
    os.chmod(open_place, 0o700)
    with files.Scratch.private([shared]) as scratch:
        assert scratch.path.parent == shared  # Nobody else gets there.
    assert os.listdir(shared) == []


def test_records_of_another_user_are_not_believed(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to act as two users")
    from netloom.recording import merging
    from test_record_merge import file_of

    for rank in range(2):
        (tmp_path / f"rank.{rank}.1.node1").write_bytes(file_of(rank, 2, {1 - rank: (3, 300)}))
    os.chown(tmp_path / "rank.1.1.node1", NOBODY, NOBODY)
    found, bad = merging.read_folder(tmp_path)
    assert [record.rank for record in found] == [0]
    assert [lost.rank for lost in bad] == [1]


def test_a_run_in_a_group_s_folder_belongs_to_the_group(netloom, paths):
    group = os.getgid() if os.geteuid() else 12_345
    team = netloom.folder / "team"
    team.mkdir()
    os.chown(team, -1, group)
    team.chmod(0o2775)
    scenario = paths.examples / "scenarios" / "shuffle.toml"
    netloom.ok("simulate", scenario, "--routings", "ftree", "-o", "team/run")
    for made in (team / "run", *(team / "run").iterdir()):
        assert made.stat().st_gid == group
    assert (team / "run").stat().st_mode & stat.S_ISGID
