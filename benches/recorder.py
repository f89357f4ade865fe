"""What `netloom record` costs a call, with every MPI that is installed.

    .venv/bin/python benches/recorder.py

Messages to oneself and a ping-pong of two ranks go in turn through the recorder and past it, in one process and by
its own clock (netloom/recording/cost.py). A round gives the median of 4,000 differences of neighbouring batches of
100 messages, and their quartiles; what is told is the median of the rounds. A message is one call for sums (its
send), and three for events of messages to oneself (receive, send, wait), two of a ping-pong. Beside it stand what
the recorder measures itself, and what others published.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from netloom.recording import cost

OTHERS = (
    ("AFAR's recorder (Smith et al., SC 2018)", 100, 380),
    ("DUMPI (sst-dumpi, built beside the prototype)", 4100, 4700),
)
GOALS_NS = {"matrix": 5.0, "events": 25.0}


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    mpis = cost.installed()
    if not mpis:
        print("recorder: not measured: no MPI is installed (openmpi-bin libopenmpi-dev, mpich libmpich-dev)")
        return 0
    print(f"recorder: ns a recorded call, medians of {rounds} rounds")
    print("MPI      messages  without  records  more with it  of batches      of all rounds    it says  goal")
    worst: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for mpi in mpis:
            program = cost.compiled(mpi, Path(folder))
            for messages in cost.RANKS:
                for way, goal in GOALS_NS.items():
                    found = cost.measure(mpi, program, way, messages, rounds=rounds)
                    worst[way] = max(worst.get(way, 0.0), found.median_ns)
                    print(
                        f"{mpi.name:<7}  {messages:<8}  {found.without_ns:>7.1f}  {way:<7}  {found.median_ns:>12.1f}  "
                        f"{found.low_ns:>5.1f} to {found.high_ns:<5.1f}  "
                        f"{min(found.rounds_ns):>5.1f} to {max(found.rounds_ns):<6.1f}  {found.own_ns:>7.1f}  {goal:g}",
                        flush=True,
                    )
    for name, low, high in OTHERS:
        print(f"{name}: {low:,} to {high:,} ns")
        for way, most in worst.items():
            print(f"  {low / most:.0f} to {high / most:.0f} times the worst of {way}, {most:.1f} ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
