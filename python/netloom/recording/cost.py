"""What recording adds to a call of MPI, measured on this machine.

`cost.c` sends messages in batches, in turn through the recorder and past it, in one process and by its own
clock. What else runs on the machine hits both, so that the median of the differences says what the recorder
adds. It is compiled here, for a wheel cannot know which MPI there is.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from netloom.errors import NetloomError
from netloom.files import Scratch
from netloom.recording import launching, merging

Way = Literal["matrix", "events"]
Messages = Literal["self", "ping"]

RANKS: Mapping[Messages, int] = {"self": 1, "ping": 2}
CALLS: Mapping[tuple[Way, Messages], int] = {
    ("matrix", "self"): 1,
    ("matrix", "ping"): 1,
    ("events", "self"): 3,
    ("events", "ping"): 2,
}
"""Recorded calls that a message has: sums are of sends, events of receives and waits too."""
EVENTS_BYTES = 512_000_000
_OURS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Open MPI runs this program as root and on one processor."""
_SECONDS = 300


@dataclass(frozen=True)
class Mpi:
    """An MPI that is installed.

    Parameters
    ----------
    name, compiler, launcher : str
        Of its commands.
    """

    name: str
    compiler: str
    launcher: str


@dataclass(frozen=True)
class Cost:
    """What recording adds.

    Parameters
    ----------
    without_ns : float
        What a message takes past the recorder, in nanoseconds: a median.
    low_ns, median_ns, high_ns : float
        What a recorded call takes more: medians over the rounds of the quartiles within one, in nanoseconds.
    rounds_ns : tuple of float
        The median of each round.
    own_ns : float
        What the recorder itself measures of counting alone, as it begins.
    """

    without_ns: float
    low_ns: float
    median_ns: float
    high_ns: float
    rounds_ns: tuple[float, ...]
    own_ns: float


def installed() -> list[Mpi]:
    """The MPIs whose compiler and launcher are in PATH: Debian's by their names, else the one there is."""
    pairs = [(f"mpicc.{name}", f"mpirun.{name}", name) for name in ("openmpi", "mpich")]
    pairs.append(("mpicc", "mpirun", "mpi"))
    found = [
        Mpi(name, compiler, launcher)
        for compiler, launcher, name in pairs
        if shutil.which(compiler) and shutil.which(launcher)
    ]
    return [one for one in found if one.name != "mpi"] or found


def compiled(mpi: Mpi, folder: Path) -> Path:
    """The program, compiled for an MPI.

    Parameters
    ----------
    mpi : Mpi
        One of `installed()`.
    folder : Path
        Where to.

    Returns
    -------
    Path

    Raises
    ------
    NetloomError
        If it does not compile.
    """
    source, made = Path(__file__).with_name("cost.c"), folder / f"cost-{mpi.name}"
    command = [mpi.compiler, "-O2", "-w", str(source), "-o", str(made), "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = next((line for line in done.stderr.splitlines() if line.strip()), "it said nothing")
        raise NetloomError(f"{mpi.compiler}: expected to compile a program of MPI, found: {why}")
    return made


def measure(mpi: Mpi, program: Path, way: Way, messages: Messages = "self", *, rounds: int = 3) -> Cost:
    """Runs the program with the recorder.

    Parameters
    ----------
    mpi : Mpi
        One of `installed()`.
    program : Path
        Of `compiled`.
    way : {"matrix", "events"}
        What is recorded: sums, or events too.
    messages : {"self", "ping"}, default "self"
        To oneself, or between two ranks.
    rounds : int, default 3
        How many times it is run.

    Returns
    -------
    Cost

    Raises
    ------
    NetloomError
        If it does not run, or events were dropped.
    """
    found = [_once(mpi, program, way, messages) for _ in range(rounds)]
    calls = CALLS[way, messages]
    without, low, median, high, own = (statistics.median(column) for column in zip(*found, strict=True))
    return Cost(
        without,
        low / calls,
        median / calls,
        high / calls,
        tuple(one[2] / calls for one in found),
        own,
    )


def _once(mpi: Mpi, program: Path, way: Way, messages: Messages) -> tuple[float, ...]:
    """A run: nanoseconds a message without, quartiles of what it takes more, what the recorder says."""
    with Scratch.private() as scratch:
        given = {**os.environ, **_OURS}
        env = launching.environment(scratch.path, given, EVENTS_BYTES if way == "events" else None)
        command = [mpi.launcher, "-n", str(RANKS[messages]), str(program), messages]
        try:
            done = subprocess.run(
                command, env=env, capture_output=True, text=True, timeout=_SECONDS, check=True
            )
            numbers = tuple(float(word) for word in done.stdout.split())
        except (subprocess.SubprocessError, ValueError) as error:
            told = getattr(error, "stderr", None) or str(error)
            why = next((line for line in told.splitlines() if line.strip("- ")), str(error))
            raise NetloomError(f"{mpi.launcher}: expected to run a program of MPI, found: {why}") from None
        records, _ = merging.read_folder(scratch.path)
        if len(numbers) != 4 or not records:
            raise NetloomError(f"{mpi.launcher}: expected four numbers and a record of a program of MPI")
        if any(record.dropped for record in records):
            raise NetloomError(f"{mpi.launcher}: events were dropped: nothing was measured")
        return (*numbers, merging.merge(records).ns_per_call)
