"""SIGTERM at moments all over a command, and a time limit that nothing fits in: how long it takes to die.

    .venv/bin/python benches/term.py --moments 50

`route -o`, `check`, `loads` and `optimize` run once undisturbed on a tree with three levels and 16,384 hosts
(`--size`), then once for every moment, spread evenly over the time that took. Told are the longest time from
the signal to the end, the exit codes, and what is left behind: temporary files, files that are not whole,
processes. `--time-limit 0.5` must end with 124, with 130, or with a whole file and a note.
Exits 1 where anything is left, or a command takes longer than two seconds to die.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from scale import PERMUTATION, SIZES, tree

VERBS = {
    "route -o": "route ftree FABRIC -o out.lfts",
    "check": "check FABRIC ftree -o out.json",
    "loads": f"loads FABRIC ftree {PERMUTATION} -o out.csv",
    "optimize": f"optimize FABRIC {PERMUTATION} -o out.lfts",
}
LIMIT_S = 0.5
TOO_LONG_S = 2.0
"""From the signal to the end."""


@dataclass
class Ended:
    """A command that has ended."""

    code: int
    wall_s: float
    dying_s: float | None
    """From the signal on; None if it ended before."""
    left: list[str] = field(default_factory=list)
    """What is left of it but its whole product, in words."""
    whole: str | None = None
    """The sum of its product, if that is there."""
    said: str = ""


def digest(path: Path) -> str:
    """The sum of a file."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def run(command: list[str], term_after: float | None = None) -> Ended:
    """Runs a command in a folder and a process group of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        sent = None
        if term_after is not None:
            try:
                child.wait(term_after)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGTERM)
                sent = time.perf_counter()
        said = child.communicate()[1].decode(errors="replace")
        ended = time.perf_counter()
        found = Ended(child.returncode, ended - began, None if sent is None else ended - sent, said=said)
        try:
            os.killpg(child.pid, signal.SIGKILL)
            found.left.append("a process")
        except ProcessLookupError:
            pass
        for path in sorted(folder.iterdir()):
            if path.name.startswith("out."):
                found.whole = digest(path)
            else:
                found.left.append(path.name)
        return found


def row(
    netloom: Path, fabric: str, verb: str, moments: int, limit_s: float = LIMIT_S
) -> tuple[list[str], bool]:
    """A line of the table, and whether all is as it should be."""
    words = [fabric if word == "FABRIC" else word for word in VERBS[verb].split()]
    command = [str(netloom), *words]
    alone = run([*command, "-q"])
    if alone.code not in (0, 1) or alone.whole is None:
        raise SystemExit(f"{' '.join(command)}: exit {alone.code}: {alone.said}")
    # Results hold seconds; tables are the same every time.
    same = verb == "route -o"
    longest, codes, wrong = 0.0, Counter[int](), list(alone.left)
    for moment in range(moments):
        found = run([*command, "-q"], alone.wall_s * (moment + 0.5) / moments)
        if found.dying_s is not None:
            longest = max(longest, found.dying_s)
            codes[found.code] += 1
        wrong += found.left
        if same and found.whole not in (None, alone.whole):
            wrong.append("a file that is not whole")
    limited = run([*command, "--time-limit", str(limit_s)])
    kept = limited.whole is not None and bool(limited.said.strip())
    ends_well = limited.code in (124, 130) or (limited.code in (0, 1) and kept)
    if not ends_well and limited.wall_s > limit_s:
        wrong.append(f"exit {limited.code} under --time-limit {LIMIT_S}")
    wrong += limited.left
    told = ", ".join(f"{code} ({count}x)" for code, count in sorted(codes.items()))
    cells = [verb, f"{alone.wall_s:.1f}", str(sum(codes.values())), f"{longest:.2f}", told]
    cells += [", ".join(sorted(set(wrong))) or "nothing", f"{limited.code}, {limited.wall_s:.1f} s"]
    return cells, not wrong and longest <= TOO_LONG_S and set(codes) <= {130}


def main() -> int:
    """Reads the options, measures, prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--netloom", type=Path, default=Path(sys.executable).parent / "netloom")
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--size", default="16k", choices=SIZES)
    parser.add_argument("--verbs", default=",".join(VERBS))
    asked = parser.parse_args()
    verbs = asked.verbs.split(",")
    if unknown := [verb for verb in verbs if verb not in VERBS]:
        parser.error(f"unknown: {', '.join(unknown)}")
    fabric = tree(asked.size, 32, 8)
    head = ["command", "alone, s", "signals", "longest to die, s", "exit", "left behind"]
    head.append(f"--time-limit {LIMIT_S}")
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head), flush=True)
    well = True
    for verb in verbs:
        cells, good = row(asked.netloom.absolute(), fabric, verb, asked.moments)
        well &= good
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\nMeasured on {time.strftime('%Y-%m-%d')}, ", end="")
    print(f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.")
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
