"""A sweep on a real Slurm of two `slurmd` and on Dask with two workers, while their processes are killed.

Only what belongs to the sweep's own folder is killed: the command that leads a task or the whole, one of its
workers, or a worker of this Dask. What was killed is begun again, as a user would.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import slurm_cluster

LONGEST_SECONDS = 3600.0
Process = subprocess.Popen[bytes]


def on_slurm(command: Sequence[str], folder: Path, sweep: str, tasks: int, kills: int, seed: int) -> int:
    """Runs a sweep into `folder/swept` by job arrays; returns how many processes were killed."""
    rng, killed = random.Random(seed), 0
    words = ("sweep", "run", sweep, "-o", "swept", "-q", "--workers", str(tasks), "--slurm", "job.sh")
    subprocess.run([*command, *words], cwd=folder, check=True)
    merge = [*command, "sweep", "merge", sweep, "swept", "-q"]
    end = time.monotonic() + LONGEST_SECONDS
    with slurm_cluster.cluster(jobs=True, cpus=1, machines=2) as cluster:
        while time.monotonic() < end:
            cluster.run("sbatch", "--chdir", folder, "--output", "/dev/null", folder / "job.sh")
            while cluster.run("squeue", "--noheader").stdout.strip():
                if killed < kills and _some_more(folder, rng):
                    killed += _killed(_of_sweep(folder), rng)
                time.sleep(0.2)
            merged = subprocess.run(merge, cwd=folder, capture_output=True, check=False)
            if merged.returncode == 0:
                return killed
    raise AssertionError("the array does not end")


def on_dask(command: Sequence[str], folder: Path, sweep: str, kills: int, seed: int) -> int:
    """Runs a sweep into `folder/swept` on Dask; returns how many processes were killed."""
    rng, killed = random.Random(seed), 0
    with dask(folder) as (address, workers, another, _):
        words = [*command, "sweep", "run", sweep, "-o", "swept", "-q", "--dask", address]
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end:
            leader = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while leader.poll() is None:
                if killed < kills and _some_more(folder, rng):
                    victim = rng.choice([leader, *workers])
                    victim.kill()
                    victim.wait()
                    killed += 1
                    if victim is not leader:
                        workers.remove(victim)
                        workers.append(another())
                time.sleep(0.2)
            if leader.returncode == 0:
                return killed
            told = leader.communicate()[1].decode()
            assert leader.returncode == -signal.SIGKILL, told
    raise AssertionError("the sweep does not end")


@contextlib.contextmanager
def dask(folder: Path) -> Iterator[tuple[str, list[Process], Callable[[], Process], Process]]:
    """A scheduler with two workers of a thread each: its address, they, what begins another, and itself."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    file = folder / "scheduler.json"
    with contextlib.ExitStack() as stack:

        def begun(*words: str) -> Process:
            child = subprocess.Popen([sys.executable, "-m", *words], **quiet)
            stack.callback(child.wait)
            stack.callback(child.kill)
            return child

        scheduler = begun(
            *("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--no-dashboard", "--scheduler-file", str(file)),
        )
        end = time.monotonic() + 60
        while not file.is_file() or not (found := re.search(r"tcp://[0-9.:]+", file.read_text())):
            assert time.monotonic() < end
            time.sleep(0.05)
        address = found[0]

        def worker() -> Process:
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
            return begun("distributed.cli.dask_worker", address, *options)

        yield address, [worker(), worker()], worker, scheduler


def _some_more(folder: Path, rng: random.Random) -> bool:
    """Whether it is time to kill: now and then, once there is something to lose."""
    return rng.random() < 0.05 and next((folder / "swept" / "parts").rglob("*.parquet"), None) is not None


def _of_sweep(folder: Path) -> list[int]:
    """The commands that lead tasks of the sweep, and their workers."""
    leaders = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if b"part" in words and os.fsencode(folder / "swept") in words:
                leaders.append(int(entry.name))
    found = list(leaders)
    for leader in leaders:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{leader}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return sorted(set(found))


def _killed(found: Sequence[int], rng: random.Random) -> int:
    """Kills one of them; returns how many it were."""
    if not found:
        return 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(rng.choice(found), signal.SIGKILL)
        return 1
    return 0
