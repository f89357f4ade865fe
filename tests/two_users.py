"""Two users of one project folder: one runs netloom there, the other watches and exchanges what he sees.

`python two_users.py TRIES SEED VERB…`, as root, prints a line of JSON for each verb: how often it ran and
ended how, how often the other user acted, and what was changed, moved, removed or read that must not be.

The project is an ordinary one: group-writable, without the sticky bit. The other user hears of every name
that appears (inotify), and renames it away, puts links, pipes and folders of links in its place, or exchanges
it for a private folder of the first user's that lies beside it. What lies in the first user's home, in that
private folder and in a folder for inputs must stay as it was, and the other user reads no secret.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import random
import select
import shutil
import signal
import stat
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

VICTIM, OTHER, GROUP = 23456, 65534, 34567
_CAP_DAC_READ_SEARCH = 2
SECRET = b"the-secret-of-the-first-user"
TRY_SECONDS = 60
LOOP = str(Path(__file__).resolve().parent.parent / "examples" / "loop" / "small.toml")
SPEC = "two-level:leaves=2,hosts=2,spines=2"
SCENARIO = f"""\
fabric = "{SPEC}"
routes = ["ftree", "updn"]
[[job]]
name = "pair"
program = {{ kind = "stream", pattern = "bisection", bytes = 4096 }}
"""
TWO = f"""\
fabric = "{SPEC}"
[[job]]
name = "pair"
ranks = 2
program = {{ kind = "stream", pattern = "bisection", bytes = 4096 }}
[[job]]
name = "other"
ranks = 2
program = {{ kind = "stream", pattern = "bisection", bytes = 4096 }}
"""
SWEEP = """\
scenario = "s.toml"
keep = ["completion_ms"]
by = ["routing"]
[over]
seed = [1, 2]
"""
JOBS = '[[job]]\nname = "ring"\npattern = "shift:1"\nallocation = "contiguous"\n'

FILES = {
    "fabric new": "fabric new SPEC -o OUT.net",
    "fabric convert": "fabric convert IN/net.txt -o OUT.net",
    "fabric damage": "fabric damage SPEC --random-links 1 -o OUT.net",
    "traffic new": "traffic new shift:1 --endpoints 4 -o OUT.mtx.gz",
    "traffic convert": "traffic convert IN/t.mtx -o OUT.csv",
    "route": "route ftree SPEC -o OUT.lfts",
    "loads": "loads SPEC ftree shift:1 -o OUT.json",
    "check": "check SPEC ftree -o OUT.csv",
    "optimize": "optimize SPEC shift:1 -o OUT.lfts --write-certificate OUT.json",
    "counters synth": "counters synth SPEC ftree shift:1 --seconds 10 -o OUT.csv",
    "plot matrix": "plot matrix IN/t.mtx -o OUT.svg",
    "path": "path SPEC ftree host0000 host0003 -o OUT.json",
    "health": "health SPEC -o OUT.json",
    "traffic place": "traffic place SPEC IN/jobs.toml -o OUT.mtx.gz",
    "noise": "noise IN/two.toml --job pair --routings ftree -o OUT.csv",
    "diagnose": "diagnose IN/sampled -o OUT.json",
    "infer": "infer SPEC ftree IN/c.csv --jobs IN/jobs.toml -o OUT.mtx --remember OUT",
    "lanes write": "lanes write SPEC ftree --vl-scheme 4sl4vl:sources:seed=2 --qos OUT",
}
"""Verbs that write files; `IN` is a folder of inputs, `OUT` a name in the project."""
FOLDERS = {
    "simulate": "simulate IN/s.toml -o OUT",
    "simulate again": "simulate IN/s.toml -o there",
    "simulate --checkpoint": "simulate IN/s.toml --checkpoint OUT",
    "sample run": "sample run IN/s.toml -o OUT",
    "sample run again": "sample run IN/s.toml -o there",
    "sample decode": "sample decode SPEC IN/sampled/0-ftree/packets.parquet --write-run OUT",
    "record": "record --matrix -o OUT -- sh -c 'cp IN/rank.* $NETLOOM_RECORD'",
    "sweep run": "sweep run IN/sweep.toml -o OUT",
    "loop run": "loop run LOOP --rounds 1 -o OUT",
}
VERBS = {**FILES, **FOLDERS}


# The other user

_EVENTS = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x20
"""modify, attrib, close-write, moved-to, create, open."""
_EXCHANGE = 2


class Other:
    """What the second user does, in a process of its own until it is ended."""

    def __init__(self, project: Path, home: Path, seed: int) -> None:
        self._project, self._home = project, home
        self._random = random.Random(seed)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._inotify = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._watches: dict[int, Path] = {}
        self._number = 0
        self._eager = self._random.choice([0.1, 0.3, 0.9])

    def run(self, told: int) -> None:
        """Waits and acts; each act is a byte in the pipe `told`."""
        self._watch(self._project)
        os.write(told, b"!")
        while True:
            select.select([self._inotify], [], [], 1)
            for folder, name in self._heard():
                with contextlib.suppress(OSError):
                    if self._acts_on(folder, name):
                        os.write(told, b".")

    def _watch(self, folder: Path) -> None:
        number = self._libc.inotify_add_watch(self._inotify, os.fsencode(folder), _EVENTS)
        if number >= 0:
            self._watches[number] = folder

    def _heard(self) -> list[tuple[Path, str]]:
        found = []
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._inotify, 65536)
            at = 0
            while at < len(data):
                number, _, _, length = struct.unpack_from("iIII", data, at)
                name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode(errors="surrogateescape")
                at += 16 + length
                if name and number in self._watches:
                    found.append((self._watches[number], name))
        return found

    def _acts_on(self, folder: Path, name: str) -> bool:
        if name.startswith(("stash", "evil")) or name == "private" or self._random.random() > self._eager:
            return False
        path = folder / name
        about = path.lstat()
        if stat.S_ISDIR(about.st_mode) and self._random.random() < 0.5:
            self._watch(path)
        if about.st_uid == OTHER:
            return False
        self._number += 1
        stash = self._project / f"stash{self._number}"
        how = self._random.choice(["exchange", "exchange", "link", "links", "pipe", "away", "folder link"])
        if how == "exchange":
            private = self._project / "private"
            self._libc.renameat2(-100, os.fsencode(path), -100, os.fsencode(private), _EXCHANGE)
            return True
        os.rename(path, stash)
        if how == "link":
            path.symlink_to(
                self._random.choice([self._home / "thesis.txt", self._home / name, "private/notes"])
            )
        elif how == "folder link":
            path.symlink_to(self._random.choice([self._home, self._home / "run", self._project / "private"]))
        elif how == "pipe":
            os.mkfifo(path, 0o666)
        elif how == "links":
            path.mkdir()
            for file in (
                "manifest.json",
                "matrix.mtx.gz",
                "jobs.toml",
                "thesis.txt",
                "run",
                "0-ftree",
                "ranks",
            ):
                (path / file).symlink_to(self._home / file)
            os.chmod(path, 0o777)
        return True


# The first user


def become(user: int) -> None:
    """Goes on as another user; the first one keeps root's right to read, as Python may lie in root's home."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.setgroups([GROUP])
    os.setresgid(user, user, user)
    libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
    os.setresuid(user, user, user)
    reads = 1 << _CAP_DAC_READ_SEARCH if user == VICTIM else 0
    head, wanted = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", reads, reads, reads, 0, 0, 0)
    assert libc.capset(head, wanted) == 0
    if reads:
        libc.prctl(47, 2, _CAP_DAC_READ_SEARCH, 0, 0)  # PR_CAP_AMBIENT: for the programs that it runs, too.
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is this user's.
    os.umask(0o002)


