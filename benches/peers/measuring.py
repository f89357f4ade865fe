"""A command in a child process: its user CPU seconds, its peak memory and what it printed."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path


class Failed(Exception):
    """What went wrong with a peer or with netloom, in words; the row says so."""


@dataclass(frozen=True)
class Measured:
    """A command that ended well."""

    cpu_s: float
    """User CPU seconds of the process and of the children that it waited for."""
    peak_mb: float
    output: str
    """What it printed on standard output."""


def measured(command: list[str], folder: Path, limit_s: float, good: tuple[int, ...] = (0,)) -> Measured:
    """Runs a command in a folder, and kills it after `limit_s` seconds; `good` are its exit codes."""
    with (
        tempfile.TemporaryFile("w+", errors="replace") as printed,
        tempfile.TemporaryFile("w+", errors="replace") as said,
    ):
        try:
            child = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed, stderr=said
            )
        except OSError as error:
            raise Failed(f"{Path(command[0]).name}: {error.strerror}") from None
        late = threading.Event()

        def end() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(limit_s, end)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        finally:
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        said.seek(0)
        output, words = printed.read(), said.read()
    name = Path(command[0]).name
    if late.is_set():
        raise Failed(f"{name}: not done after {limit_s:.0f} s")
    if child.returncode not in good:
        last = (words.strip() or output.strip() or "nothing said").splitlines()[-1]
        raise Failed(f"{name}: exit {child.returncode}: {last[:120]}")
    return Measured(usage.ru_utime, usage.ru_maxrss / 1024, output)
