"""Signals while tables of a live fabric are changed: rolled back or complete, never left half sent.

Tests run a sample. `python tests/test_apply_signals.py send 200` and `… loop 200` run as many as asked, at
random moments of `apply send --yes` and `loop live --yes`, and say what came of them.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import netloom as nl
from apply_bed import FT2, Bed, bed, journaled, lost
from netloom import apply as applying
from netloom.live import missing_tools
from netloom.live.bed import Bed as Work
from netloom.live.bed import bed as work_bed

pytestmark = [
    pytest.mark.opensm,
    pytest.mark.skipif(bool(missing_tools()), reason=f"not installed: {', '.join(missing_tools())}"),
]
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
JOBS = Path(nl.__file__).parent / "data" / "demo" / "jobs" / "live-small.toml"
SEED = 4
"""Of where jobs lie."""
BEGIN_S = 1.8
"""After how long a loop has polled once."""
EACH = 6
"""Cases on one ibsim, which has ten places for clients."""


def signals(what: str, count: int, folder: Path, *, seed: int = 0, say: bool = False) -> Counter[str]:
    """Sends so many signals, one a command, seven in ten of them after the change has begun."""
    source = random.Random(seed)
    outcomes: Counter[str] = Counter()
    done = 0
    while done < count:
        place = folder / f"fabric-{done}"
        place.mkdir()
        with bed(FT2, place) if what == "send" else working(place) as live:
            for at in range(min(EACH, count - done)):
                one(what, live, source, outcomes, place / f"new-{at}.lfts")
                done += 1
        if say:
            print(done, dict(sorted(outcomes.items())), flush=True)
    return outcomes


@contextmanager
def working(folder: Path) -> Iterator[Bed]:
    """A fabric on which work can run: ibsim knows its ports by the names that are in dumps."""
    fabric, file = nl.Fabric.read(FT2), folder / "opensm.lfts"
    nl.route("updn", fabric).write(file)
    with work_bed(fabric, file) as there:
        yield Bed(there.sim, there.manager, file)


def one(what: str, live: Bed, source: random.Random, outcomes: Counter[str], file: Path) -> None:
    if what == "loop":
        live.apply(nl.route("random", live.look().fabric, seed=source.randrange(1000)))
    before = live.look()
    journal = live.journal
    earlier = len(journal.changes())
    by = source.choice(SIGNALS)
    if what == "send":
        nl.route("random", before.fabric, seed=source.randrange(1000)).write(file)
        words = live.arguments(file, "--yes")
    else:
        there = f"{live.sim.socket_name},{live.sim.host}"
        words = ["loop", "live", "--every", "3", "--rounds", "1", "--yes", "--seed", str(SEED)]
        words += ["--jobs", str(JOBS), "--sim", there]
    child = subprocess.Popen(
        [sys.executable, "-m", "netloom", *words, "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=file.parent,
    )
    with worked(what, live, before):
        after_begin = source.random() < 0.7
        while after_begin and child.poll() is None and len(journal.changes()) == earlier:
            time.sleep(0.001)
        time.sleep(source.uniform(0.0, 1.0 if after_begin else BEGIN_S + 3.0))
        child.send_signal(by)
        _, said = child.communicate(timeout=120)
    assert b"Traceback" not in said or b"/netloom/" not in said, said.decode()
    changes = journal.changes()
    last = changes[-1].state if len(changes) > earlier else "nothing begun"
    told = f"{by.name}, exit {child.returncode}: {last}"
    assert last in ("applied", "rolled-back", "nothing begun"), f"{told}: {said.decode()}"
    assert journal.unfinished() is None, told
    after = live.look()
    assert lost(after) == 0, told
    held = applying.planning.read_tables(live.file.read_bytes(), after.fabric)
    assert held.changed_entries(after.tables) == 0, f"{told}: the file is what switches hold"
    if last != "applied":
        assert after.tables.changed_entries(before.tables) == 0, told
    else:
        assert journaled(after, journal), told
    outcomes[f"{by.name}: {last}"] += 1


class worked:
    """While a loop looks, the fabric works, with a load that better tables would lessen."""

    def __init__(self, what: str, live: Bed, seen: applying.Seen) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(live, seen)) if what == "loop" else None

    def __enter__(self) -> None:
        if self._thread is not None:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self, live: Bed, seen: applying.Seen) -> None:
        traffic, _ = nl.place_jobs(seen.fabric, JOBS, seed=SEED)
        work = Work(live.sim, live.opensm, seen.fabric, live.file.parent)
        # Between the two polls of the loop: counters that are set while they are read belong to no routes.
        if not self._end.wait(BEGIN_S):
            work.run(traffic, seen.tables, scale=1e4, noise=0.001)


def test_a_change_that_a_lost_terminal_interrupts_is_rolled_back_or_complete(tmp_path):
    """It was killed in the middle: three of six were left with the word `sending` in the journal."""
    assert sum(signals("send", 6, tmp_path, seed=1).values()) == 6


if __name__ == "__main__":
    which, number = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        result = signals(which, number, Path(temporary), seed=first, say=True)
    print(dict(sorted(result.items())), f"seed {first}, {time.monotonic() - started:.0f} s")
