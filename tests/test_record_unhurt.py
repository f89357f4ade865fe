"""A recorder that never hurts: each program ends, prints and sends as it does alone.

`make hostile` runs every program of tests/data/mpi/cases.*, in C, C++, Fortran by its three interfaces and
Python; other tests take a few. Beside Debian's MPIs, `NETLOOM_MPIS` names folders with `bin/mpicc` and
`bin/mpirun`, separated by colons: the wheels of MPICH and Open MPI in an environment have them, MPICH's
`mpicc_abi` for MPI 5's standard interface too.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from mpi_bed import ENVIRONMENT, MPICH, OPEN_MPI, PROGRAMS, Mpi, need, python_of

HOSTILE = int(os.environ.get("NETLOOM_TRIALS", "0")) > 0


@dataclass(frozen=True)
class Language:
    """What programs are written in.

    Parameters
    ----------
    source : str
        All of them, of tests/data/mpi.
    compiler : str
        What takes the place of `mpicc`; empty: it is interpreted.
    listed : str
        Where a program's name stands, as a regular expression; after `CASES`, where there is one.
    few : tuple of str
        Those that are in tests that are not hostile: one of each kind of harm.
    flags : tuple of str
        For the compiler.
    """

    source: str
    compiler: str
    listed: str
    few: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @property
    def cases(self) -> list[str]:
        """Names of its programs."""
        text = (PROGRAMS / self.source).read_text()
        return re.findall(self.listed, re.split(r"CASES(?:\[\])? = ", text)[-1])


_FORTRAN = ("-fallow-argument-mismatch",)
_C = (
    *("completions", "cancelled", "in_place", "line", "graph", "operations", "jump", "file"),
    *("descriptors", "code", "swap", "finalized"),
)
LANGUAGES = {
    "c": Language("cases.c", "mpicc", r"CASE\((\w+)\)", _C),
    "c++": Language("cases.cc", "mpicxx", r"CASE\((\w+)\)", ("throws", "copy_throws", "uncaught")),
    "mpif.h": Language("cases.F90", "mpif90", r"case \('(\w+)'\)", ("in_place",), (*_FORTRAN, "-DFORM=1")),
    "use mpi": Language("cases.F90", "mpif90", r"case \('(\w+)'\)", ("bottom",), (*_FORTRAN, "-DFORM=2")),
    "mpi_f08": Language("cases.F90", "mpif90", r"case \('(\w+)'\)", ("messages",), (*_FORTRAN, "-DFORM=3")),
    "python": Language("cases.py", "", r"(?m)(\w+)(?:,|\]$)", ("pickles", "neighbours")),
}


def installed() -> dict[str, tuple[str, str]]:
    """Compiler and launcher by name: Debian's, and those that `NETLOOM_MPIS` names."""
    found = {mpi.name: (mpi.cc, mpi.run) for mpi in (OPEN_MPI, MPICH)}
    for folder in filter(None, os.environ.get("NETLOOM_MPIS", "").split(":")):
        tools = Path(folder) / "bin"
        for compiler in ("mpicc", "mpicc_abi"):
            if (tools / compiler).exists():
                name = f"{Path(folder).name}{compiler.removeprefix('mpicc')}"
                found[name] = str(tools / compiler), str(tools / "mpirun")
    return found


MPIS = installed()
CHOSEN = [
    pytest.param(mpi, language, case, mode, id=f"{mpi}-{language}-{case}-{mode}")
    for mpi in MPIS
    for language, one in LANGUAGES.items()
    for case in one.cases
    for mode in ("matrix", "events")
    if HOSTILE or (case in one.few and mpi in ("openmpi", "mpich") and (language == "c" or mode == "events"))
]


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in ("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")


def ranks_of(mpi: str) -> int:
    """Open MPI yields its processor; others poll."""
    return 4 if mpi == "openmpi" else 2


