"""Every verb as a command, on trees that grow: time, memory, growth, and what SIGTERM does. `make scale`.

    .venv/bin/python benches/scale.py --write docs/scale.md --sizes 1k,4k --verbs route,check --shapes tapered

Each command runs once with `--time-limit`, and once more to be sent SIGTERM after three seconds (or in the
middle, where it is shorter). Times are processor seconds of the command and its children, so that a busy
machine shows little; memory is the largest resident set. *Growth* is the exponent from the size before:
1.0 is linear in hosts, 1.1 what n log n looks like here, start-up (0.4 s) taken off. The page keeps the
stretches of sizes and shapes that are not run; a stretch carries the CRC-32 of its text, so that a figure
put in by hand fails a test.

Verbs of a live fabric (apply, watch, loop live, lanes, counters poll) are bound by ports, not by sizes,
and are not here.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

SIZES = {"1k": 1024, "4k": 4096, "16k": 16384, "65k": 65536}
# pods, leaves a pod, spines a pod, groups, cores a group: 32 hosts a leaf but where tapered.
_TREES = {"1k": (4, 8), "4k": (8, 16), "16k": (16, 32), "65k": (32, 64)}
LIMIT_S = 20
LIMITS_S = {"optimize --hose": 12}
"""Other limits, by verb."""
START_S = 0.4
PERMUTATION = "permutation:seed=1"

SCENARIO = """name = "scale"
fabric = "{fabric}"
routes = ["{routes}"]
seed = 1

