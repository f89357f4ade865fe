"""Peers' sources: which version a folder holds, and the program that is built from a copy of it.

Nothing is fetched and nothing is written into the folders that are given.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from measuring import Failed


def version(folder: Path) -> str:
    """The commit that is checked out; without one, a sum of all files and their names."""
    if (folder / ".git").exists():
        asked = ["git", "-C", str(folder), "log", "-1", "--format=%h of %cs"]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            return told.stdout.strip()
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        total.update(f"{path.relative_to(folder)}\0".encode())
        total.update(path.read_bytes())
    return f"files {total.hexdigest()[:10]}"


def built(folder: Path, into: Path, targets: list[list[str]], program: str, limit_s: float) -> Path:
    """Copies a peer's folder and calls `make` in the copy, once for each of `targets`; the program's path."""
    shutil.copytree(folder, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for words in targets:
        command = ["make", f"-j{os.cpu_count() or 1}", *words]
        child = subprocess.Popen(
            command,
            cwd=into,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output = child.communicate(timeout=limit_s)[0]
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"does not build within {limit_s:.0f} s") from None
            raise
        if child.returncode != 0:
            errors = [line for line in output.splitlines() if "error" in line.lower() or "***" in line]
            told = errors[0] if errors else f"make ended with {child.returncode}"
            raise Failed(f"does not build: {told.strip()[:120]}")
    found = into / program
    if not os.access(found, os.X_OK):
        raise Failed(f"does not build: make made no {program}")
    return found