def words_of(verb: str, inputs: Path) -> list[str]:
    import shlex

    return [
        word.replace("SPEC", SPEC).replace("LOOP", LOOP).replace("IN/", f"{inputs}/").replace("OUT", "out")
        for word in shlex.split(VERBS[verb])
    ]


def in_child(user: int, folder: Path, words: list[str], said: Path) -> int:
    """Runs a command as a user in a folder; its exit code, -1 if it did not end."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.chdir(folder)
            log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(log, 1)
            os.dup2(log, 2)
            if user:
                become(user)
            from netloom.cli import main

            code = main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)
    deadline = time.monotonic() + TRY_SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


# The place


def belongings(folder: Path) -> None:
    """What is the first user's own, with the names that verbs use."""
    for name in ("run", "0-ftree", "1-updn", "ranks", "notes"):
        (folder / name).mkdir(parents=True)
        for file in ("diary.txt", "links.parquet", "manifest.json"):
            (folder / name / file).write_bytes(SECRET)
    for name in ("thesis.txt", "manifest.json", "matrix.mtx.gz", "jobs.toml", "out.json", "out.lfts"):
        (folder / name).write_bytes(SECRET)
        os.chmod(folder / name, 0o600)
    owned(folder, VICTIM)


def owned(folder: Path, user: int) -> None:
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(place, name), user, user)
    os.chown(folder, user, user)


def state_of(folder: Path) -> dict[str, object]:
    """Names, modes, owners, contents."""
    found: dict[str, object] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            about = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(about.st_mode) else None
            found[str(path.relative_to(folder))] = (about.st_mode, about.st_uid, about.st_ino, content)
    return found


def where_is(project: Path, inode: int) -> Path | None:
    """A folder, wherever it has been moved to."""
    for place, folders, _ in os.walk(project):
        for name in folders:
            if Path(place, name).lstat().st_ino == inode:
                return Path(place, name)
    return None