[[job]]
name = "all"
program = {{ kind = "stream", pattern = "permutation:seed=1", messages = 1, bytes = "4KiB" }}
"""


def tree(size: str, spines: int, groups: int) -> str:
    """A three-level tree with 32 hosts a leaf."""
    pods, leaves = _TREES[size]
    return (
        f"fattree:pods={pods},leaves={leaves},hosts=32,spines={spines},groups={groups},cores={max(pods, 16)}"
    )


# Leaves, hosts a leaf, cables up a leaf. A table for OpenSM takes switches of 254 ports: the largest has
# more, and verbs that write one refuse it.
_FLAT = {"1k": (32, 32, 32), "4k": (64, 64, 64), "16k": (128, 128, 64), "65k": (256, 256, 128)}


def two_level(size: str) -> str:
    """A two-level tree."""
    leaves, hosts, up = _FLAT[size]
    return f"two-level:leaves={leaves},hosts={hosts},spines={up}"


def parallel(netloom: Path, size: str, folder: Path) -> str:
    """Two cables from every leaf to every spine: a two-level tree as an ibsim net file.

    Such files take switches of 254 ports; larger trees have three levels.
    """
    if SIZES[size] > SIZES["4k"]:
        return f"{tree(size, 16, 8)},leaf-cables=2"
    leaves, hosts, up = _FLAT[size]
    spines = up // 2
    lines = []
    for leaf in range(leaves):
        lines.append(f'Switch {hosts + 2 * spines} "leaf{leaf:04}"')
        lines += [f'[{h + 1}] "host{leaf * hosts + h:06}"[1]' for h in range(hosts)]
        lines += [f'[{hosts + 1 + u}] "spine{u // 2:04}"[{2 * leaf + u % 2 + 1}]' for u in range(2 * spines)]
        lines.append("")
    for spine in range(spines):
        lines.append(f'Switch {2 * leaves} "spine{spine:04}"')
        lines += [f'[{p + 1}] "leaf{p // 2:04}"[{hosts + 1 + 2 * spine + p % 2}]' for p in range(2 * leaves)]
        lines.append("")
    for host in range(leaves * hosts):
        lines += [f'Hca 1 "host{host:06}"', f'[1] "leaf{host // hosts:04}"[{host % hosts + 1}]', ""]
    path = folder / f"parallel-{size}.net"
    path.write_text("\n".join(lines))
    return str(path)


def damaged(netloom: Path, size: str, folder: Path) -> str:
    """A tree with four spines a group without a hundredth of its cables between switches."""
    path = folder / f"damaged-{size}.txt"
    cables = str(SIZES[size] // 50)
    spec = tree(size, 32, 8)
    command = [netloom, "fabric", "damage", spec, "--random-links", cables]
    subprocess.run([*command, "-o", path, "-q"], check=True)
    return str(path)


SHAPES = {
    "one spine a group": lambda _netloom, size, _folder: tree(size, 32, 32),
    "four spines a group": lambda _netloom, size, _folder: tree(size, 32, 8),
    "two levels": lambda _netloom, size, _folder: two_level(size),
    "2:1 taper": lambda _netloom, size, _folder: tree(size, 16, 8),
    "damaged": damaged,
    "parallel cables": parallel,
}

VERBS = {
    "fabric convert": "fabric convert FABRIC -o net.txt",
    "fabric show": "fabric show FABRIC",
    "traffic new": f"traffic new {PERMUTATION} FABRIC -o t.csv",
    "route": "route ENGINE FABRIC -o r.lfts",
    "check": "check FABRIC ENGINE",
    "loads": f"loads FABRIC ENGINE {PERMUTATION} -o l.csv",
    "optimize": f"optimize FABRIC {PERMUTATION}",
    "optimize --from": f"optimize FABRIC {PERMUTATION} --from ENGINE --max-changes 10",
    "optimize --compare": f"optimize FABRIC {PERMUTATION} --compare",
    "optimize --lmc": f"optimize FABRIC {PERMUTATION} --lmc 1",
    "optimize --hose": f"optimize FABRIC {PERMUTATION} --hose",
    "optimize --error": f"optimize FABRIC {PERMUTATION} --error 20",
    "route afar": f"route afar FABRIC {PERMUTATION} -o r.lfts",
    "counters synth": f"counters synth FABRIC ENGINE {PERMUTATION} -o c.csv",
    "counters check": "counters check FABRIC COUNTERS",
    "infer": "infer FABRIC ENGINE COUNTERS",
    "simulate": "simulate SCENARIO",
    "simulate fluid": "simulate SCENARIO --model fluid",
    "sample": "sample SCENARIO -o run",
    "plot loads": f"plot loads FABRIC {PERMUTATION} ENGINE -o p.svg",
}
"""FABRIC, ENGINE, COUNTERS (those of `counters synth`, made before) and SCENARIO are put in."""
_NO_ENGINE = ("fabric", "traffic")


@dataclass(frozen=True)
class Measured:
    """A command that has ended."""

    code: int
    wall_s: float
    cpu_s: float
    rss_mb: float
    said: str


def measured(
    command: list[str], folder: Path, term_after: float | None = None
) -> tuple[Measured, float | None]:
    """Runs a command to its end; with `term_after` SIGTERM is sent then: the seconds from there on."""
    with open(folder / "said", "wb") as said:
        began = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
        sent = None
        deadline = None if term_after is None else began + term_after
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if deadline is not None and sent is None and time.perf_counter() >= deadline:
                child.send_signal(signal.SIGTERM)
                sent = time.perf_counter()
            time.sleep(0.01)
        ended = time.perf_counter()
    child.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "said").read_text(errors="replace").strip().splitlines()
    found = Measured(
        child.returncode,
        ended - began,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1024,
        text[-1] if text else "",
    )
    return found, None if sent is None else ended - sent


def run_shape(netloom: Path, shape: str, sizes: list[str], verbs: list[str]) -> list[list[str]]:
    """The rows of a shape: a verb and a size each."""
    rows = []
    before: dict[str, tuple[int, float]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            fabric = SHAPES[shape](netloom, size, folder)
            engine = "ftree" if shape != "damaged" else "updn"
            (folder / "scenario.toml").write_text(SCENARIO.format(fabric=fabric, routes=engine))
            words = {"FABRIC": fabric, "ENGINE": engine, "SCENARIO": "scenario.toml", "COUNTERS": "made.csv"}
            if any("COUNTERS" in VERBS[verb] for verb in verbs):
                synth = VERBS["counters synth"].replace("c.csv", "made.csv").split()
                made = [str(netloom), *(words.get(word, word) for word in synth), "-q"]
                subprocess.run(made, cwd=folder, check=False, capture_output=True)
            for verb in verbs:
                command = [str(netloom), *(words.get(word, word) for word in VERBS[verb].split())]
                command += ["-q", "--time-limit", str(LIMITS_S.get(verb, LIMIT_S))]
                found, _ = measured(command, folder)
                after = min(3.0, found.wall_s / 2)
                ended, dying = measured(command, folder, after)
                growth = ""
                if verb in before and found.code in (0, 1):
                    hosts, cpu = before[verb]
                    if cpu > 0.1:
                        ratio = max(found.cpu_s - START_S, 0.01) / cpu
                        growth = f"{math.log(ratio) / math.log(SIZES[size] / hosts):.1f}"
                before[verb] = SIZES[size], max(found.cpu_s - START_S, 0.01)
                told = "ended before" if dying is None else f"{dying:.1f} s, exit {ended.code}"
                outcome = {0: "", 1: "findings", 124: "past the limit"}.get(
                    found.code, f"exit {found.code}: {found.said}"
                )
                cells = [verb, size, f"{found.cpu_s:.1f}", f"{found.wall_s:.1f}", f"{found.rss_mb:,.0f}"]
                rows.append([*cells, growth, told, outcome.replace("|", "/")[:80]])
                print(f"{shape}: {' | '.join(rows[-1])}", flush=True)
    return rows


HEAD = ["command", "hosts", "CPU s", "wall s", "MB", "growth", "SIGTERM", "notes"]


def table(rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def into(page: str, name: str, text: str) -> str:
    """The page with a stretch replaced, or added at its end."""
    mark = f"<!-- {name}: begin (by `make scale`), sum {zlib.crc32(text.encode()):08x} -->"
    stretch = f"{mark}\n\n{text}\n\n<!-- {name}: end -->"
    pattern = re.compile(rf"<!-- {re.escape(name)}: begin.*?<!-- {re.escape(name)}: end -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: stretch, page)
    return f"{page.rstrip()}\n\n{stretch}\n"


def main() -> int:
    """Reads the options, measures, writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--netloom", type=Path, default=Path(sys.executable).parent / "netloom")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--verbs", default=",".join(VERBS))
    parser.add_argument("--write", type=Path, help="the page whose stretches are replaced")
    asked = parser.parse_args()
    sizes, shapes, verbs = (text.split(",") for text in (asked.sizes, asked.shapes, asked.verbs))
    unknown = [*({*sizes} - {*SIZES}), *({*shapes} - {*SHAPES}), *({*verbs} - {*VERBS})]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    netloom = asked.netloom.absolute()
    for shape in shapes:
        rows = run_shape(netloom, shape, sizes, verbs)
        busy = f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
        name = f"scale {shape}" + ("" if asked.sizes == ",".join(SIZES) else f" {asked.sizes}")
        if asked.verbs != ",".join(VERBS):
            # A few commands do not take the place of all.
            name += f": {asked.verbs}"
        text = f"Measured on {time.strftime('%Y-%m-%d')}, {busy}.\n\n{table(rows)}"
        if asked.write is not None:
            asked.write.write_text(into(asked.write.read_text(), name, text))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
