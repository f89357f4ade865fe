"""MPI for tests: which are installed, programs compiled for them, what Open MPI's own monitoring counted.

Open MPI yields its processor and runs any number of ranks; MPICH polls, so it gets four at most.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from conftest import DATA, EXAMPLES, ROOT
from console import AS_ROOT

PROGRAMS = DATA.parent / "mpi"
LIBRARY = ROOT / "python" / "netloom" / "native" / "libnetloom_record.so"

ENVIRONMENT = AS_ROOT


@dataclass(frozen=True)
class Mpi:
    """One of the installed MPIs, by Debian's names."""

    name: str

    @property
    def run(self) -> str:
        return f"mpirun.{self.name}"

    @property
    def cc(self) -> str:
        return f"mpicc.{self.name}"

    @property
    def missing(self) -> list[str]:
        return [tool for tool in (self.run, self.cc) if shutil.which(tool) is None]

    def command(self, ranks: int, *program: object) -> list[str]:
        """What runs a program on so many ranks."""
        return [self.run, "-n", str(ranks), *map(str, program)]


OPEN_MPI, MPICH = Mpi("openmpi"), Mpi("mpich")


def need(mpi: Mpi) -> None:
    """Skips a test by name where an MPI or the recorder is missing."""
    if mpi.missing:
        pytest.skip(f"not installed: {', '.join(mpi.missing)}")
    if not LIBRARY.exists():
        pytest.skip("not built: the recorder (make build)")


@cache
def _folder() -> Path:
    import atexit
    import tempfile

    made = tempfile.mkdtemp(prefix="netloom-mpi-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


@cache
def program(mpi: Mpi, name: str, *flags: str) -> Path:
    """A program of tests/data/mpi or examples/mpi, compiled once."""
    source = PROGRAMS / f"{name}.c"
    source = source if source.exists() else EXAMPLES / "mpi" / f"{name}.c"
    made = _folder() / "-".join([name, mpi.name, *flags])
    command = [mpi.cc, "-O1", "-w", "-pthread", *flags, str(source), "-o", str(made), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made


def monitored(folder: Path, *command: object, ranks: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Bytes and messages by pair of ranks, as Open MPI's own monitoring counts a program's messages (`E`)."""
    return counted(folder, ranks, *command)["E"]


def counted(folder: Path, ranks: int, *command: object) -> dict[str, dict[tuple[int, int], tuple[int, int]]]:
    """The same by the letter of its lines: `E` the program's own, `S` put, `R` got."""
    folder.mkdir()
    subprocess.run(
        [OPEN_MPI.run, *monitoring(folder), "-n", str(ranks), *map(str, command)],
        env={**os.environ, **ENVIRONMENT},
        check=True,
        capture_output=True,
        timeout=100,
    )
    return counts_in(folder, ranks)


def monitoring(folder: Path) -> list[str]:
    """What makes Open MPI's launcher monitor messages, into a folder."""
    options = {"enable": 2, "enable_output": 3, "filename": folder / "m"}
    return [word for key, value in options.items() for word in ("--mca", f"pml_monitoring_{key}", str(value))]


def counts_in(folder: Path, ranks: int) -> dict[str, dict[tuple[int, int], tuple[int, int]]]:
    """What it left there, as `counted`."""
    found: dict[str, dict[tuple[int, int], tuple[int, int]]] = {"E": {}, "S": {}, "R": {}}
    files = sorted(folder.glob("m.*.prof"))
    assert len(files) == ranks
    for file in files:
        for line in file.read_text().splitlines():
            words = line.split()
            if words and words[0] in found:
                found[words[0]][int(words[1]), int(words[2])] = int(words[3]), int(words[5])
    return found


def python_of(mpi: Mpi) -> tuple[list[str], dict[str, str]]:
    """How a Python program runs under an MPI, and its environment; skipped where mpi4py is missing."""
    pytest.importorskip("mpi4py", reason="not installed: mpi4py")
    if mpi == OPEN_MPI:
        return [sys.executable], {"MPI4PY_MPIABI": "openmpi"}
    # mpi4py's wheel asks for the name that MPICH itself gives its library, not Debian's.
    found = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
    if not found:
        pytest.skip("not installed: libmpich.so.12")
    link = _folder() / "mpich" / "libmpi.so.12"
    link.parent.mkdir(exist_ok=True)
    if not link.exists():
        link.symlink_to(found[0])
    return [sys.executable], {"MPI4PY_MPIABI": "mpich", "LD_LIBRARY_PATH": str(link.parent)}
