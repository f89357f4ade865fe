"""Every command ends: signals at any moment, and time limits.

As a script, `python tests/test_signals.py 200`: SIGTERM, SIGINT and SIGHUP, so many in all, at random moments
of ten commands; prints how long each took to die and with what exit code, and fails where one broke its word.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
QUARTZ1 = str(ROOT / "tests/data/opensm/quartz1/ibnetdiscover.txt.gz")
LARGE = "fattree:pods=8,leaves=16,hosts=32,spines=32,groups=4,cores=32"
EXAMPLES = ROOT / "examples"

COMMANDS = {
    "fabric convert": ["fabric", "convert", QUARTZ1, "-o", "net.txt"],
    "route": ["route", "ftree", LARGE, "-o", "r.lfts"],
    "check": ["check", LARGE, "updn", "--format", "json"],
    "loads": ["loads", LARGE, "d-mod-k", "random:partners=30,seed=1", "-o", "l.csv"],
    "optimize": [
        "optimize",
        QUARTZ1,
        str(EXAMPLES / "jobs/mix.toml"),
        "-o",
        "r.lfts",
        "--write-certificate",
        "c.json",
    ],
    "optimize --compare": ["optimize", LARGE, "random:partners=20,seed=1", "--compare", "-o", "r.lfts"],
    "traffic new": ["traffic", "new", "all-to-all", LARGE, "-o", "t.mtx.gz"],
    "counters synth": ["counters", "synth", QUARTZ1, "ftree", str(EXAMPLES / "jobs/mix.toml"), "-o", "c.csv"],
    "simulate": ["simulate", str(EXAMPLES / "scenarios/shuffle.toml"), "-o", "run"],
    "plot loads": ["plot", "loads", QUARTZ1, "shift:5", "ftree", "-o", "p.svg"],
}
INTERRUPTED = 130
BEFORE = (1, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)
"""How Python itself dies of a signal before it has begun with netloom, or after."""


@dataclass(frozen=True)
class Ended:
    """What became of a command that was sent a signal."""

    code: int
    seconds: float
    err: str
    wrong: str | None


def sent(executable: Path, command: list[str], by: signal.Signals, delay: float) -> Ended:
    """Runs a command in a folder of its own and sends it a signal after so many seconds."""
    with tempfile.TemporaryDirectory() as name:
        process = subprocess.Popen(
            [executable, *command],
            cwd=name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        began = time.perf_counter()
        process.send_signal(by)
        _, err = process.communicate(timeout=120)
        seconds = time.perf_counter() - began
        said = err.decode(errors="replace")
        return Ended(process.returncode, seconds, said, _wrong(Path(name), process.returncode, said))


def _wrong(folder: Path, code: int, err: str) -> str | None:
    """What the command should not have left or said."""
    if code not in (0, INTERRUPTED, *BEFORE):
        return f"exit code {code}: {err}"
    if code == INTERRUPTED and "netloom: interrupted" not in err:
        return f"no word about the interruption: {err}"
    if "netloom/" in err and "Traceback" in err:
        return f"a traceback: {err}"
    for path in folder.rglob("*"):
        if path.name.startswith(".netloom-") or path.name.endswith(".tmp"):
            return f"left behind: {path.name}"
        if path.is_file() and path.stat().st_size == 0:
            return f"empty: {path.name}"
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".svg" and not data.rstrip().endswith(b"</svg>"):
            return f"half a picture: {path.name}"
        if path.suffix in (".csv", ".lfts", ".txt") and not data.endswith(b"\n"):
            return f"half a file: {path.name}"
        if path.suffix == ".gz":
            try:
                gzip.decompress(data)
            except (EOFError, OSError):
                return f"half a file: {path.name}"
    return None


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", ["check", "optimize --compare", "counters synth"])
def test_a_signal_ends_a_command_and_leaves_whole_files(netloom, command, by):
    ended = sent(Path(netloom.command[0]), COMMANDS[command], by, 0.4)
    assert ended.wrong is None


HELD = """
import signal, sys
from netloom.cli import main
from netloom.cli.shared import guard
from netloom.cli.shared.run import Run
from netloom.files import Folder, Scratch
from netloom.files.temporary import Temporary
guard.GRACE_S = 0.1
def held(run, *_given, **_named):
    signal.pthread_sigmask(signal.SIG_BLOCK, [])
    half = Temporary(os.open(".", os.O_RDONLY)).__enter__()
    os.write(half.file, b"half")
    Scratch(Folder.open(Path("."))).write("half", b"half")
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGHUP, lambda *_: None)
    print("held", file=sys.stderr, flush=True)
    while True:
        time.sleep(0.05)