def inputs_in(folder: Path) -> None:
    """Inputs, made by the commands themselves, as root."""
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "two.toml").write_text(TWO)
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "jobs.toml").write_text(JOBS)
    sys.path.insert(0, str(Path(__file__).parent))
    from test_record_merge import file_of

    for rank in range(2):
        (folder / f"rank.{rank}.1.node1").write_bytes(file_of(rank, 2, {1 - rank: (3, 300)}))
    made = [
        ["fabric", "new", SPEC, "-o", "net.txt", "-q"],
        ["traffic", "new", "shift:1", "--endpoints", "4", "-o", "t.mtx", "-q"],
        ["counters", "synth", SPEC, "ftree", "shift:1", "--seconds", "10", "-o", "c.csv", "-q"],
        ["simulate", "s.toml", "-o", "there", "-q"],
        ["sample", "run", "s.toml", "--packets", "--routings", "ftree", "-o", "sampled", "-q"],
    ]
    for words in made:
        code = in_child(0, folder, words, folder / "said")
        assert code == 0, (words, code, (folder / "said").read_text())


def campaign(verbs: list[str], tries: int, seed: int) -> None:
    """So many tries of each verb beside the other user."""
    # Before the forks, as they take most of a command's time.
    for name in (
        "netloom.cli.shared.run",
        "netloom._core",
        "netloom.tables",
        "pyarrow.parquet",
        "scipy.sparse",
    ):
        importlib.import_module(name)
    place = Path(tempfile.mkdtemp(prefix="netloom-two-users-"))
    os.chmod(place, 0o755)
    try:
        inputs = place / "inputs"
        inputs.mkdir()
        inputs_in(inputs)
        before = state_of(inputs)
        for verb in verbs:
            codes: Counter[int] = Counter()
            acts, damage = 0, []
            for number in range(seed, seed + tries):
                code, acted, wrong = one_try(verb, place / str(number), inputs, number)
                codes[code] += 1
                acts += acted
                damage += [f"seed {number}: {what}" for what in wrong]
                shutil.rmtree(place / str(number))
            damage += changed("the inputs", before, state_of(inputs))
            ended = {str(code): times for code, times in sorted(codes.items())}
            told = {"verb": verb, "tries": tries, "exit": ended, "acts": acts, "damage": damage}
            print(json.dumps(told), flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def one_try(verb: str, place: Path, inputs: Path, seed: int) -> tuple[int, int, list[str]]:
    """The exit code, the other user's acts, what was damaged."""
    home, project = place / "home", place / "project"
    belongings(home)
    belongings(project / "private")
    shutil.copytree(inputs / "there", project / "there")
    owned(project / "there", VICTIM)
    # As a project's folders are: the group's.
    for folder in (project, project / "there"):
        os.chown(folder, 0 if folder == project else VICTIM, GROUP)
        os.chmod(folder, 0o2775)
    inode = (project / "private").stat().st_ino
    before, private_before = state_of(home), state_of(project / "private")
    (place / "matplotlib").mkdir()
    os.chown(place / "matplotlib", VICTIM, VICTIM)
    read, write = os.pipe()
    os.set_blocking(read, False)
    other = os.fork()
    if other == 0:
        with contextlib.suppress(BaseException):
            become(OTHER)
            Other(project, home, seed).run(write)
        os._exit(0)
    os.close(write)
    try:
        select.select([read], [], [], 10)  # It watches.
        os.environ |= {"HOME": str(home), "MPLCONFIGDIR": str(place / "matplotlib")}
        shown = place / "said"
        code = in_child(VICTIM, project, words_of(verb, inputs), shown)
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
    acts = 0
    with contextlib.suppress(BlockingIOError):
        acts = len(os.read(read, 65536)) - 1
    os.close(read)
    return (
        code,
        max(acts, 0),
        [
            *changed("home", before, state_of(home)),
            *private_damage(project, inode, private_before),
            *told(project, inode, shown),
            *(["a traceback"] if b"Traceback" in shown.read_bytes() else []),
            *([f"exit {code}: {shown.read_text(errors='replace')[-300:]}"] if code not in (0, 1, 3) else []),
        ],
    )


def changed(what: str, before: dict[str, object], after: dict[str, object]) -> list[str]:
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [f"changed in {what}: {names}"] if names else []


def private_damage(project: Path, inode: int, before: dict[str, object]) -> list[str]:
    """What lay in the private folder lies there still; who is told to write there by name may add to it."""
    folder = where_is(project, inode)
    if folder is None:
        return ["the private folder is gone"]
    after = state_of(folder)
    return changed("the private folder", before, {name: after.get(name) for name in before})


def told(project: Path, inode: int, said: Path) -> list[str]:
    """The secret, where the other user could read it and it was not before."""
    found = ["standard output"] if SECRET in said.read_bytes() else []
    for place, _, files in os.walk(project):
        if any(above.stat().st_ino == inode for above in (Path(place), *Path(place).parents)):
            continue
        for name in files:
            path = Path(place, name)
            if stat.S_ISREG(path.lstat().st_mode) and SECRET in path.read_bytes():
                found.append(str(path.relative_to(project)))
    return [f"the secret was told: {found}"] if found else []


if __name__ == "__main__":
    campaign(sys.argv[3:], int(sys.argv[1]), int(sys.argv[2]))
