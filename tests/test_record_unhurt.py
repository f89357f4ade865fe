"""A recorder that never hurts: each program ends, prints and sends as it does alone.

`make hostile` runs every program of tests/data/mpi/cases.c; other tests take a few. Beside Debian's MPIs,
`NETLOOM_MPIS` names folders with `bin/mpicc` and `bin/mpirun`, separated by colons: the wheels of MPICH and
Open MPI in an environment have them, MPICH's `mpicc_abi` for MPI 5's standard interface too.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from mpi_bed import ENVIRONMENT, MPICH, OPEN_MPI, PROGRAMS, Mpi, need

HOSTILE = int(os.environ.get("NETLOOM_TRIALS", "0")) > 0
FEW = (
    "completions",
    "cancelled",
    "in_place",
    "line",
    "graph",
    "operations",
    "jump",
    "file",
    "descriptors",
    "code",
)
"""Of the programs, in tests that are not hostile: one of each kind of harm."""
CASES = re.findall(r"CASE\((\w+)\)", (PROGRAMS / "cases.c").read_text().split("CASES[] = {")[1])


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
    pytest.param(mpi, case, mode, id=f"{mpi}-{case}-{mode}")
    for mpi in MPIS
    for case in CASES
    for mode in ("matrix", "events")
    if HOSTILE or (case in FEW and mpi in ("openmpi", "mpich"))
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
def compiled(mpi: str, source: str, *flags: str) -> Path:
    """A program of tests/data/mpi for an MPI."""
    made = _folder() / f"{Path(source).stem}-{mpi}"
    command = [MPIS[mpi][0], "-O1", "-w", "-pthread", *flags, str(PROGRAMS / source), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


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


def outcome(
    command: list[str], folder: Path, before: tuple[str, ...] = ()
) -> tuple[int, list[str], dict[tuple[int, int], tuple[int, int]]]:
    """Exit code, lines of output and own counts of a run."""
    folder.mkdir()
    done = subprocess.run(
        [*before, *command],
        env={**os.environ, "OWN": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.returncode, sorted(filter(None, done.stdout.splitlines())), counts_in(folder)


@cache
def alone(mpi: str, case: str) -> tuple[int, list[str], dict[tuple[int, int], tuple[int, int]]]:
    """A program's outcome without the recorder."""
    command = [MPIS[mpi][1], "-n", str(ranks_of(mpi)), str(compiled(mpi, "cases.c")), case]
    return outcome(command, _folder() / f"alone-{mpi}-{case}")


@pytest.mark.parametrize(("mpi", "case", "mode"), CHOSEN)
def test_hostile_programs_end_print_and_send_as_they_do_alone(netloom, tmp_path, mpi, case, mode):
    need_one(mpi)
    expected = alone(mpi, case)
    if expected[0] == 77:
        pytest.skip(f"not of this MPI: {case}")
    command = [MPIS[mpi][1], "-n", str(ranks_of(mpi)), str(compiled(mpi, "cases.c")), case]
    run = tmp_path / "run"
    before = (*netloom.command, "record", f"--{mode}", "-o", str(run), "--format", "json", "--")
    folder = tmp_path / "own"
    folder.mkdir()
    done = subprocess.run(
        [*before, *command],
        env={**os.environ, "OWN": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)["result"]
    assert result["exit_code"] == expected[0]
    # The program's output goes to standard error here.
    assert [line for line in expected[1] if line not in done.stderr.splitlines()] == []
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
    made = compiled(mpi, "constants.c", "-I", str(ROOT / "native" / "recorder"))
    told = subprocess.run([made], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "")


SEEDS = range(1, 101) if HOSTILE else range(1, 7)
"""Of random programs; those that three divides have threads."""


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_random_programs_are_recorded_checked_and_replayed(netloom, tmp_path, seed):
    need(OPEN_MPI)
    folder = tmp_path / "own"
    command = ["mpirun.openmpi", "-n", "3", str(compiled("openmpi", "random.c")), str(seed)]
    record = (*netloom.command, "record", "--events", "-o", str(netloom.folder / "run"), "--")
    code, _, counts = outcome(command, folder, record)
    assert code == 0
    assert recorded_in(netloom.folder / "run") == counts
    whole = netloom.result("trace", "check", "run")
    assert whole["unmatched"] == []
    assert whole["untold"] == 0
    assert whole["messages"] == sum(times for times, _ in counts.values())
    replay = netloom.result("simulate", "run", "--set", "fabric=two-level:leaves=2,hosts=4,spines=2")
    assert replay["runs"][0]["jobs"][0]["completion_ms"] > 0