import os, time
from pathlib import Path
Run.fabric = held
sys.exit(main())
"""


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_step_that_holds_on_is_ended_by_force_and_its_half_file_removed(netloom, by):
    """Where nothing looks at a signal, as in a library or a step of the core that has nothing to keep."""
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    child = subprocess.Popen(
        [python, "-c", HELD, "route", "ftree", LARGE, "-o", "r.lfts"],
        cwd=netloom.folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    assert child.stderr.readline() == "held\n"
    child.send_signal(by)
    assert child.wait(60) == INTERRUPTED
    assert child.stderr.read() == "netloom: interrupted\n"
    assert list(netloom.folder.iterdir()) == []


def test_a_time_limit_ends_a_step_that_has_nothing_to_keep(netloom):
    """Exit code 124, as timeout(1) has it; two seconds after the limit at the earliest."""
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    done = subprocess.run(
        [python, "-c", HELD, "check", LARGE, "ftree", "--time-limit", "0"],
        cwd=netloom.folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 124
    told = "netloom: error: the time limit of 0 s passed before there was anything to keep\n"
    assert done.stderr == f"held\n{told}"


UNDOING = """
import sys, time
from netloom import critical
from netloom.cli import main
from netloom.cli.shared import guard
from netloom.cli.shared.run import Run
guard.GRACE_S = 0.1
def changed(run, *_given, **_named):
    with critical.section():
        try:
            print("changing", file=sys.stderr, flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            print("undoing", file=sys.stderr, flush=True)
            time.sleep(1)
            print("undone", file=sys.stderr, flush=True)
            raise
Run.fabric = changed
sys.exit(main())
"""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("signals", [1, 2])
def test_a_change_of_a_fabric_is_undone_before_a_signal_ends_it_unless_a_second_comes(netloom, signals, by):
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    child = subprocess.Popen(
        [python, "-c", UNDOING, "route", "ftree", LARGE, "-o", "r.lfts"],
        cwd=netloom.folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    said = []
    for word in ("changing", "undoing")[:signals]:
        said.append(child.stderr.readline())
        assert said[-1] == f"{word}\n"
        child.send_signal(by)
    rest = child.stderr.read()
    assert child.wait(60) == INTERRUPTED
    assert ("undone\n" in rest) == (signals == 1)
    assert rest.endswith("netloom: interrupted\n")


TOGETHER = """
import sys, time
from netloom.cli import main
from netloom.cli.shared import guard, run
guard.GRACE_S = 0.1
write = run.Run.write
def slowly(*given, **named):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(1)
    return write(*given, **named)
run.Run.write = slowly
sys.exit(main())
"""


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_tables_and_the_lanes_they_need_are_all_written_when_a_signal_comes(netloom, nth):
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    files = ["-o", "r.lfts", "--write-sl2vl", "lanes.txt", "--write-sl", "levels.csv"]
    child = subprocess.Popen(
        [python, "-c", TOGETHER, "route", "layers", "torus:shape=5x5,hosts=1", *files],
        cwd=netloom.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    for _ in range(nth):
        assert child.stderr.readline() == "writing\n"
    child.send_signal(signal.SIGTERM)
    assert child.stderr.read().endswith("netloom: interrupted\n")
    assert child.wait(60) == INTERRUPTED
    assert sorted(path.name for path in netloom.folder.iterdir()) == ["lanes.txt", "levels.csv", "r.lfts"]


IGNORING = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from netloom.cli import main
from netloom.cli.shared.run import Run
def waits(run, *_given, **_named):
    print("ready", file=sys.stderr, flush=True)
    sys.stdin.read()
    sys.exit(7)
Run.fabric = waits
sys.exit(main())
"""


def test_nohup_is_heeded(netloom):
    """SIGHUP that is ignored when the command starts stays ignored."""
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    child = subprocess.Popen(
        [python, "-c", IGNORING, "check", LARGE, "ftree"],
        cwd=netloom.folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    assert child.stderr.readline() == "ready\n"
    child.send_signal(signal.SIGHUP)
    _, said = child.communicate(timeout=60)
    assert (child.returncode, said) == (0, "")


READING = """
import os, signal, threading, time
from netloom.interop import arrow_csv
import pyarrow as pa
table = b"a,b\\n" + b"1,2\\n" * 2000
heard = 0
for at in range(100):
    later = threading.Timer(0.0005 + at % 7 * 0.0003, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        later.start()
        while later.is_alive():
            arrow_csv().read_csv(pa.BufferReader(table))
        time.sleep(0.01)
    except KeyboardInterrupt:
        heard += 1
    later.join()
print(heard)
"""


def test_no_signal_is_lost_while_arrow_reads(netloom):
    """Its own handlers lose one of ten, and a demo that was to stop went on to change tables."""
    python = os.path.join(os.path.dirname(netloom.command[0]), "python")
    assert subprocess.check_output([python, "-c", READING], text=True, timeout=60) == "100\n"


def test_methods_after_the_limit_are_told_and_the_routes_kept(netloom, paths):
    result = netloom.result(
        "optimize", paths.small, "bisection", "--compare", "--time-limit", "0", "-o", "r.lfts"
    )
    late = [row["name"] for row in result["compare"] if row["note"] == "time-limit"]
    assert late[-1:] == ["random"]
    assert netloom.result("check", paths.small, "r.lfts")["ok"] is True


INTERRUPTED_IMPORT = """
import os, signal, sys, time
from netloom import cli
from netloom.cli.shared import guard

def loads():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    except KeyboardInterrupt:
        raise ImportError("half a module") from None

guard.start = lambda: None  # The thread that also hears of it may be late.
cli.build_app = loads
sys.exit(cli.main(["fabric"]))
"""


def test_what_an_import_makes_of_an_interruption_is_still_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "netloom: interrupted\n")


DROPPED_INTERRUPT = """
import os, signal, sys, time, weakref
from netloom import cli

class Lock: pass

def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass

def loads(*_):
    lock = Lock()
    gone = weakref.ref(lock, interrupted)
    del lock
    time.sleep(10)
    os._exit(5)

cli.build_app = loads
sys.argv[1:] = ["fabric"]
sys.exit(cli.main())
"""


def test_an_interruption_that_python_drops_comes_again(tmp_path):
    """What was found: one in the callback of an import's lock was a traceback, and the command went on."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED_INTERRUPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "netloom: interrupted\n")


def _main(number: int) -> int:
    executable = Path(os.environ.get("NETLOOM", Path(sys.executable).parent / "netloom"))
    # Started in the background, Ctrl-C is ignored by all children: not here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random_moments = random.Random(1)
    whole = {}
    for name, command in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            done = subprocess.run([executable, *command], cwd=folder, capture_output=True, check=False)
            whole[name] = time.perf_counter() - began
            if done.returncode not in (0, 1):
                raise SystemExit(f"{name}: {done.stderr.decode()}")
    broken, late, codes, slowest = 0, 0, {}, 0.0
    for at in range(number):
        name = list(COMMANDS)[at % len(COMMANDS)]
        by = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)[at // len(COMMANDS) % 3]
        ended = sent(executable, COMMANDS[name], by, random_moments.uniform(0, whole[name]))
        codes[ended.code] = codes.get(ended.code, 0) + 1
        slowest = max(slowest, ended.seconds)
        late += ended.seconds > 2
        if ended.wrong is not None or ended.seconds > 2:
            broken += ended.wrong is not None
            print(f"{name}, {by.name}: {ended.seconds:.2f} s, exit {ended.code}: {ended.wrong}")
    print(f"{number} signals: slowest {slowest:.2f} s, {late} over 2 s, {broken} wrong, exit codes {codes}")
    return 1 if broken or late else 0


if __name__ == "__main__":
    raise SystemExit(_main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
