"""What `netloom record` costs a call: the same program with and without the recorder, in turn.

    .venv/bin/python benches/recorder.py

For each MPI that is installed (Debian's names: mpicc.openmpi, mpicc.mpich), messages to oneself and a ping-pong
of two ranks. A run gives the least of 5,000 batches of 100 messages; a round runs once without and once with the
recorder, and what is told is the median of the rounds' differences. Beside it stand what the recorder measures
itself, and what others published. A busy machine shows in the spread.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from netloom.recording import launching, merging

HERE = Path(__file__).resolve().parent
GOAL_NS = 5.0
OTHERS = (
    ("AFAR's recorder (Smith et al., SC 2018)", 100, 380),
    ("DUMPI (sst-dumpi, built beside the prototype)", 4100, 4700),
)
RANKS = {"self": 1, "ping": 2}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def once(mpi: str, program: Path, what: str, records: Path | None) -> float:
    """Nanoseconds a message, with the recorder if there is a folder for it."""
    env = {**os.environ, **ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if records is not None:
        env = launching.environment(records, env)
    done = subprocess.run(
        [f"mpirun.{mpi}", "-n", str(RANKS[what]), str(program), what],
        env=env,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return float(done.stdout)


def measured(mpi: str, program: Path, what: str, rounds: int) -> tuple[list[float], list[float], float]:
    """Times without, times with minus without by round, and what the recorder says of itself."""
    without, more, own = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            plain = once(mpi, program, what, None)
            with_it = once(mpi, program, what, Path(folder))
            found, _ = merging.read_folder(Path(folder))
            own.append(merging.merge(found).ns_per_call)
        without.append(plain)
        more.append(with_it - plain)
    return without, more, statistics.median(own)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    mpis = [name for name in ("openmpi", "mpich") if shutil.which(f"mpicc.{name}")]
    if not mpis:
        print("recorder: not measured: no MPI is installed (openmpi-bin libopenmpi-dev, mpich libmpich-dev)")
        return 0
    print("MPI      messages  without (ns)  more with it (ns)  of all rounds    it says  goal")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for mpi in mpis:
            program = Path(folder) / f"recorder-{mpi}"
            command = [f"mpicc.{mpi}", "-O2", "-w", str(HERE / "recorder.c"), "-o", str(program)]
            subprocess.run(command, check=True)
            for what in RANKS:
                without, more, own = measured(mpi, program, what, rounds)
                middle = statistics.median(more)
                worst = max(worst, middle)
                print(
                    f"{mpi:<7}  {what:<8}  {statistics.median(without):>12.1f}  {middle:>17.1f}  "
                    f"{min(more):>6.1f} to {max(more):<6.1f}  {own:>6.1f}  {GOAL_NS:g}",
                    flush=True,
                )
    for name, low, high in OTHERS:
        times = f"{low / max(worst, 0.1):.0f} to {high / max(worst, 0.1):.0f} times the worst of these"
        print(f"{name}: {low:,} to {high:,} ns, {times}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