@cache
def _folder() -> Path:
    import atexit
    import tempfile

    made = tempfile.mkdtemp(prefix="netloom-unhurt-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


@cache
def compiled(mpi: str, source: str, compiler: str = "mpicc", *flags: str) -> Path:
    """A program of tests/data/mpi for an MPI; the test is skipped where it has no such compiler."""
    command = compiler.join(MPIS[mpi][0].rsplit("mpicc", 1))
    if shutil.which(command) is None:
        pytest.skip(f"not installed: {command}")
    folder = _folder() / f"{mpi}-{compiler}{len(list(_folder().iterdir()))}"
    folder.mkdir()
    made = folder / Path(source).stem
    # Modules of Fortran lie where it is compiled.
    line = [command, "-O1", "-w", "-pthread", *flags, str(PROGRAMS / source), "-o", str(made)]
    subprocess.run(line, cwd=folder, check=True, capture_output=True)
    return made


def program(mpi: str, language: str, case: str) -> tuple[list[str], dict[str, str]]:
    """What runs a case on the ranks of an MPI, and its environment."""
    one = LANGUAGES[language]
    environment: dict[str, str] = {}
    if one.compiler:
        words = [str(compiled(mpi, one.source, one.compiler, *one.flags))]
    elif mpi in ("openmpi", "mpich"):
        words, environment = python_of(Mpi(mpi))
    else:
        if mpi.endswith("_abi"):
            pytest.skip("mpi4py's wheel has no module for the standard interface")
        pytest.importorskip("mpi4py", reason="not installed: mpi4py")
        library = Path(MPIS[mpi][0]).parents[1] / "lib"
        kind = "openmpi" if (library / "libmpi.so.40").exists() else "mpich"
        words = [sys.executable]
        environment = {"MPI4PY_MPIABI": kind, "LD_LIBRARY_PATH": str(library)}
    source = [] if one.compiler else [str(PROGRAMS / one.source)]
    return [MPIS[mpi][1], "-n", str(ranks_of(mpi)), *words, *source, case], environment


def need_one(mpi: str) -> None:
    """Skips a test by name where an MPI is missing."""
    if mpi in ("openmpi", "mpich"):
        need(Mpi(mpi))


def counts_in(folder: Path) -> dict[tuple[int, int], tuple[int, int]]:
    """Messages and bytes by pair, as the program itself counted them (own.h)."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for path in folder.glob("own.*"):
        for line in path.read_text().splitlines():
            source, destination, times, size = map(int, line.split())
            before = sums.get((source, destination), (0, 0))
            sums[source, destination] = before[0] + times, before[1] + size
    return sums


def recorded_in(folder: Path) -> dict[tuple[int, int], tuple[int, int]]:
    """The same as it was recorded."""
    found = []
    for name in ("messages.mtx.gz", "matrix.mtx.gz"):
        lines = gzip.decompress((folder / name).read_bytes()).decode().splitlines()
        rows = [line.split() for line in lines if not line.startswith("%")][1:]
        found.append({(int(row) - 1, int(column) - 1): int(value) for row, column, value in rows})
    return {pair: (times, found[1].get(pair, 0)) for pair, times in found[0].items()}


Outcome = tuple[int, list[str], dict[tuple[int, int], tuple[int, int]]]


def outcome(
    command: list[str], folder: Path, before: tuple[str, ...] = (), more: dict[str, str] | None = None
) -> Outcome:
    """Exit code, lines of output and own counts of a run."""
    folder.mkdir()
    done = subprocess.run(
        [*before, *command],
        env={**os.environ, "OWN": str(folder), **(more or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, sorted(filter(None, done.stdout.splitlines())), counts_in(folder)


@cache
def alone(mpi: str, language: str, case: str) -> Outcome:
    """A program's outcome without the recorder."""
    command, environment = program(mpi, language, case)
    name = f"alone-{mpi}-{language}-{case}".replace(" ", "-")
    return outcome(command, _folder() / name, more=environment)


@pytest.mark.parametrize(("mpi", "language", "case", "mode"), CHOSEN)
def test_hostile_programs_end_print_and_send_as_they_do_alone(netloom, tmp_path, mpi, language, case, mode):
    need_one(mpi)
    expected = alone(mpi, language, case)
    if expected[0] == 77:
        pytest.skip(f"not of this MPI: {case}")
    command, environment = program(mpi, language, case)
    run = tmp_path / "run"
    before = (*netloom.command, "record", f"--{mode}", "-o", str(run), "--format", "json", "--")
    folder = tmp_path / "own"
    folder.mkdir()
    done = subprocess.run(
        [*before, *command],
        env={**os.environ, "OWN": str(folder), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["exit_code"] == expected[0]
    # The program's output goes to standard error here; MPICH's launcher adds numbers of processes.
    own = [line for line in expected[1] if not line.startswith("=")]
    assert [line for line in own if line not in done.stderr.splitlines()] == []
    assert counts_in(folder) == expected[2]
    assert recorded_in(run) == expected[2]
    assert result["uncounted_calls"] == 0
    if mode == "events":
        # With files of 100 kB there is no room for all.
        assert (result["dropped_events"] > 0) == (case == "little")
        assert {one["kind"] for one in result["findings"]} <= {
            *(
                "collectives-as-asked",
                "one-host",
                "lost-ranks",
                "left-out-of-trace",
                "decomposed-collectives",
            ),
            *("oversubscribed", "threads-as-ranks", *["dropped-events"] * (case == "little")),
        }
    if case == "descriptors":
        assert {path.read_text() for path in folder.glob("mine.*")} == {"hello\n"}


@pytest.mark.parametrize("mpi", MPIS)
def test_constants_of_the_table_are_those_of_the_installed_mpi(tmp_path, mpi):
    need_one(mpi)
    made = compiled(mpi, "constants.c", "mpicc", f"-I{ROOT / 'native' / 'recorder'}")
    told = subprocess.run([made], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "")


SEEDS = range(1, 101) if HOSTILE else range(1, 7)
"""Of random programs; those that three divides have threads."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mpi", [mpi for mpi in MPIS if HOSTILE or mpi == "openmpi"])
def test_hostile_random_programs_are_recorded_checked_and_replayed(netloom, tmp_path, mpi, seed):
    need_one(mpi)
    folder = tmp_path / "own"
    ranks = 3 if mpi == "openmpi" else 2
    command = [MPIS[mpi][1], "-n", str(ranks), str(compiled(mpi, "random.c")), str(seed)]
    record = (*netloom.command, "record", "--events", "-o", str(netloom.folder / "run"), "--")
    code, _, counts = outcome(command, folder, record)
    assert code == 0
    assert recorded_in(netloom.folder / "run") == counts
    whole = netloom.result("trace", "check", "run")
    assert whole["unmatched"] == []
    assert whole["untold"] == 0
    assert whole["messages"] == sum(times for times, _ in counts.values())
    replay = netloom.result("simulate", "run", "--set", "fabric=two-level:leaves=2,hosts=6,spines=2")
    assert replay["runs"][0]["jobs"][0]["completion_ms"] > 0
