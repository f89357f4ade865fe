"""netloom beside other simulators: the same case in turn, A B A B, in user CPU seconds of the whole process.

    python benches/peers --peers FOLDER --write docs/benchmarks.md

FOLDER holds the sources of peers, `booksim2` and `csg-htsim`; each is copied, built and run in a temporary
folder. Nothing is fetched. A peer that is not there, does not build or does not run has a row that says so,
and the others run. Rates are those of the least CPU time of a side's runs; the spread is how much more its
longest run took.
Exits 0 with a table, 2 if FOLDER is no folder or netloom no program.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import known
import printing
import sources
from measuring import Failed, Measured, measured

HEAD = [
    "case: peer / netloom",
    "netloom, Mhops a CPU s",
    "peer",
    "ratio",
    "spread",
    "memory, MB: netloom / peer",
    "peer and version",
]


@dataclass
class Side:
    """The runs of one side of a case."""

    runs: list[Measured] = field(default_factory=list)
    hops: int = 0

    @property
    def rate(self) -> float:
        """Million packet-hops a CPU second of the run that took least."""
        return self.hops / 1e6 / min(run.cpu_s for run in self.runs)

    @property
    def spread(self) -> float:
        """How much more CPU time the longest run took than the shortest, %."""
        taken = [run.cpu_s for run in self.runs]
        return 100 * (max(taken) / min(taken) - 1)

    @property
    def peak_mb(self) -> float:
        return max(run.peak_mb for run in self.runs)


def netloom_hops(output: str) -> int:
    """Packet-hops of the only run of a result."""
    try:
        return int(json.loads(output)["result"]["runs"][0]["packet_hops"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Failed(f"netloom: its result has no packet-hops: {error!r}") from None


def in_turn(netloom: Path, program: Path, case: known.Case, runs: int, limit_s: float) -> list[str]:
    """Runs both sides in turn; the cells of rates, ratio, spread and memory."""
    peer = known.PEERS[case.peer]
    ours, theirs = Side(), Side()
    command = [str(netloom), "simulate", str(known.HERE / case.scenario), "--routings", case.routing]
    for setting in case.settings:
        command += ["--set", setting]
    command += ["--threads", "1", "--format", "json", "--quiet"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(runs):
            ours.runs.append(measured(command, folder, limit_s))
            ours.hops = netloom_hops(ours.runs[-1].output)
            theirs.runs.append(measured(peer.command(program, folder, case), folder, limit_s, peer.good))
            theirs.hops = peer.hops(theirs.runs[-1].output, folder, case)
    return [
        f"{ours.rate:.2f}",
        f"{theirs.rate:.3f}",
        f"{ours.rate / theirs.rate:.1f}x",
        f"{ours.spread:.0f} / {theirs.spread:.0f} %" if runs > 1 else "one run",
        f"{ours.peak_mb:.0f} / {theirs.peak_mb:.0f}",
    ]


def rows(asked: argparse.Namespace) -> list[list[str]]:
    """A row a case, by peer; what could not be measured says why."""
    found: list[list[str]] = []
    for name, peer in known.PEERS.items():
        cases = [case for case in known.CASES if case.peer == name and asked.only in case.name]
        if not cases:
            continue
        folder = asked.peers / name
        nothing = ["-"] * (len(HEAD) - 2)
        if not folder.is_dir():
            found += [[case.name, *nothing, f"{name}: not there"] for case in cases]
            continue
        version = f"{name} {sources.version(folder)}"
        with tempfile.TemporaryDirectory() as scratch:
            print(f"{name}: is built", file=sys.stderr, flush=True)
            try:
                program = sources.built(
                    folder, Path(scratch) / "copy", peer.targets, peer.program, asked.build_limit
                )
            except Failed as failed:
                found += [[case.name, *nothing, f"{version}: {failed}"] for case in cases]
                continue
            for case in cases:
                print(f"{name}: {case.name}", file=sys.stderr, flush=True)
                try:
                    cells = in_turn(asked.netloom, program, case, asked.runs, asked.run_limit)
                except Failed as failed:
                    found.append([case.name, *nothing, f"{version}: {failed}"])
                else:
                    found.append([case.name, *cells, version])
                    print(f"  {' | '.join(cells)}", file=sys.stderr, flush=True)
    return [[cell.replace("|", "/") for cell in row] for row in found]


def main() -> int:
    """Reads the options, builds, measures, prints, writes."""
    parser = argparse.ArgumentParser(
        prog="benches/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, required=True, help="folder with the peers' source folders")
    parser.add_argument("--netloom", type=Path, default=Path(sys.executable).parent / "netloom")
    parser.add_argument("--runs", type=int, default=2, help="runs of each side (2)")
    parser.add_argument(
        "--only", default="", help="cases whose name holds this, such as `0.4` or `permutation`"
    )
    parser.add_argument("--write", type=Path, help="a page whose stretch of peers is written")
    parser.add_argument(
        "--build-limit", type=float, default=1800, help="seconds for each call of make (1800)"
    )
    parser.add_argument("--run-limit", type=float, default=900, help="seconds for a run (900)")
    asked = parser.parse_args()
    if not asked.peers.is_dir():
        parser.error(f"--peers: {asked.peers} is no folder")
    if not os.access(asked.netloom, os.X_OK) or asked.netloom.is_dir():
        parser.error(f"--netloom: {asked.netloom} is no program")
    if asked.runs < 1:
        parser.error("--runs: expected 1 or more")
    if not any(asked.only in case.name for case in known.CASES):
        parser.error(f"--only: no case's name holds {asked.only!r}")
    if asked.write and not asked.write.is_file():
        parser.error(f"--write: {asked.write} is no file")
    asked.netloom = asked.netloom.absolute()
    before = os.getloadavg()[0]
    lines = rows(asked)
    own = (
        measured([str(asked.netloom), "--version"], Path.cwd(), asked.run_limit).output.split("\n")[0].strip()
    )
    after, times = os.getloadavg()[0], "one run" if asked.runs == 1 else f"{asked.runs} runs"
    told = (
        f"Printed by {printing.WRITER} on {time.strftime('%Y-%m-%d')}, netloom {own}, "
        f"on {printing.machine()}; {times} of each side in turn. "
        f"Load of the machine {before:.0f} at the start, {after:.0f} at the end."
    )
    text = f"{told}\n\n{printing.grid([HEAD, *lines])}"
    print(text)
    unmeasured = sum(line[1] == "-" for line in lines)
    if unmeasured:
        print(f"note: {unmeasured} of {len(lines)} cases were not measured", file=sys.stderr)
    if asked.write:
        asked.write.write_text(printing.into(asked.write.read_text(), text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
