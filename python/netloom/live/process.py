"""Child processes that never outlive their parent, and waits that end.

Invariants: a child stops with its `with` block; if Python is killed, the kernel stops the child
(`PR_SET_PDEATHSIG`). A child is its own session, so that a terminal's Ctrl-C reaches only Python, which
then stops the children in order.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from netloom import files
from netloom.errors import LiveError
from netloom.files import Folder

_TOOL_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
_PR_SET_PDEATHSIG = 1


def find_tool(name: str) -> str | None:
    """Returns the path of an InfiniBand tool, on `PATH` or where Debian keeps administrators' tools."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *_TOOL_FOLDERS])
    return shutil.which(name, path=path)


def find_umad2sim() -> str | None:
    """Returns the path of the library that makes OpenSM and the diagnostics talk to ibsim."""
    patterns = ("/usr/lib/*/umad2sim/libumad2sim.so", "/usr/lib*/umad2sim/libumad2sim.so")
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    return found[0] if found else None


def missing_tools() -> list[str]:
    """Returns what OpenSM on a simulated fabric needs and this machine lacks.

    Returns
    -------
    list of str
        Names of programs or libraries; empty if everything is there.
    """
    missing = [name for name in ("ibsim", "opensm", "dump_fts", "ibnetdiscover") if find_tool(name) is None]
    if find_umad2sim() is None:
        missing.append("libumad2sim.so")
    return missing


def require_tool(name: str) -> str:
    """Returns the path of a tool.

    Raises
    ------
    LiveError
        If it is not installed; names the Debian packages that bring it.
    """
    path = find_tool(name)
    if path is None:
        raise LiveError(
            f"{name} is not installed (Debian: apt-get install opensm ibsim-utils infiniband-diags)"
        )
    return path


def client_environment(socket_name: str, host: str | None = None) -> dict[str, str]:
    """Returns the environment in which a tool sees the simulated fabric from `host` (ibsim chooses if None).

    Raises
    ------
    LiveError
        If ibsim's client library is not installed.
    """
    library = find_umad2sim()
    if library is None:
        raise LiveError("libumad2sim.so is not installed (Debian: apt-get install ibsim-utils)")
    before = os.environ.get("LD_PRELOAD", "")
    preload = os.pathsep.join([*([before] if before else []), library])
    environment = {**os.environ, "LD_PRELOAD": preload, "IBSIM_SOCKNAME": socket_name}
    if host is not None:
        environment["SIM_HOST"] = host
    return environment


def wait_until(ready: Callable[[], bool], seconds: float, what: str, child: subprocess.Popen[bytes]) -> None:
    """Waits until `ready()`.

    Raises
    ------
    LiveError
        If the child ends first, or the time is over.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        code = child.poll()
        if code is not None:
            raise LiveError(f"{what}: the process ended with exit status {code}")
        if time.monotonic() > deadline:
            raise LiveError(f"{what}: not after {seconds:g} s")
        time.sleep(0.01)


@contextlib.contextmanager
def spawn(
    command: Sequence[str],
    *,
    folder: Folder,
    name: str,
    env: Mapping[str, str],
    console: int,
    stop: Callable[[subprocess.Popen[bytes]], None],
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a child with its console on `console` and its output in `folder/name.out` and `.err`.

    The child runs in the folder, by its path: nobody else may be able to exchange it (`Scratch.private`).
    On leaving, `stop(child)` asks it to end; SIGTERM and SIGKILL follow if it does not.
    """
    libc = ctypes.CDLL(None)

    def die_with_parent() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    with folder.create(f"{name}.out") as out, folder.create(f"{name}.err") as err:
        child = subprocess.Popen(
            list(command),
            stdin=console,
            stdout=out,
            stderr=err,
            env=dict(env),
            cwd=folder.path,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
    try:
        yield child
    finally:
        _end(child, stop)


def _end(child: subprocess.Popen[bytes], stop: Callable[[subprocess.Popen[bytes]], None]) -> None:
    try:
        if child.poll() is None:
            with contextlib.suppress(OSError):
                stop(child)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=5)
        if child.poll() is None:
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=2)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


_END_SECONDS = 3.0


def clients_folder() -> Path:
    """Where clients of ibsim run: its library puts a folder there whose name can be predicted."""
    return files.private_folder("netloom")


def end_client(child: subprocess.Popen[bytes]) -> None:
    """Ends a client of ibsim as well as can be.

    One that is killed keeps one of ibsim's ten places until ibsim ends, and leaves its folder: so it first
    has some time to end by itself.
    """
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_END_SECONDS)
    if child.poll() is None:
        child.kill()
        child.wait()
    with contextlib.suppress(OSError), Folder.open(clients_folder()) as clients:
        files.remove_whole(clients, f"sys-{child.pid}")


def tail(path: Path, lines: int = 3) -> str:
    """Returns the last lines of a log, on one line, for an error message."""
    if not path.exists():
        return ""
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 4096))
        text = file.read().decode(errors="replace")
    return " | ".join(text.strip().splitlines()[-lines:])
