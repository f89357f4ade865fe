"""Running a command with the recorder before its programs.

The library goes before a program by LD_PRELOAD, and finds its folder by NETLOOM_RECORD. MPICH's, Intel MPI's
and Slurm's launchers pass the environment on to every host; Open MPI's does on its own host only, and is told
to (`-x`). The library on the launcher itself does nothing.

Invariants: the command gets its arguments, its standard input and the terminal as they are. It never outlives
us: the kernel sends SIGTERM if we are killed, so that a launcher can end its ranks.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.resources
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from netloom import critical
from netloom.errors import NetloomError

FOLDER_VARIABLE = "NETLOOM_RECORD"
EVENTS_VARIABLE = "NETLOOM_RECORD_EVENTS"
"""Bytes of events that a rank may write."""
PRELOAD_VARIABLE = "LD_PRELOAD"

_PR_SET_PDEATHSIG = 1
_OPEN_MPI_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "oshrun")
_OPEN_MPI_NAMES = (b"Open MPI", b"OpenRTE", b"PRRTE")
_VERSION_SECONDS = 20
_MOST_PATH = 4095 - 300
"""Bytes of a folder's path: Linux takes 4,095, and a rank's file has a name with its host's in it."""
_END_SECONDS = 5.0
"""After SIGTERM at a time limit, before SIGKILL."""


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Parameters
    ----------
    code : int
        Its exit code; 128 + N if signal N ended it.
    late, interrupted : bool
        Whether it was ended because its time was over, or because we were interrupted.
    """

    code: int
    late: bool = False
    interrupted: bool = False


def library(events: bool = False) -> Path:
    """The path of the recorder: of sums, or of events too.

    Raises
    ------
    NetloomError
        If this installation has none, or the dynamic linker could not be told its path.
    """
    path = Path(str(importlib.resources.files("netloom"))) / "native"
    path /= f"libnetloom_{'events' if events else 'record'}.so"
    if not path.is_file():
        raise NetloomError(
            f"{path}: there is no recorder: `make build` compiles it, on Linux with a C compiler"
        )
    if any(character in str(path) for character in " :;$"):
        raise NetloomError(
            f"{path}: LD_PRELOAD cannot name a path with a space, colon, semicolon or dollar sign"
        )
    return path


def check_folder(folder: Path) -> None:
    """Refuses a folder whose path is too long for files of ranks in it.

    Parameters
    ----------
    folder : Path
        Where ranks are to write.

    Raises
    ------
    NetloomError
        With the limit.
    """
    if (found := len(os.fsencode(folder))) > _MOST_PATH:
        raise NetloomError(
            f"ranks would write to a folder whose path has {found} bytes: expected at most {_MOST_PATH}: "
            "record in a folder with a shorter path"
        )


def environment(folder: Path, given: Mapping[str, str], events: int | None = None) -> dict[str, str]:
    """The environment of a command whose programs are recorded.

    Parameters
    ----------
    folder : Path
        Where ranks write; on several hosts it must be the same folder on all.
    given : mapping
        The environment as it is; what it preloads already stays, after the recorder.
    events : int, optional
        Bytes of events that a rank may write. [default: sums only]

    Returns
    -------
    dict
    """
    before = given.get(PRELOAD_VARIABLE)
    preloaded = str(library(events is not None)) + (f":{before}" if before else "")
    limit = {} if events is None else {EVENTS_VARIABLE: str(events)}
    return {**given, PRELOAD_VARIABLE: preloaded, FOLDER_VARIABLE: str(folder), **limit}


def find_command(command: Sequence[str]) -> str:
    """The path of the program that a command names.

    Raises
    ------
    NetloomError
        If there is none, or it cannot be run.
    """
    found = shutil.which(command[0])
    if found is None:
        what = "is no program that can be run" if os.path.exists(command[0]) else "command not found"
        raise NetloomError(f"{command[0]}: {what}")
    return found


def passing_on(command: Sequence[str], events: bool = False) -> list[str]:
    """The command, with what makes Open MPI's launcher pass our variables on to other hosts."""
    name = os.path.basename(command[0]).removesuffix(".openmpi")
    if name not in _OPEN_MPI_LAUNCHERS:
        return list(command)
    try:
        told = subprocess.run(
            [command[0], "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return list(command)
    if not any(name in told.stdout + told.stderr for name in _OPEN_MPI_NAMES):
        return list(command)
    limit = ["-x", EVENTS_VARIABLE] if events else []
    return [command[0], "-x", PRELOAD_VARIABLE, "-x", FOLDER_VARIABLE, *limit, *command[1:]]


def run(
    command: Sequence[str],
    folder: Path,
    *,
    stdout: int | IO[bytes] | None = None,
    seconds: float | None = None,
    events: int | None = None,
) -> Ended:
    """Runs a command with the recorder and waits for its end.

    Ctrl-C and SIGTERM are passed on as SIGTERM, and its end is awaited.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    folder : Path
        Where ranks write; there already.
    stdout : file, optional
        Where its standard output goes. [default: ours]
    seconds : float, optional
        After so many it is ended. [default: never]
    events : int, optional
        Bytes of events that a rank may write. [default: sums only]

    Returns
    -------
    Ended

    Raises
    ------
    NetloomError
        If it cannot be run.
    """
    find_command(command)
    libc = ctypes.CDLL(None)

    def die_with_parent() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)

    # A signal is waited out: ranks that end in order have whole records.
    with critical.section():
        try:
            child = subprocess.Popen(
                passing_on(command, events is not None),
                env=environment(folder, os.environ, events),
                stdout=stdout,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise NetloomError(f"{command[0]}: {error.strerror}") from None
        late = interrupted = False
        try:
            child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            _end(child)
        except KeyboardInterrupt:
            interrupted = True
            child.terminate()
            child.wait()
    code = child.returncode
    return Ended(128 - code if code < 0 else code, late, interrupted)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_END_SECONDS)
    if child.poll() is None:
        child.kill()
        child.wait()
