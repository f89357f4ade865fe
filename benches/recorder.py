"""What `netloom record` costs a call: the same program with and without the recorder, in turn.

    .venv/bin/python benches/recorder.py

For each MPI that is installed (Debian's names: mpicc.openmpi, mpicc.mpich), messages to oneself and a ping-pong of
two ranks. A run gives the least of 5,000 batches of 100 messages. A round runs once without, once with sums, once with
events; what is told is the median of the rounds' differences, and their spread. A message is one call for sums (its
send), and three for events of messages to oneself (receive, send, wait), two of a ping-pong. Beside it stand what the
recorder measures itself, and what others published. On a busy machine a difference can lie within the noise, or below
nothing: then no ratio is told.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from netloom.recording import launching, merging

HERE = Path(__file__).resolve().parent
OTHERS = (
    ("AFAR's recorder (Smith et al., SC 2018)", 100, 380),
    ("DUMPI (sst-dumpi, built beside the prototype)", 4100, 4700),
)
RANKS = {"self": 1, "ping": 2}
CALLS = {("matrix", "self"): 1, ("matrix", "ping"): 1, ("events", "self"): 3, ("events", "ping"): 2}
"""Recorded calls that a message has."""
GOALS_NS = {"matrix": 5.0, "events": 25.0}
EVENTS_BYTES = 256_000_000
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclass
class Cost:
    """What recording costs, round by round: nanoseconds a recorded call, and what the recorder says of itself."""

    more: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.more)

    @property
    def spread(self) -> float:
        """From the first quartile of the rounds to the third."""
        low, _, high = statistics.quantiles(self.more, n=4) if len(self.more) > 1 else (0.0, 0.0, 0.0)
        return high - low

    @property
    def is_told(self) -> bool:
        """Whether it is more than the noise."""
        return self.median > self.spread


def once(mpi: str, program: Path, what: str, records: Path | None, events: int | None = None) -> float:
    """Nanoseconds a message, with the recorder if there is a folder for it."""
    env = {**os.environ, **ROOT, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if records is not None:
        env = launching.environment(records, env, events)
    done = subprocess.run(
        [f"mpirun.{mpi}", "-n", str(RANKS[what]), str(program), what],
        env=env,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return float(done.stdout)


def measured(mpi: str, program: Path, what: str, rounds: int) -> tuple[list[float], dict[str, Cost]]:
    """Times a message without, and what each way of recording costs."""
    without, costs = [], {"matrix": Cost(), "events": Cost()}
    for _ in range(rounds):
        plain = once(mpi, program, what, None)
        without.append(plain)
        for way, cost in costs.items():
            with tempfile.TemporaryDirectory() as folder:
                events = EVENTS_BYTES if way == "events" else None
                with_it = once(mpi, program, what, Path(folder), events)
                found, _ = merging.read_folder(Path(folder))
                if sum(record.dropped for record in found):
                    raise SystemExit("recorder: events were dropped: nothing was measured")
                cost.own.append(merging.merge(found).ns_per_call)
            cost.more.append((with_it - plain) / CALLS[way, what])
    return without, costs


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    mpis = [name for name in ("openmpi", "mpich") if shutil.which(f"mpicc.{name}")]
    if not mpis:
        print("recorder: not measured: no MPI is installed (openmpi-bin libopenmpi-dev, mpich libmpich-dev)")
        return 0
    print(f"recorder: ns a recorded call, medians of {rounds} rounds in turn")
    print("MPI      messages  without  records  more with it  of all rounds     it says  goal")
    worst: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for mpi in mpis:
            program = Path(folder) / f"recorder-{mpi}"
            command = [f"mpicc.{mpi}", "-O2", "-w", str(HERE / "recorder.c"), "-o", str(program)]
            subprocess.run(command, check=True)
            for what in RANKS:
                without, costs = measured(mpi, program, what, rounds)
                for way, cost in costs.items():
                    told = f"{cost.median:.1f}" if cost.is_told else "in the noise"
                    if cost.is_told:
                        worst[way] = max(worst.get(way, 0.0), cost.median)
                    print(
                        f"{mpi:<7}  {what:<8}  {statistics.median(without):>7.1f}  {way:<7}  {told:>12}  "
                        f"{min(cost.more):>6.1f} to {max(cost.more):<6.1f}  {statistics.median(cost.own):>7.1f}  "
                        f"{GOALS_NS[way]:g}",
                        flush=True,
                    )
    for name, low, high in OTHERS:
        print(f"{name}: {low:,} to {high:,} ns")
        for way, most in worst.items():
            print(f"  {low / most:.0f} to {high / most:.0f} times the worst of {way}, {most:.1f} ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
